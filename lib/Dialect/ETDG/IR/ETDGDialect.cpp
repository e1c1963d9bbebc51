//===- ETDGDialect.cpp - types and attributes of etdg ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, the buffer type, and the attributes' builders and checks.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Support/RenamedWords.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::etdg;

#include "ft/Dialect/ETDG/IR/ETDGDialect.cpp.inc"
#include "ft/Dialect/ETDG/IR/ETDGEnums.cpp.inc"
#include "ft/Dialect/ETDG/IR/ETDGInterfaces.cpp.inc"

static ParseResult parseConstraints(AsmParser &parser, IntegerSetAttr &set) {
  AffineMapAttr map;
  SmallVector<unsigned> equalities;
  SMLoc loc = parser.getCurrentLocation();
  auto parseIndex = [&]() { return parser.parseInteger(equalities.emplace_back()); };
  if (parser.parseAttribute(map) ||
      (succeeded(parser.parseOptionalKeyword("eq")) &&
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseIndex)))
    return failure();
  AffineMap constraints = map.getValue();
  SmallVector<bool> eqs(constraints.getNumResults(), false);
  for (unsigned index : equalities) {
    if (index >= eqs.size())
      return parser.emitError(loc) << "'eq' lists constraint " << index << " of " << eqs.size();
    eqs[index] = true;
  }
  if (eqs.empty())
    set = IntegerSetAttr::get(
        getUniverse(parser.getContext(), constraints.getNumDims(), constraints.getNumSymbols()));
  else
    set = IntegerSetAttr::get(IntegerSet::get(constraints.getNumDims(), constraints.getNumSymbols(),
                                              constraints.getResults(), eqs));
  return success();
}

static void printConstraints(AsmPrinter &printer, IntegerSetAttr attr) {
  IntegerSet set = attr.getValue();
  bool all = isUniverse(set);
  auto constraints =
      AffineMap::get(set.getNumDims(), set.getNumSymbols(),
                     all ? ArrayRef<AffineExpr>() : set.getConstraints(), attr.getContext());
  printer << AffineMapAttr::get(constraints);
  SmallVector<unsigned> equalities;
  for (unsigned i = 0; i < set.getNumConstraints() && !all; ++i)
    if (set.isEq(i))
      equalities.push_back(i);
  if (equalities.empty())
    return;
  printer << " eq [";
  llvm::interleaveComma(equalities, printer);
  printer << "]";
}

#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/ETDG/IR/ETDGAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/ETDG/IR/ETDGTypes.cpp.inc"

namespace {
/// Folding puts a constant at the start of the outermost region that takes it, which would be the
/// graph. What a leaf computes with belongs to the leaf (K8), what joins states to its `combine`.
struct KeepConstantsInLeaves : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const final {
    auto block = dyn_cast<BlockOp>(region->getParentOp());
    return block && (block.isLeaf() || region == &block.getCombine());
  }
};
} // namespace

