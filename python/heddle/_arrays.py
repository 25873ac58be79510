"""Conversion of the arrays of all libraries (_libraries.py) to and from those of the C++ module."""

from __future__ import annotations

import numpy as np

from . import _core
from ._integers import as_float64, is_integer, require_unrounded, split
from ._libraries import CuPy, Jax, NumPy, Torch

SCALARS = ("float32", "float64", "complex64", "complex128")
_NAMES = {np.dtype(name): name for name in SCALARS}
_REAL = {"complex64": "float32", "complex128": "float64"}


def real_name(name):
    """Return the type of the real and imaginary parts of an element type."""
    return _REAL.get(name, name)


def one_device(function, kind, *arrays):
    """Refuse arrays on several devices, and on another GPU than the one Heddle uses."""
    devices = sorted({kind.device(array) for array in arrays if array is not None})
    if len(devices) > 1:
        raise TypeError(f"{function}: arrays on {' and '.join(devices)}; expected one device")
    if _core.on_gpus and devices and devices[0].startswith("cuda") and devices[0] != f"cuda:{_core.device()}":
        raise TypeError(f"{function}: arrays on {devices[0]}; heddle runs on cuda:{_core.device()}")


_KINDS = {"cupy": CuPy, "torch": Torch, "jax": Jax, "jaxlib": Jax}
_made = {}
_numpy = NumPy()


def kind_of(function, *arrays):
    """Return the one library of `arrays`; lists and numbers go with any."""
    found = None
    for array in arrays:
        if type(array) is np.ndarray or array is None:
            continue
        kind = _KINDS.get(type(array).__module__.partition(".")[0])
        if kind is None:
            continue
        if found not in (None, kind):
            raise TypeError(f"{function}: arrays of {found.name} and {kind.name}; expected one kind")
        found = kind
    if found is None:
        return _numpy
    if any(isinstance(array, np.ndarray) for array in arrays):
        raise TypeError(f"{function}: arrays of numpy and {found.name}; expected one kind")
    if found not in _made:
        _made[found] = found()
    return _made[found]


def to_host(array):
    """Return an array of any library as a NumPy array."""
    return kind_of("", array).to_host(array)


def operands(function, /, *, integers=True, **named):
    """Return the library of the named arguments, the name of their common element type, and their arrays with that type
    and strides that the C++ module takes. Integers become float64, as in SciPy; those that no double equals are refused,
    and without `integers` all of them."""
    # The common case takes less than a microsecond.
    given = tuple(named.values())
    first = given[0]
    name = _NAMES.get(first.dtype) if type(first) is np.ndarray else None
    if name is not None:
        for array in given:
            if type(array) is not np.ndarray or array.dtype is not first.dtype:
                break
            flags = array.flags
            if not (flags.forc and flags.aligned):
                break
        else:
            return _numpy, name, given
    kind, arrays, names, common = _common(function, named, integers)
    arrays = (a if name in SCALARS else as_float64(function, kind, a, name) for a, name in zip(arrays, names))
    return kind, common, tuple(_cast(kind, array, common) for array in arrays)


def exact_operands(function, /, **named):
    """Do the same for exact sums, where integers keep all their digits: each array becomes a pair of its values rounded
    to the common type and the remainder of its integers, or None."""
    given = tuple(named.values())
    first = given[0]
    name = _NAMES.get(first.dtype) if type(first) is np.ndarray else None
    if name is not None and all(type(array) is np.ndarray and array.dtype is first.dtype for array in given):
        kind, name, arrays = operands(function, **named)
        return kind, name, tuple((array, None) for array in arrays)
    kind, arrays, names, common = _common(function, named, True)
    pairs = ((a, None) if name in SCALARS else split(kind, a, name) for a, name in zip(arrays, names))
    return kind, common, tuple((_cast(kind, a, common), None if rest is None else _cast(kind, rest, common))
                               for a, rest in pairs)


