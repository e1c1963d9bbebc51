# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a person looks at: the compiler's remarks as text, and the graph as a picture."""

from __future__ import annotations

import html
import json
import os
import re
from typing import Dict, List, Optional, Union

from . import compiled
from .compiled import Request
from .library import Message
from .names import counted
from .program import Program
from .source import place

_VERBS = {"passed": "did", "missed": "could have, and did not", "failed": "refused", "analysis": "found"}


def explain(program: Program, request: Request) -> str:
    """Remarks by phase: what was done, what was refused, with reasons and numbers."""
    messages, table = compiled.remarks_of(program, request)
    remarks = [m for m in messages if m.severity == "remark"]
    lines = [f"{program.name}, compiled for {request.target}"]
    if request.is_chosen:
        lines.append(f"  schedule: {request.schedule}, which tune() chose")
    lengths = ", ".join(program.signature.length_names)
    if lengths:
        lines.append(f"  lengths {lengths} are bound at each call; the same code serves all of them")
    lines += _plan(remarks, program)
    lines += _grouped(remarks, program, table)
    if not remarks:
        lines.append("  the compiler made no remarks")
    return "\n".join(lines + _gradients(program))


#: Remarks that have the plan and its time, the most exact first.
_PLANS = ("plan", "choose-division", "choose-schedule")


def _plan(remarks: List[Message], program: Program) -> List[str]:
    """What runs, its time as the compiler's model predicts it, and what the compiler did not do."""
    lines: List[str] = []
    for name in _PLANS:
        # Kernels as a trace names them.
        found = [_of_kernel(remark) + _one_line(remark, program) for remark in remarks if remark.name == name]
        if found:
            lines += ["", f"plan, with predicted times{_assumed(program)}:"] + [f"  {text}" for text in dict.fromkeys(found)]
            break
    refused = [f"  {r.name}: {_one_line(r, program)}" for r in remarks if r.remark in ("missed", "failed")]
    if refused:
        lines += ["", "not done:"] + _counted(refused)
    return lines


def _of_kernel(remark: Message) -> str:
    return f"{remark.function}: " if remark.name == "plan" and not remark.function.startswith("<") else ""


def _assumed(program: Program) -> str:
    """For which lengths times are predicted."""
    return " at typical lengths (lengths= or typical= of @ft.jit)" if program.signature.length_names else ""


def plan_of(program: Program, request: Request) -> str:
    """What runs, as one line; "" where the compiler says nothing of it."""
    remarks = compiled.remarks_of(program, request)[0]
    for name in _PLANS:
        found = [_one_line(remark, program) for remark in remarks if remark.severity == "remark" and remark.name == name]
        if found:
            return "; ".join(dict.fromkeys(found))
    return ""


def _counted(lines: List[str]) -> List[str]:
    """Each line once, with how often it is there."""
    return [line if lines.count(line) == 1 else f"{line} ({lines.count(line)} times)" for line in dict.fromkeys(lines)]


def _grouped(remarks: List[Message], program: Program, table) -> List[str]:
    groups: Dict[str, List[Message]] = {}
    for remark in remarks:
        groups.setdefault(remark.category or "compiler", []).append(remark)
    lines: List[str] = []
    for category, group in groups.items():
        lines += ["", f"{category}:"]
        told: List[str] = []
        for remark in group:
            verb = _VERBS.get(remark.remark, remark.remark)
            text = f"  {verb} {remark.name}: {_one_line(remark, program)}"
            frames = compiled._frames(remark.places, program, table)
            told.append(text + (f"\n    at {place(frames[0])}" if frames else ""))
        for text in dict.fromkeys(told):
            count = told.count(text)
            head, newline, rest = text.partition("\n")
            lines.append(head + (f" ({count} times)" if count > 1 else "") + newline + rest)
    return lines


def _gradients(program: Program) -> List[str]:
    """What is saved for the derivatives that were made of the program, and why."""
    from .derivatives import choices, saved_bytes

    lines: List[str] = []
    for wrt, made, messages, table in choices(program):
        names = ", ".join(program.parameters[i].name for i in wrt)
        lines += ["", f"derivative for {names}:"]
        for kind, number in dict.fromkeys(made.residuals):
            if kind == "saved":
                lines.append(f"  saves {made.forward._derived.result_types[made.num_results + number]}")
        lines.append(f"  saves {saved_bytes(made)} bytes besides arguments and results")
        lines += _grouped([m for m in messages if m.severity == "remark" and m.category == "gradients"], program, table)
    return lines


def _one_line(remark: Message, program: Program) -> str:
    text = " ".join(remark.text.split())
    # The category, name and kind are printed before it.
    text = re.sub(r"^\[\w+\]\s*" + re.escape(remark.name) + r"\s*\|?\s*", "", text)
    text = re.sub(r"\s*\|?\s*Category:\S*\s*", " ", text).strip(" |")
    # The graph numbers its arguments; here they have names.
    names = [parameter.name for parameter in program.parameters]
    return re.sub(r"\bargument (\d+)\b", lambda m: f"'{names[int(m[1])]}'" if int(m[1]) < len(names) else m[0], text)


class Picture:
    """A program's graph: blocks, buffers and edges with their maps, and the waves of each nest.

    A notebook shows it; elsewhere ``str()`` is the text of the graph and :meth:`save` writes an HTML page.
    """

    def __init__(self, program: Program, page: str, text: str):
        self.program, self.page, self.text = program, page, text

    def _repr_html_(self) -> str:
        # A frame keeps the page's styles and scripts to itself.
        return (
            '<iframe style="width:100%;height:480px;border:1px solid #ccc" title="graph" '
            "onload=\"this.style.height=Math.min(1200,this.contentDocument.documentElement.scrollHeight+8)+'px'\" "
            f'srcdoc="{html.escape(self.page, quote=True)}"></iframe>'
        )

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the page into a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page)

    def __str__(self):
        return self.text

    def __repr__(self):
        blocks = len(re.findall(r"\betdg\.block\b", self.text))
        return f"<graph of {self.program.name}: {counted(blocks, 'block')}; .save('graph.html') to look at it>"


def _with_names(page: str, names: List[str]) -> str:
    """The compiler's page, whose drawings name arguments as the function does."""
    return page.replace("<head>", f"<head><script>var ftNames = {json.dumps(names)};</script>", 1)


def _with_plan(page: str, lines: List[str]) -> str:
    """The same with what runs under the program's name."""
    shown = f"<h3>Plan</h3><pre style='white-space: pre-wrap'>{html.escape(chr(10).join(lines).strip())}</pre>"
    return page.replace("</h2>", f"</h2>{shown}", 1) if lines else page


def show(program: Program, request: Request, path: Optional[Union[str, os.PathLike[str]]] = None) -> Picture:
    """The plan and the graph before and after reordering, drawn by the compiler."""
    text = compiled.text_after(program, "reorder", request)
    page = _with_names(compiled.text_after(program, "html", request), [parameter.name for parameter in program.parameters])
    page = _with_plan(page, _plan([m for m in compiled.remarks_of(program, request)[0] if m.severity == "remark"], program))
    picture = Picture(program, page, text)
    if path is not None:
        picture.save(path)
    return picture
