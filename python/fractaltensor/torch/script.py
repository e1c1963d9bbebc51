# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``fractaltensor.torch.script``: a function over tensors that is compiled from its source when it is first called."""

from __future__ import annotations

import functools
import inspect
import sys
from os import getpid
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ..errors import ArgumentError, DeviceError
from ..jit import _calls
from ..locks import ForkLock
from . import arrays, engines
from .direct_calls import DirectCalls, plan_of
from .engines import Remark
from .problems import Problem, error_of
from .program import Program, named_leaves

ENGINES = ("cpu", "cuda", "interpret")
_MAX_PROGRAMS = 256


class Report:
    """What a call did: compiled functions that were called, how many of these the interpreter ran, library steps, and
    copies of storages between them (what compiled code wrote into storage of its own and was brought home), in bytes."""

    def __init__(self, counts):
        self.calls, self.interpreted, self.steps = counts.segments, counts.interpreted, counts.steps
        self.copies, self.copied_bytes = counts.copies, counts.bytes

    def __repr__(self):
        return (
            f"{self.calls} calls of compiled functions ({self.interpreted} interpreted), {self.steps} library steps, "
            f"{self.copies} copies of {self.copied_bytes} bytes"
        )


class Script:
    """A compiled function; made by :func:`script`.

    ``remarks`` says what ran otherwise than asked; ``lower(*args)`` gives a :class:`Program` to look at.
    """

    def __init__(self, function: Callable, engine: Optional[str], dims: Optional[Mapping[str, Sequence]], in_place: bool):
        if engine is not None and engine not in ENGINES:
            raise ArgumentError(f"engine={engine!r}: expects one of {', '.join(map(repr, ENGINES))}")
        if not callable(function):
            raise ArgumentError(f"script: expects a function or a module, found {type(function).__name__}")
        self._ft_function, self._engine, self._dims, self._in_place = function, engine, dict(dims or {}), in_place
        target = getattr(function, "forward", function) if not inspect.isfunction(function) else function
        try:
            functools.update_wrapper(self, target, updated=())
        except AttributeError:
            pass
        self._signature = _signature(target)
        self._programs: Dict[Tuple, List[Program]] = {}
        #: By what is soon seen of plain arguments; only what `_program` has found before.
        self._seen: Dict[Tuple, Program] = {}
        self._lock = ForkLock()
        self.remarks: List[Remark] = []
        #: Bytes of arguments that were copied because they do not lie densely.
        self.copied_bytes = 0
        self._last: Optional[Report] = None
        self._direct: Optional[DirectCalls] = None

    def report(self) -> "Report":
        """What the last call did."""
        if self._last is None:
            raise ArgumentError("report: the function has not been called yet")
        return self._last

    def __call__(self, *args, **kwargs):
        calls = self._direct
        if calls is not None and not kwargs and calls.process == getpid():
            found = calls.call(*args)
            if found is not None:
                return found if calls.order is None else tuple(found[at] for at in calls.order)
        program = self._program(args, kwargs)
        found = self._run(program, args, kwargs)
        if not kwargs and not program.is_offered and not self._dims:
            self._offer(program, args)
        return found

    def _offer(self, program: Program, args) -> None:
        """Has calls like this one made in C from now on, where one compiled function is all that they need."""
        program.is_offered = True
        plan = plan_of(program, args)
        if plan is not None:
            with self._lock:
                if self._direct is None or self._direct.process != getpid():
                    self._direct = DirectCalls()
                self._direct.add(plan)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return functools.partial(self, instance)

    def lower(self, *args, **kwargs) -> Program:
        """The compiled form for these arguments."""
        return self._program(args, kwargs)

    # -- compiling ------------------------------------------------------------------------------------------------

    def _program(self, args, kwargs) -> Program:
        seen = None if kwargs else _plain_key(args)
        program = self._seen.get(seen) if seen is not None else None
        if program is None or not program.is_current():
            program = self._find_program(args, kwargs)
            if seen is not None:
                if len(self._seen) >= _MAX_PROGRAMS:
                    self._seen.clear()
                self._seen[seen] = program
        return program

    def _find_program(self, args, kwargs) -> Program:
        names = self._names(args, kwargs)
        leaves = list(_leaves((args, kwargs)))
        engine_name, device = self._place(leaves)
        for leaf in leaves:
            arrays.check(leaf, names.get(id(leaf), "argument"), device)
        of_array = lambda value: self._array_key(value, names)  # noqa: E731
        key = (device, _key(args, of_array), _key(kwargs, of_array), _sharing(leaves))
        with self._lock:
            for program in self._programs.get(key, ()):
                if program.is_current():
                    return program
            engine = engines.make(engine_name, device)
            engine.remarks = self.remarks
            try:
                made = Program(self._ft_function, args, kwargs, names, self._dims, engine)
            except Problem as problem:
                raise error_of([problem]) from None
            if len(self._programs) >= _MAX_PROGRAMS:
                self._programs.clear()
                self._direct = None
            self._programs[key] = [made]
            return made

    def _place(self, leaves) -> Tuple[str, str]:
        """The engine of a call, and the device that its arguments must be on."""
        devices = [str(x.device) for x in leaves if arrays.is_torch(x) and x.device.type == "cuda"]
        if self._engine == "cuda" or self._engine is None and devices:
            if not devices:
                raise DeviceError("engine='cuda' needs arguments on a GPU: move them, x.cuda()")
            return "cuda", devices[0]
        return self._engine or "cpu", "cpu"

    def _array_key(self, value, names):
        """What a compiled form depends on of an array: all but the sizes that dims= names."""
        kind, dtype = "torch" if arrays.is_torch(value) else "numpy", str(value.dtype)
        sizes = self._dims.get(names.get(id(value), ""))
        if sizes is None or len(sizes) != len(value.shape) or not arrays.is_dense(value):
            return kind, dtype, tuple(value.shape), arrays.strides_of(value)
        return kind, dtype, tuple(name or n for name, n in zip(sizes, value.shape))

    def _names(self, args, kwargs) -> Dict[int, str]:
        found: Dict[int, str] = {}
        try:
            bound = self._signature.bind(*args, **kwargs) if self._signature else None
        except TypeError as error:
            raise ArgumentError(f"{getattr(self, '__name__', 'function')}: {error}") from None
        items = bound.arguments.items() if bound else enumerate(args)
        for name, value in items:
            named_leaves(value, str(name), found)
        return found

    # -- running ------------------------------------------------------------------------------------------------------

    def _run(self, program: Program, args, kwargs):
        given, seen = [], set()
        for leaf in _leaves((args, kwargs)):
            if id(leaf) not in seen:
                seen.add(id(leaf))
                given.append(leaf)
        originals = [*given, *(c.getter() for c in program.captured)]
        place = program.engine.memory
        _calls.look()
        for captured, leaf in zip(program.captured, originals[len(given) :]):
            arrays.check(leaf, captured.name, self._place(given)[1])
        memory = [place.adopt(x) for x in originals]
        self._check_writes(program, originals, memory)
        inputs = [self._bound(program, at, a) for at, a in enumerate(memory)]
        values = self._lengths(program, inputs)
        found = program.runner.run(values)
        self._last = Report(program.runner.counts)
        program.check(found)
        for at in program.written:
            if inputs[at] is not memory[at]:
                place.write(memory[at], inputs[at])
        torch_like = any(arrays.is_torch(x) for x in originals) or (not originals and _wants_torch(self._ft_function))
        return program.finish(found, originals, torch_like)

    def _bound(self, program: Program, at: int, array):
        """An argument itself, or a copy: of one that is not dense, or that must not change if the call fails."""
        place = program.engine.memory
        if place.is_dense(array) and (self._in_place or at not in program.written):
            return array
        self.copied_bytes += array.nbytes
        return place.copy(array)

    def _lengths(self, program: Program, inputs) -> List[Any]:
        top = program.evaluator.b.top
        by_value = {root.value: a for root, a in zip(program.roots, inputs)}
        for (root, d), number in zip(program.lengths, program.length_names.values()):
            by_value[number.value] = inputs[root].shape[d]
        self._check_lengths(program, inputs)
        return [by_value[v] for v in top.args]

    def _check_lengths(self, program: Program, inputs) -> None:
        for name, sizes in self._dims.items():
            if name not in program.root_names:
                continue
            array = inputs[program.root_names.index(name)]
            for d, length in enumerate(sizes):
                if length:
                    root, first = program.lengths[list(program.length_names).index(length)]
                    if array.shape[d] != inputs[root].shape[first]:
                        raise ArgumentError(
                            f"dimension {d} of '{name}' has size {array.shape[d]}, '{length}' is {inputs[root].shape[first]} in '{program.root_names[root]}'"
                        )

    def _check_writes(self, program: Program, originals, memory) -> None:
        """What is refused before the first write."""
        if not program.written:
            return
        names, place = program.root_names, program.engine.memory
        extents = [place.extent(array) for array in memory]
        for at in program.written:
            if place.is_read_only(memory[at]) or isinstance(originals[at], np.ndarray) and not originals[at].flags.writeable:
                raise ArgumentError(f"argument '{names[at]}' is written, and it is read-only")
            if place.repeats(memory[at]):
                raise ArgumentError(f"argument '{names[at]}' is written, and several of its elements are one and the same (expand): clone it first")
            own = extents[at]
            for other, array in enumerate(memory):
                beside = extents[other]
                if other == at or own is None or beside is None or own[1] <= beside[0] or beside[1] <= own[0]:
                    continue
                if place.overlap(memory[at], array):
                    raise ArgumentError(f"arguments '{names[at]}' and '{names[other]}' overlap, and '{names[at]}' is written: clone one of them")


