# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums, extremes and what is made of them."""

from __future__ import annotations

import math

from ..ir import views as base
from ..ir import dtypes, varying
from ..ir.bodies import Body, Scalar, arithmetic_type
from ..ir.builder import NOTHING, Builder
from ..ir.dtypes import DType
from ..problems import Problem
from ..frontend.values import Num, Tensor
from . import pointwise
from .table import as_float, assign, dim_of, dims_of, dtype_of, named, operator, promote
from .views import same_sizes

GROUP = "Reductions"


def keep(b: Builder, x: Tensor, dims, keepdim: bool) -> Tensor:
    if keepdim:
        for d in dims:
            x = base.unsqueeze(b, x, d)
    return x


def _plus(body: Body, acc: Scalar, x: Scalar) -> Scalar:
    return body.binary("arith.addf", "arith.addi", acc, x)


def total(b: Builder, x: Tensor, dims, keepdim: bool, dtype: DType, function=None) -> Tensor:
    """A sum in `dtype` of `function(body, element)`."""
    compute = arithmetic_type(dtype)
    result = b.reduce(x, dims, compute, 0, lambda body, acc, e: _plus(body, acc, function(body, e) if function else e), compute)
    return keep(b, pointwise.to_dtype(b, result, dtype), dims, keepdim)


def _sum_type(x: Tensor, dtype) -> DType:
    return dtype_of(dtype, x.dtype if x.dtype.is_float else dtypes.int64)


@operator("sum", GROUP)
def sum_(b: Builder, input, dim=None, keepdim=False, *, dtype=None):
    return total(b, input, dims_of(dim, input.rank), keepdim, _sum_type(input, dtype))


@operator("nansum", GROUP)
def nansum(b: Builder, input, dim=None, keepdim=False, *, dtype=None):
    own = _sum_type(input, dtype)
    skip = lambda body, e: body.select(body.is_nan(e), body.constant(0, e.dtype), e) if e.dtype.is_float else e  # noqa: E731
    return total(b, input, dims_of(dim, input.rank), keepdim, own, skip)


def count(b: Builder, x: Tensor, dims):
    return b.product([x.sizes[d] for d in dims])


def _divided(b: Builder, x: Tensor, by) -> Tensor:
    return pointwise.binary(b, x, by, lambda body, p, q: body.op("arith.divf", p, q))


@operator("mean", GROUP)
def mean(b: Builder, input, dim=None, keepdim=False, *, dtype=None):
    own = dtype_of(dtype, input.dtype)
    if not own.is_float:
        raise Problem(f"mean: expects floats, found {own}: x.float()", "dtype")
    dims = dims_of(dim, input.rank)
    whole = total(b, input, dims, keepdim, arithmetic_type(own))
    return pointwise.to_dtype(b, _divided(b, whole, count(b, input, dims)), own)


@operator("prod", GROUP)
def prod(b: Builder, input, dim=None, keepdim=False, *, dtype=None):
    own = _sum_type(input, dtype)
    compute = arithmetic_type(own)
    dims = dims_of(dim, input.rank)
    times = lambda body, acc, e: body.binary("arith.mulf", "arith.muli", acc, e)  # noqa: E731
    return keep(b, pointwise.to_dtype(b, b.reduce(input, dims, compute, 1, times, compute), own), dims, keepdim)


def _check_some(b: Builder, x: Tensor, dims, what: str) -> None:
    """That there is something to choose from: of sizes that are data, when the program runs."""
    text = f"{what}: no elements to choose from in {x.describe()}"
    for d in dims:
        size = x.sizes[d]
        if isinstance(size, int):
            if size == 0:
                raise Problem(text, "shape")
        elif not b.is_least(1, size) and varying.varies(b, size):
            is_none = b.choice(b.compare("lt", size, 1), 0, NOTHING)
            b.remember(("some", size.value), lambda is_none=is_none: b.notice(b.constant_tensor(is_none, dtypes.int64), text) or True)
        elif not b.is_least(1, size):
            b.remember(("some", size.value), lambda size=size: b.step("require_some", [size.value], [], message=text) or True)


