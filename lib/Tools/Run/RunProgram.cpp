//===- RunProgram.cpp - entries, lengths and arguments of ft-run ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the entry, binds lengths and makes the arguments.
//
//===----------------------------------------------------------------------===//

#include "RaggedData.h"

#include "ft/Analysis/Rounding.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/TSSA/Transforms/Aliases.h"
#include "ft/Interpreter/LengthBinding.h"
#include "ft/Runtime/Arrays/Generate.h"
#include "ft/Runtime/Arrays/Npy.h"
#include "ft/Support/ArrayType.h"
#include "ft/Support/WholeFile.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tools;
using ::ft::rt::DType;
using ::ft::rt::HostArray;

/// A tensor of sizes that its type leaves open has lengths up to the last of these, named by the
/// argument's `etdg.dims`, else by its position, as raising names them (docs/raising.md).
static void addOpenSizes(RankedTensorType tensor, unsigned argument, ArrayAttr dims, Parameter &parameter) {
  MLIRContext *context = tensor.getContext();
  int64_t open = tensor.getRank();
  while (open > 0 && !tensor.isDynamicDim(open - 1))
    --open;
  for (int64_t d = 0; d < open; ++d) {
    StringAttr name;
    if (dims && d < int64_t(dims.size()))
      name = dyn_cast<StringAttr>(dims[d]);
    if (!tensor.isDynamicDim(d))
      parameter.lengths.push_back(LengthAttr::get(context, tensor.getDimSize(d)));
    else if (name && !name.getValue().empty())
      parameter.lengths.push_back(LengthAttr::get(name));
    else
      parameter.lengths.push_back(LengthAttr::get(
          StringAttr::get(context, "n" + std::to_string(argument) + "_" + std::to_string(d))));
  }
  parameter.element = RankedTensorType::get(tensor.getShape().drop_front(open), tensor.getElementType());
}

/// Members of a value's type, tuples taken apart: lengths, then element.
static LogicalResult addParameters(Type type, Parameter base, SmallVectorImpl<Parameter> &parameters) {
  if (auto list = dyn_cast<ListType>(type)) {
    base.lengths.append(list.getLengths().begin(), list.getLengths().end());
    return addParameters(list.getElement(), base, parameters);
  }
  if (auto buffer = dyn_cast<etdg::BufferType>(type)) {
    base.lengths.append(buffer.getLengths().begin(), buffer.getLengths().end());
    base.element = buffer.getElement();
    parameters.push_back(base);
    return success();
  }
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type member : tuple.getTypes())
      if (failed(addParameters(member, base, parameters)))
        return failure();
    return success();
  }
  auto mutableTensor = dyn_cast<tssa::MutableTensorType>(type);
  auto tensor = mutableTensor ? mutableTensor.getValueType() : dyn_cast<RankedTensorType>(type);
  if (!tensor || !arrayTypeOf(tensor.getElementType()))
    return emitError(base.loc) << base.name << " has type " << type
                               << "; expected a list, a buffer or a tensor with elements that arrays have";
  base.element = tensor;
  parameters.push_back(base);
  return success();
}

::ft::rt::Tolerance tools::getTolerance(const Entry &entry, size_t result, DType dtype) {
  ::ft::rt::Tolerance own = ::ft::rt::defaultTolerance(dtype);
  FloatType rounding = result < entry.results.size() ? entry.results[result].rounding : FloatType();
  std::optional<DType> coarsest = rounding ? arrayTypeOf(rounding) : std::nullopt;
  if (!coarsest || own.rtol == 0)
    return own;
  ::ft::rt::Tolerance onTheWay = ::ft::rt::defaultTolerance(*coarsest);
  return onTheWay.rtol > own.rtol ? onTheWay : own;
}

