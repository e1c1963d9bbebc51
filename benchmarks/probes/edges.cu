//===- edges.cu - what it costs that one phase waits for another ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases of one thread block on each SM, one after the other. They run as kernels of a graph (plain or with
// programmatic dependent launch) and as steps of one kernel (a barrier of the grid, flags of neighbours). Prints
// one JSON object, seconds of a phase:
//
// - "exchange": each block reads so many bytes that its neighbour wrote in the phase before, and writes as many.
// - "weights": each block reads so many bytes that no phase before has read. The copies begin before the wait or
//   after it.
// - "sync_seconds": the fields of machine/*.json, a line through the exchanges.
//
// Every result is compared with what it has to be. Build and run:
//
//   nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a edges.cu -o edges && ./edges
//
//===----------------------------------------------------------------------===//
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    cudaError_t status = (call);                                                                   \
    if (status != cudaSuccess) {                                                                   \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static constexpr int threads = 256, times = 15;
static int units;
static cudaStream_t stream;

enum class Wait { Boundary, Overlapped, Grid, Flags, Nothing };
/// When the bytes of a phase are asked for: after its wait, before it by a prefetch into the L2 cache, before it by a copy to shared memory.
enum class Early { No, Prefetch, Copy };

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

__device__ void mayOverlap() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ void waitForBefore() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

__device__ unsigned look(const unsigned *word) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ void count(unsigned *word) { asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory"); }

/// All blocks have come here `phase` times.
__device__ void gridBarrier(unsigned *counter, unsigned phase) {
  __syncthreads();
  if (threadIdx.x == 0) {
    count(counter);
    while (look(counter) < phase * gridDim.x)
      ;
  }
  __syncthreads();
}

/// The blocks beside this one have come here `phase` times: who reads what it wrote, and who wrote what it reads.
__device__ void neighbourFlags(unsigned *flags, unsigned phase) {
  __syncthreads();
  if (threadIdx.x == 0)
    count(flags + 32 * blockIdx.x);
  if (threadIdx.x < 2) {
    unsigned other = (blockIdx.x + (threadIdx.x ? gridDim.x - 1 : 1)) % gridDim.x;
    while (look(flags + 32 * other) < phase)
      ;
  }
  __syncthreads();
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

/// What the neighbour has written, and one more.
__device__ void exchange(const float4 *from, float4 *to, int vectors) {
  const float4 *theirs = from + size_t((blockIdx.x + 1) % gridDim.x) * vectors;
  float4 *own = to + size_t(blockIdx.x) * vectors;
  for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
    float4 v = __ldcg(theirs + i);
    own[i] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
  }
}

__global__ void exchangeOnce(const float4 *from, float4 *to, int vectors, bool overlaps) {
  if (overlaps) {
    mayOverlap();
    waitForBefore();
  }
  exchange(from, to, vectors);
}

__global__ void exchangeAll(float4 *a, float4 *b, int vectors, int phases, Wait wait, unsigned *words) {
  for (int p = 0; p < phases; ++p) {
    exchange(p % 2 ? b : a, p % 2 ? a : b, vectors);
    if (wait == Wait::Grid)
      gridBarrier(words, p + 1);
    else
      neighbourFlags(words, p + 1);
  }
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

__device__ void copyAhead(float4 *to, const float4 *from, int vectors) {
  for (int i = threadIdx.x; i < vectors; i += blockDim.x)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to + i))), "l"(from + i) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <bool isShared>
__device__ float sum(const float4 *from, int vectors) {
  float all = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
    float4 v = isShared ? from[i] : __ldcg(from + i);
    all += v.x + v.y + v.z + v.w;
  }
  return all;
}

extern __shared__ float4 staged[];

