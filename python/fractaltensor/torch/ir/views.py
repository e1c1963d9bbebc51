# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views: tensors that name parts of others, or the same elements in another order and other sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, List, Optional, Sequence, Tuple

from . import at_data, varying
from .linear import linear
from .operations import INDEX, Block, Op, Value, most_of
from ..problems import NeedsUnrolling, Problem
from ..frontend.values import Mono, Num, SizeLike, Tensor, dense_strides, view_strides

if TYPE_CHECKING:
    from .builder import Builder


def same(a: SizeLike, b: SizeLike) -> bool:
    """Whether two sizes are known to be equal."""
    if isinstance(a, Num) and isinstance(b, Num):
        return a.value is b.value or _difference(a, b) == 0
    return not isinstance(a, Num) and not isinstance(b, Num) and a == b


def _difference(a: Num, b: Num) -> Optional[int]:
    """`a - b` where that is one number, whatever they are made of."""
    apart = linear(a).plus(linear(b), -1)
    return None if apart.terms else apart.constant


def loop(b: Builder, start: SizeLike, stop: SizeLike, body: Callable[[Num], None], fold: bool = False) -> None:
    """A counted loop that carries nothing; `body` writes into tensors. `fold`: it is one operation, which nothing goes through from outside."""
    operands = [b.scalar(n) for n in (start, stop, 1)]
    block = Block()
    counter = Num("int", block.add_argument(INDEX, "i"))
    if isinstance(start, int) and isinstance(stop, int):
        b.ranges[counter.value] = (start, max(start, stop - 1))
    elif isinstance(start, int) and varying.varies(b, stop):
        b.ranges[counter.value] = (start, max(start, varying.most(b, stop) - 1))
    b.limits[counter.value] = stop
    if isinstance(start, int) and start >= 0:
        b.naturals.add(counter.value)
    op = Op("for", operands, [], blocks=[block], fold=fold)
    b.append(op)
    with b.inside(block):
        body(counter)


def _without(items, d):
    return (*items[:d], *items[d + 1 :])


def select(b: Builder, x: Tensor, d: int, index: SizeLike, said: Optional[int] = None) -> Tensor:
    """`x.select(d, index)`; `said` is what errors call the dimension."""
    size = x.sizes[d]
    if isinstance(index, int) and isinstance(size, int):
        if not -size <= index < size:
            raise Problem(f"index {index} is out of range in dimension {d if said is None else said} of size {size}", "shape")
        index = index % size
    proven = b.inside_range(index, size)
    b.unproven += not proven
    if not proven and at_data.is_looked_at(b, index, size):
        b.has_indices = True
        if b.notes_indices:
            index, proven = at_data.checked(b, index, size, d if said is None else said), True
    elif isinstance(index, Num) and b.in_loop() and at_data.is_carried(index.value):
        b.has_indices = True
    made = b.view(x, "select", [d, index], _without(x.sizes, d), _without(x.strides, d), _without(x.own, d), proven=proven)
    low, high = b._ends(index)
    if not proven and isinstance(size, int) and low is not None and high is not None and (high >= size or low < -size):
        made.value.op.attributes["exceeds"] = True
    if said not in (None, d):
        made.value.op.attributes["said"] = {d: said}
    return made


def squeeze(b: Builder, x: Tensor, d: int) -> Tensor:
    """Without dimension d, whose size is 1."""
    return b.view(x, "select", [d, 0], _without(x.sizes, d), _without(x.strides, d), _without(x.own, d))


def unsqueeze(b: Builder, x: Tensor, d: int) -> Tensor:
    def put(items, item):
        return (*items[:d], item, *items[d:])

    def stride(strides):
        return strides[d] * Mono.of(x.sizes[d]) if d < x.rank else Mono(1)

    return b.view(x, "unsqueeze", [d], put(x.sizes, 1), put(x.strides, stride(x.strides)), put(x.own, stride(x.own)))


