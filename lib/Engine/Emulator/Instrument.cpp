//===- Instrument.cpp - a GPU's instructions as calls ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites LLVM's representation of kernels: intrinsics of NVVM, the inline
// assembly that the lowering emits and accesses of memory become calls of the
// emulator's hooks. Whatever has no rule here is an error that names it: an
// emulator that skips what it does not know would find nothing.
//
//===----------------------------------------------------------------------===//
#include "Instrument.h"
#include "Grid.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ft::emulate;

static constexpr unsigned sharedSpace = 3;

std::string ft::emulate::callerOf(StringRef kernel) { return ("ft_emulate_call_" + kernel).str(); }

namespace {
class Rewriter {
public:
  Rewriter(Module &module, std::vector<std::string> sites) : module(module), b(module.getContext()) { result.sites = std::move(sites); }

  Instrumented run() {
    for (GlobalVariable &variable : make_early_inc_range(module.globals()))
      if (variable.getAddressSpace() == sharedSpace)
        replaceShared(variable);
    std::vector<Function *> functions;
    for (Function &function : module)
      if (!function.isDeclaration())
        functions.push_back(&function);
    for (Function *function : functions) {
      std::vector<Instruction *> all;
      for (Instruction &instruction : instructions(function))
        all.push_back(&instruction);
      for (Instruction *instruction : all)
        rewrite(*instruction);
      addCaller(*function);
    }
    return std::move(result);
  }

private:
  void refuse(Instruction &instruction, const Twine &what) {
    if (result.error.empty()) {
      std::string text;
      raw_string_ostream stream(text);
      instruction.print(stream);
      result.error = ("the emulator has no rule for " + what + ":" + text).str();
    }
  }

  Value *site(Instruction &instruction) {
    std::string text;
    raw_string_ostream stream(text);
    stream << instruction.getFunction()->getName() << ":";
    instruction.print(stream);
    result.sites.push_back(std::move(text));
    return b.getInt32(uint32_t(result.sites.size() - 1));
  }

  Value *call(StringRef name, Type *type, ArrayRef<Value *> operands) {
    SmallVector<Type *> types;
    for (Value *operand : operands)
      types.push_back(operand->getType());
    FunctionCallee callee = module.getOrInsertFunction(name, FunctionType::get(type, types, false));
    CallInst *made = b.CreateCall(callee, operands);
    made->setDoesNotThrow();
    return made;
  }

  Value *generic(Value *pointer) { return b.CreateAddrSpaceCast(pointer, b.getPtrTy()); }

  /// Shared memory is the block's, so that its address is asked for in each function.
  void replaceShared(GlobalVariable &variable) {
    if (variable.hasInitializer() || !variable.isDeclaration()) {
      if (!variable.use_empty() && result.error.empty())
        result.error = ("the emulator has no rule for shared memory of a fixed size: " + variable.getName()).str();
      return;
    }
    convertUsersOfConstantsToInstructions({&variable});
    DenseMap<Function *, Value *> bases;
    for (Use &use : make_early_inc_range(variable.uses())) {
      auto *user = cast<Instruction>(use.getUser());
      Value *&base = bases[user->getFunction()];
      if (!base) {
        b.SetInsertPoint(&user->getFunction()->getEntryBlock(), user->getFunction()->getEntryBlock().begin());
        base = b.CreateAddrSpaceCast(call("ft_emulate_shared", b.getPtrTy(), {}), variable.getType());
      }
      use.set(base);
    }
  }

