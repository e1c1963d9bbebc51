# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of complex numbers, which are two tensors here: each is made of operators of these."""

from __future__ import annotations

from typing import Callable, Dict, Optional, Sequence

from ..ir import dtypes
from ..ir import views as base
from ..ir.builder import Builder
from ..ir.operations import views_of
from ..plan.copies import Copy
from ..problems import Problem
from ..frontend.values import Complex, Mono, Num, Tensor, is_number
from . import pointwise
from .layouts import wide
from .moving import stack
from .table import OPERATORS, assign, operator, promote
from .views import known_layout

GROUP = "Complex numbers"

#: Operators that move elements, or are linear with real factors: what they do to both parts is what they do to the whole.
_OF_PARTS = frozenset("""
        as_strided broadcast_tensors broadcast_to cat chunk clone concat concatenate cumsum detach diag diag_embed diagonal diff dstack expand expand_as flatten flip fliplr
        flipud gather hstack index_select mean moveaxis movedim narrow neg negative pad permute positive repeat repeat_interleave reshape reshape_as roll rot90 select split
        split_with_sizes squeeze stack sum swapaxes swapdims t take_along_dim tensor_split tile trace transpose tril triu unbind unflatten unfold unsqueeze view view_as vstack where
        zeros_like empty_like new_zeros column_stack torch.fft.fftshift torch.fft.ifftshift""".split())  # fmt: skip
#: Operators that are linear in each of two operands.
_BILINEAR = frozenset("bmm dot einsum inner kron matmul mm mul multiply mv outer tensordot".split())
#: What the real part alone answers.
_OF_SHAPE = frozenset("dim ndimension nelement numel size stride".split())
_ONE: Dict[str, Callable] = {}


def has_complex(values) -> bool:
    return any(isinstance(x, (Complex, complex)) or isinstance(x, (tuple, list)) and has_complex(x) for x in values)


def parts_of(b: Builder, x):
    """The real and the imaginary part of a value; of a real one the latter is 0."""
    if isinstance(x, Complex):
        return x.real, x.imag
    if isinstance(x, complex):
        return x.real, x.imag
    if isinstance(x, Tensor):
        return x, b.constant_tensor(0, x.dtype if x.dtype.is_float else dtypes.float32, x.sizes)
    if isinstance(x, Num) or is_number(x):
        return x, 0.0
    raise Problem(f"expects complex or real numbers, found {type(x).__name__}")


def _tensor(b: Builder, x, like: Tensor) -> Tensor:
    return x if isinstance(x, Tensor) else b.constant_tensor(x, like.dtype)


def made(b: Builder, real, imag) -> Complex:
    """Of two parts, of which one may be a number, in one size and type."""
    like = real if isinstance(real, Tensor) else imag
    real, imag = _tensor(b, real, like), _tensor(b, imag, like)
    sizes, own = b.broadcast([real.sizes, imag.sizes]), promote(real, imag)
    whole = [b.copy(base.expand(b, x, sizes)) if x.rank != len(sizes) or any(not base.same(n, m) for n, m in zip(x.sizes, sizes)) else x for x in (real, imag)]
    return Complex(*(pointwise.to_dtype(b, x, own) for x in whole))


def call(b: Builder, name: str, function: Callable, args: Sequence, kwargs: Dict):
    """What operator `name` gives where an operand is complex; `function` is the operator on real tensors."""
    last = name.rpartition(".")[2] if not name.startswith("torch.fft") else name
    if name.startswith("aten."):
        last = name.split(".")[1]
    if name in _ONE or last in _ONE:
        return _ONE.get(name, _ONE.get(last))(b, *args, **kwargs)
    if last in _OF_SHAPE:
        return function(args[0].real, *args[1:], **kwargs)
    if last in _OF_PARTS:
        both = [function(*_part(b, args, k, last == "where"), **dict(zip(kwargs, _part(b, list(kwargs.values()), k)))) for k in (0, 1)]
        return _joined(*both)
    if last in _BILINEAR:
        return _bilinear(b, function, last, args, kwargs)
    raise Problem(f"{last} of complex numbers is not supported: compute it from .real and .imag, or from abs() and angle()")


def _part(b: Builder, values, k: int, first_stays: bool = False):
    """Operands with one of their parts in the place of each complex number. Beside these a real operand that is joined has the imaginary part 0."""
    joins = first_stays or any(isinstance(x, (tuple, list)) and has_complex(x) for x in values)

    def one(x, at: int):
        if isinstance(x, (Complex, complex)):
            return parts_of(b, x)[k]
        if isinstance(x, (tuple, list)) and has_complex(x):
            return type(x)([parts_of(b, e)[k] for e in x]) if isinstance(x, tuple) else [parts_of(b, e)[k] for e in x]
        if first_stays and at and joins:
            return parts_of(b, x)[k]
        return x

    return [one(x, at) for at, x in enumerate(values)]


