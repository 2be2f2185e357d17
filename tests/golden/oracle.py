"""Computes the golden cases anew from their inputs, by enumeration and dense algebra, and compares:
what the library is held to does not rest on numbers alone. numpy only; slow and plain on purpose.

    oracle.py FOLDER    holds FOLDER/rfn/*.json and FOLDER/et/*.json
"""
import glob
import itertools
import json
import sys

import numpy as np


def differ(what, got, expected, tolerance):
    got, expected = np.asarray(got, float), np.asarray(expected, float)
    expected = np.where(np.isnan(expected), got, expected)  # null: not finite
    if got.shape != expected.shape or not np.all(
            np.abs(got - expected) <= tolerance * np.maximum(1, np.abs(expected))):
        return [f"{what}: {got.tolist()} instead of {expected.tolist()}"]
    return []


# ---- rectified factor networks: Clevert et al. 2015, Alg. 1 with the newton E-step ----

def project(mu, norm):
    """The nearest feasible codes (Theorem 1); sd: as the authors' program divides."""
    n = len(mu)
    out = np.maximum(mu, 0)
    for j in range(mu.shape[1]):
        if norm == "sd":
            out[:, j] /= np.sqrt(np.var(out[:, j]) + 1.01e-6)
        elif norm == "rms" and out[:, j].any():
            out[:, j] /= np.sqrt(np.mean(out[:, j] ** 2))
        elif norm == "rms":
            out[np.argmax(mu[:, j]), j] = np.sqrt(n)
    return out


def negative_energy(v, w, psi, xi, mu, sigma):
    """F = -E - KL of codes mu with covariance sigma, prior N(xi, 1)."""
    n, m = v.shape
    l = w.shape[1]
    c, u = v.T @ v / n, v.T @ mu / n
    s = mu.T @ mu / n + sigma
    energy = m * np.log(2 * np.pi) + np.log(psi).sum() + (
        (np.diag(c) - 2 * (w * u).sum(1) + ((w @ s) * w).sum(1)) / psi).sum()
    divergence = np.trace(sigma) + ((mu - xi) ** 2).sum() / n - l - np.linalg.slogdet(sigma)[1]
    return -(energy + divergence) / 2


def rfn(case):
    v, w, psi = (np.array(case[k]) for k in ("V", "W0", "Psi0"))
    n, l = len(v), w.shape[1]
    xi, eta = case["xi"], case["eta"]
    c = v.T @ v / n
    objectives, estep, before = [], [], []
    psi = np.clip(psi, case["psi_min"], np.diag(c).max())
    for _ in range(case["iters"]):
        p = np.eye(l) + w.T @ (w / psi[:, None])
        sigma = np.linalg.inv(p)
        mu_p = (v @ (w / psi[:, None]) + xi) @ sigma
        mu = project(mu_p, case["norm"])
        estep.append((((mu - mu_p) @ p) * (mu - mu_p)).sum() / n)
        before.append(negative_energy(v, w, psi, xi, mu, sigma))
        u, s = v.T @ mu / n, mu.T @ mu / n + sigma
        error = np.diag(c) - 2 * (w * u).sum(1) + ((w @ s) * w).sum(1)  # from the old W
        w = w + eta * (u @ np.linalg.inv(s) - w)
        psi = np.clip(psi + eta * (error - psi), case["psi_min"], np.diag(c).max())
        objectives.append(negative_energy(v, w, psi, xi, mu, sigma))
    got = {"W": w, "Psi": psi, "mu": mu, "mu_p": mu_p, "Sigma": sigma, "O": estep,
           "F_after_E": before, "F_after_M": objectives}
    return sum((differ(k, x, case[k], 1e-7) for k, x in got.items()), [])


# ---- expectation truncation: Luecke, Eggert 2010 ----

def scores(case, y, w):
    """w: H x D. Eq. 33 (cosine), Eq. 28 (bound), or log p(y, s_h alone) up to a constant."""
    square, b = (w ** 2).sum(1), w @ y
    if case["selection"] == "bound":
        return -(np.maximum(0, w - y) ** 2).sum(1)
    return b / np.sqrt(square) if case["selection"] == "cosine" else b - square / 2


def states_of(case, candidates):
    """Sets of at most gamma candidates, and all single causes."""
    sets = [s for k in range(case["gamma"] + 1) for s in itertools.combinations(candidates, k)]
    return sets + [(h,) for h in range(case["H"]) if case["singletons"] and h not in candidates]


def log_joint(case, y, w, s):
    beta, sigma, pi = case["beta"], case["sigma"], case["pi"]
    beta_prior = beta if case["anneal_prior"] else 1
    return beta * (-((y - superpose(case, w, s)) ** 2).sum() / (2 * sigma ** 2)) - len(y) / 2 * np.log(
        2 * np.pi * sigma ** 2 / beta) + beta_prior * (
            len(s) * np.log(pi) + (case["H"] - len(s)) * np.log(1 - pi))


def superpose(case, w, s):
    fields = w[list(s)]
    if not len(s):
        return np.zeros(w.shape[1])
    return fields.max(0) if case["model"] == "mca" else fields.sum(0)


