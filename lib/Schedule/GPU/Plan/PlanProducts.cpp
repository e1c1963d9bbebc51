//===- PlanProducts.cpp - kernels most of whose work is products ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Such a kernel wants tiles that read an operand seldom: as many rows in a task,
// and as many columns of wide leaves, as fill a tile; threads that each keep a
// part of it in registers; and tasks for all SMs. What these are worth
// against each other, and against the kernel without tiles, is priced; lengths
// that the call decides count as enough for all SMs.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Plan/GpuPlanner.h"

#include "ft/Analysis/LeafGraph/Contractions.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/GPU/Layouts/Chains.h"
#include "ft/Schedule/GPU/Layouts/RowRuns.h"
#include "ft/Schedule/Analysis/TypicalRanges.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using Rows = ProductTiles::Rows;

namespace mlir::ft::schedule {
/// What the leaves of a nest compute, for one row.
struct ProductWork {
  int64_t all = 0, products = 0; // points of loop nests
  int64_t largest = 0;           // of them, whose sizes follow
  int64_t m = 1, n = 1, k = 1, words = 1;
  int64_t outerColumns = 1; // iterations of the outermost loop over columns, which thread blocks may share
  int64_t sums = 1;    // tiles of sums that a thread has at a time
  double results = 0;  // of other products, for each of its own, which are left in memory in between
  int64_t members = 1; // products of its nest, of which so many are side by side
  int64_t widest = 1;
  double shared = 1; // how often one of its operands is used by the products of a point
  Rows rows = Rows::none;
  std::optional<ProductTiles> product; // the largest
  std::string why;                     // the last product that is none for tiles
  bool fuses = false; // something is computed while a tile is in registers
  int64_t groupColumnUnit = 0; // of a tile, if warp groups multiply the largest; 0: they may not
  int64_t groupTerms = 0;      // that these add to a sum
  int64_t groupSums = 1;       // tiles of sums that a thread has then
  int64_t chainRows = 0; // of one row, where warp groups may compute the largest's leaf as a chain of products; 0: they may not
  bool inSteps = false; // of the grid, which deals its points in each
  bool alone = false; // thread blocks wait for each other: an SM has one
  int64_t beside = 1; // nests that share the SMs in a step
  int64_t leaves = 1; // of their kernel
  int64_t rowBytes = 0; // of values between the nests of a leaf, and between leaves

  /// Iterations of the outermost loop over columns that a tile of so many columns holds, at least one.
  int64_t iterationsOf(int64_t columns) const { return std::max<int64_t>(columns / (n / outerColumns), 1); }
};

/// Tiles of a kernel, and what is dealt with them.
struct TaskTiles {
  int64_t m = 1, n = 1; // sides
  int64_t rows = 1;     // of a task
  int64_t threads = 0, resident = 1;
  double seconds = 0; // of the kernel; of one row where the call decides how many there are
};

/// The same with the columns that are dealt, and the price of the kernel without tiles.
struct ProductTasks {
  TaskTiles tiles;
  bool isWide = false;
  GpuPlan columns;
  double without = 0;
};
} // namespace mlir::ft::schedule

/// How many products of a point use an operand that is read there, on average.
static double countShared(const leaf::Nest &nest, const ProductTiles &product) {
  SmallVector<leaf::ElementView> distinct;
  for (auto [member, operands] : llvm::zip_equal(nest.members, product.operands))
    for (int read : {operands.first, operands.second})
      if (!llvm::is_contained(distinct, member.reads[read]))
        distinct.push_back(member.reads[read]);
  return 2 * double(nest.members.size()) / double(std::max<size_t>(distinct.size(), 1));
}

