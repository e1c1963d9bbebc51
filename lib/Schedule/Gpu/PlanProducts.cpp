//===- PlanProducts.cpp - kernels most of whose work is products ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Such a kernel wants tiles that read an operand seldom: as many rows in a task,
// and as many columns of wide leaves, as fill a tile; threads that each keep a
// part of it in registers; and tasks for all multiprocessors.
//
//===----------------------------------------------------------------------===//
#include "GpuPlanner.h"

#include "ft/Schedule/Dimensions.h"
#include "ft/Schedule/RowRuns.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using Rows = ProductTiles::Rows;

namespace {
/// What the leaves of a nest compute, for one row.
struct ProductWork {
  int64_t all = 0, products = 0; // points of loop nests
  int64_t largest = 0;           // of them, whose sizes follow
  int64_t m = 1, n = 1, k = 1, words = 1, elementBytes = 4;
  Rows rows = Rows::none;
  bool fuses = false; // something is computed while a tile is in registers
  int64_t rowBytes = 0; // of values between the nests of a leaf, and between leaves
};
} // namespace

static void addLeaf(ProductWork &work, const LeafForm &form, bool rowWise) {
  TileContext context;
  context.maxRows = rowWise ? 2 : 1;
  SmallVector<bool> inRegisters(form.graph.buffers.size());
  for (auto [i, nest] : llvm::enumerate(form.graph.nests)) {
    int64_t points = 1;
    for (int64_t size : nest.sizes)
      points *= size;
    work.all += points;
    std::string why;
    std::optional<ProductTiles> product = matchProduct(form, unsigned(i), context, why);
    if (!product)
      continue;
    work.products += points;
    int64_t fused = countFused(form, unsigned(i), *product);
    work.fuses |= fused > 0;
    for (int buffer : keptInRegisters(form, unsigned(i), fused))
      inRegisters[buffer] = true;
    if (points <= work.largest)
      continue;
    work.largest = points;
    TileContext oneRow;
    std::tie(work.m, work.n) = extentsOf(form, unsigned(i), *product, oneRow);
    work.k = 1;
    for (int loop : product->loops.k)
      work.k *= nest.sizes[loop];
    work.words = std::max<int64_t>(elementBytes(product->sum) / 4, 1);
    work.elementBytes = std::max(elementBytes(product->lhs), elementBytes(product->rhs));
    work.rows = product->rows;
  }
  int64_t scratch = 0;
  for (auto [i, buffer] : llvm::enumerate(form.graph.buffers))
    if (buffer.kind == leaf::Buffer::Kind::Scratch && buffer.inMemory && !inRegisters[i])
      scratch += buffer.numElements * elementBytes(buffer.elementType);
  work.rowBytes = std::max(work.rowBytes, scratch);
}

/// Whether iterations of a dimension of some leaf follow each other in an order that the program says.
static bool hasOrder(BlockOp block) {
  bool found = false;
  block->walk([&](BlockOp inner) {
    for (unsigned d = 0; d < inner.getNumOwnDims(); ++d)
      found |= inner.getOperator(d) != OperatorKind::Map && inner.getOperator(d) != OperatorKind::Reduce;
  });
  return found;
}

/// Bytes of the buffers inside a block, at least: lengths that are not known count as 1.
static int64_t privateBytes(BlockOp block) {
  int64_t bytes = 0;
  block.walk([&](etdg::BufferOp buffer) {
    auto type = cast<etdg::BufferType>(buffer.getType());
    int64_t size = type.getElement().getNumElements() * elementBytes(type.getElement().getElementType());
    for (auto [d, length] : llvm::enumerate(type.getLengths())) {
      std::optional<ArrayRef<int64_t>> live = buffer.getLive();
      int64_t planes = live && (*live)[d] >= 0 ? (*live)[d] + 1 : length.getConstant().value_or(1);
      size *= std::max<int64_t>(planes, 1);
    }
    bytes += size;
  });
  return bytes;
}

static int64_t powerOfTwoBelow(int64_t value) { return int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(value, 1)))); }

/// Rows and columns of a square tile whose sums take half of the registers of a full block of threads, with
/// another such block beside it.
int64_t GpuPlanner::sideOfTile() const {
  uint64_t sums = uint64_t(machine.occupancy.registersPerUnit) / 4;
  return int64_t(1) << (llvm::Log2_64(std::max<uint64_t>(sums, 1)) / 2);
}

