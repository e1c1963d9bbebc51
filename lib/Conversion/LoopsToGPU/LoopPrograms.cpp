//===- LoopPrograms.cpp - programs of loops as launch plans ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program says of its callers, its buffers and launches becomes a launch plan; each of its
// launches gets a kernel of its own.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/ChooseCopies.h"
#include "LoopWalker.h"

#include "ft/Dialect/Tile/IR/AttributeNames.h"
#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using loops::BufferKind;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static Parameter parameterOf(loops::BufferOp buffer, StringRef otherwise) {
  etdg::BufferType type = buffer.getType();
  Parameter parameter{llvm::to_vector(type.getLengths()), type.getElement(),
                      buffer.getName().value_or(otherwise).str(), unsigned(buffer.getStrided().value_or(0)), {}};
  if (std::optional<ArrayAttr> groups = buffer.getStrides())
    for (auto group : groups->getAsRange<DenseI64ArrayAttr>())
      parameter.strideGroups.push_back(llvm::to_vector(group.asArrayRef()));
  return parameter;
}

/// What callers of a program see.
static Interface interfaceOf(loops::ProgramOp program) {
  Interface code{program.getSymName().str(), program.getLoc(), {}, {}, {}, program.getBounds().value_or(BoundsAttr()),
                 program.getChecks().value_or(ArrayAttr()), {}};
  for (auto [i, buffer] : llvm::enumerate(program.getBuffers(BufferKind::Argument)))
    code.inputs.push_back(parameterOf(buffer, "argument" + std::to_string(i)));
  for (auto [i, buffer] : llvm::enumerate(program.getBuffers(BufferKind::Result)))
    code.outputs.push_back(parameterOf(buffer, "result" + std::to_string(i)));
  for (auto name : program.getLengths().getAsRange<StringAttr>())
    code.names.push_back(name);
  if (std::optional<ArrayRef<int64_t>> pairs = program.getInPlace())
    code.inPlace = llvm::to_vector(*pairs);
  return code;
}

namespace {
/// Buffers and steps of one program.
class ProgramEmitter {
public:
  ProgramEmitter(loops::ProgramOp program, const GpuOptions &options)
      : program(program), code(interfaceOf(program)), e(program.getLoc(), options, code.names) {}
  FailureOr<GpuModule> run();

private:
  LogicalResult addBuffers();
  LogicalResult addSteps(Region &body);
  /// A branch of the plan for each variant but the last.
  LogicalResult addVariants(loops::VariantsOp variants, unsigned number);

  loops::ProgramOp program;
  Interface code;
  KernelBuilder e;
};
} // namespace

LogicalResult ProgramEmitter::addBuffers() {
  auto describe = [&](loops::BufferOp buffer) -> CallBuffer & {
    return e.describe(buffer.getResult(), buffer.getType().getLengths(), buffer.getType().getElement());
  };
  int64_t number = 0;
  for (BufferKind kind : {BufferKind::Argument, BufferKind::Result})
    for (loops::BufferOp buffer : program.getBuffers(kind))
      e.addArgument(describe(buffer), number++);
  for (auto buffer : program.getBody().front().getOps<loops::BufferOp>()) {
    std::optional<int64_t> slot;
    if (buffer.getSlot())
      slot = int64_t(*buffer.getSlot());
    if (buffer.getKind() == BufferKind::Constant && failed(e.addCallConstant(buffer, describe(buffer), *buffer.getValue())))
      return failure();
    if (buffer.getKind() == BufferKind::Intermediate) {
      describe(buffer);
      e.addIntermediate(buffer.getResult(), buffer.getPlanes().value_or(ArrayRef<int64_t>()), slot);
    }
  }
  e.addErrorBuffer();
  e.placeIntermediates();
  return success();
}

LogicalResult ProgramEmitter::addVariants(loops::VariantsOp variants, unsigned number) {
  size_t before = e.plan().steps.size();
  if (failed(addSteps(variants.getVariants()[number])))
    return failure();
  if (number + 1 == variants.getVariants().size())
    return success();
  ::ft::rt::Step branch;
  branch.kind = ::ft::rt::Step::branch;
  branch.condition = e.hostGuard(cast<etdg::GuardAttr>(variants.getGuards()[number]));
  branch.body = e.takeSteps(before);
  if (failed(addVariants(variants, number + 1)))
    return failure();
  branch.otherwise = e.takeSteps(before);
  e.plan().steps.push_back(std::move(branch));
  return success();
}

