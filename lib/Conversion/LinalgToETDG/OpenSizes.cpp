//===- OpenSizes.cpp - tensors whose sizes a call binds -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tensor<?x768xf32>`: the open dimension is a length with a name, and every operation
// runs row by row over it. Elements of buffers are what stands after the last open one.
//
//===----------------------------------------------------------------------===//
#include "OpenSizes.h"
#include "DynamicSlices.h"

#include "ft/Conversion/GraphWriter/GraphWriter.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/ETDG/Transforms/RowSpace.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Dialect/FT/IR/FunctionForm.h"
#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ft;

bool mlir::ft::hasOpenSizes(func::FuncOp function) {
  return llvm::any_of(llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  });
}

/// How many leading dimensions end with the last open one.
static unsigned openDepth(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  for (int64_t d = tensor ? tensor.getRank() : 0; d > 0; --d)
    if (tensor.isDynamicDim(d - 1))
      return d;
  return 0;
}

namespace {
class OpenSizesConverter {
public:
  OpenSizesConverter(func::FuncOp function, bool asTheyLie)
      : function(function), asTheyLie(asTheyLie), builder(function.getContext()), context(function.getContext()) {}
  LogicalResult convert();

private:
  using Shape = SmallVector<LengthAttr>;
  LogicalResult nameArguments();
  LogicalResult visit(Operation &op);
  LogicalResult emit(Operation &op);
  LogicalResult emitCopy(Location loc, Value value, Value buffer);
  FailureOr<Shape> shapeOf(Value value);
  FailureOr<Shape> subsetShape(SubsetAccessOpInterface op);
  FailureOr<Shape> resultShape(Operation &op, unsigned result);
  std::optional<unsigned> chooseRows(Operation &op, const etdg::RowSpace &space);
  LogicalResult checkLengths(Operation &op, const etdg::RowSpace &space, unsigned rows, ArrayRef<LengthAttr> shape);
  Value createBuffer(Location loc, ArrayRef<LengthAttr> shape, RankedTensorType type, unsigned depth);
  etdg::BlockBuilder startBlock(ArrayRef<LengthAttr> lengths);
  /// The first `count` dimensions of a block.
  SmallVector<AffineExpr> dims(unsigned count) {
    return llvm::to_vector(AffineMap::getMultiDimIdentityMap(count, context).getResults());
  }
  FailureOr<Value> bufferOf(Value value);
  bool addView(Operation &op, AffineMap map);
  /// Where a value is at an index of its own.
  SmallVector<AffineExpr> placeOf(Value value, ArrayRef<AffineExpr> index, unsigned numDims, unsigned numSymbols);

  /// A value at some rows, as a leaf reads or makes it.
  struct Need {
    Value value;
    SmallVector<AffineExpr> index;
    std::optional<unsigned> read;
  };
  struct Leaf {
    etdg::BlockBuilder spec;
    SmallVector<Need> needs;
    SmallVector<Type> types;
    etdg::BlockOp block;
    IRMapping whole;
  };
  LogicalResult require(Leaf &leaf, Operation &user, Value value, ArrayRef<AffineExpr> index);
  Value get(Leaf &leaf, Value value, ArrayRef<AffineExpr> index);
  Value getWhole(Leaf &leaf, Value value);

