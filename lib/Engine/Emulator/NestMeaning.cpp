//===- NestMeaning.cpp - whose the points of a nest are -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `#tile.point_tiles` by its definition. Points are numbered tile by tile, a number for each place that a tile has.
//
//===----------------------------------------------------------------------===//
#include "Grid.h"

#include <algorithm>
#include <numeric>

using namespace ft::emulate;

int64_t TileNest::step(int64_t which) const {
  if (which == loop && !ofRows)
    return tile;
  return which == vector && !reduced[size_t(which)] ? width : 1;
}

/// Tiles along a loop.
int64_t TileNest::tilesAlong(int64_t which, int64_t columns) const {
  return (which == split ? columns : loops[size_t(which)]) / step(which);
}

int64_t TileNest::countTiles(int64_t rows, int64_t columns) const {
  int64_t tileOfRows = ofRows ? tile : 1, count = (rows + tileOfRows - 1) / tileOfRows * lifts;
  for (size_t i = 0; i < loops.size(); ++i)
    count *= reduced[i] ? 1 : tilesAlong(int64_t(i), columns);
  return count;
}

/// The first tile of a thread, and how many tiles further its next one is; a step of 0: it has none.
std::pair<int64_t, int64_t> TileNest::tilesOf(int64_t thread, int64_t total) const {
  if (slices > 1) { // the first slice's thread has the sum
    int64_t atOnce = std::max<int64_t>(std::min(total, threads), 1);
    return {thread, thread < atOnce ? atOnce : 0};
  }
  return {thread / lanes, thread % lanes == 0 ? threads / lanes : 0};
}

int64_t TileNest::count(int64_t thread, int64_t rows, int64_t columns) const {
  int64_t total = countTiles(rows, columns);
  auto [first, step] = tilesOf(thread, total);
  return step == 0 || first >= total ? 0 : (total - first + step - 1) / step * places();
}

/// A number in [0, count) for each number, in an order that the salt draws.
static int64_t shuffled(uint64_t salt, int64_t number, int64_t count) {
  uint64_t step = salt % uint64_t(count) + 1;
  while (std::gcd(step, uint64_t(count)) != 1)
    ++step;
  return int64_t((salt / 7 % uint64_t(count) + uint64_t(number) * step) % uint64_t(count));
}

int64_t TileNest::term(uint64_t salt, int64_t place, int64_t number, int64_t terms) {
  return shuffled((salt >> 16) + uint64_t(place), number, terms);
}

int64_t TileNest::place(int64_t thread, uint64_t salt, int64_t number, int64_t rows, int64_t columns) const {
  auto [first, step] = tilesOf(thread, countTiles(rows, columns));
  number = shuffled(salt >> 8, number, count(thread, rows, columns));
  int64_t result = (first + number / places() * step) * places() + number % places();
  return index(result, 0, rows, columns) < rows ? result : -1;
}

/// The vector's loop is the fastest, then the others from the last on, lifts, and rows.
int64_t TileNest::index(int64_t place, int64_t which, int64_t rows, int64_t columns) const {
  int64_t inVector = ownsVector() ? width : 1, rest = place / places(), inTile = place % places() / inVector;
  auto take = [&](int64_t count) {
    int64_t digit = rest % count;
    rest /= count;
    return digit;
  };
  auto takeLoop = [&](int64_t at) {
    int64_t digit = take(tilesAlong(at, columns)) * step(at);
    return digit + (at == loop && !ofRows ? inTile : 0) + (at == vector ? place % inVector : 0);
  };
  if (ownsVector() && vector >= 0) {
    int64_t found = takeLoop(vector);
    if (which == vector + 2)
      return found;
  }
  for (int64_t at = int64_t(loops.size()) - 1; at >= 0; --at) {
    if (reduced[size_t(at)] || at == vector)
      continue;
    int64_t found = takeLoop(at);
    if (which == at + 2)
      return found;
  }
  int64_t lift = take(lifts);
  return which == 1 ? lift : ofRows ? rest * tile + inTile : rest;
}
