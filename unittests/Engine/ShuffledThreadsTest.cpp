//===- ShuffledThreadsTest.cpp - what threads do in any order -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that have the syncs of their schedule give one result in each order of the threads,
// and those that lack one do not.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Engine/Bundle/CompileBundle.h"
#include "ft/Engine/Program/CompiledProgram.h"
#include "ft/InitAll.h"
#include "ft/Runtime/Host/ThreadPool.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::ft;
using ::ft::rt::HostArray;

namespace {

/// Each point adds its left neighbour of the step before: s[t, i] = s[t - 1, i] + s[t - 1, i - 1].
constexpr const char *source = R"(
  !x = tensor<1xi32>
  etdg.graph @steps(%xs: !etdg.buffer<[N], !x>, %ts: !etdg.buffer<[T], !x>) -> !etdg.buffer<[T, N], !x> {
    %ys = etdg.buffer : !etdg.buffer<[T, N], !x>
    etdg.block @step [scanl, map] (t, i) in [0, T) x [0, N)
        reads (%a = {t = 0: %xs[i], t >= 1: %ys[t - 1, i]} : !x,
               %b = {t = 0: splat 0 : i32, t >= 1 and i = 0: splat 0 : i32, t >= 1 and i >= 1: %ys[t - 1, i - 1]} : !x)
        writes (%ys[t, i])
        schedule <map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>,
          <dimension = 1, kind = parallel, level = core, mapping = block>]> {
      %y = arith.addi %a, %b : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[T, N], !x>
    etdg.return %ys : !etdg.buffer<[T, N], !x>
  }
)";
constexpr int64_t N = 13, T = 7;

class ShuffledThreads : public testing::Test {
protected:
  ShuffledThreads() {
    registerAllDialects(registry);
    registerAllToLLVMIRTranslations(registry);
    context.appendDialectRegistry(registry);
    ft_set_num_threads(4);
  }
  ~ShuffledThreads() override {
    ft_shuffle_threads(-1);
    ft_set_num_threads(0);
  }

  /// Whether all results of six orders are right, with `change` done to the loops.
  bool isRight(std::function<void(ModuleOp)> change) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
    if (!module) {
      ADD_FAILURE() << "the program does not parse";
      return false;
    }
    BundleOptions options;
    options.cpu.poison = true;
    options.cpu.onLoops = std::move(change);
    FailureOr<::ft::rt::Bundle> bundle = compileToBundle(*module, {"cpu"}, options);
    if (failed(bundle)) {
      ADD_FAILURE() << "the program does not compile";
      return false;
    }
    auto program = CompiledProgram::load(*bundle, UnknownLoc::get(&context));
    if (failed(program)) {
      ADD_FAILURE() << "the program does not load";
      return false;
    }
    bool right = true;
    for (int64_t seed = 0; seed < 6; ++seed) {
      ft_shuffle_threads(seed);
      right &= runOnce(**program);
    }
    return right;
  }

  bool runOnce(CompiledProgram &program) {
    HostArray xs, ts;
    EXPECT_TRUE(HostArray::create(::ft::rt::DType::i32, {N, 1}, xs).ok());
    EXPECT_TRUE(HostArray::create(::ft::rt::DType::i32, {T, 1}, ts).ok());
    std::vector<int64_t> line(N);
    for (int64_t i = 0; i < N; ++i)
      xs.setInt(i, line[size_t(i)] = 3 * i + 1);
    auto call = program.prepare("steps", {&xs, &ts});
    EXPECT_TRUE(succeeded(call) && succeeded((*call)->run()));
    auto results = (*call)->results();
    EXPECT_TRUE(succeeded(results));
    for (int64_t t = 0; t < T; ++t) {
      for (int64_t i = N; t > 0 && i-- > 1;)
        line[size_t(i)] += line[size_t(i) - 1];
      for (int64_t i = 0; i < N; ++i)
        if (results->front().getInt(t * N + i) != line[size_t(i)])
          return false;
    }
    return true;
  }

  DialectRegistry registry;
  MLIRContext context;
};

TEST_F(ShuffledThreads, LoopsWithTheirSyncsAreRight) {
  int64_t syncs = 0;
  EXPECT_TRUE(isRight([&](ModuleOp module) { module.walk([&](loops::SyncOp) { ++syncs; }); }));
  EXPECT_EQ(syncs, 1);
}

TEST_F(ShuffledThreads, AMissingSyncIsSeen) {
  EXPECT_FALSE(isRight([](ModuleOp module) { module.walk([](loops::SyncOp sync) { sync.erase(); }); }));
}

TEST_F(ShuffledThreads, SharesLeaveNothingOut) {
  // One iteration less: what nothing wrote is seen.
  EXPECT_FALSE(isRight([](ModuleOp module) {
    module.walk([](scf::ForallOp loop) {
      OpBuilder builder(loop);
      Value upper = loop.getUpperBound(builder).front(), one = arith::ConstantIndexOp::create(builder, loop.getLoc(), 1);
      loop.getDynamicUpperBoundMutable().assign(arith::SubIOp::create(builder, loop.getLoc(), upper, one).getResult());
    });
  }));
}

} // namespace