/// `side`: columns of a tile at most, which holds whole rows that are no longer.
static void addLeaf(ProductWork &work, const LeafForm &form, bool rowWise, int64_t side, const Machine &machine) {
  TileContext context;
  context.maxRows = rowWise ? 2 : 1;
  SmallVector<bool> inRegisters(form.graph.buffers.size());
  bool hasLargest = false;
  for (auto [i, nest] : llvm::enumerate(form.graph.nests)) {
    int64_t points = 1;
    for (int64_t size : nest.sizes)
      points *= size;
    work.all += points;
    std::string why;
    std::optional<ProductTiles> product = matchProduct(form, unsigned(i), context, why);
    if (!product) {
      if (!leaf::matchContractions(nest).empty())
        work.why = why;
      continue;
    }
    // (Each of a nest's products is work of its own.)
    work.all += points * int64_t(nest.members.size() - 1);
    work.products += points * int64_t(nest.members.size());
    FusedNests fused = findFused(form, unsigned(i), *product, context);
    work.fuses |= fused.count > 0;
    TileContext oneRow;
    auto [m, n] = extentsOf(form, unsigned(i), *product, oneRow);
    int64_t kept = n <= side ? findFused(form, unsigned(i), *product, context, /*wholeRows=*/true).count : 0;
    for (int buffer : keptInRegisters(form, unsigned(i), std::max(fused.count, kept)))
      inRegisters[buffer] = true;
    const int64_t outerColumns = product->loops.n.empty() ? 1 : nest.sizes[product->loops.n.front()];
    if (points == work.largest && product->rows == work.rows) { // registers are for both
      work.m = std::max(work.m, m);
      if (n > work.n)
        work.n = n, work.outerColumns = outerColumns;
    }
    if (points <= work.largest)
      continue;
    work.largest = points;
    hasLargest = true;
    work.chainRows = 0;
    work.m = m, work.n = n;
    work.outerColumns = outerColumns;
    work.k = 1;
    for (int loop : product->loops.k)
      work.k *= nest.sizes[loop];
    work.words = std::max<int64_t>(elementBytes(product->sum) / 4, 1);
    work.rows = product->rows;
    work.sums = fused.sums;
    work.members = int64_t(nest.members.size());
    work.widest = product->getWidest();
    work.shared = countShared(nest, *product);
    const bool hasGroups = fitsGroups(form, unsigned(i), *product) && isAllOfGroups(form, unsigned(i), *product, fused, context);
    work.groupColumnUnit = hasGroups ? columnUnitOfGroups(nest, *product) : 0;
    work.groupTerms = termsOfGroups(form, unsigned(i), fused);
    work.groupSums = fused.sums;
    for (unsigned joined : fused.products)
      work.groupSums = std::max(work.groupSums, int64_t(form.graph.nests[joined].members.size()));
    work.product = std::move(product);
  }
  std::string whyNot;
  if (std::optional<ChainPlan> chain = hasLargest && work.rows != Rows::n ? planChain(form, context, std::numeric_limits<int64_t>::max(), whyNot) : std::nullopt) {
    constexpr int64_t usualGroups = 2;
    work.chainRows = fitsRegisters(*chain, usualGroups, machine) ? chain->mostRows / context.maxRows : 0;
    if (work.chainRows > 0)
      inRegisters.assign(inRegisters.size(), true);
  }
  int64_t scratch = 0;
  for (auto [i, buffer] : llvm::enumerate(form.graph.buffers))
    if (buffer.kind == leaf::Buffer::Kind::Scratch && buffer.inMemory && !inRegisters[i])
      scratch += buffer.numElements * elementBytes(buffer.elementType);
  work.rowBytes = std::max(work.rowBytes, scratch);
}

/// Whether iterations of a dimension of some leaf follow each other in an order that the program says.
/// Inside of the loops over `shared` dimensions.
static bool hasOrder(BlockOp block, ArrayRef<unsigned> shared) {
  bool found = false;
  block->walk([&](BlockOp inner) {
    for (unsigned d = 0; d < inner.getNumOwnDims(); ++d)
      found |= !llvm::is_contained(shared, inner.getNumAncestors() + d) && inner.getOperator(d) != OperatorKind::Map && inner.getOperator(d) != OperatorKind::Reduce;
  });
  return found;
}

