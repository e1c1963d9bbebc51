//===- ShuffledThreads.h - threads of a team, one at a time -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_RUNTIME_HOST_SHUFFLEDTHREADS_H
#define LIB_RUNTIME_HOST_SHUFFLEDTHREADS_H

#include <cstdint>

namespace ft::rt {

/// fn(env, i, i + 1) for all i in [0, n), in an order that `seed` gives.
void runShuffledRange(void (*fn)(void *, int64_t, int64_t), void *env, int64_t n, uint64_t &seed);

/// fn(env, tid, threads) for all tid, on one processor: a thread runs until it waits or ends, then any other that may
/// run goes on. So one that does not wait for another where it has to runs far ahead of it, or far after.
/// Ends the process where threads wait at a barrier that others never reach.
void runShuffledRegion(void (*fn)(void *, int64_t, int64_t), void *env, int threads, uint64_t &seed);

/// What a barrier does there; false outside of such a region.
bool waitShuffled();

} // namespace ft::rt

#endif // LIB_RUNTIME_HOST_SHUFFLEDTHREADS_H
