# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of `script_states_and_views.py` on each engine beside eager PyTorch: results, types of elements, arguments and states of modules; twice, and
with `in_place=False`."""

import copy
import unittest

from fractaltensor import torch as ftt
from test_promises import HAS_TORCH

if HAS_TORCH:
    import torch


def flat(value):
    """What stands in tuples, lists and dictionaries, in order."""
    if isinstance(value, dict):
        return [*value, *flat(list(value.values()))]
    return [y for x in value for y in flat(x)] if isinstance(value, (list, tuple)) else [value]


def again(value):
    """A copy that lies as the value does."""
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(value)


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class StatesAndViews(unittest.TestCase):
    def agree(self, found, expected):
        self.assertEqual([type(x) for x in found], [type(x) for x in expected])
        for at, (a, b) in enumerate(zip(found, expected)):
            if not isinstance(b, torch.Tensor):
                self.assertEqual(a, b, at)
            elif b.is_floating_point():
                torch.testing.assert_close(a, b, equal_nan=True, msg=str(at)) if b.dtype.itemsize == 2 else torch.testing.assert_close(a, b, rtol=2e-5, atol=2e-5, msg=str(at))
            else:
                self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape), at)
                self.assertTrue(torch.equal(a, b), at)

    def state_of(self, function):
        return list(function.state_dict().values()) if isinstance(function, torch.nn.Module) else []

    def test_as_eager(self):
        from script_states_and_views import programs

        for name, function, arguments in programs():
            for engine, options in (("interpret", {}), ("cpu", {}), ("cpu", {"in_place": False})):
                mine, other = copy.deepcopy(function), copy.deepcopy(function)
                script = ftt.script(mine, engine=engine, **options)
                for call in range(2):
                    ours, theirs = [again(x) for x in arguments], [again(x) for x in arguments]
                    with self.subTest(program=name, engine=engine, call=call, **options):
                        expected = flat([other(*theirs), theirs, self.state_of(other)])
                        self.agree(flat([script(*ours), ours, self.state_of(mine)]), expected)
                        if engine == "cpu" and call:
                            self.assertEqual(script.report().interpreted, 0, script.remarks)


if __name__ == "__main__":
    unittest.main()
