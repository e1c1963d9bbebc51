//===- OnlineRewrite.h - put a merged reduction into the graph --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEREWRITE_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEREWRITE_H

#include "OnlinePlan.h"

namespace mlir::etdg::online {

struct RewriteResult {
  BlockOp merged;
  unsigned numBlocks = 0;   // that it replaces
  unsigned numStates = 0;   // it carries
  unsigned numErased = 0;   // buffers that are gone
  unsigned numRepeated = 0; // blocks that stay, too, for other readers
  bool hasCombine = false;
  StringRef whyOrdered; // where it has no `combine`, and so keeps its order
};

/// Replaces the plan's members by one block, and corrects what reads their last states.
RewriteResult applyPlan(OnlineGroup &group, const OnlinePlan &plan, const GraphAccesses &accesses);

} // namespace mlir::etdg::online

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEREWRITE_H
