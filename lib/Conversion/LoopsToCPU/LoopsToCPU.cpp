//===- LoopsToCPU.cpp - kernels of structured loops as threads run them ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes, and a kernel's form: tasks, a team, or one task.
//
//===----------------------------------------------------------------------===//

#include "ft/Conversion/LoopsToCPU/LoopsToCPU.h"
#include "Spmd.h"

#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::ft {
#define GEN_PASS_DEF_CONVERTLOOPSTOCPU
#define GEN_PASS_DEF_LOOPSLOWERLEAVES
#define GEN_PASS_DEF_LOOPSVECTORIZELEAVES
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

Value tocpu::loadSlot(OpBuilder &builder, Location loc, Value environment, unsigned slot, Type type) {
  Value address = LLVM::GEPOp::create(builder, loc, environment.getType(), builder.getI64Type(), environment,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(slot)});
  bool isIndex = type.isIndex();
  Value loaded = LLVM::LoadOp::create(builder, loc, isIndex ? builder.getI64Type() : type, address);
  return isIndex ? arith::IndexCastOp::create(builder, loc, builder.getIndexType(), loaded).getResult() : loaded;
}

/// Memory of unknown extent that begins at an address.
static Value makeMemory(OpBuilder &builder, Location loc, Value pointer, MemRefType type) {
  Type i64 = builder.getI64Type();
  auto array = LLVM::LLVMArrayType::get(i64, 1);
  auto structure =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), {pointer.getType(), pointer.getType(), i64, array, array});
  Value descriptor = LLVM::PoisonOp::create(builder, loc, structure);
  auto number = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(value));
  };
  auto set = [&](Value value, ArrayRef<int64_t> where) {
    descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, value, where);
  };
  set(pointer, {0});
  set(pointer, {1});
  set(number(0), {2});
  // Extents are the leaves' own; the flat one is never looked at.
  set(number(int64_t(1) << 62), {3, 0});
  set(number(1), {4, 0});
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor).getResult(0);
}

namespace {
/// One kernel on its way.
class Kernel {
public:
  explicit Kernel(func::FuncOp function)
      : kernel(function), builder(function.getContext()), pointer(LLVM::LLVMPointerType::get(function.getContext())),
        i64(builder.getI64Type()) {}
  LogicalResult convert(bool poison);

private:
  LogicalResult takeEnvironment();
  LogicalResult convertTasks(Operation *outermost);
  LogicalResult convertTeam();
  /// The function that counts tasks, empty.
  func::FuncOp beginCount();
  void returnCount(Value count);
  Value toIndex(Value number) {
    return arith::IndexCastOp::create(builder, kernel.getLoc(), builder.getIndexType(), number);
  }

  func::FuncOp kernel;
  OpBuilder builder;
  Type pointer, i64;
  Bounds bounds;
};
} // namespace

/// Arguments of the program become slots of the environment, in their order.
LogicalResult Kernel::takeEnvironment() {
  Block &entry = kernel.getBody().front();
  for (Type type : kernel.getArgumentTypes())
    if (auto memory = dyn_cast<MemRefType>(type);
        !type.isIndex() && (!memory || memory.getRank() != 1 || !memory.getLayout().isIdentity()))
      return kernel.emitError("a kernel takes indices and memref<?xT>, found ") << type;
  unsigned count = entry.getNumArguments();
  builder.setInsertionPointToStart(&entry);
  Location loc = kernel.getLoc();
  Value environment = entry.insertArgument(0u, pointer, loc);
  for (unsigned i : {1u, 2u})
    entry.insertArgument(i, i64, loc);
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument old = entry.getArgument(3 + i);
    auto memory = dyn_cast<MemRefType>(old.getType());
    Value loaded = loadSlot(builder, loc, environment, Environment::kFirstSymbol + i, memory ? pointer : old.getType());
    old.replaceAllUsesWith(memory ? makeMemory(builder, loc, loaded, memory) : loaded);
  }
  entry.eraseArguments(3, count);
  kernel.setFunctionType(builder.getFunctionType({pointer, i64, i64}, {}));
  return success();
}

func::FuncOp Kernel::beginCount() {
  builder.setInsertionPoint(kernel);
  auto count = func::FuncOp::create(builder, kernel.getLoc(), (kernel.getSymName() + "_count").str(),
                                    builder.getFunctionType({pointer}, {i64}));
  builder.setInsertionPointToStart(count.addEntryBlock());
  return count;
}

void Kernel::returnCount(Value count) { func::ReturnOp::create(builder, kernel.getLoc(), count); }

