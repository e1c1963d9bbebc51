//===- HoistPlan.h - where a value is computed once, and whether -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_HOISTPLAN_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_HOISTPLAN_H

#include "HoistDomain.h"
#include "HoistInvariants.h"

namespace mlir::etdg::hoist {

/// What is known of a graph.
struct Context {
  Context(GraphOp graph, const Settings &settings)
      : settings(settings), space(graph), lengths(graph) {}

  const Settings &settings;
  SymbolSpace space;
  TypicalLengths lengths;
  CommonNames names;
};

/// A group's value in blocks of its own.
class GroupPlan {
public:
  GroupPlan(Context &context, const HoistGroup &group, Block &body);
  /// False: `rule` and `reason` say why not.
  bool make();

  Placement placement;
  SmallVector<unsigned> repeated; // dimensions of the first member along which it is the same
  double operations = 0, operationsAfter = 0; // at typical lengths
  double seconds = 0, secondsAfter = 0;       // then, as the machine's numbers have them
  ft::LengthAttr bytes;                       // of the buffer; null where that is no length
  std::string rule, reason;

private:
  bool refuse(StringRef rule, std::string reason);
  bool project();
  bool place();
  void countBefore();
  bool isTooMuch(double then);
  BlockOp findOtherRegion() const;
  bool isWorthIt();
  double countPoints(DomainSolver &solver, const Domain &domain, const llvm::SmallBitVector *dims,
                     unsigned numDims);
  double getOverhead() const;
  double getReadersSeconds();

  Context &context;
  const HoistGroup &group;
  Block &body;
  BlockOp leaf; // of the first member
  const Repeat &first;
  unsigned outerDims, numDims;

  Domain outer;               // around the body
  SmallVector<Domain> whole;  // of each member, inside the body
  SmallVector<Domain> parts;  // the same without the invariant dimensions
  SmallVector<Domain> united; // of the new blocks
  SmallVector<StringAttr> names;

  // In one run of the body.
  double around = 1, readers = 0, before = 0, after = 0;
  Work old;
};

} // namespace mlir::etdg::hoist

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_HOISTPLAN_H
