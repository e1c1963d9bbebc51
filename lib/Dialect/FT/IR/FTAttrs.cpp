//===- FTAttrs.cpp - attributes of the ft dialect -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lengths in canonical form, bounds, and how test data is generated.
//
//===----------------------------------------------------------------------===//
#include "FTDetail.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Support/QuasiPolynomial.h"
#include "ft/Support/NamedAffine.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <charconv>
#include <cmath>

using namespace mlir;
using namespace mlir::ft;

#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/FT/IR/FTAttrs.cpp.inc"

void FTDialect::registerAttributeList() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ft/Dialect/FT/IR/FTAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// LengthAttr
//===----------------------------------------------------------------------===//

LengthAttr LengthAttr::get(MLIRContext *context, ArrayRef<StringAttr> names, AffineExpr expr) {
  // The normal form orders terms by symbol, so the names are sorted first; it
  // may lose names, so they are sorted again.
  SmallVector<StringAttr> sorted(names);
  AffineExpr exprs[] = {expr};
  canonicalizeSymbols(sorted, exprs, 0);
  exprs[0] = normalizeExpr(exprs[0]);
  canonicalizeSymbols(sorted, exprs, 0);
  return Base::get(context, ArrayRef<StringAttr>(sorted), exprs[0], false);
}

LengthAttr LengthAttr::get(MLIRContext *context, int64_t value) {
  return Base::get(context, ArrayRef<StringAttr>(), getAffineConstantExpr(value, context), false);
}

LengthAttr LengthAttr::get(StringAttr name) {
  MLIRContext *context = name.getContext();
  return Base::get(context, ArrayRef(name), getAffineSymbolExpr(0, context), false);
}

LengthAttr LengthAttr::getRagged(StringAttr name) {
  MLIRContext *context = name.getContext();
  return Base::get(context, ArrayRef(name), getAffineSymbolExpr(0, context), true);
}

std::optional<int64_t> LengthAttr::getConstant() const {
  if (auto constant = dyn_cast<AffineConstantExpr>(getExpr()))
    return constant.getValue();
  return std::nullopt;
}

StringAttr LengthAttr::getSingleName() const {
  if (getRagged() || !isa<AffineSymbolExpr>(getExpr()))
    return nullptr;
  return getNames().front();
}

namespace {
/// Evaluates with every step checked.
struct Evaluator {
  ArrayRef<StringAttr> names;
  function_ref<std::optional<int64_t>(StringAttr)> lookup;

  std::optional<int64_t> operator()(AffineExpr expr) const {
    switch (expr.getKind()) {
    case AffineExprKind::Constant:
      return cast<AffineConstantExpr>(expr).getValue();
    case AffineExprKind::SymbolId:
      return lookup(names[cast<AffineSymbolExpr>(expr).getPosition()]);
    case AffineExprKind::DimId:
      return std::nullopt;
    default:
      break;
    }
    auto binary = cast<AffineBinaryOpExpr>(expr);
    std::optional<int64_t> a = (*this)(binary.getLHS()), b = (*this)(binary.getRHS());
    if (!a || !b)
      return std::nullopt;
    int64_t result = 0;
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return llvm::AddOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
    case AffineExprKind::Mul:
      return llvm::MulOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
    case AffineExprKind::FloorDiv:
      return *b < 1 ? std::nullopt : std::optional(llvm::divideFloorSigned(*a, *b));
    case AffineExprKind::CeilDiv:
      return *b < 1 ? std::nullopt : std::optional(llvm::divideCeilSigned(*a, *b));
    default:
      return *b < 1 ? std::nullopt : std::optional(llvm::mod(*a, *b));
    }
  }
};
} // namespace

std::optional<int64_t>
LengthAttr::evaluate(function_ref<std::optional<int64_t>(StringAttr)> lookup) const {
  if (getRagged())
    return std::nullopt;
  return Evaluator{getNames(), lookup}(getExpr());
}

AffineExpr LengthAttr::exprOver(ArrayRef<StringAttr> all) const {
  return alignSymbols(getExpr(), getNames(), all);
}

std::string LengthAttr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (getRagged())
    os << "ragged(" << getNames().front().getValue() << ')';
  else
    printNamedExpr(os, getExpr(), {}, getNames());
  return text;
}

/// Both expressions over the union of the names. A ragged level has no value
/// of its own, so an expression with one is no length, nor is one whose constants
/// do not fit: null.
static LengthAttr combine(AffineExprKind kind, LengthAttr a, LengthAttr b,
                          function_ref<AffineExpr(AffineExpr, AffineExpr)> join) {
  if (!a || !b || a.getRagged() || b.getRagged())
    return nullptr;
  bool folds = kind == AffineExprKind::Add || kind == AffineExprKind::Mul;
  if (folds && mayOverflow(kind, a.getExpr(), b.getExpr()))
    return nullptr;
  SmallVector<StringAttr> names(a.getNames());
  for (StringAttr name : b.getNames())
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  return LengthAttr::get(a.getContext(), names, join(a.exprOver(names), b.exprOver(names)));
}

