//===- Sets.cpp - named integer sets as Presburger sets -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbols and their facts, and the flattening of quasi-affine expressions.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Sets.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// Whether `expr`, over symbols alone, is one that needs a symbol of its own: a
/// product or a quotient of names.
static bool isProduct(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || expr.getKind() == AffineExprKind::Add)
    return false;
  if (expr.getKind() == AffineExprKind::Mul)
    return !isa<AffineConstantExpr>(binary.getLHS()) && !isa<AffineConstantExpr>(binary.getRHS());
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return !divisor || divisor.getValue() <= 0;
}

static void collectFactors(AffineExpr expr, ArrayRef<StringAttr> names,
                           SmallVectorImpl<std::string> &factors, bool &isNonNegative) {
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
      binary && expr.getKind() == AffineExprKind::Mul) {
    collectFactors(binary.getLHS(), names, factors, isNonNegative);
    collectFactors(binary.getRHS(), names, factors, isNonNegative);
    return;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  bool isAtom = isa<AffineSymbolExpr, AffineConstantExpr>(expr);
  if (!isAtom)
    os << "(";
  ft::printNamedExpr(os, expr, {}, names);
  if (!isAtom)
    os << ")";
  auto constant = dyn_cast<AffineConstantExpr>(expr);
  isNonNegative &= isAtom && (!constant || constant.getValue() >= 0);
  factors.push_back(text);
}

/// One name for a product however its factors are ordered.
static std::string productName(AffineExpr expr, ArrayRef<StringAttr> names, bool &isNonNegative) {
  isNonNegative = true;
  if (expr.getKind() == AffineExprKind::Mul) {
    SmallVector<std::string> factors;
    collectFactors(expr, names, factors, isNonNegative);
    llvm::sort(factors);
    return llvm::join(factors, " * ");
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  isNonNegative = isa<AffineSymbolExpr>(binary.getLHS()) && isa<AffineSymbolExpr>(binary.getRHS());
  std::string text;
  llvm::raw_string_ostream os(text);
  ft::printNamedExpr(os, expr, {}, names);
  return text;
}

void SymbolSpace::add(StringAttr name, bool isNonNegative) {
  auto it = llvm::find(names, name);
  if (it != names.end())
    return;
  names.push_back(name);
  nonNegative.push_back(isNonNegative);
}

void SymbolSpace::addProducts(AffineExpr expr, ArrayRef<StringAttr> exprNames) {
  if (expr.isSymbolicOrConstant() && isProduct(expr)) {
    bool isNonNegative;
    std::string name = productName(expr, exprNames, isNonNegative);
    add(StringAttr::get(expr.getContext(), name), isNonNegative);
    return;
  }
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    addProducts(binary.getLHS(), exprNames);
    addProducts(binary.getRHS(), exprNames);
  }
}

void SymbolSpace::finish() {
  SmallVector<std::pair<StringAttr, bool>> both;
  for (auto [name, isNonNegative] : llvm::zip(names, nonNegative))
    both.push_back({name, isNonNegative});
  llvm::sort(both, [](auto &a, auto &b) { return a.first.getValue() < b.first.getValue(); });
  for (auto [i, entry] : llvm::enumerate(both))
    std::tie(names[i], nonNegative[i]) = entry;
}

SymbolSpace::SymbolSpace(ArrayRef<StringAttr> given) {
  for (StringAttr name : given)
    add(name, true);
  finish();
}

