//===- PlacedLeaf.cpp - A leaf with its layouts and its memory ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

FailureOr<PlacedLeaf> togpu::readPlacedLeaf(loops::LeafOp leaf, etdg::ThreadBlockAttr block, const Lift &lift, const Machine &machine) {
  FailureOr<LeafInBlock> own = readLeaf(leaf, block, lift);
  if (failed(own))
    return failure();
  FailureOr<LeafTiling> tiling = readTiling(leaf, *own, machine);
  if (failed(tiling))
    return failure();
  // What stays in registers leaves the form here, so that it needs no place.
  FailureOr<LeafPlaces> places = readPlaces(leaf, findNeeds(leaf, *own, *tiling, block));
  if (failed(places))
    return failure();
  return PlacedLeaf{std::move(*own), std::move(*tiling), std::move(*places)};
}
