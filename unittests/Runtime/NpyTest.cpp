//===- NpyTest.cpp - NumPy's .npy files -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/Npy.h"
#include "TestDir.h"
#include "ft/Runtime/Base/File.h"
#include "ft/Runtime/Arrays/Generate.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace ft::rt;

/// A file of the given version, dictionary and data.
static std::string file(const std::string &dict, const std::string &data, int version = 1) {
  std::string text = "\x93NUMPY";
  text += char(version);
  text += '\0';
  size_t length = dict.size() + 1;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    text += char(length >> (8 * i) & 0xff);
  return text + dict + "\n" + data;
}

template <class T>
static std::string bytes(std::vector<T> values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

static Status parse(const std::string &text, HostArray &out, const NpyExpectation &expected = {}) {
  return parseNpy(text.data(), text.size(), "x.npy", out, expected);
}

TEST(Npy, RoundTripsEveryTypeAndRank) {
  TestDir dir;
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32,
                      DType::i16, DType::i8, DType::u8, DType::i1})
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {1}, {7}, {0}, {3, 0, 2}, {2, 3, 4}, {1, 1, 1, 1, 5}}) {
      HostArray array, back;
      ASSERT_TRUE(HostArray::create(dtype, shape, array).ok());
      ASSERT_TRUE(generate(array, Distribution::makeNormal(1), 1, 0).ok());
      ASSERT_TRUE(writeNpy(dir / "a.npy", array).ok());
      NpyExpectation expected{dtype, shape};
      Status status = readNpy(dir / "a.npy", back, expected);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(back.describe(), array.describe());
      EXPECT_EQ(back.storage, array.storage);
    }
}

TEST(Npy, DataBeginAtAMultipleOf64) {
  TestDir dir;
  HostArray array;
  ASSERT_TRUE(HostArray::create(DType::i8, {3}, array).ok());
  ASSERT_TRUE(writeNpy(dir / "a.npy", array).ok());
  std::string content;
  ASSERT_TRUE(readFile(dir / "a.npy", content).ok());
  EXPECT_EQ((content.size() - 3) % 64, 0u);
  EXPECT_EQ(content[content.size() - 4], '\n');
  EXPECT_NE(content.find("{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }"),
            std::string::npos);
}

TEST(Npy, ReadsAllVersionsAndSpellings) {
  HostArray a;
  for (int version : {1, 2, 3})
    EXPECT_TRUE(parse(file("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }",
                           bytes<int32_t>({5, -6}), version),
                      a)
                    .ok());
  EXPECT_EQ(a.getInt(1), -6);
  EXPECT_TRUE(parse(file("{\"shape\":(1,2),\"descr\":\"<f8\",\"fortran_order\":False}",
                         bytes<double>({1, 2})),
                    a)
                  .ok());
  EXPECT_EQ(a.describe(), "1x2xf64");
}

TEST(Npy, TransposesFortranOrder) {
  HostArray a;
  // Columns first: the array [[1, 2, 3], [4, 5, 6]].
  ASSERT_TRUE(parse(file("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
                         bytes<int16_t>({1, 4, 2, 5, 3, 6})),
                    a)
                  .ok());
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(a.getInt(i), i + 1);
  // Three dimensions: element (i, j, k) of 2x3x2 lies at i + 2 j + 6 k.
  std::vector<double> values;
  for (int i = 0; i < 12; ++i)
    values.push_back(i);
  ASSERT_TRUE(
      parse(file("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3, 2), }", bytes(values)), a)
          .ok());
  for (int i = 0, n = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k)
        EXPECT_EQ(a.getFloat(n++), i + 2 * j + 6 * k);
}

TEST(Npy, BfloatIsItsBits) {
  std::string text =
      file("{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }", bytes<uint16_t>({0x3fc0}));
  HostArray a;
  ASSERT_TRUE(parse(text, a, {DType::bf16, std::nullopt}).ok());
  EXPECT_EQ(a.getFloat(0), 1.5);
  EXPECT_FALSE(parse(text, a).ok());
  EXPECT_FALSE(parse(text, a, {DType::f16, std::nullopt}).ok());
}

TEST(Npy, SaysWhatWasExpectedAndFound) {
  std::string text =
      file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }", bytes<float>({1, 2}));
  HostArray a;
  auto message = [&](const NpyExpectation &expected) {
    Status status = parse(text, a, expected);
    EXPECT_EQ(status.code(), Code::invalidArgument);
    return status.message();
  };
  EXPECT_EQ(message({DType::f64, std::nullopt}),
            "x.npy: wrong element type: expected f64, found 2x1xf32");
  EXPECT_EQ(message({DType::f32, std::vector<int64_t>{2}}),
            "x.npy: wrong rank: expected 2xf32, found 2x1xf32");
  EXPECT_EQ(message({std::nullopt, std::vector<int64_t>{-1, 3}}),
            "x.npy: wrong extent of dimension 1: expected ?x3x(any type), found 2x1xf32");
  EXPECT_EQ(readNpy("/no/such/file.npy", a).code(), Code::notFound);
}

TEST(Npy, RefusesWhatIsMalformed) {
  HostArray a;
  std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  std::string data = bytes<float>({1});
  ASSERT_TRUE(parse(file(good, data), a).ok());
  for (std::string dict : {
           "",
           "{",
           "{}",
           "{'descr': '<f4'}",
           "{'descr': '<f4', 'fortran_order': False}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
           "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} y",
       })
    EXPECT_EQ(parse(file(dict, data), a).code(), Code::corrupt) << dict;
  for (std::string descr : {">f4", "<c8", "|O", "<U3", "<f16", ""})
    EXPECT_EQ(
        parse(file("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,)}", data), a)
            .code(),
        Code::invalidArgument)
        << descr;
  EXPECT_EQ(parse(file(good, data, 4), a).code(), Code::unsupportedFormat);
  // A header that asks for terabytes, or for more than 2^64 bytes.
  EXPECT_EQ(
      parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999,)}", data), a)
          .code(),
      Code::corrupt);
  EXPECT_EQ(
      parse(
          file("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8)}", data),
          a)
          .code(),
      Code::invalidArgument);
  EXPECT_EQ(
      parse(file("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", "\x02"), a).code(),
      Code::corrupt);
  EXPECT_EQ(a.getFloat(0), 1.0f); // the last good read
}

TEST(Npy, EveryTruncationAndExtensionIsAnError) {
  std::string text =
      file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", bytes<float>({1, 2}));
  HostArray a;
  ASSERT_TRUE(parse(text, a).ok());
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(parse(text.substr(0, length), a).code(), Code::corrupt) << length;
  EXPECT_EQ(parse(text + "x", a).code(), Code::corrupt);
}

TEST(Npy, BitFlipsNeverCrash) {
  std::string text = file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
                          bytes<float>({1, 2, 3, 4, 5, 6}));
  for (size_t i = 0; i < text.size() * 8; ++i) {
    std::string flipped = text;
    flipped[i / 8] = char(flipped[i / 8] ^ (1 << i % 8));
    HostArray a;
    (void)parse(flipped, a).ok();
  }
}
