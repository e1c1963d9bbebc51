# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that give another name of the same elements."""

from __future__ import annotations

from ..ir import views as base
from ..ir.builder import Builder
from ..ir.views import same
from ..problems import Problem
from ..frontend.values import Mono, Num, Size, Tensor
from .table import dim_of, dims_of, need_tensor, operator, sizes_of

GROUP = "Views"


@operator("select", GROUP)
def select(b: Builder, input, dim, index):
    return base.select(b, input, dim_of(dim, input.rank), index)


@operator("narrow", GROUP)
def narrow(b: Builder, input, dim, start, length, within=False):
    """`within`: the caller knows that the part lies within the dimension."""
    d = dim_of(dim, input.rank)
    size = input.sizes[d]
    if isinstance(start, Tensor):
        start = b.item(start)
    if isinstance(start, int) and isinstance(size, int):
        if not -size <= start <= size:
            raise Problem(f"narrow: start {start} is out of range in a dimension of size {size}", "shape")
        start = start + size if start < 0 else start
        if isinstance(length, int) and not 0 <= length <= size - start:
            raise Problem(f"narrow: start {start} and length {length} exceed the dimension's size {size}", "shape")
    elif isinstance(start, Num) and base.is_data(start) and not b.is_least(0, start):
        start = b.choice(b.compare("lt", start, 0), b.add(start, size), start)
    sizes = (*input.sizes[:d], length, *input.sizes[d + 1 :])
    if isinstance(start, int) and isinstance(length, int) and isinstance(size, int):
        within = True
    within = within or b.is_least(0, start) and b.is_least(0, length) and b.is_least(b.add(start, length), size)
    return b.view(input, "narrow", [d, start, length, 1], sizes, input.strides, input.own, proven=within)


@operator("permute", GROUP)
def permute(b: Builder, input, *dims):
    order = [dim_of(d, input.rank) for d in sizes_of(dims)]
    if sorted(order) != list(range(input.rank)):
        raise Problem(f"permute: {order} is no permutation of {input.rank} dimensions", "shape")
    return base.permute(b, input, order)


@operator("transpose", GROUP, also=("swapdims",))
def transpose(b: Builder, input, dim0, dim1):
    order = list(range(input.rank))
    if not order:
        return input
    i, j = dim_of(dim0, input.rank), dim_of(dim1, input.rank)
    order[i], order[j] = order[j], order[i]
    return base.permute(b, input, order)


@operator("swapaxes", GROUP)
def swapaxes(b: Builder, input, axis0, axis1):
    return transpose(b, input, axis0, axis1)


@operator("t", GROUP)
def t(b: Builder, input):
    if input.rank > 2:
        raise Problem(f"t: expects at most 2 dimensions, found {input.rank}", "shape")
    return input if input.rank < 2 else base.permute(b, input, [1, 0])


@operator("movedim", GROUP, also=("moveaxis",))
def movedim(b: Builder, input, source, destination):
    source = [dim_of(d, input.rank) for d in (source if isinstance(source, (tuple, list)) else [source])]
    destination = [dim_of(d, input.rank) for d in (destination if isinstance(destination, (tuple, list)) else [destination])]
    if len(source) != len(destination):
        raise Problem("movedim: as many destinations as sources are needed", "shape")
    order = [-1] * input.rank
    for s, d in zip(source, destination):
        order[d] = s
    rest = [d for d in range(input.rank) if d not in source]
    return base.permute(b, input, [rest.pop(0) if d < 0 else d for d in order])


@operator("reshape", GROUP, note="a view or a copy where PyTorch's is")
def reshape(b: Builder, input, *shape):
    return base.reshape(b, input, sizes_of(shape))


@operator("view", GROUP, where="m", note="of sizes; not of an element type")
def view(b: Builder, self, *shape):
    return base.reshape(b, self, sizes_of(shape), must_view=True)


@operator("view_as", GROUP, where="m")
def view_as(b: Builder, self, other):
    return base.reshape(b, self, other.sizes, must_view=True)


@operator("reshape_as", GROUP, where="m")
def reshape_as(b: Builder, self, other):
    return base.reshape(b, self, other.sizes)


@operator("flatten", GROUP)
def flatten(b: Builder, input, start_dim=0, end_dim=-1):
    if input.rank == 0:
        return base.reshape(b, input, [1])
    i, j = dim_of(start_dim, input.rank), dim_of(end_dim, input.rank)
    if i > j:
        raise Problem("flatten: start_dim comes after end_dim", "shape")
    return base.reshape(b, input, [*input.sizes[:i], b.product(input.sizes[i : j + 1]), *input.sizes[j + 1 :]])


@operator("ravel", GROUP)
def ravel(b: Builder, input):
    return base.reshape(b, contiguous(b, input), [-1])


