//===- ThreadAttributes.cpp - what a GPU's threads do, and guards ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of the attributes that say how a thread block shares a leaf, and
// the guards of variants.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Support/NamedAffine.h"
#include "ft/Support/NestLayout.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::etdg;

LogicalResult ThreadBlockAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t threads,
                                      int64_t resident, int64_t shared, int64_t sums) {
  if (threads < 1 || resident < 1)
    return emitError() << "a block has at least one thread, and one is resident; found threads = " << threads
                       << ", resident = " << resident;
  if (shared < 0)
    return emitError() << "the bytes of shared memory are not negative, found " << shared;
  if (sums < 0 || sums % 8 != 0)
    return emitError() << "the bytes for a thread's sums are a multiple of 8, found " << sums;
  return success();
}

/// Copies of a loop's body; what a tile of rows and columns comes to is limited where it is read.
static constexpr int64_t mostCopies = 64;

LogicalResult TilingAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t vector, int64_t width,
                                 int64_t loop, int64_t tile, int64_t rows, int64_t lanes, int64_t slices,
                                 DenseI64ArrayAttr unroll, DenseI64ArrayAttr restUnroll) {
  if (vector < -1 || loop < -1)
    return emitError() << "a loop is one of the nest's, or -1, found vector = " << vector << ", loop = " << loop;
  for (auto [name, value] : {std::pair<StringRef, int64_t>("width", width), {"tile", tile}, {"rows", rows},
                             {"lanes", lanes}, {"slices", slices}})
    if (value < 1)
      return emitError() << "'" << name << "' is at least 1, found " << value;
  if (vector < 0 && width > 1)
    return emitError() << "adjacent elements lie along a loop: width = " << width << " without 'vector'";
  if ((loop < 0) != (tile == 1))
    return emitError() << "a tile is of a loop: found loop = " << loop << ", tile = " << tile;
  if (tile > 1 && rows > 1)
    return emitError() << "a thread takes iterations of a loop or rows beside, found tile = " << tile
                       << " and rows = " << rows;
  if (vector >= 0 && vector == loop)
    return emitError() << "adjacent elements and the tile are of different loops, found " << loop << " twice";
  if (lanes > 1 && slices > 1)
    return emitError() << "threads that share a point have no slices, found lanes = " << lanes
                       << " and slices = " << slices;
  for (auto [name, copies] : {std::pair<StringRef, DenseI64ArrayAttr>("unroll", unroll), {"rest_unroll", restUnroll}})
    for (int64_t count : copies ? copies.asArrayRef() : ArrayRef<int64_t>())
      if (count < 0 || count > mostCopies)
        return emitError() << "'" << name << "' has copies of loops, 0 to " << mostCopies << ", found " << count;
  if (restUnroll && rows == 1)
    return emitError() << "'rest_unroll' is of what 'rows' leave, found none";
  return success();
}

LogicalResult RowLanesAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t lanes, int64_t width,
                                   int64_t rows, int64_t line) {
  for (auto [name, value] : {std::pair<StringRef, int64_t>("lanes", lanes), {"width", width}, {"rows", rows},
                             {"line", line}})
    if (value < 1)
      return emitError() << "'" << name << "' is at least 1, found " << value;
  if (!llvm::isPowerOf2_64(lanes))
    return emitError() << "the lanes of a row are a power of two, found " << lanes;
  return success();
}

//===----------------------------------------------------------------------===//
// Decisions about nests
//===----------------------------------------------------------------------===//

LogicalResult CutAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t dimension, int64_t tile, IntegerSetAttr, bool) {
  if (dimension < 0 || tile < 1)
    return emitError() << "a cut has a dimension, and shares of at least one iteration, found dimension = " << dimension << ", tile = " << tile;
  return success();
}

LogicalResult DivisionAttr::verify(function_ref<InFlightDiagnostic()> emitError, DivisionKind kind, int64_t outer, int64_t first) {
  if (outer < 0 || first < 0)
    return emitError() << "the dimensions around the parts are not negative, found outer = " << outer << ", first = " << first;
  if (kind == DivisionKind::Apart && (outer != 0 || first != 0))
    return emitError() << "no dimension stays around parts that are apart, found outer = " << outer << ", first = " << first;
  return success();
}

