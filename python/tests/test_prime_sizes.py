# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the size that nothing tunes for: extents 1, 7, 127 and other primes; each is called with several, and strided."""

import unittest

import numpy as np

import fractaltensor as ft
from cases import integers, normal, random
from close import assert_close

CASES = []


def case(*calls, dtype="f32", scale=8.0, **options):
    """Of a function that returns a program and its reference; `calls` are tuples of arguments, one a call."""

    def add(pair):
        program, reference = pair()
        CASES.append((pair.__name__, ft.jit(program, **options), reference, calls, dtype, scale))
        return pair

    return add


@case((normal(127, 7),), (normal(1, 1),), (normal(13, 31)[::-1],), (normal(14, 31)[::2],))
def moving_average():
    def program(xs: ft.List["L", ft.f32["H"]]):
        return xs.scanl(lambda h, x: 0.75 * h + 0.25 * x, ft.zeros("H"))

    def reference(x):
        h, out = np.zeros_like(x[0]), []
        for row in x:
            h = 0.75 * h + 0.25 * row
            out.append(h)
        return np.stack(out)

    return program, reference


@case((integers(0, 50, 127, dtype="i4"),), (integers(0, 50, 2, dtype="i4"),), (integers(0, 50, 254, dtype="i4")[::-2],), dtype="i32")
def every_third():
    """A state from three steps before; the first three start from 1."""

    def program(xs: ft.List["L", ft.i32]):
        return xs.scanl(lambda s, x: (2 * s + x) % 1009, ft.const(1, dtype=ft.i32), lag=3)

    def reference(x):
        out = []
        for t, value in enumerate(x):
            out.append((2 * (out[t - 3] if t >= 3 else 1) + int(value)) % 1009)
        return np.asarray(out, "i4")

    return program, reference


@case((integers(0, 2, 127, 3).astype(bool),), (integers(0, 2, 1, 1).astype(bool),), (integers(0, 2, 31, 7).astype(bool)[:, :],), dtype="bool")
def parity():
    def program(xs: ft.List["L", ft.bool["C"]]):
        return xs.scan(lambda a, b: a ^ b, ft.zeros("C", dtype=ft.bool))

    def reference(x):
        return np.logical_xor.accumulate(x, 0)

    return program, reference


@case((normal(7, 127, 5, dtype="f8"),), (normal(127, 7, 5, dtype="f8").transpose(1, 0, 2),), (normal(13, 3, 5, dtype="f8")[::-2, ::-1],), dtype="f64")
def column_sums():
    """Sums along the outer list, by columns; the argument comes transposed and reversed, too."""

    def program(xss: ft.List["N, L", ft.f64["C"]]):
        return xss.transpose().map(lambda column: column.reduce(ft.add, ft.zeros("C", dtype=ft.f64)))

    def reference(x):
        return x.sum(0)

    return program, reference


@case((normal(7, 1, 13, dtype="f2"), normal(13, 127, dtype="f2")), (normal(1, 1, 1, dtype="f2"), normal(1, 1, dtype="f2")), dtype="f16")
def half_products():
    def program(xs: ft.List["N", ft.f16[1, "K"]], w: ft.f16["K", "M"]):
        return xs.map(lambda x: ft.relu(x @ w))

    def reference(x, w):
        return np.maximum(x.astype("f4") @ w.astype("f4"), 0).astype("f2")

    return program, reference


@case((normal(127, 3),), (normal(9, 1),), (normal(46, 2)[::2],), bounds=["L >= 9"])
def median_of_spread_triples():
    def program(xs: ft.List["L", ft.f32["C"]]):
        def median(w):
            a, b, c = w[0], w[1], w[2]
            return ft.maximum(ft.minimum(a, b), ft.minimum(ft.maximum(a, b), c))

        return xs.window(3, step=2, dilation=4).map(median)

    def reference(x):
        n = (len(x) - 9) // 2 + 1
        return np.stack([np.median(x[[2 * i, 2 * i + 4, 2 * i + 8]], 0) for i in range(n)]).astype("f4")

    return program, reference


