//===- HeldTest.cpp - parameters that a module holds ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SamplePrograms.h"
#include "TestDir.h"

#include "ft-c/Runtime.h"
#include "ft/Runtime/Arrays/Safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <thread>

using namespace ft::rt;

namespace {
/// y = x * w + s, where w is held and s = w * w * v is computed when w and v are bound.
Bundle program() {
  Bundle bundle;
  bundle.producer = "test";
  auto add = [&](const char *name, std::vector<Argument> arguments, bool binds) {
    Entry e;
    e.name = name;
    e.arguments = std::move(arguments);
    e.binds = binds;
    Plan p;
    p.target = "x86-64-v3";
    p.variant = "default";
    p.kernels = {"kernel"};
    Step s;
    for (size_t i = 0; i < e.arguments.size(); ++i) {
      p.buffers.push_back({Buffer::argument, int64_t(i), 0});
      s.launched.arguments.push_back(sample::pointer(int64_t(i)));
    }
    p.steps.push_back(s);
    e.plans.push_back(p);
    bundle.entries.push_back(e);
  };
  auto held = [](const char *name) {
    Argument a{name, DType::f32, {3}};
    a.held = true;
    return a;
  };
  Argument y{"y", DType::f32, {3}, /*output=*/true}, s{"s", DType::f32, {3}, /*output=*/true};
  add("f", {held("w"), {"x", DType::f32, {3}}, held("s"), y}, false);
  add("f_bind", {held("w"), held("v"), s}, true);
  return bundle;
}

struct Kernels {
  int binds = 0, fails = 0;
  static const char *launch(void *context, const char *entry, int32_t, void **arguments) {
    auto *self = static_cast<Kernels *>(context);
    auto at = [&](int i) { return *static_cast<float **>(arguments[i]); };
    if (std::string_view(entry) == "f_bind") {
      if (self->fails)
        return "no memory for tests";
      ++self->binds;
      for (int i = 0; i < 3; ++i)
        at(2)[i] = at(0)[i] * at(0)[i] * at(1)[i];
    } else {
      for (int i = 0; i < 3; ++i)
        at(3)[i] = at(1)[i] * at(0)[i] + at(2)[i];
    }
    return nullptr;
  }
};

struct Value {
  explicit Value(std::vector<float> values) : values(std::move(values)), extent(int64_t(this->values.size())) {}
  FtTensor tensor() {
    FtTensor t = {};
    t.data = values.data();
    t.device = {FT_CPU, 0};
    t.ndim = 1;
    t.dtype = {2, 32, 1};
    t.shape = &extent;
    return t;
  }
  std::vector<float> values;
  int64_t extent;
};

std::string header(std::string json, std::string data) {
  std::string out(8, '\0');
  for (size_t i = 0; i < 8; ++i)
    out[i] = char(json.size() >> (8 * i));
  return out + json + data;
}

std::string floats(std::vector<float> values) { return {reinterpret_cast<const char *>(values.data()), 4 * values.size()}; }

std::string goodFile() {
  return header(R"({"__metadata__":{"by":"test"},"v":{"dtype":"F32","shape":[3],"data_offsets":[12,24]},"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})",
                floats({2, 3, 4, 1, 1, 1}));
}

