//===- Emitter.h - loops for the nests of one graph -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the conversion of one graph. ETDGToLoops.cpp makes the program and its kernels,
// Parallel.cpp loops that are dealt and where units wait, Loops.cpp sequential ones and regions,
// GridLoops.cpp the kernels of a schedule for a GPU, StagedLoops.cpp what their thread blocks keep, LeafCalls.cpp addresses and leaves, RowLists.cpp leaves on listed rows, ElementReads.cpp reads
// of scalars. How loops are arranged is read from the schedules.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_ETDGTOLOOPS_EMITTER_H
#define FT_LIB_CONVERSION_ETDGTOLOOPS_EMITTER_H

#include "ft/Conversion/ETDGToLoops/ETDGToLoops.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Schedule/Analysis/Boxes.h"
#include "ft/Schedule/CPU/CostModel.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/GPU/Plan/GpuPlan.h"
#include "ft/Schedule/Analysis/KeptPlanes.h"
#include "ft/Schedule/GPU/Plan/StagedReads.h"
#include "ft/Schedule/Analysis/Syncs.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace mlir::ft::toloops {

struct ElementBox;

using namespace schedule;
using etdg::BlockOp;

/// Where a buffer lies, inside the current kernel.
struct Storage {
  Value base;                  // memref<?xT>
  SmallVector<Value> strides;  // elements for each programmable dimension
  SmallVector<int64_t> planes; // kept planes, 0: all
  Value rowStride;             // of buffers that each row has for itself, else null
};

/// A buffer of the whole call.
struct CallBuffer {
  Value host; // of the program
  SmallVector<int64_t> planes;
  unsigned stridedDims = 0;
};

/// Columns of a leaf: those from `first` on, `tile` of `count`; with `width`, so many, a multiple of `tile`.
struct Columns {
  Value first;
  int64_t tile = 0, count = 0;
  Value width = {};
};

/// The point at which code is emitted: values of the dimensions fixed so far (others are null); the
/// row dimension stands for `rows` iterations from `dims[rowDim]`.
struct Point {
  SmallVector<Value> dims;
  SmallVector<unsigned> order; // own dimensions of the current nest, as they were fixed
  SmallVector<unsigned> loose; // of these, dimensions that other nests' loops have a part in
  std::optional<unsigned> rowDim;
  Value rows;
  Value rowBegin; // first row of the chunk: rows of private storage count from here
  std::optional<Columns> columns; // that leaves compute; none: all
  Value unit;                     // the number of the thread block, where it keeps what it reads
};

/// Lets the nests of a group share their first dimensions, in order, and no others.
void shareFirst(NestGroup &group, unsigned shared);

class Emitter {
public:
  Emitter(etdg::GraphOp graph, ModuleOp module, const CpuScheduleOptions &options);
  /// For schedules of a GPU.
  Emitter(etdg::GraphOp graph, ModuleOp module, const GpuScheduleOptions &options);
  LogicalResult emitProgram();

private:
  using PointBody = llvm::function_ref<LogicalResult(Point)>;

  // ETDGToLoops.cpp
  void makeProgram();
  LogicalResult emitVariants(etdg::VariantsOp variants, unsigned &number);
  /// Kernels for the groups of a body, in its order.
  LogicalResult emitBody(Region &body, unsigned &number);
  void addBuffer(Value value, loops::BufferKind kind, std::optional<int64_t> index, SmallVector<int64_t> planes,
                 Attribute contents = {}, std::optional<int64_t> slot = {});
  void declareArgument(BlockArgument argument);
  LogicalResult emitKernel(const NestGroup &group, StringRef name);
  void beginKernel(StringRef name);
  /// Ends the kernel and launches it, or an equal one that is there already.
  void finishKernel(StringRef plan, double seconds);
  /// What the program gives to the kernel, as the kernel has it.
  Value kernelArgument(Value host, Type type);
  Value bufferBase(Value host, Type elementType);
  Value splat(RankedTensorType element, Attribute value);
  Value symbolArgument(StringAttr name);
  Value lengthValue(LengthAttr length);
  Value affineValue(AffineExpr expr, BlockOp block, const Point &point);
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  template <class Op>
  Value make(Value a, Value b) {
    return builder.createOrFold<Op>(loc, a, b);
  }
  void declareIntermediate(etdg::BufferOp buffer);
  LogicalResult declarePrivate(etdg::BufferOp buffer, std::optional<unsigned> rowDim);
  /// Memory of one iteration of the innermost parallel loop around, or of the kernel.
  Value emitAlloc(Type elementType, Value size, loops::MemoryAttr memory = {});
  /// Emits the body of a parallel loop, with memory of its own.
  LogicalResult inParallelBody(Block *body, llvm::function_ref<LogicalResult()> emit);

