# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Divides a program into segments, which are compiled, and what runs between them: library steps, and control flow around those.

A segment is a function of values alone. Storage that it may write comes in as a value and goes out as another; the runner
copies that back. A view that crosses a boundary is made again from its root on the other side.
"""

from __future__ import annotations

import json
from typing import Callable, Collection, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from ..ir.counters import prove_counters
from ..ir.dtypes import int64
from ..ir.operations import Block, Op, Printer, Type, Value, most_of, views_of, walk
from .levels import levelled


class Segment:
    """Operations that are compiled as one function."""

    def __init__(self, ops: List[Op]):
        self.ops = ops
        self.inputs: List[Value] = []
        self.prologue: List[Op] = []
        self.outputs: List[Value] = []
        self.written: List[Value] = []
        self.compiled: Dict = {}

    name = "part"
    #: How a GPU's kernels are made of it: a mode of the phase `partition`, or "" for the compiler's default.
    partition = ""

    def parts(self) -> List[Op]:
        """Control flow at its outermost level."""
        return [op for op in self.ops if op.blocks]

    def cuts(self) -> List[Op]:
        """What makes storages of which parts of open size are named here: made before, the parts are storages for compiled code."""
        made = {op.results[0]: op for op in self.ops if op.attributes.get("role") == "new"}
        memo: Dict[Value, Set[Value]] = {}
        found: Dict[Op, None] = {}
        for op in self.ops:
            if op.attributes.get("role") == "view" and len(op.operands) > 1 and None in op.results[0].type.shape:
                found.update((made[root], None) for root in may_roots(op.operands[0], memo) if root in made)
        return list(found) if len(self.ops) > len(found) else []

    def parts_at_data(self) -> List[Op]:
        """The first part of open size that is made here, of a size that is computed here. Where a segment begins with it, the
        runner knows the size, and the part comes in as a storage."""
        for at, op in enumerate(self.ops):
            if op.attributes.get("role") == "view" and len(op.operands) > 1 and None in op.results[0].type.shape:
                before = set(self.ops[:at])
                if any(v.op in before for v in op.operands):
                    return [op]
        return []

    def overlaps(self, roots: Callable[[Value], Set[Value]]) -> List[Op]:
        """Where two storages come in that may overlap in part, one of them written: an operation that uses the second one of them.
        Compiled before it and from it on, neither sees the other."""
        written, inputs = set(self.written), set(self.inputs)
        names: Set[Value] = set()
        for op in self.ops:
            here = {self._name_of(v) for inner in walk([op]) for v in inner.uses() if v.type.kind == "mutable"} & inputs
            others = [(v, w) for v in here for w in names if w not in here and (v in written or w in written)]
            if any(roots(v) & roots(w) and not _are_rows(v, w) for v, w in others):
                return [op]
            names |= here
        return []

    def _name_of(self, value: Value) -> Value:
        """The storage that comes in, of a view that is made here."""
        while value not in self.inputs and value.op is not None and value.op.attributes.get("role") == "view":
            value = value.op.operands[0]
        return value

    def of_open_size(self) -> List[Op]:
        """Parts of storages from outside whose size is open, of which compiled code sees all where it is to see that part."""
        inside = set(walk(self.ops))
        views = (op for op in walk(self.ops) if op.attributes.get("role") == "view" and op.attributes["step"] in ("select", "slice", "narrow"))
        return [op for op in views if op.operands[0].op not in inside and None in op.operands[0].type.shape]

    def unproven(self) -> List[Op]:
        """Views at data that nothing says lie within bounds, or the control flow around them."""
        found = []
        for op in self.ops:
            if any(inner.attributes.get("proven") is False for inner in walk([op])):
                found.append(op)
        return found


class Control:
    """A loop or a condition that the runner goes through; `plans` are those of its blocks."""

    def __init__(self, op: Op, plans: List[List]):
        self.op, self.plans = op, plans


class Step:
    """A call of a library step."""

    def __init__(self, op: Op):
        self.op = op


class Adoption:
    """A storage that begins as what a library step gave, and nothing else has: the step's own memory."""

    def __init__(self, op: Op):
        self.op = op


def may_roots(value: Value, memo: Dict[Value, Set[Value]]) -> Set[Value]:
    """The storages that a name may stand for."""
    if value in memo:
        return memo[value]
    found: Set[Value] = set()
    seen: Set[Value] = set()
    work = [value]
    while work:
        v = work.pop()
        if v in seen:
            continue
        seen.add(v)
        work.extend(sources(v, found))
    memo[value] = found
    return found


