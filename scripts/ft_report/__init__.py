# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report on programs: collect (run the tools), layout and draw (the graph), page (one file of HTML)."""
