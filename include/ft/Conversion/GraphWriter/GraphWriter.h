//===- GraphWriter.h - what all front ends write graphs with ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one vocabulary that `convert-ft-to-etdg`, `convert-linalg-to-etdg` and
// `convert-scf-to-etdg` share: conditions on points, the iteration vector under which a
// block is built, where values lie in buffers and of which pieces they are, what a leaf takes
// from outside, and the graph of a function. How a value is found in buffers differs
// from one front end to the next and stays with each.
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_GRAPHWRITER_GRAPHWRITER_H
#define FT_CONVERSION_GRAPHWRITER_GRAPHWRITER_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::ft::graphwriter {

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// `expr` ≥ 0, or = 0. What dimensions and symbols of an expression stand for is the front end's to say.
struct Constraint {
  AffineExpr expr;
  bool isEquality = false;
  bool operator==(const Constraint &o) const { return expr == o.expr && isEquality == o.isEquality; }
};
/// Constraints that hold together.
using Conjunction = SmallVector<Constraint>;

/// The points that satisfy all constraints; all points where there are none.
IntegerSet makeSet(MLIRContext *context, unsigned numDims, unsigned numSymbols, ArrayRef<Constraint> constraints);

/// No division of a name, no product of names: what maps and sets of a graph can hold.
bool isAffine(ArrayRef<AffineExpr> exprs);

//===----------------------------------------------------------------------===//
// What expressions are over
//===----------------------------------------------------------------------===//

/// Dimensions of an expression are the iteration vector, outermost first, which grows at its end; symbols are first the names of
/// lengths, then the *cell*: the index in the value that is spoken of. So a value seen outside of a loop is the same inside.
struct Numbering {
  MLIRContext *context = nullptr;
  SmallVector<StringAttr> names;

  AffineExpr dim(unsigned d) const { return getAffineDimExpr(d, context); }
  AffineExpr name(unsigned i) const { return getAffineSymbolExpr(i, context); }
  AffineExpr cell(unsigned d) const { return getAffineSymbolExpr(names.size() + d, context); }
  AffineExpr constant(int64_t value) const { return getAffineConstantExpr(value, context); }
  AffineExpr length(LengthAttr length) const { return length.exprOver(names); }
  /// The expression with its cell replaced: index d by `cells[d]`.
  AffineExpr withCells(AffineExpr expr, ArrayRef<AffineExpr> cells) const;
};

//===----------------------------------------------------------------------===//
// Where values are
//===----------------------------------------------------------------------===//

/// A place in what `Home` says: a buffer, or one of a graph to be.
template <typename Home>
struct Place {
  Home home = {};
  SmallVector<AffineExpr> index;
};

/// A piece of a value: where, and from what. The source is a place, or a splat or an index.
template <typename Home>
struct Piece {
  /// Index `position` of the place is data: the integer at `at`.
  struct Gather {
    unsigned position;
    Place<Home> at;
  };

  Conjunction when;
  Place<Home> place;
  TypedAttr splat;  // else a scalar that fills it
  AffineExpr value; // else an integer
  SmallVector<Gather, 1> gathers;

  /// Puts `rewrite` of it in the place of each expression.
  void rewriteExprs(llvm::function_ref<AffineExpr(AffineExpr)> rewrite) {
    for (Constraint &constraint : when)
      constraint.expr = rewrite(constraint.expr);
    for (AffineExpr &expr : place.index)
      expr = rewrite(expr);
    if (value)
      value = rewrite(value);
    for (Gather &gather : gathers)
      for (AffineExpr &expr : gather.at.index)
        expr = rewrite(expr);
  }
};

/// A value: disjoint pieces.
template <typename Home>
using View = SmallVector<Piece<Home>, 0>;

/// The piece as a block has it: where `when` holds, over so many dimensions and symbols. `bufferOf` says what buffer a home is.
template <typename Home>
etdg::PieceAttr writePiece(etdg::BlockBuilder &block, const Piece<Home> &piece, IntegerSet when,
                           llvm::function_ref<Value(const Home &)> bufferOf) {
  if (piece.splat)
    return etdg::PieceAttr::getSplat(when, piece.splat);
  if (piece.value)
    return etdg::PieceAttr::getIndex(when, piece.value);
  MLIRContext *context = when.getContext();
  auto mapOf = [&](ArrayRef<AffineExpr> index) {
    return AffineMap::get(when.getNumDims(), when.getNumSymbols(), index, context);
  };
  int64_t operand = block.operandFor(bufferOf(piece.place.home));
  SmallVector<etdg::GatherAttr> gathers;
  for (const auto &gather : piece.gathers)
    gathers.push_back(etdg::GatherAttr::get(context, gather.position, block.operandFor(bufferOf(gather.at.home)),
                                            AffineMapAttr::get(mapOf(gather.at.index))));
  return etdg::PieceAttr::getBuffer(when, operand, mapOf(piece.place.index), gathers);
}

