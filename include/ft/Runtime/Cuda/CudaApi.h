//===- CudaApi.h - the driver API, declared by ourselves --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the CUDA driver's ABI that the runtime calls, so that building it
// needs no toolkit and running it needs the driver alone. Names and numbers are
// those of NVIDIA's documentation; the library is loaded at first use.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_CUDA_CUDAAPI_H
#define FT_RUNTIME_CUDA_CUDAAPI_H

#include "ft/Runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>

namespace ft::rt {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUgraphNode = struct CUgraphNode_st *;

struct alignas(128) CUtensorMap {
  uint64_t opaque[16];
};

struct CUlaunchAttribute {
  enum Id : int { cooperative = 2, clusterDimension = 4, programmaticStreamSerialization = 6, priority = 8 };
  int id;
  int pad;
  union Value {
    char bytes[64];
    int cooperative;
    int programmaticStreamSerialization;
    int priority;
    struct {
      unsigned x, y, z;
    } clusterDim;
  } value;
};
static_assert(sizeof(CUlaunchAttribute) == 72 && offsetof(CUlaunchAttribute, value) == 8);

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};
static_assert(sizeof(CUlaunchConfig) == 56 && offsetof(CUlaunchConfig, hStream) == 32);

/// CUDA_KERNEL_NODE_PARAMS_v1.
struct CUkernelNodeParams {
  CUfunction function;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams;
  void **extra;
};
static_assert(sizeof(CUkernelNodeParams) == 56 && offsetof(CUkernelNodeParams, kernelParams) == 40);

/// What an edge of a graph waits for.
struct CUgraphEdgeData {
  /// The whole kernel, or what its thread blocks say by `griddepcontrol.launch_dependents`.
  enum Port : unsigned char { defaultPort = 0, programmaticPort = 1 };
  enum Type : unsigned char { defaultType = 0, programmaticType = 1 };
  unsigned char fromPort, toPort, type, reserved[5];
};
static_assert(sizeof(CUgraphEdgeData) == 8);

namespace cu {
enum Result : CUresult {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  deinitialized = 4,
  stubLibrary = 34,
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinaryForGpu = 209,
  eccUncorrectable = 214,
  invalidPtx = 218,
  nvlinkUncorrectable = 220,
  jitCompilerNotFound = 221,
  unsupportedPtxVersion = 222,
  jitCompilationDisabled = 223,
  notFound = 500,
  notReady = 600,
  illegalAddress = 700,
  launchOutOfResources = 701,
  launchTimeout = 702,
  contextIsDestroyed = 709,
  assertFailed = 710,
  hardwareStackError = 714,
  illegalInstruction = 715,
  misalignedAddress = 716,
  invalidAddressSpace = 717,
  invalidPc = 718,
  launchFailed = 719,
  cooperativeLaunchTooLarge = 720,
  tensorMemoryLeak = 721,
  systemDriverMismatch = 803,
  streamCaptureUnsupported = 900,
  unknown = 999,
};
enum DeviceAttribute : int {
  maxThreadsPerBlock = 1,
  multiprocessorCount = 16,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
  cooperativeLaunch = 95,
  maxSharedPerBlockOptin = 97,
};
enum FunctionAttribute : int {
  maxDynamicSharedBytes = 8,
  nonPortableClusterSizeAllowed = 14,
};
enum : unsigned { jitErrorLogBuffer = 5, jitErrorLogBufferSize = 6 };
enum : unsigned { hostAllocPortable = 1, hostAllocDeviceMap = 2 };
enum : unsigned { streamNonBlocking = 1, eventDefault = 0 };
enum : int { captureThreadLocal = 1, captureRelaxed = 2 };
} // namespace cu

