//===- CopyBody.cpp - a leaf's body as a function -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/LeafGraph/CopyBody.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

func::FuncOp mlir::ft::leaf::copyBody(Block &body, OpBuilder &builder, Location loc) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *yield = body.getTerminator();
  auto function = func::FuncOp::create(builder, loc, "leaf",
                                       builder.getFunctionType(body.getArgumentTypes(), yield->getOperandTypes()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(body.getArguments(), function.getArguments());
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : yield->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  func::ReturnOp::create(builder, yield->getLoc(), results);
  return function;
}
