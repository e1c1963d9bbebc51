# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scripts as bundles (``.ftb``): one compiled function, which holds the tensors from outside of the script as its parameters.

Calls of the bundle, from Python or C, pass inputs and outputs alone. Parameters have the names that the module gives them.
"""

from __future__ import annotations

import copy
import os
import re
from typing import Any, Dict, Iterator, List, Sequence

from ..bundles import program_bytes, targets_for
from ..errors import ArgumentError, BundleError, NotBuiltError
from .frontend.values import ListOfRows
from .ir.operations import Value
from .plan.segments import Segment, SegmentText
from .program import Program
from .runtime import arrays
from .runtime.runnable import Leaf


def export(program: Program, name: str, path, targets) -> List[str]:
    """Writes a program that is one compiled function to a bundle, with its parameters; gives the targets."""
    wanted = targets_for(targets, None)
    segment = _only(program, name)
    held = _held(program, segment)
    writer = SegmentText(segment, held=held)
    writer.names = {root.value: said for root, said in zip(program.roots, program.root_names) if root.value not in held}
    values = {c.name.lstrip("."): c.getter() for c in program.captured if c.tensor.value in held}
    data = program_bytes(writer.text(), ",".join(wanted), name, segment.name, _saved(values) if values else b"")
    _write(os.fspath(path), data)
    return wanted


def _only(program: Program, name: str) -> Segment:
    """The one compiled function of a program, with arguments and results in the order of calls."""
    nodes, steps = program.division.plan, program.steps()
    if len(nodes) != 1 or not isinstance(nodes[0], Segment) or steps or program.sites:
        parts = f"{len(program.division.segments)} compiled parts"
        more = f" and the library steps {', '.join(steps)}" if steps else " that look at data" if program.sites else ""
        raise ArgumentError(f"export: '{name}' is {parts}{more}, a bundle has one function: write it to a file .fts")
    found = copy.copy(nodes[0])
    yields = program.division.top.yields
    outputs = [yields[leaf.at] for leaf in _leaves(program.structure)]
    if program.written or len(set(outputs)) != len(outputs) or set(outputs) != set(found.outputs):
        raise ArgumentError(f"export: '{name}' writes an argument, or returns one or a tensor twice: write it to a file .fts")
    order = {root.value: at for at, root in enumerate(program.roots)}
    found.outputs = outputs
    found.inputs = sorted(found.inputs, key=lambda value: order.get(value, len(order)))
    found.name = re.sub(r"\W", "_", name) if name.isascii() else "program"
    return found


def _leaves(structure) -> Iterator[Leaf]:
    if isinstance(structure, Leaf):
        if structure.kind != "tensor":
            raise ArgumentError("export: a bundle's results are tensors, found a number or an argument: write a file .fts")
        yield structure
    elif isinstance(structure, ListOfRows):
        raise ArgumentError("export: the function returns a list whose length is data: stack its items and return the tensor")
    elif isinstance(structure, (tuple, list, dict)):
        for item in structure.values() if isinstance(structure, dict) else structure:
            yield from _leaves(item)


def _held(program: Program, segment: Segment) -> Dict[Value, str]:
    """The tensors from outside that a function uses, by name."""
    taken = set(segment.inputs)
    found = {c.tensor.value: c.name.lstrip(".") for c in program.captured if c.tensor.value in taken}
    if len(set(found.values())) != len(found):
        raise ArgumentError("export: two tensors from outside have one name: give them to the function as arguments")
    return found


def _saved(values: Dict[str, Any]) -> bytes:
    """The content of a safetensors file."""
    try:
        if all(map(arrays.is_torch, values.values())):
            from safetensors.torch import save

            return save({name: value.detach().contiguous().cpu() for name, value in values.items()})
        from safetensors.numpy import save as save_arrays
    except ImportError:
        raise NotBuiltError("parameters are kept as safetensors: pip install safetensors") from None
    return save_arrays({name: arrays.as_numpy(value.cpu() if arrays.is_torch(value) else value) for name, value in values.items()})


def _write(path: str, data: bytes) -> None:
    """All or nothing: under another name first."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, path)
    except OSError as error:
        raise BundleError(f"export to {path}: {error.strerror}") from None
    finally:
        if os.path.exists(beside):
            os.unlink(beside)
