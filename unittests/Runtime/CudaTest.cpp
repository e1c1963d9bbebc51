//===- CudaTest.cpp - the GPU runtime over the mock driver ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FailingNew.h"
#include "MockCuda.h"
#include "SamplePrograms.h"
#include "ft-c/Runtime.h"
#include "ft/Runtime/CudaDevice.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace ft::rt;

namespace {

mock::Driver &driver() {
  static auto *get = [] {
    setenv("FT_LIBCUDA", FT_MOCK_CUDA, 1);
    void *library = dlopen(FT_MOCK_CUDA, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<mock::Driver *(*)()>(dlsym(library, "mockCudaDriver"));
  }();
  return *get();
}

void reset() {
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

bool says(const std::string &text) {
  bool found = std::string(ft_last_error()).find(text) != std::string::npos;
  if (!found)
    ADD_FAILURE() << "expected \"" << text << "\" in: " << ft_last_error();
  return found;
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

} // namespace

TEST_F(Cuda, NoDriver) {
  run([] {
    setenv("FT_LIBCUDA", "/no/such/libcuda.so", 1);
    int32_t count = -1;
    EXPECT_EQ(ft_device_count(FT_CUDA, &count), FT_NO_DRIVER);
    says("no CUDA driver: /no/such/libcuda.so");
    EXPECT_EQ(Module(sample::scale("sm_90a")).status, FT_NO_DRIVER);
    // And it is not for ever.
    setenv("FT_LIBCUDA", FT_MOCK_CUDA, 1);
    EXPECT_EQ(ft_device_count(FT_CUDA, &count), FT_OK);
    EXPECT_EQ(count, 1);
  });
}

TEST_F(Cuda, NoDevice) {
  run([] {
    driver().devices = 0;
    EXPECT_EQ(Module(sample::scale("sm_90a")).status, FT_NO_DEVICE);
    says("CUDA_ERROR_NO_DEVICE (100)");
  });
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    std::string bytes = bundle.serialize();
    FtLoadOptions options = {sizeof(options), FT_CUDA, 3};
    FtModule *module = nullptr;
    EXPECT_EQ(ft_module_load_bytes(bytes.data(), bytes.size(), &options, &module), FT_NO_DEVICE);
    says("no CUDA device 3: there is 1");
    EXPECT_EQ(module, nullptr);
  });
}

TEST_F(Cuda, OldDriver) {
  run([] {
    driver().version = 11040;
    EXPECT_EQ(Module(sample::scale("sm_90a")).status, FT_NO_DRIVER);
    says("too old: expected at least 12.0, found 11.4");
  });
}

TEST_F(Cuda, ADriverThatLacksAFunction) {
  run([] {
    setenv("FT_LIBCUDA", "libm.so.6", 1);
    int32_t count;
    EXPECT_EQ(ft_device_count(FT_CUDA, &count), FT_NO_DRIVER);
    says("libm.so.6 has no cuDriverGetVersion");
  });
}

TEST_F(Cuda, WrongArchitecture) {
  run([] {
    driver().major = 8;
    EXPECT_EQ(Module(sample::scale("sm_90a")).status, FT_NO_DEVICE);
    says("entry \"scale\" is compiled for sm_90a; device 0 (Mock GPU) is sm_80");
  });
  EXPECT_GT(fitness("sm_90a", 9, 0), fitness("sm_90", 9, 0));
  EXPECT_GT(fitness("sm_90", 9, 0), fitness("sm_80", 9, 0));
  EXPECT_EQ(fitness("sm_90a", 10, 0), 0);
  EXPECT_GT(fitness("sm_80", 12, 0), 0);
  EXPECT_EQ(fitness("sm_80", 7, 5), 0);
  for (const char *bad : {"", "sm_", "sm_x", "sm_a", "x86-64", "sm_90b", "sm_9"})
    EXPECT_EQ(fitness(bad, 9, 0), 0) << bad;
}

TEST_F(Cuda, TheBestTargetIsTakenAndItsRefusalFallsBack) {
  auto both = [] {
    Bundle bundle = sample::scale("sm_90a"), older = sample::scale("sm_80");
    bundle.sections.push_back(older.sections[0]);
    older.entries[0].plans[0].modules = {1};
    bundle.entries[0].plans.push_back(older.entries[0].plans[0]);
    return bundle;
  };
  FtEntryInfo info = {sizeof(info), nullptr, 0, 0, nullptr, nullptr};
  run([&] {
    Module m(both());
    ASSERT_EQ(m.status, FT_OK) << ft_last_error();
    ft_entry_info(m.entry, &info);
    EXPECT_STREQ(info.target, "sm_90a");
  });
  run([&] {
    driver().failCall = "cuModuleLoadDataEx";
    driver().failAt = 0;
    driver().failResult = cu::unsupportedPtxVersion;
    Module m(both());
    ASSERT_EQ(m.status, FT_OK) << ft_last_error();
    ft_entry_info(m.entry, &info);
    EXPECT_STREQ(info.target, "sm_80");
  });
}

TEST_F(Cuda, PtxThatTheDriverRefuses) {
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    bundle.sections[0].bytes = "garbage";
    EXPECT_EQ(Module(bundle).status, FT_UNSUPPORTED_FORMAT);
    says("CUDA_ERROR_INVALID_PTX (218)");
    says("ptxas fatal : no entry in the text"); // the driver's log
    EXPECT_EQ(driver().modules, 0);
  });
  run([] {
    driver().failCall = "cuModuleLoadDataEx";
    driver().failAt = 0;
    driver().failResult = cu::unsupportedPtxVersion;
    EXPECT_EQ(Module(sample::scale("sm_90a")).status, FT_UNSUPPORTED_FORMAT);
    says("the driver is CUDA 12.4: update it, or compile for a lower PTX version");
  });
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    bundle.sections[0].bytes = ".entry other(";
    EXPECT_EQ(Module(bundle).status, FT_NOT_FOUND);
    says("cuModuleGetFunction(scale)");
    EXPECT_EQ(driver().modules, 0);
  });
}

