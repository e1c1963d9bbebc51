//===- MockCuda.h - a CUDA driver without a device --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library with the driver's functions for tests: device memory is host memory,
// kernels are functions that a test registers, and any call can be made to fail.
//
//===----------------------------------------------------------------------===//
#ifndef FT_UNITTESTS_RUNTIME_MOCKCUDA_H
#define FT_UNITTESTS_RUNTIME_MOCKCUDA_H

#include "ft/Runtime/Cuda/CudaApi.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mock {

struct Kernel {
  std::vector<size_t> parameterSizes;
  std::function<void(void **parameters, const ft::rt::CUlaunchConfig &)> run;
};

struct Driver {
  // What the machine is.
  int version = 12040, devices = 1, major = 9, minor = 0, multiprocessors = 132;
  int priority = 0; // of streams other than the default one
  int blocksPerMultiprocessor = 2, clusters = 60, maxShared = 232448, cooperative = 1;
  bool refuseCubins = true;
  std::map<std::string, Kernel> kernels;

  // Which call fails: the `failAt`-th (from 0) of `failCall`; of any call if that
  // is "*". `failAlways`: that one and all after it.
  std::string failCall;
  int failAt = -1, failResult = 0;
  bool failAlways = false;

  // Called at the start and end of each call: the mock's own allocations are not
  // to fail.
  void (*hook)(bool inside) = nullptr;

  bool quiet = false; // no books: for timing

  // What happened.
  std::vector<std::string> log;
  std::vector<std::string> encoded; // tensor maps, as they were asked for
  std::map<std::string, int> calls;
  int total = 0;
  std::map<uint64_t, size_t> memory; // live allocations
  int graphs = 0, modules = 0, streams = 0, hostAllocations = 0;
  int contextDepth = 0;
  unsigned lastGrid = 0; // along x
  unsigned lastShared = 0;
};

} // namespace mock

extern "C" mock::Driver *mockCudaDriver();
/// Back to the defaults above; live allocations are kept in the books.
extern "C" void mockCudaReset();

#endif // FT_UNITTESTS_RUNTIME_MOCKCUDA_H
