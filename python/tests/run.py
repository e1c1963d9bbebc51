#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tests of the Python package; the last line is "N passed, N failed, N skipped".

    python3 python/tests/run.py [-v] [--jobs=N] [module or module.Class.test …]

Sub-tests count one by one. With several jobs each process takes one module after the other. Compiled programs go into
a cache of the process's own, which is removed afterwards. `--times` prints the seconds of each module.
"""

import concurrent.futures
import io
import multiprocessing
import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(ROOT / "examples/python")]


class Result(unittest.TextTestResult):
    """Counts sub-tests that pass as tests."""

    def __init__(self, *args):
        super().__init__(*args)
        self.passed, self.sub = 0, 0

    def addSuccess(self, test):  # noqa: N802
        super().addSuccess(test)
        self.passed += 1

    def addSubTest(self, test, subtest, error):  # noqa: N802
        super().addSubTest(test, subtest, error)
        self.passed += error is None


def run_suite(names, stream):
    """Tests by name: how many passed, failed and were skipped."""
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    runner = unittest.TextTestRunner(verbosity=2 if "-v" in sys.argv else 1, resultclass=Result, stream=stream)
    result = runner.run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    return result.passed, failed, len(result.skipped)


def start_process(folder):
    os.environ["FT_CACHE_DIR"] = tempfile.mkdtemp(prefix="cache-", dir=folder)


def run_module(name):
    """One module in a process of the pool: its counts, what it printed, and its seconds."""
    stream, start = io.StringIO(), time.monotonic()
    counts = run_suite([name], stream)
    return counts, stream.getvalue(), time.monotonic() - start


def run_modules(names, jobs, folder):
    """Modules over several processes, the largest first, so that none is left over at the end."""
    names = sorted(names, key=lambda name: -(HERE / f"{name.split('.')[0]}.py").stat().st_size)
    total = [0, 0, 0]
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(jobs, context, start_process, (folder,)) as pool:
        futures = {pool.submit(run_module, name): name for name in names}
        for future in concurrent.futures.as_completed(futures):
            try:
                counts, text, seconds = future.result()
            except Exception as error:  # a process that died takes its module along, and those that were not begun
                counts, text, seconds = (0, 1, 0), f"{futures[future]}: {type(error).__name__}: {error}\n", 0.0
            print(f"{futures[future]}: {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped" + (f", {seconds:.1f} s" if "--times" in sys.argv else ""))
            if counts[1]:
                print(text)
            sys.stdout.flush()
            total = [a + b for a, b in zip(total, counts)]
    return total


def main() -> int:
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    jobs = max([int(a.removeprefix("--jobs=")) for a in sys.argv[1:] if a.startswith("--jobs=")], default=1)
    names = names or sorted(path.stem for path in HERE.glob("test_*.py"))
    folder = tempfile.mkdtemp(prefix="ft-tests-")
    try:
        if jobs > 1:
            passed, failed, skipped = run_modules(names, jobs, folder)
        else:
            start_process(folder)
            passed, failed, skipped = run_suite(names, sys.stdout)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
