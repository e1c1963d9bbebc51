# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where in the user's program something happens: file, line and column of each frame, and source text.

While a program is traced, each operation remembers the chain of calls that led to it, without the
frames of this package. Errors show the innermost line with a caret, then the chain. Columns need
Python 3.11; before it the whole line is shown.
"""

from __future__ import annotations

import itertools
import linecache
import os
import sys
import threading
from typing import List, NamedTuple, Sequence, Tuple

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_HAS_COLUMNS = sys.version_info >= (3, 11)

#: Frames above the first of one of these are not the program's.
_MAX_FRAMES = 32


class Frame(NamedTuple):
    """One place: columns count from 1, `end` is one past the last; both are 0 where unknown."""

    file: str
    line: int
    column: int
    end: int
    function: str
    end_line: int = 0


def _position(frame, instruction: int = -1, line: int = 0) -> Frame:
    code = frame.f_code
    instruction = frame.f_lasti if instruction < 0 else instruction
    line, column, end, end_line = line or frame.f_lineno or code.co_firstlineno, 0, 0, 0
    if _HAS_COLUMNS and instruction >= 0:
        found = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
        if found and found[0] is not None and found[2] is not None:
            line, end_line, column, end = found[0], found[1], found[2] + 1, found[3] + 1
            column, end = _characters(code.co_filename, line, column), _characters(code.co_filename, end_line, end)
    return Frame(code.co_filename, line, column, end, code.co_name, end_line or line)


def _characters(file: str, line: int, column: int) -> int:
    """Python counts bytes of UTF-8; a caret counts characters."""
    text = linecache.getline(file, line)
    if text.isascii():
        return column
    return len(text.encode()[: column - 1].decode(errors="replace")) + 1


class _Bases(threading.local):
    def __init__(self):
        self.frames: List[object] = []


#: Of each thread, one tracing after another: the frame where it began.
_bases = _Bases()


def is_ours(file: str) -> bool:
    return file.startswith(_PACKAGE)


def _is_of_torch(file: str) -> bool:
    """Whether a file is PyTorch's own, such as the one of the module that a program calls."""
    torch = getattr(sys.modules.get("torch"), "__file__", None)
    return torch is not None and file.startswith(os.path.dirname(torch) + os.sep)


def here() -> Tuple[Frame, ...]:
    """The user's frames, innermost first, up to where tracing began."""
    frame, frames = sys._getframe(1), []
    base = _bases.frames[-1] if _bases.frames else None
    while frame is not None and len(frames) < _MAX_FRAMES:
        if frame is base:
            break
        if not is_ours(frame.f_code.co_filename) and not _is_of_torch(frame.f_code.co_filename):
            frames.append(_position(frame))
            if base is None:
                break  # outside of a program the one line is enough
        frame = frame.f_back
    return tuple(frames)


def of_traceback(traceback) -> Tuple[Frame, ...]:
    """The user's frames of an exception that our code or the user's raised, innermost first."""
    frames = []
    while traceback is not None:
        if not is_ours(traceback.tb_frame.f_code.co_filename):
            frames.append(_position(traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno))
        traceback = traceback.tb_next
    return tuple(reversed(frames[-_MAX_FRAMES:]))


class tracing_from_here:
    """Frames outside the `with` are not part of the program that is traced within it."""

    def __enter__(self):
        _bases.frames.append(sys._getframe(1))

    def __exit__(self, *_):
        _bases.frames.pop()


def of_function(function) -> Tuple[Frame, ...]:
    """Where a function is defined: at its ``def``, below the decorators, where the source is at hand."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ()
    line = code.co_firstlineno
    for offset in range(64):
        text = linecache.getline(code.co_filename, line + offset)
        stripped = text.lstrip()
        if stripped.startswith(("def ", "async def ")) or "lambda" in stripped:
            indent = len(text) - len(stripped)
            return (Frame(code.co_filename, line + offset, indent + 1, 0, function.__name__),)
        if not text:
            break
    return (Frame(code.co_filename, line, 0, 0, function.__name__),)


def of_argument(function, name: str) -> Tuple[Frame, ...]:
    """Where the annotation of an argument stands."""
    import ast

    places = of_function(function)
    if not places:
        return ()
    first = function.__code__.co_firstlineno
    try:
        import inspect
        import textwrap

        source = inspect.getsource(function)
        indent = len(source) - len(source.lstrip())
        tree = ast.parse(textwrap.dedent(source))
    except (OSError, TypeError, SyntaxError):
        return places
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.arg == name:
            whole = node.annotation or node
            return (
                Frame(
                    function.__code__.co_filename,
                    first + whole.lineno - 1,
                    whole.col_offset + indent + 1,
                    whole.end_col_offset + indent + 1 if whole.end_lineno == whole.lineno else 0,
                    function.__name__,
                ),
            )
    return places


def place(frame: Frame) -> str:
    """``file:line:column``, with the file as a person would write it."""
    file = frame.file
    try:
        short = os.path.relpath(file)
        if not short.startswith(".." + os.sep) and len(short) < len(file):
            file = short
    except ValueError:
        pass
    return f"{file}:{frame.line}:{frame.column}" if frame.column else f"{file}:{frame.line}"


def snippet(frame: Frame) -> List[str]:
    """The line of source and, where columns are known, carets under the expression."""
    text = linecache.getline(frame.file, frame.line).rstrip("\n")
    if not text.strip():
        return []
    lines = ["    " + text.strip()]
    indent = len(text) - len(text.lstrip())
    if frame.column > indent:
        end = frame.end if frame.end > frame.column and frame.end_line in (0, frame.line) else len(text) + 1
        if frame.end == 0:
            end = frame.column + 1
        lines.append("    " + " " * (frame.column - 1 - indent) + "^" * max(1, end - frame.column))
    return lines


def render(reason: str, frames: Sequence[Frame], notes: Sequence = ()) -> str:
    """An error as a person reads it: place, message, source, then the chain of calls and the notes."""
    if frames:
        lines = [f"{place(frames[0])}: error: {reason}", *snippet(frames[0])]
        for frame in frames[1:]:
            lines += [f"{place(frame)}: note: called from here, in {frame.function}", *snippet(frame)]
    else:
        lines = [f"error: {reason}"]
    for message, where in notes:
        if where:
            lines += [f"{place(where[0])}: note: {message}", *snippet(where[0])]
        else:
            lines.append(f"note: {message}")
    # Where the shell shows only a traceback's last line, the message begins on it.
    return "\n".join(lines)
