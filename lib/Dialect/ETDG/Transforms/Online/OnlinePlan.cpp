//===- OnlinePlan.cpp - which members merge, and by which laws ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OnlinePlanner.h"
#include "OnlineWiden.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

std::vector<MomentIndex> StatePlan::getMoments() const {
  std::vector<MomentIndex> moments{MomentIndex()};
  for (const ShiftTerm &shift : shifts) {
    std::vector<MomentIndex> longer;
    for (const MomentIndex &index : moments)
      for (unsigned power = 0; power <= shift.power; ++power) {
        longer.push_back(index);
        longer.back().push_back(power);
      }
    moments = std::move(longer);
  }
  return moments;
}

const StatePlan *OnlinePlan::getState(unsigned member, unsigned write) const {
  for (const StatePlan &state : states)
    if (state.member == member && state.write == write)
      return &state;
  return nullptr;
}

ReadAttr online::importRead(BlockBuilder &builder, const OnlineGroup &group, BlockOp block,
                            ReadAttr read) {
  SmallVector<PieceAttr> pieces;
  for (PieceAttr piece : read.getPieces()) {
    int64_t operand = piece.getKind() == SourceKind::Buffer
                          ? builder.operandFor(block.getBuffers()[piece.getOperand()])
                          : piece.getOperand();
    SmallVector<GatherAttr> gathers;
    for (GatherAttr gather : piece.getGathers())
      gathers.push_back(GatherAttr::get(
          gather.getContext(), gather.getPosition(),
          builder.operandFor(block.getBuffers()[gather.getOperand()]),
          AffineMapAttr::get(alignMap(gather.getMap().getValue(), block, group.symbols))));
    pieces.push_back(PieceAttr::get(
        piece.getContext(),
        IntegerSetAttr::get(alignSet(piece.getSet().getValue(), block, group.symbols)),
        piece.getKind(), operand,
        AffineMapAttr::get(alignMap(piece.getMap().getValue(), block, group.symbols)), gathers,
        piece.getValue()));
  }
  return ReadAttr::get(read.getContext(), pieces, read.getElementRank());
}

static void recordClones(Operation *from, Operation *to,
                         llvm::DenseMap<Operation *, Operation *> &original) {
  original[to] = from;
  for (auto [a, b] : llvm::zip(from->getRegions(), to->getRegions()))
    for (auto [x, y] : llvm::zip(a.getOps(), b.getOps()))
      recordClones(&x, &y, original);
}

SmallVector<Value> online::cloneBody(OpBuilder &builder, BlockOp block, ValueRange arguments,
                                     llvm::DenseMap<Operation *, Operation *> *original) {
  if (!llvm::equal(block.getBody().getArgumentTypes(), arguments.getTypes()))
    return *cloneWidened(builder, block.getBody().front(), arguments, original);
  IRMapping mapping;
  mapping.map(block.getBody().getArguments(), arguments);
  for (Operation &op : block.getBody().front().without_terminator()) {
    Operation *clone = builder.clone(op, mapping);
    if (original)
      recordClones(&op, clone, *original);
  }
  SmallVector<Value> yields;
  for (Value value : block.getYield().getOperands())
    yields.push_back(mapping.lookupOrDefault(value));
  return yields;
}

SmallVector<unsigned> online::getStateWrites(const OnlineMember &member) {
  SmallVector<unsigned> states;
  for (unsigned w = 0; w < member.stateReads.size(); ++w)
    if (member.isState(w))
      states.push_back(w);
  return states;
}

/// The operation by which `value` is `state` joined with other things, or null.
static Operation *findFold(Value value, Value state) {
  Operation *fold = nullptr;
  while (value != state) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return nullptr;
    Operation *scalar = op;
    Value next;
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      unsigned result = cast<OpResult>(value).getResultNumber();
      Value yielded = structured.getBlock()->getTerminator()->getOperand(result);
      OpOperand *init = structured.getDpsInitOperand(result);
      BlockArgument out = structured.getMatchingBlockArgument(init);
      scalar = yielded.getDefiningOp();
      if (!scalar || !out.hasOneUse() || !llvm::is_contained(scalar->getOperands(), out))
        return nullptr;
      next = init->get();
    }
    if (!isa<arith::AddFOp, arith::AddIOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(
            scalar))
      return nullptr;
    if (fold && fold->getName() != scalar->getName())
      return nullptr;
    fold = scalar;
    if (!next) {
      // The side on which the state is.
      auto reaches = [&](Value v) {
        llvm::SetVector<Value> seen;
        seen.insert(v);
        for (unsigned i = 0; i < seen.size(); ++i)
          if (Operation *def = seen[i].getDefiningOp(); def && def->getBlock() == op->getBlock())
            seen.insert_range(def->getOperands());
        return seen.contains(state);
      };
      bool left = reaches(op->getOperand(0)), right = reaches(op->getOperand(1));
      if (left == right)
        return nullptr;
      next = op->getOperand(left ? 0 : 1);
    } else {
      // Nothing else of a structured operation may be made of the state.
      for (Value operand : op->getOperands())
        if (operand == state && operand != next)
          return nullptr;
    }
    value = next;
  }
  return fold;
}

