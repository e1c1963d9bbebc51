//===- CopyMerges.cpp - merges that it is unknown from copies -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `h = f(h)` in a loop: the carried h is another storage in each iteration, and
// nothing is written into it after it was yielded. Then carrying its value will do.
//
//===----------------------------------------------------------------------===//
#include "Merges.h"

using namespace mlir;
using namespace mlir::tssa;

SmallVector<Merge> mlir::tssa::mergesOf(Operation *op) {
  SmallVector<Merge> merges;
  auto add = [&](ArrayRef<Value> names, ArrayRef<OpOperand *> incoming) {
    if (isMutable(names.front()))
      merges.push_back({op, SmallVector<Value, 2>(names), SmallVector<OpOperand *, 2>(incoming)});
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      add({loop.getRegionIterArgs()[i], loop.getResult(i)},
          {&loop.getInitArgsMutable()[i], &loop.getBody()->getTerminator()->getOpOperand(i)});
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (unsigned i = 0; i < branch.getNumResults(); ++i)
      add({branch.getResult(i)},
          {&branch.thenYield()->getOpOperand(i), &branch.elseYield()->getOpOperand(i)});
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (unsigned i = 0; i < loop.getBeforeArguments().size(); ++i)
      add({loop.getBeforeArguments()[i]},
          {&loop.getInitsMutable()[i], &loop.getYieldOp()->getOpOperand(i)});
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      add({loop.getAfterArguments()[i], loop.getResult(i)},
          {&loop.getConditionOp().getArgsMutable()[i]});
  }
  return merges;
}

bool mlir::tssa::resolveTrivial(const Merge &merge) {
  Value only;
  for (OpOperand *operand : merge.incoming) {
    Value value = operand->get();
    if (llvm::is_contained(merge.names, value))
      continue;
    if (only && only != value)
      return false;
    only = value;
  }
  if (!only || merge.op->isAncestor(only.getParentBlock()->getParentOp()))
    return false;
  for (Value name : merge.names)
    name.replaceAllUsesWith(only);
  return true;
}

//===----------------------------------------------------------------------===//
// Who can tell
//===----------------------------------------------------------------------===//

namespace {
using ValueSet = llvm::DenseSet<Value>;

struct CopyCheck {
  const Merge &merge;
  const AliasGraph &graph;

  /// What `from` may become, not through `avoided`.
  ValueSet reach(ArrayRef<Value> from, ArrayRef<Value> avoided) const {
    ValueSet seen;
    SmallVector<Value> worklist(from);
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      if (llvm::is_contained(avoided, value) || !seen.insert(value).second)
        continue;
      llvm::append_range(worklist, graph.successors(value));
    }
    return seen;
  }

  bool isInside(Operation *op) const { return merge.op->isProperAncestor(op); }

  /// Names of the merge's storages that are not had from the merge.
  ValueSet otherNames() const;
  /// Whether `op` may run after the merge, while what it gave is in use.
  bool mayFollow(Operation *op, bool survives) const;
  /// Whether a loop's body has looked at what is carried, in each iteration, before it comes to `write`; after the
  /// merge: whether nothing reads what it gave from `write` on.
  bool isLookedAtBefore(Operation *write, const ValueSet &derived) const;
  bool run() const;
};
} // namespace

ValueSet CopyCheck::otherNames() const {
  SmallVector<Value> siblings; // the merges of the same operation
  for (const Merge &other : mergesOf(merge.op))
    for (Value name : other.names)
      if (!llvm::is_contained(merge.names, name))
        siblings.push_back(name);
  ValueSet others;
  for (Value storage : graph.storages(merge.names.front())) {
    ValueSet names = reach({storage}, merge.names);
    Operation *def = storage.getDefiningOp();
    bool isLoop = isa<scf::ForOp, scf::WhileOp>(merge.op);
    if (def && isLoop && isInside(def)) {
      // Each iteration has storage of its own: the merge has that of the one before,
      // which only what is carried beside it can name, too.
      SmallVector<Value> carried;
      for (Value sibling : siblings)
        if (names.contains(sibling))
          carried.push_back(sibling);
      names = reach(carried, merge.names);
    }
    others.insert(names.begin(), names.end());
  }
  return others;
}

