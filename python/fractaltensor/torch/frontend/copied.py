# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`copy.copy` and `copy.deepcopy` of what programs compute with."""

from __future__ import annotations

import copy
import types
from typing import Any, Dict, Tuple

from ..ir.operations import Value, views_of
from ..ops import OPERATORS
from ..problems import Problem
from .objects import LocalFunction
from .values import Complex, Device, Generated, NamedResult, PyDict, PyList, Size, Tensor


def _copy(ev, x):
    """A list or a dictionary with the same items; another name of a tensor's elements."""
    if isinstance(x, Tensor):
        return x.again()
    if isinstance(x, Complex):
        return Complex(x.real, x.imag, x.whole)
    if isinstance(x, PyDict):
        return PyDict(x, ev.b.block)
    return PyList(ev.items_of(x), ev.b.block) if isinstance(x, list) else _known(x)


def _deepcopy(ev, x):
    return _Deep(ev).of(ev.plain(x))


class _Deep:
    """Copies of all that one call reaches; of each tensor, list and dictionary one."""

    def __init__(self, ev):
        self.ev = ev
        self.made: Dict[Value, Tensor] = {}
        self.roots: Dict[Value, Value] = {}
        #: Copies of containers by these, which stay alive meanwhile.
        self.known: Dict[int, Tuple[Any, Any]] = {}

    def of(self, x):
        if id(x) in self.known:
            return self.known[id(x)][1]
        if isinstance(x, PyDict):
            made = self._note(x, PyDict(block=self.ev.b.block))
            made.update((key, self.of(item)) for key, item in x.items())
            return made
        if isinstance(x, PyList):
            made = self._note(x, PyList(block=self.ev.b.block))
            made.extend(map(self.of, x))
            return made
        if isinstance(x, Tensor):
            return self._tensor(x, x.value)
        if isinstance(x, Complex):
            return Complex(*(self._tensor(part, x.real.value) for part in x.parts))
        if isinstance(x, NamedResult):
            return self._note(x, NamedResult(map(self.of, x), x.names, x.kind))
        return self._note(x, tuple(map(self.of, x))) if type(x) is tuple else _known(x)

    def _note(self, x, made):
        self.known[id(x)] = x, made
        return made

    def _tensor(self, x: Tensor, whole: Value) -> Tensor:
        """It lies as the tensor does. `whole`: what has all of its storage in this call."""
        if x.value in self.made:
            return self.made[x.value]
        if x.repeats:
            raise Problem("deepcopy of a tensor of which several elements are one (expand, unfold): clone it")
        if self.roots.setdefault(views_of(x.value)[1], whole) is not whole:
            raise Problem("deepcopy of tensors of which two share their elements: clone each")
        made = OPERATORS["clone"].call(self.ev.b, [x], {})
        self.made[x.value] = Tensor(made.value, x.dtype, x.sizes, x.strides, made.own)
        return self.made[x.value]


def _known(x):
    if isinstance(x, Generated):
        raise Problem("a copy of a generator: make it a list first")
    if isinstance(x, (Size, Device, LocalFunction, types.FunctionType, type)):
        return x
    if hasattr(x, "__dict__"):
        raise Problem(f"a copy of an object of type {type(x).__name__}: make it outside of the compiled function")
    return x


COPIES = {copy.copy: _copy, copy.deepcopy: _deepcopy}
