//===- HoistPlan.cpp - where a value is computed once, and whether --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The points at which the readers need it, as domains that the dialect can state;
// then seconds before and after, at typical lengths.
//
//===----------------------------------------------------------------------===//
#include "HoistPlan.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::hoist;
using ft::LengthAttr;

/// Of the time that the blocks take which need a value, what saving must be worth at least: less is within the error of estimates, and each
/// value is a buffer and a block more.
static constexpr double minShare = 0.01;

static unsigned getNumDimsOf(Block &body) {
  auto block = dyn_cast<BlockOp>(body.getParentOp());
  return block ? block.getNumDims() : 0;
}

GroupPlan::GroupPlan(Context &context, const HoistGroup &group, Block &body)
    : context(context), group(group), body(body), leaf(group.members.front().leaf),
      first(group.members.front()), outerDims(getNumDimsOf(body)), numDims(leaf.getNumDims()) {}

bool GroupPlan::refuse(StringRef why, std::string what) {
  rule = why.str();
  reason = std::move(what);
  return false;
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

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

bool GroupPlan::project() {
  for (const Repeat &member : group.members) {
    BlockOp reader = member.leaf;
    Domain inner, ignored;
    addDomains(reader, body, context.names, inner, &member == &first ? outer : ignored);
    Domain part = inner;
    for (unsigned d = outerDims; d < numDims; ++d)
      if (!first.dims.test(d) && !part.project(d))
        return refuse("domain", "the iterations of " + describeBlock(reader) + " without '" +
                                    reader.getDimNames()[d].getValue().str() +
                                    "' are no set that inequalities give exactly");
    whole.push_back(std::move(inner));
    parts.push_back(std::move(part));
  }
  names = context.names.list.symbols;
  return true;
}

/// d = e in the domain, e over symbols alone: e, or null.
static AffineExpr getOnlyValue(const Domain &domain, unsigned d, unsigned numDims,
                               unsigned numSymbols, MLIRContext *context) {
  AffineExpr dim = getAffineDimExpr(d, context), zero = getAffineConstantExpr(0, context);
  for (const LinearForm &form : domain.getForms())
    for (const LinearForm &other : domain.getForms()) {
      if (form.coefficient(dim) != 1 || other.coefficient(dim) != -1)
        continue;
      AffineExpr x = form.toExpr(context), y = other.toExpr(context);
      AffineExpr value = x.replace(dim, zero) * -1;
      if (canonicalizeExpr(x + y, numDims, numSymbols) == zero && value.isSymbolicOrConstant())
        return value;
    }
  return {};
}

bool GroupPlan::place() {
  MLIRContext *mlir = leaf.getContext();
  DomainSolver solver(context.space, context.lengths, names, numDims, mlir);
  std::optional<SmallVector<Domain>> sets = solver.unite(parts, outer);
  if (!sets)
    return refuse(
        "domain",
        llvm::formatv("what its {0} readers need is neither one convex set nor disjoint ones",
                      group.members.size())
            .str());
  united = std::move(*sets);
  placement.replacement.assign(numDims, getAffineConstantExpr(0, mlir));
  for (unsigned d = 0; d < outerDims; ++d)
    placement.replacement[d] = getAffineDimExpr(d, mlir);
  for (unsigned d = outerDims; d < numDims; ++d) {
    if (!first.dims.test(d)) {
      repeated.push_back(d);
      continue;
    }
    // A dimension with one value is none of the new block.
    AffineExpr value;
    if (united.size() == 1)
      value = getOnlyValue(united.front(), d, numDims, names.size(), mlir);
    if (value) {
      placement.replacement[d] = value;
      continue;
    }
    LengthAttr length = solver.getLength(united, d, outer);
    if (!length)
      return refuse("length", "no length bounds dimension '" +
                                  leaf.getDimNames()[d].getValue().str() +
                                  "' from 0 up whatever the blocks around are at");
    placement.replacement[d] = getAffineDimExpr(outerDims + placement.dims.size(), mlir);
    placement.dims.push_back(d);
    placement.lengths.push_back(length);
  }
  for (const Domain &domain : united)
    placement.domains.push_back(
        solver.toSet(domain, placement.replacement, outerDims + placement.dims.size()));
  return true;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

static Work scale(Work work, double by) {
  return {work.product * by, work.elementwise * by, work.elementary * by};
}

/// Typically, in one run of the body; only of `dims`, where they are given.
double GroupPlan::countPoints(DomainSolver &solver, const Domain &domain,
                              const llvm::SmallBitVector *dims, unsigned end) {
  double points = 1;
  for (unsigned d = outerDims; d < end; ++d)
    if (!dims || dims->test(d))
      points *= solver.getTypicalExtent(domain, d);
  return points;
}

void GroupPlan::countBefore() {
  DomainSolver solver(context.space, context.lengths, names, numDims, leaf.getContext());
  for (unsigned d = 0; d < outerDims; ++d)
    around *= solver.getTypicalExtent(outer, d);
  for (auto [member, domain] : llvm::zip_equal(group.members, whole)) {
    double points = countPoints(solver, domain, nullptr, numDims);
    readers += points;
    old += scale(member.saved, points);
  }
  const ft::Machine &machine = context.settings.machine;
  before = old.seconds(machine) / machine.units;
}

bool GroupPlan::isTooMuch(double then) {
  if (context.settings.all || then < before)
    return false;
  refuse("cost", llvm::formatv("it would take {0:E1} s in place of {1:E1} s at typical lengths",
                               then * around, before * around)
                     .str());
  return true;
}

/// Of one more block.
double GroupPlan::getOverhead() const {
  const ft::Machine &machine = context.settings.machine;
  return isa<BlockOp>(body.getParentOp()) ? machine.sync.leafCall : machine.sync.launch;
}

/// Arithmetic of all that the readers' items do.
double GroupPlan::getReadersSeconds() {
  const ft::Machine &machine = context.settings.machine;
  llvm::SmallSetVector<Operation *, 4> items;
  for (const Repeat &member : group.members)
    items.insert(member.item);
  double seconds = 0;
  for (Operation *item : items)
    item->walk([&](BlockOp block) {
      if (!block.isLeaf())
        return;
      Domain inner, ignored;
      addDomains(block, body, context.names, inner, ignored);
      Work work;
      for (Operation &op : block.getBody().front())
        work += getWork(&op);
      SmallVector<StringAttr> all = context.names.list.symbols;
      DomainSolver solver(context.space, context.lengths, all, block.getNumDims(),
                          block.getContext());
      seconds += work.seconds(machine) / machine.units *
                 countPoints(solver, inner, nullptr, block.getNumDims());
    });
  return seconds;
}

/// A region of some reader's nest, in which loops run in order, that does not need the value; or
/// null.
BlockOp GroupPlan::findOtherRegion() const {
  for (const Repeat &member : group.members) {
    auto nest = dyn_cast<NestOp>(member.item);
    if (!nest)
      continue;
    for (BlockOp region : nest.getBody().getOps<BlockOp>()) {
      bool ordered = false;
      for (unsigned d = 0; d < region.getNumOwnDims(); ++d)
        ordered |= region.getOperator(d) != ft::OperatorKind::Map;
      if (ordered && llvm::none_of(group.members, [&](const Repeat &other) {
            return region->isAncestor(other.leaf);
          }))
        return region;
    }
  }
  return {};
}

bool GroupPlan::isWorthIt() {
  // A step of a wavefront takes as long as the longest of its regions, where all run at once.
  if (context.settings.isWide() && !context.settings.all)
    if (BlockOp other = findOtherRegion())
      return refuse("cost", describeBlock(other) +
                                " does not need it, and runs beside its readers: their "
                                "steps would take no less time");
  const ft::Machine &machine = context.settings.machine;
  MLIRContext *mlir = leaf.getContext();
  DomainSolver solver(context.space, context.lengths, names, numDims, mlir);
  double times = 0;
  for (const Domain &domain : united)
    times += countPoints(solver, domain, &first.dims, numDims);
  Work now = scale(first.work, times);
  double elements = first.getType().getNumElements();
  if (first.split)
    now += Work{0, elements * readers, 0};
  double size = elements * std::max(8u, first.getType().getElementTypeBitWidth()) / 8;
  bytes = LengthAttr::get(mlir, static_cast<int64_t>(size));
  // Written once, read by each.
  double moved = (times + readers) * size;
  for (LengthAttr length : placement.lengths) {
    size *= context.lengths.evaluate(length);
    bytes = bytes ? bytes * length : bytes;
  }
  after =
      (now.seconds(machine) + moved / machine.levelFor(size).rateOfUnit(machine.units)) / machine.units +
      united.size() * getOverhead();
  operations = old.count() * around;
  operationsAfter = now.count() * around;
  seconds = before * around;
  secondsAfter = after * around;
  if (isTooMuch(after))
    return false;
  // A block more is not worth less than what one would notice.
  double all = context.settings.all ? 0 : getReadersSeconds();
  if (before - after < minShare * all && !context.settings.all)
    return refuse("cost", llvm::formatv("it is {0:P1} of the work of the blocks that need it",
                                        (before - after) / all)
                              .str());
  return true;
}

bool GroupPlan::make() {
  if (!project())
    return false;
  countBefore();
  // What costs less than a block needs no sets.
  if (isTooMuch(getOverhead()))
    return false;
  return place() && isWorthIt();
}
