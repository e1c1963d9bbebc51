#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs chains of products in the emulator, thread by thread and by the definitions of operations on tiles.

    chains.py FT_RUN PROGRAM MACHINE

`three` gets small integers, of which every engine computes the same halves.
"""
import random
import struct
import subprocess
import sys
import tempfile

RUNS = [("attention", {"Q": 7, "K": 3}), ("attention", {"Q": 1, "K": 1}), ("gelu", {}), ("three", {"N": 5, "K": 3})]
INTEGERS = {"three": ((5, 32, 64), (3, 64, 64), (3, 64, 64))}


def write_halves(path, shape):
    """An array of f16, each of -1, 0 and 1."""
    count = 1
    for extent in shape:
        count *= extent
    header = f"{{'descr': '<f2', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    rng = random.Random(1)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{count}e", *(rng.choice((-1.0, 0.0, 0.0, 1.0)) for _ in range(count))))


def main():
    ft_run, program, machine = sys.argv[1:]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, dims in RUNS:
            options = [f"--dim={length}={value}" for length, value in dims.items()]
            for i, shape in enumerate(INTEGERS.get(name, ())):
                write_halves(f"{folder}/{i}.npy", shape)
                options.append(f"--arg={folder}/{i}.npy")
            if name in INTEGERS:
                options += ["--rtol=0", "--atol=0"]
            for engine in ("emulate", "interpret-tile"):
                command = [ft_run, program, f"--entry={name}", f"--engine={engine}", "--target=sm_90a", "--compare=interpret", "--multiprocessors=1",
                           f"--machine={machine}", *options]
                done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
                if done.returncode:
                    wrong += 1
                    print(f"{name} {dims}, {engine}: {(done.stdout + done.stderr)[:1500]}")
    print(f"{2 * len(RUNS)} runs, {wrong} wrong")


if __name__ == "__main__":
    main()
