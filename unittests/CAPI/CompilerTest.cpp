//===- CompilerTest.cpp - ft-c/Compiler.h ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft-c/Compiler.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

extern "C" FtStatus runPlainC(const char *text, const char *target, float *in, float *out, int64_t length);

namespace {
constexpr const char *prefixSum = R"(
func.func @prefix(%xs: !ft.list<[L], tensor<2xf32>>) -> !ft.list<[L], tensor<2xf32>> {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %r = ft.scanl (%x = %xs : !ft.list<[L], tensor<2xf32>>) init (%s = %zero : tensor<2xf32>)
      -> !ft.list<[L], tensor<2xf32>> {
    %n = arith.addf %s, %x : tensor<2xf32>
    ft.yield %n : tensor<2xf32>
  }
  return %r : !ft.list<[L], tensor<2xf32>>
}
)";

/// What a callback saw.
struct Seen {
  std::vector<std::string> errors, remarks;
  std::vector<int32_t> lines;
  int notes = 0;

  static void take(const FtDiagnostic *diagnostic, void *user) {
    auto &seen = *static_cast<Seen *>(user);
    (diagnostic->severity == FT_REMARK ? seen.remarks : seen.errors).push_back(diagnostic->message);
    seen.lines.push_back(diagnostic->num_places ? diagnostic->places[0].line : 0);
    seen.notes += diagnostic->num_notes;
  }
};

struct Compiler {
  explicit Compiler(bool remarks = false) {
    FtCompilerOptions options = {};
    options.struct_size = sizeof options;
    options.diagnostic = Seen::take;
    options.user = &seen;
    options.remarks = remarks;
    EXPECT_EQ(ft_compiler_create(&options, &handle), FT_OK);
  }
  ~Compiler() { ft_compiler_release(handle); }
  FtSource *parse(const std::string &text, const char *name = "test.mlir") {
    FtSource *source = nullptr;
    status = ft_source_parse(handle, text.data(), text.size(), name, &source);
    return source;
  }

  Seen seen;
  FtCompiler *handle = nullptr;
  FtStatus status = FT_OK;
};

FtCompileOptions makeOptions(const char *target) {
  FtCompileOptions options = {};
  options.struct_size = sizeof options;
  options.target = target;
  return options;
}

std::string print(FtSource *source, const char *to, const FtCompileOptions *options = nullptr) {
  std::string text;
  FtStatus status = ft_print(
      source, options, to,
      [](const char *piece, size_t size, void *user) { static_cast<std::string *>(user)->append(piece, size); }, &text);
  EXPECT_EQ(status, FT_OK) << ft_last_error();
  return text;
}

std::string readFile(const std::string &path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}
} // namespace

TEST(Compiler, RunsFromPlainC) {
  for (const char *target : {"interpret", "cpu"}) {
    float in[10] = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50}, out[10] = {};
    ASSERT_EQ(runPlainC(nullptr, target, in, out, 5), FT_OK) << ft_last_error();
    for (int t = 0; t < 5; ++t) {
      EXPECT_EQ(out[2 * t], float((t + 1) * (t + 2) / 2)) << target;
      EXPECT_EQ(out[2 * t + 1], float(5 * (t + 1) * (t + 2))) << target;
    }
  }
}

