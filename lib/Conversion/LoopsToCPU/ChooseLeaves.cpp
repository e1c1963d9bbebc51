//===- ChooseLeaves.cpp - what is decided of how a core computes a leaf ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four passes, each with one decision, which it writes where a leaf says nothing of it: the tiles and vectors of loop nests, their order, by
// which flags some are left out, and where their values lie. Each reads what those before it have written, or what is given.
//
//===----------------------------------------------------------------------===//
#include "LeafDecisions.h"
#include "Spmd.h"

#include "ft/Conversion/LoopsToCPU/LoopsToCPU.h"
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Machine/FindMachine.h"

#include "mlir/IR/Remarks.h"

namespace mlir::ft {
#define GEN_PASS_DEF_LOOPSCHOOSEGUARDS
#define GEN_PASS_DEF_LOOPSCHOOSEROWLOOPS
#define GEN_PASS_DEF_LOOPSCHOOSETILES
#define GEN_PASS_DEF_LOOPSPLACESCRATCH
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

using IsSaid = llvm::function_ref<bool(const LeafDecisions &)>;
using Decide = llvm::function_ref<LogicalResult(loops::LeafOp leaf, func::FuncOp function, const LeafOptions &options)>;

/// Lets `decide` look at the leaves of a module that do not say it, each as a function of tensors.
static LogicalResult decideLeaves(ModuleOp module, IsSaid isSaid, Decide decide) {
  module.getContext()->loadDialect<LLVM::LLVMDialect>();
  SmallVector<loops::LeafOp> leaves;
  module.walk([&](loops::LeafOp leaf) {
    if (!isSaid(decisionsOf(leaf)))
      leaves.push_back(leaf);
  });
  OpBuilder builder(module.getContext());
  for (loops::LeafOp leaf : leaves) {
    func::FuncOp function = outlineLeaf(builder, leaf);
    FailureOr<LeafOptions> options = optionsOf(leaf, function);
    LogicalResult decided = failed(options) ? failure() : decide(leaf, function, *options);
    function.erase();
    if (failed(decided))
      return failure();
  }
  return success();
}

/// The order that a leaf says; none of one without loop nests.
static RowLoops orderOf(loops::LeafOp leaf) { return decisionsOf(leaf).getRowLoops().value_or(RowLoops()); }

LogicalResult mlir::ft::chooseLeafTiles(ModuleOp module, const CpuTarget &target) {
  auto choose = [&](loops::LeafOp leaf, func::FuncOp function, const LeafOptions &options) -> LogicalResult {
    if (loops::roundsSums(leaf))
      remark::missed(leaf.getLoc(), remark::RemarkOpts::name("rounded-sums").category("cpu"))
          << "sums of f16 or bf16 are rounded at each step, as it does not say sums f32: they are no products in register tiles";
    FailureOr<NestTiles> tiles = chooseNestTiles(function, options, target);
    if (failed(tiles))
      return failure();
    ArrayAttr layouts = toLayouts(leaf.getContext(), *tiles);
    layouts ? leaf.setLayoutsAttr(layouts) : (void)leaf.removeLayoutsAttr();
    return success();
  };
  return decideLeaves(module, [](const LeafDecisions &said) { return said.hasLayouts(); }, choose);
}

LogicalResult mlir::ft::chooseLeafRowLoops(ModuleOp module) {
  auto choose = [](loops::LeafOp leaf, func::FuncOp function, const LeafOptions &options) -> LogicalResult {
    FailureOr<RowLoops> order = chooseNestOrder(function, options);
    if (failed(order))
      return failure();
    leaf->setAttr(loops::names::rowLoops, toRowLoops(leaf.getContext(), *order));
    return success();
  };
  return decideLeaves(module, [](const LeafDecisions &said) { return bool(said.rowLoops); }, choose);
}

LogicalResult mlir::ft::chooseLeafGuards(ModuleOp module) {
  auto choose = [](loops::LeafOp leaf, func::FuncOp function, const LeafOptions &options) -> LogicalResult {
    FailureOr<SmallVector<NestGuard>> guards = chooseNestGuards(function, options, orderOf(leaf));
    if (failed(guards))
      return failure();
    if (ArrayAttr list = toGuards(leaf.getContext(), *guards))
      leaf->setAttr(loops::names::guards, list);
    return success();
  };
  return decideLeaves(module, [](const LeafDecisions &said) { return bool(said.guards); }, choose);
}

LogicalResult mlir::ft::placeLeafScratch(ModuleOp module) {
  auto choose = [](loops::LeafOp leaf, func::FuncOp function, const LeafOptions &options) -> LogicalResult {
    FailureOr<ScratchPlaces> places = chooseNestPlaces(function, options, orderOf(leaf));
    if (failed(places))
      return failure();
    if (ArrayAttr list = toScratch(leaf.getContext(), *places))
      leaf.setScratchAttr(list);
    return success();
  };
  return decideLeaves(module, [](const LeafDecisions &said) { return bool(said.scratch); }, choose);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// This machine's processor, but for what options say.
static CpuTarget processorOf(unsigned vectorBytes, unsigned vectorRegisters) {
  CpuTarget processor = CpuTarget::host();
  if (vectorBytes)
    processor.vectorBytes = vectorBytes;
  if (vectorRegisters)
    processor.vectorRegisters = vectorRegisters;
  return processor;
}

namespace {
struct LoopsChooseTiles : mlir::ft::impl::LoopsChooseTilesBase<LoopsChooseTiles> {
  using LoopsChooseTilesBase::LoopsChooseTilesBase;
  void runOnOperation() override {
    CpuTarget processor = processorOf(vectorBytes, vectorRegisters);
    FailureOr<MachineRef> planned = findMachine(getOperation().getLoc(), machine, "cpu", Machine::Kind::CPU);
    if (failed(planned))
      return signalPassFailure();
    processor.planFor(**planned);
    if (failed(chooseLeafTiles(getOperation(), processor)))
      signalPassFailure();
  }
};

struct LoopsChooseRowLoops : mlir::ft::impl::LoopsChooseRowLoopsBase<LoopsChooseRowLoops> {
  using LoopsChooseRowLoopsBase::LoopsChooseRowLoopsBase;
  void runOnOperation() override {
    if (failed(chooseLeafRowLoops(getOperation())))
      signalPassFailure();
  }
};

struct LoopsChooseGuards : mlir::ft::impl::LoopsChooseGuardsBase<LoopsChooseGuards> {
  using LoopsChooseGuardsBase::LoopsChooseGuardsBase;
  void runOnOperation() override {
    if (failed(chooseLeafGuards(getOperation())))
      signalPassFailure();
  }
};

struct LoopsPlaceScratch : mlir::ft::impl::LoopsPlaceScratchBase<LoopsPlaceScratch> {
  using LoopsPlaceScratchBase::LoopsPlaceScratchBase;
  void runOnOperation() override {
    if (failed(placeLeafScratch(getOperation())))
      signalPassFailure();
  }
};
} // namespace