def sources(v: Value, found: Optional[Set[Value]] = None) -> List[Value]:
    """What comes in by a name or a value: of a view, what it is of. Where nothing does, it is added to `found`."""
    found = set() if found is None else found
    op = v.op
    if op is None:
        parent = v.block.parent if v.block is not None else None
        if parent is None:
            found.add(v)
            return []
        at = v.block.args.index(v)
        if parent.kind == "for" and at == 0:
            found.add(v)  # the counter
            return []
        if parent.kind == "for":
            return [parent.operands[2 + at], parent.blocks[0].yields[at - 1]]
        if v.block is parent.blocks[0]:
            return [parent.operands[at], parent.blocks[1].yields[at]]
        return [parent.blocks[0].yields[at]]
    if op.kind == "text":
        if op.attributes.get("role") == "view":
            return [op.operands[0]]
        found.add(v)
        return []
    at = op.results.index(v)
    if op.kind == "if":
        return [b.yields[at] for b in op.blocks]
    if op.kind == "for":
        return [op.operands[3 + at], op.blocks[0].yields[at]]
    if op.kind == "while":
        return [op.blocks[0].yields[at]]
    found.add(v)
    return []


def _are_rows(v: Value, w: Value) -> bool:
    """Whether two names are rows of one storage: the same one, or apart."""
    def row_of(value: Value):
        op = value.op
        if op is None or op.attributes.get("role") != "view" or op.attributes["step"] != "select":
            return None
        return op.operands[0], op.attributes["numbers"][0]

    return row_of(v) is not None and row_of(v) == row_of(w)


def _is_constant(op: Optional[Op]) -> bool:
    return op is not None and op.kind == "text" and op.pure and not op.operands and op.results[0].type.kind == "scalar"


