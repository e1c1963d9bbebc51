//===- Paths.cpp - where an iteration stands in the loops -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order that schedules give: bodies in textual order; a nest by its loops,
// those of its schedule or its dimensions as they stand; a kernel by its shared
// loops, its nests in textual order inside a step; children inside an iteration.
//
//===----------------------------------------------------------------------===//
#include "Model.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "mlir/Analysis/Presburger/Matrix.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

static bool isUnordered(LoopKind kind) {
  return kind == LoopKind::Parallel || kind == LoopKind::Vector;
}

void Model::Place::addText(unsigned position, bool unordered) {
  path.push_back({Step::Text, unordered, position, 0, ""});
}

void Model::Place::addLoop(const Loop &loop, bool unordered) {
  path.push_back({Step::Key, unordered, 0, static_cast<unsigned>(keys.size()), loop.name});
  keys.push_back(loop.expr);
}

/// What is wrong with a schedule's map as a bijection of the integer points, or nothing.
static std::string checkBijection(AffineMap map, unsigned numDims) {
  if (map.getNumDims() != numDims)
    return "takes " + std::to_string(map.getNumDims()) + " dimensions, there are " +
           std::to_string(numDims);
  if (map.getNumResults() != numDims)
    return "has " + std::to_string(map.getNumResults()) + " rows for " + std::to_string(numDims) +
           " dimensions";
  presburger::IntMatrix matrix(numDims, numDims);
  for (auto [r, expr] : llvm::enumerate(map.getResults()))
    for (auto [atom, coefficient] : LinearForm::of(expr).terms) {
      if (isa<AffineSymbolExpr>(atom))
        return "has an offset that is no constant in row " + std::to_string(r);
      auto dim = dyn_cast<AffineDimExpr>(atom);
      if (!dim)
        return "is not linear in row " + std::to_string(r);
      if (dim.getPosition() >= numDims)
        return "names a dimension that does not exist in row " + std::to_string(r);
      matrix(r, dim.getPosition()) += coefficient;
    }
  if (numDims == 0)
    return "";
  llvm::DynamicAPInt determinant = matrix.determinant();
  if (determinant == 1 || determinant == -1)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "has determinant " << determinant << ", not 1 or -1: it is no bijection of integer points";
  return text;
}

/// Whether the iterations of a row of the schedule may be cut, and partial states joined.
static bool hasCombine(BlockOp block, AffineExpr row) {
  auto dim = dyn_cast<AffineDimExpr>(row);
  if (!dim || block.getCombine().empty())
    return false;
  auto isAssociative = [](ft::OperatorKind kind) {
    return kind == ft::OperatorKind::Reduce || kind == ft::OperatorKind::Fold || kind == ft::OperatorKind::Scan;
  };
  // `combine` belongs to the innermost of them.
  unsigned innermost = block.getNumOwnDims();
  for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
    if (isAssociative(block.getOperator(d)))
      innermost = d;
  return dim.getPosition() == innermost;
}

std::optional<SmallVector<Loop>> Model::getLoops(BlockOp block, ScheduleAttr schedule,
                                                 Operation *owner, Report report) {
  SmallVector<Loop> loops;
  SmallVector<StringAttr> names = block.getDimNames();
  ArrayRef<StringAttr> own = ArrayRef(names).drop_front(block.getNumAncestors());
  unsigned numOwn = block.getNumOwnDims();
  auto add = [&](AffineExpr expr, int64_t tile, bool unordered) {
    std::string name;
    llvm::raw_string_ostream os(name);
    ft::printNamedExpr(os, expr, own, {});
    if (tile > 1) {
      name = "floordiv(" + name + ", " + std::to_string(tile) + ")";
      expr = expr.floorDiv(tile);
    }
    loops.push_back({expr.shiftDims(numOwn, block.getNumAncestors()), unordered, name});
  };
  if (!schedule) {
    for (unsigned i = 0; i < numOwn; ++i)
      add(getAffineDimExpr(i, block.getContext()), 1,
          block.getOperator(i) == ft::OperatorKind::Map);
    return loops;
  }
  AffineMap map = schedule.getMap().getValue();
  std::string wrong = checkBijection(map, numOwn);
  if (!wrong.empty()) {
    report(owner, "T1", "the schedule's map " + wrong);
    return std::nullopt;
  }
  SmallVector<bool> seen(numOwn, false);
  // (Loops over the columns of leaves divide what an iteration computes.)
  for (LoopAttr loop : schedule.getPointLoops()) {
    if (loop.getDimension() < 0 || loop.getDimension() >= static_cast<int64_t>(numOwn)) {
      report(owner, "T1", "a loop of the schedule names a dimension that does not exist");
      return std::nullopt;
    }
    if (loop.getKind() == LoopKind::Associative && !hasCombine(block, map.getResult(loop.getDimension()))) {
      report(owner, "T1", "loop " + Twine(loops.size()) + " of the schedule is associative, and the block has no 'combine' along it");
      return std::nullopt;
    }
    // A range of tile `?` may be cut between any two iterations: the finest cut asks the most.
    int64_t tile = loop.hasAnyTile() ? 1 : std::max<int64_t>(loop.getTile(), 1);
    add(map.getResult(loop.getDimension()), tile, isUnordered(loop.getKind()));
    seen[loop.getDimension()] |= loop.isOverPoints();
  }
  // What the loops leave open runs in order.
  for (unsigned i = 0; i < numOwn; ++i)
    if (!seen[i])
      add(map.getResult(i), 1, false);
  return loops;
}

