//===- Program.cpp - one entry, ready to be called ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Program/Program.h"
#include "ft/Runtime/Host/ThreadPool.h"
#include "ft/Runtime/Program/Timeline.h"

#include <algorithm>
#include <new>
#include <pthread.h>
#include <utility>

using namespace ft::rt;

static constexpr size_t maxStreams = 32, maxGraphs = 8, maxChains = 16;

namespace {
/// Leaves the target again whatever happens.
struct Inside {
  explicit Inside(Target &target) : target(target), status(target.enter()), entered(status.ok()) {}
  ~Inside() {
    if (entered)
      target.leave();
  }
  Target &target;
  Status status;
  bool entered;
};
} // namespace

namespace {
/// Those that are there now. A call takes this lock before its program's own.
struct DevicePrograms {
  std::mutex lock;
  std::vector<Program *> all;
};
DevicePrograms &devicePrograms() {
  static auto *programs = [] { // never destroyed: calls may come while the process ends
    auto *made = new DevicePrograms;
    // A child of fork has no part in the device: the records are not even mapped there.
    static DevicePrograms *all = made;
    pthread_atfork(nullptr, nullptr, [] {
      new (&all->lock) std::mutex;
      all->all.clear();
    });
    return made;
  }();
  return *programs;
}
} // namespace

Program::Program(const Entry &entry, const Plan &thePlan, std::unique_ptr<Target> theTarget,
                 int32_t deviceType, int32_t deviceId)
    : entry(entry), plan(thePlan), target(std::move(theTarget)), deviceType(deviceType),
      deviceId(deviceId) {
  buffers.resize(plan.buffers.size());
  bufferBytes.resize(plan.buffers.size());
  graphs.reserve(maxGraphs); // a graph must find its place once it is made
  numberSteps(plan.steps);
  parameters.resize(slots.size());
  if (deviceType != FT_CPU) {
    std::lock_guard<std::mutex> guard(devicePrograms().lock);
    devicePrograms().all.push_back(this);
  }
}

/// Gives each descriptor a slot and sizes the scratch memory of launches.
void Program::numberSteps(std::vector<Step> &steps) {
  for (Step &step : steps) {
    canCapture &= step.kind != Step::repeat;
    canChain &= step.kind == Step::launch || step.kind == Step::branch;
    if (step.kind == Step::launch) {
      std::vector<KernelArgument> &arguments = step.launched.arguments;
      slots.resize(slots.size() + arguments.size());
      for (KernelArgument &a : arguments)
        if (a.kind == KernelArgument::tensorMap) {
          a.slot = int64_t(maps.size());
          maps.emplace_back();
        }
    }
    numberSteps(step.body);
    numberSteps(step.otherwise);
  }
}

Program::~Program() {
  if (deviceType != FT_CPU) {
    std::lock_guard<std::mutex> guard(devicePrograms().lock);
    std::erase(devicePrograms().all, this);
  }
  Inside inside(*target);
  if (!inside.status.ok())
    return;
  (void)target->synchronizeAll().ok();
  for (Graph &graph : graphs)
    target->releaseGraph(graph.graph);
  for (Chain &chain : chains)
    if (chain.chain)
      target->releaseChain(chain.chain);
  for (auto *list : {&streams, &captured})
    for (std::unique_ptr<StreamState> &state : *list) {
      target->release(state->workspace);
      target->release(state->counters);
    }
}

Status Program::overflow(const char *what) const {
  return Status::error(Code::invalidArgument, "entry \"" + entry.name + "\": " + what +
                                                  " overflows or is out of range for these sizes");
}

Status Program::evaluate(const Expr &expr, int64_t &value) const {
  if (expr.evaluate(binding.variables.data(), value)) [[likely]]
    return {};
  return overflow("an expression of the launch plan");
}

