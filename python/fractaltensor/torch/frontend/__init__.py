# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From Python's source to operations: the evaluator walks a function's tree once."""
