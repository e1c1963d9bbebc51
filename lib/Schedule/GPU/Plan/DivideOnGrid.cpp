//===- DivideOnGrid.cpp - steps that the grid takes in stages -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/GPU/Plan/GpuPlanner.h"

#include "ft/Schedule/Apply/DivideSteps.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

LogicalResult GpuPlanner::divideStep(Operation *item) {
  // As many weights as make a kernel of steps worth its barriers.
  std::unique_ptr<StepDivision> division = StepDivision::find(item, planning.columnWeightBytes / int64_t(sizeof(float)));
  if (!division || options.steps == GpuScheduleOptions::Steps::never)
    return success();
  GpuPlan plan = sortDimensions(division->getLeaf());
  if (plan.steps.empty() || plan.steps.size() != division->getLeaf().getNumOwnDims())
    return success();
  if (failed(shareColumns(division->getLeaf(), plan, /*privateRows=*/false)))
    return failure();
  if (plan.columns > 0)
    return success();
  ArrayRef<BlockOp> parts = division->make();
  bool anyColumns = false;
  for (BlockOp part : parts) {
    GpuPlan own = sortDimensions(part);
    if (failed(shareColumns(part, own, /*privateRows=*/false)))
      return failure();
    anyColumns |= own.columns > 0;
  }
  if (!anyColumns) {
    division->undo();
    return success();
  }
  if (isTold(item))
    remark::passed(item->getLoc(), remark::RemarkOpts::name("gpu-divide").category("gpu"))
        << "products of one step that need each other whole are " << std::to_string(parts.size()) << " nests";
  division->keep();
  return success();
}
