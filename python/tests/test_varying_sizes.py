# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices whose sizes change with the counters of loops, and rows at data: one compiled function, the values of eager PyTorch."""

import unittest

from fractaltensor import torch as ftt
from test_promises import HAS_TORCH

if HAS_TORCH:
    import torch


def attention_so_far(x):
    out = torch.zeros_like(x)
    for t in range(x.shape[0]):
        out[t] = torch.softmax(x[: t + 1] @ x[t], 0) @ x[: t + 1]
    return out


def two_lists_so_far(x):
    kept, out = x * 2, torch.zeros_like(x)
    for t in range(x.shape[0]):
        scores = (kept[: t + 1] * x[t]).sum(1) - kept[: t + 1, 0]
        out[t] = torch.tanh(scores) @ (x[: t + 1] + kept[: t + 1])
    return out


def rows_of_a_triangle(x):
    y = x @ x.T
    for i in range(y.shape[0]):
        y[i, : i + 1] = torch.log_softmax(y[i, : i + 1], 0)
        y[i, i + 1 :] = 0
    return y


def inverse_of_a_triangle(x):
    a = torch.tril(x @ x.T * 0.05, -1)
    for i in range(1, a.shape[0]):
        a[i, :i] = a[i, :i].clone() + (a[i, :i, None].clone() * a[:i, :i].clone()).sum(-2)
    return a


def chunks_with_a_remainder(x):
    out = torch.zeros_like(x)
    for s in range(0, x.shape[0], 4):
        e = min(s + 4, x.shape[0])
        out[s:e] = torch.tril(torch.ones(e - s, e - s)) @ x[s:e]
    return out


