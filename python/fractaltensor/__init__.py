# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FractalTensor: programs over nested lists of tensors, compiled.

::

    import fractaltensor as ft

    N, D, L, H = ft.symbols("N, D, L, H")

    @ft.jit
    def stacked_rnn(xss: ft.List[N, L, ft.f32[1, H]], ws: ft.List[D, ft.f32[H, H]]) -> ft.List[N, D, L, ft.f32[1, H]]:
        return xss.map(lambda xs: ws.scanl(lambda seq, w: seq.scanl(lambda h, x: x @ w + h, ft.zeros(1, H)), xs))

    y = stacked_rnn(x, w)

`x` and `w` are arrays of NumPy, PyTorch, JAX, CuPy or anything with DLPack; the result is of the same kind.
"""

from . import cache, functions
from . import docstrings as _docstrings
from .binding import ragged
from .bundles import Bundle, compile_text, load
from .compute import Emit, emit, fold, foldl, foldr, reduce, scan, scanl, scanr
from .compute import map_ as map  # noqa: A004
from .derivatives import grad, hvp, jvp, value_and_grad, vjp
from .errors import (
    ArgumentError, ArgumentValueError, BoundsError, BundleError, CacheError, CompileCancelled, CompileError, DeviceError,
    DTypeError, Error, GradientError, InternalError, LengthError, MissingError, NotBuiltError, OutOfMemoryError, ShapeError, TraceError,
)
from .functions import *  # noqa: F403 - all functions of elements
from .imports import after_import as _after_import
from .jit import Jit, jit, synchronize
from .lengths import Length, symbols
from .lists import ListValue, concat, dim, iota, repeat
from .lists import zip_ as zip  # noqa: A004
from .program import index, normal, uniform
from .saving import checkpoint, stop_gradient
from .tensors import Tensor
from .types import DType, List, bf16, f16, f32, f64, i8, i16, i32, i64
from .types import any_ as any  # noqa: A004
from .types import bool_ as bool  # noqa: A004

__version__ = "0.1.0"

_docstrings.complete([emit, fold, foldl, foldr, reduce, scan, scanl, scanr, map, ragged, concat, dim, iota, repeat, zip])


def _define_operators() -> None:
    # Graphs that PyTorch loads name them.
    from . import torch_support  # noqa: F401


_after_import("torch", _define_operators)

_BUILTIN = frozenset(dir(__import__("builtins")))
_MODULES = ("cache", "functions")
_PUBLIC = sorted(
    name for name, value in globals().items()
    if not name.startswith("_") and name != "annotations" and (name in _MODULES or not isinstance(value, type(_docstrings)))
)
#: What `from fractaltensor import *` takes; names of Python's own builtins stay Python's.
__all__ = [name for name in _PUBLIC if name not in _BUILTIN]


def __dir__():
    return sorted([*_PUBLIC, "torch", "from_torchscript", "__all__", "__doc__", "__version__"])


def __getattr__(name: str):
    # Needs NumPy, which the rest of the package does not.
    if name == "torch":
        import importlib

        return importlib.import_module(".torch", __name__)
    if name == "from_torchscript":
        from .torch.torchscript import from_torchscript

        return from_torchscript
    from .types import _ALIASES

    # Python itself names what is spelt nearly the same.
    hint = f"; its name here is ft.{_ALIASES[name]}" if name in _ALIASES else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
