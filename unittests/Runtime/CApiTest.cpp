//===- CApiTest.cpp - bundles on the CPU, through the C ABI ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SamplePrograms.h"
#include "TestDir.h"
#include "ft-c/Runtime.h"
#include "ft/Runtime/Base/File.h"
#include "ft/Runtime/Program/Target.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

using namespace ft::rt;

/// The sample over the test's CPU library.
static Bundle hostBundle() {
  Bundle bundle = sample::scale("cpu");
  bundle.sections[0] = {Section::cpu, "cpu", {}};
  Status status = readFile(FT_HOST_KERNELS, bundle.sections[0].bytes);
  EXPECT_TRUE(status.ok()) << status.message();
  return bundle;
}

static FtModule *load(const Bundle &bundle, FtStatus expected = FT_OK) {
  std::string bytes = bundle.serialize();
  FtModule *module = nullptr;
  EXPECT_EQ(ft_module_load_bytes(bytes.data(), bytes.size(), nullptr, &module), expected)
      << ft_last_error();
  return module;
}

static FtTensor tensorOf(float *data, int64_t *shape, int32_t rank) {
  return {data, {FT_CPU, 0}, rank, {2, 32, 1}, shape, nullptr, 0};
}

TEST(CApi, RunsOnTheCpu) {
  FtModule *module = load(hostBundle());
  FtEntry *entry = nullptr;
  ASSERT_EQ(ft_module_entry(module, "scale", &entry), FT_OK) << ft_last_error();
  std::vector<float> x(4000), y(4000);
  std::iota(x.begin(), x.end(), 0.f);
  int64_t shape[2] = {1000, 4};
  FtTensor in = tensorOf(x.data(), shape, 2), out = tensorOf(y.data(), shape, 2);
  const FtTensor *tensors[] = {&in, &out};
  ASSERT_EQ(ft_call(entry, tensors, 2, nullptr), FT_OK) << ft_last_error();
  for (int i = 0; i < 4000; ++i)
    ASSERT_EQ(y[size_t(i)], float(2 * i));
  EXPECT_EQ(ft_synchronize(module, nullptr), FT_OK);
  ft_module_release(module);
}

TEST(CApi, DescribesEntries) {
  FtModule *module = load(hostBundle());
  EXPECT_EQ(ft_abi_version(), FT_ABI_VERSION);
  EXPECT_EQ(ft_module_num_entries(module), 1);
  EXPECT_STREQ(ft_module_entry_name(module, 0), "scale");
  EXPECT_EQ(ft_module_entry_name(module, 1), nullptr);
  EXPECT_EQ(ft_module_entry_name(module, -1), nullptr);
  FtEntry *entry = nullptr;
  EXPECT_EQ(ft_module_entry(module, "other", &entry), FT_NOT_FOUND);
  EXPECT_STREQ(ft_last_error(), "no entry \"other\"; there are: scale");
  ASSERT_EQ(ft_module_entry(module, nullptr, &entry), FT_OK);
  FtArgumentInfo info = {sizeof(info), nullptr, nullptr, 0, 0, 0, 0};
  ASSERT_EQ(ft_entry_argument(entry, 1, &info), FT_OK);
  EXPECT_STREQ(info.name, "y");
  EXPECT_STREQ(info.dtype, "f32");
  EXPECT_EQ(info.ndim, 2);
  EXPECT_EQ(info.is_output, 1);
  EXPECT_EQ(ft_entry_argument(entry, 2, &info), FT_INVALID_ARGUMENT);
  // A caller that knows fewer members.
  struct {
    size_t size;
    const char *name;
    int64_t guard;
  } older = {16, nullptr, 42};
  ASSERT_EQ(ft_entry_argument(entry, 0, reinterpret_cast<FtArgumentInfo *>(&older)), FT_OK);
  EXPECT_STREQ(older.name, "x");
  EXPECT_EQ(older.size, 16u);
  EXPECT_EQ(older.guard, 42);
  ft_module_release(module);
}

