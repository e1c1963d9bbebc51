//===- Fibers.cpp - threads that take turns -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A context is made once, by makecontext; after that fibers are changed by
// setjmp and longjmp, which unlike swapcontext make no system call.
//
//===----------------------------------------------------------------------===//
// The checked longjmp takes a jump to another stack for an error.
#undef _FORTIFY_SOURCE
#include "Fibers.h"

#include <cstring>
#include <sys/mman.h>

using namespace ft::emulate;

static constexpr uint64_t canary = 0x57ac4e4d57ac4e4d;

Stacks::~Stacks() {
  for (char *stack : all)
    munmap(stack, bytes);
}

char *Stacks::take() {
  if (free.empty()) {
    void *fresh = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
      return nullptr;
    all.push_back(static_cast<char *>(fresh));
    free.push_back(all.back());
  }
  char *stack = free.back();
  free.pop_back();
  memcpy(stack, &canary, sizeof(canary));
  return stack;
}

void Stacks::give(char *stack) { free.push_back(stack); }

bool Stacks::overflowed(const char *stack) { return memcmp(stack, &canary, sizeof(canary)) != 0; }

void Fiber::start(char *stack, Body newBody, void *newArgument) {
  theStack = stack;
  body = newBody;
  argument = newArgument;
  begun = false;
}

void Fiber::enter(unsigned high, unsigned low) {
  auto *fiber = reinterpret_cast<Fiber *>(uintptr_t(high) << 32 | low);
  fiber->body(fiber->argument);
  fiber->body = nullptr;
  _longjmp(fiber->caller, 1);
}

bool Fiber::resume() {
  if (_setjmp(caller) == 0) {
    if (begun)
      _longjmp(self, 1);
    begun = true;
    getcontext(&first);
    first.uc_stack.ss_sp = theStack;
    first.uc_stack.ss_size = Stacks::bytes;
    first.uc_link = nullptr;
    auto address = reinterpret_cast<uintptr_t>(this);
    makecontext(&first, reinterpret_cast<void (*)()>(&Fiber::enter), 2, unsigned(address >> 32), unsigned(address));
    setcontext(&first);
  }
  return body == nullptr;
}

void Fiber::yield() {
  if (_setjmp(self) == 0)
    _longjmp(caller, 1);
}
