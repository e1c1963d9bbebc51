//===- AccessFusion.cpp - copies folded into the maps of readers ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access map fusion (FT §5.1): a leaf that only moves elements (a copy, a
// transposition, a concatenation's part, a window, a fill) has a write map that
// names its iteration; its readers then read where it reads, piece by piece, and
// its buffer disappears. Buffers are written once, so the element is the same at
// any later time.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/AccessFusion.h"

#include "BorderedReads.h"

#include "ft/Analysis/GraphSummary.h"
#include "ft/Dialect/ETDG/Transforms/ElementForm.h"
#include "ft/Dialect/ETDG/Transforms/Filled.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGFUSEACCESSES
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

AccessFusion::AccessFusion(GraphOp graph, int64_t maxPieces) : graph(graph), space(graph), maxPieces(maxPieces) {}
AccessFusion::~AccessFusion() = default;

//===----------------------------------------------------------------------===//
// Writers
//===----------------------------------------------------------------------===//

bool AccessFusion::collectWriters(BufferOp buffer, SmallVectorImpl<Writer> &writers) {
  bool moves = false;
  llvm::SetVector<Operation *> users(buffer.getResult().user_begin(),
                                     buffer.getResult().user_end());
  for (Operation *user : llvm::reverse(users)) {
    auto leaf = dyn_cast<BlockOp>(user);
    if (!leaf || !leaf.isLeaf())
      continue;
    for (auto [i, write] : llvm::enumerate(leaf.getWrites().getAsRange<WriteAttr>())) {
      if (leaf.getBuffers()[write.getOperand()] != buffer.getResult())
        continue;
      Writer writer{leaf, static_cast<unsigned>(i), std::nullopt, {}};
      Value value = leaf.getYield().getOperand(i);
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && argument.getOwner() == &leaf.getBody().front())
        writer.read = argument.getArgNumber();
      else
        writer.splat = getFilled(value);
      moves |= writer.moves();
      writers.push_back(writer);
    }
  }
  return moves;
}

