#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports a model that ``torch.export`` has taken:

    python3 -m fractaltensor.torch.import MODEL [-o FILE.fts] [--targets=cpu,sm_90a] [--text]

MODEL is a file that `torch.export.save` wrote (`model.pt2`), or `module:name` of an importable module of Python. What the name stands for is
an exported program, or a function without arguments that gives one. It may also give `(model, args)` or `(model, args, dynamic_shapes)`.

Without `-o` it says what the model is made of. With it, FILE.fts has the compiled model and its weights, for
`fractaltensor.torch.load`. `--text` prints the program before it is compiled. What cannot be imported is told at once, with
every operator and its places; then nothing is written, and the status is 1.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections import Counter
from typing import List, Optional


def program_of(name: str):
    """The exported program that MODEL names."""
    import torch

    if os.path.exists(name) or name.endswith(".pt2"):
        return torch.export.load(name)
    module, colon, attribute = name.partition(":")
    if not colon:
        raise SystemExit(f"error: {name}: expected a file of torch.export.save, or module:name")
    sys.path.insert(0, os.getcwd())
    found = getattr(importlib.import_module(module), attribute)
    if not isinstance(found, torch.export.ExportedProgram) and callable(found):
        found = found()
    if isinstance(found, tuple):
        model, args, *shapes = found
        found = torch.export.export(model, args, dynamic_shapes=shapes[0] if shapes else None)
    return found


def summary(program, model) -> str:
    """What a model is made of: its operators, and its parameters."""
    from .graphs import shown

    graph = [node for node in program.graph.nodes if node.op == "call_function"]
    counts = Counter(shown(node.target) for node in graph)
    tensors = model._ft_function.tensors
    size = sum(t.numel() * t.element_size() for t in tensors.values())
    lines = [f"{model.__name__}: {len(graph)} nodes, {len(counts)} operators, {len(tensors)} parameters and buffers of {size} bytes"]
    lines += [f"  {count:5d}  {name}" for name, count in counts.most_common()]
    return "\n".join(lines)


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="fractaltensor.torch.import", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("-o", dest="output", metavar="FILE.fts")
    parser.add_argument("--targets", default="cpu", help="as in the compiler: cpu, cuda, sm_90a, x86-64-v3, …")
    parser.add_argument("--text", action="store_true", help="print the program before it is compiled")
    options = parser.parse_args(arguments)
    import torch

    from ..errors import Error
    from . import from_exported

    try:
        program = program_of(options.model)
        model = from_exported(program, engine="cpu")
        args, kwargs = program.example_inputs or ((), {})
        with torch.no_grad():
            if options.text:
                print(model.lower(*args, **kwargs).text())
            if options.output:
                print(model.export(options.output, *args, targets=options.targets.split(","), **kwargs))
            elif not options.text:
                print(summary(program, model))
    except (Error, OSError, ImportError, AttributeError) as error:
        print(f"error: {error}" if not str(error).count(": error: ") else error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
