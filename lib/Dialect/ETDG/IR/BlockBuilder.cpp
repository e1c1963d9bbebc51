//===- BlockBuilder.cpp - blocks in canonical form ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbols sorted and only those that occur, operands in order of first use,
// sets and maps canonical: so that equal blocks print equally and a printed
// block parses to itself.
//
//===----------------------------------------------------------------------===//
#include "BlockForm.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
/// Rewrites every set and map of a block, and every operand index.
struct Rewriter {
  std::function<AffineExpr(AffineExpr)> expr;
  std::function<int64_t(int64_t)> operand;
  unsigned numSymbols = 0;

  AffineMap map(AffineMap map) const {
    SmallVector<AffineExpr> results;
    for (AffineExpr result : map.getResults())
      results.push_back(canonicalizeExpr(expr(result), map.getNumDims(), numSymbols));
    return AffineMap::get(map.getNumDims(), numSymbols, results, map.getContext());
  }
  IntegerSet set(IntegerSet set) const {
    SmallVector<AffineExpr> exprs;
    for (AffineExpr constraint : set.getConstraints())
      exprs.push_back(expr(constraint));
    return canonicalizeSet(IntegerSet::get(set.getNumDims(), numSymbols, exprs, set.getEqFlags()));
  }
  ReadAttr read(ReadAttr read) const {
    SmallVector<PieceAttr> pieces;
    for (PieceAttr piece : read.getPieces()) {
      SmallVector<GatherAttr> gathers;
      for (GatherAttr gather : piece.getGathers())
        gathers.push_back(GatherAttr::get(gather.getContext(), gather.getPosition(),
                                          gather.getOperand(),
                                          AffineMapAttr::get(map(gather.getMap().getValue()))));
      llvm::sort(gathers,
                 [](GatherAttr a, GatherAttr b) { return a.getPosition() < b.getPosition(); });
      int64_t source = piece.getKind() == SourceKind::Buffer ? operand(piece.getOperand()) : -1;
      for (GatherAttr &gather : gathers)
        gather = GatherAttr::get(gather.getContext(), gather.getPosition(),
                                 operand(gather.getOperand()), gather.getMap());
      pieces.push_back(PieceAttr::get(
          piece.getContext(), IntegerSetAttr::get(set(piece.getSet().getValue())), piece.getKind(),
          source, AffineMapAttr::get(map(piece.getMap().getValue())), gathers, piece.getValue()));
    }
    return ReadAttr::get(read.getContext(), pieces, read.getElementRank());
  }
  WriteAttr write(WriteAttr write) const {
    int64_t target = operand(write.getOperand());
    return WriteAttr::get(write.getContext(), target,
                          AffineMapAttr::get(map(write.getMap().getValue())));
  }
  void block(BlockBuilder &b) const {
    if (b.domain)
      b.domain = set(b.domain);
    for (ReadAttr &r : b.reads)
      r = read(r);
    for (WriteAttr &w : b.writes)
      w = write(w);
    for (ReadAttr &r : b.identity)
      r = read(r);
  }
};
} // namespace

static SmallVector<AffineExpr> collectExprs(const BlockBuilder &b) {
  SmallVector<AffineExpr> all;
  if (IntegerSet domain = b.domain)
    llvm::append_range(all, domain.getConstraints());
  auto addReads = [&](ArrayRef<ReadAttr> reads) {
    for (ReadAttr read : reads)
      for (PieceAttr piece : read.getPieces()) {
        llvm::append_range(all, piece.getSet().getValue().getConstraints());
        llvm::append_range(all, piece.getMap().getValue().getResults());
        for (GatherAttr gather : piece.getGathers())
          llvm::append_range(all, gather.getMap().getValue().getResults());
      }
  };
  addReads(b.reads);
  for (WriteAttr write : b.writes)
    llvm::append_range(all, write.getMap().getValue().getResults());
  addReads(b.identity);
  return all;
}

