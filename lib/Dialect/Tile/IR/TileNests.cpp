//===- TileNests.cpp - checks of loop nests, point by point ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Tile/IR/Tile.h"

#include "Numbers.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

bool PointTilesAttr::isOfBlock() const { return getLanes() > warpThreads; }

LogicalResult PointTilesAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t threads, int64_t vector, int64_t width,
                                     int64_t loop, int64_t tile, bool rows, int64_t together, int64_t lanes, bool reuse,
                                     int64_t slices, int64_t granule, DenseI64ArrayAttr unroll) {
  for (int64_t number : {threads, width, tile, together, lanes, slices, granule})
    if (number < 1)
      return emitError() << "(T1) expected numbers of at least 1, found " << number;
  if (int64_t number = findTooGreat({threads, width, tile, together, lanes, slices, granule}))
    return emitError() << "(T6) expected numbers of at most " << mostNumber << ", found " << number;
  if (unroll && llvm::any_of(unroll.asArrayRef(), [](int64_t copies) { return copies < 0; }))
    return emitError() << "(T1) expected numbers of copies of at least 0, found " << unroll;
  bool isTile = tile == 1 ? loop < 0 && !rows : rows != (loop >= 0);
  if ((width > 1 && vector < 0) || !isTile || (loop >= 0 && loop == vector))
    return emitError() << "(T2) expected a loop for a vector, and another loop, or rows, for a tile of several iterations; found vector = "
                       << vector << ", width = " << width << ", loop = " << loop << ", tile = " << tile
                       << (rows ? ", rows" : "");
  bool isOfWarp = lanes <= warpThreads && llvm::isPowerOf2_64(uint64_t(lanes));
  if (lanes != 1 && (threads % warpThreads != 0 || (!isOfWarp && lanes != threads)))
    return emitError() << "(T3) expected 1 lane, a power of two of a warp's " << warpThreads << ", or all threads, whole warps; found lanes = " << lanes
                       << " of " << threads << " threads";
  if ((lanes > 1) + (slices > 1) + (together > 1) > 1)
    return emitError() << "(T4) expected at most one of lanes, slices and together; found lanes = " << lanes << ", slices = " << slices
                       << ", together = " << together;
  if ((reuse && lanes <= warpThreads) || (granule > 1 && slices == 1))
    return emitError() << "(T5) expected reuse of what lanes of a block join through, and a granule of slices; found lanes = " << lanes
                       << ", granule = " << granule << ", slices = " << slices;
  return success();
}

LogicalResult PointPlaceAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t, DenseI64ArrayAttr strides,
                                     ArrayRef<BorderAttr> borders, DenseI64ArrayAttr begins, TypedAttr outside) {
  bool isWhole = borders.empty() ? !begins && !outside : begins && outside && size_t(begins.size()) == borders.size();
  for (BorderAttr border : borders)
    isWhole &= border.getSteps().size() == size_t(strides.size());
  if (!isWhole)
    return emitError() << "(E1) expected, for each of " << borders.size() << " borders, " << strides.size()
                       << " steps and where it begins, and what is outside if there are any";
  return success();
}

LogicalResult FlagAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t input, bool) {
  if (input < 0)
    return emitError() << "(F1) expected the number of an input, found " << input;
  return success();
}

void NestAttr::print(AsmPrinter &printer) const {
  printer << "<loops = ";
  printer.printStrippedAttrOrType(getLoops());
  if (getRows())
    printer << ", rows";
  if (getLifts() != 1)
    printer << ", lifts = " << getLifts();
  if (getColumns() >= 0)
    printer << ", columns = " << getColumns();
  if (getFirst())
    printer << ", first";
  if (getAsync())
    printer << ", async";
  printer << ", tiles = ";
  printer.printStrippedAttrOrType(getTiles());
  if (getRest()) {
    printer << ", rest = ";
    printer.printStrippedAttrOrType(getRest());
  }
  printer << ", accesses = ";
  printer.printStrippedAttrOrType(getAccesses());
  if (getGuard()) {
    printer << ", guard = ";
    printer.printStrippedAttrOrType(getGuard());
  }
  printer << ">";
}