def windows_cut_at_the_ends(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[max(0, i - 3) : min(x.shape[0], i + 2)].mean(0)
    return out


def from_the_middle(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i // 2 : i + 1].sum(0)
    return out


def band_of_a_table(x):
    n = x.shape[0]
    d = torch.zeros(n + 1, n + 1)
    for i in range(1, n + 1):
        for j in range(max(1, i - 3), min(n, i + 3) + 1):
            d[i, j] = x[i - 1, j % 4] + torch.min(d[i - 1, j], d[i, j - 1])
    return d


def masked_band(x):
    n = x.shape[0]
    d = torch.zeros(n + 1, n + 1)
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            if abs(i - j) <= 3:
                d[i, j] = x[i - 1, j % 4] + torch.min(d[i - 1, j], d[i, j - 1])
    return d


def to_and_fro(x):
    n, m = x.shape
    y = torch.zeros(n * m)
    for i in range(n):
        for j in range(m):
            y[i * m + (j if i % 2 == 0 else m - 1 - j)] = x[i, j]
    return y


def every_other_from_here(x):
    y = x.clone()
    for i in range(x.shape[0]):
        y[i::2] += x[i]
        y[: i + 1 : 3] *= 0.5
    return y


def rows_into_themselves(x):
    for i in range(x.shape[0] - 1):
        x[1 : i + 2] = x[: i + 1] + 1
        x[i + 1 :] = x[i + 1 :] - 0.1 * x[i] * x[i + 1 :, :1]
    return x


def joined(x):
    out = torch.zeros_like(x)
    for t in range(1, x.shape[0]):
        out[t] = torch.cat([x[:t], x[t : t + 1] * 2, x[t:]]).sum(0)
    return out


def ends_of_parts(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[: i + 1][-1] * x[i:][0] - x.narrow(0, 0, i + 1).sum(0) + x[i:].flip(0).sum(0) * 0
    return out


def solved(x):
    a = x @ x.T + 3 * x.shape[0] * torch.eye(x.shape[0])
    n = a.shape[0]
    l, y = torch.zeros_like(a), torch.zeros_like(x)
    for j in range(n):
        l[j, j] = torch.sqrt(a[j, j] - (l[j, :j] ** 2).sum())
        l[j + 1 :, j] = (a[j + 1 :, j] - l[j + 1 :, :j] @ l[j, :j]) / l[j, j]
    for i in range(n - 1, -1, -1):
        y[i] = (x[i] - l[i + 1 :, i] @ y[i + 1 :]) / l[i, i]
    return l, y


def selection_sort(x):
    for i in range(x.shape[0]):
        m = i + int(x[i:, 0].argmax())
        t = x[i].clone()
        x[i] = x[m]
        x[m] = t
    return x


def soft_suppression(x):
    s = torch.sigmoid(x[:, 0])
    for i in range(s.shape[0]):
        m = i + int(s[i:].argmax())
        row, score = x[m].clone(), s[m].clone()
        x[m], s[m] = x[i].clone(), s[i].clone()
        x[i], s[i] = row, score
        d = (x[i + 1 :] - row).abs().sum(1)
        s[i + 1 :] = s[i + 1 :] * torch.exp(-d * d)
    return x, s


def tree(x):
    h = torch.zeros(x.shape[0] + 1, 4)
    parent = torch.arange(x.shape[0]) // 2
    for i in range(x.shape[0]):
        h[i + 1] = torch.tanh(x[i] + h[parent[i]])
    return h


def counted_from_the_end(x):
    for i in range(x.shape[0]):
        m = int(x[:, 0].argmax()) - x.shape[0]
        x[m] = x[m] * 0.5 - 1
        x[m, 1] += i
    return x


def pairs_of_symbols(x):
    s, table = (x[:, 0] > 0).long(), torch.zeros(2, 2)
    for i in range(s.shape[0] - 1):
        table[s[i], s[i + 1] - 2] += 1
    return table


PROGRAMS = (
    attention_so_far, two_lists_so_far, rows_of_a_triangle, inverse_of_a_triangle, chunks_with_a_remainder, windows_cut_at_the_ends, from_the_middle,
    band_of_a_table, masked_band, to_and_fro, every_other_from_here, rows_into_themselves, joined, solved, selection_sort, soft_suppression, tree, counted_from_the_end, pairs_of_symbols,
)  # fmt: skip
#: An operation of them works on whole tensors alone: the loop is not compiled as one.
OTHERS = (ends_of_parts,)


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class VaryingSizes(unittest.TestCase):
    def check(self, function, n, whole=True):
        x = torch.randn(n, 4, generator=torch.Generator().manual_seed(n))
        script = ftt.script(function, engine="cpu")
        found, expected = script(x.clone()), function(x.clone())
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
        if whole:
            self.assertEqual((script.report().interpreted, script.report().calls, script.remarks), (0, 1, []))

    def test_equal_to_eager(self):
        for function in PROGRAMS:
            for n in (7, 33):
                with self.subTest(function=function.__name__, n=n):
                    self.check(function, n)

    def test_of_one_row_and_of_many(self):
        for function in PROGRAMS:
            with self.subTest(function=function.__name__):
                self.check(function, 1, whole=False)
        for function in (attention_so_far, solved, soft_suppression):
            with self.subTest(function=function.__name__, n=127):
                self.check(function, 127)

    def test_other_operations(self):
        for function in OTHERS:
            for n in (1, 7, 40):
                with self.subTest(function=function.__name__, n=n):
                    self.check(function, n, whole=False)

    def test_sizes_that_differ(self):
        """A static size that is the varying one in some iterations alone is refused, as eager refuses it."""
        def other_size(x):
            for i in range(x.shape[0]):
                x[: i + 1] = x[:3] + 1
            return x

        with self.assertRaises((ftt.ScriptError, RuntimeError)):
            ftt.script(other_size, engine="cpu")(torch.randn(40, 4))

    def test_nothing_to_choose_from(self):
        def empty(x):
            out = torch.zeros(x.shape[0])
            for i in range(x.shape[0]):
                out[i] = x[:i, 0].max()
            return out

        for n in (5, 40):
            with self.assertRaisesRegex((ftt.ScriptError, RuntimeError), "no elements to choose from"):
                ftt.script(empty, engine="cpu")(torch.randn(n, 4))

    def test_an_index_that_lies_outside(self):
        def row(x, at):
            for i in range(at.shape[0]):
                x[i] += x[at[i]]
            return x

        for at in ([0, 5], [-6, 1]):
            with self.assertRaisesRegex(ftt.RunIndexError, f"index {[n for n in at if n not in (0, 1)][0]} of dimension 0 is out of range: its size is 5"):
                ftt.script(row, engine="cpu")(torch.randn(5, 4), torch.tensor(at))


if __name__ == "__main__":
    unittest.main()