class Division:
    """Divides the operations of `top`.

    `apart`: control flow that the runner goes through, besides what must be.
    `alone`: operations that are segments of their own.
    `cuts`: operations with which a segment begins.
    `places`: views at known places that come into a segment as storages of their own as well.
    """

    def __init__(self, top: Block, apart: Collection[Op] = (), alone: Collection[Op] = (), cuts: Collection[Op] = (), places: Collection[Op] = ()):
        self.top, self.apart, self.alone, self.cuts, self.places = top, apart, alone, cuts, places
        #: Views at places that the runner knows: they come into a segment as storages of their own.
        self.hoisted: Set[Value] = set()
        self.hosted: Set[Op] = set()
        self.roots: Dict[Value, Set[Value]] = {}
        self.segments: List[Segment] = []
        self._mark(top)
        self._adopt(top)
        while True:
            self.segments = []
            self.home: Dict[Op, Segment] = {}
            self.hoisted = set()
            prove_counters(top, self.hosted)
            self.plan = self._plan(top)
            self._hoist()
            merged = self._exported_merges()
            if not merged:
                break
            for op in merged:
                self.hosted.add(op)
                for outer in _enclosing(op):
                    self.hosted.add(outer)
        self._complete()

    def roots_of(self, name: Value) -> Set[Value]:
        """The storages that a name may stand for."""
        return may_roots(name, self.roots)

    def _mark(self, block: Block) -> bool:
        any_here = False
        for op in block.ops:
            inner = False
            for b in op.blocks:
                inner |= self._mark(b)
            if op.kind == "step" or inner or op.blocks and op in self.apart:
                self.hosted.add(op)
                any_here = True
        return any_here

    def _adopt(self, top: Block) -> None:
        """Storages of results of steps that nothing else uses are the runner's: it knows views of them where it knows their places."""
        users: Dict[Value, int] = {}
        for value in [*top.yields, *(v for op in walk(top.ops) for v in op.uses())]:
            users[value] = users.get(value, 0) + 1
        for op in walk(top.ops):
            source = op.operands[0] if op.attributes.get("role") == "new" else None
            if source is not None and source.op is not None and source.op.kind == "step" and users[source] == 1 and source.op.block is op.block:
                self.hosted.add(op)
                self.hosted.update(_enclosing(op))

    def _plan(self, block: Block) -> List:
        nodes: List = []
        run: List[Op] = []

        def flush():
            if run and any(not _is_constant(op) and op.attributes.get("role") != "view" for op in run):
                segment = Segment(list(run))
                self.segments.append(segment)
                nodes.append(segment)
                for op in walk(run):
                    self.home[op] = segment
            run.clear()

        apart = self.hosted.union(self.alone)
        # (The order in which they run from here on: checks of sizes stand before what may rely on them.)
        block.ops = levelled(block, apart, lambda value: may_roots(value, self.roots))
        for op in block.ops:
            if op not in self.hosted:
                if op in self.alone or op in self.cuts:
                    flush()
                run.append(op)
                if op in self.alone:
                    flush()
                continue
            flush()
            if op.kind == "text":
                nodes.append(Adoption(op))
            else:
                nodes.append(Step(op) if op.kind == "step" else Control(op, [self._plan(b) for b in op.blocks]))
        flush()
        return nodes

    def _hoist(self) -> None:
        """Takes views at data that the runner knows out of segments: compiled code sees what lies there."""
        for op in walk(self.top.ops):
            if op.attributes.get("role") == "view" and len(op.operands) > 1 and op not in self.home:
                self.hoisted.add(op.results[0])
        for segment in self.segments:
            inside = self._inside(segment)
            taken: Set[Op] = set()
            used, outermost = {v for op in walk(segment.ops) for v in op.uses()}, set(segment.ops)
            for op in walk(segment.ops):
                # (What stands under a condition may be out of bounds where that does not hold.)
                under = op.attributes.get("proven") is False and self.home.get(op.block.parent) is segment
                if op.attributes.get("role") != "view" or len(op.operands) < 2 and op not in self.places or under:
                    continue
                # (A part whose size is computed here, for others: no code is made that asks for it.)
                is_for_others = None in op.results[0].type.shape and op in outermost and op.results[0] not in used
                if not is_for_others and any(map(inside, op.operands[1:])):
                    continue
                chain = _known_views(op.operands[0], inside)
                is_outside = not inside(chain[-1].operands[0] if chain else op.operands[0])
                if is_for_others or is_outside:
                    self.hoisted.add(op.results[0])
                    for view in (op, *chain) if is_outside else (op,):
                        del self.home[view]
                        taken.add(view)
            if taken:
                _remove(segment, taken)
        for op in {op: None for segment in self.segments for op in self._rows_beside(segment)}:
            self.hoisted.add(op.results[0])
            _remove(self.home.pop(op), {op})

    def _rows_beside(self, segment: Segment) -> List[Op]:
        """Parts at known places of storages of which parts at data come in. As storages of their own they are disjoint
        from those or the same, while all of a storage overlaps each part of it."""
        views = [v.op for v in self._uses(segment) if v.op is not None and v.op.attributes.get("role") == "view"]
        roots = set().union(*(may_roots(op.operands[0], self.roots) for op in views if op.results[0] in self.hoisted), set())
        return [op for op in views if op in self.home and op.attributes["step"] == "select" and len(op.operands) == 1 and op.operands[0] in roots]

    # -- what a node needs from outside -----------------------------------------------------------------------------

    def _needs(self, values: Sequence[Value], inside: Callable[[Value], bool], prologue: Optional[List[Op]] = None) -> List[Value]:
        """Values that must be there; views and constants are made again, into `prologue`."""
        found: Dict[Value, None] = {}
        done: Set[Op] = set()

        def need(value: Value) -> None:
            if inside(value):
                return
            op = value.op
            if value in self.hoisted and prologue is not None:
                found[value] = None
            elif op is not None and (_is_constant(op) or op.attributes.get("role") == "view"):
                if op not in done:
                    done.add(op)
                    for operand in op.operands:
                        need(operand)
                    if prologue is not None:
                        prologue.append(op)
            else:
                found[value] = None

        for value in values:
            need(value)
        return list(found)

    def _uses(self, segment: Segment) -> List[Value]:
        return [v for op in walk(segment.ops) for v in op.uses()]

    def _inside(self, segment: Segment) -> Callable[[Value], bool]:
        def inside(value: Value) -> bool:
            if value.op is not None:
                return self.home.get(value.op) is segment
            parent = value.block.parent if value.block is not None else None
            return parent is not None and self.home.get(parent) is segment

        return inside

    def _host_uses(self) -> List[Value]:
        """What steps, hosted control flow and the results use."""
        found = list(self.top.yields)
        for op in walk(self.top.ops):
            if op in self.hosted:
                found.extend(op.uses())
        return found

    def _exported_merges(self) -> Set[Op]:
        """Control flow inside of segments whose merged names are written elsewhere: it has to be the runner's."""
        exported: Set[Value] = set()
        needs = list(self._needs(self._host_uses(), lambda _: False))
        for segment in self.segments:
            needs += self._needs(self._uses(segment), self._inside(segment))
            needs += self._needs([v for h in self.hoisted for v in h.op.operands], lambda _: False)
        for value in needs:
            if value.type.kind == "mutable" and value.op is not None and value.op.blocks and value.op in self.home:
                exported.add(value)
        if not exported:
            return set()
        found: Set[Op] = set()
        writes = [op for op in walk(self.top.ops) if op.attributes.get("role") == "write"]
        for value in exported:
            inner = set(walk([value.op]))
            outside = set().union(*(may_roots(w.operands[0], self.roots) for w in writes if w not in inner), set())
            if outside & may_roots(value, self.roots):
                found.add(value.op)
        return found

    def _complete(self) -> None:
        wanted: Set[Value] = set(self._needs(self._host_uses(), lambda _: False))
        wanted.update(self._needs([v for h in self.hoisted for v in h.op.operands], lambda _: False))
        for segment in self.segments:
            segment.prologue = []
            segment.inputs = self._needs(self._uses(segment), self._inside(segment), segment.prologue)
            wanted.update(segment.inputs)
        for segment in self.segments:
            defined = [r for op in segment.ops for r in op.results]
            segment.outputs = [v for v in defined if v in wanted]
            roots = set().union(*(may_roots(op.operands[0], self.roots) for op in walk(segment.ops) if op.attributes.get("role") == "write"), set())
            local = {v: may_roots(v, self.roots) for v in segment.inputs if v.type.kind == "mutable"}
            segment.written = [v for v, own in local.items() if own & roots]


