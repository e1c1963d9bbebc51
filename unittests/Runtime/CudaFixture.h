//===- CudaFixture.h - tests over the mock driver ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each test runs in a process of its own, with a driver that has no device.
//
//===----------------------------------------------------------------------===//
#ifndef FT_UNITTESTS_RUNTIME_CUDAFIXTURE_H
#define FT_UNITTESTS_RUNTIME_CUDAFIXTURE_H

#include "MockCuda.h"
#include "SamplePrograms.h"
#include "ft-c/Runtime.h"

#include <dlfcn.h>
#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ft::test {
using namespace ft::rt;

inline mock::Driver &driver() {
  static auto *get = [] {
    setenv("FT_LIBCUDA", FT_MOCK_CUDA, 1);
    void *library = dlopen(FT_MOCK_CUDA, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<mock::Driver *(*)()>(dlsym(library, "mockCudaDriver"));
  }();
  return *get();
}

inline void reset() {
  driver();
  void *library = dlopen(FT_MOCK_CUDA, RTLD_NOW | RTLD_LOCAL);
  reinterpret_cast<void (*)()>(dlsym(library, "mockCudaReset"))();
  driver().kernels["scale"] = {{8, 8, 8}, [](void **p, const CUlaunchConfig &c) {
                                 auto *x = *static_cast<float **>(p[0]);
                                 auto *y = *static_cast<float **>(p[1]);
                                 int64_t n = *static_cast<int64_t *>(p[2]);
                                 EXPECT_GE(int64_t(c.gridDimX) * c.blockDimX, n);
                                 for (int64_t i = 0; i < n; ++i)
                                   y[i] = 2 * x[i];
                               }};
  driver().kernels["add"] = {{8, 8}, [](void **p, const CUlaunchConfig &) {
                               **static_cast<int64_t **>(p[0]) += *static_cast<int64_t *>(p[1]);
                             }};
}

/// A tensor over host memory that pretends to be the device's.
template <class T>
struct Array {
  std::vector<int64_t> shape, strides;
  std::vector<T, AlignedAllocator<T, 256>> data;
  FtTensor tensor{};

  explicit Array(std::vector<int64_t> s, uint8_t code, int32_t device = FT_CUDA)
      : shape(std::move(s)) {
    size_t count = 1;
    for (int64_t extent : shape)
      count *= size_t(extent);
    data.resize(count);
    tensor.data = data.data();
    tensor.device = {device, 0};
    tensor.ndim = int32_t(shape.size());
    tensor.dtype = {code, uint8_t(8 * sizeof(T)), 1};
    tensor.shape = shape.data();
  }
};

struct Module {
  explicit Module(const Bundle &bundle, int32_t type = FT_CUDA) {
    std::string bytes = bundle.serialize();
    FtLoadOptions options = {sizeof(options), type, 0};
    status = ft_module_load_bytes(bytes.data(), bytes.size(), &options, &module);
    if (status == FT_OK)
      status = ft_module_entry(module, nullptr, &entry);
  }
  ~Module() { ft_module_release(module); }
  FtStatus call(std::vector<const FtTensor *> tensors, uint64_t flags = 0, void *stream = nullptr) {
    FtCallOptions options = {sizeof(options), stream, nullptr, 0, flags};
    return ft_call(entry, tensors.data(), int32_t(tensors.size()), &options);
  }
  FtModule *module = nullptr;
  FtEntry *entry = nullptr;
  FtStatus status;
};

inline bool says(const std::string &text) {
  bool found = std::string(ft_last_error()).find(text) != std::string::npos;
  if (!found)
    ADD_FAILURE() << "expected \"" << text << "\" in: " << ft_last_error();
  return found;
}

/// Calls `sample::everything()` on n rows, each of whose kinds of steps leaves a trace in the result.
inline void checkEverything(Module &m, int64_t n, uint64_t flags) {
  Array<int64_t> x({n, 2}, 0), y({n, 2}, 0);
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] = int64_t(1000 * i);
  ASSERT_EQ(m.call({&x.tensor, &y.tensor}, flags), FT_OK) << ft_last_error();
  for (int64_t i = 0; i < 2 * n; ++i) {
    int64_t expected = 1000 * i;
    if (i % 2 == 0)
      expected += i / 2;
    if (i == 0)
      expected += 50; // the constant 5, counted down, 10 a turn
    if (i == 1)
      expected += n > 2 ? 100 : 200;
    EXPECT_EQ(y.data[size_t(i)], expected) << i << " of " << n;
  }
}

/// Runs a test's body in a child that has not used the mock yet.
template <class F>
int inChild(F body) {
  pid_t child = fork();
  if (child == 0) {
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

class Cuda : public testing::Test {
protected:
  // Each test has its own process: devices and drivers are the process's.
  void run(const std::function<void()> &body) {
    EXPECT_EQ(inChild([&] {
                reset();
                body();
              }),
              0);
  }
};

} // namespace ft::test

#endif // FT_UNITTESTS_RUNTIME_CUDAFIXTURE_H
