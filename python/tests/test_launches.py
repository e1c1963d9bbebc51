# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many kernels of ours imperative programs launch on a GPU, by the plans of their parts; no GPU is needed.

The tails of detectors have the sizes of the published models, recurrent programs those of the benchmark. Each part runs once in a call.
"""

import importlib.util
import pathlib
import sys
import unittest

HAS_TORCH = importlib.util.find_spec("torch") is not None

if HAS_TORCH:
    import script_programs
    import script_tails
    import torch

    from fractaltensor import torch as ftt

#: Kernels of ours at most, besides those of library steps.
LAUNCHES = {"nasrnn": 1, "lstm": 1, "seq2seq": 2, "kv_attention": 2, "increment_rows": 1, "normalize": 1, "yolov3": 9, "ssd": 9, "yolact": 20, "fcos": 8}


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Launches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "benchmarks/suites"))
        try:
            import imperative
        finally:
            sys.path.pop()
        cls.benchmark = imperative
        imperative.install_suppression()

    @classmethod
    def tearDownClass(cls):
        for name in ("torchvision", "torchvision.ops"):
            sys.modules.pop(name, None)

    def test_by_their_plans(self):
        for name, most in LAUNCHES.items():
            with self.subTest(program=name), torch.no_grad():
                is_tail = name in script_tails.NAMES
                arguments = script_tails.inputs(name) if is_tail else self.benchmark.inputs(name)
                script = ftt.script(getattr(script_tails if is_tail else script_programs, name), engine="cpu")
                parts = script.lower(*arguments).launches()
                self.assertEqual([r for r in script.remarks if "interpreter" in r.text], [])
                self.assertGreater(sum(parts), 0)
                self.assertLessEqual(sum(parts), most, parts)


if __name__ == "__main__":
    unittest.main()
