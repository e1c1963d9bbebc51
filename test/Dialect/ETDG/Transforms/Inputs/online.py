#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of a program before and after etdg-online:

    online.py FT-BIN FILE ENTRY [OPTION ...] DIMS ...

DIMS is NAME=VALUE,NAME=VALUE; with `--join=N` iterations are joined by N after it. With every f32 of the file made f64 the rewritten graph
agrees with the program to 1e-11 in random and declared order; as it stands the CPU
engine on the rewritten graph agrees with the program to 1e-4.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

PIPELINE = "--pass-pipeline=builtin.module(ft-inline,canonicalize,cse,convert-ft-to-etdg,etdg.graph(etdg-online{%s},%setdg-verify))"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(" ".join(map(str, command)) + "\n" + done.stderr)
    return done.stdout


def results(folder, ft_run, file, count, *options):
    outs = [folder / f"{i}.npy" for i in range(count)]
    run(ft_run, file, *options, *(f"--out={o}" for o in outs))
    return [np.load(o) for o in outs]


def close(name, got, want, tolerance):
    for i, (a, b) in enumerate(zip(got, want)):
        if np.issubdtype(b.dtype, np.integer):
            ok = np.array_equal(a, b)
        else:
            scale = np.sqrt(np.mean(np.square(b, dtype=np.float64))) if b.size else 0
            ok = np.all(np.isfinite(b)) and np.all(np.abs(a - b) <= tolerance * (1e-300 + np.abs(b) + scale))
        if a.shape != b.shape or not ok:
            sys.exit(f"{name}: result {i}: {a} is not {b}")


def main():
    tools, file, entry = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    options = ",".join(a[2:] for a in sys.argv[4:] if a.startswith("--") and not a.startswith("--join=")).replace(",", " ")
    join = "".join(f"etdg-join-iterations{{iterations={a[7:]}}}," for a in sys.argv[4:] if a.startswith("--join="))
    shapes = [a.split(",") for a in sys.argv[4:] if not a.startswith("--")]
    text = pathlib.Path(file).read_text()
    header = re.search(r"func\.func @" + entry + r"\((.*?)\{\n", text, re.S).group(1)
    count = header.split("->")[-1].count("!ft.list") or 1
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for element, tolerance in (("f64", 1e-11), ("f32", 1e-4)):
            program, online = folder / "program.mlir", folder / "online.mlir"
            program.write_text(text.replace("f32", element).replace("0xFF800000", "0xFFF0000000000000" if element == "f64" else "0xFF800000"))
            online.write_text(run(tools / "ft-opt", program, PIPELINE % (options, join)))
            for dims in shapes if element == "f64" else shapes[-1:]:
                common = [f"--entry={entry}", "--seed=3"] + [f"--dim={d}" for d in dims]
                want = results(folder, tools / "ft-run", program, count, "--engine=interpret", *common)
                orders = (["--engine=interpret", f"--order={o}"] for o in ("random", "declared"))
                for engine in orders if element == "f64" else (["--engine=cpu"],):
                    got = results(folder, tools / "ft-run", online, count, *engine, *common)
                    close(f"{entry} {dims} {engine}", got, want, tolerance)
    print(f"{entry}: agrees")


main()
