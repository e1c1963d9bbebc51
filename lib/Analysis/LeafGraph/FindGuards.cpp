//===- FindGuards.cpp - Nests that a condition makes superfluous ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `select(going, new, old)` looks at `new` where `going` holds. Nests of which all results are
// only looked at under one value of a flag have it as their guard: engines leave them out where
// the flag has the other value. So a loop that has ended costs copies of its states and no products.
// Which nests are left out is written in the loops, and checked before it is obeyed.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/LeafGraph/LeafGraph.h"

using namespace mlir;
using namespace mlir::ft::leaf;

namespace {
class GuardFinder {
public:
  GuardFinder(LeafGraph &graph, Guard guard) : graph(graph), guard(guard) {}

  /// The nests that the guard makes superfluous.
  SmallVector<bool> find();

private:
  bool isFlag(const ElementView &view) const {
    return view.buffer == guard.buffer && view.offset == guard.offset && view.terms.empty();
  }
  /// 1 and -1: the flag or its opposite; 0: something else.
  int flagSign(Value value, const NestMember &member) const;
  /// Whether what `member` makes of the reads of `buffer` is looked at under the guard only.
  bool isGuardedIn(const NestMember &member, int buffer) const;
  bool isGuardedOp(const NestMember &member, int buffer) const;
  bool isGuardedBody(const NestMember &member, int buffer) const;
  bool areGuarded(ArrayRef<ElementView> writes) const {
    return llvm::all_of(writes, [&](const ElementView &view) { return !view.isSplat() && guarded[view.buffer]; });
  }

  LeafGraph &graph;
  Guard guard;
  SmallVector<bool> guarded, superfluous; // buffers, nests
};
} // namespace

/// Garbage must not be a place in a tensor. Arithmetic takes any number.
static bool mayTrap(Operation *op) { return op->getNumRegions() > 0 || isa<tensor::ExtractOp>(op); }

int GuardFinder::flagSign(Value value, const NestMember &member) const {
  if (auto flip = value.getDefiningOp<arith::XOrIOp>())
    for (auto [one, other] : {std::pair(flip.getLhs(), flip.getRhs()), std::pair(flip.getRhs(), flip.getLhs())}) {
      APInt constant;
      if (matchPattern(other, m_ConstantInt(&constant)) && constant.isOne())
        return -flagSign(one, member);
    }
  for (auto [argument, view] : llvm::zip(member.arguments, member.reads))
    if (argument == value && isFlag(view))
      return 1;
  for (const auto &[captured, view] : member.captured)
    if (captured == value && isFlag(view))
      return 1;
  return 0;
}

bool GuardFinder::isGuardedOp(const NestMember &member, int buffer) const {
  if (!member.copy && isa<arith::SelectOp>(member.op) && member.reads.size() == 3 && isFlag(member.reads[0])) {
    const ElementView &looked = member.reads[guard.when ? 2 : 1];
    if (looked.isSplat() || looked.buffer != buffer)
      return true;
  }
  return (member.copy || !mayTrap(member.op)) && areGuarded(member.writes);
}

bool GuardFinder::isGuardedBody(const NestMember &member, int buffer) const {
  llvm::SmallDenseSet<Value> garbage;
  for (auto [argument, view] : llvm::zip_equal(member.arguments, member.reads))
    if (!view.isSplat() && view.buffer == buffer)
      garbage.insert(argument);
  for (auto [accumulator, view] : llvm::zip_equal(member.accumulators, member.inits))
    if (!view.isSplat() && view.buffer == buffer)
      garbage.insert(accumulator);
  for (Operation &op : member.body->without_terminator()) {
    if (llvm::none_of(op.getOperands(), [&](Value v) { return garbage.contains(v); }))
      continue;
    if (mayTrap(&op))
      return false;
    if (auto select = dyn_cast<arith::SelectOp>(op); select && !garbage.contains(select.getCondition())) {
      int sign = flagSign(select.getCondition(), member);
      // What is looked at where the nests are left out.
      Value looked = (sign > 0) == guard.when ? select.getFalseValue() : select.getTrueValue();
      if (sign != 0 && !garbage.contains(looked))
        continue;
    }
    garbage.insert(op.result_begin(), op.result_end());
  }
  for (auto [yielded, write] : llvm::zip_equal(member.yields, member.writes))
    if (garbage.contains(yielded) && !areGuarded(write))
      return false;
  return true;
}