bool online::isAtCentre(const OnlineGroup &group, const OnlinePlan &plan, const FactorTerm &term) {
  const Centre &centre = plan.centres[term.parameter];
  return centre.kind == Centre::Running &&
         group.parameters[term.parameter].lastPlane == std::pair(centre.member, centre.write);
}

Operation *online::getFold(const OnlineGroup &group, unsigned index, unsigned write) {
  const OnlineMember &member = group.members[index];
  BlockOp block = member.block;
  return findFold(block.getYield().getOperand(write),
                  block.getBody().getArgument(member.stateReads[write]));
}

std::optional<Joining> online::getJoining(const OnlineGroup &group, unsigned index) {
  const OnlineMember &member = group.members[index];
  BlockOp block = member.block;
  if (!member.mayReassociate)
    return std::nullopt;
  SmallVector<unsigned> states = getStateWrites(member);
  Joining joining;
  if (!block.getCombine().empty()) {
    TypeRange types = block.getCombine().getArgumentTypes();
    bool fits = types.size() == 2 * states.size();
    for (auto [n, w] : llvm::enumerate(states))
      fits = fits && types[n] == block.getYield().getOperand(w).getType();
    joining.hasRegion = true;
    return fits ? std::optional(joining) : std::nullopt;
  }
  for (unsigned w : states) {
    Value state = block.getBody().getArgument(member.stateReads[w]);
    // Used once: nothing else depends on the state so far.
    Operation *fold = state.hasOneUse() ? findFold(block.getYield().getOperand(w), state) : nullptr;
    if (!fold)
      return std::nullopt;
    joining.folds.push_back(fold);
  }
  return joining;
}

/// What an earlier body computes already is that value: the same score, written out in every
/// step, is one.
void EqualOperations::share(Operation *first, MutableArrayRef<Value> results) {
  auto hash = [](Operation *op) {
    return static_cast<unsigned>(OperationEquivalence::computeHash(
        op, OperationEquivalence::directHashValue, OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations));
  };
  for (Operation *op = first, *next; op; op = next) {
    next = op->getNextNode();
    if (!isMemoryEffectFree(op))
      continue;
    SmallVector<Operation *, 1> &same = known[hash(op)];
    auto it = llvm::find_if(same, [&](Operation *other) {
      return OperationEquivalence::isEquivalentTo(other, op, OperationEquivalence::IgnoreLocations);
    });
    if (it == same.end()) {
      same.push_back(op);
      continue;
    }
    for (Value &result : results)
      if (result.getDefiningOp() == op)
        result = (*it)->getResult(cast<OpResult>(result).getResultNumber());
    op->replaceAllUsesWith(*it);
    op->erase();
  }
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

void Planner::exclude(unsigned member, Operation *culprit, std::string reason) {
  excluded.set(member);
  for (const OnlineRefusal &refusal : refusals)
    if (refusal.member == member)
      return;
  refusals.push_back(
      {member, culprit ? culprit : group.members[member].block.getOperation(), std::move(reason)});
}

/// A map that may run twice: no more than a few additions, products and choices. What it writes
/// need not be stored for the reductions then, which is worth more.
static bool isCheap(const OnlineMember &member) {
  constexpr unsigned maxOperations = 8;
  if (member.isReduction)
    return false;
  unsigned count = 0;
  for (Operation &op : BlockOp(member.block).getBody().front().without_terminator()) {
    bool moves = isa<arith::ConstantOp, linalg::BroadcastOp, tensor::EmptyOp, tensor::ExpandShapeOp,
                     tensor::CollapseShapeOp>(op);
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (generic.getNumReductionLoops() != 0)
        return false;
      for (Operation &inner : generic.getBody()->without_terminator()) {
        if (!isa<arith::ArithDialect>(inner.getDialect()))
          return false;
        ++count;
      }
      continue;
    }
    if (!moves && !isa<arith::ArithDialect>(op.getDialect()))
      return false;
    count += !moves;
  }
  return count <= maxOperations;
}

