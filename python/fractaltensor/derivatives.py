# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of programs: ``grad``, ``value_and_grad``, ``vjp``, ``jvp`` and ``hvp``.

The compiler differentiates the program's text (the pass ``ft-differentiate``); what comes out are programs again, which
are compiled and called as any other.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from ctypes import c_void_p
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import library as lib
from .binding import Binder, check_bounds
from .compiled import compile_error
from .errors import ArgumentError, GradientError
from .jit import Jit
from .lengths import Length, parse_dims
from .program import Options, Program
from .source import here
from .types import DType, ListType, TensorType, bf16, f16, f32, f64, i8, i16, i32, i64
from .types import bool_

_DTYPES: Dict[str, DType] = {"f16": f16, "bf16": bf16, "f32": f32, "f64": f64, "i1": bool_, "i8": i8, "i16": i16, "i32": i32, "i64": i64}


# -- the text of functions ------------------------------------------------------------------------------------------


def _closing(text: str, at: int) -> int:
    """Where the bracket at `at` is closed."""
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "([{<"
        depth -= text[i] in ")]}" or (text[i] == ">" and text[i - 1] != "-")
        if depth == 0:
            return i
    raise lib.errors.InternalError("a printed function has no end")


def _split(text: str) -> List[str]:
    """Parts at commas that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += sign in "([{<"
        depth -= sign in ")]}" or (sign == ">" and text[at - 1] != "-")
        if sign == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [p for p in (*parts, text[start:].strip()) if p]


def _type_of(text: str) -> Union[ListType, TensorType]:
    """A type as the dialect prints it."""
    found = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", text)
    if found:
        return TensorType(_DTYPES[found.group(2)], tuple(int(e) for e in found.group(1).split("x") if e))
    found = re.fullmatch(r"!ft\.list<\[(.*)\], (tensor<.*>)>", text)
    if not found:
        raise lib.errors.InternalError(f"the derivative has a value of type {text}")
    return ListType(parse_dims(found.group(1)), _type_of(found.group(2)))


class _Text:
    """One function of a printed module."""

    def __init__(self, module: str, name: str):
        start = module.index(f"func.func @{name}(")
        opening = start + len(f"func.func @{name}")
        end = _closing(module, opening)
        self.name = name
        #: Names of maps, which stand before the functions.
        self.aliases = "".join(line + "\n" for line in module.splitlines() if line.startswith("#"))
        self.arguments = [a.split(": ", 1) for a in _split(module[opening + 1 : end])]
        line = module[end + 1 : module.index("\n", end)]
        attributes = line.find(" attributes {")
        results = line[: attributes if attributes >= 0 else line.rindex("{")].strip()
        results = results.removeprefix("->").strip()
        self.results = _split(results[1:-1]) if results.startswith("(") else _split(results)
        stop = module.index("\n  }\n", end) + len("\n  }\n")
        self.rest = module[end + 1 : stop]
        found = re.search(r"ft\.residuals = \[(.*?)\]", line)
        self.residuals = [(k, int(n)) for k, n in re.findall(r'"(\w+) (\d+)"', found.group(1))] if found else []

    def types(self):
        return [_type_of(rest.split(" {", 1)[0]) for _, rest in self.arguments]

    def print(self, strided: Sequence[int]) -> str:
        written = []
        for i, (name, rest) in enumerate(self.arguments):
            count = strided[i] if i < len(strided) else 0
            if count:
                type_, _, own = rest.partition(" {")
                own = own.removesuffix("}")
                rest = f"{type_} {{{own + ', ' if own else ''}ft.strided = {count} : i64}}"
            written.append(f"{name}: {rest}")
        return f"{self.aliases}func.func @{self.name}({', '.join(written)}){self.rest}"


class _DerivedProgram(Program):
    """A function that the compiler made of a program's."""

    def __init__(self, text: _Text, signature, options: Options, rounding: str):  # noqa: super-init - nothing is traced
        self._text = text
        self.signature, self.options, self.rounding = signature, options, rounding
        self.extents, self.dtypes, self.statics = {}, {}, {}
        self.name, self.function = text.name, None
        self.parameters = signature.traced
        self.types = [p.type for p in self.parameters]
        self.result_types = [_type_of(t) for t in text.results]
        self.structure = (tuple, list(range(len(self.result_types))))

    def text(self, locations: bool = False, strided: Sequence[int] = ()):
        text = self._text.print(strided)
        return (text, {}) if locations else text


