# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: compiled programs as operators, for ``torch.compile``, ``torch.export``, fake tensors and CUDA graphs.

``torch.ops.fractaltensor.forward_N(program, inputs)`` serves the programs with N results, ``backward_N`` the backward
functions that are derived from them, and `program` is the program itself, as one string (see :mod:`fractaltensor.stored`). A graph that is saved holds its programs, and
caches that ask for a graph's content see them. Under ``torch.compile`` a call of a program becomes this operator;
with plain tensors it goes straight to the compiled code, which costs less.

Gradients are those of :mod:`fractaltensor.torch_gradients`: a call of a program whose arguments require them is an
``autograd.Function`` above the operator. DTensors go through the same operators, by the strategies of
:mod:`fractaltensor.distributed.placements`.
"""

from __future__ import annotations

import collections
import functools
import re
import threading
import weakref
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import torch

from . import arrays, stored, torch_gradients
from .binding import Binder, check_bounds
from .errors import ArgumentError, GradientError, TraceError
from .imports import after_import
from .jit import Jit, by_number
from .torch_tracking import is_tracked, is_watched
from .types import ListType

#: Programs of this process by their strings: with places in the user's source, and tuned where they were.
_own: "weakref.WeakValueDictionary[str, Jit]" = weakref.WeakValueDictionary()
#: Others, the latest last. Those that fall out are read from their strings again.
_read: "collections.OrderedDict[str, Jit]" = collections.OrderedDict()
_MOST_READ = 256
_lock = threading.RLock()  # defining an operator asks for it


def _jit(program: str) -> Jit:
    """What runs the program of a string."""
    found = _own.get(program)
    if found is not None:
        return found
    with _lock:
        found = _read.pop(program, None)
        if found is None:
            found = stored.StoredJit(program)
            if len(_read) >= _MOST_READ:
                _read.popitem(last=False)
        _read[program] = found
    return found


# -- the operators -----------------------------------------------------------------------------------------------

_library = torch.library.Library("fractaltensor", "DEF")
_NAME = re.compile(r"(forward|backward)_([1-9]\d{0,3})")


class _Operators(torch._ops._OpNamespace):
    """The operators of this package, each defined when it is first asked for."""

    # PyTorch names operators in files by the module of their namespace.
    __module__ = torch._ops._OpNamespace.__module__

    def __getattr__(self, name: str):
        match = _NAME.fullmatch(name)
        if match is not None:
            with _lock:
                _define(match[1], int(match[2]))
            # Strategies ask for it while it is defined; there is one object for each operator.
            if name in self.__dict__:
                return self.__dict__[name]
        return super().__getattr__(name)


_defined = set()


def _define(kind: str, count: int) -> None:
    name = f"{kind}_{count}"
    if name in _defined:
        return
    _defined.add(name)
    results = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
    _library.define(f"{name}(str program, Tensor[] inputs) -> {results}", tags=(torch.Tag.pt2_compliant_tag,))
    for key in ("CPU", "CUDA"):
        _library.impl(name, _run, key)
    _library.impl(name, functools.partial(_differentiable, kind), "Autograd")
    torch.library.register_fake(f"fractaltensor::{name}", _fake, lib=_library)
    if _is_sharded:
        _register_strategies(name)


_is_sharded = False  # whether DTensor is there


def _register_strategies(name: str) -> None:
    from .distributed import placements

    placements.register(getattr(torch.ops.fractaltensor, name).default)


def _shard() -> None:
    global _is_sharded
    with _lock:
        _is_sharded = True
        for name in sorted(_defined):
            _register_strategies(name)


def operator(kind: str, count: int):
    """The operator ``forward_N`` or ``backward_N`` with `count` results."""
    return getattr(torch.ops.fractaltensor, f"{kind}_{count}").default


def _results(values: Sequence[torch.Tensor]):
    return values[0] if len(values) == 1 else tuple(values)


def _run_prepared(jit: Optional[Jit], inputs: Sequence[torch.Tensor]):
    """A call that is prepared; None for any other, and where PyTorch has to see it."""
    found = None if jit is None or jit._direct is None else jit._direct.call(*inputs)
    return found[0] if type(found) is tuple and len(found) == 1 else found


def _run(program: str, inputs: Sequence[torch.Tensor]):
    jit = _jit(program)
    found = _run_prepared(jit, inputs)
    return _results(jit._run_flat(inputs)) if found is None else found


def _names(jit: Jit, inputs: Sequence[torch.Tensor]) -> Tuple[Dict[str, Any], Dict[str, int], Dict[str, Any]]:
    """Lengths, extents and element types that arguments bind; lengths may be symbols of PyTorch."""
    lengths: Dict[str, Any] = {}
    extents: Dict[str, int] = {}
    dtypes: Dict[str, Any] = {}
    for parameter, value in zip(jit.signature.traced, inputs):
        type_ = parameter.type
        element = type_.element if isinstance(type_, ListType) else type_
        dims = _dims(type_)
        if len(dims) != value.dim():
            raise TraceError(f"{jit.__name__}: argument '{parameter.name}' is {type_}, found a tensor of rank {value.dim()}")
        found = arrays.torch_dtype(value.dtype)
        if not element.dtype.is_bound:
            dtypes[element.dtype.name] = found
        elif found != element.dtype:
            raise TraceError(f"{jit.__name__}: argument '{parameter.name}' is {type_}, found numbers of {value.dtype}")
        for dim, size in zip(dims, value.shape):
            name = getattr(dim, "single_name", None)
            number = dim if isinstance(dim, int) else dim.constant
            if name in jit.signature.extent_names:
                extents[name] = int(size)
            elif name is not None:
                lengths.setdefault(name, size)
            elif number is not None and size != number:
                raise TraceError(f"{jit.__name__}: argument '{parameter.name}' is {type_}, found the shape {tuple(value.shape)}")
    return lengths, extents, dtypes


def _dims(type_) -> List:
    return [*type_.lengths, *type_.element.shape] if isinstance(type_, ListType) else list(type_.shape)


def _fake(program: str, inputs: Sequence[torch.Tensor]):
    """Results without data: element shapes and types are decided, list lengths may be symbols of PyTorch."""
    jit = _jit(program)
    lengths, extents, dtypes = _names(jit, inputs)
    results = []
    for type_ in jit._program(extents, dtypes, {}).result_types:
        shape = [d if isinstance(d, int) else d.evaluate(lengths) for d in _dims(type_)]
        dtype = type_.element.dtype if isinstance(type_, ListType) else type_.dtype
        results.append(inputs[0].new_empty(shape, dtype=arrays.torch_of(dtype)))
    return _results(results)


def _call(jit: Jit, inputs: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    """A derived program: directly with plain tensors, else as the operator."""
    if any(torch_gradients.is_wrapped(t) for t in inputs):
        return _transformed(jit, inputs, {})
    grows = any(is_tracked(t) for t in inputs)
    if all(is_plain(t) for t in inputs) and not is_watched():
        return _with_gradients(jit, inputs, {}) if grows else jit._run_flat(inputs)
    if grows:
        return call_operator(jit, inputs, {})
    with torch._C._AutoDispatchBelowAutograd():
        return call_operator(jit, inputs, {})


def _with_gradients(jit: Jit, inputs: Sequence[torch.Tensor], statics: Mapping[str, Any]) -> List[torch.Tensor]:
    _, extents, dtypes = _names(jit, inputs)
    program = jit._program(extents, dtypes, statics)
    jit._remember(program, arrays.device_of(inputs[0]))
    return torch_gradients.call(_call, program, inputs, jit._engine)


def _differentiable(kind: str, program: str, inputs: Sequence[torch.Tensor]):
    # With plain tensors, and no mode that watches, what lies below autograd is the call itself.
    if not is_watched():
        found = _run_prepared(_own.get(program), inputs)
        if found is not None:
            return found
    count = _count_results(program)
    if any(is_tracked(t) for t in inputs):
        if torch._C._are_functorch_transforms_active():
            raise GradientError("an operator of fractaltensor has no rule for torch.func: call the program itself there")
        return _results(_with_gradients(_jit(program), inputs, {}))
    with torch._C._AutoDispatchBelowAutograd():
        return operator(kind, count)(program, list(inputs))


_counts: Dict[str, int] = {}


def _count_results(program: str) -> int:
    found = _counts.get(program)
    if found is None:
        if len(_counts) >= _MOST_READ:
            _counts.clear()
        found = _counts[program] = stored.count_results(program)
    return found


torch.ops.fractaltensor = _Operators("fractaltensor")


# -- from a call to the operator -------------------------------------------------------------------------------------


def program_text(jit: Jit, inputs: Sequence[torch.Tensor], statics: Mapping[str, Any]) -> str:
    """The string of the program that a call with these arguments runs."""
    if any(getattr(p.type, "is_ragged", False) for p in jit.signature.traced):
        raise ArgumentError(f"{jit.__name__}: lists of several lengths are no tensors of PyTorch: call it outside of torch.compile and autograd")
    _, extents, dtypes = _names(jit, inputs)
    text = stored.text_of(jit._program(extents, dtypes, statics), jit._engine)
    if not statics:
        _own.setdefault(text, jit)
    return text


def call_operator(jit: Jit, values: Sequence[Any], statics: Mapping[str, Any]) -> List[torch.Tensor]:
    """A program's call as the operator; its results in order."""
    inputs = [_tensor(jit, p, v) for p, v in zip(jit.signature.traced, values)]
    if any(torch_gradients.is_wrapped(t) for t in inputs):
        return _transformed(jit, inputs, statics)
    if _is_sharded:
        from .distributed.placements import align

        inputs = align(jit, values, inputs)
    text = program_text(jit, inputs, statics)
    count = _count_results(text)
    found = operator(getattr(jit, "operator_kind", "forward"), count)(text, inputs)
    return [found] if count == 1 else list(found)


