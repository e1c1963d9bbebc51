//===- LowerIndices.cpp - advanced indexing -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads at indices that are data are gathers; writes are a loop in the order of the
// indices, so that the last one stays.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace mlir;
using namespace mlir::tssa;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
/// The shape that indices select, and where each of its points lies in the source.
struct Selection {
  Selection(OpBuilder &b, Location loc, Value source, ArrayRef<int64_t> dims, ValueRange indices)
      : b(b), loc(loc), source(source), dims(dims), indices(indices) {
    auto quiet = []() -> InFlightDiagnostic { return InFlightDiagnostic(); };
    shape = *inferIndexShape(tensorType(source), dims, indices.getTypes(), quiet);
    for (Value index : indices)
      broadcastRank = std::max(broadcastRank, tensorType(index).getRank());
    bool adjacent = dims.back() - dims.front() + 1 == int64_t(dims.size());
    begin = adjacent ? dims.front() : 0;
  }

  bool isIndexed(int64_t dim) const { return dim >= begin && dim < begin + broadcastRank; }

  Value sizeOf(int64_t dim) {
    if (!ShapedType::isDynamic(shape[dim]))
      return arith::ConstantIndexOp::create(b, loc, shape[dim]);
    if (!isIndexed(dim)) {
      int64_t next = 0;
      for (int64_t d = 0; d < dim; ++d)
        next += !isIndexed(d);
      for (int64_t d = 0; d < tensorType(source).getRank(); ++d)
        if (!llvm::is_contained(dims, d) && next-- == 0)
          return tensor::DimOp::create(b, loc, source, d);
    }
    // Of the indices those that are not 1 long there are equally long.
    for (Value index : indices) {
      int64_t at = dim - begin - (broadcastRank - tensorType(index).getRank());
      if (at >= 0 && tensorType(index).isDynamicDim(at))
        return tensor::DimOp::create(b, loc, index, at);
    }
    llvm_unreachable("an open size comes from a tensor that has it");
  }

  /// Where an index is read for each point of the result.
  AffineMap indexMap(unsigned which) {
    RankedTensorType type = tensorType(indices[which]);
    SmallVector<AffineExpr> at;
    for (int64_t d = 0; d < type.getRank(); ++d)
      at.push_back(type.getDimSize(d) == 1 ? b.getAffineConstantExpr(0)
                                           : b.getAffineDimExpr(begin + broadcastRank - type.getRank() + d));
    return AffineMap::get(shape.size(), 0, at, b.getContext());
  }

  /// `value` at the point of a shape that it is broadcast to.
  Value extractBroadcast(Value value, ValueRange point) {
    SmallVector<Value> at;
    int64_t extra = int64_t(point.size()) - tensorType(value).getRank();
    for (int64_t d = 0; d < tensorType(value).getRank(); ++d)
      at.push_back(tensorType(value).getDimSize(d) == 1 ? arith::ConstantIndexOp::create(b, loc, 0).getResult()
                                                        : point[d + extra]);
    return tensor::ExtractOp::create(b, loc, value, at);
  }

  /// `selected`: the indices at the point, where they are known.
  SmallVector<Value> position(ValueRange point, ValueRange selected = {}) {
    SmallVector<Value> inner, result;
    for (int64_t d = 0; d < broadcastRank; ++d)
      inner.push_back(point[begin + d]);
    SmallVector<Value> plain;
    for (int64_t d = 0; d < int64_t(shape.size()); ++d)
      if (!isIndexed(d))
        plain.push_back(point[d]);
    unsigned next = 0;
    for (int64_t d = 0; d < tensorType(source).getRank(); ++d) {
      const int64_t *which = llvm::find(dims, d);
      if (which == dims.end()) {
        result.push_back(plain[next++]);
        continue;
      }
      unsigned number = which - dims.begin();
      Value index = selected.empty() ? extractBroadcast(indices[number], inner) : selected[number];
      if (!index.getType().isIndex())
        index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
      int64_t known = tensorType(source).getDimSize(d);
      Value size = ShapedType::isDynamic(known)
                       ? tensor::DimOp::create(b, loc, source, d).getResult()
                       : arith::ConstantIndexOp::create(b, loc, known).getResult();
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, zero);
      Value wrapped = arith::AddIOp::create(b, loc, index, size);
      result.push_back(arith::SelectOp::create(b, loc, negative, wrapped, index));
    }
    return result;
  }

  OpBuilder &b;
  Location loc;
  Value source;
  ArrayRef<int64_t> dims;
  ValueRange indices;
  SmallVector<int64_t> shape;
  int64_t broadcastRank = 0, begin = 0;
};
} // namespace

Value mlir::tssa::lowerIndex(OpBuilder &b, IndexOp op) {
  Location loc = op.getLoc();
  Selection selection(b, loc, op.getSource(), op.getDims(), op.getIndices());
  SmallVector<OpFoldResult> sizes;
  for (int64_t d = 0; d < int64_t(selection.shape.size()); ++d)
    sizes.push_back(ShapedType::isDynamic(selection.shape[d]) ? OpFoldResult(selection.sizeOf(d))
                                                              : b.getIndexAttr(selection.shape[d]));
  unsigned rank = sizes.size();
  Value init = tensor::EmptyOp::create(b, loc, sizes, tensorType(op.getSource()).getElementType());
  SmallVector<AffineMap> maps;
  for (unsigned i = 0; i < op.getIndices().size(); ++i)
    maps.push_back(selection.indexMap(i));
  maps.push_back(b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, init.getType(), op.getIndices(), init, maps, iterators,
             [&](OpBuilder &nested, Location at, ValueRange arguments) {
               SmallVector<Value> point;
               for (unsigned d = 0; d < rank; ++d)
                 point.push_back(linalg::IndexOp::create(nested, at, d));
               Value element = tensor::ExtractOp::create(nested, at, op.getSource(),
                                                         selection.position(point, arguments.drop_back()));
               linalg::YieldOp::create(nested, at, element);
             })
      .getResult(0);
}

Value mlir::tssa::lowerIndexPut(OpBuilder &b, IndexPutOp op) {
  Location loc = op.getLoc();
  Selection selection(b, loc, op.getDest(), op.getDims(), op.getIndices());
  auto write = [&](ArrayRef<Value> point, Value carried) -> Value {
    Value element = selection.extractBroadcast(op.getValue(), point);
    SmallVector<Value> at = selection.position(point);
    if (op.getAccumulate()) {
      Value old = tensor::ExtractOp::create(b, loc, carried, at);
      if (isa<FloatType>(element.getType()))
        element = arith::AddFOp::create(b, loc, old, element);
      else
        element = arith::AddIOp::create(b, loc, old, element);
    }
    return tensor::InsertOp::create(b, loc, element, carried, at);
  };
  return carryOverPoints(b, loc, int64_t(selection.shape.size()), op.getDest(), [&](int64_t dim) { return selection.sizeOf(dim); }, write);
}
