# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that change with the counters of loops: `k[:t + 1]` inside of `for t in range(n)`.

Such a size is affine in counters, or a minimum, a maximum or a quotient of such numbers. It lies between known numbers. No value of that
size is made: a result is storage of the largest size, which a loop over the places below the size fills. Other operations read it
at these places. So all parts are static, and the compiler sees loops whose ends are affine, such as triangles and bands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .bodies import Body
from .operations import Op, Type, Value
from .linear import linear
from ..problems import NeedsUnrolling, Problem
from ..frontend.values import Num, SizeLike, Tensor, dense_strides

if TYPE_CHECKING:
    from .builder import Builder


class Window(NamedTuple):
    """`count` places from `first` on, each `by` after the one before."""

    first: SizeLike
    count: SizeLike
    by: int


#: A place in each of some dimensions, or a window of it.
Places = Dict[int, Any]

_SUMS = ("arith.addi ", "arith.subi ", "arith.minsi ", "arith.maxsi ")
_BY_CONSTANTS = ("arith.muli ", "arith.floordivsi ", "arith.ceildivsi ")


class Parts(Value):
    """What a tensor of varying sizes holds: `at` gives the static part at places. `home` is storage that nothing else names yet."""

    __slots__ = ("at", "home")

    def __init__(self, type_: Type, sizes: Sequence[SizeLike], at: Callable[[Places], Value], home: Optional[Tensor] = None):
        # (Operators note facts on the operation that gives a value; this one stands for none.)
        super().__init__(type_, Op("text", [], [], pieces=["parts "]), None)
        self.sizes = [n.value if isinstance(n, Num) else n for n in sizes]
        self.at, self.home = at, home


# -- which sizes vary ---------------------------------------------------------------------------------------------


def varies(b: "Builder", size) -> bool:
    """Whether a number is made of counters of loops alone, and lies between known numbers."""
    if not isinstance(size, Num) or size.value not in b.ranges:
        return False
    return bool(_counters(b, size.value))


def _counters(b: "Builder", value: Value) -> Optional[Tuple[Value, ...]]:
    """The counters that a number is made of; None where it is made of something else as well."""
    known = b.made_of.get(value, ())
    if value in b.made_of:
        return known
    found: Optional[Tuple[Value, ...]] = None
    op = value.op
    if value in b.varying:
        found = (value,)
    elif op is not None and op.kind == "text" and op.pieces:
        if isinstance(op.attributes.get("constant"), int):
            found = ()
        elif op.pieces[0] in _SUMS or op.pieces[0] in _BY_CONSTANTS:
            parts = [_counters(b, v) for v in op.operands]
            is_plain = op.pieces[0] in _SUMS or parts[1] == () or op.pieces[0] == "arith.muli " and parts[0] == ()
            if is_plain and None not in parts:
                found = tuple(dict.fromkeys(v for part in parts for v in part or ()))
    b.made_of[value] = found
    return found


def dims_that_vary(b: "Builder", sizes: Sequence[SizeLike]) -> List[int]:
    return [d for d, n in enumerate(sizes) if varies(b, n)]


def most(b: "Builder", size: SizeLike) -> int:
    return size if isinstance(size, int) else max(0, b.ranges[size.value][1])


def _at_most(b: "Builder", sizes: Sequence[SizeLike]) -> List[SizeLike]:
    return [most(b, n) if varies(b, n) else n for n in sizes]


def refuse(b: "Builder", value: Optional[Value], what: str) -> NeedsUnrolling:
    """What is raised where an operation does not work part by part: the loop has to be unrolled."""
    sizes = [] if value is None else [n for n in value.sizes if isinstance(n, Value)]
    return _refusal([c for n in sizes for c in _counters(b, n) or ()], f"{what} the size of which changes")


def refuse_size(b: "Builder", size: Num, what: str) -> NeedsUnrolling:
    return _refusal(_counters(b, size.value) or (), f"{what} that changes")


def _refusal(counters: Sequence[Value], what: str) -> NeedsUnrolling:
    # (The counter of a loop that only `over` has made is no loop of the program.)
    return NeedsUnrolling(Problem(f"{what} with the counter of a loop"), counters[-1] if counters else None)


# -- slices --------------------------------------------------------------------------------------------------------


def ends(b: "Builder", start, stop, by: int, size: SizeLike) -> Optional[Tuple[SizeLike, SizeLike]]:
    """The first place and the count of a slice, where that count varies; None where these are other numbers."""
    first, last = _end(b, start, size, 0), _end(b, stop, size, size)
    if first is None or last is None:
        return None
    apart = linear(last).plus(linear(first), -1)
    length = b.sub(last, first) if apart.terms else apart.constant
    count = b.maximum(b.ranged_ceildiv(length, by), 0)
    are_known = all(isinstance(n, int) or varies(b, n) for n in (first, count))
    return (first, count) if are_known else None


