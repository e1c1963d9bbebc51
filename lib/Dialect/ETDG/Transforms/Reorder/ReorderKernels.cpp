//===- ReorderKernels.cpp - nests that share a wavefront ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest joins those before it where every dependence on them spans a bounded
// number of steps: its offset is the smallest that puts each of them at least one
// step apart, so that nothing inside a step waits. D layers of L steps then take
// L + D − 1 (a dilated RNN is D nests with t = k + l; docs/optimiser.md, Reordering).
//
//===----------------------------------------------------------------------===//
#include "ReorderKernels.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::reorder;
using ft::LengthAttr;

namespace {
class GroupBuilder {
public:
  GroupBuilder(DependenceAnalysis &analysis, const TypicalLengths &lengths)
      : analysis(analysis), lengths(lengths) {}

  SmallVector<KernelGroup, 0> build(ArrayRef<Nest *> nests, SmallVectorImpl<GroupRefusal> &refusals);

private:
  struct Open {
    SmallVector<GroupMember> members;        // the last sequential one, and before
    SmallVector<GroupMember> pending;        // all parallel, after it
    llvm::DenseMap<Value, unsigned> writers; // which of them writes a buffer
    GroupMember &at(unsigned i) {
      return i < members.size() ? members[i] : pending[i - members.size()];
    }
    unsigned size() const { return members.size() + pending.size(); }
  };
  void append(Open &open, GroupMember member, bool isSequential);
  /// The members that the nest reads from.
  SmallVector<unsigned> getProducers(Open &open, Nest &nest);
  /// The smallest offset; none, with the reason, where there is no good one.
  std::optional<int64_t> getOffset(Open &open, Nest &nest, const Order &order,
                                   ArrayRef<unsigned> producers, GroupRefusal &refusal);
  std::optional<Order> getOrderOfProducer(Open &open, Nest &nest, ArrayRef<unsigned> producers);
  std::optional<KernelGroup> finish(Open &open);

  DependenceAnalysis &analysis;
  const TypicalLengths &lengths;
};
} // namespace

void GroupBuilder::append(Open &open, GroupMember member, bool isSequential) {
  unsigned index = open.size();
  for (BlockOp block : member.nest->blocks)
    for (auto &[buffer, writes] : analysis.getUnit(block).writes)
      open.writers[buffer] = index;
  open.pending.push_back(std::move(member));
  if (isSequential) {
    open.members.append(open.pending);
    open.pending.clear();
  }
}

SmallVector<unsigned> GroupBuilder::getProducers(Open &open, Nest &nest) {
  SmallVector<unsigned> producers;
  for (BlockOp block : nest.blocks)
    for (auto &[buffer, reads] : analysis.getUnit(block).reads)
      if (auto it = open.writers.find(buffer); it != open.writers.end())
        producers.push_back(it->second);
  llvm::sort(producers);
  producers.erase(llvm::unique(producers), producers.end());
  return producers;
}

/// Steps of the row over all the nest's dimensions, at the first one.
static LengthAttr getBegin(const Nest &nest, ArrayRef<int64_t> row, int64_t offset) {
  LengthAttr begin = LengthAttr::get(nest.op->getContext(), offset);
  for (auto [d, c] : llvm::enumerate(row)) {
    if (c == 0 || !begin)
      continue;
    const OuterRange &range = nest.ranges[d];
    LengthAttr last = range.getEnd();
    LengthAttr end = c > 0 ? range.getBegin() : last ? last - 1 : LengthAttr();
    LengthAttr term = end ? end * LengthAttr::get(nest.op->getContext(), c) : LengthAttr();
    begin = term ? begin + term : LengthAttr();
  }
  return begin;
}

/// How many steps the sink's row is ahead of the source's, least of all pairs.
static std::optional<DistanceRange> getSpan(DependenceAnalysis &analysis,
                                            const Dependence &dependence,
                                            ArrayRef<int64_t> sourceRow,
                                            ArrayRef<int64_t> sinkRow) {
  if (dependence.fromMaps && sourceRow == sinkRow) {
    int64_t sum = 0;
    bool fits = true;
    for (auto [c, range] : llvm::zip(sinkRow, dependence.distance)) {
      int64_t product;
      fits &= !llvm::MulOverflow(c, *range.low, product) && !llvm::AddOverflow(sum, product, sum);
    }
    if (fits)
      return DistanceRange::constant(sum);
  }
  FailureOr<DependenceAnalysis::PairSet> pairs = analysis.getPairs(dependence);
  if (failed(pairs))
    return std::nullopt;
  BlockOp source = dependence.source;
  unsigned numAncestors = source.getNumAncestors();
  LinearExpr span;
  for (auto [d, c] : llvm::enumerate(sinkRow))
    span.add(pairs->sink + numAncestors + d, c);
  for (auto [d, c] : llvm::enumerate(sourceRow))
    span.add(numAncestors + d, -c);
  return DependenceAnalysis::getRange(pairs->builder, span);
}

