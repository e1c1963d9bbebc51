//===- PadRagged.cpp - ragged lists as padded ones ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of lists of different lengths has no affine domain. Here its domain
// becomes that of the longest list: elements are gathered from the values by an
// index list, a fold or scan leaves its state where a list has ended, and what is
// computed there is left out when results are put one after the other again.
// Only operators that compute and these gathers read such a list, so nothing else
// sees the padding.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/FT/Transforms/Passes.h"

#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTPADRAGGED
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

static bool isRagged(Type type) {
  auto list = dyn_cast<ListType>(type);
  return list && list.hasRagged();
}

static StringAttr raggedName(LengthAttr length) { return length.getRagged() ? length.getNames().front() : nullptr; }

/// Every ragged length as the length of the longest list, which has its name.
static Type padded(Type type) {
  if (!isRagged(type))
    return type;
  auto list = cast<ListType>(type);
  SmallVector<LengthAttr> lengths;
  for (LengthAttr length : list.getLengths())
    lengths.push_back(length.getRagged() ? LengthAttr::get(raggedName(length)) : length);
  return ListType::get(type.getContext(), lengths, list.getElement());
}

namespace {
/// One ragged level of a function and the lists that stand for it.
struct Level {
  StringAttr name;
  LengthAttr outer; // of the lists that have it; null where there is one list
  Value index;      // where each element is among the values
  Value lengths;    // of the lists
  Value positions;  // 0, 1, … in a list
  Value rows, columns;
};

class Padding {
public:
  Padding(func::FuncOp function, OpBuilder &builder) : function(function), b(builder) {}
  LogicalResult run();

private:
  LogicalResult findLevels();
  LogicalResult addLevel(Type type, Location loc);
  Level *find(StringAttr name) {
    for (Level &level : levels)
      if (level.name == name)
        return &level;
    return nullptr;
  }
  ListType listOf(ArrayRef<LengthAttr> lengths) {
    return ListType::get(b.getContext(), lengths, RankedTensorType::get({}, b.getI64Type()));
  }
  LengthAttr totalOf(StringAttr name) {
    return LengthAttr::get(b.getStringAttr(name.getValue() + "_total"));
  }
  LogicalResult copyBlock(Block &from, IRMapping &mapping);
  LogicalResult copyCompute(ComputeOp op, IRMapping &mapping);
  void copyYield(ComputeOp op, Operation *yield, Block &to, Value position, Value length, IRMapping &mapping);
  /// A map over lists of `length` elements; `makeBody` gives the result for one element of each.
  Value makeMap(Location loc, LengthAttr length, Type peeled, ValueRange lists, function_ref<Value(ValueRange)> makeBody);
  /// `whole` where a position is in its list, else `kept`.
  Value choose(Location loc, Value position, Value length, Value whole, Value kept);
  Value packed(Location loc, ListType type, Value value);

  func::FuncOp function;
  OpBuilder &b;
  SmallVector<Level> levels;
  /// The length of the list that is traversed, by the name of its level.
  DenseMap<StringAttr, Value> currentLength;
};
} // namespace

LogicalResult Padding::addLevel(Type type, Location loc) {
  if (!isRagged(type))
    return success();
  auto list = cast<ListType>(type);
  for (auto [depth, length] : llvm::enumerate(list.getLengths())) {
    StringAttr name = raggedName(length);
    if (!name)
      continue;
    if (depth > 1 || llvm::count_if(list.getLengths(), [](LengthAttr l) { return l.getRagged(); }) > 1)
      return emitError(loc) << "the ragged list " << type
                            << " is interpreted only: expected one ragged level, outermost or below one other";
    LengthAttr outer = depth ? list.getLength() : LengthAttr();
    Level *known = find(name);
    if (known && known->outer != outer)
      return emitError(loc) << "ragged(" << name.getValue() << ") belongs to different lists: " << type;
    if (!known)
      levels.push_back({name, outer, {}, {}, {}, {}, {}});
  }
  return success();
}

