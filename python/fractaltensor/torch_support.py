# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: calls on tensors that require gradients, which this version does not compute."""

from __future__ import annotations

from typing import Callable

from .errors import GradientError


def without_gradients(plan, name: str, kind: str, device) -> Callable:
    """Runs forward; ``backward`` through the result raises :class:`GradientError`."""
    import torch

    from .jit import current_stream

    class Forward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *values):
            leaves = []
            result = plan.run(values, current_stream(kind, device, None))

            def collect(item):
                if isinstance(item, tuple):
                    for inner in item:
                        collect(inner)
                else:
                    leaves.append(item)

            collect(result)
            return tuple(leaves)

        @staticmethod
        def backward(ctx, *_):
            raise GradientError(
                f"{name}: backward through a compiled program: this version computes forward only; "
                "call it under torch.no_grad(), or detach its arguments"
            )

    def run(values, stream=None):
        leaves = Forward.apply(*values)
        return leaves[0] if plan.single else plan.program.unflatten(leaves)

    return run
