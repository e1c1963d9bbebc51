//===- TileRows.cpp - checks of rows in registers -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Tile/IR/Tile.h"

#include "Numbers.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult RowAccessesAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> widths, int64_t line) {
  for (int64_t width : widths)
    if (width < 1 || !llvm::isPowerOf2_64(uint64_t(width)))
      return emitError() << "(A1) expected powers of two of adjacent elements, found widths = [" << widths << "]";
  if (line < -1 || line >= int64_t(widths.size()))
    return emitError() << "(A2) expected the number of one of " << widths.size() << " places, or -1, found line = " << line;
  return success();
}

LogicalResult RowAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t threads, int64_t lanes, int64_t width,
                              int64_t rows, int64_t line) {
  if (threads < 1 || width < 1 || rows < 1 || lanes < 1 || line < 1 || !llvm::isPowerOf2_64(uint64_t(lanes)) ||
      !llvm::isPowerOf2_64(uint64_t(line)))
    return emitError() << "(W1) expected numbers of at least 1, 'lanes' and 'line' powers of two; found threads = " << threads
                       << ", lanes = " << lanes << ", width = " << width << ", rows = " << rows << ", line = " << line;
  if (int64_t number = findTooGreat({threads, lanes, width, rows, line}))
    return emitError() << "(W3) expected numbers of at most " << mostNumber << ", found " << number;
  if (lanes <= warpThreads ? threads % lanes != 0 : lanes != threads || rows != 1 || lanes > warpThreads * warpThreads)
    return emitError() << "(W2) expected lanes of one warp of " << warpThreads
                       << ", or all threads of at most as many warps with one row at a time; found lanes = " << lanes
                       << " of " << threads << " threads with rows = " << rows;
  return success();
}

LogicalResult RowPlaceAttr::verify(function_ref<InFlightDiagnostic()> emitError, Type element, int64_t, ArrayRef<int64_t>,
                                   int64_t) {
  if (!element.isSignlessIntOrFloat() || (element.getIntOrFloatBitWidth() % 8 != 0 && !element.isInteger(1)))
    return emitError() << "(C1) expected elements that are integers or floats, 'i1' or of whole bytes; found " << element;
  return success();
}

Attribute RowPlaceAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  Type element;
  int64_t offset = 0, step = 0;
  SmallVector<int64_t> digits;
  auto number = [&](StringRef name, int64_t &value) -> ParseResult {
    return failure(parser.parseComma() || parser.parseKeyword(name) || parser.parseEqual() || parser.parseInteger(value));
  };
  auto digit = [&] { return parser.parseInteger(digits.emplace_back()); };
  if (parser.parseLess() || parser.parseType(element) || number("offset", offset) || parser.parseComma() ||
      parser.parseKeyword("digits") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, digit) || number("step", step) || parser.parseGreater())
    return {};
  return parser.getChecked<RowPlaceAttr>(loc, parser.getContext(), element, offset, ArrayRef<int64_t>(digits), step);
}

void RowPlaceAttr::print(AsmPrinter &printer) const {
  printer << "<" << getElement() << ", offset = " << getOffset() << ", digits = [" << getDigits()
          << "], step = " << getStep() << ">";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult RowsType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type elementType,
                               Attribute layout) {
  auto sliced = dyn_cast<SlicedAttr>(layout);
  auto row = sliced ? sliced.getOf() : dyn_cast<RowAttr>(layout);
  if (!row)
    return emitError() << "(F1) expected a layout of rows, whole or sliced; found " << layout;
  bool isShape = shape.size() == (sliced ? 1 : 2) && llvm::all_of(shape, [](int64_t size) { return size >= 1; });
  if (!isShape || !elementType.isSignlessIntOrFloat() || (!sliced && shape[1] % row.getWidth() != 0))
    return emitError() << "(F1) expected a number of rows" << (sliced ? "" : " and of their elements, in accesses of ")
                       << (sliced ? "" : std::to_string(row.getWidth())) << ", of integers or floats; found [" << shape << "] of "
                       << elementType;
  if (!sliced && (findTooGreat(shape[1]) || row.getRows() * row.getChunks(shape[1]) > mostElements / row.getWidth()))
    return emitError() << "(F3) expected at most " << mostElements << " elements for each lane, found " << shape[0] << " x " << shape[1]
                       << " by " << row;
  if (shape[0] != row.getRowsAtOnce())
    return emitError() << "(F2) the layout has " << row.getRowsAtOnce() << " rows at a time, found " << shape[0];
  return success();
}

