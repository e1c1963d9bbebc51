//===- Columns.cpp - leaves whose columns thread blocks share ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of a recurrence often has fewer points than a GPU has SMs,
// but each point is a cell whose results have hundreds of columns. Where column
// c of all that the body of a block computes depends on column c alone of what
// it computed before (it may read all columns of what other iterations left),
// several thread blocks can compute one point, some columns each, and need
// not wait for each other.
//
// Element e of a buffer's element (a tensor) has the column e / stride mod
// columns. A nest whose loop walks the columns is cut along it; then all that it
// touches of this iteration must be cut the same way, or be known whole to every
// thread block. One choice for one nest thus decides about others; it is
// tried for the loops of the nests with the most work.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"
#include "ft/Schedule/Analysis/LeafColumns.h"

#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::schedule;

namespace {

/// A buffer that this iteration computes and reads: scratch of a leaf, or a buffer of the graph.
using Node = std::pair<LeafForm *, uintptr_t>;

class Search {
public:
  Search(BlockOp block, ArrayRef<LeafForm *> leaves, ColumnLimits limits, int64_t wanted)
      : block(block), leaves(leaves), limits(limits), wanted(wanted) {}
  int64_t run();

private:
  BlockOp block;
  ArrayRef<LeafForm *> leaves;
  const ColumnLimits limits;
  const int64_t wanted; // 0: any number
  int64_t columns = 0;
  struct Use {
    LeafForm *leaf;
    unsigned nest;
  };
  llvm::SetVector<Value> local; // buffers of the graph
  struct State {
    std::map<Node, int64_t> forms;                               // stride; 0: whole
    std::map<std::pair<LeafForm *, unsigned>, NestSplit> splits; // decided nests
  } state;

  void findLocal();
  bool isPrivate(Value buffer) const {
    Operation *definition = buffer.getDefiningOp();
    return definition && block->isProperAncestor(definition);
  }
  SmallVector<Node> nodesOf(LeafForm &leaf, int buffer) const;
  bool isWrittenOutside(LeafForm &leaf, int buffer) const;
  bool hasForm(const ElementView &view, const Nest &nest, int loop, int64_t stride) const;
  bool require(Node node, int64_t stride);
  bool cut(LeafForm &leaf, unsigned nest, int loop);
  bool keepWhole(LeafForm &leaf, unsigned nest, NestSplit::Kind kind);
  bool decide(LeafForm &leaf, unsigned nest, Node node, int64_t stride);
  bool readsWhole(LeafForm &leaf, const ElementView &view);
  bool tryLoop(LeafForm &leaf, unsigned nest, int loop);
  static int64_t workOf(const Nest &nest);
};

} // namespace

int64_t Search::workOf(const Nest &nest) {
  int64_t work = 1;
  for (int64_t size : nest.sizes)
    work *= std::max<int64_t>(size, 1);
  return work;
}

/// Whether two accesses can meet in one iteration of the block: not where a position differs
/// by a constant, whatever the iteration inside the block.
static bool canMeet(AffineMap a, AffineMap b, unsigned numOuter) {
  for (auto [x, y] : llvm::zip(a.getResults(), b.getResults())) {
    unsigned dims = std::max(a.getNumDims(), b.getNumDims());
    bool outer = true;
    for (unsigned d = numOuter; d < dims; ++d)
      outer &= !x.isFunctionOfDim(d) && !y.isFunctionOfDim(d);
    // The blocks may number their symbols differently.
    for (unsigned n = 0; n < std::max(a.getNumSymbols(), b.getNumSymbols()); ++n)
      outer &= !x.isFunctionOfSymbol(n) && !y.isFunctionOfSymbol(n);
    if (!outer)
      continue;
    auto difference = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(x - y, dims, 0));
    if (difference && difference.getValue() != 0)
      return false;
  }
  return true;
}