FailureOr<Entry> tools::findEntry(ModuleOp module, StringRef name) {
  // Sizes of tensors become lengths, also where the file has no operation of ft.
  module.getContext()->loadDialect<FTDialect>();
  SmallVector<Operation *> candidates;
  for (Operation &op : *module.getBody())
    if (isa<func::FuncOp, etdg::GraphOp>(op) && !cast<FunctionOpInterface>(op).isExternal() &&
        SymbolTable::getSymbolVisibility(&op) != SymbolTable::Visibility::Private)
      candidates.push_back(&op);
  Operation *chosen = nullptr;
  Location start = wholeFile(module.getLoc());
  auto names = [&] {
    std::string all;
    for (Operation *op : candidates)
      all += (all.empty() ? "@" : ", @") + SymbolTable::getSymbolName(op).str();
    return all;
  };
  if (!name.empty()) {
    for (Operation *op : candidates)
      if (SymbolTable::getSymbolName(op).getValue() == name)
        chosen = op;
    if (!chosen)
      return emitError(start) << "there is no function @" << name << "; found " << (candidates.empty() ? "none" : names());
  } else if (candidates.empty()) {
    return emitError(start) << "there is no function to run";
  } else if (candidates.size() == 1) {
    chosen = candidates.front();
  } else {
    for (Operation *op : candidates)
      if (SymbolTable::getSymbolName(op).getValue() == "main")
        chosen = op;
    if (!chosen)
      return emitError(start) << "there are several functions: choose one with --entry (" << names() << ")";
  }

  Entry entry;
  entry.op = chosen;
  auto function = cast<FunctionOpInterface>(chosen);
  entry.name = function.getName();
  entry.bounds = chosen->getAttrOfType<BoundsAttr>(mlir::ft::names::bounds);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    function.removeArgAttr(i, mlir::ft::names::held); // what is run here gets all of its arguments
    Parameter parameter{"argument " + std::to_string(i), {}, {}, function.getArgAttr(i, mlir::ft::names::gen),
                        function.getArgument(i).getLoc()};
    if (failed(addParameters(type, parameter, entry.parameters)))
      return failure();
    RankedTensorType tensor = dyn_cast<RankedTensorType>(type);
    if (auto reference = dyn_cast<tssa::MutableTensorType>(type))
      tensor = reference.getValueType();
    if (tensor)
      addOpenSizes(tensor, i, dyn_cast_or_null<ArrayAttr>(function.getArgAttr(i, etdg::names::dims)),
                   entry.parameters.back());
  }
  SmallVector<FloatType> roundings = findCoarsestRounding(function);
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    Parameter parameter{"result " + std::to_string(i), {}, {}, nullptr, chosen->getLoc(), roundings[i]};
    if (failed(addParameters(type, parameter, entry.results)))
      return failure();
  }
  // What is written into a mutable argument comes back as a further result.
  if (auto imperative = dyn_cast<func::FuncOp>(chosen); imperative && tssa::hasMutableTensors(imperative))
    for (unsigned written : tssa::AliasGraph(imperative).writtenArguments()) {
      Parameter parameter{"argument " + std::to_string(written) + " afterwards", {}, {}, nullptr, chosen->getLoc()};
      if (failed(addParameters(function.getArgumentTypes()[written], parameter, entry.results)))
        return failure();
    }
  for (const Parameter &parameter : entry.parameters)
    for (LengthAttr length : parameter.lengths) {
      if (StringAttr single = length.getSingleName(); single && !llvm::is_contained(entry.names, single))
        entry.names.push_back(single);
      if (length.getRagged() && !llvm::is_contained(entry.ragged, length.getNames().front()))
        entry.ragged.push_back(length.getNames().front());
    }
  for (const Parameter &result : entry.results)
    for (LengthAttr length : result.lengths)
      if (length.getRagged() && !llvm::is_contained(entry.raggedResults, length.getNames().front()))
        entry.raggedResults.push_back(length.getNames().front());
  return entry;
}

