//===- ProgramAnalysis.h - what an imperative function does ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a prepared function (Prepare.h) to the plan of its graph (Plan.h; docs/raising.md, How). In order:
//   Blocks.cpp       loops and conditions as integer sets
//   Indices.cpp      scalar index arithmetic as quasi-affine expressions
//   Program.cpp      which tensors are one array that is updated in place
//   Cells.cpp        arrays that are written once at each cell
//   Items.cpp        what becomes a block
//   Homes.cpp        where each value is kept
//   LastWriters.cpp  the last writer of each cell, by symbolic lexmax
//   Views.cpp        every other value as pieces of what is kept
//   Steps.cpp, Leaves.cpp   nests and blocks with what they read and write
// PlanWriter.cpp makes the graph of it, and Finish.cpp its operators, regions and planes.
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_SCFTOETDG_ANALYZE_PROGRAMANALYSIS_H
#define FT_CONVERSION_SCFTOETDG_ANALYZE_PROGRAMANALYSIS_H

#include "ft/Conversion/SCFToETDG/Analyze/Plan.h"
#include "ft/Conversion/SCFToETDG/Prepare/Prepare.h"
#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::ft::raising {

/// Reads one prepared function, and changes nothing of it.
class ProgramAnalysis {
public:
  ProgramAnalysis(func::FuncOp function, Refusal &refusal)
      : function(function), context(function.getContext()), builder(context), refusal(refusal) {
    plan.function = function;
  }

  /// What the graph is written from; null where the function is refused. Lives as long as this.
  const GraphPlan *analyse();

private:
  LogicalResult refuse(Operation *op, const Twine &reason) { return refusal.refuse(op->getLoc(), reason); }
  LogicalResult refuse(Location loc, const Twine &reason) { return refusal.refuse(loc, reason); }

  // Blocks.cpp
  LogicalResult nameLengths();
  LogicalResult collectBlocks(Block &block, const BlockInfo &info);
  LogicalResult addLoop(Operation *op, Value iv, OpFoldResult lower, OpFoldResult upper,
                        OpFoldResult step, bool carries, BlockInfo &info);
  const BlockInfo &infoOf(Block *block) { return blocks[block]; }
  unsigned depthOf(Value v) { return blocks[v.getParentBlock()].depth(); }
  /// Constraints that hold wherever the block runs.
  Conjunction commonDomain(Block *block);
  SmallVector<Conjunction> boxOf(Value v);
  Conjunction box(ArrayRef<AffineExpr> sizes);
  FailureOr<LengthAttr> toLength(Operation *op, AffineExpr expr);
  /// The extent of a loop's dimension, and its smallest value.
  FailureOr<std::pair<LengthAttr, AffineExpr>> extentOf(Operation *op, const BlockInfo &info,
                                                        unsigned dim);

  // Indices.cpp
  std::optional<Cases> evalIndex(Value value);
  std::optional<Cases> evalIndex(OpFoldResult value);
  std::optional<Cases> computeIndex(Value value);
  std::optional<Cases> combineIndices(Operation *op, function_ref<AffineExpr(ArrayRef<AffineExpr>)> apply);
  std::optional<Cases> chooseIndex(OpResult value);
  std::optional<Cases> extremeIndex(OpResult value);
  std::optional<Condition> evalCondition(Value value);
  std::optional<AffineExpr> evalSingle(OpFoldResult value);
  std::optional<AffineExpr> sizeOf(Value tensor, unsigned dim);
  std::optional<SmallVector<AffineExpr>> sizesOf(Value tensor);
  /// Numbers of which a value is the maximum (or minimum): of sums and differences of such values, too.
  std::optional<SmallVector<AffineExpr>> evalEnds(OpFoldResult value, bool isMax);
  std::optional<SmallVector<AffineExpr>> evalEndsOfSum(OpFoldResult value, bool isMax);
  OpFoldResult withoutLowerBound(OpFoldResult upper, OpFoldResult lower);
  bool isNonNegative(Value at, AffineExpr expr);
  /// Every combination of the cases of several values.
  std::optional<SmallVector<std::pair<Conjunction, SmallVector<AffineExpr>>>>
  evalAll(ArrayRef<OpFoldResult> values);

  // Program.cpp
  void findStatements(Block &block);
  bool isStatementOp(Operation *op);
  bool isRepeatable(Operation *op);
  /// The value that `v` is an update of, or null.
  Value parentOf(Value v);
  bool isInPlace(OpResult result);
  void findFamilies(Block &block);
  void assignFamily(Value v, Family *family);
  LogicalResult collectWriters();
  bool isMaterialized(BlockArgument arg) { return materialized.contains(arg); }
  void findCycles();

