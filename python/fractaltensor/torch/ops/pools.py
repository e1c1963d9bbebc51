# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling by powers and with places, its inverse, and grids of places for images."""

from __future__ import annotations

from ..ir import dtypes
from ..ir import views as base
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Tensor, is_number
from . import pointwise
from .creation import counted
from .moving import put, stack
from .products import matmul
from .table import OPERATORS, operator
from .views import known
from .windows import each

GROUP = "Windows"


def _power_pool(rank: int):
    name = f"lp_pool{rank}d"

    @operator(f"torch.nn.functional.{name}", GROUP)
    def implementation(b: Builder, input, norm_type, kernel_size, stride=None, ceil_mode=False):
        """The norm of each window: sign(s) |s|^(1/p) of the sum s of powers, as PyTorch writes it."""
        if not is_number(norm_type):
            raise Problem(f"{name}: norm_type must be known when the program is compiled")
        count = b.product(each(kernel_size, rank, name))
        mean = OPERATORS[f"avg_pool{rank}d"].function(b, pointwise.pow_(b, input, norm_type), kernel_size, stride, 0, ceil_mode)
        size = OPERATORS["relu"].function(b, OPERATORS["abs"].function(b, mean))
        signed = pointwise.mul(b, OPERATORS["sign"].function(b, mean), size)
        return pointwise.pow_(b, pointwise.mul(b, signed, count), 1.0 / norm_type)


for _rank in (1, 2, 3):
    _power_pool(_rank)


def _unpool(rank: int):
    name = f"max_unpool{rank}d"

    @operator(f"torch.nn.functional.{name}", GROUP)
    def implementation(b: Builder, input, indices, kernel_size, stride=None, padding=0, output_size=None):
        """Each element at its place in an image of zeros."""
        sizes, borders = each(kernel_size, rank, name), each(padding, rank, name)
        steps = sizes if stride is None else each(stride, rank, name)
        own = [known(n, name) for n in input.sizes[-rank:]]
        wanted = [(n - 1) * step - 2 * border + size for n, step, border, size in zip(own, steps, borders, sizes)]
        if output_size is not None:
            wanted = [known(n, name) for n in list(output_size)[-rank:]]
        lead = list(input.sizes[: input.rank - rank])
        rows = [b.product(lead), b.product(own)]
        made = b.constant_tensor(0, input.dtype, [rows[0], b.product(wanted)])
        lines = base.unsqueeze(b, counted(b, rows[0], dtypes.int64), 1)
        put(b, made, [0, 1], [lines, base.reshape(b, indices, rows)], base.reshape(b, input, rows), False, name)
        return base.reshape(b, made, [*lead, *wanted])


for _rank in (1, 2, 3):
    _unpool(_rank)


def _line(b: Builder, size: int, dtype, align_corners: bool) -> Tensor:
    """Places of elements between -1 and 1: of their middles, or with the first and the last one at the ends."""
    step = 2 / max(1, size - 1) if align_corners else 2 / size
    first = -1.0 if align_corners else -1 + 1 / size

    def emit(body, i):
        return body.op("arith.addf", body.op("arith.mulf", body.cast(i, dtype), body.constant(step, dtype)), body.constant(first, dtype))

    return counted(b, size, dtype, emit) if size > 1 or not align_corners else b.constant_tensor(0, dtype, [1])


@operator("torch.nn.functional.affine_grid", GROUP)
def affine_grid(b: Builder, theta, size, align_corners=None):
    """Places of the elements of images of a size [n, c, h, w] or [n, c, d, h, w], each moved by a matrix."""
    sizes = [known(n, "affine_grid") for n in size]
    rank = len(sizes) - 2
    if rank not in (2, 3) or theta.rank != 3 or list(theta.sizes[1:]) != [rank, rank + 1]:
        raise Problem(f"affine_grid: expects matrices [n, {rank}, {rank + 1}] for images of sizes {sizes}, found {theta.describe()}", "shape")
    places = []
    for k in reversed(range(rank)):
        line = base.reshape(b, _line(b, sizes[2 + k], theta.dtype, bool(align_corners)), [-1 if i == k else 1 for i in range(rank)])
        places.append(base.expand(b, line, sizes[2:]))
    places.append(b.constant_tensor(1, theta.dtype, sizes[2:]))
    flat = base.reshape(b, stack(b, places, -1), [1, b.product(sizes[2:]), rank + 1])
    moved = matmul(b, flat, base.permute(b, theta, [0, 2, 1]))
    return base.reshape(b, moved, [theta.sizes[0], *sizes[2:], rank])


@operator("torch.nn.functional.rrelu", "Activations", note="not while training")
def rrelu(b: Builder, input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    if training:
        raise Problem("rrelu draws random numbers while training: call it with training=False")
    if inplace:
        raise Problem("rrelu: inplace must be False")
    return OPERATORS["leaky_relu"].function(b, input, (lower + upper) / 2)
