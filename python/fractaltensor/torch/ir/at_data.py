# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows at data in loops: `x[m]` where `m` is a place that was found, or an element of a tensor of indices.

Compiled code takes an element at data anywhere, but a part of a tensor only where that is a function of loops. So a row at data is
read by a tensor of indices. An index of a write must be a function of loops, too, so that the last writer of an element is known. So a
write at data becomes one of all places: each keeps its element or takes the new one. That is a copy of the dimension, and it is
done for storages of few elements. An index of which nothing is known is noted where it lies outside, as tensors of indices are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional, Tuple

from . import dtypes
from .bodies import Body, Scalar
from .operations import Op, Value
from ..frontend.values import Num, SizeLike, Tensor

#: A number that no index is.
NOTHING = -(1 << 63)

if TYPE_CHECKING:
    from .builder import Builder

#: To copy so many elements takes about as long as to look at one index from outside.
_MOST_ELEMENTS = 4096


def writes_all(b: "Builder", dest: Tensor, value: Value) -> bool:
    """Writes a value to a row at data, as a choice for each row; whether it has been written."""
    found = _row(b, dest)
    if found is None:
        return False
    whole, d, place = found
    if _count(whole.sizes) > _MOST_ELEMENTS:
        return False
    new, map_ = _aligned(b, value, whole, d)
    if new is None:
        return False
    if isinstance(place, Num) and not b.is_least(0, place):
        place = b.choice(b.compare("lt", place, 0), b.add(place, whole.sizes[d]), place)  # type: ignore[assignment]
    rank = whole.rank
    body = Body()
    here = body.compare("eq", body.index(d, dtypes.int64), b._element_in(body, place, dtypes.int64))
    element = body.select(here, body.cast(Scalar("%a1", new.type.dtype), dest.dtype), Scalar("%a0", dest.dtype))
    all_ = list(range(rank))
    made = b.generic([b.read(whole), new], [all_, map_], [b.empty(dest.dtype, whole.sizes)], [all_], rank, (), body, [element])
    b.is_by_parts = True
    b.write(whole, made[0])
    return True


def checked(b: "Builder", index: Num, size: SizeLike, d: int, message: str = "") -> Num:
    """An index from 0 on that compiled code can take: one that is out of range is noted, and becomes 0."""
    outside = b.logical("or", b.compare("lt", index, b.sub(0, size)), b.compare("ge", index, size))
    message = message or f"index {{}} of dimension {d} is out of range: its size is {size}"
    b.notice(b.constant_tensor(b.choice(outside, index, NOTHING), dtypes.int64), message)
    from_zero = b.choice(b.compare("lt", index, 0), b.add(index, size), index)
    b.is_by_parts = True
    return b.choice(outside, 0, from_zero)


def is_looked_at(b: "Builder", index, size) -> bool:
    """Whether an index in a loop is data of which nothing is known."""
    return b.checked and isinstance(index, Num) and isinstance(size, int) and size > 0 and b.in_loop() and (is_carried(index.value) or _is_data(b, index.value))


def read(b: "Builder", x: Tensor) -> Optional[Value]:
    """A row at data, by tensors of indices; None where it is none."""
    if _row(b, x) is None:
        return None
    name, fixed, free = x.value, [], []
    chain: List[Op] = []
    while _is_select(name):
        chain.append(name.op)  # type: ignore[arg-type]
        name = name.op.operands[0]  # type: ignore[union-attr]
    left = list(range(len(name.type.shape)))
    for op in reversed(chain):
        d, place = op.attributes["numbers"]
        (free if _is_data(b, place) else fixed).append((left.pop(d), place))
    whole = _selected(b, Tensor(name, x.dtype, name.type.shape), fixed)
    free.sort(key=lambda item: item[0])
    dims = [d - sum(f < d for f, _ in fixed) for d, _ in free]
    values = [b.read(whole), *(b.read(b.constant_tensor(Num("int", place), dtypes.int64)) for _, place in free)]
    pieces: List = ["tssa.index ", values[0], f"[{', '.join(map(str, dims))}] by "]
    for at, value in enumerate(values[1:]):
        pieces += [", " if at else "", value]
    type_ = x.value.type.value()
    b.is_by_parts = True
    made = b.text([*pieces, f" : {', '.join(v.type.text() for v in values)} -> {type_.text()}"], [type_], role="index")
    return made.results[0]


def _selected(b: "Builder", x: Tensor, places) -> Tensor:
    from .views import select

    for d, place in sorted(places, key=lambda item: -item[0]):
        x = select(b, x, d, Num("int", place) if isinstance(place, Value) else place)
    return x


def _is_select(name: Value) -> bool:
    op = name.op
    return op is not None and op.attributes.get("role") == "view" and op.attributes["step"] == "select" and op.attributes["proven"]


def _is_data(b: "Builder", place) -> bool:
    from .views import is_data

    return isinstance(place, Value) and (is_data(Num("int", place)) or b.notes_indices and is_carried(place))


def is_carried(place: Value) -> bool:
    """Whether a number is computed of one that a loop changes as data say: it is no function of the loops' counters."""
    todo, seen = [place], set()
    while todo:
        value = todo.pop()
        if value.carried:
            return True
        op = value.op
        if op is None or (id(op), value.number) in seen:
            continue
        seen.add((id(op), value.number))
        if op.kind in ("for", "while"):
            return True
        if op.kind == "if":
            todo.extend(block.yields[op.results.index(value)] for block in op.blocks)
        if op.kind in ("if", "text"):
            todo.extend(op.operands)
    return False


def _row(b: "Builder", dest: Tensor) -> Optional[Tuple[Tensor, int, SizeLike]]:
    """What a name is the row of, along which dimension, and the index, where it is in a loop and that row or one before is at data."""
    name, is_at_data = dest.value, False
    while _is_select(name):
        is_at_data |= _is_data(b, name.op.attributes["numbers"][1])  # type: ignore[union-attr]
        name = name.op.operands[0]  # type: ignore[union-attr]
    if not is_at_data or not b.goes_by_parts or not b.in_loop() or None in name.type.shape:
        return None
    if name.op is not None and name.op.attributes.get("varying"):
        return None
    op = dest.value.op
    assert op is not None
    d, place = op.attributes["numbers"]
    source = op.operands[0]
    return Tensor(source, dest.dtype, source.type.shape), d, Num("int", place) if isinstance(place, Value) else place


def _count(sizes) -> int:
    count = 1
    for n in sizes:
        count *= n
    return count


def _aligned(b: "Builder", value: Value, whole: Tensor, d: int) -> Tuple[Optional[Value], List[int]]:
    """A value for a row, without what is broadcast, and its dimensions among those of all rows; its type is that of the rows."""
    if None in value.type.shape:
        return None, []
    dims = [i for i in range(whole.rank) if i != d]
    x, kept = b.new(value, value.type.shape), []
    for at in range(x.rank - 1, -1, -1):
        dim = dims[len(dims) - (len(value.type.shape) - at)]
        if x.sizes[at] == 1 and whole.sizes[dim] != 1:
            from .views import squeeze

            x = squeeze(b, x, at)
        else:
            kept.append(dim)
    return b.read(x), kept[::-1]
