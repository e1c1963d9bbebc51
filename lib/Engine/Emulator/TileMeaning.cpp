//===- TileMeaning.cpp - what operations on tiles mean --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileMeaning.h"

#include "Grid.h"
#include "TensorMaps.h"

#include "ft/Runtime/Arrays/Float16.h"
#include "ft/Support/SwizzledAddress.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace ft::emulate;

//===----------------------------------------------------------------------===//
// Elements and layouts
//===----------------------------------------------------------------------===//

double TileElement::toDouble(uint64_t word) const {
  if (bits == 64)
    return std::bit_cast<double>(word);
  if (bits == 32)
    return double(std::bit_cast<float>(uint32_t(word)));
  return double(isBrain ? rt::bfloatToFloat(uint16_t(word)) : rt::halfToFloat(uint16_t(word)));
}

int64_t TileElement::toInteger(uint64_t word) const {
  unsigned unused = 64 - bits;
  return isUnsigned ? int64_t(word << unused >> unused) : int64_t(word << unused) >> unused;
}

/// x·y + sum, rounded once to the type of the sum.
static uint64_t multiplyAdd(const TileElement &from, uint64_t x, const TileElement &with, uint64_t y, const TileElement &to,
                            uint64_t sum) {
  if (!to.isFloat) {
    uint64_t result = uint64_t(from.toInteger(x)) * uint64_t(with.toInteger(y)) + sum;
    return to.bits == 64 ? result : result & ((uint64_t(1) << to.bits) - 1);
  }
  double a = from.toDouble(x), b = with.toDouble(y), c = to.toDouble(sum);
  if (to.bits == 64)
    return std::bit_cast<uint64_t>(std::fma(a, b, c));
  if (to.bits == 32)
    return std::bit_cast<uint32_t>(std::fma(float(a), float(b), float(c)));
  return to.isBrain ? ft::rt::doubleToBfloat(a * b + c) : ft::rt::doubleToHalf(a * b + c);
}

uint32_t TileLayout::owner(int64_t row, int64_t column) const {
  auto along = [this](int64_t element, size_t d) {
    int64_t piece = element / vector[d] % (threads[d] * repeat[d]);
    return repeat[d] == 1 ? piece : piece / (warp[d] * repeat[d]) * warp[d] + piece % warp[d];
  };
  int64_t at[] = {along(row, 0), along(column, 1)};
  if (warp[0] == 0)
    return uint32_t(at[0] * threads[1] + at[1]);
  int64_t piece = at[0] / warp[0] * (threads[1] / warp[1]) + at[1] / warp[1];
  return uint32_t(piece * warp[0] * warp[1] + at[0] % warp[0] * warp[1] + at[1] % warp[1]);
}

uint64_t TileStages::address(uint64_t begin, uint64_t stage, int64_t row, int64_t column) const {
  return begin + (stage * uint64_t(stageStride) + uint64_t(row * rowStride + column)) * element.bytes();
}

void TileOperation::findOwners() {
  own.assign(size_t(layout.numThreads()), {});
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t column = 0; column < shape[1]; ++column)
      own[layout.owner(row, column)].push_back(uint32_t(row * shape[1] + column));
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// The n-th operation that a thread comes to is the n-th of all threads of its block.
BlockTiles::Instance &BlockTiles::enter(Grid &grid, const TileOperation &op, const uint64_t *words) {
  size_t threads = op.nest.threads ? size_t(op.nest.threads) : op.rows.threads ? size_t(op.rows.threads) : op.own.empty() ? grid.threadsOfBlock() : op.own.size();
  if (threads != grid.threadsOfBlock())
    grid.fail("(E6) comes to a layout of " + std::to_string(threads) + " threads in a block of " +
                  std::to_string(grid.threadsOfBlock()),
              op.site);
  steps.resize(grid.threadsOfBlock());
  uint64_t number = steps[grid.threadInBlock()]++ - firstInstance;
  if (number == instances.size()) {
    Instance &fresh = instances.emplace_back();
    fresh.op = &op;
    fresh.words.assign(words, words + op.numWords);
    fresh.salt = grid.draw();
    makeResults(grid, fresh);
    return fresh;
  }
  Instance &instance = instances[number];
  if (instance.op != &op)
    grid.fail("(E7) comes to this where another thread of its block comes to " + instance.op->text, op.site);
  for (unsigned i = 0; i < op.numWords; ++i)
    if (instance.words[i] != words[i])
      grid.fail("(E7) has another operand " + std::to_string(i) + " than another thread of its block: " +
                    std::to_string(int64_t(words[i])) + ", not " + std::to_string(int64_t(instance.words[i])),
                op.site);
  return instance;
}