def _end(b: "Builder", end, size: SizeLike, missing: SizeLike) -> Optional[SizeLike]:
    """An end of a slice as a place from 0 to size; None where its sign is not known."""
    if end is None:
        return missing
    if isinstance(end, Num) and not varies(b, end) or isinstance(size, Num) and not varies(b, size):
        return None
    if b.is_least(0, end):
        return b.minimum(end, size)
    return b.maximum(b.add(size, end), 0) if b.is_least(end, -1) else None


# -- parts of names ----------------------------------------------------------------------------------------------


def is_varying(value: Value) -> bool:
    """Whether a name is a view of which, or of something before it, a size varies."""
    return value.op is not None and bool(value.op.attributes.get("varying"))


def part(b: "Builder", x: Tensor, places: Places) -> Tensor:
    """The part of a name at places in dimensions, which it has no more; views of it are made again from the first name of static size."""
    if not is_varying(x.value):
        return _selected(b, x, places)
    op = x.value.op
    assert op is not None
    step, numbers = op.attributes["step"], [_number(n) for n in op.attributes["numbers"]]
    again = _AGAIN.get(step)
    if again is None or not op.attributes["proven"]:
        raise refuse(b, x.value, f"'{step}' of a tensor")
    source = op.operands[0]
    whole = Tensor(source, x.dtype, [_number(n) for n in source.sizes])
    return again(b, x, whole, numbers, places)


def _number(item) -> SizeLike:
    return Num("int", item) if isinstance(item, Value) else item


def _selected(b: "Builder", x: Tensor, places: Places) -> Tensor:
    from .views import cut

    if None in x.value.type.shape and any(varies(b, n) for n in x.sizes):
        raise refuse(b, x.value, "what paths have in common is a tensor")
    for d in sorted(places, reverse=True):
        place = places[d]
        if isinstance(place, Window):
            x = cut(b, x, d, *place)
            continue
        sizes, strides, own = ([n for i, n in enumerate(items) if i != d] for items in (x.sizes, x.strides, x.own))
        x = b.view(x, "select", [d, place], sizes, strides, own)
    return x


def _left(rank: int, places: Places) -> List[int]:
    """The dimensions that stay."""
    return [d for d in range(rank) if d not in places or isinstance(places[d], Window)]


def _sizes_left(x: Tensor, places: Places) -> List[SizeLike]:
    return [places[d].count if d in places else x.sizes[d] for d in _left(x.rank, places)]


def _again_select(b, x, whole, numbers, places):
    d, place = numbers
    if isinstance(place, int) and place < 0:
        place = b.add(whole.sizes[d], place)
    moved = {i + (i >= d): p for i, p in places.items()}
    return part(b, whole, {**moved, d: place})


def _again_slice(b, x, whole, numbers, places):
    d, first, _, by = numbers
    own = places.get(d, Window(0, x.sizes[d], 1))
    if isinstance(own, Window):
        if varies(b, own.count):
            raise refuse(b, x.value, "a part of a tensor")
        return part(b, whole, {**places, d: Window(b.add(first, b.mul(own.first, by)), own.count, own.by * by)})
    return part(b, whole, {**places, d: b.add(first, b.mul(own, by))})


def _again_permute(b, x, whole, numbers, places):
    made = part(b, whole, {numbers[d]: p for d, p in places.items()})
    kept = [numbers[d] for d in _left(x.rank, places)]
    from .views import permute

    return permute(b, made, [sorted(kept).index(d) for d in kept])


def _again_unsqueeze(b, x, whole, numbers, places):
    d = numbers[0]
    if isinstance(places.get(d), Window):
        raise refuse(b, x.value, "a part of a tensor")
    made = part(b, whole, {i - (i > d): p for i, p in places.items() if i != d})
    from .views import unsqueeze

    return made if d in places else unsqueeze(b, made, _left(x.rank, places).index(d))


def _again_expand(b, x, whole, numbers, places):
    skip = x.rank - whole.rank
    inner: Places = {}
    for d, place in places.items():
        if d >= skip and whole.sizes[d - skip] != 1:
            inner[d - skip] = place
        elif d >= skip and not isinstance(place, Window):
            inner[d - skip] = 0
    from .views import expand

    return expand(b, part(b, whole, inner), _sizes_left(x, places))


