#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s %ft_bin/ft-opt %ft_bin/ft-run %t.mlir | FileCheck %s
# REQUIRES: numpy
# CHECK: 40 rings, 80 runs, 0 wrong{{$}}
"""Ring buffers of m cells, raised: who wrote a cell last is the iteration m before, and the graph
says just that, whatever m is; values against a loop over NumPy arrays.

    rings.py FT-OPT FT-RUN FILE
"""

import re
import subprocess
import sys

import numpy as np

ft_opt, ft_run, path = sys.argv[1:]

# Which cell is written and which one is read at step t.
kinds = {
    "same": (lambda t: t, lambda t: t, "%w = arith.addi %t, %c0 : index", "%r = arith.addi %t, %c0 : index"),
    "ahead": (lambda t: t, lambda t: t + 1, "%w = arith.addi %t, %c0 : index", "%r = arith.addi %t, %c1 : index"),
    "behind": (lambda t: t + 2, lambda t: t, "%w = arith.addi %t, %c2 : index", "%r = arith.addi %t, %c0 : index"),
    "every second": (lambda t: 2 * t, lambda t: 2 * t, "%w = arith.muli %t, %c2 : index", "%r = arith.muli %t, %c2 : index"),
}


def get_program(m, write, read):
    return f"""
func.func @ring(%xs: tensor<?xi32> {{etdg.dims = ["L"]}}) -> tensor<?xi32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = arith.constant {m} : index
  %L = tensor.dim %xs, %c0 : tensor<?xi32>
  %z = arith.constant dense<7> : tensor<{m}xi32>
  %e = tensor.empty(%L) : tensor<?xi32>
  %res:2 = scf.for %t = %c0 to %L step %c1 iter_args(%o = %e, %ring = %z) -> (tensor<?xi32>, tensor<{m}xi32>) {{
    {write}
    {read}
    %p = arith.remui %w, %m : index
    %q = arith.remui %r, %m : index
    %old = tensor.extract %ring[%q] : tensor<{m}xi32>
    %x = tensor.extract %xs[%t] : tensor<?xi32>
    %s = arith.subi %x, %old : i32
    %ring1 = tensor.insert %s into %ring[%p] : tensor<{m}xi32>
    %o1 = tensor.insert %s into %o[%t] : tensor<?xi32>
    scf.yield %o1, %ring1 : tensor<?xi32>, tensor<{m}xi32>
  }}
  return %res#0 : tensor<?xi32>
}}
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr[:2000]}")
    return done.stdout


random = np.random.default_rng(1)
rings = runs = wrong = 0
for kind, (writes, reads, write, read) in kinds.items():
    for m in (1, 2, 3, 4, 5, 6, 7, 9, 12, 16):
        with open(path, "w") as file:
            file.write(get_program(m, write, read))
        run(ft_opt, path, "--ft-compile=to=tile", "-o", "/dev/null")
        graph = run(ft_opt, path, "--ft-compile=to=etdg")
        rings += 1
        # No division of a division: who came last needs no search.
        conditions = re.findall(r" in (.*)", graph)
        if any(re.search(r"floordiv\([^)]*floordiv\(", c) for c in conditions) or graph.count("etdg.block") > 4:
            wrong += 1
            print(f"{kind}, {m} cells: the graph is larger than it need be\n{graph}")
        with open(path, "w") as file:
            file.write(graph)
        for length in (3, 29):
            xs = random.integers(-100, 100, length).astype(np.int32)
            np.save(path + ".x.npy", xs)
            run(ft_run, path, "--engine=cpu", f"--arg={path}.x.npy", f"--dim=L={length}", f"--out={path}.y.npy")
            ring, expected = np.full(m, 7, np.int32), np.zeros(length, np.int32)
            for t in range(length):
                expected[t] = xs[t] - ring[reads(t) % m]
                ring[writes(t) % m] = expected[t]
            runs += 1
            if not np.array_equal(np.load(path + ".y.npy").reshape(-1), expected):
                wrong += 1
                print(f"{kind}, {m} cells, {length} elements: {np.load(path + '.y.npy')}, expected {expected}")
print(f"{rings} rings, {runs} runs, {wrong} wrong")
sys.exit(1 if wrong else 0)
