//===- UnitInserts.cpp - parts that are one index thick, element by element ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `t[..., 2] = s` replaces one index of a dimension and all of the others. Said element by element (`s` where the index
// is 2, else `t`), it has rows like any other expression and joins the ones around it; as a whole it would be a copy of the tensor.
//
//===----------------------------------------------------------------------===//
#include "UnitInserts.h"

#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;

/// Each more makes every element look at one more part.
static constexpr unsigned mostOfChain = 4;

/// Whether each dimension is taken whole or at one constant index, and both occur, the last dimension at one. (Rows
/// that take the place of others are read as such, ReadMoves.cpp.)
static bool isUnitInsert(SubsetAccessOpInterface op) {
  auto isOpen = [](Value value) { return !cast<RankedTensorType>(value.getType()).hasStaticShape(); };
  auto isOne = [](OpFoldResult stride) { return isConstantIntValue(stride, 1); };
  if (!op.isWrite() || op.isScalar() || !op.isStatic() || op->getNumResults() != 1 || isOpen(op.getBase()) ||
      isOpen(op.getUpdate()) || !llvm::all_of(op.getSubsetStrides(), isOne))
    return false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getBase().getType()).getShape();
  SmallVector<int64_t> sizes = *getConstantIntValues(op.getSubsetSizes()), offsets = *getConstantIntValues(op.getSubsetOffsets());
  bool unit = false, whole = false;
  for (auto [extent, size, offset] : llvm::zip_equal(shape, sizes, offsets)) {
    if (size == extent && offset == 0)
      whole |= extent > 1;
    else if (size == 1 && offset >= 0 && offset < extent)
      unit = true;
    else
      return false;
  }
  return unit && whole && sizes.back() != shape.back();
}

static void rewrite(SubsetAccessOpInterface op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getBase().getType());
  unsigned rank = type.getRank();
  SmallVector<int64_t> sizes = *getConstantIntValues(op.getSubsetSizes()), offsets = *getConstantIntValues(op.getSubsetOffsets());
  llvm::SmallBitVector dropped = op.getSubsetDroppedDims();
  SmallVector<AffineExpr> source;
  SmallVector<std::pair<unsigned, int64_t>> fixed;
  for (unsigned d = 0; d < rank; ++d) {
    bool unit = sizes[d] != type.getDimSize(d);
    if (unit)
      fixed.push_back({d, offsets[d]});
    if (!dropped.test(d))
      source.push_back(unit ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(d));
  }
  AffineMap all = b.getMultiDimIdentityMap(rank);
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{type}, ValueRange{op.getUpdate(), op.getBase()}, ValueRange{empty},
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
  op->getResult(0).replaceAllUsesWith(generic.getResult(0));
  op->erase();
}

void mlir::ft::rewriteUnitInserts(func::FuncOp function) {
  SmallVector<SubsetAccessOpInterface> found;
  function.walk([&](SubsetAccessOpInterface op) {
    if (op->getParentOp() == function && isUnitInsert(op))
      found.push_back(op);
  });
  // A tensor that is put together from many parts is better copied.
  llvm::DenseMap<Value, Value> rootOf;
  llvm::DenseMap<Value, unsigned> countOf;
  for (SubsetAccessOpInterface op : found) {
    Value root = rootOf.lookup(op.getBase());
    root = root ? root : op.getBase();
    rootOf[op->getResult(0)] = root;
    ++countOf[root];
  }
  SmallVector<SubsetAccessOpInterface> few;
  for (SubsetAccessOpInterface op : found)
    if (countOf.lookup(rootOf.lookup(op->getResult(0))) <= mostOfChain)
      few.push_back(op);
  for (SubsetAccessOpInterface op : few)
    rewrite(op);
}