SymbolSpace::SymbolSpace(GraphOp graph) {
  for (StringAttr name : graph.getSymbolNames())
    add(name, true);
  auto addType = [&](Type type) {
    if (auto buffer = dyn_cast<BufferType>(type))
      for (ft::LengthAttr length : buffer.getLengths())
        addProducts(length.getExpr(), length.getNames());
  };
  auto addExprs = [&](ArrayRef<AffineExpr> exprs, ArrayRef<StringAttr> exprNames) {
    for (AffineExpr expr : exprs)
      addProducts(expr, exprNames);
  };
  for (Type type : graph.getArgumentTypes()) {
    addType(type);
    // An array that exists has no negative length: `[L - 2]` says that L ≥ 2.
    if (auto buffer = dyn_cast<BufferType>(type))
      for (ft::LengthAttr length : buffer.getLengths())
        if (!length.isConstant() && !length.getSingleName())
          facts.push_back(length);
  }
  auto addFacts = [&](ft::BoundsAttr bounds) {
    for (ft::LengthAttr length : bounds.getNonNegative()) {
      facts.push_back(length);
      for (StringAttr name : length.getNames())
        add(name, true);
      addProducts(length.getExpr(), length.getNames());
    }
  };
  if (auto bounds = graph->getAttrOfType<ft::BoundsAttr>(ft::names::bounds))
    addFacts(bounds);
  // What every call checks holds too: splits come out even, casts change nothing.
  if (auto checks = graph->getAttrOfType<ArrayAttr>(etdg::names::checks))
    for (Attribute check : checks)
      if (auto entry = dyn_cast<DictionaryAttr>(check))
        if (auto bounds = entry.getAs<ft::BoundsAttr>("holds"))
          addFacts(bounds);
  graph.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      addType(type);
    if (auto block = dyn_cast<BlockOp>(op)) {
      SmallVector<StringAttr> symbols = block.getSymbolNames();
      for (StringAttr name : symbols)
        add(name, true);
      addExprs(block.getDomainSet().getConstraints(), symbols);
      for (ArrayAttr reads : {block.getReads(), block.getIdentity()})
        for (ReadAttr read : reads.getAsRange<ReadAttr>())
          for (PieceAttr piece : read.getPieces()) {
            addExprs(piece.getSet().getValue().getConstraints(), symbols);
            addExprs(piece.getMap().getValue().getResults(), symbols);
            for (GatherAttr gather : piece.getGathers())
              addExprs(gather.getMap().getValue().getResults(), symbols);
          }
      for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
        addExprs(write.getMap().getValue().getResults(), symbols);
    }
    if (auto assume = dyn_cast<AssumeOp>(op)) {
      add(assume.getLengthAttr(), true);
      ft::LengthAttr length = ft::LengthAttr::get(assume.getLengthAttr());
      facts.push_back(length - assume.getLo());
      facts.push_back(ft::LengthAttr::get(op->getContext(), assume.getHi()) - length);
    }
  });
  finish();
}

std::optional<unsigned> SymbolSpace::find(StringRef name) const {
  auto it =
      llvm::lower_bound(names, name, [](StringAttr a, StringRef b) { return a.getValue() < b; });
  if (it == names.end() || it->getValue() != name)
    return std::nullopt;
  return it - names.begin();
}

//===----------------------------------------------------------------------===//
// Linear expressions
//===----------------------------------------------------------------------===//

void LinearExpr::add(unsigned variable, int64_t coefficient) {
  if (variable >= coefficients.size())
    coefficients.resize(variable + 1, 0);
  overflow |= llvm::AddOverflow(coefficients[variable], coefficient, coefficients[variable]);
}

LinearExpr &LinearExpr::operator+=(const LinearExpr &other) {
  for (auto [v, c] : llvm::enumerate(other.coefficients))
    if (c)
      add(v, c);
  overflow |= other.overflow | llvm::AddOverflow(constant, other.constant, constant);
  return *this;
}

LinearExpr &LinearExpr::operator*=(int64_t factor) {
  for (int64_t &c : coefficients)
    overflow |= llvm::MulOverflow(c, factor, c);
  overflow |= llvm::MulOverflow(constant, factor, constant);
  return *this;
}

bool LinearExpr::isSmall() const {
  constexpr int64_t limit = int64_t(1) << 60;
  auto fits = [](int64_t value) { return -limit <= value && value <= limit; };
  return !overflow && fits(constant) && llvm::all_of(coefficients, fits);
}

