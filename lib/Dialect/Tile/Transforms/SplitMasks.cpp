//===- SplitMasks.cpp - blocks of a reduction that a mask hides, shows or cuts -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index-set splitting of a loop over blocks of columns with a mask such as attention's:
// causal, or a window. Rows of a tile have unequal ranges of columns. The loop runs over
// their union, and asks for the mask in those blocks alone that are not in all of them.
//
//===----------------------------------------------------------------------===//
#include "MaskForm.h"
#include "MaskedStates.h"
#include "OrderTasks.h"
#include "Repeats.h"

#include "ft/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILESPLITMASKS
#include "ft/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {
/// A comparison that shows an element where `rest` + `step` · index of the loop is not negative. It holds there, or does not.
struct Limit {
  arith::CmpIOp compare;
  bool holds = true;
  MaskForm rest;
  int64_t step = 0;

  bool isUpper() const { return step < 0; }
};

/// The mask of one loop.
class MaskSplit {
public:
  MaskSplit(scf::ForOp loop, Repeats &repeats) : loop(loop), repeats(repeats), b(loop.getLoc(), loop) {}
  bool find();
  void run();

private:
  bool readMask(arith::SelectOp select, bool hides);
  void readCondition(Value condition, bool holds);
  void readCompare(arith::CmpIOp compare, bool holds);
  bool addLimits(const Limit &limit, Value more, Value less, int64_t apart);
  bool findBranch();
  Value constant(int64_t value) { return arith::ConstantIntOp::create(b, value, 64); }
  Value smaller(Value one, Value other) { return b.createOrFold<arith::MinSIOp>(one, other); }
  Value larger(Value one, Value other) { return b.createOrFold<arith::MaxSIOp>(one, other); }
  Value limitAt(const Limit &limit, bool isForAll);
  Value boundOf(bool isUpper, bool isForAll);
  Value isShownAt(const Limit &limit, Value index, int64_t column);
  Value showsAllRows();
  void branch(Value from, Value to);
  void orderTasks();

  scf::ForOp loop;
  Repeats &repeats;
  ImplicitLocOpBuilder b;
  Masked masked;
  RegistersType type;
  int64_t columns = 0;
  SmallVector<Limit> limits;
  bool hasOthers = false; // conditions that the loop's index does not decide
  std::optional<IdleWhen> idle;
  llvm::SetVector<Operation *> inBranch; // what depends on the mask, and is asked for once with it and once without
  Operation *place = nullptr;            // where the branch comes
};
} // namespace

//===----------------------------------------------------------------------===//
// The mask
//===----------------------------------------------------------------------===//

/// The operation that gives each element of a tile, through maps and what spreads values, in a loop; the value itself where none does.
static Value elementOf(Value value, scf::ForOp loop) {
  while (true) {
    value = tileOfElement(value);
    Operation *op = value.getDefiningOp();
    if (!op || !loop->isAncestor(op))
      return value;
    if (auto map = dyn_cast<MapOp>(op))
      value = map.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
    else if (isa<BroadcastOp, RowValuesOp, SplatOp>(op))
      value = op->getOperand(0);
    else
      return value;
  }
}

/// Adds what it takes that one number is greater than another one by so much: all parts of a maximum must be less, all of a minimum more.
bool MaskSplit::addLimits(const Limit &limit, Value more, Value less, int64_t apart) {
  MaskForms forms(loop);
  std::optional<MaskForm> one = forms.read(more), other = forms.read(less);
  if (one && other) {
    Limit own = limit;
    own.rest = *one;
    own.rest.add(*other, -1);
    own.rest.constant -= apart;
    own.step = own.rest.take(loop.getInductionVar());
    if (own.step != 0)
      limits.push_back(std::move(own));
    return own.step != 0;
  }
  if (auto least = elementOf(more, loop).getDefiningOp<arith::MinSIOp>(); least && !one)
    return addLimits(limit, least.getLhs(), less, apart) && addLimits(limit, least.getRhs(), less, apart);
  if (auto most = elementOf(less, loop).getDefiningOp<arith::MaxSIOp>(); most && !other)
    return addLimits(limit, more, most.getLhs(), apart) && addLimits(limit, more, most.getRhs(), apart);
  return false;
}

