//===- CoverByPoints.h - covers of small sets -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What differs by a remainder or has a stride is cut into very many parts by a
// difference of sets. A set of few points is gone through instead, point by
// point: exact, and in a time that is known before.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_ANALYSIS_SETS_COVERBYPOINTS_H
#define LIB_FT_ANALYSIS_SETS_COVERBYPOINTS_H

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace mlir::etdg {

/// Whether every point of `set` lies in one of `cover`. None where the set is not bounded, where it or the cover would need more work
/// than is worth it, or where a local variable has no range.
std::optional<bool> isCoveredByPoints(const presburger::IntegerPolyhedron &set, llvm::ArrayRef<presburger::IntegerPolyhedron> cover);

} // namespace mlir::etdg

#endif // LIB_FT_ANALYSIS_SETS_COVERBYPOINTS_H