@case((normal(21, 5),), (normal(3, 1),), (normal(93, 7),))
def centred_groups():
    """Groups of three less their mean, as one list again."""

    def program(xs: ft.List["L", ft.f32["C"]]):
        def group(g):
            mean = g.reduce(ft.add, ft.zeros("C")) / 3
            return g.map(lambda x: x - mean)

        return xs.split(3).map(group).flatten()

    def reference(x):
        g = x.reshape(-1, 3, x.shape[1])
        return (g - g.mean(1, keepdims=True)).reshape(x.shape)

    return program, reference


@case((normal(127, 7, dtype="f8"),), (normal(1, 1, dtype="f8"),), dtype="f64", scale=16.0)
def welford():
    """Running mean and variance; the state is a tuple with an integer in it."""

    def program(xs: ft.List["L", ft.f64["C"]]):
        zero = ft.zeros("C", dtype=ft.f64)

        def step(n, mean, m2, x):
            n = n + 1
            delta = x - mean
            mean = mean + delta / n.to(ft.f64)
            m2 = m2 + delta * (x - mean)
            return ft.emit((n, mean, m2), (mean, m2 / n.to(ft.f64)))

        *_, means, variances = xs.scanl(step, (ft.const(0, dtype=ft.i32), zero, zero))
        return means, variances

    def reference(x):
        n = range(1, len(x) + 1)
        return np.stack([x[:k].mean(0) for k in n]), np.stack([x[:k].var(0) for k in n])

    return program, reference


@case((normal(3, 127, 5),), (normal(1, 1, 1),), (normal(127, 3, 5).transpose(1, 0, 2),))
def log_sum_exp():
    """The largest and the sum relative to it, joined in any order."""

    def program(xss: ft.List["N, L", ft.f32["C"]]):
        def row(xs):
            def step(m, s, x):
                n = ft.maximum(m, x)
                return n, s * ft.exp(m - n) + ft.exp(x - n)

            def join(m, s, n, t):
                k = ft.maximum(m, n)
                return k, s * ft.exp(m - k) + t * ft.exp(n - k)

            m, s = xs.reduce(step, (ft.full("C", fill_value=-1e30), ft.zeros("C")), combine=join)
            return m + ft.log(s)

        return xss.map(row)

    def reference(x):
        m = x.max(1)
        return m + np.log(np.exp(x - m[:, None]).sum(1))

    return program, reference


@case((normal(31, 7), integers(0, 31, 127)), (normal(1, 1), integers(0, 1, 1)), (normal(62, 7)[::2], integers(0, 31, 14)[::2]))
def gathered_differences():
    def program(table: ft.List["V", ft.f32["C"]], ids: ft.List["L", ft.i64]):
        rows = table[ids]
        return ft.zip(rows, rows.shift(1, fill=ft.zeros("C"))).map(lambda a, b: a - b)

    def reference(table, ids):
        rows = table[ids]
        return rows - np.concatenate([np.zeros_like(rows[:1]), rows[:-1]])

    return program, reference


@case((normal(2, 127, 3), normal(3, 3, scale=0.3)), (normal(1, 1, 1), normal(1, 1)), (normal(7, 11, 5)[:, ::-1], normal(5, 5, scale=0.3)))
def backwards_with_outputs():
    """From the right; two outputs beside the state, one of them of another shape."""

    def program(xss: ft.List["N, L", ft.f32["C"]], w: ft.f32["C", "C"]):
        def sentence(xs):
            def step(h, x):
                h = ft.tanh(h @ w + x)
                return ft.emit(h, (h * x, ft.sum(h)))

            last, products, sums = xs.scanr(step, ft.zeros("C"))
            return products, sums

        return xss.map(sentence)

    def reference(x, w):
        h = np.zeros_like(x[:, 0])
        products, sums = np.zeros_like(x), np.zeros(x.shape[:2], "f4")
        for t in reversed(range(x.shape[1])):
            h = np.tanh(h @ w + x[:, t])
            products[:, t], sums[:, t] = h * x[:, t], h.sum(-1)
        return products, sums

    return program, reference


@case((normal(5, 7),), (normal(3, 127, dtype="f8"),), (integers(-9, 9, 11, 13, dtype="i4"),), (normal(1, 1, dtype="f2"),), dtype=None)
def any_type():
    """An element type that is a name: each is compiled by itself."""

    def program(xs: ft.List["L", ft.any["T", "C"]]):
        return xs.map(lambda x: ft.maximum(x, 0) * 2 - x)

    def reference(x):
        return np.maximum(x, 0) * 2 - x

    return program, reference


