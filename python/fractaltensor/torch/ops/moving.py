# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that put elements elsewhere."""

from __future__ import annotations

import inspect

from ..ir import views as base
from ..ir import dtypes
from ..ir.bodies import Body
from ..ir.builder import NOTHING, Builder
from ..ir.views import same
from ..problems import Problem
from ..frontend.values import Num, Tensor, is_number
from . import pointwise
from .creation import counted
from .places import are_inside
from .table import assign, check_cast, dim_of, dims_of, need_number, need_tensor, operator, promote, sizes_of, tensor_of
from .views import narrow

GROUP = "Joining and moving"


def _joined_type(tensors):
    return promote(*tensors)


def _listed(tensors, what: str):
    if not isinstance(tensors, (tuple, list)):
        raise Problem(f"{what}: expects a list or tuple of tensors, found {'a tensor' if isinstance(tensors, Tensor) else type(tensors).__name__}")
    return [need_tensor(x, what) for x in tensors]


@operator("cat", GROUP, where="f", also=("concat", "concatenate"))
def cat(b: Builder, tensors, dim=0):
    tensors = _listed(tensors, "cat")
    if not tensors:
        raise Problem("cat: expects at least one tensor", "shape")
    dtype = _joined_type(tensors)
    # One dimension of size 0 is left out, whatever the others have.
    tensors = [x for x in tensors if not (x.rank == 1 and x.sizes[0] == 0)] or tensors[:1]
    first = tensors[0]
    d = dim_of(dim, first.rank)
    total = 0
    for x in tensors:
        if x.rank != first.rank:
            raise Problem(f"cat: {first.describe()} and {x.describe()} have different numbers of dimensions", "shape")
        for i, (n, m) in enumerate(zip(first.sizes, x.sizes)):
            if i != d and not same(n, m):
                if isinstance(n, int) and isinstance(m, int):
                    raise Problem(f"cat: {first.describe()} and {x.describe()} differ in dimension {i}", "shape")
                b.require_equal(n, m, "tensors are joined along one dimension, and have the other sizes in common")
        total = b.add(total, x.sizes[d])
    if b.checked and any(base.is_counted(x.sizes[d]) for x in tensors):
        from .steps import call

        # Parts of equal sizes give one size, so that nothing has to look whether these are equal.
        key = ("joined", *sorted((n.value.number, 0) if isinstance(n, Num) else (-1, n) for n in (x.sizes[d] for x in tensors)))
        sizes = [*first.sizes[:d], next((table[key] for table in b.known if key in table), None), *first.sizes[d + 1 :]]
        made = call(b, "cat", [pointwise.to_dtype(b, x, dtype) for x in tensors], [(dtype, sizes)], 1, most=[total], dim=d)[0]
        b.remember(key, lambda: made.sizes[d])
        return made
    made = b.constant_tensor(0, dtype, [*first.sizes[:d], total, *first.sizes[d + 1 :]])
    at = 0
    for x in tensors:
        assign(b, narrow(b, made, d, at, x.sizes[d], within=True), x, "cat", check=False)
        at = b.add(at, x.sizes[d])
    return made


@operator("stack", GROUP, where="f")
def stack(b: Builder, tensors, dim=0):
    tensors = _listed(tensors, "stack")
    if not tensors:
        raise Problem("stack: expects at least one tensor", "shape")
    d = dim_of(dim, tensors[0].rank + 1)
    for x in tensors[1:]:
        if x.rank != tensors[0].rank or any(isinstance(p, int) and isinstance(q, int) and p != q for p, q in zip(x.sizes, tensors[0].sizes)):
            raise Problem(f"stack: {tensors[0].describe()} and {x.describe()} have different sizes", "shape")
    return cat(b, [base.unsqueeze(b, x, d) for x in tensors], d)


def _at_least(b: Builder, x: Tensor, rank: int) -> Tensor:
    while x.rank < rank:
        x = base.unsqueeze(b, x, 0 if x.rank < 2 else x.rank)
    return x


@operator("hstack", GROUP, where="f")
def hstack(b: Builder, tensors):
    tensors = [_at_least(b, x, 1) for x in tensors]
    return cat(b, tensors, 0 if tensors[0].rank == 1 else 1)


@operator("vstack", GROUP, where="f", also=("row_stack",))
def vstack(b: Builder, tensors):
    return cat(b, [_at_least(b, x, 2) for x in tensors], 0)


