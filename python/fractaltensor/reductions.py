# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of an element along axes, and what is made of them: softmax, layer_norm.

``axis`` may be one axis, several, or None for all; ``keepdims`` keeps extents of 1 (PyTorch's ``dim``
and ``keepdim`` are taken, too).
"""

from __future__ import annotations

import functools
import math
from typing import Optional, Tuple

from .elementwise import (
    absolute, add, as_tensor, bitwise_or, divide, equal, exp, floats_only, full_of, isnan, less, log, multiply, rsqrt, sqrt, subtract,
    to, where,
)
from .errors import DTypeError, ShapeError, TraceError
from .shaping import _known, _product, _reshape, normalize_axis
from .source import here
from .types import bool_, extent_of, f32, i64


def _axes(x, axis, dim, what: str) -> Tuple[int, ...]:
    axis = dim if axis is None else axis
    if axis is None:
        return tuple(range(x.type.rank))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = tuple(sorted({normalize_axis(a, x.type.rank, what) for a in axes}))
    if len(found) != len(axes):
        raise ShapeError(f"{what}: an axis is named twice in {tuple(axes)}", here())
    return found


def _reduce(x, name: str, start, axes: Tuple[int, ...], keepdims: bool, what: str):
    if not axes:
        return x
    kept = tuple(e for i, e in enumerate(x.type.shape) if i not in axes)
    init = full_of(kept, start, x.type.dtype)
    (result,) = x._trace.emit("reduce_element", [x, init], [x.type.with_shape(kept)], name=name, dimensions=axes)
    if keepdims:
        result = _reshape(result, tuple(1 if i in axes else e for i, e in enumerate(x.type.shape)))
    return result


def _reduction(what: str, floats: str, ints: str, start_float, start_int):
    def function(x, axis=None, keepdims: bool = False, *, dim=None, keepdim: bool = False):
        x = as_tensor(x, what)
        dtype = x.type.dtype
        if dtype.is_bool:
            if what not in ("sum", "prod"):
                raise DTypeError(f"{what} of bool: use any() or all(), or convert first, x.to(ft.i64)", here())
            x, dtype = to(x, i64), i64
        axes = _axes(x, axis, dim, what)
        start = start_float if not dtype.is_integer else start_int(dtype.bits)
        if what in ("max", "min") and any(x.type.shape[a] == 0 for a in axes):
            raise ShapeError(f"{what} of {x.type}: there are no numbers along axis {axes}", here())
        return _reduce(x, floats if not dtype.is_integer else ints, start, axes, keepdims or keepdim, what)

    function.__name__ = function.__qualname__ = what
    function.__doc__ = f"{what}(x, axis=None, keepdims=False): along axes; f16 and bf16 accumulate in f32 and round once."
    return function


sum_ = _reduction("sum", "arith.addf", "arith.addi", 0.0, lambda bits: 0)
prod = _reduction("prod", "arith.mulf", "arith.muli", 1.0, lambda bits: 1)
max_ = _reduction("max", "arith.maximumf", "arith.maxsi", float("-inf"), lambda bits: -(1 << (bits - 1)))
min_ = _reduction("min", "arith.minimumf", "arith.minsi", float("inf"), lambda bits: (1 << (bits - 1)) - 1)
amax, amin = max_, min_


def any_(x, axis=None, keepdims: bool = False, *, dim=None, keepdim: bool = False):
    """Whether any number along the axes is not 0: bool."""
    x = to(as_tensor(x, "any"), bool_)
    return _reduce(x, "arith.ori", False, _axes(x, axis, dim, "any"), keepdims or keepdim, "any")


def all_(x, axis=None, keepdims: bool = False, *, dim=None, keepdim: bool = False):
    """Whether all numbers along the axes are not 0: bool."""
    x = to(as_tensor(x, "all"), bool_)
    return _reduce(x, "arith.andi", True, _axes(x, axis, dim, "all"), keepdims or keepdim, "all")


def _count(x, axes) -> float:
    return float(_known(extent_of(_product([x.type.shape[a] for a in axes])), "a mean")) if not x._trace.checking else 1.0


def _rounded_once(function):
    """A function made of several: of f16 and bf16 it computes in f32, and rounds once. What stands in between may be too large for these."""

    @functools.wraps(function)
    def made(x, *args, **kwargs):
        x = floats_only(x, function.__name__)
        if x.type.dtype.bits != 16:
            return function(x, *args, **kwargs)
        return to(function(to(x, f32), *map(_wide, args), **{k: _wide(v) for k, v in kwargs.items()}), x.type.dtype)

    return made


def _wide(value):
    """A weight or bias in f32, where it has fewer bits; all else as it is."""
    dtype = getattr(getattr(value, "type", None), "dtype", None)
    return to(value, f32) if dtype is not None and dtype.bits == 16 and not dtype.is_integer else value


@_rounded_once
def mean(x, axis=None, keepdims: bool = False, *, dim=None, keepdim: bool = False):
    """The mean along axes."""
    x = floats_only(x, "mean")
    axes = _axes(x, axis, dim, "mean")
    return divide(sum_(x, axes, keepdims or keepdim), _count(x, axes))


@_rounded_once
def var(x, axis=None, keepdims: bool = False, *, correction: float = 0, dim=None, keepdim: bool = False):
    """The variance around the mean, divided by n - `correction` (0, as in NumPy)."""
    x = floats_only(x, "var")
    axes = _axes(x, axis, dim, "var")
    centred = subtract(x, mean(x, axes, True))
    return divide(sum_(multiply(centred, centred), axes, keepdims or keepdim), _count(x, axes) - correction)


def _root(x):
    """The square root of a sum of squares. Where all of them are 0 its derivative is 0, as PyTorch's is."""
    is_zero = equal(x, 0)
    return where(is_zero, 0, sqrt(where(is_zero, 1, x)))


