//===- Validator.h - is a scheduled graph still right? ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A proof, for all lengths that a graph's bounds allow, that its schedules keep
// what the graph means. It shares no code with the passes that it judges.
//
//===----------------------------------------------------------------------===//
#ifndef FT_VALIDATOR_VALIDATOR_H
#define FT_VALIDATOR_VALIDATOR_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::gpu {
class GPUModuleOp;
} // namespace mlir::gpu

namespace mlir::etdg {

/// What a phase must leave as it was: the types of arguments and results, and the
/// lengths that the graph allows.
struct GraphSnapshot {
  static GraphSnapshot take(GraphOp graph);

  FunctionType type;
  /// What every call satisfies, each at least 0: `ft.bounds`, `etdg.checks`, `etdg.assume`.
  SmallVector<ft::LengthAttr> constraints;
};

struct ValidateOptions {
  /// The phase that is judged; named in messages.
  std::string phase;
  /// Where a graph that fails is written; empty: a new file in the folder for temporary files.
  std::string reproducer;
  bool writeReproducer = true;
  /// The graph is a user's input: what is wrong is an error in it, not in the compiler.
  bool isGiven = false;
  /// The graph before the phase.
  const GraphSnapshot *before = nullptr;
  /// After so many errors it stops.
  unsigned maxErrors = 8;
};

/// What the validator has done on this thread: questions whether a set is empty, constraints that
/// eliminations made to answer them, and questions that were left to the Presburger library. The
/// same in every run of the same graphs.
struct ValidatorWork {
  int64_t questions = 0, constraints = 0, exact = 0;
};
ValidatorWork getValidatorWork();

/// Proves, exactly and for all lengths that the graph's bounds allow:
///
/// - (T1) each schedule's map is a bijection on integer points (a square unimodular
///   linear part, a constant offset), its loops exist, a kernel shares loops that all
///   its nests have;
/// - (T2) every write comes before every read of the same element, in the order of the
///   schedules; iterations that differ first in a parallel loop have no order;
/// - (T3) no element is written twice;
/// - (T4) every element that is read or returned is written;
/// - (T5) the regions of a nest are disjoint;
/// - (T6) the pieces of a read are disjoint and cover its domain;
/// - (T7) every access is in bounds;
/// - (T8) `live` planes are enough under the schedule;
/// - (T9) the graph has the arguments and results of the snapshot and asks nothing more
///   of its lengths;
/// - (T10) buffers that share memory (`etdg.slot`) are not needed at the same time, nor are results and the arguments
///   in whose memory they are (`etdg.in_place`);
/// - (T11) what a placement stages gets what it got: nothing writes it between its loop's begin and the read;
/// - (T12) shares of a reduction (`etdg.cut`) cover it, begin from `identity`, and are joined in order by `combine`;
/// - (T13) what one unit (core, thread block) writes another reads, or overwrites (T8, T10), only where units of their level
///   wait in between: after an iteration of a loop with `sync`, or before a nest with `before`.
///
/// Where a set is no Presburger set, or numbers leave 62 bits, it fails (T0): what it
/// can't prove it doesn't let through. Errors are internal errors (or the input's, where it `isGiven`):
/// they name the block, show a point, point to the other end, and name a file with the graph.
LogicalResult validateGraph(GraphOp graph, const ValidateOptions &options = {});

struct LaunchOptions {
  /// The phase that is judged; named in messages.
  std::string phase;
  /// The kernels are a user's input: what is wrong is an error in them.
  bool isGiven = false;
};

/// Proves T14 of kernels and their launch plan. Every path of a kernel whose launch overlaps others waits (`griddepcontrol wait`). What it
/// touches before that no kernel that may be in flight then writes, and what it writes none of these touches. Memory is compared by
/// buffers of the plan. Those in one place of the workspace are one, and so is a result in its argument's memory.
LogicalResult validateLaunches(gpu::GPUModuleOp module, const LaunchOptions &options = {});

} // namespace mlir::etdg

#endif // FT_VALIDATOR_VALIDATOR_H
