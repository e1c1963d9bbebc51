//===- FuseNests.cpp - Keep point-wise values in registers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/LeafGraph/LeafGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

namespace {

/// What a member touches beside its point-wise reads.
struct Footprint {
  ElementView view;
  bool write;
  bool exact; // `view` and the sizes say exactly which elements
};

} // namespace

static void collect(const NestMember &member, SmallVectorImpl<Footprint> &result) {
  auto add = [&](const ElementView &view, bool write, bool exact) {
    if (!view.isSplat())
      result.push_back({view, write, exact && view.terms.empty()});
    for (const DynamicTerm &term : view.terms) {
      ElementView index;
      index.buffer = term.buffer;
      result.push_back({index, false, false});
    }
  };
  for (const ElementView &view : member.reads)
    add(view, false, true);
  for (const ElementView &view : member.inits)
    add(view, false, true);
  for (const auto &[value, view] : member.captured)
    add(view, false, false);
  for (const ElementView &view : member.writes)
    add(view, true, true);
}

/// First and last element that a view meets.
static std::pair<int64_t, int64_t> rangeOf(const ElementView &view, ArrayRef<int64_t> sizes) {
  int64_t low = view.offset, high = view.offset;
  for (auto [size, stride] : llvm::zip_equal(sizes, view.strides))
    (stride < 0 ? low : high) += (size - 1) * stride;
  return {low, high};
}

static bool mayConflict(const Footprint &a, ArrayRef<int64_t> aSizes, const Footprint &b,
                        ArrayRef<int64_t> bSizes) {
  if (a.view.buffer != b.view.buffer || (!a.write && !b.write))
    return false;
  // (The first column of the call moves both alike, or nothing is known.)
  if (!a.exact || !b.exact || a.view.columnStride != b.view.columnStride)
    return true;
  auto [aLow, aHigh] = rangeOf(a.view, aSizes);
  auto [bLow, bHigh] = rangeOf(b.view, bSizes);
  return aLow <= bHigh && bLow <= aHigh;
}

static ElementView permuted(const ElementView &view, ArrayRef<int> loops) {
  ElementView result = view;
  result.forEachStrides([&](SmallVectorImpl<int64_t> &strides) {
    SmallVector<int64_t> all(ArrayRef<int64_t>{strides});
    for (auto [i, loop] : llvm::enumerate(loops))
      strides[loop] = all[i];
  });
  return result;
}

/// Loops of `nest` -> loops of `group` such that the values that pass between
/// them meet point by point; nothing if there is no such order.
static std::optional<SmallVector<int>> align(const Nest &nest, const Nest &group) {
  unsigned rank = nest.sizes.size();
  if (group.sizes.size() != rank)
    return std::nullopt;
  SmallVector<int> loops;
  // A value that passes between them decides the order ...
  auto byStrides = [&](const ElementView &read, const ElementView &write) {
    SmallVector<int> order;
    SmallVector<bool> used(rank);
    for (unsigned i = 0; i < rank; ++i) {
      int found = -1;
      for (unsigned j = 0; j < rank && found < 0; ++j)
        if (!used[j] && write.strides[j] == read.strides[i] && group.sizes[j] == nest.sizes[i])
          found = j;
      if (found < 0)
        return false;
      used[found] = true;
      order.push_back(found);
    }
    loops = order;
    return true;
  };
  const NestMember &member = nest.members.front();
  for (const ElementView &read : member.reads)
    for (const NestMember &other : group.members)
      for (const ElementView &write : other.writes)
        if (loops.empty() && !read.isSplat() && read.buffer == write.buffer &&
            !byStrides(read, write))
          return std::nullopt;
  // ... or else it is the order as written.
  if (loops.empty()) {
    if (nest.sizes != group.sizes)
      return std::nullopt;
    llvm::append_range(loops, llvm::seq<int>(0, rank));
  }
  return loops;
}

static int64_t countOps(const Nest &nest) {
  int64_t count = 0;
  for (const NestMember &member : nest.members)
    count += member.body ? member.body->getOperations().size() : 1;
  return count;
}