  void rewrite(Instruction &instruction) {
    b.SetInsertPoint(&instruction);
    if (auto *load = dyn_cast<LoadInst>(&instruction))
      return look(instruction, load->getPointerOperand(), load->getType(), load->getAlign(), AccessKind::read);
    if (auto *store = dyn_cast<StoreInst>(&instruction))
      return look(instruction, store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(),
                  AccessKind::write);
    if (auto *update = dyn_cast<AtomicRMWInst>(&instruction))
      return look(instruction, update->getPointerOperand(), update->getType(), update->getAlign(),
                  AccessKind::atomic);
    if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
      return look(instruction, exchange->getPointerOperand(), exchange->getCompareOperand()->getType(),
                  exchange->getAlign(), AccessKind::atomic);
    if (isa<FenceInst>(instruction)) { // the emulator's threads see each other's writes in order
      instruction.eraseFromParent();
      return;
    }
    auto *called = dyn_cast<CallInst>(&instruction);
    if (!called)
      return;
    if (called->isInlineAsm())
      return rewriteAssembly(*called, cast<InlineAsm>(called->getCalledOperand())->getAsmString());
    if (isa<MemIntrinsic>(called))
      return refuse(instruction, "a copy of memory");
    Function *callee = called->getCalledFunction();
    if (!callee)
      return refuse(instruction, "an indirect call");
    if (callee->getName().starts_with("llvm.nvvm."))
      rewriteIntrinsic(*called, callee->getName().drop_front(strlen("llvm.nvvm.")));
    else if (callee->isDeclaration() && !callee->isIntrinsic() && !callee->getName().starts_with("ft_emulate_"))
      refuse(instruction, "a function of a library");
  }

  void look(Instruction &instruction, Value *pointer, Type *type, Align alignment, AccessKind kind) {
    const Value *object = getUnderlyingObject(pointer, /*MaxLookup=*/0);
    if (isa<AllocaInst>(object)) // a thread's own
      return;
    const DataLayout &layout = module.getDataLayout();
    uint64_t bytes = layout.getTypeStoreSize(type);
    result.granule = std::min<uint64_t>(result.granule, layout.getTypeStoreSize(type->getScalarType()));
    call("ft_emulate_access", b.getVoidTy(),
         {generic(pointer), b.getInt32(uint32_t(bytes)), b.getInt32(uint32_t(alignment.value())),
          b.getInt32(uint32_t(kind)), site(instruction)});
  }

  void replace(CallInst &old, Value *value) {
    if (!old.getType()->isVoidTy())
      old.replaceAllUsesWith(value);
    old.eraseFromParent();
  }

  void rewriteIntrinsic(CallInst &instruction, StringRef name) {
    if (name.consume_front("read.ptx.sreg.")) {
      unsigned number = StringSwitch<unsigned>(name)
                            .Cases({"tid.x", "tid.y", "tid.z"}, unsigned(Register::tid))
                            .Cases({"ntid.x", "ntid.y", "ntid.z"}, unsigned(Register::ntid))
                            .Cases({"ctaid.x", "ctaid.y", "ctaid.z"}, unsigned(Register::ctaid))
                            .Cases({"nctaid.x", "nctaid.y", "nctaid.z"}, unsigned(Register::nctaid))
                            .Case("laneid", unsigned(Register::laneid))
                            .Case("warpid", unsigned(Register::warpid))
                            .Default(~0u);
      if (number == ~0u)
        return refuse(instruction, "this special register");
      if (number < unsigned(Register::laneid))
        number += unsigned(name.back() - 'x');
      return replace(instruction, call("ft_emulate_register", b.getInt32Ty(), {b.getInt32(number)}));
    }
    if (name == "barrier0" || name == "barrier.cta.sync.aligned.all" || name == "barrier.cta.sync.all") {
      if (instruction.arg_size() == 1 && !isZero(instruction.getArgOperand(0)))
        return refuse(instruction, "a barrier but the first");
      return replace(instruction, call("ft_emulate_barrier", b.getVoidTy(), {site(instruction)}));
    }
    if (name.consume_front("shfl.sync."))
      return rewriteShuffle(instruction, name);
    if (name.consume_front("cp.async.bulk.tensor.g2s.tile."))
      return rewriteBox(instruction, name);
    if (name.consume_front("cp.async.bulk.tensor.s2g.tile."))
      return rewriteStore(instruction, name);
    if (name == "cp.async.bulk.commit.group")
      return replace(instruction, call("ft_emulate_commit_stores", b.getVoidTy(), {}));
    if (name == "cp.async.bulk.wait.group" || name == "cp.async.bulk.wait.group.read")
      return replace(instruction, call("ft_emulate_wait_for_stores", b.getVoidTy(),
                                       {instruction.getArgOperand(0), b.getInt32(name.ends_with(".read"))}));
    if (name.consume_front("cp.async."))
      return rewriteCopy(instruction, name);
    if (name.consume_front("ldmatrix.sync.aligned.m8n8."))
      return rewriteLoadMatrix(instruction, name);
    if (name.consume_front("mma.m16n8k16.row.col."))
      return rewriteMma(instruction, name);
    if (rewritePartBarrier(instruction, name) || rewritePhase(instruction, name) || rewriteGroupProduct(instruction, name))
      return;
    if (name == "setmaxnreg.inc.sync.aligned.u32" || name == "setmaxnreg.dec.sync.aligned.u32")
      return replace(instruction, call("ft_emulate_set_registers", b.getVoidTy(),
                                       {instruction.getArgOperand(0), b.getInt32(name.starts_with("setmaxnreg.inc")), site(instruction)}));
    if (name == "griddepcontrol.wait") {
      replace(instruction, call("ft_emulate_wait_for_launches", b.getVoidTy(), {}));
      return;
    }
    if (name == "griddepcontrol.launch.dependents") { // (a launch that overlaps this one sees its memory as soon as it may)
      instruction.eraseFromParent();
      return;
    }
    if (name.starts_with("membar.") || name.starts_with("fence.acq") || name.starts_with("fence.sc"))
      return replace(instruction, nullptr);
    refuse(instruction, "this intrinsic");
  }

