//===- mock_cuda.cpp - a CUDA driver without a device ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MockCuda.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

using namespace ft::rt;
using mock::Driver;

namespace {

std::recursive_mutex lock;
Driver driver;

struct Module {
  std::vector<std::string> entries;
};
struct Function {
  std::string name;
};
/// A kernel's node: its parameters are copied when they are set.
struct Node {
  const Node *origin = nullptr; // the node of the graph that was instantiated
  Function *function = nullptr;
  CUlaunchConfig config = {};
  std::vector<int> attributes;
  bool isFree = false; // no edge leads to it yet
  std::vector<std::vector<char>> values;
  void set(const CUkernelNodeParams &params);
  void run();
};
struct Graph {
  std::vector<std::function<void()>> work;
  std::vector<std::shared_ptr<Node>> nodes;
};
struct Stream {
  bool capturing = false;
  Graph graph;
};
Stream defaultStream;
int theContext, currentDepth;
std::map<std::string, std::unique_ptr<Function>> functions;

Stream &streamOf(CUstream s) { return s ? *reinterpret_cast<Stream *>(s) : defaultStream; }

struct Guard {
  Guard() {
    lock.lock();
    if (driver.hook)
      driver.hook(true);
  }
  ~Guard() {
    if (driver.hook)
      driver.hook(false);
    lock.unlock();
  }
};

/// Books a call and says with which result it is to fail, if it is.
CUresult enter(const char *name) {
  if (driver.quiet)
    return cu::success;
  driver.log.push_back(name);
  int index = driver.calls[name]++, total = driver.total++;
  bool any = driver.failCall == "*";
  if ((!any && driver.failCall != name) || driver.failAt < 0)
    return cu::success;
  int now = any ? total : index;
  return now == driver.failAt || (driver.failAlways && now > driver.failAt) ? driver.failResult
                                                                            : cu::success;
}

/// Does the work now, or when the graph runs.
void enqueue(CUstream stream, std::function<void()> work) {
  Stream &s = streamOf(stream);
  if (s.capturing)
    s.graph.work.push_back(std::move(work));
  else
    work();
}

void Node::set(const CUkernelNodeParams &params) {
  function = reinterpret_cast<Function *>(params.function);
  config = {params.gridDimX,  params.gridDimY,       params.gridDimZ, params.blockDimX, params.blockDimY,
            params.blockDimZ, params.sharedMemBytes, nullptr,         nullptr,          0};
  auto it = driver.kernels.find(function->name);
  values.clear();
  for (size_t i = 0; it != driver.kernels.end() && i < it->second.parameterSizes.size(); ++i) {
    auto *bytes = static_cast<char *>(params.kernelParams[i]);
    values.emplace_back(bytes, bytes + it->second.parameterSizes[i]);
  }
}

void Node::run() {
  driver.lastGrid = config.gridDimX;
  driver.lastShared = config.sharedMemBytes;
  if (driver.quiet)
    return;
  std::string &line = driver.log.back();
  line += " " + function->name;
  for (int id : attributes)
    line += id == CUlaunchAttribute::cooperative                      ? " cooperative"
            : id == CUlaunchAttribute::priority                       ? " priority"
            : id == CUlaunchAttribute::programmaticStreamSerialization ? " overlaps"
                                                                       : " cluster";
  auto it = driver.kernels.find(function->name);
  if (it == driver.kernels.end())
    return;
  std::vector<void *> pointers;
  for (auto &value : values)
    pointers.push_back(value.data());
  it->second.run(pointers.data(), config);
}

} // namespace