void BlockTiles::makeResults(Grid &grid, Instance &instance) {
  const TileOperation &op = *instance.op;
  ++grid.tileRuns;
  instance.first = int64_t(tiles.size());
  for (unsigned i = 0; i < op.numResults; ++i) {
    std::shared_ptr<Tile> tile;
    // The last word of a product says that nothing else has the tile that it adds to.
    if (op.kind == TileKind::mma && instance.words.back() != 0)
      tile = tiles[instance.words.front()].tile;
    if (!tile) {
      tile = std::make_shared<Tile>();
      tile->words.resize(size_t(op.made[0] * op.made[1]));
      tile->known.resize(tile->words.size());
    }
    tiles.push_back({std::move(tile), 0});
  }
  if (op.kind == TileKind::fetch)
    fetchBoxes(grid, op, instance.words.data(), instance.first);
  if (op.kind == TileKind::lanes || op.kind == TileKind::points)
    setPoints(op, instance.words.data(), instance.first);
}

BlockTiles::Instance &BlockTiles::instanceOf(Grid &grid) {
  return instances[steps[grid.threadInBlock()] - 1 - firstInstance];
}

void BlockTiles::leave(Grid &grid) {
  ++instanceOf(grid).left;
  while (!instances.empty() && instances.front().left == grid.threadsOfBlock()) {
    instances.pop_front();
    ++firstInstance;
  }
}

