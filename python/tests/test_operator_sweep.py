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

    def test_calls_with_a_word(self):
        import operator_sweep

        some = operator_sweep.sweep("interpret", share=0.2, names=["ranks", "softshrink"])
        self.assertTrue(some.compared and all("softshrink" in text for text in some.scripts))
        self.assertEqual(operator_sweep.sweep("interpret", names=["softshrnk"]).compared, 0)


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Angles(unittest.TestCase):
    def test_huge_ones(self):
        """Sines of numbers up to the largest: libm's, on the processor."""
        import numpy as np
        import torch

        from fractaltensor import torch as ftt

        def waves(x):
            return x.sin(), x.cos(), x.tan()

        compiled, g = ftt.script(waves, engine="cpu"), torch.Generator().manual_seed(0)
        for dtype, most, near in ((torch.float32, 127.9, 2e-6), (torch.float64, 1023.9, 1e-14)):
            sizes = 2 ** (torch.rand(2003, generator=g, dtype=torch.float64) * most)
            x = (sizes * torch.randn(2003, generator=g).sign()).to(dtype)
            x[:4] = torch.tensor([2.0**51, -(2.0**51), torch.finfo(dtype).max, -1e20], dtype=torch.float64)
            for found, function in zip(compiled(x), (np.sin, np.cos, np.tan)):
                wanted = torch.from_numpy(function(x.double().numpy()))
                self.assertLess(((found.double() - wanted).abs() / wanted.abs().clamp(min=1)).max().item(), near)
            self.assertTrue(all(y.isnan().all() for y in compiled(torch.full((2003,), torch.inf, dtype=dtype))))


if __name__ == "__main__":
    unittest.main()
