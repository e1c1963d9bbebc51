//===- launch.cu - what a launch costs the host ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's share of a call, in microseconds of host time: launches of an empty kernel by each of the driver's
// ways. Also what its number of parameters, attributes and streams cost. The queue never fills: the host waits after every
// 256 launches, outside of the clock. After each, the time from a launch to the
// end of a wait for it, which shows what a way costs the device. Build and run:
//
//   nvcc -O3 -std=c++17 launch.cu -o launch -lcuda && ./launch
//
//===----------------------------------------------------------------------===//
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cuda.h>
#include <functional>
#include <vector>

struct Packed {
  float *a, *b, *c;
  long long n;
};
__global__ void none() {}
__global__ void four(float *, float *, float *, long long) {}
__global__ void packed(Packed) {}
__global__ void twelve(float *, float *, float *, float *, float *, float *, float *, float *, long long, long long,
                       long long, long long) {}

static double median(std::vector<double> &times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

static void report(const char *name, const std::function<CUresult()> &launch, bool waits = true) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times, whole;
  CUresult result = CUDA_SUCCESS;
  for (int round = 0; round < 60; ++round) {
    cuCtxSynchronize();
    auto begin = Clock::now();
    for (int i = 0; i < 256; ++i)
      if (CUresult one = launch())
        result = one;
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / 256);
  }
  for (int round = 0; waits && round < 200; ++round) {
    cuCtxSynchronize();
    auto begin = Clock::now();
    launch();
    cuCtxSynchronize();
    whole.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  double middle = median(times);
  printf("%-58s %6.2f (least %.2f)", name, middle, times[0]);
  if (waits)
    printf("   until done %6.2f", median(whole));
  printf(result ? "   FAILED: %d\n" : "\n", int(result));
}

static CUfunction find(const void *kernel) {
  cudaFunction_t function = nullptr;
  cudaGetFuncBySymbol(&function, kernel);
  return function;
}

