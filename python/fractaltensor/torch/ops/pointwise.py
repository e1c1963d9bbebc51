# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise operators."""

from __future__ import annotations

import math

from ..ir import dtypes
from ..ir.bodies import Body, Scalar, arithmetic_type
from ..ir.builder import NOTHING, Builder
from ..ir.dtypes import DType
from ..problems import Problem
from ..frontend.values import Num, Tensor, is_number, kind_of
from .table import as_float, check_cast, check_device, dtype_of, need_number, need_tensor, operator, promote, tensor_of

GROUP = "Element-wise"


def _lift(b: Builder, items):
    """At least one operand is a tensor."""
    if any(isinstance(x, Tensor) for x in items):
        for x in items:
            if not isinstance(x, Tensor):
                need_number(x, "an operand")
        return items
    return [tensor_of(b, items[0]), *items[1:]]


def _unary_float(name: str, emit, inplace: bool = True, also=(), where: str = "fm"):
    @operator(name, GROUP, where, inplace, also=also)
    def implementation(b: Builder, input):
        (x,) = _lift(b, [input])
        out = as_float(x.dtype)
        return b.pointwise(out, [x], emit, arithmetic_type(out))


def _math(name):
    return lambda body, a: body.op(f"math.{name}", a)


for _name in "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan sinh cosh tanh erf erfc".split():
    _unary_float(_name, _math(_name))
