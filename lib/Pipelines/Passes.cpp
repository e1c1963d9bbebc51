//===- Passes.cpp - passes that speak of phases ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contracts of phases, and what a pipeline of phases says and writes on its way.
//
//===----------------------------------------------------------------------===//
#include "PhasePasses.h"

#include "ft/Analysis/GraphVerifier.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Conversion/LoopsToGPU/LoopsToGPU.h"
#include "ft/Dialect/FT/Transforms/Passes.h"
#include "ft/Dialect/Tile/IR/AttributeNames.h"
#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Pipelines/Targets.h"
#include "ft/Support/Interrupt.h"
#include "ft/Support/WholeFile.h"
#include "ft/Validator/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTCHECKCOMPILEOPTIONS
#define GEN_PASS_DEF_FTDUMPPHASE
#define GEN_PASS_DEF_FTSKIPPHASE
#define GEN_PASS_DEF_FTVERIFYPHASE
#define GEN_PASS_DEF_TILELOWERKERNELS
#include "ft/Pipelines/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

//===----------------------------------------------------------------------===//
// Contracts
//===----------------------------------------------------------------------===//

static bool isOfFT(Type type) { return isa<FTDialect>(type.getDialect()); }

static bool isOverLists(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  return llvm::any_of(type.getInputs(), isOfFT) || llvm::any_of(type.getResults(), isOfFT);
}

/// `ft`: calls are inlined. What else is asked of functions, `ft-verify` asks.
static LogicalResult verifyFTContract(ModuleOp module) {
  bool ok = true;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!isOverLists(function))
      continue;
    function.walk([&](func::CallOp call) {
      // What has no body can't be inlined, and is refused by name later.
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        return;
      InFlightDiagnostic diag =
          call.emitError() << "phase 'ft': a function over lists calls no other, this one calls '"
                           << call.getCallee() << "' (run ft-inline)";
      diag.attachNote(callee.getLoc()) << "it is here";
      ok = false;
    });
  }
  return success(ok);
}

/// `etdg`: graphs alone, and each is one.
static LogicalResult verifyETDGContract(ModuleOp module, Phase phase) {
  bool ok = true;
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op); function && isOverLists(function)) {
      function.emitError() << "phase '" << stringifyPhase(phase)
                           << "': a function over lists has become a graph, '"
                           << function.getSymName() << "' has not";
      ok = false;
      return WalkResult::skip();
    }
    if (isa_and_nonnull<FTDialect>(op->getDialect())) {
      op->emitError() << "phase '" << stringifyPhase(phase)
                      << "': no operation of ft is left, found '" << op->getName() << "'";
      ok = false;
    }
    return WalkResult::advance();
  });
  for (auto graph : module.getOps<etdg::GraphOp>())
    ok &= succeeded(etdg::verifyGraph(graph));
  return success(ok);
}

static LogicalResult verifyContract(ModuleOp module, Phase phase) {
  switch (phase) {
  case Phase::Input:
    return success();
  case Phase::FT:
    return verifyFTContract(module);
  default:
    return verifyETDGContract(module, phase);
  }
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

namespace {
struct FTVerifyPhase : mlir::ft::impl::FTVerifyPhaseBase<FTVerifyPhase> {
  using FTVerifyPhaseBase::FTVerifyPhaseBase;
  void runOnOperation() override {
    std::optional<Phase> which = symbolizePhase(phase);
    if (!which) {
      emitError(wholeFile(getOperation().getLoc()))
          << "ft-verify-phase: expected one of " << listPhases() << ", found '" << phase << "'";
      return signalPassFailure();
    }
    bool ok = succeeded(verifyContract(getOperation(), *which));
    if (*which == Phase::FT) {
      OpPassManager pm(ModuleOp::getOperationName());
      pm.addPass(createFTVerify());
      ok &= succeeded(unlessInterrupted(runPipeline(pm, getOperation())));
    }
    if (!ok)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct FTSkipPhase : mlir::ft::impl::FTSkipPhaseBase<FTSkipPhase> {
  using FTSkipPhaseBase::FTSkipPhaseBase;
  void runOnOperation() override {
    remark::analysis(
        getOperation().getLoc(),
        remark::RemarkOpts::name("identity").category("phase").subCategory(phase.getValue()))
        << remark::reason("phase '{0}' is not built: it leaves the program as it is",
                          phase.getValue());
    markAllAnalysesPreserved();
  }
};

struct FTDumpPhase : mlir::ft::impl::FTDumpPhaseBase<FTDumpPhase> {
  using FTDumpPhaseBase::FTDumpPhaseBase;
  void runOnOperation() override {
    std::optional<Phase> which = symbolizePhase(phase);
    if (!which) {
      emitError(wholeFile(getOperation().getLoc()))
          << "ft-dump-phase: expected one of " << listPhases() << ", found '" << phase << "'";
      return signalPassFailure();
    }
    SmallString<128> path(folder.getValue());
    llvm::sys::path::append(path, std::to_string(static_cast<unsigned>(*which)) + "-" +
                                      phase.getValue() + ".mlir");
    std::error_code code;
    llvm::ToolOutputFile file(path, code, llvm::sys::fs::OF_Text);
    if (code) {
      emitError(wholeFile(getOperation().getLoc()))
          << "ft-dump-phase: can't write '" << path << "': " << code.message();
      return signalPassFailure();
    }
    // What the pipeline remembers for its own checks is no part of the program.
    Attribute snapshots = getOperation()->removeAttr(etdg::names::snapshots);
    getOperation().print(file.os());
    if (snapshots)
      getOperation()->setAttr(etdg::names::snapshots, snapshots);
    file.os() << "\n";
    file.keep();
    markAllAnalysesPreserved();
  }
};

/// In place of a pipeline whose options make none.
struct FTCheckCompileOptions : mlir::ft::impl::FTCheckCompileOptionsBase<FTCheckCompileOptions> {
  using FTCheckCompileOptionsBase::FTCheckCompileOptionsBase;
  void runOnOperation() override {
    CompileOptions options;
    options.from = from;
    options.to = to;
    options.target = target;
    options.machine = machine;
    options.dump = dump;
    options.skip = skip;
    options.lengths = lengths;
    options.steps = steps;
    options.partition = partition;
    options.validate = validate;
    options.rounding = rounding;
    std::string wrong = checkCompileOptions(options);
    if (wrong.empty())
      return markAllAnalysesPreserved();
    // No note of the whole module: the program is not what is wrong.
    Location loc = wholeFile(getOperation().getLoc());
    if (machine.empty() || succeeded(findMachine(loc, machine, "")))
      emitError(loc) << wrong;
    signalPassFailure();
  }
};

struct TileLowerKernels : mlir::ft::impl::TileLowerKernelsBase<TileLowerKernels> {
  using TileLowerKernelsBase::TileLowerKernelsBase;

  void runOnOperation() override {
    for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (!kernels->hasAttr(tile::names::target))
        continue;
      OpPassManager passes(gpu::GPUModuleOp::getOperationName());
      buildKernelsToLLVMPipeline(passes);
      if (failed(unlessInterrupted(runPipeline(passes, kernels))) || failed(checkIsLLVM(kernels)))
        return signalPassFailure();
    }
  }
};
} // namespace
