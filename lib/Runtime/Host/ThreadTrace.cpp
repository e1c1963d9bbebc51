//===- ThreadTrace.cpp - what threads do in a traced call -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ThreadTrace.h"

#include <ctime>

using namespace ft::rt;

static int64_t nowNanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

static thread_local int threadNumber = 0;

namespace {
/// What the thread is in the midst of in a traced region.
struct Running {
  const TracedBody *body = nullptr;
  int64_t begin = 0, tid = 0, barriers = 0;
};
} // namespace

static thread_local Running running;

static void record(const TracedBody &body, FtSpanKind kind, int64_t begin, int64_t first, int64_t last) {
  FtSpan span = {begin, nowNanoseconds(), first, last, body.region, threadNumber, kind};
  body.trace->record(body.trace->context, &span);
}

void ft::rt::setThreadNumber(int number) { threadNumber = number; }

void ft::rt::runTracedPiece(void *env, int64_t first, int64_t last) {
  const TracedBody &body = *static_cast<TracedBody *>(env);
  int64_t begin = nowNanoseconds();
  body.fn(body.env, first, last);
  record(body, FT_SPAN_PIECE, begin, first, last);
}

void ft::rt::runTracedThread(void *env, int64_t tid, int64_t threads) {
  const TracedBody &body = *static_cast<TracedBody *>(env);
  Running before = running;
  running = {&body, nowNanoseconds(), tid, 0};
  body.fn(body.env, tid, threads);
  record(body, FT_SPAN_PART, running.begin, tid, running.barriers);
  running = before;
}

bool ft::rt::waitTraced(void (*wait)()) {
  if (!running.body)
    return false;
  const TracedBody &body = *running.body;
  record(body, FT_SPAN_PART, running.begin, running.tid, running.barriers);
  int64_t begin = nowNanoseconds();
  wait();
  record(body, FT_SPAN_BARRIER, begin, running.tid, running.barriers);
  ++running.barriers;
  running.begin = nowNanoseconds();
  return true;
}
