# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices that lie transposed, as ``linear.weight.T`` does: read as they lie where products alone read them.

A product names a loop for each axis of an operand, so that it reads a transposed one through other names. The program is
traced once more for such a call: its argument has the type of what lies in memory, and the function gets the transpose of it.
"""

from __future__ import annotations

from typing import Sequence, Tuple

from .arrays import ArrayInfo
from .types import TensorType

#: Libraries whose arrays can be seen transposed without a copy.
_LIBRARIES = ("numpy", "torch", "cupy")


def _exchanged(axes: Tuple[int, ...]) -> Tuple[int, ...]:
    return (*axes[:-2], axes[-1], axes[-2])


def as_it_lies(info: ArrayInfo) -> ArrayInfo:
    """The same memory with the last two axes exchanged."""
    assert info.strides is not None
    return info._replace(shape=_exchanged(info.shape), strides=_exchanged(info.strides))


def type_as_it_lies(type_: TensorType) -> TensorType:
    return type_.with_shape(_exchanged(tuple(type_.shape)))


def places(types: Sequence, infos: Sequence[ArrayInfo]) -> Tuple[int, ...]:
    """The tensors among the arguments that are dense but for the order of their last two axes."""
    from .plan import fits

    return tuple(
        i for i, (type_, info) in enumerate(zip(types, infos))
        if isinstance(type_, TensorType) and len(info.shape) >= 2 and info.kind in _LIBRARIES and not fits(info, 0) and fits(as_it_lies(info), 0)
    )
