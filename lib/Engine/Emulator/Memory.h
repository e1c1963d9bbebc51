//===- Memory.h - what threads did to each place of memory ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beside each piece of memory that kernels may touch lies a record of who wrote
// and read it last, and when. From it follow the faults that values show by
// chance only: two threads at one place without a barrier between, a read of
// what nothing wrote, an access beyond the end.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_ENGINE_EMULATOR_MEMORY_H
#define FT_LIB_ENGINE_EMULATOR_MEMORY_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ft::emulate {

/// What accesses memory: a thread, or on a block's behalf a copy by TMA or a product of wgmma.
enum class AgentKind : uint8_t { thread, copy, product };

/// One access: the block, its agent, the agent's time (0: there was none), and where in the code.
struct Access {
  uint32_t block = 0, agent = 0, time = 0, site = 0;
  AgentKind kind = AgentKind::thread;

  explicit operator bool() const { return time != 0; }
};

/// The record of one granule of memory. Of reads that nothing orders it keeps two, which a later write
/// meets wherever it meets any of them: two of different blocks, or else of different threads. Groups
/// of a block's threads that leave a barrier of their own, and products, have one more each.
struct Cell {
  Access write, reads[2];
  std::unique_ptr<std::vector<Access>> more;
  uint32_t launch = 0; // what is older than this launch counts no more
  uint32_t writer = 0; // the launch that wrote here last
  bool defined = false;
};

/// A piece of memory with its records.
class Memory {
public:
  Memory(std::string name, const void *begin, uint64_t bytes, uint64_t granule, bool isDefined, bool isConstant);

  bool contains(uint64_t address, uint64_t size) const {
    return address >= begin && size <= bytes && address - begin <= bytes - size;
  }
  /// The records of the bytes from `address` on.
  Cell *cells(uint64_t address) { return &records[(address - begin) / granule]; }
  uint64_t countCells(uint64_t address, uint64_t size) const {
    return (address - begin + size - 1) / granule - (address - begin) / granule + 1;
  }
  /// From now on nothing has written here, or everybody may read.
  void setDefined(bool isDefined);
  void setDefined(uint64_t address, uint64_t size);
  /// "workspace + 64 of 4096 bytes".
  std::string describe(uint64_t address) const;

  const std::string name;
  const uint64_t begin, bytes;
  const bool isConstant;

private:
  uint64_t granule;
  std::vector<Cell> records;
};

/// All memory that kernels may touch.
class Memories {
public:
  Memory &add(std::string name, const void *begin, uint64_t bytes, bool isDefined, bool isConstant = false);
  void remove(const void *begin);
  /// The piece that an address lies in or just after, or null.
  Memory *find(uint64_t address);

  /// Bytes that share a record: the size of the smallest element that kernels access.
  uint64_t granule = 1;

private:
  std::map<uint64_t, std::unique_ptr<Memory>> pieces;
};

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_MEMORY_H
