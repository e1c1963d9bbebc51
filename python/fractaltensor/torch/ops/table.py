# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of operators, and what their implementations share."""

from __future__ import annotations

import inspect
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from ..ir import dtypes
from ..ir.builder import Builder
from ..ir.dtypes import ComplexType, DType
from ..ir.views import same
from ..problems import Problem
from ..frontend.values import NamedResult, Num, Tensor, is_number, kind_of
from .layouts import laid_out_otherwise, placed


class Operator:
    """One operator: as a function (`torch.exp`), as a method (`x.exp`), in place (`x.exp_`, `out=`); `find` says at which paths.

    `group` is its heading in the documentation, `note` what differs from PyTorch.
    """

    def __init__(self, name: str, function: Callable, group: str, where: str, inplace: bool, note: str):
        self.name, self.function, self.group, self.where, self.inplace, self.note = name, function, group, where, inplace, note
        self.signature = inspect.signature(function)

    def call(self, b: Builder, args: Sequence, kwargs: Dict):
        operands = [*args, *kwargs.values()]
        form = str(kwargs.get("memory_format")).rpartition(".")[2]
        result = placed(self.name, self.group, operands, self._called(b, args, kwargs), form != "contiguous_format")
        return result if form in ("None", "contiguous_format", "preserve_format") else laid_out_otherwise(b, self.name, operands, result)

    def _called(self, b: Builder, args: Sequence, kwargs: Dict):
        check_device(b, kwargs.get("device"))
        kwargs = {_NUMPY.get(k, k): v for k, v in kwargs.items() if k not in _IGNORED}
        if self._is_complex(args, kwargs):
            return self._call_complex(b, args, kwargs)
        out = kwargs.pop("out", None) if "out" not in self.signature.parameters else None
        if isinstance(out, Tensor) and "dtype" in self.signature.parameters:
            # (What takes a type computes in that of the result: sums of floats into integers are sums of integers.)
            kwargs = {**kwargs, "dtype": kwargs.get("dtype") or out.dtype}
        try:
            bound = self.signature.bind(b, *args, **kwargs)
        except TypeError as error:
            raise Problem(f"{self.name}: {error}") from None
        result = self.function(*bound.args, **bound.kwargs)
        if out is None:
            return result
        if not isinstance(result, Tensor) or not isinstance(out, Tensor):
            raise Problem(f"{self.name}: out= takes one tensor")
        if result.rank != out.rank or any(isinstance(n, int) and isinstance(m, int) and n != m for n, m in zip(result.sizes, out.sizes)):
            raise Problem(f"{self.name}: out= is {out.describe()}, and the result {result.describe()}: give one of the result's sizes (PyTorch would change its size)", "shape")
        for n, m in zip(result.sizes, out.sizes):
            if not same(n, m):
                b.require_equal(n, m, "out= has the result's sizes")
        return assign(b, out, result, f"{self.name}(out=)")

    def _is_complex(self, args: Sequence, kwargs: Dict) -> bool:
        """Whether the operator is one of complex numbers here, and does not take them itself."""
        from .complex_numbers import has_complex

        if isinstance(kwargs.get("dtype"), ComplexType):
            return True
        return has_complex((*args, *kwargs.values())) and not (self.name.startswith("torch.fft.") and not self.name.endswith("shift"))

    def _call_complex(self, b: Builder, args: Sequence, kwargs: Dict):
        from . import complex_numbers

        def function(*real, **named):
            bound = self.signature.bind(b, *real, **named)
            return self.function(*bound.args, **bound.kwargs)

        if "out" in kwargs:
            raise Problem(f"{self.name}: out= takes no complex numbers")
        try:
            if isinstance(kwargs.get("dtype"), ComplexType):
                return complex_numbers.created(b, function, self.name, args, kwargs)
            return complex_numbers.call(b, self.name, function, args, kwargs)
        except TypeError as error:
            raise Problem(f"{self.name}: {error}") from None


#: Where tensors lie and how they are laid out changes no element.
_IGNORED = ("device", "layout", "pin_memory", "requires_grad", "memory_format", "non_blocking", "copy_", "sparse_grad")

#: What NumPy calls some parameters; PyTorch takes both names.
_NUMPY = {"axis": "dim", "keepdims": "keepdim"}

#: Operators by full path: `torch.add`, `Tensor.add`, `torch.nn.functional.relu`, `aten.add.Tensor`. A last name alone says nothing: `Tensor.unfold` and
#: `torch.nn.functional.unfold` are two operators.
TABLE: Dict[str, Operator] = {}

#: Operators by the names that this package gives them.
OPERATORS: Dict[str, Operator] = {}

