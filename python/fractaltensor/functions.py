# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of elements under NumPy's and PyTorch's names. All of them are in ``ft``, too."""

from .elementwise import (
    absolute, add, arccos, arcsin, arctan, arctan2, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, ceil, clamp,
    clip, copysign, cos, cosh, divide, equal, erf, exp, exp2, expm1, floor, floor_divide, fmax, fmin, fmod, gelu, greater,
    greater_equal, invert, isnan, leaky_relu, left_shift, less, less_equal, log, log10, log1p, log2, logical_and,
    logical_not, logical_or, maximum, minimum, multiply, negative, not_equal, power, reciprocal, relu, remainder,
    right_shift, rsqrt, sigmoid, sign, silu, sin, sinh, softplus, sqrt, square, subtract, swish, tan, tanh, to, trunc, where,
)
from .elementwise import round_ as round  # noqa: A004
from .products import dot, einsum, linear, matmul, outer
from .reductions import (
    amax, amin, argmax, argmin, cumsum, layer_norm, log_softmax, logsumexp, mean, norm, prod, rms_norm,
    softmax, std, trace, var,
)
from .reductions import all_ as all  # noqa: A004
from .reductions import any_ as any  # noqa: A004
from .reductions import max_ as max  # noqa: A004
from .reductions import min_ as min  # noqa: A004
from .reductions import sum_ as sum  # noqa: A004
from .shaping import (
    arange, chunk, const, expand_dims, eye, full, full_like, indices, ones, ones_like, permute, permute_dims, ravel,
    reshape, roll, squeeze, stack, swapaxes, take, tile, transpose, tril, triu, unsqueeze, zeros, zeros_like,
)
from .shaping import expand as broadcast_to

abs = absolute  # noqa: A001
pow = power  # noqa: A001
sub, mul, div, true_divide, neg = subtract, multiply, divide, divide, negative
mod = remainder
eq, ne, lt, le, gt, ge = equal, not_equal, less, less_equal, greater, greater_equal
mm = bmm = matmul
atan2, asin, acos, atan = arctan2, arcsin, arccos, arctan
asarray = array = tensor = const


def concatenate(values, axis: int = 0, *, dim=None):
    """Elements one after another along an axis; or lists one after another."""
    from .lists import ListValue, concat

    values = list(values)
    if values and isinstance(values[0], ListValue):
        return concat(*values)
    from .shaping import concatenate_elements

    return concatenate_elements(values, axis if dim is None else dim)


cat = concatenate


def _complete_docstrings() -> None:
    from .docstrings import complete

    complete([value for name, value in globals().items() if not name.startswith("_") and callable(value)])


_complete_docstrings()
