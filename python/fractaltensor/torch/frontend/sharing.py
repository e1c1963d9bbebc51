# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists and dictionaries where paths meet. A name may have one list on one path and another list on the other one; what the program then has is a
list of its own. Where one of the two has another name as well, a change would have to show there on one path alone: none of them may be changed.
"""

from __future__ import annotations

import collections
from typing import Any, Callable, Counter, Dict, Iterable, Iterator, List, Sequence, Set, Tuple

from .grown import Moved, swapped
from .values import SHARED, PyDict, PyList


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

    def freeze(self, env: Dict, objects: Dict[int, Any]) -> None:
        """Other names of what is shared have it as it is now."""
        for made in objects.values():
            frozen, seen = type(made)(made, SHARED), set()
            for names in (env, *self.outer_names()):
                names.update({name: swapped(value, made, frozen, seen) for name, value in names.items()})
