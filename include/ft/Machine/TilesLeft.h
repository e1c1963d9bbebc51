//===- TilesLeft.h - what a group leaves to share out -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a machine's units all have work where statements with products become one,
// and what they read again then: asked by the code that joins or divides statements.
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

/// Parallel iterations of a product, by the operands that they move.
struct ProductIterations {
  double products = 1; // both or neither: products side by side
  double rows = 1;     // the left operand alone
  double columns = 1;  // the right operand alone
  double flops = 0;    // of all
};

/// How many tiles a product can be cut into: of the rows and columns that the machine's smallest tile has, and each worth handing to a unit
/// (`Machine::tileSeconds`).
double tilesOf(const ProductIterations &product, const Machine &machine);

/// The same where each of the iterations `whole` of the product stays in one task, and hands on so many bytes there: none where the iterations that
/// the smallest tile has rows of leave no room for its operands and for another task. A CPU's caches hold what they may.
double tilesOfTasks(const ProductIterations &whole, const ProductIterations &all, double bytes, const Machine &machine);

/// Whether units share out the loops inside of one iteration as well: cores do, SMs do not.
bool sharesInnerLoops(const Machine &machine);

/// How many tiles a group can be cut into, each worth handing to a unit: at each point as many as there is
/// work for, where a tile takes at least `Machine::tileSeconds`, and no more than there are elements.
double tilesLeft(const TileGroup &group, const Machine &machine);

/// Seconds that a unit waits for what the points of a group share, on a CPU (0 elsewhere). It is read once for each call of so many rows as the
/// machine allows; its share of them, once, where they are larger than its caches keep and units can share out columns, each for all rows.
double sharedReadSeconds(const TileGroup &group, const Machine &machine);

} // namespace mlir::ft

#endif // FT_MACHINE_TILESLEFT_H