LogicalResult EdgeAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t from, int64_t to, SyncKind kind) {
  if (from < 0 || to < 0)
    return emitError() << "the numbers of nests are not negative, found from = " << from << ", to = " << to;
  if (kind != SyncKind::None && kind != SyncKind::Block && kind != SyncKind::Grid && kind != SyncKind::Kernel)
    return emitError() << "the kind of an edge is none, block, grid or kernel, found " << stringifySyncKind(kind);
  return success();
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

static ParseResult parseProduct(AsmParser &parser, SmallVectorImpl<ArrayAttr> &products) {
  SmallVector<Attribute> factors;
  auto parseFactor = [&]() -> ParseResult {
    ft::NamedExprParser exprs(parser);
    AffineExpr expr;
    if (exprs.parse(expr))
      return failure();
    factors.push_back(ft::LengthAttr::get(parser.getContext(), exprs.symbols, expr));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseFactor))
    return failure();
  products.push_back(ArrayAttr::get(parser.getContext(), factors));
  return success();
}

BoundAttr BoundAttr::parseInside(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<ArrayAttr> products;
  int64_t limit = 0;
  if (parseProduct(parser, products))
    return {};
  while (succeeded(parser.parseOptionalKeyword("or")))
    if (parseProduct(parser, products))
      return {};
  bool isFrom = succeeded(parser.parseOptionalKeyword("from"));
  if (!isFrom && failed(parser.parseOptionalKeyword("below"))) {
    parser.emitError(parser.getCurrentLocation(), "expected 'below' or 'from'");
    return {};
  }
  if (parser.parseInteger(limit))
    return {};
  if (failed(verify([&] { return parser.emitError(loc); }, products, limit, !isFrom)))
    return {};
  return get(parser.getContext(), products, limit, !isFrom);
}

void BoundAttr::printInside(AsmPrinter &printer) const {
  llvm::interleave(
      getProducts(), printer,
      [&](ArrayAttr product) {
        printer << "[";
        llvm::interleaveComma(product.getAsRange<ft::LengthAttr>(), printer,
                              [&](ft::LengthAttr length) { printer << length.str(); });
        printer << "]";
      },
      " or ");
  printer << (getIsBelow() ? " below " : " from ") << getLimit();
}

Attribute BoundAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  BoundAttr bound = parseInside(parser);
  return bound && succeeded(parser.parseGreater()) ? bound : BoundAttr();
}

void BoundAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printInside(printer);
  printer << ">";
}

LogicalResult BoundAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<ArrayAttr> products, int64_t limit,
                                bool isBelow) {
  if (products.empty())
    return emitError() << "a guard has at least one product";
  if (limit < 1)
    return emitError() << "a guard's limit is positive (no product is less than 0), found " << limit;
  for (ArrayAttr product : products)
    for (Attribute factor : product)
      if (auto length = dyn_cast<ft::LengthAttr>(factor); !length || length.getRagged())
        return emitError() << "a guard's factors are lengths of no ragged dimension, found " << factor;
  return success();
}

/// Whether a product of lengths reaches the limit.
static std::optional<bool> reaches(ArrayAttr product, int64_t limit,
                                   function_ref<std::optional<int64_t>(StringAttr)> lookup) {
  // Past the limit a larger product tells nothing more.
  int64_t value = 1;
  bool isZero = false;
  for (auto length : product.getAsRange<ft::LengthAttr>()) {
    std::optional<int64_t> factor = length.evaluate(lookup);
    if (!factor)
      return std::nullopt;
    isZero |= *factor <= 0;
    value = llvm::SaturatingMultiply<uint64_t>(value, std::max<int64_t>(*factor, 0)) > uint64_t(limit)
                ? limit
                : std::max<int64_t>(value * std::max<int64_t>(*factor, 0), 1);
  }
  return !isZero && value >= limit;
}

std::optional<bool> BoundAttr::evaluate(function_ref<std::optional<int64_t>(StringAttr)> lookup) const {
  for (ArrayAttr product : getProducts()) {
    std::optional<bool> isReached = reaches(product, getLimit(), lookup);
    if (!isReached || *isReached != getIsBelow())
      return isReached ? std::optional(true) : std::nullopt;
  }
  return false;
}

Attribute GuardAttr::parse(AsmParser &parser, Type) {
  SmallVector<BoundAttr> bounds;
  if (parser.parseLess())
    return {};
  do {
    BoundAttr bound = BoundAttr::parseInside(parser);
    if (!bound)
      return {};
    bounds.push_back(bound);
  } while (succeeded(parser.parseOptionalKeyword("and")));
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), bounds);
}

void GuardAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleave(getBounds(), printer, [&](BoundAttr bound) { bound.printInside(printer); }, " and ");
  printer << ">";
}

LogicalResult GuardAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<BoundAttr> bounds) {
  return bounds.empty() ? LogicalResult(emitError() << "a guard has at least one bound") : success();
}

