//===- GroupSearch.cpp - the best loop nest of one fused group ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Depth-first over structures - the operators one after another, each with the
// loops that it shares, the order of the others and its hold depths - and for
// each complete structure the best tiles (TileSolver.h). A structure is left as
// soon as what its operators move at least, each by itself, is no better than
// what is known.
//
// A loop with one iteration is the same anywhere, so a loop that changes a block
// is asked to have two: each schedule is met in one structure.
//
//===----------------------------------------------------------------------===//

#include "GroupInfo.h"
#include "NestSearch.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

struct Placed {
  unsigned info = 0;
  unsigned shared = 0;
  std::vector<uint8_t> order; // classes, outermost first
  std::vector<uint8_t> holds; // by operand, in classes
  bool rowWhole = false;
  Count bound = 0; // what it moves at least
};

class GroupSearch : GroupInfo {
public:
  GroupSearch(const Graph &graph, std::vector<int> ops, const Options &options, Count cutoff,
              double gap, const std::function<bool()> &stop)
      : GroupInfo(graph, std::move(ops), options), gap(gap), stop(stop), best(cutoff) {}

  GroupSearchResult run() {
    GroupSearchResult result;
    result.lowerBound = compulsory();
    if (tooWide() || hopeless(result.lowerBound))
      return finish(result, !hopeless(result.lowerBound));
    const Count start = best;
    if (!leasts())
      return finish(result, stopped); // some operator can't run at all, or can't be good enough
    result.lowerBound = std::max(result.lowerBound, std::min(suffixAll(), start));
    std::vector<bool> done(infos.size(), false);
    place(done, 0);
    return finish(result, stopped);
  }

private:
  GroupSearchResult &finish(GroupSearchResult &result, bool incomplete) {
    result.complete = !incomplete;
    result.nodes = nodes;
    if (found)
      result.best = found;
    // All that is better than best/(1+gap) was looked at.
    if (result.complete)
      result.lowerBound =
          std::max(result.lowerBound,
                   best == tooLarge ? tooLarge : Count(double(best) / (1 + gap)) + (gap > 0));
    if (result.complete && best != tooLarge)
      result.lowerBound = std::min(result.lowerBound, best);
    return result;
  }

  bool hopeless(Count bound) const {
    return bound >= best || double(bound) * (1 + gap) >= double(best);
  }

  bool timeIsUp() {
    if (!stopped && stop && (++asked & 0x3f) == 0)
      stopped = stop();
    return stopped;
  }

  // ---- hold depths ----

  /// The depths that differ for an operand: outside of everything, and inside each loop over it.
  std::vector<uint8_t> depths(const OpInfo &info, unsigned k,
                              const std::vector<uint8_t> &order) const {
    std::vector<uint8_t> result;
    for (unsigned p = order.size(); p-- > 0;)
      if (info.operands[k] >> order[p] & 1)
        result.push_back(p + 1);
    const bool tileOnly =
        infos.size() > 1 && (options.fusion == Fusion::Tangram || options.fusion == Fusion::Flat);
    if (tileOnly && !result.empty())
      result.resize(1);
    else
      result.push_back(0);
    return result;
  }

  template <typename Take>
  void forHolds(const OpInfo &info, const std::vector<uint8_t> &order, Take take) {
    std::vector<uint8_t> holds(info.operands.size(), order.size());
    auto recurse = [&](auto &self, unsigned k) -> void {
      if (k == holds.size())
        return take(holds);
      if (info.inside >> k & 1)
        return self(self, k + 1);
      for (uint8_t depth : depths(info, k, order)) {
        holds[k] = depth;
        self(self, k + 1);
      }
    };
    recurse(recurse, 0);
  }

  // ---- bounds of one operator ----

  /// The loop that last changes the operand's block, or -1.
  static int lastLoop(const OpInfo &info, unsigned k, const Placed &placed) {
    for (int p = int(placed.holds[k]) - 1; p >= 0; --p)
      if (info.operands[k] >> placed.order[p] & 1)
        return p;
    return -1;
  }