/// Whether the block is one iteration of a dimension that has an order: the first, as a rule.
static bool isOneStep(BlockOp block) {
  for (unsigned d = block.getNumAncestors(); d < block.getNumDims(); ++d)
    if (block.getOperator(d - block.getNumAncestors()) != OperatorKind::Map && constantExtent({block}, d) == 1)
      return true;
  return false;
}

/// Bytes of the buffers inside a block, at least: lengths that are not known count as 1.
static int64_t privateBytes(BlockOp block) {
  int64_t bytes = 0;
  block.walk([&](etdg::BufferOp buffer) { bytes += *buffer.getBytes(/*open=*/1); });
  return bytes;
}

static int64_t powerOfTwoBelow(int64_t value) { return int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(value, 1)))); }

/// Rows and columns of a square tile whose sums take half of the registers of a full thread block, with
/// another such block beside it.
int64_t GpuPlanner::sideOfTile() const {
  uint64_t sums = uint64_t(machine.occupancy.registersPerUnit) / 4;
  return int64_t(1) << (llvm::Log2_64(std::max<uint64_t>(sums, 1)) / 2);
}

/// What the leaves of a nest compute, whose rows come from the dimension `row`.
static FailureOr<ProductWork> measure(ArrayRef<BlockOp> nest, std::optional<unsigned> row, const Machine &machine, int64_t side) {
  ProductWork work;
  LeafContext context;
  if (row)
    context.rowOwner.assign(nest.begin(), nest.end());
  for (BlockOp block : nest) {
    for (BlockOp leaf : leavesOf(block)) {
      if (nest.size() > 1 && isOneStep(block)) // all others run more often
        continue;
      LeafForm form;
      bool rowWise = row && (isUniform(leaf, *row, noPlanes) || findRowRuns(leaf, *row, noPlanes));
      if (failed(makeLeafForm(form, leaf, machine, row, rowWise, [&](Value buffer) { return context.isPerRow(buffer); })))
        return failure();
      addLeaf(work, form, rowWise, side, machine);
    }
    work.rowBytes += privateBytes(block);
  }
  return work;
}

namespace {
/// Chooses tiles by their price.
class TileChoice {
public:
  TileChoice(const ProductWork &work, ArrayRef<int64_t> extents, double typicalPoints, std::optional<unsigned> row, bool isWide,
             const Machine &machine, int64_t units, bool needsAll)
      : work(work), extents(extents), typicalPoints(typicalPoints), row(row), isWide(isWide), machine(machine), planning(machine.gpu), units(units), needsAll(needsAll) {}

  /// From the largest tiles down to where each SM has one, the cheapest.
  TaskTiles choose(TaskTiles tiles) const {
    price(tiles);
    TaskTiles best = tiles;
    while ((tasksOf(tiles) < double(units) || !hasRegisters(best)) &&
           (tiles.m > 2 * planning.productSide || (isWide && tiles.n > 2 * planning.productSide))) {
      if (isWide && tiles.n >= tiles.m)
        tiles.n /= 2;
      else if (tiles.rows > 1 && work.rows == Rows::m)
        tiles.m /= 2, tiles.rows /= 2;
      else
        break;
      price(tiles);
      if (tiles.seconds < best.seconds || !hasRegisters(best))
        best = tiles;
    }
    return best;
  }

  /// The price without tiles, with at most so many rows in a task and so many threads in a block.
  double secondsWithout(int64_t mostRows, int64_t threads) const {
    // The host deals rows until each SM has some tasks.
    double rows = double(mostRows);
    if (isKnown() && row)
      rows = std::clamp(std::ceil(points() / double(units * planning.tasksPerUnit)), 1.0, rows);
    double ofRow = double(work.m) * double(work.n), elements = ofRow * rows;
    double slices = 1;
    if (work.k >= planning.leastSlicedSum)
      slices = std::clamp(double(work.k) / double(planning.leastSlice), 1.0, double(planning.mostSlices));
    double most = double(planning.accessBytes) / 4 * double(planning.loopTile);
    // (Reads are as the root of what a thread has of its own.)
    double own = std::clamp(elements / double(threads), 1.0, most) * work.shared * work.shared;
    double busy = std::min(elements * slices, double(threads));
    double together = double(work.m) * (work.rows == Rows::m ? rows : 1);
    double terms = double(work.k) * double(work.members);
    double seconds = elements * terms * secondsInRows(*work.product, machine, own, together * work.shared, double(work.n) * work.shared);
    return allTasks(seconds, 1, tasksOfRows(rows, 1), rows, busy, double(planning.workspaceBlocksPerUnit));
  }