def extreme(b: Builder, x: Tensor, dims, keepdim: bool, most: bool, what: str, checked: bool = False) -> Tensor:
    """`checked`: there are elements, or it is the start where there are none."""
    if not checked:
        _check_some(b, x, dims, what)
    ops = ("arith.maximumf", "arith.maxsi", "arith.ori") if most else ("arith.minimumf", "arith.minsi", "arith.andi")
    start = dtypes.lowest(x.dtype) if most else dtypes.highest(x.dtype)

    def emit(body: Body, acc: Scalar, e: Scalar) -> Scalar:
        return body.op(ops[0] if e.dtype.is_float else ops[2] if e.dtype.is_bool else ops[1], acc, e)

    return keep(b, b.reduce(x, dims, x.dtype, start, emit), dims, keepdim)


@operator("amax", GROUP)
def amax(b: Builder, input, dim=None, keepdim=False):
    return extreme(b, input, dims_of(dim, input.rank), keepdim, True, "amax")


@operator("amin", GROUP)
def amin(b: Builder, input, dim=None, keepdim=False):
    return extreme(b, input, dims_of(dim, input.rank), keepdim, False, "amin")


@operator("aminmax", GROUP)
def aminmax(b: Builder, input, *, dim=None, keepdim=False):
    return named((amin(b, input, dim, keepdim), amax(b, input, dim, keepdim)), "min", "max")


def where_extreme(b: Builder, x: Tensor, d: int, most: bool, what: str, checked: bool = False):
    """The extreme along a dimension and its first place; NaN is beyond all. The place is a minimum of its own, over those where
    the extreme is: partial results of both can be joined in any order, so lanes and cores share them."""
    best = extreme(b, x, [d], False, most, what, checked)
    kept = [i for i in range(x.rank) if i != d]
    nowhere = dtypes.highest(dtypes.int64)

    def emit(body: Body, at: Scalar, place: Scalar, e: Scalar, found: Scalar) -> Scalar:
        here = body.compare("eq", e, found)
        if x.dtype.is_float:
            here = body.op("arith.ori", here, body.is_nan(e))
        return body.op("arith.minsi", at, body.select(here, place, body.constant(nowhere, dtypes.int64)))

    if b.checked and base.is_found(x.sizes[d]) and all(isinstance(x.sizes[i], int) for i in kept):
        return best, b.folded([x, best], d, [], dtypes.int64, nowhere, emit)
    body = Body()
    e, found, at = Scalar("%a0", x.dtype), Scalar("%a1", x.dtype), Scalar("%o0", dtypes.int64)
    place = emit(body, at, body.index(d, dtypes.int64), e, found)
    init = b.fill(nowhere, dtypes.int64, best.sizes)
    made = b.generic([b.read(x), b.read(best)], [list(range(x.rank)), kept], [init], [kept], x.rank, [d], body, [place])
    if isinstance(x.sizes[d], int):
        made[0].op.attributes["places"] = x.sizes[d]  # all are below
    places = b.new(made[0], best.sizes)
    if b.is_least(1, x.sizes[d]):
        b.below[places.value] = x.sizes[d]
    return best, places


def _extreme(name: str, most: bool):
    other_of = pointwise.maximum if most else pointwise.minimum

    @operator(name, GROUP)
    def implementation(b: Builder, input, dim=None, keepdim=False, *, other=None):
        if isinstance(dim, Tensor) or other is not None:
            return other_of(b, input, dim if other is None else other)
        if dim is None:
            return extreme(b, input, list(range(input.rank)), False, most, name)
        if input.rank == 0:
            return named((b.copy(input), b.constant_tensor(0, dtypes.int64)), "values", "indices")
        d = dim_of(dim, input.rank)
        value, place = where_extreme(b, input, d, most, name)
        return named((keep(b, value, [d], keepdim), keep(b, place, [d], keepdim)), "values", "indices")

    @operator("arg" + name, GROUP)
    def place(b: Builder, input, dim=None, keepdim=False):
        if dim is None:
            _check_some(b, input, range(input.rank), "arg" + name)
            flat = base.reshape(b, input, [-1])
            found = where_extreme(b, flat, 0, most, "arg" + name, checked=True)[1]
            return keep(b, found, range(input.rank), keepdim)
        if input.rank == 0:
            return b.constant_tensor(0, dtypes.int64)
        d = dim_of(dim, input.rank)
        return keep(b, where_extreme(b, input, d, most, "arg" + name)[1], [d], keepdim)


_extreme("max", True)
_extreme("min", False)


def _truth(name: str, op: str, start: bool):
    @operator(name, GROUP)
    def implementation(b: Builder, input, dim=None, keepdim=False):
        dims = dims_of(dim, input.rank)
        result = b.reduce(input, dims, dtypes.bool_, start, lambda body, acc, e: body.op(op, acc, body.cast(e, dtypes.bool_)), input.dtype)
        return keep(b, result, dims, keepdim)


