//===- DivideOnCores.cpp - steps that the cores take in stages ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step whose products need each other whole runs on one core, or in stages whose
// columns all cores share, with a barrier after each: whichever takes less time.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/CPU/CostModel.h"
#include "ft/Schedule/Apply/DivideSteps.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

bool CostModel::divideStep(Operation *item) {
  if (numThreads < 2)
    return false;
  // What takes as long as a barrier: less is not worth one.
  int64_t large = machine.sync.barrier * machine.tileFlops(1) / 2;
  std::unique_ptr<StepDivision> division = StepDivision::find(item, large);
  if (!division || !plansOfSteps({division->getLeaf()}, {}).empty())
    return false;
  for (const NestLoops::Loop &loop : getLoops({division->getLeaf()}).loops)
    if (loop.parallel)
      return false;
  double whole = estimateBest({division->getLeaf()}).seconds;
  ArrayRef<BlockOp> parts = division->make();
  SmallVector<unsigned> steps = llvm::to_vector(llvm::seq<unsigned>(0, division->getLeaf().getNumOwnDims()));
  double divided = machine.sync.launch;
  bool anyColumns = false;
  for (BlockOp part : parts) {
    divided += estimateSteps({part}, steps).seconds;
    anyColumns |= !plansOfSteps({part}, steps).empty();
  }
  bool isChosen = anyColumns && (options.planSeed != 0 ? options.planSeed % 2 == 1 : divided < machine.cpu.sureGain * whole);
  if (!isChosen) {
    division->undo();
    return false;
  }
  remark::passed(item->getLoc(), remark::RemarkOpts::name("divide-steps").category("cpu"))
      << remark::reason("products of one step that need each other whole are {0} nests, whose columns the cores share", parts.size())
      << remark::metric("seconds", divided) << remark::metric("seconds-whole", whole);
  division->keep();
  return true;
}
