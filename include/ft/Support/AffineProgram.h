//===- AffineProgram.h - affine expressions for many points -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An expression that is asked for at thousands of points is a list of steps here,
// not a tree: symbols are numbers, and what depends on them alone is computed once.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SUPPORT_AFFINEPROGRAM_H
#define FT_SUPPORT_AFFINEPROGRAM_H

#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace mlir::ft {

class AffineProgram {
public:
  using Symbols = llvm::function_ref<int64_t(unsigned)>;
  /// Of an expression whose i-th symbol is `symbols(i)`.
  AffineProgram(AffineExpr expr, Symbols symbols);

  /// The expression's value; none where it asks for a dimension that is not known, where a number on the way leaves 64 bits,
  /// and where a divisor is not positive.
  std::optional<int64_t> run(ArrayRef<std::optional<int64_t>> dims) const;

private:
  enum class Kind : uint8_t {
    Number,    // puts a number on the stack
    AddNumber, // adds to the last one
    AddDim,    // adds so many times a dimension to the last one
    Binary     // an operation on the last two
  };
  struct Step {
    Kind kind;
    AffineExprKind operation;
    unsigned dim;
    int64_t number;
  };

  void add(AffineExpr expr, Symbols symbols);
  void addStep(Kind kind, std::optional<int64_t> number, unsigned dim = 0);
  static bool addTo(int64_t &sum, const Step &step, ArrayRef<std::optional<int64_t>> dims);
  std::optional<int64_t> runSum(ArrayRef<std::optional<int64_t>> dims) const;

  SmallVector<Step, 4> steps;
  bool isSum = false; // one number, to which others and dimensions are added
  bool fails = false; // whatever the dimensions
};

} // namespace mlir::ft

#endif // FT_SUPPORT_AFFINEPROGRAM_H