LogicalResult Padding::findLevels() {
  for (BlockArgument argument : function.getArguments())
    if (failed(addLevel(argument.getType(), argument.getLoc())))
      return failure();
  for (Type type : function.getResultTypes())
    if (isRagged(type))
      for (LengthAttr length : cast<ListType>(type).getLengths())
        if (StringAttr name = raggedName(length); name && !find(name))
          return function.emitError() << "returns ragged(" << name.getValue() << "), which no argument has";
  return success();
}

Value Padding::makeMap(Location loc, LengthAttr length, Type peeled, ValueRange lists,
                       function_ref<Value(ValueRange)> makeBody) {
  OperationState state(loc, MapOp::getOperationName());
  state.addOperands(lists);
  state.addTypes(ListType::wrap(length, peeled));
  Region *body = state.addRegion();
  auto *block = new Block();
  body->push_back(block);
  for (Value list : lists)
    block->addArgument(cast<ListType>(list.getType()).getPeeled(), loc);
  {
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(block);
    OperationState yield(loc, YieldOp::getOperationName());
    yield.addOperands(makeBody(block->getArguments()));
    yield.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr({1, 0}));
    b.create(yield);
  }
  return b.create(state)->getResult(0);
}

Value Padding::choose(Location loc, Value position, Value length, Value whole, Value kept) {
  if (auto list = dyn_cast<ListType>(whole.getType()))
    return makeMap(loc, list.getLength(), list.getPeeled(), {whole, kept},
                   [&](ValueRange values) { return choose(loc, position, length, values[0], values[1]); });
  Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, position, length);
  auto type = cast<RankedTensorType>(whole.getType());
  if (type.getRank() == 0)
    return arith::SelectOp::create(b, loc, isInside, whole, kept);
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  AffineMap same = b.getMultiDimIdentityMap(type.getRank());
  AffineMap none = AffineMap::get(type.getRank(), 0, b.getContext());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, TypeRange{type}, ValueRange{isInside, whole, kept}, ValueRange{empty},
             ArrayRef<AffineMap>{none, same, same, same}, iterators,
             [](OpBuilder &inner, Location at, ValueRange values) {
               Value chosen = arith::SelectOp::create(inner, at, values[0], values[1], values[2]);
               linalg::YieldOp::create(inner, at, chosen);
             })
      .getResult(0);
}

/// The elements of a padded list one after the other, without the padding.
Value Padding::packed(Location loc, ListType type, Value value) {
  unsigned depth = type.getLength().getRagged() ? 0 : 1;
  Level &level = *find(raggedName(type.getLengths()[depth]));
  Value rows = value;
  if (depth)
    rows = GatherOp::create(b, loc, value, level.rows);
  SmallVector<Value> lists = {level.columns};
  if (depth)
    lists.push_back(rows);
  SmallVector<LengthAttr> inner(type.getLengths().drop_front(depth + 1));
  Type element = type.getElement();
  Type peeled = inner.empty() ? element : Type(ListType::get(b.getContext(), inner, element));
  return makeMap(loc, totalOf(level.name), peeled, lists, [&](ValueRange values) -> Value {
    return GatherOp::create(b, loc, depth ? values[1] : value, values[0]);
  });
}

void Padding::copyYield(ComputeOp op, Operation *yield, Block &to, Value position, Value length,
                        IRMapping &mapping) {
  Operation *copied = b.clone(*yield, mapping);
  if (!position || op.isMap())
    return;
  b.setInsertionPoint(copied);
  for (unsigned i = 0; i < op.getNumStates(); ++i)
    copied->setOperand(i, choose(yield->getLoc(), position, length, copied->getOperand(i), to.getArgument(i)));
}

