# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on each number of elements: arithmetic, comparison, choice, conversion, functions.

Shapes broadcast as in NumPy. A Python number takes the element type of the other operand; two tensors
of different element types never mix (convert one with ``.to``).
"""

from __future__ import annotations

import math
from typing import List, Optional, Sequence, Tuple

from .errors import DTypeError, ShapeError, TraceError
from .lengths import Length
from .source import here
from .trace import Traced, current, decide
from .types import DType, Extent, TensorType, bool_, dtype_of, f32, i64

# -- operands -------------------------------------------------------------------------------------------


def is_number(value) -> bool:
    """A Python or NumPy number, by itself."""
    if isinstance(value, (bool, int, float)):
        return True
    return not isinstance(value, Traced) and hasattr(value, "dtype") and getattr(value, "shape", None) == () \
        and hasattr(value, "item")


def as_tensor(value, what: str, like: Optional["Traced"] = None):
    """An operand as a traced tensor; a number becomes a constant of `like`'s element type."""
    from .lists import ListValue
    from .tensors import Tensor

    if isinstance(value, Tensor):
        return value
    if isinstance(value, ListValue):
        raise TraceError(
            f"{what} takes elements, found a list ({value.type}): traverse it, "
            f"xs.map(lambda x: ...), or take one of its elements, xs[0]",
            here(),
        )
    if isinstance(value, complex):
        raise DTypeError(f"{what} takes no complex numbers, found {value!r}", here())
    if isinstance(value, Length):
        if Length.of(value).constant is None:
            raise TraceError(
                f"{what} takes data, found the length '{value}', which is known at the call only: "
                "pass it as an argument, or reduce over ft.ones",
                here(),
            )
        value = int(value)
    if is_number(value):
        number = value if isinstance(value, (bool, int, float)) else value.item()
        dtype = own_dtype(value) if like is None else number_dtype(number, like.type.dtype, what)
        return full_of((), number, dtype)
    if hasattr(value, "__dlpack__") or hasattr(value, "__array__"):
        raise TraceError(
            f"{what} uses an array ({type(value).__name__}) that is no argument of the program: "
            "pass it as an argument, or bake its data in with ft.const(array)",
            here(),
        )
    hint = ": states in a tuple are taken one by one; numbers become a tensor by ft.const([...])" if isinstance(value, (tuple, list)) else ""
    raise TraceError(f"{what} takes tensors and numbers, found {type(value).__name__}{hint}", here())


def _is_numpy_scalar(value) -> bool:
    return hasattr(value, "dtype") and is_number(value)


def own_dtype(number) -> DType:
    """The element type of a number that stands alone: a NumPy scalar has its own, where it is one of ours."""
    if _is_numpy_scalar(number):
        try:
            return dtype_of(number.dtype)
        except DTypeError:
            number = number.item()
    return bool_ if isinstance(number, bool) else i64 if isinstance(number, int) else f32


def number_dtype(number, dtype: DType, what: str) -> DType:
    """The element type of a Python number beside a tensor: the tensor's, if it can hold the number."""
    if isinstance(number, float) and not (dtype.is_float or not dtype.is_bound):
        raise DTypeError(
            f"{what} of {dtype} and the float {number!r}: convert the tensor first, x.to(ft.f32)", here()
        )
    if isinstance(number, int) and not isinstance(number, bool) and dtype.is_bool:
        raise DTypeError(f"{what} of bool and the integer {number!r}: convert the tensor first, x.to(ft.i64)", here())
    if dtype.is_integer and not -(1 << (dtype.bits - 1)) <= number < 1 << (dtype.bits - 1):
        raise DTypeError(f"{what}: {number!r} does not fit {dtype}; convert the tensor first, x.to(ft.i64)", here())
    return dtype


