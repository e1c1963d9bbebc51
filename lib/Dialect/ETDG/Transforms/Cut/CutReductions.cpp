//===- CutReductions.cpp - shares of a reduction, and their join ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fold d in [l, u)` becomes, with shares of T iterations,
//
//   map s, fold d in [s·T, s·T + T) within [l, u)   each share from `identity`
//   foldl s                                         joined, in order, by `combine`
//
// The last join writes what the last iteration wrote, so that who reads the result is
// not concerned. Of a `scan` each state is a result: after the join the shares are computed again,
//
//   map s, scanl d in [s·T, s·T + T) within [l, u)  each share from what those before it come to
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/CutReductions.h"

#include "ft/Analysis/Sets.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Machine/FindMachine.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGCUTREDUCTIONS
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

namespace {
/// Writes the nests that stand for one leaf.
class Cutter {
public:
  Cutter(const Reduction &reduction, int64_t tile, int64_t lineBytes)
      : reduction(reduction), leaf(reduction.leaf), tile(tile), lineBytes(lineBytes), context(leaf.getContext()), builder(leaf),
        old(BlockBuilder::from(leaf)), space(leaf->getParentOfType<GraphOp>()) {}
  CutNests run(ScheduleAttr schedule);

private:
  AffineExpr dimExpr(unsigned d) { return getAffineDimExpr(d, context); }
  unsigned numStates() { return leaf.getNumWrites(); }
  Value stateOf(unsigned w) { return leaf.getBuffers()[leaf.getWrite(w).getOperand()]; }
  /// Over the shares' dimensions: one more, the share, before the one that is cut.
  AffineExpr shifted(AffineExpr expr) { return expr.shiftDims(leaf.getNumDims(), 1, reduction.dim); }
  AffineMap shifted(AffineMap map);
  IntegerSet shifted(IntegerSet set, ArrayRef<AffineExpr> more = {}, ArrayRef<bool> eqs = {});
  ReadAttr shifted(ReadAttr read, ArrayRef<AffineExpr> more = {}, ArrayRef<bool> eqs = {});
  /// Over the join's dimensions: the share in the place of the one that is cut, which is `at`.
  AffineMap joined(AffineMap map, AffineExpr at);
  IntegerSet joined(IntegerSet set, AffineExpr at, ArrayRef<AffineExpr> more);
  /// Adds the read's pieces that some point of `domain` reaches.
  void addReached(SmallVectorImpl<PieceAttr> &pieces, ReadAttr read, const BlockBuilder &block);

  bool isEmpty(const BlockBuilder &block);

  /// How many states apart those of two shares are, so that units that write them don't share lines of memory.
  int64_t apart(unsigned w);
  void makeBuffers();
  Value makeBuffer(unsigned w, bool keepsPlanes);
  /// The index of a state with the share before (or, with `at` null, in the place of) the cut dimension's.
  AffineMap shareIndex(unsigned w, AffineExpr share, AffineExpr at, unsigned numDims);
  IntegerSet domainOfShares();
  BlockOp writeShares(ScheduleAttr schedule);
  BlockOp writeResumed(ScheduleAttr schedule);
  void mark(BlockOp shares, bool isResumed);
  BlockOp writeJoin(OpBuilder &into, bool isLast);
  ReadAttr readOfJoined(unsigned w, BlockBuilder &block);
  /// The leaf's domain, over the symbols of its shares.
  IntegerSet wholeDomain(BlockOp shares);
  StringAttr newName();

  const Reduction &reduction;
  BlockOp leaf;
  int64_t tile, lineBytes;
  MLIRContext *context;
  OpBuilder builder;
  BlockBuilder old;
  SymbolSpace space;
  SmallVector<Value> partials, joinedStates;
};
} // namespace

AffineMap Cutter::shifted(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(result.shiftDims(map.getNumDims(), 1, reduction.dim));
  return AffineMap::get(map.getNumDims() + 1, map.getNumSymbols(), results, context);
}

IntegerSet Cutter::shifted(IntegerSet set, ArrayRef<AffineExpr> more, ArrayRef<bool> eqs) {
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> equal(set.getEqFlags());
  for (AffineExpr constraint : set.getConstraints())
    constraints.push_back(constraint.shiftDims(set.getNumDims(), 1, reduction.dim));
  llvm::append_range(constraints, more);
  llvm::append_range(equal, eqs);
  return canonicalizeSet(IntegerSet::get(set.getNumDims() + 1, set.getNumSymbols(), constraints, equal));
}

