#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream's passes between our phases: programs mean the same afterwards, or are refused.

    upstream-passes.py [--bin=build/bin] [--passes=NAME,...|all] [--phases=ft,etdg,reorder] [--jobs=N] [FILE...]

Each program (all of examples/ by default) is compiled up to each phase; each pass runs on what came
out. Where that changed anything, the result is compiled for the CPU, run and compared with the
interpreter. Code for a GPU is emitted, too. Equal results of different passes are looked at once. The
named passes must succeed and keep the program working. With `all`, every pass that ft-opt lists is
tried. It may fail in its own way, and what it leaves may be refused with a located error.
No program crashes, hangs or computes something else.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMED = [
    "canonicalize", "cse", "sccp", "inline", "remove-dead-values", "symbol-dce", "loop-invariant-code-motion",
    "linalg-generalize-named-ops", "linalg-fuse-elementwise-ops", "linalg-fold-unit-extent-dims",
    "linalg-inline-scalar-operands", "convert-elementwise-to-linalg",
]
# They write files, wait for a user, or are told on the command line what to do.
LEFT_OUT = {"view-op-graph", "snapshot-op-locations", "print-op-stats", "generate-runtime-verification"}


def run(command, text=None, timeout=1200):
    """Status (None: too slow), output, errors."""
    try:
        done = subprocess.run([str(c) for c in command], input=text, capture_output=True, text=True, errors="replace",
                              timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, "", "no end"
    return done.returncode, done.stdout, done.stderr


class Checker:
    def __init__(self, bin, folder, named):
        self.bin, self.folder, self.named = bin, pathlib.Path(folder), named
        self.checked = {}  # by what the text is: what is wrong with it, or ""

    def crashed(self, status):
        return status is None or status < 0 or status > 2

    def apply(self, text, name):
        """What the pass makes of a text, or what is wrong."""
        status, out, err = run([self.bin / "ft-opt", "-", f"--{name}"], text)
        if self.crashed(status):
            return None, f"--{name}: status {status}: {err[-300:]}"
        if status and name in self.named:
            return None, f"--{name} fails: {err[:300]}"
        return (None if status else out), ""

    def check(self, text):
        key = hashlib.sha256(text.encode()).hexdigest()
        if key not in self.checked:
            self.checked[key] = self.checkOnce(text, self.folder / f"{key[:16]}.mlir")
        return self.checked[key]

    def checkOnce(self, text, path):
        path.write_text(text)
        commands = [([self.bin / "ft-run", path, "--engine=cpu", "--compare=interpret"], "on the CPU"),
                    ([self.bin / "ft-translate", "--mlir-to-ptx", "--target=sm_80", path, "-o", os.devnull], "for a GPU")]
        problems = []
        for command, where in commands:
            status, out, err = run(command)
            if self.crashed(status) or "NOT EQUAL" in out:
                problems.append(f"{where}: status {status} {out[-200:]}{err[-300:]}")
            elif status and not re.search(r":\d+:\d+: error: ", err):
                problems.append(f"{where}: status {status} without a located error: {err[:300]}")
            elif status:
                problems.append(f"{where} refused: {err[:300]}")
        return "\n".join(problems)


def passes_of(bin):
    """Every pass that ft-opt lists, without those of our own."""
    text = run([bin / "ft-opt", "--help"])[1]
    section = text.split("Passes:", 1)[1].split("Pass Pipelines:", 1)[0]
    names = re.findall(r"^      --([\w-]+)", section, re.M)
    own = re.compile(r"^(ft|etdg|tssa|tile)-|-to-etdg$|^convert-(etdg|ft)-")
    return [n for n in names if not own.search(n) and n not in LEFT_OUT]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--bin", default=str(ROOT / "build/bin"))
    parser.add_argument("--passes", default=",".join(NAMED))
    parser.add_argument("--phases", default="ft,etdg,reorder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    bin = pathlib.Path(options.bin)
    named = set() if options.passes == "all" else set(options.passes.split(","))
    names = sorted(named) or passes_of(bin)
    files = options.files or sorted((ROOT / "examples").glob("*.mlir"))
    failures, applied, changed, refused = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        checker = Checker(bin, folder, named)
        for file in files:
            for phase in options.phases.split(","):
                status, text, err = run([bin / "ft-opt", file, f"--ft-compile=to={phase}"])
                if status:
                    failures.append(f"{file} to {phase}: status {status}: {err[:300]}")
                    continue
                results = list(pool.map(lambda name: checker.apply(text, name), names))
                applied += len(names)
                distinct = {}
                for name, (out, problem) in zip(names, results):
                    if problem:
                        failures.append(f"{file} after {phase}, {problem}")
                    elif out is None:
                        refused += 1
                    elif out != text:
                        changed += 1
                        distinct.setdefault(out, name)
                for name, problem in zip(distinct.values(), pool.map(checker.check, distinct)):
                    if problem and (name in named or "status" in problem):
                        failures.append(f"{file} after {phase} and --{name}, {problem}")
                    elif problem:
                        refused += 1
    print("\n".join(failures))
    print(f"{len(files)} programs, {applied} passes run, {changed} changed a program, {len(checker.checked)} different "
          f"ones checked, {refused} refused, {len(failures)} failures")
    return 1 if failures or applied == 0 or changed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
