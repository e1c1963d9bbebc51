# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``@ft.jit``: a function of lists and tensors that is compiled when it is first called."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import os
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union, cast

from . import arrays, compiled, direct, transposed
from . import library as lib
from .arrays import CPU, CUDA
from .binding import Binder, RaggedArray, check_bounds
from .compiled import Module, Request
from .direct import Dispatcher
from .errors import ArgumentError, CompileError, DeviceError, Error, TraceError
from .locks import ForkLock
from .names import did_you_mean
from .plan import Plan, check_outputs, check_overlaps, fits, stride_classes
from .program import Options, Program, Signature, check_inside
from .source import here, of_argument, of_function
from .torch_tracking import is_level_open, is_watched, refuse
from .trace import Traced, is_tracing
from .types import DType, TensorType, dtype_of

if TYPE_CHECKING:
    from .looking import Picture
    from .traces import Trace
    from .tuning import Tuned

Method = TypeVar("Method", bound=Callable[..., Any])
ENGINES = ("interpret", "cpu", "cuda")
ROUNDINGS = ("exact", "excess")
#: Plans that a program keeps; beyond it all are made anew, which costs some hundred microseconds each.
_MAX_PLANS = 4096
_RESERVED = ("out", "stream", "engine")


_all: "weakref.WeakSet[Jit]" = weakref.WeakSet()
#: By numbers of this process, which no graph that is saved may hold.
_numbers = itertools.count(1)
_by_number: "weakref.WeakValueDictionary[int, Jit]" = weakref.WeakValueDictionary()
_of_parent: List[Any] = []  # what a child of fork neither uses nor frees
_has_threads = False


def _before_fork() -> None:
    global _has_threads
    _has_threads = threading.active_count() > 1


def _in_child() -> None:
    if _has_threads:
        for program in list(_all):
            program._leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)


def _of_the_last_call(method: Method) -> Method:
    """A method that shows the program of the last call, and that users may call with a program's arguments."""

    @functools.wraps(method)
    def checked(self, *args, **kwargs):
        if any(value is not None and not isinstance(value, (str, os.PathLike)) for value in args):
            raise ArgumentError(
                f"{self.__name__}.{method.__name__}() shows the program of the last call and takes none of its arguments: first "
                f"{self.__name__}(...), then {self.__name__}.{method.__name__}()", of_function(self._function)
            )
        return method(self, *args, **kwargs)

    return cast(Method, checked)