for _name, _own in (("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("asinh", "arcsinh"), ("acosh", "arccosh"), ("atanh", "arctanh")):
    _unary_float(_name, _math(_name), also=(_own,))


def _one(body: Body, a: Scalar) -> Scalar:
    return body.constant(1, a.dtype)


def sigmoid_of(body: Body, a: Scalar) -> Scalar:
    e = body.op("math.exp", body.op("arith.negf", a))
    return body.op("arith.divf", _one(body, a), body.op("arith.addf", _one(body, a), e))


def _softplus_of(body: Body, a: Scalar) -> Scalar:
    """log(1 + e^a) without overflow: max(a, 0) + log1p(e^-|a|)."""
    small = body.op("math.log1p", body.op("math.exp", body.op("arith.negf", body.op("math.absf", a))))
    return body.op("arith.addf", body.op("arith.maximumf", a, body.constant(0, a.dtype)), small)


_unary_float("sigmoid", sigmoid_of)
_unary_float("reciprocal", lambda body, a: body.op("arith.divf", _one(body, a), a))
_unary_float("logsigmoid", lambda body, a: body.op("arith.negf", _softplus_of(body, body.op("arith.negf", a))), False, where="")
_unary_float("silu", lambda body, a: body.op("arith.divf", a, body.op("arith.addf", _one(body, a), body.op("math.exp", body.op("arith.negf", a)))), where="")
_unary_float("mish", lambda body, a: body.op("arith.mulf", a, body.op("math.tanh", _softplus_of(body, a))), where="")
_unary_float("tanhshrink", lambda body, a: body.op("arith.subf", a, body.op("math.tanh", a)), False, where="")
_unary_float("deg2rad", lambda body, a: body.op("arith.mulf", a, body.constant(math.pi / 180, a.dtype)))
_unary_float("rad2deg", lambda body, a: body.op("arith.mulf", a, body.constant(180 / math.pi, a.dtype)))


def _unary_same(name: str, on_float, on_int, also=(), inplace: bool = True, no_bool: str = ""):
    @operator(name, GROUP, inplace=inplace, also=also)
    def implementation(b: Builder, input):
        (x,) = _lift(b, [input])
        if x.dtype.is_bool and no_bool:
            raise Problem(f"{name} is not defined on bool: {no_bool}", "dtype")
        return b.pointwise(x.dtype, [x], on_float if x.dtype.is_float else on_int, arithmetic_type(x.dtype))


def _same(body: Body, a: Scalar) -> Scalar:
    return a


def _signum(body: Body, a: Scalar) -> Scalar:
    if a.dtype.is_bool:
        return a
    zero = body.constant(0, a.dtype)
    up, down = body.compare("gt", a, zero), body.compare("lt", a, zero)
    result = body.select(up, _one(body, a), body.select(down, body.constant(-1, a.dtype), zero))
    return result


def _negate_int(body: Body, a: Scalar) -> Scalar:
    return body.op("arith.subi", body.constant(0, a.dtype), a)


def _relu_of(body: Body, a: Scalar) -> Scalar:
    zero = body.constant(0, a.dtype)
    return body.op("arith.maximumf" if a.dtype.is_float else "arith.maxsi", a, zero)


_unary_same("abs", _math("absf"), _math("absi"), also=("absolute",), no_bool="cast it first")
_unary_same("neg", lambda body, a: body.op("arith.negf", a), _negate_int, also=("negative",), no_bool="use logical_not")
_unary_same("floor", _math("floor"), _same)
_unary_same("ceil", _math("ceil"), _same)
_unary_same("trunc", _math("trunc"), _same, also=("fix",))
_unary_same("frac", lambda body, a: body.op("arith.subf", a, body.op("math.trunc", a)), _same)
_unary_same("sign", _signum, _signum, also=("sgn",))
_unary_same("relu", _relu_of, _relu_of)


@operator("positive", GROUP)
def positive(b: Builder, input):
    if need_tensor(input, "positive").dtype.is_bool:
        raise Problem("positive is not defined on bool", "dtype")
    return input



@operator("round", GROUP, inplace=True)
def round_(b: Builder, input, *, decimals=0):
    (x,) = _lift(b, [input])
    if not x.dtype.is_float:
        return b.copy(x)
    scale = 10.0 ** abs(decimals)

    def body_of(body, a):
        if decimals == 0:
            return body.op("math.roundeven", a)
        factor = body.constant(scale, a.dtype)
        first, last = ("arith.mulf", "arith.divf") if decimals > 0 else ("arith.divf", "arith.mulf")
        return body.op(last, body.op("math.roundeven", body.op(first, a, factor)), factor)

    return b.pointwise(x.dtype, [x], body_of, arithmetic_type(x.dtype))


@operator("square", GROUP, inplace=True)
def square(b: Builder, input):
    """As `pow(input, 2)`, of bool an integer."""
    if need_tensor(input, "square").dtype.is_bool:
        input = to_dtype(b, input, dtypes.int64)
    return mul(b, input, input)


def _functional(name: str) -> None:
    """A function of `torch.nn.functional` that is one of `torch` with `inplace`."""
    from .table import OPERATORS, assign

    @operator(f"torch.nn.functional.{name}", GROUP, inplace=True)
    def implementation(b: Builder, input, inplace=False):
        result = OPERATORS[name].function(b, input)
        return assign(b, input, result, name) if inplace is True else result


for _name in ("relu", "silu", "mish"):
    _functional(_name)


# -- two operands ------------------------------------------------------------------------------------------------------


def binary(b: Builder, x, y, function, out: DType = None, compute: DType = None, exact: str = ""):
    """`exact`: which operands of one element keep digits that their common type lacks: the "second", or "numbers" alone."""
    x, y = _lift(b, [x, y])
    own = promote(x, y)
    compute = compute or arithmetic_type(own)
    common = as_float(own) if compute.is_float else own
    return b.pointwise(out or own, [x, y], function, compute, common=_rounded(b, [x, y], common, exact))


def _rounded(b: Builder, operands, common: DType, exact: str = ""):
    """The types to which operands are rounded before they are computed with.

    PyTorch computes on elements of 16 bits in 32. On the CPU it casts all operands to 16 bits before, except a single element that multiplies or
    divides. On a GPU it casts all except Python's numbers."""
    def keeps(at, x):
        is_number_ = not isinstance(x, Tensor) or x.weak
        if b.device.type != "cpu":
            return exact and is_number_
        return exact == "second" and at == 1 and (is_number_ or all(n == 1 for n in x.sizes))

    return [None if keeps(at, x) else common for at, x in enumerate(operands)]


def _scaled(b: Builder, x, y, alpha, function, what: str):
    """`x` and `alpha * y`, put together by `function`; rounded once."""
    if is_number(alpha) and not isinstance(alpha, bool) and alpha == 1:
        return binary(b, x, y, function, exact="numbers")
    x, y = _lift(b, [x, y])
    own = promote(x, y)
    kind = {"b": "bool", "i": "int", "f": "float"}[alpha.dtype.kind] if isinstance(alpha, Tensor) else kind_of(need_number(alpha, what))
    if kind == "float" and not own.is_float:
        raise Problem(f"{what}: alpha is a float, and the operands are {own}", "dtype")
    if kind == "bool" and not own.is_bool:
        raise Problem(f"{what}: alpha is a bool, and the operands are {own}", "dtype")
    common = [*_rounded(b, [x, y], own, "numbers"), own if b.device.type == "cpu" else None]
    return b.pointwise(own, [x, y, alpha], lambda body, p, q, k: function(body, p, _times(body, q, k)), arithmetic_type(own), common=common)


def _plus(body, a, c):
    if a.dtype.is_bool:
        return body.op("arith.ori", a, c)
    return body.binary("arith.addf", "arith.addi", a, c)


def _times(body, a, c):
    if a.dtype.is_bool:
        return body.op("arith.andi", a, c)
    return body.binary("arith.mulf", "arith.muli", a, c)


@operator("add", GROUP, inplace=True)
def add(b: Builder, input, other, *, alpha=1):
    return _scaled(b, input, other, alpha, _plus, "add")


@operator("sub", GROUP, inplace=True, also=("subtract",))
def sub(b: Builder, input, other, *, alpha=1):
    if any(x.dtype.is_bool if isinstance(x, Tensor) else kind_of(x) == "bool" for x in (input, other)):
        raise Problem("subtraction is not defined on bool: use logical_xor", "dtype")
    return _scaled(b, input, other, alpha, lambda body, x, y: body.binary("arith.subf", "arith.subi", x, y), "sub")


@operator("rsub", GROUP, where="f")
def rsub(b: Builder, input, other, *, alpha=1):
    return sub(b, other, input, alpha=alpha)


@operator("mul", GROUP, inplace=True, also=("multiply",))
def mul(b: Builder, input, other):
    """A number in front is one after it: it keeps its digits."""
    if not isinstance(input, Tensor) and isinstance(other, Tensor):
        input, other = other, input
    return binary(b, input, other, _times, exact="second")


def _checked_divisor(b: Builder, x, y):
    """A divisor without zeros: a 0 is noted, so that the call fails as eager does, and becomes 1."""
    if not promote(x, y).is_int or is_number(y) and y != 0:
        return y

    def zero(body, q):
        return body.select(body.compare("eq", q, body.constant(0, q.dtype)), body.constant(0, q.dtype), body.constant(NOTHING, q.dtype))

    own = tensor_of(b, y)
    b.notice(b.pointwise(dtypes.int64, [own], zero, dtypes.int64), "division by zero")
    safe = b.pointwise(own.dtype, [own], lambda body, q: body.select(body.compare("eq", q, body.constant(0, q.dtype)), body.constant(1, q.dtype), q))
    safe.weak = own.weak
    return safe


def _floor_int(body: Body, x: Scalar, y: Scalar) -> Scalar:
    return body.op("arith.floordivsi", x, y)


def _floor_float(body: Body, x: Scalar, y: Scalar, own: DType) -> Scalar:
    """As c10::div_floor_floating: from the remainder, so that floor(x / y) has no error of the division. What is between is rounded to `own`."""
    def rounded(a: Scalar) -> Scalar:
        return body.cast(body.cast(a, own), x.dtype)

    quotient = body.op("arith.divf", x, y)
    zero = body.constant(0, x.dtype)
    rest = body.op("arith.remf", x, y)
    whole = rounded(body.op("arith.divf", rounded(body.op("arith.subf", x, rest)), y))
    signs = body.op("arith.xori", body.compare("lt", y, zero), body.compare("lt", rest, zero))
    uneven = body.op("arith.andi", body.compare("ne", rest, zero), signs)
    whole = body.select(uneven, rounded(body.op("arith.subf", whole, _one(body, x))), whole)
    floored = body.op("math.floor", whole)
    over = body.compare("gt", body.op("arith.subf", whole, floored), body.constant(0.5, x.dtype))
    floored = body.select(over, rounded(body.op("arith.addf", floored, _one(body, x))), floored)
    none = body.compare("eq", whole, zero)
    floored = body.select(none, body.op("math.copysign", zero, quotient), floored)
    return body.select(body.compare("eq", y, zero), quotient, floored)


def _between(b: Builder, x, y, own: DType) -> DType:
    """The type to which what is between the steps of a division is rounded: where the divisor keeps its digits, that keeps them as well."""
    return _rounded(b, [x, y], own, "second")[1] or arithmetic_type(own)


@operator("div", GROUP, inplace=True, also=("divide", "true_divide"))
def div(b: Builder, input, other, *, rounding_mode=None):
    if rounding_mode == "floor":
        return floor_divide(b, input, other)
    own = promote(input, other)
    if rounding_mode == "trunc":
        if own.is_float:
            inner = _between(b, input, other, own)
            return binary(b, input, other, lambda body, x, y: body.op("math.trunc", body.cast(body.cast(body.op("arith.divf", x, y), inner), x.dtype)), exact="second")
        other = _checked_divisor(b, input, other)
        return binary(b, input, other, lambda body, x, y: body.op("arith.divsi", x, y))
    if rounding_mode is not None:
        raise Problem(f"div: rounding_mode is 'floor', 'trunc' or None, found {rounding_mode!r}")
    out = as_float(own)
    return binary(b, input, other, lambda body, x, y: body.op("arith.divf", x, y), out, arithmetic_type(out), "second")


@operator("floor_divide", GROUP, inplace=True)
def floor_divide(b: Builder, input, other):
    _no_bool("floor_divide", input, other)
    other = _checked_divisor(b, input, other)
    own = promote(input, other)
    inner = _between(b, input, other, own)
    return binary(b, input, other, lambda body, x, y: _floor_float(body, x, y, inner) if own.is_float else _floor_int(body, x, y), exact="second")


def _modulo(body: Body, x: Scalar, y: Scalar) -> Scalar:
    """The remainder that has the sign of y."""
    zero = body.constant(0, x.dtype)
    rest = body.binary("arith.remf", "arith.remsi", x, y)
    signs = body.op("arith.xori", body.compare("lt", y, zero), body.compare("lt", rest, zero))
    wrong = body.op("arith.andi", body.compare("ne", rest, zero), signs)
    made = body.select(wrong, body.binary("arith.addf", "arith.addi", rest, y), rest)
    body.divisors[made.name] = y.name
    return made


def _no_bool(name: str, *operands) -> None:
    if promote(*operands).is_bool:
        raise Problem(f"{name} is not defined on bool", "dtype")


@operator("remainder", GROUP, inplace=True)
def remainder(b: Builder, input, other):
    _no_bool("remainder", input, other)
    other = _checked_divisor(b, input, other)
    return binary(b, input, other, _modulo)


@operator("fmod", GROUP, inplace=True)
def fmod(b: Builder, input, other):
    _no_bool("fmod", input, other)
    other = _checked_divisor(b, input, other)
    return binary(b, input, other, lambda body, x, y: body.binary("arith.remf", "arith.remsi", x, y))


def _integer_power(body: Body, x: Scalar, n: int) -> Scalar:
    result, square_, left = None, x, n
    while left:
        if left & 1:
            result = square_ if result is None else _times(body, result, square_)
        left >>= 1
        if left:
            square_ = _times(body, square_, square_)
    return result if result is not None else _one(body, x)


@operator("pow", GROUP, inplace=True)
def pow_(b: Builder, input, exponent):
    own = promote(input, exponent)
    if own.is_bool:
        raise Problem("pow is not defined on bool", "dtype")
    if is_number(exponent) and not isinstance(exponent, bool):
        if own.is_float and exponent == 0.5:
            return binary(b, input, exponent, lambda body, x, y: body.op("math.sqrt", x))
        whole = float(exponent).is_integer() and abs(exponent) <= (64 if not own.is_float else 4)
        if whole and exponent >= 0:
            return binary(b, input, exponent, lambda body, x, y: _integer_power(body, x, int(exponent)))
        if whole and own.is_float:
            return binary(b, input, exponent, lambda body, x, y: body.op("arith.divf", _one(body, x), _integer_power(body, x, int(-exponent))))
        if not own.is_float:
            raise Problem("pow: integers to negative or large integer powers are not defined: cast to float", "dtype")
    if not own.is_float:
        return binary(b, input, exponent, lambda body, x, y: body.op("math.ipowi", x, y))
    return binary(b, input, exponent, lambda body, x, y: body.op("math.powf", x, y))


def _pick(name: str, on_float: str, on_int: str, on_bool: str, also=()):
    @operator(name, GROUP, also=also)
    def implementation(b: Builder, input, other):
        return binary(b, input, other, lambda body, x, y: body.op(on_float if x.dtype.is_float else on_bool if x.dtype.is_bool else on_int, x, y))

    return implementation


maximum = _pick("maximum", "arith.maximumf", "arith.maxsi", "arith.ori")
minimum = _pick("minimum", "arith.minimumf", "arith.minsi", "arith.andi")
_pick("fmax", "arith.maxnumf", "arith.maxsi", "arith.ori")
_pick("fmin", "arith.minnumf", "arith.minsi", "arith.andi")


def _binary_float(name: str, emit, inplace: bool = True, also=(), of_integers: bool = True):
    @operator(name, GROUP, inplace=inplace, also=also)
    def implementation(b: Builder, input, other):
        out = as_float(promote(input, other))
        if not of_integers and not promote(input, other).is_float:
            raise Problem(f"{name} is defined on floats only: cast the integers first", "dtype")
        return binary(b, input, other, emit, out, arithmetic_type(out))

    return implementation


_binary_float("atan2", lambda body, x, y: body.op("math.atan2", x, y), also=("arctan2",))
_binary_float("copysign", lambda body, x, y: body.op("math.copysign", x, y))


def _hypot(body: Body, x: Scalar, y: Scalar) -> Scalar:
    """Squares overflow where the root does not: of smaller floats they are taken in double, of double the operands are scaled by the larger one."""
    out, infinite = x.dtype, body.constant(math.inf, dtypes.float64)
    x, y = (body.op("math.absf", body.cast(a, dtypes.float64)) for a in (x, y))
    if out is dtypes.float64:
        most, least = body.op("arith.maximumf", x, y), body.op("arith.minimumf", x, y)
        part = body.select(body.compare("eq", most, body.constant(0, most.dtype)), most, body.op("arith.divf", least, most))
        found = _times(body, most, body.op("math.sqrt", body.op("arith.addf", _one(body, part), _times(body, part, part))))
    else:
        found = body.op("math.sqrt", body.op("arith.addf", _times(body, x, x), _times(body, y, y)))
    either = body.op("arith.ori", body.compare("eq", x, infinite), body.compare("eq", y, infinite))
    return body.cast(body.select(either, infinite, found), out)


_binary_float("hypot", _hypot, of_integers=False)


def _log_add(body: Body, x: Scalar, y: Scalar) -> Scalar:
    most, difference = body.op("arith.maximumf", x, y), body.op("math.absf", body.op("arith.subf", x, y))
    sum_ = body.op("arith.addf", most, body.op("math.log1p", body.op("math.exp", body.op("arith.negf", difference))))
    infinite = body.compare("eq", body.op("math.absf", most), body.constant(math.inf, x.dtype))
    return body.select(body.op("arith.andi", infinite, body.compare("eq", x, y)), x, sum_)


logaddexp = _binary_float("logaddexp", _log_add, inplace=False, of_integers=False)


@operator("xlogy", GROUP, inplace=True)
def xlogy(b: Builder, input, other):
    out = as_float(promote(input, other))

    def emit(body, x, y):
        zero = body.constant(0, x.dtype)
        logarithm = body.cast(body.cast(body.op("math.log", y), out), x.dtype)
        product = body.op("arith.mulf", x, logarithm)
        return body.select(body.is_nan(y), y, body.select(body.compare("eq", x, zero), zero, product))

    return binary(b, input, other, emit, out, arithmetic_type(out))


@operator("lerp", GROUP, inplace=True)
def lerp(b: Builder, input, end, weight):
    out = promote(input, end)

    def emit(body, x, y, w):
        difference = body.op("arith.subf", y, x)
        low = body.compare("lt", body.op("math.absf", w), body.constant(0.5, w.dtype))
        near = body.op("arith.addf", x, _times(body, w, difference))
        far = body.op("arith.subf", y, _times(body, difference, body.op("arith.subf", _one(body, w), w)))
        return body.select(low, near, far)

    return b.pointwise(out, _lift(b, [input, end, weight]), emit, arithmetic_type(out))


@operator("addcmul", GROUP, inplace=True)
def addcmul(b: Builder, input, tensor1, tensor2, *, value=1):
    return _plus_scaled(b, "addcmul", input, tensor1, tensor2, value, _times)


def _plus_scaled(b: Builder, what: str, x, y, z, value, function):
    """`x + function(value * y, z)`, rounded once."""
    out = promote(x, y, z)
    if out.is_bool:
        raise Problem(f"{what} is not defined on bool", "dtype")
    operands = _lift(b, [x, y, z])

    def emit(body, p, q, r, k):
        return _plus(body, p, function(body, q if is_number(value) and value == 1 else _times(body, k, q), r))

    return b.pointwise(out, [*operands, value], emit, arithmetic_type(out), common=_rounded(b, operands, out))


@operator("addcdiv", GROUP, inplace=True)
def addcdiv(b: Builder, input, tensor1, tensor2, *, value=1):
    if not promote(input, tensor1, tensor2).is_float:
        raise Problem("addcdiv divides floats: cast the integers first", "dtype")
    return _plus_scaled(b, "addcdiv", input, tensor1, tensor2, value, lambda body, p, q: body.op("arith.divf", p, q))


@operator("torch.nn.functional.softsign", GROUP)
def softsign(b: Builder, input):
    """`x / (|x| + 1)` in steps, as PyTorch's: integers add as integers."""
    from .table import OPERATORS

    return div(b, input, add(b, OPERATORS["abs"].function(b, input), 1))


# -- comparisons and logic -------------------------------------------------------------------------------------------


def _comparison(name: str, what: str, also=()):
    @operator(name, GROUP, also=also, inplace=True)
    def implementation(b: Builder, input, other):
        x, y = _lift(b, [input, other])
        return b.pointwise(dtypes.bool_, [x, y], lambda body, p, q: body.compare(what, p, q), promote(x, y))

    return implementation


eq, ne = _comparison("eq", "eq"), _comparison("ne", "ne", ("not_equal",))
lt, le = _comparison("lt", "lt", ("less",)), _comparison("le", "le", ("less_equal",))
gt, ge = _comparison("gt", "gt", ("greater",)), _comparison("ge", "ge", ("greater_equal",))


def _logic(name: str, op: str):
    @operator("logical_" + name, GROUP, inplace=True)
    def logical(b: Builder, input, other):
        x, y = _lift(b, [input, other])
        return b.pointwise(dtypes.bool_, [x, y], lambda body, p, q: body.op(op, body.cast(p, dtypes.bool_), body.cast(q, dtypes.bool_)))

    @operator("bitwise_" + name, GROUP, inplace=True)
    def bitwise(b: Builder, input, other):
        if promote(input, other).is_float:
            raise Problem(f"bitwise_{name} is not defined on floats: use logical_{name}", "dtype")
        return binary(b, input, other, lambda body, p, q: body.op(op, p, q))

    return bitwise


bitwise_and, bitwise_or, bitwise_xor = _logic("and", "arith.andi"), _logic("or", "arith.ori"), _logic("xor", "arith.xori")


@operator("logical_not", GROUP, inplace=True)
def logical_not(b: Builder, input):
    (x,) = _lift(b, [input])
    return b.pointwise(dtypes.bool_, [x], lambda body, a: body.compare("eq", a, body.constant(0, a.dtype)))


@operator("bitwise_not", GROUP, inplace=True)
def bitwise_not(b: Builder, input):
    (x,) = _lift(b, [input])
    if x.dtype.is_float:
        raise Problem("bitwise_not is not defined on floats", "dtype")
    return b.pointwise(x.dtype, [x], lambda body, a: body.op("arith.xori", a, body.constant(True if a.dtype.is_bool else -1, a.dtype)))


def _shift(name: str, op: str):
    @operator(name, GROUP, inplace=True)
    def shift(b: Builder, input, other):
        if not promote(input, other).is_int:
            raise Problem(f"{name} is defined on integers only", "dtype")

        def emit(body, x, y):
            """Shifts by too much give 0, or the sign."""
            width = body.constant(x.dtype.bits, x.dtype)
            large = body.op("arith.ori", body.compare("ge", y, width), body.compare("lt", y, body.constant(0, x.dtype)))
            safe = body.select(large, body.constant(0, x.dtype), y)
            rest = body.constant(0, x.dtype)
            if op == "arith.shrsi":
                rest = body.select(body.compare("lt", x, rest), body.constant(-1, x.dtype), rest)
            return body.select(large, rest, body.op(op, x, safe))

        return binary(b, input, other, emit)


_shift("bitwise_left_shift", "arith.shli")
_shift("bitwise_right_shift", "arith.shrsi")


def _classify(name: str, on_float):
    @operator(name, GROUP)
    def implementation(b: Builder, input):
        (x,) = _lift(b, [input])
        other = name == "isfinite"
        return b.pointwise(dtypes.bool_, [x], on_float if x.dtype.is_float else lambda body, a: body.constant(other, dtypes.bool_))


def _is_infinite(body, a):
    return body.compare("eq", body.op("math.absf", a), body.constant(math.inf, a.dtype))


_classify("isnan", lambda body, a: body.is_nan(a))
_classify("isinf", _is_infinite)
_classify("isfinite", lambda body, a: body.compare("lt", body.op("math.absf", a), body.constant(math.inf, a.dtype)))


@operator("where", GROUP, where="f")
def where(b: Builder, condition, input=None, other=None):
    if input is None and other is None:
        from .steps import nonzero

        return nonzero(b, condition, as_tuple=True)
    condition = tensor_of(b, condition)
    if not condition.dtype.is_bool:
        raise Problem(f"where: the condition must be bool, found {condition.dtype}", "dtype")
    out = promote(input, other)
    for x in (input, other):
        dtypes.check_fits(x, out, "where", by_tensor=True)

    def emit(body, c, x, y):
        return body.select(body.cast(c, dtypes.bool_), body.cast(x, out), body.cast(y, out))

    return b.pointwise(out, [condition, need(input), need(other)], emit)


def need(x):
    return x if isinstance(x, Tensor) else need_number(x, "where")


@operator("Tensor.where", GROUP)
def _where_method(b: Builder, self, condition, other):
    return where(b, condition, self, other)


def _clamped(b: Builder, x, low, high, out):
    items = [x] + [e for e in (low, high) if e is not None]

    def emit(body, a, *ends):
        ends = list(ends)
        if low is not None:
            a = body.binary("arith.maximumf", "arith.maxsi", a, ends.pop(0))
        if high is not None:
            a = body.binary("arith.minimumf", "arith.minsi", a, ends.pop(0))
        return a

    return b.pointwise(out, items, emit, arithmetic_type(out))


@operator("clamp", GROUP, inplace=True, also=("clip",))
def clamp(b: Builder, input, min=None, max=None):
    if min is None and max is None:
        raise Problem("clamp: min or max must be given")
    out = promote(*(x for x in (input, min, max) if x is not None))
    for x in (min, max):
        dtypes.check_fits(x, out, "clamp")
    return _clamped(b, *_lift(b, [input]), min, max, out)


@operator("clamp_min", GROUP, inplace=True)
def clamp_min(b: Builder, input, min):
    return clamp(b, input, min)


@operator("clamp_max", GROUP, inplace=True)
def clamp_max(b: Builder, input, max):
    return clamp(b, input, None, max)


@operator("masked_fill", GROUP, inplace=True)
def masked_fill(b: Builder, input, mask, value):
    mask = tensor_of(b, mask)
    if not mask.dtype.is_bool:
        raise Problem(f"masked_fill: the mask must be bool, found {mask.dtype}", "dtype")
    if isinstance(value, Tensor):
        check_cast(value.dtype, input.dtype, "masked_fill")
    dtypes.check_fits(value, input.dtype, "masked_fill")

    def emit(body, x, m, v):
        return body.select(m, body.cast(v, input.dtype), x)

    return b.pointwise(input.dtype, [input, mask, value], emit)


@operator("nan_to_num", GROUP, inplace=True)
def nan_to_num(b: Builder, input, nan=0.0, posinf=None, neginf=None):
    if not input.dtype.is_float:
        return b.copy(input)
    _, most, _ = dtypes.finfo(input.dtype)
    high, low = most if posinf is None else posinf, -most if neginf is None else neginf

    def emit(body, a):
        up = body.compare("eq", a, body.constant(math.inf, a.dtype))
        down = body.compare("eq", a, body.constant(-math.inf, a.dtype))
        a = body.select(up, body.constant(high, a.dtype), body.select(down, body.constant(low, a.dtype), a))
        return body.select(body.is_nan(a), body.constant(nan, a.dtype), a)

    return b.pointwise(input.dtype, [input], emit)


@operator("heaviside", GROUP, inplace=True)
def heaviside(b: Builder, input, values):
    def emit(body, x, v):
        zero = body.constant(0, x.dtype)
        result = body.select(body.compare("gt", x, zero), body.constant(1, x.dtype), zero)
        return body.select(body.compare("eq", x, zero), v, result)

    return binary(b, input, values, emit)


@operator("isclose", GROUP)
def isclose(b: Builder, input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    def emit(body, x, y):
        if not x.dtype.is_float:
            return body.compare("eq", x, y)
        far = body.op("math.absf", body.op("arith.subf", x, y))
        bound = body.op("arith.addf", body.constant(atol, x.dtype), _times(body, body.constant(rtol, x.dtype), body.op("math.absf", y)))
        finite = body.compare("lt", body.op("math.absf", y), body.constant(math.inf, y.dtype))
        near = body.op("arith.andi", body.compare("le", far, bound), finite)
        result = body.op("arith.ori", body.compare("eq", x, y), near)
        if equal_nan:
            result = body.op("arith.ori", result, body.op("arith.andi", body.is_nan(x), body.is_nan(y)))
        return result

    return b.pointwise(dtypes.bool_, _lift(b, [input, other]), emit, promote(input, other))


# -- activations ----------------------------------------------------------------------------------------------------


def _activation(name: str, function, inplace: bool = True, keeps_integers: bool = False, where: str = ""):
    """`function(body, x, **numbers)`; its parameters are the operator's."""
    import inspect

    own = [p for p in inspect.signature(function).parameters.values()][2:]
    place = [inspect.Parameter("inplace", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False)] if inplace else []

    def implementation(b: Builder, input, *args):
        given, in_place = args[: len(own)], args[len(own) :]
        if keeps_integers and input.dtype.is_bool:
            raise Problem(f"{name} is not defined on bool", "dtype")
        out = input.dtype if keeps_integers else as_float(input.dtype)
        result = b.pointwise(out, [input], lambda body, a: function(body, a, *given), arithmetic_type(out))
        if in_place and in_place[0] is True:
            from .table import assign

            return assign(b, input, result, name)
        return result

    common = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("b", "input")]
    implementation.__signature__ = inspect.Signature([*common, *own, *place])
    operator(name, "Activations", where, inplace)(implementation)


def _leaky(body, a, negative_slope=0.01):
    return body.select(body.compare("gt", a, body.constant(0, a.dtype)), a, _times(body, a, body.constant(negative_slope, a.dtype)))


def _elu(body, a, alpha, scale=1.0, input_scale=1.0):
    negative = body.op("math.expm1", _times(body, a, body.constant(input_scale, a.dtype)) if input_scale != 1 else a)
    negative = _times(body, negative, body.constant(alpha, a.dtype)) if alpha != 1 else negative
    result = body.select(body.compare("le", a, body.constant(0, a.dtype)), negative, a)
    return _times(body, result, body.constant(scale, a.dtype)) if scale != 1 else result


def _hardtanh(body, a, min_val=-1.0, max_val=1.0):
    if not a.dtype.is_float:
        return body.op("arith.minsi", body.op("arith.maxsi", a, body.constant(int(min_val), a.dtype)), body.constant(int(max_val), a.dtype))
    return body.op("arith.minimumf", body.op("arith.maximumf", a, body.constant(min_val, a.dtype)), body.constant(max_val, a.dtype))


def _hardsigmoid(body, a):
    moved = _hardtanh(body, body.op("arith.addf", a, body.constant(3, a.dtype)), 0.0, 6.0)
    return body.op("arith.divf", moved, body.constant(6, a.dtype))


def _gelu(body, a, approximate="none"):
    half = body.constant(0.5, a.dtype)
    if approximate == "tanh":
        cube = _times(body, _times(body, a, a), a)
        inner = body.op("arith.addf", a, _times(body, cube, body.constant(0.044715, a.dtype)))
        curve = body.op("math.tanh", _times(body, inner, body.constant(math.sqrt(2 / math.pi), a.dtype)))
    elif approximate == "none":
        curve = body.op("math.erf", _times(body, a, body.constant(math.sqrt(0.5), a.dtype)))
    else:
        raise Problem(f"gelu: approximate is 'none' or 'tanh', found {approximate!r}")
    return _times(body, _times(body, a, half), body.op("arith.addf", _one(body, a), curve))


def _softplus(body, a, beta=1.0, threshold=20.0):
    scaled = _times(body, a, body.constant(beta, a.dtype)) if beta != 1 else a
    soft = body.op("math.log1p", body.op("math.exp", scaled))
    soft = body.op("arith.divf", soft, body.constant(beta, a.dtype)) if beta != 1 else soft
    return body.select(body.compare("gt", scaled, body.constant(threshold, a.dtype)), a, soft)


def _shrink(hard: bool):
    def emit(body, a, lambd=0.5):
        zero, edge = body.constant(0, a.dtype), body.constant(lambd, a.dtype)
        up, down = body.compare("gt", a, edge), body.compare("lt", a, body.op("arith.negf", edge))
        high, low = (a, a) if hard else (body.op("arith.subf", a, edge), body.op("arith.addf", a, edge))
        # NaN stays, and so does the sign of a zero where PyTorch multiplies.
        inner = body.select(body.is_nan(a), a, zero) if hard else _times(body, a, zero)
        return body.select(up, high, body.select(down, low, inner))

    return emit


def _threshold(body, a, threshold, value):
    return body.select(body.compare("le", a, body.constant(threshold, a.dtype)), body.constant(value, a.dtype), a)


_activation("leaky_relu", _leaky)
_activation("elu", lambda body, a, alpha=1.0: _elu(body, a, alpha))
_activation("celu", lambda body, a, alpha=1.0: _elu(body, a, alpha, 1.0, 1.0 / alpha), where="f")
_activation("selu", lambda body, a: _elu(body, a, 1.6732632423543772, 1.0507009873554805), where="f")
_activation("hardtanh", _hardtanh, keeps_integers=True)
_activation("relu6", lambda body, a: _hardtanh(body, a, 0.0, 6.0), keeps_integers=True)
_activation("hardsigmoid", _hardsigmoid)
_activation("hardswish", lambda body, a: _times(body, a, _hardsigmoid(body, a)))
_activation("gelu", _gelu, inplace=False)
_activation("softplus", _softplus, inplace=False)
_activation("softshrink", _shrink(False), inplace=False)
_activation("hardshrink", _shrink(True), inplace=False, where="fm")
_activation("threshold", _threshold, keeps_integers=True, where="f")


@operator("aten.elu.default", "Activations", inplace=True)
def _scaled_elu(b: Builder, input, alpha=1.0, scale=1.0, input_scale=1.0):
    out = as_float(input.dtype)
    return b.pointwise(out, [input], lambda body, a: _elu(body, a, alpha, scale, input_scale), arithmetic_type(out))


@operator("prelu", "Activations")
def prelu(b: Builder, input, weight):
    from ..ir.views import reshape

    if weight.rank == 1 and input.rank > 1:
        weight = reshape(b, weight, [1, -1] + [1] * (input.rank - 2))
    return b.pointwise(input.dtype, [input, weight], lambda body, a, w: body.select(body.compare("gt", a, body.constant(0, a.dtype)), a, _times(body, a, w)), arithmetic_type(input.dtype))


@operator("glu", "Activations", where="")
def glu(b: Builder, input, dim=-1):
    from .views import chunk

    first, second = chunk(b, input, 2, dim)
    return b.pointwise(input.dtype, [first, second], lambda body, x, y: _times(body, x, sigmoid_of(body, y)), arithmetic_type(input.dtype))


@operator("dropout", "Activations", where="", note="with training=False alone")
def dropout(b: Builder, input, p=0.5, training=True, inplace=False):
    if training is not False and p != 0:
        raise Problem("dropout draws random numbers: call .eval() on the module, or pass training=False")
    return input


def _identity_in_evaluation(name: str) -> None:
    @operator(f"torch.nn.functional.{name}", "Activations", note="with training=False alone")
    def implementation(b: Builder, input, p=0.5, training=name not in ("alpha_dropout", "feature_alpha_dropout"), inplace=False):
        return dropout(b, input, p, training)


for _name in ("dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
    _identity_in_evaluation(_name)


# -- element types ------------------------------------------------------------------------------------------------


def to_dtype(b: Builder, x: Tensor, dtype: DType, copy: bool = False) -> Tensor:
    """The tensor itself where it has the type."""
    return x if x.dtype is dtype and not copy else b.copy(x, dtype)


@operator("to", "Element types", where="m")
def to(b: Builder, self, *args, dtype=None, copy=False):
    copy = copy is True or [x for x in args if isinstance(x, bool)][1:] == [True]
    for argument in args:
        if isinstance(argument, Tensor):
            dtype = argument.dtype
        elif dtypes.of_object(argument) is not None:
            dtype = argument
        elif not isinstance(argument, bool):
            check_device(b, argument)
    return to_dtype(b, self, dtype_of(dtype, self.dtype), copy)


@operator("type", "Element types", where="m")
def type_(b: Builder, self, dtype):
    return to_dtype(b, self, dtype_of(dtype, self.dtype))


@operator("type_as", "Element types", where="m")
def type_as(b: Builder, self, other):
    return to_dtype(b, self, other.dtype)


for _name in ("float", "double", "half", "bfloat16", "int", "long", "short", "bool"):
    operator(_name, "Element types", where="m")(lambda b, self, _dtype=dtypes.ALIASES[_name]: to_dtype(b, self, _dtype))

