//===- HoistCandidates.cpp - what a body computes again and again ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two iterations that differ by a vector of an access's null space refer to the
// same place (FT §5.2); where that holds of everything that a value is made of,
// the value is the same, too. Asked for unit vectors: what is left of the
// iteration vector then numbers the values.
//
//===----------------------------------------------------------------------===//
#include "HoistInvariants.h"
#include "ft/Analysis/AccessMatrix.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::hoist;

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Work &Work::operator+=(const Work &other) {
  product += other.product;
  elementwise += other.elementwise;
  elementary += other.elementary;
  return *this;
}

double Work::seconds(const ft::Machine &machine) const {
  return product / machine.productFlops() + elementwise / machine.elementwise() +
         elementary / machine.elementary();
}

static double getNumElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? static_cast<double>(tensor.getNumElements()) : 1;
}

Work hoist::getWork(Operation *op) {
  Work work;
  auto add = [&](Operation *inner, double points) {
    if (isa_and_nonnull<math::MathDialect>(inner->getDialect()))
      work.elementary += points;
    else if (isa_and_nonnull<arith::ArithDialect>(inner->getDialect()) &&
             !inner->hasTrait<OpTrait::ConstantLike>())
      work.elementwise += points;
  };
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp) {
    add(op, op->getNumResults() ? getNumElements(op->getResult(0).getType()) : 1);
    return work;
  }
  double points = 1;
  for (int64_t range : linalgOp.getStaticLoopRanges())
    points *= ShapedType::isDynamic(range) ? 1 : range;
  if (linalg::isaContractionOpInterface(linalgOp)) {
    work.product = 2 * points;
    return work;
  }
  for (Operation &inner : *linalgOp.getBlock())
    add(&inner, points);
  return work;
}

bool hoist::isAccumulation(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() || linalgOp.getNumDpsInits() != 1 ||
      linalgOp.getNumReductionLoops() == 0)
    return false;
  Block *body = linalgOp.getBlock();
  BlockArgument state = body->getArguments().back();
  Operation *yield = body->getTerminator();
  Operation *sum = yield->getNumOperands() == 1 ? yield->getOperand(0).getDefiningOp() : nullptr;
  return sum && isa<arith::AddFOp, arith::AddIOp>(sum) && state.hasOneUse() &&
         *state.user_begin() == sum;
}

bool hoist::canWiden(Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() >= 32 ||
      !linalg::isaContractionOpInterface(linalgOp))
    return false;
  Block *body = linalgOp.getBlock();
  return llvm::all_of(body->without_terminator(),
                      [](Operation &inner) { return isa<arith::MulFOp, arith::AddFOp>(inner); }) &&
         llvm::all_of(body->getArgumentTypes(), [&](Type type) { return type == element; });
}

