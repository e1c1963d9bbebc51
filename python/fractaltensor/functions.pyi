# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Made by python/generate_stubs.py.
from typing import Any, Optional, Sequence, Tuple, Union

from .tensors import Tensor
from .types import DType

TensorLike = Union[Tensor, bool, int, float]
DTypeLike = Union[DType, str, Any]
Axes = Union[None, int, Sequence[int]]

def abs(x: TensorLike) -> Tensor:
    """The absolute value."""
    ...

def absolute(x: TensorLike) -> Tensor:
    """The absolute value."""
    ...

def acos(x: TensorLike) -> Tensor:
    """arccos(x) of each number; floats of any width."""
    ...

def add(x1: TensorLike, x2: TensorLike) -> Tensor:
    """add(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def all(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """Whether all numbers along the axes are not 0: bool."""
    ...

def amax(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """max(x, axis=None, keepdims=False): along axes; f16 and bf16 accumulate in f32 and round once."""
    ...

def amin(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """min(x, axis=None, keepdims=False): along axes; f16 and bf16 accumulate in f32 and round once."""
    ...

def any(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """Whether any number along the axes is not 0: bool."""
    ...

def arange(*bounds: Any, dtype: DTypeLike = ...) -> Tensor:
    """``arange(stop)`` or ``arange(start, stop, step)``: an element of rank 1; i64 unless `dtype`."""
    ...

def arccos(x: TensorLike) -> Tensor:
    """arccos(x) of each number; floats of any width."""
    ...

def arcsin(x: TensorLike) -> Tensor:
    """arcsin(x) of each number; floats of any width."""
    ...

def arctan(x: TensorLike) -> Tensor:
    """arctan(x) of each number; floats of any width."""
    ...

def arctan2(x1: TensorLike, x2: TensorLike) -> Tensor:
    """arctan2(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def argmax(x: TensorLike, axis: Axes = ...) -> Tensor:
    """The index of the largest number along an axis, the first of equals; of the first NaN, if there is one: i64."""
    ...

def argmin(x: TensorLike, axis: Axes = ...) -> Tensor:
    """The index of the smallest number along an axis, the first of equals; of the first NaN, if there is one: i64."""
    ...

def array(array: Any, dtype: DTypeLike = ...) -> Tensor:
    """Data baked into the program: an element that is the same at every call."""
    ...

def asarray(array: Any, dtype: DTypeLike = ...) -> Tensor:
    """Data baked into the program: an element that is the same at every call."""
    ...

def asin(x: TensorLike) -> Tensor:
    """arcsin(x) of each number; floats of any width."""
    ...

def atan(x: TensorLike) -> Tensor:
    """arctan(x) of each number; floats of any width."""
    ...

def atan2(x1: TensorLike, x2: TensorLike) -> Tensor:
    """arctan2(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def bitwise_and(x1: TensorLike, x2: TensorLike) -> Tensor:
    """bitwise_and(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def bitwise_not(x: TensorLike) -> Tensor:
    """``~x``: not, of bool; all bits flipped, of integers."""
    ...

def bitwise_or(x1: TensorLike, x2: TensorLike) -> Tensor:
    """bitwise_or(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def bitwise_xor(x1: TensorLike, x2: TensorLike) -> Tensor:
    """bitwise_xor(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def bmm(x1: TensorLike, x2: TensorLike) -> Tensor:
    """``x1 @ x2`` as in NumPy: matrices, vectors, and leading axes that broadcast."""
    ...

def broadcast_to(x: TensorLike, *shape: Any) -> Tensor:
    """`x` broadcast to a shape; -1 keeps an extent."""
    ...

def cat(values: Any, axis: Axes = ..., *, dim: Axes = ...) -> Any:
    """Elements one after another along an axis; or lists one after another."""
    ...

def ceil(x: TensorLike) -> Tensor:
    """ceil(x) of each number; floats of any width."""
    ...

def chunk(x: TensorLike, chunks: int, axis: Axes = ...) -> Tuple[Tensor, ...]:
    """As :func:`split` into a number of parts (PyTorch's name)."""
    ...

def clamp(x: TensorLike, min: Optional[TensorLike] = ..., max: Optional[TensorLike] = ...) -> Tensor:
    """x, not below `min` and not above `max`; its derivative at a bound is that of x."""
    ...

def clip(x: TensorLike, min: Optional[TensorLike] = ..., max: Optional[TensorLike] = ...) -> Tensor:
    """x, not below `min` and not above `max`; its derivative at a bound is that of x."""
    ...

def concatenate(values: Any, axis: Axes = ..., *, dim: Axes = ...) -> Any:
    """Elements one after another along an axis; or lists one after another."""
    ...

def const(array: Any, dtype: DTypeLike = ...) -> Tensor:
    """Data baked into the program: an element that is the same at every call."""
    ...

def copysign(x1: TensorLike, x2: TensorLike) -> Tensor:
    """copysign(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def cos(x: TensorLike) -> Tensor:
    """cos(x) of each number; floats of any width."""
    ...

def cosh(x: TensorLike) -> Tensor:
    """cosh(x) of each number; floats of any width."""
    ...

def cumsum(x: TensorLike, axis: Axes = ..., *, dim: Axes = ...) -> Tensor:
    """Sums of all numbers up to each one along an axis, in ⌈log2 n⌉ steps of n additions (Hillis and Steele, 1986)."""
    ...

def div(x1: TensorLike, x2: TensorLike) -> Tensor:
    """divide(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def divide(x1: TensorLike, x2: TensorLike) -> Tensor:
    """divide(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def dot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The inner product of two vectors; matmul otherwise."""
    ...

def einsum(subscripts: str, *operands: TensorLike) -> Tensor:
    """Einstein's notation over one or two elements: ``einsum("mk,nk->mn", q, k)``."""
    ...

def eq(x1: TensorLike, x2: TensorLike) -> Tensor:
    """equal(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def equal(x1: TensorLike, x2: TensorLike) -> Tensor:
    """equal(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def erf(x: TensorLike) -> Tensor:
    """erf(x) of each number; floats of any width."""
    ...

def exp(x: TensorLike) -> Tensor:
    """exp(x) of each number; floats of any width."""
    ...

def exp2(x: TensorLike) -> Tensor:
    """exp2(x) of each number; floats of any width."""
    ...

def expand_dims(x: TensorLike, axis: Axes) -> Tensor:
    """`x` with an extent of 1 put in at `axis`."""
    ...

def expm1(x: TensorLike) -> Tensor:
    """expm1(x) of each number; floats of any width."""
    ...

def eye(n: Any, m: Any = ..., dtype: DTypeLike = ...) -> Tensor:
    """1 on the diagonal, else 0."""
    ...

def floor(x: TensorLike) -> Tensor:
    """floor(x) of each number; floats of any width."""
    ...

def floor_divide(x1: TensorLike, x2: TensorLike) -> Tensor:
    """``x1 // x2``, rounded towards minus infinity; of integers 0 where `x2` is 0, as NumPy."""
    ...

def fmax(x1: TensorLike, x2: TensorLike) -> Tensor:
    """fmax(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def fmin(x1: TensorLike, x2: TensorLike) -> Tensor:
    """fmin(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def fmod(x1: TensorLike, x2: TensorLike) -> Tensor:
    """The remainder of ``x1 / x2`` rounded towards 0: it has the sign of `x1`; of integers 0 where `x2` is 0."""
    ...

def full(shape: Any, fill_value: TensorLike, dtype: DTypeLike = ...) -> Tensor:
    """An element full of one number; f32, i64 or bool by the number, or a NumPy scalar's own type, unless `dtype` says otherwise."""
    ...

def full_like(x: TensorLike, fill_value: TensorLike, dtype: DTypeLike = ...) -> Tensor:
    """One number in the shape and element type of `x`."""
    ...

def ge(x1: TensorLike, x2: TensorLike) -> Tensor:
    """greater_equal(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def gelu(x: TensorLike, approximate: str = ...) -> Tensor:
    """``x Φ(x)``; ``approximate="tanh"`` takes the usual formula with tanh (Hendrycks and Gimpel, 2016)."""
    ...

def greater(x1: TensorLike, x2: TensorLike) -> Tensor:
    """greater(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def greater_equal(x1: TensorLike, x2: TensorLike) -> Tensor:
    """greater_equal(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def gt(x1: TensorLike, x2: TensorLike) -> Tensor:
    """greater(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def indices(shape: Any, axis: Axes = ..., dtype: DTypeLike = ...) -> Tensor:
    """An element that holds, at each place, the index of the place along `axis`; i64 unless `dtype`."""
    ...

def invert(x: TensorLike) -> Tensor:
    """``~x``: not, of bool; all bits flipped, of integers."""
    ...

def isnan(x: TensorLike) -> Tensor:
    """Where x is not a number: bool."""
    ...

def layer_norm(x: TensorLike, weight: Optional[Tensor] = ..., bias: Optional[Tensor] = ..., eps: float = ..., axis: Axes = ...) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` along an axis (Ba, Kiros and Hinton, 2016)."""
    ...

def le(x1: TensorLike, x2: TensorLike) -> Tensor:
    """less_equal(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def leaky_relu(x: TensorLike, negative_slope: float = ...) -> Tensor:
    """x where it is positive, else ``negative_slope * x``."""
    ...

def left_shift(x1: TensorLike, x2: TensorLike) -> Tensor:
    """left_shift(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def less(x1: TensorLike, x2: TensorLike) -> Tensor:
    """less(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def less_equal(x1: TensorLike, x2: TensorLike) -> Tensor:
    """less_equal(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def linear(x: TensorLike, weight: Optional[Tensor], bias: Optional[Tensor] = ...) -> Tensor:
    """``x @ weight.T + bias``, weights as in PyTorch: outputs x inputs."""
    ...

def log(x: TensorLike) -> Tensor:
    """log(x) of each number; floats of any width."""
    ...

def log10(x: TensorLike) -> Tensor:
    """log10(x) of each number; floats of any width."""
    ...

def log1p(x: TensorLike) -> Tensor:
    """log1p(x) of each number; floats of any width."""
    ...

def log2(x: TensorLike) -> Tensor:
    """log2(x) of each number; floats of any width."""
    ...

def log_softmax(x: TensorLike, axis: Axes = ..., *, dim: Axes = ...) -> Tensor:
    """The logarithm of :func:`softmax`, without its overflow."""
    ...

def logical_and(x1: TensorLike, x2: TensorLike) -> Tensor:
    """bitwise_and(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def logical_not(x: TensorLike) -> Tensor:
    """``~x``: not, of bool; all bits flipped, of integers."""
    ...

def logical_or(x1: TensorLike, x2: TensorLike) -> Tensor:
    """bitwise_or(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def logsumexp(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """``log(sum(exp(x)))`` along axes, without overflow."""
    ...

def lt(x1: TensorLike, x2: TensorLike) -> Tensor:
    """less(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def matmul(x1: TensorLike, x2: TensorLike) -> Tensor:
    """``x1 @ x2`` as in NumPy: matrices, vectors, and leading axes that broadcast."""
    ...

def max(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """max(x, axis=None, keepdims=False): along axes; f16 and bf16 accumulate in f32 and round once."""
    ...

def maximum(x1: TensorLike, x2: TensorLike) -> Tensor:
    """maximum(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def mean(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """The mean along axes."""
    ...

def min(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """min(x, axis=None, keepdims=False): along axes; f16 and bf16 accumulate in f32 and round once."""
    ...

def minimum(x1: TensorLike, x2: TensorLike) -> Tensor:
    """minimum(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def mm(x1: TensorLike, x2: TensorLike) -> Tensor:
    """``x1 @ x2`` as in NumPy: matrices, vectors, and leading axes that broadcast."""
    ...

def mod(x1: TensorLike, x2: TensorLike) -> Tensor:
    """``x1 % x2`` with the sign of `x2`, as in Python; of integers 0 where `x2` is 0, as NumPy."""
    ...

def mul(x1: TensorLike, x2: TensorLike) -> Tensor:
    """multiply(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def multiply(x1: TensorLike, x2: TensorLike) -> Tensor:
    """multiply(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def ne(x1: TensorLike, x2: TensorLike) -> Tensor:
    """not_equal(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def neg(x: TensorLike) -> Tensor:
    """``-x``."""
    ...

def negative(x: TensorLike) -> Tensor:
    """``-x``."""
    ...

def norm(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """The Euclidean norm along axes: ``sqrt(sum(x²))``."""
    ...

def not_equal(x1: TensorLike, x2: TensorLike) -> Tensor:
    """not_equal(x1, x2): a tensor of bool; shapes broadcast; both of one element type."""
    ...

def ones(*shape: Any, dtype: DTypeLike = ...) -> Tensor:
    """An element full of 1; f32 unless `dtype` says otherwise."""
    ...

def ones_like(x: TensorLike, dtype: DTypeLike = ...) -> Tensor:
    """1 in the shape and element type of `x`."""
    ...

def outer(x1: TensorLike, x2: TensorLike) -> Tensor:
    """All products of two vectors: rank 2."""
    ...

def permute(x: TensorLike, *axes: Any) -> Tensor:
    """`x` with its axes permuted; without `axes` in reverse order."""
    ...

def permute_dims(x: TensorLike, *axes: Any) -> Tensor:
    """`x` with its axes permuted; without `axes` in reverse order."""
    ...

def pow(x1: TensorLike, x2: TensorLike) -> Tensor:
    """``x1 ** x2``. Small whole exponents become products."""
    ...

def power(x1: TensorLike, x2: TensorLike) -> Tensor:
    """``x1 ** x2``. Small whole exponents become products."""
    ...

def prod(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """prod(x, axis=None, keepdims=False): along axes; f16 and bf16 accumulate in f32 and round once."""
    ...

def ravel(x: TensorLike) -> Tensor:
    """All numbers in one row."""
    ...

def reciprocal(x: TensorLike) -> Tensor:
    """``1 / x``."""
    ...

def relu(x: TensorLike) -> Tensor:
    """``max(x, 0)``; its derivative at 0 is 0."""
    ...

def remainder(x1: TensorLike, x2: TensorLike) -> Tensor:
    """``x1 % x2`` with the sign of `x2`, as in Python; of integers 0 where `x2` is 0, as NumPy."""
    ...

def reshape(x: TensorLike, *shape: Any) -> Tensor:
    """`x` with the same numbers in row-major order under another shape; one extent may be -1."""
    ...

def right_shift(x1: TensorLike, x2: TensorLike) -> Tensor:
    """right_shift(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def rms_norm(x: TensorLike, weight: Optional[Tensor] = ..., eps: float = ..., axis: Axes = ...) -> Tensor:
    """``x / sqrt(mean(x²) + eps) * weight`` along an axis (Zhang and Sennrich, 2019)."""
    ...

def roll(x: TensorLike, shift: TensorLike, axis: Axes = ...) -> Tensor:
    """`x` turned round along an axis: what leaves at the end comes back at the beginning."""
    ...

def round(x: TensorLike) -> Tensor:
    """round(x) of each number; floats of any width."""
    ...

def rsqrt(x: TensorLike) -> Tensor:
    """rsqrt(x) of each number; floats of any width."""
    ...

def sigmoid(x: TensorLike) -> Tensor:
    """``1 / (1 + exp(-x))``."""
    ...

def sign(x: TensorLike) -> Tensor:
    """-1, 0 or 1."""
    ...

def silu(x: TensorLike) -> Tensor:
    """``x * sigmoid(x)``; also called swish."""
    ...

def sin(x: TensorLike) -> Tensor:
    """sin(x) of each number; floats of any width."""
    ...

def sinh(x: TensorLike) -> Tensor:
    """sinh(x) of each number; floats of any width."""
    ...

def softmax(x: TensorLike, axis: Axes = ..., *, dim: Axes = ...) -> Tensor:
    """``exp(x - max) / sum(exp(x - max))`` along an axis."""
    ...

def softplus(x: TensorLike) -> Tensor:
    """``log(1 + exp(x))``, without overflow."""
    ...

def sqrt(x: TensorLike) -> Tensor:
    """sqrt(x) of each number; floats of any width."""
    ...

def square(x: TensorLike) -> Tensor:
    """``x * x``."""
    ...

def squeeze(x: TensorLike, axis: Axes = ...) -> Tensor:
    """`x` without extents of 1: all of them, or those at `axis`."""
    ...

def stack(tensors: Sequence[Tensor], axis: Axes = ...) -> Tensor:
    """Elements of one shape along a new axis."""
    ...

def std(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, correction: float = ..., dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """The square root of :func:`var`."""
    ...

def sub(x1: TensorLike, x2: TensorLike) -> Tensor:
    """subtract(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def subtract(x1: TensorLike, x2: TensorLike) -> Tensor:
    """subtract(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def sum(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """sum(x, axis=None, keepdims=False): along axes; f16 and bf16 accumulate in f32 and round once."""
    ...

def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Tensor:
    """`x` with two axes exchanged."""
    ...

def swish(x: TensorLike) -> Tensor:
    """``x * sigmoid(x)``; also called swish."""
    ...

def take(x: TensorLike, index: TensorLike, axis: Axes = ...) -> Tensor:
    """``x[..., index, ...]`` along an axis, where the index is data: an integer of rank 0."""
    ...

def tan(x: TensorLike) -> Tensor:
    """tan(x) of each number; floats of any width."""
    ...

def tanh(x: TensorLike) -> Tensor:
    """tanh(x) of each number; floats of any width."""
    ...

def tensor(array: Any, dtype: DTypeLike = ...) -> Tensor:
    """Data baked into the program: an element that is the same at every call."""
    ...

def tile(x: TensorLike, reps: Any) -> Tensor:
    """`x` repeated along its axes."""
    ...

def to(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """`x` with another element type. Floats to integers round towards zero; to bool asks ``!= 0``."""
    ...

def trace(x: TensorLike) -> Tensor:
    """The sum of the diagonal of the last two axes."""
    ...

def transpose(x: TensorLike, *axes: Any) -> Tensor:
    """`x` with its axes permuted; without `axes` in reverse order."""
    ...

def tril(x: TensorLike, diagonal: int = ...) -> Tensor:
    """The lower triangle of the last two axes; the rest is 0."""
    ...

def triu(x: TensorLike, diagonal: int = ...) -> Tensor:
    """The upper triangle of the last two axes; the rest is 0."""
    ...

def true_divide(x1: TensorLike, x2: TensorLike) -> Tensor:
    """divide(x1, x2): elementwise, shapes broadcast; both of one element type."""
    ...

def trunc(x: TensorLike) -> Tensor:
    """trunc(x) of each number; floats of any width."""
    ...

def unsqueeze(x: TensorLike, axis: Axes) -> Tensor:
    """`x` with an extent of 1 put in at `axis`."""
    ...

def var(x: TensorLike, axis: Axes = ..., keepdims: bool = ..., *, correction: float = ..., dim: Axes = ..., keepdim: bool = ...) -> Tensor:
    """The variance around the mean, divided by n - `correction` (0, as in NumPy)."""
    ...

def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """`x` where `condition` holds, else `y`; all three broadcast. The way to choose in a program."""
    ...

def zeros(*shape: Any, dtype: DTypeLike = ...) -> Tensor:
    """An element full of 0; f32 unless `dtype` says otherwise. Extents are integers or names."""
    ...

def zeros_like(x: TensorLike, dtype: DTypeLike = ...) -> Tensor:
    """0 in the shape and element type of `x`."""
    ...
