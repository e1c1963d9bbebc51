//===- ThreadPool.cpp - threads for generated code ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One job at a time. The caller opens a job and bumps a ticket; workers spin on
// the ticket for a while, then sleep on it (futex). A worker joins by a
// compare-and-swap on `state`, so one that wakes late finds the job closed and
// never touches it: the caller waits for those alone who joined.
//
// Calls measure how long their threads worked and waited. A body that threads
// gain nothing runs on its caller (ParallelGain.h).
//
//===----------------------------------------------------------------------===//
#include "ft/Runtime/Host/ThreadPool.h"

#include "ft/Runtime/Host/ParallelGain.h"

#include "ShuffledThreads.h"
#include "ThreadTrace.h"

#include <atomic>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int maxThreads = 1024;

void pauseCpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

int64_t nowNanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

/// A clock that is read within some nanoseconds; its unit is the processor's.
int64_t ticks() {
#if defined(__x86_64__)
  return int64_t(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
  int64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return nowNanoseconds();
#endif
}

/// Waits for `done()` by spinning, then by giving the processor away: a thread
/// we wait for may not be running.
template <class Predicate>
void spinUntil(Predicate done) {
  constexpr int spins = 256; // some microseconds
  for (int i = 0; i < spins; ++i) {
    if (done())
      return;
    pauseCpu();
  }
  while (!done())
    sched_yield();
}

int countCpus() {
  // The mask may be longer than a cpu_set_t on large machines.
  for (size_t bits = 1024; bits <= 1 << 20; bits *= 2) {
    std::vector<unsigned long> mask(bits / (8 * sizeof(unsigned long)));
    long bytes = syscall(SYS_sched_getaffinity, 0, mask.size() * sizeof(long), mask.data());
    if (bytes > 0) {
      int count = 0;
      for (unsigned long word : mask)
        count += __builtin_popcountl(word);
      return count;
    }
  }
  return 1;
}

int defaultThreads() {
  int count = 0;
  if (const char *text = getenv("FT_NUM_THREADS")) {
    const char *end = text + strlen(text);
    auto [stop, error] = std::from_chars(text, end, count);
    if (error != std::errc() || stop != end)
      count = 0;
  }
  if (count < 1)
    count = countCpus();
  return count < 1 ? 1 : count > maxThreads ? maxThreads : count;
}

std::atomic<int64_t> barriers{0};
void countBarrier() { barriers.fetch_add(1, std::memory_order_relaxed); }

struct Barrier {
  alignas(64) std::atomic<int> arrived{0};
  alignas(64) std::atomic<uint32_t> phase{0};

  /// Returns the ticks that the thread waited.
  int64_t wait(int threads) {
    uint32_t mine = phase.load(std::memory_order_relaxed);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) == threads - 1) {
      arrived.store(0, std::memory_order_relaxed);
      countBarrier();
      phase.store(mine + 1, std::memory_order_release);
      return 0;
    }
    int64_t begin = ticks();
    spinUntil([&] { return phase.load(std::memory_order_acquire) != mine; });
    return ticks() - begin;
  }
};

/// What a thread is inside of. Nested parallel calls run inline.
struct Inside {
  bool parallel = false;
  Barrier *barrier = nullptr;
  int threads = 1;
  int64_t waited = 0; // ticks, at barriers
};
thread_local Inside inside;

struct InsideScope {
  explicit InsideScope(Inside now) : before(inside) { inside = now; }
  ~InsideScope() { inside = before; }
  Inside before;
};

/// Counts forks in this process's ancestry since start: a job that sees it
/// change runs in a child without workers.
std::atomic<uint32_t> forks{0};

class Pool {
public:
  using RangeFn = void (*)(void *, int64_t, int64_t);
  using RegionFn = void (*)(void *, int64_t, int64_t);

  bool tryAcquire() { return busy.try_lock(); }
  void release() { busy.unlock(); }

  void ensureWorkers(int count) {
    while (workers < count && startWorker())
      ++workers;
  }
  int workerCount() const { return workers; }

  /// What is known of a body at a size; 0 stands for regions. To be asked by who has the pool.
  ft::rt::ParallelGain &gainOf(const void *body, int64_t n) {
    // Sizes within a factor of two behave alike.
    int size = n ? 64 - __builtin_clzll(uint64_t(n)) : 0;
    uint64_t hash = (reinterpret_cast<uint64_t>(body) + uint64_t(size)) * 0x9e3779b97f4a7c15;
    Known &known = bodies[hash >> (64 - knownBits)];
    if (known.body != body || known.size != size)
      known = {body, size, {}};
    return known.gain;
  }

