# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python objects that a program meets: modules of operators, functions, and tensors from outside."""

from __future__ import annotations

import sys
import types
from typing import Any, Callable, Dict, Optional

from . import dtypes
from .ops import METHODS, REFUSED, TABLE
from .problems import Problem


class OpRef:
    """An operator by name; `shown` is how the program wrote it."""

    def __init__(self, name: str, shown: str):
        self.name, self.shown = name, shown


class BoundMethod:
    """A method of a tensor, a list or another value of the program."""

    def __init__(self, owner, name: str):
        self.owner, self.name = owner, name


class Namespace:
    """A module of operators that need not be there, such as `torch` where PyTorch is not installed."""

    def __init__(self, name: str):
        self.name = name


class LocalFunction:
    """A `def` or `lambda` of the program itself. `scopes`: names of the comprehensions that it stands in, as they are now."""

    def __init__(self, node, frame, name: str, defaults=(), keyword_defaults=None, scopes=()):
        self.node, self.frame, self.name = node, frame, name
        self.defaults, self.keyword_defaults, self.scopes = defaults, dict(keyword_defaults or {}), tuple(scopes)


class Partial:
    """`functools.partial` of a function of the program."""

    def __init__(self, function, args, kwargs):
        self.function, self.args, self.kwargs = function, tuple(args), dict(kwargs)


#: Modules whose functions are operators by name.
_OPERATOR_MODULES = ("torch", "torchvision.ops", "fractaltensor.torch")


def is_operator_module(name: str) -> bool:
    return name.split(".")[0] == "torch" or any(name == m or name.startswith(m + ".") for m in _OPERATOR_MODULES)


#: Functions of PyTorch's own Python that are inlined like those of the user: what they call is operators.
_INLINED = ("_canonical_mask", "_none_or_dtype", "multi_head_attention_forward", "_mha_shape_check", "_in_projection_packed", "_in_projection")


def is_inlined(function) -> bool:
    home = getattr(function, "__module__", None)
    return isinstance(function, types.FunctionType) and home == "torch.nn.functional" and function.__name__ in _INLINED


def of_module(module, attribute: str):
    """An attribute of a module: an operator, an element type, a submodule, or what Python says."""
    name = module.name if isinstance(module, Namespace) else module.__name__
    if isinstance(module, Namespace) and f"{name}.{attribute}" in _OPERATOR_MODULES:
        return Namespace(f"{name}.{attribute}")
    if isinstance(module, Namespace) and not is_operator_module(name):
        raise Problem(f"module '{name}' is not installed, and '{attribute}' is no module of operators")
    if not is_operator_module(name):
        return getattr(module, attribute)
    if attribute in dtypes.ALIASES and name in ("torch", "fractaltensor.torch"):
        return dtypes.ALIASES[attribute]
    found = None if isinstance(module, Namespace) else getattr(module, attribute, None)
    if isinstance(found, types.ModuleType):
        return found
    if found is None and attribute in ("nn", "functional", "special", "linalg", "ops"):
        return Namespace(f"{name}.{attribute}")
    if attribute in ("no_grad", "inference_mode", "Tensor", "device", "Size", "jit") or isinstance(found, type):
        return found if found is not None else Namespace(f"{name}.{attribute}")
    if is_inlined(found):
        return found
    if attribute in TABLE or attribute in REFUSED or callable(found) or found is None:
        if attribute in ("inf", "nan", "pi", "e"):
            import math

            return getattr(math, attribute)
        return OpRef(attribute, f"{name}.{attribute}")
    return found


_by_identity: Dict[int, str] = {}
_looked_at: set = set()


def operator_of(function: Any) -> Optional[OpRef]:
    """The operator that a function of PyTorch is, or None."""
    for name in ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torchvision.ops", "torchvision.ops.boxes"):
        module = sys.modules.get(name)
        if module is not None and name not in _looked_at:
            _looked_at.add(name)
            for op in (*TABLE, *REFUSED):
                found = module.__dict__.get(op)
                if found is not None:
                    _by_identity.setdefault(id(found), op)
    name = _by_identity.get(id(function))
    if name is not None:
        return OpRef(name, getattr(function, "__name__", name))
    home = getattr(function, "__module__", None) or ""
    own = getattr(function, "__name__", "")
    if home.split(".")[0] in ("torch", "torchvision") and own in TABLE and not isinstance(function, type):
        return OpRef(own, f"{home}.{own}")
    return None


def is_tensor(value) -> bool:
    """Whether an object is an array from outside."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, getattr(torch, "Tensor", ())):
        return True
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_module(value) -> bool:
    """Whether an object is an `nn.Module`."""
    nn = sys.modules.get("torch.nn")
    return nn is not None and isinstance(value, nn.Module)


def method(name: str):
    """The operator that a method is, with whether it works in place; None where there is none."""
    for table in (METHODS, TABLE):
        found = table.get(name)
        if found is not None and "m" in found.where:
            return found, False
    if name.endswith("_") and not name.endswith("__"):
        found = TABLE.get(name[:-1])
        if found is not None and found.inplace:
            return found, True
    return None


def similar(name: str) -> str:
    """An operator that may have been meant."""
    import difflib

    found = difflib.get_close_matches(name, TABLE, 1, 0.75)
    return f"; did you mean {found[0]}?" if found else ""


def function_of(ref: OpRef) -> Any:
    """The function of PyTorch that an operator is."""
    home, _, name = ref.shown.rpartition(".")
    found = getattr(sys.modules.get(home), name, None)
    if found is None:
        raise Problem(f"{ref.shown} cannot be compared: PyTorch is not imported")
    return found


def python_function(value) -> Optional[Callable]:
    """The function with Python source behind a callable, or None."""
    if isinstance(value, types.FunctionType):
        return value
    wrapped = getattr(value, "__wrapped__", None)
    return wrapped if isinstance(wrapped, types.FunctionType) else None
