//===- MapCoordinates.cpp - tensors of operands, and places in them -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MapCoordinates.h"

#include "ft/Conversion/LaunchPlan/Entry.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

namespace mlir::ft::togpu {
/// Places in a tensor, an index for each dimension.
class TensorCoordinates {
public:
  TensorCoordinates(Code &b, const OperandMap &map, const MapIndices &indices) : b(b), map(map), indices(indices) {}

  SmallVector<Value> emit(Value row, Value column) {
    SmallVector<Value> coordinates;
    for (auto [g, group] : llvm::enumerate(map.groups)) {
      Value sum = b.number(0);
      for (unsigned d = group.first; d <= group.last; ++d)
        sum = b.add(sum, b.mul(indexAlong(map.dims[d]), map.ratioOf(group, d)));
      if (g == map.rowGroup || g == map.columnGroup)
        sum = b.add(sum, g == map.rowGroup ? alongRun(map.rows, row) : alongRun(map.columns, column));
      if (g == map.rowGroup && map.inside)
        sum = b.add(sum, b.createOrFold<arith::DivUIOp>(indices.valueOf(map.inside), b.number(*map.dims[group.last].stride)));
      coordinates.push_back(sum);
    }
    return coordinates;
  }

private:
  Value indexAlong(const OperandMap::Dim &dim) {
    Value own = b.add(indices.valueOf(dim.index), dim.first);
    for (unsigned loop : dim.batch)
      own = b.add(own, indices.batch[loop]);
    bool movesByCall = dim.moves && !map.rows.hasRows && !map.columns.hasRows;
    return movesByCall && indices.row ? b.add(own, indices.row) : own;
  }
  /// A row or a column of the matrix, counted from the first of the tensor's.
  Value alongRun(const OperandMap::Run &run, Value number) {
    return run.hasColumns && indices.begin ? b.add(number, b.mul(indices.begin, run.columnsRatio)) : number;
  }

  Code &b;
  const OperandMap &map;
  const MapIndices &indices;
};
} // namespace mlir::ft::togpu

SmallVector<Value> togpu::emitCoordinates(Code &b, const OperandMap &map, const MapIndices &indices, Value row, Value column) {
  return TensorCoordinates(b, map, indices).emit(row, column);
}

namespace mlir::ft::togpu {
/// A tensor for the host: expressions of lengths and of callers' strides.
class TensorShape {
public:
  TensorShape(KernelBuilder &e, const Interface &code, loops::BufferOp buffer, const OperandMap &map) : e(e), code(code), buffer(buffer), map(map) {}

  Value emit() {
    SmallVector<HostExpr> extents, strides;
    for (const OperandMap::Group &group : map.groups) {
      HostExpr extent = 1;
      for (unsigned d = group.first; d <= group.last; ++d)
        extent = extent * extentOf(map.dims[d]);
      // (No tensor has an extent of 0. Then no box of it is brought.)
      extents.push_back(group.extent >= 0 ? HostExpr(group.extent) : extent.asConstant() ? extent : HostExpr::binary(HostExpr::max, extent, 1));
      strides.push_back(strideOf(map.dims[group.last]) * bytes());
    }
    strides.pop_back(); // of neighbours
    return e.tensorMap(e.callBuffers.find(buffer.getResult())->second.planBuffer, map.getType(), extents, strides);
  }

private:
  int64_t bytes() const { return map.element.getIntOrFloatBitWidth() / 8; }
  HostExpr lengthOf(unsigned d) {
    ArrayRef<int64_t> planes = buffer.getPlanes().value_or(ArrayRef<int64_t>());
    LengthAttr length = buffer.getType().getLengths()[d];
    return !planes.empty() && planes[d] != 0 ? HostExpr(planes[d]) : toHostExpr(length.getExpr(), length.getNames(), e.symbols);
  }
  HostExpr extentOf(const OperandMap::Dim &dim) { return dim.extent >= 0 ? HostExpr(dim.extent) : lengthOf(unsigned(dim.buffers)); }
  HostExpr strideOf(const OperandMap::Dim &dim) {
    if (dim.stride)
      return *dim.stride;
    auto d = unsigned(dim.buffers);
    if (d < buffer.getStrided().value_or(0))
      return getHostStride(e.result.entry, code, unsigned(*buffer.getIndex()), d);
    HostExpr stride = map.elementNumbers;
    for (unsigned inner = d + 1; inner < buffer.getType().getDepth(); ++inner)
      stride = stride * lengthOf(inner);
    return stride;
  }

  KernelBuilder &e;
  const Interface &code;
  loops::BufferOp buffer;
  const OperandMap &map;
};
} // namespace mlir::ft::togpu

Value togpu::emitTensorMap(KernelBuilder &e, const Interface &code, loops::LaunchOp launch, const OperandMap &map) {
  return TensorShape(e, code, map.bufferOf(launch), map).emit();
}