def permute(b: Builder, x: Tensor, order: Sequence[int]) -> Tensor:
    if list(order) == list(range(x.rank)):
        return x
    return b.view(x, "permute", order, [x.sizes[d] for d in order], [x.strides[d] for d in order], [x.own[d] for d in order])


def row_at(b: Builder, x: Tensor, d: int, at: Num) -> Tensor:
    """`select` of a loop over a size that is data: of what is permuted, rows of what lies there, whose open dimension may lead."""
    op = x.value.op
    if op is None or op.attributes.get("step") != "permute":
        return select(b, x, d, at)
    order = op.attributes["numbers"]
    back = [order.index(k) for k in range(x.rank)]
    whole = Tensor(op.operands[0], x.dtype, [x.sizes[k] for k in back], [x.strides[k] for k in back], [x.own[k] for k in back], x.overlaps)
    return permute(b, row_at(b, whole, order[d], at), [k - (k > order[d]) for k in order if k != order[d]])


def _clamped_end(b: Builder, end, size: SizeLike, missing: SizeLike) -> SizeLike:
    """An end of a slice as a position from 0 to size."""
    if end is None:
        return missing
    if isinstance(end, int) and isinstance(size, int):
        return max(0, min(end + size if end < 0 else end, size))
    if isinstance(end, int):
        return b.minimum(end, size) if end >= 0 else b.maximum(b.add(size, end), 0)
    below = b.compare("lt", end, 0)
    moved = b.add(end, size)
    picked = b.text(["arith.select ", below.value, ", ", b.scalar(moved), ", ", b.scalar(end), " : index"], [INDEX]).results[0]
    return b.maximum(b.minimum(Num("int", picked), size), 0)


def is_counted(size: SizeLike) -> bool:
    """Whether a size is a number that a library step gives."""
    return isinstance(size, Num) and size.value.op is not None and size.value.op.kind == "step"


def is_of_step(size: SizeLike) -> bool:
    """Whether a size is made of a number that a library step gives."""
    todo = [size.value] if isinstance(size, Num) else []
    while todo:
        op = todo.pop().op
        if op is not None and op.kind == "step":
            return True
        todo.extend(op.operands if op is not None and op.kind == "text" and op.pieces[0] != "tensor.extract " else ())
    return False


def is_found(size: SizeLike) -> bool:
    """Whether a size is data: a number that a library step gives, or that is computed from elements."""
    todo = [size.value] if isinstance(size, Num) else []
    while todo:
        op = todo.pop().op
        if op is not None and (op.kind == "step" or op.kind == "text" and op.pieces[0] == "tensor.extract "):
            return True
        todo.extend(op.operands if op is not None and op.kind == "text" else ())
    return False


def _counted_ends(b: Builder, size: SizeLike, start, stop, by: int):
    """First, last and count of a slice of a size that a step gives: numbers of steps as well, so that the runner knows them."""
    def asked(name: str, *numbers) -> Num:
        key = (name, size.value.number, *numbers)
        found = b.remember(key, lambda: Num("int", b.step(name, [size.value], [INDEX], numbers=numbers)[0]))
        all_of = most_of(size.value)
        if all_of is not None:
            # Of `-3 : 2` a shorter one may have more.
            grows = name == "slice_length" and not (numbers[0] is not None and numbers[0] < 0 <= (-1 if numbers[1] is None else numbers[1]))
            plain = min(numbers[0], all_of) if name == "clamped" and numbers[0] >= 0 else all_of
            found.value.op.attributes["most"] = len(range(all_of)[slice(*numbers)]) if grows else plain
        return found

    first = 0 if start is None else start if start >= 0 else asked("clamped", start)
    last = size if stop is None else asked("clamped", stop)
    count = last if first == 0 and by == 1 else asked("slice_length", start, stop, by)
    return first, last, count


