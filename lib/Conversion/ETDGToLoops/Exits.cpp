//===- Exits.cpp - loops that units leave together ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel with an `exit` becomes a `scf.while` over its steps, whose condition reads what the step before has left there, and a loop of
// the steps that are left, after one more sync, in which nothing waits: their leaves have `false` in the place of the exit.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "ft/Schedule/Apply/Exits.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;

LogicalResult Emitter::emitStep(const NestGroup &group, Value step, NestBody body) {
  for (auto [nest, common] : llvm::zip_equal(group.nests, group.common)) {
    loc = BlockOp(nest.front()).getLoc();
    Point point;
    point.dims.resize(BlockOp(nest.front()).getNumDims());
    point.dims[common.front()] = step;
    point.order.push_back(common.front());
    if (failed(body(nest, point, common)))
      return failure();
  }
  return success();
}

/// Whether there is a step: within the range, and the first one or one after a step that left `true`.
Value Emitter::emitGoesOn(BlockOp writer, unsigned write, Value step, Value lower, Value upper) {
  using Predicate = arith::CmpIPredicate;
  Value isFirst = arith::CmpIOp::create(builder, loc, Predicate::eq, step, lower);
  Value isInside = arith::CmpIOp::create(builder, loc, Predicate::slt, step, upper);
  auto branch = scf::IfOp::create(builder, loc, builder.getI1Type(), isFirst, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, arith::ConstantIntOp::create(builder, loc, 1, 1).getResult());
    builder.setInsertionPointToStart(branch.elseBlock());
    etdg::WriteAttr written = writer.getWrite(write);
    Point last;
    last.dims.resize(writer.getNumDims());
    last.dims[0] = make<arith::SubIOp>(step, index(1));
    Address address = emitBufferAddress(writer, writer.getBuffers()[written.getOperand()], written.getMap().getValue(), {}, last,
                                        /*useRows=*/false);
    computeOffset(address);
    scf::YieldOp::create(builder, loc, memref::LoadOp::create(builder, loc, address.base, address.offset).getResult());
  }
  return arith::AndIOp::create(builder, loc, isInside, branch.getResult(0));
}

LogicalResult Emitter::emitLeaving(const NestGroup &group, etdg::ExitAttr exit, ArrayRef<BlockOp> ended, NestBody body, NestBody endedBody) {
  BlockOp writer = group.nests[exit.getNest()].front();
  Point nowhere;
  nowhere.dims.resize(writer.getNumDims());
  auto [lower, upper] = emitBounds(group.nests[exit.getNest()], group.common[exit.getNest()].front(), nowhere);
  Type index = builder.getIndexType();
  auto loop = scf::WhileOp::create(builder, loc, TypeRange{index}, ValueRange{lower});
  OpBuilder::InsertionGuard guard(builder);
  Block *condition = builder.createBlock(&loop.getBefore(), {}, index, loc);
  Value goesOn = emitGoesOn(writer, exit.getWrite(), condition->getArgument(0), lower, upper);
  scf::ConditionOp::create(builder, loc, goesOn, condition->getArguments());
  Block *step = builder.createBlock(&loop.getAfter(), {}, index, loc);
  if (failed(emitStep(group, step->getArgument(0), body)))
    return failure();
  builder.setInsertionPointToEnd(step);
  scf::YieldOp::create(builder, loc, make<arith::AddIOp>(step->getArgument(0), this->index(1)));
  builder.setInsertionPointAfter(loop);
  // The steps that are left write where the condition reads.
  loops::SyncOp::create(builder, loc, gpu ? etdg::SyncKind::Grid : etdg::SyncKind::Cores);
  NestGroup rest = group;
  for (auto [nest, leaf] : llvm::zip_equal(rest.nests, ended))
    nest = {leaf};
  auto left = scf::ForOp::create(builder, loc, loop.getResult(0), upper, this->index(1));
  builder.setInsertionPointToStart(left.getBody());
  return emitStep(rest, left.getInductionVar(), endedBody);
}

FailureOr<SmallVector<BlockOp>> Emitter::endedLeaves(etdg::KernelOp kernel) {
  SmallVector<BlockOp> ended = makeEndedLeaves(kernel, kernel.getExitAttr());
  if (ended.empty())
    return kernel.emitError("the exit of this kernel is none: expected a value that stays false after the first false step, and leaves "
                            "that then read only what they have written");
  return ended;
}
