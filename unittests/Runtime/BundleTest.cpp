//===- BundleTest.cpp - expressions, plans and .ftb files -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Bundle/Bundle.h"
#include "ft/Runtime/Bundle/PlanSeal.h"

#include "SamplePrograms.h"
#include "TestDir.h"

#include <atomic>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

using namespace ft::rt;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static int64_t value(const Expr &e, std::vector<int64_t> variables = {}) {
  int64_t out = 0;
  EXPECT_TRUE(e.evaluate(variables.data(), out));
  return out;
}

TEST(Expr, DivisionsRoundDownAndUp) {
  Expr x = Expr::var(0), y = Expr::var(1);
  for (int64_t a : {-7, -6, -1, 0, 1, 6, 7})
    for (int64_t b : {1, 3}) {
      int64_t down = int64_t(std::floor(double(a) / double(b)));
      EXPECT_EQ(value(Expr::binary(Expr::floordiv, x, y), {a, b}), down);
      EXPECT_EQ(value(Expr::binary(Expr::ceildiv, x, y), {a, b}),
                int64_t(std::ceil(double(a) / double(b))));
      EXPECT_EQ(value(Expr::binary(Expr::mod, x, y), {a, b}), a - b * down);
    }
  EXPECT_EQ(value(Expr::binary(Expr::max, x * 3 - y, 2), {1, 4}), 2);
}

TEST(Expr, FailsOnOverflowAndDivisionByZero) {
  Expr x = Expr::var(0), y = Expr::var(1);
  int64_t out = 0, big[] = {INT64_MAX, 2}, zero[] = {1, 0}, negative[] = {1, -1};
  EXPECT_FALSE((x * y).evaluate(big, out));
  EXPECT_FALSE((x + 1).evaluate(big, out));
  for (Expr::Op op : {Expr::floordiv, Expr::ceildiv, Expr::mod}) {
    EXPECT_FALSE(Expr::binary(op, x, y).evaluate(zero, out));
    EXPECT_FALSE(Expr::binary(op, x, y).evaluate(negative, out));
  }
}

TEST(Expr, Folds) {
  Expr x = Expr::var(0);
  EXPECT_EQ(x * 1, x);
  EXPECT_EQ(x + 0, x);
  EXPECT_EQ(Expr(0) + x, x);
  EXPECT_EQ(Expr(1) * x, x);
  EXPECT_EQ(Expr(6) * Expr(7), Expr(42));
  EXPECT_EQ(Expr::binary(Expr::ceildiv, x, 1), x);
}

