//===- Emitter.h - code for the nests of one graph --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the CPU lowering of one graph. ETDGToCPU.cpp makes buffers and kernels,
// Team.cpp what threads do together, Loops.cpp what one thread does, LeafCalls.cpp
// addresses and leaf calls. ft/Schedule says how loops are arranged, and answers
// questions about dimensions.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_ETDGTOCPU_EMITTER_H
#define FT_LIB_CONVERSION_ETDGTOCPU_EMITTER_H

#include "ft/Conversion/ETDGToCPU/ETDGToCPU.h"
#include "ft/Schedule/Boxes.h"
#include "ft/Schedule/CostModel.h"
#include "ft/Schedule/Dimensions.h"
#include "ft/Schedule/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace mlir::ft::tocpu {

using namespace schedule;
using etdg::BlockOp;

/// Where a buffer lies, inside the current kernel.
struct Storage {
  Value base;                  // memref<?xT>
  SmallVector<Value> strides;  // elements for each programmable dimension
  SmallVector<int64_t> planes; // kept planes, 0: all
  Value rowStride;             // of buffers that each row has for itself, else null
};

/// The point at which code is emitted: values of the dimensions fixed so far (others are null); the
/// row dimension stands for `rows` iterations from `dims[rowDim]`.
struct Point {
  SmallVector<Value> dims;
  SmallVector<unsigned> order; // own dimensions of the current nest, as they were fixed
  SmallVector<unsigned> loose; // of these, dimensions that other nests' loops have a part in
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
  LogicalResult emitKernel(const Group &group, StringRef name);
  LogicalResult emitTaskKernel(ArrayRef<BlockOp> nest, const NestPlan &plan, StringRef name);
  void beginKernel(StringRef name, TypeRange inputs, TypeRange outputs);
  void endKernel();

  // Team.cpp
  /// By the given plan, where there is one nest.
  LogicalResult emitTeamKernel(const Group &group, StringRef name, const NestPlan *plan = nullptr);
  /// All threads are here; afterwards each sees what all did, unless it is the kernel's `last` nest.
  LogicalResult emitTeamNest(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed, bool last,
                             const NestPlan *given = nullptr);
  LogicalResult emitTeamBody(ArrayRef<BlockOp> nest, Point point);
  LogicalResult emitShare(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan);
  LogicalResult emitUnits(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan, ArrayRef<unsigned> dims,
                          Value begin, Value end, Value &count);
  Value emitUnitCount(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> dims);
  /// What a unit weighs at a point of the outer ones of `dims`: as one of the dearest region that
  /// may have points there.
  Value emitWeight(ArrayRef<BlockOp> nest, const Point &point);
  Value emitWeightedCount(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> dims,
                          unsigned alike);
  LogicalResult emitAlone(llvm::function_ref<LogicalResult()> body);
  void emitBarrier();

  // Loops.cpp
  /// The loops that a group's nests have in common, and `body` for each nest inside.
  LogicalResult emitGroup(const Group &group, const Point &point,
                          llvm::function_ref<LogicalResult(ArrayRef<BlockOp>, Point, ArrayRef<unsigned>)> body);
  LogicalResult emitNest(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed);
  LogicalResult emitLoops(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> remaining,
                          llvm::function_ref<LogicalResult(Point)> body);
  LogicalResult emitRowTiles(const NestPlan &plan, Point point, Value lower, Value upper,
                             llvm::function_ref<LogicalResult(Point)> body);
  LogicalResult emitRegions(ArrayRef<BlockOp> nest, Point point);
  LogicalResult emitRegions(ArrayRef<BlockOp> nest, Point point,
                            llvm::function_ref<LogicalResult(BlockOp, Point)> body);
  LogicalResult emitBlock(BlockOp block, Point point);
  LogicalResult emitGraphBody(Region &body, Point point);
  LogicalResult checkBounds(ArrayRef<BlockOp> nest, unsigned dim, const Point &point);
  std::pair<Value, Value> emitBounds(ArrayRef<BlockOp> nest, unsigned dim, const Point &point);
  /// Runs of rows along which no constraint changes its truth and no plane wraps around.
  struct RunLimits {
    SmallVector<std::tuple<AffineExpr, bool, BlockOp>> constraints; // of a block: ≥ 0, or = 0 where true
    SmallVector<std::pair<AffineExpr, int64_t>> planes;   // position and its modulus
  };
  LogicalResult emitRuns(BlockOp block, const Point &point, const RunLimits &limits,
                         llvm::function_ref<LogicalResult(Point)> body);
  Value emitRunLength(const Point &point, BlockOp block, const RunLimits &limits);
  LogicalResult emitSingleRows(const Point &point, llvm::function_ref<LogicalResult(Point)> body);
  void declareIntermediate(etdg::BufferOp buffer);
  void declarePrivate(etdg::BufferOp buffer, std::optional<unsigned> rowDim);
  Value expand(AffineExpr expr, BlockOp block, const Point &point);
  Value symbolValue(StringAttr name);
  Value lengthValue(LengthAttr length);
  Value index(int64_t value);
  template <class Op>
  Value make(Value a, Value b) {
    return Op::create(builder, loc, a, b).getResult();
  }
  Value slot(unsigned slot, Type type);
  unsigned toKernelSlot(unsigned slot);
  void finishKernel();
  Value bufferBase(unsigned slot, Type elementType);
  unsigned splatSlot(RankedTensorType element, Attribute value);
  int64_t planesOf(Value buffer, unsigned dim) const;

