# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of `torch.linalg` and `torch.special` that are others than those of their names in `torch`."""

from __future__ import annotations

import math

from ..ir import views as base
from ..ir.builder import Builder
from ..problems import Problem
from . import composed, factors, pointwise, reductions, views
from .creation import counted
from ..ir import dtypes
from .table import dim_of, dtype_of, operator

GROUP = "Linear algebra"


@operator("torch.linalg.diagonal", GROUP, also=("aten.linalg_diagonal.default",))
def diagonal(b: Builder, A, *, offset=0, dim1=-2, dim2=-1):
    return views.diagonal(b, A, offset, dim1, dim2)


@operator("torch.linalg.vander", GROUP, also=("aten.linalg_vander.default",), note="powers that rise")
def vander(b: Builder, x, *, N=None):
    if not x.dtype.is_float:
        x = pointwise.to_dtype(b, x, dtypes.int64)
    powers = counted(b, x.sizes[-1] if N is None else N, dtypes.int64)
    return pointwise.to_dtype(b, pointwise.pow_(b, base.unsqueeze(b, x, x.rank), powers), x.dtype)


def _of_matrix(b: Builder, x, order, dims, keepdim: bool, dtype, what: str):
    """A norm of matrices in two dimensions: Frobenius', or the largest or least sum of magnitudes of a row or column."""
    if order in ("fro", None):
        return reductions.norm(b, x, 2, dims, keepdim, dtype)
    by_values = factors.by_singular_values(b, x if dtype is None else pointwise.to_dtype(b, x, dtype_of(dtype, x.dtype)), order, dims, keepdim)
    if by_values is not None:
        return by_values
    if order not in (1, -1, math.inf, -math.inf):
        raise Problem(f"{what}: ord is 'fro', 'nuc', 2, -2, 1, -1, inf or -inf for matrices, found {order!r}")
    rows, columns = (dim_of(d, x.rank) for d in dims)
    along, over = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = reductions.norm(b, x, 1, along, True, dtype)
    found = reductions.extreme(b, sums, [over], True, order > 0, what)
    for d in sorted((rows, columns), reverse=True) if not keepdim else ():
        found = base.squeeze(b, found, d)
    return found


@operator("torch.linalg.matrix_norm", GROUP, also=("aten.linalg_matrix_norm.default", "aten.linalg_matrix_norm.str_ord"))
def matrix_norm(b: Builder, A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    if A.rank < 2:
        raise Problem(f"matrix_norm: expects at least 2 dimensions, found {A.describe()}", "shape")
    return _of_matrix(b, A, ord, tuple(dim), keepdim, dtype, "matrix_norm")


@operator("torch.linalg.norm", GROUP, also=("aten.linalg_norm.default", "aten.linalg_norm.ord_str"))
def norm(b: Builder, A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """Without `ord` of all elements; with it of a vector, or of a matrix where two dimensions are meant."""
    two = isinstance(dim, (tuple, list)) and len(dim) == 2
    if ord is None or not (two or dim is None and A.rank == 2):
        if isinstance(ord, str):
            raise Problem(f"norm: ord {ord!r} is of matrices: name two dimensions")
        if ord is not None and dim is None and A.rank != 1:
            raise Problem(f"norm: ord with dim=None is of vectors and matrices, found {A.describe()}", "shape")
        return reductions.norm(b, A, 2 if ord is None else ord, dim, keepdim, dtype)
    return _of_matrix(b, A, ord, tuple(dim) if two else (0, 1), keepdim, dtype, "norm")


@operator("torch.linalg.cross", GROUP)
def cross(b: Builder, input, other, *, dim=-1):
    if input.rank != other.rank:
        raise Problem(f"cross: {input.describe()} and {other.describe()} must have as many dimensions", "shape")
    return composed.cross(b, input, other, dim)


@operator("torch.special.softmax", GROUP)
def softmax(b: Builder, input, dim, *, dtype=None):
    return reductions.softmax(b, input, dim, dtype)


@operator("torch.special.log_softmax", GROUP)
def log_softmax(b: Builder, input, dim, *, dtype=None):
    return reductions.log_softmax(b, input, dim, dtype)


