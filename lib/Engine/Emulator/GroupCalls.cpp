//===- GroupCalls.cpp - products of wgmma as calls ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GroupCalls.h"

#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace {
/// Rewrites one module. The type of sums, a struct of floats, gets a number after the floats.
class GroupCalls {
public:
  GroupCalls(ModuleOp module, std::vector<std::string> &sites)
      : module(module), sites(sites), b(module.getLoc(), module.getContext()), word(b.getI32Type()) {}

  LogicalResult run() {
    WalkResult known = module.walk([&](Operation *op) {
      auto product = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op);
      if (!product && !isa<tile::GroupMmaOp>(op))
        return WalkResult::advance();
      products.push_back(op);
      types.insert(op->getResult(0).getType());
      return product && failed(check(product)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (known.wasInterrupted())
      return failure();
    if (products.empty())
      return success();
    declare();
    SmallVector<Operation *> all;
    module.walk([&](Operation *op) { all.push_back(op); });
    for (Operation *op : all)
      widen(op);
    for (Operation *op : all) // now that all that may hold sums has the wider type
      if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op))
        lookAtRead(extract);
    for (Operation *op : products) {
      if (auto product = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op))
        callProduct(product);
      else
        callProduct(cast<tile::GroupMmaOp>(op));
    }
    return success();
  }

