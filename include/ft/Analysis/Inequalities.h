//===- Inequalities.h - linear forms that are at least 0 --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What eliminations of dimensions (Fourier-Motzkin) share: sums of inequalities, their
// tightest form, and which of them others do not imply.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_INEQUALITIES_H
#define FT_ANALYSIS_INEQUALITIES_H

#include "ft/Dialect/ETDG/IR/SetText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <numeric>
#include <optional>

namespace mlir::etdg {

/// fa·a + fb·b; none where a number leaves 64 bits.
std::optional<LinearForm> addScaled(const LinearForm &a, int64_t fa, const LinearForm &b, int64_t fb);

/// Divides by the common factor of the coefficients, the constant rounded down. False where `form ≥ 0` says nothing.
bool tightenInequality(LinearForm &form);

/// Equal but for the constant, where the coefficients of `a` are multiplied with `factor`.
bool hasSameTerms(const LinearForm &a, const LinearForm &b, int64_t factor = 1);

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

#endif // FT_ANALYSIS_INEQUALITIES_H
