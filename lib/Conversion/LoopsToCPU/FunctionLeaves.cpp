//===- FunctionLeaves.cpp - functions of tensors as leaves ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that is marked `ft.leaf` becomes loops on rows of memrefs: first it is said how a core computes it (`ft-choose-leaf`), in the
// attributes that a `loops.leaf` has for that, then code is made that does so (`ft-generate-leaf`).
//
//===----------------------------------------------------------------------===//
#include "LeafDecisions.h"

#include "ft/Conversion/LoopsToCPU/LoopsToCPU.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Machine/CpuTarget.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTCHOOSELEAF
#define GEN_PASS_DEF_FTGENERATELEAF
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

static SmallVector<func::FuncOp> leavesOf(ModuleOp module) {
  return llvm::to_vector(llvm::make_filter_range(module.getOps<func::FuncOp>(), [](func::FuncOp function) { return function->hasAttr(mlir::ft::names::leaf); }));
}

/// A list that a function has; an error at it where it is another one.
template <typename... Kinds>
static LogicalResult readList(func::FuncOp function, StringRef name, StringRef expected, ArrayAttr &list) {
  Attribute said = function->getAttr(name);
  list = dyn_cast_or_null<ArrayAttr>(said);
  if (!said || (list && llvm::all_of(list, llvm::IsaPred<Kinds...>)))
    return success();
  return function.emitError("'") << name << "': expected a list of " << expected << ", found " << said;
}

static LogicalResult readDecisions(func::FuncOp function, LeafDecisions &said) {
  return success(
      succeeded(readList<loops::ProductAttr, loops::LanesAttr, loops::JoinedAttr>(
          function, mlir::ft::names::leafLayouts, "#loops.product, #loops.lanes and #loops.joined", said.layouts)) &&
      succeeded(readList<loops::ScratchAttr>(function, mlir::ft::names::leafScratch, "#loops.scratch", said.scratch)) &&
      succeeded(readList<DenseI64ArrayAttr>(function, mlir::ft::names::leafRowLoops, "lists of loop nests", said.rowLoops)) &&
      succeeded(readList<loops::GuardAttr>(function, mlir::ft::names::leafGuards, "#loops.guard", said.guards)));
}

/// How the function is called, and what it says of how it is computed.
static FailureOr<LeafOptions> optionsOf(func::FuncOp function, LeafDecisions &said) {
  if (failed(readDecisions(function, said)))
    return failure();
  LeafOptions options;
  auto read = [&](StringRef name, SmallVectorImpl<bool> &flags) {
    if (auto array = function->getAttrOfType<DenseBoolArrayAttr>(name))
      flags.assign(array.asArrayRef().begin(), array.asArrayRef().end());
  };
  read(mlir::ft::names::leafBatched, options.batched);
  read(mlir::ft::names::leafAliases, options.aliasesOutput);
  if (auto sums = function->getAttrOfType<TypeAttr>(mlir::ft::names::leafSums))
    options.sums = sums.getValue();
  options.listed = function->hasAttr(mlir::ft::names::leafListed);
  said.fill(options);
  return options;
}

namespace {
struct FTChooseLeaf : mlir::ft::impl::FTChooseLeafBase<FTChooseLeaf> {
  using FTChooseLeafBase::FTChooseLeafBase;
  void runOnOperation() override {
    CpuTarget processor = CpuTarget::host();
    if (vectorBytes)
      processor.vectorBytes = vectorBytes;
    if (vectorRegisters)
      processor.vectorRegisters = vectorRegisters;
    for (func::FuncOp function : leavesOf(getOperation())) {
      LeafDecisions said;
      FailureOr<LeafOptions> options = optionsOf(function, said);
      if (failed(options))
        return signalPassFailure();
      if (said.isComplete())
        continue;
      FailureOr<LeafPlan> plan = planLeaf(function, *options, processor, said.getRowLoops());
      if (failed(plan))
        return signalPassFailure();
      LeafDecisions all = said.completedBy(&getContext(), *plan);
      for (auto [name, list] :
           {std::pair(mlir::ft::names::leafLayouts, all.layouts), {mlir::ft::names::leafScratch, all.scratch}, {mlir::ft::names::leafRowLoops, all.rowLoops}, {mlir::ft::names::leafGuards, all.guards}})
        if (list)
          function->setAttr(name, list);
    }
  }
};

struct FTGenerateLeaf : mlir::ft::impl::FTGenerateLeafBase<FTGenerateLeaf> {
  using FTGenerateLeafBase::FTGenerateLeafBase;
  void runOnOperation() override {
    for (func::FuncOp function : leavesOf(getOperation())) {
      LeafDecisions said;
      FailureOr<LeafOptions> options = optionsOf(function, said);
      if (failed(options) || failed(generateLeaf(function, *options, said.getRowLoops().value_or(RowLoops()))))
        return signalPassFailure();
    }
  }
};
} // namespace
