//===- Entry.cpp - what a caller of a compiled graph sees -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LaunchPlan/Entry.h"

#include "ft/Support/ArrayType.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

rt::Expr mlir::ft::toHostExpr(AffineExpr expr, ArrayRef<StringAttr> names,
                              ArrayRef<StringAttr> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return rt::Expr::var(llvm::find(symbols, names[symbol.getPosition()]) - symbols.begin());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) // a dimension: callers have none
    return 0;
  rt::Expr a = toHostExpr(binary.getLHS(), names, symbols),
           b = toHostExpr(binary.getRHS(), names, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::Mod:
    return rt::Expr::binary(rt::Expr::mod, a, b);
  case AffineExprKind::FloorDiv:
    return rt::Expr::binary(rt::Expr::floordiv, a, b);
  default:
    return rt::Expr::binary(rt::Expr::ceildiv, a, b);
  }
}

rt::Expr mlir::ft::getHostBytes(ArrayRef<LengthAttr> lengths, ArrayRef<int64_t> planes,
                                RankedTensorType element, ArrayRef<StringAttr> symbols) {
  std::optional<rt::DType> dtype = arrayTypeOf(element.getElementType());
  rt::Expr bytes = element.getNumElements() * (dtype ? rt::byteWidth(*dtype) : 8);
  for (auto [d, length] : llvm::enumerate(lengths))
    bytes = bytes * (!planes.empty() && planes[d] != 0 ? rt::Expr(planes[d])
                                                       : toHostExpr(length.getExpr(), length.getNames(), symbols));
  return bytes;
}

rt::Expr mlir::ft::alignHostBytes(const rt::Expr &bytes) {
  if (auto constant = bytes.asConstant())
    return rt::Expr(int64_t(llvm::alignTo(*constant, 256)));
  return rt::Expr::binary(rt::Expr::ceildiv, bytes, 256) * 256;
}

FailureOr<rt::Entry> mlir::ft::makeEntry(etdg::GraphOp graph) {
  SmallVector<StringAttr> symbols = graph.getSymbolNames();
  auto hostLength = [&](LengthAttr length) { return toHostExpr(length.getExpr(), length.getNames(), symbols); };
  rt::Entry entry;
  entry.name = graph.getSymName().str();
  for (StringAttr name : symbols)
    entry.symbols.push_back({name.getValue().str(), 0, 0});
  auto addArgument = [&](Type type, bool output, unsigned number) -> LogicalResult {
    auto buffer = cast<etdg::BufferType>(type);
    rt::Argument argument;
    argument.name = (output ? "result" : "argument") + std::to_string(number);
    std::optional<rt::DType> dtype = arrayTypeOf(buffer.getElement().getElementType());
    if (!dtype)
      return graph.emitError() << "no array holds elements of " << buffer.getElement().getElementType();
    argument.dtype = *dtype;
    for (LengthAttr length : buffer.getLengths()) {
      if (length.getRagged())
        return graph.emitError() << "has a ragged length; a compiled program takes none";
      argument.shape.push_back(hostLength(length));
    }
    for (int64_t extent : buffer.getElement().getShape())
      argument.shape.push_back(extent);
    argument.output = output;
    argument.alignment = 16;
    entry.arguments.push_back(std::move(argument));
    return success();
  };
  for (auto [i, type] : llvm::enumerate(graph.getArgumentTypes()))
    if (failed(addArgument(type, false, i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(graph.getResultTypes()))
    if (failed(addArgument(type, true, i)))
      return failure();
  for (auto [s, name] : llvm::enumerate(symbols)) {
    bool bound = false;
    for (auto [i, type] : llvm::enumerate(graph.getArgumentTypes()))
      for (auto [d, length] : llvm::enumerate(cast<etdg::BufferType>(type).getLengths()))
        if (!bound && length.getSingleName() == name) {
          entry.symbols[s].value = entry.extent(i, d);
          bound = true;
        }
    if (!bound)
      return graph.emitError() << "length '" << name.getValue() << "' is bound by no argument";
  }
  auto require = [&](BoundsAttr bounds, StringRef because) {
    for (LengthAttr bound : bounds.getNonNegative())
      entry.requirements.push_back({hostLength(bound), because.empty() ? bound.str() + " >= 0" : because.str()});
  };
  if (auto bounds = graph->getAttrOfType<BoundsAttr>("ft.bounds"))
    require(bounds, "");
  if (auto checks = graph->getAttrOfType<ArrayAttr>("etdg.checks"))
    for (auto check : checks.getAsRange<DictionaryAttr>())
      require(check.getAs<BoundsAttr>("holds"), check.getAs<StringAttr>("because").getValue());
  return entry;
}
