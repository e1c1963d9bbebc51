# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that make tensors."""

from __future__ import annotations

from ..ir import dtypes
from ..ir.bodies import Body
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Num, Tensor, is_number, kind_of
from .table import dtype_of, need_number, operator, promote, sizes_of, tensor_of

GROUP = "Creation"


def _number_type(value):
    return {"bool": dtypes.bool_, "int": dtypes.int64, "float": dtypes.float32}[kind_of(value)]


def _filled(name: str, number):
    @operator(name, GROUP, where="f", note="filled with 0" if name == "empty" else "")
    def make(b: Builder, *size, dtype=None, **size_by_name):
        sizes = sizes_of(size) if size else sizes_of([size_by_name["size"]])
        _check_sizes(sizes)
        return b.constant_tensor(number, dtype_of(dtype, dtypes.float32), sizes)

    @operator(name + "_like", GROUP, where="f")
    def like(b: Builder, input, *, dtype=None):
        return b.constant_tensor(number, dtype_of(dtype, input.dtype), input.sizes)

    @operator("new_" + name, GROUP, where="m")
    def new(b: Builder, self, *size, dtype=None, **size_by_name):
        sizes = sizes_of(size) if size else sizes_of([size_by_name["size"]])
        _check_sizes(sizes)
        return b.constant_tensor(number, dtype_of(dtype, self.dtype), sizes)


def _check_sizes(sizes) -> None:
    for n in sizes:
        if isinstance(n, int) and n < 0:
            raise Problem(f"a size must not be negative, found {n}", "shape")


_filled("zeros", 0)
_filled("ones", 1)
_filled("empty", 0)


def _full(b: Builder, sizes, value, dtype):
    if isinstance(value, Tensor):
        from ..ir.views import expand

        return b.copy(expand(b, value, sizes), dtype or value.dtype)
    dtype = dtype or _number_type(value)
    dtypes.check_fits(need_number(value, "full"), dtype, "full")
    return b.constant_tensor(value, dtype, sizes)


@operator("full", GROUP, where="f")
def full(b: Builder, size, fill_value, *, dtype=None):
    return _full(b, sizes_of([size]), fill_value, dtype_of(dtype, None))


@operator("full_like", GROUP, where="f")
def full_like(b: Builder, input, fill_value, *, dtype=None):
    return _full(b, input.sizes, fill_value, dtype_of(dtype, input.dtype))


@operator("new_full", GROUP, where="m")
def new_full(b: Builder, self, size, fill_value, *, dtype=None):
    return _full(b, sizes_of([size]), fill_value, dtype_of(dtype, self.dtype))


def counted(b: Builder, size, dtype, function=None) -> Tensor:
    """A tensor of one dimension: `function(body, i)`, by default i."""
    return b.pointwise(dtype, [], lambda body: (function or (lambda _, i: i))(body, body.index(0, dtypes.int64)), sizes=[size])


@operator("arange", GROUP, where="f")
def arange(b: Builder, start, end=None, step=1, *, dtype=None):
    if end is None:
        start, end = 0, start
    numbers = [b.item(n) if isinstance(n, Tensor) else need_number(n, "arange") for n in (start, end, step)]
    start, end, step = numbers
    if is_number(step) and step == 0:
        raise Problem("arange: the step must not be 0")
    if all(map(is_number, numbers)) and (end - start) * step < 0:
        raise Problem(f"arange: from {start} one does not come to {end} by steps of {step}", "shape")
    kinds = {kind_of(n) for n in numbers}
    own = dtype_of(dtype, dtypes.float32 if "float" in kinds else dtypes.int64)
    if "float" in kinds:
        if not all(is_number(n) for n in numbers):
            raise Problem("arange: float ends and steps must be known when the program is compiled")
        import math

        size = max(0, math.ceil((end - start) / step))
    elif not is_number(step):
        raise Problem("arange: the step must be known when the program is compiled")
    else:
        span = b.sub(end, start) if step > 0 else b.sub(start, end)
        size = b.maximum(b.ceildiv(span, abs(step)), 0)
    compute = dtypes.float64 if "float" in kinds else dtypes.int64

    def emit(body: Body, i):
        i = body.cast(i, compute)
        if not (is_number(step) and step == 1):
            i = body.binary("arith.mulf", "arith.muli", i, b._element_in(body, step, compute))
        if not (is_number(start) and start == 0):
            i = body.binary("arith.addf", "arith.addi", i, b._element_in(body, start, compute))
        return i

    return counted(b, size, own, emit)


