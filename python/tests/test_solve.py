"""Factorizations and systems: residuals, layouts, singular matrices, errors."""

import warnings
from fractions import Fraction

import heddle
import numpy as np
import pytest
import scipy.linalg
from conftest import hermitian, random, roundoff

ARITHMETICS = ("native", "emulated")
SIZES = (0, 1, 2, 17, 130)


def growth(n):
    return 30 * (n + 1)


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize("m, n", [(0, 0), (0, 2), (3, 0), (1, 1), (5, 5), (40, 70), (90, 33)])
def test_lu(rng, scalar, arithmetic, m, n):
    a = random(rng, (m, n), scalar)
    factors, pivots = heddle.lu_factor(a, arithmetic=arithmetic)
    assert factors.dtype == scalar and pivots.shape == (min(m, n),)
    p, l, u = heddle.lu(a, arithmetic=arithmetic)
    assert l.shape == (m, min(m, n)) and u.shape == (min(m, n), n)
    assert (np.abs(p @ l @ u - a) <= growth(min(m, n)) * roundoff(scalar)).all()
    index, l, u = heddle.lu(a, p_indices=True, arithmetic=arithmetic)
    assert (np.abs(l[index] @ u - a) <= growth(min(m, n)) * roundoff(scalar)).all()
    pl, u = heddle.lu(a, permute_l=True, arithmetic=arithmetic)
    assert (np.abs(pl @ u - a) <= growth(min(m, n)) * roundoff(scalar)).all()


def test_lu_is_scipys_for_small_integers():
    a = np.array([[1.0, 2.0, 4.0], [8.0, 2.0, 1.0], [2.0, 16.0, 1.0]])
    for ours, theirs in zip(heddle.lu(a), scipy.linalg.lu(a)):
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(heddle.lu_factor(a), scipy.linalg.lu_factor(a)):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_layouts_have_the_same_bits(rng, scalar, arithmetic, layout):
    a, b = random(rng, (50, 50), scalar), random(rng, (50, 3), scalar)
    before = layout(a), layout(b)
    kept = before[0].copy(), before[1].copy()
    plain = heddle.lu_factor(a, arithmetic=arithmetic)
    factors = heddle.lu_factor(before[0], arithmetic=arithmetic)
    assert factors[0].tobytes("F") == plain[0].tobytes("F") and (factors[1] == plain[1]).all()
    x = heddle.solve(a, b, arithmetic=arithmetic)
    assert heddle.solve(*before, arithmetic=arithmetic).tobytes("F") == x.tobytes("F")
    for now, then in zip(before, kept):
        np.testing.assert_array_equal(now, then)  # arguments are unchanged


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("method", ["general", "positive definite"])
@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_solve(rng, scalar, n, method, arithmetic):
    a = hermitian(rng, n, scalar, 2 * n + 1)
    for shape in ((n,), (n, 1), (n, 5), (n, 0)):
        b = random(rng, shape, scalar)
        x, report = heddle.solve(a, b, assume_a=method, arithmetic=arithmetic, full_output=True)
        assert x.shape == shape and x.dtype == scalar
        assert np.abs(a.astype("complex256") @ x - b).max(initial=0) <= 10 * (n + 1) * roundoff(scalar)
        if n and b.size:
            assert report.componentwise_error <= 10 * roundoff(scalar)


