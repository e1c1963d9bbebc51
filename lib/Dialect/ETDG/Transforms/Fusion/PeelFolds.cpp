//===- PeelFolds.cpp - a fold's last iteration writes the result ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last plane of a fold that is returned or yielded is copied out of the state's
// buffer, where it took the place of the planes before it. Which plane is last is not
// a map of the fold; but it is a map of the copy: a leaf in the copy's place computes
// the last iteration and writes where the copy wrote, and the fold has one iteration
// less. Nothing is computed twice. Worth it where folds are short.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Extents.h"
#include "ft/Analysis/GraphSummary.h"
#include "ft/Dialect/ETDG/Transforms/AccessFusion.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGPEELFOLDS
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;
using ft::OperatorKind;

namespace {
/// A fold of one state, and the copy of its last plane after it.
struct FoldAndCopy {
  BlockOp fold, copy;
  unsigned dim = 0;   // of the fold's iteration vector: the one that runs in order
  AffineExpr last;    // its last value, over ancestors and the fold's symbols
  unsigned bound = 0; // the constraint that says so
};
} // namespace

/// The only two users of a state, if they are a fold and a copy beside it.
static std::optional<FoldAndCopy> match(BufferOp state) {
  FoldAndCopy found;
  llvm::SetVector<Operation *> users(state.getResult().user_begin(), state.getResult().user_end());
  if (users.size() != 2)
    return std::nullopt;
  for (Operation *user : users) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block || !block.isLeaf() || block.getNest())
      return std::nullopt;
    bool writes = llvm::any_of(block.getWrites().getAsRange<WriteAttr>(), [&](WriteAttr write) {
      return block.getBuffers()[write.getOperand()] == state.getResult();
    });
    (writes ? found.fold : found.copy) = block;
  }
  BlockOp fold = found.fold, copy = found.copy;
  if (!fold || !copy || fold->getBlock() != copy->getBlock() || !fold->isBeforeInBlock(copy) ||
      fold.getNumWrites() != 1 || !isCopyBlock(copy) || copy.getNumReads() != 1 ||
      copy.getNumWrites() != 1 || copy.getRead(0).getElementRank() != 0)
    return std::nullopt;
  unsigned ordered = 0;
  for (unsigned d = 0; d < fold.getNumOwnDims(); ++d) {
    OperatorKind kind = fold.getOperator(d);
    if (kind == OperatorKind::Map)
      continue;
    if (kind != OperatorKind::FoldL && kind != OperatorKind::Fold && kind != OperatorKind::Reduce)
      return std::nullopt;
    ++ordered;
    found.dim = fold.getNumAncestors() + d;
  }
  for (PieceAttr piece : copy.getRead(0).getPieces())
    if (!piece.getGathers().empty())
      return std::nullopt;
  if (ordered != 1)
    return std::nullopt;
  return found;
}

/// Finds `k ≤ e` or `k = e` with e over ancestors and symbols, the only upper bound.
static bool findLast(FoldAndCopy &found) {
  BlockOp fold = found.fold;
  AffineExpr dim = getAffineDimExpr(found.dim, fold.getContext());
  IntegerSet domain = fold.getDomainSet();
  for (unsigned i = 0; i < domain.getNumConstraints(); ++i) {
    LinearForm form = LinearForm::of(domain.getConstraint(i));
    int64_t c = form.coefficient(dim);
    if (!form.isLinearIn(found.dim) && domain.getConstraint(i).isFunctionOfDim(found.dim))
      return false;
    if (c == 0)
      continue;
    if (c != 1 && c != -1)
      return false;
    if (c == 1 && !domain.isEq(i))
      continue;
    AffineExpr rest =
        domain.getConstraint(i).replace(dim, getAffineConstantExpr(0, fold.getContext()));
    if (found.last || LinearForm::of(rest).getLastDim() >= static_cast<int>(fold.getNumAncestors()))
      return false;
    found.last = rest * -c;
    found.bound = i;
  }
  return found.last != nullptr;
}

