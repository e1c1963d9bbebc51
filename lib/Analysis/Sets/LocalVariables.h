//===- LocalVariables.h - existential variables of sets ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The complement of a set with existential variables is a union of sets only where each such
// variable is a division of the others. MLIR finds what is not by symbolic integer programming,
// which for iterations that a schedule has put together (3·o + i with i in [0, 3)) takes minutes.
// Here they become divisions, or disappear, by substitution, exactly.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_ANALYSIS_SETS_LOCALVARIABLES_H
#define LIB_FT_ANALYSIS_SETS_LOCALVARIABLES_H

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::etdg {

/// Solves an equality for a variable in [from, to) with coefficient ±1 and puts it into the
/// others; the variable disappears. Exact over the integers. Returns whether one was found.
bool eliminateOne(presburger::IntegerPolyhedron &set, unsigned from, unsigned to);

/// Equalities that say what a variable is, and these variables, which no other row counts.
struct Solved {
  llvm::BitVector equalities, variables;
};

/// The same until none is found; rows and columns stay where they are. What is solved has a solution
/// whatever the others are, so that the set holds a point if its other rows do.
Solved solveAll(presburger::IntegerPolyhedron &set, unsigned from, unsigned to);

/// The same, and what is solved disappears: in time that grows with the numbers that change and with
/// the size of the set, not with one times the other.
void eliminateAll(presburger::IntegerPolyhedron &set, unsigned from, unsigned to);

/// Whether a constraint without variables is false.
bool hasFalseConstraint(const presburger::IntegerPolyhedron &set);

/// Sets whose union is `set` and whose local variables are divisions, by `m·v ≤ f < m·(v + 1)` or
/// by an equality; where no rule serves, a set keeps others. No two constraints of one of them
/// state a remainder, `0 ≤ f − m·v ≤ c` with c < m − 1, other than 0: `getLocalReprs` takes
/// those for the definition of v, which always holds.
llvm::SmallVector<presburger::IntegerPolyhedron, 0> resolveLocals(presburger::IntegerPolyhedron set);

/// Whether the set is empty, where that is not to be counted as a question of its own.
bool hasNoPoint(const presburger::IntegerPolyhedron &set);

/// Appends sets whose union is what `part` has and `piece` has not. False, and nothing appended, where
/// a local of the piece is no division.
bool subtractPiece(presburger::IntegerPolyhedron part, presburger::IntegerPolyhedron piece,
                   llvm::SmallVectorImpl<presburger::IntegerPolyhedron> &rest);

} // namespace mlir::etdg

#endif // LIB_FT_ANALYSIS_SETS_LOCALVARIABLES_H
