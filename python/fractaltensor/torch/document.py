# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of operators, from their table: ``python3 -m fractaltensor.torch.document > docs/torch-operators.md``."""

from __future__ import annotations

from typing import Dict, List

from .runtime import library
from .ops import REFUSED, TABLE
from .ops.table import Operator

_HEAD = """# Operators of `fractaltensor.torch`

Made from the table of operators (`python3 -m fractaltensor.torch.document`); a test compares. {count} paths of PyTorch, and {overloads} overloads of
ATen. An operator is found by its full path: what is not listed is refused. *in place*: `x.name_` as well, `torch.name_` where PyTorch has it, and
`out=` of the function. Every one runs on the engines `interpret` and `cpu`; library steps run between compiled code.
Python's operators (`+`, `@`, `//`, `&`, `<`, `x[...]`, `+=`, ...) mean the operators that they mean in PyTorch.
"""


def _shown(paths: List[str], operator: Operator) -> str:
    return ", ".join(f"`{p}`" for p in sorted(paths, key=lambda p: (p.count("."), p))) + (", in place" if operator.inplace else "")


def _groups() -> Dict[str, Dict[str, List[str]]]:
    """By heading, and by name: the paths that stand for one operator."""
    found: Dict[str, Dict[str, List[str]]] = {}
    for path in sorted(TABLE):
        if not path.startswith("aten."):
            operator = TABLE[path]
            found.setdefault(operator.group, {}).setdefault(operator.name.rpartition(".")[2], []).append(path)
    return found


def _refused() -> List[str]:
    reasons: Dict[str, List[str]] = {}
    for path, reason in REFUSED.items():
        reasons.setdefault(reason, []).append(path)
    return [f"| {', '.join(f'`{p}`' for p in sorted(paths))} | {reason} |" for reason, paths in reasons.items()]


def _overloads() -> List[str]:
    """ATen's overloads by packet."""
    found: Dict[str, List[str]] = {}
    for path in sorted(TABLE):
        if path.startswith("aten.") and path.count(".") == 2:
            _, packet, overload = path.split(".")
            found.setdefault(packet, []).append(overload)
    return [f"`{packet}`" + ("" if listed == ["default"] else f" ({', '.join(listed)})") for packet, listed in found.items()]


def page() -> str:
    """The page's text."""
    overloads = sum(p.startswith("aten.") and p.count(".") == 2 for p in TABLE)
    lines = [_HEAD.format(count=sum(not p.startswith("aten.") for p in TABLE), overloads=overloads)]
    for group, names in _groups().items():
        lines += [f"## {group}", "", "| name | at | note |", "|---|---|---|"]
        for name, paths in names.items():
            by_function: Dict[int, List[str]] = {}
            for path in paths:
                by_function.setdefault(id(TABLE[path].function), []).append(path)
            lines += [f"| `{name}` | {_shown(own, TABLE[own[0]])} | {TABLE[own[0]].note} |" for own in by_function.values()]
        lines.append("")
    lines += ["## Refused", "", "| paths | why |", "|---|---|", *_refused()]
    lines += ["", "## Overloads of ATen", "", "As `torch.ops.aten` has them, and graphs of `torch.jit` and `torch.export`: " + ", ".join(_overloads()) + "."]
    lines += ["", "## Steps of the library", "", "What `register_step` can put another function in the place of: " + ", ".join(f"`{n}`" for n in library.names()) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
