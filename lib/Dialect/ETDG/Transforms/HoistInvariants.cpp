//===- HoistInvariants.cpp - work that repeats is done once ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In each body of blocks, outermost first: values that leaves below it compute
// anew along dimensions that they do not depend on get blocks of their own, in
// front of what needs them, where that takes less time at typical lengths.
//
//===----------------------------------------------------------------------===//
#include "HoistInvariants.h"
#include "AccessFusion.h"
#include "HoistDomain.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGHOISTINVARIANTS
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::hoist;
using ft::LengthAttr;

/// Each round takes one value out of a leaf; a body has few.
static constexpr unsigned maxRounds = 64;

/// Of the time that the blocks take which need a value, what saving must be worth at least.
static constexpr double minShare = 0.01;

namespace {
class Hoister {
public:
  Hoister(GraphOp graph, const Settings &settings)
      : graph(graph), settings(settings), machine(settings.machine), space(graph), lengths(graph) {}
  void run();

private:
  /// Returns whether anything was moved.
  bool runRound(Block &body);
  SmallVector<Group> collect(CandidateFinder &finder, Block &body);
  bool tryGroup(Group &group, Block &body);
  void refuse(const Repeat &repeat, StringRef rule, const Twine &reason);
  void explain(ArrayRef<Refusal> refusals, Block &body);

  GraphOp graph;
  const Settings &settings;
  const ft::CpuMachine &machine;
  SymbolSpace space;
  TypicalLengths lengths;
  CommonNames names;
  bool copies = false;
  llvm::StringMap<unsigned> numNamed;
  SmallVector<Refusal> refusals;
};
} // namespace

/// The leaf's domain between the body and the leaf, and around the body.
static void addDomains(BlockOp leaf, Block &body, CommonNames &names, Domain &inner,
                       Domain &outer) {
  for (BlockOp block = leaf; block; block = block.getParentBlock()) {
    IntegerSet set = block.getDomainSet();
    if (isUniverse(set))
      continue;
    bool isInner = body.getParentOp()->isProperAncestor(block);
    for (unsigned i = 0; i < set.getNumConstraints(); ++i)
      (isInner ? inner : outer).add(names.import(set.getConstraint(i), block), set.isEq(i));
  }
}

static std::string list(BlockOp leaf, ArrayRef<unsigned> dims) {
  std::string text;
  for (unsigned d : dims)
    text += (text.empty() ? "'" : ", '") + leaf.getDimNames()[d].getValue().str() + "'";
  return text;
}

void Hoister::refuse(const Repeat &repeat, StringRef rule, const Twine &reason) {
  refusals.push_back({repeat.getOp(), repeat.leaf, rule.str(), reason.str()});
}

//===----------------------------------------------------------------------===//
// One group
//===----------------------------------------------------------------------===//

