//===- NamedAffine.cpp - affine expressions over names --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes quasi-affine expressions by name.
//
//===----------------------------------------------------------------------===//
#include "ft/Support/NamedAffine.h"

#include "ft/Support/QuasiPolynomial.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ft;

// Affine expressions are trees that MLIR walks recursively, so an expression of
// a hostile input must not be as long as the input.
static constexpr unsigned maxTerms = 1024;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// Tokens of the text that MLIR is parsing.
struct AsmSource {
  AsmParser &parser;

  MLIRContext *getContext() { return parser.getContext(); }
  SMLoc getLoc() { return parser.getCurrentLocation(); }
  ParseResult fail(SMLoc loc, const Twine &message) { return parser.emitError(loc, message); }
  OptionalParseResult integer(int64_t &value) { return parser.parseOptionalInteger(value); }
  bool word(StringRef &text) { return succeeded(parser.parseOptionalKeyword(&text)); }
  bool consume(char c) {
    switch (c) {
    case '+':
      return succeeded(parser.parseOptionalPlus());
    case '-':
      return succeeded(parser.parseOptionalMinus());
    case '*':
      return succeeded(parser.parseOptionalStar());
    case '(':
      return succeeded(parser.parseOptionalLParen());
    case ')':
      return succeeded(parser.parseOptionalRParen());
    default:
      return succeeded(parser.parseOptionalComma());
    }
  }
};

/// Tokens of a string. The first error is kept.
struct TextSource {
  MLIRContext *context;
  StringRef rest;
  std::string &error;

  MLIRContext *getContext() { return context; }
  StringRef getLoc() {
    rest = rest.ltrim();
    return rest;
  }
  ParseResult fail(StringRef at, const Twine &message) {
    if (error.empty())
      error = (message + " at '" + at.substr(0, 16).rtrim() + "'").str();
    return failure();
  }
  bool consume(char c) {
    if (!getLoc().starts_with(StringRef(&c, 1)))
      return false;
    rest = rest.drop_front();
    return true;
  }
  OptionalParseResult integer(int64_t &value) {
    StringRef digits = getLoc().take_while(llvm::isDigit);
    if (digits.empty())
      return std::nullopt;
    if (digits.getAsInteger(10, value))
      return fail(rest, "integer does not fit 64 bits");
    rest = rest.drop_front(digits.size());
    return ParseResult(success());
  }
  bool word(StringRef &text) {
    if (getLoc().empty() || !(llvm::isAlpha(rest.front()) || rest.front() == '_'))
      return false;
    text = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; });
    rest = rest.drop_front(text.size());
    return true;
  }
};

/// The grammar of the header, over either kind of tokens.
template <typename Source>
struct Grammar {
  Source source;
  ArrayRef<StringAttr> dims;
  SmallVectorImpl<StringAttr> &symbols;

  ParseResult sum(AffineExpr &expr) {
    auto loc = source.getLoc();
    OptionalParseResult result = optionalSum(expr);
    if (!result.has_value())
      return source.fail(loc, "expected an expression of integers and names, such as 'L - 2'");
    return *result;
  }

  OptionalParseResult optionalSum(AffineExpr &expr) {
    OptionalParseResult first = optionalTerm(expr);
    if (!first.has_value() || failed(*first))
      return first;
    for (unsigned terms = 1;; ++terms) {
      bool plus = source.consume('+');
      if (!plus && !source.consume('-'))
        return ParseResult(success());
      if (terms == maxTerms)
        return source.fail(source.getLoc(),
                           "expression of more than " + Twine(maxTerms) + " terms");
      auto loc = source.getLoc();
      AffineExpr term;
      OptionalParseResult next = optionalTerm(term);
      if (!next.has_value())
        return source.fail(loc, "expected an integer, a name or '('");
      if (failed(*next))
        return next;
      if (mayOverflow(AffineExprKind::Add, expr, term))
        return source.fail(loc, "constant does not fit 63 bits");
      expr = plus ? expr + term : expr - term;
    }
  }

  OptionalParseResult optionalTerm(AffineExpr &expr) {
    OptionalParseResult first = optionalFactor(expr);
    if (!first.has_value() || failed(*first))
      return first;
    for (unsigned factors = 1;; ++factors) {
      auto loc = source.getLoc();
      if (!source.consume('*'))
        return ParseResult(success());
      if (factors == maxTerms)
        return source.fail(loc, "product of more than " + Twine(maxTerms) + " factors");
      AffineExpr factor;
      OptionalParseResult next = optionalFactor(factor);
      if (!next.has_value())
        return source.fail(loc, "expected a factor after '*'");
      if (failed(*next))
        return next;
      if (!expr.isSymbolicOrConstant() && !factor.isSymbolicOrConstant())
        return source.fail(loc, "product of two dimensions is not affine");
      if (mayOverflow(AffineExprKind::Mul, expr, factor))
        return source.fail(loc, "constant does not fit 63 bits");
      expr = expr * factor;
    }
  }