void MaskSplit::readCompare(arith::CmpIOp compare, bool holds) {
  using P = arith::CmpIPredicate;
  const P predicate = holds ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
  const bool isLess = predicate == P::sle || predicate == P::slt, isStrict = predicate == P::sgt || predicate == P::slt;
  Value more = isLess ? compare.getRhs() : compare.getLhs(), less = isLess ? compare.getLhs() : compare.getRhs();
  const size_t before = limits.size();
  if ((isLess || predicate == P::sge || isStrict) && addLimits({compare, holds, {}, 0}, more, less, isStrict ? 1 : 0))
    return;
  limits.truncate(before);
  hasOthers = true;
}

/// Which conditions hold where a flag is set, or where it is not.
void MaskSplit::readCondition(Value condition, bool holds) {
  condition = elementOf(condition, loop);
  APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant))) {
    hasOthers |= constant.isZero() == holds;
    return;
  }
  Operation *op = condition.getDefiningOp();
  if (!op || !loop->isAncestor(op)) {
    hasOthers = true;
    return;
  }
  if (holds ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op)) {
    readCondition(op->getOperand(0), holds);
    return readCondition(op->getOperand(1), holds);
  }
  if (auto either = dyn_cast<arith::XOrIOp>(op); either && matchPattern(elementOf(either.getRhs(), loop), m_ConstantInt(&constant)))
    return readCondition(either.getLhs(), holds == constant.isZero());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return readCompare(compare, holds);
  hasOthers = true;
}

/// The mask that a choice is, where one side of it is a number.
bool MaskSplit::readMask(arith::SelectOp select, bool hides) {
  std::optional<double> low = constantOf(hides ? select.getTrueValue() : select.getFalseValue());
  if (!low)
    return false;
  hasOthers = false;
  readCondition(select.getCondition(), !hides);
  masked = {select, *low, hides};
  type = cast<RegistersType>(select->getParentOfType<MapOp>().getResult(0).getType());
  return !limits.empty();
}

/// Whether iterations leave more than the states that they carry.
static bool writes(scf::ForOp loop) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(loop);
  return !effects || llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) { return !isa<MemoryEffects::Read>(effect.getEffect()); });
}

bool MaskSplit::find() {
  APInt step;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isOne() || loop.getNumRegionIterArgs() == 0 || loop.getBody()->getOps<MmaOp>().empty())
    return false;
  for (auto map : loop.getBody()->getOps<MapOp>()) {
    for (auto select : map.getBody().front().getOps<arith::SelectOp>())
      if (limits.empty() && !readMask(select, /*hides=*/false))
        readMask(select, /*hides=*/true);
  }
  if (limits.empty())
    return false;
  columns = type.getShape()[1];
  for (auto reduce : loop.getBody()->getOps<ReduceOp>())
    if (reduce.getInput().getType().getShape() == type.getShape())
      columns = std::min(columns, int64_t(reduce.getColumns()));
  if (!findBranch())
    return false;
  if (!writes(loop))
    idle = findIdle(loop, masked);
  return true;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// The first index after those (of an upper limit), or the first one of those, at which it shows all elements of a tile, or some.
Value MaskSplit::limitAt(const Limit &limit, bool isForAll) {
  const auto [leastRow, mostRow] = limit.rest.rangeOf(0, type.getShape()[0]);
  const auto [leastColumn, mostColumn] = limit.rest.rangeOf(1, columns);
  MaskForm form = limit.rest;
  form.constant += isForAll ? leastRow + leastColumn : mostRow + mostColumn;
  Value zero = constant(0), sum = form.emit(b);
  if (limit.isUpper()) // sum - n i >= 0
    return b.createOrFold<arith::DivUIOp>(larger(b.createOrFold<arith::AddIOp>(sum, constant(-limit.step)), zero), constant(-limit.step));
  Value below = larger(b.createOrFold<arith::SubIOp>(zero, sum), zero);
  return b.createOrFold<arith::DivUIOp>(b.createOrFold<arith::AddIOp>(below, constant(limit.step - 1)), constant(limit.step));
}

