//===- OperandMaps.h - operands of products as boxes of tensors -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product's operand is a matrix whose rows and columns come from several loops. Where they are runs of two dimensions of one buffer of the call,
// its tiles are boxes of that buffer as a tensor, which TMA brings. Views that keep an index for each dimension tell which (`loops.view`).
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_OPERANDMAPS_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_OPERANDMAPS_H

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/ProductShape.h"
#include "ft/Dialect/Tile/IR/Tile.h"

namespace mlir::ft::togpu {

/// What a copy shall bring of an operand: a box of so many rows and columns, swizzled over so many bytes.
struct MapRequest {
  int64_t rows = 1, columns = 1, swizzle = 0;
  /// Which of the matrix's axes are terms of sums, and how many of these a step takes: zeros must stand for those that a last step does not have.
  enum class Terms { none, rows, columns } terms = Terms::none;
  int64_t step = 1;
};

/// Where an input of a leaf lies, under a condition if it is chosen among several places.
struct InputPlace {
  Value condition; // null: in all other cases
  Value memory;
  SmallVector<loops::ViewOp::Dim> dims; // of a place that is chosen those that its offset has terms of
  bool isChosen = false;
  bool isZero = false; // a constant
};
/// The places that a view may be of, the first whose condition holds; nothing where they are computed in another way.
SmallVector<InputPlace> inputPlacesOf(loops::ViewOp view);

/// An operand as a tensor of at most five dimensions, the slowest first.
class OperandMap {
public:
  /// Of one of the leaf's inputs. The leaf stands in a kernel that these launches run.
  OperandMap(loops::LeafOp leaf, const leaf::LeafGraph &graph, ArrayRef<loops::LaunchOp> launches)
      : leaf(leaf), graph(graph), launches(launches.begin(), launches.end()) {}

  /// Finds the tensor for a view of a nest of products whose matrix has these rows and columns; `batch` are the loops around, `loopOf` numbers all as
  /// the view does. `place` is one of its input's. The reason why there is none; empty: it is found.
  std::string read(const leaf::ElementView &view, const InputPlace &place, const Axis &rows, const Axis &columns, LoopNumber loopOf, ArrayRef<int> batch,
                   const MapRequest &request);

  tile::TensorMapType getType() const;
  /// The buffer of the call, as a launch gives it.
  loops::BufferOp bufferOf(loops::LaunchOp launch) const { return launch.getArguments()[argument].getDefiningOp<loops::BufferOp>(); }

private:
  friend class TensorShape;       // for the host
  friend class TensorCoordinates; // for threads
  /// A dimension of the buffer or of its elements; strides count numbers.
  struct Dim {
    OpFoldResult index;
    std::optional<int64_t> stride; // where it is a constant
    int64_t extent = -1;           // -1: the call decides it
    int64_t first = 0;             // that the view begins at, beside the index
    bool moves = false;            // by one from row to row of the leaf
    int buffers = -1;              // its number among those of the buffer; -1: of the element
    SmallVector<unsigned> batch = {}; // loops that move along it by one
  };
  /// Dimensions that follow each other without gaps, as one of the tensor.
  struct Group {
    unsigned first, last;
    int64_t box = 1, extent = -1; // -1: of all its dimensions
  };
  /// The rows or the columns of the matrix in memory.
  struct Run {
    std::optional<int64_t> stride; // of neighbours; nothing: that of the dimension which rows of the leaf move along
    int64_t most = 1;
    bool hasRows = false, hasColumns = false; // the leaf's rows, columns that thread blocks share, are its slowest digit
    int64_t columnsRatio = 1;                 // neighbours from one of the shared columns to the next
  };
  std::string readMemory(const leaf::Buffer &buffer, const InputPlace &place);
  std::string readDims(const InputPlace &place, loops::BufferOp buffer);
  SmallVector<loops::ViewOp::Dim> dimsOf(const InputPlace &place, loops::BufferOp buffer) const;
  bool hasStrideOf(loops::BufferOp buffer, unsigned dim, OpFoldResult stride) const;
  std::optional<int64_t> strideOf(loops::BufferOp buffer, unsigned dim) const;
  std::string readRun(const leaf::ElementView &view, const Axis &axis, LoopNumber loopOf, Run &run) const;
  std::string addOffset(int64_t offset);
  std::string addBatch(const leaf::ElementView &view, LoopNumber loopOf, ArrayRef<int> batch);
  std::string groupDims(const MapRequest &request);
  bool canSplitInside() const;
  std::string checkInside();
  std::string cutTerms(const MapRequest &request);
  std::string checkStrides() const;
  std::string merge(Group &group, const Run &run, bool all) const;
  int64_t extentOf(const Group &group) const;
  /// How many steps of the group's fastest dimension one of this dimension is.
  int64_t ratioOf(const Group &group, unsigned dim) const;
  bool isConstant(const Group &group, int64_t &first);
  int movedDim() const;

  loops::LeafOp leaf;
  const leaf::LeafGraph &graph;
  SmallVector<loops::LaunchOp> launches;
  unsigned argument = 0; // of the kernel
  Type element;
  int64_t elementNumbers = 1; // of the buffer's element
  SmallVector<Dim> dims;
  OpFoldResult inside;      // where the view begins inside of an element, counted in numbers; null: at its first one
  int64_t insideStep = 0;   // and how that grows from row to row
  bool isBatched = false;   // rows of the leaf are rows of memory
  Run rows, columns;
  SmallVector<Group> groups; // of the tensor, the slowest first
  unsigned rowGroup = 0, columnGroup = 0;
  bool splitsInside = false; // each group has its digit of `inside`; or else all of it are rows
  int64_t swizzle = 0;
};

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_OPERANDMAPS_H