def is_data(number) -> bool:
    """Whether a number is computed of elements of tensors, and no library step has given it."""
    todo = [number.value] if isinstance(number, Num) else []
    seen: set = set()
    while todo:
        op = todo.pop().op
        if op is None or op.kind != "text" or id(op) in seen:
            continue
        seen.add(id(op))
        if op.pieces and str(op.pieces[0]).startswith("tensor.extract "):
            return True
        todo.extend(op.operands)
    return False


def _found_ends(b: Builder, size: SizeLike, start, stop, by: int):
    """First, last and count of a slice whose ends are data: a step gives them, so that the runner knows them."""
    given = (start is not None, stop is not None, by)
    operands = [b.scalar(n) for n in (size, 0 if start is None else start, size if stop is None else stop)]
    made = b.remember(("slice_ends", given, *operands), lambda: b.step("slice_ends", operands, [INDEX] * 3, numbers=given))
    all_of = most_of(operands[0])
    if all_of is not None:
        made[0].op.attributes["most"] = all_of
    first, last, count = (Num("int", value) for value in made)
    return (0 if start is None else first, size if stop is None else last, last if start is None and by == 1 else count)


def slice_(b: Builder, x: Tensor, d: int, start, stop, step) -> Tensor:
    """`x[..., start:stop:step, ...]` in dimension d."""
    size = x.sizes[d]
    if start in (None, 0) and stop is None and step in (None, 1):
        return x
    by = 1 if step is None else step
    if not isinstance(by, int):
        problem = Problem("the step of a slice must be known when the program is compiled, found an integer that is data")
        counter = _counter_in(b, [by], alone=True)
        raise problem if counter is None else NeedsUnrolling(problem, counter)
    if by < 1:
        raise Problem(f"the step of a slice must be positive, found {by}: use flip", "shape")
    length = _affine_length(b, start, stop, by, size)
    if length is not None:
        strides = [s * Mono.of(by) if i == d else s for i, s in enumerate(x.strides)]
        own = [s * Mono.of(by) if i == d else s for i, s in enumerate(x.own)]
        sizes = (*x.sizes[:d], length, *x.sizes[d + 1 :])
        return b.view(x, "narrow", [d, start, length, by], sizes, strides, own)
    if any(varying.varies(b, n) for n in (start, stop, size)):
        known = varying.ends(b, start, stop, by, size)
        if known is not None:
            b.is_by_parts = True
            return cut(b, x, d, *known, by)
    plain = all(e is None or isinstance(e, int) for e in (start, stop)) and isinstance(by, int)
    # (Compiled code has open sizes in front only.)
    found = any(is_data(n) or b.notes_indices and isinstance(n, Num) and at_data.is_carried(n.value) for n in (start, stop))
    found = found and all(isinstance(n, Num) for n in x.sizes[:d])
    if b.checked and (found or plain and is_counted(size)):
        first, last, count = (_found_ends if found else _counted_ends)(b, size, start, stop, by)
        sizes = (*x.sizes[:d], count, *x.sizes[d + 1 :])
        strides = [s * Mono.of(by) if i == d else s for i, s in enumerate(x.strides)]
        own = [s * Mono.of(by) if i == d else s for i, s in enumerate(x.own)]
        return b.view(x, "slice", [d, first, last, by], sizes, strides, own)
    counter = _counter_in(b, [start, stop])
    if counter is not None:
        raise NeedsUnrolling(Problem("the size of a slice changes with the counter of a loop"), counter)
    first = _clamped_end(b, start, size, 0)
    last = _clamped_end(b, stop, size, size)
    if isinstance(first, int) and isinstance(last, int):
        count: SizeLike = max(0, -(-(last - first) // by)) if isinstance(by, int) else b.ceildiv(max(0, last - first), by)
    elif isinstance(first, int) and first == 0:
        count = b.ceildiv(last, by)
    else:
        count = b.ceildiv(b.maximum(b.sub(last, first), 0), by)
    sizes = (*x.sizes[:d], count, *x.sizes[d + 1 :])
    strides = [s * Mono.of(by) if i == d else s for i, s in enumerate(x.strides)]
    own = [s * Mono.of(by) if i == d else s for i, s in enumerate(x.own)]
    return b.view(x, "slice", [d, first, last, by], sizes, strides, own)


def cut(b: Builder, x: Tensor, d: int, first: SizeLike, count: SizeLike, by: int) -> Tensor:
    """`count` places from `first` on, each `by` after the one before, all of which are there."""
    sizes = (*x.sizes[:d], count, *x.sizes[d + 1 :])
    strides, own = ([s * Mono.of(by) if i == d else s for i, s in enumerate(items)] for items in (x.strides, x.own))
    if isinstance(count, int):
        return b.view(x, "narrow", [d, first, count, by], sizes, strides, own)
    last = b.add(first, count if by == 1 else b.mul(count, by))
    return b.view(x, "slice", [d, first, last, by], sizes, strides, own)


def _apart(number: Num) -> Tuple[Value, int]:
    """A number as another one plus what is known."""
    value, more = number.value, 0
    while value.op is not None and value.op.kind == "text" and value.op.pieces[0] == "arith.addi ":
        known = [(v, _known(v)) for v in value.op.operands]
        rest = [v for v, n in known if n is None]
        if len(rest) != 1:
            break
        value, more = rest[0], more + sum(n for _, n in known if n is not None)
    return value, more


def _known(value: Value) -> Optional[int]:
    text = value.op.pieces[0] if value.op is not None and value.op.kind == "text" and value.op.pieces else None
    return int(text.split()[1]) if isinstance(text, str) and text.startswith("arith.constant ") else None


def _affine_length(b: Builder, start, stop, by: int, size: SizeLike) -> Optional[int]:
    """The length of `g + m : g + n : by` where that cannot be clamped, as far as loops' bounds say."""
    if not isinstance(start, Num) or not isinstance(stop, Num):
        return None
    (base, low), (other, high) = _apart(start), _apart(stop)
    bounds = b.ranges.get(start.value)
    fits = bounds is not None and isinstance(size, int) and bounds[0] >= 0 and bounds[1] + high - low <= size
    return -(-(high - low) // by) if fits and base is other and high >= low else None


def _counter_in(b: Builder, numbers: Sequence, alone: bool = False) -> Optional[Value]:
    """A loop's counter of which a number is made: of a loop that is to be unrolled for its sake. `alone`: nothing else helps."""
    todo = [n.value for n in numbers if isinstance(n, Num)]
    seen: set = set()
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in b.counters and (alone or b.counters[value]):
            return value
        if value.op is not None and value.op.kind == "text":
            todo.extend(value.op.operands)
    return None


def expand(b: Builder, x: Tensor, sizes: Sequence[SizeLike]) -> Tensor:
    """`x.expand(sizes)`; -1 keeps a size."""
    skip = len(sizes) - x.rank
    if skip < 0:
        raise Problem(f"expand to {len(sizes)} dimensions of a tensor of {x.rank}: there must be at least as many", "shape")
    result: List[SizeLike] = []
    strides, own, numbers = [], [], []
    for d, size in enumerate(sizes):
        old = x.sizes[d - skip] if d >= skip else 1
        keep = isinstance(size, int) and size == -1
        if keep and d < skip:
            raise Problem("expand: -1 stands for no size in a new dimension", "shape")
        if keep or same(old, size):
            result.append(old)
            strides.append(x.strides[d - skip] if d >= skip else Mono(0))
            own.append(x.own[d - skip] if d >= skip else Mono(0))
            numbers.append(-1 if d >= skip else size)
            continue
        if not (isinstance(old, int) and old == 1):
            if isinstance(old, int) and isinstance(size, int):
                raise Problem(f"expand: size {old} in dimension {d} cannot become {size}: only 1 can be repeated", "shape")
            b.require_equal(old, size, "expand repeats a size of 1 alone")
            result.append(size)
            strides.append(x.strides[d - skip])
            own.append(x.own[d - skip])
            numbers.append(size)
            continue
        result.append(size)
        strides.append(Mono(0))
        own.append(Mono(0))
        numbers.append(size)
    if skip == 0 and all(same(p, q) for p, q in zip(result, x.sizes)):
        return x
    return b.view(x, "expand", numbers, result, strides, own)


def reshape(b: Builder, x: Tensor, sizes: Sequence[SizeLike], must_view: bool = False) -> Tensor:
    """`x.reshape(sizes)`, or `x.view(sizes)`: a view where PyTorch's is one, else a copy."""
    sizes = resolve_sizes(b, x, sizes, "view" if must_view else "reshape")
    if len(sizes) == x.rank and all(same(p, q) for p, q in zip(sizes, x.sizes)):
        return x
    strides = view_strides(x.sizes, x.strides, sizes)
    may_view = strides is not None or is_open(x)
    if must_view and not may_view:
        raise Problem(f"view: {x.describe()} does not lie in memory so that other sizes are a view of it: use reshape", "shape")
    own = view_strides(x.sizes, x.own, sizes)
    if strides is None or own is None:
        x = copied(b, x, "view" if must_view else "reshape", may_view)
        strides, own = strides or dense_strides(sizes), dense_strides(sizes)
    return b.view(x, "reshape", sizes, sizes, strides, own)


def is_open(x: Tensor) -> bool:
    """Whether how a tensor lies in memory in PyTorch is not known."""
    return any(atom < 0 for size, stride in zip(x.sizes, x.strides) if size != 1 for atom in stride.atoms)


def copied(b: Builder, x: Tensor, what: str, may_view: bool) -> Tensor:
    """A copy; where PyTorch's may be a view, programs that could tell are refused."""
    from ..plan.copies import Copy

    made = b.copy(x)
    if may_view:
        b.copies.append(Copy(what, made.value, [x.value], b.block.ops[-1], tuple(b.frames()), "write to its .clone()"))
    return made


def resolve_sizes(b: Builder, x: Tensor, sizes: Sequence[SizeLike], name: str = "reshape") -> List[SizeLike]:
    """Sizes with the one that is -1 computed."""
    result = list(sizes)
    free = [d for d, n in enumerate(result) if isinstance(n, int) and n == -1]
    if len(free) > 1:
        raise Problem(f"{name}: only one size can be -1", "shape")
    given = [n for n in result if not (isinstance(n, int) and n == -1)]
    have = Mono(1)
    for n in x.sizes:
        have = have * Mono.of(n)
    want = Mono(1)
    for n in given:
        want = want * Mono.of(n)
    if not free:
        if have != want:
            _check_count(b, x, given, have, want, name)
        return result
    result[free[0]] = _quotient(b, x, have, want, given, name)
    return result


def _check_count(b: Builder, x: Tensor, sizes, have: Mono, want: Mono, name: str) -> None:
    if not have.atoms and not want.atoms:
        raise Problem(f"{name}: {x.describe()} has {have.factor} elements, the new sizes have {want.factor}", "shape")
    b.require_equal(b.product(x.sizes), b.product(sizes), f"{name} keeps the number of elements")


def _quotient(b: Builder, x: Tensor, have: Mono, want: Mono, given, name: str) -> SizeLike:
    left = list(have.atoms)
    for atom in want.atoms:
        if atom in left:
            left.remove(atom)
        else:
            return b.floordiv(b.product(x.sizes), b.product(given))
    if want.factor == 0 or have.factor % want.factor:
        if left and want.factor:
            return b.floordiv(b.product(x.sizes), b.product(given))
        raise Problem(f"{name}: {x.describe()} cannot be divided into rows of {want.factor} elements", "shape")
    result: SizeLike = have.factor // want.factor
    for atom in left:
        result = b.mul(result, next(n for n in x.sizes if isinstance(n, Num) and n.value.number == atom))
    return result
