# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Overloads of ATen, and functions of `torch` that are theirs, whose arguments stand in another order than those of the operators they are."""

from __future__ import annotations

import inspect
from typing import Callable

from ..ir import views as base
from ..ir import dtypes
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Tensor
from . import losses, moving, pointwise, products, reductions, resizing, steps, views, windows
from .table import OPERATORS, dtype_of, operator

GROUP = "Overloads of ATen"

#: at::Reduction.
_REDUCTIONS = ("none", "mean", "sum")


def _overload(*paths: str, inplace: bool = False) -> Callable:
    """Registers `f(b, ...)` at overloads of ATen (`relu.default`), at packets of all overloads (`add`), and at functions of `torch`, which are full paths."""
    full = [p if p.startswith("torch.") else f"aten.{p}" for p in paths]
    return operator(full[0], GROUP, inplace=inplace, also=full[1:])


def _reduction(number, what: str) -> str:
    if isinstance(number, bool) or number not in (0, 1, 2):
        raise Problem(f"{what}: reduction is 0 (none), 1 (mean) or 2 (sum), found {number!r}")
    return _REDUCTIONS[number]


@_overload("add.Scalar", "add", inplace=True)
def add(b: Builder, input, other, alpha=1):
    return pointwise.add(b, input, other, alpha=alpha)


@_overload("sub.Scalar", "subtract.Scalar", "sub", "subtract", inplace=True)
def sub(b: Builder, input, other, alpha=1):
    return pointwise.sub(b, input, other, alpha=alpha)


@_overload("rsub.Scalar", "rsub")
def rsub(b: Builder, input, other, alpha=1):
    return pointwise.rsub(b, input, other, alpha=alpha)


@_overload("alias.default", "lift_fresh.default", "detach_.default")
def alias(b: Builder, input):
    return input


@_overload("lift_fresh_copy.default")
def lift_fresh_copy(b: Builder, input):
    return b.copy(input)


@_overload("_to_copy.default")
def to_copy(b: Builder, input, *, dtype=None):
    return pointwise.to_dtype(b, input, dtype_of(dtype, input.dtype), copy=True)


@_overload("to.dtype")
def to(b: Builder, input, dtype, non_blocking=False, copy=False, memory_format=None):
    return pointwise.to_dtype(b, input, dtype_of(dtype, input.dtype), copy is True)


@_overload("to.dtype_layout")
def to_layout(b: Builder, input, *, dtype=None, copy=False):
    return pointwise.to_dtype(b, input, dtype_of(dtype, input.dtype), copy is True)


@_overload("to.device")
def to_device(b: Builder, input, device, dtype, non_blocking=False, copy=False, memory_format=None):
    return OPERATORS["to"].call(b, [input, device], {"dtype": dtype, "copy": copy})


@_overload("to.other")
def to_other(b: Builder, input, other, non_blocking=False, copy=False, memory_format=None):
    return pointwise.to_dtype(b, input, other.dtype, copy is True)


@_overload("slice.Tensor")
def slice_(b: Builder, input, dim=0, start=None, end=None, step=1):
    return base.slice_(b, input, views.dim_of(dim, input.rank), start, end, step)


@_overload("index.Tensor")
def index(b: Builder, input, indices):
    from .indexing import read

    return read(b, input, tuple(slice(None) if i is None else i for i in indices))


@_overload("_softmax.default")
def softmax(b: Builder, input, dim, half_to_float):
    return reductions.softmax(b, input, dim, dtypes.float32 if half_to_float else None)


@_overload("_log_softmax.default")
def log_softmax(b: Builder, input, dim, half_to_float):
    return reductions.log_softmax(b, input, dim, dtypes.float32 if half_to_float else None)