  func::FuncOp function;
  bool asTheyLie; // what transposes an open size, or cuts beside it, may be a map of the reads after it
  OpBuilder builder;
  MLIRContext *context;
  DenseMap<Value, Shape> shapes;
  DenseMap<Value, LengthAttr> sizes; // of indices
  DenseMap<Value, Value> buffers;
  DenseMap<Value, AffineMap> views; // of what is a part of its buffer, or is shaped otherwise
  unsigned numBlocks = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// Each open dimension is a length: of the name that `etdg.dims` gives, else of its place.
LogicalResult OpenSizesConverter::nameArguments() {
  llvm::SmallDenseSet<StringAttr> given;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto dims = function.getArgAttrOfType<ArrayAttr>(i, etdg::names::dims))
      for (auto name : dims.getAsRange<StringAttr>())
        given.insert(name);
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      return function.emitError() << "argument " << i << " has type " << argument.getType() << "; expected a ranked tensor";
    auto dims = function.getArgAttrOfType<ArrayAttr>(i, etdg::names::dims);
    if (dims && (int64_t(dims.size()) > type.getRank() || !llvm::all_of(dims, llvm::IsaPred<StringAttr>)))
      return function.emitError() << "'etdg.dims' of argument " << i << ": expected at most " << type.getRank() << " names";
    Shape shape;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d)) {
        shape.push_back(LengthAttr::get(context, type.getDimSize(d)));
        continue;
      }
      StringAttr name = dims && d < int64_t(dims.size()) ? cast<StringAttr>(dims[d]) : StringAttr();
      for (unsigned attempt = 0; !name || name.empty() || (attempt > 0 && given.contains(name)); ++attempt)
        name = StringAttr::get(context, "n" + std::to_string(i) + "_" + std::to_string(d) + std::string(attempt, '_'));
      shape.push_back(LengthAttr::get(name));
    }
    shapes[argument] = shape;
  }
  return success();
}

FailureOr<OpenSizesConverter::Shape> OpenSizesConverter::shapeOf(Value value) {
  if (auto known = shapes.find(value); known != shapes.end())
    return known->second;
  Shape shape;
  auto type = cast<RankedTensorType>(value.getType());
  auto empty = value.getDefiningOp<tensor::EmptyOp>();
  unsigned next = 0;
  for (int64_t extent : type.getShape()) {
    LengthAttr length = ShapedType::isDynamic(extent) ? LengthAttr() : LengthAttr::get(context, extent);
    if (!length && empty)
      length = sizes.lookup(empty.getDynamicSizes()[next++]);
    if (!length)
      return emitError(value.getLoc()) << "an open size here is not known as a length; expected one that 'tensor.dim' takes "
                                          "from an argument or from what is made of it";
    shape.push_back(length);
  }
  return shape;
}

/// Of a part, or of what one is put into: open dimensions are taken whole.
FailureOr<OpenSizesConverter::Shape> OpenSizesConverter::subsetShape(SubsetAccessOpInterface op) {
  FailureOr<Shape> base = shapeOf(op.getBase());
  if (failed(base))
    return failure();
  SmallVector<OpFoldResult> offsets = op.getSubsetOffsets(), extents = op.getSubsetSizes(), strides = op.getSubsetStrides();
  Shape part;
  for (auto [d, whole] : llvm::enumerate(*base)) {
    if (isa<Value>(offsets[d]) || isa<Value>(strides[d]))
      return op->emitOpError() << "begins at data, or takes steps of data, in dimension " << d
                               << ", where a size is open; expected both to be constants";
    auto open = dyn_cast<Value>(extents[d]);
    if (open && sizes.lookup(open) != whole)
      return op->emitOpError() << "takes a part of dimension " << d << ", which is " << whole.str()
                               << " long; expected dimensions of open size to be taken whole";
    part.push_back(open ? whole : LengthAttr::get(context, *getConstantIntValue(extents[d])));
  }
  if (op.isWrite())
    return base;
  return llvm::map_to_vector(op.getKeptDims(), [&](int64_t d) { return part[d]; });
}

/// Of results that are as long as what they are written over, or as their first tensor operand.
FailureOr<OpenSizesConverter::Shape> OpenSizesConverter::resultShape(Operation &op, unsigned result) {
  if (auto access = dyn_cast<SubsetAccessOpInterface>(op); access && !access.isScalar())
    return subsetShape(access);
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return shapeOf(destination.getDpsInits()[result]);
  Value like;
  for (Value operand : op.getOperands())
    if (!like && isa<RankedTensorType>(operand.getType()))
      like = operand;
  auto type = cast<RankedTensorType>(op.getResult(result).getType());
  if (!like && type.hasStaticShape())
    return llvm::map_to_vector(type.getShape(), [&](int64_t extent) { return LengthAttr::get(context, extent); });
  if (!like)
    return op.emitOpError() << "has no tensor among its operands; expected one beside open sizes, from which its rows are known";
  FailureOr<Shape> shape = shapeOf(like);
  if (failed(shape) || !isa<ReassociativeReshapeOpInterface>(op))
    return shape;
  // Rows stay; what is reshaped is static.
  unsigned rows = etdg::getRowSpace(&op, /*open=*/true).lengths.size();
  shape->resize(std::min<size_t>(rows, shape->size()));
  for (int64_t extent : type.getShape().drop_front(shape->size())) {
    if (ShapedType::isDynamic(extent))
      return op.emitOpError() << "reshapes a dimension of open size; expected these to lead, and to stay as they are";
    shape->push_back(LengthAttr::get(context, extent));
  }
  return shape;
}

