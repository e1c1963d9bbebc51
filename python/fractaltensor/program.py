# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a function of the user to a traced program: its signature, and one tracing of it."""

from __future__ import annotations

import copy
import inspect
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from . import ir, printer, shaping
from .errors import ArgumentError, DTypeError, Error, LengthError, ShapeError, TraceError
from .lengths import Length, LengthLike, parse_bound
from .source import here, of_argument, of_function, of_traceback, tracing_from_here
from .trace import Trace, Traced, activate, decide, wrap_value, wrong_use
from .transposed import type_as_it_lies
from .types import DType, ListType, ValueType, as_type


class Parameter:
    """A parameter of a program: traced (it has one of our types) or static (any other annotation)."""

    __slots__ = ("name", "type", "default", "has_default", "generator")

    def __init__(self, name: str, type_: Optional[ValueType], default, has_default: bool, generator: str = ""):
        self.name, self.type, self.default, self.has_default, self.generator = name, type_, default, has_default, generator


class Signature:
    """What a program takes: parameters, and the names in their types.

    Attributes:
      length_names: names of list lengths, in the order in which arguments bind them.
      extent_names: names in element shapes.
      dtype_names: names of element types.
    """

    def __init__(self, function: Callable, annotations: Optional[Mapping[str, Any]] = None):
        self.function = function
        hints = dict(annotations) if annotations is not None else _annotations(function)
        self.parameters: List[Parameter] = []
        for parameter in inspect.signature(function).parameters.values():
            self.parameters.append(self._parameter(parameter, hints))
        self.traced = [p for p in self.parameters if p.type is not None]
        if not self.traced:
            raise TraceError(
                f"{function.__name__} takes no lists or tensors: annotate its parameters, "
                "xs: ft.List['N, L', ft.f32[1, 'H']]",
                of_function(function),
            )
        self.result_annotation = hints.get("return")
        self._collect_names()

    def __repr__(self) -> str:
        parameters = ", ".join(f"{p.name}: {p.type or '(static)'}" for p in self.parameters)
        return f"{getattr(self.function, '__name__', 'program')}({parameters})"

    def _parameter(self, parameter, hints) -> Parameter:
        name = parameter.name
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TraceError(
                f"{self.function.__name__}: '*{name}' is not possible, a program has a fixed number of parameters",
                of_function(self.function),
            )
        has_default = parameter.default is not parameter.empty
        default = parameter.default if has_default else None
        if name not in hints:
            raise TraceError(
                f"{self.function.__name__}: parameter '{name}' has no type; annotate it, "
                f"{name}: ft.List['N', ft.f32[1, 'H']], or with a Python type if it is no data",
                of_argument(self.function, name),
            )
        annotation, generator = _generator(hints[name])
        type_ = as_type(annotation)
        if type_ is not None and has_default:
            raise TraceError(f"{self.function.__name__}: '{name}' is data, which has no default", of_argument(self.function, name))
        if type_ is None and annotation.__class__.__name__ in ("ndarray", "Tensor"):
            raise TraceError(f"{self.function.__name__}: the type of '{name}' is an array; write a type", of_argument(self.function, name))
        return Parameter(name, type_, default, has_default, generator)

    def _collect_names(self) -> None:
        lengths: Dict[str, None] = {}
        extents: Dict[str, None] = {}
        dtypes: Dict[str, None] = {}
        for p in self.traced:
            element = p.type.element if isinstance(p.type, ListType) else p.type
            extents.update(dict.fromkeys(element.names()))
            if not element.dtype.is_bound:
                dtypes[element.dtype.name] = None
        for p in self.traced:
            for length in p.type.lengths if isinstance(p.type, ListType) else ():
                name = length.ragged or length.single_name
                if name is not None and name not in extents:
                    lengths[name] = None
        self.length_names, self.extent_names, self.dtype_names = tuple(lengths), tuple(extents), tuple(dtypes)
        self._check_names()

    def _check_names(self) -> None:
        bound = set()
        for p in self.traced:
            element = p.type.element if isinstance(p.type, ListType) else p.type
            lengths = p.type.lengths if isinstance(p.type, ListType) else ()
            bound.update(e.single_name for e in element.shape if isinstance(e, Length) and e.single_name)
            bound.update(n.single_name for n in lengths if n.single_name)
        for p in self.traced:
            lengths = p.type.lengths if isinstance(p.type, ListType) else ()
            element = p.type.element if isinstance(p.type, ListType) else p.type
            for length in (*lengths, *(e for e in element.shape if isinstance(e, Length))):
                for name in length.names() if length.ragged is None else ():
                    if name not in bound:
                        raise LengthError(
                            f"{self.function.__name__}: '{name}' in the type of '{p.name}' ({p.type}) is not bound: "
                            f"no parameter has a dimension that is just {name}",
                            of_argument(self.function, p.name),
                        )
            if element.dtype.name in bound and not element.dtype.is_bound:
                raise DTypeError(
                    f"{self.function.__name__}: '{element.dtype.name}' names an element type and a length",
                    of_argument(self.function, p.name),
                )


