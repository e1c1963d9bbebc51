//===- ReduceSteps.cpp - changes that make a program smaller --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every place is found again by its number, for each change is tried on a copy.
//
//===----------------------------------------------------------------------===//
#include "Reducer.h"

#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tools;

//===----------------------------------------------------------------------===//
// Values that may stand for others
//===----------------------------------------------------------------------===//

/// Zeros of a type; null where it has none, or they need names that are not bound here.
static Value makeZero(OpBuilder &builder, Location loc, Type type) {
  if (auto list = dyn_cast<ListType>(type)) {
    Value value = list.hasRagged() ? Value() : makeZero(builder, loc, list.getElement());
    for (LengthAttr length : llvm::reverse(list.getLengths()))
      value = value ? RepeatOp::create(builder, loc, value, length).getResult() : Value();
    return value;
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor ? !tensor.hasStaticShape() || !tensor.getElementType().isIntOrIndexOrFloat() : !type.isIntOrIndexOrFloat())
    return {};
  auto zero = dyn_cast_or_null<TypedAttr>(builder.getZeroAttr(type));
  return zero ? arith::ConstantOp::create(builder, loc, zero).getResult() : Value();
}

/// An operand of the type, else what stands before in this block or around it.
static Value findEarlier(Operation *op, Type type) {
  for (Value operand : op->getOperands())
    if (operand.getType() == type)
      return operand;
  for (Operation *at = op; at && !at->hasTrait<OpTrait::IsIsolatedFromAbove>(); at = at->getParentOp()) {
    Block *block = at->getBlock();
    if (!block)
      break;
    for (Operation *before = at->getPrevNode(); before; before = before->getPrevNode())
      for (Value result : before->getResults())
        if (result.getType() == type)
          return result;
    for (Value argument : block->getArguments())
      if (argument.getType() == type)
        return argument;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static bool isConstant(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); }

static std::vector<Operation *> statementsOf(ModuleOp module) {
  std::vector<Operation *> found;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module && !isa<SymbolOpInterface>(op) && !op->hasTrait<OpTrait::IsTerminator>())
      found.push_back(op);
  });
  return found;
}

static size_t countStatements(ModuleOp module) { return statementsOf(module).size(); }

/// Erases the statements for whose results `replace` finds other values.
static bool eraseStatements(ModuleOp module, size_t begin, size_t end,
                            llvm::function_ref<Value(OpBuilder &, OpResult)> replace) {
  std::vector<Operation *> statements = statementsOf(module);
  bool any = false;
  for (size_t i = end; i-- > begin;) {
    Operation *op = statements[i];
    OpBuilder builder(op);
    SmallVector<Value> values;
    for (OpResult result : op->getResults())
      values.push_back(result.use_empty() ? Value(result) : replace(builder, result));
    if (llvm::is_contained(values, Value()))
      continue; // zeros that were made for other results are dead, and go another time
    for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
      if (value != result)
        result.replaceAllUsesWith(value);
    op->erase();
    any = true;
  }
  return any;
}

static bool replaceByEarlier(ModuleOp module, size_t begin, size_t end) {
  return eraseStatements(module, begin, end, [](OpBuilder &, OpResult result) {
    return findEarlier(result.getOwner(), result.getType());
  });
}

static bool replaceByZero(ModuleOp module, size_t begin, size_t end) {
  return eraseStatements(module, begin, end, [](OpBuilder &builder, OpResult result) {
    Operation *op = result.getOwner();
    // A zero in the place of a constant is one more.
    return isConstant(op) ? Value() : makeZero(builder, op->getLoc(), result.getType());
  });
}

/// Puts the body of an operation into its place, once: its arguments are operands of the same types, or
/// zeros, and its terminator gives the results.
static bool inlineBody(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (!region.hasOneBlock() || region.front().empty())
      continue;
    Block &body = region.front();
    Operation *terminator = body.getTerminator();
    if (op->getNumResults() == 0 || terminator->getNumOperands() < op->getNumResults() ||
        terminator->getOperands().take_front(op->getNumResults()).getTypes() != TypeRange(op->getResultTypes()))
      continue;
    OpBuilder builder(op);
    IRMapping mapping;
    SmallVector<Value> free(op->getOperands());
    for (BlockArgument argument : body.getArguments()) {
      auto *same = llvm::find_if(free, [&](Value v) { return v.getType() == argument.getType(); });
      Value value = same != free.end() ? *same : makeZero(builder, op->getLoc(), argument.getType());
      if (!value)
        return false;
      mapping.map(argument, value);
    }
    for (Operation &inner : body.without_terminator())
      builder.clone(inner, mapping);
    for (OpResult result : op->getResults())
      result.replaceAllUsesWith(mapping.lookupOrDefault(terminator->getOperand(result.getResultNumber())));
    op->erase();
    return true;
  }
  return false;
}