/// The fewest rows with which nothing inside of a leaf has an open size; none where no number of rows does.
std::optional<unsigned> OpenSizesConverter::chooseRows(Operation &op, const etdg::RowSpace &space) {
  unsigned least = 0;
  for (Type type : op.getResultTypes())
    least = std::max(least, openDepth(type));
  for (unsigned rows = least; rows <= space.lengths.size(); ++rows)
    if (llvm::all_of(llvm::seq<unsigned>(0, op.getNumOperands()), [&](unsigned i) {
          return space.getIndex(i, rows).size() >= openDepth(op.getOperand(i).getType());
        }))
      return rows;
  return std::nullopt;
}

LogicalResult OpenSizesConverter::checkLengths(Operation &op, const etdg::RowSpace &space, unsigned rows,
                                               ArrayRef<LengthAttr> shape) {
  for (OpOperand &operand : op.getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    FailureOr<Shape> own = shapeOf(operand.get());
    if (failed(own))
      return failure();
    for (auto [d, expr] : llvm::enumerate(space.getIndex(operand.getOperandNumber(), rows))) {
      LengthAttr wanted = shape[cast<AffineDimExpr>(expr).getPosition()];
      if ((*own)[d] != wanted)
        return op.emitOpError() << "dimension " << d << " of operand " << operand.getOperandNumber() << " is "
                              << (*own)[d].str() << " long, the result's rows are " << wanted.str()
                              << "; equal lengths have one name ('etdg.dims')";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value OpenSizesConverter::createBuffer(Location loc, ArrayRef<LengthAttr> shape, RankedTensorType type, unsigned depth) {
  auto buffer = etdg::BufferType::get(context, shape.take_front(depth), etdg::dropLeading(type, depth));
  return etdg::BufferOp::create(builder, loc, buffer, nullptr, nullptr);
}

/// Where a tensor is; constants of several numbers get a buffer.
FailureOr<Value> OpenSizesConverter::bufferOf(Value value) {
  if (Value known = buffers.lookup(value))
    return known;
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return emitError(value.getLoc()) << "a value of type " << value.getType() << " is read here before it is computed";
  auto type = etdg::BufferType::get(context, {}, cast<RankedTensorType>(value.getType()));
  Value buffer = etdg::ConstantOp::create(builder, value.getLoc(), type, constant);
  buffers[value] = buffer;
  return buffer;
}

/// What is a part of a buffer, or shaped or ordered otherwise, stays there.
bool OpenSizesConverter::addView(Operation &op, AffineMap map) {
  Value source = map ? op.getOperand(0) : Value();
  if (!map || !buffers.contains(source))
    return false;
  AffineMap before = views.lookup(source);
  buffers[op.getResult(0)] = buffers.lookup(source);
  views[op.getResult(0)] = before ? simplifyAffineMap(before.compose(map)) : map;
  return true;
}

SmallVector<AffineExpr> OpenSizesConverter::placeOf(Value value, ArrayRef<AffineExpr> index, unsigned numDims, unsigned numSymbols) {
  AffineMap view = views.lookup(value);
  if (!view)
    return llvm::to_vector(index);
  return llvm::to_vector(simplifyAffineMap(view.compose(AffineMap::get(numDims, numSymbols, index, context))).getResults());
}

/// A block of maps over the given lengths.
etdg::BlockBuilder OpenSizesConverter::startBlock(ArrayRef<LengthAttr> lengths) {
  etdg::BlockBuilder spec;
  spec.name = "r" + std::to_string(numBlocks++);
  SmallVector<AffineExpr> constraints;
  llvm::SmallDenseSet<StringRef> taken;
  for (const auto &[value, shape] : shapes)
    for (LengthAttr length : shape)
      for (StringAttr name : length.getNames())
        taken.insert(name.getValue());
  for (auto [d, length] : llvm::enumerate(lengths)) {
    AffineExpr dim = getAffineDimExpr(d, context), end = spec.importExpr(length.getExpr(), length.getNames());
    constraints.append({dim, end - 1 - dim});
    std::string name(1, char('i' + d % 18));
    while (taken.contains(name))
      name += '_';
    spec.dims.push_back(StringAttr::get(context, name));
    taken.insert(spec.dims.back().getValue());
    spec.operators.push_back(OperatorKind::Map);
  }
  SmallVector<bool> eqs(constraints.size(), false);
  spec.domain = lengths.empty() ? etdg::getUniverse(context, 0, 0)
                                : IntegerSet::get(lengths.size(), spec.symbols.size(), constraints, eqs);
  return spec;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

LogicalResult OpenSizesConverter::require(Leaf &leaf, Operation &user, Value value, ArrayRef<AffineExpr> index) {
  for (const Need &need : leaf.needs)
    if (need.value == value && ArrayRef(need.index) == index)
      return success();
  Need need{value, SmallVector<AffineExpr>(index), std::nullopt};
  Operation *def = value.getDefiningOp();
  DenseElementsAttr constant;
  bool isTable = !index.empty() && matchPattern(value, m_Constant(&constant)) && !constant.isSplat();
  if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && (isTable || !def || !graphwriter::isRepeatable(def))) {
    FailureOr<Value> buffer = bufferOf(value);
    if (failed(buffer))
      return failure();
    if (openDepth(type) > index.size())
      return user.emitOpError() << "uses a tensor of open size as a whole; expected one row of it at a time";
    unsigned numDims = leaf.spec.dims.size(), numSymbols = leaf.spec.symbols.size(), rank = type.getRank() - index.size();
    SmallVector<AffineExpr> results(index);
    for (unsigned e = 0; e < rank; ++e)
      results.push_back(getAffineDimExpr(numDims + e, context));
    results = placeOf(value, results, numDims + rank, numSymbols);
    // (An element of the buffer as it is needs no map of its own.)
    auto held = cast<etdg::BufferType>(buffer->getType());
    unsigned depth = held.getDepth();
    bool isPlain = results.size() == depth + rank && held.getElement() == etdg::dropLeading(type, index.size()) && llvm::all_of(llvm::seq<unsigned>(0, results.size()), [&](unsigned r) {
                     if (r >= depth)
                       return results[r] == getAffineDimExpr(numDims + r - depth, context);
                     return !llvm::any_of(llvm::seq(numDims, numDims + rank), [&](unsigned e) { return results[r].isFunctionOfDim(e); });
                   });
    if (isPlain) {
      results.truncate(depth);
      rank = 0;
    }
    auto map = AffineMap::get(numDims + rank, numSymbols, results, context);
    auto piece = etdg::PieceAttr::getBuffer(etdg::getUniverse(context, numDims + rank, numSymbols),
                                            leaf.spec.operandFor(*buffer), map);
    need.read = leaf.spec.reads.size();
    leaf.spec.reads.push_back(etdg::ReadAttr::get(context, piece, rank));
    leaf.types.push_back(etdg::dropLeading(type, index.size()));
  } else if (isa_and_nonnull<tensor::DimOp>(def)) {
    return user.emitOpError() << "computes with an open size; expected sizes in 'tensor.empty' alone";
  } else if (def && index.empty()) {
    llvm::SetVector<Value> inputs(def->operand_begin(), def->operand_end());
    getUsedValuesDefinedAbove(def->getRegions(), inputs);
    for (Value input : inputs)
      if (failed(require(leaf, user, input, {})))
        return failure();
  }
  leaf.needs.push_back(need);
  return success();
}

Value OpenSizesConverter::getWhole(Leaf &leaf, Value value) {
  if (Value known = leaf.whole.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  llvm::SetVector<Value> inputs(def->operand_begin(), def->operand_end());
  getUsedValuesDefinedAbove(def->getRegions(), inputs);
  for (Value input : inputs)
    getWhole(leaf, input);
  builder.clone(*def, leaf.whole);
  return leaf.whole.lookup(value);
}

Value OpenSizesConverter::get(Leaf &leaf, Value value, ArrayRef<AffineExpr> index) {
  for (const Need &need : leaf.needs)
    if (need.value == value && ArrayRef(need.index) == index && need.read)
      return leaf.block.getBody().getArgument(*need.read);
  if (index.empty())
    return getWhole(leaf, value);
  auto type = etdg::dropLeading(cast<RankedTensorType>(value.getType()), index.size());
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(builder, value.getLoc(), type, constant.resizeSplat(type));
  return tensor::EmptyOp::create(builder, value.getLoc(), type.getShape(), type.getElementType());
}

LogicalResult OpenSizesConverter::emit(Operation &op) {
  etdg::RowSpace space = etdg::getRowSpace(&op, /*open=*/true);
  for (OpResult result : op.getResults()) {
    FailureOr<Shape> shape = resultShape(op, result.getResultNumber());
    if (failed(shape))
      return failure();
    shapes[result] = *shape;
  }
  // (Of rows of open sizes, parts are taken in leaves, which then are one with those that make and use the rows; without such
  // rows a block would copy all of it.)
  if (openDepth(op.getResult(0).getType()) == 0 && addView(op, getElementMap(&op)))
    return success();
  std::optional<unsigned> rows = chooseRows(op, space);
  auto transpose = dyn_cast<linalg::TransposeOp>(op);
  if (!rows && asTheyLie && addView(op, transpose ? AffineMap::getPermutationMap(invertPermutationVector(transpose.getPermutation()), context)
                                     : getElementMap(&op)))
    return success();
  if (!rows)
    return op.emitOpError() << "has an open size that is no row: expected dimensions of open size to lead in results and operands, "
                               "with the same operation on each of their points";
  Shape shape = shapes[op.getResult(0)];
  if (failed(checkLengths(op, space, *rows, shape)))
    return failure();
  Leaf leaf;
  leaf.spec = startBlock(ArrayRef(shape).take_front(*rows));
  // (The sizes that a reshape or a slice names are the result's.)
  SmallVector<OpOperand *> taken = getTensorOperands(&op);
  for (OpOperand *operand : taken)
    if (failed(require(leaf, op, operand->get(), space.getIndex(operand->getOperandNumber(), *rows))))
      return failure();
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(op.getRegions(), above);
  for (Value value : above)
    if (failed(require(leaf, op, value, {})))
      return failure();
  SmallVector<AffineExpr> index = dims(*rows);
  for (OpResult result : op.getResults()) {
    Value buffer = createBuffer(op.getLoc(), shapes[result], cast<RankedTensorType>(result.getType()), *rows);
    buffers[result] = buffer;
    graphwriter::addWrite(leaf.spec, buffer, index, *rows, leaf.spec.symbols.size(), context);
  }
  leaf.block = leaf.spec.build(builder, op.getLoc(), leaf.types);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&leaf.block.getBody().front());
  for (const Need &need : leaf.needs)
    if (need.read && need.index.empty())
      leaf.whole.map(need.value, leaf.block.getBody().getArgument(*need.read));
  SmallVector<Value> operands;
  for (OpOperand *operand : taken)
    operands.push_back(get(leaf, operand->get(), space.getIndex(operand->getOperandNumber(), *rows)));
  for (Value value : above)
    getWhole(leaf, value);
  etdg::YieldOp::create(builder, op.getLoc(), etdg::createRow(builder, &op, space, *rows, operands, leaf.whole));
  return success();
}

LogicalResult OpenSizesConverter::visit(Operation &op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    FailureOr<Shape> shape = shapeOf(dim.getSource());
    if (failed(shape))
      return failure();
    if (std::optional<int64_t> d = dim.getConstantIndex(); d && *d >= 0 && *d < int64_t(shape->size()))
      sizes[dim.getResult()] = (*shape)[*d];
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    sizes[constant.getResult()] = LengthAttr::get(context, constant.value());
  if (graphwriter::isRepeatable(&op))
    return success();
  StringRef dialect = op.getDialect() ? op.getDialect()->getNamespace() : "";
  if (!llvm::is_contained({"linalg", "arith", "math", "tensor", "complex"}, dialect))
    return op.emitError() << "'" << op.getName() << "' has no place in a graph of tensor expressions; expected operations "
                          << "of linalg, arith, math and tensor";
  for (Type type : op.getResultTypes())
    if (!isa<RankedTensorType>(type))
      return op.emitOpError() << "has a result of type " << type << "; expected ranked tensors";
  return emit(op);
}

/// A value that is not computed here, or is returned twice.
LogicalResult OpenSizesConverter::emitCopy(Location loc, Value value, Value buffer) {
  auto type = cast<etdg::BufferType>(buffer.getType());
  Leaf leaf;
  leaf.spec = startBlock(type.getLengths());
  SmallVector<AffineExpr> index = dims(type.getDepth());
  if (failed(require(leaf, *function.getBody().front().getTerminator(), value, index)))
    return failure();
  graphwriter::addWrite(leaf.spec, buffer, index, type.getDepth(), leaf.spec.symbols.size(), context);
  leaf.block = leaf.spec.build(builder, loc, leaf.types);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&leaf.block.getBody().front());
  etdg::YieldOp::create(builder, loc, get(leaf, value, index));
  return success();
}

LogicalResult OpenSizesConverter::convert() {
  if (failed(verifyOneBlock(function)) || failed(nameArguments()))
    return failure();
  Location loc = function.getLoc();
  builder.setInsertionPoint(function);
  SmallVector<graphwriter::GraphArgument> arguments;
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    unsigned depth = openDepth(type);
    NamedAttrList kept(function.getArgAttrDict(argument.getArgNumber()));
    kept.erase(etdg::names::dims);
    arguments.push_back({etdg::BufferType::get(context, ArrayRef(shapes[argument]).take_front(depth), etdg::dropLeading(type, depth)),
                         argument.getLoc(), kept.getDictionary(context)});
  }
  // (Its results follow from where they are computed.)
  etdg::GraphOp graph = graphwriter::createGraph(builder, function, arguments, {});
  Block *body = &graph.getBody().front();
  for (auto [argument, buffer] : llvm::zip_equal(function.getArguments(), body->getArguments()))
    buffers[argument] = buffer;
  bool ok = llvm::all_of(function.getBody().front().without_terminator(), [&](Operation &op) { return succeeded(visit(op)); });
  llvm::SetVector<Value> results;
  for (Value value : function.getBody().front().getTerminator()->getOperands()) {
    if (!ok)
      break;
    Value buffer = buffers.lookup(value);
    bool isView = views.contains(value);
    if (!isa_and_nonnull<etdg::BufferOp>(buffer ? buffer.getDefiningOp() : nullptr) || results.contains(buffer) || isView) {
      auto type = cast<RankedTensorType>(value.getType());
      unsigned depth = buffer && !isView ? cast<etdg::BufferType>(buffer.getType()).getDepth() : openDepth(type);
      FailureOr<Shape> shape = shapeOf(value);
      Value copy = succeeded(shape) ? createBuffer(loc, *shape, type, depth) : Value();
      ok = copy && succeeded(emitCopy(loc, value, copy));
      buffer = copy;
    }
    results.insert(buffer);
  }
  if (!ok) {
    graph.erase();
    return failure();
  }
  etdg::ReturnOp::create(builder, loc, results.getArrayRef());
  graph.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), ValueRange(results.getArrayRef()).getTypes()));
  return success();
}

LogicalResult mlir::ft::convertOpenSizes(func::FuncOp function, bool asTheyLie) {
  expandDynamicSlices(function);
  return OpenSizesConverter(function, asTheyLie).convert();
}
