"""Causes of several values, by enumeration: what the golden cases of values/ are held to. Luecke, Eggert
2010, with the states of section 5.2: few causes are not 0, at any of their values. numpy only.

    values.py FOLDER        computes the cases of FOLDER/values anew and says which numbers differ
    values.py FOLDER make   writes them
"""
import glob
import itertools
import json
import math
import sys

import numpy as np


def superpose(case, w, s):
    """s: values of all causes; w: H x D."""
    parts = np.array(s)[:, None] * w
    return parts.max(0) if case["model"] == "mca" else parts.sum(0)


def log_joint(case, y, w, s):
    beta, sigma = case["beta"], case["sigma"]
    total, mean = 0.0, superpose(case, w, s)
    for h, v in enumerate(s):
        prior = np.array(case["value_prior"])[:, h]
        total += math.log(1 - prior.sum() if v == 0 else prior[case["values"].index(v)])
    total *= beta if case["anneal_prior"] else 1
    if case["noise"] == "poisson":
        rate = np.maximum(mean, 1e-4)
        return total + beta * sum(a * math.log(b) - b - math.lgamma(a + 1) for a, b in zip(y, rate))
    return total - beta * ((y - mean) ** 2).sum() / (2 * sigma ** 2) - len(y) / 2 * math.log(
        2 * math.pi * sigma ** 2 / beta)


def states_of(case, candidates):
    """At most gamma of the candidates are not 0; and every cause alone."""
    for s in itertools.product([0] + case["values"], repeat=case["H"]):
        active = [h for h in range(case["H"]) if s[h] != 0]
        if len(active) == 1 or (len(active) <= case["gamma"] and set(active) <= candidates):
            yield s


def candidates_of(case, y, w):
    """The causes that at their best value alone are most probable."""
    def best(h):
        alone = [[v if j == h else 0 for j in range(case["H"])] for v in case["values"]]
        return max(log_joint(case, y, w, s) for s in alone)
    order = sorted(range(case["H"]), key=lambda h: (-best(h), h))
    return set(order[:case["Hprime"]])


def share(case, w, s, h):
    """A_dh(s): whose the maximum is, softly."""
    rho = case["rho"]
    powers = (np.array(s)[:, None] * w) ** rho
    return (powers[h] / powers.sum(0)) ** (1 - 1 / rho)


def new_fields(case, w, y, posteriors):
    """Linear: W = Q^-1 P. MCA: least squares of y = v W by shares. Poisson: an EM step."""
    units = case["H"]
    up, down, second = np.zeros_like(w), np.zeros_like(w), np.zeros((units, units))
    for sample, posterior in zip(y, posteriors):
        for s, q in posterior:
            mean = np.maximum(superpose(case, w, s), 1e-4)
            second += q * np.outer(s, s)
            for h in range(units):
                if s[h] == 0:
                    continue
                if case["model"] == "mca":
                    a = share(case, w, s, h)
                    weight = s[h] if case["noise"] == "gaussian" else 1
                    up[h] += q * a * weight * sample
                    down[h] += q * a * weight * s[h]
                elif case["noise"] == "poisson":
                    up[h] += q * sample * s[h] * w[h] / mean
                    down[h] += q * s[h]
                else:
                    up[h] += q * s[h] * sample
    linear = case["model"] != "mca" and case["noise"] == "gaussian"
    fields = np.linalg.solve(second, up) if linear else up / down
    floor = {"linca": -np.inf, "nmf-et": 0, "mca": 1e-4}[case["model"]]
    return np.maximum(fields, floor)


def prior_of(units, most, active):
    """The probability of a cause not to be 0, for which states of few causes have so many."""
    def mean(pi):
        k = np.arange(most + 1)
        mass = np.array([math.comb(units, j) for j in k]) * pi ** k * (1 - pi) ** (units - k)
        return (k * mass).sum() / mass.sum()
    low, high = 1e-5, 1 - 1e-5
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < active else (low, middle)
    return low


