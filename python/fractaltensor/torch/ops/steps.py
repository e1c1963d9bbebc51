# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that are no tensor expressions: library steps, which run between compiled code.

A step takes values and gives values; sizes that are data come as numbers beside them.
"""

from __future__ import annotations

import math
from typing import List, Optional, Sequence

from ..ir import views as base
from ..ir import dtypes
from ..ir.builder import Builder
from ..ir.operations import INDEX, Type, Value, most_of, views_of
from ..problems import Problem
from ..frontend.values import Num, Tensor, is_number
from .places import is_as_made
from .table import dim_of, named, need_tensor, operator, tensor_of

GROUP = "Library steps"


def call(b: Builder, name: str, operands: Sequence[Tensor], results: Sequence, counts: int = 0, numbers: Sequence = (), most: Sequence = (), **parameters):
    """Runs step `name`. `results` are (dtype, sizes) where a size None is one of the `counts` numbers, in order. None of these is greater
    than the product of the sizes `most`."""
    values = [_operand(b, x) for x in operands] + [b.scalar(n) for n in numbers]
    types = [Type("tensor", t, [n if isinstance(n, int) else None for n in sizes]) for t, sizes in results] + [INDEX] * counts
    made = b.step(name, values, types, **parameters)
    fresh = [Num("int", v) for v in made[len(results) :]]
    known = [most_of(n.value if isinstance(n, Num) else n) for n in most]
    if known and None not in known:
        made[0].op.attributes["most"] = math.prod(known)
    tensors = []
    for value, (_, sizes) in zip(made, results):
        left = iter(fresh)
        tensors.append(b.new(value, [next(left) if n is None else n for n in sizes]))
    return tensors


def _operand(b: Builder, x: Tensor) -> Value:
    """What a step takes. Storage of the runner itself (arguments, results of steps, views of these) is passed as it is, since a step
    only reads it and returns storage of its own. Of all other storage the contents are passed, read once as long as nothing writes it."""
    root = views_of(x.value)[1]
    if root.op is None:
        return x.value if root.block is b.top else b.read(x)
    source = root.op.operands[0].op if root.op.attributes.get("role") == "new" else None
    if source is not None and source.kind == "step":
        return x.value
    if not is_as_made(b, x.value):
        return b.read(x)
    table, key = b.known[-1], ("read", x.value.number)
    if key not in table:
        table[key] = b.read(x)
    return table[key]


@operator("nonzero", GROUP)
def nonzero(b: Builder, input, *, as_tuple=False):
    x = need_tensor(input, "nonzero")
    if as_tuple is True:
        return tuple(columns(b, x))
    (found,) = call(b, "nonzero", [x], [(dtypes.int64, [None, x.rank])], 1, most=x.sizes or [1])
    return found


@operator("argwhere", GROUP)
def argwhere(b: Builder, input):
    return nonzero(b, input)


def columns(b: Builder, mask: Tensor) -> List[Tensor]:
    """The places of what is set, one tensor for each dimension."""
    places = nonzero(b, mask)
    return [base.select(b, places, 1, d) for d in range(max(1, mask.rank))]


def columns_once(b: Builder, mask: Tensor) -> List[Tensor]:
    """As `columns`, for anyone who only reads them: found once for a mask that nothing writes, so that what is taken by it has one size."""
    if not is_as_made(b, mask.value):
        return columns(b, mask)
    table, key = b.known[-1], ("columns", mask.value.number)
    if key not in table:
        table[key] = columns(b, mask)
    return table[key]


@operator("masked_select", GROUP)
def masked_select(b: Builder, input, mask):
    from .moving import taken

    sizes = b.broadcast([input.sizes, mask.sizes])
    wide, mask = base.expand(b, input, sizes), base.expand(b, mask, sizes)
    return taken(b, wide, list(range(len(sizes))), columns_once(b, mask))


def _sorted(b: Builder, x: Tensor, dim, descending) -> Sequence[Tensor]:
    if not isinstance(descending, bool):
        raise Problem("sort: descending must be known when the program is compiled")
    if x.rank == 0:
        return b.copy(x), b.constant_tensor(0, dtypes.int64)
    d = dim_of(dim, x.rank)
    return call(b, "sort", [x], [(x.dtype, x.sizes), (dtypes.int64, x.sizes)], dim=d, descending=descending)


@operator("sort", GROUP, note="always stable")
def sort(b: Builder, input, dim=-1, descending=False, stable=True):
    return named(_sorted(b, input, dim, descending), "values", "indices")


@operator("argsort", GROUP, note="always stable")
def argsort(b: Builder, input, dim=-1, descending=False, stable=True):
    return _sorted(b, input, dim, descending)[1]


@operator("msort", GROUP)
def msort(b: Builder, input):
    return _sorted(b, input, 0, False)[0]


@operator("topk", GROUP, note="of equal elements the first ones")
def topk(b: Builder, input, k, dim=-1, largest=True, sorted=True):
    d = dim_of(dim, input.rank)
    size = input.sizes[d]
    if isinstance(k, int) and isinstance(size, int) and not 0 <= k <= size:
        raise Problem(f"topk: k is {k}, the dimension has size {size}", "shape")
    sizes = [*input.sizes[:d], k, *input.sizes[d + 1 :]]
    found = call(b, "topk", [input], [(input.dtype, sizes), (dtypes.int64, sizes)], numbers=[k], dim=d, largest=bool(largest))
    return named(found, "values", "indices")


@operator("kthvalue", GROUP)
def kthvalue(b: Builder, input, k, dim=-1, keepdim=False):
    values, places = _sorted(b, input, dim, False)
    d = dim_of(dim, input.rank)
    found = [base.select(b, x, d, b.sub(k, 1)) for x in (values, places)]
    if keepdim:
        found = [base.unsqueeze(b, x, d) for x in found]
    return named(found, "values", "indices")


@operator("median", GROUP, note="of equal elements the index is the first's in order")
def median(b: Builder, input, dim=None, keepdim=False):
    if dim is None:
        flat = base.reshape(b, input, [-1])
        return call(b, "median", [flat], [(input.dtype, [])])[0]
    size = input.sizes[dim_of(dim, input.rank)]
    return kthvalue(b, input, b.add(b.floordiv(b.sub(size, 1), 2), 1), dim, keepdim)


@operator("unique", GROUP, where="fm")
def unique(b: Builder, input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        from .selection import unique_along

        return unique_along(b, input, dim, True, return_inverse, return_counts)
    results = [(input.dtype, [None]), (dtypes.int64, input.sizes), (dtypes.int64, [None])]
    values, inverse, counts = call(b, "unique", [input], results, 1, most=input.sizes or [1])
    found = [values] + ([inverse] if return_inverse else []) + ([counts] if return_counts else [])
    return found[0] if len(found) == 1 else tuple(found)


@operator("unique_consecutive", GROUP)
def unique_consecutive(b: Builder, input, return_inverse=False, return_counts=False, dim=None):
    if dim is not None and not (input.rank == 1 and dim in (0, -1)):
        from .selection import unique_along

        return unique_along(b, input, dim, False, return_inverse, return_counts)
    flat = base.reshape(b, input, [-1])
    results = [(input.dtype, [None]), (dtypes.int64, flat.sizes), (dtypes.int64, [None])]
    values, inverse, counts = call(b, "unique_consecutive", [flat], results, 1, most=input.sizes or [1])
    found = [values] + ([base.reshape(b, inverse, input.sizes)] if return_inverse else []) + ([counts] if return_counts else [])
    return found[0] if len(found) == 1 else tuple(found)


@operator("bincount", GROUP)
def bincount(b: Builder, input, weights=None, minlength=0):
    if not input.dtype.is_int:
        raise Problem(f"bincount: expects integers, found {input.dtype}", "dtype")
    operands = [input] if weights is None else [input, weights]
    out = dtypes.int64 if weights is None else weights.dtype if weights.dtype is dtypes.float32 else dtypes.float64
    return call(b, "bincount", operands, [(out, [None])], 1, minlength=minlength)[0]


@operator("searchsorted", GROUP, where="f")
def searchsorted(b: Builder, sorted_sequence, input, *, out_int32=False, right=False, side=None):
    values = tensor_of(b, input)
    out = dtypes.int32 if out_int32 else dtypes.int64
    from .selection import searched

    return searched(b, sorted_sequence, values, out, bool(right) or side == "right")


@operator("bucketize", GROUP, where="f")
def bucketize(b: Builder, input, boundaries, *, out_int32=False, right=False):
    return searchsorted(b, boundaries, input, out_int32=out_int32, right=right)


@operator("nms", GROUP, where="", note="torchvision.ops.nms")
def nms(b: Builder, boxes, scores, iou_threshold):
    return _nms(b, boxes, scores, None, iou_threshold)


@operator("batched_nms", GROUP, where="", note="torchvision.ops.batched_nms")
def batched_nms(b: Builder, boxes, scores, idxs, iou_threshold):
    return _nms(b, boxes, scores, idxs, iou_threshold)


def _nms(b: Builder, boxes, scores, labels: Optional[Tensor], threshold) -> Tensor:
    if boxes.rank != 2 or boxes.sizes[1] != 4:
        raise Problem(f"nms: expects boxes of sizes [n, 4], found {boxes.describe()}", "shape")
    if not is_number(threshold):
        raise Problem("nms: the threshold must be known when the program is compiled")
    operands = [boxes, scores] + ([labels] if labels is not None else [])
    return call(b, "nms", operands, [(dtypes.int64, [None])], 1, most=boxes.sizes[:1], threshold=float(threshold))[0]
