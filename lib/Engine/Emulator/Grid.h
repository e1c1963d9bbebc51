//===- Grid.h - one launch of a kernel, thread by thread --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the threads of a grid as fibers, in an order that a seed draws anew each
// time a thread waits. What hardware promises no order for is so seen in many
// orders, and what it calls undefined is an error here:
//
// (E1) an access outside the memory that the launch was given, or misaligned;
// (E2) a read of memory that nothing wrote;
// (E3) two accesses of one place by different threads, one of them a write,
//      without a barrier that orders them;
// (E4) a barrier or a shuffle that not all threads of the block or warp reach,
//      or that they reach at different places of the code;
// (E5) threads that wait for each other for ever.
//
// What runs beside the threads, in an order that is drawn, too, adds:
//
// (E9)  the async proxy (TMA, wgmma) accesses what a thread wrote, and no proxy
//       fence lies between;
// (E10) a wait for an mbarrier's phase that has passed or never comes, and bytes
//       or arrivals that don't add up to what the barrier expects;
// (E11) sums are read, or memory that a product reads is overwritten, while the
//       product is in flight;
// (E12) setmaxnreg with a count that PTX does not allow, and registers that never
//       become free;
// (E13) in a launch that overlaps those before it, memory that one of these wrote, or a
//       write, before `griddepcontrol.wait`; and a thread that never waits.
//
// An asynchronous copy may be done at any time from its issue to the wait for its
// group: what it overwrites counts as written when it is issued, and as nonsense
// that nothing wrote until the thread has waited; then it is written once more.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_ENGINE_EMULATOR_GRID_H
#define FT_LIB_ENGINE_EMULATOR_GRID_H

#include "Clocks.h"
#include "Fibers.h"
#include "Memory.h"
#include "TensorMaps.h"
#include "TileMeaning.h"

#include <deque>
#include <functional>
#include <map>
#include <random>

namespace ft::emulate {

/// A kernel of the host: it takes what `cuLaunchKernel` takes, pointers to its arguments.
using Kernel = void (*)(void **);

struct Shape {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
  bool cooperative = false;
  bool overlaps = false; // the launch before
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
  /// All launches before this one have ended.
  void waitForLaunches() { running->hasWaited = true; }
  /// `bytes` to shared memory, the first `read` of them from memory, the rest zeros.
  void copyAsync(char *to, const char *from, uint32_t bytes, uint32_t read, uint32_t site);
  void commitCopies();
  void waitForCopies(uint32_t groups);
  /// A barrier of `count` threads of the block; those that arrive don't wait.
  void namedBarrier(uint32_t id, uint32_t count, bool waits, uint32_t site);
  /// One lane of the warp, the same each time; all lanes must ask.
  bool elect(uint32_t mask, uint32_t site);
  /// What happened before is there for the async proxy, too.
  void fenceProxy(ProxySpace space = ProxySpace::all);

  // mbarriers, at addresses in the block's shared memory
  void initBarrier(uint64_t address, uint32_t count, uint32_t site);
  void fenceBarriers();
  void expectBytes(uint64_t address, uint32_t bytes, uint32_t site);
  void arrive(uint64_t address, uint32_t count, uint32_t site);
  /// Returns when the phase of this parity is complete.
  void waitForPhase(uint64_t address, uint32_t parity, uint32_t site);
  /// A box from memory to shared memory (TMA), counted in bytes by an mbarrier.
  void copyBox(uint64_t to, const TensorMapData &map, const int32_t *coordinates, uint64_t barrier, uint32_t site);

  /// A box from shared memory to memory (TMA), of the group that the thread commits next.
  void storeBox(uint64_t from, const TensorMapData &map, const int32_t *coordinates, uint32_t site);
  void commitStores();
  /// Waits until all but so many of the thread's last groups have read what they take, or until they are done.
  void waitForStores(uint32_t groups, bool readsAlone);
  /// So many registers for each thread of the warp, from now on.
  void setRegisters(uint32_t count, bool isIncrease, uint32_t site);

