# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with ragged lists."""

from __future__ import annotations

from .errors import ArgumentError


def call_ragged(jit, values, statics, engine, out):
    raise ArgumentError(f"{jit.__name__}: ragged lists cannot be called from Python yet")
