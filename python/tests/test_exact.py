"""Exact sums and products: against fractions, in any order, layout and type."""

import math
from fractions import Fraction

import heddle
import numpy as np
import pytest
from conftest import LAYOUTS, random


def wild(rng, n, name):
    """Return terms of all sizes, which cancel."""
    real = np.zeros(1, name).real.dtype
    most = 100 if real == "float64" else 15
    half = np.ldexp(rng.normal(size=n), rng.integers(-most, most, n)).astype(real)
    x = np.concatenate([half, -half, rng.normal(size=3).astype(real)])
    rng.shuffle(x)
    return (x + 1j * rng.permutation(x)).astype(name) if name.startswith("complex") else x


def rounded(fraction, dtype):
    """Round a fraction to the nearest number of a real type, ties to even."""
    if dtype == np.float64:
        return float(fraction)
    bits = 24
    if fraction == 0:
        return np.float32(0)
    exponent = math.frexp(float(fraction))[1] - bits
    return np.float32(math.ldexp(round(fraction / Fraction(2) ** exponent), exponent))


def parts(x):
    return [x.real, x.imag] if np.iscomplexobj(x) else [x]


def fractions(x):
    return [Fraction(float(v)) for v in x]


@pytest.mark.parametrize("n", [0, 1, 10, 1000])
def test_sum_is_rounded_once(rng, scalar, n):
    x = wild(rng, n, scalar)
    total = heddle.exact.sum(x)
    assert total.dtype == scalar
    for ours, terms in zip(parts(total), parts(x)):
        assert ours == rounded(sum(fractions(terms)), terms.dtype)
    assert heddle.exact.sum(rng.permutation(x)).tobytes() == total.tobytes()
    for algorithm in ("accumulator", "expansion-4"):
        assert heddle.exact.sum(x, algorithm=algorithm).tobytes() == total.tobytes()


def test_empty_infinite_and_nan(scalar):
    zero = heddle.exact.sum(np.zeros(0, scalar))
    assert zero == 0 and zero.dtype == scalar
    assert heddle.exact.sum(np.array([1, np.inf], scalar)).real == np.inf
    assert np.isnan(heddle.exact.sum(np.array([np.inf, -np.inf], scalar)).real)
    assert np.signbit(heddle.exact.sum(np.array([-0.0, -0.0])))


def test_layouts(rng, scalar, layout):
    x = random(rng, (7, 11), scalar)
    assert heddle.exact.sum(layout(x)).tobytes() == heddle.exact.sum(x).tobytes()
    assert heddle.exact.norm(layout(x)).tobytes() == heddle.exact.norm(x).tobytes()
    c = heddle.exact.matmul(x, x.T)
    assert heddle.exact.matmul(layout(x), layout(x).T).tobytes() == c.tobytes()