TEST_F(Cuda, Runs) {
  run([] {
    Module m(sample::scale("sm_90a"));
    ASSERT_EQ(m.status, FT_OK) << ft_last_error();
    Array<float> x({37, 4}, 2), y({37, 4}, 2);
    for (size_t i = 0; i < x.data.size(); ++i)
      x.data[i] = float(i);
    const FtTensor *inputs[] = {&x.tensor, nullptr};
    int64_t shape[2];
    int32_t rank = 2;
    ASSERT_EQ(ft_output_shape(m.entry, inputs, 2, 1, shape, &rank), FT_OK) << ft_last_error();
    EXPECT_EQ(rank, 2);
    EXPECT_EQ(shape[0], 37);
    EXPECT_EQ(shape[1], 4);
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(y.data[147], 294);
    EXPECT_EQ(ft_synchronize(m.module, nullptr), FT_OK);
    EXPECT_EQ(driver().contextDepth, 0); // what was pushed was popped
  });
}

static void checkEverything(Module &m, int64_t n, uint64_t flags) {
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

TEST_F(Cuda, RunsEveryKindOfStep) {
  run([] {
    int launched = 0;
    driver().kernels["tma"] = {{128, 8, 8, 4}, [&](void **p, const CUlaunchConfig &) {
                                 auto *map = static_cast<CUtensorMap *>(p[0]);
                                 EXPECT_EQ(map->opaque[1], uint64_t(5) << 32 | 2);
                                 EXPECT_EQ(map->opaque[2], uint64_t(*static_cast<int *>(p[3])));
                                 auto *counter = *static_cast<int64_t **>(p[1]);
                                 EXPECT_EQ(*counter, launched); // zero at first, then kept
                                 ++*counter;
                                 ++launched;
                               }};
    Module m(sample::everything());
    ASSERT_EQ(m.status, FT_OK) << ft_last_error();
    for (int64_t n : {3, 1, 5, 5})
      checkEverything(m, n, 0);
    EXPECT_EQ(launched, 4);
    EXPECT_EQ(driver().log.back(), "cuCtxPopCurrent");
    EXPECT_NE(std::find(driver().log.begin(), driver().log.end(),
                        "cuLaunchKernelEx tma cluster=2 cooperative"),
              driver().log.end());
    ft_module_release(std::exchange(m.module, nullptr));
    EXPECT_TRUE(driver().memory.empty());
    EXPECT_EQ(driver().modules + driver().hostAllocations + driver().streams, 0);
  });
}

TEST_F(Cuda, StridedInputs) {
  run([] {
    Module m(sample::everything());
    ASSERT_EQ(m.status, FT_OK);
    Array<int64_t> x({6, 2}, 0), y({3, 2}, 0);
    for (size_t i = 0; i < 12; ++i)
      x.data[i] = int64_t(i);
    x.shape[0] = 3;
    x.strides = {4, 1}; // every second row
    x.tensor.strides = x.strides.data();
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(y.data[3], 5);
    EXPECT_EQ(y.data[5], 9);
    x.strides = {4, 2};
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_INVALID_ARGUMENT);
    says("dimension 1 of 3x2xi64 must be dense: expected stride 1, found 2");
  });
}