def test_stacks(rng):
    a, b = rng.normal(size=(2, 3, 6, 6)), rng.normal(size=(3, 6, 2))
    np.testing.assert_allclose(heddle.solve(a, b), np.linalg.solve(a, b), rtol=1e-9)
    vector = rng.normal(size=6)
    np.testing.assert_allclose(heddle.solve(a, vector), np.linalg.solve(a, vector[:, None])[..., 0], rtol=1e-9)
    spd = a @ a.swapaxes(-1, -2) + np.eye(6)
    np.testing.assert_allclose(heddle.cholesky(spd), np.linalg.cholesky(spd), rtol=1e-12, atol=1e-14)
    assert heddle.solve(np.empty((0, 3, 3)), np.empty((0, 3, 1))).shape == (0, 3, 1)
    with pytest.raises(ValueError, match="solve: a has shape .* and b .* expected stacks that broadcast"):
        heddle.solve(a, np.empty((4, 6, 2)))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(rng, scalar, n, upper):
    a = hermitian(rng, n, scalar, 2 * n + 1)
    half = np.triu(a) if upper else np.tril(a)
    half = half + np.where(np.tri(n, dtype=bool) == upper, np.nan, 0).astype(scalar) * (1 - np.eye(n))  # not read
    half[np.arange(n), np.arange(n)] = a.diagonal()
    c = heddle.cholesky(half, upper=upper)
    product = c.conj().T @ c if upper else c @ c.conj().T
    assert (np.abs(product - a) <= growth(n) * roundoff(scalar) * (n + 1)).all()
    assert (np.tril(c, -1) if upper else np.triu(c, 1) == 0).all() or upper and (np.tril(c, -1) == 0).all()
    b = random(rng, (n, 2), scalar)
    x = heddle.cho_solve((c, not upper), b)
    assert np.abs(a @ x - b).max(initial=0) <= growth(n) * roundoff(scalar)
    out = half.copy(order="F")
    assert heddle.cholesky(out, upper=upper, out=out) is out and (out == c).all()


@pytest.mark.parametrize("trans, of", [(0, lambda a: a), (1, np.transpose), (2, lambda a: a.conj().T)])
def test_lu_solve(rng, scalar, trans, of):
    a, b = random(rng, (60, 60), scalar) + 8 * np.eye(60, dtype=scalar), random(rng, (60, 4), scalar)
    x = heddle.lu_solve(heddle.lu_factor(a), b, trans)
    assert np.abs(of(a) @ x - b).max() <= 60 * growth(60) * roundoff(scalar)
    in_place = np.asfortranarray(b)
    assert heddle.lu_solve(heddle.lu_factor(a), in_place, trans, overwrite_b=True) is in_place
    assert (in_place == x).all()


def test_overwriting(rng):
    a = rng.normal(size=(20, 20))
    expected, pivots = heddle.lu_factor(a)
    for order in "CF":
        given = np.array(a, order=order)
        factors, found = heddle.lu_factor(given, overwrite_a=True)
        assert factors is given and (given == expected).all() and (found == pivots).all()


def test_inverse_and_determinant(rng, scalar):
    a = random(rng, (40, 40), scalar) + 6 * np.eye(40, dtype=scalar)
    assert np.abs(heddle.inv(a) @ a - np.eye(40)).max() <= growth(40) * roundoff(scalar)
    sign, logarithm = heddle.slogdet(a)
    expected = np.linalg.slogdet(a.astype("complex128"))
    assert sign.dtype == scalar and abs(sign - expected[0]) <= 1e3 * roundoff(scalar)
    assert abs(logarithm - expected[1]) <= 1e3 * roundoff(scalar) * abs(expected[1])
    stack = np.stack([a, a[::-1], 0 * a]).reshape(3, 1, 40, 40)
    for found, expected in zip(heddle.slogdet(stack), zip(*(heddle.slogdet(one[0]) for one in stack))):
        assert found.shape == (3, 1) and found.tobytes() == np.array(expected).tobytes()
    assert heddle.slogdet(np.zeros((2, 2))) == (0.0, -np.inf)
    assert heddle.slogdet(np.zeros((0, 0))) == (1.0, 0.0)
    assert np.isnan(heddle.slogdet(np.full((2, 2), np.nan))[1])


def test_singular(rng, scalar):
    a = random(rng, (5, 5), scalar)
    a[:, 3] = 0
    with pytest.raises(np.linalg.LinAlgError, match=r"singular: U\(4, 4\)"):
        heddle.solve(a, np.ones(5, scalar))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        heddle.inv(a)
    with pytest.warns(RuntimeWarning, match="singular"):
        _, _, report = heddle.lu_factor(a, full_output=True)
    assert report.info == 4
    indefinite = np.diag([1.0, -1.0]).astype(scalar)
    for call in (heddle.cholesky, lambda a: heddle.solve(a, np.ones(2, scalar), assume_a="pos")):
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite: pivot 2"):
            call(indefinite)
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \(1,\)"):
        heddle.cholesky(np.stack([np.eye(2), -np.eye(2)]))


