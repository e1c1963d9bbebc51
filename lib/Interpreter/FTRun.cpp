//===- FTRun.cpp - Run an ft function on arrays ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry point for the tools: arrays become nested lists and back. A list
// with ragged levels is stored as its elements one after the other, and the
// offsets of each ragged name; a tuple is its members' arrays, one after the other.
//
//===----------------------------------------------------------------------===//
#include "FTAccessEval.h"
#include "TSSAEval.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/TSSA/Transforms/Aliases.h"
#include "HostValues.h"
#include "ft/Interpreter/FTInterpreter.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::interp;
using ::ft::rt::DType;
using ::ft::rt::HostArray;

namespace {

/// The lengths of the lists of each ragged name, in order.
using RaggedLengths = llvm::MapVector<StringAttr, std::vector<int64_t>>;

/// Builds the value of one argument from its array.
class ListReader {
public:
  ListReader(const HostArray &array, const LengthBinding &known, const RaggedLengths &ragged,
             EmitError emitError)
      : array(array), known(known), ragged(ragged), emitError(emitError) {}

  FailureOr<RuntimeValue> read(Type type);

private:
  FailureOr<RuntimeValue> readRagged(Type type);

  const HostArray &array;
  const LengthBinding &known;
  const RaggedLengths &ragged;
  EmitError emitError;
  int64_t nextElement = 0;
  llvm::DenseMap<StringAttr, size_t> nextList;
};

} // namespace

/// The types of the arrays of a value of `type`: `list<[L], tuple<a, b>>` is a list
/// of a and one of b.
static void collectMembers(Type type, SmallVectorImpl<Type> &members) {
  auto list = dyn_cast<ListType>(type);
  auto tuple = dyn_cast<TupleType>(list ? list.getElement() : type);
  if (!tuple) {
    members.push_back(type);
    return;
  }
  SmallVector<Type> inner;
  for (Type member : tuple.getTypes())
    collectMembers(member, inner);
  for (Type member : inner) {
    if (!list) {
      members.push_back(member);
      continue;
    }
    SmallVector<LengthAttr> lengths(list.getLengths());
    Type element = member;
    if (auto innerList = dyn_cast<ListType>(member)) {
      lengths.append(innerList.getLengths().begin(), innerList.getLengths().end());
      element = innerList.getElement();
    }
    members.push_back(ListType::get(type.getContext(), lengths, element));
  }
}

/// The value of `type` whose members are given; takes them from the front.
static RuntimeValue joinMembers(Type type, ArrayRef<RuntimeValue> &members) {
  auto list = dyn_cast<ListType>(type);
  auto tuple = dyn_cast<TupleType>(list ? list.getElement() : type);
  if (!tuple) {
    RuntimeValue only = members.front();
    members = members.drop_front();
    return only;
  }
  RuntimeValue::Items items;
  if (!list) {
    for (Type member : tuple.getTypes())
      items.push_back(joinMembers(member, members));
    return RuntimeValue::tuple(std::move(items));
  }
  SmallVector<Type> types;
  collectMembers(type, types);
  // Members of other lengths have been refused: their dimensions are checked.
  int64_t length = types.empty() ? 0 : members.front().getLength();
  for (int64_t i = 0; i < length; ++i) {
    SmallVector<RuntimeValue> here;
    for (const RuntimeValue &member : members.take_front(types.size()))
      here.push_back(member.getItems()[i]);
    ArrayRef<RuntimeValue> rest = here;
    items.push_back(joinMembers(list.getPeeled(), rest));
  }
  members = members.drop_front(types.size());
  return RuntimeValue::list(std::move(items));
}

/// Member `index` of a value of `type`: the inverse of `joinMembers`.
static RuntimeValue takeMember(const RuntimeValue &value, Type type, unsigned index) {
  auto list = dyn_cast<ListType>(type);
  auto tuple = dyn_cast<TupleType>(list ? list.getElement() : type);
  if (!tuple)
    return value;
  if (list) {
    RuntimeValue::Items items;
    for (const RuntimeValue &item : value.getItems())
      items.push_back(takeMember(item, list.getPeeled(), index));
    return RuntimeValue::list(std::move(items));
  }
  for (auto [item, member] : llvm::zip(value.getItems(), tuple.getTypes())) {
    SmallVector<Type> inner;
    collectMembers(member, inner);
    if (index < inner.size())
      return takeMember(item, member, index);
    index -= inner.size();
  }
  return {};
}

