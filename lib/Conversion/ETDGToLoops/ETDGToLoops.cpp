//===- ETDGToLoops.cpp - programs and kernels -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel for each top-level nest, or for nests that share loops; equal kernels
// are one function. The program has the buffers of a call and launches the kernels.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/Analysis/Syncs.h"
#include "ft/Support/MemoryAlignment.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

namespace mlir::ft {
#define GEN_PASS_DEF_CONVERTETDGTOLOOPS
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;
using loops::BufferKind;

Emitter::Emitter(etdg::GraphOp graph, ModuleOp module, const CpuScheduleOptions &options)
    : graph(graph), module(module), costs(graph, options), builder(graph.getContext()), host(graph.getContext()),
      context(graph.getContext()), loc(graph.getLoc()) {}

Emitter::Emitter(etdg::GraphOp graph, ModuleOp module, const GpuScheduleOptions &options)
    : Emitter(graph, module, CpuScheduleOptions()) {
  gpu = &options;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void Emitter::addBuffer(Value value, BufferKind kind, std::optional<int64_t> index, SmallVector<int64_t> planes,
                        Attribute contents, std::optional<int64_t> slot) {
  auto optional = [&](std::optional<int64_t> number) {
    return number ? host.getI64IntegerAttr(*number) : IntegerAttr();
  };
  auto made = loops::BufferOp::create(host, value.getLoc(), value.getType(), kind, optional(index),
                                      planes.empty() ? DenseI64ArrayAttr() : host.getDenseI64ArrayAttr(planes),
                                      optional(slot), contents, /*name=*/StringAttr(), /*strided=*/IntegerAttr(),
                                      /*strides=*/ArrayAttr());
  buffers[value] = {made.getResult(), std::move(planes), 0};
}

/// With what messages call it, and the strides that callers give.
void Emitter::declareArgument(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  addBuffer(argument, BufferKind::Argument, number, {});
  CallBuffer &known = buffers[argument];
  known.stridedDims = getStridedDims(graph, number);
  auto made = known.host.getDefiningOp<loops::BufferOp>();
  if (auto named = dyn_cast<NameLoc>(argument.getLoc()))
    made.setNameAttr(named.getName());
  if (known.stridedDims)
    made.setStridedAttr(host.getI64IntegerAttr(known.stridedDims));
  if (auto groups = graph.getArgAttrOfType<ArrayAttr>(number, mlir::ft::names::strides))
    made.setStridesAttr(groups);
}

void Emitter::makeProgram() {
  SmallVector<Attribute> names = llvm::to_vector_of<Attribute>(graph.getSymbolNames());
  host.setInsertionPointToEnd(module.getBody());
  program = loops::ProgramOp::create(host, loc, graph.getSymNameAttr(), host.getArrayAttr(names), host.getArrayAttr({}),
                                     loops::DeviceAttr(), graph->getAttrOfType<BoundsAttr>(mlir::ft::names::bounds),
                                     graph->getAttrOfType<ArrayAttr>(etdg::names::checks),
                                     graph->getAttrOfType<DenseI64ArrayAttr>(etdg::names::inPlace));
  if (gpu)
    program.setDeviceAttr(
        loops::DeviceAttr::get(context, gpu->target, gpu->getMachine().reference, gpu->getMultiprocessors()));
  host.setInsertionPointToStart(&program.getBody().emplaceBlock());
  for (StringAttr name : graph.getSymbolNames())
    lengths[name.getValue()] = loops::LengthOp::create(host, loc, host.getIndexType(), name);
  for (BlockArgument argument : graph.getBody().getArguments())
    declareArgument(argument);
  ValueRange results = graph.getBody().front().getTerminator()->getOperands();
  for (Operation &op : graph.getBody().front()) {
    if (auto constant = dyn_cast<etdg::ConstantOp>(op)) {
      addBuffer(constant.getResult(), BufferKind::Constant, {}, {}, constant.getValue());
    } else if (auto declared = dyn_cast<etdg::BufferOp>(op)) {
      std::optional<int64_t> number;
      for (auto [i, result] : llvm::enumerate(results))
        if (result == declared.getResult())
          number = i;
      auto slot = declared->getAttrOfType<IntegerAttr>(etdg::names::slot);
      if (number)
        addBuffer(declared.getResult(), BufferKind::Result, number, {});
      else
        addBuffer(declared.getResult(), BufferKind::Intermediate, {}, llvm::to_vector(kept.declare(declared)), {},
                  slot ? std::optional<int64_t>(slot.getInt()) : std::nullopt);
    }
  }
}

LogicalResult Emitter::emitProgram() {
  makeProgram();
  unsigned number = 0;
  if (failed(emitBody(graph.getBody(), number)))
    return failure();
  program.setPlacesAttr(host.getArrayAttr(places));
  return success();
}

LogicalResult Emitter::emitBody(Region &body, unsigned &number) {
  if (gpu)
    return emitGridBody(body, number);
  DenseMap<Operation *, NestGroup> groups;
  for (NestGroup &group : getGroups(body)) {
    Operation *item = body.front().findAncestorOpInBlock(*group.op);
    groups[item] = std::move(group);
  }
  for (Operation &item : body.front()) {
    loc = item.getLoc();
    if (auto variants = dyn_cast<etdg::VariantsOp>(item)) {
      if (failed(emitVariants(variants, number)))
        return failure();
    } else if (auto group = groups.find(&item); group != groups.end()) {
      if (failed(emitKernel(group->second, graph.getSymName().str() + "_k" + std::to_string(number++))))
        return failure();
    }
  }
  return success();
}

/// Launches stand in the variants, and in front of them what their kernels are given.
LogicalResult Emitter::emitVariants(etdg::VariantsOp variants, unsigned &number) {
  auto made = loops::VariantsOp::create(host, loc, variants.getGuards(), unsigned(variants.getVariants().size()));
  host.setInsertionPoint(made);
  for (auto [from, to] : llvm::zip_equal(variants.getVariants(), made.getVariants())) {
    variant = &to.emplaceBlock();
    if (failed(emitBody(from, number)))
      return failure();
  }
  variant = nullptr;
  host.setInsertionPointAfter(made);
  return success();
}

void Emitter::declareIntermediate(etdg::BufferOp declared) {
  addBuffer(declared.getResult(), BufferKind::Intermediate, {}, llvm::to_vector(kept.declare(declared)));
}

Value Emitter::splat(RankedTensorType element, Attribute value) {
  Value &made = splats[{element, value}];
  if (!made)
    made = loops::BufferOp::create(host, loc, etdg::BufferType::get(context, {}, element), BufferKind::Splat, IntegerAttr(),
                                   DenseI64ArrayAttr(), IntegerAttr(), value, StringAttr(), IntegerAttr(), ArrayAttr());
  return made;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitKernel(const NestGroup &group, StringRef name) {
  if (failed(checkCpuSyncs(group)))
    return failure();
  beginKernel(name);
  std::string text;
  double seconds = 0;
  if (group.nests.size() > 1) {
    if (failed(emitTeamKernel(group)))
      return failure();
    for (auto [nest, common] : llvm::zip_equal(group.nests, group.common)) {
      FailureOr<NestPlan> plan = readPlan(nest, common, PlanPlace::Cores, /*hasRows=*/false);
      text += (text.empty() ? "kernel of " : "; ") + describe(nest, *plan);
    }
    finishKernel(text, seconds);
    return success();
  }
  ArrayRef<BlockOp> nest = group.nests.front();
  FailureOr<NestPlan> plan = readPlan(nest, {}, PlanPlace::Cores, /*hasRows=*/false);
  if (failed(plan))
    return failure();
  Estimate estimate = costs.estimate(nest, *plan);
  text = CostModel::describe(nest, *plan, estimate);
  remark::analysis(loc, remark::RemarkOpts::name("plan").category("cpu").function(name)) << remark::add("{0}", text);
  Point point;
  point.dims.resize(BlockOp(nest.front()).getNumDims());
  LogicalResult emitted = success();
  if (plan->inTurn)
    emitted = emitParallel(nest, point, *plan,
                           loops::LevelAttr::get(context, etdg::LoopLevel::Core, etdg::IterationMapping::Dynamic), plan->shared);
  else if (!plan->isParallel() && plan->team.empty())
    emitted = emitInner(nest, point, *plan); // loops that one thread runs
  else
    emitted = emitTeamKernel(group);
  if (failed(emitted))
    return failure();
  finishKernel(text, estimate.seconds);
  return success();
}

void Emitter::beginKernel(StringRef name) {
  builder.setInsertionPointToEnd(module.getBody());
  kernel = func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  kernel->setAttr(loops::names::kernel, builder.getUnitAttr());
  Block *body = kernel.addEntryBlock();
  builder.setInsertionPointToStart(body);
  // Values that the whole kernel shares are emitted before this marker, memory after it.
  Operation *marker = arith::ConstantIndexOp::create(builder, loc, 0);
  entry = OpBuilder::InsertPoint(body, Block::iterator(marker));
  kernelScope = {entry, {}};
  scope = &kernelScope;
  given.clear();
  arguments.clear();
  storage.clear();
  maxRows = 1;
  chunkRows = index(1);
}

void Emitter::finishKernel(StringRef plan, double seconds) {
  for (Value memory : scope->toFree)
    memref::DeallocOp::create(builder, loc, memory);
  func::ReturnOp::create(builder, loc);
  entry.getPoint()->erase();
  // A chain of equal nests costs LLVM as much as one of them.
  std::string code, name = kernel.getSymName().str();
  llvm::raw_string_ostream stream(code);
  kernel.setSymName("kernel");
  kernel.print(stream, OpPrintingFlags().useLocalScope());
  kernel.setSymName(name);
  // What may fail says where.
  kernel.walk([&](Operation *op) {
    if (isa<tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op))
      stream << op->getLoc();
  });
  auto [known, isNew] = kernelsByCode.try_emplace(code, name);
  if (!isNew)
    kernel.erase();
  OpBuilder launches = variant ? OpBuilder::atBlockEnd(variant) : host;
  loops::LaunchOp::create(launches, loc, FlatSymbolRefAttr::get(context, known->second), given, host.getStringAttr(plan),
                          host.getF64FloatAttr(seconds));
}

Value Emitter::kernelArgument(Value hostValue, Type type) {
  Value &cached = arguments[hostValue];
  if (cached)
    return cached;
  (void)kernel.insertArgument(kernel.getNumArguments(), type, {}, hostValue.getLoc());
  given.push_back(hostValue);
  return cached = kernel.getArguments().back();
}

Value Emitter::bufferBase(Value hostValue, Type elementType) {
  return kernelArgument(hostValue, MemRefType::get({ShapedType::kDynamic}, elementType));
}

Value Emitter::symbolArgument(StringAttr name) { return kernelArgument(lengths.lookup(name.getValue()), builder.getIndexType()); }

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// One value, as an `affine.apply` over what the expression uses.
static Value emitAffine(OpBuilder &builder, Location loc, AffineExpr expr, llvm::function_ref<Value(unsigned)> dim,
                        llvm::function_ref<Value(unsigned)> symbol) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  if (auto d = dyn_cast<AffineDimExpr>(expr))
    return dim(d.getPosition());
  if (auto s = dyn_cast<AffineSymbolExpr>(expr))
    return symbol(s.getPosition());
  // (Values of loops are no affine symbols: all become dimensions.)
  DenseMap<AffineExpr, AffineExpr> renamed;
  SmallVector<Value> operands;
  expr.walk([&](AffineExpr e) {
    if (!isa<AffineDimExpr, AffineSymbolExpr>(e) || renamed.contains(e))
      return;
    auto d = dyn_cast<AffineDimExpr>(e);
    renamed[e] = builder.getAffineDimExpr(operands.size());
    operands.push_back(d ? dim(d.getPosition()) : symbol(cast<AffineSymbolExpr>(e).getPosition()));
  });
  AffineMap map = AffineMap::get(operands.size(), 0, expr.replace(renamed));
  return affine::AffineApplyOp::create(builder, loc, map, operands);
}

Value Emitter::lengthValue(LengthAttr length) {
  return emitAffine(
      builder, loc, length.getExpr(), [](unsigned) { return Value(); },
      [&](unsigned s) { return symbolArgument(length.getNames()[s]); });
}

Value Emitter::affineValue(AffineExpr expr, BlockOp block, const Point &point) {
  return emitAffine(
      builder, loc, expr, [&](unsigned d) { return point.dims[d]; },
      [&](unsigned s) { return symbolArgument(block.getSymbolNames()[s]); });
}

//===----------------------------------------------------------------------===//
// Memory of a kernel
//===----------------------------------------------------------------------===//

Value Emitter::emitAlloc(Type elementType, Value size, loops::MemoryAttr memory) {
  OpBuilder::InsertionGuard guard(builder);
  builder.restoreInsertionPoint(scope->at);
  auto type = MemRefType::get({ShapedType::kDynamic}, elementType);
  Value alloc = gpu ? loops::AllocOp::create(builder, loc, type, size, /*parts=*/IntegerAttr(), memory).getResult()
                    : memref::AllocOp::create(builder, loc, type, ValueRange{size}, builder.getI64IntegerAttr(memoryAlignment)).getResult();
  scope->toFree.push_back(alloc);
  return alloc;
}

LogicalResult Emitter::inParallelBody(Block *body, llvm::function_ref<LogicalResult()> emit) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(body);
  Operation *marker = arith::ConstantIndexOp::create(builder, loc, 0);
  Scope own{OpBuilder::InsertPoint(body, Block::iterator(marker)), {}};
  Scope *saved = std::exchange(scope, &own);
  LogicalResult emitted = emit();
  scope = saved;
  builder.setInsertionPoint(body->getTerminator());
  for (Value memory : own.toFree)
    memref::DeallocOp::create(builder, loc, memory);
  marker->erase();
  return emitted;
}

