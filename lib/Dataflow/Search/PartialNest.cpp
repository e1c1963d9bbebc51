//===- PartialNest.cpp - the tile problem of a nest decided in part -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PartialNest.h"

#include <algorithm>
#include <map>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

unsigned exact::sharedLoops(const OpState &a, const OpState &b, bool &apart) {
  const size_t most = std::min(a.path.size(), b.path.size());
  unsigned d = 0;
  while (d < most && a.path[d] == b.path[d])
    ++d;
  // Of one body, what is in a part and what is not yet are apart.
  apart = d < most || a.path.size() != b.path.size();
  return d;
}

bool exact::runsBefore(const OpState &a, const OpState &b) {
  size_t d = 0;
  while (d < a.path.size() && d < b.path.size() && a.path[d] == b.path[d])
    ++d;
  if (d == a.path.size() || d == b.path.size())
    return a.path.size() > b.path.size(); // parts are made in the order in which they run
  return a.path[d] < b.path[d];
}

NestModel::NestModel(const GroupInfo &info, std::vector<Count> floors, std::map<uint64_t, Count> wholes)
    : group(info), floors(std::move(floors)), wholes(std::move(wholes)) {
  for (unsigned i = 0; i < group.infos.size(); ++i) {
    if (group.infos[i].consumers.empty())
      continue;
    Bound bound;
    bound.producer = i;
    for (unsigned consumer : group.infos[i].consumers)
      bound.consumers |= bit(consumer);
    bound.users = bound.consumers | bit(i);
    bound.shareable = shareable(bound);
    bounds.push_back(bound);
  }
  if (!group.tooWide())
    patterns = slotPatterns(group, allPatterns);
}

Count NestModel::floorOf(unsigned pattern, unsigned i) const {
  const uint32_t shared = patterns[pattern].shared[i];
  if (!shared)
    return floors[i];
  Count result = group.compulsory(group.infos[i]);
  for (unsigned k = 0; k < group.infos[i].operands.size(); ++k)
    if (shared >> k & 1)
      result = subtract(result, group.size(group.infos[i], k));
  return result;
}

Count NestModel::floorOf(unsigned pattern) const {
  Count sum = 0;
  for (unsigned i = 0; i < group.infos.size(); ++i)
    sum = add(sum, floorOf(pattern, i));
  const std::vector<PatternSlot> &slots = patterns[pattern].slots;
  for (unsigned s = 0; s < slots.size(); ++s) {
    const JointFloor joint = jointFloor(pattern, s);
    sum = add(sum, joint.least(floorOf(slots[s])));
    for (const JointFloor::User &user : joint.users)
      sum = subtract(sum, user.own);
  }
  return sum;
}

JointFloor NestModel::jointFloor(unsigned pattern, unsigned s) const {
  const PatternSlot &slot = patterns[pattern].slots[s];
  JointFloor result;
  result.slot = group.infos.size() + s;
  result.isFixed = !mayRepeat(slot, 0);
  for (unsigned i = 0; i < group.infos.size(); ++i) {
    const uint32_t shared = patterns[pattern].shared[i];
    if ((slot.users >> i & 1) && !(shared & (shared - 1)))
      result.users.push_back({i, floorOf(pattern, i), floors[i]});
  }
  for (size_t i = 0; i < result.users.size(); ++i)
    for (size_t k = 0; k < i; ++k) {
      auto known = wholes.find(bit(result.users[i].part) | bit(result.users[k].part));
      if (known == wholes.end()) {
        result.pairs = 0;
        return result;
      }
      result.pairs = add(result.pairs, known->second);
    }
  return result;
}

bool NestModel::mayRepeat(const PatternSlot &slot, uint64_t around) const {
  if (!group.isSmall)
    return false;
  uint64_t common = group.divisible & ~around & ~slot.members & ~slot.mixed;
  for (unsigned i = 0; i < group.infos.size(); ++i)
    if (slot.users >> i & 1)
      common &= group.infos[i].all();
  return common;
}

uint64_t NestModel::shareable(const Bound &bound) const {
  const OpInfo &writer = group.infos[bound.producer];
  uint64_t result = 0;
  for (uint8_t entry : writer.classes) {
    bool may = writer.operands.back() >> entry & 1;
    may &= !writer.normalizes || !(writer.rows >> entry & 1) || writer.mayBeOnline;
    for (unsigned i = 0; may && i < group.infos.size(); ++i) {
      if (!(bound.consumers >> i & 1))
        continue;
      const OpInfo &reader = group.infos[i];
      may &= (reader.all() >> entry & 1) && group.mayShare(bound.producer, i, entry);
      may &= !reader.normalizes || !(reader.rows >> entry & 1) || reader.mayBeOnline;
    }
    if (may)
      result |= bit(entry);
  }
  return result;
}