  // Parallel.cpp
  LogicalResult emitTeamKernel(const NestGroup &group);
  /// Loops of the kernel itself. `waitsBehind`: by the schedule units see after it what all did.
  LogicalResult emitTeamNest(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan, bool waitsBehind);
  LogicalResult emitTeamSteps(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan);
  LogicalResult emitTeamBody(ArrayRef<BlockOp> nest, Point point, bool waitsBehind);
  LogicalResult emitTeamChildren(BlockOp block, Point point, bool waitsBehind);
  /// The nests of a group, one of them; `waitsAtEnd`: units wait after the last one.
  LogicalResult emitTeamGroup(const NestGroup &group, const Point &point, bool waitsBehind);
  LogicalResult emitTeamMember(const NestGroup &group, size_t number, ArrayRef<BlockOp> nest, Point point, bool waitsAtEnd);
  void emitSync();
  /// The parallel loops of a plan, what is left of them, and what is inside.
  LogicalResult emitParallel(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan, loops::LevelAttr level,
                             ArrayRef<unsigned> shared);
  /// A loop over the points of one dimension.
  LogicalResult emitPoints(ArrayRef<BlockOp> nest, Point point, unsigned dim, loops::LevelAttr level,
                           llvm::function_ref<void(const Point &)> before, PointBody body);
  /// A loop over chunks of rows, at most `most`, of `unit` or a multiple where that is given.
  LogicalResult emitRowChunks(ArrayRef<BlockOp> nest, Point point, unsigned dim, int64_t most, std::optional<int64_t> unit,
                              loops::LevelAttr level, llvm::function_ref<void(const Point &)> before, PointBody body);
  LogicalResult emitInner(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan, loops::LevelAttr level = {});
  /// A loop over tiles of the leaf's columns; the last tile may have fewer, and then leaves of its own.
  LogicalResult emitColumns(Point point, const NestPlan &plan, loops::LevelAttr level, PointBody body);
  /// How many points the dimensions have.
  Value emitUnitCount(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> dims);
  /// What an iteration of the next loop weighs at a point: as one of the dearest region that may
  /// have points there.
  void emitWeight(ArrayRef<BlockOp> nest, const NestPlan &plan, const Point &point);

  // GridLoops.cpp
  /// Nests that thread blocks run in one launch.
  struct GridKernel {
    SmallVector<SmallVector<BlockOp>> nests;
    std::vector<GpuPlan> plans;
    GpuPlace place;
    /// After the kernel's exit: a leaf for each nest, and its plan.
    etdg::ExitAttr exit;
    SmallVector<BlockOp> ended;
    std::vector<GpuPlan> endedPlans;
  };
  LogicalResult emitGridBody(Region &body, unsigned &number);
  FailureOr<GridKernel> readGridKernel(Operation *item);
  LogicalResult readEnded(etdg::KernelOp kernel, GridKernel &read);
  /// Which loops of the leaves are over the columns; an error where they have no such.
  LogicalResult findCuts(ArrayRef<BlockOp> nest, const GpuPlan &plan);
  LogicalResult emitGridKernel(const GridKernel &kernel, StringRef name);
  /// The steps that a nest has beside the shared ones, from number `step` on, and its points.
  LogicalResult emitGridSteps(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point, unsigned step);
  /// What is dealt to the thread blocks, and what each of them runs.
  LogicalResult emitDealt(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point, ArrayRef<unsigned> dims);
  /// The same where thread blocks keep what they read: loops over all that there is in any step, each point the same block's.
  LogicalResult emitFixed(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point);
  LogicalResult emitDealtColumns(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point);
  LogicalResult emitDealtRows(ArrayRef<BlockOp> nest, const GpuPlan &plan, Point point);