  /// Asynchronous copies to shared memory, their groups and the wait for them.
  void rewriteCopy(CallInst &instruction, StringRef name) {
    if (name == "commit.group")
      return replace(instruction, call("ft_emulate_copy_commit", b.getVoidTy(), {}));
    if (name == "wait.group")
      return replace(instruction, call("ft_emulate_copy_wait", b.getVoidTy(), {instruction.getArgOperand(0)}));
    uint32_t bytes = 0;
    if ((!name.consume_front("ca.shared.global.") && !name.consume_front("cg.shared.global.")) ||
        name.consumeInteger(10, bytes) || (!name.empty() && name != ".s"))
      return refuse(instruction, "this copy");
    result.granule = std::min<uint64_t>(result.granule, 4);
    Value *read = name.empty() ? b.getInt32(bytes) : instruction.getArgOperand(2);
    replace(instruction, call("ft_emulate_copy_async", b.getVoidTy(),
                              {generic(instruction.getArgOperand(0)), generic(instruction.getArgOperand(1)), b.getInt32(bytes),
                               read, site(instruction)}));
  }

  /// Barriers of a part of a block, and the election of a lane.
  bool rewritePartBarrier(CallInst &instruction, StringRef name) {
    bool waits = name == "barrier.cta.sync.aligned.count" || name == "barrier.cta.sync.count";
    if (waits || name == "barrier.cta.arrive.aligned.count" || name == "barrier.cta.arrive.count") {
      replace(instruction, call("ft_emulate_named_barrier", b.getVoidTy(),
                                {instruction.getArgOperand(0), instruction.getArgOperand(1), b.getInt32(waits), site(instruction)}));
      return true;
    }
    if (name != "elect.sync")
      return false;
    Value *elected = call("ft_emulate_elect", b.getInt32Ty(), {instruction.getArgOperand(0), site(instruction)});
    elected = b.CreateICmpNE(elected, b.getInt32(0));
    // (Which lane it is, the first result, has no use in what is emitted.)
    replace(instruction, b.CreateInsertValue(PoisonValue::get(instruction.getType()), elected, {1}));
    return true;
  }