/// Why the last iteration is not worth a body of its own; empty where it is.
static std::string whyNotWorth(const FoldAndCopy &found, int64_t length, int64_t maxLength, int64_t maxOperations) {
  BlockOp fold = found.fold, copy = found.copy;
  if (copy.getRead(0).getPieces().size() > 1)
    return "without iterations the result is another one, and would be a block more";
  // What waits for what among the statements of an ordered block is for `reorder` to say.
  for (BlockOp parent = fold.getParentBlock(); parent; parent = parent.getParentBlock())
    for (unsigned d = 0; d < parent.getNumOwnDims(); ++d)
      if (parent.getOperator(d) != OperatorKind::Map)
        return "iterations of " + describeBlock(parent) + " around it run in order";
  int64_t operations = 0;
  bool contracts = false;
  fold.getBody().walk([&](Operation *op) {
    ++operations;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      contracts |= linalgOp.getNumReductionLoops() > 0;
  });
  if (contracts)
    return "the body has a contraction, whose loop engines pipeline";
  if (operations > maxOperations)
    return "the body has " + std::to_string(operations) + " operations, the limit is " + std::to_string(maxOperations);
  if (length > maxLength)
    return "the fold has about " + std::to_string(length) +
           " iterations, one of which is not worth a body of its own; the limit is " + std::to_string(maxLength);
  return "";
}

/// The last iteration, as a block over the copy's point: what the fold is there.
struct AccessFusion::LastIteration {
  BlockBuilder builder;       // the copy's, whose reads become the fold's
  SmallVector<AffineExpr> dims; // of the fold, over the copy's point
  IntegerSet where;           // the points at which the copy takes the plane
};

/// Whether the plane that the copy takes is the last one, wherever it takes it. `written` is where the fold writes,
/// over the copy's symbols.
bool AccessFusion::takesLast(LastIteration &last, BlockOp copy, AffineExpr isLast, AffineMap written, IntegerSet domain) {
  BlockBuilder &builder = last.builder;
  AffineMap plane = builder.reads[0].getPieces().front().getMap().getValue();
  SmallVector<AffineExpr> conditions = {isLast};
  SmallVector<bool> flags = {true};
  for (unsigned p = 0; p < written.getNumResults(); ++p) {
    conditions.push_back(written.getResult(p).replaceDims(last.dims) - plane.getResult(p));
    flags.push_back(true);
  }
  for (auto [constraint, eq] : llvm::zip_equal(domain.getConstraints(), domain.getEqFlags())) {
    conditions.push_back(constraint.replaceDims(last.dims));
    flags.push_back(eq);
  }
  auto all = IntegerSet::get(builder.dims.size(), builder.symbols.size(), conditions, flags);
  std::optional<IntegerSet> holds = simplify(copy, builder, canonicalizeSet(all), {}, last.where);
  return holds && isUniverse(*holds);
}

/// A read of the fold in its last iteration; null where nothing of it is left.
ReadAttr AccessFusion::readOfLast(LastIteration &last, BlockOp copy, ReadAttr read, ArrayRef<int64_t> shape) {
  MLIRContext *context = copy.getContext();
  unsigned numDims = last.builder.dims.size(), numSymbols = last.builder.symbols.size();
  ReadAttr moved = transformRead(
      read, [&](AffineMap map, int64_t) { return remapMap(map, last.dims, numDims, numSymbols); },
      [&](IntegerSet set) { return remapSet(set, last.dims, numDims, numSymbols); },
      [](int64_t operand) { return operand; });
  IntegerSet within =
      IntegerSet::get(numDims + shape.size(), numSymbols, last.where.getConstraints(), last.where.getEqFlags());
  SmallVector<PieceAttr> kept;
  for (PieceAttr p : moved.getPieces()) {
    std::optional<IntegerSet> left = simplify(copy, last.builder, canonicalizeSet(p.getSet().getValue()), shape, within);
    if (left)
      kept.push_back(PieceAttr::get(context, IntegerSetAttr::get(*left), p.getKind(), p.getOperand(), p.getMap(),
                                    p.getGathers(), p.getValue()));
  }
  return kept.empty() ? ReadAttr() : ReadAttr::get(context, kept, read.getElementRank());
}

/// Takes the last iteration from the fold; the fold itself goes where none is left.
void AccessFusion::shorten(BlockOp fold, BlockBuilder spec, unsigned bound, BufferOp state) {
  bool once = spec.domain.isEq(bound);
  if (!once) {
    SmallVector<AffineExpr> constraints(spec.domain.getConstraints());
    constraints[bound] = constraints[bound] - 1;
    spec.domain = IntegerSet::get(spec.domain.getNumDims(), spec.domain.getNumSymbols(), constraints,
                                  spec.domain.getEqFlags());
    spec.assign(fold);
    auto points = getDomain(fold, space);
    once = succeeded(points) && isEmpty(*points);
  }
  if (!once)
    return;
  fold.erase();
  if (state.getResult().use_empty())
    state.erase();
}

