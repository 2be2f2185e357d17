"""golub.tsv, classes.tsv and genes.tsv of golub.RData, the example data of Bioconductor's multtest."""

import sys

import rdata

data = rdata.read(sys.argv[1])
genes = [row[2] for row in data["golub.gnames"]]
samples = [f"S{i + 1:02d}" for i in range(data["golub"].shape[1])]
with open("golub.tsv", "w") as file:
    print("sample", *genes, sep="\t", file=file)
    for sample, values in zip(samples, data["golub"].T):
        print(sample, *(f"{value:.5f}" for value in values), sep="\t", file=file)
with open("classes.tsv", "w") as file:
    print("sample", "class", sep="\t", file=file)
    for sample, aml in zip(samples, data["golub.cl"]):
        print(sample, "AML" if aml else "ALL", sep="\t", file=file)
with open("genes.tsv", "w") as file:
    for row in data["golub.gnames"]:
        print(row[2], row[1], sep="\t", file=file)