  /// mbarriers and the fences of proxies. The state that an arrival returns must not be used.
  bool rewritePhase(CallInst &instruction, StringRef name) {
    unsigned space = StringSwitch<unsigned>(name)
                         .Case("fence.proxy.async", unsigned(ProxySpace::all))
                         .Case("fence.proxy.async.shared_cta", unsigned(ProxySpace::shared))
                         .Case("fence.proxy.async.global", unsigned(ProxySpace::global))
                         .Default(~0u);
    if (space != ~0u) {
      replace(instruction, call("ft_emulate_fence_proxy", b.getVoidTy(), {b.getInt32(space)}));
      return true;
    }
    if (name == "fence.mbarrier_init.release.cluster") {
      replace(instruction, call("ft_emulate_fence_barriers", b.getVoidTy(), {}));
      return true;
    }
    if (!name.starts_with("mbarrier.") || (instruction.getType()->isIntegerTy(64) && !instruction.use_empty()))
      return false;
    Value *barrier = generic(instruction.getArgOperand(0));
    Value *number = instruction.arg_size() > 1 ? instruction.getArgOperand(1) : b.getInt32(1);
    if (name == "mbarrier.try.wait.parity.scope.cta.space.cta") { // it may take as long as it likes
      call("ft_emulate_wait_for_phase", b.getVoidTy(), {barrier, number, site(instruction)});
      replace(instruction, b.getTrue());
      return true;
    }
    StringRef hook = StringSwitch<StringRef>(name)
                         .Cases({"mbarrier.init", "mbarrier.init.shared"}, "ft_emulate_init_barrier")
                         .Cases({"mbarrier.arrive", "mbarrier.arrive.shared", "mbarrier.arrive.scope.cta.space.cta"}, "ft_emulate_arrive")
                         .Case("mbarrier.expect.tx.scope.cta.space.cta", "ft_emulate_expect_bytes")
                         .Case("mbarrier.arrive.expect.tx.scope.cta.space.cta", "ft_emulate_arrive_and_expect")
                         .Default("");
    if (hook.empty())
      return false;
    call(hook, b.getVoidTy(), {barrier, number, site(instruction)});
    instruction.eraseFromParent();
    return true;
  }

  /// What stands around products of wgmma, which are calls already (`GroupCalls.cpp`).
  bool rewriteGroupProduct(CallInst &instruction, StringRef name) {
    if (!name.consume_front("wgmma."))
      return false;
    if (name == "fence.sync.aligned")
      call("ft_emulate_fence_product", b.getVoidTy(), {});
    else if (name == "commit_group.sync.aligned")
      call("ft_emulate_commit_products", b.getVoidTy(), {});
    else if (name == "wait_group.sync.aligned")
      call("ft_emulate_wait_for_products", b.getVoidTy(), {b.CreateTrunc(instruction.getArgOperand(0), b.getInt32Ty())});
    else
      return false;
    instruction.eraseFromParent();
    return true;
  }

  /// A box by TMA: to, mbarrier, map, coordinates, then what multicasts and hints at caches.
  void rewriteBox(CallInst &instruction, StringRef name) {
    uint32_t rank = 0;
    constexpr uint32_t before = 3, multicasts = 2;
    if (name.consumeInteger(10, rank) || name != "d" || rank == 0 || rank > TensorMapData::mostDims ||
        !isZero(instruction.getArgOperand(before + rank + multicasts)))
      return refuse(instruction, "this copy of a box");
    result.granule = std::min<uint64_t>(result.granule, 2); // of halves that borders cut apart
    AllocaInst *coordinates = place(ArrayType::get(b.getInt32Ty(), TensorMapData::mostDims), instruction);
    for (uint32_t d = 0; d < rank; ++d)
      b.CreateStore(instruction.getArgOperand(before + d), b.CreateConstGEP1_32(b.getInt32Ty(), coordinates, d));
    replace(instruction, call("ft_emulate_copy_box", b.getVoidTy(),
                              {generic(instruction.getArgOperand(0)), generic(instruction.getArgOperand(2)), b.getInt32(rank), coordinates,
                               generic(instruction.getArgOperand(1)), site(instruction)}));
  }

