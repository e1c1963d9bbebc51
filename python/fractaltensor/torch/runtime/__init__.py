# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Engines, memory and library steps by which a plan runs."""