#: Paths that PyTorch has and that are refused, with the reason.
REFUSED: Dict[str, str] = {}


def _refuse(reason: str, **names: str) -> None:
    for home, listed in names.items():
        for name in listed.split():
            REFUSED[f"{_HOMES[home]}.{name}"] = reason


_HOMES = {"function": "torch", "method": "Tensor", "functional": "torch.nn.functional"}
_refuse(
    "draws random numbers: draw them outside and pass them as an argument",
    function="rand randn randint randperm bernoulli multinomial normal poisson binomial rand_like randn_like randint_like "
    "feature_dropout alpha_dropout alpha_dropout_ dropout_ feature_dropout_ rrelu rrelu_ manual_seed seed",
    method="bernoulli multinomial uniform_ normal_ random_ bernoulli_ exponential_ geometric_ cauchy_ log_normal_",
    functional="gumbel_softmax fractional_max_pool2d fractional_max_pool3d",
)
_refuse("changes the size or the storage of a tensor in place: make a new tensor", method="resize_ resize_as_ set_ swap_")
_refuse(
    "changes the sizes of a tensor for all of its names: give a view a name, as in x = x.t()",
    method="t_ transpose_ swapaxes_ swapdims_ squeeze_ unsqueeze_",
)
_refuse("is about gradients: compiled functions compute forward only", method="backward grad retain_grad")
_refuse("leaves the compiled program: return the tensor", method="numpy tolist cpu_ data_ptr storage untyped_storage")


def operator(name: str, group: str, where: str = "fm", inplace: bool = False, note: str = "", also: Sequence[str] = ()):
    """Registers an implementation `f(b, ...)`; `where`: "f" for `torch.name`, "m" for `Tensor.name`, or both. A name with dots is a path
    itself. Further paths stand in `paths`."""

    def register(function: Callable) -> Callable:
        for each in (name, *also):
            made = OPERATORS[each] = Operator(each, function, group, where, inplace, note)
            if "." in each:
                TABLE[each] = made
                continue
            for letter, home in (("f", "torch"), ("m", "Tensor")):
                if letter in where:
                    TABLE[f"{home}.{each}"] = made
        return function

    return register


def find(path: str) -> Optional[Tuple[Operator, bool]]:
    """The operator at a path, and whether it works in place; None where there is none."""
    found = TABLE.get(path)
    if found is not None:
        return found, False
    home, _, last = path.rpartition(".")
    # (`aten.add_.Tensor` has its overload last.)
    head, dot, packet = home.rpartition(".") if home.startswith("aten.") else (home, "", last)
    if not packet.endswith("_") or packet.endswith("__"):
        return None
    found = TABLE.get(f"{head}.{packet[:-1]}" + (f".{last}" if dot else ""))
    return (found, True) if found is not None and found.inplace else None


def renamed(function: Callable, **names: str) -> Callable:
    """The function with parameters called as PyTorch calls them: one implementation serves operators whose parameters have other names."""

    def made(*args, **kwargs):
        return function(*args, **{own: kwargs.pop(theirs) for own, theirs in names.items() if theirs in kwargs}, **kwargs)

    own = inspect.signature(function)
    made.__signature__ = own.replace(parameters=[p.replace(name=names.get(p.name, p.name)) for p in own.parameters.values()])
    return made


def check_device(b: Builder, device) -> None:
    """That what is asked to lie on a device lies where the program runs; the host's is taken there."""
    if device is None:
        return
    kind, _, number = (f"cuda:{device}" if isinstance(device, int) else str(device)).partition(":")
    if kind != "cpu" and (kind != b.device.type or number and b.device.index not in (None, int(number))):
        raise Problem(f"device {device}: the program runs on {b.device}, and moves no tensors elsewhere")


# -- what implementations share ------------------------------------------------------------------------------------


def promote(*operands) -> DType:
    """The type of the result of an operator on tensors and numbers."""
    tensors = [x for x in operands if isinstance(x, Tensor)]
    wide = [x.dtype for x in tensors if x.rank and not x.weak]
    flat = [x.dtype for x in tensors if not x.rank and not x.weak]
    numbers = [{"bool": dtypes.bool_, "int": dtypes.int64, "float": dtypes.float32}[kind_of(x)] for x in operands if not isinstance(x, Tensor)]
    numbers += [x.dtype for x in tensors if x.weak]
    return dtypes.result_type(wide, flat, numbers)


def as_float(dtype: DType) -> DType:
    return dtype if dtype.is_float else dtypes.float32