LengthAttr LengthAttr::operator+(LengthAttr other) const {
  return combine(AffineExprKind::Add, *this, other,
                 [](AffineExpr a, AffineExpr b) { return a + b; });
}
LengthAttr LengthAttr::operator-(LengthAttr other) const {
  return combine(AffineExprKind::Add, *this, other,
                 [](AffineExpr a, AffineExpr b) { return a - b; });
}
LengthAttr LengthAttr::operator*(LengthAttr other) const {
  return combine(AffineExprKind::Mul, *this, other,
                 [](AffineExpr a, AffineExpr b) { return a * b; });
}
LengthAttr LengthAttr::operator+(int64_t value) const {
  return !*this || value == 0 ? *this : *this + LengthAttr::get(getContext(), value);
}
LengthAttr LengthAttr::operator-(int64_t value) const {
  return !*this || value == 0 ? *this : *this - LengthAttr::get(getContext(), value);
}
LengthAttr LengthAttr::floorDiv(int64_t divisor) const {
  return !*this || divisor == 1 ? *this : floorDiv(LengthAttr::get(getContext(), divisor));
}
LengthAttr LengthAttr::ceilDiv(int64_t divisor) const {
  if (!*this || divisor == 1)
    return *this;
  return combine(AffineExprKind::CeilDiv, *this, LengthAttr::get(getContext(), divisor),
                 [](AffineExpr a, AffineExpr b) { return a.ceilDiv(b); });
}
LengthAttr LengthAttr::floorDiv(LengthAttr divisor) const {
  return combine(AffineExprKind::FloorDiv, *this, divisor,
                 [](AffineExpr a, AffineExpr b) { return a.floorDiv(b); });
}

ParseResult mlir::ft::detail::parseLength(AsmParser &parser, LengthAttr &length) {
  if (succeeded(parser.parseOptionalKeyword("ragged"))) {
    std::string name;
    if (parser.parseLParen() || parser.parseKeywordOrString(&name) || parser.parseRParen())
      return failure();
    length = LengthAttr::getRagged(StringAttr::get(parser.getContext(), name));
    return success();
  }
  NamedExprParser exprParser(parser);
  AffineExpr expr;
  if (exprParser.parse(expr))
    return failure();
  length = LengthAttr::get(parser.getContext(), exprParser.symbols, expr);
  return success();
}

void mlir::ft::detail::printLength(AsmPrinter &printer, LengthAttr length) {
  printer << length.str();
}

Attribute LengthAttr::parse(AsmParser &parser, Type) {
  LengthAttr length;
  if (parser.parseLess() || ft::detail::parseLength(parser, length) || parser.parseGreater())
    return {};
  return length;
}

void LengthAttr::print(AsmPrinter &printer) const { printer << '<' << str() << '>'; }

LengthAttr mlir::ft::resolveIndex(LengthAttr index, LengthAttr length) {
  std::optional<int64_t> constant = index.getConstant();
  return constant && *constant < 0 ? length + index : index;
}

//===----------------------------------------------------------------------===//
// BoundsAttr
//===----------------------------------------------------------------------===//

/// `a >= b` as a person writes it, for a - b ≥ 0.
std::string mlir::ft::inequalityStr(LengthAttr nonNegative) {
  MLIRContext *context = nonNegative.getContext();
  std::optional<QuasiPolynomial> form = QuasiPolynomial::get(nonNegative.getExpr());
  if (!form || nonNegative.getRagged() || form->isConstant())
    return nonNegative.str() + " >= 0";
  QuasiPolynomial left, right;
  bool overflow = false;
  for (const auto &[monomial, coefficient] : form->terms) {
    overflow |= coefficient == std::numeric_limits<int64_t>::min();
    bool goesLeft = coefficient > 0 && !monomial.empty();
    (goesLeft ? left : right).terms[monomial] = goesLeft ? coefficient : -(coefficient + 1) + 1;
  }
  if (overflow)
    return nonNegative.str() + " >= 0";
  auto str = [&](const QuasiPolynomial &side) {
    return LengthAttr::get(context, nonNegative.getNames(), side.toExpr(context)).str();
  };
  // Without a positive term it reads better the other way round: `5 >= L`.
  if (left.terms.empty()) {
    int64_t constant = form->getConstantTerm();
    right.terms.erase(Monomial());
    return str(right) + " <= " + std::to_string(constant);
  }
  return str(left) + " >= " + str(right);
}

