//===- ETDGToGPU.cpp - kernels and loops ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel for each top-level nest, as its schedule says: loops of level `grid`
// become tasks of blocks of threads, one of them the rows of the leaves; the rest
// are loops that a whole block runs in their order.
//
//===----------------------------------------------------------------------===//
#include "GraphEmitter.h"

#include "ft/Conversion/ETDGToLoops/ETDGToLoops.h"
#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"
#include "ft/Schedule/ScheduleForGpu.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using schedule::boundsOf;
using schedule::DimBounds;
using schedule::isFreeDimension;

GraphEmitter::GraphEmitter(etdg::GraphOp graph, const GpuOptions &options)
    : KernelBuilder(graph.getLoc(), options, graph.getSymbolNames()), graph(graph) {}

LogicalResult GraphEmitter::beginModule() {
  FailureOr<::ft::rt::Entry> entry = makeEntry(graph);
  if (failed(entry))
    return failure();
  begin(std::move(*entry));
  if (failed(collectBuffers()))
    return failure();
  placeIntermediates();
  return success();
}

LogicalResult GraphEmitter::collectBuffers() {
  auto describeBuffer = [&](Value value) -> CallBuffer & {
    auto type = cast<etdg::BufferType>(value.getType());
    return describe(value, type.getLengths(), type.getElement());
  };
  for (BlockArgument argument : graph.getBody().getArguments()) {
    CallBuffer &buffer = describeBuffer(argument);
    addArgument(buffer, argument.getArgNumber());
    buffer.argument = argument.getArgNumber();
    buffer.stridedDims = getStridedDims(graph, buffer.argument);
  }
  Operation *terminator = graph.getBody().front().getTerminator();
  int64_t numArguments = graph.getArgumentTypes().size();
  for (auto [i, operand] : llvm::enumerate(terminator->getOperands()))
    addArgument(describeBuffer(operand), numArguments + int64_t(i));
  for (Operation &op : graph.getBody().front()) {
    if (auto constant = dyn_cast<etdg::ConstantOp>(op)) {
      if (failed(addCallConstant(constant, describeBuffer(constant.getResult()), constant.getValue())))
        return failure();
    } else if (auto declared = dyn_cast<etdg::BufferOp>(op);
               declared && !callBuffers.contains(declared.getResult())) {
      auto slot = declared->getAttrOfType<IntegerAttr>("etdg.slot");
      describeBuffer(declared.getResult());
      addIntermediate(declared.getResult(), kept.declare(declared), slot ? std::optional(slot.getInt()) : std::nullopt);
    }
  }
  addErrorBuffer();
  graph.walk([&](etdg::BufferOp buffer) {
    if (!callBuffers.contains(buffer.getResult()))
      (void)kept.declare(buffer);
  });
  return success();
}

FailureOr<GpuModule> GraphEmitter::run() {
  if (failed(beginModule()))
    return failure();
  std::string base = graph.getSymName().str();
  unsigned number = 0;
  for (Operation &op : graph.getBody().front()) {
    std::string name = base + "_k" + std::to_string(number);
    auto variants = dyn_cast<etdg::VariantsOp>(op);
    if (!variants && !isa<etdg::KernelOp, etdg::NestOp, BlockOp>(op))
      continue;
    if (failed(variants ? emitVariants(variants, 0, name) : emitItem(&op, name)))
      return failure();
    number += !isa<etdg::KernelOp>(op) || !op.getRegion(0).front().empty();
  }
  return std::move(result);
}

FailureOr<Kernel> GraphEmitter::readKernel(Operation *item) {
  Kernel kernel;
  if (auto grouped = dyn_cast<etdg::KernelOp>(item)) {
    kernel.nests = etdg::getNests(grouped.getBody());
    kernel.place.isGrouped = kernel.nests.size() > 1;
    kernel.place.shared = kernel.place.isGrouped ? unsigned(grouped.getShared()) : 0;
  } else if (auto nest = dyn_cast<etdg::NestOp>(item)) {
    kernel.nests.push_back(llvm::to_vector(nest.getBody().getOps<BlockOp>()));
  } else {
    kernel.nests.push_back({cast<BlockOp>(item)});
  }
  for (const SmallVector<BlockOp> &nest : kernel.nests) {
    FailureOr<GpuPlan> plan = schedule::readGpuPlan(nest, kernel.place, options);
    if (failed(plan))
      return failure();
    kernel.plans.push_back(std::move(*plan));
  }
  if (failed(schedule::checkGpuKernel(kernel.nests, kernel.plans, kernel.place)))
    return failure();
  return kernel;
}

