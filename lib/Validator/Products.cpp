//===- Products.cpp - products of lengths, where they are positive --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of lengths is a variable of its own, and that it is 0 where a factor is no conjunction says. So what seems to be there at some
// lengths is asked again in two cases: the product is 0, or it and all factors are at least 1.
//
//===----------------------------------------------------------------------===//
#include "Model.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

/// Whether an expression of lengths, none of which is negative, is not negative by its form.
static bool isSurelyNonNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary ? isSurelyNonNegative(binary.getLHS()) && isSurelyNonNegative(binary.getRHS()) : isa<AffineSymbolExpr>(expr);
}

static bool isProduct(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary && expr.getKind() == AffineExprKind::Mul && !isa<AffineConstantExpr>(binary.getLHS()) && !isa<AffineConstantExpr>(binary.getRHS());
}

namespace {
/// Finds the products in the expressions of a graph.
class Collector {
public:
  explicit Collector(const SymbolSpace &space) : space(space) {}
  void take(AffineExpr expr, ArrayRef<StringAttr> names) {
    expr.walk([&](AffineExpr inner) {
      if (inner.isSymbolicOrConstant() && isProduct(inner) && isSurelyNonNegative(inner))
        takeProduct(inner, names);
    });
  }
  SmallVector<Model::Product> products;

private:
  /// Over the symbols; none where it has other variables, too.
  std::optional<Row> flatten(AffineExpr expr, ArrayRef<StringAttr> names) {
    std::optional<LinearExpr> linear = SetBuilder(space, 0).flatten(expr, names);
    if (!linear || linear->overflow)
      return std::nullopt;
    Row row = Row::number(linear->constant);
    for (auto [v, c] : llvm::enumerate(linear->coefficients)) {
      if (c && v >= space.size())
        return std::nullopt;
      if (c)
        row.add(unsigned(v), c);
    }
    return row;
  }
  void takeProduct(AffineExpr expr, ArrayRef<StringAttr> names);
  void takeFactor(AffineExpr expr, ArrayRef<StringAttr> names, Model::Product &product);

  const SymbolSpace &space;
};
} // namespace

void Collector::takeFactor(AffineExpr expr, ArrayRef<StringAttr> names, Model::Product &product) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (isProduct(expr)) {
    takeFactor(binary.getLHS(), names, product);
    takeFactor(binary.getRHS(), names, product);
    return;
  }
  // A quotient is at least 1 where what is divided is large enough.
  AffineExpr least = expr - 1;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    least = binary.getLHS() - binary.getRHS();
  else if (expr.getKind() == AffineExprKind::CeilDiv)
    least = binary.getLHS() - 1;
  if (std::optional<Row> row = flatten(least, names))
    product.where.push_back(*row);
  if (std::optional<Row> factor = flatten(expr, names))
    product.where.push_back(Row::variable(product.variable).minus(*factor));
}

void Collector::takeProduct(AffineExpr expr, ArrayRef<StringAttr> names) {
  std::optional<Row> row = flatten(expr, names);
  // (A part of a larger product is no variable of the space.)
  if (!row || row->constant != 0 || llvm::count_if(row->coefficients, [](int64_t c) { return c != 0; }) != 1)
    return;
  auto variable = unsigned(llvm::find_if(row->coefficients, [](int64_t c) { return c != 0; }) - row->coefficients.begin());
  auto isSame = [&](const Model::Product &other) { return other.variable == variable; };
  if (row->at(variable) != 1 || llvm::any_of(products, isSame))
    return;
  products.push_back({variable, {}});
  takeFactor(expr, names, products.back());
}

void Model::collectProducts() {
  Collector collector(getSpace());
  auto takeType = [&](Type type) {
    if (auto buffer = dyn_cast<BufferType>(type))
      for (ft::LengthAttr length : buffer.getLengths())
        collector.take(length.getExpr(), length.getNames());
  };
  llvm::for_each(graph.getArgumentTypes(), takeType);
  graph.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), takeType);
    auto block = dyn_cast<BlockOp>(op);
    if (!block)
      return;
    SmallVector<StringAttr> names = block.getSymbolNames();
    for (AffineExpr constraint : block.getDomainSet().getConstraints())
      collector.take(constraint, names);
  });
  products = std::move(collector.products);
}

bool Model::forEachCase(const Conjunction &set, unsigned from, llvm::function_ref<bool(const Conjunction &)> visit) const {
  constexpr size_t most = 4; // (twice as many questions for each)
  if (from == std::min(products.size(), most))
    return visit(set);
  const Product &product = products[from];
  Conjunction none = set, some = set;
  none.addEq(Row::variable(product.variable));
  Row positive = Row::variable(product.variable);
  positive.addConstant(-1);
  some.addGe(positive);
  for (const Row &row : product.where)
    some.addGe(row);
  return forEachCase(none, from + 1, visit) && forEachCase(some, from + 1, visit);
}
