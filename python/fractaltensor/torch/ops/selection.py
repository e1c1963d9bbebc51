# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements by rank, by value and by place: what is made of a sort, of a search, or of indices that are known."""

from __future__ import annotations

import itertools

from ..ir import dtypes
from ..ir import views as base
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Tensor, is_number
from . import pointwise, reductions
from .creation import dense
from .moving import copied, taken
from .steps import call
from .table import OPERATORS, assign, dim_of, named, operator, sizes_of
from .views import known, narrow

GROUP = "Library steps"


@operator("mode", GROUP, note="of equal elements the index is the last one's")
def mode(b: Builder, input, dim=-1, keepdim=False):
    if input.rank == 0:
        return named((b.copy(input), b.constant_tensor(0, dtypes.int64)), "values", "indices")
    d = dim_of(dim, input.rank)
    if known(input.sizes[d], "mode") == 0:
        raise Problem("mode: the dimension has no elements", "shape")
    sizes = [n for i, n in enumerate(input.sizes) if i != d]
    found = call(b, "mode", [input], [(input.dtype, sizes), (dtypes.int64, sizes)], dim=d)
    return named([base.unsqueeze(b, x, d) for x in found] if keepdim else found, "values", "indices")


@operator("nanmedian", GROUP)
def nanmedian(b: Builder, input, dim=None, keepdim=False):
    """The lower middle of what is a number; NaN sorts last."""
    x = base.reshape(b, input, [-1]) if dim is None else input
    if not input.dtype.is_float:
        return OPERATORS["median"].function(b, input) if dim is None else OPERATORS["median"].function(b, input, dim, keepdim)
    d = dim_of(0 if dim is None else dim, x.rank)
    values, places = OPERATORS["sort"].function(b, x, d)
    numbers = reductions.sum_(b, pointwise.logical_not(b, OPERATORS["isnan"].function(b, x)), d, True)
    middle = pointwise.clamp(b, OPERATORS["floor_divide"].function(b, pointwise.sub(b, numbers, 1), 2), 0)
    found = [OPERATORS["gather"].function(b, t, d, middle) for t in (values, places)]
    if dim is None:
        return base.reshape(b, found[0], [])
    return named(found if keepdim else [base.squeeze(b, t, d) for t in found], "values", "indices")


@operator("nanquantile", GROUP, note="q is one number")
def nanquantile(b: Builder, input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """As `quantile` of what is a number; the place among these is data."""
    if not is_number(q) or not 0 <= q <= 1:
        raise Problem("nanquantile: q must be a number from 0 to 1 that is known when the program is compiled")
    if interpolation not in ("linear", "lower", "higher", "nearest", "midpoint"):
        raise Problem(f"nanquantile: interpolation is 'linear', 'lower', 'higher', 'nearest' or 'midpoint', found {interpolation!r}")
    x = base.reshape(b, input, [-1]) if dim is None else input
    d = dim_of(0 if dim is None else dim, x.rank)
    values, _ = OPERATORS["sort"].function(b, x, d)
    numbers = reductions.sum_(b, pointwise.logical_not(b, OPERATORS["isnan"].function(b, x)), d, True)
    at = pointwise.mul(b, pointwise.to_dtype(b, pointwise.clamp(b, pointwise.sub(b, numbers, 1), 0), x.dtype), q)
    low, high, near = (pointwise.to_dtype(b, OPERATORS[f].function(b, at), dtypes.int64) for f in ("floor", "ceil", "round"))
    elements = lambda places: OPERATORS["gather"].function(b, values, d, places)  # noqa: E731
    if interpolation in ("lower", "higher", "nearest"):
        found = elements({"lower": low, "higher": high, "nearest": near}[interpolation])
    else:
        weight = 0.5 if interpolation == "midpoint" else pointwise.sub(b, at, OPERATORS["floor"].function(b, at))
        found = pointwise.lerp(b, elements(low), elements(high), weight)
    return reductions.keep(b, base.squeeze(b, found, d), range(input.rank) if dim is None else [d], keepdim)


# -- by value --------------------------------------------------------------------------------------------------------


def unique_along(b: Builder, input: Tensor, dim, is_sorted: bool, return_inverse, return_counts):
    """Slices along a dimension that differ, with the place of each slice among them and their counts where asked."""
    d = dim_of(dim, input.rank)
    sizes = [None if i == d else n for i, n in enumerate(input.sizes)]
    results = [(input.dtype, sizes), (dtypes.int64, [input.sizes[d]]), (dtypes.int64, [None])]
    values, inverse, counts = call(b, "unique_rows", [input], results, 1, most=[input.sizes[d]], dim=d, is_sorted=is_sorted)
    found = [values] + ([inverse] if return_inverse else []) + ([counts] if return_counts else [])
    return found[0] if len(found) == 1 else tuple(found)


def searched(b: Builder, sequence: Tensor, values: Tensor, out, right: bool) -> Tensor:
    """In a sequence, or in each row of one."""
    if sequence.rank == 1:
        return call(b, "searchsorted", [sequence, values], [(out, values.sizes)], right=right)[0]
    if sequence.rank != values.rank or any(isinstance(n, int) and isinstance(m, int) and n != m for n, m in zip(sequence.sizes[:-1], values.sizes[:-1])):
        raise Problem(f"searchsorted: the rows of {sequence.describe()} and {values.describe()} do not fit", "shape")
    found = call(b, "searchsorted_rows", [sequence, values], [(dtypes.int64, values.sizes)], right=right)[0]
    return pointwise.to_dtype(b, found, out)


# -- by place --------------------------------------------------------------------------------------------------------


def _put(b: Builder, self, index, source, accumulate=False):
    """Elements by their number in the tensor as a line."""
    from .indexing import write

    line = base.reshape(b, b.copy(self), [-1])
    write(b, line, base.reshape(b, index, [-1]), base.reshape(b, source, [-1]), accumulate=bool(accumulate))
    return assign(b, self, base.reshape(b, line, self.sizes), "put_")


copied("put", _put, "of two writes to one element the last stays")


def _index_reduce(b: Builder, self, dim, index, source, reduce, *, include_self=True):
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise Problem(f"index_reduce: reduce is 'prod', 'mean', 'amax' or 'amin', found {reduce!r}")
    d = dim_of(dim, self.rank)
    places = base.reshape(b, index, [-1 if i == d else 1 for i in range(self.rank)])
    wide = b.copy(base.expand(b, places, source.sizes))
    return OPERATORS["scatter_reduce_"].function(b, self, d, wide, source, reduce, include_self=include_self)


copied("index_reduce", _index_reduce)


@operator("unravel_index", GROUP, where="f")
def unravel_index(b: Builder, indices, shape):
    sizes = [known(n, "unravel_index") for n in sizes_of((shape,) if isinstance(shape, (tuple, list)) else ([shape],))]
    rest, found = pointwise.to_dtype(b, indices, dtypes.int64), []
    for size in reversed(sizes):
        found.append(OPERATORS["remainder"].function(b, rest, size))
        rest = OPERATORS["floor_divide"].function(b, rest, size)
    return tuple(reversed(found))


@operator("combinations", GROUP, where="f")
def combinations(b: Builder, input, r=2, with_replacement=False):
    if input.rank != 1:
        raise Problem(f"combinations: expects 1 dimension, found {input.describe()}", "shape")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(known(input.sizes[0], "combinations")), r))
    if r == 0 or not rows:
        return b.constant_tensor(0, input.dtype, [0] if r == 0 else [0, r])
    places = b.new(dense(b, [i for row in rows for i in row], dtypes.int64, [len(rows), r]), [len(rows), r])
    return taken(b, input, [0], [places])