def solve(case):
    y, w = np.array(case["Y"]), np.array(case["W"])
    out = {"log_evidence": [], "mean_s": []}
    posteriors, counts = [], np.zeros(len(case["values"]))
    for sample in y:
        states = list(states_of(case, candidates_of(case, sample, w)))
        joint = np.array([log_joint(case, sample, w, s) for s in states])
        evidence = joint.max() + np.log(np.exp(joint - joint.max()).sum())
        q = np.exp(joint - evidence)
        posteriors.append(list(zip(states, q)))
        out["log_evidence"].append(evidence)
        out["mean_s"].append((np.array(states) * q[:, None]).sum(0).tolist())
        for a, v in enumerate(case["values"]):
            counts[a] += (q * (np.array(states) == v).sum(1)).sum()
    fields = new_fields(case, w, y, posteriors)
    # The noise of MCA is that of the fields of the E-step.
    shown = w if case["model"] == "mca" else fields
    residual = sum(q * ((sample - superpose(case, shown, s)) ** 2).sum()
                   for sample, posterior in zip(y, posteriors) for s, q in posterior)
    prior = prior_of(case["H"], case["gamma"], counts.sum() / len(y))
    out["W_new"] = fields.tolist()
    out["sigma_new"] = math.sqrt(residual / y.size) if case["noise"] == "gaussian" else 1.0
    out["value_prior_new"] = (prior * counts / counts.sum()).tolist()
    return out


def make(model, noise, values, beta, seed):
    random = np.random.RandomState(seed)
    n, d, units = 9, 5, 4
    w = 2 * random.normal(size=(units, d))
    w = w if model == "linca" else 0.1 + np.abs(w)
    s = (random.uniform(size=(n, units)) < 0.4) * random.choice(values, size=(n, units))
    case = {"model": model, "noise": noise, "values": values, "N": n, "D": d, "H": units,
            "Hprime": 3, "gamma": 2, "beta": beta, "sigma": 0.8 if noise == "gaussian" else 1.0,
            "anneal_prior": model != "linca", "W": np.round(w, 3).tolist()}
    t = 1 / beta
    case["rho"] = min(t / (t - 1), 21) if t > 1 else 21
    case["value_prior"] = np.round(random.uniform(0.05, 0.2, size=(len(values), units)), 3).tolist()
    y = np.array([superpose(case, w, x) for x in s]) + 0.5 * random.normal(size=(n, d))
    case["Y"] = (np.round(np.abs(y)) if noise == "poisson" else np.round(y, 3)).tolist()
    return case


def differ(name, got, expected):
    got, expected = np.array(got), np.array(expected)
    near = np.abs(got - expected) <= 1e-9 * np.maximum(1, np.abs(expected))
    return [] if got.shape == expected.shape and near.all() else [f"{name}: {got.tolist()}"]


def main(folder, *words):
    faults, cases = [], 0
    kinds = [("linca", "gaussian", [-1, 1]), ("linca", "gaussian", [1, 2.5]),
             ("nmf-et", "gaussian", [1, 2]), ("nmf-et", "poisson", [1, 3]),
             ("mca", "gaussian", [1, 2, 3]), ("mca", "poisson", [0.5, 2])]
    if words == ("make",):
        for i, (model, noise, values) in enumerate(kinds):
            for beta in (1.0, 0.25):
                case = make(model, noise, values, beta, i)
                case["out"] = solve(case)
                with open(f"{folder}/values/{model}_{noise}_{i}_T{1 / beta:g}.json", "w") as file:
                    json.dump(case, file)
    for path in sorted(glob.glob(f"{folder}/values/*.json")):
        with open(path) as file:
            case = json.load(file)
        for name, got in solve(case).items():
            faults += [f"{path}: {fault}" for fault in differ(name, got, case["out"][name])]
        cases += 1
    print("\n".join(faults + [f"{cases} golden cases, {len(faults)} values that differ"]))
    return bool(faults) or cases == 0


sys.exit(main(*sys.argv[1:]))