def _joined(real, imag):
    if isinstance(real, Tensor):
        return Complex(real, imag)
    if isinstance(real, (tuple, list)):
        return type(real)([_joined(x, y) for x, y in zip(real, imag)]) if isinstance(real, tuple) else [_joined(x, y) for x, y in zip(real, imag)]
    return real


def _bilinear(b: Builder, function: Callable, name: str, args: Sequence, kwargs: Dict):
    """(a + bi)(c + di) = ac - bd + (ad + bc)i, also of products of matrices."""
    args = list(args)
    if name == "einsum" and len(args) == 2 and isinstance(args[1], (tuple, list)):
        args = [args[0], *args[1]]
    first = 1 if name == "einsum" else 0
    head, pair, rest = args[:first], args[first : first + 2], args[first + 2 :]
    if len(pair) != 2 or name == "einsum" and rest:
        raise Problem(f"{name} of complex numbers takes two operands")
    product = lambda x, y: function(*head, x, y, *rest, **kwargs)  # noqa: E731
    if not all(isinstance(x, (Complex, complex)) for x in pair):
        left_is = isinstance(pair[0], (Complex, complex))
        whole, other = (pair[0], pair[1]) if left_is else (pair[1], pair[0])
        return made(b, *(product(p, other) if left_is else product(other, p) for p in parts_of(b, whole)))
    (p, q), (r, s) = (parts_of(b, x) for x in pair)
    return made(b, pointwise.sub(b, product(p, r), product(q, s)), pointwise.add(b, product(p, s), product(q, r)))


def _one(*names: str):
    def register(function: Callable) -> Callable:
        _ONE.update(dict.fromkeys(names, function))
        return function

    return register


# -- one complex number ----------------------------------------------------------------------------------------------


@_one("abs", "absolute")
def _abs(b: Builder, input):
    return OPERATORS["hypot"].function(b, input.real, input.imag)


@_one("angle")
def _angle(b: Builder, input):
    return OPERATORS["atan2"].function(b, input.imag, input.real)


@_one("conj")
def conj(b: Builder, input):
    turned = OPERATORS["neg"].function(b, input.imag)
    turned = Tensor(turned.value, turned.dtype, turned.sizes, input.imag.strides, turned.own, input.imag.repeats)
    b.copies.append(Copy("conj", turned.value, [input.imag.value], b.block.ops[-1], tuple(b.frames()), "write to its .clone()"))
    return Complex(input.real, turned)


def _is_turned(b: Builder, imag: Tensor) -> Optional[bool]:
    """Whether an imaginary part is that of a conjugate: one of one, of one of three ...; None where that is not known."""
    made = {copy.made: copy for copy in b.copies}
    turned, root = False, views_of(imag.value)[1]
    while root in made:
        if made[root].what != "conj":
            return None
        turned, root = not turned, views_of(made[root].parts[0])[1]
    is_new = root.op is not None and root.op.kind == "text" or root.block is b.top
    return turned if is_new or not any(copy.what == "conj" for copy in b.copies) else None


def _all_copied(b: Builder, x: Complex, what: str, may_view: bool) -> Complex:
    return Complex(*(base.copied(b, part, what, may_view) for part in x.parts))


@_one("resolve_conj")
def _resolve_conj(b: Builder, input):
    turned = _is_turned(b, input.imag)
    return input if turned is False else _all_copied(b, input, "resolve_conj", turned is None)


@_one("is_conj")
def _is_conj(b: Builder, input) -> bool:
    turned = _is_turned(b, input.imag)
    if turned is None:
        raise Problem("is_conj: whether this tensor is a conjugate in PyTorch is not known when the program is compiled")
    return turned


@_one("contiguous")
def _contiguous(b: Builder, input):
    known = input.is_contiguous()
    return input if known else _all_copied(b, input, "contiguous", known is None)


@_one("ravel")
def _ravel(b: Builder, input):
    return Complex(*(base.reshape(b, x, [-1]) for x in _contiguous(b, input).parts))


@_one("is_contiguous")
def _is_contiguous(_: Builder, input) -> bool:
    return known_layout(input)


def part_by_part(function: Callable, x: Complex) -> Complex:
    """What a view or a choice of elements of both parts is; new elements are two numbers each."""
    real, imag = map(function, x.parts)
    is_new = views_of(real.value)[1] is not views_of(x.real.value)[1]
    return Complex(wide(real), wide(imag)) if is_new else Complex(real, imag)


_one("resolve_neg")(lambda b, input: input)
_one("real")(lambda b, input: input.real)
_one("imag")(lambda b, input: input.imag)
_one("is_complex")(lambda b, input: True)
_one("is_floating_point")(lambda b, input: False)