static RuntimeValue readDense(const HostArray &array, RankedTensorType element, unsigned depth,
                              unsigned level, int64_t &next) {
  if (level == depth)
    return elementAt(array, next++, element);
  RuntimeValue::Items items;
  items.reserve(array.shape[level]);
  for (int64_t i = 0; i < array.shape[level]; ++i)
    items.push_back(readDense(array, element, depth, level + 1, next));
  return RuntimeValue::list(std::move(items));
}

FailureOr<RuntimeValue> ListReader::read(Type type) {
  auto list = dyn_cast<ListType>(type);
  Type elementType = list ? list.getElement() : type;
  auto element = dyn_cast<RankedTensorType>(elementType);
  if (!element) {
    if (list || !isSupportedElementType(type))
      return emitError() << "of type " << type << " cannot be given as an array";
    element = RankedTensorType::get({}, type); // a scalar
  }
  if (list && list.hasRagged()) {
    FailureOr<DType> dtype = dtypeOf(element.getElementType(), emitError);
    if (failed(dtype))
      return failure();
    if (array.dtype != *dtype)
      return emitError() << "expects elements of type " << ::ft::rt::dtypeName(*dtype) << ", found "
                         << ::ft::rt::dtypeName(array.dtype);
    FailureOr<RuntimeValue> value = readRagged(type);
    if (succeeded(value) && nextElement * element.getNumElements() != array.numElements())
      return emitError() << "the offsets say " << nextElement << " elements, its array has "
                         << array.numElements() << " numbers";
    return value;
  }
  unsigned depth = list ? list.getDepth() : 0;
  // Sizes that the type leaves open are the array's.
  if (!list && !element.hasStaticShape() &&
      succeeded(verifyCompatibleShape(element.getShape(), ArrayRef<int64_t>(array.shape))))
    element = RankedTensorType::get(array.shape, element.getElementType());
  ArrayRef<int64_t> lengths = ArrayRef<int64_t>(array.shape).take_front(depth);
  if (failed(checkArray(array, lengths, element, emitError)))
    return failure();
  int64_t next = 0;
  return readDense(array, element, depth, 0, next);
}

FailureOr<RuntimeValue> ListReader::readRagged(Type type) {
  if (auto element = dyn_cast<RankedTensorType>(type)) {
    if ((nextElement + 1) * element.getNumElements() > array.numElements())
      return emitError() << "has fewer elements than the offsets say";
    return RuntimeValue(elementAt(array, nextElement++, element));
  }
  auto list = dyn_cast<ListType>(type);
  if (!list)
    return emitError() << "of type " << type << " cannot be given as an array";
  int64_t count;
  LengthAttr length = list.getLength();
  auto inner = dyn_cast<ListType>(list.getPeeled());
  if (length.getRagged()) {
    StringAttr name = length.getNames().front();
    auto it = ragged.find(name);
    size_t &next = nextList[name];
    if (it == ragged.end() || next >= it->second.size())
      return emitError() << "the offsets of " << name << " list fewer than " << next + 1
                         << " lists";
    count = it->second[next++];
  } else if (std::optional<int64_t> value = known.evaluate(length)) {
    count = *value;
  } else if (nextList.empty() && inner && inner.getLength().getRagged()) {
    // The outermost length is bound by the number of ragged lists.
    count = ragged.lookup(inner.getLength().getNames().front()).size();
  } else {
    return emitError() << "the length " << length.str() << " beside a ragged level is not known";
  }
  RuntimeValue::Items items;
  for (int64_t i = 0; i < count; ++i) {
    FailureOr<RuntimeValue> item = readRagged(list.getPeeled());
    if (failed(item))
      return failure();
    items.push_back(*item);
  }
  return RuntimeValue::list(std::move(items));
}

/// The element tensors of a value, in order.
static void collectElements(const RuntimeValue &value, std::vector<Tensor> &elements) {
  if (value.isTensor()) {
    elements.push_back(value.getTensor());
    return;
  }
  for (const RuntimeValue &item : value.getItems())
    collectElements(item, elements);
}