  /// Adds the traffic of an operand from outside, and what that asks of the first choices.
  void addTraffic(const OpInfo &info, unsigned k, const Placed &placed,
                  const std::vector<uint8_t> &variables, int sweepAt, TileProblem &problem) const {
    const bool isOutput = k + 1 == info.operands.size();
    int last = lastLoop(info, k, placed);
    Term term;
    term.coefficient = size(info, k);
    if (isOutput) {
      term.coefficient = multiply(term.coefficient, 2);
      problem.traffic[0].offset = add(problem.traffic[0].offset, size(info, k));
    } else if (sweepAt >= 0 && last >= sweepAt) {
      term.coefficient = multiply(term.coefficient, 2);
    }
    for (int p = 0; p < last; ++p)
      if (!(info.operands[k] >> placed.order[p] & 1))
        term.variables.push_back(variables[p]);
    problem.traffic[0].terms.push_back(std::move(term));
    if (last >= 0)
      problem.first[variables[last]] = std::max(problem.first[variables[last]], 1u);
  }

  Term block(uint64_t set, const Placed &placed, unsigned depth,
             const std::vector<uint8_t> &variables) const {
    Term term;
    for (unsigned p = 0; p < placed.order.size(); ++p) {
      if (!(set >> placed.order[p] & 1))
        continue;
      if (p < depth)
        term.variables.push_back(variables[p]);
      else
        term.coefficient = multiply(term.coefficient, classes[placed.order[p]].size);
    }
    return term;
  }

  unsigned newVariable(TileProblem &problem, const OpInfo &info, const Placed &placed,
                       unsigned p) const {
    const LoopClass &entry = classes[placed.order[p]];
    bool whole = placed.rowWhole && (info.rows >> placed.order[p] & 1);
    problem.choices.push_back(whole ? &entry.whole : &entry.choices);
    problem.first.push_back(0);
    return problem.choices.size() - 1;
  }

  /// What an operator moves at least with this order and these hold depths, in any group.
  Count boundOf(const Placed &placed, Count limit) {
    std::vector<uint8_t> key{uint8_t(placed.info), placed.rowWhole};
    key.insert(key.end(), placed.order.begin(), placed.order.end());
    key.insert(key.end(), placed.holds.begin(), placed.holds.end());
    auto known = bounds.find(key);
    if (known != bounds.end() && (known->second.second || known->second.first >= limit))
      return known->second.first;
    const OpInfo &info = infos[placed.info];
    TileProblem problem;
    problem.buffer = options.buffer;
    problem.traffic.resize(1);
    std::vector<uint8_t> variables;
    for (unsigned p = 0; p < placed.order.size(); ++p)
      variables.push_back(newVariable(problem, info, placed, p));
    std::vector<std::vector<Term>> use;
    const unsigned output = info.operands.size() - 1;
    for (unsigned k = 0; k < info.operands.size(); ++k) {
      if (info.inside >> k & 1) {
        // At least its tile is there; what works in place needs one of the two.
        if (int(k) != info.inPlaceOf)
          use.push_back({block(info.operands[k], placed, placed.order.size(), variables)});
        continue;
      }
      addTraffic(info, k, placed, variables, -1, problem);
      use.push_back({block(info.operands[k], placed, placed.holds[k], variables)});
    }
    problem.uses.push_back(use);
    std::vector<unsigned> solution;
    Count extra = info.consumers.empty() || !info.stored ? 0 : size(info, output);
    Count result = limit;
    bool exact = TileSolver(problem, 0, nodes).solve(limit, result, solution);
    // Beyond the limit the solver does not say by how much.
    result = add(result, extra);
    bounds[key] = {result, exact || limit == tooLarge};
    return result;
  }