ReadAttr Cutter::shifted(ReadAttr read, ArrayRef<AffineExpr> more, ArrayRef<bool> eqs) {
  return transformRead(
      read, [&](AffineMap map, int64_t) { return shifted(map); }, [&](IntegerSet set) { return shifted(set, more, eqs); },
      [](int64_t operand) { return operand; });
}

AffineMap Cutter::joined(AffineMap map, AffineExpr at) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(result.replace(dimExpr(reduction.dim), at));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
}

IntegerSet Cutter::joined(IntegerSet set, AffineExpr at, ArrayRef<AffineExpr> more) {
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> eqs(set.getEqFlags());
  for (AffineExpr constraint : set.getConstraints())
    constraints.push_back(constraint.replace(dimExpr(reduction.dim), at));
  llvm::append_range(constraints, more);
  eqs.append(more.size(), false);
  return canonicalizeSet(IntegerSet::get(set.getNumDims(), set.getNumSymbols(), constraints, eqs));
}

void Cutter::addReached(SmallVectorImpl<PieceAttr> &pieces, ReadAttr read, const BlockBuilder &block) {
  for (PieceAttr piece : read.getPieces()) {
    SetBuilder set(space, block.dims.size());
    if (failed(set.add(block.domain, block.symbols)) || failed(set.add(piece.getSet().getValue(), block.symbols)) ||
        !etdg::isEmpty(set.get()))
      pieces.push_back(piece);
  }
}

bool Cutter::isEmpty(const BlockBuilder &block) {
  SetBuilder set(space, block.dims.size());
  return succeeded(set.add(block.domain, block.symbols)) && etdg::isEmpty(set.get());
}

