# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions over tensors in the way of PyTorch, with views and mutation, compiled.

::

    from fractaltensor.torch import script

    f = script(function)          # compiled from its source at the first call
    y = f(x)                      # tensors of PyTorch, or arrays of NumPy

PyTorch need not be installed: without it, this module has the operators by name for use inside of compiled functions.
"""

from .ir import dtypes as _dtypes
from .export_programs import from_exported
from .exported import Exported, StoredScript, load
from .runtime.library import register as register_step
from .problems import RunError, RunIndexError, RunShapeError, ScriptError, ScriptShapeError, ScriptTypeError
from .script import Script, script
from .torchscript import from_torchscript

__all__ = [
    "Exported", "RunError", "RunIndexError", "RunShapeError", "Script", "ScriptError", "ScriptShapeError", "ScriptTypeError", "StoredScript", "from_exported",
    "from_torchscript", "load", "register_step", "script",
]


class _Stub:
    """An operator outside of a compiled function."""

    def __init__(self, name: str):
        self.__name__ = name
        self.__module__ = "fractaltensor.torch"

    def __call__(self, *args, **kwargs):
        raise ScriptErrorOutside(f"fractaltensor.torch.{self.__name__} has a meaning in compiled functions only: call PyTorch's or NumPy's")


class ScriptErrorOutside(TypeError):
    """An operator of this module was called by Python."""


def __getattr__(name: str):
    if name in _dtypes.ALIASES:
        return _dtypes.ALIASES[name]
    from .frontend.objects import path_of

    if path_of(name) is not None:
        return _Stub(name)
    raise AttributeError(f"module 'fractaltensor.torch' has no attribute {name!r}")
