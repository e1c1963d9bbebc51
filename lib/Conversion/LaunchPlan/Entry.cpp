//===- Entry.cpp - what a caller of a compiled graph sees -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LaunchPlan/Entry.h"

#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Support/ArrayType.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

rt::Expr mlir::ft::toHostExpr(AffineExpr expr, ArrayRef<StringAttr> names,
                              ArrayRef<StringAttr> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return rt::Expr::var(llvm::find(symbols, names[symbol.getPosition()]) - symbols.begin());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) // a dimension: callers have none
    return 0;
  rt::Expr a = toHostExpr(binary.getLHS(), names, symbols),
           b = toHostExpr(binary.getRHS(), names, symbols);
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
  if (auto constant = bytes.asConstant())
    return rt::Expr(int64_t(llvm::alignTo(*constant, 256)));
  return rt::Expr::binary(rt::Expr::ceildiv, bytes, 256) * 256;
}

namespace {
/// One array of a call: a list of tensors, or a buffer.
struct Parameter {
  SmallVector<LengthAttr> lengths;
  RankedTensorType element;
};

class EntryBuilder {
public:
  explicit EntryBuilder(FunctionOpInterface function) : function(function) {}
  FailureOr<rt::Entry> build();

private:
  LogicalResult collect(Type type, SmallVector<LengthAttr> lengths, SmallVectorImpl<Parameter> &parameters);
  void collectSymbols();
  LogicalResult addArgument(const Parameter &parameter, bool output, const std::string &name);
  LogicalResult bindSymbol(unsigned index);
  std::optional<rt::Expr> solve(LengthAttr length, StringAttr name, unsigned argument, unsigned dim);
  void require(BoundsAttr bounds, StringRef because);
  rt::Expr hostLength(LengthAttr length) { return toHostExpr(length.getExpr(), length.getNames(), symbols); }

  FunctionOpInterface function;
  SmallVector<Parameter> inputs, outputs;
  SmallVector<StringAttr> symbols;
  rt::Entry entry;
};
} // namespace

LogicalResult EntryBuilder::collect(Type type, SmallVector<LengthAttr> lengths,
                                    SmallVectorImpl<Parameter> &parameters) {
  if (auto list = dyn_cast<ListType>(type)) {
    llvm::append_range(lengths, list.getLengths());
    return collect(list.getElement(), lengths, parameters);
  }
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type member : tuple.getTypes())
      if (failed(collect(member, lengths, parameters)))
        return failure();
    return success();
  }
  auto element = dyn_cast<RankedTensorType>(type);
  if (auto buffer = dyn_cast<etdg::BufferType>(type)) {
    llvm::append_range(lengths, buffer.getLengths());
    element = buffer.getElement();
  }
  if (!element || !element.hasStaticShape())
    return function->emitError() << "has an argument or result of type " << type
                                 << "; expected lists, buffers or tensors of static shape";
  parameters.push_back({std::move(lengths), element});
  return success();
}

void EntryBuilder::collectSymbols() {
  if (auto graph = dyn_cast<etdg::GraphOp>(function.getOperation())) {
    symbols = graph.getSymbolNames();
    return;
  }
  auto add = [&](LengthAttr length) {
    for (StringAttr name : length.getNames())
      if (!llvm::is_contained(symbols, name))
        symbols.push_back(name);
  };
  for (ArrayRef<Parameter> parameters : {ArrayRef(inputs), ArrayRef(outputs)})
    for (const Parameter &parameter : parameters)
      llvm::for_each(parameter.lengths, add);
  if (auto bounds = function->getAttrOfType<BoundsAttr>("ft.bounds"))
    llvm::for_each(bounds.getNonNegative(), add);
}

/// What messages call an input: the name that its location has (`loc("xs"(...))`), else its number.
static std::string inputName(FunctionOpInterface function, unsigned argument, unsigned number) {
  if (!function.isExternal())
    if (auto named = dyn_cast<NameLoc>(function.getArgument(argument).getLoc()))
      return named.getName().str();
  return "argument" + std::to_string(number);
}

LogicalResult EntryBuilder::addArgument(const Parameter &parameter, bool output, const std::string &name) {
  rt::Argument argument;
  argument.name = name;
  std::optional<rt::DType> dtype = arrayTypeOf(parameter.element.getElementType());
  if (!dtype)
    return function->emitError() << "no array holds elements of " << parameter.element.getElementType();
  argument.dtype = *dtype;
  for (LengthAttr length : parameter.lengths) {
    if (length.getRagged())
      return function->emitError() << "has a ragged length; a compiled program takes none";
    argument.shape.push_back(hostLength(length));
  }
  for (int64_t extent : parameter.element.getShape())
    argument.shape.push_back(extent);
  argument.output = output;
  argument.alignment = 16;
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
  AffineExpr symbol = getAffineSymbolExpr(0, function->getContext());
  if (length.getExpr() != simplifyAffineExpr(symbol * factor + *offset, 0, 1))
    return std::nullopt;
  rt::Expr extent = entry.extent(argument, dim);
  if (*offset != 0)
    extent = extent + rt::Expr(-*offset);
  return factor == 1 ? extent : rt::Expr::binary(rt::Expr::floordiv, extent, factor);
}

LogicalResult EntryBuilder::bindSymbol(unsigned index) {
  // A length by itself before an expression over it: errors then name the plainer one.
  for (bool alone : {true, false})
    for (auto [i, input] : llvm::enumerate(inputs))
      for (auto [d, length] : llvm::enumerate(input.lengths)) {
        if (alone != (length.getSingleName() == symbols[index]))
          continue;
        if (std::optional<rt::Expr> value = solve(length, symbols[index], i, d)) {
          entry.symbols[index].value = *value;
          return success();
        }
      }
  return function->emitError() << "length '" << symbols[index].getValue() << "' is bound by no argument";
}

void EntryBuilder::require(BoundsAttr bounds, StringRef because) {
  for (LengthAttr bound : bounds.getNonNegative())
    entry.requirements.push_back({hostLength(bound), because.empty() ? bound.str() + " >= 0" : because.str()});
}

FailureOr<rt::Entry> EntryBuilder::build() {
  entry.name = function.getName().str();
  SmallVector<std::string> names;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (failed(collect(type, {}, inputs)))
      return failure();
    while (names.size() < inputs.size())
      names.push_back(inputName(function, index, names.size()));
  }
  for (Type type : function.getResultTypes())
    if (failed(collect(type, {}, outputs)))
      return failure();
  collectSymbols();
  for (StringAttr name : symbols)
    entry.symbols.push_back({name.getValue().str(), 0, 0});
  for (auto [i, input] : llvm::enumerate(inputs))
    if (failed(addArgument(input, false, names[i])))
      return failure();
  for (auto [i, output] : llvm::enumerate(outputs))
    if (failed(addArgument(output, true, "result" + std::to_string(i))))
      return failure();
  for (unsigned i = 0; i < symbols.size(); ++i)
    if (failed(bindSymbol(i)))
      return failure();
  if (auto bounds = function->getAttrOfType<BoundsAttr>("ft.bounds"))
    require(bounds, "");
  if (auto checks = function->getAttrOfType<ArrayAttr>("etdg.checks"))
    for (auto check : checks.getAsRange<DictionaryAttr>())
      require(check.getAs<BoundsAttr>("holds"), check.getAs<StringAttr>("because").getValue());
  return std::move(entry);
}

FailureOr<rt::Entry> mlir::ft::makeEntry(FunctionOpInterface function) { return EntryBuilder(function).build(); }
