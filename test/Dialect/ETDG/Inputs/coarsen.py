"""What coarsening makes of an example, in numbers, and that nothing changes.

coarsen.py TOOLS TMP FILE...: prints for each file the blocks, top-level blocks,
copies and bytes of private buffers before and after phase coarsen, and runs both
graphs on the interpreter in declared order: results must be equal to the last bit.
"""

import json
import os
import subprocess
import sys

tools, tmp, files = sys.argv[1], sys.argv[2], sys.argv[3:]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def summary(path):
    graph = json.loads(run(f"{tools}/ft-translate", "--etdg-to-json", path))["graphs"][0]
    private = [b for b in graph["buffers"] if b["kind"] == "buffer"]
    results = sum(b["kind"] == "result" for b in graph["buffers"])
    return {
        "blocks": graph["blocks"],
        "top-level": graph["topLevelBlocks"],
        "copies": graph["copyBlocks"],
        "buffers": len(private),
        "bytes": sum(b["bytes"]["value"] for b in private),
    }, results


def interpret(path, prefix, results):
    outs = [f"{prefix}.{i}.npy" for i in range(results)]
    run(f"{tools}/ft-run", path, "--engine=interpret", "--order=declared", *[f"--out={o}" for o in outs])
    return [open(o, "rb").read() for o in outs]


os.makedirs(tmp, exist_ok=True)
for file in files:
    name = os.path.splitext(os.path.basename(file))[0]
    before, after = f"{tmp}/{name}.etdg.mlir", f"{tmp}/{name}.coarsen.mlir"
    run(f"{tools}/ft-opt", file, "--ft-compile=to=etdg", "-o", before)
    run(f"{tools}/ft-opt", before, "--ft-compile=from=etdg to=coarsen", "-o", after)
    (x, results), (y, _) = summary(before), summary(after)
    parts = [f"{key} {x[key]} -> {y[key]}" for key in x]
    same = interpret(before, f"{tmp}/{name}.a", results) == interpret(after, f"{tmp}/{name}.b", results)
    print(f"{name}: {', '.join(parts)}, results {'equal' if same else 'DIFFER'}")
