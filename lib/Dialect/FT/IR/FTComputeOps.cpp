//===- FTComputeOps.cpp - map, reduce, fold, scan -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembly and verification of the array compute operators (FT Table 1).
//
//===----------------------------------------------------------------------===//
#include "FTDetail.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ft;

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

LengthAttr ComputeOp::getLength() {
  return cast<ListType>(getLists().front().getType()).getLength();
}
YieldOp ComputeOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

OperatorKind MapOp::getKind() { return OperatorKind::Map; }
OperandRange MapOp::getLists() { return getLists_(); }
OperandRange MapOp::getInits() {
  return {getOperation()->operand_end(), getOperation()->operand_end()};
}
OperandRange MapOp::getIdentities() { return getInits(); }
Region &MapOp::getBody() { return getBody_(); }
Region *MapOp::getCombineOrNull() { return nullptr; }
LengthAttr MapOp::getLagOrOne() { return LengthAttr::get(getContext(), 1); }
StringAttr MapOp::getLayerName() { return getLayerAttr(); }
ArrayRef<int64_t> MapOp::getLayerValues() { return getLayers().value_or(ArrayRef<int64_t>()); }

#define FT_AGGREGATE(OP, KIND)                                                                     \
  OperatorKind OP::getKind() { return OperatorKind::KIND; }                                        \
  OperandRange OP::getLists() { return getLists_(); }                                              \
  OperandRange OP::getInits() { return getInits_(); }                                              \
  OperandRange OP::getIdentities() { return getIdentities_(); }                                    \
  Region &OP::getBody() { return getBody_(); }                                                     \
  Region *OP::getCombineOrNull() { return getCombine_().empty() ? nullptr : &getCombine_(); }      \
  LengthAttr OP::getLagOrOne() {                                                                   \
    return getLagAttr() ? getLagAttr() : LengthAttr::get(getContext(), 1);                         \
  }                                                                                                \
  StringAttr OP::getLayerName() { return getLayerAttr(); }                                         \
  ArrayRef<int64_t> OP::getLayerValues() { return getLayers().value_or(ArrayRef<int64_t>()); }
FT_AGGREGATE(ReduceOp, Reduce)
FT_AGGREGATE(FoldOp, Fold)
FT_AGGREGATE(FoldLOp, FoldL)
FT_AGGREGATE(FoldROp, FoldR)
FT_AGGREGATE(ScanOp, Scan)
FT_AGGREGATE(ScanLOp, ScanL)
FT_AGGREGATE(ScanROp, ScanR)
#undef FT_AGGREGATE

SmallVector<Type> mlir::ft::detail::getStateTypes(ComputeOp op) {
  SmallVector<Type> types;
  if (op.isMap())
    return types;
  if (!op.getInits().empty())
    return SmallVector<Type>(op.getInits().getTypes());
  for (Type type : op.getLists().getTypes())
    types.push_back(cast<ListType>(type).getPeeled());
  return types;
}

/// C2: states, then elements.
static SmallVector<Type> getBodyTypes(ComputeOp op) {
  SmallVector<Type> types = ft::detail::getStateTypes(op);
  for (Type type : op.getLists().getTypes())
    types.push_back(cast<ListType>(type).getPeeled());
  return types;
}

/// C8: what an operator over `length` elements makes of the yielded types.
static SmallVector<Type> inferResults(bool isFold, LengthAttr length, TypeRange values,
                                      TypeRange emits) {
  SmallVector<Type> types;
  for (Type type : values)
    types.push_back(isFold ? type : ListType::wrap(length, type));
  for (Type type : emits)
    types.push_back(ListType::wrap(length, type));
  return types;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

using Argument = OpAsmParser::Argument;
using UnresolvedOperand = OpAsmParser::UnresolvedOperand;

/// Keeps the name a person gave to a region argument, for the printer.
static ParseResult parseArguments(OpAsmParser &parser, SmallVectorImpl<Argument> &arguments) {
  auto parseOne = [&]() -> ParseResult {
    Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument))
      return failure();
    StringRef name = argument.ssaName.name.drop_front();
    if (argument.ssaName.number == 0 && !argument.sourceLoc && !llvm::isDigit(name.front()))
      argument.sourceLoc = NameLoc::get(parser.getBuilder().getStringAttr(name),
                                        parser.getEncodedSourceLoc(argument.ssaName.location));
    return success();
  };
  return parser.parseCommaSeparatedList(parseOne);
}

