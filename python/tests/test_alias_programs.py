# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs over tensors that share elements and functions that assign names of outside (alias_programs.py), beside eager PyTorch: equal, or
refused with a place. FT_SWEEP=N draws others; FT_SWEEP=all takes a thousand, as `scripts/test.sh long` does."""

import collections
import os
import unittest
import warnings

import alias_programs
from fractaltensor import torch as ftt
from test_promises import HAS_TORCH

if HAS_TORCH:
    import torch

#: Programs that are always drawn.
SOME = 60
#: So many of a hundred are compared at least; the others are refused, or PyTorch raises an error.
COMPARED = 40


def differs(found, expected) -> str:
    """What is wrong with a result; nothing where it is right. A number may be a tensor of one element where some path makes it one."""
    if len(found) != len(expected):
        return f"{len(found)} results, expected {len(expected)}"
    for at, (a, b) in enumerate(zip(found, expected)):
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            if a.dtype != b.dtype or a.shape != b.shape or not torch.equal(a.resolve_conj(), b.resolve_conj()):
                return f"result {at} is\n{a}\nexpected\n{b}"
        elif float(a) != float(b):
            return f"result {at} is {a}, expected {b}"
    return ""


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Programs(unittest.TestCase):
    def test_each_as_in_eager_or_refused(self):
        drawn = os.environ.get("FT_SWEEP", "0")
        first, count = (0, 1000) if drawn == "all" else (int(drawn) * SOME, SOME)
        counts = collections.Counter()
        with alias_programs.Programs(range(first, first + count)) as programs, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for seed, function in programs.functions.items():
                with self.subTest(seed=seed):
                    counts[self.compare(seed, function, programs.texts[seed])] += 1
        self.assertGreaterEqual(counts["compared"] * 100, COMPARED * count, dict(counts))

    def compare(self, seed: int, function, text: str) -> str:
        theirs, ours = alias_programs.arguments(seed), alias_programs.arguments(seed)
        try:
            expected = alias_programs.flat([function(*theirs), theirs])
        except (RuntimeError, IndexError):
            return "an error of PyTorch"
        try:
            found = alias_programs.flat([ftt.script(function, engine="interpret" if seed % 3 else "cpu")(*ours), ours])
        except ftt.ScriptError as error:
            self.assertIn("alias_functions.py:", str(error))
            return "refused"
        except ftt.RunShapeError:
            return "refused"  # sizes that are data are equal, and not broadcast
        wrong = differs(found, expected)
        self.assertEqual(wrong, "", f"{wrong}\n{text}")
        return "compared"


if __name__ == "__main__":
    unittest.main()
