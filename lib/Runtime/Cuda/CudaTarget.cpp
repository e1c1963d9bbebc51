//===- CudaTarget.cpp - plans over the CUDA driver ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Program/Target.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace ft::rt;

namespace {
/// What the driver was told, or said, about one kernel.
struct KernelState {
  std::string name;
  CUfunction function = nullptr;
  unsigned sharedAllowed = 48 * 1024; // more has to be asked for
  bool largeClusters = false;
  // The last cooperative launch that was found resident.
  unsigned threads = 0, sharedBytes = 0, clusterSize = 0;
  int64_t residentBlocks = 0;
};

class CudaTarget : public Target {
public:
  explicit CudaTarget(CudaDevice &device) : device(device), api(device.api) {}

  ~CudaTarget() override {
    CudaDevice::Scope scope(device);
    if (!scope.status.ok())
      return; // the context is gone, and all that was in it
    for (auto &[section, memory] : constants)
      device.release(memory);
    if (record)
      api.memFreeHost(record);
    if (captureStream)
      api.streamDestroy(captureStream);
    if (module)
      api.moduleUnload(module);
  }

  Status load(const Bundle &bundle, const Plan &plan) {
    CudaDevice::Scope scope(device);
    FT_RT_TRY(std::move(scope.status));
    FT_RT_TRY(loadModule(bundle, plan));
    for (const std::string &name : plan.kernels) {
      KernelState kernel;
      kernel.name = name;
      FT_RT_TRY(device.check(api.moduleGetFunction(&kernel.function, module, name.c_str()),
                             "cuModuleGetFunction", name));
      kernels.push_back(std::move(kernel));
    }
    for (const Buffer &b : plan.buffers) {
      if (b.kind == Buffer::error && !record)
        FT_RT_TRY(makeRecord());
      if (b.kind != Buffer::constant || constants.count(b.index))
        continue;
      const std::string &bytes = bundle.sections[size_t(b.index)].bytes;
      CUdeviceptr &memory = constants[b.index];
      constantSizes[b.index] = bytes.size();
      FT_RT_TRY(device.allocate(bytes.empty() ? 1 : bytes.size(), memory));
      if (!bytes.empty())
        FT_RT_TRY(device.check(api.memcpyHtoDAsync(memory, bytes.data(), bytes.size(), nullptr),
                               "cuMemcpyHtoDAsync", "a constant"));
    }
    // The copies read pageable memory that may go away.
    if (!constants.empty())
      FT_RT_TRY(device.check(api.streamSynchronize(nullptr), "cuStreamSynchronize", "constants"));
    return {};
  }

  Status enter() override {
    scope.emplace(device);
    Status status = std::move(scope->status);
    if (!status.ok())
      scope.reset();
    return status;
  }
  void leave() override { scope.reset(); }

  Status launch(int64_t index, const LaunchShape &shape, void **parameters, void *stream) override {
    KernelState &kernel = kernels[size_t(index)];
    CUlaunchAttribute attributes[mostAttributes];
    CUlaunchConfig config;
    FT_RT_TRY(configure(kernel, shape, stream, attributes, config));
    if (shape.overlaps && device.overlaps()) {
      CUlaunchAttribute &a = attributes[config.numAttrs++];
      a = {};
      a.id = CUlaunchAttribute::programmaticStreamSerialization;
      a.value.programmaticStreamSerialization = 1;
    }
    CUresult result = api.launchKernelEx(&config, kernel.function, parameters, nullptr);
    if (result != cu::success) [[unlikely]]
      return device.check(result, "cuLaunchKernelEx", describe(kernel, shape));
    if (synchronous()) {
      bool capturing = false;
      FT_RT_TRY(isCapturing(stream, capturing));
      if (!capturing)
        return device.check(api.streamSynchronize(CUstream(stream)), "cuStreamSynchronize",
                            "after kernel " + kernel.name);
    }
    return {};
  }

