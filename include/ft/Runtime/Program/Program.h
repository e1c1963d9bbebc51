//===- Program.h - one entry, ready to be called ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks a plan's steps for a call. What a call needs is prepared once: it binds,
// evaluates some expressions and enqueues, without allocating.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_PROGRAM_PROGRAM_H
#define FT_RUNTIME_PROGRAM_PROGRAM_H

#include "ft/Runtime/Program/Binding.h"
#include "ft/Runtime/Program/Target.h"

namespace ft::rt {

class Program {
public:
  struct Options {
    void *stream = nullptr;
    uint64_t workspace = 0, workspaceBytes = 0;
    bool graph = false;
    bool direct = false;
  };

  /// `entry` must outlive the program.
  Program(const Entry &entry, const Plan &plan, std::unique_ptr<Target> target, int32_t deviceType,
          int32_t deviceId);
  ~Program();

  const Plan &getPlan() const { return plan; }

  Status call(const FtTensor *const *tensors, int64_t count, const Options &options);
  /// A call whose pieces are timed, one step after the other, until it has ended; `trace` becomes a Chrome trace of it.
  Status callTraced(const FtTensor *const *tensors, int64_t count, const Options &options, std::string &trace);
  Status outputShape(const FtTensor *const *tensors, int64_t count, int64_t argument,
                     std::vector<int64_t> &shape);
  Status workspaceBytes(const FtTensor *const *tensors, int64_t count, uint64_t &bytes);
  Status synchronize(void *stream);

private:
  /// Memory that calls on one stream share: they follow each other there.
  struct StreamState {
    void *stream = nullptr;
    uint64_t workspace = 0, workspaceBytes = 0, counters = 0;
  };
  struct MapSlot {
    bool valid = false;
    uint64_t version = 0; // how often it has been encoded: while that stays, the descriptor has
    uint64_t address = 0, extents[5] = {}, strides[5] = {};
    CUtensorMap map;
  };
  struct Graph {
    std::vector<uint64_t> key;
    void *graph = nullptr;
    uint64_t lastUse = 0;
  };

  /// A sequence of launches that came on a stream, and what they were the last time.
  struct Chain {
    void *stream = nullptr;
    std::vector<const Launch *> launches;
    std::vector<LaunchShape> shapes;
    std::vector<uint64_t> slots;
    void *chain = nullptr;
    bool refused = false;
    uint64_t lastUse = 0;
  };
  struct Collected {
    const Launch *launch;
    size_t firstSlot;
  };

  Status callLocked(const FtTensor *const *tensors, int64_t count, const Options &options);
  Status stateFor(void *stream, uint64_t workspaceBytes, bool own, bool capturing,
                  StreamState *&state);
  Status grow(StreamState &state, uint64_t bytes);
  Status evaluateWorkspace(uint64_t &bytes);
  Status placeBuffers(uint64_t workspace, uint64_t workspaceBytes, uint64_t counters);
  Status placeIn(int64_t buffer, const Expr &offset, uint64_t bytes, uint64_t &address) const;
  Status takeSteps(uint64_t count);
  Status replay(const Options &options);
  Status runChain(void *stream);
  Chain &chainFor(void *stream);
  void dropStreams();

  void numberSteps(std::vector<Step> &steps);
  Status runSteps(const std::vector<Step> &steps, int64_t depth, void *stream);
  Status runLaunch(const Launch &launch, void *stream);
  Status runMove(const Step &step, void *stream);
  Status runRepeat(const Step &step, int64_t depth, void *stream);
  Status encode(const KernelArgument &argument, MapSlot &slot);
  Status evaluate(const Expr &expr, int64_t &value) const;
  Status overflow(const char *what) const;
  Status reportErrorRecord();
  static Status reportEarlier();

  const Entry &entry;
  Plan plan;
  std::unique_ptr<Target> target;
  const int32_t deviceType, deviceId;
  bool canCapture = true;
  bool canChain = true; // nothing but launches

  std::mutex lock; // all below
  Binding binding;
  std::vector<uint64_t> buffers, bufferBytes;
  int64_t stepsLeft = 0; // of the call that runs
  std::vector<uint64_t> slots;
  std::vector<void *> parameters;
  std::vector<MapSlot> maps;
  std::vector<std::unique_ptr<StreamState>> streams;
  std::vector<std::unique_ptr<StreamState>> captured;
  std::vector<Graph> graphs;
  std::vector<uint64_t> graphKey;
  std::vector<Chain> chains;
  bool collecting = false; // launches are kept, not done
  bool followsLaunch = false; // what comes next in the call that runs; a cooperative launch is none here
  size_t usedSlots = 0;
  std::vector<Collected> collected;
  std::vector<ChainedLaunch> pending;
  uint64_t uses = 0;
};

} // namespace ft::rt

#endif // FT_RUNTIME_PROGRAM_PROGRAM_H
