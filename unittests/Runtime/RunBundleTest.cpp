//===- RunBundleTest.cpp - a command line over bundles --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Program/RunBundle.h"
#include "SamplePrograms.h"
#include "TestDir.h"
#include "ft/Runtime/Base/File.h"
#include "ft/Runtime/Arrays/Npy.h"
#include "ft/Runtime/Arrays/TestInputs.h"

#include <fstream>
#include <functional>
#include <gtest/gtest.h>

using namespace ft::rt;

namespace {
struct Result {
  int status;
  std::string out, err;
};

Result run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "ft-run-bundle");
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int status = runBundleMain(int(argv.size()), argv.data());
  fflush(stdout);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

/// The scale sample over the test's CPU library, with two schedules.
class RunBundle : public testing::Test {
protected:
  void SetUp() override {
    bundle = sample::scale("cpu");
    bundle.sections[0] = {Section::cpu, "cpu", {}};
    ASSERT_TRUE(readFile(FT_HOST_KERNELS, bundle.sections[0].bytes).ok());
    Plan other = bundle.entries[0].plans[0];
    other.variant = "other";
    bundle.entries[0].plans.push_back(other);
    bundle.sections.push_back(
        {Section::data, "generators",
         R"({"scale": {"arguments": [{"kind": "uniform", "lo": 5, "hi": 6}], "lengths": {"N": 3}}})"});
    file = dir / "scale.ftb";
    ASSERT_TRUE(bundle.write(file).ok());
  }
  void refused(std::vector<std::string> arguments, const std::string &why) {
    arguments.insert(arguments.begin(), file);
    Result r = run(arguments);
    EXPECT_EQ(r.status, 1) << why;
    EXPECT_EQ(r.out, "");
    EXPECT_NE(r.err.find(why), std::string::npos) << r.err;
    EXPECT_EQ(dir.entries(), files) << why;
  }
  TestDir dir;
  Bundle bundle;
  std::string file;
  int files = 1;
};
} // namespace

TEST(Lengths, Evaluate) {
  Lengths values = {{"L", 7}, {"big", INT64_MAX}};
  auto value = [&](const char *text) {
    int64_t out = -99;
    EXPECT_TRUE(evaluateLength(text, values, out).ok()) << text;
    return out;
  };
  EXPECT_EQ(value("12"), 12);
  EXPECT_EQ(value(" L - 2 "), 5);
  EXPECT_EQ(value("2 * L + 3 * (L - 1)"), 32);
  EXPECT_EQ(value("ceildiv(L, 2)"), 4);
  EXPECT_EQ(value("L floordiv 2 * 2"), 6);
  EXPECT_EQ(value("-L + 10"), 3);
  EXPECT_EQ(value("max(L mod 4, min(1, 2))"), 3);
  int64_t out = 0;
  for (const char *bad :
       {"", "M", "L +", "(L", "L L", "1.5", "ceildiv(L)", "big + 1", "L floordiv 0", "3x"})
    EXPECT_FALSE(evaluateLength(bad, values, out).ok()) << bad;
  for (char deep : {'(', '-'})
    EXPECT_FALSE(evaluateLength(std::string(1000000, deep), values, out).ok());
  EXPECT_NE(evaluateLength("M", values, out).message().find("M is not known"), std::string::npos);
}

TEST_F(RunBundle, GeneratesByTheBundle) {
  Result r = run({file, "--out=" + (dir / "y.npy")});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out, "scale on cpu, schedule default\n  y: 3x4xf32\n");
  HostArray y;
  ASSERT_TRUE(readNpy(dir / "y.npy", y).ok());
  EXPECT_EQ(y.describe(), "3x4xf32");
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_GE(y.getFloat(i), 10);
    EXPECT_LE(y.getFloat(i), 12);
  }
  // The same seed gives the same data, another seed other data.
  EXPECT_EQ(run({file, "--expect=" + (dir / "y.npy")}).status, 0);
  Result other = run({file, "--seed=1", "--expect", dir / "y.npy"});
  EXPECT_EQ(other.status, 1);
  EXPECT_NE(other.out.find("elements differ"), std::string::npos);
  EXPECT_EQ(run({file, "--seed=1", "--expect=" + (dir / "y.npy"), "--rtol=1", "--atol=1"}).status,
            0);
  EXPECT_NE(run({file, "--dim", "N=4", "--expect=" + (dir / "y.npy")}).status, 0);
}