class Held : public testing::Test {
protected:
  void SetUp() override { load(program()); }
  void TearDown() override { ft_module_release(module); }
  void load(const Bundle &bundle) {
    ft_module_release(module);
    module = nullptr;
    std::string bytes = bundle.serialize();
    FtKernels k = {sizeof(FtKernels), Kernels::launch, nullptr, &kernels};
    status = ft_module_load_kernels(bytes.data(), bytes.size(), &k, &module);
    entry = nullptr;
    if (status == FT_OK) {
      ASSERT_EQ(ft_module_entry(module, nullptr, &entry), FT_OK) << ft_last_error();
    }
  }
  FtStatus bind(std::vector<std::pair<const char *, FtTensor>> values) {
    std::vector<const char *> names;
    std::vector<const FtTensor *> tensors;
    for (auto &[name, tensor] : values) {
      names.push_back(name);
      tensors.push_back(&tensor);
    }
    return ft_module_bind(module, names.data(), tensors.data(), int32_t(values.size()));
  }
  FtStatus call(std::vector<float> &out) {
    Value x({1, 10, 100}), y({0, 0, 0});
    FtTensor a = x.tensor(), b = y.tensor();
    const FtTensor *both[] = {&a, &b};
    FtStatus found = ft_call(entry, both, 2, nullptr);
    out = y.values;
    return found;
  }
  void expectRefused(FtStatus found, FtStatus expected, const std::string &text) {
    EXPECT_EQ(found, expected);
    EXPECT_NE(std::string(ft_last_error()).find(text), std::string::npos) << ft_last_error();
  }

  Kernels kernels;
  FtModule *module = nullptr;
  FtEntry *entry = nullptr;
  FtStatus status = FT_OK;
};
} // namespace

TEST_F(Held, CallsPassInputsAndOutputsAlone) {
  EXPECT_EQ(ft_module_num_entries(module), 1);
  EXPECT_EQ(std::string(ft_module_entry_name(module, 0)), "f");
  FtEntryInfo info = {sizeof(FtEntryInfo)};
  ASSERT_EQ(ft_entry_info(entry, &info), FT_OK);
  EXPECT_EQ(info.num_arguments, 2);
  FtArgumentInfo argument = {sizeof(FtArgumentInfo)};
  ASSERT_EQ(ft_entry_argument(entry, 1, &argument), FT_OK);
  EXPECT_EQ(std::string(argument.name), "y");
  EXPECT_EQ(argument.is_output, 1);
  EXPECT_NE(ft_entry_argument(entry, 2, &argument), FT_OK);

  ASSERT_EQ(ft_module_num_held(module), 3);
  std::vector<float> y;
  expectRefused(call(y), FT_INVALID_ARGUMENT, "parameter \"w\" has no value");
  Value w({2, 3, 4}), v({1, 1, 1});
  ASSERT_EQ(bind({{"w", w.tensor()}}), FT_OK) << ft_last_error();
  EXPECT_EQ(kernels.binds, 0);
  expectRefused(call(y), FT_INVALID_ARGUMENT, "parameter \"s\" has no value");
  ASSERT_EQ(bind({{"v", v.tensor()}}), FT_OK) << ft_last_error();
  EXPECT_EQ(kernels.binds, 1);
  w.values = {0, 0, 0}; // the module has a copy
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(call(y), FT_OK) << ft_last_error();
    EXPECT_EQ(y, (std::vector<float>{6, 39, 416}));
  }
  EXPECT_EQ(kernels.binds, 1);
  // A replaced one counts in what is computed from it, too.
  w.values = {1, 1, 2};
  ASSERT_EQ(bind({{"w", w.tensor()}}), FT_OK) << ft_last_error();
  ASSERT_EQ(call(y), FT_OK);
  EXPECT_EQ(y, (std::vector<float>{2, 11, 204}));

  FtTensor x = v.tensor();
  const FtTensor *one[] = {&x, &x, &x};
  expectRefused(ft_call(entry, one, 1, nullptr), FT_INVALID_ARGUMENT, "expected 2 arguments, found 1");
  expectRefused(ft_call(entry, one, 3, nullptr), FT_INVALID_ARGUMENT, "expected 2 arguments, found 3");
  v.extent = 2;
  expectRefused(ft_call(entry, one, 2, nullptr), FT_INVALID_ARGUMENT, "argument 0 \"x\": wrong");
}