def _known_views(value: Value, inside: Callable[[Value], bool]) -> List[Op]:
    """The views at known places in a segment of which a name is one, the last one first."""
    found: List[Op] = []
    while inside(value) and value.op is not None and value.op.attributes.get("role") == "view" and len(value.op.operands) == 1:
        found.append(value.op)
        value = value.op.operands[0]
    return found


def _remove(segment: Segment, ops: Collection[Op]) -> None:
    segment.ops = [op for op in segment.ops if op not in ops]
    for op in walk(segment.ops):
        for block in op.blocks:
            block.ops = [inner for inner in block.ops if inner not in ops]


def _enclosing(op: Op):
    block = op.block
    while block is not None and block.parent is not None:
        yield block.parent
        block = block.parent.block


# -- a segment's text ----------------------------------------------------------------------------------------------


def boundary_type(type_: Type) -> Type:
    """How a value crosses a boundary: as a tensor."""
    return Type("tensor", type_.dtype or int64, type_.shape)


class SegmentText:
    """A segment as a function of MLIR. `outputs` are the values that it returns, in order.

    `same`: storages that come in and are others that come in, whole: names of those. `held`: names of what a module holds from call to call.
    """

    def __init__(self, segment: Segment, locations: bool = True, same: Optional[Dict[Value, Value]] = None, held: Optional[Mapping[Value, str]] = None):
        self.segment, self.same, self.held = segment, same or {}, held or {}
        #: What callers call arguments, where that is known.
        self.names: Mapping[Value, str] = {}
        self.taken = [v for v in segment.inputs if v not in self.same]
        self.printer = Printer(locations=locations)
        self.results: List[Tuple[str, str]] = []
        #: Of storage that is written: the numbers of its argument and of its result.
        self.homes: List[Tuple[int, int]] = []
        self._text: Optional[str] = None
        self._inputs: Optional[List[Value]] = None
        self._equal: Optional[Dict[Value, Value]] = None
        self._numbers: Dict[Value, int] = {}
        #: The most that sizes that are data can be, and the least.
        self.bounds: Dict[int, int] = {}
        self.least: Dict[int, int] = {}

    def text(self) -> str:
        if self._text is None:
            self._text = self._write()
        return self._text

    def _write(self) -> str:
        segment, printer = self.segment, self.printer
        arguments, opening = self._arguments()
        printer.lines += opening
        printer.ops([*segment.prologue, *segment.ops], 1)
        for value in segment.outputs:
            self._result(value)
        for value in self.storages():
            self.homes.append((self.inputs().index(value), len(self.results)))
            self._result(value)
        body = "\n".join(printer.lines)
        types = ", ".join(t for _, t in self.results)
        values = ", ".join(n for n, _ in self.results)
        tail = f"  return {values} : {types}" if self.results else "  return"
        arrow = f" -> ({types})" if self.results else ""
        # Storage that is written may be where its last version lies.
        pairs = ", ".join(f"{argument}, {result}" for argument, result in self.homes)
        texts = [f'"n{number} <= {most}"' for number, most in sorted(self.bounds.items())]
        texts += [f'"n{number} >= {least}"' for number, least in sorted(self.least.items())]
        bounds = ", ".join(texts)
        attributes = [f"ft.bounds = #ft.bounds<{bounds}>"] * bool(bounds) + [f"tssa.writeback = array<i64: {pairs}>"] * bool(pairs)
        attributes += [f'ft.partition = "{segment.partition}"'] * bool(segment.partition)
        arrow += f" attributes {{{', '.join(attributes)}}}" if attributes else ""
        return f"func.func @{segment.name}({', '.join(arguments)}){arrow} {{\n{body}\n{tail}\n}}\n"

    def storages(self) -> List[Value]:
        """What is written, each storage once."""
        return list(dict.fromkeys(self.same.get(v, v) for v in self.segment.written))

    def _arguments(self):
        """Arguments, and the lines that make names of the program from them."""
        arguments, lines, sizes = [], [], {}
        for value in self.taken:
            for d, size in enumerate(value.sizes if value.type.kind != "scalar" else ()):
                if isinstance(size, Value):
                    sizes.setdefault(size, (value, d))
        for value in self.taken:
            type_ = boundary_type(value.type)
            if value.type.kind == "scalar" and value.type.dtype is None and value in sizes:
                continue
            plain = value.type.kind == "tensor"
            name = value.text() if plain else f"%in{value.number}"
            held = f" {{ft.held = {json.dumps(self.held[value])}}}" if value in self.held else ""
            said = f" loc({json.dumps(self.names[value])})" if value in self.names else ""
            arguments.append(f"{name}: {type_.text()}{held or self._dims(value)}{said}")
            lines += [] if plain else self._opened(value, name, type_)
        # (A view of all of it.)
        lines += [f"  {v.text()} = tssa.view {w.text()}[unsqueeze(0), select(0, 0)] : {w.type.text()} -> {v.type.text()}" for v, w in self.same.items()]
        known = [v for v in self.taken if v in sizes]
        first = []
        for value in known:
            home, d = sizes[value]
            source = home.text() if home.type.kind == "tensor" else f"%in{home.number}"
            first.append(f"  %d{value.number} = arith.constant {d} : index")
            first.append(f"  {value.text()} = tensor.dim {source}, %d{value.number} : {boundary_type(home.type).text()}")
        return arguments, first + lines

    def _dims(self, value: Value) -> str:
        if None not in value.type.shape:
            return ""
        if self._equal is None:
            self._equal, self._numbers = equal_sizes(self.segment.ops[0]) if self.segment.ops else ({}, {})
        names = []
        for size in value.sizes:
            if not isinstance(size, Value):
                names.append('""')
                continue
            first = self._equal.get(size, size)
            names.append(f'"n{first.number}"')
            for most in filter(None, (most_of(size), most_of(first))):
                self.bounds[first.number] = min(most, self.bounds.get(first.number, most))
            if first.least:
                self.least[first.number] = first.least
            if first in self._numbers:
                self.bounds[first.number] = self.least[first.number] = self._numbers[first]
        return f" {{etdg.dims = [{', '.join(names)}]}}"

    def _opened(self, value: Value, name: str, type_: Type) -> List[str]:
        if value.type.kind == "mutable":
            return [f"  {value.text()} = tssa.new {name} : {type_.text()}"]
        if value.type.dtype is not None:
            return [f"  {value.text()} = tensor.extract {name}[] : {type_.text()}"]
        return [f"  %e{value.number} = tensor.extract {name}[] : {type_.text()}", f"  {value.text()} = arith.index_cast %e{value.number} : i64 to index"]

    def _result(self, value: Value) -> None:
        lines, at = self.printer.lines, len(self.results)
        type_ = boundary_type(value.type).text()
        if value.type.kind == "tensor":
            self.results.append((value.text(), type_))
            return
        name = f"%out{at}"
        if value.type.kind == "mutable":
            lines.append(f"  {name} = tssa.read {value.text()} : {value.type.text()}")
        elif value.type.dtype is not None:
            lines.append(f"  {name} = tensor.from_elements {value.text()} : {type_}")
        else:
            lines.append(f"  %c{at} = arith.index_cast {value.text()} : index to i64")
            lines.append(f"  {name} = tensor.from_elements %c{at} : {type_}")
        self.results.append((name, type_))

    def inputs(self) -> List[Value]:
        """The values that are passed: sizes that inputs have anyway are not."""
        if self._inputs is None:
            sizes = {s for v in self.taken if v.type.kind != "scalar" for s in v.sizes if isinstance(s, Value)}
            self._inputs = [v for v in self.taken if not (v.type.kind == "scalar" and v.type.dtype is None and v in sizes)]
        return self._inputs