class Jit:
    """A compiled function; made by :func:`jit`. Call it with arrays.

    Call options, beside the function's own parameters:

    - ``out=``: an array or a tuple of arrays for the results (shapes and element types must agree);
    - ``engine=``: ``"interpret"``, ``"cpu"`` or ``"cuda"``; by default where the arguments are;
    - ``stream=``: the CUDA stream; by default PyTorch's or CuPy's current one.
    """

    #: Whether its programs come of tracing, which may be done once more.
    _is_traced = True

    def __init__(self, function: Callable, options: Options, engine: Optional[str] = None, annotations=None):
        functools.update_wrapper(self, function)
        self._function, self._options, self._engine = function, options, engine
        try:
            self.signature = Signature(function, annotations)
        except Error as error:
            raise error.with_traceback(None) from None
        self._python_signature = inspect.signature(function)
        self._has_keyword_only = any(p.kind == p.KEYWORD_ONLY for p in self._python_signature.parameters.values())
        self._static_names = [p.name for p in self.signature.parameters if p.type is None]
        self._programs: Dict[Tuple, Program] = {}
        self._requests: Dict[Tuple, Request] = {}
        self._plans: Dict[Tuple, Callable] = {}
        self._direct: Optional[Dispatcher] = None  # calls that make results, and those that are given `out`
        self._direct_out: Optional[Dispatcher] = None
        #: Calls of PyTorch whose tensors require gradients.
        self._tracked: Any = None
        self._structure: Any = None  # of the results of these
        self._is_flat = False  # one result, or a tuple of them
        self._ragged_modules: Dict[Tuple, Any] = {}
        self._warned_ragged = False
        self._only_dense: Dict[Tuple, str] = {}  # of programs, the strides that the compiler refuses, and why
        self._in_place: List[Tuple[int, str]] = []  # of programs, the arguments that lay transposed and were read so
        self._copied: Dict[Tuple, str] = {}  # of programs, the arguments that calls copied, and why
        self._latest: Optional[Tuple[Program, Request]] = None
        self._lock = ForkLock()
        _all.add(self)
        self._reserved = [name for name in _RESERVED if all(p.name != name for p in self.signature.parameters)]
        self._checked = False
        self._check()
        self._number_here = next(_numbers)
        _by_number[self._number_here] = self

    # -- checking and tracing ---------------------------------------------------------------------------

    def _check(self) -> None:
        """Traces once with names in the place of extents, so that errors come when the function is decorated."""
        statics = {p.name: p.default for p in self.signature.parameters if p.type is None and p.has_default}
        if len(statics) != len(self._static_names):
            return
        symbolic = bool(self.signature.extent_names or self.signature.dtype_names)
        try:
            program = Program(self.signature, self._options, {}, {}, statics, checking=symbolic)
            self._checked = True
            if not symbolic:
                self._programs[((), (), _frozen(statics))] = program
        except Error as error:
            if symbolic and _needs_numbers(error):
                return
            raise error.with_traceback(None) from None
        except Exception:
            # The program's own Python may need numbers in the place of names; the call will tell.
            if not symbolic:
                raise

    def _program(self, extents: Mapping[str, int], dtypes: Mapping[str, DType], statics: Mapping[str, Any], transposed: Sequence[int] = ()) -> Program:
        key = (tuple(sorted(extents.items())), tuple(sorted((n, d.name) for n, d in dtypes.items())), _frozen(statics), *transposed)
        found = self._programs.get(key)
        if found is None:
            with self._lock:
                found = self._programs.get(key)
                if found is None:
                    try:
                        found = Program(self.signature, self._options, dict(extents), dict(dtypes), dict(statics), transposed=transposed)
                    except Error as error:
                        raise error.with_traceback(None) from None
                    self._programs[key] = found
        return found

    # -- calling --------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _torch_is_compiling():
            return _compiled_by_torch(self, args, kwargs)
        if not kwargs:
            if self._direct is not None:
                result = self._direct.call(*args)
                if result is not None:
                    return result if self._is_flat else self._in_structure(result)
            if self._tracked is not None:
                found = self._tracked.call(args)
                if found is not None:
                    program, leaves = found
                    return leaves[0] if program.structure == 0 else program.unflatten(leaves)
            try:
                plan = self._plans.get(_signature_key(args))
            except _Slow:
                plan = None
            if plan is not None:
                return plan(args)
        elif self._direct_out is not None and len(kwargs) == 1 and "out" in kwargs:
            out = kwargs["out"]
            result = self._direct_out.call(*args, *out) if type(out) in (tuple, list) else self._direct_out.call(*args, out)
            if result is not None:
                return result if self._is_flat else self._in_structure(result)
        elif len(kwargs) == 1 and "out" in kwargs:
            out = kwargs["out"]
            plan = self._plans.get(_output_key(args, out))
            if plan is not None:
                return plan(args, out)
        return self._call(args, kwargs)

    def __get__(self, instance, owner=None):
        # A program is no method: it has no parameter without a type.
        return self

    def _call(self, args, kwargs):
        if is_tracing() and any(isinstance(a, Traced) for a in (*args, *kwargs.values())):
            return self._inside(args, kwargs)
        special = {name: kwargs.pop(name, None) for name in self._reserved if name in kwargs}
        given, statics = self._arrange(args, kwargs)
        values = self._cast(given)
        try:
            quick = values is given and len(args) == len(self.signature.parameters)
            return self._bind_and_run(args if quick else None, values, statics, **special)
        except Error as error:
            if os.environ.get("FT_FULL_TRACEBACK"):
                raise
            raise error.with_traceback(None) from None

    def _inside(self, args, kwargs):
        """A call from another program that is traced: this one becomes a part of it."""
        try:
            bound = self._python_signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{self.__name__}{self._python_signature}: {error}", here()) from None
        check_inside(self.signature, self.__name__, bound.arguments)
        return self._function(*args, **kwargs)

    def _arrange(self, args, kwargs) -> Tuple[List[Any], Dict[str, Any]]:
        parameters = self.signature.parameters
        if kwargs or len(args) != len(parameters) or self._has_keyword_only:
            try:
                bound = self._python_signature.bind(*args, **kwargs)
            except TypeError as error:
                raise ArgumentError(self._wrong_call(kwargs, str(error)), of_function(self._function)) from None
            bound.apply_defaults()
            args = [bound.arguments[p.name] for p in parameters]
        values, statics = [], {}
        for parameter, value in zip(parameters, args):
            if parameter.type is None:
                statics[parameter.name] = value
            else:
                values.append(self._number(parameter, value))
        return values, statics

    def _wrong_call(self, kwargs, reason: str) -> str:
        """What is wrong with the arguments' names or number; a name that is not there comes before one that is missing."""
        names = [p.name for p in self.signature.parameters]
        unknown = [name for name in kwargs if name not in names]
        if unknown:
            near = did_you_mean(unknown[0], [name for name in [*names, "out", "engine", "stream"] if name not in kwargs])
            options = near or "; beside its own, a call takes out=, engine= and stream="
            reason = f"got an unexpected keyword argument '{unknown[0]}'{options}"
        return f"{self.__name__}({', '.join(names)}): {reason}"

    def _cast(self, values):
        """What autocast makes of the arguments; the same list where it changes none."""
        types = [p.type for p in self.signature.parameters if p.type is not None]
        return arrays.autocast(types, values) if _torch_autocasts() else values

    def _number(self, parameter, value):
        """A number for a parameter of rank 0 as an array, the numbers of a tensor that is to be negated; else as it is."""
        type_ = parameter.type
        if _tensor() is not None and isinstance(value, _tensor()):
            return value.resolve_neg() if value.is_neg() else value
        if not isinstance(type_, TensorType) or type_.shape or not type_.dtype.is_bound:
            return value
        numpy = sys.modules.get("numpy")
        if not isinstance(value, (bool, int, float)) and (numpy is None or not isinstance(value, numpy.generic)):
            return value
        try:
            return arrays.scalar_array(value, type_.dtype)
        except ArgumentError as error:
            raise ArgumentError(f"{self.__name__}: argument '{parameter.name}' {error.reason}", of_argument(self._function, parameter.name)) from None

    def _bind_and_run(self, args, values, statics, out=None, stream=None, engine=None):
        if any(isinstance(v, RaggedArray) for v in values) or any(
            getattr(p.type, "is_ragged", False) for p in self.signature.traced
        ):
            from .ragged_calls import call_ragged

            return call_ragged(self, values, statics, engine or self._engine, out, stream)
        if "torch" in sys.modules:
            if out is None and _needs_torch(values):
                return self._through_torch(values, statics)
            if out is not None:
                written = out if isinstance(out, (tuple, list)) else (out,)
                refuse(self.__name__, (*values, *written), "derivatives do not pass through out=: call it without, or within torch.no_grad()")
        described = None
        if out is None and engine is None and stream is None:
            described = _described_key(values, statics)
            prepared = self._plans.get(described)
            if prepared is not None:
                return prepared(values)
        plan, bound = self._make_plan(values, statics, engine)
        flags = 0
        run_stream = current_stream(bound.infos[0].kind, bound.device, stream)
        if out is not None:
            given, pointers = check_outputs(plan, out)
            check_overlaps(plan, bound.infos, pointers)
            with _on_stream(stream and run_stream, bound.device):
                plan.run_into(values, pointers, run_stream, flags)
            if stream is not None:
                _keep_for_stream((*values, *given), run_stream, bound.device)
            _calls.note(plan.module, run_stream, bound.device)
            if args is not None and engine is None and stream is None and not self._static_names:
                key = _output_key(args, out)
                if not self._prepare_direct(plan, bound, [arrays.describe(g).kind for g in given]) and key is not None:
                    self._plans[key] = self._prepare_out(plan, bound)
            return given[0] if plan.single else plan.program.unflatten(given)
        prepared = self._prepare(plan, bound)
        if args is not None and engine is None and stream is None and not self._static_names:
            if self._prepare_direct(plan, bound):
                described = None
            else:
                try:
                    described = _signature_key(args)
                except _Slow:
                    pass
        if described is not None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            self._plans[described] = prepared
        return prepared(values, run_stream) if stream is not None else prepared(values)

    def _prepare_out(self, plan: Plan, bound) -> Callable:
        """How a plan is run into one array of the caller, without a dispatcher; the runtime checks that memory is apart."""
        kind, device = bound.infos[0].kind, bound.device
        pointer = plan.result_pointer

        def run(values, out):
            stream = current_stream(kind, device, None)
            plan.run_into(values, (pointer(out),), stream)
            _calls.note(plan.module, stream, device)
            return out

        return run

    def _prepare_direct(self, plan: Plan, bound, given: Optional[Sequence[str]] = None) -> bool:
        """Has calls of this signature made in C from now on; `given`: the libraries of results that callers bring."""
        kinds = [info.kind for info in bound.infos]
        if self._static_names or plan.program.transposed or not direct.is_possible(plan, [*kinds, *(given or ())]):
            return False
        note = None if plan.device[0] == CPU else functools.partial(_calls.note, plan.module, device=plan.device)
        with self._lock:
            if self._direct is None:
                made, for_out = Dispatcher(), Dispatcher()
                self._structure, self._is_flat = plan.program.structure, _is_flat(plan.program.structure)
                self._direct, self._direct_out = made, for_out
            if plan.program.structure != self._structure:
                return False
            if given is None:
                return self._direct.add(plan, plan.allocators, plan.single, note)
            return self._direct_out.add(plan, None, plan.single, note)

    def _leave_to_parent(self) -> None:
        """In a child of fork: calls that other threads of the parent were in hold their code's locks for ever."""
        _of_parent.append((self._plans, self._direct, self._direct_out))
        self._plans, self._direct, self._direct_out = {}, None, None

    def _forget_plans(self) -> None:
        """Has the next calls look again for what they run."""
        self._plans.clear()
        for dispatcher in (self._direct, self._direct_out):
            if dispatcher is not None:
                dispatcher.clear()

    def _make_plan(self, values, statics, engine=None):
        """Compiles what a call needs and prepares it for calls with the same signature."""
        bound = Binder(self.signature, self.__name__).bind(values)
        check_bounds(self.signature, self._options.bounds, self.__name__, {**bound.lengths, **bound.extents})
        program = self._program(bound.extents, bound.dtypes, statics)
        request = self._request(program, engine or self._engine, bound.device)
        asked, self._latest = program, (program, request)
        program, request, bound = self._as_they_lie(program, request, bound, engine)
        module, request = self._compile(program, request, bound)
        if not program.transposed:
            self._latest = (program, request)
        kind = bound.infos[0].kind
        plan = Plan(program, module, bound.infos, bound.lengths, kind)
        scattered = ", ".join(p.name for p, info in zip(program.parameters, bound.infos) if not fits(info, _depth(p.type)))
        if scattered and (id(asked), scattered) not in self._copied:
            self._copied[id(asked), scattered] = "elements of lists do not lie dense in memory, as a transposed matrix does not"
            compiled.log("%s: %s is copied before each call: its elements are not dense", program.name, scattered)
        if request.strided:
            reason = plan.refusal()
            if reason:
                # Lists that the program takes as one do not follow each other in memory: copies do.
                plan = Plan(program, compiled.module(program, request.without_strides(), bound.device), bound.infos, bound.lengths, kind)
                if not plan.refusal():
                    self._copied[id(asked), ", ".join(program.parameters[i].name for i in plan.copied)] = reason
            else:
                plan.dense = _dense_plan(program, request, bound, kind)
        return plan, bound

    def _as_they_lie(self, program: Program, request: Request, bound, engine: Optional[str]):
        """The program for matrices that lie transposed, where products alone read them; else what is given."""
        if request.is_chosen or request.target == "interpret" or not self._is_traced:
            return program, request, bound
        at = transposed.places(program.types, bound.infos)
        found = self._program(bound.extents, bound.dtypes, program.statics, at) if at else program
        if found.transposed and found.moved:
            at = tuple(i for i in at if i not in found.moved)
            found = self._program(bound.extents, bound.dtypes, program.statics, at) if at else program
        if not at:
            return program, request, bound
        names = ", ".join(found.parameters[i].name for i in at)
        if (id(program), names) not in self._in_place:
            self._in_place.append((id(program), names))
            compiled.log("%s: %s is read as it lies, transposed", program.name, names)
        infos = tuple(transposed.as_it_lies(info) if i in at else info for i, info in enumerate(bound.infos))
        return found, self._request(found, engine or self._engine, bound.device), bound._replace(infos=infos)

    def _compile(self, program: Program, request: Request, bound) -> Tuple[Module, Request]:
        """Code that reads the arguments as they lie, where there can be; else code for dense copies of them."""
        classes = stride_classes(program.types, bound.infos, request.target)
        if any(classes) and (id(program), request.target, classes) not in self._only_dense:
            strided = request.with_strides(classes)
            try:
                return compiled.module(program, strided, bound.device), strided
            except CompileError as error:
                # Several elements are one to the program: they follow each other in memory.
                self._only_dense[(id(program), request.target, classes)] = error.reason
        return compiled.module(program, request, bound.device), request

    def _run_flat(self, values) -> List:
        """A call whose results are a list, whatever the structure of the function's result."""
        values, statics = self._arrange(values, {})
        plan, bound = self._make_plan(values, statics)
        self._prepare_direct(plan, bound)
        return self._prepare(plan, bound, flat=True)(values)

    def _through_torch(self, values, statics):
        """A call that PyTorch has to see: gradients are tracked, or tensors have no data."""
        from .torch_gradients import is_wrapped
        from .torch_support import call_operator, call_transformed, call_with_gradients, is_plain

        if any(is_plain(value) and is_wrapped(value) for value in values):
            call = call_transformed
        else:
            call = call_with_gradients if all(is_plain(value) for value in values) and not is_watched() else call_operator
        return self._in_structure(call(self, values, statics))

    def _in_structure(self, leaves: Sequence):
        """Results in the structure of the function's result, which is that of any tracing of it."""
        for program in self._programs.values():
            return leaves[0] if program.structure == 0 else program.unflatten(leaves)
        raise lib.errors.InternalError(f"{self.__name__} was not traced")

    def _prepare(self, plan: Plan, bound, flat: bool = False) -> Callable:
        """How a plan is run: directly, or on the current stream of a device."""
        kind, device = bound.infos[0].kind, bound.device
        if device[0] == CPU:
            return lambda values, stream=None: plan.run(values, None, 0, flat)

        def run(values, stream=None):
            if stream is None:
                stream = current_stream(kind, device, None)
                result = plan.run(values, stream, 0, flat)
            else:
                with _on_stream(stream, device):
                    result = plan.run(values, stream, 0, flat)
                _keep_for_stream(values, stream, device)
            _calls.note(plan.module, stream, device)
            return result

        return run

    def _request(self, program: Program, engine: Optional[str], device: Tuple[int, int]) -> Request:
        target = target_of(engine, device, self.__name__)
        tuned = self._requests.get((id(program), target))
        if tuned is not None:
            return tuned
        return _tuned_request(program, target)

    # -- looking --------------------------------------------------------------------------------------------------

    def specialize(self, engine: Optional[str] = None, **names: Any) -> "Specialized":
        """The program for given values of names: ``f.specialize(H=64, T=ft.f16)``; static parameters, too.

        Names that are not given take the values of ``lengths=``, then those of the last call.
        """
        extents: Dict[str, int] = {}
        dtypes: Dict[str, DType] = {}
        statics = {p.name: p.default for p in self.signature.parameters if p.type is None and p.has_default}
        latest = self._latest[0] if self._latest else None
        known = (*self.signature.extent_names, *self.signature.dtype_names, *self._static_names)
        for name in names:
            if name not in known:
                raise ArgumentError(
                    f"{self.__name__} has no name '{name}' to specialize; there are {', '.join(known) or 'none'}; list lengths stay symbols",
                    of_function(self._function),
                )
        for name in self.signature.extent_names:
            value = names.pop(name, self._options.lengths.get(name, latest.extents.get(name) if latest else None))
            if value is None:
                raise ArgumentError(f"{self.__name__}: the extent '{name}' has no value yet: call the function, or {self.__name__}.specialize({name}=64)", of_function(self._function))
            if not hasattr(value, "__index__") or value < 0:
                raise ArgumentError(f"{self.__name__}.specialize({name}={value!r}): an extent is an integer that is not negative", of_function(self._function))
            extents[name] = int(value)
        for name in self.signature.dtype_names:
            value = names.pop(name, latest.dtypes.get(name) if latest else None)
            if value is None:
                raise ArgumentError(f"{self.__name__}: the element type '{name}' has no value yet: call the function, or {self.__name__}.specialize({name}=ft.f32)", of_function(self._function))
            dtypes[name] = dtype_of(value)
        for name in self._static_names:
            if name in names:
                statics[name] = names.pop(name)
            elif latest is not None and name in latest.statics:
                statics[name] = latest.statics[name]
            elif name not in statics:
                raise ArgumentError(f"{self.__name__}: the parameter '{name}' has no value yet: {self.__name__}.specialize({name}=...)", of_function(self._function))
        return Specialized(self, self._program(extents, dtypes, statics), engine or self._engine)

    def _remember(self, program: Program, device: Tuple[int, int]) -> None:
        """Has `explain()` and the like show a program that PyTorch calls by its derivative."""
        if self._latest is None or self._latest[0] is not program:
            self._latest = (program, self._request(program, self._engine, device))

    def _current(self) -> "Specialized":
        if self._latest is not None:
            return Specialized(self, self._latest[0], self._engine, self._latest[1])
        return self.specialize()

    @property
    def ft(self) -> str:
        """The program in the ft dialect."""
        return self._current().ft

    @property
    def etdg(self) -> str:
        """The program's task graph (FractalTensor, §4.4)."""
        return self._current().etdg

    @property
    def schedule(self) -> str:
        """The graph after its loops were ordered and tiled."""
        return self._current().schedule

    @property
    def ptx(self) -> str:
        """The code for a GPU."""
        return self._current().ptx

    @_of_the_last_call
    def lower(self, to: str = "target", engine: Optional[str] = None) -> str:
        """The program after a phase (``input``, ``ft``, ``etdg``, ``coarsen``, ``reorder``, …), or as ``llvm`` or ``ptx``."""
        return self._current().lower(to, engine)

    @_of_the_last_call
    def explain(self, engine: Optional[str] = None) -> str:
        """What the compiler did and did not do, and why, as text."""
        return self._current().explain(engine)

    def rule(self, form: str = "json") -> str:
        """How each length can be divided over ranks, as a table in JSON.

        `lengths` has a kind for each: "local", "partial", "halo", "scan", "pipeline", "ring", "all-gather" or "refused", with
        the accesses that make it so and the bytes of a message. `rules` are the lengths that ranks divide by running the
        program on their shards: DTensor's strategies.

        Raises:
          ArgumentError: there is no such form; it is "json".
        """
        return self._current().rule(form)

    def on(self, mesh: Any, **shard: str) -> Any:
        """The program as all ranks of a mesh run it together: ``f.on(mesh, N="dp")`` divides N by the axis "dp".

        Arguments of a call are all DTensors of the mesh, or all plain tensors: shards of lists with a divided length, and the same
        on all ranks else. Results are DTensors, or shards and joined parts. Gradients of plain arguments that all ranks have are
        summed over the axis.

        Args:
          mesh: a ``DeviceMesh`` of PyTorch.
          shard: the axis for each length.

        Returns:
          A :class:`fractaltensor.distributed.sharded.Sharded`, which is called as the program is.

        Raises:
          ArgumentError: there is no such length or axis, or one is named twice.
        """
        from .distributed.sharded import Sharded

        return Sharded(self, mesh, shard)

    @_of_the_last_call
    def show(self, path: Optional[Union[str, os.PathLike[str]]] = None) -> Picture:
        """The graph, its blocks and their waves: an object that a notebook draws; with `path` also an HTML file."""
        return self._current().show(path)

    def export(self, path: Union[str, os.PathLike[str]], targets: Union[None, str, Sequence[str]] = None) -> None:
        """Writes a bundle (``.ftb``) that runs without this package; `targets` as in the compiler, or engines."""
        return self._current().export(path, targets)

    def tune(self, *args: Any, progress: bool = True, **kwargs: Any) -> Tuned:
        """Measures what schedules there are with these arguments and keeps the fastest; see :mod:`fractaltensor.tuning`."""
        from .tuning import tune

        return tune(self, args, kwargs, progress)

    def trace(self, *args: Any, path: Optional[Union[str, os.PathLike[str]]] = None, **kwargs: Any) -> Trace:
        """Calls the function once more after a first call, its pieces timed: kernels, and on the CPU each thread's tasks and waits.

        With `path` the trace is also written there, as JSON that https://ui.perfetto.dev opens. Other calls take no longer for it.

        Returns:
          A :class:`fractaltensor.traces.Trace`, which prints as a summary.

        Raises:
          ArgumentError: the arguments are wrong, or the engine is the interpreter.
          OSError: the file cannot be written.
        """
        from .traces import trace

        return trace(self, args, kwargs, path)

    def __reduce__(self):
        # As functions are pickled: by name. Other processes import it and compile, or find it in the cache.
        return self.__qualname__

    def __repr__(self):
        parameters = ", ".join(f"{p.name}: {p.type or '(static)'}" for p in self.signature.parameters)
        return f"<ft.jit {self.__name__}({parameters})>"


