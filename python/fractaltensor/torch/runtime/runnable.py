# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of a program that has been compiled: arguments are checked and bound, the runner goes through it, results take their structure."""

from __future__ import annotations

import collections
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import numpy as np

from ...errors import ArgumentError, ArgumentValueError, Error, OutOfMemoryError
from ...jit import _calls
from . import arrays
from ..frontend.attributes import of_torch
from ..ir.builder import NOTHING
from ..ir.lengths import Dims
from ..problems import RunError, RunIndexError
from ..frontend.rebound import Rebound
from .running import Counts, Runner
from ..frontend.values import Complex, ListOfRows, NamedResult, Size


class Leaf:
    """A place in the result: a tensor or number that is computed, or an argument that is returned itself."""

    def __init__(self, kind: str, at: int, dtype=None):
        self.kind, self.at, self.dtype = kind, at, dtype


#: No dimension: an argument itself.
WHOLE = -1

#: No length is greater.
MOST = 1 << 62


def _named(like: NamedResult, items):
    return (like.kind or collections.namedtuple("Result", like.names))(*items)


def _item_at(like, rows: Sequence, at: int):
    """Item `at` of a list: `like` has the numbers of its parts among `rows`."""
    if isinstance(like, int):
        row = rows[like]
        return row[at] if isinstance(row, list) else row[at, ...]
    items = [_item_at(x, rows, at) for x in like]
    return _named(like, items) if isinstance(like, NamedResult) else tuple(items)


class Done:
    """What a call gave: the results of the program, the arguments (those from outside of the function last), and what it cost."""

    def __init__(self, values: List, originals: List, torch_like: bool, counts: Counts, copied_bytes: int, is_checked: bool):
        self.values, self.originals, self.torch_like, self.counts, self.copied_bytes = values, originals, torch_like, counts, copied_bytes
        #: Whether what was noticed while it ran has been looked at.
        self.is_checked = is_checked
        #: Results that have been made.
        self.made: Dict[Leaf, Any] = {}