/// The distribution that `ft.gen` says; by default standard normal, small integers.
static FailureOr< ::ft::rt::Distribution> distributionOf(const Parameter &parameter, const LengthValues &lengths) {
  using ::ft::rt::Distribution;
  bool isFloat = isa<FloatType>(parameter.element.getElementType());
  auto lookup = [&](StringAttr name) -> std::optional<int64_t> {
    auto it = lengths.find(name);
    return it == lengths.end() ? std::nullopt : std::optional<int64_t>(it->second);
  };
  if (auto normal = dyn_cast_or_null<NormalAttr>(parameter.generator))
    return isFloat ? Distribution::makeNormal(normal.getScale()) : Distribution::makeInteger(-3, 3);
  if (auto uniform = dyn_cast_or_null<UniformAttr>(parameter.generator))
    return isFloat ? Distribution::makeUniform(uniform.getLo(), uniform.getHi())
                   : Distribution::makeInteger(uniform.getLo(), uniform.getHi());
  if (auto index = dyn_cast_or_null<IndexAttr>(parameter.generator)) {
    std::optional<int64_t> lo = index.getLo().evaluate(lookup), hi = index.getHi().evaluate(lookup);
    if (!lo || !hi)
      return emitError(parameter.loc) << parameter.name << ": the range of its indices, [" << index.getLo().str() << ", "
                                      << index.getHi().str() << "), has no value";
    return Distribution::makeIndex(*lo, *hi);
  }
  return isFloat ? Distribution::makeNormal(1.0) : Distribution::makeInteger(-3, 3);
}

namespace {
/// The lengths and arrays of one call: given ones first, what is missing drawn.
class DataMaker {
public:
  DataMaker(const Entry &entry, const DataOptions &options)
      : entry(entry), options(options), loc(entry.op->getLoc()), ragged(entry) {}

  FailureOr<Data> make() {
    if (failed(bindGivenLengths()) || failed(readArguments()) || failed(bindListCounts()))
      return failure();
    takeDefaultLengths();
    if (failed(checkLengths()) || failed(checkRaggedLevels()))
      return failure();
    interp::LengthBinding binding;
    binding.names = data.lengths;
    if (failed(interp::checkBounds(entry.op, binding)) ||
        failed(ragged.generate(data.lengths, longest, options.seed)) || failed(completeArguments()))
      return failure();
    for (HostArray &offsets : ragged.take())
      data.arguments.push_back(std::move(offsets));
    return std::move(data);
  }

private:
  LogicalResult bind(StringAttr name, int64_t value, const std::string &from);
  LogicalResult bindGivenLengths();
  LogicalResult readArguments();
  LogicalResult readArgument(const Parameter &parameter, const std::string &file);
  LogicalResult bindListCounts();
  void takeDefaultLengths();
  LogicalResult checkLengths();
  LogicalResult checkRaggedLevels();
  FailureOr<std::vector<int64_t>> shapeOf(const Parameter &parameter);
  LogicalResult completeArguments();
  FailureOr<HostArray> drawArgument(const Parameter &parameter, size_t number, ArrayRef<int64_t> shape);

  const Entry &entry;
  const DataOptions &options;
  Location loc;
  Data data;
  RaggedData ragged;
  LengthValues longest; // of the lists of ragged levels
  llvm::DenseMap<StringAttr, std::string> origin;
};
} // namespace

LogicalResult DataMaker::bind(StringAttr name, int64_t value, const std::string &from) {
  auto [it, inserted] = data.lengths.try_emplace(name, value);
  if (inserted) {
    origin[name] = from;
    return success();
  }
  if (it->second != value)
    return emitError(loc) << "two lengths for '" << name.getValue() << "': " << it->second << " from " << origin[name]
                          << ", " << value << " from " << from;
  return success();
}

