# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which of Python's own callables may run while a program is compiled: those whose results their arguments alone decide, and that change nothing.

All others would run once, when the function is compiled, and not in its calls: random numbers, the time, files, objects that are made anew.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import weakref
from typing import Any, Optional

_RANDOM = ("random", "secrets", "uuid", "numpy.random")
_OUTSIDE = (
    "time", "datetime", "os", "posix", "nt", "io", "_io", "sys", "subprocess", "socket", "shutil", "logging", "warnings", "threading", "asyncio",
    "pathlib", "tempfile", "multiprocessing", "gc", "atexit", "importlib",
)
_PURE = ("math", "cmath", "operator", "_operator", "fractions", "decimal", "string", "numbers")
_BUILTINS = (
    "bin", "hex", "oct", "chr", "ord", "pow", "round", "format", "ascii", "repr", "complex", "bytes", "frozenset", "object", "issubclass", "int",
    "float", "bool", "str", "tuple", "list", "dict", "slice", "range", "abs", "sum", "min", "max", "len", "sorted", "divmod", "any", "all",
)
#: Values whose methods change nothing.
_VALUES = (str, bytes, int, float, complex, tuple, frozenset, range, slice, type(None))
_OF_TORCH = ("Size", "device", "dtype", "finfo", "iinfo")


def refusal(function: Any) -> Optional[str]:
    """Why a callable must not be called in a compiled function at all, with or without source; None where nothing is known against it."""
    home, name = _home(function), name_of(function)
    if _is_in(home, _RANDOM):
        return f"{name} draws random numbers: draw them outside and pass them as an argument"
    if _is_in(home, _OUTSIDE) or home == "builtins" and name in ("open", "input", "exec", "eval", "id", "globals", "locals", "vars", "setattr", "delattr", "hash"):
        return f"{name} depends on more than its arguments, or changes more than its result: call it outside of the compiled function"
    if function in (set, iter) if isinstance(function, (type, types.BuiltinFunctionType)) else False:
        return "sets cannot be compiled: use a tuple or a list" if function is set else "iter() cannot be compiled: go over the items"
    return None


def is_pure(function: Any) -> bool:
    """Whether Python may call it while a program is compiled."""
    home, name = _home(function), getattr(function, "__name__", "")
    if home == "builtins" and getattr(function, "__self__", None) in (None, sys.modules["builtins"]):
        return name in _BUILTINS
    own = getattr(function, "__self__", None)
    if own is not None and not isinstance(own, types.ModuleType):
        return isinstance(own, _VALUES) or isinstance(own, type) and issubclass(own, _VALUES) or type(own).__module__ == "numpy"
    if isinstance(function, weakref.ReferenceType) or _is_in(home, _PURE):
        return True
    if _is_in(home, ("torch",)):
        return name in _OF_TORCH
    if _is_in(home, ("numpy",)) or type(function).__name__ == "ufunc":
        return not name.startswith(("load", "save", "from", "gen", "memmap", "set"))
    return isinstance(function, type) and _only_holds(function)


def _only_holds(kind: type) -> bool:
    """Whether objects of a class are what they are made of: enumerations, and data classes that do nothing else when they are made."""
    if issubclass(kind, enum.Enum):
        return True
    if not dataclasses.is_dataclass(kind) or hasattr(kind, "__post_init__"):
        return False
    return all(f.default_factory is dataclasses.MISSING or f.default_factory in (list, dict, tuple) for f in dataclasses.fields(kind))


def name_of(function: Any) -> str:
    home, name = _home(function), getattr(function, "__qualname__", None) or type(function).__name__
    home = {"posix": "os", "nt": "os", "io": "", "_io": "", "numpy.random.mtrand": "numpy.random"}.get(home, home)
    return name.rsplit(".", 1)[-1] if home == "" else name if home in ("", "builtins", "__main__") else f"{home}.{name.rsplit('.', 1)[-1]}"


def _home(function: Any) -> str:
    """The module that a callable is of; of a method, that of its object's class."""
    own = getattr(function, "__self__", None)
    if own is not None and not isinstance(own, types.ModuleType):
        return (own if isinstance(own, type) else type(own)).__module__
    return getattr(function, "__module__", None) or type(function).__module__


def _is_in(home: str, modules) -> bool:
    return any(home == m or home.startswith(m + ".") for m in modules)