@case((normal(127),), (normal(1),), (normal(254)[::-2],), (np.ones(13, "f4"),), dtype="i64")
def first_of_the_largest():
    def program(xs: ft.List["L", ft.f32]):
        def join(a, i, b, j):
            takes = (b > a) | ((b == a) & (j < i))
            return ft.where(takes, b, a), ft.where(takes, j, i)

        return ft.zip(xs, ft.iota("L")).reduce(join, (ft.const(-1e30, dtype=ft.f32), ft.const(1 << 40)))[1]

    def reference(x):
        return np.asarray(x.argmax())

    return program, reference


@case((np.zeros(13, "i4"), np.zeros(31, "i1")), (np.zeros(1, "i4"), np.zeros(1, "i1")), (np.zeros(127, "i4"), np.zeros(7, "i1")), dtype="i32")
def pascal():
    """Rows of the triangle modulo a prime: a list as a state, shifted by one in each step."""

    def program(rows: ft.List["R", ft.i32], columns: ft.List["C", ft.i8]):
        one = ft.const(1, dtype=ft.i32)
        first = ft.iota("C").map(lambda j: ft.where(j == 0, 1, 0).to(ft.i32))

        def step(row, _):
            return ft.zip(row, row.shift(1, fill=ft.const(0, dtype=ft.i32))).map(lambda a, b: (a + b) % 127)

        return rows.scanl(step, first)

    def reference(rows, columns):
        row, out = np.zeros(len(columns), "i8"), []
        row[0] = 1
        for _ in rows:
            row = (row + np.concatenate([[0], row[:-1]])) % 127
            out.append(row)
        return np.stack(out).astype("i4")

    return program, reference


