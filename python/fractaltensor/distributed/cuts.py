# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How one axis of a mesh divides one length of a program: which ranges of its lists each rank has, needs and computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..errors import ArgumentError
from ..lengths import Length
from ..names import counted
from ..program import Program
from ..source import of_function
from ..types import ListType
from .rules import Rule, _graph, _rule

if TYPE_CHECKING:
    from .messages import Axis

Range = Tuple[int, int]  # [begin, end)


def overlap(a: Range, b: Range) -> Range:
    """What is in both ranges."""
    begin = max(a[0], b[0])
    return begin, max(begin, min(a[1], b[1]))


class Moved(NamedTuple):
    """How one tensor is cut along a dimension, and what each rank needs of it; a range for each rank of the axis."""

    what: str
    dim: int
    holds: Tuple[Range, ...]
    wants: Tuple[Range, ...]

    def is_needed(self) -> bool:
        """Whether some rank needs what another one has: all ranks answer alike."""
        both = [overlap(hold, want) for r, want in enumerate(self.wants) for s, hold in enumerate(self.holds) if s != r]
        return any(begin < end for begin, end in both)


class Divided(NamedTuple):
    """A dimension of an argument or result; its list has `extra` elements more than the length."""

    dim: int
    extra: int


class Cut:
    """A length, the axis that divides it, and what that makes of arguments and results."""

    def __init__(self, rule: Rule, kind: str, axis: "Axis", program: Program):
        self.rule, self.kind, self.axis = rule, kind, axis
        self.arguments = [_divided(t, dim, rule.length) for t, dim in zip(program.types, rule.arguments)]
        self.results = [_divided(t, dim, rule.length) for t, (dim, _) in zip(program.result_types, rule.results)]
        self.partials = [partial if dim is None else None for dim, partial in rule.results]
        extras = [d.extra for d in (*self.arguments, *self.results) if d is not None]
        self.least = max([rule.least, *(-extra for extra in extras)])
        #: Whether ranks run the program on other ranges than they have.
        self.has_ranges = rule.has_halo or self.least > 0 or any(extras)

    def describe(self) -> str:
        """What ranks exchange, as one line."""
        before, after = self.rule.before, self.rule.after
        if self.rule.has_halo:
            what = f"{before} before and {after} after each shard, of the ranks that have them"
        else:
            parts = [f"{partial} of result {i}" for i, partial in enumerate(self.partials) if partial]
            what = ", ".join(parts) or "nothing"
        return f"{self.rule.length} on axis '{self.axis.name}' of {counted(self.axis.size, 'rank')}, {self.kind}: ranks exchange {what}"


def _divided(type_, dim: Optional[int], length: str) -> Optional[Divided]:
    if dim is None:
        return None
    extra = (type_.lengths[dim] - Length.name(length)).constant if isinstance(type_, ListType) else None
    return Divided(dim, extra or 0)


def cuts_of(jit, program: Program, axes: Mapping[str, "Axis"]) -> List[Cut]:
    """A cut for each length.

    Raises:
      ArgumentError: ranks cannot divide a length; the access that needs more is named.
    """
    graph = _graph(program)
    rules = {found["length"]: _rule(found) for found in graph["shardingRules"]}
    cuts = []
    for length, axis in axes.items():
        if length not in rules:
            raise ArgumentError(_refusal(jit.__name__, graph, length, rules), of_function(jit._function))
        kinds = [one["kind"] for one in graph["sharding"] if _mentions(one["length"], length)]
        cuts.append(Cut(rules[length], next((k for k in kinds if k != "local"), "local"), axis, program))
    return cuts


def _mentions(length: str, name: str) -> bool:
    return name in Length.of(length).names()


def _refusal(name: str, graph, length: str, rules: Mapping[str, Rule]) -> str:
    why = []
    for one in graph["sharding"]:
        if not _mentions(one["length"], length):
            continue
        inside = one["joins"] or one["indices"]
        apart = "its index or its joined value is needed inside" if inside else "parts join by the program's own combine"
        kind = apart if one["kind"] in ("local", "partial") else one["kind"]
        why += [f"{kind}, {reason['text']}" for key in ("reasons", "joins", "indices") for reason in one[key]]
    text = f": {'; '.join(dict.fromkeys(why))}" if why else ""
    instead = ", ".join(r for r in rules if r != length)
    return f"{name}: ranks cannot divide the length '{length}'{text}; they can divide {instead or 'none'}"


# -- ranges -----------------------------------------------------------------------------------------------------------