#define ENTER(name)                                                                                \
  Guard guard;                                                                                     \
  if (CUresult result = enter(#name))                                                              \
  return result

extern "C" {

Driver *mockCudaDriver() { return &driver; }

void mockCudaReset() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  auto memory = std::move(driver.memory);
  driver = Driver();
  driver.memory = std::move(memory);
}

CUresult cuInit(unsigned) {
  ENTER(cuInit);
  return driver.devices ? cu::success : cu::noDevice;
}
CUresult cuDriverGetVersion(int *version) {
  ENTER(cuDriverGetVersion);
  *version = driver.version;
  return cu::success;
}
CUresult cuGetErrorName(CUresult result, const char **name) {
  Guard guard;
  static const std::map<int, const char *> names = {
      {1, "CUDA_ERROR_INVALID_VALUE"},   {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {100, "CUDA_ERROR_NO_DEVICE"},     {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {218, "CUDA_ERROR_INVALID_PTX"},   {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
      {500, "CUDA_ERROR_NOT_FOUND"},     {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {719, "CUDA_ERROR_LAUNCH_FAILED"}, {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
  };
  auto it = names.find(result);
  *name = it == names.end() ? nullptr : it->second;
  return it == names.end() ? cu::invalidValue : cu::success;
}
CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "mock";
  return cu::success;
}
CUresult cuDeviceGetCount(int *count) {
  ENTER(cuDeviceGetCount);
  *count = driver.devices;
  return cu::success;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  ENTER(cuDeviceGet);
  *device = ordinal;
  return cu::success;
}
CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  ENTER(cuDeviceGetName);
  strncpy(name, "Mock GPU", size_t(length));
  return cu::success;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  ENTER(cuDeviceGetAttribute);
  const std::map<int, int> values = {{cu::maxThreadsPerBlock, 1024},
                                     {cu::multiprocessorCount, driver.multiprocessors},
                                     {cu::computeCapabilityMajor, driver.major},
                                     {cu::computeCapabilityMinor, driver.minor},
                                     {cu::cooperativeLaunch, driver.cooperative},
                                     {cu::maxSharedPerBlockOptin, driver.maxShared}};
  auto it = values.find(attribute);
  if (it == values.end())
    return cu::invalidValue;
  *value = it->second;
  return cu::success;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  ENTER(cuDevicePrimaryCtxRetain);
  *context = reinterpret_cast<CUcontext>(&theContext);
  return cu::success;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
  ENTER(cuCtxGetCurrent);
  *context = currentDepth ? reinterpret_cast<CUcontext>(&theContext) : nullptr;
  return cu::success;
}
CUresult cuCtxPushCurrent_v2(CUcontext) {
  ENTER(cuCtxPushCurrent);
  driver.contextDepth = ++currentDepth;
  return cu::success;
}
CUresult cuCtxPopCurrent_v2(CUcontext *) {
  ENTER(cuCtxPopCurrent);
  driver.contextDepth = --currentDepth;
  return cu::success;
}
CUresult cuCtxSynchronize() {
  ENTER(cuCtxSynchronize);
  return cu::success;
}
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, unsigned *options,
                            void **values) {
  ENTER(cuModuleLoadDataEx);
  std::string text = static_cast<const char *>(image);
  if (text.substr(0, 4) == "\x7f"
                           "ELF" &&
      driver.refuseCubins)
    return cu::noBinaryForGpu;
  auto made = std::make_unique<Module>();
  for (size_t at = 0; (at = text.find(".entry ", at)) != text.npos;) {
    at += 7;
    made->entries.push_back(text.substr(at, text.find('(', at) - at));
  }
  if (made->entries.empty()) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == cu::jitErrorLogBuffer)
        strcpy(static_cast<char *>(values[i]), "ptxas fatal : no entry in the text\n");
    return cu::invalidPtx;
  }
  ++driver.modules;
  *module = reinterpret_cast<CUmodule>(made.release());
  return cu::success;
}
CUresult cuModuleUnload(CUmodule module) {
  ENTER(cuModuleUnload);
  --driver.modules;
  delete reinterpret_cast<Module *>(module);
  return cu::success;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  ENTER(cuModuleGetFunction);
  for (const std::string &entry : reinterpret_cast<Module *>(module)->entries)
    if (entry == name) {
      auto &f = functions[name];
      if (!f)
        f = std::make_unique<Function>(Function{name});
      *function = reinterpret_cast<CUfunction>(f.get());
      return cu::success;
    }
  return cu::notFound;
}
CUresult cuFuncSetAttribute(CUfunction, int attribute, int value) {
  ENTER(cuFuncSetAttribute);
  driver.log.back() += " " + std::to_string(attribute) + " " + std::to_string(value);
  return cu::success;
}
CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) {
  ENTER(cuMemAlloc);
  if (bytes == 0 || bytes > size_t(1) << 32)
    return bytes ? cu::outOfMemory : cu::invalidValue;
  void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  memset(memory, 0xa5, bytes); // never zero by chance
  *out = reinterpret_cast<CUdeviceptr>(memory);
  driver.memory[*out] = bytes;
  return cu::success;
}
CUresult cuMemFree_v2(CUdeviceptr memory) {
  ENTER(cuMemFree);
  if (!driver.memory.erase(memory))
    return cu::invalidValue;
  free(reinterpret_cast<void *>(memory));
  return cu::success;
}
CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned) {
  ENTER(cuMemHostAlloc);
  ++driver.hostAllocations;
  *out = calloc(1, bytes);
  return cu::success;
}
CUresult cuMemFreeHost(void *memory) {
  ENTER(cuMemFreeHost);
  --driver.hostAllocations;
  free(memory);
  return cu::success;
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *memory, unsigned) {
  ENTER(cuMemHostGetDevicePointer);
  *out = reinterpret_cast<CUdeviceptr>(memory);
  return cu::success;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  ENTER(cuMemcpyHtoDAsync);
  enqueue(stream, [=] { memcpy(reinterpret_cast<void *>(to), from, bytes); });
  return cu::success;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER(cuMemcpyDtoHAsync);
  enqueue(stream, [=] { memcpy(to, reinterpret_cast<void *>(from), bytes); });
  return cu::success;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER(cuMemcpyDtoDAsync);
  enqueue(stream,
          [=] { memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes); });
  return cu::success;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  ENTER(cuMemsetD8Async);
  enqueue(stream, [=] { memset(reinterpret_cast<void *>(to), value, bytes); });
  return cu::success;
}
CUresult cuStreamCreate(CUstream *stream, unsigned) {
  ENTER(cuStreamCreate);
  ++driver.streams;
  *stream = reinterpret_cast<CUstream>(new Stream);
  return cu::success;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER(cuStreamDestroy);
  --driver.streams;
  delete reinterpret_cast<Stream *>(stream);
  return cu::success;
}
CUresult cuStreamSynchronize(CUstream) {
  ENTER(cuStreamSynchronize);
  return cu::success;
}
CUresult cuStreamIsCapturing(CUstream stream, int *status) {
  ENTER(cuStreamIsCapturing);
  *status = streamOf(stream).capturing;
  return cu::success;
}
CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  ENTER(cuStreamBeginCapture);
  streamOf(stream).capturing = true;
  return cu::success;
}
CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
  ENTER(cuThreadExchangeStreamCaptureMode);
  *mode = cu::captureThreadLocal;
  return cu::success;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  Guard outer;
  Stream &s = streamOf(stream);
  s.capturing = false; // a failing call ends it, too
  auto made = std::make_unique<Graph>(std::move(s.graph));
  s.graph = Graph();
  ENTER(cuStreamEndCapture);
  ++driver.graphs;
  *graph = reinterpret_cast<CUgraph>(made.release());
  return cu::success;
}
CUresult cuGraphCreate(CUgraph *graph, unsigned) {
  ENTER(cuGraphCreate);
  ++driver.graphs;
  *graph = reinterpret_cast<CUgraph>(new Graph);
  return cu::success;
}
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                              size_t count, const CUkernelNodeParams *params) {
  ENTER(cuGraphAddKernelNode);
  auto &nodes = reinterpret_cast<Graph *>(graph)->nodes;
  if (count > (nodes.empty() ? 0u : 1u) || (count && *before != reinterpret_cast<CUgraphNode>(nodes.back().get())))
    return cu::invalidValue; // tests have chains
  bool isFree = count == 0 && !nodes.empty(); // an edge must follow
  nodes.push_back(std::make_shared<Node>());
  nodes.back()->isFree = isFree;
  nodes.back()->set(*params);
  *node = reinterpret_cast<CUgraphNode>(nodes.back().get());
  return cu::success;
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges, size_t count) {
  ENTER(cuGraphAddDependencies);
  auto &nodes = reinterpret_cast<Graph *>(graph)->nodes;
  bool isLast = count == 1 && nodes.size() > 1 && *to == reinterpret_cast<CUgraphNode>(nodes.back().get()) &&
                *from == reinterpret_cast<CUgraphNode>(nodes[nodes.size() - 2].get());
  if (!isLast || !nodes.back()->isFree || edges->fromPort != CUgraphEdgeData::programmaticPort || edges->type != CUgraphEdgeData::programmaticType)
    return cu::invalidValue;
  nodes.back()->isFree = false;
  nodes.back()->attributes.push_back(CUlaunchAttribute::programmaticStreamSerialization);
  return cu::success;
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, int id, const CUlaunchAttribute::Value *) {
  ENTER(cuGraphKernelNodeSetAttribute);
  reinterpret_cast<Node *>(node)->attributes.push_back(id);
  return cu::success;
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUkernelNodeParams *params) {
  ENTER(cuGraphExecKernelNodeSetParams);
  for (auto &own : reinterpret_cast<Graph *>(exec)->nodes)
    if (reinterpret_cast<CUgraphNode>(const_cast<Node *>(own->origin)) == node) {
      if (own->function != reinterpret_cast<Function *>(params->function))
        return cu::invalidValue;
      own->set(*params);
      return cu::success;
    }
  return cu::invalidValue;
}
CUresult cuStreamGetPriority(CUstream stream, int *priority) {
  ENTER(cuStreamGetPriority);
  *priority = stream ? driver.priority : 0;
  return cu::success;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  ENTER(cuGraphInstantiate);
  ++driver.graphs;
  for (auto &node : reinterpret_cast<Graph *>(graph)->nodes)
    if (node->isFree)
      return cu::invalidValue;
  auto *made = new Graph(*reinterpret_cast<Graph *>(graph));
  for (auto &node : made->nodes) {
    auto own = std::make_shared<Node>(*node);
    own->origin = node.get();
    node = own;
  }
  *exec = reinterpret_cast<CUgraphExec>(made);
  return cu::success;
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream) {
  ENTER(cuGraphLaunch);
  for (auto &work : reinterpret_cast<Graph *>(exec)->work)
    work();
  for (auto &node : reinterpret_cast<Graph *>(exec)->nodes)
    node->run();
  return cu::success;
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  ENTER(cuGraphExecDestroy);
  --driver.graphs;
  delete reinterpret_cast<Graph *>(exec);
  return cu::success;
}
CUresult cuGraphDestroy(CUgraph graph) {
  ENTER(cuGraphDestroy);
  --driver.graphs;
  delete reinterpret_cast<Graph *>(graph);
  return cu::success;
}
CUresult cuEventCreate(CUevent *event, unsigned) {
  ENTER(cuEventCreate);
  *event = reinterpret_cast<CUevent>(&theContext);
  return cu::success;
}
CUresult cuEventDestroy_v2(CUevent) {
  ENTER(cuEventDestroy);
  return cu::success;
}
CUresult cuEventRecord(CUevent, CUstream) {
  ENTER(cuEventRecord);
  return cu::success;
}
CUresult cuEventSynchronize(CUevent) {
  ENTER(cuEventSynchronize);
  return cu::success;
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent, CUevent) {
  ENTER(cuEventElapsedTime);
  *milliseconds = 1;
  return cu::success;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **) {
  ENTER(cuLaunchKernelEx);
  const std::string &name = reinterpret_cast<Function *>(function)->name;
  driver.lastGrid = config->gridDimX;
  driver.lastShared = config->sharedMemBytes;
  if (driver.quiet)
    return cu::success;
  std::string &line = driver.log.back();
  line += " " + name;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    line += config->attrs[i].id == CUlaunchAttribute::cooperative                      ? " cooperative"
            : config->attrs[i].id == CUlaunchAttribute::programmaticStreamSerialization ? " overlaps"
                : " cluster=" + std::to_string(config->attrs[i].value.clusterDim.x);
  auto it = driver.kernels.find(name);
  if (it == driver.kernels.end())
    return cu::success;
  if (!streamOf(config->hStream).capturing) {
    it->second.run(parameters, *config);
    return cu::success;
  }
  // Parameters are copied when a launch is captured.
  std::vector<std::vector<char>> values;
  for (size_t i = 0; i < it->second.parameterSizes.size(); ++i) {
    auto *bytes = static_cast<char *>(parameters[i]);
    values.emplace_back(bytes, bytes + it->second.parameterSizes[i]);
  }
  enqueue(config->hStream, [values, config = *config, run = it->second.run]() mutable {
    std::vector<void *> pointers;
    for (auto &value : values)
      pointers.push_back(value.data());
    run(pointers.data(), config);
  });
  return cu::success;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction, int, size_t) {
  ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  *blocks = driver.blocksPerMultiprocessor;
  return cu::success;
}
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction, const CUlaunchConfig *) {
  ENTER(cuOccupancyMaxActiveClusters);
  *clusters = driver.clusters;
  return cu::success;
}
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, int type, uint32_t rank, void *address,
                                const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
  ENTER(cuTensorMapEncodeTiled);
  std::string text = "cuTensorMapEncodeTiled " + std::to_string(type);
  for (uint32_t d = 0; d < rank; ++d)
    text += (d ? "," : " extents ") + std::to_string(extents[d]);
  for (uint32_t d = 0; d + 1 < rank; ++d)
    text += (d ? "," : " strides ") + std::to_string(strides[d]);
  for (uint32_t d = 0; d < rank; ++d)
    text += (d ? "," : " box ") + std::to_string(box[d]) + "/" + std::to_string(steps[d]);
  for (int number : {interleave, swizzle, promotion, fill})
    text += " " + std::to_string(number);
  driver.encoded.push_back(text);
  if (reinterpret_cast<uint64_t>(address) % 16 || extents[0] == 0)
    return cu::invalidValue;
  map->opaque[0] = reinterpret_cast<uint64_t>(address);
  map->opaque[1] = uint64_t(type) << 32 | rank;
  map->opaque[2] = extents[rank - 1];
  map->opaque[3] = box[0];
  return cu::success;
}

} // extern "C"
