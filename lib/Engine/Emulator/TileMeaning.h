//===- TileMeaning.h - what operations on tiles mean ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter of the dialect `tile`. Here a tile in registers is an array of
// all its elements, which the threads of a block share, and each operation does
// what its definition says, element by element: nothing of how `TileToNVVM` lowers
// it is used. Who computes an element follows from the definition of its layout,
// and memory is accessed as that thread, so that the rules of `Grid.h` hold (E1 to
// E5). Beside them:
//
// (E6) an element that is read before its thread has it, a layout of other threads
//      than the block has;
// (E7) threads of a block that differ in the operation that they come to, or in an
//      operand that is one value for all of them;
// (E8) an access that `in_bounds` or `width` promises more of than holds: elements
//      beyond the matrix, an access of a nest that is not aligned, columns that are not adjacent or only partly inside of it or of its borders.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_ENGINE_EMULATOR_TILEMEANING_H
#define FT_LIB_ENGINE_EMULATOR_TILEMEANING_H

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace ft::emulate {

class Grid;

enum class TileKind {
  load, store, copy, fetch, splat, numbers, concat, part, rowValues, broadcast, mma, map, reduce, // matrices
  lanes, points, loadRows, storeRows, mapRows, accumulate, reduceRows, spread, // rows
  nest
};
using Pair = std::array<int64_t, 2>;

/// An element's type. Its bits lie in the low bits of a word.
struct TileElement {
  uint32_t bits = 32;
  bool isFloat = true, isBrain = false, isUnsigned = false;

  uint32_t bytes() const { return (bits + 7) / 8; }
  double toDouble(uint64_t word) const;
  int64_t toInteger(uint64_t word) const;
};

/// `#tile.blocked`; a warp of zeros is none.
struct TileLayout {
  Pair vector = {1, 1}, threads = {1, 1}, warp = {0, 0}, repeat = {1, 1};

  int64_t numThreads() const { return threads[0] * threads[1]; }
  /// The thread that has the element at a row and a column.
  uint32_t owner(int64_t row, int64_t column) const;
};

/// `!tile.shared`: its stages, rows and elements.
struct TileStages {
  Pair shape = {1, 1};
  int64_t rowStride = 1, stageStride = 1;
  TileElement element;
  bool isTransposed = false;

  uint64_t address(uint64_t begin, uint64_t stage, int64_t row, int64_t column) const;
};

/// `#tile.border`.
struct TileBorder {
  std::vector<int64_t> steps; // by digit of the rows, then of the columns
  int64_t size = 1;
};

/// `!tile.points`: which rows there are, and which lane has what of them.
struct TileRows {
  int64_t threads = 0, lanes = 1, width = 1, rows = 1, line = 1, length = 1;
  std::vector<int64_t> digits;
  /// One value for each row, which all its lanes have.
  bool isSliced = false;

  int64_t groups() const { return threads / lanes; }
  int64_t rowsAtOnce() const { return groups() * rows; }
  int64_t chunks() const { return (length / width + line + lanes - 2) / lanes; }
};

/// `#tile.row_place`.
struct TileRowPlace {
  int64_t offset = 0, step = 0;
  std::vector<int64_t> digits;
};

/// `#tile.point_tiles` and the nest that it is of (NestMeaning.cpp).
struct TileNest {
  int64_t threads = 0, vector = -1, width = 1, loop = -1, tile = 1;
  bool ofRows = false;
  int64_t lanes = 1, slices = 1, lifts = 1, split = -1;
  std::vector<int64_t> loops;
  std::vector<bool> reduced;

  /// How many places of points a thread has, and which one comes after so many others; -1: its row is missing.
  int64_t count(int64_t thread, int64_t rows, int64_t columns) const;
  int64_t place(int64_t thread, uint64_t salt, int64_t number, int64_t rows, int64_t columns) const;
  /// The row (0), the lift (1), or the iteration of a loop of the point at a place.
  int64_t index(int64_t place, int64_t which, int64_t rows, int64_t columns) const;
  /// Which of a point's terms comes after so many others, where any order is right.
  static int64_t term(uint64_t salt, int64_t place, int64_t number, int64_t terms);

private:
  bool ownsVector() const { return vector < 0 || !reduced[size_t(vector)]; }
  int64_t places() const { return tile * (ownsVector() ? width : 1); }
  int64_t step(int64_t which) const;
  int64_t tilesAlong(int64_t which, int64_t columns) const;
  int64_t countTiles(int64_t rows, int64_t columns) const;
  std::pair<int64_t, int64_t> tilesOf(int64_t thread, int64_t total) const;
};

/// One operation of a kernel.
struct TileOperation {
  TileKind kind = TileKind::splat;
  std::string text; // the operation and where it stands
  uint32_t site = 0;
  unsigned numWords = 0, numResults = 0;
  Pair shape = {1, 1}, made = {1, 1}; // that it works on, of its results
  TileElement element;
  TileLayout layout;
  // Accesses of a matrix: sizes of its digits, -1 where an operand says it.
  std::vector<int64_t> digits[2];
  std::vector<TileBorder> borders;
  bool inBounds[2] = {false, false};
  bool isSwizzled = false; // memory whose pieces have changed places
  int64_t width = 1;
  bool isAsync = false;
  /// The operands of a product; `lhs` is also where a copy goes.
  TileStages lhs, rhs;
  bool ofFetched = false; // of tiles that were fetched, not of memory
  int64_t parts = 1;      // that a fetched tile is made of
  int64_t conditions = 0; // of all places but the last that a tile may be fetched from
  bool ofOthers = false;  // of a tile of which other threads have elements
  /// Of each row, how many elements are combined.
  int64_t columns = 1;
  /// Of operations on rows.
  TileRows rows;
  TileRowPlace place;
  TileNest nest;
  /// By thread, the positions (row by row) of its elements of `shape`.
  std::vector<std::vector<uint32_t>> own;

  void findOwners();
};

/// The tiles of one thread block.
class BlockTiles {
public:
  /// The calling thread's part of an operation; the number of its first result.
  int64_t run(Grid &grid, const TileOperation &op, const uint64_t *words);
  /// How many elements (of a `map`) or rows (of a `reduce`) the thread computes, and which.
  int64_t count(Grid &grid, const TileOperation &op);
  int64_t place(Grid &grid, const TileOperation &op, int64_t number);
  /// The position of a row's element that is combined after so many others.
  int64_t term(Grid &grid, const TileOperation &op, int64_t row, int64_t number);
  uint64_t get(Grid &grid, const TileOperation &op, int64_t tile, int64_t position);
  void put(int64_t tile, int64_t position, uint64_t word);
  /// All elements of a row.
  void putRow(const TileOperation &op, int64_t tile, int64_t row, uint64_t word);
  /// All rows of a `reduce` are there when this returns.
  void join(Grid &grid, const TileOperation &op);
  /// The thread needs the tile no more.
  void drop(Grid &grid, int64_t tile);

  // Rows (RowMeaning.cpp). Points are tiles: their first row, how many there are in all, and where each begins.
  /// How many places a lane has for elements of its rows, and which element is at one; -1: none.
  int64_t countOfRows(const TileOperation &op) const;
  int64_t placeInRows(Grid &grid, const TileOperation &op, int64_t points, int64_t number) const;
  /// Where a lane combines what is at one of these places.
  int64_t slotOfLane(Grid &grid, const TileOperation &op, int64_t number) const;
  /// An index of the element at a position: the row of the leaf, digits of its point, the element.
  int64_t indexInRows(const TileOperation &op, int64_t points, int64_t position, int64_t which) const;
  /// Reads the access that begins at an element, at `begin` after the pointer but for what its indices add.
  void fetch(Grid &grid, const TileOperation &op, const uint64_t *words);

private:
  struct Tile {
    std::vector<uint64_t> words;
    std::vector<bool> known;
  };
  struct Entry {
    std::shared_ptr<Tile> tile;
    uint32_t dropped = 0;
  };
  /// An operation that some threads have come to, and not all have left.
  struct Instance {
    const TileOperation *op = nullptr;
    std::vector<uint64_t> words;
    int64_t first = 0;
    uint32_t left = 0;
    uint64_t salt = 0; // of the orders that it leaves open
  };
  /// A matrix in memory, as an access is given it.
  struct Matrix;

  Instance &enter(Grid &grid, const TileOperation &op, const uint64_t *words);
  void makeResults(Grid &grid, Instance &instance);
  Instance &instanceOf(Grid &grid);
  void leave(Grid &grid);
  void load(Grid &grid, const TileOperation &op, const uint64_t *words, int64_t result);
  void store(Grid &grid, const TileOperation &op, const uint64_t *words);
  void copy(Grid &grid, const TileOperation &op, const uint64_t *words);
  void multiply(Grid &grid, const TileOperation &op, const uint64_t *words, int64_t result);
  void putRowValue(Grid &grid, const TileOperation &op, int64_t tile, int64_t row, uint64_t word);
  void fetchBoxes(Grid &grid, const TileOperation &op, const uint64_t *words, int64_t result);
  void fetchPart(Grid &grid, const TileOperation &op, const uint64_t *words, int64_t part, int64_t result);
  std::vector<uint64_t> termsOf(Grid &grid, const TileOperation &op, const TileStages &operand, bool termsAreRows, const uint64_t *words, int64_t index);
  bool isRowThere(int64_t points, int64_t row) const;
  uint64_t addressInRows(const TileOperation &op, int64_t points, int64_t position, int64_t begin, uint64_t pointer,
                         int64_t stride) const;
  void setPoints(const TileOperation &op, const uint64_t *words, int64_t result);
  void storeRows(Grid &grid, const TileOperation &op, const uint64_t *words);
  void runRows(Grid &grid, const TileOperation &op, const uint64_t *words, int64_t result);

  std::deque<Instance> instances;
  uint64_t firstInstance = 0;
  std::vector<uint64_t> steps; // by thread: operations that it has come to
  std::vector<Entry> tiles;
};

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_TILEMEANING_H
