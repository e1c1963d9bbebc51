//===- FTDialect.cpp - the ft dialect -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, and verification of the attributes on functions.
//
//===----------------------------------------------------------------------===//
#include "FTDetail.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FTForms.h"
#include "ft/Dialect/FT/IR/StrideGroups.h"
#include "ft/Support/PartitionModes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ft;

#include "ft/Dialect/FT/IR/FTDialect.cpp.inc"
#include "ft/Dialect/FT/IR/FTEnums.cpp.inc"
#include "ft/Dialect/FT/IR/FTInterfaces.cpp.inc"

void FTDialect::initialize() {
  registerAttributeList();
  registerTypeList();
  registerOperationList();
  addOperations<
#define GET_OP_LIST
#include "ft/Dialect/FT/IR/FTForms.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Function attributes
//===----------------------------------------------------------------------===//

LogicalResult mlir::ft::detail::verifyNames(LengthAttr length, ArrayRef<StringAttr> bound,
                                            FunctionOpInterface function,
                                            function_ref<InFlightDiagnostic()> emitError) {
  for (StringAttr name : length.getNames()) {
    if (llvm::is_contained(bound, name))
      continue;
    InFlightDiagnostic diag = emitError();
    diag << "length '" << name.getValue() << "' is not bound: no argument of '"
         << SymbolTable::getSymbolName(function).getValue() << "' has a dimension that is just "
         << name.getValue();
    diag.attachNote(function.getLoc()) << "the function is here";
    return diag;
  }
  return success();
}

/// `{L = 64 : i64}` or `{L = [64, 4096]}`.
static LogicalResult verifyLengthTable(Operation *op, NamedAttribute attribute,
                                       ArrayRef<StringAttr> bound, FunctionOpInterface function,
                                       bool isRange) {
  auto refuse = [&](const Twine &reason) {
    return op->emitError() << "'" << attribute.getName().getValue() << "' " << reason;
  };
  auto table = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!table)
    return refuse("must be a dictionary of lengths by name, such as " +
                  Twine(isRange ? "{L = [64, 4096]}" : "{L = 64 : i64}"));
  for (NamedAttribute entry : table) {
    StringRef name = entry.getName().getValue();
    SmallVector<int64_t> values;
    SmallVector<Attribute> elements{entry.getValue()};
    if (auto array = dyn_cast<ArrayAttr>(entry.getValue()); array && isRange)
      elements.assign(array.begin(), array.end());
    for (Attribute element : elements)
      if (auto integer = dyn_cast<IntegerAttr>(element);
          integer && integer.getValue().getSignificantBits() <= 64)
        values.push_back(integer.getValue().getSExtValue());
    if (values.size() != elements.size() || values.size() != (isRange ? 2u : 1u))
      return refuse("gives '" + name + "' no " + (isRange ? "[least, greatest]" : "integer"));
    if (values.front() < 0 || values.back() < values.front())
      return refuse("gives '" + name + "' a value that no length has");
    if (failed(ft::detail::verifyNames(LengthAttr::get(entry.getName()), bound, function, [&] {
          return op->emitError() << "'" << attribute.getName().getValue() << "': ";
        })))
      return failure();
  }
  return success();
}

/// What the value of an attribute is that functions of leaves have, one core's code for a leaf or a product of one.
static std::optional<StringRef> describeLeafAttribute(StringRef name) {
  return llvm::StringSwitch<std::optional<StringRef>>(name)
      .Cases({names::leaf, names::leafListed, names::leafChecks}, "nothing but itself")
      .Case(names::leafBatched, "a truth value for each argument, array<i1: ...>")
      .Case(names::leafAliases, "a truth value for each result, array<i1: ...>")
      .Case(names::leafSums, "a type of floating-point numbers")
      .Cases({names::leafLayouts, names::leafScratch, names::leafRowLoops, names::leafGuards}, "a list of how loop nests are computed (ft-choose-leaf)")
      .Cases({names::scratchFixed, names::scratchPerRow}, "a number of bytes, an i64 of at least 0")
      .Case(names::product, "a text")
      .Default(std::nullopt);
}

