# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every example for the CPU and bounds what that makes: compile.py BIN EXAMPLES

Numbers of instructions and bytes are the same in every run, however busy the machine is; they differ
among processors (fewer vector registers, smaller tiles). Times are a benchmark's (benchmarks/run.py cpu).
"""
import json, pathlib, subprocess, sys

# Instructions of LLVM's representation, as translated. Today's largest is the grid RNN's with 8159, of three kernels.
INSTRUCTIONS = 10000
BYTES_PER_INSTRUCTION = 6


def compiled(ft_run, example):
    done = subprocess.run([ft_run, str(example), "--engine=cpu", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s fails:\n%s" % (example, done.stderr))
    return json.loads(done.stdout)


wrong = []
examples = sorted(pathlib.Path(sys.argv[2]).glob("*.mlir"))
assert len(examples) >= 18, examples
for example in examples:
    report = compiled(pathlib.Path(sys.argv[1]) / "ft-run", example)
    instructions, code = report["instructions"], report["code_bytes"]
    print("%-28s %d instructions, %d bytes" % (example.stem, instructions, code))
    if not 0 < instructions <= INSTRUCTIONS:
        wrong.append("%s has %d instructions, at most %d expected" % (example.stem, instructions, INSTRUCTIONS))
    if not 0 < code <= BYTES_PER_INSTRUCTION * instructions:
        wrong.append("%s has %d bytes for %d instructions, at most %d each expected"
                     % (example.stem, code, instructions, BYTES_PER_INSTRUCTION))
if wrong:
    sys.exit("\n".join(wrong))