def _tensor(jit: Jit, parameter, value) -> torch.Tensor:
    """An argument as a tensor: numbers and arrays of other libraries, too."""
    if isinstance(value, torch.Tensor):
        return value
    dtype = getattr(parameter.type, "dtype", None)
    if dtype is not None and not parameter.type.shape and dtype.is_bound and (getattr(value, "shape", None) == () or not hasattr(value, "shape")):
        return torch.scalar_tensor(value.item() if hasattr(value, "item") else value, dtype=arrays.torch_of(dtype))
    try:
        return torch.from_dlpack(value)
    except (TypeError, AttributeError):
        raise ArgumentError(f"{jit.__name__}: argument '{parameter.name}' is {type(value).__name__}: pass a tensor") from None


def call_in_graph(number: int, args: Tuple, kwargs: Dict[str, Any]) -> Tuple[torch.Tensor, ...]:
    """A call that PyTorch's compiler meets: it leaves it whole, and what traces its graph finds the operator."""
    jit = by_number(number)
    values, statics = jit._arrange(args, kwargs)
    return tuple(call_operator(jit, jit._cast(values), statics))


def _allow_in_graph() -> None:
    torch.compiler.allow_in_graph(call_in_graph)


after_import("torch._dynamo", _allow_in_graph)
after_import("torch.distributed.tensor", _shard)


