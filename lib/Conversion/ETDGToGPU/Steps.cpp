//===- Steps.cpp - nests that the whole grid runs step by step ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest whose schedule is in applied form (sequential dimensions outermost,
// parallel ones inside, with ranges that may depend on the outer ones; FT §5.2)
// becomes a kernel whose blocks of threads take a step together: each step's
// points are tasks that are dealt out to all blocks, then a barrier of the grid.
// The launch is a cooperative one, so that all blocks are running. Where a step
// has fewer points than there are blocks, they share the columns of a point's
// leaves (Split.h), then its rows.
//
//===----------------------------------------------------------------------===//
#include "GraphEmitter.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;
using schedule::leavesOf;

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult GraphEmitter::emitStepKernel(Kernel &kernel, StringRef name) {
  rowPlan.reset();
  BlockOp front = kernel.nests.front().blocks.front();
  b.setLoc(front.getLoc());
  leafForms.clear();
  rowWiseBuffers.clear();
  bool anySteps = llvm::any_of(kernel.nests, [](const StepNest &n) { return !n.steps.empty(); });
  cooperative = anySteps || kernel.grouped;
  sharesSteps = kernel.grouped;
  sharedLimit =
      cooperative ? std::max(machine.gpu.sharedBytesOfTwo, machine.gpu.sharedBytesAlone) : machine.gpu.sharedBytesOfTwo;
  maxRows = 1;
  int64_t elements = 1;
  for (StepNest &nest : kernel.nests) {
    if (nest.rowDim) { // private buffers are made for rows
      for (BlockOp block : nest.blocks)
        block.walk([&](etdg::BufferOp buffer) { rowWiseBuffers.insert(buffer.getResult()); });
    }
    if (failed(shareColumns(nest)))
      return failure();
    nest.maxRows = nest.rowDim ? chooseRows(nest.blocks, *nest.rowDim) : 1;
    // Blocks that share columns can have many rows, and so read weights seldom.
    if (nest.rowDim && nest.columns)
      nest.maxRows = std::max(nest.maxRows, machine.gpu.columnRows);
    maxRows = std::max(maxRows, nest.maxRows);
    for (BlockOp block : nest.blocks)
      for (BlockOp leaf : leavesOf(block))
        elements = std::max(elements, elementsOf(leaf));
  }
  threads.count =
      threadsFor(elements * maxRows, options.stepThreads ? options.stepThreads : machine.gpu.blockThreads.back());
  beginKernel(name);
  std::vector<Point> points(kernel.nests.size());
  for (auto [point, nest] : llvm::zip_equal(points, kernel.nests))
    point.dims.assign(nest.blocks.front().getNumDims(), Value());
  if (failed(emitSharedSteps(kernel, points, 0)))
    return failure();
  endKernel(1);
  int64_t most = cooperative ? 1 : 8;
  remark::passed(front.getLoc(), remark::RemarkOpts::name("gpu-steps").category("gpu"))
      << (cooperative ? "the grid runs the nest in steps, with a barrier after each"
                      : "the grid runs the points of the nest")
      << (kernel.nests.front().columns
              ? "; blocks of threads may share " + std::to_string(kernel.nests.front().columns) +
                    " columns"
              : std::string());
  finishKernel(name, multiprocessors * most);
  return success();
}

LogicalResult GraphEmitter::emitSharedSteps(Kernel &kernel, std::vector<Point> &points,
                                            unsigned level) {
  if (level == kernel.shared)
    return emitStep(kernel, points, /*again=*/level > 0);
  Value lower, upper;
  for (auto [nest, point] : llvm::zip_equal(kernel.nests, points)) {
    if (failed(checkBounds(nest.blocks, nest.steps[level])))
      return failure();
    auto [from, to] = emitBounds(nest.blocks, nest.steps[level], point);
    lower = lower ? b.smaller(lower, from) : from;
    upper = upper ? b.larger(upper, to) : to;
  }
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = b.loop(lower, upper, b.number(1));
  for (auto [nest, point] : llvm::zip_equal(kernel.nests, points))
    point.dims[nest.steps[level]] = loop.getInductionVar();
  return emitSharedSteps(kernel, points, level + 1);
}

