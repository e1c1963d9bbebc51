//===- MaskedStates.h - what iterations leave that a mask hides -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_TILE_TRANSFORMS_MASKEDSTATES_H
#define FT_LIB_DIALECT_TILE_TRANSFORMS_MASKEDSTATES_H

#include "Pipelined.h"

#include <optional>

namespace mlir::tile {

/// A choice between scores and the number that hides them.
struct Masked {
  arith::SelectOp select;
  double low = 0;       // what hides them
  bool hides = false;   // where the condition holds: else it shows them there
  Value scores() const { return select->getOperand(hides ? 2 : 1); }
};

/// When iterations without a score of a row leave its states as they are: once a running maximum is at least so much. What such iterations leave before
/// is nothing beside what follows.
struct IdleWhen {
  std::optional<unsigned> maximum; // among the loop's carried values; none: always
  double least = 0;
};

/// Derives that from the loop's body: each operation is computed of ranges of values, and of which state a value is. None where some state may change.
std::optional<IdleWhen> findIdle(scf::ForOp loop, const Masked &masked);

/// The number that a value is, or each element of a tile.
std::optional<double> constantOf(Value value);

} // namespace mlir::tile

#endif // FT_LIB_DIALECT_TILE_TRANSFORMS_MASKEDSTATES_H