  /// The least of each operator over all its structures. False if one has none.
  bool leasts() {
    least.assign(infos.size(), tooLarge);
    for (unsigned i = 0; i < infos.size(); ++i) {
      const OpInfo &info = infos[i];
      Count floor = compulsory(info);
      std::vector<uint8_t> order = info.classes;
      std::sort(order.begin(), order.end());
      do {
        for (bool whole : {true, false}) {
          if (!whole && (!info.normalizes || !info.rows))
            continue;
          forHolds(info, order, [&](const std::vector<uint8_t> &holds) {
            if (least[i] == floor || timeIsUp())
              return;
            Placed placed{i, 0, order, holds, whole && info.normalizes, 0};
            least[i] = std::min(least[i], boundOf(placed, least[i]));
          });
        }
      } while (least[i] != floor && std::next_permutation(order.begin(), order.end()));
      if (stopped)
        return false;
      if (least[i] == tooLarge)
        return false;
    }
    return !hopeless(suffixAll());
  }

  Count suffixAll() const {
    return std::accumulate(least.begin(), least.end(), Count(0), add);
  }

  // ---- structures ----

  /// Loops that the operators at two places share.
  unsigned common(unsigned i, unsigned j) const {
    unsigned result = placedOps[j].shared;
    for (unsigned k = i + 1; k < j; ++k)
      result = std::min(result, placedOps[k].shared);
    return result;
  }

  unsigned placeOf(unsigned info) const {
    for (unsigned i = 0; i < placedOps.size(); ++i)
      if (placedOps[i].info == info)
        return i;
    return ~0u;
  }

  /// Whether the loops that are shared with the producer keep its result whole when it is read.
  bool sharesWell(const OpInfo &info, unsigned producer, unsigned depth) const {
    unsigned at = placeOf(producer);
    for (unsigned k = at + 1; k < placedOps.size(); ++k)
      depth = std::min(depth, placedOps[k].shared);
    for (unsigned p = 0; p < depth; ++p)
      if (!mayShare(producer, &info - infos.data(), placedOps[at].order[p]))
        return false;
    return true;
  }

  /// Whether the operators placed so far can be good enough together: their structure is solved as if
  /// what comes later took no room.
  bool prefixIsFeasible(Count rest) {
    if (placedOps.size() < 2 || best == tooLarge)
      return true;
    std::vector<int> sweepAt(placedOps.size(), -1);
    TileProblem problem;
    std::vector<std::vector<uint8_t>> variables;
    pose(boundTensors(), sweepAt, problem, variables);
    Count limit = Count(double(best) / (1 + gap)) + 1;
    return rest < limit && TileSolver(problem, 0, nodes).isFeasible(std::min(best, limit) - rest);
  }

  void place(std::vector<bool> &done, Count sum) {
    if (placedOps.size() == infos.size())
      return complete();
    Count rest = 0;
    for (unsigned i = 0; i < infos.size(); ++i)
      if (!done[i])
        rest = add(rest, least[i]);
    std::vector<Placed> candidates;
    for (unsigned i = 0; i < infos.size() && !stopped; ++i)
      if (!done[i] && std::all_of(infos[i].producers.begin(), infos[i].producers.end(),
                                  [&](unsigned p) { return done[p]; }))
        withShared(i, add(sum, subtract(rest, least[i])), candidates);
    std::sort(candidates.begin(), candidates.end(), [&](const Placed &a, const Placed &b) {
      // What is above the operator's least; then more shared loops; the rest makes the order definite.
      Count extraA = a.bound - least[a.info], extraB = b.bound - least[b.info];
      return std::tie(extraA, b.shared, a.info, b.rowWhole, a.order, b.holds) <
             std::tie(extraB, a.shared, b.info, a.rowWhole, b.order, a.holds);
    });
    for (const Placed &placed : candidates) {
      Count later = subtract(rest, least[placed.info]);
      if (timeIsUp() || hopeless(add(add(sum, later), placed.bound)))
        continue;
      done[placed.info] = true;
      placedOps.push_back(placed);
      if (prefixIsFeasible(later))
        place(done, add(sum, placed.bound));
      placedOps.pop_back();
      done[placed.info] = false;
    }
  }