LogicalResult Kernel::convertTasks(Operation *outermost) {
  Block &entry = kernel.getBody().front();
  FailureOr<Chain> chain = getChain(outermost);
  if (failed(chain))
    return failure();
  for (Operation &op : entry.without_terminator())
    if (&op != outermost && !isMemoryEffectFree(&op) && !isa<LLVM::LoadOp>(op))
      return op.emitError("iterations that are mapped dynamically are all that a kernel runs");
  if (!isBox(*chain))
    return outermost->emitError("iterations are mapped dynamically where they are a box; expected the mapping block");
  func::FuncOp count = beginCount();
  IRMapping mapping;
  mapping.map(kernel.getArgument(0), count.getArgument(0));
  Location loc = kernel.getLoc();
  Value threads = loadSlot(builder, loc, count.getArgument(0), Environment::kThreads, builder.getIndexType());
  Tasks counted = emitTasks(builder, *chain, threads, &mapping);
  returnCount(arith::IndexCastOp::create(builder, loc, i64, counted.total));

  builder.setInsertionPoint(outermost);
  threads = loadSlot(builder, loc, kernel.getArgument(0), Environment::kThreads, builder.getIndexType());
  Tasks tasks = emitTasks(builder, *chain, threads);
  Value begin = toIndex(kernel.getArgument(1)), end = toIndex(kernel.getArgument(2));
  dealInTurn(*chain, tasks, begin, end, bounds);
  return success();
}

LogicalResult Kernel::convertTeam() {
  kernel->setAttr(loops::names::team, builder.getUnitAttr());
  beginCount();
  returnCount(arith::ConstantIntOp::create(builder, kernel.getLoc(), 1, 64));
  Location loc = kernel.getLoc();
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Value tid = toIndex(kernel.getArgument(1)), threads = toIndex(kernel.getArgument(2));
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, tid,
                                        arith::ConstantIndexOp::create(builder, loc, 0));
  if (failed(checkShared(kernel)) || failed(guardWrites(kernel.getBody().front(), isFirst)))
    return failure();
  SmallVector<Operation *> outermost;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isDealt(op))
      return WalkResult::advance();
    outermost.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *loop : outermost) {
    FailureOr<Chain> chain = getChain(loop);
    if (failed(chain))
      return failure();
    if (loops::levelOf(loop).getMapping() == etdg::IterationMapping::Dynamic)
      return loop->emitError("iterations are mapped dynamically where no thread waits and nothing is beside them; "
                             "expected the mapping block");
    dealInShares(*chain, tid, threads, bounds);
  }
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, i64});
  Value wait;
  kernel.walk([&](loops::SyncOp sync) {
    if (!wait) {
      builder.setInsertionPointToStart(&kernel.getBody().front());
      wait = loadSlot(builder, loc, kernel.getArgument(0), Environment::kBarrier, pointer);
    }
    builder.setInsertionPoint(sync);
    LLVM::CallOp::create(builder, sync.getLoc(), type,
                         ValueRange{wait, kernel.getArgument(0), kernel.getArgument(1)});
    sync.erase();
  });
  return success();
}

LogicalResult Kernel::convert(bool poison) {
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitError("expected a kernel of one block");
  if (failed(takeEnvironment()))
    return failure();
  Block &entry = kernel.getBody().front();
  Operation *inTurn = nullptr;
  for (Operation &op : entry)
    if (isDealt(&op) && loops::levelOf(&op).getMapping() == etdg::IterationMapping::Dynamic)
      inTurn = inTurn ? inTurn : &op;
  LogicalResult converted = success();
  if (inTurn) {
    converted = convertTasks(inTurn);
  } else if (isTogether(kernel)) {
    converted = convertTeam();
  } else {
    beginCount();
    returnCount(arith::ConstantIntOp::create(builder, kernel.getLoc(), 1, 64));
  }
  if (failed(converted))
    return failure();
  SmallVector<Operation *> ownLoops;
  kernel.walk([&](Operation *op) {
    if (loops::levelOf(op))
      ownLoops.push_back(op);
  });
  for (Operation *loop : ownLoops)
    makeSequential(loop, bounds);
  if (poison)
    poisonMemory(kernel);
  hoistMemory(kernel, bounds);
  return success();
}

LogicalResult mlir::ft::convertLoopsToCpu(ModuleOp module, bool poison) {
  module.getContext()->loadDialect<LLVM::LLVMDialect>();
  loops::expandViews(module);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (loops::isKernel(function) && !function.isExternal() && failed(Kernel(function).convert(poison)))
      return failure();
  return success();
}

namespace {
struct ConvertLoopsToCPU : mlir::ft::impl::ConvertLoopsToCPUBase<ConvertLoopsToCPU> {
  using ConvertLoopsToCPUBase::ConvertLoopsToCPUBase;
  void runOnOperation() override {
    if (failed(convertLoopsToCpu(getOperation(), poison)))
      signalPassFailure();
  }
};

struct LoopsVectorizeLeaves : mlir::ft::impl::LoopsVectorizeLeavesBase<LoopsVectorizeLeaves> {
  using LoopsVectorizeLeavesBase::LoopsVectorizeLeavesBase;
  void runOnOperation() override {
    if (failed(vectorizeLeaves(getOperation())))
      signalPassFailure();
  }
};

struct LoopsLowerLeaves : mlir::ft::impl::LoopsLowerLeavesBase<LoopsLowerLeaves> {
  using LoopsLowerLeavesBase::LoopsLowerLeavesBase;
  void runOnOperation() override {
    if (failed(lowerLeaves(getOperation())))
      signalPassFailure();
  }
};
} // namespace
