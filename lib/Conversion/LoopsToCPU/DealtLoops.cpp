//===- DealtLoops.cpp - parallel loops as what one thread runs ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iterations that are mapped dynamically are numbered tasks. Those that are mapped to blocks are counted,
// or what they weigh, and divided in their order: shares differ by an iteration at
// most, and a thread meets the same ones in the next step.
//
//===----------------------------------------------------------------------===//

#include "Spmd.h"

#include "ft/Dialect/Loops/IR/LoopBounds.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;
using loops::bodyOf;
using loops::ChunksOp;
using loops::lowerOf;
using loops::upperOf;

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

bool tocpu::isDealt(Operation *op) {
  loops::LevelAttr level = loops::levelOf(op);
  return level && level.getLevel() != etdg::LoopLevel::None;
}

bool tocpu::isTogether(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isDealt(inner) || isa<loops::SyncOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What a CPU has no way to run.
static LogicalResult checkLoop(Operation *loop) {
  loops::LevelAttr level = loops::levelOf(loop);
  if (level.getLevel() != etdg::LoopLevel::Core)
    return loop->emitError("a CPU deals loops to its cores: expected level core, found ")
           << etdg::stringifyLoopLevel(level.getLevel());
  if (level.getMapping() != etdg::IterationMapping::Dynamic && level.getMapping() != etdg::IterationMapping::Block)
    return loop->emitError("expected iterations of the mapping dynamic or block, found ")
           << etdg::stringifyIterationMapping(level.getMapping());
  if (auto forall = dyn_cast<scf::ForallOp>(loop);
      forall && (!forall.getOutputs().empty() || !isConstantIntValue(forall.getMixedStep()[0], 1)))
    return loop->emitError("expected a loop over memory with step 1");
  return success();
}

FailureOr<Chain> tocpu::getChain(Operation *outermost) {
  Chain chain;
  Operation *last = outermost;
  while (last) {
    if (failed(checkLoop(last)))
      return failure();
    chain.loops.push_back(last);
    Operation *next = nullptr;
    bool isPerfect = true;
    for (Operation &op : bodyOf(last).without_terminator()) {
      if (isDealt(&op) && !next)
        next = &op;
      else if (!isa<loops::WeightOp>(op) && !isMemoryEffectFree(&op))
        isPerfect = false;
    }
    if (next && isPerfect && loops::levelOf(next) == loops::levelOf(last)) {
      last = next;
      continue;
    }
    if (next || llvm::any_of(bodyOf(last), [](Operation &op) { return isTogether(&op); }))
      return last->emitError("a core runs what is inside of this loop: a loop there is dealt to cores only if it has the same level and "
                             "mapping, and nothing beside it");
    break;
  }
  if (auto weight = dyn_cast_or_null<loops::WeightOp>(last->getPrevNode()))
    chain.weight = weight.getWeight(), chain.says = weight;
  return chain;
}

static void eraseWeight(const Chain &chain) {
  if (chain.says)
    chain.says->erase();
}

//===----------------------------------------------------------------------===//
// Bounds elsewhere
//===----------------------------------------------------------------------===//

namespace {
/// Copies what values of a loop's body are computed from to where they are asked for.
class Copier {
public:
  Copier(ImplicitLocOpBuilder &b, Operation *root, IRMapping &mapping) : b(b), root(root), mapping(mapping) {}

  Value copy(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op || !root->isProperAncestor(op))
      return value;
    for (Value operand : usedBy(op))
      if (Value copied = copy(operand); copied != operand)
        mapping.map(operand, copied);
    b.clone(*op, mapping);
    return mapping.lookup(value);
  }
  Value copy(OpFoldResult value) {
    return isa<Attribute>(value) ? getValueOrCreateConstantIndexOp(b, b.getLoc(), value) : copy(cast<Value>(value));
  }

  /// Operands of an operation and of what is inside of it.
  static SmallVector<Value> usedBy(Operation *op) {
    SmallVector<Value> values;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          values.push_back(operand);
    });
    return values;
  }

private:
  ImplicitLocOpBuilder &b;
  Operation *root;
  IRMapping &mapping;
};

} // namespace