_truth("any", "arith.ori", False)
_truth("all", "arith.andi", True)


@operator("count_nonzero", GROUP)
def count_nonzero(b: Builder, input, dim=None):
    zero = lambda body, a: body.compare("ne", a, body.constant(0, a.dtype))  # noqa: E731
    truth = b.pointwise(dtypes.bool_, [input], zero)
    return total(b, truth, dims_of(dim, input.rank), False, dtypes.int64)


def _squares(b: Builder, x: Tensor, dims, keepdim: bool, compute: DType):
    """The mean, and the sum of squares of what differs from it."""
    middle = _divided(b, total(b, x, dims, True, compute), count(b, x, dims))
    minus = lambda body, p, q: body.op("arith.subf", p, q)  # noqa: E731
    apart = b.pointwise(compute, [x, middle], minus, compute)
    return middle, total(b, apart, dims, keepdim, compute, lambda body, e: body.op("arith.mulf", e, e))


def variance(b: Builder, x: Tensor, dim, unbiased, correction, keepdim: bool, what: str, compute: DType) -> Tensor:
    """In `compute`, which the caller rounds."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if not x.dtype.is_float:
        raise Problem(f"{what}: expects floats, found {x.dtype}", "dtype")
    less = correction if correction is not None else 0 if unbiased is False else 1
    dims = dims_of(dim, x.rank)
    _, squares = _squares(b, x, dims, keepdim, compute)
    return _divided(b, squares, b.maximum(b.sub(count(b, x, dims), less), 0))


@operator("var", GROUP)
def var(b: Builder, input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    return pointwise.to_dtype(b, variance(b, input, dim, unbiased, correction, keepdim, "var", arithmetic_type(input.dtype)), input.dtype)


@operator("std", GROUP)
def std(b: Builder, input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Squares overflow where the deviation does not: they are in the next larger type."""
    compute = dtypes.float32 if input.dtype.bits == 16 else dtypes.float64
    square = variance(b, input, dim, unbiased, correction, keepdim, "std", compute)
    return b.pointwise(input.dtype, [square], lambda body, a: body.op("math.sqrt", a), compute)


@operator("norm", GROUP, note="p is a number or 'fro'")
def norm(b: Builder, input, p="fro", dim=None, keepdim=False, dtype=None, *, ord=None):
    p = 2 if p in ("fro", None) and ord is None else p if ord is None else ord
    own = dtype_of(dtype, input.dtype)
    if not own.is_float:
        raise Problem(f"norm: expects floats, found {own}", "dtype")
    dims, compute = dims_of(dim, input.rank), arithmetic_type(own)
    absolute = b.pointwise(compute, [input], lambda body, a: body.op("math.absf", a), compute)
    if p in (math.inf, -math.inf):
        return pointwise.to_dtype(b, extreme(b, absolute, dims, keepdim, p > 0, "norm"), own)
    if p != 0 and all(isinstance(input.sizes[d], int) and input.sizes[d] == 1 for d in dims):
        return pointwise.to_dtype(b, total(b, absolute, dims, keepdim, compute), own)  # no square that could overflow
    if p == 0:
        return pointwise.to_dtype(b, count_nonzero(b, input, dim), own)
    raised = pointwise.pow_(b, absolute, p) if p != 1 else absolute
    summed = total(b, raised, dims, keepdim, compute)
    return pointwise.to_dtype(b, pointwise.pow_(b, summed, 1.0 / p) if p != 1 else summed, own)


operator("vector_norm", GROUP, where="")(lambda b, x, ord=2, dim=None, keepdim=False, *, dtype=None: norm(b, x, ord, dim, keepdim, dtype))


@operator("logsumexp", GROUP)
def logsumexp(b: Builder, input, dim, keepdim=False):
    own = as_float(input.dtype)
    dims, compute = dims_of(dim, input.rank), arithmetic_type(own)
    x = pointwise.to_dtype(b, input, compute)
    most = extreme(b, x, dims, True, True, "logsumexp", checked=True)

    most = finite(b, most)
    parts = b.pointwise(compute, [x, most], lambda body, p, q: body.op("math.exp", body.op("arith.subf", p, q)))
    summed = total(b, parts, dims, True, compute)
    result = b.pointwise(own, [summed, most], lambda body, s, m: body.op("arith.addf", body.op("math.log", s), m))
    if not keepdim:
        for d in reversed(dims):
            result = base.squeeze(b, result, d)
    return result


