//===- probes.cu - what a GPU can do, measured ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints one JSON object: the rates, latencies and limits that a machine model
// needs (machine/h200.json). Build and run:
//
//   nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a probes.cu -o probes && ./probes
//
//===----------------------------------------------------------------------===//
#include <algorithm>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                                \
  do {                                                                                             \
    cudaError_t status = (call);                                                                   \
    if (status != cudaSuccess) {                                                                   \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

template <class F>
static double medianSeconds(F run, int times = 9) {
  cudaEvent_t first, last;
  CHECK(cudaEventCreate(&first));
  CHECK(cudaEventCreate(&last));
  run();
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) {
    CHECK(cudaEventRecord(first));
    run();
    CHECK(cudaEventRecord(last));
    CHECK(cudaEventSynchronize(last));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, first, last));
    seconds.push_back(ms * 1e-3);
  }
  CHECK(cudaGetLastError());
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

__global__ void fillRandom(float4 *to, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    unsigned x = unsigned(i) * 2654435761u ^ unsigned(i >> 32);
    x ^= x >> 15;
    float v = float(x & 0xffff) * 1e-4f;
    to[i] = make_float4(v, v + 1, v + 2, v + 3);
  }
}

__global__ void copy(const float4 *__restrict__ from, float4 *__restrict__ to, size_t n) {
  size_t base = blockIdx.x * size_t(blockDim.x * 4) + threadIdx.x;
  float4 v[4];
  for (int k = 0; k < 4; ++k)
    if (base + k * blockDim.x < n)
      v[k] = from[base + k * blockDim.x];
  for (int k = 0; k < 4; ++k)
    if (base + k * blockDim.x < n)
      to[base + k * blockDim.x] = v[k];
}

/// Repeated reads of a small region: the rate of the L2 cache.
__global__ void readRegion(const float4 *from, size_t n, int rounds, float *sink) {
  float sum = 0;
  for (int r = 0; r < rounds; ++r)
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
      float4 v;
      asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from + i));
      sum += v.x + v.y + v.z + v.w;
    }
  if (sum == 12345.f)
    *sink = sum;
}

/// Loads that each need the one before, past the nearest cache.
__global__ void followLoads(const unsigned *next, int rounds, float *sink, unsigned at = 0) {
  for (int r = 0; r < rounds; ++r)
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(next + at));
  if (at == 12345)
    *sink = float(at);
}

/// The same from shared memory.
__global__ void followShared(int rounds, float *sink) {
  __shared__ unsigned next[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
    next[i] = (i + 33) % 1024;
  __syncthreads();
  unsigned at = threadIdx.x;
  for (int r = 0; r < rounds; ++r)
    at = *(volatile unsigned *)(next + at);
  if (at == 12345)
    *sink = float(at);
}

/// Barriers of a thread block that has nothing else to do.
__global__ void blockBarriers(int rounds) {
  for (int r = 0; r < rounds; ++r)
    __syncthreads();
}

template <class T>
__global__ void multiplyAdd(T *sink, T x) {
  T a[8];
  for (int i = 0; i < 8; ++i)
    a[i] = T(threadIdx.x + i);
  for (int k = 0; k < 4096; ++k)
    for (int i = 0; i < 8; ++i)
      a[i] = a[i] * x + x;
  T sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += a[i];
  if (sum == T(12345))
    *sink = sum;
}

/// bf16 products on the tensor cores by mma.sync.
__global__ void tensor(float *sink) {
  float d[8][4] = {};
  unsigned a[4] = {threadIdx.x, threadIdx.x + 1, threadIdx.x + 2, threadIdx.x + 3}, b[2] = {threadIdx.x, 7};
  for (int k = 0; k < 2048; ++k)
    for (int i = 0; i < 8; ++i)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += d[i][0] + d[i][3];
  if (sum == 12345.f)
    *sink = sum;
}

__global__ void exponentials(float *sink) {
  float a[8];
  for (int i = 0; i < 8; ++i)
    a[i] = float(threadIdx.x + i) * 1e-3f;
  for (int k = 0; k < 1024; ++k)
    for (int i = 0; i < 8; ++i)
      asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(a[i]));
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += a[i];
  if (sum == 12345.f)
    *sink = sum;
}

