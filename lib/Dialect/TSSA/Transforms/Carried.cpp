//===- Carried.cpp - operations with other carried values -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An scf operation has as many results as it carries values: to change their number
// is to make another one around the same regions.
//
//===----------------------------------------------------------------------===//
#include "Functionalize.h"

using namespace mlir;
using namespace mlir::tssa;

/// `values` without those dropped.
static SmallVector<Value> keep(ValueRange values, const llvm::SmallBitVector &dropped) {
  SmallVector<Value> kept;
  for (auto [i, value] : llvm::enumerate(values))
    if (i >= dropped.size() || !dropped.test(i))
      kept.push_back(value);
  return kept;
}

static void replaceResults(Operation *from, Operation *to, const llvm::SmallBitVector &dropped) {
  unsigned next = 0;
  for (auto [i, result] : llvm::enumerate(from->getResults()))
    if (i >= dropped.size() || !dropped.test(i))
      result.replaceAllUsesWith(to->getResult(next++));
    else
      result.dropAllUses(); // where nothing is needed, about to be dropped as well
  from->erase();
}

static void eraseArguments(Block &block, unsigned first, const llvm::SmallBitVector &dropped) {
  llvm::BitVector erased(block.getNumArguments());
  for (unsigned i : dropped.set_bits()) {
    block.getArgument(first + i).dropAllUses();
    erased.set(first + i);
  }
  block.eraseArguments(erased);
}

static scf::ForOp rebuild(scf::ForOp loop, ValueRange inits, const llvm::SmallBitVector &dropped) {
  OpBuilder b(loop);
  SmallVector<Value> all = keep(loop.getInitArgs(), dropped);
  llvm::append_range(all, inits);
  auto made = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                 loop.getStep(), all, [](OpBuilder &, Location, Value, ValueRange) {});
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  made.getRegion().takeBody(loop.getRegion());
  Block &body = made.getRegion().front();
  Operation *yield = body.getTerminator();
  yield->setOperands(keep(yield->getOperands(), dropped));
  eraseArguments(body, 1, dropped);
  for (Value init : inits) {
    Value argument = body.addArgument(init.getType(), init.getLoc());
    yield->insertOperands(yield->getNumOperands(), argument);
  }
  replaceResults(loop, made, dropped);
  return made;
}

scf::ForOp mlir::tssa::addCarried(scf::ForOp loop, ValueRange inits) {
  return rebuild(loop, inits, {});
}
scf::ForOp mlir::tssa::dropCarried(scf::ForOp loop, const llvm::SmallBitVector &dropped) {
  return rebuild(loop, {}, dropped);
}

static scf::IfOp rebuild(scf::IfOp branch, ValueRange thenValues, ValueRange elseValues,
                         const llvm::SmallBitVector &dropped) {
  OpBuilder b(branch);
  SmallVector<Type> types;
  for (Value value : keep(branch.getResults(), dropped))
    types.push_back(value.getType());
  llvm::append_range(types, thenValues.getTypes());
  auto made = scf::IfOp::create(b, branch.getLoc(), types, branch.getCondition(),
                                /*addThenBlock=*/false, /*addElseBlock=*/false);
  made->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  made.getThenRegion().takeBody(branch.getThenRegion());
  made.getElseRegion().takeBody(branch.getElseRegion());
  if (made.getElseRegion().empty() && !types.empty()) {
    b.createBlock(&made.getElseRegion());
    scf::YieldOp::create(b, branch.getLoc());
  }
  for (auto [region, values] : {std::pair(&made.getThenRegion(), thenValues),
                                std::pair(&made.getElseRegion(), elseValues)}) {
    if (region->empty())
      continue;
    Operation *yield = region->front().getTerminator();
    SmallVector<Value> operands = keep(yield->getOperands(), dropped);
    llvm::append_range(operands, values);
    yield->setOperands(operands);
  }
  replaceResults(branch, made, dropped);
  return made;
}

scf::IfOp mlir::tssa::addResults(scf::IfOp branch, ValueRange thenValues, ValueRange elseValues) {
  return rebuild(branch, thenValues, elseValues, {});
}
scf::IfOp mlir::tssa::dropResults(scf::IfOp branch, const llvm::SmallBitVector &dropped) {
  return rebuild(branch, {}, {}, dropped);
}

static scf::WhileOp rebuild(scf::WhileOp loop, ValueRange inits, const llvm::SmallBitVector &before,
                            const llvm::SmallBitVector &after) {
  OpBuilder b(loop);
  SmallVector<Value> all = keep(loop.getInits(), before);
  llvm::append_range(all, inits);
  SmallVector<Type> types;
  for (Value value : keep(loop.getResults(), after))
    types.push_back(value.getType());
  llvm::append_range(types, inits.getTypes());
  auto made = scf::WhileOp::create(b, loop.getLoc(), types, all, nullptr, nullptr);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  scf::ConditionOp condition = made.getConditionOp();
  scf::YieldOp yield = made.getYieldOp();
  condition.getArgsMutable().assign(keep(condition.getArgs(), after));
  yield->setOperands(keep(yield->getOperands(), before));
  eraseArguments(*made.getBeforeBody(), 0, before);
  eraseArguments(*made.getAfterBody(), 0, after);
  for (Value init : inits) {
    Value argument = made.getBeforeBody()->addArgument(init.getType(), init.getLoc());
    condition.getArgsMutable().append(argument);
    Value passed = made.getAfterBody()->addArgument(init.getType(), init.getLoc());
    yield->insertOperands(yield->getNumOperands(), passed);
  }
  replaceResults(loop, made, after);
  return made;
}

scf::WhileOp mlir::tssa::addCarried(scf::WhileOp loop, ValueRange inits) {
  return rebuild(loop, inits, {}, {});
}
scf::WhileOp mlir::tssa::addCarried(scf::WhileOp loop, ValueRange inits, ValueRange passed) {
  OpBuilder b(loop);
  SmallVector<Value> all(loop.getInits());
  llvm::append_range(all, inits);
  SmallVector<Type> types(loop.getResultTypes());
  llvm::append_range(types, passed.getTypes());
  auto made = scf::WhileOp::create(b, loop.getLoc(), types, all, nullptr, nullptr);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  scf::YieldOp yield = made.getYieldOp();
  for (Value init : inits) {
    made.getBeforeBody()->addArgument(init.getType(), init.getLoc());
    yield->insertOperands(yield->getNumOperands(), init);
  }
  for (Value value : passed) {
    made.getConditionOp().getArgsMutable().append(value);
    made.getAfterBody()->addArgument(value.getType(), value.getLoc());
  }
  replaceResults(loop, made, {});
  return made;
}
scf::WhileOp mlir::tssa::dropCarried(scf::WhileOp loop, const llvm::SmallBitVector &before,
                                     const llvm::SmallBitVector &after) {
  return rebuild(loop, {}, before, after);
}