uint64_t NestModel::shared(const OpState &state) {
  uint64_t result = 0;
  for (const SharedLoop &loop : state.loops)
    result |= bit(loop.entry);
  return result;
}

Count NestModel::product(uint64_t set, uint64_t tiled) const {
  Count result = 1;
  for (unsigned c = 0; c < group.classes.size(); ++c)
    if (set >> c & 1)
      result = multiply(result, tiled >> c & 1 ? least(c) : group.classes[c].size);
  return result;
}

Count NestModel::leastBlock(const Bound &bound, uint64_t shared) const {
  return product(group.infos[bound.producer].operands.back(), shared);
}

Count NestModel::leastBlock(unsigned i, unsigned k, uint64_t tiled) const {
  return product(group.infos[i].operands[k], tiled);
}

std::vector<Settled> NestModel::settled(const PartialNest &nest, unsigned i) const {
  const OpInfo &info = group.infos[i];
  const OpState &state = nest.ops[i];
  const uint64_t around = shared(state);
  std::vector<Settled> result;
  for (unsigned k = 0; k < info.operands.size(); ++k) {
    if ((info.inside >> k & 1) || (patterns[nest.pattern].shared[i] >> k & 1) ||
        state.holds[k] != OpState::open ||
        !(info.operands[k] & ~around & group.divisible)) {
      result.push_back(Settled::Yes);
      continue;
    }
    // Where it could stay in the loops since the last one that changes it, that was decided.
    const bool foreign =
        !state.loops.empty() && !(info.operands[k] >> state.loops.back().entry & 1);
    result.push_back(foreign ? Settled::Changes : Settled::Free);
  }
  return result;
}

// ---- posing ----

struct NestModel::Posing {
  const PartialNest &nest;
  TileProblem &problem;
  OwnVariables &own;

  /// Reserves for operator i, and for all that run inside its shared loop at this depth.
  void reserve(unsigned i, unsigned depth, const Term &term) {
    for (unsigned k = 0; k < nest.ops.size(); ++k) {
      bool apart;
      if (k == i || sharedLoops(nest.ops[i], nest.ops[k], apart) > depth)
        problem.uses[k].push_back({term});
    }
  }
};

void NestModel::pose(const PartialNest &nest, TileProblem &problem, OwnVariables &own) const {
  const unsigned count = nest.ops.size();
  problem.buffer = group.options.buffer;
  problem.uses.resize(count);
  const std::vector<PatternSlot> &slots = patterns[nest.pattern].slots;
  problem.traffic.resize(count + slots.size());
  own.assign(count, {});
  for (uint8_t entry : nest.variables) {
    problem.choices.push_back(&group.classes[entry].choices);
    problem.first.push_back(1); // two iterations at least
  }
  Posing posing{nest, problem, own};
  for (unsigned i = 0; i < count; ++i) {
    const OpInfo &info = group.infos[i];
    problem.traffic[i].floor = floorOf(nest.pattern, i);
    if (const PrivatePlan *plan = nest.ops[i].own) {
      own[i].assign(group.classes.size(), none);
      uint64_t repeats = 0;
      for (const PrivatePlan::Use &use : plan->operands)
        repeats |= use.repeats;
      // Of a loop that repeats nothing, the smallest tile is the best.
      for (uint8_t entry : plan->order)
        if (repeats >> entry & 1) {
          own[i][entry] = problem.choices.size();
          problem.choices.push_back(&group.classes[entry].choices);
          problem.first.push_back(0);
        }
    }
    for (unsigned k = 0; k < info.operands.size(); ++k)
      if (!((info.inside | patterns[nest.pattern].shared[i]) >> k & 1))
        poseOperand(posing, i, k);
    if (info.stored && !info.consumers.empty())
      problem.traffic[i].terms.push_back({group.size(info, info.operands.size() - 1), {}});
    poseStates(posing, i);
  }
  for (unsigned s = 0; s < slots.size(); ++s)
    poseSlot(posing, s);
  poseBounds(posing);
}

