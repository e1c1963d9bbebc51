//===- RowMeaning.cpp - what operations on rows mean ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows in registers, by the definitions of their layouts: an element of a row is
// its lane's, a value for each row all its lanes'. Elements outside of rows are
// no one's: what lanes compute there is no part of what an operation means.
//
//===----------------------------------------------------------------------===//
#include "Grid.h"

#include <algorithm>
#include <cstring>

using namespace ft::emulate;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

int64_t BlockTiles::countOfRows(const TileOperation &op) const {
  return op.rows.isSliced ? op.rows.rows : op.rows.rows * op.rows.chunks() * op.rows.width;
}

/// Places are counted row by row, then by access.
int64_t BlockTiles::placeInRows(Grid &grid, const TileOperation &op, int64_t points, int64_t number) const {
  const TileRows &rows = op.rows;
  int64_t thread = grid.threadInBlock(), each = countOfRows(op) / rows.rows;
  int64_t row = number / each * rows.groups() + thread / rows.lanes;
  if (rows.isSliced)
    return row;
  auto shift = int64_t(tiles[size_t(points)].tile->words[size_t(2 + row)]);
  int64_t access = number % each / rows.width * rows.lanes + thread % rows.lanes - shift;
  bool isInside = access >= 0 && access < rows.length / rows.width;
  return isInside ? row * rows.length + access * rows.width + number % rows.width : -1;
}

int64_t BlockTiles::slotOfLane(Grid &grid, const TileOperation &op, int64_t number) const {
  const TileRows &rows = op.rows;
  int64_t thread = grid.threadInBlock(), each = countOfRows(op) / rows.rows;
  int64_t row = number / each * rows.groups() + thread / rows.lanes;
  return (row * rows.lanes + thread % rows.lanes) * rows.width + number % rows.width;
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

/// Lanes are at the first row, of none that are counted.
bool BlockTiles::isRowThere(int64_t points, int64_t row) const {
  const std::vector<uint64_t> &words = tiles[size_t(points)].tile->words;
  return words[1] == 0 || int64_t(words[0]) + row < int64_t(words[1]);
}

int64_t BlockTiles::indexInRows(const TileOperation &op, int64_t points, int64_t position, int64_t which) const {
  const std::vector<uint64_t> &words = tiles[size_t(points)].tile->words;
  int64_t length = op.rows.isSliced ? 1 : op.rows.length;
  int64_t rest = words[1] == 0 ? 0 : std::min(int64_t(words[0]) + position / length, int64_t(words[1]) - 1);
  if (which == int64_t(op.rows.digits.size()) + 1)
    return position % length;
  int64_t digit = 0;
  for (int64_t d = int64_t(op.rows.digits.size()); d >= which && d > 0; --d) {
    digit = rest % op.rows.digits[size_t(d - 1)];
    rest /= op.rows.digits[size_t(d - 1)];
  }
  return which == 0 ? rest : digit;
}

uint64_t BlockTiles::addressInRows(const TileOperation &op, int64_t points, int64_t position, int64_t begin, uint64_t pointer,
                                   int64_t stride) const {
  int64_t offset = begin + stride * indexInRows(op, points, position, 0);
  for (size_t d = 0; d < op.place.digits.size(); ++d)
    offset += op.place.digits[d] * indexInRows(op, points, position, int64_t(d) + 1);
  if (!op.rows.isSliced)
    offset += op.place.step * (position % op.rows.length);
  return pointer + uint64_t(offset) * op.element.bytes();
}

/// Words of points: the first row and how many there are, then the pointer and the stride of what rows are shifted by.
void BlockTiles::setPoints(const TileOperation &op, const uint64_t *words, int64_t result) {
  std::vector<uint64_t> &to = tiles[size_t(result)].tile->words;
  to.assign(size_t(2 + op.rows.rowsAtOnce()), 0);
  if (op.kind == TileKind::lanes)
    return;
  to[0] = words[0];
  to[1] = words[1];
  if (op.numWords < 4)
    return;
  TileOperation rows = op;
  rows.rows.isSliced = true; // where rows begin
  for (int64_t row = 0; row < op.rows.rowsAtOnce(); ++row) {
    uint64_t address = addressInRows(rows, result, row, op.place.offset, words[2], int64_t(words[3]));
    to[size_t(2 + row)] = address / (uint64_t(op.rows.width) * op.element.bytes()) % uint64_t(op.rows.line);
  }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Words: points, the tile, a position in it, where memory begins, the pointer, the stride of the leaf's rows.
void BlockTiles::fetch(Grid &grid, const TileOperation &op, const uint64_t *words) {
  auto position = int64_t(words[2]);
  if (position % op.width != 0)
    return;
  uint64_t address = addressInRows(op, int64_t(words[0]), position, int64_t(words[3]), words[4], int64_t(words[5]));
  uint32_t bytes = op.element.bytes(), all = uint32_t(op.width) * bytes;
  grid.access(address, all, all, AccessKind::read, op.site);
  for (int64_t i = 0; i < op.width; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char *>(address) + i * bytes, bytes);
    put(int64_t(words[1]), position + i, op.element.bits == 1 ? word & 1 : word);
  }
}

/// Words: the tile, points, the pointer, the stride of the leaf's rows.
void BlockTiles::storeRows(Grid &grid, const TileOperation &op, const uint64_t *words) {
  auto points = int64_t(words[1]);
  uint32_t bytes = op.element.bytes(), all = uint32_t(op.width) * bytes;
  for (int64_t number = 0; number < countOfRows(op); ++number) {
    int64_t position = placeInRows(grid, op, points, number);
    bool isFirst = op.rows.isSliced ? grid.threadInBlock() % op.rows.lanes == 0 : position % op.width == 0;
    if (position < 0 || !isFirst || !isRowThere(points, position / (op.rows.isSliced ? 1 : op.rows.length)))
      continue;
    uint64_t address = addressInRows(op, points, position, op.place.offset, words[2], int64_t(words[3]));
    grid.access(address, all, all, AccessKind::write, op.site);
    for (int64_t i = 0; i < op.width; ++i) {
      uint64_t word = get(grid, op, int64_t(words[0]), position + i);
      std::memcpy(reinterpret_cast<char *>(address) + i * bytes, &word, bytes);
    }
  }
}

void BlockTiles::runRows(Grid &grid, const TileOperation &op, const uint64_t *words, int64_t result) {
  const TileRows &rows = op.rows;
  if (op.kind == TileKind::storeRows)
    storeRows(grid, op, words);
  if (op.kind == TileKind::spread) // of each group there was one row
    for (int64_t row = grid.threadInBlock() / rows.lanes; row < rows.rowsAtOnce(); row += rows.groups())
      put(result, row, get(grid, op, int64_t(words[0]), row % rows.groups()));
  if (op.kind != TileKind::accumulate)
    return;
  for (int64_t i = 0; i < int64_t(op.numResults); ++i)
    for (int64_t number = 0; number < countOfRows(op); ++number)
      put(result + i, slotOfLane(grid, op, number), words[i]);
}