Status Program::outputShape(const FtTensor *const *tensors, int64_t count, int64_t argument,
                            std::vector<int64_t> &shape) {
  std::lock_guard<std::mutex> guard(lock);
  FT_RT_TRY(bind(entry, tensors, count, deviceType, deviceId, BindMode::shapes, binding));
  return shapeOf(entry, binding, argument, shape);
}

Status Program::evaluateWorkspace(uint64_t &bytes) {
  int64_t value = 0;
  FT_RT_TRY(evaluate(plan.workspaceBytes, value));
  if (value < 0)
    return overflow("the workspace's size");
  bytes = uint64_t(value);
  return {};
}

Status Program::workspaceBytes(const FtTensor *const *tensors, int64_t count, uint64_t &bytes) {
  std::lock_guard<std::mutex> guard(lock);
  FT_RT_TRY(bind(entry, tensors, count, deviceType, deviceId, BindMode::shapes, binding));
  return evaluateWorkspace(bytes);
}

Status Program::synchronize(void *stream) {
  std::lock_guard<std::mutex> guard(lock);
  Inside inside(*target);
  FT_RT_TRY(std::move(inside.status));
  Status waited = target->synchronize(stream).inside("entry \"" + entry.name + "\"");
  Status reported = reportErrorRecord();
  if (waited.ok())
    return reported;
  // A kernel that gave up and trapped said why before.
  return reported.ok() ? std::move(waited)
                       : Status::error(waited.code(), waited.message() + "; " + reported.message());
}