  Status fill(uint64_t to, int value, size_t bytes, void *stream) override {
    return device.check(api.memsetD8Async(to, (unsigned char)value, bytes, CUstream(stream)),
                        "cuMemsetD8Async");
  }
  Status copy(uint64_t to, uint64_t from, size_t bytes, void *stream) override {
    return device.check(api.memcpyDtoDAsync(to, from, bytes, CUstream(stream)),
                        "cuMemcpyDtoDAsync");
  }
  Status readWord(uint64_t from, int32_t &value, void *stream) override {
    FT_RT_TRY(device.check(api.memcpyDtoHAsync(&value, from, sizeof(value), CUstream(stream)),
                           "cuMemcpyDtoHAsync", "a loop's condition"));
    return synchronize(stream);
  }
  Status encode(const TensorMap &map, uint64_t address, const uint64_t *extents,
                const uint64_t *strides, CUtensorMap &out) override {
    size_t rank = map.extents.size();
    uint32_t box[5], steps[5];
    std::string text;
    for (size_t d = 0; d < rank; ++d) {
      box[d] = uint32_t(map.box[d]);
      steps[d] = uint32_t(map.elementStrides[d]);
    }
    CUresult result = api.tensorMapEncodeTiled(
        &out, int(map.type), uint32_t(rank), reinterpret_cast<void *>(address), extents, strides,
        box, steps, int(map.interleave), int(map.swizzle), int(map.l2Promotion), int(map.oobFill));
    if (result == cu::success)
      return {};
    for (size_t d = 0; d < rank; ++d)
      text += (d ? ", " : "extents ") + std::to_string(extents[d]);
    for (size_t d = 0; d + 1 < rank; ++d)
      text += (d ? ", " : "; byte strides ") + std::to_string(strides[d]);
    for (size_t d = 0; d < rank; ++d)
      text += (d ? ", " : "; box ") + std::to_string(box[d]);
    return device.check(result, "cuTensorMapEncodeTiled", text);
  }

  Status allocate(size_t bytes, uint64_t &out) override {
    // While the thread captures a graph, the driver refuses to allocate unless
    // the mode is relaxed; nothing of the allocation enters the graph.
    int mode = cu::captureRelaxed;
    api.threadExchangeCaptureMode(&mode);
    CUdeviceptr memory = 0;
    Status status = device.allocate(bytes ? bytes : 1, memory);
    api.threadExchangeCaptureMode(&mode);
    out = memory;
    return status;
  }
  void release(uint64_t memory) override { device.release(memory); }
  Status synchronize(void *stream) override {
    return device.check(api.streamSynchronize(CUstream(stream)), "cuStreamSynchronize",
                        "kernels of this module: " + kernelNames());
  }
  Status synchronizeAll() override {
    return device.check(api.ctxSynchronize(), "cuCtxSynchronize",
                        "kernels of this module: " + kernelNames());
  }

