# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that compute, as methods of one list and of lists that are traversed together.

Their types follow the function: one that returns a tensor or a list makes a list, a tuple makes lists, and a fold
returns what its function does. Of a lambda whose parameters a type checker does not know, the result is Any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence, Tuple, TypeVar, Union, overload

from . import compute
from .compute import Emit
from .lengths import LengthLike

if TYPE_CHECKING:
    from .lists import ListValue
    from .tensors import Tensor

Value = Union["Tensor", "ListValue"]
Number = Union[bool, int, float]
#: What functions return: one value or number, or several.
One = Callable[..., Union[Value, Number]]
Several = Callable[..., Union[Tuple[Any, ...], Emit]]
#: The state of a fold, which is its result.
State = TypeVar("State", bound=Union["Tensor", "ListValue", Tuple[Union["Tensor", "ListValue"], ...]])
Step = Callable[..., State]
Lists = Tuple["ListValue", ...]


class Traversal:
    """Operators that traverse the outermost level. :meth:`_traversed` gives the lists."""

    __slots__ = ()

    def _traversed(self) -> Sequence[ListValue]:
        raise NotImplementedError

    @overload
    def map(self, f: One) -> ListValue: ...
    @overload
    def map(self, f: Several) -> Lists: ...
    @overload
    def map(self, f: Callable[..., Any]) -> Any: ...
    def map(self, f: Callable[..., Any]) -> Any:
        """``[f(x) for x in xs]``; of several lists ``[f(x, y) for x, y in zip(xs, ys)]``. A function that returns a tuple gives a tuple of lists."""
        return compute.map_(f, *self._traversed())

    @overload
    def reduce(self, f: Step[State], init: Any = None, *, combine: Any = None, identity: Any = None) -> State: ...
    @overload
    def reduce(self, f: Callable[..., Any], init: Any = None, *, combine: Any = None, identity: Any = None) -> Any: ...
    def reduce(self, f: Callable[..., Any], init: Any = None, *, combine: Any = None, identity: Any = None) -> Any:
        """Combines all elements; the order of association is free. See :func:`fractaltensor.reduce`."""
        return compute.aggregate("reduce", f, self._traversed(), init, combine=combine, identity=identity)

    @overload
    def fold(self, f: Step[State], init: Any = None, *, combine: Any = None, identity: Any = None) -> State: ...
    @overload
    def fold(self, f: Callable[..., Any], init: Any = None, *, combine: Any = None, identity: Any = None) -> Any: ...
    def fold(self, f: Callable[..., Any], init: Any = None, *, combine: Any = None, identity: Any = None) -> Any:
        """As :meth:`reduce`: the paper's name for a fold of either direction."""
        return compute.aggregate("fold", f, self._traversed(), init, combine=combine, identity=identity)

    @overload
    def foldl(self, f: Step[State], init: Any = None) -> State: ...
    @overload
    def foldl(self, f: Callable[..., Any], init: Any = None) -> Any: ...
    def foldl(self, f: Callable[..., Any], init: Any = None) -> Any:
        """``f(… f(f(init, x0), x1) …)``: from the left, in order."""
        return compute.aggregate("foldl", f, self._traversed(), init)

    @overload
    def foldr(self, f: Step[State], init: Any = None) -> State: ...
    @overload
    def foldr(self, f: Callable[..., Any], init: Any = None) -> Any: ...
    def foldr(self, f: Callable[..., Any], init: Any = None) -> Any:
        """As :meth:`foldl`, and the last element comes first."""
        return compute.aggregate("foldr", f, self._traversed(), init)

    @overload
    def scan(self, f: One, init: Any = None, *, combine: Any = None, identity: Any = None, lag: LengthLike = 1) -> ListValue: ...
    @overload
    def scan(self, f: Several, init: Any = None, *, combine: Any = None, identity: Any = None, lag: LengthLike = 1) -> Lists: ...
    @overload
    def scan(self, f: Callable[..., Any], init: Any = None, *, combine: Any = None, identity: Any = None, lag: LengthLike = 1) -> Any: ...
    def scan(self, f: Callable[..., Any], init: Any = None, *, combine: Any = None, identity: Any = None, lag: LengthLike = 1) -> Any:
        """As :meth:`scanl`; the order of association is free."""
        return compute.aggregate("scan", f, self._traversed(), init, combine=combine, identity=identity, lag=lag)

    @overload
    def scanl(self, f: One, init: Any = None, *, lag: LengthLike = 1) -> ListValue: ...
    @overload
    def scanl(self, f: Several, init: Any = None, *, lag: LengthLike = 1) -> Lists: ...
    @overload
    def scanl(self, f: Callable[..., Any], init: Any = None, *, lag: LengthLike = 1) -> Any: ...
    def scanl(self, f: Callable[..., Any], init: Any = None, *, lag: LengthLike = 1) -> Any:
        """``[f(init, x0), f(f(init, x0), x1), …]``: all states, from the left, in order."""
        return compute.aggregate("scanl", f, self._traversed(), init, lag=lag)

    @overload
    def scanr(self, f: One, init: Any = None, *, lag: LengthLike = 1) -> ListValue: ...
    @overload
    def scanr(self, f: Several, init: Any = None, *, lag: LengthLike = 1) -> Lists: ...
    @overload
    def scanr(self, f: Callable[..., Any], init: Any = None, *, lag: LengthLike = 1) -> Any: ...
    def scanr(self, f: Callable[..., Any], init: Any = None, *, lag: LengthLike = 1) -> Any:
        """``reverse(scanl(f, init, reverse(xs)))``."""
        return compute.aggregate("scanr", f, self._traversed(), init, lag=lag)