RankedTensorType Repeat::getType() const {
  auto type = cast<RankedTensorType>(root.getType());
  return split && canWiden(getOp()) ? type.clone(Float32Type::get(type.getContext())) : type;
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

CandidateFinder::CandidateFinder(Block &body, const SymbolSpace &space, const Settings &settings)
    : body(body), space(space), settings(settings) {
  auto block = dyn_cast<BlockOp>(body.getParentOp());
  outer = block ? block.getNumDims() : 0;
}

/// Cheap operations of an element that are no candidate. This keeps the search short and no machine's price is in it: a list of the elements and a
/// pass over them cost more anywhere. What is a candidate is priced for the machine (HoistPlan.cpp).
static constexpr int64_t mostCheapOperations = 8;

/// More than what is done on the way to or from memory.
bool CandidateFinder::isHeavy(const Work &work, Type type) const {
  return settings.ahead ? work.product > 0
         : settings.all ? work.count() > 0
                      : work.product > 0 || work.elementary > 0 ||
                            work.elementwise > mostCheapOperations * getNumElements(type);
}

static bool writes(BlockOp leaf, Value buffer) {
  return leaf.isLeaf() && llvm::any_of(leaf.getWrites().getAsRange<WriteAttr>(), [&](WriteAttr w) {
           return leaf.getBuffers()[w.getOperand()] == buffer;
         });
}

ArrayRef<BlockOp> CandidateFinder::getWriters(Value buffer) {
  auto [it, isNew] = writers.try_emplace(buffer);
  if (isNew)
    for (Operation *user : llvm::SetVector<Operation *>(buffer.user_begin(), buffer.user_end()))
      if (auto leaf = dyn_cast<BlockOp>(user);
          leaf && body.getParentOp()->isAncestor(leaf) && writes(leaf, buffer))
        it->second.push_back(leaf);
  return it->second;
}

static void forEachBuffer(BlockOp leaf, ReadAttr read, llvm::function_ref<void(Value)> visit) {
  for (PieceAttr piece : read.getPieces()) {
    if (piece.getKind() == SourceKind::Buffer)
      visit(leaf.getBuffers()[piece.getOperand()]);
    for (GatherAttr gather : piece.getGathers())
      visit(leaf.getBuffers()[gather.getOperand()]);
  }
}

/// Whether an iteration of the item reads what one of the same item writes, at equal dimensions
/// around the body.
bool CandidateFinder::isWrittenBySameItem(BlockOp leaf, unsigned number, Operation *item) {
  for (Access &read : getAccesses(leaf)) {
    if (read.isWrite() || read.kind == Access::Identity || read.index != number)
      continue;
    for (BlockOp writer : getWriters(read.buffer)) {
      if (body.findAncestorOpInBlock(*writer) != item)
        continue;
      for (Access &write : getAccesses(writer)) {
        if (!write.isWrite() || write.buffer != read.buffer)
          continue;
        unsigned at = write.getPointSize();
        SetBuilder pair(space, at + read.getPointSize());
        if (failed(addPoint(pair, write)) || failed(addPoint(pair, read, at)))
          return true;
        for (unsigned d = 0; d < outer; ++d)
          pair.addEqual(d, at + d);
        auto from = getPlane(pair, write), to = getPlane(pair, read, at);
        if (failed(from) || failed(to))
          return true;
        for (auto [x, y] : llvm::zip_equal(*from, *to))
          if (x && y) {
            LinearExpr difference = *y;
            difference *= -1;
            difference += *x;
            pair.add(difference, /*isEq=*/true);
          }
        if (!isEmpty(pair.get()))
          return true;
      }
    }
  }
  return false;
}

/// The dimensions that a read depends on, and whether it reads the same before the item.
CandidateFinder::Info CandidateFinder::getInfo(BlockOp leaf, unsigned number, Operation *item,
                                               Operation *&writer) {
  unsigned numDims = leaf.getNumDims();
  Info info{llvm::SmallBitVector(numDims), true};
  ReadAttr read = leaf.getRead(number);
  auto mark = [&](AffineExpr expr) {
    for (unsigned d = 0; d < numDims; ++d)
      if (expr.isFunctionOfDim(d))
        info.dims.set(d);
  };
  for (PieceAttr piece : read.getPieces()) {
    if (IntegerSet set = piece.getSet().getValue(); !isUniverse(set))
      llvm::for_each(set.getConstraints(), mark);
    llvm::for_each(piece.getMap().getValue().getResults(), mark);
    for (GatherAttr gather : piece.getGathers())
      llvm::for_each(gather.getMap().getValue().getResults(), mark);
  }
  bool inSight = true, bySelf = false;
  forEachBuffer(leaf, read, [&](Value buffer) {
    // The plane of a private buffer depends on the blocks around it.
    for (unsigned d = 0, e = getNumOwnerDims(buffer); d < e && d < numDims; ++d)
      info.dims.set(d);
    if (Operation *def = buffer.getDefiningOp())
      inSight &= def->getParentOp()->isAncestor(body.getParentOp());
  });
  info.isKnown = inSight;
  // Where it depends on everything, nothing asks.
  int missing = info.dims.flip().find_next(static_cast<int>(outer) - 1);
  info.dims.flip();
  if (!inSight || (missing < 0 && !settings.ahead))
    return info;
  forEachBuffer(leaf, read, [&](Value buffer) {
    for (BlockOp block : getWriters(buffer)) {
      Operation *other = body.findAncestorOpInBlock(*block);
      bySelf |= other == item;
      if (other != item && other->isBeforeInBlock(item) &&
          (!writer || writer->isBeforeInBlock(other)))
        writer = other;
    }
  });
  if (bySelf && isWrittenBySameItem(leaf, number, item))
    info.isKnown = false;
  return info;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// Everything that an operation uses, also in its regions.
SmallVector<Value> getUsed(Operation *op) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return used.takeVector();
}
} // namespace

