"""The net of bench case l in PyTorch: processor time of an epoch, for the same threads and batches.

    /usr/bin/python3 bench/nets_torch.py [THREADS]
"""
import sys
import time

import torch

SAMPLES, FEATURES, UNITS, LAYERS, CLASSES, BATCH, EPOCHS = 12800, 784, 1024, 3, 10, 128, 3


def net():
    sizes = [FEATURES] + [UNITS] * LAYERS
    layers = []
    for wide, narrow in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(wide, narrow), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(UNITS, CLASSES))


def epoch(model, optimizer, x, y):
    loss = torch.nn.CrossEntropyLoss()
    order = torch.randperm(SAMPLES)
    for first in range(0, SAMPLES, BATCH):
        rows = order[first:first + BATCH]
        optimizer.zero_grad()
        loss(model(x[rows]), y[rows]).backward()
        optimizer.step()


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    torch.manual_seed(1)
    x, y = torch.randn(SAMPLES, FEATURES), torch.randint(CLASSES, (SAMPLES,))
    for name in "nesterov", "adam":
        model = net()
        if name == "adam":
            optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
        else:
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True)
        seconds = []
        for _ in range(EPOCHS + 1):  # the first one warms up
            began = time.process_time()
            epoch(model, optimizer, x, y)
            seconds.append(time.process_time() - began)
        median = sorted(seconds[1:])[EPOCHS // 2]
        print(f"torch {torch.__version__}, {name}: {median * 50000 / SAMPLES:.2f} s for 50 000 samples")


main()
