//===- CacheTest.cpp - compiled programs kept on disk ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Bundle/Cache.h"

#include "TestDir.h"
#include "ft/Runtime/Base/File.h"

#include <atomic>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

using namespace ft::rt;

static Cache openCache(const std::string &path, uint64_t size = 1 << 30) {
  Cache cache;
  Status status = Cache::open(path, cache, size);
  EXPECT_TRUE(status.ok()) << status.message();
  return cache;
}

static std::string onlyFile(const std::string &folder) {
  for (auto &entry : std::filesystem::directory_iterator(folder))
    return entry.path().string();
  return {};
}

TEST(Cache, KeepsEntries) {
  TestDir dir;
  Cache cache = openCache(dir / "a/b/cache");
  struct stat info;
  ASSERT_EQ(stat(cache.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  std::string value;
  EXPECT_FALSE(cache.get("key", value));
  ASSERT_TRUE(cache.put("key", "value").ok());
  ASSERT_TRUE(cache.put("", std::string_view("a\0b", 3)).ok());
  EXPECT_TRUE(cache.get("key", value));
  EXPECT_EQ(value, "value");
  EXPECT_TRUE(cache.get("", value));
  EXPECT_EQ(value.size(), 3u);
  ASSERT_TRUE(cache.put("key", "new").ok());
  EXPECT_TRUE(cache.get("key", value));
  EXPECT_EQ(value, "new");
}

TEST(Cache, EveryFlippedBitAndTruncationIsAMiss) {
  TestDir dir;
  Cache cache = openCache(dir / "cache");
  ASSERT_TRUE(cache.put("the key", "the value").ok());
  std::string file = onlyFile(cache.path()), good, value;
  ASSERT_TRUE(readFile(file, good).ok());
  auto damaged = [&](const std::string &content) {
    std::ofstream(file, std::ios::binary) << content; // quicker than a synced write
    ASSERT_FALSE(cache.get("the key", value));
    ASSERT_FALSE(std::filesystem::exists(file)); // made anew at the next compile
  };
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = char(bad[bit / 8] ^ (1 << bit % 8));
    damaged(bad);
  }
  for (size_t length = 0; length < good.size(); ++length)
    damaged(good.substr(0, length));
  damaged(good + "x");
}

TEST(Cache, FoldersOfOthersAreRefused) {
  TestDir dir;
  Cache cache;
  ASSERT_EQ(mkdir((dir / "open").c_str(), 0700), 0);
  ASSERT_EQ(chmod((dir / "open").c_str(), 0777), 0);
  EXPECT_NE(Cache::open(dir / "open", cache).message().find("written by others"),
            std::string::npos);
  ASSERT_EQ(mkdir((dir / "real").c_str(), 0700), 0);
  ASSERT_EQ(symlink((dir / "real").c_str(), (dir / "link").c_str()), 0);
  EXPECT_NE(Cache::open(dir / "link", cache).message().find("symbolic link"), std::string::npos);
  std::string text = "x";
  ASSERT_TRUE(writeFileAtomically(dir / "file", {std::as_bytes(std::span(text))}).ok());
  EXPECT_NE(Cache::open(dir / "file", cache).message().find("no folder"), std::string::npos);
  EXPECT_FALSE(Cache::open("/proc/none/cache", cache).ok());
  if (geteuid() == 0) {
    ASSERT_EQ(mkdir((dir / "other").c_str(), 0700), 0);
    ASSERT_EQ(chown((dir / "other").c_str(), 12345, 12345), 0);
    EXPECT_NE(Cache::open(dir / "other", cache).message().find("belongs to user 12345"),
              std::string::npos);
  }
}

TEST(Cache, ALinkInPlaceOfAnEntryIsReplaced) {
  TestDir dir;
  Cache cache = openCache(dir / "cache");
  ASSERT_TRUE(cache.put("key", "value").ok());
  std::string file = onlyFile(cache.path()), content, value;
  ASSERT_EQ(unlink(file.c_str()), 0);
  ASSERT_EQ(symlink((dir / "victim").c_str(), file.c_str()), 0);
  ASSERT_TRUE(cache.put("key", "value").ok());
  EXPECT_FALSE(std::filesystem::exists(dir / "victim"));
  EXPECT_TRUE(cache.get("key", value));
}

TEST(Cache, TheLeastRecentlyUsedGoFirst) {
  TestDir dir;
  Cache cache = openCache(dir / "cache", 5000);
  std::string value, big(1000, 'x');
  for (const char *key : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(cache.put(key, big).ok());
    usleep(20000); // longer than a tick of the file system's clock
  }
  EXPECT_TRUE(cache.get("a", value)); // used again
  usleep(20000);
  ASSERT_TRUE(cache.put("e", big).ok());
  EXPECT_TRUE(cache.get("a", value));
  EXPECT_FALSE(cache.get("b", value));
  EXPECT_TRUE(cache.get("e", value));
}

TEST(Cache, AFullDiskIsNoHarm) {
  TestDir dir;
  Cache cache = openCache(dir / "cache");
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string value;
    bool refused = !cache.put("key", std::string(1000, 'x')).ok();
    // A compile goes on without its cache.
    bool made = cache
                    .getOrMake(
                        "key",
                        [](std::string &out) {
                          out.assign(1000, 'y');
                          return Status();
                        },
                        value)
                    .ok();
    _exit(refused && made && value.size() == 1000 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(onlyFile(cache.path()), ""); // nothing half written
}

TEST(Cache, ThreadsMakeAnEntryOnce) {
  TestDir dir;
  Cache cache = openCache(dir / "cache");
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      std::string value;
      EXPECT_TRUE(cache
                      .getOrMake(
                          "key",
                          [&](std::string &out) {
                            ++made;
                            usleep(20000);
                            out = "value";
                            return Status();
                          },
                          value)
                      .ok());
      EXPECT_EQ(value, "value");
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made, 1);
  // A failure is passed on, and the next one tries again.
  std::string value;
  auto fail = [](std::string &) { return Status::error(Code::internal, "no"); };
  EXPECT_EQ(cache.getOrMake("other", fail, value).code(), Code::internal);
  EXPECT_EQ(cache.getOrMake("other", fail, value).code(), Code::internal);
}

TEST(Cache, ThirtyTwoProcessesOneEntry) {
  TestDir dir;
  std::string path = dir / "cache";
  std::vector<pid_t> children;
  for (int p = 0; p < 32; ++p) {
    pid_t child = fork();
    if (child == 0) {
      Cache cache;
      std::string value, expected(200000, 'v');
      bool ok = Cache::open(path, cache).ok();
      for (int round = 0; round < 5 && ok; ++round) {
        ok = cache
                 .getOrMake(
                     "key",
                     [&](std::string &out) {
                       out = expected;
                       return Status();
                     },
                     value)
                 .ok() &&
             value == expected && cache.put("key", expected).ok();
      }
      _exit(ok ? 0 : 1);
    }
    children.push_back(child);
  }
  // One is killed while it may be writing.
  kill(children[7], SIGKILL);
  for (size_t p = 0; p < children.size(); ++p) {
    int status = 1;
    waitpid(children[p], &status, 0);
    if (p != 7) {
      EXPECT_EQ(status, 0) << p;
    }
  }
  std::string value;
  EXPECT_TRUE(openCache(path).get("key", value));
  EXPECT_EQ(value, std::string(200000, 'v'));
}