def test_not_a_number(rng):
    a = rng.normal(size=(4, 4))
    a[1, 2] = np.nan
    assert np.isnan(heddle.solve(a, np.ones(4))).any()


def test_certificate(rng):
    a, x = rng.normal(size=(30, 30)), rng.normal(size=30)
    b = heddle.exact.matmul(a, x)
    found, report = heddle.solve(a, b, certificate=True, full_output=True)
    exact = scipy.linalg.solve(a.astype(float), b)
    assert np.abs(found - exact).max() / np.abs(found).max() <= report.error_bound + 1e-11
    assert report.error_bound < 1e-10


def test_ill_conditioned_matrices_are_warned_of():
    a = np.arange(1.0, 10.0).reshape(3, 3)
    for call in (lambda: heddle.solve(a, np.array([1.0, 2.0, 4.0])), lambda: heddle.inv(a),
                 lambda: heddle.solve(a, np.array([1.0, 2.0, 4.0]), certificate=True),
                 lambda: heddle.solve(np.stack([np.eye(3), a]), np.ones((2, 3, 1)))):
        with pytest.warns(heddle.IllConditionedWarning, match="ill-conditioned") as seen:
            call()
        assert [w.filename for w in seen] == [__file__]
    assert issubclass(heddle.IllConditionedWarning, RuntimeWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # As close to singular, but only by its units.
        graded = np.array([[1.0, 2.0**60], [1.0, -(2.0**60)]])
        x, report = heddle.solve(graded, np.array([1.0, 3.0]), certificate=True, full_output=True)
        assert (x == [2.0, -(2.0**-60)]).all() and report.error_bound < 1e-100
        assert report.condition == 2.0**60 and report.scaled_condition == 2.0 and not report.ill_conditioned
        heddle.inv(graded)


def test_certificates_that_prove_nothing_are_warned_of():
    hilbert = scipy.linalg.hilbert(14)
    with pytest.warns(heddle.IllConditionedWarning):
        _, report = heddle.solve(hilbert, np.ones(14), certificate=True, full_output=True)
    assert np.isinf(report.error_bound)
    # x underflows: its relative error is infinite.
    with pytest.warns(heddle.IllConditionedWarning, match="no bound"):
        assert heddle.solve(np.array([[1e300]]), np.array([1e-300]), certificate=True) == 0


def exact_solution(a, b):
    """Return the rational solution; for complex systems the real parts above the imaginary ones."""
    if a.dtype.kind == "c":
        a, b = np.block([[a.real, -a.imag], [a.imag, a.real]]), np.vstack([b.real, b.imag])
    rows = [[Fraction(float(value)) for value in row] for row in np.hstack([a, b])]
    n = len(rows)
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [value - rows[i][k] * above for value, above in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]


def nearest(value, scalar):
    """Return the number of `scalar`'s real type that is nearest to a rational one, ties to even, subnormal or not."""
    real = np.finfo(scalar)
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    exponent -= abs(value) < Fraction(2) ** exponent
    spacing = Fraction(2) ** (max(exponent, int(real.minexp)) - int(real.nmant))
    return float(round(value / spacing) * spacing)


def is_nearest(a, b, x):
    """Return for each element of x, or part of it, whether it is the number nearest to the exact solution."""
    found = np.vstack([x.real, x.imag]) if x.dtype.kind == "c" else x
    return found == [[nearest(value, x.dtype) for value in row] for row in exact_solution(a, b)]


def integers(rng, shape, scalar, most=9):
    values = rng.integers(-most, most, (2, *shape), endpoint=True)
    return (values[0] + 1j * values[1] if scalar.startswith("complex") else values[0]).astype(scalar)


def small_system(rng, kind, n, scalar):
    """Return a and two right-hand sides; no element of the solution is a tie."""
    real = np.finfo(scalar)
    a, b = integers(rng, (n, n), scalar) + 20 * np.eye(n, dtype=scalar), integers(rng, (n, 2), scalar)
    if kind == "hilbert":
        a = (1 / (np.add.outer(np.arange(n), np.arange(n)) + (1 + 0.5j if a.dtype.kind == "c" else 1))).astype(scalar)
    if kind == "graded":
        far = -int(real.minexp) // 8
        rows, columns = np.ldexp(real.dtype.type(1), rng.integers(-far, far, (2, n)))
        a, b = rows[:, None] * a * columns, rows[:, None] * b
    if kind == "subnormal":
        b = integers(rng, (n, 2), scalar, 2**20) * real.smallest_subnormal
    return a, b


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 12])
@pytest.mark.parametrize("kind", ["integers", "graded", "subnormal", "hilbert"])
def test_correctly_rounded(rng, scalar, kind, n):
    a, b = small_system(rng, kind, n, scalar)
    may_fail = kind == "hilbert" and n > (3 if scalar in ("float32", "complex64") else 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if may_fail else "error")
        x, report = heddle.solve(a, b, correctly_rounded=True, full_output=True)
    assert x.shape == b.shape and x.dtype == scalar
    if report.correctly_rounded:
        assert report.undecided == 0 and report.undecided_row == report.undecided_column == -1
        assert np.isnan(report.distance_to_tie) and is_nearest(a, b, x).all()
    else:
        assert may_fail and report.undecided


