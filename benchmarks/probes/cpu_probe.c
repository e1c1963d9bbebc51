// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Figures of machine/cpu.json: the bandwidth at which one core reads working sets of
// several sizes, and what a barrier of the runtime's pool costs. Rates of products come
// from FTLeafBench (unittests/Conversion/LeafToLoops/bench.cpp), `rows`.
//
//   clang -O2 -march=native cpu_probe.c -I include -L build/lib -lFractalTensorRuntime && ./a.out
#include "ft/Runtime/Host/ThreadPool.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef float Vector __attribute__((vector_size(64)));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

enum { kWaits = 20000 };

static void waits(void *env, int64_t tid, int64_t threads) {
  (void)threads;
  double begin = now();
  for (int i = 0; i < kWaits; ++i)
    ft_barrier();
  if (tid == 0)
    *(double *)env = (now() - begin) / kWaits;
}

int main(void) {
  const size_t kib[] = {16, 24, 256, 512, 768, 2048, 4096, 8192, 16384, 262144};
  for (size_t s = 0; s < sizeof(kib) / sizeof(kib[0]); ++s) {
    size_t bytes = kib[s] << 10, count = bytes / sizeof(Vector);
    Vector *data = aligned_alloc(64, bytes), a = {0}, b = {0}, c = {0}, d = {0};
    for (size_t i = 0; i < count; ++i)
      data[i] = a + 1.0f;
    double best = 1e9;
    for (int run = 0; run < 15; ++run) {
      size_t times = ((size_t)64 << 20) / bytes + 1;
      double begin = now();
      for (size_t t = 0; t < times; ++t)
        for (size_t i = 0; i < count; i += 4) {
          a += data[i], b += data[i + 1], c += data[i + 2], d += data[i + 3];
        }
      double seconds = (now() - begin) / times;
      best = seconds < best ? seconds : best;
    }
    Vector sum = a + b + c + d;
    volatile float sink = sum[0];
    (void)sink;
    printf("read %zu KiB: %.1f GB/s\n", kib[s], bytes / best / 1e9);
    free(data);
  }
  double best = 1e9;
  for (int run = 0; run < 20; ++run) {
    double seconds = 0;
    ft_parallel_region(waits, &seconds);
    best = seconds < best ? seconds : best;
  }
  printf("barrier of %d threads: %.0f ns\n", (int)ft_num_threads(), best * 1e9);
  return 0;
}
