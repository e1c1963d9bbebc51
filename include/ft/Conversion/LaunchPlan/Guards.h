//===- Guards.h - branches of a launch plan ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_LAUNCHPLAN_GUARDS_H
#define FT_CONVERSION_LAUNCHPLAN_GUARDS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Runtime/Bundle/LaunchPlan.h"

namespace mlir::ft {

/// An expression of the launch plan, variable i being `symbols[i]`, that is not negative where a call's lengths choose the
/// variant with this guard.
::ft::rt::Expr getHostGuard(etdg::GuardAttr guard, ArrayRef<StringAttr> symbols);

} // namespace mlir::ft

#endif // FT_CONVERSION_LAUNCHPLAN_GUARDS_H