//===----------------------------------------------------------------------===//
// Where a block is built
//===----------------------------------------------------------------------===//

/// The iteration vector that a block runs under: dimensions of graph blocks around it, then its own.
struct IterationVector {
  SmallVector<StringAttr> dims;
  unsigned numAncestors = 0;
  SmallVector<OperatorKind> operators; // of own dimensions
  Conjunction domain;                  // of own dimensions
  Conjunction ancestors;               // what the domains around say

  unsigned numDims() const { return dims.size(); }
  /// Dimensions were opened that no block has yet.
  bool isPending() const { return numDims() > numAncestors; }
  /// Appends a dimension with a name that neither the vector nor `symbols` has.
  void open(OperatorKind kind, ArrayRef<StringAttr> symbols, MLIRContext *context);
  /// The same dimensions, all of them ancestors: what children of a graph block see.
  IterationVector asAncestors() const;
};

/// The next free name in the order i, j, …, z, d18, …: dimension number `dims.size()` starts the search.
StringAttr freshDim(ArrayRef<StringAttr> dims, ArrayRef<StringAttr> symbols, MLIRContext *context);

/// A block of this vector and domain, without reads and writes.
etdg::BlockBuilder startBlock(const IterationVector &at, ArrayRef<Constraint> domain, ArrayRef<StringAttr> symbols,
                              MLIRContext *context, unsigned number);

/// A write of whole elements at `index`, over the vector's dimensions and `symbols`.
void addWrite(etdg::BlockBuilder &block, Value buffer, ArrayRef<AffineExpr> index, unsigned numDims,
              unsigned numSymbols, MLIRContext *context);

/// The remark for a block that only moves a value; `why` says what made it necessary.
void remarkCopy(Location loc, StringRef pass, StringRef why, StringRef block);

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// What each leaf that uses it computes for itself: constants, `tensor.empty`, and scalars without side
/// effects. Buffers hold tensors, and these cost less than reading them would.
bool isRepeatable(Operation *op);

/// What statements that become one leaf take from outside.
class LeafInputs {
public:
  using Predicate = llvm::function_ref<bool(Value)>;

  /// The statements in the program's order. `repeats` says of a value from outside whether the operation that
  /// defines it is repeated in the leaf; all others are read.
  LeafInputs(ArrayRef<Operation *> statements, Predicate repeats)
      : statements(statements), inside(statements.begin(), statements.end()), repeats(repeats) {}

  /// Takes in everything that the statements use, in the order of their first use.
  void requireAll();
  /// Takes in one more value, which the leaf yields.
  void require(Value value);

  /// Values that reach the leaf as region arguments.
  ArrayRef<Value> getReads() const { return reads.getArrayRef(); }
  /// What the leaf's body holds: what is repeated, and the statements, in an order in which each finds its operands.
  SmallVector<Operation *> getOperations() const;
  /// Clones the operations at the builder's place. `mapping` holds what the reads are
  /// inside; it gets the statements' results.
  void clone(OpBuilder &builder, IRMapping &mapping) const;

private:
  bool isInside(Value value) const;

  ArrayRef<Operation *> statements;
  DenseSet<Operation *> inside;
  Predicate repeats;
  llvm::SetVector<Value> reads;
  llvm::SetVector<Operation *> repeated; // operands before users
};

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// An argument of a graph: its buffer, where it stands in the program, and its attributes.
struct GraphArgument {
  Type type;
  Location loc;
  DictionaryAttr attributes;
};

/// A graph of the function's name, attributes and body block at the builder's place, which moves to the
/// beginning of that block. The terminator is still missing.
etdg::GraphOp createGraph(OpBuilder &builder, func::FuncOp function, ArrayRef<GraphArgument> arguments,
                          TypeRange results);

} // namespace mlir::ft::graphwriter

#endif // FT_CONVERSION_GRAPHWRITER_GRAPHWRITER_H
