//===- FTComputeFolds.cpp - rewrites of compute operators -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Canonicalisation of map, reduce, fold and scan: what is not used is not
// carried, traversed or yielded; lists of tuples become several lists.
//
//===----------------------------------------------------------------------===//
#include "FTDetail.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::detail;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static StringRef nameOf(OperatorKind kind) {
  switch (kind) {
  case OperatorKind::Map:
    return MapOp::getOperationName();
  case OperatorKind::Reduce:
    return ReduceOp::getOperationName();
  case OperatorKind::Fold:
    return FoldOp::getOperationName();
  case OperatorKind::FoldL:
    return FoldLOp::getOperationName();
  case OperatorKind::FoldR:
    return FoldROp::getOperationName();
  case OperatorKind::Scan:
    return ScanOp::getOperationName();
  case OperatorKind::ScanL:
    return ScanLOp::getOperationName();
  case OperatorKind::ScanR:
    return ScanROp::getOperationName();
  }
  llvm_unreachable("all operators are listed");
}

ComputeOp mlir::ft::createCompute(OpBuilder &builder, Location loc, OperatorKind kind,
                                  TypeRange results, ValueRange lists, ValueRange inits,
                                  ValueRange identities, LengthAttr lag) {
  OperationState state(loc, nameOf(kind));
  state.addTypes(results);
  state.addOperands(lists);
  state.addRegion();
  if (kind != OperatorKind::Map) {
    state.addOperands(inits);
    state.addOperands(identities);
    state.addRegion();
    if (lag && lag.getConstant() != 1)
      state.addAttribute("lag", lag);
    state.addAttribute("operandSegmentSizes",
                       builder.getDenseI32ArrayAttr({static_cast<int32_t>(lists.size()),
                                                     static_cast<int32_t>(inits.size()),
                                                     static_cast<int32_t>(identities.size())}));
  }
  return cast<ComputeOp>(builder.create(state));
}

/// An operator like `op` that takes over its regions.
static ComputeOp replicate(PatternRewriter &rewriter, ComputeOp op, TypeRange results,
                           ValueRange lists, ValueRange inits, ValueRange identities) {
  ComputeOp copy = createCompute(rewriter, op.getLoc(), op.getKind(), results, lists, inits,
                                 identities, op.getLagOrOne());
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    copy->setDiscardableAttr(attribute.getName(), attribute.getValue());
  for (StringRef inherent : {"layer", "layers"})
    if (Attribute attribute = op->getAttr(inherent))
      copy->setAttr(inherent, attribute);
  rewriter.inlineRegionBefore(op.getBody(), copy.getBody(), copy.getBody().begin());
  if (Region *combine = op.getCombineOrNull()) {
    Region &target = copy->getRegion(1);
    rewriter.inlineRegionBefore(*combine, target, target.begin());
  }
  return copy;
}

static LogicalResult verifyShape(ComputeOp op) {
  // Patterns run on verified operations only, but a greedy rewrite may be asked
  // to run on a function whose body another pattern is still building.
  return success(op.getBody().hasOneBlock() && !op.getBody().front().empty() &&
                 isa<YieldOp>(op.getBody().front().back()));
}

/// Where lists and states are paired, neither can be dropped alone.
static bool pairsListsWithStates(ComputeOp op) {
  return !op.isMap() && (op.getInits().empty() || (op.isReassociable() && !op.getCombineOrNull()));
}

//===----------------------------------------------------------------------===//
// What is used
//===----------------------------------------------------------------------===//

namespace {
/// The backward slice of a body from the yielded values that someone needs.
struct Liveness {
  ComputeOp op;
  llvm::SmallBitVector states, lists, emits;
  DenseSet<Operation *> ops;

  explicit Liveness(ComputeOp op) : op(op), states(op.getNumStates()), lists(op.getLists().size()) {
    YieldOp yield = op.getYield();
    OperandRange emitted = op.isMap() ? yield.getValues() : yield.getEmits();
    emits.resize(emitted.size());
    ResultRange emitResults = op.isMap() ? op->getResults() : op.getEmitResults();
    for (auto [index, result] : llvm::enumerate(emitResults))
      if (!result.use_empty()) {
        emits.set(index);
        need(emitted[index]);
      }
    // An effect is needed by itself.
    for (Operation &nested : op.getBody().front().without_terminator())
      if (!isMemoryEffectFree(&nested))
        needOp(&nested);
    if (op.isMap())
      return;
    for (auto [index, result] : llvm::enumerate(op.getStateResults()))
      if (!result.use_empty())
        needState(index);
    if (pairsListsWithStates(op))
      for (unsigned state = 0; state != states.size(); ++state)
        needState(state);
  }

private:
  void needState(unsigned state) {
    if (states.test(state))
      return;
    states.set(state);
    need(op.getYield().getValues()[state]);
    // `combine` computes the state from those it reads.
    if (Region *combine = op.getCombineOrNull()) {
      DenseSet<Value> seen;
      needInCombine(cast<YieldOp>(combine->front().getTerminator()).getValues()[state], seen);
    }
  }

