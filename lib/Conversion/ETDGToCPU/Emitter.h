//===- Emitter.h - code for the nests of one graph --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the CPU lowering of one graph. ETDGToCPU.cpp emits kernels and loops,
// LeafCalls.cpp addresses and leaf calls, Rows.cpp decides which dimensions may
// be reordered: run in parallel or be the rows of leaves.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_ETDGTOCPU_EMITTER_H
#define FT_LIB_CONVERSION_ETDGTOCPU_EMITTER_H

#include "ft/Conversion/ETDGToCPU/ETDGToCPU.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace mlir::ft::tocpu {

using etdg::BlockOp;

//===----------------------------------------------------------------------===//
// Rows.cpp: questions about dimensions
//===----------------------------------------------------------------------===//

/// The leaves inside a block, itself if it is one.
SmallVector<BlockOp> leavesOf(BlockOp block);
/// Whether iterations that differ in dimension `dim` of the nest are independent, and its range is
/// the same for all blocks and all other dimensions: such a dimension can be moved anywhere.
bool isFreeDimension(ArrayRef<BlockOp> nest, unsigned dim);
/// Whether all of the leaf's accesses step evenly along `dim`, with pieces that
/// do not depend on it; `planesOf` gives the planes kept of a buffer's dimension (0: all).
bool isRowUniform(BlockOp leaf, unsigned dim, llvm::function_ref<int64_t(Value, unsigned)> planesOf);
/// Which free dimension serves best as rows: the one along which the fewest read bytes vary.
std::optional<unsigned> chooseRowDimension(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free);
/// Most rows at once, so that what varies stays within the budget.
int64_t chooseMaxRows(ArrayRef<BlockOp> nest, unsigned dim, const CpuOptions &options);
/// Bounds of an own dimension in one block: expressions d ≥ lower, d < upper over earlier dimensions and symbols.
struct DimBounds {
  SmallVector<AffineExpr> lowers, uppers;
};
DimBounds boundsOf(BlockOp block, unsigned dim);

//===----------------------------------------------------------------------===//
// The emitter
//===----------------------------------------------------------------------===//

/// Where a buffer lies, inside the current kernel.
struct Storage {
  Value base;                  // memref<?xT>
  SmallVector<Value> strides;  // elements for each programmable dimension
  SmallVector<int64_t> planes; // kept planes, 0: all
  Value rowStride;             // of buffers that each row has for itself, else null
};

/// The point at which code is emitted: values of all dimensions; the row
/// dimension stands for `rows` iterations from `dims[rowDim]`.
struct Point {
  SmallVector<Value> dims;
  std::optional<unsigned> rowDim;
  Value rows;
  Value rowBegin; // first row of the tile: rows of private storage count from here
};

class Emitter {
public:
  Emitter(etdg::GraphOp graph, const CpuOptions &options);
  FailureOr<CpuModule> run();

private:
  // ETDGToCPU.cpp
  LogicalResult collectBuffers();
  LogicalResult emitKernel(ArrayRef<BlockOp> nest, StringRef name);
  LogicalResult emitNest(ArrayRef<BlockOp> nest, Point point);
  LogicalResult emitLoops(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> remaining);
  LogicalResult emitBlock(BlockOp block, Point point);
  LogicalResult emitGraphBody(Region &body, Point point);
  Value emitGuard(BlockOp block, const Point &point, ArrayRef<unsigned> ignore);
  std::pair<Value, Value> emitBounds(ArrayRef<BlockOp> nest, unsigned dim, const Point &point);
  void declarePrivate(etdg::BufferOp buffer, std::optional<unsigned> rowDim);
  Value expand(AffineExpr expr, BlockOp block, const Point &point);
  Value symbolValue(StringAttr name);
  Value lengthValue(LengthAttr length);
  Value index(int64_t value);
  Value slot(unsigned slot, Type type);
  Value bufferBase(unsigned slot, Type elementType);
  unsigned splatSlot(RankedTensorType element, Attribute value);
  int64_t planesOf(Value buffer, unsigned dim) const;

  // LeafCalls.cpp
  struct Address {
    Value base, offset, rowStride;
  };
  LogicalResult emitLeaf(BlockOp block, Point point);
  LogicalResult emitLeafCall(BlockOp block, const Point &point, bool rowWise);
  FailureOr<Address> emitPiece(BlockOp block, etdg::PieceAttr piece, RankedTensorType element, const Point &point,
                               bool useRows);
  Address emitBufferAddress(BlockOp block, Value buffer, AffineMap map, ArrayRef<Value> overrides, const Point &point,
                            bool useRows);
  /// ElementReads.cpp: a read whose map ranges over the element's dimensions too.
  FailureOr<Address> emitElementRead(BlockOp block, etdg::ReadAttr read, RankedTensorType element, const Point &point);
  Value emitScalar(BlockOp block, ArrayRef<etdg::PieceAttr> pieces, RankedTensorType element, const Point &point);
  Value emitCondition(IntegerSet set, BlockOp block, const Point &point);
  Value emitGatherIndex(BlockOp block, etdg::GatherAttr gather, Value bound, const Point &point);
  FailureOr<func::FuncOp> leafFunction(BlockOp block, ArrayRef<bool> batched);
  Value indexScratch(RankedTensorType element, int64_t rows);

  etdg::GraphOp graph;
  CpuOptions options;
  CpuModule result;
  OpBuilder builder;
  MLIRContext *context;
  Location loc;

  llvm::DenseMap<Value, unsigned> bufferNumber; // into result.buffers
  llvm::DenseMap<Value, SmallVector<int64_t>> privatePlanes;
  llvm::StringMap<func::FuncOp> leaves;
  llvm::DenseMap<std::pair<Type, Attribute>, unsigned> splats;

  // Of the current kernel.
  func::FuncOp kernel;
  OpBuilder::InsertPoint entry; // where hoisted values go
  Value env;
  llvm::DenseMap<Value, Storage> storage;
  llvm::DenseMap<std::pair<unsigned, Type>, Value> slots;
  Value maxRowsValue; // rows that private storage is made for
  int64_t maxRows = 1;
  Value scratch, scratchSize; // of the leaves, made on first need
  int64_t scratchBytes = 0;
  SmallVector<Value> toFree;
};

} // namespace mlir::ft::tocpu

#endif // FT_LIB_CONVERSION_ETDGTOCPU_EMITTER_H
