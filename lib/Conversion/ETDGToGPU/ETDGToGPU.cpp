//===- ETDGToGPU.cpp - kernels and loops ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel for each top-level nest: free dimensions outside all others become
// tasks of thread blocks, one of them the rows of the leaves; the rest are loops
// that a whole block runs in their order. Iterations of free dimensions are
// independent, so nothing has to be told between blocks.
//
//===----------------------------------------------------------------------===//
#include "GraphEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using schedule::boundsOf;
using schedule::DimBounds;
using schedule::isFreeDimension;
using schedule::leavesOf;

GraphEmitter::GraphEmitter(etdg::GraphOp graph, const GpuOptions &options)
    : graph(graph), options(options), machine(this->options.getMachine()),
      multiprocessors(options.multiprocessors ? options.multiprocessors : machine.units), context(graph.getContext()), symbols(graph.getSymbolNames()),
      b(graph.getLoc(), graph.getContext()) {}

FailureOr<GpuModule> GraphEmitter::run() {
  result.module = ModuleOp::create(graph.getLoc());
  if (failed(makeEntry()))
    return failure();
  b.setInsertionPointToEnd(result.module->getBody());
  // Shared memory is one array whose size the launch gives.
  auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, bytes, /*isConstant=*/false, LLVM::Linkage::External, "ft_shared",
                         Attribute(),
                         /*alignment=*/16, shared);
  std::vector<Kernel> kernels = planKernels();
  if (failed(collectBuffers()))
    return failure();
  keepConcurrentPlanes(kernels);
  placeIntermediates();
  kernelBytes = intermediateBytes;
  result.entry.plans.front().workspaceBytes = intermediateBytes;
  std::string base = graph.getSymName().str();
  for (auto [i, planned] : llvm::enumerate(kernels))
    if (failed(emitPlanned(planned, base + "_k" + std::to_string(i))))
      return failure();
  return std::move(result);
}

//===----------------------------------------------------------------------===//
// Values of a kernel
//===----------------------------------------------------------------------===//