/// Where a thread block has a buffer, as `storage` says.
static loops::MemoryAttr placeOfBuffer(etdg::BufferOp buffer) {
  auto kind = *buffer.getMemory() == etdg::BufferMemory::Shared ? loops::MemoryKind::Shared : loops::MemoryKind::Workspace;
  return loops::MemoryAttr::get(buffer.getContext(), kind, /*offset=*/-1, /*swizzled=*/false);
}

LogicalResult Emitter::declarePrivate(etdg::BufferOp buffer, std::optional<unsigned> rowDim) {
  if (gpu && !buffer.getMemory())
    return buffer.emitError("it is not specified where a thread block has this buffer (in shared, in workspace): etdg-place-buffers does");
  auto type = buffer.getType();
  Storage place;
  place.planes = llvm::to_vector(kept.declare(buffer));
  OpBuilder::InsertionGuard guard(builder);
  builder.restoreInsertionPoint(entry);
  Value size = index(type.getElement().getNumElements());
  place.strides.resize(type.getDepth());
  for (int64_t d = int64_t(type.getDepth()) - 1; d >= 0; --d) {
    place.strides[d] = size;
    Value length = lengthValue(type.getLengths()[d]);
    if (!place.planes.empty() && place.planes[d] != 0)
      length = index(place.planes[d]);
    size = make<arith::MulIOp>(size, length);
  }
  if (rowDim) {
    place.rowStride = size;
    builder.restoreInsertionPoint(scope->at);
    // (Memory of a thread block is made before anybody knows how many rows it gets.)
    size = make<arith::MulIOp>(size, gpu ? index(maxRows) : chunkRows);
  }
  place.base = emitAlloc(type.getElement().getElementType(), size, gpu ? placeOfBuffer(buffer) : loops::MemoryAttr());
  storage[buffer.getResult()] = place;
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult mlir::ft::convertGraphToLoops(etdg::GraphOp graph, ModuleOp module, const CpuScheduleOptions &options) {
  graph.getContext()->loadDialect<loops::LoopsDialect, LLVM::LLVMDialect>();
  return Emitter(graph, module, options).emitProgram();
}

LogicalResult mlir::ft::convertGridGraphToLoops(etdg::GraphOp graph, ModuleOp module, const GpuScheduleOptions &options) {
  graph.getContext()->loadDialect<loops::LoopsDialect, LLVM::LLVMDialect>();
  return Emitter(graph, module, options).emitProgram();
}

namespace {
struct ConvertETDGToLoops : mlir::ft::impl::ConvertETDGToLoopsBase<ConvertETDGToLoops> {
  using ConvertETDGToLoopsBase::ConvertETDGToLoopsBase;
  void runOnOperation() override {
    const bool forGrid = target != "cpu";
    CpuScheduleOptions cores;
    GpuScheduleOptions grid;
    Location whole = getOperation().getLoc();
    if (forGrid) {
      FailureOr<GpuScheduleOptions> read = readGpuOptions(whole, target, machine, /*steps=*/"choose");
      if (failed(read))
        return signalPassFailure();
      grid = std::move(*read);
      grid.multiprocessors = multiprocessors;
    } else {
      FailureOr<CpuScheduleOptions> read = readCpuOptions(whole, machine, threads, lengths);
      if (failed(read))
        return signalPassFailure();
      cores = std::move(*read);
    }
    for (auto graph : llvm::make_early_inc_range(getOperation().getOps<etdg::GraphOp>())) {
      if (graph.isExternal())
        continue;
      if (failed(checkStridedReads(graph)))
        return signalPassFailure();
      if (failed(forGrid ? convertGridGraphToLoops(graph, getOperation(), grid) : convertGraphToLoops(graph, getOperation(), cores)))
        return signalPassFailure();
      graph.erase();
    }
  }
};
} // namespace
