# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's derivatives through compiled programs: backward, forward mode, and the transforms of ``torch.func``.

A call with tensors that require gradients runs the program's forward function, whose saved values are further outputs of
one ``autograd.Function``; its backward runs the backward function. Both are programs, so a second derivative is their
derivative. Arguments and results that backward reads are saved as they are, not copied. Tangents go through the program
of :func:`fractaltensor.derivatives.tangent_program`.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch
from torch.autograd import forward_ad

from .derivatives import Derivative, derivative, tangent_program
from .errors import GradientError
from .jit import Jit
from .program import Program
from .torch_tracking import has_tangent, is_level_open, is_watched


def _dense(value: torch.Tensor) -> torch.Tensor:
    """A cotangent or tangent whose elements all have memory of their own: `y.sum()` gives one number for all."""
    if value._is_zerotensor():
        return torch.zeros_like(value)
    repeats = any(stride == 0 and size > 1 for stride, size in zip(value.stride(), value.shape))
    return value.contiguous() if repeats else value


def _cotangents(made: Derivative, given: Sequence, outputs: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    return [torch.zeros_like(outputs[i]) if given[i] is None else _dense(given[i]) for i in made.floats]


def _with_tangents(run: Callable, program: Program, engine, inputs: Sequence, tangents: dict) -> tuple:
    """Results of a program, and the tangent of each; None of those that are no floats.

    `tangents` has those of arguments, by number.
    """
    wrt = sorted(tangents)
    found = run(tangent_program(program, wrt, engine), [*inputs, *(_dense(tangents[i]) for i in wrt)])
    count = len(program.result_types)
    moved = iter(found[count:])
    return found[:count], [next(moved) if value.is_floating_point() else None for value in found[:count]]


def _run(run: Callable, jit: Jit, inputs: Sequence) -> Tuple:
    """What a derived program gives: by a call that is prepared, else as `run` does it."""
    if jit._direct is not None and torch._C._functorch.peek_interpreter_stack() is None:
        found = jit._direct.call(*inputs)
        if found is not None:
            return found if type(found) is tuple else (found,)
    return tuple(run(jit, inputs))


class Differentiated(torch.autograd.Function):
    """The forward function of a derivative, and its backward function."""

    @staticmethod
    def forward(ctx, run: Callable, made: Derivative, *inputs):
        outputs = _run(run, made.forward, inputs)
        _keep(ctx, run, made, inputs, outputs)
        return outputs

    @staticmethod
    def jvp(ctx, _run, _made, *tangents):
        given = {i: t for i, t in enumerate(tangents) if t is not None}
        forward = ctx.made.forward
        return tuple(_with_tangents(ctx.run, forward._derived, forward._engine, ctx.saved_tensors[: ctx.count], given)[1])

    @staticmethod
    def backward(ctx, *given):
        saved, made = ctx.saved_tensors, ctx.made
        if any(g is not None for g in given[made.num_results :]):
            # A second derivative: the saved values depend on the arguments, too.
            made = derivative(made.forward._derived, made.wrt, made.forward._engine)
            saved = (*saved[: ctx.count], *ctx.run(made.forward, saved[: ctx.count]))
        inputs, outputs = saved[: ctx.count], saved[ctx.count :]
        residuals = made.read(inputs, outputs) if made.places is None else [saved[place] for place in made.places]
        gradients = _run(ctx.run, made.backward, [*residuals, *_cotangents(made, given, outputs)])
        found: List[Any] = [None] * ctx.count
        for number, gradient in zip(made.wrt, gradients):
            found[number] = gradient
        return (None, None, *found)


def _keep(ctx, run: Callable, made: Derivative, inputs: Sequence, outputs: Sequence) -> None:
    ctx.set_materialize_grads(False)
    ctx.run, ctx.made, ctx.count = run, made, len(inputs)
    integers = [o for o in outputs if not o.is_floating_point()]
    if integers:
        ctx.mark_non_differentiable(*integers)
    ctx.save_for_backward(*inputs, *outputs)
    # (Within a Function PyTorch tracks no tangents, but asks for them after it.)
    if forward_ad._current_level >= 0 or torch._C._functorch.peek_interpreter_stack() is not None:
        ctx.save_for_forward(*inputs)


class Transformed(Differentiated):
    """The same as the transforms of ``torch.func`` ask for it, which costs more a call."""

    @staticmethod
    def forward(run: Callable, made: Derivative, *inputs):
        return tuple(run(made.forward, inputs))

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        _keep(ctx, inputs[0], inputs[1], inputs[2:], outputs)

    @staticmethod
    def vmap(info, in_dims, run: Callable, made: Derivative, *inputs):
        return _each(info.batch_size, in_dims[2:], inputs, lambda given: _apply(run, made, given))


class Repeated(torch.autograd.Function):
    """A program under ``torch.vmap`` alone: called once for each element of the batch."""

    @staticmethod
    def forward(run: Callable, jit: Jit, *inputs):
        return tuple(run(jit, inputs))

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        pass

    @staticmethod
    def vmap(info, in_dims, run: Callable, jit: Jit, *inputs):
        return _each(info.batch_size, in_dims[2:], inputs, lambda given: run(jit, given))


def _each(size: int, in_dims: Sequence, inputs: Sequence, call: Callable):
    """The results of a call for each element of a batch, put one after the other."""
    parts = [call([t if d is None else t.select(d, i) for t, d in zip(inputs, in_dims)]) for i in range(size)]
    return tuple(torch.stack(values) for values in zip(*parts)), (0,) * len(parts[0])


def is_wrapped(value) -> bool:
    """Whether a transform of ``torch.func`` has to see a tensor."""
    if torch._C._functorch.is_legacy_batchedtensor(value):
        raise GradientError("is_grads_batched= and vectorize= of torch.autograd do not pass through programs: use torch.func.jacrev, or leave them out")
    return torch._C._functorch.is_functorch_wrapped_tensor(value)


def _apply(run: Callable, made: Derivative, inputs: Sequence) -> Sequence:
    """The outputs of a derivative's forward function, by the Function that fits the inputs."""
    if any(is_wrapped(t) for t in inputs):
        return Transformed.apply(run, made, *inputs)
    if any(has_tangent(t) for t in inputs) or torch.is_grad_enabled() and any(t.requires_grad for t in inputs):
        return Differentiated.apply(run, made, *inputs)
    return run(made.forward, inputs)


def _floats(inputs: Sequence[torch.Tensor]) -> tuple:
    return tuple(i for i, t in enumerate(inputs) if t.is_floating_point())


def transformed(run: Callable, jit: Jit, program: Program, inputs: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    """The results of a call inside of transforms of ``torch.func``.

    Args:
      run: calls a derived program with tensors, in whatever transforms there are.
      jit: what is called.
      program: its program for the inputs.

    Raises:
      GradientError: an operation of the program has no derivative; it is named, at its line.
    """
    levels = torch._C._functorch.get_interpreter_stack() or ()
    if all(level.key() == torch._C._functorch.TransformType.Vmap for level in levels):
        return list(Repeated.apply(run, jit, *inputs))
    made = derivative(program, _floats(inputs), jit._engine)
    return list(Transformed.apply(run, made, *inputs)[: made.num_results])


def call(run: Callable, program: Program, inputs: Sequence[torch.Tensor], engine) -> List[torch.Tensor]:
    """The results of a program as tensors that autograd knows.

    Args:
      run: calls a derived program with tensors and gives its results; it is called with and without a graph being made.
      program: what the inputs are arguments of.

    Raises:
      GradientError: an operation of the program has no derivative; it is named, at its line.
    """
    wrt = tuple(i for i, t in enumerate(inputs) if t.requires_grad and t.is_floating_point()) if torch.is_grad_enabled() else ()
    moved = {i: forward_ad.unpack_dual(inputs[i]) for i in _floats(inputs) if has_tangent(inputs[i])}
    if moved and not wrt:
        plain = [moved[i].primal if i in moved else t for i, t in enumerate(inputs)]
        results, tangents = _with_tangents(run, program, engine, plain, {i: pair.tangent for i, pair in moved.items()})
        return [r if t is None else forward_ad.make_dual(r, t) for r, t in zip(results, tangents)]
    made = derivative(program, tuple(sorted({*wrt, *moved})), engine)
    return list(Differentiated.apply(run, made, *inputs)[: made.num_results])


class PreparedGradients:
    """The derivatives that calls of one program have used, by what their tensors are."""

    MOST = 256

    def __init__(self, run: Callable):
        self._run = run
        self._made: Dict[Tuple, Tuple[Derivative, Program]] = {}

    @staticmethod
    def key(args: Sequence) -> Optional[Tuple]:
        """What the derivative of a call depends on; None where PyTorch has to see more than plain tensors and their gradients."""
        if not torch.is_grad_enabled() or is_watched() or is_level_open() or torch._C._is_any_autocast_enabled():
            return None
        if torch._C._functorch.peek_interpreter_stack() is not None:
            return None
        found: List[Any] = []
        for value in args:
            if type(value) is not torch.Tensor and type(value) is not torch.nn.Parameter:
                return None
            found += (value.shape, value.dtype, value.device, value.requires_grad)
        return tuple(found)

    def add(self, args: Sequence, program: Program, engine) -> None:
        key = self.key(args)
        if key is not None:
            if len(self._made) >= self.MOST:
                self._made.clear()
            wrt = tuple(i for i, t in enumerate(args) if t.requires_grad)
            self._made[key] = derivative(program, wrt, engine), program

    def call(self, args: Sequence) -> Optional[Tuple[Program, Sequence[torch.Tensor]]]:
        """The program of a call, and its results; None for a call that is not known."""
        found = self._made.get(self.key(args))
        if found is None:
            return None
        made, program = found
        return program, Differentiated.apply(self._run, made, *args)[: made.num_results]