TEST_F(Held, SaysWhatIsHeld) {
  Value w({2, std::numeric_limits<float>::infinity(), NAN});
  ASSERT_EQ(bind({{"w", w.tensor()}}), FT_OK);
  FtHeldInfo info = {sizeof(FtHeldInfo)};
  std::string all;
  for (int32_t i = 0; i < ft_module_num_held(module); ++i) {
    ASSERT_EQ(ft_module_held(module, i, &info), FT_OK);
    all += std::string(info.name) + " " + info.dtype + " " + std::to_string(info.ndim) + " " + std::to_string(info.shape[0]) + " " +
           std::to_string(info.is_derived) + std::to_string(info.is_bound) + " " + std::to_string(info.not_finite) + "\n";
  }
  EXPECT_EQ(all, "w f32 1 3 01 2\ns f32 1 3 10 -1\nv f32 1 3 00 -1\n");
  EXPECT_NE(ft_module_held(module, 3, &info), FT_OK);
}

TEST_F(Held, ABoundModuleStaysAsItWas) {
  Value w({2, 3, 4}), v({1, 1, 1}), other({5, 6, 7}), shorter({1, 2});
  ASSERT_EQ(bind({{"w", w.tensor()}, {"v", v.tensor()}}), FT_OK);
  FtTensor strided = other.tensor(), wrong = other.tensor(), nowhere = other.tensor();
  int64_t two = 2;
  strided.strides = &two;
  wrong.dtype = {0, 32, 1};
  nowhere.device = {FT_CUDA, 0};
  expectRefused(bind({{"w", other.tensor()}, {"z", v.tensor()}}), FT_NOT_FOUND, "no parameter \"z\"");
  expectRefused(bind({{"w", other.tensor()}, {"w", v.tensor()}}), FT_INVALID_ARGUMENT, "two values for parameter \"w\"");
  expectRefused(bind({{"w", other.tensor()}, {"s", v.tensor()}}), FT_INVALID_ARGUMENT, "\"s\" is computed from parameters");
  expectRefused(bind({{"w", other.tensor()}, {"v", shorter.tensor()}}), FT_INVALID_ARGUMENT, "parameter \"v\": expected 3xf32, found 2xf32");
  expectRefused(bind({{"w", wrong}}), FT_INVALID_ARGUMENT, "parameter \"w\": expected 3xf32, found 3xi32");
  expectRefused(bind({{"w", strided}}), FT_INVALID_ARGUMENT, "dense");
  expectRefused(bind({{"w", nowhere}}), FT_INVALID_ARGUMENT, "expected a tensor of the CPU");
  kernels.fails = 1;
  EXPECT_NE(bind({{"w", other.tensor()}}), FT_OK);
  std::vector<float> y;
  ASSERT_EQ(call(y), FT_OK);
  EXPECT_EQ(y, (std::vector<float>{6, 39, 416}));
}

TEST_F(Held, CallsUseOneSetOfValues) {
  Value first({1, 1, 1}), second({2, 2, 2}), v({1, 1, 1});
  ASSERT_EQ(bind({{"w", first.tensor()}, {"v", v.tensor()}}), FT_OK);
  std::thread binder([&] {
    for (int i = 0; i < 500; ++i)
      ASSERT_EQ(bind({{"w", i % 2 ? first.tensor() : second.tensor()}}), FT_OK);
  });
  for (int i = 0; i < 2000; ++i) {
    std::vector<float> y;
    ASSERT_EQ(call(y), FT_OK);
    // x w + w w: of one w.
    EXPECT_TRUE(y == (std::vector<float>{2, 11, 101}) || y == (std::vector<float>{6, 24, 204})) << y[0];
  }
  binder.join();
}

