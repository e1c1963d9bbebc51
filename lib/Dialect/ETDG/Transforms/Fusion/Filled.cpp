//===- Filled.cpp - tensors of one number ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/Transforms/Filled.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::etdg;

TypedAttr etdg::getFilled(Value tensor) {
  DenseElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant)))
    return constant.isSplat() ? cast<TypedAttr>(constant.getSplatValue<Attribute>()) : TypedAttr();
  Operation *op = tensor.getDefiningOp();
  if (isa_and_present<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return getFilled(op->getOperand(0));
  TypedAttr number;
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(op); fill && matchPattern(fill.getInputs().front(), m_Constant(&number)))
    return number;
  Type element = cast<ShapedType>(tensor.getType()).getElementType();
  bool isAny = isa_and_present<tensor::EmptyOp>(op) && isa<FloatType, IntegerType, IndexType>(element);
  return isAny ? Builder(op).getZeroAttr(element) : TypedAttr();
}
