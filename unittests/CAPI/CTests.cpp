//===- CTests.cpp - runs the tests that are written in C ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CTests.h"

#include "gtest/gtest.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {
struct CTest {
  const char *name;
  const char *(*run)();
};

const CTest tests[] = {{"Lengths", testLengths},
                       {"ListTypes", testListTypes},
                       {"OtherAttributes", testOtherAttributes},
                       {"Buffers", testBuffers},
                       {"Accesses", testAccesses},
                       {"Schedules", testSchedules},
                       {"MutableTensors", testMutableTensors},
                       {"EachPassIsMade", testEachPassIsMade},
                       {"PassesByFunction", testPassesByFunction},
                       {"PipelineByText", testPipelineByText},
                       {"WrongPipeline", testWrongPipeline},
                       {"BuiltModule", testBuiltModule},
                       {"ModuleOfAnotherDialect", testModuleOfAnotherDialect},
                       {"InvalidModule", testInvalidModule},
                       {"PortableTable", testPortableTable}};

class FromC : public testing::TestWithParam<CTest> {};
} // namespace

/// Nothing that a caller did not ask for goes to stderr or stdout, whatever is wrong.
TEST_P(FromC, Holds) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const char *failed = GetParam().run();
  std::string out = testing::internal::GetCapturedStdout(), err = testing::internal::GetCapturedStderr();
  EXPECT_EQ(failed, nullptr) << failed;
  EXPECT_EQ(out, "");
  EXPECT_EQ(err, "");
}

INSTANTIATE_TEST_SUITE_P(C, FromC, testing::ValuesIn(tests),
                         [](const testing::TestParamInfo<CTest> &info) { return info.param.name; });

/// Each thread has a context, a module and a compiler of its own; passes are registered by the code that is first.
TEST(FromCOnThreads, BuildsAndCompiles) {
  std::atomic<const char *> failed{nullptr};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&, i] {
      const char *result = i % 3 == 0 ? testBuiltModule() : i % 3 == 1 ? testPortableTable() : testEachPassIsMade();
      if (result)
        failed = result;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failed.load(), nullptr) << failed.load();
}