static bool inlineBodies(ModuleOp module, size_t begin, size_t end) {
  std::vector<Operation *> statements = statementsOf(module);
  bool any = false;
  for (size_t i = end; i-- > begin;)
    any |= inlineBody(statements[i]);
  return any;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static std::vector<Operation *> symbolsOf(ModuleOp module) {
  std::vector<Operation *> found;
  for (Operation &op : *module.getBody())
    if (isa<SymbolOpInterface>(op))
      found.push_back(&op);
  return found;
}

static size_t countSymbols(ModuleOp module) { return symbolsOf(module).size(); }

static bool eraseSymbols(ModuleOp module, size_t begin, size_t end) {
  std::vector<Operation *> symbols = symbolsOf(module);
  for (size_t i = end; i-- > begin;)
    symbols[i]->erase();
  return begin < end;
}

namespace {
/// A result or argument of a function.
struct Port {
  FunctionOpInterface function;
  unsigned number;
};
} // namespace

/// Of functions that nothing calls.
static std::vector<Port> portsOf(ModuleOp module, bool results) {
  std::vector<Port> found;
  for (Operation *op : symbolsOf(module)) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || function.isExternal() || !SymbolTable::symbolKnownUseEmpty(op, module))
      continue;
    for (unsigned i = 0, e = results ? function.getNumResults() : function.getNumArguments(); i < e; ++i)
      found.push_back({function, i});
  }
  return found;
}

static size_t countResults(ModuleOp module) { return portsOf(module, true).size(); }
static size_t countArguments(ModuleOp module) { return portsOf(module, false).size(); }

static bool eraseResults(ModuleOp module, size_t begin, size_t end) {
  std::vector<Port> ports = portsOf(module, true);
  for (size_t i = end; i-- > begin;) {
    auto [function, number] = ports[i];
    llvm::BitVector which(function.getNumResults());
    which.set(number);
    for (Block &block : function.getFunctionBody())
      if (!block.empty() && block.back().hasTrait<OpTrait::ReturnLike>() && block.back().getNumOperands() == which.size())
        block.back().eraseOperand(number);
    if (failed(function.eraseResults(which)))
      return false;
  }
  return begin < end;
}

