# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library steps on the processor: what runs between compiled code, by name.

A step is a function of arrays and numbers that gives a list of arrays and numbers; `register` adds one, or puts another in
its place (for a device, say). All are stable: of equal elements the first comes first.
"""

from __future__ import annotations

import difflib
import functools
import warnings
from typing import Callable, Dict, List

import numpy as np

from ...errors import ArgumentError
from ..problems import RunError, RunIndexError, RunShapeError

_STEPS: Dict[str, Callable] = {}


def register(name: str, function: Callable, device: str = "cpu") -> None:
    """Makes `function(*operands, **parameters)` the step `name` for storages on devices of a type."""
    if not isinstance(name, str) or not callable(function):
        raise ArgumentError(f"register_step: expects the name of a step and a function, found {type(name).__name__} and {type(function).__name__}")
    if not is_known(name) and device == "cpu" and getattr(function, "__module__", None) != __name__:
        near = difflib.get_close_matches(str(name), names(), 1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names())}"
        warnings.warn(f"register_step: no operator asks for a step '{name}', so that only scripts of files can use it; {hint}", stacklevel=2)
    if device != "cpu":
        from . import device_steps

        device_steps.register(name, function, device)
        return
    _STEPS[name] = function


def step(name: str) -> Callable:
    return _STEPS[name]


def is_known(name: str) -> bool:
    return name in _STEPS


def table() -> Dict[str, Callable]:
    """The steps by name; what is registered later appears in it."""
    return _STEPS


def names() -> List[str]:
    return sorted(_STEPS)


def registered(function: Callable) -> Callable:
    """Makes a function of this package the step of its name."""
    _STEPS[function.__name__] = function
    return function


@registered
def require_equal(first: int, second: int, what: str = "sizes are broadcast only where a 1 is known when the program is compiled"):
    if first != second:
        raise RunShapeError(f"sizes {first} and {second} that are data must be equal: {what}")
    return []


@registered
def require_some(size: int, message: str):
    if size < 1:
        raise RunShapeError(message)
    return []


@registered
def require(truth: bool, message: str):
    if not truth:
        raise RunError(message)
    return []


@registered
def nonzero(x):
    if not x.ndim:
        return [np.zeros((int(bool(x)), 0), np.int64), int(bool(x))]
    found = np.array(x.nonzero(), np.int64)
    return [np.ascontiguousarray(found.T), found.shape[1]]


@registered
def index_put(value, x, *indices, dims, accumulate: bool):
    """`x` with elements at tensors of indices replaced, in order, or added to."""
    made = np.array(x)
    key: List = [slice(None)] * x.ndim
    for d, index in zip(dims, indices):
        size = x.shape[d]
        wrong = (index < -size) | (index >= size)
        if wrong.any():
            raise RunIndexError(f"index {int(index[wrong].flat[0])} is out of range in dimension {d} of size {size}")
        key[d] = index
    if accumulate:
        np.add.at(made, tuple(key), value)
    else:
        made[tuple(key)] = value
    return [made]


_FOLDS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


@registered
def scatter_reduce(value, x, *indices, reduce: str, include_self: bool):
    """`x` with what comes to each element folded into it, or, without it, in its place; a mean of integers is rounded down."""
    for d, (index, size) in enumerate(zip(indices, x.shape)):
        wrong = (index < -size) | (index >= size)
        if wrong.any():
            raise RunIndexError(f"index {int(index[wrong].flat[0])} is out of range in dimension {d} of size {size}")
    made, fold = np.array(x), _FOLDS[reduce]
    if not include_self:
        # The first one of each element takes its place, and so do all: the fold of equal ones would count twice.
        kinds = {"sum": 0, "mean": 0, "prod": 1}
        least, most = (False, True) if x.dtype == np.bool_ else (-np.inf, np.inf) if x.dtype.kind == "f" else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
        made[indices] = kinds.get(reduce, least if reduce == "amax" else most)
    fold.at(made, indices, value)
    if reduce == "mean":
        count = np.full(x.shape, int(include_self), np.int64)
        np.add.at(count, indices, 1)
        count = np.maximum(count, 1)
        made = made / count.astype(x.dtype) if x.dtype.kind == "f" else (made // count).astype(x.dtype)
    return [made]


@registered
def repeated(counts):
    """Each place as often as its count says."""
    if (counts < 0).any():
        raise RunError(f"repeat_interleave: repeats must not be negative, found {int(counts.min())}")
    found = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return [found, len(found)]


@registered
def unique_consecutive(x):
    first = np.ones(x.size, bool)
    first[1:] = x[1:] != x[:-1]
    places = np.flatnonzero(first)
    counts = np.diff(np.append(places, x.size)).astype(np.int64)
    return [x[places], (np.cumsum(first) - 1).astype(np.int64), counts, len(places)]


#: Of an index: nothing is wrong with it.
NOTHING = -(1 << 63)


def _are_inside(index, size: int) -> bool:
    if not index.size:
        return True
    # (As numbers without a sign, negative ones are great: one look for indices that count from the front.)
    if index.dtype == np.int64 and index.view(np.uint64).max() < size:
        return True
    return bool(-size <= index.min() and index.max() < size)


def _along(x, places, axis: int):
    """`np.take_along_axis`, whose own time is most of it for small arrays."""
    if x.ndim == 1:
        return x[places]
    if axis not in (-1, x.ndim - 1) or not places.size:
        return np.take_along_axis(x, places, axis)
    rows = places.reshape(-1, places.shape[-1])
    return x.reshape(-1, x.shape[-1])[np.arange(len(rows))[:, None], rows].reshape(places.shape)


def _mirrored(x, axis: int):
    return x[(slice(None),) * (axis % x.ndim) + (slice(None, None, -1),)] if x.ndim else x


@registered
def take(x, *indices, dims):
    """Elements at tensors of indices, and of each of these the greatest that is out of range (it is taken as 0)."""
    key: List = [slice(None)] * x.ndim
    wrong = []
    for d, index in zip(dims, indices):
        size = x.shape[d]
        if _are_inside(index, size):
            wrong.append(np.array(NOTHING, np.int64))
            key[d] = index
            continue
        outside = (index < -size) | (index >= size)
        if not size:
            raise RunIndexError(f"index {int(index[outside].flat[0])} is out of range in dimension {d} of size {size}")
        wrong.append(np.array(index[outside].max(), np.int64))
        key[d] = np.where(outside, 0, index)
    return [np.ascontiguousarray(x[tuple(key)]), *wrong]


@registered
def pick(x, *indices, dims):
    """As `take`, at indices that are known to lie inside: steps found them there."""
    if dims[-1] == len(dims) - 1:
        return [np.ascontiguousarray(x[indices])]
    key: List = [slice(None)] * x.ndim
    for d, index in zip(dims, indices):
        key[d] = index
    return [np.ascontiguousarray(x[tuple(key)])]


@registered
def cat(*parts, dim: int):
    made = np.concatenate(parts, dim)
    return [made, made.shape[dim]]


@registered
def clamped(size: int, numbers):
    """An end of a slice as a position from 0 to the size."""
    (end,) = numbers
    return [max(0, min(end + size if end < 0 else end, size))]


@registered
def slice_length(size: int, numbers):
    return [len(range(size)[slice(*numbers)])]


@registered
def slice_ends(size: int, start: int, stop: int, numbers):
    """First and last position of a slice, and how many there are; `numbers`: which ends are given, and the step."""
    has_start, has_stop, by = numbers
    first, last, _ = slice(start if has_start else None, stop if has_stop else None).indices(size)
    return [first, last, len(range(first, last, by))]


def order(x, axis: int, descending: bool):
    """A stable order; NaN is the greatest."""
    if x.dtype == np.bool_:
        x = x.astype(np.int8)
    if not descending:
        return x.argsort(axis=axis, kind="stable")
    # Stable and descending: the ascending order of the mirrored array, mirrored.
    places = _mirrored(x, axis).argsort(axis=axis, kind="stable")
    return x.shape[axis] - 1 - _mirrored(places, axis)


@registered
def sort(x, dim: int, descending: bool):
    places = order(x, dim, descending)
    return [_along(x, places, dim), places.astype(np.int64, copy=False)]


@registered
def topk(x, k: int, dim: int, largest: bool):
    if not 0 <= k <= x.shape[dim]:
        raise RunShapeError(f"topk: k is {k}, the dimension has size {x.shape[dim]}")
    places = order(x, dim, largest)
    places = places[:k] if x.ndim == 1 else np.take(places, np.arange(k), axis=dim)
    return [_along(x, places, dim), places.astype(np.int64, copy=False)]


@registered
def median(x):
    if not x.size:
        return [np.array(np.nan if x.dtype.kind == "f" else x.dtype.kind == "b" if x.dtype.itemsize < 4 else np.iinfo(x.dtype).min, x.dtype)]
    if x.dtype.kind == "f" and np.isnan(x).any():
        return [np.array(np.nan, x.dtype)]
    return [np.sort(x)[(x.size - 1) // 2].reshape(())]


@registered
def unique(x):
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, equal_nan=False)
    return [values, inverse.reshape(x.shape).astype(np.int64), counts.astype(np.int64), len(values)]


@registered
def bincount(x, weights=None, minlength: int = 0):
    found = np.bincount(x.reshape(-1), None if weights is None else weights.reshape(-1), minlength)
    found = found.astype(np.int64 if weights is None else np.float32 if weights.dtype == np.float32 else np.float64)
    return [found, len(found)]


@registered
def searchsorted(sequence, values, right: bool):
    return [np.searchsorted(sequence, values, "right" if right else "left").reshape(values.shape)]


def of_matrices(function: Callable) -> Callable:
    """Registers a step of matrices, whose failure is the program's."""

    @functools.wraps(function)
    def step_(*operands, **parameters):
        try:
            return function(*operands, **parameters)
        except np.linalg.LinAlgError as error:
            raise RunError(f"linalg.{function.__name__}: {error}") from None

    _STEPS[function.__name__] = step_
    return step_


