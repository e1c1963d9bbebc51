//===- Differentiate.cpp - the pass ft-differentiate ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Differentiate.h"
#include "Plan.h"

#include "ft/Dialect/FT/IR/FunctionForm.h"
#include "ft/Dialect/FT/Transforms/Passes.h"
#include "ft/Machine/FindMachine.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTDIFFERENTIATE
#include "ft/Dialect/FT/Transforms/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::differentiate;

namespace {
class FTDifferentiate : public ft::impl::FTDifferentiateBase<FTDifferentiate> {
public:
  using FTDifferentiateBase::FTDifferentiateBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    FTDifferentiateBase::getDependentDialects(registry);
    registerDifferentiableModels(registry);
  }

  void runOnOperation() override {
    func::FuncOp found = findFunction();
    if (!found || failed(verifyOneBlock(found)))
      return signalPassFailure();
    if (mode != "reverse" && mode != "forward") {
      found.emitError() << "ft-differentiate: mode is 'reverse' or 'forward', found '" << mode << "'";
      return signalPassFailure();
    }
    Request request;
    if (failed(choose(found, wrt, found.getArgumentTypes(), "wrt", "argument", request.wrt)) ||
        failed(choose(found, results, found.getResultTypes(), "results", "result", request.results)))
      return signalPassFailure();
    // What is asked for is a function beside the others, which stay as they are.
    func::FuncOp copy = found.clone();
    OpBuilder b(found->getContext());
    b.setInsertionPointAfter(found);
    b.insert(copy);
    LogicalResult done = normalize(copy);
    if (succeeded(done)) {
      copy.setSymName(found.getSymName());
      done = mode == "reverse" ? reverse(copy, request) : buildForward(copy, request);
    }
    copy.erase();
    if (failed(done))
      signalPassFailure();
  }

private:
  func::FuncOp findFunction() {
    ModuleOp module = getOperation();
    if (!function.empty()) {
      auto found = module.lookupSymbol<func::FuncOp>(function);
      if (!found || found.isExternal())
        module.emitError() << "ft-differentiate: there is no function '" << function << "' with a body";
      return found && !found.isExternal() ? found : func::FuncOp();
    }
    func::FuncOp only;
    for (auto candidate : module.getOps<func::FuncOp>()) {
      if (candidate.isExternal() || candidate.isPrivate())
        continue;
      if (only) {
        InFlightDiagnostic diag = candidate.emitError() << "ft-differentiate: the module has several functions; name one, function=NAME";
        diag.attachNote(only.getLoc()) << "another is here";
        return nullptr;
      }
      only = candidate;
    }
    if (!only)
      module.emitError() << "ft-differentiate: the module has no function with a body";
    return only;
  }

  LogicalResult reverse(func::FuncOp copy, const Request &request) {
    std::optional<Save> chosen = llvm::StringSwitch<std::optional<Save>>(save)
                                     .Case("all", Save::All)
                                     .Case("states", Save::States)
                                     .Case("auto", Save::Auto)
                                     .Default(std::nullopt);
    if (!chosen)
      return copy.emitError() << "ft-differentiate: save is 'auto', 'states' or 'all', found '" << save << "'";
    FailureOr<MachineRef> found = findMachine(copy.getLoc(), machine, "cpu");
    if (failed(found))
      return failure();
    makeChunks(copy);
    return buildReverse(copy, request, *chosen, **found);
  }

  /// The numbers that an option gives, or all that are differentiable.
  LogicalResult choose(func::FuncOp found, ArrayRef<unsigned> given, TypeRange types, StringRef option, StringRef what,
                       SmallVectorImpl<unsigned> &chosen) {
    for (unsigned number : given) {
      if (number >= types.size())
        return found.emitError() << "ft-differentiate: " << option << "=" << number << ", but '" << found.getSymName()
                                 << "' has " << types.size() << " " << what << "s";
      if (option == "wrt" && !isDifferentiableType(types[number]))
        return found.emitError() << "ft-differentiate: " << what << " " << number << " is " << types[number]
                                 << ", which has no derivative: expected floats";
      if (llvm::is_contained(chosen, number))
        return found.emitError() << "ft-differentiate: " << option << " names " << what << " " << number << " twice";
      chosen.push_back(number);
    }
    if (!given.empty())
      return success();
    for (auto [number, type] : llvm::enumerate(types))
      if (option != "wrt" || isDifferentiableType(type))
        chosen.push_back(number);
    return success();
  }
};
} // namespace