/// F(name, symbol, parameters). The _v2 symbols are those that 64-bit programs
/// have always linked.
#define FT_CUDA_FUNCTIONS(F)                                                                       \
  F(init, "cuInit", (unsigned))                                                                    \
  F(driverGetVersion, "cuDriverGetVersion", (int *))                                               \
  F(getErrorName, "cuGetErrorName", (CUresult, const char **))                                     \
  F(getErrorString, "cuGetErrorString", (CUresult, const char **))                                 \
  F(deviceGetCount, "cuDeviceGetCount", (int *))                                                   \
  F(deviceGet, "cuDeviceGet", (CUdevice *, int))                                                   \
  F(deviceGetName, "cuDeviceGetName", (char *, int, CUdevice))                                     \
  F(deviceGetAttribute, "cuDeviceGetAttribute", (int *, int, CUdevice))                            \
  F(devicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                   \
  F(ctxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                                               \
  F(ctxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                                            \
  F(ctxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                                            \
  F(ctxSynchronize, "cuCtxSynchronize", ())                                                        \
  F(moduleLoadDataEx, "cuModuleLoadDataEx",                                                        \
    (CUmodule *, const void *, unsigned, unsigned *, void **))                                     \
  F(moduleUnload, "cuModuleUnload", (CUmodule))                                                    \
  F(moduleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))              \
  F(funcSetAttribute, "cuFuncSetAttribute", (CUfunction, int, int))                                \
  F(memAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                            \
  F(memFree, "cuMemFree_v2", (CUdeviceptr))                                                        \
  F(memHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                   \
  F(memFreeHost, "cuMemFreeHost", (void *))                                                        \
  F(memHostGetDevicePointer, "cuMemHostGetDevicePointer_v2", (CUdeviceptr *, void *, unsigned))    \
  F(memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CUdeviceptr, const void *, size_t, CUstream))        \
  F(memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, CUdeviceptr, size_t, CUstream))              \
  F(memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (CUdeviceptr, CUdeviceptr, size_t, CUstream))         \
  F(memsetD8Async, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))              \
  F(streamCreate, "cuStreamCreate", (CUstream *, unsigned))                                        \
  F(streamDestroy, "cuStreamDestroy_v2", (CUstream))                                               \
  F(streamSynchronize, "cuStreamSynchronize", (CUstream))                                          \
  F(streamIsCapturing, "cuStreamIsCapturing", (CUstream, int *))                                   \
  F(streamGetPriority, "cuStreamGetPriority", (CUstream, int *))                                   \
  F(streamBeginCapture, "cuStreamBeginCapture_v2", (CUstream, int))                                \
  F(threadExchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *))                       \
  F(streamEndCapture, "cuStreamEndCapture", (CUstream, CUgraph *))                                 \
  F(graphInstantiate, "cuGraphInstantiateWithFlags", (CUgraphExec *, CUgraph, unsigned long long)) \
  F(graphLaunch, "cuGraphLaunch", (CUgraphExec, CUstream))                                         \
  F(graphExecDestroy, "cuGraphExecDestroy", (CUgraphExec))                                         \
  F(graphDestroy, "cuGraphDestroy", (CUgraph))                                                     \
  F(graphCreate, "cuGraphCreate", (CUgraph *, unsigned))                                           \
  F(graphAddKernelNode, "cuGraphAddKernelNode",                                                    \
    (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUkernelNodeParams *))             \
  F(graphKernelNodeSetAttribute, "cuGraphKernelNodeSetAttribute",                                  \
    (CUgraphNode, int, const CUlaunchAttribute::Value *))                                          \
  F(graphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams",                                \
    (CUgraphExec, CUgraphNode, const CUkernelNodeParams *))                                        \
  F(eventCreate, "cuEventCreate", (CUevent *, unsigned))                                           \
  F(eventDestroy, "cuEventDestroy_v2", (CUevent))                                                  \
  F(eventRecord, "cuEventRecord", (CUevent, CUstream))                                             \
  F(eventSynchronize, "cuEventSynchronize", (CUevent))                                             \
  F(eventElapsedTime, "cuEventElapsedTime", (float *, CUevent, CUevent))                           \
  F(launchKernelEx, "cuLaunchKernelEx", (const CUlaunchConfig *, CUfunction, void **, void **))    \
  F(occupancyMaxActiveBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                       \
    (int *, CUfunction, int, size_t))                                                              \
  F(occupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters",                                    \
    (int *, CUfunction, const CUlaunchConfig *))                                                   \
  F(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                \
    (CUtensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,   \
     const uint32_t *, int, int, int, int))

/// Those that older drivers lack; null there.
#define FT_CUDA_NEWER_FUNCTIONS(F)                                                                 \
  F(graphAddDependencies, "cuGraphAddDependencies_v2",                                             \
    (CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t))

/// The driver's functions.
struct CudaApi {
#define FT_CUDA_MEMBER(name, symbol, parameters) CUresult(*name) parameters = nullptr;
  FT_CUDA_FUNCTIONS(FT_CUDA_MEMBER)
  FT_CUDA_NEWER_FUNCTIONS(FT_CUDA_MEMBER)
#undef FT_CUDA_MEMBER
  int version = 0; // 12040 for CUDA 12.4

  /// The process's driver: libcuda.so.1, or the library that FT_LIBCUDA names.
  /// Success is remembered, failure is tried again at the next call.
  static Status get(const CudaApi *&api);

  /// "CUDA_ERROR_INVALID_VALUE (1): invalid argument".
  std::string describe(CUresult result) const;
};

/// The oldest driver that has every function of the first list: CUDA 12.0.
constexpr int oldestDriver = 12000;
/// The oldest driver whose graphs have programmatic edges: CUDA 12.3.
constexpr int oldestDriverOfOverlap = 12030;

} // namespace ft::rt

#endif // FT_RUNTIME_CUDA_CUDAAPI_H
