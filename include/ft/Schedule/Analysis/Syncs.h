//===- Syncs.h - what units have not waited for yet -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Units (cores, thread blocks) share the iterations of dealt loops. Between two nests of one kernel they wait where the
// schedule says `before`, after steps where it says `sync`. Here stands where they have to, by whole buffers. For nests
// that share loops and wait after each iteration of these, what two of them touch in one iteration counts. The validator asks
// the same of single elements.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_ANALYSIS_SYNCS_H
#define FT_SCHEDULE_ANALYSIS_SYNCS_H

#include "ft/Schedule/CPU/Plan.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::ft::schedule {

/// Buffers that a nest reads (those that it writes are among them) and writes.
void collectAccesses(ArrayRef<BlockOp> nest, llvm::DenseSet<Value> &reads, llvm::DenseSet<Value> &writes);

/// Buffers that nests have touched since all units waited, each with a leaf that does.
class PendingAccesses {
public:
  PendingAccesses() = default;
  /// Of nests that share their first `shared` loops, where all units wait after an iteration of them.
  explicit PendingAccesses(unsigned shared) : shared(shared) {}

  bool meets(ArrayRef<BlockOp> nest) const { return bool(findMeeting(nest)); }
  /// A leaf that writes what the nest touches, or touches what the nest writes.
  BlockOp findMeeting(ArrayRef<BlockOp> nest) const;
  void add(ArrayRef<BlockOp> nest);
  void clear();
  bool empty() const { return reads.empty() && writes.empty(); }
  /// Any leaf of those that are pending.
  BlockOp getAny() const { return reads.empty() ? BlockOp() : reads.front().second; }

private:
  llvm::MapVector<Value, BlockOp> reads, writes;
  SmallVector<BlockOp> leaves;
  unsigned shared = 0;
};

/// Refuses a nest that does not wait for another one; `units` are the engine's, `sync` is how it says that they wait.
LogicalResult refuseMeeting(ArrayRef<BlockOp> nest, BlockOp met, StringRef engine, StringRef units, etdg::SyncKind sync);

/// Whether cores wait between the nests of a kernel of a CPU where they have to, and between those of bodies that all of them
/// run together; a located error where they don't.
LogicalResult checkCpuSyncs(const NestGroup &group);

/// Whether all cores go into the bodies of a nest's blocks together: none of its loops is shared or one core's.
bool isRunTogether(ArrayRef<BlockOp> nest, const NestPlan &plan, ArrayRef<unsigned> fixed);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_ANALYSIS_SYNCS_H
