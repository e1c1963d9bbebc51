//===- MinimumCut.cpp - minimum cuts of networks --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MinimumCut.h"

#include <algorithm>
#include <deque>

using namespace mlir::ft::differentiate;

void MinimumCut::addEdge(unsigned from, unsigned to, int64_t capacity) {
  unsigned there = edges[from].size(), back = edges[to].size();
  edges[from].push_back({to, capacity, back});
  edges[to].push_back({from, 0, there});
}

std::vector<bool> MinimumCut::search(llvm::SmallVectorImpl<std::pair<unsigned, unsigned>> &by) {
  std::vector<bool> reached(edges.size());
  std::deque<unsigned> work = {source};
  reached[source] = true;
  while (!work.empty()) {
    unsigned node = work.front();
    work.pop_front();
    for (unsigned i = 0; i < edges[node].size(); ++i) {
      const Edge &edge = edges[node][i];
      if (edge.capacity == 0 || reached[edge.to])
        continue;
      reached[edge.to] = true;
      by[edge.to] = {node, i};
      work.push_back(edge.to);
    }
  }
  return reached;
}

std::vector<bool> MinimumCut::solve() {
  llvm::SmallVector<std::pair<unsigned, unsigned>> by(edges.size());
  while (true) {
    std::vector<bool> reached = search(by);
    if (!reached[sink])
      return reached;
    int64_t flow = infinite;
    for (unsigned node = sink; node != source; node = by[node].first)
      flow = std::min(flow, edges[by[node].first][by[node].second].capacity);
    // A path without a bound has no cut at all; what is asked for is then as good as any.
    if (flow == infinite)
      return reached;
    for (unsigned node = sink; node != source; node = by[node].first) {
      Edge &edge = edges[by[node].first][by[node].second];
      if (edge.capacity != infinite)
        edge.capacity -= flow;
      int64_t &back = edges[node][edge.back].capacity;
      if (back != infinite)
        back += flow;
    }
  }
}
