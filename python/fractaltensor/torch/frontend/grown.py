# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists that loops append to, as tensors: item `i` is row `i` of a tensor that is made before the loop.

A list of the program becomes a :class:`Rows` where a loop that stays one appends to it. How many rows there are is a number of the program: a
name like others (`rebound.py`), so that loops and conditions carry it. Where a list does what rows cannot, :class:`NeedsLists` has the
function compiled again without them. Items of a list are names of tensors; rows are copies. `is_written_elsewhere` finds programs that could
see the difference.
"""

from __future__ import annotations

import ast
import contextlib
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ..ir import dtypes, views
from ..ir.at_data import checked
from ..ir.linear import linear
from ..ir.operations import Op, Value, views_of, walk
from ..ops import OPERATORS
from ..plan.segments import may_roots
from ..problems import NeedsUnrolling, Problem
from .values import ListOfRows, NamedResult, Num, PyDict, PyList, Size, Tensor, is_number, kind_of

#: Numbers of a list are elements of a tensor.
_NUMBERS = {"float": dtypes.float64, "bool": dtypes.bool_, "int": dtypes.int64}
#: What an item is, and how many there are at most or that no number says it, is known after three attempts.
_MOST_ATTEMPTS = 4
#: Rows that a list has room for at first, where no number says how many there will be.
_FIRST_ROOM = 16
#: Parts of a tensor, and items of a comprehension, that stay separate: so many cost no more than a loop.
_FEW, _MOST_ITEMS = 4, 32
#: What parameters of `split` and `chunk` are called.
_SPLIT = {"split_size": "by", "split_size_or_sections": "by", "chunks": "by"}


#: What to do about a list whose items data decide.
UNKNOWN_ITEMS = "what it has then is not known; write to a tensor, t[n] = item, and count n"


class NeedsLists(Exception):
    """A program does with a list what rows cannot. It is compiled again, and lists that grow in the loop at `place` stay lists; all, where that is None.
    `has_integers`: the list has integers, which would be data as elements of rows."""

    def __init__(self, place=None, has_integers: bool = False):
        super().__init__()
        self.place, self.has_integers = place, has_integers


class Template(Exception):
    """The first item of a list, by which its rows are made."""

    def __init__(self, item):
        super().__init__()
        self.item = item


class Moved(PyList):
    """What was a list, and is rows now. All names of it have been changed; what still finds it must not take it for a list."""

    def _refuse(self, *_):
        raise NeedsLists

    __iter__ = __len__ = __getitem__ = __contains__ = __eq__ = _refuse  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Rows:
    """A list of the program whose items are rows: of `columns`, one tensor for each tensor in an item. `tail` has items after the last row.
    `block` is where the list was made. `name` is that of the number of rows in the function's names."""

    def __init__(self, block, name: str):
        self.block, self.name = block, name
        self.columns: List[Tensor] = []
        #: Where no number says how many rows there will be: names of the columns among the function's, since they are replaced by longer ones.
        self.is_open = False
        self.column_names: List[str] = []
        self.like: Any = None
        self.tail: List = []
        #: The list, and what it had when it became rows.
        self.made: Any = None
        self.first: List = []
        #: While loops fill it: the lengths of the loops around each place that appends.
        self.sites: List[Tuple] = []
        #: Lengths of loops that were around when it began to grow.
        self.depth: Optional[int] = None
        #: Of a list of so many `None`s whose items a loop assigns, from the first or the last on: by it, each place and the number of rows before.
        self.reserved: Optional[int] = None
        self.fills: List[Tuple] = []
        self.is_down = False


def tensors_in(item) -> Optional[List]:
    """The tensors and numbers of an item; None where it has others."""
    if isinstance(item, (Tensor, Num)) or is_number(item):
        return [item]
    if not isinstance(item, tuple) or isinstance(item, Size) or not item:
        return None
    found = [tensors_in(x) for x in item]
    return None if None in found else [x for part in found for x in part]  # type: ignore[union-attr]


def _type_of(x) -> dtypes.DType:
    return x.dtype if isinstance(x, Tensor) else _NUMBERS[kind_of(x)]


def _sizes_of(x) -> Tuple:
    return x.sizes if isinstance(x, Tensor) else ()


def _rebuilt(like, parts):
    """An item of the form of `like` from its tensors, an iterator."""
    if not isinstance(like, tuple):
        return next(parts)
    items = [_rebuilt(x, parts) for x in like]
    return NamedResult(items, like.names, like.kind) if isinstance(like, NamedResult) else tuple(items)


