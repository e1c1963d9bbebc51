//===- CutJoined.cpp - shares of a reduction, each computed at once -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `reduce d in [l, u)` becomes, with shares of T iterations,
//
//   map d, T d + T <= u - l         iterations l + T d, ..., from `identity`, at once
//   map d, T d < u - l < T d + T    the iterations after, where T does not divide u - l, at once, too: as many terms, of which some are neutral
//   fold d, T d < u - l             what the shares come to, joined in order by `combine`, several at once
//
// The bounds are no quotients: proofs about those take long.
// Who reads the last state reads that of the last share.
//
//===----------------------------------------------------------------------===//
#include "AtOnce.h"

#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class ShareJoiner : AtOnce {
public:
  ShareJoiner(const JoinableReduction &reduction, int64_t count) : AtOnce(reduction, count), length(reduction.upper - reduction.lower) {}
  JoinedShares run(int64_t joined);

private:
  unsigned numStates() { return unsigned(reduction.positions.size()); }
  Value stateOf(unsigned w) { return old.buffers[leaf.getWrite(w).getOperand()]; }
  AffineExpr numShares() { return (length + (count - 1)).floorDiv(count); }
  void makeBuffers();
  AffineMap indexOf(unsigned w, AffineExpr share);
  BlockOp writeShares(OpBuilder &builder, bool isRest);
  BlockOp writeJoin(OpBuilder &builder);
  ReadAttr stateOfJoin(unsigned w, BlockBuilder &block);
  void moveReaders();

  AffineExpr length;
  SmallVector<Value> partials, joinedStates; // one state for each share
};
} // namespace

void ShareJoiner::makeBuffers() {
  for (unsigned w = 0; w < numStates(); ++w) {
    auto type = cast<BufferType>(stateOf(w).getType());
    SmallVector<ft::LengthAttr> lengths(type.getLengths());
    unsigned position = reduction.positions[w];
    lengths[position] = (lengths[position] - reduction.offsets[w]).ceilDiv(count);
    OpBuilder outside(stateOf(w).getDefiningOp());
    for (SmallVector<Value> *made : {&partials, &joinedStates})
      made->push_back(BufferOp::create(outside, leaf.getLoc(), BufferType::get(context, lengths, type.getElement()), nullptr, nullptr));
    SmallVector<int64_t> live(lengths.size(), -1);
    live[position] = 1;
    joinedStates.back().getDefiningOp<BufferOp>().setLive(live);
  }
}

/// A state's index with a share in the place of the iteration.
AffineMap ShareJoiner::indexOf(unsigned w, AffineExpr share) {
  AffineMap map = leaf.getWrite(w).getMap().getValue();
  SmallVector<AffineExpr> results(map.getResults());
  results[reduction.positions[w]] = share;
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
}

BlockOp ShareJoiner::writeShares(OpBuilder &builder, bool isRest) {
  BlockBuilder block = old;
  block.name = old.name.empty() ? "" : old.name + (isRest ? "_rest" : "_shares");
  block.operators[reduction.dim - old.numAncestors] = ft::OperatorKind::Map;
  AffineExpr begin = reduction.lower + dim * count, there;
  block.domain = domainOf({dim, length - dim * count - count});
  if (isRest) {
    there = length - dim * count;
    block.domain = domainOf({dim, there - 1, (count - 1) - there});
    if (isEmpty(block))
      return {};
  }
  block.identity.clear();
  block.writes.clear();
  for (unsigned w = 0; w < numStates(); ++w) {
    block.reads[reduction.stateReads[w]] = transformRead(
        old.identity[w], [&](AffineMap map, int64_t) { return at(map, begin); }, [](IntegerSet same) { return same; },
        [](int64_t operand) { return operand; });
    block.writes.push_back(WriteAttr::get(context, block.operandFor(partials[w]), AffineMapAttr::get(indexOf(w, dim))));
  }
  return writeAtOnce(builder, block, begin, there);
}

