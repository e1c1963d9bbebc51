//===- ETDGToCPU.cpp - buffers and kernels --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel for each top-level nest, or for nests that share loops. Where the
// plan has a box of parallel dimensions outside all others, its points are tasks;
// else threads run the kernel together (Team.cpp).
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Schedule/ScheduleForCpu.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

Emitter::Emitter(etdg::GraphOp graph, const CpuOptions &options)
    : graph(graph), options(options), costs(graph, this->options), builder(graph.getContext()),
      context(graph.getContext()), loc(graph.getLoc()) {}

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value Emitter::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

/// Each kernel has an environment of its own, so that equal kernels are one: the engine fills it.
unsigned Emitter::toKernelSlot(unsigned slot) {
  if (slot < Environment::kFirstSymbol)
    return slot;
  auto *it = llvm::find(kernelSlots, slot);
  if (it == kernelSlots.end())
    it = kernelSlots.insert(it, slot);
  return Environment::kFirstSymbol + (it - kernelSlots.begin());
}

Value Emitter::slot(unsigned number, Type type) {
  Value &cached = slots[{number, type}];
  if (cached)
    return cached;
  OpBuilder::InsertionGuard guard(builder);
  builder.restoreInsertionPoint(entry);
  auto pointer = LLVM::LLVMPointerType::get(context);
  Value address = LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), env,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(toKernelSlot(number))});
  bool isIndex = type.isIndex();
  Value loaded = LLVM::LoadOp::create(builder, loc, isIndex ? builder.getI64Type() : type, address);
  if (isIndex)
    loaded = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), loaded);
  return cached = loaded;
}

Value Emitter::bufferBase(unsigned number, Type elementType) {
  Type type = MemRefType::get({ShapedType::kDynamic}, elementType);
  Value &cached = slots[{number, type}];
  if (cached)
    return cached;
  Value pointer = slot(number, LLVM::LLVMPointerType::get(context));
  OpBuilder::InsertionGuard guard(builder);
  builder.restoreInsertionPoint(entry);
  Type i64 = builder.getI64Type();
  auto array = LLVM::LLVMArrayType::get(i64, 1);
  auto structure = LLVM::LLVMStructType::getLiteral(context, {pointer.getType(), pointer.getType(), i64, array, array});
  Value descriptor = LLVM::PoisonOp::create(builder, loc, structure);
  Value zero = LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(0));
  Value one = LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(1));
  // Extents are the leaves' own; the flat one is never looked at.
  Value extent = LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(int64_t(1) << 62));
  descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, pointer, ArrayRef<int64_t>{0});
  descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, pointer, ArrayRef<int64_t>{1});
  descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, zero, ArrayRef<int64_t>{2});
  descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, extent, ArrayRef<int64_t>{3, 0});
  descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, one, ArrayRef<int64_t>{4, 0});
  Value memref = UnrealizedConversionCastOp::create(builder, loc, type, descriptor).getResult(0);
  return slots[{number, type}] = memref;
}

unsigned Emitter::splatSlot(RankedTensorType element, Attribute value) {
  auto [it, inserted] = splats.try_emplace({element, value}, 0);
  if (inserted) {
    it->second = result.numSlots++;
    CpuBuffer buffer;
    buffer.kind = CpuBuffer::Splat;
    buffer.element = element;
    buffer.value = value;
    buffer.slot = it->second;
    result.buffers.push_back(buffer);
  }
  return it->second;
}

Value Emitter::symbolValue(StringAttr name) {
  auto *it = llvm::find(result.symbols, name);
  return slot(Environment::kFirstSymbol + (it - result.symbols.begin()), builder.getIndexType());
}

Value Emitter::lengthValue(LengthAttr length) {
  SmallVector<Value> symbols;
  for (StringAttr name : length.getNames())
    symbols.push_back(symbolValue(name));
  return affine::expandAffineExpr(builder, loc, length.getExpr(), {}, symbols);
}

Value Emitter::expand(AffineExpr expr, BlockOp block, const Point &point) {
  SmallVector<Value> symbols;
  for (StringAttr name : block.getSymbolNames())
    symbols.push_back(symbolValue(name));
  return affine::expandAffineExpr(builder, loc, expr, point.dims, symbols);
}

