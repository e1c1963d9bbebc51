# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python floats among the arguments of a script: a rate, a temperature, a step size.

A first call compiles them in. One that another call passes with another value becomes data of the call: where a float only takes part
in arithmetic, nothing is compiled again. Where it decides what is compiled, each value is a form of its own.
"""

from __future__ import annotations

from typing import Any, Dict, Tuple, Union

from ..ir import lengths
from ..problems import ScriptError
from ..runtime import arrays

#: An argument's position, or its name.
Place = Union[int, str]
#: A float that is data of each call; one of which each value is compiled in.
_DATA, _COMPILED_IN = object(), object()


class ChangingNumbers:
    """What is known of the floats that calls of one script have passed."""

    def __init__(self):
        #: By place: the value of all calls so far, or what has become of it.
        self._found: Dict[Place, Any] = {}

    def as_data(self, script, args: Tuple, kwargs: Dict[str, Any]) -> Tuple[Tuple, Dict[str, Any]]:
        """The arguments of a call, with arrays in the place of floats that are data."""
        floats = {place: value for items in (enumerate(args), kwargs.items()) for place, value in items if type(value) is float}
        if not floats or any(arrays.is_torch(x) and x.device.type != "cpu" for x in (*args, *kwargs.values())):
            return args, kwargs
        changed = set()
        for place, value in floats.items():
            before = self._found.setdefault(place, value)
            if before is not _DATA and before is not _COMPILED_IN and repr(before) != repr(value):
                changed.add(place)
        data = {place for place in floats if self._found[place] is _DATA} | changed
        if not data:
            return args, kwargs
        made = (
            tuple(arrays.NumberArgument.of(x) if at in data else x for at, x in enumerate(args)),
            {name: arrays.NumberArgument.of(x) if name in data else x for name, x in kwargs.items()},
        )
        if changed and not self._is_worth(script, made, (args, kwargs)):
            self._found.update((place, _COMPILED_IN) for place in changed)
            return self.as_data(script, args, kwargs)
        self._found.update((place, _DATA) for place in changed)
        return made

    def _is_worth(self, script, made, plain) -> bool:
        """Whether the program with numbers that are data is compiled, and as whole as the one for their values."""
        try:
            program = script._program(*made)
        except ScriptError:
            return False
        return lengths.outside(program) == (0, 0) or lengths.outside(program) <= lengths.outside(script._program(*plain))
