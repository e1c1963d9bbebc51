# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses, as numbers: compiled functions compute forward only."""

from __future__ import annotations

from ..ir import views as base
from ..ir import dtypes
from ..ir.bodies import arithmetic_type
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Tensor
from . import pointwise
from .moving import gather, taken
from .reductions import log_softmax, mean, sum_, total
from .table import OPERATORS, operator, promote

GROUP = "Losses"


def reduced(b: Builder, loss: Tensor, reduction: str, what: str) -> Tensor:
    if reduction == "none":
        return loss
    if reduction in ("mean", "sum"):
        return mean(b, loss) if reduction == "mean" else sum_(b, loss)
    raise Problem(f"{what}: reduction is 'mean', 'sum' or 'none', found {reduction!r}")


def _element_wise(b: Builder, name: str, input, target, function, reduction: str, weight=None, out=None) -> Tensor:
    """`function(body, input, target)` for each element, weighted and reduced."""
    own = promote(input, target)
    loss = b.pointwise(out or own, [input, target], function, arithmetic_type(own))
    return reduced(b, loss if weight is None else pointwise.mul(b, loss, weight), reduction, name)


def _half(body, x):
    return body.op("arith.mulf", x, body.constant(0.5, x.dtype))


def _apart(body, x, y):
    return body.op("math.absf", body.op("arith.subf", x, y))


def _huber(body, x, y, delta):
    far, edge = _apart(body, x, y), body.constant(delta, x.dtype)
    line = body.op("arith.mulf", edge, body.op("arith.subf", far, _half(body, edge)))
    return body.select(body.compare("lt", far, edge), _half(body, body.op("arith.mulf", far, far)), line)


def _smooth(body, x, y, beta):
    far = _apart(body, x, y)
    if beta == 0:
        return far
    edge = body.constant(beta, x.dtype)
    curve = body.op("arith.divf", _half(body, body.op("arith.mulf", far, far)), edge)
    return body.select(body.compare("lt", far, edge), curve, body.op("arith.subf", far, _half(body, edge)))


def _cross(body, x, y):
    """Logarithms are not below -100, as PyTorch's."""
    one, least = body.constant(1, x.dtype), body.constant(-100, x.dtype)
    yes = body.op("arith.maximumf", body.op("math.log", x), least)
    no = body.op("arith.maximumf", body.op("math.log1p", body.op("arith.negf", x)), least)
    return body.op("arith.subf", body.op("arith.mulf", body.op("arith.subf", y, one), no), body.op("arith.mulf", y, yes))


def _squared(body, x, y):
    apart = body.op("arith.subf", x, y)
    return body.op("arith.mulf", apart, apart)


