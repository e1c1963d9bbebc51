# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A traced element: what a program's functions get and compute with."""

from __future__ import annotations

from typing import Tuple

from . import elementwise as _e
from . import products as _p
from . import reductions as _r
from . import shaping as _s
from .errors import MissingError, TraceError
from .names import did_you_mean, public
from .source import here
from .trace import Traced
from .types import DType, Extent

#: Attributes of a tensor of PyTorch that has data.
_OF_DATA = frozenset("cpu cuda data device element_size grad is_contiguous is_cuda is_cpu layout requires_grad requires_grad_ retain_grad storage stride".split())


class Tensor(Traced):
    """A tensor of static shape, known by type only while a program is traced.

    It has NumPy's operators and the methods of NumPy and PyTorch; shapes broadcast. Element types never
    mix: ``.to(dtype)`` converts.
    """

    __slots__ = ()

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.type.dtype

    @property
    def shape(self) -> Tuple[Extent, ...]:
        """The extents: integers (names, while a program is only checked)."""
        return tuple(e if isinstance(e, int) else e.for_user() for e in self.type.shape)

    @property
    def ndim(self) -> int:
        """The rank."""
        return self.type.rank

    rank = ndim

    def size(self, axis=None):
        """The extent of an axis, or all extents (as in PyTorch)."""
        return self.shape if axis is None else self.shape[axis]

    def dim(self) -> int:
        """The rank (as in PyTorch)."""
        return self.type.rank

    def numel(self):
        """How many numbers there are."""
        total = _s.extent_of(_s._product(self.type.shape))
        return total if isinstance(total, int) else total.for_user()

    def __repr__(self):
        return f"<traced {self.type}>"

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("map", "scanl", "scan", "reduce", "fold", "foldl", "window", "shift"):
            raise MissingError(f"a tensor has no '{name}': it is for lists", here())
        if name in _OF_DATA:
            raise MissingError(f"a tensor has no '{name}': it is traced, and stands for the data of every call", here())
        near = did_you_mean(name, public(Tensor)) or ": help(ft.Tensor) shows what there is"
        raise MissingError(f"a tensor has no '{name}'{near}", here())

    def __len__(self):
        if not self.type.shape:
            raise TraceError("len() of a tensor of rank 0", here())
        return _s._known(self.type.shape[0], "len()")

    def __iter__(self):
        if not self.type.shape:
            raise TraceError("a tensor of rank 0 cannot be iterated over", here())
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key):
        return _s.index_element(self, key)

    # -- operators ------------------------------------------------------------------------------------

    def __add__(self, other):
        return _e.add(self, other)

    def __radd__(self, other):
        return _e.add(other, self)

    def __sub__(self, other):
        return _e.subtract(self, other)

    def __rsub__(self, other):
        return _e.subtract(other, self)

    def __mul__(self, other):
        return _e.multiply(self, other)

    def __rmul__(self, other):
        return _e.multiply(other, self)

    def __truediv__(self, other):
        return _e.divide(self, other)

    def __rtruediv__(self, other):
        return _e.divide(other, self)

    def __floordiv__(self, other):
        return _e.floor_divide(self, other)

    def __rfloordiv__(self, other):
        return _e.floor_divide(other, self)

    def __mod__(self, other):
        return _e.remainder(self, other)

    def __rmod__(self, other):
        return _e.remainder(other, self)

    def __pow__(self, other):
        return _e.power(self, other)

    def __rpow__(self, other):
        return _e.power(other, self)

    def __matmul__(self, other):
        return _p.matmul(self, other)

    def __rmatmul__(self, other):
        return _p.matmul(other, self)

    def __and__(self, other):
        return _e.bitwise_and(self, other)

    def __rand__(self, other):
        return _e.bitwise_and(other, self)

    def __or__(self, other):
        return _e.bitwise_or(self, other)

    def __ror__(self, other):
        return _e.bitwise_or(other, self)

    def __xor__(self, other):
        return _e.bitwise_xor(self, other)

    def __rxor__(self, other):
        return _e.bitwise_xor(other, self)

    def __lshift__(self, other):
        return _e.left_shift(self, other)

    def __rshift__(self, other):
        return _e.right_shift(self, other)

    def __neg__(self):
        return _e.negative(self)

    def __pos__(self):
        return self

    def __abs__(self):
        return _e.absolute(self)

    def __invert__(self):
        return _e.invert(self)

    def __round__(self, digits=None):
        return _e.round_(self)

    def __eq__(self, other):
        return _e.equal(self, other)

    def __ne__(self, other):
        return _e.not_equal(self, other)

    def __lt__(self, other):
        return _e.less(self, other)

    def __le__(self, other):
        return _e.less_equal(self, other)

    def __gt__(self, other):
        return _e.greater(self, other)

    def __ge__(self, other):
        return _e.greater_equal(self, other)

    __hash__ = Traced.__hash__

    # -- shape ------------------------------------------------------------------------------------------

    @property
    def T(self):  # noqa: N802
        """All axes in reverse order."""
        return _s.transpose(self)

    @property
    def mT(self):  # noqa: N802
        """The last two axes exchanged."""
        return _s.swapaxes(self, -1, -2)

    def t(self):
        """A matrix transposed."""
        return _s.transpose(self)

    def contiguous(self):
        """The value itself: layouts are the compiler's."""
        return self

    clone = copy = detach = contiguous

    def type_as(self, other):
        """In the element type of `other`."""
        return _e.to(self, other.type.dtype)

    def float(self):
        """As f32."""
        return _e.to(self, "f32")

    def half(self):
        """As f16."""
        return _e.to(self, "f16")

    def bfloat16(self):
        """As bf16."""
        return _e.to(self, "bf16")

    def double(self):
        """As f64."""
        return _e.to(self, "f64")

    def long(self):
        """As i64."""
        return _e.to(self, "i64")

    def int(self):
        """As i32."""
        return _e.to(self, "i32")

    def bool(self):
        """Whether each number is not 0."""
        return _e.to(self, "bool")

    def masked_fill(self, mask, value):
        """`value` where `mask` holds, else the tensor."""
        return _e.where(mask, value, self)


