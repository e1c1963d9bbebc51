# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program divided into compiled parts and what runs between them, and the code that calls them."""
