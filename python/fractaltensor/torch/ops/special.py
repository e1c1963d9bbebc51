# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special functions, element by element: each by a formula that is exact to a few units of the last place of what is computed in."""

from __future__ import annotations

import math

from ..ir import dtypes
from ..ir.bodies import Body, Scalar, arithmetic_type
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Tensor
from . import pointwise
from .table import as_float, operator, promote, tensor_of

GROUP = "Special functions"


def _polynomial(body: Body, x: Scalar, coefficients) -> Scalar:
    """By Horner, the highest power first."""
    result = body.constant(coefficients[0], x.dtype)
    for c in coefficients[1:]:
        result = body.op("arith.addf", body.op("arith.mulf", result, x), body.constant(c, x.dtype))
    return result


def _float(name: str, emit, inplace: bool = True, compute=None, where: str = "fm"):
    @operator(name, GROUP, where, inplace)
    def implementation(b: Builder, input):
        x = tensor_of(b, input)
        out = as_float(x.dtype)
        return b.pointwise(out, [x], emit, compute or arithmetic_type(out))

    return implementation


def _add(body, x, y):
    return body.op("arith.addf", x, y)


def _sub(body, x, y):
    return body.op("arith.subf", x, y)


def _mul(body, x, y):
    return body.op("arith.mulf", x, y)


def _div(body, x, y):
    return body.op("arith.divf", x, y)


#: Lanczos' series of the gamma function with g = 7.
_LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip


#: So near to 0 the first term of a series is exact to the last digit.
_NEAR_0 = 1e-17


def _reflected(body: Body, x: Scalar):
    """Whether x lies left of 1/2, x or its mirror 1 - x, and the turn of x's fraction."""
    left = body.compare("lt", x, body.constant(0.5, x.dtype))
    z = body.select(left, _sub(body, body.constant(1, x.dtype), x), x)
    return left, z, _mul(body, _sub(body, x, body.op("math.floor", x)), body.constant(math.pi, x.dtype))


def _lgamma(body: Body, x: Scalar) -> Scalar:
    left, z, turn = _reflected(body, x)
    z = _sub(body, z, body.constant(1, x.dtype))
    series = body.constant(_LANCZOS[0], x.dtype)
    for k, c in enumerate(_LANCZOS[1:], 1):
        series = _add(body, series, _div(body, body.constant(c, x.dtype), _add(body, z, body.constant(k, x.dtype))))
    edge = _add(body, z, body.constant(7.5, x.dtype))
    power = _mul(body, _add(body, z, body.constant(0.5, x.dtype)), _sub(body, body.op("math.log", edge), body.constant(1, x.dtype)))
    # (z + 1/2) log t - t with t = z + 7.5, without the difference of two large numbers.
    whole = _add(body, _sub(body, power, body.constant(7, x.dtype)), body.op("math.log", _mul(body, series, body.constant(math.sqrt(2 * math.pi), x.dtype))))
    mirrored = _sub(body, body.op("math.log", _div(body, body.constant(math.pi, x.dtype), body.op("math.sin", turn))), whole)
    size = body.op("math.absf", x)
    infinite = body.compare("eq", size, body.constant(math.inf, x.dtype))
    found = body.select(infinite, body.constant(math.inf, x.dtype), body.select(left, mirrored, whole))
    # Near 0 the mirror's fraction has lost all digits: gamma(x) is 1 / x there.
    return body.select(body.compare("lt", size, body.constant(_NEAR_0, x.dtype)), body.op("arith.negf", body.op("math.log", size)), found)


#: Steps by which digamma's argument is moved to where its asymptotic series holds.
_MOVED = 10


def _digamma(body: Body, x: Scalar) -> Scalar:
    left, z, turn = _reflected(body, x)
    whole = body.constant(0, x.dtype)
    for k in range(_MOVED):
        whole = _sub(body, whole, _div(body, body.constant(1, x.dtype), _add(body, z, body.constant(k, x.dtype))))
    far = _add(body, z, body.constant(_MOVED, x.dtype))
    inverse = _div(body, body.constant(1, x.dtype), _mul(body, far, far))
    # B(2k) / 2k of Bernoulli's numbers.
    tail = _mul(body, inverse, _polynomial(body, inverse, (-1 / 12, 691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12)))
    near = _sub(body, body.op("math.log", far), _div(body, body.constant(0.5, x.dtype), far))
    whole = _add(body, whole, _add(body, near, tail))
    cotangent = _div(body, body.constant(math.pi, x.dtype), body.op("math.tan", turn))
    mirrored = body.select(left, _sub(body, whole, cotangent), whole)
    floored = body.compare("eq", x, body.op("math.floor", x))
    pole = body.op("arith.andi", floored, body.compare("lt", x, body.constant(0, x.dtype)))
    zero = body.compare("eq", x, body.constant(0, x.dtype))
    at_zero = body.op("math.copysign", body.constant(math.inf, x.dtype), body.op("arith.negf", x))
    near_zero = body.compare("lt", body.op("math.absf", x), body.constant(_NEAR_0, x.dtype))
    found = body.select(near_zero, _div(body, body.constant(-1, x.dtype), x), body.select(pole, body.constant(math.nan, x.dtype), mirrored))
    return body.select(zero, at_zero, found)


