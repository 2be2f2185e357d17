"""Whole jobs as users run them, through the tool, beside numpy, scikit-learn and others: jobs.py RAREBIT [JOB...]

A job is a process of one thread; a peer's is a program of Python, without the time of its imports. Both take turns. The table
has the medians of their processor time (user and system), reading and writing included, and of the ratio, turn by turn. Of fits
it has the shares of products of the E-step and of passes over the input (reading, preprocessing), the Gflop/s of these
products, as `fit --profile` tells them in the last round, and what the roofline lets them have: the speed of sgemm of 4096^3,
or of a copy within a cache of 1 MB for the bytes that they have as operands and results. Data:
counts of cells of the tool's own simulation, sparse (.h5ad) and dense (.npy), a table of 97 x 1213 values with ten planted
modules, and files of other formats, which are read into memory. Peers that are not installed are left out:
RcppML is measured where R finds it (R_LIBS=FOLDER), without reading, librfn where LIBRFN names its library (`make USEGPU=no` in a
copy of github.com/bioinf-jku/librfn). R's fabia has a driver of its own, fabia.R. JOB: only those whose name has the word. --rounds N (3); --large: 5000 x 2000 counts instead of 1000 x 1000, and 200000
x 2000 of them, 5 % stored.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

COUNTS = ["--totals", "1e4", "--log1p"]
BENCH = os.path.dirname(os.path.abspath(__file__))

# ---- peers: what each imports, and what is timed ----

CELLS = """x = anndata.read_h5ad(path).X if path.endswith("h5ad") else numpy.load(path)
"""
LOGARITHMS = CELLS + """x = scipy.sparse.csr_matrix(x)
x = scipy.sparse.diags(1e4 / numpy.asarray(x.sum(1)).ravel()) @ x
x.data = numpy.log1p(x.data)
"""
DECOMPOSE = "import anndata, numpy, scipy.sparse, sklearn.decomposition as d, sklearn.cluster as c"
READ = """import ctypes, numpy
from ctypes import byref, c_int64, c_void_p
lib = ctypes.CDLL(LIBRARY)
lib.rb_source_samples.restype = lib.rb_source_features.restype = c_int64
context, source = c_void_p(), c_void_p()
lib.rb_context_new(byref(context))
lib.rb_context_set_threads(context, 1)"""
READ_DENSE = """matrix = c_void_p()
if lib.rb_read(context, path.encode(), None, byref(matrix)): raise SystemExit(path)"""
READ_SPARSE = """if lib.rb_open(context, path.encode(), None, byref(source)): raise SystemExit(path)
n, m = lib.rb_source_samples(source), lib.rb_source_features(source)
x = numpy.empty((n, m), numpy.float32)
if lib.rb_source_read_into(context, source, 0, c_void_p(x.ctypes.data), c_int64(m), c_int64(1)): raise SystemExit(path)"""
PANDAS = "import numpy, pandas", "x = pandas.read_csv(path, index_col=0).to_numpy(numpy.float32)"
# X, W, Psi, their sizes, iterations, batch, rates, least Psi, no threshold, dropout, noise, decay and momentum, rectified units
# that are scaled, Newton's M-step, the seed, no GPU
LIBRFN = """from ctypes import c_float, c_void_p
x = numpy.load(path)
x -= x.mean(0)
(n, m), k = x.shape, 50
w, psi = numpy.random.default_rng(1).normal(0, 0.01, (k, m)).astype("f4"), numpy.ones(m, "f4")
floats = [c_float(v) for v in (0.1, 0.1, 0.01, 0, 0, 0, 0, 0, 0)]
arrays = [c_void_p(a.ctypes.data) for a in (x, w, psi)]
if lib.train_rfn(*arrays, n, m, k, 20, -1, *floats, 0, 1, 1, 1, ctypes.c_ulong(1), -2, False): raise SystemExit(path)"""
READERS = {
    "counts.npy": ("numpy", "import numpy", "x = numpy.load(path)"),
    "counts.csv": ("pandas", *PANDAS),
    "counts.csv.gz": ("pandas", *PANDAS),
    "counts.mtx": ("scipy", "import scipy.io", "x = scipy.io.mmread(path).toarray()"),
    "dense.h5ad": ("anndata", "import anndata, numpy", "x = numpy.asarray(anndata.read_h5ad(path).X, numpy.float32)"),
    "counts.h5ad": ("anndata", "import anndata", "x = anndata.read_h5ad(path).X.toarray()"),
    "packed.h5ad": ("anndata", "import anndata", "x = anndata.read_h5ad(path).X.toarray()"),
}


def program(imports, body, path):
    """A process that prints the seconds of the body alone."""
    text = f"{imports}\nimport time\npath = {path!r}\nbegan = time.process_time()\n{body}\nprint(time.process_time() - began)"
    return [sys.executable, "-W", "ignore", "-c", text]


def scikit(path, body, log=False):
    return "scikit-learn", program(DECOMPOSE, (LOGARITHMS if log else CELLS) + body, path)


def librfn(path):
    library = os.environ.get("LIBRFN")
    imports = f"import ctypes, numpy\nlib = ctypes.CDLL({library!r})"
    return ("librfn", program(imports, LIBRFN, path)) if library else None


def rcppml(path, units, iterations):
    asks = ["Rscript", "-e", "library(RcppML)"]
    script = os.path.join(BENCH, "peers_rcppml.R")
    found = shutil.which("Rscript") and not subprocess.run(asks, capture_output=True).returncode
    return ("RcppML", ["Rscript", script, path, str(units), str(iterations), "w.txt", "1"]) if found else None


# ---- jobs: a name, our command, and a peer with its command, or None ----


def fits(tool):
    def fit(method, data, units, *more, to="m.h5"):
        told = [] if "--consensus" in more else ["--profile", "--json"]
        return [tool, "fit", method, data, "-k", str(units), *more, "--seed", "1", "-o", to, "-q", "--threads", "1", *told]

    for form, data in (("sparse", "counts.h5ad"), ("dense", "counts.npy")):
        for units in (10, 20, 50):
            yield f"fit rfn -k {units}, {form}", fit("rfn", data, units), None
            yield f"fit rfn -k {units}, {form}, totals and log", fit("rfn", data, units, *COUNTS), None
        yield f"fit nmf -k 10, {form}", fit("nmf", data, 10), scikit(data, "d.NMF(10, init='nndsvda').fit(x)")
    log = fit("nmf", "counts.h5ad", 20, *COUNTS), scikit("counts.h5ad", "d.NMF(20, init='nndsvda').fit(x)", True)
    yield "fit nmf -k 20, sparse, totals and log", *log
    log = fit("kmeans", "counts.h5ad", 20, *COUNTS), scikit("counts.h5ad", "c.KMeans(20, n_init=1).fit(x)", True)
    yield "fit kmeans -k 20, sparse, totals and log", *log
    paper = fit("rfn", "counts.npy", 50, "--preset", "paper", "--iterations", "20", to="paper.h5")
    yield "fit rfn -k 50 --preset paper --iterations 20, dense", paper, librfn("counts.npy")
    random = fit("nmf", "counts.mtx", 20, "--iterations", "50", "--start", "random", to="random.h5")
    yield "fit nmf -k 20 --iterations 50, sparse", random, rcppml("counts.mtx", 20, 50)
    peers = {"pca": "d.PCA", "fa": "d.FactorAnalysis", "ica": "d.FastICA", "nmf": "d.NMF", "kmeans": "c.KMeans"}
    for method, peer in peers.items():
        how = ", svd_method='lapack'" if method == "fa" else ""  # else it stops far below the maximum
        yield f"fit {method} -k 20, 500 x 784", fit(method, "few.npy", 20), scikit("few.npy", f"{peer}(20{how}).fit(x)")
    many = "f = [d.NMF(10, init='random', random_state=s, max_iter=1000).fit(x).components_ for s in range(20)]\n"
    many += "f = numpy.concatenate(f)\nc.KMeans(10, n_init=10).fit(f / numpy.linalg.norm(f, axis=1)[:, None])"
    yield "fit nmf -k 10 --consensus, sparse", fit("nmf", "counts.h5ad", 10, "--consensus"), scikit("counts.h5ad", many)
    if os.path.exists("many.h5ad"):
        many = fit("rfn", "many.h5ad", 20, "--iterations", "20", to="many.h5")
        yield "fit rfn -k 20 --iterations 20, 200000 x 2000", many, None
    yield "fit rfn -k 10 --consensus, 97 x 1213", fit("rfn", "small.npy", 10, "--consensus", to="small.h5"), None


def answers(tool):
    end = ["--seed", "1", "-q", "--threads", "1"]
    yield "select rfn, 97 x 1213", [tool, "select", "rfn", "small.npy", *end], None
    yield "modules --permutations 19, 97 x 1213", [
        tool, "modules", "small.h5", "small.npy", "--permutations", "19", "-o", "modules.tsv", *end], None
    yield "report, 97 x 1213", [tool, "report", "small.h5", "small.npy", "-o", "report.html", "-q"], None
    yield "encode, dense", [tool, "encode", "m.h5", "counts.npy", "-o", "codes.npy", "-q", "--threads", "1"], None
    yield "encode a sample", [tool, "encode", "m.h5", "one.npy", "-o", "code.npy", "-q", "--threads", "1"], None


def readings(tool):
    ours = READ.replace("LIBRARY", repr(os.path.join(os.path.dirname(tool), "librarebit-io.so")))
    for name, (peer, imports, body) in READERS.items():
        read = READ_SPARSE if "toarray" in body else READ_DENSE
        yield f"read {name}", program(ours, read, name), (peer, program(imports, body, name))


# ---- data ----


def make_data(tool, large):
    import anndata
    import scipy.io
    import scipy.sparse

    size = ["--samples", "5000", "--features", "2000"] if large else ["--samples", "1000", "--features", "1000"]
    subprocess.check_call([tool, "simulate", "cells", *size, "--counts", "600", "--seed", "1", "-o", "counts.npy", "-q"])
    counts = np.load("counts.npy").astype(np.float32)
    np.save("counts.npy", counts)
    np.save("one.npy", counts[:1])
    np.save("few.npy", counts[:500, :784])
    sparse = scipy.sparse.csr_matrix(counts)
    for name, x, how in (("counts", sparse, None), ("packed", sparse, "gzip"), ("dense", counts, None)):
        anndata.AnnData(x).write_h5ad(f"{name}.h5ad", compression=how)
    scipy.io.mmwrite("counts.mtx", sparse)
    subprocess.check_call([tool, "convert", "counts.h5ad", "-o", "counts.csv", "-q"])
    subprocess.check_call("gzip -k counts.csv", shell=True)
    rng = np.random.default_rng(1)
    if large:
        thin = sparse.copy()
        thin.data = rng.binomial(thin.data.astype(int), 0.2).astype(np.float32)
        thin.eliminate_zeros()
        anndata.AnnData(thin[rng.integers(0, thin.shape[0], 200000)]).write_h5ad("many.h5ad")
    small = rng.standard_normal((97, 1213))
    for _ in range(10):
        rows, columns = rng.choice(97, rng.integers(8, 20), False), rng.choice(1213, rng.integers(20, 80), False)
        small[np.ix_(rows, columns)] += 2 + 2 * rng.random()
    np.save("small.npy", small.astype(np.float32))
    return counts.shape, sparse.nnz / counts.size


# ---- the table ----


def seconds(command):
    """Processor time of a process, or what it prints of itself, None: it failed; and what it prints."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    timed = command[0] in (sys.executable, "Rscript")
    return None if status else float(said.split()[-1]) if timed else used.ru_utime + used.ru_stime, said


