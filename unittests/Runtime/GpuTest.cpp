//===- GpuTest.cpp - the GPU runtime on a GPU -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Skipped where there is no device. Each test runs in a process of its own: one
// of them loses its context on purpose.
//
//===----------------------------------------------------------------------===//
#include "GpuKernels.h"
#include "SamplePrograms.h"
#include "ft-c/Runtime.h"
#include "ft/Runtime/Cuda/CudaDevice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

using namespace ft::rt;

namespace {

int inChild(const std::function<int()> &body) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    int status = body();
    fflush(stdout);
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/// The device's compute capability times ten, found in a child; 0 without one.
int capability() {
  static const int value = inChild([] {
    CudaDevice *device = nullptr;
    return CudaDevice::get(0, device).ok() ? device->major * 10 + device->minor : 0;
  });
  return value;
}

class Gpu : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (capability() == 0)
      GTEST_SKIP() << "no CUDA device";
  }
  void needHopper() {
    if (capability() != 90)
      GTEST_SKIP() << "needs sm_90";
  }
  void run(const std::function<void()> &body) {
    if (IsSkipped())
      return;
    EXPECT_EQ(inChild([&] {
                body();
                return testing::Test::HasFailure() ? 1 : 0;
              }),
              0);
  }
};

struct Module {
  explicit Module(const Bundle &bundle) {
    std::string bytes = bundle.serialize();
    FtLoadOptions options = {sizeof(options), FT_CUDA, 0};
    status = ft_module_load_bytes(bytes.data(), bytes.size(), &options, &module);
    if (status == FT_OK)
      status = ft_module_entry(module, nullptr, &entry);
    message = ft_last_error();
  }
  ~Module() { ft_module_release(module); }
  FtModule *module = nullptr;
  FtEntry *entry = nullptr;
  FtStatus status;
  std::string message;
};

/// A tensor in the device's memory.
template <class T>
struct Array {
  Array(Module &m, std::vector<int64_t> s, std::vector<T> values = {})
      : owner(m), shape(std::move(s)), host(std::move(values)) {
    size_t count = 1;
    for (int64_t extent : shape)
      count *= size_t(extent);
    if (host.empty())
      host.resize(count, T(-1));
    EXPECT_EQ(ft_module_alloc(m.module, count * sizeof(T), &tensor.data), FT_OK) << ft_last_error();
    write();
    tensor.device = {FT_CUDA, 0};
    tensor.ndim = int32_t(shape.size());
    tensor.dtype = {uint8_t(std::is_floating_point_v<T> ? 2 : 0), 8 * sizeof(T), 1};
    tensor.shape = shape.data();
  }
  ~Array() { ft_module_free(owner.module, tensor.data); }
  Array(const Array &) = delete;
  void write() {
    EXPECT_EQ(ft_module_copy_to(owner.module, tensor.data, host.data(), host.size() * sizeof(T)),
              FT_OK);
  }
  const std::vector<T> &read() {
    EXPECT_EQ(ft_module_copy_from(owner.module, host.data(), tensor.data, host.size() * sizeof(T)),
              FT_OK)
        << ft_last_error();
    return host;
  }
  Module &owner;
  std::vector<int64_t> shape;
  std::vector<T> host;
  FtTensor tensor{};
};

FtStatus call(Module &m, std::vector<const FtTensor *> tensors, uint64_t flags = 0,
              void *stream = nullptr) {
  FtCallOptions options = {sizeof(options), stream, nullptr, 0, flags};
  return ft_call(m.entry, tensors.data(), int32_t(tensors.size()), &options);
}

std::string target() { return capability() == 90 ? "sm_90a" : "sm_80"; }

Bundle scaleBundle(const std::string &target) {
  Bundle bundle = sample::scale(target);
  bundle.sections[0].bytes = gpu::header(target) + gpu::scale;
  return bundle;
}

