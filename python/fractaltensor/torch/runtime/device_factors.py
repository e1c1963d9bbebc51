# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library steps that factor matrices and transform sequences, by PyTorch's operators, for tensors on a device. What each means is said in
``factor_steps`` and ``sequence_steps``."""

from __future__ import annotations

import sys
from typing import Callable, Dict

from ..problems import RunError

#: The steps of this file by name.
TABLE: Dict[str, Callable] = {}


def _torch():
    return sys.modules["torch"]


def _step(function: Callable) -> Callable:
    def step_(*operands, **parameters):
        torch = _torch()
        try:
            found = function(torch, *operands, **parameters)
        except torch.linalg.LinAlgError as error:
            raise RunError(f"linalg.{function.__name__}: {error}") from None
        return [x.contiguous() if isinstance(x, torch.Tensor) else x for x in found]

    step_.__name__ = function.__name__
    TABLE[function.__name__] = step_
    return step_


@_step
def svd(torch, a, full: bool):
    return torch.linalg.svd(a, full)


@_step
def svdvals(torch, a):
    return [torch.linalg.svdvals(a)]


@_step
def qr(torch, a, mode: str):
    return torch.linalg.qr(a, mode)[1 if mode == "r" else 0 :]


@_step
def eigh(torch, a, lower: bool):
    return torch.linalg.eigh(a, "L" if lower else "U")


@_step
def eigvalsh(torch, a, lower: bool):
    return [torch.linalg.eigvalsh(a, "L" if lower else "U")]


@_step
def eig(torch, a):
    return [part for x in torch.linalg.eig(a) for part in (x.real, x.imag)]


@_step
def eigvals(torch, a):
    found = torch.linalg.eigvals(a)
    return [found.real, found.imag]


@_step
def pinv(torch, a, least: float, share: float):
    return [torch.linalg.pinv(a, atol=least, rtol=share)]


@_step
def lstsq(torch, a, right):
    share = torch.finfo(a.dtype).eps * max(a.shape[-2:])
    rank = torch.linalg.matrix_rank(a, rtol=share)
    found = torch.linalg.pinv(a, rtol=share) @ right
    return [found, rank.expand(found.shape[:-2])]


@_step
def lu_factor(torch, a):
    return torch.linalg.lu_factor(a)


@_step
def lu(torch, a):
    return torch.linalg.lu(a)


@_step
def matrix_exp(torch, a):
    return [torch.linalg.matrix_exp(a)]


@_step
def ctc_loss(torch, logs, targets, input_lengths, target_lengths, blank: int):
    return [torch.nn.functional.ctc_loss(logs, targets, input_lengths, target_lengths, blank, "none")]


@_step
def fourier(torch, real, imaginary=None, *, kind: str, sizes, dims, norm: str):
    x = real if imaginary is None else torch.complex(real, imaginary)
    if kind in ("hfft", "ihfft"):
        found = getattr(torch.fft, kind)(x, sizes[0], dims[0], norm)
    else:
        found = getattr(torch.fft, kind)(x, sizes, dims, norm)
    return [found.real, found.imag] if found.is_complex() else [found]


@_step
def unique_rows(torch, x, dim: int, is_sorted: bool):
    function = torch.unique if is_sorted else torch.unique_consecutive
    values, inverse, counts = function(x, return_inverse=True, return_counts=True, dim=dim)
    return [values, inverse, counts, values.shape[dim]]


@_step
def mode(torch, x, dim: int):
    return torch.mode(x, dim)


@_step
def histogram(torch, x, bins: int):
    return [torch.histc(x, bins)]


@_step
def searchsorted_rows(torch, sequence, values, right: bool):
    return [torch.searchsorted(sequence, values.contiguous(), right=right)]
