//===- Exits.h - loops that end on data -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A `while` whose trips are bounded is a loop over all of them that carries whether it goes on
// (docs/raising.md). Its steps after the last one compute what nothing reads. Where the nests of a kernel
// run the loop together, the kernel says so (`exit`), and engines leave the loop there.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_APPLY_EXITS_H
#define FT_SCHEDULE_APPLY_EXITS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::ft::schedule {

/// The value that ends the loop which a kernel's nests share, or null: see `#etdg.exit` for what holds of it.
etdg::ExitAttr findExit(etdg::KernelOp kernel);

/// Leaves of the kernel as they are in steps after the exit, one after each of its own. Empty where the kernel has no such
/// exit; the code that asks erases them.
SmallVector<etdg::BlockOp> makeEndedLeaves(etdg::KernelOp kernel, etdg::ExitAttr exit);

/// Writes the exits of all kernels of a graph that have none written.
void writeExits(etdg::GraphOp graph);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_APPLY_EXITS_H
