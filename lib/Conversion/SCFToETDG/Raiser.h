//===- Raiser.h - one imperative function to one graph ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the raising of one function (docs/raising.md, How). In order:
//   Whiles.cpp       loops that end on data get a length and a flag
//   Inductions.cpp   counters beside the induction variables
//   Simplify.cpp     conditions that are data become selects
//   Blocks.cpp       loops and conditions as integer sets
//   Indices.cpp      scalar index arithmetic as quasi-affine expressions
//   Program.cpp      which tensors are one array that is updated in place
//   Cells.cpp        arrays that are written once at each cell
//   Items.cpp        what becomes a block
//   Homes.cpp        where each value is kept
//   LastWriters.cpp  the last writer of each cell, by symbolic lexmax
//   Views.cpp        every other value as pieces of what is kept
//   Emit.cpp, Leaves.cpp   nests and blocks
//   Finish.cpp       operators, regions, planes
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_SCFTOETDG_RAISER_H
#define FT_LIB_CONVERSION_SCFTOETDG_RAISER_H

#include "Sets.h"
#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <deque>

namespace mlir::ft::raising {

/// An integer that depends on conditions; conditions are disjoint.
struct Case {
  Conjunction when;
  AffineExpr value;
};
using Cases = SmallVector<Case>;

/// Where a condition holds and where not, each as disjoint conjunctions.
struct Condition {
  SmallVector<Conjunction> yes, no;
};

/// One dimension of the iteration vector. The ends of its range are those of the
/// dimension, which is the induction variable itself where the step is 1.
struct Loop {
  unsigned dim = 0;
  AffineExpr iv;
  SmallVector<AffineExpr> lowers, uppers; // upper ends are exclusive
  bool carries = true;                    // an scf.forall carries nothing
};

/// What surrounds the operations of an IR block.
struct BlockInfo {
  SmallVector<const Loop *> loops;
  /// Disjoint alternatives; more than one below conditions such as `i != 3`.
  SmallVector<Conjunction> domains;
  unsigned depth() const { return loops.size(); }
};

/// A body whose blocks become the children of one graph block (or the graph
/// itself): buffers live in it.
struct Scope {
  Block *block = nullptr;
  unsigned depth = 0;
  Scope *parent = nullptr;
};

/// A buffer of the graph to be.
struct Home {
  Scope *scope = nullptr;
  SmallVector<LengthAttr> lengths;
  RankedTensorType element;
  bool planes = false; // of a value that a loop carries: few are needed at a time
  unsigned prefix = 0; // dimensions that are iterations
  std::string name;
  ElementsAttr constant; // its contents, where they are given
  Value buffer;          // while the scope is being emitted
  unsigned depth() const { return lengths.size(); }
};

/// A value's scalars in a home: index, then position in the element, over loops and cell.
struct Place {
  Home *home = nullptr;
  SmallVector<AffineExpr> index;
};

/// A piece of a value: where, and from what.
struct Piece {
  Conjunction when;
  Place place;
  TypedAttr splat;  // else a scalar that fills it
  AffineExpr value; // else an integer

