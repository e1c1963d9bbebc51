//===- LinalgToETDG.cpp - tensor expressions as blocks --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `convert-linalg-to-etdg`: each tensor operation of a function becomes a leaf of
// zero dimensions, so that tensor expressions (Souffle §5) share every analysis of
// the graph. Reshapes and slices become element maps of the reads after them.
//
//===----------------------------------------------------------------------===//

#include "ft/Conversion/LinalgToETDG/LinalgToETDG.h"
#include "DynamicSlices.h"
#include "OpenSizes.h"
#include "UnitInserts.h"

#include "ft/Conversion/GraphWriter/GraphWriter.h"
#include "ft/Conversion/GraphWriter/PlainForms.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Dialect/FT/IR/FunctionForm.h"
#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::ft {
#define GEN_PASS_DEF_CONVERTLINALGTOETDG
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

namespace {

/// A tensor value: a buffer, seen through a map from its own indices to the
/// buffer's (null: the identity).
struct TensorView {
  Value buffer;
  AffineMap map;
};

class TensorFunctionConverter {
public:
  explicit TensorFunctionConverter(func::FuncOp function)
      : function(function), builder(function.getContext()), context(function.getContext()) {}

  LogicalResult convert();

private:
  LogicalResult checkTypes();
  LogicalResult convertOp(Operation &op);
  LogicalResult emitLeaf(Operation &op);
  void emitCopy(Location loc, Value value, Value buffer);
  etdg::ReadAttr readOf(etdg::BlockBuilder &spec, Value value);
  Value createBuffer(Location loc, RankedTensorType type);
  /// A block without dimensions.
  etdg::BlockBuilder startBlock() { return graphwriter::startBlock({}, {}, {}, context, numBlocks++); }
  /// The view's map, composed with a map from new indices to those of `source`.
  void addView(Value result, Value source, AffineMap toSource);

  func::FuncOp function;
  OpBuilder builder;
  MLIRContext *context;
  DenseMap<Value, TensorView> views;
  DenseMap<Value, Value> returned; // value → result buffer
  unsigned numBlocks = 0;
};

} // namespace

Value TensorFunctionConverter::createBuffer(Location loc, RankedTensorType type) {
  return etdg::BufferOp::create(builder, loc, etdg::BufferType::get(context, {}, type), nullptr, nullptr);
}

void TensorFunctionConverter::addView(Value result, Value source, AffineMap toSource) {
  TensorView view = views.lookup(source);
  view.map = view.map ? simplifyAffineMap(view.map.compose(toSource)) : toSource;
  views[result] = view;
}

/// Replaces every so-many-th element of a tensor, which no read says piece by piece (ReadMoves.cpp).
static bool isStridedWrite(Operation *op) {
  auto access = dyn_cast<SubsetAccessOpInterface>(op);
  auto isOne = [](OpFoldResult stride) { return isConstantIntValue(stride, 1); };
  return access && access.isWrite() && !access.isScalar() && op->getNumResults() == 1 &&
         !llvm::all_of(access.getSubsetStrides(), isOne);
}

/// Where the one use of a strided write is as what another one completes, that one.
static Operation *getNextOfChain(Operation *op) {
  if (!op || !isStridedWrite(op) || !op->hasOneUse())
    return nullptr;
  OpOperand &use = *op->use_begin();
  Operation *next = use.getOwner();
  bool completes = next->getBlock() == op->getBlock() && isStridedWrite(next) && &cast<SubsetAccessOpInterface>(next).getBaseOperand() == &use;
  return completes ? next : nullptr;
}

/// A tensor of which only parts are there yet, and which the next of several such writes completes. They are one statement: by itself
/// the first would leave elements in memory that nothing wrote, and the next would read them.
static bool isPartOfChain(Operation *op) {
  while (getNextOfChain(op))
    op = cast<SubsetAccessOpInterface>(op).getBase().getDefiningOp();
  return isa_and_nonnull<tensor::EmptyOp>(op);
}

etdg::ReadAttr TensorFunctionConverter::readOf(etdg::BlockBuilder &spec, Value value) {
  TensorView view = views.lookup(value);
  int64_t operand = spec.operandFor(view.buffer);
  unsigned rank = view.map ? cast<RankedTensorType>(value.getType()).getRank() : 0;
  AffineMap map = view.map ? view.map : AffineMap::get(0, 0, context);
  auto piece = etdg::PieceAttr::getBuffer(etdg::getUniverse(context, rank, 0), operand, map);
  return etdg::ReadAttr::get(context, piece, rank);
}

