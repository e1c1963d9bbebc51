//===- TilesLeft.h - what a group leaves to share out -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a machine's units all have work where statements with products become one,
// and what they read again then: asked by whoever joins or divides statements.
//
//===----------------------------------------------------------------------===//
#ifndef FT_MACHINE_TILESLEFT_H
#define FT_MACHINE_TILESLEFT_H

#include "ft/Machine/Machine.h"

namespace mlir::ft {

/// Statements that run as one, at typical lengths.
struct TileGroup {
  double points = 1;   // iterations that do not wait for each other
  double flops = 0;    // of the products at one of them
  double elements = 1; // of what one of them computes that units may share; 1 where a product needs all that another gives
  double sharedBytes = 0; // of right-hand sides that are the same at all of them
};

/// How many tiles a group can be cut into, each worth handing to a unit: at each point as many as there is
/// work for, where a tile takes at least as long as a launch, and no more than there are elements.
double tilesLeft(const TileGroup &group, const Machine &machine);

/// Seconds that a unit waits for what the points of a group share, on a CPU (0 elsewhere). It is read once for each call of so many rows as the
/// machine allows; its share of them, once, where they are larger than its caches keep and units can share out columns, each for all rows.
double sharedReadSeconds(const TileGroup &group, const Machine &machine);

} // namespace mlir::ft

#endif // FT_MACHINE_TILESLEFT_H
