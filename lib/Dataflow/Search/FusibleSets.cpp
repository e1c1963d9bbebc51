//===- FusibleSets.cpp - sets of operators that may be one group ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FusibleSets.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

/// Sets beyond which larger ones are left to the genetic algorithm.
constexpr size_t maxSets = 20000;

/// Connected, convex sets: operators are neighbours by a result that one reads of the other, or, where slots may be shared, a tensor that
/// both read; no path leaves a set and comes back. Such a set grows from any of its operators by a
/// neighbour and what lies between it and the set, which is within every larger such set; so all are met, and no
/// others are looked at.
class Enumeration {
public:
  Enumeration(const Graph &graph, const Options &options)
      : graph(graph), fusion(options.fusion), sharedSlots(options.sharedSlots) {
    const size_t count = graph.operators.size();
    before.assign(count, std::vector<bool>(count, false));
    for (size_t i = 0; i < count; ++i)
      for (const Operand &input : graph.operators[i].inputs) {
        const int producer = graph.tensors[input.tensor].producer;
        if (producer < 0)
          continue;
        before[i][producer] = true;
        for (size_t k = 0; k < count; ++k)
          if (before[producer][k])
            before[i][k] = true;
      }
  }

  /// The smallest first; truncated where there are too many.
  std::vector<Set> run(bool &truncated) {
    std::map<size_t, std::set<Set>> waiting; // by size
    for (int i = 0; i < int(graph.operators.size()); ++i)
      waiting[1].insert({i});
    std::vector<Set> result;
    size_t met = 0;
    truncated = false;
    while (!waiting.empty() && !truncated) {
      const std::set<Set> layer = std::move(waiting.begin()->second);
      waiting.erase(waiting.begin());
      truncated = met > 0 && met + layer.size() > maxSets;
      if (truncated)
        break;
      met += layer.size();
      for (const Set &set : layer) {
        if (set.size() == 1 || fits(set))
          result.push_back(set);
        if (fusion != Fusion::Intra)
          grow(set, waiting);
      }
    }
    return result;
  }

private:
  unsigned products(const Set &set) const {
    return std::count_if(set.begin(), set.end(), [&](int op) {
      return graph.operators[op].kind == Kind::Product;
    });
  }

