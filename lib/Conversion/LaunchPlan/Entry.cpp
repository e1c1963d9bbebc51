//===- Entry.cpp - what a caller of a compiled graph sees -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LaunchPlan/Entry.h"

#include "ft/Conversion/FTToETDG/FTToETDG.h"
#include "ft/Conversion/LaunchPlan/Writebacks.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Support/ArrayType.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

std::string mlir::ft::getPlaceText(Location location) {
  FileLineColLoc place = location->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  return place.getFilename().str() + ":" + std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn());
}

/// `values[i]` stands for symbol i of the expression.
static rt::Expr toHostExpr(AffineExpr expr, ArrayRef<rt::Expr> values) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return values[symbol.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) // a dimension: callers have none
    return 0;
  rt::Expr a = toHostExpr(binary.getLHS(), values), b = toHostExpr(binary.getRHS(), values);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::Mod:
    return rt::Expr::binary(rt::Expr::mod, a, b);
  case AffineExprKind::FloorDiv:
    return rt::Expr::binary(rt::Expr::floordiv, a, b);
  default:
    return rt::Expr::binary(rt::Expr::ceildiv, a, b);
  }
}

rt::Expr mlir::ft::toHostExpr(AffineExpr expr, ArrayRef<StringAttr> names, ArrayRef<StringAttr> symbols) {
  SmallVector<rt::Expr> values;
  for (StringAttr name : names)
    values.push_back(rt::Expr::var(llvm::find(symbols, name) - symbols.begin()));
  return ::toHostExpr(expr, values);
}

rt::Expr mlir::ft::getHostBytes(ArrayRef<LengthAttr> lengths, ArrayRef<int64_t> planes,
                                RankedTensorType element, ArrayRef<StringAttr> symbols) {
  std::optional<rt::DType> dtype = arrayTypeOf(element.getElementType());
  rt::Expr bytes = element.getNumElements() * (dtype ? rt::byteWidth(*dtype) : 8);
  for (auto [d, length] : llvm::enumerate(lengths))
    bytes = bytes * (!planes.empty() && planes[d] != 0 ? rt::Expr(planes[d])
                                                       : toHostExpr(length.getExpr(), length.getNames(), symbols));
  return bytes;
}

rt::Expr mlir::ft::alignHostBytes(const rt::Expr &bytes) {
  constexpr int64_t alignment = 256; // what devices give memory at, and a multiple of the lines of all caches
  if (auto constant = bytes.asConstant())
    return rt::Expr(int64_t(llvm::alignTo(*constant, alignment)));
  return rt::Expr::binary(rt::Expr::ceildiv, bytes, alignment) * alignment;
}

void SizeSum::add(const rt::Expr &size) {
  int64_t sum;
  if (auto value = size.asConstant(); value && !__builtin_add_overflow(constant, *value, &sum)) {
    constant = sum;
    return;
  }
  for (auto &[term, count] : terms)
    if (term == size) {
      ++count;
      return;
    }
  terms.push_back({size, 1});
}

