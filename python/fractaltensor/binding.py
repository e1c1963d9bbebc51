# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments of a call against a program's types: what each name stands for, and what is wrong.

An argument of depth k is an array of rank k + the element's rank: programmable dimensions first, with any
strides. Nothing is converted. Elements that do not lie dense are copied before the call, but not where values and offsets are
given apart (`ragged`). A transposed matrix is not copied where products alone read it (`transposed`).
"""

from __future__ import annotations

import sys
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

from .arrays import ArrayInfo, CPU, describe
from .errors import ArgumentError, ArgumentValueError, Error
from .lengths import Length, parse_bound
from .program import Parameter, Signature
from .source import of_argument, of_function
from .types import DType, ListType, bf16


class RaggedArray:
    """A ragged list: values one after the other, and where each list begins (`offsets`, i64, one more than lists)."""

    __slots__ = ("values", "offsets")

    def __init__(self, values, offsets):
        self.values = values
        self.offsets = offsets if isinstance(offsets, tuple) else (offsets,)

    def __iter__(self):
        """The lists of the outermost ragged level, where it is the only one."""
        if len(self.offsets) != 1:
            raise ArgumentError("a list with several ragged levels: use .values and .offsets")
        (offsets,) = self.offsets
        return (self.values[int(a) : int(b)] for a, b in zip(offsets[:-1], offsets[1:]))

    def __repr__(self):
        return f"ft.ragged({self.values!r}, {', '.join(map(repr, self.offsets))})"


def ragged(values: Any, *offsets: Any) -> RaggedArray:
    """``ft.ragged(values, offsets)``: an argument with a ragged level; one array of offsets for each."""
    if not offsets:
        raise ArgumentError("ft.ragged(values, offsets) needs the offsets of each ragged level")
    return RaggedArray(values, offsets)


class _NoJax:
    """In the place of ``jax.core`` where there is none."""

    class Tracer:
        pass


class Bound(NamedTuple):
    """A call's arguments, understood."""

    infos: Tuple[ArrayInfo, ...]
    extents: Dict[str, int]
    dtypes: Dict[str, DType]
    lengths: Dict[str, int]
    device: Tuple[int, int]


def found_text(info: ArrayInfo) -> str:
    """An array as an error shows it."""
    shape = ", ".join(map(str, info.shape))
    return f"{info.dtype or info.dtype_text} ({shape}{',' if len(info.shape) == 1 else ''})"


