//===- NestSearch.cpp - the best loop nest, from the outermost loop in ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NestSearch.h"

#include "PartialNest.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

/// What runs next in a body: operators that share one more loop, or one by itself.
struct Part {
  uint64_t ops = 0;
  int entry = -1; // the class of the loop
};

/// Parts of one body that are looked at; more are left out, and then nothing is proved of it.
constexpr size_t maxParts = 20000;
/// Boxes of tiles that one bound may cost.
constexpr Count maxBoxes = 4000;
/// Partial nests that wait; beyond, the most decided one is taken up first.
constexpr size_t maxWaiting = 60000;

/// Which parts a body can begin with.
class Parts {
public:
  Parts(const NestModel &model, unsigned pattern, uint64_t left, uint64_t around)
      : model(model), group(model.group), slots(model.patterns[pattern].slots), left(left),
        around(around) {}

  std::vector<Part> run(bool &all) {
    for (unsigned i = 0; i < group.infos.size(); ++i)
      if ((left >> i & 1) && ready(i, 0) && cutsFit(bit(i)))
        result.push_back({bit(i), -1});
    for (unsigned c = 0; c < group.classes.size(); ++c)
      if (!(around >> c & 1) && (group.divisible >> c & 1))
        withLoop(c);
    all = !truncated;
    return std::move(result);
  }

private:
  uint64_t producers(unsigned i) const {
    uint64_t set = 0;
    for (unsigned producer : group.infos[i].producers)
      set |= bit(producer);
    return set;
  }
  bool ready(unsigned i, uint64_t with) const { return !(producers(i) & left & ~with); }

  /// Tensors between the part and what runs later are whole in the loops that both share.
  bool cutsFit(uint64_t part) const {
    Count sum = 0;
    for (const Bound &bound : model.bounds)
      if ((bound.users & part) && (bound.users & left & ~part))
        sum = std::max(sum, model.leastBlock(bound, around));
    for (const PatternSlot &slot : slots)
      if ((slot.users & part) && (slot.users & left & ~part))
        sum = std::max(sum, model.leastBlock(slot, around));
    return sum <= group.options.buffer;
  }

  bool eligible(unsigned i, unsigned c) const {
    const OpInfo &info = group.infos[i];
    return (left >> i & 1) && (info.all() >> c & 1) &&
           (!info.normalizes || !(info.rows >> c & 1) || info.mayBeOnline);
  }

  /// All sets of operators, producers first, that may share a loop over class c.
  void withLoop(unsigned c) {
    std::set<uint64_t> known{0};
    std::vector<uint64_t> work{0};
    while (!work.empty()) {
      const uint64_t set = work.back();
      work.pop_back();
      for (unsigned i = 0; i < group.infos.size(); ++i) {
        if ((set >> i & 1) || !eligible(i, c) || !ready(i, set))
          continue;
        bool legal = true;
        for (unsigned producer : group.infos[i].producers)
          legal &= !(set >> producer & 1) || group.mayShare(producer, i, c);
        if (!legal || !known.insert(set | bit(i)).second)
          continue;
        if (known.size() > maxParts) {
          truncated = true;
          return;
        }
        work.push_back(set | bit(i));
      }
    }
    for (uint64_t set : known)
      if ((set & (set - 1)) && onlineIsWhole(set, c) && cutsFit(set) && holdsTogether(set))
        result.push_back({set, int(c)});
  }

  /// Who normalises rows in tiles that it shares does so for all its readers.
  bool onlineIsWhole(uint64_t set, unsigned c) const {
    for (unsigned i = 0; i < group.infos.size(); ++i) {
      const OpInfo &info = group.infos[i];
      if (!(set >> i & 1) || !info.normalizes || !(info.rows >> c & 1))
        continue;
      for (unsigned consumer : info.consumers)
        if (!(set >> consumer & 1))
          return false;
    }
    return true;
  }