/// Buffers of which one iteration may read what it wrote.
void Search::findLocal() {
  if (!block)
    return;
  for (LeafForm *writer : leaves)
    for (unsigned w = 0; w < writer->block.getNumWrites(); ++w) {
      etdg::WriteAttr write = writer->block.getWrite(w);
      Value buffer = writer->block.getBuffers()[write.getOperand()];
      if (isPrivate(buffer)) {
        local.insert(buffer);
        continue;
      }
      for (LeafForm *reader : leaves)
        for (unsigned r = 0; r < reader->block.getNumReads(); ++r)
          for (etdg::PieceAttr piece : reader->block.getRead(r).getPieces()) {
            for (etdg::GatherAttr gather : piece.getGathers())
              if (reader->block.getBuffers()[gather.getOperand()] == buffer)
                local.insert(buffer);
            if (piece.getKind() == etdg::SourceKind::Buffer &&
                reader->block.getBuffers()[piece.getOperand()] == buffer &&
                (!piece.getGathers().empty() ||
                 canMeet(piece.getMap().getValue(), write.getMap().getValue(), block.getNumDims())))
              local.insert(buffer);
          }
    }
}

/// What a buffer of a leaf stands for, as far as this iteration computes it.
SmallVector<Node> Search::nodesOf(LeafForm &leaf, int number) const {
  const Buffer &buffer = leaf.graph.buffers[number];
  auto nodeOf = [](Value value) {
    return Node{nullptr, reinterpret_cast<uintptr_t>(value.getAsOpaquePointer())};
  };
  SmallVector<Node> nodes;
  switch (buffer.kind) {
  case Buffer::Kind::Scratch:
    nodes.push_back({&leaf, uintptr_t(number)});
    break;
  case Buffer::Kind::Input:
    if (!leaf.block)
      break;
    for (etdg::PieceAttr piece : leaf.block.getRead(buffer.number).getPieces())
      if (piece.getKind() == etdg::SourceKind::Buffer)
        if (Value value = leaf.block.getBuffers()[piece.getOperand()]; local.contains(value))
          nodes.push_back(nodeOf(value));
    break;
  case Buffer::Kind::Output: {
    Value value =
        leaf.block ? leaf.block.getBuffers()[leaf.block.getWrite(buffer.number).getOperand()] : Value();
    // Results are computed in place: the leaf itself may read them.
    nodes.push_back(value && local.contains(value) ? nodeOf(value) : Node{&leaf, uintptr_t(number)});
    break;
  }
  case Buffer::Kind::Constant:
    break;
  }
  return nodes;
}

/// Whether others see what the leaf writes there: then two thread blocks must not write it.
bool Search::isWrittenOutside(LeafForm &leaf, int number) const {
  const Buffer &buffer = leaf.graph.buffers[number];
  return buffer.kind == Buffer::Kind::Output &&
         (!leaf.block || !isPrivate(leaf.block.getBuffers()[leaf.block.getWrite(buffer.number).getOperand()]));
}

/// Whether iteration c of `loop` touches column c alone.
bool Search::hasForm(const ElementView &view, const Nest &nest, int loop, int64_t stride) const {
  if (view.hasBorders())
    return false;
  int64_t period = stride * columns, low = view.offset % period;
  if (view.offset < 0 || view.strides[loop] != stride)
    return false;
  for (auto [i, step] : llvm::enumerate(view.strides)) {
    if (int(i) == loop || step == 0 || nest.sizes[i] <= 1 || step % period == 0)
      continue;
    if (step < 0)
      return false;
    low += step * (nest.sizes[i] - 1);
  }
  return low < stride &&
         llvm::all_of(
             view.terms, [&](const DynamicTerm &term) { return term.stride % period == 0; });
}

/// All that touches `node` is to agree.
bool Search::require(Node node, int64_t stride) {
  auto [it, isNew] = state.forms.try_emplace(node, stride);
  if (!isNew)
    return it->second == stride;
  for (LeafForm *leaf : leaves) {
    if (node.first && node.first != leaf)
      continue;
    // Elements that are put together before the leaf runs are read whole.
    for (unsigned r = 0; leaf->block && r < leaf->block.getNumReads(); ++r)
      for (etdg::PieceAttr piece : leaf->block.getRead(r).getPieces()) {
        auto is = [&](int64_t operand) {
          return !node.first &&
                 reinterpret_cast<uintptr_t>(
                     leaf->block.getBuffers()[operand].getAsOpaquePointer()) == node.second;
        };
        bool whole = leaf->block.getRead(r).getElementRank() != 0 &&
                     piece.getKind() == etdg::SourceKind::Buffer && is(piece.getOperand());
        for (etdg::GatherAttr gather : piece.getGathers())
          whole |= is(gather.getOperand());
        if (whole && stride != 0)
          return false;
      }
    for (unsigned n = 0; n < leaf->graph.nests.size(); ++n)
      if (!decide(*leaf, n, node, stride))
        return false;
  }
  return true;
}

