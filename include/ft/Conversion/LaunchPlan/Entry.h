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
#include "ft/Runtime/Bundle/LaunchPlan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::ft {

/// An expression of the launch plan, variable i being `symbols[i]`.
::ft::rt::Expr toHostExpr(AffineExpr expr, ArrayRef<StringAttr> names, ArrayRef<StringAttr> symbols);

/// Bytes of a buffer of these lists of elements; a number of planes other than 0 stands for the length.
::ft::rt::Expr getHostBytes(ArrayRef<LengthAttr> lengths, ArrayRef<int64_t> planes, RankedTensorType element,
                            ArrayRef<StringAttr> symbols);

/// The same, rounded up so that what follows lies at a multiple of 256 bytes.
::ft::rt::Expr alignHostBytes(const ::ft::rt::Expr &bytes);

/// "file:line:column", or "" for what has no place in a file.
std::string getPlaceText(Location location);

/// A sum of sizes. Equal ones are counted, so that it stays short however many buffers there are.
class SizeSum {
public:
  void add(const ::ft::rt::Expr &size);
  ::ft::rt::Expr get() const;

private:
  int64_t constant = 0;
  std::vector<std::pair<::ft::rt::Expr, int64_t>> terms; // with how often they occur
};

/// One array of a call: a list of tensors, or a buffer.
struct Parameter {
  SmallVector<LengthAttr> lengths;
  RankedTensorType element;
  std::string name; // for messages
  /// Outermost dimensions whose strides the caller gives (`ft.strided`); the others are dense.
  unsigned stridedDims = 0;
  /// The caller's dimensions that each of these stands for, where the conversion joined or cut some (`ft.strides`).
  SmallVector<SmallVector<int64_t>> strideGroups;
  /// Whether a module holds it by its name (`ft.held`).
  bool isHeld = false;
};

/// The number of dimensions of a graph's or function's argument whose strides the caller gives.
unsigned getStridedDims(FunctionOpInterface function, unsigned argument);

/// For a graph that is a program by itself: its callers have its own dimensions, whatever it was made of.
void forgetStrideGroups(FunctionOpInterface function);

/// What a caller of a function over lists and tensors, or of a graph, gives and gets. Members of tuples
/// follow each other. It outlives the function, which a conversion replaces.
struct Interface {
  std::string name;
  Location location;
  SmallVector<Parameter> inputs, outputs;
  /// Lengths in the order of their first appearance; a graph's in the graph's order.
  SmallVector<StringAttr> names;
  BoundsAttr bounds;
  ArrayAttr checks;
  /// Pairs of an argument and a result that may lie in its memory: of code, not of the program it came from.
  SmallVector<int64_t> inPlace;
  /// Whether it runs when held arguments are bound (`ft.binds`).
  bool binds = false;
};

/// Nothing where a type is none that arrays hold.
std::optional<Interface> getInterface(FunctionOpInterface function);

/// The stride of a dimension of an argument of code in the expressions of an entry that was made by `makeEntry`, in elements.
/// Where the conversion joined or cut dimensions (`ft.strides`), it comes from strides and extents of the caller's.
::ft::rt::Expr getHostStride(::ft::rt::Entry &entry, const Interface &code, unsigned argument, unsigned dim);

/// An entry without plans. Emits an error at the function for a type that arrays don't hold, a ragged
/// length, and a length that no argument binds.
FailureOr<::ft::rt::Entry> makeEntry(FunctionOpInterface function);

/// The same for code whose callers see this, at its location.
FailureOr<::ft::rt::Entry> makeEntry(const Interface &code);

/// Reads that take several elements of an argument as one need them dense: an error at a block where the caller may give
/// strides for these.
LogicalResult checkStridedReads(etdg::GraphOp graph);

/// The entry of a graph, whose symbols are the graph's, in their order, for callers of the function that it
/// came from: the conversion may take two lengths of a program as one, and its callers know nothing of that.
FailureOr<::ft::rt::Entry> makeEntry(etdg::GraphOp graph, const Interface &program);

} // namespace mlir::ft

#endif // FT_CONVERSION_LAUNCHPLAN_ENTRY_H
