//===- host_kernels.cpp - a CPU library as a bundle carries it ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Host/ThreadPool.h"

namespace {
struct Work {
  const float *x;
  float *y;
};
} // namespace

/// Takes pointers to its argument values, as every kernel does, and calls the
/// pool by name, as generated code does.
extern "C" void scale(void **arguments) {
  Work work = {*static_cast<const float **>(arguments[0]), *static_cast<float **>(arguments[1])};
  ft_parallel_for(
      [](void *env, int64_t begin, int64_t end) {
        auto *w = static_cast<Work *>(env);
        for (int64_t i = begin; i < end; ++i)
          w->y[i] = 2 * w->x[i];
      },
      &work, *static_cast<int64_t *>(arguments[2]), 16);
}

/// y[i] is i where it is in range; else it gives up through the error record.
extern "C" void checked(void **arguments) {
  auto *record = *static_cast<unsigned **>(arguments[0]);
  record[1] = 0;
  record[0] = 1;
}
