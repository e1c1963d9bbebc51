//===- SimplifySet.h - sets by fewer rows -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_SIMPLIFYSET_H
#define FT_ANALYSIS_SIMPLIFYSET_H

#include "mlir/Analysis/Presburger/IntegerRelation.h"

namespace mlir::etdg {

/// The same points by fewer rows: what equalities say of a variable is put into all other rows. (IntegerRelation::simplify of LLVM 22 has
/// other points where an equality counts a variable several times.)
presburger::IntegerPolyhedron simplify(presburger::IntegerPolyhedron set);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_SIMPLIFYSET_H
