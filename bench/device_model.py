"""Computes, and does not measure, what an iteration takes on devices: rooflines of data sheets.

    python3 bench/device_model.py [SAMPLES]... [--features 784] [--units 1024] [--causes 100] [--candidates 5]

Each product takes its operations at a third of the peak, the share that CLBlast reached on an H200, or its bytes at the
memory's bandwidth, whichever is longer. A kernel starts in 10 microseconds; parameters and moments pass the bus once. The
processor's part, and products and solutions of parameters, are left out.

Of causes (linca, mca: --max-active 3) sums over states are walks of 64 slices of the samples: a step waits for memory,
a microsecond for the pairs of a sample, 1.4 for the shares of a state, as an H200 did. Energies of states by the largest
field took it the time of 150 operations a feature.
"""
import argparse
from math import comb

# float32 TFLOP/s, memory and bus in GB/s: data sheets of NVIDIA (SXM; Ada), Intel and Apple.
DEVICES = {"H200": (67, 4800, 64), "H100": (67, 3350, 64), "RTX 4090": (82.6, 1008, 32),
           "A770 16 GB": (19.7, 560, 32), "M1 Max": (10.4, 400, 400)}
SHARE, START, GROUP, WALKS = 1 / 3, 10e-6, 64, 64


def seconds_of_products(products, device):
    tera, memory, _ = device
    return sum(max(2 * a * b * c / (tera * 1e12 * SHARE), 4 * (a * b + a * c + b * c) / (memory * 1e9))
               for a, b, c in products)


def seconds(device, n, m, l, cyclic):
    """Of an iteration, and of one whose samples go up anew."""
    _, memory, bus = device
    products = [(l, n, m), (m, l, n), (l, l, n)]  # Q; U; S
    starts, bytes_more = 12, 4 * n * l
    if cyclic:
        products += [(GROUP, n, l)] * (l // GROUP)  # mu P
        starts += l + l // GROUP
        bytes_more += 4 * n * l * (4 + GROUP / 2)  # a unit reads what those of its group before changed
    time = starts * START + bytes_more / (memory * 1e9)
    time += seconds_of_products(products, device)
    time += 4 * (2 * m * l + (2 if cyclic else 1) * l * l) / (bus * 1e9)
    return time, time + (2 if cyclic else 1) * 4 * n * m / (bus * 1e9)


def seconds_of_causes(device, n, m, h, candidates, largest):
    """Of an iteration of linca or, where the largest field counts, of mca."""
    tera, memory, bus = device
    sets = sum(comb(candidates, k) for k in range(4))
    time = 15 * START + seconds_of_products([(n, h, m), (h, m, n)], device)
    time += 4 * n * (8 * h + 5 * sets + 2 * candidates**2) / (memory * 1e9)
    time += n / WALKS * (sets * 1.4e-6 if largest else 1e-6)
    if largest:
        time += 150 * n * sets * m / (tera * 1e12 * SHARE)
    return time + (4 * (3 * h * m if largest else 2 * (h * m + h * h)) + (9 if largest else 5) * n) / (bus * 1e9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("samples", nargs="*", type=int, default=[10000, 50000])
    parser.add_argument("--features", type=int, default=784)
    parser.add_argument("--units", type=int, default=1024)
    parser.add_argument("--causes", type=int, default=100)
    parser.add_argument("--candidates", type=int, default=5)
    given = parser.parse_args()
    print("| device | samples | newton | newton, streamed | cyclic | linca | mca |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, device in DEVICES.items():
        for n in given.samples:
            newton = seconds(device, n, given.features, given.units, False)
            cyclic = seconds(device, n, given.features, given.units, True)
            linca, mca = (seconds_of_causes(device, n, given.features, given.causes, given.candidates, largest)
                          for largest in (False, True))
            print(f"| {name} | {n} | {newton[0]:.2g} | {newton[1]:.2g} | {cyclic[0]:.2g} | {linca:.2g} | {mca:.2g} |")


if __name__ == "__main__":
    main()