  // wgmma
  void fenceProduct() { running->isProductFenced = true; }
  /// Starts a product whose sums this thread has `sums` of. `left`, `right`: PTX's descriptors.
  /// Returns the number of its group.
  /// `registers`: this lane's four of the left operand, else null, and `left` is its descriptor.
  uint32_t startProduct(uint64_t left, const uint32_t *registers, uint64_t right, const ProductForm &form, float *sums, uint32_t site);
  void commitProducts() { ++running->productGroups; }
  void waitForProducts(uint32_t groups);
  /// Fails where sums of that group are in flight.
  void readSums(uint32_t group, uint32_t site);

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
  /// Threads that share a barrier of their own are groups of so many: wgmma's, and roles'.
  static constexpr uint32_t threadsOfGroup = 128;
  enum class State : uint8_t { ready, atBarrier, atShuffle, atGridBarrier, atMeeting, atNamedBarrier, atPhase, atRegisters, done };
  struct Block;
  struct PhaseBarrier;
  struct Copy {
    char *to = nullptr;
    uint32_t bytes = 0, site = 0;
    char data[16] = {};
  };
  /// Groups of boxes that a thread has stored, counted from 1, and those that have read what they take.
  struct Stores {
    uint32_t agent = 0, committed = 0, read = 0;
    bool isOpen = false; // one is in no group yet
  };
  struct Thread {
    Fiber fiber;
    Block *block = nullptr;
    uint32_t index = 0;  // in its block
    uint32_t time = 1;   // its own, of what it did since it told others last
    Knowledge known;
    State state = State::ready;
    uint32_t site = 0;                    // where it waits
    uint32_t mask = 0, source = 0;        // at a shuffle
    uint32_t value = 0, received = 0;
    const void *left = nullptr;           // where it gathers from all lanes
    uint32_t leftBytes = 0;
    char *gathered = nullptr;
    uint32_t *counter = nullptr, old = 0; // at a barrier of the grid
    uint32_t named = 0;                   // the barrier of a part of the block
    PhaseBarrier *phaseBarrier = nullptr;
    uint32_t parity = 0;
    uint32_t productGroups = 0;           // of wgmma, committed
    bool isProductFenced = false, hasWaited = false;
    Stores stores;
    uint32_t registers = 0, wanted = 0;
    std::vector<Copy> copies;             // that belong to no group yet
    std::deque<std::vector<Copy>> groups; // under way, the oldest first
  };
  /// An mbarrier: the phase that is under way, what is still to come in it, and what those who came know.
  struct PhaseBarrier {
    uint64_t address = 0;
    uint32_t count = 0, pending = 0, phase = 0;
    int64_t bytes = 0; // expected and not there
    uint32_t agent = 0; // of the copies that it counts; phase p ends at time p + 1
    Access initialized;
    uint32_t copied = 0, waited = 0; // phases that copies belong to, and that a thread has seen complete
    bool isFenced = false;
    Knowledge arrived, complete;
  };
  struct NamedBarrier {
    uint32_t count = 0, arrived = 0;
    Knowledge known;
  };
  /// A box on its way; it lands whenever the schedule draws it.
  struct BoxCopy {
    Thread *thread = nullptr;
    uint64_t barrier = 0;
    uint32_t phase = 0, bytes = 0, site = 0;
    std::vector<BoxPiece> pieces;
    std::vector<char> data;
  };
  /// A box on its way to memory.
  struct BoxStore {
    Thread *thread = nullptr;
    uint32_t group = 0;
    std::vector<BoxPiece> pieces;
    std::vector<char> data;
  };
  struct Block {
    uint32_t number = 0;
    uint32_t coordinate[3] = {};
    uint32_t agents = 0; // threads, warps' products, mbarriers
    std::map<uint64_t, PhaseBarrier> phaseBarriers;
    NamedBarrier named[16];
    uint32_t waiting = 0, meeting = 0, done = 0, freeRegisters = 0;
    BlockTiles tiles;
    std::vector<Thread> threads;
    char *shared = nullptr;
  };
  /// Who accesses memory, for which thread, and what happened before.
  struct View {
    uint32_t block, agent, time;
    AgentKind kind;
    uint32_t thread;
    const Knowledge &known;
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
  void openNamedBarrier(Block &block, uint32_t id);
  void completePhase(Block &block, PhaseBarrier &barrier);
  void land(size_t which);
  bool isThere(const Block &block) const;
  void finishStore(size_t which);
  void finishStoresOf(const Block &block);
  static bool hasBeenRead(const Thread &thread);
  void giveRegisters(Thread &thread) const;
  void shareRegisters(Block &block);
  PhaseBarrier &findBarrier(uint64_t address, bool isAsync, uint32_t site);
  void stepTime(Thread &thread);
  View viewOf(const Thread &thread) const { return {thread.block->number, thread.index, thread.time, AgentKind::thread, thread.index, thread.known}; }
  bool covers(const Access &earlier, const View &view, const Clock &(*which)(const Knowledge &)) const;
  bool isBefore(const Access &earlier, const View &view) const;
  bool isVisible(const Access &earlier, const View &view, const Memory &memory) const;
  void keepRead(Cell &cell, const Access &now, const View &view) const;
  void checkOrder(const Access &earlier, const View &view, bool wrote, AccessKind kind, uint64_t address, const Memory &memory, uint32_t site);
  void checkWaited(const Cell &cell, const View &view, AccessKind kind, uint64_t address, const Memory &memory, uint32_t site);
  void checkCell(Cell &cell, const View &view, AccessKind kind, uint64_t address, const Memory &memory, uint32_t site);
  Memory &findMemory(uint64_t address, uint32_t bytes, uint32_t site);
  void accessAs(const View &view, uint64_t address, uint32_t bytes, AccessKind kind, uint32_t site);
  void forget(uint64_t address, uint32_t bytes);
  void explainPhases();
  void explainDeadlock();
  void wait(State state, uint32_t site);
  void note(const std::string &what, const Thread &thread, uint32_t site);
  std::string nameOf(const Thread &thread) const;
  std::string nameOf(const Access &access) const;
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
  uint32_t firstInFlight = 0; // the first launch that may still run
  std::vector<uint32_t> toCome; // blocks, the next one last
  std::vector<std::unique_ptr<Block>> resident;
  std::vector<Thread *> ready, atGridBarrier;
  std::vector<std::vector<Knowledge>> arrivals; // at barriers of the grid, by block
  std::vector<BoxCopy> underWay;
  std::vector<BoxStore> storing;
  std::vector<Memory *> lastPiece; // by site
  Thread *running = nullptr;
  Stacks stacks;
};

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_GRID_H
