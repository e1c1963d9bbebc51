//===- LoopLeaves.cpp - leaves and memory of loops, for a thread block -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf's operands are pointers and distances between rows, read off the views that it has.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/ChooseCopies.h"
#include "ft/Dialect/Loops/Transforms/GPU/ChooseSwizzles.h"
#include "LoopWalker.h"
#include "MapCoordinates.h"

#include "ft/Dialect/Loops/Transforms/GPU/RowAccesses.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value LoopWalker::isFirstThread() {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, e.threads.id, b.number32(0));
}

/// Of memory of which block u has part u, at `own`: where part 0 would lie.
Value LoopWalker::firstPartOf(Value own, int64_t bytes) {
  return e.atEntry([&] {
    Value block = b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type()));
    return b.at(own, b.sub(b.number(0), b.mul(block, bytes)), b.getI8Type());
  });
}

LogicalResult LoopWalker::takeAlloc(loops::AllocOp alloc) {
  Value size = alloc.getSize();
  std::optional<HostExpr> count = counts.valueOf(size);
  if (!count)
    return alloc.emitError("the GPU engine makes memory of sizes that a call's lengths give");
  int64_t elementBytes = bytesOf(alloc.getType().getElementType());
  if (loops::MemoryAttr memory = alloc.getMemoryAttr(); memory && memory.getOffset() >= 0) {
    Value own = e.sharedMemory(memory.getOffset());
    known.values[alloc] = alloc.getParts() ? firstPartOf(own, alloc.getBytesOfBlock()) : own;
    return success();
  }
  HostExpr bytes =
      HostExpr::binary(HostExpr::ceildiv, *count * HostExpr(elementBytes), HostExpr(partAlignment)) * HostExpr(partAlignment);
  Known saved = known;
  Value inKernel = e.atEntry([&] {
    Value all = b.mul(valueOf(size), elementBytes);
    return b.mul(b.ceilDiv(all, b.number(partAlignment)), partAlignment);
  });
  known = std::move(saved);
  known.values[alloc] = e.workspaceMemory(bytes, inKernel);
  return success();
}

LogicalResult LoopWalker::takeLoad(memref::LoadOp load) {
  Type element = load.getMemRefType().getElementType();
  known.values[load] = b.load(b.at(valueOf(load.getMemRef()), valueOf(load.getIndices()[0]), element), element);
  return success();
}

/// One thread stores, where they do not share the loop around; the others see it when they have waited.
LogicalResult LoopWalker::takeStore(memref::StoreOp store) {
  Type element = store.getMemRefType().getElementType();
  Value value = valueOf(store.getValueToStore());
  Value address = b.at(valueOf(store.getMemRef()), valueOf(store.getIndices()[0]), element);
  OpBuilder::InsertionGuard guard(b);
  if (!isAlone)
    b.setInsertionPointToStart(scf::IfOp::create(b, isFirstThread(), /*withElseRegion=*/false).thenBlock());
  b.store(value, address, element);
  return success();
}

LogicalResult LoopWalker::takeBounded(loops::BoundedOp bounded) {
  auto program = launch->getParentOfType<loops::ProgramOp>();
  auto place = cast<LocationAttr>(program.getPlaces()[bounded.getPlace()]);
  known.values[bounded] = e.checkIndex(valueOf(bounded.getValue()), valueOf(bounded.getBound()), place,
                                        isAlone ? Value() : isFirstThread());
  return success();
}