void etdg::canonicalizeBlock(BlockBuilder &b) {
  // Simplify first: a symbol whose terms cancel does not occur.
  Rewriter simplify{[](AffineExpr e) { return e; }, [](int64_t i) { return i; },
                    static_cast<unsigned>(b.symbols.size())};
  simplify.block(b);

  SmallVector<bool> used(b.symbols.size());
  for (AffineExpr expr : collectExprs(b))
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        if (symbol.getPosition() < used.size())
          used[symbol.getPosition()] = true;
    });
  SmallVector<StringAttr> sorted;
  for (auto [name, isUsed] : llvm::zip(b.symbols, used))
    if (isUsed)
      sorted.push_back(name);
  llvm::sort(sorted, [](StringAttr x, StringAttr y) { return x.getValue() < y.getValue(); });
  sorted.erase(llvm::unique(sorted), sorted.end());

  MLIRContext *context = b.domain ? b.domain.getContext() : nullptr;
  SmallVector<AffineExpr> replacement;
  for (auto [name, isUsed] : llvm::zip(b.symbols, used))
    replacement.push_back(
        isUsed ? getAffineSymbolExpr(llvm::find(sorted, name) - sorted.begin(), context)
               : getAffineConstantExpr(0, context));

  llvm::MapVector<Value, int64_t> order;
  SmallVector<Value> old = b.buffers;
  bool haveBuffers = !old.empty();
  Rewriter renumber{
      [&](AffineExpr e) { return e.replaceSymbols(replacement); },
      [&](int64_t i) -> int64_t {
        if (!haveBuffers || i < 0 || i >= static_cast<int64_t>(old.size()))
          return i;
        return order.insert({old[i], static_cast<int64_t>(order.size())}).first->second;
      },
      static_cast<unsigned>(sorted.size())};
  renumber.block(b);
  b.symbols = sorted;
  if (haveBuffers)
    b.buffers = llvm::to_vector(llvm::make_first_range(order));
}

void etdg::setBlockAttributes(BlockBuilder &b, MLIRContext *context,
                              BlockOp::Properties &properties) {
  Builder builder(context);
  SmallVector<Attribute> operators, dims, symbols;
  for (ft::OperatorKind kind : b.operators)
    operators.push_back(builder.getStringAttr(ft::stringifyOperatorKind(kind)));
  llvm::append_range(dims, b.dims);
  llvm::append_range(symbols, b.symbols);
  auto array = [&](auto &list) {
    return builder.getArrayAttr(llvm::to_vector_of<Attribute>(list));
  };
  if (!b.name.empty())
    properties.block_name = builder.getStringAttr(b.name);
  properties.operators = builder.getArrayAttr(operators);
  properties.dims = builder.getArrayAttr(dims);
  properties.num_ancestors = builder.getI64IntegerAttr(b.numAncestors);
  properties.symbols = builder.getArrayAttr(symbols);
  properties.domain = IntegerSetAttr::get(b.domain);
  properties.reads = array(b.reads);
  properties.writes = array(b.writes);
  properties.identity = array(b.identity);
}

int64_t BlockBuilder::operandFor(Value buffer) {
  auto it = llvm::find(buffers, buffer);
  if (it == buffers.end())
    it = buffers.insert(buffers.end(), buffer);
  return it - buffers.begin();
}

AffineExpr BlockBuilder::importExpr(AffineExpr expr, ArrayRef<StringAttr> from) {
  SmallVector<AffineExpr> replacement;
  for (StringAttr name : from) {
    auto it = llvm::find(symbols, name);
    if (it == symbols.end())
      it = symbols.insert(symbols.end(), name);
    replacement.push_back(getAffineSymbolExpr(it - symbols.begin(), expr.getContext()));
  }
  return expr.replaceSymbols(replacement);
}

BlockBuilder BlockBuilder::from(BlockOp block) {
  BlockBuilder b;
  b.name = block.getBlockName().value_or("").str();
  for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
    b.operators.push_back(block.getOperator(d));
  b.dims = block.getDimNames();
  b.numAncestors = block.getNumAncestors();
  b.symbols = block.getSymbolNames();
  b.domain = block.getDomainSet();
  b.buffers = llvm::to_vector(block.getBuffers());
  b.reads = llvm::to_vector(block.getReads().getAsRange<ReadAttr>());
  b.writes = llvm::to_vector(block.getWrites().getAsRange<WriteAttr>());
  b.identity = llvm::to_vector(block.getIdentity().getAsRange<ReadAttr>());
  return b;
}

void BlockBuilder::assign(BlockOp block) const {
  BlockBuilder canonical = *this;
  if (!canonical.domain)
    canonical.domain = getUniverse(block.getContext(), dims.size(), symbols.size());
  canonicalizeBlock(canonical);
  setBlockAttributes(canonical, block.getContext(), block.getProperties());
  block.getBuffersMutable().assign(canonical.buffers);
}

BlockOp BlockBuilder::build(OpBuilder &builder, Location loc, TypeRange readTypes) {
  BlockBuilder canonical = *this;
  if (!canonical.domain)
    canonical.domain = getUniverse(builder.getContext(), dims.size(), symbols.size());
  canonicalizeBlock(canonical);

  OperationState state(loc, BlockOp::getOperationName());
  setBlockAttributes(canonical, builder.getContext(),
                     state.getOrAddProperties<BlockOp::Properties>());
  state.addOperands(canonical.buffers);
  Region *body = state.addRegion();
  state.addRegion();
  auto *block = new Block();
  body->push_back(block);
  for (Type type : readTypes)
    block->addArgument(type, loc);
  return cast<BlockOp>(builder.create(state));
}