@_one("exp")
def _exp(b: Builder, input):
    size = OPERATORS["exp"].function(b, input.real)
    return polar(b, size, input.imag)


@_one("log")
def _log(b: Builder, input):
    return Complex(OPERATORS["log"].function(b, _abs(b, input)), _angle(b, input))


@_one("sqrt")
def _sqrt(b: Builder, input):
    return polar(b, OPERATORS["sqrt"].function(b, _abs(b, input)), pointwise.mul(b, _angle(b, input), 0.5))


@_one("reciprocal")
def _reciprocal(b: Builder, input):
    return _div(b, 1.0, input)


@_one("square")
def _square(b: Builder, input):
    return call(b, "mul", lambda x, y: pointwise.mul(b, x, y), [input, input], {})


@_one("pow")
def _pow(b: Builder, input, exponent):
    if isinstance(exponent, int) and isinstance(input, Complex) and 1 <= exponent <= 8:
        found = Complex(*map(b.copy, input.parts))
        for _ in range(exponent - 1):
            found = call(b, "mul", lambda x, y: pointwise.mul(b, x, y), [found, input], {})
        return found
    if not isinstance(input, Complex) or not is_number(exponent):
        raise Problem("pow of complex numbers takes a complex tensor and a number that is known when the program is compiled")
    return polar(b, pointwise.pow_(b, _abs(b, input), exponent), pointwise.mul(b, _angle(b, input), exponent))


# -- two -------------------------------------------------------------------------------------------------------------


def _sum(sign: int):
    def implementation(b: Builder, input, other, *, alpha=1):
        function = pointwise.add if sign > 0 else pointwise.sub
        scaled = other if alpha == 1 else call(b, "mul", lambda x, y: pointwise.mul(b, x, y), [other, alpha], {})
        return made(b, *(_numbers(b, function, x, y) for x, y in zip(parts_of(b, input), parts_of(b, scaled))))

    return implementation


def _numbers(b: Builder, function: Callable, x, y):
    """A sum of parts, of which both may be numbers."""
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        return x + y if function is pointwise.add else x - y
    return function(b, x, y)


_one("add")(_sum(1))
_one("sub", "subtract")(_sum(-1))


@_one("rsub")
def _rsub(b: Builder, input, other):
    return _sum(-1)(b, other, input)


@_one("div", "divide", "true_divide")
def _div(b: Builder, input, other, rounding_mode=None):
    if rounding_mode is not None:
        raise Problem("div of complex numbers has no rounding_mode")
    if not isinstance(other, (Complex, complex)):
        return made(b, *(pointwise.div(b, x, other) for x in parts_of(b, input)))
    r, s = parts_of(b, other)
    size = pointwise.add(b, pointwise.mul(b, r, r), pointwise.mul(b, s, s)) if isinstance(r, Tensor) else r * r + s * s
    turned = Complex(r, OPERATORS["neg"].function(b, s)) if isinstance(s, Tensor) else complex(r, -s)
    product = call(b, "mul", lambda x, y: pointwise.mul(b, x, y), [input, turned], {})
    return Complex(*(pointwise.div(b, x, size) for x in (product.real, product.imag)))


@_one("eq")
def _eq(b: Builder, input, other):
    both = [pointwise.eq(b, x, y) for x, y in zip(parts_of(b, input), parts_of(b, other))]
    return OPERATORS["logical_and"].function(b, *both)


@_one("ne", "not_equal")
def _ne(b: Builder, input, other):
    return OPERATORS["logical_not"].function(b, _eq(b, input, other))


@_one("vdot", "torch.linalg.vecdot")
def _vdot(b: Builder, input, other):
    return call(b, "dot", lambda x, y: OPERATORS["dot"].function(b, x, y), [conj(b, input) if isinstance(input, Complex) else input, other], {})


@_one("norm", "torch.linalg.norm", "torch.linalg.vector_norm", "vector_norm")
def _norm(b: Builder, input, *args, **kwargs):
    return OPERATORS["norm"].function(b, _abs(b, input), *args, **kwargs)


@_one("to", "type_as", "type", "cpu")
def _to(b: Builder, input, *args, copy=False, **kwargs):
    """Between complex types, or to where it is."""
    copy = copy is True or [x for x in args if isinstance(x, bool)][1:] == [True]
    for wanted in (*args, *kwargs.values()):
        if isinstance(wanted, dtypes.DType):
            raise Problem(f"a complex tensor has no elements of type {wanted}: take .real or .abs()", "dtype")
        if isinstance(wanted, (dtypes.ComplexType, Complex)):
            part = wanted.part if isinstance(wanted, dtypes.ComplexType) else wanted.real.dtype
            if not isinstance(input, Complex):
                return made(b, pointwise.to_dtype(b, input, part, copy=True), 0.0)
            if part is not input.real.dtype:
                return Complex(*(pointwise.to_dtype(b, x, part) for x in input.parts))
    return Complex(*map(b.copy, input.parts)) if copy else input