int64_t Emitter::planesOf(Value buffer, unsigned dim) const {
  auto number = bufferNumber.find(buffer);
  if (number != bufferNumber.end()) {
    ArrayRef<int64_t> planes = result.buffers[number->second].planes;
    return planes.empty() ? 0 : planes[dim];
  }
  auto found = privatePlanes.find(buffer);
  return found == privatePlanes.end() || found->second.empty() ? 0 : found->second[dim];
}

/// `live` says what is needed between iterations; one plane more, and a body
/// never writes what it still reads.
static SmallVector<int64_t> planesFromLive(etdg::BufferOp buffer) {
  SmallVector<int64_t> planes;
  if (std::optional<ArrayRef<int64_t>> live = buffer.getLive())
    for (int64_t w : *live)
      planes.push_back(w < 0 ? 0 : w + 1);
  return planes;
}

LogicalResult Emitter::collectBuffers() {
  result.symbols = graph.getSymbolNames();
  result.numSlots = Environment::kFirstSymbol + result.symbols.size();
  auto add = [&](Value value, CpuBuffer buffer) {
    auto type = cast<etdg::BufferType>(value.getType());
    buffer.lengths = llvm::to_vector(type.getLengths());
    buffer.element = type.getElement();
    buffer.slot = result.numSlots++;
    bufferNumber[value] = result.buffers.size();
    result.buffers.push_back(buffer);
  };
  for (BlockArgument argument : graph.getBody().getArguments()) {
    CpuBuffer buffer;
    buffer.kind = CpuBuffer::Argument;
    buffer.index = argument.getArgNumber();
    for (unsigned d = 0, e = getStridedDims(graph, buffer.index); d < e; ++d)
      buffer.strideSlots.push_back(result.numSlots++);
    add(argument, buffer);
  }
  Operation *terminator = graph.getBody().front().getTerminator();
  for (Operation &op : graph.getBody().front()) {
    if (auto constant = dyn_cast<etdg::ConstantOp>(op)) {
      CpuBuffer buffer;
      buffer.kind = CpuBuffer::Constant;
      buffer.value = constant.getValue();
      add(constant.getResult(), buffer);
    } else if (auto declared = dyn_cast<etdg::BufferOp>(op)) {
      CpuBuffer buffer;
      bool returned = llvm::is_contained(terminator->getOperands(), declared.getResult());
      if (returned) {
        buffer.kind = CpuBuffer::Result;
        for (auto [i, operand] : llvm::enumerate(terminator->getOperands()))
          if (operand == declared.getResult())
            buffer.index = i;
      } else {
        buffer.planes = planesFromLive(declared);
        if (auto shared = declared->getAttrOfType<IntegerAttr>("etdg.slot"))
          buffer.shared = shared.getInt();
      }
      add(declared.getResult(), buffer);
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

FailureOr<CpuModule> Emitter::run() {
  result.module = ModuleOp::create(loc);
  if (failed(collectBuffers()))
    return failure();
  std::string base = graph.getSymName().str() + "_k";
  unsigned number = 0;
  for (const Group &group : getGroups(graph.getBody())) {
    std::string name = base + std::to_string(number++);
    loc = group.op->getLoc();
    kernelSlots.clear();
    if (failed(group.nests.size() == 1 ? emitKernel(group, name) : emitTeamKernel(group, name)))
      return failure();
    finishKernel();
  }
  return std::move(result);
}

/// A chain of equal nests costs LLVM as much as one of them.
void Emitter::finishKernel() {
  CpuKernel &made = result.kernels.back();
  made.slots = kernelSlots;
  std::string code;
  llvm::raw_string_ostream stream(code);
  for (func::FuncOp function : {countKernel, kernel}) {
    StringAttr name = function.getSymNameAttr();
    function.setSymName("kernel");
    function.print(stream, OpPrintingFlags().useLocalScope());
    function.setSymNameAttr(name);
  }
  auto [it, isNew] = kernelsByCode.try_emplace(code, made.name);
  if (isNew)
    return;
  made.name = it->second;
  countKernel.erase();
  kernel.erase();
}

LogicalResult Emitter::emitKernel(const Group &group, StringRef name) {
  ArrayRef<BlockOp> nest = group.nests.front();
  FailureOr<NestPlan> read = readPlan(nest, {}, PlanPlace::Cores, /*hasRows=*/false);
  if (failed(read))
    return failure();
  const NestPlan &plan = *read;
  Estimate estimate = costs.estimate(nest, plan);
  std::string text = CostModel::describe(nest, plan, estimate);
  remark::analysis(loc, remark::RemarkOpts::name("plan").category("cpu").function(name))
      << remark::add("{0}", text);
  // Loops that one thread runs are one task.
  bool tasks = plan.isParallel() ? plan.inTurn : plan.team.empty();
  if (failed(tasks ? emitTaskKernel(nest, plan, name) : emitTeamKernel(group, name, &plan)))
    return failure();
  result.kernels.back().plan = text;
  result.kernels.back().estimatedSeconds = estimate.seconds;
  return success();
}

void Emitter::beginKernel(StringRef name, TypeRange inputs, TypeRange outputs) {
  builder.setInsertionPointToEnd(result.module->getBody());
  countKernel = kernel;
  kernel = func::FuncOp::create(builder, loc, name, builder.getFunctionType(inputs, outputs));
  Block *body = kernel.addEntryBlock();
  builder.setInsertionPointToStart(body);
  // Hoisted values are emitted before this marker.
  Operation *marker = arith::ConstantIndexOp::create(builder, loc, 0);
  entry = OpBuilder::InsertPoint(body, Block::iterator(marker));
  env = body->getArgument(0);
  slots.clear();
  storage.clear();
  toFree.clear();
  scratch = scratchSize = Value();
  scratchBytes = 0;
}

void Emitter::endKernel() {
  for (Value memory : toFree)
    memref::DeallocOp::create(builder, loc, memory);
  func::ReturnOp::create(builder, loc);
}

LogicalResult Emitter::emitTaskKernel(ArrayRef<BlockOp> nest, const NestPlan &plan, StringRef name) {
  BlockOp front = nest.front();
  std::optional<unsigned> rowDim = plan.row;
  ArrayRef<unsigned> parallel = plan.shared;
  maxRows = rowDim ? plan.maxRows : 1;

  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(context);
  struct Tasks {
    SmallVector<Value> lowers, counts;
    Value rowLower, rowUpper, tile, tiles, total;
  };
  // The same arithmetic in the kernel and in its count.
  auto emitTasks = [&]() {
    Tasks tasks;
    Point none;
    none.dims.assign(front.getNumDims(), Value());
    Value others = index(1), zero = index(0);
    for (unsigned d : parallel) {
      auto [lower, upper] = emitBounds(nest, d, none);
      Value count = arith::MaxSIOp::create(builder, loc, arith::SubIOp::create(builder, loc, upper, lower), zero);
      tasks.lowers.push_back(lower);
      tasks.counts.push_back(count);
      others = arith::MulIOp::create(builder, loc, others, count);
    }
    tasks.tile = index(1);
    tasks.tiles = index(1);
    if (rowDim) {
      std::tie(tasks.rowLower, tasks.rowUpper) = emitBounds(nest, *rowDim, none);
      Value rows = arith::MaxSIOp::create(
          builder, loc, arith::SubIOp::create(builder, loc, tasks.rowUpper, tasks.rowLower), zero);
      // As many rows in a task as leave one task for each thread.
      Value threads = slot(Environment::kThreads, builder.getIndexType());
      Value share = arith::CeilDivSIOp::create(builder, loc, arith::MulIOp::create(builder, loc, rows, others), threads);
      tasks.tile = arith::MinSIOp::create(builder, loc, arith::MaxSIOp::create(builder, loc, share, index(1)),
                                          index(maxRows));
      tasks.tiles = arith::CeilDivSIOp::create(builder, loc, rows, tasks.tile);
    }
    tasks.total = arith::MulIOp::create(builder, loc, others, tasks.tiles);
    return tasks;
  };
  beginKernel((name + "_count").str(), {pointer}, {i64});
  Value total = arith::IndexCastOp::create(builder, loc, i64, emitTasks().total);
  func::ReturnOp::create(builder, loc, total);

  beginKernel(name, {pointer, i64, i64}, {});
  Tasks tasks;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.restoreInsertionPoint(entry);
    tasks = emitTasks();
  }
  maxRowsValue = tasks.tile;
  Value first = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), kernel.getArgument(1));
  Value last = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), kernel.getArgument(2));
  auto loop = scf::ForOp::create(builder, loc, first, last, index(1));
  builder.setInsertionPointToStart(loop.getBody());

  Point point;
  point.dims.assign(front.getNumDims(), Value());
  Value rest = loop.getInductionVar();
  if (rowDim) {
    Value tile = arith::RemSIOp::create(builder, loc, rest, tasks.tiles);
    rest = arith::DivSIOp::create(builder, loc, rest, tasks.tiles);
    point.rowDim = rowDim;
    Value offset = arith::MulIOp::create(builder, loc, tile, tasks.tile);
    point.rowBegin = arith::AddIOp::create(builder, loc, tasks.rowLower, offset);
    point.dims[*rowDim] = point.rowBegin;
    point.order.push_back(*rowDim);
    Value left = arith::SubIOp::create(builder, loc, tasks.rowUpper, point.rowBegin);
    point.rows = arith::MinSIOp::create(builder, loc, tasks.tile, left);
  }
  for (int64_t i = parallel.size() - 1; i >= 0; --i) {
    Value position = rest;
    if (i > 0) {
      position = arith::RemSIOp::create(builder, loc, rest, tasks.counts[i]);
      rest = arith::DivSIOp::create(builder, loc, rest, tasks.counts[i]);
    }
    point.dims[parallel[i]] = arith::AddIOp::create(builder, loc, tasks.lowers[i], position);
    point.order.push_back(parallel[i]);
  }
  if (failed(emitLoops(nest, point, plan.inner, [&](Point all) { return emitRegions(nest, all); })))
    return failure();

  builder.setInsertionPointAfter(loop);
  endKernel();
  result.kernels.push_back({name.str(), loc, /*team=*/false, {}, {}});
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers of blocks
//===----------------------------------------------------------------------===//

