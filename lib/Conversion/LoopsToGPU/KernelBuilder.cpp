//===- KernelBuilder.cpp - kernels, whatever decides what they compute ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function of a kernel: what the launch gives it, the tasks that are a thread block' own,
// barriers of the grid, and the record by which a kernel ends a call.
//
//===----------------------------------------------------------------------===//
#include "KernelBuilder.h"

#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Dialect/Tile/IR/AttributeNames.h"
#include "ft/Runtime/Program/Target.h"

#include <cstddef>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

KernelBuilder::KernelBuilder(Location loc, const GpuOptions &options, SmallVector<StringAttr> symbols)
    : options(options), machine(this->options.getMachine()), multiprocessors(options.getMultiprocessors()),
      context(loc.getContext()), symbols(std::move(symbols)), b(loc, loc.getContext()) {}

/// `name` and `suffix`; of two kernels of that name the second gets a number, too.
std::string KernelBuilder::uniqueName(std::string name, StringRef suffix) {
  std::string wanted = name + suffix.str(), unique = wanted;
  for (unsigned i = 1; !kernelNames.insert(unique).second; ++i)
    unique = wanted + "_v" + std::to_string(i);
  return unique;
}

Value KernelBuilder::argument(int64_t planBuffer) {
  Value &value = pointers[planBuffer];
  if (!value) {
    value = kernel.getBody().front().addArgument(b.pointer(global), b.getLoc());
    ::ft::rt::KernelArgument description;
    description.kind = ::ft::rt::KernelArgument::pointer;
    description.buffer = planBuffer;
    kernelArguments.push_back(description);
  }
  return value;
}

Value KernelBuilder::integerArgument(const HostExpr &value) {
  ::ft::rt::KernelArgument description;
  description.kind = ::ft::rt::KernelArgument::integer;
  description.value = value;
  kernelArguments.push_back(description);
  return kernel.getBody().front().addArgument(b.getI64Type(), b.getLoc());
}

Value KernelBuilder::symbolValue(StringAttr name) {
  Value &value = symbolValues[name];
  if (!value)
    value = integerArgument(HostExpr::var(llvm::find(symbols, name) - symbols.begin()));
  return value;
}

void KernelBuilder::beginFunction(StringRef name) {
  b.setInsertionPointToEnd(result.module->getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {});
  kernel = LLVM::LLVMFuncOp::create(b, name, type);
  kernel->setAttr("nvvm.kernel", b.getUnitAttr());
  kernel->setAttr("nvvm.maxntid", b.getDenseI32ArrayAttr({int32_t(threads.count), 1, 1}));
  Block *body = b.createBlock(&kernel.getBody());
  b.setInsertionPointToStart(body);
  marker = arith::ConstantIntOp::create(b, 0, 64);
  pointers.clear();
  symbolValues.clear();
  kernelArguments.clear();
  tensorMaps.clear();
  blockParts.clear();
  sharedPointers.clear();
  atEntry([&] {
    threads.id = NVVM::ThreadIdXOp::create(b, b.getI32Type());
    threads.scratch = LLVM::AddressOfOp::create(b, b.pointer(shared), "ft_shared");
  });
  threads.partials = [this] { return sharedMemory(sums.getOffset()); };
}

/// The kernel's body is complete.
void KernelBuilder::endFunction(etdg::ThreadBlockAttr block) {
  b.setInsertionPointToEnd(&kernel.getBody().front());
  LLVM::ReturnOp::create(b, ValueRange());
  kernel->setAttr("nvvm.minctasm", b.getI32IntegerAttr(int32_t(block.getResident())));
  SmallVector<Type> types(kernel.getBody().front().getArgumentTypes());
  kernel.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types));
  describeTensorMaps();
  for (auto [i, type] : llvm::enumerate(types))
    if (isa<LLVM::LLVMPointerType>(type) && !kernel.getArgAttr(i, LLVM::LLVMDialect::getByValAttrName()))
      kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(accessBytes));
}

/// In turn: every `blocks`-th one. In shares: one range for each block, equally long.
scf::ForOp KernelBuilder::dealTasks(etdg::IterationMapping mapping, Value turn, Value tasks, Value blocks) {
  if (mapping != etdg::IterationMapping::Block) {
    scf::ForOp loop = b.loop(turn, tasks, blocks);
    if (mapping == etdg::IterationMapping::Cyclic)
      loop->setAttr(tile::names::inTurn, b.getUnitAttr());
    return loop;
  }
  Value block = atEntry([&] { return b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type())); });
  Value share = b.ceilDiv(tasks, blocks), first = b.mul(block, share);
  return b.loop(first, b.smaller(tasks, b.add(first, share)), b.number(1));
}