  /// `body` is what measurements are kept by.
  void runRange(RangeFn fn, void *env, int64_t n, int64_t grain, int threads, const void *body) {
    // Four pieces a thread even out a slow one.
    int64_t pieces = int64_t(threads) * 4;
    int64_t size = n / pieces + (n % pieces != 0);
    job.range = fn;
    job.region = nullptr;
    job.env = env;
    job.n = n;
    job.pieceSize = size < grain ? grain : size;
    pieces = n / job.pieceSize + (n % job.pieceSize != 0);
    job.threads = int(pieces < threads ? pieces : threads);
    for (int t = 0; t < job.threads; ++t) {
      shares[t].next.store(pieces * t / job.threads, std::memory_order_relaxed);
      shares[t].end = pieces * (t + 1) / job.threads;
    }
    uint32_t epoch = forks.load(std::memory_order_relaxed);
    int64_t begin = open(job.threads - 1);
    {
      InsideScope scope({true, nullptr, 1});
      workOnRange(0);
    }
    int64_t own = ticks() - begin;
    close(epoch, 0);
    note(gainOf(body, n), begin, own);
  }

  void runRegion(RegionFn fn, void *env, int threads, const void *body) {
    job.range = nullptr;
    job.region = fn;
    job.env = env;
    job.threads = threads;
    uint32_t epoch = forks.load(std::memory_order_relaxed);
    int64_t begin = open(threads - 1), waited = 0;
    {
      InsideScope scope({true, &barrier, threads});
      fn(env, 0, threads);
      waited = inside.waited;
    }
    int64_t own = ticks() - begin - waited;
    close(epoch, threads - 1);
    note(gainOf(body, 0), begin, own);
  }

private:
  struct Job {
    RangeFn range = nullptr;
    RegionFn region = nullptr;
    void *env = nullptr;
    int64_t n = 0, pieceSize = 1;
    int threads = 1;
  };