Status Program::reportErrorRecord() {
  ErrorRecord *record = target->errorRecord();
  if (!record || record->code == 0)
    return {};
  std::string kernel = record->kernel < plan.kernels.size() ? plan.kernels[record->kernel]
                                                            : std::to_string(record->kernel);
  const auto code = ErrorCode(record->code);
  std::string what = code == ErrorCode::index  ? "an index was out of range"
                     : code == ErrorCode::wait ? "a wait never ended"
                                               : "error " + std::to_string(record->code);
  std::string values;
  for (volatile int64_t &value : record->values)
    values += (values.empty() ? "" : ", ") + std::to_string(value);
  int64_t value = record->values[0], bound = record->values[1], place = record->values[2];
  bool hasPlace = code == ErrorCode::index && place >= 0 && size_t(place) < plan.places.size();
  record->code = 0;
  record->claimed = 0; // after the code: who claims it from now on writes a code that stays
  if (hasPlace && !plan.places[size_t(place)].empty())
    return Status::error(Code::invalidArgument, plan.places[size_t(place)] + ": index " + std::to_string(value) +
                                                    " is out of range [0, " + std::to_string(bound) +
                                                    "), in entry \"" + entry.name + "\"");
  return Status::error(
      record->kernel < plan.kernels.size() ? Code::invalidArgument : Code::internal,
      "entry \"" + entry.name + "\", kernel " + kernel + ": " + what + " (" + values + ")");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status Program::grow(StreamState &state, uint64_t bytes) {
  if (bytes > state.workspaceBytes) {
    if (state.workspace) {
      // What runs may still use the smaller one.
      FT_RT_TRY(target->synchronize(state.stream));
      target->release(state.workspace);
      state.workspace = state.workspaceBytes = 0;
    }
    FT_RT_TRY(target->allocate(bytes, state.workspace));
    state.workspaceBytes = bytes;
  }
  if (plan.counterBytes && !state.counters) {
    FT_RT_TRY(target->allocate(size_t(plan.counterBytes), state.counters));
    Status status = target->fill(state.counters, 0, size_t(plan.counterBytes), state.stream);
    if (!status.ok()) {
      target->release(state.counters);
      state.counters = 0;
      return status;
    }
  }
  return {};
}

void Program::dropStreams() {
  if (!target->synchronizeAll().ok())
    return;
  for (Graph &graph : graphs)
    target->releaseGraph(graph.graph);
  graphs.clear();
  for (std::unique_ptr<StreamState> &state : streams) {
    target->release(state->workspace);
    target->release(state->counters);
  }
  streams.clear();
}

Status Program::stateFor(void *stream, uint64_t bytes, bool own, bool capturing,
                         StreamState *&state) {
  static StreamState nothing;
  state = &nothing;
  uint64_t needed = own ? bytes : 0;
  if (!needed && !plan.counterBytes)
    return {};
  if (capturing) {
    // A captured call may be replayed at any time, beside other calls: it gets
    // memory of its own, which lives as long as the module.
    captured.push_back(std::make_unique<StreamState>());
    state = captured.back().get();
    state->stream = stream;
    return grow(*state, needed);
  }
  auto it = std::find_if(streams.begin(), streams.end(),
                         [&](const auto &s) { return s->stream == stream; });
  if (it == streams.end()) {
    if (streams.size() >= maxStreams)
      dropStreams();
    streams.push_back(std::make_unique<StreamState>());
    it = streams.end() - 1;
    (*it)->stream = stream;
  }
  state = it->get();
  return grow(*state, needed);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// What went wrong on a device since the last call, of whatever program, is said by the next one: nothing may ever wait.
Status Program::reportEarlier() {
  DevicePrograms &programs = devicePrograms();
  std::lock_guard<std::mutex> guard(programs.lock);
  for (Program *program : programs.all) {
    ErrorRecord *record = program->target->errorRecord();
    if (!record || record->code == 0) [[likely]]
      continue;
    std::lock_guard<std::mutex> own(program->lock);
    if (Status earlier = program->reportErrorRecord(); !earlier.ok())
      return Status::error(Code::driver, "an earlier call failed on the device: " + earlier.message() +
                                             "; this call did nothing");
  }
  return {};
}

Status Program::call(const FtTensor *const *tensors, int64_t count, const Options &options) {
  if (deviceType != FT_CPU)
    FT_RT_TRY(reportEarlier());
  std::lock_guard<std::mutex> guard(lock);
  Inside inside(*target);
  FT_RT_TRY(std::move(inside.status));
  return callLocked(tensors, count, options);
}

Status Program::callTraced(const FtTensor *const *tensors, int64_t count, const Options &given, std::string &text) {
  if (deviceType != FT_CPU)
    FT_RT_TRY(reportEarlier());
  std::lock_guard<std::mutex> guard(lock);
  Inside inside(*target);
  FT_RT_TRY(std::move(inside.status));
  bool capturing = false;
  FT_RT_TRY(target->isCapturing(given.stream, capturing));
  if (capturing)
    return Status::error(Code::invalidArgument, "entry \"" + entry.name + "\": a call that is captured runs later and cannot be traced");
  Options options = given;
  options.graph = false; // each step on its own
  options.direct = true;
  auto traced = std::make_unique<TracedTarget>(std::move(target), plan, deviceType == FT_CPU);
  TracedTarget &timeline = *traced;
  target = std::move(traced);
  timeline.begin();
  Status status = callLocked(tensors, count, options);
  Status ended = timeline.end(options.stream);
  Json trace;
  if (status.ok() && ended.ok()) {
    Json lengths = Json::makeObject();
    for (size_t i = 0; i < entry.symbols.size(); ++i)
      lengths.set(entry.symbols[i].name, binding.variables[i]);
    status = timeline.write(entry.name, std::move(lengths), trace);
  }
  std::unique_ptr<Target> own = timeline.take();
  target = std::move(own);
  FT_RT_TRY(std::move(status));
  FT_RT_TRY(std::move(ended));
  FT_RT_TRY(reportErrorRecord());
  text = trace.dump(/*pretty=*/false);
  return {};
}

Status Program::callLocked(const FtTensor *const *tensors, int64_t count, const Options &options) {
  FT_RT_TRY(bind(entry, tensors, count, deviceType, deviceId, BindMode::call, binding));
  uint64_t needed = 0;
  FT_RT_TRY(evaluateWorkspace(needed));
  bool own = options.workspace == 0;
  if (!own && options.workspaceBytes < needed)
    return Status::error(Code::invalidArgument, "entry \"" + entry.name + "\": the workspace has " +
                                                    std::to_string(options.workspaceBytes) +
                                                    " bytes, needed are " + std::to_string(needed));
  if (!own && options.workspace % 256)
    return Status::error(Code::invalidArgument,
                         "entry \"" + entry.name +
                             "\": the workspace must be aligned to 256 bytes");
  bool capturing = false, chains = deviceType == FT_CUDA && canChain && !options.direct;
  if (deviceType == FT_CUDA &&
      (chains || needed || plan.counterBytes || options.graph || !canCapture))
    FT_RT_TRY(target->isCapturing(options.stream, capturing));
  if (capturing && !canCapture)
    return Status::error(Code::invalidArgument,
                         "entry \"" + entry.name +
                             "\" has a loop whose end the host decides: it cannot be captured");
  StreamState *state = nullptr;
  Status memory = stateFor(options.stream, needed, own, capturing, state);
  if (!memory.ok()) [[unlikely]]
    return std::move(memory).inside("entry \"" + entry.name + "\"");
  uint64_t workspace = own ? state->workspace : options.workspace;
  FT_RT_TRY(placeBuffers(workspace, needed, state->counters));
  // Who looks for values that nothing has written finds NaN.
  if (deviceType == FT_CPU && ft_threads_are_shuffled())
    FT_RT_TRY(target->fill(workspace, 0xff, needed, options.stream));
  stepsLeft = maxSteps;
  followsLaunch = false;
  Status status = capturing                     ? runSteps(plan.steps, 0, options.stream)
                  : options.graph && canCapture ? replay(options)
                  : chains                      ? runChain(options.stream)
                                                : runSteps(plan.steps, 0, options.stream);
  if (!status.ok()) [[unlikely]]
    return std::move(status).inside("entry \"" + entry.name + "\"");
  // The CPU is done; a GPU's record is read when something waits.
  return deviceType == FT_CPU ? reportErrorRecord() : Status();
}

/// Where each buffer begins in this call, and how many bytes it has from there on.
Status Program::placeBuffers(uint64_t workspace, uint64_t workspaceBytes, uint64_t counters) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer &b = plan.buffers[i];
    int64_t offset = 0;
    FT_RT_TRY(evaluate(b.offset, offset));
    uint64_t base = 0, bytes = 0;
    switch (b.kind) {
    case Buffer::argument:
      base = binding.addresses[size_t(b.index)];
      bytes = binding.ends[size_t(b.index)] - base;
      break;
    case Buffer::workspace:
      base = workspace;
      bytes = workspaceBytes;
      break;
    case Buffer::constant:
      base = target->constant(b.index);
      bytes = target->constantBytes(b.index);
      break;
    case Buffer::counter:
      base = counters;
      bytes = uint64_t(plan.counterBytes);
      break;
    case Buffer::error:
      base = target->errorAddress();
      bytes = sizeof(ErrorRecord);
      break;
    }
    if (offset < 0 || uint64_t(offset) > bytes) [[unlikely]]
      return overflow("the offset of a buffer");
    buffers[i] = base + uint64_t(offset);
    bufferBytes[i] = bytes - uint64_t(offset);
  }
  return {};
}

