#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s %ft_bin/ft-opt %ft_bin/ft-run %t.mlir | FileCheck %s
# CHECK: 3 programs, 0 failures{{$}}
"""Programs of many dimensions or lengths. Work that multiplies with each dimension, or with each pair
of a length and a question, does not come to an end here.

    large.py FT-OPT FT-RUN FILE
"""

import subprocess
import sys

ft_opt, ft_run, path = sys.argv[1:]


def maps_around_a_scan(depth):
    """Perfect: one block of `depth` dimensions."""
    lists = [f"!ft.list<[{', '.join(f'N{i}' for i in range(d, depth))}], !x>" for d in range(depth)] + ["!x"]
    text = f"!x = tensor<2xf32>\nfunc.func @f(%a0: {lists[0]}) -> {lists[0]} {{\n%z = arith.constant dense<0.0> : !x\n"
    for d in range(depth - 1):
        text += f"%r{d} = ft.map (%a{d + 1} = %a{d} : {lists[d]}) {{\n"
    text += f"%r{depth - 1} = ft.scanl (%x = %a{depth - 1} : {lists[depth - 1]}) init (%s = %z : !x) {{\n"
    text += "%y = arith.addf %x, %s : !x\nft.yield %y : !x\n}\n"
    for d in reversed(range(1, depth)):
        text += f"ft.yield %r{d} : {lists[d]}\n}}\n"
    return text + f"return %r0 : {lists[0]}\n}}\n"


def folds_in_maps(depth):
    """Imperfect: a fold stands beside each map."""
    lists = [f"!ft.list<[{', '.join(f'N{i}' for i in range(d, depth))}], !x>" for d in range(depth)]
    text = f"!x = tensor<2xf32>\nfunc.func @f(%a0: {lists[0]}, %v: !ft.list<[M], !x>) -> {lists[0]} {{\n%f = arith.constant dense<0.0> : !x\n"
    before = "%f"
    for d in range(depth):
        text += f"%r{d} = ft.map (%a{d + 1} = %a{d} : {lists[d]}) {{\n%f{d} = ft.foldl (%w = %v : !ft.list<[M], !x>) init (%s = {before} : !x) {{\n"
        text += "%t = arith.addf %s, %w : !x\n%u = math.tanh %t : !x\nft.yield %u : !x\n}\n"
        before = f"%f{d}"
    text += f"%y = arith.addf %a{depth}, {before} : !x\nft.yield %y : !x\n}}\n"
    for d in reversed(range(1, depth)):
        text += f"ft.yield %r{d} : {lists[d]}\n}}\n"
    return text + f"return %r0 : {lists[0]}\n}}\n"


def many_lengths(count):
    """Each argument has a length of its own."""
    types = [f"!ft.list<[N{i}], !x>" for i in range(count)]
    text = f"!x = tensor<2xf32>\nfunc.func @f({', '.join(f'%a{i}: {t}' for i, t in enumerate(types))}) -> ({', '.join(types)}) {{\n"
    for i, t in enumerate(types):
        text += f"%r{i} = ft.map (%x = %a{i} : {t}) {{\n%y = arith.addf %x, %x : !x\nft.yield %y : !x\n}}\n"
    return text + f"return {', '.join(f'%r{i}' for i in range(count))} : {', '.join(types)}\n}}\n"


failures = 0
for name, text, blocks in [
    ("14 maps around a scan", maps_around_a_scan(14), 2),
    ("folds in 6 maps", folds_in_maps(6), None),
    ("300 lengths", many_lengths(300), 300),
]:
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([ft_opt, path, "--ft-compile=to=storage"], capture_output=True, text=True)
    found = done.stdout.count("etdg.block @")
    if done.returncode or (blocks and found != blocks):
        failures += 1
        print(f"{name}: status {done.returncode}, {found} blocks\n{done.stderr[:2000]}")
print(f"3 programs, {failures} failures")
sys.exit(1 if failures else 0)