def equal_sizes(op: Op) -> Tuple[Dict[Value, Value], Dict[Value, int]]:
    """Sizes that are data and that checks before an operation have found equal: each with the one that stands for all of them.
    Second: the numbers that such sizes are, where a check says that."""
    found: Dict[Value, Value] = {}
    numbers: List[Tuple[Value, int]] = []

    def first(value: Value) -> Value:
        while value in found:
            value = found[value]
        return value

    here: Optional[Op] = op
    while here is not None and here.block is not None:
        for before in here.block.ops:
            if before is here:
                break
            if before.kind != "step" or before.attributes["name"] != "require_equal":
                continue
            known = [v.op.attributes["constant"] for v in before.operands if _is_number(v)]
            a, b = map(first, before.operands)
            if len(known) == 1:
                numbers.append((b if _is_number(before.operands[0]) else a, known[0]))
            elif not known and a is not b:
                found[b] = a
        here = here.block.parent
    return {value: first(value) for value in found}, {first(value): number for value, number in numbers}


def _is_number(value: Value) -> bool:
    return value.op is not None and "constant" in value.op.attributes


def aliased_text(segment: Segment, groups: List[List[Tuple[Value, int, Sequence[int], Sequence[int]]]]) -> str:
    """The segment where some storages that come in overlap: each group is one, and its names are views of that.

    A member of a group is (value, offset, sizes, strides).
    """
    members = {m[0]: (g, m) for g, group in enumerate(groups) for m in group}
    writer = SegmentText(segment)
    arguments, lines = [], []
    for g, group in enumerate(groups):
        type_ = f"?x{group[0][0].type.dtype.mlir}"
        arguments.append(f"%base{g}: tensor<{type_}>")
        lines.append(f"  %store{g} = tssa.new %base{g} : tensor<{type_}>")
    for value in segment.inputs:
        if value in members:
            g, (_, offset, sizes, strides) = members[value]
            numbers, opening = _as_numbers(value, offset, sizes, strides)
            lines += opening
            source = f"!tssa.tensor<?x{value.type.dtype.mlir}>"
            lines.append(f"  {value.text()} = tssa.view %store{g}[as_strided({numbers})] : {source} -> {value.type.text()}")
            continue
        type_ = boundary_type(value.type)
        plain = value.type.kind == "tensor"
        name = value.text() if plain else f"%in{value.number}"
        arguments.append(f"{name}: {type_.text()}")
        lines += [] if plain else writer._opened(value, name, type_)
    writer.printer.lines = lines
    writer.printer.ops([*segment.prologue, *segment.ops], 1)
    for value in [*segment.outputs, *(v for v in segment.written if v not in members)]:
        writer._result(value)
    for g, group in enumerate(groups):
        type_ = f"?x{group[0][0].type.dtype.mlir}"
        writer.printer.lines.append(f"  %last{g} = tssa.read %store{g} : !tssa.tensor<{type_}>")
        writer.results.append((f"%last{g}", f"tensor<{type_}>"))
    types = ", ".join(t for _, t in writer.results)
    values = ", ".join(n for n, _ in writer.results)
    body = "\n".join(writer.printer.lines)
    return f"func.func @{segment.name}({', '.join(arguments)}) -> ({types}) {{\n{body}\n  return {values} : {types}\n}}\n"


def _as_numbers(value: Value, offset: int, sizes, strides):
    """Numbers of `as_strided`: those of sizes that the type leaves open are values."""
    numbers, lines = [str(offset)], []
    for d, (size, known) in enumerate(zip(sizes, value.type.shape)):
        if known is not None:
            numbers.append(str(known))
            continue
        lines.append(f"  %s{value.number}_{d} = arith.constant {size} : index")
        numbers.append(f"%s{value.number}_{d}")
    return ", ".join([*numbers, *map(str, strides)]), lines


def roots_of_views(value: Value) -> Value:
    return views_of(value)[1]