TEST(CApi, NullsAreErrors) {
  FtModule *module = nullptr;
  FtEntry *entry = nullptr;
  int32_t count;
  EXPECT_EQ(ft_module_load(nullptr, nullptr, &module), FT_INVALID_ARGUMENT);
  EXPECT_EQ(ft_module_load("x", nullptr, nullptr), FT_INVALID_ARGUMENT);
  EXPECT_EQ(ft_module_load("/no/such.ftb", nullptr, &module), FT_NOT_FOUND);
  EXPECT_EQ(ft_module_load_bytes("x", 1, nullptr, &module), FT_CORRUPT);
  EXPECT_EQ(ft_module_entry(nullptr, "x", &entry), FT_INVALID_ARGUMENT);
  EXPECT_EQ(ft_call(nullptr, nullptr, 0, nullptr), FT_INVALID_ARGUMENT);
  EXPECT_EQ(ft_entry_info(nullptr, nullptr), FT_INVALID_ARGUMENT);
  EXPECT_EQ(ft_synchronize(nullptr, nullptr), FT_INVALID_ARGUMENT);
  EXPECT_EQ(ft_device_count(FT_CPU, nullptr), FT_INVALID_ARGUMENT);
  EXPECT_EQ(ft_device_count(99, &count), FT_INVALID_ARGUMENT);
  EXPECT_EQ(ft_device_count(FT_CPU, &count), FT_OK);
  EXPECT_EQ(count, 1);
  EXPECT_STREQ(ft_status_name(FT_NO_DRIVER), "no driver");
  FtLoadOptions options = {sizeof(options), 7, 0};
  std::string bytes = hostBundle().serialize();
  EXPECT_EQ(ft_module_load_bytes(bytes.data(), bytes.size(), &options, &module),
            FT_INVALID_ARGUMENT);
  options.struct_size = 1 << 20;
  EXPECT_EQ(ft_module_load_bytes(bytes.data(), bytes.size(), &options, &module),
            FT_INVALID_ARGUMENT);
  EXPECT_EQ(module, nullptr);
  ft_module_release(nullptr);
}

TEST(CApi, AProcessorThatIsNotOurs) {
  Bundle bundle = hostBundle();
  bundle.entries[0].plans[0].target = "sparc";
  FtModule *module = load(bundle);
  FtEntry *entry = nullptr;
  EXPECT_EQ(ft_module_entry(module, nullptr, &entry), FT_NO_DEVICE);
  EXPECT_STREQ(ft_last_error(),
               "entry \"scale\" is compiled for sparc; this processor takes none of these");
  ft_module_release(module);
  EXPECT_GT(hostFitness("cpu"), 0);
  EXPECT_EQ(hostFitness("sm_90a"), 0);
}

TEST(CApi, ALibraryThatIsNone) {
  Bundle bundle = hostBundle();
  FtEntry *entry = nullptr;
  bundle.sections[0].bytes = "no library";
  FtModule *module = load(bundle);
  EXPECT_EQ(ft_module_entry(module, nullptr, &entry), FT_UNSUPPORTED_FORMAT);
  ft_module_release(module);
  bundle = hostBundle();
  bundle.entries[0].plans[0].kernels = {"none"};
  module = load(bundle);
  EXPECT_EQ(ft_module_entry(module, nullptr, &entry), FT_NOT_FOUND);
  EXPECT_NE(strstr(ft_last_error(), "no function \"none\""), nullptr);
  ft_module_release(module);
}

