"""The exponential as a function of JAX that can be compiled, mapped and differentiated once. Importing it needs jax."""

import functools

import jax
import numpy as np

from . import _expm
from ._frechet import expm_adjoint


def _call(function, a, *more):
    like = jax.ShapeDtypeStruct(a.shape, a.dtype)
    return jax.pure_callback(lambda *given: function(*map(np.asarray, given)), like, a, *more,
                             vmap_method="broadcast_all")


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def expm(a, options):
    return _call(lambda x: _expm.expm(x, **dict(options)), a)


def _forward(a, options):
    return expm(a, options), a


def _backward(options, a, g):
    # JAX asks for the transpose of the derivative, not the adjoint: conjugate the cotangent and the result.
    gradient = _call(lambda x, y: expm_adjoint(x, y.conj(), dict(options), np.empty_like), a, g)
    return (gradient.conj(),)


expm.defvjp(_forward, _backward)