  /// A thread's share of a range's pieces. A thread takes its own share first, and
  /// the same one from call to call, so that what it used last is in its cache;
  /// then it helps with the others'.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  struct Known {
    const void *body = nullptr;
    int size = 0;
    ft::rt::ParallelGain gain;
  };

  /// Tells what is known of a body that it took threads since `begin`, `own` of it the caller worked.
  void note(ft::rt::ParallelGain &gain, int64_t begin, int64_t own) {
    int64_t now = ticks();
    gain.note(now, now - begin, own + helped.load(std::memory_order_relaxed));
  }

  // state: number of the job (32 bits), seats (10), joined (11), working (11).
  static constexpr int jobShift = 32, seatShift = 22, joinShift = 11;
  static constexpr uint64_t fieldMask = 0x7ff;
  static uint64_t seats(uint64_t s) { return s >> seatShift & 0x3ff; }
  static uint64_t joined(uint64_t s) { return s >> joinShift & fieldMask; }
  static uint64_t working(uint64_t s) { return s & fieldMask; }

  /// Returns when it began.
  int64_t open(int helpers) {
    int64_t begin = ticks();
    helped.store(0, std::memory_order_relaxed);
    uint32_t number = ticket.load(std::memory_order_relaxed) + 1;
    state.store(uint64_t(number) << jobShift | uint64_t(helpers) << seatShift,
                std::memory_order_release);
    // Sequentially consistent against the sleeper's count-then-check, so that
    // one of the two sees the other.
    ticket.store(number, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) > 0)
      syscall(SYS_futex, &ticket, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    return begin;
  }

  /// Waits until `required` workers have joined, shuts the door and waits for
  /// those who joined.
  void close(uint32_t epoch, int required) {
    if (forks.load(std::memory_order_relaxed) != epoch)
      return; // a child made inside the body: the workers stayed with the parent
    if (required)
      spinUntil([&] { return int(joined(state.load(std::memory_order_relaxed))) >= required; });
    // No seats: nothing joins any more.
    uint64_t s = state.fetch_and(~(uint64_t(0x3ff) << seatShift), std::memory_order_acq_rel);
    if (working(s))
      spinUntil([&] { return working(state.load(std::memory_order_acquire)) == 0; });
  }

  void workOnRange(int self) {
    for (int k = 0; k < job.threads; ++k) {
      Share &share = shares[(self + k) % job.threads];
      for (;;) {
        int64_t piece = share.next.fetch_add(1, std::memory_order_relaxed);
        if (piece >= share.end)
          break;
        int64_t begin = piece * job.pieceSize;
        int64_t end = job.n - begin < job.pieceSize ? job.n : begin + job.pieceSize;
        job.range(job.env, begin, end);
      }
    }
  }

  /// Takes a seat of job `number` if one is free and works.
  void tryWork(uint32_t number, int self) {
    uint64_t s = state.load(std::memory_order_acquire);
    do {
      if (uint32_t(s >> jobShift) != number || joined(s) >= seats(s))
        return;
    } while (!state.compare_exchange_weak(s, s + (uint64_t(1) << joinShift) + 1,
                                          std::memory_order_acq_rel, std::memory_order_acquire));
    int64_t begin = ticks(), waited = 0;
    if (job.region) {
      InsideScope scope({true, &barrier, job.threads});
      job.region(job.env, int64_t(joined(s)) + 1, job.threads);
      waited = inside.waited;
    } else {
      InsideScope scope({true, nullptr, 1});
      workOnRange(self);
    }
    helped.fetch_add(ticks() - begin - waited, std::memory_order_relaxed);
    state.fetch_sub(1, std::memory_order_release);
  }

  /// Waits for a ticket other than `seen` and returns it.
  uint32_t awaitTicket(uint32_t seen) {
    constexpr int64_t spinNanoseconds = 40000;
    int64_t limit = nowNanoseconds() + spinNanoseconds;
    for (int i = 1;; ++i) {
      uint32_t now = ticket.load(std::memory_order_acquire);
      if (now != seen)
        return now;
      pauseCpu();
      if (i % 32 == 0 && nowNanoseconds() > limit)
        break;
    }
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    uint32_t now;
    while ((now = ticket.load(std::memory_order_seq_cst)) == seen)
      syscall(SYS_futex, &ticket, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    return now;
  }

  static void *workerMain(void *self) {
    auto *pool = static_cast<Pool *>(self);
    int number = pool->started.fetch_add(1, std::memory_order_relaxed) + 1;
    ft::rt::setThreadNumber(number);
    uint32_t seen = 0;
    for (;;) {
      seen = pool->awaitTicket(seen);
      pool->tryWork(seen, number);
    }
  }

  bool startWorker() {
    // Signals belong to the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    bool started = pthread_create(&thread, &attributes, workerMain, this) == 0;
    if (started)
      pthread_setname_np(thread, "ft-worker");
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
  }

  std::mutex busy;
  int workers = 0; // guarded by `busy`
  std::atomic<int> started{0};
  Job job;
  Share shares[maxThreads];
  Barrier barrier;
  static constexpr int knownBits = 8;
  Known bodies[1 << knownBits]; // guarded by `busy`
  alignas(64) std::atomic<int64_t> helped{0}; // ticks that workers worked for the job
  alignas(64) std::atomic<uint64_t> state{0};
  alignas(64) std::atomic<uint32_t> ticket{0};
  alignas(64) std::atomic<int> sleepers{0};
  static_assert(sizeof(std::atomic<uint32_t>) == 4, "the futex word");
};

std::mutex creation;
std::atomic<Pool *> thePool{nullptr};
std::atomic<int> wantedThreads{0};

// The pool is never destroyed: its threads may run until the process ends.
Pool *getPool() {
  if (Pool *pool = thePool.load(std::memory_order_acquire))
    return pool;
  std::lock_guard<std::mutex> lock(creation);
  if (Pool *pool = thePool.load(std::memory_order_acquire))
    return pool;
  static bool handlersSet = false;
  if (!handlersSet) {
    pthread_atfork([] { creation.lock(); }, [] { creation.unlock(); },
                   [] {
                     // The workers and the code that held the pool's lock are gone.
                     thePool.store(nullptr, std::memory_order_release);
                     forks.fetch_add(1, std::memory_order_relaxed);
                     inside = Inside();
                     creation.unlock();
                   });
    handlersSet = true;
  }
  Pool *pool = new (std::nothrow) Pool;
  thePool.store(pool, std::memory_order_release);
  return pool;
}

int threadsNow() {
  int count = wantedThreads.load(std::memory_order_relaxed);
  if (count)
    return count;
  count = defaultThreads();
  int expected = 0;
  wantedThreads.compare_exchange_strong(expected, count, std::memory_order_relaxed);
  return expected ? expected : count;
}

std::atomic<bool> keepThreads{false};

/// The pool with at least one worker, locked; or null where the call is to run
/// inline. `body` and `n` as for Pool::gainOf.
Pool *acquirePool(int &threads, const void *body, int64_t n) {
  if (inside.parallel)
    return nullptr;
  threads = threadsNow();
  if (threads < 2)
    return nullptr;
  Pool *pool = getPool();
  if (!pool || !pool->tryAcquire())
    return nullptr;
  if (!keepThreads.load(std::memory_order_relaxed) && !pool->gainOf(body, n).wantsThreads(ticks())) {
    pool->release();
    return nullptr;
  }
  pool->ensureWorkers(threads - 1);
  if (pool->workerCount() + 1 < threads)
    threads = pool->workerCount() + 1; // the system gave no more threads
  if (threads >= 2)
    return pool;
  pool->release();
  return nullptr;
}