/// The address of `bytes` bytes at an offset in a buffer, which must lie within it.
Status Program::placeIn(int64_t buffer, const Expr &offset, uint64_t bytes, uint64_t &address) const {
  int64_t value = 0;
  FT_RT_TRY(evaluate(offset, value));
  uint64_t room = bufferBytes[size_t(buffer)];
  if (value < 0 || bytes > room || uint64_t(value) > room - bytes) [[unlikely]]
    return overflow("a range of bytes in a buffer");
  address = buffers[size_t(buffer)] + uint64_t(value);
  return {};
}

Status Program::takeSteps(uint64_t count) {
  if (count > uint64_t(stepsLeft)) [[unlikely]]
    return Status::error(Code::invalidArgument, "the launch plan takes more than " +
                                                    std::to_string(maxSteps) +
                                                    " steps for these sizes");
  stepsLeft -= int64_t(count);
  return {};
}

Status Program::replay(const Options &options) {
  std::vector<uint64_t> &key = graphKey;
  key.assign(buffers.begin(), buffers.end());
  key.insert(key.end(), binding.variables.begin(),
             binding.variables.begin() + int64_t(entry.symbols.size()));
  key.insert(key.end(), binding.variables.begin() + entry.firstExtent(), binding.variables.end());
  for (Graph &graph : graphs)
    if (graph.key == key) {
      graph.lastUse = ++uses;
      return target->launchGraph(graph.graph, options.stream);
    }
  void *stream = nullptr, *graph = nullptr;
  FT_RT_TRY(target->beginCapture(stream));
  if (!stream) // a target without graphs
    return runSteps(plan.steps, 0, options.stream);
  Status status = runSteps(plan.steps, 0, stream);
  Status ended = target->endCapture(stream, status.ok(), graph);
  FT_RT_TRY(std::move(status));
  FT_RT_TRY(std::move(ended));
  if (graphs.size() >= maxGraphs) {
    auto oldest =
        std::min_element(graphs.begin(), graphs.end(),
                         [](const Graph &a, const Graph &b) { return a.lastUse < b.lastUse; });
    // Destroying one that runs is allowed: the driver frees it when it is done.
    target->releaseGraph(oldest->graph);
    graphs.erase(oldest);
  }
  graphs.push_back({std::move(key), graph, ++uses});
  return target->launchGraph(graph, options.stream);
}