TEST_F(Held, FilesAndBundles) {
  TestDir dir;
  std::string path = dir / "model.safetensors";
  auto write = [&](const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  write(goodFile());
  ASSERT_EQ(ft_module_bind_file(module, path.c_str()), FT_OK) << ft_last_error();
  std::vector<float> y;
  ASSERT_EQ(call(y), FT_OK);
  EXPECT_EQ(y, (std::vector<float>{6, 39, 416}));
  write(header(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", floats({1, 1, 1})));
  expectRefused(ft_module_bind_file(module, path.c_str()), FT_NOT_FOUND, "has no value for parameter \"v\"");
  write(header(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"v":{"dtype":"F32","shape":[3],"data_offsets":[12,24]},"u":{"dtype":"F32","shape":[0],"data_offsets":[24,24]}})",
               floats({1, 1, 1, 1, 1, 1})));
  expectRefused(ft_module_bind_file(module, path.c_str()), FT_NOT_FOUND, "no parameter \"u\"");
  expectRefused(ft_module_bind_file(module, (path + ".not").c_str()), FT_NOT_FOUND, "cannot open");
  ASSERT_EQ(call(y), FT_OK);
  EXPECT_EQ(y, (std::vector<float>{6, 39, 416}));

  Bundle bundle = program();
  bundle.sections.push_back({Section::data, "safetensors", goodFile()});
  load(bundle);
  ASSERT_EQ(status, FT_OK) << ft_last_error();
  ASSERT_EQ(call(y), FT_OK);
  EXPECT_EQ(y, (std::vector<float>{6, 39, 416}));
  bundle.sections.back().bytes.resize(bundle.sections.back().bytes.size() - 1);
  load(bundle);
  expectRefused(status, FT_CORRUPT, "the bundle's parameters");
}

TEST_F(Held, DamagedEntries) {
  auto refused = [&](void (*damage)(Bundle &), const std::string &text) {
    Bundle bundle = program();
    damage(bundle);
    load(bundle);
    expectRefused(status, FT_CORRUPT, text);
  };
  refused([](Bundle &b) { b.entries[1].arguments[1].held = false; }, "\"binds\" is of an entry of held inputs");
  refused([](Bundle &b) { b.entries[0].arguments[0].output = true; }, "\"held\" is of a dense input");
  refused([](Bundle &b) { b.entries[1].arguments[0].shape = {4}; }, "\"w\" is 3xf32 and 4xf32");
  refused([](Bundle &b) { b.entries[1].arguments[1].name = "s"; }, "computes from \"s\"");
}

TEST(Safetensors, Damaged) {
  std::vector<SafeTensor> tensors;
  std::string good = goodFile();
  ASSERT_TRUE(parseSafetensors(good, "file", tensors).ok());
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[0].name, "v");
  // Every shorter file is refused, and nothing is read beyond its end.
  for (size_t size = 0; size < good.size(); ++size) {
    std::string exact(good.data(), size);
    exact.shrink_to_fit();
    EXPECT_FALSE(parseSafetensors(exact, "file", tensors).ok()) << size;
  }
  auto expectError = [&](const std::string &content, const std::string &text) {
    Status status = parseSafetensors(content, "file", tensors);
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  };
  auto one = [](const std::string &fields, size_t bytes) { return header("{\"w\":{" + fields + "}}", std::string(bytes, 'x')); };
  expectError(std::string(8, '\xff') + "{}", "a header of 18446744073709551615 bytes");
  expectError(header("[]", ""), "no object");
  expectError(header("{\"w\":", ""), "header");
  expectError(one(R"("dtype":"F32","shape":[3])", 12), "expected \"dtype\"");
  expectError(one(R"("dtype":"F32","shape":[-3],"data_offsets":[0,12])", 12), "expected \"dtype\"");
  expectError(one(R"("dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3])", 3), "elements of type F8_E4M3");
  expectError(one(R"("dtype":"F32","shape":[3],"data_offsets":[0,16])", 12), "0 to 16 of 12");
  expectError(one(R"("dtype":"F32","shape":[3],"data_offsets":[12,0])", 12), "12 to 0 of 12");
  expectError(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,12])", 12), "2xf32 has 8 bytes, found 12");
  expectError(one(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])", 0), "w");
  expectError(one(R"("dtype":"F32","shape":[3],"data_offsets":[0,12])", 13), "1 bytes at its end");
  expectError(one(R"("dtype":"F32","shape":[3],"data_offsets":[1,13])", 13), "1 bytes before tensor \"w\"");
  expectError(header(R"({"v":{"dtype":"F32","shape":[3],"data_offsets":[4,16]},"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", std::string(16, 'x')),
              "tensors \"w\" and \"v\" overlap");
}
