//===- FileTest.cpp - whole files, read and replaced atomically -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/File.h"
#include "TestDir.h"

#include <gtest/gtest.h>

using namespace ft::rt;

static Status write(const std::string &path, const std::string &text) {
  return writeFileAtomically(path, {std::as_bytes(std::span(text))});
}

TEST(File, WritesAndReads) {
  TestDir dir;
  std::string text(100000, 'x'), back;
  ASSERT_TRUE(write(dir / "a", text).ok());
  ASSERT_TRUE(readFile(dir / "a", back).ok());
  EXPECT_EQ(back, text);
  ASSERT_TRUE(write(dir / "a", "").ok());
  ASSERT_TRUE(readFile(dir / "a", back).ok());
  EXPECT_EQ(back, "");
  EXPECT_EQ(dir.entries(), 1); // no temporary left
}

TEST(File, NamesWhatFailed) {
  TestDir dir;
  std::string back;
  Status missing = readFile(dir / "none", back);
  EXPECT_EQ(missing.code(), Code::notFound);
  EXPECT_NE(missing.message().find(dir / "none"), std::string::npos);
  EXPECT_EQ(readFile(dir.path, back).code(), Code::io);
  EXPECT_FALSE(write(dir / "no/such/folder", "x").ok());
  ASSERT_TRUE(write(dir / "a", "12345").ok());
  EXPECT_EQ(readFile(dir / "a", back, 4).code(), Code::invalidArgument);
}

TEST(File, AFullDiskLeavesTheOldContent) {
  std::string text = "data";
  EXPECT_EQ(write("/dev/full", text).code(), Code::io);
  EXPECT_TRUE(write("/dev/null", text).ok());
  struct stat info;
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode)); // written to, not replaced
}

TEST(File, KeepsSymbolicLinks) {
  TestDir dir;
  ASSERT_TRUE(write(dir / "target", "old").ok());
  ASSERT_EQ(symlink((dir / "target").c_str(), (dir / "link").c_str()), 0);
  ASSERT_TRUE(write(dir / "link", "new").ok());
  std::string back;
  ASSERT_TRUE(readFile(dir / "target", back).ok());
  EXPECT_EQ(back, "new");
}