Attribute NestAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  auto value = [&](StringRef name, auto &into) -> ParseResult { // of a name that must come next
    return failure(parser.parseKeyword(name) || parser.parseEqual() || parser.parseCustomAttributeWithFallback(into));
  };
  auto list = [&](DenseI64ArrayAttr &into) -> ParseResult {
    into = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, Type()));
    return success(bool(into));
  };
  DenseI64ArrayAttr loops, accesses;
  PointTilesAttr tiles, rest;
  FlagAttr guard;
  int64_t lifts = 1, columns = -1;
  bool rows = false, first = false, async = false;
  if (parser.parseLess() || parser.parseKeyword("loops") || parser.parseEqual() || list(loops) || parser.parseComma())
    return {};
  auto optional = [&](StringRef name, bool &is) -> ParseResult {
    is = succeeded(parser.parseOptionalKeyword(name));
    return is ? parser.parseComma() : success();
  };
  auto number = [&](StringRef name, int64_t &into) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(name)))
      return success();
    return failure(parser.parseEqual() || parser.parseInteger(into) || parser.parseComma());
  };
  if (optional("rows", rows) || number("lifts", lifts) || number("columns", columns) || optional("first", first) || optional("async", async) ||
      value("tiles", tiles) || parser.parseComma())
    return {};
  if (succeeded(parser.parseOptionalKeyword("rest")) &&
      (parser.parseEqual() || parser.parseCustomAttributeWithFallback(rest) || parser.parseComma()))
    return {};
  if (parser.parseKeyword("accesses") || parser.parseEqual() || list(accesses))
    return {};
  if (succeeded(parser.parseOptionalComma()) && value("guard", guard))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), loops, rows, lifts, columns, first, async, tiles, rest, accesses, guard);
}

NestAttr NestAttr::withAsync() const {
  return get(getContext(), getLoops(), getRows(), getLifts(), getColumns(), getFirst(), /*async=*/true, getTiles(), getRest(), getAccesses(), getGuard());
}

LogicalResult NestAttr::verify(function_ref<InFlightDiagnostic()> emitError, DenseI64ArrayAttr loops, bool, int64_t lifts, int64_t columns,
                               bool first, bool async, PointTilesAttr tiles, PointTilesAttr rest, DenseI64ArrayAttr accesses, FlagAttr) {
  if (llvm::any_of(loops.asArrayRef(), [](int64_t size) { return size < 0; }) || lifts < 1)
    return emitError() << "(G1) expected loops of sizes that are not negative, and at least one lift; found [" << loops.asArrayRef()
                       << "], lifts = " << lifts;
  if (columns < -1 || columns >= int64_t(loops.size()) || (first && columns >= 0))
    return emitError() << "(G2) expected columns of one of " << loops.size() << " loops, or the first block's; found columns = " << columns
                       << (first ? ", first" : "");
  if (rest && (!tiles.getRows() || rest.getThreads() != tiles.getThreads() || rest.getTile() != 1))
    return emitError() << "(G3) expected a rest of tiles of rows, one by one, of " << tiles.getThreads() << " threads; found " << rest;
  for (int64_t width : accesses.asArrayRef())
    if (width != 0 && width != 1 && width != tiles.getWidth())
      return emitError() << "(G4) expected accesses of 0, 1 or " << tiles.getWidth() << " elements, found " << width;
  bool isCopy = accesses.size() == 2 && !llvm::is_contained(accesses.asArrayRef(), 0) && tiles.getLanes() == 1 && tiles.getSlices() == 1;
  if (async && !isCopy)
    return emitError() << "(G5) expected two accesses of memory, by threads that share no point, of what is copied while they go on; found accesses = ["
                       << accesses.asArrayRef() << "], " << tiles;
  return success();
}

LogicalResult MemoryType::verify(function_ref<InFlightDiagnostic()> emitError, Type element) {
  if (!element.isSignlessIntOrFloat() || (element.getIntOrFloatBitWidth() % 8 != 0 && !element.isInteger(1)))
    return emitError() << "(N1) expected elements that are integers or floats, 'i1' or of whole bytes; found " << element;
  return success();
}