bool GuardFinder::isGuardedIn(const NestMember &member, int buffer) const {
  auto addresses = [&](const ElementView &view) {
    return llvm::any_of(view.terms, [&](const DynamicTerm &term) { return term.buffer == buffer; });
  };
  auto reads = [&](const ElementView &view) { return !view.isSplat() && view.buffer == buffer; };
  if (llvm::any_of(member.reads, addresses) || llvm::any_of(member.inits, addresses) || llvm::any_of(member.writes, addresses) ||
      llvm::any_of(member.captured, [&](const auto &pair) { return reads(pair.second) || addresses(pair.second); }))
    return false;
  if (llvm::none_of(member.reads, reads) && llvm::none_of(member.inits, reads))
    return true;
  return member.body ? isGuardedBody(member, buffer) : isGuardedOp(member, buffer);
}

SmallVector<bool> GuardFinder::find() {
  // The greatest solution: nothing is looked at until a reader says otherwise.
  for (const Buffer &buffer : graph.buffers)
    guarded.push_back(buffer.kind == Buffer::Kind::Scratch);
  superfluous.assign(graph.nests.size(), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [n, nest] : llvm::enumerate(graph.nests)) {
      if (superfluous[n] && !nest.last && llvm::all_of(nest.members, [&](const NestMember &m) { return areGuarded(m.writes); }))
        continue;
      changed |= superfluous[n];
      superfluous[n] = false;
      for (int buffer = 0; buffer < int(graph.buffers.size()); ++buffer)
        if (guarded[buffer] && !llvm::all_of(nest.members, [&](const NestMember &m) { return isGuardedIn(m, buffer); })) {
          guarded[buffer] = false;
          changed = true;
        }
    }
  }
  return superfluous;
}

/// Whether a buffer is an input of one i1.
static bool isFlag(const Buffer &buffer) {
  return buffer.kind == Buffer::Kind::Input && buffer.elementType.isInteger(1) && buffer.numElements == 1;
}

void mlir::ft::leaf::findGuards(LeafGraph &graph) {
  for (auto [number, buffer] : llvm::enumerate(graph.buffers)) {
    if (!isFlag(buffer))
      continue;
    for (bool when : {true, false}) {
      Guard guard{int(number), 0, when};
      SmallVector<bool> superfluous = GuardFinder(graph, guard).find();
      for (auto [nest, found] : llvm::zip_equal(graph.nests, superfluous))
        if (found && !nest.guard)
          nest.guard = guard;
    }
  }
}

LogicalResult mlir::ft::leaf::takeGuards(LeafGraph &graph, ArrayRef<NestGuard> guards) {
  for (const NestGuard &said : guards) {
    auto nest = llvm::find_if(graph.nests, [&](const Nest &own) { return own.number == said.nest; });
    if (nest == graph.nests.end())
      return graph.func.emitError("loops.guards: there is no loop nest ") << said.nest << ", or it is computed together with one before";
    auto refuse = [&] {
      InFlightDiagnostic diag = nest->members.front().op->emitError("its loop nest ");
      diag << said.nest << " can't be left out where input " << said.input << " is not " << (said.is ? "true" : "false") << " (loops.guards): ";
      return diag;
    };
    auto *flag = llvm::find_if(graph.buffers, [&](const Buffer &buffer) { return isFlag(buffer) && int64_t(buffer.number) == said.input; });
    if (flag == graph.buffers.end())
      return refuse() << "it is no input of one i1";
    Guard guard{int(flag - graph.buffers.begin()), 0, said.is};
    if (!GuardFinder(graph, guard).find()[size_t(nest - graph.nests.begin())])
      return refuse() << "what it computes is looked at there";
    nest->guard = guard;
  }
  return success();
}
