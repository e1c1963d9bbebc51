//===- CudaTest.cpp - the GPU runtime over the mock driver ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudaFixture.h"
#include "ft/Runtime/Cuda/CudaDevice.h"

#include <algorithm>

using namespace ft::rt;
using namespace ft::test;

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
    // Who never waits hears of it at the next call, which does nothing else.
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    driver().kernels["tma"].run = [](void **, const CUlaunchConfig &) {};
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_DRIVER_ERROR);
    says("an earlier call failed on the device: ");
    says("kernel tma: an index was out of range (77,");
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    // Another program's call says it as well as the same one's.
    Module other(sample::scale("sm_90a"));
    Array<float> a({3, 4}, 2), b({3, 4}, 2);
    driver().kernels["tma"].run = [](void **p, const CUlaunchConfig &) { **static_cast<uint32_t **>(p[2]) = 1; };
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(other.call({&a.tensor, &b.tensor}), FT_DRIVER_ERROR);
    says("kernel tma: an index was out of range");
    EXPECT_EQ(other.call({&a.tensor, &b.tensor}), FT_OK) << ft_last_error();
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
                EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_FORKED);
              }),
              0);
    EXPECT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
  });
}
