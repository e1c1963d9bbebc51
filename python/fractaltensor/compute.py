# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that compute: map, reduce, fold, foldl, foldr, scan, scanl, scanr (FractalTensor, Table 1).

An *aggregate* carries states. Its function gets the states, then one element of each list, and returns
the new states: one value, or a tuple for several. Where it also has outputs that are collected and not
carried, it returns ``ft.emit(states, outputs)``.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, List, Optional, Sequence, Tuple

from .errors import DTypeError, LengthError, ShapeError, TraceError
from .source import here
from .trace import Traced, call_region, decide, parameter_names
from .types import ListType, TensorType, ValueType, wrap

_SCANS = ("scan", "scanl", "scanr")
_FREE = ("reduce", "fold", "scan")


class Emit:
    """What a function returns that has outputs besides its states; made by :func:`emit`."""

    __slots__ = ("states", "outputs")

    def __init__(self, states, outputs):
        self.states, self.outputs = states, outputs


def emit(states: Any, *outputs: Any) -> Emit:
    """``ft.emit(state, out)``: the new state or states (a tuple), and outputs that are collected in lists."""
    if not outputs:
        raise TraceError("ft.emit(state, out) needs at least one output; without one return the state itself", here())
    flat = []
    for output in outputs:
        flat += output if isinstance(output, (tuple, list)) else [output]
    return Emit(states, tuple(flat))


def as_value(value, like: Optional[ValueType], what: str):
    """A traced value; numbers fill an element of the type `like`."""
    from .elementwise import as_tensor, full_of, is_number, number_dtype

    if isinstance(value, Traced):
        return value
    if is_number(value) and isinstance(like, TensorType):
        number = value if isinstance(value, (bool, int, float)) else value.item()
        return full_of(like.shape, number, number_dtype(number, like.dtype, what))
    if is_number(value) and isinstance(like, ListType):
        raise TraceError(f"{what} is a list ({like}), found the number {value!r}: use ft.repeat(x, length)", here())
    return as_tensor(value, what)


def _values(result, what: str) -> Tuple:
    """A function's result as a tuple of what it holds."""
    if isinstance(result, (tuple, list)):
        flat: List = []
        for item in result:
            if isinstance(item, (tuple, list)):
                flat += _values(item, what)
            else:
                flat.append(item)
        return tuple(flat)
    if result is None:
        raise TraceError(f"the function of {what} returns nothing: it ends with 'return'", here())
    return (result,)


def check_lists(lists: Sequence, what: str, same_length: bool = True) -> None:
    from .lists import ListValue, ZippedLists

    if not lists:
        raise TraceError(f"{what} needs at least one list", here())
    for xs in lists:
        if isinstance(xs, ZippedLists):
            raise TraceError(f"{what}: zipped lists are traversed, ft.zip(xs, ys).map(f); {what} takes one list at a time", here())
        if not isinstance(xs, ListValue):
            found = f"an element ({xs.type})" if isinstance(xs, Traced) else type(xs).__name__
            raise TraceError(f"{what} takes lists, found {found}", here())
        if same_length and xs.type.length != lists[0].type.length:
            raise LengthError(
                f"{what} of lists of {lists[0].type.length} and {xs.type.length} elements: the lengths must be the same; "
                "if they are equal at every call, say so with .cast(length)",
                here(),
            )


def _finish(trace, region, values: Sequence) -> None:
    """Ends a region with the values that its function returned."""
    trace.regions.append(region)
    try:
        yielded = [trace.check_operand(value, "the result") for value in values]
    finally:
        trace.regions.pop()
    from . import ir

    ir.make_op(region, "yield", yielded, [], {"states": len(yielded)})


def map_(f: Callable[..., Any], *lists: Any) -> Any:
    """``[f(x, y) for x, y in zip(xs, ys)]``: a list of results; a tuple of lists where f returns a tuple.

    The lists have the same outermost length. Iterations are independent.
    """
    check_lists(lists, "map")
    _check_function(f, "what map takes")
    trace = lists[0]._trace
    names = parameter_names(f, len(lists)) or ["x"] * len(lists)
    region, result = call_region(trace, f, "map", list(zip([xs.type.peeled for xs in lists], names)))
    if isinstance(result, Emit):
        raise TraceError("a map carries no state: return the values, without ft.emit", here())
    several = isinstance(result, (tuple, list))
    raw = _values(result, "map")
    trace.regions.append(region)
    try:
        values = [as_value(value, None, "the result of map") for value in raw]
    finally:
        trace.regions.pop()
    _finish(trace, region, values)
    types = [wrap(lists[0].type.length, value.type) for value in values]
    results = trace.emit("map", lists, types, [region])
    return tuple(results) if several else results[0]