bool LinearExpr::isConstant() const {
  return llvm::all_of(coefficients, [](int64_t c) { return c == 0; });
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

SetBuilder::SetBuilder(const SymbolSpace &space, unsigned numDims)
    : space(space), numDims(numDims), poly(PresburgerSpace::getSetSpace(numDims, space.size())) {
  for (auto [i, isNonNegative] : llvm::enumerate(space.getNonNegative()))
    if (isNonNegative) {
      LinearExpr name;
      name.add(numDims + i, 1);
      add(name, false);
    }
  for (ft::LengthAttr fact : space.getFacts())
    (void)add(fact.getExpr(), false, fact.getNames());
}

SmallVector<int64_t> SetBuilder::toRow(const LinearExpr &expr) const {
  SmallVector<int64_t> row(poly.getNumVars() + 1, 0);
  for (auto [v, c] : llvm::enumerate(expr.coefficients))
    row[v] = c;
  row.back() = expr.constant;
  return row;
}

LinearExpr SetBuilder::variable(unsigned v) const {
  LinearExpr expr;
  expr.add(v, 1);
  return expr;
}

unsigned SetBuilder::addLocal() { return poly.appendVar(VarKind::Local); }

std::optional<LinearExpr> SetBuilder::flatten(AffineExpr expr, ArrayRef<StringAttr> names,
                                              unsigned offset) {
  auto symbol = [&](StringRef name) -> std::optional<LinearExpr> {
    std::optional<unsigned> index = space.find(name);
    if (!index)
      return std::nullopt;
    return variable(numDims + *index);
  };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    LinearExpr result;
    result.constant = constant.getValue();
    return result.isSmall() ? std::optional(result) : std::nullopt;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return variable(offset + dim.getPosition());
  if (auto s = dyn_cast<AffineSymbolExpr>(expr))
    return s.getPosition() < names.size() ? symbol(names[s.getPosition()].getValue())
                                          : std::nullopt;

  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.isSymbolicOrConstant() && isProduct(expr)) {
    bool isNonNegative;
    return symbol(productName(expr, names, isNonNegative));
  }
  std::optional<LinearExpr> lhs = flatten(binary.getLHS(), names, offset);
  std::optional<LinearExpr> rhs = flatten(binary.getRHS(), names, offset);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    *lhs += *rhs;
    return lhs->isSmall() ? lhs : std::nullopt;
  }
  if (expr.getKind() == AffineExprKind::Mul) {
    if (!rhs->isConstant())
      std::swap(lhs, rhs);
    if (!rhs->isConstant())
      return std::nullopt;
    *lhs *= rhs->constant;
    return lhs->isSmall() ? lhs : std::nullopt;
  }
  if (!rhs->isConstant() || rhs->constant <= 0 || !rhs->isSmall())
    return std::nullopt;
  int64_t divisor = rhs->constant;
  LinearExpr dividend = *lhs;
  if (expr.getKind() == AffineExprKind::CeilDiv)
    dividend.constant += divisor - 1;
  if (divisor == 1)
    return expr.getKind() == AffineExprKind::Mod ? LinearExpr() : dividend;

  // One local variable for each different quotient.
  dividend.coefficients.resize(poly.getNumVars(), 0);
  std::optional<unsigned> quotient;
  for (auto &[known, by, local] : divisions) {
    bool same = by == divisor && known.constant == dividend.constant;
    for (unsigned v = 0; same && v < poly.getNumVars(); ++v)
      same = known.at(v) == dividend.at(v);
    if (same)
      quotient = local;
  }
  if (!quotient) {
    quotient = poly.getNumVars();
    poly.addLocalFloorDiv(toRow(dividend), divisor);
    divisions.push_back({dividend, divisor, *quotient});
  }
  LinearExpr result = variable(*quotient);
  if (expr.getKind() == AffineExprKind::Mod) {
    result *= -divisor;
    result += *lhs;
  }
  return result.isSmall() ? std::optional(result) : std::nullopt;
}

void SetBuilder::add(LinearExpr constraint, bool isEq) {
  if (isEq)
    poly.addEquality(toRow(constraint));
  else
    poly.addInequality(toRow(constraint));
}

LogicalResult SetBuilder::add(AffineExpr constraint, bool isEq, ArrayRef<StringAttr> names,
                              unsigned offset) {
  std::optional<LinearExpr> flat = flatten(constraint, names, offset);
  if (!flat)
    return failure();
  add(*flat, isEq);
  return success();
}

LogicalResult SetBuilder::add(IntegerSet set, ArrayRef<StringAttr> names, unsigned offset) {
  if (isUniverse(set))
    return success();
  for (unsigned i = 0; i < set.getNumConstraints(); ++i)
    if (failed(add(set.getConstraint(i), set.isEq(i), names, offset)))
      return failure();
  return success();
}

void SetBuilder::addEqual(unsigned a, unsigned b) {
  LinearExpr difference = variable(a);
  difference.add(b, -1);
  add(difference, true);
}

void SetBuilder::addLess(unsigned a, unsigned b) {
  LinearExpr difference = variable(b);
  difference.add(a, -1);
  difference.constant = -1;
  add(difference, false);
}

FailureOr<IntegerPolyhedron> etdg::toPolyhedron(IntegerSet set, ArrayRef<StringAttr> symbols,
                                                const SymbolSpace &space) {
  SetBuilder builder(space, set.getNumDims());
  if (failed(builder.add(set, symbols)))
    return failure();
  return builder.get();
}

FailureOr<IntegerRelation> etdg::toRelation(AffineMap map, IntegerSet domain,
                                            ArrayRef<StringAttr> symbols,
                                            const SymbolSpace &space) {
  unsigned numDims = map.getNumDims();
  SetBuilder builder(space, numDims + map.getNumResults());
  if (failed(builder.add(domain, symbols)))
    return failure();
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    std::optional<LinearExpr> flat = builder.flatten(result, symbols);
    if (!flat)
      return failure();
    flat->add(numDims + i, -1);
    builder.add(*flat, true);
  }
  IntegerRelation relation = builder.get();
  relation.convertVarKind(VarKind::SetDim, 0, numDims, VarKind::Domain);
  return relation;
}
