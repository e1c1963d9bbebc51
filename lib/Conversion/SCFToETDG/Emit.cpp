//===- Emit.cpp - nests, conditions and copies ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies become blocks: loops with nothing beside them share an iteration vector.
//
//===----------------------------------------------------------------------===//
#include "Raiser.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

Value Raiser::bufferOf(Home *home) {
  if (home->buffer)
    return home->buffer;
  OpBuilder::InsertionGuard guard(builder);
  Block *body = scopeBodies.lookup(home->scope);
  if (Operation *last = lastBuffer.lookup(home->scope))
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(body);
  auto type = etdg::BufferType::get(context, home->lengths, home->element);
  if (home->constant)
    home->buffer = etdg::ConstantOp::create(builder, function.getLoc(), type, home->constant);
  else
    home->buffer =
        etdg::BufferOp::create(builder, function.getLoc(), type, nullptr,
                               home->name.empty() ? nullptr : builder.getStringAttr(home->name));
  lastBuffer[home->scope] = home->buffer.getDefiningOp();
  return home->buffer;
}

/// The context of a loop's body.
Context Raiser::extended(const Context &at, Block *body) {
  Context result = at;
  const BlockInfo &info = infoOf(body);
  for (unsigned d = at.numDims(); d < info.depth(); ++d) {
    const Loop &loop = *info.loops[d];
    result.open(loop.carries ? OperatorKind::ScanL : OperatorKind::Map, sets->getNames(), context);
    for (AffineExpr e : loop.lowers)
      result.domain.push_back({sets->dim(d) - e});
    for (AffineExpr e : loop.uppers)
      result.domain.push_back({e - sets->dim(d) - 1});
  }
  return result;
}

LogicalResult Raiser::emitItem(const Item &item, const Context &at) {
  switch (item.kind) {
  case Item::Run:
    return emitRun(item.ops, at);
  case Item::Loop: {
    Block *body = &item.ops.front()->getRegion(0).front();
    Context inner = extended(at, body);
    if (sets->isEmpty(inner.domain))
      return success();
    if (at.isPending())
      return emitBody(body, inner);
    auto nest = etdg::NestOp::create(builder, item.ops.front()->getLoc(), etdg::ScheduleAttr());
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(builder.createBlock(&nest.getBody()));
      if (failed(emitBody(body, inner)))
        return failure();
    }
    if (nest.getBody().front().empty())
      nest.erase();
    return success();
  }
  case Item::If: {
    const Condition condition = conditions[item.ops.front()];
    auto branch = cast<scf::IfOp>(item.ops.front());
    for (auto [region, alternatives] : {std::pair(&branch.getThenRegion(), &condition.yes),
                                        std::pair(&branch.getElseRegion(), &condition.no)}) {
      if (region->empty() || items[&region->front()].empty())
        continue;
      for (const Conjunction &when : *alternatives) {
        Context inner = at;
        llvm::append_range(inner.domain, when);
        if (!sets->isEmpty(inner.domain) && failed(emitBody(&region->front(), inner)))
          return failure();
      }
    }
    return success();
  }
  case Item::Copy: {
    Operation *op = item.ops.front();
    if (!item.writer) {
      auto arg = cast<BlockArgument>(item.carried);
      auto loop = cast<scf::ForOp>(arg.getOwner()->getParentOp());
      return emitCopy(op, at, loop.getTiedLoopYieldedValue(arg)->get(), materialized[arg],
                      {Conjunction()},
                      "a loop's state that is another state, or is kept under a condition");
    }
    Writer &w = *item.writer;
    if (!w.family->byCells)
      return emitCopy(op, at, w.source, w.place, {Conjunction()},
                      "an array takes a value that is not computed here");
    // One copy for each offset.
    SmallVector<SmallVector<AffineExpr>> seen;
    for (const Writer::Alternative &alternative : w.alternatives) {
      if (llvm::is_contained(seen, alternative.offsets))
        continue;
      seen.push_back(alternative.offsets);
      SmallVector<AffineExpr> cells;
      Place place;
      place.home = w.family->place.home;
      for (unsigned d = 0, kept = 0; d < w.sizes.size(); ++d)
        cells.push_back(w.dropped.test(d) ? alternative.offsets[d]
                                          : alternative.offsets[d] + sets->cell(kept++) * w.strides[d]);
      for (AffineExpr e : w.family->place.index)
        place.index.push_back(sets->withCells(e, cells));
      // The cases of the offset restrict the copy.
      SmallVector<Conjunction> where;
      for (const Writer::Alternative &other : w.alternatives)
        if (other.offsets == alternative.offsets && !sets->isEmpty(at.domain, other.domain))
          where.push_back(other.domain);
      if (failed(emitCopy(op, at, w.source, place, where,
                          "an array takes a value that is not computed here")))
        return failure();
    }
    return success();
  }
  }
  return success();
}

LogicalResult Raiser::emitItems(Block *block, const Context &at) {
  for (const Item &item : items[block])
    if (failed(emitItem(item, at)))
      return failure();
  return success();
}

