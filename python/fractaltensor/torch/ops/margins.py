# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses by margins, by distances and by distributions, as numbers: compiled functions compute forward only."""

from __future__ import annotations

import math

from ..ir import dtypes
from ..ir import views as base
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Tensor
from . import pointwise
from .creation import counted
from .losses import reduced
from .moving import gather
from .reductions import mean, sum_
from .steps import call
from .table import OPERATORS, operator, tensor_of
from .views import known

GROUP = "Losses"
_HOME = "torch.nn.functional."


def _loss(name: str, also=()):
    return operator(_HOME + name, GROUP, also=also)


def _rectified(b: Builder, x: Tensor) -> Tensor:
    return pointwise.clamp(b, x, 0)


@_loss("margin_ranking_loss")
def margin_ranking_loss(b: Builder, input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    turned = pointwise.mul(b, OPERATORS["neg"].function(b, target), pointwise.sub(b, input1, input2))
    return reduced(b, _rectified(b, pointwise.add(b, turned, margin)), reduction, "margin_ranking_loss")


@_loss("hinge_embedding_loss")
def hinge_embedding_loss(b: Builder, input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    far = pointwise.where(b, pointwise.ne(b, target, 1), _rectified(b, pointwise.sub(b, margin, input)), 0.0)
    near = pointwise.where(b, pointwise.ne(b, target, -1), input, 0.0)
    return reduced(b, pointwise.add(b, far, near), reduction, "hinge_embedding_loss")


@_loss("cosine_embedding_loss")
def cosine_embedding_loss(b: Builder, input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    d = input1.rank - 1
    # (PyTorch adds 1e-12 to the squares of both norms.)
    squares = [pointwise.add(b, sum_(b, pointwise.square(b, x), d), 1e-12) for x in (input1, input2)]
    root = OPERATORS["sqrt"].function(b, pointwise.mul(b, *squares))
    similar = pointwise.div(b, sum_(b, pointwise.mul(b, input1, input2), d), root)
    near = pointwise.where(b, pointwise.eq(b, target, 1), pointwise.sub(b, 1, similar), 0.0)
    far = pointwise.where(b, pointwise.eq(b, target, -1), _rectified(b, pointwise.sub(b, similar, margin)), 0.0)
    return reduced(b, pointwise.add(b, near, far), reduction, "cosine_embedding_loss")


@_loss("soft_margin_loss")
def soft_margin_loss(b: Builder, input, target, size_average=None, reduce=None, reduction="mean"):
    # (PyTorch computes in the input's type.)
    target = pointwise.to_dtype(b, target, input.dtype)
    power = OPERATORS["exp"].function(b, pointwise.mul(b, OPERATORS["neg"].function(b, target), input))
    return reduced(b, OPERATORS["log1p"].function(b, power), reduction, "soft_margin_loss")


@_loss("multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(b: Builder, input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(y log sigmoid(x) + (1 - y) log sigmoid(-x)), the mean over classes."""
    yes, no = (OPERATORS["logsigmoid"].function(b, x) for x in (input, OPERATORS["neg"].function(b, input)))
    loss = OPERATORS["neg"].function(b, pointwise.add(b, pointwise.mul(b, target, yes), pointwise.mul(b, pointwise.sub(b, 1, target), no)))
    if weight is not None:
        loss = pointwise.mul(b, loss, weight)
    return reduced(b, mean(b, loss, -1), reduction, "multilabel_soft_margin_loss")


@_loss("multi_margin_loss")
def multi_margin_loss(b: Builder, input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    if p not in (1, 2):
        raise Problem(f"multi_margin_loss: p is 1 or 2, found {p}")
    x, classes = (input, target) if input.rank == 2 else (base.unsqueeze(b, input, 0), base.reshape(b, target, [1]))
    column = base.unsqueeze(b, classes, 1)
    own = gather(b, x, 1, column)
    far = _rectified(b, pointwise.add(b, pointwise.sub(b, x, own), margin))
    far = pointwise.square(b, far) if p == 2 else far
    if weight is not None:
        from .moving import taken

        far = pointwise.mul(b, far, taken(b, weight, [0], [column]))
    others = pointwise.ne(b, counted(b, x.sizes[1], dtypes.int64), column)
    loss = pointwise.div(b, sum_(b, pointwise.where(b, others, far, 0.0), 1), x.sizes[1])
    loss = loss if input.rank == 2 else base.squeeze(b, loss, 0)
    return reduced(b, loss, reduction, "multi_margin_loss")


@_loss("multilabel_margin_loss")
def multilabel_margin_loss(b: Builder, input, target, size_average=None, reduce=None, reduction="mean"):
    """Of each label before the first -1, how far every class that is no label comes within 1 of its own."""
    if input.rank not in (1, 2) or target.rank != input.rank:
        raise Problem(f"multilabel_margin_loss: expects rows of classes and labels, found {input.describe()} and {target.describe()}", "shape")
    x, labels = (base.unsqueeze(b, t, 0) if input.rank == 1 else t for t in (input, target))
    ended = OPERATORS["cumsum"].function(b, pointwise.lt(b, labels, 0), 1)
    counts = pointwise.eq(b, ended, 0)
    places = pointwise.where(b, counts, labels, 0)
    own = gather(b, x, 1, places)
    every = counted(b, x.sizes[1], dtypes.int64)
    hits = OPERATORS["logical_and"].function(b, pointwise.eq(b, base.unsqueeze(b, places, 2), every), base.unsqueeze(b, counts, 2))
    is_label = pointwise.gt(b, sum_(b, hits, 1), 0)
    far = _rectified(b, pointwise.add(b, pointwise.sub(b, base.unsqueeze(b, x, 1), base.unsqueeze(b, own, 2)), 1.0))
    pairs = OPERATORS["logical_and"].function(b, base.unsqueeze(b, counts, 2), base.unsqueeze(b, pointwise.logical_not(b, is_label), 1))
    loss = pointwise.div(b, sum_(b, pointwise.where(b, pairs, far, 0.0), [1, 2]), x.sizes[1])
    loss = loss if input.rank == 2 else base.squeeze(b, loss, 0)
    return reduced(b, loss, reduction, "multilabel_margin_loss")


@_loss("triplet_margin_with_distance_loss")
def triplet_margin_with_distance_loss(b: Builder, anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    if distance_function is not None:
        raise Problem("triplet_margin_with_distance_loss: distance_function must be None: write the loss with your own distance")
    return OPERATORS["triplet_margin_loss"].function(b, anchor, positive, negative, margin, 2.0, 1e-6, swap, reduction=reduction)


@_loss("gaussian_nll_loss")
def gaussian_nll_loss(b: Builder, input, target, var, full=False, eps=1e-6, reduction="mean"):
    spread = tensor_of(b, var)
    if spread.rank == input.rank - 1 and spread.rank:
        spread = base.unsqueeze(b, spread, spread.rank)
    spread = pointwise.clamp(b, spread, eps)
    parts = pointwise.add(b, OPERATORS["log"].function(b, spread), pointwise.div(b, pointwise.square(b, pointwise.sub(b, input, target)), spread))
    loss = pointwise.mul(b, parts, 0.5)
    if full:
        loss = pointwise.add(b, loss, 0.5 * math.log(2 * math.pi))
    return reduced(b, loss, reduction, "gaussian_nll_loss")


@_loss("poisson_nll_loss")
def poisson_nll_loss(b: Builder, input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    if log_input:
        loss = pointwise.sub(b, OPERATORS["exp"].function(b, input), pointwise.mul(b, target, input))
    else:
        loss = pointwise.sub(b, input, pointwise.mul(b, target, OPERATORS["log"].function(b, pointwise.add(b, input, eps))))
    if full:
        # Stirling's formula of log(target!), where the target is above 1.
        logs = OPERATORS["log"].function(b, target)
        stirling = pointwise.sub(b, pointwise.mul(b, target, logs), target)
        stirling = pointwise.add(b, stirling, pointwise.mul(b, OPERATORS["log"].function(b, pointwise.mul(b, target, 2 * math.pi)), 0.5))
        loss = pointwise.add(b, loss, pointwise.where(b, pointwise.gt(b, target, 1), stirling, 0.0))
    return reduced(b, loss, reduction, "poisson_nll_loss")


@_loss("ctc_loss", also=("torch.ctc_loss",))
def ctc_loss(b: Builder, log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """A library step: Graves et al., Connectionist Temporal Classification (2006), section 4.1."""
    if isinstance(reduction, int) and not isinstance(reduction, bool):
        reduction = ("none", "mean", "sum")[reduction]
    alone = log_probs.rank == 2
    logs = base.unsqueeze(b, log_probs, 1) if alone else log_probs
    if logs.rank != 3 or not logs.dtype.is_float or logs.dtype.bits == 16:
        raise Problem(f"ctc_loss: expects logarithms [time, batch, class] of float32 or float64, found {log_probs.describe()}", "shape")
    if not isinstance(blank, int) or not 0 <= blank < known(logs.sizes[2], "ctc_loss"):
        raise Problem(f"ctc_loss: blank is a class from 0 to {logs.sizes[2] - 1}, found {blank}")
    lengths = [n if isinstance(n, Tensor) else OPERATORS["tensor"].function(b, n, dtype=dtypes.int64) for n in (input_lengths, target_lengths)]
    lengths = [base.reshape(b, n, [-1]) for n in lengths]
    wanted = base.unsqueeze(b, targets, 0) if alone and targets.rank == 1 else targets
    (loss,) = call(b, "ctc_loss", [logs, wanted, *lengths], [(logs.dtype, [logs.sizes[1]])], blank=blank)
    if zero_infinity:
        loss = pointwise.where(b, OPERATORS["isinf"].function(b, loss), 0.0, loss)
    if reduction == "mean":
        return mean(b, pointwise.div(b, loss, pointwise.clamp(b, lengths[1], 1)))
    loss = base.squeeze(b, loss, 0) if alone and reduction == "none" else loss
    return reduced(b, loss, reduction, "ctc_loss")