/// What the shares before have come to: at the first one what the leaf's first iteration begins from.
ReadAttr ShareJoiner::stateOfJoin(unsigned w, BlockBuilder &block) {
  unsigned numDims = unsigned(old.dims.size()), numSymbols = unsigned(old.symbols.size());
  auto later = canonicalizeSet(IntegerSet::get(numDims, numSymbols, {dim - 1}, {false}));
  SmallVector<PieceAttr> pieces = {PieceAttr::getBuffer(later, block.operandFor(joinedStates[w]), indexOf(w, dim - 1))};
  SetBuilder domain(space, numDims);
  for (PieceAttr piece : old.reads[reduction.stateReads[w]].getPieces()) {
    if (piece.getKind() == SourceKind::Buffer && old.buffers[piece.getOperand()] == stateOf(w))
      continue;
    ReadAttr first = transformRead(
        ReadAttr::get(context, piece, 0), [&](AffineMap map, int64_t) { return at(map, reduction.lower); },
        [&](IntegerSet set) {
          SmallVector<AffineExpr> constraints = {dim};
          SmallVector<bool> eqs = {true};
          for (auto [constraint, isEq] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
            constraints.push_back(constraint.replace(dim, reduction.lower));
            eqs.push_back(isEq);
          }
          return canonicalizeSet(IntegerSet::get(numDims, numSymbols, constraints, eqs));
        },
        [](int64_t operand) { return operand; });
    llvm::append_range(pieces, first.getPieces());
  }
  return ReadAttr::get(context, pieces, 0);
}

BlockOp ShareJoiner::writeJoin(OpBuilder &builder) {
  BlockBuilder block = old;
  block.name = old.name.empty() ? "" : old.name + "_join";
  block.operators[reduction.dim - old.numAncestors] = ft::OperatorKind::Fold;
  block.domain = domainOf({dim, numShares() - 1 - dim});
  block.reads.clear();
  block.writes.clear();
  IntegerSet all = getUniverse(context, unsigned(old.dims.size()), unsigned(old.symbols.size()));
  for (unsigned w = 0; w < numStates(); ++w)
    block.reads.push_back(stateOfJoin(w, block));
  for (unsigned w = 0; w < numStates(); ++w) {
    block.reads.push_back(ReadAttr::get(context, PieceAttr::getBuffer(all, block.operandFor(partials[w]), indexOf(w, dim)), 0));
    block.writes.push_back(WriteAttr::get(context, block.operandFor(joinedStates[w]), AffineMapAttr::get(indexOf(w, dim))));
  }
  BlockOp join = block.build(builder, leaf.getLoc(), {});
  IRMapping mapping;
  join.getBody().getBlocks().clear();
  leaf.getCombine().cloneInto(&join.getBody(), mapping);
  IRMapping again;
  leaf.getCombine().cloneInto(&join.getCombine(), again);
  return join;
}

/// Who reads the last state reads that of the last share.
void ShareJoiner::moveReaders() {
  for (unsigned w = 0; w < numStates(); ++w)
    for (Operation *user : llvm::to_vector(stateOf(w).getUsers())) {
      auto reader = cast<BlockOp>(user);
      if (reader == leaf)
        continue;
      BlockBuilder block = BlockBuilder::from(reader);
      int64_t operand = block.operandFor(stateOf(w));
      auto mapOf = [&](AffineMap map, int64_t of) {
        if (of != operand)
          return map;
        SmallVector<AffineExpr> results(map.getResults());
        AffineExpr &last = results[reduction.positions[w]];
        last = canonicalizeExpr((last - reduction.offsets[w] - reduction.lower + count).floorDiv(count) - 1, map.getNumDims(), map.getNumSymbols());
        return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
      };
      for (ReadAttr &read : block.reads)
        read = transformRead(read, mapOf, [](IntegerSet same) { return same; }, [](int64_t same) { return same; });
      block.buffers[operand] = joinedStates[w];
      block.assign(reader);
    }
}

JoinedShares ShareJoiner::run(int64_t joined) {
  makeBuffers();
  moveReaders();
  NestOp nest = leaf.getNest();
  Operation *item = nest ? nest.getOperation() : leaf.getOperation();
  OpBuilder builder(item);
  JoinedShares made;
  made.shares = writeShares(builder, /*isRest=*/false);
  made.rest = writeShares(builder, /*isRest=*/true);
  made.join = writeJoin(builder);
  item->erase();
  std::string why;
  if (std::optional<JoinableReduction> join = findJoinable(made.join, why); join && canMask(*join) && joined > 1)
    made.join = joinIterations(*join, joined, RestOfJoined::Masked);
  return made;
}

std::optional<JoinedShares> etdg::cutIntoJoined(const JoinableReduction &reduction, int64_t count, int64_t joined, std::string &why) {
  BlockOp leaf = reduction.leaf;
  bool isAlone = leaf.getNumAncestors() == 0 && llvm::all_of(llvm::seq(leaf.getNumDims()), [&](unsigned d) { return !reduction.upper.isFunctionOfDim(d); });
  if (!isAlone)
    return why = "how many iterations there are depends on the point", std::nullopt;
  if (!canMask(reduction))
    return why = "a state grows by what has no neutral element", std::nullopt;
  return ShareJoiner(reduction, count).run(joined);
}
