# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program as one string: what a graph of PyTorch holds, and what another process runs.

The string is a comment with the program's types and options in JSON, then its text in the ft dialect. Equal
strings are equal programs, so the string is the key, too.
"""

from __future__ import annotations

import inspect
import json
from typing import Dict, List, Mapping, Sequence

from .errors import BundleError
from .jit import Jit
from .lengths import Length, parse_bound
from .program import Options, Program
from .types import DTYPES, ListType, TensorType, ValueType

_HEAD = "// fractaltensor program "
_VERSION = 1


def text_of(program: Program, engine) -> str:
    """The string of a traced program; `engine` is what calls ask for, None for that of their arguments."""
    found = program.__dict__.get("_stored_text")
    if found is None:
        header = {
            "name": program.name,
            "engine": engine,
            "rounding": program.rounding,
            "bounds": _bounds(program),
            "parameters": [[p.name, _written(t)] for p, t in zip(program.parameters, program.types)],
            "results": [_written(t) for t in program.result_types],
        }
        found = program._stored_text = f"{_HEAD}{_VERSION} {json.dumps(header)}\n{program.text()}"
    return found


def _bounds(program: Program) -> List[str]:
    texts = []
    for bound in program.options.bounds:
        left, sign, right = parse_bound(bound)
        left, right = left.substitute(program.extents), right.substitute(program.extents)
        if left.constant is None or right.constant is None:
            texts.append(f"{left} {sign} {right}")
    return texts


def _written(type_: ValueType) -> Dict:
    element = type_.element if isinstance(type_, ListType) else type_
    found = {"dtype": element.dtype.name, "shape": [d if isinstance(d, int) else str(d) for d in element.shape]}
    if isinstance(type_, ListType):
        found["lengths"] = [str(d) for d in type_.lengths]
    return found


def _read(written: Mapping) -> ValueType:
    element = TensorType(DTYPES[written["dtype"]], [d if isinstance(d, int) else Length.of(d) for d in written["shape"]])
    return ListType([Length.of(d) for d in written["lengths"]], element) if "lengths" in written else element


class _Function:
    """Stands for the function that was traced: a name and parameters, no code."""

    def __init__(self, name: str, parameters: Sequence[str]):
        self.__name__ = self.__qualname__ = name
        self.__signature__ = inspect.Signature([inspect.Parameter(p, inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in parameters])

    def __call__(self, *_):
        raise BundleError(f"{self.__name__} is a stored program: it cannot become a part of another one")


class StoredProgram(Program):
    """A program that was traced before, perhaps by another process."""

    def __init__(self, signature, options: Options, results: List[ValueType], text: str):
        self.signature, self.options, self.rounding = signature, options, options.rounding
        self.extents, self.dtypes, self.statics = {}, {}, {}
        self.name = signature.function.__name__
        self.parameters = signature.traced
        self.types = [p.type for p in self.parameters]
        self.function, self.result_types, self._text = None, results, text
        self.structure = 0 if len(results) == 1 else (tuple, list(range(len(results))))

    def text(self, locations: bool = False, strided: Sequence[int] = ()):
        """The stored text; `strided` as in :meth:`Program.text`."""
        text = _with_strides(self._text, strided) if any(strided) else self._text
        return (text, {}) if locations else text


def _with_strides(text: str, strided: Sequence[int]) -> str:
    """Adds to each argument of a function's text the number of dimensions that lie by strides."""
    begin = text.index("(", text.index("func.func")) + 1
    depth, ends, quoted, at = 0, [], False, begin
    while depth >= 0:
        c = text[at]
        quoted ^= c == '"'
        if not quoted:
            if c == "," and not depth:
                ends.append(at)
            depth += (c in "(<[{") - (c in ")>]}")
        at += 1
    ends.append(at - 1)
    for end, count in reversed(list(zip(ends, strided))):
        if count and text[end - 1] == "}":
            text = f"{text[: end - 1]}, ft.strided = {count} : i64{text[end - 1 :]}"
        elif count:
            text = f"{text[:end]} {{ft.strided = {count} : i64}}{text[end:]}"
    return text


class StoredJit(Jit):
    """The calls of a stored program."""

    _is_traced = False

    def __init__(self, text: str):
        header, body = _split(text)
        names = [name for name, _ in header["parameters"]]
        self._header, self._body = header, body
        super().__init__(
            _Function(header["name"], names), Options(header["bounds"], rounding=header["rounding"]), header["engine"],
            {name: _read(type_) for name, type_ in header["parameters"]},
        )

    def _check(self) -> None:
        self._checked = True
        self._stored = StoredProgram(self.signature, self._options, [_read(r) for r in self._header["results"]], self._body)
        self._programs[((), (), ())] = self._stored

    def _program(self, extents, dtypes, statics) -> Program:
        return self._stored

    def __reduce__(self):
        return StoredJit, (f"{_HEAD}{_VERSION} {json.dumps(self._header)}\n{self._body}",)


def count_results(text: str) -> int:
    """How many results the program of a string has."""
    return len(_split(text)[0]["results"])


def _split(text: str):
    """The header and the program of a string."""
    line, _, body = text.partition("\n")
    if not line.startswith(_HEAD):
        raise BundleError(f"a stored program begins with '{_HEAD.strip()}', found {line[:40]!r}")
    version, _, header = line[len(_HEAD):].partition(" ")
    if version != str(_VERSION):
        raise BundleError(f"a stored program of version {version}; this package reads version {_VERSION}")
    try:
        return json.loads(header), body
    except ValueError as error:
        raise BundleError(f"the header of a stored program is no JSON: {error}") from None
