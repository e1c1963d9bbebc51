//===- GpuLeaf.h - how the threads of a block share a leaf ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf on a GPU is its normal form, loop nests over buffers, and for each nest
// which part of it a thread computes: a tile in registers (`#etdg.tiling`); or the
// whole leaf works row by row, and lanes keep rows in registers
// (`#etdg.row_lanes`); or several thread blocks share its columns. These
// functions choose such layouts for a machine, and tell whether one fits a leaf.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SCHEDULE_GPU_LAYOUTS_GPULEAF_H
#define FT_SCHEDULE_GPU_LAYOUTS_GPULEAF_H

#include "ft/Analysis/LeafGraph/LeafGraph.h"
#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Machine/Machine.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <limits>

namespace mlir::ft::schedule {

using etdg::BlockOp;

/// Bytes of an element in memory; an i1 takes one.
int64_t elementBytes(Type element);

//===----------------------------------------------------------------------===//
// LeafForm.cpp
//===----------------------------------------------------------------------===//

/// How a nest of a leaf takes part where thread blocks share the columns of a
/// leaf: they share the iterations of `loop`, or each computes all, or the first alone does.
struct NestSplit {
  enum Kind { everyone, shared, first } kind = everyone;
  int loop = -1;
};

/// What an input of a leaf may be at some iterations beside memory.
struct InputForm {
  RankedTensorType type;
  bool hasIndex = false; // a number that counts along rows and lifts
  bool hasSplat = false; // one value
};

/// A leaf as loop nests over buffers.
struct LeafForm {
  BlockOp block; // null where it is a function alone
  SmallVector<InputForm> inputs;
  OwningOpRef<ModuleOp> module; // what the graph's operations live in
  leaf::LeafGraph graph;
  SmallVector<NestSplit> splits; // by nest, where columns are shared
};

/// Planes as long as storage has not said how many are kept: all.
inline int64_t keepAllPlanes(Value, unsigned) { return 0; }

/// Fills `form`. With a row dimension all rows of a task are computed at once (`rowWise`); reads that vary
/// with it differ from row to row, as do the buffers for which `isPerRow` holds. Reads that lie with gaps have their strides.
/// The machine says how many operations are computed together.
LogicalResult makeLeafForm(LeafForm &form, BlockOp block, const Machine &machine, std::optional<unsigned> rowDim, bool rowWise,
                           llvm::function_ref<bool(Value)> isPerRow,
                           llvm::function_ref<int64_t(Value, unsigned)> planesOf = keepAllPlanes);

/// By read of a leaf whether it differs from row to row; none where its call is for one row. Of a block's reads and rows nothing else decides its form.
SmallVector<bool> findReadsOfRows(BlockOp block, std::optional<unsigned> rowDim, bool rowWise, llvm::function_ref<bool(Value)> isPerRow);

/// By read of a leaf: scalars between neighbours along each dimension where it is a box with gaps, else none.
SmallVector<SmallVector<int64_t>> getReadStrides(BlockOp leaf, llvm::function_ref<int64_t(Value, unsigned)> planesOf);

/// The same as `buildLeafGraph` has it, no nests fused, with the reads that differ from row to row given.
LogicalResult buildLeafForm(LeafForm &form, BlockOp block, ArrayRef<bool> batched,
                            ArrayRef<SmallVector<int64_t>> strides = {});
/// Makes a leaf the one that a form is of, where that has the same body.
void setLeaf(LeafForm &form, BlockOp leaf);
/// The same of a function of tensors in a module of its own, which no block is around.
LogicalResult buildLeafForm(LeafForm &form, OwningOpRef<ModuleOp> module, func::FuncOp function, ArrayRef<bool> batched,
                            ArrayRef<SmallVector<int64_t>> strides = {});

/// Whether a read is of scalars that don't lie in memory as the leaf takes them (Boxes.h): such an element is put
/// together before the leaf runs, for one row and one lift.
bool readsInside(BlockOp leaf, unsigned read, llvm::function_ref<int64_t(Value, unsigned)> planesOf);

/// Whether all rows along `dim` of a leaf, or all iterations of a dimension lifted into it, can be computed
/// at once. `planesOf` as in `findRowLimit`.
bool isUniform(BlockOp leaf, unsigned dim, llvm::function_ref<int64_t(Value, unsigned)> planesOf);

/// By buffer, given those that memory or index make so: which differ from lift to lift.
SmallVector<bool> findLifted(const leaf::LeafGraph &graph, SmallVector<bool> lifted);
/// The same for a dimension of the leaf's block.
SmallVector<bool> findLifted(const LeafForm &form, unsigned dim);

//===----------------------------------------------------------------------===//
// Columns.cpp
//===----------------------------------------------------------------------===//

/// The number of columns that the leaves of one block's body (all that one iteration of it
/// runs) can share, and how each nest does; 0: they cannot. With `wanted` no other number.
int64_t shareColumns(BlockOp block, ArrayRef<LeafForm *> leaves, const Machine::GpuPlanning &planning,
                     int64_t wanted = 0);

//===----------------------------------------------------------------------===//
// Tiles.cpp
//===----------------------------------------------------------------------===//

/// Partial results of a thread block for which there is shared memory.
constexpr int64_t mostSlots = 8;

/// What surrounds a nest of a leaf.
struct TileContext {
  int64_t threads = 0;
  int64_t resident = 1; // such thread blocks share a multiprocessor's registers
  bool alone = false;   // thread blocks wait for each other, so that an SM has one
  /// Bytes of shared memory for stages of operands, beside what threads leave each other; 0: two stages have room.
  int64_t stageBytes = 0;
  int64_t maxRows = 1; // of the leaf's call
  int64_t lifts = 1;
  bool lifted = false; // the nest differs from lift to lift
  /// The loop that thread blocks share, -1 if none, and the multiple of columns that one gets.
  int splitLoop = -1;
  int64_t columnUnit = 1;
  /// Columns that a thread block gets at most, 0 if that is open.
  int64_t columnTile = 0;
  bool products = false; // the plan was made for tiles of products
  bool groups = true;    // warp groups may multiply them
  /// Bytes of shared memory that a thread can leave sums in.
  int64_t sums = etdg::ThreadBlockAttr::usualSums;
};

//===----------------------------------------------------------------------===//
// Products.cpp
//===----------------------------------------------------------------------===//

/// The tiles of both operands in shared memory; of products side by side the right operands' are one, of as many columns.
struct StagedOperands {
  tile::SharedType lhs, rhs;
  bool lhsTransposed = false, rhsTransposed = false;
  /// The right operands of so many products with so many columns each.
  tile::SharedType rhsOf(int64_t products, int64_t columns) const;
  /// The part of these that one product has: its tile, and how far the next one's begins, in elements and in stages. It has as many
  /// stages as lie in one of all.
  struct Part {
    tile::SharedType type;
    int64_t elements = 0, stages = 0, stagesOfOne = 1;
  };
  Part partOf(tile::SharedType rhs, int64_t products) const;
  int64_t getBytes() const { return llvm::alignTo(lhs.getBytes(), 16) + rhs.getBytes(); }
};

struct ProductTiles;
/// Whether matrix units can multiply these operands: halves of one type, summed up in f32.
bool fitsMatrixUnits(const ProductTiles &product);
/// Whether they pay on this machine.
bool usesMatrixUnits(const ProductTiles &product, const Machine &machine);
/// Whether warp groups can multiply nest `number` of a leaf, so far as is known before memory is placed: products of halves whose operands TMA can
/// bring.
bool fitsGroups(const LeafForm &form, unsigned number, const ProductTiles &product);
/// Whether TMA can bring boxes of the operand's matrix of a nest. Each of its axes is one run of memory, and one of them is adjacent. What follows
/// otherwise is a multiple of 16 bytes away.
bool fitsTensorMap(const LeafForm &form, const leaf::Nest &nest, const leaf::ElementView &view, ArrayRef<int> own, ArrayRef<int> terms);
/// Whether the terms of an operand are adjacent, and not its rows or columns.
bool isAlongTerms(const leaf::Nest &nest, const leaf::ElementView &view, ArrayRef<int> own, ArrayRef<int> terms);
/// Whether this machine has warp groups that multiply.
bool hasGroups(const Machine &machine);
/// Registers that a thread has beside the sums of such a product: operands, addresses, and what is computed of a tile in registers (`fuses`).
int64_t registersBeside(const ProductTiles &product, const Machine &machine, bool fuses);
/// Registers that sums of such a product may take of a thread, in blocks of so many threads of which so many are resident; `alone`: only one ever is.
int64_t registersOfSums(const ProductTiles &product, const Machine &machine, int64_t threads, int64_t resident, bool fuses, bool alone = false);
/// Sums of a product that a thread keeps in registers, at most: what the engine unrolls.
constexpr int64_t mostOwnSums = 128;

//===----------------------------------------------------------------------===//
// ProductPrices.cpp
//===----------------------------------------------------------------------===//

/// Rows and columns of a thread, and of a thread block.
struct TileSides {
  int64_t rows = 1, columns = 1, blockRows = 1, blockColumns = 1;
};
/// Seconds of the whole machine for a multiply-add of a product in such tiles, its operands' way included.
double secondsInTiles(const ProductTiles &product, const Machine &machine, const TileSides &sides);
/// The same by warp groups: products and the operands' way take place side by side.
double secondsInGroups(const ProductTiles &product, const Machine &machine, int64_t blockRows, int64_t blockColumns);
/// The same where each thread loads operands for `own` sums from the nearest cache, which gets them from that of all
/// SMs for each block's `rows` rows and `columns` columns anew.
double secondsInRows(const ProductTiles &product, const Machine &machine, double own, double rows, double columns);

/// A nest of products of matrices, computed in tiles that go through shared memory.
struct ProductTiles {
  leaf::Contraction loops; // of the leaf's nest as it is; operands are those of its first member
  /// By member, which of its reads are the operands.
  SmallVector<std::pair<int, int>> operands;
  /// Members that have the left operand in common: they are computed side by side.
  SmallVector<SmallVector<unsigned>> sweeps;
  /// The most of them in one, and tiles of sums that a thread has at a time.
  int64_t getWidest() const;
  int64_t sums = 1;
  /// Where the rows of the leaf's call go: they are the outermost digit of m or n, a batch, or there are none.
  enum class Rows { none, m, n, batch } rows = Rows::none;
  int splitLoop = -1; // that thread blocks share, one of m or n
  /// Elements of both operands, and what sums are kept in.
  Type lhs, rhs, sum;
  // By its layout:
  tile::ProductAttr attribute;
  StagedOperands staged;
  SmallVector<int> inRegisters; // buffers that nothing but the nests computed with it touches
  SmallVector<unsigned> joined; // nests after that are products, computed with it
};

/// How nest `number` of a leaf is a product; or `why` not.
std::optional<ProductTiles> matchProduct(const LeafForm &form, unsigned number, const TileContext &context, std::string &why);
/// Nests that are computed with a product, while its tile is in registers.
struct FusedNests {
  int64_t count = 0;
  SmallVector<unsigned> products; // of them
  int64_t sums = 1;               // tiles of sums that a thread has at a time, at most
};
/// Nests after that can be computed while their tile of the product is in registers. With `wholeRows` the tile holds the
/// rows of the product whole, in the lanes of a warp: then reductions along rows are such nests, and what has one value
/// for each row. With `joins` products of the same tile are such nests, too.
FusedNests findFused(const LeafForm &form, unsigned number, const ProductTiles &product, const TileContext &context,
                     bool wholeRows = false, bool joins = true, int64_t most = std::numeric_limits<int64_t>::max());
/// Whether a leaf is products of warp groups and what is computed of their sums: nothing else needs all threads of a block.
bool isAllOfGroups(const LeafForm &form, unsigned number, const ProductTiles &product, const FusedNests &behind, const TileContext &context);
/// Terms that such a leaf adds to a sum, of all its products.
int64_t termsOfGroups(const LeafForm &form, unsigned number, const FusedNests &behind);
/// What the columns of a tile of warp groups are a multiple of.
int64_t columnUnitOfGroups(const leaf::Nest &nest, const ProductTiles &product);
/// What of a joined product does not fit the one that it is computed with; empty: all does.
std::string checkJoined(tile::ProductAttr joined, tile::ProductAttr with);
/// A view of a nest after the product, as one over the product's parallel loops: what has one value for each row does not
/// move along its columns.
leaf::ElementView viewOverTile(const leaf::Nest &nest, const ProductTiles &product, leaf::ElementView view);
/// Scratch that lives in registers where so many nests after the product are computed with it.
SmallVector<int> keptInRegisters(const LeafForm &form, unsigned number, int64_t fused);
/// How many values of an element wait, at most, while an elementary function of another one is computed in the nests that are computed with
/// a product (WaitingValues.cpp): each takes as many registers as a tile of sums.
int64_t countWaiting(const leaf::LeafGraph &graph, unsigned number, int64_t fused);
/// Rows and columns of a product, as many as a thread block has at a time at most.
std::pair<int64_t, int64_t> extentsOf(const LeafForm &form, unsigned number, const ProductTiles &product,
                                      const TileContext &context);
/// The tiles of a nest where it pays to compute it so.
tile::ProductAttr chooseProduct(const LeafForm &form, unsigned number, const TileContext &context, const Machine &machine);
/// The tiles that an attribute says, or what in it does not fit the nest.
FailureOr<ProductTiles> readProduct(tile::ProductAttr attribute, const LeafForm &form, unsigned number,
                                    const TileContext &context, std::string &wrong);

/// Which part of a nest a thread computes, with its loops as `collapseLoops` leaves them.
struct Tiles {
  static constexpr int none = -1, rowLoop = -2;
  int vectorLoop = none;
  int64_t width = 1; // adjacent elements along it
  int tileLoop = none;
  int64_t tile = 1;
  int64_t group = 1;  // threads that share a point
  int64_t slices = 1; // of sums, at most
  /// Copies of the loops' bodies, as `#etdg.tiling` has them: of the tile, of the rows that are no whole tile.
  SmallVector<int64_t> unroll, restUnroll;
  std::shared_ptr<const ProductTiles> product; // instead of all this
};

/// Whether threads cut the sums of a tile of so many points into slices.
bool cutsSums(const Tiles &tiles, const leaf::Nest &nest, int64_t points, int64_t bytesOfThread);

/// How a nest's reductions end: members and results.
SmallVector<std::pair<const leaf::NestMember *, unsigned>> getReductions(const leaf::Nest &nest);
/// Bytes of shared memory for one thread's sums in a tile of so many points.
int64_t bytesOfSums(const leaf::Nest &nest, int64_t points);

Tiles chooseTiles(const leaf::LeafGraph &graph, const leaf::Nest &nest, const TileContext &context,
                  const Machine &machine);
etdg::TilingAttr toAttribute(MLIRContext *context, const Tiles &tiles);
/// The tiles that the attribute says, or what in it does not fit the nest.
FailureOr<Tiles> readTiles(etdg::TilingAttr attribute, const leaf::LeafGraph &graph, const leaf::Nest &nest,
                           const TileContext &context, const Machine &machine, std::string &wrong);

//===----------------------------------------------------------------------===//
// RowLanes.cpp
//===----------------------------------------------------------------------===//

/// One nest, its loops told apart.
struct RowNest {
  const leaf::Nest *nest;
  SmallVector<int> pointLoops; // in the order of RowPlan::points
  int rowLoop = -1;            // -1: one value for each point
  bool hoisted = false;        // the same for all points
};

struct RowPlan {
  SmallVector<int64_t> points; // extents of a leaf's row-wise points
  int64_t length = 0;          // elements of a row
  int64_t width = 1;           // adjacent elements of an access
  int64_t lanes = 0;           // that share a row: up to a warp, or a thread block
  int64_t chunks = 1;          // accesses of a lane
  int64_t parts = 1;           // rows of a lane at a time
  /// Rows begin anywhere: lanes take their elements as if a row began where a line of memory does,
  /// so that a warp meets one line and not two.
  bool shifted = false;
  int64_t threads = 0;
  int64_t registers = 0;  // that the values of a row take, about
  SmallVector<RowNest> nests;

  int64_t numPoints() const {
    int64_t count = 1;
    for (int64_t extent : points)
      count *= extent;
    return count;
  }
  /// Points that a thread block computes at a time.
  int64_t pointsAtOnce() const { return threads / lanes * parts; }
  int64_t vectors() const { return length / width; }
  static constexpr int64_t lineVectors = tile::warpThreads; // what a warp accesses at a time
};

/// How a leaf is computed row by row; nothing if it has another form.
std::optional<RowPlan> planRows(const leaf::LeafGraph &graph, bool hasRows, const Machine &machine);
etdg::RowLanesAttr toAttribute(MLIRContext *context, const RowPlan &plan);
/// The plan that the attribute says for blocks of so many threads, or what in it does not fit the leaf.
FailureOr<RowPlan> readRows(etdg::RowLanesAttr attribute, const leaf::LeafGraph &graph, bool hasRows,
                            int64_t threads, const Machine &machine, std::string &wrong);

} // namespace mlir::ft::schedule

#endif // FT_SCHEDULE_GPU_LAYOUTS_GPULEAF_H
