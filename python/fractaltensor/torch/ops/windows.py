# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and pooling: windows are a view, what is computed on them a contraction or a reduction."""

from __future__ import annotations

import math
from typing import List, Sequence

from ..ir import views as base
from ..ir import dtypes
from ..ir.bodies import arithmetic_type
from ..ir.builder import Builder
from ..ir.dtypes import DType
from ..problems import Problem
from ..frontend.values import Tensor
from . import pointwise
from .creation import counted
from .moving import padded, stack, taken
from .products import biased, contract, sum_of_products, type_of_product
from .reductions import extreme, mean, sum_, total
from .table import OPERATORS, operator
from .views import known, narrow, unfold

GROUP = "Windows"


def each(value, count: int, what: str) -> List[int]:
    """A number for each dimension."""
    found = list(value) if isinstance(value, (tuple, list)) else [value]
    found = found * count if len(found) == 1 else found
    if len(found) != count or not all(isinstance(n, int) for n in found):
        raise Problem(f"{what}: expects {count} numbers that are known when the program is compiled, found {value!r}")
    return found


def _windows(b: Builder, x: Tensor, sizes: Sequence[int], steps: Sequence[int], spread: Sequence[int]) -> Tensor:
    """The last dimensions as places of windows, with the windows' own dimensions after them."""
    first = x.rank - len(sizes)
    for i, (size, step, apart) in enumerate(zip(sizes, steps, spread)):
        x = unfold(b, x, first + i, apart * (size - 1) + 1, step)
        if apart != 1:
            x = base.slice_(b, x, x.rank - 1, None, None, apart)
    return x


def _with_border(b: Builder, x: Tensor, borders: Sequence[int], value) -> Tensor:
    return padded(b, x, [n for border in reversed(borders) for n in (border, border)], "constant", value) if any(borders) else x


def _unbatched(b: Builder, x: Tensor, rank: int, what: str):
    """With a batch, and whether there was none."""
    if x.rank not in (rank + 1, rank + 2):
        raise Problem(f"{what}: expects {rank + 1} or {rank + 2} dimensions, found {x.describe()}", "shape")
    return (x, False) if x.rank == rank + 2 else (base.unsqueeze(b, x, 0), True)


@operator("torch.nn.functional.unfold", GROUP, also=("aten.im2col.default",), note="columns of windows of images")
def columns_of_windows(b: Builder, input, kernel_size, dilation=1, padding=0, stride=1):
    x, alone = _unbatched(b, input, 2, "unfold")
    sizes, spread, borders, steps = (each(n, 2, "unfold") for n in (kernel_size, dilation, padding, stride))
    shown = _windows(b, _with_border(b, x, borders, 0), sizes, steps, spread)
    ordered = b.copy(base.permute(b, shown, [0, 1, 4, 5, 2, 3]))
    rows = b.mul(x.sizes[1], sizes[0] * sizes[1])
    made = base.reshape(b, ordered, [x.sizes[0], rows, b.mul(shown.sizes[2], shown.sizes[3])])
    return base.squeeze(b, made, 0) if alone else made