TEST_F(Cuda, BadArgumentsAreNamed) {
  run([] {
    Module m(sample::scale("sm_90a"));
    ASSERT_EQ(m.status, FT_OK);
    Array<float> x({3, 4}, 2), y({3, 4}, 2);
    Array<double> d({3, 4}, 2);
    Array<float> flat({12}, 2), longer({4, 4}, 2), wide({3, 5}, 2), none({0, 4}, 2);
    auto refused = [&](std::vector<const FtTensor *> tensors, const char *why) {
      size_t before = driver().log.size();
      EXPECT_EQ(m.call(tensors), FT_INVALID_ARGUMENT) << why;
      says(why);
      for (; before < driver().log.size(); ++before)
        EXPECT_EQ(driver().log[before].find("cuLaunch"), std::string::npos);
    };
    refused({&x.tensor}, "expected 2 arguments, found 1");
    refused({&x.tensor, nullptr}, "argument 1 \"y\": is NULL");
    refused({&x.tensor, &d.tensor},
            "argument 1 \"y\": wrong element type: expected Nx4xf32, found 3x4xf64");
    refused({&flat.tensor, &y.tensor}, "wrong rank: expected Nx4xf32, found 12xf32");
    refused({&x.tensor, &longer.tensor},
            "wrong extent of dimension 0: expected Nx4xf32, found 4x4xf32, found N = 3");
    refused({&wide.tensor, &y.tensor}, "argument 0 \"x\": wrong extent of dimension 1");
    refused({&none.tensor, &none.tensor}, "needs N >= 1, found N = 0");
    refused({&x.tensor, &x.tensor}, "argument 1 \"y\": overlaps argument 0 \"x\" in memory");
    FtTensor t = y.tensor;
    t.data = x.data.data() + 4;
    t.data = x.data.data();
    t.byte_offset = 16;
    refused({&x.tensor, &t}, "overlaps");
    t = y.tensor;
    t.device.type = FT_CPU;
    refused({&x.tensor, &t}, "wrong device: expected CUDA device 0, found the CPU");
    t = y.tensor;
    t.device.id = 1;
    refused({&x.tensor, &t}, "found CUDA device 1");
    t = y.tensor;
    t.byte_offset = 2;
    refused({&x.tensor, &t}, "must be aligned to 4 bytes");
    t = y.tensor;
    t.data = nullptr;
    refused({&x.tensor, &t}, "has no data (NULL)");
    t = y.tensor;
    t.ndim = -1;
    refused({&x.tensor, &t}, "a rank that is not between");
    t.ndim = 1000;
    refused({&x.tensor, &t}, "a rank that is not between");
    t = y.tensor;
    t.shape = nullptr;
    refused({&x.tensor, &t}, "has no shape");
    t = y.tensor;
    t.dtype.lanes = 4;
    refused({&x.tensor, &t}, "wrong element type");
    int64_t huge[2] = {INT64_MAX, 4}, negative[2] = {-3, 4};
    t = y.tensor;
    t.shape = huge;
    refused({&x.tensor, &t}, "more elements than a 64-bit integer counts");
    t.shape = negative;
    refused({&x.tensor, &t}, "a negative extent");
    // And the next call works.
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
  });
}

TEST_F(Cuda, WritebackMayShareMemory) {
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    bundle.entries[0].arguments[1].writeback = 0;
    Module m(bundle);
    Array<float> x({4, 4}, 2);
    x.data[5] = 21;
    EXPECT_EQ(m.call({&x.tensor, &x.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(x.data[5], 42);
    // The same memory, not a part of it.
    FtTensor t = x.tensor;
    int64_t shape[2] = {3, 4};
    t.shape = shape;
    FtTensor u = t;
    u.byte_offset = 16;
    EXPECT_EQ(m.call({&t, &u}), FT_INVALID_ARGUMENT);
  });
}

TEST_F(Cuda, GridsThatAreNotResidentAreRefused) {
  run([] {
    driver().clusters = 0;
    Module m(sample::everything());
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_NOT_RESIDENT);
    says("kernel tma, grid 2x1x1");
    says("a cooperative grid of 2 blocks, but device Mock GPU holds 0 at once");
    driver().clusters = 1;
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_NOT_RESIDENT); // the answer is kept
  });
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    bundle.entries[0].plans[0].steps[0].launched.cooperative = true;
    Module m(bundle);
    int64_t most = 2 * 132 * 128 / 4;
    Array<float> x({most, 4}, 2), y({most, 4}, 2);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    Array<float> z({most + 1, 4}, 2), w({most + 1, 4}, 2);
    EXPECT_EQ(m.call({&z.tensor, &w.tensor}), FT_NOT_RESIDENT);
    EXPECT_EQ(driver().calls["cuOccupancyMaxActiveBlocksPerMultiprocessor"], 1);
  });
}