class Runnable:
    """A program as calls see it. Those who make one set what stands here.

    Arguments are counted as they come, tensors from outside of the function (`captured`) last; `root_names` are how errors call them.
    `lengths` says of each name in `length_names` of which argument's dimension it is the size. `sources` has what the runner takes, in
    its order: (argument, WHOLE), or (argument, dimension) for a size.
    """

    root_names: List[str]
    captured: List
    written: List[int]
    dims: Dims
    lengths: List[Tuple[int, int]]
    length_names: Mapping[str, Any]
    #: The least and the greatest number that a length may be, where the program was made for such ones alone.
    bounds: Mapping[str, Tuple[int, int]]
    sources: List[Tuple[int, int]]
    engine: Any
    runner: Runner
    structure: Any
    #: Attributes that a call binds again, with the structure of what they get.
    rebound: List[Tuple[Rebound, Any]]
    sites: List[Tuple[str, Tuple]]
    site_values: List

    # -- running ------------------------------------------------------------------------------------------------------

    def run(self, given: List, device: str, in_place: bool, torch_like: bool) -> Done:
        """Runs on arrays, each once and in order; `device` is where they must be."""
        originals = [*given, *(c.getter() for c in self.captured)]
        place = self.engine.memory
        _calls.look()
        for captured, leaf in zip(self.captured, originals[len(given) :]):
            arrays.check(leaf, captured.name, device)
        memory = [place.adopt(x) for x in originals]
        self._check_writes(originals, memory)
        copied = 0
        inputs = []
        for at, array in enumerate(memory):
            # A copy of what is not dense, or must not change if the call fails.
            keeps = place.is_dense(array) and (in_place or at not in self.written)
            copied += 0 if keeps else array.nbytes
            inputs.append(array if keeps else place.copy(array))
        found = self._run_on(inputs, in_place)
        # A device is waited for: what has gone wrong must be known before anything is written back.
        is_checked = not in_place and bool(self.written and self.sites)
        if is_checked:
            self._look([int(place.number(n, None)) for n in found[len(found) - len(self.sites) :]])
        for at in self.written:
            if inputs[at] is not memory[at]:
                place.write(memory[at], inputs[at])
        return Done(found, originals, torch_like or any(map(arrays.is_torch, originals)), self.runner.counts, copied, is_checked)

    def _run_on(self, inputs: List, in_place: bool) -> List:
        try:
            return self.runner.run(self._bound(inputs))
        except Error as error:
            raise error.at((), self._undefined(in_place))
        except MemoryError as error:
            what = f"memory ran out{f': {error}' if str(error) else ''}; free memory and call again"
            # Memory for a part's results is taken before it is called.
            is_late = len(self.runner.division.plan) > 1
            raise OutOfMemoryError(what, self.runner.place_of(error), self._undefined(in_place) if is_late else ()) from None

    def _undefined(self, in_place: bool) -> List[Tuple[str, Tuple]]:
        """A note on what a call that fails late may have written."""
        names = [f"'{self.root_names[at]}'" for at in self.written] if in_place else []
        if not names:
            return []
        return [(f"what the call writes is undefined now: {', '.join(names)}; in_place=False keeps what was there", ())]

    def _bound(self, inputs) -> List[Any]:
        self._check_lengths(inputs)
        return [inputs[root] if d == WHOLE else inputs[root].shape[d] for root, d in self.sources]

    def _check_lengths(self, inputs) -> None:
        for name, (root, d) in zip(self.length_names, self.lengths):
            least, most = self.bounds.get(name, (0, None))
            size = inputs[root].shape[d]
            if size < least or most is not None and size > most:
                expected = f"from {least} on" if most is None or most >= MOST else f"{least} to {most}"
                raise ArgumentValueError(f"dimension {d} of '{self.root_names[root]}' has size {size}, the program was exported for sizes {expected}")
        for name, sizes in self.dims.items():
            if name not in self.root_names:
                continue
            array = inputs[self.root_names.index(name)]
            for d, length in enumerate(sizes):
                if length:
                    root, first = self.lengths[list(self.length_names).index(length)]
                    if array.shape[d] != inputs[root].shape[first]:
                        raise ArgumentError(
                            f"dimension {d} of '{name}' has size {array.shape[d]}, '{length}' is {inputs[root].shape[first]} in '{self.root_names[root]}'"
                        )

    def _check_writes(self, originals, memory) -> None:
        """What is refused before the first write."""
        if not self.written:
            return
        names, place = self.root_names, self.engine.memory
        extents = [place.extent(array) for array in memory]
        for at in self.written:
            if place.is_read_only(memory[at]) or isinstance(originals[at], np.ndarray) and not originals[at].flags.writeable:
                raise ArgumentError(f"argument '{names[at]}' is written, and it is read-only")
            if place.repeats(memory[at]):
                raise ArgumentError(f"argument '{names[at]}' is written, and several of its elements are one and the same (expand): clone it first")
            own = extents[at]
            for other, array in enumerate(memory):
                beside = extents[other]
                if other == at or own is None or beside is None or own[1] <= beside[0] or beside[1] <= own[0]:
                    continue
                if place.overlap(memory[at], array):
                    raise ArgumentError(f"arguments '{names[at]}' and '{names[other]}' overlap, and '{names[at]}' is written: clone one of them")

    # -- results ------------------------------------------------------------------------------------------------------

    def check(self, done: Done) -> None:
        """Fails with what was noticed while the program ran."""
        if self.sites and not done.is_checked:
            self.engine.memory.when_known(done.values[len(done.values) - len(self.sites) :], self._look_late)

    def _look_at(self, values: Sequence, numbers: Sequence[int]) -> None:
        by_value = dict(zip(values, numbers))
        self._look([by_value.get(v, NOTHING) for v in self.site_values])

    def _look_late(self, numbers: Sequence[int]) -> None:
        try:
            self._look(numbers)
        except Error as error:
            raise error.at((), self._undefined(True))

    def _look(self, numbers: Sequence[int]) -> None:
        for (message, frames), number in zip(self.sites, numbers):
            if number != NOTHING:
                kind = RunIndexError if "index" in message else RunError
                raise kind(message.format(number), frames)

    def result(self, done: Done):
        """The results in the function's structure; attributes that the function binds again are bound."""
        for bound, structure in self.rebound:
            bound.bind(self._result_of(structure, done))
        return self._result_of(self.structure, done)

    def _result_of(self, structure, done: Done):
        again = lambda s: self._result_of(s, done)  # noqa: E731
        if isinstance(structure, Leaf):
            # (One tensor is one object, wherever it stands.)
            if structure not in done.made:
                done.made[structure] = self._leaf(structure, done)
            return done.made[structure]
        if isinstance(structure, Complex):
            return arrays.joined([again(s) for s in structure.parts], done.torch_like)
        if isinstance(structure, NamedResult):
            return _named(structure, map(again, structure))
        if isinstance(structure, ListOfRows):
            rows = [column.tolist() if number else column for column, number in zip(map(again, structure.columns), structure.are_numbers)]
            items = [_item_at(structure.like, rows, i) for i in range(len(rows[0]))]
            return [*items, *map(again, structure.tail)]
        if isinstance(structure, tuple):
            kind = of_torch("Size") if isinstance(structure, Size) and done.torch_like else None
            return (kind or tuple)([again(s) for s in structure])
        if isinstance(structure, list):
            return [again(s) for s in structure]
        if isinstance(structure, dict):
            return {k: again(s) for k, s in structure.items()}
        return structure

    def _leaf(self, leaf: Leaf, done: Done):
        if leaf.kind == "argument":
            return done.originals[leaf.at]
        if leaf.kind == "number":
            return self.engine.memory.number(done.values[leaf.at], None)
        return self.engine.memory.result(done.values[leaf.at], leaf.dtype, done.torch_like)
