# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Locks that a child of fork finds open.

A child has one thread. A lock that another thread of its parent held would stay locked in it for ever. The result that this thread was
about to make is not there in the child either, so the child makes it again.
"""

from __future__ import annotations

import os
import threading
import weakref


class ForkLock:
    """A lock that its holder may take again."""

    __slots__ = ("_lock", "__weakref__")

    def __init__(self):
        self._lock = threading.RLock()
        _all.add(self)

    def __enter__(self):
        self._lock.acquire()
        return self

    def __exit__(self, *_):
        try:
            self._lock.release()
        except RuntimeError:
            pass  # a fork came between: this is the child, and the lock is another one


_all: "weakref.WeakSet[ForkLock]" = weakref.WeakSet()


def _open_all() -> None:
    for lock in list(_all):
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_all)