Value GraphEmitter::argument(int64_t planBuffer) {
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

Value GraphEmitter::integerArgument(const HostExpr &value) {
  ::ft::rt::KernelArgument description;
  description.kind = ::ft::rt::KernelArgument::integer;
  description.value = value;
  kernelArguments.push_back(description);
  return kernel.getBody().front().addArgument(b.getI64Type(), b.getLoc());
}

Value GraphEmitter::symbolValue(StringAttr name) {
  Value &value = symbolValues[name];
  if (!value)
    value = integerArgument(HostExpr::var(llvm::find(symbols, name) - symbols.begin()));
  return value;
}

Value GraphEmitter::lengthValue(LengthAttr length) {
  SmallVector<Value> values;
  for (StringAttr name : length.getNames())
    values.push_back(symbolValue(name));
  return b.expand(length.getExpr(), {}, values);
}

Value GraphEmitter::expand(AffineExpr expr, BlockOp block, const Point &point) {
  SmallVector<Value> values;
  for (StringAttr name : block.getSymbolNames())
    values.push_back(symbolValue(name));
  return b.expand(expr, point.dims, values);
}

int64_t GraphEmitter::planesOf(Value buffer, unsigned dim) const {
  auto call = callBuffers.find(buffer);
  if (call != callBuffers.end())
    return call->second.planes.empty() ? 0 : call->second.planes[dim];
  auto found = privatePlanes.find(buffer);
  return found == privatePlanes.end() || found->second.empty() ? 0 : found->second[dim];
}

Value GraphEmitter::blockMemory(HostExpr bytes, Value bytesValue,
                                std::optional<int64_t> fixedBytes) {
  return atEntry([&]() -> Value {
    if (fixedBytes && sharedUsed + *fixedBytes <= sharedLimit * 2 / 3 &&
        sharedUsed + *fixedBytes + leafShared + partialsReserve() <= sharedLimit) {
      Value base = LLVM::AddressOfOp::create(b, b.pointer(shared), "ft_shared");
      Value memory = b.at(base, b.number(sharedUsed), b.getI8Type());
      sharedUsed += int64_t(llvm::alignTo(*fixedBytes, 16));
      return memory;
    }
    int64_t part = addWorkspace(0);
    blockParts.push_back({part, bytes});
    Value number = b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type()));
    return b.at(argument(part), b.mul(number, bytesValue), b.getI8Type());
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

int64_t GraphEmitter::elementsOf(BlockOp leaf) {
  int64_t elements = 1;
  for (unsigned i = 0; i < leaf.getNumWrites(); ++i) {
    Value buffer = leaf.getBuffers()[leaf.getWrite(i).getOperand()];
    elements =
        std::max(elements, cast<etdg::BufferType>(buffer.getType()).getElement().getNumElements());
  }
  return elements;
}

/// Most rows of a leaf at once: enough to use the threads, and to read what rows
/// share (weights) seldom.
int64_t GraphEmitter::chooseRows(ArrayRef<BlockOp> nest, unsigned dim) {
  int64_t elements = 1, sharedBytes = 0, rowBytes = 1;
  for (BlockOp block : nest)
    for (BlockOp leaf : leavesOf(block)) {
      elements = std::max(elements, elementsOf(leaf));
      int64_t own = 0;
      for (unsigned i = 0; i < leaf.getNumReads(); ++i) {
        auto type = cast<RankedTensorType>(leaf.getBody().getArgument(i).getType());
        int64_t bytes = type.getNumElements() * bytesOf(type.getElementType());
        bool varies = false;
        for (etdg::PieceAttr piece : leaf.getRead(i).getPieces())
          varies |= piece.getKind() == etdg::SourceKind::Buffer &&
                    piece.getMap().getValue().isFunctionOfDim(dim);
        (varies ? own : sharedBytes) += bytes;
      }
      rowBytes = std::max(rowBytes, own);
    }
  // Where a kernel only streams, each thread has several accesses in flight at a time: short
  // rows would wait for barriers and memory in turn.
  const Machine::GpuPlanning &planning = machine.gpu;
  bool streams = BlockOp(nest.front()).isLeaf() && sharedBytes <= planning.weightBytes &&
                 llvm::all_of(nest, [](BlockOp block) {
                   for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
                     if (block.getOperator(d) != OperatorKind::Map)
                       return false;
                   return block.getNumAncestors() == 0;
                 });
  int64_t rows = llvm::divideCeil(streams ? planning.streamElements : planning.taskElements, elements);
  if (sharedBytes > planning.weightBytes)
    rows = std::max(rows, planning.weightRows);
  return std::clamp<int64_t>(rows, 1, std::max<int64_t>(1, planning.taskBytes / rowBytes));
}

/// Threads of a block whose leaves have so many elements.
int64_t GraphEmitter::threadsFor(int64_t elements, int64_t most) const {
  for (auto [threads, limit] : llvm::zip(machine.gpu.blockThreads, machine.gpu.blockElements))
    if (elements <= limit)
      return threads;
  return most;
}

int64_t GraphEmitter::chooseThreads(ArrayRef<BlockOp> nest) {
  int64_t elements = 1;
  for (BlockOp block : nest)
    for (BlockOp leaf : leavesOf(block))
      elements = std::max(elements, elementsOf(leaf) * maxRows);
  return threadsFor(elements, machine.gpu.blockThreads.back());
}

/// A kernel of one leaf that works row by row keeps its rows in registers.
LogicalResult GraphEmitter::chooseRowPlan(BlockOp leaf, std::optional<unsigned> &rowDim) {
  auto planes = [&](Value buffer, unsigned d) { return planesOf(buffer, d); };
  for (unsigned i = 0; i < leaf.getNumReads(); ++i) {
    auto type = cast<RankedTensorType>(leaf.getBody().getArgument(i).getType());
    if (leaf.getRead(i).getPieces().empty() ||
        (schedule::readsScalars(leaf, leaf.getRead(i)) && !schedule::getBox(leaf, leaf.getRead(i), type, planes)))
      return success();
  }
  auto plan = [&](std::optional<unsigned> dim) -> LogicalResult {
    leafForms.clear();
    FailureOr<LeafForm *> form = leafForm(leaf, dim, bool(dim));
    if (failed(form))
      return failure();
    rowPlan = planRows((*form)->graph, bool(dim), machine.gpu);
    return success();
  };
  if (rowDim && !isUniform(leaf, *rowDim))
    return success();
  if (failed(plan(rowDim)))
    return failure();
  if (rowPlan && rowDim && rowPlan->pointsAtOnce() <= rowPlan->numPoints()) { // one is enough
    if (failed(plan(std::nullopt)))
      return failure();
    if (rowPlan)
      rowDim.reset();
  }
  if (!rowPlan || (!rowDim && rowPlan->numPoints() * 2 <= rowPlan->pointsAtOnce() &&
                   rowPlan->pointsAtOnce() > 1)) {
    rowPlan.reset();
    leafForms.clear();
  }
  return success();
}

void GraphEmitter::beginKernel(StringRef name) {
  b.setInsertionPointToEnd(result.module->getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {});
  kernel = LLVM::LLVMFuncOp::create(b, name, type);
  kernel->setAttr("nvvm.kernel", b.getUnitAttr());
  kernel->setAttr("nvvm.maxntid", b.getDenseI32ArrayAttr({int32_t(threads.count), 1, 1}));
  Block *body = b.createBlock(&kernel.getBody());
  b.setInsertionPointToStart(body);
  marker = arith::ConstantIntOp::create(b, 0, 64);
  storage.clear();
  pointers.clear();
  symbolValues.clear();
  kernelArguments.clear();
  blockParts.clear();
  sharedUsed = 0;
  leafShared = 0;
  usesTiles = false;
  partialsBytes = 0;
  partials = Value();
  atEntry([&] {
    threads.id = NVVM::ThreadIdXOp::create(b, b.getI32Type());
    leafSharedBase = arith::ConstantIntOp::create(b, 0, 64);
    // Partial results of up to 8 reductions.
    sharedUsed = threads.count / 32 * 8 * 8;
    threads.scratch = LLVM::AddressOfOp::create(b, b.pointer(shared), "ft_shared");
  });
  threads.partials = [this] {
    if (partialsBytes == 0)
      atEntry([&] {
        Value base = LLVM::AddressOfOp::create(b, b.pointer(shared), "ft_shared");
        partials = b.at(base, b.number(sharedUsed), b.getI8Type());
        // Reserved as a whole, so that what else takes shared memory counts on the rest.
        partialsBytes = threads.count * mostPartials;
        sharedUsed += partialsBytes;
      });
    return partials;
  };
}

/// The kernel's body is complete.
void GraphEmitter::endKernel(int64_t minBlocks) {
  b.setInsertionPointToEnd(&kernel.getBody().front());
  LLVM::ReturnOp::create(b, ValueRange());
  leafSharedBase.getDefiningOp<arith::ConstantOp>().setValueAttr(
      b.getI64IntegerAttr(int64_t(llvm::alignTo(sharedUsed, 64))));
  kernel->setAttr("nvvm.minctasm", b.getI32IntegerAttr(int32_t(minBlocks)));
  SmallVector<Type> types(kernel.getBody().front().getArgumentTypes());
  kernel.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types));
  for (auto [i, type] : llvm::enumerate(types))
    if (isa<LLVM::LLVMPointerType>(type))
      kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(16));
}