TEST(Expr, JsonRoundTrip) {
  auto name = [](int64_t i) { return Json(std::string(1, char('a' + i))); };
  auto resolve = [](const Json &v) { return v.isString() ? int64_t(v.asString()[0] - 'a') : -1; };
  Expr e = Expr::binary(Expr::ceildiv, Expr::var(0) * 3 - Expr::var(1), 128);
  Json json = e.toJson(name);
  EXPECT_EQ(json.dump(false), R"(["ceildiv",["sub",["mul","a",3],"b"],128])");
  Expr back;
  ASSERT_TRUE(Expr::fromJson(json, resolve, back).ok());
  EXPECT_EQ(back, e);
  EXPECT_EQ(e.describe([](int64_t i) { return std::string(1, char('a' + i)); }),
            "((a * 3) - b) ceildiv 128");
  for (const char *bad : {R"(["add",1])", R"(["pow",1,2])", R"([1,2,3])", "true", "{}"}) {
    Json malformed;
    ASSERT_TRUE(Json::parse(bad, malformed).ok());
    EXPECT_EQ(Expr::fromJson(malformed, resolve, back).code(), Code::corrupt) << bad;
  }
  // Deeper than the evaluator's stack.
  Json deep = Json(1);
  for (int i = 0; i < 40; ++i)
    deep = Json::makeArray().push("add").push(1).push(deep);
  EXPECT_EQ(Expr::fromJson(deep, resolve, back).code(), Code::corrupt);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

TEST(LaunchPlan, JsonRoundTrip) {
  for (const Bundle &bundle : {sample::scale("sm_90a"), sample::everything()})
    for (const Entry &entry : bundle.entries) {
      Json json = entry.toJson();
      Entry back;
      Status status = Entry::fromJson(json, int64_t(bundle.sections.size()), back);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(back.toJson().dump(), json.dump());
    }
}

/// Replaces each value in turn by others; nothing may be read out of range.
static void mutate(const Json &json, const std::function<void(const Json &)> &use) {
  static const Json others[] = {Json(),
                                Json(-1),
                                Json(int64_t(1) << 40),
                                Json("x"),
                                Json(true),
                                Json::makeArray(),
                                Json::makeObject(),
                                Json::makeArray().push("mul").push("N").push("%0")};
  for (const Json &other : others)
    use(other);
  for (size_t i = 0; i < json.size(); ++i)
    mutate(json[i], [&](const Json &changed) {
      Json copy = json.isArray() ? Json::makeArray() : Json::makeObject();
      for (size_t k = 0; k < json.size(); ++k) {
        const Json &item = k == i ? changed : json[k];
        if (json.isArray())
          copy.push(item);
        else
          copy.set(json.keys()[k], item);
      }
      use(copy);
    });
  if (json.isObject() && json.size()) { // without its last member
    Json copy = Json::makeObject();
    for (size_t k = 0; k + 1 < json.size(); ++k)
      copy.set(json.keys()[k], json[k]);
    use(copy);
  }
}

TEST(LaunchPlan, MalformedEntriesAreRefused) {
  Bundle bundle = sample::everything();
  int64_t sections = int64_t(bundle.sections.size());
  int refused = 0, total = 0;
  mutate(bundle.entries[0].toJson(), [&](const Json &changed) {
    Entry entry;
    Status status = Entry::fromJson(changed, sections, entry);
    ++total;
    if (!status.ok()) {
      ++refused;
      EXPECT_EQ(status.code(), Code::corrupt);
      return;
    }
    // What was accepted is in range everywhere.
    for (const Plan &plan : entry.plans) {
      for (const Buffer &b : plan.buffers) {
        EXPECT_TRUE(b.kind != Buffer::argument || b.index < int64_t(entry.arguments.size()));
        EXPECT_TRUE(b.kind != Buffer::constant || b.index < sections);
        EXPECT_LE(b.offset.numVariables(), entry.numVariables());
      }
      for (int64_t module : plan.modules)
        EXPECT_LT(module, sections);
    }
    (void)entry.toJson();
  });
  EXPECT_GT(total, 1000);
  EXPECT_GT(refused, total * 7 / 10);
}

/// A manifest that was changed and signed again: what is wrong in it is found on load.
TEST(LaunchPlan, WhatNeedsNoSizesIsCheckedOnLoad) {
  auto refused = [](const char *why, const std::function<void(Entry &)> &change) {
    Bundle bundle = sample::everything(), back;
    change(bundle.entries[0]);
    Status status = Bundle::parse(bundle.serialize(), "x", back);
    EXPECT_EQ(status.code(), Code::corrupt) << why;
    EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
  };
  refused("\"name\"", [](Entry &e) { e.name = std::string("every\0thing", 11); });
  refused("\"name\"", [](Entry &e) { e.name = "two\nlines"; });
  refused("\"name\" is empty", [](Entry &e) { e.name = ""; });
  refused("\"name\"", [](Entry &e) { e.name = std::string(5000, 'x'); });
  refused("a kernel's name", [](Entry &e) { e.plans[0].kernels[0] += '\0'; });
  refused("\"variant\"", [](Entry &e) { e.plans[0].variant += '\0'; });
  refused("two plans for sm_80 named \"default\"", [](Entry &e) { e.plans.push_back(e.plans[0]); });
  refused("\"counter_bytes\"", [](Entry &e) { e.plans[0].counterBytes = int64_t(1) << 32; });
  refused("\"offset\" is negative", [](Entry &e) { e.plans[0].buffers[0].offset = -8; });
  refused("\"workspace_bytes\" is negative", [](Entry &e) { e.plans[0].workspaceBytes = -1; });
  refused("\"bytes\" is negative",
          [](Entry &e) { e.plans[0].steps.push_back(sample::fill(1, 0, -1)); });
  refused("\"to_offset\" is negative",
          [](Entry &e) { e.plans[0].steps.push_back(sample::fill(1, -1, 1)); });
  refused("negative extent", [](Entry &e) { e.arguments[1].shape[1] = -2; });
  for (int64_t buffer : {0, 3, 5}) // an input, a constant, the error record
    refused("writes to", [&](Entry &e) { e.plans[0].steps.push_back(sample::fill(buffer, 0, 1)); });
  for (int64_t by : {int64_t(1), int64_t(1) << 30})
    refused("a loop of more than", [&](Entry &e) {
      e.plans[0].steps[0].upper = INT64_MAX;
      e.plans[0].steps[0].lower = by == 1 ? 0 : INT64_MIN;
      e.plans[0].steps[0].step = by;
    });
}

//===----------------------------------------------------------------------===//
// Bundles
//===----------------------------------------------------------------------===//

TEST(Bundle, RoundTrip) {
  TestDir dir;
  Bundle bundle = sample::everything(), back;
  ASSERT_TRUE(bundle.write(dir / "a.ftb").ok());
  Status status = Bundle::read(dir / "a.ftb", back);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(back.serialize(), bundle.serialize());
  EXPECT_EQ(back.sections[0].bytes, bundle.sections[0].bytes);
  EXPECT_NE(back.find("everything"), nullptr);
  EXPECT_EQ(back.find("nothing"), nullptr);
  EXPECT_EQ(dir.entries(), 1);
  EXPECT_EQ(Bundle::read(dir / "none.ftb", back).code(), Code::notFound);
}

/// What `change` makes of a sealed bundle that went through a file.
static Status sealAfter(Bundle bundle, std::function<void(Bundle &)> change) {
  sealPlans(bundle);
  change(bundle);
  Bundle back;
  FT_RT_TRY(Bundle::parse(bundle.serialize(), "x", back));
  return checkSeal(back, back.entries[0], back.entries[0].plans[0]);
}

TEST(Bundle, CodeTakesThePlansItWasCompiledWith) {
  for (const Bundle &bundle : {sample::scale("sm_90a"), sample::scale("cpu"), sample::everything()}) {
    Status status = sealAfter(bundle, [](Bundle &) {});
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(sealAfter(bundle, [](Bundle &b) { b.entries[0].name = "other"; }).ok());
    EXPECT_TRUE(sealAfter(bundle, [](Bundle &b) { b.entries[0].chosen = {{"cpu", "default"}}; }).ok());
    Bundle sealed = bundle;
    sealPlans(sealed);
    for (size_t i = 0; i < bundle.sections.size(); ++i)
      EXPECT_EQ(withoutSeal(sealed.sections[i].bytes), bundle.sections[i].bytes);
  }
}

TEST(Bundle, CodeRefusesOtherPlans) {
  auto refused = [](const Bundle &bundle, auto change) {
    Status status = sealAfter(bundle, change);
    EXPECT_EQ(status.code(), Code::corrupt) << status.message();
    EXPECT_NE(status.message().find("not one that its code was compiled with"), std::string::npos) << status.message();
  };
  for (const char *target : {"cpu", "sm_90a"}) {
    Bundle bundle = sample::scale(target);
    refused(bundle, [](Bundle &b) { b.entries[0].arguments[1].shape[1] = 1; });
    refused(bundle, [](Bundle &b) { b.entries[0].arguments[1].dtype = DType::f16; });
    refused(bundle, [](Bundle &b) { b.entries[0].arguments[0].stridedDims = 1; });
    refused(bundle, [](Bundle &b) { b.entries[0].symbols[0].value = 1; });
    refused(bundle, [](Bundle &b) { b.entries[0].requirements.clear(); });
    refused(bundle, [](Bundle &b) { b.entries[0].plans[0].workspaceBytes = 1; });
    refused(bundle, [](Bundle &b) { b.entries[0].plans[0].buffers[1].index = 0; });
    refused(bundle, [](Bundle &b) { b.entries[0].plans[0].buffers[1].offset = 64; });
    refused(bundle, [](Bundle &b) { b.entries[0].plans[0].steps[0].launched.grid[0] = 7; });
    refused(bundle, [](Bundle &b) { b.entries[0].plans[0].steps[0].launched.arguments[2].value = 1 << 20; });
    refused(bundle, [](Bundle &b) { b.entries[0].plans[0].kernels[0] = "other"; });
  }
  // Another plan's code.
  Bundle two = sample::scale("sm_90a");
  two.sections.push_back(two.sections[0]);
  two.entries.push_back(two.entries[0]);
  two.entries[1].name = "more";
  two.entries[1].plans[0].modules = {1};
  two.entries[1].arguments[1].shape[1] = 8;
  refused(two, [](Bundle &b) { b.entries[0].plans[0].modules = {1}; });
}

TEST(Bundle, EveryTruncationIsRefused) {
  std::string bytes = sample::scale("sm_90a").serialize();
  Bundle out;
  for (size_t length = 0; length < bytes.size(); ++length)
    ASSERT_EQ(Bundle::parse(std::string_view(bytes).substr(0, length), "x", out).code(),
              Code::corrupt)
        << length;
  EXPECT_EQ(Bundle::parse(bytes + '\0', "x", out).code(), Code::corrupt);
}

TEST(Bundle, EveryFlippedBitIsRefused) {
  std::string bytes = sample::scale("sm_90a").serialize();
  Bundle out;
  ASSERT_TRUE(Bundle::parse(bytes, "x", out).ok());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << bit % 8));
    Code code = Bundle::parse(bytes, "x", out).code();
    ASSERT_TRUE(code == Code::corrupt || code == Code::unsupportedFormat) << bit;
    ASSERT_EQ(code == Code::unsupportedFormat, bit / 8 >= 8 && bit / 8 < 12) << bit;
    bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << bit % 8));
  }
}

TEST(Bundle, AnotherFormatSaysSo) {
  std::string bytes = sample::scale("sm_90a").serialize();
  bytes[8] = 7;
  Bundle out;
  EXPECT_EQ(Bundle::parse(bytes, "x.ftb", out).message(),
            "x.ftb: bundle format 7; this runtime reads format 1");
}

TEST(Bundle, ReadersSeeWholeFilesWhileWritersReplace) {
  TestDir dir;
  Bundle small = sample::scale("sm_90a"), large = small;
  large.sections.push_back({Section::data, "", std::string(1 << 20, 'x')});
  ASSERT_TRUE(small.write(dir / "a.ftb").ok());
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w)
    writers.emplace_back([&, w] {
      while (!stop)
        EXPECT_TRUE((w ? small : large).write(dir / "a.ftb").ok());
    });
  for (int i = 0; i < 100; ++i) {
    Bundle out;
    Status status = Bundle::read(dir / "a.ftb", out);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  stop = true;
  for (std::thread &writer : writers)
    writer.join();
  EXPECT_EQ(dir.entries(), 1);
}
