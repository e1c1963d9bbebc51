# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python objects that a program meets: modules of operators, functions, and tensors from outside."""

from __future__ import annotations

import math
import sys
import types
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

from ..ir import dtypes
from ..ops import REFUSED, TABLE, Operator, find
from ..problems import Problem


class OpRef:
    """An operator by its path in the table; `shown` is how the program wrote it."""

    def __init__(self, path: str, shown: str):
        self.path, self.shown = path, shown

    @property
    def name(self) -> str:
        return self.shown.rpartition(".")[2]


class BoundMethod:
    """A method of a tensor, a list or another value of the program."""

    def __init__(self, owner, name: str):
        self.owner, self.name = owner, name


class Namespace:
    """A module of operators that need not be there, such as `torch` where PyTorch is not installed."""

    def __init__(self, name: str):
        self.name = name


class Scope(Dict[str, Any]):
    """Names of a comprehension that is being walked through. `hidden`: what they stand for outside of it."""

    def __init__(self, hidden: Dict[str, Any]):
        super().__init__()
        self.hidden = hidden


class LocalFunction:
    """A `def` or `lambda` of the program itself. `scopes`: names of the comprehensions that it stands in, as they are now."""

    def __init__(self, node, frame, name: str, defaults=(), keyword_defaults=None, scopes=()):
        self.node, self.frame, self.name = node, frame, name
        self.defaults, self.keyword_defaults, self.scopes = defaults, dict(keyword_defaults or {}), tuple(scopes)


class Partial:
    """`functools.partial` of a function of the program."""

    def __init__(self, function, args, kwargs):
        self.function, self.args, self.kwargs = function, tuple(args), dict(kwargs)


#: Modules whose functions are operators.
_OPERATOR_MODULES = ("torch", "torchvision.ops", "fractaltensor.torch")

#: Where `fractaltensor.torch.name` is looked for.
_HOMES = ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torchvision.ops")


def is_operator_module(name: str) -> bool:
    return name.split(".")[0] == "torch" or any(name == m or name.startswith(m + ".") for m in _OPERATOR_MODULES)


def is_inlined(function) -> bool:
    """Whether a function of PyTorch's own Python is inlined like those of the user: attention, and the helpers of `nn.functional`. What they call is operators."""
    name = getattr(function, "__name__", "")
    if not isinstance(function, types.FunctionType) or getattr(function, "__module__", None) != "torch.nn.functional":
        return False
    return name == "multi_head_attention_forward" or name.startswith("_")


def of_module(module, attribute: str):
    """An attribute of a module: an operator, an element type, a submodule, or what Python says."""
    name = module.name if isinstance(module, Namespace) else module.__name__
    if isinstance(module, Namespace) and f"{name}.{attribute}" in _OPERATOR_MODULES:
        return Namespace(f"{name}.{attribute}")
    if isinstance(module, Namespace) and not is_operator_module(name):
        raise Problem(f"module '{name}' is not installed, and '{attribute}' is no module of operators")
    if not is_operator_module(name):
        return getattr(module, attribute)
    if attribute in dtypes.COMPLEX and name in ("torch", "fractaltensor.torch"):
        return dtypes.COMPLEX[attribute]
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
    if attribute in ("inf", "nan", "pi", "e") and not callable(found):
        return getattr(math, attribute)
    return _operator_in(module, name, attribute, found)


def _operator_in(module, name: str, attribute: str, found):
    """What `found` is, an attribute of a module of operators: an operator, known or not, or a value."""
    path = f"{name}.{attribute}"
    if path in CONTROL:
        return OpRef(path, path)
    if isinstance(found, _packets()):
        return OpRef(path.removeprefix("torch.ops."), path)
    if name == "fractaltensor.torch":
        own = path_of(attribute)
        return OpRef(own or path, path) if own or found is None else found
    if found is None and isinstance(module, types.ModuleType) and not hasattr(module, attribute):
        raise Problem(f"module '{name}' has no attribute '{attribute}'{similar(path)}")
    if is_listed(path) or found is None and isinstance(module, Namespace):
        return OpRef(path, path)
    known = operator_of(found) if callable(found) else None
    if known is not None:
        return OpRef(known.path, path)
    return OpRef(path, path) if callable(found) and not isinstance(found, type) else found


def path_of(name: str) -> Optional[str]:
    """The path of what `fractaltensor.torch` has by this name, where it has an operator."""
    return next((f"{home}.{name}" for home in _HOMES if is_listed(f"{home}.{name}")), None)


#: Functions of PyTorch that are control flow, and the evaluator's methods for them.
CONTROL = {"torch.cond": "torch_cond", "torch.while_loop": "torch_while_loop", "torch._check": "torch_check", "torch._check_with": "torch_check_with"}


