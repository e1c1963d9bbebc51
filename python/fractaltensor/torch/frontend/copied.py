# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`copy.copy` and `copy.deepcopy` of what programs compute with."""

from __future__ import annotations

import copy
from typing import Dict

from ..ir.operations import Value, views_of
from ..ops import OPERATORS
from ..problems import Problem
from .values import Complex, NamedResult, PyDict, PyList, Tensor


def _copy(ev, x):
    """A list or a dictionary with the same items; another name of a tensor."""
    if isinstance(x, PyDict):
        return PyDict(x, ev.b.block)
    return PyList(ev.items_of(x), ev.b.block) if isinstance(x, list) else _known(x)


def _deepcopy(ev, x):
    return _Deep(ev).of(ev.plain(x))


class _Deep:
    """Copies of all that one call reaches; of each tensor one."""

    def __init__(self, ev):
        self.ev = ev
        self.made: Dict[Value, Tensor] = {}
        self.roots: Dict[Value, Value] = {}

    def of(self, x):
        if isinstance(x, Tensor):
            return self._tensor(x)
        if isinstance(x, Complex):
            return Complex(*map(self._tensor, x.parts))
        if isinstance(x, PyDict):
            return PyDict({key: self.of(item) for key, item in x.items()}, self.ev.b.block)
        if isinstance(x, PyList):
            return PyList(map(self.of, x), self.ev.b.block)
        if isinstance(x, NamedResult):
            return NamedResult(map(self.of, x), x.names, x.kind)
        return tuple(map(self.of, x)) if type(x) is tuple else _known(x)

    def _tensor(self, x: Tensor) -> Tensor:
        if x.value in self.made:
            return self.made[x.value]
        if self.roots.setdefault(views_of(x.value)[1], x.value) is not x.value:
            raise Problem("deepcopy of tensors of which two share their elements: clone each")
        self.made[x.value] = OPERATORS["clone"].call(self.ev.b, [x], {})
        return self.made[x.value]


def _known(x):
    if hasattr(x, "__dict__") and not isinstance(x, type):
        raise Problem(f"a copy of an object of type {type(x).__name__}: make it outside of the compiled function")
    return x


COPIES = {copy.copy: _copy, copy.deepcopy: _deepcopy}
