//===- NeededForms.h - constraints that others do not imply -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ANALYSIS_NEEDEDFORMS_H
#define FT_ANALYSIS_NEEDEDFORMS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <numeric>

namespace mlir::etdg {

/// The forms that the others do not imply, in their order; of several choices those with more terms
/// go. `isImplied(form, others)` is asked once for each.
template <class Form, class IsImplied>
llvm::SmallVector<Form> keepNeeded(llvm::ArrayRef<Form> forms, IsImplied isImplied) {
  llvm::SmallVector<unsigned> order(forms.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-int64_t(forms[a].terms.size()), a) <
           std::pair(-int64_t(forms[b].terms.size()), b);
  });
  llvm::SmallVector<bool> dropped(forms.size());
  for (unsigned i : order) {
    llvm::SmallVector<Form> others;
    for (auto [j, form] : llvm::enumerate(forms))
      if (j != i && !dropped[j])
        others.push_back(form);
    dropped[i] = isImplied(forms[i], llvm::ArrayRef<Form>(others));
  }
  llvm::SmallVector<Form> kept;
  for (auto [i, form] : llvm::enumerate(forms))
    if (!dropped[i])
      kept.push_back(form);
  return kept;
}

} // namespace mlir::etdg

#endif // FT_ANALYSIS_NEEDEDFORMS_H