#: The rational start of the inverse of erf, inside of |y| <= 0.7 and outside; two steps of Newton's follow.
_INNER = ((-0.140543331, 0.914624893, -1.645349621, 0.886226899), (0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0))
_OUTER = ((1.641345311, 3.429567803, -1.624906493, -1.970840454), (1.637067800, 3.543889200, 1.0))


def _erfinv(body: Body, y: Scalar) -> Scalar:
    one, size = body.constant(1, y.dtype), body.op("math.absf", y)
    square = _mul(body, y, y)
    inner = _mul(body, y, _div(body, _polynomial(body, square, _INNER[0]), _polynomial(body, square, _INNER[1])))
    rest = _div(body, _sub(body, one, size), body.constant(2, y.dtype))
    depth = body.op("math.sqrt", body.op("arith.negf", body.op("math.log", rest)))
    outer = body.op("math.copysign", _div(body, _polynomial(body, depth, _OUTER[0]), _polynomial(body, depth, _OUTER[1])), y)
    x = body.select(body.compare("le", size, body.constant(0.7, y.dtype)), inner, outer)
    for _ in range(2):
        slope = _mul(body, body.constant(2 / math.sqrt(math.pi), y.dtype), body.op("math.exp", body.op("arith.negf", _mul(body, x, x))))
        x = _sub(body, x, _div(body, _sub(body, body.op("math.erf", x), y), slope))
    edge = body.op("math.copysign", body.constant(math.inf, y.dtype), y)
    x = body.select(body.compare("eq", size, one), edge, x)
    return body.select(body.compare("gt", size, one), body.constant(math.nan, y.dtype), x)


def _sinc(body: Body, x: Scalar) -> Scalar:
    turn = _mul(body, x, body.constant(math.pi, x.dtype))
    return body.select(body.compare("eq", x, body.constant(0, x.dtype)), body.constant(1, x.dtype), _div(body, body.op("math.sin", turn), turn))


def _entropy(body: Body, x: Scalar) -> Scalar:
    zero = body.constant(0, x.dtype)
    inside = body.op("arith.negf", _mul(body, x, body.op("math.log", x)))
    outside = body.select(body.compare("eq", x, zero), zero, body.constant(-math.inf, x.dtype))
    found = body.select(body.compare("gt", x, zero), inside, outside)
    return body.select(body.is_nan(x), x, found)


def _normal(body: Body, x: Scalar) -> Scalar:
    """The part of a normal distribution up to x; erfc keeps the small ones."""
    return _mul(body, body.constant(0.5, x.dtype), body.op("math.erfc", _mul(body, x, body.constant(-math.sqrt(0.5), x.dtype))))


# In double: near zeros and poles a float's formula would lose what PyTorch's keeps.
_float("lgamma", _lgamma, compute=dtypes.float64)
_float("digamma", _digamma, compute=dtypes.float64)
_float("erfinv", _erfinv, compute=dtypes.float64)
_float("sinc", _sinc)
_float("entr", _entropy, False, where="")
_float("ndtr", _normal, False, where="")


@operator("logit", GROUP, inplace=True)
def logit(b: Builder, input, eps=None):
    out = as_float(input.dtype)

    def emit(body, x):
        if eps is not None:
            x = body.op("arith.minimumf", body.op("arith.maximumf", x, body.constant(eps, x.dtype)), body.constant(1 - eps, x.dtype))
        return body.op("math.log", _div(body, x, _sub(body, body.constant(1, x.dtype), x)))

    return b.pointwise(out, [input], emit, arithmetic_type(out))


@operator("xlog1py", GROUP, where="")
def xlog1py(b: Builder, input, other):
    out = as_float(promote(input, other))

    def emit(body, x, y):
        zero = body.constant(0, x.dtype)
        product = _mul(body, x, body.op("math.log1p", y))
        return body.select(body.is_nan(y), y, body.select(body.compare("eq", x, zero), zero, product))

    return pointwise.binary(b, input, other, emit, out, arithmetic_type(out))