LogicalResult GraphEmitter::emitKernel(ArrayRef<BlockOp> nest, StringRef name) {
  BlockOp front = nest.front();
  b.setLoc(front.getLoc());
  leafForms.clear();
  rowWiseBuffers.clear();
  sharesSteps = cooperative = false;
  sharedLimit = machine.gpu.sharedBytesOfTwo;
  SmallVector<unsigned> free, sequential;
  for (unsigned d = 0; d < front.getNumDims(); ++d) {
    bool map = llvm::all_of(
        nest, [&](BlockOp block) { return block.getOperator(d) == OperatorKind::Map; });
    (map && isFreeDimension(nest, d) ? free : sequential).push_back(d);
  }
  std::optional<unsigned> rowDim = schedule::chooseRowDimension(nest, free);
  rowPlan.reset();
  if (nest.size() == 1 && front.isLeaf() && sequential.empty() && front.getNumAncestors() == 0 &&
      failed(chooseRowPlan(front, rowDim)))
    return failure();
  if (rowPlan)
    maxRows = rowDim ? std::max<int64_t>(rowPlan->pointsAtOnce() / rowPlan->numPoints(), 1) : 1;
  else
    maxRows = rowDim ? chooseRows(nest, *rowDim) : 1;
  if (maxRows == 1 && !rowPlan)
    rowDim.reset();
  SmallVector<unsigned> parallel;
  for (unsigned d : free)
    if (d != rowDim)
      parallel.push_back(d);

  threads.count = rowPlan ? rowPlan->threads : chooseThreads(nest);
  beginKernel(name);
  Point point;
  point.dims.assign(front.getNumDims(), Value());

  // Tasks: the host computes how many, the kernel which one this is.
  HostExpr others = 1, total;
  SmallVector<Value> lowers, counts;
  Value zero = b.number(0), totalValue = b.number(1);
  for (unsigned d : parallel) {
    auto [lower, upper] = emitBounds(nest, d, point);
    lowers.push_back(lower);
    counts.push_back(b.larger(b.sub(upper, lower), zero));
    totalValue = b.mul(totalValue, counts.back());
    auto [hostLower, hostUpper] = hostBounds(nest, d);
    others = others * HostExpr::binary(HostExpr::max, hostUpper - hostLower, 0);
  }
  total = others;
  Value rowLower, rowUpper, tile, tiles;
  if (rowDim) {
    std::tie(rowLower, rowUpper) = emitBounds(nest, *rowDim, point);
    auto [hostLower, hostUpper] = hostBounds(nest, *rowDim);
    HostExpr rows = HostExpr::binary(HostExpr::max, hostUpper - hostLower, 0);
    // Some tasks for each multiprocessor; where there are more rows than that, enough of
    // them in a task that its leaves compute them by tiles (NestEmitter.cpp).
    HostExpr share = HostExpr::binary(
        HostExpr::max,
        HostExpr::binary(HostExpr::ceildiv, rows * others, multiprocessors * machine.gpu.tasksPerUnit), 1);
    HostExpr least = HostExpr::binary(HostExpr::min, (share - 1) * 4 + 1, 4);
    HostExpr rowsInTask =
        HostExpr::binary(HostExpr::min, HostExpr::binary(HostExpr::max, share, least), maxRows);
    total = others * HostExpr::binary(HostExpr::ceildiv, rows, rowsInTask);
    tile = integerArgument(rowsInTask);
    tiles = b.ceilDiv(b.larger(b.sub(rowUpper, rowLower), zero), tile);
    totalValue = b.mul(totalValue, tiles);
  }
  Value first = b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type()));
  Value step = b.extend(NVVM::GridDimXOp::create(b, b.getI32Type()));
  scf::ForOp loop = b.loop(first, totalValue, step);
  Value rest = loop.getInductionVar();
  if (rowDim) {
    Value number = b.createOrFold<arith::RemUIOp>(rest, tiles);
    rest = b.createOrFold<arith::DivUIOp>(rest, tiles);
    point.rowDim = rowDim;
    point.rowBegin = b.add(rowLower, b.mul(number, tile));
    point.dims[*rowDim] = point.rowBegin;
    point.rows = b.smaller(tile, b.sub(rowUpper, point.rowBegin));
  }
  for (int64_t i = int64_t(parallel.size()) - 1; i >= 0; --i) {
    Value position = rest;
    if (i > 0) {
      position = b.createOrFold<arith::RemUIOp>(rest, counts[i]);
      rest = b.createOrFold<arith::DivUIOp>(rest, counts[i]);
    }
    point.dims[parallel[i]] = b.add(lowers[i], position);
  }
  if (failed(emitLoops(nest, point, sequential)))
    return failure();

  // What streams through memory wants many threads; what keeps sums in registers
  // wants those. Without this bound ptxas guesses, and may spill.
  bool streams = sequential.empty() && !usesTiles && front.isLeaf();
  if (rowPlan)
    remark::passed(front.getLoc(), remark::RemarkOpts::name("gpu-rows").category("gpu"))
        << remark::reason("rows of {0} elements stay in registers from the first load to the last store",
                          rowPlan->length)
        << remark::metric("lanes", rowPlan->lanes) << remark::metric("elements-of-an-access", rowPlan->width)
        << remark::metric("accesses-of-a-lane", rowPlan->chunks)
        << remark::metric("rows-at-once", rowPlan->pointsAtOnce());
  if (rowPlan) // a row's values, those that are computed from them, addresses
    endKernel(std::max<int64_t>(machine.occupancy.registersPerUnit / (2 * rowPlan->registers + 28) / threads.count, 1));
  else
    endKernel(streams ? machine.gpu.streamThreadsPerUnit / threads.count : 1);
  if (free.empty() && !sequential.empty())
    remark::passed(front.getLoc(), remark::RemarkOpts::name("gpu-one-block").category("gpu"))
        << "no dimension is free of dependences: the kernel runs on one block of threads";
  finishKernel(name, total);
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::pair<HostExpr, HostExpr> GraphEmitter::hostBounds(ArrayRef<BlockOp> nest, unsigned dim) {
  // Free dimensions have the same bounds, of symbols alone, in each block.
  BlockOp block = nest.front();
  DimBounds bounds = boundsOf(block, dim);
  SmallVector<StringAttr> names = block.getSymbolNames();
  std::optional<HostExpr> lower, upper;
  for (AffineExpr e : bounds.lowers)
    lower =
        lower ? HostExpr::binary(HostExpr::max, *lower, hostExpr(e, names)) : hostExpr(e, names);
  for (AffineExpr e : bounds.uppers)
    upper =
        upper ? HostExpr::binary(HostExpr::min, *upper, hostExpr(e, names)) : hostExpr(e, names);
  if (!lower || !upper)
    return {0, 0};
  return {*lower, *upper};
}

