//===- Cache.cpp - compiled programs kept on disk -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Bundle/Cache.h"

#include "ft/Runtime/Base/File.h"
#include "ft/Runtime/Base/Sha256.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace ft::rt;

// An entry: magic, SHA-256 of all that follows it, length of the key, key, value.
static constexpr std::string_view magic = "FTCACHE1";
static constexpr std::string_view suffix = ".entry";

static Status refuse(const std::string &path, const std::string &why) {
  return Status::error(Code::io, "cache " + path + ": " + why);
}

static std::string defaultFolder() {
  if (const char *own = getenv("FT_CACHE_DIR"); own && *own)
    return own;
  if (const char *xdg = getenv("XDG_CACHE_HOME"); xdg && *xdg == '/')
    return std::string(xdg) + "/fractaltensor";
  if (const char *home = getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/fractaltensor";
  return {};
}

static bool makeFolders(const std::string &path) {
  for (size_t at = 1; (at = path.find('/', at)) != path.npos; ++at)
    mkdir(path.substr(0, at).c_str(), 0777); // those that exist are fine
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

Status Cache::open(std::string path, Cache &out, uint64_t maxBytes) {
  if (path.empty())
    path = defaultFolder();
  if (path.empty())
    return refuse("(no folder)", "set FT_CACHE_DIR");
  if (!makeFolders(path))
    return refuse(path, std::string("cannot be made: ") + strerror(errno));
  struct stat info;
  if (lstat(path.c_str(), &info) != 0)
    return refuse(path, strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return refuse(path, S_ISLNK(info.st_mode) ? "is a symbolic link" : "is no folder");
  if (info.st_uid != geteuid())
    return refuse(path, "belongs to user " + std::to_string(info.st_uid));
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return refuse(path, "can be written by others");
  out.folder = std::move(path);
  out.maxBytes = maxBytes;
  return {};
}

std::string Cache::fileOf(std::string_view key) const {
  return folder + "/" + toHex(Sha256::of(key)) + std::string(suffix);
}

static std::array<uint8_t, 32> digestOf(std::string_view length, std::string_view key,
                                        std::string_view value) {
  Sha256 hash;
  hash.update(length.data(), length.size());
  hash.update(key.data(), key.size());
  hash.update(value.data(), value.size());
  return hash.finish();
}

static std::string lengthOf(std::string_view key) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += char(uint64_t(key.size()) >> (8 * i) & 0xff);
  return bytes;
}

bool Cache::get(std::string_view key, std::string &value) const {
  std::string file = fileOf(key), content;
  if (!readFile(file, content).ok())
    return false;
  constexpr size_t head = 8 + 32 + 8;
  std::string_view text = content;
  std::string length = lengthOf(key);
  bool sound = text.size() >= head + key.size() && text.substr(0, 8) == magic &&
               text.substr(40, 8) == length && text.substr(head, key.size()) == key;
  if (sound) {
    std::array<uint8_t, 32> digest = digestOf(length, key, text.substr(head + key.size()));
    sound = memcmp(digest.data(), text.data() + 8, digest.size()) == 0;
  }
  if (!sound) {
    unlink(file.c_str());
    return false;
  }
  // The time of the last use decides what goes first.
  utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  value.assign(text.substr(head + key.size()));
  return true;
}

Status Cache::put(std::string_view key, std::string_view value) const {
  std::string length = lengthOf(key);
  std::array<uint8_t, 32> digest = digestOf(length, key, value);
  auto bytes = [](auto &part) { return std::as_bytes(std::span(part.data(), part.size())); };
  std::string file = fileOf(key);
  // Not through a link that a user put there.
  struct stat info;
  if (lstat(file.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    unlink(file.c_str());
  FT_RT_TRY(writeFileAtomically(
      file, {bytes(magic), bytes(digest), bytes(length), bytes(key), bytes(value)}));
  trim();
  return {};
}

void Cache::trim() const {
  struct File {
    timespec time;
    uint64_t size;
    std::string path;
  };
  std::vector<File> files;
  uint64_t total = 0;
  DIR *handle = opendir(folder.c_str());
  if (!handle)
    return;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  while (dirent *item = readdir(handle)) {
    std::string path = folder + "/" + item->d_name;
    std::string_view name = item->d_name;
    struct stat info;
    if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    // Left by a process that was killed while it wrote.
    if (name.find(".entry.tmp") != name.npos && info.st_mtim.tv_sec < now.tv_sec - 3600)
      unlink(path.c_str());
    if (!name.ends_with(suffix))
      continue;
    files.push_back({info.st_mtim, uint64_t(info.st_size), std::move(path)});
    total += files.back().size;
  }
  closedir(handle);
  if (total <= maxBytes)
    return;
  std::sort(files.begin(), files.end(), [](const File &a, const File &b) {
    return std::pair(a.time.tv_sec, a.time.tv_nsec) < std::pair(b.time.tv_sec, b.time.tv_nsec);
  });
  for (const File &file : files) {
    if (total <= maxBytes)
      return;
    if (unlink(file.path.c_str()) == 0)
      total -= file.size;
  }
}

Status Cache::getOrMake(std::string_view key, const std::function<Status(std::string &)> &make,
                        std::string &value) const {
  static std::mutex lock;
  static std::condition_variable done;
  static auto &making = *new std::set<std::string>;
  std::string file = fileOf(key);
  {
    std::unique_lock<std::mutex> guard(lock);
    done.wait(guard, [&] { return !making.contains(file); });
    if (get(key, value))
      return {};
    making.insert(file);
  }
  struct Finish {
    const std::string &file;
    ~Finish() {
      std::lock_guard<std::mutex> guard(lock);
      making.erase(file);
      done.notify_all();
    }
  } finish{file};
  FT_RT_TRY(make(value));
  (void)put(key, value).ok();
  return {};
}
