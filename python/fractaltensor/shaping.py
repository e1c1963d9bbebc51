# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes of elements: reshape, transpose, slices, joining; and elements made from nothing."""

from __future__ import annotations

import operator
from typing import List, Optional, Sequence, Tuple

from .elementwise import as_tensor, broadcast_shapes, broadcast_to, full_of, is_number, own_dtype, same_dtype
from .errors import LengthError, ShapeError, TraceError
from .lengths import Length
from .source import here
from .trace import Traced, Undecided, current, decide, wrap_value
from .types import DType, Extent, TensorType, bool_, extent_of, f32, i64


def extents(shape, what: str, lowest: int = 0) -> Tuple[Extent, ...]:
    """A shape in a program: integers, and names of element extents with the values they have now.

    `lowest` is -1 where one extent may be left open.
    """
    if isinstance(shape, (int, str, Length)) and not isinstance(shape, bool):
        shape = (shape,)
    trace = current(what)
    result = []
    for item in shape:
        try:
            length = Length.of(item).substitute(trace.extents)
        except LengthError as error:
            raise error.at(here())
        if length.constant is None and not trace.checking:
            free = [name for name in length.names() if name not in trace.extents]
            where = "a list length, which is no number while tracing; elements have static shapes" \
                if any(name in trace.length_names for name in free) else "no extent of an argument's element"
            raise ShapeError(f"{what}: '{free[0]}' is {where}", here())
        if length.constant is not None and length.constant < lowest:
            raise ShapeError(f"{what}: an extent is not negative, found {length.constant}", here())
        result.append(extent_of(length))
    return tuple(result)


def _product(shape: Sequence[Extent]) -> Length:
    result = Length.of(1)
    for extent in shape:
        result = result * Length.of(extent)
    return result


def normalize_axis(axis, rank: int, what: str) -> int:
    try:
        index = operator.index(axis)
    except TypeError:
        raise ShapeError(f"{what}: an axis is an integer, found {axis!r}", here()) from None
    if not -rank <= index < rank:
        raise ShapeError(f"{what}: axis {index} is out of range for rank {rank}", here())
    return index % rank


# -- reshape -----------------------------------------------------------------------------------------------


def reshape(x, *shape):
    """`x` with the same numbers in row-major order under another shape; one extent may be -1."""
    x = as_tensor(x, "reshape")
    wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    target = list(extents(wanted, "reshape", -1))
    holes = [i for i, e in enumerate(target) if e == -1]
    if len(holes) > 1:
        raise ShapeError(f"reshape: one extent may be -1, found {len(holes)}", here())
    if holes:
        rest = _product(e for i, e in enumerate(target) if i != holes[0])
        total = _product(x.type.shape)
        if rest.constant == 0:
            raise ShapeError(f"reshape of {x.type}: the extent -1 is not determined beside a 0", here())
        missing = total // rest
        if missing * rest != total:
            if total.constant is None or rest.constant is None:
                raise Undecided  # only while a program is checked; the call knows the numbers
            raise ShapeError(f"reshape of {x.type} to ({_list(target)}): {total} numbers do not divide", here())
        target[holes[0]] = extent_of(missing)
    if _product(target) != _product(x.type.shape):
        decide(_product(target), _product(x.type.shape))
        raise ShapeError(
            f"reshape of {x.type} to ({_list(target)}): {_product(x.type.shape)} numbers become {_product(target)}", here()
        )
    return _reshape(x, tuple(target))


def _list(shape) -> str:
    return ", ".join(map(str, shape))


def _reshape(x, target: Tuple[Extent, ...]):
    source = x.type.shape
    if source == target:
        return x
    op = x._value.op
    if op is not None and op.kind == "constant" and op.attributes["payload"][0] == "splat":
        return x._trace.constant(x.type.with_shape(target), op.attributes["payload"])
    if op is not None and op.kind == "reshape":
        inner = wrap_value(x._trace, op.operands[0])
        if inner.type.shape == target or _groups(inner.type.shape, target) is not None:
            return _reshape(inner, target)
    result = x.type.with_shape(target)
    groups = _groups(source, target)
    if groups is not None:
        (value,) = x._trace.emit("reshape", [x], [result], groups=groups)
        return value
    flat = extent_of(_product(source))
    return _reshape(_reshape(x, (flat,)), target)


