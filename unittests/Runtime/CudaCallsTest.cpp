//===- CudaCallsTest.cpp - graphs, streams and failures of calls on GPUs -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudaFixture.h"
#include "FailingNew.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace ft::rt;
using namespace ft::test;

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
  p.buffers[2].offset = 0;
  return bundle;
}

TEST_F(Cuda, TracedCallsHaveEventsAroundEachLaunch) {
  run([] {
    Module m(chain());
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0);
    const FtTensor *tensors[] = {&x.tensor, &y.tensor};
    for (int round = 0; round < 2; ++round)
      ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(driver().calls["cuEventRecord"], 0); // others know nothing of it
    const int graphs = driver().calls["cuGraphLaunch"];
    const char *text = nullptr;
    ASSERT_EQ(ft_call_traced(m.entry, tensors, 2, nullptr, &text), FT_OK) << ft_last_error();
    EXPECT_EQ(y.data[0], 9);
    EXPECT_EQ(driver().calls["cuGraphLaunch"], graphs);
    EXPECT_EQ(driver().calls["cuEventCreate"], 5); // the first, and two for each launch
    EXPECT_EQ(driver().calls["cuEventDestroy"], 5);
    Json trace;
    ASSERT_TRUE(Json::parse(text, trace).ok());
    int kernels = 0, enqueued = 0;
    for (const Json &event : trace.find("traceEvents")->items()) {
      bool onDevice = event.find("pid")->asInteger() == 2;
      const Json *category = event.find("cat");
      kernels += onDevice && category && category->asString() == "kernel" && event.find("name")->asString() == "add" &&
                 event.find("args")->find("grid");
      enqueued += !onDevice && category && category->asString() == "host";
    }
    EXPECT_EQ(kernels, 2);
    EXPECT_EQ(enqueued, 2);
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
    EXPECT_EQ(driver().calls["cuEventRecord"], 5);
  });
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

/// Launches of `add`, each of which may overlap the one before it but for the cooperative one.
static Bundle overlapping() {
  Bundle bundle = chain();
  Plan &p = bundle.entries[0].plans[0];
  Step first = p.steps[0], last = p.steps[1];
  first.launched.overlaps = true;
  first.launched.overlapBytes = 4096;
  p.steps = {first, first, last, first, first};
  return bundle;
}

TEST_F(Cuda, LaunchesOverlapTheOneBefore) {
  auto lastOf = [](const char *call) {
    auto it = std::find_if(driver().log.rbegin(), driver().log.rend(), [&](const std::string &line) { return line.starts_with(call); });
    return it == driver().log.rend() ? std::string() : *it;
  };
  auto launches = [] {
    std::string text;
    for (const std::string &line : driver().log)
      if (line.starts_with("cuLaunchKernelEx"))
        text += line.substr(std::string("cuLaunchKernelEx add").size()) + ";";
    return text;
  };
  run([&] {
    // Not the first of a call, nor what comes after a cooperative one.
    Module m(overlapping());
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0);
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(launches(), "; overlaps; cooperative;; overlaps;");
    EXPECT_EQ(driver().lastShared, 4096u);
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(lastOf("cuGraphLaunch"), "cuGraphLaunch add add overlaps add cooperative add add overlaps");
    EXPECT_EQ(y.data[0], 2 * 4 * 3);
  });
  run([&] { // a fill or a copy lies between
    Bundle bundle = overlapping();
    std::vector<Step> &steps = bundle.entries[0].plans[0].steps;
    Step fill;
    fill.kind = Step::fill;
    fill.to = 2;
    fill.bytes = 8;
    bundle.entries[0].plans[0].workspaceBytes = 64;
    steps = {steps[0], fill, steps[0], steps[0]};
    Module m(std::move(bundle));
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0);
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(launches(), ";; overlaps;");
  });
  run([&] { // drivers and devices without
    driver().version = 12020;
    Module m(overlapping());
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0);
    for (int round = 0; round < 2; ++round)
      ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(lastOf("cuGraphLaunch"), "cuGraphLaunch add add add cooperative add add");
    EXPECT_EQ(driver().lastShared, 0u);
  });
  run([&] { // a plan says it of no cooperative launch
    Bundle bundle = overlapping();
    bundle.entries[0].plans[0].steps[2].launched.overlaps = true;
    Json json = bundle.entries[0].toJson();
    Entry read;
    EXPECT_NE(Entry::fromJson(json, int64_t(bundle.sections.size()), read).message().find("\"overlaps\" is of a launch that is not cooperative"),
              std::string::npos);
  });
}

/// Two launches, of which the second takes a descriptor of y: as f16, rows of 32 bytes, in boxes of 8 by 16 with a swizzle of 32 bytes.
static Bundle mapped() {
  Bundle bundle = chain();
  Entry &e = bundle.entries[0];
  Plan &p = e.plans[0];
  Step tma = p.steps[0];
  KernelArgument map;
  map.kind = KernelArgument::tensorMap;
  map.buffer = 1;
  map.map.type = 6;
  map.map.extents = {8, e.symbol(0)};
  map.map.strides = {16};
  map.map.box = {8, 16};
  map.map.elementStrides = {1, 1};
  map.map.swizzle = 1;
  map.map.l2Promotion = 2;
  tma.launched.kernel = 1;
  tma.launched.arguments = {map, sample::integer(e.symbol(0))};
  p.steps[1] = tma;
  return bundle;
}

