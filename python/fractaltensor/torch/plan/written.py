# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A divided program as plain data (lists, dictionaries, numbers and texts, for JSON), and again from that.

What the runner goes through is kept: which part, step or loop comes after which, how names of storage are made from others, and
what the steps are called with. What compiled parts do inside is theirs.
"""

from __future__ import annotations

from typing import Any, Dict, List

from ...source import Frame
from ..ir import dtypes
from ..ir.dtypes import DType
from ..ir.operations import Block, Op, Type, Value
from .segments import Adoption, Control, Segment, SegmentText, Step

_DTYPES = {d.name: d for d in dtypes.ALL.values()}


def _type_out(type_: Type) -> List:
    return [type_.kind, None if type_.dtype is None else type_.dtype.name, list(type_.shape)]


def _type_in(data: List) -> Type:
    kind, dtype, shape = data
    return Type(kind, None if dtype is None else _DTYPES[dtype], shape)


def plain(value) -> Any:
    """A parameter of a step, or an attribute, as plain data."""
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, tuple):
        return {"tuple": [plain(x) for x in value]}
    if isinstance(value, list):
        return [plain(x) for x in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, (bool, float, str)):
        return value
    raise TypeError(f"{type(value).__name__} cannot be written")


def again(data) -> Any:
    if isinstance(data, dict):
        return _DTYPES[data["dtype"]] if "dtype" in data else tuple(again(x) for x in data["tuple"])
    return [again(x) for x in data] if isinstance(data, list) else data


class Writer:
    """Writes values, operations and plans; `tables()` has what they refer to."""

    #: Attributes of operations that the runner looks at.
    _ATTRIBUTES = ("role", "step", "constant", "name")

    def __init__(self):
        self._numbers: Dict[Any, int] = {}
        self._values: List = []
        self._ops: List = []
        self._blocks: List = []
        self._inside: set = set()

    def plan(self, nodes: List, segments: List[Segment]) -> List:
        for segment in segments:
            self._inside.update(id(op) for op in segment.ops)
        return [self._node(node, segments) for node in nodes]

    def _node(self, node, segments: List[Segment]) -> List:
        if isinstance(node, Segment):
            return ["part", segments.index(node)]
        if isinstance(node, Step):
            return ["step", self.op(node.op)]
        if isinstance(node, Adoption):
            return ["adopt", self.op(node.op)]
        return ["control", self.op(node.op), [[self._node(n, segments) for n in plan] for plan in node.plans]]

    def value(self, value: Value) -> int:
        if value not in self._numbers:
            self._numbers[value] = len(self._values)
            self._values.append(None)
            entry: Dict[str, Any] = {"type": _type_out(value.type)}
            self._values[self._numbers[value]] = entry
            op = value.op
            # A part's results are its own affair; what the runner makes again it has to know.
            if op is not None and id(op) not in self._inside or op is not None and (op.attributes.get("role") == "view" or "constant" in op.attributes):
                entry["of"] = [self.op(op), op.results.index(value)]
        return self._numbers[value]

    def op(self, op: Op) -> int:
        if op not in self._numbers:
            self._numbers[op] = len(self._ops)
            entry: Dict[str, Any] = {"kind": op.kind}
            self._ops.append(entry)
            entry.update({name: plain(op.attributes[name]) for name in self._ATTRIBUTES if name in op.attributes})
            if "numbers" in op.attributes:
                entry["numbers"] = [{"value": self.value(n)} if isinstance(n, Value) else plain(n) for n in op.attributes["numbers"]]
            if "parameters" in op.attributes:
                entry["parameters"] = {k: plain(v) for k, v in op.attributes["parameters"].items()}
            entry["operands"] = [self.value(v) for v in op.operands]
            entry["results"] = [self.value(v) for v in op.results]
            entry["blocks"] = [self._block(block) for block in op.blocks]
            entry["places"] = [list(frame) for frame in op.frames]
        return self._numbers[op]

    def _block(self, block: Block) -> int:
        self._blocks.append(entry := {})
        number = len(self._blocks) - 1
        entry["arguments"] = [self.value(v) for v in block.args]
        entry["yields"] = [self.value(v) for v in block.yields]
        entry["condition"] = None if block.condition is None else self.value(block.condition)
        return number

    def segment(self, segment: Segment) -> Dict:
        inputs = SegmentText(segment).inputs()
        return {"inputs": [self.value(v) for v in inputs], "outputs": [self.value(v) for v in segment.outputs], "written": [self.value(v) for v in segment.written]}

    def tables(self) -> Dict:
        return {"values": self._values, "operations": self._ops, "blocks": self._blocks}


class Reader:
    """Makes values, operations and plans from tables again."""

    def __init__(self, tables: Dict):
        self._tables = tables
        self.values = [Value(_type_in(entry["type"]), None, None) for entry in tables["values"]]
        self.ops = [self._op(entry) for entry in tables["operations"]]
        for value, entry in zip(self.values, tables["values"]):
            if "of" in entry:
                value.op = self.ops[entry["of"][0]]
        for op, entry in zip(self.ops, tables["operations"]):
            for block, data in zip(op.blocks, entry["blocks"]):
                self._fill(block, tables["blocks"][data])

    def _op(self, entry: Dict) -> Op:
        attributes = {name: again(entry[name]) for name in Writer._ATTRIBUTES if name in entry}
        if "numbers" in entry:
            attributes["numbers"] = [self.values[n["value"]] if isinstance(n, dict) and "value" in n else again(n) for n in entry["numbers"]]
        if "parameters" in entry:
            attributes["parameters"] = {k: again(v) for k, v in entry["parameters"].items()}
        frames = [Frame(*place) for place in entry["places"]]
        made = Op(entry["kind"], [self.values[v] for v in entry["operands"]], (), blocks=[Block() for _ in entry["blocks"]], frames=frames)
        made.attributes = attributes
        made.results = [self.values[v] for v in entry["results"]]
        return made

    def _fill(self, block: Block, data: Dict) -> None:
        block.args = [self.values[v] for v in data["arguments"]]
        block.yields = [self.values[v] for v in data["yields"]]
        block.condition = None if data["condition"] is None else self.values[data["condition"]]
        for value in block.args:
            value.block = block

    def segment(self, data: Dict) -> Segment:
        made = Segment([])
        made.inputs, made.outputs, made.written = ([self.values[v] for v in data[name]] for name in ("inputs", "outputs", "written"))
        return made

    def plan(self, nodes: List, segments: List[Segment]) -> List:
        made: List[Any] = []
        for kind, at, *plans in nodes:
            if kind == "part":
                made.append(segments[at])
            elif kind == "control":
                made.append(Control(self.ops[at], [self.plan(p, segments) for p in plans[0]]))
            else:
                made.append((Step if kind == "step" else Adoption)(self.ops[at]))
        return made