  // StagedLoops.cpp
  /// Memory for what thread blocks keep of a nest's reads, and the loops that copy it there.
  LogicalResult emitStaging(ArrayRef<BlockOp> nest, const GpuPlan &plan);
  /// Loops of the grid over the fixed points of a nest, and its columns; `body` gets the number of the point's thread block.
  using FixedBody = llvm::function_ref<LogicalResult(Point, Value unit)>;
  LogicalResult emitFixedLoops(ArrayRef<BlockOp> nest, const GpuPlan &plan, const FixedPoints &points, Point point, FixedBody body);
  void emitStagedCopy(BlockOp block, const StagedRead &staged, Value memory, const Point &point, Value unit);
  /// Says of shared memory that a nest reads how many iterations of the loop around it others of the group have written it before.
  void emitStaged(const NestGroup &group, ArrayRef<BlockOp> nest, ArrayRef<unsigned> fixed);
  /// Whether a fixed point is one of this step's; null: always.
  Value emitIsThere(ArrayRef<BlockOp> nest, const FixedPoints &points, const Point &point);

  // GridLoops.cpp
  /// A nest inside of what one thread block runs.
  LogicalResult emitBlockNest(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed);

  // Exits.cpp
  using NestBody = llvm::function_ref<LogicalResult(ArrayRef<BlockOp>, Point, ArrayRef<unsigned>)>;
  /// The steps of a kernel that units leave together, then what `ended`, a leaf for each nest, does in those that are left.
  LogicalResult emitLeaving(const NestGroup &group, etdg::ExitAttr exit, ArrayRef<BlockOp> ended, NestBody body, NestBody endedBody);
  /// One iteration of the dimension that nests share.
  LogicalResult emitStep(const NestGroup &group, Value step, NestBody body);
  Value emitGoesOn(BlockOp writer, unsigned write, Value step, Value lower, Value upper);
  /// The leaves after a kernel's exit; a located refusal where it has no such exit.
  FailureOr<SmallVector<BlockOp>> endedLeaves(etdg::KernelOp kernel);

  // Loops.cpp
  /// The loops that a group's nests have in common, and `body` for each nest inside.
  LogicalResult emitGroup(const NestGroup &group, const Point &point,
                          llvm::function_ref<LogicalResult(ArrayRef<BlockOp>, Point, ArrayRef<unsigned>)> body);
  LogicalResult emitCoreNest(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> fixed);
  LogicalResult emitLoops(ArrayRef<BlockOp> nest, Point point, ArrayRef<unsigned> remaining, PointBody body,
                          ArrayRef<unsigned> unrolled = {});
  void sayRounding(scf::ForOp loop, ArrayRef<BlockOp> nest, unsigned dim);
  /// The same, some over tiles; `tiles` holds where the tile of a dimension begins and ends.
  using Tiles = llvm::SmallDenseMap<unsigned, std::pair<Value, Value>>;
  LogicalResult emitTiledLoops(ArrayRef<BlockOp> nest, Point point, ArrayRef<schedule::TileLoop> remaining, Tiles tiles,
                               PointBody body, ArrayRef<unsigned> unrolled);
  /// The loops inside one point of what is shared.
  LogicalResult emitInnerLoops(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan, PointBody body) {
    return plan.tiled.empty() ? emitLoops(nest, point, plan.inner, body, plan.unrolled)
                              : emitTiledLoops(nest, point, plan.tiled, Tiles(), body, plan.unrolled);
  }
  LogicalResult emitRegions(ArrayRef<BlockOp> nest, Point point);
  LogicalResult emitRegions(ArrayRef<BlockOp> nest, Point point,
                            llvm::function_ref<LogicalResult(BlockOp, Point)> body);
  Value emitMoves(BlockOp leaf);
  LogicalResult emitBlock(BlockOp block, Point point);
  LogicalResult emitGraphBody(Region &body, Point point);
  LogicalResult checkBounds(ArrayRef<BlockOp> nest, unsigned dim, const Point &point);
  std::pair<Value, Value> emitBounds(ArrayRef<BlockOp> nest, unsigned dim, const Point &point);
  /// Runs of rows along which no constraint changes its truth and no plane wraps around.
  struct RunLimits {
    SmallVector<std::tuple<AffineExpr, bool, BlockOp>> constraints; // of a block: ≥ 0, or = 0 where true
    SmallVector<std::pair<AffineExpr, int64_t>> planes;             // position and its modulus
  };
  LogicalResult emitRuns(BlockOp block, const Point &point, const RunLimits &limits, PointBody body);
  Value emitRunLength(const Point &point, BlockOp block, const RunLimits &limits);
  LogicalResult emitSingleRows(const Point &point, PointBody body);