@of_matrices
def solve(a, right):
    return [np.linalg.solve(a, right)]


@of_matrices
def inv(a):
    return [np.linalg.inv(a)]


@of_matrices
def det(a):
    return [np.asarray(np.linalg.det(a), a.dtype)]


@of_matrices
def slogdet(a):
    return [np.asarray(x, a.dtype) for x in np.linalg.slogdet(a)]


@of_matrices
def cholesky(a):
    return [np.linalg.cholesky(a)]


#: Above so many coordinates torchvision goes through the labels one by one on the CPU; so do we, for the same roundings.
_MOST_SHIFTED = 4000


@registered
def nms(boxes, scores, labels=None, threshold: float = 0.5):
    """Greedy suppression in the order of scores; boxes of other labels do not touch each other."""
    places = order(scores, 0, True)
    boxes = boxes[places]
    if labels is None or not boxes.size:
        kept = suppress(boxes, threshold)
    elif boxes.size > _MOST_SHIFTED:
        own = labels[places]
        parts = [np.flatnonzero(own == label) for label in np.unique(own)]
        kept = np.sort(np.concatenate([part[suppress(boxes[part], threshold)] for part in parts]))
    else:
        # An offset for each label moves its boxes where no other label's are.
        shift = labels[places].astype(boxes.dtype) * (boxes.max() + boxes.dtype.type(1))
        kept = suppress(boxes + shift[:, None], threshold)
    keep = places[kept].astype(np.int64)
    return [keep, len(keep)]


