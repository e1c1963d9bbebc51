//===- UnitInserts.cpp - parts that are one index thick, element by element ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `t[..., 2] = s` replaces one index of a dimension and all of the others. Said element by element (`s` where the index
// is 2, else `t`), it has rows like any other expression and joins the ones around it; as a whole it would be a copy of the tensor.
//
//===----------------------------------------------------------------------===//
#include "UnitInserts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ft;

/// Each more makes every element look at one more part.
static constexpr unsigned mostOfChain = 4;

/// Whether each dimension is taken whole or at one constant index, and both occur, the last dimension at one. (Rows
/// that take the place of others are read as such, ReadMoves.cpp.)
static bool isUnitInsert(tensor::InsertSliceOp op) {
  RankedTensorType type = op.getDestType();
  if (!type.hasStaticShape() || !op.getSourceType().hasStaticShape() || !op.hasUnitStride())
    return false;
  bool unit = false, whole = false;
  for (auto [extent, size, offset] : llvm::zip_equal(type.getShape(), op.getStaticSizes(), op.getStaticOffsets())) {
    if (ShapedType::isDynamic(offset))
      return false;
    if (size == extent && offset == 0)
      whole |= extent > 1;
    else if (size == 1 && offset >= 0 && offset < extent)
      unit = true;
    else
      return false;
  }
  return unit && whole && op.getStaticSizes().back() != type.getShape().back();
}

static void rewrite(tensor::InsertSliceOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  RankedTensorType type = op.getDestType();
  unsigned rank = type.getRank();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<AffineExpr> source;
  SmallVector<std::pair<unsigned, int64_t>> fixed;
  for (unsigned d = 0; d < rank; ++d) {
    bool unit = op.getStaticSizes()[d] != type.getDimSize(d);
    if (unit)
      fixed.push_back({d, op.getStaticOffsets()[d]});
    if (!dropped.test(d))
      source.push_back(unit ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(d));
  }
  AffineMap all = b.getMultiDimIdentityMap(rank);
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{type}, ValueRange{op.getSource(), op.getDest()}, ValueRange{empty},
      ArrayRef<AffineMap>{AffineMap::get(rank, 0, source, b.getContext()), all, all},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel), [&](OpBuilder &body, Location at, ValueRange args) {
        Value here;
        for (auto [d, offset] : fixed) {
          Value is = arith::CmpIOp::create(body, at, arith::CmpIPredicate::eq, linalg::IndexOp::create(body, at, d),
                                           arith::ConstantIndexOp::create(body, at, offset));
          here = here ? arith::AndIOp::create(body, at, here, is).getResult() : is;
        }
        linalg::YieldOp::create(body, at, arith::SelectOp::create(body, at, here, args[0], args[1]).getResult());
      });
  op.getResult().replaceAllUsesWith(generic.getResult(0));
  op.erase();
}

void mlir::ft::rewriteUnitInserts(func::FuncOp function) {
  SmallVector<tensor::InsertSliceOp> found;
  function.walk([&](tensor::InsertSliceOp op) {
    if (op->getParentOp() == function && isUnitInsert(op))
      found.push_back(op);
  });
  // A tensor that is put together from many parts is better copied.
  llvm::DenseMap<Value, Value> rootOf;
  llvm::DenseMap<Value, unsigned> countOf;
  for (tensor::InsertSliceOp op : found) {
    Value root = rootOf.lookup(op.getDest());
    root = root ? root : op.getDest();
    rootOf[op.getResult()] = root;
    ++countOf[root];
  }
  SmallVector<tensor::InsertSliceOp> few;
  for (tensor::InsertSliceOp op : found)
    if (countOf.lookup(rootOf.lookup(op.getResult())) <= mostOfChain)
      few.push_back(op);
  for (tensor::InsertSliceOp op : few)
    rewrite(op);
}
