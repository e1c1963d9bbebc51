//===- Sets.h - named integer sets as Presburger sets -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bridge from domains and maps with named symbols to MLIR's Presburger
// library: one symbol space for a whole graph, quasi-affine expressions by local
// variables, exact emptiness and cover, and points to show in messages.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_SETS_H
#define FT_ANALYSIS_SETS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/PresburgerRelation.h"

namespace mlir::etdg {

/// The symbols that all sets of a graph share, and what is known of them.
///
/// A product or quotient of names (`N * M`, the length of a flattened list) is
/// not Presburger: each one is a symbol of its own, of which only the sign is
/// known.
class SymbolSpace {
public:
  /// The names of a graph's arguments and the products in its types, sets and
  /// maps. Facts: names and the arguments' lengths are not negative, `ft.bounds`,
  /// `etdg.assume`.
  explicit SymbolSpace(GraphOp graph);
  /// Names alone, each not negative.
  explicit SymbolSpace(ArrayRef<StringAttr> names);

  unsigned size() const { return names.size(); }
  ArrayRef<StringAttr> getNames() const { return names; }
  std::optional<unsigned> find(StringRef name) const;

  ArrayRef<ft::LengthAttr> getFacts() const { return facts; }
  /// Which symbols are known to be at least 0 by what they are.
  ArrayRef<bool> getNonNegative() const { return nonNegative; }

private:
  void addProducts(AffineExpr expr, ArrayRef<StringAttr> exprNames);
  void add(StringAttr name, bool isNonNegative);
  void finish();

  SmallVector<StringAttr> names;
  SmallVector<bool> nonNegative;
  SmallVector<ft::LengthAttr> facts;
};

/// `Σ coefficients · variables + constant`; variables that are not listed have coefficient 0.
struct LinearExpr {
  SmallVector<int64_t> coefficients;
  int64_t constant = 0;
  /// Once a coefficient has not fitted 64 bits, the rest means nothing.
  bool overflow = false;

  int64_t at(unsigned variable) const {
    return variable < coefficients.size() ? coefficients[variable] : 0;
  }
  void add(unsigned variable, int64_t coefficient);
  LinearExpr &operator+=(const LinearExpr &other);
  LinearExpr &operator*=(int64_t factor);
  bool isConstant() const;
  /// No overflow, and room for a few sums more.
  bool isSmall() const;
};

/// Builds a conjunction over numbered dimensions, then the symbols of a space,
/// with the space's facts. Dimension d of an expression is variable
/// `offset + d` of the set, so that one set can hold several iteration vectors.
class SetBuilder {
public:
  SetBuilder(const SymbolSpace &space, unsigned numDims);

  /// The expression over the set's variables, with local variables for
  /// divisions; none when it is no quasi-affine expression (a product of a
  /// dimension and a symbol) or a coefficient does not fit.
  std::optional<LinearExpr> flatten(AffineExpr expr, ArrayRef<StringAttr> names,
                                    unsigned offset = 0);

  LogicalResult add(IntegerSet set, ArrayRef<StringAttr> names, unsigned offset = 0);
  LogicalResult add(AffineExpr constraint, bool isEq, ArrayRef<StringAttr> names,
                    unsigned offset = 0);
  void add(LinearExpr constraint, bool isEq);
  /// a ≥ b, a = b, a < b for variables.
  void addEqual(unsigned a, unsigned b);
  void addLess(unsigned a, unsigned b);
  /// Adds a local variable, to stand for some integer.
  unsigned addLocal();
  LinearExpr variable(unsigned v) const;

  unsigned getNumDims() const { return numDims; }
  const SymbolSpace &getSpace() const { return space; }
  const presburger::IntegerPolyhedron &get() const { return poly; }

private:
  SmallVector<int64_t> toRow(const LinearExpr &expr) const;

  const SymbolSpace &space;
  unsigned numDims;
  presburger::IntegerPolyhedron poly;
  SmallVector<std::tuple<LinearExpr, int64_t, unsigned>> divisions;
};

/// A set as text of an IntegerSet gives: over `names` of dimensions, in `space`.
FailureOr<presburger::IntegerPolyhedron> toPolyhedron(IntegerSet set, ArrayRef<StringAttr> symbols,
                                                      const SymbolSpace &space);

/// The map's graph {dims → results} on the points of `domain`.
FailureOr<presburger::IntegerRelation> toRelation(AffineMap map, IntegerSet domain,
                                                  ArrayRef<StringAttr> symbols,
                                                  const SymbolSpace &space);

/// Makes dimensions [from, to) existential. Those an equality fixes disappear.
presburger::IntegerPolyhedron projectOut(presburger::IntegerPolyhedron set, unsigned from,
                                         unsigned to);

/// Exact, over all values of the symbols that the facts allow.
bool isEmpty(const presburger::IntegerPolyhedron &set);

/// What `set` has and no one of `cover` has.
presburger::PresburgerSet subtract(const presburger::IntegerPolyhedron &set,
                                   ArrayRef<presburger::IntegerPolyhedron> cover);
/// Whether every point of `set` lies in one of `cover`.
bool isCovered(const presburger::IntegerPolyhedron &set,
               ArrayRef<presburger::IntegerPolyhedron> cover);

/// A point of the set: values of its dimensions, then of its symbols; as small
/// as can be found cheaply. None when the set is empty.
std::optional<SmallVector<int64_t>> findSample(const presburger::IntegerPolyhedron &set);
std::optional<SmallVector<int64_t>> findSample(const presburger::PresburgerSet &set);

/// `N = 3, i = 2`: the symbols that the dimensions' values depend on, then the dimensions.
std::string sampleToString(ArrayRef<int64_t> sample, ArrayRef<StringAttr> dims,
                           const SymbolSpace &space);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_SETS_H
