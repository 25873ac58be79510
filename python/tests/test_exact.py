"""Exact sums and products: against fractions, in any order, layout and type."""

import math
from fractions import Fraction

import heddle
import numpy as np
import pytest
from conftest import LAYOUTS, random


def wild(rng, n, name):
    """Terms of all sizes, which cancel."""
    real = np.zeros(1, name).real.dtype
    most = 100 if real == "float64" else 15
    half = np.ldexp(rng.normal(size=n), rng.integers(-most, most, n)).astype(real)
    x = np.concatenate([half, -half, rng.normal(size=3).astype(real)])
    rng.shuffle(x)
    return (x + 1j * rng.permutation(x)).astype(name) if name.startswith("complex") else x


def rounded(fraction, dtype):
    """A fraction to the nearest number of a real type, ties to even."""
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
    assert heddle.exact.sum(np.array([2**53, 1, 1])) == 2.0**53 + 2  # integers become doubles


@pytest.mark.parametrize("keys_of", ["int32", "int64", "uint8"])
def test_keyed_sums(rng, scalar, keys_of):
    x = random(rng, (300,), scalar) * 10.0 ** rng.integers(-15, 15, 300).astype(scalar)
    keys = rng.integers(0, 9, 300).astype(keys_of)
    keys[keys == 4] = 5  # nobody's
    sums = heddle.exact.keyed_sum(x.astype(scalar), keys, 11)
    for name, layout in LAYOUTS.items():
        if name != "leading columns":  # of matrices alone
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