@operator("torch.nn.functional.fold", GROUP, also=("aten.col2im.default",), note="images of columns: what windows share is added")
def image_of_columns(b: Builder, input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    from .table import assign

    x, alone = (input, False) if input.rank == 3 else (base.unsqueeze(b, input, 0), True)
    wanted, sizes, spread, borders, steps = (each(n, 2, "fold") for n in (output_size, kernel_size, dilation, padding, stride))
    counts = [(n + 2 * border - apart * (k - 1) - 1) // step + 1 for n, k, apart, border, step in zip(wanted, sizes, spread, borders, steps)]
    rows = known(x.sizes[1], "fold")
    if x.rank != 3 or rows % (sizes[0] * sizes[1]) or isinstance(x.sizes[2], int) and x.sizes[2] != counts[0] * counts[1]:
        raise Problem(f"fold: {input.describe()} are no columns of {counts[0]} x {counts[1]} windows of {sizes[0]} x {sizes[1]}", "shape")
    channels = rows // (sizes[0] * sizes[1])
    columns = base.reshape(b, x, [x.sizes[0], channels, *sizes, *counts])
    made = b.constant_tensor(0, x.dtype, [x.sizes[0], channels, *(n + 2 * border for n, border in zip(wanted, borders))])
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            place = made
            for d, (first, count, step) in enumerate(zip((i * spread[0], j * spread[1]), counts, steps)):
                place = base.slice_(b, place, 2 + d, first, first + (count - 1) * step + 1, step)
            own = base.select(b, base.select(b, columns, 2, i), 2, j)
            assign(b, place, pointwise.add(b, place, own), "fold")
    for d, (n, border) in enumerate(zip(wanted, borders)):
        made = narrow(b, made, 2 + d, border, n)
    made = b.copy(made)
    return base.squeeze(b, made, 0) if alone else made


_PLACES, _INSIDE = "uvw", "xyz"


def _product_of_windows(b: Builder, x: Tensor, weight: Tensor, groups: int, sizes, steps, spread, out: DType) -> Tensor:
    """Places and what is inside of windows as loops of one sum of products: nothing is unfolded. Sizes are known."""
    places = []
    for i, (size, step, apart) in enumerate(zip(sizes, steps, spread)):
        places.append((x.sizes[2 + i] - apart * (size - 1) - 1) // step + 1)
        reached = (places[i] - 1) * step + apart * (size - 1) + 1
        x = narrow(b, x, 2 + i, 0, reached) if reached != x.sizes[2 + i] else x
    made = [x.sizes[0], weight.sizes[0], *places]
    if groups != 1:
        x = base.reshape(b, x, [x.sizes[0], groups, weight.sizes[1], *x.sizes[2:]])
        weight = base.reshape(b, weight, [groups, b.floordiv(weight.sizes[0], groups), *weight.sizes[1:]])
    group = [1] if groups != 1 else []
    filters = 1 + len(group)  # its loop; after it those of places, channels and what is inside
    channel = filters + 1 + len(sizes)
    inside = list(range(channel + 1, channel + 1 + len(sizes)))
    seen = [f"d{filters + 1 + i} * {step} + d{k} * {apart}" for i, (k, step, apart) in enumerate(zip(inside, steps, spread))]
    maps = [[0, *group, channel, *seen], [*group, filters, channel, *inside]]
    out_sizes = [x.sizes[0], *weight.sizes[: 1 + len(group)], *places]
    result = sum_of_products(b, [x, weight], [b.read(x), b.read(weight)], maps, out_sizes, channel + 1 + len(sizes), out)
    return base.reshape(b, result, made) if groups != 1 else result


def _product_of_unfolded(b: Builder, x: Tensor, weight: Tensor, groups: int, sizes, steps, spread, out: DType) -> Tensor:
    """The same where the number of places is data: windows are a view of their own."""
    rank = len(sizes)
    shown = _windows(b, x, sizes, steps, spread)
    places = shown.sizes[2 : 2 + rank]
    filters = weight.sizes[0]
    shown = base.reshape(b, shown, [x.sizes[0], groups, weight.sizes[1], *places, *sizes]) if groups != 1 else base.unsqueeze(b, shown, 1)
    weights = base.reshape(b, weight, [groups, b.floordiv(filters, groups), *weight.sizes[1:]])
    u, k = _PLACES[:rank], _INSIDE[:rank]
    made = contract(b, [shown, weights], ["ngc" + u + k, "goc" + k], "ngo" + u, out)
    return base.reshape(b, made, [x.sizes[0], filters, *places])


def _convolution(rank: int):
    name = f"conv{rank}d"

    @operator(name, GROUP, where="f", note="padding is numbers, 'same' or 'valid'")
    def implementation(b: Builder, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        x, alone = _unbatched(b, input, rank, name)
        steps, spread = each(stride, rank, name), each(dilation, rank, name)
        sizes = [known(n, name) for n in weight.sizes[2:]]
        if len(sizes) != rank or isinstance(x.sizes[1], int) and x.sizes[1] != known(weight.sizes[1], name) * groups:
            raise Problem(f"{name}: {input.describe()} does not fit a weight of {weight.describe()} in {groups} groups", "shape")
        if padding == "same":
            outside = [apart * (n - 1) for n, apart in zip(sizes, spread)]
            x = padded(b, x, [m for n in reversed(outside) for m in (n // 2, n - n // 2)], "constant", 0)
        elif padding != "valid":
            x = _with_border(b, x, each(padding, rank, name), 0)
        fits = all(isinstance(n, int) and n > apart * (k - 1) for n, k, apart in zip(x.sizes[2:], sizes, spread))
        windows = _product_of_windows if fits else _product_of_unfolded
        line = None if bias is None else base.reshape(b, bias, [-1] + [1] * rank)
        made = biased(b, lambda out: windows(b, x, weight, groups, sizes, steps, spread, out), type_of_product([x, weight]), line)
        return base.squeeze(b, made, 0) if alone else made


for _rank in (1, 2, 3):
    _convolution(_rank)


def _transposed_convolution(rank: int):
    name = f"conv_transpose{rank}d"

    @operator(name, GROUP, where="f")
    def implementation(b: Builder, input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        """A convolution of the input, spread out by the stride, with the mirrored weights."""
        from .moving import flip
        from .table import assign

        x, alone = _unbatched(b, input, rank, name)
        steps, borders, more, spread = (each(n, rank, name) for n in (stride, padding, output_padding, dilation))
        sizes = [known(n, name) for n in weight.sizes[2:]]
        places = [b.add(b.mul(b.sub(n, 1), step), 1) for n, step in zip(x.sizes[2:], steps)]
        apart = b.constant_tensor(0, x.dtype, [*x.sizes[:2], *places])
        slots = apart
        for d, step in enumerate(steps):
            slots = base.slice_(b, slots, 2 + d, None, None, step)
        assign(b, slots, x, name)
        edges = [(far * (n - 1) - border, far * (n - 1) - border + extra) for n, far, border, extra in zip(sizes, spread, borders, more)]
        apart = padded(b, apart, [n for edge in reversed(edges) for n in edge], "constant", 0)
        own, out = known(weight.sizes[0], name) // groups, weight.sizes[1]
        mirrored = base.reshape(b, flip(b, weight, *range(2, 2 + rank)), [groups, own, out, *sizes])
        mirrored = base.reshape(b, b.copy(OPERATORS["transpose"].function(b, mirrored, 1, 2)), [b.mul(out, groups), own, *sizes])
        made = OPERATORS[f"conv{rank}d"].function(b, apart, mirrored, bias, 1, 0, dilation, groups)
        return base.squeeze(b, made, 0) if alone else made


for _rank in (1, 2, 3):
    _transposed_convolution(_rank)


@operator("channel_shuffle", GROUP, where="f")
def channel_shuffle(b: Builder, input, groups):
    from .views import transpose

    batch, channels, *rest = input.sizes
    parts = base.reshape(b, input, [batch, groups, b.floordiv(channels, groups), *rest])
    return base.reshape(b, b.copy(transpose(b, parts, 1, 2)), input.sizes)


def _pool(rank: int):
    last = list(range(-rank, 0))

    def widths(x, kernel_size, stride, padding, dilation, ceil_mode, name):
        """Sizes, steps and spread of windows, the borders, and how much is missing after them to a last window (ceil_mode)."""
        sizes = each(kernel_size, rank, name)
        steps = sizes if stride is None or stride == [] else each(stride, rank, name)
        borders, spread = each(padding, rank, name), each(dilation, rank, name)
        if any(2 * n > size for n, size in zip(borders, sizes)):
            raise Problem(f"{name}: padding is at most half of the window, found {padding} of {kernel_size}", "shape")
        missing = [0] * rank
        for i in range(rank) if ceil_mode else ():
            n, reach = known(x.sizes[x.rank - rank + i], name), spread[i] * (sizes[i] - 1) + 1
            count = -(-(n + 2 * borders[i] - reach) // steps[i]) + 1
            # The last window begins inside, or in the border in front.
            count -= (count - 1) * steps[i] >= n + borders[i]
            missing[i] = max(0, (count - 1) * steps[i] + reach - (n + 2 * borders[i]))
        return sizes, steps, spread, borders, missing

    def places(b, x, windows, value):
        sizes, steps, spread, borders, missing = windows
        x = _with_border(b, x, borders, value)
        if any(missing):
            x = padded(b, x, [m for n in reversed(missing) for m in (0, n)], "constant", value)
        return _windows(b, x, sizes, steps, spread)

    def counts(b, sizes_of_x, windows, dtype, count_include_pad):
        """How many elements each window has: those of the border count, what is missing after it never does."""
        sizes, steps, spread, borders, missing = windows
        ones = _with_border(b, b.constant_tensor(1, dtype, sizes_of_x), borders, 1 if count_include_pad else 0)
        shown = places(b, ones, (sizes, steps, spread, [0] * rank, missing), 0)
        return total(b, shown, [d % shown.rank for d in last], False, dtype)

    def with_places(b, x, windows, name):
        """The extremes, and where in its image each of them lies: the first of several."""
        own = [known(n, name) for n in x.sizes[-rank:]]
        numbers = base.reshape(b, counted(b, math.prod(own), dtypes.int64), [1, 1, *own])
        shown = places(b, x, windows, dtypes.lowest(x.dtype))
        # Outside there is no place: it comes after all that are inside.
        where = places(b, numbers, windows, math.prod(own))
        inside = b.product([shown.sizes[d] for d in last])
        lines = [base.reshape(b, b.copy(t), [*t.sizes[: t.rank - rank], inside]) for t in (shown, where)]
        best = extreme(b, lines[0], [lines[0].rank - 1], True, True, name)
        isnan = OPERATORS["isnan"].function
        hit = pointwise.eq(b, lines[0], best)
        if x.dtype.is_float:
            hit = OPERATORS["logical_or"].function(b, hit, isnan(b, lines[0]))
        hit = OPERATORS["logical_and"].function(b, hit, pointwise.lt(b, lines[1], math.prod(own)))
        first = extreme(b, pointwise.where(b, hit, lines[1], math.prod(own)), [lines[0].rank - 1], False, False, name)
        return base.squeeze(b, best, best.rank - 1), first

    @operator(f"max_pool{rank}d", GROUP, where="f")
    def most(b: Builder, input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        name = f"max_pool{rank}d"
        x, alone = _unbatched(b, input, rank, name)
        windows = widths(x, kernel_size, stride, padding, dilation, ceil_mode, name)
        if return_indices:
            found = with_places(b, x, windows, name)
            return tuple(base.squeeze(b, t, 0) for t in found) if alone else found
        shown = places(b, x, windows, dtypes.lowest(input.dtype))
        made = extreme(b, shown, [d % shown.rank for d in last], False, True, name)
        return base.squeeze(b, made, 0) if alone else made

    @operator(f"avg_pool{rank}d", GROUP, where="f" if rank == 1 else "")
    def average(b: Builder, input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        name = f"avg_pool{rank}d"
        x, alone = _unbatched(b, input, rank, name)
        windows = widths(x, kernel_size, stride, padding, 1, ceil_mode, name)
        shown = places(b, x, windows, 0)
        dims = [d % shown.rank for d in last]
        summed = total(b, shown, dims, False, arithmetic_type(input.dtype))
        by = divisor_override or b.product([shown.sizes[d] for d in dims])
        if divisor_override is None and (any(windows[4]) or not count_include_pad and any(windows[3])):
            by = counts(b, x.sizes, windows, summed.dtype, count_include_pad)
        made = pointwise.to_dtype(b, pointwise.div(b, summed, by), input.dtype)
        return base.squeeze(b, made, 0) if alone else made

    def adaptive(name, one):
        @operator(name, GROUP, where="")
        def implementation(b: Builder, input, output_size, return_indices=False):
            if return_indices:
                raise Problem(f"{name}: return_indices must be False")
            wanted = list(output_size) if isinstance(output_size, (tuple, list)) else [output_size] * rank
            for i, count in enumerate(wanted):
                d = input.rank - rank + i
                size = known(input.sizes[d], name)
                count = size if count is None else count
                ends = [(k * size // count, -(-(k + 1) * size // count)) for k in range(count)]
                if size % count == 0:
                    sizes = [*input.sizes[:d], count, size // count, *input.sizes[d + 1 :]]
                    input = one(b, base.reshape(b, input, sizes), d + 1)
                else:
                    input = stack(b, [one(b, narrow(b, input, d, low, high - low), d) for low, high in ends], d)
            return input

    adaptive(f"adaptive_avg_pool{rank}d", lambda b, x, d: mean(b, x, d))
    adaptive(f"adaptive_max_pool{rank}d", lambda b, x, d: extreme(b, x, [d], False, True, "adaptive_max_pool"))


for _rank in (1, 2, 3):
    _pool(_rank)


@operator("pixel_shuffle", GROUP, where="f")
def pixel_shuffle(b: Builder, input, upscale_factor):
    r, lead = upscale_factor, input.rank - 3
    channels, height, width = input.sizes[lead:]
    parts = [*input.sizes[:lead], b.floordiv(channels, r * r), r, r, height, width]
    order = [*range(lead), lead, lead + 3, lead + 1, lead + 4, lead + 2]
    moved = b.copy(base.permute(b, base.reshape(b, input, parts), order))
    return base.reshape(b, moved, [*input.sizes[:lead], b.floordiv(channels, r * r), b.mul(height, r), b.mul(width, r)])


@operator("pixel_unshuffle", GROUP, where="f")
def pixel_unshuffle(b: Builder, input, downscale_factor):
    r, lead = downscale_factor, input.rank - 3
    channels, height, width = input.sizes[lead:]
    parts = [*input.sizes[:lead], channels, b.floordiv(height, r), r, b.floordiv(width, r), r]
    order = [*range(lead), lead, lead + 2, lead + 4, lead + 1, lead + 3]
    moved = b.copy(base.permute(b, base.reshape(b, input, parts), order))
    return base.reshape(b, moved, [*input.sizes[:lead], b.mul(channels, r * r), b.floordiv(height, r), b.floordiv(width, r)])


@operator("torch.nn.functional.local_response_norm", "Normalisation")
def local_response_norm(b: Builder, input, size, alpha=1e-4, beta=0.75, k=1.0):
    """By the mean square of channels nearby; after the last one there is nothing."""
    if input.rank < 3:
        raise Problem(f"local_response_norm: expects at least 3 dimensions, found {input.describe()}", "shape")
    squares = pointwise.square(b, input)
    wide = padded(b, squares, [0, 0] * (input.rank - 2) + [size // 2, (size - 1) // 2], "constant", 0)
    near = mean(b, unfold(b, wide, 1, size, 1), -1)
    return pointwise.div(b, input, pointwise.pow_(b, pointwise.add(b, pointwise.mul(b, near, alpha), k), beta))


@operator("instance_norm", "Normalisation", where="", note="with the instance's own statistics")
def instance_norm(b: Builder, input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05):
    from .reductions import _affine, normalized

    if not use_input_stats or running_mean is not None:
        raise Problem("instance_norm: running statistics are not supported")
    line = [-1] + [1] * (input.rank - 2)
    weight, bias = (None if p is None else base.reshape(b, p, line) for p in (weight, bias))
    return _affine(b, normalized(b, input, list(range(2, input.rank)), eps), weight, bias, input.dtype)
