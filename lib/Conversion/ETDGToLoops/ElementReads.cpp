//===- ElementReads.cpp - reads that address scalars ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A read whose pieces range over the element's dimensions too. Where it is the
// source's memory in its own order (a reshape), it is read in place; else the
// element is put together, scalar by scalar, before the leaf runs: box by box where
// pieces test the element's dimensions.
//
//===----------------------------------------------------------------------===//

#include "ElementCuts.h"
#include "Emitter.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;

/// The value of a dimensions-only expression.
static int64_t valueAt(AffineExpr expr, ArrayRef<int64_t> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = valueAt(binary.getLHS(), dims), b = valueAt(binary.getRHS(), dims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(a, b);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(a, b);
  default:
    return llvm::mod(a, b);
  }
}

/// Whether scalar e of the read is scalar e of one element of the source, both in
/// row-major order. `first` is the position of the element's dimensions in the map.
static bool isInPlace(AffineMap map, unsigned depth, unsigned first, RankedTensorType element, RankedTensorType source) {
  constexpr int64_t mostCompared = int64_t(1) << 16; // larger elements are put together as any other
  if (element.getNumElements() != source.getNumElements() || element.getNumElements() > mostCompared)
    return false;
  for (auto [p, e] : llvm::enumerate(map.getResults())) {
    bool usesElement = false, usesOther = false;
    e.walk([&](AffineExpr inner) {
      if (auto dim = dyn_cast<AffineDimExpr>(inner))
        (dim.getPosition() >= first ? usesElement : usesOther) = true;
      usesOther |= isa<AffineSymbolExpr>(inner);
    });
    if (p < depth ? usesElement : usesOther)
      return false;
  }
  SmallVector<int64_t> dims(first + element.getRank(), 0);
  for (int64_t linear = 0; linear < element.getNumElements(); ++linear) {
    int64_t rest = linear;
    for (int64_t d = element.getRank() - 1; d >= 0; --d) {
      dims[first + d] = rest % element.getDimSize(d);
      rest /= element.getDimSize(d);
    }
    int64_t at = 0;
    for (int64_t d = 0; d < source.getRank(); ++d)
      at = at * source.getDimSize(d) + valueAt(map.getResult(depth + d), dims);
    if (at != linear)
      return false;
  }
  return true;
}

Value Emitter::emitScalar(BlockOp block, ArrayRef<etdg::PieceAttr> pieces, RankedTensorType element,
                          const Point &point) {
  etdg::PieceAttr piece = pieces.front();
  if (pieces.size() > 1) {
    Value condition = emitCondition(piece.getSet().getValue(), block, point);
    auto branch = scf::IfOp::create(builder, loc, TypeRange{element.getElementType()}, condition, /*withElseRegion=*/true);
    for (bool then : {true, false}) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(then ? branch.thenBlock() : branch.elseBlock());
      Value scalar = emitScalar(block, then ? pieces.take_front() : pieces.drop_front(), element, point);
      scf::YieldOp::create(builder, loc, scalar);
    }
    return branch.getResult(0);
  }
  switch (piece.getKind()) {
  case etdg::SourceKind::Splat:
    return arith::ConstantOp::create(builder, loc, piece.getValue());
  case etdg::SourceKind::Index: {
    Value value = affineValue(piece.getMap().getValue().getResult(0), block, point);
    return element.getElementType().isIndex()
               ? value
               : arith::IndexCastOp::create(builder, loc, element.getElementType(), value).getResult();
  }
  case etdg::SourceKind::Buffer:
    break;
  }
  Value buffer = block.getBuffers()[piece.getOperand()];
  auto type = cast<etdg::BufferType>(buffer.getType());
  AffineMap map = piece.getMap().getValue();
  // Gathered indices of the buffer's own dimensions, and of its element's.
  SmallVector<Value> overrides(type.getDepth()), inside(type.getElementRank());
  for (etdg::GatherAttr gather : piece.getGathers()) {
    unsigned position = gather.getPosition();
    if (position < type.getDepth())
      overrides[position] = emitGatherIndex(block, gather, lengthValue(type.getLengths()[position]), point);
    else
      inside[position - type.getDepth()] =
          emitGatherIndex(block, gather, index(type.getElement().getDimSize(position - type.getDepth())), point);
  }
  AffineMap outer = AffineMap::get(map.getNumDims(), map.getNumSymbols(), map.getResults().take_front(type.getDepth()), context);
  Address address = emitBufferAddress(block, buffer, outer, overrides, point, /*useRows=*/false);
  computeOffset(address);
  Value linear = index(0);
  for (auto [extent, expr, gathered] :
       llvm::zip_equal(type.getElement().getShape(), map.getResults().drop_front(type.getDepth()), inside))
    linear = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, linear, index(extent)),
                                   gathered ? gathered : affineValue(expr, block, point));
  return memref::LoadOp::create(builder, loc, address.base,
                                ValueRange{arith::AddIOp::create(builder, loc, address.offset, linear).getResult()});
}