/// All blocks of the grid are here. The counter's low bits count those that came, the last
/// one flips its top bit, and the low bits are zero again: no step resets it, and it may begin
/// with any top bit. Written as one piece of PTX: LLVM's atomics lose their ordering here.
void KernelBuilder::emitGridBarrier() {
  OpBuilder::InsertionGuard guard(b);
  if (counterBuffer < 0) {
        plan().buffers.push_back({::ft::rt::Buffer::counter, 0, 0});
    counterBuffer = int64_t(plan().buffers.size()) - 1;
    plan().counterBytes = 64;
  }
  Value counter = atEntry([&] { return argument(counterBuffer); });
  // What is written is for TMA, too.
  if (hasRoles)
    NVVM::FenceProxyOp::create(b, NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_global), NVVM::SharedSpaceAttr());
  b.barrier();
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threads.id, b.number32(0));
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
  Value number = NVVM::BlockIdXOp::create(b, b.getI32Type());
  // Block 0 adds what the others leave to 2^31.
  Value rest = arith::SubIOp::create(b, b.number32(int64_t(INT32_MIN) + 1), blocks);
  Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number, b.number32(0));
  Value step = arith::SelectOp::create(b, isZero, rest, b.number32(1));
  std::string text = "{\n.reg .pred p;\n.reg .b32 old, seen;\n";
  if (options.barrierLimit)
    text += ".reg .b64 left;\nmov.b64 left, " + std::to_string(options.barrierLimit) + ";\n";
  text += "fence.acq_rel.gpu;\n"
          "atom.add.acq_rel.gpu.global.u32 old, [$0], $1;\n"
          "again:\n"
          "ld.acquire.gpu.global.u32 seen, [$0];\n"
          "xor.b32 seen, seen, old;\n"
          "setp.lt.s32 p, seen, 0;\n"
          "@p bra done;\n";
  SmallVector<Value> operands = {counter, step};
  std::string constraints = "l,r";
  if (options.barrierLimit) {
    operands.push_back(atEntry([&] { return argument(errorBuffer); }));
    operands.push_back(b.number32(int64_t(plan().kernels.size())));
    constraints += ",l,r";
    text += "sub.s64 left, left, 1;\n"
            "setp.gt.s64 p, left, 0;\n"
            "@p bra again;\n"
            "st.global.u32 [$2+4], $3;\n"
            "fence.acq_rel.sys;\n"
            "st.global.u32 [$2], " + std::to_string(uint32_t(::ft::rt::ErrorCode::wait)) + ";\n"
            "fence.acq_rel.sys;\n"
            "trap;\n";
  } else {
    text += "bra again;\n";
  }
  text += "done:\n}";
  LLVM::InlineAsmOp::create(b, TypeRange(), operands, text, constraints + ",~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
                            ArrayAttr());
  b.setInsertionPointAfter(branch);
  b.barrier();
  if (hasRoles)
    tile::JoinOp::create(b, Value());
}

/// The index, or 0 where it is out of range. The first of all threads that has such a one, where `may`
/// holds, notes it for the host.
Value KernelBuilder::checkIndex(Value index, Value bound, Location place, Value may) {
  Value outside = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, index, bound);
  Value notes = may ? arith::AndIOp::create(b, outside, may).getResult() : outside;
  auto branch = scf::IfOp::create(b, notes, /*withElseRegion=*/false);
  {
    Value record = argument(errorBuffer);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    // Thread blocks run side by side: the record belongs to the one that finds it free.
    Value claim = b.at(record, b.number(offsetof(::ft::rt::ErrorRecord, claimed) / 4), i32);
    Value before = LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::xchg, claim, b.number32(1),
                                             LLVM::AtomicOrdering::monotonic, "device");
    Value isFree = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, before, b.number32(0));
    auto claimed = scf::IfOp::create(b, isFree, /*withElseRegion=*/false);
    b.setInsertionPointToStart(claimed.thenBlock());
        b.store(b.number32(int64_t(plan().kernels.size())), b.at(record, b.number(1), i32), i32);
    b.store(index, b.at(record, b.number(1), i64), i64);
    b.store(bound, b.at(record, b.number(2), i64), i64);
    auto known = llvm::find(plan().places, getPlaceText(place));
    b.store(b.number(known - plan().places.begin()), b.at(record, b.number(3), i64), i64);
    if (known == plan().places.end())
      plan().places.push_back(getPlaceText(place));
    // The code is written last: the host looks at it first.
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, StringRef());
    b.store(b.number32(int64_t(::ft::rt::ErrorCode::index)), record, i32);
  }
  return arith::SelectOp::create(b, outside, b.number(0), index);
}
