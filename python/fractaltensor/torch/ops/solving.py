# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Equations and factors of matrices: library steps, as no kernel here has them."""

from __future__ import annotations

from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Tensor
from ..ir import views as base
from ..ir.views import same
from . import pointwise
from .steps import call
from .table import named, operator

GROUP = "Library steps"


def square(b: Builder, x: Tensor, what: str) -> Tensor:
    """That `x` is square matrices of float32 or float64."""
    if x.rank < 2 or not same(x.sizes[-1], x.sizes[-2]):
        raise Problem(f"{what}: expects square matrices, found {x.describe()}", "shape")
    if not x.dtype.is_float or x.dtype.bits == 16:
        raise Problem(f"{what}: expects float32 or float64, found {x.dtype}", "dtype")
    return x


@operator("torch.linalg.solve", GROUP, also=("aten.linalg_solve.default",))
def solve(b: Builder, A, B, *, left=True):
    square(b, A, "solve")
    if B.dtype is not A.dtype:
        raise Problem(f"solve: a matrix of {A.dtype} and a right side of {B.dtype}: cast one of them", "dtype")
    is_vector = B.rank == 1 or B.rank == A.rank - 1 and all(same(n, m) for n, m in zip(B.sizes, A.sizes[:-1]))
    if not left:
        if is_vector:
            raise Problem("solve: left=False takes matrices", "shape")
        turned = [base.permute(b, x, [*range(x.rank - 2), x.rank - 1, x.rank - 2]) for x in (A, B)]
        found = solve(b, *turned)
        return b.copy(base.permute(b, found, [*range(found.rank - 2), found.rank - 1, found.rank - 2]))
    wide = base.unsqueeze(b, B, B.rank) if is_vector else B
    if not same(wide.sizes[-2], A.sizes[-1]):
        raise Problem(f"solve: {A.describe()} and {B.describe()} do not fit", "shape")
    sizes = [*b.broadcast([A.sizes[:-2], wide.sizes[:-2]]), *wide.sizes[-2:]]
    (found,) = call(b, "solve", [A, wide], [(A.dtype, sizes)])
    return base.squeeze(b, found, found.rank - 1) if is_vector else found


@operator("torch.linalg.solve_triangular", GROUP, also=("aten.linalg_solve_triangular.default",))
def solve_triangular(b: Builder, A, B, *, upper, left=True, unitriangular=False):
    from .creation import tril, triu

    square(b, A, "solve_triangular")
    own = (triu if upper else tril)(b, A)
    if unitriangular:
        from .creation import eye

        ones = eye(b, A.sizes[-1], dtype=A.dtype)
        own = pointwise.add(b, (triu if upper else tril)(b, own, 1 if upper else -1), ones)
    return solve(b, own, B, left=left)


@operator("torch.linalg.inv", GROUP, also=("torch.inverse", "Tensor.inverse", "aten.linalg_inv.default", "aten.inverse.default"))
def inv(b: Builder, A):
    return call(b, "inv", [square(b, A, "inv")], [(A.dtype, A.sizes)])[0]


@operator("torch.linalg.det", GROUP, also=("torch.det", "Tensor.det", "aten.linalg_det.default", "aten.det.default"))
def det(b: Builder, A):
    return call(b, "det", [square(b, A, "det")], [(A.dtype, A.sizes[:-2])])[0]


@operator("torch.linalg.slogdet", GROUP, also=("torch.slogdet", "Tensor.slogdet", "aten.linalg_slogdet.default"))
def slogdet(b: Builder, A):
    return named(call(b, "slogdet", [square(b, A, "slogdet")], [(A.dtype, A.sizes[:-2])] * 2), "sign", "logabsdet")


@operator("torch.linalg.cholesky", GROUP, also=("aten.linalg_cholesky.default",))
def cholesky(b: Builder, A, *, upper=False):
    (found,) = call(b, "cholesky", [square(b, A, "cholesky")], [(A.dtype, A.sizes)])
    return b.copy(base.permute(b, found, [*range(A.rank - 2), A.rank - 1, A.rank - 2])) if upper else found


@operator("cholesky", GROUP)
def cholesky_of(b: Builder, input, upper=False):
    return cholesky(b, input, upper=upper)
