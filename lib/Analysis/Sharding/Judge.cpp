//===- Judge.cpp - what an access asks of other ranks ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Judge.h"

#include "ft/Analysis/GraphSummary.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::etdg;

ClassJudge::ClassJudge(const ShardingContext &context, unsigned root, ShardingClass &found)
    : context(context), root(root), found(found) {}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// Whether the dimension occurs, or a name of the class's length.
bool ClassJudge::mentions(AffineExpr expr, ArrayRef<StringAttr> symbols, std::optional<unsigned> dim) const {
  bool does = false;
  expr.walk([&](AffineExpr e) {
    if (auto d = dyn_cast<AffineDimExpr>(e))
      does |= dim && d.getPosition() == *dim;
    if (auto s = dyn_cast<AffineSymbolExpr>(e))
      does |= llvm::is_contained(found.length.getNames(), symbols[s.getPosition()]);
  });
  return does;
}

/// `i >= 0` of the class's dimension; `i <= L - 1` of any dimension over a list.
bool ClassJudge::isRange(AffineExpr constraint, BlockOp block) const {
  LinearForm form = LinearForm::of(constraint);
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  for (auto [atom, factor] : form.terms) {
    auto d = dyn_cast<AffineDimExpr>(atom);
    if (!d)
      continue;
    if (factor == 1 && form.terms.size() == 1 && !form.constant)
      return true;
    ft::LengthAttr length = context.lengths.lookup(context.dims.ofBlock(block, d.getPosition()).root);
    std::optional<BareIndex> fromEnd;
    if (length)
      fromEnd = getBareIndex(constraint, symbols, length);
    return fromEnd && fromEnd->isReversed;
  }
  return false;
}

bool ClassJudge::isState(const Access &access) const {
  return states.contains(access.buffer.getAsOpaquePointer());
}

ft::LengthAttr ClassJudge::getPlaneBytes(Value buffer, unsigned row, int64_t planes) const {
  auto type = cast<BufferType>(buffer.getType());
  SmallVector<ft::LengthAttr> lengths(type.getLengths());
  lengths.erase(lengths.begin() + row);
  MLIRContext *ctx = buffer.getContext();
  ft::LengthAttr bytes = getBytes(BufferType::get(ctx, lengths, type.getElement()));
  return bytes ? bytes * ft::LengthAttr::get(ctx, planes) : bytes;
}

static std::string describeAccess(Access &access) {
  std::string text = describeBlock(access.block) + " " + access.describe() + " of " + describeBuffer(access.buffer) + " at ";
  return text + describeMap(access.map, access.getPointNames(), access.block.getSymbolNames(), access.gathers);
}

void ClassJudge::add(Access &access, ShardingKind kind, DistanceRange distance, ft::LengthAttr bytes) {
  found.reasons.push_back({kind, access.block.getLoc(), describeAccess(access), distance, bytes});
  found.kind = std::max(found.kind, kind);
}

void ClassJudge::addPosition(BlockOp block, const Twine &text) {
  found.positions.push_back({ShardingKind::Local, block.getLoc(), describeBlock(block) + (" " + text).str(), {}, {}});
}

std::optional<DistanceRange> ClassJudge::getDistance(Access &access, unsigned row, unsigned dim) {
  SetBuilder builder(context.space, access.getPointSize());
  if (failed(addPoint(builder, access)))
    return std::nullopt;
  std::optional<LinearExpr> index = builder.flatten(access.map.getResult(row), access.block.getSymbolNames());
  if (!index)
    return std::nullopt;
  LinearExpr own = builder.variable(dim);
  bool isSame = context.dims.ofBlock(access.block, dim).isReversed == context.dims.ofBuffer(access.buffer, row).isReversed;
  if (isSame) {
    own *= -1;
    *index += own;
  } else {
    // (L - 1 - index) - own
    ft::LengthAttr length = access.getBufferType().getLengths()[row];
    std::optional<LinearExpr> last = builder.flatten(length.getExpr(), length.getNames());
    if (!last)
      return std::nullopt;
    *index += own;
    *index *= -1;
    *index += *last;
    index->constant -= 1;
  }
  if (index->overflow)
    return std::nullopt;
  if (index->isConstant())
    return DistanceRange::constant(index->constant);
  return DependenceAnalysis::getRange(builder, *index);
}

