//===- HoistRewrite.cpp - blocks for what is computed once ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HoistInvariants.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::hoist;

static Value createZero(OpBuilder &builder, Location loc, RankedTensorType type) {
  TypedAttr zero = builder.getZeroAttr(type.getElementType());
  return arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(type, zero));
}

/// A product of f16 or bf16 in f32: what it adds up is rounded where it is used.
static void widen(linalg::LinalgOp op, RankedTensorType type) {
  op->getResult(0).setType(type);
  Block *body = op.getBlock();
  OpBuilder builder = OpBuilder::atBlockBegin(body);
  Type wide = type.getElementType();
  for (BlockArgument argument : body->getArguments().drop_back()) {
    auto extended = arith::ExtFOp::create(builder, op.getLoc(), wide, argument);
    argument.replaceAllUsesExcept(extended, extended);
  }
  body->getArguments().back().setType(wide);
  for (Operation &inner : body->without_terminator())
    inner.getResult(0).setType(wide);
}

/// One of the new blocks: the operations of `first` over one convex domain.
static void buildBlock(OpBuilder &builder, const Repeat &first, const Placement &placement,
                       IntegerSet domain, Block &body, Value buffer, CommonNames &names) {
  BlockOp leaf = first.leaf;
  MLIRContext *context = leaf.getContext();
  auto parent = dyn_cast<BlockOp>(body.getParentOp());
  BlockBuilder spec;
  spec.name = placement.name;
  if (parent)
    spec.dims = parent.getDimNames();
  spec.numAncestors = spec.dims.size();
  for (unsigned d : placement.dims) {
    spec.dims.push_back(leaf.getDimNames()[d]);
    spec.operators.push_back(ft::OperatorKind::Map);
  }
  spec.symbols = names.list.symbols;
  unsigned numDims = spec.dims.size(), numSymbols = spec.symbols.size();
  spec.domain = IntegerSet::get(numDims, numSymbols, domain.getConstraints(), domain.getEqFlags());
  SmallVector<Type> types;
  for (unsigned read : first.reads) {
    types.push_back(leaf.getBody().getArgument(read).getType());
    auto mapOf = [&](AffineMap map, int64_t) {
      SmallVector<AffineExpr> results;
      for (AffineExpr result : map.getResults())
        results.push_back(names.import(result, leaf));
      return remapMap(AffineMap::get(map.getNumDims(), numSymbols, results, context),
                      placement.replacement, numDims, numSymbols);
    };
    auto setOf = [&](IntegerSet set) {
      SmallVector<AffineExpr> constraints;
      for (AffineExpr constraint : set.getConstraints())
        constraints.push_back(names.import(constraint, leaf));
      return remapSet(IntegerSet::get(set.getNumDims(), numSymbols, constraints, set.getEqFlags()),
                      placement.replacement, numDims, numSymbols);
    };
    spec.reads.push_back(transformRead(leaf.getRead(read), mapOf, setOf, [&](int64_t operand) {
      return spec.operandFor(leaf.getBuffers()[operand]);
    }));
  }
  SmallVector<AffineExpr> own;
  for (unsigned i = 0; i < placement.dims.size(); ++i)
    own.push_back(getAffineDimExpr(spec.numAncestors + i, context));
  spec.writes.push_back(
      WriteAttr::get(context, spec.operandFor(buffer),
                     AffineMapAttr::get(AffineMap::get(numDims, numSymbols, own, context))));
  Location loc = first.getOp()->getLoc();
  BlockOp block = spec.build(builder, loc, types);
  OpBuilder inner = OpBuilder::atBlockEnd(&block.getBody().front());
  IRMapping mapping;
  for (auto [i, read] : llvm::enumerate(first.reads))
    mapping.map(leaf.getBody().getArgument(read), block.getBody().getArgument(i));
  for (Operation *op : first.ops) {
    Operation *clone = nullptr;
    if (first.split && op == first.getOp()) {
      // Its factors first: the start may be one of them.
      auto old = cast<linalg::LinalgOp>(op);
      Value zero = createZero(inner, loc, first.getType());
      IRMapping last = mapping;
      if (!last.contains(old.getDpsInits().front()))
        last.map(old.getDpsInits().front(), zero);
      clone = inner.clone(*op, last);
      cast<linalg::LinalgOp>(clone).setDpsInitOperand(0, zero);
      if (first.getType() != first.root.getType())
        widen(cast<linalg::LinalgOp>(clone), first.getType());
      mapping.map(op->getResults(), clone->getResults());
    } else {
      clone = inner.clone(*op, mapping);
    }
  }
  YieldOp::create(inner, loc, mapping.lookup(first.root));
}

