//===- PricedAlternatives.h - the best of several forms of an item -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SCHEDULE_GPU_ALTERNATIVES_PRICEDALTERNATIVES_H
#define FT_SCHEDULE_GPU_ALTERNATIVES_PRICEDALTERNATIVES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Schedule/Options.h"

namespace mlir::ft::schedule {

/// Prices forms of an item of a graph, each with a number, and keeps the best. A form is made on a copy of the graph that has this item
/// alone, so that the price of others counts neither for nor against it. Copies are scheduled as `etdg-schedule-for-gpu` does it, at
/// typical lengths. The graph stays as it is.
class PricedAlternatives {
public:
  using Lengths = SmallVector<std::pair<StringAttr, int64_t>>;
  /// A form is chosen that takes at most this part of the time: of the item as it is, and of the best one so far.
  struct Shares {
    double ofWhole, ofBest;
  };

  /// `lengths` take the place of typical ones.
  PricedAlternatives(Operation *item, const GpuScheduleOptions &options, Shares shares, Lengths lengths = {});

  /// Whether a GPU can run the item as it is, and the model has a price for it. Else there is nothing to compare with.
  bool isPriced() const { return whole.has_value(); }
  /// Tries the form that `change` makes of a copy; where it can't, it returns false.
  void consider(int64_t number, llvm::function_ref<bool(etdg::GraphOp)> change);
  /// The number of the best form; nothing where the item is best as it is.
  std::optional<int64_t> getBest() const { return best; }
  /// All prices with their numbers, in percent of the item as it is, with so many digits.
  std::string describe(unsigned digits) const;

private:
  OwningOpRef<etdg::GraphOp> alone;
  const GpuScheduleOptions &options;
  Shares shares;
  Lengths lengths;
  std::optional<double> whole; // seconds
  double limit = 0;            // seconds that the next form may take
  std::optional<int64_t> best;
  SmallVector<std::pair<int64_t, std::optional<double>>> prices; // seconds, by number
};

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_GPU_ALTERNATIVES_PRICEDALTERNATIVES_H
