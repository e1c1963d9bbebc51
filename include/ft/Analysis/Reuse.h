//===- Reuse.h - which dimensions carry reuse -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FT §5.2: two iterations that differ by a vector of an access's null space refer
// to the same place. In bytes, so that dimensions can be compared.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_REUSE_H
#define FT_ANALYSIS_REUSE_H

#include "ft/Analysis/Dependences.h"
#include "ft/Analysis/Extents.h"

namespace mlir::etdg {

/// What an iteration of a nest reads, and in which directions it stays the same.
class NestReuse {
public:
  NestReuse(DependenceAnalysis &analysis, ArrayRef<BlockOp> nest, const TypicalLengths &lengths);

  /// Bytes read in one iteration that the iteration one step further in
  /// `direction` (over the own dimensions) reads again; blocks weighed by how
  /// many iterations they typically have.
  double getReusedBytes(ArrayRef<int64_t> direction) const;
  /// All bytes read in one iteration.
  double getBytes() const;

private:
  struct AccessReuse {
    IntegerMatrix rows; // places over the own dimensions
    double bytes;
  };
  SmallVector<AccessReuse> accesses;
};

/// The place of an access in one iteration of a unit that has `numDims`
/// dimensions: typically how many bytes its inner dimensions make of it.
double getFootprint(Access &access, const AccessMatrix &matrix, unsigned numDims,
                    const SymbolSpace &space, const TypicalLengths &lengths);

} // namespace mlir::etdg

#endif // FT_ANALYSIS_REUSE_H
