# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations, types and sizes of a program, and what is proved of them."""
