# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of elements at the numbers where functions go wrong (list_sweep.py). A seed of the file draws some of the
cases; FT_SWEEP=all runs all of them, as `scripts/test.sh long` does."""

import os
import random
import unittest

import list_sweep

#: Cases of each kind that are always drawn.
SOME = {"unary": 8, "binary": 8, "rows": 12, "conversion": 6}


class Sweep(unittest.TestCase):
    def test_no_function_is_left_out(self):
        self.assertEqual(list_sweep.uncovered(), set())

    def test_functions(self):
        cases = list(list_sweep.cases())
        if os.environ.get("FT_SWEEP") != "all":
            draw = random.Random(int(os.environ.get("FT_SWEEP", "1")))
            cases = [c for kind, count in SOME.items() for c in draw.sample([c for c in cases if c.title == kind], count)]
        for case in cases:
            for engine in ("interpret", "cpu"):
                with self.subTest(case=str(case), engine=engine):
                    self.assertEqual(list_sweep.check(case, engine), [])