LogicalResult GraphEmitter::emitItem(Operation *item, const std::string &name) {
  FailureOr<Kernel> kernel = readKernel(item);
  if (failed(kernel))
    return failure();
  if (kernel->nests.empty())
    return success();
  if (kernel->place.isGrouped)
    return emitStepKernel(*kernel, uniqueName(name, ""));
  const GpuPlan &plan = kernel->plans.front();
  return plan.dealsItself ? emitStepKernel(*kernel, uniqueName(name, "_steps"))
                          : emitKernel(kernel->nests.front(), plan, uniqueName(name, ""));
}

/// The host chooses: a branch of the plan for each variant but the last.
LogicalResult GraphEmitter::emitVariants(etdg::VariantsOp variants, unsigned number, const std::string &name) {
  size_t before = plan().steps.size();
  Region &variant = variants.getVariants()[number];
  for (auto [i, item] : llvm::enumerate(variant.front()))
    if (failed(emitItem(&item, i == 0 ? name : name + "_" + std::to_string(i))))
      return failure();
  if (number + 1 == variants.getVariants().size())
    return success();
  ::ft::rt::Step branch;
  branch.kind = ::ft::rt::Step::branch;
  branch.condition = hostGuard(cast<etdg::GuardAttr>(variants.getGuards()[number]));
  branch.body = takeSteps(before);
  if (failed(emitVariants(variants, number + 1, name)))
    return failure();
  branch.otherwise = takeSteps(before);
  plan().steps.push_back(std::move(branch));
  return success();
}

//===----------------------------------------------------------------------===//
// Values of a kernel
//===----------------------------------------------------------------------===//

