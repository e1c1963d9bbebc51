# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compile times of chains of nests.

chain.py TOOLS SMALL LARGE: each nest reads the one before in reverse, so that none
merges. The smaller chain must compile within 5 s and give what the interpreter gives;
the larger one may take 4.5 times the smaller one's processor time for each time its length is four
times as great, and 2 s more for starting up and noise.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile


def program(count):
    lines = ["!x = tensor<1x8xi32>", "func.func @chain(%x0: !ft.list<[L], !x>) -> !ft.list<[L], !x>",
             "    attributes {ft.lengths = {L = 3 : i64}} {"]
    for i in range(count):
        op = ("addi", "xori", "subi")[i % 3]
        lines += [f"  %r{i} = ft.reverse %x{i} : !ft.list<[L], !x>",
                  f"  %x{i + 1} = ft.map (%a{i}, %b{i} = %x{i}, %r{i} : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {{",
                  f"    %y{i} = arith.{op} %a{i}, %b{i} : !x", f"    ft.yield %y{i} : !x", "  }"]
    return "\n".join(lines + [f"  return %x{count} : !ft.list<[L], !x>", "}"])


def run(tools, count):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "chain.mlir")
        with open(path, "w") as file:
            file.write(program(count))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        out = subprocess.run([os.path.join(tools, "ft-run"), path, "--engine=cpu", "--json", "--compare=interpret"],
                             check=True, capture_output=True, text=True).stdout
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        report = json.loads(out)
        assert report["equal"], report
        return report["compile_seconds"], used


tools, small, large = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
seconds, used = run(tools, small)
_, more = run(tools, large)
print(f"{small} nests: {seconds:.2f} s to compile, {used:.2f} s of processor time; {large}: {more:.2f} s")
assert used <= 5, "the smaller chain takes too long"
assert more <= 4.5 * used * large / small / 4 + 2, "the time grows faster than the chain"
