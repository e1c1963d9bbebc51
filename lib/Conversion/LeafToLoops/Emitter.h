//===- Emitter.h - Loop nests to scf, vector and memref ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_LEAFTOLOOPS_EMITTER_H
#define FT_LIB_CONVERSION_LEAFTOLOOPS_EMITTER_H

#include "ft/Analysis/LeafGraph/BodyEvaluator.h"
#include "ft/Conversion/LeafToLoops/LeafCodegen.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::ft::leaf {

/// A run of nests that one loop over the rows computes (`perRow`), or a single
/// nest that treats the rows itself or does not depend on them.
struct Segment {
  unsigned begin, end;
  bool perRow;
};

/// Which loop nests one loop over the rows computes, and in which order.
RowLoops chooseRowLoops(const LeafGraph &graph);
/// Brings the nests into this order; emits an error, and fails, where it is none that they can have.
FailureOr<SmallVector<Segment>> takeRowLoops(LeafGraph &graph, const RowLoops &loops);

/// The buffers that are scratch, by the numbers that `#loops.scratch` has for them.
SmallVector<int> scratchValues(const LeafGraph &graph);

/// Places for what loop nests hand on.
ScratchPlaces choosePlaces(const LeafGraph &graph, ArrayRef<Segment> segments);

/// Gives buffers their places; emits an error, and fails, where they can't have them.
LogicalResult placeBuffers(LeafGraph &graph, ArrayRef<Segment> segments, const ScratchPlaces &places);

/// Makes the memref function.
func::FuncOp emitLeafFunction(LeafGraph &graph, ArrayRef<Segment> segments, const LeafOptions &options);

/// Elements that are computed together: `width` lanes of which the first
/// `valid` count. Width 1 means scalars.
struct LaneShape {
  int64_t width = 1, valid = 1;
  bool full() const { return width == valid; }
};

/// The vectors of a nest that is no product; whether it can have given ones: emits an error, and fails, if not.
LaneTile chooseLanes(const LeafGraph &graph, const Nest &nest, const CpuTarget &target);
LogicalResult checkLanes(const LeafGraph &graph, const Nest &nest, const LaneTile &tile);

/// The squares of a copy that changes its contiguous dimension, which are turned in registers; none of others, and of small ones.
std::optional<LaneTile> chooseTurn(const LeafGraph &graph, const Nest &nest, const CpuTarget &target);
/// Why a nest can't be turned in such squares; empty where it can. Whether what they leave can have its vectors: emits an error, and fails,
/// if not.
std::string describeUnturned(const LeafGraph &graph, const Nest &nest, const LaneTile &tile);
LogicalResult checkRests(const LeafGraph &graph, const Nest &nest, const LaneTile &tile);
/// What squares leave of a nest, as nests of their own.
SmallVector<Nest, 2> restsOfSquares(const Nest &nest, const LaneTile &tile);

/// Emits one leaf. A *lane value* is a vector of LaneShape::width elements, or a
/// scalar where all lanes agree.
class Emitter {
public:
  Emitter(LeafGraph &graph, const LeafOptions &options, Location loc, OpBuilder &builder)
      : b(loc, builder), graph(graph), options(options) {}

  ImplicitLocOpBuilder b;
  LeafGraph &graph;
  Value rows;
  Value column; // the first one of the call, where calls share the columns

  func::FuncOp emitFunction(ArrayRef<Segment> segments);
  void emitLoopNest(const Nest &nest);
  void emitLoopNest(const Nest &nest, const LaneTile &tile);
  /// Goes on under the nest's guard.
  void branchOnGuard(const Nest &nest);
  void emitContraction(const Nest &nest);
  /// A copy that turns a matrix, in squares.
  void emitTurned(const Nest &nest, const LaneTile &tile);

  // Index arithmetic that folds.
  Value index(int64_t value);
  Value addIndex(Value a, Value b);
  Value addIndex(Value a, int64_t b) { return b == 0 ? a : addIndex(a, index(b)); }
  Value mulIndex(Value a, int64_t b);

  /// A loop that LLVM keeps as it is: it is vectorised already.
  scf::ForOp keptLoop(Value begin, Value end, int64_t step, ValueRange inits = {});

