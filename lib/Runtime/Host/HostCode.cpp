//===- HostCode.cpp - machine code in this process ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HostCode.h"

#include "ft/Runtime/Host/ThreadPool.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace ft::rt;

/// A handle of this library; its symbols become visible to libraries that are loaded later, also where
/// it was itself loaded privately (by Python, say).
static void *openSelf() {
  static void *self = [] {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void *>(&ft_parallel_for), &info) || !info.dli_fname)
      return static_cast<void *>(nullptr);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  }();
  return self;
}

void *ft::rt::findHostFunction(const std::string &name) {
  void *self = openSelf();
  void *found = self ? dlsym(self, name.c_str()) : nullptr;
  return found ? found : dlsym(RTLD_DEFAULT, name.c_str());
}

namespace {
/// A shared library, through a file that exists in memory alone.
class Library final : public HostCode {
public:
  ~Library() override {
    if (handle)
      dlclose(handle);
  }
  void *find(const std::string &name) const override { return dlsym(handle, name.c_str()); }

  Status open(std::string_view image) {
    openSelf(); // the library calls the thread pool by name
    int fd = memfd_create("ft-bundle", MFD_CLOEXEC);
    if (fd < 0)
      return Status::error(Code::io, std::string("memfd_create: ") + strerror(errno));
    for (size_t done = 0; done < image.size();) {
      ssize_t n = write(fd, image.data() + done, image.size() - done);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0) {
        int error = errno;
        close(fd);
        return Status::error(error == ENOSPC || error == ENOMEM ? Code::outOfMemory : Code::io,
                             std::string("writing the CPU library: ") + strerror(error));
      }
      done += size_t(n);
    }
    std::string path = uniquePath(fd);
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    std::string error = handle ? "" : dlerror();
    close(fd);
    if (!handle)
      return Status::error(Code::unsupportedFormat, "cannot load the CPU library: " + error);
    return {};
  }

private:
  /// The loader knows libraries by the text of their path, and a library may stay
  /// after its dlclose: a descriptor's number alone would give an old library for
  /// a new one. So each path gets a number of its own, written in "/" and "/.",
  /// which mean nothing to the file system.
  static std::string uniquePath(int fd) {
    static std::atomic<uint32_t> count{0};
    std::string path = "/proc/self/fd";
    for (uint32_t number = ++count; number; number /= 2)
      path += number % 2 ? "/." : "/";
    return path + "/" + std::to_string(fd);
  }

  void *handle = nullptr;
};
} // namespace

Status HostCode::load(std::string_view image, std::shared_ptr<HostCode> &out) {
  bool isElf = image.size() >= sizeof(Elf64_Ehdr) && image.substr(0, SELFMAG) == ELFMAG;
  Elf64_Half type = ET_NONE;
  if (isElf)
    memcpy(&type, image.data() + offsetof(Elf64_Ehdr, e_type), sizeof type);
  if (!isElf || type == ET_REL)
    return loadObjects(image, out);
  auto library = std::make_shared<Library>();
  FT_RT_TRY(library->open(image));
  out = std::move(library);
  return {};
}