TEST_F(Cuda, GridsThatMayShrinkDo) {
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    Launch &launch = bundle.entries[0].plans[0].steps[0].launched;
    launch.cooperative = launch.shrinks = true;
    driver().kernels.clear();
    Module m(bundle);
    int64_t most = 2 * 132 * 128 / 4;
    Array<float> x({most + 1, 4}, 2), y({most + 1, 4}, 2);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(driver().lastGrid, 264u);
    Array<float> a({3, 4}, 2), b({3, 4}, 2);
    EXPECT_EQ(m.call({&a.tensor, &b.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(driver().lastGrid, 1u); // what fits stays as it is
  });
  run([] { // not one block fits
    driver().blocksPerMultiprocessor = 0;
    Bundle bundle = sample::scale("sm_90a");
    Launch &launch = bundle.entries[0].plans[0].steps[0].launched;
    launch.cooperative = launch.shrinks = true;
    Module m(bundle);
    Array<float> x({3, 4}, 2), y({3, 4}, 2);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_NOT_RESIDENT);
    driver().blocksPerMultiprocessor = 2;
  });
  run([] {
    driver().cooperative = 0;
    Bundle bundle = sample::scale("sm_90a");
    Launch &launch = bundle.entries[0].plans[0].steps[0].launched;
    launch.cooperative = launch.shrinks = true;
    Module m(bundle);
    Array<float> x({3, 4}, 2), y({3, 4}, 2);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_NOT_RESIDENT);
    says("has no cooperative launches");
  });
}

TEST_F(Cuda, BarriersThatNeverOpenAreReported) {
  run([] {
    driver().kernels["tma"] = {{128, 8, 8, 4}, [](void **p, const CUlaunchConfig &) {
                                 auto *record = *static_cast<uint32_t **>(p[2]);
                                 record[1] = 1, record[0] = 2;
                               }};
    Module m(sample::everything());
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(ft_synchronize(m.module, nullptr), FT_INVALID_ARGUMENT);
    says("kernel tma: a wait never ended");
  });
}

TEST_F(Cuda, SharedMemoryIsAskedForOnce) {
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    Entry &entry = bundle.entries[0];
    entry.plans[0].steps[0].launched.sharedBytes = entry.symbol(0) * 1024;
    Module m(bundle);
    Array<float> x({100, 4}, 2), y({100, 4}, 2), large({300, 4}, 2), out({300, 4}, 2);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
    EXPECT_EQ(driver().calls["cuFuncSetAttribute"], 1);
    EXPECT_EQ(m.call({&large.tensor, &out.tensor}), FT_INVALID_ARGUMENT);
    says("307200 bytes of shared memory: device Mock GPU has 232448 for a block");
  });
}

TEST_F(Cuda, StickyErrorsAreSaidOnceWithTheirReason) {
  run([] {
    Module m(sample::scale("sm_90a"));
    Array<float> x({3, 4}, 2), y({3, 4}, 2);
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
    driver().failCall = "cuStreamSynchronize";
    driver().failAt = driver().calls["cuStreamSynchronize"];
    driver().failResult = cu::illegalAddress;
    EXPECT_EQ(ft_synchronize(m.module, nullptr), FT_CONTEXT_LOST);
    says("CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    says("scale"); // the kernel
    int launches = driver().calls["cuLaunchKernelEx"];
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_CONTEXT_LOST);
    says("device 0 is lost to this process after cuStreamSynchronize");
    EXPECT_EQ(driver().calls["cuLaunchKernelEx"], launches); // no false hope
    EXPECT_EQ(ft_synchronize(m.module, nullptr), FT_CONTEXT_LOST);
    EXPECT_EQ(Module(sample::scale("sm_90a")).status, FT_CONTEXT_LOST);
  });
}

TEST_F(Cuda, FtSyncNamesTheKernel) {
  setenv("FT_SYNC", "1", 1);
  run([] {
    Module m(sample::scale("sm_90a"));
    Array<float> x({3, 4}, 2), y({3, 4}, 2);
    driver().failCall = "cuStreamSynchronize";
    driver().failAt = 0;
    driver().failResult = cu::launchFailed;
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_CONTEXT_LOST);
    says("after kernel scale");
  });
  unsetenv("FT_SYNC");
}

TEST_F(Cuda, KernelsReportThroughTheErrorRecord) {
  run([] {
    driver().kernels["tma"] = {{128, 8, 8, 4}, [](void **p, const CUlaunchConfig &) {
                                 auto *record = *static_cast<uint32_t **>(p[2]);
                                 record[1] = 1;                 // the kernel
                                 record[2] = 77, record[3] = 0; // a value
                                 record[0] = 1;                 // out of range
                               }};
    Module m(sample::everything());
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(ft_synchronize(m.module, nullptr), FT_INVALID_ARGUMENT);
    says("kernel tma: an index was out of range (77,");
    EXPECT_EQ(ft_synchronize(m.module, nullptr), FT_OK); // said once
  });
}

TEST_F(Cuda, DeviceUseAfterFork) {
  run([] {
    Module m(sample::scale("sm_90a"));
    Array<float> x({3, 4}, 2), y({3, 4}, 2);
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
    EXPECT_EQ(inChild([&] {
                EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_FORKED);
                says("CUDA does not survive a fork");
              }),
              0);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
  });
}

