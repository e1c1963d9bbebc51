//===- Items.cpp - what becomes a block -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies fall into runs of statements, loops, conditions and copies. A body of one
// item adds its loops to the iteration vector; others become graph blocks, whose
// buffers are private.
//
//===----------------------------------------------------------------------===//
#include "Raiser.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

/// Whether the statement that computes the source can write where the update goes.
bool Raiser::writesDirectly(Writer &w) {
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

void Raiser::planItems(Block &block) {
  items[&block];
  if (infoOf(&block).domains.empty())
    return; // never runs
  SmallVector<Operation *> run;
  llvm::DenseSet<Operation *> inRun;
  auto flush = [&] {
    if (run.empty())
      return;
    ++numRuns;
    for (Operation *op : run)
      runOf[op] = numRuns;
    items[&block].push_back({Item::Run, run, nullptr, Value()});
    run.clear();
    inRun.clear();
  };
  // Whether a value is read through anything but its own name from the current run.
  std::function<bool(Value, bool, llvm::DenseSet<Value> &)> readsRun =
      [&](Value v, bool throughView, llvm::DenseSet<Value> &seen) -> bool {
    Operation *def = v.getDefiningOp();
    if (!def || def->getBlock() != &block || !seen.insert(v).second)
      return false;
    if (inRun.contains(def))
      return throughView;
    if (statements.contains(def))
      return false;
    throughView |= !isRepeatable(def);
    // What a condition or a loop passes on.
    if (def->getNumRegions() > 0) {
      WalkResult walked = def->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(), [&](Value o) { return readsRun(o, true, seen); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      return walked.wasInterrupted();
    }
    return llvm::any_of(def->getOperands(),
                        [&](Value o) { return readsRun(o, throughView, seen); });
  };
  auto operandsOf = [](Operation *op) {
    llvm::SetVector<Value> all(op->operand_begin(), op->operand_end());
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, all);
    return all;
  };
  for (Operation &op : block.without_terminator()) {
    if (statements.contains(&op)) {
      llvm::DenseSet<Value> seen;
      if (llvm::any_of(operandsOf(&op), [&](Value v) { return readsRun(v, false, seen); }))
        flush();
      run.push_back(&op);
      inRun.insert(&op);
      continue;
    }
    auto addWriter = [&](Operation *update) {
      auto it = writerOf.find(update);
      if (it == writerOf.end())
        return;
      Writer &w = *it->second;
      Family *inner = familyOf.lookup(w.source);
      if (writesDirectly(w) || (inner && inner->insertedBy == &w))
        return;
      w.copies = true;
      flush();
      items[&block].push_back({Item::Copy, {update}, &w, Value()});
    };
    if (auto access = dyn_cast<SubsetAccessOpInterface>(op); access && access.isWrite()) {
      addWriter(&op);
    } else if (isa<scf::ForOp, scf::ForallOp>(op)) {
      Block &body = op.getRegion(0).front();
      planItems(body);
      if (items[&body].empty())
        continue;
      flush();
      items[&block].push_back({Item::Loop, {&op}, nullptr, Value()});
    } else if (isa<scf::IfOp>(op)) {
      bool any = false;
      for (Region &region : op.getRegions())
        if (!region.empty()) {
          planItems(region.front());
          any |= !items[&region.front()].empty();
        }
      if (!any)
        continue;
      flush();
      items[&block].push_back({Item::If, {&op}, nullptr, Value()});
    }
  }
  if (auto parallel = dyn_cast<scf::InParallelOp>(block.getTerminator())) {
    for (Operation &update : parallel.getRegion().front()) {
      auto it = writerOf.find(&update);
      if (it == writerOf.end())
        continue;
      Writer &w = *it->second;
      Family *inner = familyOf.lookup(w.source);
      if (writesDirectly(w) || (inner && inner->insertedBy == &w))
        continue;
      w.copies = true;
      flush();
      items[&block].push_back({Item::Copy, {&update}, &w, Value()});
    }
  }
  flush();
  for (BlockArgument arg : block.getArguments())
    if (materialized.contains(arg))
      items[&block].push_back({Item::Copy, {block.getTerminator()}, nullptr, arg});
}

void Raiser::planScopes(Block &block, Scope *scope) {
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
    scopes.push_back({&block, infoOf(&block).depth(), scope});
    scope = &scopes.back();
    graphBodies.insert(&block);
  }
  scopeOf[&block] = scope;
  for (const Item &item : list)
    if (item.kind == Item::Loop || item.kind == Item::If)
      for (Region &region : item.ops.front()->getRegions())
        if (!region.empty())
          planScopes(region.front(), scope);
}