def _softmax_parts(b: Builder, input, dim, dtype, sign: int = 1):
    own = dtype_of(dtype, as_float(input.dtype))
    compute = arithmetic_type(own)
    x = pointwise.to_dtype(b, input, compute)
    if sign < 0:
        x = b.pointwise(compute, [x], lambda body, a: body.op("arith.negf", a))
    d = dim_of(dim, input.rank)
    if x.rank == 0:
        x = base.reshape(b, x, [1])
    most = extreme(b, x, [d], True, True, "softmax", checked=True) if x.sizes[d] != 0 else b.constant_tensor(0, compute, [1])
    return own, compute, x, d, most


def finite(b: Builder, x: Tensor) -> Tensor:
    """The tensor with 0 for what is infinite."""
    def emit(body: Body, a: Scalar) -> Scalar:
        infinite = body.compare("eq", body.op("math.absf", a), body.constant(math.inf, a.dtype))
        return body.select(infinite, body.constant(0, a.dtype), a)

    return b.pointwise(x.dtype, [x], emit)


def safe_softmax(b: Builder, x: Tensor, dim: int) -> Tensor:
    """A softmax, of rows where all is -inf 0: a query that sees nothing."""
    own, compute, x, d, most = _softmax_parts(b, x, dim, None)
    parts = b.pointwise(compute, [x, finite(b, most)], lambda body, p, q: body.op("math.exp", body.op("arith.subf", p, q)))
    summed = total(b, parts, [d], True, compute)

    def emit(body: Body, p: Scalar, q: Scalar) -> Scalar:
        zero = body.constant(0, q.dtype)
        return body.op("arith.divf", p, body.select(body.compare("eq", q, zero), body.constant(1, q.dtype), q))

    return b.pointwise(own, [parts, summed], emit)


def _softmax(b: Builder, input, dim, dtype, sign: int = 1):
    own, compute, x, d, most = _softmax_parts(b, input, dim, dtype, sign)
    parts = b.pointwise(compute, [x, most], lambda body, p, q: body.op("math.exp", body.op("arith.subf", p, q)))
    summed = total(b, parts, [d], True, compute)
    result = b.pointwise(own, [parts, summed], lambda body, p, q: body.op("arith.divf", p, q))
    return result if input.rank else base.squeeze(b, result, 0)


@operator("softmax", GROUP, also=("aten.softmax.int",))
def softmax(b: Builder, input, dim, dtype=None):
    return _softmax(b, input, dim, dtype)


def _implied(input, dim):
    """The dimension that PyTorch takes where none is named."""
    return dim if dim is not None else 0 if input.rank in (0, 1, 3) else 1


@operator("torch.nn.functional.softmax", GROUP)
def _functional_softmax(b: Builder, input, dim=None, _stacklevel=3, dtype=None):
    return _softmax(b, input, _implied(input, dim), dtype)


@operator("softmin", GROUP, where="")
def softmin(b: Builder, input, dim=None, _stacklevel=3, dtype=None):
    return _softmax(b, input, _implied(input, dim), dtype, -1)


@operator("torch.nn.functional.log_softmax", GROUP)
def _functional_log_softmax(b: Builder, input, dim=None, _stacklevel=3, dtype=None):
    return log_softmax(b, input, _implied(input, dim), dtype)


@operator("log_softmax", GROUP, also=("aten.log_softmax.int",))
def log_softmax(b: Builder, input, dim, dtype=None):
    own, compute, x, d, most = _softmax_parts(b, input, dim, dtype)
    apart = b.pointwise(compute, [x, most], lambda body, p, q: body.op("arith.subf", p, q))
    summed = total(b, apart, [d], True, compute, lambda body, e: body.op("math.exp", e))
    result = b.pointwise(own, [apart, summed], lambda body, p, q: body.op("arith.subf", p, body.op("math.log", q)))
    return result if input.rank else base.squeeze(b, result, 0)


# -- running totals --------------------------------------------------------------------------------------------------


