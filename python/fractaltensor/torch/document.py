# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of operators, from their table: ``python3 -m fractaltensor.torch.document > docs/torch-operators.md``."""

from __future__ import annotations

from typing import Dict, List

from . import library
from .ops import METHODS, REFUSED, TABLE
from .ops.table import Operator

_HEAD = """# Operators of `fractaltensor.torch`

Made from the table of operators (`python3 -m fractaltensor.torch.document`); a test compares. {count} names. *function*: `torch.name`, or where
PyTorch has it (`torch.nn.functional`, `torch.special`, `torch.linalg`, `torchvision.ops`). *method*: `x.name`. *in place*: `x.name_`, and
`out=` of the function. Every one runs on the engines `interpret` and `cpu`; library steps run between compiled code.
Python's operators (`+`, `@`, `//`, `&`, `<`, `x[...]`, `+=`, ...) mean the operators that they mean in PyTorch.
"""


def _where(operator: Operator) -> str:
    own = {"fm": "function, method", "f": "function", "m": "method"}[operator.where]
    if operator.name in METHODS and operator.where == "f":
        own = "function, method"
    return own + (", in place" if operator.inplace else "")


def _groups() -> Dict[str, List[Operator]]:
    found: Dict[str, List[Operator]] = {}
    for name in sorted(TABLE):
        found.setdefault(TABLE[name].group, []).append(TABLE[name])
    return found


def page() -> str:
    """The page's text."""
    lines = [_HEAD.format(count=len(TABLE))]
    for group, operators in _groups().items():
        lines += [f"## {group}", "", "| name | as | note |", "|---|---|---|"]
        lines += [f"| `{o.name}` | {_where(o)} | {o.note} |" for o in operators]
        lines.append("")
    reasons: Dict[str, List[str]] = {}
    for name, reason in REFUSED.items():
        reasons.setdefault(reason, []).append(name)
    lines += ["## Refused", "", "| names | why |", "|---|---|"]
    lines += [f"| {', '.join(f'`{n}`' for n in sorted(names))} | {reason} |" for reason, names in reasons.items()]
    lines += ["", "## Steps of the library", "", "What `register_step` can put another function in the place of: " + ", ".join(f"`{n}`" for n in library.names()) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
