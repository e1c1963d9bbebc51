//===- IndexForms.h - what indices are, as sums of products -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether two addresses are one, in two iterations of a loop, is asked of sums of products of what nothing knows: lengths, indices of loops around,
// remainders and quotients. Equal forms are equal indices; of others nothing is said.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_INDEXFORMS_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_INDEXFORMS_H

#include "ft/Dialect/Loops/IR/Loops.h"

#include <map>

namespace mlir::ft::togpu {

/// A sum of products of unknowns, which are numbered.
class IndexForm {
public:
  IndexForm(int64_t constant = 0);
  static IndexForm ofUnknown(unsigned number);
  IndexForm operator+(const IndexForm &other) const;
  IndexForm operator-(const IndexForm &other) const;
  IndexForm operator*(const IndexForm &other) const;
  /// (A form that 64 bits do not hold equals none.)
  bool operator==(const IndexForm &other) const { return isExact && other.isExact && terms == other.terms; }
  std::optional<int64_t> getConstant() const;
  /// Whether it is a multiple of a number for all that the unknowns may be.
  bool isMultipleOf(int64_t divisor) const;
  /// Whether no product is less than 0 where the unknowns that `isNever` holds for are not.
  bool isNeverNegative(llvm::function_ref<bool(unsigned)> isNever) const;

private:
  void add(const std::vector<unsigned> &product, int64_t factor);

  std::map<std::vector<unsigned>, int64_t> terms; // by the sorted numbers of a product's unknowns; no factor is 0
  bool isExact = true;
};

/// Where values are looked at: what indices of loops are there, and what is known beside.
struct IndexPlace {
  llvm::DenseMap<Value, IndexForm> bound;
  SmallVector<IndexForm> notNegative;
  Operation *within = nullptr; // a loop; what is made in it and not told by its index differs between its iterations
};

/// The forms of a kernel's values.
class IndexForms {
public:
  explicit IndexForms(ArrayRef<loops::LaunchOp> launches) : launches(launches.begin(), launches.end()) {}

  /// Some number that is not negative, another one each time.
  IndexForm notNegative();
  /// Nothing where the value differs between iterations in a way that has no form.
  std::optional<IndexForm> formOf(Value value, const IndexPlace &place);
  std::optional<IndexForm> formOf(OpFoldResult value, const IndexPlace &place);
  /// The number of a view's first element in its memory, and by how much that grows from row to row.
  std::optional<IndexForm> beginOf(loops::ViewOp view, const IndexPlace &place);
  std::optional<IndexForm> stepOf(loops::ViewOp view, const IndexPlace &place);
  bool isNeverNegative(const IndexForm &form, const IndexPlace &place);
  /// Whether a condition holds there; nothing where it is unknown.
  std::optional<bool> isTrue(Value condition, const IndexPlace &place);
  /// The value that a value is there: of those that `scf.if` chooses among, as far as its condition tells.
  Value chosenOf(Value value, const IndexPlace &place);

private:
  enum class Kind { value, remainder, modulo, quotient };
  struct Unknown {
    Kind kind;
    Value value;
    IndexForm inside; // by which `divisor` divides
    int64_t divisor;
    bool isNeverNegative;
  };
  IndexForm unknown(const Unknown &wanted);
  std::optional<IndexForm> divided(Kind kind, const IndexForm &inside, int64_t divisor, const IndexPlace &place);
  std::optional<IndexForm> sumOf(ArrayRef<OpFoldResult> numbers, ArrayRef<OpFoldResult> strides, const IndexPlace &place);
  std::optional<IndexForm> ofOperation(Operation *op, const IndexPlace &place);
  std::optional<IndexForm> ofExpression(AffineExpr expr, ArrayRef<IndexForm> operands, unsigned numDims, const IndexPlace &place);
  std::optional<bool> compares(arith::CmpIOp compare, const IndexPlace &place);
  bool isNeverNegative(Value value);

  SmallVector<loops::LaunchOp> launches;
  std::vector<Unknown> unknowns;
};

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_INDEXFORMS_H
