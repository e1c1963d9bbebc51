//===- PTX.cpp - LLVM dialect modules to PTX ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Target/PTX/PTX.h"

#include "PtxParts.h"

#include "ft/Machine/FindMachine.h"
#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Target/MachineCode/MachineCode.h"

#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>
#include <utility>

using namespace mlir;
using namespace mlir::ft;

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

/// The oldest PTX version that has what both targets' kernels use.
static constexpr const char features[] = "+ptx80";

bool mlir::ft::isGpuTarget(StringRef target) { return llvm::is_contained(targetsOf(Machine::Kind::GPU), target); }

static std::unique_ptr<llvm::TargetMachine> createMachine(ModuleOp module, StringRef target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return createTargetMachine(module, llvm::Triple("nvptx64-nvidia-cuda"), target, features,
                             llvm::CodeGenOptLevel::Aggressive);
}

namespace {
/// `wgmma.mma_async` with its left operand in registers (PTX ISA): sums are in and out, and follow as ties.
struct WriteGroupMma : OpRewritePattern<tile::GroupMmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tile::GroupMmaOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    const size_t sums = size_t(op.getColumns()) / 2;
    std::string text, constraints;
    llvm::raw_string_ostream os(text), ties(constraints);
    StringRef element = op.getBf16() ? "bf16" : "f16";
    os << "{\n.reg .pred adds;\nsetp.ne.b32 adds, 1, 0;\nwgmma.mma_async.sync.aligned.m64n" << op.getColumns() << "k16.f32." << element << "." << element << " {";
    SmallVector<Value> operands;
    for (size_t i = 0; i < sums; ++i) {
      os << (i ? ", $" : "$") << i;
      ties << (i ? ",=f" : "=f");
      operands.push_back(LLVM::ExtractValueOp::create(b, op.getSums(), int64_t(i)));
    }
    llvm::append_range(operands, op.getLhs());
    operands.push_back(op.getRhs());
    for (size_t i = 0; i < sums; ++i)
      ties << "," << i;
    os << "}, {";
    size_t next = 2 * sums; // after the ties, which have numbers as well
    for (size_t i = 0; i < op.getLhs().size(); ++i)
      os << (i ? ", $" : "$") << next++;
    for (size_t i = 0; i < op.getLhs().size(); ++i)
      ties << ",r";
    os << "}, $" << next << ", adds, 1, 1, " << (op.getRhsRows() ? 1 : 0) << ";\n}";
    ties << ",l";
    auto assembly = LLVM::InlineAsmOp::create(b, op.getType(), operands, text, constraints, /*has_side_effects=*/true, /*is_align_stack=*/false,
                                          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
    rewriter.replaceOp(op, assembly.getResult(0));
    return success();
  }
};
} // namespace

namespace {
/// LLVM takes the intrinsics of `griddepcontrol` for such as touch no memory, and moves loads over them.
struct WriteGridDependency : OpRewritePattern<NVVM::GriddepcontrolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NVVM::GriddepcontrolOp op, PatternRewriter &rewriter) const override {
    std::string text = ("griddepcontrol." + NVVM::stringifyGridDepActionKind(op.getKind()) + ";").str();
    rewriter.replaceOpWithNewOp<LLVM::InlineAsmOp>(op, TypeRange(), ValueRange(), text, "~{memory}", /*has_side_effects=*/true, /*is_align_stack=*/false,
                                                   LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
    return success();
  }
};
} // namespace

/// Makes inline assembly of NVVM's operations for which LLVM has no intrinsic, such as `nvvm.wgmma.mma_async`. It is done here
/// and not before: the emulator reads these operations themselves.
static LogicalResult writeAssembly(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateNVVMToLLVMConversionPatterns(patterns);
  patterns.add<WriteGroupMma, WriteGridDependency>(module.getContext());
  LLVMConversionTarget target(*module.getContext());
  target.addIllegalOp<tile::GroupMmaOp, NVVM::GriddepcontrolOp>();
  return applyPartialConversion(module, target, std::move(patterns));
}

FailureOr<std::string> mlir::ft::translateToNVPTXText(ModuleOp module, StringRef target) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(module, target);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = machine && succeeded(writeAssembly(module)) ? translateForMachine(module, *machine, context) : nullptr;
  if (!code)
    return failure();
  return printToText(*code);
}

FailureOr<std::string> mlir::ft::translateToPTX(ModuleOp module, StringRef target) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(module, target);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      machine && succeeded(writeAssembly(module)) ? translateToIR(module, *machine, context) : nullptr;
  if (!code)
    return failure();
  llvm::Expected<std::string> text = compileInParts(std::move(code), [&] { return createMachine(module, target); });
  if (!text)
    return module.emitError() << "LLVM failed: " << llvm::toString(text.takeError());
  return std::move(*text);
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

struct PtxAssembly::Process {
  std::string program, arch;
  SmallString<64> input, output, log;
  llvm::sys::ProcessInfo info;
  bool ended = false;

  /// Kernels of a text on all processors, which assemblers before 12.3 don't know.
  bool run(bool allProcessors) {
    SmallVector<StringRef> arguments{program, arch, "-O3", input, "-o", output};
    if (allProcessors)
      arguments.push_back("--split-compile=0");
    std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
    bool failed = false;
    info = llvm::sys::ExecuteNoWait(program, arguments, std::nullopt, redirects, /*MemoryLimit=*/0, /*ErrMsg=*/nullptr, &failed);
    ended = failed;
    return !failed;
  }

  ~Process() {
    for (StringRef path : {StringRef(input), StringRef(output), StringRef(log)})
      if (!path.empty())
        llvm::sys::fs::remove(path);
  }
};

PtxAssembly::PtxAssembly(std::unique_ptr<Process> process) : process(std::move(process)) {}
PtxAssembly::PtxAssembly(PtxAssembly &&) = default;
PtxAssembly::~PtxAssembly() {
  if (process)
    wait();
}

std::optional<PtxAssembly> PtxAssembly::start(StringRef ptx, StringRef target) {
  if (getenv("FT_NO_PTXAS"))
    return std::nullopt;
  auto program = llvm::sys::findProgramByName("ptxas");
  if (!program)
    return std::nullopt;
  auto process = std::make_unique<Process>();
  process->program = *program;
  process->arch = ("-arch=" + target).str();
  if (llvm::sys::fs::createTemporaryFile("ft", "ptx", process->input) ||
      llvm::sys::fs::createTemporaryFile("ft", "cubin", process->output) ||
      llvm::sys::fs::createTemporaryFile("ft", "log", process->log))
    return std::nullopt;
  {
    std::error_code failed;
    llvm::raw_fd_ostream file(process->input, failed);
    file << ptx;
  }
  if (!process->run(/*allProcessors=*/true))
    return std::nullopt;
  return PtxAssembly(std::move(process));
}

void PtxAssembly::wait() {
  if (std::exchange(process->ended, true))
    return;
  process->info = llvm::sys::Wait(process->info, /*SecondsToWait=*/std::nullopt);
}

std::optional<std::string> PtxAssembly::finish(Location loc) {
  wait();
  auto read = [](StringRef path) -> std::optional<std::string> {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return std::nullopt;
    return (*buffer)->getBuffer().str();
  };
  if (process->info.ReturnCode != 0 && process->run(/*allProcessors=*/false))
    wait();
  if (process->info.ReturnCode == 0)
    return read(process->output);
  emitWarning(loc) << "ptxas refuses the kernels: " << read(process->log).value_or("");
  return std::nullopt;
}