static bool eraseArguments(ModuleOp module, size_t begin, size_t end) {
  std::vector<Port> ports = portsOf(module, false);
  bool any = false;
  for (size_t i = end; i-- > begin;) {
    auto [function, number] = ports[i];
    BlockArgument argument = function.getArgument(number);
    if (!argument.use_empty()) {
      OpBuilder builder = OpBuilder::atBlockBegin(&function.getFunctionBody().front());
      Value zero = makeZero(builder, argument.getLoc(), argument.getType());
      if (!zero)
        continue;
      argument.replaceAllUsesWith(zero);
    }
    llvm::BitVector which(function.getNumArguments());
    which.set(number);
    if (failed(function.eraseArguments(which)))
      return false;
    any = true;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

static std::vector<cf::CondBranchOp> branchesOf(ModuleOp module) {
  std::vector<cf::CondBranchOp> found;
  module.walk([&](cf::CondBranchOp op) { found.push_back(op); });
  return found;
}

static void eraseUnreachable(ModuleOp module) {
  module.walk([](Operation *op) {
    for (Region &region : op->getRegions()) {
      llvm::SetVector<Block *> reached;
      if (!region.empty())
        reached.insert(&region.front());
      for (size_t i = 0; i < reached.size(); ++i)
        reached.insert_range(reached[i]->getSuccessors());
      SmallVector<Block *> others;
      for (Block &block : region)
        if (!reached.contains(&block))
          others.push_back(&block);
      for (Block *block : others)
        block->dropAllDefinedValueUses();
      for (Block *block : others)
        block->erase();
    }
  });
}

/// Two places of each branch: one for each way.
static size_t countWays(ModuleOp module) { return 2 * branchesOf(module).size(); }

static bool takeWays(ModuleOp module, size_t begin, size_t end) {
  std::vector<cf::CondBranchOp> branches = branchesOf(module);
  if (end != begin + 1)
    return false; // both ways of one branch are none
  cf::CondBranchOp op = branches[begin / 2];
  OpBuilder builder(op);
  bool first = begin % 2 == 0;
  cf::BranchOp::create(builder, op.getLoc(), first ? op.getTrueDest() : op.getFalseDest(),
                       first ? op.getTrueDestOperands() : op.getFalseDestOperands());
  op.erase();
  eraseUnreachable(module);
  return true;
}

/// Branches to a block that has no other.
static std::vector<cf::BranchOp> joinsOf(ModuleOp module) {
  std::vector<cf::BranchOp> found;
  module.walk([&](cf::BranchOp op) {
    if (op.getDest()->getSinglePredecessor() && op.getDest() != op->getBlock() && !op.getDest()->isEntryBlock())
      found.push_back(op);
  });
  return found;
}

static size_t countJoins(ModuleOp module) { return joinsOf(module).size(); }

/// The block that is branched to becomes the rest of the one before.
static bool joinBlocks(ModuleOp module, size_t begin, size_t end) {
  std::vector<cf::BranchOp> joins = joinsOf(module);
  for (size_t i = end; i-- > begin;) {
    Block *before = joins[i]->getBlock(), *after = joins[i].getDest();
    for (auto [argument, value] : llvm::zip_equal(after->getArguments(), joins[i].getDestOperands()))
      argument.replaceAllUsesWith(value);
    joins[i].erase();
    before->getOperations().splice(before->end(), after->getOperations());
    after->erase();
  }
  return begin < end;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// Constant extents of tensors and lists beyond 1, each once.
static std::vector<int64_t> extentsOf(ModuleOp module) {
  std::set<int64_t> found;
  AttrTypeWalker walker;
  walker.addWalk([&](RankedTensorType type) {
    for (int64_t size : type.getShape())
      if (size > 1)
        found.insert(size);
  });
  walker.addWalk([&](LengthAttr length) {
    if (std::optional<int64_t> size = length.getConstant(); size && *size > 1)
      found.insert(*size);
  });
  module.walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
  });
  return {found.begin(), found.end()};
}

static size_t countExtents(ModuleOp module) { return 2 * extentsOf(module).size(); }

/// One extent becomes 1 (even places) or its half, everywhere.
static bool shrinkExtent(ModuleOp module, size_t begin, size_t end) {
  if (end != begin + 1)
    return false;
  int64_t from = extentsOf(module)[begin / 2], to = begin % 2 == 0 ? 1 : from / 2;
  if (from == 2 && begin % 2 != 0)
    return false;
  auto shrunk = [&](ArrayRef<int64_t> shape) {
    return llvm::map_to_vector(shape, [&](int64_t size) { return size == from ? to : size; });
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    return RankedTensorType::get(shrunk(type.getShape()), type.getElementType(), type.getEncoding());
  });
  replacer.addReplacement([&](LengthAttr length) -> std::optional<Attribute> {
    return length.getConstant() == from ? LengthAttr::get(length.getContext(), to) : length;
  });
  // One number everywhere has a shape like any other; numbers that differ lose the last ones.
  replacer.addReplacement([&](DenseElementsAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
    auto type = dyn_cast<RankedTensorType>(attr.getType());
    if (!type)
      return std::make_pair(Attribute(attr), WalkResult::skip());
    auto smaller = RankedTensorType::get(shrunk(type.getShape()), type.getElementType());
    if (smaller == type)
      return std::make_pair(Attribute(attr), WalkResult::skip());
    SmallVector<Attribute> values;
    for (Attribute value : attr.getValues<Attribute>())
      if (static_cast<int64_t>(values.size()) < smaller.getNumElements())
        values.push_back(value);
    return std::make_pair(Attribute(DenseElementsAttr::get(smaller, values)), WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  return true;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static std::vector<std::pair<Operation *, StringAttr>> attributesOf(ModuleOp module) {
  std::vector<std::pair<Operation *, StringAttr>> found;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      found.push_back({op, attribute.getName()});
  });
  return found;
}

static size_t countAttributes(ModuleOp module) { return attributesOf(module).size(); }

static bool eraseAttributes(ModuleOp module, size_t begin, size_t end) {
  auto attributes = attributesOf(module);
  for (size_t i = end; i-- > begin;)
    attributes[i].first->removeDiscardableAttr(attributes[i].second);
  return begin < end;
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

ArrayRef<ReduceStep> tools::getReduceSteps() {
  static const ReduceStep steps[] = {
      {"symbols", countSymbols, eraseSymbols},
      {"results", countResults, eraseResults},
      {"statements by earlier values", countStatements, replaceByEarlier},
      {"statements by zeros", countStatements, replaceByZero},
      {"bodies", countStatements, inlineBodies},
      {"branches", countWays, takeWays},
      {"joins", countJoins, joinBlocks},
      {"arguments", countArguments, eraseArguments},
      {"extents", countExtents, shrinkExtent},
      {"attributes", countAttributes, eraseAttributes},
  };
  return steps;
}

ReduceSize tools::sizeOf(ModuleOp module) {
  ReduceSize size{};
  module.walk([&](Operation *op) {
    if (op == module)
      return;
    ++size[isConstant(op) ? 3 : 0];
    size[4] += op->getDiscardableAttrs().empty() ? 0 : std::distance(op->getDiscardableAttrs().begin(), op->getDiscardableAttrs().end());
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      size[1] += function.getNumArguments() + function.getNumResults();
  });
  for (int64_t extent : extentsOf(module))
    size[2] += extent;
  return size;
}
