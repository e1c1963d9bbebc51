//===- Online.cpp - the pass etdg-online ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions that wait for another reduction's last state run beside it (docs/optimiser.md, Online forms;
// DAT's obstacle operators; Milakov and Gimelshein for softmax, Chan for variance).
//
//===----------------------------------------------------------------------===//
#include "OnlineRewrite.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include <set>

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGONLINE
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

namespace {
struct ETDGOnline : etdg::impl::ETDGOnlineBase<ETDGOnline> {
  using ETDGOnlineBase::ETDGOnlineBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    if (namesReads(graph, getArgument()))
      return markAllAnalysesPreserved();
    refused.clear();
    bool changed = false;
    // Each rewrite changes who reads what: look again.
    while (rewriteOne(graph))
      changed = true;
    if (changed)
      eraseDeadBuffers(graph); // what stood between the steps
    else
      markAllAnalysesPreserved();
  }

private:
  bool rewriteOne(GraphOp graph) {
    SmallVector<Block *> bodies{&graph.getBody().front()};
    graph.walk<WalkOrder::PreOrder>([&](BlockOp block) {
      if (!block.isLeaf())
        bodies.push_back(&block.getBody().front());
    });
    std::optional<GraphAccesses> accesses;
    std::optional<SymbolSpace> space;
    for (Block *body : bodies) {
      if (!mayHaveGroup(*body))
        continue;
      if (!accesses) {
        accesses.emplace(graph);
        space.emplace(graph);
      }
      for (online::OnlineGroup &group : online::findGroups(*body, *accesses, *space)) {
        if (rewriteGroup(group, *accesses))
          return true;
        // Level by level: reductions that wait for those of the first level run with one another.
        SmallVector<unsigned> levels = online::getLevels(group);
        constexpr unsigned maxLevels = 5; // each asks for the groups again
        unsigned deepest = *llvm::max_element(levels);
        llvm::DenseSet<Operation *> all, ignored;
        for (online::OnlineMember &member : group.members)
          all.insert(member.block);
        for (unsigned level = 0; level + 1 < std::min(deepest, maxLevels); ++level) {
          for (auto [member, mine] : llvm::zip(group.members, levels))
            if (mine <= level)
              ignored.insert(member.block);
          for (online::OnlineGroup &rest : online::findGroups(*body, *accesses, *space, ignored))
            if (all.contains(rest.members.front().block) && rewriteGroup(rest, *accesses))
              return true;
        }
      }
    }
    return false;
  }

  bool rewriteGroup(online::OnlineGroup &group, const GraphAccesses &accesses) {
    if (online::sinkBroadcasts(group, accesses))
      return true;
    SmallVector<online::OnlineRefusal> refusals;
    online::PlanOptions options{narrowStates, ordered};
    std::optional<online::OnlinePlan> plan = online::makePlan(group, accesses, options, refusals);
    for (const online::OnlineRefusal &refusal : refusals)
      report(group, refusal);
    // One block alone gains nothing, and would be found again.
    if (!plan || plan->members.size() < plan->repeated.size() + 2)
      return false;
    online::RewriteResult result = online::applyPlan(group, *plan, accesses);
    if (!result.merged) {
      report(group, {plan->members.back(), group.members[plan->members.back()].block,
                     "its moments can't be written"});
      return false;
    }
    auto remark = remark::passed(
        result.merged.getLoc(),
        remark::RemarkOpts::name("merged").category("online").subCategory("etdg-online"));
    if (result.numRepeated)
      remark << remark::metric("repeated", result.numRepeated);
    if (!result.hasCombine)
      remark << remark::metric("ordered", result.whyOrdered);
    remark << remark::reason("{0} blocks over '{1}' became one with {2} states", result.numBlocks,
                             result.merged.getDimNames().back().getValue(), result.numStates)
           << remark::metric("block", result.merged.getBlockName().value_or("").str())
           << remark::metric("blocks", result.numBlocks)
           << remark::metric("states", result.numStates)
           << remark::metric("erasedBuffers", result.numErased)
           << remark::metric("combine", result.hasCombine ? "yes" : "no");
    return true;
  }

  /// At least two reductions side by side: nothing else is worth sets.
  static bool mayHaveGroup(Block &body) {
    unsigned reductions = 0;
    for (BlockOp block : body.getOps<BlockOp>()) {
      if (!block.isLeaf() || block.getNumOwnDims() == 0)
        continue;
      ft::OperatorKind kind = block.getOperator(block.getNumOwnDims() - 1);
      reductions += kind == ft::OperatorKind::Reduce || kind == ft::OperatorKind::Fold ||
                    kind == ft::OperatorKind::FoldL;
    }
    return reductions >= 2;
  }

  void report(const online::OnlineGroup &group, const online::OnlineRefusal &refusal) {
    BlockOp block = group.members[refusal.member].block;
    // A block is looked at again after every rewrite, and refused once.
    if (!refused.insert({block, refusal.reason}).second)
      return;
    remark::missed(
        refusal.culprit->getLoc(),
        remark::RemarkOpts::name("refused").category("online").subCategory("etdg-online"))
        << remark::reason("{0} has no online form: {1}", describeBlock(block), refusal.reason)
        << remark::metric("block", block.getBlockName().value_or("").str());
  }

  std::set<std::pair<Operation *, std::string>> refused;
};
} // namespace
