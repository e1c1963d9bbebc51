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

void Model::Place::addText(unsigned position, std::shared_ptr<const SmallVector<SyncKind>> waits, Step::Launches launches) {
  addText(position);
  path.back().waits = std::move(waits);
  path.back().launches = launches;
}

/// Whether a level has several units, which do not see what others do before they wait.
static bool hasUnits(LoopLevel level) {
  return level == LoopLevel::Grid || level == LoopLevel::Cluster || level == LoopLevel::Block || level == LoopLevel::Core;
}

void Model::Place::addLoop(const Loop &loop, bool unordered, SyncKind sync, std::pair<Operation *, unsigned> number) {
  if (hasUnits(loop.level))
    dealt.push_back({loop.level, path.size(), loop.isFixed, number, static_cast<unsigned>(keys.size())});
  path.push_back({Step::Key, unordered, 0, static_cast<unsigned>(keys.size()), loop.name, loop.level, sync});
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
  auto add = [&](AffineExpr expr, int64_t tile, bool unordered) -> Loop & {
    std::string name;
    llvm::raw_string_ostream os(name);
    ft::printNamedExpr(os, expr, own, {});
    if (tile > 1) {
      name = "floordiv(" + name + ", " + std::to_string(tile) + ")";
      expr = expr.floorDiv(tile);
    }
    loops.push_back({expr.shiftDims(numOwn, block.getNumAncestors()), unordered, name});
    return loops.back();
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
    Loop &added = add(map.getResult(loop.getDimension()), tile, isUnordered(loop.getKind()));
    // Shares of a reduction are dealt, and waited for, once they are a loop of their own, and their join a nest (T12).
    if (loop.getKind() != LoopKind::Associative)
      added.level = loop.getLevel();
    added.isFixed = loop.getMapping() == IterationMapping::Static && !loop.hasAnyTile();
    added.sync = loop.getSync();
    seen[loop.getDimension()] |= loop.isOverPoints();
  }
  // What the loops leave open runs in order.
  for (unsigned i = 0; i < numOwn; ++i)
    if (!seen[i])
      add(map.getResult(i), 1, false);
  return loops;
}

/// The number of loops over points outside of each loop over columns that is dealt to units.
static SmallVector<std::pair<LoopLevel, unsigned>> getDealtColumns(ScheduleAttr schedule) {
  SmallVector<std::pair<LoopLevel, unsigned>> columns;
  unsigned outside = 0;
  for (LoopAttr loop : schedule ? schedule.getLoops() : ArrayRef<LoopAttr>()) {
    if (!schedule.isOverColumns(loop))
      ++outside;
    else if (hasUnits(loop.getLevel()))
      columns.push_back({loop.getLevel(), outside});
  }
  return columns;
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
    schedule = item.blocks.front().getScheduleAttr();
  }
  item.before = schedule ? schedule.getBefore() : SyncKind::None;
  item.columns = getDealtColumns(schedule);
  for (BlockOp block : item.blocks) {
    std::optional<SmallVector<Loop>> loops =
        getLoops(block, schedule ? schedule : block.getScheduleAttr(), schedule ? op : block.getOperation(), report);
    if (!loops)
      return std::nullopt;
    if (!item.loops.empty() && loops->size() != item.loops.front().size()) {
      report(block, "T1",
             "the blocks of a nest have different numbers of loops: " +
                 Twine(item.loops.front().size()) + " and " + Twine(loops->size()));
      return std::nullopt;
    }
    // A loop is parallel where all regions say so, and so units wait.
    bool isFirst = item.loops.empty();
    item.unordered.resize(loops->size(), true);
    item.syncs.resize(loops->size(), SyncKind::None);
    for (auto [all, sync, loop] : llvm::zip_equal(item.unordered, item.syncs, *loops)) {
      all = all && loop.parallel;
      sync = isFirst || sync == loop.sync ? loop.sync : SyncKind::None;
    }
    item.loops.push_back(std::move(*loops));
  }
  return item;
}