def _signature(target):
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):
        return None


def _wants_torch(function) -> bool:
    """Whether a function without tensors as arguments is one over PyTorch's."""
    names = getattr(function, "__globals__", {})
    module = names.get("torch")
    return getattr(module, "__name__", "") == "torch"


def _leaves(value):
    """The arrays inside of arguments, in order."""
    for x in value.values() if isinstance(value, dict) else value:
        if isinstance(x, (tuple, list, dict)):
            yield from _leaves(x)
        elif arrays.is_array(x):
            yield x


def _plain_key(args) -> Optional[Tuple]:
    """What is soon seen of positional arguments that are tensors, arrays and numbers, all different objects: of calls with equal
    keys either all are refused or none. None for other arguments, and for those that may be refused by more than this."""
    torch = sys.modules.get("torch")
    plain = () if torch is None else (torch.Tensor, torch.nn.Parameter)
    refuses_gradients = torch is not None and torch.is_grad_enabled()
    key: List[Any] = []
    objects = set()
    for value in args:
        kind = type(value)
        if kind in plain:
            if value.layout is not torch.strided or refuses_gradients and value.requires_grad:
                return None
            key += (value.dtype, value.shape, value.stride(), value.device)
        elif kind is np.ndarray:
            key += (kind, value.dtype, value.shape, value.strides)
        elif kind in (bool, int, str) or value is None:
            key += (kind, value)
            continue
        elif kind is float:
            key += (kind, repr(value))  # -0.0 is no 0.0
            continue
        else:
            return None
        if id(value) in objects:
            return None
        objects.add(id(value))
    return tuple(key)


