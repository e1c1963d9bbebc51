//===- Contractions.h - which nests are products of matrices ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_ANALYSIS_LEAFGRAPH_CONTRACTIONS_H
#define FT_ANALYSIS_LEAFGRAPH_CONTRACTIONS_H

#include "ft/Analysis/LeafGraph/LeafGraph.h"

namespace mlir::ft::leaf {

/// How a nest of one member is a product of matrices, `c += a * b`; nothing if it is none. Loops are those of the nest
/// as it is, in their order; how rows and vectors go along them is left open.
std::optional<Contraction> matchContraction(const Nest &nest);

/// The same of a nest whose members are all products of matrices over the same loops, one for each of them; else none. Where a
/// member has the operands in another order than the first, `lhs` is still the one that has the loops m.
SmallVector<Contraction, 0> matchContractions(const Nest &nest);

} // namespace mlir::ft::leaf

#endif // FT_ANALYSIS_LEAFGRAPH_CONTRACTIONS_H
