"""Stacks of matrices with any number of axes, handed to the C++ module as stacks with one."""

from __future__ import annotations

import math

import numpy as np


def parts(kind, stack, *arrays):
    """Yield the number of the first matrix, counted over the whole stack in C order, and the arrays of one part of a
    stack, each with one axis in place of the stack's. There is one part if the axes of all arrays merge without a copy."""
    if 0 in stack:
        return
    # Axes of one matrix only.
    kept = tuple(slice(None) if extent > 1 else 0 for extent in stack)
    arrays = [array[(*kept, ...)] for array in arrays]
    stack = tuple(extent for extent in stack if extent > 1)
    axes = min((_merging(kind, array, len(stack)) for array in arrays), default=0)
    front, back = stack[:len(stack) - axes], stack[len(stack) - axes:]
    count = math.prod(back)
    for number, index in enumerate(np.ndindex(*front)):
        yield number * count, [array[(*index, ...)].reshape((count, *array.shape[len(stack):])) for array in arrays]


def _merging(kind, array, axes):
    """Return how many of the last of the first `axes` axes are as one axis, whose elements have one distance."""
    if kind.name == "jax":  # contiguous, or copied by reshape()
        return axes
    strides = kind.layout(array)[1]
    merging = min(axes, 1)
    while merging < axes:
        axis = axes - merging
        if strides[axis - 1] != strides[axis] * array.shape[axis]:
            break
        merging += 1
    return merging


def index_of(number, stack):
    """Return the index of a matrix of a stack; () without a stack."""
    return tuple(map(int, np.unravel_index(number, stack))) if stack else ()
