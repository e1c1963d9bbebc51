# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Made by python/generate_stubs.py.
import os
from typing import Any, Callable, Mapping, Optional, Sequence, Union, overload

from . import cache as cache
from . import functions as functions
from . import torch as torch
from .lists import ZippedLists
from .program import Generator
from .traversal import Lists, One, Several, State, Step
from .errors import ArgumentError as ArgumentError
from .errors import ArgumentValueError as ArgumentValueError
from .errors import BoundsError as BoundsError
from .bundles import Bundle as Bundle
from .errors import BundleError as BundleError
from .errors import CacheError as CacheError
from .errors import CompileCancelled as CompileCancelled
from .errors import CompileError as CompileError
from .types import DType as DType
from .errors import DTypeError as DTypeError
from .errors import DeviceError as DeviceError
from .compute import Emit as Emit
from .errors import Error as Error
from .errors import GradientError as GradientError
from .errors import InternalError as InternalError
from .jit import Jit as Jit
from .lengths import Length as Length
from .errors import LengthError as LengthError
from .lists import ListValue as _ListValue
from .errors import MissingError as MissingError
from .errors import NotBuiltError as NotBuiltError
from .errors import OutOfMemoryError as OutOfMemoryError
from .errors import ShapeError as ShapeError
from .tensors import Tensor as _Tensor
from .errors import TraceError as TraceError
from .functions import abs as abs
from .functions import absolute as absolute
from .functions import acos as acos
from .functions import add as add
from .functions import all as all
from .functions import amax as amax
from .functions import amin as amin
from .functions import arange as arange
from .functions import arccos as arccos
from .functions import arcsin as arcsin
from .functions import arctan as arctan
from .functions import arctan2 as arctan2
from .functions import argmax as argmax
from .functions import argmin as argmin
from .functions import array as array
from .functions import asarray as asarray
from .functions import asin as asin
from .functions import atan as atan
from .functions import atan2 as atan2
from .functions import bitwise_and as bitwise_and
from .functions import bitwise_not as bitwise_not
from .functions import bitwise_or as bitwise_or
from .functions import bitwise_xor as bitwise_xor
from .functions import bmm as bmm
from .functions import broadcast_to as broadcast_to
from .functions import cat as cat
from .functions import ceil as ceil
from .saving import checkpoint as checkpoint
from .functions import chunk as chunk
from .functions import clamp as clamp
from .functions import clip as clip
from .bundles import compile_text as compile_text
from .lists import concat as concat
from .functions import concatenate as concatenate
from .functions import const as const
from .functions import copysign as copysign
from .functions import cos as cos
from .functions import cosh as cosh
from .functions import cumsum as cumsum
from .lists import dim as dim
from .functions import div as div
from .functions import divide as divide
from .functions import dot as dot
from .functions import einsum as einsum
from .compute import emit as emit
from .functions import eq as eq
from .functions import equal as equal
from .functions import erf as erf
from .functions import exp as exp
from .functions import exp2 as exp2
from .functions import expand_dims as expand_dims
from .functions import expm1 as expm1
from .functions import eye as eye
from .functions import floor as floor
from .functions import floor_divide as floor_divide
from .functions import fmax as fmax
from .functions import fmin as fmin
from .functions import fmod as fmod
from .functions import full as full
from .functions import full_like as full_like
from .functions import ge as ge
from .functions import gelu as gelu
from .derivatives import grad as grad
from .functions import greater as greater
from .functions import greater_equal as greater_equal
from .functions import gt as gt
from .derivatives import hvp as hvp
from .program import index as index
from .functions import indices as indices
from .functions import invert as invert
from .lists import iota as iota
from .functions import isnan as isnan
from .derivatives import jvp as jvp
from .functions import layer_norm as layer_norm
from .functions import le as le
from .functions import leaky_relu as leaky_relu
from .functions import left_shift as left_shift
from .functions import less as less
from .functions import less_equal as less_equal
from .functions import linear as linear
from .bundles import load as load
from .functions import log as log
from .functions import log10 as log10
from .functions import log1p as log1p
from .functions import log2 as log2
from .functions import log_softmax as log_softmax
from .functions import logical_and as logical_and
from .functions import logical_not as logical_not
from .functions import logical_or as logical_or
from .functions import logsumexp as logsumexp
from .functions import lt as lt
from .compute import map_
from .functions import matmul as matmul
from .functions import max as max
from .functions import maximum as maximum
from .functions import mean as mean
from .functions import min as min
from .functions import minimum as minimum
from .functions import mm as mm
from .functions import mod as mod
from .functions import mul as mul
from .functions import multiply as multiply
from .functions import ne as ne
from .functions import neg as neg
from .functions import negative as negative
from .functions import norm as norm
from .program import normal as normal
from .functions import not_equal as not_equal
from .functions import ones as ones
from .functions import ones_like as ones_like
from .functions import outer as outer
from .functions import permute as permute
from .functions import permute_dims as permute_dims
from .functions import pow as pow
from .functions import power as power
from .functions import prod as prod
from .binding import ragged as ragged
from .functions import ravel as ravel
from .functions import reciprocal as reciprocal
from .functions import relu as relu
from .functions import remainder as remainder
from .lists import repeat as repeat
from .functions import reshape as reshape
from .functions import right_shift as right_shift
from .functions import rms_norm as rms_norm
from .functions import roll as roll
from .functions import round as round
from .functions import rsqrt as rsqrt
from .functions import sigmoid as sigmoid
from .functions import sign as sign
from .functions import silu as silu
from .functions import sin as sin
from .functions import sinh as sinh
from .functions import softmax as softmax
from .functions import softplus as softplus
from .functions import sqrt as sqrt
from .functions import square as square
from .functions import squeeze as squeeze
from .functions import stack as stack
from .functions import std as std
from .saving import stop_gradient as stop_gradient
from .functions import sub as sub
from .functions import subtract as subtract
from .functions import sum as sum
from .functions import swapaxes as swapaxes
from .functions import swish as swish
from .lengths import symbols as symbols
from .jit import synchronize as synchronize
from .functions import take as take
from .functions import tan as tan
from .functions import tanh as tanh
from .functions import tensor as tensor
from .functions import tile as tile
from .functions import to as to
from .functions import trace as trace
from .functions import transpose as transpose
from .functions import tril as tril
from .functions import triu as triu
from .functions import true_divide as true_divide
from .functions import trunc as trunc
from .program import uniform as uniform
from .functions import unsqueeze as unsqueeze
from .derivatives import value_and_grad as value_and_grad
from .functions import var as var
from .derivatives import vjp as vjp
from .functions import where as where
from .functions import zeros as zeros
from .functions import zeros_like as zeros_like
from .lists import zip_

