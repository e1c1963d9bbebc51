# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each operation on elements and each operator on lists against NumPy, on the CPU and in the interpreter."""

import math
import unittest

import numpy as np

import fractaltensor as ft
from close import assert_close

ROWS = 5


def data(dtype="float32", seed=0, shape=(ROWS, 4, 6)):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "i":
        return random.integers(-20, 20, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


erf = np.vectorize(math.erf)

#: name: (the program's function, NumPy's), on an element of 4 x 6 floats.
FLOATS = {
    "exp": (ft.exp, np.exp), "exp2": (ft.exp2, np.exp2), "expm1": (ft.expm1, np.expm1), "tanh": (ft.tanh, np.tanh),
    "sin": (ft.sin, np.sin), "cos": (ft.cos, np.cos), "floor": (ft.floor, np.floor), "ceil": (ft.ceil, np.ceil),
    "trunc": (ft.trunc, np.trunc), "round": (ft.round, np.round), "abs": (abs, np.abs), "neg": (lambda x: -x, np.negative),
    "sinh": (ft.sinh, np.sinh), "cosh": (ft.cosh, np.cosh), "arctan": (ft.arctan, np.arctan), "erf": (ft.erf, erf),
    "sqrt": (lambda x: ft.sqrt(abs(x)), lambda x: np.sqrt(abs(x))), "square": (ft.square, np.square), "sign": (ft.sign, np.sign),
    "rsqrt": (lambda x: ft.rsqrt(abs(x) + 0.1), lambda x: 1 / np.sqrt(abs(x) + 0.1)),
    "log": (lambda x: ft.log(abs(x) + 0.1), lambda x: np.log(abs(x) + 0.1)),
    "log1p": (lambda x: abs(x).log1p(), lambda x: np.log1p(abs(x))),
    "sigmoid": (ft.sigmoid, sigmoid), "silu": (ft.silu, lambda x: x * sigmoid(x)), "relu": (ft.relu, lambda x: np.maximum(x, 0)),
    "softplus": (ft.softplus, lambda x: np.log1p(np.exp(x))),
    "gelu": (ft.gelu, lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))),
    "gelu tanh": (lambda x: ft.gelu(x, "tanh"), lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    "leaky_relu": (lambda x: ft.leaky_relu(x, 0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    "softmax": (ft.softmax, softmax), "log_softmax": (lambda x: x.log_softmax(dim=-1), lambda x: np.log(softmax(x))),
    "layer_norm": (ft.layer_norm, layer_norm),
    "rms_norm": (ft.rms_norm, lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)),
    "sum": (lambda x: x.sum(), lambda x: x.sum((-2, -1))), "sum 0": (lambda x: x.sum(0), lambda x: x.sum(-2)),
    "sum keep": (lambda x: x.sum(1, keepdims=True), lambda x: x.sum(-1, keepdims=True)),
    "max": (lambda x: x.max(axis=1), lambda x: x.max(-1)), "min": (lambda x: x.min(dim=0), lambda x: x.min(-2)),
    "mean": (lambda x: x.mean(1), lambda x: x.mean(-1)), "var": (lambda x: x.var(1), lambda x: x.var(-1)),
    "std": (lambda x: x.std(0), lambda x: x.std(-2)), "prod": (lambda x: x.prod(1), lambda x: x.prod(-1)),
    "logsumexp": (lambda x: x.logsumexp(1), lambda x: np.log(np.exp(x).sum(-1))),
    "argmax": (lambda x: x.argmax(1), lambda x: x.argmax(-1)), "argmin": (lambda x: x.argmin(0), lambda x: x.argmin(-2)),
    "any": (lambda x: (x > 1).any(1), lambda x: (x > 1).any(-1)), "all": (lambda x: (x > -1).all(0), lambda x: (x > -1).all(-2)),
    "broadcast": (lambda x: x - x.max(1, True) + x[0] + x[:, 0:1], lambda x: x - x.max(-1, keepdims=True) + x[:, 0:1] + x[..., 0:1]),
    "numbers": (lambda x: 2 - x / 4 + 3 * x - (1 / (x * x + 1)), lambda x: 2 - x / 4 + 3 * x - 1 / (x * x + 1)),
    "power": (lambda x: x**3 + x**0 + (abs(x) + 1) ** 1.5, lambda x: x**3 + 1 + (abs(x) + 1) ** np.float32(1.5)),
    "remainder": (lambda x: (x * 10) % 3, lambda x: np.mod(x * 10, 3)), "floor_divide": (lambda x: (x * 10) // 3, lambda x: np.floor(x * 10 / 3)),
    "clip": (lambda x: x.clip(-0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)), "where": (lambda x: ft.where(x > 0, x, 0.5), lambda x: np.where(x > 0, x, np.float32(0.5))),
    "compare": (lambda x: (x <= 0) | (x >= 1) & ~(x == 2) ^ (x != x), lambda x: (x <= 0) | ((x >= 1) & True)),
    "isnan": (ft.isnan, np.isnan), "maximum": (lambda x: ft.maximum(x, -x), np.abs), "minimum": (lambda x: ft.minimum(0, x), lambda x: np.minimum(x, 0)),
    "slice": (lambda x: x[1:3, ::2], lambda x: x[:, 1:3, ::2]), "index": (lambda x: x[1], lambda x: x[:, 1]),
    "index 2": (lambda x: x[-1, 2], lambda x: x[:, -1, 2]), "new axis": (lambda x: x[:, None, 2:], lambda x: x[:, :, None, 2:]),
    "ellipsis": (lambda x: x[..., 0], lambda x: x[..., 0]),
    "reshape": (lambda x: x.reshape(2, -1), lambda x: x.reshape(-1, 2, 12)), "ravel": (lambda x: x.ravel(), lambda x: x.reshape(-1, 24)),
    "reshape 4": (lambda x: x.reshape(2, 2, 3, 2).permute(2, 0, 3, 1), lambda x: x.reshape(-1, 2, 2, 3, 2).transpose(0, 3, 1, 4, 2)),
    "transpose": (lambda x: x.T, lambda x: x.swapaxes(-1, -2)), "concatenate": (lambda x: ft.cat([x, x[:, :2]], 1), lambda x: np.concatenate([x, x[..., :2]], -1)),
    "stack": (lambda x: ft.stack([x, x + 1], 1), lambda x: np.stack([x, x + 1], -2)), "tile": (lambda x: ft.tile(x, (2, 1)), lambda x: np.tile(x, (1, 2, 1))),
    "split": (lambda x: x.split(3, 1)[1], lambda x: np.split(x, 3, -1)[1]), "squeeze": (lambda x: x[1:2].squeeze(0).unsqueeze(-1), lambda x: x[:, 1, :, None]),
    "expand": (lambda x: x[0:1].expand(3, -1), lambda x: np.broadcast_to(x[:, 0:1], (ROWS, 3, 6))),
    "tril": (ft.tril, np.tril), "triu": (lambda x: ft.triu(x, 1), lambda x: np.triu(x, 1)),
    "matmul": (lambda x: x @ x.T, lambda x: x @ x.swapaxes(-1, -2)), "matmul T": (lambda x: x.T @ x, lambda x: x.swapaxes(-1, -2) @ x),
    "matvec": (lambda x: x @ x[0], lambda x: np.einsum("nij,nj->ni", x, x[:, 0])), "vecmat": (lambda x: x[:, 0] @ x, lambda x: np.einsum("ni,nij->nj", x[..., 0], x)),
    "dot": (lambda x: x[0] @ x[1], lambda x: np.einsum("nj,nj->n", x[:, 0], x[:, 1])), "outer": (lambda x: ft.outer(x[0], x[:, 1]), lambda x: np.einsum("nj,ni->nji", x[:, 0], x[..., 1])),
    "batched": (lambda x: x.reshape(2, 2, 6) @ x.reshape(2, 6, 2), lambda x: x.reshape(-1, 2, 2, 6) @ x.reshape(-1, 2, 6, 2)),
    "batched 2": (lambda x: x.reshape(2, 2, 6) @ x.T, lambda x: x.reshape(-1, 2, 2, 6) @ x.swapaxes(-1, -2)[:, None]),
    "einsum": (lambda x: ft.einsum("ij,kj->ki", x, x + 1), lambda x: np.einsum("nij,nkj->nki", x, x + 1)),
    "einsum 3": (lambda x: ft.einsum("bij,bkj->ikb", x.reshape(2, 2, 6), x.reshape(2, 2, 6)), lambda x: np.einsum("nbij,nbkj->nikb", x.reshape(-1, 2, 2, 6), x.reshape(-1, 2, 2, 6))),
    "einsum 1": (lambda x: ft.einsum("ij->j", x), lambda x: x.sum(-2)), "einsum alone": (lambda x: ft.einsum("ij,kl->il", x, x), lambda x: np.einsum("nij,nkl->nil", x, x)),
    "product and sum": (lambda x: x @ x.T + x[:, :4] + x @ x.T, lambda x: 2 * (x @ x.swapaxes(-1, -2)) + x[..., :4]),
    "const": (lambda x: x + ft.const([[1.0, 2, 3, 4, 5, 6]]), lambda x: x + np.arange(1, 7, dtype="f4")),
    "arange": (lambda x: x + ft.arange(2, 14, 2).to(ft.f32), lambda x: x + np.arange(2, 14, 2, dtype="f4")),
    "eye": (lambda x: x @ ft.eye(6), lambda x: x), "full": (lambda x: ft.full((2,), 1.5) + ft.ones(2) + ft.zeros_like(x[0, :2]), lambda x: np.full((ROWS, 2), 2.5, "f4")),
    "masked_fill": (lambda x: x.masked_fill(x > 0, -1.0), lambda x: np.where(x > 0, np.float32(-1), x)),
    "to f64": (lambda x: x.to(ft.f16).to("f64"), lambda x: x.astype("f2").astype("f8")), "to i32": (lambda x: (x * 10).to(ft.i32), lambda x: (x * 10).astype("i4")),
    "to bool": (lambda x: x.floor().bool(), lambda x: np.floor(x) != 0), "linear": (lambda x: ft.functions.linear(x, x, x[:, 0]), lambda x: x @ x.swapaxes(-1, -2) + x[..., 0][:, None]),
    "cumsum": (lambda x: x.cumsum(0), lambda x: x.cumsum(-2)), "cumsum 1": (lambda x: x[1].cumsum(), lambda x: x[:, 1].cumsum(-1)),
    "norm": (lambda x: x.norm(dim=1), lambda x: np.linalg.norm(x, axis=-1)), "trace": (lambda x: (x @ x.T).trace(), lambda x: (x * x).sum((-1, -2))),
    "roll": (lambda x: ft.roll(x, 2, 1) + x.roll(-1), lambda x: np.roll(x, 2, -1) + np.roll(x, -1, -1)),
    "infinity": (lambda x: ft.where(x > 0, float("-inf"), x).max(1), lambda x: np.where(x > 0, -np.inf, x).max(-1)),
}

INTEGERS = {
    "arithmetic": (lambda x: x * 3 - 2 + -x, lambda x: x * 3 - 2 - x), "floor_divide": (lambda x: x // 3, lambda x: x // 3),
    "remainder": (lambda x: x % 3, lambda x: x % 3), "remainder -": (lambda x: x % -3, lambda x: x % -3), "bits": (lambda x: (x & 3) | (x ^ 5) & ~x, lambda x: (x & 3) | (x ^ 5) & ~x),
    "shifts": (lambda x: (x << 2) >> 1, lambda x: (x << 2) >> 1), "matmul": (lambda x: x @ x.T, lambda x: x @ x.swapaxes(-1, -2)),
    "max": (lambda x: x.max(0), lambda x: x.max(-2)), "sum": (lambda x: x.sum(), lambda x: x.sum((-1, -2), dtype=x.dtype)), "abs": (abs, np.abs),
    "power": (lambda x: x**2, lambda x: x**2), "count": (lambda x: (x > 0).sum(1), lambda x: (x > 0).sum(-1)), "to f32": (lambda x: x.float() / 2, lambda x: x.astype("f4") / 2),
    "compare": (lambda x: x < x[0], lambda x: x < x[:, 0:1]), "bool": (lambda x: (x > 0).to(ft.i64), lambda x: (x > 0).astype("i8")),
    "narrow": (lambda x: (x * 100).to(ft.i8), lambda x: (x * 100).astype("i1")), "clip": (lambda x: x.clip(0, 5), lambda x: np.clip(x, 0, 5)),
}


class Elements(unittest.TestCase):
    def check(self, f, reference, element, array, dtype, **options):
        def program(xs: ft.List["N", element]):
            return xs.map(f)

        found = ft.jit(program)(array, **options)
        expected = reference(array)
        kind = {"float16": "f16", "float32": "f32", "float64": "f64"}.get(str(found.dtype), "f32")
        assert_close(self, found, expected, "f16" if dtype == "f16" else kind, 4)

    def test_floats(self):
        for name, (f, reference) in FLOATS.items():
            for engine in ("cpu", "interpret"):
                with self.subTest(name, engine=engine):
                    self.check(f, reference, ft.f32[4, 6], data(), "f32", engine=engine)

    def test_other_floats(self):
        for name in ("exp", "softmax", "layer_norm", "matmul", "matvec", "broadcast", "sum", "sigmoid", "einsum 3"):
            f, reference = FLOATS[name]
            with self.subTest(name, dtype="f64"):
                self.check(f, reference, ft.f64[4, 6], data("float64"), "f64")
            with self.subTest(name, dtype="f16"):
                self.check(f, lambda x: reference(x.astype("f4")), ft.f16[4, 6], data("float16"), "f16")

    def test_integers(self):
        for name, (f, reference) in INTEGERS.items():
            for dtype in ("int32", "int64"):
                with self.subTest(name, dtype=dtype):
                    self.check(f, reference, ft.List["N", getattr(ft, f"i{dtype[3:]}")[4, 6]].element, data(dtype), dtype)

    def test_bf16_bits(self):
        @ft.jit
        def double(xs: ft.List["N", ft.bf16[4]]):
            return xs.map(lambda x: x + x)

        bits = (np.array([[1.0, 2.5, -3.0, 0.0]], "f4").view("u4") >> 16).astype("u2")
        self.assertTrue(np.array_equal(double(bits), (np.array([[2.0, 5.0, -6.0, 0.0]], "f4").view("u4") >> 16).astype("u2")))


def folds(x):
    total, out = np.zeros(x.shape[1:], x.dtype), []
    for row in x:
        total = total * 0.5 + row
        out.append(total)
    return np.stack(out)


#: name: (program on a list of N elements of 4 x 6, NumPy on the array), N = 5.
LISTS = {
    "map pair": (lambda xs: xs.map(lambda x: (x + 1, x.sum()))[1], lambda x: x.sum((1, 2))),
    "reduce": (lambda xs: xs.reduce(ft.maximum), lambda x: x.max(0)), "reduce init": (lambda xs: xs.reduce(lambda s, x: s + x, 0.0), lambda x: x.sum(0)),
    "reduce combine": (lambda xs: xs.reduce(lambda s, x: s + x.sum(1), ft.zeros(4), combine=ft.add), lambda x: x.sum((0, 2))),
    "fold": (lambda xs: xs.fold(ft.add, 0), lambda x: x.sum(0)), "foldl": (lambda xs: xs.foldl(lambda s, x: s * 0.5 + x, ft.zeros(4, 6)), lambda x: folds(x)[-1]),
    "foldr": (lambda xs: xs.foldr(lambda s, x: s * 0.5 + x, 0), lambda x: folds(x[::-1])[-1]), "scanl": (lambda xs: xs.scanl(lambda s, x: s * 0.5 + x, 0), folds),
    "scanr": (lambda xs: xs.scanr(lambda s, x: s * 0.5 + x, 0), lambda x: folds(x[::-1])[::-1]), "scan": (lambda xs: xs.scan(ft.add, 0), lambda x: x.cumsum(0)),
    "scanl first": (lambda xs: xs.scanl(lambda s, x: s * 0.5 + x), lambda x: folds(x)),
    "lag": (lambda xs: xs.scanl(ft.add, 0, lag=2), lambda x: np.stack([x[0], x[1], x[0] + x[2], x[1] + x[3], x[0] + x[2] + x[4]])),
    "states": (lambda xs: xs.scanl(lambda a, b, x: (a + x, ft.maximum(b, x)), (ft.zeros(4, 6), ft.full((4, 6), -1e30)))[1], lambda x: np.maximum.accumulate(x)),
    "states in a tuple": (lambda xs: xs.scanl(lambda s, x: (s[0] + x, s[1] * 1.0), (ft.zeros(4, 6), ft.zeros(4)))[0], lambda x: x.cumsum(0)),
    "emit": (lambda xs: xs.scanl(lambda s, x: ft.emit(s + x, s.sum()), 0)[1], lambda x: (x.cumsum(0) - x).sum((1, 2))),
    "state list": (lambda xs: xs.split(1).foldl(lambda s, y: ft.zip(s, y).map(ft.add), ft.repeat(ft.zeros(4, 6), 1)), lambda x: x.sum(0)[None]),
    "slice": (lambda xs: xs[1:], lambda x: x[1:]), "slice end": (lambda xs: xs[:-2], lambda x: x[:-2]), "slice both": (lambda xs: xs[1:4], lambda x: x[1:4]),
    "reverse": (lambda xs: xs[::-1], lambda x: x[::-1]), "stride": (lambda xs: xs[1::2], lambda x: x[1::2]), "reverse stride": (lambda xs: xs[::-2], lambda x: x[::-2]),
    "at": (lambda xs: xs[-1] + xs[0] + xs.last, lambda x: 2 * x[-1] + x[0]), "length": (lambda xs: xs[: xs.length - 1], lambda x: x[:-1]),
    "names": (lambda xs: xs["N - 2":], lambda x: x[-2:]), "shift": (lambda xs: xs.shift(1), lambda x: np.concatenate([0 * x[:1], x[:-1]])),
    "shift -": (lambda xs: xs.shift(-2, fill=7), lambda x: np.concatenate([x[2:], 0 * x[:2] + 7])),
    "window": (lambda xs: xs.window(3).map(lambda w: w.reduce(ft.add)), lambda x: x[:-2] + x[1:-1] + x[2:]),
    "window zero": (lambda xs: xs.window(3, boundary="zero")[0], lambda x: np.stack([0 * x[0], x[0], x[1]])),
    "window dilated": (lambda xs: xs.window(2, dilation=3, step=1)[:, 1], lambda x: x[3:]), "concat": (lambda xs: xs.concat(xs[::-1]), lambda x: np.concatenate([x, x[::-1]])),
    "flatten": (lambda xs: xs.window(2).flatten(), lambda x: np.stack([x[:-1], x[1:]], 1).reshape(-1, 4, 6)), "split": (lambda xs: xs.concat(xs).split(2)[3], lambda x: np.concatenate([x, x])[6:8]),
    "transpose": (lambda xs: xs.window(2).T, lambda x: np.stack([x[:-1], x[1:]])), "repeat": (lambda xs: ft.repeat(xs[0], "N"), lambda x: np.stack([x[0]] * 5)),
    "iota": (lambda xs: xs.enumerate().map(lambda i, x: x * i.to(ft.f32)), lambda x: x * np.arange(5, dtype="f4")[:, None, None]),
    "gather": (lambda xs: xs[ft.iota("N").map(lambda i: (i * 2) % 5)], lambda x: x[[0, 2, 4, 1, 3]]), "gather one": (lambda xs: ft.iota(3).map(lambda i: xs[i + 1]), lambda x: x[1:4]),
    "unrolled": (lambda xs: sum_of([x for x in xs[0:3]]), lambda x: x[0] + x[1] + x[2]), "levels": (lambda xs: xs.window(3)[1:, 2], lambda x: x[3:]),
    "two lists": (lambda xs: ft.zip(xs, xs[::-1]).map(lambda a, b: a - b), lambda x: x - x[::-1]), "free functions": (lambda xs: ft.scanl(ft.add, ft.map(lambda x: 2 * x, xs), 0), lambda x: 2 * x.cumsum(0)),
    "captured": (lambda xs: xs.map(lambda x: xs.map(lambda y: (x * y).sum())), lambda x: np.einsum("nij,mij->nm", x, x)), "cast": (lambda xs: xs[1:].concat(xs[:1]).cast("N"), lambda x: np.roll(x, -1, 0)),
    "max of lists": (lambda xs: ft.cat([xs, xs]), lambda x: np.concatenate([x, x])), "dim": (lambda xs: xs[ft.dim("N") - 1], lambda x: x[-1]),
}


def sum_of(values):
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


class Numbers(unittest.TestCase):
    def test_numpy_scalars_have_types(self):
        for number, dtype in ((np.int32(2), np.int32), (np.float32(0.5), np.float32), (np.float64(0.5), np.float64), (np.int8(-3), np.int8), (np.bool_(True), np.bool_)):
            with self.subTest(dtype=dtype.__name__):
                def program(xs: ft.List["N", ft.f32]):
                    return xs.map(lambda x: (ft.where(x > 0, number, type(number)(0)), ft.full((2,), number)))

                found, full = ft.jit(program, engine="cpu")(np.array([1, -1], "f"))
                self.assertEqual((found.dtype, full.dtype), (dtype, dtype))
                self.assertEqual(found.tolist(), [number.item(), type(number)(0).item()])

    def test_a_numpy_scalar_beside_a_tensor_takes_its_type(self):
        @ft.jit(engine="cpu")
        def program(xs: ft.List["N", ft.f32]):
            return xs.map(lambda x: (x * np.float64(0.5), ft.where(x > 0, x, np.float64(0.25))))

        half, chosen = program(np.array([1, -1], "f"))
        self.assertEqual((half.dtype, chosen.dtype, half.tolist(), chosen.tolist()), (np.float32, np.float32, [0.5, -0.5], [1, 0.25]))

    def test_zipped_lists_are_numbered(self):
        @ft.jit(engine="cpu")
        def program(xs: ft.List["N", ft.f32], ys: ft.List["N", ft.f32]):
            return ft.zip(xs, ys).enumerate().map(lambda i, x, y: x + y + i.to(ft.f32))

        self.assertEqual(program(np.ones(3, "f"), np.ones(3, "f")).tolist(), [2, 3, 4])


class Lists(unittest.TestCase):
    def test_lists(self):
        for name, (f, reference) in LISTS.items():
            for engine in ("cpu", "interpret"):
                with self.subTest(name, engine=engine):
                    def program(xs: ft.List["N", ft.f32[4, 6]]):
                        return f(xs)

                    found = ft.jit(program, bounds=["N >= 5"], engine=engine)(data())
                    assert_close(self, found, reference(data()), scale=4)

    def test_lengths_are_symbols(self):
        @ft.jit(bounds=["L >= 3"])
        def smooth(xs: ft.List["L", ft.f32[4, 6]]):
            return xs.window(3).map(lambda w: w.reduce(ft.add) / 3)

        for n in (3, 4, 7, 127):
            with self.subTest(n):
                x = data(shape=(n, 4, 6))
                assert_close(self, smooth(x), (x[:-2] + x[1:-1] + x[2:]) / 3)
        self.assertEqual(len(smooth._programs), 1)

    def test_lengths_as_sizes(self):
        @ft.jit(bounds=["K >= 1", "L >= K", "D >= 1"])
        def program(xs: ft.List["L", ft.f32[2]], ws: ft.List["K", ft.f32[2]], ds: ft.List["D", ft.f32[2]]):
            sums = xs.window(ws.length).map(lambda w: ft.zip(w, ws).foldl(lambda s, a, b: s + a * b, ft.zeros(2)))
            far = xs.window(3, dilation=ds.length, boundary="zero").map(lambda w: w.reduce(ft.add))
            return sums, far, xs.scanl(ft.add, ft.zeros(2), lag=ds.length), xs.shift(ds.length - ws.length, fill=7)

        for length, size, lag in ((9, 4, 2), (7, 7, 1), (13, 1, 5), (5, 3, 9)):
            with self.subTest(length=length, size=size, lag=lag):
                x, w, d = (data(shape=(n, 2)) for n in (length, size, lag))
                sums, far, lagged, shifted = program(x, w, d)
                assert_close(self, sums, np.stack([(x[i : i + size] * w).sum(0) for i in range(length - size + 1)]), scale=4)
                padded = np.concatenate([0 * d, x, 0 * d])
                assert_close(self, far, padded[:length] + x + padded[2 * lag :], scale=4)
                expected = x.copy()
                for i in range(lag, length):
                    expected[i] += expected[i - lag]
                assert_close(self, lagged, expected, scale=4)
                by = lag - size
                assert_close(self, shifted, np.stack([x[i - by] if 0 <= i - by < length else np.full(2, 7) for i in range(length)]))
        self.assertEqual(len(program._programs), 1)

    def test_empty(self):
        @ft.jit
        def total(xs: ft.List["L", ft.f32[2]]):
            return xs.foldl(ft.add, ft.ones(2)), xs.map(lambda x: 2 * x)

        sums, doubled = total(np.zeros((0, 2), "f4"))
        assert_close(self, sums, np.ones(2))
        self.assertEqual(doubled.shape, (0, 2))

    def test_indices_that_are_data(self):
        """Each number comes back as it is: -0, NaN and infinities, too."""
        random = np.random.default_rng(3)
        i, j = np.array([1, 2, 0, 2]), np.array([2, 4, 0, 1], "i4")
        n = np.arange(4)
        for dtype in (ft.f16, ft.f32, ft.f64, ft.i8, ft.i32, ft.i64, ft.bool):
            @ft.jit
            def pick(xs: ft.List["N", dtype[3, 5]], i: ft.List["N", ft.i64], j: ft.List["N", ft.i32]):
                return ft.zip(xs, i, j).map(
                    lambda x, i, j: (x[i], x[:, j], x[i, j], x[i, None, 1:4], x[..., j], x.take(j, -1), x[..., 1:3][i], x[2, j])
                )

            x = (random.standard_normal((4, 3, 5)) * 3).astype({"i1": "bool"}.get(dtype.name, dtype.name.replace("f", "float").replace("i", "int")))
            if dtype.is_float:
                x[0, 1], x[1, 2], x[3, 2, 1] = -0.0, np.nan, -np.inf
            expected = (x[n, i], x[n, :, j], x[n, i, j], x[n, i][:, None, 1:4], x[n, :, j], x[n, :, j], x[n, i][:, 1:3], x[n, 2, j])
            for engine in ("interpret", "cpu"):
                with self.subTest(dtype=str(dtype), engine=engine):
                    for a, b in zip(pick(x, i, j, engine=engine), expected):
                        self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
                        np.testing.assert_array_equal(a, b)
                        if dtype.is_float:
                            np.testing.assert_array_equal(np.signbit(a[~np.isnan(a)]), np.signbit(b[~np.isnan(b)]))
                    with self.assertRaisesRegex(ft.ArgumentValueError, "index 5 is out of range"):
                        pick(x, i, np.array([2, 5, 0, 1], "i4"), engine=engine)

    def test_numbers_as_states(self):
        """A number takes the element type of an element that holds it, else its own."""
        @ft.jit
        def states(xs: ft.List["N", ft.i64], bs: ft.List["N", ft.bool], hs: ft.List["N", ft.any["T"]]):
            return (
                xs.foldl(lambda s, x: s * 0.5 + x.to(ft.f32), 1.0), bs.foldl(lambda s, b: s + b.to(ft.i64), 0),
                xs.foldl(lambda last, any, x: (x, any | (x == last)), (-1, False))[1], hs.foldl(ft.add, 0),
                ft.zip(xs, hs).foldl(lambda a, b, x, h: (a + x, b + h), (0, 0.0)), bs.reduce(ft.logical_or, False),
            )

        half, count, twice, total, (a, b), some = states(np.array([3, 3, 4]), np.array([True, False, True]), np.ones(3, "f2"))
        self.assertEqual((half, count, twice, total, a, b, some), (6.375, 2, True, 3, 10, 3, True))
        self.assertEqual([v.dtype.name for v in (half, count, twice, total, a, b)], ["float32", "int64", "bool", "float16", "int64", "float16"])


if __name__ == "__main__":
    unittest.main()
