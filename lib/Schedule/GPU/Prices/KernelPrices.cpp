//===- KernelPrices.cpp - seconds that scheduled kernels take -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of the grid one after the other, at sampled values: how many points each
// has, how thread blocks share them, what the dearest of their bodies costs.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Prices/KernelPrices.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/GPU/Plan/GpuPlanner.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/CPU/Plan.h"
#include "ft/Schedule/GPU/Layouts/RowRuns.h"
#include "ft/Schedule/GPU/Plan/ScheduleForGpu.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Dimensions of a leaf, those of what is around it included, at most.
static constexpr unsigned mostDims = 32;
/// Values of a range that are looked at: of steps, of other loops.
static constexpr unsigned stepSamples = 9, pointSamples = 3;

using Nests = SmallVector<SmallVector<BlockOp>>;

static Nests nestsOf(Operation &item) {
  if (auto kernel = dyn_cast<etdg::KernelOp>(item))
    return etdg::getNests(kernel.getBody());
  return {etdg::blocksOf(&item)};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The host launches the kernels of a call as one graph.
FailureOr<KernelPrice> KernelPrices::priceGraph() {
  FailureOr<KernelPrice> price = priceBody(graph.getBody().front());
  if (succeeded(price) && price->steps > 0)
    price->seconds += machine.sync.launch;
  return price;
}

/// Bytes of the buffers that one item writes and the next one reads.
static double bytesExchanged(Operation &writer, Operation &reader, TypicalRanges &ranges) {
  llvm::SmallPtrSet<Value, 8> written, read;
  writer.walk([&](BlockOp block) {
    for (unsigned w = 0; block.isLeaf() && w < block.getNumWrites(); ++w)
      written.insert(block.getBuffers()[block.getWrite(w).getOperand()]);
  });
  reader.walk([&](BlockOp block) {
    for (unsigned r = 0; block.isLeaf() && r < block.getNumReads(); ++r)
      for (etdg::PieceAttr piece : block.getRead(r).getPieces())
        if (piece.getKind() == etdg::SourceKind::Buffer)
          read.insert(block.getBuffers()[piece.getOperand()]);
  });
  double bytes = 0;
  for (Value buffer : written)
    if (read.contains(buffer))
      bytes += ranges.bytesTypically(cast<etdg::BufferType>(buffer.getType()));
  return bytes;
}

/// Of all items of a body, one after the other.
FailureOr<KernelPrice> KernelPrices::priceBody(Block &body) {
  KernelPrice total;
  Operation *before = nullptr;
  bool mayOverlap = false;
  for (Operation &op : body) {
    if (!isa<etdg::VariantsOp, etdg::KernelOp, etdg::NestOp, BlockOp>(op))
      continue;
    FailureOr<KernelPrice> one = priceItem(op);
    if (failed(one))
      return failure();
    if (before)
      total.seconds += machine.sync.boundarySeconds(bytesExchanged(*before, op, ranges) / machine.units, mayOverlap && one->barriers == 0) -
                       machine.sync.boundary;
    before = &op;
    mayOverlap = machine.sync.overlapGains() && one->barriers == 0; // (`loops-place-dependency`)
    total.seconds += one->seconds;
    total.steps += one->steps;
    total.barriers += one->barriers;
    total.products += one->products;
    total.resident = one->resident;
    total.shared = one->shared;
    total.tasks = std::max(total.tasks, one->tasks);
    total.registers = std::max(total.registers, one->registers);
  }
  return total;
}

FailureOr<KernelPrice> KernelPrices::priceItem(Operation &item) {
  if (auto variants = dyn_cast<etdg::VariantsOp>(item))
    return priceVariants(variants);
  return priceKernel(item);
}

/// Of the variant that typical lengths take.
FailureOr<KernelPrice> KernelPrices::priceVariants(etdg::VariantsOp variants) {
  auto lookup = [&](StringAttr name) -> std::optional<int64_t> { return ranges.lengthOf(name); };
  size_t taken = 0;
  for (Attribute guard : variants.getGuards()) {
    if (cast<etdg::GuardAttr>(guard).evaluate(lookup).value_or(false))
      break;
    ++taken;
  }
  return priceBody(variants.getVariants()[taken].front());
}

FailureOr<KernelPrice> KernelPrices::priceKernel(Operation &item) {
  Nests nests = nestsOf(item);
  GpuPlace place;
  place.isGrouped = nests.size() > 1;
  if (auto kernel = dyn_cast<etdg::KernelOp>(item); kernel && place.isGrouped)
    place.shared = unsigned(kernel.getShared());
  KernelPrice total;
  total.seconds = machine.sync.boundary;
  dealtBefore.clear();
  for (auto [number, nest] : llvm::enumerate(nests)) {
    FailureOr<GpuPlan> plan = readGpuPlan(nest, place, options);
    // (Tasks of nests between which thread blocks don't wait are dealt as if they were one nest's.)
    if (failed(plan) || plan->waitsBefore || plan->steps.size() > place.shared)
      dealtBefore.clear();
    // (Nests that share loops share what follows an iteration of these.)
    if (failed(plan) || failed(addNest(nest, *plan, number > 0 ? place.shared : 0, total)))
      return failure();
    for (BlockOp block : nest)
      total.products += unsigned(llvm::count_if(leavesOf(block), hasProductLayout));
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Adds dimensions to a set of them.
static void take(llvm::SmallBitVector &set, ArrayRef<unsigned> dims) {
  for (unsigned d : dims) {
    if (d >= set.size())
      set.resize(d + 1);
    set.set(d);
  }
}

/// Registers that a thread has for the loop nests of a leaf: its sums, the operands of as many terms as it loads at a time, and what is beside them.
static double registersOf(BlockOp leaf, const Machine &machine) {
  double most = 0;
  const Machine::GpuPlanning &planning = machine.gpu;
  const auto leafRegisters = double(planning.leafRegisters);
  for (Attribute layout : leaf->getAttrOfType<ArrayAttr>(etdg::names::layouts)) {
    if (auto product = dyn_cast<tile::ProductAttr>(layout))
      most = std::max(most, double(product.getThread()[0] * product.getThread()[1] + (product.getFused() ? planning.fusedRegisters : 0) +
                                   (product.usesMatrixUnits() ? planning.fragmentRegisters : planning.productRegisters)) - leafRegisters);
    if (auto tiling = dyn_cast<etdg::TilingAttr>(layout)) {
      double wide = double(tiling.getWidth()), tall = double(tiling.getTile() * tiling.getRows());
      DenseI64ArrayAttr unroll = tiling.getUnroll();
      double copies = unroll && !unroll.empty() ? double(std::max<int64_t>(unroll.asArrayRef().back(), 1)) : 1;
      most = std::max(most, wide * tall + copies * (wide + tall));
    }
  }
  return most + leafRegisters;
}

/// Finds what is the same wherever the nest's leaves are: how many thread blocks share an SM, and whether the nearest cache holds
/// what they read again and again.
LogicalResult KernelPrices::settle(ArrayRef<BlockOp> nest, const GpuPlan &plan, Place &place) {
  take(place.reads.inSteps, plan.steps);
  take(place.reads.inTask, plan.inner);
  take(place.reads.dealt, plan.outer);
  take(place.reads.dealt, plan.flat);
  if (plan.row)
    take(place.reads.dealt, {*plan.row});
  double threads = double(plan.block.getThreads()), registers = 0, shared = 0, again = 0, passing = 0;
  for (BlockOp block : nest) {
    ReadPlace inside = place.reads;
    for (unsigned d = block.getNumDims(); d < mostDims; ++d)
      take(inside.inTask, {d});
    double bytes = 0, own = workspaceBytesOf(block, ranges), buffers = sharedBytesOf(block, double(plan.maxRows)), leaves = threads * double(plan.block.getSums());
    for (BlockOp leaf : leavesOf(block)) {
      bytes += repeatedBytes(leaf, inside);
      own += passingBytes(leaf, inside, ranges);
      if (!leaf->hasAttr(etdg::names::layouts))
        continue;
      registers = std::max(registers, registersOf(leaf, machine));
      if (!hasProductLayout(leaf))
        continue;
      FailureOr<LeafBytes> products = bytesOfProducts(leaf, place, double(plan.block.getShared()) - buffers);
      if (failed(products))
        return failure();
      leaves = std::max(leaves, products->shared);
      movedBetween[leaf] = products->moved;
      if (!plan.columns) // where the leaf stands, its rows may be others
        forms.erase(leaf);
    }
    again = std::max(again, bytes);
    passing = std::max(passing, own);
    shared = std::max(shared, buffers + leaves);
  }
  const Machine::Level *near = machine.findLevel("shared");
  double room = near ? double(near->bytes) : 0;
  // A grid whose blocks wait for each other has one on each SM; of one with tiles of products the plan says for how many ptxas
  // leaves registers.
  if (!llvm::is_contained(plan.waits, true)) {
    double resident = std::floor(double(machine.occupancy.registersPerUnit) / (threads * std::min(registers, double(machine.occupancy.registersPerThread))));
    resident = std::max(resident, double(place.resident));
    place.resident = std::max<int64_t>(int64_t(std::min(resident, std::floor(room / (shared + double(machine.kernels.reserved))))), 1);
  }
  place.registers = threads * std::min(registers, double(machine.occupancy.registersPerThread));
  const double left = room - double(place.resident) * shared;
  place.reads.fitsNear = again <= left;
  place.passing = passing * double(place.resident);
  place.near = left - again;
  place.shared = shared;
  return success();
}

/// The forms of leaves whose columns are shared.
LogicalResult KernelPrices::makeFormsOfColumns(ArrayRef<BlockOp> nest, const Place &place) {
  for (BlockOp block : nest) {
    SmallVector<BlockOp> leaves = leavesOf(block);
    bool areKnown = llvm::all_of(leaves, [&](BlockOp leaf) { return knownColumns.lookup(leaf) != nullptr; });
    if (!areKnown && failed(makeLeafForms(block, place.context, machine, noPlanes, [&](BlockOp leaf) -> LeafForm & {
          std::shared_ptr<LeafForm> &form = knownColumns[leaf];
          form = std::make_shared<LeafForm>();
          return *form;
        }))) {
      for (BlockOp leaf : leaves)
        knownColumns.erase(leaf);
      return failure();
    }
    for (BlockOp leaf : leaves)
      forms[leaf] = knownColumns[leaf];
  }
  return success();
}

LogicalResult KernelPrices::addNest(ArrayRef<BlockOp> nest, const GpuPlan &plan, unsigned shared, KernelPrice &total) {
  forms.clear();
  Place place;
  place.context.row = plan.row;
  place.context.maxRows = plan.maxRows;
  place.context.columns = plan.columns;
  place.context.unit = plan.unit;
  place.context.columnTile = plan.columnTile;
  place.context.products = true;
  place.context.threads = plan.block.getThreads();
  place.context.resident = isOneLeaf(nest, plan) ? plan.block.getResident() : 1;
  place.context.alone = plan.isWaiting();
  place.context.sums = plan.block.getSums();
  if (plan.row)
    place.context.rowOwner.assign(nest.begin(), nest.end());
  place.resident = plan.block.getResident();
  place.reads.isStaged = !plan.placements.empty();
  if (plan.columns && failed(makeFormsOfColumns(nest, place)))
    return failure();
  place.dims.resize(BlockOp(nest.front()).getNumDims());
  if (failed(settle(nest, plan, place)))
    return failure();
  KernelPrice own;
  sample = 0;
  if (failed(addSteps(nest, plan, 0, place, 1, own)))
    return failure();
  // Barriers after shared loops are counted once.
  double iterations = 1;
  SmallVector<std::optional<int64_t>> dims(place.dims);
  for (auto [s, dim] : llvm::enumerate(plan.steps)) {
    TypicalRanges::Range range = ranges.rangeOf(nest, dim, dims);
    iterations *= double(range.size());
    dims[dim] = (range.lower + range.upper) / 2;
    if (plan.waits[s] && s >= shared)
      own.barriers += iterations;
    if (plan.waitsBefore && s + 1 == shared)
      own.barriers += iterations;
  }
  if (plan.waitsBefore && shared == 0)
    own.barriers += 1;
  total.barriers += own.barriers;
  total.steps += own.steps;
  total.resident = double(place.resident);
  total.shared = place.shared;
  total.tasks = std::max(total.tasks, own.tasks);
  total.registers = std::max(total.registers, place.registers);
  total.seconds += own.seconds + own.barriers * machine.sync.grid;
  return success();
}

LogicalResult KernelPrices::addSteps(ArrayRef<BlockOp> nest, const GpuPlan &plan, unsigned step, Place &place, double weight,
                                     KernelPrice &total) {
  if (step == plan.steps.size()) {
    LogicalResult added = addStep(nest, plan, place, weight, total);
    ++sample;
    return added;
  }
  unsigned dim = plan.steps[step];
  unsigned most = plan.steps.size() > 1 ? pointSamples : stepSamples;
  for (TypicalRanges::Sample s : TypicalRanges::sample(ranges.rangeOf(nest, dim, place.dims), most)) {
    place.dims[dim] = s.value;
    if (failed(addSteps(nest, plan, step + 1, place, weight * s.weight, total)))
      return failure();
  }
  place.dims[dim] = std::nullopt;
  return success();
}

void KernelPrices::countPoints(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, std::optional<unsigned> row, Place &place,
                               double weight, Points &points) {
  if (dims.empty()) {
    points.tiles += weight;
    TypicalRanges::Range range = row ? ranges.rangeOf(nest, *row, place.dims) : TypicalRanges::Range{0, 1};
    points.rows = std::max(points.rows, double(range.size()));
    return;
  }
  for (TypicalRanges::Sample s : TypicalRanges::sample(ranges.rangeOf(nest, dims.front(), place.dims), pointSamples)) {
    place.dims[dims.front()] = s.value;
    countPoints(nest, dims.drop_front(), row, place, weight * s.weight, points);
  }
  place.dims[dims.front()] = std::nullopt;
}

/// Loops on which ranges of others depend. Of several regions, each with ranges of its own, where any such loop is there only the innermost
/// one is none: what all regions have of it together depends on where they are.
static SmallVector<unsigned> walkedDims(ArrayRef<BlockOp> nest, const GpuPlan &plan) {
  SmallVector<unsigned> dims(plan.outer);
  if (!dims.empty() && nest.size() > 1 && !plan.flat.empty())
    llvm::append_range(dims, ArrayRef(plan.flat).drop_back());
  return dims;
}

/// Iterations of loops that each thread block goes through to find its own tasks; none without such loops.
double KernelPrices::countIterations(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, Place &place) {
  if (dims.empty())
    return 0;
  double iterations = 0;
  for (TypicalRanges::Sample s : TypicalRanges::sample(ranges.rangeOf(nest, dims.front(), place.dims), pointSamples)) {
    place.dims[dims.front()] = s.value;
    iterations += s.weight * (dims.size() == 1 ? 1 : countIterations(nest, dims.drop_front(), place));
  }
  place.dims[dims.front()] = std::nullopt;
  return iterations;
}

/// Thread blocks run the points of all regions side by side: a step takes as long as the dearest of them.
FailureOr<KernelPrices::TaskCost> KernelPrices::costOfRegions(ArrayRef<BlockOp> nest, const GpuPlan &plan, ArrayRef<unsigned> dealt,
                                                              const Place &place) {
  TaskCost dearest;
  SmallVector<unsigned> dims(dealt);
  if (plan.row)
    dims.push_back(*plan.row);
  for (BlockOp block : nest) {
    Place own = place;
    bool isEmpty = nest.size() > 1 && !ranges.holds(block, own.dims);
    for (unsigned dim : dims) {
      TypicalRanges::Range range = ranges.rangeOf({block}, dim, own.dims);
      isEmpty |= range.size() == 0;
      own.dims[dim] = (range.lower + range.upper) / 2;
    }
    if (isEmpty)
      continue;
    met.clear();
    FailureOr<TaskCost> one = costOfNest({block}, plan.inner, own);
    if (failed(one))
      return failure();
    if (one->seconds > dearest.seconds)
      dearest = *one;
  }
  return dearest;
}

/// How much longer the step takes with these tasks beside those that were dealt before in it. The busiest SM has some tasks more, and no task ends
/// earlier than alone: those for which SMs are idle end with the others, or after them. What is not dealt the first thread block computes, one after
/// the other.
double KernelPrices::secondsBeside(const TaskCost &cost, double tasks, bool isDealt, double resident) {
  const auto units = double(options.getMultiprocessors());
  if (sample >= dealtBefore.size())
    dealtBefore.resize(sample + 1);
  Dealt &step = dealtBefore[sample];
  double more = isDealt ? std::ceil((step.tasks + tasks) / units) - std::ceil(step.tasks / units) : tasks, before = step.seconds;
  step.tasks += tasks;
  step.seconds = std::max(before + secondsOfTasks(cost, more, resident), secondsOfTasks(cost, std::ceil(tasks / units), resident));
  return step.seconds - before;
}

/// What the busiest SM takes for so many tasks, of which it runs some at a time: each as long as it takes alone, and half of what
/// the others beside it are busy for, since they are where it wants to be as often as not, but for what it leaves to them while it computes; or all that
/// they are busy for, where that is longer.
double KernelPrices::secondsOfTasks(const TaskCost &cost, double tasks, double resident) {
  if (tasks <= 0)
    return 0;
  double together = std::min(tasks, resident);
  double disturbed = std::max((together - 1) * cost.busy / 2 - cost.beside, 0.0);
  double ofRound = std::max(cost.seconds + disturbed, together * cost.busy);
  return std::max(1.0, tasks / together) * ofRound;
}

LogicalResult KernelPrices::addStep(ArrayRef<BlockOp> nest, const GpuPlan &plan, Place place, double weight, KernelPrice &total) {
  SmallVector<unsigned> dealt(plan.outer);
  llvm::append_range(dealt, plan.flat);
  Points points;
  countPoints(nest, dealt, plan.row, place, 1, points);
  total.steps += plan.steps.empty() ? 0 : weight;
  if (points.tiles <= 0 || points.rows <= 0)
    return success();
  total.seconds += weight * countIterations(nest, walkedDims(nest, plan), place) * double(nest.size()) * machine.gpu.pointSeconds;
  const auto units = double(options.getMultiprocessors());
  // As thread blocks deal them (LoopTasks.cpp): columns while there are blocks left, then rows.
  bool isWaiting = !plan.steps.empty();
  double blocks = isWaiting ? units : units * double(machine.gpu.tasksPerUnit), parts = 1;
  auto shareOf = [&](double others) { return std::max(1.0, std::floor(blocks / others)); };
  if (plan.columns > 0) {
    double share = shareOf(points.tiles * std::ceil(points.rows / double(std::max<int64_t>(plan.maxRows, 1))));
    double all = double(plan.columns) / double(plan.unit);
    double width = plan.columnTile > 0 ? double(plan.columnTile) : std::ceil(all / std::min(share, all)) * double(plan.unit);
    parts = std::ceil(double(plan.columns) / width);
    place.columns = 1 / parts;
  }
  place.rows = 1;
  if (plan.row)
    place.rows = plan.rowTile > 0 ? std::min(double(plan.rowTile), points.rows)
                                  : std::clamp(std::ceil(points.rows / shareOf(points.tiles * parts)), 1.0, double(plan.maxRows));
  double tasks = points.tiles * parts * std::ceil(points.rows / place.rows);
  total.tasks = std::max(total.tasks, tasks);
  const auto resident = double(place.resident);
  place.reads.tasks = std::min(tasks, units * resident);
  place.reads.rows = place.rows;
  place.reads.keepsTask = place.passing * place.rows <= place.near;
  FailureOr<TaskCost> cost = costOfRegions(nest, plan, dealt, place);
  if (failed(cost))
    return failure();
  bool isDealt = !dealt.empty() || plan.row || plan.columns > 0;
  total.seconds += weight * secondsBeside(*cost, tasks, isDealt, resident);
  return success();
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// The dearest of the regions that have points here, as often as the loops inside say.
FailureOr<KernelPrices::TaskCost> KernelPrices::costOfNest(ArrayRef<BlockOp> nest, ArrayRef<unsigned> inner, Place place) {
  double repeats = 1;
  for (unsigned dim : inner) {
    TypicalRanges::Range range = ranges.rangeOf(nest, dim, place.dims);
    repeats *= double(range.size());
    place.dims[dim] = (range.lower + range.upper) / 2;
  }
  TaskCost dearest;
  for (BlockOp block : nest) {
    if (nest.size() > 1 && !ranges.holds(block, place.dims))
      continue;
    FailureOr<TaskCost> body = costOfBody(block, place);
    if (failed(body))
      return failure();
    if (body->seconds > dearest.seconds)
      dearest = *body;
  }
  TaskCost total;
  total.add(dearest, repeats);
  return total;
}

FailureOr<KernelPrices::TaskCost> KernelPrices::costOfBody(BlockOp block, const Place &place) {
  if (block.isLeaf())
    return costOfLeaf(block, place);
  TaskCost total;
  for (const NestGroup &group : getGroups(block.getBody())) {
    GpuPlace where;
    where.isGrid = false;
    where.hasRows = place.context.row.has_value();
    if (auto kernel = dyn_cast<etdg::KernelOp>(group.op); kernel && group.nests.size() > 1) {
      where.shared = unsigned(kernel.getShared());
      where.isGrouped = true;
    }
    for (const SmallVector<BlockOp> &nest : group.nests) {
      FailureOr<TaskCost> one = costOfInside(nest, where, place);
      if (failed(one))
        return failure();
      total.add(*one, 1);
    }
  }
  return total;
}

FailureOr<KernelPrices::TaskCost> KernelPrices::costOfInside(ArrayRef<BlockOp> nest, const GpuPlace &where, const Place &outside) {
  BlockOp front = nest.front();
  Place place = outside;
  place.dims.resize(front.getNumDims());
  if (front.getNumOwnDims() == 0)
    return costOfNest(nest, {}, place);
  FailureOr<GpuPlan> plan = readGpuPlan(nest, where, options);
  if (failed(plan))
    return failure();
  SmallVector<unsigned> inner(plan->steps);
  llvm::append_range(inner, plan->inner);
  take(place.reads.inTask, inner);
  if (plan->row)
    take(place.reads.inTask, {*plan->row});
  double tiles = 1;
  if (plan->row) {
    double count = double(ranges.rangeOf(nest, *plan->row, place.dims).size());
    place.context.row = plan->row;
    place.context.maxRows = plan->maxRows;
    place.context.rowOwner.assign(nest.begin(), nest.end());
    place.rows = std::clamp(count, 1.0, double(plan->maxRows));
    tiles = std::ceil(count / place.rows);
  }
  if (plan->lift) {
    place.context.lift = plan->lift;
    place.context.lifts = constantExtent(nest, *plan->lift);
  }
  FailureOr<TaskCost> one = costOfNest(nest, inner, place);
  if (failed(one))
    return failure();
  TaskCost total;
  total.add(*one, tiles);
  return total;
}

std::optional<double> schedule::priceAsScheduled(etdg::GraphOp graph, const GpuScheduleOptions &options,
                                                 ArrayRef<std::pair<StringAttr, int64_t>> lengths) {
  // What a form can't do is no error of the program.
  QuietForms quiet(graph.getContext());
  OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>(graph->clone());
  GpuScheduleOptions trial = options;
  trial.planSeed = 0;
  if (failed(scheduleForGpu(*copy, trial)))
    return std::nullopt;
  FailureOr<KernelPrice> kernels = KernelPrices(*copy, options, lengths).priceGraph();
  return succeeded(kernels) ? std::optional(kernels->seconds) : std::nullopt;
}