int64_t BlockTiles::run(Grid &grid, const TileOperation &op, const uint64_t *words) {
  int64_t result = enter(grid, op, words).first;
  switch (op.kind) {
  case TileKind::load:
    load(grid, op, words, result);
    break;
  case TileKind::store:
    store(grid, op, words);
    break;
  case TileKind::copy:
    copy(grid, op, words);
    break;
  case TileKind::splat:
    for (uint32_t position : op.own[grid.threadInBlock()])
      put(result, position, words[0]);
    break;
  case TileKind::numbers:
    for (uint32_t position : op.own[grid.threadInBlock()])
      put(result, position, words[0] + uint64_t(words[1] == 0 ? position / op.shape[1] : position % op.shape[1]));
    break;
  case TileKind::concat:
    for (uint32_t position : op.own[grid.threadInBlock()]) {
      int64_t row = position / op.shape[1], column = position % op.shape[1];
      put(result, position, get(grid, op, int64_t(words[column / op.columns]), row * op.columns + column % op.columns));
    }
    break;
  case TileKind::part:
    for (uint32_t position : op.own[grid.threadInBlock()]) {
      int64_t row = position / op.shape[1], column = int64_t(words[1]) * op.shape[1] + position % op.shape[1];
      put(result, position, get(grid, op, int64_t(words[0]), row * op.columns + column));
    }
    break;
  case TileKind::rowValues:
    for (uint32_t position : op.own[grid.threadInBlock()])
      putRowValue(grid, op, result, position / op.shape[1], get(grid, op, int64_t(words[0]), position));
    break;
  case TileKind::broadcast:
    for (uint32_t position : op.own[grid.threadInBlock()])
      put(result, position, get(grid, op, int64_t(words[0]), position / op.shape[1]));
    break;
  case TileKind::mma:
    if (op.ofOthers) // what they have is there when all have come
      grid.meet(op.site);
    multiply(grid, op, words, result);
    break;
  case TileKind::map:
  case TileKind::fetch: // which the first of the threads has done for all
    break;
  case TileKind::nest: // of the orders that are left open
    result = int64_t(instanceOf(grid).salt >> 1);
    break;
  case TileKind::reduceRows:
  case TileKind::reduce: // what other threads have of the rows is there when all have come
    grid.meet(op.site);
    return result;
  default:
    runRows(grid, op, words, result);
    break;
  }
  leave(grid);
  return result;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

int64_t BlockTiles::count(Grid &grid, const TileOperation &op) {
  uint32_t thread = grid.threadInBlock(), threads = grid.threadsOfBlock();
  if (op.kind == TileKind::map)
    return int64_t(op.own[thread].size());
  uint64_t first = (thread + threads - instanceOf(grid).salt % threads) % threads;
  return (op.shape[0] + threads - 1 - int64_t(first)) / threads;
}

int64_t BlockTiles::place(Grid &grid, const TileOperation &op, int64_t number) {
  uint32_t thread = grid.threadInBlock(), threads = grid.threadsOfBlock();
  if (op.kind == TileKind::map)
    return op.own[thread][size_t(number)];
  return int64_t((thread + threads - instanceOf(grid).salt % threads) % threads) + number * threads;
}

/// Columns come in an order that a layout may decide: here in any.
int64_t BlockTiles::term(Grid &grid, const TileOperation &op, int64_t row, int64_t number) {
  uint64_t salt = instanceOf(grid).salt >> 16, step = salt % uint64_t(op.columns) + 1;
  while (std::gcd(step, uint64_t(op.columns)) != 1)
    ++step;
  return row * op.shape[1] + int64_t((salt / 7 + uint64_t(number) * step) % uint64_t(op.columns));
}

uint64_t BlockTiles::get(Grid &grid, const TileOperation &op, int64_t tile, int64_t position) {
  const std::shared_ptr<Tile> &from = tiles[size_t(tile)].tile;
  if (!from || !from->known[size_t(position)])
    grid.fail("(E6) reads element " + std::to_string(position / op.shape[1]) + ", " + std::to_string(position % op.shape[1]) +
                  " of a tile, which no thread has",
              op.site);
  return from->words[size_t(position)];
}

void BlockTiles::put(int64_t tile, int64_t position, uint64_t word) {
  Tile &to = *tiles[size_t(tile)].tile;
  to.words[size_t(position)] = word;
  to.known[size_t(position)] = true;
}

/// All threads that have elements of a row have the same value of it.
void BlockTiles::putRowValue(Grid &grid, const TileOperation &op, int64_t tile, int64_t row, uint64_t word) {
  Tile &to = *tiles[size_t(tile)].tile;
  if (to.known[size_t(row)] && to.words[size_t(row)] != word)
    grid.fail("(E6) takes elements for the value of row " + std::to_string(row) + " that differ", op.site);
  put(tile, row, word);
}

void BlockTiles::putRow(const TileOperation &op, int64_t tile, int64_t row, uint64_t word) {
  for (int64_t column = 0; column < op.made[1]; ++column)
    put(tile, row * op.made[1] + column, word);
}

void BlockTiles::join(Grid &grid, const TileOperation &op) {
  grid.meet(op.site);
  leave(grid);
}

void BlockTiles::drop(Grid &grid, int64_t tile) {
  Entry &entry = tiles[size_t(tile)];
  if (++entry.dropped == grid.threadsOfBlock())
    entry.tile.reset();
}

//===----------------------------------------------------------------------===//
// Matrices in memory
//===----------------------------------------------------------------------===//

/// `!tile.view` with its operands: a pointer, a stride for each digit, the sizes that the type leaves open, the indices at which
/// borders begin; then the row and the column at which an access begins.
struct BlockTiles::Matrix {
  Matrix(Grid &grid, const TileOperation &op, const uint64_t *words) : grid(grid), op(op), pointer(words[0]) {
    const uint64_t *next = words + 1;
    for (unsigned d : {0u, 1u})
      for (size_t i = 0; i < op.digits[d].size(); ++i)
        strides[d].push_back(int64_t(*next++));
    for (unsigned d : {0u, 1u}) {
      extent[d] = 1;
      for (int64_t size : op.digits[d])
        extent[d] *= size < 0 ? int64_t(*next++) : size;
    }
    for (size_t i = 0; i < op.borders.size(); ++i)
      firsts.push_back(int64_t(*next++));
    begin = {int64_t(next[0]), int64_t(next[1])};
    rest = next + 2;
  }

  /// How far an index along a dimension is, where each of its digits goes so far.
  int64_t distance(unsigned d, int64_t index, const int64_t *steps) const {
    int64_t result = 0;
    for (size_t i = op.digits[d].size(); i-- > 0;) {
      int64_t size = op.digits[d][i];
      result += (i == 0 ? index : index % size) * steps[i];
      index = i == 0 ? 0 : index / size;
    }
    return result;
  }
  /// Elements from the pointer to an index along a dimension.
  int64_t offset(unsigned d, int64_t index) const { return distance(d, index, strides[d].data()); }
  /// Whether an element is inside of all borders.
  bool isInsideBorders(int64_t row, int64_t column) const {
    for (size_t i = 0; i < op.borders.size(); ++i) {
      const int64_t *steps = op.borders[i].steps.data();
      int64_t at = firsts[i] + distance(0, row, steps) + distance(1, column, steps + op.digits[0].size());
      if (at < 0 || at >= op.borders[i].size)
        return false;
    }
    return true;
  }
  bool isInside(unsigned d, int64_t index) const {
    bool inside = index >= 0 && index < extent[d];
    if (!inside && op.inBounds[d]) {
      // What an index along this dimension does not move is there at any index.
      for (int64_t stride : strides[d])
        if (stride != 0)
          grid.fail("(E8) reaches " + std::string(d == 0 ? "row " : "column ") + std::to_string(index) + " of " +
                        std::to_string(extent[d]) + ", which `in_bounds` denies",
                    op.site);
      return true;
    }
    return inside;
  }
  /// The address of `width` adjacent elements from a place of the tile on; 0: they are beyond the matrix.
  uint64_t address(int64_t row, int64_t column, int64_t width) const {
    int64_t r = begin[0] + row, c = begin[1] + column;
    bool inside = isInside(0, r) && isInside(1, c) && isInsideBorders(r, c);
    int64_t first = inside ? offset(0, r) + offset(1, c) : 0;
    for (int64_t i = 1; i < width; ++i) {
      if (isInside(1, c + i) != isInside(1, c) || isInsideBorders(r, c + i) != isInsideBorders(r, c))
        grid.fail("(E8) takes " + std::to_string(width) + " columns at once from column " + std::to_string(c) +
                      " on, of which the matrix has some only",
                  op.site);
      if (inside && offset(1, c + i) != offset(1, c) + i)
        grid.fail("(E8) takes " + std::to_string(width) + " columns at once from column " + std::to_string(c) +
                      " on, which are not adjacent",
                  op.site);
    }
    if (!inside)
      return 0;
    uint64_t plain = pointer + uint64_t(first * int64_t(op.element.bytes()));
    return op.isSwizzled ? mlir::ft::swizzledAddress(plain) : plain;
  }

  Grid &grid;
  const TileOperation &op;
  uint64_t pointer;
  std::vector<int64_t> strides[2], firsts;
  Pair extent = {1, 1}, begin = {0, 0};
  const uint64_t *rest;
};

void BlockTiles::load(Grid &grid, const TileOperation &op, const uint64_t *words, int64_t result) {
  Matrix matrix(grid, op, words);
  uint32_t bytes = op.element.bytes(), all = uint32_t(op.width) * bytes;
  for (uint32_t position : op.own[grid.threadInBlock()]) {
    int64_t column = position % op.shape[1];
    if (column % op.width != 0)
      continue;
    uint64_t address = matrix.address(position / op.shape[1], column, op.width);
    if (address)
      grid.access(address, all, all, AccessKind::read, op.site);
    for (int64_t i = 0; i < op.width; ++i) {
      uint64_t word = 0;
      if (address)
        std::memcpy(&word, reinterpret_cast<const char *>(address) + i * bytes, bytes);
      put(result, position + i, word);
    }
  }
}

void BlockTiles::store(Grid &grid, const TileOperation &op, const uint64_t *words) {
  Matrix matrix(grid, op, words + 1);
  uint32_t bytes = op.element.bytes(), all = uint32_t(op.width) * bytes;
  for (uint32_t position : op.own[grid.threadInBlock()]) {
    int64_t column = position % op.shape[1];
    if (column % op.width != 0)
      continue;
    uint64_t address = matrix.address(position / op.shape[1], column, op.width);
    if (!address)
      continue;
    grid.access(address, all, all, AccessKind::write, op.site);
    for (int64_t i = 0; i < op.width; ++i) {
      uint64_t word = get(grid, op, int64_t(words[0]), position + i);
      std::memcpy(reinterpret_cast<char *>(address) + i * bytes, &word, bytes);
    }
  }
}

void BlockTiles::copy(Grid &grid, const TileOperation &op, const uint64_t *words) {
  Matrix matrix(grid, op, words);
  uint64_t shared = matrix.rest[0], stage = matrix.rest[1];
  uint32_t all = uint32_t(op.width) * op.element.bytes();
  for (uint32_t position : op.own[grid.threadInBlock()]) {
    int64_t row = position / op.shape[1], column = position % op.shape[1];
    if (column % op.width != 0)
      continue;
    uint64_t from = matrix.address(row, column, op.width), to = op.lhs.address(shared, stage, row, column);
    if (op.isAsync) {
      grid.copyAsync(reinterpret_cast<char *>(to), reinterpret_cast<const char *>(from), all, from ? all : 0, op.site);
      continue;
    }
    char data[16] = {};
    if (from) {
      grid.access(from, all, all, AccessKind::read, op.site);
      std::memcpy(data, reinterpret_cast<const char *>(from), all);
    }
    grid.access(to, all, all, AccessKind::write, op.site);
    std::memcpy(reinterpret_cast<char *>(to), data, all);
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Conditions, then of each part or alternative the map and coordinates, the slowest first.
void BlockTiles::fetchBoxes(Grid &grid, const TileOperation &op, const uint64_t *words, int64_t result) {
  const uint64_t *end = words + op.numWords, *conditions = words;
  const int64_t maps = op.conditions > 0 ? op.conditions + 1 : op.parts;
  words += op.conditions;
  bool isDone = false;
  for (int64_t i = 0; i < maps; ++i) {
    const auto *map = words < end ? reinterpret_cast<const TensorMapData *>(words[0]) : nullptr;
    if (!map || map->magic != TensorMapData::isMap || words + map->rank + 1 > end || (i + 1 == maps && words + map->rank + 1 != end))
      grid.fail("(E1) takes for a tensor map what is none", op.site);
    const bool isTaken = op.conditions == 0 || (!isDone && (i == op.conditions || (conditions[i] & 1)));
    if (isTaken)
      fetchPart(grid, op, words, op.conditions > 0 ? 0 : i, result);
    isDone |= isTaken;
    words += map->rank + 1;
  }
}

/// The slabs of a part, box by box.
void BlockTiles::fetchPart(Grid &grid, const TileOperation &op, const uint64_t *words, int64_t part, int64_t result) {
  const auto &map = *reinterpret_cast<const TensorMapData *>(words[0]);
  const uint32_t bytes = op.element.bytes();
  int64_t columns = map.box[0], rows = 1;
  for (uint32_t d = 1; d < map.rank; ++d)
    rows *= map.box[d];
  const bool isAlongRows = rows < op.made[0];
  const int64_t all = isAlongRows ? op.made[1] : op.made[1] / op.parts, firstRow = isAlongRows ? part * rows : 0, firstColumn = isAlongRows ? 0 : part * all;
  for (int64_t slab = 0; slab * columns < all; ++slab) {
    int32_t coordinates[TensorMapData::mostDims] = {};
    for (uint32_t d = 0; d < map.rank; ++d)
      coordinates[d] = int32_t(words[map.rank - d]) + (d == 0 ? int32_t(slab * columns) : 0);
    std::vector<char> box(map.boxBytes());
    TensorMapData plain = map; // elements lie where they count, whatever the order in shared memory
    plain.swizzleBytes = 0;
    for (const BoxPiece &piece : piecesOf(plain, coordinates, /*to=*/0)) {
      if (!piece.from)
        continue;
      grid.access(piece.from, piece.bytes, bytes, AccessKind::read, op.site);
      std::memcpy(box.data() + piece.to, reinterpret_cast<const void *>(piece.from), piece.bytes);
    }
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        uint64_t word = 0;
        std::memcpy(&word, box.data() + (row * columns + column) * bytes, bytes);
        put(result, (firstRow + row) * op.made[1] + firstColumn + slab * columns + column, word);
      }
  }
}

/// Terms of one row (or column) of an operand of a product: of a fetched tile, or of a stage in memory.
std::vector<uint64_t> BlockTiles::termsOf(Grid &grid, const TileOperation &op, const TileStages &operand, bool termsAreRows, const uint64_t *words,
                                          int64_t index) {
  int64_t terms = operand.shape[termsAreRows ? 0 : 1];
  std::vector<uint64_t> result(size_t(terms), 0);
  uint32_t bytes = operand.element.bytes();
  for (int64_t k = 0; k < terms; ++k) {
    const int64_t row = termsAreRows ? k : index, column = termsAreRows ? index : k;
    if (op.ofFetched) {
      result[size_t(k)] = get(grid, op, int64_t(words[0]), row * operand.shape[1] + column);
      continue;
    }
    uint64_t at = operand.address(words[0], words[1], row, column);
    grid.access(at, bytes, bytes, AccessKind::read, op.site);
    std::memcpy(&result[size_t(k)], reinterpret_cast<const void *>(at), bytes);
  }
  return result;
}

void BlockTiles::multiply(Grid &grid, const TileOperation &op, const uint64_t *words, int64_t result) {
  std::vector<std::vector<uint64_t>> rows(static_cast<size_t>(op.shape[0])), columns(static_cast<size_t>(op.shape[1]));
  for (uint32_t position : op.own[grid.threadInBlock()]) {
    int64_t i = position / op.shape[1], j = position % op.shape[1];
    std::vector<uint64_t> &row = rows[size_t(i)], &column = columns[size_t(j)];
    if (row.empty())
      row = termsOf(grid, op, op.lhs, op.lhs.isTransposed, words + 1, i);
    if (column.empty())
      column = termsOf(grid, op, op.rhs, !op.rhs.isTransposed, words + 3, j);
    uint64_t sum = get(grid, op, int64_t(words[0]), position);
    for (size_t k = 0; k < row.size(); ++k)
      sum = multiplyAdd(op.lhs.element, row[k], op.rhs.element, column[k], op.element, sum);
    put(result, position, sum);
  }
}