static LengthAttr parseSide(AsmParser &parser, SMLoc loc, StringRef text) {
  SmallVector<StringAttr> symbols;
  std::string error;
  AffineExpr expr = parseNamedExpr(parser.getContext(), text, symbols, error);
  if (!expr) {
    parser.emitError(loc, error);
    return nullptr;
  }
  return LengthAttr::get(parser.getContext(), symbols, expr);
}

/// `"a >= b"`, `"a <= b"`, or `"a == b"`, which is both. In quotes, because MLIR looks
/// for the end of an attribute before it parses it, and takes a `>` for it.
static ParseResult parseInequality(AsmParser &parser, SmallVectorImpl<LengthAttr> &result) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  if (failed(parser.parseOptionalString(&text)))
    return parser.emitError(loc, "expected an inequality in quotes: #ft.bounds<\"L >= 5\">");
  size_t sign = std::string::npos;
  for (StringRef candidate : {">=", "<=", "=="})
    sign = std::min(sign, text.find(candidate));
  if (sign == std::string::npos)
    return parser.emitError(loc, "expected '>=', '<=' or '==' in \"") << text << "\"";
  char first = text[sign];
  StringRef leftText = StringRef(text).take_front(sign);
  StringRef rightText = StringRef(text).drop_front(sign + 2);
  LengthAttr left = parseSide(parser, loc, leftText);
  LengthAttr right = left ? parseSide(parser, loc, rightText) : nullptr;
  if (!right)
    return failure();
  if (first != '<')
    result.push_back(left - right);
  if (first != '>')
    result.push_back(right - left);
  return success();
}

Attribute BoundsAttr::parse(AsmParser &parser, Type) {
  SmallVector<LengthAttr> bounds;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList([&] { return parseInequality(parser, bounds); }) ||
      parser.parseGreater())
    return {};
  return BoundsAttr::get(parser.getContext(), bounds);
}

void BoundsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getNonNegative(), printer.getStream(),
                        [&](LengthAttr length) { printer << '"' << inequalityStr(length) << '"'; });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Generated data
//===----------------------------------------------------------------------===//

static ParseResult parseNumber(AsmParser &parser, double &value) {
  // `parseFloat` takes no integers, which are how most ends are written.
  int64_t integer = 0;
  bool negative = succeeded(parser.parseOptionalMinus());
  OptionalParseResult result = parser.parseOptionalInteger(integer);
  if (result.has_value()) {
    if (failed(*result))
      return failure();
    value = static_cast<double>(integer);
  } else if (parser.parseFloat(value)) {
    return failure();
  }
  if (negative)
    value = -value;
  return success();
}

/// The shortest decimal that reads back as the same number.
static void printNumber(AsmPrinter &printer, double value) {
  char buffer[32];
  std::to_chars_result end = std::to_chars(std::begin(buffer), std::end(buffer), value);
  StringRef text(buffer, end.ptr - buffer);
  // A float of MLIR has a point: `1.0e-20`.
  auto [mantissa, exponent] = text.split('e');
  printer << mantissa;
  if (!exponent.empty())
    printer << (mantissa.contains('.') ? "e" : ".0e") << exponent;
}

Attribute NormalAttr::parse(AsmParser &parser, Type) {
  double scale = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseNumber(parser, scale) || parser.parseGreater())
    return {};
  if (!(scale >= 0) || std::isinf(scale)) {
    parser.emitError(loc, "standard deviation must be finite and not negative");
    return {};
  }
  return NormalAttr::get(parser.getContext(), scale);
}

void NormalAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printNumber(printer, getScale());
  printer << '>';
}

Attribute UniformAttr::parse(AsmParser &parser, Type) {
  double lo = 0, hi = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseNumber(parser, lo) || parser.parseComma() ||
      parseNumber(parser, hi) || parser.parseGreater())
    return {};
  if (!(lo <= hi) || std::isinf(lo) || std::isinf(hi)) {
    parser.emitError(loc, "expected a finite range with its lower end first");
    return {};
  }
  return UniformAttr::get(parser.getContext(), lo, hi);
}

void UniformAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printNumber(printer, getLo());
  printer << ", ";
  printNumber(printer, getHi());
  printer << '>';
}

Attribute IndexAttr::parse(AsmParser &parser, Type) {
  LengthAttr lo, hi;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || ft::detail::parseLength(parser, lo) || parser.parseComma() ||
      ft::detail::parseLength(parser, hi) || parser.parseGreater())
    return {};
  if (lo.getRagged() || hi.getRagged()) {
    parser.emitError(loc, "a ragged length is no end of a range");
    return {};
  }
  if (lo.isConstant() && hi.isConstant() && *lo.getConstant() >= *hi.getConstant()) {
    parser.emitError(loc, "expected a range that is not empty");
    return {};
  }
  return IndexAttr::get(parser.getContext(), lo, hi);
}

void IndexAttr::print(AsmPrinter &printer) const {
  printer << '<' << getLo().str() << ", " << getHi().str() << '>';
}
