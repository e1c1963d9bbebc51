# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PyTorch tracks of a tensor: its gradient, or a tangent of forward-mode derivatives.

Calls that have no derivatives refuse such tensors here, so that none is lost without a word. Nothing is imported where
PyTorch is not.
"""

from __future__ import annotations

import sys
from typing import Iterable

from .errors import GradientError


def is_level_open() -> bool:
    """Whether tensors can have tangents at the moment."""
    forward = sys.modules.get("torch.autograd.forward_ad")
    return forward is not None and forward._current_level >= 0 and sys.modules["torch"]._C._is_fwd_grad_enabled()


def is_watched() -> bool:
    """Whether a mode of PyTorch sees each operation: one that traces or counts."""
    torch = sys.modules.get("torch")
    return torch is not None and torch._C._len_torch_dispatch_stack() > 0


def has_tangent(value) -> bool:
    """Whether a tensor of PyTorch is a dual one (``torch.autograd.forward_ad``)."""
    if not is_level_open() or not value.is_floating_point():
        return False
    return sys.modules["torch.autograd.forward_ad"].unpack_dual(value).tangent is not None


def is_tracked(value) -> bool:
    """Whether what is made of a value has a derivative by PyTorch."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return False
    return value.requires_grad and torch.is_grad_enabled() or has_tangent(value)


def refuse(name: str, values: Iterable, what: str) -> None:
    """Refuses values with derivatives in a call that has none.

    Args:
      name: the function's.
      values: its arguments.
      what: why it has none, and what to do.

    Raises:
      GradientError: one of the values requires a gradient or has a tangent.
    """
    for number, value in enumerate(values):
        if is_tracked(value):
            found = "has a tangent" if has_tangent(value) else "requires a gradient"
            raise GradientError(f"{name}: argument {number} {found}, and {what}")