static FailureOr<HostArray> writeValue(const RuntimeValue &value, Type type,
                                       const LengthBinding &lengths, EmitError emitError) {
  auto list = dyn_cast<ListType>(type);
  auto element = dyn_cast<RankedTensorType>(list ? list.getElement() : type);
  if (!element) {
    if (list || !isSupportedElementType(type))
      return emitError() << "of type " << type << " cannot be returned as an array";
    element = RankedTensorType::get({}, type);
  }
  std::vector<Tensor> elements;
  collectElements(value, elements);
  if (!list && !element.hasStaticShape())
    element = RankedTensorType::get(elements.front().getShape(), element.getElementType());
  SmallVector<int64_t> shape;
  if (list && list.hasRagged())
    shape.push_back(elements.size());
  else if (list)
    for (LengthAttr length : list.getLengths())
      shape.push_back(lengths.evaluate(length).value_or(0));
  FailureOr<HostArray> array = makeArray(shape, element, emitError);
  if (failed(array))
    return failure();
  for (auto [i, tensor] : llvm::enumerate(elements))
    storeElement(*array, i, tensor);
  return array;
}

/// The dimensions of the array that holds a value of `type`; none for ragged
/// lists, whose elements stand one after the other, and for tuples.
static std::optional<int64_t> rankOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getRank();
  if (auto list = dyn_cast<ListType>(type)) {
    auto element = dyn_cast<RankedTensorType>(list.getElement());
    if (list.hasRagged() || !element)
      return std::nullopt;
    return list.getDepth() + element.getRank();
  }
  return isSupportedElementType(type) ? std::optional<int64_t>(0) : std::nullopt;
}

/// Offsets 0 = o0 <= o1 <= … become lengths.
static LogicalResult readOffsets(const HostArray &array, StringAttr name,
                                 std::vector<int64_t> &lengths, EmitError emitError) {
  if (array.dtype != DType::i64 || array.shape.size() != 1 || array.shape[0] < 1)
    return emitError() << "expects the offsets of " << name << " as a list of i64, found "
                       << array.describe();
  const int64_t *offsets = array.as<int64_t>();
  if (offsets[0] != 0)
    return emitError() << "the offsets of " << name << " must begin with 0";
  for (int64_t i = 1; i < array.shape[0]; ++i) {
    if (offsets[i] < offsets[i - 1])
      return emitError() << "the offsets of " << name << " must not fall";
    lengths.push_back(offsets[i] - offsets[i - 1]);
  }
  return success();
}

/// Arguments of which the caller sees what has been written into them.
static SmallVector<unsigned> writtenArguments(func::FuncOp function) {
  if (!tssa::hasMutableTensors(function))
    return {};
  return tssa::AliasGraph(function).writtenArguments();
}

/// The type with values in place of mutable tensors; written arguments come back as
/// further results, as from a functionalized function.
static FunctionType valueTypeOf(func::FuncOp function) {
  auto valueType = [](Type type) -> Type {
    auto tensor = dyn_cast<tssa::MutableTensorType>(type);
    return tensor ? Type(tensor.getValueType()) : type;
  };
  SmallVector<Type> inputs = llvm::map_to_vector(function.getArgumentTypes(), valueType);
  SmallVector<Type> results = llvm::map_to_vector(function.getResultTypes(), valueType);
  for (unsigned argument : writtenArguments(function))
    results.push_back(inputs[argument]);
  return FunctionType::get(function.getContext(), inputs, results);
}

/// Binds names from the arrays: a list of no lists no longer knows how long these would be.
static LogicalResult bindNames(func::FuncOp function, ArrayRef<Type> inputs, ArrayRef<Location> locations,
                               const Lengths &lengths, ArrayRef<HostArray> arguments, LengthBinding &known) {
  if (failed(bindGiven(function, lengths, known)))
    return failure();
  LengthBinder binder(known, locations);
  for (auto [i, input] : llvm::enumerate(inputs)) {
    std::optional<int64_t> rank = rankOf(input);
    if (rank && arguments[i].rank() != *rank)
      return mlir::emitError(locations[i]) << "argument " << i << ": expects " << *rank
                                           << " dimensions, found " << arguments[i].rank();
    if (auto list = dyn_cast<ListType>(input); list && !list.hasRagged())
      if (failed(binder.bindShape(i, list.getLengths(), arguments[i].shape)))
        return failure();
  }
  if (auto defaults = function->getAttrOfType<DictionaryAttr>(mlir::ft::names::lengths))
    for (NamedAttribute entry : defaults)
      if (auto value = dyn_cast<IntegerAttr>(entry.getValue()))
        known.names.try_emplace(entry.getName(), value.getInt());
  for (auto [i, input] : llvm::enumerate(inputs))
    if (auto list = dyn_cast<ListType>(input); list && !list.hasRagged())
      if (failed(
              binder.checkShape(i, list.getLengths(),
                                ArrayRef<int64_t>(arguments[i].shape).take_front(list.getDepth()))))
        return failure();
  return success();
}

