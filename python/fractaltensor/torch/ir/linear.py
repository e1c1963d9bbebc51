# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that are data as sums of others, and what is known of their signs: `T - 1 - i` is at least 0 where i counts below T."""

from __future__ import annotations

from typing import Collection, Dict, Mapping, Optional, Tuple

from .operations import Value
from ..frontend.values import Num, SizeLike

#: So many substitutions of counters by their limits; limits of limits end there.
_MOST_STEPS = 16


class Linear:
    """`constant` and the sum of `terms`, each value with its factor."""

    __slots__ = ("terms", "constant")

    def __init__(self, terms: Mapping[Value, int], constant: int):
        self.terms: Dict[Value, int] = {v: n for v, n in terms.items() if n}
        self.constant = constant

    def plus(self, other: "Linear", factor: int = 1) -> "Linear":
        terms = dict(self.terms)
        for value, count in other.terms.items():
            terms[value] = terms.get(value, 0) + factor * count
        return Linear(terms, self.constant + factor * other.constant)


def linear(number: SizeLike) -> Linear:
    """A number by sums, differences and products with constants; what is made otherwise stands for itself."""
    return _of_value(number.value) if isinstance(number, Num) else Linear({}, int(number))


def _of_value(value: Value) -> Linear:
    op = value.op
    if op is None or op.kind != "text" or not op.pieces:
        return Linear({value: 1}, 0)
    constant = op.attributes.get("constant")
    if isinstance(constant, int) and not isinstance(constant, bool):
        return Linear({}, constant)
    name = op.pieces[0]
    if name in ("arith.addi ", "arith.subi "):
        first, second = map(_of_value, op.operands)
        return first.plus(second, 1 if name == "arith.addi " else -1)
    if name == "arith.muli ":
        first, second = map(_of_value, op.operands)
        if not first.terms or not second.terms:
            factor, other = (first, second) if not first.terms else (second, first)
            return Linear({v: n * factor.constant for v, n in other.terms.items()}, other.constant * factor.constant)
    return Linear({value: 1}, 0)


def _extreme_in(form: Linear) -> Optional[Value]:
    """A minimum or maximum of two numbers in a sum."""
    return next((v for v in form.terms if v.op is not None and v.op.kind == "text" and v.op.pieces and v.op.pieces[0] in ("arith.minsi ", "arith.maxsi ")), None)


def _least_of_extreme(form: Linear, value: Value, known: tuple) -> Optional[int]:
    """What a sum with a minimum or maximum is at least: what it is with one of both numbers in its place, or with each."""
    factor = form.terms[value]
    rest = Linear({v: n for v, n in form.terms.items() if v is not value}, form.constant)
    ends = [least(rest.plus(_of_value(v), factor), *known) for v in value.op.operands]  # type: ignore[union-attr]
    if (value.op.pieces[0] == "arith.minsi ") == (factor > 0):  # type: ignore[union-attr]
        return None if None in ends else min(n for n in ends if n is not None)
    return max((n for n in ends if n is not None), default=None)


def least(form: Linear, counters: Collection[Value], limits: Mapping[Value, SizeLike], ranges: Mapping[Value, Tuple[int, int]]) -> Optional[int]:
    """What a sum is at least. `counters` go from 0 to below their limits; `ranges` has the least and the greatest of others."""
    extreme = _extreme_in(form)
    if extreme is not None:
        return _better(_least_of_extreme(form, extreme, (counters, limits, ranges)), _by_ranges(form, ranges))
    for _ in range(_MOST_STEPS):
        left = [v for v in form.terms if v in counters and v in limits]
        if not left:
            break
        # One that ends at another one comes first: of `i + j` with j below n - i, i goes away.
        counter = next((v for v in left if not any(v in linear(limits[w]).terms for w in left if w is not v)), left[0])
        factor = form.terms[counter]
        rest = Linear({v: n for v, n in form.terms.items() if v is not counter}, form.constant)
        # A factor below 0 makes the sum least where the counter is greatest.
        form = rest if factor > 0 else rest.plus(linear(limits[counter]).plus(Linear({}, -1)), factor)
    return _by_ranges(form, ranges)


def _better(a: Optional[int], b: Optional[int]) -> Optional[int]:
    return a if b is None else b if a is None else max(a, b)


def _by_ranges(form: Linear, ranges: Mapping[Value, Tuple[int, int]]) -> Optional[int]:
    found = form.constant
    for value, factor in form.terms.items():
        ends = ranges.get(value)
        if ends is None:
            return None
        found += factor * ends[0 if factor > 0 else 1]
    return found