def full_of(shape: Sequence[Extent], number, dtype: DType):
    """A tensor full of one number."""
    if dtype.is_float:
        number = float(number)
    elif dtype.is_bool:
        number = bool(number)
    elif dtype.is_integer:
        if isinstance(number, float) and number != int(number):
            raise DTypeError(f"{number!r} is no {dtype}", here())
        number = int(number)
        if not -(1 << (dtype.bits - 1)) <= number < 1 << (dtype.bits - 1):
            raise DTypeError(f"{number!r} does not fit {dtype}", here())
    return current("a constant").constant(TensorType(dtype, shape), ("splat", number))


def same_dtype(tensors: Sequence, what: str) -> DType:
    dtype = tensors[0].type.dtype
    for tensor in tensors[1:]:
        if tensor.type.dtype != dtype:
            raise DTypeError(
                f"{what} of {tensors[0].type} and {tensor.type}: two element types never mix; "
                f"convert one, .to(ft.{dtype}) or .to(ft.{tensor.type.dtype})",
                here(),
            )
    return dtype


def broadcast_shapes(shapes: Sequence[Tuple[Extent, ...]], what: str, types=None) -> Tuple[Extent, ...]:
    """The common shape by NumPy's rule."""
    rank = max(len(shape) for shape in shapes)
    result: List[Extent] = []
    for axis in range(-rank, 0):
        extent: Extent = 1
        for shape in shapes:
            here_ = shape[axis] if -axis <= len(shape) else 1
            if here_ == 1 or here_ == extent:
                continue
            if extent != 1:
                decide(here_, extent)
                listed = " and ".join(str(t) for t in (types or [list(map(str, s)) for s in shapes]))
                raise ShapeError(
                    f"{what} of {listed}: the shapes do not broadcast, extents {extent} and {here_} differ", here()
                )
            extent = here_
        result.append(extent)
    return tuple(result)


def broadcast_to(x, shape: Sequence[Extent]):
    """`x` with extents of 1, and missing leading ones, repeated to fill `shape`."""
    from .shaping import reshape

    shape = tuple(shape)
    if x.type.shape == shape:
        return x
    value = x._value
    # A splat stays one, whatever its shape.
    if value.op is not None and value.op.kind == "constant" and value.op.attributes["payload"][0] == "splat":
        return x._trace.constant(x.type.with_shape(shape), value.op.attributes["payload"])
    if value.op is not None and value.op.kind == "broadcast":
        x = _before_broadcast(x)
        if x.type.shape == shape:
            return x
    offset = len(shape) - x.type.rank
    kept, added = [], list(range(offset))
    for axis, extent in enumerate(x.type.shape):
        if extent == shape[axis + offset]:
            kept.append(extent)
        else:
            added.append(axis + offset)
    if len(kept) != x.type.rank:
        x = reshape(x, tuple(kept))
    if not added:
        return x
    (result,) = x._trace.emit("broadcast", [x], [x.type.with_shape(shape)], dimensions=tuple(added))
    return result


def _before_broadcast(x):
    """The operand of a broadcast, in the rank that the broadcast gave it."""
    from .shaping import reshape
    from .trace import wrap_value

    op = x._value.op
    source = wrap_value(x._trace, op.operands[0])
    shape = [1 if axis in op.attributes["dimensions"] else extent for axis, extent in enumerate(x.type.shape)]
    return reshape(source, tuple(shape))


def align(values: Sequence, what: str):
    """Operands as tensors of one element type and one shape."""
    from .tensors import Tensor

    first = next((v for v in values if isinstance(v, Tensor)), None)
    if first is None:  # among numbers alone NumPy's have types
        first = next((as_tensor(v, what) for v in values if _is_numpy_scalar(v)), None)
    tensors = [as_tensor(v, what, first) for v in values]
    if any(t.type.dtype != tensors[0].type.dtype for t in tensors):
        same_dtype(tensors, what)
    shape = broadcast_shapes([t.type.shape for t in tensors], what, [t.type for t in tensors])
    return [broadcast_to(t, shape) for t in tensors]


