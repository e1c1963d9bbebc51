# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a traced program as text of the ft dialect, its bodies in linalg, arith, math and tensor."""

from __future__ import annotations

import math
import re
import struct
from typing import Dict, List, Optional, Sequence, Tuple

from . import ir
from .source import Frame
from .types import DType, TensorType

_WORD = re.compile(r"[^A-Za-z0-9_]")


def number(value, dtype: DType) -> str:
    """A number as MLIR writes it in a dense constant."""
    if dtype.is_bool:
        return "true" if value else "false"
    if not dtype.is_float:
        return str(int(value))
    if math.isnan(value) or math.isinf(value):
        return _bits(value, dtype)
    text = repr(float(value))
    mantissa, exponent, power = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + exponent + power


def _bits(value: float, dtype: DType) -> str:
    if dtype.name == "f64":
        return "0x%016X" % struct.unpack("<Q", struct.pack("<d", value))[0]
    single = struct.unpack("<I", struct.pack("<f", value))[0]
    if dtype.name == "f32":
        return "0x%08X" % single
    if dtype.name == "bf16":
        return "0x%04X" % (single >> 16)
    return "0x%04X" % struct.unpack("<H", struct.pack("<e", value))[0]


def _dense(values: Sequence, shape: Sequence[int], dtype: DType) -> str:
    if not shape:
        return number(values[0], dtype)
    step = len(values) // shape[0] if shape[0] else 0
    parts = [_dense(values[i * step : (i + 1) * step], shape[1:], dtype) for i in range(shape[0])]
    return "[" + ", ".join(parts) + "]"


def dictionary(table: Dict) -> str:
    """``{L = 64 : i64}``, and ``{L = [64, 4096]}`` for ranges."""
    def entry(value):
        return f"[{value[0]}, {value[1]}]" if isinstance(value, (tuple, list)) else f"{value} : i64"

    return "{" + ", ".join(f"{name} = {entry(value)}" for name, value in table.items()) + "}"