def _again_reshape(b, x, whole, numbers, places):
    """Of a reshape that keeps the dimensions that vary, with as many elements in front of each."""
    moved: Places = {}
    for d, place in places.items():
        if isinstance(x.sizes[d], int) and x.sizes[d] == 1 and not isinstance(place, Window):
            continue
        source = next((i for i in range(whole.rank) if _same_front(whole.sizes, i, x.sizes, d)), None)
        if source is None:
            raise refuse(b, x.value, "a reshape of a tensor")
        moved[source] = place
    inner, wanted = part(b, whole, moved), _sizes_left(x, places)
    if any(varies(b, n) for n in (*inner.sizes, *wanted)):
        raise refuse(b, x.value, "a reshape of a tensor")
    return b.view(inner, "reshape", wanted, wanted, dense_strides(wanted), dense_strides(wanted))


def _same_front(sizes, i: int, others, d: int) -> bool:
    from .views import same

    def front(of, at):
        count, open_ = 1, []
        for n in of[:at]:
            if isinstance(n, int):
                count *= n
            else:
                open_.append(n)
        return count, open_

    (count, open_), (other, others_open) = front(sizes, i), front(others, d)
    return same(sizes[i], others[d]) and count == other and len(open_) == len(others_open) and all(map(same, open_, others_open))


_AGAIN = {
    "select": _again_select, "slice": _again_slice, "narrow": _again_slice, "permute": _again_permute, "unsqueeze": _again_unsqueeze,
    "expand": _again_expand, "reshape": _again_reshape,
}  # fmt: skip


# -- values -------------------------------------------------------------------------------------------------------


def read(b: "Builder", x: Tensor) -> Value:
    """What a name holds, of which a size varies or that is a part of such a name."""
    if not dims_that_vary(b, x.sizes):
        return b.read(part(b, x, {}))
    made = Parts(x.value.type.value(), x.sizes, lambda places: b.read(part(b, x, places)))
    made.op.attributes["reads"] = True  # type: ignore[union-attr]
    return made


def filled(b: "Builder", type_: Type, sizes: Sequence[SizeLike], make: Callable[[Sequence[SizeLike]], Value]) -> Parts:
    """A value that is alike everywhere; `make` gives it for sizes."""
    return Parts(type_, sizes, lambda places: make([n for d, n in enumerate(sizes) if d not in places]))


def over(b: "Builder", sizes: Dict[int, SizeLike], body: Callable[[Places], None]) -> None:
    """Loops over the places of dimensions, the first one outermost."""
    from .views import loop

    if not sizes:
        body({})
        return
    d, *rest = sizes
    loop(b, 0, sizes[d], lambda at: over(b, {k: sizes[k] for k in rest}, lambda places: body({d: at, **places})), fold=True)


def store(b: "Builder", value: Value, sizes: Sequence[SizeLike]) -> Tensor:
    """A tensor of its own that holds a value of varying sizes."""
    home = value.home if isinstance(value, Parts) else None
    if home is None:
        home = _storage(b, value.type.dtype, sizes)
        dims = dims_that_vary(b, sizes)
        over(b, {d: sizes[d] for d in dims}, lambda places: b.write(part(b, home, places), _of(value, places)))
    else:
        value.home = None
    return _narrowed(b, home, sizes)


def _storage(b: "Builder", dtype, sizes: Sequence[SizeLike]) -> Tensor:
    return b.constant_tensor(0, dtype, _at_most(b, sizes))


def _narrowed(b: "Builder", home: Tensor, sizes: Sequence[SizeLike]) -> Tensor:
    """The part of storage that is used; its strides are those of a tensor of its sizes, which is what the program sees."""
    from .views import cut

    made = home
    for d in dims_that_vary(b, sizes):
        made = cut(b, made, d, 0, sizes[d], 1)
    return Tensor(made.value, home.dtype, sizes)


def _of(value: Value, places: Places) -> Value:
    return value.at(places) if isinstance(value, Parts) else value


def write(b: "Builder", dest: Tensor, value: Value) -> None:
    """Writes to a name of which a size varies, part by part: what is read has been read before."""
    dims = dims_that_vary(b, dest.sizes)
    skip = dest.rank - len(value.sizes)
    if isinstance(value, Parts) and value.home is None and value.op.attributes.get("reads"):
        value = _kept(b, value)
    if not dims and isinstance(value, Parts):
        raise refuse(b, value, "a tensor is written, whole, from one")

    def at(places: Places) -> Value:
        inner = {d - skip: p for d, p in places.items() if d >= skip}
        if isinstance(value, Parts):
            own = dims_that_vary(b, [_number(n) for n in value.sizes])
            apart = [d for d in inner if d not in own]
            if any(value.sizes[d] != 1 for d in apart):
                raise refuse(b, dest.value, "a tensor is written to one")
            return value.at({d: 0 if d in apart else p for d, p in inner.items()})
        return _static_at(b, value, inner)

    over(b, {d: dest.sizes[d] for d in dims}, lambda places: b.write(part(b, dest, places), at(places)))