  /// A box back: from, map, coordinates, then a hint at caches.
  void rewriteStore(CallInst &instruction, StringRef name) {
    uint32_t rank = 0;
    constexpr uint32_t before = 2;
    if (name.consumeInteger(10, rank) || name != "d" || rank == 0 || rank > TensorMapData::mostDims)
      return refuse(instruction, "this copy of a box");
    result.granule = 1; // what another box writes may begin after any element
    AllocaInst *coordinates = place(ArrayType::get(b.getInt32Ty(), TensorMapData::mostDims), instruction);
    for (uint32_t d = 0; d < rank; ++d)
      b.CreateStore(instruction.getArgOperand(before + d), b.CreateConstGEP1_32(b.getInt32Ty(), coordinates, d));
    replace(instruction, call("ft_emulate_store_box", b.getVoidTy(),
                              {generic(instruction.getArgOperand(0)), generic(instruction.getArgOperand(1)), b.getInt32(rank), coordinates,
                               site(instruction)}));
  }

  /// Memory of the thread for what a hook takes or gives: in the entry, so that loops use it again.
  AllocaInst *place(Type *type, Instruction &instruction) {
    BasicBlock &entry = instruction.getFunction()->getEntryBlock();
    IRBuilder<> inEntry(&entry, entry.begin());
    return inEntry.CreateAlloca(type);
  }

  /// Pieces of 8 x 8 halves: x1, x2 or x4, perhaps transposed.
  void rewriteLoadMatrix(CallInst &instruction, StringRef name) {
    uint32_t count = 0;
    if (!name.consume_front("x") || name.consumeInteger(10, count) || (count != 1 && count != 2 && count != 4))
      return refuse(instruction, "this load of a matrix");
    bool transposed = name.consume_front(".trans");
    if (name != ".b16.p3")
      return refuse(instruction, "this load of a matrix");
    result.granule = std::min<uint64_t>(result.granule, 2);
    AllocaInst *words = place(instruction.getType(), instruction);
    call("ft_emulate_load_matrix", b.getVoidTy(),
         {generic(instruction.getArgOperand(0)), b.getInt32(count), b.getInt32(transposed), words, site(instruction)});
    replace(instruction, b.CreateLoad(instruction.getType(), words));
  }

  /// Four words of the left operand, two of the right one, four sums.
  void rewriteMma(CallInst &instruction, StringRef name) {
    if ((name != "f32.f32" && name != "bf16") || instruction.arg_size() != 10)
      return refuse(instruction, "this product of matrices");
    AllocaInst *words = place(ArrayType::get(b.getInt32Ty(), 6), instruction);
    AllocaInst *sums = place(instruction.getType(), instruction);
    for (unsigned i = 0; i < 6; ++i)
      b.CreateStore(b.CreateBitCast(instruction.getArgOperand(i), b.getInt32Ty()), b.CreateConstGEP1_32(b.getInt32Ty(), words, i));
    for (unsigned i = 0; i < 4; ++i)
      b.CreateStore(instruction.getArgOperand(6 + i), b.CreateConstGEP1_32(b.getFloatTy(), sums, i));
    call("ft_emulate_multiply_matrices", b.getVoidTy(), {words, b.getInt32(name == "bf16"), sums, site(instruction)});
    replace(instruction, b.CreateLoad(instruction.getType(), sums));
  }

  /// Whether it is the constant 0.
  static bool isZero(Value *value) {
    auto *constant = dyn_cast<ConstantInt>(value);
    return constant && constant->isZero();
  }

