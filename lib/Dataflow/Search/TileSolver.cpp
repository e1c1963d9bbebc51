//===- TileSolver.cpp - tiles of a fixed loop structure -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileSolver.h"

#include <algorithm>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

Count JointFloor::byPairs(Count volume) const {
  const Count m = users.size();
  if (pairs == 0 || m < 2)
    return 0;
  const Count once = pairs / (m - 1), more = multiply(m - 2, volume);
  return once > more / 2 + 1 ? once - more / 2 - (more > 0) : 0;
}

Count JointFloor::least(Count volume) const {
  auto sum = [&](Count moved) {
    Count total = moved;
    for (const User &user : users)
      total = add(total, std::max(user.own, subtract(user.alone, std::min(user.alone, moved))));
    return total;
  };
  if (isFixed)
    return std::max(sum(volume), byPairs(volume));
  // Linear between the volumes at which a user is satisfied; from where all but one are, it grows or stays.
  Count result = sum(volume), last = volume, satisfied = volume;
  for (const User &user : users)
    if (user.alone > user.own && user.alone - user.own > volume) {
      const Count at = user.alone - user.own;
      if (const Count here = sum(at); here < result)
        result = here, satisfied = at;
      last = std::max(last, at);
    }
  if (byPairs(satisfied) <= result)
    return result;
  // What pairs say falls as the slot moves more: to where both agree, after the last of these volumes.
  if (byPairs(last) <= sum(last))
    return result;
  const Count own = sum(last) - last, m = users.size(), whole = pairs / (m - 1);
  return std::max(result, whole > own ? own + 2 * (whole - own - 1) / m : 0);
}

Count TileSolver::traffic(const Box &at) const {
  Count total = 0;
  std::vector<Count> parts;
  for (const TrafficPart &part : problem.traffic) {
    Count sum = 0;
    for (const Term &term : part.terms) {
      Count product = term.coefficient;
      for (uint8_t v : term.variables)
        product = multiply(product, (*problem.choices[v])[at[v]].trips);
      sum = add(sum, product);
    }
    const Count moved = std::max(part.floor, subtract(sum, part.offset));
    total = add(total, moved);
    if (!problem.joint.empty())
      parts.push_back(moved);
  }
  for (const JointFloor &joint : problem.joint) {
    Count together = parts[joint.slot];
    for (const JointFloor::User &user : joint.users)
      together = add(together, parts[user.part]);
    const Count least = joint.least(parts[joint.slot]);
    if (least > together && total != tooLarge)
      total = add(total, least - together);
  }
  return total;
}

bool TileSolver::fits(const Box &at) const {
  for (const auto &use : problem.uses) {
    Count sum = 0;
    for (const auto &part : use) {
      Count largest = 0;
      for (const Term &term : part) {
        Count product = term.coefficient;
        for (uint8_t v : term.variables)
          product = multiply(product, (*problem.choices[v])[at[v]].extent);
        largest = std::max(largest, product);
      }
      sum = add(sum, largest);
      if (sum > problem.buffer)
        return false;
    }
  }
  return true;
}

/// Cuts off choices that can't be: tiles that do not fit even beside the smallest others, and tiles
/// so small that they move too much even beside the largest others. False if nothing is left.
bool TileSolver::tighten(Box &low, Box &high) {
  if (!fits(high) || hopeless(traffic(low)))
    return false;
  for (unsigned v = 0; v < low.size(); ++v) {
    if (low[v] == high[v])
      continue;
    // The first choice that fits.
    Box at = high;
    unsigned a = low[v], b = high[v];
    while (a < b) {
      at[v] = (a + b) / 2;
      if (fits(at))
        b = at[v];
      else
        a = at[v] + 1;
    }
    low[v] = a;
  }
  for (unsigned v = 0; v < low.size(); ++v) {
    if (low[v] == high[v])
      continue;
    // The last choice that may be better than what is known.
    Box at = low;
    unsigned a = low[v], b = high[v];
    while (a < b) {
      at[v] = (a + b + 1) / 2;
      if (hopeless(traffic(at)))
        b = at[v] - 1;
      else
        a = at[v];
    }
    high[v] = a;
  }
  return fits(high) && !hopeless(traffic(low));
}

void TileSolver::branch(Box low, Box high) {
  ++nodes;
  for (Box before;;) {
    before = low;
    Box upper = high;
    if (!tighten(low, high))
      return;
    if (before == low && upper == high)
      break;
  }
  if (fits(low)) {
    best = traffic(low);
    choice = low;
    found = true;
    return;
  }
  if (limit && ++looked > limit) {
    leftOut = std::min(leftOut, traffic(low));
    return;
  }
  // Halve the variable with the widest range of tiles.
  unsigned widest = 0;
  double ratio = 0;
  for (unsigned v = 0; v < low.size(); ++v) {
    const TileList &list = *problem.choices[v];
    double r = double(list[low[v]].extent) / double(list[high[v]].extent);
    if (low[v] < high[v] && r > ratio)
      ratio = r, widest = v;
  }
  if (low[widest] == high[widest])
    return;
  const TileList &list = *problem.choices[widest];
  // In the middle of the tiles' logarithms, or as near as the list has it.
  unsigned middle = low[widest];
  double limit = double(list[low[widest]].extent) * double(list[high[widest]].extent);
  while (middle + 1 < high[widest] &&
         double(list[middle + 1].extent) * double(list[middle + 1].extent) >= limit)
    ++middle;
  Box lowerHigh = high, upperLow = low;
  lowerHigh[widest] = middle;
  upperLow[widest] = middle + 1;
  branch(low, lowerHigh);
  if (!(found && anyWillDo))
    branch(upperLow, high);
}

bool TileSolver::start(Count cutoff) {
  best = cutoff;
  Box low = problem.first, high;
  for (unsigned v = 0; v < problem.choices.size(); ++v) {
    high.push_back(problem.choices[v]->size() - 1);
    if (low[v] > high[v]) {
      bound = tooLarge;
      return false;
    }
  }
  branch(low, high);
  // What was cut off moves cutoff/(1+gap) or more, or best/(1+gap) or more.
  bound = best == tooLarge || gap == 0 ? best : Count(double(best) / (1 + gap));
  bound = std::min(bound, leftOut);
  return found;
}

bool TileSolver::solve(Count cutoff, Count &least, std::vector<unsigned> &solution) {
  if (!start(cutoff))
    return false;
  least = best;
  solution = choice;
  return true;
}

bool TileSolver::isFeasible(Count cutoff) {
  anyWillDo = true;
  return start(cutoff);
}