static bool tryJoin(Nest &group, const Nest &nest) {
  if (group.contraction || nest.contraction || group.batched != nest.batched || group.last || nest.last)
    return false;
  std::optional<SmallVector<int>> loops = align(nest, group);
  if (!loops)
    return false;
  SmallVector<bool> reduced(group.sizes.size());
  for (auto [i, loop] : llvm::enumerate(*loops))
    reduced[loop] = nest.reduced[i];
  bool nestReduces = llvm::is_contained(reduced, true);
  if (nestReduces && llvm::is_contained(group.reduced, true) && reduced != group.reduced)
    return false;

  NestMember member = nest.members.front();
  for (auto *views : {&member.reads, &member.inits, &member.writes})
    for (ElementView &view : *views)
      view = permuted(view, *loops);
  for (int &loop : member.loops)
    loop = loop < 0 ? -1 : (*loops)[loop];

  SmallVector<Footprint> own;
  collect(member, own);
  for (const NestMember &other : group.members) {
    SmallVector<Footprint> theirs;
    collect(other, theirs);
    for (const Footprint &a : theirs)
      for (const Footprint &b : own) {
        if (!mayConflict(a, group.sizes, b, group.sizes))
          continue;
        // Only a value that is written and read at the same point may pass.
        bool pointwise = a.write && !b.write && a.exact && b.exact && a.view == b.view &&
                         !llvm::is_contained(a.view.strides, 0) &&
                         llvm::is_contained(member.reads, b.view) && !other.isReduction() &&
                         !llvm::is_contained(member.inits, b.view);
        if (!pointwise)
          return false;
      }
  }
  if (nestReduces)
    group.reduced = reduced;
  group.members.push_back(std::move(member));
  group.joined.push_back(nest.number);
  return true;
}

static bool conflicts(const Nest &group, const Nest &nest) {
  SmallVector<Footprint> own;
  collect(nest.members.front(), own);
  for (const NestMember &other : group.members) {
    SmallVector<Footprint> theirs;
    collect(other, theirs);
    for (const Footprint &a : theirs)
      for (const Footprint &b : own)
        if (mayConflict(a, group.sizes, b, nest.sizes))
          return true;
  }
  return false;
}

/// Whether a nest converts to wider numbers, which is done best where they are used: earlier they would be kept, in registers
/// or in memory, while others are computed.
static bool isConversion(const Nest &nest, const LeafGraph &graph) {
  const NestMember &member = nest.members.front();
  auto isPlain = [](const ElementView &view) { return !view.isSplat() && view.terms.empty(); };
  return isa<arith::ExtFOp>(member.op) && !nest.contraction && !nest.last && llvm::all_of(member.reads, isPlain) &&
         llvm::all_of(member.writes, [&](const ElementView &view) {
           return isPlain(view) && graph.buffers[view.buffer].kind == Buffer::Kind::Scratch;
         });
}

/// The first nest after one that touches what it writes, or none.
static size_t firstUse(const LeafGraph &graph, size_t number) {
  size_t use = number + 1;
  while (use < graph.nests.size() && !conflicts(graph.nests[use], graph.nests[number]))
    ++use;
  return use;
}

static void sinkConversions(LeafGraph &graph) {
  for (int64_t i = int64_t(graph.nests.size()) - 2; i >= 0; --i) {
    if (!isConversion(graph.nests[i], graph))
      continue;
    auto from = graph.nests.begin() + i;
    std::rotate(from, from + 1, graph.nests.begin() + firstUse(graph, size_t(i)));
  }
}

/// After the last group that a nest depends on.
static unsigned behindDependences(ArrayRef<Nest> groups, const Nest &nest) {
  unsigned first = groups.size();
  while (first > 0 && !conflicts(groups[first - 1], nest))
    --first;
  return first;
}

namespace {
/// Puts nests one after the other into groups that are computed together.
class Groups {
public:
  explicit Groups(int64_t mostOps) : mostOps(mostOps) {}
  explicit Groups(const JoinedNests &joined) : joined(&joined) {}
  /// Fails, after an error, where the nest can't join what it is said to.
  LogicalResult add(Nest nest, const Nest *use);
  std::vector<Nest> groups;

private:
  bool joinOneOf(MutableArrayRef<Nest> some, const Nest &nest);
  void place(Nest nest);
  void placeForUse(Nest nest, const Nest &use);
  LogicalResult joinGiven(const Nest &nest, int64_t with);

  int64_t mostOps = 0;
  const JoinedNests *joined = nullptr;
};
} // namespace

bool Groups::joinOneOf(MutableArrayRef<Nest> some, const Nest &nest) {
  return !joined && llvm::any_of(some, [&](Nest &group) { return countOps(group) + countOps(nest) <= mostOps && tryJoin(group, nest); });
}