  /// Index `position` of the place is data: the integer at `at`.
  struct Gather {
    unsigned position;
    Place at;
  };
  SmallVector<Gather, 1> gathers;
};
using View = SmallVector<Piece, 0>;

struct Family;

/// An operation that writes a box of cells of an array.
struct Writer {
  struct Alternative {
    Conjunction domain;
    SmallVector<AffineExpr> offsets;
  };
  Operation *op = nullptr;
  Value source;
  Family *family = nullptr;
  SmallVector<Alternative> alternatives;
  SmallVector<AffineExpr> sizes;
  SmallVector<int64_t> strides; // 1 where the size is
  llvm::SmallBitVector dropped; // dimensions that the source lacks
  Place place;                  // of the source, when the array is not kept by cells
  bool copies = false;          // needs a block of its own
};

/// Where `cell` is one of `size` indices from `offset` on, `stride` apart.
inline void addTouched(Conjunction &all, AffineExpr cell, AffineExpr offset, AffineExpr size,
                       int64_t stride) {
  all.push_back({cell - offset});
  all.push_back({offset + (size - 1) * stride - cell});
  if (stride != 1)
    all.push_back({(cell - offset) % stride, true});
}

/// One array that a chain of operations updates in place.
struct Family {
  Value root;
  Block *block = nullptr; // each iteration of it has an array of its own
  SmallVector<Writer *> writers;
  SmallVector<Value> members;
  bool byCells = false;         // written at most once at each cell
  unsigned leading = 0;         // dimensions that index the home; the rest is its element
  Place place;                  // where cells are
  Writer *insertedBy = nullptr; // the array is inserted whole into another one, and lives there
};

/// What an IR block computes: a sequence of runs of statements, loops, conditions and copies.
struct Item {
  enum Kind { Run, Loop, If, Copy } kind;
  SmallVector<Operation *> ops; // a run's statements, or the one operation
  Writer *writer = nullptr;     // of a copy
  Value carried;                // of a copy: a loop's state that is kept anew at each iteration
};

/// The body in whose iterations an operation runs.
inline Block *bodyOf(Operation *op) {
  Block *block = op->getBlock();
  return isa<scf::InParallelOp>(block->getParentOp()) ? block->getParentOp()->getBlock() : block;
}

/// The iteration vector of the block that is being built. Its domain repeats what the ancestors' say.
using Context = graphwriter::IterationVector;

class Raiser {
public:
  explicit Raiser(func::FuncOp function)
      : function(function), context(function.getContext()), builder(context) {}

  /// Builds the graph before `at`; null where the function is refused.
  etdg::GraphOp raise(Operation *at);

  struct Refusal {
    Location loc;
    std::string reason;
  };
  std::optional<Refusal> refusal;
  unsigned numCopies = 0, numFamilies = 0, numByCells = 0;

private:
  LogicalResult refuse(Operation *op, const Twine &reason);
  LogicalResult refuse(Location loc, const Twine &reason);

  // Whiles.cpp
  LogicalResult boundWhiles();

  // Simplify.cpp
  LogicalResult selectData();

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
  /// The operands of a maximum (or minimum), or the value alone.
  std::optional<SmallVector<AffineExpr>> evalEnds(OpFoldResult value, bool isMax);
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
  void planItems(Block &block);
  void planScopes(Block &block, Scope *scope);
  bool writesDirectly(Writer &writer);

  // Homes.cpp
  bool isUsedOutside(Value v);
  LogicalResult placeFamily(Family &family);
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
  FailureOr<SmallVector<Candidate>> lastWriters(Family &family, Value member);
  LogicalResult mergeCandidates(SmallVectorImpl<Candidate> &best, SmallVector<Candidate> more);
  FailureOr<SmallVector<Conjunction>> unwritten(Family &family, Value member);

  // Views.cpp
  FailureOr<View> viewOf(Value v);
  FailureOr<View> computeView(Value v);
  FailureOr<View> familyView(Family &family, Value member);
  FailureOr<View> carriedView(BlockArgument arg);
  FailureOr<View> finalView(OpResult result);
  FailureOr<View> sliceView(Operation *op, Value source, ArrayRef<OpFoldResult> offsets,
                            ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides,
                            const llvm::SmallBitVector &dropped);
  /// The index as data: pieces of a scalar that lies in buffers; null where it is none.
  std::optional<View> gatherView(OpFoldResult offset);
  FailureOr<View> reshapeView(Operation *op, Value source, RankedTensorType to);
  FailureOr<View> restricted(View view, ArrayRef<Constraint> when, ArrayRef<AffineExpr> cells,
                             ArrayRef<AffineExpr> dims);
  Home *argumentHome(BlockArgument arg);
  Home *constantHome(DenseElementsAttr value);

  // Emit.cpp
  LogicalResult emitItems(Block *block, const Context &context);
  LogicalResult emitItem(const Item &item, const Context &context);
  LogicalResult emitBody(Block *block, const Context &context);
  Context extended(const Context &context, Block *body);
  Value bufferOf(Home *home);
  LogicalResult emitCopy(Operation *op, const Context &context, Value source, const Place &place,
                         ArrayRef<Conjunction> where, StringRef why);
  LogicalResult emitResults(func::ReturnOp ret);
  llvm::DenseMap<Scope *, Block *> scopeBodies;
  llvm::DenseMap<Scope *, Operation *> lastBuffer;