std::optional<int64_t> GroupBuilder::getOffset(Open &open, Nest &nest, const Order &order,
                                               ArrayRef<unsigned> producers, GroupRefusal &refusal) {
  ArrayRef<int64_t> row = order.rows.getRow(0);
  if (producers.empty()) {
    // Nothing in common: together only if they take the same steps.
    GroupMember &first = open.at(0);
    LengthAttr steps = nest.getSteps(row), begin = getBegin(nest, row, 0);
    ArrayRef<int64_t> firstRow = first.order.rows.getRow(0);
    if (steps && begin && steps == first.nest->getSteps(firstRow) &&
        begin == getBegin(*first.nest, firstRow, first.offset))
      return 0;
    refusal.reason = "they share no buffer and take different steps";
    return std::nullopt;
  }
  std::optional<int64_t> offset;
  bool isBounded = false;
  for (unsigned index : producers) {
    GroupMember &producer = open.at(index);
    auto between = analysis.getBetween(producer.nest->blocks, nest.blocks);
    if (failed(between)) {
      refusal.reason = "a set or map is not quasi-affine";
      return std::nullopt;
    }
    for (const Dependence &dependence : *between) {
      auto span = getSpan(analysis, dependence, producer.order.rows.getRow(0), row);
      int64_t needed;
      if (!span || !span->low || llvm::SubOverflow(producer.offset + 1, *span->low, needed)) {
        refusal.reason = "a dependence spans no bounded number of steps";
        refusal.culprit = dependence;
        return std::nullopt;
      }
      isBounded |= span->high.has_value();
      offset = offset ? std::max(*offset, needed) : needed;
    }
  }
  if (!offset || !isBounded) {
    refusal.reason = "the steps of one have nothing to do with those of the other";
    return std::nullopt;
  }
  return offset;
}

/// For a nest that can take the steps of what it reads: one without dependences of its
/// own that has the same dimensions at a constant distance, or one whose dependences these
/// steps carry as well (a fold of each row beside a grid).
std::optional<Order> GroupBuilder::getOrderOfProducer(Open &open, Nest &nest,
                                                    ArrayRef<unsigned> producers) {
  GroupMember &producer = open.at(producers.front());
  if (producer.nest->numOwn != nest.numOwn)
    return std::nullopt;
  auto between = analysis.getBetween(producer.nest->blocks, nest.blocks);
  if (failed(between) || between->empty())
    return std::nullopt;
  Order order = producer.order;
  for (unsigned r = 0; r < nest.numOwn; ++r)
    order.parallel[r] = r > 0;
  if (nest.isSequential()) {
    for (const Dependence &dependence : nest.carried) {
      FailureOr<bool> kept = isKept(analysis, dependence, order.getLoops());
      if (failed(kept) || !*kept)
        return std::nullopt;
    }
    return order;
  }
  for (const Dependence &dependence : *between)
    if (!dependence.fromMaps)
      return std::nullopt;
  return order;
}

std::optional<KernelGroup> GroupBuilder::finish(Open &open) {
  if (open.members.size() < 2)
    return std::nullopt;
  KernelGroup group;
  MLIRContext *context = open.members.front().nest->op->getContext();
  group.stepsBefore = LengthAttr::get(context, 0);
  LengthAttr begin, end;
  int64_t typicalBegin = 0, typicalEnd = 0;
  bool first = true, known = true;
  // The smaller or larger of two, where the graph's facts say which.
  auto pick = [&](LengthAttr a, LengthAttr b, bool larger) -> LengthAttr {
    if (!a || !b || (!isAtLeast(a, b, analysis.getSpace()) && !isAtLeast(b, a, analysis.getSpace()))) {
      known = false;
      return a;
    }
    return isAtLeast(a, b, analysis.getSpace()) == larger ? a : b;
  };
  for (GroupMember &member : open.members) {
    ArrayRef<int64_t> row = member.order.rows.getRow(0);
    LengthAttr steps = member.nest->getSteps(row),
               from = getBegin(*member.nest, row, member.offset);
    int64_t typical = member.nest->getTypicalSteps(row);
    // What is all parallel takes one step by itself, what took its producer's steps its own.
    const Nest &nest = *member.nest;
    if (nest.isSequential()) {
      const Order &own = nest.wavefront ? *nest.wavefront : nest.candidates.front();
      group.typicalBefore += nest.getTypicalSteps(own);
      LengthAttr alone = nest.getSteps(own);
      group.stepsBefore = group.stepsBefore && alone ? group.stepsBefore + alone : LengthAttr();
    } else {
      group.typicalBefore += 1;
      group.stepsBefore = group.stepsBefore ? group.stepsBefore + 1 : LengthAttr();
    }
    int64_t typicalFrom =
        from ? from.evaluate([&](StringAttr name) { return std::optional(lengths.get(name)); })
                   .value_or(member.offset)
             : member.offset;
    LengthAttr to = steps && from ? from + steps : LengthAttr();
    if (first) {
      begin = from;
      end = to;
      typicalBegin = typicalFrom;
      typicalEnd = typicalFrom + typical;
    } else {
      begin = pick(begin, from, false);
      end = pick(end, to, true);
      typicalBegin = std::min(typicalBegin, typicalFrom);
      typicalEnd = std::max(typicalEnd, typicalFrom + typical);
    }
    first = false;
  }
  if (known && begin && end)
    group.stepsAfter = end - begin;
  group.typicalAfter = typicalEnd - typicalBegin;
  if (group.typicalAfter >= group.typicalBefore)
    return std::nullopt;
  group.members = open.members;
  return group;
}

