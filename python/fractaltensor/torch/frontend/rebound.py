# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes that a function binds again: `self.state = ...`. In the function they are names like others, so that they meet where paths meet;
when a call has succeeded, the objects have them.

The names (`$self...`) are handed to functions that are called, and back from them.
"""

from __future__ import annotations

import types
from typing import Any, Callable, Dict, Tuple

from . import objects
from ..problems import Problem
from .values import UNSET, Poison, Tensor, Unset

_PREFIX, _INNER = "$attribute ", "inner "
#: What shows attributes of a module otherwise than by their names.
_OTHERWISE = ("_buffers", "__dict__", "buffers", "named_buffers", "state_dict", "register_buffer")


def is_attribute(name: str) -> bool:
    """Whether a name of the program stands for an attribute."""
    return name.startswith(_PREFIX)


def is_inner(name: str) -> bool:
    """Whether a name stands for what no object of the program has."""
    return name.startswith(_PREFIX + _INNER)


class Rebound:
    """One attribute. `value`, set when the function has ended: what the object has after a call."""

    def __init__(self, owner, attribute: str, original: Callable, frames: Tuple):
        self.owner, self.attribute, self.original, self.frames = owner, attribute, original, frames
        self.value: Any = None

    def bind(self, value) -> None:
        setattr(self.owner, self.attribute, value)


class Attributes:
    """The attributes that one program binds again."""

    def __init__(self):
        self.found: Dict[str, Rebound] = {}
        self._inner = 0

    def name_of(self, owner, attribute: str) -> str:
        return f"{_PREFIX}{id(owner)} {attribute}"

    def inner(self) -> str:
        """A name for what no object of the program has: it goes with the function's names as attributes do."""
        self._inner += 1
        return f"{_PREFIX}{_INNER}{self._inner}"

    def assign(self, env: Dict, owner, attribute: str, value, original: Callable, frames: Tuple) -> None:
        _check(owner, attribute, value)
        name = self.name_of(owner, attribute)
        self.found.setdefault(name, Rebound(owner, attribute, original, frames))
        env[name] = value

    def of(self, env: Dict, owner, attribute: str) -> Any:
        """What the function has bound an attribute to; UNSET where it has not."""
        if attribute in _OTHERWISE and any(r.owner is owner for r in self.found.values()):
            raise Problem(f"'{attribute}' of an object, an attribute of which is assigned: read it by its name")
        value = env.get(self.name_of(owner, attribute), UNSET)
        if isinstance(value, Unset) and value is not UNSET:
            raise Problem(f"attribute '{attribute}' has no value on some paths that lead here{value.reason}")
        return value

    def value(self, env: Dict, name: str) -> Any:
        """The value of any name; of an attribute that has not been bound on this path the one that the object had."""
        if name in env or name not in self.found:
            return env.get(name, UNSET)
        return self.found[name].original()

    def handed(self, env: Dict) -> Dict:
        return {name: value for name, value in env.items() if is_attribute(name)}

    def finish(self, env: Dict) -> None:
        """What a call leaves, when the function has ended."""
        for name, rebound in self.found.items():
            value = self.value(env, name)
            if isinstance(value, Unset):
                why = value.reason or ": it is set on one of them only, so set it before they part"
                raise Problem(f"attribute '{rebound.attribute}' differs between the paths of the function{why}", "", rebound.frames)
            rebound.value = value


def _check(owner, attribute: str, value) -> None:
    """That an object can have a tensor by this name, and nothing else happens when it gets it."""
    if not isinstance(value, (Tensor, Poison)):
        raise Problem(f"attribute '{attribute}' of a captured Python object is assigned, and the value is no tensor: return it instead")
    if objects.is_module(owner):
        if attribute in owner._parameters or attribute in owner._modules:
            raise Problem(f"attribute '{attribute}' is a parameter or a module, and is assigned a tensor: assign its elements, {attribute}[...] = ...")
        return
    kind = type(owner)
    plain = kind.__setattr__ is object.__setattr__ and not isinstance(owner, (type, types.ModuleType))
    shown = kind.__dict__.get(attribute)
    if not plain or not hasattr(owner, "__dict__") or hasattr(type(shown), "__set__"):
        raise Problem(f"attribute '{attribute}' of a captured Python object is assigned: return the value instead")