void Emitter::declareIntermediate(etdg::BufferOp declared) {
  CpuBuffer buffer;
  auto type = declared.getType();
  buffer.lengths = llvm::to_vector(type.getLengths());
  buffer.element = type.getElement();
  buffer.planes = planesFromLive(declared);
  buffer.slot = result.numSlots++;
  bufferNumber[declared.getResult()] = result.buffers.size();
  result.buffers.push_back(buffer);
}

void Emitter::declarePrivate(etdg::BufferOp buffer, std::optional<unsigned> rowDim) {
  auto type = buffer.getType();
  OpBuilder::InsertionGuard guard(builder);
  builder.restoreInsertionPoint(entry);
  Storage place;
  place.planes = planesFromLive(buffer);
  privatePlanes[buffer.getResult()] = place.planes;
  Value size = index(type.getElement().getNumElements());
  place.strides.resize(type.getDepth());
  for (int64_t d = int64_t(type.getDepth()) - 1; d >= 0; --d) {
    place.strides[d] = size;
    Value length = lengthValue(type.getLengths()[d]);
    if (!place.planes.empty() && place.planes[d] != 0)
      length = index(place.planes[d]);
    size = arith::MulIOp::create(builder, loc, size, length);
  }
  if (rowDim) {
    place.rowStride = size;
    size = arith::MulIOp::create(builder, loc, size, maxRowsValue);
  }
  auto memory = MemRefType::get({ShapedType::kDynamic}, type.getElement().getElementType());
  place.base = memref::AllocOp::create(builder, loc, memory, ValueRange{size}, builder.getI64IntegerAttr(64));
  toFree.push_back(place.base);
  storage[buffer.getResult()] = place;
}

FailureOr<CpuModule> mlir::ft::lowerGraphToCpu(etdg::GraphOp graph, const CpuOptions &options) {
  MLIRContext *context = graph.getContext();
  // Who has run the phase `schedule` has decided all; others leave that to its pass.
  // Of variants the last is for all lengths: this engine's plan has no branches.
  const unsigned last = ~0u;
  OwningOpRef<etdg::GraphOp> copy = etdg::chooseVariants(graph, last);
  if (failed(scheduleForCpu(*copy, options)))
    return failure();
  graph = *copy;
  context->loadDialect<affine::AffineDialect, arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                       memref::MemRefDialect, scf::SCFDialect>();
  return Emitter(graph, options).run();
}
