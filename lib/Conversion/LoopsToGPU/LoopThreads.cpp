//===- LoopThreads.cpp - loops that the threads of a block share ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of level thread that stand in each other are one: each thread takes every n-th of their points.
//
//===----------------------------------------------------------------------===//
#include "LoopWalker.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

/// The loop of threads in a body that has nothing beside it.
static scf::ForallOp onlyLoop(Block &body) {
  scf::ForallOp found;
  for (Operation &op : body.without_terminator()) {
    if (isMemoryEffectFree(&op))
      continue;
    auto loop = dyn_cast<scf::ForallOp>(op);
    if (!loop || found)
      return nullptr;
    found = loop;
  }
  return found;
}

LogicalResult LoopWalker::takeThreads(scf::ForallOp outermost) {
  SmallVector<scf::ForallOp> loops;
  int64_t points = 1;
  for (scf::ForallOp loop = outermost; loop; loop = onlyLoop(*loop.getBody())) {
    int64_t begin = *getConstantIntValue(loop.getMixedLowerBound()[0]), end = *getConstantIntValue(loop.getMixedUpperBound()[0]);
    points *= std::max<int64_t>(end - begin, 0);
    loops.push_back(loop);
  }
  Known saved = known;
  scf::ForOp loop = b.loop(e.threads.id, b.number32(points), b.number32(e.threads.count));
  b.setInsertionPointToStart(loop.getBody());
  Value rest = b.extend(loop.getInductionVar());
  for (scf::ForallOp each : llvm::reverse(loops)) {
    int64_t begin = *getConstantIntValue(each.getMixedLowerBound()[0]), end = *getConstantIntValue(each.getMixedUpperBound()[0]);
    Value digit = rest, count = b.number(std::max<int64_t>(end - begin, 1));
    if (each != outermost) {
      digit = b.createOrFold<arith::RemUIOp>(rest, count);
      rest = b.createOrFold<arith::DivUIOp>(rest, count);
    }
    known.values[each.getInductionVar(0)] = b.add(digit, begin);
  }
  isAlone = true;
  LogicalResult taken = takeBlock(*loops.back().getBody());
  isAlone = false;
  known = std::move(saved);
  return taken;
}
