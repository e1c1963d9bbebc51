# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library steps by PyTorch's operators, for tensors on a device. What each means is said in ``library``; all are stable.

A step gives a list of tensors and numbers. A number is a size that is data: the host waits for it, and for nothing else.
"""

from __future__ import annotations

import sys
from typing import Callable, Dict

from . import device_factors, library
from .library import require, require_equal, require_some
from ..problems import RunError, RunIndexError, RunShapeError

_STEPS: Dict[str, Dict[str, Callable]] = {}
#: torchvision moves boxes of other labels apart up to so many coordinates on a device.
_MOST_SHIFTED = 100000
#: Rows of the matrix of overlaps that are made at a time.
_ROWS = 4096


def register(name: str, function: Callable, device: str) -> None:
    """Makes `function` the step `name` for tensors on devices of a type."""
    table(device)[name] = function


def table(device: str) -> Dict[str, Callable]:
    """The steps of a type of devices, by name; what is registered later appears in it."""
    return _STEPS.setdefault(device, dict(_OWN))


def step(name: str, device: str) -> Callable:
    found = table(device).get(name)
    if found is None:
        own = library.step(name)
        raise RunShapeError(f"step '{name}' ({own.__module__}) runs on the processor only: register one for {device}, register_step(name, function, device='{device}')")
    return found


def _torch():
    return sys.modules["torch"]


def nonzero(x):
    found = x.nonzero()
    return [found, found.shape[0]]


def index_put(value, x, *indices, dims, accumulate: bool):
    key = [slice(None)] * x.dim()
    for d, index in zip(dims, indices):
        size = x.shape[d]
        wrong = (index < -size) | (index >= size)
        # A device that is asked for what it has not is lost to the process, so the host looks first.
        if bool(wrong.any()):
            raise RunIndexError(f"index {int(index[wrong].reshape(-1)[0])} is out of range in dimension {d} of size {size}")
        key[d] = index
    made = x.clone()
    # None stands for all of a dimension.
    _torch().ops.aten.index_put_(made, [None if isinstance(k, slice) else k for k in key], value.to(made.dtype), accumulate)
    return [made]


def scatter_reduce(value, x, *indices, reduce: str, include_self: bool):
    torch, place = _torch(), 0
    for d, (index, size) in enumerate(zip(indices, x.shape)):
        wrong = (index < -size) | (index >= size)
        if bool(wrong.any()):
            raise RunIndexError(f"index {int(index[wrong].reshape(-1)[0])} is out of range in dimension {d} of size {size}")
        place = place * size + torch.where(index < 0, index + size, index)
    made = x.reshape(-1).clone().scatter_reduce_(0, place.reshape(-1), value.reshape(-1), reduce, include_self=include_self)
    return [made.reshape(x.shape)]


def repeated(counts):
    if bool((counts < 0).any()):
        raise RunError(f"repeat_interleave: repeats must not be negative, found {int(counts.min())}")
    found = _torch().repeat_interleave(counts)
    return [found, found.shape[0]]


def unique_consecutive(x):
    values, inverse, counts = _torch().unique_consecutive(x, return_inverse=True, return_counts=True)
    return [values, inverse, counts, values.shape[0]]


def take(x, *indices, dims):
    """As the processor's; nothing waits for what is out of range."""
    torch, key, wrong = _torch(), [None] * x.dim(), []
    for d, index in zip(dims, indices):
        size = x.shape[d]
        if not size and index.numel():
            raise RunIndexError(f"index {int(index.reshape(-1)[0])} is out of range in dimension {d} of size {size}")
        outside = (index < -size) | (index >= size)
        noted = torch.where(outside, index, library.NOTHING)
        wrong.append(noted.max() if index.numel() else torch.full((), library.NOTHING, device=x.device))
        key[d] = torch.where(outside, 0, index)
    return [torch.ops.aten.index(x, key), *wrong]


def pick(x, *indices, dims):
    if dims[-1] == len(dims) - 1:
        return [_torch().ops.aten.index(x, indices)]
    key = [None] * x.dim()
    for d, index in zip(dims, indices):
        key[d] = index
    return [_torch().ops.aten.index(x, key)]


def cat(*parts, dim: int):
    made = _torch().cat(parts, dim)
    return [made, made.shape[dim]]