  /// Whether tensors, or shared slots, all of whose users are in the set bind it together. If not, its pieces can run
  /// one after another - unless each of two needs what the other one makes.
  bool holdsTogether(uint64_t set) const {
    std::vector<uint64_t> pieces;
    auto merge = [&](uint64_t users) {
      for (size_t p = pieces.size(); p-- > 0;)
        if (pieces[p] & users) {
          users |= pieces[p];
          pieces.erase(pieces.begin() + p);
        }
      pieces.push_back(users);
    };
    for (unsigned i = 0; i < group.infos.size(); ++i)
      if (set >> i & 1)
        merge(bit(i));
    for (const Bound &bound : model.bounds)
      if (!(bound.users & ~set))
        merge(bound.users);
    for (const PatternSlot &slot : slots)
      if (!(slot.users & ~set))
        merge(slot.users);
    // Pieces that can run are taken away; what is left waits in a circle.
    for (bool taken = true; taken && pieces.size() > 1;) {
      taken = false;
      uint64_t all = 0;
      for (uint64_t piece : pieces)
        all |= piece;
      for (uint64_t piece : pieces) {
        uint64_t needs = 0;
        for (unsigned i = 0; i < group.infos.size(); ++i)
          if (piece >> i & 1)
            needs |= producers(i) & all & ~piece;
        if (!needs)
          return false;
      }
    }
    return true;
  }

  const NestModel &model;
  const GroupInfo &group;
  const std::vector<PatternSlot> &slots;
  const uint64_t left, around;
  bool truncated = false;
  std::vector<Part> result;
};

} // namespace

class NestSearch::Implementation {
public:
  Implementation(const Graph &graph, const std::vector<int> &ops, const Options &options, double gap,
                 const AloneBounds &alone, const JointBounds &joint)
      : group(graph, ops, options), gap(gap), tolerance(gap / 8), model(group, floors(alone), wholes(joint)) {
    Count sum = group.compulsory();
    if (group.tooWide()) {
      leftOut = sum;
      return;
    }
    if (!model.allPatterns)
      leave(sum);
    for (unsigned pattern = 0; pattern < model.patterns.size(); ++pattern)
      plant(pattern);
  }

  void advance(Count newCutoff, Count limit, const std::function<bool()> &stop) {
    cutoff = std::min(cutoff, newCutoff);
    Count looked = 0;
    while (!finished()) {
      if ((limit && ++looked > limit) || (stop && stop()))
        return;
      auto first = waiting.begin();
      if (waiting.size() > maxWaiting)
        first = std::max_element(waiting.begin(), waiting.end(), [](const auto &a, const auto &b) {
          return a.second.decisions < b.second.decisions;
        });
      PartialNest nest = std::move(first->second);
      waiting.erase(first);
      ++nodes;
      if (nest.bound >= limitOf()) {
        leave(limitOf());
        continue;
      }
      expand(std::move(nest));
    }
  }

  bool finished() const {
    return waiting.empty() || hopeless(waiting.begin()->second.bound, limitOf());
  }
  bool complete() const {
    return finished() && (leftOut == tooLarge || hopeless(leftOut, limitOf()));
  }

  Count lowerBound() const {
    Count result = std::min(limitOf(), leftOut);
    return waiting.empty() ? result : std::min(result, waiting.begin()->second.bound);
  }

  Count nodes = 0;
  std::optional<GroupResult> found;

private:
  /// The root of all nests with this pattern of slots.
  void plant(unsigned pattern) {
    PartialNest root;
    root.pattern = pattern;
    root.slotHolds.assign(model.patterns[pattern].slots.size(), OpState::open);
    root.bound = std::max(group.compulsory(), model.floorOf(pattern));
    root.ops.resize(group.ops.size());
    for (unsigned i = 0; i < group.ops.size(); ++i)
      root.ops[i].holds.assign(group.infos[i].operands.size(), OpState::open);
    root.bodies.push_back({bit(group.ops.size()) - 1, 0, 0});
    waiting.insert({std::pair(root.bound, 0u), std::move(root)});
  }