void ETDGDialect::initialize() {
  addInterfaces<KeepConstantsInLeaves>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ft/Dialect/ETDG/IR/ETDGAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ft/Dialect/ETDG/IR/ETDGTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ft/Dialect/ETDG/IR/ETDGOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Buffer type
//===----------------------------------------------------------------------===//

Type BufferType::parse(AsmParser &parser) {
  SmallVector<ft::LengthAttr> lengths;
  auto parseLength = [&]() -> ParseResult {
    ft::NamedExprParser exprs(parser);
    AffineExpr expr;
    if (exprs.parse(expr))
      return failure();
    lengths.push_back(ft::LengthAttr::get(parser.getContext(), exprs.symbols, expr));
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  RankedTensorType element;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseLength) ||
      parser.parseComma() || parser.parseType(element) || parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(loc, parser.getContext(), lengths, element);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getLengths(), printer,
                        [&](ft::LengthAttr length) { printer << length.str(); });
  printer << "], " << getElement() << ">";
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<ft::LengthAttr> lengths, RankedTensorType element) {
  if (!element)
    return emitError() << "a buffer holds ranked tensors";
  if (!element.hasStaticShape())
    return emitError() << "a buffer's element has a static shape, found " << element;
  if (!element.getElementType().isIntOrIndexOrFloat())
    return emitError() << "a buffer's element holds integers, indices or floats, found " << element;
  if (lengths.size() > 64)
    return emitError() << "a buffer has at most 64 programmable dimensions, found "
                       << lengths.size();
  constexpr int64_t limit = std::numeric_limits<int64_t>::max();
  Type scalar = element.getElementType();
  int64_t bytes = scalar.isIndex() ? 8 : std::max<int64_t>(1, scalar.getIntOrFloatBitWidth() / 8);
  auto multiply = [&](int64_t by) {
    if (by != 0 && bytes > limit / by)
      return false;
    bytes *= by;
    return true;
  };
  for (int64_t size : element.getShape())
    if (!multiply(size))
      return emitError() << "the size of " << element << " in bytes does not fit 63 bits";
  for (ft::LengthAttr length : lengths) {
    if (!length)
      return emitError() << "a buffer's lengths are all given";
    if (length.getRagged())
      return emitError() << "a buffer has no ragged length, found " << length.str();
    std::optional<int64_t> constant = length.getConstant();
    if (constant && *constant < 0)
      return emitError() << "a length is not negative, found " << *constant;
    if (constant && !multiply(*constant))
      return emitError()
             << "the size of the buffer's constant dimensions in bytes does not fit 63 bits";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

PieceAttr PieceAttr::getBuffer(IntegerSet set, int64_t operand, AffineMap map,
                               ArrayRef<GatherAttr> gathers) {
  return get(set.getContext(), IntegerSetAttr::get(set), SourceKind::Buffer, operand,
             AffineMapAttr::get(map), gathers, TypedAttr());
}

PieceAttr PieceAttr::getSplat(IntegerSet set, TypedAttr value) {
  MLIRContext *context = set.getContext();
  auto map = AffineMap::get(set.getNumDims(), set.getNumSymbols(), context);
  return get(context, IntegerSetAttr::get(set), SourceKind::Splat, -1, AffineMapAttr::get(map), {},
             value);
}

PieceAttr PieceAttr::getIndex(IntegerSet set, AffineExpr value) {
  auto map = AffineMap::get(set.getNumDims(), set.getNumSymbols(), value);
  return get(set.getContext(), IntegerSetAttr::get(set), SourceKind::Index, -1,
             AffineMapAttr::get(map), {}, TypedAttr());
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

namespace {
/// The fields of a loop while its text is read.
struct LoopFields {
  int64_t dimension = -1, tile = 1, most = 0, unit = 1;
  LoopKind kind = LoopKind::Sequential;
  LoopLevel level = LoopLevel::None;
  IterationMapping mapping = IterationMapping::None;
  SyncKind sync = SyncKind::None;
};
} // namespace

/// One of an enum's words; says which there are, and what an old one is now.
template <typename Enum>
static ParseResult parseWord(AsmParser &parser, Enum &value,
                             std::optional<Enum> (*symbolize)(StringRef), uint32_t last,
                             StringRef (*stringify)(Enum), ft::WordKind kind = ft::WordKind::Other) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (std::optional<Enum> found = symbolize(word)) {
    value = *found;
    return success();
  }
  if (StringRef now = ft::findRenamed(kind, word); !now.empty())
    return parser.emitError(loc) << "'" << word << "' is " << now << " now";
  std::string all;
  for (uint32_t i = 0; i <= last; ++i)
    all += (i ? ", " : "") + stringify(static_cast<Enum>(i)).str();
  return parser.emitError(loc) << "expected one of " << all << ", found '" << word << "'";
}

ParseResult etdg::parseMapping(AsmParser &parser, IterationMapping &mapping) {
  return parseWord<IterationMapping>(parser, mapping, symbolizeIterationMapping, getMaxEnumValForIterationMapping(), stringifyIterationMapping,
                                     ft::WordKind::Mapping);
}

LogicalResult etdg::verifyMapping(function_ref<InFlightDiagnostic()> emitError, LoopLevel level, IterationMapping mapping) {
  // The threads of a CPU take what is left as they become free; thread blocks of a GPU know theirs from their number.
  bool isOfCores = level == LoopLevel::Core;
  if (mapping != (isOfCores ? IterationMapping::Cyclic : IterationMapping::Dynamic))
    return success();
  return emitError() << "the mapping of iterations to level " << stringifyLoopLevel(level) << " is " << (isOfCores ? "dynamic" : "cyclic")
                     << ", block or static, found " << stringifyIterationMapping(mapping);
}

static ParseResult parseLoopField(AsmParser &parser, StringRef name, LoopFields &fields) {
  if (name == "dimension")
    return parser.parseInteger(fields.dimension);
  if (name == "tile") {
    if (succeeded(parser.parseOptionalQuestion())) {
      fields.tile = LoopAttr::anyTile;
      return success();
    }
    return parser.parseInteger(fields.tile);
  }
  if (name == "most")
    return parser.parseInteger(fields.most);
  if (name == "unit")
    return parser.parseInteger(fields.unit);
  if (name == "kind")
    return parseWord<LoopKind>(parser, fields.kind, symbolizeLoopKind, getMaxEnumValForLoopKind(),
                               stringifyLoopKind);
  if (name == "level")
    return parseWord<LoopLevel>(parser, fields.level, symbolizeLoopLevel,
                                getMaxEnumValForLoopLevel(), stringifyLoopLevel);
  if (name == "mapping")
    return parseMapping(parser, fields.mapping);
  if (name == "sync")
    return parseWord<SyncKind>(parser, fields.sync, symbolizeSyncKind, getMaxEnumValForSyncKind(),
                               stringifySyncKind);
  if (StringRef now = ft::findRenamed(ft::WordKind::LoopField, name); !now.empty())
    return parser.emitError(parser.getCurrentLocation()) << "'" << name << "' is " << now << " now";
  return parser.emitError(parser.getCurrentLocation())
         << "expected dimension, tile, most, unit, kind, level, mapping or sync, found '" << name
         << "'";
}

Attribute LoopAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  LoopFields fields;
  llvm::SmallDenseSet<StringRef> seen;
  auto parseField = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (!seen.insert(name).second)
      return parser.emitError(at) << "'" << name << "' is given twice";
    return parseLoopField(parser, name, fields);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  if (!seen.contains("dimension") || !seen.contains("kind")) {
    parser.emitError(loc) << "a loop has a dimension and a kind";
    return {};
  }
  return parser.getChecked<LoopAttr>(loc, parser.getContext(), fields.dimension, fields.tile,
                                     fields.most, fields.unit, fields.kind, fields.level,
                                     fields.mapping, fields.sync);
}

void LoopAttr::print(AsmPrinter &printer) const {
  printer << "<dimension = " << getDimension();
  if (hasAnyTile())
    printer << ", tile = ?";
  else if (getTile() != 1)
    printer << ", tile = " << getTile();
  if (getMost() != 0)
    printer << ", most = " << getMost();
  if (getUnit() != 1)
    printer << ", unit = " << getUnit();
  printer << ", kind = " << stringifyLoopKind(getKind());
  if (getLevel() != LoopLevel::None)
    printer << ", level = " << stringifyLoopLevel(getLevel());
  if (getMapping() != IterationMapping::None)
    printer << ", mapping = " << stringifyIterationMapping(getMapping());
  if (getSync() != SyncKind::None)
    printer << ", sync = " << stringifySyncKind(getSync());
  printer << ">";
}

LogicalResult LoopAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t dimension,
                               int64_t tile, int64_t most, int64_t unit, LoopKind kind,
                               LoopLevel level, IterationMapping mapping, SyncKind sync) {
  bool parallel = kind == LoopKind::Parallel || kind == LoopKind::Vector;
  if (dimension < 0)
    return emitError() << "a loop's dimension is not negative, found " << dimension;
  if (tile != anyTile && tile < 1)
    return emitError() << "a tile size is at least 1, found " << tile;
  if (tile == anyTile && !parallel)
    return emitError() << "only a parallel loop may have the tile '?', this one is "
                       << stringifyLoopKind(kind);
  if (most < 0 || unit < 1 || (most > 0 && most % unit != 0 && most > unit))
    return emitError() << "'most' is a multiple of 'unit', neither is negative; found most = "
                       << most << ", unit = " << unit;
  if (level != LoopLevel::None && !parallel && kind != LoopKind::Associative)
    return emitError() << "the iterations of a " << stringifyLoopKind(kind)
                       << " loop are not run by a level, found " << stringifyLoopLevel(level);
  bool dealt = level == LoopLevel::Grid || level == LoopLevel::Cluster ||
               level == LoopLevel::Block || level == LoopLevel::Core;
  if (mapping != IterationMapping::None && !dealt)
    return emitError() << "iterations are mapped to the units of grid, cluster, block or core, not of "
                       << stringifyLoopLevel(level);
  if (failed(verifyMapping(emitError, level, mapping)))
    return failure();
  if (sync != SyncKind::None && kind != LoopKind::Sequential)
    return emitError() << "only a sequential loop syncs after each iteration, this one is "
                       << stringifyLoopKind(kind);
  return success();
}