def running(b: Builder, input: Tensor, dim, dtype, function) -> Tensor:
    own = dtype_of(dtype, input.dtype if input.dtype.is_float else dtypes.int64)
    if input.rank == 0:
        return pointwise.to_dtype(b, input, own, copy=True)
    d = dim_of(dim, input.rank)
    compute = dtypes.float64 if own.is_float else own
    result = b.constant_tensor(0, own, input.sizes)
    size = input.sizes[d]
    if isinstance(size, int) and size == 0:
        return result
    sizes = [n for i, n in enumerate(input.sizes) if i != d]
    start = b.constant_tensor(function[1], compute, sizes)

    def body_of(i: Num) -> None:
        """The total is kept as PyTorch's is: floats in double."""
        step = b.pointwise(compute, [start, base.select(b, input, d, i)], function[0], compute)
        assign(b, start, step, "cumsum")
        assign(b, base.select(b, result, d, i), start, "cumsum", check=False)

    base.loop(b, 0, size, body_of)
    return result


@operator("cumsum", GROUP, inplace=True)
def cumsum(b: Builder, input, dim, *, dtype=None):
    return running(b, input, dim, dtype, (_plus, 0))


@operator("cumprod", GROUP, inplace=True)
def cumprod(b: Builder, input, dim, *, dtype=None):
    return running(b, input, dim, dtype, (lambda body, p, q: body.binary("arith.mulf", "arith.muli", p, q), 1))


def _running_extreme(name: str, most: bool):
    @operator(name, GROUP)
    def implementation(b: Builder, input, dim):
        d = dim_of(dim, input.rank)
        values, places = b.constant_tensor(0, input.dtype, input.sizes), b.constant_tensor(0, dtypes.int64, input.sizes)
        sizes = [n for i, n in enumerate(input.sizes) if i != d]
        best = b.constant_tensor(dtypes.lowest(input.dtype) if most else dtypes.highest(input.dtype), input.dtype, sizes)
        at = b.constant_tensor(0, dtypes.int64, sizes)

        def body_of(i: Num) -> None:
            """Of equal ones the last stays, and NaN does."""
            here = base.select(b, input, d, i)
            better = b.pointwise(dtypes.bool_, [here, best], _at_least)
            assign(b, at, pointwise.where(b, better, i, at), name)
            assign(b, best, pointwise.where(b, better, here, best), name)
            assign(b, base.select(b, values, d, i), best, name)
            assign(b, base.select(b, places, d, i), at, name)

        def _at_least(body: Body, x: Scalar, y: Scalar) -> Scalar:
            truth = body.compare("ge" if most else "le", x, y)
            return body.op("arith.ori", truth, body.is_nan(x)) if x.dtype.is_float else truth

        base.loop(b, 0, input.sizes[d], body_of)
        return named((values, places), "values", "indices")


_running_extreme("cummax", True)
_running_extreme("cummin", False)


# -- comparisons of whole tensors -------------------------------------------------------------------------------------


@operator("equal", GROUP)
def equal(b: Builder, input, other):
    if input.rank != other.rank or not same_sizes(input, other):
        if all(isinstance(n, int) for n in (*input.sizes, *other.sizes)):
            return False
        raise Problem("equal: sizes that are data cannot be compared here", "shape")
    found = b.pointwise(dtypes.bool_, [input, other], lambda body, p, q: body.compare("eq", p, q), promote(input, other))
    return b.item(b.reduce(found, list(range(found.rank)), dtypes.bool_, True, lambda body, acc, e: body.op("arith.andi", acc, e)))


