//===- Machine.h - what a machine can do ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one model of machines, read from a file of machine/ (docs/machine.md says
// what its fields mean): processors, GPUs and arrays of processing elements. All
// that chooses, prices or limits something asks it; passes hold no number of a
// machine.
//
// A machine has `units` that work at once (cores, SMs, processing
// elements), levels of memory from the nearest to the farthest, rates, costs of
// launching and waiting, limits of what may be resident, and the thresholds that
// stand for costs which nothing measures yet (`planning`).
//
//===----------------------------------------------------------------------===//
#ifndef FT_MACHINE_MACHINE_H
#define FT_MACHINE_MACHINE_H

#include "ft/Machine/CpuTarget.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace mlir::ft {

struct Machine {
  enum class Kind { CPU, GPU, Array };

  struct Level {
    std::string name;
    /// Whether all units use one memory, of `bytes` in all; else each has `bytes` of its own.
    bool shared = false;
    int64_t bytes = 0; // 0: without limit
    int64_t lineBytes = 0; // that one request brings; 0 where the file does not say
    /// What one unit reads, what all together read, what a copy moves (bytes read and bytes
    /// written); 0 where the file has no such figure.
    double unitReadBytesPerSecond = 0, readBytesPerSecond = 0, copyBytesPerSecond = 0;
    double joulesPerByte = 0;
    /// From a load until what it brings can be used; 0 where the file has no such figure.
    double latencySeconds = 0;

    bool hasRate() const { return unitReadBytesPerSecond > 0 || readBytesPerSecond > 0; }
    /// What one unit reads where `units` read at once.
    double rateOfUnit(unsigned units) const {
      return unitReadBytesPerSecond > 0 ? unitReadBytesPerSecond : readBytesPerSecond / units;
    }
  };

  /// Of one unit of a CPU. Products are f32, in register tiles of 1, 2, … rows, operands in the
  /// nearest cache; results per second of an addition or the like, an exponential or the like.
  struct UnitRates {
    SmallVector<double> productFlopsByRows;
    double elementwise = 0, elementary = 0;
  };

  /// Of all units together; 0 where unknown. `macs`: multiply-accumulates of the units' arrays.
  struct Rates {
    double f32Flops = 0, f64Flops = 0, bf16MmaFlops = 0, exponentials = 0, macs = 0;
  };

  struct Sync {
    /// Bytes of a unit up to which a boundary grows (what the probe measures): of more, kernels are told by what they read and write.
    static constexpr double mostExchanged = 65536;
    /// Whether a kernel gains where it begins before the one before it has ended.
    bool overlapGains() const { return boundarySeconds(0, /*overlaps=*/true) < boundarySeconds(0); }
    double boundarySeconds(double bytesOfUnit, bool overlaps = false) const {
      const double bytes = bytesOfUnit < mostExchanged ? bytesOfUnit : mostExchanged;
      return overlaps ? boundaryOverlapped + bytes * boundaryOverlappedPerByte : boundary + bytes * boundaryPerByte;
    }
    double launch = 0;    // of a parallel region; of a call's kernels, by the host
    /// Between two kernels of a graph, plain and with programmatic dependent launch; and how each grows with the bytes that a unit
    /// reads of what another one wrote before.
    double boundary = 0, boundaryOverlapped = 0, boundaryPerByte = 0, boundaryOverlappedPerByte = 0;
    double barrier = 0;   // among the threads of a team
    double leafCall = 0;  // of a leaf of no work
    double grid = 0;      // a barrier of all blocks of a grid
    double flag = 0;      // one block tells another
    SmallVector<std::pair<int64_t, double>> cluster; // a barrier of so many blocks
  };

  /// What may be resident on a GPU.
  struct Occupancy {
    int64_t threadsPerUnit = 0, blocksPerUnit = 0, threadsPerBlock = 0, warp = 0;
    int64_t registersPerUnit = 0, registersPerThread = 0;
    int64_t sharedBytesPerUnit = 0, sharedBytesPerBlock = 0;
    SmallVector<std::pair<int64_t, int64_t>> residentClusters; // of so many blocks with all shared memory
  };

  struct Energy {
    double mac = 0; // joules of one multiply-accumulate
  };

