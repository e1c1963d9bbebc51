//===- Inequalities.cpp - linear forms that are at least 0 ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/Inequalities.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::etdg;

std::optional<LinearForm> etdg::addScaled(const LinearForm &a, int64_t fa, const LinearForm &b, int64_t fb) {
  LinearForm sum;
  bool overflow = false;
  for (auto [form, factor] : {std::pair(&a, fa), std::pair(&b, fb)}) {
    int64_t product;
    for (auto [atom, coefficient] : form->terms) {
      overflow |= llvm::MulOverflow(coefficient, factor, product);
      auto *it = llvm::find_if(sum.terms, [&](auto &term) { return term.first == atom; });
      if (it == sum.terms.end())
        sum.terms.push_back({atom, product});
      else
        overflow |= llvm::AddOverflow(it->second, product, it->second);
    }
    overflow |= llvm::MulOverflow(form->constant, factor, product);
    overflow |= llvm::AddOverflow(sum.constant, product, sum.constant);
  }
  return overflow ? std::nullopt : std::optional(sum);
}

bool etdg::tightenInequality(LinearForm &form) {
  llvm::erase_if(form.terms, [](auto &term) { return term.second == 0; });
  int64_t factor = 0;
  for (auto &term : form.terms)
    factor = std::gcd(factor, term.second);
  if (factor > 1) {
    for (auto &term : form.terms)
      term.second /= factor;
    form.constant = llvm::divideFloorSigned(form.constant, factor);
  }
  return !form.terms.empty() || form.constant < 0;
}

bool etdg::hasSameTerms(const LinearForm &a, const LinearForm &b, int64_t factor) {
  return a.terms.size() == b.terms.size() &&
         llvm::all_of(a.terms, [&](auto &term) { return b.coefficient(term.first) == term.second * factor; });
}