#: So many overlaps are computed at once: a few more than a greedy choice needs, for far fewer calls of NumPy.
_OVERLAPS = 16384


def suppress(boxes, threshold: float):
    """The positions, among boxes in order, of those that no kept one before covers by more than the threshold."""
    left, top, right, bottom = boxes.T
    sides = left, top, right, bottom, (right - left) * (bottom - top)
    rest = np.arange(len(boxes))
    kept: List[int] = []
    while len(rest):
        # The first ones of the rest beside all of it, and the choice among them one after the other.
        count = max(1, min(len(rest), _OVERLAPS // len(rest)))
        covers = _covers([s[rest[:count], None] for s in sides], [s[rest] for s in sides], threshold)
        alive = np.ones(len(rest), bool)
        for i in range(count):
            if alive[i]:
                kept.append(rest[i])
                alive[i + 1 :] &= ~covers[i, i + 1 :]
        rest = rest[count:][alive[count:]]
    return np.array(kept, np.int64)


def _covers(ones, others, threshold: float):
    """Whether boxes and others (left, top, right, bottom, area) have more than a part of their union in common."""
    nothing = others[0].dtype.type(0)
    wide = np.maximum(nothing, np.minimum(ones[2], others[2]) - np.maximum(ones[0], others[0]))
    high = np.maximum(nothing, np.minimum(ones[3], others[3]) - np.maximum(ones[1], others[1]))
    common = wide * high
    with np.errstate(divide="ignore", invalid="ignore"):
        return common / (ones[4] + others[4] - common) > threshold


from . import factor_steps, sequence_steps  # noqa: E402, F401 - they register steps of their own

#: Steps whose results are as the program expects them, and memory of their own.
OURS = frozenset(_STEPS.values())