class _DerivedJit(Jit):
    """A callable for such a function; results are a tuple."""

    _is_traced = False

    def __init__(self, text: _Text, like: Program, engine: Optional[str], operator_kind: str = "forward"):
        self._derived: Optional[_DerivedProgram] = None
        #: The operator of PyTorch that runs it.
        self.operator_kind = operator_kind
        names = [f"x{i}" for i in range(len(text.arguments))]
        kinds = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]

        def function(*_args):
            raise lib.errors.InternalError("a derivative is not traced")

        function.__name__ = function.__qualname__ = text.name
        function.__signature__ = inspect.Signature(kinds)
        function.__annotations__ = dict(zip(names, text.types()))
        options = Options((), None, None, None, like.rounding)
        super().__init__(function, options, engine)
        self._derived = _DerivedProgram(text, self.signature, options, like.rounding)
        self._programs[((), (), ())] = self._derived

    def _check(self) -> None:
        pass  # The compiler made it.

    def _program(self, extents, dtypes, statics):
        return self._derived

    def __reduce__(self):
        raise TypeError("a derivative is made where it is used; pickle the program")


def _lengths_of(types, arrays: Sequence) -> Dict[str, int]:
    """The lengths that arrays bind, by name."""
    return {
        length.single_name: array.shape[i]
        for type_, array in zip(types, arrays) if isinstance(type_, ListType)
        for i, length in enumerate(type_.lengths) if length.single_name is not None
    }


def _sorted(indices):
    """The indices in their order, and where each lies; equal ones in the order of the list."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(indices, torch.Tensor):
        return indices.reshape(-1).sort(stable=True)
    import numpy

    flat = numpy.asarray(indices).reshape(-1)
    order = numpy.argsort(flat, kind="stable").astype(numpy.int64)
    return flat[order], order


def _ends(ordered, count: int):
    """How many of the ordered indices are at most 0, 1, …, count - 1."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(ordered, torch.Tensor):
        return torch.searchsorted(ordered, torch.arange(count, device=ordered.device, dtype=ordered.dtype), right=True)
    import numpy

    return numpy.searchsorted(ordered, numpy.arange(count), side="right").astype(numpy.int64)


class Derivative(NamedTuple):
    """The derivative of a program in reverse mode.

    forward: takes the program's arguments; its results, then what is saved.

    backward: takes residuals and a cotangent for each result of floats; a gradient for each argument of `wrt`.

    residuals: of each, where it comes from: ("argument" or "result" or "saved", number). ("order" or "ends", number) is
    made of an argument's indices: :func:`_sorted`, :func:`_ends`.
    """

    forward: Jit
    backward: Jit
    residuals: Tuple[Tuple[str, int], ...]
    wrt: Tuple[int, ...]
    floats: Tuple[int, ...]
    num_results: int
    #: Where each residual is among the arguments and then the outputs; None where the caller makes some.
    places: Optional[Tuple[int, ...]] = None

    def read(self, arguments: Sequence, outputs: Sequence) -> List[Any]:
        """The residuals, from arguments and what `forward` gave."""
        sources = {"argument": arguments, "result": outputs[: self.num_results], "saved": outputs[self.num_results :]}
        groups = {number: _sorted(arguments[number]) for kind, number in self.residuals if kind == "order"}
        found = []
        for place, (kind, number) in enumerate(self.residuals):
            if kind == "order":
                found.append(groups[number][1])
            elif kind == "ends":
                length = self.backward._derived.types[place].length
                found.append(_ends(groups[number][0], length.evaluate(_lengths_of(self.forward._derived.types, arguments))))
            else:
                found.append(sources[kind][number])
        return found


def _places(residuals: Sequence[Tuple[str, int]], count: int, num_results: int) -> Optional[Tuple[int, ...]]:
    """Where residuals are among `count` arguments and then the outputs."""
    first = {"argument": 0, "result": count, "saved": count + num_results}
    return tuple(first[kind] + number for kind, number in residuals) if all(kind in first for kind, _ in residuals) else None


_made: Dict[Tuple, Any] = {}