def test_correctly_rounded_solutions_have_the_same_bits(rng, scalar):
    a, b = hermitian(rng, 40, scalar, 90), random(rng, (40, 3), scalar)
    expected = heddle.solve(a, b, correctly_rounded=True)
    for options in ({"arithmetic": "emulated"}, {"block": 8}, {"assume_a": "positive definite"}, {"equilibrate": False},
                    {"refinements": 0}, {"certificate": True, "arithmetic": "emulated", "block": 16, "group": 2}):
        x, report = heddle.solve(a, b, correctly_rounded=True, full_output=True, **options)
        assert report.correctly_rounded and x.tobytes("F") == expected.tobytes("F"), options
    one = heddle.solve(a, b[:, 1], correctly_rounded=True)
    assert one.tobytes() == expected[:, 1].tobytes()
    stack = heddle.solve(np.stack([a, 2 * a]), b, correctly_rounded=True)
    assert (stack == [expected, expected / 2]).all()


def test_elements_that_are_exact_ties(scalar):
    # x = (1 + u, u): the first is half way between 1 and the next number.
    u = roundoff(scalar)
    x, report = heddle.solve(np.array([[1, -1], [0, 1]], scalar), np.array([1, u], scalar), correctly_rounded=True,
                             full_output=True)
    assert report.correctly_rounded and (x == [1, u]).all()
    smallest = np.finfo(scalar).smallest_subnormal
    x, report = heddle.solve(np.array([[2]], scalar), np.array([3 * smallest], scalar), correctly_rounded=True, full_output=True)
    assert report.correctly_rounded and x == 2 * smallest


def test_undecided_elements_are_warned_of(scalar):
    # x_0 is a tie, in both parts, beside fractions, in a system too large for an exact solution.
    n, unit = 260, 1 + 1j if scalar.startswith("complex") else 1
    a = np.diag([1, 1] + [3] * (n - 2)).astype(scalar)
    a[0, 1] = 1
    a[range(2, n), range(1, n - 1)] = 2.0**-120
    b = np.ones(n, scalar) * unit
    b[:2] = unit / roundoff(scalar), -unit
    with pytest.warns(heddle.IllConditionedWarning, match=r"element \(0, 0\) of x is within .* ULP of a tie") as seen:
        x, report = heddle.solve(a, b, correctly_rounded=True, full_output=True)
    assert [w.filename for w in seen] == [__file__]
    assert not report.correctly_rounded and report.undecided == 1
    assert (report.undecided_row, report.undecided_column) == (0, 0) and 0 <= report.distance_to_tie < 1e-3
    for part in (x.real, x.imag) if scalar.startswith("complex") else (x,):
        assert abs(part[0] - 1 / roundoff(scalar)) <= 2 and (part[1:3] == [-1, nearest(Fraction(1, 3), scalar)]).all()
    with pytest.warns(heddle.IllConditionedWarning, match=r"element \(0, 1\) of x \(1,\) is within"):
        heddle.solve(np.stack([np.eye(n, dtype=scalar), a]), np.stack([np.zeros(n, scalar), b], axis=1), correctly_rounded=True)


