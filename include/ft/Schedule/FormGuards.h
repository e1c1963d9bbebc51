//===- FormGuards.h - lengths that decide between two forms -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code serves calls of any lengths. Where one form of a nest takes less time at
// some lengths and another one at others, both are kept as `etdg.variants`; here
// is at which lengths they are compared, and which guard tells them apart best.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_FORMGUARDS_H
#define FT_SCHEDULE_FORMGUARDS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include <optional>

namespace mlir::ft::schedule {

/// The lengths of a call, those that matter.
using Lengths = SmallVector<std::pair<StringAttr, int64_t>>;

/// Lengths at which forms of an item are compared, in all combinations: those between which `ft.typical` says that a length is, or
/// which `etdg.assume` says are typical; of others some around `ft.lengths`, from far fewer to far more.
std::vector<Lengths> sampleLengths(etdg::GraphOp graph, Operation *item);

/// Seconds that two forms take.
using TwoPrices = std::pair<double, double>;

/// Which of two forms to take.
struct FormChoice {
  bool takesFirst = true, takesSecond = false;
  etdg::GuardAttr guard; // where both
  bool isFirstBelow = true;

  /// The first form at small lengths, or the second one.
  bool takesBoth() const { return takesFirst && takesSecond; }
};

/// A form has to promise `share` of the other's time or less at some of the lengths to be taken, and is taken alone if the other one
/// never does. Where neither does it is the first. Both are taken where one length cuts the others so that each promises that on its
/// side, in the mean; else the second one has to promise it in the mean of all.
FormChoice chooseForm(etdg::GraphOp graph, ArrayRef<Lengths> points, double share,
                      llvm::function_ref<TwoPrices(const Lengths &)> price);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_FORMGUARDS_H