  void withShared(unsigned i, Count others, std::vector<Placed> &candidates) {
    const OpInfo &info = infos[i];
    unsigned most = 0;
    if (!placedOps.empty())
      while (most < placedOps.back().order.size() &&
             std::count(info.classes.begin(), info.classes.end(), placedOps.back().order[most]))
        ++most;
    for (unsigned shared = most + 1; shared-- > 0;) {
      if (!std::all_of(info.producers.begin(), info.producers.end(),
                       [&](unsigned p) { return sharesWell(info, p, shared); }))
        continue;
      std::vector<uint8_t> order;
      if (shared)
        order.assign(placedOps.back().order.begin(), placedOps.back().order.begin() + shared);
      std::vector<uint8_t> own;
      for (uint8_t entry : info.classes)
        if (std::find(order.begin(), order.end(), entry) == order.end())
          own.push_back(entry);
      std::sort(own.begin(), own.end());
      do {
        std::vector<uint8_t> full = order;
        full.insert(full.end(), own.begin(), own.end());
        withOrder(i, shared, full, others, candidates);
      } while (!stopped && std::next_permutation(own.begin(), own.end()));
    }
  }

  void withOrder(unsigned i, unsigned shared, const std::vector<uint8_t> &order, Count others,
                 std::vector<Placed> &candidates) {
    const OpInfo &info = infos[i];
    for (bool whole : {true, false}) {
      if (!whole && !info.normalizes)
        continue;
      // Rows that are shared are whole, or the operator is online.
      unsigned rowAt = rowDepth(info, order);
      if (!whole && rowAt == order.size())
        continue; // a row of one element is one tile
      if (!whole && shared > rowAt && !info.mayBeOnline)
        continue;
      if (whole && info.normalizes && shared > rowAt)
        continue; // a whole row's loop has one iteration: met where it is not shared
      forHolds(info, order, [&](const std::vector<uint8_t> &holds) {
        if (timeIsUp())
          return;
        Placed placed{i, shared, order, holds, whole && info.normalizes, 0};
        Count limit = best == tooLarge ? tooLarge : subtract(best, std::min(best, others));
        placed.bound = boundOf(placed, limit);
        if (placed.bound != tooLarge && !hopeless(add(others, placed.bound)))
          candidates.push_back(placed);
      });
    }
  }

  static unsigned rowDepth(const OpInfo &info, const std::vector<uint8_t> &order) {
    for (unsigned p = 0; p < order.size(); ++p)
      if (info.rows >> order[p] & 1)
        return p;
    return order.size();
  }

  // ---- complete structures ----

  struct Bound {
    unsigned producer, last, depth;
  };

  /// The tensors inside: who writes, who reads last, and the loops that all share.
  std::vector<Bound> boundTensors() const {
    std::vector<Bound> result;
    for (unsigned i = 0; i < placedOps.size(); ++i) {
      const OpInfo &info = infos[placedOps[i].info];
      if (info.consumers.empty())
        continue;
      Bound bound{i, i, unsigned(placedOps[i].order.size())};
      for (unsigned consumer : info.consumers) {
        unsigned at = placeOf(consumer);
        if (at == ~0u) { // comes later: until then, a tile at least
          bound.last = placedOps.size() - 1;
          continue;
        }
        bound.last = std::max(bound.last, at);
        bound.depth = std::min(bound.depth, common(i, at));
      }
      result.push_back(bound);
    }
    return result;
  }

  unsigned commonOf(unsigned i, unsigned j) const {
    return i == j ? placedOps[i].order.size() : common(std::min(i, j), std::max(i, j));
  }

  void complete() {
    ++nodes;
    std::vector<Bound> bounds = boundTensors();
    // How each row-wise operator walks its rows.
    std::vector<int> sweepAt(placedOps.size(), -1);
    for (unsigned i = 0; i < placedOps.size(); ++i) {
      const Placed &placed = placedOps[i];
      const OpInfo &info = infos[placed.info];
      if (!info.normalizes || placed.rowWhole)
        continue;
      unsigned depth = rowDepth(info, placed.order);
      bool online = false;
      for (const Bound &bound : bounds)
        online |= bound.producer == i && bound.depth > depth;
      if (online ? !info.mayBeOnline
                 : placed.shared > depth ||
                       (i + 1 < placedOps.size() && placedOps[i + 1].shared > depth))
        return;
      if (!online)
        sweepAt[i] = depth;
    }
    if (!allowed(bounds))
      return;
    solve(bounds, sweepAt);
  }