bool Hoister::tryGroup(Group &group, Block &body) {
  const Repeat &first = group.members.front();
  BlockOp leaf = first.leaf;
  MLIRContext *context = graph.getContext();
  auto parent = dyn_cast<BlockOp>(body.getParentOp());
  unsigned outerDims = parent ? parent.getNumDims() : 0, numDims = leaf.getNumDims();

  // Domains, whole and without what the value does not depend on.
  Domain outer;
  SmallVector<Domain> whole, parts;
  for (Repeat &member : group.members) {
    Domain inner, ignored;
    addDomains(member.leaf, body, names, inner, &member == &first ? outer : ignored);
    Domain part = inner;
    for (unsigned d = outerDims; d < numDims; ++d)
      if (!first.dims.test(d) && !part.project(d)) {
        refuse(first, "domain",
               "the iterations of " + describeBlock(member.leaf) + " without '" +
                   member.leaf.getDimNames()[d].getValue() +
                   "' are no set that inequalities give exactly");
        return false;
      }
    whole.push_back(std::move(inner));
    parts.push_back(std::move(part));
  }
  SmallVector<StringAttr> all = names.list.symbols;
  DomainSolver solver(space, lengths, all, numDims, context);
  // Seconds of one run of the body before and after, at typical lengths.
  auto count = [&](const Domain &domain, bool projected) {
    double points = 1;
    for (unsigned d = outerDims; d < numDims; ++d)
      if (!projected || first.dims.test(d))
        points *= solver.getTypicalExtent(domain, d);
    return points;
  };
  auto scale = [](Work work, double by) {
    return Work{work.product * by, work.elementwise * by, work.elementary * by};
  };
  double around = 1, readers = 0;
  for (unsigned d = 0; d < outerDims; ++d)
    around *= solver.getTypicalExtent(outer, d);
  Work old;
  for (auto [member, domain] : llvm::zip_equal(group.members, whole)) {
    double points = count(domain, /*projected=*/false);
    readers += points;
    old += scale(member.saved, points);
  }
  double before = old.seconds(machine) / machine.cores;
  double overhead = parent ? machine.leafCallSeconds : machine.launchSeconds;
  auto isTooMuch = [&](double after) {
    if (settings.all || after < before)
      return false;
    refuse(first, "cost",
           llvm::formatv("it would take {0:E1} s in place of {1:E1} s at typical lengths",
                         after * around, before * around)
               .str());
    return true;
  };
  if (isTooMuch(overhead))
    return false;

  std::optional<SmallVector<Domain>> united = solver.unite(parts, outer);
  if (!united) {
    refuse(first, "domain",
           "what its " + Twine(group.members.size()) +
               " readers need is neither one convex set nor disjoint ones");
    return false;
  }

  // Dimensions with one value are no dimensions of the new block.
  Placement placement;
  placement.replacement.assign(numDims, getAffineConstantExpr(0, context));
  for (unsigned d = 0; d < outerDims; ++d)
    placement.replacement[d] = getAffineDimExpr(d, context);
  SmallVector<unsigned> repeated;
  for (unsigned d = outerDims; d < numDims; ++d) {
    if (!first.dims.test(d)) {
      repeated.push_back(d);
      continue;
    }
    AffineExpr value, dim = getAffineDimExpr(d, context);
    if (united->size() == 1)
      for (const LinearForm &form : united->front().getForms())
        for (const LinearForm &other : united->front().getForms()) {
          AffineExpr x = form.toExpr(context), y = other.toExpr(context);
          if (form.coefficient(dim) != 1 || other.coefficient(dim) != -1 ||
              form.getLastDim() != static_cast<int>(d) ||
              canonicalizeExpr(x + y, numDims, all.size()) != getAffineConstantExpr(0, context))
            continue;
          AffineExpr rest = x.replace(dim, getAffineConstantExpr(0, context)) * -1;
          if (rest.isSymbolicOrConstant())
            value = rest;
        }
    if (value) {
      placement.replacement[d] = value;
      continue;
    }
    LengthAttr length = solver.getLength(*united, d, outer);
    if (!length) {
      refuse(first, "length",
             "no length bounds dimension '" + leaf.getDimNames()[d].getValue() +
                 "' from 0 up whatever the blocks around are at");
      return false;
    }
    placement.replacement[d] = getAffineDimExpr(outerDims + placement.dims.size(), context);
    placement.dims.push_back(d);
    placement.lengths.push_back(length);
  }
  for (const Domain &domain : *united)
    placement.domains.push_back(
        solver.toSet(domain, placement.replacement, outerDims + placement.dims.size()));

  double times = 0;
  for (const Domain &domain : *united)
    times += count(domain, /*projected=*/true);
  Work now = scale(first.work, times);
  double elements = first.getType().getNumElements();
  double width = std::max(8u, first.getType().getElementTypeBitWidth()) / 8.0;
  if (first.split)
    now += Work{0, elements * readers, 0};
  LengthAttr bytes = LengthAttr::get(context, static_cast<int64_t>(elements * width));
  double size = elements * width;
  for (LengthAttr length : placement.lengths) {
    size *= lengths.evaluate(length);
    bytes = bytes ? bytes * length : bytes;
  }
  // Written once, read by each.
  double moved = (times + readers) * elements * width;
  double after =
      (now.seconds(machine) + moved / machine.levelFor(size).bytesPerSecond) / machine.cores +
      placement.domains.size() * overhead;
  if (isTooMuch(after))
    return false;
  // A block more is not worth less than what one would notice.
  double total = 0;
  llvm::SmallSetVector<Operation *, 4> items;
  for (const Repeat &member : group.members)
    items.insert(member.item);
  for (Operation *item : items)
    item->walk([&](BlockOp block) {
      if (!block.isLeaf())
        return;
      Domain inner, ignored;
      addDomains(block, body, names, inner, ignored);
      Work work;
      for (Operation &op : block.getBody().front())
        work += getWork(&op);
      SmallVector<StringAttr> known = names.list.symbols;
      DomainSolver own(space, lengths, known, block.getNumDims(), context);
      double points = 1;
      for (unsigned d = outerDims; d < block.getNumDims(); ++d)
        points *= own.getTypicalExtent(inner, d);
      total += work.seconds(machine) / machine.cores * points;
    });
  if (!settings.all && before - after < minShare * total) {
    refuse(first, "cost",
           llvm::formatv("it is {0:P1} of the work of the blocks that need it",
                         total > 0 ? (before - after) / total : 0)
               .str());
    return false;
  }

  Location loc = first.getOp()->getLoc();
  std::string what = first.getOp()->getName().getStringRef().str();
  std::string along = list(leaf, repeated);
  bool rounds = first.split && isa<FloatType>(first.getType().getElementType());
  unsigned numReaders = group.members.size();
  StringRef name = leaf.getBlockName().value_or("");
  placement.name = name.empty() ? "once" : (name + "_once").str();
  if (unsigned number = numNamed[placement.name]++)
    placement.name += std::to_string(number + 1);
  copies |= rewrite(group, placement, body, names);
  auto remark = remark::passed(loc, remark::RemarkOpts::name("hoist").category("coarsen"));
  if (remark) {
    remark << remark::reason("{0} is computed once, not along {1}{2}", what, along,
                             rounds ? "; added later, it is rounded in another order" : "")
           << remark::metric("operations", static_cast<int64_t>(old.count() * around))
           << remark::metric("operations-after", static_cast<int64_t>(now.count() * around))
           << remark::metric("blocks", static_cast<unsigned>(placement.domains.size()))
           << remark::metric("readers", numReaders);
    if (bytes)
      remark << remark::metric("bytes", bytes.str());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Values that are the same for several leaves of a body, those of few dimensions first.
SmallVector<Group> Hoister::collect(CandidateFinder &finder, Block &body) {
  SmallVector<BlockOp> leaves;
  body.getParentOp()->walk([&](BlockOp block) {
    if (block.isLeaf() && block.getOperation() != body.getParentOp())
      leaves.push_back(block);
  });
  SmallVector<Repeat> repeats;
  for (BlockOp leaf : leaves)
    llvm::append_range(repeats, finder.find(leaf));
  if (repeats.empty())
    return {};
  // Leaves with the fewest fixed dimensions first: their maps hold for the others, too. Those in
  // which nothing repeats join them.
  llvm::DenseMap<Operation *, unsigned> numPins;
  for (const Repeat &repeat : repeats) {
    auto [it, isNew] = numPins.try_emplace(repeat.leaf);
    if (isNew)
      it->second = llvm::count_if(getPins(repeat.leaf, names),
                                  [](AffineExpr e) { return !isa<AffineDimExpr>(e); });
  }
  SmallVector<std::tuple<bool, unsigned, unsigned>> order;
  for (auto [i, repeat] : llvm::enumerate(repeats))
    order.push_back({repeat.follows, numPins[repeat.leaf], i});
  llvm::sort(order);
  // By what surely agrees; few in a bucket are no partners.
  llvm::MapVector<Value, SmallVector<Group>> buckets;
  for (auto [follows, pins, number] : order) {
    Repeat &repeat = repeats[number];
    Value source;
    for (unsigned read : repeat.reads)
      for (PieceAttr piece : repeat.leaf.getRead(read).getPieces())
        if (!source && piece.getKind() == SourceKind::Buffer)
          source = repeat.leaf.getBuffers()[piece.getOperand()];
    SmallVector<Group> &groups = buckets[source];
    auto joins = [&](Group &group) {
      const Repeat &first = group.members.front();
      // Before the first of the readers, all that is read must be there.
      for (const Repeat &member : group.members) {
        if (member.leaf == repeat.leaf)
          return false;
        if (repeat.writer && member.item != repeat.item &&
            !repeat.writer->isBeforeInBlock(member.item))
          return false;
        if (member.writer && member.item != repeat.item &&
            !member.writer->isBeforeInBlock(repeat.item))
          return false;
      }
      return isSame(first, repeat, names);
    };
    auto *it = llvm::find_if(groups, joins);
    if (it == groups.end() && !follows)
      groups.push_back({{std::move(repeat)}});
    else if (it != groups.end())
      it->members.push_back(std::move(repeat));
  }
  SmallVector<std::tuple<unsigned, int, unsigned, Group *>> sorted;
  for (auto &[source, groups] : buckets)
    for (Group &group : groups) {
      const Repeat &first = group.members.front();
      sorted.push_back({first.dims.count(), -static_cast<int>(first.ops.size()),
                        static_cast<unsigned>(sorted.size()), &group});
    }
  llvm::sort(sorted);
  SmallVector<Group> all;
  for (auto &[dims, size, number, group] : sorted)
    all.push_back(std::move(*group));
  return all;
}

bool Hoister::runRound(Block &body) {
  CandidateFinder finder(body, space, settings);
  refusals.clear();
  SmallVector<Group> groups = collect(finder, body);
  llvm::SmallDenseSet<Operation *> touched;
  bool changed = false;
  for (Group &group : groups) {
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

void Hoister::explain(ArrayRef<Refusal> all, Block &body) {
  auto parent = dyn_cast<BlockOp>(body.getParentOp());
  unsigned outerDims = parent ? parent.getNumDims() : 0;
  for (const Refusal &refusal : all) {
    // What is private to a block inside is asked there again.
    bool isInnermost = BlockOp(refusal.leaf).getNumAncestors() == outerDims;
    if (!isInnermost && (refusal.rule == "dependence" || refusal.rule == "skew"))
      continue;
    std::string reason = refusal.reason;
    if (refusal.rule == "dependence")
      reason = "what it needs is made by iterations of the same blocks";
    else if (refusal.rule == "skew")
      reason = "it repeats along " + refusal.reason + ", which is no dimension";
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
    ft::CpuMachine model = ft::CpuMachine::builtin();
    if (!machine.empty()) {
      llvm::Expected<ft::CpuMachine> loaded = ft::CpuMachine::load(machine);
      if (!loaded) {
        emitError(getOperation().getLoc()) << llvm::toString(loaded.takeError());
        return signalPassFailure();
      }
      model = std::move(*loaded);
    }
    Hoister(getOperation(), Settings{model, narrow, all}).run();
  }
};
} // namespace