/// Whether an operator runs while the block of a shared slot stays: inside `depth` loops from the first user to the
/// last one, or in one more loop with any of them.
bool NestModel::holdsSlot(const PartialNest &nest, const PatternSlot &slot, unsigned depth,
                          unsigned i) const {
  if (slot.users >> i & 1)
    return true;
  bool after = false, before = false;
  for (unsigned k = 0; k < nest.ops.size(); ++k) {
    if (!(slot.users >> k & 1))
      continue;
    bool apart;
    if (sharedLoops(nest.ops[i], nest.ops[k], apart) > depth)
      return true;
    after |= apart && runsBefore(nest.ops[k], nest.ops[i]);
    before |= apart && runsBefore(nest.ops[i], nest.ops[k]);
  }
  return after && before;
}

void NestModel::poseSlot(Posing &posing, unsigned s) const {
  const PatternSlot &slot = patterns[posing.nest.pattern].slots[s];
  const std::vector<SharedLoop> &loops = posing.nest.ops[__builtin_ctzll(slot.users)].loops;
  const uint8_t hold = posing.nest.slotHolds[s];
  const bool isOpen = hold == OpState::open;
  Term traffic, block;
  traffic.coefficient = floorOf(slot);
  int last = -1;
  uint64_t tiled = 0;
  for (unsigned p = 0; p < (isOpen ? loops.size() : hold); ++p)
    if (slot.members >> loops[p].entry & 1) {
      last = p;
      tiled |= bit(loops[p].entry);
      block.variables.push_back(loops[p].variable);
    }
  // Of the newest loop it may not be decided whether the block stays.
  const auto &pending = posing.nest.pending;
  const bool waits = std::find(pending.begin(), pending.end(),
                               std::pair(PartialNest::slot, uint8_t(s))) != pending.end();
  for (int p = 0; p < (isOpen ? int(loops.size()) - waits : last); ++p)
    if (!(slot.members >> loops[p].entry & 1))
      traffic.variables.push_back(loops[p].variable);
  // While all users are in one body, they may come to share more loops.
  block.coefficient = product(slot.block & ~tiled, isOpen ? slot.members : 0);
  if (group.options.rules.doubleBuffer && last >= 0)
    block.coefficient = multiply(block.coefficient, 2);
  TrafficPart &part = posing.problem.traffic[posing.nest.ops.size() + s];
  part.floor = traffic.coefficient;
  JointFloor joint = jointFloor(posing.nest.pattern, s);
  uint64_t around = 0;
  for (const SharedLoop &loop : loops)
    around |= bit(loop.entry);
  joint.isFixed = traffic.variables.empty() && !waits && (!isOpen || !mayRepeat(slot, around));
  posing.problem.joint.push_back(std::move(joint));
  part.terms.push_back(traffic);
  for (unsigned i = 0; i < posing.nest.ops.size(); ++i)
    if (isOpen ? slot.users >> i & 1 : holdsSlot(posing.nest, slot, last + 1, i))
      posing.problem.uses[i].push_back({block});
}

/// The variable of the private loop that must change an operand's block, or none.
uint8_t NestModel::changing(const Posing &posing, unsigned i, unsigned k) const {
  const PrivatePlan *plan = posing.nest.ops[i].own;
  if (!plan || settled(posing.nest, i)[k] != Settled::Changes)
    return none;
  return posing.own[i][plan->order[plan->operands[k].hold - 1]];
}

