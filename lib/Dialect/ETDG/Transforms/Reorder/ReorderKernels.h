//===- ReorderKernels.h - nests that share a wavefront ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consecutive nests of a body whose sequential loops run as one: iteration t of
// the shared loop runs step t − offset of each.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERKERNELS_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERKERNELS_H

#include "ReorderSchedule.h"

namespace mlir::etdg::reorder {

struct GroupMember {
  Nest *nest;
  Order order;
  int64_t offset;
};

/// Nests that run as one loop over their first transformed dimension.
struct KernelGroup {
  SmallVector<GroupMember> members;
  /// One after the other, and together; null where they are no expressions.
  ft::LengthAttr stepsBefore, stepsAfter;
  int64_t typicalBefore = 0, typicalAfter = 0;
};

/// Why two nests stay apart.
struct GroupRefusal {
  Nest *before, *after;
  std::string reason;
  std::optional<Dependence> culprit;
};

/// The groups of one body. `nests` are its nests and lone blocks in textual
/// order, null for one that nothing may touch; no kernels stand among them.
SmallVector<KernelGroup, 0> findGroups(ArrayRef<Nest *> nests, DependenceAnalysis &analysis,
                                 const TypicalLengths &lengths, SmallVectorImpl<GroupRefusal> &refusals);

/// Puts the members into a kernel with one shared loop; buffers and nests that
/// stand between them move before it.
KernelOp formKernel(const KernelGroup &group);

} // namespace mlir::etdg::reorder

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_REORDERKERNELS_H