/// `%i, %j : !x, !y)`
static ParseResult parseOperandsAndTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types,
                                         OperationState &result) {
  SmallVector<UnresolvedOperand> operands;
  SMLoc loc = parser.getCurrentLocation();
  return failure(parser.parseOperandList(operands) || parser.parseColonTypeList(types) ||
                 parser.parseRParen() ||
                 parser.resolveOperands(operands, types, loc, result.operands));
}

/// `(%x, %w = %xs, %ws : !ft.list<..>, !ft.list<..>)`
static ParseResult parseHeader(OpAsmParser &parser, SmallVectorImpl<Argument> &arguments,
                               SmallVectorImpl<Type> &types, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLParen() || parseArguments(parser, arguments) || parser.parseEqual() ||
      parseOperandsAndTypes(parser, types, result))
    return failure();
  if (arguments.size() != types.size())
    return parser.emitError(loc, "expected as many region arguments as operands, found ")
           << arguments.size() << " and " << types.size();
  return success();
}

static ParseResult parseBody(OpAsmParser &parser, Region &region, ArrayRef<Argument> arguments) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseRegion(region, arguments))
    return failure();
  // The verifier of blocks would print all that is there.
  if (region.empty() || region.back().empty() || !region.back().back().hasTrait<OpTrait::IsTerminator>())
    return parser.emitError(loc, "expected a region that ends in 'ft.yield'");
  return success();
}

/// `for d in [1, 2, 4]`, if it is there.
static ParseResult parseLayers(OpAsmParser &parser, OperationState &result) {
  if (failed(parser.parseOptionalKeyword("for")))
    return success();
  std::string name;
  SmallVector<int64_t> values;
  auto parseOne = [&] { return parser.parseInteger(values.emplace_back()); };
  if (parser.parseKeywordOrString(&name) || parser.parseKeyword("in") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  result.addAttribute("layer", parser.getBuilder().getStringAttr(name));
  result.addAttribute("layers", parser.getBuilder().getDenseI64ArrayAttr(values));
  return success();
}

/// `init (…)`, or `state (…)` for each element; how many states have an initial value.
static ParseResult parseStates(OpAsmParser &parser, OperationState &result, ArrayRef<Argument> elements,
                               SmallVectorImpl<Argument> &states, size_t &numInits) {
  SmallVector<Type> stateTypes;
  if (succeeded(parser.parseOptionalKeyword("init"))) {
    if (parseHeader(parser, states, stateTypes, result))
      return failure();
    numInits = states.size();
  } else {
    // The first elements are the states, which still need names.
    SMLoc stateLoc = parser.getCurrentLocation();
    if (parser.parseKeyword("state", ", or 'init'") || parser.parseLParen() ||
        parseArguments(parser, states) || parser.parseRParen())
      return failure();
    if (states.size() != elements.size())
      return parser.emitError(stateLoc, "(C4) without 'init' each list has one state: expected ")
             << elements.size() << ", found " << states.size();
    for (const Argument &element : elements)
      stateTypes.push_back(element.type);
  }
  for (auto [state, type] : llvm::zip_equal(states, stateTypes))
    state.type = type;
  return success();
}

/// `combine (…) {…}`, if it is there.
static ParseResult parseCombine(OpAsmParser &parser, OperationState &result, ArrayRef<Argument> states) {
  Region *combine = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("combine"))) {
    SmallVector<Argument> pairs;
    SMLoc pairLoc = parser.getCurrentLocation();
    if (parser.parseLParen() || parseArguments(parser, pairs) || parser.parseRParen())
      return failure();
    if (pairs.size() != 2 * states.size())
      return parser.emitError(pairLoc, "(C6) 'combine' takes the states twice: expected ")
             << 2 * states.size() << " arguments, found " << pairs.size();
    for (auto [index, pair] : llvm::enumerate(pairs))
      pair.type = states[index % states.size()].type;
    if (parseBody(parser, *combine, pairs))
      return failure();
  }
  return success();
}