bool Model::buildItem(const Item &item, const Place &place, const Shared *shared, Report report) {
  for (unsigned b = 0; b < item.blocks.size(); ++b) {
    BlockOp block = item.blocks[b];
    Place inner = place;
    const SmallVector<Loop> &loops = item.loops[b];
    Operation *owner = item.blocks.front();
    for (unsigned l = 0; l <= loops.size(); ++l) {
      if (shared && l == shared->count)
        inner.addText(shared->position, shared->waits, shared->launches);
      for (auto [level, outside] : item.columns)
        if (outside == l)
          inner.dealt.push_back({level, inner.path.size(), /*isFixed=*/false, {owner, l}});
      if (l == loops.size())
        break;
      bool isShared = shared && l < shared->count;
      inner.addLoop(loops[l], isShared ? shared->unordered[l] : item.unordered[l], isShared ? shared->syncs[l] : item.syncs[l],
                    {owner, l});
    }
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
    leaf.dealt = std::move(inner.dealt);
    if (!addAccesses(leaf, report))
      return false;
  }
  return true;
}

bool Model::buildKernel(KernelOp kernel, const Place &place, Report report) {
  SmallVector<Item, 0> items;
  for (Operation &nested : kernel.getBody().front()) {
    if (!isa<BlockOp, NestOp>(nested))
      continue;
    std::optional<Item> item = getItem(&nested, report);
    if (!item)
      return false;
    items.push_back(std::move(*item));
  }
  Shared shared;
  shared.count = kernel.getShared();
  shared.unordered.assign(shared.count, true);
  auto waits = std::make_shared<SmallVector<SyncKind>>();
  for (const Item &item : items) {
    if (item.unordered.size() < shared.count) {
      report(kernel, "T1",
             "the kernel shares " + Twine(shared.count) + " loops, one of its nests has " +
                 Twine(item.unordered.size()));
      return false;
    }
    if (waits->empty())
      shared.syncs.assign(item.syncs.begin(), item.syncs.begin() + shared.count);
    for (unsigned l = 0; l < shared.count; ++l) {
      shared.unordered[l] = shared.unordered[l] && item.unordered[l];
      if (shared.syncs[l] != item.syncs[l])
        shared.syncs[l] = SyncKind::None;
    }
    waits->push_back(item.before);
  }
  shared.waits = waits;
  // Nests that share no loops are launches of their own on a CPU.
  if (shared.count == 0 && kernel->getParentOp() == graph)
    shared.launches = Step::OfCpus;
  for (auto [i, item] : llvm::enumerate(items)) {
    shared.position = i;
    if (!buildItem(item, place, &shared, report))
      return false;
  }
  return true;
}

/// Who waits before each operation of a body.
static std::shared_ptr<const SmallVector<SyncKind>> getWaits(Region &body) {
  auto waits = std::make_shared<SmallVector<SyncKind>>();
  for (Operation &op : body.front()) {
    ScheduleAttr schedule;
    if (auto nest = dyn_cast<NestOp>(op))
      schedule = nest.getScheduleAttr();
    else if (auto block = dyn_cast<BlockOp>(op))
      schedule = block.getScheduleAttr();
    waits->push_back(schedule ? schedule.getBefore() : SyncKind::None);
  }
  return waits;
}

bool Model::buildBody(Region &body, const Place &place, Report report) {
  unsigned next = 0;
  std::shared_ptr<const SmallVector<SyncKind>> waits = getWaits(body);
  Step::Launches launches = body.getParentOp() == graph ? Step::OfAll : Step::NoLaunches;
  for (Operation &op : body.front()) {
    for (Value result : op.getResults())
      if (isa<BufferType>(result.getType()))
        buffers.push_back(result);
    Place inner = place;
    inner.addText(next++, waits, launches);
    if (isa<BlockOp, NestOp>(op)) {
      std::optional<Item> item = getItem(&op, report);
      if (!item || !buildItem(*item, inner, nullptr, report))
        return false;
    } else if (auto kernel = dyn_cast<KernelOp>(op)) {
      if (!buildKernel(kernel, inner, report))
        return false;
    }
  }
  return true;
}

bool Model::build(Report report) {
  for (BlockArgument argument : graph.getArguments())
    buffers.push_back(argument);
  return buildBody(graph.getBody(), Place(), report);
}