__global__ void nothing() {}

/// A barrier of the whole grid: one counter, a generation per round.
__global__ void gridBarriers(unsigned *counter, int rounds) {
  for (int r = 1; r <= rounds; ++r) {
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
      unsigned seen, wanted = unsigned(r) * gridDim.x;
      do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
      while (int(seen - wanted) < 0);
    }
    __syncthreads();
  }
}

__global__ void clusterBarriers(int rounds) {
  for (int r = 0; r < rounds; ++r)
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Two blocks tell each other through a flag in memory.
__global__ void flagHops(unsigned *flag, int rounds) {
  if (threadIdx.x != 0 || (blockIdx.x != 0 && blockIdx.x != gridDim.x - 1))
    return;
  unsigned mine = blockIdx.x != 0;
  for (int r = 0; r < rounds; ++r) {
    unsigned seen, wanted = 2u * r + mine;
    do
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    while (seen != wanted);
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(wanted + 1) : "memory");
  }
}

static int maxClusters(int size, int sharedBytes) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.gridDim = dim3(size * 64);
  config.blockDim = dim3(384);
  config.dynamicSmemBytes = sharedBytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaFuncSetAttribute(clusterBarriers, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK(cudaFuncSetAttribute(clusterBarriers, cudaFuncAttributeMaxDynamicSharedMemorySize, sharedBytes));
  int count = 0;
  if (cudaOccupancyMaxActiveClusters(&count, clusterBarriers, &config) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

int main() {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  int sms = p.multiProcessorCount;
  float *sink;
  unsigned *words;
  CHECK(cudaMalloc(&sink, 256));
  CHECK(cudaMalloc(&words, 256));
  size_t n = size_t(1) << 27; // float4: 2 GiB each
  float4 *a, *b;
  CHECK(cudaMalloc(&a, n * 16));
  CHECK(cudaMalloc(&b, n * 16));
  fillRandom<<<sms * 8, 256>>>(a, n);
  printf("{\n  \"name\": \"%s\", \"multiprocessors\": %d, \"l2_bytes\": %d, \"memory_bytes\": %zu,\n", p.name, sms,
         p.l2CacheSize, p.totalGlobalMem);
  printf("  \"shared_bytes_per_block\": %zu, \"shared_bytes_per_multiprocessor\": %zu, \"registers_per_multiprocessor\": %d, "
         "\"threads_per_multiprocessor\": %d,\n",
         p.sharedMemPerBlockOptin, p.sharedMemPerMultiprocessor, p.regsPerMultiprocessor, p.maxThreadsPerMultiProcessor);
  double s = medianSeconds([&] { copy<<<unsigned(n / 1024), 256>>>(a, b, n); });
  printf("  \"copy_bytes_per_second\": %.4g,\n", 2.0 * double(n) * 16 / s);
  size_t region = (size_t(16) << 20) / 16;
  s = medianSeconds([&] { readRegion<<<sms * 8, 256>>>(a, region, 50, sink); });
  printf("  \"l2_read_bytes_per_second\": %.4g,\n", double(region) * 16 * 50 / s);
  {
    // A ring through all lines of 4 MiB, by steps that share no divisor with their number.
    constexpr unsigned lines = 32768, words = 32, step = 12289, followed = 65536;
    std::vector<unsigned> ring(lines * words);
    for (unsigned i = 0; i < lines; ++i)
      ring[i * words] = (i + step) % lines * words;
    CHECK(cudaMemcpy(a, ring.data(), ring.size() * 4, cudaMemcpyHostToDevice));
    s = medianSeconds([&] { followLoads<<<1, 1>>>((const unsigned *)a, followed, sink); });
    printf("  \"l2_latency_seconds\": %.4g,\n", s / followed);
  }
  {
    // The same through 512 MiB, from another line each time, so that none lies in a cache.
    constexpr unsigned lines = 1u << 22, words = 32, step = 1048583, followed = 16384;
    std::vector<unsigned> ring(size_t(lines) * words);
    for (unsigned i = 0; i < lines; ++i)
      ring[size_t(i) * words] = (i + step) % lines * words;
    CHECK(cudaMemcpy(a, ring.data(), ring.size() * 4, cudaMemcpyHostToDevice));
    unsigned begin = 0;
    s = medianSeconds([&] { followLoads<<<1, 1>>>((const unsigned *)a, followed, sink, (begin += 77777) % lines * words); });
    printf("  \"device_latency_seconds\": %.4g,\n", s / followed);
  }
  s = medianSeconds([&] { followShared<<<1, 32>>>(65536, sink); });
  printf("  \"shared_latency_seconds\": %.4g,\n", s / 65536);
  for (int threads : {128, 256}) {
    s = medianSeconds([&] { blockBarriers<<<1, threads>>>(65536); });
    printf("  \"block%d_barrier_seconds\": %.4g,\n", threads, s / 65536);
  }
  // Few blocks read a region of the L2 cache: what one SM gets at most.
  s = medianSeconds([&] { readRegion<<<4, 1024>>>((const float4 *)a, 1 << 16, 50, sink); });
  printf("  \"l2_read_bytes_per_second_of_one\": %.4g,\n", double(1 << 16) * 16 * 50 / s / 4);
  double work = double(sms) * 8 * 256 * 8 * 4096 * 2;
  s = medianSeconds([&] { multiplyAdd<float><<<sms * 8, 256>>>(sink, 0.5f); });
  printf("  \"f32_flop_per_second\": %.4g,\n", work / s);
  s = medianSeconds([&] { multiplyAdd<double><<<sms * 8, 256>>>((double *)sink, 0.5); });
  printf("  \"f64_flop_per_second\": %.4g,\n", work / s);
  s = medianSeconds([&] { tensor<<<sms * 8, 256>>>(sink); });
  printf("  \"bf16_mma_sync_flop_per_second\": %.4g,\n", double(sms) * 8 * 8 * 2048 * 8 * (16 * 8 * 16 * 2) / s);
  s = medianSeconds([&] { exponentials<<<sms * 8, 256>>>(sink); });
  printf("  \"exponentials_per_second\": %.4g,\n", double(sms) * 8 * 256 * 8 * 1024 / s);
  s = medianSeconds([&] {
    for (int i = 0; i < 1000; ++i)
      nothing<<<1, 32>>>();
  });
  printf("  \"launch_seconds\": %.4g,\n", s / 1000);
  int rounds = 2000;
  s = medianSeconds([&] {
    CHECK(cudaMemsetAsync(words, 0, 4));
    void *arguments[] = {&words, &rounds};
    CHECK(cudaLaunchCooperativeKernel((void *)gridBarriers, dim3(sms), dim3(256), arguments));
  });
  printf("  \"grid_barrier_seconds\": %.4g,\n", s / rounds);
  for (int size : {2, 4, 8, 16}) {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = size;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(size);
    config.blockDim = dim3(256);
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaFuncSetAttribute(clusterBarriers, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    s = medianSeconds([&] { CHECK(cudaLaunchKernelEx(&config, clusterBarriers, 20000)); });
    printf("  \"cluster%d_barrier_seconds\": %.4g,\n", size, s / 20000);
  }
  s = medianSeconds([&] {
    CHECK(cudaMemsetAsync(words, 0, 4));
    flagHops<<<sms, 32>>>(words, rounds);
  });
  printf("  \"flag_hop_seconds\": %.4g,\n", s / (2 * rounds));
  printf("  \"clusters_resident\": {");
  for (int size : {2, 4, 8, 16})
    printf("\"%d\": %d%s", size, maxClusters(size, int(p.sharedMemPerBlockOptin)), size < 16 ? ", " : "");
  printf("}\n}\n");
  CHECK(cudaDeviceSynchronize());
  return 0;
}