std::optional<Model::Item> Model::getItem(Operation *op, Report report) {
  Item item;
  ScheduleAttr schedule;
  if (auto nest = dyn_cast<NestOp>(op)) {
    schedule = nest.getScheduleAttr();
    for (BlockOp block : nest.getBody().getOps<BlockOp>())
      item.blocks.push_back(block);
    nests.push_back(item.blocks);
  } else {
    item.blocks.push_back(cast<BlockOp>(op));
  }
  for (BlockOp block : item.blocks) {
    bool common = static_cast<bool>(schedule);
    std::optional<SmallVector<Loop>> loops =
        getLoops(block, common ? schedule : block.getScheduleAttr(),
                 common ? op : block.getOperation(), report);
    if (!loops)
      return std::nullopt;
    if (!item.loops.empty() && loops->size() != item.loops.front().size()) {
      report(block, "T1",
             "the blocks of a nest have different numbers of loops: " +
                 Twine(item.loops.front().size()) + " and " + Twine(loops->size()));
      return std::nullopt;
    }
    // A loop is parallel where all regions say so.
    item.unordered.resize(loops->size(), true);
    for (auto [all, loop] : llvm::zip_equal(item.unordered, *loops))
      all = all && loop.parallel;
    item.loops.push_back(std::move(*loops));
  }
  return item;
}

bool Model::buildItem(const Item &item, const Place &place, unsigned shared,
                      ArrayRef<bool> unordered, std::optional<unsigned> position, Report report) {
  for (unsigned b = 0; b < item.blocks.size(); ++b) {
    BlockOp block = item.blocks[b];
    Place inner = place;
    const SmallVector<Loop> &loops = item.loops[b];
    for (unsigned l = 0; l < loops.size(); ++l) {
      if (position && l == shared)
        inner.addText(*position);
      inner.addLoop(loops[l], l < shared ? unordered[l] : item.unordered[l]);
    }
    if (position && loops.size() == shared)
      inner.addText(*position);
    // Regions are disjoint: at one point there is one of them.
    if (item.blocks.size() > 1)
      inner.addText(b, /*unordered=*/true);
    if (!block.isLeaf()) {
      if (!buildBody(block.getBody(), inner, report))
        return false;
      continue;
    }
    Leaf &leaf = *leaves.emplace_back(std::make_unique<Leaf>());
    leaf.block = block;
    leaf.path = std::move(inner.path);
    leaf.keys = std::move(inner.keys);
    if (!addAccesses(leaf, report))
      return false;
  }
  return true;
}

bool Model::buildBody(Region &body, const Place &place, Report report) {
  unsigned next = 0;
  for (Operation &op : body.front()) {
    for (Value result : op.getResults())
      if (isa<BufferType>(result.getType()))
        buffers.push_back(result);
    Place inner = place;
    inner.addText(next++);
    if (isa<BlockOp, NestOp>(op)) {
      std::optional<Item> item = getItem(&op, report);
      if (!item || !buildItem(*item, inner, 0, {}, std::nullopt, report))
        return false;
      continue;
    }
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel)
      continue;
    SmallVector<Item> items;
    for (Operation &nested : kernel.getBody().front()) {
      if (!isa<BlockOp, NestOp>(nested))
        continue;
      std::optional<Item> item = getItem(&nested, report);
      if (!item)
        return false;
      items.push_back(std::move(*item));
    }
    unsigned shared = kernel.getShared();
    SmallVector<bool> unordered(shared, true);
    for (const Item &item : items) {
      if (item.unordered.size() < shared) {
        report(kernel, "T1",
               "the kernel shares " + Twine(shared) + " loops, one of its nests has " +
                   Twine(item.unordered.size()));
        return false;
      }
      for (unsigned l = 0; l < shared; ++l)
        unordered[l] = unordered[l] && item.unordered[l];
    }
    for (auto [i, item] : llvm::enumerate(items))
      if (!buildItem(item, inner, shared, unordered, i, report))
        return false;
  }
  return true;
}

bool Model::build(Report report) {
  for (BlockArgument argument : graph.getArguments())
    buffers.push_back(argument);
  return buildBody(graph.getBody(), Place(), report);
}