  /// The cheapest tile of warp groups, with rows of the call as its own; that of before where it is cheaper, or groups can't have it.
  TaskTiles chooseGroups(const TaskTiles &before) const {
    using P = tile::ProductAttr;
    TaskTiles best = before;
    if (work.chainRows > 0)
      return chooseChain(before);
    if ((needsAll && !work.alone) || !hasGroups(machine) || work.groupColumnUnit == 0 || work.rows != Rows::m || work.m != 1 ||
        work.groupTerms < P::groupStep * planning.productLongSteps) // a few steps fill no pipeline
      return best;
    for (int64_t threads : planning.blockThreads)
      for (int64_t columns = work.groupColumnUnit; columns * work.groupSums <= P::mostGroupColumns; columns *= 2) {
        const int64_t groups = threads / tile::PipelineAttr::groupThreads;
        if (threads % tile::PipelineAttr::groupThreads != 0 || groups > tile::PipelineAttr::mostComputers ||
            (isWide ? work.n < 2 * columns : columns / 2 >= work.n || columns < work.n))
          continue;
        TaskTiles tiles = before;
        tiles.m = tiles.rows = groups * P::groupRows;
        tiles.n = columns;
        tiles.threads = threads;
        tiles.resident = 1;
        priceGroups(tiles);
        if (tiles.seconds < best.seconds && isShared(tiles))
          best = tiles;
      }
    return best;
  }

  /// The same of a chain of products, whose rows alone are divided: other leaves of the kernel have all its threads.
  TaskTiles chooseChain(const TaskTiles &before) const {
    using P = tile::PipelineAttr;
    TaskTiles best = before;
    for (int64_t threads : planning.blockThreads) {
      TaskTiles tiles = before;
      tiles.m = threads / P::groupThreads * tile::ProductAttr::groupRows;
      tiles.rows = row ? tiles.m / work.chainRows : 1;
      if (work.alone || !hasGroups(machine) || threads % P::groupThreads != 0 || threads > P::mostComputers * P::groupThreads || tiles.rows < 1 ||
          work.chainRows > tiles.m)
        continue;
      tiles.n = work.n;
      tiles.threads = threads;
      tiles.resident = 1;
      priceGroups(tiles);
      if (tiles.seconds < best.seconds && isShared(tiles))
        best = tiles;
    }
    return best;
  }

