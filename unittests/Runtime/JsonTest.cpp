//===- JsonTest.cpp - strict JSON and checksums ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Base/Json.h"
#include "ft/Runtime/Base/Sha256.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ft::rt;

static Json parse(std::string_view text) {
  Json value;
  Status status = Json::parse(text, value);
  EXPECT_TRUE(status.ok()) << text << ": " << status.message();
  return value;
}

TEST(Json, Values) {
  Json v = parse(R"( {"a": [1, -2.5e3, true, null, "x\n\u00e9\ud83d\ude00"], "b": {}} )");
  ASSERT_TRUE(v.isObject());
  const Json &a = *v.find("a");
  EXPECT_EQ(a[0].asInteger(), 1);
  EXPECT_EQ(a[1].asReal(), -2500);
  EXPECT_TRUE(a[2].asBool());
  EXPECT_EQ(a[3].kind(), Json::null);
  EXPECT_EQ(a[4].asString(), "x\n\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(v.find("b")->size(), 0u);
  EXPECT_EQ(v.find("c"), nullptr);
  EXPECT_EQ(parse("-9223372036854775808").asInteger(), INT64_MIN);
  EXPECT_EQ(parse("9007199254740993").asInteger(), 9007199254740993);
}

TEST(Json, WritingReadsBack) {
  Json v = Json::makeObject();
  v.set("text", "q\"\\\n\x01\xc3\xa9").set("n", int64_t(7)).set("x", 0.1).set("whole", 2.0);
  v.set("list", Json::makeArray().push(true).push(Json()).push(Json::makeArray()));
  v.set("nan", NAN);
  for (bool pretty : {true, false}) {
    Json back = parse(v.dump(pretty));
    EXPECT_EQ(back.dump(), v.dump());
    EXPECT_EQ(back.find("x")->asReal(), 0.1);
    EXPECT_EQ(back.find("whole")->kind(), Json::real);
    EXPECT_EQ(back.find("nan")->kind(), Json::null);
  }
  EXPECT_EQ(Json::makeObject().set("a", 1).dump(false), R"({"a":1})");
}

TEST(Json, RefusesWhatIsNotJson) {
  for (std::string_view text : {"",
                                " ",
                                "{",
                                "[",
                                "[1,]",
                                "{\"a\":1,}",
                                "{a:1}",
                                "{'a':1}",
                                "{\"a\" 1}",
                                "01",
                                "+1",
                                "1.",
                                ".5",
                                "1e",
                                "--1",
                                "nul",
                                "tru",
                                "\"abc",
                                "\"\\x\"",
                                "\"\\u12g4\"",
                                "\"\\ud800\"",
                                "\"\\udc00\"",
                                "\"\xff\"",
                                "\"\xc0\x80\"",
                                "\"\xed\xa0\x80\"",
                                "\"\xe2\x82\"",
                                "\"\t\"",
                                "1 2",
                                "[1] x",
                                "{\"a\":1,\"a\":2}",
                                "9223372036854775808",
                                "1e999",
                                "//x\n1",
                                "NaN"}) {
    Json value(5);
    EXPECT_EQ(Json::parse(text, value).code(), Code::corrupt) << text;
    EXPECT_EQ(value.asInteger(), 5);
  }
  using namespace std::string_view_literals;
  Json value(5);
  EXPECT_EQ(Json::parse("{}\0{}"sv, value).code(), Code::corrupt);
  EXPECT_EQ(Json::parse("18446744073709551616", value).code(), Code::corrupt);
  EXPECT_EQ(value.asInteger(), 5);
}

TEST(Json, LimitsUntrustedText) {
  auto why = [](const std::string &text) {
    Json value;
    return Json::parse(text, value).message();
  };
  EXPECT_NE(why(std::string(1000000, '[')).find("nested too deeply"), std::string::npos);
  std::string nested = std::string(Json::maxDepth, '[') + std::string(Json::maxDepth, ']');
  EXPECT_EQ(why(nested), "");
  EXPECT_NE(why("[" + nested + "]").find("nested too deeply"), std::string::npos);
  std::string many = "[0";
  for (size_t i = 0; i < Json::maxValues; ++i)
    many += ",0";
  EXPECT_NE(why(many + "]").find("more than"), std::string::npos);
  EXPECT_NE(why(std::string(Json::maxBytes + 1, ' ')).find("more than"), std::string::npos);
}

TEST(Json, SaysWhere) {
  Json value;
  EXPECT_EQ(Json::parse("{\n  \"a\": 1,\n  b\n}", value).message(),
            "JSON, line 3, column 3: unexpected 'b'");
}

TEST(Sha256, KnownAnswers) {
  // FIPS 180-4's examples.
  EXPECT_EQ(toHex(Sha256::of("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(toHex(Sha256::of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(toHex(Sha256::of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(toHex(Sha256::of(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesDoNotMatter) {
  std::string text(1000, 'q');
  for (size_t piece : {1, 3, 63, 64, 65, 127, 999}) {
    Sha256 hash;
    for (size_t i = 0; i < text.size(); i += piece)
      hash.update(text.data() + i, std::min(piece, text.size() - i));
    EXPECT_EQ(hash.finish(), Sha256::of(text)) << piece;
  }
}
