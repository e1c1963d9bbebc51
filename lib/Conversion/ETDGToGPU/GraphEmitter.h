//===- GraphEmitter.h - kernels of one graph --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the GPU lowering of one graph. ETDGToGPU.cpp emits kernels and loops,
// Operands.cpp addresses and leaves, Plan.cpp what the host does.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_ETDGTOGPU_GRAPHEMITTER_H
#define FT_LIB_CONVERSION_ETDGTOGPU_GRAPHEMITTER_H

#include "../ETDGToCPU/Emitter.h" // which dimensions are free, bounds of dimensions
#include "LeafEmitter.h"
#include "ft/Conversion/ETDGToGPU/ETDGToGPU.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::ft::togpu {

using etdg::BlockOp;
using HostExpr = ::ft::rt::Expr;

/// A buffer that lives as long as a call: argument, result or intermediate; or a constant.
struct CallBuffer {
  int64_t planBuffer = -1; // index in the plan; -1: a constant of the module
  LLVM::GlobalOp constant;
  SmallVector<LengthAttr> lengths;
  SmallVector<int64_t> planes; // kept for each length, 0: all
  RankedTensorType element;
};

/// Where a buffer lies, inside the current kernel.
struct Storage {
  Value base;
  SmallVector<Value> strides; // elements, for each programmable dimension
  SmallVector<int64_t> planes;
  Value rowStride; // of buffers that each row has for itself, else null
  bool aligned = true;
};

/// The point at which code is emitted: values of all dimensions; the row
/// dimension stands for `rows` iterations from `dims[rowDim]`.
struct Point {
  SmallVector<Value> dims;
  std::optional<unsigned> rowDim;
  Value rows, rowBegin;
};

class GraphEmitter {
public:
  GraphEmitter(etdg::GraphOp graph, const GpuOptions &options);
  FailureOr<GpuModule> run();

private:
  // Plan.cpp
  LogicalResult makeEntry();
  LogicalResult collectBuffers();
  HostExpr hostExpr(AffineExpr expr, ArrayRef<StringAttr> symbols);
  HostExpr hostLength(LengthAttr length);
  HostExpr hostBytes(ArrayRef<LengthAttr> lengths, ArrayRef<int64_t> planes,
                     RankedTensorType element);
  int64_t addWorkspace(HostExpr offset);
  void finishKernel(StringRef name, HostExpr tasks);

  // ETDGToGPU.cpp
  LogicalResult emitKernel(ArrayRef<BlockOp> nest, StringRef name);
  void beginKernel(StringRef name);
  LogicalResult emitNest(ArrayRef<BlockOp> nest, Point point);
  LogicalResult emitLoops(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> remaining);
  LogicalResult emitBlock(BlockOp block, Point point);
  LogicalResult emitGraphBody(Region &body, Point point);
  Value emitGuard(BlockOp block, const Point &point);
  std::pair<Value, Value> emitBounds(ArrayRef<BlockOp> nest, unsigned dim, const Point &point);
  std::pair<HostExpr, HostExpr> hostBounds(ArrayRef<BlockOp> nest, unsigned dim);
  void declarePrivate(etdg::BufferOp buffer, const Point &point);
  int64_t chooseRows(ArrayRef<BlockOp> nest, unsigned dim);
  int64_t chooseThreads(ArrayRef<BlockOp> nest);

  // Values of the current kernel.
  Value argument(int64_t planBuffer);
  Value symbolValue(StringAttr name);
  Value lengthValue(LengthAttr length);
  Value integerArgument(const HostExpr &value);
  Value expand(AffineExpr expr, BlockOp block, const Point &point);
  /// Memory of this block of threads: shared where it fits, else a part of the workspace.
  Value blockMemory(HostExpr bytes, Value bytesValue, std::optional<int64_t> fixedBytes);
  int64_t planesOf(Value buffer, unsigned dim) const;
  /// Emits values that the whole kernel uses.
  template <typename Fn>
  auto atEntry(Fn emit) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(marker);
    return emit();
  }

  // Operands.cpp
  struct Operand {
    Value pointer, rowStride, isValue, value, valueStep;
    bool aligned = true;
  };
  LogicalResult emitLeaf(BlockOp block, Point point);
  LogicalResult emitLeafInstance(BlockOp block, const Point &point, bool rowWise);
  FailureOr<Operand> emitPiece(BlockOp block, etdg::PieceAttr piece, RankedTensorType element,
                               const Point &point, bool useRows);
  FailureOr<Operand> choosePiece(BlockOp block, ArrayRef<etdg::PieceAttr> pieces,
                                 RankedTensorType element, const Point &point, bool useRows);
  const Storage &storageOf(Value buffer);
  Operand emitAddress(BlockOp block, Value buffer, AffineMap map, ArrayRef<Value> overrides,
                      const Point &point, bool useRows);
  Value emitCondition(IntegerSet set, BlockOp block, const Point &point);
  Value emitGatherIndex(BlockOp block, etdg::GatherAttr gather, Value bound, const Point &point);
  FailureOr<Operand> emitElementRead(BlockOp block, etdg::ReadAttr read, RankedTensorType element,
                                     const Point &point);
  FailureOr<Value> emitScalar(BlockOp block, ArrayRef<etdg::PieceAttr> pieces,
                              RankedTensorType element, const Point &point);
  LLVM::GlobalOp addConstant(DenseElementsAttr value);
  void placeLeafBuffers(leaf::LeafGraph &leafGraph, LeafEmitter &emitter, int64_t rows);

  etdg::GraphOp graph;
  GpuOptions options;
  GpuModule result;
  MLIRContext *context;
  SmallVector<StringAttr> symbols;
  llvm::DenseMap<Value, CallBuffer> callBuffers;
  llvm::DenseMap<Value, SmallVector<int64_t>> privatePlanes;
  HostExpr intermediateBytes, kernelBytes; // of the workspace
  int64_t errorBuffer = -1;
  unsigned numConstants = 0;
  Code b;

  // Of the current kernel.
  LLVM::LLVMFuncOp kernel;
  Operation *marker = nullptr; // hoisted values are emitted before it
  llvm::DenseMap<Value, Storage> storage;
  llvm::MapVector<int64_t, Value> pointers; // by plan buffer
  llvm::DenseMap<StringAttr, Value> symbolValues;
  std::vector<::ft::rt::KernelArgument> kernelArguments;
  Threads threads;
  int64_t maxRows = 1;
  bool usesTiles = false;
  int64_t sharedUsed = 0, leafShared = 0; // bytes: of private buffers, of the largest leaf
  Value leafSharedBase;                   // a constant that is set at the end
  struct BlockPart {
    int64_t planBuffer;
    HostExpr bytes;
  };
  std::vector<BlockPart> blockParts; // of the workspace, one for each block of threads
};

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_ETDGTOGPU_GRAPHEMITTER_H
