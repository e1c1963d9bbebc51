#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How exact a program over f16 is as written, and after etdg-online:

    narrow.py FT-BIN FILE ENTRY [SCALE=x ...] DIMS ...

The truth is the program over f64, with the same inputs; bf16 is tried, too. What was
rewritten must be as exact, on the interpreter and on the CPU: its greatest error is at
most 1.25 times that of the program as written, or the rounding of one result.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

PIPELINE = "--pass-pipeline=builtin.module(ft-inline,canonicalize,cse,convert-ft-to-etdg%s)"
ONLINE = ",etdg.graph(etdg-online,etdg-verify)"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(" ".join(map(str, command)) + "\n" + done.stderr)
    return done.stdout


def encode(numbers, element):
    if element == "f16":
        return numbers.astype(np.float16)
    bits = numbers.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def decode(array, element):
    if element == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def main():
    tools, file, entry = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    settings = [a for a in sys.argv[4:] if a.startswith("SCALE=")]
    scales = [float(a[6:]) for a in settings] or [1.0]
    shapes = [dict(d.split("=") for d in a.split(",")) for a in sys.argv[4:] if a not in settings]
    text = pathlib.Path(file).read_text()
    aliases = dict(re.findall(r"^(!\w+) = tensor<([\dx]*)f16>", text, re.M))
    header = re.search(r"func\.func @" + entry + r"\((.*?)\{\n", text, re.S).group(1)
    arguments = re.findall(r"%\w+: !ft\.list<\[([^\]]*)\], (!\w+)>", header.split("->")[0])
    worst = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for element in ("f16", "bf16"):
            files = {}
            for name, kind, passes in (("truth", "f64", ""), ("written", element, ""), ("online", element, ONLINE)):
                source = folder / "source.mlir"
                source.write_text(re.sub(r"(?<=x|<| )f16\b", kind, text))
                files[name] = folder / f"{name}.mlir"
                files[name].write_text(run(tools / "ft-opt", source, PIPELINE % passes))
            if entry not in files["online"].read_text() or files["online"].read_text() == files["written"].read_text():
                sys.exit("nothing was rewritten")
            for dims in shapes:
                for scale in scales:
                    errors, output = [0.0] * 3, folder / "out.npy"
                    for seed in range(4):
                        rng = np.random.default_rng(seed)
                        narrow, exact = [], []
                        for i, (lengths, alias) in enumerate(arguments):
                            shape = [int(dims[n.strip()]) for n in lengths.split(",")]
                            shape += [int(n) for n in aliases[alias].split("x") if n]
                            array = encode(rng.normal(size=shape) * scale, element)
                            np.save(folder / f"n{i}.npy", array)
                            np.save(folder / f"e{i}.npy", decode(array, element))
                            narrow.append(f"--arg={folder}/n{i}.npy")
                            exact.append(f"--arg={folder}/e{i}.npy")

                        def result(name, engine, inputs, kind):
                            run(tools / "ft-run", files[name], f"--entry={entry}", f"--engine={engine}", *inputs, f"--out={output}")
                            return decode(np.load(output), kind)

                        truth = result("truth", "interpret", exact, "f64")
                        size = np.abs(truth).max()
                        for way, (name, engine) in enumerate((("written", "interpret"), ("online", "interpret"), ("online", "cpu"))):
                            got = result(name, engine, narrow, element)
                            if not np.isfinite(truth).all() or (name == "online" and not np.isfinite(got).all()):
                                sys.exit(f"{entry} {element} {dims} {scale}: {name}, {engine} is not finite")
                            error = np.abs(got - truth).max() / size if np.isfinite(got).all() else np.inf
                            errors[way] = max(errors[way], error)
                    worst[(element, str(dims), scale)] = errors
                    rounding = 2.0 ** (-11 if element == "f16" else -8)
                    for error in errors[1:]:
                        if error > 1.25 * errors[0] and error > rounding:
                            sys.exit(f"{entry} {element} {dims} {scale}: errors {errors}")
    for (element, dims, scale), errors in worst.items():
        print(f"{entry} {element} {dims} x{scale:g}: written {errors[0]:.1e} online {errors[1]:.1e} cpu {errors[2]:.1e}")
    print(f"{entry}: as exact as written")


main()
