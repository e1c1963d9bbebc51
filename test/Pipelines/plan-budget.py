#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s %ft_bin/ft-opt %t.mlir | FileCheck %s
# CHECK: 4 levels of 1: 12 plans for 2 orders{{$}}
# CHECK: 5 levels of 3: [[#%u,]] plans for 2 orders: beyond the budget inner nests kept the plan that was best before
# CHECK: 3 depths, 0 failures{{$}}
"""Imperfect maps nested in maps inside of a fold: plans of inner nests depend on where they are, and
places multiply with each level. Beyond the budget an inner nest keeps its last plan, and a remark says so:

    plan-budget.py FT-OPT FILE
"""

import re
import subprocess
import sys

ft_opt, path = sys.argv[1:]
BUDGET = 256  # CostModel::mostPriced


def folds_in_maps(levels, dims):
    """Each level is a map of so many dimensions with a fold beside what it holds."""
    depth = levels * dims
    lists = [f"!ft.list<[{', '.join(f'N{i}' for i in range(d, depth))}], !x>" for d in range(depth)]
    text = f"!x = tensor<2xf32>\nfunc.func @f(%in: {lists[0]}, %ls: !ft.list<[D], !x>, %v: !ft.list<[M], !x>) -> {lists[0]} {{\n"
    text += f"%out = ft.foldl (%layer = %ls : !ft.list<[D], !x>) init (%a0 = %in : {lists[0]}) {{\n"
    before = "%layer"
    for d in range(depth):
        text += f"%r{d} = ft.map (%a{d + 1} = %a{d} : {lists[d]}) {{\n"
        if d % dims == dims - 1:
            text += f"%f{d} = ft.foldl (%w = %v : !ft.list<[M], !x>) init (%s = {before} : !x) {{\n"
            text += "%t = arith.addf %s, %w : !x\n%u = math.tanh %t : !x\nft.yield %u : !x\n}\n"
            before = f"%f{d}"
    text += f"%y = arith.addf %a{depth}, {before} : !x\nft.yield %y : !x\n}}\n"
    for d in reversed(range(1, depth)):
        text += f"ft.yield %r{d} : {lists[d]}\n}}\n"
    return text + f"ft.yield %r0 : {lists[0]}\n}}\nreturn %out : {lists[0]}\n}}\n"


failures = 0
for levels, dims in ((4, 1), (3, 3), (5, 3)):
    depth = levels * dims
    with open(path, "w") as file:
        file.write(folds_in_maps(levels, dims))
    # (The graph as it is converted: coarsening would take the nest apart, and validation takes its time.)
    command = [ft_opt, path, "--ft-compile=to=schedule skip=coarsen validate=off", "--ft-validate=off",
               "--remark-policy=all", "--remarks-filter=cpu", "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True)
    plans = [(int(n), int(orders), rest) for n, orders, rest in re.findall(r'Remark="(\d+) plans priced for (\d+) orders([^"]*)"', done.stderr)]
    most = max(plans, default=(0, 1, ""))
    # What is priced once the budget is spent: the plans of each level once.
    within = most[0] <= most[1] * (BUDGET + 64 * depth)
    said = ("beyond the budget" in most[2]) == (most[0] > BUDGET * most[1])
    if done.returncode or not plans or not within or not said:
        failures += 1
        print(f"{levels} levels of {dims}: status {done.returncode}, {plans}\n{done.stderr[:1500]}")
    else:
        print(f"{levels} levels of {dims}: {most[0]} plans for {most[1]} orders{most[2]}")
print(f"3 depths, {failures} failures")
sys.exit(1 if failures else 0)
