//===- LocatedJsonTest.cpp - JSON that knows where it stands --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Support/LocatedJson.h"

#include "gtest/gtest.h"

using mlir::ft::FileError;
using mlir::ft::LocatedJson;

static std::string errorOf(llvm::StringRef text) {
  llvm::Expected<LocatedJson> json = LocatedJson::parse(text, "f.json");
  return json ? "none" : llvm::toString(json.takeError());
}

TEST(LocatedJson, KnowsWhereEachValueBegins) {
  llvm::Expected<LocatedJson> json = LocatedJson::parse("{\"a\" : 12,\n  \"b\\\"\": [1.5e3 , true,null,\n\"x\\n\"],\"c\":{}}", "f.json");
  ASSERT_TRUE(bool(json)) << llvm::toString(json.takeError());
  auto at = [](const LocatedJson &value) { return std::to_string(value.at.line) + ":" + std::to_string(value.at.column); };
  EXPECT_EQ(at(*json), "1:1");
  ASSERT_EQ(json->members.size(), 3u);
  EXPECT_EQ(json->members[0].at.column, 2u);
  const LocatedJson *a = json->find("a"), *b = json->find("b\""), *c = json->find("c");
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(at(*a), "1:8");
  EXPECT_TRUE(a->isInteger);
  EXPECT_EQ(a->integer, 12);
  EXPECT_EQ(json->members[1].at.line, 2u);
  EXPECT_EQ(json->members[1].at.column, 3u);
  EXPECT_EQ(at(*b), "2:10");
  ASSERT_EQ(b->items.size(), 4u);
  EXPECT_EQ(at(b->items[0]), "2:11");
  EXPECT_EQ(b->items[0].number, 1500);
  EXPECT_FALSE(b->items[0].isInteger);
  EXPECT_EQ(at(b->items[1]), "2:19");
  EXPECT_EQ(at(b->items[2]), "2:24");
  EXPECT_EQ(at(b->items[3]), "3:1");
  EXPECT_EQ(b->items[3].text, "x\n");
  EXPECT_EQ(at(*c), "3:12");
  EXPECT_EQ(json->find("d"), nullptr);
}

TEST(LocatedJson, KeepsIntegersExactly) {
  llvm::Expected<LocatedJson> json = LocatedJson::parse("[9223372036854775807, -5, 9223372036854775808]", "f.json");
  ASSERT_TRUE(bool(json)) << llvm::toString(json.takeError());
  EXPECT_EQ(json->items[0].integer, INT64_MAX);
  EXPECT_EQ(json->items[1].integer, -5);
  EXPECT_FALSE(json->items[2].isInteger);
}

TEST(LocatedJson, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(errorOf("{\"a\": 1,\n \"a\": 2}"), "f.json:2:2: error: 'a' stands twice in one object");
  for (llvm::StringRef text : {"", "{", "[1,]", "{\"a\" 1}", "nul", "\"\xff\"", "1 2", "[1e999]"})
    EXPECT_TRUE(llvm::StringRef(errorOf(text)).starts_with("f.json:1:")) << text.str() << ": " << errorOf(text);
  EXPECT_TRUE(llvm::StringRef(errorOf("{\n\"a\": tru}")).starts_with("f.json:2:")) << errorOf("{\n\"a\": tru}");
}

TEST(LocatedJson, HasALimitOfDepth) {
  std::string deep(LocatedJson::mostDepth, '['), tooDeep = deep + "[";
  EXPECT_EQ(errorOf(deep + std::string(LocatedJson::mostDepth, ']')), "none");
  EXPECT_NE(errorOf(tooDeep + std::string(LocatedJson::mostDepth + 1, ']')).find("deep"), std::string::npos);
  // A million of brackets is an error, no crash.
  EXPECT_NE(errorOf(std::string(1000000, '[')).find("deep"), std::string::npos);
}
