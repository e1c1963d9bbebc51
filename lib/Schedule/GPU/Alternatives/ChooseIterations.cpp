//===- ChooseIterations.cpp - how many iterations of a reduction are one --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of each leaf whose iterations can be joined, and that has products: as it stands, or 2, 4, ... iterations at a time. Each form is scheduled on
// a copy, as etdg-schedule-for-gpu will schedule it, and what that wrote is priced.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Alternatives/PricedAlternatives.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/Transforms/JoinIterations.h"
#include "ft/Schedule/Analysis/TypicalRanges.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/GPU/Plan/ScheduleForGpu.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGCHOOSEITERATIONSFORGPU
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Numbers that are tried: more would leave no tile of such a row in registers.
static constexpr int64_t triedIterations[] = {2, 4, 8};

namespace {
/// Decides for one graph, leaf by leaf.
class IterationsChooser {
public:
  IterationsChooser(etdg::GraphOp graph, const GpuScheduleOptions &options, int64_t given) : graph(graph), options(options), given(given) {}
  void run();

private:
  static SmallVector<BlockOp> leavesIn(etdg::GraphOp graph);
  int64_t typicalCount(const etdg::JoinableReduction &reduction);
  SmallVector<StringAttr> namesOfRange(const etdg::JoinableReduction &reduction);
  PricedAlternatives::Lengths enoughBeside(const etdg::JoinableReduction &reduction);
  int64_t choose(size_t number);
  int64_t choosePriced(size_t number, const etdg::JoinableReduction &reduction);

  etdg::GraphOp graph;
  const GpuScheduleOptions &options;
  int64_t given;
};
} // namespace

SmallVector<BlockOp> IterationsChooser::leavesIn(etdg::GraphOp graph) {
  SmallVector<BlockOp> leaves;
  graph.walk([&](BlockOp block) {
    if (block.isLeaf())
      leaves.push_back(block);
  });
  return leaves;
}

/// The blocks around a leaf, and the leaf.
static SmallVector<BlockOp> blocksAround(BlockOp leaf) {
  SmallVector<BlockOp> blocks;
  for (BlockOp block = leaf; block; block = block.getParentBlock())
    blocks.insert(blocks.begin(), block);
  return blocks;
}

/// How many iterations there typically are, in the middle of the dimensions that their number depends on.
int64_t IterationsChooser::typicalCount(const etdg::JoinableReduction &reduction) {
  TypicalRanges ranges(graph);
  SmallVector<std::optional<int64_t>> dims(BlockOp(reduction.leaf).getNumDims());
  for (BlockOp block : blocksAround(reduction.leaf))
    for (unsigned d = block.getNumAncestors(); d < block.getNumDims(); ++d)
      if (TypicalRanges::Range range = ranges.rangeOf({block}, d, dims); d != reduction.dim && range.size() > 0)
        dims[d] = (range.lower + range.upper) / 2;
  return ranges.rangeOf({reduction.leaf}, reduction.dim, dims).size();
}

/// The names of lengths that decide how many iterations there are.
SmallVector<StringAttr> IterationsChooser::namesOfRange(const etdg::JoinableReduction &reduction) {
  SmallVector<StringAttr> names;
  BlockOp leaf = reduction.leaf;
  llvm::SmallBitVector asked(leaf.getNumDims());
  auto ask = [&](AffineExpr expr, BlockOp block) {
    for (auto [s, name] : llvm::enumerate(block.getSymbolNames()))
      if (expr.isFunctionOfSymbol(unsigned(s)))
        names.push_back(name);
    for (unsigned d = 0; d < block.getNumDims(); ++d)
      if (expr.isFunctionOfDim(d))
        asked.set(d);
  };
  ask(reduction.upper - reduction.lower, leaf);
  // From the innermost dimension on: a range depends on others of the same block, or of those around it.
  for (BlockOp block : llvm::reverse(blocksAround(leaf)))
    for (unsigned d = block.getNumDims(); d-- > block.getNumAncestors();)
      if (asked.test(d))
        for (AffineExpr constraint : block.getDomainSet().getConstraints())
          if (constraint.isFunctionOfDim(d))
            ask(constraint, block);
  return names;
}