def test_ties_beside_fractions_go_to_even(scalar):
    # x = (1 + u, 1/3, u), in both parts: the first is a tie, and the second one has digits without end.
    u = roundoff(scalar)
    unit = 1 + 1j if scalar.startswith("complex") else 1
    a, b = np.array([[1, 3, -1], [0, 3, 1 / u], [0, 3, -1 / u]], scalar), np.array([2 * unit, 2 * unit, 0], scalar)
    x, report = heddle.solve(a, b, correctly_rounded=True, full_output=True)
    assert report.correctly_rounded
    for part in (x.real, x.imag) if scalar.startswith("complex") else (x,):
        assert (part == [1, nearest(Fraction(1, 3), scalar), u]).all()


def test_correct_rounding_that_proves_nothing_is_warned_of():
    with pytest.warns(heddle.IllConditionedWarning) as seen:
        _, report = heddle.solve(scipy.linalg.hilbert(14), np.ones(14), correctly_rounded=True, full_output=True)
    assert len(seen) == 1 and not report.correctly_rounded
    assert (report.undecided, report.undecided_row, report.undecided_column) == (-1, -1, -1)
    _, report = heddle.solve(np.eye(2), np.ones(2), full_output=True)
    assert not report.correctly_rounded and report.undecided == 0 and np.isnan(report.distance_to_tie)


def test_solutions_that_overflow_are_warned_of():
    with pytest.warns(RuntimeWarning, match="column 0 of x overflows"):
        x = heddle.solve(np.diag([1e-300, 1.0]), np.array([1e10, 2.0]))
    assert np.isinf(x[0]) and x[1] == 2


