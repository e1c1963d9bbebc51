"""What coarsening makes of an example, in numbers, and that nothing changes.

coarsen.py TOOLS TMP FILE...: prints for each file the blocks, top-level blocks,
copies and bytes of private buffers before and after phase coarsen, and runs both
graphs on the interpreter in declared order. `equal` is to the last bit, `close` is
within 1e-5 of the largest number (online forms add in another order).
"""

import array

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


def numbers(data):
    values = array.array("f")
    values.frombytes(data[10 + int.from_bytes(data[8:10], "little") :])
    return values


def compare(x, y):
    if x == y:
        return "equal"
    for a, b in zip(map(numbers, x), map(numbers, y)):
        scale = max([1e-30] + [abs(v) for v in a])
        if len(a) != len(b) or any(not abs(u - v) <= 1e-5 * scale for u, v in zip(a, b)):
            return "DIFFER"
    return "close"


os.makedirs(tmp, exist_ok=True)
for file in files:
    name = os.path.splitext(os.path.basename(file))[0]
    before, after = f"{tmp}/{name}.etdg.mlir", f"{tmp}/{name}.coarsen.mlir"
    run(f"{tools}/ft-opt", file, "--ft-compile=to=etdg", "-o", before)
    run(f"{tools}/ft-opt", before, "--ft-compile=from=etdg to=coarsen", "-o", after)
    (x, results), (y, _) = summary(before), summary(after)
    parts = [f"{key} {x[key]} -> {y[key]}" for key in x]
    same = compare(interpret(before, f"{tmp}/{name}.a", results), interpret(after, f"{tmp}/{name}.b", results))
    print(f"{name}: {', '.join(parts)}, results {same}")