class Specialized:
    """A program whose names in element types are bound; made by :meth:`Jit.specialize`."""

    def __init__(self, jit: Jit, program: Program, engine: Optional[str], request: Optional[Request] = None):
        self.jit, self.program, self.engine, self.request = jit, program, engine, request

    def _make_request(self, engine: Optional[str] = None) -> Request:
        if engine is None and self.request is not None and self.request.target != "interpret":
            return self.request
        engine = engine or self.engine or "cpu"
        if engine in lib.target_names() and engine not in ENGINES:
            return Request(engine)
        device = (CUDA, 0) if engine == "cuda" else (CPU, 0)
        return self.jit._request(self.program, "cpu" if engine == "interpret" else engine, device)

    @property
    def ft(self) -> str:
        """The program in the ft dialect."""
        return self.program.text()

    @property
    def etdg(self) -> str:
        """The program's task graph."""
        return self.lower("etdg")

    @property
    def schedule(self) -> str:
        """The graph after its loops were ordered and tiled."""
        return self.lower("schedule")

    @property
    def ptx(self) -> str:
        """The code for a GPU: the last call's, else the newest that the compiler knows."""
        request = self.request
        if request is None or not request.target.startswith("sm_"):
            targets = [t for t in lib.target_names() if t.startswith("sm_")]
            if not targets:
                raise DeviceError("this build of the compiler has no GPU targets")
            request = Request(targets[-1])
        return compiled.text_after(self.program, "ptx", request)

    def lower(self, to: str = "target", engine: Optional[str] = None) -> str:
        """The program after a phase, or as ``llvm`` or ``ptx``."""
        known = [*lib.phase_names(), "llvm", "ptx", "dot", "json", "html"]
        if to == "ptx":
            return self.ptx
        if to not in known:
            raise ArgumentError(f"lower(to={to!r}): there are {', '.join(known)}")
        return compiled.text_after(self.program, to, self._make_request(engine))

    def explain(self, engine: Optional[str] = None) -> str:
        """What the compiler did and did not do, and why, as text."""
        from .looking import explain

        text = explain(self.program, self._make_request(engine))
        notes = []
        for (number, _, classes), reason in self.jit._only_dense.items():
            if number == id(self.program):
                names = ", ".join(p.name for p, k in zip(self.program.parameters, classes) if k)
                notes.append(f"copies {names} before each call, because they lie by strides: {reason}")
        notes += [f"read {names} as it lies, transposed" for number, names in self.jit._in_place if number == id(self.program)]
        for (number, names), reason in self.jit._copied.items():
            if number == id(self.program):
                notes.append(f"copied {names} before calls with strides that the program cannot use: {reason}")
        return text + "".join(f"{'' if i else chr(10) + chr(10) + 'calls:'}\n  {note}" for i, note in enumerate(notes))

    def rule(self, form: str = "json") -> str:
        """How each length can be divided over ranks; see :meth:`Jit.rule`."""
        from .distributed.rules import table

        return table(self.program, form)

    def show(self, path: Optional[Union[str, os.PathLike[str]]] = None) -> Picture:
        """The graph, its blocks and their waves."""
        from .looking import show

        return show(self.program, self._make_request(), path)

    def export(self, path: Union[str, os.PathLike[str]], targets: Union[None, str, Sequence[str]] = None) -> None:
        """Writes a bundle that appears whole or not at all."""
        from .bundles import export

        export(self.program, path, targets, self.request)

    def __repr__(self):
        names = {**self.program.extents, **{n: str(d) for n, d in self.program.dtypes.items()}}
        return f"<{self.program.name} with {names}>"


