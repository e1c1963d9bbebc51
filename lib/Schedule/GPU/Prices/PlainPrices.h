//===- PlainPrices.h - seconds of loop nests in plain tiles -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread block takes for a loop nest by its `#etdg.tiling`: how often
// threads wait for loads and for each other, how long what they compute and bring
// keeps the SM busy, and how long it takes where each operation needs
// the one before.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_SCHEDULE_GPU_PRICES_PLAINPRICES_H
#define LIB_SCHEDULE_GPU_PRICES_PLAINPRICES_H

#include "ft/Schedule/GPU/Prices/ReadSources.h"

namespace mlir::ft::schedule {

/// What a loop nest reads of one input, as a task has it.
struct TaskRead {
  Source source = Source::Shared;
  double stride = 0; // bytes from one term of a sum to the next
  double bytes = 0;  // whole lines
};
/// A loop nest of a leaf, as a task has it.
struct TaskLoops {
  double points = 1, terms = 1; // of the parallel loops; of each sum
  SmallVector<TaskRead> reads;
  std::optional<Source> begins; // of what its sums begin with, where that lies in memory

  Source farthest() const {
    Source source = Source::Shared;
    for (const TaskRead &read : reads)
      source = std::max(source, read.source);
    return source;
  }
  /// That come from such memory.
  double bytesFrom(Source source) const {
    double sum = 0;
    for (const TaskRead &read : reads)
      sum += read.source == source ? read.bytes : 0;
    return sum;
  }
};

/// The part of a nest's loops that a task has, `columns` of those that are shared; `sourceOfInput` tells where its inputs come from.
TaskLoops loopsOf(const LeafForm &form, unsigned number, const TileContext &tile, bool isRowWise, double rows, double columns, double lineBytes,
                  llvm::function_ref<Source(unsigned)> sourceOfInput);
/// Threads that have something to do.
double activeThreads(etdg::TilingAttr tiling, const TaskLoops &loops, double threads);
/// Loads that a thread waits for one after the other, and the rounds in which slices of sums are added.
double secondsOfWaits(etdg::TilingAttr tiling, const TaskLoops &loops, double threads, const Machine &machine);
/// What the threads of a task compute, of an SM all of whose threads are busy: multiply-adds, or, where that is longer, what they
/// bring from the nearest cache and shared memory. `nest` is collapsed, `columns` the part of its vectors that the task has.
double secondsOfSums(const LeafForm &form, etdg::TilingAttr tiling, const leaf::Nest &nest, const TaskLoops &loops, double threads, double columns,
                     const Machine &machine);
/// What a thread takes for operations that each need the one before: the terms of a sum, or what is computed at a point.
double secondsOfChain(etdg::TilingAttr tiling, const leaf::Nest &nest, const TaskLoops &loops, double threads, const Machine &machine);
/// Whether an operation of a body is an elementary function, or a quotient.
bool isElementary(Operation *op);
/// Multiply-adds in whose time an elementary function is computed, or a quotient: as rare as exponentials, with about as much beside.
double elementaryOperations(const Machine &machine);
/// The same of all that is computed at a point, or for a term.
double operationsOf(const leaf::NestMember &member, const Machine &machine);

} // namespace mlir::ft::schedule

#endif // LIB_SCHEDULE_GPU_PRICES_PLAINPRICES_H
