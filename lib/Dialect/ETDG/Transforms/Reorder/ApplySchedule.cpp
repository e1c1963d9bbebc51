//===- ApplySchedule.cpp - blocks in the coordinates of their schedule ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/TransformedDomain.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/Transforms/ApplySchedule.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGAPPLYSCHEDULE
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

namespace {
/// A schedule made ready: one loop order for rows, names for them, and the
/// expressions that stand for the old dimensions.
struct Applied {
  AffineMap map;     // rows in loop order
  AffineMap inverse; // old own dimensions over the new ones
  SmallVector<LoopAttr> loops;
  SmallVector<int> plain;      // the old own dimension that a row is, or -1
  SmallVector<StringAttr> names;
  SmallVector<bool> parallel;  // by row
};

class Applier {
public:
  Applier(const SymbolSpace &space, TransformedDomains &domains, MLIRContext *context)
      : space(space), domains(domains), context(context) {}
  /// An item of a body: a nest or block with all inside.
  FailureOr<Operation *> applyAll(Operation *item);
  LogicalResult applyAll(Region &body);
  LogicalResult apply(ArrayRef<BlockOp> blocks, ScheduleAttr schedule, Operation *owner);

private:
  FailureOr<Applied> prepare(ArrayRef<BlockOp> blocks, ScheduleAttr schedule, Operation *owner);
  BlockOp rewrite(BlockOp block, const Applied &applied, unsigned first, bool isOwner);

  const SymbolSpace &space;
  TransformedDomains &domains;
  MLIRContext *context;
};

struct ETDGApplySchedule : etdg::impl::ETDGApplyScheduleBase<ETDGApplySchedule> {
  void runOnOperation() override;
};
} // namespace

/// The old dimension that a row is, up to a constant, or -1.
static int plainDim(AffineExpr row) {
  LinearForm form = LinearForm::of(row);
  if (form.terms.size() != 1 || form.terms.front().second != 1)
    return -1;
  auto dim = dyn_cast<AffineDimExpr>(form.terms.front().first);
  return dim ? static_cast<int>(dim.getPosition()) : -1;
}

FailureOr<Applied> Applier::prepare(ArrayRef<BlockOp> blocks, ScheduleAttr schedule,
                                    Operation *owner) {
  BlockOp front = blocks.front();
  unsigned numOwn = front.getNumOwnDims();
  AffineMap map = schedule.getMap().getValue();
  if (map.getNumDims() != numOwn || failed(getInverseSchedule(map)))
    return owner->emitOpError() << "has a schedule that is not unimodular: "
                                << AffineMapAttr::get(map) << " over " << numOwn << " dimensions";

  // Rows in the order of their outermost loops; what has no loop runs inside, in order.
  SmallVector<int64_t> rows;
  SmallVector<bool> parallel(numOwn, true);
  SmallVector<bool> seen(numOwn, false);
  for (LoopAttr loop : schedule.getPointLoops()) {
    int64_t row = loop.getDimension();
    if (!llvm::is_contained(rows, row))
      rows.push_back(row);
    parallel[row] = parallel[row] && loop.isParallel();
    seen[row] = seen[row] || loop.isOverPoints();
  }
  Builder builder(context);
  SmallVector<LoopAttr> loops(schedule.getLoops());
  for (unsigned r = 0; r < numOwn; ++r) {
    if (seen[r])
      continue;
    if (!llvm::is_contained(rows, r))
      rows.push_back(r);
    parallel[r] = false;
    loops.push_back(LoopAttr::get(context, r, 1, LoopKind::Sequential));
  }

  Applied applied;
  SmallVector<AffineExpr> results;
  for (int64_t row : rows) {
    results.push_back(map.getResult(row));
    applied.parallel.push_back(parallel[row]);
    applied.plain.push_back(plainDim(map.getResult(row)));
  }
  applied.map = AffineMap::get(numOwn, 0, results, context);
  applied.inverse = *getInverseSchedule(applied.map);
  for (LoopAttr loop : loops) {
    if (schedule.isOverColumns(loop)) {
      applied.loops.push_back(loop);
      continue;
    }
    int64_t position = llvm::find(rows, loop.getDimension()) - rows.begin();
    applied.loops.push_back(loop.withDimension(position));
  }

  // New names are taken by nothing in sight.
  llvm::SmallDenseSet<StringAttr> taken(space.getNames().begin(), space.getNames().end());
  for (BlockOp block : blocks)
    block->walk([&](BlockOp inner) {
      for (StringAttr name : inner.getDimNames())
        taken.insert(name);
      for (StringAttr name : inner.getSymbolNames())
        taken.insert(name);
    });
  SmallVector<StringAttr> dims = front.getDimNames();
  unsigned number = 0;
  for (int plain : applied.plain) {
    StringAttr name;
    if (plain >= 0) {
      name = dims[front.getNumAncestors() + plain];
    } else {
      do
        name = builder.getStringAttr(number++ == 0 ? "t" : "t" + std::to_string(number - 1));
      while (!taken.insert(name).second);
    }
    applied.names.push_back(name);
  }
  return applied;
}