Type RowsType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  Attribute layout;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(layout) || parser.parseGreater())
    return {};
  return parser.getChecked<RowsType>(loc, parser.getContext(), ArrayRef<int64_t>(shape), element, layout);
}

void RowsType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape())
    printer << size << "x";
  printer << getElementType() << ", " << getLayout() << ">";
}

LogicalResult PointsType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> digits, int64_t length,
                                 RowAttr layout, bool, bool shifted) {
  if (llvm::any_of(digits, [](int64_t digit) { return digit < 1; }) || length < 1 || length % layout.getWidth() != 0)
    return emitError() << "(Q1) expected numbers of at least 1 and a length in accesses of " << layout.getWidth() << "; found ["
                       << digits << "], " << length;
  if (findTooGreat(length))
    return emitError() << "(Q3) expected rows of at most " << mostNumber << " elements, found " << length;
  if (shifted && layout.getLine() == 1)
    return emitError() << "(Q2) what is shifted has lines of more than one access, found " << layout;
  return success();
}

Type PointsType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> digits;
  int64_t length = 0;
  RowAttr layout;
  auto digit = [&] { return parser.parseInteger(digits.emplace_back()); };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, digit) || parser.parseComma() ||
      parser.parseInteger(length) || parser.parseComma() || parser.parseAttribute(layout))
    return {};
  bool masked = false, shifted = false;
  while (succeeded(parser.parseOptionalComma())) {
    bool &word = !masked && !shifted && succeeded(parser.parseOptionalKeyword("masked")) ? masked : shifted;
    if (&word == &shifted && (shifted || parser.parseKeyword("shifted")))
      return {};
    word = true;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PointsType>(loc, parser.getContext(), ArrayRef<int64_t>(digits), length, layout, masked, shifted);
}