  /// What a nest must stay below to be of use.
  Count limitOf() const { return std::min(cutoff, found ? found->cost.volume : tooLarge); }
  bool hopeless(Count bound, Count best) const {
    return bound >= best || double(bound) * (1 + gap) >= double(best);
  }
  void leave(Count bound) { leftOut = std::min(leftOut, bound); }

  /// What each operator moves at least in this group: its optimum alone less the tensors that do not
  /// move here. It holds where the dimensions that it walks together alone are together here, too.
  std::vector<Count> floors(const AloneBounds &alone) const {
    std::vector<Count> result;
    for (const OpInfo &info : group.infos) {
      Count least = group.compulsory(info);
      const Count between = heldBetween(info);
      const Operator &op = group.graph.operators[info.op];
      // What works in place, and what has its buffers twice, holds more by itself than in a group.
      if (op.kind == Kind::Product && !group.options.rules.doubleBuffer && !alone.empty() &&
          alone[info.op] != tooLarge && alone[info.op] > between && walksAlike(op))
        least = std::max(least, alone[info.op] - between);
      result.push_back(least);
    }
    return result;
  }

  /// Elements of an operator's tensors that do not move in this group.
  Count heldBetween(const OpInfo &info) const {
    Count between = 0;
    for (unsigned k = 0; k < info.operands.size(); ++k)
      if ((info.inside >> k & 1) && (k + 1 < info.operands.size() || !info.stored))
        between = add(between, group.size(info, k));
    return between;
  }

  /// What users of a slot move at least here: a nest of this group without the other operators is one of theirs, in which what is held between
  /// operators moves once.
  std::map<uint64_t, Count> wholes(const JointBounds &joint) const {
    std::map<uint64_t, Count> result;
    if (group.options.rules.doubleBuffer)
      return result;
    for (const auto &[ops, bound] : joint) {
      uint64_t users = 0;
      Count between = 0;
      for (unsigned i = 0; i < group.infos.size(); ++i)
        if (std::binary_search(ops.begin(), ops.end(), group.infos[i].op)) {
          users |= bit(i);
          between = add(between, heldBetween(group.infos[i]));
        }
      if (size_t(__builtin_popcountll(users)) == ops.size() && bound > between && walksAlike(ops))
        result[users] = bound - between;
    }
    return result;
  }

  /// Whether dimensions that these operators walk together as a group of their own are together here, too.
  bool walksAlike(const std::vector<int> &ops) const {
    if (ops.size() == group.ops.size())
      return false; // that is this group
    const GroupInfo own(group.graph, ops, group.options);
    for (const LoopClass &together : own.classes)
      for (int dim : together.dims)
        if (group.classOf[dim] != group.classOf[together.dims.front()])
          return false;
    return std::all_of(own.batch.begin(), own.batch.end(), [&](int dim) {
      return std::find(group.batch.begin(), group.batch.end(), dim) != group.batch.end();
    });
  }

  bool walksAlike(const Operator &op) const {
    std::map<uint32_t, int> classOf;
    for (unsigned d = 0; d < op.dims.size(); ++d) {
      uint32_t members = 0;
      for (unsigned k = 0; k < op.numOperands(); ++k)
        members |= (op.mask(k) >> d & 1) << k;
      if (members + 1 == 1u << op.numOperands())
        continue; // walked outermost, in tiles of one
      auto [at, isNew] = classOf.emplace(members, group.classOf[op.dims[d]]);
      if (at->second != group.classOf[op.dims[d]])
        return false;
    }
    return true;
  }

  // ---- the tree ----

  void expand(PartialNest nest) {
    ++nest.decisions;
    if (!nest.pending.empty())
      return decideHold(nest);
    while (!nest.bodies.empty() && !nest.bodies.front().left)
      nest.bodies.erase(nest.bodies.begin());
    if (!nest.bodies.empty())
      return divide(nest);
    for (unsigned i = 0; i < nest.ops.size(); ++i)
      if (!nest.ops[i].own)
        return walkAlone(std::move(nest), i);
    finish(nest);
  }

