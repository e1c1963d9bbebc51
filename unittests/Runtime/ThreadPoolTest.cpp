//===- ThreadPoolTest.cpp - threads for generated code --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Host/ThreadPool.h"

#include "ft/Runtime/Host/ParallelGain.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

/// Restores the default number of threads at the end of a test.
struct Threads {
  explicit Threads(int count, bool keep = true) {
    ft_set_num_threads(count);
    ft_keep_threads(keep);
  }
  ~Threads() {
    ft_set_num_threads(0);
    ft_keep_threads(false);
  }
};

template <class F>
void parallelFor(int64_t n, int64_t grain, F body) {
  ft_parallel_for([](void *env, int64_t b, int64_t e) { (*static_cast<F *>(env))(b, e); }, &body, n,
                  grain);
}

template <class F>
void parallelRegion(F body) {
  ft_parallel_region([](void *env, int64_t t, int64_t n) { (*static_cast<F *>(env))(t, n); },
                     &body);
}

/// Plain ints: an iteration run twice at once is also a race for a sanitizer.
void expectEachOnce(int64_t n, int64_t grain) {
  std::vector<int> hits(size_t(n), 0);
  std::atomic<int64_t> shortPieces{0};
  parallelFor(n, grain, [&](int64_t begin, int64_t end) {
    ASSERT_LT(begin, end);
    if (end - begin < grain && end != n)
      ++shortPieces;
    for (int64_t i = begin; i < end; ++i)
      ++hits[size_t(i)];
  });
  EXPECT_EQ(shortPieces, 0);
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(hits[size_t(i)], 1) << i << " of " << n;
}

} // namespace

TEST(ThreadPool, CoversEachIterationOnce) {
  Threads threads(4);
  for (int64_t n : {0, 1, 2, 3, 4, 5, 15, 16, 17, 1000, 4099})
    for (int64_t grain : {1, 2, 7, 16, 5000})
      expectEachOnce(n, grain);
}

TEST(ThreadPool, SmallWorkRunsInline) {
  Threads threads(4);
  std::thread::id self = std::this_thread::get_id();
  int calls = 0;
  parallelFor(100, 100, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  parallelFor(-5, 1, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, ABodyThatThreadsGainNothingRunsOnOne) {
  Threads threads(4, /*keep=*/false);
  // All but the caller only wait: threads gain nothing, whatever the machine does besides.
  int64_t alone = 0, together = 0, rounds = 0;
  for (; rounds < 100 && !alone; ++rounds)
    parallelRegion([&](int64_t tid, int64_t count) {
      if (tid == 0) {
        (count == 1 ? alone : together) += 1;
        auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
        while (std::chrono::steady_clock::now() < end)
          ;
      }
      ft_barrier();
    });
  EXPECT_GE(together, 2);
  EXPECT_EQ(alone, 1);
}

TEST(ParallelGain, TriesAgainAfterLongerAndLongerTimes) {
  ft::rt::ParallelGain gain;
  EXPECT_TRUE(gain.wantsThreads(0));
  gain.note(1000, 100, 190);
  EXPECT_TRUE(gain.wantsThreads(1000));
  gain.note(2000, 100, 100); // may be chance
  EXPECT_TRUE(gain.wantsThreads(2000));
  gain.note(2100, 100, 180);
  gain.note(2200, 100, 100);
  EXPECT_TRUE(gain.wantsThreads(2200));
  int64_t now = 10000;
  for (int64_t times : {64, 128, 256, 512, 1024, 2048, 4096, 4096}) {
    gain.note(now, 100, 110);
    EXPECT_FALSE(gain.wantsThreads(now + 100 * times - 1));
    EXPECT_TRUE(gain.wantsThreads(now + 100 * times));
    now += 100 * times;
  }
  gain.note(now, 100, 200);
  EXPECT_TRUE(gain.wantsThreads(now));
}

TEST(ThreadPool, ExtremeSizesDoNotOverflow) {
  Threads threads(3);
  std::atomic<int64_t> sum{0};
  parallelFor(INT64_MAX, INT64_MAX / 2, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, INT64_MAX);
  sum = 0;
  parallelFor(INT64_MAX - 1, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, INT64_MAX - 1);
  sum = 0;
  parallelFor(1000, -3, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 1000);
}

TEST(ThreadPool, NestedCallsRunInline) {
  Threads threads(4);
  std::atomic<int64_t> sum{0};
  parallelFor(64, 1, [&](int64_t begin, int64_t end) {
    std::thread::id self = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i)
      parallelFor(100, 1, [&](int64_t b, int64_t e) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        sum += e - b;
      });
    parallelRegion([&](int64_t tid, int64_t count) {
      EXPECT_EQ(tid, 0);
      EXPECT_EQ(count, 1);
      ft_barrier();
    });
  });
  EXPECT_EQ(sum, 6400);
}

