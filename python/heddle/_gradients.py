"""Exponentials in the graphs of PyTorch and JAX: when they are wanted there, and what is computed for them."""

import sys

import numpy as np

# Of expm()'s options those that expm_frechet() has too.
_SHARED = ("tolerance", "arithmetic", "tile", "moduli")


def wants_gradient(a):
    """Whether `a` is of a library that has to know what was done to it."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(a, torch.Tensor):
        return torch.compiler.is_compiling() or (a.requires_grad and torch.is_grad_enabled())
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(a, jax.core.Tracer)


def expm_with_gradient(a, **options):
    """expm(a, **options), which the library of `a` can differentiate once, and compile."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(a, torch.Tensor):
        from ._torch import expm

        return expm(a, *options.values())
    from ._jax import expm

    return expm(a, tuple(options.items()))


def exponential(a, options):
    """expm() of arrays that have elements."""
    from ._expm import expm

    return expm(a, **options)


def adjoint(a, g, options, empty):
    """The gradient at each matrix of a stack, from that at its exponential."""
    from ._frechet import expm_frechet

    shared = {name: options[name] for name in _SHARED}
    if len(a.shape) == 2:
        return expm_frechet(a, g, compute_expm=False, adjoint=True, **shared)
    out = empty(a)
    for i in np.ndindex(*a.shape[:-2]):
        out[i] = expm_frechet(a[i], g[i], compute_expm=False, adjoint=True, **shared)
    return out
