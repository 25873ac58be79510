"""The matrices of accuracy.py: deterministic, n = 1 ... 300, norms 1e-10 ... 1e5 and a few beyond.

matrices() gives them as a dictionary of arrays in double or complex double, by name. Random numbers are those of
NumPy's RandomState, whose streams are frozen; a norm in a name is the 1-norm.

Sources: M&VL: C. Moler, C. Van Loan, SIAM Review 20 (1978) and 45 (2003). Ward: R. C. Ward, SIAM J. Numer. Anal. 14
(1977). K&L: C. Kenney, A. J. Laub, SIAM J. Matrix Anal. Appl. 10 (1989) and 19 (1998). D&P: L. Dieci, A. Papini,
Linear Algebra Appl. 308 (2000). N&H: I. Najfeld, T. F. Havel, Adv. Appl. Math. 16 (1995). AM&H: A. H. Al-Mohy, N. J.
Higham, SIAM J. Matrix Anal. Appl. 31 (2009), who also use "Pang", of a report of 1985. D&H: after P. I. Davies, N. J.
Higham, SIAM J. Matrix Anal. Appl. 25 (2003). C&S: Y. R. Choi, V. Stegailov, RuSCDays (2023). Others by their names in
N. J. Higham's Test Matrix Toolbox.
"""

import math

import numpy as np


def normed(A, norm):
    """A scaled to this 1-norm."""
    return A * (norm / np.abs(A).sum(axis=0).max())


def uniform(n, seed):
    return np.random.RandomState(seed).uniform(-1, 1, (n, n))


def normal(n, seed):
    return np.random.RandomState(seed).standard_normal((n, n))


def complex_normal(n, seed):
    return normal(n, seed) + 1j * normal(n, seed + 1000)


def symmetric(G):
    return (G + G.conj().T) / 2


def sparse(n, seed, density):
    return np.where(np.random.RandomState(seed + 1000).uniform(size=(n, n)) < density, normal(n, seed), 0.0)


def orthogonal(G):
    return np.linalg.qr(G)[0]


def rates(n, seed, largest):
    """A generator of a Markov chain: columns sum to zero, rates spread over six decades."""
    Q = largest * 10 ** np.random.RandomState(seed).uniform(-6, 0, (n, n))
    np.fill_diagonal(Q, 0)
    return Q - np.diag(Q.sum(axis=0))


def birth_and_death(n, birth, death):
    Q = np.diag(np.full(n - 1, birth), -1) + np.diag(death * np.arange(1.0, n), 1)
    return Q - np.diag(Q.sum(axis=0))


def tridiagonal(n, below, on, above):
    return np.diag(np.full(n - 1, below), -1) + np.diag(np.full(n, on)) + np.diag(np.full(n - 1, above), 1)


def jordan(n, eigenvalue):
    return eigenvalue * np.eye(n) + np.eye(n, k=1)


def companion(roots):
    n = len(roots)
    return np.vstack([-np.poly(roots)[1:], np.eye(n)[:-1]])


def grcar(n):
    return sum(np.eye(n, k=k) for k in range(4)) - np.eye(n, k=-1)


def frank(n):
    i, j = np.indices((n, n))
    return np.where(i <= j + 1, n - np.maximum(i, j), 0).astype(float)


def hilbert(n):
    i, j = np.indices((n, n))
    return 1 / (i + j + 1.0)


def chebyshev(n):
    """Differentiation on the n Chebyshev points, the condition u(1) = 0 put in: nearly nilpotent."""
    x = np.cos(np.pi * np.arange(n + 1) / n)
    c = np.r_[2, np.ones(n - 1), 2] * (-1) ** np.arange(n + 1)
    X = x[:, None] - x[None, :] + np.eye(n + 1)
    D = np.outer(c, 1 / c) / X
    D -= np.diag(D.sum(axis=1))
    return D[1:, 1:]


def convection_diffusion(n, diffusion, speed):
    """u' = diffusion u'' - speed u_x on (0, 1), upwind."""
    h = 1 / (n + 1)
    below, above = diffusion / h**2 + speed / h, diffusion / h**2
    return tridiagonal(n, below, -below - above, above)


def laplacian_2d(side):
    T = tridiagonal(side, 1.0, -2.0, 1.0)
    return (np.kron(T, np.eye(side)) + np.kron(np.eye(side), T)) * (side + 1) ** 2


