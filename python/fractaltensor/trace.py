# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program that is being traced, and what every traced value has in common.

Functions and lambdas are called once, with symbolic values in the place of data. Each operation on
such a value is appended to the region in which it happens. A value may be used in its own region and
in those inside it (it is *captured*); anywhere else it has no meaning, and using it is an error.
"""

from __future__ import annotations

import re
import threading
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from . import ir
from .errors import Error, TraceError
from .lengths import Length
from .source import here, is_ours, of_traceback
from .types import ListType, TensorType, ValueType


class Trace:
    """One tracing of one program.

    Attributes:
      extents, dtypes: what the names in element shapes and element types stand for.
      checking: whether names may be without a value, when a program is only checked.
    """

    def __init__(self, name: str, extents: Dict[str, int], dtypes: Dict, checking: bool = False):
        self.function = ir.Function(name)
        self.extents, self.dtypes, self.checking = extents, dtypes, checking
        self.regions: List[ir.Region] = [self.function.body]
        self.constants: Dict[Tuple, ir.Value] = {}
        self.length_names: Tuple[str, ...] = ()

    @property
    def region(self) -> ir.Region:
        return self.regions[-1]

    def check_operand(self, value: "Traced", what: str) -> ir.Value:
        """The value, if it may be used in the current region."""
        if value._trace is not self:
            raise TraceError(
                f"{what} uses a value of another program: a traced value lives while its own program is traced; "
                "pass it as an argument instead",
                here(),
            )
        inner = value._value
        if not inner.region.encloses(self.region):
            where = inner.op.frames if inner.op is not None else inner.region.frames
            raise TraceError(
                f"{what} uses a value from inside {inner.region.what}, which has no value here; "
                "return it from that function (emit it, in a scan) and use the result",
                here() or where,
                [("the value was made here", where)] if where and here() else (),
            )
        return inner

    def emit(self, kind: str, operands: Sequence["Traced"], results: Sequence[ValueType], regions=(), **attributes) -> List["Traced"]:
        """Appends an operation and gives its results as traced values."""
        values = [self.check_operand(operand, "this operation") for operand in operands]
        op = ir.make_op(self.region, kind, values, results, attributes, regions)
        return [wrap_value(self, value) for value in op.results]

    def constant(self, type_: TensorType, payload: Tuple) -> "Traced":
        """A constant, made once for the program, before everything else.

        `payload` is ``("splat", number)`` or ``("dense", bytes, nested numbers)``.
        """
        key = (type_, payload[0], repr(payload[1]))
        value = self.constants.get(key)
        if value is None:
            body = self.function.body
            op = ir.Op("constant", [], {"payload": payload}, [], body)
            op.frames = here()
            op.results = [ir.Value(type_, body, op)]
            body.ops.insert(len(self.constants), op)
            value = self.constants[key] = op.results[0]
        return wrap_value(self, value)

    def open_region(self, what: str) -> ir.Region:
        region = ir.Region(self.region, what)
        region.frames = here()
        self.regions.append(region)
        return region

    def close_region(self) -> None:
        self.regions.pop()


class Undecided(Exception):
    """While a program is checked with names in the place of extents: whether it is right depends on their values."""


def decide(found, expected) -> None:
    """Leaves a check to the call where a number stands against a name: they may be equal there.

    Takes two extents, or two types. Two different names differ, and so do two numbers.
    """
    if not _stack.traces or not _stack.traces[-1].checking:
        return
    pairs = [(found, expected)]
    if isinstance(found, (TensorType, ListType)):
        a, b = _extents(found), _extents(expected)
        if len(a) != len(b) or type(found) is not type(expected):
            return
        pairs = [(x, y) for x, y in zip(a, b) if x != y]
    for a, b in pairs:
        a, b = Length.of(a), Length.of(b)
        if a != b and ((a.constant is None) == (b.constant is None) or (a - b).constant is not None):
            return
    raise Undecided


def _extents(type_: ValueType) -> list:
    return list(type_.element.shape if isinstance(type_, ListType) else type_.shape)


class _Stack(threading.local):
    def __init__(self):
        self.traces: List[Trace] = []


_stack = _Stack()


def current(what: str = "this") -> Trace:
    """The innermost trace of this thread."""
    if not _stack.traces:
        raise TraceError(f"{what} belongs in a program: call it from a function under @ft.jit", here())
    return _stack.traces[-1]


def is_tracing() -> bool:
    return bool(_stack.traces)


class activate:
    """Makes a trace the current one within a `with`."""

    def __init__(self, trace: Trace):
        self.trace = trace

    def __enter__(self) -> Trace:
        _stack.traces.append(self.trace)
        return self.trace

    def __exit__(self, *_):
        _stack.traces.pop()


class Traced:
    """Base of symbolic values: :class:`Tensor` (an element) and :class:`ListValue` (a nested list)."""

    __slots__ = ("_trace", "_value", "__weakref__")

    #: NumPy must not take a traced value for a sequence.
    __array_priority__ = 1000

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """A function of NumPy, such as ``np.tanh``, where it has one of the same name here."""
        if method != "__call__" or options:
            self._refuse(f"np.{ufunc.__name__}.{method}", "use the methods of the value, or the function of the same name in ft")
        return _function_of("np", ufunc.__name__)(*inputs)

    def __array_function__(self, function, types, args, kwargs):
        return _function_of("np", function.__name__)(*args, **kwargs)

    def __init__(self, trace: Trace, value: ir.Value):
        self._trace, self._value = trace, value

    @property
    def type(self) -> ValueType:
        """The value's type: a tensor type or a list type."""
        return self._value.type

    def _refuse(self, what: str, instead: str):
        raise TraceError(f"{what} needs data, but {self._describe()} is traced: it stands for all data; {instead}", here())

    def _describe(self) -> str:
        return f"this {'list' if isinstance(self.type, ListType) else 'tensor'} ({self.type})"

    def __bool__(self):
        self._refuse("a condition", "use ft.where(condition, a, b), which takes both sides")

    def __int__(self):
        self._refuse("int()", "use ft.where for choices, and .to(ft.i64) to convert numbers")

    def __float__(self):
        self._refuse("float()", "use .to(ft.f32) to convert, and ft.where for choices")

    def __index__(self):
        self._refuse("an index or range()", "index a list with it, xs[i], which gathers; or use ft.where")

    def __complex__(self):
        self._refuse("complex()", "complex numbers are not supported")

    def __array__(self, *_, **__):
        self._refuse("NumPy", "use the methods of the value, or the function of the same name in ft")

    def __contains__(self, _):
        self._refuse("'in'", "compare and reduce: (x == y).any()")

    def __setitem__(self, *_):
        self._refuse("assigning to an element", "values do not change: use ft.where, or return a new value")

    def __delitem__(self, *_):
        self._refuse("deleting an element", "values do not change: slice and concatenate")

    def __hash__(self):
        return id(self)

    def __format__(self, spec: str):
        if spec:
            self._refuse(f"the format {spec!r}", "print the result after the call")
        return repr(self)

    def item(self):
        """Data of a traced value: always an error."""
        self._refuse(".item()", "return the value and read it after the call")

    tolist = numpy = item

    def backward(self, *_, **__):
        """Gradients of a traced value: always an error."""
        from .errors import GradientError

        raise GradientError(
            "backward() inside of a program: return the loss and call backward() on the result, or take ft.grad of the program", here()
        )

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """A function of PyTorch, such as ``torch.tanh``, where it has one of the same name here."""
        return _function_of("torch", getattr(func, "__name__", str(func)))(*args, **(kwargs or {}))