@operator("dstack", GROUP, where="f")
def dstack(b: Builder, tensors):
    return cat(b, [_at_least(b, x, 3) for x in tensors], 2)


@operator("column_stack", GROUP, where="f")
def column_stack(b: Builder, tensors):
    return cat(b, [base.reshape(b, x, [-1, 1]) if x.rank < 2 else x for x in tensors], 1)


@operator("clone", GROUP)
def clone(b: Builder, input):
    return b.copy(input)


@operator("repeat", GROUP, where="m")
def repeat(b: Builder, self, *repeats):
    repeats = sizes_of(repeats)
    if len(repeats) < self.rank:
        raise Problem(f"repeat: expects at least {self.rank} numbers, found {len(repeats)}", "shape")
    while self.rank < len(repeats):
        self = base.unsqueeze(b, self, 0)
    pairs, wide = [], self
    for d in reversed(range(self.rank)):
        wide = base.unsqueeze(b, wide, d)
    for n, times in zip(self.sizes, repeats):
        pairs += [times, n]
    whole = b.copy(base.expand(b, wide, pairs))
    return base.reshape(b, whole, [b.mul(n, times) for n, times in zip(self.sizes, repeats)])


@operator("tile", GROUP)
def tile(b: Builder, input, *dims):
    dims = sizes_of(dims)
    return repeat(b, input, *([1] * (input.rank - len(dims)) + dims))


@operator("repeat_interleave", GROUP, note="by a number, or by a tensor: then the size is data")
def repeat_interleave(b: Builder, input, repeats, dim=None, *, output_size=None):
    if dim is None:
        input, dim = base.reshape(b, input, [-1]), 0
    d = dim_of(dim, input.rank)
    if isinstance(repeats, Tensor):
        from .steps import call

        wide = base.expand(b, index_tensor(b, repeats), [input.sizes[d]])
        (places,) = call(b, "repeated", [pointwise.to_dtype(b, wide, dtypes.int64)], [(dtypes.int64, [None])], 1)
        return taken(b, input, [d], [places])
    need_number(repeats, "repeat_interleave")
    wide = base.unsqueeze(b, input, d + 1)
    whole = b.copy(base.expand(b, wide, [*input.sizes[: d + 1], repeats, *input.sizes[d + 1 :]]))
    return base.reshape(b, whole, [*input.sizes[:d], b.mul(input.sizes[d], repeats), *input.sizes[d + 1 :]])


# -- by index ------------------------------------------------------------------------------------------------------------


def taken(b: Builder, x: Tensor, dims, indices, said=None) -> Tensor:
    """`tssa.index`: elements of `x` at tensors of indices. Where sizes are counted by steps, it is one, too. `said`: what errors call the dimensions."""
    said = said or dims
    if b.checked and any(base.is_counted(n) for t in (x, *indices) for n in t.sizes):
        return _taken_by_step(b, x, dims, indices, said)
    indices = [checked_index(b, i, x.sizes[d], name) for d, i, name in zip(dims, indices, said)]
    sizes = indexed_sizes(b, x, dims, indices)
    value = b.read(x)
    values = [b.read(index_tensor(b, i)) for i in indices]
    pieces = ["tssa.index ", value, f"[{', '.join(map(str, dims))}] by "]
    for k, v in enumerate(values):
        pieces += [", " if k else "", v]
    type_ = b.type_of(x.dtype, sizes)
    types = ", ".join(v.type.text() for v in values)
    pieces.append(f" : {value.type.text()}, {types} -> {type_.text()}")
    # It fails where an index is out of range, so it stays even if nothing reads it.
    return b.new(b.text(pieces, [type_], pure=False, role="index", said=dict(zip(dims, said))).results[0], sizes)


def _taken_by_step(b: Builder, x: Tensor, dims, indices, said) -> Tensor:
    from .steps import call

    sizes = indexed_sizes(b, x, dims, [index_tensor(b, i) for i in indices])
    operands = [x, *(pointwise.to_dtype(b, i, dtypes.int64) for i in indices)]
    if all(are_inside(b, i, x.sizes[d]) for d, i in zip(dims, indices)):
        return call(b, "pick", operands, [(x.dtype, sizes)], dims=tuple(dims))[0]
    types = [(x.dtype, sizes)] + [(dtypes.int64, [])] * len(dims)
    made, *wrong = call(b, "take", operands, types, dims=tuple(dims))
    for d, name, noted in zip(dims, said, wrong):
        own = "data" if isinstance(x.sizes[d], Num) else str(x.sizes[d])
        b.notice(noted, f"index {{}} is out of range in dimension {name} of size {own}")
    return made