LogicalResult PlacementAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t read, int64_t loop, MemoryLevel level,
                                    int64_t stages) {
  if (stages < 1 || read < 0 || loop < 0)
    return emitError() << "a placement names a read, a loop, and at least one stage, found read = " << read << ", loop = " << loop
                       << ", stages = " << stages;
  return success();
}

LoopAttr LoopAttr::withDimension(int64_t dimension) const {
  return get(getContext(), dimension, getTile(), getMost(), getUnit(), getKind(), getLevel(),
             getMapping(), getSync());
}

ScheduleAttr ScheduleAttr::withLoops(ArrayRef<LoopAttr> loops) const {
  return get(getContext(), getMap(), loops, getPlacements(), getBefore(), getWeights(),
             getBlock(), getColumns(), getTarget());
}

SmallVector<LoopAttr> ScheduleAttr::getPointLoops() const {
  SmallVector<LoopAttr> loops;
  llvm::copy_if(getLoops(), std::back_inserter(loops), [&](LoopAttr loop) { return !isOverColumns(loop); });
  return loops;
}

bool ScheduleAttr::isForGpu() const {
  return getBlock() || (getTarget() && getTarget().getValue().starts_with("sm_"));
}

bool ScheduleAttr::hasLevels() const {
  return llvm::any_of(getLoops(), [](LoopAttr loop) {
    return loop.getLevel() != LoopLevel::None || loop.getSync() != SyncKind::None;
  });
}