  /// The fixed dataflows of the baselines.
  bool allowed(const std::vector<Bound> &bounds) const {
    if (infos.size() == 1)
      return true;
    auto innermost = [](const Placed &placed, uint64_t set) {
      bool inside = false;
      for (uint8_t entry : placed.order) {
        if (inside && !(set >> entry & 1))
          return false;
        inside |= set >> entry & 1;
      }
      return true;
    };
    const Placed &first = placedOps.front(), &last = placedOps.back();
    const OpInfo &writer = infos[first.info], &reader = infos[last.info];
    if (options.fusion == Fusion::Tangram) {
      // Output-stationary, then input-stationary, tile by tile.
      uint64_t binding = writer.operands.back();
      return innermost(first, writer.reduced) && innermost(last, ~binding) &&
             last.shared == unsigned(__builtin_popcountll(binding));
    }
    if (options.fusion == Fusion::Flat) {
      // Output-stationary both, whole rows between.
      if (!innermost(first, writer.reduced) || !innermost(last, reader.reduced))
        return false;
      for (const Bound &bound : bounds)
        for (unsigned p = 0; p < bound.depth; ++p)
          if (reader.reduced >> placedOps[bound.producer].order[p] & 1)
            return false;
    }
    return true;
  }

  void solve(const std::vector<Bound> &boundTensors, const std::vector<int> &sweepAt) {
    TileProblem problem;
    std::vector<std::vector<uint8_t>> variables;
    pose(boundTensors, sweepAt, problem, variables);
    std::vector<unsigned> solution;
    Count volume = 0;
    if (TileSolver(problem, gap, nodes).solve(best, volume, solution))
      accept(problem, variables, solution);
  }

  /// The tile problem of the operators placed so far.
  void pose(const std::vector<Bound> &boundTensors, const std::vector<int> &sweepAt,
            TileProblem &problem, std::vector<std::vector<uint8_t>> &variables) const {
    problem.buffer = options.buffer;
    problem.traffic.resize(1);
    const unsigned count = placedOps.size();
    variables.resize(count);
    for (unsigned i = 0; i < count; ++i)
      for (unsigned p = 0; p < placedOps[i].order.size(); ++p)
        variables[i].push_back(p < placedOps[i].shared
                                   ? variables[i - 1][p]
                                   : newVariable(problem, infos[placedOps[i].info], placedOps[i], p));
    problem.uses.resize(count);
    auto reserve = [&](unsigned i, unsigned depth, const Term &term) {
      for (unsigned k = 0; k < count; ++k)
        if (k == i || commonOf(i, k) > depth)
          problem.uses[k].push_back({term});
    };
    for (unsigned i = 0; i < count; ++i) {
      const Placed &placed = placedOps[i];
      const OpInfo &info = infos[placed.info];
      for (unsigned k = 0; k < info.operands.size(); ++k) {
        if (info.inside >> k & 1)
          continue;
        addTraffic(info, k, placed, variables[i], sweepAt[i], problem);
        int last = lastLoop(info, k, placed);
        Term term = block(info.operands[k], placed, placed.holds[k], variables[i]);
        if (options.rules.doubleBuffer && (last >= 0 || batchMoves))
          term.coefficient = multiply(term.coefficient, 2);
        reserve(i, last + 1, term);
      }
      if (info.normalizes) {
        unsigned depth = placed.rowWhole ? placed.order.size() : rowDepth(info, placed.order);
        Term term = block(info.operands.back() & ~info.rows, placed, depth, variables[i]);
        term.coefficient = multiply(term.coefficient, graph.operators[info.op].states);
        reserve(i, depth, term);
        if (!placed.rowWhole)
          problem.first[variables[i][depth]] = std::max(problem.first[variables[i][depth]], 1u);
      }
      if (info.stored && !info.consumers.empty())
        problem.traffic[0].terms.push_back({size(info, info.operands.size() - 1), {}});
    }
    addBound(boundTensors, variables, problem);
  }