/// Where the launches that were collected have come on this stream before.
Program::Chain &Program::chainFor(void *stream) {
  for (Chain &chain : chains)
    if (chain.stream == stream &&
        std::equal(chain.launches.begin(), chain.launches.end(), collected.begin(),
                   collected.end(),
                   [](const Launch *known, const Collected &c) { return known == c.launch; }))
      return chain;
  Chain fresh;
  fresh.stream = stream;
  for (const Collected &c : collected)
    fresh.launches.push_back(c.launch);
  if (chains.size() < maxChains) {
    chains.push_back(std::move(fresh));
    return chains.back();
  }
  Chain &oldest =
      *std::min_element(chains.begin(), chains.end(),
                        [](const Chain &a, const Chain &b) { return a.lastUse < b.lastUse; });
  if (oldest.chain)
    target->releaseChain(oldest.chain);
  return oldest = std::move(fresh);
}

/// The plan is nothing but launches: from the second time on that they come on a stream they go
/// as a graph, whose kernels get this call's parameters.
Status Program::runChain(void *stream) {
  struct Collecting {
    explicit Collecting(Program &program) : program(program) { program.collecting = true; }
    ~Collecting() { program.collecting = false; }
    Program &program;
  };
  usedSlots = 0;
  collected.clear();
  pending.clear();
  {
    Collecting scope(*this);
    FT_RT_TRY(runSteps(plan.steps, 0, stream));
  }
  if (pending.empty())
    return {};
  auto launchEach = [&]() -> Status {
    for (const ChainedLaunch &launch : pending)
      FT_RT_TRY(target->launch(launch.kernel, launch.shape, launch.parameters, stream));
    return {};
  };
  Chain &chain = chainFor(stream);
  bool isFirst = chain.lastUse == 0;
  chain.lastUse = ++uses;
  if (isFirst || chain.refused)
    return launchEach();
  Status status;
  if (!chain.chain) {
    chain.shapes.resize(pending.size());
    chain.slots.resize(usedSlots);
    status = target->makeChain(pending, stream, chain.chain);
    chain.refused = !chain.chain;
    for (ChainedLaunch &launch : pending)
      launch.changed = false;
  } else {
    for (size_t i = 0; i < pending.size(); ++i) {
      const LaunchShape &now = pending[i].shape, &before = chain.shapes[i];
      const Collected &c = collected[i];
      bool same = std::equal(now.grid, now.grid + 3, before.grid) &&
                  std::equal(now.block, now.block + 3, before.block) &&
                  now.sharedBytes == before.sharedBytes;
      for (size_t a = 0; a < c.launch->arguments.size() && same; ++a)
        same = slots[c.firstSlot + a] == chain.slots[c.firstSlot + a];
      pending[i].changed = !same;
    }
  }
  if (chain.chain) {
    for (size_t i = 0; i < pending.size(); ++i)
      chain.shapes[i] = pending[i].shape;
    std::copy_n(slots.begin(), usedSlots, chain.slots.begin());
    status = target->launchChain(chain.chain, pending, stream);
    if (status.ok()) [[likely]]
      return {};
    target->releaseChain(std::exchange(chain.chain, nullptr));
    chain.refused = true;
  }
  // What a graph can't take a launch may, or it says what is wrong.
  return status.code() == Code::contextLost ? std::move(status) : launchEach();
}

