//===- JoinForms.h - forms of a nest in one graph ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_APPLY_JOINFORMS_H
#define FT_SCHEDULE_APPLY_JOINFORMS_H

#include "ft/Schedule/Analysis/FormGuards.h"

namespace mlir::ft::schedule {

/// Numbers the buffers of a graph while it lives, so that they are found again in copies.
class BufferNumbers {
public:
  explicit BufferNumbers(etdg::GraphOp graph);
  ~BufferNumbers();

private:
  etdg::GraphOp graph;
};

/// What stands for an item in a copy of its graph, which was made while the graph's buffers had numbers.
struct FormInCopy {
  etdg::GraphOp graph;
  SmallVector<Operation *> items;
};

/// Puts `etdg.variants` in the place of an item, as `choice` says: form 0 is the item itself, others are `forms`, in their order.
/// Buffers that these leave each other come along. Of buffers that several use as many planes live as any needs. False, with
/// nothing done, where something that the others use is not found in the graph.
bool joinForms(etdg::GraphOp graph, Operation *item, ArrayRef<FormInCopy> forms, const FormChoice &choice);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_APPLY_JOINFORMS_H
