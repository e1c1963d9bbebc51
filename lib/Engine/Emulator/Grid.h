//===- Grid.h - one launch of a kernel, thread by thread --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the threads of a grid as fibers, in an order that a seed draws anew each
// time a thread waits. What hardware promises no order for is so seen in many
// orders, and what it calls undefined is an error here:
//
// (E1) an access outside the memory that the launch was given, or misaligned;
// (E2) a read of memory that nobody wrote;
// (E3) two accesses of one place by different threads, one of them a write,
//      without a barrier that orders them;
// (E4) a barrier or a shuffle that not all threads of the block or warp reach,
//      or that they reach at different places of the code;
// (E5) threads that wait for each other for ever.
//
// An asynchronous copy may be done at any time from its issue to the wait for its
// group: what it overwrites counts as written when it is issued, and as nonsense
// that nobody wrote until the thread has waited; then it is written once more.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_ENGINE_EMULATOR_GRID_H
#define FT_LIB_ENGINE_EMULATOR_GRID_H

#include "Fibers.h"
#include "Memory.h"
#include "TileMeaning.h"

#include <deque>
#include <functional>
#include <random>

namespace ft::emulate {

/// A kernel of the host: it takes what `cuLaunchKernel` takes, pointers to its arguments.
using Kernel = void (*)(void **);

struct Shape {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
  bool cooperative = false;
};

/// Special registers, as kernels ask for them.
enum class Register : uint32_t { tid = 0, ntid = 3, ctaid = 6, nctaid = 9, laneid = 12, warpid = 13 };
enum class AccessKind : uint32_t { read, write, atomic };
enum class ShuffleMode : uint32_t { up, down, bfly, idx };

class Grid {
public:
  Grid(Memories &memories, const std::vector<std::string> &sites, uint64_t seed,
       std::vector<TileOperation> tileOperations = {})
      : memories(memories), sites(sites), random(seed), tileOperations(std::move(tileOperations)) {}

  /// Runs all threads to their end; the text of the first error, or nothing.
  std::string run(const std::string &name, Kernel kernel, const Shape &shape, void **parameters);

  // What kernels call; a thread of this grid runs.
  void access(uint64_t address, uint32_t bytes, uint32_t alignment, AccessKind kind, uint32_t site);
  uint32_t readRegister(uint32_t which) const;
  void *sharedMemory() const;
  void barrier(uint32_t site);
  uint32_t shuffle(ShuffleMode mode, uint32_t mask, uint32_t value, uint32_t by, uint32_t clamp, uint32_t site);
  /// All lanes of the warp leave `bytes` each; `all` gets what each left, lane by lane.
  void gather(const void *own, uint32_t bytes, char *all, uint32_t site);
  /// One piece of `count` (1, 2 or 4) pieces of 8 x 8 halves for each of `words`: PTX's ldmatrix.
  void loadMatrix(uint64_t address, uint32_t count, bool transposed, uint32_t *words, uint32_t site);
  /// 16 x 8 sums of 16 terms: PTX's mma.sync.m16n8k16. `words`: four of the left operand, two of the right one.
  void multiplyMatrices(const uint32_t *words, bool isBrain, float *sums, uint32_t site);
  void gridBarrier(uint32_t *counter, uint32_t step, uint32_t site);
  /// `bytes` to shared memory, the first `read` of them from memory, the rest zeros.
  void copyAsync(char *to, const char *from, uint32_t bytes, uint32_t read, uint32_t site);
  void commitCopies();
  void waitForCopies(uint32_t groups);
  /// All threads of the block are here when this returns; of memory it orders nothing.
  void meet(uint32_t site);
  BlockTiles &tiles() const { return running->block->tiles; }
  const TileOperation &tileOperation(uint32_t number) const { return tileOperations[number]; }
  uint32_t threadInBlock() const { return running->index; }
  uint32_t threadsOfBlock() const { return threadsPerBlock; }
  uint64_t draw() { return random(); }
  [[noreturn]] void fail(const std::string &what, uint32_t site);

  /// Operations on tiles that blocks came to.
  int64_t tileRuns = 0;

  /// The grid that runs at present.
  static Grid *current;

private:
  enum class State : uint8_t { ready, atBarrier, atShuffle, atGridBarrier, atMeeting, done };
  struct Block;
  struct Copy {
    char *to = nullptr;
    uint32_t bytes = 0, site = 0;
    char data[16] = {};
  };
  struct Thread {
    Fiber fiber;
    Block *block = nullptr;
    uint32_t index = 0;  // in its block
    uint32_t number = 0; // in the grid, and one
    uint32_t gridTime = 0;
    State state = State::ready;
    uint32_t site = 0;                    // where it waits
    uint32_t mask = 0, source = 0;        // at a shuffle
    uint32_t value = 0, received = 0;
    const void *left = nullptr;           // where it gathers from all lanes
    uint32_t leftBytes = 0;
    char *gathered = nullptr;
    uint32_t *counter = nullptr, old = 0; // at a barrier of the grid
    std::vector<Copy> copies;             // that belong to no group yet
    std::deque<std::vector<Copy>> groups; // under way, the oldest first
  };
  struct Block {
    uint32_t number = 0;
    uint32_t coordinate[3] = {};
    uint32_t time = 0; // barriers that it has passed
    uint32_t waiting = 0, meeting = 0, done = 0;
    BlockTiles tiles;
    std::vector<Thread> threads;
    char *shared = nullptr;
  };
  /// When a block told the others that it is done with what it did before.
  struct Arrival {
    uint32_t thread, blockTime;
  };

  static void threadBody(void *thread);
  bool admit();
  void retire(Block &block);
  void step(Thread &thread);
  void afterRun(Thread &thread, bool ended);
  void openBarrier(Block &block);
  void openMeeting(Block &block);
  void tryShuffle(Block &block, uint32_t warp);
  static void gatherInto(Block &block, uint32_t first, uint32_t count, Thread &thread);
  void openGridBarriers();
  bool isBefore(const Access &earlier, const Thread &now) const;
  void checkCell(Cell &cell, const Access &now, AccessKind kind, uint64_t address, const Memory &memory);
  void explainDeadlock();
  void wait(State state, uint32_t site);
  void note(const std::string &what, const Thread &thread, uint32_t site);
  std::string nameOf(uint32_t thread) const;
  std::string textOf(uint32_t site) const { return site < sites.size() ? sites[site] : "?"; }
  uint32_t below(uint64_t n) { return uint32_t(random() % n); }

  Memories &memories;
  const std::vector<std::string> &sites;
  std::mt19937_64 random;
  const std::vector<TileOperation> tileOperations;

  // Of the launch that runs.
  std::string name, error;
  Kernel kernel = nullptr;
  void **parameters = nullptr;
  Shape shape;
  uint32_t threadsPerBlock = 1, launch = 0;
  std::vector<uint32_t> toCome; // blocks, the next one last
  std::vector<std::unique_ptr<Block>> resident;
  std::vector<Thread *> ready, atGridBarrier;
  std::vector<std::vector<Arrival>> arrivals; // by block
  std::vector<Memory *> lastPiece; // by site
  Thread *running = nullptr;
  Stacks stacks;
};

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_GRID_H