def apply(name: str, operands: Sequence, result: Optional[TensorType] = None, **attributes):
    """An operation on operands of one shape."""
    trace = operands[0]._trace
    (value,) = trace.emit("elementwise", operands, [result or operands[0].type], name=name, **attributes)
    return value


# -- arithmetic ---------------------------------------------------------------------------------------


def _binary(what: str, floats: Optional[str], ints: Optional[str], bools: Optional[str] = None, hint: str = ""):
    def function(x1, x2):
        a, b = align([x1, x2], what)
        dtype = a.type.dtype
        name = floats if dtype.is_float or not dtype.is_bound else bools if dtype.is_bool else ints
        if name is None:
            raise DTypeError(f"{what} of {a.type}: {hint or f'not defined for {dtype}'}", here())
        return apply(name, [a, b])

    function.__name__ = function.__qualname__ = what
    function.__doc__ = f"{what}(x1, x2): elementwise, shapes broadcast; both of one element type."
    return function


_BOOL_HINT = "convert it first, x.to(ft.i64); & | ^ ~ work on bool"
add = _binary("add", "arith.addf", "arith.addi", hint=_BOOL_HINT)
subtract = _binary("subtract", "arith.subf", "arith.subi", hint=_BOOL_HINT)
multiply = _binary("multiply", "arith.mulf", "arith.muli", "arith.andi")
divide = _binary(
    "divide", "arith.divf", None, hint="integers divide with //, or convert first, x.to(ft.f32)"
)
maximum = _binary("maximum", "arith.maximumf", "arith.maxsi", "arith.ori")
minimum = _binary("minimum", "arith.minimumf", "arith.minsi", "arith.andi")
fmax = _binary("fmax", "arith.maxnumf", "arith.maxsi")
fmin = _binary("fmin", "arith.minnumf", "arith.minsi")
arctan2 = _binary("arctan2", "math.atan2", None, hint="convert it first, x.to(ft.f32)")
copysign = _binary("copysign", "math.copysign", None, hint="convert it first, x.to(ft.f32)")
_bits = "not defined for floats; convert them first, x.to(ft.i32)"
bitwise_and = _binary("bitwise_and", None, "arith.andi", "arith.andi", _bits)
bitwise_or = _binary("bitwise_or", None, "arith.ori", "arith.ori", _bits)
bitwise_xor = _binary("bitwise_xor", None, "arith.xori", "arith.xori", _bits)
left_shift = _binary("left_shift", None, "arith.shli", hint=_bits)
right_shift = _binary("right_shift", None, "arith.shrsi", hint=_bits)
logical_and, logical_or = bitwise_and, bitwise_or


def _in_single(function, a, b):
    """`function` of f16 or bf16 in f32, rounded once; of other types as it is."""
    own = a.type.dtype
    if own.is_float and own.bits == 16:
        return to(function(to(a, f32), to(b, f32)), own)
    return function(a, b)


def _divisible(x1, x2, what: str):
    a, b = align([x1, x2], what)
    if a.type.dtype.is_bool:
        raise DTypeError(f"{what} of bool: convert it first, x.to(ft.i64)", here())
    return a, b


def _is_odd_signed(rest, b):
    """Where a remainder that is not 0 has not the sign of the divisor."""
    return bitwise_and(not_equal(rest, 0), not_equal(less(rest, 0), less(b, 0)))


def _floor_of_floats(a, b):
    # The remainder is exact, so that the quotient is a whole number but for one rounding. `floor` and the comparison
    # with a half take that back (as NumPy's npy_divmod).
    rest = apply("arith.remf", [a, b])
    whole = divide(subtract(a, rest), b)
    whole = where(_is_odd_signed(rest, b), subtract(whole, 1), whole)
    floored = floor(whole)
    floored = where(greater(subtract(whole, floored), 0.5), add(floored, 1), floored)
    quotient = divide(a, b)
    floored = where(equal(whole, 0), copysign(0.0, quotient), floored)
    return where(equal(b, 0), quotient, floored)