Value GraphEmitter::expand(AffineExpr expr, BlockOp block, const Point &point) {
  SmallVector<Value> values;
  for (StringAttr name : block.getSymbolNames())
    values.push_back(symbolValue(name));
  return b.expand(expr, point.dims, values);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A kernel of one leaf that works row by row keeps its rows in registers, where its layout says so.
LogicalResult GraphEmitter::readRowLanes(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  rowPlan.reset();
  BlockOp leaf = nest.front();
  auto layouts = leaf->getAttrOfType<ArrayAttr>("etdg.layouts");
  auto lanes = layouts && !layouts.empty() ? dyn_cast<etdg::RowLanesAttr>(layouts[0]) : etdg::RowLanesAttr();
  if (!lanes)
    return success();
  bool fits = nest.size() == 1 && leaf.isLeaf() && plan.inner.empty() && (!plan.row || isUniform(leaf, *plan.row));
  for (unsigned i = 0; i < leaf.getNumReads() && fits; ++i)
    fits = !schedule::readsInside(leaf, i, [this](Value buffer, unsigned d) { return kept.at(buffer, d); });
  if (!fits)
    return leaf.emitError("the GPU engine can't run the layout ")
           << lanes << ": rows stay in registers where a kernel is one leaf whose accesses step evenly";
  FailureOr<LeafForm *> form = leafForm(leaf, plan.row, plan.row.has_value());
  if (failed(form))
    return failure();
  std::string wrong;
  FailureOr<RowPlan> read =
      schedule::readRows(lanes, (*form)->graph, plan.row.has_value(), plan.block.getThreads(), machine, wrong);
  if (failed(read))
    return leaf.emitError("the GPU engine can't run the layout ") << lanes << ": " << wrong;
  rowPlan = std::move(*read);
  return success();
}

LogicalResult GraphEmitter::emitKernel(ArrayRef<BlockOp> nest, const GpuPlan &plan, StringRef name) {
  BlockOp front = nest.front();
  b.setLoc(front.getLoc());
  leafForms.clear();
  rowWiseBuffers.clear();
  sharesSteps = cooperative = false;
  sharedLimit = plan.block.getShared();
  maxRows = plan.maxRows;
  if (failed(readRowLanes(nest, plan)))
    return failure();
  threads.count = plan.block.getThreads();
  threads.sums = plan.block.getSums();
  beginFunction(name);
  storage.clear();
  Point point;
  point.dims.assign(front.getNumDims(), Value());

  // Tasks: the host computes how many, the kernel which one this is.
  HostExpr others = 1, total;
  SmallVector<Value> lowers, counts;
  Value zero = b.number(0), totalValue = b.number(1);
  for (unsigned d : plan.flat) {
    auto [lower, upper] = emitBounds(nest, d, point);
    lowers.push_back(lower);
    counts.push_back(b.larger(b.sub(upper, lower), zero));
    totalValue = b.mul(totalValue, counts.back());
    auto [hostLower, hostUpper] = hostBounds(nest, d);
    others = others * HostExpr::binary(HostExpr::max, hostUpper - hostLower, 0);
  }
  total = others;
  Value rowLower, rowUpper, tile, tiles;
  if (plan.row) {
    std::tie(rowLower, rowUpper) = emitBounds(nest, *plan.row, point);
    auto [hostLower, hostUpper] = hostBounds(nest, *plan.row);
    HostExpr rows = HostExpr::binary(HostExpr::max, hostUpper - hostLower, 0);
    HostExpr rowsInTask = plan.rowTile ? HostExpr(plan.rowTile) : chooseRowsInTask(rows, others);
    total = others * HostExpr::binary(HostExpr::ceildiv, rows, rowsInTask);
    tile = plan.rowTile ? b.number(plan.rowTile) : integerArgument(rowsInTask);
    tiles = b.ceilDiv(b.larger(b.sub(rowUpper, rowLower), zero), tile);
    totalValue = b.mul(totalValue, tiles);
  }
  Value first = b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type()));
  Value step = b.extend(NVVM::GridDimXOp::create(b, b.getI32Type()));
  scf::ForOp loop = dealTasks(plan.dealing, first, totalValue, step);
  Value rest = loop.getInductionVar();
  if (plan.row) {
    Value number = b.createOrFold<arith::RemUIOp>(rest, tiles);
    rest = b.createOrFold<arith::DivUIOp>(rest, tiles);
    point.rowDim = plan.row;
    point.rowBegin = b.add(rowLower, b.mul(number, tile));
    point.dims[*plan.row] = point.rowBegin;
    point.rows = b.smaller(tile, b.sub(rowUpper, point.rowBegin));
  }
  for (int64_t i = int64_t(plan.flat.size()) - 1; i >= 0; --i) {
    Value position = rest;
    if (i > 0) {
      position = b.createOrFold<arith::RemUIOp>(rest, counts[i]);
      rest = b.createOrFold<arith::DivUIOp>(rest, counts[i]);
    }
    point.dims[plan.flat[i]] = b.add(lowers[i], position);
  }
  if (failed(emitLoops(nest, point, plan.inner)))
    return failure();

  if (rowPlan)
    remark::passed(front.getLoc(), remark::RemarkOpts::name("gpu-rows").category("gpu"))
        << remark::reason("rows of {0} elements stay in registers from the first load to the last store",
                          rowPlan->length)
        << remark::metric("lanes", rowPlan->lanes) << remark::metric("elements-of-an-access", rowPlan->width)
        << remark::metric("accesses-of-a-lane", rowPlan->chunks)
        << remark::metric("rows-at-once", rowPlan->pointsAtOnce());
  if (failed(endFunction(front, plan.block)))
    return failure();
  if (plan.flat.empty() && !plan.row && !plan.inner.empty())
    remark::passed(front.getLoc(), remark::RemarkOpts::name("gpu-one-block").category("gpu"))
        << "no dimension is free of dependences: the kernel runs on one block of threads";
  addLaunch(name, total, /*shrinks=*/false);
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
      constexpr int64_t far = int64_t(1) << 61;
      blockLower = b.createOrFold<arith::SelectOp>(some, blockLower, b.number(far));
      blockUpper = b.createOrFold<arith::SelectOp>(some, blockUpper, b.number(-far));
    }
    lower = lower ? b.smaller(lower, blockLower) : blockLower;
    upper = upper ? b.larger(upper, blockUpper) : blockUpper;
  }
  return {lower, upper};
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
  if (failed(requireBounds(nest, dim)))
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
  GpuPlace place;
  place.isGrid = false;
  place.shared = point.sharedEnd > front.getNumAncestors() ? point.sharedEnd - front.getNumAncestors() : 0;
  place.isGrouped = place.shared > 0;
  place.hasRows = point.rowDim.has_value();
  FailureOr<GpuPlan> plan = schedule::readGpuPlan(nest, place, options);
  if (failed(plan))
    return failure();
  if (plan->row && point.columns)
    return front.emitError("the GPU engine can't run the schedule: leaves whose columns are shared are computed for one row");
  if (plan->lift && !isUniform(front, *plan->lift)) {
    remark::missed(front.getLoc(), remark::RemarkOpts::name("gpu-lift").category("gpu"))
        << "planes wrap around along " << front.getDimNames()[*plan->lift].getValue()
        << ": its iterations are computed one by one";
    plan->inner.push_back(*plan->lift);
    plan->lift.reset();
    otherwise.insert(front);
  }
  if (plan->lift) {
    int64_t lower = 0;
    point.lifts = schedule::constantExtent(nest, *plan->lift, &lower);
    point.liftDim = plan->lift;
    point.dims[*plan->lift] = b.number(lower);
  }
  if (!plan->row)
    return emitLoops(nest, point, plan->inner);

  // No dimension outside serves as rows: tile one of this nest.
  int64_t savedRows = maxRows;
  maxRows = plan->maxRows;
  auto [lower, upper] = emitBounds(nest, *plan->row, point);
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = b.loop(lower, upper, b.number(maxRows));
  point.rowDim = plan->row;
  point.rowBegin = point.dims[*plan->row] = loop.getInductionVar();
  point.rows = b.smaller(b.number(maxRows), b.sub(upper, loop.getInductionVar()));
  LogicalResult emitted = emitLoops(nest, point, plan->inner);
  maxRows = savedRows;
  return emitted;
}

