"""The exponential as an operator of PyTorch, for autograd and torch.compile. Importing it needs torch."""

import torch

from . import _expm, _frechet

# Custom operators do not break a compiled graph.


@torch.library.custom_op("heddle::expm", mutates_args=())
def expm(a: torch.Tensor, method: str, degree: int, tolerance: float, structure: str, balance: bool, arithmetic: str,
         tile: int, moduli: int) -> torch.Tensor:
    return _expm.expm(a.detach(), method=method, degree=degree, tolerance=tolerance, structure=structure, balance=balance,
                      arithmetic=arithmetic, tile=tile, moduli=moduli)


@torch.library.custom_op("heddle::expm_adjoint", mutates_args=())
def expm_adjoint(a: torch.Tensor, g: torch.Tensor, tolerance: float, arithmetic: str, tile: int,
                 moduli: int) -> torch.Tensor:
    return _frechet.expm_adjoint(a.detach(), g.detach(),
                                 {"tolerance": tolerance, "arithmetic": arithmetic, "tile": tile, "moduli": moduli},
                                 lambda x: x.new_empty(x.shape))


@expm.register_fake
def _(a, *options):
    return a.new_empty(a.shape)


@expm_adjoint.register_fake
def _(a, g, *options):
    return a.new_empty(a.shape)


def _keep(ctx, inputs, output):
    a, _, _, tolerance, _, _, arithmetic, tile, moduli = inputs
    ctx.shared = tolerance, arithmetic, tile, moduli
    ctx.save_for_backward(a)


def _backward(ctx, g):
    (a,) = ctx.saved_tensors
    return expm_adjoint(a, g, *ctx.shared), *[None] * 8


expm.register_autograd(_backward, setup_context=_keep)
