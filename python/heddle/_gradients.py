"""Exponentials in the graphs of PyTorch and JAX."""

import functools
import inspect
import sys

from . import _expm
from ._options import checked

# Options of the PyTorch operator and of the JAX function, with their defaults.
_OPTIONS = {name: parameter.default for name, parameter in inspect.signature(_expm.expm).parameters.items()
            if name in ("method", "degree", "tolerance", "structure", "balance", "arithmetic", "tile", "moduli")}


def _wants_gradient(a):
    """Return whether the library of `a` records operations on it, for gradients or compilation."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(a, torch.Tensor):
        return torch.compiler.is_compiling() or (a.requires_grad and torch.is_grad_enabled())
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(a, jax.core.Tracer)


@checked()
@functools.wraps(_expm.expm)
def expm(a, **options):
    if options.get("out") is not None or options.get("full_output") or not _wants_gradient(a):
        return _expm.expm(a, **options)
    inspect.signature(_expm.expm).bind(a, **options)  # rejects unknown names
    taken = {name: options.get(name, default) for name, default in _OPTIONS.items()}
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(a, torch.Tensor):
        from ._torch import expm as of_tensor

        return of_tensor(a, *taken.values())
    from ._jax import expm as of_tracer

    return of_tracer(a, tuple(taken.items()))