std::pair<Value, Value> GraphEmitter::emitBounds(ArrayRef<BlockOp> nest, unsigned dim,
                                                 const Point &point) {
  Value lower, upper;
  for (BlockOp block : nest) {
    DimBounds bounds = boundsOf(block, dim);
    Value blockLower, blockUpper;
    for (AffineExpr e : bounds.lowers) {
      Value v = expand(e, block, point);
      blockLower = blockLower ? b.larger(blockLower, v) : v;
    }
    for (AffineExpr e : bounds.uppers) {
      Value v = expand(e, block, point);
      blockUpper = blockUpper ? b.smaller(blockUpper, v) : v;
    }
    if (!blockLower || !blockUpper) // no bound: no iteration; the caller has refused such domains
      blockLower = blockUpper = b.number(0);
    // A region that is empty here, or is not reached at these values of other dimensions, must
    // not widen the range: after the first steps of a wavefront its first region is far away.
    if (nest.size() > 1 || sharesSteps) {
      IntegerSet set = block.getDomainSet();
      SmallVector<AffineExpr> kept;
      SmallVector<bool> equalities;
      for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
        bool known = true;
        for (unsigned d = 0; d < set.getNumDims(); ++d)
          if (expr.isFunctionOfDim(d))
            known &= d != dim && d < point.dims.size() && point.dims[d] && point.rowDim != d;
        if (known) {
          kept.push_back(expr);
          equalities.push_back(equality);
        }
      }
      Value some = b.less(blockLower, blockUpper);
      if (!kept.empty()) {
        IntegerSet reached =
            IntegerSet::get(set.getNumDims(), set.getNumSymbols(), kept, equalities);
        some = b.createOrFold<arith::AndIOp>(some, emitCondition(reached, block, point));
      }
      int64_t far = int64_t(1) << 61;
      blockLower = b.createOrFold<arith::SelectOp>(some, blockLower, b.number(far));
      blockUpper = b.createOrFold<arith::SelectOp>(some, blockUpper, b.number(-far));
    }
    lower = lower ? b.smaller(lower, blockLower) : blockLower;
    upper = upper ? b.larger(upper, blockUpper) : blockUpper;
  }
  return {lower, upper};
}

