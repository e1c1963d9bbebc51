# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places that loops count up and down as data say: stacks, queues, marks, lists with a break. Each program is compiled whole, and gives what PyTorch gives."""

import unittest

from fractaltensor import torch as ftt
from fractaltensor.torch.ir.lengths import outside
from test_promises import HAS_TORCH

if HAS_TORCH:
    import torch


def sorted_in_place(x):
    for i in range(1, x.shape[0]):
        v, j = x[i].clone(), i - 1
        while j >= 0 and x[j] > v:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = v
    return x


def of_a_stack(x):
    stack, top = torch.zeros(16), 0
    for t in range(x.shape[0]):
        if top >= 2 and x[t] > 0:
            stack[top - 2] = stack[top - 2] + stack[top - 1]
            top -= 1
        else:
            stack[top] = x[t]
            top += 1
    return stack[:top], top


def first_of_each(x):
    seen, out, n = torch.zeros(8, dtype=torch.bool), torch.zeros(40, dtype=torch.long), 0
    for v in (x.abs() * 4).long() % 8:
        if not seen[v]:
            seen[v] = True
            out[n] = v
            n += 1
    return out[:n]


def merged(x):
    a, b, out, i, j = x[:15].sort()[0], x[15:].sort()[0], torch.zeros(30), 0, 0
    for t in range(30):
        if j >= 15 or (i < 15 and a[i] <= b[j]):
            out[t] = a[i]
            i += 1
        else:
            out[t] = b[j]
            j += 1
    return out


def starts(x):
    found = [0]
    for i in range(1, len(x)):
        if (x[i] > 0) != (x[i - 1] > 0):
            found.append(i)
    return torch.tensor(found), found


def until_a_token(x):
    tokens, h = [1], x[0]
    for _ in range(20):
        h = torch.tanh(h + x[tokens[-1]])
        tokens.append(int((h * x).argmax()))
        if tokens[-1] == 3:
            break
    return tokens, h


def until_close(x):
    states = []
    for _ in range(40):
        new = x * 0.5
        states.append(new)
        if (new - x).abs().max() < 0.05:
            break
        x = new
    return torch.stack(states)


PROGRAMS = (sorted_in_place, of_a_stack, first_of_each, merged, starts, until_a_token, until_close)


def too_high(x):
    stack, top = torch.zeros(4), 0
    for t in range(x.shape[0]):
        if x[t] > 0:
            stack[top] = x[t]
            top += 1
    return stack


def further_than_rows(x):
    y = torch.zeros(10)
    for k in range(3):
        i = 0
        while i <= 10 and x[k] < 0:
            y[i] += 1
            i += 1
    return y


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class CarriedPlaces(unittest.TestCase):
    def test_whole_and_as_eager(self):
        for function in PROGRAMS:
            for seed in (1, 2):
                with self.subTest(function.__name__, seed=seed):
                    x = torch.randn(30, generator=torch.Generator().manual_seed(seed))
                    script = ftt.script(function, engine="cpu")
                    torch.testing.assert_close(script(x.clone()), function(x.clone()), rtol=1e-5, atol=1e-6)
                    self.assertEqual(outside(script.lower(x.clone())), (0, 0))

    def test_out_of_range(self):
        script = ftt.script(too_high, engine="cpu")
        torch.testing.assert_close(script(-torch.ones(30)), too_high(-torch.ones(30)))
        with self.assertRaisesRegex(ftt.RunIndexError, "of dimension 0 is out of range: its size is 4"):
            script(torch.ones(30))
        script = ftt.script(further_than_rows, engine="cpu")
        torch.testing.assert_close(script(torch.ones(30)), torch.zeros(10))
        with self.assertRaisesRegex(ftt.RunIndexError, "index 10 of dimension 0"):
            script(-torch.ones(30))


if __name__ == "__main__":
    unittest.main()