TEST_F(Cuda, AnUnchangedTensorMapIsNeitherEncodedNorToldAgain) {
  run([] {
    std::vector<uint64_t> seen;
    driver().kernels["tma"] = {{128, 8}, [&](void **p, const CUlaunchConfig &) { seen.push_back(static_cast<CUtensorMap *>(p[0])->opaque[0]); }};
    Module m(mapped());
    ASSERT_EQ(m.status, FT_OK) << ft_last_error();
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0), z({3, 2}, 0), w({5, 2}, 0), v({5, 2}, 0);
    auto address = [](Array<int64_t> &a) { return reinterpret_cast<uint64_t>(a.data.data()); };
    auto count = [](const char *name) { return driver().calls[name]; };
    auto lastEncoded = [] { return driver().encoded.empty() ? std::string() : driver().encoded.back(); };
    for (int round = 1; round <= 4; ++round) {
      ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
      EXPECT_EQ(count("cuTensorMapEncodeTiled"), 1);
      EXPECT_EQ(count("cuGraphExecKernelNodeSetParams"), 0);
      EXPECT_EQ(seen, std::vector<uint64_t>(size_t(round), address(y)));
    }
    EXPECT_EQ(lastEncoded(), "cuTensorMapEncodeTiled 6 extents 8,3 strides 16 box 8/1,16/1 0 1 2 0");
    // Other memory: both launches have it as an argument, and the descriptor is encoded once.
    ASSERT_EQ(m.call({&x.tensor, &z.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(count("cuTensorMapEncodeTiled"), 2);
    EXPECT_EQ(count("cuGraphExecKernelNodeSetParams"), 2);
    EXPECT_EQ(seen.back(), address(z));
    ASSERT_EQ(m.call({&x.tensor, &z.tensor}), FT_OK);
    EXPECT_EQ(count("cuTensorMapEncodeTiled"), 2);
    EXPECT_EQ(count("cuGraphExecKernelNodeSetParams"), 2);
    // Another length is another tensor, a call that goes past the graph has the same.
    ASSERT_EQ(m.call({&w.tensor, &v.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(lastEncoded(), "cuTensorMapEncodeTiled 6 extents 8,5 strides 16 box 8/1,16/1 0 1 2 0");
    EXPECT_EQ(seen.back(), address(v));
    int told = count("cuGraphExecKernelNodeSetParams");
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}, FT_CALL_DIRECT), FT_OK);
    EXPECT_EQ(seen.back(), address(y));
    EXPECT_EQ(count("cuGraphExecKernelNodeSetParams"), told);
    // That call changed the descriptor, and the graph has it still to be told.
    ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
    EXPECT_EQ(seen.back(), address(y));
    EXPECT_EQ(count("cuGraphExecKernelNodeSetParams"), told + 2);
  });
}

TEST_F(Cuda, AGraphHasAnyNumberOfLaunches) {
  run([] {
    constexpr int launches = 300;
    Bundle bundle = chain();
    std::vector<Step> &steps = bundle.entries[0].plans[0].steps;
    const Step step = steps[0], last = steps[1];
    steps.assign(launches - 1, step);
    steps.push_back(last);
    Module m(bundle);
    Array<int64_t> x({3, 2}, 0), y({3, 2}, 0), z({3, 2}, 0);
    for (int round = 1; round <= 3; ++round)
      ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(y.data[0], 3 * 3 * (launches - 1));
    EXPECT_EQ(driver().calls["cuLaunchKernelEx"], launches); // of the first call
    EXPECT_EQ(driver().calls["cuGraphLaunch"], 2);
    EXPECT_EQ(driver().calls["cuGraphInstantiate"], 1);
    ASSERT_EQ(m.call({&z.tensor, &y.tensor}), FT_OK) << ft_last_error();
    EXPECT_EQ(driver().calls["cuGraphExecKernelNodeSetParams"], 1); // the last one reads the argument that changed
    EXPECT_EQ(y.data[1], 3 * reinterpret_cast<int64_t>(x.data.data()) + reinterpret_cast<int64_t>(z.data.data()));
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
                  << failed << " failed with " << result << " and nothing said so";
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

/// What a call costs the host is a benchmark's; how often it asks the driver is the same in every run.
TEST_F(Cuda, DriverCallsOfACall) {
  run([] {
    driver().kernels.clear();
    Module m(sample::scale("sm_90a"));
    Array<float> x({3, 4}, 2), y({3, 4}, 2);
    for (int warm = 0; warm < 3; ++warm)
      ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
    int before = driver().total;
    constexpr int calls = 100;
    for (int i = 0; i < calls; ++i)
      ASSERT_EQ(m.call({&x.tensor, &y.tensor}), FT_OK);
    // The context, whether the stream captures, the launch, and the context again.
    EXPECT_LE(driver().total - before, 5 * calls);
    EXPECT_GE(driver().total - before, calls);
  });
}