@operator("l1_loss", GROUP, where="")
def l1_loss(b: Builder, input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    return _element_wise(b, "l1_loss", input, target, _apart, reduction, weight)


@operator("mse_loss", GROUP, where="")
def mse_loss(b: Builder, input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    return _element_wise(b, "mse_loss", input, target, _squared, reduction, weight)


@operator("smooth_l1_loss", GROUP, where="")
def smooth_l1_loss(b: Builder, input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    return _element_wise(b, "smooth_l1_loss", input, target, lambda body, x, y: _smooth(body, x, y, beta), reduction)


@operator("huber_loss", GROUP, where="")
def huber_loss(b: Builder, input, target, reduction="mean", delta=1.0, weight=None):
    return _element_wise(b, "huber_loss", input, target, lambda body, x, y: _huber(body, x, y, delta), reduction, weight, input.dtype)


@operator("binary_cross_entropy", GROUP, where="")
def binary_cross_entropy(b: Builder, input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    return _element_wise(b, "binary_cross_entropy", input, target, _cross, reduction, weight)


@operator("binary_cross_entropy_with_logits", GROUP, where="")
def binary_cross_entropy_with_logits(b: Builder, input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    """Of the target's type, as PyTorch adds into what it makes of the target."""
    own = promote(input, target)

    def log_sigmoid(body, x):
        """min(x, 0) - log1p(e^-|x|)."""
        small = body.op("math.log1p", body.op("math.exp", body.op("arith.negf", body.op("math.absf", x))))
        return body.op("arith.subf", body.op("arith.minimumf", x, body.constant(0, x.dtype)), small)

    out = target.dtype if target.dtype.is_float else own

    def emit(body, x, y, w):
        """(1 - target) * input - weight * log(sigmoid(input)), rounded where PyTorch's steps are."""
        def rounded(a, dtype=out):
            return body.cast(body.cast(a, dtype), x.dtype)

        one = body.constant(1, x.dtype)
        no = rounded(body.op("arith.mulf", rounded(body.op("arith.subf", one, y)), x))
        yes = rounded(log_sigmoid(body, x), input.dtype)
        if pos_weight is not None:
            more = rounded(body.op("arith.addf", rounded(body.op("arith.mulf", rounded(body.op("arith.subf", w, one)), y)), one))
            yes = rounded(body.op("arith.mulf", more, yes))
        return body.op("arith.subf", no, yes)

    loss = b.pointwise(out, [input, target, 1.0 if pos_weight is None else pos_weight], emit, arithmetic_type(own))
    return reduced(b, loss if weight is None else pointwise.mul(b, loss, weight), reduction, "binary_cross_entropy_with_logits")


@operator("kl_div", GROUP, where="")
def kl_div(b: Builder, input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    if log_target:
        loss = pointwise.mul(b, OPERATORS["exp"].function(b, target), pointwise.sub(b, target, input))
    else:
        loss = pointwise.sub(b, pointwise.xlogy(b, target, target), pointwise.mul(b, target, input))
    if reduction == "batchmean":
        return pointwise.div(b, sum_(b, loss), loss.sizes[0])
    return reduced(b, loss, reduction, "kl_div")


def _check_target(what: str, input, target, wanted) -> None:
    differ = any(isinstance(n, int) and isinstance(m, int) and n != m for n, m in zip(wanted, target.sizes))
    if len(wanted) != target.rank or differ:
        raise Problem(f"{what}: a target {target.describe()} does not fit {input.describe()}", "shape")


@operator("nll_loss", GROUP, where="")
def nll_loss(b: Builder, input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    d = 0 if input.rank == 1 else 1
    _check_target("nll_loss", input, target, (*input.sizes[:d], *input.sizes[d + 1 :]))
    ignored = pointwise.eq(b, target, ignore_index)
    safe = pointwise.where(b, ignored, 0, target)
    picked = gather(b, input, d, base.unsqueeze(b, safe, d))
    loss = OPERATORS["neg"].function(b, base.squeeze(b, picked, d))
    shares = pointwise.to_dtype(b, pointwise.logical_not(b, ignored), input.dtype)
    if weight is not None:
        shares = pointwise.mul(b, shares, taken(b, weight, [0], [safe]))
    loss = pointwise.where(b, ignored, 0.0, pointwise.mul(b, loss, shares))
    if reduction == "mean":
        return pointwise.div(b, sum_(b, loss), sum_(b, shares))
    return reduced(b, loss, reduction, "nll_loss")


@operator("cross_entropy", GROUP, where="", note="of class numbers or of probabilities")
def cross_entropy(b: Builder, input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    if not 0 <= label_smoothing <= 1:
        raise Problem(f"cross_entropy: label_smoothing is from 0 to 1, found {label_smoothing}")
    d = 0 if input.rank == 1 else 1
    logs = log_softmax(b, input, d)
    if not target.dtype.is_float and label_smoothing == 0:
        return nll_loss(b, logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not target.dtype.is_float:
        return _smoothed(b, logs, target, weight, d, ignore_index, reduction, label_smoothing)
    _check_target("cross_entropy", input, target, input.sizes)
    shares = target
    if label_smoothing:
        even = pointwise.div(b, b.constant_tensor(label_smoothing, logs.dtype), input.sizes[d])
        shares = pointwise.add(b, pointwise.mul(b, target, 1 - label_smoothing), even)
    if weight is not None:
        shares = pointwise.mul(b, shares, _by_class(b, weight, d, input.rank))
    parts = pointwise.mul(b, logs, shares)
    loss = OPERATORS["neg"].function(b, total(b, parts, [d], False, parts.dtype))
    if reduction == "mean" and input.sizes[d] == 0:
        return b.constant_tensor(float("nan"), parts.dtype)
    if reduction == "mean":
        return pointwise.div(b, sum_(b, loss), b.product([n for i, n in enumerate(input.sizes) if i != d]))
    return reduced(b, loss, reduction, "cross_entropy")


def _by_class(b: Builder, weight: Tensor, d: int, rank: int) -> Tensor:
    return base.reshape(b, weight, [-1 if i == d else 1 for i in range(rank)])


def _smoothed(b: Builder, logs: Tensor, target: Tensor, weight, d: int, ignore_index: int, reduction: str, part: float) -> Tensor:
    """A part of the loss is that of all classes alike; ignored elements count in neither."""
    own = nll_loss(b, logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    weighted = logs if weight is None else pointwise.mul(b, logs, _by_class(b, weight, d, logs.rank))
    ignored = pointwise.eq(b, target, ignore_index)
    even = pointwise.where(b, ignored, 0.0, OPERATORS["neg"].function(b, total(b, weighted, [d], False, logs.dtype)))
    if reduction == "mean":
        count = pointwise.to_dtype(b, pointwise.logical_not(b, ignored), logs.dtype)
        if weight is not None:
            count = pointwise.mul(b, count, taken(b, weight, [0], [pointwise.where(b, ignored, 0, target)]))
        even = pointwise.div(b, sum_(b, even), sum_(b, count))
    else:
        even = reduced(b, even, reduction, "cross_entropy")
    share = pointwise.div(b, b.constant_tensor(part, logs.dtype), logs.sizes[d])
    return pointwise.add(b, pointwise.mul(b, own, 1 - part), pointwise.mul(b, even, share))


@operator("triplet_margin_loss", GROUP, where="")
def triplet_margin_loss(b: Builder, anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
    from .composed import pairwise_distance

    near, far = pairwise_distance(b, anchor, positive, p, eps), pairwise_distance(b, anchor, negative, p, eps)
    if swap:
        far = pointwise.minimum(b, far, pairwise_distance(b, positive, negative, p, eps))
    loss = pointwise.clamp(b, pointwise.add(b, pointwise.sub(b, near, far), margin), 0)
    return reduced(b, loss, reduction, "triplet_margin_loss")