/// Rows of an output that share elements, and arguments of which parts share memory.
TEST(CApi, OverlapsAreErrors) {
  Bundle bundle = hostBundle();
  for (Argument &argument : bundle.entries[0].arguments)
    argument.stridedDims = 1;
  FtModule *module = load(bundle);
  FtEntry *entry = nullptr;
  ASSERT_EQ(ft_module_entry(module, nullptr, &entry), FT_OK) << ft_last_error();
  float memory[64] = {};
  int64_t shape[2] = {3, 4}, strides[2] = {4, 1};
  FtTensor in = tensorOf(memory, shape, 2), out = tensorOf(memory + 32, shape, 2);
  const FtTensor *tensors[] = {&in, &out};
  auto call = [&] { return ft_call(entry, tensors, 2, nullptr); };
  EXPECT_EQ(call(), FT_OK) << ft_last_error();
  out.strides = strides;
  for (int64_t stride : {4, 5}) {
    strides[0] = stride;
    EXPECT_EQ(call(), FT_OK) << stride << ": " << ft_last_error();
  }
  for (int64_t stride : {0, 1, 3, -4}) {
    strides[0] = stride;
    EXPECT_EQ(call(), FT_INVALID_ARGUMENT) << stride;
    EXPECT_NE(strstr(ft_last_error(), "which overlaps its own rows"), nullptr) << ft_last_error();
  }
  out.strides = nullptr;
  in.strides = strides; // an input may repeat its rows
  for (int64_t stride : {0, 1, 3, 4}) {
    strides[0] = stride;
    EXPECT_EQ(call(), FT_OK) << ft_last_error();
  }
  // Rows in reverse: the first one lies after the others, which count, too.
  in.data = memory + 8;
  strides[0] = -4;
  EXPECT_EQ(call(), FT_OK) << ft_last_error();
  out.data = memory + 4;
  EXPECT_EQ(call(), FT_INVALID_ARGUMENT);
  EXPECT_NE(strstr(ft_last_error(), "overlaps argument 0 \"x\" in memory"), nullptr) << ft_last_error();
  out.data = memory + 12;
  EXPECT_EQ(call(), FT_OK) << ft_last_error();
  in.strides = nullptr;
  // The input takes elements 16 to 27.
  in.data = memory + 16;
  for (int begin : {0, 4, 28, 32}) {
    out.data = memory + begin;
    EXPECT_EQ(call(), FT_OK) << begin << ": " << ft_last_error();
  }
  for (int begin : {5, 8, 16, 20, 27}) {
    out.data = memory + begin;
    EXPECT_EQ(call(), FT_INVALID_ARGUMENT) << begin;
    EXPECT_NE(strstr(ft_last_error(), "overlaps argument 0 \"x\" in memory"), nullptr) << ft_last_error();
  }
  ft_module_release(module);
}

/// Code that reads 16 bytes at once needs each row where it can.
TEST(CApi, RowsAreAligned) {
  Bundle bundle = hostBundle();
  bundle.entries[0].arguments[0].stridedDims = 1;
  bundle.entries[0].arguments[0].alignment = 16;
  FtModule *module = load(bundle);
  FtEntry *entry = nullptr;
  ASSERT_EQ(ft_module_entry(module, nullptr, &entry), FT_OK) << ft_last_error();
  alignas(16) float memory[64] = {};
  int64_t shape[2] = {3, 4}, strides[2] = {4, 1};
  FtTensor in = tensorOf(memory, shape, 2), out = tensorOf(memory + 32, shape, 2);
  in.strides = strides;
  const FtTensor *tensors[] = {&in, &out};
  for (int64_t stride : {0, 4, 8}) {
    strides[0] = stride;
    EXPECT_EQ(ft_call(entry, tensors, 2, nullptr), FT_OK) << ft_last_error();
  }
  for (int64_t stride : {1, 2, 3, 5, 6}) {
    strides[0] = stride;
    EXPECT_EQ(ft_call(entry, tensors, 2, nullptr), FT_INVALID_ARGUMENT) << stride;
    EXPECT_NE(strstr(ft_last_error(), "rows must lie at multiples of 4 elements"), nullptr) << ft_last_error();
  }
  ft_module_release(module);
}