static LogicalResult verifyLeafAttribute(Operation *op, FunctionOpInterface function, NamedAttribute attribute, StringRef expected) {
  if (!function)
    return op->emitError() << "'" << attribute.getName().getValue() << "' belongs on a function";
  StringRef name = attribute.getName().getValue();
  Attribute value = attribute.getValue();
  bool isRight = isa<UnitAttr>(value);
  if (name == names::leafBatched || name == names::leafAliases) {
    auto flags = dyn_cast<DenseBoolArrayAttr>(value);
    isRight = flags && flags.size() == int64_t(name == names::leafBatched ? function.getNumArguments() : function.getNumResults());
  } else if (name == names::leafSums) {
    auto type = dyn_cast<TypeAttr>(value);
    isRight = type && isa<FloatType>(type.getValue());
  } else if (expected.starts_with("a list")) {
    isRight = isa<ArrayAttr>(value); // what each element is, the passes say that read it
  } else if (name == names::scratchFixed || name == names::scratchPerRow) {
    auto bytes = dyn_cast<IntegerAttr>(value);
    isRight = bytes && bytes.getType().isInteger(64) && bytes.getInt() >= 0;
  } else if (name == names::product) {
    isRight = isa<StringAttr>(value);
  }
  if (isRight)
    return success();
  return op->emitError() << "'" << name << "': expected " << expected << ", found " << value;
}

/// `["argument 0", "result 1", "saved 0"]`, no more than there are arguments.
static LogicalResult verifyResiduals(Operation *op, Attribute attribute) {
  auto list = dyn_cast<ArrayAttr>(attribute);
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto isOrigin = [](Attribute entry) {
    auto text = dyn_cast<StringAttr>(entry);
    if (!text)
      return false;
    auto [kind, number] = text.getValue().split(' ');
    unsigned value;
    return llvm::is_contained({"argument", "result", "saved", "order", "ends"}, kind) && !number.getAsInteger(10, value);
  };
  if (list && function && list.size() <= function.getNumArguments() && llvm::all_of(list, isOrigin))
    return success();
  return op->emitError("'ft.residuals' says of the first arguments of a function where they come from, "
                       "[\"argument 0\", \"result 1\", \"saved 0\"]; found ")
         << attribute;
}

/// `ft.binds = ["scale"]`: under which names a module holds the results.
static LogicalResult verifyBinds(Operation *op, FunctionOpInterface function, Attribute value) {
  auto names = dyn_cast<ArrayAttr>(value);
  bool isList = names && llvm::all_of(names, [](Attribute name) { return isa<StringAttr>(name) && !cast<StringAttr>(name).empty(); });
  if (!function || !isList || names.size() != function.getNumResults())
    return op->emitError() << "'ft.binds' must list a name for each result of a function, found " << value;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!function.getArgAttr(i, names::held))
      return op->emitError() << "a function with 'ft.binds' takes held arguments alone, and argument " << i << " has no 'ft.held'";
  return success();
}

/// `ft.held = "layer.weight"`: the name under which a module holds the argument, whose sizes are numbers.
static LogicalResult verifyHeld(Operation *op, FunctionOpInterface function, unsigned argument, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (!name || name.empty())
    return op->emitError() << "'ft.held' of argument " << argument << " must be a name, found " << value;
  for (unsigned i = 0; i < argument; ++i)
    if (function.getArgAttr(i, names::held) == value)
      return op->emitError() << "'ft.held' of argument " << argument << ": argument " << i << " has the name " << value << " already";
  return success();
}

/// `ft.partition = "cost"`: how a GPU's graphs of the program are cut into kernels.
static LogicalResult verifyPartition(Operation *op, FunctionOpInterface function, Attribute value) {
  auto mode = dyn_cast<StringAttr>(value);
  if (function && mode && isPartitionMode(mode.getValue()))
    return success();
  return op->emitError("'ft.partition' of a function must be ") << partitionModesText << ", found " << value;
}