/// Whether a value that is computed in the body of `loop` changes with the loop's variable.
static bool dependsOn(OpFoldResult value, Operation *loop) {
  auto v = dyn_cast<Value>(value);
  if (!v || v == bodyOf(loop).getArgument(0))
    return bool(v);
  Operation *op = v.getDefiningOp();
  if (!op || !loop->isProperAncestor(op))
    return false;
  return llvm::any_of(Copier::usedBy(op), [&](Value operand) { return dependsOn(operand, loop); });
}

/// Whether the loops inside of loop `at` have other ranges, or weigh something else, in its iterations.
static bool changesInside(const Chain &chain, unsigned at) {
  Operation *loop = chain.loops[at];
  bool changes = chain.weight && dependsOn(chain.weight, loop);
  for (Operation *inner : ArrayRef(chain.loops).drop_front(at + 1))
    changes |= dependsOn(lowerOf(inner), loop) || dependsOn(upperOf(inner), loop);
  return changes;
}

bool tocpu::isBox(const Chain &chain) {
  for (unsigned at = 0; at < chain.loops.size(); ++at)
    if (changesInside(chain, at))
      return false;
  return true;
}

namespace {
/// The share of one thread in a chain.
class Shares {
public:
  Shares(ImplicitLocOpBuilder &b, const Chain &chain, Bounds &bounds) : b(b), chain(chain), bounds(bounds) {}
  void deal(Value tid, Value threads);

private:
  Value emitCount(unsigned at, IRMapping &mapping);
  Value emitPart(unsigned at, Value begin, Value end, Value count);
  void emitLast(Value first, Value last);
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  template <class Op>
  Value make(Value x, Value y) {
    return Op::create(b, x, y).getResult();
  }

  ImplicitLocOpBuilder &b;
  const Chain &chain;
  Bounds &bounds;
};
} // namespace