/// Whether a copy from arguments to results that may lie there moves anything in this call; none of what always does.
Value GraphEmitter::emitMoves(BlockOp leaf) {
  Value moves;
  for (auto [result, source] : etdg::getCopiesInPlace(leaf)) {
    Value to = argument(callBuffers.find(result)->second.planBuffer);
    Value from = argument(callBuffers.find(source)->second.planBuffer);
    Value differ = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, to, from);
    moves = moves ? b.createOrFold<arith::OrIOp>(moves, differ) : differ;
  }
  return moves;
}

LogicalResult GraphEmitter::emitBlock(BlockOp block, Point point) {
  if (!block.isLeaf())
    return emitGraphBody(block.getBody(), point);
  OpBuilder::InsertionGuard guard(b);
  if (Value moves = emitMoves(block))
    b.setInsertionPointToStart(scf::IfOp::create(b, moves, /*withElseRegion=*/false).thenBlock());
  return emitLeaf(block, point);
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
    if (failed(requireBounds(nest, dim)))
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
  place.planes = llvm::to_vector(kept.of(buffer.getResult()));
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
    size = b.mul(b.ceilDiv(b.mul(size, elementBytes), b.number(partAlignment)), partAlignment);
  });
  if (fixed)
    fixed = *fixed * rows * elementBytes;
  HostExpr bytes = hostBytes(type.getLengths(), place.planes, type.getElement()) * rows;
  bytes = HostExpr::binary(HostExpr::ceildiv, bytes, partAlignment) * partAlignment;
  place.aligned = type.getElement().getNumElements() * elementBytes % accessBytes == 0;
  place.base = blockMemory(bytes, size, fixed);
  storage[buffer.getResult()] = place;
}

FailureOr<GpuModule> mlir::ft::lowerGraphToGpu(etdg::GraphOp graph, const GpuOptions &options) {
  graph.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                    scf::SCFDialect, math::MathDialect, linalg::LinalgDialect,
                    tensor::TensorDialect, tile::TileDialect>();
  // Who has run the phase `schedule` has decided all; others leave that to its pass.
  OwningOpRef<etdg::GraphOp> copy = graph.clone();
  if (failed(scheduleForGpu(*copy, options)))
    return failure();
  if (!options.throughLoops)
    return GraphEmitter(*copy, options).run();
  OwningOpRef<ModuleOp> owner = ModuleOp::create(graph.getLoc());
  if (failed(checkStridedReads(*copy)) || failed(convertGridGraphToLoops(*copy, *owner, options)))
    return failure();
  return lowerProgramToGpu(*owner->getOps<loops::ProgramOp>().begin(), options);
}