  // Cells.cpp
  LogicalResult decideCells();
  FailureOr<bool> isWrittenOnce(Family &family);
  LogicalResult decideInsertions();
  unsigned leadingNeeded(Family &family);

  // Items.cpp
  /// Statements of a block that become one leaf, while nothing has to stand between them.
  struct Run {
    Block &block;
    SmallVector<Operation *> ops = {};
    llvm::DenseSet<Operation *> inside = {};
  };
  void planItems(Block &block);
  void planItemsOf(Operation &op, Run &run);
  void addStatement(Operation &op, Run &run);
  void addUpdate(Operation &update, Run &run);
  void closeRun(Run &run);
  bool readsRun(const Run &run, Value v, bool throughView, llvm::DenseSet<Value> &seen);
  void planScopes(Block &block, Scope *scope);
  bool writesDirectly(Writer &writer);

  // Homes.cpp
  bool isUsedOutside(Value v);
  LogicalResult placeFamily(Family &family);
  /// Where the scalars of a writer's source lie in its array, which is kept by cells.
  Place insertedPlace(const Writer &writer, const Writer::Alternative &alternative);
  void placeInsertedValues();
  LogicalResult placeReadValues();
  LogicalResult placeWriters();
  unsigned leadingOf(Value v);
  RankedTensorType elementOf(RankedTensorType type, unsigned leading);
  FailureOr<SmallVector<LengthAttr>> leadingLengths(Operation *op, Value v, unsigned leading);
  FailureOr<Place> prefixPlace(Operation *op, Block *block, Scope *scope,
                               SmallVectorImpl<LengthAttr> &lengths);
  void findEscapes();
  LogicalResult decideHomes();
  Home *createHome(Scope *scope, ArrayRef<LengthAttr> lengths, RankedTensorType element,
                   StringRef name);
  FailureOr<Place> createPlanes(Operation *op, Value value, Block *block, StringRef name);
  Scope *scopeAt(Block *block, unsigned depth);
  LogicalResult planResults();

  // LastWriters.cpp
  /// A place in the program: before or after `op`, at the iterations of its loops.
  struct Point {
    Block *block = nullptr;
    Operation *after = nullptr; // null: the beginning of the block
  };
  Point pointOf(Value member);
  bool precedes(Operation *writer, const Point &point);
  struct Candidate {
    Conjunction when;
    Writer *writer;
    SmallVector<AffineExpr> point;
    SmallVector<AffineExpr> offsets;
  };
  /// Who wrote the cells of an array as they are at a point.
  struct Question {
    Point point;
    const BlockInfo &at;
    unsigned rank;       // of the array
    unsigned own;        // loops around the array
    Conjunction context; // of the point and the cell
  };
  /// A writer's iterations that are equal in the outermost `equal` shared loops, and less in the next where strict.
  struct Order {
    unsigned equal;
    bool strict;
  };
  FailureOr<SmallVector<Candidate>> lastWriters(Family &family, Value member);
  SmallVector<Order> ordersOf(Writer &writer, const Question &question);
  Conjunction touching(Writer &writer, const Writer::Alternative &alternative, const Question &question, Order order);
  FailureOr<SmallVector<Candidate>> latestAt(Writer &writer, const Question &question, Order order);
  FailureOr<SmallVector<Candidate>> latestOf(Writer &writer, const Question &question);
  LogicalResult mergeCandidates(SmallVectorImpl<Candidate> &best, SmallVector<Candidate> more);
  FailureOr<SmallVector<Conjunction>> unwritten(Family &family, Value member);

  // Views.cpp
  FailureOr<View> viewOf(Value v);
  FailureOr<View> computeView(Value v);
  FailureOr<View> resultView(OpResult result);
  View wholeView(Place place);
  View indexView(const Cases &cases);
  FailureOr<View> argumentView(BlockArgument arg);
  FailureOr<View> constantView(Operation *op, Attribute constant);
  FailureOr<View> fillView(Operation *op, Attribute scalar, StringRef otherwise);
  FailureOr<View> branchView(OpResult result);
  FailureOr<View> familyView(Family &family, Value member);
  FailureOr<View> carriedView(BlockArgument arg);
  FailureOr<View> finalView(OpResult result);
  FailureOr<View> sliceView(Operation *op, Value source, ArrayRef<OpFoldResult> offsets,
                            ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides,
                            const llvm::SmallBitVector &dropped);
  /// The index as data: pieces of a scalar that lies in buffers; null where it is none.
  std::optional<View> gatherView(OpFoldResult offset);
  FailureOr<View> reshapeView(Operation *op, Value source, RankedTensorType to);
  /// Appends what of a view holds in each of some cases.
  LogicalResult addRestricted(View &view, const View &whole, ArrayRef<Conjunction> alternatives);
  FailureOr<View> restricted(View view, ArrayRef<Constraint> when, ArrayRef<AffineExpr> cells,
                             ArrayRef<AffineExpr> dims);
  Home *argumentHome(BlockArgument arg);
  Home *constantHome(DenseElementsAttr value);