def index_tensor(b: Builder, x: Tensor) -> Tensor:
    if not x.dtype.is_int:
        raise Problem(f"an index must be a tensor of integers or bool, found {x.dtype}", "dtype")
    return x


def checked_index(b: Builder, index: Tensor, size, d: int) -> Tensor:
    """Indices that compiled code can read at: those that are out of range are noted, and become 0."""
    if not b.checked:
        return index

    def outside(body: Body, i, n):
        low = body.compare("lt", i, body.op("arith.subi", body.constant(0, i.dtype), n))
        return body.op("arith.ori", low, body.compare("ge", i, n))

    def note(body: Body, i, n):
        return body.select(outside(body, i, n), i, body.constant(NOTHING, i.dtype))

    def safe(body: Body, i, n):
        return body.select(outside(body, i, n), body.constant(0, i.dtype), i)

    if not are_inside(b, index_tensor(b, index), size):
        own = "data" if isinstance(size, Num) else str(size)
        b.notice(b.pointwise(dtypes.int64, [index, size], note, dtypes.int64), f"index {{}} is out of range in dimension {d} of size {own}")
    return b.pointwise(dtypes.int64, [index, size], safe, dtypes.int64)


def indexed_sizes(b: Builder, x: Tensor, dims, indices):
    common = list(b.broadcast([i.sizes for i in indices]))
    rest = [n for d, n in enumerate(x.sizes) if d not in dims]
    if dims[-1] - dims[0] + 1 != len(dims):
        return [*common, *rest]
    return [*x.sizes[: dims[0]], *common, *x.sizes[dims[-1] + 1 :]]


def put(b: Builder, x: Tensor, dims, indices, value, accumulate: bool, what: str, said=None) -> Tensor:
    """`tssa.index_put` and a write: in the order of the indices, the last wins, or all are added."""
    if x.repeats:
        raise Problem(f"{what}: writes through a tensor of which several elements are one (expand, unfold): clone it first")
    sizes = indexed_sizes(b, x, dims, indices)
    if isinstance(value, Tensor):
        value = pointwise.to_dtype(b, value, x.dtype)
        b.broadcast([sizes, value.sizes])
    else:
        value = b.constant_tensor(value, x.dtype)
    while value.rank > len(sizes):
        value = base.squeeze(b, value, 0)
    old, new, values = b.read(x), b.read(value), [b.read(index_tensor(b, i)) for i in indices]
    if b.checked:
        # Between compiled parts it is a step: the order of the writes counts, and an index may be out of range.
        step = b.step("index_put", [new, old, *values], [old.type], dims=tuple(dims), accumulate=accumulate)
        made = step[0]
        made.op.attributes["said"] = dict(zip(dims, said or dims))
        made.sizes = old.sizes = [n.value if isinstance(n, Num) else n for n in x.sizes]
        b.write(x, made)
        return x
    pieces = ["tssa.index_put ", "accumulate " if accumulate else "", new, " into ", old, f"[{', '.join(map(str, dims))}] by "]
    for k, v in enumerate(values):
        pieces += [", " if k else "", v]
    pieces.append(f" : {new.type.text()} into {old.type.text()}, {', '.join(v.type.text() for v in values)}")
    b.write(x, b.text(pieces, [old.type], pure=False, role="index_put", said=dict(zip(dims, said or dims))).results[0])
    return x


def from_zero(b: Builder, index: Tensor, size) -> Tensor:
    """Indices of an operator that does not count from the end: those below 0 become ones that are out of range."""
    def emit(body: Body, i, n):
        far = body.op("arith.subi", i, body.op("arith.addi", n, body.constant(1, n.dtype)))
        return body.select(body.compare("lt", i, body.constant(0, i.dtype)), far, i)

    return b.pointwise(dtypes.int64, [index_tensor(b, index), size], emit, dtypes.int64)


@operator("index_select", GROUP)
def index_select(b: Builder, input, dim, index):
    d = dim_of(dim, input.rank)
    if index.rank == 0:
        index = base.unsqueeze(b, index, 0)
    if index.rank != 1:
        raise Problem(f"index_select: expects an index of 1 dimension, found {index.describe()}", "shape")
    return taken(b, input, [d], [from_zero(b, index, input.sizes[d])])