def _function_of(library: str, name: str) -> Callable:
    """Our function of the name that another library's has."""
    from . import functions

    ours = getattr(functions, name, None)
    if ours is None or name.startswith("_") or not callable(ours):
        raise TraceError(f"{library}.{name} has no function of its name here; help(ft.functions) lists those there are", here())
    return ours


def wrap_value(trace: Trace, value: ir.Value) -> Traced:
    from .lists import ListValue
    from .tensors import Tensor

    return (ListValue if isinstance(value.type, ListType) else Tensor)(trace, value)


def call_region(trace: Trace, function: Callable, what: str, arguments: Sequence[Tuple[ValueType, str]]) -> Tuple[ir.Region, object]:
    """Calls a function of the program on fresh arguments, in a region of its own."""
    region = trace.open_region(what)
    try:
        values = [wrap_value(trace, region.add_argument(type_, name)) for type_, name in arguments]
        try:
            result = function(*values)
        except Error as error:
            raise error.at((*of_traceback(error.__traceback__), *here()))
        except TypeError as error:
            raise _wrong_call(function, what, arguments, error) from error
        return region, result
    finally:
        trace.close_region()


def _wrong_call(function, what: str, arguments, error: TypeError) -> Exception:
    """A clearer message where the number of parameters is wrong; else the error itself."""
    import inspect

    try:
        inspect.signature(function).bind(*[None] * len(arguments))
    except TypeError:
        given = ", ".join(f"{name}: {type_}" for type_, name in arguments)
        return TraceError(
            f"the function of {what} is called with {len(arguments)} argument{'s' * (len(arguments) != 1)} ({given}): states first, "
            f"then one element of each list; {getattr(function, '__name__', 'it')} takes others: {error}",
            here(),
        )
    except ValueError:
        pass
    return error