/// Lengths that the call decides count as enough for all SMs, as they do where tiles are planned (PlanProducts.cpp): how many tasks
/// there are is no reason for a number of iterations. Those of the reduction are typical ones.
PricedAlternatives::Lengths IterationsChooser::enoughBeside(const etdg::JoinableReduction &reduction) {
  int64_t enough = options.getMultiprocessors() * options.getMachine().gpu.taskElements;
  SmallVector<StringAttr> own = namesOfRange(reduction);
  PricedAlternatives::Lengths lengths;
  for (StringAttr name : graph.getSymbolNames())
    if (!llvm::is_contained(own, name))
      lengths.emplace_back(name, enough);
  return lengths;
}

static BlockOp joinIn(BlockOp leaf, int64_t count) {
  std::string why;
  std::optional<etdg::JoinableReduction> found = etdg::findJoinable(leaf, why);
  return found ? etdg::joinIterations(*found, count) : BlockOp();
}

int64_t IterationsChooser::choosePriced(size_t number, const etdg::JoinableReduction &reduction) {
  constexpr double percent = 100; // shares are given in
  const double sureShare = double(options.getMachine().gpu.iterationsShare) / percent;
  BlockOp leaf = leavesIn(graph)[number];
  Operation *item = graph.getBody().front().findAncestorOpInBlock(*leaf);
  PricedAlternatives forms(item, options, {sureShare, sureShare}, enoughBeside(reduction));
  if (!forms.isPriced())
    return 1;
  const auto before = llvm::count_if(ArrayRef(leavesIn(graph)).take_front(number), [&](BlockOp other) { return !item->isAncestor(other); });
  int64_t most = typicalCount(reduction);
  for (int64_t count : triedIterations) {
    if (count > most)
      break;
    forms.consider(count, [&](etdg::GraphOp copy) {
      joinIn(leavesIn(copy)[number - size_t(before)], count);
      return true;
    });
  }
  int64_t best = forms.getBest().value_or(1);
  Location loc = leaf.getLoc();
  auto about = remark::RemarkOpts::name("choose-iterations").category("gpu");
  auto tell = best > 1 ? remark::passed(loc, about) : remark::missed(loc, about);
  tell << llvm::formatv("{0} iterations at a time (percent of the time of one by one: {1})", best, forms.describe(/*digits=*/0)).str();
  return best;
}

/// Whether something in the leaf may be a product that tiles are for.
static bool hasProducts(BlockOp leaf) {
  return llvm::any_of(leaf.getBody().front().getOps<linalg::LinalgOp>(),
                      [](linalg::LinalgOp op) { return op.getNumReductionLoops() > 0 && op.getNumDpsInputs() == 2; });
}

/// Whether is given how it runs.
static bool isBound(BlockOp leaf) {
  for (Operation *op = leaf; op; op = op->getParentOp()) {
    auto schedule = op->getAttrOfType<etdg::ScheduleAttr>("schedule");
    if (schedule && (schedule.getTarget() || llvm::any_of(schedule.getLoops(), [](etdg::LoopAttr loop) {
                       return loop.getKind() == etdg::LoopKind::Associative;
                     })))
      return true;
  }
  return leaf->hasAttr(etdg::names::layouts);
}

int64_t IterationsChooser::choose(size_t number) {
  BlockOp leaf = leavesIn(graph)[number];
  std::string why;
  if (given == 1 || !hasProducts(leaf) || isBound(leaf))
    return 1;
  std::optional<etdg::JoinableReduction> reduction = etdg::findJoinable(leaf, why);
  if (!reduction || given > 1)
    return reduction ? given : 1;
  if (options.planSeed != 0)
    return int64_t(1) << (options.planSeed % (std::size(triedIterations) + 1));
  return choosePriced(number, *reduction);
}

void IterationsChooser::run() {
  // From the last one on: a leaf becomes two, and those before keep their number.
  for (size_t number = leavesIn(graph).size(); number > 0; --number)
    if (int64_t count = choose(number - 1); count > 1)
      joinIn(leavesIn(graph)[number - 1], count);
}

namespace {
struct ETDGChooseIterationsForGPU : ft::impl::ETDGChooseIterationsForGPUBase<ETDGChooseIterationsForGPU> {
  using ETDGChooseIterationsForGPUBase::ETDGChooseIterationsForGPUBase;
  void runOnOperation() override {
    FailureOr<GpuScheduleOptions> options =
        readGpuOptions(getOperation().getLoc(), {target, machine, steps, int64_t(multiprocessors), uint64_t(planSeed)});
    if (failed(options))
      return signalPassFailure();
    if (!getOperation().isExternal())
      IterationsChooser(getOperation(), *options, iterations).run();
  }
};
} // namespace