def fastest(work):
    """Processor seconds of the best of three."""
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def roofline():
    """Of one thread: floating point operations a second in a large product, and bytes a second of copies in the cache."""
    a, x, times = np.ones((4096, 4096), np.float32), np.ones(1 << 16, np.float32), 4000
    y = x.copy()
    copies = fastest(lambda: [np.copyto(y, x) for _ in range(times)])
    return 2 * 4096**3 / fastest(lambda: a @ a), 2 * times * x.nbytes / copies


def shares(said, processor, roof):
    """Of a profile: products of the E-step, passes over the input, how fast the products were by processor time, and may be."""
    if not said.startswith(b"{"):
        return "| | | | |"
    phases = {row["phase"]: row for row in json.loads(said)["phases"]}
    products, every = phases["products of the E-step"], sum(row["seconds"] for row in phases.values())
    passes = phases["reading"]["seconds"] + phases["preprocessing"]["seconds"]
    share = products["seconds"] / every
    rate = 1e-9 * products["flops"] / (share * processor) if share else 0
    most = 1e-9 * min(roof[0], roof[1] * products["flops"] / max(products["bytes"], 1))
    return f"| {100 * share:.0f} % | {100 * passes / every:.0f} % | {rate:.0f} | {most:.0f} |"


def row(name, ours, peer, rounds, roof):
    turns = []
    for _ in range(rounds):
        mine, said = seconds(ours)
        turns.append((mine, seconds(peer[1])[0] if peer else None))
    if any(mine is None for mine, _ in turns):
        return f"| {name} | failed | | | | | | | |"
    mine = statistics.median(turn[0] for turn in turns)
    if not peer or None in turns[0]:
        return f"| {name} | {mine:.3g} {shares(said, mine, roof)} | | |"
    ratio = statistics.median(other / own for own, other in turns)
    other = statistics.median(turn[1] for turn in turns)
    return f"| {name} | {mine:.3g} {shares(said, mine, roof)} {peer[0]} | {other:.3g} | {ratio:.1f} |"


def machine():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} processors"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("jobs", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true")
    chosen = parser.parse_intermixed_args()
    tool = os.path.abspath(chosen.tool)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shape, share = make_data(tool, chosen.large)
        version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
        print(f"{version}; {machine()}; {time.strftime('%Y-%m-%d')}; counts {shape[0]} x {shape[1]}, {100 * share:.0f} % stored\n")
        roof = roofline()
        print(f"Peak of products {1e-9 * roof[0]:.0f} Gflop/s, cache {1e-9 * roof[1]:.0f} GB/s\n")
        print("| job | processor, s | products | input | Gflop/s | roofline | beside it | its, s | times ours |")
        print("|---|---|---|---|---|---|---|---|---|")
        for name, ours, peer in [*fits(tool), *answers(tool), *readings(tool)]:
            needed = name.startswith(("fit rfn -k 50, dense", "fit rfn -k 10 --consensus, 97"))
            if not chosen.jobs or any(word in name for word in chosen.jobs):
                print(row(name, ours, peer, chosen.rounds, roof), flush=True)
            elif needed:  # others use its model
                seconds(ours)
        os.chdir("/")


if __name__ == "__main__":
    main()
