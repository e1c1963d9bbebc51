# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How results lie in memory in PyTorch. That decides whether its `contiguous`, `reshape` and kin give views or copies of them."""

from __future__ import annotations

from typing import Iterator, List, Optional, Sequence, Tuple

from ..frontend.values import Complex, Mono, NamedResult, Num, Tensor, open_strides
from ..ir.builder import Builder
from ..ir.operations import views_of
from ..ir.views import copied
from ..problems import Problem

#: Groups whose operators PyTorch computes by its iterator over elements: results lie as operands do.
_BY_ELEMENTS = ("Element-wise", "Activations", "Special functions", "Element types")
#: Other operators whose results lie so, and those of the groups whose results are dense.
_AS_OPERANDS = frozenset("""
        as_tensor clone complex conj empty_like flip fliplr flipud full_like index_fill index_put normalize ones_like polar resolve_conj resolve_neg zeros_like""".split())  # fmt: skip
_DENSE = frozenset("logsigmoid masked_fill rrelu".split())
#: Operators and groups whose results may lie in any way, and such where that is so for operands that are not dense.
_OPEN = frozenset("argwhere einsum kthvalue median nonzero quantile rot90 tensorinv unravel_index".split())
_OPEN_GROUPS = ("Library steps", "Linear algebra")
_OPEN_LATER = frozenset("""
        addr angle binary_cross_entropy_with_logits diagonal_scatter diff gru_cell kl_div kron local_response_norm max min put rpow select_scatter slice_scatter sort""".split())  # fmt: skip
_OPEN_LATER_GROUPS = ("Losses", "Recurrent layers")


def placed(name: str, group: str, operands: Sequence, result, kept: bool = True):
    """A result with the strides that it has in PyTorch. `kept`: nothing asks for other ones than the operands'."""
    tensors = list(_tensors(operands))
    if isinstance(result, NamedResult):
        return NamedResult([placed(name, group, operands, x, kept) for x in result], result.names, result.kind)
    if type(result) in (tuple, list):
        return type(result)([placed(name, group, operands, x, kept) for x in result])
    if not isinstance(result, (Tensor, Complex)) or _is_of(result, tensors):
        return result
    whole = result if isinstance(result, Tensor) else result.real
    last = name.split(".")[1] if name.startswith("aten.") else name.rpartition(".")[2]
    last = "rpow" if last == "pow" and not isinstance(operands[0], (Tensor, Complex)) else last
    strides = _strides(last, group, tensors, whole, all(map(_is_plain, operands_of(operands))) or not kept)
    if isinstance(result, Complex):
        return Complex(*(_with(x, [s * Mono(2) for s in strides]) for x in result.parts))
    return result if strides is whole.strides else _with(whole, strides)


def _strides(last: str, group: str, tensors: Sequence[Tensor], whole: Tensor, is_plain: bool) -> Sequence[Mono]:
    if last in _OPEN or group in _OPEN_GROUPS or last == "where" and len(tensors) == 1:
        return open_strides(whole.rank, True)
    if is_plain:
        return whole.strides
    if last in _OPEN_LATER or group in _OPEN_LATER_GROUPS:
        return open_strides(whole.rank)
    if last in _AS_OPERANDS or group in _BY_ELEMENTS and last not in _DENSE:
        return by_elements(whole.sizes, tensors[::-1] if last == "rsub" else tensors)
    return whole.strides


def laid_out_otherwise(b: Builder, name: str, operands: Sequence, result):
    """A result in another order of memory than compiled programs have: it is an operand only where that lies so already, which is not known."""
    if not isinstance(result, Tensor):
        raise Problem(f"{name}: memory_format of complex tensors is not supported")
    made = copied(b, result, name, True) if _is_of(result, list(_tensors(operands))) else result
    return _with(made, open_strides(made.rank))


def read(x: Tensor, result: Tensor) -> Tensor:
    """What elements of `x` at indices are: of what is not dense they may lie in any way."""
    return result if _is_of(result, [x]) or x.is_contiguous() or result.rank < 2 else _with(result, open_strides(result.rank))


def wide(x: Tensor) -> Tensor:
    """A new tensor as a part of a complex one, of which each element is two numbers."""
    return _with(x, [s * Mono(2) for s in x.strides])


def _with(x: Tensor, strides: Sequence[Mono]) -> Tensor:
    made = Tensor(x.value, x.dtype, x.sizes, strides, x.own, x.overlaps)
    made.weak = x.weak
    return made


def operands_of(items) -> Iterator:
    """The tensors and complex tensors in operands."""
    for x in items:
        if isinstance(x, (Tensor, Complex)):
            yield x
        elif isinstance(x, (tuple, list)):
            yield from operands_of(x)


def _tensors(items) -> Iterator[Tensor]:
    return (x if isinstance(x, Tensor) else x.real for x in operands_of(items))


def _is_plain(x) -> bool:
    return x.is_contiguous() is True


def _is_of(result, tensors: Sequence[Tensor]) -> bool:
    """Whether a result is one of the operands, or a view of it."""
    root = views_of((result if isinstance(result, Tensor) else result.real).value)[1]
    return any(views_of(x.value)[1] is root for x in tensors)


def by_elements(sizes: Sequence, operands: Sequence[Tensor]) -> Tuple[Mono, ...]:
    """The strides of a new result of ATen's iterator over elements: its dimensions are in the order of the operands' strides."""
    rank, wide_ = len(sizes), [_strides_for(sizes, x) for x in operands]
    order = list(range(rank))[::-1]  # from the innermost on
    for at in range(1, rank):
        here = at
        for other in range(at - 1, -1, -1):
            swap = _compared(sizes, wide_, order[other], order[here])
            if swap is None:
                return open_strides(rank)
            if swap > 0:
                order[other], order[here] = order[here], order[other]
                here = other
            elif swap < 0:
                break
    strides: List[Mono] = [Mono(1)] * rank
    step = Mono(1)
    for d in order:
        strides[d] = step
        step = step * (Mono(1) if sizes[d] == 0 else Mono.of(sizes[d]))
    return tuple(strides)


def _strides_for(sizes: Sequence, x: Tensor) -> List[Mono]:
    """The strides of an operand in the result's dimensions: 0 where it is repeated."""
    own = [Mono(0) if n == 1 and not (isinstance(size, int) and size == 1) else s for n, s, size in zip(x.sizes[::-1], x.strides[::-1], sizes[::-1])]
    return [Mono(0)] * (len(sizes) - len(own)) + own[::-1]


def _compared(sizes: Sequence, operands: Sequence[List[Mono]], first: int, second: int) -> Optional[int]:
    """Below 0 where the first dimension is the inner one of both, above 0 where it is the outer one; None where that is not known."""
    for strides in operands:
        p, q = strides[first], strides[second]
        if not p.factor or not q.factor:
            continue
        if p != q:
            return _less(p, q)
        if any(isinstance(sizes[d], Num) for d in (first, second)):
            return None
        if sizes[first] > sizes[second]:
            return 1
    return 0


def _less(p: Mono, q: Mono) -> Optional[int]:
    for low, high, found in ((p, q, -1), (q, p, 1)):
        left = list(high.atoms)
        if low.factor <= high.factor and all(a in left and not left.remove(a) for a in low.atoms) and min((*low.atoms, *high.atoms), default=0) >= 0:
            return found
    return None