LogicalResult GraphEmitter::checkBounds(ArrayRef<BlockOp> nest, unsigned dim) {
  for (BlockOp block : nest) {
    DimBounds bounds = boundsOf(block, dim);
    if (bounds.lowers.empty() || bounds.uppers.empty())
      return block.emitError()
             << "dimension " << block.getDims()[dim]
             << " has no bound that earlier dimensions give; the GPU can't run it as a loop";
  }
  return success();
}

LogicalResult GraphEmitter::emitLoops(ArrayRef<BlockOp> nest, Point point,
                                      ArrayRef<unsigned> remaining) {
  if (remaining.empty()) {
    for (BlockOp block : nest) {
      OpBuilder::InsertionGuard insertion(b);
      if (Value guard = emitGuard(block, point)) {
        auto branch = scf::IfOp::create(b, guard, /*withElseRegion=*/false);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      if (failed(emitBlock(block, point)))
        return failure();
    }
    return success();
  }
  unsigned dim = remaining.front();
  if (failed(checkBounds(nest, dim)))
    return failure();
  auto [lower, upper] = emitBounds(nest, dim, point);
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = b.loop(lower, upper, b.number(1));
  point.dims[dim] = loop.getInductionVar();
  return emitLoops(nest, point, remaining.drop_front());
}

/// What of the block's domain the loops around it do not ensure.
Value GraphEmitter::emitGuard(BlockOp block, const Point &point) {
  IntegerSet set = block.getDomainSet();
  SmallVector<AffineExpr> kept;
  SmallVector<bool> equalities;
  unsigned own = block.getNumAncestors();
  SmallVector<BlockOp> nest = {block};
  if (block.getNest())
    nest = llvm::to_vector(block.getNest().getBody().getOps<BlockOp>());
  bool shares = own == 0 ? sharesSteps : point.sharedBegin == own && point.sharedEnd > own;
  bool single = nest.size() == 1 && !shares;
  for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    bool holds = false;
    for (unsigned d = own; d < block.getNumDims() && !holds; ++d) {
      if (!expr.isFunctionOfDim(d))
        continue;
      if (single) { // what became a bound of the loop holds
        DimBounds bounds = boundsOf(block, d);
        AffineExpr rest =
            expr.replace(getAffineDimExpr(d, context), getAffineConstantExpr(0, context));
        holds =
            llvm::is_contained(bounds.lowers, -rest) || llvm::is_contained(bounds.uppers, rest + 1);
      } else if (d < point.sharedBegin || d >= point.sharedEnd) {
        // A free dimension has the same range in each block of the nest.
        holds = block.getOperator(d - own) == OperatorKind::Map && isFreeDimension(nest, d);
      }
    }
    if (!holds) {
      kept.push_back(expr);
      equalities.push_back(equality);
    }
  }
  if (kept.empty())
    return nullptr;
  IntegerSet rest = IntegerSet::get(set.getNumDims(), set.getNumSymbols(), kept, equalities);
  Value condition = emitCondition(rest, block, point);
  return matchPattern(condition, m_One()) ? Value() : condition;
}