  /// What it takes to leave so many results in memory, and to read them again.
  double secondsOfResults(double results) const {
    const Machine::Level *cache = machine.findLevel("l2");
    double bytes = 2 * results * double(work.m * work.n * elementBytes(work.product->sum)) * (isKnown() ? points() : 1);
    return cache && cache->readBytesPerSecond > 0 ? bytes / cache->readBytesPerSecond : 0;
  }

private:
  /// Steps wait for each other: too few tasks at typical lengths leave SMs idle in each of them.
  bool isKnown() const { return work.inSteps || !llvm::is_contained(extents, 0); }
  double points() const {
    if (llvm::is_contained(extents, 0))
      return typicalPoints;
    double count = 1;
    for (int64_t extent : extents)
      count *= double(extent);
    return count;
  }
  /// Tasks that share the columns of a row: iterations of the outermost of their loops, as many as fit into a tile, or one that has several tiles.
  int64_t partsOf(const TaskTiles &tiles) const {
    return isWide ? llvm::divideCeil(work.outerColumns, work.iterationsOf(tiles.n)) : 1;
  }
  /// Columns that the tiles of all tasks of a row have, padding included.
  double paddedColumns(const TaskTiles &tiles, int64_t columns) const {
    if (!isWide)
      return double(llvm::alignTo(columns, tiles.n));
    int64_t ofTask = std::min(work.iterationsOf(tiles.n), work.outerColumns) * (work.n / work.outerColumns);
    return double(partsOf(tiles)) * double(llvm::alignTo(ofTask, tiles.n));
  }
  double tasksOf(const TaskTiles &tiles) const { return tasksOfRows(double(tiles.rows), double(partsOf(tiles))); }
  /// As many as fill the machine where the call decides it.
  double tasksOfRows(double rows, double parts) const {
    if (!isKnown())
      return std::max(parts, double(units));
    return parts * (row ? std::ceil(points() / rows) : points());
  }
  /// With as few threads as can keep the sums, where a thread that reads more of its operands at once is worth it.
  void price(TaskTiles &tiles) const {
    int64_t words = tiles.m * tiles.n * work.words * work.sums;
    int64_t most = planning.blockThreads.back(), least = std::min(planning.blockThreads[1], most);
    int64_t usual = registersOfSums(*work.product, machine, most, /*resident=*/2, work.fuses);
    // (A thread block that is alone on its SM is a full one.)
    tiles.threads = work.alone ? most : std::clamp<int64_t>(powerOfTwoBelow(words / usual), least, most);
    priceWithThreads(tiles);
    if (needsAll)
      return;
    TaskTiles fewer = tiles;
    for (fewer.threads /= 2; fewer.threads >= least && keepsSums(fewer, words); fewer.threads /= 2) {
      priceWithThreads(fewer);
      if (fewer.seconds < tiles.seconds && isShared(fewer))
        tiles = fewer;
    }
  }
  /// In steps a thread keeps what is computed once for all of them, for each leaf of the kernel, beside its sums. (Multiply-adds have more operands
  /// than fragments are.)
  bool hasRegisters(const TaskTiles &tiles) const {
    if (!work.inSteps || usesMatrixUnits(*work.product, machine))
      return true;
    int64_t sums = tiles.m * tiles.n * work.words * work.sums / tiles.threads, others = (work.leaves - 1) * machine.gpu.fusedRegisters / 2;
    return sums + registersBeside(*work.product, machine, work.fuses) + others <= machine.occupancy.registersPerThread;
  }
  /// Beside its sums a thread needs operands and addresses, and what is computed after; or ptxas spills.
  int64_t residentBlocks(const TaskTiles &tiles, int64_t words) const {
    if (work.alone)
      return 1;
    int64_t registers = words / tiles.threads + registersBeside(*work.product, machine, work.fuses);
    return std::max<int64_t>(machine.occupancy.registersPerUnit / (tiles.threads * registers), 1);
  }
  bool keepsSums(const TaskTiles &tiles, int64_t words) const {
    int64_t most = registersOfSums(*work.product, machine, tiles.threads, residentBlocks(tiles, words), work.fuses);
    return words / tiles.threads <= most && tiles.m * tiles.n * work.sums / tiles.threads <= mostOwnSums;
  }
  /// Whether each SM has as many thread blocks at typical lengths as there is room for.
  bool isShared(const TaskTiles &tiles) const {
    double tasks = double(partsOf(tiles)) * (row ? std::ceil(typicalPoints / double(tiles.rows)) : typicalPoints);
    return std::ceil(tasks / double(units)) >= double(tiles.resident);
  }
  void priceWithThreads(TaskTiles &tiles) const {
    tiles.resident = residentBlocks(tiles, tiles.m * tiles.n * work.words * work.sums);
    int64_t m = work.m * (work.rows == Rows::m ? tiles.rows : 1), n = work.n * (work.rows == Rows::n ? tiles.rows : 1);
    auto own = int64_t(std::sqrt(double(std::max<int64_t>(tiles.m * tiles.n / tiles.threads, 1))));
    double padded = double(llvm::alignTo(m, tiles.m)) * paddedColumns(tiles, n);
    TileSides sides = {own, own * work.widest, tiles.m, tiles.n * work.widest};
    double seconds = padded * double(work.k) * double(work.members) * secondsInTiles(*work.product, machine, sides);
    auto parts = double(partsOf(tiles));
    tiles.seconds = allTasks(seconds / parts, parts, tasksOf(tiles), double(tiles.rows), double(tiles.threads), double(tiles.resident));
  }
  void priceGroups(TaskTiles &tiles) const {
    double padded = double(tiles.m) * paddedColumns(tiles, work.n);
    double seconds = padded * double(work.k) * double(work.members) * secondsInGroups(*work.product, machine, tiles.m, tiles.n * work.widest);
    auto parts = double(partsOf(tiles));
    tiles.seconds = allTasks(seconds / parts, parts, tasksOf(tiles), double(tiles.rows), double(planning.blockThreads.back()), double(tiles.resident));
  }
  /// Tasks that each would take `seconds` of the whole machine, `parts` of them for so many rows, in blocks of so many busy
  /// threads. An SM is fully used by as many threads as the largest blocks have.
  double allTasks(double seconds, double parts, double tasks, double rows, double threads, double resident) const {
    double full = double(planning.blockThreads.back());
    if (!isKnown())
      return seconds * parts / rows / std::min(1.0, threads * resident / full);
    double blocks = std::ceil(tasks / double(units)); // of the busiest SM
    return seconds * double(units) * blocks / std::min(1.0, threads * std::min(blocks, resident) / full);
  }

