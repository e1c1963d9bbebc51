//===- Rounding.h - the coarsest type that a result went through -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How closely two engines must agree on a result follows from the types that its
// value was rounded to on the way, not from its own type alone: a f32 sum of f16
// products of f16 sums carries the error of f16.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_ROUNDING_H
#define FT_ANALYSIS_ROUNDING_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::ft {

/// For each result of a function or graph the float type of the fewest digits that some operation on
/// the way from the arguments to it rounds to; null where there is none. Arguments and constants are
/// exact, whatever their type, and so is what moves, compares, extends, or chooses among values.
SmallVector<FloatType> findCoarsestRounding(FunctionOpInterface function);

} // namespace mlir::ft

#endif // FT_ANALYSIS_ROUNDING_H
