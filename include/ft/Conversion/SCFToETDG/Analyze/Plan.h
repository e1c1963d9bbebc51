//===- Plan.h - what raising knows of a program -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain data, which ProgramAnalysis fills in and PlanWriter makes a graph of: loops and
// domains, arrays and who writes them, buffers, and the blocks of the graph to be with
// what each reads and writes. PrintPlan.cpp prints it.
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_SCFTOETDG_ANALYZE_PLAN_H
#define FT_CONVERSION_SCFTOETDG_ANALYZE_PLAN_H

#include "ft/Conversion/SCFToETDG/Analyze/RaisingSets.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallBitVector.h"
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
  unsigned depth() const { return lengths.size(); }
};

/// A value's scalars in a home: index, then position in the element, over loops and cell.
using Place = graphwriter::Place<Home *>;
using Piece = graphwriter::Piece<Home *>;
using View = graphwriter::View<Home *>;

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

/// Of the block that is being built. Its domain repeats what the ancestors' say.
using graphwriter::IterationVector;

/// What a leaf reads: pieces over the dimensions of the iteration vector, then those of the element.
struct ReadPlan {
  Value value; // of the program, which the leaf's operations use
  View pieces; // no expression has a cell
  unsigned elementRank = 0;
  RankedTensorType type; // what the leaf sees
};

/// What a leaf writes: a value of the program, at an index over the iteration vector.
struct WritePlan {
  Value value;
  Home *home = nullptr;
  SmallVector<AffineExpr> index;
};

/// A block of the graph to be, or a nest of blocks.
struct Step {
  enum Kind { Leaf, Nest, Body } kind;
  Location loc;
  IterationVector at = {};     // under which a leaf or body stands
  unsigned number = 0; // names a leaf or body

  /// Of a leaf: what it computes, in the order of its body. A copy computes nothing.
  SmallVector<Operation *> operations = {};
  SmallVector<ReadPlan> reads = {};
  SmallVector<WritePlan> writes = {};
  std::string why = {}; // of a copy: what made it necessary

  /// Of a nest or body; a body without any is none.
  std::vector<Step> steps = {};
  Scope *scope = nullptr; // of a body: its buffers
};

/// Everything that the graph of one function is written from.
struct GraphPlan {
  func::FuncOp function;
  std::unique_ptr<RaisingSets> sets;
  std::deque<Loop> loops;
  std::deque<Family> families;
  std::deque<Writer> writers;
  std::deque<Scope> scopes; // the first is the graph
  std::deque<Home> homes;
  SmallVector<Home *> arguments, results;
  std::vector<Step> steps;
  unsigned numBlocks = 0, numCopies = 0;

  void print(raw_ostream &os) const;
};

} // namespace mlir::ft::raising

#endif // FT_CONVERSION_SCFTOETDG_ANALYZE_PLAN_H
