# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""On a GPU, with PyTorch: element types, streams, torch.compile, CUDA graphs, errors that data cause.
What calls cost: benchmarks/run.py calls.

    FT_LIBRARY=… python3 python/tests/run.py test_gpu
"""

import importlib.util
import math
import unittest

import numpy as np

import fractaltensor as ft
from fractaltensor.binding import RaggedArray

torch = None
if importlib.util.find_spec("torch"):
    import torch

HAS_GPU = torch is not None and torch.cuda.is_available()

if HAS_GPU:
    import test_examples
    import test_recurrences_and_tables
    import test_programs


@ft.jit
def stacked_rnn(xss: ft.List["N, L", ft.any["T", 1, "H"]], ws: ft.List["D", ft.any["T", "H", "H"]]):
    return xss.map(lambda xs: ws.scanl(lambda seq, w: seq.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(1, "H", dtype="T")), xs))


@ft.jit
def lookup(table: ft.List["V", ft.f32[4]], ids: ft.List["N", ft.i64]):
    return ids.map(lambda i: table[i] * 2)


@ft.jit
def add(xs: ft.List["N", ft.f32[4]], ys: ft.List["N", ft.f32[4]]):
    return ft.zip(xs, ys).map(ft.add)


def reference(x, w):
    layers = []
    for d in range(w.shape[0]):
        h, out = torch.zeros_like(x[:, 0]), []
        for k in range(x.shape[1]):
            h = torch.tanh(x[:, k] @ w[d] + h)
            out.append(h)
        x = torch.stack(out, 1)
        layers.append(x)
    return torch.stack(layers, 1)


def inputs(dtype=None, n=4, l=9, d=3, h=64):
    torch.manual_seed(0)
    x = torch.randn(n, l, 1, h, device="cuda")
    w = torch.randn(d, h, h, device="cuda") / math.sqrt(h)
    dtype = dtype or torch.float32
    return x.to(dtype), w.to(dtype)


def close(a, b, tolerance=1e-4):
    torch.testing.assert_close(a.double(), b.double(), rtol=tolerance, atol=tolerance)


@unittest.skipUnless(HAS_GPU, "no GPU, or PyTorch does not see it")
class Gpu(unittest.TestCase):
    def test_element_types(self):
        for dtype, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-10), (torch.float16, 1e-2), (torch.bfloat16, 8e-2)):
            for h in (64, 7):
                with self.subTest(dtype=dtype, h=h):
                    x, w = inputs(dtype, h=h)
                    y = stacked_rnn(x, w)
                    self.assertEqual((y.dtype, y.device), (dtype, x.device))
                    close(y, reference(x.double(), w.double()), tolerance)

    def test_examples(self):
        """Every twin on the GPU as on the CPU."""
        for name in test_examples.NAMES:
            with self.subTest(name):
                program = test_examples.twin(name)
                values = test_examples.arguments(program)
                expected = program(*values)
                found = program(*[torch.from_numpy(v).cuda() for v in values])
                ft.synchronize()
                for a, b in zip(found if isinstance(found, tuple) else (found,), expected if isinstance(expected, tuple) else (expected,)):
                    close(a.cpu(), torch.from_numpy(b), 1e-3)

    def test_programs(self):
        for name, program, reference_, arrays, dtype, scale in (*test_programs.CASES, *test_recurrences_and_tables.CASES):
            with self.subTest(name):
                expected = program(*arrays)
                found = program(*[torch.from_numpy(a).cuda() for a in arrays])
                ft.synchronize()
                for a, b in zip(found if isinstance(found, tuple) else (found,), expected if isinstance(expected, tuple) else (expected,)):
                    close(a.cpu(), torch.as_tensor(b), 2e-2 if dtype == "f16" else 1e-3)

    def test_side_stream(self):
        """On a stream of its own, after work that is still running, without waiting on the host."""
        x, w = inputs()
        stacked_rnn(x, w)
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            big = torch.randn(8192, 8192, device="cuda")
            for _ in range(20):
                big = big @ big / 8192
            scaled = x * 2
            y = stacked_rnn(scaled, w)
            busy = not stream.query()
        self.assertTrue(busy, "the call waited for the stream")
        stream.synchronize()
        close(y, reference(x * 2, w))
        z = stacked_rnn(x, w, stream=stream)
        stream.synchronize()
        close(z, reference(x, w))

    def test_cuda_graph(self):
        x, w = inputs()
        out = stacked_rnn(x, w)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = stacked_rnn(x, w)
            stacked_rnn(x + 1, w, out=out)
        for _ in range(3):
            x.copy_(torch.randn_like(x))
            graph.replay()
            torch.cuda.synchronize()
            close(y, reference(x, w))
            close(out, reference(x + 1, w))

    def test_compile(self):
        model = torch.compile(lambda x, w: stacked_rnn(x * 2, w) + 1, fullgraph=True)
        fast = torch.compile(lambda x, w: stacked_rnn(x * 2, w) + 1, fullgraph=True, mode="reduce-overhead")
        x, w = inputs()
        for _ in range(3):
            close(model(x, w), reference(x * 2, w) + 1)
            close(fast(x, w).clone(), reference(x * 2, w) + 1)

    def test_index_out_of_range(self):
        """Data decide: raised when the device is waited for, naming the call; the next call works."""
        table = torch.arange(20.0, device="cuda").reshape(5, 4)
        lookup(table, torch.tensor([0, 7], device="cuda"))
        with self.assertRaisesRegex(ft.DeviceError, "lookup"):
            ft.synchronize()
        y = lookup(table, torch.tensor([0, 4], device="cuda"))
        ft.synchronize()
        close(y, 2 * table[[0, 4]])
        lookup(table, torch.tensor([0, 7], device="cuda"))
        torch.cuda.synchronize()
        with self.assertRaisesRegex(ft.DeviceError, "lookup: an earlier call"):
            lookup(table, torch.tensor([0, 4], device="cuda"))
        close(lookup(table, torch.tensor([0, 4], device="cuda")), 2 * table[[0, 4]])

    def test_strides_and_alignment(self):
        raw = torch.randn(4 * 4 + 3, device="cuda")
        x, y = raw[1:17].reshape(4, 4), raw[3:19].reshape(4, 4)
        close(add(x, y), x + y)
        close(add(x[::2], y[1::2]), x[::2] + y[1::2])
        stream = torch.cuda.Stream()
        found = add(x[::2], y[1::2], stream=stream)
        stream.synchronize()
        close(found, x[::2] + y[1::2])

    def test_joined_and_cut_by_names(self):
        """Lists that two names flatten, or a name cuts, are read by one stride of the caller's; others are copied."""
        from test_strides import flat, inside, pieces, recut

        raw = torch.randn(4 * 3 * 128 * 2, device="cuda").reshape(-1, 2)
        for n, m in ((3, 5), (1, 7), (7, 1), (127, 2)):
            for step in (1, 2, 3):
                with self.subTest(n=n, m=m, step=step):
                    x = raw[::step][: n * m].unflatten(0, (n, m))
                    close(flat(x), 2 * x.flatten(0, 1))
                    close(recut(x[..., 0].clone(), torch.zeros(m, device="cuda")), x[..., 0].sum(1))
                    close(pieces(raw[::step][: n * m], torch.zeros(m, device="cuda")), x.sum(1))
        gaps = raw[:640].unflatten(0, (16, 40))[:, 3:17]
        close(flat(gaps), 2 * gaps.flatten(0, 1))
        self.assertIn("copied xs before calls with strides that the program cannot use: ", flat.explain())
        rows = raw[:720].unflatten(0, (3, 240))[:, ::2].unflatten(1, (12, 10))
        expected = torch.zeros(3, 2, device="cuda")
        for k in range(120):
            expected = 0.5 * expected + rows[:, k // 10, k % 10]
        close(inside(rows), expected)

    def test_ragged(self):
        from test_ragged import attention, everything, gru, offsets_of, states

        random = np.random.default_rng(0)

        def on_gpu(value):
            if isinstance(value, RaggedArray):
                return RaggedArray(on_gpu(value.values), value.offsets)
            return torch.from_numpy(value).cuda()

        def check(program, *args, **options):
            expected = program(*args)
            found = program(*map(on_gpu, args), **options)
            ft.synchronize()
            expected, found = (r if isinstance(r, tuple) else (r,) for r in (expected, found))
            for a, b in zip(found, expected):
                a, b = (v.values if isinstance(v, RaggedArray) else v for v in (a, b))
                self.assertEqual(a.device.type, "cuda")
                torch.testing.assert_close(a.cpu(), torch.from_numpy(b), rtol=2e-5, atol=2e-5)

        for counts in ((2, 0, 3), (1,), (0, 0), (7, 1, 127, 5, 0)):
            with self.subTest(counts):
                n, offsets = sum(counts), offsets_of(*counts)
                x, y = random.integers(-5, 5, (n, 2)).astype("i4"), random.integers(-5, 5, n).astype("i4")
                w = random.integers(-5, 5, (len(counts), 2)).astype("i4")
                check(everything, ft.ragged(x, offsets), w, ft.ragged(y, offsets))
                check(states, ft.ragged(x, offsets), w[:, 0].copy())
                k = random.standard_normal((n, 1, 8)).astype("f4")
                check(gru, ft.ragged(k, offsets), (random.standard_normal((6, 8, 8)) / 3).astype("f4"))
                if 0 not in counts:
                    check(attention, random.standard_normal((len(counts), 1, 8)).astype("f4"), ft.ragged(k, offsets))
        x, offsets = torch.randn(6, 1, 8, device="cuda"), torch.tensor([0, 2, 6], device="cuda")
        q = torch.randn(2, 1, 8, device="cuda")
        stream = torch.cuda.Stream()
        found = attention(q, ft.ragged(x, offsets), stream=stream)
        stream.synchronize()
        close(found, attention(q, ft.ragged(x, offsets)))

    def test_wrong_places(self):
        x, w = inputs()
        with self.assertRaises(ft.ArgumentError):
            stacked_rnn(x, w.cpu())
        with self.assertRaises(ft.ArgumentError):
            stacked_rnn(x, w, engine="cpu")
        with self.assertRaises(ft.ArgumentError):
            stacked_rnn(x, w, out=torch.empty(4, 3, 9, 1, 64))

    def test_tune(self):
        x, w = inputs()
        print(stacked_rnn.tune(x, w, progress=False))
        close(stacked_rnn(x, w), reference(x, w))


if __name__ == "__main__":
    unittest.main()