_WRONG_CALL = re.compile(r"(?P<name>[\w.<>]+)\(\) (?P<reason>missing .*|got .*|takes .*)", re.S)


def wrong_use(error: TypeError, checking: bool) -> Optional[Error]:
    """What Python itself says where one of our functions is called in a wrong way, as an error with a place.

    None where it is a mistake in the user's own functions, which Python's message describes. None, too, while names stand for
    extents and a number may be missing that the call knows.
    """
    frames = of_traceback(error.__traceback__)
    inner = error.__traceback__
    while inner.tb_next is not None:
        inner = inner.tb_next
    match = _WRONG_CALL.match(str(error))
    function = _ours(match.group("name"), inner.tb_frame) if match else None
    if function is not None:
        name = match.group("name").split(".")[-1]
        return TraceError(f"{name} {match.group('reason')}; it is called as {name}{_parameters_of(function)}", frames)
    if is_ours(inner.tb_frame.f_code.co_filename) and not checking:
        return TraceError(str(error), frames)
    return None


def _ours(name: str, frame) -> Optional[Callable]:
    """A function or method of the package by the name that Python's messages give it, unless the caller has one so called."""
    from . import functions, lists, tensors

    short = name.split(".")[-1]
    theirs = getattr(frame.f_locals.get(short, frame.f_globals.get(short)), "__code__", None)
    if theirs is not None and not is_ours(theirs.co_filename):
        return None
    for place in (functions, lists, lists.ListValue, lists.ZippedLists, tensors.Tensor):
        function = getattr(place, short, None)
        # Before Python 3.10 messages have a method's name without its class.
        if getattr(function, "__qualname__", None) == name or (name == short and getattr(function, "__name__", None) == name):
            if is_ours(function.__code__.co_filename):
                return function
    return None


def _parameters_of(function: Callable) -> str:
    import inspect

    signature = inspect.signature(function)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def parameter_names(function: Callable, count: int) -> Optional[List[str]]:
    """The names a person gave to the parameters of a function, if there are as many as `count`."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    names = list(code.co_varnames[: code.co_argcount])
    if getattr(function, "__self__", None) is not None:
        names = names[1:]
    return names[:count] if len(names) >= count else None