/// A nest goes up to the last group that it depends on, and into it or one after.
void Groups::place(Nest nest) {
  unsigned first = behindDependences(groups, nest);
  if (first > 0)
    --first;
  if (!joinOneOf(MutableArrayRef<Nest>(groups).drop_front(first), nest))
    groups.push_back(std::move(nest));
}

/// A conversion goes where the nest that uses it will: into the same group, or, where the two have different loops, in front
/// of that.
void Groups::placeForUse(Nest nest, const Nest &use) {
  unsigned first = behindDependences(groups, nest), ofUse = behindDependences(groups, use);
  first -= first > 0, ofUse -= ofUse > 0;
  MutableArrayRef<Nest> all(groups);
  if (nest.sizes == use.sizes) {
    if (!joinOneOf(all.drop_front(std::max(first, ofUse)), nest))
      groups.push_back(std::move(nest));
  } else if (first > ofUse || conflicts(groups[ofUse], nest)) {
    place(std::move(nest));
  } else if (!joinOneOf(all.slice(first, ofUse - first), nest)) {
    groups.insert(groups.begin() + ofUse, std::move(nest));
  }
}

LogicalResult Groups::joinGiven(const Nest &nest, int64_t with) {
  auto refuse = [&]() {
    return nest.members.front().op->emitError("its loop nest ") << nest.number << " can't be computed together with loop nest " << with << ": ";
  };
  auto group = llvm::find_if(groups, [&](const Nest &other) { return other.number == with; });
  if (group == groups.end())
    return refuse() << "that is none before it that says how it is computed";
  if (int64_t first = behindDependences(groups, nest); group - groups.begin() < first - 1)
    return refuse() << "it needs what loop nest " << groups[first - 1].number << " computes, after that one";
  if (!tryJoin(*group, nest))
    return refuse() << "their loops, or what they hand on, do not meet point by point";
  return success();
}

LogicalResult Groups::add(Nest nest, const Nest *use) {
  if (int64_t with = joined && nest.number >= 0 && size_t(nest.number) < joined->size() ? (*joined)[nest.number] : -1; with >= 0)
    return joinGiven(nest, with);
  if (use && !groups.empty())
    placeForUse(std::move(nest), *use);
  else
    place(std::move(nest));
  return success();
}

static LogicalResult fillGroups(LeafGraph &graph, Groups &groups) {
  sinkConversions(graph);
  for (auto [i, nest] : llvm::enumerate(graph.nests)) {
    size_t use = isConversion(nest, graph) ? firstUse(graph, i) : graph.nests.size();
    if (failed(groups.add(std::move(nest), use < graph.nests.size() ? &graph.nests[use] : nullptr)))
      return failure();
  }
  graph.nests = std::move(groups.groups);
  return success();
}

/// Scratch that every reader gets from a register needs no memory.
static void findMemory(LeafGraph &graph) {
  SmallVector<bool> read(graph.buffers.size());
  for (const Nest &nest : graph.nests) {
    if (nest.contraction && nest.contraction->panel >= 0)
      read[nest.contraction->panel] = true;
    SmallVector<ElementView> written;
    for (const NestMember &member : nest.members) {
      auto use = [&](const ElementView &view, bool pointwise) {
        for (const DynamicTerm &term : view.terms)
          read[term.buffer] = true;
        if (!view.isSplat() && !(pointwise && llvm::is_contained(written, view)))
          read[view.buffer] = true;
      };
      for (const ElementView &view : member.reads)
        use(view, !nest.contraction);
      for (const ElementView &view : member.inits)
        use(view, false);
      for (const auto &[value, view] : member.captured)
        use(view, false);
      for (const ElementView &view : member.writes)
        for (const DynamicTerm &term : view.terms) // where it is written depends on them
          read[term.buffer] = true;
      if (!member.isReduction())
        llvm::append_range(written, member.writes);
    }
  }
  for (auto [buffer, isRead] : llvm::zip_equal(graph.buffers, read))
    buffer.inMemory = isRead || buffer.kind != Buffer::Kind::Scratch;
}

void mlir::ft::leaf::fuseNests(LeafGraph &graph, int64_t mostOps) {
  Groups groups(mostOps);
  (void)fillGroups(graph, groups); // nothing is given
  findMemory(graph);
}

LogicalResult mlir::ft::leaf::joinNests(LeafGraph &graph, const JoinedNests &joined) {
  Groups groups(joined);
  if (failed(fillGroups(graph, groups)))
    return failure();
  findMemory(graph);
  return success();
}