def _differentiated(program: Program, options: str, remarks: Optional[list] = None) -> str:
    """The module with a program's derivative; a refusal is a :class:`GradientError` at the program's line.

    `remarks`, where it is given, is filled with the compiler's messages and the table of places.
    """
    text, table = program.text(locations=True)
    data = text.encode()
    library = lib.library()
    function = program.signature.function
    file = function.__code__.co_filename if hasattr(function, "__code__") else program.name
    with lib.collecting() as messages:
        source = c_void_p()
        status = library.ft_source_parse(lib.compiler(remarks is not None), data, len(data), file.encode(), source)
        printed = ""
        if status == lib.OK:
            try:
                statuses = []
                printed = lib.read_text(lambda write: statuses.append(library.ft_source_differentiate(source, options.encode(), write, None)))
                status = statuses[0]
            finally:
                library.ft_source_release(source)
        if status != lib.OK:
            error = compile_error(program, table, messages, (library.ft_last_error() or b"").decode(errors="replace"), status)
            raise GradientError(error.reason, error.frames, error.notes)
        if remarks is not None:
            remarks += [list(messages), table]
    return printed


def _floats(types) -> Tuple[int, ...]:
    return tuple(i for i, t in enumerate(types) if (t.element if isinstance(t, ListType) else t).dtype.is_float)


def _reverse_options(program: Program, wrt: Sequence[int]) -> str:
    from .printer import symbol

    return f"function={symbol(program.name)} mode=reverse wrt={','.join(map(str, wrt))}"


