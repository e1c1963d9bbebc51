//===- Entry.h - what a caller of a compiled graph sees ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a launch plan that does not depend on where the graph runs:
// arguments, results, symbols and requirements.
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_LAUNCHPLAN_ENTRY_H
#define FT_CONVERSION_LAUNCHPLAN_ENTRY_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Runtime/LaunchPlan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::ft {

/// An expression of the launch plan, variable i being `symbols[i]`.
::ft::rt::Expr toHostExpr(AffineExpr expr, ArrayRef<StringAttr> names, ArrayRef<StringAttr> symbols);

/// Bytes of a buffer of these lists of elements; a number of planes other than 0 stands for the length.
::ft::rt::Expr getHostBytes(ArrayRef<LengthAttr> lengths, ArrayRef<int64_t> planes, RankedTensorType element,
                            ArrayRef<StringAttr> symbols);

/// The same, rounded up so that what follows lies at a multiple of 256 bytes.
::ft::rt::Expr alignHostBytes(const ::ft::rt::Expr &bytes);

/// An entry without plans: what a caller of a function over lists and tensors, or of a graph, gives and
/// gets. Members of tuples follow each other. Its symbols are a graph's in their order, or a function's
/// lengths in the order of their first appearance. Emits an error at the function for a type that arrays
/// don't hold, a ragged length, and a length that no argument binds.
FailureOr<::ft::rt::Entry> makeEntry(FunctionOpInterface function);

} // namespace mlir::ft

#endif // FT_CONVERSION_LAUNCHPLAN_ENTRY_H