  void decideHold(PartialNest &nest) {
    const auto [i, k] = nest.pending.back();
    nest.pending.pop_back();
    if (i == PartialNest::slot)
      return decideSlot(nest, k);
    const OpState &state = nest.ops[i];
    const unsigned depth = state.loops.size() - 1;
    uint64_t around = 0;
    for (unsigned p = 0; p < depth; ++p)
      around |= bit(state.loops[p].entry);
    if (model.leastBlock(i, k, around) <= group.options.buffer) {
      PartialNest stays = nest;
      stays.ops[i].holds[k] = depth;
      push(std::move(stays));
    }
    push(std::move(nest));
  }

  /// The same for a slot that several operators share.
  void decideSlot(PartialNest &nest, unsigned s) {
    const PatternSlot &slot = model.patterns[nest.pattern].slots[s];
    const OpState &state = nest.ops[__builtin_ctzll(slot.users)];
    const unsigned depth = state.loops.size() - 1;
    uint64_t around = 0;
    for (unsigned p = 0; p < depth; ++p)
      around |= bit(state.loops[p].entry);
    if (model.leastBlock(slot, around) <= group.options.buffer) {
      PartialNest stays = nest;
      stays.slotHolds[s] = depth;
      push(std::move(stays));
    }
    push(std::move(nest));
  }

  void divide(PartialNest &nest) {
    const Body body = nest.bodies.front();
    const unsigned first = __builtin_ctzll(body.left);
    for (const Part &part : partsOf(nest.pattern, body.left, NestModel::shared(nest.ops[first])))
      push(withPart(nest, part));
  }

  const std::vector<Part> &partsOf(unsigned pattern, uint64_t left, uint64_t around) {
    auto [at, isNew] = parts.try_emplace({pattern, left, around});
    if (isNew) {
      bool all;
      at->second = Parts(model, pattern, left, around).run(all);
      if (!all)
        leave(group.compulsory());
    }
    return at->second;
  }

  PartialNest withPart(const PartialNest &nest, const Part &part) const {
    PartialNest next = nest;
    Body &body = next.bodies.front();
    const uint8_t number = body.parts++, depth = body.depth;
    body.left &= ~part.ops;
    const uint8_t variable = next.variables.size();
    for (unsigned s = 0; s < next.slotHolds.size(); ++s)
      if (next.slotHolds[s] == OpState::open)
        enterSlot(next, s, part, depth);
    for (unsigned i = 0; i < next.ops.size(); ++i) {
      if (!(part.ops >> i & 1))
        continue;
      OpState &state = next.ops[i];
      state.path.push_back(number);
      if (part.entry < 0)
        continue;
      for (unsigned k = 0; k < state.holds.size(); ++k) {
        const uint64_t members = group.infos[i].operands[k];
        if (!((group.infos[i].inside | model.patterns[next.pattern].shared[i]) >> k & 1) &&
            state.holds[k] == OpState::open &&
            (members & ~NestModel::shared(state) & group.divisible) && !(members >> part.entry & 1))
          next.pending.push_back({uint8_t(i), uint8_t(k)});
      }
      state.loops.push_back({uint8_t(part.entry), variable});
    }
    if (part.entry >= 0) {
      next.variables.push_back(part.entry);
      next.bodies.push_back({part.ops, uint8_t(depth + 1), 0});
    }
    return next;
  }

  /// A shared slot whose users were in one body of `depth` loops, of which a part is made.
  void enterSlot(PartialNest &next, unsigned s, const Part &part, unsigned depth) const {
    const PatternSlot &slot = model.patterns[next.pattern].slots[s];
    if (!(slot.users & part.ops))
      return;
    // Who is in another part, or walks other dimensions, sees the block change in no further loop.
    if ((slot.users & ~part.ops) || (slot.mixed >> part.entry & 1)) {
      next.slotHolds[s] = depth;
      return;
    }
    const uint64_t around = NestModel::shared(next.ops[__builtin_ctzll(slot.users)]);
    if (slot.members >> part.entry & 1)
      return;
    if (group.isSmall && (slot.members & ~around & group.divisible))
      next.pending.push_back({PartialNest::slot, uint8_t(s)});
    else
      next.slotHolds[s] = depth;
  }