@operator("embedding", GROUP, where="", note="F.embedding: (indices, weight); padding_idx changes nothing forward")
def embedding(b: Builder, input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        raise Problem("embedding: max_norm writes into the weights: renormalise them outside")
    return taken(b, weight, [0], [from_zero(b, input, weight.sizes[0])])


@operator("torch.nn.functional.embedding_bag", GROUP)
def embedding_bag(
    b: Builder, input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None,
    include_last_offset=False, padding_idx=None,
):  # fmt: skip
    from .reductions import extreme, mean, sum_

    if (input.rank, offsets is None) not in ((2, True), (1, False)):
        raise Problem(f"embedding_bag: expects indices of 2 dimensions without offsets, or of 1 dimension with them, found {input.describe()}", "shape")
    if padding_idx is not None or mode not in ("sum", "mean", "max") or per_sample_weights is not None and mode != "sum":
        raise Problem("embedding_bag: mode is 'sum', 'mean' or 'max', per_sample_weights go with 'sum', padding_idx must be None")
    rows = embedding(b, input, weight, None, max_norm)
    if per_sample_weights is not None:
        rows = pointwise.mul(b, rows, base.unsqueeze(b, per_sample_weights, input.rank))
    if offsets is not None:
        return _bags(b, rows, offsets, mode, include_last_offset is True)
    return extreme(b, rows, [1], False, True, "embedding_bag") if mode == "max" else (sum_ if mode == "sum" else mean)(b, rows, 1)


def _bags(b: Builder, rows: Tensor, offsets: Tensor, mode: str, has_end: bool) -> Tensor:
    """Sums, means or extremes of the rows from one offset to the next: each row goes to the last bag that begins at it or before."""
    from .steps import call

    ends = offsets if not has_end else narrow(b, offsets, 0, 0, b.sub(offsets.sizes[0], 1))
    count = ends.sizes[0]
    places = counted(b, rows.sizes[0], dtypes.int64)
    own = call(b, "searchsorted", [pointwise.to_dtype(b, ends, dtypes.int64), places], [(dtypes.int64, places.sizes)], right=True)[0]
    bags = b.copy(base.expand(b, base.unsqueeze(b, pointwise.sub(b, own, 1), 1), rows.sizes))
    made = b.constant_tensor(0, rows.dtype, [count, rows.sizes[1]])
    # (As `amax` without what was there; a bag without rows has 0, as PyTorch's.)
    return _scatter_reduce(b, made, 0, bags, rows, {"sum": "sum", "mean": "mean", "max": "amax"}[mode], include_self=False)


def _everywhere(b: Builder, x: Tensor, d: int, index: Tensor, what: str):
    """Indices of all dimensions for gather and scatter: `index` in dimension d, each element's own place in the others."""
    if index.rank != x.rank:
        raise Problem(f"{what}: the index has {index.rank} dimensions, the tensor {x.rank}", "shape")
    result = []
    for i in range(x.rank):
        if i == d:
            result.append(from_zero(b, index, x.sizes[d]))
            continue
        if isinstance(index.sizes[i], int) and isinstance(x.sizes[i], int) and index.sizes[i] > x.sizes[i]:
            raise Problem(f"{what}: index {index.describe()} is larger than {x.describe()} in dimension {i}", "shape")
        line = counted(b, index.sizes[i], dtypes.int64)
        result.append(base.reshape(b, line, [index.sizes[i] if j == i else 1 for j in range(x.rank)]))
    return result


@operator("gather", GROUP)
def gather(b: Builder, input, dim, index):
    if input.rank == 0:
        return b.copy(input)
    d = dim_of(dim, input.rank)
    indices = _everywhere(b, input, d, index, "gather")
    return taken(b, input, list(range(input.rank)), indices)


@operator("take_along_dim", GROUP, note="with dim")
def take_along_dim(b: Builder, input, indices, dim):
    d = dim_of(dim, input.rank)
    sizes = [n if i != d else -1 for i, n in enumerate(b.broadcast([[1 if i == d else n for i, n in enumerate(x.sizes)] for x in (input, indices)]))]
    indices = base.expand(b, indices, sizes)
    input = base.expand(b, input, sizes)
    return gather(b, input, d, indices)


@operator("take", GROUP)
def take(b: Builder, input, index):
    return taken(b, base.reshape(b, input, [-1]), [0], [index])


def copied(name: str, function, note: str = ""):
    """Registers `name_` and `name`: in place, and on a copy."""

    def on_copy(b: Builder, input, *args, **kwargs):
        return function(b, b.copy(input), *args, **kwargs)

    own = inspect.signature(function)
    on_copy.__signature__ = own.replace(parameters=[p.replace(name="input" if p.name == "self" else p.name) for p in own.parameters.values()])
    operator(name + "_", GROUP, where="m", note=note)(function)
    operator(name, GROUP, note=note)(on_copy)


def _scatter(b: Builder, self, dim, index, src=None, *, value=None, reduce=None):
    if reduce not in (None, "add"):
        raise Problem(f"scatter: reduce is None or 'add', found {reduce!r}")
    src = value if src is None else src
    return _scattered(b, self, dim, index, src, reduce == "add", "scatter")


def _scattered(b: Builder, self, dim, index, src, add: bool, what: str):
    d = dim_of(dim, self.rank)
    indices = _everywhere(b, self, d, index, what)
    if isinstance(src, Tensor) and src.rank:
        check_cast(src.dtype, self.dtype, what)
        for i in range(src.rank):
            src = narrow(b, src, i, 0, index.sizes[i])
    return put(b, self, list(range(self.rank)), indices, src, add, what)


copied("scatter", _scatter, "of two writes to one element the last stays")
def _scatter_reduce(b: Builder, self, dim, index, src, reduce, *, include_self=True):
    """A step: what comes to one element is folded in the order of the indices."""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise Problem(f"scatter_reduce: reduce is 'sum', 'prod', 'mean', 'amax' or 'amin', found {reduce!r}")
    if self.repeats:
        raise Problem("scatter_reduce: writes through a tensor of which several elements are one (expand, unfold): clone it first")
    d = dim_of(dim, self.rank)
    if src.dtype is not self.dtype:
        raise Problem(f"scatter_reduce: expects a source of {self.dtype}, found {src.dtype}", "dtype")
    indices = _everywhere(b, self, d, index, "scatter_reduce")
    for i in range(src.rank):
        src = narrow(b, src, i, 0, index.sizes[i])
    from .steps import call

    wide = [b.copy(base.expand(b, i, index.sizes)) for i in indices]
    (made,) = call(b, "scatter_reduce", [src, self, *wide], [(self.dtype, self.sizes)], reduce=reduce, include_self=bool(include_self))
    return assign(b, self, made, "scatter_reduce")


copied("scatter_reduce", _scatter_reduce)
copied("scatter_add", lambda b, self, dim, index, src: _scattered(b, self, dim, index, src, True, "scatter_add"))


def _index_write(what: str, add: bool):
    def implementation(b: Builder, self, dim, index, source, *, alpha=1):
        d = dim_of(dim, self.rank)
        index = from_zero(b, index if index.rank else base.unsqueeze(b, index, 0), self.sizes[d])
        if isinstance(source, Tensor) and alpha != 1:
            source = pointwise.mul(b, source, alpha)
        return put(b, self, [d], [index], source, add, what)

    return implementation


copied("index_add", _index_write("index_add", True))
copied("index_copy", _index_write("index_copy", False))


def _index_fill(b: Builder, self, dim, index, value):
    return _index_write("index_fill", False)(b, self, dim, index, value)


copied("index_fill", _index_fill)


def _index_put(b: Builder, self, indices, values, accumulate=False):
    from .indexing import write

    return write(b, self, tuple(slice(None) if i is None else i for i in indices), values, accumulate=accumulate)


copied("index_put", _index_put, "of two writes to one element the last stays")


# -- mirrors, shifts, borders ------------------------------------------------------------------------------------------


@operator("flip", GROUP)
def flip(b: Builder, input, *dims):
    for d in dims_of(sizes_of(dims) or (), input.rank) if sizes_of(dims) else []:
        size = input.sizes[d]

        def emit(body: Body, i, size=size):
            return body.op("arith.subi", b._element_in(body, b.sub(size, 1), dtypes.int64), i)

        input = taken(b, input, [d], [counted(b, size, dtypes.int64, emit)])
    return b.copy(input)


@operator("fliplr", GROUP)
def fliplr(b: Builder, input):
    return flip(b, input, 1)


@operator("flipud", GROUP)
def flipud(b: Builder, input):
    return flip(b, input, 0)


@operator("roll", GROUP)
def roll(b: Builder, input, shifts, dims=None):
    if dims is None:
        flat = base.reshape(b, input, [-1])
        return base.reshape(b, roll(b, flat, shifts, 0), input.sizes)
    shifts, dims = ((x if isinstance(x, (tuple, list)) else [x]) for x in (shifts, dims))
    made = input
    for shift, dim in zip(shifts, dims):
        d = dim_of(dim, input.rank)
        size = made.sizes[d]
        if isinstance(size, int) and isinstance(shift, int):
            cut = (-shift) % size if size else 0
            parts = [narrow(b, made, d, cut, size - cut), narrow(b, made, d, 0, cut)]
            made = cat(b, parts, d)
            continue
        raise Problem("roll: shifts and sizes must be known when the program is compiled")
    return b.copy(made) if made is input else made


@operator("constant_pad_nd", GROUP, where="f")
def constant_pad_nd(b: Builder, input, pad, value=0):
    return padded(b, input, pad, "constant", value)


def _around(b: Builder, input: Tensor, pad, mode: str) -> Tensor:
    """With elements of its own around it: the place of each is computed."""
    for k in range(len(pad) // 2):
        d = input.rank - 1 - k
        low, high, size = pad[2 * k], pad[2 * k + 1], input.sizes[d]
        most = {"reflect": b.sub(size, 1), "circular": size}.get(mode)
        if isinstance(most, int) and max(low, high) > most:
            raise Problem(f"pad: mode '{mode}' adds at most {most} elements to a dimension of size {size}, found {max(low, high)}", "shape")

        def place(body: Body, i, low=low, size=size):
            n = b._element_in(body, size, dtypes.int64)
            last, zero = body.op("arith.subi", n, body.constant(1, n.dtype)), body.constant(0, n.dtype)
            at = body.op("arith.subi", i, b._element_in(body, low, dtypes.int64))
            if mode == "replicate":
                return body.op("arith.minsi", body.op("arith.maxsi", at, zero), last)
            if mode == "circular":
                at = body.select(body.compare("lt", at, zero), body.op("arith.addi", at, n), at)
                return body.select(body.compare("ge", at, n), body.op("arith.subi", at, n), at)
            at = body.op("math.absi", at)
            return body.op("arith.subi", last, body.op("math.absi", body.op("arith.subi", last, at)))

        input = taken(b, input, [d], [counted(b, b.add(b.add(size, low), high), dtypes.int64, place)])
    return input


@operator("pad", GROUP, where="")
def padded(b: Builder, input, pad, mode="constant", value=0):
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise Problem(f"pad: mode is 'constant', 'reflect', 'replicate' or 'circular', found {mode!r}")
    if mode != "constant":
        return _around(b, input, pad, mode)
    sizes, at = list(input.sizes), [0] * input.rank
    inner = input
    for k in range(len(pad) // 2):
        d = input.rank - 1 - k
        low, high = pad[2 * k], pad[2 * k + 1]
        sizes[d] = b.add(b.add(sizes[d], low), high)
        at[d] = low if not isinstance(low, int) or low > 0 else 0
        if isinstance(low, int) and low < 0:
            inner = narrow(b, inner, d, -low, b.add(inner.sizes[d], low))
        if isinstance(high, int) and high < 0:
            inner = narrow(b, inner, d, 0, b.add(inner.sizes[d], high))
    made = b.constant_tensor(0 if value is None else value, input.dtype, sizes)
    place = made
    for d in range(input.rank):
        if not same(place.sizes[d], inner.sizes[d]) or at[d] != 0:
            place = narrow(b, place, d, at[d], inner.sizes[d])
    assign(b, place, inner, "pad")
    return made


# -- in place --------------------------------------------------------------------------------------------------------------


@operator("copy_", GROUP, where="m")
def copy_(b: Builder, self, src, non_blocking=False):
    return assign(b, self, src, "copy_", check=False)


@operator("fill_", GROUP, where="m")
def fill_(b: Builder, self, value):
    return assign(b, self, value, "fill_", check=False)


@operator("zero_", GROUP, where="m")
def zero_(b: Builder, self):
    return assign(b, self, 0, "zero_")


@operator("fill_diagonal_", GROUP, where="m")
def fill_diagonal_(b: Builder, self, fill_value, wrap=False):
    from .views import diagonal

    assign(b, diagonal(b, self), fill_value, "fill_diagonal_")
    return self


@operator("masked_scatter_", GROUP, where="m")
def masked_scatter_(b: Builder, self, mask, source):
    from .indexing import write

    mask = base.expand(b, tensor_of(b, mask), self.sizes)
    flat = base.reshape(b, source, [-1])
    from .steps import columns

    places = columns(b, mask)
    wanted = narrow(b, flat, 0, 0, places[0].sizes[0])
    write(b, self, tuple(places), wanted)
    return self