def sort(x, dim: int, descending: bool):
    found = _torch().sort(x, dim=dim, descending=descending, stable=True)
    return [found.values, found.indices]


def topk(x, k: int, dim: int, largest: bool):
    if not 0 <= k <= x.shape[dim]:
        raise RunShapeError(f"topk: k is {k}, the dimension has size {x.shape[dim]}")
    values, places = sort(x, dim, largest)
    return [values.narrow(dim, 0, k), places.narrow(dim, 0, k)]


def median(x):
    torch = _torch()
    return [torch.full((), float("nan"), dtype=x.dtype, device=x.device) if not x.numel() else x.reshape(-1).median()]


def unique(x):
    values, inverse, counts = _torch().unique(x, return_inverse=True, return_counts=True)
    return [values, inverse, counts, values.shape[0]]


def bincount(x, weights=None, minlength: int = 0):
    found = _torch().bincount(x.reshape(-1), None if weights is None else weights.reshape(-1), minlength)
    return [found, found.shape[0]]


def searchsorted(sequence, values, right: bool):
    return [_torch().searchsorted(sequence, values.contiguous(), right=right)]


def _of_matrices(name: str) -> Callable:
    def step_(*operands):
        torch = _torch()
        try:
            found = getattr(torch.linalg, name)(*operands)
        except torch.linalg.LinAlgError as error:
            raise RunError(f"linalg.{name}: {error}") from None
        return [found] if isinstance(found, torch.Tensor) else list(found)

    step_.__name__ = name
    return step_


solve, inv, det, slogdet, cholesky = map(_of_matrices, ("solve", "inv", "det", "slogdet", "cholesky"))


def nms(boxes, scores, labels=None, threshold: float = 0.5):
    """Greedy suppression in the order of scores; boxes of other labels do not touch each other."""
    torch = _torch()
    places = sort(scores, 0, True)[1]
    boxes = boxes[places]
    same = None
    if labels is not None and boxes.numel():
        own = labels[places]
        if boxes.numel() > _MOST_SHIFTED:
            same = own
        else:
            boxes = boxes + (own.to(boxes.dtype) * (boxes.max() + 1))[:, None]
    keep = places[_survivors(torch, boxes, threshold, same)]
    return [keep, keep.shape[0]]


def _survivors(torch, boxes, threshold: float, labels):
    """Which of boxes in order are covered by no survivor before them by more than the threshold.

    The condition `alive = no covering one before is alive` has one solution. Any start reaches it in as many
    rounds as the longest chain has boxes; a round is a product of the matrix of overlaps.
    """
    count = boxes.shape[0]
    covers = torch.zeros(count, count, dtype=torch.float32, device=boxes.device)
    for begin in range(0, count, _ROWS):
        covers[begin : begin + _ROWS] = _covering(torch, boxes, begin, threshold, labels)
    alive = torch.ones(count, dtype=torch.float32, device=boxes.device)
    for _ in range(count + 1):
        now = ((alive @ covers) == 0).to(torch.float32)
        if bool((now == alive).all()):
            break
        alive = now
    return alive.bool().nonzero()[:, 0]


def _covering(torch, boxes, begin: int, threshold: float, labels):
    """Rows from `begin` on: 1 where a box covers a later one too much."""
    one = boxes[begin : begin + _ROWS]
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    wide = (torch.minimum(one[:, None, 2:], boxes[None, :, 2:]) - torch.maximum(one[:, None, :2], boxes[None, :, :2])).clamp(min=0)
    common = wide[..., 0] * wide[..., 1]
    covered = common / (areas[begin : begin + _ROWS, None] + areas[None] - common) > threshold
    places = torch.arange(boxes.shape[0], device=boxes.device)
    covered &= places[begin : begin + _ROWS, None] < places[None]
    if labels is not None:
        covered &= labels[begin : begin + _ROWS, None] == labels[None]
    return covered.to(torch.float32)


_OWN: Dict[str, Callable] = {
    f.__name__: f for f in (require_equal, require_some, require, take, pick, cat, library.clamped, library.slice_length, library.slice_ends, nonzero, index_put, scatter_reduce, repeated, unique_consecutive, sort, topk, median, unique, bincount, searchsorted, nms, solve, inv, det, slogdet, cholesky)
}
_OWN.update(device_factors.TABLE)
#: Steps whose results are as the program expects them, and memory of their own.
OURS = frozenset(_OWN.values())