TEST(Compiler, PrintsAtEachPhase) {
  Compiler compiler;
  FtSource *source = compiler.parse(prefixSum);
  ASSERT_TRUE(source);
  EXPECT_STREQ(ft_source_entry_name(source, 0), "prefix");
  EXPECT_EQ(ft_source_entry_name(source, 1), nullptr);
  EXPECT_NE(print(source, "ft").find("ft.scanl"), std::string::npos);
  for (int32_t i = 2; const char *phase = ft_phase_name(i); ++i) {
    std::string text = print(source, phase);
    // From phase tile on the graph is loops, in one program.
    bool isLoops = std::strcmp(phase, "tile") == 0 || std::strcmp(phase, "threads") == 0 || std::strcmp(phase, "pipeline") == 0 ||
                   std::strcmp(phase, "target") == 0;
    EXPECT_NE(text.find(isLoops ? "loops.program @prefix" : "etdg.graph @prefix"), std::string::npos) << phase;
    EXPECT_EQ(text.find("ft.scanl"), std::string::npos) << phase;
  }
  EXPECT_NE(print(source, "llvm").find("define"), std::string::npos);
  FtCompileOptions gpu = makeOptions("sm_90a");
  EXPECT_NE(print(source, "ptx", &gpu).find(".target sm_90a"), std::string::npos);
  EXPECT_NE(print(source, "input").find("ft.scanl"), std::string::npos); // as it was
  FtTextFn ignore = [](const char *, size_t, void *) {};
  EXPECT_EQ(ft_print(source, nullptr, "ptx", ignore, nullptr), FT_INVALID_ARGUMENT);
  EXPECT_EQ(ft_print(source, nullptr, "nothing", ignore, nullptr), FT_INVALID_ARGUMENT);
  EXPECT_NE(std::string(ft_last_error()).find("coarsen"), std::string::npos);
  ft_source_release(source);
}

TEST(Compiler, DrawsGraphs) {
  Compiler compiler;
  FtSource *source = compiler.parse(prefixSum);
  ASSERT_TRUE(source);
  for (auto [as, begin] : {std::pair("dot", "digraph"), {"json", "{"}, {"html", "<!DOCTYPE html>"}}) {
    std::string text;
    auto append = [](const char *piece, size_t size, void *user) { static_cast<std::string *>(user)->append(piece, size); };
    EXPECT_EQ(ft_print(source, nullptr, as, append, &text), FT_OK) << as;
    EXPECT_EQ(text.compare(0, strlen(begin), begin), 0) << text.substr(0, 40);
  }
  ft_source_release(source);
}

TEST(Compiler, EvaluatesRaggedLists) {
  Compiler compiler;
  FtSource *source = compiler.parse(R"(
func.func @sums(%xss: !ft.list<[N, ragged(len)], tensor<i64>>) -> (!ft.list<[N], tensor<i64>>, !ft.list<[N, ragged(len)], tensor<i64>>) {
  %zero = arith.constant dense<0> : tensor<i64>
  %s = ft.map (%xs = %xss : !ft.list<[N, ragged(len)], tensor<i64>>) -> !ft.list<[N], tensor<i64>> {
    %t = ft.foldl (%x = %xs : !ft.list<[ragged(len)], tensor<i64>>) init (%a = %zero : tensor<i64>) -> tensor<i64> {
      %b = arith.addi %a, %x : tensor<i64>
      ft.yield %b : tensor<i64>
    }
    ft.yield %t : tensor<i64>
  }
  return %s, %xss : !ft.list<[N], tensor<i64>>, !ft.list<[N, ragged(len)], tensor<i64>>
}
)");
  ASSERT_TRUE(source);
  int64_t values[] = {1, 2, 3, 4, 5}, offsets[] = {0, 2, 2, 5}, five = 5, four = 4;
  FtTensor tensors[2] = {};
  for (FtTensor &tensor : tensors) {
    tensor.device.type = FT_CPU;
    tensor.ndim = 1;
    tensor.dtype = {0, 64, 1};
  }
  tensors[0].data = values;
  tensors[0].shape = &five;
  tensors[1].data = offsets;
  tensors[1].shape = &four;
  const FtTensor *inputs[] = {&tensors[0], &tensors[1]};
  std::vector<std::vector<int64_t>> found;
  auto take = [](const FtTensor *array, void *user) {
    auto *data = static_cast<int64_t *>(array->data);
    static_cast<std::vector<std::vector<int64_t>> *>(user)->emplace_back(data, data + array->shape[0]);
  };
  ASSERT_EQ(ft_evaluate(source, "sums", inputs, 2, take, &found), FT_OK) << ft_last_error();
  EXPECT_EQ(found, (std::vector<std::vector<int64_t>>{{3, 0, 12}, {1, 2, 3, 4, 5}, {0, 2, 2, 5}}));

  found.clear();
  EXPECT_EQ(ft_evaluate(source, "other", inputs, 2, take, &found), FT_NOT_FOUND);
  EXPECT_EQ(ft_evaluate(source, nullptr, inputs, 1, take, &found), FT_INVALID_ARGUMENT);
  offsets[3] = 6; // more elements than there are
  EXPECT_EQ(ft_evaluate(source, nullptr, inputs, 2, take, &found), FT_INVALID_ARGUMENT);
  tensors[0].device.type = FT_CUDA;
  EXPECT_EQ(ft_evaluate(source, nullptr, inputs, 2, take, &found), FT_INVALID_ARGUMENT);
  EXPECT_TRUE(found.empty());
  ft_source_release(source);
}

