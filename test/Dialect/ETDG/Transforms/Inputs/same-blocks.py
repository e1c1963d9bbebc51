#!/usr/bin/env python3
"""Compares what programs over whole tensors and over lists of their rows become.

    same-blocks.py FT_OPT FILE PHASE

For each pair of functions `NAME` and `NAME_list`, both graphs have the same blocks after the phase:
operators, domains, the maps of reads and writes, and how often each operation stands in each body.
Names of buffers and values, and how a product on a row is called, may differ.
"""
import re
import subprocess
import sys

PRODUCTS = {"linalg.generic", "linalg.matmul", "linalg.vecmat", "linalg.batch_vecmat", "linalg.batch_matmul"}


def graphs(text):
    """The text of each graph by its name."""
    parts = re.split(r"^  etdg\.graph @(\w+)", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def shape_of(graph):
    """The blocks of a graph without its names of values."""
    blocks = []
    for line in graph.splitlines():
        block = re.match(r"\s*etdg\.block @\w+ (.*)", line)
        if block:
            blocks.append([block.group(1)])
            continue
        if not blocks:
            continue
        if re.match(r"\s*(reads|writes) ", line):
            line = re.sub(r"%\w+ = ", "", line)
            blocks[-1].append(re.sub(r"%\w+", "%", line).strip(" {"))
            continue
        operation = re.match(r"\s*(?:%[\w:]+ = )?((?:linalg|math)\.\w+)", line)
        if operation and operation.group(1) not in ("linalg.yield", "linalg.index"):
            name = operation.group(1)
            blocks[-1].append("product" if name in PRODUCTS else name)
    return [[block[0]] + sorted(block[1:]) for block in blocks]


def main():
    ft_opt, file, phase = sys.argv[1:]
    text = subprocess.run([ft_opt, file, "--ft-compile=to=" + phase], check=True, capture_output=True, text=True).stdout
    found = graphs(text)
    pairs = [name for name in found if name + "_list" in found]
    for name in pairs:
        whole, rows = shape_of(found[name]), shape_of(found[name + "_list"])
        if not whole or whole != rows:
            print(f"{name}: after {phase}, over whole tensors:\n{whole}\nover lists:\n{rows}")
        else:
            print(f"{name}: {len(whole)} equal blocks")


main()