  const ProductWork &work;
  ArrayRef<int64_t> extents; // of what is dealt; 0 where the call decides
  double typicalPoints; // their product at typical lengths
  std::optional<unsigned> row;
  bool isWide;
  const Machine &machine;
  const Machine::GpuPlanning &planning;
  int64_t units;
  bool needsAll; // threads of a full block
};
} // namespace

/// Says why a kernel whose products could go through tiles does without.
static bool leaveOut(BlockOp front, const std::string &why) {
  if (isTold(front))
    remark::missed(front.getLoc(), remark::RemarkOpts::name("gpu-products").category("gpu"))
        << "products of matrices are not computed in tiles: " << why;
  return false;
}

static std::string microseconds(double seconds) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g us", seconds * 1e6);
  return text;
}

/// Whether the kernel's work lets it take tiles; `why` not, empty where it has no product.
static bool wantsTiles(const ProductWork &work, const Machine::GpuPlanning &planning, std::string &why) {
  if (work.largest == 0) {
    why = work.why;
    return false;
  }
  constexpr int percent = 100; // shares are given in
  if (work.products * percent < work.all * planning.productShare) {
    why = std::to_string(work.products * percent / work.all) + " percent of the work are such products, " +
          std::to_string(planning.productShare) + " are worth it";
    return false;
  }
  if (work.k < planning.productTerms) {
    why = "sums have " + std::to_string(work.k) + " terms, " + std::to_string(planning.productTerms) + " are worth it";
    return false;
  }
  return true;
}

/// Points of these dimensions at the lengths that are planned for.
static double typicalPoints(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, const GpuScheduleOptions::Lengths &lengths) {
  TypicalRanges ranges(BlockOp(nest.front())->getParentOfType<etdg::GraphOp>(), lengths);
  SmallVector<std::optional<int64_t>> unknown(BlockOp(nest.front()).getNumDims());
  double points = 1;
  for (unsigned dim : dims)
    points *= double(ranges.rangeOf(nest, dim, unknown).size());
  return points;
}

static bool areLeaves(ArrayRef<BlockOp> nest) {
  return llvm::all_of(nest, [](BlockOp block) { return block.isLeaf(); });
}