def saved_bytes(made: Derivative) -> Length:
    """Bytes that a forward function saves besides arguments and results, as a length of the program."""
    total = Length.of(0)
    for type_ in made.forward._derived.result_types[made.num_results :]:
        element = type_.element if isinstance(type_, ListType) else type_
        size = Length.of(math.prod(element.shape) * (1 if element.dtype.is_bool else element.dtype.bits // 8))
        for length in type_.lengths if isinstance(type_, ListType) else ():
            size = size * length
        total = total + size
    return total


def choices(program: Program) -> List[Tuple[Tuple[int, ...], Derivative, list, Any]]:
    """Of each derivative that was made of a program: for which arguments, and the remarks with the table of places."""
    found = []
    for key, made in list(_made.items()):
        if key[:3] == ("reverse", program.text(), program.rounding):
            report: list = []
            _differentiated(program, _reverse_options(program, made.wrt), report)
            found.append((made.wrt, made, *report))
    return found


def derivative(program: Program, wrt: Sequence[int], engine: Optional[str] = None) -> Derivative:
    """The derivative of a program for the arguments with these numbers, made once."""
    from .printer import symbol

    key = ("reverse", program.text(), program.rounding, tuple(wrt), engine)
    found = _made.get(key)
    if found is None:
        name = symbol(program.name)
        module = _differentiated(program, _reverse_options(program, wrt))
        forward, backward = _Text(module, f"{name}_forward"), _Text(module, f"{name}_backward")
        count, num_results = len(program.types), len(program.result_types)
        found = Derivative(
            _DerivedJit(forward, program, engine), _DerivedJit(backward, program, engine, "backward"), tuple(backward.residuals), tuple(wrt),
            _floats(program.result_types), num_results, _places(backward.residuals, count, num_results),
        )
        found = _made.setdefault(key, found)
    return found


def tangent_program(program: Program, wrt: Sequence[int], engine: Optional[str] = None) -> Jit:
    """The program that takes arguments and tangents of those with these numbers; results, then tangents of floats."""
    from .printer import symbol

    key = ("forward", program.text(), program.rounding, tuple(wrt), engine)
    found = _made.get(key)
    if found is None:
        name = symbol(program.name)
        module = _differentiated(program, f"function={name} mode=forward wrt={','.join(map(str, wrt))}")
        found = _made.setdefault(key, _DerivedJit(_Text(module, f"{name}_jvp"), program, engine))
    return found


# -- functions of programs --------------------------------------------------------------------------------------------


def program_of(jit: Jit, args: Sequence[Any]) -> Tuple[Program, List[Any]]:
    """The program that a call with these arguments runs, and the arrays among the arguments."""
    values, statics = jit._arrange(args, {})
    bound = Binder(jit.signature, jit.__name__).bind(values)
    check_bounds(jit.signature, jit._options.bounds, jit.__name__, {**bound.lengths, **bound.extents})
    return jit._program(bound.extents, bound.dtypes, statics), values


def _check_jit(f, what: str) -> None:
    if not isinstance(f, Jit):
        raise ArgumentError(f"ft.{what} takes a program, made by @ft.jit; found {type(f).__name__}", here())


def _numbers(jit: Jit, program: Program, argnums, what: str) -> Tuple[int, ...]:
    """Of arguments as a person counts them, all parameters, to those that are data."""
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    names = [p.name for p in jit.signature.parameters]
    traced = [p.name for p in program.parameters]
    found = []
    for number in chosen:
        if not -len(names) <= number < len(names):
            raise ArgumentError(f"ft.{what}: {jit.__name__} has no argument {number}; it has {len(names)}", here())
        name = names[number]
        if name not in traced or traced.index(name) not in _floats(program.types):
            raise ArgumentError(f"ft.{what}: argument '{name}' of {jit.__name__} has no derivative: expected floats", here())
        found.append(traced.index(name))
    return tuple(found)


def _leaves(result) -> List[Any]:
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in _leaves(item)]
    return [result]


def vjp(f: Jit, *args: Any) -> Tuple[Any, Callable[[Any], Tuple[Any, ...]]]:
    """The result of a program, and the function that takes cotangents of it to gradients of the arguments.

    Args:
      f: a program made by :func:`jit`.
      args: its arguments.

    Returns:
      `(result, pull)`: `pull(cotangent)` takes what has the result's structure, and gives a tuple with a gradient for each
      argument; None for integers and for static arguments.

    Shapes:
      A cotangent has its result's shape, a gradient its argument's.

    Raises:
      GradientError: an operation of the program has no derivative; it is named, at its line.
    """
    _check_jit(f, "vjp")
    program, values = program_of(f, args)
    made = derivative(program, _floats(program.types), f._engine)
    outputs = made.forward(*values)
    residuals = made.read(values, outputs)
    names = [p.name for p in f.signature.parameters]
    traced = [p.name for p in program.parameters]

    def pull(cotangent):
        given = _leaves(cotangent)
        if len(given) != made.num_results:
            raise ArgumentError(f"{f.__name__}: expected a cotangent for each of {made.num_results} results, found {len(given)}", here())
        found = made.backward(*residuals, *[given[i] for i in made.floats])
        by_name = {traced[number]: gradient for number, gradient in zip(made.wrt, found)}
        return tuple(by_name.get(name) for name in names)

    return program.unflatten(outputs[: made.num_results]), pull


def jvp(f: Jit, args: Sequence[Any], tangents: Sequence[Any]) -> Tuple[Any, Any]:
    """The result of a program and its derivative in one direction.

    Args:
      f: a program made by :func:`jit`.
      args: its arguments.
      tangents: one for each argument; None for zero, and for integers.

    Returns:
      `(result, tangent)`: the tangent has the result's structure, with None for integers.

    Shapes:
      A tangent has the shape of its argument or result.

    Raises:
      GradientError: an operation of the program has no derivative; it is named, at its line.
    """
    _check_jit(f, "jvp")
    program, values = program_of(f, args)
    names = [p.name for p in f.signature.parameters]
    if len(tangents) != len(args):
        raise ArgumentError(f"ft.jvp: {f.__name__} has {len(args)} arguments, found {len(tangents)} tangents", here())
    by_name = dict(zip(names, tangents))
    wrt = [i for i, p in enumerate(program.parameters) if by_name.get(p.name) is not None]
    if not wrt:
        raise ArgumentError("ft.jvp: all tangents are None", here())
    for i in wrt:
        if i not in _floats(program.types):
            raise ArgumentError(f"ft.jvp: argument '{program.parameters[i].name}' of {f.__name__} has no derivative: expected floats", here())
    found = tangent_program(program, wrt, f._engine)(*values, *[by_name[program.parameters[i].name] for i in wrt])
    count = len(program.result_types)
    moved = dict(zip(_floats(program.result_types), found[count:]))
    return program.unflatten(found[:count]), program.unflatten([moved.get(i) for i in range(count)])


def _check_number(f: Jit, types, what: str) -> None:
    if len(types) != 1 or isinstance(types[0], ListType) or types[0].shape:
        found = ", ".join(map(str, types))
        raise GradientError(f"{f.__name__} returns {found}: ft.{what} takes a program with one number as its result; ft.vjp takes any", here())


def hvp(f: Jit, args: Sequence[Any], vectors: Sequence[Any]) -> Tuple[Tuple[Any, ...], Tuple[Any, ...]]:
    """The gradient of a program with one number as its result, and the product of its Hessian with a vector.

    The forward-mode derivative of the reverse-mode one: about four times the program's work, and no Hessian is made.

    Args:
      f: a program made by :func:`jit` with one result: a tensor of rank 0.
      args: its arguments.
      vectors: one for each argument; None for zero, and for integers.

    Returns:
      `(gradient, product)`: tuples with an array for each argument; None for integers and for static arguments.

    Shapes:
      Of gradients, vectors and products: that of the argument.

    Raises:
      GradientError: the result is not one number, or an operation has no derivative.
    """
    _check_jit(f, "hvp")
    program, values = program_of(f, args)
    _check_number(f, program.result_types, "hvp")
    if len(vectors) != len(args):
        raise ArgumentError(f"ft.hvp: {f.__name__} has {len(args)} arguments, found {len(vectors)} vectors", here())
    given = dict(zip([p.name for p in f.signature.parameters], vectors))
    moved = {i: given[p.name] for i, p in enumerate(program.parameters) if given.get(p.name) is not None}
    if not moved or any(i not in _floats(program.types) for i in moved):
        raise ArgumentError("ft.hvp: expected a vector for at least one argument, and for arguments of floats alone", here())
    made = derivative(program, _floats(program.types), f._engine)
    forward = made.forward._derived
    found = tangent_program(forward, list(moved), f._engine)(*values, *moved.values())
    count = len(forward.result_types)
    tangents = dict(zip(_floats(forward.result_types), found[count:]))
    residuals = made.read(values, found[:count])
    sources = {
        "argument": moved, "result": {i: t for i, t in tangents.items() if i < made.num_results},
        "saved": {i - made.num_results: t for i, t in tangents.items() if i >= made.num_results},
    }
    of_residuals = {i: sources[kind][number] for i, (kind, number) in enumerate(made.residuals) if number in sources[kind]}
    one = _one_like(found[0])
    if of_residuals:
        both = tangent_program(made.backward._derived, list(of_residuals), f._engine)(*residuals, one, *of_residuals.values())
        gradients, products = both[: len(made.wrt)], both[len(made.wrt) :]
    else:  # The gradient is the same everywhere.
        gradients = made.backward(*residuals, one)
        products = [gradient * 0 for gradient in gradients]
    names = [program.parameters[number].name for number in made.wrt]
    return tuple(tuple(dict(zip(names, each)).get(p.name) for p in f.signature.parameters) for each in (gradients, products))


def _one_like(value):
    """1 as an array of the same library."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return torch.ones_like(value)
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return numpy.ones_like(value)
    return value * 0 + 1


def value_and_grad(f: Jit, argnums: Union[int, Sequence[int]] = 0) -> Callable[..., Tuple[Any, Any]]:
    """A function that gives a program's result, which is one number, and its gradient.

    Args:
      f: a program made by :func:`jit` with one result: a tensor of rank 0.
      argnums: the number of the argument, or several.

    Returns:
      A function of the program's arguments: `(result, gradient)`; a tuple of gradients where `argnums` are several.

    Shapes:
      A gradient has its argument's shape.

    Raises:
      GradientError: the result is not one number, or an operation has no derivative.
    """
    _check_jit(f, "value_and_grad")

    def call(*args):
        program, values = program_of(f, args)
        types = program.result_types
        _check_number(f, types, "grad")
        wrt = _numbers(f, program, argnums, "grad")
        made = derivative(program, wrt, f._engine)
        outputs = made.forward(*values)
        gradients = made.backward(*made.read(values, outputs), _one_like(outputs[0]))
        return outputs[0], gradients[0] if isinstance(argnums, int) else tuple(gradients)

    return call


def grad(f: Jit, argnums: Union[int, Sequence[int]] = 0) -> Callable[..., Any]:
    """A function that gives the gradient of a program with one number as its result.

    Args:
      f: a program made by :func:`jit` with one result: a tensor of rank 0.
      argnums: the number of the argument, or several.

    Returns:
      A function of the program's arguments that gives the gradient; a tuple of them where `argnums` are several.

    Shapes:
      A gradient has its argument's shape.

    Raises:
      GradientError: the result is not one number, or an operation has no derivative.
    """
    both = value_and_grad(f, argnums)
    return lambda *args: both(*args)[1]