/// What depends on a parameter has another value while the reduction runs: nothing outside may see
/// it, except what is corrected in the end, or made once more.
bool Planner::checkReaders(unsigned index, bool &changed) {
  const OnlineMember &member = group.members[index];
  BlockOp block = member.block;
  if (repeated.test(index))
    return true;
  auto repeat = [&]() {
    if (!isCheap(member))
      return false;
    repeated.set(index);
    changed = true; // what it reads is read outside now
    return true;
  };
  for (auto [w, write] : llvm::enumerate(block.getWrites().getAsRange<WriteAttr>())) {
    Value buffer = block.getBuffers()[write.getOperand()];
    for (Operation *user : buffer.getUsers())
      if (isa<ReturnOp>(user)) {
        if (repeat())
          return true;
        exclude(index, nullptr,
                "what it writes in each iteration is a result, and not known before the end");
        return false;
      }
    AffineMap written = alignMap(write.getMap().getValue(), block, group.symbols);
    for (const Access &access : accesses.getReads(buffer)) {
      BlockOp reader = access.block;
      auto it = llvm::find_if(group.members, [&](const OnlineMember &m) { return m.block == reader; });
      if (it != group.members.end() && access.kind == Access::Read) {
        unsigned m = it - group.members.begin();
        const ReadRole &role = it->reads[access.index];
        if (included.test(m) && !repeated.test(m) &&
            (role.kind == ReadRole::Internal || role.kind == ReadRole::State ||
             role.kind == ReadRole::Parameter))
          continue;
      }
      SmallVector<AffineExpr> bindings;
      if (member.isState(w) && getItem(group.body, reader) && access.kind == Access::Read &&
          access.gathers.empty() && access.elementShape.empty() &&
          isLastPlane(group, written, alignMap(access.map, reader, group.symbols), bindings))
        continue;
      if (repeat())
        return true;
      exclude(index, nullptr,
              "what it writes in each iteration is read by " + describeBlock(reader) +
                  ", and not known before the end");
      return false;
    }
  }
  return true;
}

/// One round; returns whether nothing had to be left out.
bool Planner::selectOnce(bool &changed) {
  for (unsigned m : included.set_bits()) {
    OnlineMember &member = group.members[m];
    for (auto [r, role] : llvm::enumerate(member.reads)) {
      switch (role.kind) {
      case ReadRole::Internal:
        if (group.members[role.member].isDependent && excluded.test(role.member)) {
          exclude(m, nullptr,
                  "reads " + describeBlock(group.members[role.member].block) +
                      ", which can't run beside the reduction that it depends on");
          return false;
        }
        if (!excluded.test(role.member) && !outside.test(role.member) &&
            !included.test(role.member)) {
          included.set(role.member);
          changed = true;
          return true;
        }
        break;
      case ReadRole::Blocked:
        exclude(
            m, nullptr,
            llvm::is_contained(member.stateReads, static_cast<int>(r))
                ? "starts at what another reduction has come to"
                : "depends on the last state in a way that changes from iteration to iteration");
        return false;
      case ReadRole::Foreign:
        // What it reads must have been computed for all iterations before.
        if (!outside.test(role.member)) {
          outside.set(role.member);
          if (group.members[role.member].isDependent) {
            exclude(m, nullptr,
                    "reads another iteration of " +
                        describeBlock(group.members[role.member].block));
          }
          return false;
        }
        break;
      case ReadRole::Parameter:
        for (unsigned origin : group.parameters[role.parameter].origins)
          if (!group.members[origin].isDependent && !outside.test(origin) &&
              !included.test(origin)) {
            included.set(origin);
            changed = true;
            return true;
          }
        break;
      default:
        break;
      }
    }
  }
  for (unsigned m = 0; m < group.members.size(); ++m) {
    const OnlineMember &member = group.members[m];
    if (included.test(m)) {
      if (member.isDependent && !checkReaders(m, changed))
        return false;
      continue;
    }
    if (member.isDependent || !member.isReduction || outside.test(m))
      continue;
    // A reduction of the same values: they need not be stored for its sake.
    for (const ReadRole &role : member.reads)
      if (role.kind == ReadRole::Internal && included.test(role.member)) {
        included.set(m);
        changed = true;
        return true;
      }
  }
  return true;
}

/// Blocks between the members that depend on them move after the merged block: no member may
/// need one of those.
bool Planner::checkOrder() {
  llvm::SmallDenseSet<Value> late;
  for (unsigned m : included.set_bits()) {
    BlockOp block = group.members[m].block;
    for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
      late.insert(block.getBuffers()[write.getOperand()]);
  }
  llvm::DenseMap<Operation *, unsigned> memberOf;
  for (unsigned m : included.set_bits())
    memberOf[group.members[m].block] = m;
  for (Operation &op : *group.body) {
    if (!isa<BlockOp, NestOp, KernelOp>(op) || memberOf.contains(&op))
      continue;
    bool depends = false;
    SmallVector<Value> written;
    op.walk([&](BlockOp block) {
      for (Value buffer : block.getBuffers())
        depends |= late.contains(buffer);
      for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
        written.push_back(block.getBuffers()[write.getOperand()]);
    });
    if (!depends)
      continue;
    for (Value buffer : written)
      for (const Access &access : accesses.getReads(buffer)) {
        auto it = memberOf.find(access.block);
        if (it == memberOf.end() ||
            (access.kind == Access::Read &&
             group.members[it->second].reads[access.index].kind == ReadRole::Parameter))
          continue;
        exclude(it->second, nullptr, "reads what is computed from other results of the same loop");
        outside.set(it->second);
        return false;
      }
    late.insert_range(written);
  }
  return true;
}

