//===- ThreadPool.h - threads for generated code ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pool per process, its threads made at first use. It is ours because
// OpenMP runtimes clash with each other (PyTorch brings one) and with fork.
// These are C symbols: generated code calls them by name.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_HOST_THREADPOOL_H
#define FT_RUNTIME_HOST_THREADPOOL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Calls fn(env, begin, end) on disjoint pieces that cover [0, n), each of at
/// least `grain` iterations but the last, on all threads, the caller among them.
/// n <= grain, a call from inside a parallel body, and a pool in use by another
/// thread run inline as fn(env, 0, n). Everything is done, and visible, at return.
void ft_parallel_for(void (*fn)(void *env, int64_t begin, int64_t end), void *env, int64_t n,
                     int64_t grain);

/// Runs fn(env, tid, nthreads) once for each tid in [0, nthreads), all at the
/// same time; the caller is tid 0. Where ft_parallel_for would run inline,
/// nthreads is 1.
void ft_parallel_region(void (*fn)(void *env, int64_t tid, int64_t nthreads), void *env);

/// Waits until all threads of the innermost region have called it; what they
/// wrote before is visible after. Outside of a region it does nothing.
void ft_barrier(void);

/// How often threads of this process waited so: barriers of all regions since its start.
int64_t ft_barrier_count(void);

/// Threads that the next region may have: FT_NUM_THREADS, else the number of
/// CPUs in the affinity mask.
int64_t ft_num_threads(void);

/// Sets that number for later calls, at most 1024; 0 restores the default. Not
/// to be called inside a parallel body.
void ft_set_num_threads(int64_t count);

/// For tests: while `keep` holds, every parallel call takes the threads that there are. Else a body whose threads
/// mostly waited, for each other or for a core, runs on its caller for some time.
void ft_keep_threads(bool keep);

/// For tests: from now on parallel calls run on their caller alone, tasks and the threads of regions in an order that
/// `seed` gives, and memory of a call begins as all ones. A negative seed ends that. Not to be called inside a
/// parallel body, nor while other threads make calls.
void ft_shuffle_threads(int64_t seed);

/// Whether it is so.
bool ft_threads_are_shuffled(void);

typedef enum FtSpanKind {
  FT_SPAN_PIECE = 0,   // a task: iterations [first, last) of an ft_parallel_for
  FT_SPAN_PART = 1,    // a task: what thread `first` of a region does before its barrier number `last`, or its end
  FT_SPAN_BARRIER = 2, // a wait of thread `first` of a region at its barrier number `last`
} FtSpanKind;

/// What a thread did from `begin` to `end`, in nanoseconds of CLOCK_MONOTONIC.
typedef struct FtSpan {
  int64_t begin, end, first, last;
  int64_t region; // the number of the parallel call since tracing began
  int32_t thread; // 0 is the caller, others are the pool's workers
  int32_t kind;   // an FtSpanKind
} FtSpan;

/// From now on the parallel calls of this thread are recorded. Each thread that works for them calls `record`, several at a time.
/// All have returned when the parallel call has. NULL ends that. Calls that are not recorded take no longer than before.
void ft_trace_threads(void (*record)(void *context, const FtSpan *span), void *context);

#ifdef __cplusplus
}
#endif

#endif // FT_RUNTIME_HOST_THREADPOOL_H
