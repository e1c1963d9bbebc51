//===- launch.cu - what a launch costs the host ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's share of a call, in microseconds of host time: launches of an
// empty kernel with three pointers and an integer, by each of the driver's ways.
// The queue never fills: the host waits after every 256 launches, outside of the
// clock. Build and run:
//
//   nvcc -O3 -std=c++17 launch.cu -o launch -lcuda && ./launch
//
//===----------------------------------------------------------------------===//
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cuda.h>
#include <vector>

__global__ void nothing(float *, float *, float *, long long) {}

template <class F>
static double medianMicroseconds(F launch) {
  std::vector<double> times;
  for (int round = 0; round < 40; ++round) {
    cuCtxSynchronize();
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 256; ++i)
      launch();
    auto end = std::chrono::steady_clock::now();
    times.push_back(std::chrono::duration<double, std::micro>(end - begin).count() / 256);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int main() {
  cudaFree(nullptr);
  CUfunction function;
  if (cudaGetFuncBySymbol(&function, (const void *)nothing) != cudaSuccess)
    return 1;
  float *a = nullptr;
  long long n = 1;
  void *parameters[] = {&a, &a, &a, &n};
  CUstream own;
  cuStreamCreate(&own, CU_STREAM_NON_BLOCKING);
  for (CUstream stream : {CUstream(nullptr), own}) {
    const char *which = stream ? "own stream" : "default stream";
    printf("cuLaunchKernel, %s: %.2f\n", which, medianMicroseconds([&] {
             cuLaunchKernel(function, 64, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr);
           }));
    CUlaunchConfig config = {};
    config.gridDimX = 64, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 256, config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    printf("cuLaunchKernelEx, %s: %.2f\n", which, medianMicroseconds([&] {
             cuLaunchKernelEx(&config, function, parameters, nullptr);
           }));
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    printf("cuLaunchKernelEx cooperative, %s: %.2f\n", which, medianMicroseconds([&] {
             cuLaunchKernelEx(&config, function, parameters, nullptr);
           }));
  }
  CUgraph graph;
  CUgraphExec exec;
  cuStreamBeginCapture(own, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  cuLaunchKernel(function, 64, 1, 1, 256, 1, 1, 0, own, parameters, nullptr);
  cuStreamEndCapture(own, &graph);
  cuGraphInstantiate(&exec, graph, 0);
  printf("cuGraphLaunch of one kernel: %.2f\n",
         medianMicroseconds([&] { cuGraphLaunch(exec, own); }));
  CUcontext context;
  printf("cuCtxGetCurrent: %.3f\n", medianMicroseconds([&] { cuCtxGetCurrent(&context); }));
  printf("cuCtxPushCurrent and Pop: %.3f\n", medianMicroseconds([&] {
           cuCtxPushCurrent(context);
           CUcontext popped;
           cuCtxPopCurrent(&popped);
         }));
  return 0;
}
