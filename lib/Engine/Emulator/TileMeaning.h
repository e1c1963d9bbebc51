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
//      beyond the matrix, columns that are not adjacent or only partly inside of it or of its borders.
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

enum class TileKind { load, store, copy, splat, mma, map, reduce };
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
  Pair vector = {1, 1}, threads = {1, 1}, warp = {0, 0};

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

/// One operation of a kernel.
struct TileOperation {
  TileKind kind = TileKind::splat;
  std::string text; // the operation and where it stands
  uint32_t site = 0;
  unsigned numWords = 0, numResults = 0;
  Pair shape = {1, 1};
  TileElement element;
  TileLayout layout;
  // Accesses of a matrix: sizes of its digits, -1 where an operand says it.
  std::vector<int64_t> digits[2];
  std::vector<TileBorder> borders;
  bool inBounds[2] = {false, false};
  int64_t width = 1;
  bool isAsync = false;
  /// The operands of a product; `lhs` is also where a copy goes.
  TileStages lhs, rhs;
  /// Of each row, how many elements are combined.
  int64_t columns = 1;
  /// By thread, the positions (row by row) of its elements of `shape`.
  std::vector<std::vector<uint32_t>> own;

  void findOwners();
};

/// The tiles of one block of threads.
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

  std::deque<Instance> instances;
  uint64_t firstInstance = 0;
  std::vector<uint64_t> steps; // by thread: operations that it has come to
  std::vector<Entry> tiles;
};

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_TILEMEANING_H
