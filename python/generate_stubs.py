#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the type stubs of what is made at run time: functions of elements, methods of tensors, public names.

    python3 python/generate_stubs.py           writes fractaltensor/{__init__,functions,tensors}.pyi
    python3 python/generate_stubs.py --check   exits with 1 where they are out of date
"""

import inspect
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import fractaltensor as ft  # noqa: E402
from fractaltensor import functions, tensors  # noqa: E402

HEAD = "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n# Made by python/generate_stubs.py.\n"

#: Types of parameters by their names; everything else is a tensor or a number.
PARAMETERS = {
    "axis": "Axes", "dim": "Axes", "keepdims": "bool", "keepdim": "bool", "dtype": "DTypeLike", "shape": "Any", "axes": "Any",
    "subscripts": "str", "approximate": "str", "eps": "float", "correction": "float", "negative_slope": "float",
    "diagonal": "int", "sections": "Any", "chunks": "int", "reps": "Any", "bounds": "Any", "array": "Any", "tensors": "Sequence[Tensor]",
    "values": "Any", "key": "Any", "operands": "TensorLike", "n": "Any", "m": "Any", "axis1": "int", "axis2": "int", "fill_value": "TensorLike",
    "min": "Optional[TensorLike]", "max": "Optional[TensorLike]", "weight": "Optional[Tensor]", "bias": "Optional[Tensor]",
}
RESULTS = {"split": "Tuple[Tensor, ...]", "chunk": "Tuple[Tensor, ...]", "concatenate": "Any", "cat": "Any"}


def parameters(function, method=False):
    """A function's parameters as a stub writes them."""
    texts, seen_star = [], False
    for index, p in enumerate(inspect.signature(function).parameters.values()):
        if p.kind == p.KEYWORD_ONLY and not seen_star:
            texts.append("*")
            seen_star = True
        if method and index == 0:
            texts.append("self")
            continue
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        seen_star |= prefix == "*"
        type_ = PARAMETERS.get(p.name, "TensorLike")
        text = f"{prefix}{p.name}: {type_}"
        if p.default is not p.empty:
            text += " = ..." if type_ != "Axes" else " = ..."
        texts.append(text)
    return ", ".join(texts)


def describe(function, indent):
    doc = (inspect.getdoc(function) or "").strip().split("\n")[0].replace("\\", "\\\\")
    return f'{indent}    """{doc}"""\n' if doc else ""


PRELUDE = (
    "from typing import Any, Optional, Sequence, Tuple, Union\n\nfrom .tensors import Tensor\nfrom .types import DType\n\n"
    "TensorLike = Union[Tensor, bool, int, float]\nDTypeLike = Union[DType, str, Any]\nAxes = Union[None, int, Sequence[int]]\n"
)


def functions_stub():
    text = HEAD + PRELUDE
    for name in sorted(n for n in vars(functions) if not n.startswith("_")):
        value = getattr(functions, name)
        if not callable(value) or inspect.isclass(value):
            continue
        text += f"\ndef {name}({parameters(value)}) -> {RESULTS.get(name, 'Tensor')}:\n{describe(value, '')}    ...\n"
    return text


#: Types of Python whose names are methods of a tensor.
SHADOWED = ("bool", "float", "int")


def tensors_stub():
    text = HEAD + PRELUDE.replace("from .tensors import Tensor\n", "from .trace import Traced\n").replace("Union[Tensor,", 'Union["Tensor",').replace("import Any, ", "import Any, Iterator, ")
    text += '\nclass Tensor(Traced):\n    """A tensor of static shape, known by type only while a program is traced."""\n\n'
    # `ft.f32[1, "H"]` and `ft.any(x)` are tensors, too.
    text += "    def __class_getitem__(cls, item: Any) -> Any: ...\n    def __init__(self, *args: Any, **kwargs: Any) -> None: ...\n"
    for name in ("T", "mT"):
        text += f"    @property\n    def {name}(self) -> Tensor: ...\n"
    for name, type_ in (("dtype", "DType"), ("shape", "Tuple[Any, ...]"), ("ndim", "int"), ("rank", "int")):
        text += f"    @property\n    def {name}(self) -> {type_}: ...\n"
    hidden = {"T", "mT", "dtype", "shape", "ndim", "rank"}
    for name, value in sorted(vars(tensors.Tensor).items()):
        if name in hidden or not inspect.isfunction(value) or name in ("__hash__", "__repr__", "__getattr__"):
            continue
        signature = inspect.signature(value)
        if list(signature.parameters)[1:] == ["args", "kwargs"]:
            source = getattr(functions, name, None) or getattr(functions, {"astype": "to", "view": "reshape", "flatten": "ravel", "expand": "broadcast_to", "split": "chunk", "repeat": "tile"}.get(name, name), None)
            own = parameters(source, True) if source else "self, *args: Any, **kwargs: Any"
            if name == "split":
                own = "self, sections: Any, axis: int = ..."
        else:
            own = parameters(value, True)
        result = {"split": "Tuple[Tensor, ...]", "chunk": "Tuple[Tensor, ...]", "__len__": "int", "dim": "int", "numel": "Any", "size": "Any",
                  "__iter__": "Iterator[Tensor]"}.get(name, "Tensor")
        ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        for shadowed in SHADOWED:
            own = re.sub(rf"(?<=: ){shadowed}\b", f"_{shadowed}", own)
            result = re.sub(rf"^{shadowed}$", f"_{shadowed}", result)
        text += f"    def {name}({own}) -> {result}: ...{ignore}\n"
    return re.sub(r"(?<=\n)(?=from typing)", "".join(f"from builtins import {n} as _{n}\n" for n in SHADOWED), text, count=1)