bool Search::readsWhole(LeafForm &leaf, const ElementView &view) {
  auto whole = [&](int buffer) {
    return llvm::all_of(nodesOf(leaf, buffer), [&](Node node) { return require(node, 0); });
  };
  return (view.isSplat() || whole(view.buffer)) &&
         llvm::all_of(view.terms, [&](const DynamicTerm &term) { return whole(term.buffer); });
}

/// A nest that touches `node`, which has a form now.
bool Search::decide(LeafForm &leaf, unsigned number, Node node, int64_t stride) {
  const Nest &nest = leaf.graph.nests[number];
  SmallVector<const ElementView *> touching;
  bool writes = false, captures = false;
  auto touches = [&](const ElementView &view) {
    return !view.isSplat() && llvm::is_contained(nodesOf(leaf, view.buffer), node);
  };
  for (const NestMember &member : nest.members) {
    for (auto *views : {&member.reads, &member.inits, &member.writes})
      for (const ElementView &view : *views)
        if (touches(view)) {
          touching.push_back(&view);
          writes |= views == &member.writes;
        }
    for (const auto &[value, view] : member.captured)
      captures |= touches(view);
  }
  if (touching.empty() && !captures)
    return true;
  if (stride == 0) // the code that computes it computes all of it; readers may be cut or not
    return !writes || keepWhole(leaf, number, NestSplit::everyone);
  if (captures)
    return false;
  auto decided = state.splits.find({&leaf, number});
  if (decided != state.splits.end())
    return decided->second.kind == NestSplit::shared &&
           llvm::all_of(touching, [&](const ElementView *view) {
             return hasForm(*view, nest, decided->second.loop, stride);
           });
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
    if (!nest.reduced[loop] && nest.sizes[loop] == columns &&
        llvm::all_of(touching,
                     [&](const ElementView *view) { return hasForm(*view, nest, loop, stride); }))
      return cut(leaf, number, loop);
  return false;
}

bool Search::cut(LeafForm &leaf, unsigned number, int loop) {
  auto [it, isNew] = state.splits.try_emplace({&leaf, number}, NestSplit{NestSplit::shared, loop});
  if (!isNew)
    return it->second.kind == NestSplit::shared && it->second.loop == loop;
  const Nest &nest = leaf.graph.nests[number];
  for (const NestMember &member : nest.members) {
    for (const auto &[value, view] : member.captured)
      if (!readsWhole(leaf, view))
        return false;
    for (auto *views : {&member.reads, &member.inits, &member.writes})
      for (const ElementView &view : *views) {
        if (view.isSplat())
          continue;
        bool isWrite = views == &member.writes;
        int64_t stride = view.strides[loop];
        if (stride == 0 && isWrite)
          return false;
        for (const DynamicTerm &term : view.terms)
          for (Node node : nodesOf(leaf, term.buffer))
            if (!require(node, 0))
              return false;
        for (Node node : nodesOf(leaf, view.buffer)) {
          // A value that is known whole may be read anyhow.
          auto form = state.forms.find(node);
          bool whole = form != state.forms.end() && form->second == 0 && !isWrite;
          if (whole)
            continue;
          if (stride < 0 || (stride > 0 && !hasForm(view, nest, loop, stride)) ||
              !require(node, stride))
            return false;
        }
      }
  }
  return true;
}

static bool touchesBuffer(const Nest &nest, int buffer) {
  auto is = [&](const ElementView &view) {
    return view.buffer == buffer ||
           llvm::any_of(view.terms, [&](const DynamicTerm &t) { return t.buffer == buffer; });
  };
  for (const NestMember &member : nest.members) {
    if (llvm::any_of(member.reads, is) || llvm::any_of(member.inits, is) ||
        llvm::any_of(member.writes, is))
      return true;
    for (const auto &[value, view] : member.captured)
      if (is(view))
        return true;
  }
  return false;
}

