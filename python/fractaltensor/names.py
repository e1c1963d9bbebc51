# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Words of messages: names that are near a name that is not there, and numbers of things."""

from __future__ import annotations

import difflib
from typing import Iterable


def did_you_mean(name: str, known: Iterable[str], form: str = "'{}'") -> str:
    """``; did you mean 'scanl'?``, or nothing where no known name is near."""
    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f"; did you mean {form.format(near[0])}?" if near else ""


def public(kind: type) -> list:
    """The names of a class's methods and properties that users call."""
    return [name for name in dir(kind) if not name.startswith("_")]


def counted(number: int, thing: str, things: str = "") -> str:
    """``1 task``, ``2 tasks``."""
    return f"{number} {thing if number == 1 else things or thing + 's'}"