static void collectAccesses(const StepNest &nest, llvm::DenseSet<Value> &reads,
                            llvm::DenseSet<Value> &writes) {
  for (BlockOp block : nest.blocks)
    for (BlockOp leaf : leavesOf(block)) {
      for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
        writes.insert(leaf.getBuffers()[leaf.getWrite(i).getOperand()]);
      for (Value buffer : leaf.getBuffers())
        reads.insert(buffer); // written ones as well: that is safe
    }
}

/// One step of all nests in their order; a barrier between those of which one
/// needs what the other touches, and at the end if there is another step.
LogicalResult GraphEmitter::emitStep(Kernel &kernel, ArrayRef<Point> points, bool again) {
  llvm::DenseSet<Value> reads, writes; // since the last barrier
  bool pending = false;
  for (auto [nest, point] : llvm::zip_equal(kernel.nests, points)) {
    llvm::DenseSet<Value> ownReads, ownWrites;
    collectAccesses(nest, ownReads, ownWrites);
    auto meets = [](const llvm::DenseSet<Value> &a, const llvm::DenseSet<Value> &c) {
      return llvm::any_of(a, [&](Value v) { return c.contains(v); });
    };
    if (pending && (meets(ownReads, writes) || meets(ownWrites, reads))) {
      emitGridBarrier();
      reads.clear();
      writes.clear();
      pending = false;
    }
    ArrayRef<unsigned> own = ArrayRef(nest.steps).drop_front(kernel.shared);
    if (failed(emitOwnSteps(nest, point, own)))
      return failure();
    if (!own.empty()) { // its last step ended in a barrier
      reads.clear();
      writes.clear();
      pending = false;
      continue;
    }
    reads.insert(ownReads.begin(), ownReads.end());
    writes.insert(ownWrites.begin(), ownWrites.end());
    pending = true;
  }
  if (again && pending)
    emitGridBarrier();
  return success();
}

/// Sequential dimensions that a nest has beside the shared ones.
LogicalResult GraphEmitter::emitOwnSteps(const StepNest &nest, Point point,
                                         ArrayRef<unsigned> steps) {
  if (steps.empty())
    return emitTasks(nest, point);
  if (failed(checkBounds(nest.blocks, steps.front())))
    return failure();
  auto [lower, upper] = emitBounds(nest.blocks, steps.front(), point);
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp loop = b.loop(lower, upper, b.number(1));
  point.dims[steps.front()] = loop.getInductionVar();
  if (failed(emitOwnSteps(nest, point, steps.drop_front())))
    return failure();
  if (steps.size() == 1)
    emitGridBarrier();
  return success();
}

