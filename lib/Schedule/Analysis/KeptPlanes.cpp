//===- KeptPlanes.cpp - planes and bounds, as engines read them -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/Analysis/KeptPlanes.h"

#include "ft/Schedule/Analysis/Dimensions.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

KeptPlanes KeptPlanes::ofGraph(etdg::GraphOp graph) {
  KeptPlanes kept;
  ValueRange results = graph.getBody().front().getTerminator()->getOperands();
  graph.walk([&](etdg::BufferOp buffer) {
    if (!llvm::is_contained(results, buffer.getResult()))
      kept.declare(buffer);
  });
  return kept;
}

ArrayRef<int64_t> KeptPlanes::declare(etdg::BufferOp buffer) {
  return planes[buffer.getResult()] = buffer.getPlanes();
}

ArrayRef<int64_t> KeptPlanes::of(Value buffer) const {
  auto found = planes.find(buffer);
  return found == planes.end() ? ArrayRef<int64_t>() : ArrayRef<int64_t>(found->second);
}

int64_t KeptPlanes::at(Value buffer, unsigned dim) const {
  ArrayRef<int64_t> kept = of(buffer);
  return kept.empty() ? 0 : kept[dim];
}

LogicalResult schedule::checkLoopBounds(ArrayRef<BlockOp> nest, unsigned dim, llvm::function_ref<bool(unsigned)> known,
                                        StringRef engine) {
  for (BlockOp block : nest)
    if (!hasLoopBounds({block}, dim, known))
      return block.emitError() << "dimension " << block.getDims()[dim]
                               << " has no bound that its domain gives; the " << engine << " engine can't run it as a loop";
  return success();
}
