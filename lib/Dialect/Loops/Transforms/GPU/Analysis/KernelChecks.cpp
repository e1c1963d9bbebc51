//===- KernelChecks.cpp - which loops thread blocks can run -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops may come from anybody: what the dialect allows and no kernel can do is refused here, where it
// stands, before anything is emitted. What the dialect itself refuses (levels, syncs) never gets here.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"


#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/Transforms/GPU/DeviceMemory.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Schedule/GPU/Plan/GpuPlan.h" // what a machine has of everything
#include "ft/Schedule/GPU/Plan/PlaceBuffers.h" // what warps leave each other
#include "ft/Schedule/GPU/Layouts/RowRuns.h" // what fits as a constant

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

namespace {
class KernelChecks {
public:
  KernelChecks(loops::LaunchOp launch, const Machine &machine, func::FuncOp kernel)
      : launch(launch), machine(machine), kernel(kernel) {}
  LogicalResult run();

private:
  LogicalResult check(Operation *op);
  LogicalResult checkAlloc(loops::AllocOp alloc);
  LogicalResult checkFlat(Operation *op, Value memory, ValueRange indices);
  LogicalResult checkForall(scf::ForallOp loop);
  LogicalResult checkParts(loops::AllocOp alloc, int64_t parts);
  LogicalResult checkLeaf(loops::LeafOp leaf);
  LogicalResult checkRows(loops::LeafOp leaf, loops::ChunksOp rows);
  LogicalResult checkColumns(loops::LeafOp leaf);
  LogicalResult checkBounded(loops::BoundedOp bounded);
  LogicalResult checkConstant(loops::SplatOp splat);

  loops::LaunchOp launch;
  const Machine &machine;
  func::FuncOp kernel;
  int64_t sharedUsed = 0; // bytes
};
} // namespace

/// The chunks of which a value is the number of iterations.
static loops::ChunksOp chunksOfCount(Value count) {
  auto argument = dyn_cast<BlockArgument>(count);
  auto chunks = argument ? dyn_cast<loops::ChunksOp>(argument.getOwner()->getParentOp()) : loops::ChunksOp();
  return chunks && chunks.getCount() == count ? chunks : loops::ChunksOp();
}

/// A part is one thread block': as many are there at once, and the code that touches it deals the same points to the same block.
LogicalResult KernelChecks::checkParts(loops::AllocOp alloc, int64_t parts) {
  if (int64_t most = loops::gridOf(kernel).getMost(); parts > most)
    return alloc.emitError("the GPU engine can't run the loops: each thread block has one part, expected at most ")
           << most << ", found " << parts;
  for (Operation *user : alloc->getUsers()) {
    if (isa<memref::DeallocOp>(user))
      continue;
    loops::LevelAttr dealt;
    for (Operation *parent = user->getParentOp(); parent != kernel && !dealt; parent = parent->getParentOp())
      if (loops::LevelAttr level = loops::levelOf(parent); level && level.getLevel() == etdg::LoopLevel::Grid)
        dealt = level;
    if (dealt && dealt.getMapping() == etdg::IterationMapping::Static)
      continue;
    InFlightDiagnostic diag = user->emitError("the GPU engine can't run the loops: expected loops of the grid that are mapped "
                                              "static around what touches a part of memory that each thread block has, found ")
                              << (dealt ? etdg::stringifyIterationMapping(dealt.getMapping()) : StringRef("none"));
    diag.attachNote(alloc.getLoc()) << "the memory is here";
    return diag;
  }
  return success();
}

LogicalResult KernelChecks::checkAlloc(loops::AllocOp alloc) {
  if (!alloc.isShared())
    return success();
  int64_t count = *alloc.getConstantSize();
  if (std::optional<uint64_t> parts = alloc.getParts()) {
    if (failed(checkParts(alloc, int64_t(*parts))))
      return failure();
    count /= int64_t(*parts);
  }
  Type element = alloc.getType().getElementType();
  int64_t bytes, room = loops::gridOf(kernel).getBlock().getShared() - sharedUsed;
  if (count < 0 || __builtin_mul_overflow(count, bytesOf(element), &bytes) || bytes > room)
    return alloc.emitError("the GPU engine can't run the loops: expected shared memory of at most ")
           << room << " bytes, which is what the kernel's thread blocks have left, found " << count << " elements of " << element;
  sharedUsed += int64_t(llvm::alignTo(bytes, accessBytes));
  return success();
}

LogicalResult KernelChecks::checkFlat(Operation *op, Value memory, ValueRange indices) {
  auto type = cast<MemRefType>(memory.getType());
  if (indices.size() == 1 && type.getLayout().isIdentity() && type.getElementType().isIntOrIndexOrFloat())
    return success();
  return op->emitError("the GPU engine takes elements of memory of type memref<?xT>, found ") << type;
}

LogicalResult KernelChecks::checkForall(scf::ForallOp loop) {
  if (loops::levelOf(loop) && loop.getNumResults() == 0)
    return success();
  return loop.emitError("the GPU engine runs parallel loops of one dimension with a level (#loops.level<...>), without results");
}

LogicalResult KernelChecks::checkRows(loops::LeafOp leaf, loops::ChunksOp rows) {
  int64_t room = leaf.getMost(), most = rows.getMost();
  if (most <= room)
    return success();
  InFlightDiagnostic diag = leaf.emitError("the GPU engine can't run the loops: expected room for ")
                            << most << " rows, which the loop around may give it, found most " << room;
  diag.attachNote(rows.getLoc()) << "the loop is here";
  return diag;
}