@case((integers(1, 5000, 127), np.zeros(97, "i1")), (integers(1, 9, 1), np.zeros(7, "i1")), dtype="i64")
def collatz():
    def program(xs: ft.List["N", ft.i64], steps: ft.List["S", ft.i8]):
        def start(x):
            def step(n, count, _):
                done = n == 1
                following = ft.where(n % 2 == 0, n // 2, 3 * n + 1)
                return ft.where(done, n, following), count + ft.where(done, 0, 1)

            return steps.foldl(step, (x, ft.const(0)))[1]

        return xs.map(start)

    def reference(x, steps):
        out = []
        for n in x.tolist():
            count = 0
            while n != 1 and count < len(steps):
                n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
            out.append(count)
        return np.asarray(out)

    return program, reference


@case((normal(127, 7), normal(127, 7), normal(127, 5)), (normal(9, 1), normal(9, 1), normal(9, 1)), bounds=["L >= 9"])
def dilated_local_attention():
    def program(qs: ft.List["L", ft.f32["D"]], ks: ft.List["L", ft.f32["D"]], vs: ft.List["L", ft.f32["E"]]):
        def one(q, kw, vw):
            scores = kw.map(lambda k: ft.sum(q * k))
            top = scores.reduce(ft.maximum, ft.const(-1e30, dtype=ft.f32))
            weights = scores.map(lambda s: ft.exp(s - top))
            total = weights.reduce(ft.add, 0.0)
            return ft.zip(weights, vw).foldl(lambda a, p, v: a + p * v, ft.zeros("E")) / total

        return ft.zip(qs[4:-4], ks.window(5, dilation=2), vs.window(5, dilation=2)).map(one)

    def reference(q, k, v):
        out = []
        for t in range(4, len(q) - 4):
            s = k[t - 4 : t + 5 : 2] @ q[t]
            p = np.exp(s - s.max())
            out.append(p @ v[t - 4 : t + 5 : 2] / p.sum())
        return np.stack(out)

    return program, reference


@case((normal(14, 21),), (normal(2, 3),), (normal(26, 93)[::-1, ::-1],), (normal(93, 26).T,))
def pooling():
    """The largest of each 2 x 3 patch."""

    def program(image: ft.List["H, W", ft.f32]):
        low = ft.const(-1e30, dtype=ft.f32)
        rows = image.split(2).map(lambda pair: pair.transpose().map(lambda c: c.reduce(ft.maximum, low)))
        return rows.map(lambda row: row.split(3).map(lambda g: g.reduce(ft.maximum, low)))

    def reference(x):
        return x.reshape(x.shape[0] // 2, 2, x.shape[1] // 3, 3).max((1, 3))

    return program, reference


@case((normal(11, dtype="f8"), random.uniform(-1, 1, 127)), (normal(1, dtype="f8"), random.uniform(-1, 1, 1)), dtype="f64", scale=64.0)
def clenshaw():
    """Chebyshev series at many points, from the last coefficient to the first."""

    def program(cs: ft.List["K", ft.f64], xs: ft.List["N", ft.f64]):
        zero = ft.const(0.0, dtype=ft.f64)

        def point(x):
            b1, b2 = cs.foldr(lambda b1, b2, c: (c + 2 * x * b1 - b2, b1), (zero, zero))
            return b1 - x * b2

        return xs.map(point)

    def reference(c, x):
        return np.polynomial.chebyshev.chebval(x, c)

    return program, reference


@case((normal(127, 3, 3, dtype="f8", scale=0.6),), (normal(1, 1, 1, dtype="f8"),), (normal(62, 5, 5, dtype="f8", scale=0.4)[::-2],), dtype="f64", scale=256.0)
def chain_of_products():
    """A product of matrices, which is no sum: in order, though in any grouping."""

    def program(ms: ft.List["L", ft.f64["H", "H"]]):
        unit = ft.eye("H", dtype=ft.f64)
        return ms.reduce(lambda a, b: a @ b, unit), ms.scan(lambda a, b: a @ b, unit)

    def reference(m):
        p, out = np.eye(m.shape[1]), []
        for one in m:
            p = p @ one
            out.append(p)
        return p, np.stack(out)

    return program, reference


@case((normal(2, 127, 3),), (normal(1, 1, 1),), (normal(7, 13, 2)[::-1],))
def there_and_back():
    """A list, then itself reversed, and what each differs from the one before."""

    def program(xss: ft.List["N, L", ft.f32["C"]]):
        def sentence(xs):
            both = xs.concat(xs[::-1])
            return ft.zip(both, both.shift(1, fill=ft.ones("C"))).map(lambda a, b: a - b)

        return xss.map(sentence)

    def reference(x):
        both = np.concatenate([x, x[:, ::-1]], 1)
        return both - np.concatenate([np.ones_like(both[:, :1]), both[:, :-1]], 1)

    return program, reference


@case((normal(7, 127),), (normal(1, 1),), (normal(13, 5).T,))
def two_pass_softmax():
    def program(xss: ft.List["N, L", ft.f32]):
        def row(xs):
            top = xs.reduce(ft.maximum, ft.const(-1e30, dtype=ft.f32))
            es = xs.map(lambda x: ft.exp(x - top))
            total = es.reduce(ft.add, 0.0)
            return es.map(lambda e: e / total)

        return xss.map(row)

    def reference(x):
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return program, reference


@case((integers(-3000, 3000, 127, 7, dtype="i2"),), (integers(-3000, 3000, 1, 1, dtype="i2"),), dtype="i16")
def saturating_sums():
    def program(xs: ft.List["L", ft.i16["C"]]):
        return xs.scanl(lambda s, x: ft.clamp(s + x, -20000, 20000), ft.zeros("C", dtype=ft.i16))

    def reference(x):
        s, out = np.zeros(x.shape[1], "i8"), []
        for row in x:
            s = np.clip(s + row, -20000, 20000)
            out.append(s)
        return np.stack(out).astype("i2")

    return program, reference


@case((random.uniform(0, 1, (7, 127)),), (random.uniform(0, 1, (1, 1)),), (random.uniform(0, 1, (31, 13)).T,), dtype="f64", scale=32.0, bounds=["W >= 1"])
def cheapest_path():
    """From the upper left corner by steps to the right and down: the last row of costs."""

    def program(grid: ft.List["H, W", ft.f64]):
        big = ft.const(1e30, dtype=ft.f64)
        start = ft.concat(ft.repeat(ft.const(0.0, dtype=ft.f64), 1), ft.repeat(big, "W - 1"))

        def row(above, costs):
            return ft.zip(above, costs).scanl(lambda left, up, cost: ft.minimum(left, up) + cost, big)

        return grid.foldl(row, start)

    def reference(grid):
        best = np.full(grid.shape, 1e30)
        for i in range(grid.shape[0]):
            for j in range(grid.shape[1]):
                up = best[i - 1, j] if i else (0.0 if j == 0 else 1e30)
                best[i, j] = min(up, best[i, j - 1] if j else 1e30) + grid[i, j]
        return best[-1]

    return program, reference


@case((normal(127, 3), normal(127, 3)), (normal(1, 1), normal(1, 1)), (normal(26, 5)[::2], normal(13, 5)[::-1]))
def taking_turns():
    """Even elements from one list, odd ones from another; and of which each came."""

    def program(xs: ft.List["L", ft.f32["C"]], ys: ft.List["L", ft.f32["C"]]):
        return ft.zip(ft.iota("L"), xs, ys).map(lambda i, x, y: (ft.where(i % 2 == 0, x, y), i % 2 == 1))

    def reference(x, y):
        odd = np.arange(len(x)) % 2 == 1
        return np.where(odd[:, None], y, x), odd

    return program, reference


@case((normal(7, 31, 5), normal(5, 5, scale=0.3)), (normal(1, 1, 1), normal(1, 1)), (normal(3, 127, 2)[:, ::-1], normal(2, 2, scale=0.3)), dtype="bf16")
def in_bf16():
    """Inputs of f32, a recurrence in bf16, results of f32."""

    def program(xss: ft.List["N, L", ft.f32["H"]], w: ft.f32["H", "H"]):
        v = w.to(ft.bf16)
        return xss.map(lambda xs: xs.scanl(lambda h, x: ft.tanh(x.to(ft.bf16) + h @ v), ft.zeros("H", dtype=ft.bf16)).map(lambda h: h.to(ft.f32)))

    def reference(x, w):
        h, out = np.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            h = np.tanh(x[:, t] + h @ w)
            out.append(h)
        return np.stack(out, 1)

    return program, reference


@case((normal(7, 29, 3, dtype="f8"), normal(3, 3, dtype="f8", scale=0.3)), (normal(1, 1, 1, dtype="f8"), normal(1, 1, dtype="f8")), dtype="f64", scale=32.0)
def skip_recurrence():
    """Two layers that skip: the second reads the state of two steps before, by a lag."""

    def program(xss: ft.List["N, L", ft.f64["C"]], w: ft.f64["C", "C"]):
        zero = ft.zeros("C", dtype=ft.f64)

        def sentence(xs):
            once = xs.scanl(lambda h, x: ft.tanh(x + h @ w), zero)
            return ft.zip(once, xs).scanl(lambda h, y, x: 0.5 * h + y * x, zero, lag=2)

        return xss.map(sentence)

    def reference(x, w):
        h, out = np.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            h = np.tanh(x[:, t] + h @ w)
            out.append(0.5 * (out[t - 2] if t >= 2 else 0) + h * x[:, t])
        return np.stack(out, 1)

    return program, reference


@case((normal(3, 7, 2, 5), normal(5, 3)), (normal(1, 1, 1, 1), normal(1, 1)), (normal(2, 13, 7, 11).transpose(1, 0, 2, 3)[::-1], normal(11, 2)))
def flattened_levels():
    """Three levels: the outer two as one, a product in each element, the middle level again."""

    def program(xsss: ft.List["A, B, C", ft.f32["K"]], w: ft.f32["K", "M"]):
        ys = xsss.flatten().map(lambda xs: xs.map(lambda x: x @ w).reduce(ft.add, ft.zeros("M")))
        return ys

    def reference(x, w):
        return (x @ w).sum(2).reshape(-1, w.shape[1])

    return program, reference


@case((normal(127), 5), (normal(7), 1), (normal(62)[::2], 3), bounds=["L >= 6"])
def autoregression():
    """A static number of coefficients, unrolled by Python."""

    def program(xs: ft.List["L", ft.f32], order: int):
        n = 5
        total = None
        for k in range(order):
            term = xs[n - k : (-k if k else None)].map(lambda x: x * (0.5 ** (k + 1)))
            total = term if total is None else ft.zip(total, term).map(ft.add)
        return total

    def reference(x, order):
        return sum(x[5 - k : len(x) - k] * np.float32(0.5 ** (k + 1)) for k in range(order))

    return program, reference


@case((normal(11, 3, 127),), (normal(1, 1, 1),), (normal(22, 5, 7)[::-2],), scale=16.0)
def normalised_rows():
    """Layer norm over an odd last axis, softmax over the other, and a choice by their sign."""

    def program(xs: ft.List["L", ft.f32["R", "C"]]):
        def one(x):
            y = ft.layer_norm(x)
            return ft.where(y > 0, ft.softmax(x, 0), y)

        return xs.map(one)

    def reference(x):
        y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        e = np.exp(x - x.max(1, keepdims=True))
        return np.where(y > 0, e / e.sum(1, keepdims=True), y)

    return program, reference


@case((integers(0, 7, 127, dtype="i8"), normal(127, 3)), (integers(0, 7, 1, dtype="i8"), normal(1, 1)))
def sums_by_class():
    """One sum for each of seven classes, by comparing with the number of the class."""

    def program(labels: ft.List["L", ft.i64], xs: ft.List["L", ft.f32["C"]]):
        def one(k):
            return ft.zip(labels, xs).foldl(lambda s, l, x: s + ft.where(l == k, x, 0.0), ft.zeros("C"))

        return ft.iota(7).map(one)

    def reference(labels, x):
        return np.stack([x[labels == k].sum(0) for k in range(7)]).astype("f4")

    return program, reference


@case((normal(7, 5, 5, scale=0.3), normal(7, 5)), (normal(1, 1, 1), normal(1, 1)), (normal(127, 3, 3, scale=0.3).transpose(0, 1, 2)[::-1], normal(127, 3)))
def jacobi():
    """Nine sweeps with a matrix for each system, then what is left of it: a fold whose list is a number of steps."""

    def program(ms: ft.List["N", ft.f32["H", "H"]], bs: ft.List["N", ft.f32["H"]]):
        def solve(m, b):
            x = ft.repeat(b, 9).foldl(lambda x, b: b - x @ m, ft.zeros("H"))
            return x, x + x @ m - b

        return ft.zip(ms, bs).map(solve)

    def reference(m, b):
        x = np.zeros_like(b)
        for _ in range(9):
            x = b - np.einsum("nh,nhk->nk", x, m)
        return x, x + np.einsum("nh,nhk->nk", x, m) - b

    return program, reference


class PrimeSizes(unittest.TestCase):
    def test_programs(self):
        for name, program, reference, calls, dtype, scale in CASES:
            for number, arrays in enumerate(calls):
                expected = reference(*arrays)
                expected = expected if isinstance(expected, tuple) else (expected,)
                for engine in ("interpret", "cpu"):
                    with self.subTest(name, call=number, engine=engine):
                        found = program(*arrays, engine=engine)
                        found = found if isinstance(found, tuple) else (found,)
                        self.assertEqual(len(found), len(expected))
                        for a, b in zip(found, expected):
                            assert_close(self, a, b, dtype or tolerance_of(b), scale)

    def test_outputs_given(self):
        """Into arrays of the caller, which hold something else before."""
        for name, program, reference, calls, dtype, scale in CASES:
            expected = reference(*calls[0])
            expected = expected if isinstance(expected, tuple) else (expected,)
            with self.subTest(name):
                found = program(*calls[0], engine="cpu")
                several = isinstance(found, tuple)
                out = tuple(np.full_like(a, 1) for a in (found if several else (found,)))
                back = program(*calls[0], engine="cpu", out=out if several else out[0])
                for a, b in zip(back if several else (back,), out):
                    self.assertIs(a, b)
                for a, b in zip(out, expected):
                    assert_close(self, a, b, dtype or tolerance_of(b), scale)


def tolerance_of(array):
    return {"f2": "f16", "f4": "f32", "f8": "f64"}.get(array.dtype.str[1:], "i32")


if __name__ == "__main__":
    unittest.main()
