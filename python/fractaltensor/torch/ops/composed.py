# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that are made of others: differences, distances, scatters into the kept tensor, lists of places."""

from __future__ import annotations

from typing import Sequence

from ..ir import views as base
from ..ir import dtypes
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Num, Tensor, is_number
from . import pointwise
from .creation import counted, dense as _dense
from .moving import cat, flip, stack
from .products import matmul
from .reductions import norm, std, sum_, total, var, mean, keep
from .table import as_float, assign, dim_of, dims_of, dtype_of, need_tensor, operator, promote, sizes_of
from .views import known, narrow, transpose

GROUP = "Made of others"


def dense(b: Builder, items, dtype, sizes) -> Tensor:
    """A tensor of known numbers."""
    return b.new(_dense(b, items, dtype, sizes), sizes)


# -- differences and sums of neighbours ------------------------------------------------------------------------------


def _neighbours(b: Builder, x: Tensor, d: int):
    """All elements but the first of a dimension, and all but the last."""
    rest = b.maximum(b.sub(x.sizes[d], 1), 0)
    return narrow(b, x, d, b.minimum(1, x.sizes[d]), rest), narrow(b, x, d, 0, rest)


@operator("diff", GROUP)
def diff(b: Builder, input, n=1, dim=-1, prepend=None, append=None):
    d = dim_of(dim, input.rank)
    if prepend is not None or append is not None:
        input = cat(b, [x for x in (prepend, input, append) if x is not None], d)
    if not isinstance(n, int) or n < 0:
        raise Problem("diff: n must be known when the program is compiled, and not be negative")
    for _ in range(n):
        later, earlier = _neighbours(b, input, d)
        input = pointwise.ne(b, later, earlier) if input.dtype.is_bool else pointwise.sub(b, later, earlier)
    return b.copy(input) if n == 0 else input


def _trapezoids(b: Builder, y: Tensor, x, dx, d: int) -> Tensor:
    """Areas between neighbours."""
    later, earlier = _neighbours(b, y, d)
    if x is None:
        return pointwise.mul(b, pointwise.add(b, later, earlier), dx / 2.0 if is_number(dx) else pointwise.div(b, dx, 2))
    if x.rank == 1 and y.rank > 1:
        x = base.reshape(b, x, [-1 if i == d else 1 for i in range(y.rank)])
    return pointwise.div(b, pointwise.mul(b, pointwise.add(b, later, earlier), diff(b, x, 1, d)), 2)


@operator("trapezoid", GROUP, where="f", also=("trapz",))
def trapezoid(b: Builder, y, x=None, *, dx=1, dim=-1):
    d = dim_of(dim, y.rank)
    return sum_(b, _trapezoids(b, y, x, dx, d), d)


@operator("cumulative_trapezoid", GROUP, where="f")
def cumulative_trapezoid(b: Builder, y, x=None, *, dx=1, dim=-1):
    from .reductions import cumsum

    d = dim_of(dim, y.rank)
    return cumsum(b, _trapezoids(b, y, x, dx, d), d)


@operator("logcumsumexp", GROUP)
def logcumsumexp(b: Builder, input, dim):
    """Step by step: the logarithm of a sum has no part that can be taken away again."""
    from ..ir.bodies import arithmetic_type
    from ..ir.views import loop, select

    if input.rank == 0:
        return b.copy(input)
    d = dim_of(dim, input.rank)
    result = b.constant_tensor(0, input.dtype, input.sizes)
    compute = arithmetic_type(input.dtype)
    state = b.constant_tensor(float("-inf"), compute, [n for i, n in enumerate(input.sizes) if i != d])

    def body_of(i: Num) -> None:
        assign(b, state, pointwise.logaddexp(b, state, pointwise.to_dtype(b, select(b, input, d, i), compute)), "logcumsumexp")
        assign(b, select(b, result, d, i), state, "logcumsumexp", check=False)

    loop(b, 0, input.sizes[d], body_of)
    return result


