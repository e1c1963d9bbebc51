# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One compiled form of a function: for arguments of given types and sizes, and given Python objects."""

from __future__ import annotations

import itertools
import types
from typing import Any, Callable, Dict, FrozenSet, Iterator, List, Optional, Sequence, Set, Tuple

from .runtime import arrays, engines
from .frontend import attributes
from .ir import dtypes
from .ir.dtypes import DType
from .frontend.evaluator import Evaluator
from .frontend.given import note_arguments
from .frontend.grown import NeedsLists, is_written_elsewhere
from .plan import copies
from .ir.operations import forward_new, remove_dead, sink, text_of, walk
from .ir.lengths import LEAST, ArgumentSize, Dims, Origin, united
from .problems import NeedsUnrolling, Problem, error_of
from .runtime.runnable import WHOLE, Leaf, Runnable
from .runtime.running import Runner
from .plan.segments import SegmentText, may_roots
from .frontend.values import ARGUMENT, Complex, ListOfRows, NamedResult, Num, Poison, PyDict, PyList, Size, Tensor


class Program(Runnable):
    """`target` is called on `args` and `kwargs`, whose arrays are the leaves in order; `names` are how errors call them.

    `dims` has the lengths that the user names, `found` those that other calls have shown to be ones. `by_parts`: tensors whose sizes
    change with a loop are gone through part by part (`varying.py`); else such sizes are data, or the loop is unrolled. `notes_indices`:
    an index in a loop that is data is noted where it is out of range, so that the loop is compiled whole. `grows`: lists to which a loop
    appends are rows of a tensor (`grown.py`), but for those that grow at the places `listed`; those of integers with `counts` alone."""

    def __init__(
        self, target: Callable, args, kwargs, names: Dict[int, str], dims: Dims, engine: "engines.Engine", found: Optional[Dims] = None, by_parts: bool = True,
        notes_indices: bool = False, grows: bool = True, listed: FrozenSet = frozenset(), counts: bool = False,
    ):  # fmt: skip
        self.evaluator = ev = Evaluator(arrays.describe, grows, listed, counts)
        self.engine = engine
        #: Lengths of arguments' dimensions, by name; those of `found` are of sizes from `lengths.LEAST` on.
        self.dims = united(dims, found) if found else dims
        self.found: Dims = found or {}
        #: The sizes of the arguments that it was compiled with.
        self.sizes: Dict[str, Tuple[int, ...]] = {}
        #: Objects that the key of this form has by identity.
        self.keep = (args, kwargs)
        self.roots: List[Tensor] = []
        self.root_names: List[str] = []
        self.lengths: List[Tuple[int, int]] = []
        self.length_names: Dict[str, Num] = {}
        self.bounds = getattr(target, "bounds", {})
        ev.b.goes_by_parts, ev.b.notes_indices = by_parts, notes_indices
        ev.b.checked = engine.name != "interpret"
        ev.b.device = engine.memory.device_object()
        args, kwargs = [self._value(a, names) for a in args], {k: self._value(v, names) for k, v in kwargs.items()}
        value = self._evaluate(target, args, kwargs)
        self.most_grown = ev.most_grown
        #: Whether that made a difference.
        self.is_by_parts, self.has_indices = ev.b.is_by_parts, ev.b.has_indices
        self.captured = list(ev.captured.values())
        self.roots += [c.tensor for c in self.captured]
        self.root_names += [c.name.lstrip(".") for c in self.captured]
        self.guards = ev.guards
        #: The arguments' dimensions that loops range over.
        self.ranged: Set[Origin] = ev.ranged
        self._leaves: Dict = {}
        self.structure = self._result(value)
        self.rebound = [(r, self._result(r.value)) for r in ev.rebound.found.values()]
        copies.check(ev.b.top.ops, ev.b.copies)
        #: What may have been noticed while the program ran, after the results.
        self.sites = [(message, frames) for _, message, frames in ev.b.sites.values()]
        # The tensors themselves: nothing writes them any more. Most are one segment's own, where they are made beside their uses.
        ev.b.top.yields += [tensor.value for tensor, _, _ in ev.b.sites.values()]
        sink(ev.b.top, ev.b.site_ops)
        forward_new(ev.b.top)
        remove_dead(ev.b.top)
        self.division = engine.divide(ev.b.top)
        for segment in self.division.segments:
            segment.partition = getattr(target, "partition", "")
        self.site_values = [tensor.value for tensor, _, _ in ev.b.sites.values()]
        self.runner = Runner(self.division, engine, self.site_values, self._look_at)
        self.written = self._written()
        self.sources = self._sources()
        #: Whether calls of this form have been looked at for `direct_calls`.
        self.is_offered = False

    def _evaluate(self, target, args, kwargs):
        ev = self.evaluator
        try:
            value = ev.call(target, args, kwargs)
        except Problem as problem:
            ev.report(problem)
            value = None
        except NeedsUnrolling as need:
            ev.report(need.problem)
            value = None
        if ev.problems:
            note_arguments(ev.problems, target, args, kwargs)
            if ev.met_growth:
                raise NeedsLists
            raise error_of(ev.problems)
        if ev.grown and is_written_elsewhere(ev.b.top.ops, ev.buffers):
            raise NeedsLists
        return value

    # -- arguments ---------------------------------------------------------------------------------------------

    def _value(self, value, names):
        ev = self.evaluator
        if arrays.is_array(value):
            if id(value) in ev.given:
                return ev.given[id(value)]
            name = names.get(id(value), "argument")
            sizes = self._sizes(name, value)
            tensor = ev.argument(value, name, [*sizes, 2] if arrays.is_complex(value) else sizes)
            self.roots.append(tensor)
            self.root_names.append(name)
            whole = ev.whole(tensor, value)
            ev.given[id(value)] = ev.b.item(whole) if isinstance(value, arrays.NumberArgument) else whole
            return ev.given[id(value)]
        if isinstance(value, list):
            return PyList([self._value(x, names) for x in value], ARGUMENT)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return NamedResult([self._value(x, names) for x in value], value._fields, type(value))
        if isinstance(value, tuple):
            return tuple(self._value(x, names) for x in value)
        if isinstance(value, dict):
            return PyDict({k: self._value(x, names) for k, x in value.items()}, ARGUMENT)
        return ev.adopt(value, None)

    def _sizes(self, name: str, value):
        """The sizes of an argument; those that have names are lengths."""
        self.sizes[name] = tuple(map(int, value.shape))
        sizes: List[Any] = [ArgumentSize(n, [(len(self.roots), d)]) for d, n in enumerate(self.sizes[name])]
        named = self.dims.get(name)
        if named is None:
            return sizes
        if len(named) != len(sizes):
            raise Problem(f"dims names {len(named)} dimensions of '{name}', which has {len(sizes)}")
        for d, length in enumerate(named):
            if not length:
                continue
            if length not in self.length_names:
                least = LEAST if any(length in names for names in self.found.values()) else 0
                self.length_names[length] = self.evaluator.length(length, least)
                self.lengths.append((len(self.roots), d))
            sizes[d] = self.length_names[length]
        return sizes

    # -- results --------------------------------------------------------------------------------------------------------

    def _result(self, value):
        top, ev = self.evaluator.b.top, self.evaluator
        if isinstance(value, Tensor):
            for at, root in enumerate(self.roots):
                if root.value is value.value:
                    return Leaf("argument", at)
            if value.value not in self._leaves:
                top.yields.append(ev.b.read(value))
                self._leaves[value.value] = Leaf("tensor", len(top.yields) - 1, value.dtype)
            return self._leaves[value.value]
        if isinstance(value, Complex):
            return Complex(*map(self._result, value.parts))
        if isinstance(value, dtypes.ComplexType):
            return attributes.of_torch(value.name) or value
        if isinstance(value, Num):
            top.yields.append(value.value)
            return Leaf("number", len(top.yields) - 1)
        if isinstance(value, NamedResult):
            return NamedResult([self._result(x) for x in value], value.names, value.kind)
        if isinstance(value, ListOfRows):
            return ListOfRows(_numbered(value.like, itertools.count()), *(list(map(self._result, x)) for x in (value.columns, value.are_numbers, value.tail)))
        if isinstance(value, (tuple, list)):
            items = [self._result(x) for x in value]
            return items if isinstance(value, list) else Size(items) if isinstance(value, Size) else tuple(items)
        if isinstance(value, dict):
            return {k: self._result(x) for k, x in value.items()}
        if isinstance(value, ArgumentSize):
            return int(value)
        if isinstance(value, DType):
            return attributes.of_torch(value.name) or value
        if isinstance(value, Poison):
            raise AssertionError("what is wrong has been reported")
        return value

    def _sources(self) -> List[Tuple[int, int]]:
        known = {root.value: (at, WHOLE) for at, root in enumerate(self.roots)}
        known.update({number.value: place for number, place in zip(self.length_names.values(), self.lengths)})
        return [known[value] for value in self.evaluator.b.top.args]

    def _written(self) -> List[int]:
        """The roots that the program may write."""
        memo: Dict = {}
        writes = [op for op in walk(self.evaluator.b.top.ops) if op.attributes.get("role") == "write"]
        found = set().union(*(may_roots(op.operands[0], memo) for op in writes), set())
        return [at for at, root in enumerate(self.roots) if root.value in found]

    # -- looking ------------------------------------------------------------------------------------------------------------

    def is_current(self) -> bool:
        """Whether what was read from outside is still the same."""
        for getter, value in self.guards:
            try:
                now = getter()
            except Exception:  # noqa: BLE001 - it has gone
                return False
            if not is_still(now, value):
                return False
        for captured in self.captured:
            now = captured.getter()
            if now is not captured.array and (not arrays.is_array(now) or arrays.describe(now) != arrays.describe(captured.array)):
                return False
        return True

    def text(self) -> str:
        """The whole program before it is divided; library steps as `step`."""
        return text_of(self.evaluator.b.top.ops)

    def segments(self) -> List[str]:
        """The text of each function that is compiled."""
        return [SegmentText(s, locations=False).text() for s in self.division.segments]

    def segments_after(self, phase: str) -> List[str]:
        """Each function that is compiled as it is after a phase: "ft" (without mutation), "etdg", "reorder", ..."""
        return [engines.text_after(text, phase) for text in self.segments()]

    def launches(self, target: str = "sm_90a") -> List[int]:
        """How many kernels each function that is compiled launches on a GPU, by its plan, which needs no GPU; loops of a plan are counted once."""
        return [engines.launches_of(text, target) for text in self.segments()]

    def all_ops(self) -> Iterator:
        """The operations of the whole program, those inside of control flow, too."""
        return walk(self.evaluator.b.top.ops)

    def steps(self) -> List[str]:
        """The library steps that the program needs."""
        return sorted({op.attributes["name"] for op in walk(self.evaluator.b.top.ops) if op.kind == "step"})