LogicalResult Raiser::emitBody(Block *block, const Context &at) {
  if (!graphBodies.contains(block))
    return emitItems(block, at);
  etdg::BlockBuilder spec = startBlock(at);
  etdg::BlockOp op = spec.build(builder, block->getParentOp()->getLoc(), {});
  OpBuilder::InsertionGuard guard(builder);
  Block *body = &op.getBody().front();
  builder.setInsertionPointToEnd(body);
  auto yield = etdg::YieldOp::create(builder, op.getLoc(), ValueRange());
  builder.setInsertionPoint(yield);
  Scope *scope = scopeOf[block];
  // A body may be emitted once for each alternative of a condition: with buffers of its own.
  for (Home &home : homes)
    if (home.scope == scope)
      home.buffer = Value();
  scopeBodies[scope] = body;
  lastBuffer.erase(scope);
  Context inner = at;
  inner.numAncestors = at.numDims();
  inner.ancestors = at.domain;
  inner.operators.clear();
  if (failed(emitItems(block, inner)))
    return failure();
  if (llvm::none_of(*body,
                    [](Operation &child) { return isa<etdg::BlockOp, etdg::NestOp>(child); })) {
    for (Home &home : homes)
      if (home.scope == scope)
        home.buffer = Value();
    op.erase();
  }
  return success();
}

/// Writes a value, element by element of the home's, where it belongs.
LogicalResult Raiser::emitCopy(Operation *op, const Context &outer, Value source,
                               const Place &place, ArrayRef<Conjunction> where, StringRef why) {
  FailureOr<View> view = viewOf(source);
  std::optional<SmallVector<AffineExpr>> sizes = sizesOf(source);
  if (!sizes)
    return refuse(op, "the size of what is copied is not an affine function of loops and lengths");
  if (failed(view))
    return failure();
  RankedTensorType type = isa<RankedTensorType>(source.getType())
                              ? cast<RankedTensorType>(source.getType())
                              : RankedTensorType::get({}, source.getType());
  // Dimensions of the source that index the home; the others are its element.
  unsigned leading = 0;
  for (unsigned d = 0; d < place.home->depth(); ++d)
    for (unsigned c = 0, e = type.getRank(); c < e; ++c)
      place.index[d].walk([&](AffineExpr expr) {
        if (expr == sets->cell(c))
          leading = std::max(leading, c + 1);
      });
  // One block for each region; an iteration of one is in no other.
  SmallVector<Context, 0> contexts;
  for (const Conjunction &region : where) {
    Context at = outer;
    SmallVector<AffineExpr> cells;
    for (unsigned d = 0; d < leading; ++d) {
      AffineExpr dim = sets->dim(at.numDims());
      at.open(OperatorKind::Map, sets->getNames(), context);
      at.domain.push_back({dim});
      at.domain.push_back({(*sizes)[d] - dim - 1});
      cells.push_back(dim);
    }
    for (const Constraint &c : region)
      at.domain.push_back({sets->withCells(c.expr, cells), c.isEquality});
    if (!sets->isEmpty(at.domain))
      contexts.push_back(at);
  }
  if (contexts.empty())
    return success();
  Operation *nest = nullptr;
  OpBuilder::InsertionGuard guard(builder);
  if (!outer.isPending() && leading > 0) {
    auto created = etdg::NestOp::create(builder, op->getLoc(), etdg::ScheduleAttr());
    builder.setInsertionPointToStart(builder.createBlock(&created.getBody()));
    nest = created;
  }
  for (const Context &at : contexts) {
    SmallVector<AffineExpr> cells;
    for (unsigned d = 0; d < leading; ++d)
      cells.push_back(sets->dim(outer.numDims() + d));
    for (unsigned d = leading; d < static_cast<unsigned>(type.getRank()); ++d)
      cells.push_back(sets->cell(d - leading));
    FailureOr<View> element = restricted(*view, {}, cells, {});
    if (failed(element))
      return failure();
    etdg::BlockBuilder spec = startBlock(at);
    RankedTensorType slice = elementOf(type, leading), readType;
    FailureOr<etdg::ReadAttr> read = makeRead(op->getLoc(), spec, at, *element, slice, readType);
    if (failed(read) || failed(makeWrite(op->getLoc(), spec, at, place, cells)))
      return failure();
    spec.reads.push_back(*read);
    ++numCopies;
    graphwriter::remarkCopy(op->getLoc(), "convert-scf-to-etdg", why, spec.name);
    etdg::BlockOp block = spec.build(builder, op->getLoc(), {readType});
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(&block.getBody().front());
    Value value = reshapeTo(op->getLoc(), block.getBody().getArgument(0), place.home->element);
    etdg::YieldOp::create(builder, op->getLoc(), value);
  }
  (void)nest;
  return success();
}

LogicalResult Raiser::emitResults(func::ReturnOp ret) {
  Context top;
  for (auto [i, v] : llvm::enumerate(ret.getOperands())) {
    Place place;
    place.home = resultHomes[i];
    for (unsigned d = 0, e = cast<RankedTensorType>(v.getType()).getRank(); d < e; ++d)
      place.index.push_back(sets->cell(d));
    if (resultCopied[i]) {
      if (failed(emitCopy(ret, top, v, place, {Conjunction()},
                          "a returned value that is kept elsewhere")))
        return failure();
      continue;
    }
    Family *family = familyOf.lookup(v);
    if (!family)
      continue;
    // Cells that nothing writes keep what they had.
    FailureOr<SmallVector<Conjunction>> rest = unwritten(*family, v);
    if (failed(rest))
      return failure();
    if (!rest->empty() &&
        failed(emitCopy(ret, top, family->root, place, *rest,
                        "cells of an array that the program leaves as they were")))
      return failure();
  }
  return success();
}