/// `ft.saved`, `ft.checkpoint`: what reverse mode saves (ft-differentiate).
static LogicalResult verifySaving(Operation *op, StringRef name, Attribute value) {
  if (name == names::saved) {
    if (isa<BoolAttr, UnitAttr>(value) && op->getNumResults() != 0)
      return success();
    return op->emitError("'ft.saved' is true or false, on an operation with results; found ") << value;
  }
  auto sizes = dyn_cast<ArrayAttr>(value);
  auto isSize = [](Attribute entry) {
    auto number = dyn_cast<IntegerAttr>(entry);
    return number && number.getType().isSignlessInteger(64) && number.getInt() > 0;
  };
  if (!sizes || sizes.empty() || !llvm::all_of(sizes, isSize))
    return op->emitError("'ft.checkpoint' is a list of numbers of iterations, each an i64 of at least 1, [64]; found ") << value;
  if (auto compute = dyn_cast<ComputeOp>(op); compute && !compute.isMap())
    return success();
  return op->emitError("'ft.checkpoint' belongs on a fold or scan, whose states it saves");
}

LogicalResult FTDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (std::optional<StringRef> expected = describeLeafAttribute(name))
    return verifyLeafAttribute(op, function, attribute, *expected);
  if (name == names::residuals)
    return verifyResiduals(op, attribute.getValue());
  if (name == names::binds)
    return verifyBinds(op, function, attribute.getValue());
  if (name == names::partition)
    return verifyPartition(op, function, attribute.getValue());
  if (name == names::saved || name == names::checkpoint)
    return verifySaving(op, name, attribute.getValue());
  if (name != names::bounds && name != names::lengths && name != names::typical)
    return op->emitError() << "unknown attribute '" << name
                           << "': the ft dialect has 'ft.binds', 'ft.bounds', 'ft.lengths', 'ft.partition', 'ft.residuals' and 'ft.typical' on "
                              "functions, 'ft.gen' on their arguments, and 'ft.checkpoint' and 'ft.saved' on operations";
  if (!function)
    return op->emitError() << "'" << name << "' belongs on a function";

  // Other functions with lengths, such as graphs, bind names by types of their own.
  if (!llvm::all_of(function.getArgumentTypes(), isValueType))
    return success();

  SmallVector<StringAttr> bound = getBoundNames(function.getArgumentTypes());
  // A function that says anything about lengths has its types checked here; of
  // the others each operation checks its own.
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (failed(
            ft::detail::verifyTypeNames(type, bound, function, [&] { return op->emitOpError(); })))
      return failure();
  if (name != names::bounds)
    return verifyLengthTable(op, attribute, bound, function, name == names::typical);

  auto bounds = dyn_cast<BoundsAttr>(attribute.getValue());
  if (!bounds)
    return op->emitError()
           << "'ft.bounds' must be inequalities such as #ft.bounds<\"L >= 5\">, found "
           << attribute.getValue();
  for (LengthAttr bound_ : bounds.getNonNegative())
    if (failed(ft::detail::verifyNames(bound_, bound, function,
                                       [&] { return op->emitError() << "'ft.bounds': "; })))
      return failure();
  return success();
}

/// `ft.strided = k`: the caller says by strides where the outermost k dimensions of a list lie.
static LogicalResult verifyStrided(Operation *op, Type type, unsigned argument, Attribute value) {
  auto count = dyn_cast<IntegerAttr>(value);
  auto list = dyn_cast<ListType>(type);
  if (!count || !count.getType().isInteger(64) || count.getInt() < 1)
    return op->emitError() << "'ft.strided' of argument " << argument
                           << " must be a positive i64, the number of dimensions with strides, found " << value;
  if (isValueType(type) && (!list || count.getInt() > list.getDepth()))
    return op->emitError() << "'ft.strided' of argument " << argument << ": expected a list of at least "
                           << count.getInt() << " dimensions, found " << type;
  return success();
}