/// What calls do beside their work; none of it, and one look says so.
constexpr int isShuffled = 1 << 30; // for tests; below it the number of threads whose calls are traced
std::atomic<int> extras{0};
uint64_t shuffleSeed = 0;
thread_local ft::rt::ThreadTrace *threadTrace = nullptr;

bool hasExtras() { return extras.load(std::memory_order_relaxed) != 0; }
bool areShuffled() { return (extras.load(std::memory_order_relaxed) & isShuffled) != 0; }

void runFor(void (*fn)(void *, int64_t, int64_t), void *env, int64_t n, int64_t grain, const void *body) {
  int threads = 1;
  Pool *pool = n <= grain ? nullptr : acquirePool(threads, body, n);
  if (!pool) {
    fn(env, 0, n);
    return;
  }
  pool->runRange(fn, env, n, grain < 1 ? 1 : grain, threads, body);
  pool->release();
}

void runRegion(void (*fn)(void *, int64_t, int64_t), void *env, const void *body) {
  int threads = 1;
  if (Pool *pool = acquirePool(threads, body, 0)) {
    pool->runRegion(fn, env, threads, body);
    pool->release();
    return;
  }
  InsideScope scope({true, nullptr, 1});
  fn(env, 0, 1);
}

void waitForTeam() {
  if (inside.barrier)
    inside.waited += inside.barrier->wait(inside.threads);
  else if (inside.parallel) // a region of one thread
    countBarrier();
}

} // namespace

extern "C" void ft_shuffle_threads(int64_t seed) {
  if (seed >= 0)
    extras.fetch_or(isShuffled, std::memory_order_relaxed);
  else
    extras.fetch_and(~isShuffled, std::memory_order_relaxed);
  shuffleSeed = uint64_t(seed);
}

extern "C" void ft_keep_threads(bool keep) { keepThreads.store(keep, std::memory_order_relaxed); }

extern "C" bool ft_threads_are_shuffled(void) { return areShuffled(); }

extern "C" void ft_trace_threads(void (*record)(void *, const FtSpan *), void *context) {
  static thread_local ft::rt::ThreadTrace own;
  if ((record != nullptr) != (threadTrace != nullptr))
    extras.fetch_add(record ? 1 : -1, std::memory_order_relaxed);
  own = {record, context};
  threadTrace = record ? &own : nullptr;
}

extern "C" void ft_parallel_for(void (*fn)(void *, int64_t, int64_t), void *env, int64_t n,
                                int64_t grain) {
  if (n <= 0)
    return;
  const void *body = reinterpret_cast<const void *>(fn);
  if (hasExtras() && !inside.parallel) {
    if (areShuffled()) {
      InsideScope scope({true, nullptr, 1});
      return ft::rt::runShuffledRange(fn, env, n, shuffleSeed);
    }
    if (threadTrace) {
      ft::rt::TracedBody traced = {fn, env, threadTrace, threadTrace->regions++};
      return runFor(ft::rt::runTracedPiece, &traced, n, grain, body);
    }
  }
  runFor(fn, env, n, grain, body);
}

extern "C" void ft_parallel_region(void (*fn)(void *, int64_t, int64_t), void *env) {
  const void *body = reinterpret_cast<const void *>(fn);
  if (hasExtras() && !inside.parallel) {
    if (areShuffled()) {
      InsideScope scope({true, nullptr, 1});
      return ft::rt::runShuffledRegion(fn, env, threadsNow(), shuffleSeed);
    }
    if (threadTrace) {
      ft::rt::TracedBody traced = {fn, env, threadTrace, threadTrace->regions++};
      return runRegion(ft::rt::runTracedThread, &traced, body);
    }
  }
  runRegion(fn, env, body);
}

extern "C" void ft_barrier(void) {
  if (hasExtras() && (areShuffled() ? ft::rt::waitShuffled() : ft::rt::waitTraced(waitForTeam)))
    return;
  waitForTeam();
}

extern "C" int64_t ft_barrier_count(void) {
  return barriers.load(std::memory_order_relaxed);
}

extern "C" int64_t ft_num_threads(void) { return threadsNow(); }

extern "C" void ft_set_num_threads(int64_t count) {
  int value = count < 1 ? defaultThreads() : count > maxThreads ? maxThreads : int(count);
  wantedThreads.store(value, std::memory_order_relaxed);
}
