# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images of other sizes, and images at places that are computed: along each dimension a weighted sum of a few elements."""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple

from ..ir import dtypes
from ..ir import views as base
from ..ir.bodies import Body, Scalar, arithmetic_type
from ..ir.builder import Builder
from ..ir.dtypes import DType
from ..problems import Problem
from ..frontend.values import Tensor
from . import pointwise
from .creation import counted
from .moving import taken
from .table import OPERATORS, operator
from .views import known

GROUP = "Windows"

#: By mode: the rank of images, or 0 for any.
_RANKS = {"nearest": 0, "nearest-exact": 0, "area": 0, "linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
#: The free number of the cubic convolution, as PyTorch has it.
_CUBIC = -0.75


class _Line:
    """A dimension of size `old` that becomes one of size `new`; `step` is the distance of new places in old elements, which are numbers of type `dtype`."""

    def __init__(self, old: int, new: int, scale: Optional[float], align_corners: bool, dtype: DType):
        self.old, self.new, self.align_corners, self.dtype = old, new, align_corners, dtype
        if align_corners:
            self.step = (old - 1) / (new - 1) if new > 1 else 0.0
        else:
            self.step = 1 / scale if scale else old / new

    def source(self, body: Body, i: Scalar) -> Scalar:
        """Where a new place lies among the old elements, as a float."""
        place, step = body.cast(i, self.dtype), body.constant(self.step, self.dtype)
        if self.align_corners:
            return body.op("arith.mulf", place, step)
        half = body.constant(0.5, self.dtype)
        return body.op("arith.subf", body.op("arith.mulf", body.op("arith.addf", place, half), step), half)


def _index(b: Builder, line: _Line, function: Callable) -> Tensor:
    """For each new place the old element that `function` gives as a float, kept inside."""
    def emit(body: Body, i: Scalar) -> Scalar:
        at = body.cast(body.op("math.floor", function(body, i)), dtypes.int64)
        at = body.op("arith.maxsi", at, body.constant(0, dtypes.int64))
        return body.op("arith.minsi", at, body.constant(line.old - 1, dtypes.int64))

    return counted(b, line.new, dtypes.int64, emit)


def _nearest(b: Builder, x: Tensor, d: int, line: _Line, exact: bool) -> Tensor:
    def place(body: Body, i: Scalar) -> Scalar:
        at = body.cast(i, dtypes.float32)
        at = body.op("arith.addf", at, body.constant(0.5, dtypes.float32)) if exact else at
        return body.op("arith.mulf", at, body.constant(line.step, dtypes.float32))

    return taken(b, x, [d], [_index(b, line, place)])


def _linear_taps(line: _Line) -> List[Tuple[Callable, Callable]]:
    """Two neighbours, by how near they are; in front of the first element it stands alone."""
    def at(body: Body, i: Scalar) -> Scalar:
        return body.op("arith.maximumf", line.source(body, i), body.constant(0, line.dtype))

    def far(body: Body, i: Scalar) -> Scalar:
        place = at(body, i)
        return body.op("arith.subf", place, body.op("math.floor", place))

    def one(body: Body) -> Scalar:
        return body.constant(1, line.dtype)

    return [(at, lambda body, i: body.op("arith.subf", one(body), far(body, i))), (lambda body, i: body.op("arith.addf", at(body, i), one(body)), far)]


def _cubic_taps(line: _Line) -> List[Tuple[Callable, Callable]]:
    def near(body: Body, t: Scalar) -> Scalar:
        """(a + 2) t^3 - (a + 3) t^2 + 1, for distances up to 1."""
        inner = body.op("arith.subf", body.op("arith.mulf", body.constant(_CUBIC + 2, t.dtype), t), body.constant(_CUBIC + 3, t.dtype))
        return body.op("arith.addf", body.op("arith.mulf", body.op("arith.mulf", inner, t), t), body.constant(1, t.dtype))

    def far(body: Body, t: Scalar) -> Scalar:
        """a t^3 - 5 a t^2 + 8 a t - 4 a, for distances from 1 to 2."""
        result = body.constant(_CUBIC, t.dtype)
        for factor in (-5 * _CUBIC, 8 * _CUBIC, -4 * _CUBIC):
            result = body.op("arith.addf", body.op("arith.mulf", result, t), body.constant(factor, t.dtype))
        return result

    def tap(offset: int):
        def at(body: Body, i: Scalar) -> Scalar:
            return body.op("arith.addf", body.op("math.floor", line.source(body, i)), body.constant(offset, line.dtype))

        def weight(body: Body, i: Scalar) -> Scalar:
            distance = body.op("math.absf", body.op("arith.subf", line.source(body, i), at(body, i)))
            return (near if offset in (0, 1) else far)(body, distance)

        return at, weight

    return [tap(offset) for offset in (-1, 0, 1, 2)]


def _weighted(b: Builder, x: Tensor, d: int, line: _Line, taps: Sequence[Tuple[Callable, Callable]]) -> Tensor:
    total = None
    for at, weight in taps:
        weights = counted(b, line.new, x.dtype, lambda body, i, w=weight: body.cast(w(body, i), x.dtype))
        weights = base.reshape(b, weights, [line.new if k == d else 1 for k in range(x.rank)])
        part = pointwise.mul(b, taken(b, x, [d], [_index(b, line, at)]), weights)
        total = part if total is None else pointwise.add(b, total, part)
    return total


@operator("interpolate", GROUP, where="", note="without antialias")
def interpolate(b: Builder, input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    if mode not in _RANKS:
        raise Problem(f"interpolate: mode is one of {', '.join(map(repr, _RANKS))}, found {mode!r}")
    rank = input.rank - 2
    if antialias:
        raise Problem("interpolate: antialias must be False")
    if _RANKS[mode] not in (0, rank):
        raise Problem(f"interpolate: mode {mode!r} is of images of {_RANKS[mode]} dimensions, found {input.describe()}", "shape")
    if (size is None) == (scale_factor is None):
        raise Problem("interpolate: either size or scale_factor must be given")
    old = [known(n, "interpolate") for n in input.sizes[2:]]
    given = list(size if size is not None else scale_factor) if isinstance(size if size is not None else scale_factor, (tuple, list)) else [size if size is not None else scale_factor] * rank
    new = [known(n, "interpolate") for n in given] if size is not None else [int(n * s) for n, s in zip(old, given)]
    if mode == "area":
        return OPERATORS[f"adaptive_avg_pool{rank}d"].function(b, input, new)
    scales = [None] * rank if size is not None or recompute_scale_factor else given
    compute = dtypes.float32 if mode.startswith("nearest") else arithmetic_type(input.dtype)
    lines = [_Line(n, m, s, bool(align_corners), compute) for n, m, s in zip(old, new, scales)]
    if mode.startswith("nearest"):
        for i, line in enumerate(lines):
            input = _nearest(b, input, 2 + i, line, mode == "nearest-exact")
        return b.copy(input) if not rank else input
    made = pointwise.to_dtype(b, input, compute)
    for i in reversed(range(rank)):
        made = _weighted(b, made, 2 + i, lines[i], (_cubic_taps if mode == "bicubic" else _linear_taps)(lines[i]))
    return pointwise.to_dtype(b, made, input.dtype)


# -- at places that are data --------------------------------------------------------------------------------------


def _coordinate(b: Builder, grid: Tensor, size: int, align_corners: bool, border: bool) -> Tensor:
    """From [-1, 1] to elements; with a border kept inside."""
    def emit(body: Body, g: Scalar) -> Scalar:
        one, half = body.constant(1, g.dtype), body.constant(0.5, g.dtype)
        part = body.op("arith.mulf", body.op("arith.addf", g, one), half)
        if align_corners:
            at = body.op("arith.mulf", part, body.constant(size - 1, g.dtype))
        else:
            at = body.op("arith.subf", body.op("arith.mulf", part, body.constant(size, g.dtype)), half)
        if border:
            at = body.op("arith.minimumf", body.op("arith.maximumf", at, body.constant(0, g.dtype)), body.constant(size - 1, g.dtype))
        return at

    compute = arithmetic_type(grid.dtype)
    return b.pointwise(compute, [grid], emit, compute)


def _corner(b: Builder, image: Tensor, batch: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Elements at whole places (floats), 0 outside; channels last."""
    height, width = image.sizes[2:]

    def inside(body: Body, p: Scalar, q: Scalar) -> Scalar:
        truth = None
        for at, size in ((p, height), (q, width)):
            low, high = body.compare("ge", at, body.constant(0, at.dtype)), body.compare("le", at, body.constant(size - 1, at.dtype))
            both = body.op("arith.andi", low, high)
            truth = both if truth is None else body.op("arith.andi", truth, both)
        return truth

    here = b.pointwise(dtypes.bool_, [y, x], inside)
    places = [b.pointwise(dtypes.int64, [here, at], lambda body, h, p: body.select(h, body.cast(body.select(h, p, body.constant(0, p.dtype)), dtypes.int64), body.constant(0, dtypes.int64))) for at in (y, x)]
    found = taken(b, image, [0, 2, 3], [batch, *places])
    return pointwise.where(b, base.unsqueeze(b, here, here.rank), found, 0.0)


@operator("grid_sample", GROUP, where="", note="of images of two dimensions; mode 'bilinear' or 'nearest', padding_mode 'zeros' or 'border'")
def grid_sample(b: Builder, input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    if mode not in ("bilinear", "nearest") or padding_mode not in ("zeros", "border"):
        raise Problem(f"grid_sample: mode is 'bilinear' or 'nearest' and padding_mode 'zeros' or 'border', found {mode!r} and {padding_mode!r}")
    if input.rank != 4 or grid.rank != 4 or grid.sizes[3] != 2:
        raise Problem(f"grid_sample: expects images of 4 dimensions and places of sizes [n, h, w, 2], found {input.describe()} and {grid.describe()}", "shape")
    height, width = (known(n, "grid_sample") for n in input.sizes[2:])
    x, y = (_coordinate(b, base.select(b, grid, 3, k), n, bool(align_corners), padding_mode == "border") for k, n in ((0, width), (1, height)))
    batch = base.reshape(b, counted(b, input.sizes[0], dtypes.int64), [-1, 1, 1])
    if mode == "nearest":
        x, y = (b.pointwise(t.dtype, [t], lambda body, a: body.op("math.roundeven", a)) for t in (x, y))
        return b.copy(base.permute(b, _corner(b, input, batch, y, x), [0, 3, 1, 2]))
    left, top = (b.pointwise(t.dtype, [t], lambda body, a: body.op("math.floor", a)) for t in (x, y))
    parts = []
    for down in (0, 1):
        for right in (0, 1):
            at_y, at_x = pointwise.add(b, top, float(down)), pointwise.add(b, left, float(right))
            near = [b.pointwise(t.dtype, [t, at], lambda body, p, q: body.op("arith.subf", body.constant(1, p.dtype), body.op("math.absf", body.op("arith.subf", p, q)))) for t, at in ((y, at_y), (x, at_x))]
            weight = pointwise.mul(b, *near)
            parts.append(pointwise.mul(b, _corner(b, input, batch, at_y, at_x), base.unsqueeze(b, weight, weight.rank)))
    made = parts[0]
    for part in parts[1:]:
        made = pointwise.add(b, made, part)
    return b.copy(base.permute(b, pointwise.to_dtype(b, made, input.dtype), [0, 3, 1, 2]))