LogicalResult GraphEmitter::emitNest(ArrayRef<BlockOp> nest, Point point) {
  BlockOp front = nest.front();
  point.dims.resize(front.getNumDims());
  SmallVector<unsigned> remaining, free;
  for (unsigned d = front.getNumAncestors(); d < front.getNumDims(); ++d) {
    if (d >= point.sharedBegin && d < point.sharedEnd)
      continue; // a loop around this nest and others
    remaining.push_back(d);
    bool map = llvm::all_of(nest, [&](BlockOp block) {
      return block.getOperator(d - front.getNumAncestors()) == OperatorKind::Map;
    });
    if (!point.rowDim && map && isFreeDimension(nest, d))
      free.push_back(d);
  }
  if (std::optional<unsigned> lift = chooseLift(nest, point)) {
    point.liftDim = lift;
    DimBounds bounds = boundsOf(front, *lift);
    int64_t lower = cast<AffineConstantExpr>(bounds.lowers.front()).getValue();
    point.lifts = cast<AffineConstantExpr>(bounds.uppers.front()).getValue() - lower;
    point.dims[*lift] = b.number(lower);
    remaining.erase(llvm::find(remaining, *lift));
    llvm::erase(free, *lift);
  }
  std::optional<unsigned> rowDim = schedule::chooseRowDimension(nest, free);
  // Columns were shared for leaves that are computed for one row here.
  int64_t rows = rowDim && !point.columns ? chooseRows(nest, *rowDim) : 1;
  if (rows == 1)
    return emitLoops(nest, point, remaining);

  // No dimension outside serves as rows: tile one of this nest.
  int64_t savedRows = maxRows;
  maxRows = rows;
  auto [lower, upper] = emitBounds(nest, *rowDim, point);
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = b.loop(lower, upper, b.number(maxRows));
  point.rowDim = rowDim;
  point.rowBegin = point.dims[*rowDim] = loop.getInductionVar();
  point.rows = b.smaller(b.number(maxRows), b.sub(upper, loop.getInductionVar()));
  remaining.erase(llvm::find(remaining, *rowDim));
  LogicalResult emitted = emitLoops(nest, point, remaining);
  maxRows = savedRows;
  return emitted;
}