def chunks(total: int, ranks: int) -> List[Range]:
    """The ranges that ``torch.chunk`` and DTensor make."""
    step = -(-total // ranks)
    return [(min(r * step, total), min((r + 1) * step, total)) for r in range(ranks)]


def ends(sizes: Sequence[int]) -> List[Range]:
    """Ranges of lists of these sizes, one after the other."""
    found, begin = [], 0
    for size in sizes:
        found.append((begin, begin + size))
        begin += size
    return found


class Layout:
    """The ranges of one call: what each rank has of each argument, needs of it, computes, and keeps of each result."""

    def __init__(self, name: str, cut: Cut, holds: Mapping[int, List[Range]], is_chunked: bool):
        self._cut, self._holds, self._is_chunked = cut, holds, is_chunked
        totals = {i: ranges[-1][1] - cut.arguments[i].extra for i, ranges in holds.items()}
        self.total = next(iter(totals.values()))
        if any(total != self.total for total in totals.values()):
            raise ArgumentError(f"{name}: over axis '{cut.axis.name}' the length '{cut.rule.length}' is "
                                + ", ".join(f"{t} by argument {i}" for i, t in totals.items()))
        if self.total < cut.least:
            raise ArgumentError(f"{name}: the length '{cut.rule.length}' is {self.total}, and the program needs at least {cut.least}")
        # Where lists are as long as the length, their cuts are the length's.
        first = next((i for i in holds if not cut.arguments[i].extra), next(iter(holds)))
        self._borders = [end for _, end in holds[first][:-1]]
        self.iterations = [self._iterations(r) for r in range(cut.axis.size)]
        self._check_parts(name)

    def own(self, extra: int) -> List[Range]:
        """The ranges of a list with so many elements more than the length, one for each rank."""
        total = self.total + extra
        if self._is_chunked:
            return chunks(total, self._cut.axis.size)
        borders = [0, *(min(border, total) for border in self._borders), total]
        return list(zip(borders, borders[1:]))

    def _iterations(self, rank: int) -> Range:
        kept = [self.own(d.extra)[rank] for d in self._cut.results if d is not None] or [self.own(0)[rank]]
        full = [k for k in kept if k[0] < k[1]]
        begin = end = min(kept[0][0], self.total)
        if full:
            begin = min(max(0, min(k[0] for k in full) - self._cut.rule.before), self.total)
            end = max(begin, min(self.total, max(k[1] for k in full) + self._cut.rule.after))
        # A shard that is too short for the program becomes longer, and no result is kept of the rest.
        end = min(self.total, max(end, begin + self._cut.least))
        return max(0, min(begin, end - self._cut.least)), end

    def _check_parts(self, name: str) -> None:
        """What shards have beside their own would count twice in a part of a result."""
        own = self.own(0)
        for rank, iterations in enumerate(self.iterations):
            if any(self._cut.partials) and iterations != own[rank]:
                raise ArgumentError(f"{name}: rank {rank} of axis '{self._cut.axis.name}' has {own[rank][1] - own[rank][0]} elements of "
                                    f"'{self._cut.rule.length}', and the program needs at least {self._cut.least}")

    def moved(self, argument: int, what: str) -> Moved:
        divided = self._cut.arguments[argument]
        assert divided is not None
        wants = tuple((begin, max(begin, end + divided.extra)) for begin, end in self.iterations)
        return Moved(what, divided.dim, tuple(self._holds[argument]), wants)

    def kept(self, result: int) -> Tuple[int, int, int]:
        """Of a computed result this rank's part: the dimension, its begin there, and its length."""
        divided = self._cut.results[result]
        assert divided is not None
        begin, end = self.own(divided.extra)[self._cut.axis.rank]
        first = self.iterations[self._cut.axis.rank][0]
        return divided.dim, begin - first if begin < end else 0, end - begin


def layout_of_totals(name: str, cut: Cut, totals: Mapping[int, int]) -> Layout:
    """For arguments that are cut in equal parts, by the sizes of the whole."""
    return Layout(name, cut, {i: chunks(total, cut.axis.size) for i, total in totals.items()}, True)


def layout_of_sizes(name: str, cut: Cut, sizes: Mapping[int, List[int]]) -> Layout:
    """For shards of any sizes, by those of all ranks."""
    return Layout(name, cut, {i: ends(of_ranks) for i, of_ranks in sizes.items()}, False)


def names_of_axes(shard: Mapping[str, str]) -> Dict[str, List[str]]:
    """Lengths by axis."""
    found: Dict[str, List[str]] = {}
    for length, axis in shard.items():
        found.setdefault(axis, []).append(length)
    return found
