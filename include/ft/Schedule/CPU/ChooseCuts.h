//===- ChooseCuts.h - which reductions the cores share ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_CPU_CHOOSECUTS_H
#define FT_SCHEDULE_CPU_CHOOSECUTS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Schedule/Options.h"

namespace mlir::ft::schedule {

/// Cuts any reductions of a graph into shares of any length, by the seed (for tests).
void drawCuts(etdg::GraphOp graph, uint64_t seed, const Machine &machine);

/// Cuts reductions of a graph into shares and their join, where the machine's cores take less time then; any of them where the
/// options have a seed.
void chooseCuts(etdg::GraphOp graph, const CpuScheduleOptions &options);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_CPU_CHOOSECUTS_H