/// A dimension of a leaf inside a body whose few iterations can be computed at once: the
/// gates of a cell.
std::optional<unsigned> GraphEmitter::chooseLift(ArrayRef<BlockOp> nest, const Point &point) {
  BlockOp leaf = nest.front();
  if (nest.size() != 1 || !leaf.isLeaf() || point.liftDim)
    return std::nullopt;
  std::optional<unsigned> best;
  int64_t most = 1;
  for (unsigned d = leaf.getNumAncestors(); d < leaf.getNumDims(); ++d) {
    DimBounds bounds = boundsOf(leaf, d);
    if ((d >= point.sharedBegin && d < point.sharedEnd) ||
        leaf.getOperator(d - leaf.getNumAncestors()) != OperatorKind::Map || bounds.lowers.size() != 1 ||
        bounds.uppers.size() != 1)
      continue;
    auto lower = dyn_cast<AffineConstantExpr>(bounds.lowers.front());
    auto upper = dyn_cast<AffineConstantExpr>(bounds.uppers.front());
    int64_t count = lower && upper ? upper.getValue() - lower.getValue() : 0;
    if (count <= most || count > 16 || !isFreeDimension(nest, d) || !isUniform(leaf, d))
      continue;
    // Two dimensions at once need strides that do not depend on each other's place.
    best = d;
    most = count;
  }
  return best;
}

LogicalResult GraphEmitter::emitBlock(BlockOp block, Point point) {
  if (block.isLeaf())
    return emitLeaf(block, point);
  return emitGraphBody(block.getBody(), point);
}

LogicalResult GraphEmitter::emitGraphBody(Region &body, Point point) {
  for (Operation &op : body.front())
    if (auto buffer = dyn_cast<etdg::BufferOp>(op))
      declarePrivate(buffer, point);
  Location saved = b.getLoc();
  for (const schedule::Group &group : schedule::getGroups(body)) {
    b.setLoc(BlockOp(group.nests.front().front()).getLoc());
    auto kernel = dyn_cast<etdg::KernelOp>(group.op);
    unsigned shared = kernel && group.nests.size() > 1 ? unsigned(kernel.getShared()) : 0;
    std::vector<Point> points(group.nests.size(), point);
    if (failed(emitSharedLoops(group.nests, points, 0, shared)))
      return failure();
  }
  b.setLoc(saved);
  return success();
}