def involutory(n):
    """Its square is I; a scaled Hilbert matrix, with a condition number that grows like it."""
    A, d = hilbert(n), -float(n)
    A[:, 0] *= d
    for i in range(1, n):
        d = -(n + i) * (n - i) * d / (i * i)
        A[i] *= d
    return A


def triangular(n, diagonal, above, seed):
    return np.triu(above * uniform(n, seed), 1) + np.diag(diagonal)


def overscaled_blocks(b, x):
    """AM&H: both blocks have eigenvalues 1 and -1 in Jordan blocks, however large b and x."""
    B = np.array([[1 - b / 2, b / 2], [-b / 2, 1 + b / 2]])
    return np.block([[B, x * np.ones((2, 2))], [np.zeros((2, 2)), -B]])


def pang_2(n):
    m = (n - 1) / 2
    return np.triu(np.ones((n, n)), 2) + np.diag(-2.0 * (n - 1) - 2 + 4 * np.arange(1, n), 1) + np.diag(
        1j * np.arange(-m, m + 1))


def demmel(n, largest):
    """Rows graded over decades, decaying."""
    return -np.geomspace(1, largest, n)[:, None] * (np.eye(n) + 1e-3 * uniform(n, 61))


def control(n):
    """The Hamiltonian matrix of a linear-quadratic regulator."""
    A, B, C = normal(n, 62) / math.sqrt(n), normal(n, 63)[:, :2], normal(n, 64)[:2]
    return np.block([[A, -B @ B.T], [-C.T @ C, -A.T]])


KINETIC = {"fd2": [1, -1 / 2], "fd4": [5 / 4, -2 / 3, 1 / 24], "fd6": [49 / 36, -3 / 4, 3 / 40, -1 / 180]}


def hamiltonian(points, kinetic="fd2", charge=30.0, softening=0.1, separation=2.0, xmax=10.0):
    """H of `heddle tdse`: kinetic energy by differences or in the sinc basis, and two soft cores (C&S)."""
    dx = 2 * xmax / (points - 1)
    x = -xmax + dx * np.arange(points)
    if kinetic == "sinc":
        d = np.arange(1, points)
        band = np.r_[math.pi**2 / 6, (-1.0) ** d / d**2]
    else:
        band = KINETIC[kinetic]
    V = -sum(charge / np.sqrt((x - X) ** 2 + softening) for X in (-separation / 2, separation / 2))
    H = np.diag(V + band[0] / dx**2)
    for d, t in enumerate(band[1:], start=1):
        H += t / dx**2 * (np.eye(points, k=d) + np.eye(points, k=-d))
    return H


def random_matrices():
    yield "uniform, norm 1e-10", normed(uniform(10, 1), 1e-10)
    yield "uniform, norm 1", normed(uniform(50, 2), 1)
    yield "uniform, norm 10", normed(uniform(100, 3), 10)
    yield "uniform, norm 100", normed(uniform(300, 4), 100)
    yield "positive, norm 20", normed(np.abs(uniform(40, 5)), 20)
    yield "normal, norm 1e-5", normed(normal(20, 6), 1e-5)
    yield "normal, norm 5", normed(normal(64, 7), 5)
    yield "normal / sqrt n", normal(128, 8) / math.sqrt(128)
    yield "normal, norm 50", normed(normal(200, 9), 50)
    yield "3 normal / sqrt n", 3 * normal(300, 10) / math.sqrt(300)
    yield "sparse, norm 10", normed(sparse(100, 11, 0.05), 10)
    yield "sparse, norm 3", normed(sparse(250, 12, 0.01), 3)
    yield "symmetric, norm 20", normed(symmetric(normal(30, 13)), 20)
    yield "symmetric, norm 1", normed(symmetric(normal(100, 14)), 1)
    yield "negative definite, norm 1e3", -normed((lambda G: G @ G.T)(normal(60, 15)), 1e3)
    yield "skew-symmetric, norm 30", normed((lambda G: G - G.T)(normal(40, 16)), 30)
    yield "skew-symmetric, norm 1e3", normed((lambda G: G - G.T)(normal(101, 17)), 1e3)
    yield "skew-symmetric, norm 1e5", normed((lambda G: G - G.T)(normal(25, 18)), 1e5)
    yield "orthogonal", orthogonal(normal(80, 19))
    yield "10 orthogonal", 10 * orthogonal(normal(50, 20))
    yield "upper triangular, norm 5", normed(np.triu(uniform(50, 21)), 5)
    yield "upper triangular, norm 30", normed(np.triu(normal(150, 22)), 30)
    yield "complex, norm 3", normed(complex_normal(40, 23), 3)
    yield "complex, norm 30", normed(complex_normal(150, 24), 30)
    yield "complex, norm 10", normed(complex_normal(300, 25), 10)
    yield "complex, norm 1e-3", normed(complex_normal(16, 26), 1e-3)
    yield "complex upper triangular", normed(np.triu(complex_normal(60, 27)), 12)
    yield "Hermitian, norm 10", normed(symmetric(complex_normal(60, 28)), 10)
    yield "Hermitian, norm 1", normed(symmetric(complex_normal(120, 29)), 1)
    yield "-i Hermitian, norm 50", -1j * normed(symmetric(complex_normal(60, 30)), 50)
    yield "-i Hermitian, norm 0.3", -1j * normed(symmetric(complex_normal(100, 31)), 0.3)
    yield "-i symmetric, norm 5", -1j * normed(symmetric(normal(100, 32)), 5)
    yield "-i symmetric, norm 50", -1j * normed(symmetric(normal(200, 33)), 50)
    yield "-i symmetric, norm 500", -1j * normed(symmetric(normal(300, 34)), 500)
    yield "-i symmetric, norm 1e4", -1j * normed(symmetric(normal(30, 35)), 1e4)
    yield "rates up to 1", rates(30, 36, 1.0)
    yield "rates up to 1e3", rates(100, 37, 1e3)
    yield "birth and death", birth_and_death(200, 30.0, 1.0)
    yield "birth and death, stiff", birth_and_death(40, 1e4, 1e3)
    yield "companion, roots -1", companion(-np.ones(8))
    yield "companion, roots on a circle", companion(3 * np.exp(2j * np.pi * np.arange(12) / 12)).real


