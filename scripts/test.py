#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the sections of the test suite and sums them up; called by test.sh.

scripts/test.py [--build=build-gcc] [unit] [lit] [fuzz] [examples] [python] [long]
"""

import concurrent.futures
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import features

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
JOBS = os.cpu_count() or 2
# Seconds after which a program hangs, on a busy machine, too. Nothing is judged by its time.
HANGS = 2 * 3600
LONG = 12 * 3600
# Plans are made for the tests' own machines: what is measured decides no test.
os.environ["FT_MACHINES"] = str(ROOT / "test/machines")


class Counts:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def __iadd__(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def unit():
    """Each GoogleTest binary of build/unittests; a crash is a failure."""
    total = Counts()
    binaries = sorted(p for p in (BUILD / "unittests").glob("*Tests") if os.access(p, os.X_OK))
    # The largest first, so that none is left over at the end; each in a process of its own, two cores for all.
    binaries.sort(key=lambda p: -p.stat().st_size)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for counts, complaint in pool.map(unit_binary, binaries):
            if complaint:
                print(complaint)
            total += counts
    return total


def unit_binary(binary):
    """Runs one GoogleTest binary: its counts, and what it printed where something failed."""
    with tempfile.TemporaryDirectory() as folder:
        xml = pathlib.Path(folder) / "result.json"
        command = [str(binary), f"--gtest_output=json:{xml}", "--gtest_brief=1"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, errors="replace")
            status, output = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            status, output = -1, f"no result after {HANGS} s"
        counts = Counts()
        result = json.loads(xml.read_text()) if xml.exists() else {}
    for suite in result.get("testsuites", []):
        for test in suite.get("testsuite", []):
            if test.get("result") == "SKIPPED" or test.get("status") == "NOTRUN":
                counts.skipped += 1
            elif test.get("failures"):
                counts.failed += 1
            else:
                counts.passed += 1
    if status and not counts.failed:
        counts.failed += 1  # crashed, or ended before it wrote its result
    return counts, f"{binary.name}: status {status}\n{output[-6000:]}" if counts.failed else None


def lit():
    """The lit suite."""
    program = None
    for candidate in ("/usr/lib/llvm-22/bin/lit", "/usr/lib/llvm-22/build/utils/lit/lit.py"):
        if os.path.exists(candidate):
            program = candidate
            break
    if program is None:
        print("lit is not installed")
        return Counts(failed=1)
    # A test that reads what an earlier run left would pass here and fail in a fresh checkout.
    for outputs in list((BUILD / "test").rglob("Output")):
        shutil.rmtree(outputs)
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "lit.json"
        command = [sys.executable, program, "-sv", "--no-progress-bar", f"-j{JOBS}", "-o", str(result), str(BUILD / "test")]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if not result.exists():
            print((done.stdout + done.stderr)[-6000:])
            return Counts(failed=1)
        counts = Counts()
        for test in json.loads(result.read_text())["tests"]:
            code = test["code"]
            if code in ("PASS", "FLAKYPASS", "XFAIL"):
                counts.passed += 1
            elif code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
                counts.skipped += 1
            else:
                counts.failed += 1
        if counts.failed:
            print(done.stdout[-20000:])
        return counts


SUMMARY = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")


def counted(command, timeout=HANGS):
    """A program that prints "N passed, N failed, N skipped"; the last such line counts."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, text=True, timeout=timeout, errors="replace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        print(f"{command[0]}: no result after {timeout} s")
        return Counts(failed=1)
    print(output.rstrip())
    found = SUMMARY.findall(output)
    counts = Counts(*(int(n or 0) for n in found[-1])) if found else Counts()
    if status and not counts.failed:
        counts.failed = 1
    return counts


FUZZ = re.compile(r"(\d+) programs: (\d+) equal, (\d+) refused, (\d+) failed")


def fuzz():
    """Random well-typed programs: interpreter = etdg in all orders = CPU = emulated GPU = after each phase."""
    binary = BUILD / "bin/ft-fuzz"
    if not binary.exists():
        return Counts()
    # Each half also asserts that it holds enough of every operator and shape.
    total = Counts()
    for size, options in ((300, []), (500, ["--phases"]), (40, ["--emulate"]), (500, ["--gradients", "--no-cpu", "--no-graph-interpreter"])):
        total += fuzz_halves(binary, size, options)
    return total