Value hoist::getInit(Operation *op) { return cast<linalg::LinalgOp>(op).getDpsInits().front(); }

static bool isFree(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp, linalg::FillOp>(op);
}

/// Whether an argument of the body is one number everywhere.
static bool isSplat(BlockOp leaf, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &leaf.getBody().front() &&
         llvm::all_of(leaf.getRead(argument.getArgNumber()).getPieces(),
                      [](PieceAttr piece) { return piece.getKind() == SourceKind::Splat; });
}

/// A product with a constant is for folding, not for a buffer: 0·W of the first state of a scan.
static bool hasConstantFactor(BlockOp leaf, Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && llvm::any_of(linalgOp.getDpsInputs(), [&](Value value) {
           Operation *def = value.getDefiningOp();
           return def ? isFree(def) : isSplat(leaf, value);
         });
}

/// Only moves or spreads values, over a tensor that is no smaller: better done where they are used.
static bool movesOrSpreads(Operation *op) {
  double size = getNumElements(op->getResult(0).getType());
  Work work = getWork(op);
  if (work.product > 0 || work.elementary > 0 || work.elementwise > size)
    return false;
  return llvm::all_of(getUsed(op), [&](Value value) {
    Operation *def = value.getDefiningOp();
    double given = getNumElements(value.getType());
    return (def && isFree(def)) || given < size || (given == size && work.count() == 0);
  });
}

static bool isStored(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding() && tensor.getElementType().isIntOrFloat();
}

namespace mlir::etdg::hoist {
/// One leaf: what its values depend on, and which of them repeat.
class LeafSearch {
public:
  LeafSearch(CandidateFinder &finder, BlockOp leaf);
  SmallVector<Repeat> run();

private:
  using Info = CandidateFinder::Info;
  Info join(ArrayRef<Value> values);
  bool repeats(const Info &info);
  bool mayRepeat(const Info &info);

  void visit(Operation &op);
  void visitAccumulation(Operation &op, const Info &whole);
  void explainProduct(Operation &op);
  void offerWhatVariesLess(Operation &op);
  void offer(Value value);
  void accept(Value root, bool split, const Info &info);

  Repeat collect(Value root, bool split, const Info &info);
  SmallVector<Operation *> collectOperations(Value root, bool split);
  SmallVector<unsigned> collectReads(const Repeat &repeat);
  Work workOnData(Operation &op, llvm::SmallDenseSet<Value> &ofPlaces);
  llvm::SmallDenseSet<Value> findPlaces(const Repeat &repeat);
  void measure(Repeat &repeat);

  CandidateFinder &finder;
  BlockOp leaf;
  Block &code;
  unsigned numDims;
  Operation *item;
  llvm::DenseMap<Value, Info> infos;
  SmallVector<Operation *> writerOf; // of each read
  CommonNames local;
  SmallVector<AffineExpr> pins;
  SmallVector<Repeat> found;
};
} // namespace mlir::etdg::hoist

LeafSearch::LeafSearch(CandidateFinder &finder, BlockOp leaf)
    : finder(finder), leaf(leaf), code(leaf.getBody().front()), numDims(leaf.getNumDims()),
      item(finder.body.findAncestorOpInBlock(*leaf)), writerOf(code.getNumArguments()), pins(getPins(leaf, local)) {}

LeafSearch::Info LeafSearch::join(ArrayRef<Value> values) {
  Info info{llvm::SmallBitVector(numDims), true};
  for (Value value : values) {
    auto it = infos.find(value);
    if (it == infos.end()) {
      info.isKnown = false;
      continue;
    }
    info.isKnown &= it->second.isKnown;
    info.dims |= it->second.dims;
  }
  return info;
}