def aggregate(kind: str, f: Callable, lists: Sequence, init=None, *, combine=None, identity=None, lag=1) -> Any:
    """One of the operators that carry states; see the functions of the same names."""
    check_lists(lists, kind)
    _check_function(f, f"what {kind} takes")
    trace = lists[0]._trace
    elements = [xs.type.peeled for xs in lists]
    states = _states(kind, init, elements)
    state_types = [s.type for s in states] if states else list(elements)
    lag = _check_lag(trace, kind, lag, bool(states))

    names = parameter_names(f, len(state_types) + len(elements)) or ["s"] * len(state_types) + ["x"] * len(elements)
    arguments = list(zip([*state_types, *elements], names))
    region, result = call_region(trace, _spread(f, len(state_types), len(elements)), kind, arguments)
    yielded, outputs = _results(trace, region, kind, result, state_types)
    if outputs and kind in ("reduce", "fold"):
        raise TraceError(f"{kind} emits nothing, for the states that it sees depend on the association: use foldl", here())
    if outputs and not states:
        raise TraceError(f"{kind} without init emits nothing: give an initial state", here())
    _check_free(kind, state_types, elements, combine)
    regions = [region]
    if combine is not None:
        regions.append(_combine(trace, kind, combine, state_types))
    identities = [] if identity is None else [
        as_value(v, t, "the identity") for v, t in zip(_several(identity, len(state_types), kind, "identity"), state_types)
    ]
    for value, type_ in zip(identities, state_types):
        _same_type(kind, "the identity", value.type, type_)
    if identities and kind not in _FREE:
        raise TraceError(f"{kind} keeps its order: identity is for reduce, fold and scan", here())

    from . import ir

    trace.regions.append(region)
    operands = [trace.check_operand(v, kind) for v in (*yielded, *outputs)]
    trace.regions.pop()
    ir.make_op(region, "yield", operands, [], {"states": len(yielded)})
    n = lists[0].type.length
    types = [wrap(n, t) if kind in _SCANS else t for t in state_types] + [wrap(n, v.type) for v in outputs]
    results = trace.emit(
        "aggregate", [*lists, *states, *identities], types, regions,
        name=kind, lists=len(lists), inits=len(states), lag=lag,
    )
    return results[0] if len(results) == 1 else tuple(results)


def _states(kind: str, init, elements: Sequence[ValueType]) -> List:
    if init is None:
        return []
    several = init if isinstance(init, (tuple, list)) else (init,)
    if not several:
        raise TraceError(f"{kind} carries at least one state, found an empty tuple", here())
    likes = [_like(v, elements[i : i + 1] if len(several) == len(elements) else elements) for i, v in enumerate(several)]
    return [as_value(v, like, f"the initial state of {kind}") for v, like in zip(several, likes)]


def _like(value, elements: Sequence[ValueType]) -> Optional[ValueType]:
    """The type that a number takes as a state: that of the first element which holds numbers of its kind, else the
    number's own (None)."""
    from .elementwise import is_number

    if not is_number(value):
        return elements[0]
    number = value if isinstance(value, (bool, int, float)) else value.item()
    for element in elements:
        if not isinstance(element, TensorType):
            continue
        dtype = element.dtype
        if dtype.is_bool == isinstance(number, bool) and (dtype.is_float or not isinstance(number, float) or not dtype.is_bound):
            return element
    return None if any(isinstance(e, TensorType) for e in elements) else elements[0]


def _check_lag(trace, kind: str, lag, has_init: bool):
    """The lag as a number where it is one, else as a length."""
    from .lengths import Length
    from .lists import length_in_program

    if isinstance(lag, (str, Length)):
        length = length_in_program(trace, lag, kind)
        lag = length if length.constant is None else length.constant
    elif not isinstance(lag, int) or isinstance(lag, bool):
        raise ShapeError(f"{kind}: lag is an integer of at least 1, or a length; found {lag!r}", here())
    if isinstance(lag, int) and lag < 1:
        raise ShapeError(f"{kind}: lag is an integer of at least 1, found {lag!r}", here())
    if lag != 1 and not has_init:
        raise TraceError(f"{kind} with lag {lag} needs an initial state: init=...", here())
    return lag


