//===- HoistInvariants.cpp - work that repeats is done once ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In each body of blocks, outermost first: values that leaves below it compute
// anew along dimensions that they do not depend on get blocks of their own, in
// front of what needs them, where that takes less time at typical lengths.
//
//===----------------------------------------------------------------------===//
#include "HoistInvariants.h"
#include "ft/Dialect/ETDG/Transforms/AccessFusion.h"
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"
#include "HoistPlan.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGHOISTINVARIANTS
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::hoist;

/// Each round takes one value out of a leaf; a body has few.
static constexpr unsigned maxRounds = 64;

namespace {
class Hoister {
public:
  Hoister(GraphOp graph, const Settings &settings) : graph(graph), context(graph, settings) {}
  void run();

private:
  /// Returns whether anything was moved.
  bool runRound(Block &body);
  bool tryGroup(HoistGroup &group, Block &body);
  void explain(ArrayRef<HoistRefusal> refusals, Block &body);

  GraphOp graph;
  Context context;
  bool copies = false;
  llvm::StringMap<unsigned> numNamed;
  SmallVector<HoistRefusal> refusals;
};
} // namespace

static std::string list(BlockOp leaf, ArrayRef<unsigned> dims) {
  std::string text;
  for (unsigned d : dims)
    text += (text.empty() ? "'" : ", '") + leaf.getDimNames()[d].getValue().str() + "'";
  return text;
}

bool Hoister::tryGroup(HoistGroup &group, Block &body) {
  const Repeat &first = group.members.front();
  BlockOp leaf = first.leaf;
  GroupPlan plan(context, group, body);
  if (!plan.make()) {
    refusals.push_back({first.getOp(), leaf, plan.rule, plan.reason});
    return false;
  }
  // The operations go with the rewrite.
  Location loc = first.getOp()->getLoc();
  std::string what = first.getOp()->getName().getStringRef().str();
  std::string along = list(leaf, plan.repeated);
  bool rounds = first.split && isa<FloatType>(first.getType().getElementType());
  StringRef name = leaf.getBlockName().value_or("");
  std::string &newName = plan.placement.name = name.empty() ? "once" : (name + "_once").str();
  if (unsigned number = numNamed[newName]++)
    newName += std::to_string(number + 1);
  BufferOp buffer;
  copies |= rewrite(group, plan.placement, body, context.names, buffer);
  auto remark = remark::passed(loc, remark::RemarkOpts::name("hoist").category("coarsen"));
  if (!remark)
    return true;
  remark << remark::reason("{0} is computed once, not along {1}{2}", what, along,
                           rounds ? "; added later, it is rounded in another order" : "")
         << remark::metric("operations", static_cast<int64_t>(plan.operations))
         << remark::metric("operations-after", static_cast<int64_t>(plan.operationsAfter))
         << remark::metric("blocks", static_cast<unsigned>(plan.placement.domains.size()))
         << remark::metric("readers", static_cast<unsigned>(group.members.size()))
         << remark::metric("seconds", llvm::formatv("{0:E1}", plan.seconds).str())
         << remark::metric("seconds-after", llvm::formatv("{0:E1}", plan.secondsAfter).str());
  if (plan.bytes)
    remark << remark::metric("bytes", plan.bytes.str());
  return true;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

bool Hoister::runRound(Block &body) {
  CandidateFinder finder(body, context.space, context.settings);
  refusals.clear();
  SmallVector<BlockOp> inside;
  body.getParentOp()->walk([&](BlockOp block) {
    if (block.isLeaf() && block.getOperation() != body.getParentOp())
      inside.push_back(block);
  });
  SmallVector<HoistGroup> groups = collectGroups(inside, finder, context.names);
  llvm::SmallDenseSet<Operation *> touched;
  bool changed = false;
  for (HoistGroup &group : groups) {
    if (llvm::any_of(group.members, [&](Repeat &r) { return touched.contains(r.leaf); }))
      continue;
    SmallVector<BlockOp> leaves;
    for (Repeat &member : group.members)
      leaves.push_back(member.leaf);
    if (!tryGroup(group, body))
      continue;
    touched.insert_range(leaves);
    changed = true;
  }
  if (!changed) {
    explain(finder.refusals, body);
    explain(refusals, body);
  }
  return changed;
}

void Hoister::explain(ArrayRef<HoistRefusal> all, Block &body) {
  auto parent = dyn_cast<BlockOp>(body.getParentOp());
  unsigned outerDims = parent ? parent.getNumDims() : 0;
  for (const HoistRefusal &refusal : all) {
    // What is private to a block inside is asked there again.
    bool isInnermost = BlockOp(refusal.leaf).getNumAncestors() == outerDims;
    if (!isInnermost && (refusal.rule == "dependence" || refusal.rule == "skew"))
      continue;
    std::string reason = refusal.reason;
    if (refusal.rule == "dependence")
      reason = "what it needs is made by iterations of the same blocks";
    else if (refusal.rule == "skew")
      reason = "it repeats along " + refusal.reason + ", which is no dimension";
    else if (refusal.rule == "positions")
      reason = "it follows from the place of each element, and is computed where it is needed";
    else if (refusal.rule == "narrow")
      reason = "a sum taken apart would be rounded twice (narrow allows it)";
    auto remark =
        remark::missed(refusal.op->getLoc(), remark::RemarkOpts::name("hoist").category("coarsen"));
    if (remark)
      remark << remark::reason("{0} stays in {1} ({2}): {3}", refusal.op->getName().getStringRef(),
                               describeBlock(refusal.leaf), refusal.rule, reason)
             << remark::metric("rule", refusal.rule);
  }
}

void Hoister::run() {
  // A leaf that only hands on what is computed once disappears; what reads it may come next.
  for (unsigned sweep = 0; sweep < maxRounds; ++sweep) {
    copies = false;
    SmallVector<Block *> bodies = {&graph.getBody().front()};
    for (unsigned i = 0; i < bodies.size(); ++i) {
      for (unsigned round = 0; round < maxRounds && runRound(*bodies[i]); ++round)
        ;
      for (Operation &op : *bodies[i])
        op.walk<WalkOrder::PreOrder>([&](BlockOp block) {
          if (!block.isLeaf())
            bodies.push_back(&block.getBody().front());
          return WalkResult::skip();
        });
    }
    if (!copies || AccessFusion(graph, /*maxPieces=*/8).run() == 0)
      return;
  }
}

namespace {
struct ETDGHoistInvariants : etdg::impl::ETDGHoistInvariantsBase<ETDGHoistInvariants> {
  using ETDGHoistInvariantsBase::ETDGHoistInvariantsBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (namesReads(getOperation(), getArgument()))
      return markAllAnalysesPreserved();
    FailureOr<ft::MachineRef> model = ft::findMachine(getOperation().getLoc(), machine, "cpu");
    if (failed(model))
      return signalPassFailure();
    Hoister(getOperation(), Settings{**model, narrow, all}).run();
  }
};
} // namespace
