//===- Items.cpp - what becomes a block -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies fall into runs of statements, loops, conditions and copies. A body of one
// item adds its loops to the iteration vector; others become graph blocks, whose
// buffers are private.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

/// Whether the statement that computes the source can write where the update goes.
bool ProgramAnalysis::writesDirectly(Writer &w) {
  Operation *def = w.source.getDefiningOp();
  if (!def || !statements.contains(def) || def->getBlock() != bodyOf(w.op))
    return false;
  if (!w.family->byCells)
    return true;
  for (const Writer::Alternative &a : w.alternatives)
    if (a.offsets != w.alternatives.front().offsets)
      return false;
  for (unsigned d = 0; d < w.family->leading; ++d)
    if (w.sizes[d] != sets->constant(1))
      return false;
  return true;
}

/// The statements so far become an item; the next ones begin another.
void ProgramAnalysis::closeRun(Run &run) {
  if (run.ops.empty())
    return;
  ++numRuns;
  for (Operation *op : run.ops)
    runOf[op] = numRuns;
  items[&run.block].push_back({Item::Run, run.ops, nullptr, Value()});
  run.ops.clear();
  run.inside.clear();
}

/// Whether a value is read from the run through anything but its own name.
bool ProgramAnalysis::readsRun(const Run &run, Value v, bool throughView, llvm::DenseSet<Value> &seen) {
  Operation *def = v.getDefiningOp();
  if (!def || def->getBlock() != &run.block || !seen.insert(v).second)
    return false;
  if (run.inside.contains(def))
    return throughView;
  if (statements.contains(def))
    return false;
  throughView |= !isRepeatable(def);
  auto anyReads = [&](Operation *op, bool viewed) {
    return llvm::any_of(op->getOperands(), [&](Value o) { return readsRun(run, o, viewed, seen); });
  };
  if (def->getNumRegions() == 0)
    return anyReads(def, throughView);
  // What a condition or a loop passes on.
  WalkResult walked = def->walk([&](Operation *inner) {
    return anyReads(inner, true) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

void ProgramAnalysis::addStatement(Operation &op, Run &run) {
  llvm::SetVector<Value> operands(op.operand_begin(), op.operand_end());
  for (Region &region : op.getRegions())
    getUsedValuesDefinedAbove(region, operands);
  llvm::DenseSet<Value> seen;
  if (llvm::any_of(operands, [&](Value v) { return readsRun(run, v, false, seen); }))
    closeRun(run);
  run.ops.push_back(&op);
  run.inside.insert(&op);
}

/// An update is a copy, unless what it inserts is written where it goes.
void ProgramAnalysis::addUpdate(Operation &update, Run &run) {
  auto it = writerOf.find(&update);
  if (it == writerOf.end())
    return;
  Writer &w = *it->second;
  Family *inner = familyOf.lookup(w.source);
  if (writesDirectly(w) || (inner && inner->insertedBy == &w))
    return;
  w.copies = true;
  closeRun(run);
  items[&run.block].push_back({Item::Copy, {&update}, &w, Value()});
}

/// The item of an operation, where it makes one, and those of its regions.
void ProgramAnalysis::planItemsOf(Operation &op, Run &run) {
  if (statements.contains(&op))
    return addStatement(op, run);
  if (auto access = dyn_cast<SubsetAccessOpInterface>(op); access && access.isWrite())
    return addUpdate(op, run);
  if (!isa<scf::ForOp, scf::ForallOp, scf::IfOp>(op))
    return;
  bool any = false;
  for (Region &region : op.getRegions())
    if (!region.empty()) {
      planItems(region.front());
      any |= !items[&region.front()].empty();
    }
  if (!any)
    return;
  closeRun(run);
  items[&run.block].push_back({isa<scf::IfOp>(op) ? Item::If : Item::Loop, {&op}, nullptr, Value()});
}

void ProgramAnalysis::planItems(Block &block) {
  items[&block];
  if (infoOf(&block).domains.empty())
    return; // never runs
  Run run{block};
  for (Operation &op : block.without_terminator())
    planItemsOf(op, run);
  if (auto parallel = dyn_cast<scf::InParallelOp>(block.getTerminator()))
    for (Operation &update : parallel.getRegion().front())
      addUpdate(update, run);
  closeRun(run);
  for (BlockArgument arg : block.getArguments())
    if (materialized.contains(arg))
      items[&block].push_back({Item::Copy, {block.getTerminator()}, nullptr, arg});
}

void ProgramAnalysis::planScopes(Block &block, Scope *scope) {
  bool pending = infoOf(&block).depth() > scope->depth;
  ArrayRef<Item> list = items[&block];
  bool isGraph = list.size() > 1;
  if (list.size() == 1 && list.front().kind == Item::If) {
    // The branches are regions of one nest only where they have the same dimensions.
    SmallVector<Item::Kind> kinds;
    for (Region &region : list.front().ops.front()->getRegions())
      if (!region.empty() && !items[&region.front()].empty())
        kinds.push_back(items[&region.front()].size() > 1 ? Item::Run
                                                          : items[&region.front()].front().kind);
    isGraph =
        kinds.size() > 1 && llvm::any_of(kinds, [](Item::Kind kind) { return kind != Item::Run; });
  }
  if (pending && isGraph) {
    plan.scopes.push_back({&block, infoOf(&block).depth(), scope});
    scope = &plan.scopes.back();
    graphBodies.insert(&block);
  }
  scopeOf[&block] = scope;
  for (const Item &item : list)
    if (item.kind == Item::Loop || item.kind == Item::If)
      for (Region &region : item.ops.front()->getRegions())
        if (!region.empty())
          planScopes(region.front(), scope);
}