void PointsType::print(AsmPrinter &printer) const {
  printer << "<[" << getDigits() << "], " << getLength() << ", " << getLayout();
  if (getMasked())
    printer << ", masked";
  if (getShifted())
    printer << ", shifted";
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

LogicalResult LanesOp::verify() {
  PointsType type = getType();
  if (type.getLayout().getRows() != 1 || type.getMasked() || type.getShifted())
    return emitOpError() << "(1) expected one row for each group of lanes, neither masked nor shifted; found " << type;
  return success();
}

LogicalResult PointsOp::verify() {
  PointsType from = getLanes().getType(), to = getType();
  if (from.getDigits() != to.getDigits() || from.getLength() != to.getLength() || from.getLayout() != to.getLayout().withRows(1) ||
      from.getMasked() || from.getShifted())
    return emitOpError() << "(1) expected the points and the layout of the lanes, found " << from << " and " << to;
  if (to.getMasked() != (to.getLayout().getRowsAtOnce() > 1))
    return emitOpError() << "(2) expected a mask if and only if there is more than one row at a time, found "
                         << to.getLayout().getRowsAtOnce() << " rows";
  bool isPlace = getLine() && getPlace() && getPlace()->getDigits().size() == to.getDigits().size();
  bool isNone = !getLine() && !getPlace() && !getStride();
  if (to.getShifted() ? !isPlace : !isNone)
    return emitOpError() << "(3) expected " << (to.getShifted() ? "a" : "no") << " pointer with a place of "
                         << to.getDigits().size() << " digits, as rows are" << (to.getShifted() ? "" : " not") << " shifted";
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Whether rows are those of the points, whole or, where that is asked for, one value for each.
static bool isOf(RowsType rows, PointsType points) {
  return rows.getRow() == points.getLayout() && (rows.isSliced() || rows.getLength() == points.getLength());
}

static LogicalResult verifyAccess(Operation *op, RowsType rows, PointsType points, RowPlaceAttr place, int64_t width) {
  if (!isOf(rows, points) || rows.isSliced() != (place.getStep() == 0) || rows.getElementType() != place.getElement())
    return op->emitOpError() << "(1) expected rows of " << points << " with elements of " << place
                             << ", a value for each where it has no step; found " << rows;
  if (place.getDigits().size() != points.getDigits().size())
    return op->emitOpError() << "(2) expected a place of " << points.getDigits().size() << " digits, found "
                             << place.getDigits().size();
  bool isAccess = width == points.getLayout().getWidth() && place.getStep() == 1 &&
                  width * place.getElementBytes() <= accessBytes;
  if (width != 1 && !isAccess)
    return op->emitOpError() << "(3) expected accesses of one element, or of " << points.getLayout().getWidth()
                             << " that are adjacent and take at most " << accessBytes << " bytes; found " << width;
  return success();
}

LogicalResult LoadRowsOp::verify() {
  RowPlaceAttr place = getPlace();
  PointsType points = getPoints().getType();
  if (failed(verifyAccess(*this, getType(), points, place, getWidth())))
    return failure();
  if (bool(getValue()) != bool(getIfValue()) || (getStep() && !getValue()))
    return emitOpError("(4) expected a value and the condition under which it is read, or neither");
  for (Value part : {getValue(), getStep()})
    if (part && part.getType() != place.getElement() &&
        !(part.getType().isInteger(64) && isa<IntegerType>(place.getElement())))
      return emitOpError() << "(4) expected a value of " << place.getElement() << " or an index, found " << part.getType();
  auto moves = [](int64_t digit) { return digit != 0; };
  bool hasIndex = false;
  getBegin().walk([&](IndexOp) { hasIndex = true; });
  bool begins = points.getShifted() && points.getLayout().getRows() > 1 && !getType().isSliced();
  if (getUniform() && (getStride() || getStep() || llvm::any_of(place.getDigits(), moves) || hasIndex || begins))
    return emitOpError("(5) expected a place that is the same for all rows, as they are uniform");
  if (!getBegin().empty()) {
    auto yield = dyn_cast<YieldOp>(getBegin().front().back());
    if (!yield || yield->getNumOperands() != 1 || !yield.getOperand(0).getType().isInteger(64))
      return emitOpError("(6) expected a body that yields where an access begins, an i64");
  }
  return success();
}

LogicalResult StoreRowsOp::verify() {
  return verifyAccess(*this, getRows().getType(), getPoints().getType(), getPlace(), getWidth());
}

//===----------------------------------------------------------------------===//
// Rows in registers
//===----------------------------------------------------------------------===//

/// Whether an operation in a sweep is of elements of rows, and of points of which length and layout.
static std::pair<bool, PointsType> gridOf(Operation *op) {
  if (auto map = dyn_cast<MapRowsOp>(op))
    return {llvm::any_of(map.getResultTypes(), [](Type type) { return !cast<RowsType>(type).isSliced(); }),
            map.getPoints().getType()};
  if (auto sums = dyn_cast<AccumulateOp>(op))
    return {true, sums.getPoints().getType()};
  if (auto reduce = dyn_cast<ReduceRowsOp>(op))
    return {false, reduce.getPoints().getType()};
  auto load = dyn_cast<LoadRowsOp>(op);
  return load ? std::pair(!load.getType().isSliced(), load.getPoints().getType()) : std::pair(false, PointsType());
}

LogicalResult SweepOp::verify() {
  Block &body = getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(getInputs().getTypes()) ||
      TypeRange(body.getTerminator()->getOperandTypes()) != TypeRange(getResultTypes()))
    return emitOpError("(1) expected a body from the operands to the results");
  auto isRows = [](Value value) { return isa<RowsType, PointsType>(value.getType()); };
  std::optional<std::pair<bool, PointsType>> first;
  for (Operation &op : body) {
    for (Value operand : op.getOperands())
      if (isRows(operand) && operand.getParentBlock() != &body)
        return op.emitOpError() << "(2) expected rows and points that are operands of the sweep around";
    if (isa<YieldOp>(op))
      break;
    auto grid = gridOf(&op);
    if (!grid.second)
      return op.emitOpError("(3) is nothing that a sweep computes");
    if (first && *first != grid)
      return op.emitOpError("(4) works on other elements than what is before it in the sweep");
    first = grid;
  }
  return success();
}

static SmallVector<Type> elementsOf(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) { return cast<RowsType>(type).getElementType(); });
}

static LogicalResult verifyInputs(Operation *op, TypeRange inputs, PointsType points) {
  for (Type type : inputs)
    if (!isOf(cast<RowsType>(type), points))
      return op->emitOpError() << "(2) expected rows of " << points << ", found " << type;
  return success();
}

