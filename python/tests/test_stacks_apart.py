"""Stacks whose `out` lies beside, within and across an operand: refused, or each matrix replaced by its own result."""

import heddle
import numpy as np
import pytest


def definite(rng, *shape):
    a = rng.normal(size=shape)
    return a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])


def calls(rng, n):
    """Return (name of the operand, call with it and out, result of NumPy or of single matrices)."""
    other = definite(rng, n, n)
    one_by_one = lambda call: lambda a: np.stack([call(np.array(one)) for one in a])
    return {"matmul a": ("a", lambda a, out: heddle.matmul(a, other, out=out), lambda a: a @ other),
            "matmul b": ("b", lambda b, out: heddle.matmul(other, b, out=out), lambda b: other @ b),
            "exact.matmul a": ("a", lambda a, out: heddle.exact.matmul(a, other, out=out), lambda a: a @ other),
            "exact.matmul b": ("b", lambda b, out: heddle.exact.matmul(other, b, out=out), lambda b: other @ b),
            "solve a": ("a", lambda a, out: heddle.solve(a, other, out=out), lambda a: np.linalg.solve(a, other)),
            "solve b": ("b", lambda b, out: heddle.solve(other, b, out=out), lambda b: np.linalg.solve(other, b)),
            "expm": ("a", lambda a, out: heddle.expm(a, out=out), one_by_one(heddle.expm)),
            "cholesky": ("a", lambda a, out: heddle.cholesky(a, out=out), np.linalg.cholesky)}


NAMES = list(calls(np.random.default_rng(0), 2))
IN_PLACE = {"solve a", "solve b", "expm", "cholesky"}
# (operand, out) as parts of one array of 7 matrices.
SHARING = {"shifted": (slice(0, 6), slice(1, 7)), "shifted back": (slice(1, 7), slice(0, 6)),
           "interleaved": (slice(0, 6, 2), slice(0, 3)), "last": (slice(0, 3), slice(2, 5))}


@pytest.mark.parametrize("n", [3, 40])  # expm batches those below 33
@pytest.mark.parametrize("name", NAMES)
def test_out_across_an_operand_is_refused(rng, name, n):
    operand, call, _ = calls(rng, n)[name]
    for case, (part, out) in SHARING.items():
        whole = definite(rng, 7, n, n) / n
        before = whole.copy()
        with pytest.raises(ValueError, match=f"out shares storage with {operand}"):
            call(whole[part], whole[out])
            pytest.fail(case)
        assert (whole == before).all()  # nothing was written


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("name", NAMES)
def test_parts_that_are_apart_are_taken(rng, name, n):
    _, call, expected = calls(rng, n)[name]
    for part, out in ((slice(0, 3), slice(3, 6)), (slice(0, 6, 2), slice(1, 7, 2))):
        whole = definite(rng, 7, n, n) / n
        found = expected(whole[part].copy())
        np.testing.assert_allclose(call(whole[part], whole[out]), found, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("name", NAMES)
def test_each_matrix_in_its_own_place(rng, name, n):
    operand, call, expected = calls(rng, n)[name]
    whole = definite(rng, 4, n, n) / n
    # The library itself refuses column-major right-hand sides that overlap their solutions.
    for view in (whole,) if name.startswith("solve") else (whole, whole.swapaxes(-1, -2)):
        found = expected(view.copy())
        if name in IN_PLACE:
            np.testing.assert_allclose(call(view, view), found, rtol=1e-9, atol=1e-9)
        else:
            with pytest.raises(ValueError, match=f"out shares storage with {operand}"):
                call(view, view)


def test_one_operand_of_all_within_out(rng):
    whole = definite(rng, 3, 4, 4)
    a = definite(rng, 3, 4, 4)
    for call in (lambda: heddle.matmul(whole[1], a, out=whole), lambda: heddle.solve(a, whole[0], out=whole),
                 lambda: heddle.solve(a, whole[0, 1], out=whole[0, :3])):
        with pytest.raises(ValueError, match="out shares storage with"):
            call()


def test_stacks_of_vectors(rng):
    a, x = rng.normal(size=(3, 4, 4)), rng.normal(size=(4, 4))
    expected = x[:3] @ a[0]
    with pytest.raises(ValueError, match="out shares storage with b"):
        heddle.matmul(np.ones(4), np.ascontiguousarray(a), out=a[1, :3])
    np.testing.assert_allclose(heddle.matmul(x[:3], a[0], out=x[:3].copy()), expected)


def test_out_that_overlaps_itself_is_refused():
    a = np.ones((2, 2))
    for strides in ((0, 0), (8, 0), (0, 8), (8, 8)):
        out = np.lib.stride_tricks.as_strided(np.zeros(4), (2, 2), strides)
        for call in (lambda: heddle.matmul(a, a, out=out), lambda: heddle.transpose(a, out=out),
                     lambda: heddle.solve(np.eye(2), a, out=out), lambda: heddle.expm(a, out=out)):
            with pytest.raises(ValueError, match="elements of out share storage"):
                call()
    heddle.matmul(a, a, out=np.zeros((4, 6))[::2, ::3])
    heddle.matmul(a[:1], a, out=np.lib.stride_tricks.as_strided(np.zeros(2), (1, 2), (0, 8)))