def _kept(b: "Builder", value: Parts) -> Parts:
    sizes = [_number(n) for n in value.sizes]
    made = store(b, value, sizes)
    return Parts(value.type, sizes, lambda places: b.read(part(b, made, places)))


def _static_at(b: "Builder", value: Value, places: Places) -> Value:
    """A value that is broadcast along dimensions of size 1, without these."""
    if not places:
        return value
    if any(value.sizes[d] != 1 for d in places):
        raise refuse(b, value, "a tensor of another size is written to one,")
    made = b.new(value, [_number(n) for n in value.sizes])
    return b.read(_selected(b, made, {d: 0 for d in places}))


# -- computation ---------------------------------------------------------------------------------------------------


def generic(b: "Builder", values, maps, outs, out_maps, rank: int, reduced: Sequence[int], body: Body, results) -> List[Value]:
    """`Builder.generic` where sizes vary: loops over these around one of what is static."""
    sizes = _sizes_of_loops(b, [*values, *outs], [*maps, *out_maps])
    around = [i for i in sorted(sizes) if i not in reduced]
    inside = [i for i in sorted(sizes) if i in reduced]
    homes = [_storage(b, v.type.dtype, [_number(n) for n in v.sizes]) for v in outs]

    def places_of(own, map_) -> Places:
        return {d: own[loop] for d, loop in enumerate(map_) if loop in own}

    def computed(own: Places, accumulators: List[Value]) -> List[Value]:
        operands = [_at_loops(b, v, m, own, sizes) for v, m in zip(values, maps)]
        left = [i for i in range(rank) if i not in own]
        renamed = [[left.index(i) for i in m if i not in own] for m in (*maps, *out_maps)]
        inner = _with_places(b, body, own, left)
        return b.generic(operands, renamed[: len(maps)], accumulators, renamed[len(maps) :], len(left), [left.index(i) for i in reduced if i in left], inner, results)

    def fill(own: Places) -> None:
        first = [_at_loops(b, v, m, own, sizes) for v, m in zip(outs, out_maps)]
        cells = [lambda h=h, m=m: part(b, h, places_of(own, m)) for h, m in zip(homes, out_maps)]
        if not inside:
            made = computed(own, first)
            for cell, value in zip(cells, made):
                b.write(cell(), value)
            return
        for cell, value in zip(cells, first):
            b.write(cell(), value)

        def add(more: Places) -> None:
            made = computed({**own, **more}, [b.read(cell()) for cell in cells])
            for cell, value in zip(cells, made):
                b.write(cell(), value)

        over(b, {i: sizes[i] for i in inside}, add)

    over(b, {i: sizes[i] for i in around}, fill)
    return [_result(b, home, v) for home, v in zip(homes, outs)]


def _result(b: "Builder", home: Tensor, out: Value) -> Value:
    sizes = [_number(n) for n in out.sizes]
    if not dims_that_vary(b, sizes):
        return b.read(home)
    return Parts(out.type, sizes, lambda places: b.read(part(b, home, places)), home)


def _sizes_of_loops(b: "Builder", values, maps) -> Dict[int, SizeLike]:
    found: Dict[int, SizeLike] = {}
    for value, map_ in zip(values, maps):
        for d, loop in enumerate(map_):
            size = _number(value.sizes[d])
            if not varies(b, size):
                continue
            if not isinstance(loop, int):
                raise refuse(b, value, "windows of a tensor")
            found.setdefault(loop, size)
    return found


def _at_loops(b: "Builder", value: Value, map_, own: Places, sizes) -> Value:
    places = {d: own[loop] for d, loop in enumerate(map_) if loop in own}
    if isinstance(value, Parts):
        return value.at(places)
    if places:
        raise refuse(b, value, "a tensor of another size is taken together with one")
    return value


def _with_places(b: "Builder", body: Body, own: Places, left: List[int]) -> Body:
    """A body in which the places along loops are what these are now."""
    made = Body()
    made.divisors = body.divisors
    names = {f"linalg.index {i} : index": ["arith.addi ", b.scalar(p), ", ", b.scalar(0), " : index"] for i, p in own.items()}
    names.update({f"linalg.index {i} : index": [f"linalg.index {at} : index"] for at, i in enumerate(left)})
    made.lines = [(result, names.get(parts[0], parts) if len(parts) == 1 else parts) for result, parts in body.lines]
    return made