  Status isCapturing(void *stream, bool &capturing) override {
    int state = 0;
    FT_RT_TRY(device.check(api.streamIsCapturing(CUstream(stream), &state), "cuStreamIsCapturing"));
    capturing = state != 0;
    return {};
  }
  Status beginCapture(void *&stream) override {
    if (!captureStream)
      FT_RT_TRY(device.check(api.streamCreate(&captureStream, cu::streamNonBlocking),
                             "cuStreamCreate", "for capture"));
    stream = captureStream;
    return device.check(api.streamBeginCapture(captureStream, cu::captureThreadLocal),
                        "cuStreamBeginCapture");
  }
  Status endCapture(void *stream, bool keep, void *&out) override {
    out = nullptr;
    CUgraph graph = nullptr;
    Status status =
        device.check(api.streamEndCapture(CUstream(stream), &graph), "cuStreamEndCapture");
    CUgraphExec exec = nullptr;
    if (status.ok() && keep)
      status = device.check(api.graphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
    if (graph)
      api.graphDestroy(graph);
    out = exec;
    return status;
  }
  Status launchGraph(void *graph, void *stream) override {
    return device.check(api.graphLaunch(CUgraphExec(graph), CUstream(stream)), "cuGraphLaunch",
                        kernelNames());
  }
  void releaseGraph(void *graph) override { api.graphExecDestroy(CUgraphExec(graph)); }

  Status makeChain(const std::vector<ChainedLaunch> &launches, void *stream,
                   void *&result) override {
    result = nullptr;
    if (synchronous())
      return {};
    auto chain = std::make_unique<Chain>(api);
    FT_RT_TRY(device.check(api.graphCreate(&chain->graph, 0), "cuGraphCreate"));
    int priority = 0;
    FT_RT_TRY(device.check(api.streamGetPriority(CUstream(stream), &priority),
                           "cuStreamGetPriority"));
    CUgraphNode before = nullptr;
    for (const ChainedLaunch &launch : launches) {
      KernelState &kernel = kernels[size_t(launch.kernel)];
      CUlaunchAttribute attributes[mostAttributes];
      CUlaunchConfig config;
      FT_RT_TRY(configure(kernel, launch.shape, stream, attributes, config));
      if (priority != 0) { // kernels of a graph do not take their stream's
        CUlaunchAttribute &a = attributes[config.numAttrs++];
        a = {};
        a.id = CUlaunchAttribute::priority;
        a.value.priority = priority;
      }
      CUgraphNode node = nullptr;
      CUkernelNodeParams params = nodeParams(kernel, config, launch.parameters);
      bool overlaps = before && launch.shape.overlaps && device.overlaps();
      FT_RT_TRY(device.check(
          api.graphAddKernelNode(&node, chain->graph, &before, before && !overlaps ? 1 : 0, &params),
          "cuGraphAddKernelNode", describe(kernel, launch.shape)));
      if (overlaps) {
        CUgraphEdgeData edge = {CUgraphEdgeData::programmaticPort, CUgraphEdgeData::defaultPort, CUgraphEdgeData::programmaticType, {}};
        FT_RT_TRY(device.check(api.graphAddDependencies(chain->graph, &before, &node, &edge, 1),
                               "cuGraphAddDependencies", describe(kernel, launch.shape)));
      }
      for (unsigned i = 0; i < config.numAttrs; ++i)
        FT_RT_TRY(device.check(
            api.graphKernelNodeSetAttribute(node, attributes[i].id, &attributes[i].value),
            "cuGraphKernelNodeSetAttribute", describe(kernel, launch.shape)));
      chain->nodes.push_back(node);
      before = node;
    }
    FT_RT_TRY(device.check(api.graphInstantiate(&chain->exec, chain->graph, 0),
                           "cuGraphInstantiate", kernelNames()));
    result = chain.release();
    return {};
  }

  Status launchChain(void *made, const std::vector<ChainedLaunch> &launches,
                     void *stream) override {
    Chain &chain = *static_cast<Chain *>(made);
    for (size_t i = 0; i < launches.size(); ++i) {
      const ChainedLaunch &launch = launches[i];
      if (!launch.changed)
        continue;
      KernelState &kernel = kernels[size_t(launch.kernel)];
      CUlaunchAttribute attributes[mostAttributes];
      CUlaunchConfig config;
      FT_RT_TRY(configure(kernel, launch.shape, stream, attributes, config));
      CUkernelNodeParams params = nodeParams(kernel, config, launch.parameters);
      CUresult result = api.graphExecKernelNodeSetParams(chain.exec, chain.nodes[i], &params);
      if (result != cu::success) [[unlikely]]
        return device.check(result, "cuGraphExecKernelNodeSetParams",
                            describe(kernel, launch.shape));
    }
    CUresult result = api.graphLaunch(chain.exec, CUstream(stream));
    if (result != cu::success) [[unlikely]]
      return device.check(result, "cuGraphLaunch", kernelNames());
    return {};
  }
  void releaseChain(void *chain) override { delete static_cast<Chain *>(chain); }

  Status mark(void *stream, void *&out) override {
    CUevent event = nullptr;
    FT_RT_TRY(device.check(api.eventCreate(&event, cu::eventDefault), "cuEventCreate"));
    out = event;
    return device.check(api.eventRecord(event, CUstream(stream)), "cuEventRecord");
  }
  Status secondsBetween(void *first, void *last, double &seconds) override {
    float milliseconds = 0;
    FT_RT_TRY(device.check(api.eventElapsedTime(&milliseconds, CUevent(first), CUevent(last)), "cuEventElapsedTime"));
    seconds = double(milliseconds) / 1e3;
    return {};
  }
  void releaseMark(void *mark) override { api.eventDestroy(CUevent(mark)); }

  uint64_t constant(int64_t section) const override { return constants.at(section); }
  uint64_t constantBytes(int64_t section) const override { return constantSizes.at(section); }
  uint64_t errorAddress() const override { return recordAddress; }
  ErrorRecord *errorRecord() override { return record; }

private:
  struct Chain {
    explicit Chain(const CudaApi &api) : api(api) {}
    ~Chain() {
      if (exec) // one that runs is freed when it is done
        api.graphExecDestroy(exec);
      if (graph)
        api.graphDestroy(graph);
    }
    const CudaApi &api;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    std::vector<CUgraphNode> nodes;
  };

  /// A cluster, a grid that is resident, a priority, an overlap.
  static constexpr size_t mostAttributes = 4;

  /// What the driver is told of a launch; there is room for two more attributes.
  Status configure(KernelState &kernel, LaunchShape shape, void *stream,
                   CUlaunchAttribute *attributes, CUlaunchConfig &config) {
    if (shape.overlaps && device.overlaps())
      shape.sharedBytes = std::max(shape.sharedBytes, std::min(shape.overlapBytes, unsigned(device.maxSharedBytes)));
    config = {shape.grid[0],  shape.grid[1],     shape.grid[2],    shape.block[0], shape.block[1],
              shape.block[2], shape.sharedBytes, CUstream(stream), attributes,     0};
    unsigned clusterSize = shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
    if (clusterSize > 1) {
      CUlaunchAttribute &a = attributes[config.numAttrs++];
      a = {};
      a.id = CUlaunchAttribute::clusterDimension;
      a.value.clusterDim = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
    }
    FT_RT_TRY(prepare(kernel, shape, clusterSize));
    if (shape.cooperative) {
      FT_RT_TRY(checkResident(kernel, shape, clusterSize, config));
      CUlaunchAttribute &a = attributes[config.numAttrs++];
      a = {};
      a.id = CUlaunchAttribute::cooperative;
      a.value.cooperative = 1;
    }
    return {};
  }

  static CUkernelNodeParams nodeParams(const KernelState &kernel, const CUlaunchConfig &config,
                                       void **parameters) {
    return {kernel.function,  config.gridDimX,  config.gridDimY,       config.gridDimZ,
            config.blockDimX, config.blockDimY, config.blockDimZ,      config.sharedMemBytes,
            parameters,       nullptr};
  }

  /// FT_SYNC=1: wait after each launch, so that an error names its kernel.
  static bool synchronous() {
    static const bool value = [] {
      const char *text = getenv("FT_SYNC");
      return text && *text && *text != '0';
    }();
    return value;
  }

  Status loadModule(const Bundle &bundle, const Plan &plan) {
    Status last = Status::error(Code::corrupt, "a plan without a module");
    for (int64_t index : plan.modules) {
      const Section &section = bundle.sections[size_t(index)];
      bool isPtx = section.kind == Section::ptx;
      if (!isPtx && section.kind != Section::cubin)
        return Status::error(Code::corrupt, "a GPU plan whose module is neither PTX nor a cubin");
      last = device.loadModule(section.bytes, isPtx, module);
      // Another driver may refuse a cubin and still compile the PTX; a lost
      // context or missing memory is no reason to go on.
      if (last.code() != Code::unsupportedFormat)
        return last;
    }
    return last;
  }

  Status makeRecord() {
    void *host = nullptr;
    FT_RT_TRY(device.check(api.memHostAlloc(&host, sizeof(ErrorRecord),
                                            cu::hostAllocPortable | cu::hostAllocDeviceMap),
                           "cuMemHostAlloc", "the error record"));
    record = static_cast<ErrorRecord *>(host);
    record->code = 0;
    return device.check(api.memHostGetDevicePointer(&recordAddress, host, 0),
                        "cuMemHostGetDevicePointer");
  }

  static std::string describe(const KernelState &kernel, const LaunchShape &s) {
    auto triple = [](const unsigned (&v)[3]) {
      return std::to_string(v[0]) + "x" + std::to_string(v[1]) + "x" + std::to_string(v[2]);
    };
    return "kernel " + kernel.name + ", grid " + triple(s.grid) + ", block " + triple(s.block) +
           ", cluster " + triple(s.cluster) + ", " + std::to_string(s.sharedBytes) +
           " bytes of shared memory";
  }

  std::string kernelNames() const {
    std::string text;
    for (size_t i = 0; i < kernels.size() && i < 8; ++i)
      text += (i ? ", " : "") + kernels[i].name;
    return text + (kernels.size() > 8 ? ", ..." : "");
  }

  Status prepare(KernelState &kernel, const LaunchShape &shape, unsigned clusterSize) {
    if (shape.sharedBytes > kernel.sharedAllowed) {
      if (shape.sharedBytes > unsigned(device.maxSharedBytes))
        return Status::error(Code::invalidArgument,
                             describe(kernel, shape) + ": device " + device.name + " has " +
                                 std::to_string(device.maxSharedBytes) + " for a block");
      FT_RT_TRY(device.check(
          api.funcSetAttribute(kernel.function, cu::maxDynamicSharedBytes, int(shape.sharedBytes)),
          "cuFuncSetAttribute", describe(kernel, shape)));
      kernel.sharedAllowed = shape.sharedBytes;
    }
    if (clusterSize > 8 && !kernel.largeClusters) {
      FT_RT_TRY(
          device.check(api.funcSetAttribute(kernel.function, cu::nonPortableClusterSizeAllowed, 1),
                       "cuFuncSetAttribute", describe(kernel, shape)));
      kernel.largeClusters = true;
    }
    return {};
  }

  /// A grid barrier waits for blocks that must all be running. A kernel that allows it gets
  /// fewer blocks.
  Status checkResident(KernelState &kernel, const LaunchShape &shape, unsigned clusterSize,
                       CUlaunchConfig &config) {
    if (!device.cooperative)
      return Status::error(Code::notResident,
                           "device " + device.name + " has no cooperative launches");
    unsigned threads = shape.block[0] * shape.block[1] * shape.block[2];
    if (threads != kernel.threads || shape.sharedBytes != kernel.sharedBytes ||
        clusterSize != kernel.clusterSize) {
      int found = 0;
      if (clusterSize > 1) {
        FT_RT_TRY(device.check(api.occupancyMaxActiveClusters(&found, kernel.function, &config),
                               "cuOccupancyMaxActiveClusters", describe(kernel, shape)));
        kernel.residentBlocks = int64_t(found) * clusterSize;
      } else {
        FT_RT_TRY(device.check(
            api.occupancyMaxActiveBlocks(&found, kernel.function, int(threads), shape.sharedBytes),
            "cuOccupancyMaxActiveBlocksPerMultiprocessor", describe(kernel, shape)));
        kernel.residentBlocks = int64_t(found) * device.multiprocessors;
      }
      kernel.threads = threads;
      kernel.sharedBytes = shape.sharedBytes;
      kernel.clusterSize = clusterSize;
    }
    int64_t blocks = int64_t(shape.grid[0]) * shape.grid[1] * shape.grid[2];
    if (blocks <= kernel.residentBlocks)
      return {};
    int64_t others = int64_t(shape.grid[1]) * shape.grid[2];
    int64_t fewer = kernel.residentBlocks / others / shape.cluster[0] * shape.cluster[0];
    if (shape.shrinks && fewer > 0) {
      config.gridDimX = unsigned(fewer);
      return {};
    }
    return Status::error(Code::notResident, describe(kernel, shape) + ": a cooperative grid of " +
                                                std::to_string(blocks) + " blocks, but device " +
                                                device.name + " holds " +
                                                std::to_string(kernel.residentBlocks) + " at once");
  }

  CudaDevice &device;
  const CudaApi &api;
  std::optional<CudaDevice::Scope> scope;
  CUmodule module = nullptr;
  std::vector<KernelState> kernels;
  std::map<int64_t, CUdeviceptr> constants;
  std::map<int64_t, uint64_t> constantSizes;
  ErrorRecord *record = nullptr;
  CUdeviceptr recordAddress = 0;
  CUstream captureStream = nullptr;
};
} // namespace

Status ft::rt::makeCudaTarget(CudaDevice &device, const Bundle &bundle, const Plan &plan,
                              std::unique_ptr<Target> &out) {
  auto target = std::make_unique<CudaTarget>(device);
  FT_RT_TRY(target->load(bundle, plan));
  out = std::move(target);
  return {};
}
