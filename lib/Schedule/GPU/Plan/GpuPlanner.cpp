//===- GpuPlanner.cpp - how a GPU runs nests ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Free dimensions are dealt to thread blocks, one of them in rows; the rest
// runs in order. What a machine has of everything is asked of its model.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Plan/GpuPlanner.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/GPU/Plan/PlaceBuffers.h"
#include "ft/Schedule/CPU/Plan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

bool schedule::isTold(Operation *op) { return op->getParentOfType<ModuleOp>() != nullptr; }

bool schedule::isFreeMap(ArrayRef<BlockOp> nest, unsigned dim) {
  unsigned own = dim - BlockOp(nest.front()).getNumAncestors();
  return llvm::all_of(nest, [&](BlockOp block) { return block.getOperator(own) == OperatorKind::Map; }) &&
         isFreeDimension(nest, dim);
}

bool schedule::readsColumnsOfOthers(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  if (plan.inner.empty())
    return false;
  llvm::SmallDenseSet<Value> written;
  SmallVector<BlockOp> leaves;
  for (BlockOp block : nest)
    llvm::append_range(leaves, leavesOf(block));
  auto isOfNest = [&](Value buffer) {
    Operation *definition = buffer.getDefiningOp();
    return definition && llvm::any_of(nest, [&](BlockOp block) { return block->isProperAncestor(definition); });
  };
  for (BlockOp leaf : leaves)
    for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
      if (Value buffer = leaf.getBuffers()[leaf.getWrite(i).getOperand()]; !isOfNest(buffer))
        written.insert(buffer);
  auto reads = [&](BlockOp leaf, int64_t operand) { return written.contains(leaf.getBuffers()[operand]); };
  return llvm::any_of(leaves, [&](BlockOp leaf) {
    return llvm::any_of(llvm::seq(leaf.getNumReads()), [&](unsigned i) {
      return llvm::any_of(leaf.getRead(i).getPieces(), [&](etdg::PieceAttr piece) {
        return (piece.getKind() == etdg::SourceKind::Buffer && reads(leaf, piece.getOperand())) ||
               llvm::any_of(piece.getGathers(), [&](etdg::GatherAttr gather) { return reads(leaf, gather.getOperand()); });
      });
    });
  });
}

int64_t schedule::constantExtent(ArrayRef<BlockOp> nest, unsigned dim, int64_t *lower) {
  BlockOp block = nest.front();
  DimBounds bounds = boundsOf(block, dim);
  if (nest.size() != 1 || bounds.lowers.size() != 1 || bounds.uppers.size() != 1)
    return 0;
  auto from = dyn_cast<AffineConstantExpr>(bounds.lowers.front());
  auto to = dyn_cast<AffineConstantExpr>(bounds.uppers.front());
  if (!from || !to)
    return 0;
  if (lower)
    *lower = from.getValue();
  return std::max<int64_t>(to.getValue() - from.getValue(), 0);
}

