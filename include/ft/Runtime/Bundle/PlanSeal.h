//===- PlanSeal.h - which launch plans code was compiled with ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel reads and writes as far as its plan's sizes say, and checks none of
// them. So the compiler writes the digests of a section's plans beside its code,
// and the runtime runs no other plan with it: an argument, a result or a
// workspace of another size is refused before the first launch.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_BUNDLE_PLANSEAL_H
#define FT_RUNTIME_BUNDLE_PLANSEAL_H

#include "ft/Runtime/Bundle/Bundle.h"

#include <string_view>

namespace ft::rt {

/// Appends the digests of the plans that name a section to its bytes. Once, when a bundle is whole.
void sealPlans(Bundle &bundle);

/// Whether each section of code that the plan names was compiled with this plan. Code that names no
/// plans, such as a library that was put into a bundle by hand, is taken with any.
Status checkSeal(const Bundle &bundle, const Entry &entry, const Plan &plan);

/// A section's bytes without the digests.
std::string_view withoutSeal(std::string_view bytes);

} // namespace ft::rt

#endif // FT_RUNTIME_BUNDLE_PLANSEAL_H