@_one("copy_")
def _copy(b: Builder, input, src, non_blocking=False):
    if not isinstance(input, Complex):
        raise Problem("copy_: the source is complex and the destination is not: take .real or .abs()", "dtype")
    return assigned(b, input, src, "copy_")


def assigned(b: Builder, dest: Complex, value, what: str) -> Complex:
    """Writes both parts."""
    for into, part in zip((dest.real, dest.imag), parts_of(b, value)):
        assign(b, into, part, what)
    return dest


# -- from and to real numbers ----------------------------------------------------------------------------------------


@operator("complex", GROUP, where="f")
def complex_(b: Builder, real, imag):
    return made(b, *(b.copy(x) if isinstance(x, Tensor) else x for x in (real, imag)))


@operator("polar", GROUP, where="f")
def polar(b: Builder, abs, angle):
    return made(b, *(pointwise.mul(b, abs, OPERATORS[f].function(b, angle)) for f in ("cos", "sin")))


@operator("view_as_real", GROUP, where="f", note="a view of what `view_as_complex` was given; else a copy, and programs that could tell are refused")
def view_as_real(b: Builder, input):
    raise Problem("view_as_real: expects a complex tensor")


@_one("view_as_real")
def _view_as_real(b: Builder, input):
    if input.whole is not None:
        return input.whole.again()
    both = stack(b, [input.real, input.imag], -1)
    b.copies.append(Copy("view_as_real", both.value, [x.value for x in input.parts], b.block.ops[-1], tuple(b.frames()), "write to .real and .imag"))
    return Tensor(both.value, both.dtype, both.sizes, [*input.real.strides, Mono(1)], both.own, input.real.repeats)


def of_whole(b: Builder, whole: Tensor) -> Complex:
    """The complex tensor of whose elements the last dimension has the parts."""
    return Complex(*(base.select(b, whole, whole.rank - 1, k) for k in (0, 1)), whole)


@operator("view_as_complex", GROUP, where="f")
def view_as_complex(b: Builder, input):
    if not input.rank or input.sizes[-1] != 2:
        raise Problem(f"view_as_complex: expects a last dimension of size 2, found {input.describe()}", "shape")
    return of_whole(b, input)


@operator("imag", GROUP, where="f")
def imag_(b: Builder, input):
    raise Problem("imag: expects a complex tensor")


@operator("angle", GROUP)
def angle_(b: Builder, input):
    """Of real numbers 0, or pi left of 0; of NaN it is NaN."""
    import math

    x = pointwise.to_dtype(b, input, input.dtype if input.dtype.is_float else dtypes.float32)
    turned = pointwise.where(b, pointwise.lt(b, x, 0), math.pi, pointwise.where(b, OPERATORS["isnan"].function(b, x), x, 0.0))
    return pointwise.to_dtype(b, turned, x.dtype)


operator("resolve_conj", GROUP)(lambda b, input: input)


@operator("resolve_neg", GROUP)
def _resolve_neg(b: Builder, input):
    """Of an imaginary part of a conjugate a tensor of its own."""
    turned = _is_turned(b, input)
    return input if turned is False else base.copied(b, input, "resolve_neg", turned is None)


operator("is_conj", GROUP)(lambda b, input: False)


def created(b: Builder, function: Callable, name: str, args: Sequence, kwargs: Dict):
    """What makes a tensor of a complex type: zeros, ones and kin, whose imaginary part is 0; constants with their own."""
    last = name.rpartition(".")[2]
    wanted = kwargs["dtype"]
    real = {**kwargs, "dtype": wanted.part}
    if last in ("tensor", "as_tensor", "full", "full_like", "new_full", "scalar_tensor"):
        at = 1 if last in ("full", "full_like", "new_full") else 0
        shown = [[_number_part(x, k) if i == at or last == "tensor" else x for i, x in enumerate(args)] for k in (0, 1)]
        return Complex(*(function(*own, **real) for own in shown))
    if last not in ("zeros", "ones", "empty", "zeros_like", "ones_like", "empty_like", "new_zeros", "new_ones", "new_empty"):
        raise Problem(f"{last}: elements of type {wanted} are not supported here: make both parts and join them with torch.complex")
    like = [x.real if isinstance(x, Complex) else x for x in args]
    first = function(*like, **real)
    return Complex(first, b.constant_tensor(0, first.dtype, first.sizes))


def _number_part(x, k: int):
    if isinstance(x, (list, tuple)):
        return [_number_part(e, k) for e in x]
    whole = complex(x) if is_number(x) or isinstance(x, complex) else None
    if whole is None:
        raise Problem("a complex constant is made of numbers that are known when the program is compiled")
    return (whole.real, whole.imag)[k]


