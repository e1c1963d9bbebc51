//===- ParallelGain.h - whether threads gain a parallel body anything -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wake-ups and barriers cost microseconds on an idle machine, and milliseconds
// where another process has the core of a thread that the others wait for. What
// they cost now only the calls themselves tell: a body whose threads mostly
// waited runs on one thread for some time, then is tried again.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_HOST_PARALLELGAIN_H
#define FT_RUNTIME_HOST_PARALLELGAIN_H

#include <algorithm>
#include <cstdint>

namespace ft::rt {

/// What is known of one parallel body. Times are in ticks of any clock that goes on alike on all threads.
class ParallelGain {
public:
  /// Whether the next call should take threads.
  bool wantsThreads(int64_t now) const { return now >= aloneUntil; }

  /// Notes a call that took `took` on several threads, which worked for `worked` together: about the time of
  /// one thread.
  void note(int64_t now, int64_t took, int64_t worked) {
    if (double(worked) > leastGain * double(took)) {
      poor = 0;
      patience = firstPatience;
      return;
    }
    // One poor call may be chance: a page that was missing, a thread that slept.
    if (++poor < 2)
      return;
    aloneUntil = now + std::max<int64_t>(took, 1) * patience;
    patience = std::min(2 * patience, mostPatience);
  }

private:
  static constexpr double leastGain = 1.2;
  /// A trial that fails costs at most this part of the time between two of them.
  static constexpr int64_t firstPatience = 64, mostPatience = 4096;

  int64_t aloneUntil = INT64_MIN, patience = firstPatience;
  int poor = 0;
};

} // namespace ft::rt

#endif // FT_RUNTIME_HOST_PARALLELGAIN_H