LogicalResult TensorFunctionConverter::checkTypes() {
  bool ok = true;
  auto check = [&](Operation *op, Type type, const Twine &what) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.hasStaticShape())
      return;
    op->emitError() << what << " has type " << type << "; a graph of tensor expressions needs tensors of static shape";
    ok = false;
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    check(function, type, "argument " + Twine(i));
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    check(function, type, "result " + Twine(i));
  if (failed(verifyOneBlock(function)))
    return failure();
  for (Operation &op : function.getBody().front().without_terminator()) {
    StringRef dialect = op.getDialect() ? op.getDialect()->getNamespace() : "";
    if (!llvm::is_contained({"linalg", "arith", "math", "tensor", "complex"}, dialect)) {
      op.emitError() << "'" << op.getName() << "' has no place in a graph of tensor expressions; expected operations of linalg, "
                     << "arith, math and tensor";
      ok = false;
      continue;
    }
    if (!graphwriter::isRepeatable(&op))
      for (auto [i, type] : llvm::enumerate(op.getResultTypes()))
        check(&op, type, "result " + Twine(i));
  }
  return success(ok);
}

LogicalResult TensorFunctionConverter::emitLeaf(Operation &op) {
  etdg::BlockBuilder spec = startBlock();
  Operation *statement = &op;
  auto repeats = [](Value v) { return graphwriter::isRepeatable(v.getDefiningOp()) || isPartOfChain(v.getDefiningOp()); };
  graphwriter::LeafInputs inputs(statement, repeats);
  inputs.requireAll();

  SmallVector<Type> readTypes;
  for (Value v : inputs.getReads()) {
    spec.reads.push_back(readOf(spec, v));
    readTypes.push_back(v.getType());
  }
  for (OpResult result : op.getResults()) {
    auto it = returned.find(result);
    Value buffer = it != returned.end() ? it->second : createBuffer(op.getLoc(), cast<RankedTensorType>(result.getType()));
    views[result] = {buffer, AffineMap()};
    graphwriter::addWrite(spec, buffer, {}, 0, 0, context);
  }
  etdg::BlockOp block = spec.build(builder, op.getLoc(), readTypes);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block.getBody().front());
  IRMapping mapping;
  mapping.map(inputs.getReads(), block.getBody().getArguments());
  inputs.clone(builder, mapping);
  SmallVector<Value> results;
  for (Value result : op.getResults())
    results.push_back(mapping.lookup(result));
  etdg::YieldOp::create(builder, op.getLoc(), results);
  return success();
}

void TensorFunctionConverter::emitCopy(Location loc, Value value, Value buffer) {
  etdg::BlockBuilder spec = startBlock();
  Operation *constant = views.contains(value) ? nullptr : value.getDefiningOp();
  SmallVector<Type> readTypes;
  if (!constant) {
    spec.reads.push_back(readOf(spec, value));
    readTypes.push_back(value.getType());
  }
  graphwriter::addWrite(spec, buffer, {}, 0, 0, context);
  graphwriter::remarkCopy(loc, "convert-linalg-to-etdg", "a returned value that is not computed here", spec.name);
  etdg::BlockOp block = spec.build(builder, loc, readTypes);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block.getBody().front());
  Value yielded = constant ? builder.clone(*constant)->getResult(0) : Value(block.getBody().getArgument(0));
  etdg::YieldOp::create(builder, loc, yielded);
}

LogicalResult TensorFunctionConverter::convertOp(Operation &op) {
  if (graphwriter::isRepeatable(&op) || isPartOfChain(&op))
    return success();
  if (AffineMap map = getElementMap(&op); map && views.contains(op.getOperand(0))) {
    addView(op.getResult(0), op.getOperand(0), map);
    return success();
  }
  return emitLeaf(op);
}