@pytest.mark.parametrize("axis", [0, 1, 2, -1, (0, 2), (2, 0), (0, 1, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes_are_numpys(rng, axis, keepdims):
    x = rng.integers(-9, 9, (3, 4, 5)).astype(float)
    expected = x.sum(axis=axis, keepdims=keepdims)
    found = heddle.exact.sum(x, axis=axis, keepdims=keepdims)
    assert found.shape == expected.shape and (found == expected).all()
    assert heddle.exact.sum(x, axis=None, keepdims=keepdims).shape == ((1, 1, 1) if keepdims else ())


def test_dot_is_rounded_once(rng, scalar):
    x, y = wild(rng, 50, scalar), wild(rng, 50, scalar)
    found = heddle.exact.dot(x, y)
    conjugated = heddle.exact.vdot(x, y)
    if not scalar.startswith("complex"):
        exact = sum(a * b for a, b in zip(fractions(x), fractions(y)))
        assert found == conjugated == rounded(exact, x.dtype)
        return
    (a, b), (c, d) = [[fractions(p) for p in parts(v)] for v in (x, y)]
    real = x.real.dtype
    assert found.real == rounded(sum(p * r - q * s for p, q, r, s in zip(a, b, c, d)), real)
    assert found.imag == rounded(sum(p * s + q * r for p, q, r, s in zip(a, b, c, d)), real)
    assert conjugated.real == rounded(sum(p * r + q * s for p, q, r, s in zip(a, b, c, d)), real)


def test_norm():
    assert heddle.exact.norm(np.array([3e-300, 4e-300])) == 5e-300
    assert heddle.exact.norm(np.array([3.0 + 4.0j]), ord=1) == 7.0
    assert heddle.exact.norm(np.array([[3.0, 4.0], [0.0, 2.0]]), axis=1).tolist() == [5.0, 2.0]
    assert heddle.exact.norm(np.zeros(0, "complex64")).dtype == "float32"
    with pytest.raises(ValueError, match="ord = 3"):
        heddle.exact.norm(np.ones(2), ord=3)


def test_matmul_is_rounded_once(rng):
    a, b = rng.normal(size=(6, 30)) * 10.0 ** rng.integers(-30, 30, (6, 30)), rng.normal(size=(30, 4))
    c = heddle.exact.matmul(a, b)
    for i, j in np.ndindex(*c.shape):
        assert c[i, j] == float(sum(Fraction(p) * Fraction(q) for p, q in zip(a[i].tolist(), b[:, j].tolist())))
    out = np.empty((6, 4), order="F")
    assert heddle.exact.matmul(a, b, out) is out and (out == c).all()
    assert heddle.exact.matmul(a[0], b).tobytes() == c[0].tobytes()


def test_wrong_arguments():
    with pytest.raises(ValueError, match="vectors of one length"):
        heddle.exact.dot(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="expansion"):
        heddle.exact.sum(np.ones(2), algorithm="kahan")
    with pytest.raises(TypeError, match="float16"):
        heddle.exact.sum(np.ones(2, "float16"))
    square = np.eye(3)
    for a, b, name in ((square, np.eye(3), "a"), (np.eye(3), square, "b")):
        with pytest.raises(ValueError, match=f"exact.matmul: out shares storage with {name}"):
            heddle.exact.matmul(a, b, out=square)


INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")


def borders(rng, name, n):
    """Return integers of a type at its limits, at 2^53 to 2^64, and in between."""
    if name == "bool":
        return rng.integers(0, 2, n).astype(bool)
    info = np.iinfo(name)
    around = [2**k + d for k in (24, 31, 32, 52, 53, 54, 60, 62, 63) for d in (-2, -1, 0, 1, 3)]
    values = [info.min, info.max, info.min + 1, info.max - 1, *around, *(-a for a in around)]
    values = [v for v in values if info.min <= v <= info.max]
    drawn = [int(v) >> int(rng.integers(0, info.bits)) for v in rng.integers(info.min, info.max, n, name, True)]
    return rng.permutation(np.array(values + drawn, name))


def nearest(fraction):
    return float(Fraction(fraction))


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_summed_exactly(rng, name):
    for n in (0, 1, 30, 5000):
        x = borders(rng, name, n)
        whole = [int(v) for v in x]
        total = heddle.exact.sum(x)
        assert total.dtype == "float64" and total == nearest(sum(whole))
        assert heddle.exact.sum(x[::-2]) == nearest(sum(whole[::-2]))
        assert heddle.exact.sum(x.astype(x.dtype.newbyteorder())) == total
        for algorithm in ("accumulator", "expansion-3"):
            assert heddle.exact.sum(x, algorithm=algorithm) == total
    x = borders(rng, name, 12)
    x = np.resize(x, (2, 3, len(x) // 6))
    for axis in (0, 1, -1, (0, 2), (2, 1), (0, 1, 2), ()):
        found = heddle.exact.sum(x, axis=axis, keepdims=True)
        expected = x.astype(object).sum(axis=axis, keepdims=True)
        assert found.shape == np.shape(expected)
        assert (found == np.vectorize(nearest, otypes=[float])(expected)).all()
        assert (heddle.exact.sum(x, axis) == found.reshape(np.shape(x.astype(object).sum(axis=axis)))).all()
    assert heddle.exact.sum(np.zeros((0, 3), name), axis=0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("other", [*INTEGERS, "float32", "float64", "complex64", "complex128"])
def test_inner_products_of_integers_are_exact(rng, name, other):
    x = borders(rng, name, 40)
    if other in INTEGERS:
        y = np.resize(borders(rng, other, 40), x.shape)
        pairs = [[(int(a), int(b)) for a, b in zip(x, y)]]
    else:
        y = wild(rng, len(x), other)[:len(x)]
        pairs = [[(int(a), Fraction(float(b))) for a, b in zip(x, part)] for part in parts(y)]
    expected = [nearest(sum((a * b for a, b in part), Fraction(0))) for part in pairs]
    kind = "complex128" if other.startswith("complex") else "float64"
    for found in (heddle.exact.dot(x, y), heddle.exact.vdot(x, y), heddle.exact.dot(y, x)):
        assert found.dtype == kind
        assert [float(part) for part in parts(found)] == expected
    if kind == "complex128":
        assert heddle.exact.vdot(y, x) == complex(expected[0], -expected[1])
    assert heddle.exact.dot(x[:0], y[:0]) == 0


def test_integers_beside_zeros_infinities_and_nans():
    wide = np.array([2**53 + 1, -(2**53) - 1, 5])
    assert heddle.exact.dot(wide, np.array([np.inf, 1.0, 0.0])) == np.inf
    assert heddle.exact.dot(wide, np.array([0.0, np.inf, 0.0])) == -np.inf
    assert np.isnan(heddle.exact.dot(wide, np.array([np.inf, np.inf, 0.0])))
    assert np.isnan(heddle.exact.dot(wide, np.array([np.nan, 1.0, 0.0])))
    assert np.isnan(heddle.exact.dot(np.array([2**53 + 1, 0]), np.array([1.0, np.inf])))
    assert np.signbit(heddle.exact.dot(np.array([2**53 + 1]), np.array([-0.0])))
    assert not np.signbit(heddle.exact.dot(np.array([2**53 + 1]), np.array([0.0])))
    assert heddle.exact.dot(np.array([2**53 + 1]), np.array([5e-324])) == (2**53 + 1) * 5e-324
    mask = np.array([True, False, True])
    assert heddle.exact.dot(mask, wide) == 2.0**53 + 6 and heddle.exact.sum(wide[mask]) == 2.0**53 + 6
    assert heddle.exact.sum([2**53 + 1, -(2**53)]) == 1.0
    assert heddle.exact.sum(2**63 + 1025) == 2.0**63 + 2048
    for algorithm in ("plain", "twice"):
        assert heddle.exact.sum(np.array([2**53 + 1, -(2**53)]), algorithm=algorithm) == 0.0
    with pytest.raises(ValueError, match=f"exact.sum: {2**63 + 1} is an integer that no float64 equals"):
        heddle.exact.sum([2**63 + 1, -1])  # NumPy makes it float64


@pytest.mark.parametrize("name", INTEGERS)
def test_keyed_and_segmented_sums_of_integers(rng, name):
    x = borders(rng, name, 200)
    keys = rng.integers(0, 7, len(x))
    for k, found in enumerate(heddle.exact.keyed_sum(x, keys, 8)):
        assert found == nearest(sum(int(v) for v in x[keys == k]))
    offsets = np.array([2, 2, 9, 10, len(x) - 1])
    found = heddle.exact.segmented_sum(x, offsets)
    assert found.tolist() == [nearest(sum(int(v) for v in x[a:b])) for a, b in zip(offsets, offsets[1:])]
    with pytest.raises(ValueError, match=f"offsets\\[1\\] = {len(x) + 1}; expected 0 to {len(x)}"):
        heddle.exact.segmented_sum(x, [0, len(x) + 1])
    with pytest.raises(ValueError, match=f"keyed_sum: keys has {2**63}; expected integers below"):
        heddle.exact.keyed_sum(x[:2], np.array([0, 2**63], "uint64"))
    with pytest.raises(MemoryError):
        heddle.exact.keyed_sum([1.0], [2**62])


def test_integers_are_not_rounded_elsewhere(rng):
    wide = np.array([[2**53 + 1, 0], [0, 1]])
    for call in (heddle.expm, heddle.inv, heddle.slogdet, heddle.eigh, heddle.lu_factor, heddle.exact.norm,
                 lambda a: heddle.exact.norm(a, 1), lambda a: heddle.solve(a, np.ones(2)), lambda a: heddle.solve(np.eye(2), a)):
        with pytest.raises(ValueError, match="9007199254740993 is an integer that no float64 equals"):
            call(wide)
        call(np.array([[2**60, 0], [0, 1]]) if call is not heddle.expm else np.eye(2, dtype=int))
    # Lists whose integers NumPy rounds, because other elements are not integers.
    for given in ([2**53 + 1, 0.5, -(2**53)], [np.int64(2**60 + 1), -(2.0**60)], [np.uint64(2**63 + 1), 0.25],
                  [[2**53 + 1, 1j]]):
        for call in (heddle.exact.sum, heddle.exact.norm):
            with pytest.raises(ValueError, match="is an integer that no float64 equals"):
                call(given)
    with pytest.raises(ValueError, match="9223372036854775809 is an integer"):
        heddle.inv([[np.uint64(2**63 + 1), 0], [0, 1]])
    assert heddle.exact.sum([2**53, 0.5]) == 2.0**53
    with pytest.raises(ValueError, match="18446744073709551615 is an integer"):
        heddle.inv(np.full((1, 1), 2**64 - 1, "uint64"))
    assert heddle.exact.norm(np.array([2**62, 2**63 + 2048], "uint64"), 1) == 2.0**62 + 2.0**63 + 2048


@pytest.mark.parametrize("keys_of", ["int32", "int64", "uint8"])
def test_keyed_sums(rng, scalar, keys_of):
    x = random(rng, (300,), scalar) * 10.0 ** rng.integers(-15, 15, 300).astype(scalar)
    keys = rng.integers(0, 9, 300).astype(keys_of)
    keys[keys == 4] = 5  # a key without elements
    sums = heddle.exact.keyed_sum(x.astype(scalar), keys, 11)
    for name, layout in LAYOUTS.items():
        if name != "leading columns":  # for matrices only
            assert heddle.exact.keyed_sum(layout(x.astype(scalar)), layout(keys), 11).tobytes() == sums.tobytes(), name
    assert sums.shape == (11,) and sums.dtype == scalar
    for k in range(11):
        assert sums[k] == heddle.exact.sum(x[keys == k].astype(scalar)), k
    order = rng.permutation(300)
    assert heddle.exact.keyed_sum(x[order].astype(scalar), keys[order], 11).tobytes() == sums.tobytes()


def test_segmented_sums(rng, scalar):
    x = random(rng, (200,), scalar) * np.array(10.0 ** rng.integers(-15, 15, 200), scalar)
    offsets = np.array([3, 3, 50, 51, 199])
    sums = heddle.exact.segmented_sum(x, offsets)
    expected = [heddle.exact.sum(x[a:b]) for a, b in zip(offsets, offsets[1:])]
    assert sums.dtype == scalar and sums.tolist() == [np.dtype(scalar).type(e) for e in expected]
    out = np.empty(4, scalar)
    assert heddle.exact.segmented_sum(x, offsets.astype("int32"), out=out) is out and out.tobytes() == sums.tobytes()
    assert heddle.exact.segmented_sum(x, []).shape == (0,)
    assert heddle.exact.keyed_sum([], []).shape == (0,)


def test_wrong_groups():
    with pytest.raises(ValueError, match="3 elements and 2 keys"):
        heddle.exact.keyed_sum(np.ones(3), [0, 1])
    with pytest.raises(ValueError, match="key"):
        heddle.exact.keyed_sum(np.ones(2), [0, 5], 3)
    with pytest.raises(TypeError, match="float64"):
        heddle.exact.keyed_sum(np.ones(2), [0.0, 1.0])
    with pytest.raises(ValueError, match="offset"):
        heddle.exact.segmented_sum(np.ones(2), [0, 2, 1])
    x = np.ones(3)
    with pytest.raises(ValueError, match="exact.keyed_sum: out shares storage with x"):
        heddle.exact.keyed_sum(x, [0, 1, 1], out=x)
    with pytest.raises(ValueError, match="exact.segmented_sum: out shares storage with x"):
        heddle.exact.segmented_sum(x, [0, 1, 3], out=x[:2])
