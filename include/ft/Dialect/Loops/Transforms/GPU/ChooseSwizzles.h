//===- ChooseSwizzles.h - memory whose pieces change places ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_CHOOSESWIZZLES_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_CHOOSESWIZZLES_H

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::ft::togpu {

/// Whether memory, or what a branch chooses, is said to be swizzled.
bool isSwizzled(Value memory);
/// The same of a view of a leaf.
bool isSwizzledView(Value view);

/// Accesses of shared memory that a warp's one access of fragments becomes: its eight rows begin at these bytes, and four lanes of
/// each have so many adjacent bytes.
int64_t countFragmentAccesses(ArrayRef<int64_t> rows, int64_t bytesOfLane, bool isSwizzled);

/// Finds the memory of a kernel in which fragments of products meet fewer banks twice when it is swizzled.
class SwizzleChooser {
public:
  SwizzleChooser(func::FuncOp kernel, const Machine &machine) : kernel(kernel), machine(machine), block(loops::gridOf(kernel).getBlock()) {}
  LogicalResult run();
  bool takes(loops::AllocOp alloc) const { return isBetter(alloc); }
  bool takes(loops::LeafOp leaf, unsigned value) const { return values.contains({leaf, value}); }
  bool takesAny() const;

private:
  /// What fragments take as memory is, and swizzled; none: it can't be.
  struct Gain {
    int64_t before = 0, after = 0;
    bool isPossible = true;
  };
  LogicalResult look(loops::LeafOp leaf);
  void look(loops::AllocOp alloc);
  void lookAtMemory(Value memory, Operation *alloc);
  void addChain(loops::LeafOp leaf, const leaf::LeafGraph &graph, const schedule::ChainPlan &plan);
  void addViews(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, const LeafNeeds &needs);
  void addTo(Value view, const Gain &gain);
  bool isBetter(Operation *alloc) const;

  func::FuncOp kernel;
  const Machine &machine;
  etdg::ThreadBlockAttr block;
  /// Memory that a branch chooses among is one or the other: all of it is swizzled, or none.
  llvm::EquivalenceClasses<Operation *> together;
  llvm::MapVector<Operation *, Gain> gains;
  llvm::DenseSet<std::pair<Operation *, unsigned>> values;
};

/// An error where memory that a branch chooses is swizzled in one way alone, or is read otherwise than by the accesses that know of it.
LogicalResult checkSwizzles(func::FuncOp kernel);

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_CHOOSESWIZZLES_H
