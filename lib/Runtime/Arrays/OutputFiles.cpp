//===- OutputFiles.cpp - files that appear together or not at all ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/OutputFiles.h"

#include "ft/Runtime/Base/File.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace ft::rt;

namespace {
/// While it lives, a signal that would end the process waits. The threads of the
/// runtime take no signals, so that this thread's mask is the process's.
class SignalsWait {
public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};
} // namespace

static int writeAll(int fd, OutputFiles::Parts parts) {
  for (std::span<const std::byte> part : parts) {
    while (!part.empty()) {
      ssize_t done = write(fd, part.data(), part.size());
      if (done < 0 && errno == EINTR)
        continue;
      if (done < 0)
        return errno;
      part = part.subspan(size_t(done));
    }
  }
  return 0;
}

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// A name beside the target that nothing has yet, most likely.
static std::string freshName(const std::string &target) {
  static std::atomic<unsigned> count{0};
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return target + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(count++) + "-" +
         std::to_string(now.tv_nsec);
}

OutputFiles::~OutputFiles() {
  for (File &file : files) {
    if (file.descriptor >= 0)
      close(file.descriptor);
    if (!file.temporary.empty())
      unlink(file.temporary.c_str());
  }
}

Status OutputFiles::open(const std::string &path) {
  File file;
  file.path = file.target = path;
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return systemError(path, "write", EISDIR);
    if (!S_ISREG(info.st_mode)) {
      // Renaming over a device or a pipe would replace it.
      file.isDirect = true;
      file.descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (file.descriptor < 0)
        return systemError(path, "write", errno);
      files.push_back(std::move(file));
      return {};
    }
    // Write where a link points to, and keep the link.
    if (char *real = realpath(path.c_str(), nullptr)) {
      file.target = real;
      free(real);
    }
  } else if (path.empty() || path.back() == '/') {
    return systemError(path, "write", EISDIR);
  }
  FT_RT_TRY(openTemporary(file));
  files.push_back(std::move(file));
  return {};
}

Status OutputFiles::openTemporary(File &file) {
  file.descriptor = ::open(folderOf(file.target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file.descriptor >= 0)
    return {};
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
    return systemError(file.path, "write", errno);
  // A file system that knows no files without a name: the code that ends this process leaves one.
  file.temporary = freshName(file.target);
  file.descriptor = ::open(file.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.descriptor >= 0)
    return {};
  file.temporary.clear();
  return systemError(file.path, "write", errno);
}

Status OutputFiles::write(size_t index, Parts parts) {
  File &file = files[index];
  int error = writeAll(file.descriptor, parts);
  if (!error && !file.isDirect && fsync(file.descriptor) != 0)
    error = errno;
  if (error)
    return systemError(file.path, "write", error);
  file.isWritten = true;
  return {};
}

/// Gives the file a name beside its place.
Status OutputFiles::name(File &file) {
  if (!file.temporary.empty() || file.isDirect)
    return {};
  std::string self = "/proc/self/fd/" + std::to_string(file.descriptor);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string fresh = freshName(file.target);
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, fresh.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      file.temporary = std::move(fresh);
      return {};
    }
    if (errno != EEXIST)
      break;
  }
  return systemError(file.path, "write", errno);
}

Status OutputFiles::commit() {
  SignalsWait wait;
  std::vector<std::string> placed;
  auto undo = [&](const File &file) {
    int error = errno;
    for (const std::string &path : placed)
      unlink(path.c_str());
    return systemError(file.path, "write", error);
  };
  for (File &file : files)
    if (file.isWritten)
      FT_RT_TRY(name(file));
  for (File &file : files) {
    if (file.isWritten && close(std::exchange(file.descriptor, -1)) != 0)
      return undo(file);
    if (!file.isWritten || file.isDirect)
      continue;
    if (rename(file.temporary.c_str(), file.target.c_str()) != 0)
      return undo(file);
    file.temporary.clear();
    placed.push_back(file.target);
  }
  files.clear();
  return {};
}