TEST_F(Cuda, GraphReplay) {
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    bundle.entries[0].plans[0].workspaceBytes = 1024;
    Module m(bundle);
    Array<float> x({3, 4}, 2), y({3, 4}, 2), z({3, 4}, 2);
    for (int round = 0; round < 3; ++round) {
      x.data[7] = float(round);
      ASSERT_EQ(m.call({&x.tensor, &y.tensor}, FT_CALL_GRAPH), FT_OK) << ft_last_error();
      EXPECT_EQ(y.data[7], float(2 * round));
    }
    EXPECT_EQ(driver().calls["cuGraphLaunch"], 3);
    EXPECT_EQ(driver().calls["cuGraphInstantiate"], 1);
    ASSERT_EQ(m.call({&x.tensor, &z.tensor}, FT_CALL_GRAPH), FT_OK); // other memory
    EXPECT_EQ(driver().calls["cuGraphInstantiate"], 2);
    for (int64_t n = 4; n < 30; ++n) { // more than are kept
      Array<float> a({n, 4}, 2), b({n, 4}, 2);
      ASSERT_EQ(m.call({&a.tensor, &b.tensor}, FT_CALL_GRAPH), FT_OK);
    }
    EXPECT_LE(driver().graphs, 8);
    ft_module_release(std::exchange(m.module, nullptr));
    EXPECT_EQ(driver().graphs + driver().streams, 0);
    EXPECT_TRUE(driver().memory.empty());
  });
  run([] { // a loop that the host ends cannot be a graph: it runs all the same
    Module m(sample::everything());
    checkEverything(m, 4, FT_CALL_GRAPH);
    EXPECT_EQ(driver().calls["cuGraphLaunch"], 0);
  });
}

/// Two launches of `add`, the second cooperative: y[0][0] += N, y[0][1] += x's address / 256.
static Bundle chain() {
  Bundle bundle = sample::everything();
  Plan &p = bundle.entries[0].plans[0];
  Step first, second;
  first.launched.arguments = {sample::pointer(1), sample::integer(bundle.entries[0].symbol(0))};
  second.launched.arguments = {sample::pointer(1, 8), sample::pointer(0)};
  second.launched.cooperative = true;
  p.steps = {first, second};
  p.workspaceBytes = 0;
  return bundle;
}

