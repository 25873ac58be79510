"""Arrays of NumPy, CuPy, PyTorch and JAX behind one interface: a class for each library."""

from __future__ import annotations

import importlib

import numpy as np

from ._options import refusal


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
