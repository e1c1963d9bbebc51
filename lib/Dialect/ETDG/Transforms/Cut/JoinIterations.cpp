//===- JoinIterations.cpp - several iterations of a reduction as one ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `reduce d in [l, u)` becomes, n iterations at a time and with W = (u - l) floordiv n of these,
//
//   reduce d in [l, l + W)                   reads what iterations l + n (d - l), ... read
//   reduce d in [l + W, u - (n - 1) W)       the iterations behind, one by one: d + (n - 1) W
//
// so that states follow each other as before, and who reads the last one looks (n - 1) W before.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/JoinIterations.h"

#include "ft/Analysis/Sets.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGJOINITERATIONS
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Which reductions
//===----------------------------------------------------------------------===//

/// Whether a read differs between iterations of the dimension; false, and why, where it can't be read for several of them at once.
static bool findVarying(BlockOp leaf, unsigned dim, ArrayRef<unsigned> stateReads, SmallVectorImpl<bool> &varies, std::string &why) {
  for (unsigned r = 0; r < leaf.getNumReads(); ++r) {
    varies.push_back(false);
    if (llvm::is_contained(stateReads, r))
      continue;
    ReadAttr read = leaf.getRead(r);
    for (PieceAttr piece : read.getPieces()) {
      bool chooses = llvm::any_of(piece.getSet().getValue().getConstraints(), [&](AffineExpr c) { return c.isFunctionOfDim(dim); });
      for (GatherAttr gather : piece.getGathers())
        chooses |= gather.getMap().getValue().isFunctionOfDim(dim);
      if (chooses) {
        why = "read " + std::to_string(r) + " is of other places at some iterations, or at those that data say";
        return false;
      }
      varies.back() |= piece.getKind() != SourceKind::Splat && piece.getMap().getValue().isFunctionOfDim(dim);
    }
    if (varies.back() && (read.getPieces().size() != 1 || !read.getPieces().front().getGathers().empty())) {
      why = "read " + std::to_string(r) + " is put together of several pieces";
      return false;
    }
  }
  return true;
}

std::optional<JoinableReduction> etdg::findJoinable(BlockOp leaf, std::string &why) {
  std::optional<Reduction> reduction = findReduction(leaf, why);
  if (!reduction)
    return std::nullopt;
  JoinableReduction found;
  static_cast<Reduction &>(found) = *reduction;
  if (!findVarying(leaf, reduction->dim, reduction->stateReads, found.varies, why) || !findGrowth(found, found.grows, why) ||
      !joinBodies(found, BlockOp(), 2, why))
    return std::nullopt;
  return found;
}

//===----------------------------------------------------------------------===//
// Joined iterations, and those behind
//===----------------------------------------------------------------------===//

namespace {
class IterationJoiner {
public:
  IterationJoiner(const JoinableReduction &reduction, int64_t count)
      : reduction(reduction), leaf(reduction.leaf), count(count), context(leaf.getContext()), old(BlockBuilder::from(leaf)),
        space(leaf->getParentOfType<GraphOp>()), dim(getAffineDimExpr(reduction.dim, context)),
        whole((reduction.upper - reduction.lower).floorDiv(count)) {}
  BlockOp run();

private:
  AffineMap at(AffineMap map, AffineExpr iteration);
  IntegerSet domainOf(ArrayRef<AffineExpr> own);
  /// What all of `count` iterations read, the first one being `begin`: their number is the first dimension of the element.
  ReadAttr readOfAll(unsigned r, AffineExpr begin);
  BlockOp writeJoined(OpBuilder &builder);
  void writeRest(OpBuilder &builder);
  void moveReaders();

  const JoinableReduction &reduction;
  BlockOp leaf;
  int64_t count;
  MLIRContext *context;
  BlockBuilder old;
  SymbolSpace space;
  AffineExpr dim, whole;
};
} // namespace

