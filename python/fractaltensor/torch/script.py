# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``fractaltensor.torch.script``: a function over tensors that is compiled from its source when it is first called."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from os import getpid
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union, overload

import numpy as np

from ..errors import ArgumentError, DeviceError
from ..jit import _calls
from ..locks import ForkLock
from ..torch_tracking import is_level_open
from .runtime import arrays, engines
from . import exported, held_bundles
from .ir import lengths
from .runtime.direct_calls import DirectCalls, plan_of
from .runtime.prepared_calls import MISSED, MOST, PreparedCall, prepared_of
from .runtime.engines import Remark
from .exported import Exported
from .frontend.control import MOST_COPIES
from .frontend.grown import NeedsLists
from .frontend.numbers import ChangingNumbers
from .problems import Problem, ScriptError, error_of
from .program import Program, named_leaves

ENGINES = ("cpu", "cuda", "interpret")
_MAX_PROGRAMS = 256


class Report:
    """What a call did: compiled functions that were called, how many of these the interpreter ran, library steps, and bytes of
    copies between storages. A copy is a value that compiled code wrote into storage of its own and that was copied back."""

    def __init__(self, counts):
        self.calls, self.interpreted, self.steps = counts.segments, counts.interpreted, counts.steps
        self.copies, self.copied_bytes = counts.copies, counts.bytes

    def __repr__(self):
        return (
            f"{self.calls} calls of compiled functions ({self.interpreted} interpreted), {self.steps} library steps, "
            f"{self.copies} copies of {self.copied_bytes} bytes"
        )