LogicalResult Padding::copyCompute(ComputeOp op, IRMapping &mapping) {
  StringAttr traversed = raggedName(op.getLength());
  if (traversed && !op.isMap() && op.getInits().empty())
    return op->emitOpError("over the ragged level ragged(")
           << traversed.getValue() << ") needs an 'init': a list may be empty";
  SmallVector<Value> lists, extra, rest;
  for (Value list : op.getLists())
    lists.push_back(mapping.lookup(list));
  // What comes below this operator: the lengths of its lists, beside them.
  SmallVector<Level *> below;
  for (Value list : op.getLists()) {
    auto peeled = dyn_cast<ListType>(cast<ListType>(list.getType()).getPeeled());
    StringAttr name = peeled ? raggedName(peeled.getLength()) : nullptr;
    if (Level *level = name ? find(name) : nullptr; level && !llvm::is_contained(below, level)) {
      if (level->outer != op.getLength())
        return op->emitOpError("goes through lists of ragged(") << name.getValue() << ") that are not those of the arguments";
      below.push_back(level);
      extra.push_back(level->lengths);
    }
  }
  if (traversed)
    extra.push_back(find(traversed)->positions);
  // What may be re-associated without a `combine` joins elements: positions are none.
  Region *old = op.getCombineOrNull();
  bool keepsOrder = !extra.empty() && op.isReassociable() && (!old || old->empty());
  StringRef ordered = op.isScan() ? ScanLOp::getOperationName() : FoldLOp::getOperationName();
  OperationState state(op.getLoc(), keepsOrder ? ordered : op->getName().getStringRef());
  state.addOperands(lists);
  state.addOperands(extra);
  for (Value init : op.getInits())
    rest.push_back(mapping.lookup(init));
  for (Value identity : op.getIdentities())
    rest.push_back(mapping.lookup(identity));
  state.addOperands(rest);
  for (Type type : op->getResultTypes())
    state.addTypes(padded(type));
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != "operandSegmentSizes")
      state.addAttribute(attribute.getName(), attribute.getValue());
  if (!op.isMap())
    state.addAttribute("operandSegmentSizes",
                       b.getDenseI32ArrayAttr({int32_t(lists.size() + extra.size()), int32_t(op.getInits().size()),
                                               int32_t(op.getIdentities().size())}));
  Region *body = state.addRegion();
  Region *combine = op.isMap() ? nullptr : state.addRegion();
  auto *block = new Block();
  body->push_back(block);
  for (BlockArgument argument : op.getBody().getArguments())
    mapping.map(argument, block->addArgument(padded(argument.getType()), argument.getLoc()));
  auto scalar = RankedTensorType::get({}, b.getI64Type());
  DenseMap<StringAttr, Value> outside = currentLength;
  for (Level *level : below)
    currentLength[level->name] = block->addArgument(scalar, op.getLoc());
  Value position = traversed ? block->addArgument(scalar, op.getLoc()) : Value();
  OpBuilder::InsertionGuard guard(b);
  {
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToEnd(block);
    Block &from = op.getBody().front();
    if (failed(copyBlock(from, mapping)))
      return failure();
    copyYield(op, from.getTerminator(), *block, position, currentLength.lookup(traversed), mapping);
  }
  currentLength = std::move(outside);
  if (old && !old->empty())
    old->cloneInto(combine, mapping);
  Operation *made = b.create(state);
  mapping.map(op->getResults(), made->getResults());
  return success();
}

/// All operations but the terminator.
LogicalResult Padding::copyBlock(Block &from, IRMapping &mapping) {
  for (Operation &op : from.without_terminator()) {
    auto touches = [](TypeRange types) { return llvm::any_of(types, isRagged); };
    bool holds = touches(op.getOperandTypes()) || touches(op.getResultTypes());
    auto compute = dyn_cast<ComputeOp>(op);
    bool below = op.walk([&](Operation *inner) {
                    return touches(inner->getOperandTypes()) ? WalkResult::interrupt() : WalkResult::advance();
                  }).wasInterrupted();
    if (compute && (holds || below)) {
      if (failed(copyCompute(compute, mapping)))
        return failure();
      continue;
    }
    if (holds)
      return op.emitOpError("takes or gives a ragged list, which is interpreted only: expected map, folds and scans");
    b.clone(op, mapping);
  }
  return success();
}