__global__ void weighOnce(const float4 *weights, float *sums, int vectors, bool overlaps, Early early) {
  const float4 *own = weights + size_t(blockIdx.x) * vectors;
  if (overlaps)
    mayOverlap();
  if (early == Early::Copy)
    copyAhead(staged, own, vectors);
  if (early == Early::Prefetch)
    for (int i = threadIdx.x * 8; i < vectors; i += blockDim.x * 8) // a line of 128 bytes
      asm volatile("prefetch.global.L2 [%0];" ::"l"(own + i));
  if (overlaps)
    waitForBefore();
  if (early == Early::Copy) // each thread reads what it copied
    asm volatile("cp.async.wait_all;" ::: "memory");
  sums[blockIdx.x * blockDim.x + threadIdx.x] = early == Early::Copy ? sum<true>(staged, vectors) : sum<false>(own, vectors);
}

__global__ void weighAll(const float4 *weights, float *sums, int vectors, int phases, Wait wait, Early early, unsigned *words) {
  size_t phase = size_t(gridDim.x) * vectors;
  const float4 *own = weights + size_t(blockIdx.x) * vectors;
  if (early == Early::Copy)
    copyAhead(staged, own, vectors);
  for (int p = 0; p < phases; ++p) {
    float all;
    if (early == Early::Copy) {
      if (p + 1 < phases)
        copyAhead(staged + (p + 1) % 2 * vectors, own + (p + 1) * phase, vectors);
      else
        asm volatile("cp.async.commit_group;" ::: "memory");
      asm volatile("cp.async.wait_group 1;" ::: "memory");
      all = sum<true>(staged + p % 2 * vectors, vectors);
    } else {
      all = sum<false>(own + p * phase, vectors);
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = all;
    if (wait == Wait::Grid)
      gridBarrier(words, p + 1);
  }
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// Median seconds of what is enqueued, as a graph.
static double medianSeconds(const std::function<void()> &enqueue) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enqueue();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  cudaEvent_t first, last;
  CHECK(cudaEventCreate(&first));
  CHECK(cudaEventCreate(&last));
  std::vector<double> seconds;
  for (int i = 0; i <= times; ++i) {
    CHECK(cudaEventRecord(first, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventRecord(last, stream));
    CHECK(cudaEventSynchronize(last));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, first, last));
    if (i) // the first one warms up
      seconds.push_back(ms * 1e-3);
  }
  CHECK(cudaEventDestroy(first));
  CHECK(cudaEventDestroy(last));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// Of one phase: what twice as many take more.
static double secondsOfPhase(int phases, const std::function<void(int)> &enqueue) {
  double few = medianSeconds([&] { enqueue(phases / 2); }), many = medianSeconds([&] { enqueue(phases); });
  return (many - few) / (phases - phases / 2);
}

template <class... Parameters, class... Arguments>
static void launch(void (*kernel)(Parameters...), size_t shared, bool overlaps, bool waits, Arguments... arguments) {
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  cudaLaunchAttribute attributes[1] = {};
  attributes[0].id = waits ? cudaLaunchAttributeCooperative : cudaLaunchAttributeProgrammaticStreamSerialization;
  if (waits)
    attributes[0].val.cooperative = 1;
  else
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = units;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = waits || overlaps;
  CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

static void expect(const float *device, size_t n, float value, const char *what) {
  std::vector<float> host(n);
  CHECK(cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (float v : host)
    if (v != value) {
      fprintf(stderr, "%s: %g where %g was expected\n", what, v, value);
      exit(1);
    }
}

static double exchangeSeconds(Wait wait, int bytes, unsigned *words) {
  constexpr int phases = 128;
  int vectors = bytes / 16;
  size_t all = size_t(units) * bytes;
  float4 *a, *b;
  CHECK(cudaMalloc(&a, all + 16));
  CHECK(cudaMalloc(&b, all + 16));
  double seconds = secondsOfPhase(phases, [&](int n) {
    CHECK(cudaMemsetAsync(a, 0, all + 16, stream));
    CHECK(cudaMemsetAsync(words, 0, 128 * units, stream));
    if (wait == Wait::Grid || wait == Wait::Flags)
      return launch(exchangeAll, 0, false, true, a, b, vectors, n, wait, words);
    for (int p = 0; p < n; ++p)
      launch(exchangeOnce, 0, wait == Wait::Overlapped && p > 0, false, p % 2 ? b : a, p % 2 ? a : b, vectors, wait == Wait::Overlapped);
  });
  expect(reinterpret_cast<float *>(a), all / 4, phases, "exchange"); // an even number of phases ends where it began
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  return seconds;
}

static double weightSeconds(Wait wait, Early early, int bytes, int phases, const float4 *weights, float *sums, unsigned *words) {
  int vectors = bytes / 16;
  CHECK(cudaMemset(sums, 0, units * threads * sizeof(float)));
  double seconds = secondsOfPhase(phases, [&](int n) {
    CHECK(cudaMemsetAsync(words, 0, 128 * units, stream));
    if (wait == Wait::Grid || wait == Wait::Nothing)
      return launch(weighAll, early == Early::Copy ? 2 * size_t(bytes) : 0, false, true, weights, sums, vectors, n, wait, early, words);
    bool overlaps = wait == Wait::Overlapped;
    for (int p = 0; p < n; ++p)
      launch(weighOnce, early == Early::Copy ? bytes : 0, overlaps && p > 0, false, weights + size_t(p) * units * vectors, sums, vectors, overlaps,
             early);
  });
  expect(sums, size_t(units) * threads, float(bytes / 4 / threads), "weights");
  return seconds;
}

__global__ void fillOnes(float4 *to, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
    to[i] = make_float4(1, 1, 1, 1);
}

int main() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  units = properties.multiProcessorCount;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  unsigned *words;
  CHECK(cudaMalloc(&words, 128 * units));

  constexpr int exchanged[] = {0, 4096, 16384, 65536}, last = 3;
  struct {
    const char *name;
    Wait wait;
    double seconds[4];
  } ways[] = {{"boundary", Wait::Boundary, {}}, {"boundary_overlapped", Wait::Overlapped, {}}, {"grid", Wait::Grid, {}}, {"flag", Wait::Flags, {}}};
  printf("{\"device\": \"%s\", \"blocks\": %d, \"threads\": %d,\n \"exchange\": {", properties.name, units, threads);
  for (int i = 0; i <= last; ++i) {
    printf("%s\n  \"%d\": {", i ? "," : "", exchanged[i]);
    for (auto &way : ways) {
      way.seconds[i] = exchangeSeconds(way.wait, exchanged[i], words);
      printf("%s\"%s\": %.3e", &way == ways ? "" : ", ", way.name, way.seconds[i]);
    }
    printf("}");
  }

  constexpr size_t streamed = size_t(1) << 29; // far more than the L2 cache
  float4 *weights;
  float *sums;
  CHECK(cudaMalloc(&weights, streamed));
  CHECK(cudaMalloc(&sums, units * threads * sizeof(float)));
  fillOnes<<<4 * units, threads, 0, stream>>>(weights, streamed / 16);
  struct {
    const char *name;
    Wait wait;
    Early early;
  } loads[] = {{"boundary", Wait::Boundary, Early::No},
               {"overlapped", Wait::Overlapped, Early::No},
               {"overlapped, prefetch before the wait", Wait::Overlapped, Early::Prefetch},
               {"overlapped, copy before the wait", Wait::Overlapped, Early::Copy},
               {"grid", Wait::Grid, Early::No},
               {"grid, copy a phase ahead", Wait::Grid, Early::Copy},
               {"no wait, copy a phase ahead", Wait::Nothing, Early::Copy}};
  printf("},\n \"weights\": {");
  for (int bytes : {8192, 32768, 65536, 106496}) {
    printf("%s\n  \"%d\": {", bytes == 8192 ? "" : ",", bytes);
    int phases = int(streamed / (size_t(units) * bytes));
    for (auto &load : loads)
      printf("%s\"%s\": %.3e", &load == loads ? "" : ", ", load.name, weightSeconds(load.wait, load.early, bytes, phases, weights, sums, words));
    printf("}");
  }
  printf("},\n \"sync_seconds\": {");
  for (int w = 0; w < 2; ++w)
    printf("%s\"%s\": %.3e, \"%s_per_byte\": %.3e", w ? ", " : "", ways[w].name, ways[w].seconds[0], ways[w].name,
           (ways[w].seconds[last] - ways[w].seconds[1]) / (exchanged[last] - exchanged[1]));
  printf("}}\n");
  return 0;
}
