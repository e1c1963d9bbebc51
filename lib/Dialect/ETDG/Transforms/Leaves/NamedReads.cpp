//===- NamedReads.cpp - reads that schedules name by number ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::etdg;

bool etdg::namesReads(GraphOp graph, StringRef pass) {
  Operation *staged = nullptr;
  graph.walk([&](Operation *op) {
    ScheduleAttr schedule = scheduleOf(op);
    if (!schedule || schedule.getPlacements().empty())
      return WalkResult::advance();
    staged = op;
    return WalkResult::interrupt();
  });
  if (!staged)
    return false;
  remark::missed(staged->getLoc(), remark::RemarkOpts::name("named-reads").category("coarsen"))
      << remark::reason("a schedule stages reads by the numbers that they have here: the graph stays as it is")
      << remark::metric("pass", pass);
  return true;
}