  // LeafCalls.cpp
  /// Where an operand's rows lie: at a flat offset, which grows by `rowStride` from row to row. Thread blocks know it by the
  /// dimensions of a buffer until something asks for the offset.
  struct Address {
    Value base, offset, rowStride;
    SmallVector<loops::ViewOp::Dim> dims = {};
  };
  void addIndex(Address &address, Value index, Value stride);
  /// By how much the last index grows from row to row.
  void addStep(Address &address, Value step, Value stride);
  /// Computes the flat offset, where it is not known.
  void computeOffset(Address &address);
  LogicalResult emitLeaf(BlockOp block, Point point);
  /// Between which rows of a leaf pieces change, or kept planes begin anew.
  RunLimits limitsOfRuns(BlockOp block, unsigned row);
  FailureOr<Address> emitReadAddress(BlockOp block, unsigned read, const Point &point, bool rowWise, bool strided = false);
  /// The strides at which a leaf takes a read in place; none where they are its element's own.
  SmallVector<int64_t> stridesOfRead(BlockOp block, unsigned read);
  /// The memory of `rows` rows of an operand, as a leaf takes it.
  Value emitRowsView(const Address &address, RankedTensorType element, Value rows, ArrayRef<int64_t> strides = {});
  Value emitKeptView(const Address &address, RankedTensorType element, Value rows, ArrayRef<int64_t> strides);
  LogicalResult emitLeafCall(BlockOp block, const Point &point, bool rowWise);
  /// The operation of a leaf, with the body of `block`.
  loops::LeafOp emitLeafOp(BlockOp block, ArrayAttr overlaps, Value rows, int64_t most, Value list, ValueRange inputs, ArrayRef<bool> varies,
                  ValueRange outputs, std::optional<Columns> columns = {}, ArrayAttr layouts = {});
  void sayHanded(loops::LeafOp leaf, BlockOp block, const Point &point);
  /// Overlaps.cpp: which outputs of a leaf may lie where it reads; of several that one call computes, where any of them reads.
  ArrayAttr overlapsOf(ArrayRef<BlockOp> leaves);
  /// A piece that is no memory, as thread blocks take it.
  Address emitValuePiece(BlockOp block, etdg::PieceAttr piece, RankedTensorType element, const Point &point, bool useRows);
  FailureOr<Address> emitPiece(BlockOp block, etdg::PieceAttr piece, RankedTensorType element, const Point &point,
                               bool useRows);
  Address emitBufferAddress(BlockOp block, Value buffer, AffineMap map, ArrayRef<Value> overrides, const Point &point,
                            bool useRows);
  const Storage &storageOf(Value buffer);
  Value emitCondition(IntegerSet set, BlockOp block, const Point &point);
  Value emitGatherIndex(BlockOp block, etdg::GatherAttr gather, Value bound, const Point &point);
  /// Loops of scalars that LLVM may turn into vectors; it leaves all others as they are.
  void askForVectors(Operation *loop);
  /// A loop that LLVM unrolls: all of it where its length is a constant.
  void askToUnroll(Operation *loop);
  /// Memory for elements that are put together, for `rows` rows, and where the current one begins.
  std::pair<Value, Value> emitScratch(RankedTensorType element, int64_t rows);