/// A nest that computes all columns: on every thread block, or on the first.
bool Search::keepWhole(LeafForm &leaf, unsigned number, NestSplit::Kind kind) {
  auto [it, isNew] = state.splits.try_emplace({&leaf, number}, NestSplit{kind, -1});
  if (!isNew)
    return it->second.kind == kind;
  const Nest &nest = leaf.graph.nests[number];
  for (const NestMember &member : nest.members) {
    for (const ElementView &view : member.writes) {
      if (kind == NestSplit::everyone && isWrittenOutside(leaf, view.buffer))
        return false;
      // What the first block alone writes no other nest may touch.
      if (kind == NestSplit::first) {
        if (!isWrittenOutside(leaf, view.buffer) ||
            llvm::any_of(nodesOf(leaf, view.buffer), [](Node node) { return !node.first; }) ||
            llvm::count_if(leaf.graph.nests, [&](const Nest &other) {
              return touchesBuffer(other, view.buffer);
            }) > 1)
          return false;
        continue;
      }
      for (Node node : nodesOf(leaf, view.buffer))
        if (!require(node, 0))
          return false;
    }
    for (auto *views : {&member.reads, &member.inits})
      for (const ElementView &view : *views)
        if (!readsWhole(leaf, view))
          return false;
    for (const auto &[value, view] : member.captured)
      if (!readsWhole(leaf, view))
        return false;
  }
  return true;
}

bool Search::tryLoop(LeafForm &leaf, unsigned nest, int loop) {
  state = {};
  columns = leaf.graph.nests[nest].sizes[loop];
  if (!cut(leaf, nest, loop))
    return false;
  // The rest: cut where that is possible.
  for (LeafForm *other : leaves)
    for (auto [n, rest] : llvm::enumerate(other->graph.nests)) {
      if (state.splits.count({other, unsigned(n)}))
        continue;
      State saved = state;
      bool done = false;
      for (int l = 0; l < int(rest.sizes.size()) && !done; ++l) {
        if (rest.reduced[l] || rest.sizes[l] != columns)
          continue;
        done = cut(*other, n, l);
        if (!done)
          state = saved;
      }
      for (NestSplit::Kind kind : {NestSplit::everyone, NestSplit::first}) {
        if (done)
          break;
        done = keepWhole(*other, n, kind);
        if (!done)
          state = saved;
      }
      if (!done)
        return false;
    }
  // What is not cut costs its time once more for each thread block.
  int64_t cutWork = 0, wholeWork = 0;
  for (const auto &[key, split] : state.splits)
    (split.kind == NestSplit::shared ? cutWork : wholeWork) +=
        workOf(key.first->graph.nests[key.second]);
  return wanted || wholeWork * limits.repeat <= cutWork;
}

int64_t Search::run() {
  findLocal();
  struct Candidate {
    int64_t work;
    size_t order;
    LeafForm *leaf;
    unsigned nest;
    int loop;
  };
  SmallVector<Candidate> candidates;
  for (LeafForm *leaf : leaves)
    for (auto [n, nest] : llvm::enumerate(leaf->graph.nests))
      for (int loop = 0; loop < int(nest.sizes.size()); ++loop)
        if (!nest.reduced[loop] && (wanted ? nest.sizes[loop] == wanted : nest.sizes[loop] >= limits.least))
          candidates.push_back({workOf(nest), candidates.size(), leaf, unsigned(n), loop});
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::make_tuple(-a.work, a.order) < std::make_tuple(-b.work, b.order);
  });
  if (candidates.size() > 8) // (a bound of this search's time)
    candidates.resize(8);
  for (const Candidate &candidate : candidates) {
    if (!tryLoop(*candidate.leaf, candidate.nest, candidate.loop))
      continue;
    for (LeafForm *leaf : leaves) {
      leaf->splits.clear();
      for (unsigned n = 0; n < leaf->graph.nests.size(); ++n)
        leaf->splits.push_back(state.splits[{leaf, n}]);
    }
    return columns;
  }
  return 0;
}

int64_t schedule::shareColumns(BlockOp block, ArrayRef<LeafForm *> leaves, ColumnLimits limits, int64_t wanted) {
  return Search(block, leaves, limits, wanted).run();
}

int64_t schedule::shareColumns(BlockOp block, ArrayRef<LeafForm *> leaves, const Machine::GpuPlanning &planning,
                               int64_t wanted) {
  return shareColumns(block, leaves, ColumnLimits{planning.leastColumns, planning.columnRepeat}, wanted);
}