class Printer:
    """Prints one function. With `locations` each operation says where in the user's program it is."""

    def __init__(self, locations: bool = False):
        self.lines: List[str] = []
        self.names: Dict[ir.Value, str] = {}
        self.taken: Dict[str, int] = {}
        self.next_number = 0
        self.locations = locations
        self.aliases: Dict[Tuple, str] = {}
        #: (file, line, column) of each location that was printed: the chain of calls that led there.
        self.places: Dict[Tuple[str, int, int], Tuple[Frame, ...]] = {}

    # -- names and places -------------------------------------------------------------------------------

    def fresh(self, hint: str = "") -> str:
        word = _WORD.sub("_", hint)
        if not word or word == "_" or word[0].isdigit():
            name = f"%{self.next_number}"
            self.next_number += 1
            return name
        count = self.taken.get(word, 0)
        self.taken[word] = count + 1
        if count == 0:
            return f"%{word}"
        return self.fresh(f"{word}_{count}")

    def name(self, value: ir.Value) -> str:
        return self.names[value]

    def define(self, value: ir.Value, hint: str = "") -> str:
        self.names[value] = self.fresh(hint or value.name)
        return self.names[value]

    def place(self, frames: Sequence[Frame]) -> str:
        if not self.locations or not frames:
            return ""
        frame = frames[0]
        key = (frame.file, frame.line, max(frame.column, 1))
        self.places.setdefault(key, tuple(frames))
        if key not in self.aliases:
            self.aliases[key] = f"#loc{len(self.aliases)}"
        return f" loc({self.aliases[key]})"

    def line(self, indent: int, text: str, frames: Sequence[Frame] = ()) -> None:
        self.lines.append("  " * indent + text + self.place(frames))

    # -- the whole ---------------------------------------------------------------------------------------

    def function(self, function: ir.Function) -> str:
        arguments = []
        for index, value in enumerate(function.body.arguments):
            attributes = function.argument_attributes[index] if index < len(function.argument_attributes) else {}
            text = f"{self.define(value)}: {value.type.mlir()}"
            if attributes:
                text += " {" + ", ".join(f"{k} = {v}" for k, v in attributes.items()) + "}"
            if self.locations:
                text += f' loc("{_escape(value.name)}")'
            arguments.append(text)
        results = [value.type.mlir() for value in function.results]
        arrow = results[0] if len(results) == 1 else f"({', '.join(results)})"
        head = f"func.func @{symbol(function.name)}("
        if sum(map(len, arguments)) + len(head) + len(arrow) > 100:
            self.line(0, head)
            for index, text in enumerate(arguments):
                self.line(2, text + ("," if index + 1 < len(arguments) else ")"))
            self.line(2, f"-> {arrow}")
        else:
            self.line(0, f"{head}{', '.join(arguments)}) -> {arrow}")
        attributes = ", ".join(f"{k} = {v}" for k, v in function.attributes.items())
        self.lines[-1] += f" attributes {{{attributes}}} {{" if attributes else " {"
        self.region(function.body, 1)
        names = ", ".join(self.name(v) for v in function.results)
        self.line(1, f"return {names} : {', '.join(results)}", function.frames)
        self.line(0, "}", function.frames)
        for key, alias in self.aliases.items():
            self.lines.append(f'{alias} = loc("{_escape(key[0])}":{key[1]}:{key[2]})')
        return "\n".join(self.lines) + "\n"

    def region(self, region: ir.Region, indent: int) -> None:
        for op in region.ops:
            getattr(self, f"print_{op.kind}")(op, indent)

    def simple(self, op: ir.Op, indent: int, text: str) -> None:
        """One result, one line."""
        self.line(indent, f"{self.define(op.results[0])} = {text}", op.frames)

    def operands(self, values: Sequence[ir.Value]) -> str:
        return ", ".join(self.name(v) for v in values)

    @staticmethod
    def types(values: Sequence[ir.Value]) -> str:
        return ", ".join(v.type.mlir() for v in values)

    def empty(self, type_: TensorType, indent: int, frames) -> str:
        name = self.fresh()
        self.line(indent, f"{name} = tensor.empty() : {type_.mlir()}", frames)
        return name

    # -- elements -----------------------------------------------------------------------------------------

    def print_constant(self, op, indent):
        type_ = op.results[0].type
        payload = op.attributes["payload"]
        if payload[0] == "splat":
            text = number(payload[1], type_.dtype)
        else:
            text = _dense(payload[1], type_.shape, type_.dtype)
        self.simple(op, indent, f"arith.constant dense<{text}> : {type_.mlir()}")

    def print_elementwise(self, op, indent):
        name, operands = op.attributes["name"], self.operands(op.operands)
        source, result = op.operands[0].type.mlir(), op.results[0].type.mlir()
        if name == "arith.select":
            self.simple(op, indent, f"{name} {operands} : {source}, {result}")
        elif name in ("arith.cmpf", "arith.cmpi"):
            self.simple(op, indent, f"{name} {op.attributes['predicate']}, {operands} : {source}")
        elif source != result:
            self.simple(op, indent, f"{name} {operands} : {source} to {result}")
        else:
            self.simple(op, indent, f"{name} {operands} : {source}")

    def print_broadcast(self, op, indent):
        (x,), result = op.operands, op.results[0].type
        out = self.empty(result, indent, op.frames)
        self.simple(
            op, indent,
            f"linalg.broadcast ins({self.name(x)} : {x.type.mlir()}) outs({out} : {result.mlir()}) "
            f"dimensions = [{_ints(op.attributes['dimensions'])}]",
        )

    def print_reshape(self, op, indent):
        (x,), result = op.operands, op.results[0].type
        groups = ", ".join(f"[{_ints(group)}]" for group in op.attributes["groups"])
        types = f"{x.type.mlir()} into {result.mlir()}"
        if result.rank > x.type.rank:
            text = f"tensor.expand_shape {self.name(x)} [{groups}] output_shape [{_ints(result.shape)}] : {types}"
        else:
            text = f"tensor.collapse_shape {self.name(x)} [{groups}] : {types}"
        self.simple(op, indent, text)

    def print_transpose(self, op, indent):
        (x,), result = op.operands, op.results[0].type
        out = self.empty(result, indent, op.frames)
        self.simple(
            op, indent,
            f"linalg.transpose ins({self.name(x)} : {x.type.mlir()}) outs({out} : {result.mlir()}) "
            f"permutation = [{_ints(op.attributes['permutation'])}]",
        )

    def print_extract_slice(self, op, indent):
        a = op.attributes
        self.simple(
            op, indent,
            f"tensor.extract_slice {self.name(op.operands[0])}[{_ints(a['offsets'])}] [{_ints(a['sizes'])}] "
            f"[{_ints(a['strides'])}] : {op.operands[0].type.mlir()} to {op.results[0].type.mlir()}",
        )

    def print_concat_elements(self, op, indent):
        self.simple(
            op, indent,
            f"tensor.concat dim({op.attributes['axis']}) {self.operands(op.operands)} : "
            f"({self.types(op.operands)}) -> {op.results[0].type.mlir()}",
        )

    def print_reduce_element(self, op, indent):
        x, init = op.operands
        self.simple(
            op, indent,
            f"linalg.reduce {{ {op.attributes['name']} }} ins({self.name(x)} : {x.type.mlir()}) "
            f"outs({self.name(init)} : {init.type.mlir()}) dimensions = [{_ints(op.attributes['dimensions'])}]",
        )

    def print_indices(self, op, indent):
        type_ = op.results[0].type
        out = self.empty(type_, indent, op.frames)
        loops = "abcdefghijklmnop"[: type_.rank]
        map_ = _map(loops, loops)
        iterators = ", ".join(['"parallel"'] * type_.rank)
        old, n, i = self.fresh("old"), self.fresh("n"), self.fresh("i")
        result = self.define(op.results[0])
        self.line(indent, f"{result} = linalg.generic {{indexing_maps = [{map_}], iterator_types = [{iterators}]}}")
        self.line(indent + 2, f"outs({out} : {type_.mlir()}) {{")
        self.line(indent, f"^bb0({old}: i64):")
        self.line(indent + 1, f"{n} = linalg.index {op.attributes['axis']} : index", op.frames)
        self.line(indent + 1, f"{i} = arith.index_cast {n} : index to i64", op.frames)
        self.line(indent + 1, f"linalg.yield {i} : i64", op.frames)
        self.line(indent, f"}} -> {type_.mlir()}", op.frames)

    def print_product(self, op, indent):
        a, b, c = op.operands
        loops, maps = op.attributes["loops"], op.attributes["maps"]
        named = _named_product(loops, maps)
        if named is None:
            return self._generic_product(op, indent)
        name, swapped, written = named
        if swapped:
            a, b = b, a
        extra = f" indexing_maps = [{', '.join(written)}]" if written else ""
        self.simple(
            op, indent,
            f"{name}{extra} ins({self.name(a)}, {self.name(b)} : {a.type.mlir()}, {b.type.mlir()}) "
            f"outs({self.name(c)} : {c.type.mlir()})" + (f" -> {c.type.mlir()}"),
        )
        return None

    def _generic_product(self, op, indent):
        a, b, c = op.operands
        loops, maps = op.attributes["loops"], op.attributes["maps"]
        iterators = ", ".join('"parallel"' if letter in maps[2] else '"reduction"' for letter in loops)
        number_type = c.type.dtype.mlir()
        multiply, add = ("arith.mulf", "arith.addf") if c.type.dtype.is_float else ("arith.muli", "arith.addi")
        names = [self.fresh(hint) for hint in ("l", "r", "acc", "p", "q")]
        written = ", ".join(_map(loops, m) for m in maps)
        result = self.define(op.results[0])
        self.line(indent, f"{result} = linalg.generic {{indexing_maps = [{written}], iterator_types = [{iterators}]}}")
        self.line(indent + 2, f"ins({self.name(a)}, {self.name(b)} : {a.type.mlir()}, {b.type.mlir()}) outs({self.name(c)} : {c.type.mlir()}) {{")
        self.line(indent, f"^bb0({names[0]}: {number_type}, {names[1]}: {number_type}, {names[2]}: {number_type}):")
        self.line(indent + 1, f"{names[3]} = {multiply} {names[0]}, {names[1]} : {number_type}", op.frames)
        self.line(indent + 1, f"{names[4]} = {add} {names[2]}, {names[3]} : {number_type}", op.frames)
        self.line(indent + 1, f"linalg.yield {names[4]} : {number_type}", op.frames)
        self.line(indent, f"}} -> {c.type.mlir()}", op.frames)

    # -- lists -----------------------------------------------------------------------------------------------

    def access(self, op, indent, text: str):
        self.simple(op, indent, text)

    def print_shift(self, op, indent):
        xs, fill = op.operands
        self.access(op, indent, f"ft.shift {self.name(xs)} by {op.attributes['offset']} fill {self.name(fill)} : {self.types(op.operands)}")

    def print_reverse(self, op, indent):
        self.access(op, indent, f"ft.reverse {self.operands(op.operands)} : {self.types(op.operands)}")

    def print_slice(self, op, indent):
        lo, hi = op.attributes["lo"], op.attributes["hi"]
        self.access(op, indent, f"ft.slice {self.operands(op.operands)}[{lo} to {hi}] : {self.types(op.operands)}")

    def print_stride(self, op, indent):
        a = op.attributes
        self.access(op, indent, f"ft.stride {self.operands(op.operands)} from {a['start']} step {a['step']} : {self.types(op.operands)}")

    def print_window(self, op, indent):
        a = op.attributes
        text = f"ft.window {self.operands(op.operands)} size {a['size']}"
        text += f" step {a['step']}" if a["step"] != 1 else ""
        text += f" dilation {a['dilation']}" if a["dilation"] != 1 else ""
        text += f" boundary {a['boundary']}" if a["boundary"] else ""
        self.access(op, indent, f"{text} : {self.types(op.operands)}")

    def print_gather(self, op, indent):
        xs, indices = op.operands
        self.access(op, indent, f"ft.gather {self.name(xs)}[{self.name(indices)}] : {self.types(op.operands)}")

    def print_at(self, op, indent):
        self.access(op, indent, f"ft.at {self.operands(op.operands)}[{op.attributes['index']}] : {self.types(op.operands)}")

    def print_concat(self, op, indent):
        self.access(op, indent, f"ft.concat {self.operands(op.operands)} : {self.types(op.operands)}")

    def print_flatten(self, op, indent):
        self.access(op, indent, f"ft.flatten {self.operands(op.operands)} : {self.types(op.operands)}")

    def print_split(self, op, indent):
        self.access(op, indent, f"ft.split {self.operands(op.operands)} by {op.attributes['inner']} : {self.types(op.operands)}")

    def print_transpose_list(self, op, indent):
        order = _ints(op.attributes["permutation"])
        self.access(op, indent, f"ft.transpose {self.operands(op.operands)} [{order}] : {self.types(op.operands)}")

    def print_repeat(self, op, indent):
        self.access(op, indent, f"ft.repeat {self.operands(op.operands)} times {op.attributes['count']} : {self.types(op.operands)}")

    def print_iota(self, op, indent):
        self.access(op, indent, f"ft.iota : {op.results[0].type.mlir()}")

    def print_cast_list(self, op, indent):
        self.access(op, indent, f"ft.cast {self.operands(op.operands)} : {self.types(op.operands)} to {op.results[0].type.mlir()}")

    # -- operators ----------------------------------------------------------------------------------------------

    def _results(self, op) -> str:
        return ", ".join(self.define(v) for v in op.results)

    def _header(self, arguments: Sequence[ir.Value], operands: Sequence[ir.Value]) -> str:
        names = ", ".join(self.define(a, a.name or "x") for a in arguments)
        return f"({names} = {self.operands(operands)} : {self.types(operands)})"

    def print_map(self, op, indent):
        (body,) = op.regions
        header = self._header(body.arguments, op.operands)
        self._with_results(op, indent, f"ft.map {header} -> {self.types(op.results)} {{")
        self.region(body, indent + 1)
        self.line(indent, "}", op.frames)

    def _with_results(self, op, indent, text: str) -> None:
        # Results are named after the regions, so that numbers follow the text; the line is filled in then.
        self.line(indent, f"{self._results(op)} = {text}")

    def print_aggregate(self, op, indent):
        a = op.attributes
        lists = op.operands[: a["lists"]]
        inits = op.operands[a["lists"] : a["lists"] + a["inits"]]
        identities = op.operands[a["lists"] + a["inits"] :]
        body = op.regions[0]
        states = body.arguments[: len(body.arguments) - len(lists)]
        elements = body.arguments[len(states) :]
        text = f"ft.{a['name']} {self._header(elements, lists)}"
        if inits:
            text += f" init {self._header(states, inits)}"
        else:
            text += f" state ({', '.join(self.define(s, s.name or 's') for s in states)})"
        if a["lag"] != 1:
            text += f" lag {a['lag']}"
        written = f" attributes {{ft.checkpoint = [{_ints(a['checkpoint'])}]}}" if "checkpoint" in a else ""
        self._with_results(op, indent, f"{text} -> {self.types(op.results)}{written} {{")
        self.region(body, indent + 1)
        end = "}"
        if len(op.regions) > 1:
            combine = op.regions[1]
            names = ", ".join(self.define(v, v.name or "a") for v in combine.arguments)
            self.line(indent, f"}} combine ({names}) {{")
            self.region(combine, indent + 1)
        if identities:
            end += f" identity ({self.operands(identities)} : {self.types(identities)})"
        self.line(indent, end, op.frames)

    def print_yield(self, op, indent):
        count = op.attributes["states"]
        states, outputs = op.operands[:count], op.operands[count:]
        text = f"ft.yield {self.operands(states)} : {self.types(states)}"
        if outputs:
            text += f" emit {self.operands(outputs)} : {self.types(outputs)}"
        self.line(indent, text, op.frames)