def _key(value, of_array: Callable):
    """What a compiled form depends on."""
    if arrays.is_array(value):
        return of_array(value)
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *(_key(x, of_array) for x in value))
    if isinstance(value, dict):
        return ("dict", *((k, _key(x, of_array)) for k, x in value.items()))
    if value is None or isinstance(value, (bool, int, float, str)):
        return (type(value).__name__, repr(value))
    try:
        hash(value)
    except TypeError:
        return ("object", id(value))
    return ("object", value)


def _sharing(leaves) -> Tuple[int, ...]:
    """Which arguments are one and the same object."""
    first: Dict[int, int] = {}
    return tuple(first.setdefault(id(x), i) for i, x in enumerate(leaves))


def script(function: Optional[Callable] = None, *, engine: Optional[str] = None, dims: Optional[Mapping[str, Sequence]] = None, in_place: bool = True):
    """Compiles a function over tensors of PyTorch or NumPy from its source.

    ::

        @ft.torch.script
        def increment_rows(b):
            for i in range(b.shape[0]):
                b[i] = b[i] + 1
            return b

    - ``engine``: ``"cpu"`` or ``"cuda"``, compiled code, or ``"interpret"``, the reference; by default where the arguments are.
      Parts that the compiler refuses run in the interpreter, and ``remarks`` of the result says why.
    - ``dims``: sizes that differ from call to call, as ``{"x": ("T", None)}``; all others are compiled in.
    - ``in_place=False``: a call that fails leaves its arguments as they were, at the cost of copies.

    Errors of the program are :class:`ScriptError`, all of a function at once, each with file, line and column.
    """
    if function is None:
        return lambda f: Script(f, engine, dims, in_place)
    return Script(function, engine, dims, in_place)
