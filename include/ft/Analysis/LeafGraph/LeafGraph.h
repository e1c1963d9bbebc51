//===- LeafGraph.h - A leaf as loop nests over buffers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form between tensors and loops. All shapes of a leaf are static, so every
// element that an op reads or writes lies at `offset + sum(stride * iteration)`
// of some buffer; slices, reshapes, transposes and broadcasts are nothing but
// other strides.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_LEAFGRAPH_LEAFGRAPH_H
#define FT_ANALYSIS_LEAFGRAPH_LEAFGRAPH_H

#include "ft/Analysis/LeafGraph/LeafOptions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/PatternMatch.h"

#include <optional>
#include <vector>

namespace mlir::ft::leaf {

/// A run-time part of an address: the index stored at `buffer[offset]`, times
/// `stride`. It should be in [0, bound), as `op` asks.
struct DynamicTerm {
  int buffer;
  int64_t offset;
  int64_t stride;
  int64_t bound;
  Operation *op;
  bool operator==(const DynamicTerm &o) const {
    return buffer == o.buffer && offset == o.offset && stride == o.stride && bound == o.bound;
  }
};

/// A border of a padded value: what a read meets is memory where
/// `offset + sum(stride * iteration)` is in [0, size), else the view's `outside`.
struct Border {
  int64_t offset = 0;
  int64_t size = 0;
  SmallVector<int64_t> strides; // as those of the view
  int64_t columnStride = 0;     // as that of the view

  bool operator==(const Border &o) const {
    return offset == o.offset && size == o.size && strides == o.strides && columnStride == o.columnStride;
  }
};

/// Where elements lie: of a value (one stride per dimension of its shape) or as
/// a loop nest meets them (one stride per loop).
struct ElementView {
  int buffer = -1;        // -1: all elements are `splat`
  TypedAttr splat;        // a scalar
  bool undefined = false; // of a tensor.empty: any contents do
  int64_t offset = 0;
  SmallVector<int64_t> strides;
  SmallVector<DynamicTerm> terms;
  /// In a leaf that computes some columns: by how much the first of them moves the view.
  int64_t columnStride = 0;
  /// Of a read: where it meets no memory, and the scalar that is there. The offset is that of a first element which
  /// memory need not have.
  std::vector<Border> borders;
  TypedAttr outside;

  bool isSplat() const { return buffer < 0; }
  bool hasBorders() const { return !borders.empty(); }
  /// Whether what is met differs between iterations of a loop.
  bool movesWith(int loop) const {
    return !isSplat() && (strides[loop] != 0 ||
                          llvm::any_of(borders, [&](const Border &border) { return border.strides[loop] != 0; }));
  }
  /// Strides of the view and of its borders, one list after the other.
  void forEachStrides(llvm::function_ref<void(SmallVectorImpl<int64_t> &)> callback) {
    callback(strides);
    for (Border &border : borders)
      callback(border.strides);
  }
  bool operator==(const ElementView &o) const {
    return buffer == o.buffer && splat == o.splat && offset == o.offset && strides == o.strides &&
           terms == o.terms && columnStride == o.columnStride && borders == o.borders &&
           (borders.empty() || outside == o.outside);
  }
};

/// Memory for one row of a value: `numElements` contiguous elements.
struct Buffer {
  enum class Kind { Input, Output, Scratch, Constant } kind;
  unsigned number = 0; // of the input or output
  Type elementType;
  int64_t numElements = 0;
  bool batched = false;       // differs from row to row
  DenseElementsAttr constant; // one-dimensional

  // Set by the placement.
  bool inMemory = true;    // else the value only ever lives in registers
  bool oneRow = false;     // one row's memory serves all rows
  int64_t byteOffset = -1; // in its scratch area (fixed, or per row)

  bool isFixed() const { return !batched || oneRow; }
};

/// One op as the body of a loop nest.
struct NestMember {
  Operation *op = nullptr;
  Block *body = nullptr; // null: `op` itself is the body, applied element by element
  bool copy = false;     // no body at all: the write gets the read
  /// Of a reduction: what it says in f16 or bf16 is computed in this type, and rounded at the end; null: after each operation.
  Type sums;
  /// Of a reduction: a product and the sum that it goes into may be rounded together.
  bool contracts = false;

  SmallVector<Value> arguments; // body values that stand for the reads
  SmallVector<ElementView> reads;
  SmallVector<Value> accumulators; // body values that stand for the carried results
  SmallVector<ElementView> inits;
  SmallVector<Value> yields;
  SmallVector<ElementView> writes;
  SmallVector<Operation *> combiners; // of a reduction, per result; null: unknown

  /// Loop of the op -> loop of the nest; -1 for a loop that runs once.
  SmallVector<int> loops;
  /// Values from outside of the body: scalars and tensors that it extracts from.
  SmallVector<std::pair<Value, ElementView>> captured;