  // LeafCalls.cpp
  struct Address {
    Value base, offset, rowStride;
  };
  LogicalResult emitLeaf(BlockOp block, Point point);
  FailureOr<Address> emitReadAddress(BlockOp block, unsigned read, const Point &point, bool rowWise);
  /// The memory of `rows` rows of an operand, as a leaf takes it.
  Value emitRowsView(const Address &address, RankedTensorType element, Value rows);
  void callLeaf(func::FuncOp leaf, SmallVector<Value> operands, int64_t mostRows);
  LogicalResult emitLeafCall(BlockOp block, const Point &point, bool rowWise);
  FailureOr<Address> emitPiece(BlockOp block, etdg::PieceAttr piece, RankedTensorType element, const Point &point,
                               bool useRows);
  Address emitBufferAddress(BlockOp block, Value buffer, AffineMap map, ArrayRef<Value> overrides, const Point &point,
                            bool useRows);
  /// ElementReads.cpp: scalars that lie in memory as the leaf takes them.
  Address emitBoxAddress(BlockOp block, const Box &box, const Point &point, bool useRows);
  /// ElementReads.cpp: a read whose map ranges over the element's dimensions too.
  FailureOr<Address> emitElementRead(BlockOp block, etdg::ReadAttr read, RankedTensorType element, const Point &point);
  Value emitScalar(BlockOp block, ArrayRef<etdg::PieceAttr> pieces, RankedTensorType element, const Point &point);
  Value emitCondition(IntegerSet set, BlockOp block, const Point &point);
  /// The number of a place that an index out of range is reported at.
  int64_t addPlace(BlockOp block, Location place);
  Value emitGatherIndex(BlockOp block, etdg::GatherAttr gather, Value bound, const Point &point);
  FailureOr<func::FuncOp> leafFunction(BlockOp block, ArrayRef<bool> batched, bool listed);
  /// Loops of scalars that LLVM may turn into vectors; it leaves all others as they are.
  void askForVectors(Operation *loop);
  Value indexScratch(RankedTensorType element, int64_t rows);

  // RowLists.cpp
  /// Rows that one call of a leaf will compute: their number and addresses in memory.
  struct RowList {
    RowGroup group;
    func::FuncOp leaf;
    Value memory; // !llvm.ptr
  };
  FailureOr<SmallVector<RowList>> makeLists(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims);
  Value listedRows(const RowList &list);
  void setListedRows(const RowList &list, Value rows);
  LogicalResult emitAppend(BlockOp block, const Point &point, bool rowWise);
  LogicalResult emitListCall(const RowList &list, const Point &point);
  /// The parts of lines whose points, numbered in order, are in [begin, end). Ranges are those at
  /// `bounds`; `point` has the inner dimensions, too.
  LogicalResult emitLines(ArrayRef<BlockOp> nest, Point bounds, Point point,
                          ArrayRef<unsigned> dims, Value begin, Value end, Value &count,
                          llvm::function_ref<LogicalResult(Point)> body);
  /// Points [begin, end) of the row dimensions at `point`, as rows of leaves.
  LogicalResult emitListedRows(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan,
                               Value begin, Value end);

  etdg::GraphOp graph;
  CpuOptions options;
  CpuModule result;
  CostModel costs;
  OpBuilder builder;
  MLIRContext *context;
  Location loc;

  llvm::DenseMap<Value, unsigned> bufferNumber; // into result.buffers
  llvm::DenseMap<Value, SmallVector<int64_t>> privatePlanes;
  llvm::StringMap<func::FuncOp> leaves;
  llvm::DenseMap<std::pair<Type, Attribute>, unsigned> splats;

  /// The names of kernels by their code, their counts before them.
  llvm::StringMap<std::string> kernelsByCode;

  // Of the current kernel.
  func::FuncOp kernel, countKernel;
  SmallVector<unsigned> kernelSlots; // slots of the call that it looks at, in order of first use
  OpBuilder::InsertPoint entry; // where hoisted values go
  Value env;
  llvm::DenseMap<Value, Storage> storage;
  llvm::DenseMap<std::pair<unsigned, Type>, Value> slots;
  Value maxRowsValue; // rows that private storage is made for
  int64_t maxRows = 1;
  Value scratch, scratchSize; // of the leaves, made on first need
  int64_t scratchBytes = 0;
  SmallVector<Value> toFree;
  SmallVectorImpl<RowList> *rowLists = nullptr; // leaves are not called: their rows are listed
  Value listAt;    // position in the list of the row that is added
  SmallVector<int64_t> unitWeights; // of the nest whose points are shared; none: all alike
  Value tid, team; // of a kernel that threads run together: number and count
};

} // namespace mlir::ft::tocpu

#endif // FT_LIB_CONVERSION_ETDGTOCPU_EMITTER_H