  void needInCombine(Value value, DenseSet<Value> &seen) {
    if (!op.getCombineOrNull()->isAncestor(value.getParentRegion()) || !seen.insert(value).second)
      return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == &op.getCombineOrNull()->front())
        needState(argument.getArgNumber() % states.size());
      return;
    }
    value.getDefiningOp()->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        needInCombine(operand, seen);
    });
  }

  void need(Value value) {
    if (!op.getBody().isAncestor(value.getParentRegion()))
      return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != &op.getBody().front())
        return;
      unsigned index = argument.getArgNumber();
      if (index < states.size())
        needState(index);
      else
        lists.set(index - states.size());
      return;
    }
    if (Operation *def = op.getBody().front().findAncestorOpInBlock(*value.getDefiningOp()))
      needOp(def);
  }

  void needOp(Operation *needed) {
    if (!ops.insert(needed).second)
      return;
    needed->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        need(operand);
    });
  }
};
} // namespace

template <typename Range>
static SmallVector<Value> keep(Range values, const llvm::SmallBitVector &which) {
  SmallVector<Value> kept;
  for (auto [index, value] : llvm::enumerate(values))
    if (which.test(index))
      kept.push_back(value);
  return kept;
}

/// The operations before the terminator, users first.
static SmallVector<Operation *> getStatements(Block &block) {
  SmallVector<Operation *> statements;
  for (Operation &op : block.without_terminator())
    statements.push_back(&op);
  std::reverse(statements.begin(), statements.end());
  return statements;
}

/// Erases what only served a dead state of `combine`, whose arguments go too.
static void shrinkCombine(Region &combine, const llvm::SmallBitVector &states,
                          PatternRewriter &rewriter) {
  Block &block = combine.front();
  auto yield = cast<YieldOp>(block.getTerminator());
  rewriter.modifyOpInPlace(
      yield, [&] { yield.getValuesMutable().assign(keep(yield.getValues(), states)); });
  for (Operation *nested : getStatements(block))
    if (nested->use_empty() && isMemoryEffectFree(nested))
      rewriter.eraseOp(nested);
  for (unsigned index = block.getNumArguments(); index-- != 0;)
    if (!states.test(index % states.size()))
      block.eraseArgument(index);
}

/// Drops lists, states, emitted values and results that nothing needs.
static LogicalResult dropUnused(ComputeOp op, PatternRewriter &rewriter) {
  if (failed(verifyShape(op)) || op->use_empty())
    return failure();
  Liveness live(op);
  if (pairsListsWithStates(op))
    live.lists.set();
  // The length comes from a list (C1), and an aggregate has a state (C9).
  if (live.lists.none())
    live.lists.set(0);
  bool keepsState = op.isMap() || live.states.any();
  if (!keepsState) {
    // Keeping a state means to keep what computes it.
    return failure();
  }
  // An effect in `combine` cannot be attributed to a state.
  if (Region *combine = op.getCombineOrNull(); combine && !live.states.all())
    for (Operation &nested : combine->front().without_terminator())
      if (!isMemoryEffectFree(&nested))
        live.states.set();
  if (live.lists.all() && live.states.all() && live.emits.all())
    return failure();

  Block &body = op.getBody().front();
  YieldOp yield = op.getYield();
  SmallVector<Value> values = keep(yield.getValues(), op.isMap() ? live.emits : live.states);
  SmallVector<Value> emits = op.isMap() ? SmallVector<Value>() : keep(yield.getEmits(), live.emits);
  SmallVector<Value> results = keep(op.getStateResults(), op.isMap() ? live.emits : live.states);
  if (!op.isMap())
    llvm::append_range(results, keep(op.getEmitResults(), live.emits));
  SmallVector<Value> inits =
      op.getInits().empty() ? SmallVector<Value>() : keep(op.getInits(), live.states);
  SmallVector<Value> identities =
      op.getIdentities().empty() ? SmallVector<Value>() : keep(op.getIdentities(), live.states);

  rewriter.modifyOpInPlace(yield, [&] {
    yield.getValuesMutable().assign(values);
    yield.getEmitsMutable().assign(emits);
  });
  for (Operation *nested : getStatements(body))
    if (!live.ops.contains(nested))
      rewriter.eraseOp(nested);
  if (Region *combine = op.getCombineOrNull())
    shrinkCombine(*combine, live.states, rewriter);
  ComputeOp copy = replicate(rewriter, op, ValueRange(results).getTypes(),
                             keep(op.getLists(), live.lists), inits, identities);
  unsigned numStates = live.states.size();
  for (unsigned index = body.getNumArguments(); index-- != 0;)
    if (index < numStates ? !live.states.test(index) : !live.lists.test(index - numStates))
      body.eraseArgument(index);
  for (auto [from, to] : llvm::zip_equal(results, copy->getResults()))
    rewriter.replaceAllUsesWith(from, to);
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// A map that yields an element unchanged: the result is the list.
static LogicalResult mapOfIdentity(MapOp op, PatternRewriter &rewriter) {
  if (failed(verifyShape(op)))
    return failure();
  bool changed = false;
  auto yield = cast<YieldOp>(op.getBody().front().back());
  for (auto [value, result] : llvm::zip_equal(yield.getValues(), op.getResults())) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &op.getBody().front() || result.use_empty())
      continue;
    rewriter.replaceAllUsesWith(result, op.getLists()[argument.getArgNumber()]);
    changed = true;
  }
  return success(changed);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// The same list traversed twice is traversed once.
