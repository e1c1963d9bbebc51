//===- FailingNewTest.cpp - operator new that fails on request ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FailingNew.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

static thread_local int remaining = -1;
static thread_local bool threw = false;
static thread_local int paused = 0;

void FailingNew::after(int k) {
  threw = false;
  remaining = k;
}

bool FailingNew::stop() {
  remaining = -1;
  return threw;
}

void FailingNew::pause(bool on) { paused += on ? 1 : -1; }

void *operator new(size_t size) {
  if (!paused && remaining >= 0 && remaining-- == 0) {
    threw = true;
    throw std::bad_alloc();
  }
  if (void *memory = malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}

#if defined(__GNUC__) && !defined(__clang__)
// g++ inlines one half of the pair and then sees two.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
void operator delete(void *memory) noexcept { free(memory); }
void operator delete(void *memory, size_t) noexcept { free(memory); }

TEST(FailingNew, Fails) {
  // Calls, not new-expressions: those a compiler may leave out.
  FailingNew::after(1);
  void *first = ::operator new(1), *second = nullptr;
  bool caught = false;
  try {
    second = ::operator new(1);
  } catch (const std::bad_alloc &) {
    caught = true;
  }
  EXPECT_TRUE(FailingNew::stop());
  EXPECT_TRUE(caught);
  ::operator delete(first);
  ::operator delete(second);
}