/// That of all limits on one side; null: there are none.
Value MaskSplit::boundOf(bool isUpper, bool isForAll) {
  Value bound;
  for (const Limit &limit : limits) {
    if (limit.isUpper() != isUpper)
      continue;
    Value own = limitAt(limit, isForAll);
    bound = !bound ? own : isUpper ? smaller(bound, own) : larger(bound, own);
  }
  return bound;
}

/// Whether a limit shows this column of an iteration in all rows.
Value MaskSplit::isShownAt(const Limit &limit, Value index, int64_t column) {
  MaskForm form = limit.rest;
  form.constant += form.rangeOf(0, type.getShape()[0]).first + column * *form.factorOf(1);
  Value at = b.createOrFold<arith::AddIOp>(form.emit(b), b.createOrFold<arith::MulIOp>(index, constant(limit.step)));
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, at, constant(0));
}

/// Whether each row has an element that is shown, as far as limits say. Columns follow each other from one iteration to the next: limits that meet have one between them.
/// Null where that is not seen.
Value MaskSplit::showsAllRows() {
  auto counts = [&](const Limit &limit) { return std::abs(limit.step) == columns && limit.rest.factorOf(1) == (limit.isUpper() ? -1 : 1); };
  if (!llvm::all_of(limits, counts))
    return {};
  Value all = arith::ConstantIntOp::create(b, 1, 1);
  auto need = [&](Value condition) { all = b.createOrFold<arith::AndIOp>(all, condition); };
  Value last = b.createOrFold<arith::SubIOp>(loop.getUpperBound(), constant(1));
  for (const Limit &limit : limits) {
    need(limit.isUpper() ? isShownAt(limit, loop.getLowerBound(), 0) : isShownAt(limit, last, columns - 1));
    for (const Limit &other : limits) {
      if (!limit.isUpper() || other.isUpper())
        continue;
      MaskForm between = limit.rest;
      between.add(other.rest, 1);
      between.constant += between.rangeOf(0, type.getShape()[0]).first;
      need(b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, between.emit(b), constant(0)));
    }
  }
  return all;
}

//===----------------------------------------------------------------------===//
// The branch
//===----------------------------------------------------------------------===//

/// Whether an operation may stand on both sides of a branch: with the mask, and without it.
static bool mayBeTwice(Operation &op) { return isMemoryEffectFree(&op) && !op.hasTrait<OpTrait::IsTerminator>(); }

/// Whether all that an operation uses, in its regions, too, meets a condition.
static bool usesAny(Operation &op, llvm::function_ref<bool(Value)> is) {
  bool found = false;
  op.walk([&](Operation *inner) { found |= llvm::any_of(inner->getOperands(), is); });
  return found;
}

/// What depends on the mask, but for what the loop carries in tiles or products give: these may be in flight meanwhile.
bool MaskSplit::findBranch() {
  Block &body = *loop.getBody();
  llvm::DenseSet<Operation *> late; // depends on the mask, and stays
  llvm::DenseSet<Value> sums;       // tiles that are carried, and what is computed of them
  for (BlockArgument argument : loop.getRegionIterArgs())
    if (isa<RegistersType>(argument.getType()))
      sums.insert(argument);
  for (Operation &op : body.without_terminator()) {
    bool isMask = llvm::any_of(limits, [&](const Limit &limit) { return op.isAncestor(limit.compare); });
    bool depends = usesAny(op, [&](Value value) { return inBranch.contains(value.getDefiningOp()) || late.contains(value.getDefiningOp()); });
    bool ofSums = usesAny(op, [&](Value value) { return sums.contains(value); });
    bool ofLate = usesAny(op, [&](Value value) { return late.contains(value.getDefiningOp()); });
    if (ofSums)
      sums.insert(op.result_begin(), op.result_end());
    if (isMask || (depends && mayBeTwice(op) && !ofSums && !ofLate))
      inBranch.insert(&op);
    else if (depends)
      late.insert(&op);
  }
  // A row's value is wider than that as a tile: it is made one where it is used.
  auto isUsedWithin = [&](Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *use) { return inBranch.contains(body.findAncestorOpInBlock(*use)); });
  };
  while (true) {
    auto *found = llvm::find_if(inBranch, [&](Operation *op) { return isa<BroadcastOp>(op) && !isUsedWithin(op); });
    if (found == inBranch.end())
      break;
    late.insert(*found);
    inBranch.remove(*found);
  }
  // What they alone use is computed with them.
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    bool isOwn = mayBeTwice(op) && !op.use_empty() && !inBranch.contains(&op) && llvm::all_of(op.getUsers(), [&](Operation *use) {
      Operation *there = body.findAncestorOpInBlock(*use);
      return there && inBranch.contains(there);
    });
    if (isOwn)
      inBranch.insert(&op);
  }
  // As early as may be: what does not depend on the mask may wait for a product that is in flight meanwhile.
  Operation *last = nullptr, *first = body.getTerminator();
  for (Operation &op : body.without_terminator()) {
    bool isUsed = !inBranch.contains(&op) && llvm::any_of(op.getUsers(), [&](Operation *use) { return inBranch.contains(body.findAncestorOpInBlock(*use)); });
    last = isUsed ? &op : last;
    bool uses = !inBranch.contains(&op) && usesAny(op, [&](Value value) { return inBranch.contains(value.getDefiningOp()); });
    first = uses && op.isBeforeInBlock(first) ? &op : first;
  }
  place = last ? last->getNextNode() : &body.front();
  while (inBranch.contains(place)) // (these go)
    place = place->getNextNode();
  return !last || last->isBeforeInBlock(first);
}