class _Call:
    """The arguments of one call; `key(dims)` is what a compiled form depends on of them, `kinds` that without any size."""

    def __init__(self, args, kwargs, names: Dict[int, str], leaves: Sequence, engine: str, device: str):
        self.args, self.kwargs, self.names, self.engine, self.device = args, kwargs, names, engine, device
        self.arrays = {names.get(id(leaf), "argument"): leaf for leaf in leaves}
        self.sizes = {name: tuple(leaf.shape) for name, leaf in self.arrays.items()}
        self._sharing = _sharing(leaves)
        self.kinds = self._key_of(lambda value: (*_kind(value), len(value.shape)))

    def key(self, dims: lengths.Dims) -> Tuple:
        return self._key_of(lambda value: self._array_key(value, dims.get(self.names.get(id(value), ""))))

    def _key_of(self, of_array: Callable) -> Tuple:
        return self.device, _key(self.args, of_array), _key(self.kwargs, of_array), self._sharing

    def _array_key(self, value, sizes: Optional[Sequence]) -> Tuple:
        """What a compiled form depends on of an array: all but the sizes that have names."""
        if sizes is None or len(sizes) != len(value.shape) or not arrays.is_dense(value):
            return (*_kind(value), tuple(value.shape), arrays.strides_of(value))
        return (*_kind(value), tuple(name or n for name, n in zip(sizes, value.shape)))

    def are_dense(self, dims: lengths.Dims) -> bool:
        return all(arrays.is_dense(self.arrays[name]) for name in dims)


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
        #: Lengths that calls have shown, those found last first; what is compiled by kinds, types and ranks alone; and which lengths are not worth it.
        self._found: List[lengths.Dims] = []
        self._alike: Dict[Tuple, List[Program]] = {}
        self._refused: Set[Tuple] = set()
        #: By what is soon seen of plain arguments; only what `_program` has found before.
        self._seen: Dict[Tuple, Program] = {}
        self._lock = ForkLock()
        self.remarks: List[Remark] = []
        #: Bytes of arguments that were copied because they do not lie densely.
        self.copied_bytes = 0
        self._last: Optional[Report] = None
        self._direct: Optional[DirectCalls] = None
        self._prepared: List[PreparedCall] = []
        self._numbers = ChangingNumbers()

    def report(self) -> "Report":
        """What the last call did."""
        if self._last is None:
            raise ArgumentError("report: the function has not been called yet")
        return self._last

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        calls = self._direct
        if calls is not None and not kwargs and calls.process == getpid():
            found = calls.call(*args)
            if found is not None:
                return found if calls.order is None else tuple(found[at] for at in calls.order)
        if not kwargs:
            for prepared in self._prepared:
                if prepared.process == getpid():
                    found = prepared(args)
                    if found is not MISSED:
                        return found
        args, kwargs = self._numbers.as_data(self, args, kwargs)
        program = self._program(args, kwargs)
        found = self._run(program, args, kwargs)
        if not kwargs and not program.is_offered and not program.dims:
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
            return
        prepared = prepared_of(program, args, self._in_place)
        if prepared is not None:
            with self._lock:
                self._prepared = [prepared, *self._prepared][:MOST]

    def __get__(self, instance: Any, owner: Any = None) -> Callable[..., Any]:
        if instance is None:
            return self
        return functools.partial(self, instance)

    def lower(self, *args: Any, **kwargs: Any) -> Program:
        """The compiled form for these arguments."""
        return self._program(args, kwargs)

    def export(self, path: Union[str, os.PathLike[str]], *args: Any, targets: Union[None, str, Sequence[str]] = None, **kwargs: Any) -> Exported:
        """Writes the compiled form for these arguments to a file (``.fts``) that :func:`fractaltensor.torch.load` runs without this function's
        source and without the compiler. `targets` as in the compiler ("sm_90a", "x86-64-v3"), or "cpu" and "cuda". Sizes are those
        of the arguments but for lengths (``dims=``). The result, and the file, name the library `steps` that calls need.

        A file that ends in ``.ftb`` is a bundle, for :func:`fractaltensor.load` and for C: of a program that is one compiled function of tensors.
        Tensors from outside are its parameters, held in the bundle by name; calls pass inputs and outputs alone, and ``Bundle.bind`` gives others.

        Raises:
          CompileError: the compiler refuses a part; there is no interpreter in an exported script.
          ArgumentError: the program depends on Python's objects in a way that no file can hold.
        """
        program = self._program(args, kwargs)
        if os.fspath(path).endswith(".ftb"):
            return Exported(os.fspath(path), held_bundles.export(program, getattr(self, "__name__", "script"), path, targets), ())
        return exported.export(program, getattr(self, "__name__", "script"), exported.parameters_of(self._signature), args, kwargs, path, targets, _wants_torch(self._ft_function))

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
        call = _Call(args, kwargs, names, leaves, engine_name, device)
        with self._lock:
            for found in ({}, *self._found):
                if lengths.fits(found, call.sizes):
                    for program in self._programs.get(call.key(lengths.united(self._dims, found)), ()):
                        if program.is_current():
                            return program
            made = self._with_lengths(call) or self._compile(call, {}, self.remarks)
            self._keep(call, made)
            return made

    def _keep(self, call: "_Call", made: Program) -> None:
        if len(self._programs) >= _MAX_PROGRAMS:
            self._programs.clear()
            self._alike.clear()
            self._found.clear()
            self._direct = None
            self._prepared = []
        self._programs[call.key(made.dims)] = [made]
        self._alike.setdefault(call.kinds, []).append(made)
        if made.found and made.found not in self._found:
            self._found.insert(0, made.found)

    def _compile(self, call: "_Call", found: lengths.Dims, remarks: List[Remark]) -> Program:
        try:
            made = self._evaluated(call, found, {})
        except ScriptError:
            made = self._evaluated(call, found, {"by_parts": False})  # a copied loop may be right, and says more of what is wrong
        made = self._other_ways(call, found, made)
        remarks += made.engine.remarks
        made.engine.remarks = remarks
        return made

    def _other_ways(self, call: "_Call", found: lengths.Dims, made: Program) -> Program:
        """Another form of a program of which parts run outside of compiled code, where that has fewer of them."""
        if made.has_indices and lengths.outside(made) > (0, 0):
            other = self._tried(call, found, {"notes_indices": True})
            made = other if other and lengths.outside(other) == (0, 0) else made
        if made.is_by_parts and lengths.outside(made) > (0, 0):
            # What goes element by element is slow where the compiler has not all of it: whole slices are better there.
            other = self._tried(call, found, {"by_parts": False})
            made = other if other and lengths.outside(other)[0] <= lengths.outside(made)[0] else made
        if 0 < made.most_grown <= MOST_COPIES and lengths.outside(made) > (0, 0):
            other = self._tried(call, found, {"grows": False})
            made = other if other and lengths.outside(other) < lengths.outside(made) else made
        return made

    def _tried(self, call: "_Call", found: lengths.Dims, ways: Mapping[str, bool]) -> Optional[Program]:
        """Another form of a program that has one; None where that is refused."""
        try:
            return self._evaluated(call, found, ways)
        except ScriptError:
            return None

    def _evaluated(self, call: "_Call", found: lengths.Dims, ways: Mapping[str, bool]) -> Program:
        listed, grows, has_integers = set(), True, False
        while True:
            try:
                engine = engines.make(call.engine, call.device)
                return Program(
                    self._ft_function, call.args, call.kwargs, call.names, self._dims, engine, found, **{"grows": grows, "listed": frozenset(listed), **ways})
            except NeedsLists as need:
                grows = need.place is not None and need.place not in listed
                listed.add(need.place)
                has_integers |= need.has_integers
            except ScriptError:
                if has_integers and "counts" not in ways:
                    other = self._tried(call, found, {**ways, "counts": True})
                    if other is not None:
                        return other
                raise
            except Problem as problem:
                raise error_of([problem]) from None

    def _with_lengths(self, call: "_Call") -> Optional[Program]:
        """A variant for all sizes over which a loop ranges, where a call before had others. None where there is none, or where it
        would cost its calls more than one with the sizes compiled in."""
        for before in reversed(self._alike.get(call.kinds, ())):
            found = lengths.lengths_for(before, call.sizes) if before.is_current() else None
            if not found or (call.kinds, repr(found)) in self._refused or not call.are_dense(found):
                continue
            remarks: List[Remark] = []
            try:
                made = self._compile(call, found, remarks)
                reason = lengths.dearer(made, before)
                reason += "".join(f"; {r.text}" for r in remarks[:1] if reason)
            except ScriptError as error:
                reason = str(error.problems[0].message)
            if not reason:
                self.remarks += remarks
                return made
            self._refused.add((call.kinds, repr(found)))
            self.remarks.append(Remark(", ".join(found), f"sizes stay compiled in, though a loop ranges over them: {reason}"))
        return None

    def _place(self, leaves) -> Tuple[str, str]:
        """The engine of a call, and the device that its arguments must be on."""
        devices = [str(x.device) for x in leaves if arrays.is_torch(x) and x.device.type == "cuda"]
        if self._engine == "cuda" or self._engine is None and devices:
            if not devices:
                raise DeviceError("engine='cuda' needs arguments on a GPU: move them, x.cuda()")
            return "cuda", devices[0]
        return self._engine or "cpu", "cpu"

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
        torch_like = any(map(arrays.is_torch, given)) or not (given or program.captured) and _wants_torch(self._ft_function)
        done = program.run(given, self._place(given)[1], self._in_place, torch_like)
        self.copied_bytes += done.copied_bytes
        self._last = Report(done.counts)
        program.check(done)
        return program.result(done)


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
    if is_level_open():
        return None
    key: List[Any] = []
    objects = set()
    for value in args:
        kind = type(value)
        if kind in plain:
            if value.layout is not torch.strided or refuses_gradients and value.requires_grad:
                return None
            key += (value.dtype, value.shape, value.stride(), value.device)
        elif kind is np.ndarray or kind is arrays.NumberArgument:
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