@operator("gradient", "Differences", where="f", note="spacing is a number, or one for each dimension; edge_order is 1")
def gradient(b: Builder, input, *, spacing=1, dim=None, edge_order=1):
    dims = list(range(input.rank)) if dim is None else [dim_of(d, input.rank) for d in (dim if isinstance(dim, (tuple, list)) else [dim])]
    steps = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    if edge_order != 1 or len(steps) != len(dims) or not all(is_number(s) for s in steps):
        raise Problem("gradient: edge_order must be 1, and spacing a number, or one for each dimension")
    return tuple(_slope(b, input, d, s) for d, s in zip(dims, steps))


def _slope(b: Builder, x: Tensor, d: int, step) -> Tensor:
    """Differences of neighbours on both sides, of one side at the ends."""
    size = known(x.sizes[d], "gradient")
    if size < 2:
        raise Problem(f"gradient: expects at least 2 elements along a dimension, found {x.describe()}", "shape")
    part = lambda first, count: narrow(b, x, d, first, count)  # noqa: E731
    apart = lambda high, low, by: pointwise.div(b, pointwise.sub(b, high, low), by)  # noqa: E731
    parts = [apart(part(1, 1), part(0, 1), step)]
    if size > 2:
        parts.append(apart(part(2, size - 2), part(0, size - 2), 2 * step))
    parts.append(apart(part(size - 1, 1), part(size - 2, 1), step))
    return OPERATORS["cat"].function(b, parts, d)


@operator("torch.nn.utils.rnn.pad_sequence", "Copies and joins", note="of sequences whose sizes are known when the program is compiled")
def pad_sequence(b: Builder, sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if padding_side not in ("right", "left"):
        raise Problem(f"pad_sequence: padding_side is 'right' or 'left', found {padding_side!r}")
    lengths = [known(x.sizes[0], "pad_sequence") for x in sequences]
    made = b.constant_tensor(padding_value, sequences[0].dtype, [len(lengths), max(lengths), *sequences[0].sizes[1:]])
    for i, (x, n) in enumerate(zip(sequences, lengths)):
        assign(b, narrow(b, base.select(b, made, 0, i), 0, 0 if padding_side == "right" else max(lengths) - n, n), x, "pad_sequence")
    return made if batch_first else b.copy(base.permute(b, made, [1, 0, *range(2, made.rank)]))
