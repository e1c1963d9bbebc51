# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs of others write: contexts and decorators, control flow as functions, ranges and names that data decide, lambdas, messages."""

import importlib.util
import math
import unittest
import warnings

from fractaltensor import torch as ftt

HAS_TORCH = importlib.util.find_spec("torch") is not None
NEEDS_TORCH = "PyTorch is not installed"

if HAS_TORCH:
    import torch
    from torch import nn


def _flat(value):
    return [x for part in value for x in _flat(part)] if isinstance(value, (tuple, list)) else [value]


#: Lambdas of one statement, two of them in a line.
TABLE = {
    "one": lambda x: x + 1,
    "two": lambda x: x * 2, "three": lambda x: x * 3,
    "four": lambda x: (
        x
        - 4
    ),
}  # fmt: skip


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Habits(unittest.TestCase):
    def same(self, function, *arguments, exact=False):
        """On both engines, as eager mode."""
        copies = lambda: [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]  # noqa: E731
        expected = _flat(function(*copies()))
        for engine in ("interpret", "cpu"):
            with self.subTest(function=getattr(function, "__name__", ""), engine=engine):
                found = _flat(ftt.script(function, engine=engine)(*copies()))
                self.assertEqual(len(found), len(expected))
                for a, b in zip(found, expected):
                    if isinstance(b, torch.Tensor):
                        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
                    else:
                        self.assertTrue(a == b or math.isclose(a, b, rel_tol=1e-6), (a, b))

    def test_sizes_that_must_be_a_number(self):
        """What the host has checked to be 4 is 4 in compiled code."""
        def means(x, groups):
            return x[:4] / torch.bincount(groups, minlength=4).clamp(min=1).unsqueeze(1)

        arguments = torch.arange(60.0).view(12, 5), torch.arange(12) % 4
        self.same(means, *arguments)
        script = ftt.script(means, engine="cpu")
        script(*arguments)
        self.assertEqual(script.report().interpreted, 0, script.remarks)
        with self.assertRaises(ftt.RunShapeError):
            script(arguments[0], arguments[1] + 1)  # counts of 0 to 4

    def test_results_of_another_size(self):
        """PyTorch changes the size of what `out=` names; nothing is broadcast into it."""
        def total(x, o):
            torch.sum(x, 0, out=o)
            return o

        self.same(total, torch.ones(3, 4), torch.zeros(4))
        for sizes in ((3, 4), (1, 4), (0,)):
            with self.subTest(sizes=sizes), self.assertRaisesRegex(ftt.ScriptError, "give one of the result's sizes"):
                ftt.script(total, engine="interpret")(torch.ones(3, 4), torch.zeros(sizes))

    def test_results_into_a_size_that_is_data(self):
        def total(x, o):
            torch.sum(x, 0, keepdim=True, out=o)
            return o

        for engine in ("interpret", "cpu"):
            script = ftt.script(total, engine=engine, dims={"o": ("T",)})
            self.assertEqual(script(torch.ones(3), torch.zeros(1)).tolist(), [3])
            with self.subTest(engine), self.assertRaises(ftt.RunShapeError):
                script(torch.ones(3), torch.zeros(4))

    def test_results_into_a_size_that_is_data(self):
        def total(x, o):
            torch.sum(x, 0, keepdim=True, out=o)
            return o

        for engine in ("interpret", "cpu"):
            script = ftt.script(total, engine=engine, dims={"o": ("T",)})
            self.assertEqual(script(torch.ones(3), torch.zeros(1)).tolist(), [3])
            with self.subTest(engine), self.assertRaises(ftt.RunShapeError):
                script(torch.ones(3), torch.zeros(4))

    def test_no_gradients(self):
        @torch.no_grad()
        def running(x):
            for i in range(1, x.shape[0]):
                x[i] += x[i - 1]
            return x

        @torch.inference_mode()
        def outer(x):
            with torch.set_grad_enabled(False):
                return running(x) * 2

        for function in (running, outer):
            self.same(function, torch.ones(7))

    def test_lambdas(self):
        for name, wanted in (("one", 2), ("two", 2), ("three", 3), ("four", -3)):
            self.assertEqual(ftt.script(TABLE[name], engine="interpret")(torch.ones(1)).item(), wanted, name)

    def test_cond(self):
        def chosen(x, y):
            return torch.cond(x.sum() > 0, lambda x, y: (x + y, x * 2), lambda x, y: (x - y, y * 3), (x, y))

        def known(x, y):
            return torch.cond(x.shape[0] > 2, lambda x, y: x + y, lambda x, y: x - y, (x, y))

        for x in (torch.ones(3), -torch.ones(3)):
            wanted = (x + torch.arange(3.0), x * 2) if x.sum() > 0 else (x - torch.arange(3.0), torch.arange(3.0) * 3)
            found = ftt.script(chosen, engine="cpu")(x, torch.arange(3.0))
            self.assertTrue(all(torch.equal(a, b) for a, b in zip(found, wanted)))
            self.assertTrue(torch.equal(ftt.script(known, engine="cpu")(x, x), x + x))

    def test_while_loop(self):
        def halved(x, limit):
            def goes_on(x, n):
                return x.sum() > limit

            def half(x, n):
                return x / 2, n + 1

            return torch.while_loop(goes_on, half, (x, torch.zeros((), dtype=torch.int64)))

        for limit in (1.0, 1000.0):
            x, n = torch.full((5,), 17.0), 0
            while x.sum() > limit:
                x, n = x / 2, n + 1
            found = ftt.script(halved, engine="cpu")(torch.full((5,), 17.0), torch.tensor(limit))
            self.assertTrue(torch.equal(found[0], x) and found[1].item() == n)

    def test_range_by_data(self):
        def counted(x, r):
            total = torch.zeros(())
            for i in range(int(r[0]), int(r[1]), int(r[2])):
                total = total + x[i] * (i + 1)
            return total

        x = torch.arange(97.0)
        for r in ((88, -1, -8), (0, 97, 7), (5, 5, 3), (3, 9, -1), (9, 3, 1), (0, 1, 100), (96, -1, -1)):
            self.same(counted, x, torch.tensor(r))
        with self.assertRaisesRegex(ftt.RunError, r"the step of range\(\) must not be 0"):
            ftt.script(counted, engine="cpu")(x, torch.tensor((0, 3, 0)))

    def test_names_set_before_a_break(self):
        def first_large(x):
            i = 0
            while True:
                if x[i] > 0.9 or i == x.shape[0] - 1:
                    r = x[i] * 2
                    break
                i += 1
            return r, i

        def two_exits(x):
            i, s = 0, torch.zeros(())
            while True:
                s = s + x[i]
                if s > 2:
                    reason = 1
                    break
                i += 1
                if i >= x.shape[0]:
                    reason, last = 2, s
                    break
                last = s * 3
            return i, reason

        for seed in range(5):
            x = torch.rand(13, generator=torch.Generator().manual_seed(seed))
            self.same(first_large, x)
            self.same(two_exits, x * (0.1 if seed % 2 else 1))

        def read_too_early(x):
            i = 0
            while True:
                if x[i] > 0.9:
                    r = x[i]
                    break
                i = i + 1 + (r > 0)
            return r

        with self.assertRaisesRegex(ftt.ScriptError, "'r' has no value"):
            ftt.script(read_too_early)(torch.rand(3))

    def test_a_number_that_becomes_a_tensor(self):
        def positives(x):
            total = 0
            for t in range(x.shape[0]):
                if x[t] > 0:
                    total = total + x[t]
            return total + torch.zeros((), dtype=x.dtype)

        for dtype in (torch.float32, torch.float64, torch.int32):
            self.same(positives, torch.tensor([1, -2, 3, 0, 5]).to(dtype))

    def test_states_by_name(self):
        def named(x, n: int):
            state = {}
            for i in range(n):
                state["s%d" % i] = x * i
            return state["s0"] + state[f"s{n - 1}"]

        for n in (3, 150):
            self.same(named, torch.ones(2), n)
        with self.assertRaisesRegex(ftt.ScriptError, "this loop of 600 iterations is compiled as one: up to 512"):
            ftt.script(named)(torch.ones(2), 600)

    def test_numbers_of_python(self):
        def numbers(x):
            total = 0.0
            for row in x:
                total += row[0].item()
            size = float(x.sum())
            return round(total, 2), round(total), round(size * 100, -1), math.copysign(2.0, -size), math.atan2(size, 2.0), math.fmod(size, 0.7), math.isnan(size), math.degrees(size), math.fabs(-size)

        self.same(numbers, torch.randn(5, 3, generator=torch.Generator().manual_seed(3)))

    def test_attention_of_padded_batches(self):
        class Padded(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, x, pad):
                return self.attention(x, x, x, key_padding_mask=pad, need_weights=False)[0]

        torch.manual_seed(0)
        x, pad = torch.randn(2, 5, 8), torch.arange(5)[None] >= torch.tensor([[5], [3]])
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        for module in (Padded(), layer):
            module = module.eval().requires_grad_(False)
            arguments = (x, pad) if module is not layer else (x, None, pad)
            torch.testing.assert_close(ftt.script(module, engine="cpu")(*arguments), module(*arguments), rtol=1e-4, atol=1e-5)

    def test_layers_in_evaluation(self):
        torch.manual_seed(0)
        x = torch.randn(2, 3, 7, 7)
        for module in (nn.Dropout2d(0.2), nn.MaxPool2d(2, ceil_mode=True), nn.Upsample(scale_factor=2, mode="bilinear"), nn.Unfold(2), nn.ReflectionPad2d(1)):
            module = module.eval()
            torch.testing.assert_close(ftt.script(module, engine="interpret")(x), module(x), rtol=1e-5, atol=1e-5)

    def test_hooks(self):
        module = nn.Linear(3, 3).eval().requires_grad_(False)
        module.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
        handle = module.register_forward_hook(lambda m, args, out: out + args[0].sum())
        script, x = ftt.script(module, engine="interpret"), torch.randn(2, 3)
        torch.testing.assert_close(script(x), module(x))
        handle.remove()
        torch.testing.assert_close(script(x), module(x))

    def test_projected_states(self):
        torch.manual_seed(0)
        for options in ({}, {"num_layers": 2, "bidirectional": True}, {"bias": False}):
            module = nn.LSTM(4, 6, proj_size=3, **options).eval().requires_grad_(False)
            x = torch.randn(5, 2, 4)
            for a, b in zip(_flat(ftt.script(module, engine="interpret")(x)), _flat(module(x))):
                torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)

    def test_what_is_raised(self):
        def checked(x):
            if x.ndim != 2:
                raise ValueError(f"expected a matrix, found {x.ndim} dimensions")
            return x * 2

        with self.assertRaisesRegex(ftt.ScriptError, "the program raises ValueError: expected a matrix, found 1 dimensions"):
            ftt.script(checked)(torch.ones(3))

        def late(x):
            if x.sum() > 2:
                raise ValueError("too large")
            return x

        with self.assertRaisesRegex(ftt.RunError, "the program raises ValueError: too large"):
            ftt.script(late, engine="cpu")(torch.ones(3))

    def test_matrices_that_cannot_be_solved(self):
        def solved(a):
            return torch.linalg.inv(a)

        with self.assertRaisesRegex(ftt.RunError, "linalg.inv: Singular matrix"):
            ftt.script(solved, engine="cpu")(torch.zeros(3, 3))
        with self.assertRaisesRegex(ftt.ScriptError, "expects square matrices"):
            ftt.script(solved, engine="cpu")(torch.zeros(3, 4))

    def test_steps_without_an_operator(self):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ftt.register_step("solv", lambda a, b: [a])
        self.assertRegex(str(found[0].message), "no operator asks for a step 'solv', .*did you mean 'solve'")
        from fractaltensor.torch.runtime import library

        del library.table()["solv"]


if __name__ == "__main__":
    unittest.main()