int main() {
  cudaFree(nullptr);
  CUfunction f0 = find((const void *)none), f4 = find((const void *)four), f12 = find((const void *)twelve),
             fp = find((const void *)packed);
  float *a = nullptr;
  long long n = 1;
  Packed one = {a, a, a, n};
  size_t bytes = sizeof(one);
  void *p4[] = {&a, &a, &a, &n}, *pp[] = {&one};
  void *p12[] = {&a, &a, &a, &a, &a, &a, &a, &a, &n, &n, &n, &n};
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &one, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  long long twelveWords[12] = {};
  size_t bytes12 = sizeof(twelveWords);
  void *extra12[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, twelveWords, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes12,
                     CU_LAUNCH_PARAM_END};
  CUstream own, blocking;
  cuStreamCreate(&own, CU_STREAM_NON_BLOCKING);
  cuStreamCreate(&blocking, CU_STREAM_DEFAULT);
  struct {
    const char *name;
    CUstream stream;
  } streams[] = {{"legacy default stream", nullptr},
                 {"per-thread default stream", CU_STREAM_PER_THREAD},
                 {"own stream", own},
                 {"own stream that waits for the default", blocking}};
  for (auto [which, stream] : streams) {
    printf("%s\n", which);
    report("  cuLaunchKernel, no parameter", [&, s = stream] { return cuLaunchKernel(f0, 64, 1, 1, 256, 1, 1, 0, s, nullptr, nullptr); });
    report("  cuLaunchKernel, 4 parameters", [&, s = stream] { return cuLaunchKernel(f4, 64, 1, 1, 256, 1, 1, 0, s, p4, nullptr); });
    report("  cuLaunchKernel, 4 packed by extra", [&, s = stream] { return cuLaunchKernel(f4, 64, 1, 1, 256, 1, 1, 0, s, nullptr, extra); });
    report("  cuLaunchKernel, one struct of 4", [&, s = stream] { return cuLaunchKernel(fp, 64, 1, 1, 256, 1, 1, 0, s, pp, nullptr); });
    report("  cuLaunchKernel, 12 parameters", [&, s = stream] { return cuLaunchKernel(f12, 64, 1, 1, 256, 1, 1, 0, s, p12, nullptr); });
    report("  cuLaunchKernel, 12 packed by extra", [&, s = stream] { return cuLaunchKernel(f12, 64, 1, 1, 256, 1, 1, 0, s, nullptr, extra12); });
    report("  cuLaunchKernel, 4 parameters, one block of 32", [&, s = stream] { return cuLaunchKernel(f4, 1, 1, 1, 32, 1, 1, 0, s, p4, nullptr); });
    report("  cuLaunchKernel, 4 parameters, 40000 bytes shared", [&, s = stream] { return cuLaunchKernel(f4, 64, 1, 1, 256, 1, 1, 40000, s, p4, nullptr); });
    CUlaunchConfig config = {};
    config.gridDimX = 64, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 256, config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    report("  cuLaunchKernelEx, 4 parameters", [&] { return cuLaunchKernelEx(&config, f4, p4, nullptr); });
    report("  cuLaunchKernelEx, 4 packed by extra", [&] { return cuLaunchKernelEx(&config, f4, nullptr, extra); });
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    report("  cuLaunchKernelEx, 4 parameters, cooperative", [&] { return cuLaunchKernelEx(&config, f4, p4, nullptr); });
    report("  cuLaunchCooperativeKernel, 4 parameters", [&, s = stream] { return cuLaunchCooperativeKernel(f4, 64, 1, 1, 256, 1, 1, 0, s, p4); });
  }

  printf("graphs\n");
  for (bool cooperative : {false, true}) {
    CUgraph graph;
    CUgraphExec exec;
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    CUlaunchConfig config = {64, 1, 1, 256, 1, 1, 0, own, &attribute, cooperative ? 1u : 0u};
    auto record = [&] {
      cuStreamBeginCapture(own, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
      cuLaunchKernelEx(&config, f4, p4, nullptr);
      cuStreamEndCapture(own, &graph);
      cuGraphInstantiate(&exec, graph, 0);
    };
    record();
    const char *kind = cooperative ? "one cooperative kernel" : "one kernel";
    char text[128];
    for (auto [which, stream] : streams) {
      snprintf(text, sizeof text, "  cuGraphLaunch, %s, %s", kind, which);
      report(text, [&, s = stream] { return cuGraphLaunch(exec, s); });
    }
    CUgraphNode node;
    size_t count = 1;
    cuGraphGetNodes(graph, &node, &count);
    CUDA_KERNEL_NODE_PARAMS params = {};
    cuGraphKernelNodeGetParams(node, &params);
    params.kernelParams = p4;
    params.extra = nullptr;
    snprintf(text, sizeof text, "  cuGraphExecKernelNodeSetParams alone, %s", kind);
    report(text, [&] { return cuGraphExecKernelNodeSetParams(exec, node, &params); }, false);
    snprintf(text, sizeof text, "  ... and cuGraphLaunch");
    report(text, [&] {
      CUresult set = cuGraphExecKernelNodeSetParams(exec, node, &params);
      return set ? set : cuGraphLaunch(exec, own);
    });
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) {
      record();
      cuGraphExecDestroy(exec);
      cuGraphDestroy(graph);
    }
    printf("  recording, instantiating and destroying: %.2f\n",
           std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / 50);
  }

  printf("other calls\n");
  CUcontext context;
  cuCtxGetCurrent(&context);
  report("  cuCtxGetCurrent", [&] { return cuCtxGetCurrent(&context); }, false);
  report("  cuCtxSetCurrent", [&] { return cuCtxSetCurrent(context); }, false);
  report("  cuCtxPushCurrent and Pop", [&] {
    cuCtxPushCurrent(context);
    CUcontext popped;
    return cuCtxPopCurrent(&popped);
  }, false);
  CUstreamCaptureStatus capture;
  report("  cuStreamIsCapturing", [&] { return cuStreamIsCapturing(own, &capture); }, false);
  report("  cuStreamIsCapturing, default", [&] { return cuStreamIsCapturing(nullptr, &capture); }, false);
  report("  steady_clock::now", [&] {
    volatile auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    (void)now;
    return CUDA_SUCCESS;
  }, false);
  return 0;
}