def jit(function: Optional[Callable] = None, *, bounds: Sequence[str] = (), lengths: Optional[Mapping[str, int]] = None,
        typical: Optional[Mapping[str, Any]] = None, gen: Optional[Mapping[str, Any]] = None, engine: Optional[str] = None,
        rounding: str = "excess", mesh: Any = None, shard: Optional[Mapping[str, str]] = None):
    """Compiles a function over nested lists. Use it as a decorator.

    Args:
      function: a function whose parameters have types of this package, ``ft.List["N, L", ft.f32[1, "H"]]``.
        Parameters with other annotations are static: they are Python values, and each value is compiled once.
      bounds: what every call guarantees of the lengths: ``["L >= 5"]``. Checked at each call.
      lengths: lengths for tests and for what is printed before the first call: ``{"L": 64}``.
      typical: lengths to optimise for: ``{"L": (64, 4096)}``.
      gen: how test data of an argument is made: ``{"ws": ft.normal(0.1)}``.
      engine: "interpret", "cpu" or "cuda"; by default where a call's arguments are.
      rounding: of f16 and bf16, between the operations of a body. With "excess" they are f32 there, and each result is rounded
        once, which errs no more. With "exact" each operation rounds, as the program is written.
      mesh: a ``DeviceMesh`` of PyTorch whose ranks run each call together; see :meth:`Jit.on`.
      shard: the axis of the mesh that divides a length, for each length that is divided: ``{"N": "dp"}``.

    Returns:
      A :class:`Jit`, which is called with arrays of NumPy, PyTorch, JAX, CuPy or anything with DLPack.

    Raises:
      Error: a subclass, at decoration, where the program is wrong for every call.
    """
    if engine is not None and engine not in ENGINES:
        raise ArgumentError(f"engine is one of {', '.join(ENGINES)}, found {engine!r}", here())

    if rounding not in ROUNDINGS:
        raise ArgumentError(f"rounding is one of {', '.join(ROUNDINGS)}, found {rounding!r}", here())
    if shard is not None and (mesh is None or not isinstance(shard, Mapping)):
        raise ArgumentError("shard= names the axis of a mesh for each length, and comes with mesh=: mesh=mesh, shard={'N': 'dp'}", here())

    def decorate(function: Callable) -> Any:
        if isinstance(function, Jit):
            raise TraceError(f"{function.__name__} is compiled already: one @ft.jit is enough", of_function(function._function))
        if inspect.isclass(function) or not hasattr(function, "__code__"):
            wrapped = isinstance(function, (staticmethod, classmethod))
            hint = ": a program in a class needs no decorator beside @ft.jit, and no 'self'" if wrapped else ""
            raise TraceError(f"@ft.jit compiles functions, found {type(function).__name__}{hint}")
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TraceError(f"@ft.jit: {function.__name__} is a coroutine or a generator; a program is a plain function that returns", of_function(function))
        first = next(iter(inspect.signature(function).parameters), "")
        if first in ("self", "cls") and "." in function.__qualname__.rpartition("<locals>.")[2]:
            raise TraceError(
                f"@ft.jit: {function.__qualname__} is a method, and a program takes arrays alone: leave '{first}' out and pass what it "
                "reads as arguments; a program in a class is called as self.f(x)", of_function(function)
            )
        made = Jit(function, Options(bounds, lengths, typical, gen, rounding), engine)
        return made if mesh is None else made.on(mesh, **(shard or {}))

    return decorate if function is None else decorate(function)