/// `attributes {…}`, none of which has a syntax of its own.
static ParseResult parseWritten(OpAsmParser &parser, OperationState &result) {
  SMLoc attributesLoc = parser.getCurrentLocation();
  NamedAttrList written;
  if (parser.parseOptionalAttrDictWithKeyword(written))
    return failure();
  for (StringRef inherent : {"lag", "operandSegmentSizes", "layer", "layers"})
    if (written.get(inherent))
      return parser.emitError(attributesLoc, "'") << inherent << "' has a syntax of its own";
  result.attributes.append(written.begin(), written.end());
  return success();
}

static ParseResult parseCompute(OpAsmParser &parser, OperationState &result, OperatorKind kind) {
  bool isMap = kind == OperatorKind::Map;
  SMLoc loc = parser.getCurrentLocation();

  SmallVector<Argument> states, elements;
  SmallVector<Type> listTypes, identityTypes;
  if (parseHeader(parser, elements, listTypes, result))
    return failure();
  for (auto [element, type] : llvm::zip_equal(elements, listTypes)) {
    auto list = dyn_cast<ListType>(type);
    if (!list)
      return parser.emitError(loc, "expected lists to traverse, found ") << type;
    element.type = list.getPeeled();
  }

  size_t numInits = 0;
  LengthAttr lag;
  if (!isMap) {
    if (parseStates(parser, result, elements, states, numInits))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("lag")) && ft::detail::parseLength(parser, lag))
      return failure();
  }
  if (parseLayers(parser, result))
    return failure();

  bool hasTypes = succeeded(parser.parseOptionalArrow());
  if (hasTypes && parser.parseTypeList(result.types))
    return failure();
  if (parseWritten(parser, result))
    return failure();

  SmallVector<Argument> arguments(states);
  arguments.append(elements);
  Region *body = result.addRegion();
  SMLoc bodyLoc = parser.getCurrentLocation();
  if (parseBody(parser, *body, arguments))
    return failure();

  if (!isMap) {
    if (parseCombine(parser, result, states))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("identity")) &&
        (parser.parseLParen() || parseOperandsAndTypes(parser, identityTypes, result)))
      return failure();

    Builder &builder = parser.getBuilder();
    if (lag && lag.getConstant() != 1)
      result.addAttribute("lag", lag);
    result.addAttribute("operandSegmentSizes",
                        builder.getDenseI32ArrayAttr({static_cast<int32_t>(elements.size()),
                                                      static_cast<int32_t>(numInits),
                                                      static_cast<int32_t>(identityTypes.size())}));
  }

  if (hasTypes)
    return success();
  auto yield = body->front().empty() ? YieldOp() : dyn_cast<YieldOp>(body->front().back());
  if (!yield)
    return parser.emitError(bodyLoc, "expected a region that ends in 'ft.yield', or the result "
                                     "types after '->'");
  // Types inferred from too few or too many states would be reported where the results are used.
  if (!isMap && yield.getValues().size() != states.size()) {
    InFlightDiagnostic diag = mlir::emitError(yield.getLoc(), "(C3) expected to yield the ")
                              << states.size() << " states, found " << yield.getValues().size()
                              << " values" << (yield.getEmits().empty() ? "" : " before 'emit'");
    diag.attachNote(parser.getEncodedSourceLoc(loc)) << "the operator is here";
    return diag;
  }
  bool isFold = !isMap && kind != OperatorKind::Scan && kind != OperatorKind::ScanL &&
                kind != OperatorKind::ScanR;
  result.addTypes(inferResults(isFold, cast<ListType>(listTypes.front()).getLength(),
                               yield.getValues().getTypes(), yield.getEmits().getTypes()));
  return success();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printHeader(OpAsmPrinter &printer, ValueRange arguments, ValueRange operands) {
  printer << " (" << arguments << " = " << operands << " : " << operands.getTypes() << ')';
}

