//===- Model.h - a graph as accesses and paths ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the validator knows of a graph: where each iteration of each leaf stands
// in the loops of the schedules, and which elements of which buffers it touches.
// Everything is rows over numbered variables: the symbols of the graph, the local
// variables of what is known about them, then the variables of one access.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_VALIDATOR_MODEL_H
#define LIB_FT_VALIDATOR_MODEL_H

#include "Conjunction.h"
#include "ft/Analysis/SymbolGroups.h"
#include "llvm/ADT/MapVector.h"

#include <memory>

namespace mlir::etdg::validator {

/// One step of the way to an iteration, from the outermost loop inwards.
struct Step {
  enum Kind {
    Text, ///< which operation of a body: `position`
    Key   ///< which iteration of a loop: row `key` of the access's keys
  } kind;
  /// Two iterations that differ here have no order.
  bool unordered;
  unsigned position = 0;
  unsigned key = 0;
  /// For messages: the loop's name.
  std::string name;
  /// Of a loop: what runs its iterations, and who waits after each of them.
  LoopLevel level = LoopLevel::None;
  SyncKind sync = SyncKind::None;
  /// Of a body: who waits before each of its operations.
  std::shared_ptr<const SmallVector<SyncKind>> waits = nullptr;
  /// The operations of a body are launches, in which all units (those of CPUs alone) begin and end together.
  enum Launches { NoLaunches, OfCpus, OfAll } launches = NoLaunches;
};

/// A loop of a block: the value of `expr` over the block's iteration vector.
struct Loop {
  AffineExpr expr;
  bool parallel;
  std::string name;
  LoopLevel level = LoopLevel::None;
  /// The same iteration is the same unit's each time.
  bool isFixed = false;
  SyncKind sync = SyncKind::None;
};

/// A loop around a leaf whose iterations, or the leaf's columns, are dealt to units.
struct Dealt {
  LoopLevel level;
  /// The step of the path that it is, or in front of which it stands.
  size_t step;
  bool isFixed = false;
  /// Its nest and its number; where it is `isFixed`, the key.
  std::pair<Operation *, unsigned> loop;
  unsigned key = 0;
};

/// A leaf block and where its iterations stand in the order.
struct Leaf {
  BlockOp block;
  SmallVector<Step> path;
  /// One for each `Key` step, over the leaf's iteration vector.
  SmallVector<AffineExpr> keys;
  /// From the outermost inwards.
  SmallVector<Dealt> dealt;
};

/// One write, piece of a read, or index of a gather.
///
/// Its *point* is the iteration vector, then the element's dimensions where the
/// read ranges over them, then one variable for each gathered index, which may be
/// any one of its dimension.
struct Access {
  enum Kind { Write, Read, Identity, GatherIndex, Result } kind;
  const Leaf *leaf; // null for a result of the graph
  Value buffer;
  unsigned index = 0, piece = 0;
  unsigned numPoint = 0;
  /// The points, over [shared | point | locals].
  Conjunction set;
  /// The element of the buffer: its owner's point, then one row per level of the buffer.
  SmallVector<Row> cell;
  /// What `cell` does not hold: indices of scalars in the element.
  SmallVector<Row> scalar;
  /// The buffer's lengths, over the same variables; none where data chooses the index.
  SmallVector<std::optional<Row>> lengths;
  SmallVector<Row> keys;
  SmallVector<StringAttr> names; // of the point's variables

  bool gathers = false;
  /// `write 0`, `read 2, piece 1`.
  std::string describe() const;
};

/// A write as a set of elements: over [shared | cell | rest], the iteration being a
/// function of the element and the rest (nothing where the map can be inverted by unit steps).
struct Image {
  const Access *write;
  unsigned numCell = 0, numRest = 0;
  Conjunction set;
  SmallVector<Row> point, keys;
};

/// A write at an element that is given, its constraints added to some conjunction.
struct Placed {
  SmallVector<Row> point, keys;
};

/// `block @r3` or `block`; `buffer 'ys'`, `argument 0`, or the type.
std::string describeBlock(BlockOp block);
std::string describeBuffer(Value buffer);

class Model {
public:
  explicit Model(GraphOp graph);

  /// Collects the leaves and their paths. Emits errors for schedules without a meaning.
  /// `report` gets the operation, the number of the check and the message.
  using Report = llvm::function_ref<void(Operation *, StringRef, const Twine &)>;
  bool build(Report report);

  GraphOp getGraph() const { return graph; }
  const SymbolSpace &getSpace() const { return symbols.getSpace(); }
  /// Symbols and the locals of facts: the variables that all accesses share.
  unsigned getNumShared() const { return numShared; }
  /// What is known of them: of all, and of those that questions about an access can depend on.
  Conjunction getFacts() const;
  const Conjunction &getFacts(const Access &access) const;

  ArrayRef<std::unique_ptr<Leaf>> getLeaves() const { return leaves; }
  /// The nests of all bodies, as blocks; a block that stands alone is left out.
  ArrayRef<SmallVector<BlockOp>> getNests() const { return nests; }
  /// Buffers in textual order.
  ArrayRef<Value> getBuffers() const { return buffers; }
  ArrayRef<std::unique_ptr<Access>> getWrites(Value buffer) const;
  ArrayRef<std::unique_ptr<Access>> getReads(Value buffer) const;
  /// How many dimensions of enclosing blocks a buffer is private to.
  unsigned getNumOwnerDims(Value buffer) const;