def _dense_plan(program: Program, request: Request, bound, kind: str) -> Callable[[], Plan]:
    """Makes the plan for dense copies of arguments: for data at addresses that code for strides cannot use."""
    # Without what keeps the arrays of this call alive.
    infos = [info._replace(strides=None, holder=None) for info in bound.infos]
    lengths, device = bound.lengths, bound.device

    def make() -> Plan:
        return Plan(program, compiled.module(program, request.without_strides(), device), infos, lengths, kind)

    return make


def _depth(type_) -> int:
    """Dimensions of the list, in front of those of its element."""
    return getattr(type_, "depth", 0)


def _is_flat(structure) -> bool:
    """Whether a function's result is one array, or a tuple of them in order."""
    return structure == 0 or (structure[0] is tuple and structure[1] == list(range(len(structure[1]))))


# -- signatures of calls -----------------------------------------------------------------------------------------------


class _Slow(Exception):
    """An argument whose signature has no quick key."""


def _signature_key(args) -> Tuple:
    """What a plan depends on, for arrays of NumPy and PyTorch."""
    key = []
    for value in args:
        kind = type(value)
        if kind is _ndarray():
            key.append((value.shape, value.strides, value.dtype))
        elif kind is _tensor() and not value.requires_grad and not value.is_neg() and not is_level_open() and not is_watched():
            key.append((value.shape, value.stride(), value.dtype, value.device))
        else:
            raise _Slow
    return tuple(key)


