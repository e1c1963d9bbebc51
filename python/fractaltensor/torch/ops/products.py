# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices and their kin, all by one contraction."""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence

from ..ir import views as base
from ..ir import dtypes
from ..ir.bodies import Body, Scalar, arithmetic_type
from ..ir.builder import Builder
from ..ir.dtypes import DType
from ..ir.views import same
from ..problems import Problem
from ..frontend.values import Num, Tensor
from . import pointwise
from .table import OPERATORS, assign, dim_of, need_tensor, operator, renamed

GROUP = "Products"


def contract(b: Builder, operands: Sequence[Tensor], letters: Sequence[str], result: str, out: Optional[DType] = None) -> Tensor:
    """A product in Einstein's notation; dimensions of size 1 are broadcast. `out`: the result's type, where it is not the operands'."""
    out = out or type_of_product(operands)
    sizes = _extents(b, operands, letters)
    found = [c for c in sizes if base.is_found(sizes[c])]
    if b.checked and len(found) == 1 and found[0] not in result and all(isinstance(n, int) for c, n in sizes.items() if c not in found):
        return pointwise.to_dtype(b, _folded(b, operands, letters, result, sizes, found[0]), out)
    values, maps = _placed(b, operands, letters, result, sizes)
    return sum_of_products(b, operands, values, maps, [sizes[c] for c in result], len(sizes), out)


def _placed(b: Builder, operands, letters, result: str, sizes):
    """Values of operands, and along which loops each one is: the result's first."""
    order = [*result, *(c for c in sizes if c not in result)]
    place = {c: i for i, c in enumerate(order)}
    values, maps = [], []
    for x, own in zip(operands, letters):
        dims = []
        for d in range(x.rank - 1, -1, -1):
            if isinstance(x.sizes[d], int) and x.sizes[d] == 1 and not same(sizes[own[d]], 1):
                x = base.squeeze(b, x, d)
            else:
                dims.append(place[own[d]])
        values.append(b.read(x))
        maps.append(dims[::-1])
    return values, maps


def _folded(b: Builder, operands: Sequence[Tensor], letters: Sequence[str], result: str, sizes, c: str) -> Tensor:
    """A product that sums over a size that is data: a loop adds the product of one place after the other."""
    total = b.constant_tensor(0, arithmetic_type(type_of_product(operands)), [sizes[k] for k in result])
    left = {k: n for k, n in sizes.items() if k != c}

    def step(at: Num) -> None:
        rows, named = [], []
        for x, own in zip(operands, letters):
            d = own.find(c)
            rows.append(x if d < 0 else base.squeeze(b, x, d) if isinstance(x.sizes[d], int) else base.row_at(b, x, d, at))
            named.append(own.replace(c, ""))
        values, maps = _placed(b, rows, named, result, left)
        b.write(total, _products(b, operands, values, maps, b.read(total), len(result), len(left)))

    base.loop(b, 0, sizes[c], step, fold=True)
    return total


def type_of_product(operands: Sequence[Tensor]):
    dtype = operands[0].dtype
    for x in operands[1:]:
        if x.dtype is not dtype:
            raise Problem(f"a product of {dtype} and {x.dtype}: cast one of them", "dtype")
    if dtype.is_bool:
        raise Problem("products are not defined on bool: cast to an integer", "dtype")
    return dtype


def sum_of_products(b: Builder, operands: Sequence[Tensor], values, maps, out_sizes, rank: int, out: Optional[DType] = None) -> Tensor:
    """What operands are along `maps` of so many loops, multiplied; the first loops are the result's, along all others it is a sum."""
    dtype = type_of_product(operands)
    start = b.fill(0, arithmetic_type(dtype), out_sizes)
    return pointwise.to_dtype(b, b.new(_products(b, operands, values, maps, start, len(out_sizes), rank), out_sizes), out or dtype)


