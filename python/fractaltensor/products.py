# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of elements: matmul and einsum.

f16 and bf16 products accumulate in f32 and round once. A transposed operand is read through the
product's map; nothing is copied.
"""

from __future__ import annotations

from typing import Dict, Sequence, Tuple

from .elementwise import as_tensor, full_of, multiply, same_dtype
from .errors import DTypeError, ShapeError
from .shaping import _reshape, transpose
from .source import here
from .trace import decide, wrap_value
from .types import Extent, TensorType


def _check_product(a, b, what: str) -> None:
    dtype = same_dtype([a, b], what)
    if dtype.is_bool:
        raise DTypeError(f"{what} of bool: convert first, x.to(ft.i32)", here())


def _untransposed(x):
    """The operand of a transpose and the order of its axes, or the value itself."""
    op = x._value.op
    if op is not None and op.kind == "transpose":
        return wrap_value(x._trace, op.operands[0]), op.attributes["permutation"]
    return x, tuple(range(x.type.rank))


def _contract(letters: Sequence[str], operands, result: str, extents: Dict[str, Extent], what: str):
    """A product with one letter per loop: the sum over the letters that `result` lacks."""
    out_shape = [extents[c] for c in result]
    start = full_of(out_shape, 0, operands[0].type.dtype)
    loops = result + "".join(c for c in extents if c not in result)
    sources, maps = [], []
    for operand, names in zip(operands, letters):
        source, permutation = _untransposed(operand)
        reordered = [""] * len(names)
        for to, from_ in enumerate(permutation):
            reordered[from_] = names[to]
        sources.append(source)
        maps.append("".join(reordered))
    trace = operands[0]._trace
    (value,) = trace.emit(
        "product", [*sources, start], [TensorType(operands[0].type.dtype, out_shape)],
        name=what, loops=loops, maps=(*maps, result), from_zero=True,
    )
    return value


def matmul(x1, x2):
    """``x1 @ x2`` as in NumPy: matrices, vectors, and leading axes that broadcast."""
    a, b = as_tensor(x1, "matmul"), as_tensor(x2, "matmul")
    _check_product(a, b, "matmul")
    if a.type.rank == 0 or b.type.rank == 0:
        raise ShapeError(f"matmul of {a.type} and {b.type}: a number is multiplied with *", here())
    left = "k" if a.type.rank == 1 else "mk"
    right = "k" if b.type.rank == 1 else "kn"
    inner_a, inner_b = a.type.shape[-1], b.type.shape[-1 if b.type.rank == 1 else -2]
    if inner_a != inner_b:
        decide(inner_a, inner_b)
        raise ShapeError(f"matmul of {a.type} and {b.type}: the inner extents {inner_a} and {inner_b} differ", here())
    batch = _batch(a.type.shape[: -len(left)], b.type.shape[: -len(right)], a, b)
    names = "abcdefgh"[: len(batch)]
    extents = dict(zip(names, batch))
    operands, letters = [], []
    for tensor, own in ((a, left), (b, right)):
        for name, extent in zip(own, tensor.type.shape[-len(own) :]):
            extents[name] = extent
        # A leading axis that is missing, or 1 where the other has more, is no axis of this operand.
        lead = tensor.type.shape[: -len(own)]
        kept = [(n, e) for n, e in zip(names[len(names) - len(lead) :], lead) if e == extents[n]]
        operands.append(_reshape(tensor, tuple(e for _, e in kept) + tensor.type.shape[-len(own) :]))
        letters.append("".join(n for n, _ in kept) + own)
    result = names + left[:-1] + right[1:]
    return _contract(letters, operands, result, extents, "matmul")


def _batch(a: Tuple, b: Tuple, x, y) -> Tuple:
    from .elementwise import broadcast_shapes

    return broadcast_shapes([a, b], "matmul", [x.type, y.type]) if a or b else ()


def dot(x1, x2):
    """The inner product of two vectors; matmul otherwise."""
    a, b = as_tensor(x1, "dot"), as_tensor(x2, "dot")
    return multiply(a, b) if a.type.rank == 0 or b.type.rank == 0 else matmul(a, b)


def outer(x1, x2):
    """All products of two vectors: rank 2."""
    a, b = as_tensor(x1, "outer"), as_tensor(x2, "outer")
    if a.type.rank != 1 or b.type.rank != 1:
        raise ShapeError(f"outer takes vectors, found {a.type} and {b.type}", here())
    return multiply(_reshape(a, (*a.type.shape, 1)), b)


def linear(x, weight, bias=None):
    """``x @ weight.T + bias``, weights as in PyTorch: outputs x inputs."""
    result = matmul(x, transpose(weight))
    return result if bias is None else result + bias


def einsum(subscripts: str, *operands):
    """Einstein's notation over one or two elements: ``einsum("mk,nk->mn", q, k)``."""
    from .reductions import sum_

    text = subscripts.replace(" ", "")
    inputs, arrow, result = text.partition("->")
    names = inputs.split(",")
    tensors = [as_tensor(o, "einsum") for o in operands]
    if len(names) != len(tensors) or len(tensors) not in (1, 2):
        raise ShapeError(f"einsum {subscripts!r}: {len(names)} subscripts for {len(tensors)} tensors; one or two are supported", here())
    extents: Dict[str, Extent] = {}
    for own, tensor in zip(names, tensors):
        if not own.isalpha() and own or len(own) != tensor.type.rank:
            raise ShapeError(f"einsum {subscripts!r}: '{own}' does not name the {tensor.type.rank} axes of {tensor.type}", here())
        if len(set(own)) != len(own):
            raise ShapeError(f"einsum {subscripts!r}: a letter twice in '{own}' (a diagonal) is not supported", here())
        for letter, extent in zip(own, tensor.type.shape):
            if extents.setdefault(letter, extent) != extent:
                decide(extents[letter], extent)
                raise ShapeError(f"einsum {subscripts!r}: '{letter}' is {extents[letter]} and {extent}", here())
    if not arrow:
        joined = "".join(names)
        result = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    if len(set(result)) != len(result) or any(c not in extents for c in result):
        raise ShapeError(f"einsum {subscripts!r}: '{result}' names each axis of the result once, from the operands", here())
    if len(tensors) == 1:
        own = names[0]
        reduced = sum_(tensors[0], [i for i, c in enumerate(own) if c not in result]) if set(own) - set(result) else tensors[0]
        left = [c for c in own if c in result]
        return transpose(reduced, tuple(left.index(c) for c in result)) if left else reduced
    _check_product(*tensors, "einsum")
    # Axes of one operand alone that the result lacks are summed before the product.
    ready, letters = [], []
    for index, (own, tensor) in enumerate(zip(names, tensors)):
        alone = [i for i, c in enumerate(own) if c not in result and c not in names[1 - index]]
        ready.append(sum_(tensor, alone) if alone else tensor)
        letters.append("".join(c for i, c in enumerate(own) if i not in alone))
    used = {c: extents[c] for c in extents if any(c in own for own in letters)}
    return _contract(letters, ready, result, used, "einsum")