class Binder:
    """Binds one call. `what` is the function's name, for messages; `copies` says that the call copies elements that are not dense."""

    def __init__(self, signature: Signature, what: str, copies: bool = True):
        self.signature, self.what, self.copies = signature, what, copies
        self.extents: Dict[str, Tuple[int, str]] = {}
        self.lengths: Dict[str, Tuple[int, str]] = {}
        self.dtypes: Dict[str, Tuple[DType, str]] = {}

    def fail(self, name: str, message: str, kind=ArgumentError, other: Optional[str] = None) -> Error:
        function = self.signature.function
        notes = [(f"'{other}' is here", of_argument(function, other))] if other and other != name else ()
        return kind(f"{self.what}: argument '{name}' {message}", of_argument(function, name), notes)

    def bind(self, values: Sequence[Any]) -> Bound:
        infos = [self._describe(p, value) for p, value in zip(self.signature.traced, values)]
        self.found = {p.name: info for p, info in zip(self.signature.traced, infos)}
        for parameter, info in zip(self.signature.traced, infos):
            self._check_form(parameter, info)
        for parameter, info in zip(self.signature.traced, infos):
            self._bind_names(parameter, info)
        for parameter, info in zip(self.signature.traced, infos):
            self._check_expressions(parameter, info)
        device = self._device(infos)
        return Bound(
            tuple(infos),
            {n: v for n, (v, _) in self.extents.items()},
            {n: v for n, (v, _) in self.dtypes.items()},
            {n: v for n, (v, _) in self.lengths.items() if n not in self.extents},
            device,
        )

    def _describe(self, parameter: Parameter, value) -> ArrayInfo:
        from .trace import Traced

        if isinstance(value, Traced):
            raise self.fail(parameter.name, "is traced, and other arguments are data: all are traced, or none")
        if isinstance(value, getattr(sys.modules.get("jax"), "core", _NoJax).Tracer):
            raise self.fail(parameter.name, "is traced by JAX, and programs inside jax.jit, grad or vmap are not possible: call the program outside of them, or by jax.pure_callback")
        if isinstance(value, RaggedArray):
            raise self.fail(parameter.name, f"is ragged, its type {parameter.type} is not: write 'ragged(name)' as a length")
        try:
            info = describe(value)
        except ArgumentError as error:
            raise self.fail(parameter.name, f"cannot be taken: {error.reason}")
        if info is None:
            raise self.fail(
                parameter.name,
                f"is {parameter.type}, found {type(value).__name__}: pass an array of NumPy, PyTorch, JAX, CuPy, "
                "or anything with DLPack or a buffer",
            )
        return info

    def _check_form(self, parameter: Parameter, info: ArrayInfo) -> None:
        type_ = parameter.type
        element = type_.element if isinstance(type_, ListType) else type_
        if isinstance(type_, ListType) and type_.is_ragged:
            raise self.fail(parameter.name, f"is {type_}, found an array {found_text(info)}: use ft.ragged(values, offsets)")
        depth = type_.depth if isinstance(type_, ListType) else 0
        rank = depth + element.rank
        if len(info.shape) != rank:
            raise self.fail(
                parameter.name,
                f"is {type_}, an array of rank {rank} ({depth} list dimensions, then {element.rank} of the element); "
                f"found {found_text(info)}: reshape it",
            )
        if info.dtype is None and not (element.dtype == bf16 and info.dtype_text == "uint16"):
            raise self.fail(parameter.name, f"is {type_}, found numbers of {info.dtype_text}: convert it, x.astype('{_plain_name(element.dtype)}')")
        if element.dtype.is_bound and info.dtype is not None and info.dtype != element.dtype:
            convert = f"x.to(torch.{_plain_name(element.dtype)})" if info.kind == "torch" else f"x.astype('{_plain_name(element.dtype)}')"
            raise self.fail(parameter.name, f"is {type_}, found {found_text(info)}: convert it, {convert}")
        self._check_strides(parameter, info, depth)

    def _check_strides(self, parameter: Parameter, info: ArrayInfo, depth: int) -> None:
        if self.copies or info.strides is None or 0 in info.shape:
            return
        dense = 1
        for axis in range(len(info.shape) - 1, -1, -1):
            extent, stride = info.shape[axis], info.strides[axis]
            if extent != 1 and axis >= depth and stride != dense:
                raise self.fail(
                    parameter.name,
                    f"is {parameter.type}: elements are contiguous, found {found_text(info)} with strides {info.strides}: "
                    + contiguous_hint(info.kind),
                )
            dense *= extent

    def _bind(self, table, name: str, value, parameter: str, what: str) -> None:
        known = table.setdefault(name, (value, parameter))
        if known[0] != value:
            raise self.fail(
                parameter,
                f"({found_text(self.found[parameter])}) has {name} = {value}, but '{known[1]}' "
                f"({found_text(self.found[known[1]])}) has {name} = {known[0]}: {what} of one name are equal",
                ArgumentValueError, known[1],
            )

    def _dims(self, parameter: Parameter):
        type_ = parameter.type
        if isinstance(type_, ListType):
            return [*type_.lengths, *type_.element.shape], type_.depth
        return list(type_.shape), 0

    def _bind_names(self, parameter: Parameter, info: ArrayInfo) -> None:
        element = parameter.type.element if isinstance(parameter.type, ListType) else parameter.type
        if not element.dtype.is_bound:
            self._bind(self.dtypes, element.dtype.name, info.dtype, parameter.name, "element types")
        dims, _ = self._dims(parameter)
        for axis, dim in enumerate(dims):
            name = dim.single_name if isinstance(dim, Length) else None
            if name is None:
                continue
            self._bind(self.lengths, name, info.shape[axis], parameter.name, "dimensions")
            if name in self.signature.extent_names:
                self.extents[name] = self.lengths[name]

    def _check_expressions(self, parameter: Parameter, info: ArrayInfo) -> None:
        values = {name: value for name, (value, _) in self.lengths.items()}
        dims, depth = self._dims(parameter)
        for axis, dim in enumerate(dims):
            wanted = dim if isinstance(dim, int) else dim.substitute(values).constant
            if wanted is None:
                continue
            if wanted != info.shape[axis]:
                shown = f"{dim} = {wanted}" if isinstance(dim, Length) and dim.constant is None else str(wanted)
                others = {self.lengths[n][1] for n in dim.names()} if isinstance(dim, Length) else set()
                where = "list dimension" if axis < depth else "dimension of the element"
                raise self.fail(
                    parameter.name,
                    f"is {parameter.type}, found {found_text(info)}: {where} {axis} must be {shown}, found {info.shape[axis]}",
                    ArgumentValueError, next(iter(others), None),
                )

    def _device(self, infos) -> Tuple[int, int]:
        first = infos[0]
        for parameter, info in zip(self.signature.traced, infos):
            if (info.device_type, info.device_id) != (first.device_type, first.device_id):
                raise self.fail(
                    parameter.name,
                    f"is on {device_text(info.device_type, info.device_id)}, but '{self.signature.traced[0].name}' is on "
                    f"{device_text(first.device_type, first.device_id)}: move one of them",
                    other=self.signature.traced[0].name,
                )
        return first.device_type, first.device_id


def contiguous_hint(kind: str) -> str:
    """What makes an array dense, in its library."""
    return "x.contiguous()" if kind == "torch" else "np.ascontiguousarray(x), or .contiguous() in PyTorch"


def device_text(device_type: int, device_id: int) -> str:
    if device_type == CPU:
        return "the CPU"
    return f"cuda:{device_id}" if device_type == 2 else f"a device of DLPack type {device_type}"


def _plain_name(dtype: DType) -> str:
    names = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i1": "bool"}
    return names.get(dtype.name, dtype.name.replace("i", "int") if dtype.is_bound else "float32")


def check_bounds(signature: Signature, bounds: Sequence[str], what: str, values: Dict[str, int]) -> None:
    """What the program states of its lengths, and what every call must satisfy."""
    for text in bounds:
        left, sign, right = parse_bound(text)
        a, b = left.substitute(values).constant, right.substitute(values).constant
        if a is None or b is None:
            continue
        if not {">=": a >= b, "<=": a <= b, "==": a == b}[sign]:
            names = dict.fromkeys((*left.names(), *right.names()))
            listed = ", ".join(f"{n} = {values[n]}" for n in names if n in values)
            raise ArgumentValueError(f"{what}: the program needs {text}, found {listed}", of_function(signature.function))


def result_shape(type_, lengths: Dict[str, int]) -> Optional[Tuple[int, ...]]:
    """The shape of a result, or None where data decides it (a ragged level)."""
    dims = (*type_.lengths, *type_.element.shape) if isinstance(type_, ListType) else type_.shape
    shape = []
    for dim in dims:
        number = dim if isinstance(dim, int) else dim.substitute(lengths).constant
        if number is None:
            return None
        shape.append(number)
    return tuple(shape)
