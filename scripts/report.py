#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes build/report.html: every example's graph, its text after each phase, waves, remarks and times, in one file.

    scripts/report.py [--build build] [--out build/report.html] [--jobs 2] [--torch-python PYTHON] [program.mlir …]

Without programs all of examples/ are taken. PyTorch's times are there if --torch-python (or FT_TORCH_PYTHON, or the
Python that runs this) has PyTorch. Exit status 1 where a program fails or differs from the interpreter.
"""

import argparse
import glob
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ft_report import collect, page  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--out")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--torch-python")
    options = parser.parse_args()
    files = options.programs or sorted(glob.glob(os.path.join(ROOT, "examples", "*.mlir")))
    files = [os.path.relpath(os.path.abspath(file), ROOT) for file in files]
    missing = [file for file in files if not os.path.exists(os.path.join(ROOT, file))]
    if missing or not files:
        sys.exit(f"no such program: {', '.join(missing)}" if missing else "examples/ holds no program")
    out = options.out or os.path.join(options.build, "report.html")
    folder = os.path.dirname(os.path.abspath(out))
    if not os.path.isdir(folder):
        sys.exit(f"report.py: error: cannot write {out}: there is no folder '{folder}'")
    tools = os.path.join(os.path.abspath(options.build), "bin")
    if not os.path.exists(os.path.join(tools, "ft-translate")):
        sys.exit(f"report.py: error: {tools} has no ft-translate: build it by scripts/build.sh ft-opt ft-run ft-translate")
    programs = collect.programs(collect.Tools(ROOT, os.path.abspath(options.build)), files, max(1, options.jobs), options.torch_python)
    page.write(programs, out)
    failed = [p for p in programs if not p["measured"].get("ok")]
    for program in failed:
        lines = program["measured"].get("error", "").splitlines()
        why = next((line for line in lines if "error:" in line), lines[0] if lines else "its results differ from the interpreter's")
        print(f"report.py: {why if 'error:' in why else program['file'] + ': error: ' + why}", file=sys.stderr)
    print(f"{len(programs) - len(failed)} of {len(programs)} ok; {out}" + (f"; failed: {', '.join(p['name'] for p in failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