@_rounded_once
def std(x, axis=None, keepdims: bool = False, *, correction: float = 0, dim=None, keepdim: bool = False):
    """The square root of :func:`var`."""
    return _root(var(x, axis, keepdims or keepdim, correction=correction, dim=dim))


def _one_axis(x, axis, dim, what: str) -> int:
    return normalize_axis(dim if dim is not None else axis, x.type.rank, what)


def softmax(x, axis: int = -1, *, dim: Optional[int] = None):
    """``exp(x - max) / sum(exp(x - max))`` along an axis."""
    x = floats_only(x, "softmax")
    at = _one_axis(x, axis, dim, "softmax")
    e = exp(subtract(x, max_(x, at, True)))
    return divide(e, sum_(e, at, True))


def logsumexp(x, axis=None, keepdims: bool = False, *, dim=None, keepdim: bool = False):
    """``log(sum(exp(x)))`` along axes, without overflow."""
    x = floats_only(x, "logsumexp")
    axes = _axes(x, axis, dim, "logsumexp")
    m = max_(x, axes, True)
    # Less an infinite maximum, numbers would be NaN.
    m = where(less(absolute(m), math.inf), m, 0)
    s = add(log(sum_(exp(subtract(x, m)), axes, True)), m)
    return s if keepdims or keepdim else _reshape(s, tuple(e for i, e in enumerate(x.type.shape) if i not in axes))


def log_softmax(x, axis: int = -1, *, dim: Optional[int] = None):
    """The logarithm of :func:`softmax`, without its overflow."""
    x = floats_only(x, "log_softmax")
    at = _one_axis(x, axis, dim, "log_softmax")
    # (The maximum goes first: beside a large one the logarithm would be lost.)
    shifted = subtract(x, max_(x, at, True))
    return subtract(shifted, log(sum_(exp(shifted), at, True)))


def _no_shape(weight, what: str) -> None:
    """PyTorch's functions of the same names take the shape of what is normalised second."""
    if isinstance(weight, (tuple, list, int)):
        raise TraceError(f"{what}: the second argument is the weight, a tensor; found {weight!r}: what is normalised is named by axis=", here())


