# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors of matrices, and what is computed from them: library steps. Signs of vectors are LAPACK's own."""

from __future__ import annotations

from typing import Optional, Sequence

from ..ir import dtypes
from ..ir import views as base
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Tensor, is_number
from . import pointwise, reductions
from .creation import tril, triu
from .products import matmul
from .solving import inv, slogdet, solve, square
from .steps import call
from .table import dim_of, named, operator
from .views import known

GROUP = "Library steps"


def _matrix(x: Tensor, what: str):
    """Sizes before, rows and columns of matrices of float32 or float64."""
    if x.rank < 2:
        raise Problem(f"{what}: expects matrices, found {x.describe()}", "shape")
    if not x.dtype.is_float or x.dtype.bits == 16:
        raise Problem(f"{what}: expects float32 or float64, found {x.dtype}", "dtype")
    return list(x.sizes[:-2]), known(x.sizes[-2], what), known(x.sizes[-1], what)


def mirrored(b: Builder, x: Tensor) -> Tensor:
    return base.permute(b, x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


def _svd(b: Builder, A: Tensor, full: bool) -> Sequence[Tensor]:
    lead, rows, columns = _matrix(A, "svd")
    count = min(rows, columns)
    sizes = ([*lead, rows, rows if full else count], [*lead, count], [*lead, columns if full else count, columns])
    return call(b, "svd", [A], [(A.dtype, own) for own in sizes], full=full)


@operator("torch.linalg.svd", GROUP, note="signs of vectors are LAPACK's")
def svd(b: Builder, A, full_matrices=True, *, driver=None):
    return named(_svd(b, A, bool(full_matrices)), "U", "S", "Vh")


@operator("svd", GROUP, note="signs of vectors are LAPACK's; with compute_uv")
def svd_of(b: Builder, input, some=True, compute_uv=True):
    if not compute_uv:
        raise Problem("svd: compute_uv must be True: torch.linalg.svdvals gives the values alone")
    u, s, v = _svd(b, input, not some)
    return named((u, s, b.copy(mirrored(b, v))), "U", "S", "V")


@operator("torch.linalg.svdvals", GROUP, also=("aten.linalg_svdvals.default",))
def svdvals(b: Builder, A, *, driver=None):
    lead, rows, columns = _matrix(A, "svdvals")
    return call(b, "svdvals", [A], [(A.dtype, [*lead, min(rows, columns)])])[0]


@operator("torch.linalg.qr", GROUP, also=("aten.linalg_qr.default",), note="signs of vectors are LAPACK's")
def qr(b: Builder, A, mode="reduced"):
    lead, rows, columns = _matrix(A, "qr")
    if mode not in ("reduced", "complete", "r"):
        raise Problem(f"qr: mode is 'reduced', 'complete' or 'r', found {mode!r}")
    inner = rows if mode == "complete" else min(rows, columns)
    sizes = [[*lead, rows, inner], [*lead, inner, columns]]
    if mode == "r":
        (upper,) = call(b, "qr", [A], [(A.dtype, sizes[1])], mode=mode)
        return named((b.constant_tensor(0, A.dtype, [0]), upper), "Q", "R")
    return named(call(b, "qr", [A], [(A.dtype, own) for own in sizes], mode=mode), "Q", "R")


@operator("qr", GROUP, note="signs of vectors are LAPACK's")
def qr_of(b: Builder, input, some=True):
    return qr(b, input, "reduced" if some else "complete")


def _is_lower(UPLO) -> bool:
    if UPLO not in ("L", "U"):
        raise Problem(f"UPLO is 'L' or 'U', found {UPLO!r}")
    return UPLO == "L"


@operator("torch.linalg.eigh", GROUP, also=("aten.linalg_eigh.default",), note="signs of vectors are LAPACK's")
def eigh(b: Builder, A, UPLO="L"):
    square(b, A, "eigh")
    return named(call(b, "eigh", [A], [(A.dtype, A.sizes[:-1]), (A.dtype, A.sizes)], lower=_is_lower(UPLO)), "eigenvalues", "eigenvectors")


@operator("torch.linalg.eigvalsh", GROUP)
def eigvalsh(b: Builder, A, UPLO="L"):
    square(b, A, "eigvalsh")
    return call(b, "eigvalsh", [A], [(A.dtype, A.sizes[:-1])], lower=_is_lower(UPLO))[0]


def _tolerances(x: Tensor, atol, rtol, what: str):
    """Below which part of the greatest singular value, or below which value, one counts as 0."""
    _, rows, columns = _matrix(x, what)
    if not all(t is None or is_number(t) for t in (atol, rtol)):
        raise Problem(f"{what}: atol and rtol must be known when the program is compiled")
    share = rtol if rtol is not None else 0.0 if atol else max(rows, columns) * dtypes.finfo(x.dtype)[2]
    return float(atol or 0), float(share)


@operator("torch.linalg.pinv", GROUP)
def pinv(b: Builder, A, *, atol=None, rtol=None, hermitian=False):
    least, share = _tolerances(A, atol, rtol, "pinv")
    if hermitian:
        A = _from_half(b, square(b, A, "pinv"))
    lead, rows, columns = _matrix(A, "pinv")
    return call(b, "pinv", [A], [(A.dtype, [*lead, columns, rows])], least=least, share=share)[0]


def _from_half(b: Builder, A: Tensor) -> Tensor:
    """The matrix whose lower half mirrored is the upper one."""
    return pointwise.add(b, tril(b, A), triu(b, mirrored(b, A), 1))


@operator("pinverse", GROUP)
def pinverse(b: Builder, input, rcond=1e-15):
    return pinv(b, input, rtol=rcond)


@operator("torch.linalg.matrix_rank", GROUP)
def matrix_rank(b: Builder, A, *, atol=None, rtol=None, hermitian=False):
    least, share = _tolerances(A, atol, rtol, "matrix_rank")
    values = svdvals(b, _from_half(b, square(b, A, "matrix_rank")) if hermitian else A)
    if not known(values.sizes[-1], "matrix_rank"):
        return b.constant_tensor(0, dtypes.int64, values.sizes[:-1])
    limit = pointwise.clamp(b, pointwise.mul(b, reductions.amax(b, values, -1, True), share), least)
    return reductions.sum_(b, pointwise.gt(b, values, limit), -1)


@operator("torch.linalg.lstsq", GROUP, note="by default the solution of the least norm, on a GPU as well; without residuals")
def lstsq(b: Builder, A, B, rcond=None, *, driver=None):
    lead, rows, columns = _matrix(A, "lstsq")
    if rcond is not None or driver not in (None, "gelsy"):
        raise Problem("lstsq: rcond must be None and driver None or 'gelsy'")
    is_vector = B.rank == A.rank - 1
    wide = base.unsqueeze(b, B, B.rank) if is_vector else B
    if B.dtype is not A.dtype or wide.rank != A.rank or not base.same(wide.sizes[-2], rows):
        raise Problem(f"lstsq: {A.describe()} and {B.describe()} do not fit", "shape")
    lead = b.broadcast([lead, wide.sizes[:-2]])
    found, rank = call(b, "lstsq", [A, wide], [(A.dtype, [*lead, columns, wide.sizes[-1]]), (dtypes.int64, lead)])
    found = base.squeeze(b, found, found.rank - 1) if is_vector else found
    return named((found, b.constant_tensor(0, A.dtype, [0]), rank, b.constant_tensor(0, A.dtype, [0])), "solution", "residuals", "rank", "singular_values")


@operator("torch.linalg.lu", GROUP)
def lu(b: Builder, A, *, pivot=True):
    lead, rows, columns = _matrix(A, "lu")
    if pivot is not True:
        raise Problem("lu: pivot must be True")
    count = min(rows, columns)
    sizes = ([*lead, rows, rows], [*lead, rows, count], [*lead, count, columns])
    return named(call(b, "lu", [A], [(A.dtype, own) for own in sizes]), "P", "L", "U")


@operator("torch.linalg.lu_factor", GROUP)
def lu_factor(b: Builder, A, *, pivot=True):
    lead, rows, columns = _matrix(A, "lu_factor")
    if pivot is not True:
        raise Problem("lu_factor: pivot must be True")
    return named(call(b, "lu_factor", [A], [(A.dtype, A.sizes), (dtypes.int32, [*lead, min(rows, columns)])]), "LU", "pivots")


@operator("torch.linalg.matrix_exp", GROUP, also=("torch.matrix_exp", "Tensor.matrix_exp"))
def matrix_exp(b: Builder, input):
    return call(b, "matrix_exp", [square(b, input, "matrix_exp")], [(input.dtype, input.sizes)])[0]


@operator("logdet", GROUP)
def logdet(b: Builder, input):
    sign, size = slogdet(b, input)
    return pointwise.where(b, pointwise.lt(b, sign, 0), float("nan"), size)


@operator("cholesky_solve", GROUP)
def cholesky_solve(b: Builder, input, input2, upper=False):
    half = square(b, input2, "cholesky_solve")
    first, second = (mirrored(b, half), half) if upper else (half, mirrored(b, half))
    return solve(b, second, solve(b, first, input))


@operator("cholesky_inverse", GROUP)
def cholesky_inverse(b: Builder, input, upper=False):
    half = square(b, input, "cholesky_inverse")
    other = mirrored(b, half)
    return inv(b, matmul(b, other, half) if upper else matmul(b, half, other))


@operator("triangular_solve", GROUP)
def triangular_solve(b: Builder, input, A, upper=True, transpose=False, unitriangular=False):
    from .solving import solve_triangular

    own = mirrored(b, A) if transpose else A
    found = solve_triangular(b, own, input, upper=upper is not transpose, unitriangular=unitriangular)
    return named((found, b.copy(A)), "solution", "cloned_coefficient")


@operator("torch.linalg.vecdot", GROUP)
def vecdot(b: Builder, x, y, *, dim=-1):
    return reductions.sum_(b, pointwise.mul(b, x, y), dim)


@operator("torch.linalg.tensorinv", GROUP)
def tensorinv(b: Builder, A, ind=2):
    sizes = [known(n, "tensorinv") for n in A.sizes]
    rows, columns = b.product(sizes[:ind]), b.product(sizes[ind:])
    if ind < 1 or rows != columns:
        raise Problem(f"tensorinv: the first {ind} dimensions and the others must have as many elements, found {A.describe()}", "shape")
    return base.reshape(b, inv(b, base.reshape(b, A, [rows, columns])), [*sizes[ind:], *sizes[:ind]])


@operator("torch.linalg.tensorsolve", GROUP, note="without dims")
def tensorsolve(b: Builder, A, other, dims=None):
    if dims is not None:
        raise Problem("tensorsolve: dims must be None: permute A first")
    rest = [known(n, "tensorsolve") for n in A.sizes[other.rank :]]
    count = b.product(rest)
    if count != b.product(other.sizes):
        raise Problem(f"tensorsolve: {A.describe()} and {other.describe()} do not fit", "shape")
    return base.reshape(b, solve(b, base.reshape(b, A, [count, count]), base.reshape(b, other, [count])), rest)


@operator("torch.linalg.cond", GROUP)
def cond(b: Builder, A, p=None):
    if p in (None, 2, -2):
        values = svdvals(b, A)
        most, least = base.select(b, values, values.rank - 1, 0), base.select(b, values, values.rank - 1, -1)
        return pointwise.div(b, least, most) if p == -2 else pointwise.div(b, most, least)
    from .linalg import matrix_norm

    return pointwise.mul(b, matrix_norm(b, A, p), matrix_norm(b, inv(b, A), p))


def by_singular_values(b: Builder, A: Tensor, ord, dims: Sequence[int], keepdim: bool) -> Optional[Tensor]:
    """The norms of matrices that are made of singular values: the greatest, the least, and their sum; None for others."""
    if ord not in (2, -2, "nuc"):
        return None
    first, second = (dim_of(d, A.rank) for d in dims)
    order = [d for d in range(A.rank) if d not in (first, second)]
    values = svdvals(b, base.permute(b, A, [*order, first, second]))
    found = reductions.sum_(b, values, -1) if ord == "nuc" else (reductions.amax if ord == 2 else reductions.amin)(b, values, -1)
    for d in sorted((first, second)) if keepdim else ():
        found = base.unsqueeze(b, found, d)
    return found


@operator("renorm", "Combinations")
def renorm(b: Builder, input, p, dim, maxnorm):
    """Slices along a dimension whose norm is above `maxnorm` are scaled to it."""
    d = dim_of(dim, input.rank)
    own = reductions.norm(b, input, p, [i for i in range(input.rank) if i != d], True)
    # (PyTorch adds 1e-7 to the norm that it divides by.)
    scale = pointwise.div(b, maxnorm, pointwise.add(b, own, 1e-7))
    return pointwise.mul(b, input, pointwise.where(b, pointwise.gt(b, own, maxnorm), scale, 1.0))