def floor_divide(x1, x2):
    """``x1 // x2``, rounded towards minus infinity; of integers 0 where `x2` is 0, as NumPy."""
    a, b = _divisible(x1, x2, "floor_divide")
    if a.type.dtype.is_integer:
        return apply("arith.floordivsi", [a, b])
    return _in_single(_floor_of_floats, a, b)


def _signed_as_divisor(a, b):
    is_integer = a.type.dtype.is_integer
    rest = apply("arith.remsi" if is_integer else "arith.remf", [a, b])
    signed = where(_is_odd_signed(rest, b), add(rest, b), rest)
    if is_integer:
        return signed
    # A zero with the divisor's sign, and with the derivative of the remainder: 0 + 1 - 1, or -(-1 - (0 - 1)).
    below, above = negative(subtract(-1.0, add(rest, -1.0))), subtract(add(rest, 1.0), 1.0)
    return where(equal(rest, 0), where(less(copysign(1.0, b), 0), below, above), signed)


def remainder(x1, x2):
    """``x1 % x2`` with the sign of `x2`, as in Python; of integers 0 where `x2` is 0, as NumPy."""
    a, b = _divisible(x1, x2, "remainder")
    return _in_single(_signed_as_divisor, a, b)


def fmod(x1, x2):
    """The remainder of ``x1 / x2`` rounded towards 0: it has the sign of `x1`; of integers 0 where `x2` is 0."""
    a, b = _divisible(x1, x2, "fmod")
    return apply("arith.remsi" if a.type.dtype.is_integer else "arith.remf", [a, b])


def power(x1, x2):
    """``x1 ** x2``. Small whole exponents become products."""
    if isinstance(x2, (int, float)) and not isinstance(x2, bool) and x2 == int(x2) and 0 <= x2 <= 8:
        x = as_tensor(x1, "power")
        if x2 == 0:
            return full_of(x.type.shape, 1, x.type.dtype)
        result, square, exponent = None, x, int(x2)
        while exponent:
            if exponent & 1:
                result = square if result is None else multiply(result, square)
            exponent >>= 1
            if exponent:
                square = multiply(square, square)
        return result
    if isinstance(x2, float) and x2 == 0.5:
        return sqrt(x1)
    if isinstance(x2, float) and x2 == -0.5:
        return rsqrt(x1)
    a, b = align([x1, x2], "power")
    if a.type.dtype.is_integer and is_number(x2) and x2 < 0:
        raise DTypeError(f"power of {a.type} and {x2}: integers have no negative powers; convert first, x.to(ft.f32)", here())
    if a.type.dtype.is_bool:
        raise DTypeError("power of bool: convert it first, x.to(ft.i64)", here())
    return apply("math.powf" if a.type.dtype.is_float or not a.type.dtype.is_bound else "math.ipowi", [a, b])


def negative(x):
    """``-x``."""
    x = as_tensor(x, "negative")
    if x.type.dtype.is_bool:
        raise DTypeError("negative of bool: use ~x, or convert it first, x.to(ft.i64)", here())
    if x.type.dtype.is_integer:
        return subtract(full_of(x.type.shape, 0, x.type.dtype), x)
    return apply("arith.negf", [x])


def invert(x):
    """``~x``: not, of bool; all bits flipped, of integers."""
    x = as_tensor(x, "invert")
    if x.type.dtype.is_float:
        raise DTypeError(f"invert of {x.type}: not defined for floats; compare first, ~(x > 0)", here())
    ones = full_of(x.type.shape, True if x.type.dtype.is_bool else -1, x.type.dtype)
    return apply("arith.xori", [x, ones])


logical_not = bitwise_not = invert


def absolute(x):
    """The absolute value."""
    x = as_tensor(x, "absolute")
    return apply("math.absf" if x.type.dtype.is_float else "math.absi", [x])


# -- functions of floats ---------------------------------------------------------------------------------


def floats_only(x, what: str):
    x = as_tensor(x, what)
    if x.type.dtype.is_bound and not x.type.dtype.is_float:
        raise DTypeError(f"{what} takes floats, found {x.type}: convert it first, x.to(ft.f32)", here())
    return x