  OptionalParseResult optionalFactor(AffineExpr &expr) {
    bool negative = false, anySign = false;
    while (source.consume('-')) {
      negative = !negative;
      anySign = true;
    }
    auto loc = source.getLoc();
    int64_t value = 0;
    OptionalParseResult integer = source.integer(value);
    StringRef word;
    if (integer.has_value()) {
      if (failed(*integer))
        return integer;
      expr = getAffineConstantExpr(value, source.getContext());
    } else if (source.consume('(')) {
      if (sum(expr) || expect(')'))
        return ParseResult(failure());
    } else if (source.word(word)) {
      if (named(loc, word, expr))
        return ParseResult(failure());
    } else {
      if (anySign)
        return source.fail(loc, "expected an integer, a name or '(' after '-'");
      return std::nullopt;
    }
    if (negative)
      expr = expr * -1;
    return ParseResult(success());
  }

private:
  ParseResult expect(char c) {
    auto loc = source.getLoc();
    if (source.consume(c))
      return success();
    return source.fail(loc, Twine("expected '") + Twine(c) + "'");
  }

  template <typename Loc>
  ParseResult named(Loc loc, StringRef word, AffineExpr &expr) {
    MLIRContext *context = source.getContext();
    if (word == "floordiv" || word == "ceildiv" || word == "mod") {
      AffineExpr lhs, rhs;
      if (expect('(') || sum(lhs) || expect(','))
        return failure();
      auto divisorLoc = source.getLoc();
      if (sum(rhs) || expect(')'))
        return failure();
      auto constant = dyn_cast<AffineConstantExpr>(rhs);
      if (constant && constant.getValue() < 1)
        return source.fail(divisorLoc,
                           "divisor must be at least 1, found " + Twine(constant.getValue()));
      if (!rhs.isSymbolicOrConstant())
        return source.fail(divisorLoc, "divisor is not a constant or a length");
      expr = word == "floordiv"  ? lhs.floorDiv(rhs)
             : word == "ceildiv" ? lhs.ceilDiv(rhs)
                                 : lhs % rhs;
      return success();
    }
    StringAttr name = StringAttr::get(context, word);
    if (const auto *dim = llvm::find(dims, name); dim != dims.end()) {
      expr = getAffineDimExpr(dim - dims.begin(), context);
      return success();
    }
    size_t position = llvm::find(symbols, name) - symbols.begin();
    if (position == symbols.size()) {
      if (position == maxTerms)
        return source.fail(loc, "more than " + Twine(maxTerms) + " names");
      symbols.push_back(name);
    }
    expr = getAffineSymbolExpr(position, context);
    return success();
  }
};
} // namespace

ParseResult NamedExprParser::parse(AffineExpr &expr) {
  return Grammar<AsmSource>{{parser}, dims, symbols}.sum(expr);
}

OptionalParseResult NamedExprParser::parseOptional(AffineExpr &expr) {
  return Grammar<AsmSource>{{parser}, dims, symbols}.optionalSum(expr);
}

AffineExpr mlir::ft::parseNamedExpr(MLIRContext *context, StringRef text,
                                    SmallVectorImpl<StringAttr> &symbols, std::string &error) {
  AffineExpr expr;
  Grammar<TextSource> grammar{{context, text, error}, {}, symbols};
  if (failed(grammar.sum(expr)))
    return nullptr;
  StringRef rest = grammar.source.getLoc();
  if (!rest.empty()) {
    (void)grammar.source.fail(rest, "expected an operator or the end");
    return nullptr;
  }
  return expr;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

namespace {
/// One summand: an integer times factors that are no constants.
struct Term {
  int64_t coefficient = 1;
  SmallVector<AffineExpr, 2> factors;
};

struct Printer {
  raw_ostream &os;
  ArrayRef<StringAttr> dims, symbols;

  void printSum(AffineExpr expr);
  void printTerm(const Term &term, bool isFirst);
  void printFactor(AffineExpr expr);
};
} // namespace

static void collectFactors(AffineExpr expr, Term &term) {
  if (expr.getKind() == AffineExprKind::Mul) {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    collectFactors(binary.getLHS(), term);
    collectFactors(binary.getRHS(), term);
    return;
  }
  int64_t product;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr);
      constant && !llvm::MulOverflow(term.coefficient, constant.getValue(), product))
    term.coefficient = product;
  else
    term.factors.push_back(expr);
}

