# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is promised of programs that write into tensors, clause by clause (docs/tensorssa.md), against eager PyTorch."""

import importlib.util
import unittest
import unittest.mock

import numpy as np

import fractaltensor as ft
from fractaltensor import host_memory, torch as ftt
from fractaltensor.torch.runtime import memory

HAS_TORCH = importlib.util.find_spec("torch") is not None
ENGINES = ("interpret", "cpu")

if HAS_TORCH:
    import torch


def flat(value):
    if isinstance(value, (tuple, list)):
        return [y for x in value for y in flat(x)]
    return [value]


def whole(*sizes, seed=0, dtype=None):
    """Integers, so that results must be the same."""
    g = torch.Generator().manual_seed(seed)
    return torch.randint(-5, 10, sizes, generator=g, dtype=dtype or torch.int64)


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Against(unittest.TestCase):
    def check(self, function, *arguments, one_call=True, **options):
        """Results and arguments afterwards are those of eager mode, on each engine. No part of compiled code is left to the
        interpreter, and all of it is one call (or is divided; None: as it comes)."""
        for engine in ENGINES:
            copy = lambda: [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]  # noqa: E731
            ours, theirs = copy(), copy()
            script = ftt.script(function, engine=engine, **options)
            found, expected = flat([script(*ours), ours]), flat([function(*theirs), theirs])
            with self.subTest(function=function.__name__, engine=engine):
                self.assertEqual(len(found), len(expected))
                for a, b in zip(found, expected):
                    if not isinstance(b, torch.Tensor):
                        self.assertEqual(a, b)
                    elif b.dtype.is_floating_point:
                        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5, equal_nan=True)
                    else:
                        self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
                        self.assertTrue(torch.equal(a, b), f"{a}\n{b}")
                if engine == "cpu":
                    report = script.report()
                    self.assertEqual(report.interpreted, 0, script.remarks)
                    if one_call is not None:
                        self.assertEqual(report.calls == 1 and report.steps == 0, one_call, report)
        return script


class ControlFlow(Against):
    """Views and mutation across control flow."""

    def test_mutation_in_each_nesting(self):
        def for_in_if_in_while(x, y):
            n = 0
            while n < 3 and x.sum() < 500:
                n += 1
                if x[0, 0] > 0:
                    for i in range(x.shape[0]):
                        x[i] += y[i % 2]
                        if x[i, 1] > 3:
                            x[i, 1] = -n
                        else:
                            y[0].sub_(1)
                else:
                    x.add_(2)
            return n

        def if_in_for_in_for(x, y):
            for i in range(x.shape[0]):
                row = x[i]
                for j in range(x.shape[1]):
                    if i > j:
                        row[j] -= y[0, j]
                    elif y[1, j] > 0:
                        row[j].mul_(2)
                row.clamp_(max=20)

        def while_in_for(x, y):
            for i in range(x.shape[0]):
                k = 0
                while k < x.shape[1] and x[i, k] < 4:
                    x[i, k] += 5
                    y[k % 2, 0] += 1
                    k += 1

        for rows, columns in ((4, 3), (1, 7), (7, 2)):
            for function in (for_in_if_in_while, if_in_for_in_for, while_in_for):
                self.check(function, whole(rows, columns), whole(2, columns, seed=3), one_call=None if function is for_in_if_in_while else True)

    def test_mutation_in_a_condition(self):
        def lowered(x):
            x.sub_(1)
            return x

        def in_the_test(x, y):
            k = 0
            while k < 9 and lowered(x).max() > 0:
                y[k % 3] = x
                k += 1
            return k

        def in_the_test_alone(x, y):
            """The body changes nothing; the last test, which fails, changes x as well."""
            x[0] = 6
            k = 0
            while lowered(x)[0] > 2 and k < 10:
                k += 1
            return x + k

        for function in (in_the_test, in_the_test_alone):
            self.check(function, whole(5), whole(3, 5, seed=2))

    def test_views_that_control_flow_merges(self):
        def rows(x, c):
            v = x[0] if c > 0 else x[-1]
            v.add_(10)
            return x.sum(), v

        def roots(x, c):
            y = x.clone()
            if c > 0:
                v = x[:, 1]
            else:
                v = y[:, 0]
            v *= 3
            x[0] -= 1
            return v, y

        def returned_in_a_tuple(x, c):
            def pick(t):
                if c > 0:
                    return t[0], t[1]
                return t[1], t[0]

            a, b = pick(x)
            a += b
            b.zero_()

        for c in (1, -1):
            for function in (rows, roots, returned_in_a_tuple):
                self.check(function, whole(3, 2), torch.tensor(c), one_call=None)

    def test_rows_that_are_exchanged_from_outside(self):
        """Several pairs of names for one row each, and others that are written, in parts that Python calls: one storage."""
        def sorted_rows(x, y):
            i = 0
            while True:
                if i >= x.shape[0]:
                    break
                j = i
                while j > 0 and x[j - 1, 0] > x[j, 0]:
                    row = x[j - 1].clone()
                    x[j - 1] = x[j]
                    x[j] = row
                    j -= 1
                i += 1

        def with_one_apart(x, y):
            k = 0
            while x[0, 0] + k < y[0, 0] + 20:
                i, j = int(y[k % 2, 1]) % 3, int(y[k % 2, 0]) % 2
                row = x[i].clone()
                x[i] = x[j + 1]
                x[j + 1] = row + 1
                x[3] += row
                k += 1
            return k

        for seed in range(4):
            for function in (sorted_rows, with_one_apart):
                self.check(function, whole(4, 3, seed=seed), whole(2, 3, seed=seed + 9), one_call=None)

    def test_views_that_loops_carry(self):
        def last_row(x):
            row = x[0]
            for i in range(x.shape[0]):
                row += 1
                row = x[i]
            row.mul_(2)
            return row

        def exchanged(x):
            u, v = x[0], x[1]
            for _ in range(5):
                u += v
                u, v = v, u
            u.fill_(3)

        def shrinking(x):
            v = x
            for _ in range(2):
                v = v[1:]
                v += 1
            return v

        def own_or_given(x):
            y = x
            for i in range(3):
                y += i
                y = y.clone()
            y.zero_()
            return y

        for function in (last_row, exchanged, shrinking, own_or_given):
            self.check(function, whole(4, 3), one_call=None)

    def test_what_is_refused_elsewhere(self):
        """Writes into a carried result by index, a slice of a cache at data, a result that is an argument, one tensor carried and captured."""
        def copied_by_index(x, out):
            i = 0
            while i < x.shape[0] and x[i, 0] > -4:
                out.index_copy_(0, torch.tensor([i]), x[i][None] * 2)
                i += 1
            return out

        def cache_at_data(cache, x, at):
            start = int(at[0])
            cache[:, start : start + 2] = x
            cache[:, int(at[1])] += 1
            return cache.sum(1)

        def carried_and_captured(x):
            y = x
            for i in range(3):
                y = y.add_(x)
            return x, y

        self.check(copied_by_index, whole(5, 3), whole(6, 3, seed=1), one_call=None)
        self.check(cache_at_data, whole(2, 7), whole(2, 2, seed=1), torch.tensor([3, 6]), one_call=None)
        self.check(carried_and_captured, whole(3, 2), one_call=None)

    def test_returned_aliases_and_arguments(self):
        def part(t, i: int):
            t[i] += 1
            return t[i, :2]

        def calls(x):
            a = part(x, 0)
            b = part(x, 1)
            a += b
            part(x[1:], 0).zero_()
            return a, x

        script = self.check(calls, whole(3, 4))
        x = whole(3, 4)
        self.assertIs(script(x)[1], x)

    def test_loops_without_iterations(self):
        def none(x, n: int):
            y = x[0]
            for i in range(n):
                y = x[i] * 2
                x[i] = 7
            while n > 0:
                x += 1
                n -= 1
            y += 1
            return y

        for n in (0, 1, 3):
            self.check(none, whole(3, 2), n)

        def no_rows(x):
            total = x.sum(0)
            for row in x:
                total += row
                row.zero_()
            return total

        self.check(no_rows, whole(0, 4))


