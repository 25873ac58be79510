"""matmul and transpose: values, layouts, shapes, out and errors."""

import itertools

import heddle
import numpy as np
import pytest
from conftest import LAYOUTS, random, roundoff

ARITHMETICS = ("native", "emulated")


def reference(a, b):
    wide = np.complex256 if np.iscomplexobj(a) else np.longdouble
    return a.astype(wide) @ b.astype(wide)


def assert_product(c, a, b, scalar):
    inner = a.shape[-1]
    sizes = np.abs(a).astype(float) @ np.abs(b).astype(float)
    norms = np.linalg.norm(a.astype(complex), axis=-1)[..., :, None] * np.linalg.norm(b.astype(complex), axis=-2)[..., None, :]
    assert (np.abs(c - reference(a, b)) <= 4 * roundoff(scalar) * (inner * sizes + (inner + 1) ** 0.5 * norms)).all()


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize("m, k, n", [(0, 0, 0), (0, 3, 2), (3, 0, 2), (2, 3, 0), (1, 1, 1), (1, 7, 1), (5, 1, 4), (33, 65, 17)])
def test_shapes(rng, scalar, arithmetic, m, k, n):
    a, b = random(rng, (m, k), scalar), random(rng, (k, n), scalar)
    c = heddle.matmul(a, b, arithmetic=arithmetic)
    assert c.shape == (m, n) and c.dtype == scalar
    assert_product(c, a, b, scalar)


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_layouts_have_the_same_bits(rng, scalar, arithmetic, layout):
    a, b = random(rng, (23, 40), scalar), random(rng, (40, 31), scalar)
    plain = heddle.matmul(a, b, arithmetic=arithmetic)
    for first, second in ((layout(a), b), (a, layout(b)), (layout(a), layout(b))):
        c = heddle.matmul(first, second, arithmetic=arithmetic)
        if arithmetic == "emulated":
            assert c.tobytes() == plain.tobytes()
        assert_product(c, a, b, scalar)


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_out_of_any_strides(rng, scalar, arithmetic):
    a, b = random(rng, (13, 9), scalar), random(rng, (9, 21), scalar)
    for name in ("rows", "columns", "padded", "leading", "leading columns"):
        out = LAYOUTS[name](np.full((13, 21), np.nan, scalar))
        assert heddle.matmul(a, b, out, arithmetic=arithmetic) is out
        assert_product(out, a, b, scalar)
        if out.base is not None and name == "padded":
            assert np.isnan(out.base).sum() == out.base.size - out.size  # memory between the elements is unchanged


def test_emulated_bits_do_not_depend_on_the_layout_of_out(rng, scalar):
    a, b = random(rng, (13, 9), scalar), random(rng, (9, 21), scalar)
    a[3] *= 1e-12
    rows = heddle.matmul(a, b, np.empty((13, 21), scalar), arithmetic="emulated")
    columns = heddle.matmul(a, b, np.empty((13, 21), scalar, "F"), arithmetic="emulated")
    assert rows.tobytes() == columns.tobytes()


def test_numpys_rules_of_shapes(rng):
    shapes = [(3,), (3, 3), (2, 3, 3), (4, 1, 3, 3), (1, 3, 3), (0, 3, 3)]
    for left, right in itertools.product(shapes, shapes):
        a, b = rng.normal(size=left), rng.normal(size=right)
        try:
            expected = np.matmul(a, b)
        except ValueError:
            with pytest.raises(ValueError):
                heddle.matmul(a, b)
            continue
        c = heddle.matmul(a, b)
        assert c.shape == expected.shape
        np.testing.assert_allclose(c, expected, rtol=1e-12, atol=1e-13)
        if expected.ndim:
            out = np.empty_like(expected)
            assert heddle.matmul(a, b, out=out) is out
            assert (out == c).all()


def test_types_in_common(rng):
    a, b = rng.normal(size=(3, 3)).astype("float32"), rng.normal(size=(3, 3)) * 1j
    c = heddle.matmul(a, b)
    assert c.dtype == "complex128"
    np.testing.assert_allclose(c, a @ b, rtol=1e-13)