def symbol(name: str) -> str:
    """A function's name as MLIR writes it."""
    word = _WORD.sub("_", name)
    return word if word and not word[0].isdigit() else f"f_{word}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _ints(values) -> str:
    return ", ".join(map(str, values))


def _map(loops: str, letters: str) -> str:
    return f"affine_map<({', '.join(loops)}) -> ({', '.join(letters)})>"


def _named_product(loops: str, maps: Sequence[str]) -> Optional[Tuple[str, bool, List[str]]]:
    """The linalg operation that a product is: name, whether operands are exchanged, maps if not the plain ones."""
    left, right, result = maps
    reduced = [c for c in loops if c not in result]
    if len(reduced) != 1:
        return None
    k = reduced[0]
    if len(result) == 0 and left == right == k:
        return "linalg.dot", False, []
    if len(result) == 1:
        n = result
        if left == k and right == k + n:
            return "linalg.vecmat", False, []
        if left == n + k and right == k:
            return "linalg.matvec", False, []
        if left == k and right == n + k:
            return "linalg.matvec", True, []
        if left == k + n and right == k:
            return "linalg.vecmat", True, []
        return None
    if len(result) == 2:
        m, n = result
        if set(left) == {n, k} and set(right) == {m, k}:
            swapped, left, right = True, right, left
        elif set(left) == {m, k} and set(right) == {n, k}:
            swapped = False
        else:
            return None
        if (left, right) == (m + k, k + n):
            return "linalg.matmul", swapped, []
        rename = str.maketrans({m: "m", n: "n", k: "k"})
        return "linalg.matmul", swapped, [_map("mnk", s.translate(rename)) for s in (left, right, result)]
    if len(result) == 3:
        b, m, n = result
        if left == b + m + k and right == b + k + n:
            return "linalg.batch_matmul", False, []
    return None