AffineMap IterationJoiner::at(AffineMap map, AffineExpr iteration) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(canonicalizeExpr(result.replace(dim, iteration), map.getNumDims(), map.getNumSymbols()));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
}

/// The leaf's domain with other bounds of the dimension.
IntegerSet IterationJoiner::domainOf(ArrayRef<AffineExpr> own) {
  SmallVector<AffineExpr> constraints(own);
  SmallVector<bool> eqs(own.size(), false);
  for (auto [constraint, isEq] : llvm::zip_equal(old.domain.getConstraints(), old.domain.getEqFlags()))
    if (!constraint.isFunctionOfDim(reduction.dim)) {
      constraints.push_back(constraint);
      eqs.push_back(isEq);
    }
  return canonicalizeSet(IntegerSet::get(old.domain.getNumDims(), old.domain.getNumSymbols(), constraints, eqs));
}

ReadAttr IterationJoiner::readOfAll(unsigned r, AffineExpr begin) {
  ReadAttr read = old.reads[r];
  PieceAttr piece = read.getPieces().front();
  AffineMap map = piece.getMap().getValue();
  auto type = cast<RankedTensorType>(leaf.getBody().getArgument(r).getType());
  unsigned numDims = unsigned(old.dims.size()), numSymbols = map.getNumSymbols(), elementRank = unsigned(type.getRank()) + 1;
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(result.shiftDims(map.getNumDims(), 1, numDims).replace(dim, begin + getAffineDimExpr(numDims, context)));
  if (read.getElementRank() == 0 && piece.getKind() == SourceKind::Buffer)
    for (unsigned d = 1; d < elementRank; ++d)
      results.push_back(getAffineDimExpr(numDims + d, context));
  for (AffineExpr &result : results)
    result = canonicalizeExpr(result, numDims + elementRank, numSymbols);
  IntegerSet set = piece.getSet().getValue();
  SmallVector<AffineExpr> constraints;
  for (AffineExpr constraint : set.getConstraints())
    constraints.push_back(constraint.shiftDims(set.getNumDims(), 1, numDims));
  set = canonicalizeSet(IntegerSet::get(numDims + elementRank, numSymbols, constraints, set.getEqFlags()));
  return ReadAttr::get(context,
                       PieceAttr::get(context, IntegerSetAttr::get(set), piece.getKind(), piece.getOperand(),
                                      AffineMapAttr::get(AffineMap::get(numDims + elementRank, numSymbols, results, context)), {}, piece.getValue()),
                       elementRank);
}

BlockOp IterationJoiner::writeJoined(OpBuilder &builder) {
  BlockBuilder block = old;
  block.name = old.name.empty() ? "" : old.name + "_joined";
  AffineExpr since = dim - reduction.lower;
  block.domain = domainOf({since, whole - 1 - since});
  SmallVector<Type> types;
  for (auto [r, argument] : llvm::enumerate(leaf.getBody().getArguments())) {
    auto type = cast<RankedTensorType>(argument.getType());
    if (reduction.varies[r]) {
      block.reads[r] = readOfAll(unsigned(r), reduction.lower + since * count);
      SmallVector<int64_t> shape = {count};
      llvm::append_range(shape, type.getShape());
      type = type.clone(shape);
    }
    types.push_back(type);
  }
  BlockOp joined = block.build(builder, leaf.getLoc(), types);
  std::string why;
  joinBodies(reduction, joined, count, why);
  IRMapping mapping;
  leaf.getCombine().cloneInto(&joined.getCombine(), mapping);
  if (leaf.getScheduleAttr())
    joined.setScheduleAttr(leaf.getScheduleAttr());
  return joined;
}