/// `most` and `unit` bound pieces of a range, and say nothing of a loop that has none.
static LogicalResult checkPieces(function_ref<InFlightDiagnostic()> emitError, LoopAttr loop, bool isOverColumns) {
  bool hasPieces = loop.hasAnyTile() || loop.getLevel() == LoopLevel::Rows || loop.getLevel() == LoopLevel::ListedRows;
  if (loop.getMost() != 0 && !hasPieces)
    return emitError() << "'most' is of rows and of loops that are cut anywhere (tile = ?), found most = " << loop.getMost()
                       << " on another loop over dimension " << loop.getDimension();
  if (loop.getUnit() != 1 && !hasPieces && !isOverColumns)
    return emitError() << "'unit' is of columns, rows and loops that are cut anywhere (tile = ?), found unit = " << loop.getUnit()
                       << " on another loop over dimension " << loop.getDimension();
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, AffineMapAttr map,
                                   ArrayRef<LoopAttr> loops, ArrayRef<PlacementAttr> placements,
                                   SyncKind before, ArrayRef<int64_t> weights, ThreadBlockAttr block,
                                   int64_t columns, StringAttr target) {
  if (!map)
    return emitError() << "a schedule has a map";
  if (columns < 0)
    return emitError() << "the number of columns is not negative, found " << columns;
  // The columns are one more dimension, whose loops need not be there.
  unsigned numRows = map.getValue().getNumResults(), count = numRows + (columns > 0);
  // The tile of the innermost loop so far; `?` is beyond all numbers.
  constexpr int64_t none = 0, any = std::numeric_limits<int64_t>::max();
  SmallVector<int64_t> lastTile(count, none);
  for (LoopAttr loop : loops) {
    int64_t dimension = loop.getDimension(), tile = loop.hasAnyTile() ? any : loop.getTile();
    if (dimension >= count)
      return emitError() << "a loop's dimension is one of the schedule's " << numRows
                         << " transformed dimensions" << (columns > 0 ? ", or that of the columns" : "")
                         << ", found " << dimension;
    if (failed(checkPieces(emitError, loop, dimension >= numRows)))
      return failure();
    if (lastTile[dimension] != none && tile >= lastTile[dimension]) {
      auto name = [](int64_t size) { return size == any ? "?" : std::to_string(size); };
      return emitError() << "the loops over dimension " << dimension
                         << " have falling tile sizes, found " << name(tile) << " inside "
                         << name(lastTile[dimension]);
    }
    lastTile[dimension] = tile;
  }
  // Without loops it is an order that leaves all else open: one that is for an engine says all.
  bool isOpen = loops.empty() && !target && !block;
  for (unsigned i = 0; i < numRows && !isOpen; ++i)
    if (lastTile[i] == none)
      return emitError() << "every transformed dimension has a loop, dimension " << i
                         << " has none";
  for (PlacementAttr placement : placements)
    if (placement.getLoop() > static_cast<int64_t>(loops.size()))
      return emitError() << "a placement stands at one of the schedule's " << loops.size() << " loops or after them, found loop = "
                         << placement.getLoop();
  // (Weights are summed over all points.)
  constexpr int64_t mostWeight = int64_t(1) << 20;
  for (int64_t weight : weights)
    if (weight < 1 || weight > mostWeight)
      return emitError() << "a region's weight is at least 1 and at most " << mostWeight << ", found " << weight;
  return success();
}
