"""Integers as doubles: exactly, or refused; and as indices of fewer bits, without a change of their values."""

import operator

import numpy as np

_LIMITS = {"uint8": (0, 2**8 - 1), "int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def is_integer(name):
    """Whether a type of elements is one of integers, truth values not among them."""
    return name.startswith(("int", "uint"))


def _signed(kind, array):
    """The same 64 bits as signed integers; usable() sees to the order of bytes."""
    return kind.usable(array).view(kind.xp.int64)


def split(kind, array, name):
    """Arrays of float64 whose sum is an array of integers: the nearest doubles, and what is left, or None where that is
    zero for all of them."""
    if not name.endswith("64"):
        return kind.as_type(array, "float64"), None
    signed = _signed(kind, array) if name == "uint64" else array
    low = signed & 0x7FF  # 11 bits: the other 53 are a double's
    high = kind.as_type(signed - low, "float64")
    if name == "uint64":
        high = high + kind.as_type(signed < 0, "float64") * 2.0**64
    nearest = high + kind.as_type(low, "float64")
    rest = kind.as_type(low, "float64") - (nearest - high)
    return nearest, rest if bool((rest != 0).any()) else None


def as_float64(function, kind, array, name):
    """An array of integers or truth values as float64. Refuses integers that no double equals."""
    nearest, rest = split(kind, array, name)
    if rest is not None:
        _refuse(function, kind.to_host(array)[kind.to_host(rest) != 0][0])
    return nearest


def _refuse(function, value):
    raise ValueError(f"{function}: {int(value)} is an integer that no float64 equals; integers are not rounded")


def require_unrounded(function, value, array):
    """Refuses a list of numbers of which NumPy has rounded integers beyond 2^53, because others are no integers."""
    if isinstance(value, np.ndarray) or not isinstance(array, np.ndarray) or array.dtype.kind not in "fc":
        return
    large = np.abs(array) >= 2.0**53  # what 2^53 + 1 is rounded to
    if not large.any() or not isinstance(value, (int, np.integer, list, tuple)):
        return
    for given in np.asarray(value, object)[large].ravel():
        if isinstance(given, (int, np.integer)) and np.isfinite(float(given)) and int(float(given)) != int(given):
            _refuse(function, given)


def narrowed(function, kind, array, wanted, what, expected):
    """An array of integers as another type of them. Refuses other elements, and values that the type does not have."""
    name = kind.dtype_name(array)
    if name == wanted:
        return array
    empty = 0 in tuple(array.shape)
    if not (is_integer(name) or name == "bool" or empty):
        raise TypeError(f"{function}: {what} of type {name}; expected {expected}")
    if is_integer(name) and not empty:
        least, most = _LIMITS[wanted]
        # As signed numbers, those of 2^63 and more are negative.
        values = _signed(kind, array) if name == "uint64" else kind.as_type(array, "int64")
        bad = (values < (0 if name == "uint64" else least)) | (values > most)
        if bool(bad.any()):
            wrong = int(kind.to_host(array)[kind.to_host(bad)][0])
            raise ValueError(f"{function}: {what} has {wrong}; expected {expected}")
    return kind.as_type(array, wanted)


def as_number(function, value, what):
    """A whole number that was given as one."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{function}: {what} = {value!r}; expected a whole number") from None