def _groups(source: Sequence[Extent], target: Sequence[Extent]) -> Optional[List[List[int]]]:
    """Which axes of the longer shape make each of the shorter one, if each is a run of them."""
    longer, shorter = (source, target) if len(source) > len(target) else (target, source)
    if len(longer) == len(shorter):
        return None
    if not shorter:
        return [] if all(e == 1 for e in longer) else None
    groups: List[List[int]] = []
    at = 0
    for index, extent in enumerate(shorter):
        group: List[int] = []
        product = Length.of(1)
        while at < len(longer) and (not group or product != Length.of(extent)):
            group.append(at)
            product = product * Length.of(longer[at])
            at += 1
        if product != Length.of(extent):
            return None
        # Extents of 1 that follow belong to this group where the next would not begin with them.
        rest = len(shorter) - index - 1
        while at < len(longer) and longer[at] == 1 and (
            rest == 0 or (len(longer) - at > rest and shorter[index + 1] != 1)
        ):
            group.append(at)
            at += 1
        groups.append(group)
    return groups if at == len(longer) else None


def expand_dims(x, axis: int):
    """`x` with an extent of 1 put in at `axis`."""
    x = as_tensor(x, "expand_dims")
    at = normalize_axis(axis, x.type.rank + 1, "expand_dims")
    return _reshape(x, (*x.type.shape[:at], 1, *x.type.shape[at:]))


unsqueeze = expand_dims


def squeeze(x, axis=None):
    """`x` without extents of 1: all of them, or those at `axis`."""
    x = as_tensor(x, "squeeze")
    if axis is None:
        drop = {i for i, e in enumerate(x.type.shape) if e == 1}
    else:
        drop = {normalize_axis(a, x.type.rank, "squeeze") for a in (axis if isinstance(axis, (tuple, list)) else (axis,))}
        for a in drop:
            if x.type.shape[a] != 1:
                raise ShapeError(f"squeeze of {x.type}: extent {a} is {x.type.shape[a]}, not 1", here())
    return _reshape(x, tuple(e for i, e in enumerate(x.type.shape) if i not in drop))


def ravel(x):
    """All numbers in one row."""
    x = as_tensor(x, "ravel")
    return _reshape(x, (extent_of(_product(x.type.shape)),))


def transpose(x, *axes):
    """`x` with its axes permuted; without `axes` in reverse order."""
    x = as_tensor(x, "transpose")
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = axes[0]
    rank = x.type.rank
    if not axes:
        permutation = tuple(reversed(range(rank)))
    elif len(axes) == 2 and rank != 2:
        return swapaxes(x, *axes)
    else:
        permutation = tuple(normalize_axis(a, rank, "transpose") for a in axes)
        if sorted(permutation) != list(range(rank)):
            raise ShapeError(f"transpose of {x.type}: axes {tuple(axes)} are no permutation of 0 … {rank - 1}", here())
    if permutation == tuple(range(rank)):
        return x
    op = x._value.op
    if op is not None and op.kind == "transpose":
        inner = wrap_value(x._trace, op.operands[0])
        return transpose(inner, tuple(op.attributes["permutation"][a] for a in permutation)) if rank > 1 else x
    (value,) = x._trace.emit("transpose", [x], [x.type.with_shape([x.type.shape[a] for a in permutation])], permutation=permutation)
    return value


permute = permute_dims = transpose


def swapaxes(x, axis1: int, axis2: int):
    """`x` with two axes exchanged."""
    x = as_tensor(x, "swapaxes")
    order = list(range(x.type.rank))
    a, b = (normalize_axis(axis, x.type.rank, "swapaxes") for axis in (axis1, axis2))
    order[a], order[b] = order[b], order[a]
    return transpose(x, tuple(order))


def expand(x, *shape):
    """`x` broadcast to a shape; -1 keeps an extent."""
    x = as_tensor(x, "broadcast_to")
    wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    target = list(extents(wanted, "broadcast_to", -1))
    offset = len(target) - x.type.rank
    for index, extent in enumerate(target):
        if extent == -1 and index >= offset:
            target[index] = x.type.shape[index - offset]
    if offset < 0 or broadcast_shapes([x.type.shape, tuple(target)], "broadcast_to") != tuple(target):
        raise ShapeError(f"broadcast_to: {x.type} does not broadcast to ({_list(target)})", here())
    return broadcast_to(x, target)


# -- parts --------------------------------------------------------------------------------------------------


def _known(extent: Extent, what: str) -> int:
    if isinstance(extent, int):
        return extent
    return int(extent.for_user())