@operator("linspace", GROUP, where="f")
def linspace(b: Builder, start, end, steps, *, dtype=None):
    own = dtype_of(dtype, dtypes.float32)
    if not all(is_number(n) for n in (start, end, steps)):
        raise Problem("linspace: its arguments must be known when the program is compiled")
    if steps == 1:
        return b.constant_tensor(start, own, [1])
    compute = own if own.is_float and own.bits > 16 else dtypes.float32
    width = (end - start) / max(1, steps - 1)

    def emit(body: Body, i):
        """From both ends, as PyTorch's: the first half from the start, the other from the end."""
        x, step = body.cast(i, compute), body.constant(width, compute)
        first = body.op("arith.addf", body.constant(start, compute), body.op("arith.mulf", step, x))
        left = body.op("arith.subf", body.constant(steps - 1, compute), x)
        last = body.op("arith.subf", body.constant(end, compute), body.op("arith.mulf", step, left))
        return body.select(body.compare("lt", i, body.constant(steps // 2, dtypes.int64)), first, last)

    return counted(b, steps, own, emit)


@operator("eye", GROUP, where="f")
def eye(b: Builder, n, m=None, *, dtype=None):
    own = dtype_of(dtype, dtypes.float32)
    sizes = [n, n if m is None else m]
    return b.pointwise(own, [], lambda body: body.compare("eq", body.index(0, dtypes.int64), body.index(1, dtypes.int64)), sizes=sizes)


def _leaves(data, shape, depth=0):
    if isinstance(data, (tuple, list)):
        if len(shape) == depth:
            shape.append(len(data))
        elif shape[depth] != len(data):
            raise Problem(f"tensor: rows of {shape[depth]} and of {len(data)} elements", "shape")
        for item in data:
            yield from _leaves(item, shape, depth + 1)
        return
    if len(shape) != depth:
        raise Problem("tensor: rows and numbers in one list", "shape")
    yield data


@operator("as_tensor", GROUP, where="f", also=("asarray",), note="of a tensor: the tensor itself, where it has the type")
def as_tensor(b: Builder, data, dtype=None):
    if isinstance(data, Tensor) and dtype_of(dtype, data.dtype) is data.dtype:
        return data
    return tensor(b, data, dtype)


@operator("scalar_tensor", GROUP, where="f")
def scalar_tensor(b: Builder, s, *, dtype=None):
    return b.copy(tensor_of(b, s), dtype_of(dtype, dtypes.float32))


@operator("tensor", GROUP, where="f")
def tensor(b: Builder, data, dtype=None):
    if isinstance(data, Tensor):
        return b.copy(data, dtype_of(dtype, data.dtype))
    shape: list = []
    items = list(_leaves(data, shape))
    if not items:
        return b.constant_tensor(0, dtype_of(dtype, dtypes.float32), shape or [0])
    items = [b.item(x) if isinstance(x, Tensor) else need_number(x, "tensor") for x in items]
    kinds = {kind_of(x) for x in items}
    own = dtype_of(dtype, dtypes.float32 if "float" in kinds else dtypes.int64 if "int" in kinds else dtypes.bool_)
    for x in items if own.is_int else ():
        dtypes.check_fits(x, own, "tensor")
    if not shape:
        return b.constant_tensor(items[0], own)
    if all(is_number(x) for x in items):
        return b.new(dense(b, items, own, shape), shape)
    made = b.constant_tensor(0, own, [len(items)])
    from ..ir.views import reshape, select
    from .table import assign

    for i, item in enumerate(items):
        assign(b, select(b, made, 0, i), item, "tensor", check=False)
    return reshape(b, made, shape)


def dense(b: Builder, items, dtype, shape):
    """A constant."""
    from ..ir.operations import Type

    texts = [dtypes.literal(x, dtype).split(" ")[0] for x in items]
    for n in reversed(shape):
        texts = ["[" + ", ".join(texts[i : i + n]) + "]" for i in range(0, len(texts), n)] if n else ["[]"]
    type_ = Type("tensor", dtype, shape)
    body = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    return b.text([f"arith.constant dense<{body}> : {type_.text()}"], [type_]).results[0]


@operator("new_tensor", GROUP, where="m")
def new_tensor(b: Builder, self, data, dtype=None):
    return tensor(b, data, dtype_of(dtype, self.dtype))


@operator("meshgrid", GROUP, where="f")
def meshgrid(b: Builder, *tensors, indexing="ij"):
    from ..ir.views import expand, permute, reshape

    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    tensors = [tensor_of(b, x) for x in tensors]
    sizes = [x.sizes[0] if x.rank else 1 for x in tensors]
    swap = indexing == "xy" and len(tensors) > 1
    result = []
    for i, x in enumerate(tensors):
        line = reshape(b, x, [sizes[j] if j == i else 1 for j in range(len(sizes))])
        grid = expand(b, line, sizes)
        result.append(permute(b, grid, [1, 0, *range(2, len(sizes))]) if swap else grid)
    return tuple(result)


def _triangle(name: str, keep: str):
    @operator(name, GROUP, inplace=True)
    def implementation(b: Builder, input, diagonal=0):
        if input.rank < 2:
            raise Problem(f"{name}: expects at least 2 dimensions, found {input.rank}", "shape")

        def emit(body: Body, x):
            row, column = (body.index(input.rank - 2 + i, dtypes.int64) for i in (0, 1))
            far = body.op("arith.subi", column, row)
            inside = body.compare(keep, far, body.constant(diagonal, dtypes.int64))
            return body.select(inside, x, body.constant(0, x.dtype))

        return b.pointwise(input.dtype, [input], emit)

    return implementation


tril = _triangle("tril", "le")
triu = _triangle("triu", "ge")


@operator("one_hot", GROUP, where="", note="num_classes must be given")
def one_hot(b: Builder, input, num_classes=-1):
    if input.dtype is not dtypes.int64:
        raise Problem(f"one_hot: expects classes of type int64, found {input.dtype}", "dtype")
    if not isinstance(num_classes, int) or num_classes < 1:
        raise Problem("one_hot: num_classes must be given: by the data alone the result's size would be data")
    from ..ir.views import unsqueeze

    rank = input.rank
    return b.pointwise(
        dtypes.int64, [unsqueeze(b, input, rank)],
        lambda body, x: body.compare("eq", x, body.index(rank, dtypes.int64)), dtypes.int64, sizes=[*input.sizes, num_classes],
    )


@operator("result_type", GROUP, where="f")
def result_type(b: Builder, tensor, other):
    return promote(tensor, other)


def is_size(x) -> bool:
    return isinstance(x, Num) or is_number(x)