@operator("unflatten", GROUP)
def unflatten(b: Builder, input, dim, sizes):
    d = dim_of(dim, input.rank)
    sizes = list(sizes)
    if -1 in [n for n in sizes if isinstance(n, int)]:
        at = sizes.index(-1)
        sizes[at] = b.floordiv(input.sizes[d], b.product([n for i, n in enumerate(sizes) if i != at]))
    return base.reshape(b, input, [*input.sizes[:d], *sizes, *input.sizes[d + 1 :]])


@operator("squeeze", GROUP, note="without dim, sizes that are data stay")
def squeeze(b: Builder, input, dim=None):
    for d in reversed(dims_of(dim, input.rank)):
        if isinstance(input.sizes[d], int) and input.sizes[d] == 1:
            input = base.squeeze(b, input, d)
        elif isinstance(input.sizes[d], Num) and dim is not None:
            raise Problem("squeeze: the size of this dimension is data, so the rank would be", "shape")
    return input


@operator("unsqueeze", GROUP)
def unsqueeze(b: Builder, input, dim):
    return base.unsqueeze(b, input, dim_of(dim, input.rank + 1))


@operator("expand", GROUP, where="m")
def expand(b: Builder, self, *size):
    return base.expand(b, self, sizes_of(size))


@operator("expand_as", GROUP, where="m")
def expand_as(b: Builder, self, other):
    return base.expand(b, self, other.sizes)


@operator("broadcast_to", GROUP)
def broadcast_to(b: Builder, input, *size):
    return base.expand(b, input, sizes_of(size))


@operator("broadcast_tensors", GROUP, where="f")
def broadcast_tensors(b: Builder, *tensors):
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    sizes = b.broadcast([x.sizes for x in tensors])
    return tuple(base.expand(b, x, sizes) for x in tensors)


def known(size, what: str) -> int:
    if not isinstance(size, int):
        raise Problem(f"{what}: the number of parts depends on a size that is data")
    return size