def _numbered(like, numbers: Iterator[int]):
    """The form of an item with the numbers of its parts in their places."""
    if not isinstance(like, tuple):
        return next(numbers)
    items = [_numbered(x, numbers) for x in like]
    return NamedResult(items, like.names, like.kind) if isinstance(like, NamedResult) else tuple(items)


def is_still(now, value) -> bool:
    """Whether what is read from outside is what it was; methods and what properties give are objects that are made anew."""
    if now is value:
        return True
    if type(now) is not type(value):
        return False
    if isinstance(now, (bool, int, float, str)):
        return now == value or now != now and value != value
    if isinstance(now, (types.MethodType, types.BuiltinMethodType)):
        return now == value
    if isinstance(now, (tuple, list)):
        return len(now) == len(value) and all(map(is_still, now, value))
    if isinstance(now, dict):
        return list(now) == list(value) and all(is_still(now[k], value[k]) for k in now)
    return False


def named_leaves(value, name: str, found: Optional[Dict[int, str]] = None) -> Dict[int, str]:
    """How errors call the arrays inside of an argument."""
    found = {} if found is None else found
    if arrays.is_array(value):
        found.setdefault(id(value), name)
    elif isinstance(value, (tuple, list)):
        for i, x in enumerate(value):
            named_leaves(x, f"{name}[{i}]", found)
    elif isinstance(value, dict):
        for k, x in value.items():
            named_leaves(x, f"{name}[{k!r}]", found)
    return found
