//===- PlaceBuffers.cpp - where a GPU has the buffers of a graph ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph's own buffers lie in the memory of the call. What a block's body has for itself lies in shared memory, kernel by kernel in the
// order of the program, as far as the part that leaves do not need goes; else each thread block has it in the workspace.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Plan/PlaceBuffers.h"

#include "ft/Schedule/GPU/Plan/GpuPlan.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/CPU/Plan.h"

#include "ft/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGPLACEBUFFERS
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::BlockOp;
using etdg::BufferMemory;
using etdg::BufferOp;

int64_t schedule::sharedBytesForBuffers(etdg::ThreadBlockAttr block) { return block.getShared() * 2 / 3; }

int64_t schedule::bytesOfWarps(etdg::ThreadBlockAttr block, const Machine &machine) {
  constexpr int64_t slotBytes = 8; // the widest element
  return block.getThreads() / machine.occupancy.warp * mostSlots * slotBytes;
}

namespace {
/// Places the buffers of one kernel.
class BufferPlacer {
public:
  BufferPlacer(const GpuScheduleOptions &options) : options(options) {}
  LogicalResult placeKernel(Operation *item);

private:
  using Nests = SmallVector<SmallVector<BlockOp>>;
  /// Inside of what one thread block runs; `rows`: how many rows a block's buffers are made for.
  LogicalResult placeBody(Region &body, std::optional<int64_t> rows);
  LogicalResult placeNest(ArrayRef<BlockOp> nest, std::optional<int64_t> rows);
  void place(BufferOp buffer, int64_t rows);

  const GpuScheduleOptions &options;
  int64_t room = 0, used = 0; // bytes of shared memory
};
} // namespace

/// Existing annotations are kept, and takes its part.
void BufferPlacer::place(BufferOp buffer, int64_t rows) {
  constexpr int64_t alignment = 16; // of memory in bytes
  std::optional<int64_t> bytes = buffer.getBytes();
  if (bytes)
    bytes = int64_t(llvm::alignTo(*bytes * rows, alignment));
  if (!buffer.getMemory()) {
    bool fits = bytes && used + *bytes <= room;
    buffer.setMemory(fits ? BufferMemory::Shared : BufferMemory::Workspace);
    remark::passed(buffer.getLoc(), remark::RemarkOpts::name("buffer-memory").category("storage"))
        << remark::reason("in {0}: {1} bytes of shared memory are left for buffers", etdg::stringifyBufferMemory(*buffer.getMemory()),
                          std::max<int64_t>(room - used, 0))
        << remark::metric("bytes", bytes.value_or(-1));
  }
  if (*buffer.getMemory() == BufferMemory::Shared)
    used += *bytes;
}

LogicalResult BufferPlacer::placeNest(ArrayRef<BlockOp> nest, std::optional<int64_t> rows) {
  for (BlockOp block : nest)
    if (!block.isLeaf() && failed(placeBody(block.getBody(), rows)))
      return failure();
  return success();
}

LogicalResult BufferPlacer::placeBody(Region &body, std::optional<int64_t> rows) {
  for (auto buffer : body.getOps<BufferOp>())
    place(buffer, rows.value_or(1));
  for (NestGroup &group : getGroups(body)) {
    auto kernel = dyn_cast<etdg::KernelOp>(group.op);
    for (auto [nest, common] : llvm::zip_equal(group.nests, group.common)) {
      unsigned shared = kernel && group.nests.size() > 1 ? unsigned(kernel.getShared()) : unsigned(common.size());
      GpuPlace place{/*isGrid=*/false, /*isGrouped=*/shared > 0, shared, rows.has_value()};
      FailureOr<GpuPlan> plan = readGpuPlan(nest, place, options);
      if (failed(plan) || failed(placeNest(nest, plan->row ? std::optional<int64_t>(plan->maxRows) : rows)))
        return failure();
    }
  }
  return success();
}

LogicalResult BufferPlacer::placeKernel(Operation *item) {
  Nests nests;
  GpuPlace place;
  if (auto grouped = dyn_cast<etdg::KernelOp>(item)) {
    nests = etdg::getNests(grouped.getBody());
    place.isGrouped = nests.size() > 1;
    place.shared = place.isGrouped ? unsigned(grouped.getShared()) : 0;
  } else if (auto nest = dyn_cast<etdg::NestOp>(item)) {
    nests.push_back(llvm::to_vector(nest.getBody().getOps<BlockOp>()));
  } else {
    nests.push_back({cast<BlockOp>(item)});
  }
  used = room = 0;
  for (ArrayRef<BlockOp> nest : nests) {
    FailureOr<GpuPlan> plan = readGpuPlan(nest, place, options);
    if (failed(plan))
      return failure();
    if (!room) {
      room = sharedBytesForBuffers(plan->block);
      used = bytesOfWarps(plan->block, options.getMachine());
    }
    std::optional<int64_t> rows;
    if (plan->row)
      rows = plan->rowTile ? plan->rowTile : plan->maxRows;
    if (failed(placeNest(nest, rows)))
      return failure();
  }
  return success();
}

/// The kernels of a body, and of the variants in it, that have buffers inside.
static LogicalResult placeItems(Region &body, const GpuScheduleOptions &options) {
  for (Operation &item : body.front()) {
    if (auto variants = dyn_cast<etdg::VariantsOp>(item)) {
      for (Region &region : variants.getVariants())
        if (failed(placeItems(region, options)))
          return failure();
    } else if (auto buffer = dyn_cast<BufferOp>(item)) {
      buffer.setMemory(BufferMemory::Call);
    } else if (isa<etdg::KernelOp, etdg::NestOp, BlockOp>(item)) {
      bool hasBuffers = item.walk([](BufferOp) { return WalkResult::interrupt(); }).wasInterrupted();
      if (hasBuffers && failed(BufferPlacer(options).placeKernel(&item)))
        return failure();
    }
  }
  return success();
}

LogicalResult mlir::ft::placeBuffers(etdg::GraphOp graph, const GpuScheduleOptions &options) {
  return graph.isExternal() ? success() : placeItems(graph.getBody(), options);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ETDGPlaceBuffers : ft::impl::ETDGPlaceBuffersBase<ETDGPlaceBuffers> {
  using ETDGPlaceBuffersBase::ETDGPlaceBuffersBase;
  void runOnOperation() override {
    FailureOr<GpuScheduleOptions> options = readGpuOptions(getOperation().getLoc(), target, machine, "choose");
    if (failed(options) || failed(placeBuffers(getOperation(), *options)))
      signalPassFailure();
  }
};
} // namespace
