//===- RegionUnion.h - the union of two domains as one domain ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_SCHEDULE_GPU_PLAN_REGIONUNION_H
#define LIB_SCHEDULE_GPU_PLAN_REGIONUNION_H

#include "ft/Analysis/Sets.h"

namespace mlir::ft::schedule {

/// Two domains as one, and what tells their points apart in it.
struct RegionUnion {
  IntegerSet domain, first, second;
};

/// The union of two sets over the same dimensions and `symbols`; nothing where it has points that neither has, or where a dimension after the
/// ancestors' has no bounds in it that those before it decide.
std::optional<RegionUnion> uniteRegions(IntegerSet first, IntegerSet second, unsigned numAncestors, ArrayRef<StringAttr> symbols,
                                        const etdg::SymbolSpace &space);

} // namespace mlir::ft::schedule

#endif // LIB_SCHEDULE_GPU_PLAN_REGIONUNION_H