#: What a program annotates with. Of a class with `__class_getitem__` pyright takes whatever is in the brackets, and completes the methods
#: of values. The checker mypy takes that of Any alone, so that most of what a function computes is Any. A function may still return it as
#: a tensor or a list: these are unions with Any there, which keeps their methods. No system has the name "", which pyright knows. It is
#: mypy that reads both branches and keeps the first.
VALUES = ("Tensor", "ListValue")
AGGREGATES = ("fold", "foldl", "foldr", "reduce", "scan", "scanl", "scanr")
JIT = """
@overload
def jit(function: Callable[..., Any]) -> Jit: ...
@overload
def jit(*, {options}) -> Callable[[Callable[..., Any]], Jit]: ...
"""


def types_stub(names):
    """Values of programs, their types, and element types."""
    first = "".join(f"    {name} = Union[_{name}, Any]\n" for name in VALUES) + "".join(f"    {name}: Any\n" for name in names)
    second = "".join(f"    {name} = _{name}  # type: ignore[misc]\n" for name in VALUES)
    second += "".join(f"    {name} = {'_ListValue' if name == 'List' else '_Tensor'}\n" for name in names)
    return f'if os.name == "":\n{first}else:\n{second}'


#: Types of the options of `jit`.
OPTIONS = {
    "bounds": "Union[str, Sequence[str]]", "lengths": "Optional[Mapping[str, int]]", "typical": "Optional[Mapping[str, Any]]",
    "gen": "Optional[Mapping[str, Generator]]", "engine": "Optional[str]", "rounding": "str",
    "mesh": "Any", "shard": "Optional[Mapping[str, str]]",
}


def jit_stub():
    options = [p.name for p in inspect.signature(ft.jit).parameters.values() if p.kind == p.KEYWORD_ONLY]
    return JIT.format(options=", ".join(f"{name}: {OPTIONS[name]} = ..." for name in options))


def aggregate_stub(name):
    """A fold returns what its function does; a scan a list, or several."""
    options = list(inspect.signature(getattr(ft, name)).parameters.values())[3:]
    rest = "lists: _Traversed, init: Any = ..." + ("".join([", *"] + [f", {p.name}: Any = ..." for p in options]) if options else "")
    forms = [("One", "_ListValue"), ("Several", "Lists")] if name.startswith("scan") else [("Step[State]", "State")]
    doc = inspect.getdoc(getattr(ft, name)).split("\n")[0]
    text = "".join(f"@overload\ndef {name}(f: {f}, {rest}) -> {result}: ...\n" for f, result in forms)
    return f'{text}@overload\ndef {name}(f: Callable[..., Any], {rest}) -> Any:\n    """{doc}"""\n    ...\n'


def package_stub():
    text = HEAD + "import os\nfrom typing import Any, Callable, Mapping, Optional, Sequence, Union, overload\n\nfrom . import cache as cache\nfrom . import functions as functions\nfrom . import torch as torch\n"
    text += "from .lists import ZippedLists\nfrom .program import Generator\nfrom .traversal import Lists, One, Several, State, Step\n"
    later, types_ = "", []
    places = {}
    names = sorted(n for n in vars(ft) if not n.startswith("_"))
    modules = ("errors", "types", "lengths", "lists", "compute", "program", "binding", "bundles", "tensors", "jit", "derivatives", "saving")
    import importlib

    for module_name in modules:
        module = importlib.import_module(f"fractaltensor.{module_name}")
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) == module.__name__ or module_name == "types":
                places.setdefault(id(value), (module_name, name))
    for name in names:
        value = getattr(ft, name)
        if inspect.ismodule(value):
            continue
        if getattr(functions, name, None) is value:
            text += f"from .functions import {name} as {name}\n"
            continue
        if name in VALUES:
            text += f"from .{'tensors' if name == 'Tensor' else 'lists'} import {name} as _{name}\n"
            continue
        if isinstance(value, (type(ft.f32), type(ft.any))) or name == "List":
            types_.append(name)
            continue
        if name in AGGREGATES:
            later += aggregate_stub(name)
            continue
        if name == "jit":
            later += jit_stub()
            continue
        place = places.get(id(value))
        own = getattr(value, "__module__", "")
        if inspect.isclass(value) and own.startswith("fractaltensor."):
            place = (own.split(".", 1)[1], value.__name__)
        if place and place[1] != name:
            # Only a name that stays as it is counts as exported.
            text += f"from .{place[0]} import {place[1]}\n"
            later += f"{name} = {place[1]}\n"
        elif place:
            text += f"from .{place[0]} import {place[1]} as {name}\n"
    later = "_Traversed = Union[_ListValue, ZippedLists, Sequence[_ListValue]]\n\n" + later
    return f"{text}\n{types_stub(types_)}\n{later}\n__version__: str\n"


FILES = {"functions.pyi": functions_stub, "tensors.pyi": tensors_stub, "__init__.pyi": package_stub}


def main() -> int:
    stale = []
    for name, make in FILES.items():
        path = HERE / "fractaltensor" / name
        text = make()
        compile(text, name, "exec")
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                stale.append(name)
        else:
            path.write_text(text)
    if stale:
        print(f"out of date: {', '.join(stale)}; run python/generate_stubs.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