def log_sum(values):
    return np.max(values) + np.log(np.exp(values - np.max(values)).sum())


def shares(case, w, s):
    """A_dh(s) of Eq. 38: which cause of s a pixel is of, by W^rho."""
    a = 1 - 1 / case["rho"]
    r = (w / np.maximum(w.max(0), 1e-300)) ** case["rho"]
    out = np.zeros_like(w)
    total = r[list(s)].sum(0)
    for h in s:
        out[h] = np.where(total > 0, (r[h] / np.where(total > 0, total, 1)) ** a, 0)
    return out


def prior_of(units, most, active):
    """The pi for which states of at most `most` causes have `active` on average."""
    def mean(pi):
        k = np.arange(most + 1)
        choose = np.array([np.prod([(units - i) / (i + 1) for i in range(j)]) for j in k])
        mass = choose * pi ** k * (1 - pi) ** (units - k)
        return (k * mass).sum() / mass.sum()
    low, high = 1e-5, 1 - 1e-5
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < active else (low, middle)
    return low


def new_fields(case, w, y, posterior, mean, second):
    """The M-step: Eqs. 26, 27 for sums, Eq. 40 for the maximum. w: H x D."""
    if case["model"] == "mca":
        weights = np.zeros_like(w)
        products = np.zeros_like(w)
        for i, states in posterior:
            for s, q in states:
                a = q * shares(case, w, s)
                weights += a
                products += a * y[i]
        return np.maximum(np.where(weights > 0, products / np.where(weights > 0, weights, 1), w),
                          case["weight_floor"])
    used = [i for i, _ in posterior]
    p, q = mean[used].T @ y[used], second[used].sum(0)
    if case["mult_iters"]:
        for _ in range(case["mult_iters"]):
            below = q @ w
            w = np.where(below > 0, w * np.maximum(p, 0) / np.where(below > 0, below, 1), w)
        return w
    active = np.diag(q) > 0
    w = w.copy()
    w[active] = np.linalg.solve(q[np.ix_(active, active)], p[active])
    return np.maximum(w, 0) if case["model"] == "nmf" else w


def et(case):
    expected = case["out"]
    y, w = np.array(case["Y"]), np.array(case["W"]).T
    n, units = len(y), case["H"]
    lists, evidence, exact, posterior = [], [], [], []
    mean, second = np.zeros((n, units)), np.zeros((n, units, units))
    every = [s for k in range(units + 1) for s in itertools.combinations(range(units), k)]
    for i in range(n):
        order = np.argsort(-scores(case, y[i], w), kind="stable")
        lists.append(sorted(order[:case["Hprime"]].tolist()))
        states = states_of(case, lists[i])
        joint = np.array([log_joint(case, y[i], w, s) for s in states])
        evidence.append(log_sum(joint))
        exact.append(log_sum(np.array([log_joint(case, y[i], w, s) for s in every])))
        posterior.append((i, list(zip(states, np.exp(joint - evidence[i])))))
        for s, q in posterior[i][1]:
            indicator = np.isin(np.arange(units), s).astype(float)
            mean[i] += q * indicator
            second[i] += q * np.outer(indicator, indicator)
    used = sorted(np.argsort(-np.array(evidence), kind="stable")[:case["ncut"]].tolist())
    in_use = [posterior[i] for i in used]
    fields = new_fields(case, w, y, in_use, mean, second)
    residual = sum(q * ((y[i] - superpose(case, fields, s)) ** 2).sum()
                   for i, states in in_use for s, q in states)
    active = mean[used].sum() / len(used)
    kappa = sum(np.prod([(units - i) / (i + 1) for i in range(k)]) * case["pi"] ** k *
                (1 - case["pi"]) ** (units - k) for k in range(case["gamma"] + 1))
    kl = np.array(exact) - np.array(evidence)
    got = {"scores": [scores(case, x, w) for x in y], "candidates": lists, "used": used,
           "log_evidence": evidence, "log_evidence_exact": exact, "Qn": np.exp(-kl), "KL": kl,
           "mean_s": mean, "second": second, "W_new": fields.T, "mean_abs_s": active,
           "sigma2_new_with_W_new": residual / (len(used) * y.shape[1]), "kappa": kappa,
           "pi_new_exact": prior_of(units, case["gamma"], active),
           "n_states": len(states_of(case, lists[0]))}
    if case["model"] == "mca":
        got["A_moment"] = [sum(q * shares(case, w, s) for s, q in states).T
                           for _, states in posterior]
    return sum((differ(k, x, expected[k], 1e-8) for k, x in got.items()), [])


def main(folder):
    faults = cases = 0
    for name, check in (("rfn", rfn), ("et", et)):
        for path in sorted(glob.glob(f"{folder}/{name}/*.json")):
            with open(path) as file:
                found = check(json.load(file))
            for fault in found:
                print(f"{path}: {fault[:300]}")
            faults += len(found)
            cases += 1
    print(f"{cases} golden cases, {faults} values that differ")
    return faults > 0 or cases == 0


sys.exit(main(sys.argv[1]))