/// The iterations behind the last `count`, if there are any: the leaf as it is, at others of the dimension.
void IterationJoiner::writeRest(OpBuilder &builder) {
  BlockBuilder block = old;
  AffineExpr before = whole * (count - 1);
  block.domain = domainOf({dim - reduction.lower - whole, reduction.upper - before - 1 - dim});
  SetBuilder set(space, block.dims.size());
  if (succeeded(set.add(block.domain, block.symbols)) && isEmpty(set.get()))
    return;
  for (auto [r, read] : llvm::enumerate(block.reads))
    if (reduction.varies[r])
      read = transformRead(
          read,
          [&](AffineMap map, int64_t) { return at(map, dim + before); },
          [](IntegerSet same) { return same; }, [](int64_t operand) { return operand; });
  BlockOp rest = block.build(builder, leaf.getLoc(), {});
  rest.getBody().takeBody(leaf.getBody());
  rest.getCombine().takeBody(leaf.getCombine());
  if (leaf.getScheduleAttr()) // (fewer than are joined, which nobody cuts)
    rest.setScheduleAttr(scheduleInOrder(leaf.getScheduleAttr()));
}

/// Who reads the last state finds it as many places before as there are iterations less.
void IterationJoiner::moveReaders() {
  for (auto [w, position] : llvm::enumerate(reduction.positions)) {
    Value buffer = old.buffers[leaf.getWrite(unsigned(w)).getOperand()];
    for (Operation *user : llvm::to_vector(buffer.getUsers())) {
      auto reader = cast<BlockOp>(user);
      if (reader == leaf)
        continue;
      BlockBuilder block = BlockBuilder::from(reader);
      int64_t operand = block.operandFor(buffer);
      for (ReadAttr &read : block.reads)
        read = transformRead(
            read,
            [&](AffineMap map, int64_t of) {
              if (of != operand)
                return map;
              SmallVector<AffineExpr> results(map.getResults());
              AffineExpr &last = results[position];
              AffineExpr length = last - reduction.offsets[w] + 1 - reduction.lower;
              last = canonicalizeExpr(last - length.floorDiv(count) * (count - 1), map.getNumDims(), map.getNumSymbols());
              return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
            },
            [](IntegerSet same) { return same; }, [](int64_t same) { return same; });
      block.assign(reader);
    }
  }
}

BlockOp IterationJoiner::run() {
  moveReaders();
  OpBuilder builder(leaf);
  // What the grid runs is one loop; what one of its units runs are two.
  NestOp nest = leaf.getNest();
  if (!nest && !leaf.getParentBlock()) {
    nest = NestOp::create(builder, leaf.getLoc(), leaf.getScheduleAttr());
    leaf.removeScheduleAttr();
    builder.setInsertionPointToStart(&nest.getBody().emplaceBlock());
  }
  BlockOp joined = writeJoined(builder);
  writeRest(builder);
  leaf.erase();
  return joined;
}

BlockOp etdg::joinIterations(const JoinableReduction &reduction, int64_t count) { return IterationJoiner(reduction, count).run(); }

namespace {
struct ETDGJoinIterations : etdg::impl::ETDGJoinIterationsBase<ETDGJoinIterations> {
  using ETDGJoinIterationsBase::ETDGJoinIterationsBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (iterations < 2) {
      emitError(getOperation().getLoc()) << "expected at least 2 iterations to be joined, found " << int64_t(iterations);
      return signalPassFailure();
    }
    SmallVector<BlockOp> leaves;
    getOperation().walk([&](BlockOp block) {
      if (block.isLeaf())
        leaves.push_back(block);
    });
    for (BlockOp leaf : leaves) {
      std::string why;
      if (std::optional<JoinableReduction> found = findJoinable(leaf, why))
        joinIterations(*found, iterations);
      else if (llvm::any_of(llvm::seq(leaf.getNumOwnDims()), [&](unsigned d) { return leaf.getOperator(d) != ft::OperatorKind::Map; }))
        remark::missed(leaf.getLoc(), remark::RemarkOpts::name("join-iterations").category("etdg")) << ("iterations are not joined: " + why);
    }
  }
};
} // namespace