void NestModel::poseOperand(Posing &posing, unsigned i, unsigned k) const {
  const OpInfo &info = group.infos[i];
  const OpState &state = posing.nest.ops[i];
  const uint64_t members = info.operands[k], left = members & ~shared(state);
  const bool isOutput = k + 1 == info.operands.size();
  const bool isOpen = state.holds[k] == OpState::open && (left & group.divisible);
  Term traffic, block;
  traffic.coefficient = group.size(info, k);
  TrafficPart &part = posing.problem.traffic[i];
  if (isOutput) {
    part.offset = add(part.offset, traffic.coefficient);
    traffic.coefficient = multiply(traffic.coefficient, 2);
  }
  const unsigned hold = std::min<unsigned>(state.holds[k], state.loops.size());
  int last = -1;
  for (unsigned p = 0; p < hold; ++p)
    if (members >> state.loops[p].entry & 1) {
      last = p;
      block.variables.push_back(state.loops[p].variable);
    }
  // Of the newest loop it may not be decided whether the block stays.
  const auto &pending = posing.nest.pending;
  const bool waits = std::find(pending.begin(), pending.end(),
                               std::pair(uint8_t(i), uint8_t(k))) != pending.end();
  for (int p = 0; p < (isOpen ? int(state.loops.size()) - waits : last); ++p)
    if (!(members >> state.loops[p].entry & 1))
      traffic.variables.push_back(state.loops[p].variable);
  bool changes = last >= 0 || group.batchMoves;
  if (isOpen) {
    changes |= !traffic.variables.empty();
    const PrivatePlan::Use *use = state.own ? &state.own->operands[k] : nullptr;
    for (unsigned c = 0; c < group.classes.size(); ++c) {
      const uint8_t variable = use ? posing.own[i][c] : none;
      if (use && (use->repeats >> c & 1))
        traffic.variables.push_back(variable);
      if (!(left >> c & 1))
        continue;
      if (use && !(use->tiled >> c & 1))
        block.coefficient = multiply(block.coefficient, group.classes[c].size);
      else if (variable != none)
        block.variables.push_back(variable);
      else
        block.coefficient = multiply(block.coefficient, least(c));
    }
    if (use && use->twice)
      traffic.coefficient = multiply(traffic.coefficient, 2);
    changes |= use && use->tiled;
    if (const uint8_t variable = changing(posing, i, k); variable != none)
      posing.problem.first[variable] = std::max(posing.problem.first[variable], 1u);
  } else {
    uint64_t whole = members;
    for (int p = 0; p <= last; ++p)
      whole &= ~bit(state.loops[p].entry);
    block.coefficient = product(whole, 0);
  }
  part.terms.push_back(traffic);
  if (group.options.rules.doubleBuffer && changes)
    block.coefficient = multiply(block.coefficient, 2);
  posing.reserve(i, isOpen ? state.loops.size() : last + 1, block);
}

void NestModel::poseStates(Posing &posing, unsigned i) const {
  const OpInfo &info = group.infos[i];
  if (!info.normalizes)
    return;
  const OpState &state = posing.nest.ops[i];
  const uint64_t rest = info.operands.back() & ~info.rows;
  Term term;
  term.coefficient = group.graph.operators[info.op].states;
  unsigned depth = 0;
  uint64_t tiled = 0;
  for (; depth < state.loops.size() && !(info.rows >> state.loops[depth].entry & 1); ++depth)
    if (rest >> state.loops[depth].entry & 1) {
      term.variables.push_back(state.loops[depth].variable);
      tiled |= bit(state.loops[depth].entry);
    }
  const bool online = depth < state.loops.size();
  for (unsigned c = 0; c < group.classes.size(); ++c) {
    if (!(rest & ~tiled & bit(c)))
      continue;
    const bool whole = online || (state.own && !(state.own->statesTiled >> c & 1));
    if (!whole && state.own && posing.own[i][c] != none)
      term.variables.push_back(posing.own[i][c]);
    else
      term.coefficient = multiply(term.coefficient, whole ? group.classes[c].size : least(c));
  }
  posing.reserve(i, depth, term);
}

/// Of a tensor inside: the loops around its block at most, and whether that is certain.
static unsigned boundDepth(const PartialNest &nest, const Bound &bound, bool &certain) {
  const OpState &writer = nest.ops[bound.producer];
  unsigned depth = writer.loops.size();
  certain = false;
  for (unsigned i = 0; i < nest.ops.size(); ++i) {
    bool apart = false;
    if (!(bound.consumers >> i & 1))
      continue;
    unsigned common = sharedLoops(writer, nest.ops[i], apart);
    if (apart) {
      depth = std::min(depth, common);
      certain = true;
    }
  }
  return depth;
}

Term NestModel::boundTerm(const PartialNest &nest, const Bound &bound) const {
  const OpState &writer = nest.ops[bound.producer];
  uint64_t left = group.infos[bound.producer].operands.back();
  bool apart;
  const unsigned depth = boundDepth(nest, bound, apart);
  Term term;
  for (unsigned p = 0; p < depth; ++p)
    if (left >> writer.loops[p].entry & 1) {
      term.variables.push_back(writer.loops[p].variable);
      left &= ~bit(writer.loops[p].entry);
    }
  // While all users are in one body, they may come to share more.
  term.coefficient = product(left, apart ? 0 : bound.shareable);
  return term;
}

