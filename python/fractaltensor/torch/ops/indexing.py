# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`x[...]` of every kind, read and written."""

from __future__ import annotations

from typing import List, Optional, Tuple

from ..ir import views as base
from ..ir import dtypes
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Num, Tensor
from . import layouts, pointwise
from .moving import index_tensor, put, taken
from .table import assign

#: Dimensions that tensors of indices will take, and what errors call these: those of the tensor that is indexed.
_Advanced = List[Tuple[int, Tensor, int]]


def _as_index(b: Builder, item):
    """Lists of numbers are tensors of indices."""
    if isinstance(item, (list, range)):
        from .creation import tensor

        return tensor(b, list(item))
    return item


def _expanded(x: Tensor, key) -> List:
    """The key as one item for each dimension, `...` written out."""
    items = list(key) if isinstance(key, tuple) else [key]
    used = 0
    for item in items:
        if item is None or item is Ellipsis or isinstance(item, bool):
            continue
        used += item.rank if isinstance(item, Tensor) and item.dtype.is_bool else 1
    if used > x.rank:
        raise Problem(f"too many indices: {used} for {x.describe()}", "shape")
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise Problem("an index can have '...' once only")
    fill = [slice(None)] * (x.rank - used)
    at = dots[0] if dots else len(items)
    return items[:at] + fill + items[at + len(dots) :]


def basic(b: Builder, x: Tensor, key) -> Tuple[Tensor, _Advanced]:
    """Applies integers, slices, None and masks' columns; what is left are tensors of indices and their dimensions."""
    key = tuple(_as_index(b, k) for k in key) if isinstance(key, tuple) else _as_index(b, key)
    advanced: _Advanced = []
    d = said = 0
    for item in _expanded(x, key):
        if item is None:
            x = base.unsqueeze(b, x, d)
            d += 1
        elif isinstance(item, bool):
            x = base.unsqueeze(b, x, d)
            advanced.append((d, b.constant_tensor(0, dtypes.int64, [1 if item else 0]), said))
            d += 1
        elif isinstance(item, slice):
            ends = [_end(b, e) for e in (item.start, item.stop, item.step)]
            x = base.slice_(b, x, d, *ends)
            d, said = d + 1, said + 1
        elif isinstance(item, int) or isinstance(item, Num) and item.kind == "int":
            x = base.select(b, x, d, item, said)
            said += 1
        elif isinstance(item, Tensor):
            x, d = _tensor_item(b, x, d, item, advanced, said)
            said += item.rank if item.dtype.is_bool else 1
        else:
            kind = f"a {item.kind} that is data" if isinstance(item, Num) else f"{type(item).__name__}"
            raise Problem(f"an index is an integer, a slice, None, '...' or a tensor, found {kind}")
    return x, advanced


def _end(b: Builder, end):
    if end is None or isinstance(end, int) or isinstance(end, Num) and end.kind == "int":
        return end
    if isinstance(end, Tensor) and end.dtype.is_int:
        return b.item(end)
    raise Problem(f"the end of a slice must be an integer, found {type(end).__name__}")


def _tensor_item(b: Builder, x: Tensor, d: int, item: Tensor, advanced: _Advanced, said: int):
    if item.rank == 0 and item.dtype.is_int:
        return base.select(b, x, d, b.item(item), said), d
    if not item.dtype.is_bool:
        advanced.append((d, index_tensor(b, item), said))
        return x, d + 1
    if item.rank == 0:
        # A mask of one place, along a dimension that is new.
        x, item = base.unsqueeze(b, x, d), base.unsqueeze(b, item, 0)
    for i, n in enumerate(item.sizes):
        have = x.sizes[d + i]
        if isinstance(n, int) and isinstance(have, int) and n != have:
            raise Problem(f"a mask of size {n} in dimension {i} cannot index a dimension of size {have}", "shape")
        if not base.same(n, have):
            b.require_equal(n, have, "a mask has the size of what it indexes")
    from .steps import columns_once

    for i, column in enumerate(columns_once(b, item)):
        advanced.append((d + i, column, said + i))
    return x, d + item.rank


def read(b: Builder, x: Tensor, key) -> Tensor:
    """`x[key]`: a view, or new elements where tensors of indices take part."""
    view, advanced = basic(b, x, key)
    if not advanced:
        return view
    dims, indices, said = zip(*advanced)
    return layouts.read(view, taken(b, view, list(dims), list(indices), said))


def _mask_alone(key) -> Optional[Tensor]:
    """The mask where a key is one mask and slices of all."""
    items = key if isinstance(key, tuple) else (key,)
    if len(items) == 1 and isinstance(items[0], Tensor) and items[0].dtype.is_bool:
        return items[0]
    return None


def write(b: Builder, x: Tensor, key, value, accumulate: bool = False) -> Tensor:
    """`x[key] = value`."""
    mask = _mask_alone(key)
    number = not isinstance(value, Tensor) or value.rank == 0 or all(n == 1 for n in value.sizes)
    if mask is not None and number and not accumulate and mask.rank <= x.rank:
        return _masked(b, x, mask, value)
    view, advanced = basic(b, x, key)
    if not advanced:
        if isinstance(value, Tensor):
            value = _without_leading_ones(b, value, view.rank)
        return assign(b, view, value, "an assignment to an index", check=False)
    dims, indices, said = zip(*advanced)
    return put(b, view, list(dims), list(indices), value, accumulate is True, "an assignment to an index", said)


def _without_leading_ones(b: Builder, value: Tensor, rank: int) -> Tensor:
    while value.rank > rank and isinstance(value.sizes[0], int) and value.sizes[0] == 1:
        value = base.squeeze(b, value, 0)
    return value


def _masked(b: Builder, x: Tensor, mask: Tensor, value) -> Tensor:
    """A number where a mask is set: no step is needed, the old elements stay elsewhere."""
    for i, (n, have) in enumerate(zip(mask.sizes, x.sizes)):
        if isinstance(n, int) and isinstance(have, int) and n != have:
            raise Problem(f"a mask of size {n} in dimension {i} cannot index a dimension of size {have}", "shape")
    if isinstance(value, Tensor):
        for d in range(value.rank - 1, -1, -1):
            value = base.squeeze(b, value, d)
    for _ in range(x.rank - mask.rank):
        mask = base.unsqueeze(b, mask, mask.rank)

    def emit(body, old, m, new):
        return body.select(m, body.cast(new, x.dtype), old)

    return assign(b, x, b.pointwise(x.dtype, [x, mask, value], emit), "an assignment to a mask")


def to_dtype(b: Builder, x: Tensor, dtype) -> Tensor:
    return pointwise.to_dtype(b, x, dtype)
