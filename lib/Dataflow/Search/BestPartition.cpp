//===- BestPartition.cpp - the cheapest partition into groups -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BestPartition.h"

#include <algorithm>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

using Mask = std::vector<uint64_t>;

/// States of the ordered search beyond which it gives up.
constexpr size_t maxStates = 200000;

bool includes(const Mask &whole, const Mask &part) {
  for (size_t w = 0; w < whole.size(); ++w)
    if (part[w] & ~whole[w])
      return false;
  return true;
}
bool meets(const Mask &a, const Mask &b) {
  for (size_t w = 0; w < a.size(); ++w)
    if (a[w] & b[w])
      return true;
  return false;
}
Mask without(Mask whole, const Mask &part) {
  for (size_t w = 0; w < whole.size(); ++w)
    whole[w] &= ~part[w];
  return whole;
}
Mask with(Mask whole, const Mask &part) {
  for (size_t w = 0; w < whole.size(); ++w)
    whole[w] |= part[w];
  return whole;
}
int firstOf(const Mask &mask) {
  for (size_t w = 0; w < mask.size(); ++w)
    if (mask[w])
      return 64 * w + __builtin_ctzll(mask[w]);
  return -1;
}

} // namespace

BestPartition::BestPartition(const Graph &graph, const std::vector<Set> &sets)
    : graph(graph), sets(sets), startingAt(graph.operators.size()) {
  for (size_t s = 0; s < sets.size(); ++s) {
    masks.push_back(maskOf(sets[s]));
    startingAt[sets[s].front()].push_back(s);
    Set producers;
    for (int op : sets[s])
      for (const Operand &input : graph.operators[op].inputs)
        if (int producer = graph.tensors[input.tensor].producer; producer >= 0)
          producers.push_back(producer);
    needs.push_back(without(maskOf(producers), masks.back()));
  }
}

BestPartition::Mask BestPartition::maskOf(const Set &set) const {
  Mask result((graph.operators.size() + 63) / 64);
  for (int op : set)
    result[op / 64] |= uint64_t(1) << (op % 64);
  return result;
}

Set BestPartition::all() const {
  Set result;
  for (int i = 0; i < int(graph.operators.size()); ++i)
    result.push_back(i);
  return result;
}

Count BestPartition::best(const Set &whole, const Value &value, std::vector<size_t> *parts) const {
  std::map<Mask, std::pair<Count, size_t>> known;
  auto recurse = [&](auto &self, const Mask &left) -> Count {
    const int first = firstOf(left);
    if (first < 0)
      return 0;
    if (auto at = known.find(left); at != known.end())
      return at->second.first;
    std::pair<Count, size_t> least{tooLarge, 0};
    for (size_t s : startingAt[first]) {
      if (!includes(left, masks[s]))
        continue;
      Count own = value(s);
      if (own >= least.first)
        continue;
      Count sum = add(own, self(self, without(left, masks[s])));
      if (sum < least.first)
        least = {sum, s};
    }
    known[left] = least;
    return least.first;
  };
  const Mask start = maskOf(whole);
  Count result = recurse(recurse, start);
  if (parts && result != tooLarge)
    for (Mask left = start; firstOf(left) >= 0;) {
      parts->push_back(known.at(left).second);
      left = without(left, masks[parts->back()]);
    }
  return result;
}

bool BestPartition::canRun(const std::vector<size_t> &parts) const {
  Mask done(masks.empty() ? 0 : masks[0].size());
  std::vector<size_t> left = parts;
  while (!left.empty()) {
    auto ready = std::find_if(left.begin(), left.end(),
                              [&](size_t s) { return includes(done, needs[s]); });
    if (ready == left.end())
      return false;
    done = with(done, masks[*ready]);
    left.erase(ready);
  }
  return true;
}

Count BestPartition::bestThatRuns(const Value &value, std::vector<size_t> &parts) const {
  Count result = best(all(), value, &parts);
  if (canRun(parts))
    return result;
  parts.clear();
  return inOrder(value, parts);
}

Count BestPartition::inOrder(const Value &value, std::vector<size_t> &parts) const {
  std::map<Mask, std::pair<Count, size_t>> known; // by what is done
  bool tooMany = false;
  const Mask whole = maskOf(all());
  auto recurse = [&](auto &self, const Mask &done) -> Count {
    if (done == whole)
      return 0;
    if (auto at = known.find(done); at != known.end())
      return at->second.first;
    if (known.size() > maxStates) {
      tooMany = true;
      return tooLarge;
    }
    std::pair<Count, size_t> least{tooLarge, 0};
    known[done] = least;
    for (size_t s = 0; s < sets.size(); ++s) {
      if (!includes(done, needs[s]) || meets(done, masks[s]))
        continue;
      Count own = value(s);
      if (own >= least.first)
        continue;
      Count sum = add(own, self(self, with(done, masks[s])));
      if (sum < least.first)
        least = {sum, s};
    }
    known[done] = least;
    return least.first;
  };
  const Mask start(whole.size());
  Count result = recurse(recurse, start);
  if (tooMany || result == tooLarge) {
    // Each operator by itself always runs.
    result = 0;
    for (size_t s = 0; s < sets.size() && sets[s].size() == 1; ++s) {
      parts.push_back(s);
      result = add(result, value(s));
    }
    return result;
  }
  for (Mask done = start; done != whole;) {
    parts.push_back(known.at(done).second);
    done = with(done, masks[parts.back()]);
  }
  return result;
}