class InPlace(Against):
    """What a write into a tensor means."""

    def test_broadcast_and_cast_to_the_destination(self):
        def writes(x, f, b, h):
            x[1] = 3
            x[:, 0] = f[:4, 0]
            x[2:] = f[0, :3]
            b[0] = x[0, 0]
            b[1:] = f[1:4, 1]
            h.copy_(f[0])
            h[1] = x[1, 1]
            f += x[0, 0]
            f[1:2] -= f[0]

        floats = torch.randn(4, 5, generator=torch.Generator().manual_seed(1)) * 4
        self.check(writes, whole(4, 3), floats, torch.zeros(4, dtype=torch.bool), torch.zeros(5, dtype=torch.float16))

    def test_negative_indices_and_long_slices(self):
        def ends(x):
            x[-1] = x[-2] + 1
            x[-3:, -1] = 9
            x[2:99] -= 1
            x[-99:1] *= 2
            x[3:1] = 5
            for i in range(2):
                x[i - 2, -i] += 100
            return x[-2:], x[:-1, -2]

        self.check(ends, whole(5, 3))
        self.check(ends, whole(7, 2))
        self.check(lambda x: x[99:], whole(3, 2), one_call=None)

    def test_steps_and_permutations(self):
        def chains(x):
            x[::2].add_(1)
            x[1::3, ::2] = 4
            v = x.permute(2, 0, 1)
            v[0] += 10
            v.transpose(1, 2)[1, 0] = -1
            x.unsqueeze(1).squeeze(1).select(2, 1)[0] -= 3
            x.diagonal(0, 0, 1).mul_(2)
            x.view(-1)[5:9] = 0
            x.unflatten(1, (1, x.shape[1])).flatten(0, 2)[0] += 6
            a, b = x.chunk(2, 2)
            a += 1
            b[0].copy_(a[0])

        self.check(chains, whole(4, 3, 2))
        self.check(chains, whole(7, 2, 2))

    def test_overlapping_copies(self):
        """All is read before the first element is written, both ways (eager mode refuses, or leaves it open)."""
        def up(x):
            x[1:] = x[:-1]

        def down(x):
            x[:-1] = x[1:]

        def transposed(x):
            x.view(3, 3).copy_(x.view(3, 3).t())

        def reversed_rows(x):
            x[:] = x.flip(0)

        given = np.arange(9)
        for function, expected in ((up, [0, 0, 1, 2, 3, 4, 5, 6, 7]), (down, [1, 2, 3, 4, 5, 6, 7, 8, 8]),
                                   (transposed, [0, 3, 6, 1, 4, 7, 2, 5, 8]), (reversed_rows, given[::-1])):
            for engine in ENGINES:
                with self.subTest(function=function.__name__, engine=engine):
                    x = given.copy()
                    ftt.script(function, engine=engine)(x)
                    np.testing.assert_array_equal(x, expected)

    def test_writes_through_expanded_views_are_refused(self):
        def expanded(x):
            x[:1].expand(4, 3).add_(1)

        def windows(x):
            x.unfold(0, 2, 1).add_(1)

        def an_element_of_one(x):
            x[:1].expand(4, 3)[2].add_(1)  # that names each element once
            return x

        for function, x in ((expanded, whole(4, 3)), (windows, whole(4))):
            with self.assertRaisesRegex(ftt.ScriptError, r"test_promises.py:\d+:\d+: error: .*writes through a tensor of which several elements are one"):
                ftt.script(function)(x)
        for engine in ENGINES:
            x = whole(2, 3)
            expected = torch.stack([x[0] + 1, x[1]])
            self.assertTrue(torch.equal(ftt.script(an_element_of_one, engine=engine)(x), expected))
        # An argument that itself repeats elements.
        x = whole(1, 3).expand(4, 3)
        with self.assertRaisesRegex(Exception, "argument 'x' is written, and several of its elements are one and the same"):
            ftt.script(an_element_of_one)(x)

    def test_index_put(self):
        def puts(x, i, j, v):
            x.index_put_((i,), v)
            x.index_put_((i, j), v[:, 0], accumulate=True)
            x[j] = -1
            x[:, j] += 2
            x[i, j] = v[:, 1]
            x.index_add_(0, i % 5, v)
            x.t()[0].index_fill_(0, j, 5)

        i, j = torch.tensor([2, 0, -1]), torch.tensor([1, 1, 0])
        self.check(puts, whole(5, 4), i, j, whole(3, 4, seed=4), one_call=False)

        def the_last_wins(x, i, v):
            x[i] = v

        for engine in ENGINES:
            x = np.zeros(4, np.int64)
            ftt.script(the_last_wins, engine=engine)(x, np.array([1, 3, 1, 1]), np.array([5, 6, 7, 8]))
            np.testing.assert_array_equal(x, [0, 8, 0, 6])

    def test_masks(self):
        def masks(x, m, v):
            x.masked_fill_(m, 4)
            x[m] = -2
            x[x > 5] *= 3
            x[1][m[0]] += v[0, 0]
            x[~m] = v[~m]
            x[:, m[0]] = 0
            return x[m], x.masked_select(x < 0)

        x = whole(4, 4)
        self.check(masks, x, x % 2 == 0, whole(4, 4, seed=7), one_call=False)

        def fills(x, m):
            for i in range(x.shape[0]):
                x[i].masked_fill_(m[i], i)
                x[i][m[i]] += 1

        self.check(fills, x, x % 3 == 0, one_call=None)

        def without_dimensions(x, v):
            """Masks of one place: nothing or all."""
            x[x[0, 0] > -100] += 1
            x[x[0, 0] > 100] = -7
            x[x[1, 0] > -100] = v
            x[x[1, 0] > -100, 1] *= 2
            for i in range(3):
                x[i][x[i, 0] > 2] = 9
                x[x[i, 1] > 2, i] += v[i]
            return x[x[0, 0] > 0], x[x[0, 0] > 100].shape[0], x[..., x[1, 1] > -50], v[torch.tensor(True)]

        for seed in range(3):
            self.check(without_dimensions, whole(4, 4, seed=seed), whole(4), one_call=None)

    def test_old_versions_stay(self):
        """What has been read is a value: later writes do not reach it."""
        def versions(x):
            kept, old = [], x.clone()
            for i in range(3):
                kept.append(x * 1)
                x[i] += x[(i + 1) % 3]
            return kept, x - old, old

        self.check(versions, whole(3, 2))


