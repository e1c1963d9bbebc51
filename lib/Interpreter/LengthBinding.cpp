//===- LengthBinding.cpp - What named lengths are at a call ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binding, and the errors about lengths that do not agree.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Interpreter/LengthBinding.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::interp;

std::optional<int64_t> LengthBinding::evaluate(LengthAttr length) const {
  return length.evaluate([&](StringAttr name) -> std::optional<int64_t> {
    auto it = names.find(name);
    if (it == names.end())
      return std::nullopt;
    return it->second;
  });
}

LogicalResult LengthBinder::bindName(unsigned argument, StringAttr name, int64_t length) {
  if (length > maxLength)
    return mlir::emitError(locations[argument])
           << "argument " << argument << ": the length '" << name.getValue() << "' = " << length
           << " is more than the interpreter takes";
  auto [it, isNew] = lengths.names.try_emplace(name, length);
  if (isNew) {
    boundBy[name] = argument;
    return success();
  }
  if (it->second == length)
    return success();
  InFlightDiagnostic diag = mlir::emitError(locations[argument])
                            << "two lengths for '" << name.getValue() << "': argument " << argument
                            << " has " << length << ", ";
  auto earlier = boundBy.find(name);
  if (earlier == boundBy.end())
    return diag << "the caller gives " << it->second;
  diag << "argument " << earlier->second << " has " << it->second;
  diag.attachNote(locations[earlier->second]) << "bound to " << it->second << " here";
  return diag;
}

LogicalResult LengthBinder::bindShape(unsigned argument, ArrayRef<LengthAttr> dims,
                                      ArrayRef<int64_t> shape) {
  for (auto [dim, size] : llvm::zip(dims, shape))
    if (StringAttr name = dim.getSingleName(); name && !dim.getRagged())
      if (failed(bindName(argument, name, size)))
        return failure();
  return success();
}

LogicalResult LengthBinder::checkShape(unsigned argument, ArrayRef<LengthAttr> dims,
                                       ArrayRef<int64_t> shape) {
  if (dims.size() != shape.size())
    return mlir::emitError(locations[argument])
           << "argument " << argument << ": expects at least " << dims.size()
           << " dimensions, found " << shape.size();
  for (auto [i, dim, size] : llvm::enumerate(dims, shape)) {
    std::optional<int64_t> expected = lengths.evaluate(dim);
    if (!expected)
      return mlir::emitError(locations[argument])
             << "argument " << argument << ": the length " << dim.str()
             << " has no value: no argument binds its names";
    if (*expected != size)
      return mlir::emitError(locations[argument])
             << "argument " << argument << ": dimension " << i << " is " << dim.str() << " = "
             << *expected << ", found " << size;
  }
  return success();
}

LogicalResult mlir::ft::interp::bindGiven(Operation *function, const Lengths &given,
                                          LengthBinding &lengths) {
  for (auto [name, length] : given) {
    if (length < 0)
      return mlir::emitError(function->getLoc())
             << "the length '" << name << "' is negative: " << length;
    lengths.names[StringAttr::get(function->getContext(), name)] = length;
  }
  return success();
}

/// An error at `loc` that ends in the lengths, where one of the inequalities does not hold.
static LogicalResult checkInequalities(BoundsAttr bounds, const LengthBinding &lengths, Location loc,
                                       StringRef text, bool namesBound) {
  for (LengthAttr bound : bounds.getNonNegative()) {
    std::optional<int64_t> value = lengths.evaluate(bound);
    if (value && *value >= 0)
      continue;
    InFlightDiagnostic diag = mlir::emitError(loc) << text;
    if (namesBound)
      diag << inequalityStr(bound);
    for (StringAttr name : bound.getNames()) {
      diag << ": " << name.getValue() << " = ";
      auto it = lengths.names.find(name);
      if (it == lengths.names.end())
        diag << "unknown";
      else
        diag << it->second;
    }
    return diag;
  }
  return success();
}

LogicalResult mlir::ft::interp::checkBounds(Operation *function, const LengthBinding &lengths) {
  if (auto bounds = function->getAttrOfType<BoundsAttr>(ft::names::bounds))
    if (failed(checkInequalities(bounds, lengths, function->getLoc(),
                                 "the lengths do not satisfy the bound ", /*namesBound=*/true)))
      return failure();
  // What the conversion to a graph found that a call must satisfy.
  if (auto checks = function->getAttrOfType<ArrayAttr>(etdg::names::checks))
    for (auto check : checks.getAsRange<DictionaryAttr>()) {
      auto at = check.getAs<LocationAttr>("at");
      std::string text = check.getAs<StringAttr>("because").str() + " does not come out even";
      if (failed(checkInequalities(check.getAs<BoundsAttr>("holds"), lengths,
                                   at ? Location(at) : function->getLoc(), text, /*namesBound=*/false)))
        return failure();
    }
  return success();
}

SmallVector<Location> mlir::ft::interp::argumentLocations(Region &body, Location whole,
                                                          unsigned count) {
  SmallVector<Location> locations(count, whole);
  if (!body.empty())
    for (auto [i, argument] : llvm::enumerate(body.getArguments().take_front(count)))
      locations[i] = argument.getLoc();
  return locations;
}
