//===- File.cpp - whole files, read and replaced atomically ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/File.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ft::rt;

static Status systemError(const std::string &path, const char *verb, int error) {
  Code code = error == ENOENT ? Code::notFound : error == ENOMEM ? Code::outOfMemory : Code::io;
  return Status::error(code, path + ": cannot " + verb + ": " + strerror(error));
}

namespace {
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
};
} // namespace

Status ft::rt::readFile(const std::string &path, std::string &out, size_t limit) {
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0)
    return systemError(path, "open", errno);
  struct stat info;
  if (fstat(file.fd, &info) != 0)
    return systemError(path, "read", errno);
  if (S_ISDIR(info.st_mode))
    return systemError(path, "read", EISDIR);
  std::string content;
  // A regular file is read in one piece; a pipe grows as it comes. One byte of
  // room beyond the size finds the end without a second pass.
  size_t room = S_ISREG(info.st_mode) ? size_t(info.st_size) + 1 : 65536, used = 0;
  try {
    for (;;) {
      if (used == content.size())
        content.resize(used ? used * 2 : room);
      ssize_t got = read(file.fd, content.data() + used, content.size() - used);
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return systemError(path, "read", errno);
      if (got == 0)
        break;
      used += size_t(got);
      if (used > limit)
        return Status::error(Code::invalidArgument,
                             path + ": has more than " + std::to_string(limit) + " bytes");
    }
    content.resize(used);
  } catch (const std::exception &) {
    return systemError(path, "read", ENOMEM);
  }
  out = std::move(content);
  return {};
}

static int writeAll(int fd, std::initializer_list<std::span<const std::byte>> parts) {
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

Status ft::rt::writeFileAtomically(const std::string &path,
                                   std::initializer_list<std::span<const std::byte>> parts) {
  std::string target = path;
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) {
      // Renaming over a device or a pipe would replace it.
      Descriptor file{open(path.c_str(), O_WRONLY | O_CLOEXEC)};
      if (file.fd < 0)
        return systemError(path, "write", errno);
      if (int error = writeAll(file.fd, parts))
        return systemError(path, "write", error);
      return {};
    }
    // Write where a link points to, and keep the link.
    if (char *real = realpath(path.c_str(), nullptr)) {
      target = real;
      free(real);
    }
  }
  std::string temporary = target + ".tmpXXXXXX";
  Descriptor file{mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.fd < 0)
    return systemError(path, "write", errno);
  int error = writeAll(file.fd, parts);
  if (!error) {
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(file.fd, 0666 & ~mask) != 0 || fsync(file.fd) != 0)
      error = errno;
  }
  if (!error && close(std::exchange(file.fd, -1)) != 0)
    error = errno;
  if (!error && rename(temporary.c_str(), target.c_str()) != 0)
    error = errno;
  if (!error)
    return {};
  unlink(temporary.c_str());
  return systemError(path, "write", error);
}