  /// The tensors inside, what is written in place of another once.
  void addBound(const std::vector<Bound> &boundTensors,
                const std::vector<std::vector<uint8_t>> &variables, TileProblem &problem) const {
    std::map<unsigned, unsigned> root; // of a producer's place
    for (const Bound &bound : boundTensors) {
      const OpInfo &info = infos[placedOps[bound.producer].info];
      root[bound.producer] = bound.producer;
      if (info.inPlaceOf >= 0) {
        int tensor = graph.operators[info.op].inputs[info.inPlaceOf].tensor;
        for (const Bound &other : boundTensors)
          if (graph.operators[infos[placedOps[other.producer].info].op].output.tensor == tensor)
            root[bound.producer] = root[other.producer];
      }
    }
    for (unsigned k = 0; k < placedOps.size(); ++k) {
      std::map<unsigned, std::vector<Term>> live;
      for (const Bound &bound : boundTensors) {
        bool isLive = k < bound.producer ? commonOf(k, bound.producer) > bound.depth
                      : k > bound.last   ? commonOf(bound.last, k) > bound.depth
                                         : true;
        if (!isLive)
          continue;
        const Placed &placed = placedOps[bound.producer];
        live[root[bound.producer]].push_back(block(infos[placed.info].operands.back(), placed,
                                                   bound.depth, variables[bound.producer]));
      }
      for (auto &[at, terms] : live)
        problem.uses[k].push_back(terms);
    }
  }

  /// Turns the structure and its tiles into a plan, and believes the closed form alone.
  void accept(const TileProblem &problem, const std::vector<std::vector<uint8_t>> &variables,
              const std::vector<unsigned> &solution) {
    Group group;
    for (unsigned i = 0; i < placedOps.size(); ++i) {
      const Placed &placed = placedOps[i];
      const OpInfo &info = infos[placed.info];
      const Operator &op = graph.operators[info.op];
      OpPlan plan;
      plan.op = info.op;
      plan.tiles.assign(op.dims.size(), 1);
      std::vector<unsigned> depthAt{unsigned(batch.size())}; // loops within so many classes
      for (int dim : batch)
        plan.order.push_back(op.local(dim));
      for (unsigned p = 0; p < placed.order.size(); ++p) {
        const LoopClass &entry = classes[placed.order[p]];
        const TileChoice &choice =
            (*problem.choices[variables[i][p]])[solution[variables[i][p]]];
        for (size_t d = 0; d < entry.dims.size(); ++d) {
          int local = op.local(entry.dims[d]);
          plan.order.push_back(local);
          plan.tiles[local] = choice.tiles[d];
        }
        depthAt.push_back(plan.order.size());
      }
      plan.shared = i == 0 ? 0 : depthAt[placed.shared];
      for (unsigned k = 0; k < info.operands.size(); ++k)
        plan.holds.push_back(depthAt[placed.holds[k]]);
      group.ops.push_back(plan);
    }
    if (!check(graph, group).empty())
      return;
    GroupCost cost = evaluate(graph, group, options.rules);
    if (cost.footprint > options.buffer || cost.volume >= best)
      return;
    best = cost.volume;
    found = GroupResult{group, cost};
  }

  const double gap;
  const std::function<bool()> &stop;
  Count best;
  Count nodes = 0, asked = 0;
  bool stopped = false;
  std::optional<GroupResult> found;
  std::vector<Count> least;
  std::map<std::vector<uint8_t>, std::pair<Count, bool>> bounds;
  std::vector<Placed> placedOps;
};

} // namespace

GroupSearchResult exact::searchGroup(const Graph &graph, const std::vector<int> &ops,
                                     const Options &options, Count cutoff, double gap,
                                     const std::function<bool()> &stop) {
  // The fixed dataflows of the baselines are told by an operator's whole order of loops.
  if (ops.size() > 1 && (options.fusion == Fusion::Tangram || options.fusion == Fusion::Flat))
    return GroupSearch(graph, ops, options, cutoff, gap, stop).run();
  NestSearch search(graph, ops, options, gap);
  search.advance(cutoff, 0, stop);
  return {search.best(), search.lowerBound(), search.complete(), search.nodes()};
}