  /// Thresholds of the choices made for a GPU's kernels.
  struct GpuPlanning {
    /// Shared memory of a thread block that has another one beside it, and of one alone.
    int64_t sharedBytesOfTwo = 0, sharedBytesAlone = 0;
    /// Threads of a block whose leaf has few elements (up to `elements[0]`), more (`elements[1]`), many.
    SmallVector<int64_t> blockThreads, blockElements;
    /// Elements that the rows of a task have at least, and where a kernel only streams.
    int64_t taskElements = 0, streamElements = 0;
    /// Weights of more bytes want at least `weightRows` rows in a task; the rows of one touch
    /// `taskBytes` at most.
    int64_t weightBytes = 0, weightRows = 0, taskBytes = 0;
    int64_t tasksPerUnit = 0, workspaceBlocksPerUnit = 0;
    /// Threads of a unit for which a kernel that streams leaves registers.
    int64_t streamThreadsPerUnit = 0;
    /// Weights from which the blocks of a grid share a leaf's columns, and rows they take then.
    int64_t columnWeightBytes = 0, columnRows = 0;
    /// A nest runs in steps of the grid where fewer tasks are free than so many for each unit; with
    /// weights of `stepWeightBytes` or more, than `stepWeightTasksPerUnit`.
    int64_t stepTasksPerUnit = 0, stepWeightBytes = 0, stepWeightTasksPerUnit = 0;
    /// Words of a row that a lane keeps in registers: where rows share a warp, and at most.
    int64_t rowWordsInWarp = 0, rowWords = 0;
    /// Sums of fewer terms are not divided among threads.
    int64_t leastSlicedSum = 0;
    /// Rows, and iterations of a loop, of which one thread keeps sums in registers.
    int64_t rowTile = 0, loopTile = 0;
    /// Points of a thread's tile from which on it is large; terms and iterations that loops of a large one compute at a time, and those of
    /// others; tiles of a thread from which on the loads of two are on their way.
    int64_t largeTile = 0, largeTileCopies = 0, smallTileCopies = 0, threadTiles = 0;
    /// How lanes are laid along a loop: for each access that becomes adjacent, against each that is
    /// strided. Bytes of one access at most.
    int64_t adjacentGain = 0, stridedReadLoss = 0, stridedWriteLoss = 0, accessBytes = 0;
    /// Threads for each point from which a warp shares one; terms of a slice of a sum, slices at most.
    int64_t idleThreads = 0, leastSlice = 0, mostSlices = 0;
    /// Iterations of a dimension that a leaf computes at once, at most.
    int64_t liftedIterations = 0;
    /// Bytes of adjacent columns that stay together; columns from which sharing pays; by how much the
    /// work that is shared exceeds what each thread block repeats.
    int64_t columnBytes = 0, leastColumns = 0, columnRepeat = 0;
    /// Thread blocks that are taken to share the columns of a leaf where only a call says how many do.
    int64_t columnSharers = 0;
    /// Thread blocks of a grid that deals points itself and does not wait.
    int64_t stepBlocksPerUnit = 0;
    /// Words of a row for each lane, where rows share a warp and where a block shares a row; threads of
    /// such a block at least; registers of a lane beside the row's values.
    int64_t rowLaneWords = 0, rowBlockWords = 0, rowBlockThreads = 0, rowRegistersBeside = 0;
    /// Lanes of a row, and rows of a lane: at least, at most. Lines of a row from which on lanes begin where its first line does.
    int64_t rowLeastLanes = 0, rowParts = 0, rowShiftLines = 0;
    /// Elements of a row from which on lanes share it.
    int64_t leastRow = 0;
    /// Products in tiles: of a kernel's work at least (percent), terms of a sum and rows or columns of a
    /// tile at least, bytes of adjacent terms that a step has.
    int64_t productShare = 0, productTerms = 0, productSide = 0, productStepBytes = 0;
    /// Steps from which on a sum takes twice as many terms in each.
    int64_t productLongSteps = 0;
    /// Registers of a thread beside its sums: for operands of fused multiply-adds, of fragments, and for what
    /// is computed after.
    int64_t productRegisters = 0, fragmentRegisters = 0, fusedRegisters = 0;
    /// Multiply-adds in whose time one operand comes from the nearest cache to a thread that shares it with
    /// no other, and one element from memory to shared memory.
    int64_t operandReadCost = 0, sharedCopyCost = 0;
    /// Percent of a nest's time that it may take at most with its products ahead, to be divided so: what prices err by.
    int64_t divisionShare = 0;
    /// Percent of the time that more iterations of a reduction at once may take at most of fewer, to be taken: most of what prices err by is the
    /// same for all numbers, which compute the same sums.
    int64_t iterationsShare = 0;
    /// Operations of loop nests of a leaf that a thread computes together at most.
    int64_t fusedOps = 0;
    /// Seconds until a thread block has found out, of one region and one iteration of loops on which other ranges depend, which
    /// tasks there are its own.
    double pointSeconds = 0;
    /// Registers of a thread beside the sums and operands of a loop nest in plain tiles.
    int64_t leafRegisters = 0;
  };