def _described_key(values, statics) -> Optional[Tuple]:
    """The same for arrays of any library; None where one is no array."""
    key: List[Any] = [_frozen(statics)]
    for value in values:
        try:
            info = arrays.describe(value)
        except ArgumentError:
            return None
        if info is None:
            return None
        key.append((info.kind, info.dtype, info.dtype_text, info.shape, info.strides, info.device_type, info.device_id))
    return tuple(key)


def _output_key(args, out) -> Optional[Tuple]:
    """The same with one array for the result, of the arguments' library; None where there is no quick key."""
    kind = type(out)
    if not args or type(args[0]) is not kind or kind not in (_ndarray(), _tensor()):
        return None
    if kind is _ndarray() and not out.flags.writeable:
        return None
    try:
        return (_signature_key(args), _signature_key((out,)))
    except _Slow:
        return None


class _Missing:
    pass


_types: List[Any] = [_Missing, _Missing]


def _ndarray():
    if _types[0] is _Missing and "numpy" in sys.modules:
        _types[0] = sys.modules["numpy"].ndarray
    return _types[0]


def _tensor():
    if _types[1] is _Missing and "torch" in sys.modules:
        _types[1] = getattr(sys.modules["torch"], "Tensor", _Missing)
    return _types[1]


def _torch_is_compiling() -> bool:
    """Whether PyTorch's compiler traces this call."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def _compiled_by_torch(jit: Jit, args, kwargs):
    """Written for PyTorch's compiler to trace: one function that it leaves whole, then its results in order."""
    from .torch_support import call_in_graph

    return jit._in_structure(call_in_graph(jit._number_here, args, kwargs))


