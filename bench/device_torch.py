"""The E-steps newton and cyclic and an M-step of a rectified factor network in torch, to compare `bench/device` with.

    python3 bench/device_torch.py [SAMPLES]... [--features 784] [--units 1024] [--iterations 20]

The same formulas as rarebit's, all on the device: posterior, codes, moments, loadings and noise. cyclic takes the residuals
of 64 units from one product and walks over them; torch starts some kernels for every unit.
"""
import argparse
import time

import torch


def posterior(w, psi):
    """Filter and covariance of the hidden units; by the smaller of features and units."""
    m, l = w.shape
    scaled = w / psi[:, None]
    if l <= m:
        sigma = torch.linalg.inv(torch.eye(l, device=w.device) + w.T @ scaled)
        return scaled @ sigma, sigma, scaled
    k = w @ w.T + torch.diag(psi)
    filter = torch.cholesky_solve(w, torch.linalg.cholesky(k))
    return filter, torch.eye(l, device=w.device) - w.T @ filter, scaled


def newton(x, w, psi):
    filter, sigma, _ = posterior(w, psi)
    codes = (x @ filter).clamp_(min=0)
    squares = codes.square().mean(0)
    return codes / squares.sqrt().clamp_(min=1e-30), sigma


def cyclic(x, w, psi, codes, group=64):
    """One sweep over the units; codes are units x samples."""
    _, sigma, scaled = posterior(w, psi)
    p = torch.eye(w.shape[1], device=w.device) + w.T @ scaled
    q = scaled.T @ x.T
    root = x.shape[0] ** 0.5
    for first in range(0, w.shape[1], group):
        units = slice(first, first + group)
        residual = p[units] @ codes - q[units]
        for u in range(residual.shape[0]):
            j = first + u
            target = (codes[j] - residual[u] / p[j, j]).clamp_(min=0)
            target *= root / target.norm().clamp(min=1e-30)
            residual[u:] += torch.outer(p[first + u:first + residual.shape[0], j], target - codes[j])
            codes[j] = target
    return codes, sigma


def mstep(x, codes, sigma, w, psi, second, eta=0.1):
    """codes: samples x units."""
    n = x.shape[0]
    u = x.T @ codes / n
    s = codes.T @ codes / n + sigma
    target = torch.cholesky_solve(u.T, torch.linalg.cholesky(s)).T
    error = second - 2 * (u * w).sum(1) + ((w @ s) * w).sum(1)
    return w + eta * (target - w), (psi + eta * (error - psi)).clamp_(min=0.01)


def run(n, m, l, iterations, step):
    torch.manual_seed(1)
    causes = torch.rand(256, m, device="cuda") * (torch.rand(256, m, device="cuda") < 0.1)
    x = (torch.rand(n, 256, device="cuda") < 8 / 256).float() @ causes + torch.rand(n, m, device="cuda")
    x -= x.mean(0)
    second = x.square().mean(0)
    w, psi = 0.01 * torch.randn(m, l, device="cuda"), second.clone()
    codes, seconds = newton(x, w, psi)[0].T.contiguous(), []
    for _ in range(iterations):
        torch.cuda.synchronize()
        began = time.perf_counter()
        if step == "newton":
            rows, sigma = newton(x, w, psi)
        else:
            codes, sigma = cyclic(x, w, psi, codes)
            rows = codes.T
        w, psi = mstep(x, rows, sigma, w, psi, second)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    return sorted(seconds)[len(seconds) // 2], bool(torch.isfinite(w).all())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="*", type=int, default=[10000, 50000])
    parser.add_argument("--features", type=int, default=784)
    parser.add_argument("--units", type=int, default=1024)
    parser.add_argument("--iterations", type=int, default=20)
    a = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, float32")
    for tf32 in (False, True):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        for n in a.samples:
            for step in ("newton", "cyclic"):
                median, finite = run(n, a.features, a.units, a.iterations, step)
                print(f"{n} x {a.features}, {a.units} units, {step}{', tf32' if tf32 else ''}: {median:.4f} s per iteration"
                      f"{'' if finite else ', not finite'}", flush=True)


if __name__ == "__main__":
    main()
