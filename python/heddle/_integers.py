"""Exact conversion of integers to doubles and to indices of fewer bits; inexact values are refused."""

import numpy as np

_LIMITS = {"uint8": (0, 2**8 - 1), "int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def is_integer(name):
    """Return whether an element type is an integer type; bool is not."""
    return name.startswith(("int", "uint"))


def _signed(kind, array):
    """Return the same 64 bits as signed integers; usable() fixes the byte order."""
    return kind.usable(array).view(kind.xp.int64)


def split(kind, array, name):
    """Split integers into two float64 arrays with the same sum: the nearest doubles and the remainders, or None if all
    remainders are zero."""
    if not name.endswith("64"):
        return kind.as_type(array, "float64"), None
    signed = _signed(kind, array) if name == "uint64" else array
    low = signed & 0x7FF  # the low 11 bits; the other 53 fit a double
    high = kind.as_type(signed - low, "float64")
    if name == "uint64":
        high = high + kind.as_type(signed < 0, "float64") * 2.0**64
    nearest = high + kind.as_type(low, "float64")
    rest = kind.as_type(low, "float64") - (nearest - high)
    return nearest, rest if bool((rest != 0).any()) else None


def as_float64(function, kind, array, name):
    """Return an array of integers or truth values as float64; refuse integers that no double equals."""
    nearest, rest = split(kind, array, name)
    if rest is not None:
        _refuse(function, kind.to_host(array)[kind.to_host(rest) != 0][0])
    return nearest


def _refuse(function, value):
    raise ValueError(f"{function}: {int(value)} is an integer that no float64 equals; integers are not rounded")


def require_unrounded(function, value, array):
    """Refuse a list in which NumPy rounded integers beyond 2^53 because other elements are not integers."""
    if isinstance(value, np.ndarray) or not isinstance(array, np.ndarray) or array.dtype.kind not in "fc":
        return
    large = np.abs(array) >= 2.0**53  # 2^53 + 1 is rounded to 2^53
    if not large.any() or not isinstance(value, (int, np.integer, list, tuple)):
        return
    for given in np.asarray(value, object)[large].ravel():
        if isinstance(given, (int, np.integer)) and np.isfinite(float(given)) and int(float(given)) != int(given):
            _refuse(function, given)


def narrowed(function, kind, array, wanted, what, expected):
    """Return an array of integers as another integer type; refuse other elements, and values out of its range."""
    name = kind.dtype_name(array)
    if name == wanted:
        return array
    empty = 0 in tuple(array.shape)
    if not (is_integer(name) or name == "bool" or empty):
        raise TypeError(f"{function}: {what} of type {name}; expected {expected}")
    if is_integer(name) and not empty:
        least, most = _LIMITS[wanted]
        # Values of 2^63 and more are negative as signed numbers.
        values = _signed(kind, array) if name == "uint64" else kind.as_type(array, "int64")
        bad = (values < (0 if name == "uint64" else least)) | (values > most)
        if bool(bad.any()):
            wrong = int(kind.to_host(array)[kind.to_host(bad)][0])
            raise ValueError(f"{function}: {what} has {wrong}; expected {expected}")
    return kind.as_type(array, wanted)