namespace {
/// What a block says of points, at points with the old dimensions from `first` on replaced.
class Replaced {
public:
  Replaced(const Applied &applied, unsigned first, MLIRContext *context)
      : applied(applied), first(first), context(context) {
    for (unsigned r = 0; r < applied.names.size(); ++r)
      shifted.push_back(getAffineDimExpr(first + r, context));
  }

  AffineMap onMap(AffineMap map) const {
    SmallVector<AffineExpr> with = replacements(map.getNumDims()), results;
    for (AffineExpr e : map.getResults())
      results.push_back(e.replaceDims(with));
    return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
  }
  IntegerSet onSet(IntegerSet set) const {
    if (isUniverse(set))
      return set;
    SmallVector<AffineExpr> with = replacements(set.getNumDims()), constraints;
    for (AffineExpr e : set.getConstraints())
      constraints.push_back(e.replaceDims(with));
    return IntegerSet::get(set.getNumDims(), set.getNumSymbols(), constraints, set.getEqFlags());
  }
  ReadAttr onRead(ReadAttr read) const {
    SmallVector<PieceAttr> pieces;
    for (PieceAttr piece : read.getPieces()) {
      SmallVector<GatherAttr> gathers;
      for (GatherAttr gather : piece.getGathers())
        gathers.push_back(
            GatherAttr::get(context, gather.getPosition(), gather.getOperand(),
                            AffineMapAttr::get(onMap(gather.getMap().getValue()))));
      pieces.push_back(PieceAttr::get(
          context, IntegerSetAttr::get(onSet(piece.getSet().getValue())), piece.getKind(),
          piece.getOperand(), AffineMapAttr::get(onMap(piece.getMap().getValue())), gathers,
          piece.getValue()));
    }
    return ReadAttr::get(context, pieces, read.getElementRank());
  }

private:
  SmallVector<AffineExpr> replacements(unsigned count) const {
    SmallVector<AffineExpr> exprs;
    for (unsigned d = 0; d < count; ++d)
      exprs.push_back(d >= first && d < first + applied.names.size()
                          ? applied.inverse.getResult(d - first).replaceDims(shifted)
                          : getAffineDimExpr(d, context));
    return exprs;
  }

  const Applied &applied;
  unsigned first;
  MLIRContext *context;
  SmallVector<AffineExpr> shifted;
};
} // namespace

/// The operators of the dimensions that a schedule makes.
static SmallVector<ft::OperatorKind> operatorsOf(BlockOp block, const Applied &applied) {
  SmallVector<ft::OperatorKind> operators;
  unsigned numNew = applied.names.size();
  for (unsigned r = 0; r < numNew; ++r) {
    int plain = applied.plain[r];
    ft::OperatorKind kind = applied.parallel[r] ? ft::OperatorKind::Map
                            : plain >= 0        ? block.getOperator(plain)
                                                : ft::OperatorKind::ScanL;
    // A map may be what carries now: other dimensions ran in order before.
    if (kind == ft::OperatorKind::Map && !applied.parallel[r])
      kind = ft::OperatorKind::ScanL;
    operators.push_back(kind);
  }
  return operators;
}

/// The block anew, with the old dimensions from `first` on replaced; its body
/// moves over. Children are the caller's to rewrite.
BlockOp Applier::rewrite(BlockOp block, const Applied &applied, unsigned first, bool isOwner) {
  unsigned numNew = applied.names.size();
  Replaced replaced(applied, first, context);
  BlockBuilder b;
  b.name = block.getBlockName().value_or("").str();
  b.numAncestors = block.getNumAncestors();
  b.symbols = block.getSymbolNames();
  b.buffers = llvm::to_vector(block.getBuffers());
  b.dims = block.getDimNames();
  for (unsigned r = 0; r < numNew; ++r)
    b.dims[first + r] = applied.names[r];
  bool keepsCombine = true;
  if (isOwner) {
    b.operators = operatorsOf(block, applied);
    b.domain = *domains.get(block, applied.map, space);
    // What is skewed is cut nowhere.
    keepsCombine = llvm::any_of(b.operators, [](ft::OperatorKind kind) {
      return kind == ft::OperatorKind::Reduce || kind == ft::OperatorKind::Fold ||
             kind == ft::OperatorKind::Scan;
    });
  } else {
    for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
      b.operators.push_back(block.getOperator(d));
    b.domain = replaced.onSet(block.getDomainSet());
  }
  for (unsigned i = 0; i < block.getNumReads(); ++i)
    b.reads.push_back(replaced.onRead(block.getRead(i)));
  for (unsigned i = 0; i < block.getNumWrites(); ++i) {
    WriteAttr write = block.getWrite(i);
    b.writes.push_back(WriteAttr::get(context, write.getOperand(),
                                      AffineMapAttr::get(replaced.onMap(write.getMap().getValue()))));
  }
  if (keepsCombine)
    for (ReadAttr read : block.getIdentity().getAsRange<ReadAttr>())
      b.identity.push_back(replaced.onRead(read));

  OpBuilder builder(block);
  BlockOp result = b.build(builder, block.getLoc(), {});
  result.getBody().takeBody(block.getBody());
  if (keepsCombine)
    result.getCombine().takeBody(block.getCombine());
  if (ScheduleAttr schedule = block.getScheduleAttr())
    result.setScheduleAttr(schedule);
  result->setDiscardableAttrs(block->getDiscardableAttrDictionary());
  block.erase();
  return result;
}

