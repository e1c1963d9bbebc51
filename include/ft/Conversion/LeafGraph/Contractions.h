//===- Contractions.h - which nests are products of matrices ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_LEAFGRAPH_CONTRACTIONS_H
#define FT_CONVERSION_LEAFGRAPH_CONTRACTIONS_H

#include "ft/Conversion/LeafGraph/LeafGraph.h"

namespace mlir::ft::leaf {

/// How a nest of one member is a product of matrices, `c += a * b`; nothing if it is none. Loops are those of the nest
/// as it is, in their order; how rows and vectors go along them is left open.
std::optional<Contraction> matchContraction(const Nest &nest);

} // namespace mlir::ft::leaf

#endif // FT_CONVERSION_LEAFGRAPH_CONTRACTIONS_H