Emitter::Address Emitter::emitBoxAddress(BlockOp block, const Box &box, const Point &point, bool useRows) {
  Address address = emitBufferAddress(block, block.getBuffers()[box.operand], box.index, {}, point, useRows);
  if (auto constant = dyn_cast<AffineConstantExpr>(box.offset); gpu && constant && constant.getValue() == 0)
    return address;
  addIndex(address, affineValue(box.offset, block, point), index(1));
  if (useRows && point.rowDim && box.offset.isFunctionOfDim(*point.rowDim)) {
    AffineExpr row = getAffineDimExpr(*point.rowDim, context);
    AffineExpr step = simplifyAffineExpr(box.offset.replace(row, row + 1) - box.offset, box.index.getNumDims(),
                                         box.index.getNumSymbols());
    addStep(address, affineValue(step, block, point), index(1));
  }
  return address;
}

FailureOr<Emitter::Address> Emitter::emitElementRead(BlockOp block, etdg::ReadAttr read, RankedTensorType element,
                                                     const Point &point) {
  ArrayRef<etdg::PieceAttr> pieces = read.getPieces();
  if (pieces.empty())
    return block.emitError() << "a read has no piece";
  etdg::PieceAttr piece = pieces.front();
  if (pieces.size() == 1 && piece.getKind() == etdg::SourceKind::Buffer && piece.getGathers().empty()) {
    Value buffer = block.getBuffers()[piece.getOperand()];
    auto type = cast<etdg::BufferType>(buffer.getType());
    AffineMap map = piece.getMap().getValue();
    if (isInPlace(map, type.getDepth(), block.getNumDims(), element, type.getElement())) {
      AffineMap outer =
          AffineMap::get(map.getNumDims(), map.getNumSymbols(), map.getResults().take_front(type.getDepth()), context);
      return emitBufferAddress(block, buffer, outer, {}, point, /*useRows=*/false);
    }
  }
  auto [memory, first] = emitScratch(element, /*rows=*/1);
  Address address{memory, first, index(0)};
  if (gpu) { // each thread tests its own elements: loops over parts would wait for each other
    ElementBox whole;
    whole.begin.assign(element.getRank(), 0);
    whole.end.assign(element.getShape().begin(), element.getShape().end());
    emitElementBox(block, whole, pieces, element, point, address);
    return address;
  }
  for (const ElementBox &box : cutElement(pieces, element.getShape(), block.getNumDims()))
    emitElementBox(block, box, box.pieces, element, point, address);
  return address;
}

void Emitter::emitElementBox(BlockOp block, const ElementBox &box, ArrayRef<etdg::PieceAttr> pieces, RankedTensorType element,
                             const Point &point, const Address &address) {
  OpBuilder::InsertionGuard guard(builder);
  // A condition on the iteration alone is asked once.
  if (pieces.size() > 1 && !testsElement(pieces.front().getSet().getValue(), block.getNumDims())) {
    Value condition = emitCondition(pieces.front().getSet().getValue(), block, point);
    auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitElementBox(block, box, pieces.take_front(), element, point, address);
    builder.setInsertionPointToStart(branch.elseBlock());
    emitElementBox(block, box, pieces.drop_front(), element, point, address);
    return;
  }
  Point inner = point;
  Value linear = index(0);
  for (auto [extent, begin, end] : llvm::zip_equal(element.getShape(), box.begin, box.end)) {
    if (gpu) { // the threads of a block share them
      Attribute level = loops::LevelAttr::get(context, etdg::LoopLevel::Thread, etdg::IterationMapping::None);
      auto loop = scf::ForallOp::create(builder, loc, ArrayRef<OpFoldResult>{builder.getIndexAttr(begin)},
                                        ArrayRef<OpFoldResult>{builder.getIndexAttr(end)},
                                        ArrayRef<OpFoldResult>{builder.getIndexAttr(1)}, ValueRange(), builder.getArrayAttr({level}));
      builder.setInsertionPointToStart(loop.getBody());
      inner.dims.push_back(loop.getInductionVar(0));
      linear = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, linear, index(extent)),
                                     loop.getInductionVar(0));
      continue;
    }
    auto loop = scf::ForOp::create(builder, loc, index(begin), index(end), index(1));
    builder.setInsertionPointToStart(loop.getBody());
    inner.dims.push_back(loop.getInductionVar());
    linear = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, linear, index(extent)),
                                   loop.getInductionVar());
    if (inner.dims.size() == point.dims.size() + element.getRank())
      askForVectors(loop);
  }
  memref::StoreOp::create(builder, loc, emitScalar(block, pieces, element, inner), address.base,
                          ValueRange{make<arith::AddIOp>(address.offset, linear)});
}