/// The arrays of results, and the offsets of ragged levels after them.
static FailureOr<std::vector<HostArray>> writeResults(func::FuncOp function, FunctionType type,
                                                      ArrayRef<RuntimeValue> results, LengthBinding &bound) {
  std::vector<HostArray> arrays;
  SmallVector<StringAttr> raggedResults;
  for (auto [i, value] : llvm::enumerate(results)) {
    Type resultType = type.getResult(i);
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return mlir::emitError(function.getLoc(), "result ") << i << ": ";
    };
    collectRaggedNames(resultType, raggedResults);
    SmallVector<Type> members;
    collectMembers(resultType, members);
    for (auto [m, member] : llvm::enumerate(members)) {
      FailureOr<HostArray> array = writeValue(takeMember(value, resultType, m), member, bound, emitError);
      if (failed(array))
        return failure();
      arrays.push_back(std::move(*array));
    }
  }
  // No operation makes a ragged level: its lengths are those of an argument.
  for (StringAttr name : raggedResults) {
    ArrayRef<int64_t> lengths = bound.ragged[name];
    HostArray offsets;
    if (auto status = HostArray::create(DType::i64, {int64_t(lengths.size()) + 1}, offsets);
        !status.ok())
      return mlir::emitError(function.getLoc(), "the offsets of ") << name << ": " << status.message();
    for (auto [i, length] : llvm::enumerate(lengths))
      offsets.as<int64_t>()[i + 1] = offsets.as<int64_t>()[i] + length;
    arrays.push_back(std::move(offsets));
  }
  return arrays;
}

FailureOr<std::vector<HostArray>> mlir::ft::interp::runFT(ModuleOp module, StringRef entry,
                                                          const Lengths &lengths,
                                                          ArrayRef<HostArray> arguments,
                                                          const RunOptions &options) {
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  if (!function)
    return mlir::emitError(module.getLoc(), "there is no function '") << entry << "'";
  FunctionType type = valueTypeOf(function);
  SmallVector<StringAttr> raggedNames;
  SmallVector<Type> inputs;
  SmallVector<Location> locations, functionLocations = argumentLocations(
      function.getBody(), function.getLoc(), type.getNumInputs());
  for (auto [i, input] : llvm::enumerate(type.getInputs())) {
    collectRaggedNames(input, raggedNames);
    collectMembers(input, inputs);
    locations.resize(inputs.size(), functionLocations[i]);
  }
  if (arguments.size() != inputs.size() + raggedNames.size()) {
    InFlightDiagnostic diag = mlir::emitError(function.getLoc(), "expects ")
                              << inputs.size() << " arguments";
    if (!raggedNames.empty())
      diag << " and offsets of " << raggedNames.size() << " ragged levels";
    return diag << ", found " << arguments.size();
  }

  RaggedLengths ragged;
  for (auto [i, name] : llvm::enumerate(raggedNames))
    if (failed(readOffsets(arguments[inputs.size() + i], name, ragged[name],
                           [&] { return mlir::emitError(function.getLoc()); })))
      return failure();
  LengthBinding known;
  if (failed(bindNames(function, inputs, locations, lengths, arguments, known)))
    return failure();
  SmallVector<RuntimeValue> read, values;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return mlir::emitError(locations[i]) << "argument " << i << ": ";
    };
    FailureOr<RuntimeValue> value = ListReader(arguments[i], known, ragged, emitError).read(input);
    if (failed(value))
      return failure();
    read.push_back(*value);
  }
  ArrayRef<RuntimeValue> rest = read;
  for (Type input : type.getInputs())
    values.push_back(joinMembers(input, rest));
  for (auto [value, input] : llvm::zip_equal(values, function.getArgumentTypes()))
    if (isa<tssa::MutableTensorType>(input))
      value = allocate(value.getTensor());

  RoundingNoise noise(options.noise);
  FTInterpreter interpreter(options);
  LengthBinding bound;
  FailureOr<SmallVector<RuntimeValue>> results = interpreter.call(function, values, known, &bound);
  if (failed(results))
    return failure();
  for (unsigned argument : writtenArguments(function))
    results->push_back(values[argument]);
  for (RuntimeValue &result : *results)
    if (result.isReference()) {
      if (failed(checkAllocation(function.getLoc(), result.getReference().where.sizes)))
        return failure();
      result = readView(result.getReference());
    }
  return writeResults(function, type, *results, bound);
}
