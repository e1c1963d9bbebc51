//===- Reverse.cpp - cotangents from results to arguments -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reverse mode. Each block of the forward function has a *mirror* in the backward one, in which its operations are
// gone through from the last to the first. An operator's mirror goes through the lists of what it reads and of the
// cotangents of its results in the opposite direction: a fold whose state is the cotangent of the state.
//
//===----------------------------------------------------------------------===//
#include "Mirror.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

namespace {
/// Makes the two functions.
class Reverse {
public:
  Reverse(func::FuncOp forward, const Request &request)
      : forward(forward), request(request), activity(forward, request.wrt), residuals(forward) {}
  LogicalResult run(StringRef name);

private:
  void bindNames(func::FuncOp backward, Mirror &mirror);

  func::FuncOp forward;
  const Request &request;
  Activity activity;
  Residuals residuals;
};
} // namespace

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
  for (StringAttr name : used) {
    if (llvm::is_contained(bound, name))
      continue;
    for (BlockArgument argument : forward.getArguments())
      if (SmallVector<StringAttr> more = getBoundNames(argument.getType()); llvm::is_contained(more, name)) {
        mirror.primal(argument);
        llvm::append_range(bound, more);
        break;
      }
  }
}

/// What is specified for lengths that no argument has.
static void keepBound(func::FuncOp backward) {
  SmallVector<StringAttr> bound = getBoundNames(backward.front().getArgumentTypes());
  for (StringRef attribute : {"ft.lengths", "ft.typical"}) {
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

LogicalResult Reverse::run(StringRef name) {
  MLIRContext *context = forward.getContext();
  OpBuilder b(context);
  Block &source = forward.front();
  auto backward = func::FuncOp::create(forward.getLoc(), name, b.getFunctionType({}, {}));
  for (StringRef attribute : {"ft.bounds", "ft.lengths", "ft.typical"})
    if (Attribute value = forward->getAttr(attribute))
      backward->setAttr(attribute, value);
  b.setInsertionPointAfter(forward);
  b.insert(backward);
  Block *block = backward.addEntryBlock();
  Mirror mirror(activity, residuals, source, *block);
  Operation *end = source.getTerminator();
  for (unsigned number : request.results) {
    Value result = end->getOperand(number);
    if (isDifferentiableType(result.getType()))
      mirror.accumulate(result, block->addArgument(result.getType(), result.getLoc()));
  }
  if (failed(refuseBits(forward, activity)) || failed(mirror.reverse()))
    return failure();
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  SmallVector<Value> gradients;
  for (unsigned number : request.wrt) {
    Value argument = source.getArgument(number), found = mirror.cotangentOf(argument);
    gradients.push_back(found ? found : buildZero(inner, forward.getLoc(), argument.getType()));
  }
  func::ReturnOp::create(inner, forward.getLoc(), gradients);
  bindNames(backward, mirror);
  // The results that were not asked for are none of the forward function's.
  SmallVector<Value> results;
  for (unsigned number : request.results)
    results.push_back(end->getOperand(number));
  end->setOperands(results);
  keepBound(backward);
  SmallVector<Attribute> origins;
  for (const std::string &origin : residuals.finish())
    origins.push_back(b.getStringAttr(origin));
  backward->setAttr("ft.residuals", b.getArrayAttr(origins));
  backward.setFunctionType(b.getFunctionType(block->getArgumentTypes(), ValueRange(gradients).getTypes()));
  return success();
}

LogicalResult differentiate::buildReverse(func::FuncOp function, const Request &request) {
  func::FuncOp forward = function.clone();
  std::string name = function.getSymName().str();
  forward.setSymName(name + "_forward");
  OpBuilder b(function->getContext());
  b.setInsertionPointAfter(function);
  b.insert(forward);
  return Reverse(forward, request).run(name + "_backward");
}
