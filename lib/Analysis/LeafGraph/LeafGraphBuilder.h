//===- LeafGraphBuilder.h - From tensor ops to nests ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_ANALYSIS_LEAFGRAPH_LEAFGRAPHBUILDER_H
#define FT_LIB_ANALYSIS_LEAFGRAPH_LEAFGRAPHBUILDER_H

#include "ft/Analysis/LeafGraph/LeafGraph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::ft::leaf {

ArrayRef<int64_t> shapeOf(Type type);

/// The part of a larger value that an assembling op takes from one operand.
struct Piece {
  Value source;
  SmallVector<int64_t> offsets, sizes, steps;             // in the assembled value
  SmallVector<std::pair<Value, unsigned>> dynamicOffsets; // value, dimension
};

/// A value put together from a base and pieces that overwrite it in order
/// (insert_slice, insert, concat, pad, from_elements).
struct Assembly {
  Value base; // null or a scalar or a tensor of the same shape
  std::vector<Piece> pieces;
  bool disjoint() const;
};

struct GraphBuilder {
  LeafGraph graph;
  DenseMap<Value, ElementView> views;
  DenseSet<Value> batched;
  SmallVector<ElementView> outputs;
  Type sums; // of halves; null: each step rounds
  /// Storage that was chosen before its value is computed.
  DenseMap<Value, ElementView> storages;
  /// Values that are computed inside of a larger one: value -> (larger, piece).
  struct Destination {
    Value whole;
    Piece piece;
  };
  DenseMap<Value, Destination> destinations;
  DenseMap<Operation *, Assembly> assemblies;
  /// insert_slices that a later one assembles.
  DenseSet<Operation *> absorbed;

  LogicalResult run(const LeafOptions &options);
  LogicalResult checkType(Operation *op, Type type);
  void findBatched(Block &block, ArrayRef<bool> inputs);

  // Nests.
  LogicalResult addOp(Operation *op);
  LogicalResult addElementwise(Operation *op);
  LogicalResult addGeneric(linalg::GenericOp op);
  static bool isView(linalg::GenericOp op);
  bool tryView(linalg::GenericOp op);
  void addCopy(Operation *op, const ElementView &from, const ElementView &to, ArrayRef<int64_t> shape,
               bool last = false);
  void finishNest(Nest nest);
  ElementView readable(Value value, ElementView view);

  // Data movement (DataMovement.cpp).
  static bool isDataMovement(Operation *op);
  LogicalResult addDataMovement(Operation *op);
  LogicalResult addReshape(Operation *op, Value source);
  LogicalResult addConstant(arith::ConstantOp op);
  std::optional<Assembly> assemblyOf(Operation *op);
  void findDestinations(Block &block);
  LogicalResult addAssembly(Operation *op, const Assembly &assembly);
  bool tryBorder(tensor::PadOp op);
  void placeSplat(ElementView &view, Type element);
  LogicalResult addOffset(ElementView &view, Value index, int64_t stride, int64_t bound, Operation *op);

  // Memory.
  ElementView newBuffer(Buffer::Kind kind, Type type, bool isBatched);
  ElementView storageFor(Value value);
};

/// `view`, of shape `from`, as shape `to`; nothing if strides cannot say it.
std::optional<ElementView> reshapeView(const ElementView &view, ArrayRef<int64_t> from, ArrayRef<int64_t> to);

} // namespace mlir::ft::leaf

#endif // FT_LIB_ANALYSIS_LEAFGRAPH_LEAFGRAPHBUILDER_H
