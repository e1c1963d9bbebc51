//===- Conjunction.h - affine constraints, with a quick test ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conjunctions of affine constraints over integers as rows of 64-bit numbers.
// Most questions of the validator are settled here, by substitution and
// Fourier–Motzkin elimination with integer tightening, which proves emptiness;
// what that leaves open is asked of MLIR's Presburger library, which is exact.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_VALIDATOR_CONJUNCTION_H
#define LIB_FT_VALIDATOR_CONJUNCTION_H

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace mlir::etdg::validator {

/// `Σ coefficients · variables + constant`; variables past the end have coefficient 0.
struct Row {
  llvm::SmallVector<int64_t, 14> coefficients;
  int64_t constant = 0;
  /// A number has not fitted: the row means nothing.
  bool overflow = false;

  static Row variable(unsigned v) {
    Row row;
    row.add(v, 1);
    return row;
  }
  static Row number(int64_t value) {
    Row row;
    row.addConstant(value);
    return row;
  }
  int64_t at(unsigned v) const { return v < coefficients.size() ? coefficients[v] : 0; }
  void add(unsigned v, int64_t factor);
  void addScaled(const Row &other, int64_t factor);
  void addConstant(int64_t value);
  /// -row
  Row negated() const;
  /// this - other
  Row minus(const Row &other) const;
  /// Drops trailing zeros, so that equal rows compare equal.
  void trim();
  bool isConstant() const;
};

/// What is known of a set. `Open` where numbers have left 64 bits.
enum class Emptiness { Empty, NotEmpty, Open };

class Conjunction {
public:
  explicit Conjunction(unsigned numVars = 0) : numVars(numVars) {}

  unsigned getNumVars() const { return numVars; }
  unsigned addVar() { return numVars++; }
  void reserveVars(unsigned count) { numVars = std::max(numVars, count); }

  /// row = 0, row ≥ 0: divided by the greatest common divisor, the constant rounded down.
  void addEq(Row row);
  void addGe(Row row);
  /// row ≤ -1: where a constraint fails.
  void addNegated(const Row &row);
  /// All of another's constraints, over the same variables.
  void add(const Conjunction &other);

  llvm::ArrayRef<Row> getEqs() const { return eqs; }
  llvm::ArrayRef<Row> getGes() const { return ges; }
  /// A constraint is false by itself.
  bool isFalse() const { return contradiction; }
  bool hasOverflow() const { return overflow; }

  /// Solves equalities for variables in [from, to) with coefficient ±1 and puts
  /// them into everything else, `tracked` too. Exact. Returns which were solved.
  llvm::SmallVector<unsigned> eliminate(unsigned from, unsigned to,
                                        llvm::MutableArrayRef<Row> tracked = {});

  /// Whether some constraint says `row ≥ 0` as it stands, or something stronger.
  bool states(const Row &row) const;

  /// Whether there is provably no integer point. `false` means that nothing is known.
  bool isProvedEmpty() const;
  /// The exact answer.
  Emptiness isEmpty() const;

  /// With `dims` as set dimensions, the first `numSymbols` variables as symbols and the rest as
  /// locals.
  presburger::IntegerPolyhedron toPolyhedron(llvm::ArrayRef<unsigned> dims,
                                             unsigned numSymbols) const;

private:
  unsigned numVars;
  llvm::SmallVector<Row, 0> eqs, ges;
  bool contradiction = false, overflow = false;
};

/// Whether every point of `set` provably lies in one of `cover`, which use no more variables
/// than it. `false` means that nothing is known.
bool isProvedCovered(const Conjunction &set, llvm::ArrayRef<Conjunction> cover);

} // namespace mlir::etdg::validator

#endif // LIB_FT_VALIDATOR_CONJUNCTION_H
