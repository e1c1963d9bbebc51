//===- ChooseIterations.h - how many iterations of a sum are one *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_CPU_CHOOSEITERATIONS_H
#define FT_SCHEDULE_CPU_CHOOSEITERATIONS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Schedule/Options.h"

namespace mlir::ft::schedule {

/// Joins iterations of reductions with products, where the machine's cores take less time then; any number of them where the options have a seed.
void chooseIterations(etdg::GraphOp graph, const CpuScheduleOptions &options);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_CPU_CHOOSEITERATIONS_H
