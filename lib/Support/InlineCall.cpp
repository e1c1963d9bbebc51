//===- InlineCall.cpp - bodies in the place of calls ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Support/InlineCall.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

static constexpr size_t maxInlined = 1 << 20;

LogicalResult ft::inlineOneBlock(func::CallOp call, func::FuncOp callee, size_t &total) {
  size_t count = 0;
  callee.walk([&](Operation *) { ++count; });
  if ((total += count) > maxInlined)
    return call.emitOpError("makes the program too large: inlining copied more than ") << maxInlined << " operations";
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  for (Operation &op : callee.front().without_terminator())
    builder.clone(op, mapping)->walk([&](Operation *nested) {
      nested->setLoc(CallSiteLoc::get(nested->getLoc(), call.getLoc()));
    });
  for (auto [result, value] : llvm::zip_equal(call.getResults(), callee.front().getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
  return success();
}
