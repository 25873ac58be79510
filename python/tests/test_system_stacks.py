"""Stacks of systems, inverses and determinants: the bits of single calls, NumPy's rules of shapes, and what is named;
correctly rounded inverses and determinants against rational numbers."""

import warnings
from fractions import Fraction

import heddle
import numpy as np
import pytest
import scipy.linalg
from conftest import random, roundoff
from test_solve import small_system

SIZES = (1, 2, 4, 7, 16, 33, 64, 65)


def positive(a):
    return a @ a.conj().swapaxes(-1, -2) + a.shape[-1] * np.eye(a.shape[-1], dtype=a.dtype)


def from_full_reports(a, b, **options):
    """Return the solutions by the function of C++ for one matrix, which full_output takes."""
    return np.stack([heddle.solve(one, right, full_output=True, **options)[0] for one, right in zip(a, b)])


def same(found, expected):
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("arithmetic", ["native", "emulated"])
@pytest.mark.parametrize("assume_a", ["general", "positive definite"])
@pytest.mark.parametrize("n", SIZES)
def test_solve_has_the_bits_of_single_calls(rng, scalar, n, assume_a, arithmetic):
    count = 16 if n <= 16 else 4
    a, b = random(rng, (count, n, n), scalar), random(rng, (count, n, 2), scalar)
    if assume_a != "general":
        a = positive(a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", heddle.IllConditionedWarning)
        for options in ({}, {"refinements": 0}, {"refinements": 3}, {"equilibrate": False}):
            x = heddle.solve(a, b, assume_a=assume_a, arithmetic=arithmetic, **options)
            same(x, from_full_reports(a, b, assume_a=assume_a, arithmetic=arithmetic, **options))
            same(x[1], heddle.solve(a[1], b[1], assume_a=assume_a, arithmetic=arithmetic, **options))


def graded(rng, scalar, count, n, most):
    """Return matrices whose rows and columns have sizes up to 2^most apart, with zeros among the elements."""
    a = random(rng, (count, n, n), scalar)
    a[rng.uniform(size=a.shape) < 0.2] = 0
    a += np.eye(n, dtype=scalar)
    rows, columns = (np.exp2(rng.integers(-most, most + 1, (count, n))).astype(a.real.dtype) for _ in range(2))
    return a * rows[:, :, None] * columns[:, None, :]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("assume_a", ["general", "positive definite"])
@pytest.mark.parametrize("n", [2, 4, 9, 40])
def test_hard_inputs_have_the_bits_of_single_calls(rng, scalar, n, assume_a):
    count, largest = 12, 30 if scalar in ("float32", "complex64") else 240
    whole = rng.integers(-3, 4, (count, n, n)) + 8 * np.eye(n)
    zeros = np.zeros((count, n, 1)) * rng.choice([-1.0, 1.0], (count, n, 1))  # of both signs
    stacks = [(graded(rng, scalar, count, n, most), random(rng, (count, n, 2), scalar)) for most in (2, 8, largest)]
    stacks += [(whole.astype(scalar), rng.integers(-2, 3, (count, n, 2)).astype(scalar)),
               (whole.astype(scalar), zeros.astype(scalar)), (np.tile(-np.eye(n, dtype=scalar), (count, 1, 1)), zeros.astype(scalar))]
    stacks += [(random(rng, (count, n, n), scalar) * np.asarray(size, scalar), random(rng, (count, n, 2), scalar) * np.asarray(of_b, scalar))
               for size in (2.0**-largest * 2.0**-90, 2.0**largest) for of_b in (1.0, 2.0**-largest)]
    broken = random(rng, (count, n, n), scalar)
    broken[3, 0, n - 1], broken[5, n - 1, 0] = np.nan, np.inf
    stacks.append((broken, random(rng, (count, n, 2), scalar)))
    almost = random(rng, (count, n, n), scalar)
    almost[:, -1] = almost[:, 0] * np.asarray(1 + 64 * roundoff(scalar), scalar)
    stacks.append((almost, random(rng, (count, n, 2), scalar)))
    for a, b in stacks:
        if assume_a != "general":
            a = np.tril(a) + np.tril(a, -1).conj().swapaxes(-1, -2)
            a[:, np.arange(n), np.arange(n)] = np.abs(a).sum(-1)
        good = []
        for k in range(count):
            try:
                heddle.solve(a[k], b[k], assume_a=assume_a, full_output=True)
            except np.linalg.LinAlgError:
                continue
            good.append(k)
        same(heddle.solve(a[good], b[good], assume_a=assume_a), from_full_reports(a[good], b[good], assume_a=assume_a)
             if good else np.empty((0, *b.shape[1:]), scalar))
        signs, logarithms = heddle.slogdet(a)
        for k in range(count):
            assert (signs[k].tobytes(), logarithms[k].tobytes()) == tuple(x.tobytes() for x in heddle.slogdet(a[k]))


@pytest.mark.parametrize("n", [1, 2, 4, 16, 64, 70])
def test_inverses_and_determinants(rng, scalar, n):
    a = random(rng, (7, n, n), scalar) + 2 * np.eye(n, dtype=scalar)
    inverses = heddle.inv(a)
    same(inverses, np.stack([heddle.inv(one) for one in a]))
    wide = a.astype("complex128")
    assert np.abs(inverses @ wide - np.eye(n)).max() <= 1e4 * n * roundoff(scalar)
    found, expected = heddle.slogdet(a), np.linalg.slogdet(wide)
    assert found[0].dtype == scalar and found[1].dtype == a.real.dtype
    assert np.abs(found[0] - expected[0]).max() <= 1e3 * n * roundoff(scalar)
    assert np.abs(found[1] - expected[1]).max() <= 1e3 * n * roundoff(scalar)
    in_place = a.copy()
    assert heddle.inv(in_place, overwrite_a=True) is in_place
    same(in_place, inverses)


@pytest.mark.parametrize("of_a, of_b", [
    ((4, 4), (4,)), ((3, 4, 4), (4,)), ((3, 4, 4), (4, 2)), ((4, 4), (5, 4, 2)), ((2, 1, 4, 4), (3, 4, 1)),
    ((2, 3, 4, 4), (2, 3, 4, 4)), ((1, 4, 4), (6, 4, 1)), ((6, 1, 1, 4, 4), (1, 2, 3, 4, 2)), ((3, 1, 4, 4), (4,)),
    ((0, 4, 4), (4, 2)), ((3, 4, 4), (3, 4, 0)), ((2, 0, 0), (2, 0, 3)), ((0, 0), (0,)), ((2, 0, 0), (0,)), ((1, 1, 4, 4), (4, 3))])
def test_shapes_are_those_of_numpy(rng, scalar, of_a, of_b):
    a, b = random(rng, of_a, scalar) + 3 * np.eye(of_a[-1], dtype=scalar), random(rng, of_b, scalar)
    expected = np.linalg.solve(a.astype("complex128"), b.astype("complex128"))
    x = heddle.solve(a, b)
    assert x.shape == expected.shape and x.dtype == scalar
    assert np.abs(x - expected).max(initial=0) <= 1e3 * roundoff(scalar)
    out = np.empty(expected.shape, scalar)
    assert heddle.solve(a, b, out=out) is out
    same(out, x)
    for found, one in zip(heddle.slogdet(a), np.linalg.slogdet(a)):
        assert np.shape(found) == np.shape(one)
    assert heddle.inv(a).shape == of_a


def test_layouts(rng, scalar, layout):
    a, b = random(rng, (6, 4, 4), scalar) + 3 * np.eye(4, dtype=scalar), random(rng, (6, 4, 2), scalar)
    x, inverses, determinants = heddle.solve(a, b), heddle.inv(a), heddle.slogdet(a)
    given = layout(a), layout(b)
    kept = [one.copy() for one in given]
    same(heddle.solve(*given), x)
    same(heddle.inv(given[0]), inverses)
    for found, expected in zip(heddle.slogdet(given[0]), determinants):
        same(found, expected)
    for now, then in zip(given, kept):
        np.testing.assert_array_equal(now, then)


def test_axes_in_another_order(rng):
    a, b = rng.normal(size=(5, 4, 3, 6, 6)), rng.normal(size=(5, 4, 3, 6, 2))
    x = heddle.solve(a, b)
    order = (2, 0, 1, 3, 4)
    same(heddle.solve(a.transpose(order), b.transpose(order)), x.transpose(order))
    out = np.empty((4, 5, 3, 6, 2)).transpose(1, 0, 2, 3, 4)
    assert heddle.solve(a, b, out=out) is out
    np.testing.assert_array_equal(out, x)
    for found, expected in zip(heddle.slogdet(a.transpose(order)), heddle.slogdet(a)):
        same(found, expected.transpose(2, 0, 1))


def test_matrices_are_named_by_their_index(rng, scalar):
    a, b = random(rng, (4, 3, 5, 5), scalar) + 4 * np.eye(5, dtype=scalar), random(rng, (5, 1), scalar)
    for bad in ((2, 1), (3, 0)):
        a[bad][:, 3] = 0
    for call in (lambda: heddle.solve(a, b), lambda: heddle.inv(a), lambda: heddle.solve(a, b, full_output=True)):
        with pytest.raises(np.linalg.LinAlgError, match=r"the matrix \(2, 1\) is singular: U\(4, 4\) is zero"):
            call()
    swapped = a.transpose(1, 0, 2, 3)
    with pytest.raises(np.linalg.LinAlgError, match=r"solve: the matrix \(0, 3\) is singular"):
        heddle.solve(swapped, b)
    signs, logarithms = heddle.slogdet(a)
    assert signs[2, 1] == signs[3, 0] == 0 and logarithms[2, 1] == logarithms[3, 0] == -np.inf
    assert np.isfinite(logarithms).sum() == 10
    spd = positive(random(rng, (3, 5, 5), scalar))
    spd[1, 2, 2] = -1
    with pytest.raises(np.linalg.LinAlgError, match=r"the matrix \(1,\) is not positive definite: pivot 3 is not"):
        heddle.solve(spd, b, assume_a="positive definite")
    almost = random(rng, (3, 5, 5), scalar)
    almost[1] = np.tri(5) + 1e-30 * almost[1] + 1
    almost[1, 4] = almost[1, 3] * np.asarray(1 + 2 * roundoff(scalar), scalar)
    with pytest.warns(heddle.IllConditionedWarning, match=r"solve: the matrix \(1,\) is ill-conditioned"):
        heddle.solve(almost + 0, b)


def test_nan_stays_in_its_matrix(rng, scalar):
    a, b = random(rng, (5, 4, 4), scalar) + 3 * np.eye(4, dtype=scalar), random(rng, (5, 4, 1), scalar)
    whole = heddle.solve(a, b)
    a[2, 1, 1] = np.nan
    b[3, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = heddle.solve(a, b)
        sign, logarithm = heddle.slogdet(a)
    same(x[[0, 1, 4]], whole[[0, 1, 4]])
    assert np.isnan(x[2]).all() and np.isnan(x[3]).any() and np.isnan(logarithm[2]) and np.isfinite(logarithm[[0, 1, 3, 4]]).all()


def test_number_of_threads_and_order_change_no_bit(rng):
    a, b = rng.normal(size=(5000, 4, 4)), rng.normal(size=(5000, 4, 1))
    x = heddle.solve(a, b)
    order = rng.permutation(5000)
    same(heddle.solve(a[order], b[order]), x[order])


def test_progress_of_a_stack(rng):
    for n, count in ((4, 3), (70, 3)):
        shares = []
        heddle.solve(rng.normal(size=(count, n, n)), np.ones((n, 1)), progress=shares.append)
        assert shares[-1] == 1 and shares == sorted(shares)


def test_out_must_be_apart(rng):
    a = rng.normal(size=(3, 4, 4))
    for wrong in (a[::-1], np.broadcast_to(a[0], a.shape)):
        with pytest.raises(ValueError, match="solve: (out|elements of out)"):
            heddle.solve(a, a.copy(), out=wrong)
    with pytest.raises(ValueError, match="solve: out shares storage with b"):
        heddle.solve(a[0], a[1], out=a[1])
    for shape in ((3, 4), (4, 4, 4)):
        with pytest.raises(ValueError, match="solve: out has shape"):
            heddle.solve(a, a.copy(), out=np.empty(shape))


def fractions_of(a):
    """Return the determinant of a real matrix and its inverse in rational numbers, or no inverse if it is singular."""
    n = a.shape[0]
    rows = [[Fraction(float(x)) for x in row] + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(a)]
    determinant = Fraction(1)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            return Fraction(0), None
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            determinant = -determinant
        determinant *= rows[k][k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k])]
    return determinant, [row[n:] for row in rows]


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("kind", ["integers", "graded", "subnormal", "hilbert"])
def test_correctly_rounded_determinants_and_inverses(rng, kind, n):
    a, _ = small_system(rng, kind, n, "float64")
    determinant, inverse = fractions_of(a)
    found = heddle.determinant(a, correctly_rounded=True)
    assert found.correctly_rounded
    # Python divides integers with one rounding.
    scaled = determinant / Fraction(2) ** found.exponent
    assert found.mantissa == scaled.numerator / scaled.denominator
    assert found.mantissa == 0 or 0.5 <= abs(found.mantissa) < 1
    if inverse is None:
        return
    largest = max(abs(x) for row in inverse for x in row)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if kind == "hilbert" and n > 8 else "error")
        x = heddle.inv(a, correctly_rounded=True)
    if largest < 2**1023 and not (kind == "hilbert" and n > 8):
        assert x.tolist() == [[y.numerator / y.denominator for y in row] for row in inverse]