static void collectTerms(AffineExpr expr, SmallVectorImpl<Term> &terms) {
  if (expr.getKind() == AffineExprKind::Add) {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    collectTerms(binary.getLHS(), terms);
    collectTerms(binary.getRHS(), terms);
    return;
  }
  collectFactors(expr, terms.emplace_back());
}

void Printer::printSum(AffineExpr expr) {
  SmallVector<Term> terms;
  collectTerms(expr, terms);
  // `N - i - 1`, `4 - L`, `L + 4`: what is positive first, a constant last
  // unless it alone is positive.
  bool anyPositive =
      llvm::any_of(terms, [](const Term &t) { return t.coefficient > 0 && !t.factors.empty(); });
  auto rank = [&](const Term &term) {
    if (term.factors.empty())
      return anyPositive || term.coefficient < 0 ? 3 : 0;
    return term.coefficient > 0 ? 1 : 2;
  };
  bool isFirst = true;
  for (int wanted = 0; wanted != 4; ++wanted)
    for (const Term &term : terms)
      if (rank(term) == wanted) {
        printTerm(term, isFirst);
        isFirst = false;
      }
}

void Printer::printTerm(const Term &term, bool isFirst) {
  bool negative = term.coefficient < 0;
  if (!isFirst)
    os << (negative ? " - " : " + ");
  else if (negative)
    os << '-';
  // The magnitude of the least integer does not fit int64_t.
  uint64_t magnitude = negative ? -static_cast<uint64_t>(term.coefficient) : term.coefficient;
  bool needsStar = magnitude != 1 || term.factors.empty();
  if (needsStar)
    os << magnitude;
  for (AffineExpr factor : term.factors) {
    if (needsStar)
      os << " * ";
    needsStar = true;
    printFactor(factor);
  }
}

void Printer::printFactor(AffineExpr expr) {
  StringRef function;
  switch (expr.getKind()) {
  case AffineExprKind::DimId:
    os << dims[cast<AffineDimExpr>(expr).getPosition()].getValue();
    return;
  case AffineExprKind::SymbolId:
    os << symbols[cast<AffineSymbolExpr>(expr).getPosition()].getValue();
    return;
  case AffineExprKind::Constant:
  case AffineExprKind::Add:
  case AffineExprKind::Mul:
    os << '(';
    printSum(expr);
    os << ')';
    return;
  case AffineExprKind::FloorDiv:
    function = "floordiv";
    break;
  case AffineExprKind::CeilDiv:
    function = "ceildiv";
    break;
  case AffineExprKind::Mod:
    function = "mod";
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  os << function << '(';
  printSum(binary.getLHS());
  os << ", ";
  printSum(binary.getRHS());
  os << ')';
}

void mlir::ft::printNamedExpr(raw_ostream &os, AffineExpr expr, ArrayRef<StringAttr> dims,
                              ArrayRef<StringAttr> symbols) {
  Printer{os, dims, symbols}.printSum(expr);
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

void mlir::ft::canonicalizeSymbols(SmallVectorImpl<StringAttr> &names,
                                   MutableArrayRef<AffineExpr> exprs, unsigned numDims) {
  llvm::SmallBitVector used(names.size());
  for (AffineExpr expr : exprs)
    if (expr)
      expr.walk([&](AffineExpr e) {
        if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
          used.set(symbol.getPosition());
      });
  SmallVector<StringAttr> sorted;
  for (auto [index, name] : llvm::enumerate(names))
    if (used[index])
      sorted.push_back(name);
  llvm::sort(sorted, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  sorted.erase(llvm::unique(sorted), sorted.end());
  for (AffineExpr &expr : exprs)
    if (expr)
      expr = alignSymbols(expr, names, sorted);
  names.assign(sorted.begin(), sorted.end());
}

AffineExpr mlir::ft::alignSymbols(AffineExpr expr, ArrayRef<StringAttr> from,
                                  ArrayRef<StringAttr> to) {
  if (from == to)
    return expr;
  SmallVector<AffineExpr> replacements;
  for (StringAttr name : from) {
    const auto *position = llvm::find(to, name);
    // A name that does not occur may be missing; its replacement is never used.
    unsigned symbol = position == to.end() ? 0 : position - to.begin();
    replacements.push_back(getAffineSymbolExpr(symbol, expr.getContext()));
  }
  return expr.replaceSymbols(replacements);
}
