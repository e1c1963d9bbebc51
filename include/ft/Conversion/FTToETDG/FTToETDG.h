//===- FTToETDG.h - nested lists to the task dependence graph ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_FTTOETDG_FTTOETDG_H
#define FT_CONVERSION_FTTOETDG_FTTOETDG_H

#include "mlir/Pass/Pass.h"

namespace mlir::ft {
#define GEN_PASS_DECL_CONVERTFTTOETDG
#include "ft/Conversion/Passes.h.inc"
/// An attribute of a graph: the names that stand for a product of two of the program's
/// lengths (docs/etdg.md), `{N_M = ["N", "M"]}`; a factor may be such a name itself, or a
/// constant. Or for how many pieces a list is cut into, `{L_cut = ["L", #ft.len<C>, "floordiv"]}`. Who calls the graph with the program's lengths gives these their values.
inline constexpr llvm::StringLiteral mergedLengthsName = "etdg.merged";
} // namespace mlir::ft

#endif // FT_CONVERSION_FTTOETDG_FTTOETDG_H
