//===- Prices.cpp - what saving and computing again take ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Prices.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FTForms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

Prices::Prices(func::FuncOp function, const Machine &machine) : machine(machine) {
  if (auto table = function->getAttrOfType<DictionaryAttr>(mlir::ft::names::typical))
    for (NamedAttribute entry : table)
      if (auto range = dyn_cast<ArrayAttr>(entry.getValue()); range && range.size() == 2)
        if (auto least = dyn_cast<IntegerAttr>(range[0]), most = dyn_cast<IntegerAttr>(range[1]); least && most)
          lengths[entry.getName()] = std::llround(std::sqrt(double(least.getInt()) * double(most.getInt())));
  if (auto table = function->getAttrOfType<DictionaryAttr>(mlir::ft::names::lengths))
    for (NamedAttribute entry : table)
      if (auto value = dyn_cast<IntegerAttr>(entry.getValue()))
        lengths[entry.getName()] = value.getInt();
}

double Prices::typically(LengthAttr length) const {
  auto valueOf = [&](StringAttr name) -> std::optional<int64_t> {
    auto found = lengths.find(name);
    return found == lengths.end() ? unknown : found->second;
  };
  return std::max<int64_t>(length.evaluate(valueOf).value_or(unknown), 1);
}

double Prices::timesOf(Block &block) const {
  double times = 1;
  for (Operation *op = block.getParentOp(); op; op = op->getParentOp())
    if (auto compute = dyn_cast<ComputeOp>(op))
      times *= typically(compute.getLength());
  return times;
}

double Prices::countOf(Type type) const {
  if (auto list = dyn_cast<ListType>(type)) {
    double count = countOf(list.getElement());
    for (LengthAttr length : list.getLengths())
      count *= typically(length);
    return count;
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? static_cast<double>(tensor.getNumElements()) : 1;
}

double Prices::bytesOf(Type type) const {
  auto list = dyn_cast<ListType>(type);
  Type element = getElementTypeOrSelf(list ? list.getElement() : type);
  double bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : IndexType::kInternalStorageBitWidth;
  return countOf(type) * std::ceil(bits / CHAR_BIT);
}

double Prices::moveSeconds(double bytes) const { return bytes / machine.levels.back().rateOfUnit(machine.units); }

/// `count` results of an operation on scalars.
double Prices::scalarSeconds(Operation &op, double count) const {
  if (isa<math::MathDialect>(op.getDialect()) || isa<arith::DivFOp>(op))
    return count / machine.elementary();
  return isa<arith::ArithDialect>(op.getDialect()) ? count / machine.elementwise() : 0;
}

double Prices::computeSeconds(Operation &op) const {
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    double once = 0;
    for (Operation &inner : compute.getBody().front())
      once += computeSeconds(inner);
    return once * typically(compute.getLength());
  }
  double count = 0;
  for (Type type : op.getResultTypes())
    count += countOf(type);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    double points = 1, seconds = 0;
    for (int64_t range : structured.getStaticLoopRanges())
      points *= ShapedType::isDynamic(range) ? unknown : range;
    Block &body = *structured.getBlock();
    bool isProduct = structured.getNumReductionLoops() != 0 && llvm::any_of(body, llvm::IsaPred<arith::MulFOp>);
    if (isProduct)
      return 2 * points / machine.productFlops();
    for (Operation &inner : body)
      seconds += scalarSeconds(inner, points);
    return std::max(seconds, count / machine.elementwise());
  }
  // A short form of several passes over its elements, one of which is an elementary function.
  if (isShortForm(&op))
    return count / machine.elementary() + count / machine.elementwise();
  return std::max(scalarSeconds(op, count), isa<FTDialect>(op.getDialect()) ? 0 : count / machine.elementwise());
}