  // Leaves.cpp
  LogicalResult emitRun(ArrayRef<Operation *> run, const Context &context);
  /// Reads of `view` as a tensor of `type`; `readType` is what the leaf sees.
  FailureOr<etdg::ReadAttr> makeRead(Location loc, etdg::BlockBuilder &spec, const Context &context,
                                     const View &view, RankedTensorType type,
                                     RankedTensorType &readType);
  LogicalResult makeWrite(Location loc, etdg::BlockBuilder &spec, const Context &context,
                          const Place &place, ArrayRef<AffineExpr> cells);
  etdg::BlockBuilder startBlock(const Context &at) {
    return graphwriter::startBlock(at, sets->reduce(at.domain, at.ancestors), sets->getNames(), context,
                                   numBlocks++);
  }
  Value reshapeTo(Location loc, Value value, RankedTensorType type);
  IntegerSet makeSet(ArrayRef<Constraint> constraints, unsigned numDims) {
    return graphwriter::makeSet(context, numDims, sets->getNames().size(), constraints);
  }

  // Finish.cpp
  LogicalResult finish();
  void findOperators();
  void splitRegions();
  void splitNest(ArrayRef<etdg::BlockOp> nest);
  void chooseLive();
  void nameFolds();

  func::FuncOp function;
  MLIRContext *context;
  OpBuilder builder;
  etdg::GraphOp graph;
  std::unique_ptr<Sets> sets;
  BoundsAttr bounds;

  llvm::DenseMap<Block *, BlockInfo> blocks;
  std::deque<Loop> loops;
  llvm::DenseMap<Value, std::pair<const Loop *, AffineExpr>> ivs;
  llvm::DenseMap<Operation *, Condition> conditions;
  llvm::DenseMap<std::pair<unsigned, unsigned>, AffineExpr> argumentSizes;
  llvm::DenseMap<Value, std::optional<Cases>> indexCache;

  llvm::DenseSet<Operation *> statements;
  llvm::DenseMap<OpResult, bool> inPlace;
  std::deque<Family> families;
  llvm::DenseMap<Value, Family *> familyOf;
  std::deque<Writer> writers;
  llvm::DenseMap<Operation *, Writer *> writerOf;
  llvm::MapVector<BlockArgument, Place> materialized;

  llvm::DenseMap<Block *, SmallVector<Item>> items;
  llvm::DenseMap<Operation *, unsigned> runOf;
  unsigned numRuns = 0;
  llvm::DenseMap<Block *, Scope *> scopeOf;
  llvm::DenseSet<Block *> graphBodies;
  std::deque<Scope> scopes;
  std::deque<Home> homes;
  llvm::DenseMap<Value, unsigned> escapes;
  /// Places of a value that a statement computes; the first is where it is read.
  llvm::DenseMap<Value, SmallVector<Place, 1>> places;
  SmallVector<Home *> resultHomes;
  SmallVector<bool> resultCopied;
  llvm::DenseMap<Value, View> views;
  llvm::DenseMap<Value, SmallVector<Candidate>> candidates;
  llvm::DenseSet<Value> viewsInProgress;
  llvm::DenseMap<BlockArgument, Home *> argumentHomes;
  llvm::MapVector<Attribute, Home *> constantHomes;
  /// Buffers by which a dimension of a nest (or lone block) carries a dependence.
  llvm::MapVector<std::pair<Operation *, unsigned>, SmallVector<Value>> carried;
  unsigned numBlocks = 0;
};

/// Inductions.cpp: counters that are affine functions of the induction variable.
void replaceInductions(func::FuncOp function);

/// What is added to `arg` in each iteration, where that is a constant.
std::optional<int64_t> inductionStep(Value yielded, BlockArgument arg);

/// `init + count * step` in the type of `init`.
Value advanceInduction(OpBuilder &b, Location loc, Value init, Value count, int64_t step);

} // namespace mlir::ft::raising

#endif // FT_LIB_CONVERSION_SCFTOETDG_RAISER_H