bool mlir::ft::areStrideGroups(ArrayAttr groups, int64_t count) {
  bool fits = int64_t(groups.size()) == count;
  ArrayRef<int64_t> before;
  for (Attribute entry : fits ? groups.getValue() : ArrayRef<Attribute>()) {
    auto dims = dyn_cast<DenseI64ArrayAttr>(entry);
    fits = fits && dims && !dims.empty();
    if (!fits)
      break;
    int64_t first = dims[0];
    fits = dims.asArrayRef() == before || first == (before.empty() ? 0 : before.back() + 1);
    for (auto [i, dim] : llvm::enumerate(dims.asArrayRef()))
      fits &= dim == first + int64_t(i);
    before = dims.asArrayRef();
  }
  return fits;
}

/// `ft.strides = [[0], [1, 2]]`: the caller's dimensions that each dimension with strides stands for.
static LogicalResult verifyStrideGroups(Operation *op, FunctionOpInterface function, unsigned argument, Attribute value) {
  auto strided = function.getArgAttrOfType<IntegerAttr>(argument, names::strided);
  auto groups = dyn_cast<ArrayAttr>(value);
  if (groups && strided && areStrideGroups(groups, strided.getInt()))
    return success();
  return op->emitError() << "'ft.strides' of argument " << argument
                         << " must list the caller's dimensions in order, array<i64: ...> for each of 'ft.strided', found "
                         << value;
}

LogicalResult FTDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex,
                                                  unsigned argIndex, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if ((name != names::gen && name != names::held && name != names::strided && name != names::strides) || !function)
    return op->emitError() << "unknown argument attribute '" << name
                           << "': the ft dialect has 'ft.gen', 'ft.held', 'ft.strided' and 'ft.strides' on the arguments of functions";
  if (regionIndex != 0 || argIndex >= function.getNumArguments())
    return op->emitError() << "'" << name << "' on no argument";
  if (name == names::strided)
    return verifyStrided(op, function.getArgumentTypes()[argIndex], argIndex, attribute.getValue());
  if (name == names::held)
    return verifyHeld(op, function, argIndex, attribute.getValue());
  if (name == names::strides)
    return verifyStrideGroups(op, function, argIndex, attribute.getValue());

  Attribute value = attribute.getValue();
  if (!isa<NormalAttr, UniformAttr, IndexAttr>(value))
    return op->emitError() << "'ft.gen' of argument " << argIndex
                           << " must be #ft.normal, #ft.uniform or #ft.index, found " << value;
  Type element = function.getArgumentTypes()[argIndex];
  if (!isValueType(element))
    return success(); // checked by the dialect that the type belongs to
  if (auto list = dyn_cast<ListType>(element))
    element = list.getElement();
  auto tensor = dyn_cast<RankedTensorType>(element);
  if (!tensor)
    return op->emitError() << "'ft.gen' of argument " << argIndex << ", which holds no tensors but "
                           << element;
  bool isFloat = isa<FloatType>(tensor.getElementType());
  if (isa<NormalAttr>(value) && !isFloat)
    return op->emitError() << "'ft.gen' of argument " << argIndex << ": " << value
                           << " generates floats, the elements are " << tensor;
  if (auto index = dyn_cast<IndexAttr>(value)) {
    if (isFloat)
      return op->emitError() << "'ft.gen' of argument " << argIndex << ": " << value
                             << " generates integers, the elements are " << tensor;
    SmallVector<StringAttr> bound = getBoundNames(function.getArgumentTypes());
    for (LengthAttr end : {index.getLo(), index.getHi()})
      if (failed(ft::detail::verifyNames(end, bound, function, [&] {
            return op->emitError() << "'ft.gen' of argument " << argIndex << ": ";
          })))
        return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Names in types
//===----------------------------------------------------------------------===//

void mlir::ft::detail::forEachLength(Type type, function_ref<void(LengthAttr)> visit) {
  if (auto list = dyn_cast<ListType>(type)) {
    for (LengthAttr length : list.getLengths())
      visit(length);
    type = list.getElement();
  }
  if (auto tuple = dyn_cast<TupleType>(type))
    for (Type member : tuple)
      forEachLength(member, visit);
}

/// The name that an argument's dimension of this length binds, or null.
static StringAttr nameBoundBy(LengthAttr length) {
  return length.getRagged() ? length.getNames().front() : length.getSingleName();
}

SmallVector<StringAttr> mlir::ft::getBoundNames(TypeRange argumentTypes) {
  llvm::SetVector<StringAttr> names;
  for (Type type : argumentTypes)
    ft::detail::forEachLength(type, [&](LengthAttr length) {
      if (StringAttr name = nameBoundBy(length))
        names.insert(name);
    });
  return SmallVector<StringAttr>(names.begin(), names.end());
}

SmallVector<StringAttr> mlir::ft::getNamesAt(Operation *op) {
  SmallVector<StringAttr> names;
  SmallVector<StringAttr> around;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp()) {
    if (auto function = dyn_cast<FunctionOpInterface>(parent)) {
      names = getBoundNames(function.getArgumentTypes());
      break;
    }
    if (auto compute = dyn_cast<ComputeOp>(parent))
      if (StringAttr name = compute.getLayerName())
        around.push_back(name);
  }
  names.append(around.rbegin(), around.rend());
  return names;
}

