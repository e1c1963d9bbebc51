# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What chains of nests cost to compile.

chain.py TOOLS SMALL LARGE: each nest reads the one before in reverse, so that none
merges. Both chains must give what the interpreter gives; the larger one may have as many
instructions and bytes of code for each nest as the smaller one, of which few are the nests' own:
equal kernels are compiled once.
"""

import json
import os
import subprocess
import sys
import tempfile


# Of a nest's call, not of its kernel.
INSTRUCTIONS = 40


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
        out = subprocess.run([os.path.join(tools, "ft-run"), path, "--engine=cpu", "--json", "--compare=interpret"],
                             check=True, capture_output=True, text=True).stdout
        report = json.loads(out)
        assert report["equal"], report
        return report


tools, small, large = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
few, many = run(tools, small), run(tools, large)
for what in ("instructions", "code_bytes"):
    print(f"{what}: {few[what]} of {small} nests, {many[what]} of {large}")
    assert many[what] <= 1.1 * few[what] * large / small, "the code grows faster than the chain"
assert few["instructions"] <= INSTRUCTIONS * small, "nests that are equal are compiled more than once"
