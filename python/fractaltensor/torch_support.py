# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: compiled programs as an operator, for ``torch.compile``, fake tensors and CUDA graphs.

One operator, ``torch.ops.fractaltensor.call(program, inputs)``, serves all programs; `program` is a number
that each gets. Under ``torch.compile`` a call of a program becomes this operator; with plain tensors it goes
straight to the compiled code, which costs less.

There are no gradients in this version: a backward pass through a program raises
:class:`fractaltensor.GradientError`.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any, Dict, List, Optional, Sequence

import torch

from . import arrays
from .errors import GradientError, TraceError
from .types import ListType

_numbers = itertools.count(1)
_programs: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()
#: Programs that a graph of PyTorch may hold by their number.
_held: Dict[int, Any] = {}


def number_of(jit) -> int:
    """The number by which the operator knows a program."""
    found = jit.__dict__.get("_torch_number")
    if found is None:
        found = jit._torch_number = next(_numbers)
        _programs[found] = jit
    return found


def _jit(number: int, hold: bool = False):
    found = _programs.get(number)
    if hold:
        _held[number] = found
    if found is None:
        raise TraceError(f"torch.ops.fractaltensor.call: there is no program {number}")
    return found


# -- the operator ------------------------------------------------------------------------------------------------

_library = torch.library.Library("fractaltensor", "DEF")
_library.define("call(int program, Tensor[] inputs) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))
_library.define("no_gradients(int program, Tensor[] gradients, Tensor[] inputs) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))


def _run_prepared(jit, inputs: Sequence[torch.Tensor]) -> Optional[List[torch.Tensor]]:
    """A call that is prepared; None for any other, and where PyTorch has to see it."""
    if jit is None or jit._direct is None:
        return None
    found = jit._direct.call(*inputs)
    return found if found is None else list(found) if type(found) is tuple else [found]


def _run(program: int, inputs: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    jit = _jit(program)
    found = _run_prepared(jit, inputs)
    return jit._run_flat(inputs) if found is None else found


def _fake(program: int, inputs: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    """Results without data: element shapes and types are decided, list lengths may be symbols of PyTorch."""
    jit = _jit(program, hold=True)
    _, statics = jit._arrange(inputs, {})
    lengths: Dict[str, Any] = {}
    extents: Dict[str, int] = {}
    dtypes = {}
    for parameter, value in zip(jit.signature.traced, inputs):
        type_ = parameter.type
        element = type_.element if isinstance(type_, ListType) else type_
        dims = [*(type_.lengths if isinstance(type_, ListType) else ()), *element.shape]
        if len(dims) != value.dim():
            raise TraceError(f"{jit.__name__}: argument '{parameter.name}' is {type_}, found a tensor of rank {value.dim()}")
        found = arrays.torch_dtype(value.dtype)
        if not element.dtype.is_bound:
            dtypes[element.dtype.name] = found
        elif found != element.dtype:
            raise TraceError(f"{jit.__name__}: argument '{parameter.name}' is {type_}, found numbers of {value.dtype}")
        for dim, size in zip(dims, value.shape):
            name = getattr(dim, "single_name", None)
            if name is None:
                continue
            if name in jit.signature.extent_names:
                extents[name] = int(size)
            else:
                lengths.setdefault(name, size)
    traced = jit._program(extents, dtypes, statics)
    results = []
    for type_ in traced.result_types:
        dims = [*(type_.lengths if isinstance(type_, ListType) else ()), *(type_.element.shape if isinstance(type_, ListType) else type_.shape)]
        shape = [d if isinstance(d, int) else d.evaluate(lengths) for d in dims]
        dtype = type_.element.dtype if isinstance(type_, ListType) else type_.dtype
        results.append(inputs[0].new_empty(shape, dtype=arrays.torch_of(dtype)))
    return results


def _raise_no_gradients(program: int, gradients, inputs) -> List[torch.Tensor]:
    raise GradientError(_no_gradients(_jit(program).__name__))


def _no_gradients(name: str) -> str:
    return (
        f"{name}: backward through a compiled program: this version computes forward only; "
        "call it under torch.no_grad(), or detach its arguments"
    )


class _Forward(torch.autograd.Function):
    """Forward as it is; backward raises when it runs, not when it is traced."""

    @staticmethod
    def forward(ctx, program, *inputs):
        ctx.program = program
        ctx.save_for_backward(*inputs)
        with torch._C._AutoDispatchBelowAutograd():
            return tuple(torch.ops.fractaltensor.call(program, list(inputs)))

    @staticmethod
    def backward(ctx, *gradients):
        # It depends on the gradients, so that it stays in the backward half of a traced graph.
        return (None, *torch.ops.fractaltensor.no_gradients(ctx.program, list(gradients), list(ctx.saved_tensors)))


def _differentiable(program: int, inputs: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    # With plain tensors, and nobody who watches, what lies below autograd is the call itself.
    if torch._C._len_torch_dispatch_stack() == 0:
        found = _run_prepared(_programs.get(program), inputs)
        if found is not None:
            return found
    if torch.is_grad_enabled() and any(t.requires_grad for t in inputs):
        return list(_Forward.apply(program, *inputs))
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.fractaltensor.call(program, list(inputs))


for _key in ("CPU", "CUDA"):
    _library.impl("call", _run, _key)
    _library.impl("no_gradients", _raise_no_gradients, _key)
_library.impl("call", _differentiable, "Autograd")
torch.library.register_fake("fractaltensor::call", _fake, lib=_library)
torch.library.register_fake("fractaltensor::no_gradients", lambda program, gradients, inputs: [torch.empty_like(t) for t in inputs], lib=_library)


# -- from a call to the operator -------------------------------------------------------------------------------------


def call_operator(jit, inputs) -> Any:
    """A program's call as the operator, in the structure of the program's results."""
    results = torch.ops.fractaltensor.call(jit._torch_number, list(inputs))
    return jit._in_structure(results)


def is_plain(value) -> bool:
    """Whether a tensor has data of its own: no fake, no subclass with a dispatcher of its own."""
    return type(value) in (torch.Tensor, torch.nn.Parameter)


def needs_operator(values: Sequence[Any]) -> bool:
    """Whether a call has to be seen by PyTorch: gradients are tracked, or tensors are not plain."""
    tensors = [v for v in values if isinstance(v, torch.Tensor)]
    return any(not is_plain(t) for t in tensors) or (
        torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    )