/// A block at the copy's place with the fold's body.
static void writeLast(const BlockBuilder &builder, ArrayRef<ReadAttr> reads, BlockOp fold, BlockOp copy) {
  OpBuilder ops(copy);
  BlockBuilder last = builder;
  last.reads.assign(reads.begin(), reads.end());
  BlockOp block = last.build(ops, fold.getLoc(), fold.getBody().getArgumentTypes());
  IRMapping mapping;
  mapping.map(fold.getBody().getArguments(), block.getBody().getArguments());
  OpBuilder inside = OpBuilder::atBlockEnd(&block.getBody().front());
  for (Operation &op : fold.getBody().front())
    inside.clone(op, mapping);
}

bool AccessFusion::peel(BufferOp state, int64_t maxLength, int64_t maxOperations) {
  std::optional<FoldAndCopy> matched = match(state);
  if (!matched)
    return false;
  FoldAndCopy found = *matched;
  BlockOp fold = found.fold, copy = found.copy;
  why.clear();
  auto missed = [&](const Twine &reason) {
    remark::missed(copy.getLoc(), remark::RemarkOpts::name("peel-fold").category("coarsen"))
        << remark::reason("the last plane of {0} is copied: {1}", describeBuffer(state.getResult()),
                          reason.str());
    return false;
  };
  if (!findLast(found))
    return missed("which iteration of " + describeBlock(fold) + " is last depends on others");
  SmallVector<DimRange> ranges = getOwnRanges(fold, space);
  ft::LengthAttr extent = ranges[found.dim - fold.getNumAncestors()].getLength();
  int64_t length = extent ? TypicalLengths(graph).evaluate(extent) : maxLength + 1;
  if (std::string reason = whyNotWorth(found, length, maxLength, maxOperations); !reason.empty())
    return missed(reason);

  // The fold's iteration of which the copy takes the plane, over the copy's point.
  BlockBuilder source = BlockBuilder::from(fold);
  LastIteration last{BlockBuilder::from(copy), {}, {}};
  BlockImporter importer(last.builder, source);
  PieceAttr piece = last.builder.reads[0].getPieces().front();
  last.where = piece.getSet().getValue();
  AffineMap written = importer.map(fold.getWrite(0).getMap().getValue());
  if (!invert(fold, written, getNumOwnerDims(state.getResult()), last.builder, piece.getMap().getValue(), last.dims))
    return missed(why);
  for (unsigned d = 0; d < fold.getNumAncestors(); ++d)
    if (last.dims[d] != getAffineDimExpr(d, fold.getContext()))
      return missed("the plane is another iteration's");
  AffineExpr isLast =
      last.dims[found.dim] - last.builder.importExpr(found.last, source.symbols).replaceDims(last.dims);
  if (!takesLast(last, copy, isLast, written, importer.set(fold.getDomainSet())))
    return missed("it is not the last plane everywhere");

  SmallVector<ReadAttr> reads;
  for (auto [i, given] : llvm::enumerate(source.reads)) {
    ReadAttr read = importer.read(given);
    ArrayRef<int64_t> shape;
    if (read.getElementRank())
      shape = cast<RankedTensorType>(fold.getBody().getArgument(i).getType()).getShape();
    ReadAttr left = readOfLast(last, copy, read, shape);
    if (!left)
      return missed("its last iteration reads nothing");
    reads.push_back(left);
  }
  writeLast(last.builder, reads, fold, copy);
  remark::passed(copy.getLoc(), remark::RemarkOpts::name("peel-fold").category("coarsen"))
      << remark::reason("the last iteration of {0} writes what a copy of {1} wrote",
                        describeBlock(fold), describeBuffer(state.getResult()))
      << remark::metric("length", length);
  copy.erase();
  shorten(fold, source, found.bound, state);
  return true;
}

namespace {
struct ETDGPeelFolds : etdg::impl::ETDGPeelFoldsBase<ETDGPeelFolds> {
  using ETDGPeelFoldsBase::ETDGPeelFoldsBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (namesReads(getOperation(), getArgument()))
      return markAllAnalysesPreserved();
    AccessFusion fusion(getOperation(), /*maxPieces=*/0);
    SmallVector<BufferOp> states;
    getOperation().walk([&](BufferOp buffer) { states.push_back(buffer); });
    for (BufferOp state : states)
      fusion.peel(state, maxLength, maxOperations);
  }
};
} // namespace
