//===- Reverse.cpp - cotangents from results to arguments -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reverse mode. Each block of the forward function has a *mirror* in the backward one, in which its operations are
// gone through from the last to the first. An operator's mirror goes through the lists of what it reads and of the
// cotangents of its results in the opposite direction: a fold whose state is the cotangent of the state.
//
//===----------------------------------------------------------------------===//
#include "Mirror.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FTForms.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

namespace {
/// Makes the two functions.
class Reverse {
public:
  Reverse(func::FuncOp forward, const Request &request, const Plan &plan)
      : forward(forward), request(request), plan(plan), activity(forward, request.wrt), residuals(forward) {}
  /// `isTrial` ends where all vjps are built: neither function is whole then.
  LogicalResult run(StringRef name, bool isTrial = false);
  const AdjointReads &getReads() const { return reads; }

private:
  void bindNames(func::FuncOp backward, Mirror &mirror);
  void addGroups(func::FuncOp backward);

  func::FuncOp forward;
  const Request &request;
  const Plan &plan;
  Activity activity;
  Residuals residuals;
  AdjointReads reads;
  SmallVector<std::string> groupOrigins; // of arguments after the residuals: "order 2", "ends 2"
};
} // namespace

/// The argument that binds a name; rather one whose type has no name beside those that are bound.
static BlockArgument findBinding(ArrayRef<BlockArgument> arguments, StringAttr name, ArrayRef<StringAttr> bound) {
  BlockArgument found;
  for (BlockArgument argument : arguments) {
    SmallVector<StringAttr> own = getBoundNames(argument.getType());
    if (!llvm::is_contained(own, name))
      continue;
    bool isEnough = true;
    AttrTypeWalker walker;
    walker.addWalk([&](LengthAttr length) {
      for (StringAttr used : length.getNames())
        isEnough &= llvm::is_contained(own, used) || llvm::is_contained(bound, used);
    });
    walker.walk(argument.getType());
    if (isEnough)
      return argument;
    if (!found)
      found = argument;
  }
  return found;
}

/// Every name that a function uses is bound by an argument: one of the forward function's is kept where none does.
void Reverse::bindNames(func::FuncOp backward, Mirror &mirror) {
  SmallVector<StringAttr> bound = getBoundNames(backward.front().getArgumentTypes());
  llvm::SetVector<StringAttr> used;
  AttrTypeWalker walker;
  walker.addWalk([&](LengthAttr length) { used.insert(length.getNames().begin(), length.getNames().end()); });
  backward.walk([&](Operation *op) {
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      walker.walk(type);
    walker.walk(op->getAttrDictionary());
  });
  for (Type type : backward.front().getArgumentTypes())
    walker.walk(type);
  SmallVector<BlockArgument> arguments(forward.getArguments());
  // (What is kept may use further names.)
  for (size_t i = 0; i < used.size(); ++i) {
    if (llvm::is_contained(bound, used[i]))
      continue;
    if (BlockArgument argument = findBinding(arguments, used[i], bound)) {
      mirror.primal(argument);
      llvm::append_range(bound, getBoundNames(argument.getType()));
      walker.walk(argument.getType());
    }
  }
}

/// The groups of an index list that is an argument become arguments: the caller sorts.
void Reverse::addGroups(func::FuncOp backward) {
  Block &block = backward.front();
  unsigned place = residuals.getAll().size();
  DenseMap<std::tuple<unsigned, Type, unsigned>, Value> made;
  SmallVector<GroupOp> groups;
  backward.walk([&](GroupOp op) { groups.push_back(op); });
  for (GroupOp op : groups) {
    auto list = cast<BlockArgument>(op.getIndices());
    auto origin = dyn_cast<BlockArgument>(residuals.getAll()[list.getArgNumber()]);
    if (!origin)
      continue;
    unsigned number = origin.getArgNumber();
    for (Value result : {op.getOrder(), op.getEnds()}) {
      bool isOrder = result == op.getOrder();
      Value &argument = made[{number, result.getType(), isOrder ? 1 : 0}];
      if (!argument) {
        argument = block.insertArgument(place++, result.getType(), op.getLoc());
        groupOrigins.push_back((isOrder ? "order " : "ends ") + std::to_string(number));
      }
      result.replaceAllUsesWith(argument);
    }
    op.erase();
  }
}