def _common(function, named, integers):
    """Return the library of the named arguments, their arrays, the names of their types, and that of the common type."""
    kind = kind_of(function, *named.values())
    arrays = [kind.array(function, name, value) for name, value in named.items()]
    for value, array in zip(named.values(), arrays):
        require_unrounded(function, value, array)
    if kind is not _numpy:
        one_device(function, kind, *arrays)
    names = [kind.dtype_name(array) for array in arrays]
    for (argument, value), name in zip(named.items(), names):
        if not (name in SCALARS or (integers and (name == "bool" or is_integer(name)))):
            raise TypeError(f"{function}: {argument} has elements of type {name}; expected float32, float64, complex64 or "
                            f"complex128, as {kind.converted(argument, value)} has")
    return kind, arrays, names, np.result_type(*(name if name in SCALARS else "float64" for name in names)).name


def _cast(kind, array, name):
    return kind.usable(array if kind.dtype_name(array) == name else kind.as_type(array, name))


def result(function, kind, out, shape, name, like, order="C"):
    """Return `out` if it can hold a result of this shape and type; a new array if it is None."""
    shape = tuple(shape)
    if out is None:
        return kind.empty(shape, name, like, order)
    if kind is _numpy and type(out) is np.ndarray and out.shape == shape and _NAMES.get(out.dtype) == name:
        flags = out.flags
        if flags.forc and flags.writeable and flags.aligned:
            return out
    kind.writable(function, out)
    if _overlaps_itself(out.shape, kind.layout(out)[1]):
        raise ValueError(f"{function}: elements of out share storage; expected storage of its own for each")
    if kind is not _numpy and like is not None:
        one_device(function, kind, out, like)
    if tuple(out.shape) != shape or kind.dtype_name(out) != name:
        raise ValueError(f"{function}: out has shape {tuple(out.shape)} and elements of type {kind.dtype_name(out)}; "
                         f"expected {shape} and {name}")
    return out


def _overlaps_itself(shape, strides):
    """Return whether elements may share storage: a stride is within the reach of the shorter strides."""
    reach = 0
    for stride, extent in sorted((abs(stride), extent) for stride, extent in zip(strides, shape) if extent > 1):
        if stride <= reach:
            return 0 not in tuple(shape)
        reach += stride * (extent - 1)
    return False


class _Addresses:
    """Array interface for numpy.shares_memory(), which never reads the elements."""

    def __init__(self, shape, address, strides, size):
        self.__array_interface__ = {"shape": tuple(shape), "strides": tuple(strides), "data": (address, True),
                                    "typestr": f"|V{size}", "version": 3}


def require_apart(function, kind, out, in_place=False, **operands):
    """Refuse `out` of a stack if it shares storage with an operand: the matrices of a stack are computed one by one,
    and the result of one must not overwrite the input of another. With `in_place` a result may overwrite its
    own matrix."""
    address, strides, size = kind.layout(out)
    where = np.asarray(_Addresses(out.shape, address, strides, size))
    for name, operand in operands.items():
        start, steps, bytes_ = kind.layout(operand)
        same = (start == address and tuple(operand.shape) == tuple(out.shape) and steps[:-2] == strides[:-2]
                and sorted(steps[-2:]) == sorted(strides[-2:]))
        if in_place and same:
            continue
        if np.shares_memory(where, np.asarray(_Addresses(operand.shape, start, steps, bytes_))):
            raise ValueError(f"{function}: out shares storage with {name}; expected storage of its own")


def square(function, array, name="a"):
    """Refuse arrays that are not a square matrix or a stack of them."""
    shape = tuple(array.shape)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"{function}: {name} has shape {shape}; expected a square matrix")


def stack_of(function, a, b):
    """Return the extents of the stack to which a and b, matrices or stacks of them or vectors, broadcast."""
    try:
        return np.broadcast_shapes(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    except ValueError:
        raise ValueError(f"{function}: a has shape {tuple(a.shape)} and b {tuple(b.shape)}; expected stacks that broadcast") \
            from None


def matrix(function, array, name="a"):
    """Refuse arrays that are not a matrix."""
    if len(array.shape) != 2:
        raise ValueError(f"{function}: {name} has shape {tuple(array.shape)}; expected a matrix")
