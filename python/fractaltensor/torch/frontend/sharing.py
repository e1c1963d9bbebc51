# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists and dictionaries where paths meet. A name may have one list on one path and another list on the other one; what the program then has is a
list of its own. Where one of the two has another name as well, a change would have to show there on one path alone: none of them may be changed.
"""

from __future__ import annotations

import collections
from typing import Any, Callable, Counter, Dict, Iterable, Iterator, List, Sequence, Set, Tuple

from .grown import Moved, swapped
from .objects import BoundMethod, LocalFunction, Partial
from .values import SHARED, Generated, NamedResult, PyDict, PyList


def containers(value, around: Tuple = ()) -> Iterator:
    """The lists and dictionaries in a value, each as often as it is there."""
    if not isinstance(value, (PyList, PyDict, tuple)) or isinstance(value, Moved) or any(value is x for x in around):
        return
    if not isinstance(value, tuple):
        yield value
    for item in value.values() if isinstance(value, PyDict) else value:
        yield from containers(item, (*around, value))


def named_twice(values: Iterable, others: Iterable) -> Dict[int, Any]:
    """Those in `values` that are there more than once, or in `others`."""
    own = [c for value in values for c in containers(value)]
    if not own:
        return {}
    counts: Counter[int] = collections.Counter(id(c) for c in own)
    counts.update(id(c) for value in others for c in containers(value))
    return {id(c): c for c in own if counts[id(c)] > 1}


def _held_by(value, frames) -> List:
    """What functions and iterators of the program have that are no names of `frames`."""
    if isinstance(value, LocalFunction):
        elsewhere = [] if value.frame in frames else list(value.frame.env.values())
        return [*value.defaults, *value.keyword_defaults.values(), *elsewhere, *(x for scope in value.scopes for x in scope.values())]
    if isinstance(value, Partial):
        return [*value.args, *value.kwargs.values(), *_held_by(value.function, frames)]
    if isinstance(value, BoundMethod):
        return [value.owner]
    return [tuple(value)] if isinstance(value, Generated) else []


class Sharing:
    """Part of the evaluator."""

    def outer_names(self) -> List[Dict]:
        """The names of functions that are being walked through around this one, and what comprehensions hide."""
        frames = [frame.env for frame in self.frames[:-1]]
        return [*frames, *(names for frame in self.frames for scope in frame.scopes for names in (scope, scope.hidden))]

    def shared(self, sides: Sequence[Dict], names: Set[str], stays: Callable[[str], bool]) -> Dict[int, Any]:
        """What differs between paths by these names, and has another name that stays."""
        found: Dict[int, Any] = {}
        for env in sides:
            own = [env[name] for name in names if name in env]
            if any(True for value in own for _ in containers(value)):
                others = [value for name, value in env.items() if name not in names and stays(name)]
                found.update(named_twice(own, [*others, *(value for outer in self.outer_names() for value in outer.values())]))
        return found

    def own_version(self, owner):
        """For the path that is walked through, a copy of a list or a dictionary that was made before a condition or a loop. Its name has the copy
        from here on, and paths meet with what each has. None where something else has it as well."""
        frames = [self.frame]
        for inner, outer in zip(reversed(self.frames), reversed(self.frames[:-1])):
            if inner.block is not self.b.block:
                break
            frames.append(outer)
        own = [value for frame in frames for value in frame.env.values()]
        if any(sum(c is owner for value in frame.env.values() for c in containers(value)) > 1 for frame in frames):
            return None  # (Where paths meet, two names get two lists.)
        others = [value for frame in self.frames if frame not in frames for value in frame.env.values()]
        others += [value for frame in self.frames for scope in frame.scopes for names in (scope, scope.hidden) for value in names.values()]
        others += [value for function in own for value in _held_by(function, self.frames)]
        if self.in_condition or any(c is owner for value in others for c in containers(value)):
            return None
        if not any(c is owner for value in own for c in containers(value)):
            return None
        made: Dict[int, Any] = {}
        for frame in frames:
            frame.env.update({name: self._again(value, owner, made) for name, value in frame.env.items()})
        for before, _ in made.values():
            if isinstance(before, PyList):
                before.has_versions = True
        return made[id(owner)][1]

    def _again(self, value, owner, made: Dict[int, Any]):
        """A value with a copy of `owner` in its place, and copies of all that has it. `made` keeps both of each."""
        if id(value) in made:
            return made[id(value)][1]
        if not any(c is owner for c in containers(value)):
            return value
        if isinstance(value, PyDict):
            again: Any = PyDict({key: self._again(x, owner, made) for key, x in value.items()}, self.b.block)
        elif isinstance(value, PyList):
            again = PyList([self._again(x, owner, made) for x in value], self.b.block)
        else:
            items = [self._again(x, owner, made) for x in value]
            again = NamedResult(items, value.names, value.kind) if isinstance(value, NamedResult) else tuple(items)
        made[id(value)] = value, again
        return again

    def freeze(self, env: Dict, objects: Dict[int, Any]) -> None:
        """Other names of what is shared have it as it is now."""
        for made in objects.values():
            frozen, seen = type(made)(made, SHARED), set()
            for names in (env, *self.outer_names()):
                names.update({name: swapped(value, made, frozen, seen) for name, value in names.items()})
