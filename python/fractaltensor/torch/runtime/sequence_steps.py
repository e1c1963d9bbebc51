# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library steps on the processor over sequences: alignments of labels, and Fourier transforms."""

from __future__ import annotations

import numpy as np

from .library import registered
from ..problems import RunShapeError


def _padded_labels(targets, lengths):
    """Labels of each sequence in a row of its own; a vector has those of all sequences, one after the other."""
    longest = int(lengths.max(initial=0))
    if targets.ndim == 2:
        if longest > targets.shape[1]:
            raise RunShapeError(f"ctc_loss: a target of {longest} labels, and the targets have {targets.shape[1]}")
        return targets[:, :longest].astype(np.int64)
    if int(lengths.sum()) > len(targets):
        raise RunShapeError(f"ctc_loss: targets of {int(lengths.sum())} labels in all, and there are {len(targets)}")
    rows = np.zeros((len(lengths), longest), np.int64)
    for row, end, count in zip(rows, np.cumsum(lengths), lengths):
        row[:count] = targets[end - count : end]
    return rows


@registered
def ctc_loss(logs, targets, input_lengths, target_lengths, blank: int):
    """The negative logarithm of the probability of all alignments, by forward variables (Graves et al. 2006, section 4.1): labels with blanks around."""
    steps, batch, classes = logs.shape
    if len(input_lengths) != batch or len(target_lengths) != batch:
        raise RunShapeError(f"ctc_loss: {batch} sequences, {len(input_lengths)} lengths of inputs and {len(target_lengths)} of targets")
    if (input_lengths > steps).any() or (input_lengths < 0).any() or (target_lengths < 0).any():
        raise RunShapeError(f"ctc_loss: lengths of inputs are from 0 to {steps}, found {input_lengths.tolist()}; those of targets {target_lengths.tolist()}")
    labels = _padded_labels(targets, target_lengths)
    inside = np.arange(labels.shape[1]) < target_lengths[:, None]
    if ((labels < 0) | (labels >= classes))[inside].any():
        raise RunShapeError(f"ctc_loss: labels are classes from 0 to {classes - 1}")
    states = np.full((batch, 2 * labels.shape[1] + 1), blank, np.int64)
    states[:, 1::2] = np.where(inside, labels, blank)
    may_skip = np.zeros(states.shape, bool)
    may_skip[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    none = np.float64(-np.inf)
    alpha = np.full(states.shape, none)
    alpha[:, 0] = 0
    found = np.full(batch, none)
    rows, last = np.arange(batch), 2 * target_lengths
    with np.errstate(divide="ignore", invalid="ignore"):
        for t in range(steps + 1):
            ended = input_lengths == t
            if ended.any():
                ends = np.logaddexp(alpha[rows, last], np.where(last > 0, alpha[rows, np.maximum(last - 1, 0)], none))
                found[ended] = (ends if t else np.where(last == 0, 0.0, none))[ended]
            if t == steps:
                break
            before = np.full(states.shape, none)
            before[:, 1:] = alpha[:, :-1]
            two = np.full(states.shape, none)
            two[:, 2:] = np.where(may_skip, np.roll(alpha, 2, 1), none)[:, 2:]
            # At the first step an alignment begins with a blank or the first label.
            joined = np.logaddexp(np.logaddexp(alpha, before), two)
            alpha = joined + np.take_along_axis(logs[t].astype(np.float64), states, 1)
    return [np.asarray(-found, logs.dtype)]


@registered
def fourier(real, imaginary=None, *, kind: str, sizes, dims, norm: str):
    """A transform by its name in NumPy; a complex result as its two parts."""
    x = real if imaginary is None else real + 1j * imaginary
    x = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
    if kind in ("hfft", "ihfft"):
        found = getattr(np.fft, kind)(x, sizes[0], dims[0], norm)
    else:
        found = getattr(np.fft, kind)(x, sizes, dims, norm)
    if kind in ("irfftn", "hfft"):
        return [np.ascontiguousarray(found, real.dtype)]
    return [np.ascontiguousarray(found.real, real.dtype), np.ascontiguousarray(found.imag, real.dtype)]


@registered
def unique_rows(x, dim: int, is_sorted: bool):
    """Slices along a dimension that differ, in order, or, not sorted, runs of equal neighbours."""
    rows = np.moveaxis(x, dim, 0)
    flat = np.ascontiguousarray(rows).reshape(len(rows), -1)
    if is_sorted:
        values, first, inverse, counts = np.unique(flat, return_index=True, return_inverse=True, return_counts=True, axis=0)
        places, inverse = first, inverse.reshape(-1)
    else:
        begins = np.ones(len(flat), bool)
        begins[1:] = (flat[1:] != flat[:-1]).any(1)
        places, inverse = np.flatnonzero(begins), np.cumsum(begins) - 1
        counts = np.diff(np.append(places, len(flat)))
    return [np.ascontiguousarray(np.moveaxis(rows[places], 0, dim)), inverse.astype(np.int64), counts.astype(np.int64), len(places)]


@registered
def mode(x, dim: int):
    """The most frequent element along a dimension, the least of several, and the last place where it is."""
    rows = np.moveaxis(x, dim, -1)
    flat = rows.reshape(-1, rows.shape[-1])
    values, places = np.empty(len(flat), x.dtype), np.empty(len(flat), np.int64)
    for at, row in enumerate(flat):
        own, counts = np.unique(row, return_counts=True)
        values[at] = own[counts.argmax()]
        places[at] = np.flatnonzero(row == values[at])[-1] if values[at] == values[at] else len(row) - 1
    return [values.reshape(rows.shape[:-1]), places.reshape(rows.shape[:-1])]


@registered
def histogram(x, bins: int):
    """Counts in bins of one width from the least element to the greatest; around a single value one to each side."""
    low, high = (float(x.min()), float(x.max())) if x.size else (0.0, 0.0)
    if not np.isfinite(low) or not np.isfinite(high):
        raise RunShapeError(f"histc: the elements are from {low} to {high}: give min and max")
    low, high = (low - 1, high + 1) if low == high else (low, high)
    places = ((x.reshape(-1) - x.dtype.type(low)) / x.dtype.type(high - low) * x.dtype.type(bins)).astype(np.int64)
    return [np.bincount(np.minimum(places, bins - 1), minlength=bins).astype(x.dtype)]


@registered
def searchsorted_rows(sequence, values, right: bool):
    """In each row of a sorted sequence of its own."""
    found = np.empty(values.shape, np.int64)
    for row, own, out in zip(sequence.reshape(-1, sequence.shape[-1]), values.reshape(-1, values.shape[-1]), found.reshape(-1, values.shape[-1])):
        out[:] = np.searchsorted(row, own, "right" if right else "left")
    return [found]