def tensor_of(b: Builder, x, what: str = "an operand") -> Tensor:
    """A tensor; a number becomes one without dimensions."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, Num) or is_number(x):
        dtype = {"bool": dtypes.bool_, "int": dtypes.int64, "float": dtypes.float32}[kind_of(x)]
        made = b.constant_tensor(x, dtype)
        made.weak = True
        return made
    raise Problem(f"expects a tensor as {what}, found {type(x).__name__}")


def need_tensor(x, what: str) -> Tensor:
    if not isinstance(x, Tensor):
        raise Problem(f"{what}: expects a tensor, found {type(x).__name__}")
    return x


def need_number(x, what: str):
    if isinstance(x, Num) or is_number(x):
        return x
    raise Problem(f"{what}: expects a number, found {type(x).__name__}")


def dim_of(x, rank: int, what: str = "dim") -> int:
    """A dimension as a number from 0 on."""
    if isinstance(x, bool) or not isinstance(x, int):
        raise Problem(f"{what} must be known when the program is compiled, found {'a number that is data' if isinstance(x, Num) else type(x).__name__}")
    size = max(rank, 1)
    if not -size <= x < size:
        raise Problem(f"dimension {x} is out of range: the tensor has {rank} dimensions", "shape")
    return x % size


def dims_of(x, rank: int) -> List[int]:
    """Dimensions as a list; None is all of them."""
    if x is None or isinstance(x, (tuple, list)) and not x:
        return list(range(rank))
    found = [dim_of(d, rank) for d in (x if isinstance(x, (tuple, list)) else [x])]
    if len(set(found)) != len(found):
        raise Problem(f"a dimension is named twice: {list(x)}", "shape")
    return sorted(d for d in found if d < rank)


def sizes_of(sizes: Sequence) -> List:
    """Sizes that are given one by one or as a tuple."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    for n in sizes:
        if isinstance(n, bool) or not (isinstance(n, int) or isinstance(n, Num) and n.kind == "int"):
            raise Problem(f"a size must be an integer, found {type(n).__name__}")
    return list(sizes)


def dtype_of(value, otherwise: Optional[DType]) -> Optional[DType]:
    if value is None:
        return otherwise
    found = dtypes.of_object(value)
    if found is None:
        raise Problem(f"expects an element type, found {value!r}; there are {', '.join(dtypes.ALL)}", "dtype")
    return found


def check_cast(result: DType, dest: DType, what: str) -> None:
    """In place, a result must not be of a higher category than the tensor that takes it."""
    order = {"b": 0, "i": 1, "f": 2}
    if order[result.kind] > order[dest.kind]:
        raise Problem(f"{what}: the result is {result}, which cannot be cast to the destination's {dest}", "dtype")


def assign(b: Builder, dest: Tensor, value, what: str, check: bool = True) -> Tensor:
    """Writes a tensor or a number into `dest`: broadcast and cast, as `copy_`."""
    if dest.repeats:
        raise Problem(f"{what}: writes through a tensor of which several elements are one (expand, unfold): clone it first")
    if not isinstance(value, Tensor):
        need_number(value, what)
        dtypes.check_fits(value, dest.dtype, what, by_tensor=not check)
        b.write(dest, b.fill(value, dest.dtype, []))
        return dest
    if check:
        check_cast(value.dtype, dest.dtype, what)
    if value.rank > dest.rank:
        extra = value.rank - dest.rank
        if any(n != 1 for n in value.sizes[:extra]):
            raise Problem(f"{what}: {value.describe()} cannot be broadcast to {dest.describe()}", "shape")
        from ..ir.views import squeeze

        for _ in range(extra):
            value = squeeze(b, value, 0)
    from ..ir.views import is_found, is_of_step

    written = dest
    for at, (have, want) in enumerate(zip(value.sizes[::-1], dest.sizes[::-1]), 1):
        # (The runner looks at sizes that a step gives, and what is found to be 1 is repeated.)
        is_known = is_of_step(want) if isinstance(have, int) else is_found(have)
        if isinstance(have, int) != isinstance(want, int) and have != 1 and not is_known:
            b.require_equal(have, want, f"{what} takes as many elements as there are")
            if isinstance(have, int):
                # The sizes are equal from here on, so the place that is written has the known one.
                d = dest.rank - at
                sizes = (*written.sizes[:d], have, *written.sizes[d + 1 :])
                written = b.view(written, "narrow", [d, 0, have, 1], sizes, written.strides, written.own, proven=True)
        if isinstance(have, int) and isinstance(want, int) and have not in (1, want):
            raise Problem(f"{what}: {value.describe()} cannot be broadcast to {dest.describe()}", "shape")
    b.write(written, b.read(value))
    return dest


def named(items, *names: str) -> NamedResult:
    return NamedResult(items, names)
