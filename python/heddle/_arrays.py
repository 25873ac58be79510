"""Conversion of NumPy, CuPy, PyTorch and JAX arrays to and from those of the C++ module."""

from __future__ import annotations

import importlib

import numpy as np

from . import _core
from ._integers import as_float64, is_integer, require_unrounded, split
from ._options import refusal

SCALARS = ("float32", "float64", "complex64", "complex128")
_NAMES = {np.dtype(name): name for name in SCALARS}
_REAL = {"complex64": "float32", "complex128": "float64"}


def real_name(name):
    """Return the type of the real and imaginary parts of an element type."""
    return _REAL.get(name, name)


def _holds_masks(value):
    """Return whether a value is a masked array, or a list that holds one: the mask would be lost."""
    if isinstance(value, (list, tuple)):
        return any(_holds_masks(one) for one in value)
    return isinstance(value, np.ma.MaskedArray)


class NumPy:
    """Operations on the arrays of one library; this class is for NumPy, and takes lists and numbers, too."""

    name = "numpy"

    def __init__(self):
        self.xp = np

    def array(self, function, name, value):
        """Return the argument of this name as an array; refuse what is none."""
        if type(value) is np.ndarray:
            return value
        if _holds_masks(value):
            raise ValueError(f"{function}: {name} is masked; pass {name}.filled(value) or {name}.compressed()")
        # NumPy reads the arrays of other libraries through DLPack if they are in host memory.
        by_dlpack = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
        try:
            array = np.from_dlpack(value) if by_dlpack else np.asarray(value)
        except (TypeError, ValueError, BufferError) as error:
            why = "has rows of different lengths" if "inhomogeneous" in str(error) else "can't be read as an array"
            raise TypeError(f"{function}: {name} {why}; expected an array of numbers") from None
        if array.ndim == 0 and array.dtype.kind not in "biufc":
            raise refusal(function, name, value, "an array of numbers")
        return array

    def converted(self, name, value):
        """Return the expression for an argument in double precision."""
        return f"{name}.astype(numpy.float64)" if hasattr(value, "astype") else f"numpy.array({name}, numpy.float64)"

    def dtype_name(self, array):
        return array.dtype.name

    def device(self, array):
        """Return the device of an array; arrays of one call must have the same one."""
        return "cpu"

    def to_host(self, array):
        """Return an array as a NumPy array."""
        return np.asarray(array)

    def as_type(self, array, name):
        return array.astype(name)

    def usable(self, array):
        """Return `array`, or a copy if its strides are negative or not whole elements, or its bytes are swapped."""
        size = array.itemsize
        regular = array.flags.forc or all(s >= 0 and s % size == 0 for s in array.strides)
        if regular and array.flags.aligned and array.dtype.isnative:
            return array
        return np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=True)

    def writable(self, function, array):
        if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
            raise TypeError(f"{function}: out is of type {type(array).__name__}; expected an array of NumPy")
        if not array.flags.writeable:
            raise ValueError(f"{function}: out can't be written")
        if self.usable(array) is not array:
            raise ValueError(f"{function}: out has strides {array.strides}; expected none that is negative, "
                             f"and whole elements in this machine's order of bytes")

    def empty(self, shape, name, like=None, order="C"):
        try:
            return np.empty(shape, name, order)
        except ValueError:  # more bytes than an address can count
            raise MemoryError(f"an array of shape {tuple(shape)} and type {name}") from None

    def broadcast(self, array, shape):
        return np.broadcast_to(array, shape)

    def swapped(self, array):
        """Exchange the last two axes of an array without a copy."""
        return array.swapaxes(-1, -2)

    def layout(self, array):
        """Return the address of an array, its strides in bytes and its element size in bytes."""
        return array.__array_interface__["data"][0], array.strides, array.itemsize

    def columns(self, array):
        """Return a matrix as a writable column-major one, without a copy if it is one."""
        return np.require(array, requirements=["F", "W", "A"])

    def flat(self, array):
        """Return all elements as a vector in any order, without a copy if they are contiguous."""
        return array.ravel(order="K")

    def scalar(self, value, name, like):
        return np.dtype(name).type(value)

    def taken(self, exported, like):
        """Return an array made by the C++ module as an array of this library."""
        array = np.asarray(exported)
        return array.view(array.dtype.str)  # int64 where C++ says long long

    def finish(self, array):
        """Return to the caller an array made by empty()."""
        return array