@_overload("embedding.default", "torch.embedding")
def embedding(b: Builder, weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return moving.embedding(b, indices, weight)


@_overload("dropout.default", "torch.dropout")
def dropout(b: Builder, input, p, train):
    return pointwise.dropout(b, input, p, train)


# -- normalisation ------------------------------------------------------------------------------------------------


@_overload("layer_norm.default", "torch.layer_norm")
def layer_norm(b: Builder, input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    return reductions.layer_norm(b, input, normalized_shape, weight, bias, eps)


@_overload("group_norm.default", "torch.group_norm")
def group_norm(b: Builder, input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    return reductions.group_norm(b, input, num_groups, weight, bias, eps)


@_overload("batch_norm.default", "torch.batch_norm")
def batch_norm(b: Builder, input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    return reductions.batch_norm(b, input, running_mean, running_var, weight, bias, training, momentum, eps)


@_overload("_native_batch_norm_legit_no_training.default")
def batch_norm_no_training(b: Builder, input, weight, bias, running_mean, running_var, momentum, eps):
    empty = b.constant_tensor(0, input.dtype, [0])  # the statistics that a training step would keep
    return reductions.batch_norm(b, input, running_mean, running_var, weight, bias, False, momentum, eps), empty, empty


@_overload("instance_norm.default", "torch.instance_norm")
def instance_norm(b: Builder, input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    return windows.instance_norm(b, input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


# -- losses -------------------------------------------------------------------------------------------------------


def _loss(name: str, function: Callable) -> None:
    @_overload(f"{name}.default")
    def implementation(b: Builder, input, target, reduction=1):
        return function(b, input, target, reduction=_reduction(reduction, name))


_loss("mse_loss", losses.mse_loss)
_loss("l1_loss", losses.l1_loss)


@_overload("smooth_l1_loss.default")
def smooth_l1_loss(b: Builder, input, target, reduction=1, beta=1.0):
    return losses.smooth_l1_loss(b, input, target, reduction=_reduction(reduction, "smooth_l1_loss"), beta=beta)


@_overload("huber_loss.default")
def huber_loss(b: Builder, input, target, reduction=1, delta=1.0):
    return losses.huber_loss(b, input, target, reduction=_reduction(reduction, "huber_loss"), delta=delta)


@_overload("binary_cross_entropy.default")
def binary_cross_entropy(b: Builder, input, target, weight=None, reduction=1):
    return losses.binary_cross_entropy(b, input, target, weight, reduction=_reduction(reduction, "binary_cross_entropy"))


@_overload("binary_cross_entropy_with_logits.default")
def binary_cross_entropy_with_logits(b: Builder, input, target, weight=None, pos_weight=None, reduction=1):
    reduction = _reduction(reduction, "binary_cross_entropy_with_logits")
    return losses.binary_cross_entropy_with_logits(b, input, target, weight, reduction=reduction, pos_weight=pos_weight)


@_overload("kl_div.default")
def kl_div(b: Builder, input, target, reduction=1, *, log_target=False):
    return losses.kl_div(b, input, target, reduction=_reduction(reduction, "kl_div"), log_target=log_target)


@_overload("nll_loss.default", "nll_loss_nd.default")
def nll_loss(b: Builder, input, target, weight=None, reduction=1, ignore_index=-100):
    return losses.nll_loss(b, input, target, weight, ignore_index=ignore_index, reduction=_reduction(reduction, "nll_loss"))


@_overload("cross_entropy_loss.default")
def cross_entropy(b: Builder, input, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    reduction = _reduction(reduction, "cross_entropy_loss")
    return losses.cross_entropy(b, input, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)


@_overload("triplet_margin_loss.default")
def triplet_margin_loss(b: Builder, anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=1):
    return losses.triplet_margin_loss(b, anchor, positive, negative, margin, p, eps, swap, reduction=_reduction(reduction, "triplet_margin_loss"))


def _without_reduction(name: str, function: Callable) -> None:
    """The function of `torch`, which reduces nothing unless it is told to."""
    own = inspect.signature(function)

    def implementation(b: Builder, *args, **kwargs):
        return function(b, *args, **{"reduction": 0, **kwargs} if len(args) <= place else kwargs)

    place = [*own.parameters].index("reduction") - 1
    implementation.__signature__ = own.replace(parameters=[p.replace(default=0) if p.name == "reduction" else p for p in own.parameters.values()])
    operator(f"torch.{name}", GROUP)(implementation)


_without_reduction("binary_cross_entropy_with_logits", binary_cross_entropy_with_logits)
_without_reduction("kl_div", kl_div)
_without_reduction("triplet_margin_loss", triplet_margin_loss)


# -- reductions ---------------------------------------------------------------------------------------------------


def _spread(name: str, function: Callable) -> None:
    """Of all elements; the second argument is no dimension."""

    @_overload(f"{name}.default")
    def implementation(b: Builder, input, unbiased=True):
        return function(b, input, None, bool(unbiased))


_spread("std", reductions.std)
_spread("var", reductions.var)


@_overload("unique_consecutive.default")
def unique_consecutive(b: Builder, input, return_inverse=False, return_counts=False, dim=None):
    empty = b.constant_tensor(0, dtypes.int64, [0])
    values, inverse, counts = steps.unique_consecutive(b, input, True, True, dim)
    return values, inverse if return_inverse else empty, counts if return_counts else empty


# -- products and convolutions -------------------------------------------------------------------------------------


@_overload("einsum.default")
def einsum(b: Builder, equation, tensors, *, path=None):
    return products.einsum(b, equation, *tensors)


@_overload("tensordot.default")
def tensordot(b: Builder, input, other, dims_self, dims_other):
    return products.tensordot(b, input, other, (dims_self, dims_other))


@_overload("convolution.default", "torch.convolution")
def convolution(b: Builder, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    rank = weight.rank - 2
    if rank not in (1, 2, 3):
        raise Problem(f"convolution: expects a weight of 3 to 5 dimensions, found {weight.describe()}", "shape")
    if transposed:
        return OPERATORS[f"conv_transpose{rank}d"].function(b, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return OPERATORS[f"conv{rank}d"].function(b, input, weight, bias, stride, padding, dilation, groups)


# -- recurrent layers and sizes ---------------------------------------------------------------------------------------


@_overload("sym_numel.default")
def sym_numel(b: Builder, input: Tensor):
    return b.product(input.sizes)


@_overload("upsample_nearest1d.vec", "upsample_nearest2d.vec", "upsample_nearest3d.vec")
def upsample_nearest(b: Builder, input, output_size, scale_factors):
    return resizing.interpolate(b, input, output_size, scale_factors)


def _upsample(mode: str, name: str) -> None:
    @_overload(f"{name}.vec")
    def implementation(b: Builder, input, output_size, align_corners, scale_factors):
        return resizing.interpolate(b, input, output_size, scale_factors, mode, align_corners)


for _mode, _name in (("linear", "upsample_linear1d"), ("bilinear", "upsample_bilinear2d"), ("trilinear", "upsample_trilinear3d"), ("bicubic", "upsample_bicubic2d")):
    _upsample(_mode, _name)
