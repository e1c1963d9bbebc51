//===- GraphEmitter.h - kernels of one graph --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the GPU lowering of one graph. ETDGToGPU.cpp emits kernels and loops,
// Operands.cpp addresses and leaves; kernels by themselves are KernelBuilder's.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_ETDGTOGPU_GRAPHEMITTER_H
#define FT_LIB_CONVERSION_ETDGTOGPU_GRAPHEMITTER_H

#include "KernelBuilder.h"
#include "ft/Schedule/Boxes.h"      // reads of scalars in the order of memory
#include "ft/Schedule/Dimensions.h" // which dimensions are free, bounds of dimensions
#include "ft/Schedule/GpuPlan.h"
#include "ft/Schedule/KeptPlanes.h"
#include "ft/Schedule/Plan.h"       // which nests share loops
#include "ft/Schedule/RowRuns.h"

#include <map>

namespace mlir::ft::togpu {

using etdg::BlockOp;
/// Where a buffer lies, inside the current kernel.
struct Storage {
  Value base;
  SmallVector<Value> strides; // elements, for each programmable dimension
  SmallVector<int64_t> planes;
  Value rowStride; // of buffers that each row has for itself, else null
  bool aligned = true;
};

/// The point at which code is emitted: values of all dimensions; the row
/// dimension stands for `rows` iterations from `dims[rowDim]`, the lifted one for `lifts`.
struct Point {
  SmallVector<Value> dims;
  std::optional<unsigned> rowDim;
  Value rows, rowBegin;
  std::optional<unsigned> liftDim;
  int64_t lifts = 1;
  std::optional<Columns> columns; // of the leaves, where blocks of threads share them
  /// Dimensions that a nest shares with others of its kernel inside a body: their loops go beyond
  /// the nest's own domain.
  unsigned sharedBegin = 0, sharedEnd = 0;
};

using schedule::GpuPlan;
using schedule::GpuPlace;

/// Nests that one launch runs, and what their schedules say.
struct Kernel {
  SmallVector<SmallVector<BlockOp>> nests;
  std::vector<GpuPlan> plans;
  GpuPlace place;
};

class GraphEmitter : public KernelBuilder {
public:
  GraphEmitter(etdg::GraphOp graph, const GpuOptions &options);
  FailureOr<GpuModule> run();

private:
  /// What a module has before its kernels.
  LogicalResult beginModule();
  // ETDGToGPU.cpp
  LogicalResult collectBuffers();
  FailureOr<Kernel> readKernel(Operation *item);
  LogicalResult emitItem(Operation *item, const std::string &name);
  LogicalResult emitVariants(etdg::VariantsOp variants, unsigned number, const std::string &name);
  LogicalResult emitKernel(ArrayRef<BlockOp> nest, const GpuPlan &plan, StringRef name);
  LogicalResult readRowLanes(ArrayRef<BlockOp> nest, const GpuPlan &plan);
  LogicalResult emitNest(ArrayRef<BlockOp> nest, Point point);
  LogicalResult emitLoops(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> remaining);
  Value emitMoves(BlockOp leaf);
  LogicalResult emitBlock(BlockOp block, Point point);
  LogicalResult emitGraphBody(Region &body, Point point);
  LogicalResult emitSharedLoops(ArrayRef<SmallVector<BlockOp>> nests, std::vector<Point> &points,
                                unsigned level, unsigned shared);
  Value emitGuard(BlockOp block, const Point &point);
  std::pair<Value, Value> emitBounds(ArrayRef<BlockOp> nest, unsigned dim, const Point &point);
  std::pair<HostExpr, HostExpr> hostBounds(ArrayRef<BlockOp> nest, unsigned dim);
  /// Every block bounds the dimension by earlier ones, else an error.
  LogicalResult requireBounds(ArrayRef<BlockOp> nest, unsigned dim) {
    return schedule::checkLoopBounds(nest, dim, [dim](unsigned d) { return d < dim; }, "GPU");
  }
  void declarePrivate(etdg::BufferOp buffer, const Point &point);

  // Values of the current kernel.
  Value expand(AffineExpr expr, BlockOp block, const Point &point);

  // Steps.cpp
  LogicalResult emitStepKernel(Kernel &kernel, StringRef name);
  LogicalResult formColumns(ArrayRef<BlockOp> nest, const GpuPlan &plan);
  LogicalResult emitSharedSteps(Kernel &kernel, std::vector<Point> &points, unsigned level);
  LogicalResult emitOwnSteps(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point, unsigned level);
  SmallVector<std::pair<Value, Value>> emitFlatRanges(ArrayRef<BlockOp> nest, const GpuPlan &plan, const Point &at);
  Value countPoints(ArrayRef<std::pair<Value, Value>> ranges);
  FailureOr<Value> overOuter(ArrayRef<BlockOp> nest, const GpuPlan &plan, const Point &point,
                             llvm::function_ref<FailureOr<Value>(Point, Value)> body);
  struct Division;
  FailureOr<Division> divideStep(ArrayRef<BlockOp> nest, const GpuPlan &plan, const Point &point);
  void enterTask(const GpuPlan &plan, const Division &division, ArrayRef<std::pair<Value, Value>> ranges, Value number,
                 Point &at);
  LogicalResult emitGridTasks(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point);

