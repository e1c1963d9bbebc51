# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is known of tensors of indices: those that a step finds lie inside of what it has looked at.

The order of a sort, the places of what is set and the rows that suppression keeps are indices of the very dimension that the step has
seen. Nothing has to look at them where that dimension is indexed by them, as long as nothing has written into them.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..ir.builder import Builder
from ..ir.operations import Op, Value, most_of, views_of, walk
from ..frontend.values import Num, SizeLike, Tensor


class _Below(NamedTuple):
    """Elements from 0 to below a size: below `sizes[0]`, or, along dimension `column`, each below its own."""

    sizes: Tuple
    column: Optional[int] = None


#: Of a step: the result that holds indices, and below what they are, by its operands, parameters and results.
_STEPS: Dict[str, Tuple] = {
    "nonzero": (0, lambda op: _Below(tuple(op.operands[0].sizes), 1) if op.operands[0].sizes else None),
    "sort": (1, lambda op: _Below((op.operands[0].sizes[op.attributes["parameters"]["dim"]],))),
    "topk": (1, lambda op: _Below((op.operands[0].sizes[op.attributes["parameters"]["dim"]],))),
    "nms": (0, lambda op: _Below((op.operands[0].sizes[0],))),
    "repeated": (0, lambda op: _Below((op.operands[0].sizes[0],))),
    "unique": (1, lambda op: _Below((op.results[-1],))),
    "unique_consecutive": (1, lambda op: _Below((op.results[-1],))),
}


def are_inside(b: Builder, index: Tensor, size: SizeLike) -> bool:
    """Whether all elements of a tensor of indices are known to be from 0 to below a size."""
    found = _below(b, index.value)
    return found is not None and all(_is_at_most(n, size) for n in found.sizes)


def is_as_made(b: Builder, value: Value) -> bool:
    """Whether the storage that a name stands for was made in this block, and nothing has been written into it so far."""
    root = views_of(value)[1]
    made = root.op
    if made is None or made.attributes.get("role") != "new" or made.block is not b.block:
        return False
    for op in reversed(b.block.ops):
        if op is made:
            return True
        if any(inner.attributes.get("role") == "write" and _may_be(b, inner.operands[0], root) for inner in walk([op])):
            return False
    return False


def _may_be(b: Builder, written: Value, root: Value) -> bool:
    """Whether a write may change a storage that the program has made."""
    own = views_of(written)[1]
    if own is root:
        return True
    if own.op is None:
        return own.block is not b.top  # what a block takes may be any; an argument is memory of the caller
    return bool(own.op.blocks)


def _is_at_most(number, size: SizeLike) -> bool:
    if isinstance(size, Num):
        return number is size.value
    most = most_of(number)
    return most is not None and most <= size


def _below(b: Builder, value: Value) -> Optional[_Below]:
    """Below what the elements of a value or of a storage are."""
    op = value.op
    if op is None:
        return None
    if op.kind == "step":
        return _of_step(b, op, op.results.index(value))
    role = op.attributes.get("role")
    if role == "read":
        return _below(b, op.operands[0])
    if role == "new":
        return _below(b, op.operands[0]) if is_as_made(b, value) else None
    if role == "view":
        found = _below(b, op.operands[0])
        return found if found is None else _of_view(found, op)
    if role == "index":
        return _of_elements(b, op.operands[0], _dims_of(op), len(value.sizes))
    return None


def _of_step(b: Builder, op: Op, at: int) -> Optional[_Below]:
    name = op.attributes["name"]
    if name in ("take", "pick"):
        return _of_elements(b, op.operands[0], op.attributes["parameters"]["dims"], len(op.results[0].sizes)) if at == 0 else None
    which, below = _STEPS.get(name, (None, None))
    return below(op) if at == which else None


def _dims_of(op: Op) -> List[int]:
    text = op.pieces[2]
    return [int(d) for d in text[1 : text.index("]")].split(", ")]


def _of_elements(b: Builder, source: Value, dims: Sequence[int], rank: int) -> Optional[_Below]:
    """Of elements at indices: those of the source; a last dimension that is not indexed stays the last one."""
    found = _below(b, source)
    if found is None or found.column is None:
        return found
    last = len(source.sizes) - 1
    return _Below(found.sizes, rank - 1) if found.column == last and list(dims) == list(range(len(dims))) and last not in dims else None


def _of_view(found: _Below, op: Op) -> Optional[_Below]:
    """Of a view: the same, with the column where the view has it."""
    column, numbers, step = found.column, op.attributes["numbers"], op.attributes["step"]
    if column is None:
        return found
    if step == "select":
        d, at = numbers
        if d != column:
            return _Below(found.sizes, column - (d < column))
        return _Below((found.sizes[at],)) if isinstance(at, int) and -len(found.sizes) <= at < len(found.sizes) else None
    if step in ("slice", "narrow"):
        return found if numbers[0] != column else None
    if step == "permute":
        return _Below(found.sizes, list(numbers).index(column))
    if step == "unsqueeze":
        return _Below(found.sizes, column + (numbers[0] <= column))
    return None
