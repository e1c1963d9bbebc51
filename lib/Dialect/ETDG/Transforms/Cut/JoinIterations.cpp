//===- JoinIterations.cpp - several iterations of a reduction as one ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `reduce d in [l, u)` becomes, n iterations at a time and with W = (u - l) floordiv n of these,
//
//   reduce d in [l, l + W)                   reads what iterations l + n (d - l), ... read
//   reduce d in [l + W, u - (n - 1) W)       the iterations after, one by one: d + (n - 1) W
//
// so that states follow each other as before, and who reads the last one looks (n - 1) W before. Where the rest is masked, the last iteration has fewer,
//
//   reduce d, n (d - l) < u - l              reads what iterations l + n (d - l), ... read, those up to u
//
//===----------------------------------------------------------------------===//
#include "AtOnce.h"
#include "EachLeaf.h"

#include "ft/Analysis/Sets.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
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
static bool findVarying(BlockOp leaf, unsigned dim, ArrayRef<unsigned> stateReads, ReadsOfJoined reads, SmallVectorImpl<bool> &varies,
                        std::string &why) {
  bool isOnePiece = reads == ReadsOfJoined::OnePiece;
  for (unsigned r = 0; r < leaf.getNumReads(); ++r) {
    varies.push_back(false);
    if (llvm::is_contained(stateReads, r))
      continue;
    ReadAttr read = leaf.getRead(r);
    bool gathers = false;
    for (PieceAttr piece : read.getPieces()) {
      bool chooses = llvm::any_of(piece.getSet().getValue().getConstraints(), [&](AffineExpr c) { return c.isFunctionOfDim(dim); });
      varies.back() |= chooses;
      bool isRefused = isOnePiece && chooses;
      for (GatherAttr gather : piece.getGathers())
        isRefused |= gather.getMap().getValue().isFunctionOfDim(dim);
      if (isRefused) {
        why = "read " + std::to_string(r) + " is of other places at some iterations, or at those that data say";
        return false;
      }
      gathers |= !piece.getGathers().empty();
      varies.back() |= piece.getKind() != SourceKind::Splat && piece.getMap().getValue().isFunctionOfDim(dim);
    }
    if (varies.back() && (gathers || (isOnePiece && read.getPieces().size() != 1))) {
      why = "read " + std::to_string(r) + " is put together of several pieces";
      return false;
    }
  }
  return true;
}

std::optional<JoinableReduction> etdg::findJoinable(BlockOp leaf, std::string &why, ReadsOfJoined reads) {
  std::optional<Reduction> reduction = findReduction(leaf, why);
  if (!reduction)
    return std::nullopt;
  JoinableReduction found;
  static_cast<Reduction &>(found) = *reduction;
  if (!findVarying(leaf, reduction->dim, reduction->stateReads, reads, found.varies, why) || !findGrowth(found, found.grows, why) ||
      !joinBodies(found, BlockOp(), 2, why))
    return std::nullopt;
  return found;
}

//===----------------------------------------------------------------------===//
// Joined iterations, and those after
//===----------------------------------------------------------------------===//

namespace {
class IterationJoiner : AtOnce {
public:
  IterationJoiner(const JoinableReduction &reduction, int64_t count, RestOfJoined rest)
      : AtOnce(reduction, count), rest(rest), whole((reduction.upper - reduction.lower).floorDiv(count)) {}
  BlockOp run();

private:
  bool isTooShort();
  BlockOp writeJoined(OpBuilder &builder);
  void writeRest(OpBuilder &builder);
  void moveReaders();

  RestOfJoined rest;
  AffineExpr whole;
};
} // namespace

/// Whether there are always fewer iterations than are joined: the joined loop would have none.
bool IterationJoiner::isTooShort() {
  AffineExpr since = dim - reduction.lower;
  BlockBuilder block = old;
  block.domain = domainOf({since, whole - 1 - since});
  return rest == RestOfJoined::OneByOne && isEmpty(block);
}

BlockOp IterationJoiner::writeJoined(OpBuilder &builder) {
  BlockBuilder block = old;
  block.name = old.name.empty() ? "" : old.name + "_joined";
  AffineExpr since = dim - reduction.lower, begin = reduction.lower + since * count, there;
  block.domain = domainOf({since, whole - 1 - since});
  if (rest == RestOfJoined::Masked) {
    there = reduction.upper - begin;
    block.domain = domainOf({since, withoutDivision(there - 1)});
    if (areAll(block, there))
      there = {};
  }
  BlockOp joined = writeAtOnce(builder, block, begin, there);
  IRMapping mapping;
  leaf.getCombine().cloneInto(&joined.getCombine(), mapping);
  if (leaf.getScheduleAttr())
    joined.setScheduleAttr(leaf.getScheduleAttr());
  return joined;
}

/// The iterations after the last `count`, if there are any: the leaf as it is, at others of the dimension.
void IterationJoiner::writeRest(OpBuilder &builder) {
  BlockBuilder block = old;
  AffineExpr before = whole * (count - 1);
  block.domain = domainOf({dim - reduction.lower - whole, reduction.upper - before - 1 - dim});
  if (isEmpty(block))
    return;
  for (auto [r, read] : llvm::enumerate(block.reads))
    if (reduction.varies[r])
      read = transformRead(
          read,
          [&](AffineMap map, int64_t) { return at(map, dim + before); },
          [&](IntegerSet set) { return at(set, dim + before); }, [](int64_t operand) { return operand; });
  BlockOp rest = block.build(builder, leaf.getLoc(), {});
  rest.getBody().takeBody(leaf.getBody());
  rest.getCombine().takeBody(leaf.getCombine());
  if (leaf.getScheduleAttr()) // (fewer than are joined, which nothing cuts)
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
              if (rest == RestOfJoined::Masked)
                last = last - length + floorDivided(canonicalizeExpr(length + (count - 1), map.getNumDims(), map.getNumSymbols()), count);
              else
                last = last - length.floorDiv(count) * (count - 1);
              last = canonicalizeExpr(last, map.getNumDims(), map.getNumSymbols());
              return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
            },
            [](IntegerSet same) { return same; }, [](int64_t same) { return same; });
      block.assign(reader);
    }
  }
}

BlockOp IterationJoiner::run() {
  if (isTooShort())
    return leaf;
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
  if (rest == RestOfJoined::OneByOne)
    writeRest(builder);
  leaf.erase();
  return joined;
}

BlockOp etdg::joinIterations(const JoinableReduction &reduction, int64_t count, RestOfJoined rest) {
  return IterationJoiner(reduction, count, rest).run();
}

namespace {
struct ETDGJoinIterations : etdg::impl::ETDGJoinIterationsBase<ETDGJoinIterations> {
  using ETDGJoinIterationsBase::ETDGJoinIterationsBase;
  void runOnOperation() override {
    auto join = [&](BlockOp leaf) {
      std::string why;
      if (std::optional<JoinableReduction> found = findJoinable(leaf, why, pieces ? ReadsOfJoined::AnyPieces : ReadsOfJoined::OnePiece))
        joinIterations(*found, iterations);
      else if (hasReduction(leaf))
        remark::missed(leaf.getLoc(), remark::RemarkOpts::name("join-iterations").category("etdg")) << ("iterations are not joined: " + why);
    };
    if (failed(eachLeaf(getOperation(), iterations, 2, "at least 2 iterations to be joined", join)))
      signalPassFailure();
  }
};
} // namespace