@operator("chunk", GROUP)
def chunk(b: Builder, input, chunks, dim=0):
    d = dim_of(dim, input.rank)
    size = known(input.sizes[d], "chunk")
    if chunks < 1:
        raise Problem("chunk: expects at least 1 chunk", "shape")
    return split(b, input, max(1, -(-size // chunks)), d)


@operator("split", GROUP, where="f")
def split(b: Builder, tensor, split_size_or_sections, dim=0):
    d = dim_of(dim, tensor.rank)
    parts = split_size_or_sections
    if isinstance(parts, int) and not isinstance(parts, bool):
        size = known(tensor.sizes[d], "split")
        if parts < 1:
            raise Problem(f"split: the size of a part must be positive, found {parts}", "shape")
        parts = [min(parts, size - at) for at in range(0, size, parts)] or [0]
    result, at = [], 0
    for part in parts:
        result.append(narrow(b, tensor, d, at, part))
        at = b.add(at, part)
    if isinstance(at, int) and isinstance(tensor.sizes[d], int) and at != tensor.sizes[d]:
        raise Problem(f"split: the parts have {at} together, the dimension {tensor.sizes[d]}", "shape")
    return tuple(result)


@operator("Tensor.split", GROUP)
def _split_method(b: Builder, self, split_size, dim=0):
    return split(b, self, split_size, dim)


@operator("split_with_sizes", GROUP)
def split_with_sizes(b: Builder, input, split_sizes, dim=0):
    if not isinstance(split_sizes, (tuple, list)):
        raise Problem(f"split_with_sizes: expects a list of sizes, found {type(split_sizes).__name__}")
    return split(b, input, split_sizes, dim)


@operator("tensor_split", GROUP)
def tensor_split(b: Builder, input, indices_or_sections, dim=0):
    d = dim_of(dim, input.rank)
    size = known(input.sizes[d], "tensor_split")
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        parts = [size // n + (i < size % n) for i in range(n)]
        return split(b, input, parts, d)
    ends = [0, *(min(i if i >= 0 else i + size, size) for i in indices_or_sections), size]
    return tuple(narrow(b, input, d, i, max(0, j - i)) for i, j in zip(ends, ends[1:]))


@operator("unbind", GROUP)
def unbind(b: Builder, input, dim=0):
    d = dim_of(dim, input.rank)
    return tuple(base.select(b, input, d, i) for i in range(known(input.sizes[d], "unbind")))


@operator("diagonal", GROUP)
def diagonal(b: Builder, input, offset=0, dim1=0, dim2=1):
    i, j = dim_of(dim1, input.rank), dim_of(dim2, input.rank)
    if i == j:
        raise Problem("diagonal: the two dimensions must differ", "shape")
    rows, columns = input.sizes[i], input.sizes[j]
    if offset >= 0:
        count = b.maximum(b.minimum(rows, b.sub(columns, offset)), 0)
    else:
        count = b.maximum(b.minimum(b.add(rows, offset), columns), 0)
    rest = [d for d in range(input.rank) if d not in (i, j)]

    def strides(own):
        step = own[i]
        other = own[j]
        joined = Mono(step.factor + other.factor, step.atoms) if step.atoms == other.atoms else Mono(1, (-id(input),))
        return [*(own[d] for d in rest), joined]

    sizes = [*(input.sizes[d] for d in rest), count]
    return b.view(input, "diagonal", [offset, i, j], sizes, strides(input.strides), strides(input.own))


@operator("unfold", GROUP, where="m")
def unfold(b: Builder, self, dimension, size, step):
    d = dim_of(dimension, self.rank)
    length = self.sizes[d]
    if isinstance(length, int) and size > length:
        raise Problem(f"unfold: windows of {size} in a dimension of size {length}", "shape")
    count = b.add(b.floordiv(b.sub(length, size), step), 1)

    def strides(own):
        return [*own[:d], own[d] * Mono(step), *own[d + 1 :], own[d]]

    sizes = [*self.sizes[:d], count, *self.sizes[d + 1 :], size]
    return b.view(self, "unfold", [d, size, step], sizes, strides(self.strides), strides(self.own), repeats=step < size)


@operator("as_strided", GROUP, note="of tensors that lie densely")
def as_strided(b: Builder, input, size, stride, storage_offset=0):
    if not input.is_contiguous() or input.value.op is not None and input.value.op.attributes.get("role") == "view":
        raise Problem("as_strided of a view counts in its storage, which a compiled program lays out anew: clone it first")
    if not all(isinstance(n, int) for n in (*size, *stride, storage_offset)):
        raise Problem("as_strided: sizes, strides and offset must be known when the program is compiled")
    strides = [Mono(n) for n in stride]
    seen, repeats = 0, False
    for n, s in sorted(zip(size, stride), key=lambda pair: pair[1]):
        if n > 1:
            repeats |= s <= seen
            seen += (n - 1) * s
    return b.view(input, "as_strided", [storage_offset, *size, *stride], list(size), strides, strides, repeats)


@operator("detach", GROUP)
def detach(b: Builder, input):
    return input.again()


@operator("requires_grad_", GROUP, where="m", note="of False")
def requires_grad_(b: Builder, self, requires_grad=True):
    if requires_grad is not False:
        raise Problem("Tensor.requires_grad_ is about gradients: compiled functions compute forward only")
    return self


@operator("contiguous", GROUP, where="m")
def contiguous(b: Builder, self):
    known = self.is_contiguous()
    return self if known else base.copied(b, self, "contiguous", known is None)


for _name in ("cpu", "conj", "real"):
    operator(_name, GROUP, where="m")(lambda b, self: self)


@operator("size", "Sizes", where="m")
def size(b: Builder, self, dim=None):
    return Size(self.sizes) if dim is None else self.sizes[dim_of(dim, self.rank)]


@operator("dim", "Sizes", where="m", also=("ndimension",))
def dim(b: Builder, self):
    return self.rank


@operator("numel", "Sizes", also=("Tensor.nelement",))
def numel(b: Builder, input):
    return b.product(input.sizes)


@operator("item", "Sizes", where="m")
def item(b: Builder, self):
    count = b.product(self.sizes)
    if isinstance(count, int) and count != 1:
        raise Problem(f"item: the tensor has {count} elements, it must have 1", "shape")
    return b.item(self)


@operator("is_floating_point", "Sizes")
def is_floating_point(b: Builder, input):
    return need_tensor(input, "is_floating_point").dtype.is_float


@operator("is_complex", "Sizes")
def is_complex(b: Builder, input):
    return False


@operator("element_size", "Sizes", where="m")
def element_size(b: Builder, self):
    return max(1, self.dtype.bits // 8)


@operator("stride", "Sizes", where="m", note="of tensors whose sizes are known")
def stride(b: Builder, self, dim=None):
    if any(s.atoms for s in self.strides):
        raise Problem("the strides of this tensor are not known when the program is compiled")
    strides = tuple(s.factor for s in self.strides)
    return strides if dim is None else strides[dim_of(dim, self.rank)]


@operator("is_contiguous", "Sizes", where="m")
def is_contiguous(b: Builder, self):
    return known_layout(self)


def known_layout(x) -> bool:
    known = x.is_contiguous()
    if known is None:
        raise Problem("is_contiguous: how this tensor lies in memory in PyTorch is not known when the program is compiled")
    return known


@operator("is_tensor", "Sizes", where="f")
def is_tensor(b: Builder, obj):
    return isinstance(obj, Tensor)


def last_dims_transposed(b: Builder, x: Tensor) -> Tensor:
    if x.rank < 2:
        raise Problem(f".mT: expects at least 2 dimensions, found {x.rank}", "shape")
    return base.permute(b, x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


def same_sizes(x: Tensor, y: Tensor) -> bool:
    return len(x.sizes) == len(y.sizes) and all(same(p, q) for p, q in zip(x.sizes, y.sizes))