  std::string name;
  /// Where it was read from, for messages; and by what `find` gives it again.
  std::string file, reference;
  Kind kind = Kind::CPU;
  /// What code for it is compiled for (`cpu`, `sm_90a`, …); none: nothing is.
  SmallVector<std::string> targets;
  std::string unitName;
  unsigned units = 1;
  /// Bytes of the elements that `macs` and energies are stated for.
  int64_t elementBytes = 0;
  SmallVector<Level> levels; // nearest first
  UnitRates unit;
  Rates rates;
  /// What so many ranks take to tell each other something, each with a unit of this machine and memory of its own.
  struct Link {
    struct Message {
      double seconds = 0;         // of a short one, started by the host
      double capturedSeconds = 0; // in a graph of kernels; 0 where nothing is captured
      double bytesPerSecond = 0;  // what each rank moves of a long one
    };
    int64_t ranks = 0;
    Message send, allGather, allReduce;
  };

  Sync sync;
  llvm::SmallVector<Link, 2> links;
  Occupancy occupancy;
  Energy energy;
  CpuPlanning cpu;
  GpuPlanning gpu;
  /// What only merges of blocks ask; 0 where the file does not say: as a launch. And from how many operations for each element read
  /// or written on a statement is compute-intensive (Souffle §5.3).
  struct {
    double tileSeconds = 0, apartSeconds = 0, computeIntensive = 0;
  } groups;
  /// What only the prices of a GPU's kernels ask.
  struct {
    double operation = 0;   // seconds from what a thread computes until its next operation can use it
    double conversions = 0; // halves that become f32 in a second, of all units
    int64_t reserved = 0;   // bytes of shared memory that each thread block has beside its own
    /// Parts of the common cache, each of which has what the units beside it read: what all read lies in it so often.
    int64_t cacheParts = 1;
  } kernels;

  /// The model that a text in JSON is; errors (FileError, joined) name each field that is missing,
  /// unknown, not positive or without a source.
  static llvm::Expected<Machine> parse(llvm::StringRef text, llvm::StringRef file);
  /// A model by its name, a file of the folder that the environment variable FT_MACHINES names or of
  /// machine/ as the library was built (`cpu`, `a100`, …); or by the path of a file (which has a `/` or
  /// ends in `.json`).
  static llvm::Expected<std::shared_ptr<const Machine>> find(llvm::StringRef nameOrPath);
  /// The same, of the kind that is wanted.
  static llvm::Expected<std::shared_ptr<const Machine>> find(llvm::StringRef nameOrPath, Kind kind);
  /// The name of the machine for which code of this target is planned (any class of processors: `cpu`);
  /// empty where there is none.
  static llvm::StringRef nameForTarget(llvm::StringRef target);
  /// That machine, or null.
  static std::shared_ptr<const Machine> forTarget(llvm::StringRef target);
  /// machine/cpu.json.
  static const Machine &cpuDefault();
  /// The names of the built-in machines.
  static ArrayRef<llvm::StringRef> builtinNames();

  bool serves(llvm::StringRef target) const;

  /// What the products of a tile take at least, to be worth a unit's while; what two nests take more than one, beside their work.
  double tileSeconds() const { return groups.tileSeconds > 0 ? groups.tileSeconds : sync.launch; }
  double apartSeconds() const { return groups.apartSeconds > 0 ? groups.apartSeconds : sync.launch; }

  /// What an item of a graph costs by itself: a parallel region of a CPU, the boundary before a kernel of a GPU's graph.
  double itemSeconds() const { return kind == Kind::CPU ? sync.launch : sync.boundarySeconds(0); }

  /// FLOP/s of products, and results per second of simple and of elementary operations, of one unit at
  /// its best.
  double productFlops() const;
  double elementwise() const;
  double elementary() const;

  /// Bytes that one request brings nearest to a unit.
  int64_t lineBytes() const;
  /// The level of this name; null where there is none.
  const Level *findLevel(llvm::StringRef name) const;
  /// The nearest level that holds so many bytes, of those whose rates are known.
  const Level &levelFor(double bytes) const;
  /// From where so many bytes are read that are used in turn, and how fast by one unit: of a cache (but the
  /// nearest) that is too small, a part still hits, up to twice its size.
  struct Source {
    unsigned level;
    double bytesPerSecond;
  };
  Source sourceFor(double bytes) const;
  /// How register tiles of a CPU cut the rows of a product: as many rows as rates are known for, then powers of two, so that each number of
  /// rows has few tiles and few loops are code.
  RowTiles rowTiles() const;
  /// The tiles that a product with `rows` rows consists of: how many rows, how often. Each reads the whole right-hand side.
  SmallVector<std::pair<int64_t, int64_t>, 4> tilesOf(int64_t rows) const;
  /// FLOP/s of one unit in a register tile of so many rows, its right-hand side in the nearest cache.
  double tileFlops(int64_t rows) const { return unit.productFlopsByRows[rows - 1]; }
};

/// "CPU", "GPU" or "array": for messages and files.
llvm::StringRef stringifyKind(Machine::Kind kind);

} // namespace mlir::ft

#endif // FT_MACHINE_MACHINE_H