def _kind(array) -> Tuple[str, str]:
    return "torch" if arrays.is_torch(array) else "numpy", str(array.dtype)


def _sharing(leaves) -> Tuple[int, ...]:
    """Which arguments are one and the same object."""
    first: Dict[int, int] = {}
    return tuple(first.setdefault(id(x), i) for i, x in enumerate(leaves))


@overload
def script(function: Callable[..., Any], *, engine: Optional[str] = None, dims: Optional[Mapping[str, Sequence[Any]]] = None, in_place: bool = True) -> Script: ...
@overload
def script(
    function: None = None, *, engine: Optional[str] = None, dims: Optional[Mapping[str, Sequence[Any]]] = None, in_place: bool = True
) -> Callable[[Callable[..., Any]], Script]: ...
def script(function: Optional[Callable[..., Any]] = None, *, engine: Optional[str] = None, dims: Optional[Mapping[str, Sequence[Any]]] = None, in_place: bool = True) -> Any:
    """Compiles a function over tensors of PyTorch or NumPy from its source.

    ::

        @ft.torch.script
        def increment_rows(b):
            for i in range(b.shape[0]):
                b[i] = b[i] + 1
            return b

    - ``engine``: ``"cpu"`` or ``"cuda"``, compiled code, or ``"interpret"``, the reference; by default where the arguments are.
      Parts that the compiler refuses run in the interpreter, and ``remarks`` of the result says why.
    - ``dims``: sizes that differ from call to call, as ``{"x": ("T", None)}``. Of the others, those over which a loop ranges become
      lengths when a second size of them comes; the rest is compiled in.
    - ``in_place=False``: a call that fails leaves its arguments as they were, at the cost of copies.

    Errors of the program are :class:`ScriptError`, all of a function at once, each with file, line and column.
    """
    if function is None:
        return lambda f: Script(f, engine, dims, in_place)
    return Script(function, engine, dims, in_place)