/// Tiles for this work.
FailureOr<ProductTasks> GpuPlanner::tileTasks(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free, const GpuPlan &plan, const ProductWork &work, bool needsAll) {
  const int64_t side = sideOfTile();
  auto fill = [&](int64_t extent) { return std::min(int64_t(llvm::PowerOf2Ceil(uint64_t(extent))), side); };
  ProductTasks tasks;
  TaskTiles &tiles = tasks.tiles;
  if (work.rows == Rows::m)
    tiles.rows = powerOfTwoBelow(side / work.words / work.m);
  else if (work.rows == Rows::n)
    tiles.rows = powerOfTwoBelow(side / work.words / work.n);
  // Several sums leave fewer columns, where these are dealt to thread blocks; or else rows.
  tasks.isWide = areLeaves(nest) && plan.inner.empty() && plan.row && work.rows == Rows::m;
  const auto parts = int64_t(llvm::PowerOf2Ceil(uint64_t(work.sums)));
  const int64_t sumsOfRow = work.alone ? 2 * side : side; // (a thread block that is alone has the registers of two)
  int64_t columnSide = tasks.isWide ? std::clamp(sumsOfRow / parts, planning.productSide, side) : side;
  if (columnSide == side || work.n < 2 * columnSide) {
    columnSide = side;
    tiles.rows = std::max<int64_t>(tiles.rows / std::max<int64_t>(parts * side / sumsOfRow, 1), 1);
  }
  auto columnsOf = [&](int64_t extent) { return std::min(fill(extent), columnSide); };
  int64_t staged = fill(work.m) + columnsOf(work.n) * work.widest;
  shrinkForMemory(work.rowBytes, staged * 2 * (planning.productStepBytes + tile::accessBytes), tiles.rows);
  tiles.m = fill(work.m * (work.rows == Rows::m ? tiles.rows : 1));
  tiles.n = columnsOf(work.n * (work.rows == Rows::n ? tiles.rows : 1));
  tasks.isWide = tasks.isWide && work.n >= 2 * tiles.n;
  tasks.columns = plan;
  if (tasks.isWide && (failed(shareColumns(nest, tasks.columns, /*privateRows=*/false))))
    return failure();
  tasks.isWide = tasks.isWide && tasks.columns.columns == work.outerColumns;
  SmallVector<int64_t> extents;
  for (unsigned d : free)
    extents.push_back(constantExtent(nest, d));
  const int64_t units = std::max<int64_t>(options.getMultiprocessors() / work.beside, 1);
  TileChoice choice(work, extents, typicalPoints(nest, free, options.lengths), plan.row, tasks.isWide, machine, units, needsAll);
  tiles = choice.chooseGroups(choice.choose(tiles));
  tiles.seconds += choice.secondsOfResults(work.results);
  if (draws())
    return tasks;
  int64_t rows = plan.row ? chooseRows(nest, *plan.row) : 1;
  tasks.without = choice.secondsWithout(rows, threadsFor(elementsOf(nest) * rows, planning.blockThreads.back()));
  return tasks;
}

/// Sums of products that can be computed together are so where tiles are not too small for it.
FailureOr<ProductTasks> GpuPlanner::chooseTasks(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free, const GpuPlan &plan, const ProductWork &work, bool needsAll) {
  FailureOr<ProductTasks> together = tileTasks(nest, free, plan, work, needsAll);
  if (failed(together) || work.sums == work.members)
    return together;
  ProductWork alone = work;
  alone.sums = work.members;
  alone.groupColumnUnit = 0; // (which have all that a leaf computes)
  alone.results = double(work.sums - work.members) * double(work.members) / double(work.sums); // (the largest nest stands for all)
  FailureOr<ProductTasks> apart = tileTasks(nest, free, plan, alone, needsAll);
  if (failed(apart))
    return failure();
  bool isCheaper = together->tiles.seconds <= apart->tiles.seconds;
  BlockOp front = nest.front();
  auto options = remark::RemarkOpts::name("gpu-joined-products").category("gpu");
  if (!isTold(front))
    return isCheaper ? together : apart;
  auto tell = isCheaper ? remark::passed(front.getLoc(), options) : remark::missed(front.getLoc(), options);
  tell << ("a tile can hold the sums of " + std::to_string(work.sums) + " products: together they take " +
           microseconds(together->tiles.seconds) + ", apart " + microseconds(apart->tiles.seconds));
  return isCheaper ? together : apart;
}

