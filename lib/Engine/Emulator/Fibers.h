//===- Fibers.h - threads that take turns -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fiber is a function with a stack of its own that runs until it gives the
// processor back. Thousands of them stand for the threads of a GPU; they all run
// on the operating system's thread that resumes them, so that no two of them
// ever run at a time.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_ENGINE_EMULATOR_FIBERS_H
#define FT_LIB_ENGINE_EMULATOR_FIBERS_H

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ucontext.h>
#include <vector>

namespace ft::emulate {

/// Stacks of one size, used again by the fibers that come after.
class Stacks {
public:
  static constexpr size_t bytes = 128 << 10;
  Stacks() = default;
  Stacks(const Stacks &) = delete;
  ~Stacks();
  /// Null where the system has no memory.
  char *take();
  void give(char *stack);
  /// Whether a fiber has written to the far end of its stack.
  static bool overflowed(const char *stack);

private:
  std::vector<char *> all, free;
};

class Fiber {
public:
  using Body = void (*)(void *);

  /// Ready to run `body(argument)` on `stack`.
  void start(char *stack, Body body, void *argument);
  /// Runs the fiber until it yields or ends; returns whether it ended.
  bool resume();
  /// Gives the processor back to the code that resumed this fiber, which runs at present.
  void yield();
  char *stack() const { return theStack; }

private:
  static void enter(unsigned high, unsigned low);

  jmp_buf self, caller;
  ucontext_t first;
  char *theStack = nullptr;
  Body body = nullptr;
  void *argument = nullptr;
  bool begun = false;
};

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_FIBERS_H