LogicalResult KernelChecks::checkColumns(loops::LeafOp leaf) {
  if (!leaf.getColumn())
    return success();
  if (!leaf.getWidth())
    return leaf.emitError("the GPU engine computes columns whose number it is given, columns(%first, %count)");
  loops::ChunksOp columns = chunksOfCount(leaf.getWidth());
  int64_t tile = *leaf.getTile();
  if (!columns || (columns.getUnit() && int64_t(*columns.getUnit()) % tile == 0))
    return success();
  InFlightDiagnostic diag = leaf.emitError("the GPU engine can't run the loops: expected a loop over columns in multiples of the leaf's tile ")
                            << tile << ", found " << (columns.getUnit() ? "unit " + std::to_string(*columns.getUnit()) : "no unit");
  diag.attachNote(columns.getLoc()) << "the loop is here";
  return diag;
}

LogicalResult KernelChecks::checkLeaf(loops::LeafOp leaf) {
  if (leaf.getList())
    return leaf.emitError("the GPU engine has no lists of rows");
  for (ValueRange views : {ValueRange(leaf.getInputs()), ValueRange(leaf.getOutputs())})
    for (Value view : views) {
      if (!view.getDefiningOp<loops::ViewOp>())
        return leaf.emitError("the GPU engine takes views that loops.view makes, found ") << view.getType() << " made in another way";
    }
  if (loops::ChunksOp rows = chunksOfCount(leaf.getRows()); rows && failed(checkRows(leaf, rows)))
    return failure();
  return checkColumns(leaf);
}

LogicalResult KernelChecks::checkBounded(loops::BoundedOp bounded) {
  size_t places = launch->getParentOfType<loops::ProgramOp>().getPlaces().size();
  if (uint64_t(bounded.getPlace()) < places)
    return success();
  InFlightDiagnostic diag = bounded.emitError("expected one of the ") << places << " places of the program, found number "
                                                                      << int64_t(bounded.getPlace());
  diag.attachNote(launch.getLoc()) << "which runs the kernel here";
  return diag;
}

LogicalResult KernelChecks::checkConstant(loops::SplatOp splat) {
  Type element = cast<MemRefType>(splat.getResult().getType()).getElementType();
  if (!splat->hasAttr(loops::names::constant) || schedule::fitsAsConstant(RankedTensorType::get({int64_t(splat.getElements())}, element)))
    return success();
  return splat.emitError("the GPU engine can't run the loops: ") << int64_t(splat.getElements()) << " elements of " << element
                                                                  << " are too many for a constant (loops.constant)";
}

LogicalResult KernelChecks::check(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](loops::AllocOp alloc) { return checkAlloc(alloc); })
      .Case([&](memref::AllocOp alloc) { return alloc.emitError("the GPU engine can't run the loops: expected loops.alloc, which has a place, found memref.alloc"); })
      .Case([&](memref::LoadOp load) { return checkFlat(load, load.getMemRef(), load.getIndices()); })
      .Case([&](memref::StoreOp store) { return checkFlat(store, store.getMemRef(), store.getIndices()); })
      .Case([&](scf::ForallOp loop) { return checkForall(loop); })
      .Case([&](loops::LeafOp leaf) { return checkLeaf(leaf); })
      .Case([&](loops::SplatOp splat) { return checkConstant(splat); })
      .Case([&](loops::BoundedOp bounded) { return checkBounded(bounded); })
      .Default(success());
}

LogicalResult KernelChecks::run() {
  etdg::ThreadBlockAttr block = loops::gridOf(kernel).getBlock();
  if (std::string beyond = schedule::describeBeyond(block, machine); !beyond.empty())
    return kernel.emitError("the GPU engine can't run the loops: ") << beyond;
  // What warps leave for each other lies there, too.
  sharedUsed = schedule::bytesOfWarps(block, machine);
  WalkResult walked = kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (failed(check(op)))
      return WalkResult::interrupt();
    return isa<loops::LeafOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

FailureOr<func::FuncOp> togpu::kernelOf(loops::LaunchOp launch, const Machine &machine) {
  auto module = launch->getParentOfType<ModuleOp>();
  auto kernel = module.lookupSymbol<func::FuncOp>(launch.getCallee());
  auto refuse = [&](const Twine &what) -> FailureOr<func::FuncOp> {
    InFlightDiagnostic diag = launch.emitError("expected a kernel of thread blocks (loops.grid), found ") << what;
    if (kernel)
      diag.attachNote(kernel.getLoc()) << "it is here";
    return diag;
  };
  if (!kernel || kernel.isExternal() || !llvm::hasSingleElement(kernel.getBody()))
    return refuse("none with loops in a body");
  if (!loops::gridOf(kernel))
    return refuse("one of the CPU: convert-etdg-to-loops makes others for target = " + listTargetsOf(Machine::Kind::GPU));
  if (failed(KernelChecks(launch, machine, kernel).run()))
    return failure();
  return kernel;
}

LogicalResult togpu::eachKernel(loops::ProgramOp program, const Machine &machine,
                                llvm::function_ref<LogicalResult(func::FuncOp, ArrayRef<loops::LaunchOp>)> take) {
  llvm::MapVector<Operation *, SmallVector<loops::LaunchOp>> kernels;
  program.walk([&](loops::LaunchOp launch) {
    auto kernel = launch->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(launch.getCallee());
    if (kernel && loops::gridOf(kernel))
      kernels[kernel].push_back(launch);
  });
  for (auto &[kernel, launches] : kernels) {
    for (loops::LaunchOp launch : launches)
      if (failed(kernelOf(launch, machine)))
        return failure();
    if (failed(take(cast<func::FuncOp>(kernel), launches)))
      return failure();
  }
  return success();
}
