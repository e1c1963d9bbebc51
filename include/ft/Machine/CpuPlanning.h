//===- CpuPlanning.h - thresholds of choices made for a CPU -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_MACHINE_CPUPLANNING_H
#define FT_MACHINE_CPUPLANNING_H

#include <cstdint>

namespace mlir::ft {

/// What stands for costs that nothing measures yet (`planning` of a machine's file; docs/machine.md says more).
struct CpuPlanning {
  /// Rows of one call of a leaf, and bytes that they may touch.
  int64_t mostRows = 0, rowBytes = 0;
  /// Share of the time that a plan with barriers may take at most of one without.
  double sureGain = 0;
  /// The same of a plan with as many barriers: less is what estimates of plans alike err by. And one that takes so many times as long
  /// or less, and streams this share of the bytes or less, is taken, too.
  double planGain = 0, tieSeconds = 0, tieBytes = 0;
  /// How long before their use columns of a product are asked for; 0: they are not.
  double aheadSeconds = 0;

  /// Rows from which on a call copies columns of a product next to each other, also where each step of its sums begins with a vector;
  /// terms that fewer rows take at a time.
  int64_t panelRows = 0, panelRowsInLine = 0, blockTerms = 0;
  /// Rows of a product for each row of a leaf, where a call has not said how many it has.
  int64_t typicalRows = 0;
  /// Rows that use a right-hand side whose columns are not adjacent: fewer run vectors along terms, and so few do it with a single vector of
  /// terms.
  int64_t turnRows = 0, turnFewRows = 0;
  /// Rows and columns that use an operand of halves: so many pay for its copy in f32.
  int64_t widenRows = 0, widenColumns = 0;
  /// Multiply-adds for a row from which on a product is a function.
  int64_t outlinedWork = 0;
  /// How vectors choose their loop: what an access that becomes adjacent gains, what strided ones and a reduction lose, and the length of a loop that
  /// counts.
  int64_t adjacentGain = 0, stridedReadLoss = 0, stridedWriteLoss = 0, reducedLoss = 0, longLoop = 0;
  /// Elements of a vector that are met one by one; vectors of partial results at once; rows of a square that is turned in registers.
  int64_t stridedLanes = 0, besideInSums = 0, squareRows = 0;
  /// Operations of loop nests that are computed together at most; terms that stand one after the other where columns cross a border.
  int64_t fusedOps = 0, writtenOutTerms = 0;
  /// Columns of a product in tiles at least, and multiply-adds of one that a leaf computes once; registers of vectors beside a tile's sums; rows of a
  /// square that is worth its shuffles.
  int64_t leastColumns = 0, leastWork = 0, operandRegisters = 0, leastSquare = 0;
  /// Bytes of columns that tasks do not cut; such tiles of a task that has them for the sake of the caches, and its rows at most; tasks of a
  /// thread; launches that work which is cut lasts at least.
  int64_t columnBytes = 0, columnTiles = 0, columnRows = 0, threadTasks = 0, leastLaunches = 0;
  /// By how much the work that tasks share exceeds what each of them repeats.
  int64_t columnRepeat = 0;

  /// Calls `visit(name in the file, number)` for each that is a share of a time or of bytes.
  template <typename Planning, typename Visit>
  static void forEachShare(Planning &planning, Visit visit) {
    visit("sure_gain", planning.sureGain);
    visit("plan_gain", planning.planGain);
    visit("tie_seconds", planning.tieSeconds);
    visit("tie_bytes", planning.tieBytes);
  }

  /// The same for each that is a count.
  template <typename Planning, typename Visit>
  static void forEachCount(Planning &planning, Visit visit) {
    visit("most_rows", planning.mostRows);
    visit("row_bytes", planning.rowBytes);
    visit("panel_rows", planning.panelRows);
    visit("panel_rows_in_line", planning.panelRowsInLine);
    visit("block_terms", planning.blockTerms);
    visit("typical_rows", planning.typicalRows);
    visit("turn_rows", planning.turnRows);
    visit("turn_few_rows", planning.turnFewRows);
    visit("widen_rows", planning.widenRows);
    visit("widen_columns", planning.widenColumns);
    visit("outlined_work", planning.outlinedWork);
    visit("adjacent_gain", planning.adjacentGain);
    visit("strided_read_loss", planning.stridedReadLoss);
    visit("strided_write_loss", planning.stridedWriteLoss);
    visit("reduced_loss", planning.reducedLoss);
    visit("long_loop", planning.longLoop);
    visit("strided_lanes", planning.stridedLanes);
    visit("beside_in_sums", planning.besideInSums);
    visit("square_rows", planning.squareRows);
    visit("fused_ops", planning.fusedOps);
    visit("written_out_terms", planning.writtenOutTerms);
    visit("least_columns", planning.leastColumns);
    visit("least_work", planning.leastWork);
    visit("operand_registers", planning.operandRegisters);
    visit("least_square", planning.leastSquare);
    visit("column_bytes", planning.columnBytes);
    visit("column_tiles", planning.columnTiles);
    visit("column_rows", planning.columnRows);
    visit("thread_tasks", planning.threadTasks);
    visit("least_launches", planning.leastLaunches);
    visit("column_repeat", planning.columnRepeat);
  }
};

} // namespace mlir::ft

#endif // FT_MACHINE_CPUPLANNING_H
