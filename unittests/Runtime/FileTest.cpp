//===- FileTest.cpp - whole files, read and replaced atomically -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Base/File.h"
#include "ft/Runtime/Arrays/OutputFiles.h"
#include "TestDir.h"

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

static std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text));
}

TEST(OutputFiles, AppearTogether) {
  TestDir dir;
  std::string text = "new", back;
  ASSERT_TRUE(write(dir / "a", "old").ok());
  {
    OutputFiles files;
    ASSERT_TRUE(files.open(dir / "a").ok());
    ASSERT_TRUE(files.open(dir / "b").ok());
    ASSERT_TRUE(files.write(0, {bytesOf(text)}).ok());
    ASSERT_TRUE(files.write(1, {bytesOf(text), bytesOf(text)}).ok());
    ASSERT_TRUE(readFile(dir / "a", back).ok());
    EXPECT_EQ(back, "old");
    EXPECT_EQ(dir.entries(), 1);
    ASSERT_TRUE(files.commit().ok());
  }
  ASSERT_TRUE(readFile(dir / "a", back).ok());
  EXPECT_EQ(back, "new");
  ASSERT_TRUE(readFile(dir / "b", back).ok());
  EXPECT_EQ(back, "newnew");
  EXPECT_EQ(dir.entries(), 2);
  struct stat info;
  ASSERT_EQ(stat((dir / "b").c_str(), &info), 0);
  mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(info.st_mode & 0777, 0666 & ~mask);
}

TEST(OutputFiles, NothingIsThereWithoutCommit) {
  TestDir dir;
  std::string text = "new";
  {
    OutputFiles files;
    ASSERT_TRUE(files.open(dir / "a").ok());
    ASSERT_TRUE(files.write(0, {bytesOf(text)}).ok());
    EXPECT_FALSE(files.open(dir / "no/such/folder").ok());
    EXPECT_EQ(files.open(dir.path).code(), Code::io);
  }
  EXPECT_EQ(dir.entries(), 0);
  // One place that has become a folder meanwhile takes the others along.
  OutputFiles files;
  ASSERT_TRUE(files.open(dir / "a").ok());
  ASSERT_TRUE(files.open(dir / "b").ok());
  ASSERT_TRUE(files.write(0, {bytesOf(text)}).ok());
  ASSERT_TRUE(files.write(1, {bytesOf(text)}).ok());
  ASSERT_EQ(mkdir((dir / "b").c_str(), 0777), 0);
  EXPECT_FALSE(files.commit().ok());
  EXPECT_NE(access((dir / "a").c_str(), F_OK), 0);
}

/// A process that is told to end while it writes leaves nothing, at whatever moment.
TEST(OutputFiles, ASignalLeavesNothing) {
  TestDir dir;
  std::string text(1 << 16, 'x');
  for (int round = 0; round < 40; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
      for (char c = 0;; c = 1) {
        OutputFiles files;
        if (!files.open(dir / "a").ok() || !files.write(0, {bytesOf(text)}).ok())
          _exit(1);
        if (c == 0 && ::write(ready[1], &c, 1) != 1)
          _exit(1);
        if (!files.commit().ok())
          _exit(1);
      }
    }
    char c;
    ASSERT_EQ(read(ready[0], &c, 1), 1);
    usleep(unsigned(round) * 97 % 3000);
    kill(child, SIGTERM);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    close(ready[0]);
    close(ready[1]);
    EXPECT_LE(dir.entries(), 1) << round; // the file itself, at most
  }
}
