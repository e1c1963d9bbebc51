//===- BlockParser.cpp - parses etdg.block --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counterpart of BlockPrinter.cpp. Expressions are collected over symbols in
// order of appearance; how many there are is known at the end, so pieces are
// kept raw until then.
//
//===----------------------------------------------------------------------===//
#include "BlockForm.h"
#include <vector>

using namespace mlir;
using namespace mlir::etdg;

namespace {
struct RawPiece {
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> eqs;
  SourceKind kind = SourceKind::Buffer;
  int64_t operand = -1;
  SmallVector<AffineExpr> results;
  struct Gather {
    int64_t position, operand;
    SmallVector<AffineExpr> results;
  };
  SmallVector<Gather> gathers;
  TypedAttr value;
};
struct RawRead {
  std::vector<RawPiece> pieces;
  int64_t elementRank = 0;
};
struct RawWrite {
  int64_t operand;
  SmallVector<AffineExpr> results;
};

class BlockParser {
public:
  BlockParser(OpAsmParser &parser, OperationState &result)
      : parser(parser), result(result), context(parser.getContext()) {}
  ParseResult parse();

private:
  ParseResult parseHeader();
  ParseResult parseDimList(SmallVectorImpl<StringAttr> &names, bool bar);
  ParseResult parseDomain();
  ParseResult parseRange(unsigned dim);
  ParseResult parseBounds(StringRef join, SmallVectorImpl<AffineExpr> &bounds);
  ParseResult parseRead(RawRead &read);
  ParseResult parsePiece(RawPiece &piece, ArrayRef<StringAttr> names);
  ParseResult parseAccess(int64_t &operand, SmallVectorImpl<AffineExpr> &results,
                          SmallVectorImpl<RawPiece::Gather> *gathers, ArrayRef<StringAttr> names);
  ParseResult parseOperand(int64_t &operand);
  ParseResult parseExpr(AffineExpr &expr, ArrayRef<StringAttr> names);
  ParseResult parseConstraints(ArrayRef<StringAttr> names, SmallVectorImpl<AffineExpr> &constraints,
                               SmallVectorImpl<bool> &eqs);
  ReadAttr finish(const RawRead &read);
  AffineMap toMap(ArrayRef<AffineExpr> results, unsigned numDims) {
    return AffineMap::get(numDims, symbols.size(), results, context);
  }
  IntegerSet toSet(ArrayRef<AffineExpr> constraints, ArrayRef<bool> eqs, unsigned numDims) {
    if (constraints.empty())
      return getUniverse(context, numDims, symbols.size());
    return IntegerSet::get(numDims, symbols.size(), constraints, eqs);
  }

  OpAsmParser &parser;
  OperationState &result;
  MLIRContext *context;
  BlockBuilder block;
  SmallVector<StringAttr> symbols;
  SmallVector<AffineExpr> domain;
  SmallVector<bool> domainEqs;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
};
} // namespace

ParseResult BlockParser::parseExpr(AffineExpr &expr, ArrayRef<StringAttr> names) {
  ft::NamedExprParser exprs(parser, names);
  exprs.symbols = std::move(symbols);
  ParseResult status = exprs.parse(expr);
  symbols = std::move(exprs.symbols);
  return status;
}

ParseResult BlockParser::parseConstraints(ArrayRef<StringAttr> names,
                                          SmallVectorImpl<AffineExpr> &constraints,
                                          SmallVectorImpl<bool> &eqs) {
  ft::NamedExprParser exprs(parser, names);
  exprs.symbols = std::move(symbols);
  ParseResult status = parseConditions(parser, exprs, constraints, eqs);
  symbols = std::move(exprs.symbols);
  return status;
}

/// Dimension names up to the closing parenthesis; with `bar`, ancestors before `|`.
ParseResult BlockParser::parseDimList(SmallVectorImpl<StringAttr> &names, bool bar) {
  if (parser.parseLParen())
    return failure();
  bool first = true, sawBar = false;
  while (failed(parser.parseOptionalRParen())) {
    if (bar && !sawBar && succeeded(parser.parseOptionalVerticalBar())) {
      sawBar = first = true;
      block.numAncestors = names.size();
      continue;
    }
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if ((!first && parser.parseComma()) || parser.parseKeyword(&name))
      return failure();
    auto attr = StringAttr::get(context, name);
    if (llvm::is_contained(names, attr) || (!bar && llvm::is_contained(block.dims, attr)))
      return parser.emitError(loc) << "dimension '" << name << "' is named twice";
    names.push_back(attr);
    first = false;
  }
  return success();
}

