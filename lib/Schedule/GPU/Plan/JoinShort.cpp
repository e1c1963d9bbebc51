//===- JoinShort.cpp - short nests beside one that the grid runs in order -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands before and after a recurrence (its last state as a result, rows
// that it does not write, a sum of two states) is often a few points. A launch
// costs as much as a barrier of the grid or more, so such nests run in the
// recurrence's kernel, with barriers in between where one touches what the other
// writes. Short nests that have no such neighbour share a launch of their own.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Plan/GpuPlanner.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/Analysis/Syncs.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Scalar iterations of one point of a leaf, at least one; none where they are not known.
static std::optional<int64_t> workOf(BlockOp leaf) {
  int64_t work = 1;
  auto isOpen = [](int64_t size) { return ShapedType::isDynamic(size); };
  for (Operation &op : leaf.getBody().front()) {
    int64_t own = 1;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
      if (llvm::any_of(ranges, isOpen))
        return std::nullopt;
      own = llvm::product_of(ranges);
    } else if (op.getNumRegions() > 0) {
      return std::nullopt;
    }
    for (Type type : op.getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        own = tensor.hasStaticShape() ? std::max(own, tensor.getNumElements()) : own;
    work = std::max(work, own);
  }
  for (Value yielded : leaf.getYield().getOperands()) // (a copy has no operation)
    if (auto tensor = dyn_cast<RankedTensorType>(yielded.getType()))
      work = std::max(work, tensor.getNumElements());
  return work;
}

/// The greatest length that the bounds of a graph give a name by itself.
static std::optional<int64_t> mostOf(StringAttr name, BoundsAttr bounds) {
  std::optional<int64_t> most;
  for (LengthAttr length : bounds ? bounds.getNonNegative() : ArrayRef<LengthAttr>()) {
    if (length.getNames().size() != 1 || length.getNames().front() != name)
      continue;
    auto at = [&](int64_t value) {
      MLIRContext *context = name.getContext();
      AffineExpr found = simplifyAffineExpr(length.getExpr().replaceSymbols({getAffineConstantExpr(value, context)}), 0, 0);
      return cast<AffineConstantExpr>(found).getValue();
    };
    int64_t slope = at(1) - at(0);
    if (slope < 0)
      most = std::min(most.value_or(std::numeric_limits<int64_t>::max()), at(0) / -slope);
  }
  return most;
}

/// About how many iterations a dimension has at most: a number, or what bounds of lengths say; 0 where nothing does.
static int64_t mostIterations(BlockOp block, unsigned dim) {
  if (int64_t count = constantExtent(block, dim))
    return count;
  auto bounds = block->getParentOfType<etdg::GraphOp>()->getAttrOfType<BoundsAttr>(ft::names::bounds);
  SmallVector<AffineExpr> greatest;
  for (StringAttr name : block.getSymbolNames()) {
    std::optional<int64_t> most = mostOf(name, bounds);
    greatest.push_back(getAffineConstantExpr(most.value_or(std::numeric_limits<int32_t>::max()), block.getContext()));
  }
  DimBounds ends = boundsOf(block, dim);
  int64_t found = 0;
  for (AffineExpr upper : ends.uppers)
    for (AffineExpr lower : ends.lowers) {
      AffineExpr count = simplifyAffineExpr((upper - lower).replaceSymbols(greatest), block.getNumDims(), 0);
      if (auto number = dyn_cast<AffineConstantExpr>(count))
        found = found == 0 ? number.getValue() : std::min(found, number.getValue());
    }
  return std::max<int64_t>(found, 0);
}

/// Scalar iterations of a block and of what is in its body, without an order, at most; none where they are not known, or more.
static std::optional<int64_t> workOfMaps(BlockOp block, int64_t most) {
  std::optional<int64_t> work = 0;
  if (block.isLeaf())
    work = workOf(block);
  else
    block.getBody().walk<WalkOrder::PreOrder>([&](BlockOp inner) {
      std::optional<int64_t> own = workOfMaps(inner, most);
      work = work && own ? std::optional(*work + *own) : std::nullopt;
      return work ? WalkResult::skip() : WalkResult::interrupt();
    });
  if (!work || *work > most)
    return std::nullopt;
  for (unsigned d = block.getNumAncestors(); d < block.getNumDims(); ++d) {
    bool isMap = block.getOperator(d - block.getNumAncestors()) == OperatorKind::Map;
    int64_t count = isMap ? mostIterations(block, d) : 0;
    if (count == 0 || *work * count > most)
      return std::nullopt;
    *work *= count;
  }
  return work;
}

/// No task's worth for each multiprocessor: of points without an order, a number that is known or bounded.
bool GpuPlanner::isShort(ArrayRef<BlockOp> nest) const {
  int64_t most = options.getMultiprocessors() * planning.taskElements, all = 0;
  for (BlockOp block : nest) {
    std::optional<int64_t> work = workOfMaps(block, most);
    if (!work)
      return false;
    all += *work;
  }
  return all <= most;
}

