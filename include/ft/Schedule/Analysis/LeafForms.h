//===- LeafForms.h - each leaf as loop nests once ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions of a nest, orders of an item and copies of a graph have the same leaves
// again and again. Their loop nests depend on the body alone, and are found once.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_ANALYSIS_LEAFFORMS_H
#define FT_SCHEDULE_ANALYSIS_LEAFFORMS_H

#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"

#include <memory>
#include <vector>

namespace mlir::ft::schedule {

class LeafForms {
public:
  /// The form of a leaf as `buildLeafForm` makes it of a block without strides; null where it can't. It is the leaf's own until the
  /// next one is asked for: leaves with equal bodies share it.
  LeafForm *get(BlockOp leaf, ArrayRef<bool> batched);
  /// How many bodies were different.
  size_t size() const { return known.size(); }

private:
  struct Known {
    llvm::hash_code hash;
    std::unique_ptr<Region> body; // a copy: leaves come and go
    SmallVector<bool> batched;
    std::unique_ptr<LeafForm> form; // null: there is none
  };
  Known *find(BlockOp leaf, ArrayRef<bool> batched, llvm::hash_code hash);

  std::vector<Known> known;
};

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_ANALYSIS_LEAFFORMS_H
