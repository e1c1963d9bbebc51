# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every function of elements (``ft.functions``) against NumPy: value, element type and shape.

They run on every element type, at the numbers where functions go wrong, on elements of rank 0, 1 and 2 and on empty ones.

``cases(seed)`` are programs of a few functions each; ``check(case, engine)`` gives what is wrong, or nothing. A function
that no table here names fails ``uncovered``.
"""

import itertools
import math
import types

import numpy as np

import fractaltensor as ft
from fractaltensor import functions

FLOATS, INTEGERS = ("f16", "f32", "f64"), ("i8", "i16", "i32", "i64")
NUMPY = {"f16": "float16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "bool": "bool"}
#: Functions in one program.
TOGETHER = 8

erf = np.vectorize(math.erf, otypes=[np.float64])


def numbers(dtype, tame=False):
    """Zeros, subnormals, ±1, halves (ties of rounding), extremes, infinities, NaN; `tame`: nothing whose sums overflow."""
    kind = np.dtype(NUMPY[dtype])
    if dtype == "bool":
        return np.array([False, True])
    if kind.kind == "i":
        info = np.iinfo(kind)
        return np.array([0, 1, -1, 2, -2, 3, -7, 8, info.max, info.min, info.max - 1, info.min + 1], kind)
    info = np.finfo(kind)
    values = [0.0, -0.0, info.smallest_subnormal, -info.smallest_subnormal, info.tiny, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 0.1, -7.3, 100]
    extremes = [info.max, -info.max, 30000, -30000]
    return np.array(values + ([] if tame else extremes) + [np.inf, -np.inf, np.nan], kind)


def _once(f):
    """`f` in f64, rounded once to the element type of what it is given."""
    return lambda *a: np.asarray(f(*[v.astype(np.float64) for v in a])).astype(a[0].dtype)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _logsumexp(x):
    most = x.max(-1, keepdims=True)
    most = np.where(np.isfinite(most), most, 0)
    return (np.log(np.exp(x - most).sum(-1, keepdims=True)) + most)[..., 0]


def _log_softmax(x):
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


#: name: (NumPy's function, kinds of element types: f, i, b).
UNARY = {
    "absolute": (np.abs, "fi"), "arccos": (np.arccos, "f"), "arcsin": (np.arcsin, "f"), "arctan": (np.arctan, "f"), "ceil": (np.ceil, "f"),
    "cos": (np.cos, "f"), "cosh": (np.cosh, "f"), "erf": (_once(erf), "f"), "exp": (np.exp, "f"), "exp2": (np.exp2, "f"),
    "expm1": (np.expm1, "f"), "floor": (np.floor, "f"), "invert": (np.invert, "ib"), "isnan": (np.isnan, "f"), "log": (np.log, "f"),
    "log10": (np.log10, "f"), "log1p": (np.log1p, "f"), "log2": (np.log2, "f"), "negative": (np.negative, "fi"),
    "reciprocal": (lambda x: (1 / x).astype(x.dtype), "f"), "relu": (lambda x: np.maximum(x, x.dtype.type(0)), "fi"), "round": (np.round, "f"),
    "rsqrt": (_once(lambda x: 1 / np.sqrt(x)), "f"), "sigmoid": (_once(_sigmoid), "f"), "sign": (np.sign, "fi"),
    "silu": (_once(lambda x: x * _sigmoid(x)), "f"), "sin": (np.sin, "f"), "sinh": (np.sinh, "f"),
    "softplus": (_once(lambda x: np.logaddexp(x, 0)), "f"), "sqrt": (np.sqrt, "f"), "square": (np.square, "fi"),
    "tanh": (np.tanh, "f"), "trunc": (np.trunc, "f"), "leaky_relu": (_once(lambda x: np.where(x > 0, x, x * 0.01)), "f"),
    "gelu": (_once(lambda x: 0.5 * x * (1 + erf(x * math.sqrt(0.5)))), "f"),
    "ones_like": (np.ones_like, "fib"), "zeros_like": (np.zeros_like, "fib"),
}
BINARY = {
    "add": (np.add, "fi"), "arctan2": (np.arctan2, "f"), "bitwise_and": (np.bitwise_and, "ib"), "bitwise_or": (np.bitwise_or, "ib"),
    "bitwise_xor": (np.bitwise_xor, "ib"), "copysign": (np.copysign, "f"), "divide": (np.divide, "f"), "equal": (np.equal, "fib"),
    "floor_divide": (np.floor_divide, "fi"), "fmax": (np.fmax, "fi"), "fmin": (np.fmin, "fi"), "fmod": (np.fmod, "fi"), "greater": (np.greater, "fib"),
    "greater_equal": (np.greater_equal, "fib"), "left_shift": (np.left_shift, "i"), "less": (np.less, "fib"),
    "less_equal": (np.less_equal, "fib"), "maximum": (np.maximum, "fib"), "minimum": (np.minimum, "fib"), "multiply": (np.multiply, "fib"),
    "not_equal": (np.not_equal, "fib"), "remainder": (np.remainder, "fi"), "right_shift": (np.right_shift, "i"),
    "subtract": (np.subtract, "fi"), "power": (np.power, "f"),
}
#: Of one row; the last axis of NumPy's. `order`: sums, which overflow by their order, so that rows are tame.
ROWS = {
    "all": (lambda x: x.astype(bool).all(-1), "fib", ""), "any": (lambda x: x.astype(bool).any(-1), "fib", ""),
    "argmax": (lambda x: x.argmax(-1), "fi", ""), "argmin": (lambda x: x.argmin(-1), "fi", ""),
    "cumsum": (lambda x: x.cumsum(-1, dtype="f8" if x.dtype.kind == "f" else x.dtype if x.dtype.kind == "i" else "i8").astype(x.dtype if x.dtype.kind != "b" else "i8"), "fib", "order"),
    "log_softmax": (_once(_log_softmax), "f", "order"), "logsumexp": (_once(_logsumexp), "f", "order"),
    "max": (lambda x: x.max(-1), "fi", ""), "mean": (_once(lambda x: x.mean(-1)), "f", "order"), "min": (lambda x: x.min(-1), "fi", ""),
    "norm": (_once(lambda x: np.sqrt((x * x).sum(-1))), "f", "order"),
    "prod": (lambda x: x.prod(-1, dtype="f8" if x.dtype.kind == "f" else x.dtype if x.dtype.kind == "i" else "i8").astype(x.dtype if x.dtype.kind != "b" else "i8"), "fib", "order"),
    "softmax": (_once(_softmax), "f", "order"), "std": (_once(lambda x: x.std(-1)), "f", "order"),
    "sum": (lambda x: x.sum(-1, dtype="f8" if x.dtype.kind == "f" else x.dtype if x.dtype.kind == "i" else "i8").astype(x.dtype if x.dtype.kind != "b" else "i8"), "fib", "order"),
    "var": (_once(lambda x: x.var(-1)), "f", "order"),
    "layer_norm": (_once(lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)), "f", "order"),
    "rms_norm": (_once(lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)), "f", "order"),
    "roll": (lambda x: np.roll(x, 2, -1), "fib", "", lambda x: functions.roll(x, 2)),
    "clip": (lambda x: np.clip(x, x.dtype.type(-1), x.dtype.type(2)), "fi", "", lambda x: functions.clip(x, -1, 2)),
    "tile": (lambda x: np.tile(x, (1, 2)), "fib", "", lambda x: functions.tile(x, 2)),
    "ravel": (lambda x: x, "fib", ""), "tril": (lambda x: np.tril(x[:, None, :] + np.zeros((3, 1), x.dtype)), "fi", "", lambda x: functions.tril(functions.stack([x + 0, x + 0, x + 0]))),
    "where": (lambda x: np.where(x > x.dtype.type(0), x, x.dtype.type(2)), "fi", "", lambda x: functions.where(x > 0, x, 2)),
}
#: Other names of the same functions, and shapes and products, which test_operations.py compares; conversions are below.
OTHERS = {
    "abs", "acos", "amax", "amin", "arange", "array", "asarray", "asin", "atan", "atan2", "bitwise_not", "bmm", "broadcast_to", "cat", "chunk", "clamp",
    "concatenate", "const", "div", "dot", "einsum", "eq", "expand_dims", "eye", "full", "full_like", "ge", "gt", "indices", "le", "linear",
    "logical_and", "logical_not", "logical_or", "lt", "matmul", "mm", "mod", "mul", "ne", "neg", "ones", "outer", "permute", "permute_dims", "pow",
    "reshape", "squeeze", "stack", "sub", "swapaxes", "swish", "take", "tan", "tensor", "to", "trace", "transpose", "triu", "true_divide", "unsqueeze", "zeros",
}


def uncovered():
    """Public functions that no table has."""
    public = {name for name, value in vars(functions).items() if not name.startswith("_") and isinstance(value, types.FunctionType)}
    return public - set(UNARY) - set(BINARY) - set(ROWS) - OTHERS


def _kind(dtype):
    return "b" if dtype == "bool" else dtype[0]


class Case:
    """Some functions of one program, the arrays that it is called with, and what NumPy makes of them."""

    def __init__(self, title, names, calls, references, arrays, dtype, element):
        self.title, self.names, self.calls, self.references = title, names, calls, references
        self.arrays, self.dtype, self.element = arrays, dtype, element

    def __str__(self):
        return f"{self.title} {self.dtype}[{', '.join(map(str, self.element))}] {' '.join(self.names)}"


def _shapes(count):
    """Shapes of a list of `count` numbers: of rank 0, 1 and 2, and of none."""
    columns = 4
    yield (count,), ()
    yield (-1, columns), (columns,)
    yield (-1, 2, columns), (2, columns)
    yield (0,), ()
    yield (3, 0), (0,)


def _laid_out(columns, shape):
    """Arrays of `shape`, filled again from their beginning where numbers do not come out even."""
    if 0 in shape:
        return [c[:0].reshape(shape) for c in columns]
    rest = math.prod(e for e in shape if e > 0) if -1 in shape else len(columns[0])
    total = -(-len(columns[0]) // rest) * rest
    return [np.resize(c, total).reshape(shape) for c in columns]


def _grouped(items):
    items = list(items)
    return [items[i : i + TOGETHER] for i in range(0, len(items), TOGETHER)]


def _pointwise(table, arity):
    for dtype in (*FLOATS, *INTEGERS, "bool"):
        values = numbers(dtype)
        pairs = np.array(list(itertools.product(values, repeat=arity)), values.dtype)
        columns = [pairs[:, k] for k in range(arity)]
        known = {name: entry for name, entry in table.items() if _kind(dtype) in entry[1]}
        for shape, element in _shapes(len(pairs)):
            arrays = _laid_out(columns, shape)
            for group in _grouped(known):
                yield Case("unary" if arity == 1 else "binary", group, [getattr(functions, n) for n in group], [known[n][0] for n in group], arrays, dtype, element)


def _rows(random):
    for dtype in (*FLOATS, *INTEGERS, "bool"):
        for order in ("", "order"):
            known = {n: e for n, e in ROWS.items() if _kind(dtype) in e[1] and e[2] == order}
            values = numbers(dtype, tame=order == "order")
            if order and dtype in FLOATS:  # products underflow by their order, and squares of f16 overflow
                size = np.abs(values.astype(np.float64))
                values = values[(size == 0) | ~(size < 0.01) & ~((size > 50) & np.isfinite(size) & (dtype == "f16"))]
            for extent in (1, 2, 5, 7):
                # Each number somewhere, rows of one number (ties), and any others.
                rows = [np.full(extent, v, values.dtype) for v in values]
                rows += [random.choice(values, extent) for _ in range(24)]
                finite = values[np.isfinite(values.astype(float))]
                rows += [random.choice(finite, extent) for _ in range(12)]
                array = np.stack(rows)
                for group in _grouped(known):
                    calls = [known[n][3] if len(known[n]) > 3 else getattr(functions, n) for n in group]
                    yield Case("rows", group, calls, [known[n][0] for n in group], [array], dtype, (extent,))


def _conversions():
    """Of numbers that the other type has; NumPy leaves the rest open."""
    for source in (*FLOATS, *INTEGERS, "bool"):
        values = numbers(source)
        for target in (*FLOATS, *INTEGERS, "bool"):
            some = values
            if target[0] == "i":
                info = np.iinfo(NUMPY[target])
                if source[0] == "f":
                    wide = values.astype(np.float64)
                    some = values[(wide > float(info.min) - 1) & (wide < float(info.max))]
            reference = (lambda x, t=NUMPY[target]: x.astype(t))
            yield Case("conversion", [target], [lambda x, t=target: x.to(t)], [reference], [some], source, ())


def cases(seed=0):
    """All cases; `seed` draws the rows."""
    random = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        yield from _pointwise(UNARY, 1)
        yield from _pointwise(BINARY, 2)
        yield from _rows(random)
        yield from _conversions()


#: Up to where functions keep their digits (ExpandMath.h).
FAR = {"sin": 1e6, "cos": 1e6}

#: In units of the last place of a result; sums and what is made of them by rms, too.
ULPS = {"float16": 2, "float32": 8, "float64": 32}


def difference(name, found, expected, arrays):
    """What differs, or None."""
    expected = np.asarray(expected)
    if found.dtype != expected.dtype:
        return f"is {found.dtype}, expected {expected.dtype}"
    if found.shape != expected.shape:
        return f"has the shape {found.shape}, expected {expected.shape}"
    if found.dtype.kind != "f":
        wrong = found != expected
    else:
        info = np.finfo(found.dtype)
        a, b = found.astype(np.float64), expected.astype(np.float64)
        scale = np.abs(b)
        if name in ROWS and ROWS[name][2]:
            inputs = np.abs(np.where(np.isfinite(arrays[0]), arrays[0], 0).astype(np.float64)).max(initial=0)
            scale = np.maximum(scale, min(inputs, 100.0) * (1 / math.sqrt(1e-5) if name == "layer_norm" else 1))
        if name == "gelu":  # 1 + erf cancels
            scale = np.maximum(scale, np.abs(arrays[0].astype(np.float64)))
        bound = ULPS[str(found.dtype)] * (float(info.eps) * np.where(np.isfinite(scale), scale, 0) + float(info.smallest_subnormal))
        with np.errstate(invalid="ignore"):
            wrong = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= bound))
        if name in FAR:
            wrong &= ~(np.abs(arrays[0].astype(np.float64)) > FAR[name]) | np.isinf(arrays[0])
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    operands = [x[at[: x.ndim]] if name not in ROWS else x[at[0]] for x in arrays]
    return f"{int(wrong.sum())} of {wrong.size} are wrong, at {list(at)} of {operands}: {found[at]}, expected {expected[at]}"


def check(case, engine):
    """What is wrong with the results of one engine."""
    dtype = getattr(ft, case.dtype)
    element = ft.List["N", dtype[case.element] if case.element else dtype]
    calls = case.calls

    if len(case.arrays) == 1:
        def program(xs: element):
            return xs.map(lambda x: tuple(c(x) for c in calls))
    else:
        def program(xs: element, ys: element):
            return ft.zip(xs, ys).map(lambda x, y: tuple(c(x, y) for c in calls))

    results = ft.jit(program)(*case.arrays, engine=engine)
    results = results if isinstance(results, tuple) else (results,)
    wrong = []
    for name, reference, found in zip(case.names, case.references, results):
        with np.errstate(all="ignore"):
            expected = reference(*case.arrays)
        if message := difference(name, found, expected, case.arrays):
            wrong.append(f"{name} of {case.dtype} on {engine}: {message}")
    return wrong
