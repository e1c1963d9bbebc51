//===- RowLoops.cpp - Which loop nests one loop over the rows computes -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all rows share is computed first, once. Runs of nests that need no other row share one loop over the rows; a product whose rows are
// those of its result treats them itself. What is chosen is written on the leaf (`loops.row_loops`); what is written there is checked, and
// obeyed.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

/// Whether a loop over the rows stands around it, or it treats them itself.
static bool isPerRow(const Nest &nest) { return nest.batched && !(nest.contraction && nest.contraction->rowsAreM); }

RowLoops mlir::ft::leaf::chooseRowLoops(const LeafGraph &graph) {
  RowLoops loops;
  const Nest *before = nullptr;
  for (int rank : {0, 1, 2})
    for (const Nest &nest : graph.nests) {
      if (rank != (nest.last ? 2 : nest.batched ? 1 : 0))
        continue;
      if (before && isPerRow(*before) && isPerRow(nest) && before->last == nest.last)
        loops.back().push_back(nest.number);
      else
        loops.push_back({nest.number});
      before = &nest;
    }
  return loops;
}

namespace {
/// The buffers that a nest reads, and those that it writes. Loops of no iteration touch none: what follows may be computed together with
/// a nest before them that has none either.
struct Touched {
  llvm::SmallSet<int, 8> reads, writes;

  explicit Touched(const Nest &nest) {
    bool writesNothing = false, readsNothing = false;
    for (auto [size, isReduced] : llvm::zip_equal(nest.sizes, nest.reduced)) {
      readsNothing |= size == 0;
      writesNothing |= size == 0 && !isReduced; // (a sum of nothing is written)
    }
    auto add = [](const ElementView &view, llvm::SmallSet<int, 8> &buffers, bool isNone) {
      if (!isNone || !view.terms.empty())
        buffers.insert(view.buffer);
    };
    auto read = [&](const ElementView &view, bool isNone) {
      add(view, reads, isNone);
      for (const DynamicTerm &term : view.terms)
        reads.insert(term.buffer);
    };
    for (const NestMember &member : nest.members) {
      for (const ElementView &view : member.reads)
        read(view, readsNothing);
      for (const ElementView &view : member.inits)
        read(view, writesNothing);
      for (const auto &[value, view] : member.captured)
        read(view, false);
      for (const ElementView &view : member.writes)
        add(view, writes, writesNothing);
    }
    reads.erase(-1); // a splat
  }
  bool hasToWaitFor(const Touched &other) const {
    auto meet = [](const llvm::SmallSet<int, 8> &a, const llvm::SmallSet<int, 8> &b) {
      return llvm::any_of(a, [&](int buffer) { return b.contains(buffer); });
    };
    return meet(reads, other.writes) || meet(writes, other.reads);
  }
};
} // namespace

static InFlightDiagnostic errorOf(const Nest &nest) {
  InFlightDiagnostic diag = nest.members.front().op->emitError("its loop nest ");
  diag << nest.number << " can't be computed in this place (loops.row_loops): ";
  return diag;
}

/// The nests in the order of the loops; an error where one is missing or there twice.
static FailureOr<SmallVector<const Nest *>> orderOf(const LeafGraph &graph, const RowLoops &loops) {
  SmallVector<const Nest *> ordered;
  for (ArrayRef<int64_t> loop : loops)
    for (int64_t number : loop) {
      auto found = llvm::find_if(graph.nests, [&](const Nest &own) { return own.number == number; });
      if (found == graph.nests.end())
        return func::FuncOp(graph.func).emitError("loops.row_loops: there is no loop nest ")
               << number << ", or it is computed together with one before";
      if (llvm::is_contained(ordered, &*found))
        return errorOf(*found) << "it is there twice";
      ordered.push_back(&*found);
    }
  for (const Nest &nest : graph.nests)
    if (!llvm::is_contained(ordered, &nest))
      return errorOf(nest) << "it is not specified where (loops-choose-row-loops does)";
  return ordered;
}

/// What one nest needs of another is there before.
static LogicalResult checkOrder(const LeafGraph &graph, ArrayRef<const Nest *> ordered) {
  std::vector<Touched> touched;
  for (const Nest *nest : ordered)
    touched.emplace_back(*nest);
  for (auto [i, first] : llvm::enumerate(ordered))
    for (auto [j, second] : llvm::enumerate(ordered.take_front(i))) {
      if (second->last && !first->last)
        return errorOf(*first) << "loop nest " << second->number << " writes where operands may lie, and stands before it";
      if (first < second && touched[j].hasToWaitFor(touched[i])) // (in memory as they were built)
        return errorOf(*second) << "it needs loop nest " << first->number << ", which stands after it";
    }
  return success();
}

FailureOr<SmallVector<Segment>> mlir::ft::leaf::takeRowLoops(LeafGraph &graph, const RowLoops &loops) {
  FailureOr<SmallVector<const Nest *>> ordered = orderOf(graph, loops);
  if (failed(ordered) || failed(checkOrder(graph, *ordered)))
    return failure();
  SmallVector<Segment> segments;
  unsigned next = 0;
  for (ArrayRef<int64_t> loop : loops) {
    ArrayRef<const Nest *> own = ArrayRef(*ordered).slice(next, loop.size());
    for (const Nest *nest : own)
      if (own.size() > 1 && (!isPerRow(*nest) || nest->last != own.front()->last))
        return errorOf(*nest) << (isPerRow(*nest) ? "it writes where operands may lie, those beside it do not"
                                                  : "a loop over rows is around none, expected it alone");
    if (!own.empty())
      segments.push_back({next, next + unsigned(own.size()), isPerRow(*own.front())});
    next += unsigned(own.size());
  }
  std::vector<Nest> moved;
  for (const Nest *nest : *ordered)
    moved.push_back(std::move(graph.nests[nest - graph.nests.data()]));
  graph.nests = std::move(moved);
  return segments;
}
