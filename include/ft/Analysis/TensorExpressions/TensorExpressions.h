//===- TensorExpressions.h - what depends on what in a graph ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The global analysis of Souffle (ASPLOS'24, §5.1 to §5.3) on a task dependence
// graph. A statement is a leaf block: of its output it says, element by element,
// which elements of each input that takes. A tensor is a buffer: who writes it, who
// shares it, how long it lives. An edge is a tensor between two statements, and says
// which tiles of the writer a tile of the reader needs.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_TENSOREXPRESSIONS_TENSOREXPRESSIONS_H
#define FT_ANALYSIS_TENSOREXPRESSIONS_TENSOREXPRESSIONS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// How many elements of an input one element of an output takes (Souffle §5.2).
enum class Reliance {
  One, ///< one-relies-on-one: an affine function of the output's index says which
  Many ///< one-relies-on-many: all elements that reduction variables range over, or that data name
};
/// `one-relies-on-one`, `one-relies-on-many`.
StringRef stringify(Reliance reliance);

/// Which tiles of what a statement reads one tile of its output needs.
enum class TileRelation {
  Identity,      ///< the tile in its own place
  Band,          ///< tiles at a bounded distance in some dimension, whatever the others are
  BlockDiagonal, ///< its own place in some dimensions, all tiles in the others
  All            ///< all tiles
};
/// `identity`, `band`, `block-diagonal`, `all`.
StringRef stringify(TileRelation relation);

/// An index of a relation: of the block, of the output's element, or of a reduction inside of the leaf's body.
struct ElementVariable {
  StringAttr name;
  /// Iterations from 0 on, of variables that the block has not; none where the size is open.
  std::optional<int64_t> size;
  /// One element of the output takes all values of it.
  bool isReduction = false;
  /// Its value is data.
  bool isData = false;
};

/// Which elements of an input one element of an output takes: {output -> index} over the variables.
struct ElementRelation {
  BlockOp statement;
  unsigned write = 0, read = 0, piece = 0;
  Value output, input;
  /// The block's dimensions (those of ancestors first), those of the output's element, reductions.
  SmallVector<ElementVariable> variables;
  /// Indices of a buffer, then of its element, over the variables and the block's symbols.
  SmallVector<AffineExpr> outputIndex, inputIndex;
  /// Where the piece of the read holds; over the same variables.
  IntegerSet where;

  Reliance getReliance() const;
};

/// `linear · variables + constant` of a one-relies-on-one relation (the paper's M and c).
struct AffineRelation {
  SmallVector<SmallVector<int64_t>> linear;
  SmallVector<int64_t> constant;
};

/// A leaf block that reads some buffer; what reads none is a constant, as the zeros are that a sum begins with.
struct TensorExpression {
  BlockOp block;
  unsigned number = 0;
  SmallVector<ElementRelation, 0> relations;
  Reliance reliance = Reliance::One;
  /// Arithmetic operations of all its iterations, and elements read (but of constants) or written, at typical lengths.
  double operations = 0, elements = 0;
  bool isComputeIntensive = false;

  double getOperationsPerElement() const { return elements > 0 ? operations / elements : 0; }
};

/// A buffer.
struct SharedTensor {
  Value buffer;
  /// `I0`: argument 0; `O3`: what statement 3 writes; `K0`: a constant.
  std::string name;
  /// At typical lengths: of all instances of a buffer that is private to a block.
  double bytes = 0;
  /// Numbers of statements, each once, in order.
  SmallVector<unsigned> writers, readers;
  bool isResult = false;
  /// Of its readers: two of which neither needs the other, and two of which one needs the other (§5.1).
  bool hasSpatialReuse = false, hasTemporalReuse = false;

  /// The first statement before which it is needed, or that writes it, and the last that needs it; results are needed to the end.
  std::pair<unsigned, unsigned> getLiveRange(unsigned numStatements) const;
};

/// What one statement hands to a later one.
struct TensorEdge {
  unsigned writer = 0, reader = 0;
  Value buffer;
  TileRelation relation = TileRelation::All;
};

class TensorExpressionAnalysis {
public:
  /// `computeIntensive`: operations for each element read or written from which on a statement is compute-intensive, a field of
  /// machines (`planning.compute_intensive`).
  TensorExpressionAnalysis(GraphOp graph, double computeIntensive);

  ArrayRef<TensorExpression> getStatements() const { return statements; }
  ArrayRef<SharedTensor> getTensors() const { return tensors; }
  ArrayRef<TensorEdge> getEdges() const { return edges; }
  const TensorExpression *find(BlockOp leaf) const;
  const SharedTensor &getTensor(Value buffer) const { return tensors[numberOf.lookup(buffer)]; }
  /// Whether the second statement needs the first one, at once or through others.
  bool needs(unsigned second, unsigned first) const { return reached[second].test(first); }

private:
  void addStatement(BlockOp leaf, const class TypicalLengths &lengths, const class SymbolSpace &space, double computeIntensive);
  void addTensors(GraphOp graph, const class TypicalLengths &lengths);
  void findReuse();
  void findEdges(const class SymbolSpace &space);

  SmallVector<TensorExpression, 0> statements;
  SmallVector<SharedTensor, 0> tensors;
  llvm::DenseMap<Value, unsigned> numberOf;
  SmallVector<TensorEdge> edges;
  std::vector<llvm::BitVector> reached;
};

/// Each output of a leaf with each of its reads; what a body does inside of what has no rule takes all elements.
SmallVector<ElementRelation, 0> getElementRelations(BlockOp leaf);

/// Arithmetic operations of one iteration of a leaf: those of `arith` and `math`, an exponential as one, without constants and
/// conversions. Open sizes count as one.
double countOperations(BlockOp leaf);

/// M and c over the block's dimensions and the output's element; none where the relation is no affine function, or lengths occur.
std::optional<AffineRelation> getAffineRelation(const ElementRelation &relation);

/// Exact, by sets over all lengths; what is not quasi-affine is `All`.
TileRelation getTileRelation(const ElementRelation &relation, const class SymbolSpace &space);

/// `{O0[i, j] -> {I0[i, rk], [0 <= rk < 64]}, 0 <= i < 64, 0 <= j < 64}`, as the paper writes relations.
std::string toString(const ElementRelation &relation, const TensorExpressionAnalysis &analysis);

/// Statements, tensors and edges, a line each, for people.
void printTensorExpressions(const TensorExpressionAnalysis &analysis, GraphOp graph, raw_ostream &os);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_TENSOREXPRESSIONS_TENSOREXPRESSIONS_H