ParseResult BlockParser::parseHeader() {
  StringAttr name;
  if (succeeded(parser.parseOptionalSymbolName(name)))
    block.name = name.getValue().str();
  auto parseOperator = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<ft::OperatorKind> kind = ft::symbolizeOperatorKind(keyword);
    if (!kind)
      return parser.emitError(loc)
             << "expected an operator: map, reduce, fold, foldl, scan or scanl, found '" << keyword
             << "'";
    block.operators.push_back(*kind);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOperator))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parseDimList(block.dims, /*bar=*/true))
    return failure();
  if (block.dims.size() != block.numAncestors + block.operators.size())
    return parser.emitError(loc) << "(K1) one operator for each own dimension: found "
                                 << block.operators.size() << " operators and "
                                 << block.dims.size() - block.numAncestors << " own dimensions";
  return success();
}

ParseResult BlockParser::parseBounds(StringRef join, SmallVectorImpl<AffineExpr> &bounds) {
  if (succeeded(parser.parseOptionalStar()))
    return success();
  auto parseOne = [&]() -> ParseResult { return parseExpr(bounds.emplace_back(), block.dims); };
  if (succeeded(parser.parseOptionalKeyword(join)))
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne);
  return parseOne();
}

ParseResult BlockParser::parseRange(unsigned d) {
  AffineExpr dim = getAffineDimExpr(d, context);
  auto add = [&](AffineExpr constraint, bool isEq) {
    domain.push_back(constraint);
    domainEqs.push_back(isEq);
  };
  if (succeeded(parser.parseOptionalEqual())) {
    AffineExpr value;
    if (parseExpr(value, block.dims))
      return failure();
    add(dim - value, true);
    return success();
  }
  SmallVector<AffineExpr> los, his;
  if (parser.parseLSquare() || parseBounds("max", los) || parser.parseComma() ||
      parseBounds("min", his) || parser.parseRParen())
    return failure();
  for (AffineExpr lo : los)
    add(dim - lo, false);
  for (AffineExpr hi : his)
    add(hi - 1 - dim, false);
  return success();
}

ParseResult BlockParser::parseDomain() {
  unsigned numOwn = block.operators.size();
  if (numOwn && parser.parseKeyword("in", "before the domain's ranges"))
    return failure();
  for (unsigned i = 0; i < numOwn; ++i)
    if ((i && parser.parseKeyword("x", "between the ranges of a domain")) ||
        parseRange(block.numAncestors + i))
      return failure();
  if (succeeded(parser.parseOptionalKeyword("where")))
    return parseConstraints(block.dims, domain, domainEqs);
  return success();
}

ParseResult BlockParser::parseOperand(int64_t &index) {
  OpAsmParser::UnresolvedOperand operand;
  if (parser.parseOperand(operand))
    return failure();
  auto it = llvm::find_if(operands, [&](const OpAsmParser::UnresolvedOperand &other) {
    return other.name == operand.name && other.number == operand.number;
  });
  index = it - operands.begin();
  if (it == operands.end())
    operands.push_back(operand);
  return success();
}

ParseResult BlockParser::parseAccess(int64_t &operand, SmallVectorImpl<AffineExpr> &results,
                                     SmallVectorImpl<RawPiece::Gather> *gathers,
                                     ArrayRef<StringAttr> names) {
  if (parseOperand(operand))
    return failure();
  auto parseResult = [&]() -> ParseResult {
    // A gather is a buffer's name in place of an expression.
    if (gathers) {
      OpAsmParser::UnresolvedOperand probe;
      OptionalParseResult isGather = parser.parseOptionalOperand(probe);
      if (isGather.has_value()) {
        if (failed(*isGather))
          return failure();
        RawPiece::Gather gather;
        gather.position = results.size();
        auto it = llvm::find_if(operands, [&](const OpAsmParser::UnresolvedOperand &other) {
          return other.name == probe.name && other.number == probe.number;
        });
        gather.operand = it - operands.begin();
        if (it == operands.end())
          operands.push_back(probe);
        auto parseIndex = [&]() -> ParseResult {
          return parseExpr(gather.results.emplace_back(), names);
        };
        if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseIndex))
          return failure();
        gathers->push_back(std::move(gather));
        results.push_back(getAffineConstantExpr(0, context));
        return success();
      }
    }
    return parseExpr(results.emplace_back(), names);
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseResult);
}

ParseResult BlockParser::parsePiece(RawPiece &piece, ArrayRef<StringAttr> names) {
  if (succeeded(parser.parseOptionalKeyword("splat"))) {
    piece.kind = SourceKind::Splat;
    return parser.parseAttribute(piece.value);
  }
  if (succeeded(parser.parseOptionalKeyword("index"))) {
    piece.kind = SourceKind::Index;
    return failure(parser.parseLParen() || parseExpr(piece.results.emplace_back(), names) ||
                   parser.parseRParen());
  }
  return parseAccess(piece.operand, piece.results, &piece.gathers, names);
}