LogicalResult MapRowsOp::verify() {
  PointsType points = getPoints().getType();
  bool isSliced = llvm::all_of(getResultTypes(), [](Type type) { return cast<RowsType>(type).isSliced(); });
  for (Type type : getResultTypes())
    if (!isOf(cast<RowsType>(type), points) || cast<RowsType>(type).isSliced() != isSliced)
      return emitOpError() << "(1) expected rows of " << points << ", or a value for each of them throughout; found " << type;
  for (Type type : getInputs().getTypes())
    if (isSliced && !cast<RowsType>(type).isSliced())
      return emitOpError() << "(1) expected operands with a value for each row, as results are; found " << type;
  if (failed(verifyInputs(*this, getInputs().getTypes(), points)))
    return failure();
  Block &body = getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(elementsOf(getInputs().getTypes())) ||
      TypeRange(body.getTerminator()->getOperandTypes()) != TypeRange(elementsOf(getResultTypes())))
    return emitOpError("(3) expected a body from elements of the operands to elements of the results");
  return success();
}

LogicalResult AccumulateOp::verify() {
  PointsType points = getPoints().getType();
  if (failed(verifyInputs(*this, getInputs().getTypes(), points)))
    return failure();
  SmallVector<Type> sums(getNeutral().getTypes());
  auto partial = llvm::map_to_vector(sums, [&](Type type) -> Type { return RowsType::getPartial(points.getLayout(), type); });
  if (TypeRange(getResultTypes()) != TypeRange(partial))
    return emitOpError() << "(2) expected, for each of " << sums.size()
                         << " values that it begins with, an access for each lane of " << points.getLayout();
  Block &body = getBody().front();
  SmallVector<Type> arguments = elementsOf(getInputs().getTypes());
  llvm::append_range(arguments, sums);
  if (TypeRange(body.getArgumentTypes()) != TypeRange(arguments) ||
      TypeRange(body.getTerminator()->getOperandTypes()) != TypeRange(sums))
    return emitOpError("(3) expected a body from elements of the operands and what is combined to what is combined then");
  return success();
}

LogicalResult ReduceRowsOp::verify() {
  RowAttr row = getPoints().getType().getLayout();
  Type element = getType().getElementType();
  if (getInput().getType() != RowsType::getPartial(row, element) || getType() != RowsType::getSliced(row, element))
    return emitOpError() << "(1) expected an access for each lane and a value for each row of " << row << ", found "
                         << getInput().getType() << " and " << getType();
  Block &body = getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(ArrayRef<Type>{element, element}) ||
      TypeRange(body.getTerminator()->getOperandTypes()) != TypeRange(ArrayRef<Type>{element}))
    return emitOpError() << "(2) expected a body that combines two elements of " << element;
  if (bool(getScratch()) != (row.getLanes() > warpThreads))
    return emitOpError() << "(3) expected " << (getScratch() ? "no " : "") << "memory to go through, as " << row.getLanes()
                         << " lanes share a row";
  if (unsigned bits = element.getIntOrFloatBitWidth(); bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return emitOpError() << "(4) expected elements of 1, 8, 16, 32 or 64 bits, found " << element;
  return success();
}

LogicalResult SpreadOp::verify() {
  RowsType from = getInput().getType(), to = getType();
  if (!from.isSliced() || !to.isSliced() || from.getElementType() != to.getElementType() || from.getRow().getRows() != 1 ||
      from.getRow() != to.getRow().withRows(1))
    return emitOpError() << "(1) expected a value for each row, of which each group of lanes has one before; found " << from
                         << " and " << to;
  return success();
}

LogicalResult IndexOp::verify() {
  Operation *parent = (*this)->getParentOp();
  if (auto nest = dyn_cast<NestOp>(parent->getParentOp())) {
    int64_t numbers = 2 + (isa<ReadOp, WriteOp>(parent) ? 0 : int64_t(nest.getLoops().size()));
    if (int64_t(getNumber()) >= numbers)
      return emitOpError() << "(1) expected a number below " << numbers << ", found " << getNumber();
    return success();
  }
  auto [isOfElements, points] = gridOf(parent);
  auto numbers = int64_t(points.getDigits().size()) + (isOfElements ? 2 : 1);
  // (A row in memory that a load begins has no element yet.)
  if (isa<LoadRowsOp>(parent))
    numbers = int64_t(points.getDigits().size()) + 1;
  if (int64_t(getNumber()) >= numbers)
    return emitOpError() << "(1) expected a number below " << numbers << ", found " << getNumber();
  return success();
}