FailureOr<bool> GpuPlanner::planProducts(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free, GpuPlan &plan, ArrayRef<unsigned> shared, TileWaits waits) {
  BlockOp front = nest.front();
  FailureOr<ProductWork> work = measure(nest, plan.row, machine, sideOfTile());
  if (failed(work))
    return failure();
  // Steps that one thread block runs in order have few rows: a point's own product has to fill a tile, or be one of a chain.
  const int64_t fills = 4 * planning.productSide * planning.productSide;
  if (llvm::any_of(nest, [&](BlockOp block) { return hasOrder(block, shared); }) && work->m * work->n < fills && work->chainRows == 0)
    return false;
  std::string why;
  if (!wantsTiles(*work, planning, why))
    return why.empty() ? false : leaveOut(front, why);
  work->alone = waits.alone;
  work->inSteps = waits.inSteps;
  work->beside = waits.beside;
  work->leaves = waits.beside * int64_t(nest.size());
  // Thread blocks that wait for each other have an SM alone; what a body carries through its loops takes registers as well.
  FailureOr<ProductTasks> tasks = chooseTasks(nest, free, plan, *work, /*needsAll=*/waits.alone || !isOneLeaf(nest, plan));
  if (failed(tasks))
    return failure();
  const TaskTiles &tiles = tasks->tiles;
  const int64_t least = planning.productSide;
  if (tiles.m < least || tiles.n < least || tiles.m * tiles.n < 4 * least * least || tiles.m * tiles.n / tiles.threads < 4)
    return leaveOut(front, "a task has " + std::to_string(tiles.m) + " x " + std::to_string(tiles.n) + " sums, " +
                               std::to_string(4 * least * least) + " with at least " + std::to_string(least) +
                               " rows and columns are worth it");
  if (!draws() && tasks->without < tiles.seconds)
    return leaveOut(front, "they would take " + microseconds(tiles.seconds) + ", without " + microseconds(tasks->without));
  if (tasks->isWide) {
    plan.columns = tasks->columns.columns;
    plan.columnTile = work->iterationsOf(tiles.n);
    plan.unit = std::gcd(tasks->columns.unit, plan.columnTile);
    plan.rowTile = tiles.rows;
  } else if (tiles.rows == 1) {
    plan.row.reset();
  } else if (waits.inSteps) {
    // Fewer rows than a tile's would take as long, and the columns' operands once more for each task.
    plan.rowTile = tiles.rows;
  }
  plan.maxRows = plan.row ? tiles.rows : 1;
  plan.products = true;
  plan.block = makeBlock(front.getContext(), tiles.threads, tiles.resident, planning.sharedBytesOfTwo);
  for (unsigned d : free)
    if (d != plan.row)
      plan.flat.push_back(d);
  return true;
}

LogicalResult GpuPlanner::planProductsInSteps(ArrayRef<BlockOp> nest, GpuPlan &plan, int64_t beside) {
  if (!plan.row || !plan.inner.empty() || !areLeaves(nest))
    return success();
  GpuPlan products = plan;
  SmallVector<unsigned> free(plan.flat);
  products.flat.clear();
  FailureOr<bool> inTiles = planProducts(nest, free, products, plan.steps, {/*alone=*/true, /*inSteps=*/true, beside});
  if (failed(inTiles))
    return failure();
  // (All nests of a kernel have as many threads.)
  if (*inTiles && products.block.getThreads() >= planning.blockThreads.back())
    plan = std::move(products);
  return success();
}

/// As many rows as leave room for the operands' stages beside them.
void GpuPlanner::shrinkForMemory(int64_t rowBytes, int64_t stageBytes, int64_t &rows) const {
  int64_t room = planning.sharedBytesOfTwo - stageBytes - planning.blockThreads.back() / machine.occupancy.warp * mostSlots * 8;
  while (rows > 1 && rows * rowBytes > room)
    rows /= 2;
}