static void eraseDead(Region &region) {
  IRRewriter rewriter(region.getContext());
  (void)runRegionDCE(rewriter, region);
}

/// What of a map's inputs is the same constant everywhere becomes one in its body; then operations fold, and inputs that nothing uses go.
static void simplify(MapOp map) {
  Block &body = map.getBody().front();
  OpBuilder b(&body, body.begin());
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), map.getInputs())) {
    auto made = input.getDefiningOp<MapOp>();
    Operation *value = made ? made.getBody().front().getTerminator()->getOperand(cast<OpResult>(input).getResultNumber()).getDefiningOp() : nullptr;
    if (value && value->hasTrait<OpTrait::ConstantLike>())
      argument.replaceAllUsesWith(b.clone(*value)->getResult(0));
  }
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    b.setInsertionPoint(&op);
    if (SmallVector<Value> folded; succeeded(b.tryFold(&op, folded)) && !folded.empty())
      op.replaceAllUsesWith(folded);
  }
  eraseDead(map.getBody());
  for (unsigned i = body.getNumArguments(); i-- > 0;)
    if (body.getArgument(i).use_empty()) {
      body.eraseArgument(i);
      map->eraseOperand(i);
    }
}

/// A region in which a condition has become constant.
static void simplify(Region &region) {
  for (auto map : region.getOps<MapOp>())
    simplify(map);
  eraseDead(region);
}

/// In iterations from one number to before another one there is no mask.
void MaskSplit::branch(Value from, Value to) {
  Block &body = *loop.getBody();
  SmallVector<Operation *> ops;
  SmallVector<Value> results;
  for (Operation &op : body.without_terminator()) {
    if (!inBranch.contains(&op))
      continue;
    ops.push_back(&op);
    for (Value result : op.getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *use) { return !inBranch.contains(body.findAncestorOpInBlock(*use)); }))
        results.push_back(result);
  }
  b.setInsertionPoint(place);
  Value isCut = arith::ConstantIntOp::create(b, 0, 1);
  if (to)
    isCut = b.createOrFold<arith::OrIOp>(b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, loop.getInductionVar(), to), isCut);
  if (from)
    isCut = b.createOrFold<arith::OrIOp>(b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, loop.getInductionVar(), from), isCut);
  auto chosen = scf::IfOp::create(b, ValueRange(results).getTypes(), isCut, /*withElseRegion=*/true);
  for (Block *block : {chosen.thenBlock(), chosen.elseBlock()}) {
    b.setInsertionPointToEnd(block);
    IRMapping mapping;
    for (Operation *op : ops)
      b.clone(*op, mapping);
    for (const Limit &limit : limits) { // (two of which may have one comparison)
      if (block == chosen.thenBlock())
        break;
      Value compare = mapping.lookup(limit.compare->getResult(0));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(compare.getDefiningOp());
      compare.replaceAllUsesWith(arith::ConstantIntOp::create(b, int64_t(limit.holds), 1));
    }
    scf::YieldOp::create(b, llvm::map_to_vector(results, [&](Value result) { return mapping.lookup(result); }));
  }
  simplify(chosen.getElseRegion());
  for (auto [result, value] : llvm::zip_equal(results, chosen.getResults()))
    result.replaceUsesWithIf(value, [&](OpOperand &use) { return !inBranch.contains(body.findAncestorOpInBlock(*use.getOwner())) && !chosen->isAncestor(use.getOwner()); });
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// Tasks differ in length where limits on one side alone depend on them.
void MaskSplit::orderTasks() {
  if (!llvm::all_of(limits, [](const Limit &limit) { return limit.isUpper(); }))
    return;
  for (const Limit &limit : limits)
    for (auto [value, factor] : limit.rest.scalars)
      if (factor > 0 && tile::orderTasks(loop, value))
        return;
}