def is_listed(path: str) -> bool:
    """Whether the table or the list of what is refused has a path, or it is control flow."""
    return path in CONTROL or path in REFUSED or find(path) is not None


def _packets() -> Tuple[type, ...]:
    """Classes of ATen's operators and of their overloads."""
    ops = sys.modules.get("torch._ops")
    return () if ops is None else (ops.OpOverloadPacket, ops.OpOverload)


#: Objects of PyTorch that are listed, by identity, with their paths.
_by_identity: Dict[int, Tuple[Any, str]] = {}
_looked_at: set = set()


def _known_paths() -> Iterator[Tuple[str, str]]:
    """Modules, and what is listed of them."""
    for path in (*TABLE, *REFUSED, *CONTROL):
        home, _, last = path.rpartition(".")
        if home == "aten" or home.startswith("aten."):
            continue
        yield home, last
        if path in TABLE and TABLE[path].inplace:
            yield home, last + "_"


def _module_at(home: str) -> Any:
    return getattr(sys.modules.get("torch"), "Tensor", None) if home == "Tensor" else sys.modules.get(home)


def _look_around() -> None:
    """Notes which objects of PyTorch the listed paths are."""
    fresh = {home for home, _ in _known_paths() if home not in _looked_at and _module_at(home) is not None}
    for home, last in _known_paths() if fresh else ():
        found = getattr(_module_at(home), last, None) if home in fresh else None
        if found is not None:
            _by_identity.setdefault(id(found), (found, f"{home}.{last}"))
    _looked_at.update(fresh)


def operator_of(function: Any) -> Optional[OpRef]:
    """The operator that a function of PyTorch is, or None: by identity, as two modules may have functions of one name."""
    if isinstance(function, _packets()):
        path = str(function)
        return OpRef(path, f"torch.ops.{path}")
    _look_around()
    known, path = _by_identity.get(id(function), (None, None))
    if path is None or known is not function:
        path = path_of(function.__name__) if type(function).__name__ == "_Stub" else None
    return None if path is None else OpRef(path, path)


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


def operator_at(path: str) -> Optional[Tuple[Operator, bool]]:
    """The operator at a path and whether it works in place. A packet of ATen without an overload stands for all of them, where these are one operator."""
    found = find(path)
    if found is not None or not path.startswith("aten."):
        return found
    operator = _of_packet(path)
    if operator is not None:
        return operator, False
    operator = _of_packet(path[:-1]) if path.endswith("_") else None
    return (operator, True) if operator is not None and operator.inplace else None


def _of_packet(path: str) -> Optional[Operator]:
    overloads = [operator for p, operator in TABLE.items() if p.startswith(path + ".")]
    return overloads[0] if overloads and len({operator.function for operator in overloads}) == 1 else None


def similar(path: str) -> str:
    """An operator that may have been meant: of the same module, or of the same name elsewhere."""
    import difflib

    home, _, last = path.rpartition(".")
    own = {p.rpartition(".")[2]: p for p in TABLE if p.rpartition(".")[0] == home}
    close = difflib.get_close_matches(last, own, 1, 0.75)
    if close:
        return f"; did you mean {close[0]}?"
    others = [p for p in TABLE if not p.startswith("aten.") and p.rpartition(".")[2] == last]
    if not others:
        names = {p.rpartition(".")[2]: p for p in TABLE if not p.startswith("aten.")}
        others = [names[n] for n in difflib.get_close_matches(last, names, 1, 0.75)]
    return f"; did you mean {others[0]}?" if others else ""


def function_of(ref: OpRef) -> Any:
    """The function of PyTorch that an operator is."""
    home, _, name = ref.path.rpartition(".")
    found = getattr(_module_at(home), name, None)
    if found is None:
        raise Problem(f"{ref.shown} cannot be compared: PyTorch is not imported")
    return found


def without_gradients(function: types.FunctionType) -> types.FunctionType:
    """The function that `@torch.no_grad()` and its kin were put around: compiled functions compute forward only."""
    while function.__code__.co_filename.replace("\\", "/").endswith("torch/utils/_contextlib.py") and hasattr(function, "__wrapped__"):
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        factory = cells["ctx_factory"].cell_contents if "ctx_factory" in cells else None
        context = getattr(factory, "__self__", None)
        if type(context).__name__ not in ("no_grad", "inference_mode") and not (type(context).__name__ == "set_grad_enabled" and context.mode is False):
            break
        function = function.__wrapped__
    return function


def python_function(value) -> Optional[Callable]:
    """The function with Python source after a callable, or None."""
    if isinstance(value, types.FunctionType):
        return without_gradients(value)
    wrapped = getattr(value, "__wrapped__", None)
    return wrapped if isinstance(wrapped, types.FunctionType) else None