/// Nests of a kernel inside a body, whose first loops are common: one iteration of each nest
/// after the other. What lives for some of their iterations only (`live`) counts on that order.
LogicalResult GraphEmitter::emitSharedLoops(ArrayRef<SmallVector<BlockOp>> nests,
                                            std::vector<Point> &points, unsigned level,
                                            unsigned shared) {
  if (level == shared) {
    for (auto [nest, point] : llvm::zip_equal(nests, points)) {
      BlockOp front = nest.front();
      point.dims.resize(front.getNumDims());
      point.sharedBegin = front.getNumAncestors();
      point.sharedEnd = point.sharedBegin + shared;
      if (failed(emitNest(nest, point)))
        return failure();
    }
    return success();
  }
  bool saved = std::exchange(sharesSteps, true);
  Value lower, upper;
  for (auto [nest, point] : llvm::zip_equal(nests, points)) {
    unsigned dim = BlockOp(nest.front()).getNumAncestors() + level;
    if (failed(checkBounds(nest, dim)))
      return failure();
    point.dims.resize(dim + 1);
    auto [from, to] = emitBounds(nest, dim, point);
    lower = lower ? b.smaller(lower, from) : from;
    upper = upper ? b.larger(upper, to) : to;
  }
  sharesSteps = saved;
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = b.loop(lower, upper, b.number(1));
  for (auto [nest, point] : llvm::zip_equal(nests, points))
    point.dims[BlockOp(nest.front()).getNumAncestors() + level] = loop.getInductionVar();
  return emitSharedLoops(nests, points, level + 1, shared);
}

void GraphEmitter::declarePrivate(etdg::BufferOp buffer, const Point &point) {
  auto type = buffer.getType();
  Storage place;
  place.planes = privatePlanes[buffer.getResult()];
  int64_t rows = point.rowDim ? maxRows : 1;
  int64_t elementBytes = bytesOf(type.getElement().getElementType());
  std::optional<int64_t> fixed = type.getElement().getNumElements();
  Value size;
  atEntry([&] {
    size = b.number(type.getElement().getNumElements());
    place.strides.resize(type.getDepth());
    for (int64_t d = int64_t(type.getDepth()) - 1; d >= 0; --d) {
      place.strides[d] = size;
      bool some = !place.planes.empty() && place.planes[d] != 0;
      std::optional<int64_t> length =
          some ? std::optional(place.planes[d]) : type.getLengths()[d].getConstant();
      fixed = fixed && length ? std::optional(*fixed * *length) : std::nullopt;
      size = b.mul(size, some ? b.number(place.planes[d]) : lengthValue(type.getLengths()[d]));
    }
    if (point.rowDim) {
      rowWiseBuffers.insert(buffer.getResult());
      place.rowStride = size;
      size = b.mul(size, rows);
    }
    size = b.mul(b.ceilDiv(b.mul(size, elementBytes), b.number(256)), 256);
  });
  if (fixed)
    fixed = *fixed * rows * elementBytes;
  HostExpr bytes = hostBytes(type.getLengths(), place.planes, type.getElement()) * rows;
  bytes = HostExpr::binary(HostExpr::ceildiv, bytes, 256) * 256;
  place.aligned = type.getElement().getNumElements() * elementBytes % 16 == 0;
  place.base = blockMemory(bytes, size, fixed);
  storage[buffer.getResult()] = place;
}

FailureOr<GpuModule> mlir::ft::lowerGraphToGpu(etdg::GraphOp graph, const GpuOptions &options) {
  graph.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                    scf::SCFDialect, math::MathDialect, linalg::LinalgDialect,
                    tensor::TensorDialect>();
  return GraphEmitter(graph, options).run();
}
