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

class Enumeration {
public:
  Enumeration(const Graph &graph, Fusion fusion) : graph(graph), fusion(fusion) {}

  std::vector<Set> run(bool &truncated) {
    std::set<Set> layer;
    for (int i = 0; i < int(graph.operators.size()); ++i)
      layer.insert({i});
    std::vector<Set> all, result;
    truncated = false;
    while (!layer.empty()) {
      if (all.size() + layer.size() > maxSets && !all.empty()) {
        truncated = true;
        break;
      }
      all.insert(all.end(), layer.begin(), layer.end());
      std::set<Set> next;
      for (const Set &set : layer)
        if (fusion != Fusion::Intra)
          grow(set, next);
      layer = std::move(next);
    }
    for (const Set &set : all)
      if (set.size() == 1 || (isConvex(set) && fits(set)))
        result.push_back(set);
    return result;
  }

private:
  unsigned products(const Set &set) const {
    return std::count_if(set.begin(), set.end(), [&](int op) {
      return graph.operators[op].kind == Kind::Product;
    });
  }

  void grow(const Set &set, std::set<Set> &into) const {
    auto put = [&](int op) {
      if (op < 0 || std::binary_search(set.begin(), set.end(), op))
        return;
      Set larger = set;
      larger.insert(std::lower_bound(larger.begin(), larger.end(), op), op);
      if (fusion == Fusion::Any || products(larger) <= 2)
        into.insert(std::move(larger));
    };
    for (int index : set) {
      const Operator &op = graph.operators[index];
      for (const Operand &input : op.inputs)
        put(graph.tensors[input.tensor].producer);
      for (int consumer : graph.tensors[op.output.tensor].consumers)
        put(consumer);
    }
  }

  /// No path leaves the set and comes back.
  bool isConvex(const Set &set) const {
    // What lies behind the set, outside of it, must not lead into it.
    std::vector<bool> behind(graph.operators.size(), false);
    for (int i = 0; i < int(graph.operators.size()); ++i) {
      bool inside = std::binary_search(set.begin(), set.end(), i);
      for (const Operand &input : graph.operators[i].inputs) {
        int producer = graph.tensors[input.tensor].producer;
        if (producer < 0)
          continue;
        bool from = std::binary_search(set.begin(), set.end(), producer);
        if (inside && behind[producer])
          return false;
        if (!inside && (from || behind[producer]))
          behind[i] = true;
      }
    }
    return true;
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
};

} // namespace

std::vector<Set> exact::fusibleSets(const Graph &graph, Fusion fusion, bool &truncated) {
  return Enumeration(graph, fusion).run(truncated);
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