LogicalResult Padding::run() {
  if (!llvm::any_of(function.getArgumentTypes(), isRagged))
    return success();
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return success();
  if (failed(findLevels()))
    return failure();
  Block &old = function.getBody().front();
  auto *block = new Block();
  IRMapping mapping;
  b.setInsertionPointToStart(block);
  SmallVector<BlockArgument> raggedArguments;
  for (BlockArgument argument : old.getArguments()) {
    Type type = argument.getType();
    if (auto list = dyn_cast<ListType>(type); list && list.hasRagged()) {
      // The elements one after the other.
      unsigned depth = list.getLength().getRagged() ? 0 : 1;
      SmallVector<LengthAttr> lengths = {totalOf(raggedName(list.getLengths()[depth]))};
      llvm::append_range(lengths, list.getLengths().drop_front(depth + 1));
      type = ListType::get(b.getContext(), lengths, list.getElement());
      raggedArguments.push_back(argument);
    }
    mapping.map(argument, block->addArgument(type, argument.getLoc()));
  }
  for (Level &level : levels) {
    LengthAttr longest = LengthAttr::get(level.name), total = totalOf(level.name);
    // The names are for callers of what is compiled from this.
    auto add = [&](StringRef what, Type type) {
      Location loc = NameLoc::get(b.getStringAttr(level.name.getValue() + "." + what), function.getLoc());
      return block->addArgument(type, loc);
    };
    level.index = add("index", level.outer ? listOf({level.outer, longest}) : listOf({longest}));
    level.lengths = add("lengths", level.outer ? Type(listOf({level.outer})) : Type(RankedTensorType::get({}, b.getI64Type())));
    level.positions = add("positions", listOf({longest}));
    level.rows = add("lists", listOf({total}));
    level.columns = add("places", listOf({total}));
    if (!level.outer)
      currentLength[level.name] = level.lengths;
  }
  for (BlockArgument argument : raggedArguments) {
    auto list = cast<ListType>(argument.getType());
    Level &level = *find(raggedName(list.getLengths()[list.getLength().getRagged() ? 0 : 1]));
    Value values = mapping.lookup(argument);
    mapping.map(argument, GatherOp::create(b, argument.getLoc(), values, level.index).getResult());
  }
  if (failed(copyBlock(old, mapping))) {
    block->dropAllReferences();
    delete block;
    return failure();
  }
  auto returned = cast<func::ReturnOp>(old.getTerminator());
  SmallVector<Value> results;
  for (Value operand : returned.getOperands()) {
    Value value = mapping.lookup(operand);
    auto list = dyn_cast<ListType>(operand.getType());
    results.push_back(list && list.hasRagged() ? packed(returned.getLoc(), list, value) : value);
  }
  func::ReturnOp::create(b, returned.getLoc(), results);
  SmallVector<Attribute> attributes;
  for (unsigned i = 0; i < block->getNumArguments(); ++i)
    attributes.push_back(i < function.getNumArguments() ? Attribute(function.getArgAttrDict(i)) : Attribute());
  old.erase();
  function.getBody().push_back(block);
  function.setFunctionType(b.getFunctionType(block->getArgumentTypes(), ValueRange(results).getTypes()));
  for (Attribute &attribute : attributes)
    if (!attribute)
      attribute = b.getDictionaryAttr({});
  function.setAllArgAttrs(attributes);
  return success();
}

namespace {
struct FTPadRagged : public ft::impl::FTPadRaggedBase<FTPadRagged> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (failed(Padding(function, builder).run()))
        return signalPassFailure();
  }
};
} // namespace