bool NestModel::isLive(const PartialNest &nest, const Bound &bound, unsigned i) const {
  if (bound.users >> i & 1)
    return true;
  const OpState &here = nest.ops[i], &writer = nest.ops[bound.producer];
  bool certain, apart, other;
  const unsigned depth = boundDepth(nest, bound, certain);
  const unsigned common = sharedLoops(here, writer, apart);
  if (certain && common > depth)
    return true; // the producer's loop runs again
  for (unsigned k = 0; k < nest.ops.size(); ++k) {
    if (!(bound.consumers >> k & 1))
      continue;
    bool away;
    const unsigned with = sharedLoops(here, nest.ops[k], away);
    if (apart && away && runsBefore(writer, here) && runsBefore(here, nest.ops[k]))
      return true;
    // A reader's loop runs again.
    if (certain && sharedLoops(writer, nest.ops[k], other) <= depth && other && with > depth)
      return true;
  }
  return false;
}

void NestModel::poseBounds(Posing &posing) const {
  // What is written in place of another has its storage.
  std::map<unsigned, unsigned> root; // of a producer
  for (const Bound &bound : bounds) {
    const OpInfo &info = group.infos[bound.producer];
    root[bound.producer] = bound.producer;
    if (info.inPlaceOf < 0)
      continue;
    int tensor = group.graph.operators[info.op].inputs[info.inPlaceOf].tensor;
    for (const Bound &other : bounds)
      if (group.graph.operators[group.infos[other.producer].op].output.tensor == tensor)
        root[bound.producer] = root[other.producer];
  }
  std::vector<Term> terms;
  for (const Bound &bound : bounds)
    terms.push_back(boundTerm(posing.nest, bound));
  for (unsigned i = 0; i < posing.nest.ops.size(); ++i) {
    std::map<unsigned, std::vector<Term>> live;
    for (size_t b = 0; b < bounds.size(); ++b)
      if (isLive(posing.nest, bounds[b], i))
        live[root[bounds[b].producer]].push_back(terms[b]);
    for (auto &[at, together] : live)
      posing.problem.uses[i].push_back(std::move(together));
  }
}

// ---- the plan ----

Group NestModel::plan(const PartialNest &nest, const TileProblem &problem, const OwnVariables &own,
                      const std::vector<unsigned> &solution) const {
  std::vector<unsigned> sequence;
  for (unsigned i = 0; i < nest.ops.size(); ++i)
    sequence.push_back(i);
  std::sort(sequence.begin(), sequence.end(),
            [&](unsigned a, unsigned b) { return nest.ops[a].path < nest.ops[b].path; });
  Group result;
  for (unsigned at = 0; at < sequence.size(); ++at) {
    const unsigned i = sequence[at];
    const OpState &state = nest.ops[i];
    const OpInfo &info = group.infos[i];
    const Operator &op = group.graph.operators[info.op];
    OpPlan plan;
    plan.op = info.op;
    plan.tiles.assign(op.dims.size(), 1);
    std::vector<unsigned> depthAt{unsigned(group.batch.size())}; // loops within so many classes
    for (int dim : group.batch)
      plan.order.push_back(op.local(dim));
    auto walk = [&](unsigned entry, const TileChoice &choice) {
      for (size_t d = 0; d < choice.tiles.size(); ++d) {
        int local = op.local(group.classes[entry].dims[d]);
        plan.order.push_back(local);
        plan.tiles[local] = choice.tiles[d];
      }
      depthAt.push_back(plan.order.size());
    };
    for (const SharedLoop &loop : state.loops)
      walk(loop.entry, (*problem.choices[loop.variable])[solution[loop.variable]]);
    for (uint8_t entry : state.own->order) {
      const LoopClass &walked = group.classes[entry];
      const uint8_t variable = own[i][entry];
      const bool whole = state.own->rowWhole && (info.rows >> entry & 1);
      walk(entry, whole              ? walked.whole.front()
                  : variable != none ? walked.choices[solution[variable]]
                                     : walked.choices.back());
    }
    bool apart;
    if (at > 0)
      plan.shared = depthAt[sharedLoops(nest.ops[sequence[at - 1]], state, apart)];
    std::vector<Settled> kinds = settled(nest, i);
    plan.slots.assign(op.inputs.size(), 0);
    for (unsigned k = 0; k < info.operands.size(); ++k) {
      if (const int s = patterns[nest.pattern].slotOf(i, k); s >= 0) {
        plan.slots[k] = s + 1;
        plan.holds.push_back(depthAt[nest.slotHolds[s]]);
        continue;
      }
      unsigned hold = state.loops.size() + state.own->order.size();
      if (state.holds[k] != OpState::open)
        hold = state.holds[k];
      else if (kinds[k] != Settled::Yes)
        hold = state.loops.size() + state.own->operands[k].hold;
      plan.holds.push_back(depthAt[hold]);
    }
    result.ops.push_back(plan);
  }
  return result;
}
