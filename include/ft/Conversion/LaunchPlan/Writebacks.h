//===- Writebacks.h - outputs in the memory of arguments --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_LAUNCHPLAN_WRITEBACKS_H
#define FT_CONVERSION_LAUNCHPLAN_WRITEBACKS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Runtime/Bundle/LaunchPlan.h"

namespace mlir::ft {

/// What the code of a graph leaves of an entry's `writeback`: an entry with code of several graphs has what all allow.
void restrictWritebacks(etdg::GraphOp graph, ::ft::rt::Entry &entry);

} // namespace mlir::ft

#endif // FT_CONVERSION_LAUNCHPLAN_WRITEBACKS_H