/// How many iterations there are from loop `at` on, or what they weigh.
Value Shares::emitCount(unsigned at, IRMapping &mapping) {
  Operation *loop = chain.loops[at];
  Copier copier(b, chain.loops.front(), mapping);
  Value lower = copier.copy(lowerOf(loop)), upper = copier.copy(upperOf(loop));
  auto extent = [&] { return make<arith::MaxSIOp>(make<arith::SubIOp>(upper, lower), index(0)); };
  if (at + 1 == chain.loops.size())
    return chain.weight ? make<arith::MulIOp>(extent(), copier.copy(chain.weight)) : extent();
  if (!changesInside(chain, at))
    return make<arith::MulIOp>(extent(), emitCount(at + 1, mapping));
  auto sum = scf::ForOp::create(b, lower, upper, index(1), ValueRange{index(0)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(sum.getBody());
  IRMapping inside = mapping;
  inside.map(bodyOf(loop).getArgument(0), sum.getInductionVar());
  Value inner = emitCount(at + 1, inside);
  scf::YieldOp::create(b, make<arith::AddIOp>(sum.getRegionIterArg(0), inner));
  return sum.getResult(0);
}

/// Moves the body of a loop into another one. `b` then stands at the old loop's `next`, if any.
static void moveBody(Operation *from, Block *to, ValueRange arguments) {
  Block *body = &bodyOf(from);
  for (auto [old, value] : llvm::zip(body->getArguments(), arguments))
    old.replaceAllUsesWith(value);
  auto end = to->mightHaveTerminator() ? Block::iterator(to->getTerminator()) : to->end();
  to->getOperations().splice(end, body->getOperations(), body->begin(), Block::iterator(body->getTerminator()));
  from->erase();
}

/// Loops `at` and inside, where points are numbered from `count`: those in [begin, end). Gives the next number.
Value Shares::emitPart(unsigned at, Value begin, Value end, Value count) {
  Operation *loop = chain.loops[at];
  b.setInsertionPoint(loop);
  IRMapping none;
  Copier copier(b, loop, none);
  Value lower = copier.copy(lowerOf(loop)), upper = copier.copy(upperOf(loop));
  if (at + 1 < chain.loops.size()) {
    auto line = scf::ForOp::create(b, lower, upper, index(1), ValueRange{count});
    moveBody(loop, line.getBody(), {line.getInductionVar()});
    Value next = emitPart(at + 1, begin, end, line.getRegionIterArg(0));
    b.setInsertionPointToEnd(line.getBody());
    scf::YieldOp::create(b, next);
    return line.getResult(0);
  }
  Value extent = make<arith::MaxSIOp>(make<arith::SubIOp>(upper, lower), index(0));
  Value all = chain.weight ? make<arith::MulIOp>(extent, chain.weight) : extent;
  Value from = make<arith::MaxSIOp>(make<arith::SubIOp>(begin, count), index(0));
  Value to = make<arith::MinSIOp>(make<arith::SubIOp>(end, count), all);
  Value next = make<arith::AddIOp>(count, all);
  if (chain.weight) {
    from = make<arith::DivUIOp>(from, chain.weight);
    to = make<arith::DivUIOp>(make<arith::MaxSIOp>(to, index(0)), chain.weight);
  }
  emitLast(make<arith::AddIOp>(lower, from), make<arith::AddIOp>(lower, to));
  return next;
}

/// One thread's chunks of a range.
static void emitChunks(ImplicitLocOpBuilder &b, ChunksOp chunks, Value first, Value last, Bounds &bounds) {
  Value most = arith::ConstantIndexOp::create(b, chunks.getMost()), step = most;
  if (chunks.getUnit()) {
    // Parts of about equal length, none longer than `most`.
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value total = arith::MaxSIOp::create(b, arith::SubIOp::create(b, last, first), one);
    Value parts = arith::CeilDivUIOp::create(b, total, most), unit = arith::ConstantIndexOp::create(b, *chunks.getUnit());
    Value tiles = arith::CeilDivUIOp::create(b, arith::CeilDivUIOp::create(b, total, parts), unit);
    step = arith::MinUIOp::create(b, arith::MulIOp::create(b, tiles, unit), most);
  }
  auto loop = scf::ForOp::create(b, first, last, step);
  b.setInsertionPointToStart(loop.getBody());
  Value left = arith::SubIOp::create(b, last, loop.getInductionVar());
  Value count = arith::MinSIOp::create(b, step, left);
  bounds[count] = b.getIndexAttr(chunks.getMost());
  moveBody(chunks, loop.getBody(), {loop.getInductionVar(), count});
}

void Shares::emitLast(Value first, Value last) {
  Operation *loop = chain.loops.back();
  if (auto chunks = dyn_cast<ChunksOp>(loop))
    return emitChunks(b, chunks, first, last, bounds);
  auto points = scf::ForOp::create(b, first, last, index(1));
  moveBody(loop, points.getBody(), {points.getInductionVar()});
}

void Shares::deal(Value tid, Value threads) {
  IRMapping mapping;
  Value total = emitCount(0, mapping);
  auto share = [&](Value number) { return make<arith::DivUIOp>(make<arith::MulIOp>(total, number), threads); };
  Value begin = share(tid), end = share(make<arith::AddIOp>(tid, index(1))), none = index(0);
  eraseWeight(chain);
  emitPart(0, begin, end, none);
}

void tocpu::dealInShares(const Chain &chain, Value tid, Value threads, Bounds &bounds) {
  ImplicitLocOpBuilder b(chain.loops.front()->getLoc(), chain.loops.front());
  Shares(b, chain, bounds).deal(tid, threads);
}

//===----------------------------------------------------------------------===//
// In turn
//===----------------------------------------------------------------------===//

/// Iterations of chunks in one task, at least 1, where there are `others` tasks for each chunk: as many as leave one task
/// for each thread.
static Value emitTaskLength(ImplicitLocOpBuilder &b, ChunksOp chunks, Value count, Value others, Value threads) {
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value).getResult(); };
  Value share = arith::CeilDivSIOp::create(b, arith::MulIOp::create(b, count, others), threads), one = index(1);
  Value least = arith::MaxSIOp::create(b, share, one);
  Value tile = arith::MinSIOp::create(b, least, index(chunks.getMost()));
  if (!chunks.getUnit())
    return tile;
  // About equally long: as many chunks as there would be, none shorter than it must be.
  Value chunksOfTile = arith::CeilDivSIOp::create(b, count, tile);
  Value number = arith::MaxSIOp::create(b, chunksOfTile, one), unit = index(*chunks.getUnit());
  Value units = arith::CeilDivSIOp::create(b, arith::CeilDivSIOp::create(b, count, number), unit);
  Value even = arith::MinSIOp::create(b, arith::MulIOp::create(b, units, unit), index(chunks.getMost()));
  return arith::MaxSIOp::create(b, even, one);
}

