# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library steps on the processor that factor matrices: by LAPACK where NumPy has it."""

from __future__ import annotations

import numpy as np

from .library import of_matrices


def _mirrored(x):
    return np.swapaxes(x, -1, -2)


def _as(kind, *found):
    return [np.ascontiguousarray(x, kind) for x in found]


@of_matrices
def svd(a, full: bool):
    return _as(a.dtype, *np.linalg.svd(a, full))


@of_matrices
def svdvals(a):
    return _as(a.dtype, np.linalg.svd(a, compute_uv=False))


@of_matrices
def qr(a, mode: str):
    found = np.linalg.qr(a, mode)
    return _as(a.dtype, *(found if mode != "r" else (found,)))


@of_matrices
def eigh(a, lower: bool):
    return _as(a.dtype, *np.linalg.eigh(a, "L" if lower else "U"))


@of_matrices
def eigvalsh(a, lower: bool):
    return _as(a.dtype, np.linalg.eigvalsh(a, "L" if lower else "U"))


@of_matrices
def eig(a):
    """Values and vectors, each as real and imaginary parts."""
    values, vectors = np.linalg.eig(a)
    return _as(a.dtype, values.real, values.imag, vectors.real, vectors.imag)


@of_matrices
def eigvals(a):
    values = np.linalg.eigvals(a)
    return _as(a.dtype, values.real, values.imag)


@of_matrices
def pinv(a, least: float, share: float):
    """Singular values up to `least`, or up to `share` of the greatest, count as 0."""
    u, s, v = np.linalg.svd(a, full_matrices=False)
    limit = np.maximum(least, share * s.max(-1, keepdims=True, initial=0))
    inverse = np.divide(1, s, out=np.zeros_like(s), where=s > limit)
    return _as(a.dtype, (_mirrored(v) * inverse[..., None, :]) @ _mirrored(u))


@of_matrices
def lstsq(a, right):
    """The least solution in the least squares, and the rank."""
    lead = np.broadcast_shapes(a.shape[:-2], right.shape[:-2])
    a, right = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, right))
    u, s, v = np.linalg.svd(a, full_matrices=False)
    kept = s > np.finfo(a.dtype).eps * max(a.shape[-2:]) * s.max(-1, keepdims=True, initial=0)
    inverse = np.divide(1, s, out=np.zeros_like(s), where=kept)
    return [*_as(a.dtype, _mirrored(v) @ (inverse[..., :, None] * (_mirrored(u) @ right))), kept.sum(-1).astype(np.int64)]


@of_matrices
def lu_factor(a):
    """L (its diagonal of ones left out) and U in one matrix, and the row that each row was exchanged with, from 1 on."""
    rows, columns = a.shape[-2:]
    made = np.array(a).reshape(-1, rows, columns)
    count = min(rows, columns)
    exchanged = np.zeros((len(made), count), np.int32)
    every = np.arange(len(made))
    for k in range(count):
        at = k + np.abs(made[:, k:, k]).argmax(1)
        exchanged[:, k] = at + 1
        own = made[every, at].copy()
        made[every, at] = made[:, k]
        made[:, k] = own
        pivot = made[:, k, k, None]
        made[:, k + 1 :, k] = np.divide(made[:, k + 1 :, k], pivot, out=made[:, k + 1 :, k].copy(), where=pivot != 0)
        made[:, k + 1 :, k + 1 :] -= made[:, k + 1 :, k, None] * made[:, k, None, k + 1 :]
    return [made.reshape(a.shape), exchanged.reshape(*a.shape[:-2], count)]


@of_matrices
def lu(a):
    """The permutation, L and U, each as a matrix."""
    rows, columns = a.shape[-2:]
    made, exchanged = lu_factor(a)
    order = np.tile(np.arange(rows), (made[..., 0, 0].size, 1))
    for own, swaps in zip(order, exchanged.reshape(len(order), -1)):
        for k, at in enumerate(swaps):
            own[[k, at - 1]] = own[[at - 1, k]]
    permutation = np.zeros((len(order), rows, rows), a.dtype)
    permutation[np.arange(len(order))[:, None], order, np.arange(rows)] = 1
    count = min(rows, columns)
    lower = np.tril(made[..., :, :count], -1) + np.eye(rows, count, dtype=a.dtype)
    return _as(a.dtype, permutation.reshape(*a.shape[:-2], rows, rows), lower, np.triu(made[..., :count, :]))


#: Terms of the series of exp on matrices of norm 1/2 at most: the next one is below the last digit of float64.
_TERMS = 16


@of_matrices
def matrix_exp(a):
    """By scaling and squaring: exp(a) = exp(a / 2^k)^(2^k), so that the series has few terms."""
    x = a.astype(np.float64)
    norm = np.abs(x).sum(-2).max(-1, initial=0)
    halvings = np.where(norm > 0.5, np.ceil(np.log2(np.maximum(norm, 0.5) / 0.5)), 0).astype(np.int64)
    x = x / np.exp2(halvings)[..., None, None]
    made = np.broadcast_to(np.eye(a.shape[-1]), x.shape).copy()
    for k in range(_TERMS, 0, -1):
        made = np.eye(a.shape[-1]) + x @ made / k
    for k in range(int(halvings.max(initial=0))):
        made = np.where((k < halvings)[..., None, None], made @ made, made)
    return _as(a.dtype, made)