/// Deals the points of a step out to the blocks of threads: those of all outer
/// dimensions' iterations one after the other, so that blocks get equally many.
LogicalResult GraphEmitter::emitTasks(const StepNest &nest, Point point) {
  OpBuilder::InsertionGuard guard(b);
  for (auto *list : {&nest.outer, &nest.flat})
    for (unsigned d : *list)
      if (failed(checkBounds(nest.blocks, d)))
        return failure();
  Value zero = b.number(0), one = b.number(1);
  Value block = atEntry([&] { return b.extend(NVVM::BlockIdXOp::create(b, b.getI32Type())); });
  Value blocks = atEntry([&] { return b.extend(NVVM::GridDimXOp::create(b, b.getI32Type())); });

  // Ranges of the flat dimensions but the rows', at values of the outer ones.
  SmallVector<unsigned> flat;
  for (unsigned d : nest.flat)
    if (d != nest.rowDim)
      flat.push_back(d);
  auto ranges = [&](const Point &at) {
    SmallVector<std::pair<Value, Value>> found; // lower, count
    for (unsigned d : flat) {
      auto [lower, upper] = emitBounds(nest.blocks, d, at);
      found.push_back({lower, b.larger(b.sub(upper, lower), zero)});
    }
    return found;
  };
  auto product = [&](ArrayRef<std::pair<Value, Value>> found) {
    Value all = one;
    for (auto [lower, count] : found)
      all = b.mul(all, count);
    return all;
  };
  /// Loops over the outer dimensions that carry one value.
  auto overOuter =
      [&](Value start,
          llvm::function_ref<FailureOr<Value>(Point, Value)> body) -> FailureOr<Value> {
    SmallVector<scf::ForOp> loops;
    Point at = point;
    Value carried = start;
    OpBuilder::InsertionGuard inner(b);
    for (unsigned d : nest.outer) {
      auto [lower, upper] = emitBounds(nest.blocks, d, at);
      loops.push_back(b.loop(lower, upper, one, carried));
      at.dims[d] = loops.back().getInductionVar();
      carried = loops.back().getRegionIterArg(0);
    }
    FailureOr<Value> last = body(at, carried);
    if (failed(last))
      return failure();
    Value value = *last;
    for (scf::ForOp loop : llvm::reverse(loops)) {
      b.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(b, value);
      value = loop.getResult(0);
    }
    return value;
  };

  Value rowLower = zero, rowCount = one, rowTile = one, rowTiles = one;
  if (nest.rowDim) {
    auto [lower, upper] = emitBounds(nest.blocks, *nest.rowDim, point);
    rowLower = lower;
    rowCount = b.larger(b.sub(upper, lower), zero);
  }
  // How a point's work is divided: into columns while blocks are left, then into rows.
  Value chunks = one, unitsInChunk = one;
  if (nest.rowDim || nest.columns) {
    FailureOr<Value> points = overOuter(zero, [&](Point at, Value sum) -> FailureOr<Value> {
      return b.add(sum, product(ranges(at)));
    });
    Value known = b.larger(*points, one);
    Value most = b.number(nest.maxRows);
    Value parts = b.mul(known, b.larger(b.ceilDiv(rowCount, most), one));
    auto blocksFor = [&](Value pieces) {
      return b.larger(b.createOrFold<arith::DivUIOp>(blocks, pieces), one);
    };
    if (nest.columns) {
      Value units = b.number(nest.columns / nest.unit);
      chunks = b.smaller(blocksFor(parts), units);
      unitsInChunk = b.ceilDiv(units, chunks);
      chunks = b.ceilDiv(units, unitsInChunk);
    }
    if (nest.rowDim) {
      rowTile = b.ceilDiv(rowCount, blocksFor(b.mul(known, chunks)));
      rowTile = b.larger(b.smaller(rowTile, most), one);
      rowTiles = b.ceilDiv(rowCount, rowTile);
    }
  }

  FailureOr<Value> all = overOuter(zero, [&](Point at, Value dealt) -> FailureOr<Value> {
    OpBuilder::InsertionGuard inner(b);
    SmallVector<std::pair<Value, Value>> found = ranges(at);
    Value tasks = b.mul(b.mul(product(found), rowTiles), chunks);
    // This block's first task: its number less those dealt out before, modulo the blocks.
    Value first = block;
    if (!nest.outer.empty()) {
      first = b.sub(block, dealt);
      Value negative = b.less(first, zero);
      first = b.createOrFold<arith::SelectOp>(negative, b.add(first, blocks), first);
    }
    scf::ForOp loop = b.loop(first, tasks, blocks);
    Value rest = loop.getInductionVar();
    auto digit = [&](Value count) {
      Value value = b.createOrFold<arith::RemUIOp>(rest, count);
      rest = b.createOrFold<arith::DivUIOp>(rest, count);
      return value;
    };
    if (nest.rowDim) {
      at.rowDim = nest.rowDim;
      at.rowBegin = b.add(rowLower, b.mul(digit(rowTiles), rowTile));
      at.dims[*nest.rowDim] = at.rowBegin;
      at.rows = b.smaller(rowTile, b.sub(b.add(rowLower, rowCount), at.rowBegin));
    }
    if (nest.columns) {
      Value begin = b.mul(digit(chunks), unitsInChunk);
      Value units = b.smaller(unitsInChunk, b.sub(b.number(nest.columns / nest.unit), begin));
      at.columns = Columns{b.mul(begin, nest.unit), b.mul(units, nest.unit), nest.unit};
    }
    for (int64_t i = int64_t(flat.size()) - 1; i >= 0; --i)
      at.dims[flat[i]] = b.add(found[i].first, i == 0 ? rest : digit(found[i].second));
    if (failed(emitLoops(nest.blocks, at, nest.inner)))
      return failure();
    b.setInsertionPointAfter(loop);
    return b.createOrFold<arith::RemUIOp>(b.add(dealt, tasks), blocks);
  });
  return failure(failed(all));
}