def fuzz_halves(binary, size, options, first=0, limit=HANGS):
    halves = [
        subprocess.Popen(
            [str(binary), f"--programs={size}", f"--first={start}", "--verbose", *options],
            cwd=ROOT, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        for start in (first, first + size)
    ]
    total = Counts()
    for half in halves:
        try:
            output, _ = half.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            half.kill()
            output, _ = half.communicate()
        print(output[-4000:].rstrip())
        found = FUZZ.search(output)
        equal, refused, failed = (int(n) for n in found.groups()[1:]) if found else (0, 0, 0)
        if half.returncode and not failed:
            failed = 1  # crashed, too slow, or too few of something
        total += Counts(equal, failed, refused)
    return total


def examples():
    """Every example at its default sizes on the CPU, against the interpreter."""
    if not (BUILD / "bin/ft-run").exists() or not list((ROOT / "examples").glob("*.mlir")):
        return Counts()
    return counted([sys.executable, str(ROOT / "scripts/demo.py"), "--as-tests"])


# Tests of the Python package that compare with PyTorch, or give it tensors.
TORCH_TESTS = ("test_torch", "test_script", "test_operator_paths", "test_script_habits", "test_operator_sweep", "test_script_plans", "test_promises", "test_closures", "test_complex", "test_alias_programs", "test_layouts", "test_exported", "test_found_lengths",
               "test_calls", "test_direct", "test_strides", "test_tutorial")


def python():
    """The Python package: operations against NumPy, calls, messages, cache, the twins of the examples."""
    if not (BUILD / "lib/libFractalTensor.so").exists():
        return Counts()
    runner = str(ROOT / "python/tests/run.py")
    jobs = f"--jobs={JOBS}"
    total = counted([sys.executable, runner, jobs])
    other = python_with_torch()
    if other:
        total += counted([other, runner, jobs, *TORCH_TESTS])
    return total


def python_with_torch():
    """Another Python than this one that has PyTorch, if this one has not."""
    other = shutil.which("python3")
    if importlib.util.find_spec("torch") is not None or other is None or os.path.samefile(other, sys.executable):
        return None
    found = subprocess.run([other, "-c", "import torch, numpy"], capture_output=True)
    return other if found.returncode == 0 else None


def long():
    """What takes too long for every change: random programs by the thousand, hostile input, all of upstream's passes, each function of
    elements at all odd numbers."""
    binary = BUILD / "bin/ft-fuzz"
    total = Counts()
    if binary.exists():
        for size, options in ((2000, []), (3000, ["--phases"]), (1000, ["--emulate"])):
            total += fuzz_halves(binary, size, options, first=100000, limit=LONG)
    hostile = ROOT / "scripts/hostile.py"
    if hostile.exists():
        total += counted([sys.executable, str(hostile), f"--build={BUILD}", "--inputs=10000"], LONG)
    total += upstream_passes()
    total += operators()
    sweep = [sys.executable, str(ROOT / "python/tests/run.py"), "test_list_sweep"]
    total += counted(["env", "FT_SWEEP=all", *sweep], LONG)
    aliases = [python_with_torch() or sys.executable, str(ROOT / "python/tests/run.py"), "test_alias_programs", "test_layouts"]
    total += counted(["env", "FT_SWEEP=all", *aliases], LONG)
    return total


def operators():
    """Every operator of PyTorch scripts on every element type, by the Python that has PyTorch."""
    script, python = ROOT / "python/tests/operator_sweep.py", python_with_torch()
    if python is None and importlib.util.find_spec("torch") is None:
        return Counts(skipped=1)
    command = [python or sys.executable, "-W", "ignore", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    print((done.stdout + done.stderr).rstrip()[-6000:])
    found = re.search(r"(\d+) compared, \d+ refused, (\d+) wrong", done.stdout)
    compared, wrong = (int(n) for n in found.groups()) if found else (0, 1)
    return Counts(passed=max(compared - wrong, 0), failed=wrong or int(done.returncode != 0))


def upstream_passes():
    """Every pass that ft-opt lists, between the phases of every example."""
    script = ROOT / "scripts/upstream-passes.py"
    if not script.exists() or not (BUILD / "bin/ft-opt").exists():
        return Counts()
    command = [sys.executable, str(script), f"--bin={BUILD / 'bin'}", "--passes=all"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONG, errors="replace")
    except subprocess.TimeoutExpired:
        print(f"{script.name}: no result after {LONG} s")
        return Counts(failed=1)
    print((done.stdout + done.stderr).rstrip()[-6000:])
    found = re.search(r"(\d+) passes run, .*?(\d+) failures", done.stdout)
    runs, failures = (int(n) for n in found.groups()) if found else (0, 1)
    return Counts(passed=max(runs - failures, 0), failed=failures or int(done.returncode != 0))


SECTIONS = {"unit": unit, "lit": lit, "fuzz": fuzz, "examples": examples, "python": python, "long": long}
# What runs where nothing is named.
DEFAULT = ["unit", "lit", "fuzz", "examples", "python"]


def main():
    global BUILD
    names = sys.argv[1:]
    if names and names[0].startswith("--build="):
        BUILD = ROOT / names.pop(0).removeprefix("--build=")
        if not (BUILD / "bin").is_dir():
            sys.exit(f"{BUILD} holds no build")
        # The examples' table is made by programs of the default build.
        names = names or ["unit", "lit", "fuzz"]
    names = names or DEFAULT
    for name in names:
        if name not in SECTIONS:
            sys.exit(f"no section '{name}'; known are {', '.join(SECTIONS)}")
    total = Counts()
    summary = []
    required, unknown = features.required()
    if unknown:
        sys.exit(f"FT_REQUIRE names '{unknown[0]}'; known are {', '.join(sorted(features.available()))}")
    for feature in required:
        if not features.available()[feature]:
            # Whatever tests would have used it: asked for and not here is a failure.
            print(f"FT_REQUIRE: {feature} is missing on this machine")
            total += Counts(failed=1)
    for name in names:
        print(f"== {name}: {SECTIONS[name].__doc__.splitlines()[0]}", flush=True)
        start = time.monotonic()
        counts = SECTIONS[name]()
        summary.append(f"{name:<10}{time.monotonic() - start:8.1f} s   {counts}")
        total += counts
        sys.stdout.flush()
    print("\n".join(["", *summary]))
    ok = total.failed == 0 and total.passed > 0
    print(total, flush=True)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
