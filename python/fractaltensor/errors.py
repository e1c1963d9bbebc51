# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions. Each has a message that says what was expected and found, and what to do about it.

All are subclasses of :class:`Error`; each is one of Python's own kinds, too, so that code which expects
a ``TypeError`` or a ``ValueError`` keeps working.
"""

from __future__ import annotations

from typing import Optional, Sequence


class Error(Exception):
    """Base of all errors of this package.

    Attributes:
      reason: the message without place and source text.
      frames: where it happened, the innermost first (:class:`fractaltensor.source.Frame`); may be empty.
      notes: further places, as (message, frames).
    """

    def __init__(self, reason: str, frames: Optional[Sequence] = None, notes: Sequence = ()):
        self.reason = reason
        self.frames = tuple(frames or ())
        self.notes = tuple(notes)
        super().__init__(reason)

    def __str__(self):
        if not self.frames and not self.notes:
            return self.reason
        from .source import render

        return render(self.reason, self.frames, self.notes)

    def at(self, frames, notes=()) -> "Error":
        """The same error with a place, unless it has one."""
        if not self.frames:
            self.frames = tuple(frames)
        self.notes += tuple(notes)
        return self


class TraceError(Error, TypeError):
    """A program does something that cannot be traced, such as an ``if`` on a traced value."""


class MissingError(TraceError, AttributeError):
    """A traced value has no attribute of a name."""


class ShapeError(Error, ValueError):
    """Shapes of elements do not fit each other."""


class DTypeError(Error, TypeError):
    """Element types do not fit each other."""


class LengthError(Error, ValueError):
    """Lengths of lists do not fit each other, or one cannot be read."""


class BoundsError(LengthError, IndexError):
    """An access may be out of bounds: the function must state a bound on the lengths."""


class ArgumentError(Error, TypeError):
    """An argument of a call has the wrong kind, depth, shape, element type, strides or device."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of a call has the right kind, but its lengths disagree with another's or with a bound."""


class CompileError(Error, RuntimeError):
    """The compiler refused a program; the message has its diagnostics."""


class CompileCancelled(CompileError):
    """A compile was interrupted."""


class InternalError(Error, RuntimeError):
    """Something that should not happen did. Please report it with the message."""


class NotBuiltError(Error, ImportError):
    """Something that this package needs is missing; the message says what and where it was looked for."""


class DeviceError(Error, RuntimeError):
    """A device is missing, failed, or reported an error of an earlier call."""


class OutOfMemoryError(DeviceError, MemoryError):
    """Memory ran out on the host or the device; the next call may work."""


class CacheError(Error, OSError):
    """The folder of compiled programs cannot be used."""


class BundleError(Error, ValueError):
    """A bundle (``.ftb``) is damaged, of another version, or lacks an entry."""


class GradientError(Error, RuntimeError):
    """A program has no derivative: the operation that has none is named, at its line."""