@_rounded_once
def layer_norm(x, weight=None, bias=None, eps: float = 1e-5, axis: int = -1):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` along an axis (Ba, Kiros and Hinton, 2016)."""
    x = floats_only(x, "layer_norm")
    _no_shape(weight, "layer_norm")
    at = normalize_axis(axis, x.type.rank, "layer_norm")
    centred = subtract(x, mean(x, at, True))
    result = multiply(centred, rsqrt(add(mean(multiply(centred, centred), at, True), eps)))
    if weight is not None:
        result = multiply(result, weight)
    return result if bias is None else add(result, bias)


@_rounded_once
def rms_norm(x, weight=None, eps: float = 1e-6, axis: int = -1):
    """``x / sqrt(mean(x²) + eps) * weight`` along an axis (Zhang and Sennrich, 2019)."""
    x = floats_only(x, "rms_norm")
    _no_shape(weight, "rms_norm")
    at = normalize_axis(axis, x.type.rank, "rms_norm")
    result = multiply(x, rsqrt(add(mean(multiply(x, x), at, True), eps)))
    return result if weight is None else multiply(result, weight)


@_rounded_once
def norm(x, axis=None, keepdims: bool = False, *, dim=None, keepdim: bool = False):
    """The Euclidean norm along axes: ``sqrt(sum(x²))``."""
    x = floats_only(x, "norm")
    return _root(sum_(multiply(x, x), axis, keepdims or keepdim, dim=dim))


def cumsum(x, axis: int = -1, *, dim: Optional[int] = None):
    """Sums of all numbers up to each one along an axis, in ⌈log2 n⌉ steps of n additions (Hillis and Steele, 1986).

    As NumPy's, an infinity or NaN is in no sum before it. Sums are of the type of `x` (bool: i64); f16 and
    bf16 accumulate in f32 and round once.
    """
    from .shaping import concatenate_elements, index_element

    x = as_tensor(x, "cumsum")
    if x.type.dtype.is_bool:
        x = to(x, i64)
    at = _one_axis(x, axis, dim, "cumsum")
    if x._trace.checking:  # extents may be names
        return x
    own = x.type.dtype
    sums = to(x, f32) if own.is_float and own.bits == 16 else x
    n = _known(x.type.shape[at], "cumsum")
    before = (slice(None),) * at
    distance = 1
    while distance < n:
        first = index_element(sums, before + (slice(0, distance),))
        later = index_element(sums, before + (slice(distance, n),))
        earlier = index_element(sums, before + (slice(0, n - distance),))
        sums = concatenate_elements([first, add(later, earlier)], at)
        distance *= 2
    return to(sums, own)


def trace(x):
    """The sum of the diagonal of the last two axes."""
    from .shaping import eye

    x = as_tensor(x, "trace")
    if x.type.rank < 2 or x.type.shape[-1] != x.type.shape[-2]:
        raise ShapeError(f"trace needs a square matrix in the last two axes, found {x.type}", here())
    return sum_(multiply(x, eye(x.type.shape[-1], dtype=x.type.dtype)), (-2, -1))


def argmax(x, axis: int = -1):
    """The index of the largest number along an axis, the first of equals; of the first NaN, if there is one: i64."""
    return _arg(x, axis, max_, "argmax")


def argmin(x, axis: int = -1):
    """The index of the smallest number along an axis, the first of equals; of the first NaN, if there is one: i64."""
    return _arg(x, axis, min_, "argmin")


def _arg(x, axis, extreme, what: str):
    from .shaping import indices

    x = as_tensor(x, what)
    at = normalize_axis(axis, x.type.rank, what)
    n = _known(x.type.shape[at], what)
    hit = equal(x, extreme(x, at, True))
    if not x.type.dtype.is_integer:
        hit = bitwise_or(hit, isnan(x))
    return min_(where(hit, indices(x.type.shape, at), n), at)