class CuPy(NumPy):
    name = "cupy"

    def __init__(self):
        self.xp = importlib.import_module("cupy")

    def array(self, function, name, value):
        if not isinstance(value, self.xp.ndarray):
            raise refusal(function, name, value, "an array of CuPy")
        return value

    def device(self, array):
        return f"cuda:{array.device.id}" if isinstance(array, self.xp.ndarray) else "cpu"

    def to_host(self, array):
        return self.xp.asnumpy(array)

    def usable(self, array):
        good = all(s >= 0 and s % array.itemsize == 0 for s in array.strides)
        return array if good else self.xp.ascontiguousarray(array)

    def writable(self, function, array):
        if not isinstance(array, self.xp.ndarray):
            raise TypeError(f"{function}: out is of type {type(array).__name__}; expected an array of CuPy")
        if self.usable(array) is not array:
            raise ValueError(f"{function}: out has strides {array.strides}; expected none that is negative")

    def empty(self, shape, name, like=None, order="C"):
        return self.xp.empty(shape, name, order)

    def broadcast(self, array, shape):
        return self.xp.broadcast_to(array, shape)

    def layout(self, array):
        return array.data.ptr, array.strides, array.itemsize

    def columns(self, array):
        return self.xp.asfortranarray(array)

    def scalar(self, value, name, like):
        return self.xp.asarray(value, dtype=name)

    def taken(self, exported, like):
        return self.xp.from_dlpack(exported)


class Torch(NumPy):
    name = "torch"

    def __init__(self):
        self.xp = importlib.import_module("torch")

    def array(self, function, name, value):
        if not isinstance(value, self.xp.Tensor):
            raise refusal(function, name, value, "a tensor of PyTorch")
        if value.requires_grad:
            raise TypeError(f"{function}: {name} requires a gradient, which is not computed; pass {name}.detach()")
        return value.resolve_conj().resolve_neg()

    def converted(self, name, value):
        return f"{name}.to(torch.float64)"

    def device(self, array):
        return str(array.device)

    def to_host(self, array):
        return array.cpu().numpy()

    def dtype_name(self, array):
        return str(array.dtype).removeprefix("torch.")

    def as_type(self, array, name):
        return array.to(getattr(self.xp, name))

    def usable(self, array):
        return array

    def writable(self, function, array):
        if not isinstance(array, self.xp.Tensor):
            raise TypeError(f"{function}: out is of type {type(array).__name__}; expected a tensor of PyTorch")
        if array.requires_grad or array.is_conj() or array.is_neg():
            raise ValueError(f"{function}: out must not require a gradient, nor be a conjugated or negated view")

    def empty(self, shape, name, like=None, order="C"):
        device = None if like is None else like.device
        if order == "F" and len(shape) > 1:
            swapped = (*shape[:-2], shape[-1], shape[-2])
            return self.xp.empty(swapped, dtype=getattr(self.xp, name), device=device).mT
        return self.xp.empty(shape, dtype=getattr(self.xp, name), device=device)

    def broadcast(self, array, shape):
        return array.expand(shape)

    def layout(self, array):
        size = array.element_size()
        return array.data_ptr(), tuple(size * stride for stride in array.stride()), size

    def columns(self, array):
        return array.mT.contiguous().mT

    def flat(self, array):
        return array.reshape(-1)

    def scalar(self, value, name, like):
        return self.xp.tensor(value, dtype=getattr(self.xp, name), device=like.device)

    def taken(self, exported, like):
        return self.xp.from_dlpack(exported)


class Jax(NumPy):
    """JAX arrays are read-only: results are computed in other arrays, which become JAX arrays without a copy."""

    name = "jax"

    def __init__(self):
        self.xp = importlib.import_module("jax.numpy")
        self._tracer = importlib.import_module("jax").core.Tracer

    def array(self, function, name, value):
        if isinstance(value, self._tracer):
            raise TypeError(f"{function}: {name} has no elements; expected an array of JAX outside of jit and grad")
        if not isinstance(value, self.xp.ndarray):
            raise refusal(function, name, value, "an array of JAX")
        return value

    def device(self, array):
        if isinstance(array, np.ndarray):
            return "cpu"
        devices = [str(device) for device in array.devices()]
        if len(devices) > 1:
            raise TypeError(f"an array of JAX over {', '.join(sorted(devices))}; expected one on one device")
        return devices[0]

    def usable(self, array):
        return array

    def writable(self, function, array):
        raise TypeError(f"{function}: arrays of JAX can't be written, so there is no out")

    def empty(self, shape, name, like=None, order="C"):
        if like is None or next(iter(like.devices())).platform == "cpu":
            return np.empty(shape, name, order)
        if order == "F" and len(shape) > 1:
            swapped = (*shape[:-2], shape[-1], shape[-2])
            return importlib.import_module("cupy").empty(swapped, name).swapaxes(-1, -2)
        return importlib.import_module("cupy").empty(shape, name)

    def broadcast(self, array, shape):
        return self.xp.broadcast_to(array, shape)

    def columns(self, array):
        return np.array(array, order="F")

    def flat(self, array):
        return array.reshape(-1)

    def scalar(self, value, name, like):
        return self.xp.asarray(value, dtype=name)

    def taken(self, exported, like):
        return self.xp.from_dlpack(exported)

    def finish(self, array):
        return self.xp.asarray(array) if isinstance(array, np.ndarray) else self.xp.from_dlpack(array)


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
