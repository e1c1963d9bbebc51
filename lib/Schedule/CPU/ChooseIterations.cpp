//===- ChooseIterations.cpp - how many iterations of a sum are one --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each iteration of a reduction may add a product to its state, as xᵀg to a weight's gradient. It has few terms, and
// the state is read and written each time. Of several iterations it is one product with more terms. Each number of
// them is tried on a copy of the graph and priced there.
//
//===----------------------------------------------------------------------===//

#include "ft/Schedule/CPU/ChooseIterations.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/Transforms/JoinIterations.h"
#include "ft/Schedule/CPU/CostModel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::JoinableReduction;

/// Numbers that are tried. (Those after the last multiple of it follow one by one.)
static constexpr int64_t triedIterations[] = {16, 64, 128};

/// The leaves of a graph, also those in the bodies of its blocks.
static SmallVector<BlockOp> leavesIn(etdg::GraphOp graph) {
  SmallVector<BlockOp> leaves;
  graph.walk<WalkOrder::PreOrder>([&](BlockOp block) {
    if (block.isLeaf())
      leaves.push_back(block);
  });
  return leaves;
}

/// Whether something has said how a leaf, or what is around it, runs.
static bool isBound(BlockOp leaf) {
  for (BlockOp block = leaf; block; block = block.getParentBlock())
    if (isBinding(scheduleOf({block})))
      return true;
  return leaf->hasAttr(etdg::names::cut);
}

static bool hasProducts(BlockOp leaf) {
  return llvm::any_of(leaf.getBody().front().getOps<linalg::LinalgOp>(),
                      [](linalg::LinalgOp op) { return op.getNumReductionLoops() > 0 && op.getNumDpsInputs() == 2; });
}

static std::optional<JoinableReduction> findAt(BlockOp leaf) {
  std::string why;
  std::optional<JoinableReduction> found = etdg::findJoinable(leaf, why, etdg::ReadsOfJoined::AnyPieces);
  // Nests of a kernel go through the loops together that they share.
  Operation *nest = leaf.getNest() ? leaf.getNest() : leaf;
  auto kernel = dyn_cast<etdg::KernelOp>(nest->getParentOp());
  if (found && kernel && found->dim - leaf.getNumAncestors() < unsigned(kernel.getShared()))
    return std::nullopt;
  return found;
}

namespace {
/// Decides for one graph.
class IterationsChooser {
public:
  IterationsChooser(etdg::GraphOp graph, const CpuScheduleOptions &options) : graph(graph), options(options) {}
  void chooseFor(unsigned number);

private:
  double price(etdg::GraphOp of, unsigned number, unsigned count);
  int64_t choose(unsigned number, const JoinableReduction &reduction);

  etdg::GraphOp graph;
  const CpuScheduleOptions &options;
};
} // namespace

/// Seconds of `count` leaves that follow each other, with what else their nests have.
double IterationsChooser::price(etdg::GraphOp of, unsigned number, unsigned count) {
  CostModel costs(of, options);
  double seconds = 0;
  Operation *last = nullptr;
  SmallVector<BlockOp> leaves = leavesIn(of);
  for (BlockOp leaf : ArrayRef(leaves).slice(number, count)) {
    etdg::NestOp nest = leaf.getNest();
    if (nest && nest == last)
      continue;
    last = nest;
    SmallVector<BlockOp> blocks = etdg::blocksOf(leaf.getScheduledOp());
    seconds += (leaf.getParentBlock() ? costs.estimateInside(blocks) : costs.estimateBest(blocks)).seconds;
  }
  return seconds;
}

int64_t IterationsChooser::choose(unsigned number, const JoinableReduction &reduction) {
  if (options.planSeed != 0)
    return int64_t(1) << (options.planSeed % (std::size(triedIterations) + 1));
  int64_t most = int64_t(CostModel(graph, options).typically(reduction.getLength())), best = 1;
  double whole = price(graph, number, 1), least = options.getMachine().cpu.sureGain * whole;
  size_t numLeaves = leavesIn(graph).size();
  std::string all = llvm::formatv("1: {0:e2}", whole).str();
  for (int64_t count : triedIterations) {
    if (count > most)
      break;
    OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>(graph->clone());
    std::optional<JoinableReduction> found = findAt(leavesIn(*copy)[number]);
    if (!found)
      break;
    etdg::joinIterations(*found, count);
    double seconds = price(*copy, number, unsigned(leavesIn(*copy).size() - numLeaves + 1));
    all += llvm::formatv(", {0}: {1:e2}", count, seconds).str();
    if (seconds < least) {
      best = count;
      least = options.getMachine().cpu.planGain * seconds;
    }
  }
  Location loc = BlockOp(reduction.leaf).getLoc();
  auto about = remark::RemarkOpts::name("choose-iterations").category("cpu");
  auto tell = best > 1 ? remark::passed(loc, about) : remark::missed(loc, about);
  tell << llvm::formatv("{0} iterations at a time (seconds by number: {1})", best, all).str();
  return best;
}

void IterationsChooser::chooseFor(unsigned number) {
  BlockOp leaf = leavesIn(graph)[number];
  if (!hasProducts(leaf) || isBound(leaf))
    return;
  bool isDerived = etdg::deriveCombine(leaf);
  std::optional<JoinableReduction> reduction = findAt(leaf);
  int64_t count = reduction ? choose(number, *reduction) : 1;
  if (count > 1)
    etdg::joinIterations(*reduction, count);
  else if (isDerived)
    etdg::dropCombine(leaf);
}

void schedule::chooseIterations(etdg::GraphOp graph, const CpuScheduleOptions &options) {
  // From the last one on: a leaf becomes two, and those before keep their number.
  for (size_t number = leavesIn(graph).size(); number > 0; --number)
    IterationsChooser(graph, options).chooseFor(unsigned(number - 1));
}