TEST(CApi, RaggedLists) {
  const int64_t offsets[] = {0, 2, 2, 5};
  int64_t longest = -1;
  ASSERT_EQ(ft_ragged_longest(offsets, 4, 5, &longest), FT_OK);
  ASSERT_EQ(longest, 3);
  int64_t index[9], lengths[3], positions[3], lists[5], places[5];
  ASSERT_EQ(ft_ragged_fill(offsets, 4, longest, index, lengths, positions, lists, places), FT_OK);
  EXPECT_EQ(std::vector<int64_t>(index, index + 9), (std::vector<int64_t>{0, 1, 0, 0, 0, 0, 2, 3, 4}));
  EXPECT_EQ(std::vector<int64_t>(lengths, lengths + 3), (std::vector<int64_t>{2, 0, 3}));
  EXPECT_EQ(std::vector<int64_t>(positions, positions + 3), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(std::vector<int64_t>(lists, lists + 5), (std::vector<int64_t>{0, 0, 2, 2, 2}));
  EXPECT_EQ(std::vector<int64_t>(places, places + 5), (std::vector<int64_t>{0, 1, 0, 1, 2}));
  const int64_t none[] = {0}, late[] = {1, 2}, falling[] = {0, 3, 2};
  EXPECT_EQ(ft_ragged_longest(none, 1, 0, &longest), FT_OK);
  EXPECT_EQ(longest, 0);
  EXPECT_EQ(ft_ragged_fill(none, 1, 0, nullptr, nullptr, nullptr, nullptr, nullptr), FT_OK);
  for (auto [bad, count, elements, says] :
       {std::tuple(late, 2, 9, "begin with 0"), std::tuple(falling, 3, 9, "must not fall"),
        std::tuple(offsets, 4, 4, "fewer elements (4) than the last offset says (5)"), std::tuple(none, 0, 9, "no offsets")}) {
    EXPECT_EQ(ft_ragged_longest(bad, count, elements, &longest), FT_INVALID_ARGUMENT);
    EXPECT_NE(strstr(ft_last_error(), says), nullptr) << ft_last_error();
  }
}

/// Libraries write any strides where a tensor has no elements.
TEST(CApi, StridesOfNothing) {
  Bundle bundle = hostBundle();
  bundle.entries[0].requirements.clear();
  FtModule *module = load(bundle);
  FtEntry *entry = nullptr;
  ASSERT_EQ(ft_module_entry(module, nullptr, &entry), FT_OK) << ft_last_error();
  int64_t shape[2] = {0, 4}, strides[2] = {0, 0};
  FtTensor in = tensorOf(nullptr, shape, 2), out = tensorOf(nullptr, shape, 2);
  in.strides = out.strides = strides;
  const FtTensor *tensors[] = {&in, &out};
  EXPECT_EQ(ft_call(entry, tensors, 2, nullptr), FT_OK) << ft_last_error();
  ft_module_release(module);
}

TEST(CApi, ErrorsOfKernelsComeBackFromTheCall) {
  Bundle bundle = hostBundle();
  Plan &plan = bundle.entries[0].plans[0];
  plan.kernels = {"checked"};
  plan.buffers.push_back({Buffer::error, 0, 0});
  plan.steps[0].launched.arguments = {sample::pointer(2)};
  FtModule *module = load(bundle);
  FtEntry *entry = nullptr;
  ASSERT_EQ(ft_module_entry(module, nullptr, &entry), FT_OK) << ft_last_error();
  float x[4] = {}, y[4] = {};
  int64_t shape[2] = {1, 4};
  FtTensor in = tensorOf(x, shape, 2), out = tensorOf(y, shape, 2);
  const FtTensor *tensors[] = {&in, &out};
  EXPECT_EQ(ft_call(entry, tensors, 2, nullptr), FT_INVALID_ARGUMENT);
  EXPECT_NE(strstr(ft_last_error(), "kernel checked: an index was out of range"), nullptr);
  ft_module_release(module);
}

TEST(CApi, EachThreadHasItsMessage) {
  FtModule *module = nullptr;
  EXPECT_EQ(ft_module_load("/no/such.ftb", nullptr, &module), FT_NOT_FOUND);
  std::string before = ft_last_error();
  std::thread([] { EXPECT_STREQ(ft_last_error(), ""); }).join();
  EXPECT_EQ(ft_last_error(), before);
}

TEST(CApi, TheExampleRuns) {
  TestDir dir;
  Bundle bundle = hostBundle();
  ASSERT_TRUE(bundle.write(dir / "scale.ftb").ok());
  auto run = [&](const std::string &rest) {
    // The example leaves memory to the system when it fails.
    std::string command = "ASAN_OPTIONS=detect_leaks=0 " + std::string(FT_C_EXAMPLE) + " " +
                          (dir / "scale.ftb") + rest + " 2>&1";
    std::string text;
    FILE *pipe = popen(command.c_str(), "r");
    for (int c; (c = fgetc(pipe)) != EOF;)
      text += char(c);
    return text + "exit " + std::to_string(WEXITSTATUS(pclose(pipe)));
  };
  EXPECT_EQ(run(" scale 3x4"), "scale for cpu\ny: 0 2 4 6 8 10 12 14\nexit 0");
  EXPECT_EQ(run(" scale 3x5"),
            "error: invalid argument: entry \"scale\", argument 0 \"x\": wrong "
            "extent of dimension 1: expected Nx4xf32, found 3x5xf32, found N = 3\nexit 1");
  EXPECT_EQ(run(" scale"), "error: a shape for each input is needed\nexit 1");
}