LoopWalker::RowsAt LoopWalker::rowsOf(Value view) {
  auto here = view.getDefiningOp<loops::ViewOp>();
  Type element = here.getType().getElementType();
  Value base = valueOf(here.getMemory()), offset = b.number(0), step = b.number(0), growth;
  for (const loops::ViewOp::Dim &dim : here.getDims()) {
    Value stride = valueOf(dim.stride);
    offset = b.add(offset, b.mul(valueOf(dim.index), stride));
    if (!isZeroInteger(dim.step))
      step = b.add(step, b.mul(valueOf(dim.step), stride));
    auto index = dyn_cast<Value>(dim.index);
    if (Value grown = index ? growthOf(index) : Value())
      growth = growth ? b.add(growth, b.mul(grown, stride)) : b.mul(grown, stride);
  }
  RowsAt rows{b.at(base, offset, element), step, growth, std::nullopt};
  // (Layouts are chosen as if what is chosen differed.)
  if (lift.count > 1 && !rows.lift && here.getMemory().getDefiningOp<scf::IfOp>())
    rows.lift = b.number(0);
  if (auto found = known.splats.find(here.getMemory()); found != known.splats.end())
    rows.value = found->second;
  return rows;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

void LoopWalker::bindOperands(loops::LeafOp leaf, LeafEmitter &emitter, IsBound isBound) {
  emitter.memories.resize(emitter.graph.buffers.size());
  for (auto [number, memory, buffer] : llvm::enumerate(emitter.memories, emitter.graph.buffers)) {
    if (!isBound(int(number)))
      continue;
    switch (buffer.kind) {
    case leaf::Buffer::Kind::Input: {
      RowsAt rows = rowsOf(leaf.getInputs()[buffer.number]);
      memory.pointer = rows.pointer;
      memory.rowStride = buffer.batched ? rows.stride : Value();
      memory.liftStride = rows.lift;
      memory.aligned = isAligned(leaf, buffer.number);
      memory.swizzled = isSwizzledView(leaf.getInputs()[buffer.number]);
      if (rows.value) {
        memory.isValue = rows.value->holds;
        memory.value = rows.value->value;
        memory.valueStep = matchPattern(rows.stride, m_Zero()) ? Value() : rows.value->step;
        memory.liftStep = rows.value->lift;
        memory.each = rows.value->each;
      }
      break;
    }
    case leaf::Buffer::Kind::Output: {
      RowsAt rows = rowsOf(leaf.getOutputs()[buffer.number]);
      memory.pointer = rows.pointer;
      memory.rowStride = rows.stride;
      memory.liftStride = rows.lift;
      memory.aligned = isAligned(leaf, unsigned(leaf.getInputs().size()) + buffer.number);
      memory.swizzled = isSwizzledView(leaf.getOutputs()[buffer.number]);
      break;
    }
    case leaf::Buffer::Kind::Constant: {
      LLVM::GlobalOp constant = e.addConstant(buffer.constant);
      memory.pointer = e.atEntry(
          [&] { return LLVM::AddressOfOp::create(b, b.pointer(global), constant.getSymName()).getResult(); });
      memory.aligned = true;
      break;
    }
    case leaf::Buffer::Kind::Scratch:
      break;
    }
  }
}

/// What the leaf's layouts say: nothing of them is chosen here.
void LoopWalker::setTiling(loops::LeafOp leaf, LeafTiling tiling, LeafEmitter &emitter) {
  emitter.tiles = std::move(tiling.tiles);
  if (tiling.chain) {
    chain = std::move(tiling.chain);
    emitter.chain = &*chain;
  }
  if (!tiling.rows)
    return;
  rowPlan = std::move(tiling.rows);
  emitter.rowPlan = &*rowPlan;
  remark::passed(leaf.getLoc(), remark::RemarkOpts::name("gpu-rows").category("gpu"))
      << remark::reason("rows of {0} elements stay in registers from the first load to the last store", rowPlan->length)
      << remark::metric("lanes", rowPlan->lanes) << remark::metric("elements-of-an-access", rowPlan->width)
      << remark::metric("accesses-of-a-lane", rowPlan->chunks) << remark::metric("rows-at-once", rowPlan->pointsAtOnce());
}

void LoopWalker::bindValues(loops::LeafOp leaf, LeafEmitter &emitter) {
  const leaf::LeafGraph &graph = emitter.graph;
  llvm::DenseSet<int> inProducts;
  for (auto [tiles, nest] : llvm::zip(emitter.tiles, graph.nests))
    if (tiles.product)
      for (const leaf::NestMember &member : nest.members)
        for (const leaf::ElementView &view : member.reads)
          if (!view.isSplat())
            inProducts.insert(view.buffer);
  for (auto [i, memory] : llvm::enumerate(emitter.memories)) {
    if (graph.buffers[i].kind != leaf::Buffer::Kind::Input || !memory.isValue)
      continue;
    auto view = leaf.getInputs()[graph.buffers[i].number].getDefiningOp<loops::ViewOp>();
    if (inProducts.contains(int(i)))
      memory.isValue = Value();
    else if (!formOf(view.getMemory()).hasMemory)
      memory.pointer = Value();
  }
}

FailureOr<std::unique_ptr<LoopWalker::LeafHere>> LoopWalker::readHere(loops::LeafOp leaf) {
  etdg::ThreadBlockAttr block = loops::gridOf(source).getBlock();
  auto here = std::make_unique<LeafHere>();
  FailureOr<PlacedLeaf> placed = readPlacedLeaf(leaf, block, lift, e.machine);
  if (failed(placed))
    return failure();
  here->placed = std::move(*placed);
  auto &[own, tiling, places] = here->placed;
  if (failed(checkConstants(leaf, own, tiling)) || failed(checkAccesses(leaf, own.form.graph, tiling, places, block.getThreads(), e.machine)))
    return failure();
  FailureOr<KeptSums> kept = readKept(leaf, own, tiling, launch, e.machine);
  if (failed(kept))
    return failure();
  here->kept = std::move(*kept);
  LeafEmitter &emitter = here->emitter.emplace(b, own.form.graph, e.threads);
  emitter.checkIndex = [this](Value index, int64_t bound, Operation *op) {
    return e.checkIndex(index, b.number(bound), op->getLoc(), Value());
  };
  emitter.leaf = leaf;
  emitter.launch = launch;
  emitter.valueOf = [this](OpFoldResult value) { return valueOf(value); };
  emitter.tensorMap = [this](const OperandMap &map) { return emitTensorMap(e, code, launch, map); };
  emitter.rows = own.rowWise ? valueOf(leaf.getRows()) : b.number(1);
  emitter.maxRows = leaf.getMost();
  emitter.lifts = lift.count;
  emitter.lifted = own.lifted;
  if (leaf.getColumn())
    emitter.columns = Columns{valueOf(leaf.getColumn()), valueOf(leaf.getWidth()), int64_t(*leaf.getTile())};
  return std::move(here);
}

/// What it says of accesses point by point, of rows in registers, and of where threads wait.
LogicalResult LoopWalker::readAccesses(loops::LeafOp leaf, LeafHere &here) {
  LeafEmitter &emitter = *here.emitter;
  auto &[own, tiling, places] = here.placed;
  FailureOr<std::vector<LeafNest>> nests = readNests(leaf, own, tiling, places, e.machine);
  if (failed(nests))
    return failure();
  if (isAsync(leaf))
    if (std::string why = describeWaiting(leaf, nests->front().nest, nests->front().said, source, launch); !why.empty())
      return leaf.emitError("the GPU engine can't run the leaf's nests: threads can't go on while it copies (async): ") << why;
  FailureOr<SmallVector<bool>> syncs = readSyncs(leaf, tiling, own.form.graph.nests.size());
  if (failed(syncs))
    return failure();
  emitter.nests = std::move(*nests);
  emitter.syncs = std::move(*syncs);
  if (!tiling.rows)
    return success();
  FailureOr<tile::RowAccessesAttr> accesses = readRowAccesses(leaf, own, tiling, places, e.machine);
  if (failed(accesses))
    return failure();
  emitter.rowAccesses = *accesses;
  return success();
}

LogicalResult LoopWalker::takeLeaf(loops::LeafOp leaf) {
  if (leaf.getList())
    return leaf.emitError("the GPU engine has no lists of rows");
  Location saved = b.getLoc();
  b.setLoc(leaf.getLoc());
  FailureOr<std::unique_ptr<LeafHere>> here = readHere(leaf);
  if (failed(here) || failed(readAccesses(leaf, **here)))
    return failure();
  LeafEmitter &emitter = *(*here)->emitter;
  bindOperands(leaf, emitter, [](int) { return true; });
  setTiling(leaf, std::move((*here)->placed.tiling), emitter);
  bindValues(leaf, emitter);
  bindHanded(leaf, emitter);
  e.placeLeaf((*here)->placed.places, emitter);
  giveKept((*here)->kept, leaf, emitter);
  LogicalResult emitted = emitter.emit();
  takeNext(leaf, emitter);
  b.setLoc(saved);
  return emitted;
}