LogicalResult MemoryOp::verify() {
  if (!getPointer() && !getValue())
    return emitOpError("(1) expected a pointer or a value");
  if (bool(getValue()) != bool(getIfValue()) || ((getRowStride() || getLiftStride()) && !getPointer()) ||
      ((getStep() || getLiftStep()) && !getValue()))
    return emitOpError("(2) expected a condition with a value, distances with a pointer, and steps with a value");
  Type element = getType().getElementType();
  for (Value part : {getValue(), getStep(), getLiftStep()})
    if (part && part.getType() != element && !(part.getType().isInteger(64) && isa<IntegerType>(element)))
      return emitOpError() << "(3) expected a value of " << element << " or an index, found " << part.getType();
  if (getSwizzled() && (!getPointer() || cast<LLVM::LLVMPointerType>(getPointer().getType()).getAddressSpace() != sharedSpace))
    return emitOpError() << "(4) expected swizzled memory to be shared, of space " << sharedSpace;
  return success();
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

SmallVector<int64_t> NestOp::getLoopsOf(bool reduced) {
  SmallVector<int64_t> loops;
  int64_t vector = getLayout().getVector();
  for (auto [loop, isReduced] : llvm::enumerate(getReduced()))
    if (isReduced == reduced && int64_t(loop) != vector)
      loops.push_back(int64_t(loop));
  if (vector >= 0 && getReduced()[size_t(vector)] == reduced)
    loops.push_back(vector);
  return loops;
}

std::optional<int64_t> NestOp::getNumTiles() {
  if (getRows() || getSplit())
    return std::nullopt;
  auto tiles = int64_t(getLifts());
  for (int64_t loop : getParallelLoops())
    tiles *= getLoops()[size_t(loop)] / getLayout().getStep(loop);
  return tiles;
}

LogicalResult NestOp::verifyLoops() {
  PointTilesAttr layout = getLayout();
  auto numLoops = int64_t(getLoops().size());
  if (numLoops != int64_t(getReduced().size()) || llvm::any_of(getLoops(), [](int64_t size) { return size < 0; }) ||
      int64_t(getLifts()) < 1)
    return emitOpError() << "(1) expected as many loops as flags, none of a negative size, and at least one lift; found [" << getLoops()
                         << "], " << getReduced().size() << " flags, lifts = " << getLifts();
  auto isLoop = [&](int64_t loop, bool reduced) {
    return loop < 0 || (loop < numLoops && getReduced()[size_t(loop)] == reduced);
  };
  if (!isLoop(layout.getVector(), layout.getLanes() > 1) || !isLoop(layout.getLoop(), false) ||
      !isLoop(getSplit() ? int64_t(*getSplit()) : -1, false))
    return emitOpError() << "(2) expected a vector of a loop that is " << (layout.getLanes() > 1 ? "" : "not ")
                         << "reduced, a tile and columns of loops that are not; found " << layout;
  if (bool(getColumn()) != bool(getNumColumns()) || bool(getColumn()) != bool(getSplit()))
    return emitOpError("(2) expected the first column, how many, and which loop they are of");
  for (auto [loop, step] : {std::pair(layout.getVector(), layout.getWidth()), std::pair(layout.getLoop(), layout.getTile())})
    if (loop >= 0 && getLoops()[size_t(loop)] % step != 0)
      return emitOpError() << "(3) expected a tile that divides loop " << loop << " of " << getLoops()[size_t(loop)] << ", found "
                           << step;
  if (layout.getRows() && !getRows())
    return emitOpError("(3) expected rows, of which a tile takes some");
  return success();
}

LogicalResult NestOp::verifySharing() {
  PointTilesAttr layout = getLayout();
  SmallVector<int64_t> reduced = getReducedLoops();
  bool shares = layout.getLanes() > 1 || layout.getSlices() > 1;
  if (shares && (reduced.empty() || (layout.getLanes() > 1 && layout.getVector() < 0)))
    return emitOpError("(4) expected a reduced loop, which threads share");
  for (auto sums : getBody().getOps<ReducePointsOp>()) {
    if (shares && sums.getCombiners().empty())
      return sums.emitOpError("(4) of the nest: expected how threads join what they have");
    if (layout.getTogether() > 1)
      return sums.emitOpError("(8) of the nest: stands in tiles whose loads are together");
  }
  if (bool(getScratch()) != layout.isOfBlock() || bool(getPartials()) != (layout.getSlices() > 1))
    return emitOpError() << "(5) expected memory that lanes of the block, or slices, join through, and no other; found " << layout;
  bool isReused = layout.isOfBlock() && getNumTiles() != std::optional<int64_t>(1) && getNumTiles() != std::optional<int64_t>(0);
  if (layout.getReuse() != isReused)
    return emitOpError() << "(6) expected " << (isReused ? "" : "no ") << "reuse of what lanes join through, found " << layout;
  if (layout.getSlices() > 1 && getLoops()[size_t(reduced.front())] % layout.getGranule() != 0)
    return emitOpError() << "(7) expected a granule that divides the " << getLoops()[size_t(reduced.front())]
                         << " iterations of loop " << reduced.front() << ", found " << layout.getGranule();
  return success();
}

LogicalResult NestOp::verifyBody() {
  for (Operation &op : getBody().front()) {
    auto memory = TypeSwitch<Operation *, Value>(&op)
                      .Case<ReadOp, WriteOp>([](auto access) -> Value { return access.getMemory(); })
                      .Default([](Operation *) { return Value(); });
    if (!isa<ReadOp, WriteOp, MapPointsOp, ReducePointsOp>(op))
      return op.emitOpError("(9) of the nest: is nothing that a nest computes");
    if (memory && !memory.getDefiningOp<MemoryOp>())
      return op.emitOpError("(9) of the nest: expected memory that a 'tile.memory' makes");
  }
  return success();
}

int64_t NestOp::getCopiedElements() {
  auto read = *getBody().getOps<ReadOp>().begin();
  auto write = *getBody().getOps<WriteOp>().begin();
  return read.getWidth() == write.getWidth() ? int64_t(read.getWidth()) : 1;
}

/// A copy of one element, from where to where it may be made asynchronously.
LogicalResult NestOp::verifyAsync() {
  if (!getAsync())
    return success();
  Block &body = getBody().front();
  auto refuse = [&] { return emitOpError("(10) "); };
  auto reads = body.getOps<ReadOp>();
  auto maps = body.getOps<MapPointsOp>();
  auto writes = body.getOps<WriteOp>();
  if (body.getOperations().size() != 3 || reads.empty() || maps.empty() || writes.empty() || getLayout().getLanes() > 1 ||
      getLayout().getSlices() > 1)
    return refuse() << "expected one element that is read, handed on and written, by threads that share no point";
  ReadOp read = *reads.begin();
  MapPointsOp map = *maps.begin();
  WriteOp write = *writes.begin();
  Block &same = map.getBody().front();
  auto yield = cast<YieldOp>(same.getTerminator());
  if (map.getInputs() != ValueRange(read.getResult()) || write.getValue() != map->getResult(0) || yield.getNumOperands() != 1 ||
      same.getNumArguments() != 1 || yield.getOperand(0) != same.getArgument(0))
    return refuse() << "expected the element that is read to be written as it is";
  auto spaceOf = [](Value memory) {
    auto made = memory.getDefiningOp<MemoryOp>();
    return made.getPointer() && !made.getIfValue() ? int(cast<LLVM::LLVMPointerType>(made.getPointer().getType()).getAddressSpace()) : -1;
  };
  if (!read.getPlace().getBorders().empty() || spaceOf(read.getMemory()) != deviceSpace || spaceOf(write.getMemory()) != sharedSpace)
    return refuse() << "expected a read without borders of memory of the device, and a write of shared memory";
  int64_t bytes = getCopiedElements() * read.getMemory().getType().getElementBytes();
  if (!llvm::is_contained(asyncBytes, bytes) || read.getType().isInteger(1))
    return refuse() << "expected accesses of 4, 8 or 16 bytes, found " << bytes;
  return success();
}

LogicalResult NestOp::verify() {
  return failure(failed(verifyLoops()) || failed(verifySharing()) || failed(verifyBody()) || failed(verifyAsync()));
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

static LogicalResult verifyAccess(Operation *op, Type element, MemoryType memory, PointPlaceAttr place, int64_t width, Region &begin) {
  auto nest = cast<NestOp>(op->getParentOp());
  if (size_t(place.getStrides().size()) != nest.getLoops().size())
    return op->emitOpError() << "(1) expected a stride for each of " << nest.getLoops().size() << " loops, found " << place;
  PointTilesAttr layout = nest.getLayout();
  bool isAccess = width == layout.getWidth() && place.getBorders().empty() && layout.getVector() >= 0 &&
                  place.getStrides()[layout.getVector()] == 1 && width * memory.getElementBytes() <= accessBytes;
  if (width != 1 && !isAccess)
    return op->emitOpError() << "(2) expected accesses of one element, or of " << layout.getWidth() << " that are adjacent and take at most "
                             << accessBytes << " bytes; found " << width;
  if (element != memory.getElementType() || (place.getOutside() && place.getOutside().getType() != element))
    return op->emitOpError() << "(3) expected elements of " << memory << ", found " << element;
  if (begin.empty())
    return success();
  auto yield = dyn_cast<YieldOp>(begin.front().back());
  if (!yield || yield->getNumOperands() != 1 || !yield.getOperand(0).getType().isInteger(64))
    return op->emitOpError("(4) expected a body that yields where elements begin, an i64");
  return success();
}

LogicalResult ReadOp::verify() {
  return verifyAccess(*this, getType(), getMemory().getType(), getPlace(), int64_t(getWidth()), getBegin());
}

LogicalResult WriteOp::verify() {
  if (!getPlace().getBorders().empty())
    return emitOpError("(5) expected a place without borders");
  if (auto memory = getMemory().getDefiningOp<MemoryOp>(); memory && !memory.getPointer())
    return emitOpError("(6) expected memory with a pointer");
  return verifyAccess(*this, getValue().getType(), getMemory().getType(), getPlace(), int64_t(getWidth()), getBegin());
}

LogicalResult MapPointsOp::verify() {
  Block &body = getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(getInputs().getTypes()) ||
      TypeRange(body.getTerminator()->getOperandTypes()) != TypeRange(getResultTypes()))
    return emitOpError("(1) expected a body from the operands to the results");
  return success();
}

Type ReducePointsOp::getSumType(unsigned number) {
  Type type = getResultTypes()[number];
  return type.isF16() || type.isBF16() ? Type(Float32Type::get(getContext())) : type;
}

LogicalResult ReducePointsOp::verify() {
  SmallVector<Type> sums;
  for (unsigned i = 0; i < getNumResults(); ++i)
    sums.push_back(getSumType(i));
  if (TypeRange(getInits().getTypes()) != TypeRange(getResultTypes()))
    return emitOpError("(1) expected a value to begin with for each result, of its type");
  SmallVector<Type> arguments(getInputs().getTypes());
  llvm::append_range(arguments, sums);
  Block &body = getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(arguments) || TypeRange(body.getTerminator()->getOperandTypes()) != TypeRange(sums))
    return emitOpError("(2) expected a body from the operands and what is combined to what is combined then");
  size_t numNeutral = getNeutral() ? getNeutral()->size() : 0;
  bool isWhole = numNeutral == getCombiners().size() && (numNeutral == 0 || numNeutral == sums.size());
  for (size_t i = 0; isWhole && i < numNeutral; ++i) {
    auto neutral = dyn_cast<TypedAttr>((*getNeutral())[i]);
    Block &combiner = getCombiners()[i].front();
    isWhole = neutral && neutral.getType() == sums[i] && TypeRange(combiner.getArgumentTypes()) == TypeRange(ArrayRef<Type>{sums[i], sums[i]}) &&
              TypeRange(combiner.getTerminator()->getOperandTypes()) == TypeRange(ArrayRef<Type>{sums[i]});
  }
  if (!isWhole)
    return emitOpError("(3) expected a neutral value and a body that combines two for each result, or none at all");
  return success();
}
