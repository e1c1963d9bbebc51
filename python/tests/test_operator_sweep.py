# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A random part of operator_sweep.py, on both engines; FT_SWEEP=1 runs all of it (`scripts/test.sh long`)."""

import importlib.util
import os
import unittest

HAS_TORCH = importlib.util.find_spec("torch") is not None
SHARE = float(os.environ.get("FT_SWEEP", 0))


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Sweep(unittest.TestCase):
    def check(self, engine, share, least):
        import operator_sweep

        done = operator_sweep.sweep(engine, seed=7, share=SHARE or share)
        self.assertEqual([f"{what}: {said}" for what, said, _ in done.wrong], [])
        self.assertGreater(done.compared, least)

    def test_interpreted(self):
        self.check("interpret", 0.04, 600)

    def test_compiled(self):
        self.check("cpu", 0.004, 60)


if __name__ == "__main__":
    unittest.main()