class LastWriters(Against):
    """What loops over tensors become."""

    def blocks(self, function, *arguments):
        graph = "\n".join(ftt.script(function, engine="cpu").lower(*arguments).segments_after("etdg"))
        return [line.strip().split(" in ")[0].split("//")[0].strip() for line in graph.split("\n") if "etdg.block" in line]

    def test_disjoint_writes_are_a_map(self):
        def increment(b):
            for i in range(b.shape[0]):
                b[i] = b[i] + 1

        def two_halves(b):
            for i in range(b.shape[0] // 2):
                b[2 * i] = b[2 * i] * 2
                b[2 * i + 1] -= 1

        self.check(increment, whole(7, 3))
        self.check(two_halves, whole(8, 3))
        self.assertEqual(self.blocks(increment, whole(7, 3)), ["etdg.block @r0 [map] (i)"])
        self.assertTrue(all("[map]" in block for block in self.blocks(two_halves, whole(8, 3))))

    def test_the_row_of_the_iteration_before(self):
        def cursor(x):
            """The row of the iteration before, by its name."""
            last = x[0]
            for i in range(1, x.shape[0]):
                row = x[i]
                row += last
                last[0] = i
                last = row

        self.check(cursor, whole(5, 3))

    def test_carried_state_is_a_scan_or_a_fold(self):
        def sums(x):
            total = torch.zeros_like(x[0])
            for i in range(x.shape[0]):
                total = total + x[i]
                x[i] = total

        def last(x):
            total = torch.zeros_like(x[0])
            for i in range(x.shape[0]):
                total = total * 2 + x[i]
            return total

        self.check(sums, whole(7, 3))
        self.check(last, whole(7, 3))
        self.assertTrue(any("scanl" in block for block in self.blocks(sums, whole(7, 3))))
        self.assertTrue(any("foldl" in block for block in self.blocks(last, whole(7, 3))))

    def test_products_in_a_branch_on_data(self):
        def either(x, w, c):
            for i in range(x.shape[0]):
                if c[i] > 0:
                    x[i] = (x[i] @ w) % 11
                else:
                    x[i] = (w @ x[i]) % 7

        def once(x, w, c):
            if c[0] > 0:
                return x @ w
            return x @ w.t() + 1

        x, w = torch.randn(5, 4), torch.randn(4, 4)
        for c in ([1, -1, 1, 1, -1], [-1, -1, 1, 0, 2]):
            self.check(either, x.round(), w.round(), torch.tensor(c))
            self.check(once, x, w, torch.tensor(c))

    def test_writes_at_an_index_of_data_are_steps(self):
        def scattered(x, at, v):
            y = x * 2
            y[at] = v + 1
            return y.sum(0) + x[0]

        script = self.check(scattered, whole(6, 3), torch.tensor([4, 1]), whole(2, 3, seed=1), one_call=False)
        self.assertEqual(script.lower(whole(6, 3), torch.tensor([4, 1]), whole(2, 3)).steps(), ["index_put"])

    def test_lengths(self):
        """Sizes that dims= names are no reason to compile again, also where loops range over them."""
        def scan(x, h):
            for t in range(x.shape[0]):
                h = h * 3 % 7 + x[t]
                x[t] = h
            return h

        script = ftt.script(scan, engine="cpu", dims={"x": ("T", None)})
        programs = set()
        for n in (1, 2, 7, 127):
            ours, theirs = whole(n, 3, seed=n), whole(n, 3, seed=n)
            h = whole(3)
            self.assertTrue(torch.equal(script(ours, h), scan(theirs, h)))
            self.assertTrue(torch.equal(ours, theirs))
            programs.add(script.lower(ours, h))
        self.assertEqual(len(programs), 1)

    def test_sizes_that_are_data_are_functionalised(self):
        """Views of and writes into tensors whose sizes are data."""
        def strided(x):
            y = x[x > 0]
            y += 1
            y[::2] *= 2
            return y, y.numel()

        def columns(x):
            rows = (x > 3).nonzero()
            rows[:, 1] += 1
            return rows

        def kept(x):
            y = x[x > 0]
            z = y.clone()
            z[1:] = 0
            return y, z

        for seed in range(3):
            for function in (strided, columns, kept):
                self.check(function, whole(4, 5, seed=seed), one_call=False)

    def test_sums_over_sizes_that_are_data(self):
        """Loops over what has been found, compiled."""
        def sums(x, m):
            rows = x[m[:, 0]]
            return rows.sum(0), x[m].amax(), rows.argmin(0), rows.max(0)[1], x[m].prod(), (x[m] > 0).all(), rows.softmax(0), x[:, m[0]].sum(1)

        def middle(x, m):
            return x[m[:, 0]].mean(0)

        for m in (whole(6, 4) > 0, torch.ones(6, 4, dtype=torch.bool)):
            self.check(middle, whole(6, 4, seed=5).float(), m, one_call=False)
            self.check(sums, whole(6, 4, seed=5).float(), m, one_call=False)

    def test_transposed_sizes_that_are_data(self):
        def turned(x):
            y = x[x[:, 0] > 0]
            return y.t() + 1, y.t()

        def moved(x):
            y = x[x[:, 0] > 0]
            return y.reshape(-1, 1, x.shape[1]).permute(2, 0, 1) * 3

        def written(x):
            y = x[x[:, 0] > 0]
            z = y.t()
            z[0] += 1
            z.mul_(2)
            return y, z[1] + z[2]

        def products(x):
            y = x[x[:, 0] > 0]
            return y @ y.t(), y.t() @ y, y.t().amax(1)

        for n in (1, 7, 127):
            for function in (turned, moved, written, products):
                self.check(function, whole(n, 4, seed=n).float(), one_call=False)

    def test_parts_at_data(self):
        """Places and sizes that are elements, or computed from them: the part comes into compiled code as a storage."""
        def at(x, i, m):
            return x[i : i + 3] * 2

        def leading(x, i, m):
            k = int((m > 0).sum())
            return x[:k] + 1, x[k:] - 1, x[:k:2].exp()

        def last(x, i, m):
            k = int((m > 3).sum())
            return x[-k:] - 1

        def written(x, i, m):
            k = (m > 0).sum()
            x[i : i + 2] += 1
            x[:k] *= 2
            x[: k + 100, 1] = 0
            return x[:k].sum(0)

        def columns(x, i, m):
            k = int((m[:4] > 0).sum())
            x[:, :k] = 0
            return x[:, k:].sum(1), x[:, k:] * 2

        def rows(x, i, m):
            out = torch.zeros_like(x)
            for t in range(x.shape[0]):
                j = m[t].abs() % x.shape[0]
                out[t] = x[j : j + 2].sum(0)
            return out

        def attention(x, i, m):
            p = int((m > 0).sum())
            return torch.softmax(x[:2] @ x[:p].t(), -1) @ x[:p]

        for n in (1, 7, 127):
            i = torch.tensor(n // 3)
            for function in (at, leading, last, written, columns, rows, attention):
                with self.subTest(function=function.__name__, n=n):
                    self.check(function, whole(n, 4, seed=n).float() / 8, i, whole(n, seed=n + 1), one_call=False)
                    # Nothing is there, or all of it.
                    self.check(function, whole(n, 4, seed=n).float() / 8, i, torch.zeros(n, dtype=torch.int64), one_call=False)
                    self.check(function, whole(n, 4, seed=n).float() / 8, i, torch.full((n,), 5), one_call=False)

    def test_parts_at_data_that_are_out_of_range(self):
        """Found before anything is written."""
        def written(x, i):
            x.narrow(0, i, 2).add_(1)

        for i in (6, 100, -9):
            x = whole(7, 4).float()
            before = x.clone()
            for engine in ("cpu", "interpret"):
                with self.assertRaises(ftt.RunIndexError):
                    ftt.script(written, engine=engine)(x, torch.tensor(i))
                self.assertTrue(torch.equal(x, before))

    def test_what_is_refused(self):
        def by_data(x):
            return x.reshape([2] * int(x[0]))

        def resized(x):
            x.resize_(3)

        def moved(x):
            x.set_(x.clone())

        for function, text in ((by_data, "data"), (resized, "resize_"), (moved, "set_")):
            with self.subTest(function.__name__), self.assertRaisesRegex(ftt.ScriptError, rf"test_promises.py:\d+:\d+: error: (.|\n)*{text}"):
                ftt.script(function)(whole(8))


class Copies(Against):
    """What a call copies."""

    def test_none_where_eager_has_none(self):
        def lstm(x, w, h, c):
            """States are rows of two tensors."""
            for t in range(x.shape[0]):
                inp = x[t]
                for j in range(h.shape[0]):
                    g = inp @ w[j] + h[j]
                    c[j] = torch.sigmoid(g) * c[j] + torch.tanh(g)
                    h[j] = torch.tanh(c[j])
                    inp = h[j]
            return h[-1]

        def written_back(x, w, h, lengths):
            """The last layer's output takes the place of the first one's input; rows that have ended stay."""
            for t in range(x.shape[0]):
                inp = x[t]
                going = (lengths > t)[:, None]
                for j in range(h.shape[0]):
                    h[j] = torch.where(going, torch.tanh(inp @ w[j] + h[j]), h[j])
                    inp = h[j] + inp
                x[t] = inp

        def cache(x, k, v, start: int):
            at = start
            for t in range(x.shape[0]):
                k[:, at] = x[t]
                v[:, at, :] = x[t] * 2
                at += 1
            return (k * v).sum(1)

        def ring(x, k):
            for t in range(x.shape[0]):
                k[t % k.shape[0]] = x[t] + k[(t + 1) % k.shape[0]]

        x = torch.randn(6, 4, generator=torch.Generator().manual_seed(3)) * 0.3
        zeros = torch.zeros
        for function, arguments in ((lstm, (x, x[:4].repeat(2, 1, 1), zeros(2, 4), zeros(2, 4))),
                                    (written_back, (x.view(3, 2, 4), x[:4].repeat(2, 1, 1), zeros(2, 2, 4), torch.tensor([3, 1]))), (cache, (x.unsqueeze(1), zeros(1, 9, 4), zeros(1, 9, 4), 2)),
                                    (ring, (whole(7, 3), whole(3, 3, seed=2)))):
            script = self.check(function, *arguments)
            self.assertEqual((script.report().copies, script.report().copied_bytes), (0, 0), function.__name__)
            self.assertEqual(script.copied_bytes, 0)

    def test_rows_at_data(self):
        """A row at data is one of all rows, also if it comes in under several names, or beside rows at known places."""
        def twice(x, at):
            for k in range(at.shape[0]):
                p = at[k]
                x[p] += x[at[k]] + x[0]
                x[p, 1] = k

        script = self.check(twice, whole(6, 16), torch.tensor([3, 0, 3, 5, 0]))
        self.assertEqual((script.report().copies, script.remarks), (1, []))
        # Of many elements it is where it lies.
        script = self.check(twice, whole(6, 1600), torch.tensor([3, 0, 3, 5, 0]), one_call=False)
        self.assertEqual((script.report().copies, [r for r in script.remarks if "interpreter" in r.text]), (0, []))

    def test_what_overlaps_in_part(self):
        """A row and a column at data, also under a condition, are elements by tensors of indices: nothing overlaps."""
        def cross(x, at):
            for k in range(at.shape[0] - 1):
                x[at[k]] = x[at[k]] + x[:, at[k + 1]]

        def under_a_condition(x, at):
            for k in range(at.shape[0] - 1):
                row, column = x[at[k]], x[:, at[k + 1]]
                if x[0, 0] > -100:
                    row.copy_(row + column)

        at = torch.tensor([3, 0, 1])
        self.check(cross, whole(4, 4), at)
        for engine in ENGINES:
            x = whole(4, 4)
            expected, script = x.clone(), ftt.script(under_a_condition, engine=engine)
            script(x, at)
            under_a_condition(expected, at)
            self.assertTrue(torch.equal(x, expected))
        self.assertEqual((script.report().interpreted, script.report().calls), (0, 1))

    def test_they_are_counted(self):
        """What does not lie densely is copied in and back."""
        def double(x):
            x *= 2

        script, base = ftt.script(double, engine="cpu"), torch.ones(6, 8)
        script(base[::2, 1::4])
        self.assertEqual(script.copied_bytes, 3 * 2 * 4)
        self.assertEqual(base.sum(), 6 * 8 + 6)


class LoopsOnData(Against):
    def test_they_run_in_one_call(self):
        def decode(emb, w, limit: int):
            out = torch.zeros(limit, dtype=torch.int64)
            token, h, n = torch.ones(1, dtype=torch.int64), torch.zeros_like(emb[:1]), 0
            while token > 0 and n < limit:
                h = torch.tanh(h @ w + emb[token])
                token = h.argmax(1)
                out[n] = token
                n += 1
            return out, n

        def settles(x, w):
            for n in range(50):
                y = torch.relu(x @ w)
                if (y - x).abs().max() < 1e-3:
                    break
                x = y
            return x, n

        g = torch.Generator().manual_seed(6)
        for width in (2, 7):
            self.check(decode, torch.randn(width, width, generator=g), torch.randn(width, width, generator=g), 12)
            self.check(settles, torch.rand(2, width, generator=g), torch.eye(width) * 0.5)

    def test_tokens(self):
        """Tokens without dimensions, elements at them, ends in the middle of a body: what argmax finds lies within its dimension."""
        def two_ends(noise, emb, w):
            i, tok, h = 0, torch.ones((), dtype=torch.int64), torch.zeros(8)
            out = torch.zeros(noise.shape[0], dtype=torch.int64)
            while True:
                if i == noise.shape[0]:
                    break
                h = torch.tanh(emb[tok] + h @ w)
                tok = (emb @ h + noise[i]).argmax()
                if tok == 0:
                    break
                out[i] = tok
                i += 1
            return out, i, h

        def scored(noise, emb, w):
            i, score, tok, h = 0, torch.zeros(()), torch.ones((), dtype=torch.int64), torch.zeros(8)
            done = torch.zeros((), dtype=torch.bool)
            while i != noise.shape[0] and not done:
                h = torch.tanh(emb[tok] + h @ w)
                p = torch.log_softmax(emb @ h + noise[i], 0)
                tok = torch.where(p.max() > -0.1, 0, p.argmax())
                score += p[tok]
                done = tok == 0
                i += 1
            return i, score

        def from_the_end(noise, emb, w):
            tok, x = torch.full((), -13), torch.zeros(8)
            for i in range(4):
                x += emb[tok]
                tok = torch.where(x[0] > 0, tok, (emb @ x).argmin())
            return x

        g = torch.Generator().manual_seed(4)
        arguments = torch.randn(9, 13, generator=g), torch.randn(13, 8, generator=g), torch.randn(8, 8, generator=g) * 0.3
        for function in (two_ends, scored, from_the_end):
            self.check(function, *arguments)

    def test_elements_at_several_indices(self):
        """Indices that are data beside others, counters, constants and negative ones: one function where they are known to lie inside."""
        def beside(emb, x):
            tok, out = x[0].argmax(), torch.zeros(x.shape[0])
            for t in range(x.shape[0]):
                out[t] = emb[tok, t] + emb[t, tok] + emb[tok, -1] + emb[-1][tok] + emb[tok][0]
                tok = (x[t] + out[t]).argmax()
            return out, tok

        def both(emb, x):
            out = torch.zeros(x.shape[0])
            for t in range(x.shape[0]):
                i, j = x[t].argmax(), x[t].argmin()
                out[t] = emb[i, j] - emb[j][i] + emb[j, j]
            return out

        def three(emb, x):
            e, out = emb.reshape(emb.shape[0], -1, 1), torch.zeros(x.shape[0])
            for t in range(x.shape[0]):
                i = x[t].argmax()
                out[t] = e[0, i, 0] + e[i, -1, 0] + e[i, i, -1]
            return out

        def limited(emb, x):
            m, out = emb.shape[0], torch.zeros(x.shape[0])
            for t in range(x.shape[0]):
                i, j = x[t, 0].long().clamp(0, m - 1), x[t, -1].long().clamp(-m, m - 1)
                out[t] = emb[i, j] + emb[j % m, (i + j) % m]
            return out

        def backwards(emb, x):
            back = x.long() % x.shape[1]
            path, s = torch.zeros(x.shape[0], dtype=torch.int64), x[-1].argmax()
            for t in range(x.shape[0] - 1, -1, -1):
                path[t] = s
                s = back[t, s]
            return path

        def carried(emb, x):
            row, tok, following = emb[0], x[0].argmax(), x[0].long() % x.shape[1]
            for t in range(x.shape[0]):
                row = emb[tok]
                tok = following[tok]
            return row, tok

        for n in (1, 7, 127):
            g = torch.Generator().manual_seed(n)
            emb, x = torch.randn(n, n, generator=g), torch.randn(min(n, 9), n, generator=g) * 3
            for function in (beside, both, three, limited, backwards, carried):
                with self.subTest(function=function.__name__, n=n):
                    self.check(function, emb, x)

    def test_elements_of_what_is_written(self):
        """A carried view of what the loop writes sees it, and one that is written writes."""
        def seen(x):
            i, row = x[0].argmax(), x[0]
            for t in range(1, x.shape[0]):
                x[t] += row
                row = x[x[t].argmax() % x.shape[0]]
                x[:, 0] -= 1
            return row.clone()

        def written(x):
            for t in range(x.shape[0]):
                y = x[x[t].argmax() % x.shape[0]]
                y[x[t].argmin()] += 5
                y += 1

        for n in (1, 7, 127):
            for function in (seen, written):
                with self.subTest(function=function.__name__, n=n):
                    self.check(function, whole(min(n, 9), n, seed=n), one_call=None)

    def test_tokens_that_may_lie_outside(self):
        """What an argument or arithmetic says is noted where it lies outside."""
        def stepped(emb, start):
            x, at = torch.zeros(3), start.argmax()
            for i in range(3):
                x += emb[at]
                at = at + 1
            return x

        def given(emb, start):
            x, at = torch.zeros(3), start[0]
            for i in range(3):
                x += emb[at]
                at = torch.where(x[0] > 0, at, emb[:, 0].argmax())
            return x

        for engine in ENGINES:
            for function, start in ((stepped, torch.tensor([0, 0, 1])), (given, torch.tensor([7, 0]))):
                with self.assertRaisesRegex(ftt.RunIndexError, r"test_promises.py:\d+:\d+: error: .*index"):
                    ftt.script(function, engine=engine)(whole(4, 3).float(), start)
        for function in (stepped, given):
            self.check(function, whole(5, 3).float(), torch.tensor([1, 0]))

    def test_views_under_a_condition_that_the_runner_looks_at(self):
        """An index that is in bounds where the condition holds is not looked at where it doesn't."""
        def doubled(x, m):
            i = 0
            while x.sum() < 100:
                if i < x.shape[0] and m[0] > 0:
                    x[i] += 3
                x *= 2
                i += 1
            return i

        for m in (0, 1):
            self.check(doubled, torch.ones(3, 2), torch.tensor([m]), one_call=None)

    def test_stretches_of_a_loop_that_nothing_bounds(self):
        """The condition is looked at once for 32 iterations; where a loop carries much, after each."""
        def halves(x):
            n = 0
            while x.max() > 1:
                x //= 2
                n += 1
            return n

        def collatz(n):
            steps = torch.zeros((), dtype=torch.int64)
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                steps += 1
            return steps

        def in_the_condition(x):
            k = torch.zeros((), dtype=torch.int64)

            def grown(t):
                t += 1
                return t.sum() < 300

            while grown(x):
                k += 1
            return k

        def several_ends(x):
            n = 0
            while True:
                x = x * 0.9
                n += 1
                if x.max() < 0.1:
                    break
                if x.sum() < 3:
                    return n, x
            return n, x * 2

        def exchanged(a, b):
            while b.abs().max() > 0.01:
                a, b = b, a * 0.3
            return a, b

        for function, arguments, calls in (
            (halves, (whole(5) + 40,), 1), (halves, (torch.zeros(5, dtype=torch.int64),), 1), (halves, (whole(5, seed=1) - 9,), 1), (halves, (whole(5000) + 40,), 15),
            (collatz, (torch.tensor(27),), 6), (collatz, (torch.tensor(1),), 3), (in_the_condition, (whole(6),), 4), (several_ends, (torch.ones(200),), 5),
            (several_ends, (torch.ones(3),), 4), (exchanged, (torch.ones(3), torch.ones(3) * 2), 2),
        ):
            script = self.check(function, *arguments, one_call=None)
            self.assertLessEqual(script.report().calls, calls, (function.__name__, script.report()))

    def test_a_stretch_is_one_launch_and_one_look(self):
        """Between two looks there is one compiled function, and on a GPU it is one kernel."""
        def collatz(n, x):
            steps = torch.zeros((), dtype=torch.int64)
            while n != 1:
                if n % 2 == 0:
                    n = n // 2
                else:
                    n = 3 * n + 1
                steps += 1
            return steps, n

        def decays(n, x):
            while x.abs().max() > 0.01:
                x = x * 0.9
            return x

        def decays_in_place(n, x):
            while x.abs().max() > 0.01:
                x.mul_(0.9)

        def in_the_condition(n, x):
            while x.add_(1).sum() < 4000:
                x[0] += n

        def nested(n, x):
            count = torch.zeros(())
            while x.abs().max() > 0.01:
                y = x.clone()
                while y.abs().max() > 0.25:
                    y *= 0.5
                    count += 1
                x = x * 0.5 + y * 0.125
            return x, count

        for size in (1, 7, 127):
            arguments = torch.tensor(27), torch.linspace(-3, 5, size)
            for function in (collatz, decays, decays_in_place, in_the_condition, nested):
                script = self.check(function, *arguments, one_call=None)
                program = script.lower(*(a.clone() for a in arguments))
                self.assertEqual(set(program.launches()), {1}, function.__name__)
                loops = [node for node in self.nodes(program.runner.division.plan) if getattr(node, "op", None) is not None and node.op.kind == "while"]
                self.assertEqual(len(loops), 2 if function is nested else 1)
                for loop in loops[-1:]:
                    before, after = loop.plans
                    self.assertEqual([[type(node).__name__ for node in plan] for plan in (before, after)], [[], ["Segment"]], function.__name__)

    def nodes(self, plan):
        for node in plan:
            yield node
            for inner in getattr(node, "plans", ()):
                yield from self.nodes(inner)

    def test_others_by_the_plan(self):
        """Where the body is no one graph, the condition is looked at between calls."""
        def rows(x, at):
            n = at[0]
            while n >= 0:
                x[n] += 1
                n = at[n]
            return x

        self.check(rows, whole(4, 3), torch.tensor([2, -1, 3, 1]), one_call=False)


class BadInput(Against):
    def test_nothing_is_written_before_it_is_refused(self):
        def program(x, y):
            x += 1
            y[0] = 3
            return x @ y

        def unchanged(kind, text, x, y, **options):
            before = x.clone(), y.clone()
            with self.assertRaisesRegex(kind, text):
                ftt.script(program, **options)(x, y)
            self.assertTrue(torch.equal(x, before[0]) and torch.equal(y, before[1]))

        unchanged(ftt.ScriptShapeError, r"test_promises.py:\d+:\d+: error: matmul of .*sizes 3 and 2 must be equal", whole(2, 3), whole(2, 3))
        unchanged(ftt.ScriptTypeError, r"test_promises.py:\d+:\d+: error", whole(2, 3), whole(3, 2).float())
        x = whole(4, 4)
        unchanged(Exception, "arguments 'x' and 'y' overlap, and 'x' is written", x, x[:, :4].t())
        read_only = np.zeros((3, 3))
        read_only.flags.writeable = False
        with self.assertRaisesRegex(Exception, "argument 'y' is written, and it is read-only"):
            ftt.script(program)(np.ones((3, 3)), read_only)

    def test_failures_on_data(self):
        """Typed, with the place; and arguments stay where copies were asked for."""
        def walk(x, at):
            for i in range(at.shape[0]):
                x[at[i]] += 1

        for engine in ENGINES:
            x = whole(4)
            before = x.clone()
            with self.assertRaisesRegex(ftt.RunIndexError, r"test_promises.py:\d+:\d+: error: .*index 4"):
                ftt.script(walk, engine=engine, in_place=False)(x, torch.tensor([1, 4]))
            self.assertTrue(torch.equal(x, before))

    def test_choices_from_nothing(self):
        """An extreme of no elements is an error, also where their number is data; what has a value for none gives it."""
        choices = [
            lambda x: x[x > 5].max(),
            lambda x: x[x > 5].argmin(),
            lambda x: x[x > 5].amin(),
            lambda x: x[x > 5].max(0),
            lambda x: x[x > 5].aminmax(),
            lambda x: x.view(1, 3)[:, x > 5].max(1),
            lambda x: x.view(1, 3)[:, x > 5].argmax(1),
            lambda x: x[x > 5].norm(p=float("inf")),
        ]
        values = [
            lambda x: x[x > 5].logsumexp(0),
            lambda x: x[x > 5].softmax(0),
            lambda x: x[x > 5].sum(),
        ]
        some, none = torch.tensor([7.0, 1, 8]), torch.ones(3)
        for engine in ENGINES:
            for choice in choices:
                with self.subTest(engine=engine, line=choice.__code__.co_firstlineno):
                    with self.assertRaises((RuntimeError, IndexError)):
                        choice(none)
                    with self.assertRaisesRegex(ftt.RunShapeError, r"test_promises.py:\d+:\d+: error: .*no elements to choose from"):
                        ftt.script(choice, engine=engine)(none)
                    for a, b in zip(flat(ftt.script(choice, engine=engine)(some)), flat(choice(some))):
                        self.assertTrue(torch.equal(a, b))
            for plain in values:
                self.assertEqual(ftt.script(plain, engine=engine)(none).tolist(), plain(none).tolist())

    def test_in_place_false_keeps_what_was_there(self):
        """Whether what fails is noticed in compiled code, by a step or by the host; dense arguments and others."""
        def noticed(x, at):
            x += 1
            return x[at]

        def in_a_branch(x, at):
            x.mul_(3)
            if x.sum() != 0:
                x[0] = 7
            return x[at] + x

        def by_a_step(x, at):
            x += 1
            return x[x > 100].reshape(3)

        def asserted(x, at):
            x += 1
            assert (at < 2).all()

        def viewed(x, at):
            x[1:] -= x[:-1]
            return x.narrow(0, int(at[-1]), 2)

        for engine in ENGINES:
            for program in (noticed, in_a_branch, by_a_step, asserted, viewed):
                for x in (whole(3), whole(3, 2).t()[1], whole(6)[::2]):
                    before = x.clone()
                    script = ftt.script(program, engine=engine, in_place=False)
                    with self.subTest(program=program.__name__, engine=engine, strides=x.stride()):
                        for _ in range(2):
                            with self.assertRaises(ftt.RunError):
                                script(x, torch.tensor([0, 9, 2]))
                            self.assertTrue(torch.equal(x, before), x)

    def test_what_is_undefined_is_said(self):
        def program(x, y, at):
            x += 1
            return y[at] + x[0]

        for engine in ENGINES:
            x, y, at = whole(3), whole(3), torch.tensor([5])
            with self.assertRaises(ftt.RunIndexError) as caught:
                ftt.script(program, engine=engine)(x, y, at)
            self.assertIn("note: what the call writes is undefined now: 'x'; in_place=False keeps", str(caught.exception))
            with self.assertRaises(ftt.RunIndexError) as caught:
                ftt.script(program, engine=engine, in_place=False)(x, y, at)
            self.assertNotIn("undefined", str(caught.exception))

    def test_memory_runs_out(self):
        def program(x):
            x += 1
            y = torch.zeros(1 << 22, 1 << 22)
            y[0] = x[0]
            return y

        for engine in ENGINES:
            x = whole(3)
            before = x.clone()
            with self.assertRaisesRegex(ft.OutOfMemoryError, r"test_promises.py:\d+:17: error: (memory ran out|cannot allocate)"):
                ftt.script(program, engine=engine)(x)
            self.assertTrue(torch.equal(x, before))

    def test_more_memory_than_the_machine_has(self):
        """Refused although the system would promise it."""
        def program(x):
            x += 1
            return x.repeat(1 << 10)

        x = whole(3)
        before = x.clone()
        with unittest.mock.patch.object(host_memory, "limit", lambda: 1 << 10), unittest.mock.patch.object(memory, "MOST_UNASKED", 0):
            with self.assertRaisesRegex(ft.OutOfMemoryError, r"error: memory ran out: \d+ bytes are more than the 1024 that this machine has"):
                ftt.script(program, engine="cpu")(x)
        self.assertTrue(torch.equal(x, before))
        ftt.script(program, engine="cpu")(x)
        self.assertTrue(torch.equal(x, before + 1))
        self.assertGreater(host_memory.limit(), 1 << 24)

    def test_places_of_the_interpreter(self):
        """The whole expression, also where an operation inside of a body fails, and the calls that lead there."""
        def divided(a, b):
            return a // b

        def program(x, y):
            z = x + 1
            return z + divided(x, y)

        for engine in ENGINES:
            with self.assertRaises(ftt.RunError) as caught:
                ftt.script(program, engine=engine)(whole(2), torch.tensor([1, 0]))
            text = str(caught.exception)
            self.assertRegex(text, r"test_promises.py:\d+:20: error: division by zero\n    return a // b\n           \^{6}\n.*note: called from here, in program")


if __name__ == "__main__":
    unittest.main()
