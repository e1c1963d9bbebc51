# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's autograd through compiled programs.

A call with tensors that require gradients runs the program's forward function, whose saved values are further outputs of
one ``autograd.Function``; its backward runs the backward function. Both are programs, so a second derivative is their
derivative. Arguments and results that backward reads are saved as they are, not copied.
"""

from __future__ import annotations

from typing import Any, Callable, List, Sequence

import torch

from .derivatives import Derivative, derivative
from .program import Program


def _dense(cotangent: torch.Tensor) -> torch.Tensor:
    """A cotangent whose elements all have memory of their own: `y.sum()` gives one number for all."""
    repeats = any(stride == 0 and size > 1 for stride, size in zip(cotangent.stride(), cotangent.shape))
    return cotangent.contiguous() if repeats else cotangent


def _cotangents(made: Derivative, given: Sequence, outputs: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    return [torch.zeros_like(outputs[i]) if given[i] is None else _dense(given[i]) for i in made.floats]


class Differentiated(torch.autograd.Function):
    """The forward function of a derivative, and its backward function."""

    @staticmethod
    def forward(ctx, run: Callable, made: Derivative, *inputs):
        ctx.set_materialize_grads(False)
        outputs = run(made.forward, inputs)
        ctx.run, ctx.made, ctx.count = run, made, len(inputs)
        ctx.mark_non_differentiable(*(o for o in outputs if not o.is_floating_point()))
        ctx.save_for_backward(*inputs, *outputs)
        return tuple(outputs)

    @staticmethod
    def backward(ctx, *given):
        saved, made = ctx.saved_tensors, ctx.made
        inputs, outputs = saved[: ctx.count], saved[ctx.count :]
        if any(g is not None for g in given[made.num_results :]):
            # A second derivative: the saved values depend on the arguments, too.
            made = derivative(made.forward._derived, made.wrt, made.forward._engine)
            outputs = ctx.run(made.forward, inputs)
        gradients = ctx.run(made.backward, [*made.read(inputs, outputs), *_cotangents(made, given, outputs)])
        found: List[Any] = [None] * ctx.count
        for number, gradient in zip(made.wrt, gradients):
            found[number] = gradient
        return (None, None, *found)


def call(run: Callable, program: Program, inputs: Sequence[torch.Tensor], engine) -> List[torch.Tensor]:
    """The results of a program as tensors that autograd knows.

    Args:
      run: calls a derived program with tensors and gives its results; it is called with and without a graph being made.
      program: what the inputs are arguments of.

    Raises:
      GradientError: an operation of the program has no derivative; it is named, at its line.
    """
    wrt = tuple(i for i, t in enumerate(inputs) if t.requires_grad and t.is_floating_point())
    made = derivative(program, wrt, engine)
    return list(Differentiated.apply(run, made, *inputs)[: made.num_results])