def _annotations(function: Callable) -> Dict[str, Any]:
    """A function's annotations; those that are strings are evaluated where the function is defined."""
    raw = getattr(function, "__annotations__", {})
    found: Dict[str, Any] = {}
    names: Optional[Dict[str, Any]] = None
    for name, value in raw.items():
        if isinstance(value, str):
            if names is None:
                names = dict(inspect.getclosurevars(function).nonlocals) if function.__closure__ else {}
            try:
                value = eval(value, function.__globals__, names)  # noqa: S307 - the user's own annotation
            except Error as error:
                raise error.at(of_argument(function, name))
            except Exception as error:
                raise TraceError(
                    f"{function.__name__}: the type of '{name}', {value!r}, cannot be evaluated: {error}",
                    of_argument(function, name),
                ) from None
        found[name] = value
    return found


def _generator(annotation) -> Tuple[Any, str]:
    """``typing.Annotated[type, ft.normal(0.1)]``: how test data for an argument is made."""
    metadata = getattr(annotation, "__metadata__", None)
    if metadata is None:
        return annotation, ""
    for item in metadata:
        if isinstance(item, Generator):
            return annotation.__origin__, item.text
    return annotation.__origin__, ""


class Generator:
    """How data for a test of an argument is made (`ft.gen`); see :func:`normal`, :func:`uniform`, :func:`index`."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __repr__(self):
        return self.text


def _float(value) -> str:
    from .types import f64

    return printer.number(float(value), f64) if isinstance(value, float) else str(value)


def normal(scale: float) -> Generator:
    """Test data: normally distributed around 0, with the standard deviation `scale`.

    Raises: ValueError: `scale` is no number.
    """
    return Generator(f"#ft.normal<{_float(float(scale))}>")


def uniform(lo: float, hi: float) -> Generator:
    """Test data: uniform from `lo` to `hi`, integers with both ends, floats below the upper.

    Raises: ValueError: an end is no number.
    """
    return Generator(f"#ft.uniform<{_float(lo)}, {_float(hi)}>")


def index(lo: LengthLike, hi: LengthLike) -> Generator:
    """Test data: indices for a gather, from `lo` to `hi` - 1; both are lengths.

    Raises: LengthError: an end is no length.
    """
    return Generator(f"#ft.index<{Length.of(lo)}, {Length.of(hi)}>")


def check_inside(signature: Signature, name: str, arguments: Mapping[str, Any]) -> None:
    """Checks the types of traced arguments with which another program calls one of this signature.

    Names in the types of parameters are bound as by a call: each to one extent, length or element type.
    """
    extents: Dict[str, Length] = {}
    dtypes: Dict[str, DType] = {}
    pairs = [(p, arguments[p.name].type) for p in signature.traced if isinstance(arguments.get(p.name), Traced)]
    for parameter, found in pairs:
        if not _binds(parameter.type, found, extents, dtypes):
            raise ArgumentError(f"{name}: argument '{parameter.name}' is {parameter.type}, found {found}", here())
    for parameter, found in pairs:
        for wanted, extent in zip(_dimensions(parameter.type), _dimensions(found)):
            wanted, extent = Length.of(wanted), Length.of(extent)
            if wanted.ragged is not None or extent.ragged is not None:
                continue
            wanted = wanted.substitute(extents)
            if wanted != extent:
                decide(extent, wanted)
                raise ArgumentError(f"{name}: argument '{parameter.name}' is {parameter.type}, found {found}: {wanted} and {extent} differ", here())


def _dimensions(type_: ValueType) -> tuple:
    return (*type_.lengths, *type_.element.shape) if isinstance(type_, ListType) else tuple(type_.shape)


def _binds(wanted: ValueType, found: ValueType, extents: Dict[str, Length], dtypes: Dict[str, DType]) -> bool:
    """Whether depth, rank and element type of `found` are those of `wanted`; binds the names of the latter."""
    if isinstance(wanted, ListType) != isinstance(found, ListType) or (isinstance(wanted, ListType) and wanted.depth != found.depth):
        return False
    element, other = (t.element if isinstance(t, ListType) else t for t in (wanted, found))
    expected = element.dtype if element.dtype.is_bound else dtypes.setdefault(element.dtype.name, other.dtype)
    if len(element.shape) != len(other.shape) or expected != other.dtype:
        return False
    for name, extent in zip(map(Length.of, _dimensions(wanted)), map(Length.of, _dimensions(found))):
        if name.single_name and extent.ragged is None:
            extents.setdefault(name.single_name, extent)
    return True


class Options:
    """What ``@ft.jit`` is told about lengths, test data and roundings."""

    __slots__ = ("bounds", "lengths", "typical", "gen", "rounding")

    def __init__(self, bounds=(), lengths=None, typical=None, gen=None, rounding="excess"):
        self.bounds = (bounds,) if isinstance(bounds, str) else tuple(bounds)
        self.lengths, self.typical, self.gen = dict(lengths or {}), dict(typical or {}), dict(gen or {})
        self.rounding = rounding


class Program:
    """A traced program: one tracing, its names in element types bound.

    Attributes:
      name: the function's name.
      parameters: the traced parameters, in order; `types` are theirs with names put in.
      result_types: types of the results.
      several: whether the function returns a tuple.
      rounding: "exact" or "excess", of f16 and bf16 between the operations of a body.
      transposed: positions of tensors that lie transposed in memory, as their types say then.
      moved: those of them that something else than a product reads, which would move their numbers.
    """

    transposed: Tuple[int, ...] = ()
    moved: Tuple[int, ...] = ()

    def __init__(self, signature: Signature, options: Options, extents: Dict[str, int], dtypes: Dict[str, DType],
                 statics: Dict[str, Any], checking: bool = False, transposed: Sequence[int] = ()):
        self.signature, self.options, self.rounding = signature, options, options.rounding
        self.extents, self.dtypes, self.statics = extents, dtypes, statics
        self.name = signature.function.__name__
        if self.name == "<lambda>":
            self.name = "program"
        self.parameters = signature.traced
        self.types = [p.type.substitute(extents, dtypes) for p in self.parameters]
        self.transposed = tuple(transposed)
        for index in transposed:
            self.types[index] = type_as_it_lies(self.types[index])
        self.function: Optional[ir.Function] = None
        self.structure = None
        self._trace(checking)
        arguments = self.function.body.arguments
        self.moved = tuple(i for i in transposed if any(arguments[i] in op.operands for op in self.function.body.ops if op.kind == "transpose"))
        self.result_types = [value.type for value in self.function.results]

    def _trace(self, checking: bool) -> None:
        function = self.signature.function
        trace = Trace(self.name, self.extents, self.dtypes, checking)
        trace.length_names = self.signature.length_names
        trace.extent_names, trace.dtype_names = self.signature.extent_names, self.signature.dtype_names
        ir_function = self.function = trace.function
        ir_function.frames = of_function(function)
        arguments: Dict[str, Any] = dict(self.statics)
        for index, (parameter, type_) in enumerate(zip(self.parameters, self.types)):
            value = wrap_value(trace, ir_function.body.add_argument(type_, parameter.name))
            arguments[parameter.name] = value
            if index in self.transposed:
                with activate(trace):
                    arguments[parameter.name] = shaping.swapaxes(value, -1, -2)
        ordered = [arguments[p.name] for p in self.signature.parameters]
        keywords = {
            p.name: value for p, value in zip(inspect.signature(function).parameters.values(), ordered) if p.kind == p.KEYWORD_ONLY
        }
        positional = ordered[: len(ordered) - len(keywords)]
        with activate(trace):
            with tracing_from_here():
                try:
                    result = function(*positional, **keywords)
                except Error as error:
                    raise error.at(of_traceback(error.__traceback__.tb_next))
                except TypeError as error:
                    clearer = wrong_use(error, checking)
                    if clearer is None:
                        raise
                    raise clearer from error
                ir_function.results = [trace.check_operand(v, "the result") for v in self._flatten(trace, result)]
        if not checking:
            ir.remove_dead_results(ir_function)
            ir.accumulate_in_products(ir_function)
            ir.remove_dead_results(ir_function)
        self._add_attributes(ir_function)
        self._check_result_annotation()

    def _flatten(self, trace: Trace, result) -> List[Traced]:
        from .compute import Emit
        from .elementwise import as_tensor, is_number

        if isinstance(result, Emit):
            raise TraceError("ft.emit is for the functions of scans and folds; a program returns a tuple", of_function(self.signature.function))
        if result is None:
            raise TraceError(f"{self.name} returns nothing: it ends with 'return'", of_function(self.signature.function))

        def walk(item):
            if isinstance(item, (tuple, list)):
                if not item:
                    raise TraceError(f"{self.name} returns an empty tuple", of_function(self.signature.function))
                parts = [walk(inner) for inner in item]
                fields = getattr(item, "_fields", None)
                return (type(item), parts) if fields else (tuple, parts)
            if not isinstance(item, Traced):
                if not is_number(item):
                    raise TraceError(
                        f"{self.name} returns {type(item).__name__}: results are lists and tensors of the program, "
                        "or tuples of them",
                        of_function(self.signature.function),
                    )
                item = as_tensor(item, "the result")
            leaves.append(item)
            return len(leaves) - 1

        leaves: List[Traced] = []
        self.structure = walk(result)
        return leaves

    def _add_attributes(self, function: ir.Function) -> None:
        signature, options = self.signature, self.options
        known = set(signature.length_names)
        if options.bounds:
            texts = []
            for bound in options.bounds:
                try:
                    left, sign, right = parse_bound(bound)
                except LengthError as error:
                    raise error.at(of_function(signature.function))
                left, right = left.substitute(self.extents), right.substitute(self.extents)
                for name in (*left.names(), *right.names()):
                    if name not in known and name not in signature.extent_names:
                        raise LengthError(f"the bound {bound!r}: no argument binds the length '{name}'", of_function(signature.function))
                if left.constant is None or right.constant is None:
                    texts.append(f'"{left} {sign} {right}"')
            if texts:
                function.attributes["ft.bounds"] = f"#ft.bounds<{', '.join(texts)}>"
        for attribute, table in (("ft.lengths", options.lengths), ("ft.typical", options.typical)):
            mine = {name: value for name, value in table.items() if name in known}
            for name in table:
                if name not in known and name not in signature.extent_names:
                    raise LengthError(f"{attribute[3:]}={{{name!r}: …}}: no argument binds '{name}'", of_function(signature.function))
            if mine:
                function.attributes[attribute] = printer.dictionary(mine)
        for parameter in self.parameters:
            generator = options.gen.get(parameter.name)
            text = generator.text if generator is not None else parameter.generator
            function.argument_attributes.append({"ft.gen": text} if text else {})

    def _check_result_annotation(self) -> None:
        annotation = self.signature.result_annotation
        several = annotation if isinstance(annotation, tuple) else getattr(annotation, "__args__", None) or (annotation,)
        expected = [as_type(a) for a in several]
        if any(e is None for e in expected):
            return
        found = [v.type for v in self.function.results]
        expected = [e.substitute(self.extents, self.dtypes) for e in expected]
        if expected != found:
            raise ShapeError(
                f"{self.name} returns {', '.join(map(str, found))}; its annotation says {', '.join(map(str, expected))}",
                of_function(self.signature.function),
            )

    def text(self, locations: bool = False, strided: Sequence[int] = ()):
        """The program in the ft dialect; with `locations`, also where each place came from.

        `strided` has for each argument the number of outermost dimensions whose strides the call gives.
        """
        out = printer.Printer(locations)
        own = self.function.argument_attributes
        if any(strided):
            extended = [{**a, "ft.strided": f"{k} : i64"} if k else a for a, k in zip(own, strided)]
            function = copy.copy(self.function)
            function.argument_attributes = extended
            text = out.function(function)
        else:
            text = out.function(self.function)
        return (text, out.places) if locations else text

    def unflatten(self, leaves: Sequence):
        """Results in the structure that the function returns."""

        def build(node):
            if isinstance(node, int):
                return leaves[node]
            kind, parts = node
            values = [build(p) for p in parts]
            return tuple(values) if kind is tuple else kind(*values)

        return build(self.structure)