Status Program::runSteps(const std::vector<Step> &steps, int64_t depth, void *stream) {
  for (const Step &step : steps) {
    FT_RT_TRY(takeSteps(1));
    switch (step.kind) {
    case Step::launch:
      FT_RT_TRY(runLaunch(step.launched, stream));
      break;
    case Step::fill:
    case Step::copy:
      FT_RT_TRY(runMove(step, stream));
      break;
    case Step::loop: {
      int64_t lower = 0, upper = 0;
      FT_RT_TRY(evaluate(step.lower, lower));
      FT_RT_TRY(evaluate(step.upper, upper));
      int64_t &variable = binding.variables[entry.symbols.size() + size_t(depth)];
      for (int64_t i = lower; i < upper;) {
        variable = i;
        FT_RT_TRY(takeSteps(1));
        FT_RT_TRY(runSteps(step.body, depth + 1, stream));
        if (__builtin_add_overflow(i, step.step, &i))
          break;
      }
      break;
    }
    case Step::branch: {
      int64_t condition = 0;
      FT_RT_TRY(evaluate(step.condition, condition));
      FT_RT_TRY(runSteps(condition >= 0 ? step.body : step.otherwise, depth, stream));
      break;
    }
    case Step::repeat:
      FT_RT_TRY(runRepeat(step, depth, stream));
      break;
    }
  }
  return {};
}

/// A fill or a copy.
Status Program::runMove(const Step &step, void *stream) {
  int64_t bytes = 0;
  FT_RT_TRY(evaluate(step.bytes, bytes));
  if (bytes < 0)
    return overflow("a copy's size");
  if (bytes == 0)
    return {};
  FT_RT_TRY(takeSteps(uint64_t(bytes) >> 16));
  followsLaunch = false;
  uint64_t to = 0, from = 0;
  FT_RT_TRY(placeIn(step.to, step.toOffset, uint64_t(bytes), to));
  if (step.kind == Step::fill)
    return target->fill(to, int(step.value), size_t(bytes), stream);
  FT_RT_TRY(placeIn(step.from, step.fromOffset, uint64_t(bytes), from));
  return target->copy(to, from, size_t(bytes), stream);
}

Status Program::runRepeat(const Step &step, int64_t depth, void *stream) {
  int64_t limit = 0;
  uint64_t from = 0;
  FT_RT_TRY(placeIn(step.from, step.fromOffset, sizeof(int32_t), from));
  FT_RT_TRY(evaluate(step.upper, limit));
  int64_t &variable = binding.variables[entry.symbols.size() + size_t(depth)];
  for (int64_t i = 0;; ++i) {
    int32_t word = 0;
    FT_RT_TRY(takeSteps(1));
    FT_RT_TRY(target->readWord(from, word, stream));
    followsLaunch = false;
    if (word == 0)
      return {};
    if (i >= limit)
      return Status::error(Code::invalidArgument,
                           "a loop did not end within " + std::to_string(limit) + " iterations");
    variable = i;
    FT_RT_TRY(runSteps(step.body, depth + 1, stream));
  }
}