/// All blocks of the grid are here. The counter's low bits count those that came, the last
/// one flips its top bit, and the low bits are zero again: no step resets it, and it may begin
/// with any top bit. Written as one piece of PTX: LLVM's atomics lose their ordering here.
void GraphEmitter::emitGridBarrier() {
  OpBuilder::InsertionGuard guard(b);
  if (counterBuffer < 0) {
    ::ft::rt::Plan &plan = result.entry.plans.front();
    plan.buffers.push_back({::ft::rt::Buffer::counter, 0, 0});
    counterBuffer = int64_t(plan.buffers.size()) - 1;
    plan.counterBytes = 64;
  }
  Value counter = atEntry([&] { return argument(counterBuffer); });
  b.barrier();
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threads.id, b.number32(0));
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
  Value number = NVVM::BlockIdXOp::create(b, b.getI32Type());
  // Block 0 adds what the others leave to 2^31.
  Value rest = arith::SubIOp::create(b, b.number32(int64_t(INT32_MIN) + 1), blocks);
  Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number, b.number32(0));
  Value step = arith::SelectOp::create(b, isZero, rest, b.number32(1));
  std::string text = "{\n.reg .pred p;\n.reg .b32 old, seen;\n";
  if (options.barrierLimit)
    text += ".reg .b64 left;\nmov.b64 left, " + std::to_string(options.barrierLimit) + ";\n";
  text += "fence.acq_rel.gpu;\n"
          "atom.add.acq_rel.gpu.global.u32 old, [$0], $1;\n"
          "again:\n"
          "ld.acquire.gpu.global.u32 seen, [$0];\n"
          "xor.b32 seen, seen, old;\n"
          "setp.lt.s32 p, seen, 0;\n"
          "@p bra done;\n";
  SmallVector<Value> operands = {counter, step};
  std::string constraints = "l,r";
  if (options.barrierLimit) {
    operands.push_back(atEntry([&] { return argument(errorBuffer); }));
    operands.push_back(b.number32(int64_t(result.entry.plans.front().kernels.size())));
    constraints += ",l,r";
    text += "sub.s64 left, left, 1;\n"
            "setp.gt.s64 p, left, 0;\n"
            "@p bra again;\n"
            "st.global.u32 [$2+4], $3;\n"
            "fence.acq_rel.sys;\n"
            "st.global.u32 [$2], 2;\n"
            "fence.acq_rel.sys;\n"
            "trap;\n";
  } else {
    text += "bra again;\n";
  }
  text += "done:\n}";
  LLVM::InlineAsmOp::create(b, TypeRange(), operands, text, constraints + ",~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
                            ArrayAttr());
  b.setInsertionPointAfter(branch);
  b.barrier();
}