/// Lets a leaf read the value. Returns whether it yields it as it is.
static bool replaceIn(const Repeat &member, const Placement &placement, Value buffer) {
  BlockOp leaf = member.leaf;
  MLIRContext *context = leaf.getContext();
  Block &code = leaf.getBody().front();
  BlockBuilder spec = BlockBuilder::from(leaf);
  unsigned numDims = spec.dims.size(), numSymbols = spec.symbols.size();
  SmallVector<AffineExpr> index;
  for (unsigned d : placement.dims)
    index.push_back(getAffineDimExpr(d, context));
  spec.reads.push_back(ReadAttr::get(
      context,
      PieceAttr::getBuffer(getUniverse(context, numDims, numSymbols), spec.operandFor(buffer),
                           AffineMap::get(numDims, numSymbols, index, context)),
      0));
  Operation *op = member.getOp();
  Value value = code.addArgument(member.getType(), op->getLoc());
  if (member.split) {
    OpBuilder builder(op);
    Value start = cast<linalg::LinalgOp>(op).getDpsInits().front();
    bool isWide = member.getType() != member.root.getType();
    if (isWide)
      start = arith::ExtFOp::create(builder, op->getLoc(), member.getType(), start);
    value = isa<FloatType>(member.getType().getElementType())
                ? arith::AddFOp::create(builder, op->getLoc(), start, value).getResult()
                : arith::AddIOp::create(builder, op->getLoc(), start, value).getResult();
    if (isWide)
      value = arith::TruncFOp::create(builder, op->getLoc(), member.root.getType(), value);
  }
  Value root = member.root;
  root.replaceAllUsesWith(value);
  for (Operation &dead : llvm::make_early_inc_range(llvm::reverse(code)))
    if (isOpTriviallyDead(&dead))
      dead.erase();
  SmallVector<unsigned> reads(member.reads);
  llvm::sort(reads, std::greater<unsigned>());
  for (unsigned read : reads)
    if (code.getArgument(read).use_empty()) {
      code.eraseArgument(read);
      spec.reads.erase(spec.reads.begin() + read);
    }
  spec.assign(leaf);
  return llvm::any_of(leaf.getYield().getOperands(),
                      [&](Value yielded) { return isa<BlockArgument>(yielded); });
}

bool hoist::rewrite(HoistGroup &group, const Placement &placement, Block &body, CommonNames &names, BufferOp &buffer) {
  const Repeat &first = group.members.front();
  Operation *before = first.item;
  for (const Repeat &member : group.members) {
    names.import(getAffineConstantExpr(0, body.getParentOp()->getContext()), member.leaf);
    if (member.item->isBeforeInBlock(before))
      before = member.item;
  }
  OpBuilder builder(before);
  if (!buffer) {
    auto type = BufferType::get(builder.getContext(), placement.lengths, first.getType());
    buffer = BufferOp::create(builder, first.getOp()->getLoc(), type, nullptr, nullptr);
  }
  for (IntegerSet domain : placement.domains)
    buildBlock(builder, first, placement, domain, body, buffer.getResult(), names);
  bool copies = false;
  for (const Repeat &member : group.members)
    copies |= replaceIn(member, placement, buffer.getResult());
  return copies;
}