bool schedule::canLift(ArrayRef<BlockOp> nest, unsigned dim, llvm::function_ref<int64_t(Value, unsigned)> planesOf) {
  BlockOp leaf = nest.front();
  return nest.size() == 1 && leaf.isLeaf() && constantExtent(nest, dim) > 0 && isFreeMap(nest, dim) &&
         isUniform(leaf, dim, planesOf);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static int64_t elementsOfLeaf(BlockOp leaf) {
  int64_t elements = 1;
  for (unsigned i = 0; i < leaf.getNumWrites(); ++i) {
    Value buffer = leaf.getBuffers()[leaf.getWrite(i).getOperand()];
    elements = std::max(elements, cast<etdg::BufferType>(buffer.getType()).getElement().getNumElements());
  }
  return elements;
}

int64_t GpuPlanner::elementsOf(ArrayRef<BlockOp> nest) const {
  int64_t elements = 1;
  for (BlockOp block : nest)
    for (BlockOp leaf : leavesOf(block))
      elements = std::max(elements, elementsOfLeaf(leaf));
  return elements;
}

/// Terms of the longest sum of a leaf, all of its points together.
static int64_t termsOfLeaf(BlockOp leaf) {
  int64_t terms = 0;
  for (auto op : leaf.getBody().front().getOps<linalg::LinalgOp>()) {
    int64_t iterations = 1;
    for (int64_t size : op.getStaticLoopRanges())
      iterations *= std::max<int64_t>(size, 1);
    if (op.getNumReductionLoops() > 0)
      terms = std::max(terms, iterations);
  }
  return terms;
}

/// The same of a nest of leaves.
static int64_t termsOfNest(ArrayRef<BlockOp> nest) {
  int64_t terms = 0;
  for (BlockOp block : nest)
    terms = std::max(terms, block.isLeaf() ? termsOfLeaf(block) : 0);
  return terms;
}

static bool variesWith(BlockOp leaf, unsigned read, unsigned dim) {
  return llvm::any_of(leaf.getRead(read).getPieces(), [&](etdg::PieceAttr piece) {
    return piece.getKind() == etdg::SourceKind::Buffer && piece.getMap().getValue().isFunctionOfDim(dim);
  });
}

/// Whether a read may be of what each point of the nest's block has for itself.
static bool isPrivate(BlockOp leaf, unsigned read, BlockOp block) {
  return llvm::any_of(leaf.getRead(read).getPieces(), [&](etdg::PieceAttr piece) {
    Operation *buffer = piece.getKind() == etdg::SourceKind::Buffer ? leaf.getBuffers()[piece.getOperand()].getDefiningOp() : nullptr;
    return buffer && block->isProperAncestor(buffer);
  });
}

static int64_t bytesOfRead(BlockOp leaf, unsigned read) {
  auto type = cast<RankedTensorType>(leaf.getBody().getArgument(read).getType());
  return type.getNumElements() * elementBytes(type.getElementType());
}

/// Most rows of a leaf at once: enough to use the threads, and to read what rows
/// share (weights) seldom.
int64_t GpuPlanner::chooseRows(ArrayRef<BlockOp> nest, unsigned dim) {
  int64_t elements = 1, sharedBytes = 0, rowBytes = 1;
  for (BlockOp block : nest)
    for (BlockOp leaf : leavesOf(block)) {
      elements = std::max(elements, elementsOfLeaf(leaf));
      int64_t own = 0;
      for (unsigned i = 0; i < leaf.getNumReads(); ++i)
        (variesWith(leaf, i, dim) || isPrivate(leaf, i, block) ? own : sharedBytes) += bytesOfRead(leaf, i);
      rowBytes = std::max(rowBytes, own);
    }
  if (draws())
    return int64_t(1) << draw(6);
  if (int64_t tile = openTile(nest, dim))
    return std::min(tile, mostTaskRows);
  // Where a kernel only streams, each thread has several accesses in flight at a time: short
  // rows would wait for barriers and memory in turn.
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
  rows = std::clamp<int64_t>(rows, 1, std::max<int64_t>(1, planning.taskBytes / rowBytes));
  // Nothing of a row that streams through is kept: tasks may have half as many more, so that all have equally many.
  if (int64_t count = streams ? constantExtent(nest, dim) : 0; count > rows)
    return std::min<int64_t>(llvm::divideCeil(count, std::max<int64_t>((count + rows / 2) / rows, 1)), mostTaskRows);
  return rows;
}

std::optional<unsigned> GpuPlanner::chooseRow(ArrayRef<BlockOp> nest, ArrayRef<unsigned> some) {
  // (What the body does is the same for all rows.)
  SmallVector<unsigned> free = llvm::to_vector(llvm::make_filter_range(some, [&](unsigned dim) { return canBeRow(nest, dim, {}); }));
  if (!draws() || free.empty()) {
    // Of one iteration there is nothing to compute together: room for rows that never come would be all that it takes.
    llvm::erase_if(free, [&](unsigned dim) { return constantExtent(nest, dim) == 1; });
    // A tile that something wrote is a tile of rows.
    SmallVector<unsigned> tiled = llvm::to_vector(llvm::make_filter_range(free, [&](unsigned dim) { return openTile(nest, dim) > 0; }));
    return chooseRowDimension(nest, tiled.empty() ? free : tiled);
  }
  uint64_t number = draw(free.size() + 1);
  return number < free.size() ? std::optional(free[number]) : std::nullopt;
}

/// Threads of a block whose leaves have so many elements.
int64_t GpuPlanner::threadsFor(int64_t elements, int64_t most) {
  if (draws())
    return machine.occupancy.warp << draw(5);
  for (auto [threads, limit] : llvm::zip(planning.blockThreads, planning.blockElements))
    if (elements <= limit)
      return threads;
  return most;
}

etdg::ThreadBlockAttr GpuPlanner::makeBlock(MLIRContext *context, int64_t threads, int64_t resident,
                                            int64_t shared) const {
  const Machine::Occupancy &limits = machine.occupancy;
  resident = std::clamp<int64_t>(resident, 1, std::max<int64_t>(1, limits.threadsPerUnit / threads));
  return etdg::ThreadBlockAttr::get(context, threads, resident, std::min(shared, limits.sharedBytesPerBlock),
                                    etdg::ThreadBlockAttr::usualSums);
}

//===----------------------------------------------------------------------===//
// Thread blocks that are independent
//===----------------------------------------------------------------------===//

/// A kernel of one leaf that works row by row keeps its rows in registers.
LogicalResult GpuPlanner::planRowLanes(BlockOp leaf, std::optional<unsigned> &row, std::optional<RowPlan> &rows) {
  for (unsigned i = 0; i < leaf.getNumReads(); ++i)
    if (readsInside(leaf, i, noPlanes) || leaf.getRead(i).getPieces().empty())
      return success();
  auto plan = [&](std::optional<unsigned> dim) -> LogicalResult {
    LeafForm form;
    if (failed(makeLeafForm(form, leaf, machine, dim, bool(dim), [](Value) { return false; })))
      return failure();
    rows = planRows(form.graph, bool(dim), machine);
    if (rows)
      rows->nests.clear(); // of a form that is gone
    return success();
  };
  if (row && !isUniform(leaf, *row, noPlanes))
    return success();
  if (failed(plan(row)))
    return failure();
  if (rows && row && rows->pointsAtOnce() <= rows->numPoints()) { // one is enough
    if (failed(plan(std::nullopt)))
      return failure();
    if (rows)
      row.reset();
  }
  if (rows && !row && rows->numPoints() * 2 <= rows->pointsAtOnce() && rows->pointsAtOnce() > 1)
    rows.reset();
  return success();
}

/// The most rows that a nest in a body could have of its own points.
int64_t GpuPlanner::rowsInside(BlockOp body) {
  int64_t most = 1;
  body->walk([&](BlockOp inner) {
    for (unsigned d = inner.getNumAncestors(); inner != body && d < inner.getNumDims(); ++d)
      if (isFreeMap({inner}, d)) {
        int64_t count = constantExtent({inner}, d), rows = chooseRows({inner}, d);
        most = std::max(most, count ? std::min(count, rows) : rows);
      }
  });
  return most;
}

/// Whether there are so few points that each is a task by itself, whatever rows there may be.
bool GpuPlanner::areTasks(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free) const {
  int64_t points = 1;
  for (unsigned d : free) {
    int64_t count = constantExtent(nest, d);
    if (!count)
      return false;
    points *= std::min(count, std::numeric_limits<int32_t>::max() / points + 1);
  }
  return points <= options.getMultiprocessors() * planning.tasksPerUnit;
}

/// Registers of a thread that keeps rows: a row's values, those that are computed from them, addresses. Rows of halves bring half the
/// bytes, so that as many on their way need more blocks; where lanes divide a row, which then has no masks, its halves lie packed beside the
/// values, in what addresses leave.
static int64_t registersOfRows(const RowPlan &rows, const Machine::GpuPlanning &planning) {
  bool areHalves = rows.width * 2 == planning.accessBytes;
  bool isDivided = !rows.shifted && rows.lanes > 0 && rows.vectors() % rows.lanes == 0;
  return (areHalves && isDivided ? 1 : 2) * rows.registers + planning.rowRegistersBeside;
}

/// Rows for which thread blocks have room, where a schedule says what of a row lies in shared memory.
static int64_t rowsWithRoom(ArrayRef<BlockOp> nest, etdg::ThreadBlockAttr block, const Machine &machine) {
  int64_t bytes = 0;
  for (BlockOp each : nest)
    each.getBody().walk([&](etdg::BufferOp buffer) {
      if (buffer.getMemory() == etdg::BufferMemory::Shared)
        bytes += buffer.getBytes().value_or(0);
    });
  int64_t room = sharedBytesForBuffers(block) - bytesOfWarps(block, machine);
  return bytes == 0 ? std::numeric_limits<int64_t>::max() : std::max<int64_t>(room / bytes, 1);
}

bool GpuPlanner::mayHaveRowsInside(ArrayRef<BlockOp> nest) {
  BlockOp front = nest.front();
  SmallVector<unsigned> free;
  for (unsigned d = 0; d < front.getNumDims(); ++d)
    if (isFreeMap(nest, d))
      free.push_back(d);
  auto isGiven = [&](unsigned d) { return openTile(nest, d) > 0; };
  return nest.size() == 1 && !front.isLeaf() && !free.empty() && llvm::none_of(free, isGiven) && !areTasks(nest, free) && rowsInside(front) > 1;
}

FailureOr<GpuPlan> GpuPlanner::planBlocks(ArrayRef<BlockOp> nest, RowsOf rowsOf, std::optional<RowPlan> &rows) {
  BlockOp front = nest.front();
  GpuPlan plan;
  SmallVector<unsigned> free;
  for (unsigned d = 0; d < front.getNumDims(); ++d)
    (isFreeMap(nest, d) ? free : plan.inner).push_back(d);
  plan.row = chooseRow(nest, free);
  rows.reset();
  if (!draws() || draw(2) == 0) {
    FailureOr<bool> products = planProducts(nest, free, plan);
    if (failed(products))
      return failure();
    if (*products)
      return plan;
  }
  // One row at a time leaves the threads to the points of the body's nests.
  if (rowsOf == RowsOf::Body || (plan.row && !draws() && areTasks(nest, free) && rowsInside(front) > 1))
    plan.row.reset();
  if (nest.size() == 1 && front.isLeaf() && plan.inner.empty() && front.getNumAncestors() == 0 &&
      failed(planRowLanes(front, plan.row, rows)))
    return failure();
  if (draws() && rows && draw(3) == 0)
    rows.reset();
  if (rows)
    plan.maxRows = plan.row ? std::max<int64_t>(rows->pointsAtOnce() / rows->numPoints(), 1) : 1;
  else
    plan.maxRows = plan.row ? std::min(chooseRows(nest, *plan.row),
                                       rowsWithRoom(nest, makeBlock(front.getContext(), planning.blockThreads.back(), 1, planning.sharedBytesOfTwo), machine))
                            : 1;
  if (plan.maxRows == 1 && !rows)
    plan.row.reset();
  for (unsigned d : free)
    if (d != plan.row)
      plan.flat.push_back(d);
  int64_t points = elementsOf(nest) * plan.maxRows;
  // Fewer points than a warp has lanes: what there is to do is the terms of their sums.
  if (points < machine.occupancy.warp && nest.size() == 1 && front.isLeaf())
    points = std::max(points, termsOfLeaf(front) / planning.leastSlice);
  int64_t threads = rows ? rows->threads : threadsFor(points, planning.blockThreads.back());
  // Rows of a few elements that are no whole access are a thread's each (Tiles.cpp): it has as many of them, two at a time, as
  // elements where these are dealt.
  if (int64_t elements = elementsOf(nest); !rows && !draws() && plan.row && elements > 1 && elements <= planning.loopTile && elements % 2 != 0)
    while (threads > planning.blockThreads[planning.blockThreads.size() / 2] &&
           plan.maxRows * 2 * planning.blockThreads.back() < planning.streamElements * threads)
      threads /= 2;
  // (Of other kernels ScheduleForGpu.cpp knows more when their leaves are planned.)
  int64_t resident = rows ? machine.occupancy.registersPerUnit / registersOfRows(*rows, planning) / threads : 1;
  plan.block = makeBlock(front.getContext(), threads, resident, planning.sharedBytesOfTwo);
  return plan;
}

//===----------------------------------------------------------------------===//
// Steps of the grid
//===----------------------------------------------------------------------===//

/// The schedule of a nest, where it is in applied form.
static etdg::ScheduleAttr appliedSchedule(ArrayRef<BlockOp> nest) {
  BlockOp front = nest.front();
  etdg::ScheduleAttr schedule = scheduleOf(nest);
  if (!schedule)
    return nullptr;
  AffineMap map = schedule.getMap().getValue();
  if (map.isIdentity() && map.getNumResults() == front.getNumOwnDims())
    return schedule;
  if (isTold(front))
    remark::missed(front.getLoc(), remark::RemarkOpts::name("gpu-schedule").category("gpu"))
        << "the schedule is not in applied form: the nest runs in lexicographic order";
  return nullptr;
}

std::optional<unsigned> schedule::findUnbounded(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, llvm::SmallBitVector &known) {
  for (unsigned dim : dims) {
    if (!hasLoopBounds(nest, dim, [&](unsigned d) { return known[d]; }))
      return dim;
    known.set(dim);
  }
  return std::nullopt;
}

bool GpuPlanner::hasStepBounds(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  llvm::SmallBitVector known(BlockOp(nest.front()).getNumDims());
  known.set(0, BlockOp(nest.front()).getNumAncestors());
  return !findUnbounded(nest, plan.steps, known);
}

GpuPlan GpuPlanner::sortDimensions(ArrayRef<BlockOp> nest) {
  GpuPlan plan;
  BlockOp front = nest.front();
  unsigned numDims = front.getNumDims();
  SmallVector<bool> free(numDims), parallel(numDims);
  for (unsigned d = 0; d < numDims; ++d)
    free[d] = parallel[d] = isFreeMap(nest, d);
  if (etdg::ScheduleAttr schedule = appliedSchedule(nest)) {
    SmallVector<bool> sequential(numDims);
    for (etdg::LoopAttr loop : schedule.getPointLoops())
      sequential[loop.getDimension()] |= !loop.isParallel();
    for (unsigned d = 0; d < numDims && !schedule.getLoops().empty(); ++d)
      parallel[d] = free[d] || !sequential[d];
  }
  // Steps come first; a parallel dimension inside of one that each task runs in order is part
  // of what the task runs.
  bool inside = false;
  SmallVector<unsigned> dealt;
  for (unsigned d = 0; d < numDims; ++d) {
    inside |= !parallel[d] && llvm::any_of(ArrayRef(parallel).take_front(d), [](bool p) { return p; }) &&
              !llvm::all_of(llvm::seq(d), [&](unsigned e) { return !parallel[e] || free[e]; });
    if (!free[d] && inside)
      plan.inner.push_back(d);
    else
      (parallel[d] ? dealt : plan.steps).push_back(d);
  }
  // A range that depends on another parallel dimension is known only inside of that.
  llvm::SmallBitVector known(numDims);
  known.set(0, front.getNumAncestors());
  for (unsigned d : plan.steps)
    known.set(d);
  llvm::SmallBitVector asked = findAsked(nest, dealt, known);
  SmallVector<unsigned> freeDims;
  for (unsigned d : dealt) {
    (asked[d] ? plan.outer : plan.flat).push_back(d);
    if (!asked[d] && free[d])
      freeDims.push_back(d);
  }
  plan.row = chooseRow(nest, freeDims);
  plan.waits.assign(plan.steps.size(), false);
  if (!plan.waits.empty())
    plan.waits.back() = true;
  return plan;
}

/// Finds columns that thread blocks can share, the same number in all regions of the nest.
LogicalResult GpuPlanner::shareColumns(ArrayRef<BlockOp> nest, GpuPlan &plan, bool privateRows) {
  plan.columns = 0;
  if (readsColumnsOfOthers(nest, plan))
    return success();
  int64_t bytes = 1;
  LeafContext context;
  if (privateRows)
    context.rowOwner.assign(nest.begin(), nest.end());
  for (BlockOp block : nest) {
    std::vector<LeafForm> forms;
    SmallVector<LeafForm *> pointers;
    SmallVector<BlockOp> leaves = leavesOf(block);
    forms.reserve(leaves.size());
    for (BlockOp leaf : leaves) {
      bool rowWise = plan.row && isUniform(leaf, *plan.row, noPlanes);
      if (failed(makeLeafForm(forms.emplace_back(), leaf, machine, plan.row, rowWise,
                              [&](Value buffer) { return context.isPerRow(buffer); })))
        return failure();
      pointers.push_back(&forms.back());
      // What a leaf keeps for itself shares no lines of memory with other thread blocks.
      for (const leaf::Buffer &buffer : forms.back().graph.buffers)
        if (buffer.kind != leaf::Buffer::Kind::Scratch)
          bytes = std::max(bytes, elementBytes(buffer.elementType));
    }
    int64_t columns = schedule::shareColumns(block, pointers, planning);
    if (columns == 0 || (plan.columns != 0 && columns != plan.columns)) {
      plan.columns = 0;
      return success();
    }
    plan.columns = columns;
  }
  plan.unit = std::max<int64_t>(planning.columnBytes / bytes, 1);
  while (plan.columns % plan.unit != 0)
    plan.unit /= 2;
  return success();
}

/// Whether thread blocks have to wait before the nest, by an attribute of it, which goes.
static bool takeWait(ArrayRef<BlockOp> nest) {
  BlockOp front = nest.front();
  Operation *item = front.getNest() ? front.getNest().getOperation() : front.getOperation();
  return bool(item->removeAttr(etdg::names::before));
}

LogicalResult GpuPlanner::planSteps(ArrayRef<SmallVector<BlockOp>> nests, MutableArrayRef<GpuPlan> plans,
                                    const GpuPlace &place) {
  bool waits = place.isGrouped || llvm::any_of(plans, [](const GpuPlan &plan) { return !plan.steps.empty(); });
  int64_t elements = 1, maxRows = 1;
  int64_t productThreads = 0;
  // Where no nest has steps of its own, each is what waits in the step of a recurrence.
  bool hasStepsInside = place.isGrouped && place.shared > 0 &&
                        llvm::any_of(plans, [&](const GpuPlan &plan) { return plan.steps.size() > place.shared; });
  const int64_t beside = place.shared > 0 ? int64_t(nests.size()) : 1;
  for (auto [nest, plan] : llvm::zip_equal(nests, plans)) {
    if (hasStepsInside && failed(planInStep(nest, plan, place.shared)))
      return failure();
    // (The kernel of a nest with steps of its own beside others in one loop would keep too much in registers.)
    if (!hasStepsInside && !plan.steps.empty() && failed(planProductsInSteps(nest, plan, beside)))
      return failure();
    if (plan.products) {
      productThreads = std::max(productThreads, plan.block.getThreads());
      continue;
    }
    bool isAlone = place.isGrouped && plan.steps.size() == place.shared && !plan.inner.empty();
    if (!isAlone && failed(shareColumns(nest, plan, /*privateRows=*/plan.row.has_value())))
      return failure();
    if (draws() && draw(2) == 0)
      plan.columns = 0;
    plan.maxRows = plan.row ? chooseRows(nest, *plan.row) : 1;
    // Blocks that share columns can have many rows, and so read weights seldom.
    if (plan.row && plan.columns)
      plan.maxRows = std::max(plan.maxRows, planning.columnRows);
    maxRows = std::max(maxRows, plan.maxRows);
    elements = std::max(elements, elementsOf(nest));
    if (elementsOf(nest) * plan.maxRows < machine.occupancy.warp) // what there is to do is the terms of sums
      elements = std::max(elements, termsOfNest(nest) / planning.rowLaneWords);
    llvm::erase_if(plan.flat, [&](unsigned d) { return plan.row == d; });
    // What is not dealt one thread block runs in order; others don't wait for it after each iteration.
    if (place.isGrouped && !plan.row && !plan.columns && plan.flat.empty() && plan.outer.empty()) {
      plan.inner.insert(plan.inner.begin(), plan.steps.begin() + place.shared, plan.steps.end());
      plan.steps.resize(place.shared);
      plan.waits.resize(place.shared);
    }
  }
  int64_t threads = threadsFor(elements * maxRows, options.stepThreads ? options.stepThreads : planning.blockThreads.back());
  threads = productThreads ? productThreads : threads;
  int64_t shared = waits ? std::max(planning.sharedBytesOfTwo, planning.sharedBytesAlone) : planning.sharedBytesOfTwo;
  BlockOp front = nests.front().front();
  etdg::ThreadBlockAttr block = makeBlock(front.getContext(), threads, 1, shared);
  SmallVector<bool> own;
  for (GpuPlan &plan : plans) {
    plan.block = block;
    own.push_back(place.isGrouped && plan.steps.size() > place.shared);
  }
  if (waits && failed(stageReads(nests, plans)))
    return failure();
  if (!place.isGrouped)
    return success();
  GridWaits found = findGridWaits(nests, own, place.shared);
  for (auto [number, plan, before] : llvm::enumerate(plans, found.before)) {
    // Where accesses ask for it, and where `etdg.before` does.
    plan.waitsBefore = before || (takeWait(nests[number]) && number > 0);
    for (size_t s = 0; s < place.shared; ++s)
      plan.waits[s] = s + 1 == place.shared && found.atEnd;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Inside a block
//===----------------------------------------------------------------------===//

/// A dimension of a leaf inside a body whose few iterations can be computed at once: the
/// gates of a cell.
std::optional<unsigned> GpuPlanner::chooseLift(ArrayRef<BlockOp> nest, unsigned shared) {
  BlockOp leaf = nest.front();
  std::optional<unsigned> best;
  int64_t most = 1;
  for (unsigned d = leaf.getNumAncestors() + shared; d < leaf.getNumDims(); ++d) {
    int64_t count = constantExtent(nest, d);
    if (count <= most || count > planning.liftedIterations || !canLift(nest, d, noPlanes) || (draws() && draw(2) == 0))
      continue;
    // Two dimensions at once need strides that do not depend on each other's place.
    best = d;
    most = count;
  }
  return best;
}

GpuPlan GpuPlanner::planInside(ArrayRef<BlockOp> nest, const LeafContext &outside, const GpuPlace &place) {
  BlockOp front = nest.front();
  GpuPlan plan;
  unsigned first = front.getNumAncestors() + place.shared;
  for (unsigned d = front.getNumAncestors(); d < first; ++d)
    plan.steps.push_back(d);
  plan.waits.assign(plan.steps.size(), false);
  plan.lift = chooseLift(nest, place.shared);
  SmallVector<unsigned> free;
  for (unsigned d = first; d < front.getNumDims(); ++d) {
    if (d == plan.lift)
      continue;
    plan.inner.push_back(d);
    if (!outside.row && isFreeMap(nest, d))
      free.push_back(d);
  }
  // Columns were shared for leaves that are computed for one row here.
  std::optional<unsigned> row = outside.columns ? std::nullopt : chooseRow(nest, free);
  int64_t rows = row ? chooseRows(nest, *row) : 1;
  const int64_t count = row ? constantExtent(nest, *row) : 0;
  if (rows == 1 || (!draws() && rowsInside(front) > (count ? std::min(count, rows) : rows)))
    return plan;
  plan.row = row;
  plan.maxRows = rows;
  plan.inner.erase(llvm::find(plan.inner, *row));
  return plan;
}
