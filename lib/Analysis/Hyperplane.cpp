//===- Hyperplane.cpp - the hyperplane method -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FT §5.2 takes non-negative coefficients and constant distances; here a distance
// may also be a range, and coefficients may be negative where that saves steps.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Hyperplane.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::etdg;

static std::optional<int64_t> dot(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  int64_t sum = 0;
  for (auto [x, y] : llvm::zip(a, b)) {
    int64_t product;
    if (llvm::MulOverflow(x, y, product) || llvm::AddOverflow(sum, product, sum))
      return std::nullopt;
  }
  return sum;
}

namespace {
/// The distances as a polyhedron's corners and rays: π·v ≥ 1, π·r ≥ 0.
struct Corners {
  SmallVector<SmallVector<int64_t>> vertices, rays;

  bool carriedBy(ArrayRef<int64_t> row) const {
    return llvm::all_of(vertices,
                        [&](ArrayRef<int64_t> vertex) {
                          auto steps = dot(row, vertex);
                          return steps && *steps >= 1;
                        }) &&
           llvm::all_of(rays,
                        [&](ArrayRef<int64_t> ray) { return dot(row, ray).value_or(-1) >= 0; });
  }
};
} // namespace

/// None where there would be very many.
static std::optional<Corners> getCorners(const Distances &distances, unsigned numDims) {
  constexpr unsigned maxVertices = 4096;
  Corners corners;
  auto addRay = [&](unsigned d, int64_t sign) {
    SmallVector<int64_t> ray(numDims, 0);
    ray[d] = sign;
    if (!llvm::is_contained(corners.rays, ray))
      corners.rays.push_back(ray);
  };
  for (ArrayRef<DistanceRange> distance : distances) {
    SmallVector<SmallVector<int64_t>> vertices(1, SmallVector<int64_t>(numDims, 0));
    for (auto [d, range] : llvm::enumerate(distance)) {
      if (!range.low)
        addRay(d, -1);
      if (!range.high)
        addRay(d, 1);
      int64_t low = range.low ? *range.low : range.high.value_or(0);
      int64_t high = range.high.value_or(low);
      if (high != low && vertices.size() > maxVertices)
        return std::nullopt;
      unsigned count = vertices.size();
      for (unsigned i = 0; i < count; ++i) {
        if (high != low) {
          vertices.push_back(vertices[i]);
          vertices.back()[d] = high;
        }
        vertices[i][d] = low;
      }
    }
    for (SmallVector<int64_t> &vertex : vertices)
      if (!llvm::is_contained(corners.vertices, vertex))
        corners.vertices.push_back(vertex);
  }
  return corners;
}

/// One row that always exists where there are no rays: from the innermost
/// dimension outwards, as large as the distances that begin there need. Only of
/// the dimensions `involved`.
static std::optional<SmallVector<int64_t>>
constructHyperplane(const Corners &corners, ArrayRef<unsigned> involved, unsigned numDims) {
  SmallVector<int64_t> row(numDims, 0);
  for (unsigned d : llvm::reverse(involved))
    for (ArrayRef<int64_t> vertex : corners.vertices) {
      auto begins = llvm::find_if(involved, [&](unsigned i) { return vertex[i] != 0; });
      if (begins == involved.end() || *begins != d || vertex[d] < 0)
        continue;
      auto inner = dot(ArrayRef(row).drop_front(d + 1), vertex.drop_front(d + 1));
      if (!inner)
        return std::nullopt;
      // row_d · vertex_d ≥ 1 − inner
      int64_t least = llvm::divideCeilSigned(1 - *inner, vertex[d]);
      row[d] = std::max(row[d], std::max<int64_t>(least, 0));
    }
  if (!corners.carriedBy(row))
    return std::nullopt;
  return row;
}

/// A common factor would only spread the steps.
static void makePrimitive(MutableArrayRef<int64_t> row) {
  int64_t common = 0;
  for (int64_t c : row)
    common = std::gcd(common, c);
  for (int64_t &c : row)
    c /= common;
}

namespace {
/// Fewer steps first, then smaller and less negative coefficients.
struct Cost {
  double steps;
  int64_t sum, negative;
  bool operator<(const Cost &other) const {
    return std::tie(steps, sum, negative) < std::tie(other.steps, other.sum, other.negative);
  }
};
} // namespace

static Cost getCost(ArrayRef<int64_t> row, ArrayRef<int64_t> extents) {
  Cost cost{1, 0, 0};
  for (auto [c, extent] : llvm::zip(row, extents)) {
    // A typical length of 1 says nothing of others.
    cost.steps += std::abs(double(c)) * std::max<double>(double(extent) - 1, 0.5);
    cost.sum += std::abs(c);
    cost.negative += c < 0;
  }
  return cost;
}

std::optional<SmallVector<int64_t>> etdg::findHyperplane(const Distances &distances,
                                                         ArrayRef<int64_t> extents) {
  unsigned numDims = extents.size();
  if (distances.empty())
    return std::nullopt;
  std::optional<Corners> corners = getCorners(distances, numDims);
  if (!corners)
    return std::nullopt;
  // Dimensions that no distance has stay out, and those in which one goes both ways.
  SmallVector<unsigned> involved;
  for (unsigned d = 0; d < numDims; ++d) {
    bool bothWays = llvm::any_of(distances, [&](ArrayRef<DistanceRange> distance) {
      return !distance[d].low && !distance[d].high;
    });
    if (!bothWays && llvm::any_of(distances, [&](ArrayRef<DistanceRange> distance) {
          return !distance[d].isZero();
        }))
      involved.push_back(d);
  }
  std::optional<SmallVector<int64_t>> best = constructHyperplane(*corners, involved, numDims);
  int64_t largest = 2;
  if (best)
    largest = std::max(largest, *llvm::max_element(*best));
  // All rows with coefficients up to the largest one needed so far, as far as
  // they can be gone through.
  constexpr double maxRows = 50000;
  auto numRows = [&](int64_t reach) { return std::pow(2.0 * reach + 1, involved.size()); };
  int64_t reach = std::min<int64_t>(largest, 64);
  while (reach > 1 && numRows(reach) > maxRows)
    --reach;
  if (!involved.empty() && numRows(reach) <= maxRows) {
    std::optional<Cost> bestCost;
    if (best)
      bestCost = getCost(*best, extents);
    SmallVector<int64_t> row(numDims, 0);
    for (unsigned d : involved)
      row[d] = -reach;
    while (true) {
      Cost cost = getCost(row, extents);
      if ((!bestCost || cost < *bestCost) && corners->carriedBy(row)) {
        best = row;
        bestCost = cost;
      }
      unsigned i = 0;
      while (i < involved.size() && row[involved[i]] == reach)
        row[involved[i++]] = -reach;
      if (i == involved.size())
        break;
      ++row[involved[i]];
    }
  }
  if (best)
    makePrimitive(*best);
  return best;
}
