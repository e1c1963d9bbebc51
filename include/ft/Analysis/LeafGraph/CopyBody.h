//===- CopyBody.h - a leaf's body as a function -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ANALYSIS_LEAFGRAPH_COPYBODY_H
#define FT_ANALYSIS_LEAFGRAPH_COPYBODY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft::leaf {

/// A function `leaf`, made where the builder stands, that computes what a leaf's body does: of its arguments, with what the terminator
/// yields as results.
func::FuncOp copyBody(Block &body, OpBuilder &builder, Location loc);

} // namespace mlir::ft::leaf

#endif // FT_ANALYSIS_LEAFGRAPH_COPYBODY_H