  // ElementReads.cpp
  Address emitBoxAddress(BlockOp block, const Box &box, const Point &point, bool useRows);
  FailureOr<Address> emitElementRead(BlockOp block, etdg::ReadAttr read, RankedTensorType element, const Point &point);
  /// Stores the scalars of one box of the element, of which some have each of the pieces.
  void emitElementBox(BlockOp block, const ElementBox &box, ArrayRef<etdg::PieceAttr> pieces, RankedTensorType element,
                      const Point &point, const Address &address);
  Value emitScalar(BlockOp block, ArrayRef<etdg::PieceAttr> pieces, RankedTensorType element, const Point &point);

  // RowLists.cpp
  /// Regions that fill one list, and the list.
  struct RowList {
    RowGroup group;
    Value list;
  };
  SmallVector<RowList> makeLists(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims);
  LogicalResult emitAppend(BlockOp block, const Point &point, bool rowWise);
  LogicalResult emitListCall(const RowList &list, const Point &point);
  /// The parts of lines whose points, numbered in order, are in [begin, end). Ranges are those at
  /// `bounds`; `point` has the inner dimensions, too.
  LogicalResult emitLines(ArrayRef<BlockOp> nest, Point bounds, Point point, ArrayRef<unsigned> dims, Value begin,
                          Value end, Value &count, PointBody body);
  LogicalResult emitListedRows(ArrayRef<BlockOp> nest, Point point, const NestPlan &plan, loops::LevelAttr level);

  etdg::GraphOp graph;
  ModuleOp module;
  const GpuScheduleOptions *gpu = nullptr; // null: schedules are for a CPU
  CostModel costs;
  OpBuilder builder, host; // of the kernel; of the program
  MLIRContext *context;
  Location loc;

  loops::ProgramOp program;
  Block *variant = nullptr; // of the program, that launches stand in; null: its own body
  llvm::StringMap<Value> lengths;            // by name, in the program
  llvm::DenseMap<Value, CallBuffer> buffers; // by the graph's
  schedule::KeptPlanes kept;
  llvm::DenseMap<std::pair<Type, Attribute>, Value> splats;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> strides; // of arguments, in the program
  SmallVector<Attribute> places;
  llvm::StringMap<std::string> kernelsByCode;

  // Of the current kernel.
  func::FuncOp kernel;
  SmallVector<Value> given;    // the program's values, in the order of the kernel's arguments
  OpBuilder::InsertPoint entry; // where values go that the whole kernel shares
  llvm::DenseMap<Value, Value> arguments;
  llvm::DenseMap<Value, Storage> storage;
  bool isOpen = false; // nests have run, at some lengths, for which units have not waited
  Value chunkRows; // rows of the chunk around: private storage is made for them
  int64_t maxRows = 1;
  llvm::DenseMap<std::pair<Operation *, unsigned>, Value> stagedMemory; // by leaf and read
  llvm::DenseMap<Operation *, SmallVector<int64_t>> cuts; // of leaves whose columns are shared
  struct Scope {
    OpBuilder::InsertPoint at;
    SmallVector<Value> toFree;
  };
  Scope kernelScope, *scope = nullptr; // of the kernel; the innermost
  SmallVectorImpl<RowList> *rowLists = nullptr; // rows are listed, leaves come later
  Value currentList;                            // to which a row is being added
};

} // namespace mlir::ft::toloops

#endif // FT_LIB_CONVERSION_ETDGTOLOOPS_EMITTER_H