StringAttr Cutter::newName() {
  for (unsigned n = 0;; ++n) {
    auto name = StringAttr::get(context, n == 0 ? "share" : "share" + std::to_string(n));
    if (!llvm::is_contained(old.dims, name) && !space.find(name.getValue()))
      return name;
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

int64_t Cutter::apart(unsigned w) {
  RankedTensorType type = cast<BufferType>(stateOf(w).getType()).getElement();
  Type scalar = type.getElementType();
  int64_t bits = scalar.isIndex() ? 64 : scalar.getIntOrFloatBitWidth();
  int64_t bytes = std::max<int64_t>(1, type.getNumElements()) * std::max<int64_t>(1, bits / 8);
  return std::max<int64_t>(1, llvm::divideCeil(lineBytes, bytes));
}

/// With `keepsPlanes` one state for each share and plane of the cut dimension, else one for each share.
Value Cutter::makeBuffer(unsigned w, bool keepsPlanes) {
  auto type = cast<BufferType>(stateOf(w).getType());
  auto state = stateOf(w).getDefiningOp<BufferOp>();
  unsigned position = reduction.positions[w];
  SmallVector<ft::LengthAttr> lengths(type.getLengths());
  SmallVector<int64_t> live(state.getLive().value_or(ArrayRef<int64_t>()));
  ft::LengthAttr shares = (lengths[position] - reduction.offsets[w]).ceilDiv(tile);
  if (keepsPlanes) {
    if (reduction.isScan) { // of each share the last state is read
      live.assign(lengths.size(), -1);
      live[position] = 1;
    }
    lengths.insert(lengths.begin() + position, shares * ft::LengthAttr::get(context, apart(w)));
    if (!live.empty())
      live.insert(live.begin() + position, -1);
  } else {
    lengths[position] = shares;
  }
  OpBuilder outside(state);
  auto buffer = BufferOp::create(outside, state.getLoc(), BufferType::get(context, lengths, type.getElement()), nullptr, nullptr);
  if (!live.empty())
    buffer.setLive(live);
  return buffer;
}

void Cutter::makeBuffers() {
  for (unsigned w = 0; w < numStates(); ++w) {
    partials.push_back(makeBuffer(w, /*keepsPlanes=*/true));
    joinedStates.push_back(makeBuffer(w, /*keepsPlanes=*/false));
  }
}

AffineMap Cutter::shareIndex(unsigned w, AffineExpr share, AffineExpr at, unsigned numDims) {
  AffineMap map = leaf.getWrite(w).getMap().getValue();
  SmallVector<AffineExpr> results;
  for (auto [p, result] : llvm::enumerate(map.getResults())) {
    bool isCut = p == reduction.positions[w];
    if (isCut)
      results.push_back(share);
    if (!isCut)
      results.push_back(numDims > map.getNumDims() ? shifted(result) : result);
    else if (at)
      results.push_back(at + reduction.offsets[w]);
  }
  return AffineMap::get(numDims, map.getNumSymbols(), results, context);
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

IntegerSet Cutter::domainOfShares() {
  AffineExpr share = dimExpr(reduction.dim), begin = share * tile, since = dimExpr(reduction.dim + 1) - begin;
  // Which shares there are follows from the rest; said, it needs no projection.
  return shifted(old.domain, {share - reduction.lower.floorDiv(tile), shifted(reduction.upper) - 1 - begin, since, -since + (tile - 1)},
                 SmallVector<bool>(4, false));
}

BlockOp Cutter::writeShares(ScheduleAttr schedule) {
  unsigned numDims = old.dims.size() + 1;
  AffineExpr share = dimExpr(reduction.dim), dim = dimExpr(reduction.dim + 1);
  AffineExpr begin = share * tile, since = dim - begin;
  BlockBuilder block = old;
  block.name = old.name.empty() ? "" : old.name + "_shares";
  block.dims.insert(block.dims.begin() + reduction.dim, newName());
  block.operators.insert(block.operators.begin() + (reduction.dim - old.numAncestors), ft::OperatorKind::Map);
  block.domain = domainOfShares();
  for (ReadAttr &read : block.reads)
    read = shifted(read);
  for (ReadAttr &read : block.identity)
    read = shifted(read);
  AffineExpr lower = shifted(reduction.lower);
  for (unsigned w = 0; w < numStates(); ++w) {
    int64_t partial = block.operandFor(partials[w]);
    block.writes[w] = WriteAttr::get(context, partial, AffineMapAttr::get(shareIndex(w, share * apart(w), dim, numDims)));
    unsigned numSymbols = old.symbols.size();
    auto where = [&](ArrayRef<AffineExpr> constraints, ArrayRef<bool> eqs) {
      return canonicalizeSet(IntegerSet::get(numDims, numSymbols, constraints, eqs));
    };
    SmallVector<PieceAttr> pieces = {PieceAttr::getBuffer(where({since - 1, dim - lower - 1}, {false, false}), partial,
                                                          shareIndex(w, share * apart(w), dim - 1, numDims))};
    // The first iteration of a share: where it begins, or the whole range does.
    for (bool isBegin : {true, false}) {
      SmallVector<AffineExpr> first = isBegin ? SmallVector<AffineExpr>{begin - lower, since}
                                              : SmallVector<AffineExpr>{lower - begin - 1, dim - lower};
      ReadAttr identity = shifted(old.identity[w], first, {false, true});
      addReached(pieces, identity, block);
    }
    block.reads[reduction.stateReads[w]] = ReadAttr::get(context, pieces, 0);
  }
  BlockOp shares = block.build(builder, leaf.getLoc(), {});
  shares.getBody().takeBody(leaf.getBody());
  IRMapping mapping;
  leaf.getCombine().cloneInto(&shares.getCombine(), mapping);
  if (schedule)
    shares.setScheduleAttr(schedule);
  return shares;
}

/// The iterations of a scan's shares again, from what the shares before come to.
BlockOp Cutter::writeResumed(ScheduleAttr schedule) {
  const unsigned numDims = old.dims.size() + 1, numSymbols = old.symbols.size();
  AffineExpr share = dimExpr(reduction.dim), dim = dimExpr(reduction.dim + 1), since = dim - share * tile, later = dim - shifted(reduction.lower) - 1;
  BlockBuilder block = old;
  block.name = old.name.empty() ? "" : old.name + "_resumed";
  block.dims.insert(block.dims.begin() + reduction.dim, newName());
  block.operators[reduction.dim - old.numAncestors] = ft::OperatorKind::ScanL;
  block.operators.insert(block.operators.begin() + (reduction.dim - old.numAncestors), ft::OperatorKind::Map);
  block.identity.clear();
  block.domain = domainOfShares();
  for (ReadAttr &read : block.reads)
    read = shifted(read);
  auto where = [&](ArrayRef<AffineExpr> constraints, ArrayRef<bool> eqs) {
    return canonicalizeSet(IntegerSet::get(numDims, numSymbols, constraints, eqs));
  };
  for (unsigned w = 0; w < numStates(); ++w) {
    SmallVector<PieceAttr> pieces;
    for (PieceAttr piece : block.reads[reduction.stateReads[w]].getPieces()) {
      bool isOwn = piece.getKind() == SourceKind::Buffer && piece.getOperand() == old.writes[w].getOperand();
      if (isOwn) // (as the leaf has it, but within the share)
        piece = PieceAttr::getBuffer(where({since - 1, later}, {false, false}), piece.getOperand(), piece.getMap().getValue());
      addReached(pieces, ReadAttr::get(context, piece, 0), block);
    }
    auto before = PieceAttr::getBuffer(where({since, later}, {true, false}), block.operandFor(joinedStates[w]),
                                       shareIndex(w, share - 1, AffineExpr(), numDims));
    addReached(pieces, ReadAttr::get(context, before, 0), block);
    block.reads[reduction.stateReads[w]] = ReadAttr::get(context, pieces, 0);
    WriteAttr write = old.writes[w];
    block.writes[w] = WriteAttr::get(context, write.getOperand(), AffineMapAttr::get(shifted(write.getMap().getValue())));
  }
  BlockOp resumed = block.build(builder, leaf.getLoc(), {});
  IRMapping mapping;
  resumed.getBody().getBlocks().clear();
  leaf.getBody().cloneInto(&resumed.getBody(), mapping);
  if (schedule)
    resumed.setScheduleAttr(schedule);
  return resumed;
}

/// Says of shares what they are of.
void Cutter::mark(BlockOp shares, bool isResumed) {
  shares->setAttr(etdg::names::cut, CutAttr::get(context, reduction.dim, tile, IntegerSetAttr::get(wholeDomain(shares)), isResumed));
}

//===----------------------------------------------------------------------===//
// Join
//===----------------------------------------------------------------------===//

/// The state that shares before this one have come to: at the first, what the whole began from.
ReadAttr Cutter::readOfJoined(unsigned w, BlockBuilder &block) {
  unsigned numDims = old.dims.size(), numSymbols = old.symbols.size();
  AffineExpr share = dimExpr(reduction.dim), begin = share * tile, lower = reduction.lower;
  SmallVector<PieceAttr> pieces;
  auto later = ReadAttr::get(
      context,
      PieceAttr::getBuffer(canonicalizeSet(IntegerSet::get(numDims, numSymbols, {begin - lower - 1}, {false})),
                           block.operandFor(joinedStates[w]), shareIndex(w, share - 1, AffineExpr(), numDims)),
      0);
  addReached(pieces, later, block);
  ReadAttr state = old.reads[reduction.stateReads[w]];
  SmallVector<PieceAttr> outside;
  for (PieceAttr piece : state.getPieces())
    if (piece.getKind() != SourceKind::Buffer || old.buffers[piece.getOperand()] != stateOf(w))
      outside.push_back(piece);
  ReadAttr first = transformRead(
      ReadAttr::get(context, outside, 0), [&](AffineMap map, int64_t) { return joined(map, lower); },
      [&](IntegerSet set) { return joined(set, lower, {lower - begin}); },
      [&](int64_t operand) { return block.operandFor(old.buffers[operand]); });
  addReached(pieces, first, block);
  return ReadAttr::get(context, pieces, 0);
}

/// Joins one share to those before: any but the last, or the last one, which writes the result. Null where there is none.
BlockOp Cutter::writeJoin(OpBuilder &into, bool isLast) {
  unsigned numDims = old.dims.size(), numSymbols = old.symbols.size();
  AffineExpr share = dimExpr(reduction.dim), begin = share * tile, lower = reduction.lower, last = reduction.upper - 1;
  BlockBuilder block;
  block.name = old.name.empty() ? "" : old.name + (isLast ? "_last" : "_join");
  block.dims = old.dims;
  block.dims[reduction.dim] = newName();
  block.numAncestors = old.numAncestors;
  block.operators = old.operators;
  block.operators[reduction.dim - old.numAncestors] = ft::OperatorKind::FoldL;
  block.symbols = old.symbols;
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> eqs;
  for (auto [constraint, isEq] : llvm::zip_equal(old.domain.getConstraints(), old.domain.getEqFlags()))
    if (!constraint.isFunctionOfDim(reduction.dim)) {
      constraints.push_back(constraint);
      eqs.push_back(isEq);
    }
  // A share is there where it has an iteration; the last one has the last iteration.
  SmallVector<AffineExpr> own = isLast ? SmallVector<AffineExpr>{last - lower, last - begin, begin + (tile - 1) - last}
                                       : SmallVector<AffineExpr>{begin + (tile - 1) - lower, last - begin - tile};
  llvm::append_range(constraints, own);
  eqs.append(own.size(), false);
  block.domain = canonicalizeSet(IntegerSet::get(numDims, numSymbols, constraints, eqs));
  if (isEmpty(block))
    return {}; // all lengths that there may be are one share
  AffineExpr end = isLast ? last : begin + (tile - 1);
  for (unsigned w = 0; w < numStates(); ++w)
    block.reads.push_back(readOfJoined(w, block));
  for (unsigned w = 0; w < numStates(); ++w)
    block.reads.push_back(ReadAttr::get(
        context,
        PieceAttr::getBuffer(getUniverse(context, numDims, numSymbols), block.operandFor(partials[w]),
                             shareIndex(w, share * apart(w), end, numDims)),
        0));
  for (unsigned w = 0; w < numStates(); ++w) {
    const bool isResult = isLast && !reduction.isScan;
    int64_t operand = block.operandFor(isResult ? stateOf(w) : joinedStates[w]);
    AffineMap map = isResult ? joined(leaf.getWrite(w).getMap().getValue(), last) : shareIndex(w, share, AffineExpr(), numDims);
    block.writes.push_back(WriteAttr::get(context, operand, AffineMapAttr::get(map)));
  }
  BlockOp join = block.build(into, leaf.getLoc(), {});
  IRMapping mapping;
  join.getBody().getBlocks().clear();
  leaf.getCombine().cloneInto(&join.getBody(), mapping);
  return join;
}

IntegerSet Cutter::wholeDomain(BlockOp shares) {
  SmallVector<StringAttr> names = shares.getSymbolNames();
  SmallVector<AffineExpr> constraints;
  for (AffineExpr constraint : old.domain.getConstraints())
    constraints.push_back(ft::alignSymbols(constraint, old.symbols, names));
  return IntegerSet::get(old.domain.getNumDims(), names.size(), constraints, old.domain.getEqFlags());
}

CutNests Cutter::run(ScheduleAttr schedule) {
  NestOp nest = leaf.getNest();
  Operation *item = nest ? nest.getOperation() : leaf.getOperation();
  const bool isAlone = !nest || llvm::hasSingleElement(nest.getBody().getOps<BlockOp>());
  makeBuffers();
  builder.setInsertionPoint(item);
  auto join = NestOp::create(builder, leaf.getLoc(), ScheduleAttr());
  OpBuilder into = OpBuilder::atBlockBegin(&join.getBody().emplaceBlock());
  writeJoin(into, /*isLast=*/false);
  writeJoin(into, /*isLast=*/true);
  builder.setInsertionPoint(join);
  if (reduction.isScan) {
    builder.setInsertionPointAfter(join);
    mark(writeResumed(schedule), /*isResumed=*/true);
    builder.setInsertionPoint(join);
  }
  BlockOp shares = writeShares(schedule);
  mark(shares, /*isResumed=*/false);
  (isAlone ? item : leaf.getOperation())->erase();
  for (Value buffer : joinedStates)
    if (buffer.use_empty())
      buffer.getDefiningOp()->erase();
  return {shares, join};
}

CutNests etdg::cutReduction(const Reduction &reduction, int64_t tile, ScheduleAttr schedule, int64_t lineBytes) {
  return Cutter(reduction, tile, lineBytes).run(schedule);
}

//===----------------------------------------------------------------------===//
// Schedules with associative loops
//===----------------------------------------------------------------------===//

ScheduleAttr etdg::scheduleOfShares(ScheduleAttr schedule, int64_t own) {
  MLIRContext *context = schedule.getContext();
  SmallVector<LoopAttr> loops;
  bool hasPoints = false;
  auto isAssociative = [](LoopAttr loop) { return loop.getKind() == LoopKind::Associative; };
  // Shares of which nothing is said stand in front of their points.
  bool hasShares = llvm::any_of(schedule.getLoops(), isAssociative);
  for (LoopAttr loop : schedule.getLoops()) {
    if (!hasShares && loop.getDimension() == own) {
      loops.push_back(LoopAttr::get(context, own, 1, LoopKind::Parallel));
      hasShares = true;
    }
    if (isAssociative(loop)) {
      loops.push_back(LoopAttr::get(context, own, 1, loop.getMost(), loop.getUnit(), LoopKind::Parallel, loop.getLevel(),
                                    loop.getMapping(), SyncKind::None));
      continue;
    }
    hasPoints |= loop.getDimension() == own && loop.isOverPoints();
    loops.push_back(loop.withDimension(loop.getDimension() + (loop.getDimension() >= own)));
  }
  if (!hasPoints)
    loops.push_back(LoopAttr::get(context, own + 1, 1, LoopKind::Sequential));
  unsigned numDims = schedule.getMap().getValue().getNumDims() + 1;
  return ScheduleAttr::get(context, AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(numDims, context)), loops,
                           schedule.getPlacements(), schedule.getBefore(), schedule.getWeights(), schedule.getBlock(),
                           schedule.getColumns(), schedule.getTarget());
}

ScheduleAttr etdg::scheduleInOrder(ScheduleAttr schedule) {
  SmallVector<LoopAttr> loops;
  auto isAssociative = [](LoopAttr loop) { return loop.getKind() == LoopKind::Associative; };
  for (LoopAttr loop : schedule.getLoops()) {
    bool hasPoints = llvm::any_of(schedule.getLoops(), [&](LoopAttr other) {
      return other.getDimension() == loop.getDimension() && other.isOverPoints() && !isAssociative(other);
    });
    if (!isAssociative(loop))
      loops.push_back(loop);
    else if (!hasPoints)
      loops.push_back(LoopAttr::get(schedule.getContext(), loop.getDimension(), 1, LoopKind::Sequential));
  }
  return schedule.withLoops(loops);
}

static LogicalResult cutBySchedule(BlockOp block, ScheduleAttr schedule, int64_t lineBytes) {
  SmallVector<LoopAttr> cuts;
  llvm::copy_if(schedule.getLoops(), std::back_inserter(cuts),
                [](LoopAttr loop) { return loop.getKind() == LoopKind::Associative; });
  if (cuts.empty())
    return success();
  LoopAttr cut = cuts.front();
  unsigned dim = block.getNumAncestors() + cut.getDimension();
  auto refuse = [&](const Twine &why) {
    StringRef name = schedule.isOverColumns(cut) ? StringRef("the columns") : block.getDimNames()[dim].getValue();
    return block.emitError("the schedule's loop over ") << name << " is associative, but can't be cut: " << why;
  };
  if (!schedule.getMap().getValue().isIdentity())
    return refuse("the schedule is not applied, expected the identity as its map");
  if (cuts.size() > 1)
    return refuse("expected one associative loop, found " + Twine(cuts.size()));
  std::string why;
  std::optional<Reduction> reduction = findReduction(block, why, /*goesOn=*/true);
  if (!reduction)
    return refuse(why);
  if (reduction->dim != dim)
    return refuse("'combine' belongs to " + block.getDimNames()[reduction->dim].getValue());
  // Other regions go on with the states, one iteration after the other.
  if (NestOp nest = block.getNest())
    nest.setScheduleAttr(scheduleInOrder(schedule));
  cutReduction(*reduction, cut.getTile(), scheduleOfShares(schedule, cut.getDimension()), lineBytes);
  return success();
}

LogicalResult etdg::cutReductions(GraphOp graph, int64_t lineBytes) {
  SmallVector<BlockOp> blocks;
  graph.walk([&](BlockOp block) { blocks.push_back(block); });
  for (BlockOp block : blocks)
    if (ScheduleAttr schedule = block.getEffectiveSchedule(); schedule && failed(cutBySchedule(block, schedule, lineBytes)))
      return failure();
  return success();
}

namespace {
struct ETDGCutReductions : etdg::impl::ETDGCutReductionsBase<ETDGCutReductions> {
  using ETDGCutReductionsBase::ETDGCutReductionsBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    int64_t apart = lineBytes;
    if (!machine.empty()) {
      FailureOr<ft::MachineRef> found = ft::findMachine(getOperation().getLoc(), machine, "cpu");
      if (failed(found))
        return signalPassFailure();
      apart = (*found)->lineBytes();
    }
    if (failed(cutReductions(getOperation(), apart)))
      signalPassFailure();
  }
};
} // namespace