  void walkAlone(PartialNest nest, unsigned i) {
    std::vector<Settled> kinds = model.settled(nest, i);
    const uint64_t classes = group.infos[i].all() & ~NestModel::shared(nest.ops[i]);
    const bool sweeps = model.sweeps(nest, i);
    auto [at, isNew] = plans.try_emplace({i, classes, kinds, sweeps});
    if (isNew)
      at->second = privatePlans(group.infos[i], classes, group.divisible,
                                group.options.rules.doubleBuffer, kinds, sweeps);
    if (at->second.size() == 1) {
      // Nothing to decide: on with the next.
      nest.ops[i].own = &at->second.front();
      return expand(std::move(nest));
    }
    for (const PrivatePlan &plan : at->second) {
      PartialNest next = nest;
      next.ops[i].own = &plan;
      push(std::move(next));
    }
  }

  /// Bounds a partial nest, and keeps it if it may be of use.
  void push(PartialNest nest) {
    TileProblem problem;
    NestModel::OwnVariables own;
    model.pose(nest, problem, own);
    const Count best = limitOf();
    TileSolver solver(problem, tolerance, boxes, maxBoxes);
    Count least = 0;
    std::vector<unsigned> solution;
    // What is not found below best·(1+tolerance) is not below best.
    const Count limit = best == tooLarge || tolerance == 0 ? best : Count(double(best) * (1 + tolerance)) + 1;
    solver.solve(limit, least, solution);
    nest.bound = std::max(nest.bound, solver.lowerBound());
    if (nest.bound >= best)
      return leave(best);
    waiting.insert({std::pair(nest.bound, ~nest.decisions), std::move(nest)});
  }

  void finish(const PartialNest &nest) {
    TileProblem problem;
    NestModel::OwnVariables own;
    model.pose(nest, problem, own);
    TileSolver solver(problem, tolerance, boxes);
    Count least = 0;
    std::vector<unsigned> solution;
    if (!solver.solve(limitOf(), least, solution))
      return leave(limitOf());
    leave(std::max(nest.bound, solver.lowerBound()));
    accept(model.plan(nest, problem, own, solution));
  }

  /// Believes the closed form alone.
  void accept(Group plan) {
    if (!check(group.graph, plan).empty())
      return;
    GroupCost cost = evaluate(group.graph, plan, group.options.rules);
    if (cost.footprint <= group.options.buffer && cost.volume < limitOf())
      found = GroupResult{std::move(plan), std::move(cost)};
  }

  const GroupInfo group;
  const double gap, tolerance;
  const NestModel model;
  Count cutoff = tooLarge;
  Count leftOut = tooLarge; // the least that may be moved by what was not looked at
  Count boxes = 0;
  /// By bound, then the most decided first.
  std::multimap<std::pair<Count, unsigned>, PartialNest> waiting;
  std::map<std::tuple<unsigned, uint64_t, uint64_t>, std::vector<Part>> parts;
  std::map<std::tuple<unsigned, uint64_t, std::vector<Settled>, bool>, std::vector<PrivatePlan>> plans;
};

NestSearch::NestSearch(const Graph &graph, const std::vector<int> &ops, const Options &options,
                       double gap, const AloneBounds &alone, const JointBounds &joint)
    : implementation(std::make_unique<Implementation>(graph, ops, options, gap, alone, joint)) {}
NestSearch::~NestSearch() = default;

void NestSearch::advance(Count cutoff, Count limit, const std::function<bool()> &stop) {
  implementation->advance(cutoff, limit, stop);
}
Count NestSearch::lowerBound() const { return implementation->lowerBound(); }
bool NestSearch::finished() const { return implementation->finished(); }
bool NestSearch::complete() const { return implementation->complete(); }
const std::optional<GroupResult> &NestSearch::best() const { return implementation->found; }
Count NestSearch::nodes() const { return implementation->nodes; }