/// Along a dimension of one value nothing repeats here, but other leaves may share the value.
bool LeafSearch::repeats(const Info &info) {
  if (finder.settings.ahead)
    return true;
  for (unsigned d = finder.outer; d < numDims; ++d)
    if (!info.dims.test(d) && isa<AffineDimExpr>(pins[d]))
      return true;
  return false;
}

bool LeafSearch::mayRepeat(const Info &info) {
  if (finder.settings.ahead)
    return true;
  for (unsigned d = finder.outer; d < numDims; ++d)
    if (!info.dims.test(d))
      return true;
  return false;
}

/// What makes `root`, in the program's order.
SmallVector<Operation *> LeafSearch::collectOperations(Value root, bool split) {
  llvm::SmallSetVector<Operation *, 8> ops;
  SmallVector<Value> work;
  auto require = [&](Operation *op) {
    if (!ops.insert(op))
      return;
    bool isSplit = split && op == root.getDefiningOp();
    for (Value value : getUsed(op))
      if (!isSplit || value != getInit(op))
        work.push_back(value);
    // The start may be one of the factors, too.
    if (isSplit)
      llvm::append_range(work, cast<linalg::LinalgOp>(op).getDpsInputs());
  };
  require(root.getDefiningOp());
  while (!work.empty())
    if (Operation *def = work.pop_back_val().getDefiningOp())
      require(def);
  SmallVector<Operation *> ordered(ops.takeVector());
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// In the order in which the operations name them: equal values have equal lists.
SmallVector<unsigned> LeafSearch::collectReads(const Repeat &repeat) {
  llvm::SmallSetVector<unsigned, 4> ordered;
  for (Operation *op : repeat.ops) {
    bool isSplit = repeat.split && op == repeat.getOp();
    SmallVector<Value> factors = isSplit ? llvm::to_vector(cast<linalg::LinalgOp>(op).getDpsInputs()) : SmallVector<Value>();
    for (Value value : getUsed(op)) {
      auto argument = dyn_cast<BlockArgument>(value);
      bool isLeft = isSplit && value == getInit(op) && !llvm::is_contained(factors, value);
      if (argument && !isLeft)
        ordered.insert(argument.getArgNumber());
    }
  }
  return llvm::to_vector(ordered);
}

/// What the value costs, and how much of that nothing else needs.
void LeafSearch::measure(Repeat &repeat) {
  llvm::SmallPtrSet<Operation *, 8> gone;
  for (Operation *op : llvm::reverse(repeat.ops)) {
    Work own = getWork(op);
    repeat.work += own;
    auto isGone = [&](Operation *user) { return gone.contains(code.findAncestorOpInBlock(*user)); };
    if (op == repeat.getOp() || llvm::all_of(op->getUsers(), isGone)) {
      gone.insert(op);
      repeat.saved += own;
    }
  }
}

Repeat LeafSearch::collect(Value root, bool split, const Info &info) {
  Repeat repeat;
  repeat.leaf = leaf;
  repeat.root = root;
  repeat.split = split;
  repeat.dims = info.dims;
  repeat.follows = !repeats(info);
  repeat.item = item;
  repeat.ops = collectOperations(root, split);
  repeat.reads = collectReads(repeat);
  for (unsigned read : repeat.reads)
    if (Operation *writer = writerOf[read])
      if (!repeat.writer || repeat.writer->isBeforeInBlock(writer))
        repeat.writer = writer;
  measure(repeat);
  return repeat;
}

static bool countsWhole(Operation &op) {
  auto isWhole = [](Type type) { return getElementTypeOrSelf(type).isIntOrIndex(); };
  return op.hasTrait<OpTrait::ConstantLike>() || isa<linalg::IndexOp, tensor::EmptyOp>(op) ||
         (isa_and_nonnull<arith::ArithDialect>(op.getDialect()) &&
          (isa<arith::SelectOp>(op) || (llvm::all_of(op.getOperandTypes(), isWhole) && llvm::all_of(op.getResultTypes(), isWhole))));
}

/// Work on more than the places of elements: integers and flags that follow from these, and choices by such flags, as in masks of attention, don't count. Many
/// units at once compute them anew for less than memory takes to hand them on, and tiles in registers know their places. `ofPlaces` has such values.
Work LeafSearch::workOnData(Operation &op, llvm::SmallDenseSet<Value> &ofPlaces) {
  auto isKnown = [&](Value value) { return ofPlaces.contains(value); };
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp) {
    if (!countsWhole(op) || !llvm::all_of(op.getOperands(), isKnown))
      return getWork(&op);
    ofPlaces.insert(op.result_begin(), op.result_end());
    return Work();
  }
  if (linalgOp.getNumReductionLoops() > 0)
    return getWork(&op);
  Block &body = *linalgOp.getBlock();
  for (OpOperand &operand : op.getOpOperands())
    if (isKnown(operand.get()))
      ofPlaces.insert(linalgOp.getMatchingBlockArgument(&operand));
  Work work;
  for (Operation &inner : body.without_terminator())
    work += workOnData(inner, ofPlaces);
  for (auto [result, yielded] : llvm::zip_equal(op.getResults(), body.getTerminator()->getOperands()))
    if (isKnown(yielded))
      ofPlaces.insert(result);
  const double points = getNumElements(op.getResult(0).getType());
  return {work.product * points, work.elementwise * points, work.elementary * points};
}