@operator("allclose", GROUP)
def allclose(b: Builder, input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    found = pointwise.isclose(b, input, other, rtol, atol, equal_nan)
    return b.item(b.reduce(found, list(range(found.rank)), dtypes.bool_, True, lambda body, acc, e: body.op("arith.andi", acc, e)))


# -- normalisation ------------------------------------------------------------------------------------------------


def normalized(b: Builder, x: Tensor, dims, eps: float):
    compute = arithmetic_type(x.dtype)
    middle, squares = _squares(b, x, dims, True, compute)
    spread = _divided(b, squares, count(b, x, dims))

    def emit(body: Body, e, m, v):
        root = body.op("math.sqrt", body.op("arith.addf", v, body.constant(eps, v.dtype)))
        return body.op("arith.divf", body.op("arith.subf", e, m), root)

    return b.pointwise(compute, [x, middle, spread], emit, compute)


def _affine(b: Builder, x: Tensor, weight, bias, dtype: DType) -> Tensor:
    if weight is not None:
        x = pointwise.mul(b, x, weight)
    if bias is not None:
        x = pointwise.add(b, x, bias)
    return pointwise.to_dtype(b, x, dtype)


@operator("layer_norm", "Normalisation", where="")
def layer_norm(b: Builder, input, normalized_shape, weight=None, bias=None, eps=1e-05):
    last = input.sizes[max(0, input.rank - len(normalized_shape)) :]
    if len(last) != len(normalized_shape) or any(isinstance(n, int) and isinstance(m, int) and n != m for n, m in zip(last, normalized_shape)):
        raise Problem(f"layer_norm: {input.describe()} does not end with the sizes {list(normalized_shape)}", "shape")
    dims = list(range(input.rank - len(normalized_shape), input.rank))
    return _affine(b, normalized(b, input, dims, eps), weight, bias, input.dtype)


@operator("rms_norm", "Normalisation", where="f")
def rms_norm(b: Builder, input, normalized_shape, weight=None, eps=None):
    dims = list(range(input.rank - len(normalized_shape), input.rank))
    compute = arithmetic_type(input.dtype)
    eps = dtypes.finfo(compute)[2] if eps is None else eps
    squares = total(b, input, dims, True, compute, lambda body, e: body.op("arith.mulf", e, e))
    spread = _divided(b, squares, count(b, input, dims))
    root = lambda body, e, v: body.op("arith.mulf", e, body.op("math.rsqrt", body.op("arith.addf", v, body.constant(eps, v.dtype))))  # noqa: E731
    return _affine(b, b.pointwise(compute, [input, spread], root, compute), weight, None, input.dtype)


@operator("group_norm", "Normalisation", where="")
def group_norm(b: Builder, input, num_groups, weight=None, bias=None, eps=1e-05):
    grouped = base.reshape(b, input, [input.sizes[0], num_groups, -1])
    result = base.reshape(b, normalized(b, grouped, [2], eps), input.sizes)
    line = [1, -1] + [1] * (input.rank - 2)
    weight, bias = (None if p is None else base.reshape(b, p, line) for p in (weight, bias))
    return _affine(b, result, weight, bias, input.dtype)


@operator("batch_norm", "Normalisation", where="", note="with training=False alone")
def batch_norm(b: Builder, input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    if training:
        raise Problem("batch_norm updates running statistics while training: call .eval() on the module")
    compute = arithmetic_type(input.dtype)

    # A factor and a summand of each channel, as PyTorch has them: of parameters alone, which a module may hold.
    def factor(body: Body, v, *w):
        root = body.op("math.sqrt", body.op("arith.addf", v, body.constant(eps, v.dtype)))
        return body.op("arith.divf", *(w or (body.constant(1.0, v.dtype),)), root)

    def summand(body: Body, m, s, *own):
        product = body.op("arith.mulf", m, s)
        return body.op("arith.subf", *(own or (body.constant(0.0, m.dtype),)), product)

    scale = b.pointwise(compute, [running_var, *([] if weight is None else [weight])], factor, compute)
    shift = b.pointwise(compute, [running_mean, scale, *([] if bias is None else [bias])], summand, compute)
    line = [1, -1] + [1] * (input.rank - 2)
    scale, shift = (base.reshape(b, p, line) for p in (scale, shift))
    return pointwise.to_dtype(b, b.pointwise(compute, [input, scale, shift], _scaled, compute), input.dtype)


def _scaled(body: Body, e, scale, shift):
    return body.op("arith.addf", body.op("arith.mulf", e, scale), shift)


@operator("normalize", "Normalisation", where="")
def normalize(b: Builder, input, p=2.0, dim=1, eps=1e-12):
    length = norm(b, input, p, dim, True)
    return pointwise.div(b, input, pointwise.clamp(b, length, eps))


@operator("cosine_similarity", "Normalisation", where="f")
def cosine_similarity(b: Builder, x1, x2, dim=1, eps=1e-8):
    """Each is divided by its length, in the type of the arithmetic; the result is rounded once."""
    own = promote(x1, x2)
    if not own.is_float:
        raise Problem(f"cosine_similarity: expects floats, found {own}", "dtype")
    compute = arithmetic_type(own)
    sizes = b.broadcast([x1.sizes, x2.sizes])
    d = dim_of(dim, len(sizes))
    x1, x2 = (pointwise.to_dtype(b, base.expand(b, x, sizes), compute) for x in (x1, x2))
    parts = [pointwise.div(b, x, pointwise.clamp(b, norm(b, x, 2, d, True), eps)) for x in (x1, x2)]
    return pointwise.to_dtype(b, total(b, pointwise.mul(b, *parts), [d], False, compute), own)