/// `--dim`.
LogicalResult DataMaker::bindGivenLengths() {
  for (auto &[name, value] : options.lengths) {
    StringAttr attr = StringAttr::get(entry.op->getContext(), name);
    bool isRagged = llvm::is_contained(entry.ragged, attr);
    if (!isRagged && !llvm::is_contained(entry.names, attr)) {
      InFlightDiagnostic error = emitError(loc) << "--dim names '" << name << "', which @" << entry.name << " does not have; its lengths are ";
      llvm::interleaveComma(entry.names, error, [&](StringAttr n) { error << n.getValue(); });
      return error;
    }
    if (value < 0)
      return emitError(loc) << "--dim " << name << "=" << value << ": a length must not be negative";
    if (isRagged)
      longest[attr] = value;
    else if (failed(bind(attr, value, "--dim")))
      return failure();
  }
  return success();
}

/// A given array binds the names in its shape.
LogicalResult DataMaker::readArgument(const Parameter &parameter, const std::string &file) {
  HostArray array;
  ::ft::rt::NpyExpectation expected;
  expected.dtype = arrayTypeOf(parameter.element.getElementType());
  if (auto status = ::ft::rt::readNpy(file, array, expected); !status.ok())
    return emitError(parameter.loc) << parameter.name << ": " << status.message();
  unsigned depth = isRagged(parameter) ? 1 : parameter.lengths.size();
  unsigned rank = depth + parameter.element.getRank();
  if (array.shape.size() != rank) {
    InFlightDiagnostic error = emitError(parameter.loc) << parameter.name << ": expected an array of rank " << rank << " (";
    if (isRagged(parameter))
      error << "the elements of all lists, one after the other";
    else
      error << depth << " lengths";
    return error << ", then the element's " << parameter.element.getRank() << "), found " << array.describe() << " in '"
                 << file << "'";
  }
  for (auto [d, length] : llvm::enumerate(parameter.lengths))
    if (StringAttr single = length.getSingleName(); single && !isRagged(parameter))
      if (failed(bind(single, array.shape[d], "the shape of '" + file + "'")))
        return failure();
  data.arguments.push_back(std::move(array));
  return success();
}

/// `--arg`: the entry's arrays, then the offsets of its ragged levels.
LogicalResult DataMaker::readArguments() {
  size_t numParameters = entry.parameters.size();
  if (options.argumentFiles.size() > numParameters + entry.ragged.size()) {
    InFlightDiagnostic error = emitError(loc) << "@" << entry.name << " takes " << numParameters << " arrays";
    if (!entry.ragged.empty())
      error << " and the offsets of " << entry.ragged.size() << " ragged levels";
    return error << ", but --arg was given " << options.argumentFiles.size() << " times";
  }
  for (auto [i, file] : llvm::enumerate(options.argumentFiles))
    if (failed(i < numParameters ? readArgument(entry.parameters[i], file) : ragged.read(i - numParameters, file)))
      return failure();
  return success();
}

/// As many lists as the offsets say, where that is one name.
LogicalResult DataMaker::bindListCounts() {
  for (const Parameter &parameter : entry.parameters)
    if (parameter.lengths.size() > 1 && parameter.lengths[0].getSingleName() && parameter.lengths[1].getRagged())
      if (std::optional<int64_t> lists = ragged.numLists(parameter.lengths[1].getNames().front()))
        if (failed(bind(parameter.lengths[0].getSingleName(), *lists, "the offsets of " + parameter.lengths[1].str())))
          return failure();
  return success();
}

/// `ft.lengths`, where nothing else says more.
void DataMaker::takeDefaultLengths() {
  if (auto defaults = entry.op->getAttrOfType<DictionaryAttr>(mlir::ft::names::lengths))
    for (NamedAttribute attr : defaults)
      if (auto value = dyn_cast<IntegerAttr>(attr.getValue()))
        (llvm::is_contained(entry.ragged, attr.getName()) ? longest : data.lengths).try_emplace(attr.getName(), value.getInt());
}