LogicalResult Applier::apply(ArrayRef<BlockOp> blocks, ScheduleAttr schedule, Operation *owner) {
  FailureOr<Applied> applied = prepare(blocks, schedule, owner);
  if (failed(applied))
    return failure();
  auto identity = ScheduleAttr::get(
      context, AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(applied->map.getNumDims(), context)),
      applied->loops, schedule.getPlacements(), schedule.getBefore(), schedule.getWeights(),
      schedule.getBlock(), schedule.getColumns(), schedule.getTarget());
  unsigned first = BlockOp(blocks.front()).getNumAncestors();
  bool isChanged = !applied->map.isIdentity();
  if (isChanged) {
    for (BlockOp block : blocks)
      if (failed(domains.get(block, applied->map, space)))
        return block.emitOpError() << "has a domain that its schedule "
                                   << AffineMapAttr::get(applied->map) << " takes out of 64 bits";
    for (BlockOp block : blocks) {
      bool alone = block.getOperation() == owner;
      BlockOp changed = rewrite(block, *applied, first, /*isOwner=*/true);
      if (alone)
        owner = changed;
      SmallVector<BlockOp> inside;
      changed.getBody().walk<WalkOrder::PreOrder>([&](BlockOp inner) { inside.push_back(inner); });
      // Innermost last: a rewritten block takes its body along.
      for (BlockOp inner : inside)
        rewrite(inner, *applied, first, /*isOwner=*/false);
    }
  }
  setSchedule(owner, identity);
  owner->removeAttr(etdg::names::candidates);
  return success();
}

FailureOr<Operation *> Applier::applyAll(Operation *item) {
  if (!isa<ScheduledOpInterface>(item))
    return item;
  item->removeAttr(etdg::names::divisions);
  // Outside first. A block that stands alone is replaced.
  bool isAlone = isa<BlockOp>(item);
  Operation *before = item->getPrevNode();
  Block *body = item->getBlock();
  if (ScheduleAttr schedule = scheduleOf(item); schedule && failed(apply(blocksOf(item), schedule, item)))
    return failure();
  if (isAlone)
    item = before ? before->getNextNode() : &body->front();
  for (BlockOp inner : blocksOf(item))
    if (!inner.isLeaf() && failed(applyAll(inner.getBody())))
      return failure();
  return item;
}

LogicalResult Applier::applyAll(Region &body) {
  for (Operation *item = &body.front().front(), *next; item; item = next) {
    next = item->getNextNode(); // the item may be replaced
    if (auto kernel = dyn_cast<KernelOp>(item)) {
      if (failed(applyAll(kernel.getBody())))
        return failure();
    } else if (auto variants = dyn_cast<VariantsOp>(item)) {
      for (Region &variant : variants.getVariants())
        if (failed(applyAll(variant)))
          return failure();
    } else if (failed(applyAll(item))) {
      return failure();
    }
  }
  return success();
}

ScheduleApplier::ScheduleApplier(GraphOp graph, std::shared_ptr<TransformedDomains> given)
    : space(graph), domains(given ? std::move(given) : std::make_shared<TransformedDomains>()) {}

FailureOr<Operation *> ScheduleApplier::apply(Operation *item) {
  return Applier(space, *domains, item->getContext()).applyAll(item);
}

LogicalResult etdg::applySchedules(GraphOp graph) {
  SymbolSpace space(graph);
  TransformedDomains domains;
  return Applier(space, domains, graph.getContext()).applyAll(graph.getBody());
}

void ETDGApplySchedule::runOnOperation() {
  if (GraphOp graph = getOperation(); !graph.isExternal() && failed(applySchedules(graph)))
    signalPassFailure();
}