bool Planner::select() {
  for (unsigned round = 0; round < 4 * group.members.size() + 4; ++round) {
    included.clear();
    included.resize(group.members.size());
    repeated.clear();
    repeated.resize(group.members.size());
    bool any = false;
    for (auto [m, member] : llvm::enumerate(group.members))
      if (member.isReduction && member.isDependent && !excluded.test(m)) {
        included.set(m);
        any = true;
      }
    if (!any)
      return false;
    bool changed = true, complete = true;
    while (changed && complete) {
      changed = false;
      complete = selectOnce(changed);
    }
    if (complete && checkOrder())
      return true;
  }
  return false;
}

/// Whether every body has a form over the wider states: written once for trial.
bool Planner::checkWidening() {
  if (llvm::none_of(plan.states, [](const StatePlan &state) { return state.wide; }))
    return true;
  Region trial;
  auto *block = new Block();
  trial.push_back(block);
  OpBuilder builder(group.members.front().block.getContext());
  builder.setInsertionPointToEnd(block);
  Location loc = builder.getUnknownLoc();
  auto withElement = [](Type type, FloatType element) {
    return element ? Type(cast<RankedTensorType>(type).clone(element)) : type;
  };
  SmallVector<SmallVector<Value>> results(group.members.size());
  for (unsigned m : plan.members) {
    const OnlineMember &member = group.members[m];
    BlockOp from = member.block;
    SmallVector<Value> arguments;
    for (auto [r, role] : llvm::enumerate(member.reads)) {
      Type type = from.getBody().getArgument(r).getType();
      if (role.kind == ReadRole::Internal && included.test(role.member)) {
        arguments.push_back(results[role.member][role.write]);
        continue;
      }
      if (role.kind == ReadRole::State)
        type = withElement(type, plan.getState(m, role.write)->wide);
      else if (role.kind == ReadRole::Parameter)
        type = withElement(type, plan.centres[role.parameter].wide);
      arguments.push_back(block->addArgument(type, loc));
    }
    Operation *culprit = nullptr;
    std::optional<SmallVector<Value>> yields =
        cloneWidened(builder, from.getBody().front(), arguments, nullptr, &culprit);
    std::optional<Joining> joining = getJoining(group, m);
    bool joins = true;
    if (yields && joining && joining->hasRegion) {
      SmallVector<unsigned> writes = getStateWrites(member);
      SmallVector<Value> sides;
      for (BlockArgument argument : from.getCombine().getArguments())
        sides.push_back(block->addArgument(
            withElement(argument.getType(),
                        plan.getState(m, writes[sides.size() % writes.size()])->wide),
            loc));
      joins =
          cloneWidened(builder, from.getCombine().front(), sides, nullptr, &culprit).has_value();
    }
    if (!yields || !joins) {
      exclude(m, culprit,
              "its state would round once more in every iteration, and '" +
                  culprit->getName().getStringRef().str() + "' has no form over wider numbers");
      return false;
    }
    results[m] = *yields;
  }
  return true;
}

std::optional<OnlinePlan> Planner::run() {
  for (unsigned round = 0; round <= group.members.size(); ++round) {
    if (!select())
      return std::nullopt;
    if (!analyse() || !checkWidening())
      continue;
    // An ordered fold runs its maps in order, too.
    bool ordered = false;
    std::optional<unsigned> dependent;
    bool hasMaps = false;
    for (unsigned m : plan.members) {
      hasMaps |= !group.members[m].isReduction;
      ordered |= group.members[m].isReduction && !getJoining(group, m);
      if (group.members[m].isReduction && group.members[m].isDependent)
        dependent = m;
    }
    if (ordered && hasMaps && !options.ordered) {
      for (unsigned m : plan.members)
        if (group.members[m].isReduction && group.members[m].isDependent)
          exclude(m, nullptr,
                  "one of the reductions is ordered (foldl, or no combine is given): in one block "
                  "with it, the maps over its dimension would lose their width");
      return std::nullopt;
    }
    for (unsigned m : repeated.set_bits())
      plan.repeated.insert(m);
    return plan;
  }
  return std::nullopt;
}

std::optional<OnlinePlan> online::makePlan(OnlineGroup &group, const GraphAccesses &accesses,
                                     const PlanOptions &options,
                                     SmallVectorImpl<OnlineRefusal> &refusals) {
  return Planner(group, accesses, options, refusals).run();
}