static void printCompute(OpAsmPrinter &printer, ComputeOp op) {
  printHeader(printer, op.getElementArgs(), op.getLists());
  if (!op.isMap()) {
    if (op.getInits().empty())
      printer << " state (" << ValueRange(op.getStateArgs()) << ')';
    else {
      printer << " init";
      printHeader(printer, op.getStateArgs(), op.getInits());
    }
    if (LengthAttr lag = op.getLagOrOne(); lag.getConstant() != 1)
      printer << " lag " << lag.str();
  }
  if (StringAttr name = op.getLayerName()) {
    printer << " for ";
    printer.printKeywordOrString(name.getValue());
    printer << " in [" << op.getLayerValues() << ']';
  }
  printer << " -> " << op->getResultTypes();
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(),
                                           {"lag", "operandSegmentSizes", "layer", "layers"});
  printer << ' ';
  printer.printRegion(op.getBody(), /*printEntryBlockArgs=*/false);
  if (Region *combine = op.getCombineOrNull()) {
    printer << " combine (" << ValueRange(combine->getArguments()) << ") ";
    printer.printRegion(*combine, /*printEntryBlockArgs=*/false);
  }
  if (!op.getIdentities().empty())
    printer << " identity (" << op.getIdentities() << " : " << op.getIdentities().getTypes() << ')';
}

