# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lengths divided over ranks: rules against one rank's values, DTensor, DDP, FSDP2 and pipelines. Processes start once."""

import json
import os
import pathlib
import subprocess
import sys
import types
import unittest

import numpy as np

import fractaltensor as ft
from fractaltensor.derivatives import derivative
from fractaltensor.distributed.cuts import Cut, layout_of_sizes, layout_of_totals
from fractaltensor.distributed.rules import rules_of
from test_examples import LENGTHS, NAMES, arguments, twin

try:
    import torch
except ImportError:
    torch = None

HERE = pathlib.Path(__file__).resolve().parent


def rules(jit):
    return {rule.length: rule for rule in rules_of(jit.specialize().program)}


def chunks(array, dim, ranks):
    """Shards as ``torch.chunk`` cuts, empty ones included."""
    step = -(-array.shape[dim] // ranks)
    return [np.take(array, range(min(r * step, array.shape[dim]), min((r + 1) * step, array.shape[dim])), dim) for r in range(ranks)]


JOINS = {"sum": np.sum, "product": np.prod, "max": np.max, "min": np.min}


def run(call, values):
    found = call(*values)
    return list(found) if isinstance(found, (tuple, list)) else [found]


def sizes_of_shards(total, ranks, random):
    """Any sizes, empty ones included, that make the total."""
    borders = sorted(random.integers(0, total + 1, ranks - 1).tolist())
    return [b - a for a, b in zip([0, *borders], [*borders, total])]


def layouts(program, rule, values, ranks, random):
    """The ranges of ranks with equal parts, and with shards of any sizes; one for each rank."""
    for is_chunked in (True, False):
        cuts = [Cut(rule, "", types.SimpleNamespace(name="dp", size=ranks, rank=r), program) for r in range(ranks)]
        totals = {i: values[i].shape[d.dim] for i, d in enumerate(cuts[0].arguments) if d is not None}
        if is_chunked:
            yield [layout_of_totals("f", cut, totals) for cut in cuts]
            continue
        length = next(iter(totals.values())) - cuts[0].arguments[next(iter(totals))].extra
        sizes = sizes_of_shards(length, ranks, random)
        every = {i: [*sizes[:-1], sizes[-1] + cuts[0].arguments[i].extra] for i in totals}
        if all(size >= 0 for one in every.values() for size in one):
            yield [layout_of_sizes("f", cut, every) for cut in cuts]


def check_halo(test, program, call, rule, values, ranks, random):
    """Ranks that run the program on their shards and planes of the neighbours have, in their own parts, what one rank has."""
    whole = run(call, values)
    for of_ranks in layouts(program, rule, values, ranks, random):
        kept = []
        for rank, layout in enumerate(of_ranks):
            given = list(values)
            for i, dim in enumerate(rule.arguments):
                if dim is not None:
                    begin, end = layout.moved(i, "").wants[rank]
                    given[i] = np.ascontiguousarray(np.take(values[i], range(begin, end), dim))
            found = run(call, given)
            kept.append([found[i] if dim is None else np.take(found[i], range(*_kept(layout, i)), dim) for i, (dim, _) in enumerate(rule.results)])
        for i, (dim, _) in enumerate(rule.results):
            np.testing.assert_array_equal(kept[0][i] if dim is None else np.concatenate([each[i] for each in kept], dim), whole[i])


def _kept(layout, result):
    _, begin, size = layout.kept(result)
    return begin, begin + size


def check_rule(test, call, rule, values, ranks):
    """Ranks that run the program on shards have what one rank has: shards bit for bit, parts up to rounding."""
    whole = run(call, values)
    shards = [chunks(v, dim, ranks) if dim is not None else [v] * ranks for v, dim in zip(values, rule.arguments)]
    found = [run(call, [np.ascontiguousarray(s[r]) for s in shards]) for r in range(ranks)]
    for i, (dim, partial) in enumerate(rule.results):
        parts = [each[i] for each in found]
        if dim is not None:
            np.testing.assert_array_equal(np.concatenate(parts, dim), whole[i])
        elif partial is not None:
            joined = JOINS[partial](np.stack(parts), axis=0)
            np.testing.assert_allclose(joined, whole[i], rtol=2e-4, atol=2e-4 * max(1.0, float(np.abs(whole[i]).max())))
        else:
            for part in parts:
                np.testing.assert_array_equal(part, whole[i])


def check(test, jit, rule, values, ranks, seed=1):
    def call(*given):
        return jit(*given, engine="interpret")

    if rule.has_halo:
        check_halo(test, jit.specialize().program, call, rule, values, ranks, np.random.default_rng(seed))
    else:
        check_rule(test, call, rule, values, ranks)


class Examples(unittest.TestCase):
    def test_each_length_over_one_to_four_ranks(self):
        served = 0
        for name in NAMES:
            jit = twin(name)
            values = arguments(jit)
            for rule in rules(jit).values():
                for ranks in (1, 2, 3, 4):
                    if not rule.fits([v.shape for v in values], ranks):
                        continue
                    served += ranks > 1
                    with self.subTest(name, length=rule.length, ranks=ranks):
                        check(self, jit, rule, values, ranks)
        self.assertGreater(served, 3 * len(NAMES))


f3 = ft.f64[3]


def zeros():
    return ft.zeros(3, dtype=ft.f64)


def program(names, results=None, bounds=(), **values):
    """A program, the lengths that have rules, how its results lie for the first of them, and its arguments."""

    def add(function):
        PROGRAMS.append((ft.jit(bounds=bounds)(function), set(names.split()), results, values))
        return function

    return add


PROGRAMS = []


@program("N", [(None, "sum")])
def scaled_sum(xs: ft.List["N", f3], w: f3):
    return xs.reduce(lambda a, x: a + x * w, zeros()) * w


@program("N", [(None, "max")])
def largest(xs: ft.List["N", f3]):
    return xs.reduce(ft.maximum, zeros() - 1.0)


@program("N", [(None, "min")])
def smallest(xs: ft.List["N", f3]):
    return xs.reduce(ft.minimum, zeros() + 9.0)


@program("N", [(None, "product")])
def product(xs: ft.List["N", f3]):
    return xs.reduce(lambda a, x: a * x, zeros() + 1.0)


@program("N", [(None, "sum"), (0, None)])
def sum_and_map(xs: ft.List["N", f3], w: f3):
    return xs.reduce(lambda a, x: a + x * w, zeros()), xs.map(lambda x: ft.tanh(x))


@program("N L", [(None, "sum")])
def sum_of_sums(xss: ft.List["N, L", f3]):
    return xss.map(lambda xs: xs.reduce(ft.add, zeros())).reduce(ft.add, zeros())


@program("M", [(0, None)])
def picked(table: ft.List["V", f3], at: ft.List["M", ft.i64]):
    return table[at].map(lambda x: x * 2.0)


@program("N", [(0, None)], bounds=["N >= 2"])
def bounded(xs: ft.List["N", f3]):
    return xs.map(lambda x: x * x)


@program("M", [(0, None)])
def outer(xs: ft.List["N", f3], ys: ft.List["M", f3]):
    return ys.map(lambda y: xs.foldl(lambda a, x: a * 0.5 + x * y, zeros()))


# Planes of the neighbours, as many as accesses and conditions near the list's ends ask for.


@program("N", [(0, None)])
def shifted(xs: ft.List["N", f3]):
    return xs.shift(1, fill=zeros())


@program("N", [(0, None), (0, None)])
def shifted_twice(xs: ft.List["N", f3], w: f3):
    ys = ft.zip(xs, xs.shift(1, fill=zeros())).map(lambda a, b: ft.tanh(a - b) * w)
    return ft.zip(ys, ys.shift(-2, fill=zeros() + 1.0)).map(lambda a, b: a * b), ys


@program("N", [(0, None)], bounds=["N >= 2"])
def windowed(xs: ft.List["N", f3]):
    return xs.window(3).map(lambda w: w.reduce(ft.add, zeros()))


@program("N", [(0, None)])
def longer_beside(xs: ft.List["N + 2", f3], ys: ft.List["N", f3]):
    return ft.zip(xs.window(3), ys).map(lambda w, y: w.reduce(ft.maximum, zeros()) * y)


@program("N L")
def along_the_second(xss: ft.List["N, L", f3]):
    return xss.map(lambda xs: ft.zip(xs, xs.shift(-3, fill=zeros())).map(lambda a, b: a - b))


@program("L N")
def shifted_beside(xss: ft.List["N, L", ft.i64], ts: ft.List["L", ft.i64]):
    later = ts.shift(2, fill=7)
    return xss.map(lambda xs: ft.zip(xs, later).map(lambda x, t: x * 3 - t))


# No rule: the begin, the whole length, another shard, or the sum in the middle would be needed.


@program("")
def from_other_than_zero(xs: ft.List["N", f3]):
    return xs.reduce(ft.add, zeros() + 1.0)


@program("")
def rounded_sum(xs: ft.List["N", f3]):
    return ft.tanh(xs.reduce(ft.add, zeros()))


@program("")
def sum_plus_one(xs: ft.List["N", f3]):
    return xs.reduce(ft.add, zeros()) + 1.0


@program("")
def less_the_sum(xs: ft.List["N", f3]):
    total = xs.reduce(ft.add, zeros())
    return xs.map(lambda x: x - total)


@program("")
def pairs(xs: ft.List["N", f3], ys: ft.List["N", f3]):
    return xs.map(lambda x: ys.reduce(lambda a, y: a + x * y, zeros())).reduce(ft.add, zeros())


@program("")
def square_of_sums(xs: ft.List["N", f3], ys: ft.List["N", f3]):
    total = xs.reduce(ft.add, zeros())
    return ys.reduce(lambda a, y: a + y, zeros()) * total


@program("")
def sum_of_neighbours(xs: ft.List["N", f3]):
    return ft.zip(xs, xs.shift(1, fill=zeros())).map(lambda a, b: a * b).reduce(ft.add, zeros())


@program("")
def reversed_list(xs: ft.List["N", f3]):
    return ft.zip(xs, xs[::-1]).map(lambda x, y: x - y)


@program("")
def numbered(xs: ft.List["N", ft.i64]):
    return xs.enumerate().map(lambda i, x: x * i)


@program("")
def mean(xs: ft.List["N", f3]):
    count = ft.repeat(ft.ones(3, dtype=ft.f64), "N").reduce(ft.add, zeros())
    return xs.reduce(ft.add, zeros()) / count


@program("")
def beside_numbers(xs: ft.List["N", ft.i64]):
    return ft.zip(xs, ft.iota("N")).map(lambda x, i: x + i)


@program("")
def running(xs: ft.List["N", f3]):
    return xs.scanl(lambda a, x: a + x, zeros())


@program("")
def halved(xs: ft.List["N", f3]):
    return xs[::2]


@program("")
def longer(xs: ft.List["N", f3], ys: ft.List["M", f3]):
    return xs.concat(ys)


@program("")
def first_of_all(xs: ft.List["N + 1", f3], ys: ft.List["N", f3]):
    return ys.map(lambda y: y * xs[0])


SIZES = {"N": 7, "L": 5, "M": 6, "V": 4}


def data(jit, seed=3):
    random = np.random.default_rng(seed)
    values = []
    for type_ in jit.specialize().program.types:
        lengths = [n.substitute(SIZES).constant for n in getattr(type_, "lengths", [])]
        element = type_.element if hasattr(type_, "lengths") else type_
        shape = (*lengths, *element.shape)
        values.append(random.integers(0, 4, shape) if element.dtype == ft.i64 else random.standard_normal(shape))
    return values


class Programs(unittest.TestCase):
    def test_rules_and_values(self):
        for jit, names, results, _ in PROGRAMS:
            with self.subTest(jit.__name__):
                found = rules(jit)
                self.assertEqual(set(found), names)
                for name, rule in found.items():
                    if results is not None:
                        self.assertEqual(list(rule.results), results)
                    for ranks in (2, 3, 4):
                        values = data(jit)
                        if rule.has_halo or rule.fits([v.shape for v in values], ranks):
                            check(self, jit, rule, values, ranks, seed=ranks)

    def test_planes_of_neighbours(self):
        found = {jit.__name__: sorted((r.before, r.after) for r in rules(jit).values()) for jit, *_ in PROGRAMS}
        self.assertEqual(found["shifted"], [(1, 0)])
        self.assertEqual(found["shifted_twice"], [(1, 2)])
        self.assertEqual(found["windowed"], [(0, 2)])
        self.assertEqual(found["along_the_second"], [(0, 0), (0, 3)])
        self.assertEqual(found["scaled_sum"], [(0, 0)])
        conv1d = rules(twin("conv1d"))
        self.assertEqual((conv1d["L"].before, conv1d["L"].after), (1, 1))

    def test_shards_that_a_bound_forbids(self):
        rule = rules(next(jit for jit, *_ in PROGRAMS if jit.__name__ == "bounded"))["N"]
        self.assertEqual(rule.least, 2)
        self.assertTrue(rule.fits([(4, 3)], 2))
        self.assertFalse(rule.fits([(5, 3)], 4))  # 2, 2, 1, 0

    def test_table(self):
        jit = twin("stacked_rnn")
        found = json.loads(jit.rule("json"))
        self.assertEqual({one["length"]: one["kind"] for one in found["lengths"]}, {"N": "local", "L": "pipeline", "D": "pipeline"})
        self.assertEqual([rule["length"] for rule in found["rules"]], ["N"])
        self.assertIn("[i, j, k - 1]", json.dumps(found["lengths"]))
        with self.assertRaisesRegex(ft.ArgumentError, "there are 'json'"):
            jit.rule("einsum")


@ft.jit
def recurrent(xss: ft.List["N, L", ft.f64[1, "H"]], ws: ft.List["D", ft.f64["H", "H"]]):
    def layer(seq, w):
        return seq.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(1, "H", dtype=ft.f64))

    return xss.map(lambda xs: ws.scanl(layer, xs))