def _unary(what: str, name: str):
    def function(x):
        return apply(name, [floats_only(x, what)])

    function.__name__ = function.__qualname__ = what
    function.__doc__ = f"{what}(x) of each number; floats of any width."
    return function


exp = _unary("exp", "math.exp")
exp2 = _unary("exp2", "math.exp2")
expm1 = _unary("expm1", "math.expm1")
log = _unary("log", "math.log")
log2 = _unary("log2", "math.log2")
log10 = _unary("log10", "math.log10")
log1p = _unary("log1p", "math.log1p")
sqrt = _unary("sqrt", "math.sqrt")
rsqrt = _unary("rsqrt", "math.rsqrt")
sin = _unary("sin", "math.sin")
cos = _unary("cos", "math.cos")
tan = _unary("tan", "math.tan")
arcsin = _unary("arcsin", "math.asin")
arccos = _unary("arccos", "math.acos")
arctan = _unary("arctan", "math.atan")
sinh = _unary("sinh", "math.sinh")
cosh = _unary("cosh", "math.cosh")
tanh = _unary("tanh", "math.tanh")
erf = _unary("erf", "math.erf")
floor = _unary("floor", "math.floor")
ceil = _unary("ceil", "math.ceil")
trunc = _unary("trunc", "math.trunc")
round_ = _unary("round", "math.roundeven")


def reciprocal(x):
    """``1 / x``."""
    x = floats_only(x, "reciprocal")
    return divide(1.0, x)


def square(x):
    """``x * x``."""
    x = as_tensor(x, "square")
    return multiply(x, x)


def sign(x):
    """-1, 0 or 1."""
    x = as_tensor(x, "sign")
    return where(greater(x, 0), 1, where(less(x, 0), -1, x * 0))


# -- activations ---------------------------------------------------------------------------------------------


def sigmoid(x):
    """``1 / (1 + exp(-x))``."""
    # One operation, whose derivative is finite where exp(-x) is not.
    return apply("ft.sigmoid", [floats_only(x, "sigmoid")])


def relu(x):
    """``max(x, 0)``; its derivative at 0 is 0."""
    x = as_tensor(x, "relu")
    return where(less_equal(x, 0), 0, x) if x.type.dtype.is_float else maximum(x, 0)


def leaky_relu(x, negative_slope: float = 0.01):
    """x where it is positive, else ``negative_slope * x``."""
    x = floats_only(x, "leaky_relu")
    return where(greater(x, 0), x, multiply(x, negative_slope))


def silu(x):
    """``x * sigmoid(x)``; also called swish."""
    return apply("ft.silu", [floats_only(x, "silu")])


swish = silu


def softplus(x):
    """``log(1 + exp(x))``, without overflow."""
    x = floats_only(x, "softplus")
    return add(maximum(x, 0), log1p(exp(negative(absolute(x)))))


def gelu(x, approximate: str = "none"):
    """``x Φ(x)``; ``approximate="tanh"`` takes the usual formula with tanh (Hendrycks and Gimpel, 2016)."""
    x = floats_only(x, "gelu")
    if approximate == "tanh":
        inner = multiply(math.sqrt(2 / math.pi), add(x, multiply(0.044715, multiply(multiply(x, x), x))))
        return multiply(multiply(0.5, x), add(1.0, tanh(inner)))
    if approximate != "none":
        raise ShapeError(f"gelu: approximate is 'none' or 'tanh', found {approximate!r}", here())
    return multiply(multiply(0.5, x), add(1.0, erf(multiply(x, math.sqrt(0.5)))))


# -- comparison and choice -----------------------------------------------------------------------------------


