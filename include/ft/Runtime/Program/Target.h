//===- Target.h - where a plan's steps happen -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The executor walks a plan and asks a target for each step: the CUDA driver, or
// functions of a CPU library on host memory.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_PROGRAM_TARGET_H
#define FT_RUNTIME_PROGRAM_TARGET_H

#include "ft-c/Runtime.h"
#include "ft/Runtime/Bundle/Bundle.h"
#include "ft/Runtime/Cuda/CudaDevice.h"

#include <map>
#include <mutex>

namespace ft::rt {
class HostCode;

struct LaunchShape {
  unsigned grid[3], block[3], cluster[3];
  unsigned sharedBytes;
  bool cooperative, shrinks;
  bool overlaps; // the launch before it, on the same stream and of the same call
  unsigned overlapBytes; // of shared memory at least, where it does
};

/// One launch of a chain.
struct ChainedLaunch {
  int64_t kernel = 0;
  LaunchShape shape = {};
  void **parameters = nullptr;
  bool changed = true; // since this chain was launched the last time
};

/// Why a kernel gives up.
enum class ErrorCode : uint32_t {
  none,
  index, // one out of range: the record's values are the index, its bound, and the number of its place in the plan
  wait, // one that never ended
};

/// What a kernel writes when it must give up; the first word says why and is written last.
struct ErrorRecord {
  volatile uint32_t code; // an `ErrorCode`
  volatile uint32_t kernel;
  volatile int64_t values[6];
  /// Not 0: some thread writes the record, or has.
  volatile uint32_t claimed;
  uint32_t unused;
};
static_assert(sizeof(ErrorRecord) == 64);

class Target {
public:
  virtual ~Target() = default;

  /// Around every use; on a GPU the context is current in between.
  virtual Status enter() = 0;
  virtual void leave() = 0;

  virtual Status launch(int64_t kernel, const LaunchShape &shape, void **parameters,
                        void *stream) = 0;
  virtual Status fill(uint64_t to, int value, size_t bytes, void *stream) = 0;
  virtual Status copy(uint64_t to, uint64_t from, size_t bytes, void *stream) = 0;
  /// Waits for the stream and reads a word.
  virtual Status readWord(uint64_t from, int32_t &value, void *stream) = 0;
  virtual Status encode(const TensorMap &map, uint64_t address, const uint64_t *extents,
                        const uint64_t *strides, CUtensorMap &out) = 0;

  virtual Status allocate(size_t bytes, uint64_t &out) = 0;
  virtual void release(uint64_t memory) = 0;
  virtual Status synchronize(void *stream) = 0;
  /// Waits for all streams.
  virtual Status synchronizeAll() = 0;

  virtual Status isCapturing(void *, bool &capturing) {
    capturing = false;
    return {};
  }
  /// Record what `record` enqueues into a graph; null where graphs do not exist.
  virtual Status beginCapture(void *&stream) {
    stream = nullptr;
    return {};
  }
  virtual Status endCapture(void *stream, bool keep, void *&graph) {
    (void)stream, (void)keep;
    graph = nullptr;
    return {};
  }
  virtual Status launchGraph(void *, void *) { return {}; }
  virtual void releaseGraph(void *) {}

  /// Launches that follow each other, as one thing that costs the host less than they do: the
  /// driver takes half the time for a graph, new parameters included. Null where there is none.
  virtual Status makeChain(const std::vector<ChainedLaunch> &, void *stream, void *&chain) {
    (void)stream;
    chain = nullptr;
    return {};
  }
  /// The launches it was made of, with other shapes and parameters. After an error none ran.
  virtual Status launchChain(void *, const std::vector<ChainedLaunch> &, void *) { return {}; }
  virtual void releaseChain(void *) {}

  /// For traced calls: a point in the work of a stream, and the time between two that have been reached. A target whose steps are
  /// done at return has none.
  virtual Status mark(void *stream, void *&out) {
    (void)stream;
    out = nullptr;
    return {};
  }
  virtual Status secondsBetween(void *first, void *last, double &seconds) {
    (void)first, (void)last;
    seconds = 0;
    return {};
  }
  virtual void releaseMark(void *) {}

  /// Addresses for the plan's buffers.
  virtual uint64_t constant(int64_t section) const = 0;
  virtual uint64_t constantBytes(int64_t section) const = 0;
  virtual uint64_t errorAddress() const = 0;
  virtual ErrorRecord *errorRecord() = 0;
};

/// Loads the plan's code on a device, or into this process.
Status makeCudaTarget(CudaDevice &device, const Bundle &bundle, const Plan &plan,
                      std::unique_ptr<Target> &out);
/// Code of a bundle's sections that was loaded into this process.
struct HostCodes {
  std::mutex lock;
  std::map<int64_t, std::shared_ptr<HostCode>> bySection;
};
Status makeHostTarget(const Bundle &bundle, const Plan &plan, HostCodes &codes,
                      std::unique_ptr<Target> &out);
/// Host memory, and kernels that a caller brings; `kernels` must outlive the target.
Status makeKernelsTarget(const Bundle &bundle, const Plan &plan, const std::string &entry,
                         const FtKernels &kernels, std::unique_ptr<Target> &out);

/// How well a plan's target suits this processor; 0 is not at all.
int hostFitness(std::string_view target);

} // namespace ft::rt

#endif // FT_RUNTIME_PROGRAM_TARGET_H