LogicalResult TensorFunctionConverter::convert() {
  if (failed(checkTypes()))
    return failure();
  expandDynamicSlices(function);
  rewriteUnitInserts(function);
  auto bufferType = [&](Type type) -> Type {
    return etdg::BufferType::get(context, {}, cast<RankedTensorType>(type));
  };
  SmallVector<graphwriter::GraphArgument> arguments;
  for (BlockArgument argument : function.getArguments())
    arguments.push_back({bufferType(argument.getType()), argument.getLoc(),
                         function.getArgAttrDict(argument.getArgNumber())});
  Location loc = function.getLoc();
  builder.setInsertionPoint(function);
  etdg::GraphOp graph =
      graphwriter::createGraph(builder, function, arguments, llvm::map_to_vector(function.getResultTypes(), bufferType));
  for (auto [argument, buffer] : llvm::zip_equal(function.getArguments(), graph.getBody().getArguments()))
    views[argument] = {buffer, AffineMap()};

  auto isSlice = [](Operation *op) {
    auto access = dyn_cast<SubsetAccessOpInterface>(op);
    return access && access.isSlice();
  };
  // A value computed here and returned once is written where it is returned.
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Value> buffers;
  SmallVector<std::pair<Value, Value>> copies;
  for (Value value : terminator->getOperands()) {
    Value buffer = createBuffer(loc, cast<RankedTensorType>(value.getType()));
    buffers.push_back(buffer);
    Operation *def = value.getDefiningOp();
    bool fresh = def && !graphwriter::isRepeatable(def) &&
                 !isa<ReassociativeReshapeOpInterface>(def) && !isSlice(def);
    if (!fresh || !returned.try_emplace(value, buffer).second)
      copies.push_back({value, buffer});
  }
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(convertOp(op))) {
      graph.erase();
      return failure();
    }
  for (auto [value, buffer] : copies)
    emitCopy(loc, value, buffer);
  etdg::ReturnOp::create(builder, loc, buffers);
  return success();
}

/// With open sizes before the others.
static LogicalResult convertWithOpenSizesFirst(func::FuncOp function, bool asTheyLie) {
  func::FuncOp copy = function.clone();
  function->getBlock()->getOperations().insert(function->getIterator(), copy);
  moveOpenSizesFirst(copy);
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  LogicalResult converted = succeeded(verify(copy)) ? convertOpenSizes(copy, asTheyLie) : failure();
  copy.erase();
  return converted;
}

/// As the program has them, or with open sizes before the others: rows, if they can be, else as they lie. What is specified is specified for
/// the program.
static LogicalResult convertWithOpenSizes(func::FuncOp function) {
  std::vector<Diagnostic> said;
  {
    ScopedDiagnosticHandler collect(function.getContext(), [&](Diagnostic &diagnostic) { said.push_back(std::move(diagnostic)); });
    for (bool asTheyLie : {false, true}) {
      said.clear();
      if (succeeded(convertOpenSizes(function, asTheyLie)) || succeeded(convertWithOpenSizesFirst(function, asTheyLie)))
        return success();
    }
  }
  for (Diagnostic &diagnostic : said)
    function.getContext()->getDiagEngine().emit(std::move(diagnostic));
  return failure();
}

/// Sums that begin with the same number begin with one of their own each, which is computed in their leaf: in memory it would be read again, and
/// what writes it would stand between them.
static void separateFills(func::FuncOp function) {
  for (auto fill : llvm::to_vector(function.getOps<linalg::FillOp>())) {
    SmallVector<OpOperand *> inits;
    for (OpOperand &use : fill->getUses())
      if (auto op = dyn_cast<linalg::LinalgOp>(use.getOwner()); op && op.isDpsInit(&use))
        inits.push_back(&use);
    bool isShared = !fill->hasOneUse() && matchPattern(fill.getInputs().front(), m_Constant());
    for (OpOperand *use : isShared ? inits : SmallVector<OpOperand *>()) {
      OpBuilder builder(use->getOwner());
      use->set(builder.clone(*fill)->getResult(0));
    }
    if (fill->use_empty())
      fill->erase();
  }
}

namespace {
struct ConvertLinalgToETDG : ft::impl::ConvertLinalgToETDGBase<ConvertLinalgToETDG> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertLinalgToETDGBase::getDependentDialects(registry);
    registerSubsetAccessModels(registry);
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      bool lists = false, tensors = false;
      for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes())) {
        lists |= isa<ListType>(type);
        tensors |= isa<TensorType>(type);
      }
      if (tensors && !lists && !function.isDeclaration())
        functions.push_back(function);
    }
    for (func::FuncOp function : functions) {
      graphwriter::rewritePlainForms(function);
      separateFills(function);
      LogicalResult converted =
          hasOpenSizes(function) ? convertWithOpenSizes(function) : TensorFunctionConverter(function).convert();
      if (failed(converted))
        return signalPassFailure();
      function.erase();
    }
  }
};
} // namespace