LogicalResult DataMaker::checkLengths() {
  for (auto [name, value] : data.lengths)
    if (value < 0)
      return emitError(loc) << "length '" << name.getValue() << "' must not be negative, got " << value;
  for (StringAttr name : entry.names)
    if (!data.lengths.contains(name))
      return emitError(loc) << "length '" << name.getValue() << "' of @" << entry.name
                            << " has no value: give --dim " << name.getValue() << "=N, or ft.lengths on the function";
  return success();
}

/// Each ragged level has offsets, or a longest list to draw them by.
LogicalResult DataMaker::checkRaggedLevels() {
  for (StringAttr name : entry.ragged) {
    if (ragged.numLists(name))
      continue;
    for (auto [i, parameter] : llvm::enumerate(entry.parameters))
      if (i < options.argumentFiles.size() && llvm::is_contained(parameter.lengths, LengthAttr::getRagged(name)))
        return emitError(parameter.loc) << parameter.name << " is given by '" << options.argumentFiles[i]
                                        << "': expected the offsets of ragged(" << name.getValue() << "), too, as a further --arg";
    if (!longest.contains(name))
      return emitError(loc) << "the ragged level '" << name.getValue() << "' of @" << entry.name << " has no lengths: give --dim "
                            << name.getValue() << "=N, the longest that its lists get, or ft.lengths on the function";
  }
  return success();
}

FailureOr<std::vector<int64_t>> DataMaker::shapeOf(const Parameter &parameter) {
  std::vector<int64_t> shape;
  if (isRagged(parameter)) {
    FailureOr<int64_t> count = ragged.countElements(parameter, data.lengths);
    if (failed(count))
      return failure();
    shape.push_back(*count);
  } else {
    for (LengthAttr length : parameter.lengths) {
      std::optional<int64_t> value = length.evaluate([&](StringAttr name) -> std::optional<int64_t> {
        auto it = data.lengths.find(name);
        return it == data.lengths.end() ? std::nullopt : std::optional<int64_t>(it->second);
      });
      if (!value || *value < 0)
        return emitError(parameter.loc) << parameter.name << ": length " << length.str() << " is negative or overflows";
      shape.push_back(*value);
    }
  }
  llvm::append_range(shape, parameter.element.getShape());
  return shape;
}

FailureOr<HostArray> DataMaker::drawArgument(const Parameter &parameter, size_t number, ArrayRef<int64_t> shape) {
  HostArray array;
  DType dtype = *arrayTypeOf(parameter.element.getElementType());
  if (auto status = HostArray::create(dtype, std::vector<int64_t>(shape), array); !status.ok())
    return emitError(parameter.loc) << parameter.name << ": " << status.message();
  FailureOr<::ft::rt::Distribution> distribution = distributionOf(parameter, data.lengths);
  if (failed(distribution))
    return failure();
  if (array.numElements() > 0)
    if (auto status = ::ft::rt::generate(array, *distribution, options.seed, number); !status.ok())
      return emitError(parameter.loc) << parameter.name << ": " << status.message();
  return std::move(array);
}

/// Given arrays have the shapes that all lengths together say; the others are drawn.
LogicalResult DataMaker::completeArguments() {
  for (auto [i, parameter] : llvm::enumerate(entry.parameters)) {
    FailureOr<std::vector<int64_t>> shape = shapeOf(parameter);
    if (failed(shape))
      return failure();
    if (i < data.arguments.size()) {
      if (data.arguments[i].shape != *shape)
        return emitError(parameter.loc) << parameter.name << ": expected "
                                        << ::ft::rt::describe(*arrayTypeOf(parameter.element.getElementType()), *shape)
                                        << ", found " << data.arguments[i].describe() << " in '"
                                        << options.argumentFiles[i] << "'";
      continue;
    }
    FailureOr<HostArray> array = drawArgument(parameter, i, *shape);
    if (failed(array))
      return failure();
    data.arguments.push_back(std::move(*array));
  }
  return success();
}

FailureOr<Data> tools::makeData(const Entry &entry, const DataOptions &options) {
  return DataMaker(entry, options).make();
}
