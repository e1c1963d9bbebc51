# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program's plan as one function of Python, written when the program is first run.

A program of many short parts spends its time between them: where a value is, whether an array is dense, which function is a step's. All
that is known before is looked up once, as the function is written. Values are its local variables, and control flow is Python's. Parts are
called with structs of which only addresses change (:mod:`part_code`), and views are made where they are first used.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

from ..ir.builder import NOTHING
from ..ir.operations import Op, Value
from .part_code import PartCode, Places, Scope, style_of
from ..problems import RunError
from .segments import Adoption, Control, Segment, Step

#: What a traceback calls the text of a plan.
FILE = "<a plan of "
#: Before what may fail: the number of its place.
_MARK = "#: "

#: Python takes 100 levels of indentation and 20 of loops: from this one on a block is a function of its own.
_DEEP = 12


class PlanCode:
    """Writes the function of a plan. `asked` is what values are used for, as a first writing has found it: "part", "step" or "other"."""

    def __init__(self, runner, asked: Optional[Dict[Value, set]] = None):
        self.runner, self.memory, self.engine = runner, runner.memory, runner.engine
        self.known_asked, self.asked = asked, {}
        self.lines: List[str] = []
        self.depth = 2
        self.functions: List[str] = []
        #: What the text names that is no variable of it.
        self.objects: Dict[str, Any] = {"RunError": RunError}
        self._named: Dict[int, str] = {}
        self.scopes = [Scope()]
        #: Parts that are called through structs, and what a function keeps of them.
        self.parts: List[PartCode] = []
        self.opening: List[str] = []
        self.places = Places()
        self.style = style_of(self)
        self._counted: List[Dict[str, int]] = [{}]
        #: Places in the program of parts and steps; none where they are not stored.
        self.frames: List[tuple] = []

    # -- text ---------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append(" " * self.depth + text)

    def object(self, thing, kind: str = "k") -> str:
        """The name of an object of Python."""
        name = self._named.get(id(thing))
        if name is None:
            name = self._named[id(thing)] = f"{kind}_{len(self.objects)}"
            self.objects[name] = thing
        return name

    def mark(self, frames) -> None:
        """What follows stands at this place of the program."""
        self.line(f"{_MARK}{len(self.frames)}")
        self.frames.append(tuple(frames))

    def literal(self, value) -> str:
        return repr(value) if value is None or type(value) in (bool, int, str) else self.object(value)

    def count(self, what: str, number: int = 1) -> None:
        self._counted[-1][what] = self._counted[-1].get(what, 0) + number

    # -- values ---------------------------------------------------------------------------------------------------------

    def bind(self, value: Value) -> str:
        """A value's variable, known from here on in this block."""
        name = f"v{value.number}"
        self.scopes[-1].names[value] = name
        return name

    def bind_address(self, value: Value) -> str:
        """The variable of the address of an array that stays where it is."""
        name = self.scopes[-1].names["address", value] = f"q{value.number}"
        return name

    def find(self, value) -> Optional[str]:
        """The variable of a value, or of ("address", value)."""
        for at in range(len(self.scopes) - 1, -1, -1):
            name = self.scopes[at].names.get(value)
            if name is not None:
                for scope in self.scopes[at + 1 :]:
                    if scope.free is not None:
                        scope.free[name] = None
                return name
        return None

    def is_asked(self, value: Value, *uses: str) -> bool:
        """Whether a value is used at all, or for one of these."""
        if self.known_asked is None:
            return True
        found = self.known_asked.get(value, ())
        return any(use in found for use in uses) if uses else bool(found)

    def get(self, value: Value, use: str = "other") -> str:
        """The variable of a value; views and constants are made from what is there."""
        self.asked.setdefault(value, set()).add(use)
        name = self.find(value)
        if name is not None:
            return name
        op = value.op
        if op is not None and op.attributes.get("role") == "view":
            return self._view(value, op)
        if op is not None and "constant" in op.attributes:
            return self.literal(op.attributes["constant"])
        self.line("missing()")
        return "None"

    def number(self, value: Value) -> str:
        """What the host has to know of a value."""
        name = self.get(value)
        return name if self._is_number(value) else f"number({name}, None)"

    def _is_number(self, value: Value) -> bool:
        return self.style.knows_numbers and value.type.kind == "scalar" or self.places.is_number(value)

    def _view(self, value: Value, op: Op) -> str:
        step, numbers = op.attributes["step"], op.attributes["numbers"]
        known = [self.number(n) if isinstance(n, Value) else repr(n) for n in numbers]
        base = self.get(op.operands[0], "part" if self.is_asked(value, "part") else "other")
        self.places.view(value, op.operands[0])
        name = self.bind(value)
        index = self.style.view(op.operands[0].type.shape, step, numbers)
        if index is None:
            made = _viewer(self.memory, step, op.frames, op.attributes.get("said"))
            self.line(f"{name} = {self.object(made)}({', '.join([base, *known])})")
        else:
            self.line(f"{name} = {base}{index}")
        return name

    # -- nodes ----------------------------------------------------------------------------------------------------------

    def nodes(self, nodes: Sequence) -> None:
        for node in nodes:
            if isinstance(node, Segment):
                self._segment(node)
            elif isinstance(node, Step):
                self._step(node.op)
            elif isinstance(node, Adoption):
                self._adopt(node.op)
            else:
                getattr(self, "_" + node.op.kind)(node)

    def _segment(self, segment: Segment) -> None:
        self.count("segments")
        if not self.engine.is_compiled(segment):
            self.count("interpreted")
        self.mark(segment.ops[0].frames if segment.ops else ())
        PartCode(self, segment).write()

    def _adopt(self, op: Op) -> None:
        source = self.get(op.operands[0], "part" if self.is_asked(op.results[0], "part") else "other")
        self.places.same(op.results[0], op.operands[0])
        self.line(f"{self.bind(op.results[0])} = {source}")
        address = self.find(("address", op.operands[0]))
        if address is not None:
            self.scopes[-1].names["address", op.results[0]] = address

    def _step(self, op: Op) -> None:
        self.count("steps")
        self.mark(op.frames)
        operands = [self.style.operand(v, self.get(v, "step")) for v in op.operands]
        parameters = [f"{name}={self.literal(value)}" for name, value in op.attributes["parameters"].items()]
        name = op.attributes["name"]
        self.line(f"f = steps[{name!r}]" if name in self.runner.steps else f"f = step({name!r})")
        self.line("try:")
        self.line(f" r = f({', '.join([*operands, *parameters])})")
        if op.results:
            # Anyone who replaces one of our steps answers for what its results are.
            self.line(f" if f not in ours: r = strange({self.object(op)}, r)")
        self.line("except RunError as error:")
        said = op.attributes.get("said")
        self.line(f" raise error{f'.of_dimensions({self.object(said)})' if said else ''}.at({self.object(op.frames)})")
        for at, value in enumerate(op.results):
            if self.is_asked(value):
                result = self.bind(value)
                self.line(f"{result} = r[{at}]")
                self.style.result(value, result)

    # -- control flow ---------------------------------------------------------------------------------------------------

    def _block(self, targets: Sequence[str], nodes: Sequence, yields: Sequence[Value], also: Callable = lambda: None) -> None:
        """A block that ends with its results in variables; `also` is written after its nodes."""
        if self.depth < _DEEP:
            self.depth += 1
            self._inside(Scope(), nodes, yields, also, lambda names: self._assign(targets, names))
            self.depth -= 1
            return
        lines, depth, self.lines, self.depth = self.lines, self.depth, [], 2
        scope = Scope(is_function=True)
        self._inside(scope, nodes, yields, also, lambda names: self.line(f"return {''.join(n + ', ' for n in names)}" if names else "return ()"))
        body, self.lines, self.depth = self.lines, lines, depth
        function = f"block_{len(self.functions)}"
        self.functions.append("\n".join([f" def {function}({', '.join(['c', *scope.free])}):", *body]))
        call = f"{function}({', '.join(['c', *scope.free])})"
        self.line(f" {''.join(t + ', ' for t in targets)} = {call}" if targets else f" {call}")

    def _inside(self, scope: Scope, nodes, yields, also: Callable, end: Callable) -> None:
        self.scopes.append(scope)
        self._counted.append({})
        self.nodes(nodes)
        also()
        names = [self.get(v) for v in yields]
        self._end_counts()
        end(names)
        self.scopes.pop()

    def _end_counts(self) -> None:
        for what, number in self._counted.pop().items():
            self.line(f"c.{what} += {number}")
        self.line("pass")

    def _assign(self, targets: Sequence[str], names: Sequence[str]) -> None:
        pairs = [(t, n) for t, n in zip(targets, names) if t != n]
        if pairs:
            self.line(f"{', '.join(t for t, _ in pairs)} = {', '.join(n for _, n in pairs)}")

    def _if(self, node: Control) -> None:
        op = node.op
        self.line(f"if {self.number(op.operands[0])}:")
        targets = [f"v{v.number}" for v in op.results]
        for at, (plan, block) in enumerate(zip(node.plans, op.blocks)):
            if at:
                self.line("else:")
            self._block(targets, plan, block.yields)
        for at, value in enumerate(op.results):
            self.places.merge(value, [block.yields[at] for block in op.blocks])
            self.bind(value)

    def _for(self, node: Control) -> None:
        op, block = node.op, node.op.blocks[0]
        start, stop, step = (self.number(v) for v in op.operands[:3])
        first = [self.get(v) for v in op.operands[3:]]
        carried = [self._carry(v) for v in block.args[1:]]
        self._assign(carried, first)
        self.places.number(block.args[0])
        self.line(f"for {self.bind(block.args[0])} in range({start}, {stop}, {step}):")
        self._block(carried, node.plans[0], block.yields)
        self._results(op, carried)

    def _while(self, node: Control) -> None:
        before, after = node.op.blocks
        first = [self.get(v) for v in node.op.operands]
        carried = [self._carry(v) for v in before.args]
        self._assign(carried, first)
        results, truth = [f"v{v.number}" for v in node.op.results], f"t{node.op.results[0].number if node.op.results else id(node.op)}"
        self.line("while True:")
        # (What a function of its own gives is its results: the condition is one of these.)
        self._block([*results, truth], node.plans[0], [*before.yields, before.condition])
        self.depth += 1
        self.line(f"if not {truth if self._is_number(before.condition) else f'number({truth}, None)'}: break")
        self._assign([self._carry(v) for v in after.args], results)
        self.depth -= 1
        self.line(" if True:")
        self.depth += 1
        self._block(carried, node.plans[1], after.yields, self._look)
        self.depth -= 1
        for value in node.op.results:
            self.places.unknown(value)
            self.bind(value)

    def _carry(self, value: Value) -> str:
        self.places.unknown(value)
        return self.bind(value)

    def _results(self, op: Op, names: Sequence[str]) -> None:
        targets = []
        for value in op.results:
            self.places.unknown(value)
            targets.append(self.bind(value))
        self._assign(targets, names)

    def _look(self) -> None:
        """What went wrong may be what would have ended the loop."""
        known = [v for v in self.runner.sites if self.find(v) is not None]
        if known and self.memory.knows_numbers:
            numbers = [f"number({self.find(v)}, None)" for v in known]
            self.line(f"n = [{', '.join(numbers)}]")
            self.line(f"if any(i != {NOTHING} for i in n): look({self.object(known)}, n)")

    # -- the whole ------------------------------------------------------------------------------------------------------

    def write(self) -> str:
        """The text of a function that makes the plan's function, with structs of its own."""
        top = self.runner.division.top
        names = []
        for value in top.args:
            self.places.argument(value)
            names.append(self.bind(value))
        self.style.begin()
        if names:
            self.line(f"{', '.join(names)}, = a")
        self.nodes(self.runner.division.plan)
        found = [self.get(v) for v in top.yields]
        self._end_counts()
        self.line(f"return [{', '.join(found)}]")
        return "\n".join(["def make(fresh):", *self.opening, *self.functions, " def run(c, a):", *self.lines, " return run", ""])


def _viewer(memory, step: str, frames, said) -> Callable:
    """Makes a view by one step; what goes wrong is said with its place."""
    view = memory.view

    def viewed(x, *numbers):
        try:
            return view(x, step, numbers)
        except RunError as error:
            raise error.of_dimensions(said).at(frames)

    return viewed


def function_of(runner) -> Callable:
    """What makes functions that run a plan: each takes counts and arguments, and serves one call at a time."""
    first = PlanCode(runner)
    first.write()
    code = PlanCode(runner, first.asked)
    text = code.write()
    scope = {**runner.helpers(), **code.objects}
    exec(compile(text, f"{FILE}{len(code.parts)} compiled parts>", "exec"), scope)  # noqa: S102 - a text of ours
    marks = ((at, line.strip()) for at, line in enumerate(text.split("\n"), 1))
    runner.places = {at: code.frames[int(line[len(_MARK) :])] for at, line in marks if line.startswith(_MARK)}
    make, parts = scope["make"], code.parts
    return lambda: make(lambda at: parts[at].fresh())