  void rewriteShuffle(CallInst &instruction, StringRef name) {
    auto [mode, type] = name.split('.');
    unsigned number = StringSwitch<unsigned>(mode)
                          .Case("up", unsigned(ShuffleMode::up))
                          .Case("down", unsigned(ShuffleMode::down))
                          .Case("bfly", unsigned(ShuffleMode::bfly))
                          .Case("idx", unsigned(ShuffleMode::idx))
                          .Default(~0u);
    if (number == ~0u || (type != "i32" && type != "f32"))
      return refuse(instruction, "this shuffle");
    auto operand = [&](unsigned i) { return instruction.getArgOperand(i); };
    Value *value = b.CreateBitCast(operand(1), b.getInt32Ty());
    Value *other = call("ft_emulate_shuffle", b.getInt32Ty(),
                        {b.getInt32(number), operand(0), value, operand(2), operand(3), site(instruction)});
    replace(instruction, b.CreateBitCast(other, instruction.getType()));
  }

  void rewriteAssembly(CallInst &instruction, StringRef text) {
    // "name $0, $1;" of one float
    StringRef name = text.take_until([](char c) { return c == ' '; });
    if (text == (name + " $0, $1;").str() && instruction.getType()->isFloatTy() && instruction.arg_size() == 1) {
      StringRef hook = StringSwitch<StringRef>(name)
                           .Cases({"ex2.approx.f32", "ex2.approx.ftz.f32"}, "ft_emulate_ex2")
                           .Cases({"lg2.approx.f32", "lg2.approx.ftz.f32"}, "ft_emulate_lg2")
                           .Cases({"rcp.approx.f32", "rcp.approx.ftz.f32"}, "ft_emulate_rcp")
                           .Cases({"rsqrt.approx.f32", "rsqrt.approx.ftz.f32"}, "ft_emulate_rsqrt")
                           .Cases({"sqrt.approx.f32", "sqrt.approx.ftz.f32"}, "ft_emulate_sqrt")
                           .Case("tanh.approx.f32", "ft_emulate_tanh")
                           .Default("");
      if (!hook.empty())
        return replace(instruction, call(hook, b.getFloatTy(), {instruction.getArgOperand(0)}));
    }
    // The barrier of the grid: adds $1 to the counter at $0 and waits for its top bit to change.
    if (text.contains("atom.add.acq_rel.gpu.global.u32 old, [$0], $1;") &&
        text.contains("ld.acquire.gpu.global.u32 seen, [$0];") && text.contains("xor.b32 seen, seen, old;"))
      return replace(instruction, call("ft_emulate_grid_barrier", b.getVoidTy(),
                                       {generic(instruction.getArgOperand(0)), instruction.getArgOperand(1),
                                        site(instruction)}));
    if (text == "trap;")
      return replace(instruction, call("ft_emulate_trap", b.getVoidTy(), {site(instruction)}));
    refuse(instruction, "this assembly");
  }

  /// A kernel's arguments come as a list of pointers to them.
  void addCaller(Function &kernel) {
    kernel.setCallingConv(CallingConv::C);
    kernel.setLinkage(GlobalValue::InternalLinkage);
    auto *type = FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
    auto *caller = Function::Create(type, GlobalValue::ExternalLinkage, callerOf(kernel.getName()), module);
    b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", caller));
    SmallVector<Value *> operands;
    for (Argument &argument : kernel.args()) {
      Value *place = b.CreateConstGEP1_32(b.getPtrTy(), caller->getArg(0), argument.getArgNo());
      Value *address = b.CreateLoad(b.getPtrTy(), place);
      if (argument.hasByValAttr()) { // a tensor map, which only its address is taken of
        kernel.removeParamAttr(argument.getArgNo(), Attribute::ByVal);
        operands.push_back(address);
        continue;
      }
      operands.push_back(b.CreateLoad(argument.getType(), address));
    }
    b.CreateCall(&kernel, operands);
    b.CreateRetVoid();
  }

  Module &module;
  IRBuilder<> b;
  Instrumented result;
};
} // namespace

Instrumented ft::emulate::instrument(Module &module, std::vector<std::string> sites) { return Rewriter(module, std::move(sites)).run(); }