LogicalResult mlir::ft::detail::verifyTypeNames(Type type, ArrayRef<StringAttr> bound,
                                                FunctionOpInterface function,
                                                function_ref<InFlightDiagnostic()> emitError) {
  LogicalResult result = success();
  ft::detail::forEachLength(type, [&](LengthAttr length) {
    if (succeeded(result))
      result = verifyNames(length, bound, function, emitError);
  });
  return result;
}

/// Whether an argument of the function or an operator around binds the name. Of one name: lists of all of
/// them for each operation would be work that grows with the cube of a program.
static bool isBoundAt(Operation *op, FunctionOpInterface function, StringAttr name) {
  for (auto around = op->getParentOfType<ComputeOp>(); around;
       around = around->getParentOfType<ComputeOp>())
    if (around.getLayerName() == name)
      return true;
  bool found = false;
  for (Type type : function.getArgumentTypes()) {
    ft::detail::forEachLength(type,
                              [&](LengthAttr length) { found |= nameBoundBy(length) == name; });
    if (found)
      return true;
  }
  return false;
}

LogicalResult mlir::ft::detail::verifyNamesBound(Operation *op) {
  // Most operations are about constants and names their operands have already:
  // the function is looked up only for a type with a name.
  FunctionOpInterface function;
  llvm::SetVector<StringAttr> names;
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    ft::detail::forEachLength(type, [&](LengthAttr length) { names.insert_range(length.getNames()); });
  if (names.empty() || !(function = op->getParentOfType<FunctionOpInterface>()) ||
      llvm::all_of(names, [&](StringAttr name) { return isBoundAt(op, function, name); }))
    return success();
  // What a signature says and binds nowhere is its own fault, not that of the first operation that
  // has a value of such a type.
  SmallVector<StringAttr> ofArguments = getBoundNames(function.getArgumentTypes());
  for (auto [i, input] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(verifyTypeNames(input, ofArguments, function, [&, i = i] {
          return mlir::emitError(function.isExternal() ? function.getLoc()
                                                       : function.getArgument(i).getLoc())
                 << "argument " << i << ": ";
        })))
      return failure();
  SmallVector<StringAttr> bound = getNamesAt(op);
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (failed(verifyTypeNames(type, bound, function, [&] { return op->emitOpError(); })))
      return failure();
  return success();
}

BoundsAttr mlir::ft::getBoundsAt(Operation *op) {
  for (; op; op = op->getParentOp()) {
    if (auto bounds = op->getAttrOfType<BoundsAttr>(names::bounds))
      return bounds;
    if (isa<FunctionOpInterface>(op))
      break;
  }
  return nullptr;
}
