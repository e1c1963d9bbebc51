#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tests of the Python package; the last line is "N passed, N failed, N skipped".

    python3 python/tests/run.py [-v] [module or module.Class.test …]

Sub-tests count one by one. Compiled programs go into a cache of their own, which is removed afterwards.
"""

import os
import pathlib
import shutil
import sys
import tempfile
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


def main() -> int:
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    folder = tempfile.mkdtemp(prefix="ft-tests-")
    os.environ["FT_CACHE_DIR"] = os.path.join(folder, "cache")
    try:
        loader = unittest.defaultTestLoader
        suite = loader.loadTestsFromNames(names) if names else loader.discover(str(HERE), "test_*.py")
        runner = unittest.TextTestRunner(verbosity=2 if "-v" in sys.argv else 1, resultclass=Result, stream=sys.stdout)
        result = runner.run(suite)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed or not result.passed else 0


if __name__ == "__main__":
    sys.exit(main())
