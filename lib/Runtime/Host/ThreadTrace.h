//===- ThreadTrace.h - what threads do in a traced call ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies of parallel calls are wrapped while a call is traced: the pool and its
// workers do nothing more in calls that are not.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_RUNTIME_HOST_THREADTRACE_H
#define LIB_RUNTIME_HOST_THREADTRACE_H

#include "ft/Runtime/Host/ThreadPool.h"

namespace ft::rt {

/// Where the calls of a thread are recorded.
struct ThreadTrace {
  void (*record)(void *context, const FtSpan *span);
  void *context;
  int64_t regions = 0; // parallel calls so far
};

/// The body of a parallel call, and its recording: `env` of the functions below.
struct TracedBody {
  void (*fn)(void *env, int64_t, int64_t);
  void *env;
  ThreadTrace *trace;
  int64_t region;
};

/// For ft_parallel_for: a piece is a task.
void runTracedPiece(void *body, int64_t begin, int64_t end);

/// For ft_parallel_region: a task is what a thread does between barriers.
void runTracedThread(void *body, int64_t tid, int64_t threads);

/// A barrier of a thread in such a region: `wait` waits. False outside of one.
bool waitTraced(void (*wait)());

/// The number of the calling thread: 0, but for workers of the pool, which say theirs when they begin.
void setThreadNumber(int number);

} // namespace ft::rt

#endif // LIB_RUNTIME_HOST_THREADTRACE_H