  // Operands.cpp
  struct Operand {
    Value pointer, rowStride, isValue, value, valueStep, liftStride, liftStep;
    bool aligned = true;
  };
  LogicalResult emitLeaf(BlockOp block, Point point);
  /// Rows in runs within which no read changes its piece.
  LogicalResult emitRuns(BlockOp block, Point point, ArrayRef<schedule::RowChange> changes);
  Value emitRunEnd(BlockOp block, const Point &point, ArrayRef<schedule::RowChange> changes, Value row);
  LogicalResult emitLeafInstance(BlockOp block, const Point &point, bool rowWise);
  FailureOr<SmallVector<Operand>> emitOperands(BlockOp block, const LeafForm &form, const Point &point, bool rowWise);
  /// Where the leaf's inputs, outputs and constants lie.
  void bindMemories(BlockOp block, LeafEmitter &emitter, ArrayRef<Operand> operands, const Point &point, bool rowWise);
  FailureOr<Operand> emitPiece(BlockOp block, etdg::PieceAttr piece, RankedTensorType element,
                               const Point &point, bool useRows);
  FailureOr<Operand> choosePiece(BlockOp block, ArrayRef<etdg::PieceAttr> pieces,
                                 RankedTensorType element, const Point &point, bool useRows, bool inMemory = false);
  FailureOr<Operand> emitAlternative(BlockOp block, etdg::PieceAttr piece, RankedTensorType element, const Point &point,
                                     bool useRows, bool inMemory);
  /// The values that all alternatives of a read have, in this order.
  struct PieceForm {
    bool buffers = false, values = false, steps = false, lifts = false;
    unsigned space = 0;
    Type valueType;
    SmallVector<Type> types;
  };
  PieceForm formOf(BlockOp block, ArrayRef<etdg::PieceAttr> pieces, RankedTensorType element, const Point &point, bool inMemory);
  SmallVector<Value> toForm(const PieceForm &form, const Operand &operand);
  static Operand fromForm(const PieceForm &form, ArrayRef<Value> values);
  /// Memory that holds a splat piece everywhere.
  Operand emitSplatMemory(etdg::PieceAttr piece, RankedTensorType element);
  /// Whether a read is an operand of a product in tiles, which is to lie in memory.
  bool isProductOperand(BlockOp block, const LeafForm &form, unsigned read);
  const Storage &storageOf(Value buffer);
  Operand emitAddress(BlockOp block, Value buffer, AffineMap map, ArrayRef<Value> overrides,
                      const Point &point, bool useRows);
  Value emitStep(BlockOp block, AffineMap map, unsigned result, unsigned dim, const Point &point);
  Value emitCondition(IntegerSet set, BlockOp block, const Point &point);
  bool isUniform(BlockOp block, unsigned dim) {
    return schedule::isUniform(block, dim, [this](Value buffer, unsigned d) { return kept.at(buffer, d); });
  }
  /// What the leaf's layouts say of each of its loop nests.
  FailureOr<SmallVector<Tiles>> readLayouts(BlockOp block, const LeafForm &form, const Point &point, bool rowWise);
  /// The leaf as loop nests; made once in a kernel.
  FailureOr<LeafForm *> leafForm(BlockOp block, std::optional<unsigned> rowDim, bool rowWise);
  Value emitGatherIndex(BlockOp block, etdg::GatherAttr gather, Value bound, const Point &point);
  Operand emitBox(BlockOp block, const schedule::Box &box, RankedTensorType element, const Point &point,
                  bool useRows);
  FailureOr<Operand> emitElementRead(BlockOp block, etdg::ReadAttr read, RankedTensorType element,
                                     const Point &point);
  FailureOr<Value> emitScalar(BlockOp block, ArrayRef<etdg::PieceAttr> pieces,
                              RankedTensorType element, const Point &point);

  etdg::GraphOp graph;
  schedule::KeptPlanes kept;

  // Of the current kernel.
  llvm::DenseMap<Value, Storage> storage;
  std::map<Operation *, LeafForm> leafForms;
  llvm::DenseSet<Value> rowWiseBuffers; // private ones that each row has for itself
  bool sharesSteps = false;  // loops around a nest may go beyond its own domain
  std::optional<RowPlan> rowPlan; // where the kernel is one leaf that keeps rows in registers
  /// Leaves for which storage has left other accesses than were planned for.
  llvm::DenseSet<Operation *> otherwise;
};

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_ETDGTOGPU_GRAPHEMITTER_H
