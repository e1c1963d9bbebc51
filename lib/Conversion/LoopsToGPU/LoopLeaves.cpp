//===- LoopLeaves.cpp - leaves and memory of loops, for a block of threads -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf's operands are pointers and distances between rows, read off the views that it has.
//
//===----------------------------------------------------------------------===//
#include "LoopWalker.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
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

LogicalResult LoopWalker::takeAlloc(memref::AllocOp alloc) {
  Value size = alloc.getDynamicSizes().front();
  std::optional<HostExpr> count = onHost(size);
  if (!count)
    return alloc.emitError("the GPU engine makes memory of sizes that a call's lengths give");
  int64_t elementBytes = bytesOf(alloc.getType().getElementType());
  auto kind = alloc->getAttrOfType<loops::MemoryKindAttr>("loops.memory");
  APInt constant;
  std::optional<int64_t> fixed;
  if (kind && kind.getValue() == loops::MemoryKind::Shared && matchPattern(size, m_ConstantInt(&constant)))
    fixed = constant.getSExtValue() * elementBytes;
  HostExpr bytes =
      HostExpr::binary(HostExpr::ceildiv, *count * HostExpr(elementBytes), HostExpr(partAlignment)) * HostExpr(partAlignment);
  Known saved = known;
  Value inKernel = e.atEntry([&] {
    Value all = b.mul(valueOf(size), elementBytes);
    return b.mul(b.ceilDiv(all, b.number(partAlignment)), partAlignment);
  });
  known = std::move(saved);
  known.values[alloc] = e.blockMemory(bytes, inKernel, fixed);
  return success();
}

LogicalResult LoopWalker::takeLoad(memref::LoadOp load) {
  Type element = load.getMemRefType().getElementType();
  if (hasStored && !isAlone) { // (by the first thread)
    b.barrier();
    hasStored = false;
  }
  known.values[load] = b.load(b.at(valueOf(load.getMemRef()), valueOf(load.getIndices()[0]), element), element);
  return success();
}