ParseResult BlockParser::parseRead(RawRead &read) {
  SmallVector<StringAttr> names = block.dims;
  if (succeeded(parser.parseOptionalKeyword("elem"))) {
    SmallVector<StringAttr> elementDims;
    if (parseDimList(elementDims, /*bar=*/false))
      return failure();
    read.elementRank = elementDims.size();
    llvm::append_range(names, elementDims);
  }
  if (failed(parser.parseOptionalLBrace()))
    return parsePiece(read.pieces.emplace_back(), names);
  do {
    RawPiece &piece = read.pieces.emplace_back();
    if (parseConstraints(names, piece.constraints, piece.eqs) || parser.parseColon() ||
        parsePiece(piece, names))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRBrace();
}

ReadAttr BlockParser::finish(const RawRead &read) {
  unsigned numDims = block.dims.size() + read.elementRank;
  SmallVector<PieceAttr> pieces;
  for (const RawPiece &raw : read.pieces) {
    SmallVector<GatherAttr> gathers;
    for (const RawPiece::Gather &gather : raw.gathers)
      gathers.push_back(GatherAttr::get(context, gather.position, gather.operand,
                                        AffineMapAttr::get(toMap(gather.results, numDims))));
    pieces.push_back(PieceAttr::get(
        context, IntegerSetAttr::get(toSet(raw.constraints, raw.eqs, numDims)), raw.kind,
        raw.operand, AffineMapAttr::get(toMap(raw.results, numDims)), gathers, raw.value));
  }
  return ReadAttr::get(context, pieces, read.elementRank);
}

/// An empty body has its arguments, and a body ends in a yield.
static void completeBody(Region &body, ArrayRef<OpAsmParser::Argument> arguments, Location location) {
  if (body.empty()) {
    Block &entry = body.emplaceBlock();
    for (const OpAsmParser::Argument &argument : arguments)
      entry.addArgument(argument.type, location);
  }
  if (body.back().empty() || !body.back().back().hasTrait<OpTrait::IsTerminator>()) {
    OpBuilder builder(location.getContext());
    builder.setInsertionPointToEnd(&body.back());
    YieldOp::create(builder, location, ValueRange());
  }
}

ParseResult BlockParser::parse() {
  if (parseHeader() || parseDomain())
    return failure();

  SmallVector<RawRead> reads, identity;
  SmallVector<RawWrite> writes;
  SmallVector<OpAsmParser::Argument> arguments, combineArguments;
  auto parseNamedRead = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parseRead(reads.emplace_back()) || parser.parseColonType(argument.type));
  };
  auto parseWrite = [&]() -> ParseResult {
    RawWrite &write = writes.emplace_back();
    return parseAccess(write.operand, write.results, nullptr, block.dims);
  };
  auto parseIdentity = [&]() -> ParseResult { return parseRead(identity.emplace_back()); };

  if (succeeded(parser.parseOptionalKeyword("reads")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseNamedRead))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("writes")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseWrite))
    return failure();
  ScheduleAttr schedule;
  if (succeeded(parser.parseOptionalKeyword("schedule")) &&
      parser.parseCustomAttributeWithFallback(schedule))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();

  Region *body = result.addRegion();
  Region *combine = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  completeBody(*body, arguments, result.location);
  if (succeeded(parser.parseOptionalKeyword("combine")) &&
      (parser.parseArgumentList(combineArguments, AsmParser::Delimiter::Paren,
                                /*allowType=*/true) ||
       parser.parseRegion(*combine, combineArguments)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("identity")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseIdentity))
    return failure();

  SmallVector<Type> types;
  SMLoc typesLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalColon()) && parser.parseTypeList(types))
    return failure();
  if (types.size() != operands.size())
    return parser.emitError(typesLoc)
           << "expected one type for each buffer after the body: " << operands.size()
           << " buffers, found " << types.size() << " types";
  if (parser.resolveOperands(operands, types, typesLoc, result.operands))
    return failure();

  block.symbols = symbols;
  block.domain = toSet(domain, domainEqs, block.dims.size());
  for (const RawRead &read : reads)
    block.reads.push_back(finish(read));
  for (const RawWrite &write : writes)
    block.writes.push_back(WriteAttr::get(
        context, write.operand, AffineMapAttr::get(toMap(write.results, block.dims.size()))));
  for (const RawRead &read : identity)
    block.identity.push_back(finish(read));
  canonicalizeBlock(block);
  auto &properties = result.getOrAddProperties<BlockOp::Properties>();
  setBlockAttributes(block, context, properties);
  if (schedule)
    properties.schedule = schedule;
  return success();
}

ParseResult BlockOp::parse(OpAsmParser &parser, OperationState &result) {
  return BlockParser(parser, result).parse();
}
