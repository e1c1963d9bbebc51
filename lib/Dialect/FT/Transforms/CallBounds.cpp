//===- CallBounds.cpp - what a call must guarantee ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CallBounds.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"

using namespace mlir;
using namespace mlir::ft;

static bool holdsList(Type type) {
  if (isa<ListType>(type))
    return true;
  auto tuple = dyn_cast<TupleType>(type);
  return tuple && llvm::any_of(tuple.getTypes(), holdsList);
}

bool mlir::ft::isListFunction(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  if (llvm::any_of(type.getInputs(), holdsList) || llvm::any_of(type.getResults(), holdsList))
    return true;
  return function
      .walk([](Operation *op) {
        return isa_and_nonnull<FTDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                            : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult mlir::ft::verifyCallBounds(func::CallOp call, func::FuncOp callee) {
  auto bounds = callee->getAttrOfType<BoundsAttr>(ft::names::bounds);
  if (!bounds)
    return success();
  LogicalResult result = success();
  for (LengthAttr bound : bounds.getNonNegative()) {
    if (isProvablyNonNegative(call, bound))
      continue;
    InFlightDiagnostic diag = call.emitOpError("(V2) call of '")
                              << callee.getSymName() << "' needs " << inequalityStr(bound)
                              << ": add it to ft.bounds of the caller";
    diag.attachNote(callee.getLoc()) << "the callee has " << bounds;
    if (BoundsAttr own = getBoundsAt(call))
      diag.attachNote(call->getParentOfType<FunctionOpInterface>().getLoc())
          << "the caller has " << own;
    result = diag;
  }
  return result;
}

/// Depth-first; `path` is the stack of calls.
static LogicalResult visit(func::FuncOp function, func::FuncOp start,
                           SmallVectorImpl<func::CallOp> &path, DenseSet<Operation *> &seen,
                           SymbolTableCollection &symbols) {
  if (!seen.insert(function).second)
    return success();
  WalkResult walked = function.walk([&](func::CallOp call) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee)
      return WalkResult::advance();
    path.push_back(call);
    if (callee == start) {
      InFlightDiagnostic diag = call.emitOpError("(V2) calls '")
                                << start.getSymName()
                                << "' from inside of it: a program of lists has a finite nest";
      diag.attachNote(start.getLoc()) << "'" << start.getSymName() << "' is here";
      for (func::CallOp step : ArrayRef(path).drop_back())
        diag.attachNote(step.getLoc()) << "by the call of '" << step.getCallee() << "' here";
      return WalkResult::interrupt();
    }
    if (failed(visit(callee, start, path, seen, symbols)))
      return WalkResult::interrupt();
    path.pop_back();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult mlir::ft::verifyNoRecursion(func::FuncOp function, SymbolTableCollection &symbols) {
  SmallVector<func::CallOp> path;
  DenseSet<Operation *> seen;
  return visit(function, function, path, seen, symbols);
}