def _transformed(jit: Jit, inputs: Sequence[torch.Tensor], statics: Mapping[str, Any]) -> List[torch.Tensor]:
    lengths, extents, dtypes = _names(jit, inputs)
    check_bounds(jit.signature, jit._options.bounds, jit.__name__, {**lengths, **extents})
    program = jit._program(extents, dtypes, statics)
    jit._remember(program, arrays.device_of(inputs[0]))
    if statics:  # a program that has their values
        jit = _jit(stored.text_of(program, jit._engine))
    return torch_gradients.transformed(_call, jit, program, inputs)


def call_transformed(jit: Jit, values: Sequence[Any], statics: Mapping[str, Any]) -> List[torch.Tensor]:
    """A call inside of ``torch.func`` or ``torch.vmap``."""
    return _transformed(jit, [_tensor(jit, p, v) for p, v in zip(jit.signature.traced, values)], statics)


def call_with_gradients(jit: Jit, values: Sequence[torch.Tensor], statics: Mapping[str, Any]) -> List[torch.Tensor]:
    """A call with plain tensors, of which some require gradients: an ``autograd.Function`` above the operator."""
    bound = Binder(jit.signature, jit.__name__).bind(values)
    check_bounds(jit.signature, jit._options.bounds, jit.__name__, {**bound.lengths, **bound.extents})
    found = _with_gradients(jit, values, statics)
    if not statics:
        if jit._tracked is None:
            jit._tracked = torch_gradients.PreparedGradients(_call)
        jit._tracked.add(values, jit._program(bound.extents, bound.dtypes, statics), jit._engine)
    return found


def is_plain(value) -> bool:
    """Whether a tensor has data of its own: no fake, no subclass with a dispatcher of its own."""
    return type(value) in (torch.Tensor, torch.nn.Parameter)


def needs_operator(values: Sequence[Any]) -> bool:
    """Whether a call has to be seen by PyTorch: derivatives are tracked, or tensors are not plain."""
    tensors = [v for v in values if isinstance(v, torch.Tensor)]
    return bool(tensors) and is_watched() or any(not is_plain(t) or torch_gradients.is_wrapped(t) or is_tracked(t) for t in tensors)