static bool isJoinedByParts(ft::OperatorKind kind) {
  return kind == ft::OperatorKind::Reduce || kind == ft::OperatorKind::Fold;
}

/// Whether this is the last iteration's plane of a buffer along the class.
bool ClassJudge::readsLastPlane(const Access &access, unsigned row) const {
  ft::LengthAttr length = access.getBufferType().getLengths()[row];
  AffineExpr expr = access.map.getResult(row);
  bool hasDims = false;
  expr.walk([&](AffineExpr e) { hasDims |= isa<AffineDimExpr>(e); });
  if (hasDims || access.getGather(row))
    return false;
  BlockOp block = access.block;
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  return ft::LengthAttr::get(expr.getContext(), symbols, expr) == length - 1;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Buffers that a loop over the class both writes and reads at another iteration.
void ClassJudge::findStates() {
  for (BlockOp leaf : context.accesses.getLeaves()) {
    std::optional<unsigned> dim = context.dims.findDim(leaf, root);
    if (!dim)
      continue;
    BlockOp owner = getDimOwner(leaf, *dim);
    for (Access &access : getAccesses(leaf)) {
      std::optional<unsigned> row = context.dims.findRow(access.buffer, root);
      if (access.isWrite() || !row || access.getGather(*row))
        continue;
      bool isOwn = llvm::any_of(context.accesses.getWrites(access.buffer), [&](const Access &write) {
        std::optional<unsigned> d = context.dims.findDim(write.block, root);
        return d && getItem(getDimOwner(write.block, *d)) == getItem(owner);
      });
      std::optional<DistanceRange> distance = isOwn ? getDistance(access, *row, *dim) : DistanceRange::constant(0);
      if (distance && distance->isZero())
        continue;
      states.insert(access.buffer.getAsOpaquePointer());
      carriers.insert(getItem(owner));
    }
  }
}

void ClassJudge::judgeState(Access &access, unsigned dim, const DistanceRange &distance) {
  std::optional<unsigned> row = context.dims.findRow(access.buffer, root);
  if (!distance.low || !distance.high || *distance.high > 0)
    return add(access, ShardingKind::Refused, distance);
  ft::LengthAttr bytes = getPlaneBytes(access.buffer, *row, -*distance.low);
  switch (getDimOperator(access.block, dim)) {
  case ft::OperatorKind::Reduce:
  case ft::OperatorKind::Fold:
    return add(access, ShardingKind::Partial, distance, bytes);
  case ft::OperatorKind::Scan:
    return add(access, ShardingKind::Scan, distance, bytes);
  default:
    return add(access, ShardingKind::Pipeline, distance, bytes);
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Of a list that is read as a whole: by turns where a reduction over another dimension reads it, else at once.
static ShardingKind getWholeKind(Access &access, unsigned row) {
  ft::LengthAttr length = access.getBufferType().getLengths()[row];
  std::optional<BareIndex> index = getBareIndex(access.map.getResult(row), access.block.getSymbolNames(), length);
  bool isJoined = index && index->dim < access.block.getNumDims() && isJoinedByParts(getDimOperator(access.block, index->dim));
  return isJoined ? ShardingKind::Ring : ShardingKind::AllGather;
}

void ClassJudge::judgeRow(Access &access, unsigned row) {
  if (access.getGather(row))
    return add(access, ShardingKind::Refused);
  // What a loop leaves at its end is told to all, or is a part.
  if (isState(access) && readsLastPlane(access, row))
    return;
  std::optional<unsigned> dim = context.dims.findDim(access.block, root);
  if (!dim)
    return add(access, getWholeKind(access, row), {}, getBytes(access.getBufferType()));
  std::optional<DistanceRange> distance = getDistance(access, row, *dim);
  if (!distance)
    return add(access, ShardingKind::Refused);
  if (distance->isZero())
    return;
  if (isState(access) && carriers.contains(getItem(getDimOwner(access.block, *dim))))
    return judgeState(access, *dim, *distance);
  if (!distance->low || !distance->high)
    return add(access, getWholeKind(access, row), *distance, getBytes(access.getBufferType()));
  int64_t planes = std::max<int64_t>(0, -*distance->low) + std::max<int64_t>(0, *distance->high);
  add(access, ShardingKind::Halo, *distance, getPlaneBytes(access.buffer, row, planes));
}

/// Other indices have nothing to do with the class.
void ClassJudge::judgeOtherRows(Access &access) {
  std::optional<unsigned> row = context.dims.findRow(access.buffer, root);
  std::optional<unsigned> dim = context.dims.findDim(access.block, root);
  SmallVector<StringAttr> symbols = access.block.getSymbolNames();
  for (auto [r, expr] : llvm::enumerate(access.map.getResults())) {
    if ((row && r == *row) || !mentions(expr, symbols, dim))
      continue;
    // The end of another list of that length is judged with that list's class.
    bool usesDim = dim && expr.isFunctionOfDim(*dim);
    bool isEnd = r < access.getBufferType().getDepth() &&
                 (readsLastPlane(access, r) || getBareIndex(expr, symbols, access.getBufferType().getLengths()[r]));
    if (usesDim && isEnd)
      addPosition(access.block, access.describe() + " of " + describeBuffer(access.buffer) + ", which is not divided so");
    else if (!isEnd)
      return add(access, ShardingKind::Refused);
  }
}

void ClassJudge::judgeWrite(Access &access) {
  std::optional<unsigned> row = context.dims.findRow(access.buffer, root);
  std::optional<unsigned> dim = context.dims.findDim(access.block, root);
  Operation *def = access.buffer.getDefiningOp();
  BlockOp owner = def ? def->getParentOfType<BlockOp>() : BlockOp();
  bool isInside = owner && context.dims.findDim(owner, root).has_value();
  if (row.has_value() != dim.has_value() && !(dim && isInside))
    return add(access, ShardingKind::Refused);
  if (!row || !dim)
    return;
  std::optional<DistanceRange> distance = getDistance(access, *row, *dim);
  if (!distance || !distance->isZero())
    add(access, ShardingKind::Refused);
}

void ClassJudge::judgeAccess(Access &access) {
  judgeOtherRows(access);
  if (access.isWrite())
    return judgeWrite(access);
  if (std::optional<unsigned> row = context.dims.findRow(access.buffer, root))
    judgeRow(access, *row);
}

/// The conditions of a read's pieces: a state's first iteration and a result's last plane may have them.
void ClassJudge::judgeRead(BlockOp leaf, unsigned number, ReadAttr read, ArrayRef<Access *> pieces) {
  SmallVector<StringAttr> symbols = leaf.getSymbolNames();
  std::optional<unsigned> dim = context.dims.findDim(leaf, root);
  bool isExcused = llvm::any_of(pieces, [&](Access *access) {
    std::optional<unsigned> row = context.dims.findRow(access->buffer, root);
    if (!row || access->getGather(*row))
      return false;
    if (isState(*access) && (dim.has_value() || readsLastPlane(*access, *row)))
      return true;
    // A halo ends at the list's ends.
    std::optional<DistanceRange> distance = dim ? getDistance(*access, *row, *dim) : std::nullopt;
    return distance && distance->low && distance->high && !distance->isZero();
  });
  bool isAsked = false;
  for (PieceAttr piece : read.getPieces()) {
    if (piece.getKind() == SourceKind::Index)
      isAsked |= mentions(piece.getMap().getValue().getResult(0), symbols, dim);
    for (AffineExpr constraint : piece.getSet().getValue().getConstraints())
      isAsked |= !isExcused && mentions(constraint, symbols, dim);
  }
  if (isAsked)
    addPosition(leaf, "read " + Twine(number));
}

/// Conditions of a block on the class's index and length, but for its range.
void ClassJudge::judgeDomain(BlockOp block) {
  std::optional<unsigned> dim = context.dims.findDim(block, root);
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  // A scan's first iterations are regions of their own; a reduction has one region with the whole range.
  if (dim && carriers.contains(getItem(getDimOwner(block, *dim))) && !isJoinedByParts(getDimOperator(block, *dim)))
    return;
  for (AffineExpr constraint : block.getDomainSet().getConstraints())
    if (mentions(constraint, symbols, dim) && !isRange(constraint, block))
      return addPosition(block, "domain " + conditionsToString(block.getDomainSet(), block.getDimNames(), symbols));
}

/// Lists of the class have one length; others are halos where the difference is a number.
void ClassJudge::judgeLengths() {
  for (const ShardingMember &member : found.members) {
    if (!member.buffer)
      continue;
    ft::LengthAttr length = cast<BufferType>(member.buffer.getType()).getLengths()[member.dim];
    if (length == found.length)
      continue;
    ft::LengthAttr difference = found.length - length;
    bool isNear = difference && difference.isConstant();
    ShardingKind kind = length.getRagged() ? ShardingKind::Refused : isNear ? ShardingKind::Halo : ShardingKind::AllGather;
    found.reasons.push_back({kind, member.buffer.getLoc(), describeBuffer(member.buffer) + " has the length " + length.str(), {}, {}});
    found.kind = std::max(found.kind, kind);
  }
  if (found.length.getRagged()) {
    found.reasons.push_back({ShardingKind::Refused, GraphOp(context.graph).getLoc(), "lists of several lengths", {}, {}});
    found.kind = ShardingKind::Refused;
  }
}

void ClassJudge::run() {
  judgeLengths();
  findStates();
  for (BlockOp block : context.accesses.getBlocks())
    judgeDomain(block);
  for (BlockOp leaf : context.accesses.getLeaves()) {
    SmallVector<Access, 0> accesses = getAccesses(leaf);
    for (Access &access : accesses)
      if (access.kind != Access::Identity)
        judgeAccess(access);
    for (auto [i, read] : llvm::enumerate(leaf.getReads().getAsRange<ReadAttr>())) {
      SmallVector<Access *> pieces;
      for (Access &access : accesses)
        if (access.kind == Access::Read && access.index == i)
          pieces.push_back(&access);
      judgeRead(leaf, i, read, pieces);
    }
  }
  if (found.kind <= ShardingKind::Partial)
    findParts();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

PartialKind ClassJudge::getStateKind(BlockOp leaf, unsigned write, Value buffer) {
  SmallVector<BlockArgument> all;
  std::optional<unsigned> own;
  ReadAttr ownRead;
  for (Access &access : getAccesses(leaf))
    if (access.kind == Access::Read && isState(access)) {
      BlockArgument argument = leaf.getBody().getArgument(access.index);
      if (!llvm::is_contained(all, argument))
        all.push_back(argument);
      if (access.buffer == buffer) {
        own = access.index;
        ownRead = leaf.getRead(access.index);
      }
    }
  if (!own)
    return PartialKind::Combine;
  PartialKind kind = getUpdateKind(leaf.getYield().getOperand(write), leaf.getBody().getArgument(*own), all);
  for (PieceAttr piece : ownRead.getPieces()) {
    bool isOwn = piece.getKind() == SourceKind::Buffer && leaf.getBuffers()[piece.getOperand()] == buffer;
    if (!isOwn && (piece.getKind() != SourceKind::Splat || !isNeutral(kind, piece.getValue())))
      return PartialKind::Combine;
  }
  return kind;
}

/// None where no piece has been written yet.
std::optional<PartStatus> ClassJudge::getReadStatus(BlockOp leaf, ReadAttr read) {
  std::optional<PartStatus> status, part;
  unsigned numSplats = 0;
  for (PieceAttr piece : read.getPieces()) {
    PartStatus one;
    if (piece.getKind() == SourceKind::Buffer) {
      Value buffer = leaf.getBuffers()[piece.getOperand()];
      auto it = parts.find(buffer);
      if (it == parts.end() && buffer.getDefiningOp<BufferOp>())
        continue;
      if (it != parts.end())
        one = it->second;
      if (one.state == PartStatus::Part && states.contains(buffer.getAsOpaquePointer()))
        part = one;
    } else if (piece.getKind() == SourceKind::Splat) {
      ++numSplats;
      if (isNeutral(PartialKind::Sum, piece.getValue()))
        one.state = PartStatus::Zero;
    }
    status = status ? joinParts(*status, one) : one;
  }
  // A maximum over an empty list is the initial state, as each rank's is: the length decides which piece it is.
  if (part && numSplats == 1 && read.getPieces().size() == 2)
    return part;
  return status;
}

/// What a leaf writes; whether that is news. `written` are the buffers of this round.
bool ClassJudge::flowThrough(BlockOp leaf, llvm::SmallPtrSetImpl<void *> &written) {
  bool hasDim = context.dims.findDim(leaf, root).has_value();
  SmallVector<PartStatus> yielded;
  if (!hasDim) {
    SmallVector<PartStatus> arguments;
    for (ReadAttr read : leaf.getReads().getAsRange<ReadAttr>()) {
      std::optional<PartStatus> status = getReadStatus(leaf, read);
      if (!status)
        return false;
      arguments.push_back(*status);
    }
    yielded = getYieldedParts(leaf, arguments);
  }
  bool changed = false;
  for (auto [w, write] : llvm::enumerate(leaf.getWrites().getAsRange<WriteAttr>())) {
    Value buffer = leaf.getBuffers()[write.getOperand()];
    PartStatus status;
    if (!hasDim)
      status = yielded[w];
    else if (states.contains(buffer.getAsOpaquePointer()))
      status = {PartStatus::Part, getStateKind(leaf, w, buffer), nullptr};
    auto [it, isNew] = parts.try_emplace(buffer, status);
    // What one region writes joins with what the others do.
    if (!written.insert(buffer.getAsOpaquePointer()).second)
      status = joinParts(it->second, status);
    changed |= isNew || !(it->second == status);
    it->second = status;
  }
  return changed;
}

/// Whether some argument of a leaf over the class is a part, other than its own states.
static bool readsPart(ArrayRef<PartStatus> arguments, ArrayRef<bool> own) {
  for (auto [status, isOwn] : llvm::zip_equal(arguments, own))
    if (!isOwn && status.state >= PartStatus::Part)
      return true;
  return false;
}

void ClassJudge::findParts() {
  ArrayRef<BlockOp> leaves = context.accesses.getLeaves();
  // A loop's state is first what it starts from. Each round goes one leaf further; what does not settle is refused.
  bool changed = true;
  for (unsigned round = 0; changed && round <= leaves.size() + 1; ++round) {
    changed = false;
    llvm::SmallPtrSet<void *, 16> written;
    for (BlockOp leaf : leaves)
      changed |= flowThrough(leaf, written);
  }
  if (changed)
    found.joins.push_back({ShardingKind::Partial, GraphOp(context.graph).getLoc(), "parts that depend on themselves", {}, {}});
  for (BlockOp leaf : leaves) {
    SmallVector<PartStatus> arguments;
    SmallVector<bool> own;
    bool hasDim = context.dims.findDim(leaf, root).has_value();
    for (ReadAttr read : leaf.getReads().getAsRange<ReadAttr>()) {
      arguments.push_back(getReadStatus(leaf, read).value_or(PartStatus{}));
      own.push_back(false);
    }
    for (Access &access : getAccesses(leaf))
      if (std::optional<unsigned> row = context.dims.findRow(access.buffer, root))
        if (access.kind == Access::Read && hasDim && isState(access) && !readsLastPlane(access, *row))
          own[access.index] = true;
    bool isWrong = hasDim ? readsPart(arguments, own) : false;
    if (!hasDim)
      for (const PartStatus &status : getYieldedParts(leaf, arguments))
        isWrong |= status.state == PartStatus::Wrong;
    if (isWrong)
      found.joins.push_back({ShardingKind::Partial, leaf.getLoc(), describeBlock(leaf) + " reads a part", {}, {}});
  }
  for (Value result : cast<ReturnOp>(GraphOp(context.graph).getBody().front().back()).getOperands()) {
    PartStatus status = parts.lookup(result);
    bool isDivided = context.dims.findRow(result, root).has_value();
    found.results.push_back(isDivided || status.state < PartStatus::Part ? PartialKind::None
                            : status.state == PartStatus::Wrong          ? PartialKind::None
                                                                         : status.kind);
  }
}
