# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists that loops append to or fill, comprehensions over many items, parts of tensors, and long straight-line updates, beside eager PyTorch.
The size of the code does not grow with the number of iterations or statements."""

import importlib.util
import pathlib
import tempfile
import unittest

from fractaltensor import torch as ftt
from test_promises import HAS_TORCH

if HAS_TORCH:
    import torch


def appended(x, w):
    states, h = [], x[0] * 0
    for t in range(x.shape[0]):
        h = torch.tanh(x[t] @ w + h)
        states.append(h)
    return torch.stack(states), torch.cat(states, 1), states[-1], len(states)


def begun(x, w):
    states = [x[0]]
    for t in range(1, x.shape[0]):
        states.append(states[-1] @ w + x[t])
    total = states[0] * 0
    for i, state in enumerate(states):
        total = total + state * i
    return torch.stack(states, dim=1), total, sum(states), torch.stack(states[2:])


def two_each(x, w):
    found = {"a": [], "b": []}
    for row in x:
        found["a"] += [row @ w, row]
        found["b"].append((row.sum(), row.mean().item()))
    return torch.cat(found["a"]), torch.stack([s for s, _ in found["b"]]), sum(m for _, m in found["b"])


def in_closure(x, w):
    outs = []

    def step(h, t):
        outs.append(h)
        return torch.tanh(x[t] @ w + h)

    h = x[0]
    for t in range(x.shape[0]):
        h = step(h, t)
    outs.append(h)
    return torch.stack(outs)


def filled(x, w):
    there, back, h = [None] * len(x), [None for _ in x], x[0] * 0
    for t in range(len(x)):
        h = torch.tanh(x[t] @ w + h)
        there[t] = h
    for t in reversed(range(len(x))):
        h = torch.tanh(x[t] @ w - h)
        back[t] = h
    return torch.stack(there) + torch.stack(back), there[1]


def in_parts(x, w):
    h, outs = x[0] * 0, []
    for row in x.unbind(0):
        h = torch.tanh(row @ w + h)
        outs += [h]
    return torch.stack(outs), [part.sum() for part in x.split(5)][2], torch.stack([x[i] * i for i in range(len(x))])


def chosen(x, w):
    outs = []
    for row in x:
        if row.sum() > 0:
            outs.append(row @ w)
    return torch.stack(outs)


def same_tensor(x, w):
    """Each item is the same tensor."""
    outs, h = [], x[0] * 0
    for t in range(len(x)):
        h += x[t]
        outs.append(h)
    return torch.stack(outs)


def written_afterwards(x, w):
    outs = []
    for t in range(len(x)):
        outs.append(x[t] @ w)
    last = outs[-1]
    last.mul_(2)
    return torch.stack(outs)


def written_before(x, w):
    outs = []
    for t in range(len(x)):
        h = x[t] @ w
        h[0] = 1
        outs.append(h)
    return torch.stack(outs)


def of_many_shapes(x, w):
    outs = []
    for t in range(len(x)):
        outs.append(x[t, : t % 3 + 1])
    return torch.cat(outs)


def half_filled(x, w):
    outs = [None] * len(x)
    for t in range(len(x) // 2):
        outs[t] = x[t] @ w
    return outs


def until_small(x, w):
    """More rows than there is room for at first."""
    states, h = [x[0]], x[0] * 4
    while h.abs().max() > 0.01:
        h = h * 0.8
        states.append(h)
    first = len(states)
    while h.abs().max() > 0.005:
        h = h * 0.8
        states.append(h)
    states += [x[1], h]
    return torch.stack(states), len(states), states[-1], states[len(x) // 4], states[first], states[-3]


def two_lists(x, w):
    """The inner loop's rows as well."""
    rows, sums, h = [], [], x[0]
    while h.sum() < 20:
        h = h.abs() + 1
        for row in h:
            rows.append((row, row.sum()))
        sums.append(float(h.sum()))
    return rows, sums, torch.stack([a for a, _ in rows])


def decoded(x, w):
    found = [0]
    while len(found) < len(x):
        token = int((x[found[-1] % len(x)] @ w).sum(0).argmax())
        found.append(token)
        if token == 2:
            break
    return found, torch.tensor(found)