TEST(Compiler, SaysWhatIsWrong) {
  Compiler compiler;
  testing::internal::CaptureStderr();
  EXPECT_EQ(compiler.parse("func.func @f() {\n  return %x : i32\n}\n"), nullptr);
  EXPECT_EQ(compiler.status, FT_INVALID_PROGRAM);
  ASSERT_FALSE(compiler.seen.errors.empty());
  EXPECT_EQ(compiler.seen.lines[0], 2);
  EXPECT_EQ(std::string(ft_last_error()).find("test.mlir:2:"), 0u) << ft_last_error();
  // A hostile text is refused before it is parsed, and with its place, too.
  compiler.seen = {};
  EXPECT_EQ(compiler.parse("\n" + std::string(100000, '(')), nullptr);
  ASSERT_EQ(compiler.seen.errors.size(), 1u);
  EXPECT_EQ(compiler.seen.lines[0], 2);
  // An error of a phase: a call whose callee has no body.
  compiler.seen = {};
  FtSource *source = compiler.parse("func.func private @h(tensor<4xf32>) -> tensor<4xf32>\n"
                                    "func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                                    "  %y = call @h(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
                                    "  return %y : tensor<4xf32>\n}\n");
  ASSERT_TRUE(source);
  FtProgram *program = nullptr;
  EXPECT_EQ(ft_compile(source, nullptr, &program), FT_INVALID_PROGRAM);
  EXPECT_EQ(program, nullptr);
  EXPECT_FALSE(compiler.seen.errors.empty());
  ft_source_release(source);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Compiler, RefusesBadOptions) {
  Compiler compiler;
  FtSource *source = compiler.parse(prefixSum);
  ASSERT_TRUE(source);
  FtProgram *program = nullptr;
  auto refuse = [&](FtCompileOptions options, FtStatus status, const char *text) {
    EXPECT_EQ(ft_compile(source, &options, &program), status);
    EXPECT_NE(std::string(ft_last_error()).find(text), std::string::npos) << ft_last_error();
    EXPECT_EQ(program, nullptr);
  };
  refuse(makeOptions("vax"), FT_INVALID_ARGUMENT, "sm_90a");
  refuse(makeOptions("interpret,cpu"), FT_INVALID_ARGUMENT, "alone");
  FtCompileOptions options = makeOptions("cpu");
  options.entry = "other";
  refuse(options, FT_NOT_FOUND, "prefix");
  options = makeOptions("cpu");
  options.skip = "ft";
  refuse(options, FT_INVALID_ARGUMENT, "coarsen");
  options = makeOptions("cpu");
  options.rounding = "down";
  refuse(options, FT_INVALID_ARGUMENT, "expected exact or excess, found \"down\"");
  options = makeOptions("cpu");
  options.struct_size = 1;
  refuse(options, FT_INVALID_ARGUMENT, "struct_size");
  FtScheduleOptions schedule = {};
  schedule.struct_size = sizeof schedule;
  schedule.gpu_step_threads = 33;
  options = makeOptions("cpu");
  options.schedule = &schedule;
  refuse(options, FT_INVALID_ARGUMENT, "gpu_step_threads");
  ft_source_release(source);
}

namespace {
double predict(FtSource *source, const char *machine) {
  FtCompileOptions options = makeOptions("cpu");
  options.machine = machine;
  FtProgram *program = nullptr;
  double nanoseconds = -1;
  EXPECT_EQ(ft_compile(source, &options, &program), FT_OK) << ft_last_error();
  EXPECT_EQ(ft_program_figure(program, "predicted_nanoseconds", &nanoseconds), FT_OK);
  ft_program_release(program);
  return nanoseconds;
}
} // namespace

/// The machine that a caller names is what a program is planned and estimated for.
TEST(Compiler, PlansForTheGivenMachine) {
  Compiler compiler;
  FtSource *source = compiler.parse(readFile(FT_EXAMPLES "/stacked_rnn.mlir"));
  ASSERT_TRUE(source);
  std::string file = FT_EXAMPLES "/../test/machines/cpu.json", text = readFile(file);
  size_t launch = text.find("\"launch\": 1.5e-6");
  ASSERT_NE(launch, std::string::npos);
  text.replace(launch, strlen("\"launch\": 1.5e-6"), "\"launch\": 1.5e-1");
  std::string slow = testing::TempDir() + "/slow.json";
  std::ofstream(slow) << text;
  double fast = predict(source, file.c_str());
  EXPECT_GT(fast, 0);
  EXPECT_GT(predict(source, slow.c_str()), 100 * fast);
  // One that is none, or serves other targets, is refused by name.
  FtProgram *program = nullptr;
  FtCompileOptions options = makeOptions("cpu");
  for (const char *machine : {"/nowhere/machine.json", "no-such-machine", "h200"}) {
    options.machine = machine;
    EXPECT_EQ(ft_compile(source, &options, &program), FT_INVALID_PROGRAM) << machine;
    EXPECT_NE(std::string(ft_last_error()).find(machine), std::string::npos) << ft_last_error();
    EXPECT_EQ(program, nullptr);
  }
  ft_source_release(source);
}

/// Whatever is asked for and whatever is wrong with it, the process' own streams stay as they are.
TEST(Compiler, WritesNothingByItself) {
  std::string broken = testing::TempDir() + "/broken.json";
  std::ofstream(broken) << "{\"name\": ";
  Compiler compiler(/*remarks=*/true);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  FtSource *source = compiler.parse(readFile(FT_EXAMPLES "/gru.mlir"));
  ASSERT_TRUE(source);
  std::vector<FtStatus> compiled, refused;
  for (int32_t i = 0; const char *target = ft_target_name(i); ++i) {
    FtCompileOptions options = makeOptions(target);
    FtProgram *program = nullptr;
    compiled.push_back(ft_compile(source, &options, &program));
    ft_program_release(program);
    options.machine = broken.c_str();
    if (strcmp(target, "interpret") != 0)
      refused.push_back(ft_compile(source, &options, &program));
  }
  for (const char *text : {"func.func @f(", "module { \"unknown.op\"() : () -> () }", "\xff\xfe", "ML\xefR"}) {
    FtSource *wrong = compiler.parse(text);
    EXPECT_EQ(wrong, nullptr);
    ft_source_release(wrong);
  }
  FtModule *module = nullptr;
  EXPECT_NE(ft_module_load("/nowhere/x.ftb", nullptr, &module), FT_OK);
  ft_source_release(source);
  std::string out = testing::internal::GetCapturedStdout(), err = testing::internal::GetCapturedStderr();
  EXPECT_EQ(out, "");
  EXPECT_EQ(err, "");
  for (FtStatus status : compiled)
    EXPECT_EQ(status, FT_OK);
  for (FtStatus status : refused)
    EXPECT_EQ(status, FT_INVALID_PROGRAM);
}

/// What `ft_print` writes for a rounding.
static std::string printRounded(FtSource *source, const char *to, const char *rounding) {
  FtCompileOptions options = makeOptions("cpu");
  options.rounding = rounding;
  std::string text;
  auto append = [](const char *part, size_t size, void *user) { static_cast<std::string *>(user)->append(part, size); };
  EXPECT_EQ(ft_print(source, &options, to, append, &text), FT_OK) << ft_last_error();
  return text;
}

static size_t countWords(const std::string &text, const char *word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

/// Halves stay f32 between the operations of a body unless a caller asks for each to be rounded, in what is printed as in what is
/// compiled.
TEST(Compiler, RoundsHalvesAsAsked) {
  Compiler compiler;
  FtSource *source = compiler.parse(R"(func.func @chain(%x: tensor<8xf16>) -> tensor<8xf16> {
    %a = arith.mulf %x, %x : tensor<8xf16>
    %b = arith.addf %a, %x : tensor<8xf16>
    return %b : tensor<8xf16>
  })");
  ASSERT_TRUE(source);
  EXPECT_EQ(countWords(printRounded(source, "coarsen", "exact"), "f32"), 0u);
  std::string wide = printRounded(source, "coarsen", "excess");
  EXPECT_EQ(printRounded(source, "coarsen", nullptr), wide);
  EXPECT_NE(wide.find("arith.addf"), std::string::npos) << wide;
  EXPECT_EQ(countWords(wide, "arith.truncf"), 1u) << wide;
  EXPECT_NE(countWords(printRounded(source, "llvm", "excess"), "fptrunc"), 0u);
  EXPECT_EQ(countWords(printRounded(source, "llvm", "exact"), "fptrunc"), 0u);
  ft_source_release(source);
}

/// What one compiler is set to is not the other's affair.
TEST(Compiler, KeepsSettingsApart) {
  Compiler loud(/*remarks=*/true), quiet;
  FtCompilerOptions options = {};
  options.struct_size = sizeof options;
  options.max_nesting = 2;
  FtCompiler *narrow = nullptr;
  ASSERT_EQ(ft_compiler_create(&options, &narrow), FT_OK);
  FtSource *refused = nullptr;
  EXPECT_EQ(ft_source_parse(narrow, prefixSum, strlen(prefixSum), nullptr, &refused), FT_INVALID_PROGRAM);
  FtScheduleOptions schedule = {};
  schedule.struct_size = sizeof schedule;
  schedule.cpu_plan_seed = 7;
  FtCompileOptions seeded = makeOptions("cpu"), plain = makeOptions("cpu");
  seeded.schedule = &schedule;
  seeded.no_validation = 1;
  std::vector<std::thread> threads;
  for (auto [compiler, how] : {std::pair(&loud, &seeded), std::pair(&quiet, &plain)})
    threads.emplace_back([compiler = compiler, how = how] {
      for (int i = 0; i < 4; ++i) {
        FtSource *source = compiler->parse(prefixSum);
        FtProgram *program = nullptr;
        EXPECT_EQ(ft_compile(source, how, &program), FT_OK) << ft_last_error();
        ft_program_release(program);
        ft_source_release(source);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(loud.seen.remarks.empty());
  EXPECT_TRUE(quiet.seen.remarks.empty());
  ft_compiler_release(narrow);
}

TEST(Compiler, EndsWhenCancelled) {
  Compiler compiler;
  FtSource *source = compiler.parse(prefixSum);
  ASSERT_TRUE(source);
  int32_t flag = 1;
  FtCompileOptions options = makeOptions("cpu");
  options.cancel = &flag;
  FtProgram *program = nullptr;
  EXPECT_EQ(ft_compile(source, &options, &program), FT_CANCELLED);
  EXPECT_EQ(program, nullptr);
  flag = 0; // and the source is as it was
  EXPECT_EQ(ft_compile(source, &options, &program), FT_OK) << ft_last_error();
  ft_program_release(program);
  ft_source_release(source);
}

TEST(Compiler, GivesRemarks) {
  Compiler compiler(/*remarks=*/true);
  FtSource *source = compiler.parse(readFile(FT_EXAMPLES "/stacked_rnn.mlir"));
  ASSERT_TRUE(source);
  FtProgram *program = nullptr;
  ASSERT_EQ(ft_compile(source, nullptr, &program), FT_OK) << ft_last_error();
  EXPECT_FALSE(compiler.seen.remarks.empty());
  for (const std::string &text : compiler.seen.remarks)
    EXPECT_FALSE(text.empty());
  EXPECT_TRUE(compiler.seen.errors.empty());
  ft_program_release(program);
  ft_source_release(source);
}

TEST(Compiler, ExportsABundle) {
  Compiler compiler;
  FtSource *source = compiler.parse(prefixSum);
  ASSERT_TRUE(source);
  FtProgram *program = nullptr;
  ASSERT_EQ(ft_compile(source, nullptr, &program), FT_OK) << ft_last_error();
  std::string path = testing::TempDir() + "/prefix.ftb";
  ASSERT_EQ(ft_program_export(program, path.c_str()), FT_OK) << ft_last_error();
  FtModule *module = nullptr;
  ASSERT_EQ(ft_module_load(path.c_str(), nullptr, &module), FT_OK) << ft_last_error();
  EXPECT_STREQ(ft_module_entry_name(module, 0), "prefix");
  ft_module_release(module);
  ft_program_release(program);
  FtCompileOptions options = makeOptions("interpret");
  ASSERT_EQ(ft_compile(source, &options, &program), FT_OK) << ft_last_error();
  EXPECT_EQ(ft_program_export(program, path.c_str()), FT_UNSUPPORTED_FORMAT);
  ft_program_release(program);
  ft_source_release(source);
}

TEST(Compiler, StoresCodeThatAnotherProcessLoads) {
  Compiler compiler;
  FtSource *source = compiler.parse(readFile(FT_EXAMPLES "/stacked_rnn.mlir"));
  ASSERT_TRUE(source);
  // Several parts, of a class of processors and of this one.
  for (const char *target : {"cpu", "x86-64-v3"}) {
    FtProgram *program = nullptr;
    FtCompileOptions options = makeOptions(target);
    if (ft_compile(source, &options, &program) == FT_INVALID_ARGUMENT)
      continue; // another architecture
    const void *bytes = nullptr;
    size_t size = 0;
    ASSERT_EQ(ft_program_bytes(program, &bytes, &size), FT_OK) << ft_last_error();
    FtModule *module = nullptr;
    FtEntry *entry = nullptr;
    ASSERT_EQ(ft_module_load_bytes(bytes, size, nullptr, &module), FT_OK) << ft_last_error();
    EXPECT_EQ(ft_module_entry(module, "stacked_rnn", &entry), FT_OK) << ft_last_error();
    FtEntryInfo info = {sizeof info, nullptr, 0, 0, nullptr, nullptr};
    EXPECT_EQ(ft_entry_info(entry, &info), FT_OK);
    EXPECT_STREQ(info.target, strcmp(target, "cpu") == 0 ? ft_host_processor() : target);
    ft_module_release(module);
    double figure = 0;
    EXPECT_EQ(ft_program_figure(program, "code_bytes", &figure), FT_OK);
    EXPECT_GT(figure, 100);
    ft_program_release(program);
  }
  ft_source_release(source);
}

/// Wrong arguments are found by the runtime, whatever runs the program.
TEST(Compiler, ChecksArgumentsOfEveryTarget) {
  for (const char *target : {"interpret", "cpu"}) {
    float in[8] = {}, out[8] = {};
    EXPECT_EQ(runPlainC("func.func @f(%xs: !ft.list<[L], tensor<3xf32>>) -> !ft.list<[L], tensor<3xf32>> {\n"
                        "  return %xs : !ft.list<[L], tensor<3xf32>>\n}\n",
                        target, in, out, 4),
              FT_INVALID_ARGUMENT);
    EXPECT_NE(std::string(ft_last_error()).find("expected Lx3xf32, found 4x2xf32"), std::string::npos)
        << ft_last_error();
  }
}

TEST(Compiler, CompilesOnSeveralThreads) {
  std::atomic<int> equal{0};
  Compiler shared;
  FtSource *source = shared.parse(prefixSum);
  ASSERT_TRUE(source);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      float in[4] = {1, 2, 3, 4}, out[4] = {};
      if (runPlainC(nullptr, i % 2 ? "cpu" : "interpret", in, out, 2) == FT_OK && out[3] == 6)
        ++equal;
      FtProgram *program = nullptr; // of one source, too
      if (ft_compile(source, nullptr, &program) == FT_OK)
        ++equal;
      ft_program_release(program);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(equal, 8);
  ft_source_release(source);
}