TEST_F(Cuda, LaunchesAloneGoAsAGraphFromTheSecondCallOn) {
  run([] {
    Module m(chain());
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0), z({5, 2}, 0), v({5, 2}, 0);
    auto address = [](Array<int64_t> &a) { return reinterpret_cast<int64_t>(a.data.data()); };
    auto count = [](const char *name) { return driver().calls[name]; };
    auto lastGraph = [] {
      auto it = std::find_if(driver().log.rbegin(), driver().log.rend(),
                             [](const std::string &line) { return line.starts_with("cuGraphLaunch"); });
      return it == driver().log.rend() ? std::string() : *it;
    };
    for (int round = 1; round <= 4; ++round) {
      ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
      EXPECT_EQ(y.data[0], 3 * round);
      EXPECT_EQ(y.data[1], address(x) * round);
      EXPECT_EQ(count("cuLaunchKernelEx"), 2); // of the first call
      EXPECT_EQ(count("cuGraphLaunch"), round - 1);
      EXPECT_EQ(count("cuGraphInstantiate"), round > 1);
      EXPECT_EQ(count("cuGraphExecKernelNodeSetParams"), 0); // nothing changes
    }
    EXPECT_EQ(lastGraph(), "cuGraphLaunch add add cooperative");
    // Other memory and another length: only what differs is told.
    ASSERT_EQ(m.call({&z.tensor, &v.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(v.data[0], 5);
    EXPECT_EQ(v.data[1], address(z));
    EXPECT_EQ(count("cuGraphExecKernelNodeSetParams"), 2);
    Array<int64_t> w({5, 2}, 0);
    ASSERT_EQ(m.call({&w.tensor, &v.tensor}), FT_OK); // the second launch alone reads it
    EXPECT_EQ(v.data[0], 10);
    EXPECT_EQ(v.data[1], address(z) + address(w));
    EXPECT_EQ(count("cuGraphExecKernelNodeSetParams"), 3);
    ASSERT_EQ(m.call({&w.tensor, &v.tensor}, FT_CALL_DIRECT), FT_OK);
    EXPECT_EQ(v.data[0], 15);
    EXPECT_EQ(count("cuLaunchKernelEx"), 4);
    EXPECT_EQ(count("cuGraphInstantiate"), 1);
    // Each stream has its own, with its priority; not more than are kept.
    const CudaApi *api = nullptr;
    ASSERT_TRUE(CudaApi::get(api).ok());
    driver().priority = -3;
    for (int i = 0; i < 20; ++i) {
      CUstream stream = nullptr;
      api->streamCreate(&stream, 0);
      for (int round = 0; round < 2; ++round)
        ASSERT_EQ(m.call({&w.tensor, &v.tensor}, 0, stream), FT_OK);
      EXPECT_EQ(lastGraph(), "cuGraphLaunch add priority add cooperative priority");
    }
    EXPECT_EQ(v.data[0], 15 + 40 * 5);
    EXPECT_LE(driver().graphs, 32); // a graph and its executable form
    ft_module_release(std::exchange(m.module, nullptr));
    EXPECT_EQ(driver().graphs, 0);
  });
  run([] { // a driver that makes no graph, or loses one, costs nothing but time
    for (const char *call : {"cuGraphCreate", "cuGraphAddKernelNode", "cuGraphKernelNodeSetAttribute",
                             "cuGraphInstantiate", "cuStreamGetPriority", "cuGraphLaunch",
                             "cuGraphExecKernelNodeSetParams"}) {
      Module m(chain());
      Array<int64_t> x({3, 2}, 0), y({3, 2}, 0), z({3, 2}, 0);
      driver().failCall = call;
      driver().failAt = driver().calls[call];
      driver().failResult = cu::unknown;
      for (int round = 1; round <= 4; ++round) {
        ASSERT_EQ(m.call({&(round % 2 ? x : z).tensor, &y.tensor}), FT_OK) << ft_last_error();
        EXPECT_EQ(y.data[0], 3 * round) << call;
      }
    }
    EXPECT_EQ(driver().graphs, 0);
  });
}

TEST_F(Cuda, CallersMayCapture) {
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    bundle.entries[0].plans[0].workspaceBytes = 1024;
    Module m(bundle), loops(sample::everything());
    const CudaApi *api = nullptr;
    ASSERT_TRUE(CudaApi::get(api).ok());
    CUstream stream = nullptr;
    api->streamCreate(&stream, 0);
    Array<float> x({3, 4}, 2), y({3, 4}, 2);
    x.data[0] = 1;
    size_t before = driver().memory.size();
    api->streamBeginCapture(stream, 0);
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}, 0, stream), FT_OK) << ft_last_error();
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}, FT_CALL_GRAPH, stream), FT_OK) << ft_last_error();
    EXPECT_EQ(driver().memory.size(), before + 2); // each captured call has its own workspace
    EXPECT_EQ(y.data[0], 0);                       // nothing ran yet
    Array<int64_t> a({3, 2}, 0), b({3, 2}, 0);
    EXPECT_EQ(loops.call({&a.tensor, &b.tensor}, 0, stream), FT_INVALID_ARGUMENT);
    says("cannot be captured");
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    api->streamEndCapture(stream, &graph);
    api->graphInstantiate(&exec, graph, 0);
    x.data[0] = 5;
    api->graphLaunch(exec, stream);
    EXPECT_EQ(y.data[0], 10);
  });
}

TEST_F(Cuda, WorkspaceOfTheCaller) {
  run([] {
    Bundle bundle = sample::everything();
    Module m(bundle);
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0);
    const FtTensor *tensors[] = {&x.tensor, &y.tensor};
    uint64_t bytes = 0;
    ASSERT_EQ(ft_workspace_bytes(m.entry, tensors, 2, &bytes), FT_OK);
    EXPECT_EQ(bytes, 280u);
    alignas(256) char memory[512];
    FtCallOptions options = {sizeof(options), nullptr, memory, bytes - 1, 0};
    EXPECT_EQ(ft_call(m.entry, tensors, 2, &options), FT_INVALID_ARGUMENT);
    says("the workspace has 279 bytes, needed are 280");
    options.workspace_bytes = bytes;
    EXPECT_EQ(ft_call(m.entry, tensors, 2, &options), FT_OK) << ft_last_error();
    options.workspace = memory + 8;
    EXPECT_EQ(ft_call(m.entry, tensors, 2, &options), FT_INVALID_ARGUMENT);
    options.workspace = memory;
    options.flags = 1024;
    EXPECT_EQ(ft_call(m.entry, tensors, 2, &options), FT_INVALID_ARGUMENT);
    options.struct_size = 3;
    EXPECT_EQ(ft_call(m.entry, tensors, 2, &options), FT_INVALID_ARGUMENT);
    options.struct_size = offsetof(FtCallOptions, flags); // an older caller
    EXPECT_EQ(ft_call(m.entry, tensors, 2, &options), FT_OK);
  });
}

TEST_F(Cuda, ManyStreams) {
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    bundle.entries[0].plans[0].workspaceBytes = 1024;
    Module m(bundle);
    Array<float> x({3, 4}, 2), y({3, 4}, 2);
    const CudaApi *api = nullptr;
    ASSERT_TRUE(CudaApi::get(api).ok());
    for (int i = 0; i < 100; ++i) {
      CUstream stream = nullptr;
      api->streamCreate(&stream, 0);
      ASSERT_EQ(m.call({&x.tensor, &y.tensor}, 0, stream), FT_OK);
    }
    EXPECT_LE(driver().memory.size(), 32u);
  });
}