SmallVector<KernelGroup, 0> GroupBuilder::build(ArrayRef<Nest *> nests,
                                          SmallVectorImpl<GroupRefusal> &refusals) {
  SmallVector<KernelGroup, 0> groups;
  Open open;
  auto close = [&]() {
    if (std::optional<KernelGroup> group = finish(open))
      groups.push_back(std::move(*group));
    open = Open();
  };
  for (Nest *nest : nests) {
    if (!nest) {
      close();
      continue;
    }
    if (open.size() == 0) {
      if (nest->wavefront)
        append(open, {nest, *nest->wavefront, 0}, true);
      continue;
    }
    SmallVector<unsigned> producers = getProducers(open, *nest);
    if (!nest->wavefront) {
      // What needs nothing of the others can run before all of them.
      if (producers.empty())
        continue;
      std::optional<Order> order;
      if (!nest->isRefused() && nest->numOwn > 0) {
        if (nest->ranges.empty()) {
          nest->ranges = getOuterRanges(nest->blocks, analysis.getSpace());
          nest->extents = getTypicalExtents(nest->ranges, lengths);
        }
        order = getOrderOfProducer(open, *nest, producers);
      }
      GroupRefusal unused;
      auto offset = order ? getOffset(open, *nest, *order, producers, unused) : std::nullopt;
      if (!offset)
        close();
      else
        append(open, {nest, *order, *offset}, nest->isSequential());
      continue;
    }
    GroupRefusal refusal{open.members.back().nest, nest, "", std::nullopt};
    Order order = *nest->wavefront;
    std::optional<int64_t> offset = getOffset(open, *nest, order, producers, refusal);
    if (!offset && !producers.empty())
      if (std::optional<Order> other = getOrderOfProducer(open, *nest, producers)) {
        GroupRefusal unused;
        order = *other;
        offset = getOffset(open, *nest, order, producers, unused);
      }
    if (!offset) {
      if (!producers.empty()) {
        refusal.before = open.at(producers.back()).nest;
        refusals.push_back(refusal);
      }
      close();
      append(open, {nest, *nest->wavefront, 0}, true);
      continue;
    }
    append(open, {nest, order, *offset}, true);
  }
  close();
  return groups;
}

SmallVector<KernelGroup, 0> reorder::findGroups(ArrayRef<Nest *> nests, DependenceAnalysis &analysis,
                                          const TypicalLengths &lengths,
                                          SmallVectorImpl<GroupRefusal> &refusals) {
  return GroupBuilder(analysis, lengths).build(nests, refusals);
}

KernelOp reorder::formKernel(const KernelGroup &group) {
  Operation *first = group.members.front().nest->op, *last = group.members.back().nest->op;
  OpBuilder builder(first);
  auto kernel = KernelOp::create(builder, first->getLoc(), 1);
  Block *body =
      kernel.getBody().empty() ? builder.createBlock(&kernel.getBody()) : &kernel.getBody().front();
  llvm::SmallPtrSet<Operation *, 8> members;
  for (const GroupMember &member : group.members)
    members.insert(member.nest->op);
  for (Operation *op = first; op;) {
    Operation *next = op == last ? nullptr : op->getNextNode();
    if (members.contains(op))
      op->moveBefore(body, body->end());
    else
      op->moveBefore(kernel);
    op = next;
  }
  return kernel;
}
