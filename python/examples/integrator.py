"""An exponential integrator for a stiff equation: the Allen-Cahn equation in one dimension.

u_t = 0.01 u_xx + u - u^3 with the diffusion treated exactly. A step of Heun's exponential method is two sums of phi
functions times vectors, which heddle.phi_multiply computes for a sparse matrix without forming a matrix function.

    python integrator.py integrator.png [--small]
"""

# %%
import sys

import heddle
import matplotlib
import numpy as np
import scipy.integrate
import scipy.sparse
import scipy.sparse.linalg

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def problem(points):
    """Return the grid, the diffusion matrix with reflecting ends, and the initial state."""
    x = np.linspace(-1, 1, points)
    h = x[1] - x[0]
    main = np.full(points, -2.0)
    main[[0, -1]] = -1.0
    diffusion = 0.01 / h**2 * scipy.sparse.diags([np.ones(points - 1), main, np.ones(points - 1)], [-1, 0, 1], format="csr")
    return x, diffusion, 0.53 * x + 0.47 * np.sin(-1.5 * np.pi * x)


def reaction(u):
    return u - u**3


# %%
def step(matrix, u, h):
    """Take a step of second order: u + h phi_1 (A u + N(u)) + h phi_2 (N(a) - N(u)), a the step of first order."""
    n = reaction(u)
    a = heddle.phi_multiply(matrix, np.column_stack([u, n]), time=h)
    # time^k phi_k(time A) b_k: the one vector more is (N(a) - N(u)) / h.
    return heddle.phi_multiply(matrix, np.column_stack([u, n, (reaction(a) - n) / h]), time=h)


def integrate(matrix, u, end, steps):
    states = [u]
    for _ in range(steps):
        states.append(step(matrix, states[-1], end / steps))
    return np.array(states)


# %%
def main(picture, small=False):
    points, end, counts = (40, 2.0, [4, 8]) if small else (200, 4.0, [4, 8, 16, 32, 64])
    x, matrix, first = problem(points)
    exact = scipy.integrate.solve_ivp(lambda t, u: matrix @ u + reaction(u), (0, end), first, method="BDF", rtol=1e-10,
                                      atol=1e-12, jac=lambda t, u: matrix + scipy.sparse.diags(1 - 3 * u**2)).y[:, -1]
    errors = []
    for steps in counts:
        errors.append(np.abs(integrate(matrix, first, end, steps)[-1] - exact).max())
        print(f"{steps} steps of {end / steps:g}: error {errors[-1]:.1e}")
    stiffness = -scipy.sparse.linalg.eigsh(matrix, 1, which="LM", return_eigenvectors=False)[0]
    print(f"an explicit method of fourth order needs steps below {2.785 / stiffness:.1e}")
    figure, axes = plt.subplots(1, 2, figsize=(11, 4))
    states = integrate(matrix, first, 15 * end, 15 * counts[1])
    shown = axes[0].imshow(states.T, aspect="auto", origin="lower", extent=[0, 15 * end, -1, 1], cmap="RdBu", vmin=-1,
                           vmax=1)
    figure.colorbar(shown, ax=axes[0], label="u")
    axes[0].set(title="Allen-Cahn", xlabel="t", ylabel="x")
    axes[1].loglog(end / np.array(counts), errors, "o-", label="exponential Heun")
    axes[1].loglog(end / np.array(counts), errors[-1] * (counts[-1] / np.array(counts))**2, "k:", label="second order")
    axes[1].axvline(2.785 / stiffness, color="grey", ls="--", label="explicit: the largest step")
    axes[1].set(title=f"Error at t = {end:g}", xlabel="step", ylabel="largest error")
    axes[1].legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=100)
    return errors


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "integrator.png", "--small" in sys.argv)