/// The names that were parsed; else s for states, x for elements.
static void nameArguments(ComputeOp op, Region &region, OpAsmSetValueNameFn setName) {
  size_t numStates = op.getNumStates();
  bool isBody = &region == &op.getBody();
  for (BlockArgument argument : region.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
      setName(argument, name.getName());
    else if (isBody)
      setName(argument, index < numStates ? "s" : "x");
    else
      setName(argument, index < numStates ? "a" : "b");
  }
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// C7 and what C4 says of it.
static LogicalResult verifyLag(ComputeOp op) {
  LengthAttr lag = op.getLagOrOne();
  if (lag.getRagged() || (lag.isConstant() && *lag.getConstant() < 1)) // C7
    return op->emitOpError("(C7) 'lag' must be at least 1, found ") << lag.str();
  if (lag.getConstant() == 1)
    return success();
  if (!op.isScan()) // C7
    return op->emitOpError("(C7) 'lag' is for scans only");
  if (op.getInits().empty()) // C4
    return op->emitOpError("(C4) without 'init' the lag is 1, found ") << lag.str();
  if (auto function = op->getParentOfType<FunctionOpInterface>())
    if (failed(ft::detail::verifyNames(lag, getNamesAt(op), function,
                                       [&] { return op->emitOpError("(C7) 'lag': "); })))
      return failure();
  return ft::detail::verifyNonNegative(op, lag - 1, "(C7) 'lag' " + lag.str(), // C7
                                       "must be at least 1");
}

/// C11, but for names in the types of results, which no operation may invent.
static LogicalResult verifyLayers(ComputeOp op) {
  StringAttr name = op.getLayerName();
  ArrayRef<int64_t> values = op.getLayerValues();
  if (!name && !op->hasAttr("layers"))
    return success();
  if (!name || name.empty() || !op->hasAttr("layers"))
    return op->emitOpError("(C11) 'for' gives a name and its values");
  if (op.getLength().getConstant() != static_cast<int64_t>(values.size()) || values.empty())
    return op->emitOpError("(C11) 'for' gives ")
           << values.size() << " values to lists of length " << op.getLength().str()
           << ": there must be as many as elements, and at least one";
  for (int64_t value : values)
    if (value < 0)
      return op->emitOpError("(C11) '") << name.getValue() << "' is a length, and none is " << value;
  if (llvm::is_contained(getNamesAt(op), name))
    return op->emitOpError("(C11) the length '") << name.getValue() << "' is bound already";
  if (op.getCombineOrNull() || !op.getIdentities().empty())
    return op->emitOpError("(C11) takes its elements one by one: 'for' goes without 'combine'");
  if (!op.getLagOrOne().isConstant())
    return op->emitOpError("(C11) takes its elements one by one: with 'for' the lag is a constant, "
                           "found ")
           << op.getLagOrOne().str();
  return success();
}

static LogicalResult verifyCompute(ComputeOp op) {
  if (op.getLists().empty()) // C1
    return op->emitOpError("(C1) needs at least one list");
  for (auto [index, type] : llvm::enumerate(op.getLists().getTypes())) // C1
    if (LengthAttr length = cast<ListType>(type).getLength(); length != op.getLength())
      return op->emitOpError("(C1) all lists must have the same outermost length: list 0 has ")
             << op.getLength().str() << ", list " << index << " has " << length.str();
  if (failed(verifyLayers(op)))
    return failure();
  if (op.isMap())
    return success();
  if (failed(verifyLag(op)))
    return failure();
  if (op.getInits().empty()) { // C4
    std::string length = op.getLength().str();
    if (op.getLength().getRagged())
      return op->emitOpError("(C4) without 'init' no list may be empty, which is not known of the "
                             "ragged dimension ")
             << length;
    if (failed(ft::detail::verifyNonNegative(op, op.getLength() - 1, "(C4) without 'init'",
                                             "the length must be at least 1, found " + length)))
      return failure();
  }

  SmallVector<Type> states = ft::detail::getStateTypes(op);
  if (!op.getIdentities().empty() &&
      TypeRange(op.getIdentities().getTypes()) != TypeRange(states)) // C6
    return op->emitOpError("(C6) 'identity' must give one value for each state: expected ")
           << states << ", found " << op.getIdentities().getTypes();
  if (!op.isReassociable()) {
    if (op.getCombineOrNull() || !op.getIdentities().empty()) // C5
      return op->emitOpError(
          "(C5) is ordered: 'combine' and 'identity' are for reduce, fold and scan");
    return success();
  }
  if (op.getCombineOrNull())
    return success();
  SmallVector<Type> elements;
  for (Type type : op.getLists().getTypes())
    elements.push_back(cast<ListType>(type).getPeeled());
  if (states != elements) // C5
    return op->emitOpError("(C5) may be re-associated only where state and element types agree or "
                           "'combine' is given: states ")
           << states << ", elements " << elements << "; '"
           << (op.isScan() ? ScanLOp::getOperationName() : FoldLOp::getOperationName()) << "' keeps the order";
  return success();
}

/// The yield of a region, or an error at `op`.
static FailureOr<YieldOp> verifyYield(ComputeOp op, Region &region, StringRef name) {
  if (!region.hasOneBlock()) // C10
    return op->emitOpError("(C10) region '") << name << "' must have one block";
  Block &block = region.front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op->emitOpError("region '") << name << "' must end in 'ft.yield'";
  return yield;
}

static LogicalResult refuseYield(ComputeOp op, YieldOp yield, const Twine &text, TypeRange expected,
                                 TypeRange found) {
  InFlightDiagnostic diag = op->emitOpError(text)
                            << ": expected (" << expected << "), found (" << found << ")";
  diag.attachNote(yield.getLoc()) << "yielded here";
  return diag;
}

static LogicalResult verifyComputeRegions(ComputeOp op) {
  FailureOr<YieldOp> yield = verifyYield(op, op.getBody(), "body");
  if (failed(yield))
    return failure();
  SmallVector<Type> states = ft::detail::getStateTypes(op), arguments = getBodyTypes(op);
  if (TypeRange found = op.getBody().getArgumentTypes(); found != TypeRange(arguments)) // C2
    return op->emitOpError(
               "(C2) region arguments must be the states, then the elements: expected (")
           << arguments << "), found (" << found << ")";

  TypeRange values = yield->getValues().getTypes(), emits = yield->getEmits().getTypes();
  if (op.isMap()) { // C9
    if (values.empty())
      return op->emitOpError("(C9) a map yields at least one value");
    if (!emits.empty())
      return op->emitOpError("(C9) a map carries no state, so all it yields comes before 'emit'");
  } else {
    if (values != TypeRange(states)) // C3
      return refuseYield(op, *yield, "(C3) the yielded states must have the states' types", states,
                         values);
    if (op.getInits().empty() && !emits.empty()) // C4
      return op->emitOpError("(C4) without 'init' nothing is emitted");
    if (op.isReassociable() && op.isFold() && !emits.empty()) // C5
      return op->emitOpError(
          "(C5) emits nothing, because the states that the region sees depend on the "
          "association; 'ft.foldl' keeps the order");
  }
  SmallVector<Type> results = inferResults(op.isFold(), op.getLength(), values, emits);
  if (TypeRange found = op->getResultTypes(); found != TypeRange(results)) // C8
    return refuseYield(op, *yield, "(C8) result types must be those inferred from the yield",
                       results, found);

  Region *combine = op.getCombineOrNull();
  if (!combine)
    return success();
  FailureOr<YieldOp> combined = verifyYield(op, *combine, "combine");
  if (failed(combined))
    return failure();
  SmallVector<Type> twice(states);
  twice.append(states);
  if (TypeRange found = combine->getArgumentTypes(); found != TypeRange(twice)) // C6
    return op->emitOpError("(C6) 'combine' takes the states twice: expected (")
           << twice << "), found (" << found << ")";
  if (TypeRange found = combined->getValues().getTypes(); found != TypeRange(states)) // C6
    return refuseYield(op, *combined, "(C6) 'combine' yields the states once", states, found);
  if (!combined->getEmits().empty()) // C6
    return op->emitOpError("(C6) 'combine' emits nothing");
  return success();
}

/// Every part of the eight operators is one of the functions above.
#define FT_COMPUTE(OP, KIND)                                                                       \
  ParseResult OP::parse(OpAsmParser &parser, OperationState &result) {                             \
    return parseCompute(parser, result, OperatorKind::KIND);                                       \
  }                                                                                                \
  void OP::print(OpAsmPrinter &printer) {                                                          \
    printCompute(printer, cast<ComputeOp>(getOperation()));                                        \
  }                                                                                                \
  void OP::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {                 \
    nameArguments(cast<ComputeOp>(getOperation()), region, setName);                               \
  }                                                                                                \
  LogicalResult OP::verify() { return verifyCompute(cast<ComputeOp>(getOperation())); }            \
  LogicalResult OP::verifyRegions() {                                                              \
    return verifyComputeRegions(cast<ComputeOp>(getOperation()));                                  \
  }
FT_COMPUTE(MapOp, Map)
FT_COMPUTE(ReduceOp, Reduce)
FT_COMPUTE(FoldOp, Fold)
FT_COMPUTE(FoldLOp, FoldL)
FT_COMPUTE(FoldROp, FoldR)
FT_COMPUTE(ScanOp, Scan)
FT_COMPUTE(ScanLOp, ScanL)
FT_COMPUTE(ScanROp, ScanR)
#undef FT_COMPUTE
