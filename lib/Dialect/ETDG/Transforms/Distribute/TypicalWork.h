//===- TypicalWork.h - work inside of a loop, for GPUs ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread block runs what is inside of a nest's outer dimensions alone. Who takes
// a nest apart asks here whether SMs are without work
// which further parallel dimensions would give them.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_TYPICALWORK_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_TYPICALWORK_H

#include "ft/Dialect/ETDG/Transforms/MergeLegality.h"
#include "ft/Machine/Machine.h"

namespace mlir::etdg {

/// At typical lengths.
struct TypicalWork {
  double points = 1; // iterations that do not wait for each other
  double flops = 0;  // of products at one of them
};

/// What a block, a nest or a leaf does: iterations of its own map dimensions from own dimension `from` on, and the FLOPs of products at one iteration of
/// the first `from` ones, all that stands inside included.
TypicalWork workInside(Operation *item, unsigned from, MergeLegality &legality);

/// How many tiles of work a machine's units can share out where `points` iterations of outer dimensions have this work inside, and its own points are shared
/// out as well (`tilesLeft`).
double tilesOfWork(double points, const TypicalWork &inside, const ft::Machine &machine);

} // namespace mlir::etdg

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_TYPICALWORK_H
