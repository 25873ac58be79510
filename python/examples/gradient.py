"""Fit the rates of a Markov chain to observed transitions with the gradient of exp, and measure its cost.

exp(t Q) has the probabilities to be in state j a time t after state i. From counts of such transitions PyTorch finds
the rates Q of maximum likelihood by gradients through heddle.expm.

    python gradient.py gradient.png [--small]
"""

# %%
import sys
import time

import heddle
import matplotlib
import numpy as np
import torch

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def generator(logs):
    """Return the rates from their logarithms; each row sums to zero."""
    rates = torch.exp(logs) * (1 - torch.eye(len(logs), dtype=logs.dtype))
    return rates - torch.diag(rates.sum(1))


# %%
def fit(states, steps):
    """Return the likelihood after each step, the true rates and the fitted rates."""
    random = torch.Generator().manual_seed(1)
    truth = generator(torch.randn((states, states), generator=random, dtype=torch.float64) - 1)
    probabilities = heddle.expm(0.5 * truth)
    counts = torch.stack([torch.bincount(torch.multinomial(row, 20000, True, generator=random), minlength=states)
                          for row in probabilities]).double()
    logs = torch.full((states, states), -1.0, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([logs], lr=0.5, max_iter=1, line_search_fn="strong_wolfe")
    course = []

    def loss():
        optimiser.zero_grad()
        value = -(counts * torch.log(heddle.expm(0.5 * generator(logs)).clamp_min(1e-300))).sum() / counts.sum()
        value.backward()
        return value

    for _ in range(steps):
        course.append(float(optimiser.step(loss)))
    return np.array(course), truth.numpy(), generator(logs.detach()).numpy()


def seconds(exponential, n):
    """Return the times of exp and of its gradient, the best of three."""
    a = (torch.randn((n, n), dtype=torch.float64) / n**0.5).requires_grad_()
    g = torch.ones((n, n), dtype=torch.float64)
    forward, backward = [], []
    for _ in range(3):
        begin = time.perf_counter()
        e = exponential(a)
        middle = time.perf_counter()
        torch.autograd.grad(e, a, g)
        forward.append(middle - begin)
        backward.append(time.perf_counter() - middle)
    return min(forward), min(backward)


# %%
def main(picture, small=False):
    course, truth, found = fit(4 if small else 8, 5 if small else 60)
    sizes = [8, 16] if small else [16, 64, 128, 256, 512, 1000]
    ours = [seconds(heddle.expm, n) for n in sizes]
    theirs = [seconds(torch.linalg.matrix_exp, n) for n in sizes]
    for n, (f, b), (tf, tb) in zip(sizes, ours, theirs):
        print(f"n = {n}: exp {1e3 * f:.2f} ms and gradient {1e3 * b:.2f} ms; torch {1e3 * tf:.2f} and {1e3 * tb:.2f}: "
              f"the gradient {tb / b:.2f} times as fast")
    figure, axes = plt.subplots(1, 3, figsize=(13, 4))
    axes[0].semilogy((course[:-1] - course[-1]).clip(1e-15))
    axes[0].set(title="Minus log likelihood per transition", xlabel="step of L-BFGS", ylabel="above that of the last step")
    off = ~np.eye(len(truth), dtype=bool)
    axes[1].loglog(truth[off], found[off].clip(1e-6), "o")
    axes[1].loglog([truth[off].min(), truth[off].max()], [truth[off].min(), truth[off].max()], "k-", lw=0.7)
    axes[1].set(title="Rates", xlabel="true", ylabel="found")
    axes[2].loglog(sizes, [b for _, b in theirs], "s--", label="torch.linalg.matrix_exp")
    axes[2].loglog(sizes, [b for _, b in ours], "o-", label="heddle.expm")
    axes[2].set(title="Gradient of exp, double", xlabel="n", ylabel="seconds")
    axes[2].legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=100)
    return course, truth, found


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "gradient.png", "--small" in sys.argv)