def _form(item):
    """What two items must have in common to be rows of the same tensors."""
    if isinstance(item, tuple):
        names = item.names if isinstance(item, NamedResult) else ()
        return (names, *map(_form, item))
    return (isinstance(item, Tensor), _type_of(item))


class Rounds:
    """Of a `while` that is looked at: how often its body runs at most, None where no number says it."""

    def __init__(self):
        self.most: Any = None


class Growth:
    """Part of the evaluator: makes rows of lists, and does with them what programs do with lists."""

    # -- a loop that appends ---------------------------------------------------------------------------------

    def may_become_rows(self, node) -> bool:
        return self.grows and self.frame.source.place(node) not in self.listed

    def grow(self, made, fills: bool, length, node, again: Callable[[], None]) -> None:
        """Has `again`, which compiles a loop of `length` iterations, append rows to a list that was made before the loop; or `fills` it."""
        b, place = self.b, self.frame.source.place(node)
        rows = made if isinstance(made, Rows) else self._rows_for(made, fills)
        there, known, problems = set(map(id, b.block.ops)), [dict(table) for table in b.known], len(self.problems)
        env, loops = dict(self.frame.env), self.frame.loops
        before = {each: (list(each.columns), list(each.tail), list(each.column_names)) for each in self.grown}

        def reset() -> None:
            self.frame.env, self.frame.loops = dict(env), loops
            rows.sites, rows.fills, rows.depth = [], [], None
            for each in self.grown:
                # (What has become rows since then begins anew.)
                each.columns, each.tail, each.column_names = map(list, before.get(each, ([], each.first, [])))
                if each not in before:
                    names, seen = self.frame.env, set()
                    names.update({name: swapped(value, each.made, each, seen) for name, value in names.items()})
                    names[each.name] = 0
            # (What notes wrong indices is made first in the program, and stays.)
            there.update(map(id, b.site_ops))
            b.block.ops[:] = [op for op in b.block.ops if id(op) in there]
            b.known[:] = [dict(table) for table in known]

        room: Any = (1 if length is None else length) if rows.reserved is None else rows.reserved
        for _ in range(_MOST_ATTEMPTS):
            rows.like = rows.like if rows.like is not None else rows.tail[0] if rows.tail else None
            self._make_room(rows, room, place)
            rows.sites, rows.fills, rows.depth = [], [], len(self.loop_lengths)
            try:
                again()
            except Template as found:
                reset()
                rows.like = found.item
                continue
            except Problem:
                raise NeedsLists(place) from None
            except BaseException:
                reset()
                raise
            needed = self._needed(rows)
            if len(self.problems) > problems or not self._fills_all(rows) or needed is None and rows.reserved is not None:
                raise NeedsLists(place)
            if rows.is_open or needed is not None and b.is_least(needed, room):
                rows.depth = None
                self.most_grown = max(self.most_grown, length * self.copies if isinstance(length, int) else 1 << 30)
                return
            reset()
            rows.is_open, room = needed is None, needed
        raise NeedsLists(place)

    def _fills_all(self, rows: "Rows") -> bool:
        """Whether a list whose items are assigned gets each of them once, in order."""
        if rows.reserved is None:
            return True
        orders = [[b for b in (False, True) if views.same(at, self.b.sub(rows.reserved - 1, count) if b else count)] for at, count in rows.fills]
        common = [b for b in (False, True) if all(b in found for found in orders)]
        rows.is_down = bool(common) and common[0]
        return bool(common) and self.frame.env[rows.name] == rows.reserved

    def _rows_for(self, made: PyList, fills: bool) -> "Rows":
        """Rows in place of a list, by all of its names."""
        rows = Rows(made.block, self.rebound.inner())
        rows.reserved, rows.first = (len(made), []) if fills else (None, list(made))
        rows.tail = list(rows.first)
        self.grown.append(rows)
        self.frame.env[rows.name] = 0
        seen: set = set()
        for frame in self.frames:
            for names in (frame.env, *frame.scopes, *(scope.hidden for scope in frame.scopes)):
                names.update({name: swapped(value, made, rows, seen) for name, value in names.items()})
        made.__class__, rows.made = Moved, made
        return rows

    def _make_room(self, rows: "Rows", room, place) -> None:
        """Tensors for the rows that a list has and `room` more. Without an item to go by, the first one that is appended tells which."""
        if rows.like is None:
            return
        parts = tensors_in(rows.like)
        sizes = [n for x in parts or () for n in _sizes_of(x)]
        if parts is None or any(isinstance(n, Num) and not self.b.is_known_outside(n.value) for n in sizes):
            raise NeedsLists(place)
        if not self.counts and any(not isinstance(x, Tensor) and kind_of(x) == "int" for x in parts):
            raise NeedsLists(place, has_integers=True)
        old, held, tail = self.columns_of(rows), self.row_count(rows), rows.tail
        if rows.is_open:
            room = Num("int", self.b.scalar(_FIRST_ROOM))
        capacity = self.b.add(self.b.add(held, len(tail)), room) if rows.reserved is None else rows.reserved
        rows.tail = []
        self._set_columns(rows, [self.b.constant_tensor(0, _type_of(x), [capacity, *_sizes_of(x)]) for x in parts])
        if old and held != 0:
            for column, before in zip(self.columns_of(rows), old):
                with self._appending(None):
                    self.b.write(views.cut(self.b, column, 0, 0, held, 1), self.b.read(views.cut(self.b, before, 0, 0, held, 1)))
        self.frame.env[rows.name] = held
        rows.depth = len(self.loop_lengths)
        for item in tail:
            self._append_row(rows, item, place)

    def columns_of(self, rows: "Rows") -> List[Tensor]:
        """The tensors that have a list's rows, and perhaps room for more."""
        return [self.frame.env[name] for name in rows.column_names] if rows.is_open else rows.columns

    def _set_columns(self, rows: "Rows", columns: List[Tensor]) -> None:
        self.buffers.update(column.value for column in columns)
        rows.columns = [] if rows.is_open else columns
        if rows.is_open:
            rows.column_names = rows.column_names or [self.rebound.inner() for _ in columns]
            self.frame.env.update(zip(rows.column_names, columns))

    def _make_longer(self, rows: "Rows") -> None:
        """Of a list of which no number says how long it gets: room for a row. The columns get twice as long, so that each row is copied a few times at most."""
        room = self.columns_of(rows)[0].sizes[0]

        def double() -> None:
            with self._appending(None):
                more = [self.b.constant_tensor(0, x.dtype, x.sizes) for x in self.columns_of(rows)]
                self._set_columns(rows, [OPERATORS["cat"].call(self.b, [[x, y], 0], {}) for x, y in zip(self.columns_of(rows), more)])

        self.branch(self.b.compare("ge", self.frame.env[rows.name], room), double, lambda: None, None)  # type: ignore[arg-type]

    def append_to(self, rows: "Rows", item) -> None:
        if rows.block is None:
            raise Problem("a tuple has no append")
        if rows.depth is not None:
            if not self.columns_of(rows):
                raise Template(item)
            if rows.is_open:
                self._make_longer(rows)
            self._append_row(rows, item, None)
            rows.sites.append(tuple(self.loop_lengths[rows.depth :]))
        elif rows.block is self.b.block:
            rows.tail.append(item)
        else:
            raise self.outgrown(rows, ".append() changes items")

    def fill_row(self, rows: "Rows", at, item) -> None:
        """`rows[at] = item`, of a list that was made of `None`s."""
        if rows.reserved is None or rows.depth is None:
            raise NeedsLists
        if not self.columns_of(rows):
            raise Template(item)
        rows.fills.append((at, self.frame.env[rows.name]))
        self._append_row(rows, item, None, at)
        rows.sites.append(tuple(self.loop_lengths[rows.depth :]))

    def outgrown(self, made, what: str) -> NeedsUnrolling:
        """What a list raises that a loop appends to."""
        need = NeedsUnrolling(Problem(f"{what} in a list that was made before a loop or a condition that data decide: {UNKNOWN_ITEMS}"))
        if self.grows:
            need.grows, self.met_growth = made, True
        return need

    def _append_row(self, rows: "Rows", item, place, at=None) -> None:
        b, parts = self.b, tensors_in(item)
        if parts is None or _form(item) != _form(rows.like):
            raise NeedsLists(place)
        count = self.frame.env[rows.name]
        if isinstance(count, Num):
            # There is room for all that are appended.
            b.naturals.add(count.value)
            b.limits.setdefault(count.value, self.columns_of(rows)[0].sizes[0])
        for column, part in zip(self.columns_of(rows), parts):
            if len(column.sizes) - 1 != len(_sizes_of(part)) or not all(map(views.same, column.sizes[1:], _sizes_of(part))):
                raise NeedsLists(place)
            with self._appending(part.value if isinstance(part, Tensor) else None):
                value = b.read(part) if isinstance(part, Tensor) else b.fill(part, column.dtype, [])
                b.write(views.select(b, column, 0, count if at is None else at), value)
        self.frame.env[rows.name] = b.add(count, 1)

    @contextlib.contextmanager
    def _appending(self, value: Optional[Value]):
        """Marks what is written as rows of a list, from a name of the program."""
        block, before = self.b.block, len(self.b.block.ops)
        yield
        for op in walk(block.ops[before:]):
            if op.attributes.get("role") == "write":
                op.attributes["appends"] = value

    def _needed(self, rows: "Rows"):
        """How many items a loop has appended at most; None where that is not known before it."""
        total: Any = 0
        for lengths in rows.sites:
            product: Any = 1
            for n in lengths:
                n = n.most if isinstance(n, Rounds) else n
                if isinstance(n, Num) and not self.b.is_known_outside(n.value):
                    n = self.b.ranges.get(n.value, (None, None))[1]
                if n is None:
                    return None
                product = self.b.mul(product, n)
            total = self.b.add(total, product)
        return total

    @contextlib.contextmanager
    def around(self, length):
        """While the body of a loop is looked at."""
        again = self.counted_sites()
        self.loop_lengths.append(length)
        try:
            yield
        except BaseException:
            again()
            raise
        finally:
            self.loop_lengths.pop()

    def counted_sites(self) -> Callable[[], None]:
        """Before a loop is looked at several times: what has each time count what it appends anew."""
        marks = [(rows, len(rows.sites), len(rows.fills)) for rows in self.grown if rows.depth is not None]

        def again() -> None:
            for rows, count, filled in marks:
                del rows.sites[count:], rows.fills[filled:]

        return again

    # -- what is done with lists --------------------------------------------------------------------------------

    def row_count(self, rows: "Rows"):
        return rows.columns[0].sizes[0] if rows.block is None else self.frame.env[rows.name] if self.columns_of(rows) else 0

    def length_of(self, rows: "Rows"):
        return rows.reserved if rows.reserved is not None else self.b.add(self.row_count(rows), len(rows.tail))

    def row(self, rows: "Rows", i):
        """Row `i`, which is known to be there."""
        parts = [views.select(self.b, column, 0, i) for column in self.columns_of(rows)]
        flat = [x if isinstance(was, Tensor) else self.b.item(x) for x, was in zip(parts, tensors_in(rows.like))]
        return _rebuilt(rows.like, iter(flat))

    def items_in(self, rows: "Rows") -> PyList:
        """The items one by one: their number must be known."""
        count = self.row_count(rows)
        if rows.reserved not in (None, count):
            raise NeedsLists
        if not isinstance(count, int):
            raise Problem("the number of items of a list is data: it must be known here")
        return PyList([*(self.row(rows, i) for i in range(count)), *rows.tail], self.b.block)

    def plain(self, value, of_rows: Optional[Callable] = None):
        """A value in which all lists are lists, or what `of_rows` makes of rows."""
        if isinstance(value, Rows):
            if of_rows is not None:
                return of_rows(value)
            items = self.items_in(value)
            return tuple(items) if value.block is None else items
        if type(value) in (PyList, tuple) and any(isinstance(x, (Rows, PyList, PyDict, tuple)) for x in value):
            items = [self.plain(x, of_rows) for x in value]
            return PyList(items, value.block) if isinstance(value, PyList) else tuple(items)
        if isinstance(value, PyDict) and any(isinstance(x, (Rows, PyList, PyDict, tuple)) for x in value.values()):
            return PyDict({k: self.plain(x, of_rows) for k, x in value.items()}, value.block)
        return value

    def returned(self, value):
        """What the compiled function returns: a list whose length is data is made of its rows after the call."""
        return self.plain(value, self._all_items)

    def _all_items(self, rows: "Rows"):
        count, columns = self.row_count(rows), self.columns_of(rows)
        if rows.block is None or rows.reserved is not None or isinstance(count, int):
            return self.plain(rows)
        are_numbers = [not isinstance(x, Tensor) for x in tensors_in(rows.like) or ()]
        return ListOfRows(rows.like, [self._first_rows(column, count) for column in columns], are_numbers, list(map(self.returned, rows.tail)))

    def _first_rows(self, column: Tensor, count) -> Tensor:
        return column if views.same(count, column.sizes[0]) else views.slice_(self.b, column, 0, 0, count, 1)

    def item_in(self, rows: "Rows", key):
        if isinstance(key, slice):
            return self._slice_of(rows, key)
        count, length, asked = self.row_count(rows), self.length_of(rows), key
        if rows.reserved is not None and count != rows.reserved:
            raise NeedsLists  # it has items that are None
        if isinstance(key, int) and isinstance(length, int):
            if not -length <= key < length:
                raise Problem("IndexError: list index out of range")
            key = key % length
            return self.row(rows, key) if key < count else rows.tail[key - count]
        if isinstance(key, int) and key < 0:
            if -key <= len(rows.tail):
                return rows.tail[key]
            key = self.b.add(count, key + len(rows.tail))
        if not (isinstance(key, int) or isinstance(key, Num) and key.kind == "int"):
            raise Problem(f"list indices are integers or slices, found {type(key).__name__}")
        if not (self.b.is_least(0, key) and self.b.is_least(self.b.add(key, 1), count)):
            if isinstance(count, Num) and rows.tail and rows.block is self.b.block:
                # All items are rows from here on.
                self._make_room(rows, 0, None)
                rows.depth = None
                return self.item_in(rows, asked)
            if not isinstance(count, Num) or rows.tail:
                raise NeedsUnrolling(Problem("a list is indexed by a number that is data: its items may be different things"))
            if self.b.checked and self.b.in_loop():
                self.b.has_indices = True
                if self.b.notes_indices:
                    said = Num("int", self.b.scalar(asked)) if isinstance(asked, int) else asked
                    return self.row(rows, checked(self.b, said, count, 0, "IndexError: list index {} is out of range"))
            if not isinstance(asked, int):
                key = self.b.choice(self.b.compare("lt", key, 0), self.b.add(key, count), key)
            self.require(self.b.logical("and", self.b.compare("ge", key, 0), self.b.compare("lt", key, count)), "IndexError: list index out of range")
        return self.row(rows, key)

    def _slice_of(self, rows: "Rows", key: slice):
        length = self.length_of(rows)
        if rows.reserved not in (None, self.row_count(rows)):
            raise NeedsLists
        if not isinstance(length, int) or any(isinstance(n, Num) for n in (key.start, key.stop, key.step)):
            raise Problem("a slice of a list whose length is data: stack it first")
        places = range(length)[key]
        if rows.tail or places.step < 1 or not places:
            return PyList(self.items_in(rows)[key], self.b.block)
        found = Rows(None, "") if rows.block is None else Rows(self.b.block, self.rebound.inner())
        found.columns = [views.slice_(self.b, column, 0, places.start, places[-1] + 1, places.step) for column in self.columns_of(rows)]
        found.like = rows.like
        if found.block is not None:
            self.grown.append(found)
            self.frame.env[found.name] = len(places)
        return found

    def rows_iterated(self, rows: "Rows"):
        """Length and items of a list that is gone over, and whether a number that is data may count them."""
        if rows.reserved is not None and self.row_count(rows) != rows.reserved:
            raise NeedsLists
        if rows.tail:
            found = self.items_in(rows)
            return len(found), lambda i: found[i], False
        return self.row_count(rows), lambda i: self.row(rows, i), True

    def rows_method(self, rows: "Rows", name: str, args, kwargs):
        if rows.reserved is not None:
            raise NeedsLists
        if rows.block is not None and name == "append":
            return self.append_to(rows, *args, **kwargs)
        if rows.block is not None and name == "extend":
            for item in self.items_of(*args, **kwargs):
                self.append_to(rows, item)
            return None
        if name == "copy":
            return self._slice_of(rows, slice(None))
        raise NeedsLists

    def sum_of(self, rows: "Rows", start):
        """`sum()`: from the first item to the last; None where there may be none."""
        from .calls import Iteration

        at = self.nodes[-1][1]
        store, load = (lambda n: ast.Name(n, ast.Store())), (lambda n: ast.Name(n, ast.Load()))  # noqa: E731
        add = ast.Assign([store("$sum")], ast.BinOp(load("$sum"), ast.Add(), load("$item")))
        loop = ast.For(store("$item"), load("$items"), [add], [])
        for node in ast.walk(loop):
            if isinstance(node, (ast.expr, ast.stmt)):
                ast.copy_location(node, at)
        count = self.row_count(rows)
        if not self.b.is_least(1, count):
            return None
        rest = Iteration(self.b.sub(count, 1), lambda i: self.row(rows, self.b.add(i, 1)), True)
        self.frame.env.update({"$sum": self.binary(ast.Add, start, self.row(rows, 0)), "$items": rest})
        self.exec_For(loop)
        found = self.frame.env["$sum"]
        for name in ("$sum", "$items", "$item"):
            self.frame.env.pop(name, None)
        return found

    def joined(self, name: str, rows: "Rows", dim=0) -> Optional[Tensor]:
        """`torch.stack` and `torch.cat` of all items; None where they are no rows of one tensor."""
        columns = self.columns_of(rows)
        if len(columns) != 1 or not isinstance(rows.like, Tensor):
            return None
        b, count, whole = self.b, self.row_count(rows), columns[0]
        if rows.reserved not in (None, count):
            raise NeedsLists
        rank = whole.rank if name == "stack" else whole.rank - 1
        if isinstance(dim, bool) or not isinstance(dim, int) or not -rank <= dim < rank or count == 0:
            return None
        dim %= rank
        if not rows.tail and self._may_be_empty(count):
            self.require(self.b.compare("ge", count, 1), f"torch.{name} expects a list that is not empty")
        whole = self._first_rows(whole, count)
        order = [*range(1, dim + 1), 0, *range(dim + 1, whole.rank)]
        made = b.copy(views.permute(b, whole, order))
        if name == "cat":
            made = views.reshape(b, made, [*made.sizes[:dim], b.mul(made.sizes[dim], made.sizes[dim + 1]), *made.sizes[dim + 2 :]])
        if not rows.tail:
            return made
        return OPERATORS["cat"].call(b, [[made, *(views.unsqueeze(b, x, dim) if name == "stack" else x for x in rows.tail)], dim], {})

    def as_index(self, owner, key):
        """An index into a tensor: a list of rows is a tensor there."""
        if isinstance(owner, Tensor) and isinstance(key, (Rows, tuple)) and not isinstance(key, Size):
            parts = [(self._as_tensor(x) or x) if isinstance(x, Rows) else x for x in (key if isinstance(key, tuple) else (key,))]
            return tuple(parts) if isinstance(key, tuple) else parts[0]
        return key

    def _as_tensor(self, rows: "Rows") -> Optional[Tensor]:
        """Numbers, or tensors without dimensions, as one tensor; of the type that `torch.tensor` gives numbers. None where they are something else."""
        if isinstance(rows.like, Tensor):
            return self.joined("stack", rows) if rows.like.rank == 0 else None
        columns = self.columns_of(rows)
        if isinstance(rows.like, tuple) or len(columns) != 1 or rows.tail or rows.reserved is not None:
            return None
        return self.b.copy(self._first_rows(columns[0], self.row_count(rows)), dtypes.float32 if columns[0].dtype.is_float else columns[0].dtype)

    def _may_be_empty(self, count) -> bool:
        """Whether data alone say that a list has items; a length of the arguments is the caller's."""
        if self.b.is_least(1, count):
            return False
        return any(value.op is not None or value.block is not self.b.top for value in linear(count).terms)

    def of_operator(self, path: str, args: List, kwargs: Dict):
        """The result of an operator on a list of rows, where it has a form of its own; else None."""
        if path in ("torch.unbind", "torch.split", "torch.chunk") and args and isinstance(args[0], Tensor):
            return self.parts_of(path[6:], args[0], args[1:], kwargs)
        if path in ("torch.tensor", "torch.as_tensor") and args and isinstance(args[0], Rows):
            made = self._as_tensor(args[0])
            return None if made is None else OPERATORS["tensor"].call(self.b, [made, *args[1:]], kwargs)
        name = {"torch.stack": "stack", "torch.cat": "cat", "torch.concat": "cat", "torch.concatenate": "cat"}.get(path)
        given = dict(zip(("tensors", "dim"), args), **{{"axis": "dim"}.get(k, k): v for k, v in kwargs.items()})
        rows = given.get("tensors")
        if name is None or not isinstance(rows, Rows) or not given.keys() <= {"tensors", "dim"}:
            return None
        return self.joined(name, rows, given.get("dim", 0))

    def parts_of(self, name: str, x: Tensor, args, kwargs) -> "Optional[Rows]":
        """`unbind`, and `split` and `chunk` into parts of one size, as rows of a view; None where these are few, or something else."""
        given = dict(zip(() if name == "unbind" else ("by",), args), **{_SPLIT.get(k, k): v for k, v in kwargs.items()})
        more = args[0 if name == "unbind" else 1 :]
        dim = given.pop("dim", more[0] if more else 0)
        by = given.pop("by", 1)
        if given or len(more) > 1 or any(type(n) is not int for n in (dim, by)) or not -x.rank <= dim < x.rank or by < 1:
            return None
        dim %= x.rank
        size = x.sizes[dim]
        if name != "unbind" and (not isinstance(size, int) or size % by):
            return None
        part = 1 if name == "unbind" else by if name == "split" else size // by
        if isinstance(size, int) and size <= _FEW * part:
            return None
        rows, order = Rows(None, ""), [dim, *(d for d in range(x.rank + (name != "unbind")) if d != dim)]
        whole = x if name == "unbind" else views.reshape(self.b, x, [*x.sizes[:dim], size // part, part, *x.sizes[dim + 1 :]])
        rows.columns = [views.permute(self.b, whole, order)]
        rows.like = views.select(self.b, rows.columns[0], 0, 0)
        self.note_range(size)
        return rows

    def rows_of(self, node, part) -> "Optional[Rows]":
        """A list comprehension over many items as a loop that appends; None where it is something else. `part`: what is gone over first."""
        first = node.generators[0]
        if len(node.generators) > 1 or first.ifs or not self.may_become_rows(node):
            return None
        if not part.loops or isinstance(part.length, int) and part.length * self.copies <= _MOST_ITEMS:
            return None
        self.met_growth = True
        append = ast.Call(ast.Attribute(ast.Name(" list", ast.Load()), "append", ast.Load()), [node.elt], [])
        loop = ast.For(first.target, ast.Name(" items", ast.Load()), [ast.Expr(append)], [])
        for made in (loop, loop.iter, loop.body[0], append, append.func, append.func.value):
            ast.copy_location(made, node)
        with self.scope_of(node, " list", " items"):
            self.frame.env.update({" list": PyList((), self.b.block), " items": part})
            self.exec_For(loop)
            return self.frame.env[" list"]


def swapped(value, made, rows, seen):
    """A value in which something else, such as rows, stands for a list or a dictionary."""
    if value is made:
        return rows
    if isinstance(value, (PyList, PyDict)) and id(value) not in seen:
        seen.add(id(value))
        for key in range(len(value)) if isinstance(value, list) else list(value):
            value[key] = swapped(value[key], made, rows, seen)
    if isinstance(value, tuple) and any(swapped(x, made, rows, set()) is not x for x in value):
        items = [swapped(x, made, rows, seen) for x in value]
        return NamedResult(items, value.names, value.kind) if isinstance(value, NamedResult) else tuple(items)
    return value


def is_written_elsewhere(ops: Sequence[Op], buffers) -> bool:
    """Whether something is written through a name of what was appended, after that, or through a name of a row. An item of the list is the
    same tensor then, and a row is not."""
    order, memo = {op: at for at, op in enumerate(walk(ops))}, {}
    appends: Dict[Value, List[Tuple[Value, Op]]] = {}
    for op in order:
        value = op.attributes.get("appends")
        for root in may_roots(value, memo) if value is not None else ():
            appends.setdefault(root, []).append((value, op))
    for op in order:
        if op.attributes.get("role") != "write" or "appends" in op.attributes:
            continue
        for root in may_roots(op.operands[0], memo):
            if root in buffers or any(not _comes_before(op, root, value, append, order) for value, append in appends.get(root, ())):
                return True
    return False


def _comes_before(write: Op, root: Value, value: Value, append: Op, order: Dict[Op, int]) -> bool:
    """Whether a write into what is appended comes before that each time."""
    if views_of(write.operands[0])[1] is not root or views_of(value)[1] is not root or root.op is None or order[write] > order[append]:
        return False
    block = append.block
    while block is not root.op.block:
        around = block.parent if block is not None else None
        if around is None or around.kind != "if":
            return False
        block = around.block
    return True
