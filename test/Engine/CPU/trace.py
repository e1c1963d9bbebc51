# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A traced call: each task lies inside its kernel, and no two pieces of a thread at once; barriers are as many as the plan has.
# RUN: env FT_NUM_THREADS=2 %python %s %ft_bin/ft-run %examples %t.json | FileCheck %s
# CHECK: stacked_rnn: 1 kernels, 67 barriers
# CHECK: grid_rnn: {{[1-9]}} kernels
# CHECK: attention_three_step: {{[1-9]}} kernels, 0 barriers
# CHECK: stacked_rnn: {{[1-9][0-9]*}} barriers, as planned
# RUN: not ft-run %examples/gru.mlir --trace=%t.none/x.json 2>&1 | FileCheck %s --check-prefix=FOLDER
# FOLDER: ft-run: error: --trace={{.*}}x.json: there is no folder '{{.*}}'
# FOLDER-NOT: {{.}}
# RUN: not ft-run %examples/gru.mlir --trace=%t.x.json --engine=interpret 2>&1 | FileCheck %s --check-prefix=ENGINE
# ENGINE: ft-run: error: --trace has the times of kernels: --engine=interpret runs none, expected cpu or cuda
import json
import pathlib
import re
import subprocess
import sys

run, examples, out = sys.argv[1:]
out = pathlib.Path(out)


def inside(inner, outer):
    slack = 0.002  # numbers are rounded to nanoseconds
    return outer["ts"] - slack <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + slack


def check(name, *arguments):
    done = subprocess.run([run, f"{examples}/{name}.mlir", "--json", f"--trace={out}", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout)["barriers"]
    trace = json.loads(out.read_text())
    by = {}
    for event in trace["traceEvents"]:
        by.setdefault(event.get("cat"), []).append(event)
    (call,) = by["call"]
    assert call["name"] == name and call["args"]["L" if "L" in call["args"] else "Q" if "Q" in call["args"] else "N"] > 0
    kernels = {kernel["name"]: kernel for kernel in by["kernel"]}
    threads = {e["tid"] for e in by[None] if e["name"] == "thread_name"}
    pieces = by.get("task", []) + by.get("barrier", [])
    assert all(inside(kernel, call) for kernel in by["kernel"]) and by["task"]
    for piece in pieces:
        assert any(inside(piece, k) for k in by["kernel"] if k["name"] == piece["args"]["kernel"]), piece
        assert piece["tid"] in threads, piece
    for thread in threads:
        own = sorted((p for p in pieces if p["tid"] == thread), key=lambda p: (p["ts"], p["dur"]))
        for first, second in zip(own, own[1:]):
            assert first["ts"] + first["dur"] <= second["ts"] + 0.002, (first, second)
    # Each member of a region waits at each of its barriers.
    waits = {(w["args"]["region"], w["args"]["member"], w["args"]["part"]) for w in by.get("barrier", [])}
    assert len(waits) == len(by.get("barrier", []))
    barriers = {(region, part) for region, _, part in waits}
    for region in {r for r, _ in barriers}:
        members = {m for r, m, _ in waits if r == region}
        assert all((region, m, part) in waits for m in members for r, part in barriers if r == region)
    assert len(barriers) == trace["otherData"]["barriers"] == counted, (len(barriers), trace["otherData"], counted)
    print(f"{name}: {len(kernels)} kernels, {counted} barriers")


# The wavefront of 4 layers and 64 tokens has 4 + 64 - 1 steps, and a barrier after each.
check("stacked_rnn", "--candidate=0", "--dim", "N=1")
check("grid_rnn", "--dim", "N=1")
check("attention_three_step", "--dim", "B=1", "--dim", "H=1")

# Layer by layer, with two nests in each step: all wait between them and after the step.
done = subprocess.run([run, f"{examples}/stacked_rnn.mlir", "--dim=N=1", "--bench", "--bench-seconds=0"], capture_output=True, text=True)
counted = int(re.search(r"^barriers (\d+)$", done.stdout, re.M)[1])
planned = sum(int(number) for line in re.findall(r"^predicted: .*", done.stdout, re.M) for number in re.findall(r"(\d+) barriers?,", line))
assert planned == counted, done.stdout
print(f"stacked_rnn: {counted} barriers, as planned")