Tasks tocpu::emitTasks(OpBuilder &builder, const Chain &chain, Value threads, IRMapping *mapping) {
  Operation *outermost = chain.loops.front();
  ImplicitLocOpBuilder b(outermost->getLoc(), builder);
  IRMapping own;
  // Into another function everything is copied, here what stands inside of the chain.
  Copier copier(b, mapping ? outermost->getParentOp() : outermost, mapping ? *mapping : own);
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value).getResult(); };
  Tasks tasks;
  Value others = index(1), zero = index(0);
  std::optional<unsigned> chunksAt;
  for (auto [i, loop] : llvm::enumerate(chain.loops)) {
    Value lower = copier.copy(lowerOf(loop)), upper = copier.copy(upperOf(loop));
    tasks.lowers.push_back(lower);
    tasks.counts.push_back(arith::MaxSIOp::create(b, arith::SubIOp::create(b, upper, lower), zero));
    if (isa<ChunksOp>(loop)) {
      chunksAt = i;
      tasks.upper = upper;
    } else {
      others = arith::MulIOp::create(b, others, tasks.counts.back());
    }
  }
  tasks.total = others;
  if (chunksAt) {
    Value &count = tasks.counts[*chunksAt];
    tasks.tile = emitTaskLength(b, cast<ChunksOp>(chain.loops[*chunksAt]), count, others, threads);
    count = arith::CeilDivSIOp::create(b, count, tasks.tile);
    tasks.total = arith::MulIOp::create(b, others, count);
  }
  return tasks;
}

void tocpu::dealInTurn(const Chain &chain, const Tasks &tasks, Value begin, Value end, Bounds &bounds) {
  ImplicitLocOpBuilder b(chain.loops.front()->getLoc(), chain.loops.front());
  auto loop = scf::ForOp::create(b, begin, end, arith::ConstantIndexOp::create(b, 1));
  b.setInsertionPointToStart(loop.getBody());
  Value rest = loop.getInductionVar();
  SmallVector<Value> numbers(chain.loops.size());
  for (size_t i = chain.loops.size(); i-- > 0;) {
    numbers[i] = rest;
    if (i == 0)
      break;
    numbers[i] = arith::RemSIOp::create(b, rest, tasks.counts[i]);
    rest = arith::DivSIOp::create(b, rest, tasks.counts[i]);
  }
  eraseWeight(chain);
  for (auto [i, inner] : llvm::enumerate(chain.loops)) {
    SmallVector<Value> arguments;
    if (isa<ChunksOp>(inner)) {
      Value first = arith::AddIOp::create(b, tasks.lowers[i], arith::MulIOp::create(b, numbers[i], tasks.tile));
      Value left = arith::SubIOp::create(b, tasks.upper, first);
      Value count = arith::MinSIOp::create(b, tasks.tile, left);
      bounds[count] = OpFoldResult(tasks.tile);
      arguments = {first, count};
    } else {
      arguments = {arith::AddIOp::create(b, tasks.lowers[i], numbers[i])};
    }
    // The next loop of the chain, if any, is now in the body of the new one, after what its bounds need.
    moveBody(inner, loop.getBody(), arguments);
    if (i + 1 < chain.loops.size())
      b.setInsertionPoint(chain.loops[i + 1]);
  }
}

void tocpu::makeSequential(Operation *loop, Bounds &bounds) {
  ImplicitLocOpBuilder b(loop->getLoc(), loop);
  if (auto weight = dyn_cast_or_null<loops::WeightOp>(loop->getPrevNode()))
    weight.erase();
  Value lower = getValueOrCreateConstantIndexOp(b, b.getLoc(), lowerOf(loop));
  Value upper = getValueOrCreateConstantIndexOp(b, b.getLoc(), upperOf(loop));
  if (auto chunks = dyn_cast<ChunksOp>(loop))
    return emitChunks(b, chunks, lower, upper, bounds);
  Value step = getValueOrCreateConstantIndexOp(b, b.getLoc(), cast<scf::ForallOp>(loop).getMixedStep()[0]);
  auto points = scf::ForOp::create(b, lower, upper, step);
  moveBody(loop, points.getBody(), {points.getInductionVar()});
}