@pytest.mark.parametrize("wrong", ["int64", "bool", "float16", "longdouble", "object", "datetime64[s]"])
def test_other_types_are_refused(wrong):
    with pytest.raises(TypeError, match="expected float32, float64, complex64 or complex128"):
        heddle.matmul(np.zeros((2, 2), wrong), np.zeros((2, 2), wrong))


def test_wrong_arguments(rng):
    a = rng.normal(size=(3, 4))
    with pytest.raises(ValueError, match="4 columns of a and 3 rows of b"):
        heddle.matmul(a, a)
    with pytest.raises(ValueError, match="native"):
        heddle.matmul(a, a.T, arithmetic="magic")
    with pytest.raises(ValueError, match="out has shape"):
        heddle.matmul(a, a.T, np.empty((3, 4)))
    with pytest.raises(ValueError, match="float32"):
        heddle.matmul(a, a.T, np.empty((3, 3), "float32"))
    with pytest.raises(ValueError, match="can't be written"):
        out = np.empty((3, 3))
        out.setflags(write=False)
        heddle.matmul(a, a.T, out)
    with pytest.raises(ValueError, match="negative"):
        heddle.matmul(a, a.T, np.empty((3, 3))[::-1])
    with pytest.raises(TypeError, match="list"):
        heddle.matmul(a, a.T, [[0.0] * 3] * 3)
    square = rng.normal(size=(3, 3))
    other = rng.normal(size=(3, 3))
    for order in ("C", "F"):
        a, b = np.array(square, order=order), np.array(other, order=order)
        with pytest.raises(ValueError, match="out shares storage with a"):
            heddle.matmul(a, b, out=a)
        with pytest.raises(ValueError, match="out shares storage with b"):
            heddle.matmul(a, b, out=b)
    with pytest.raises(ValueError, match="moduli"):
        heddle.matmul(square, square, arithmetic="emulated", moduli=3)


def test_report(rng):
    a = rng.normal(size=(8, 8))
    c, report = heddle.matmul(a, a, arithmetic="emulated", moduli=16, full_output=True)
    assert (report.arithmetic, report.moduli, report.fallback) == ("emulated", 16, None)
    assert 0 < report.error_bound < 1e-15
    assert heddle.matmul(a, a, full_output=True)[1].arithmetic == "native"
    assert heddle.matmul(a, a, arithmetic="auto", full_output=True)[1].arithmetic in ARITHMETICS
    _, reports = heddle.matmul(np.stack([a, a]), a, full_output=True)
    assert len(reports) == 2


def test_not_a_number_stays_in_its_row(rng, scalar):
    a, b = random(rng, (5, 6), scalar), random(rng, (6, 4), scalar)
    a[2, 3] = np.nan
    for arithmetic in ARITHMETICS:
        c = heddle.matmul(a, b, arithmetic=arithmetic)
        assert np.isnan(c[2]).all() and np.isfinite(c[[0, 1, 3, 4]]).all()


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (1, 1), (1, 9), (7, 5), (100, 130), (3, 4, 5), (2, 0, 3), (0, 2, 2)])
@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128", "int32", "int64"])
def test_transpose(rng, shape, name, layout):
    a = (rng.normal(size=shape) * 100).astype(name)
    if name.startswith("complex"):
        a = a * (1 + 2j)
    a = a.astype(name)
    expected = a.swapaxes(-1, -2)
    b = heddle.transpose(layout(a))
    assert b.dtype == name and b.flags.c_contiguous and (b == expected).all()
    assert (heddle.transpose(layout(a), conjugate=True) == expected.conj()).all()
    out = np.empty(expected.shape[::-1], name).transpose()
    assert heddle.transpose(layout(a), out) is out and (out == expected).all()


def test_transpose_refuses(rng):
    a = rng.normal(size=(4, 4))
    with pytest.raises(ValueError, match="transpose: out shares storage with a"):
        heddle.transpose(a, a)
    stack = rng.normal(size=(3, 4, 4))
    with pytest.raises(ValueError, match="transpose: out shares storage with a"):
        heddle.transpose(stack[:2], stack[1:])
    with pytest.raises(ValueError, match="a matrix"):
        heddle.transpose(a[0])
    with pytest.raises(TypeError):
        heddle.transpose(a.astype("int16"))