if os.name == "":
    Tensor = Union[_Tensor, Any]
    ListValue = Union[_ListValue, Any]
    List: Any
    any: Any
    bf16: Any
    bool: Any
    f16: Any
    f32: Any
    f64: Any
    i16: Any
    i32: Any
    i64: Any
    i8: Any
else:
    Tensor = _Tensor  # type: ignore[misc]
    ListValue = _ListValue  # type: ignore[misc]
    List = _ListValue
    any = _Tensor
    bf16 = _Tensor
    bool = _Tensor
    f16 = _Tensor
    f32 = _Tensor
    f64 = _Tensor
    i16 = _Tensor
    i32 = _Tensor
    i64 = _Tensor
    i8 = _Tensor

_Traversed = Union[_ListValue, ZippedLists, Sequence[_ListValue]]

@overload
def fold(f: Step[State], lists: _Traversed, init: Any = ..., *, combine: Any = ..., identity: Any = ...) -> State: ...
@overload
def fold(f: Callable[..., Any], lists: _Traversed, init: Any = ..., *, combine: Any = ..., identity: Any = ...) -> Any:
    """``fold(f, xs, init)``: as :func:`reduce`."""
    ...
@overload
def foldl(f: Step[State], lists: _Traversed, init: Any = ...) -> State: ...
@overload
def foldl(f: Callable[..., Any], lists: _Traversed, init: Any = ...) -> Any:
    """``foldl(f, xs, init)``: from the left, in order; the last state."""
    ...
@overload
def foldr(f: Step[State], lists: _Traversed, init: Any = ...) -> State: ...
@overload
def foldr(f: Callable[..., Any], lists: _Traversed, init: Any = ...) -> Any:
    """``foldr(f, xs, init)``: from the right, in order; the last state."""
    ...

@overload
def jit(function: Callable[..., Any]) -> Jit: ...
@overload
def jit(*, bounds: Union[str, Sequence[str]] = ..., lengths: Optional[Mapping[str, int]] = ..., typical: Optional[Mapping[str, Any]] = ..., gen: Optional[Mapping[str, Generator]] = ..., engine: Optional[str] = ..., rounding: str = ..., mesh: Any = ..., shard: Optional[Mapping[str, str]] = ...) -> Callable[[Callable[..., Any]], Jit]: ...
map = map_
@overload
def reduce(f: Step[State], lists: _Traversed, init: Any = ..., *, combine: Any = ..., identity: Any = ...) -> State: ...
@overload
def reduce(f: Callable[..., Any], lists: _Traversed, init: Any = ..., *, combine: Any = ..., identity: Any = ...) -> Any:
    """``reduce(f, xs, init=None, combine=None, identity=None)``: combines all elements of a list, in any association."""
    ...
@overload
def scan(f: One, lists: _Traversed, init: Any = ..., *, combine: Any = ..., identity: Any = ...) -> _ListValue: ...
@overload
def scan(f: Several, lists: _Traversed, init: Any = ..., *, combine: Any = ..., identity: Any = ...) -> Lists: ...
@overload
def scan(f: Callable[..., Any], lists: _Traversed, init: Any = ..., *, combine: Any = ..., identity: Any = ...) -> Any:
    """``scan(f, xs, init)``: all states; the order of association is free."""
    ...
@overload
def scanl(f: One, lists: _Traversed, init: Any = ..., *, lag: Any = ...) -> _ListValue: ...
@overload
def scanl(f: Several, lists: _Traversed, init: Any = ..., *, lag: Any = ...) -> Lists: ...
@overload
def scanl(f: Callable[..., Any], lists: _Traversed, init: Any = ..., *, lag: Any = ...) -> Any:
    """``scanl(f, xs, init, lag=1)``: all states, from the left, in order; the state comes from `lag` before."""
    ...
@overload
def scanr(f: One, lists: _Traversed, init: Any = ..., *, lag: Any = ...) -> _ListValue: ...
@overload
def scanr(f: Several, lists: _Traversed, init: Any = ..., *, lag: Any = ...) -> Lists: ...
@overload
def scanr(f: Callable[..., Any], lists: _Traversed, init: Any = ..., *, lag: Any = ...) -> Any:
    """``scanr(f, xs, init, lag=1)``: all states, from the right, in order."""
    ...
zip = zip_

__version__: str