def test_graded_matrices():
    big, small = 2.0**899, 2.0**-899
    a = np.array([[big, big], [small, 2 * small]])
    assert heddle.slogdet(a) == (1.0, 0.0)
    assert heddle.slogdet(a[::-1]) == (-1.0, 0.0)
    assert heddle.slogdet(np.array([[big, big], [small, small]])) == (0.0, -np.inf)
    np.testing.assert_array_equal(heddle.inv(a), [[2 * small, -big], [-small, big]])
    sign, logarithm = heddle.slogdet(np.array([[1e308, 1e308], [-1e308, 1e308]]))
    assert sign == 1 and abs(logarithm - (616 * np.log(10) + np.log(2))) < 1e-12 * logarithm
    singular = np.array([[1.0, 2.0], [2.0, 4.0]], order="F")
    with pytest.raises(np.linalg.LinAlgError):
        heddle.inv(singular, overwrite_a=True)
    np.testing.assert_array_equal(singular, [[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize("scalar", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("arithmetic", ["native", "emulated"])
def test_scalings_behind_zeros(rng, scalar, arithmetic):
    """Scaling rows by their largest elements, and then columns, leaves a condition of any size if zeros hide the scale
    of a row or column."""
    double = scalar in ("float64", "complex128")
    far = 120 if double else 60
    small = np.array([[2, 1, 1], [1, 3, -1], [1, 0, -2]], scalar)
    large = rng.integers(-9, 10, (12, 12)).astype(scalar) * (rng.random((12, 12)) < 0.6) + 20 * np.eye(12, dtype=scalar)
    inverse = {3: np.linalg.inv(small), 12: np.linalg.inv(large)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for well in (small, large):
            n = len(well)
            for of_rows, of_columns in ((0, 1), (1, 0), (1, 1)):
                rows = np.ldexp(1.0, of_rows * rng.integers(-far, far, n)).astype(scalar)
                columns = np.ldexp(1.0, of_columns * np.resize([0, far, far // 2], n)).astype(scalar)
                a = rows[:, None] * well * columns
                x, report = heddle.solve(a, rows, full_output=True, arithmetic=arithmetic, certificate=True)
                assert report.error_bound < 1e3 * roundoff(scalar)
                expected = inverse[n].sum(axis=1)
                assert np.abs(x * columns - expected).max() < 100 * roundoff(scalar) * np.abs(expected).max()
                if not of_rows:  # nothing is refined here, so that a moderate condition shows
                    assert report.scaled_condition < 1e3
                    found = heddle.inv(a, arithmetic=arithmetic) * columns[:, None]
                    assert np.abs(found - inverse[n]).max() < 100 * roundoff(scalar) * np.abs(inverse[n]).max()
    with pytest.warns(heddle.IllConditionedWarning):
        heddle.solve(np.arange(1.0, 10.0).reshape(3, 3) * np.ldexp(1.0, [0, 120, 60]), np.ones(3))


def test_wrong_arguments(rng):
    a = rng.normal(size=(3, 4))
    for call in (heddle.solve, lambda a, b: heddle.inv(a), lambda a, b: heddle.cholesky(a)):
        with pytest.raises(ValueError, match="square"):
            call(a, np.ones(3))
    a = a[:, :3]
    with pytest.raises(ValueError, match=r"\(3, 3\) and b \(4,\)"):
        heddle.solve(a, np.ones(4))
    with pytest.raises(ValueError, match="assume_a"):
        heddle.solve(a, np.ones(3), assume_a="sparse")
    with pytest.raises(ValueError, match="group"):
        heddle.lu_factor(a, group=3)
    with pytest.raises(ValueError, match="trans"):
        heddle.lu_solve(heddle.lu_factor(a), np.ones(3), trans=7)
    with pytest.raises(ValueError, match="pivots"):
        heddle.lu_solve((a, np.array([0])), np.ones(3))
    with pytest.raises(ValueError):
        heddle.lu_solve((a, np.array([0, 1, 99])), np.ones(3))
    with pytest.raises(TypeError, match="float16"):
        heddle.solve(a.astype("float16"), np.ones(3, "float16"))


def test_infinite_determinants():
    for sign in 1, -1:
        assert heddle.slogdet([[sign * np.inf, 0], [0, 1]]) == (sign, np.inf)
    assert np.isnan(heddle.slogdet([[np.nan, 0], [0, 1]])[0])


def test_pivots_are_whole_numbers():
    with pytest.raises(TypeError, match="lu_solve: a pivot of lu_and_piv = 0.9; expected a whole number"):
        heddle.lu_solve((np.eye(2), [0.9, 1.7]), np.ones(2))


def test_integers_become_doubles():
    assert (heddle.solve(np.array([[2, 0], [0, 4]]), np.array([2, 4])) == [1.0, 1.0]).all()
    assert (heddle.solve([[2, 0], [0, 4]], [2, 4]) == [1.0, 1.0]).all()


def test_progress(rng):
    seen = []
    heddle.lu_factor(rng.normal(size=(400, 400)), block=32, group=1, progress=seen.append)
    assert len(seen) >= 2 and seen == sorted(seen) and 0 < seen[0] and seen[-1] == 1.0
    tqdm = pytest.importorskip("tqdm")
    with tqdm.tqdm(disable=False, file=open("/dev/null", "w")) as bar:
        heddle.solve(rng.normal(size=(300, 300)), rng.normal(size=300), block=32, progress=bar)
        assert bar.total == 1.0 and abs(bar.n - 1.0) < 1e-12


def test_progress_that_raises(rng):
    class Stop(Exception):
        pass

    def stop(share):
        raise Stop("enough")

    a = rng.normal(size=(200, 200))
    with pytest.raises(Stop, match="enough"):
        heddle.lu_factor(a, progress=stop)
    with pytest.raises(Stop, match="enough"):
        heddle.solve(a, a, progress=stop)
    heddle.lu_factor(a)  # the next call works as usual