  // Memory.
  Value flat(int buffer) {
    Value ofRow = rowFlats.lookup(buffer);
    return ofRow ? ofRow : memories[buffer].flat;
  }
  /// Whether each row has an address of its own.
  bool isListed(int buffer) { return static_cast<bool>(memories[buffer].list); }
  /// The memory of one row of a buffer whose rows are listed.
  Value flatOfRow(int buffer, Value row);
  /// Element offset of the current row; null where that is zero.
  Value rowOffset(int buffer);
  Value rowStride(int buffer) { return memories[buffer].rowStride; }
  /// Element offset at which a view begins, in the current row.
  Value beginOfView(const ElementView &view);
  /// An index of data, a lane value, or 0 where it is not in [0, bound), which is noted then.
  Value checked(Value index, int64_t bound, Operation *op, LaneShape shape);
  /// In `memory`, else that of the current row.
  Value loadLanes(const ElementView &view, Value offset, int64_t stride, LaneShape shape,
                  Value memory = {});
  void storeLanes(const ElementView &view, Value offset, int64_t stride, LaneShape shape, Value value,
                  Value memory = {});

  // Reads with borders (EmitBorders.cpp).
  /// Of each border of a view, the index at the first iteration of all loops.
  SmallVector<Value> beginOfBorders(const ElementView &view);
  /// Goes `by` iterations of a loop on.
  void moveAlongBorders(const ElementView &view, int loop, Value by, MutableArrayRef<Value> places);
  /// Whether lanes from number `first` on meet memory: one condition for all, or a vector of them; null: they do. Not asked of
  /// borders that are `known` not to be crossed.
  Value isInside(const ElementView &view, ArrayRef<Value> places, int vectorLoop, int64_t first, LaneShape shape,
                 const llvm::SmallBitVector &known = {});
  /// `loadLanes` where `inside` holds, the view's scalar elsewhere; no other memory is touched.
  Value loadLanesInside(const ElementView &view, Value offset, int64_t stride, LaneShape shape, Value inside, Value memory = {});
  /// Whether processors gather elements of a type.
  static bool isGathered(Type stored);
  /// One element per lane of `indices` (a lane value), counted from `offset`.
  Value gatherLanes(int buffer, Value offset, Value indices, LaneShape shape, Value memory = {});

  // Lane values.
  Value broadcast(Value value, int64_t width);
  Value constantOf(Type type, TypedAttr value);
  Value maskOf(LaneShape shape);
  Value lanesToFloat32(Value value);
  Value toElementType(Value value, Type type);

private:
  struct Memory {
    Value flat;      // memref<?xT> that holds the buffer
    Value base;      // element offset of row 0; null: zero
    Value rowStride; // in elements; null: all rows are one
    Value list;      // addresses of the rows, instead of all these
  };
  /// Of each operand of a product where it begins, its rows' distance, and the list of these, where there are such.
  struct ProductOperands {
    SmallVector<Value> offsets, strides, lists;
  };
  void emitProductBody(Block *entry, const Nest &nest, ProductOperands of);

  const LeafOptions &options;
  SmallVector<Memory> memories;
  Value errors; // null: indices are not checked
  Value row; // of the row loop around; null outside
  DenseMap<int, Value> rowOffsets;
  DenseMap<int, Value> rowFlats; // of the current row, where rows are listed

  void bindMemory(func::FuncOp func);
  Memory flatMemoryOf(Value memref, bool batched);
};

inline bool isVector(Value value) { return isa<VectorType>(value.getType()); }

/// The body of a member on lane values. It has a rule for all that leaves hold.
class LaneBody : public BodyEvaluator {
public:
  LaneBody(Emitter &emitter, const NestMember &member, LaneShape shape) : BodyEvaluator(emitter.b, member), e(emitter), shape(shape) {}

  /// Bodies that must be computed one element at a time.
  static bool needsScalars(const NestMember &member);

private:
  Emitter &e;
  LaneShape shape;

  Value zeroIndex() override;
  Value loadCaptured(const ElementView &view) override;
  Value evaluateExtract(tensor::ExtractOp extract, const ElementView &view) override;
  LogicalResult evaluateOther(Operation *op) override;
  Value toFloat32(Value value) override;
  Value toElement(Value value, Type element) override;
  void unify(SmallVectorImpl<Value> &operands) override;
  Type typeFor(Type element, ArrayRef<Value> operands) override;
  Value castIndex(Operation *op, Value value) override { return nullptr; } // an index stays one
};

} // namespace mlir::ft::leaf

#endif // FT_LIB_CONVERSION_LEAFTOLOOPS_EMITTER_H