TEST_F(RunBundle, TakesArrays) {
  HostArray x;
  ASSERT_TRUE(HostArray::create(DType::f32, {2, 4}, x).ok());
  for (int64_t i = 0; i < 8; ++i)
    x.setFloat(i, double(i));
  ASSERT_TRUE(writeNpy(dir / "x.npy", x).ok());
  for (int64_t i = 0; i < 8; ++i)
    x.setFloat(i, double(2 * i));
  ASSERT_TRUE(writeNpy(dir / "y.npy", x).ok());
  Result r = run({file, "--arg=" + (dir / "x.npy"), "--expect=" + (dir / "y.npy"), "--json"});
  EXPECT_EQ(r.status, 0) << r.err;
  Json report;
  ASSERT_TRUE(Json::parse(r.out, report).ok());
  EXPECT_TRUE(report.find("ok")->asBool());
  EXPECT_EQ((*report.find("outputs"))[0].find("type")->asString(), "2x4xf32");
  files = 3;
  refused({"--arg=" + (dir / "x.npy"), "--dim", "N=3"},
          "argument \"x\": expected 3x4xf32 at these lengths, found 2x4xf32");
  refused({"--arg=" + (dir / "x.npy"), "--arg=" + (dir / "y.npy")}, "more --arg than inputs");
  ASSERT_TRUE(HostArray::create(DType::f64, {2, 4}, x).ok());
  ASSERT_TRUE(writeNpy(dir / "d.npy", x).ok());
  files = 4;
  refused({"--arg=" + (dir / "d.npy")}, "wrong element type: expected ?x?xf32, found 2x4xf64");
  refused({"--arg=" + (dir / "none.npy")}, "cannot open");
}

TEST_F(RunBundle, RunsManyCommands) {
  std::string y = dir / "y.npy";
  ASSERT_EQ(run({file, "--out=" + y}).status, 0);
  std::string good = file + " --expect=" + y, other = file + " --seed=1 --expect=" + y;
  auto runAll = [&](const std::string &text) {
    std::ofstream(dir / "commands") << text;
    return run({"--commands=" + (dir / "commands")});
  };
  Result all = runAll(good + "\n\n" + good + "\n");
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_EQ(all.out, "ok   " + good + "\nok   " + good + "\n");
  // One that fails, in either way, does not keep the next from running.
  Result some = runAll(other + "\nnone.ftb\n" + good + "\n");
  EXPECT_EQ(some.status, 1);
  EXPECT_TRUE(some.out.starts_with("FAIL " + other + ": y: 12 of 12 elements differ")) << some.out;
  EXPECT_NE(some.out.find("\nFAIL none.ftb: none.ftb: cannot open"), std::string::npos) << some.out;
  EXPECT_TRUE(some.out.ends_with("\nok   " + good + "\n")) << some.out;
  EXPECT_EQ(run({"--commands=" + (dir / "nothing")}).status, 1);
}

TEST_F(RunBundle, RefusesBadOptions) {
  refused({"--dim", "M=3"}, "no such length");
  refused({"--dim", "N=x"}, "malformed option");
  refused({"--dim", "N=0"}, "needs N >= 1, found N = 0");
  refused({"--dim", "N=-4"}, "negative extent");
  refused({"--dim", "N=9000000000000000000"}, "more bytes than");
  refused({"--dim", "N=1000000000000000"}, "no memory");
  refused({"--entry=other"}, "no entry \"other\"; there are: scale");
  refused({"--variant=none"}, "no variant \"none\"");
  refused({"--engine=tpu"}, "malformed option");
  refused({"--out=" + (dir / "a.npy"), "--out=" + (dir / "b.npy")}, "more --out");
  refused({"--frobnicate"}, "unknown or malformed option --frobnicate");
  refused({"second.ftb"}, "second.ftb");
  Result nothing = run({});
  EXPECT_EQ(nothing.status, 1);
  EXPECT_NE(nothing.err.find("usage:"), std::string::npos);
  EXPECT_EQ(run({"--help"}).status, 0);
}

