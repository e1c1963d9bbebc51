# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is done once another package is imported, without importing it here."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from typing import Callable, Dict, List


class _Loader(importlib.abc.Loader):
    """A module's own loader; it runs the actions after the module."""

    def __init__(self, loader, actions: List[Callable[[], None]]):
        self._loader, self._actions = loader, actions

    def __getattr__(self, name: str):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        for action in self._actions:
            action()


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that actions wait for, as the other finders do."""

    def __init__(self):
        self.waiting: Dict[str, List[Callable[[], None]]] = {}

    def find_spec(self, name, path=None, target=None):
        actions = self.waiting.pop(name, None)
        if actions is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            self.waiting[name] = actions
            return None
        spec.loader = _Loader(spec.loader, actions)
        return spec


_finder = _Finder()


def after_import(name: str, action: Callable[[], None]) -> None:
    """Runs `action` once the module `name` is imported: now, where it is already. (None there stands for a module that must not be imported.)"""
    if sys.modules.get(name) is not None:
        action()
        return
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.waiting.setdefault(name, []).append(action)
