"""Matrices and comparisons that the tests of `heddle eig` share."""

import math

from command import CommandTest, product, random_matrix, transpose

THESIS = "3\n2.0 -1.0 0.0\n-1.0 2.0 -1.0\n0.0 -1.0 2.0\n"
THESIS_ROWS = [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]
THESIS_VALUES = [2 - math.sqrt(2), 2.0, 2 + math.sqrt(2)]


def hermitian(rng, n, is_complex=False):
    rows = random_matrix(rng, n, n, is_complex)
    return [[(one + other) / 2 for one, other in zip(row, column)]
            for row, column in zip(rows, transpose(rows, conjugate=True))]


def read_text(path):
    with open(path, encoding="utf-8") as file:
        order, *numbers = file.read().split()
    n = int(order)
    values = list(map(float, numbers))
    assert len(values) == n * n
    return [values[i * n:(i + 1) * n] for i in range(n)]


def import_or_skip(test, module):
    try:
        __import__(module)
    except ImportError:
        test.skipTest(f"{module} is missing")


class EigenTest(CommandTest):
    def assert_values(self, found, expected, tolerance=1e-14):
        self.assert_close([found], [expected], tolerance * max(map(abs, expected)))

    def assert_pairs(self, rows, values, vectors, tolerance=1e-13):
        """A V = V diag(w) and V^H V = I."""
        largest = max(abs(value) for row in rows for value in row)
        scaled = [[v * w for v, w in zip(row, values)] for row in vectors]
        self.assert_close(product(rows, vectors), scaled, tolerance * largest)
        identity = [[float(i == j) for j in range(len(rows))] for i in range(len(rows))]
        self.assert_close(product(transpose(vectors, conjugate=True), vectors), identity, tolerance)