Status Program::runLaunch(const Launch &launch, void *stream) {
  LaunchShape shape;
  static constexpr int64_t mostBlocks[3] = {0x7fffffff, 65535, 65535};
  int64_t value = 0, threads = 1;
  bool empty = false;
  for (int d = 0; d < 3; ++d) {
    FT_RT_TRY(evaluate(launch.grid[d], value));
    if (value < 0 || value > mostBlocks[d])
      return overflow("a grid");
    empty |= value == 0;
    shape.grid[d] = unsigned(value);
    FT_RT_TRY(evaluate(launch.block[d], value));
    if (value < 1 || value > 1024)
      return overflow("a block");
    threads *= value;
    shape.block[d] = unsigned(value);
    shape.cluster[d] = unsigned(launch.cluster[d]);
  }
  if (empty)
    return {};
  if (threads > 1024)
    return overflow("a block");
  FT_RT_TRY(evaluate(launch.sharedBytes, value));
  if (value < 0 || value > 0x7fffffff)
    return overflow("a kernel's shared memory");
  shape.sharedBytes = unsigned(value);
  shape.cooperative = launch.cooperative;
  shape.shrinks = launch.shrinks;
  // (Blocks of a cooperative launch must all be running, beside what still runs.)
  shape.overlaps = launch.overlaps && followsLaunch;
  FT_RT_TRY(evaluate(launch.overlapBytes, value));
  if (value < 0 || value > 0x7fffffff)
    return overflow("the shared memory of a kernel that overlaps");
  shape.overlapBytes = shape.overlaps ? unsigned(value) : 0;
  followsLaunch = !launch.cooperative;
  size_t first = collecting ? usedSlots : 0, n = first;
  for (const KernelArgument &a : launch.arguments) {
    parameters[n] = &slots[n];
    switch (a.kind) {
    case KernelArgument::pointer:
      FT_RT_TRY(placeIn(a.buffer, a.value, 0, slots[n]));
      break;
    case KernelArgument::integer:
      FT_RT_TRY(evaluate(a.value, value));
      if (a.bits == 32 && (value < INT32_MIN || value > int64_t(UINT32_MAX)))
        return overflow("a 32-bit kernel argument");
      slots[n] = uint64_t(value); // little endian: the low half comes first
      break;
    case KernelArgument::tensorMap:
      FT_RT_TRY(encode(a, maps[size_t(a.slot)]));
      parameters[n] = &maps[size_t(a.slot)].map;
      slots[n] = maps[size_t(a.slot)].version; // tells whether it has changed since
      break;
    }
    ++n;
  }
  if (!collecting)
    return target->launch(launch.kernel, shape, parameters.data(), stream);
  usedSlots = n;
  collected.push_back({&launch, first});
  pending.push_back({launch.kernel, shape, parameters.data() + first});
  return {};
}

Status Program::encode(const KernelArgument &argument, MapSlot &slot) {
  const TensorMap &map = argument.map;
  int64_t value = 0;
  uint64_t address = 0;
  FT_RT_TRY(placeIn(argument.buffer, argument.value, 0, address));
  bool same = slot.valid && slot.address == address;
  auto update = [&](const Expr &expr, uint64_t &place) -> Status {
    FT_RT_TRY(evaluate(expr, value));
    if (value < 0)
      return overflow("a descriptor's extent or stride");
    same &= place == uint64_t(value);
    place = uint64_t(value);
    return {};
  };
  slot.valid = false;
  for (size_t d = 0; d < map.extents.size(); ++d)
    FT_RT_TRY(update(map.extents[d], slot.extents[d]));
  for (size_t d = 0; d < map.strides.size(); ++d)
    FT_RT_TRY(update(map.strides[d], slot.strides[d]));
  slot.address = address;
  if (!same) {
    ++slot.version;
    FT_RT_TRY(target->encode(map, address, slot.extents, slot.strides, slot.map));
  }
  slot.valid = true;
  return {};
}