TEST_F(RunBundle, AFailedRunLeavesNoOutput) {
  // What cannot be written is known before the run, and an unequal result is not written.
  refused({"--out=" + (dir / "no/such/folder.npy")}, "cannot write");
  refused({"--out=" + dir.path}, "cannot write: Is a directory");
  EXPECT_EQ(run({file, "--out=" + (dir / "y.npy")}).status, 0);
  Result other = run({file, "--seed=1", "--expect=" + (dir / "y.npy"), "--out=" + (dir / "z.npy")});
  EXPECT_EQ(other.status, 1);
  EXPECT_EQ(dir.entries(), 2);
}

/// Whatever a plan does to memory beyond its buffers is refused when it is called.
TEST_F(RunBundle, PlansStayWithinTheirBuffers) {
  const Entry &entry = bundle.entries[0];
  Expr n = entry.symbol(0), bytes = n * 16;
  struct {
    const char *what;
    std::function<void(Plan &)> change;
  } cases[] = {
      {"range", [&](Plan &p) { p.steps.push_back(sample::fill(1, 0, bytes + 1)); }},
      {"range", [&](Plan &p) { p.steps.push_back(sample::fill(1, n, bytes)); }},
      {"range", [&](Plan &p) { p.steps.push_back(sample::fill(1, n - 100, 8)); }},
      {"range", [&](Plan &p) { p.steps.push_back(sample::copy(1, 0, 0, 8, bytes)); }},
      {"range", [&](Plan &p) { p.steps[0].launched.arguments[1] = sample::pointer(1, bytes + 1); }},
      {"range", [&](Plan &p) { p.steps[0].launched.arguments[1] = sample::pointer(1, n - 100); }},
      {"the offset of a buffer", [&](Plan &p) { p.buffers[1].offset = bytes * bytes; }},
      {"size", [&](Plan &p) { p.steps.push_back(sample::fill(1, 0, n - 100)); }},
      {"the workspace's size", [&](Plan &p) { p.workspaceBytes = n - 100; }},
      {"overflows", [&](Plan &p) { p.buffers[1].offset = (n + INT64_MAX / 2) * n; }},
      {"more than", [&](Plan &p) {
         Step loop;
         loop.kind = Step::loop;
         loop.upper = n * (int64_t(1) << 60);
         loop.body = {sample::fill(1, 0, 0)};
         p.steps.push_back(loop);
       }},
      {"more than", [&](Plan &p) { // and where each loop alone is short
         Step loop;
         loop.kind = Step::loop;
         loop.upper = 1 << 20;
         loop.body = {sample::fill(1, 0, 0)};
         for (int depth = 0; depth < 4; ++depth)
           loop.body = {loop};
         p.steps.push_back(loop);
       }},
  };
  for (auto &test : cases) {
    Bundle changed = bundle;
    for (Plan &plan : changed.entries[0].plans)
      test.change(plan);
    ASSERT_TRUE(changed.write(file).ok());
    refused({}, test.what);
  }
  // What fits to the last byte is run.
  Bundle changed = bundle;
  for (Plan &plan : changed.entries[0].plans)
    plan.steps.push_back(sample::fill(1, 0, bytes));
  ASSERT_TRUE(changed.write(file).ok());
  EXPECT_EQ(run({file}).status, 0);
}

TEST_F(RunBundle, TuningRecordsTheBestSchedule) {
  Result r = run({file, "--tune", "--json"});
  ASSERT_EQ(r.status, 0) << r.err;
  Json report;
  ASSERT_TRUE(Json::parse(r.out, report).ok());
  EXPECT_EQ(report.find("tuned_microseconds")->size(), 2u);
  Bundle changed;
  ASSERT_TRUE(Bundle::read(file, changed).ok());
  ASSERT_EQ(changed.entries[0].chosen.size(), 1u);
  EXPECT_EQ(changed.entries[0].chosen[0].first, "cpu");
  EXPECT_EQ(changed.entries[0].chosen[0].second, report.find("variant")->asString());
  EXPECT_EQ(dir.entries(), 1);
  EXPECT_EQ(run({file}).status, 0);
}
