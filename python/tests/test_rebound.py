# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`self.state = ...`: attributes that a function binds again are bound when a call has succeeded, as eager PyTorch leaves them."""

import copy
import unittest

import numpy as np

from fractaltensor import ArgumentError
from fractaltensor import torch as ftt
from test_promises import ENGINES, HAS_TORCH, flat

if HAS_TORCH:
    import torch
    from torch import nn

    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("h", torch.zeros(3))
            self.w = nn.Parameter(torch.tensor([[1.0, -0.5, 0.25], [0.5, 0.5, -1.0], [0.25, 1.0, 0.5]]), requires_grad=False)
            self.seen = None

        def forward(self, x):
            self.h = torch.tanh(self.h @ self.w + x)
            return self.h

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.last = Cell(), torch.zeros(3)

        def straight(self, x):
            self.last = x[0] * 2
            self.cell.h = self.cell.h + self.last
            return self.last, self.cell.h

        def over_rows(self, x):
            y = torch.empty_like(x)
            for t in range(x.shape[0]):
                y[t] = self.cell(x[t])
            return y

        def into_a_list(self, x):
            return torch.stack([self.cell(row) for row in x])

        def on_data(self, x):
            if x.sum() > 0:
                self.last = self.last + x[0]
                self.cell(x[1])
            else:
                self.cell.h = x[1]
            return self.last.sum(), self.cell.h * 2

        def until(self, x):
            i = 0
            while self.cell.h.abs().sum() < 2.5 and i < 20:
                self.cell(x[i % 3])
                i += 1
            return i

        def exits(self, x):
            for t in range(x.shape[0]):
                if x[t, 0] > 1:
                    return t
                self.last = self.last * 2 + x[t]
            return -1

        def at_first(self, x):
            if self.cell.seen is None:
                self.cell.seen = torch.zeros_like(x[0])
            self.cell.seen = self.cell.seen + x[0]
            return self.cell.seen

        def exchange(self, x):
            self.cell.h, self.last = self.last, self.cell.h
            self.last += x[0]
            self.last = self.last.relu()
            return self.cell.h * 2

        def argument(self, x):
            self.last = x
            x[0] = 7

        def grows(self, x):
            self.last = torch.cat([self.last, x[0]])
            return self.last.sum()

        def number(self, x):
            self.count = 3
            return x

        def parameter(self, x):
            self.cell.w = x
            return x

        def of_a_loop(self, x):
            for t in range(x.shape[0]):
                self.fresh = x[t] * 2
            return x

        def in_a_condition(self, x):
            while self.cell(x[0]).sum() < 2:
                x = x + 1
            return x

        def on_one_side(self, x):
            if x.sum() > 0:
                self.fresh = x
            return x

        def otherwise(self, x):
            self.last = x[0]
            return self.state_dict()["cell.h"]


class Counter:
    """No module: an object of the user's."""

    def __init__(self):
        self.state = np.zeros(3, np.float32)

    def step(self, x):
        self.state = self.state + x
        return self.state


class Frozen:
    __slots__ = ("state",)

    def __init__(self):
        self.state = np.zeros(3)

    def step(self, x):
        self.state = self.state + x


class Numpy(unittest.TestCase):
    def test_an_object(self):
        ours, theirs = Counter(), Counter()
        step = ftt.script(ours.step)
        for i in range(3):
            x = np.full(3, i, np.float32)
            found, expected = step(x), theirs.step(x)
            self.assertIs(found, ours.state)
            np.testing.assert_array_equal(ours.state, expected)

    def test_an_object_that_watches(self):
        self.assertRaisesRegex(ftt.ScriptError, r"test_rebound.py:\d+:9: error: attribute 'state' of a captured Python object is assigned", ftt.script(Frozen().step), np.ones(3))


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Modules(unittest.TestCase):
    def state(self, net):
        return {**net.state_dict(), "last": net.last, "seen": net.cell.seen}

    def agree(self, name, calls=4, **options):
        for engine in ENGINES:
            theirs = Net()
            ours = copy.deepcopy(theirs)
            script = ftt.script(getattr(ours, name), engine=engine, **options)
            for call in range(calls):
                x = torch.arange(9.0).sin().reshape(3, 3) * (-1) ** call
                mine, other = x.clone(), x.clone()
                with self.subTest(name=name, engine=engine, call=call):
                    found, expected = flat([script(mine), mine]), flat([getattr(theirs, name)(other), other])
                    self.assertEqual([type(x) for x in found], [type(x) for x in expected])
                    for a, b in [*zip(found, expected), *zip(self.state(ours).values(), self.state(theirs).values())]:
                        torch.testing.assert_close(a, b) if isinstance(b, torch.Tensor) else self.assertEqual(a, b)
            if engine == "cpu":
                report = script.report()
                self.assertEqual((report.calls, report.interpreted, report.steps), (1, 0, 0), script.remarks)
        return script, ours

    def test_as_eager(self):
        for name in ("straight", "over_rows", "into_a_list", "on_data", "until", "exits", "at_first", "exchange", "argument"):
            self.agree(name)
        self.agree("over_rows", in_place=False)

    def test_sizes_that_change(self):
        self.agree("grows", calls=3)

    def test_one_tensor_is_one_object(self):
        script, net = self.agree("straight", calls=1)
        last, h = script(torch.ones(3, 3))
        self.assertIs(last, net.last)
        self.assertIs(h, net.cell.h)
        script, net = self.agree("argument", calls=1)
        x = torch.ones(3, 3)
        script(x)
        self.assertIs(net.last, x)

    def test_a_call_that_fails_binds_nothing(self):
        class Picks(nn.Module):
            def __init__(self):
                super().__init__()
                self.kept = torch.zeros(3)

            def forward(self, x, at):
                self.kept = x * 2
                return x[at]

        net = Picks()
        before, script = net.kept, ftt.script(net, engine="cpu")
        self.assertRaises(IndexError, script, torch.ones(3), torch.tensor([7]))
        self.assertIs(net.kept, before)
        script(torch.ones(3), torch.tensor([2]))
        self.assertEqual(net.kept.tolist(), [2, 2, 2])

    def test_what_is_refused(self):
        for name, text in (
            ("number", "attribute 'count' of a captured Python object is assigned, and the value is no tensor"),
            ("parameter", "attribute 'w' is a parameter or a module"),
            ("of_a_loop", "attribute 'fresh' has no value before the loop"),
            ("in_a_condition", "an attribute is assigned in the condition of a loop"),
            ("on_one_side", "attribute 'fresh' differs between the paths"),
            ("otherwise", "'state_dict' of an object, an attribute of which is assigned"),
        ):
            net = Net()
            with self.subTest(name=name):
                self.assertRaisesRegex(ftt.ScriptError, rf"test_rebound.py:\d+:\d+: error: {text}", ftt.script(getattr(net, name), engine="cpu"), torch.ones(3, 3))
                self.assertFalse(hasattr(net, "fresh"))

    def test_files_hold_no_objects(self):
        self.assertRaisesRegex(ArgumentError, "assigns the attribute 'last'", ftt.script(Net().straight, engine="cpu").export, "/dev/null", torch.ones(3, 3))


if __name__ == "__main__":
    unittest.main()
