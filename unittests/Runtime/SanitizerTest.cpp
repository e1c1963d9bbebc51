//===- SanitizerTest.cpp - what these tests ask of sanitizers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tests allocate too much and fork with threads on purpose; a sanitizer
// must let both happen. Without sanitizers nothing calls these.
//
//===----------------------------------------------------------------------===//
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char *__tsan_default_options() { return "die_after_fork=0"; }
