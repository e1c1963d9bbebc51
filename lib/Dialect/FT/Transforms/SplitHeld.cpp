//===- SplitHeld.cpp - what depends on held arguments alone ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters of a model are the same from call to call, and so is what is
// computed from them alone. The factor of a norm in evaluation is such a value, or a
// table of biases by position. It moves to a function of its own, which a module runs
// once when the parameters are bound.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Dialect/FT/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTSPLITHELD
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

/// All values from around that an operation uses, those of its regions included.
static SetVector<Value> usedValues(Operation &op) {
  SetVector<Value> used(op.operand_begin(), op.operand_end());
  getUsedValuesDefinedAbove(op.getRegions(), used);
  return used;
}

/// Bytes of a value of static shape, or nothing.
static std::optional<int64_t> bytesOf(Type type) {
  int64_t count = 1;
  if (auto list = dyn_cast<ListType>(type)) {
    for (LengthAttr length : list.getLengths()) {
      std::optional<int64_t> number = length.evaluate([](StringAttr) { return std::optional<int64_t>(); });
      if (!number)
        return std::nullopt;
      count *= *number;
    }
    type = list.getElement();
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return std::nullopt;
  return count * tensor.getNumElements() * llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

/// Whether an operation only says where elements lie: its readers read the operand instead.
static bool onlyMoves(Operation &op) {
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp, tensor::CastOp, linalg::TransposeOp, linalg::BroadcastOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getBody()->getOperations().size() == 1 && llvm::all_of(generic.getBody()->getTerminator()->getOperands(), [](Value value) {
           return isa<BlockArgument>(value);
         });
}

namespace {
/// Takes a function of one block apart.
class Splitter {
public:
  explicit Splitter(func::FuncOp function) : function(function), body(function.getBody().front()) {}
  /// Whether there is anything to compute ahead.
  bool find();
  void split(SymbolTable &symbols);

private:
  bool isFixed(Value value) const { return held.contains(value) || (value.getDefiningOp() && moved.contains(value.getDefiningOp())); }
  bool isFree(Value value) const { return value.getDefiningOp() && free.contains(value.getDefiningOp()); }
  bool crosses(Operation &op) const;
  bool isWorthHolding(Operation &op) const;
  func::FuncOp makeBinding(ArrayRef<Value> results, ArrayAttr names, SymbolTable &symbols);
  void cloneInto(Operation &op, OpBuilder &builder, IRMapping &map);

  func::FuncOp function;
  Block &body;
  DenseSet<Value> held;
  int64_t heldBytes = 0;
  /// Made of held arguments; made of nothing, and as well made again.
  SetVector<Operation *> moved, free;
};
} // namespace

/// Whether what stays uses a result.
bool Splitter::crosses(Operation &op) const {
  return llvm::any_of(op.getUsers(), [&](Operation *user) {
    Operation *own = body.findAncestorOpInBlock(*user);
    return !own || !moved.contains(own);
  });
}

/// Values that a module has memory for: static ones, and none larger than all that it holds anyway.
bool Splitter::isWorthHolding(Operation &op) const {
  return llvm::all_of(op.getResultTypes(), [&](Type type) {
    std::optional<int64_t> bytes = bytesOf(type);
    return bytes && *bytes <= heldBytes;
  });
}

bool Splitter::find() {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), ft::names::held)) {
      held.insert(argument);
      heldBytes += bytesOf(argument.getType()).value_or(0);
    }
  for (Operation &op : body.without_terminator()) {
    if (!isMemoryEffectFree(&op) || op.getNumResults() == 0)
      continue;
    SetVector<Value> used = usedValues(op);
    if (llvm::all_of(used, [&](Value value) { return isFree(value); }))
      free.insert(&op);
    else if (llvm::all_of(used, [&](Value value) { return isFree(value) || isFixed(value); }))
      moved.insert(&op);
  }
  // From the last one on: what stays makes its operands cross.
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (moved.contains(&op) && (op.use_empty() || (crosses(op) && (onlyMoves(op) || !isWorthHolding(op)))))
      moved.remove(&op);
  return !moved.empty();
}

/// With what it is made of.
void Splitter::cloneInto(Operation &op, OpBuilder &builder, IRMapping &map) {
  for (Value value : usedValues(op))
    if (isFree(value) && !map.contains(value))
      cloneInto(*value.getDefiningOp(), builder, map);
  builder.clone(op, map);
}

func::FuncOp Splitter::makeBinding(ArrayRef<Value> results, ArrayAttr names, SymbolTable &symbols) {
  SetVector<Value> inputs;
  for (Operation *op : moved)
    for (Value value : usedValues(*op))
      if (held.contains(value))
        inputs.insert(value);
  OpBuilder builder(function.getContext());
  auto types = [](auto values) { return llvm::map_to_vector(values, [](Value value) { return value.getType(); }); };
  auto made = func::FuncOp::create(function.getLoc(), (function.getName() + "_bind").str(),
                                   builder.getFunctionType(types(inputs.getArrayRef()), types(results)));
  made->setAttr(ft::names::binds, names);
  symbols.insert(made, std::next(function->getIterator()));
  Block *block = made.addEntryBlock();
  builder.setInsertionPointToStart(block);
  IRMapping map;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    made.setArgAttrs(i, function.getArgAttrDict(cast<BlockArgument>(input).getArgNumber()));
    block->getArgument(i).setLoc(input.getLoc());
    map.map(input, block->getArgument(i));
  }
  for (Operation &op : body.without_terminator())
    if (moved.contains(&op))
      cloneInto(op, builder, map);
  func::ReturnOp::create(builder, function.getLoc(), llvm::map_to_vector(results, [&](Value value) { return map.lookup(value); }));
  return made;
}

void Splitter::split(SymbolTable &symbols) {
  SmallVector<Value> results;
  for (Operation &op : body.without_terminator())
    if (moved.contains(&op))
      for (OpResult result : op.getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !moved.contains(body.findAncestorOpInBlock(*user)); }))
          results.push_back(result);
  Builder builder(function.getContext());
  SmallVector<Attribute> names;
  for (unsigned i = 0; i < results.size(); ++i)
    names.push_back(builder.getStringAttr(function.getName() + "_bind." + Twine(i)));
  makeBinding(results, builder.getArrayAttr(names), symbols);
  for (auto [result, name] : llvm::zip_equal(results, names)) {
    unsigned at = function.getNumArguments();
    auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(ft::names::held, name));
    (void)function.insertArgument(at, result.getType(), attributes, result.getLoc());
    result.replaceUsesWithIf(function.getArgument(at), [&](OpOperand &use) { return !moved.contains(body.findAncestorOpInBlock(*use.getOwner())); });
  }
  for (Operation *op : llvm::reverse(moved))
    op->erase();
}

namespace {
struct FTSplitHeld : ft::impl::FTSplitHeldBase<FTSplitHeld> {
  using FTSplitHeldBase::FTSplitHeldBase;
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      bool holds = llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned i) { return bool(function.getArgAttr(i, ft::names::held)); });
      // (A function that binds has nothing else.)
      if (!holds || !function.getBody().hasOneBlock() || function->hasAttr(ft::names::binds))
        continue;
      Splitter splitter(function);
      if (!splitter.find())
        continue;
      splitter.split(symbols);
      ++numFunctions;
    }
  }
};
} // namespace