/// Whether all lengths make it a kernel of steps, or of one thread block.
FailureOr<bool> GpuPlanner::isOrdered(ArrayRef<BlockOp> nest) {
  GpuPlan plan = sortDimensions(nest);
  if (plan.steps.empty())
    return false;
  FailureOr<Forms> forms = chooseForms(nest, plan);
  if (failed(forms))
    return failure();
  return forms->steps ? !forms->blocks : plan.outer.empty() && plan.flat.empty();
}

namespace {
using Nest = SmallVector<BlockOp>;

class Joiner {
public:
  Joiner(Block &body, GpuPlanner &planner) : body(body), planner(planner) {}
  LogicalResult run();

private:
  enum class Kind { Other, Short, Ordered };
  FailureOr<Kind> kindOf(const Nest &nest);
  bool canPass(Operation *item, const Nest &nest) const;
  void pass(Operation *item);
  void add(Operation *item);
  void join();

  Block &body;
  GpuPlanner &planner;
  /// Items of the kernel at hand, of which at most one is ordered; the place where it will be.
  SmallVector<Operation *> members;
  Operation *place = nullptr;
  bool hasOrdered = false;
  /// What stands after that place and stays there, and its buffers.
  bool anyPassed = false;
  llvm::DenseSet<Value> passedReads, passedWrites;
};
} // namespace

/// The blocks of an item; none for kernels and variants.
static Nest nestOf(Operation *item) { return etdg::blocksOf(item); }

FailureOr<Joiner::Kind> Joiner::kindOf(const Nest &nest) {
  if (nest.empty() || isBinding(scheduleOf(nest)))
    return Kind::Other;
  if (planner.isShort(nest))
    return Kind::Short;
  FailureOr<bool> ordered = planner.isOrdered(nest);
  if (failed(ordered))
    return failure();
  return *ordered ? Kind::Ordered : Kind::Other;
}

/// Whether the item may stand at `place`: nothing in between writes what it touches, or touches what it writes.
bool Joiner::canPass(Operation *item, const Nest &nest) const {
  llvm::DenseSet<Value> reads, writes;
  collectAccesses(nest, reads, writes);
  auto isFree = [&](Value buffer) {
    Operation *definition = buffer.getDefiningOp();
    bool isInside = definition && item->isAncestor(definition);
    return isInside || !definition || definition->isBeforeInBlock(place);
  };
  return llvm::all_of(reads, [&](Value buffer) { return isFree(buffer) && !passedWrites.contains(buffer); }) &&
         llvm::none_of(writes, [&](Value buffer) { return passedReads.contains(buffer); });
}

void Joiner::pass(Operation *item) {
  anyPassed = true;
  item->walk([&](BlockOp block) {
    if (block.isLeaf())
      collectAccesses(block, passedReads, passedWrites);
  });
}

void Joiner::add(Operation *item) {
  members.push_back(item);
  if (!anyPassed)
    place = item;
}

/// The members become one kernel.
void Joiner::join() {
  if (members.size() > 1) {
    OpBuilder builder(place);
    auto kernel = etdg::KernelOp::create(builder, members.front()->getLoc());
    Block &body = kernel.getBody().emplaceBlock();
    for (Operation *item : members)
      item->moveBefore(&body, body.end());
    if (isTold(kernel))
      remark::passed(kernel.getLoc(), remark::RemarkOpts::name("gpu-join").category("gpu"))
          << std::to_string(members.size()) << (hasOrdered ? " nests are one kernel: all but one are short" : " short nests are one kernel");
  }
  members.clear();
  hasOrdered = anyPassed = false;
  passedReads.clear();
  passedWrites.clear();
}

LogicalResult Joiner::run() {
  SmallVector<Operation *> items;
  for (Operation &op : body)
    if (isa<etdg::KernelOp, etdg::NestOp, etdg::VariantsOp, BlockOp>(op))
      items.push_back(&op);
  for (Operation *item : items) {
    Nest nest = nestOf(item);
    FailureOr<Kind> kind = kindOf(nest);
    if (failed(kind))
      return failure();
    // One kernel has one recurrence.
    if ((*kind == Kind::Ordered && (hasOrdered || anyPassed)) || (*kind == Kind::Other && !hasOrdered))
      join();
    bool joins = *kind == Kind::Ordered || (*kind == Kind::Short && (!anyPassed || canPass(item, nest)));
    if (joins)
      add(item);
    else if (hasOrdered)
      pass(item);
    hasOrdered |= *kind == Kind::Ordered;
  }
  join();
  return success();
}

LogicalResult GpuPlanner::joinShortNests(Block &body) { return Joiner(body, *this).run(); }
