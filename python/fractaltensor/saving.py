# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program says of its derivative: which states are saved, and where gradients stop."""

from __future__ import annotations

from typing import Tuple, TypeVar, Union

from .errors import ArgumentError, TraceError
from .source import here
from .trace import Traced

Value = TypeVar("Value")


def checkpoint(result: Value, every: Union[int, Tuple[int, ...]]) -> Value:
    """Saves the states of a fold or scan at each `every`-th iteration alone, for the backward function.

    The states of the others are computed again, a chunk of iterations at a time, before the chunk is reversed. With
    `every` near the square root of the length L, about 2 * sqrt(L) states are in memory at once in the place of L; the
    fold's operations run once more. The program's results and gradients stay the same.

    Args:
      result: what a fold or scan returned; of several results, any or all of them.

      every: iterations of a chunk; a tuple divides chunks again, into smaller ones: `(256, 16)`.

    Returns:
      `result`.

    Shapes:
      Any.

    Raises:
      TraceError: `result` is not what a fold or scan returned, or a traced program is not being made.
      ArgumentError: `every` is not a number of at least 1, or a tuple of such numbers.
    """
    sizes = every if isinstance(every, (tuple, list)) else (every,)
    if not sizes or not all(isinstance(size, int) and not isinstance(size, bool) and size >= 1 for size in sizes):
        raise ArgumentError(f"ft.checkpoint: every is a number of iterations, at least 1, or a tuple of them; found {every!r}", here())
    for value in result if isinstance(result, (tuple, list)) else (result,):
        op = value._value.op if isinstance(value, Traced) else None
        if op is None or op.kind != "aggregate":
            found = f"a value that {op.kind} made" if op is not None else type(value).__name__
            raise TraceError(f"ft.checkpoint takes what a fold or scan returned, found {found}", here())
        op.attributes["checkpoint"] = tuple(sizes)
    return result


def stop_gradient(x: Value) -> Value:
    """`x`, which derivatives take for a constant.

    Args:
      x: a tensor or list of a program, a number; or an array outside of a program.

    Returns:
      The same value. Of PyTorch's tensors, outside of a program, `x.detach()`.

    Shapes:
      The result has the shape of `x`.

    Raises:
      TraceError: `x` is no tensor, list or number.
    """
    from .elementwise import apply, as_tensor
    from .lists import ListValue

    if isinstance(x, ListValue):
        return x.map(stop_gradient)
    if not isinstance(x, Traced):
        return x.detach() if hasattr(x, "detach") else x
    x = as_tensor(x, "stop_gradient")
    return apply("ft.stop_gradient", [x], x.type) if x.type.dtype.is_float else x