rt::Expr SizeSum::get() const {
  SmallVector<rt::Expr> parts;
  for (const auto &[term, count] : terms)
    parts.push_back(count == 1 ? term : term * count);
  if (constant || parts.empty())
    parts.push_back(constant);
  // In pairs: the tree stays low.
  while (parts.size() > 1) {
    SmallVector<rt::Expr> sums;
    for (size_t i = 0; i < parts.size(); i += 2)
      sums.push_back(i + 1 < parts.size() ? parts[i] + parts[i + 1] : parts[i]);
    parts = std::move(sums);
  }
  return parts.front();
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

static bool collect(Type type, SmallVector<LengthAttr> lengths, SmallVectorImpl<Parameter> &parameters) {
  if (auto list = dyn_cast<ListType>(type)) {
    llvm::append_range(lengths, list.getLengths());
    return collect(list.getElement(), std::move(lengths), parameters);
  }
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::all_of(tuple.getTypes(), [&](Type member) { return collect(member, lengths, parameters); });
  auto element = dyn_cast<RankedTensorType>(type);
  if (auto buffer = dyn_cast<etdg::BufferType>(type)) {
    llvm::append_range(lengths, buffer.getLengths());
    element = buffer.getElement();
  }
  if (!element || !element.hasStaticShape() || !arrayTypeOf(element.getElementType()))
    return false;
  parameters.push_back({std::move(lengths), element, "", 0, {}});
  return true;
}

/// What messages call an input: the name that its location has (`loc("xs"(...))`), else its number.
static std::string inputName(FunctionOpInterface function, unsigned argument, unsigned number) {
  if (!function.isExternal())
    if (auto named = dyn_cast<NameLoc>(function.getArgument(argument).getLoc()))
      return named.getName().str();
  return "argument" + std::to_string(number);
}

unsigned mlir::ft::getStridedDims(FunctionOpInterface function, unsigned argument) {
  auto strided = function.getArgAttrOfType<IntegerAttr>(argument, mlir::ft::names::strided);
  return strided ? unsigned(strided.getInt()) : 0;
}

/// The caller's dimensions that each dimension with strides stands for; empty where they are the same.
static SmallVector<SmallVector<int64_t>> getStrideGroups(FunctionOpInterface function, unsigned argument) {
  SmallVector<SmallVector<int64_t>> groups;
  if (auto known = function.getArgAttrOfType<ArrayAttr>(argument, mlir::ft::names::strides))
    for (auto group : known.getAsRange<DenseI64ArrayAttr>())
      groups.push_back(llvm::to_vector(group.asArrayRef()));
  return groups;
}

void mlir::ft::forgetStrideGroups(FunctionOpInterface function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.removeArgAttr(i, mlir::ft::names::strides);
}

namespace {
/// Dimensions of a caller that are one to the code.
struct JoinedDims {
  rt::Expr stride, extent;
  /// What calls must give as 0: else the dimensions do not follow each other in memory.
  SmallVector<rt::Expr> gaps;
};
} // namespace

static JoinedDims joinDims(rt::Entry &entry, unsigned argument, ArrayRef<int64_t> dims) {
  using rt::Expr;
  JoinedDims joined{entry.stride(argument, dims.back()), {}, {}};
  if (dims.size() == 1)
    return joined;
  auto isMore = [](const Expr &extent) { return Expr::binary(Expr::min, Expr::binary(Expr::max, extent - 1, 0), 1); };
  joined.extent = entry.extent(argument, dims.back());
  for (int64_t dim : llvm::reverse(dims.drop_back())) {
    Expr stride = entry.stride(argument, dim), extent = entry.extent(argument, dim);
    Expr inner = isMore(joined.extent);
    joined.gaps.push_back(isMore(extent) * inner * (stride - joined.extent * joined.stride));
    // The stride of one element alone means nothing.
    joined.stride = stride + (joined.stride - stride) * inner;
    joined.extent = extent * joined.extent;
  }
  return joined;
}

/// Names all strides, and the extents that `joinDims` uses, before anything else, so that plans of every target number
/// them alike.
static void nameStrides(rt::Entry &entry, ArrayRef<Parameter> code, ArrayRef<Parameter> inputs) {
  for (auto [i, input] : llvm::enumerate(inputs)) {
    int64_t count = input.stridedDims;
    if (!code[i].strideGroups.empty())
      count = code[i].strideGroups.back().back() + 1;
    for (int64_t d = 0; d < count; ++d)
      entry.stride(i, d);
  }
  for (unsigned i = 0; i < inputs.size(); ++i)
    for (ArrayRef<int64_t> group : code[i].strideGroups)
      if (group.size() > 1)
        for (int64_t dim : group)
          entry.extent(i, dim);
}

rt::Expr mlir::ft::getHostStride(rt::Entry &entry, const Interface &code, unsigned argument, unsigned dim) {
  ArrayRef<SmallVector<int64_t>> groups = code.inputs[argument].strideGroups;
  if (groups.empty())
    return entry.stride(argument, dim);
  rt::Expr stride = joinDims(entry, argument, groups[dim]).stride;
  // Pieces of one dimension: what lies further in is stepped over.
  for (unsigned d = dim + 1; d < groups.size() && groups[d] == groups[dim]; ++d) {
    LengthAttr length = code.inputs[argument].lengths[d];
    stride = stride * ::mlir::ft::toHostExpr(length.getExpr(), length.getNames(), code.names);
  }
  return stride;
}

std::optional<Interface> mlir::ft::getInterface(FunctionOpInterface function) {
  Interface result{function.getName().str(), function.getLoc(), {}, {}, {}, nullptr, nullptr, {}};
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    size_t first = result.inputs.size();
    if (!collect(type, {}, result.inputs))
      return std::nullopt;
    for (size_t i = first; i < result.inputs.size(); ++i) {
      auto held = function.getArgAttrOfType<StringAttr>(index, mlir::ft::names::held);
      result.inputs[i].isHeld = bool(held);
      result.inputs[i].name = held ? held.str() : inputName(function, index, i);
      result.inputs[i].stridedDims = getStridedDims(function, index);
      result.inputs[i].strideGroups = getStrideGroups(function, index);
    }
  }
  for (Type type : function.getResultTypes())
    if (!collect(type, {}, result.outputs))
      return std::nullopt;
  for (auto [i, output] : llvm::enumerate(result.outputs))
    output.name = "result" + std::to_string(i);
  if (auto names = function->getAttrOfType<ArrayAttr>(mlir::ft::names::binds); names && names.size() == result.outputs.size()) {
    result.binds = true;
    for (auto [output, name] : llvm::zip_equal(result.outputs, names.getAsRange<StringAttr>()))
      output.name = name.str();
  }
  result.bounds = function->getAttrOfType<BoundsAttr>(mlir::ft::names::bounds);
  result.checks = function->getAttrOfType<ArrayAttr>(etdg::names::checks);
  if (auto graph = dyn_cast<etdg::GraphOp>(function.getOperation())) {
    result.names = graph.getSymbolNames();
    if (auto pairs = graph->getAttrOfType<DenseI64ArrayAttr>(etdg::names::inPlace))
      result.inPlace = llvm::to_vector(pairs.asArrayRef());
    return result;
  }
  auto add = [&](LengthAttr length) {
    for (StringAttr name : length.getNames())
      if (!length.getRagged() && !llvm::is_contained(result.names, name))
        result.names.push_back(name);
  };
  for (ArrayRef<Parameter> parameters : {ArrayRef(result.inputs), ArrayRef(result.outputs)})
    for (const Parameter &parameter : parameters)
      llvm::for_each(parameter.lengths, add);
  if (result.bounds)
    llvm::for_each(result.bounds.getNonNegative(), add);
  return result;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

namespace {
class EntryBuilder {
public:
  EntryBuilder(ArrayRef<Parameter> code, const Interface &interface, ArrayRef<StringAttr> symbols, DictionaryAttr products)
      : code(code), interface(interface), symbols(symbols), products(products) {}
  FailureOr<rt::Entry> build();
  LogicalResult require(BoundsAttr bounds, StringRef because);
  LogicalResult requireChecks(ArrayAttr checks);
  void requireJoinedStrides();
  rt::Entry entry;

private:
  LogicalResult addArgument(const Parameter &parameter, bool output);
  std::optional<rt::Expr> wholeOf(StringAttr name);
  std::optional<rt::Expr> valueOf(StringAttr name);
  std::optional<rt::Expr> valueOf(Attribute factor);
  std::optional<rt::Expr> solve(LengthAttr length, StringAttr name, unsigned argument, unsigned dim);
  FailureOr<rt::Expr> hostLength(LengthAttr length);
  InFlightDiagnostic emitError() { return mlir::emitError(interface.location) << "'" << interface.name << "' "; }

  ArrayRef<Parameter> code;   // the arguments of what is compiled
  const Interface &interface; // what callers see
  ArrayRef<StringAttr> symbols;
  /// Names of the graph that stand for products: each has a pair of names and numbers.
  DictionaryAttr products;
};
} // namespace

/// A length that is cut into pieces, as their number times their length: the runtime then refuses one
/// that is no multiple.
std::optional<rt::Expr> EntryBuilder::wholeOf(StringAttr name) {
  if (!products)
    return std::nullopt;
  for (NamedAttribute product : products) {
    auto factors = cast<ArrayAttr>(product.getValue());
    auto pieces = llvm::find(symbols, product.getName());
    if (factors.size() != 3 || factors[0] != name || pieces == symbols.end())
      continue;
    auto length = dyn_cast<LengthAttr>(factors[1]);
    if (FailureOr<rt::Expr> piece = length ? hostLength(length) : FailureOr<rt::Expr>(); succeeded(piece))
      return rt::Expr::var(pieces - symbols.begin()) * *piece;
  }
  return std::nullopt;
}

/// A length of the interface over the entry's symbols; names that are none stand for what binds them.
FailureOr<rt::Expr> EntryBuilder::hostLength(LengthAttr length) {
  SmallVector<rt::Expr> values;
  for (StringAttr name : length.getNames()) {
    if (auto known = llvm::find(symbols, name); known != symbols.end()) {
      values.push_back(rt::Expr::var(known - symbols.begin()));
      continue;
    }
    std::optional<rt::Expr> value = wholeOf(name);
    if (!value)
      value = valueOf(name);
    if (!value)
      return emitError() << "has a length '" << name.getValue() << "' that is bound by no argument";
    values.push_back(*value);
  }
  return ::toHostExpr(length.getExpr(), values);
}

LogicalResult EntryBuilder::addArgument(const Parameter &parameter, bool output) {
  if (parameter.stridedDims > parameter.lengths.size())
    return emitError() << "has strides for " << parameter.stridedDims << " dimensions of '" << parameter.name
                       << "', which has " << parameter.lengths.size();
  rt::Argument argument;
  argument.name = parameter.name;
  std::optional<rt::DType> dtype = arrayTypeOf(parameter.element.getElementType());
  if (!dtype)
    return emitError() << "has elements of " << parameter.element.getElementType() << ", which no array holds";
  argument.dtype = *dtype;
  for (LengthAttr length : parameter.lengths) {
    if (length.getRagged())
      return emitError() << "has a ragged length; a compiled program takes none";
    FailureOr<rt::Expr> extent = hostLength(length);
    if (failed(extent))
      return failure();
    argument.shape.push_back(*extent);
  }
  for (int64_t extent : parameter.element.getShape())
    argument.shape.push_back(extent);
  argument.output = output;
  argument.stridedDims = parameter.stridedDims;
  argument.held = parameter.isHeld;
  if (argument.held && (argument.stridedDims > 0 || llvm::any_of(argument.shape, [](const rt::Expr &extent) { return !extent.asConstant(); })))
    return emitError() << "holds '" << parameter.name << "' (ft.held), whose sizes are not numbers";
  constexpr int64_t alignment = 16; // of callers' arrays: what the widest access of a thread needs
  argument.alignment = alignment;
  entry.arguments.push_back(std::move(argument));
  return success();
}

/// The value of `name` where an argument's extent is `a * name + b`; that the extent is what the length
/// says at this value, the runtime checks.
std::optional<rt::Expr> EntryBuilder::solve(LengthAttr length, StringAttr name, unsigned argument, unsigned dim) {
  if (length.getRagged() || length.getNames().size() != 1 || length.getNames().front() != name)
    return std::nullopt;
  auto at = [&](int64_t value) { return length.evaluate([&](StringAttr) { return std::optional(value); }); };
  std::optional<int64_t> offset = at(0), one = at(1);
  if (!offset || !one || *one <= *offset)
    return std::nullopt;
  int64_t factor = *one - *offset;
  AffineExpr symbol = getAffineSymbolExpr(0, length.getContext());
  if (length.getExpr() != simplifyAffineExpr(symbol * factor + *offset, 0, 1))
    return std::nullopt;
  rt::Expr extent = entry.extent(argument, dim);
  if (*offset != 0)
    extent = extent + rt::Expr(-*offset);
  return factor == 1 ? extent : rt::Expr::binary(rt::Expr::floordiv, extent, factor);
}

/// What binds a name: an extent, the factors of a product, or a length and what cuts it into pieces.
std::optional<rt::Expr> EntryBuilder::valueOf(StringAttr name) {
  // A length by itself before an expression over it: errors then name the plainer one.
  for (bool alone : {true, false})
    for (auto [i, input] : llvm::enumerate(interface.inputs))
      for (auto [d, length] : llvm::enumerate(input.lengths))
        if (alone == (length.getSingleName() == name))
          if (std::optional<rt::Expr> value = solve(length, name, i, d))
            return value;
  auto pair = products ? products.getAs<ArrayAttr>(name) : nullptr;
  if (!pair || pair.size() < 2)
    return std::nullopt;
  std::optional<rt::Expr> a = valueOf(pair[0]), b = valueOf(pair[1]);
  if (!a || !b)
    return std::nullopt;
  if (pair.size() == 2)
    return *a * *b;
  // A piece of no elements is refused by the program's bounds, after lengths are known.
  return rt::Expr::binary(rt::Expr::floordiv, *a, rt::Expr::binary(rt::Expr::max, *b, 1));
}

std::optional<rt::Expr> EntryBuilder::valueOf(Attribute factor) {
  if (auto number = dyn_cast<IntegerAttr>(factor))
    return rt::Expr(number.getInt());
  if (auto length = dyn_cast<LengthAttr>(factor)) {
    SmallVector<rt::Expr> values;
    for (StringAttr name : length.getNames()) {
      std::optional<rt::Expr> value = valueOf(name);
      if (!value)
        return std::nullopt;
      values.push_back(*value);
    }
    return ::toHostExpr(length.getExpr(), values);
  }
  return valueOf(cast<StringAttr>(factor));
}

LogicalResult EntryBuilder::require(BoundsAttr bounds, StringRef because) {
  for (LengthAttr bound : bounds.getNonNegative()) {
    FailureOr<rt::Expr> value = hostLength(bound);
    if (failed(value))
      return failure();
    entry.requirements.push_back({*value, because.empty() ? bound.str() + " >= 0" : because.str()});
  }
  return success();
}

/// " (file:line:column)", without the folder, which is another where the plan runs.
static std::string placeOf(Location location) {
  auto at = location->findInstanceOf<FileLineColLoc>();
  if (!at)
    return "";
  return (" (" + llvm::sys::path::filename(at.getFilename().getValue()) + ":" + Twine(at.getLine()) + ":" +
          Twine(at.getColumn()) + ")")
      .str();
}

LogicalResult EntryBuilder::requireChecks(ArrayAttr checks) {
  for (auto check : checks.getAsRange<DictionaryAttr>()) {
    std::string because = check.getAs<StringAttr>("because").str();
    if (auto at = check.getAs<LocationAttr>("at"))
      because += placeOf(at);
    if (failed(require(check.getAs<BoundsAttr>("holds"), because)))
      return failure();
  }
  return success();
}

/// What code takes as one dimension lies one after the other, whatever the step.
void EntryBuilder::requireJoinedStrides() {
  for (unsigned i = 0; i < interface.inputs.size(); ++i) {
    ArrayRef<int64_t> before;
    for (ArrayRef<int64_t> group : code[i].strideGroups) {
      if (group != before)
        for (const rt::Expr &gap : joinDims(entry, i, group).gaps) {
          std::string text = "dimensions " + std::to_string(group.front()) + " to " + std::to_string(group.back()) +
                             " of \"" + interface.inputs[i].name + "\" to follow each other in memory";
          entry.requirements.push_back({gap, text});
          entry.requirements.push_back({rt::Expr(0) - gap, text});
        }
      before = group;
    }
  }
}

FailureOr<rt::Entry> EntryBuilder::build() {
  entry.name = interface.name;
  entry.binds = interface.binds;
  for (StringAttr name : symbols)
    entry.symbols.push_back({name.getValue().str(), 0, 0});
  nameStrides(entry, code, interface.inputs);
  for (const Parameter &input : interface.inputs)
    if (failed(addArgument(input, false)))
      return failure();
  for (const Parameter &output : interface.outputs)
    if (failed(addArgument(output, true)))
      return failure();
  for (auto [i, name] : llvm::enumerate(symbols)) {
    std::optional<rt::Expr> value = wholeOf(name);
    if (!value)
      value = valueOf(name);
    if (!value)
      return emitError() << "has a length '" << name.getValue() << "' that is bound by no argument";
    entry.symbols[i].value = *value;
  }
  if (interface.bounds && failed(require(interface.bounds, "")))
    return failure();
  if (interface.checks && failed(requireChecks(interface.checks)))
    return failure();
  requireJoinedStrides();
  return std::move(entry);
}

/// A read of fewer dimensions takes all below them as one piece of memory.
LogicalResult mlir::ft::checkStridedReads(etdg::GraphOp graph) {
  WalkResult result = graph.walk([&](etdg::BlockOp block) {
    for (etdg::ReadAttr read : block.getReads().getAsRange<etdg::ReadAttr>())
      for (etdg::PieceAttr piece : read.getPieces()) {
        if (piece.getKind() != etdg::SourceKind::Buffer)
          continue;
        auto argument = dyn_cast<BlockArgument>(block.getBuffers()[piece.getOperand()]);
        if (!argument || argument.getOwner()->getParentOp() != graph ||
            piece.getMap().getValue().getNumResults() >= getStridedDims(graph, argument.getArgNumber()))
          continue;
        block.emitError() << "reads several elements of argument " << argument.getArgNumber()
                          << " as one, which needs them to be dense: 'ft.strided' leaves that open";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Outputs that may lie where an argument lies, in calls of this code.
static void takeWritebacks(const Interface &code, rt::Entry &entry) {
  size_t inputs = code.inputs.size();
  if (entry.arguments.size() != inputs + code.outputs.size())
    return;
  for (size_t i = 0; i + 1 < code.inPlace.size(); i += 2)
    entry.arguments[inputs + code.inPlace[i + 1]].writeback = code.inPlace[i];
}

void mlir::ft::restrictWritebacks(etdg::GraphOp graph, rt::Entry &entry) {
  rt::Entry own;
  own.arguments.resize(entry.arguments.size());
  if (std::optional<Interface> code = getInterface(graph))
    takeWritebacks(*code, own);
  for (auto [argument, allowed] : llvm::zip_equal(entry.arguments, own.arguments))
    if (argument.writeback != allowed.writeback)
      argument.writeback = -1;
}

FailureOr<rt::Entry> mlir::ft::makeEntry(const Interface &code) {
  FailureOr<rt::Entry> entry = EntryBuilder(code.inputs, code, code.names, nullptr).build();
  if (succeeded(entry))
    takeWritebacks(code, *entry);
  return entry;
}

FailureOr<rt::Entry> mlir::ft::makeEntry(FunctionOpInterface function) {
  auto graph = dyn_cast<etdg::GraphOp>(function.getOperation());
  if (graph && failed(checkStridedReads(graph)))
    return failure();
  std::optional<Interface> code = getInterface(function);
  if (!code)
    return function->emitError()
           << "has an argument or result that no array holds; expected lists, buffers or tensors of static shape";
  return makeEntry(*code);
}

FailureOr<rt::Entry> mlir::ft::makeEntry(etdg::GraphOp graph, const Interface &program) {
  // Where no lengths were taken as one, the graph says the same, and more: names of dynamic dimensions.
  auto products = graph->getAttrOfType<DictionaryAttr>(etdg::names::merged);
  if (!products)
    return makeEntry(graph);
  if (failed(checkStridedReads(graph)))
    return failure();
  std::optional<Interface> code = getInterface(graph);
  if (!code)
    return makeEntry(graph); // (which says why)
  Interface interface = program;
  interface.location = graph.getLoc();
  interface.checks = graph->getAttrOfType<ArrayAttr>(etdg::names::checks);
  // What is computed when arguments are bound has come to the program's own.
  interface.inputs.append(code->inputs.begin() + std::min(code->inputs.size(), program.inputs.size()), code->inputs.end());
  return EntryBuilder(code->inputs, interface, code->names, products).build();
}