TEST(ThreadPool, RegionRunsAllThreadsAtOnce) {
  Threads threads(4);
  std::atomic<int> here{0};
  std::vector<int> seen(4, 0);
  parallelRegion([&](int64_t tid, int64_t count) {
    ASSERT_EQ(count, 4);
    ++seen[size_t(tid)];
    // Each waits for all the others: only possible if all run together.
    ++here;
    while (here < 4)
      std::this_thread::yield();
  });
  for (int s : seen)
    EXPECT_EQ(s, 1);
}

TEST(ThreadPool, BarrierOrdersSteps) {
  Threads threads(4);
  // A wavefront: each step reads what the neighbours wrote in the step before.
  constexpr int steps = 3000;
  std::vector<int64_t> even(4, 0), odd(4, 0);
  parallelRegion([&](int64_t tid, int64_t count) {
    ASSERT_EQ(count, 4);
    for (int s = 0; s < steps; ++s) {
      auto &from = s % 2 ? odd : even;
      auto &to = s % 2 ? even : odd;
      for (int64_t other = 0; other < count; ++other)
        ASSERT_EQ(from[size_t(other)], s);
      to[size_t(tid)] = s + 1;
      ft_barrier();
    }
  });
}

TEST(ThreadPool, BarrierOutsideOfARegionDoesNothing) {
  ft_barrier();
  Threads threads(1);
  parallelRegion([&](int64_t tid, int64_t count) {
    EXPECT_EQ(tid, 0);
    EXPECT_EQ(count, 1);
    ft_barrier();
  });
}

TEST(ThreadPool, StressManyShortJobs) {
  Threads threads(8);
  int64_t total = 0;
  std::vector<int64_t> data(256);
  for (int round = 0; round < 20000; ++round) {
    parallelFor(256, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        data[size_t(i)] = i + round;
    });
    total += data[255];
    if (round % 1000 == 0) // long enough that the workers go to sleep
      usleep(200);
    if (round % 500 == 0)
      ft_set_num_threads(1 + round / 500 % 9);
  }
  EXPECT_EQ(total, int64_t(20000) * 255 + int64_t(20000) * 19999 / 2);
}

TEST(ThreadPool, StressRegionsBetweenLoops) {
  Threads threads(5);
  std::atomic<int64_t> sum{0};
  for (int round = 0; round < 2000; ++round) {
    parallelRegion([&](int64_t, int64_t) {
      ft_barrier();
      sum += 1;
      ft_barrier();
    });
    parallelFor(50, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  }
  EXPECT_EQ(sum, 2000 * 55);
}

TEST(ThreadPool, CallersOnSeveralThreads) {
  Threads threads(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        parallelFor(100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
        parallelRegion([&](int64_t, int64_t) { ft_barrier(); });
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(sum, 4 * 500 * 100);
}

/// Runs `body` in a child and gives its exit status.
template <class F>
static int inChild(F body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(1200); // a deadlock ends as a signal, on a busy machine, too
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

static bool sumsRight() {
  std::atomic<int64_t> sum{0};
  std::atomic<int> threads{0};
  parallelFor(10000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  parallelRegion([&](int64_t, int64_t) {
    ++threads;
    ft_barrier();
  });
  return sum == 10000 && threads == ft_num_threads();
}

TEST(ThreadPool, WorksAfterFork) {
  Threads threads(4);
  ASSERT_TRUE(sumsRight()); // the parent has workers
  for (int round = 0; round < 10; ++round)
    EXPECT_EQ(inChild([] { return sumsRight() && inChild(sumsRight) == 0; }), 0);
  EXPECT_TRUE(sumsRight());
}

TEST(ThreadPool, ForkInsideAParallelBody) {
  Threads threads(4);
  std::atomic<int> failures{0};
  parallelRegion([&](int64_t, int64_t) {
    if (inChild(sumsRight) != 0)
      ++failures;
    ft_barrier();
  });
  EXPECT_EQ(failures, 0);
}

TEST(ThreadPool, ForkWhileOthersWork) {
  Threads threads(4);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop)
      parallelFor(1000, 1, [](int64_t, int64_t) {});
  });
  for (int round = 0; round < 20; ++round)
    EXPECT_EQ(inChild(sumsRight), 0);
  stop = true;
  busy.join();
}

TEST(ThreadPool, EnvironmentSetsTheDefault) {
  setenv("FT_NUM_THREADS", "3", 1);
  ft_set_num_threads(0);
  EXPECT_EQ(ft_num_threads(), 3);
  setenv("FT_NUM_THREADS", "3x", 1); // not a number: the affinity mask counts
  ft_set_num_threads(0);
  int64_t cpus = ft_num_threads();
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
  EXPECT_EQ(cpus, CPU_COUNT(&mask));
  setenv("FT_NUM_THREADS", "99999", 1);
  ft_set_num_threads(0);
  EXPECT_EQ(ft_num_threads(), 1024);
  unsetenv("FT_NUM_THREADS");
  ft_set_num_threads(0);
}