/// What the leaves of a nest compute, whose rows come from the dimension `row`.
static FailureOr<ProductWork> measure(ArrayRef<BlockOp> nest, std::optional<unsigned> row) {
  ProductWork work;
  LeafContext context;
  if (row)
    context.rowOwner.assign(nest.begin(), nest.end());
  for (BlockOp block : nest) {
    for (BlockOp leaf : leavesOf(block)) {
      LeafForm form;
      bool rowWise = row && (isUniform(leaf, *row, noPlanes) || findRowRuns(leaf, *row, noPlanes));
      if (failed(makeLeafForm(form, leaf, row, rowWise, [&](Value buffer) { return context.isPerRow(buffer); })))
        return failure();
      addLeaf(work, form, rowWise);
    }
    work.rowBytes += privateBytes(block);
  }
  return work;
}

FailureOr<bool> GpuPlanner::planProducts(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free, GpuPlan &plan) {
  // Steps of a recurrence have few rows, and wait for each other.
  if (llvm::any_of(nest, [](BlockOp block) { return hasOrder(block); }))
    return false;
  FailureOr<ProductWork> measured = measure(nest, plan.row);
  if (failed(measured))
    return failure();
  const ProductWork &work = *measured;
  // Four fifths of the points at least; of short sums little is left to save.
  if (work.largest == 0 || work.products * 5 < work.all * 4 || work.k < 8)
    return false;
  const int64_t side = sideOfTile();
  int64_t tileN = std::min(int64_t(llvm::PowerOf2Ceil(uint64_t(work.n))), side);
  int64_t tileM = std::min(int64_t(llvm::PowerOf2Ceil(uint64_t(work.m))), side);
  int64_t rows = 1;
  if (work.rows == Rows::m)
    rows = powerOfTwoBelow(side / work.words / work.m);
  else if (work.rows == Rows::n)
    rows = powerOfTwoBelow(side / work.words / work.n);
  shrinkForMemory(work.rowBytes, (tileM + tileN) * 2 * (64 + 16), rows);
  auto tileOf = [&](int64_t extent, bool isRows) {
    return std::min(int64_t(llvm::PowerOf2Ceil(uint64_t(extent * (isRows ? rows : 1)))), side);
  };
  tileM = tileOf(work.m, work.rows == Rows::m);
  tileN = tileOf(work.n, work.rows == Rows::n);
  bool isWide = nest.size() == 1 && BlockOp(nest.front()).isLeaf() && plan.inner.empty() && plan.row &&
                work.rows == Rows::m && work.n >= 2 * tileN;
  GpuPlan columns = plan;
  if (isWide && (failed(shareColumns(nest, columns, /*privateRows=*/false))))
    return failure();
  isWide = isWide && columns.columns == work.n;
  // Where lengths are known: tiles for each multiprocessor.
  auto tasks = [&]() -> int64_t {
    int64_t count = isWide ? llvm::divideCeil(work.n, tileN) : 1;
    for (unsigned d : free) {
      int64_t extent = constantExtent(nest, d);
      if (extent == 0)
        return options.getMultiprocessors();
      count *= d == plan.row ? llvm::divideCeil(extent, rows) : extent;
    }
    return count;
  };
  while (tasks() < options.getMultiprocessors() && (tileM > 32 || (isWide && tileN > 32))) {
    if (isWide && tileN >= tileM)
      tileN /= 2;
    else if (rows > 1 && work.rows == Rows::m)
      tileM /= 2, rows /= 2;
    else
      break;
  }
  if (tileM < 16 || tileN < 16 || tileM * tileN < 1024)
    return false;
  int64_t threads = std::clamp<int64_t>(powerOfTwoBelow(tileM * tileN * work.words / 64), 128, 256);
  if (tileM * tileN / threads < 4)
    return false;
  if (isWide) {
    plan.columns = columns.columns;
    plan.unit = std::min(columns.unit, tileN);
    plan.columnTile = tileN;
    plan.rowTile = rows;
  } else if (rows == 1) {
    plan.row.reset();
  }
  plan.maxRows = plan.row ? rows : 1;
  plan.products = true;
  // Beside its sums a thread needs operands and addresses, and what is computed behind; or ptxas spills.
  int64_t registers = tileM * tileN * work.words / threads + 128 + (work.fuses ? 64 : 0);
  int64_t resident = machine.occupancy.registersPerUnit / (threads * registers);
  plan.block = makeBlock(BlockOp(nest.front()).getContext(), threads, std::max<int64_t>(resident, 1), planning.sharedBytesOfTwo);
  for (unsigned d : free)
    if (d != plan.row)
      plan.flat.push_back(d);
  return true;
}

/// As many rows as leave room for the operands' stages beside them.
void GpuPlanner::shrinkForMemory(int64_t rowBytes, int64_t stageBytes, int64_t &rows) const {
  int64_t room = planning.sharedBytesOfTwo - stageBytes - planning.blockThreads.back() / machine.occupancy.warp * mostSlots * 8;
  while (rows > 1 && rows * rowBytes > room)
    rows /= 2;
}
