# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names that are near a name that is not there."""

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