std::optional<bool> GuardAttr::evaluate(function_ref<std::optional<int64_t>(StringAttr)> lookup) const {
  std::optional<bool> all = true;
  for (BoundAttr bound : getBounds()) {
    std::optional<bool> holds = bound.evaluate(lookup);
    if (holds && !*holds)
      return false;
    if (!holds)
      all = std::nullopt;
  }
  return all;
}

SmallVector<StringAttr> GuardAttr::getNames() const {
  llvm::SetVector<StringAttr> names;
  for (BoundAttr bound : getBounds())
    for (ArrayAttr product : bound.getProducts())
      for (auto length : product.getAsRange<ft::LengthAttr>())
        names.insert(length.getNames().begin(), length.getNames().end());
  return names.takeVector();
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

template <typename Attr> static bool isListOf(Attribute attribute) {
  auto list = dyn_cast<ArrayAttr>(attribute);
  return list && llvm::all_of(list, [](Attribute item) { return isa<Attr>(item); });
}

static LogicalResult verifyLayouts(Operation *op, Attribute value) {
  auto block = dyn_cast<BlockOp>(op);
  if (!block || !block.isLeaf())
    return op->emitOpError() << "'etdg.layouts' is an attribute of a leaf";
  auto list = dyn_cast<ArrayAttr>(value);
  auto isOfNest = [](Attribute item) { return isa<TilingAttr>(item) || item.hasTrait<ft::NestLayoutTrait>(); };
  if (list && (llvm::all_of(list, isOfNest) || (list.size() == 1 && (isa<RowLanesAttr>(list[0]) || list[0].hasTrait<ft::LeafLayoutTrait>()))))
    return success();
  return op->emitOpError() << "'etdg.layouts' is a list of #etdg.tiling and #tile.product, or one #etdg.row_lanes or #tile.chain, found " << value;
}

/// Each pair is a write of the leaf and a dimension.
static LogicalResult verifyHanded(Operation *op, Attribute value) {
  auto leaf = dyn_cast<BlockOp>(op);
  auto pairs = dyn_cast<DenseI64ArrayAttr>(value);
  bool isValid = leaf && leaf.isLeaf() && pairs && pairs.size() % 2 == 0;
  for (int64_t i = 0; isValid && i < pairs.size(); i += 2)
    isValid = pairs[i] >= 0 && pairs[i] < int64_t(leaf.getNumWrites()) && pairs[i + 1] >= 0 && pairs[i + 1] < int64_t(leaf.getNumDims());
  if (isValid)
    return success();
  return op->emitOpError() << "'etdg.handed' is of a leaf, pairs of a write's and a dimension's number, found " << value;
}

static bool arePairs(GraphOp graph, ArrayRef<int64_t> pairs) {
  for (auto [i, number] : llvm::enumerate(pairs))
    if (number < 0 || number >= int64_t(i % 2 ? graph.getNumResults() : graph.getNumArguments()))
      return false;
  return pairs.size() % 2 == 0;
}

/// Whether a cut is of a leaf's own dimensions: one of them but the last is the share, and the set is over the others.
static bool isCutOf(BlockOp leaf, CutAttr cut) {
  IntegerSet domain = cut.getDomain().getValue();
  return cut.getDimension() >= int64_t(leaf.getNumAncestors()) && cut.getDimension() + 1 < int64_t(leaf.getNumDims()) &&
         domain.getNumDims() + 1 == leaf.getNumDims() && domain.getNumSymbols() == leaf.getSymbolNames().size();
}

/// What kernels of a graph that was cut say of their nests (`etdg-partition`); none of another attribute.
static std::optional<LogicalResult> verifyPartition(Operation *op, StringRef name, Attribute value) {
  auto wrong = [&](StringRef what) -> LogicalResult { return op->emitOpError() << "'" << name << "' is " << what << ", found " << value; };
  bool isItem = isa<BlockOp, NestOp>(op);
  if (name == names::edges)
    return isa<KernelOp>(op) && isListOf<EdgeAttr>(value) ? success() : wrong("a kernel's list of #etdg.edge");
  if (name == names::number) {
    auto number = dyn_cast<IntegerAttr>(value);
    return isItem && number && number.getType().isInteger(64) && number.getInt() >= 0 ? success() : wrong("a nest's or block's number of 64 bits, not negative");
  }
  if (name == names::before) {
    auto kind = dyn_cast<StringAttr>(value);
    return isItem && kind && kind.getValue() == "grid" ? success() : wrong("\"grid\", of a nest or block");
  }
  if (name == names::apart || name == names::together)
    return isa<GraphOp>(op) && isListOf<StringAttr>(value) ? success() : wrong("a graph's list of merges, \"first+second\" by the names of blocks");
  if (name == names::partitioned) {
    auto mode = dyn_cast<StringAttr>(value);
    return isa<GraphOp>(op) && mode ? success() : wrong("a graph's text: how it was cut into kernels");
  }
  return std::nullopt;
}

LogicalResult ETDGDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName().strref();
  Attribute value = attribute.getValue();
  auto onlyOf = [&](bool fits, StringRef owners) -> LogicalResult {
    return fits ? success() : op->emitOpError() << "'" << name << "' is an attribute of " << owners;
  };
  auto expected = [&](bool fits, StringRef what) -> LogicalResult {
    return fits ? success() : op->emitOpError() << "'" << name << "' is " << what << ", found " << value;
  };
  bool isItem = isa<BlockOp, NestOp>(op), isProgram = isa<FunctionOpInterface>(op);
  if (name == names::layouts)
    return verifyLayouts(op, value);
  if (name == names::rows) {
    auto leaf = dyn_cast<BlockOp>(op);
    return failed(onlyOf(leaf && leaf.isLeaf(), "a leaf"))
               ? failure()
               : expected(isa<RowsAttr>(value), "#etdg.rows<at_once>, #etdg.rows<runs> or #etdg.rows<one_by_one>");
  }
  if (name == names::candidates)
    return failed(onlyOf(isItem, "a nest or block")) ? failure()
                                                     : expected(isListOf<ScheduleAttr>(value), "a list of schedules");
  if (name == names::divisions)
    return failed(onlyOf(isItem, "a nest or block")) ? failure() : expected(isListOf<DivisionAttr>(value), "a list of #etdg.division");
  if (name == names::cut) {
    auto leaf = dyn_cast<BlockOp>(op);
    auto cut = dyn_cast<CutAttr>(value);
    return failed(onlyOf(leaf && leaf.isLeaf(), "a leaf"))
               ? failure()
               : expected(cut && isCutOf(leaf, cut), "#etdg.cut: its dimension is an own one but the last, the set is over the others and symbols");
  }
  if (name == names::handed)
    return verifyHanded(op, value);
  if (name == names::slot) {
    auto slot = dyn_cast<IntegerAttr>(value);
    return failed(onlyOf(isa<BufferOp>(op), "a buffer"))
               ? failure()
               : expected(slot && slot.getType().isInteger(64) && slot.getInt() >= 0, "a number of 64 bits, not negative");
  }
  if (name == names::keptTogether)
    return failed(onlyOf(isItem || isa<KernelOp>(op), "a nest or block")) ? failure()
                                                                          : expected(isa<UnitAttr>(value), "a unit");
  if (name == names::excess)
    return failed(onlyOf(isa<GraphOp>(op), "a graph")) ? failure() : expected(isa<UnitAttr>(value), "a unit");
  if (name == names::merged)
    return failed(onlyOf(isProgram, "a function or graph"))
               ? failure()
               : expected(isa<DictionaryAttr>(value), "a dictionary of products");
  if (name == names::checks)
    return failed(onlyOf(isProgram, "a function or graph")) ? failure() : expected(isa<ArrayAttr>(value), "a list");
  if (name == names::inPlace) {
    auto pairs = dyn_cast<DenseI64ArrayAttr>(value);
    return failed(onlyOf(isa<GraphOp>(op), "a graph")) ? failure()
                                                       : expected(pairs && arePairs(cast<GraphOp>(op), pairs.asArrayRef()),
                                                                  "pairs of an argument's and a result's number");
  }
  if (name == names::snapshots) // what `etdg-take-snapshots` keeps for the validator
    return failed(onlyOf(isa<ModuleOp>(op), "a module")) ? failure()
                                                         : expected(isa<DictionaryAttr>(value), "a dictionary of graphs");
  if (name == names::dims)
    return onlyOf(false, "an argument");
  if (std::optional<LogicalResult> verified = verifyPartition(op, name, value))
    return *verified;
  return op->emitOpError() << "no attribute of etdg is called '" << name.drop_front(StringRef("etdg.").size())
                           << "': expected apart, before, candidates, checks, cut, dims, divisions, edges, excess, handed, in_place, kept_together, layouts, merged, number, partitioned, "
                           << "rows, slot, snapshots or together";
}

LogicalResult ETDGDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName().strref();
  if (name != names::dims)
    return op->emitOpError() << "argument " << argument << ": no attribute of an argument is called '" << name
                             << "': expected etdg.dims";
  if (!isListOf<StringAttr>(attribute.getValue()))
    return op->emitOpError() << "argument " << argument << ": 'etdg.dims' is a list of names, found "
                             << attribute.getValue();
  return success();
}