/// The leaf's iteration that has `index` as its `named` indices, over a user's point; both maps
/// are over the user's symbols. Dimensions of the buffer's owner are the user's.
bool AccessFusion::invert(BlockOp leaf, AffineMap named, unsigned numOwner, BlockBuilder &user,
                          AffineMap index, SmallVectorImpl<AffineExpr> &dims) {
  MLIRContext *context = leaf.getContext();
  for (unsigned d = 0; d < leaf.getNumDims(); ++d) {
    AffineExpr dim = getAffineDimExpr(d, context), value;
    if (d < numOwner) {
      dims.push_back(dim);
      continue;
    }
    // An index ±d + e, with e over dimensions that are known: d = ±(index - e).
    for (unsigned p = 0; p < named.getNumResults() && !value; ++p) {
      LinearForm form = LinearForm::of(named.getResult(p));
      int64_t c = form.coefficient(dim);
      if (form.getLastDim() != static_cast<int>(d) || !form.isLinearIn(d) || (c != 1 && c != -1))
        continue;
      AffineExpr rest = named.getResult(p).replace(dim, getAffineConstantExpr(0, context));
      value = (index.getResult(p) - rest.replaceDims(dims)) * c;
    }
    // A dimension of one value: `= e` over those before it.
    for (BlockOp block = leaf; block && !value; block = block.getParentBlock()) {
      if (d < block.getNumAncestors() || d >= block.getNumDims())
        continue;
      IntegerSet set = block.getDomainSet();
      for (unsigned i = 0; i < set.getNumConstraints() && !value; ++i) {
        LinearForm form = LinearForm::of(set.getConstraint(i));
        int64_t c = form.coefficient(dim);
        if (!set.isEq(i) || form.getLastDim() != static_cast<int>(d) || !form.isLinearIn(d) ||
            (c != 1 && c != -1))
          continue;
        AffineExpr rest = set.getConstraint(i).replace(dim, getAffineConstantExpr(0, context)) * -c;
        value = user.importExpr(rest, block.getSymbolNames()).replaceDims(dims);
      }
    }
    if (!value)
      return refuse("an index map of " + describeBlock(leaf) + " does not name dimension '" +
                    leaf.getDimNames()[d].getValue() + "'");
    dims.push_back(value);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

std::optional<IntegerSet> AccessFusion::simplify(BlockOp block, const BlockBuilder &builder,
                                                 IntegerSet set, ArrayRef<int64_t> elementShape,
                                                 IntegerSet within) {
  Access points{Access::Read,
                block,
                Value(),
                0,
                0,
                AffineMap(),
                IntegerSet(),
                {},
                llvm::to_vector(elementShape)};
  auto isFeasible = [&](ArrayRef<AffineExpr> constraints, ArrayRef<bool> eqs) {
    SetBuilder all(space, points.getPointSize());
    if (failed(addPoint(all, points)) || (within && failed(all.add(within, builder.symbols))))
      return true;
    for (auto [constraint, eq] : llvm::zip(constraints, eqs))
      if (failed(all.add(constraint, eq, builder.symbols)))
        return true;
    return !isEmpty(all.get());
  };
  SmallVector<AffineExpr> constraints(set.getConstraints());
  SmallVector<bool> eqs(set.getEqFlags());
  if (!isFeasible(constraints, eqs))
    return std::nullopt;
  for (unsigned i = 0; i < constraints.size();) {
    AffineExpr constraint = constraints[i];
    bool eq = eqs[i];
    SmallVector<AffineExpr> others(constraints);
    SmallVector<bool> otherEqs(eqs);
    otherEqs[i] = false;
    others[i] = -constraint - 1;
    bool needed = isFeasible(others, otherEqs);
    if (eq && !needed) {
      others[i] = constraint - 1;
      needed = isFeasible(others, otherEqs);
    }
    if (needed) {
      ++i;
      continue;
    }
    constraints.erase(constraints.begin() + i);
    eqs.erase(eqs.begin() + i);
  }
  if (constraints.empty())
    return getUniverse(set.getContext(), set.getNumDims(), set.getNumSymbols());
  return IntegerSet::get(set.getNumDims(), set.getNumSymbols(), constraints, eqs);
}

void AccessFusion::addDomains(BlockOp block, BlockOp owner, BlockBuilder &builder, ArrayRef<AffineExpr> dims,
                              SmallVectorImpl<AffineExpr> &constraints, SmallVectorImpl<bool> &eqs) {
  for (BlockOp b = block; b && b != owner; b = b.getParentBlock()) {
    ArrayRef<AffineExpr> own = dims.take_front(b.getNumDims());
    IntegerSet domain = b.getDomainSet();
    for (AffineExpr constraint : domain.getConstraints())
      constraints.push_back(builder.importExpr(constraint, b.getSymbolNames()).replaceDims(own));
    llvm::append_range(eqs, domain.getEqFlags());
  }
}

bool AccessFusion::seesSources(BufferOp buffer, BlockOp leaf, BlockOp reader, const BlockBuilder &source, PieceAttr from,
                               ArrayRef<AffineExpr> dims) {
  // The source is seen where the reader stands, at the same point of its owner, and still there.
  SmallVector<Value> sources = {source.buffers[from.getOperand()]};
  for (GatherAttr gather : from.getGathers())
    sources.push_back(source.buffers[gather.getOperand()]);
  for (Value value : sources) {
    if (auto op = value.getDefiningOp<BufferOp>()) {
      if (!op.keepsAllPlanes())
        return refuse("planes of " + describeBuffer(value) + " take each other's place");
      if (!op->getParentOp()->isAncestor(reader))
        return refuse(describeBuffer(value) + " is private to blocks around " +
                      describeBlock(leaf));
    }
    for (unsigned d = 0, e = getNumOwnerDims(value); d < e; ++d)
      if (dims[d] != getAffineDimExpr(d, buffer.getContext()))
        return refuse(describeBuffer(value) + " is another one in the iteration that reads");
    if (value == buffer.getResult())
      return refuse(describeBuffer(value) + " is moved inside itself");
  }
  return true;
}

/// That a writer wrote at a place what is read there: `dims` is its point for one of the reader.
static void addSamePlace(BufferOp buffer, AffineMap written, AffineMap map, ArrayRef<AffineExpr> dims,
                         SmallVectorImpl<AffineExpr> &constraints, SmallVectorImpl<bool> &eqs) {
  for (unsigned p = 0; p < buffer.getResult().getType().getDepth(); ++p) {
    constraints.push_back(written.getResult(p).replaceDims(dims) - map.getResult(p));
    eqs.push_back(true);
  }
}

bool AccessFusion::forwardPiece(BufferOp buffer, const Writer &writer, BlockOp block, BlockBuilder &builder, PieceAttr piece,
                                RankedTensorType type, unsigned elementRank, SmallVectorImpl<PieceAttr> &pieces) {
  BlockOp leaf = writer.leaf;
  MLIRContext *context = leaf.getContext();
  BlockBuilder source = BlockBuilder::from(leaf);
  BlockImporter importer(builder, source);
  unsigned pointSize = builder.dims.size() + elementRank;
  AffineMap map = piece.getMap().getValue();
  if (!piece.getGathers().empty())
    return refuse("a read of " + describeBlock(block) + " takes its index from data");
  SmallVector<AffineExpr> dims;
  AffineMap written = importer.map(leaf.getWrite(writer.write).getMap().getValue());
  if (!invert(leaf, written, getNumOwnerDims(buffer.getResult()), builder, map, dims))
    return false;

  // The points at which this writer wrote what is read. Only the blocks around the buffer are at the same
  // iteration for writer and reader.
  SmallVector<AffineExpr> constraints(piece.getSet().getValue().getConstraints());
  SmallVector<bool> eqs(piece.getSet().getValue().getEqFlags());
  addDomains(leaf, buffer->getParentOfType<BlockOp>(), builder, dims, constraints, eqs);
  addSamePlace(buffer, written, map, dims, constraints, eqs);
  unsigned depth = buffer.getResult().getType().getDepth();
  ArrayRef<int64_t> shape = elementRank ? type.getShape() : ArrayRef<int64_t>();
  auto emit = [&](ArrayRef<AffineExpr> more, ArrayRef<bool> moreEqs, SourceKind kind, int64_t operand, AffineMap newMap,
                  ArrayRef<GatherAttr> gathers, TypedAttr value) {
    SmallVector<AffineExpr> all(constraints);
    llvm::append_range(all, more);
    SmallVector<bool> allEqs(eqs);
    llvm::append_range(allEqs, moreEqs);
    IntegerSet set = canonicalizeSet(IntegerSet::get(pointSize, builder.symbols.size(), all, allEqs));
    std::optional<IntegerSet> left = simplify(block, builder, set, shape);
    if (left)
      pieces.push_back(PieceAttr::get(context, IntegerSetAttr::get(*left), kind, operand,
                                      AffineMapAttr::get(newMap), gathers, value));
  };
  AffineMap nothing = AffineMap::get(pointSize, builder.symbols.size(), {}, context);
  if (writer.splat) {
    emit({}, {}, SourceKind::Splat, -1, nothing, {}, writer.splat);
    return true;
  }
  if (!writer.read) {
    emit({}, {}, SourceKind::Buffer, piece.getOperand(), map, {}, {});
    return true;
  }
  // What was put together out of scalars: its element's dimensions are the indices into the buffer's element.
  bool byScalars = source.reads[*writer.read].getElementRank() != 0;
  SmallVector<AffineExpr> point(dims);
  if (byScalars)
    llvm::append_range(point, map.getResults().drop_front(depth));
  for (PieceAttr from : source.reads[*writer.read].getPieces()) {
    SmallVector<AffineExpr> more;
    IntegerSet set = importer.set(from.getSet().getValue());
    for (AffineExpr constraint : set.getConstraints())
      more.push_back(constraint.replaceDims(point));
    auto compose = [&](AffineMap old, bool element) {
      SmallVector<AffineExpr> results;
      for (AffineExpr result : importer.map(old).getResults())
        results.push_back(result.replaceDims(point));
      if (element && !byScalars)
        for (unsigned e = depth; e < map.getNumResults(); ++e)
          results.push_back(map.getResult(e));
      return AffineMap::get(pointSize, builder.symbols.size(), results, context);
    };
    if (from.getKind() != SourceKind::Buffer) {
      emit(more, set.getEqFlags(), from.getKind(), -1, compose(from.getMap().getValue(), false), {},
           from.getValue());
      continue;
    }
    if (!seesSources(buffer, leaf, block, source, from, dims))
      return false;
    SmallVector<GatherAttr> gathers;
    for (GatherAttr gather : from.getGathers())
      gathers.push_back(
          GatherAttr::get(context, gather.getPosition(), importer.operand(gather.getOperand()),
                          AffineMapAttr::get(compose(gather.getMap().getValue(), false))));
    emit(more, set.getEqFlags(), SourceKind::Buffer, importer.operand(from.getOperand()),
         compose(from.getMap().getValue(), true), gathers, {});
  }
  return true;
}

/// How often a block that reads along some of its dimensions alone meets the same element.
static bool readsAgain(BlockOp block, const BlockBuilder &builder, ReadAttr read, Value buffer) {
  for (unsigned d = getNumOwnerDims(buffer); d < builder.dims.size(); ++d) {
    bool isNamed = llvm::any_of(read.getPieces(), [&](PieceAttr piece) {
      return piece.getKind() == SourceKind::Buffer && builder.buffers[piece.getOperand()] == buffer &&
             piece.getMap().getValue().isFunctionOfDim(d);
    });
    if (!isNamed)
      return true;
  }
  return false;
}

/// Whether an operation of the body reduces: what it takes then is read more often than once, in tiles of many rows.
static bool reduces(BlockOp block) {
  return block
      .walk([](linalg::LinalgOp op) { return op.getNumReductionLoops() > 0 ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Whether a read takes one number, whatever the point and the element.
static bool isOneNumber(ReadAttr read) {
  PieceAttr first = read.getPieces().front();
  return llvm::all_of(read.getPieces(), [&](PieceAttr piece) { return piece.getKind() == SourceKind::Splat && piece.getValue() == first.getValue(); });
}

bool AccessFusion::mayPutTogether(BufferOp buffer, BlockOp block, const BlockBuilder &builder, unsigned read, ReadAttr after) {
  if (after.getElementRank() == 0 || isOneNumber(after) || hasConstantSteps(after, builder.buffers, builder.dims.size()))
    return true;
  unsigned readers = 0;
  for (Operation *user : llvm::SetVector<Operation *>(buffer.getResult().user_begin(), buffer.getResult().user_end()))
    readers += llvm::any_of(getAccesses(cast<BlockOp>(user)),
                            [&](Access &access) { return !access.isWrite() && access.buffer == buffer.getResult(); });
  if (readers > 1)
    return refuse("it is put together out of scalars, for " + Twine(readers) + " readers");
  if (readsAgain(block, builder, builder.reads[read], buffer.getResult()))
    return refuse("it is put together out of scalars, and " + describeBlock(block) + " reads it again and again");
  if (reduces(block))
    return refuse("it is put together out of scalars, and " + describeBlock(block) + " reduces");
  return true;
}

bool AccessFusion::takeBorder(BlockOp block, const BlockBuilder &builder, unsigned read, ReadAttr &after) {
  BlockArgument argument = block.getBody().getArgument(read);
  std::optional<BorderedRead> found =
      matchBorder(after, cast<RankedTensorType>(argument.getType()), builder.buffers, unsigned(builder.dims.size()));
  if (!found || !isComputedInPlace(argument))
    return false;
  after = found->read;
  bordered.emplace_back(block, read, std::move(*found));
  return true;
}

/// The block with all its reads of the buffer forwarded.
bool AccessFusion::forward(BufferOp buffer, ArrayRef<Writer> writers, BlockOp block,
                           BlockBuilder &builder) {
  auto isBuffer = [&](int64_t operand) {
    return operand >= 0 && builder.buffers[operand] == buffer.getResult();
  };
  for (ReadAttr read : builder.identity)
    for (PieceAttr piece : read.getPieces())
      if (piece.getKind() == SourceKind::Buffer && isBuffer(piece.getOperand()))
        return refuse("an identity of " + describeBlock(block) + " reads it");
  bool byScalars = llvm::any_of(writers, [](const Writer &writer) {
    return writer.read && BlockOp(writer.leaf).getRead(*writer.read).getElementRank() != 0;
  });
  for (unsigned i = 0; i < builder.reads.size(); ++i) {
    auto type = cast<RankedTensorType>(block.getBody().getArgument(i).getType());
    bool readsIt = llvm::any_of(builder.reads[i].getPieces(), [&](PieceAttr piece) {
      return piece.getKind() == SourceKind::Buffer && isBuffer(piece.getOperand());
    });
    if (byScalars && readsIt)
      builder.reads[i] = toScalars(builder.reads[i], type, builder.dims.size());
    // Widened by imports: taken anew each time.
    unsigned count = builder.reads[i].getPieces().size();
    SmallVector<PieceAttr> pieces;
    bool changed = false;
    unsigned elementRank = builder.reads[i].getElementRank();
    for (unsigned p = 0; p < count; ++p) {
      PieceAttr piece = builder.reads[i].getPieces()[p];
      for (GatherAttr gather : piece.getGathers())
        if (isBuffer(gather.getOperand()))
          return refuse("it holds indices of a gather");
      if (piece.getKind() != SourceKind::Buffer || !isBuffer(piece.getOperand())) {
        pieces.push_back(piece);
        continue;
      }
      changed = true;
      for (const Writer &writer : writers)
        if (!forwardPiece(buffer, writer, block, builder, builder.reads[i].getPieces()[p], type,
                          elementRank, pieces))
          return false;
    }
    if (!changed)
      continue;
    if (pieces.empty())
      return refuse("no iteration reads it");
    if (static_cast<int64_t>(pieces.size()) > std::max<int64_t>(maxPieces, count))
      return refuse("read " + Twine(i) + " of " + describeBlock(block) + " would have " +
                    Twine(pieces.size()) + " pieces, the limit is " + Twine(maxPieces));
    auto after = ReadAttr::get(builder.reads[i].getContext(), pieces, elementRank);
    bool wasBox = elementRank != 0 && hasConstantSteps(builder.reads[i], builder.buffers, builder.dims.size());
    if ((byScalars || wasBox) && !mayPutTogether(buffer, block, builder, i, after) && !takeBorder(block, builder, i, after))
      return false;
    builder.reads[i] = after;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Says of a padded tensor why it stays a copy.
static void explainCopies(BufferOp buffer, ArrayRef<Writer> writers) {
  for (const Writer &writer : writers)
    if (auto pad = BlockOp(writer.leaf).getYield().getOperand(writer.write).getDefiningOp<tensor::PadOp>())
      if (StringRef why = whyCopied(pad); !why.empty())
        remark::missed(pad.getLoc(), remark::RemarkOpts::name("fuse-access").category("coarsen"))
            << remark::reason("what is padded is copied to {0}: {1}", describeBuffer(buffer.getResult()), why);
}

/// A reduction that starts with one number fills a tensor with it in its body, as engines look for it, and does not read it.
static void fillStarts(BlockOp block) {
  BlockBuilder spec = BlockBuilder::from(block);
  Block &body = block.getBody().front();
  SmallVector<std::pair<unsigned, TypedAttr>> starts;
  for (auto [i, read] : llvm::enumerate(spec.reads)) {
    BlockArgument argument = body.getArgument(i);
    bool isStart = llvm::any_of(argument.getUses(), [](OpOperand &use) {
      auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
      return op && op.getNumReductionLoops() > 0 && op.isDpsInit(&use);
    });
    PieceAttr piece = read.getPieces().front();
    if (isStart && read.getElementRank() == 0 && isOneNumber(read) && piece.getValue() && cast<RankedTensorType>(argument.getType()).hasStaticShape())
      starts.emplace_back(i, piece.getValue());
  }
  if (starts.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (auto [i, number] : llvm::reverse(starts)) {
    auto type = cast<RankedTensorType>(body.getArgument(i).getType());
    Value value = arith::ConstantOp::create(builder, block.getLoc(), number);
    Value empty = tensor::EmptyOp::create(builder, block.getLoc(), type.getShape(), type.getElementType());
    body.getArgument(i).replaceAllUsesWith(linalg::FillOp::create(builder, block.getLoc(), value, empty).getResult(0));
    body.eraseArgument(i);
    spec.reads.erase(spec.reads.begin() + i);
  }
  spec.assign(block);
}

bool AccessFusion::fuse(BufferOp buffer) {
  SmallVector<Writer> writers;
  if (!collectWriters(buffer, writers)) {
    explainCopies(buffer, writers);
    return false;
  }
  // Variants write the same elements each; none of them is the one to read, and none may be left without a block.
  if (llvm::any_of(writers, [](const Writer &w) { return BlockOp(w.leaf)->getParentOfType<VariantsOp>(); }))
    return false;
  why.clear();
  bordered.clear();
  auto missed = [&]() {
    remark::missed(buffer.getLoc(), remark::RemarkOpts::name("fuse-access").category("coarsen"))
        << remark::reason("{0} stays: {1}", describeBuffer(buffer.getResult()), why)
        << remark::metric("bytes", getLiveBytes(buffer).str());
    return false;
  };
  llvm::MapVector<Operation *, BlockBuilder> readers;
  for (Operation *user : buffer.getResult().getUsers()) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block || !block.isLeaf())
      return false; // a result of the graph, or an identity
    bool isRead = llvm::any_of(getAccesses(block), [&](Access &access) {
      return !access.isWrite() && access.buffer == buffer.getResult();
    });
    if (isRead)
      readers.insert({block, BlockBuilder::from(block)});
  }
  if (readers.empty())
    return false;
  if (!buffer.keepsAllPlanes())
    return false; // a state, written at the end of an iteration
  // Where another writer computes, its elements stay in the buffer.
  bool allMove = llvm::all_of(writers, [](const Writer &w) { return w.moves(); });
  if (!allMove)
    return false;
  for (auto &[op, builder] : readers)
    if (!forward(buffer, writers, cast<BlockOp>(op), builder))
      return missed();
  for (auto &[op, builder] : readers)
    builder.assign(cast<BlockOp>(op));
  for (auto &[block, read, border] : bordered)
    padArgument(block.getBody().getArgument(read), border);
  for (auto &[op, builder] : readers) {
    simplifyReads(cast<BlockOp>(op));
    fillStarts(cast<BlockOp>(op));
  }
  remark::passed(buffer.getLoc(), remark::RemarkOpts::name("fuse-access").category("coarsen"))
      << remark::reason("{0} is read where it was copied from", describeBuffer(buffer.getResult()))
      << remark::metric("bytes", getLiveBytes(buffer).str())
      << remark::metric("readers", static_cast<unsigned>(readers.size()));
  return true;
}

unsigned AccessFusion::run() {
  SmallVector<BufferOp> buffers;
  graph.walk([&](BufferOp buffer) { buffers.push_back(buffer); });
  unsigned fused = 0;
  for (BufferOp buffer : buffers)
    fused += fuse(buffer);
  if (fused)
    eraseDeadBuffers(graph);
  buffers.clear();
  graph.walk([&](BufferOp buffer) { buffers.push_back(buffer); });
  for (BufferOp buffer : buffers)
    fused += connect(buffer);
  eraseEmptyBlocks(graph);
  return fused;
}

namespace {
struct ETDGFuseAccesses : etdg::impl::ETDGFuseAccessesBase<ETDGFuseAccesses> {
  using ETDGFuseAccessesBase::ETDGFuseAccessesBase;
  void runOnOperation() override {
    if (!getOperation().isExternal() && !namesReads(getOperation(), getArgument()))
      AccessFusion(getOperation(), maxPieces).run();
  }
};
} // namespace