class Derivatives(unittest.TestCase):
    def test_forward_and_backward_have_one_rule(self):
        random = np.random.default_rng(2)
        xss, ws = random.standard_normal((5, 4, 1, 3)), random.standard_normal((2, 3, 3)) * 0.5
        made = derivative(recurrent.specialize(H=3).program, (0, 1))
        outputs = run(made.forward, (xss, ws))
        cotangent = random.standard_normal(outputs[0].shape)
        values = [*made.read((xss, ws), outputs), cotangent]
        for jit, given in ((made.forward, (xss, ws)), (made.backward, values)):
            rule = {r.length: r for r in rules_of(jit._derived)}["N"]
            for ranks in (2, 3):
                check_rule(self, jit, rule, list(given), ranks)
        self.assertEqual(rule.results, ((0, None), (None, "sum")))


def eager(xss, ws):
    rows = []
    for xs in xss:
        layer, layers = list(xs), []
        for w in ws:
            h, made = torch.zeros_like(layer[0]), []
            for x in layer:
                h = torch.tanh(x @ w + h)
                made.append(h)
            layer = made
            layers.append(torch.stack(made))
        rows.append(torch.stack(layers))
    return torch.stack(rows)


@unittest.skipIf(torch is None, "PyTorch is not there")
class Simulated(unittest.TestCase):
    """Eight ranks in one process."""

    def test_eight_ranks(self):
        try:
            from torch.distributed._local_tensor import LocalTensorMode
            from torch.testing._internal.distributed.fake_pg import FakeStore
        except ImportError:
            self.skipTest("this PyTorch has no LocalTensorMode")
        import torch.distributed as dist
        from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh

        dist.init_process_group("fake", rank=0, world_size=8, store=FakeStore())
        try:
            with LocalTensorMode(8):
                mesh = init_device_mesh("cpu", (8,))
                torch.manual_seed(1)
                x, w = torch.randn(17, 3, dtype=torch.float64), torch.randn(3, dtype=torch.float64)
                xs, ws = distribute_tensor(x, mesh, [Shard(0)]), distribute_tensor(w, mesh, [Replicate()])
                total = scaled_sum_jit(xs, ws)
                self.assertEqual([str(p) for p in total.placements], ["P(sum)"])
                torch.testing.assert_close(total.full_tensor().reconcile(), (x * w).sum(0) * w)
                y = recurrent(distribute_tensor(torch.ones(17, 4, 1, 2, dtype=torch.float64), mesh, [Shard(0)]),
                              distribute_tensor(torch.ones(2, 2, 2, dtype=torch.float64), mesh, [Replicate()]))
                self.assertEqual(y.placements, (Shard(0),))
                one = eager(torch.ones(1, 4, 1, 2, dtype=torch.float64), torch.ones(2, 2, 2, dtype=torch.float64))
                torch.testing.assert_close(y.full_tensor().reconcile(), one.expand(17, *one.shape[1:]))
        finally:
            dist.destroy_process_group()


scaled_sum_jit = PROGRAMS[0][0]


@unittest.skipIf(torch is None, "PyTorch is not there")
class Processes(unittest.TestCase):
    def check(self, script, ranks):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE), str(HERE.parent.parent / "examples/python")])}
        found = subprocess.run([sys.executable, str(HERE / script)], capture_output=True, text=True, env=environment, timeout=600)
        self.assertEqual(found.returncode, 0, found.stderr[-4000:])
        for rank in range(ranks):
            self.assertIn(f"rank {rank}: all equal", found.stdout)

    def test_two_processes(self):
        self.check("two_ranks.py", 2)

    def test_a_mesh_of_four_processes(self):
        self.check("mesh_ranks.py", 4)


if __name__ == "__main__":
    unittest.main()