TEST_F(Cuda, VariantsCanBeChosen) {
  run([] {
    Bundle bundle = sample::scale("sm_90a");
    Plan other = bundle.entries[0].plans[0];
    other.variant = "wide";
    other.steps[0].launched.block[0] = 256;
    bundle.entries[0].plans.push_back(other);
    for (bool chosen : {false, true}) {
      if (chosen)
        bundle.entries[0].chosen.emplace_back("sm_90a", "wide");
      Module m(bundle);
      FtEntryInfo info = {sizeof(info), nullptr, 0, 0, nullptr, nullptr};
      ASSERT_EQ(ft_entry_info(m.entry, &info), FT_OK);
      EXPECT_EQ(info.num_variants, 2);
      EXPECT_STREQ(info.variant, chosen ? "wide" : "default");
      EXPECT_STREQ(ft_entry_variant(m.entry, 1), "wide");
      EXPECT_EQ(ft_entry_variant(m.entry, 2), nullptr);
      EXPECT_EQ(ft_entry_select_variant(m.entry, "none"), FT_NOT_FOUND);
      EXPECT_EQ(ft_entry_select_variant(m.entry, "wide"), FT_OK);
      ft_entry_info(m.entry, &info);
      EXPECT_STREQ(info.variant, "wide");
    }
  });
}

/// One life of a module: what fails must be said, and nothing may be left.
static FtStatus wholeLife(const Bundle &bundle, bool graph) {
  Module m(bundle);
  FtStatus status = m.status;
  if (status != FT_OK)
    return status;
  bool isScale = bundle.entries[0].name == "scale";
  if (isScale) {
    Array<float> x({3, 4}, 2), y({3, 4}, 2), z({3, 4}, 2);
    status = m.call({&x.tensor, &y.tensor}, graph ? FT_CALL_GRAPH : 0);
    for (int i = 0; i < 2 && !graph && status == FT_OK; ++i) // as a chain: made, then changed
      status = m.call({&x.tensor, &(i ? z : y).tensor});
  } else {
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0);
    status = m.call({&x.tensor, &y.tensor});
  }
  FtStatus waited = ft_synchronize(m.module, nullptr);
  return status != FT_OK ? status : waited;
}

TEST_F(Cuda, EveryCallMayFailWithEveryResult) {
  Bundle graphs = sample::scale("sm_90a"), steps = sample::everything();
  Bundle chains = sample::scale("sm_90a");
  graphs.entries[0].plans[0].workspaceBytes = 100;
  for (const Bundle *kind : {&graphs, &steps, &chains}) {
    const Bundle &bundle = *kind;
    bool graph = kind == &graphs, isChain = kind == &chains;
    // How many calls a life has, from a life without failures.
    int pipeEnds[2];
    ASSERT_EQ(pipe(pipeEnds), 0);
    run([&] {
      EXPECT_EQ(wholeLife(bundle, graph), FT_OK) << ft_last_error();
      int total = driver().total;
      ASSERT_EQ(write(pipeEnds[1], &total, sizeof(total)), ssize_t(sizeof(total)));
    });
    int total = 0;
    ASSERT_EQ(read(pipeEnds[0], &total, sizeof(total)), ssize_t(sizeof(total)));
    close(pipeEnds[0]), close(pipeEnds[1]);
    ASSERT_GT(total, 20);
    for (int result : {1, 2, 3, 100, 201, 209, 222, 500, 700, 719, 720, 999})
      run([&] {
        for (int k = 0; k < total; ++k) {
          // A lost context is lost for the process: each of those has its own.
          bool sticky = result == 700 || result == 719;
          auto body = [&] {
            driver().failCall = "*";
            driver().failAt = driver().total + k;
            driver().failResult = result;
            size_t before = driver().log.size();
            FtStatus status = wholeLife(bundle, graph);
            size_t at = before + size_t(k);
            std::string failed = at < driver().log.size() ? driver().log[at] : "(none)";
            if (status != FT_OK)
              EXPECT_STRNE(ft_last_error(), "");
            // Only calls that cannot matter may fail unnoticed: asking whether
            // the context is current, cleaning up, and what has a second way.
            else
              EXPECT_TRUE(failed == "cuCtxGetCurrent" || failed == "cuCtxPopCurrent" ||
                          failed == "cuThreadExchangeStreamCaptureMode" || failed == "cuMemFree" ||
                          failed == "cuMemFreeHost" || failed == "cuModuleUnload" ||
                          failed == "cuStreamDestroy" || failed == "cuGraphExecDestroy" ||
                          failed == "cuGraphDestroy" || failed == "cuCtxSynchronize" ||
                          failed == "cuCtxPushCurrent" || failed == "cuModuleLoadDataEx" ||
                          failed == "(none)" || failed.starts_with("cuGetError") ||
                          (isChain && failed.find("Graph") != failed.npos) ||
                          (isChain && failed == "cuStreamGetPriority"))
                  << failed << " failed with " << result << " and nobody said so";
            driver().failAt = -1;
            if (sticky)
              return;
            // The next call works, and nothing is left but what a failing
            // clean-up left.
            EXPECT_EQ(wholeLife(bundle, graph), FT_OK) << ft_last_error() << " after " << failed;
            if (failed.find("Free") == failed.npos && failed.find("Unload") == failed.npos &&
                failed.find("Destroy") == failed.npos && failed.find("Push") == failed.npos) {
              EXPECT_TRUE(driver().memory.empty()) << failed;
              EXPECT_EQ(driver().modules, 0) << failed;
              EXPECT_EQ(driver().graphs, 0) << failed;
              EXPECT_EQ(driver().streams, 0) << failed;
              EXPECT_EQ(driver().hostAllocations, 0) << failed;
            }
            driver().memory.clear();
            driver().modules = driver().graphs = driver().streams = driver().hostAllocations = 0;
          };
          if (sticky)
            EXPECT_EQ(inChild(body), 0) << k;
          else
            body();
        }
      });
  }
}