  // Steps.cpp
  using Steps = std::vector<Step>;
  LogicalResult planBlock(Block *block, const IterationVector &at, Steps &steps);
  LogicalResult planItem(const Item &item, const IterationVector &at, Steps &steps);
  LogicalResult planLoop(const Item &item, const IterationVector &at, Steps &steps);
  LogicalResult planBranches(const Item &item, const IterationVector &at, Steps &steps);
  LogicalResult planUpdateCopy(const Item &item, const IterationVector &at, Steps &steps);
  LogicalResult planBody(Block *block, const IterationVector &at, Steps &steps);
  IterationVector extended(const IterationVector &at, Block *body);
  LogicalResult planCopy(Operation *op, const IterationVector &at, Value source, const Place &place,
                         ArrayRef<Conjunction> where, StringRef why, Steps &steps);
  unsigned leadingOfCopy(const Place &place, unsigned rank);
  SmallVector<IterationVector, 0> contextsOfCopy(const IterationVector &outer, ArrayRef<AffineExpr> sizes,
                                         ArrayRef<Conjunction> where);
  LogicalResult planResultCopies(func::ReturnOp ret, Steps &steps);

  // Leaves.cpp
  LogicalResult planRun(ArrayRef<Operation *> run, const IterationVector &at, Steps &steps);
  /// Reads of `view` as a tensor of `type`.
  FailureOr<ReadPlan> planRead(Location loc, const IterationVector &at, const View &view, RankedTensorType type);
  FailureOr<View> simplifiedPieces(const IterationVector &at, const View &view, RankedTensorType type,
                                   ArrayRef<Constraint> known);
  void joinPieces(View &pieces, ArrayRef<Constraint> known);
  bool joinPair(View &pieces, unsigned i, unsigned j, ArrayRef<Constraint> known);
  RankedTensorType wholeElementOf(const View &pieces, RankedTensorType type);
  LogicalResult overElementDims(Location loc, Piece &piece, ArrayRef<AffineExpr> elementDims);
  FailureOr<WritePlan> planWrite(Location loc, const IterationVector &at, Value value, const Place &place,
                                 ArrayRef<AffineExpr> cells);

  func::FuncOp function;
  MLIRContext *context;
  Builder builder; // of attributes
  Refusal &refusal;
  GraphPlan plan;
  RaisingSets *sets = nullptr; // the plan's
  BoundsAttr bounds;

  llvm::DenseMap<Block *, BlockInfo> blocks;
  llvm::DenseMap<Value, std::pair<const Loop *, AffineExpr>> ivs;
  llvm::DenseMap<Operation *, Condition> conditions;
  llvm::DenseMap<std::pair<unsigned, unsigned>, AffineExpr> argumentSizes;
  llvm::DenseMap<Value, std::optional<Cases>> indexCache;

  llvm::DenseSet<Operation *> statements;
  llvm::DenseMap<OpResult, bool> inPlace;
  llvm::DenseMap<Value, Family *> familyOf;
  llvm::DenseMap<Operation *, Writer *> writerOf;
  llvm::MapVector<BlockArgument, Place> materialized;

  llvm::DenseMap<Block *, SmallVector<Item>> items;
  llvm::DenseMap<Operation *, unsigned> runOf;
  unsigned numRuns = 0;
  llvm::DenseMap<Block *, Scope *> scopeOf;
  llvm::DenseSet<Block *> graphBodies;
  llvm::DenseMap<Value, unsigned> escapes;
  /// Places of a value that a statement computes; the first is where it is read.
  llvm::DenseMap<Value, SmallVector<Place, 1>> places;
  SmallVector<bool> resultCopied;
  llvm::DenseMap<Value, View> views;
  llvm::DenseMap<Value, SmallVector<Candidate>> candidates;
  llvm::DenseSet<Value> viewsInProgress;
  llvm::DenseMap<BlockArgument, Home *> argumentHomes;
  llvm::MapVector<Attribute, Home *> constantHomes;
};

} // namespace mlir::ft::raising

#endif // FT_CONVERSION_SCFTOETDG_ANALYZE_PROGRAMANALYSIS_H