def _comparison(what: str, floats: str, ints: str):
    def function(x1, x2):
        a, b = align([x1, x2], what)
        dtype = a.type.dtype
        result = a.type.with_dtype(bool_)
        if dtype.is_float or not dtype.is_bound:
            return apply("arith.cmpf", [a, b], result, predicate=floats)
        predicate = ints if dtype.is_integer or ints in ("eq", "ne") else "u" + ints[1:]
        return apply("arith.cmpi", [a, b], result, predicate=predicate)

    function.__name__ = function.__qualname__ = what
    function.__doc__ = f"{what}(x1, x2): a tensor of bool; shapes broadcast; both of one element type."
    return function


equal = _comparison("equal", "oeq", "eq")
not_equal = _comparison("not_equal", "une", "ne")
less = _comparison("less", "olt", "slt")
less_equal = _comparison("less_equal", "ole", "sle")
greater = _comparison("greater", "ogt", "sgt")
greater_equal = _comparison("greater_equal", "oge", "sge")


def isnan(x):
    """Where x is not a number: bool."""
    x = floats_only(x, "isnan")
    return apply("arith.cmpf", [x, x], x.type.with_dtype(bool_), predicate="uno")


def where(condition, x, y):
    """`x` where `condition` holds, else `y`; all three broadcast. The way to choose in a program."""
    condition = as_tensor(condition, "where")
    if condition.type.dtype.is_bound and not condition.type.dtype.is_bool:
        raise DTypeError(f"where: the condition is bool, found {condition.type}: compare it, x != 0", here())
    a, b = align([x, y], "where")
    shape = broadcast_shapes(
        [condition.type.shape, a.type.shape], "where", [condition.type, a.type]
    )
    condition, a, b = (broadcast_to(v, shape) for v in (condition, a, b))
    return apply("arith.select", [condition, a, b], a.type)


def clip(x, min=None, max=None):
    """x, not below `min` and not above `max`; its derivative at a bound is that of x."""
    x = as_tensor(x, "clip")
    if min is not None:
        x = _bounded(x, min, less, maximum)
    if max is not None:
        x = _bounded(x, max, greater, minimum)
    return x


def _bounded(x, bound, is_beyond, extremum):
    """The bound where x is beyond it; of two equal numbers `extremum` would give each half of the derivative."""
    bound = bound if is_number(bound) else as_tensor(bound, "clip")
    if not x.type.dtype.is_float or is_number(bound) and bound != bound:
        return extremum(x, bound)
    if is_number(bound):
        return where(is_beyond(x, bound), bound, x)
    return where(logical_or(is_beyond(x, bound), not_equal(bound, bound)), bound, x)


clamp = clip


# -- conversion ---------------------------------------------------------------------------------------------------


def to(x, dtype) -> "Traced":
    """`x` with another element type. Floats to integers round towards zero; to bool asks ``!= 0``."""
    x = as_tensor(x, "to")
    source, target = x.type.dtype, _target(dtype)
    if source == target:
        return x
    result = x.type.with_dtype(target)
    if not source.is_bound or not target.is_bound:
        return apply("convert", [x], result)
    if target.is_bool:
        return not_equal(x, 0)
    if source.is_float and target.is_float:
        if source.bits == target.bits:  # f16 and bf16: neither holds the other
            return to(to(x, f32), target)
        return apply("arith.extf" if source.bits < target.bits else "arith.truncf", [x], result)
    if source.is_float:
        return apply("arith.fptosi", [x], result)
    if target.is_float:
        return apply("arith.uitofp" if source.is_bool else "arith.sitofp", [x], result)
    if source.bits < target.bits:
        return apply("arith.extui" if source.is_bool else "arith.extsi", [x], result)
    return apply("arith.trunci", [x], result)


def _target(dtype) -> DType:
    if isinstance(dtype, str) and dtype not in ("f", "i"):
        trace = current("to")
        if dtype in trace.dtypes:
            return trace.dtypes[dtype]
        if trace.checking and dtype in getattr(trace, "dtype_names", ()):
            return DType(dtype, "?", 0)
    try:
        return dtype_of(dtype)
    except DTypeError as error:
        raise error.at(here())