  bool isReduction() const { return !accumulators.empty(); }
};

/// How a product of matrices uses the loops of its nest.
struct Contraction {
  SmallVector<int> batch, m, n, k; // loops
  int lhs = 0, rhs = 1;            // reads; the loops m belong to lhs
  bool isFloat = true;
  bool lhsUnsigned = false, rhsUnsigned = false; // how integers are extended
  bool rowsAreM = false;                         // the rows join m
  RegisterTile tile;
  /// The m loop that tiles run along; -1: none, or the rows.
  int tileLoop = -1;
  /// Scratch for the columns of b that a register tile reads, next to each other: where they are
  /// far apart in memory, and so many rows read them that copying them first pays (`tile.panel`). -1: none.
  int panel = -1;
};

/// The flag at `buffer[offset]` is `when`.
struct Guard {
  int buffer;
  int64_t offset;
  bool when;
};

/// A perfect loop nest whose members are computed together, point by point.
struct Nest {
  SmallVector<int64_t> sizes;
  SmallVector<bool> reduced; // per loop: does it carry the reductions
  std::vector<NestMember> members;
  std::optional<Contraction> contraction;
  /// Its place among the nests of the graph as it is built, after which come copies of operands that products pack; -1: none.
  int number = -1;
  /// Numbers of nests that have joined it.
  SmallVector<int> joined;
  bool batched = false;
  /// Writes memory that inputs may share: after all other nests, for all rows.
  bool last = false;
  /// Where it does not hold, nothing reads what the nest computes: it may be left out.
  std::optional<Guard> guard;
};

struct LeafGraph {
  func::FuncOp func;
  SmallVector<Buffer> buffers;
  std::vector<Nest> nests; // in order of execution
  LeafScratch scratch;

  bool isBatched(const ElementView &view) const;
};

/// The least and the greatest index that a border is asked about in loops of these sizes.
std::pair<int64_t, int64_t> rangeOf(const Border &border, ArrayRef<int64_t> sizes);

/// Row-major strides of a static shape.
SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape);

/// Whether a type is one of those that are computed in f32.
inline bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// The type in which a member adds up what it stores as such elements.
inline Type accumulatedType(const NestMember &member, Type element) { return member.sums && isHalf(element) ? member.sums : element; }

/// Bytes of an element in memory.
int64_t storageBytes(Type type);

/// Rewrites the body so that what remains is linalg.generic, elementwise ops and
/// data movement.
LogicalResult normalizeLeaf(func::FuncOp func);

/// Rewrites a generic that has results over different loops, places that several iterations or
/// none write, or operands read along maps that divide. An error where a result uses what
/// another one has accumulated so far.
LogicalResult makeMapsPlain(IRRewriter &rewriter, linalg::GenericOp op);

/// One nest per op, in order.
FailureOr<LeafGraph> buildLeafGraph(func::FuncOp func, const LeafOptions &options);

/// Leaves of each nest the columns that one call computes: `tile` iterations of its column loop.
void cutColumns(LeafGraph &graph, const ColumnCut &cut);

/// Two loops that every access walks as if they were one become one; loop `kept` stays as it
/// is and gets its new number.
void collapseLoops(Nest &nest, int *kept = nullptr);

/// Whether the index of a dimension at which the body of a member extracts an element is known to
/// be less than the size: a constant, or a loop's.
bool isInRange(const NestMember &member, Value index, int64_t size);

/// Whether some index of the leaf is data.
bool hasDataIndices(const LeafGraph &graph);

/// Recognises products of matrices, and prepares their operands.
/// Their tiles are the given ones, or else chosen for a processor; those that they have, by nest as it was before, then for each operand
/// that is packed nothing. Emits an error and fails where a given tile is none of a product, or one that the product can't have.
FailureOr<RegisterTiles> chooseContractions(LeafGraph &graph, const CpuTarget &target);
LogicalResult takeContractions(LeafGraph &graph, const RegisterTiles &given);

/// Whether all elements of a tile of a product cross a border of a factor at the same steps of a loop of terms, and of no other, and what
/// is after it adds nothing: the loop has those steps only that are inside.
bool isTrimmedLoop(const Contraction &product, const ElementView &view, unsigned border, int loop);

/// Unites nests of equal iteration space whose values meet point by point, so
/// that these values stay in registers.
/// A loop body has no more operations than `mostOps` (`fused_ops` of a machine).
void fuseNests(LeafGraph &graph, int64_t mostOps);

/// Unites those that are given, by number. Emits an error, and fails, where values do not meet so.
LogicalResult joinNests(LeafGraph &graph, const JoinedNests &joined);

/// Gives nests their guards: inputs of one i1.
void findGuards(LeafGraph &graph);

/// Gives nests those guards that are given. Emits an error, and fails, where one does not make its nest superfluous.
LogicalResult takeGuards(LeafGraph &graph, ArrayRef<NestGuard> guards);

} // namespace mlir::ft::leaf

#endif // FT_ANALYSIS_LEAFGRAPH_LEAFGRAPH_H
