# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices whose ends are data: a library step finds the ends, and what is computed on the rest is compiled."""

import unittest

from fractaltensor import torch as ftt
from test_promises import HAS_TORCH, Against

if HAS_TORCH:
    import torch


def of_a_mask(x, mask):
    n = int(mask.sum())
    return x[:n] * 2


def two_ends(x, a, b):
    return x[a:b].sum(0), x[a:b] + 1, x[a:b:2].clone()


def written(x, n):
    x[n:] = 0
    x[:n, 1] += 5
    return x


def kept_of_a_sort(x):
    k = (x > 0).sum().item()
    return torch.sort(x.flatten(), descending=True).values[:k].sum()


def ragged_rows(x, lengths):
    sums = []
    for i in range(x.shape[0]):
        sums.append(x[i, : lengths[i]].sum())
    return torch.stack(sums)


def padded(x, lengths):
    for i in range(x.shape[0]):
        x[i, lengths[i] :] = -1
    return x


def segments(x, offsets):
    for i in range(offsets.shape[0] - 1):
        x[offsets[i] : offsets[i + 1]] -= x[offsets[i] : offsets[i + 1]].sum(0)
    return x


def row_of_what_is_found(x, mask):
    found = x[mask]
    found[0] += 1
    rest = found[1:]
    rest *= 2
    return found, rest.shape[0]


def columns_written(x, n):
    x[:, n.item() :] = x[:, :2].clone()
    return x


def written_from_behind(x, n):
    x.narrow(0, n.item(), 2).copy_(x[:2] + 1)
    return x


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class SlicesAtData(Against):
    def setUp(self):
        self.x = torch.arange(21).reshape(7, 3) * 5 % 17 - 8

    def test_one_end(self):
        mask = torch.tensor([1, 0, 1, 1, 0, 0, 1]).bool()
        self.check(of_a_mask, self.x, mask, one_call=False)
        self.check(of_a_mask, self.x, ~mask & mask, one_call=False)
        self.check(kept_of_a_sort, self.x, one_call=False)
        self.check(row_of_what_is_found, self.x, mask, one_call=False)

    def test_two_ends(self):
        for a, b in ((2, 5), (-3, 99), (5, 2), (0, -1), (-99, 4), (7, 7)):
            self.check(two_ends, self.x, torch.tensor(a), torch.tensor(b), one_call=False)

    def test_writes(self):
        for n in (0, 3, -2, 7):
            self.check(written, self.x, torch.tensor(n), one_call=False)
        self.check(written, self.x, torch.tensor(3), one_call=False, in_place=False)

    def test_writes_of_other_sizes(self):
        for engine in ("cpu", "interpret"):
            script = ftt.script(columns_written, engine=engine)
            torch.testing.assert_close(script(self.x.clone(), torch.tensor(1)), columns_written(self.x.clone(), torch.tensor(1)))
            for n in (0, 2, 3):
                with self.assertRaisesRegex(ftt.RunShapeError, "an assignment to an index takes as many elements as there are"):
                    script(self.x.clone(), torch.tensor(n))
        for n in (0, -3, 5):
            self.check(written_from_behind, self.x, torch.tensor(n), one_call=False)

    def test_rows_of_their_own_lengths(self):
        lengths = torch.tensor([2, 0, 3, 1, -1, 3, 9])
        self.check(ragged_rows, self.x, lengths, one_call=False)
        self.check(padded, self.x, lengths, one_call=False)
        self.check(segments, self.x, torch.tensor([0, 2, 2, 6]), one_call=False)

    def test_sums_of_several_are_one_function(self):
        script = ftt.script(ragged_rows, engine="cpu")
        script(self.x, torch.tensor([2, 0, 3, 1, 1, 3, 2]))
        report = script.report()
        self.assertEqual((report.calls, report.steps, report.copies), (2, 7, 0), script.remarks)
        self.assertEqual(script.lower(self.x, torch.tensor([2, 0, 3, 1, 1, 3, 2])).steps(), ["slice_ends"])


if __name__ == "__main__":
    unittest.main()