def _products(b: Builder, operands: Sequence[Tensor], values, maps, start, kept: int, rank: int):
    """The value to which products are added, with them."""
    compute = arithmetic_type(operands[0].dtype)
    body = Body()
    factors = [body.cast(Scalar(f"%a{i}", operands[0].dtype), compute) for i in range(len(values))]
    product = factors[0]
    for factor in factors[1:]:
        product = body.binary("arith.mulf", "arith.muli", product, factor)
    total = body.binary("arith.addf", "arith.addi", Scalar(f"%o0", compute), product)
    return b.generic(values, maps, [start], [list(range(kept))], rank, list(range(kept, rank)), body, [total])[0]


def _extents(b: Builder, operands, letters):
    sizes = {}
    for x, own in zip(operands, letters):
        if len(own) != x.rank:
            raise Problem(f"a product: {x.describe()} has {x.rank} dimensions, not {len(own)}", "shape")
        for c, n in zip(own, x.sizes):
            old = sizes.get(c)
            if old is None or same(old, 1):
                sizes[c] = n
            elif not same(n, 1) and not same(n, old):
                if isinstance(n, int) and isinstance(old, int):
                    shapes = " and ".join(y.describe() for y in operands)
                    raise Problem(f"a product of {shapes}: sizes {old} and {n} must be equal", "shape")
                b.require_equal(old, n, "a product takes them together")
                sizes[c] = old if isinstance(old, int) else n
    return sizes


_BATCH = "abcdefghij"


@operator("matmul", GROUP)
def matmul(b: Builder, input, other):
    return product(b, input, other)


def product(b: Builder, input, other, out: Optional[DType] = None) -> Tensor:
    """`input @ other`, rounded to `out` where that is given."""
    x, y = need_tensor(input, "matmul"), need_tensor(other, "matmul")
    if x.rank == 0 or y.rank == 0:
        raise Problem("matmul: both operands need at least 1 dimension", "shape")
    rows, columns = ("m" if x.rank > 1 else ""), ("n" if y.rank > 1 else "")
    inner = (x.sizes[-1], y.sizes[-2] if y.rank > 1 else y.sizes[0])
    if all(isinstance(n, int) for n in inner) and inner[0] != inner[1]:
        raise Problem(f"matmul of {x.describe()} and {y.describe()}: sizes {inner[0]} and {inner[1]} must be equal", "shape")
    batch = _BATCH[: max(x.rank, y.rank, 2) - 2]
    left = batch[len(batch) - max(0, x.rank - 2) :] if x.rank > 2 else ""
    right = batch[len(batch) - max(0, y.rank - 2) :] if y.rank > 2 else ""
    return contract(b, [x, y], [left + rows + "k", right + "k" + columns if y.rank > 1 else "k"], batch + rows + columns, out)


def _ranked(name: str, left: int, right: int, second: str):
    def ranked(b: Builder, input, other):
        for x, rank in ((input, left), (other, right)):
            if need_tensor(x, name).rank != rank:
                raise Problem(f"{name}: expects {rank} dimensions, found {x.describe()}", "shape")
        return matmul(b, input, other)

    operator(name, GROUP)(renamed(ranked, other=second))


def _added(name: str, first: str, second: str):
    def with_product(b: Builder, input, first, second, *, beta=1, alpha=1):
        dtype = type_of_product([first, second])
        made = product(b, first, second, arithmetic_type(dtype))
        made = pointwise.mul(b, made, alpha) if alpha != 1 else made
        if not isinstance(beta, (int, float)) or beta != 0:
            made = pointwise.add(b, pointwise.mul(b, pointwise.to_dtype(b, input, made.dtype), beta) if beta != 1 else input, made)
        return pointwise.to_dtype(b, made, dtype)

    operator(name, GROUP, inplace=True)(renamed(with_product, first=first, second=second))


_ranked("mm", 2, 2, "mat2")
_ranked("bmm", 3, 3, "mat2")
_ranked("mv", 2, 1, "vec")
_ranked("dot", 1, 1, "tensor")
_ranked("vdot", 1, 1, "other")
_added("addmm", "mat1", "mat2")
_added("addmv", "mat", "vec")
_added("baddbmm", "batch1", "batch2")