# -- distances and products ------------------------------------------------------------------------------------------


@operator("cdist", GROUP, where="f")
def cdist(b: Builder, x1, x2, p=2.0, compute_mode=None):
    if x1.rank < 2 or x2.rank < 2:
        raise Problem("cdist: expects at least 2 dimensions", "shape")
    apart = pointwise.sub(b, base.unsqueeze(b, x1, x1.rank - 1), base.unsqueeze(b, x2, x2.rank - 2))
    return norm(b, apart, p, -1)


@operator("dist", GROUP)
def dist(b: Builder, input, other, p=2):
    return norm(b, pointwise.sub(b, input, other), p)


@operator("pairwise_distance", GROUP, where="f")
def pairwise_distance(b: Builder, x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return norm(b, pointwise.add(b, pointwise.sub(b, x1, x2), eps), p, -1, keepdim)


@operator("pdist", GROUP, where="f")
def pdist(b: Builder, input, p=2.0):
    from .moving import taken

    rows, columns = _pairs(known(input.sizes[0], "pdist"), 1)
    first, second = (taken(b, input, [0], [dense(b, items, dtypes.int64, [len(items)])]) for items in (rows, columns))
    return norm(b, pointwise.sub(b, first, second), p, -1)


@operator("cross", GROUP, note="without dim, along the first dimension of size 3")
def cross(b: Builder, input, other, dim=None):
    if dim is None:
        dim = next((d for d, n in enumerate(input.sizes) if isinstance(n, int) and n == 3), None)
        if dim is None:
            raise Problem(f"cross: expects a dimension of size 3, found {input.describe()}", "shape")
    d = dim_of(dim, input.rank)
    for x in (input, other):
        if isinstance(x.sizes[d], int) and x.sizes[d] != 3:
            raise Problem(f"cross: dimension {d} must have size 3, found {x.describe()}", "shape")
    x, y = ([base.select(b, t, d, i) for i in range(3)] for t in (input, other))
    parts = [pointwise.sub(b, pointwise.mul(b, x[i], y[j]), pointwise.mul(b, x[j], y[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    return stack(b, parts, d)


@operator("inner", GROUP)
def inner(b: Builder, input, other):
    from .products import contract

    if input.rank == 0 or other.rank == 0:
        return pointwise.mul(b, input, other)
    left, right = ("".join(chr(ord(c) + i) for i in range(x.rank - 1)) for c, x in (("A", input), ("a", other)))
    return contract(b, [input, other], [left + "k", right.replace("k", "K") + "k"], left + right.replace("k", "K"))


@operator("kron", GROUP)
def kron(b: Builder, input, other):
    x, y = input, other
    while x.rank < y.rank:
        x = base.unsqueeze(b, x, 0)
    while y.rank < x.rank:
        y = base.unsqueeze(b, y, 0)
    sizes = [b.mul(m, n) for m, n in zip(x.sizes, y.sizes)]
    for d in range(x.rank):
        x, y = base.unsqueeze(b, x, 2 * d + 1), base.unsqueeze(b, y, 2 * d)
    return base.reshape(b, pointwise.mul(b, x, y), sizes)


@operator("addr", GROUP, inplace=True)
def addr(b: Builder, input, vec1, vec2, *, beta=1, alpha=1):
    from .products import outer

    product = outer(b, vec1, vec2)
    return pointwise.add(b, pointwise.mul(b, input, beta) if beta != 1 else input, pointwise.mul(b, product, alpha) if alpha != 1 else product)


@operator("addbmm", GROUP, inplace=True)
def addbmm(b: Builder, input, batch1, batch2, *, beta=1, alpha=1):
    from .products import contract

    product = contract(b, [batch1, batch2], ["bmk", "bkn"], "mn")
    return pointwise.add(b, pointwise.mul(b, input, beta) if beta != 1 else input, pointwise.mul(b, product, alpha) if alpha != 1 else product)


@operator("chain_matmul", GROUP, where="f", also=("aten.chain_matmul.default",))
def chain_matmul(b: Builder, *matrices):
    return multi_dot(b, matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (tuple, list)) else matrices)


@operator("torch.linalg.multi_dot", GROUP)
def multi_dot(b: Builder, tensors):
    result = tensors[0]
    for x in tensors[1:]:
        result = matmul(b, result, x)
    return result


@operator("matrix_power", GROUP, note="of powers that are not negative")
def matrix_power(b: Builder, input, n):
    from .creation import eye

    if not isinstance(n, int) or n < 0:
        raise Problem("matrix_power: the power must be known when the program is compiled, and not be negative")
    if n == 0:
        return b.copy(base.expand(b, eye(b, input.sizes[-1], dtype=input.dtype), input.sizes))
    result, square = None, input
    while n:
        if n & 1:
            result = square if result is None else matmul(b, result, square)
        n >>= 1
        if n:
            square = matmul(b, square, square)
    return b.copy(result) if result is input else result


# -- statistics ------------------------------------------------------------------------------------------------------


@operator("nanmean", GROUP)
def nanmean(b: Builder, input, dim=None, keepdim=False, *, dtype=None):
    from .reductions import nansum

    if not input.dtype.is_float:
        raise Problem(f"nanmean: expects floats, found {input.dtype}", "dtype")
    some = pointwise.logical_not(b, b.pointwise(dtypes.bool_, [input], lambda body, a: body.is_nan(a)))
    count = total(b, some, dims_of(dim, input.rank), keepdim, dtypes.int64)
    return pointwise.div(b, nansum(b, input, dim, keepdim, dtype=dtype), count)


def _with_mean(name: str, function):
    @operator(name, GROUP, where="f")
    def implementation(b: Builder, input, dim=None, unbiased=None, keepdim=False, *, correction=None):
        own = None if isinstance(dim, bool) else dim
        return function(b, input, dim, unbiased, keepdim, correction=correction), mean(b, input, own, keepdim)


_with_mean("var_mean", var)
_with_mean("std_mean", std)


@operator("cov", GROUP, note="without weights")
def cov(b: Builder, input, *, correction=1, fweights=None, aweights=None):
    if fweights is not None or aweights is not None:
        raise Problem("cov: weights are not supported")
    x = base.reshape(b, input, [1, -1]) if input.rank < 2 else input
    if x.rank != 2:
        raise Problem(f"cov: expects at most 2 dimensions, found {input.describe()}", "shape")
    x = x if x.dtype.is_float else pointwise.to_dtype(b, x, dtypes.float32)
    apart = pointwise.sub(b, x, mean(b, x, 1, True))
    found = pointwise.div(b, matmul(b, apart, base.permute(b, apart, [1, 0])), b.maximum(b.sub(x.sizes[1], correction), 0))
    return base.reshape(b, found, []) if input.rank < 2 else found


@operator("corrcoef", GROUP)
def corrcoef(b: Builder, input):
    found = cov(b, input)
    if found.rank == 0:
        return pointwise.div(b, found, found)
    from .views import diagonal

    spread = b.pointwise(found.dtype, [diagonal(b, found)], lambda body, a: body.op("math.sqrt", a))
    found = pointwise.div(b, pointwise.div(b, found, base.unsqueeze(b, spread, 1)), base.unsqueeze(b, spread, 0))
    return pointwise.clamp(b, found, -1, 1)


def _at_part(b: Builder, ordered: Tensor, q: float, d: int, last, interpolation: str) -> Tensor:
    """Between the two elements of an ordered dimension where the part `q` of it ends; `last` is the place of its last one."""
    from math import ceil, floor

    at = q * last
    if interpolation in ("lower", "higher", "nearest"):
        place = {"lower": floor, "higher": ceil, "nearest": round}[interpolation](at)
        return b.copy(base.select(b, ordered, d, place))
    low, high = base.select(b, ordered, d, floor(at)), base.select(b, ordered, d, ceil(at))
    weight = 0.5 if interpolation == "midpoint" else at - floor(at)
    return pointwise.lerp(b, low, high, weight)


def _at_parts(b: Builder, ordered: Tensor, q: Tensor, last: int, interpolation: str) -> Tensor:
    """The same along the last dimension, for parts that are data; these come first in the result. Parts outside of [0, 1] give NaN."""
    if q.rank > 1:
        raise Problem(f"quantile: q has at most 1 dimension, found {q.describe()}", "shape")
    rounding = {"lower": "math.floor", "higher": "math.ceil", "nearest": "math.roundeven"}.get(interpolation)

    def place(emit):
        def inner(body, part):
            at = body.op("arith.mulf", part, body.constant(last, part.dtype))
            at = body.op("arith.minimumf", body.op("arith.maximumf", at, body.constant(0, at.dtype)), body.constant(last, at.dtype))
            return emit(body, at)

        return inner

    from .moving import taken

    whole = lambda name: b.pointwise(dtypes.int64, [q], place(lambda body, at: body.op(name, at)), q.dtype)  # noqa: E731
    elements = lambda index: taken(b, ordered, [ordered.rank - 1], [index])  # noqa: E731
    if rounding:
        made = elements(whole(rounding))
    else:
        half = interpolation == "midpoint"
        weight = b.pointwise(q.dtype, [q], place(lambda body, at: body.constant(0.5, at.dtype) if half else body.op("arith.subf", at, body.op("math.floor", at))))
        made = pointwise.lerp(b, elements(whole("math.floor")), elements(whole("math.ceil")), weight)
    wrong = b.pointwise(dtypes.bool_, [q], lambda body, p: body.op("arith.ori", body.compare("lt", p, body.constant(0, p.dtype)), body.compare("gt", p, body.constant(1, p.dtype))))
    made = pointwise.where(b, wrong, float("nan"), made)
    return base.permute(b, made, [made.rank - 1, *range(made.rank - 1)]) if q.rank else made


@operator("quantile", GROUP, note="the size of the dimension is known when the program is compiled")
def quantile(b: Builder, input, q, dim=None, keepdim=False, *, interpolation="linear"):
    from .steps import _sorted

    if not isinstance(q, Tensor) and not is_number(q) and not (isinstance(q, (tuple, list)) and all(is_number(x) for x in q)):
        raise Problem("quantile: q must be a tensor, or a number or a list of numbers known when the program is compiled")
    if interpolation not in ("linear", "lower", "higher", "nearest", "midpoint"):
        raise Problem(f"quantile: interpolation is 'linear', 'lower', 'higher', 'nearest' or 'midpoint', found {interpolation!r}")
    if not isinstance(q, Tensor) and any(not 0 <= x <= 1 for x in ([q] if is_number(q) else q)):
        raise Problem("quantile: q must be from 0 to 1")
    rank = input.rank
    x = base.reshape(b, input, [-1]) if dim is None else input
    d = dim_of(0 if dim is None else dim, x.rank)
    size = known(x.sizes[d], "quantile")
    if not size:
        raise Problem("quantile: no elements to choose from", "shape")
    ordered = _sorted(b, x, d, False)[0]
    some = b.reduce(x, [d], dtypes.bool_, False, lambda body, acc, e: body.op("arith.ori", acc, body.is_nan(e)), x.dtype)
    dims = range(rank) if dim is None else [d]

    if isinstance(q, Tensor):
        found = _at_parts(b, base.permute(b, ordered, [*(i for i in range(x.rank) if i != d), d]), q, size - 1, interpolation)
        found = pointwise.where(b, some, float("nan"), found)
        for at in dims if keepdim else ():
            found = base.unsqueeze(b, found, at + q.rank)
        return found

    def one(part):
        found = pointwise.where(b, some, float("nan"), _at_part(b, ordered, part, d, size - 1, interpolation))
        return keep(b, found, dims, keepdim)

    return one(q) if is_number(q) else stack(b, [one(part) for part in q])


@operator("isin", GROUP, where="f")
def isin(b: Builder, elements, test_elements, *, assume_unique=False, invert=False):
    elements, tests = (x if isinstance(x, Tensor) else b.constant_tensor(x, promote(x)) for x in (elements, test_elements))
    flat = base.reshape(b, tests, [-1])
    same = pointwise.eq(b, base.unsqueeze(b, elements, elements.rank), flat)
    found = b.reduce(same, [same.rank - 1], dtypes.bool_, False, lambda body, acc, e: body.op("arith.ori", acc, e))
    return pointwise.logical_not(b, found) if invert else found


@operator("histc", GROUP, note="a library step where min and max are those of the data")
def histc(b: Builder, input, bins=100, min=0, max=0):
    if min == max == 0:
        from .steps import call

        return call(b, "histogram", [input], [(input.dtype, [bins])], bins=bins)[0]
    if min == max:
        raise Problem("histc: min and max must differ")
    own = input.dtype
    inside = b.pointwise(dtypes.bool_, [input], lambda body, x: body.op("arith.andi", body.compare("ge", x, body.constant(min, own)), body.compare("le", x, body.constant(max, own))))

    def place(body, x):
        """Each step rounded to the elements' type, as PyTorch's."""
        def rounded(a):
            return body.cast(body.cast(a, own), x.dtype)

        part = rounded(body.op("arith.mulf", rounded(body.op("arith.subf", x, body.constant(min, x.dtype))), body.constant(float(bins), x.dtype)))
        at = body.cast(rounded(body.op("arith.divf", part, body.constant(float(max - min), x.dtype))), dtypes.int64)
        return body.op("arith.minsi", at, body.constant(bins - 1, dtypes.int64))

    from ..ir.bodies import arithmetic_type

    at = pointwise.where(b, inside, b.pointwise(dtypes.int64, [pointwise.where(b, inside, input, min)], place, arithmetic_type(own)), -1)
    same = pointwise.eq(b, base.reshape(b, at, [1, -1]), base.unsqueeze(b, counted(b, bins, dtypes.int64), 1))
    return pointwise.to_dtype(b, sum_(b, same, 1), own)


# -- parts that are written ------------------------------------------------------------------------------------------


def _with_part(name: str, part):
    @operator(name, GROUP)
    def implementation(b: Builder, input, src, *args, **kwargs):
        made = b.copy(input)
        assign(b, part(b, made, *args, **kwargs), src, name, check=False)
        return made


_with_part("select_scatter", lambda b, x, dim, index: base.select(b, x, dim_of(dim, x.rank), index))
_with_part("slice_scatter", lambda b, x, dim=0, start=None, end=None, step=1: base.slice_(b, x, dim_of(dim, x.rank), start, end, step))


def _diagonal_part(b: Builder, x: Tensor, offset=0, dim1=0, dim2=1) -> Tensor:
    from .views import diagonal

    return diagonal(b, x, offset, dim1, dim2)


_with_part("diagonal_scatter", _diagonal_part)


@operator("masked_scatter", GROUP)
def masked_scatter(b: Builder, input, mask, source):
    from .moving import masked_scatter_

    return masked_scatter_(b, b.copy(base.expand(b, input, b.broadcast([input.sizes, mask.sizes]))), mask, source)


@operator("diag_embed", GROUP)
def diag_embed(b: Builder, input, offset=0, dim1=-2, dim2=-1):
    i, j = dim_of(dim1, input.rank + 1), dim_of(dim2, input.rank + 1)
    if i == j:
        raise Problem("diag_embed: the two dimensions must differ", "shape")
    side = b.add(input.sizes[-1], abs(offset))
    sizes = list(input.sizes[:-1])
    for d in sorted((i, j)):
        sizes.insert(d, side)
    made = b.constant_tensor(0, input.dtype, sizes)
    assign(b, _diagonal_part(b, made, offset, i, j), input, "diag_embed")
    return made


@operator("diagflat", GROUP)
def diagflat(b: Builder, input, offset=0):
    return diag_embed(b, base.reshape(b, input, [-1]), offset)


@operator("block_diag", GROUP, where="f")
def block_diag(b: Builder, *tensors):
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    tensors = [x if x.rank == 2 else base.reshape(b, x, [1, -1]) for x in map(lambda t: need_tensor(t, "block_diag"), tensors)]
    rows = columns = 0
    places = []
    for x in tensors:
        places.append((rows, columns))
        rows, columns = b.add(rows, x.sizes[0]), b.add(columns, x.sizes[1])
    made = b.constant_tensor(0, promote(*tensors), [rows, columns])
    for x, (i, j) in zip(tensors, places):
        assign(b, narrow(b, narrow(b, made, 0, i, x.sizes[0]), 1, j, x.sizes[1]), x, "block_diag", check=False)
    return made


# -- places and grids ------------------------------------------------------------------------------------------------


def _pairs(size: int, offset: int):
    pairs = [(i, j) for i in range(size) for j in range(i + offset, size)]
    return [i for i, _ in pairs], [j for _, j in pairs]


def _triangle(name: str, within):
    @operator(name, GROUP, where="f")
    def implementation(b: Builder, row, col, offset=0, *, dtype=None):
        if not all(isinstance(n, int) for n in (row, col, offset)):
            raise Problem(f"{name}: its arguments must be known when the program is compiled")
        pairs = [(i, j) for i in range(row) for j in range(col) if within(i, j, offset)]
        return dense(b, [i for i, _ in pairs] + [j for _, j in pairs], dtype_of(dtype, dtypes.int64), [2, len(pairs)])


_triangle("tril_indices", lambda i, j, offset: j <= i + offset)
_triangle("triu_indices", lambda i, j, offset: j >= i + offset)


@operator("cartesian_prod", GROUP, where="f")
def cartesian_prod(b: Builder, *tensors):
    from .creation import meshgrid

    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    if len(tensors) == 1:
        return tensors[0]
    return base.reshape(b, stack(b, meshgrid(b, *tensors), -1), [-1, len(tensors)])


@operator("vander", GROUP, where="f")
def vander(b: Builder, x, N=None, increasing=False):
    powers = counted(b, x.sizes[0] if N is None else N, dtypes.int64)
    table = pointwise.to_dtype(b, pointwise.pow_(b, base.unsqueeze(b, x, 1), powers), x.dtype if x.dtype.is_float else dtypes.int64)
    return table if increasing else flip(b, table, 1)


@operator("logspace", GROUP, where="f")
def logspace(b: Builder, start, end, steps, base=10.0, *, dtype=None):
    from .creation import linspace

    own = dtype_of(dtype, dtypes.float32)
    line = linspace(b, start, end, steps, dtype=dtypes.float64)
    return pointwise.to_dtype(b, pointwise.pow_(b, base, line), own)


@operator("rot90", GROUP)
def rot90(b: Builder, input, k=1, dims=(0, 1)):
    first, second = (dim_of(d, input.rank) for d in dims)
    k %= 4
    if k == 0:
        return b.copy(input)
    if k == 2:
        return flip(b, flip(b, input, first), second)
    return b.copy(transpose(b, flip(b, input, second), first, second) if k == 1 else flip(b, transpose(b, input, first, second), second))


def _window(name: str, weights: Sequence[float]):
    """A sum of cosines of multiples of one turn over the window."""

    @operator(name, GROUP, where="f")
    def implementation(b: Builder, window_length, periodic=True, *, dtype=None):
        import math

        if not isinstance(window_length, int):
            raise Problem(f"{name}: the length must be known when the program is compiled")
        turn = 2 * math.pi / max(1, window_length if periodic else window_length - 1)
        values = [sum((-1) ** k * w * math.cos(k * turn * i) for k, w in enumerate(weights)) for i in range(window_length)]
        return dense(b, [1.0] if window_length == 1 else values, dtype_of(dtype, dtypes.float32), [window_length])


_window("hann_window", (0.5, 0.5))
_window("hamming_window", (0.54, 0.46))
_window("blackman_window", (0.42, 0.5, 0.08))


@operator("bartlett_window", GROUP, where="f")
def bartlett_window(b: Builder, window_length, periodic=True, *, dtype=None):
    """A triangle from 0 to 1 and back."""
    if not isinstance(window_length, int):
        raise Problem("bartlett_window: the length must be known when the program is compiled")
    half = max(1, window_length if periodic else window_length - 1) / 2
    values = [1 - abs(i / half - 1) for i in range(window_length)]
    own = [1.0] if window_length == 1 else values
    return dense(b, own, dtype_of(dtype, dtypes.float32), [window_length])


@operator("kaiser_window", GROUP, where="f")
def kaiser_window(b: Builder, window_length, periodic=True, beta=12.0, *, dtype=None):
    """Bessel's I0 of beta times a half circle, by its power series."""
    if not isinstance(window_length, int) or not is_number(beta):
        raise Problem("kaiser_window: length and beta must be known when the program is compiled")

    def bessel(x: float) -> float:
        total = term = 1.0
        k = 1
        while term > total * 1e-17:
            term *= (x / 2 / k) ** 2
            total, k = total + term, k + 1
        return total

    half = max(1, window_length if periodic else window_length - 1) / 2
    values = [bessel(beta * max(0.0, 1 - (i / half - 1) ** 2) ** 0.5) / bessel(beta) for i in range(window_length)]
    own = [1.0] if window_length == 1 else values
    return dense(b, own, dtype_of(dtype, dtypes.float32), [window_length])


# -- sizes -----------------------------------------------------------------------------------------------------------


def _at_least(name: str, rank: int):
    def one(b: Builder, x: Tensor) -> Tensor:
        while x.rank < rank:
            x = base.unsqueeze(b, x, 0 if x.rank < 2 else 2)
        return x

    @operator(name, GROUP, where="f")
    def implementation(b: Builder, *tensors):
        if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
            tensors = tuple(tensors[0])
            return tuple(one(b, x) for x in tensors)
        return one(b, tensors[0]) if len(tensors) == 1 else tuple(one(b, x) for x in tensors)


for _rank in (1, 2, 3):
    _at_least(f"atleast_{_rank}d", _rank)


def _split_along(name: str, rank: int):
    @operator(name, GROUP)
    def implementation(b: Builder, input, indices_or_sections):
        from .views import tensor_split

        parts, d = indices_or_sections, 0 if name == "hsplit" and input.rank == 1 else rank
        if isinstance(parts, int) and known(input.sizes[d], name) % parts:
            raise Problem(f"{name}: size {input.sizes[d]} cannot be divided into {parts} equal parts", "shape")
        return tensor_split(b, input, parts, d)


for _name, _rank in (("hsplit", 1), ("vsplit", 0), ("dsplit", 2)):
    _split_along(_name, _rank)


@operator("sum_to_size", GROUP, where="m")
def sum_to_size(b: Builder, self, *size):
    sizes = sizes_of(size)
    lead = self.rank - len(sizes)
    dims = [*range(lead), *(d + lead for d, n in enumerate(sizes) if isinstance(n, int) and n == 1)]
    found = sum_(b, self, dims) if dims else self
    return base.reshape(b, found, sizes)


@operator("narrow_copy", GROUP)
def narrow_copy(b: Builder, input, dim, start, length):
    return b.copy(narrow(b, input, dim, start, length))



@operator("is_nonzero", GROUP)
def is_nonzero(b: Builder, input):
    from .reductions import count_nonzero

    return b.compare("ne", b.item(count_nonzero(b, input)), 0)