/// Reads of numbers alone: of iterations, and constants.
llvm::SmallDenseSet<Value> LeafSearch::findPlaces(const Repeat &repeat) {
  llvm::SmallDenseSet<Value> ofPlaces;
  for (unsigned read : repeat.reads)
    if (llvm::all_of(leaf.getRead(read).getPieces(), [](PieceAttr piece) { return piece.getKind() != SourceKind::Buffer && piece.getGathers().empty(); }))
      ofPlaces.insert(code.getArgument(read));
  return ofPlaces;
}

void LeafSearch::accept(Value root, bool split, const Info &info) {
  if (llvm::any_of(found, [&](Repeat &r) { return r.root == root && r.split == split; }))
    return;
  Repeat repeat = collect(root, split, info);
  // What is made of constants alone is for folding, too.
  llvm::SmallPtrSet<Operation *, 8> varying;
  Work heavy, onData;
  llvm::SmallDenseSet<Value> ofPlaces = findPlaces(repeat);
  for (Operation *op : repeat.ops) {
    const Work own = workOnData(*op, ofPlaces);
    for (Value value : getUsed(op)) {
      Operation *def = value.getDefiningOp();
      if (def ? varying.contains(def) : !isSplat(leaf, value))
        varying.insert(op);
    }
    if (varying.contains(op) && !hasConstantFactor(leaf, op)) {
      heavy += getWork(op);
      onData += own;
    }
  }
  if (!finder.isHeavy(heavy, root.getType()))
    return;
  if (finder.settings.isWide() && !finder.isHeavy(onData, root.getType()))
    finder.refusals.push_back({root.getDefiningOp(), leaf, "positions", ""});
  else
    found.push_back(std::move(repeat));
}

/// What of the value is worth a buffer.
void LeafSearch::offer(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def || isFree(def))
    return;
  if (def->getNumResults() == 1 && movesOrSpreads(def)) {
    for (Value operand : getUsed(def))
      offer(operand);
    return;
  }
  if (isStored(value.getType()))
    accept(value, false, infos[value]);
}

/// A product that repeats along no dimension may do so along a slanted line: a refusal says so.
void LeafSearch::explainProduct(Operation &op) {
  Repeat whole;
  whole.leaf = leaf;
  whole.root = op.getResult(0);
  for (Value value : cast<linalg::LinalgOp>(op).getDpsInputs()) {
    auto argument = dyn_cast<BlockArgument>(value);
    whole.reads.push_back(argument ? argument.getArgNumber() : ~0u);
  }
  finder.explainSkew(leaf, whole);
}