void MaskSplit::run() {
  const bool isChecked = idle && idle->maximum, mayLeaveOut = idle && (!isChecked || repeats.mayRepeat(loop));
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value from = boundOf(/*isUpper=*/false, /*isForAll=*/true), to = boundOf(/*isUpper=*/true, /*isForAll=*/true);
  Value showsAll = !mayLeaveOut ? Value() : isChecked ? showsAllRows() : arith::ConstantIntOp::create(b, 1, 1).getResult();
  StringRef skips = !idle          ? "blocks without scores stay, as they may change what the loop carries"
                    : !mayLeaveOut ? "blocks without scores stay, as results may lie where operands do"
                    : !showsAll    ? "blocks without scores stay, as a row may have none"
                                : "blocks without scores are left out";
  remark::passed(loop.getLoc(), remark::RemarkOpts::name("split-mask").category("gpu"))
      << remark::reason("blocks of {0} columns have a mask where it cuts them; {1}", columns, skips);
  if (!showsAll)
    return branch(from, to);
  orderTasks();
  Repeat repeat;
  if (isChecked) {
    repeat = repeats.repeat(loop);
    b.setInsertionPoint(loop);
    showsAll = arith::AndIOp::create(b, showsAll, repeat.isFirst);
  }
  Value begin = boundOf(/*isUpper=*/false, /*isForAll=*/false), end = boundOf(/*isUpper=*/true, /*isForAll=*/false);
  begin = begin ? smaller(larger(begin, lower), upper) : lower;
  end = end ? smaller(larger(end, begin), upper) : upper;
  begin = b.createOrFold<arith::SelectOp>(showsAll, begin, lower);
  end = b.createOrFold<arith::SelectOp>(showsAll, end, upper);
  Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, begin, end);
  auto around = scf::IfOp::create(b, loop.getResultTypes(), some, /*withElseRegion=*/true);
  loop.replaceAllUsesWith(around.getResults());
  b.setInsertionPointToEnd(around.elseBlock());
  scf::YieldOp::create(b, loop.getInitArgs());
  b.setInsertionPointToEnd(around.thenBlock());
  auto yield = scf::YieldOp::create(b, loop.getResults());
  loop->moveBefore(yield);
  loop.getLowerBoundMutable().assign(begin);
  loop.getUpperBoundMutable().assign(end);
  branch(from, to);
  b.setInsertionPoint(yield);
  if (!isChecked)
    return;
  auto differ = [&](Value one, Value other) { return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, one, other); };
  Value leavesOut = b.createOrFold<arith::OrIOp>(differ(begin, lower), differ(end, upper));
  raiseAtLowRows(b, repeat, loop.getResult(*idle->maximum), leavesOut, idle->least);
}

namespace {
struct TileSplitMasks : tile::impl::TileSplitMasksBase<TileSplitMasks> {
  void runOnOperation() override {
    (void)eachPipelined(getOperation(), [](LLVM::LLVMFuncOp kernel, PipelineAttr) {
      SmallVector<scf::ForOp> loops;
      kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
      Repeats repeats(kernel);
      for (scf::ForOp loop : loops)
        if (MaskSplit split(loop, repeats); split.find())
          split.run();
      return success();
    });
  }
};
} // namespace