def classic_matrices():
    yield "M&VL", np.array([[-49.0, 24], [-64, 31]])
    yield "Ward 1", np.array([[4.0, 2, 0], [1, 4, 1], [1, 1, 4]])
    yield "Ward 2", np.array([[29.87942128909879, 0.7815750847907159, -2.289519314033932],
                              [0.7815750847907159, 25.72656945571064, 8.680737820540137],
                              [-2.289519314033932, 8.680737820540137, 34.39400925519054]])
    yield "Ward 3", np.array([[-131.0, 19, 18], [-390, 56, 54], [-387, 57, 52]])
    yield "Ward 4", np.eye(10, k=1) + 1e-10 * np.eye(10, k=-9)
    T = np.array([[1.0, 10, 100], [1, 9, 100], [1, 11, 99]])
    yield "N&H", T @ np.diag([-0.001, -1, -100]) @ np.linalg.inv(T)
    yield "K&L 1998, defective", np.array([[0.1, 1e6], [0, 0.1]])
    yield "K&L 1998, bidiagonal", np.diag([0, -3.8e3, -1, -5.5e6, -2.7e7]) + np.diag([3.8e3, 1, 5.5e6, 2.7e7], 1)
    yield "K&L 1998, stiff", np.array([[-1, 1e7], [0, -1e7]])
    yield "K&L 1989", np.array([[48.0, -49, 50, 49], [0, -2, 100, 0], [0, -1, -2, 1], [-50, 50, 50, -52]])
    ones = np.ones((4, 4))
    yield "D&P", np.block([[1.3 * ones, 1e6 * ones], [0 * ones, -1.3 * ones]]) / 8
    yield "Pang I", np.array([[0.0, 30, 1, 1, 1, 1], [-100, 0, 1, 1, 1, 1], [0, 0, 0, -6, 1, 1], [0, 0, 500, 0, 1, 1],
                              [0, 0, 0, 0, 0, 200], [0, 0, 0, 0, -15, 0]])
    yield "Pang II", pang_2(15)
    yield "AM&H, overscaled, b = 1e2", np.array([[1, 1e2], [0, -1]])
    yield "AM&H, overscaled, b = 1e5", np.array([[1, 1e5], [0, -1]])
    yield "AM&H, overscaled blocks", overscaled_blocks(1e3, 1e10)
    yield "AM&H, b = 1e4", overscaled_blocks(1e4, 0)[:2, :2]
    yield "rotation by 1e4", np.array([[0, 1e4], [-1e4, 0]])
    yield "D&H, near eigenvalues", triangular(8, 1 + 1e-7 * np.arange(8.0), 10.0, 51)
    yield "triangular, overscaled", triangular(100, -np.linspace(0, 5, 100), 1.0, 52)
    yield "triangular, large above", triangular(20, -np.arange(20.0), 300.0, 53)
    yield "nilpotent", np.triu(10 * uniform(30, 54), 1)
    yield "nilpotent, lower, norm 1e3", np.tril(normed(uniform(12, 55), 1e3), -1)
    u = np.arange(1.0, 9)
    yield "nilpotent, rank one", 300 * np.outer(u, np.r_[8.0, 0, 0, 0, 0, 0, 0, -1])
    yield "Jordan, 1", jordan(10, 1.0)
    yield "Jordan, -5", jordan(50, -5.0)
    yield "Jordan, 0", jordan(20, 0.0)
    d = 10 ** np.linspace(-3, 3, 20)
    yield "badly scaled, D A / D", d[:, None] * normed(normal(20, 56), 10) / d[None, :]
    yield "badly scaled, 2 x 2", np.array([[0, 1e5], [1e-5, 0]])
    yield "badly scaled, rows", 10 ** np.linspace(-4, 1, 30)[:, None] * normed(normal(30, 57), 5)
    yield "Demmel", demmel(10, 1e5)
    yield "Forsythe", np.eye(30, k=1) + 1e-8 * np.eye(30, k=-29)
    yield "Grcar", grcar(100)
    yield "-5 Grcar", -5 * grcar(60)
    yield "Frank", frank(12)
    yield "Hilbert", hilbert(15)
    yield "-1e5 Hilbert", -1e5 * hilbert(12)
    yield "Chebyshev", chebyshev(20)
    yield "Chebyshev / 10", chebyshev(64) / 10
    yield "involutory", involutory(7) / 1e3
    yield "Kahan", -normed(np.diag(0.36 ** (np.arange(25) / 25)) @ (2 * np.eye(25) - np.triu(np.ones((25, 25)))), 40)
    yield "Pascal, its logarithm", np.diag(np.arange(1.0, 25), -1)
    yield "Clement", np.diag(np.arange(1.0, 30), 1) + np.diag(np.arange(29.0, 0, -1), -1)
    yield "convection and diffusion", 0.01 * convection_diffusion(100, 1.0, 50.0)
    yield "convection", 0.005 * convection_diffusion(200, 1e-4, 100.0)
    yield "diffusion, norm 1e5", convection_diffusion(157, 1.0, 0.0)
    yield "diffusion in 2-D", 0.01 * laplacian_2d(15)
    yield "control", control(12)
    yield "phi functions", np.block([[normed(normal(20, 65), 8), normal(20, 66)], [np.zeros((20, 40))]])
    yield "diagonal", np.diag(np.linspace(-600, 600, 50))
    yield "block diagonal", np.kron(np.eye(6), np.array([[0.5, 20], [-20, 0.5]]))
    yield "shift 300", 300 * np.eye(12) + normed(normal(12, 67), 1)
    yield "shift -600", -600 * np.eye(12) + normed(normal(12, 68), 1)
    yield "shift 1e3 i", 1e3j * np.eye(12) + normed(complex_normal(12, 69), 1)
    yield "zero", np.zeros((5, 5))
    yield "one by one, -1", np.array([[-1.0]])
    yield "one by one, 700", np.array([[700.0]])
    yield "one by one, 0.5 + 20 i", np.array([[0.5 + 20j]])
    yield "two by two, 1e-9", np.array([[0, 1e-9], [-1e-9, 1e-12]])


def tdse_matrices():
    yield "tdse, stretch deck", -0.002j * hamiltonian(201)
    yield "tdse, step 0.05", -0.05j * hamiltonian(201)
    yield "tdse, hydrogen, fd4", -0.1j * hamiltonian(128, "fd4", charge=1.0, softening=1.0)
    yield "tdse, fine grid, fd6", -0.01j * hamiltonian(300, "fd6")
    yield "tdse, sinc", -0.02j * hamiltonian(160, "sinc")
    yield "tdse, step 1", -1j * hamiltonian(100, charge=1.0, softening=1.0)
    yield "tdse, imaginary time", -0.01 * hamiltonian(201, charge=1.0, softening=1.0)


def overflowing_matrices():
    yield "overflow, 1e3 I", 1e3 * np.eye(4)
    yield "overflow, positive, norm 1e4", normed(np.abs(uniform(20, 71)), 1e4)
    yield "overflow, norm 1e300", normed(np.abs(uniform(3, 72)), 1e300)


def matrices():
    """All of them, by name."""
    found = {}
    for group in (random_matrices, classic_matrices, tdse_matrices, overflowing_matrices):
        for name, A in group():
            assert name not in found, name
            found[name] = np.ascontiguousarray(A)
    return found