/// One thread stores, where they do not share the loop around; the others see it behind the barrier before the leaf.
LogicalResult LoopWalker::takeStore(memref::StoreOp store) {
  Type element = store.getMemRefType().getElementType();
  Value value = valueOf(store.getValueToStore());
  Value address = b.at(valueOf(store.getMemRef()), valueOf(store.getIndices()[0]), element);
  OpBuilder::InsertionGuard guard(b);
  if (!isAlone)
    b.setInsertionPointToStart(scf::IfOp::create(b, isFirstThread(), /*withElseRegion=*/false).thenBlock());
  b.store(value, address, element);
  hasStored = true;
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
  auto cast = view.getDefiningOp<memref::ReinterpretCastOp>();
  Type element = cast.getType().getElementType();
  OpFoldResult begin = cast.getMixedOffsets()[0];
  Value base = valueOf(cast.getSource()), offset = valueOf(begin);
  RowsAt rows{b.at(base, offset, element), valueOf(cast.getMixedStrides()[0]), Value(), std::nullopt};
  if (auto value = dyn_cast<Value>(begin))
    rows.lift = growthOf(value);
  // (Layouts are chosen as if what is chosen differed.)
  if (lifts > 1 && !rows.lift && cast.getSource().getDefiningOp<scf::IfOp>())
    rows.lift = b.number(0);
  if (auto found = known.splats.find(cast.getSource()); found != known.splats.end())
    rows.value = found->second;
  return rows;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

LogicalResult LoopWalker::makeForm(loops::LeafOp leaf, LeafForm &form, bool rowWise) {
  form.module = ModuleOp::create(leaf.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(form.module->getBody());
  Block &source = leaf.getBody().front();
  Operation *yield = source.getTerminator();
  auto function = func::FuncOp::create(builder, leaf.getLoc(), "leaf",
                                       builder.getFunctionType(source.getArgumentTypes(), yield->getOperandTypes()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(source.getArguments(), function.getArguments());
  for (Operation &op : source.without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : yield->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  func::ReturnOp::create(builder, yield->getLoc(), results);
  LeafOptions options;
  if (rowWise)
    options.batched.assign(leaf.getVaries().begin(), leaf.getVaries().end());
  for (Value input : leaf.getInputs()) {
    auto type = cast<MemRefType>(input.getType());
    MemoryForm memory = formOf(input.getDefiningOp<memref::ReinterpretCastOp>().getSource());
    form.inputs.push_back({RankedTensorType::get(type.getShape().drop_front(), type.getElementType()),
                           memory.hasIndex || memory.hasStep || memory.hasLift, memory.hasValue});
    SmallVector<int64_t> strides = *loops::getRowStrides(type);
    options.strides.push_back(strides == computeSuffixProduct(type.getShape().drop_front()) ? SmallVector<int64_t>() : strides);
  }
  if (failed(leaf::normalizeLeaf(function)))
    return failure();
  FailureOr<leaf::LeafGraph> graph = leaf::buildLeafGraph(function, options);
  if (failed(graph))
    return failure();
  form.graph = std::move(*graph);
  leaf::fuseNests(form.graph);
  leaf::findGuards(form.graph);
  return success();
}

LogicalResult LoopWalker::bindOperands(loops::LeafOp leaf, LeafEmitter &emitter) {
  emitter.memories.resize(emitter.graph.buffers.size());
  for (auto [memory, buffer] : llvm::zip_equal(emitter.memories, emitter.graph.buffers))
    switch (buffer.kind) {
    case leaf::Buffer::Kind::Input: {
      RowsAt rows = rowsOf(leaf.getInputs()[buffer.number]);
      memory.pointer = rows.pointer;
      memory.rowStride = buffer.batched ? rows.stride : Value();
      memory.liftStride = rows.lift;
      memory.aligned = isAligned(leaf.getInputs()[buffer.number], buffer.batched);
      if (rows.value) {
        memory.isValue = rows.value->holds;
        memory.value = rows.value->value;
        memory.valueStep = rows.value->step;
        memory.liftStep = rows.value->lift;
      }
      break;
    }
    case leaf::Buffer::Kind::Output: {
      RowsAt rows = rowsOf(leaf.getOutputs()[buffer.number]);
      memory.pointer = rows.pointer;
      memory.rowStride = rows.stride;
      memory.liftStride = rows.lift;
      memory.aligned = isAligned(leaf.getOutputs()[buffer.number], emitter.maxRows > 1);
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
  return success();
}

/// The columns of this block of threads, and how each loop nest takes part.
LogicalResult LoopWalker::bindColumns(loops::LeafOp leaf, LeafForm &form, LeafEmitter &emitter) {
  if (!leaf.getColumn())
    return success();
  ArrayRef<int64_t> cuts = leaf.getCuts().value_or(ArrayRef<int64_t>());
  if (!leaf.getWidth() || cuts.size() != form.graph.nests.size())
    return leaf.emitError("expected a number of columns, and cuts for each of its ")
           << form.graph.nests.size() << " loop nests, found " << cuts.size();
  for (auto [loop, nest] : llvm::zip_equal(cuts, form.graph.nests)) {
    if (loop >= int64_t(nest.sizes.size()) || (loop >= 0 && nest.sizes[loop] != int64_t(*leaf.getColumns())))
      return leaf.emitError("expected cuts of loops over its ")
             << int64_t(*leaf.getColumns()) << " columns, found loop " << loop;
    NestSplit split;
    split.kind = loop >= 0 ? NestSplit::shared : loop == -1 ? NestSplit::everyone : NestSplit::first;
    split.loop = int(std::max<int64_t>(loop, -1));
    form.splits.push_back(split);
  }
  emitter.splits = form.splits;
  emitter.columns = Columns{valueOf(leaf.getColumn()), valueOf(leaf.getWidth()), int64_t(*leaf.getTile())};
  return success();
}

LogicalResult LoopWalker::readLayouts(loops::LeafOp leaf, ArrayRef<Attribute> layouts, const LeafForm &form,
                                      const schedule::LeafContext &context, LeafEmitter &emitter, bool rowWise) {
  auto refuse = [&](const Twine &why) {
    return leaf.emitError("the GPU engine can't run the leaf's 'etdg.layouts': ") << why;
  };
  if (layouts.size() != form.graph.nests.size())
    return refuse("expected one for each of its " + Twine(form.graph.nests.size()) + " loop nests, found " + Twine(layouts.size()));
  for (auto [i, layout] : llvm::enumerate(layouts)) {
    leaf::Nest collapsed;
    schedule::TileContext tile = schedule::tileContextOf(form, unsigned(i), context, rowWise, collapsed);
    std::string wrong;
    if (auto product = dyn_cast<tile::ProductAttr>(layout)) {
      FailureOr<schedule::ProductTiles> read = schedule::readProduct(product, form, unsigned(i), tile, wrong);
      if (failed(read))
        return refuse("loop nest " + Twine(i) + ": " + wrong);
      emitter.tiles.emplace_back().product = std::make_shared<schedule::ProductTiles>(std::move(*read));
      continue;
    }
    auto tiling = dyn_cast<etdg::TilingAttr>(layout);
    if (!tiling)
      return refuse("rows stay in registers where a kernel is one leaf");
    FailureOr<Tiles> read = schedule::readTiles(tiling, form.graph, collapsed, tile, e.machine, wrong);
    if (failed(read))
      return refuse("loop nest " + Twine(i) + ": " + wrong);
    emitter.tiles.push_back(std::move(*read));
  }
  return success();
}

/// What the leaf's layouts say; where it has none, or they were made for lifted iterations that are computed one by one, they
/// are chosen.
LogicalResult LoopWalker::chooseThreads(loops::LeafOp leaf, LeafForm &form, LeafEmitter &emitter, bool rowWise) {
  schedule::LeafContext context;
  context.maxRows = emitter.maxRows;
  context.threads = e.threads.count;
  context.sums = e.threads.sums;
  context.lifts = emitter.lifts;
  if (emitter.lifts > 1)
    context.lifted = emitter.lifted;
  if (emitter.columns) {
    context.columns = *leaf.getColumns();
    context.unit = emitter.columns->unit;
  }
  SmallVector<Attribute> layouts;
  if (leaf.getLayouts() && !isApart)
    layouts.assign(leaf.getLayouts()->begin(), leaf.getLayouts()->end());
  else
    layouts = schedule::chooseLayouts(form, context, rowWise, e.machine);
  auto lanes = layouts.empty() ? etdg::RowLanesAttr() : dyn_cast<etdg::RowLanesAttr>(layouts[0]);
  if (!lanes)
    return readLayouts(leaf, layouts, form, context, emitter, rowWise);
  std::string wrong;
  FailureOr<RowPlan> read = schedule::readRows(lanes, form.graph, rowWise, e.threads.count, e.machine, wrong);
  if (failed(read))
    return leaf.emitError("the GPU engine can't run the layout ") << lanes << ": " << wrong;
  rowPlan = std::move(*read);
  emitter.rowPlan = &*rowPlan;
  remark::passed(leaf.getLoc(), remark::RemarkOpts::name("gpu-rows").category("gpu"))
      << remark::reason("rows of {0} elements stay in registers from the first load to the last store", rowPlan->length)
      << remark::metric("lanes", rowPlan->lanes) << remark::metric("elements-of-an-access", rowPlan->width)
      << remark::metric("accesses-of-a-lane", rowPlan->chunks) << remark::metric("rows-at-once", rowPlan->pointsAtOnce());
  return success();
}

void LoopWalker::bindValues(loops::LeafOp leaf, LeafEmitter &emitter) {
  const leaf::LeafGraph &graph = emitter.graph;
  llvm::DenseSet<int> inProducts;
  for (auto [tiles, nest] : llvm::zip(emitter.tiles, graph.nests))
    if (tiles.product)
      for (const leaf::View &view : nest.members.front().reads)
        if (!view.isSplat())
          inProducts.insert(view.buffer);
  for (auto [i, memory] : llvm::enumerate(emitter.memories)) {
    if (graph.buffers[i].kind != leaf::Buffer::Kind::Input || !memory.isValue)
      continue;
    auto view = leaf.getInputs()[graph.buffers[i].number].getDefiningOp<memref::ReinterpretCastOp>();
    if (inProducts.contains(int(i)))
      memory.isValue = Value();
    else if (!formOf(view.getSource()).hasMemory)
      memory.pointer = Value();
  }
}

LogicalResult LoopWalker::takeLeaf(loops::LeafOp leaf) {
  if (leaf.getList())
    return leaf.emitError("the GPU engine has no lists of rows");
  Location saved = b.getLoc();
  b.setLoc(leaf.getLoc());
  bool rowWise = leaf.getMost() > 1;
  LeafForm form;
  if (failed(makeForm(leaf, form, rowWise)))
    return failure();
  if (hasStored)
    b.barrier();
  hasStored = false;
  LeafEmitter emitter(b, form.graph, e.threads);
  emitter.checkIndex = [&](Value index, int64_t bound, Operation *op) {
    return e.checkIndex(index, b.number(bound), op->getLoc(), Value());
  };
  emitter.rows = rowWise ? valueOf(leaf.getRows()) : b.number(1);
  emitter.maxRows = leaf.getMost();
  emitter.lifts = lifts;
  if (failed(bindOperands(leaf, emitter)))
    return failure();
  emitter.findLifted();
  if (failed(bindColumns(leaf, form, emitter)) || failed(chooseThreads(leaf, form, emitter, rowWise)))
    return failure();
  bindValues(leaf, emitter);
  for (const Tiles &nest : emitter.tiles)
    if (nest.product)
      for (int buffer : nest.product->inRegisters)
        form.graph.buffers[buffer].inMemory = false;
  if (!emitter.rowPlan) {
    emitter.staging = e.stagingMemory(emitter.tiles);
    e.placeLeafBuffers(form.graph, emitter, emitter.maxRows);
  }
  LogicalResult emitted = emitter.emit();
  b.setLoc(saved);
  return emitted;
}
