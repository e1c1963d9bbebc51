//===- File.cpp - whole files, read and replaced atomically ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Base/File.h"

#include "ft/Runtime/Arrays/OutputFiles.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ft::rt;

Status ft::rt::systemError(const std::string &path, const char *verb, int error) {
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

Status ft::rt::writeFileAtomically(const std::string &path,
                                   std::initializer_list<std::span<const std::byte>> parts) {
  OutputFiles files;
  FT_RT_TRY(files.open(path));
  FT_RT_TRY(files.write(0, parts));
  return files.commit();
}
