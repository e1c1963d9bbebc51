//===- KeepSums.h - sums that stay in registers through a loop --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_KEEPSUMS_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_KEEPSUMS_H

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

namespace mlir::ft::togpu {

/// One of the sums that a leaf's threads keep in registers (`loops.kept`), as tiles of a product.
struct KeptSum {
  loops::KeptAttr said;
  unsigned leader = 0;       // the product with whose tile it is computed
  int input = -1, output = -1; // buffers of the leaf's graph
  leaf::ElementView from, to;       // over the product's parallel loops
  Type type;                 // of its elements in registers
  int64_t tiles = 1;         // of all that is kept, row by row
  /// Of a leaf that is a chain of products, in the place of `leader`, `from` and `to`.
  std::optional<schedule::ChainPlace> chainFrom, chainTo;
  bool isHanded = false; // nothing is stored: all leaves that read it after the loop have it in registers, as such chains
};

using KeptSums = SmallVector<KeptSum, 0>;

/// What a leaf says of them. An error at it where something does not hold.
FailureOr<KeptSums> readKept(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, ArrayRef<loops::LaunchOp> launches, const Machine &machine);

/// The leaves in a loop's body that keep something through it.
SmallVector<loops::LeafOp> keepingLeaves(scf::ForOp loop);
/// Whether they store something after the loop.
bool storesBehind(scf::ForOp loop);

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_KEEPSUMS_H