@operator("logaddexp2", GROUP)
def logaddexp2(b: Builder, input, other):
    own = promote(input, other)
    if not own.is_float:
        raise Problem("logaddexp2 is defined on floats only: cast the integers first", "dtype")

    def emit(body, x, y):
        most, apart = body.op("arith.maximumf", x, y), body.op("math.absf", _sub(body, x, y))
        less = _mul(body, body.op("math.log1p", body.op("math.exp2", body.op("arith.negf", apart))), body.constant(1 / math.log(2), x.dtype))
        infinite = body.compare("eq", body.op("math.absf", most), body.constant(math.inf, x.dtype))
        return body.select(body.op("arith.andi", infinite, body.compare("eq", x, y)), x, _add(body, most, less))

    return pointwise.binary(b, input, other, emit)


@operator("float_power", GROUP)
def float_power(b: Builder, input, exponent):
    wide = [pointwise.to_dtype(b, x, dtypes.float64) if isinstance(x, Tensor) else x for x in (input, exponent)]
    if not isinstance(wide[0], Tensor):
        wide[0] = b.constant_tensor(wide[0], dtypes.float64)
    return pointwise.pow_(b, *wide)


@operator("ldexp", GROUP, inplace=True)
def ldexp(b: Builder, input, other):
    """In double, where no power of two that matters overflows."""
    x, y = tensor_of(b, input), tensor_of(b, other)

    def emit(body, p, q):
        power = body.op("math.exp2", q)
        return _mul(body, p, body.cast(body.cast(power, y.dtype), p.dtype) if y.dtype.is_float else power)

    return b.pointwise(as_float(promote(x, y)), [x, y], emit, dtypes.float64)


# -- kinds of numbers -------------------------------------------------------------------------------------------------


@operator("signbit", GROUP)
def signbit(b: Builder, input):
    x = tensor_of(b, input)

    def emit(body, a):
        if a.dtype.is_bool:
            return body.constant(False, a.dtype)
        if a.dtype.is_float:
            a = body.op("math.copysign", body.constant(1, a.dtype), a)
        return body.compare("lt", a, body.constant(0, a.dtype))

    return b.pointwise(dtypes.bool_, [x], emit)


def _infinity(name: str, value: float):
    @operator(name, GROUP)
    def implementation(b: Builder, input):
        emit = lambda body, a: body.compare("eq", a, body.constant(value, a.dtype)) if a.dtype.is_float else body.constant(False, dtypes.bool_)  # noqa: E731
        return b.pointwise(dtypes.bool_, [tensor_of(b, input)], emit)


_infinity("isposinf", math.inf)
_infinity("isneginf", -math.inf)


@operator("isreal", GROUP)
def isreal(b: Builder, input):
    return b.constant_tensor(True, dtypes.bool_, tensor_of(b, input).sizes)


#: Steps of Euclid's algorithm that numbers of so many bits can need (Lamé).
_EUCLID = {8: 12, 16: 24, 32: 46, 64: 92}


@operator("gcd", GROUP, inplace=True)
def gcd(b: Builder, input, other):
    own = promote(input, other)
    if not own.is_int or own.is_bool:
        raise Problem(f"gcd is defined on integers only, found {own}", "dtype")
    x, y = (pointwise.to_dtype(b, tensor_of(b, t), own) for t in (input, other))
    sizes = b.broadcast([x.sizes, y.sizes])
    from ..ir import views as base
    from .table import assign

    x, y = (b.copy(base.expand(b, t, sizes)) for t in (x, y))

    def step(_):
        """(x, y) becomes (y, x mod y); (x, 0) stays."""
        def rest(body, p, q):
            none = body.compare("eq", q, body.constant(0, q.dtype))
            return body.select(none, q, body.op("arith.remsi", p, body.select(none, body.constant(1, q.dtype), q)))

        later = b.pointwise(own, [x, y], rest)
        first = b.pointwise(own, [x, y], lambda body, p, q: body.select(body.compare("eq", q, body.constant(0, q.dtype)), p, q))
        assign(b, x, first, "gcd")
        assign(b, y, later, "gcd")

    base.loop(b, 0, _EUCLID[own.bits], step)
    return b.pointwise(own, [x], lambda body, a: body.op("math.absi", a))


@operator("lcm", GROUP, inplace=True)
def lcm(b: Builder, input, other):
    common = gcd(b, input, other)

    def emit(body, x, y, g):
        safe = body.select(body.compare("eq", g, body.constant(0, g.dtype)), body.constant(1, g.dtype), g)
        return body.op("math.absi", body.op("arith.muli", body.op("arith.divsi", x, safe), y))

    compute = common.dtype if common.dtype.bits >= 32 else dtypes.int32  # as C's integers are promoted
    return b.pointwise(common.dtype, [tensor_of(b, input), tensor_of(b, other), common], emit, compute)