@operator("outer", GROUP, also=("ger",))
def outer(b: Builder, input, vec2):
    for x in (input, vec2):
        if x.rank != 1:
            raise Problem(f"outer: expects tensors of one dimension, found {x.describe()}", "shape")
    return pointwise.mul(b, base.unsqueeze(b, input, 1), vec2)


def biased(b: Builder, make: Callable[[DType], Tensor], dtype: DType, bias: Optional[Tensor]) -> Tensor:
    """A product of a type, made in the one that it is given, with a bias: halves are rounded once, after it."""
    if bias is None:
        return make(dtype)
    return pointwise.to_dtype(b, pointwise.add(b, make(arithmetic_type(dtype)), bias), dtype)


@operator("linear", GROUP, where="")
def linear(b: Builder, input, weight, bias=None):
    if weight.rank != 2:
        raise Problem(f"linear: expects a weight of 2 dimensions, found {weight.describe()}", "shape")
    return biased(b, lambda out: product(b, input, base.permute(b, weight, [1, 0]), out), type_of_product([input, weight]), bias)


def _diagonals(b: Builder, x: Tensor, own: str):
    """An operand that names no dimension twice: of two of one name the diagonal."""
    from .views import diagonal

    for c in dict.fromkeys(own):
        while own.count(c) > 1:
            i, j = own.index(c), own.rindex(c)
            if not same(x.sizes[i], x.sizes[j]):
                raise Problem(f"einsum: two dimensions '{c}' of {x.describe()} must have one size", "shape")
            x, own = diagonal(b, x, 0, i, j), "".join(d for k, d in enumerate(own) if k not in (i, j)) + c
    return x, own


def _spelled_out(equation: str, letters: Sequence[str], result: str, operands: Sequence[Tensor]):
    """Letters for what `...` stands for: the last ones of a common row, as broadcasting aligns them."""
    counts = [x.rank - len(own.replace("...", "")) if "..." in own else 0 for own, x in zip(letters, operands)]
    if min(counts) < 0:
        raise Problem(f"einsum: {equation!r} names more dimensions than its operands have", "shape")
    free = [c for c in map(chr, range(0x3B1, 0x3CA)) if c not in equation][: max(counts)]
    spelled = [own.replace("...", "".join(free[max(counts) - n :])) for own, n in zip(letters, counts)]
    return spelled, result.replace("...", "".join(free))


@operator("bilinear", GROUP, where="f")
def bilinear(b: Builder, input1, input2, weight, bias=None):
    rows = "".join(chr(ord("A") + i) for i in range(input1.rank - 1))
    operands = [input1, weight, input2]
    return biased(b, lambda out: contract(b, operands, [rows + "i", "oij", rows + "j"], rows + "o", out), type_of_product(operands), bias)


@operator("einsum", GROUP, where="f")
def einsum(b: Builder, equation, *operands):
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    text = equation.replace(" ", "")
    left, arrow, result = text.partition("->")
    letters = left.split(",")
    if len(letters) != len(operands):
        raise Problem(f"einsum: {equation!r} names {len(letters)} operands, found {len(operands)}")
    if not arrow:
        result = ("..." if "..." in left else "") + "".join(sorted(c for c in set(left) - set(",.") if left.count(c) == 1))
    letters, result = _spelled_out(equation, letters, result, operands)
    plain = []
    for x, own in zip(operands, letters):
        if len(own) != x.rank:
            raise Problem(f"einsum: {equation!r} names {len(own)} dimensions of {x.describe()}", "shape")
        plain.append(_diagonals(b, x, own))
    if len(set(result)) != len(result) or not set(result) <= set("".join(own for _, own in plain)):
        raise Problem(f"einsum: {equation!r}: the result names a letter twice, or one that no operand has")
    if len(plain) == 1 and sorted(result) != sorted(plain[0][1]):
        # One operand is no product: a sum, whose type is a sum's.
        from .reductions import sum_

        (x, own), = plain
        x, kept = sum_(b, x, [d for d, c in enumerate(own) if c not in result]), [c for c in own if c in result]
        return base.permute(b, x, [kept.index(c) for c in result])
    if len(plain) == 1:
        # Nothing is summed: a view.
        (x, own), = plain
        return base.permute(b, x, [own.index(c) for c in result])
    return contract(b, [x for x, _ in plain], [own for _, own in plain], result)