def by_number(number: int) -> Jit:
    """The program of a number of this process."""
    found = _by_number.get(number)
    if found is None:
        raise TraceError(f"fractaltensor: there is no program {number} in this process")
    return found


def _needs_torch(values) -> bool:
    from .torch_support import needs_operator

    return needs_operator(values)


def _torch_autocasts() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and torch._C._is_any_autocast_enabled()


def _frozen(statics: Mapping[str, Any]) -> Tuple:
    try:
        key = tuple((name, type(value), value) for name, value in sorted(statics.items()))
        hash(key)
        return key
    except TypeError:
        for name, value in statics.items():
            try:
                hash(value)
            except TypeError:
                raise ArgumentError(
                    f"the static parameter '{name}' is {type(value).__name__}, which cannot be compared: "
                    "pass numbers, strings or tuples, or give the parameter a type of ft if it is data"
                ) from None
        raise


def _needs_numbers(error: Error) -> bool:
    return "is known at the call only" in error.reason


# -- engines and streams --------------------------------------------------------------------------------------------------


def target_of(engine: Optional[str], device: Tuple[int, int], what: str) -> str:
    """The compiler's target for an engine and the device of the arguments."""
    if engine is not None and engine not in ENGINES:
        raise ArgumentError(f"{what}: engine is one of {', '.join(ENGINES)}, found {engine!r}")
    if device[0] not in (CPU, CUDA):
        raise ArgumentError(f"{what}: arguments are on a device of DLPack type {device[0]}; there are the CPU and CUDA")
    if engine == "cuda" and device[0] != CUDA:
        raise ArgumentError(f"{what}: engine='cuda' needs arguments on a GPU, these are on the CPU: move them, x.cuda()")
    if engine in ("cpu", "interpret") and device[0] != CPU:
        raise ArgumentError(f"{what}: engine={engine!r} needs arguments on the CPU, these are on cuda:{device[1]}: move them, x.cpu()")
    if device[0] == CPU:
        return engine or "cpu"
    from .devices import cuda_target

    return cuda_target(device[1])