/// What is specified for lengths that no argument has.
static void keepBound(func::FuncOp backward) {
  SmallVector<StringAttr> bound = getBoundNames(backward.front().getArgumentTypes());
  for (StringRef attribute : {mlir::ft::names::lengths, mlir::ft::names::typical}) {
    auto table = backward->getAttrOfType<DictionaryAttr>(attribute);
    if (!table)
      continue;
    SmallVector<NamedAttribute> kept;
    for (NamedAttribute entry : table)
      if (llvm::is_contained(bound, entry.getName()))
        kept.push_back(entry);
    backward->setAttr(attribute, DictionaryAttr::get(backward.getContext(), kept));
  }
}

LogicalResult Reverse::run(StringRef name, bool isTrial) {
  MLIRContext *context = forward.getContext();
  OpBuilder b(context);
  Block &source = forward.front();
  auto backward = func::FuncOp::create(forward.getLoc(), name, b.getFunctionType({}, {}));
  for (StringRef attribute : {mlir::ft::names::bounds, mlir::ft::names::lengths, mlir::ft::names::typical})
    if (Attribute value = forward->getAttr(attribute))
      backward->setAttr(attribute, value);
  b.setInsertionPointAfter(forward);
  b.insert(backward);
  Block *block = backward.addEntryBlock();
  Context shared{activity, residuals, plan, reads};
  Mirror mirror(shared, source, *block);
  Operation *end = source.getTerminator();
  for (unsigned number : request.results) {
    Value result = end->getOperand(number);
    if (isDifferentiableType(result.getType()))
      mirror.accumulate(result, block->addArgument(result.getType(), result.getLoc()));
  }
  if (failed(refuseBits(forward, activity)) || failed(mirror.reverse()))
    return failure();
  if (isTrial)
    return success();
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  SmallVector<Value> gradients;
  for (unsigned number : request.wrt) {
    Value argument = source.getArgument(number), found = mirror.cotangentOf(argument);
    gradients.push_back(found ? found : buildZero(inner, forward.getLoc(), argument.getType()));
  }
  func::ReturnOp::create(inner, forward.getLoc(), gradients);
  bindNames(backward, mirror);
  addGroups(backward);
  // The results that were not asked for are none of the forward function's.
  SmallVector<Value> results;
  for (unsigned number : request.results)
    results.push_back(end->getOperand(number));
  end->setOperands(results);
  keepBound(backward);
  SmallVector<Attribute> origins;
  SmallVector<std::string> all = residuals.finish();
  llvm::append_range(all, groupOrigins);
  for (const std::string &origin : all)
    origins.push_back(b.getStringAttr(origin));
  backward->setAttr(mlir::ft::names::residuals, b.getArrayAttr(origins));
  backward.setFunctionType(b.getFunctionType(block->getArgumentTypes(), ValueRange(gradients).getTypes()));
  return success();
}

/// What vjps read: found by building all of them, for a copy where everything is saved.
static FailureOr<AdjointReads> findReads(func::FuncOp function, const Request &request) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(function.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(scratch->getBody());
  IRMapping mapping;
  auto copy = cast<func::FuncOp>(b.clone(*function, mapping));
  DenseMap<Value, Value> original;
  for (auto [from, to] : mapping.getValueMap())
    original[to] = from;
  DenseMap<Block *, Block *> originalBlocks;
  for (auto [from, to] : mapping.getBlockMap())
    originalBlocks[to] = from;
  Plan none;
  Reverse trial(copy, request, none);
  if (failed(trial.run("backward", true)))
    return failure();
  AdjointReads reads;
  for (auto &[block, values] : trial.getReads())
    for (llvm::SetVector<Value> &own = reads[originalBlocks.lookup(block)]; Value value : values)
      own.insert(original.lookup(value));
  return reads;
}

LogicalResult differentiate::buildReverse(func::FuncOp function, const Request &request, Save save,
                                          const Machine &machine) {
  func::FuncOp forward = function.clone();
  std::string name = function.getSymName().str();
  forward.setSymName(name + "_forward");
  OpBuilder b(function->getContext());
  b.setInsertionPointAfter(function);
  b.insert(forward);
  FailureOr<AdjointReads> reads = findReads(forward, request);
  if (failed(reads))
    return failure();
  Plan plan(forward, *reads, save, Prices(forward, machine));
  return Reverse(forward, request, plan).run(name + "_backward");
}
