//===- HostCounts.h - what of loops the host can count ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of level grid that stand in each other, and their iterations and tasks as expressions of a call's lengths, where these are
// all that they depend on. `loops-choose-tasks` asks it to decide, the walk over the loops to say the same to the host.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_HOSTCOUNTS_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_HOSTCOUNTS_H

#include "ft/Dialect/Loops/IR/LoopBounds.h"
#include "ft/Runtime/Bundle/LaunchPlan.h"

namespace mlir::ft::togpu {

using HostExpr = ::ft::rt::Expr;

using loops::bodyOf;
using loops::lowerOf;
using loops::upperOf;

/// Loops of level grid that are dealt as one: those on which ranges of others depend, which all thread blocks walk; the others.
struct DealtLoops {
  SmallVector<Operation *> outer, flat;
};
/// Those in a loop that stands in no other of its level; an error where thread blocks can't deal them.
FailureOr<DealtLoops> readDealt(Operation *outermost);

/// A kernel's values in the host's words, where it is launched so.
class HostCounts {
public:
  HostCounts(func::FuncOp kernel, loops::LaunchOp launch);

  /// Nothing where the host does not know the value.
  std::optional<HostExpr> valueOf(Value value) const;
  std::optional<HostExpr> valueOf(OpFoldResult value) const;
  /// The iterations of a loop.
  std::optional<HostExpr> iterationsOf(Operation *loop) const;
  /// The tasks of several loops together: none are known where the thread blocks say how long chunks are, or the host is still to.
  std::optional<HostExpr> tasksOf(ArrayRef<Operation *> loops) const;

private:
  Block *entry;             // of the kernel
  SmallVector<Value> given; // its arguments, at the launch
  ArrayAttr names;          // of lengths, the variables of expressions
};

/// Rows of a task where the host leaves so many tasks for rows and what stands beside them; where there are more rows than that, enough
/// of them in a task that its leaves compute them by tiles (NestTiles.cpp), and never more than `most`.
HostExpr cutRows(HostExpr rows, HostExpr others, loops::ChunkLengthAttr length, int64_t most);

/// Whether thread blocks of a kernel wait for each other.
bool hasWaits(func::FuncOp kernel);

/// Whether the host knows how many tasks there are.
bool countsTasks(const DealtLoops &dealt, const HostCounts &counts);

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_HOSTCOUNTS_H