  /// The set, an operator, and all that lies on paths between.
  Set closure(const Set &set, int op) const {
    Set result = set;
    result.push_back(op);
    const Set ends = result;
    for (int i = 0; i < int(graph.operators.size()); ++i) {
      const bool behind = std::any_of(ends.begin(), ends.end(), [&](int end) { return before[i][end]; });
      const bool ahead = std::any_of(ends.begin(), ends.end(), [&](int end) { return before[end][i]; });
      if (behind && ahead)
        result.push_back(i);
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  void grow(const Set &set, std::map<size_t, std::set<Set>> &into) const {
    auto put = [&](int op) {
      if (op < 0 || std::binary_search(set.begin(), set.end(), op))
        return;
      Set larger = closure(set, op);
      if (fusion == Fusion::Any || products(larger) <= 2)
        into[larger.size()].insert(std::move(larger));
    };
    for (int index : set) {
      const Operator &op = graph.operators[index];
      for (const Operand &input : op.inputs) {
        put(graph.tensors[input.tensor].producer);
        if (sharesInputs())
          for (int reader : graph.tensors[input.tensor].consumers)
            put(reader);
      }
      for (int consumer : graph.tensors[op.output.tensor].consumers)
        put(consumer);
    }
  }

  /// Whether operators that only read the same tensor may be fused: the baselines' pairs and chains are bound by results.
  bool sharesInputs() const {
    return sharedSlots && (fusion == Fusion::Two || fusion == Fusion::Any);
  }

  /// Whether the mode fuses such a set.
  bool fits(const Set &set) const {
    auto isProduct = [&](int op) { return graph.operators[op].kind == Kind::Product; };
    switch (fusion) {
    case Fusion::Tangram:
      return set.size() == 2 && products(set) == 2 && isChain(set);
    case Fusion::Flat:
      return products(set) == 2 && isProduct(set.front()) && isProduct(set.back()) &&
             isChain(set) && isLogit(set.front());
    case Fusion::Two:
      return products(set) <= 2;
    default:
      return true;
    }
  }

  /// Each operator reads the one before it.
  bool isChain(const Set &set) const {
    for (size_t k = 1; k < set.size(); ++k) {
      const Operator &op = graph.operators[set[k]];
      if (std::none_of(op.inputs.begin(), op.inputs.end(), [&](const Operand &input) {
            return graph.tensors[input.tensor].producer == set[k - 1];
          }))
        return false;
    }
    return true;
  }

  /// FLAT fuses attention's logits: a product of two activations, which both have the batch.
  bool isLogit(int index) const {
    const Operator &op = graph.operators[index];
    for (int dim : graph.batch) {
      int local = op.local(dim);
      for (unsigned k = 0; local >= 0 && k < op.numOperands(); ++k)
        if (!(op.mask(k) >> local & 1))
          return false;
    }
    return true;
  }

  const Graph &graph;
  const Fusion fusion;
  const bool sharedSlots;
  std::vector<std::vector<bool>> before; // by operator: those that it depends on
};

} // namespace

std::vector<Set> exact::fusibleSets(const Graph &graph, const Options &options, bool &truncated) {
  return Enumeration(graph, options).run(truncated);
}

Set exact::operatorsOf(const Group &group) {
  Set set;
  for (const OpPlan &plan : group.ops)
    set.push_back(plan.op);
  std::sort(set.begin(), set.end());
  return set;
}

std::vector<Count> exact::signatureOf(const Graph &graph, const Set &set) {
  std::vector<Count> result;
  std::map<int, int> dims, tensors;
  for (int index : set) {
    const Operator &op = graph.operators[index];
    result.push_back(int(op.kind));
    result.push_back(op.states);
    for (int dim : op.over)
      result.push_back(op.local(dim));
    for (unsigned k = 0; k < op.numOperands(); ++k) {
      const Operand &operand = op.operand(k);
      const Tensor &tensor = graph.tensors[operand.tensor];
      bool leaves = tensor.isResult;
      for (int consumer : tensor.consumers)
        leaves |= !std::binary_search(set.begin(), set.end(), consumer);
      result.push_back(-1 - tensors.emplace(operand.tensor, tensors.size()).first->second);
      result.push_back(leaves);
      for (int dim : operand.dims) {
        result.push_back(dims.emplace(dim, dims.size()).first->second);
        result.push_back(graph.dims[dim].size);
      }
    }
    result.push_back(tooLarge);
  }
  return result;
}

Group exact::renamed(Group group, const Set &from, const Set &to) {
  for (OpPlan &plan : group.ops)
    plan.op = to[std::lower_bound(from.begin(), from.end(), plan.op) - from.begin()];
  return group;
}

bool exact::sortGroups(const Graph &graph, std::vector<GroupResult> &groups) {
  std::vector<GroupResult> sorted;
  std::set<int> done;
  std::vector<bool> taken(groups.size(), false);
  for (size_t round = 0; round < groups.size(); ++round)
    for (size_t g = 0; g < groups.size(); ++g) {
      if (taken[g])
        continue;
      std::set<int> own;
      for (const OpPlan &plan : groups[g].group.ops)
        own.insert(plan.op);
      bool ready = true;
      for (int op : own)
        for (const Operand &input : graph.operators[op].inputs) {
          int producer = graph.tensors[input.tensor].producer;
          ready &= producer < 0 || own.count(producer) || done.count(producer);
        }
      if (!ready)
        continue;
      taken[g] = true;
      done.insert(own.begin(), own.end());
      sorted.push_back(groups[g]);
      break;
    }
  if (sorted.size() != groups.size())
    return false;
  groups = std::move(sorted);
  return true;
}