def suppressed(x, w):
    order, kept = x[:, 0, 0].argsort(), []
    while order.numel() > 0:
        best = order[0]
        kept.append(best)
        order = order[1:][(x[order[1:], 1, 1] - x[best, 1, 1]).abs() > 0.2]
    return torch.stack(kept)


def numbers_of_rows(x, w):
    found = []
    for t in range(len(x)):
        if x[t].sum() > 0:
            found.append(t)
    x[found] += 1
    return x[found], found, torch.tensor(found, dtype=torch.int32), len(found)


def written_in_the_loop(x, w):
    """Each item is the same tensor."""
    states, h = [], x[0].clone()
    while h.abs().max() > 0.1:
        h *= 0.5
        states.append(h)
    return torch.stack([*states, h])


#: Those that are one loop at any number of steps, and those that are not.
ROLLED = (appended, begun, two_each, in_closure, filled, in_parts)
DATA = (until_small, two_lists, decoded, suppressed, numbers_of_rows)
OTHERS = (chosen, same_tensor, written_afterwards, written_before, of_many_shapes, half_filled)


def written_out(count, line):
    """A function of so many statements, from a file."""
    path = pathlib.Path(tempfile.mkdtemp()) / "written_out.py"
    path.write_text("\n".join(["import torch", "", "", "def f(x, y):", *(f"    {line(k)}" for k in range(count)), "    return y"]) + "\n")
    spec = importlib.util.spec_from_file_location("written_out", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def alike(k):
    return f"y[{k * 7 % 13}, {k % 5}] = x[{k % 4}] * {k % 5 + 1} + y[{k * 3 % 13}, {(k + 1) % 5}]"


def different(k):
    what = ("x[0] * 2", "torch.tanh(x[1])", "y[2, 1] - x[3]", "x[2].abs()", "y[1, 1] * y[0, 0]", "x[1] + 1", "-x[3]")[k * k % 7]
    return f"y[{k * 7 % 13}, {k % 5}] = {what}"


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class GrowingLists(unittest.TestCase):
    def arguments(self, steps):
        numbers = torch.Generator().manual_seed(steps)
        return torch.randn(steps, 3, 3, generator=numbers), torch.randn(3, 3, generator=numbers) * 0.4

    def compile(self, function, *arguments):
        script = ftt.script(function, engine="cpu")
        torch.testing.assert_close(script(*(a.clone() for a in arguments)), function(*(a.clone() for a in arguments)), rtol=1e-5, atol=1e-5)
        return script.lower(*arguments)

    def test_as_eager(self):
        # (Few iterations may be compiled one by one, where that is right.)
        for function in ROLLED + OTHERS:
            for steps in (12, 35):
                with self.subTest(function.__name__, steps=steps):
                    self.compile(function, *self.arguments(steps))

    def test_as_long_as_data_say(self):
        for function in DATA:
            with self.subTest(function.__name__):
                self.compile(function, *self.arguments(12))
        script = ftt.script(until_small, engine="cpu")
        with self.assertRaisesRegex(ftt.RunError, "index out of range"):
            script(torch.zeros(24, 3, 3), torch.zeros(3, 3))
        with self.assertRaisesRegex(ftt.RunError, "a list that is not empty"):
            ftt.script(chosen, engine="cpu")(-torch.ones(40, 3, 3), torch.zeros(3, 3))
        with self.assertRaisesRegex(ftt.ScriptError, "written_in_the_loop|append"):
            ftt.script(written_in_the_loop, engine="cpu")(*self.arguments(12))

    def test_one_loop_at_any_length(self):
        for function in ROLLED:
            with self.subTest(function.__name__):
                counts = [sum(1 for _ in ftt.script(function, engine="interpret").lower(*self.arguments(n)).all_ops()) for n in (40, 80)]
                self.assertEqual(*counts)

    def test_statements_that_differ_in_numbers(self):
        x, y = torch.arange(1.0, 5.0), torch.zeros(13, 5)
        sizes = [sum(1 for _ in self.compile(written_out(n, alike), x, y).all_ops()) for n in (50, 100)]
        self.assertEqual(*sizes)

    def test_long_functions_are_divided(self):
        program = self.compile(written_out(60, different), torch.arange(1.0, 5.0), torch.zeros(13, 5))
        self.assertEqual([text.count("tssa.mutate") for text in program.segments()], [24, 24, 12])


if __name__ == "__main__":
    unittest.main()