TEST_F(Cuda, TheKthAllocationFails) {
  run([] {
    Bundle bundle = sample::everything();
    int count = 0;
    for (int k = 0;; ++k) {
      driver().failCall = "cuMemAlloc";
      driver().failAt = driver().calls["cuMemAlloc"] + k;
      driver().failResult = cu::outOfMemory;
      FtStatus status = wholeLife(bundle, false);
      EXPECT_TRUE(driver().memory.empty());
      if (status == FT_OK)
        break;
      EXPECT_EQ(status, FT_OUT_OF_MEMORY);
      says("CUDA_ERROR_OUT_OF_MEMORY (2)");
      ++count;
    }
    EXPECT_EQ(count, 3); // constant, workspace, counters
  });
}

TEST_F(Cuda, TheKthHostAllocationFails) {
  run([] {
    std::string bytes = sample::everything().serialize();
    FtLoadOptions options = {sizeof(options), FT_CUDA, 0};
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0);
    const FtTensor *tensors[] = {&x.tensor, &y.tensor};
    int failures = 0;
    driver().hook = FailingNew::pause;
    for (int k = 0; k < 100000; ++k) {
      FtModule *module = nullptr;
      FtEntry *entry = nullptr;
      FailingNew::after(k);
      FtStatus status = ft_module_load_bytes(bytes.data(), bytes.size(), &options, &module);
      if (status == FT_OK)
        status = ft_module_entry(module, "everything", &entry);
      if (status == FT_OK)
        status = ft_call(entry, tensors, 2, nullptr);
      bool failed = FailingNew::stop();
      ft_module_release(module);
      EXPECT_TRUE(driver().memory.empty()) << k;
      EXPECT_EQ(driver().modules, 0) << k;
      EXPECT_EQ(driver().contextDepth, 0) << k;
      if (status == FT_OK && !failed)
        break;
      EXPECT_TRUE(status == FT_OUT_OF_MEMORY || status == FT_OK) << status << ft_last_error();
      ++failures;
    }
    EXPECT_GT(failures, 50);
  });
}

TEST_F(Cuda, ThreadsShareAnEntry) {
  run([] {
    Module m(sample::scale("sm_90a"));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        Array<float> x({t + 1, 4}, 2), y({t + 1, 4}, 2);
        for (int i = 0; i < 200; ++i) {
          x.data[3] = float(i);
          EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
          EXPECT_EQ(y.data[3], float(2 * i));
        }
        Array<float> wrong({5}, 2);
        EXPECT_EQ(m.call({&wrong.tensor, &y.tensor}), FT_INVALID_ARGUMENT);
        says("found 5xf32"); // each thread has its own message
      });
    for (std::thread &thread : threads)
      thread.join();
  });
}

TEST_F(Cuda, HostTimeOfACall) {
  run([] {
    driver().kernels.clear();
    Module m(sample::scale("sm_90a"));
    Array<float> x({3, 4}, 2), y({3, 4}, 2);
    constexpr int calls = 20000;
    double best = 1e9;
    driver().quiet = true;
    for (int round = 0; round < 5; ++round) {
      auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < calls; ++i)
        ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
      std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
      best = std::min(best, time.count() / calls);
    }
    printf("%.2f us a call, the mock driver's share included\n", best);
    fflush(stdout);
    EXPECT_LT(best, 30); // a bound for loaded machines and sanitizers
  });
}