def _spread(f: Callable, states: int, elements: int) -> Callable:
    """Functions may take their states one by one, or in a tuple as in JAX."""
    import inspect

    if states == 1:
        return f
    try:
        parameters = [
            p for p in inspect.signature(f).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        ]
        variadic = any(p.kind == p.VAR_POSITIONAL for p in inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return f
    if len(parameters) == 1 + elements and not variadic:
        def packed(*values):
            return f(tuple(values[:states]), *values[states:])

        return packed
    return f


def _results(trace, region, kind: str, result, state_types) -> Tuple[List, List]:
    outputs: Tuple = ()
    if isinstance(result, Emit):
        result, outputs = result.states, result.outputs
    values = _values(result, kind)
    if len(values) != len(state_types):
        hint = "; outputs that are not carried go into ft.emit(states, outputs)" if len(values) > len(state_types) else ""
        raise TraceError(
            f"the function of {kind} returns {len(values)} state{'s' * (len(values) != 1)}, there "
            f"{'is 1' if len(state_types) == 1 else f'are {len(state_types)}'} ({', '.join(map(str, state_types))}){hint}",
            here(),
        )
    trace.regions.append(region)
    try:
        yielded = [as_value(v, t, f"the state of {kind}") for v, t in zip(values, state_types)]
        emitted = [as_value(v, None, f"the output of {kind}") for v in outputs]
    finally:
        trace.regions.pop()
    for value, type_ in zip(yielded, state_types):
        _same_type(kind, "the new state", value.type, type_)
    return yielded, emitted


def _same_type(kind: str, what: str, found: ValueType, expected: ValueType) -> None:
    if found == expected:
        return
    decide(found, expected)
    message = f"{kind}: {what} is {found}, the initial one is {expected}"
    if isinstance(found, TensorType) and isinstance(expected, TensorType):
        if found.dtype != expected.dtype:
            raise DTypeError(f"{message}: convert one, .to(ft.{expected.dtype}), or start from dtype=ft.{found.dtype}", here())
        raise ShapeError(f"{message}: a state keeps its shape", here())
    raise LengthError(f"{message}: a state keeps its type; if lengths are equal at every call, use .cast(length)", here())


def _check_free(kind: str, states, elements, combine) -> None:
    if kind not in _FREE:
        if combine is not None:
            raise TraceError(f"{kind} keeps its order: combine is for reduce, fold and scan", here())
        return
    if combine is None and list(states) != list(elements):
        if len(states) == len(elements):
            for state, element in zip(states, elements):
                decide(state, element)
        ordered = "scanl" if kind == "scan" else "foldl"
        raise TraceError(
            f"{kind} may be re-associated only where states ({', '.join(map(str, states))}) and elements "
            f"({', '.join(map(str, elements))}) have the same types: give combine=, which joins two states, "
            f"or use {ordered}, which keeps the order",
            here(),
        )


def _several(value, count: int, kind: str, what: str) -> Sequence:
    values = value if isinstance(value, (tuple, list)) else (value,)
    if len(values) != count:
        raise TraceError(f"{kind}: {what} gives one value for each state, expected {count}, found {len(values)}", here())
    return values


def _check_function(f, what: str) -> None:
    if not callable(f):
        found = f"{'a list' if isinstance(f.type, ListType) else 'an element'} ({f.type})" if isinstance(f, Traced) else repr(f)
        raise TraceError(f"{what} is a function, such as lambda x: ... or ft.add; found {found}", here())


def _combine(trace, kind: str, combine: Callable, state_types):
    _check_function(combine, f"combine of {kind}")
    names = parameter_names(combine, 2 * len(state_types)) or ["a"] * len(state_types) + ["b"] * len(state_types)
    arguments = list(zip([*state_types, *state_types], names))

    def call(*values):
        return _spread_pairs(combine, len(state_types))(*values)

    region, result = call_region(trace, call, f"{kind}'s combine", arguments)
    if isinstance(result, Emit):
        raise TraceError(f"combine of {kind} joins two states, it emits nothing", here())
    values = _values(result, f"{kind}'s combine")
    if len(values) != len(state_types):
        raise TraceError(
            f"combine of {kind} takes the states twice and returns them once: expected {len(state_types)}, found {len(values)}", here()
        )
    trace.regions.append(region)
    try:
        values = [as_value(v, t, "combine's result") for v, t in zip(values, state_types)]
    finally:
        trace.regions.pop()
    for value, type_ in zip(values, state_types):
        _same_type(kind, "combine's result", value.type, type_)
    _finish(trace, region, values)
    return region


def _spread_pairs(combine: Callable, states: int) -> Callable:
    import inspect

    if states > 1:
        try:
            parameters = inspect.signature(combine).parameters
            if len(parameters) == 2 and not any(p.kind == p.VAR_POSITIONAL for p in parameters.values()):
                return lambda *values: combine(tuple(values[:states]), tuple(values[states:]))
        except (TypeError, ValueError):
            pass
    return combine


def _free_function(kind: str, doc: str):
    def function(f, lists, init=None, **options):
        from .lists import ZippedLists

        if isinstance(lists, ZippedLists):
            lists = lists.lists
        elif isinstance(lists, (tuple, list)):
            lists = tuple(lists)
        else:
            lists = (lists,)
        return aggregate(kind, f, lists, init, **options)

    given = inspect.Parameter.KEYWORD_ONLY
    options = {"lag": 1} if kind.startswith("scan") and kind != "scan" else {}
    if kind in ("reduce", "fold", "scan"):
        options = {"combine": None, "identity": None}
    parameters = list(inspect.signature(function).parameters.values())[:3]
    parameters += [inspect.Parameter(name, given, default=value) for name, value in options.items()]
    function.__signature__ = inspect.Signature(parameters)
    function.__name__ = function.__qualname__ = kind
    function.__doc__ = f"{doc.rstrip()}\n\n    Example: {_EXAMPLES[kind]}\n    " if "\n" in doc else f"{doc}\n\nExample: {_EXAMPLES[kind]}"
    return function


#: In the body of a program whose argument xs is a list of f32 of one shape.
_EXAMPLES = {
    "reduce": "``ft.reduce(lambda a, x: a + x, xs, init=0.0 * xs[0])`` is the sum.",
    "fold": "``ft.fold(lambda a, x: ft.maximum(a, x), xs, init=xs[0])`` is the largest element.",
    "foldl": "``ft.foldl(lambda a, x: 0.5 * a + x, xs, init=xs[0])`` is a decaying sum.",
    "foldr": "``ft.foldr(lambda a, x: 0.5 * a + x, xs, init=xs[0])`` is one from the end.",
    "scan": "``ft.scan(lambda a, x: a + x, xs, init=0.0 * xs[0])`` is the list of running sums.",
    "scanl": "``ft.scanl(lambda h, x: ft.tanh(h + x), xs, init=0.0 * xs[0])`` is a recurrence: element i is tanh of element i - 1 plus x[i].",
    "scanr": "``ft.scanr(lambda h, x: ft.tanh(h + x), xs, init=0.0 * xs[0])`` is one from the end.",
}


reduce = _free_function(
    "reduce",
    """``reduce(f, xs, init=None, combine=None, identity=None)``: combines all elements of a list, in any association.

    Without `init` the first element is the initial state, and the length must be at least 1 by a bound.
    Where states and elements differ in type, `combine` joins two states and `identity` (by default
    `init`) is neutral for it. Several lists: a tuple of them, or ``ft.zip``.
    """,
)
fold = _free_function("fold", "``fold(f, xs, init)``: as :func:`reduce`.")
foldl = _free_function("foldl", "``foldl(f, xs, init)``: from the left, in order; the last state.")
foldr = _free_function("foldr", "``foldr(f, xs, init)``: from the right, in order; the last state.")
scan = _free_function("scan", "``scan(f, xs, init)``: all states; the order of association is free.")
scanl = _free_function("scanl", "``scanl(f, xs, init, lag=1)``: all states, from the left, in order; the state comes from `lag` before.")
scanr = _free_function("scanr", "``scanr(f, xs, init, lag=1)``: all states, from the right, in order.")