def current_stream(kind: str, device: Tuple[int, int], given) -> Optional[int]:
    """The stream that a call runs on: the one given, else the library's current one."""
    if given is not None:
        if device[0] == CPU:
            raise ArgumentError("stream= is for CUDA; on the CPU a call is done when it returns")
        for name in ("cuda_stream", "ptr"):
            if hasattr(given, name):
                return int(getattr(given, name))
        if hasattr(given, "__cuda_stream__"):
            return int(given.__cuda_stream__()[1])
        if isinstance(given, int):
            return given
        raise ArgumentError(f"stream= takes a stream of PyTorch or CuPy, or its address, found {type(given).__name__}")
    if device[0] == CPU:
        return None
    torch = sys.modules.get("torch")
    if kind == "torch" and torch is not None:
        return _torch_stream(torch, device[1])
    if kind == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr
    if torch is not None and torch.cuda.is_initialized():
        return _torch_stream(torch, device[1])
    return 0


def _torch_stream(torch, device: int) -> int:
    """The address of PyTorch's current stream, without an object for it where there is a way."""
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return raw(device) if raw is not None else torch.cuda.current_stream(device).cuda_stream


class _Calls:
    """The streams that calls went to since they were last waited for."""

    def __init__(self):
        self._seen: Dict[Tuple, Module] = {}
        #: (event, function): what is to be looked at when an event has come.
        self.later: List[Tuple[Any, Callable]] = []

    def look(self, wait: bool = False) -> None:
        """Looks at what has come, or waits for all; raises what went wrong."""
        while self.later and (wait or self.later[0][0].query()):
            event, use = self.later.pop(0)
            event.synchronize()
            use()

    def note(self, module: Module, stream: Optional[int], device: Tuple[int, int]) -> None:
        if device[0] != CPU:
            self._seen[(id(module), stream)] = module

    def synchronize(self) -> None:
        seen, self._seen = self._seen, {}
        direct.epoch.value += 1
        for (_, stream), module in seen.items():
            module.synchronize(stream or 0)
        self.look(wait=True)


_calls = _Calls()


def _on_stream(stream: Optional[int], device: Tuple[int, int]):
    """PyTorch's current stream while a call on another one allocates its results and copies what it must."""
    torch = sys.modules.get("torch")
    if torch is None or not stream or device[0] == CPU:
        return contextlib.nullcontext()
    return torch.cuda.stream(torch.cuda.ExternalStream(stream, device=device[1]))


def _keep_for_stream(values, stream: int, device: Tuple[int, int]) -> None:
    """Tells PyTorch's allocator that memory is in use on a stream that is not its current one."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    other = torch.cuda.ExternalStream(stream, device=device[1])

    def keep(item):
        if isinstance(item, (tuple, list)):
            for inner in item:
                keep(inner)
        elif isinstance(item, torch.Tensor):
            item.record_stream(other)

    keep(values)


def synchronize() -> None:
    """Waits for all calls on devices and raises what went wrong in one of them, naming it.

    Raises:
      DeviceError: a call failed on its device, by its data (an index out of range) or otherwise.
    """
    _calls.synchronize()


def _tuned_request(program: Program, target: str) -> Request:
    from .tuning import stored_choice

    return stored_choice(program, target)
