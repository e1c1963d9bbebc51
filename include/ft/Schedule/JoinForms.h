//===- JoinForms.h - two forms of a nest in one graph -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_JOINFORMS_H
#define FT_SCHEDULE_JOINFORMS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::ft::schedule {

/// Numbers the buffers of a graph while it lives, so that they are found again in copies.
class BufferNumbers {
public:
  explicit BufferNumbers(etdg::GraphOp graph);
  ~BufferNumbers();

private:
  etdg::GraphOp graph;
};

/// Puts `etdg.variants` in the place of an item: the item itself, and the items `other` that stand for it in `copy`, a copy of the
/// graph that was made while its buffers had numbers. Buffers that these leave each other come along. Of buffers that both use as
/// many planes live as either needs. False, with nothing done, where something that the others use is not found in the graph.
bool joinForms(etdg::GraphOp graph, Operation *item, etdg::GraphOp copy, ArrayRef<Operation *> other, etdg::GuardAttr guard,
               bool isItemFirst);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_JOINFORMS_H