def index_element(x, key):
    """``x[1]``, ``x[:, 2:4]``, ``x[None]``, ``x[..., 0]``, ``x[i]``: indices and slices of an element.

    An index may be data, an integer of rank 0: see :func:`take`.
    """
    key = key if isinstance(key, tuple) else (key,)
    if any(isinstance(k, Traced) for k in key):
        return _index_by_data(x, key)
    used = sum(k is not None and k is not Ellipsis for k in key)
    if used > x.type.rank:
        raise ShapeError(f"{used} indices for {x.type} of rank {x.type.rank}", here())
    if sum(k is Ellipsis for k in key) > 1:
        raise ShapeError("one '...' is enough", here())
    full = [slice(None)] * (x.type.rank - used)
    if any(k is Ellipsis for k in key):
        at = next(i for i, k in enumerate(key) if k is Ellipsis)
        key = (*key[:at], *full, *key[at + 1 :])
    else:
        key = (*key, *full)
    offsets, sizes, strides, shape = [], [], [], []
    axis = 0
    for k in key:
        if k is None:
            shape.append(1)
            continue
        extent = x.type.shape[axis]
        if isinstance(k, slice):
            if any(isinstance(end, Traced) for end in (k.start, k.stop, k.step)):
                raise ShapeError(
                    f"a slice of an element ({x.type}) has constant ends, for its shape is static: select with ft.where(ft.arange(...) < k, x, 0), "
                    "or keep the parts in a list",
                    here(),
                )
            if k == slice(None):
                offset, size, stride = 0, extent, 1
            else:
                offset, stop, stride = k.indices(_known(extent, "a slice"))
                if stride < 1:
                    raise ShapeError(f"the step of a slice of an element is positive, found {stride}", here())
                size = max(0, -(-(stop - offset) // stride))
            shape.append(size)
        else:
            try:
                offset = operator.index(k)
            except TypeError:
                raise ShapeError(f"an index is an integer, a slice, None or '...', found {k!r}", here()) from None
            known = extent if isinstance(extent, int) else None
            if known is None and not 0 <= offset:
                known = _known(extent, "a negative index")
            if known is not None and not -known <= offset < known:
                raise ShapeError(f"index {offset} is out of range for extent {extent} of {x.type}", here())
            offset, size, stride = (offset % known if known else offset), 1, 1
        offsets.append(offset)
        sizes.append(size)
        strides.append(stride)
        axis += 1
    if any(offsets) or tuple(sizes) != x.type.shape:
        (x,) = x._trace.emit(
            "extract_slice", [x], [x.type.with_shape(sizes)], offsets=tuple(offsets), sizes=tuple(sizes), strides=tuple(strides)
        )
    return _reshape(x, tuple(shape))


def _index_by_data(x, key: tuple):
    """The constant part of an index first, then data along what is left whole for it."""
    whole = index_element(x, tuple(slice(None) if isinstance(k, Traced) else k for k in key))
    # What stands after "..." is counted from the end.
    dots = next((n for n, k in enumerate(key) if k is Ellipsis), len(key))
    axes: List[Tuple[int, Traced]] = []
    axis = 0
    for k in key[:dots]:
        if isinstance(k, Traced):
            axes.append((axis, k))
        axis += k is None or isinstance(k, (slice, Traced))
    axis = whole.type.rank
    for k in reversed(key[dots + 1 :]):
        axis -= k is None or isinstance(k, (slice, Traced))
        if isinstance(k, Traced):
            axes.append((axis, k))
    for axis, index in sorted(axes, key=lambda pair: -pair[0]):
        whole = take(whole, index, axis)
    return whole


def take(x, index, axis: int = 0):
    """``x[..., index, ...]`` along an axis, where the index is data: an integer of rank 0.

    All numbers along the axis are looked at, so it costs the axis' extent; a list is indexed in one step. Out of range is
    an error of the call, as for lists.
    """
    from .elementwise import where
    from .lists import iota
    from .reductions import any_, max_

    x = as_tensor(x, "take")
    at = normalize_axis(axis, x.type.rank, "take")
    if not isinstance(index, Traced):
        return index_element(x, (slice(None),) * at + (index,))
    if not isinstance(index.type, TensorType) or index.type.shape or not index.type.dtype.is_integer:
        raise TraceError(
            f"an element ({x.type}) is indexed by constants, or by an integer of rank 0 that is data; found {index.type}: "
            "join several with ft.stack([x[i], x[j]]), or keep the choices in a list and index that, xs[indices]",
            here(),
        )
    extent = x.type.shape[at]
    if extent == 0:
        raise ShapeError(f"take of {x.type}: there are no numbers along axis {at}", here())
    # The list of all indices, indexed, is the index again, seen to be in range.
    inside = iota(Length.of(extent)).gather(index) if not x._trace.checking else index.to(i64)
    hit = indices(x.type.shape, at) == inside
    dtype = x.type.dtype
    if dtype.is_bool:
        return any_(hit & x, at)
    # A maximum, for it gives each number back, -0 and NaN included.
    lowest = -(1 << (dtype.bits - 1)) if dtype.is_integer else float("-inf")
    return max_(where(hit, x, full_of(x.type.shape, lowest, dtype)), at)


def split(x, sections, axis: int = 0):
    """A tuple of equal parts (`sections` a number) or of parts of given sizes (a list) along an axis."""
    x = as_tensor(x, "split")
    at = normalize_axis(axis, x.type.rank, "split")
    extent = _known(x.type.shape[at], "split")
    if isinstance(sections, (tuple, list)):
        sizes = [operator.index(s) for s in sections]
        if sum(sizes) != extent:
            raise ShapeError(f"split of {x.type}: sizes {sizes} add up to {sum(sizes)}, extent {at} is {extent}", here())
    else:
        count = operator.index(sections)
        if count < 1:
            raise ShapeError(f"split of {x.type}: there is at least 1 part, found {count}", here())
        if extent % count:
            raise ShapeError(
                f"split of {x.type}: extent {at} is {extent}, which {count} does not divide: give the sizes of the parts, as a list", here()
            )
        sizes = [extent // count] * count
    parts, begin = [], 0
    for size in sizes:
        key = (slice(None),) * at + (slice(begin, begin + size),)
        parts.append(index_element(x, key))
        begin += size
    return tuple(parts)


def chunk(x, chunks: int, axis: int = 0):
    """As :func:`split` into a number of parts (PyTorch's name)."""
    return split(x, chunks, axis)


def concatenate_elements(tensors, axis: int = 0):
    """Elements one after another along an axis."""
    tensors = [as_tensor(t, "concatenate") for t in tensors]
    if not tensors:
        raise ShapeError("concatenate needs at least one tensor", here())
    same_dtype(tensors, "concatenate")
    rank = tensors[0].type.rank
    if rank == 0:
        raise ShapeError("concatenate joins along an axis, these have rank 0: use ft.stack", here())
    at = normalize_axis(axis, rank, "concatenate")
    total = Length.of(0)
    for tensor in tensors:
        shape = tensor.type.shape
        if len(shape) != rank or any(i != at and e != tensors[0].type.shape[i] for i, e in enumerate(shape)):
            raise ShapeError(f"concatenate of {tensors[0].type} and {tensor.type}: all extents but that of axis {at} are equal", here())
        total = total + Length.of(shape[at])
    if len(tensors) == 1:
        return tensors[0]
    shape = list(tensors[0].type.shape)
    shape[at] = extent_of(total)
    (value,) = tensors[0]._trace.emit("concat_elements", tensors, [tensors[0].type.with_shape(shape)], axis=at)
    return value


def stack(tensors, axis: int = 0):
    """Elements of one shape along a new axis."""
    tensors = [as_tensor(t, "stack") for t in tensors]
    if not tensors:
        raise ShapeError("stack needs at least one tensor", here())
    for tensor in tensors:
        if tensor.type.shape != tensors[0].type.shape:
            decide(tensor.type, tensors[0].type)
            raise ShapeError(f"stack of {tensors[0].type} and {tensor.type}: the shapes differ", here())
    at = normalize_axis(axis, tensors[0].type.rank + 1, "stack")
    return concatenate_elements([expand_dims(t, at) for t in tensors], at)


def tile(x, reps):
    """`x` repeated along its axes."""
    x = as_tensor(x, "tile")
    reps = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    reps = (1,) * (x.type.rank - len(reps)) + reps
    if len(reps) != x.type.rank or any(operator.index(count) < 1 for count in reps):
        raise ShapeError(f"tile of {x.type}: expected up to {x.type.rank} numbers of at least 1, found {reps}", here())
    for axis, count in enumerate(reps):
        x = concatenate_elements([x] * operator.index(count), axis)
    return x


def roll(x, shift: int, axis: int = -1):
    """`x` turned round along an axis: what leaves at the end comes back at the beginning."""
    x = as_tensor(x, "roll")
    at = normalize_axis(axis, x.type.rank, "roll")
    extent = _known(x.type.shape[at], "roll")
    cut = (-operator.index(shift)) % extent if extent else 0
    if cut == 0:
        return x
    lead = (slice(None),) * at
    return concatenate_elements([index_element(x, (*lead, slice(cut, None))), index_element(x, (*lead, slice(0, cut)))], at)


# -- elements from nothing -------------------------------------------------------------------------------------


def _dtype(dtype, default: DType) -> DType:
    if dtype is None:
        return default
    from .elementwise import _target

    return _target(dtype)


def _flat(shape):
    return shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape


def zeros(*shape, dtype=None):
    """An element full of 0; f32 unless `dtype` says otherwise. Extents are integers or names."""
    return full_of(extents(_flat(shape), "zeros"), 0, _dtype(dtype, f32))


def ones(*shape, dtype=None):
    """An element full of 1; f32 unless `dtype` says otherwise."""
    return full_of(extents(_flat(shape), "ones"), 1, _dtype(dtype, f32))


def full(shape, fill_value, dtype=None):
    """An element full of one number; f32, i64 or bool by the number, or a NumPy scalar's own type, unless `dtype` says otherwise."""
    if isinstance(fill_value, Traced):
        return expand(fill_value if dtype is None else fill_value.to(dtype), shape)
    own = own_dtype(fill_value) if is_number(fill_value) else f32
    return full_of(extents(shape, "full"), fill_value, _dtype(dtype, own))


def zeros_like(x, dtype=None):
    """0 in the shape and element type of `x`."""
    x = as_tensor(x, "zeros_like")
    return full_of(x.type.shape, 0, _dtype(dtype, x.type.dtype))


def ones_like(x, dtype=None):
    """1 in the shape and element type of `x`."""
    x = as_tensor(x, "ones_like")
    return full_of(x.type.shape, 1, _dtype(dtype, x.type.dtype))


def full_like(x, fill_value, dtype=None):
    """One number in the shape and element type of `x`."""
    x = as_tensor(x, "full_like")
    return full_of(x.type.shape, fill_value, _dtype(dtype, x.type.dtype))


def indices(shape, axis: int = 0, dtype=None):
    """An element that holds, at each place, the index of the place along `axis`; i64 unless `dtype`."""
    shape = extents(shape, "indices")
    at = normalize_axis(axis, len(shape), "indices")
    target = _dtype(dtype, i64)
    trace = current("indices")
    (value,) = trace.emit("indices", [], [TensorType(i64, shape)], axis=at)
    return value.to(target)


def arange(*bounds, dtype=None):
    """``arange(stop)`` or ``arange(start, stop, step)``: an element of rank 1; i64 unless `dtype`."""
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if len(bounds) == 1:
        return indices(stop, 0, dtype)
    numbers = range(*(operator.index(extents(b, "arange")[0]) if isinstance(b, str) else operator.index(b) for b in (start, stop, step)))
    result = indices((len(numbers),), 0) * numbers.step + numbers.start
    return result if dtype is None else result.to(dtype)


def eye(n, m=None, dtype=None):
    """1 on the diagonal, else 0."""
    shape = extents((n, n if m is None else m), "eye")
    return (indices(shape, 0) == indices(shape, 1)).to(_dtype(dtype, f32))


def tril(x, diagonal: int = 0):
    """The lower triangle of the last two axes; the rest is 0."""
    x = as_tensor(x, "tril")
    return _triangle(x, lambda r, c: c <= r + diagonal)


def triu(x, diagonal: int = 0):
    """The upper triangle of the last two axes; the rest is 0."""
    x = as_tensor(x, "triu")
    return _triangle(x, lambda r, c: c >= r + diagonal)


def _triangle(x, keep):
    from .elementwise import where

    if x.type.rank < 2:
        raise ShapeError(f"a triangle needs rank 2 or more, found {x.type}", here())
    shape = x.type.shape[-2:]
    return where(keep(indices(shape, 0), indices(shape, 1)), x, zeros_like(x))


def const(array, dtype=None):
    """Data baked into the program: an element that is the same at every call.

    `array` is a number, nested sequences of numbers, or an array of NumPy, PyTorch or JAX. Large data
    belongs in an argument.
    """
    from .arrays import constant_data

    trace = current("const")
    shape, numbers, found = constant_data(array, here())
    target = found if dtype is None else _dtype(dtype, found)
    flat = numbers
    if flat and all(n == flat[0] for n in flat):
        return full_of(shape, flat[0], target)
    if len(flat) > 1 << 20:
        raise TraceError(f"const of {len(flat)} numbers: more than a program should carry; pass it as an argument", here())
    return trace.constant(TensorType(target, shape), ("dense", tuple(flat)))
