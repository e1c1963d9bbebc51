# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every example for the CPU and bounds what that costs: compile.py BIN EXAMPLES

CPU time of all threads, the least of a few runs, is what a busy machine changes least; numbers of
instructions and bytes do not change at all, but differ among processors (fewer vector registers,
smaller tiles).
"""
import json, pathlib, subprocess, sys

SECONDS = 0.5
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
    seconds = []
    while len(seconds) < 5 and (not seconds or min(seconds) > SECONDS):
        report = compiled(pathlib.Path(sys.argv[1]) / "ft-run", example)
        seconds.append(report["compile_cpu_seconds"])
    instructions, code = report["instructions"], report["code_bytes"]
    print("%-28s %.3f s, %d instructions, %d bytes" % (example.stem, min(seconds), instructions, code))
    if min(seconds) > SECONDS:
        wrong.append("%s takes %.3f s of CPU time, at most %.1f expected" % (example.stem, min(seconds), SECONDS))
    if not 0 < instructions <= INSTRUCTIONS:
        wrong.append("%s has %d instructions, at most %d expected" % (example.stem, instructions, INSTRUCTIONS))
    if not 0 < code <= BYTES_PER_INSTRUCTION * instructions:
        wrong.append("%s has %d bytes for %d instructions, at most %d each expected"
                     % (example.stem, code, instructions, BYTES_PER_INSTRUCTION))
if wrong:
    sys.exit("\n".join(wrong))
