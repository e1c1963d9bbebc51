//===- HalfMemory.cpp - Move f16 and bf16 as 16-bit integers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a processor lacks a vector operation on bf16, if only to move it, LLVM
// takes the vector apart and rounds each element by a library call that does not
// exist here. Moving bits needs no arithmetic, and all that is left of bf16 after
// `arith-expand{include-bf16}` is moves: they become moves of integers. f16 has
// conversions in every processor with vectors; only memory sees its bits.
//
//===----------------------------------------------------------------------===//
#include "LeafPasses.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace {

struct HalfMemoryPass : PassWrapper<HalfMemoryPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HalfMemoryPass)

  StringRef getArgument() const final { return "ft-half-memory"; }
  StringRef getDescription() const final { return "Load and store f16 and bf16 as i16"; }

  void runOnOperation() final;
};

} // namespace

/// The type with i16 for f16 and bf16; null if it has neither.
static Type asInteger(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!element.isF16() && !element.isBF16())
    return {};
  Type integer = IntegerType::get(type.getContext(), 16);
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(integer);
  return type == element ? integer : Type();
}

static bool isBF16(Type type) { return getElementTypeOrSelf(type).isBF16(); }

static bool onlyMoves(LLVM::LLVMFuncOp func) {
  auto none = [](TypeRange types) { return llvm::none_of(types, isBF16); };
  if (!none(func.getArgumentTypes()) || !none(func.getResultTypes()))
    return false;
  WalkResult walked = func.walk([&](Operation *op) {
    bool moves =
        isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::MaskedLoadOp, LLVM::MaskedStoreOp,
            LLVM::ExtractElementOp, LLVM::InsertElementOp, LLVM::ShuffleVectorOp, LLVM::SelectOp,
            LLVM::ConstantOp, LLVM::UndefOp, LLVM::PoisonOp, LLVM::ZeroOp, LLVM::BitcastOp,
            LLVM::BrOp, LLVM::CondBrOp, LLVM::SwitchOp, LLVM::masked_gather>(op);
    bool touches = !none(op->getOperandTypes()) || !none(op->getResultTypes());
    return touches && !moves ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !walked.wasInterrupted();
}

/// Every bf16 of the function becomes an i16.
static void forgetBF16(LLVM::LLVMFuncOp func) {
  auto change = [](Value value) {
    if (isBF16(value.getType()))
      value.setType(asInteger(value.getType()));
  };
  func.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), change);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), change);
    auto constant = dyn_cast<LLVM::ConstantOp>(op);
    if (!constant)
      return;
    auto bits = IntegerType::get(op->getContext(), 16);
    if (auto value = dyn_cast<FloatAttr>(constant.getValue()); value && isBF16(value.getType()))
      constant.setValueAttr(IntegerAttr::get(bits, value.getValue().bitcastToAPInt()));
    else if (auto dense = dyn_cast<DenseFPElementsAttr>(constant.getValue());
             dense && isBF16(dense.getElementType()))
      constant.setValueAttr(cast<DenseElementsAttr>(dense.bitcast(bits)));
  });
}

static void moveHalvesAsIntegers(LLVM::LLVMFuncOp func) {
  OpBuilder b(func.getContext());
  func.walk([&](Operation *op) {
    if (!isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::MaskedLoadOp, LLVM::MaskedStoreOp>(op))
      return;
    b.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands())
      if (Type integer = asInteger(operand.get().getType()))
        operand.set(LLVM::BitcastOp::create(b, op->getLoc(), integer, operand.get()));
    for (Value result : op->getResults()) {
      Type type = result.getType(), integer = asInteger(type);
      if (!integer)
        continue;
      result.setType(integer);
      b.setInsertionPointAfterValue(result);
      auto cast = LLVM::BitcastOp::create(b, op->getLoc(), type, result);
      result.replaceAllUsesExcept(cast, cast);
    }
  });
}

void HalfMemoryPass::runOnOperation() {
  getOperation().walk([](LLVM::LLVMFuncOp func) {
    if (onlyMoves(func))
      forgetBF16(func);
    moveHalvesAsIntegers(func);
  });
}

std::unique_ptr<Pass> mlir::ft::leaf::createHalfMemoryPass() {
  return std::make_unique<HalfMemoryPass>();
}