/// A product that is added to what varies.
void LeafSearch::visitAccumulation(Operation &op, const Info &whole) {
  Info part = join(llvm::to_vector(cast<linalg::LinalgOp>(op).getDpsInputs()));
  part.isKnown &= isMemoryEffectFree(&op);
  for (Value value : getUsed(&op))
    if (!llvm::is_contained(op.getOperands(), value))
      part.isKnown = false;
  if (!mayRepeat(part))
    return explainProduct(op);
  if (!part.isKnown) {
    if (repeats(part))
      finder.refusals.push_back({&op, leaf, "dependence", ""});
    return;
  }
  // As a whole, if what it is added to does not vary either.
  bool startIsFree = getInit(&op).getDefiningOp() && isFree(getInit(&op).getDefiningOp());
  bool isWhole = finder.settings.ahead || (whole.dims == part.dims && repeats(part));
  if (startIsFree || (whole.isKnown && isWhole))
    return;
  Type element = getElementTypeOrSelf(op.getResult(0).getType());
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 && !canWiden(&op) && !finder.settings.narrow) {
    finder.refusals.push_back({&op, leaf, "narrow", ""});
    return;
  }
  if (isStored(op.getResult(0).getType()))
    accept(op.getResult(0), /*split=*/true, part);
}

void LeafSearch::visit(Operation &op) {
  Info info = join(getUsed(&op));
  info.isKnown &= isMemoryEffectFree(&op);
  // A product with a constant stays after: the iterations after the first one have another factor
  // there, and what is ahead of both should be one value.
  if (finder.settings.ahead && getWork(&op).product > 0 && hasConstantFactor(leaf, &op))
    info.isKnown = false;
  for (Value result : op.getResults())
    infos[result] = info;
  if (op.getNumResults() != 1 || !finder.isHeavy(getWork(&op), op.getResult(0).getType()) ||
      hasConstantFactor(leaf, &op))
    return;
  if (isAccumulation(&op))
    return visitAccumulation(op, info);
  if (!info.isKnown && repeats(info))
    finder.refusals.push_back({&op, leaf, "dependence", ""});
}

/// Values that something needs which varies more.
void LeafSearch::offerWhatVariesLess(Operation &op) {
  bool ends = op.hasTrait<OpTrait::IsTerminator>();
  Info info = ends ? Info() : infos[op.getResult(0)];
  for (Value value : getUsed(&op)) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &code)
      continue;
    const Info own = infos[value];
    bool variesLess = !finder.settings.ahead && info.dims != own.dims;
    if (own.isKnown && mayRepeat(own) && (ends || !info.isKnown || variesLess))
      offer(value);
  }
}

SmallVector<Repeat> LeafSearch::run() {
  for (BlockArgument argument : code.getArguments()) {
    unsigned number = argument.getArgNumber();
    infos[argument] = finder.getInfo(leaf, number, item, writerOf[number]);
  }
  for (Operation &op : code.without_terminator())
    visit(op);
  for (Operation &op : code)
    offerWhatVariesLess(op);
  return std::move(found);
}

SmallVector<Repeat> CandidateFinder::find(BlockOp leaf) {
  auto isWorthIt = [&](Operation &op) {
    return op.getNumResults() && isHeavy(getWork(&op), op.getResult(0).getType());
  };
  if (leaf.getNumDims() <= outer || llvm::none_of(leaf.getBody().front(), isWorthIt))
    return {};
  return LeafSearch(*this, leaf).run();
}

/// Null spaces without a unit vector: the product repeats, along a slanted line.
void CandidateFinder::explainSkew(BlockOp leaf, const Repeat &repeat) {
  unsigned count = leaf.getNumDims() - outer;
  if (count < 2)
    return;
  IntegerMatrix rows(0, count);
  for (Access &access : getAccesses(leaf)) {
    if (access.isWrite() || access.kind == Access::Identity ||
        !llvm::is_contained(repeat.reads, access.index))
      continue;
    if (access.set && !isUniverse(access.set))
      return;
    AccessMatrix matrix = getAccessMatrix(access, space);
    if (!matrix.isLinear())
      return;
    IntegerMatrix part = matrix.getLinearPart(outer, count);
    for (unsigned r = 0; r < part.getNumRows(); ++r)
      rows.appendRow(part.getRow(r));
  }
  if (rows.getNumRows() == 0 || llvm::is_contained(repeat.reads, ~0u))
    return;
  std::optional<IntegerMatrix> directions = computeNullSpace(rows);
  if (!directions || directions->getNumRows() == 0)
    return;
  refusals.push_back({repeat.getOp(), leaf, "skew", directions->str()});
}