bool CopyCheck::mayFollow(Operation *op, bool survives) const {
  if (survives)
    return true;
  bool isLoop = isa<scf::ForOp, scf::WhileOp>(merge.op);
  if (merge.op->isAncestor(op))
    return isLoop; // a branch is over when it merges
  // In the innermost block that holds both, the order of the text.
  Operation *mine = merge.op;
  while (mine) {
    if (Operation *theirs = mine->getBlock()->findAncestorOpInBlock(*op))
      return mine->isBeforeInBlock(theirs) || mine == theirs;
    mine = mine->getParentOp();
  }
  return true;
}

bool CopyCheck::isLookedAtBefore(Operation *write, const ValueSet &derived) const {
  Block *block = nullptr;
  if (auto loop = dyn_cast<scf::ForOp>(merge.op); loop && isInside(write))
    block = loop.getBody();
  else if (!merge.op->isAncestor(write))
    // The innermost block that holds both.
    for (block = merge.op->getBlock(); block && !block->findAncestorOpInBlock(*write);)
      block = block->getParentOp()->getBlock();
  if (!block)
    return false;
  Operation *then = block->findAncestorOpInBlock(*write);
  for (Value name : derived)
    for (Operation *user : name.getUsers()) {
      Operation *now = block->findAncestorOpInBlock(*user);
      // (The end of a block, where a name lives on, comes last. What a loop gives is looked at after it: by a name that its
      // body passes on at the end.)
      if (isa<ViewOp>(user) || (!now && isInside(write)))
        continue;
      if (!now || !now->isBeforeInBlock(then))
        return false;
    }
  return true;
}

bool CopyCheck::run() const {
  ValueSet derived = reach(merge.names, {}), others = otherNames();
  // A name carried by a loop around lives on into its next iteration.
  bool survives = llvm::any_of(derived, [&](Value v) {
    auto argument = dyn_cast<BlockArgument>(v);
    return argument && !llvm::is_contained(merge.names, v) &&
           argument.getOwner()->getParentOp()->isProperAncestor(merge.op);
  });
  bool isArgument = llvm::any_of(graph.storages(merge.names.front()),
                                 [](Value storage) { return isa<BlockArgument>(storage); });
  bool derivedWritten = false, othersWritten = false;
  for (OpOperand *write : graph.writes()) {
    derivedWritten |= derived.contains(write->get());
    othersWritten |= others.contains(write->get()) && mayFollow(write->getOwner(), survives) &&
                     (survives || !isLookedAtBefore(write->getOwner(), derived));
  }
  if (othersWritten)
    return false;
  if (!derivedWritten)
    return true;
  if (isArgument) // the caller sees it
    return false;
  for (Value other : others)
    for (Operation *user : other.getUsers())
      if (!isa<ViewOp>(user) && mayFollow(user, survives)) {
        // What only feeds the merge itself shows nothing.
        bool feeds = llvm::all_of(user->getOpOperands(), [&](OpOperand &operand) {
          return operand.get() != other || llvm::is_contained(merge.incoming, &operand);
        });
        if (!feeds)
          return false;
      }
  return true;
}

bool mlir::tssa::canCopy(const Merge &merge, const AliasGraph &graph) {
  return CopyCheck{merge, graph}.run();
}

SmallVector<std::pair<Value, Value>, 2> mlir::tssa::copyMerge(const Merge &merge) {
  OpBuilder b(merge.op->getContext());
  RankedTensorType type = cast<MutableTensorType>(merge.names.front().getType()).getValueType();
  for (OpOperand *operand : merge.incoming) {
    b.setInsertionPoint(operand->getOwner());
    // A name of this very merge: its use below is replaced like others.
    operand->set(ReadOp::create(b, merge.op->getLoc(), type, operand->get()));
  }
  SmallVector<std::pair<Value, Value>, 2> made;
  for (Value name : merge.names) {
    name.setType(type);
    if (auto argument = dyn_cast<BlockArgument>(name))
      b.setInsertionPointToStart(argument.getOwner());
    else
      b.setInsertionPointAfter(merge.op);
    auto storage = NewOp::create(b, name.getLoc(), MutableTensorType::get(type), name);
    name.replaceAllUsesExcept(storage, storage);
    made.push_back({name, storage});
  }
  return made;
}
