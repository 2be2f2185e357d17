"""tumours.tsv and classes.tsv of the breast cancer data that come with scikit-learn.

Prints the feature that marks malignant tumours best by itself, and its area under the ROC curve; and
the areas of seven principal components and of seven factors, as peers.py has them for other methods.
"""

import numpy as np
from peers import best_areas
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA, FactorAnalysis
from sklearn.metrics import roc_auc_score

data = load_breast_cancer()
with open("tumours.tsv", "w") as file, open("classes.tsv", "w") as classes:
    print("sample", *(name.replace(" ", "_") for name in data.feature_names), sep="\t", file=file)
    print("sample", "class", sep="\t", file=classes)
    for i, (values, target) in enumerate(zip(data.data, data.target)):
        print(f"T{i + 1:03d}", *(f"{value:g}" for value in values), sep="\t", file=file)
        print(f"T{i + 1:03d}", data.target_names[target], sep="\t", file=classes)
areas = [roc_auc_score(data.target == 0, values) for values in data.data.T]
print(data.feature_names[areas.index(max(areas))], f"{max(areas):.3f}", sep="\t")
scaled = (data.data - data.data.mean(0)) / data.data.std(0)
for name, method in (("pca", PCA(7)), ("factor analysis", FactorAnalysis(7))):
    codes = method.fit_transform(scaled)
    area = best_areas(np.hstack([codes, -codes]), data.target_names[data.target])
    print(name, f"{area:.3f}", sep="\t")
