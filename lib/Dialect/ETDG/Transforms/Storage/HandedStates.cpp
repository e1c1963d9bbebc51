//===- HandedStates.cpp - states of which the last one alone is read ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fold hands its state to its next iteration, and what follows reads the last one, be that in another kernel. Asked of Presburger sets: no read but
// the leaf's own, one iteration later, meets an element after whose write the leaf has a later iteration along the dimension.
//
//===----------------------------------------------------------------------===//

#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/Variants.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGHANDSTATES
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

namespace {
/// A state that a leaf hands to its next iteration along a dimension.
struct HandedState {
  unsigned write, dim;
  /// What else reads others than the last one; empty: nothing does.
  std::string why;
};

/// Asks of one write and dimension.
class HandedQuestion {
public:
  HandedQuestion(Access write, unsigned dim, const SymbolSpace &space) : write(std::move(write)), dim(dim), space(space) {}
  /// Whether no other read than the leaf's own in its next iteration meets what an iteration before the last one has written.
  bool isOfLast(Access read);

private:
  bool isOfNext(const SetBuilder &pair, unsigned atWrite);

  Access write;
  unsigned dim;
  const SymbolSpace &space;
};
} // namespace

/// In all of these pairs the read is one iteration after the write.
bool HandedQuestion::isOfNext(const SetBuilder &pair, unsigned atWrite) {
  for (unsigned d = 0; d < write.block.getNumDims(); ++d)
    for (int64_t sign : {1, -1}) {
      SetBuilder apart = pair;
      LinearExpr difference = apart.variable(atWrite + d);
      difference *= -1;
      difference += apart.variable(d);
      difference.constant -= d == dim;
      difference *= sign;
      difference.constant -= 1;
      apart.add(std::move(difference), /*isEq=*/false);
      if (!isEmpty(apart.get()))
        return false;
    }
  return true;
}

bool HandedQuestion::isOfLast(Access read) {
  if (read.kind != Access::Read || !read.gathers.empty())
    return false;
  const unsigned atWrite = read.getPointSize(), atLater = atWrite + write.getPointSize(), numDims = write.block.getNumDims();
  SetBuilder pair(space, atLater + numDims);
  if (failed(addPoint(pair, read)) || failed(addPoint(pair, write, atWrite)) || failed(addDomain(pair, write.block, atLater)))
    return false;
  auto isRead = getPlane(pair, read), isWritten = getPlane(pair, write, atWrite);
  if (failed(isRead) || failed(isWritten))
    return false;
  for (auto [x, y] : llvm::zip_equal(*isRead, *isWritten)) {
    LinearExpr difference = *x;
    difference *= -1;
    difference += *y;
    pair.add(std::move(difference), /*isEq=*/true);
  }
  for (unsigned d = 0; d < numDims; ++d)
    if (d == dim)
      pair.addLess(atWrite + d, atLater + d);
    else
      pair.addEqual(atWrite + d, atLater + d);
  return isEmpty(pair.get()) || (read.block == write.block && isOfNext(pair, atWrite));
}

/// Whether blocks alone touch a buffer: no caller gets it.
static bool isOfBlocks(Value buffer) { return buffer.getDefiningOp<BufferOp>() && llvm::all_of(buffer.getUsers(), llvm::IsaPred<BlockOp>); }

/// Kernels that end on data look at a state after each iteration.
static bool mayEndEarly(BlockOp leaf) {
  for (Operation *op = leaf; op; op = op->getParentOp())
    if (auto kernel = dyn_cast<KernelOp>(op); kernel && kernel.getExitAttr())
      return true;
  return false;
}

/// The states of a leaf whose work the threads of a GPU share; of other leaves none.
static SmallVector<HandedState> findStates(BlockOp leaf, const SymbolSpace &space, const GraphAccesses &accesses) {
  SmallVector<HandedState> found;
  if (!leaf.isLeaf() || !leaf->hasAttr(etdg::names::layouts) || !leaf.getCombine().empty() || mayEndEarly(leaf))
    return found;
  for (unsigned w = 0; w < leaf.getNumWrites(); ++w) {
    Value buffer = leaf.getBuffers()[leaf.getWrite(w).getOperand()];
    ArrayRef<Access> writes = accesses.getWrites(buffer), reads = accesses.getReads(buffer);
    const auto *own = llvm::find_if(writes, [&](const Access &write) { return write.block == leaf && write.index == w; });
    bool isState = own != writes.end() && llvm::any_of(reads, [&](const Access &read) { return read.block == leaf; });
    if (!isState || !isOfBlocks(buffer))
      continue;
    for (unsigned dim = 0; dim < leaf.getNumDims(); ++dim) {
      BlockOp owner = leaf;
      while (dim < owner.getNumAncestors())
        owner = owner.getParentBlock();
      if (owner.getOperator(dim - owner.getNumAncestors()) == ft::OperatorKind::Map || !own->map.isFunctionOfDim(dim))
        continue;
      HandedQuestion question(*own, dim, space);
      const auto *other = llvm::find_if(reads, [&](const Access &read) { return !question.isOfLast(read); });
      found.push_back({w, dim, other == reads.end() ? "" : other->describe() + " of " + describeBlock(other->block) + " reads others than the last one"});
    }
  }
  return found;
}

static void sayStates(BlockOp leaf, ArrayRef<HandedState> states) {
  SmallVector<int64_t> pairs;
  for (const HandedState &state : states) {
    auto about = remark::RemarkOpts::name("hand-states").category("storage");
    std::string what = "write " + std::to_string(state.write) + " goes from one iteration of " + leaf.getDimNames()[state.dim].str() + " to the next, and ";
    if (state.why.empty()) {
      pairs.append({state.write, state.dim});
      remark::passed(leaf.getLoc(), about) << remark::reason("{0}nothing else reads others than the last one", what);
    } else {
      remark::missed(leaf.getLoc(), about) << remark::reason("{0}{1}", what, state.why);
    }
  }
  if (pairs.empty())
    leaf->removeAttr(etdg::names::handed);
  else
    leaf->setAttr(etdg::names::handed, DenseI64ArrayAttr::get(leaf.getContext(), pairs));
}

namespace {
struct ETDGHandStates : etdg::impl::ETDGHandStatesBase<ETDGHandStates> {
  void runOnOperation() override {
    GraphOp graph = getOperation();
    if (graph.isExternal())
      return;
    States states;
    // Of several variants each leaf is asked beside what runs with it, whichever variant others take.
    forEachUniformChoice(graph, [&](unsigned choice, GraphOp chosen, const IRMapping &mapping) {
      SymbolSpace space(chosen);
      GraphAccesses accesses(chosen);
      graph.walk([&](BlockOp leaf) {
        if (leaf.isLeaf() && isChosen(leaf, choice))
          addStates(states, leaf, findStates(cast<BlockOp>(mapping.lookupOrDefault(leaf.getOperation())), space, accesses));
      });
    });
    for (auto &[leaf, found] : states)
      sayStates(cast<BlockOp>(leaf), found);
  }

private:
  using States = llvm::MapVector<Operation *, SmallVector<HandedState>>;
  static void addStates(States &states, BlockOp leaf, SmallVector<HandedState> found) {
    auto [entry, isNew] = states.try_emplace(leaf);
    if (isNew)
      entry->second = std::move(found);
    else
      for (auto [all, one] : llvm::zip_equal(entry->second, found))
        all.why = all.why.empty() ? one.why : all.why;
  }
};
} // namespace