/// One kernel over one i32 output of N elements, as many blocks as N.
Bundle oneKernel(const char *text, const char *kernel, std::vector<KernelArgument> arguments) {
  Bundle bundle;
  bundle.sections.push_back({Section::ptx, target(), gpu::header(target()) + text});
  Entry e;
  e.name = kernel;
  e.symbols.push_back({"N", Expr(), 0});
  e.symbols[0].value = e.extent(0, 0);
  e.arguments.push_back({"y", DType::i32, {e.symbol(0)}, /*output=*/true});
  Plan p;
  p.target = target();
  p.modules = {0};
  p.variant = "default";
  p.kernels = {kernel};
  p.buffers = {{Buffer::argument, 0, 0}, {Buffer::error, 0, 0}};
  Step s;
  s.launched.grid[0] = e.symbol(0);
  s.launched.arguments = std::move(arguments);
  p.steps = {s};
  e.plans.push_back(p);
  bundle.entries.push_back(e);
  return bundle;
}

} // namespace

TEST_P(Gpu, Runs) {
  run([] {
    if (fitness(GetParam(), capability() / 10, capability() % 10) == 0)
      return;
    Module m(scaleBundle(GetParam()));
    ASSERT_EQ(m.status, FT_OK) << m.message;
    for (int64_t n : {1, 31, 32, 1000, 100003}) {
      std::vector<float> values(size_t(4 * n));
      std::iota(values.begin(), values.end(), 0.f);
      Array<float> x(m, {n, 4}, values), y(m, {n, 4});
      ASSERT_EQ(call(m, {&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
      ASSERT_EQ(ft_synchronize(m.module, nullptr), FT_OK) << ft_last_error();
      y.read();
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(y.host[i], 2 * values[i]) << i;
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Targets, Gpu, testing::Values("sm_80", "sm_90a"));

TEST_F(Gpu, GridBarrierOfACooperativeLaunch) {
  run([] {
    // y holds two rows of N / 2; the second call goes on with the first's counter.
    Bundle bundle = oneKernel(gpu::steps, "steps", {});
    Entry &e = bundle.entries[0];
    Plan &p = e.plans[0];
    p.counterBytes = 64;
    p.buffers.push_back({Buffer::counter, 0, 0});
    Expr half = Expr::binary(Expr::floordiv, e.symbol(0), 2);
    Launch &launch = p.steps[0].launched;
    launch.grid[0] = half;
    launch.block[0] = 32;
    launch.cooperative = true;
    launch.arguments = {sample::pointer(0), sample::pointer(0, half * 4), sample::pointer(2),
                        sample::integer(1000, 32)};
    Module m(bundle);
    ASSERT_EQ(m.status, FT_OK) << m.message;
    CudaDevice *device = nullptr;
    ASSERT_TRUE(CudaDevice::get(0, device).ok());
    int64_t blocks = device->multiprocessors;
    Array<int32_t> y(m, {2 * blocks}, std::vector<int32_t>(size_t(2 * blocks), 0));
    for (int round = 1; round <= 3; ++round) {
      auto start = std::chrono::steady_clock::now();
      ASSERT_EQ(call(m, {&y.tensor}), FT_OK) << ft_last_error();
      ASSERT_EQ(ft_synchronize(m.module, nullptr), FT_OK) << ft_last_error();
      std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
      y.read(); // an even number of steps ends in the first row
      for (int64_t b = 0; b < blocks; ++b)
        ASSERT_EQ(y.host[size_t(b)], 1000 * round);
      printf("grid barrier of %d blocks: %.2f us a step\n", int(blocks), time.count() / 1000);
    }
    // More blocks than the device holds would wait for ever: refused.
    Array<int32_t> large(m, {200000});
    EXPECT_EQ(call(m, {&large.tensor}), FT_NOT_RESIDENT);
    EXPECT_NE(std::string(ft_last_error()).find("100000 blocks"), std::string::npos);
    ASSERT_EQ(call(m, {&y.tensor}), FT_OK);
  });
}

TEST_F(Gpu, Clusters) {
  needHopper();
  run([] {
    for (int64_t size : {2, 4, 8, 16}) {
      Bundle bundle = oneKernel(gpu::cluster, "cluster", {sample::pointer(0)});
      bundle.entries[0].plans[0].steps[0].launched.cluster[0] = size;
      Module m(bundle);
      ASSERT_EQ(m.status, FT_OK) << m.message;
      Array<int32_t> y(m, {64});
      ASSERT_EQ(call(m, {&y.tensor}), FT_OK) << ft_last_error();
      y.read();
      for (int32_t value : y.host)
        ASSERT_EQ(value, size);
    }
    // Together with a cooperative launch, as many as are resident.
    Bundle bundle = oneKernel(gpu::cluster, "cluster", {sample::pointer(0)});
    bundle.entries[0].plans[0].steps[0].launched.cluster[0] = 4;
    bundle.entries[0].plans[0].steps[0].launched.cooperative = true;
    Module m(bundle);
    Array<int32_t> y(m, {64}), large(m, {1 << 20});
    ASSERT_EQ(call(m, {&y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(call(m, {&large.tensor}), FT_NOT_RESIDENT);
  });
}

TEST_F(Gpu, TensorMaps) {
  needHopper();
  run([] {
    constexpr int64_t rows = 40, columns = 100;
    Bundle bundle;
    bundle.sections.push_back({Section::ptx, "sm_90a", gpu::header("sm_90a") + gpu::tile});
    Entry e;
    e.name = "tile";
    e.symbols = {{"M", Expr(), 0}, {"N", Expr(), 0}};
    e.symbols[0].value = e.extent(0, 0);
    e.symbols[1].value = e.extent(0, 1);
    Expr m = Expr::binary(Expr::ceildiv, e.symbol(0), 32);
    Expr n = Expr::binary(Expr::ceildiv, e.symbol(1), 32);
    e.arguments.push_back({"x", DType::f32, {e.symbol(0), e.symbol(1)}, false, 0, 16});
    e.arguments.push_back({"y", DType::f32, {m, n, 32, 32}, true});
    Plan p;
    p.variant = "default";
    p.target = "sm_90a";
    p.modules = {0};
    p.kernels = {"tile"};
    p.buffers = {{Buffer::argument, 0, 0}, {Buffer::argument, 1, 0}};
    Step s;
    KernelArgument map;
    map.kind = KernelArgument::tensorMap;
    map.map.type = 7; // f32
    map.map.extents = {e.symbol(1), e.symbol(0)};
    map.map.strides = {e.symbol(1) * 4};
    map.map.box = {32, 32};
    map.map.elementStrides = {1, 1};
    s.launched.grid[0] = n;
    s.launched.grid[1] = m;
    s.launched.block[0] = 1024;
    s.launched.arguments = {map, sample::pointer(1)};
    p.steps = {s};
    e.plans.push_back(p);
    bundle.entries.push_back(e);
    Module module(bundle);
    ASSERT_EQ(module.status, FT_OK) << module.message;
    std::vector<float> values(rows * columns);
    std::iota(values.begin(), values.end(), 1.f);
    Array<float> x(module, {rows, columns}, values), y(module, {2, 4, 32, 32});
    ASSERT_EQ(call(module, {&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    ASSERT_EQ(ft_synchronize(module.module, nullptr), FT_OK) << ft_last_error();
    y.read();
    for (int64_t i = 0; i < 64; ++i)
      for (int64_t j = 0; j < 128; ++j) {
        float expected = i < rows && j < columns ? values[size_t(i * columns + j)] : 0;
        ASSERT_EQ(y.host[size_t(((i / 32 * 4 + j / 32) * 32 + i % 32) * 32 + j % 32)], expected)
            << i << ", " << j;
      }
    // A row of 101 floats is no multiple of 16 bytes: the driver says no.
    Array<float> odd(module, {rows, 101});
    EXPECT_EQ(call(module, {&odd.tensor, &y.tensor}), FT_DRIVER_ERROR);
    EXPECT_NE(std::string(ft_last_error())
                  .find("cuTensorMapEncodeTiled(extents 101, 40; byte "
                        "strides 404; box 32, 32)"),
              std::string::npos)
        << ft_last_error();
    ASSERT_EQ(call(module, {&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
  });
}

TEST_F(Gpu, ErrorRecordAndTrap) {
  run([] {
    auto broken = [](int64_t mode) {
      return oneKernel(gpu::broken, "broken", {sample::integer(mode, 32), sample::pointer(1)});
    };
    Module fine(broken(0)), reports(broken(3)), traps(broken(1));
    ASSERT_EQ(traps.status, FT_OK) << traps.message;
    Array<int32_t> y(fine, {1});
    EXPECT_EQ(call(reports, {&y.tensor}), FT_OK);
    EXPECT_EQ(ft_synchronize(reports.module, nullptr), FT_INVALID_ARGUMENT);
    EXPECT_NE(std::string(ft_last_error()).find("kernel broken: an index was out of range (77,"),
              std::string::npos)
        << ft_last_error();
    EXPECT_EQ(call(fine, {&y.tensor}), FT_OK);
    EXPECT_EQ(ft_synchronize(fine.module, nullptr), FT_OK);
    EXPECT_EQ(call(traps, {&y.tensor}), FT_OK);
    EXPECT_EQ(ft_synchronize(traps.module, nullptr), FT_CONTEXT_LOST);
    EXPECT_NE(std::string(ft_last_error()).find("broken"), std::string::npos) << ft_last_error();
    printf("a trap: %s\n", ft_last_error());
    EXPECT_EQ(call(fine, {&y.tensor}), FT_CONTEXT_LOST);
    EXPECT_NE(std::string(ft_last_error()).find("is lost to this process"), std::string::npos);
  });
}

/// FT_WATCHDOG_BUNDLE names a bundle of integration/shared_steps.mlir, compiled with
/// --gpu-barrier-limit: here its first barrier counts nothing, so that all blocks wait for ever.
TEST_F(Gpu, AHangEndsInAnError) {
  const char *path = getenv("FT_WATCHDOG_BUNDLE");
  if (!path)
    GTEST_SKIP() << "FT_WATCHDOG_BUNDLE is not set";
  run([path] {
    Bundle bundle;
    ASSERT_TRUE(Bundle::read(path, bundle).ok());
    Module fine(bundle);
    ASSERT_EQ(fine.status, FT_OK) << fine.message;
    const std::string add = "atom.add.acq_rel.gpu.global.u32 old, [";
    int planted = 0;
    for (Section &section : bundle.sections) {
      size_t at = section.kind == Section::ptx ? section.bytes.find(add) : std::string::npos;
      if (at == std::string::npos)
        continue;
      size_t amount = section.bytes.find("], ", at) + 3;
      section.bytes.replace(amount, section.bytes.find(';', amount) - amount, "0");
      ++planted;
    }
    ASSERT_GT(planted, 0);
    Module hangs(bundle);
    ASSERT_EQ(hangs.status, FT_OK) << hangs.message;
    Array<int32_t> x(fine, {2, 3, 64, 3, 40}), y(fine, {2, 3, 64, 3, 40}), z(fine, {2, 3, 64, 3, 40});
    ASSERT_EQ(call(fine, {&x.tensor, &y.tensor, &z.tensor}), FT_OK) << ft_last_error();
    ASSERT_EQ(ft_synchronize(fine.module, nullptr), FT_OK) << ft_last_error();
    auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(call(hangs, {&x.tensor, &y.tensor, &z.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(ft_synchronize(hangs.module, nullptr), FT_CONTEXT_LOST);
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    EXPECT_NE(std::string(ft_last_error()).find("a wait never ended"), std::string::npos);
    printf("a hang, after %.2f s: %s\n", time.count(), ft_last_error());
    EXPECT_EQ(call(fine, {&x.tensor, &y.tensor, &z.tensor}), FT_CONTEXT_LOST);
    EXPECT_NE(std::string(ft_last_error()).find("is lost to this process"), std::string::npos);
    printf("the next call: %s\n", ft_last_error());
  });
}

TEST_F(Gpu, PtxOfTheFuture) {
  run([] {
    Bundle bundle = scaleBundle(target());
    bundle.sections[0].bytes = gpu::header(target(), "99.0") + gpu::scale;
    Module m(bundle);
    EXPECT_EQ(m.status, FT_UNSUPPORTED_FORMAT);
    printf("PTX 99.0: %s\n", m.message.c_str());
    bundle.sections[0].bytes = gpu::header(target()) + "\n.visible .entry scale() { nonsense; }\n";
    Module n(bundle);
    EXPECT_EQ(n.status, FT_UNSUPPORTED_FORMAT);
    EXPECT_NE(n.message.find("nonsense"), std::string::npos) << n.message; // the compiler's log
  });
}

TEST_F(Gpu, BadArgumentsLeaveOutputsAndTheNextCallAlone) {
  run([] {
    Module m(scaleBundle(target()));
    ASSERT_EQ(m.status, FT_OK) << m.message;
    Array<float> x(m, {3, 4}, std::vector<float>(12, 7)), y(m, {3, 4});
    std::vector<int64_t> flat = {12}, other = {5, 4}, gaps = {8, 2};
    auto refused = [&](auto change, const char *says, bool ofOutput = false) {
      FtTensor in = x.tensor, out = y.tensor;
      change(ofOutput ? out : in);
      EXPECT_EQ(call(m, {&in, &out}), FT_INVALID_ARGUMENT) << says;
      std::string message = ft_last_error();
      EXPECT_NE(message.find(says), std::string::npos) << message;
      printf("refused: %s\n", message.c_str());
      EXPECT_EQ(y.read(), std::vector<float>(12, -1));
    };
    refused([](FtTensor &t) { t.dtype = {0, 32, 1}; }, "expected Nx4xf32, found 3x4xi32");
    refused([&](FtTensor &t) { t.ndim = 1, t.shape = flat.data(); }, "wrong rank: expected Nx4xf32, found 12xf32");
    refused([&](FtTensor &t) { t.shape = other.data(); }, "expected Nx4xf32, found 5x4xf32", true);
    refused([](FtTensor &t) { t.device = {FT_CPU, 0}; }, "expected CUDA device 0, found the CPU");
    refused([](FtTensor &t) { t.device.id = 5; }, "expected CUDA device 0, found CUDA device 5");
    refused([&](FtTensor &t) { t.strides = gaps.data(); }, "must be dense: expected stride 1, found 2");
    refused([](FtTensor &t) { t.data = nullptr; }, "has no data");
    refused([&](FtTensor &t) { t.data = x.tensor.data, t.byte_offset = 16; }, "overlaps argument 0", true);
    for (int round = 0; round < 3; ++round)
      ASSERT_EQ(call(m, {&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    ASSERT_EQ(ft_synchronize(m.module, nullptr), FT_OK);
    EXPECT_EQ(y.read(), std::vector<float>(12, 14));
  });
}

TEST_F(Gpu, OutOfMemory) {
  run([] {
    Bundle bundle = scaleBundle(target());
    Entry &e = bundle.entries[0];
    e.plans[0].workspaceBytes = e.symbol(0) * (int64_t(1) << 40);
    Module m(bundle);
    Array<float> x(m, {1, 4}), y(m, {1, 4});
    EXPECT_EQ(call(m, {&x.tensor, &y.tensor}), FT_OUT_OF_MEMORY);
    EXPECT_NE(std::string(ft_last_error()).find("1099511627776 bytes"), std::string::npos);
    Module small(scaleBundle(target()));
    EXPECT_EQ(call(small, {&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(ft_synchronize(small.module, nullptr), FT_OK);
  });
}

TEST_F(Gpu, GraphsAndCapture) {
  run([] {
    Bundle bundle = scaleBundle(target());
    bundle.entries[0].plans[0].workspaceBytes = 4096; // allocated while capturing
    Module m(bundle);
    Array<float> x(m, {3, 4}, std::vector<float>(12, 1)), y(m, {3, 4});
    for (int round = 1; round <= 3; ++round) {
      x.host.assign(12, float(round));
      x.write();
      ASSERT_EQ(call(m, {&x.tensor, &y.tensor}, FT_CALL_GRAPH), FT_OK) << ft_last_error();
      ASSERT_EQ(ft_synchronize(m.module, nullptr), FT_OK);
      EXPECT_EQ(y.read()[11], float(2 * round));
    }
    CudaDevice *device = nullptr;
    ASSERT_TRUE(CudaDevice::get(0, device).ok());
    CudaDevice::Scope scope(*device);
    const CudaApi &api = device->api;
    CUstream stream = nullptr;
    ASSERT_EQ(api.streamCreate(&stream, cu::streamNonBlocking), 0);
    ASSERT_EQ(api.streamBeginCapture(stream, 0 /* global, the strictest */), 0);
    ASSERT_EQ(call(m, {&x.tensor, &y.tensor}, 0, stream), FT_OK) << ft_last_error();
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    ASSERT_EQ(api.streamEndCapture(stream, &graph), 0);
    ASSERT_EQ(api.graphInstantiate(&exec, graph, 0), 0);
    x.host.assign(12, 50);
    x.write();
    ASSERT_EQ(api.graphLaunch(exec, stream), 0);
    ASSERT_EQ(api.streamSynchronize(stream), 0);
    EXPECT_EQ(y.read()[0], 100);
  });
}

/// The driver's own share: the same launch without the runtime around it.
static void timeDriver(CudaDevice &device, void *x, void *y, CUstream stream) {
  CudaDevice::Scope scope(device);
  const CudaApi &api = device.api;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  std::string text = gpu::header(target()) + gpu::scale;
  ASSERT_TRUE(device.loadModule(text, true, module).ok());
  ASSERT_EQ(api.moduleGetFunction(&function, module, "scale"), 0);
  int64_t n = 12;
  void *parameters[] = {&x, &y, &n};
  CUlaunchConfig config = {1, 1, 1, 128, 1, 1, 0, stream, nullptr, 0};
  std::vector<double> times;
  for (int round = 0; round < 50; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i)
      ASSERT_EQ(api.launchKernelEx(&config, function, parameters, nullptr), 0);
    std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count() / 200);
    ASSERT_EQ(api.streamSynchronize(stream), 0);
  }
  std::sort(times.begin(), times.end());
  printf("host time of cuLaunchKernelEx alone: median %.2f us, least %.2f us\n",
         times[times.size() / 2], times[0]);
  api.moduleUnload(module);
}

TEST_F(Gpu, LaunchesGoAsAGraphWithEachCallsParameters) {
  run([] {
    Module m(scaleBundle(target()));
    CudaDevice *device = nullptr;
    ASSERT_TRUE(CudaDevice::get(0, device).ok());
    CUstream own = nullptr;
    {
      CudaDevice::Scope scope(*device);
      ASSERT_EQ(device->api.streamCreate(&own, cu::streamNonBlocking), 0);
    }
    // Calls with other memory and lengths follow each other without a wait in between.
    std::vector<std::unique_ptr<Array<float>>> inputs, outputs;
    for (int64_t n : {1, 700, 32, 100003, 32, 5}) {
      std::vector<float> values(size_t(4 * n));
      std::iota(values.begin(), values.end(), float(inputs.size()));
      inputs.push_back(std::make_unique<Array<float>>(m, std::vector<int64_t>{n, 4}, values));
      outputs.push_back(std::make_unique<Array<float>>(m, std::vector<int64_t>{n, 4}));
    }
    for (CUstream stream : {CUstream(nullptr), own})
      for (int round = 0; round < 50; ++round) {
        for (size_t i = 0; i < inputs.size(); ++i)
          ASSERT_EQ(call(m, {&inputs[i]->tensor, &outputs[i]->tensor}, 0, stream), FT_OK)
              << ft_last_error();
        ASSERT_EQ(ft_synchronize(m.module, stream), FT_OK) << ft_last_error();
        for (size_t i = 0; i < inputs.size() && round % 25 == 24; ++i) {
          outputs[i]->read();
          for (size_t j = 0; j < inputs[i]->host.size(); ++j)
            ASSERT_EQ(outputs[i]->host[j], 2 * inputs[i]->host[j]) << i << ", " << j;
          std::fill(outputs[i]->host.begin(), outputs[i]->host.end(), -1.f);
          outputs[i]->write();
        }
      }
  });
}

TEST_F(Gpu, HostTimeOfACall) {
  run([] {
    Module m(scaleBundle(target()));
    Array<float> x(m, {3, 4}), y(m, {3, 4}), z(m, {3, 4});
    CudaDevice *gpu = nullptr;
    ASSERT_TRUE(CudaDevice::get(0, gpu).ok());
    CUstream own = nullptr;
    {
      CudaDevice::Scope scope(*gpu);
      ASSERT_EQ(gpu->api.streamCreate(&own, cu::streamNonBlocking), 0);
    }
    struct {
      const char *name;
      uint64_t flags;
      bool alternates;
    } ways[] = {{"", 0, false},
                {", other memory each time", 0, true},
                {", FT_CALL_GRAPH", FT_CALL_GRAPH, false},
                {", FT_CALL_DIRECT", FT_CALL_DIRECT, false}};
    const FtTensor *tensors[2][2] = {{&x.tensor, &y.tensor}, {&x.tensor, &z.tensor}};
    for (CUstream stream : {CUstream(nullptr), own}) {
      printf(stream ? "On a stream:\n" : "On the default stream:\n");
      timeDriver(*gpu, x.tensor.data, y.tensor.data, stream);
      for (auto [name, flags, alternates] : ways) {
        FtCallOptions options = {sizeof(options), stream, nullptr, 0, flags};
        // The context is current, as in a program that uses the GPU for other things, too.
        for (bool current : {true, false}) {
          std::optional<CudaDevice::Scope> scope;
          if (current)
            scope.emplace(*gpu);
          std::vector<double> times, whole;
          for (int round = 0; round < 50; ++round) {
            constexpr int calls = 200; // fewer than the driver's queue holds
            auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < calls; ++i)
              ASSERT_EQ(ft_call(m.entry, tensors[alternates ? i % 2 : 0], 2, &options), FT_OK);
            std::chrono::duration<double, std::micro> time =
                std::chrono::steady_clock::now() - start;
            times.push_back(time.count() / calls);
            ASSERT_EQ(ft_synchronize(m.module, stream), FT_OK);
            time = std::chrono::steady_clock::now() - start;
            whole.push_back(time.count() / calls);
          }
          std::sort(times.begin(), times.end());
          std::sort(whole.begin(), whole.end());
          printf("host time of a call%s%s: median %.2f us, least %.2f us; with its kernel %.2f us\n",
                 name, current ? ", context current" : "", times[times.size() / 2], times[0],
                 whole[whole.size() / 2]);
        }
      }
    }
  });
}