@operator("tensordot", GROUP, where="f", note="dims is a number or two lists")
def tensordot(builder: Builder, a, b, dims=2):
    if isinstance(dims, int):
        first, second = list(range(a.rank - dims, a.rank)), list(range(dims))
    else:
        first, second = ([dim_of(d, x.rank) for d in own] for own, x in zip(dims, (a, b)))
    names = [chr(ord("A") + i) for i in range(a.rank + b.rank)]
    left, right = names[: a.rank], names[a.rank :]
    for i, j in zip(first, second):
        right[j] = left[i]
    kept = [c for i, c in enumerate(left) if i not in first] + [c for j, c in enumerate(right) if j not in second]
    return contract(builder, [a, b], ["".join(left), "".join(right)], "".join(kept))


def _scores(b: Builder, query: Tensor, key: Tensor, scale, compute: DType) -> Tensor:
    """Products of queries and keys in the type of the arithmetic: 16 bits overflow before the softmax."""
    from .views import transpose

    width = query.sizes[-1]
    if scale is None:
        if isinstance(width, Num):
            raise Problem("scaled_dot_product_attention: scale must be given where the last size is data")
        scale = width**-0.5
    return pointwise.mul(b, product(b, query, transpose(b, key, -2, -1), compute), scale)


def _grouped(b: Builder, query: Tensor, key: Tensor, value: Tensor, mask):
    """Queries by the head of keys and values that they share, a dimension more; what each of the others lacks is broadcast."""
    what = "scaled_dot_product_attention with enable_gqa"
    if min(x.rank for x in (query, key, value)) < 3:
        raise Problem(f"{what}: expects at least 3 dimensions", "shape")
    heads, shared = query.sizes[-3], key.sizes[-3]
    if not isinstance(heads, int) or not isinstance(shared, int) or not same(shared, value.sizes[-3]):
        raise Problem(f"{what}: numbers of heads must be known when the program is compiled, and those of keys and values be equal", "shape")
    if heads % shared:
        raise Problem(f"{what}: {heads} heads of queries cannot be divided among {shared} of keys", "shape")

    def divided(x: Tensor) -> Tensor:
        return base.reshape(b, x, [*x.sizes[:-3], shared, heads // shared, *x.sizes[-2:]])

    if mask is not None and mask.rank > 2:
        mask = divided(mask) if same(mask.sizes[-3], heads) else base.unsqueeze(b, mask, mask.rank - 3)
    return divided(query), base.unsqueeze(b, key, key.rank - 2), base.unsqueeze(b, value, value.rank - 2), mask


#: Keys of a block of attention: as many as fill a step of products of halves and leave the scores of some queries in registers.
_KEYS = 64


def _is_in_blocks(b: Builder, query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether keys are taken in blocks: halves, in whole blocks of them, for as many queries as a block has keys."""
    keys = key.sizes[-2]
    lead = all(x.rank == query.rank and all(n in (1, m) for n, m in zip(x.sizes[:-2], query.sizes[:-2])) for x in (key, value))
    known = all(isinstance(n, int) for x in (query, key, value) for n in x.sizes)
    is_half = query.dtype.is_float and query.dtype.bits == 16
    return b.has_blocks and lead and known and is_half and keys % _KEYS == 0 and keys > _KEYS and query.sizes[-2] >= _KEYS


def _in_blocks(b: Builder, query: Tensor, key: Tensor, value: Tensor, scale, compute: DType) -> Tensor:
    """Attention over blocks of keys (Milakov and Gimelshein 2018, §3; Dao et al. 2022, §3.1). The greatest score so far, the sum of the
    exponentials and the sum of weighed values are states that each block rescales. No row of scores lies in memory."""
    from . import reductions

    rows, wide = list(query.sizes[:-1]), value.sizes[-1]
    exp = OPERATORS["exp"].function
    # (Of -inf the factor would be NaN.)
    most = b.constant_tensor(-dtypes.finfo(compute)[1], compute, [*rows, 1])
    summed, weighed = b.constant_tensor(0, compute, [*rows, 1]), b.constant_tensor(0, compute, [*rows, wide])

    def body(at: Num) -> None:
        d, first = query.rank - 2, b.mul(at, _KEYS)
        own_keys, own_values = base.cut(b, key, d, first, _KEYS, 1), base.cut(b, value, d, first, _KEYS, 1)
        scores = _scores(b, query, own_keys, scale, compute)
        greatest = pointwise.maximum(b, most, reductions.amax(b, scores, -1, True))
        parts = exp(b, pointwise.sub(b, scores, greatest))
        factor = exp(b, pointwise.sub(b, most, greatest))
        new_sum = pointwise.add(b, pointwise.mul(b, summed, factor), reductions.total(b, parts, [parts.rank - 1], True, compute))
        seen = product(b, pointwise.to_dtype(b, parts, query.dtype), own_values, compute)
        new_weighed = pointwise.add(b, pointwise.mul(b, weighed, factor), seen)
        for state, new in ((most, greatest), (summed, new_sum), (weighed, new_weighed)):
            assign(b, state, new, "scaled_dot_product_attention")

    base.loop(b, 0, key.sizes[-2] // _KEYS, body)
    return pointwise.to_dtype(b, pointwise.div(b, weighed, summed), query.dtype)


@operator("scaled_dot_product_attention", GROUP, where="", note="without dropout")
def attention(b: Builder, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    from .creation import tril
    from .reductions import safe_softmax

    if dropout_p:
        raise Problem("scaled_dot_product_attention: dropout draws random numbers: dropout_p must be 0")
    if is_causal and attn_mask is not None:
        raise Problem("scaled_dot_product_attention: attn_mask must be None where is_causal is set")
    own, compute, sizes = query.dtype, arithmetic_type(query.dtype), query.sizes
    if enable_gqa:
        query, key, value, attn_mask = _grouped(b, query, key, value, attn_mask)
    if attn_mask is None and not is_causal and _is_in_blocks(b, query, key, value):
        made = _in_blocks(b, query, key, value, scale, compute)
        return base.reshape(b, made, [*made.sizes[:-4], sizes[-3], *made.sizes[-2:]]) if enable_gqa else made
    scores = _scores(b, query, key, scale, compute)
    if is_causal:
        ones = b.constant_tensor(True, dtypes.bool_, scores.sizes[-2:])
        scores = pointwise.where(b, tril(b, ones), scores, float("-inf"))
    if attn_mask is not None:
        if not attn_mask.dtype.is_bool and attn_mask.dtype is not own:
            raise Problem(f"scaled_dot_product_attention: attn_mask is bool or {own}, found {attn_mask.dtype}", "dtype")
        scores = pointwise.where(b, attn_mask, scores, float("-inf")) if attn_mask.dtype.is_bool else pointwise.add(b, scores, attn_mask)
    shares = OPERATORS["softmax"].function(b, scores, -1) if attn_mask is None else safe_softmax(b, scores, scores.rank - 1)
    made = matmul(b, pointwise.to_dtype(b, shares, own), value)
    return base.reshape(b, made, [*made.sizes[:-4], sizes[-3], *made.sizes[-2:]]) if enable_gqa else made


def trace_dims(x: Tensor) -> List[int]:
    return [x.rank - 2, x.rank - 1]


@operator("trace", GROUP)
def trace(b: Builder, input):
    from .reductions import sum_
    from .views import diagonal

    return sum_(b, diagonal(b, input))


@operator("diag", GROUP)
def diag(b: Builder, input, diagonal=0):
    from .views import diagonal as view

    if input.rank == 2:
        return b.copy(view(b, input, diagonal))
    size = b.add(input.sizes[0], abs(diagonal))
    made = b.constant_tensor(0, input.dtype, [size, size])
    assign(b, view(b, made, diagonal), input, "diag")
    return made
