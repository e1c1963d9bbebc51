# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of operators at each of their paths, made from the lines of script_operators.txt, and calls of ATen's overloads as eager mode makes them."""

import ast
import math
import pathlib

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from fractaltensor.torch.ops import TABLE, find

HERE = pathlib.Path(__file__).resolve().parent
_SHORT = {"F": "torch.nn.functional"}


def arguments(special=False):
    g = torch.Generator().manual_seed(1)
    x, y = torch.randn(4, 6, generator=g), torch.randn(4, 6, generator=g)
    z = torch.randn(3, 4, 6, generator=g)
    i, m = torch.randint(0, 4, (4, 6), generator=g), torch.rand(4, 6, generator=g) > 0.5
    if special:
        x[0, 0], x[1, 1], x[2, 2] = float("nan"), float("inf"), float("-inf")
    return {"x": x, "y": y, "i": i, "m": m, "z": z}


def lines():
    return [line for line in (HERE / "script_operators.txt").read_text().split("\n") if line and line[0] != "#"]


def value(text, given):
    return eval(text, {"torch": torch, "F": F, "math": math, **given})  # noqa: S307 - expressions of this folder


def _path(function: ast.expr):
    """The path of what is called, and the object of a method."""
    names, node = [], function
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    root = node.id if isinstance(node, ast.Name) else ""
    if root in ("torch", "F"):
        return ".".join([_SHORT.get(root, root), *reversed(names)]), None
    return (f"Tensor.{function.attr}", function.value) if isinstance(function, ast.Attribute) else (None, None)


def calls():
    """(path, object of a method or None, call) of every call in the lines, in their order."""
    for line in lines():
        for element in ast.parse(line).body[0].value.elts:
            for node in ast.walk(element):
                if isinstance(node, ast.Call):
                    path, owner = _path(node.func)
                    if path is not None and find(path) is not None:
                        yield path, owner, node


def _written(path: str, owner, call: ast.Call):
    """A call at another path, as text; in place it works on a copy."""
    args = [ast.unparse(a) for a in ([] if owner is None else [owner]) + call.args]
    named = [f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords]
    home, _, last = path.rpartition(".")
    if last.endswith("_") and args:
        args[0] = f"({args[0]}).clone()"
    if home == "Tensor":
        return f"({args[0]}).{last}({', '.join([*args[1:], *named])})" if args else None
    return f"{path}({', '.join([*args, *named])})"


def _works(text, given) -> bool:
    """Whether eager mode takes a call, and gives what its arguments alone decide."""
    if "empty" in text.partition("(")[0] or ".new_empty(" in text or "fastpath" in text:
        return False
    try:
        value(text, given)
    except (RuntimeError, TypeError, IndexError, ValueError, AttributeError, NotImplementedError):
        return False
    return True


def paths():
    """All paths of PyTorch that the table claims and this one has, those in place as well."""
    for path, operator in TABLE.items():
        home, _, last = path.rpartition(".")
        if not home.startswith(("aten", "torchvision")):
            owner = torch.Tensor if home == "Tensor" else value(home, {})
            yield path
            if operator.inplace and hasattr(owner, last + "_"):
                yield path + "_"


def overloads():
    """All overloads of ATen that the table claims."""
    return [path for path in TABLE if path.startswith("aten.") and path.count(".") == 2]


def at_paths(wanted, given, most=3):
    """{path: texts of calls that eager mode takes}: calls at the path itself, else those of the same operator or name at another."""
    by_path, by_operator, by_name = {}, {}, {}
    for path, owner, call in calls():
        operator = find(path)[0]
        for table, key in ((by_path, path), (by_operator, operator.function), (by_name, operator.name.rpartition(".")[2])):
            table.setdefault(key, []).append((owner, call))
    made = {}
    for path in wanted:
        operator, shown = find(path)[0], f"torch.ops.{path}" if path.startswith("aten.") else path
        candidates = by_path.get(path, []) + by_operator.get(operator.function, []) + by_name.get(_last_name(path, operator), [])
        texts = []
        for owner, call in candidates:
            text = _written(shown, owner, call)
            if text and text not in texts and len(texts) < most and _works(text, given):
                texts.append(text)
        made[path] = texts
    return made


def _last_name(path, operator):
    return path.split(".")[1] if path.startswith("aten.") else operator.name.rpartition(".")[2]


class _Recorded(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.found = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        kept = torch.utils._pytree.tree_map(lambda a: a.clone() if isinstance(a, torch.Tensor) else a, (list(args), dict(kwargs)))
        result = function(*args, **kwargs)
        copied = torch.utils._pytree.tree_map(lambda a: a.clone() if isinstance(a, torch.Tensor) else a, result)
        self.found.setdefault(str(function), []).append((kept, copied))
        return result


def recorded(given, most=2):
    """{overload: calls with their results} of ATen, as the lines make them in eager mode."""
    recorder = _Recorded()
    with recorder:
        for line in lines():
            for element in ast.parse(line).body[0].value.elts:
                value(ast.unparse(element), given)
    return {name: found[:most] for name, found in recorder.found.items() if name.startswith("aten.")}