private:
  static LogicalResult check(NVVM::WgmmaMmaAsyncOp product) {
    constexpr int64_t terms = 16;
    NVVM::WGMMATypes a = product.getTypeA();
    bool isKnown = product.getTypeD() == NVVM::WGMMATypes::f32 && a == product.getTypeB() &&
                   (a == NVVM::WGMMATypes::f16 || a == NVVM::WGMMATypes::bf16) && product.getShape().getK() == terms &&
                   product.getScaleA() == NVVM::WGMMAScaleIn::one && product.getScaleB() == NVVM::WGMMAScaleIn::one;
    return isKnown ? success() : LogicalResult(product.emitError("the emulator has no rule for this product of a warp group"));
  }

  void declare() {
    b.setInsertionPointToEnd(module.getBody());
    Type pointer = LLVM::LLVMPointerType::get(b.getContext()), none = LLVM::LLVMVoidType::get(b.getContext()), wide = b.getI64Type();
    start = LLVM::LLVMFuncOp::create(b, "ft_emulate_start_product",
                                     LLVM::LLVMFunctionType::get(word, {wide, wide, word, word, pointer, word}));
    startOfRegisters = LLVM::LLVMFuncOp::create(b, "ft_emulate_start_product_of_registers",
                                                LLVM::LLVMFunctionType::get(word, {pointer, wide, word, word, pointer, word}));
    read = LLVM::LLVMFuncOp::create(b, "ft_emulate_read_sums", LLVM::LLVMFunctionType::get(none, {word, word}));
  }

  Value number(int64_t value) { return LLVM::ConstantOp::create(b, word, b.getI32IntegerAttr(int32_t(value))); }
  Value site(Operation *op) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    op->print(stream, OpPrintingFlags().skipRegions().useLocalScope());
    sites.push_back(std::move(text));
    return number(int64_t(sites.size()) - 1);
  }

  bool isSums(Type type) const { return types.contains(type); }
  static int64_t countOf(Type type) { return int64_t(cast<LLVM::LLVMStructType>(type).getBody().size()); }
  Type wider(Type type) {
    SmallVector<Type> body(cast<LLVM::LLVMStructType>(type).getBody());
    body.push_back(word);
    return LLVM::LLVMStructType::getLiteral(b.getContext(), body);
  }

  /// Gives an operation's results and its blocks' arguments the wider type.
  void widen(Operation *op) {
    b.setLoc(op->getLoc());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (isSums(argument.getType()))
            argument.setType(wider(argument.getType()));
    for (OpResult result : op->getResults()) {
      if (!isSums(result.getType()))
        continue;
      int64_t count = countOf(result.getType());
      result.setType(wider(result.getType()));
      if (!isa<LLVM::PoisonOp, LLVM::UndefOp, LLVM::ZeroOp>(op))
        continue;
      b.setInsertionPointAfter(op); // sums of no product
      auto first = LLVM::InsertValueOp::create(b, result, number(0), ArrayRef<int64_t>{count});
      result.replaceAllUsesExcept(first, first);
    }
  }

  /// Asks, before a sum is read, whether its product is done.
  void lookAtRead(LLVM::ExtractValueOp extract) {
    auto type = dyn_cast<LLVM::LLVMStructType>(extract.getContainer().getType());
    SmallVector<Type> narrow(type ? type.getBody() : ArrayRef<Type>());
    if (narrow.empty() || narrow.pop_back_val() != word || !isSums(LLVM::LLVMStructType::getLiteral(b.getContext(), narrow)))
      return;
    b.setLoc(extract.getLoc());
    b.setInsertionPoint(extract);
    Value group = LLVM::ExtractValueOp::create(b, extract.getContainer(), ArrayRef<int64_t>{int64_t(narrow.size())});
    LLVM::CallOp::create(b, read, ValueRange{group, site(extract)});
  }

  static constexpr uint32_t brain = 1, leftAcross = 2, rightAcross = 4;

  Value allocate(Operation *product, Type type) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&product->getParentOfType<LLVM::LLVMFuncOp>().getBody().front());
    return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), type, number(1), 0);
  }
  Value elementAt(Value memory, Type element, int64_t i) {
    return LLVM::GEPOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), element, memory, ArrayRef<LLVM::GEPArg>{int32_t(i)});
  }

  void callProduct(NVVM::WgmmaMmaAsyncOp product) {
    b.setLoc(product.getLoc());
    b.setInsertionPoint(product);
    uint32_t flags = (product.getTypeA() == NVVM::WGMMATypes::bf16 ? brain : 0) |
                     (product.getLayoutA() == NVVM::MMALayout::col ? leftAcross : 0) |
                     (product.getLayoutB() == NVVM::MMALayout::row ? rightAcross : 0);
    callOn(product, product.getInouts(), product.getScaleD() == NVVM::WGMMAScaleOut::zero, [&](Value sums) {
      return LLVM::CallOp::create(b, start, ValueRange{product.getDescriptorA(), product.getDescriptorB(), number(product.getShape().getN()),
                                                       number(flags), sums, site(product)})
          .getResult();
    });
  }

  /// The left operand's registers lie in memory, too.
  void callProduct(tile::GroupMmaOp product) {
    b.setLoc(product.getLoc());
    b.setInsertionPoint(product);
    Value left = allocate(product, LLVM::LLVMArrayType::get(word, unsigned(product.getLhs().size())));
    for (auto [i, own] : llvm::enumerate(product.getLhs()))
      LLVM::StoreOp::create(b, own, elementAt(left, word, int64_t(i)));
    uint32_t flags = (product.getBf16() ? brain : 0) | (product.getRhsRows() ? rightAcross : 0);
    callOn(product, product.getSums(), /*fromZero=*/false, [&](Value sums) {
      return LLVM::CallOp::create(b, startOfRegisters,
                                  ValueRange{left, product.getRhs(), number(int64_t(product.getColumns())), number(flags), sums, site(product)})
          .getResult();
    });
  }

  /// Sums in memory, what adds to them there, and the structure of them and of the product's group.
  void callOn(Operation *product, Value sums, bool fromZero, llvm::function_ref<Value(Value)> call) {
    Type type = product->getResult(0).getType();
    int64_t count = countOf(type) - 1;
    Value memory = allocate(product, LLVM::LLVMArrayType::get(b.getF32Type(), unsigned(count)));
    Value zero = LLVM::ConstantOp::create(b, b.getF32Type(), b.getF32FloatAttr(0));
    for (int64_t i = 0; i < count; ++i)
      LLVM::StoreOp::create(b, fromZero ? zero : LLVM::ExtractValueOp::create(b, sums, ArrayRef<int64_t>{i}).getResult(),
                            elementAt(memory, b.getF32Type(), i));
    Value group = call(memory), result = LLVM::PoisonOp::create(b, type);
    for (int64_t i = 0; i < count; ++i)
      result = LLVM::InsertValueOp::create(b, result, LLVM::LoadOp::create(b, b.getF32Type(), elementAt(memory, b.getF32Type(), i)), ArrayRef<int64_t>{i});
    result = LLVM::InsertValueOp::create(b, result, group, ArrayRef<int64_t>{count});
    product->getResult(0).replaceAllUsesWith(result);
    product->erase();
  }

  ModuleOp module;
  std::vector<std::string> &sites;
  ImplicitLocOpBuilder b;
  Type word;
  SmallVector<Operation *> products;
  llvm::SetVector<Type> types;
  LLVM::LLVMFuncOp start, startOfRegisters, read;
};
} // namespace

/// LLVM has an intrinsic for arrivals at a named barrier, NVVM's operation is for assembly.
static void callArrivals(ModuleOp module) {
  SmallVector<NVVM::BarrierArriveOp> arrivals;
  module.walk([&](NVVM::BarrierArriveOp arrival) { arrivals.push_back(arrival); });
  for (NVVM::BarrierArriveOp arrival : arrivals) {
    ImplicitLocOpBuilder b(arrival.getLoc(), arrival);
    Value number = arrival.getBarrierId();
    if (!number)
      number = LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(0));
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"), ValueRange{number, arrival.getNumberOfThreads()});
    arrival.erase();
  }
}

namespace ft::emulate {
LogicalResult callGroupProducts(ModuleOp module, std::vector<std::string> &sites) {
  callArrivals(module);
  return GroupCalls(module, sites).run();
}
} // namespace ft::emulate