LogicalResult ProgramEmitter::addSteps(Region &body) {
  for (Operation &op : body.front()) {
    if (auto variants = dyn_cast<loops::VariantsOp>(op); variants && failed(addVariants(variants, 0)))
      return failure();
    auto launch = dyn_cast<loops::LaunchOp>(op);
    if (!launch)
      continue;
    FailureOr<func::FuncOp> kernel = kernelOf(launch, e.machine);
    if (failed(kernel) || failed(checkTasks(*kernel, launch)) || failed(checkAlignment(*kernel, launch)) ||
        failed(checkMemory(*kernel, e.machine)) || failed(checkCopies(*kernel)) ||
        failed(LoopWalker(e, code, launch, *kernel).run(e.uniqueName(launch.getCallee().str(), ""))))
      return failure();
  }
  return success();
}

FailureOr<GpuModule> ProgramEmitter::run() {
  FailureOr<::ft::rt::Entry> entry = makeEntry(code);
  if (failed(entry))
    return failure();
  e.begin(std::move(*entry));
  if (failed(addBuffers()) || failed(addSteps(program.getBody())))
    return failure();
  return std::move(e.result);
}

FailureOr<GpuModule> mlir::ft::lowerProgramToGpu(loops::ProgramOp program, const GpuOptions &options) {
  program.getContext()->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, NVVM::NVVMDialect, scf::SCFDialect,
                                    math::MathDialect, linalg::LinalgDialect, tensor::TensorDialect, tile::TileDialect>();
  return ProgramEmitter(program, options).run();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Value LoopWalker::bindBuffer(loops::BufferOp buffer) {
  auto addressOf = [&](LLVM::GlobalOp constant) {
    return e.atEntry(
        [&] { return LLVM::AddressOfOp::create(b, b.pointer(global), constant.getSymName()).getResult(); });
  };
  if (buffer.getKind() == BufferKind::Splat)
    return addressOf(e.addConstant(DenseElementsAttr::get(buffer.getType().getElement(), cast<TypedAttr>(*buffer.getValue()))));
  CallBuffer &info = e.callBuffers.find(buffer.getResult())->second;
  return info.planBuffer < 0 ? addressOf(info.constant) : e.argument(info.planBuffer);
}

LogicalResult LoopWalker::bindArguments() {
  for (auto [argument, given] : llvm::zip_equal(source.getArguments(), launch.getArguments())) {
    Operation *from = given.getDefiningOp();
    if (auto length = dyn_cast<loops::LengthOp>(from)) {
      known.values[argument] = e.symbolValue(length.getNameAttr());
    } else if (auto stride = dyn_cast<loops::StrideOp>(from)) {
      auto buffer = stride.getBuffer().getDefiningOp<loops::BufferOp>();
      known.values[argument] = e.integerArgument(
          getHostStride(e.result.entry, code, unsigned(*buffer.getIndex()), unsigned(stride.getDimension())));
    } else {
      known.values[argument] = bindBuffer(cast<loops::BufferOp>(from));
    }
  }
  return success();
}

LogicalResult LoopWalker::run(StringRef name) {
  etdg::ThreadBlockAttr block = loops::gridOf(source).getBlock();
  const bool isWaiting = hasWaits(source);
  bool isFixed = false;
  source.walk([&](Operation *op) {
    loops::LevelAttr level = loops::levelOf(op);
    isFixed |= level && level.getMapping() == etdg::IterationMapping::Static;
  });
  b.setLoc(source.getLoc());
  e.cooperative = isWaiting;
  e.overlaps = launch.getOverlaps();
  e.hasRoles = source->hasAttr(tile::names::pipeline);
  e.sharedBytes = source->getAttrOfType<loops::SharedAttr>(loops::names::shared).getBytes();
  e.threads.count = block.getThreads();
  e.beginFunction(name);
  if (failed(bindArguments()) || failed(takeBlock(source.getBody().front())))
    return failure();
  e.endFunction(block);
  if (auto pipeline = source->getAttrOfType<tile::PipelineAttr>(tile::names::pipeline))
    e.kernel->setAttr(tile::names::pipeline, pipeline);
  // Blocks that wait for each other all run at once; others are as many as there are tasks, where the host can count them.
  constexpr int64_t largestGrid = int64_t(1) << 30; // that a launch may have, below 2^31
  int64_t given = loops::gridOf(source).getMost(), most = given ? std::min(given, largestGrid) : largestGrid;
  // What stands beside grid loops one thread block computes, however many tasks these have.
  auto isNest = [](Operation &op) { return op.getNumRegions() > 0; };
  if (tasks && llvm::count_if(source.getBody().front(), isNest) > 1)
    tasks = HostExpr::binary(HostExpr::max, *tasks, 1);
  HostExpr blocks = isWaiting || !tasks ? HostExpr(most) : HostExpr::binary(HostExpr::min, *tasks, most);
  e.addLaunch(name, blocks, /*shrinks=*/isWaiting && !isFixed);
  return success();
}