static LogicalResult mergeLists(ComputeOp op, PatternRewriter &rewriter) {
  if (failed(verifyShape(op)) || pairsListsWithStates(op))
    return failure();
  bool changed = false;
  auto elements = op.getElementArgs();
  for (size_t i = 0; i != elements.size(); ++i)
    for (size_t j = i + 1; j != elements.size(); ++j)
      if (op.getLists()[i] == op.getLists()[j] && !elements[j].use_empty()) {
        rewriter.replaceAllUsesWith(elements[j], elements[i]);
        changed = true;
      }
  return success(changed);
}

/// A list of tuples of which the body takes the members becomes a list for each.
static LogicalResult splitTuples(ComputeOp op, PatternRewriter &rewriter) {
  if (failed(verifyShape(op)) || pairsListsWithStates(op))
    return failure();
  for (auto [position, argument] : llvm::enumerate(op.getElementArgs())) {
    auto tuple = dyn_cast<TupleType>(argument.getType());
    if (!tuple ||
        !llvm::all_of(argument.getUsers(), [](Operation *user) { return isa<GetOp>(user); }))
      continue;

    Location loc = op.getLoc();
    SmallVector<Value> lists(op.getLists());
    Value zipped = lists[position];
    unsigned number = argument.getArgNumber();
    lists.erase(lists.begin() + position);
    for (int64_t member = 0, end = tuple.size(); member != end; ++member)
      lists.insert(lists.begin() + position + member,
                   GetOp::create(rewriter, loc, zipped, rewriter.getI64IntegerAttr(member)));
    Block &body = op.getBody().front();
    ComputeOp copy =
        replicate(rewriter, op, op->getResultTypes(), lists, SmallVector<Value>(op.getInits()),
                  SmallVector<Value>(op.getIdentities()));
    BlockArgument old = body.getArgument(number);
    for (auto [member, type] : llvm::enumerate(tuple.getTypes()))
      body.insertArgument(number + 1 + member, type, loc);
    for (Operation *user : llvm::make_early_inc_range(old.getUsers())) {
      auto get = cast<GetOp>(user);
      rewriter.replaceOp(get, body.getArgument(number + 1 + get.getIndex()));
    }
    body.eraseArgument(number);
    rewriter.replaceOp(op, copy->getResults());
    return success();
  }
  return failure();
}

namespace {
template <typename OpTy, LogicalResult (*rewrite)(ComputeOp, PatternRewriter &)>
struct ComputePattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    return rewrite(cast<ComputeOp>(op.getOperation()), rewriter);
  }
};
} // namespace

template <typename OpTy>
static void addPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComputePattern<OpTy, dropUnused>, ComputePattern<OpTy, mergeLists>,
               ComputePattern<OpTy, splitTuples>>(context);
  if constexpr (std::is_same_v<OpTy, MapOp>) {
    patterns.add(mapOfIdentity);
    populateBodyFolds(patterns); // once; no operation of this dialect is the root of them
  }
}

#define FT_COMPUTE(OP)                                                                             \
  void OP::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {        \
    addPatterns<OP>(patterns, context);                                                            \
  }
FT_COMPUTE(MapOp)
FT_COMPUTE(ReduceOp)
FT_COMPUTE(FoldOp)
FT_COMPUTE(FoldLOp)
FT_COMPUTE(FoldROp)
FT_COMPUTE(ScanOp)
FT_COMPUTE(ScanLOp)
FT_COMPUTE(ScanROp)
#undef FT_COMPUTE
