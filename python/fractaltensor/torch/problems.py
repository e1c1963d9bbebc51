# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong with a program, with its place; all of a function's problems become one exception."""

from __future__ import annotations

import re
from typing import List, Mapping, Optional, Sequence

from .. import errors
from ..source import Frame, render


class ScriptError(errors.TraceError):
    """A function cannot be compiled as it is written. `problems` has all that was found, each with its place."""

    def __init__(self, problems: Sequence["Problem"]):
        self.problems = tuple(problems)
        super().__init__("\n".join(p.text() for p in problems))


class ScriptShapeError(ScriptError, errors.ShapeError):
    """Sizes of tensors do not fit each other."""


class ScriptTypeError(ScriptError, errors.DTypeError):
    """Element types do not fit each other."""


class RunError(errors.Error, RuntimeError):
    """A program that was compiled met data that it cannot take."""

    def of_dimensions(self, said: Optional[Mapping[int, int]]) -> "RunError":
        """The same error with dimensions as the program counts them: those that an index has taken away are counted, too."""
        if said:
            self.reason = re.sub(r"dimension (\d+)", lambda found: f"dimension {said.get(int(found[1]), int(found[1]))}", self.reason)
        return self


class RunIndexError(RunError, IndexError):
    """An index that is data is out of range. Arguments that are bound in place are undefined afterwards."""


class RunShapeError(RunError, ValueError):
    """A size that is data does not fit another one."""


_KINDS = {"shape": ScriptShapeError, "dtype": ScriptTypeError}


class Problem(Exception):
    """One thing that is wrong. `kind` is "shape", "dtype" or "" ; `frames` is where, the innermost first."""

    def __init__(self, message: str, kind: str = "", frames: Sequence[Frame] = (), notes: Sequence = ()):
        super().__init__(message)
        self.message, self.kind, self.frames, self.notes = message, kind, tuple(frames), tuple(notes)

    def text(self) -> str:
        return render(self.message, self.frames, self.notes)


class NeedsUnrolling(Exception):
    """A loop's body does what only separate iterations can do, such as `list.pop`; `problem` says what. `counter` is
    the counter of the loop that is meant, where it need not be the innermost one. `grows` is a list to which the loop appends.
    With `fills` the loop assigns the list's items."""

    grows, fills = None, False

    def __init__(self, problem: Problem, counter=None):
        super().__init__(problem.message)
        self.problem, self.counter = problem, counter


class NeedsFirst(Exception):
    """A name has another kind before a loop than in it, as `None` that becomes a tensor. The first iteration has to be peeled, so
    that the others begin with its values."""


class NeedsCopies(Exception):
    """A loop's body is wrong with a counter that is data; copies of the body may be right."""


#: What Python's own operators and functions raise, and what a program gets from them.
PYTHONS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RuntimeError, StopIteration)


def problem_of(error: BaseException, frames: Sequence[Frame]) -> Problem:
    """What Python says of a program, with its place."""
    return Problem(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, "", frames)


def in_words(reason: str) -> str:
    """A reason without the names that only compiled functions have: of what is returned, or chosen."""
    return re.sub(r"'\$\w+(\[[^']*\])?'", lambda found: f"item {found[1]} of it" if found[1] else "it", reason)


def error_of(problems: List[Problem]) -> ScriptError:
    """The exception for what was found; its class is that of the first problem."""
    return _KINDS.get(problems[0].kind, ScriptError)(problems)


def first_kind(problems: List[Problem]) -> Optional[str]:
    return problems[0].kind if problems else None
