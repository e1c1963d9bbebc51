//===- FormGuards.h - lengths that decide between forms ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code serves calls of any lengths. Where one form of a nest takes less time at
// some lengths and another one at others, several are kept as `etdg.variants`;
// here is at which lengths they are compared, and which guards tell them apart best.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_ANALYSIS_FORMGUARDS_H
#define FT_SCHEDULE_ANALYSIS_FORMGUARDS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include <optional>

namespace mlir::ft::schedule {

/// The lengths of a call, those that matter.
using Lengths = SmallVector<std::pair<StringAttr, int64_t>>;

/// Lengths at which forms of an item are compared, in all combinations, at most so many: those between which `ft.typical` says that a
/// length is, or which `etdg.assume` says are typical; of others some around `ft.lengths`, from far fewer to far more.
std::vector<Lengths> sampleLengths(etdg::GraphOp graph, Operation *item, size_t mostPoints);

/// Which forms to take: `forms[i]` where `guards[i]` is the first that holds, the last one elsewhere.
struct FormChoice {
  SmallVector<unsigned> forms;
  SmallVector<etdg::GuardAttr> guards; // one less

  bool takesSeveral() const { return forms.size() > 1; }
  bool takes(unsigned form) const { return llvm::is_contained(forms, form); }
};

/// Seconds that a form takes.
using FormPrices = llvm::function_ref<double(unsigned form, const Lengths &)>;

/// What may tell forms apart beside a length by itself: the least of some products of lengths. Where one of its values is asked for, `varied` is what changes.
struct LengthMeasure {
  SmallVector<ArrayAttr> products; // of `LengthAttr`
  StringAttr varied;
};

/// The form that is best all in all, and for lengths at which another one promises `share` of its time or less, in the mean over them,
/// that one: a guard is a bound of a length or measure, or two of two. The first form is the best one unless another promises `share` of its
/// time or less, in the mean of all lengths, or somewhere, while the first one never does.
FormChoice chooseForms(etdg::GraphOp graph, ArrayRef<Lengths> points, unsigned numForms, double share, FormPrices price, ArrayRef<LengthMeasure> measures = {});

/// A guard for a reader of remarks: `N < 9 and L >= 64`, a product as `N * (L - 1)`.
std::string describe(etdg::GuardAttr guard);

/// Of `etdg.variants`, lengths at which number `variant` is taken, the nearest to typical ones; only those that are others.
Lengths lengthsOfVariant(etdg::GraphOp graph, ArrayRef<etdg::GuardAttr> guards, unsigned variant);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_ANALYSIS_FORMGUARDS_H