def test_correctly_rounded_inverses_have_the_same_bits(rng, scalar):
    a = small_system(rng, "integers", 9, scalar)[0] + 9 * np.eye(9, dtype=scalar)
    expected = heddle.inv(a, correctly_rounded=True)
    assert expected.dtype == scalar
    assert np.array_equal(expected, heddle.solve(a, np.eye(9, dtype=scalar), correctly_rounded=True))
    for options in [{"arithmetic": "emulated"}, {"block": 4}, {"overwrite_a": True}]:
        given = a.copy(order="F")
        assert np.array_equal(heddle.inv(given, correctly_rounded=True, **options), expected), options
    stack = heddle.inv(np.stack([a, 2 * a]), correctly_rounded=True)
    assert np.array_equal(stack[0], expected) and np.array_equal(stack[1], expected / 2)
    first = heddle.determinant(a, correctly_rounded=True)
    assert first == heddle.determinant(a.T, correctly_rounded=True, arithmetic="emulated")
    computed = heddle.determinant(a)
    assert not computed.correctly_rounded and computed.mantissa.dtype == scalar
    assert abs(computed.mantissa - first.mantissa) < 1e-4 and computed.exponent == first.exponent


def test_determinants_and_inverses_that_are_not_proven(rng):
    a = rng.normal(size=(340, 340))
    a[:, 3] = a[:, 5]
    with pytest.warns(heddle.IllConditionedWarning, match="the exact determinant could not be proven"):
        assert not heddle.determinant(a, correctly_rounded=True).correctly_rounded
    with pytest.warns(heddle.IllConditionedWarning):
        heddle.inv(scipy.linalg.hilbert(14), correctly_rounded=True)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        heddle.inv(np.zeros((3, 3)), correctly_rounded=True)
    with pytest.raises(ValueError, match="expected a matrix"):
        heddle.determinant(np.zeros((2, 3, 3)))
