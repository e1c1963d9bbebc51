//===- ProgramAnalysis.cpp - the order of the analysis --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

const GraphPlan *ProgramAnalysis::analyse() {
  Block &body = function.getBody().front();
  BlockInfo top;
  top.domains.push_back({});
  if (failed(nameLengths()) || failed(collectBlocks(body, top)))
    return nullptr;
  findStatements(body);
  findFamilies(body);
  findCycles();
  if (failed(collectWriters()) || failed(decideCells()))
    return nullptr;
  planItems(body);
  plan.scopes.push_back({&body, 0, nullptr});
  planScopes(body, &plan.scopes.front());
  findEscapes();
  if (failed(decideHomes()))
    return nullptr;
  for (BlockArgument arg : function.getArguments())
    plan.arguments.push_back(argumentHome(arg));
  if (failed(planBlock(&body, IterationVector(), plan.steps)) ||
      failed(planResultCopies(cast<func::ReturnOp>(body.getTerminator()), plan.steps)))
    return nullptr;
  return &plan;
}