def _method(function):
    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    method.__name__ = function.__name__
    method.__doc__ = function.__doc__
    return method


def _add_methods() -> None:
    """Each function that takes an element first is a method, too."""
    elementwise = (
        "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan sinh cosh tanh erf floor ceil trunc "
        "sigmoid relu silu softplus gelu leaky_relu reciprocal square sign absolute negative isnan "
        "add subtract multiply divide maximum minimum power remainder floor_divide equal not_equal less "
        "less_equal greater greater_equal logical_and logical_or logical_not clip clamp to"
    ).split()
    for name in elementwise:
        setattr(Tensor, name, _method(getattr(_e, name)))
    for name in "mean var std norm cumsum trace softmax log_softmax logsumexp argmax argmin prod amax amin layer_norm rms_norm".split():
        setattr(Tensor, name, _method(getattr(_r, name)))
    for name in "reshape roll transpose permute squeeze unsqueeze expand_dims swapaxes ravel split chunk expand take tile tril triu".split():
        setattr(Tensor, name, _method(getattr(_s, name)))
    for name in ("matmul", "dot", "outer"):
        setattr(Tensor, name, _method(getattr(_p, name)))
    for name, function in {
        "sum": _r.sum_, "max": _r.max_, "min": _r.min_, "any": _r.any_, "all": _r.all_, "abs": _e.absolute,
        "pow": _e.power, "neg": _e.negative, "mul": _e.multiply, "sub": _e.subtract, "div": _e.divide,
        "astype": _e.to, "view": _s.reshape, "flatten": _s.ravel, "broadcast_to": _s.expand, "mm": _p.matmul,
        "round": _e.round_, "repeat": _s.tile,
    }.items():
        setattr(Tensor, name, _method(function))


_add_methods()