  /// The points of a block's domain (and its ancestors'), with `extra` more variables
  /// after its dimensions. None where a set is no Presburger set.
  std::optional<Conjunction> getDomain(BlockOp block, ArrayRef<int64_t> elementShape = {});
  /// A piece's set over the same variables.
  std::optional<Conjunction> getPieceSet(BlockOp block, IntegerSet set, unsigned numPoint);
  /// The elements of a buffer that a graph returns, as an access.
  std::optional<Access> getResult(Value buffer);

  /// A variable that is a product of lengths: it is 0, or at least 1 and each row of `where` at least 0.
  struct Product {
    unsigned variable;
    SmallVector<Row> where;
  };
  /// Visits the parts of a set in which products are 0, or not, until `visit` returns false; returns whether it never has.
  bool forEachCase(const Conjunction &set, llvm::function_ref<bool(const Conjunction &)> visit) const { return forEachCase(set, 0, visit); }
  bool hasProducts() const { return !products.empty(); }

  Image getImage(const Access &write) const;
  /// The image at `cell`; its constraints go to `target`, which gets the variables it needs.
  Placed place(const Image &image, ArrayRef<Row> cell, Conjunction &target) const;

private:
  class Flattener;
  friend class Flattener;
  /// A nest, or a block that stands alone: its blocks and what their loops are.
  struct Item {
    SmallVector<BlockOp> blocks;
    SmallVector<SmallVector<Loop>> loops; // of each block
    SmallVector<bool> unordered;          // of each loop
    SmallVector<SyncKind> syncs;          // of each loop
    /// What the leaf's columns are dealt to, and how many loops stand outside.
    SmallVector<std::pair<LoopLevel, unsigned>> columns;
    SyncKind before = SyncKind::None;
  };
  /// Where a body stands: the steps to it and their keys.
  struct Place {
    SmallVector<Step> path;
    SmallVector<AffineExpr> keys;
    SmallVector<Dealt> dealt;
    void addText(unsigned position, bool unordered = false);
    void addText(unsigned position, std::shared_ptr<const SmallVector<SyncKind>> waits, Step::Launches launches);
    void addLoop(const Loop &loop, bool unordered, SyncKind sync, std::pair<Operation *, unsigned> number);
  };
  /// The loops that the nests of a kernel share, and where a nest stands among the others.
  struct Shared {
    unsigned count = 0;
    SmallVector<bool> unordered;
    SmallVector<SyncKind> syncs;
    std::shared_ptr<const SmallVector<SyncKind>> waits;
    Step::Launches launches = Step::NoLaunches;
    unsigned position = 0;
  };
  bool buildBody(Region &body, const Place &place, Report report);
  bool buildItem(const Item &item, const Place &place, const Shared *shared, Report report);
  bool buildKernel(KernelOp kernel, const Place &place, Report report);
  std::optional<Item> getItem(Operation *op, Report report);
  std::optional<SmallVector<Loop>> getLoops(BlockOp block, ScheduleAttr schedule, Operation *owner,
                                            Report report);
  bool addAccesses(Leaf &leaf, Report report);
  bool addReads(Leaf &leaf, ArrayAttr reads, TypeRange types, Access::Kind kind, Report report);
  bool addAccess(Leaf &leaf, Access::Kind kind, unsigned index, unsigned piece, int64_t operand,
                 AffineMap map, IntegerSet set, ArrayRef<GatherAttr> gathers,
                 ArrayRef<int64_t> elementShape, Report report);

  /// Symbols that some block, buffer or fact ties together, and what is known of them. A question
  /// is about accesses of one buffer, and so of one group: others need no rows.
  struct Group {
    explicit Group(SymbolPart part) : part(std::move(part)) {}
    SymbolPart part;
    /// The shared variables that the part's symbols and then the locals of facts are.
    SmallVector<unsigned> variables;
    unsigned numEqs = 0, numGes = 0;
    Conjunction facts;
  };
  void buildGroups();
  void collectProducts();
  bool forEachCase(const Conjunction &set, unsigned from, llvm::function_ref<bool(const Conjunction &)> visit) const;
  const Group &groupOf(BlockOp block) const { return groups[groupOfBlock.lookup(block)]; }
  const Group &groupOf(Value buffer) const { return groups[groupOfBuffer.lookup(buffer)]; }

  GraphOp graph;
  SymbolGroups symbols;
  unsigned numShared = 0;
  SmallVector<Group, 0> groups;
  SmallVector<Product> products;
  llvm::DenseMap<Operation *, unsigned> groupOfBlock;
  llvm::DenseMap<Value, unsigned> groupOfBuffer;
  struct OfBuffer {
    SmallVector<std::unique_ptr<Access>, 0> writes, reads;
  };
  SmallVector<std::unique_ptr<Leaf>, 0> leaves;
  SmallVector<SmallVector<BlockOp>, 0> nests;
  SmallVector<Value> buffers;
  llvm::DenseMap<Value, OfBuffer> accesses;
};

} // namespace mlir::etdg::validator

#endif // LIB_FT_VALIDATOR_MODEL_H
