//===- CountWork.h - how much a program computes ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_TOOLS_COUNTWORK_H
#define FT_TOOLS_COUNTWORK_H

#include "ft/Analysis/GraphSummary.h"

namespace mlir::ft::tools {

/// Floating-point operations of the products of a graph at these lengths: two for each multiplication and addition, of each
/// iteration of each leaf. None where a domain takes too long to count.
std::optional<double> countFlops(etdg::GraphOp graph, const etdg::LengthValues &lengths);

} // namespace mlir::ft::tools

#endif // FT_TOOLS_COUNTWORK_H
