//===- CApiModule.h - modules and entries of the C interface ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_RUNTIME_CAPIMODULE_H
#define FT_LIB_RUNTIME_CAPIMODULE_H

#include "ft-c/Runtime.h"

#include "ft/Runtime/Bundle/Held.h"
#include "ft/Runtime/Program/Program.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>

namespace ft::rt {

/// A value for each held argument, by number; null where it has none.
struct HeldValues {
  std::vector<std::shared_ptr<void>> memory;
  std::vector<FtTensor> tensors;
  std::vector<int64_t> notFinite; // elements that are no finite numbers; -1: not looked at
};

/// What a module holds.
struct Held {
  std::vector<HeldArgument> arguments;
  std::mutex binding;            // of one caller at a time
  mutable std::mutex lock;       // of `values`
  std::shared_ptr<const HeldValues> values;

  int64_t find(std::string_view name) const { return findName(arguments, name); }
  std::shared_ptr<const HeldValues> current() const {
    std::lock_guard<std::mutex> guard(lock);
    return values;
  }
  void clear() { values.reset(); }
};

/// The values that a call uses, and all of its tensors.
struct HeldUse {
  std::shared_ptr<const HeldValues> values;
  std::vector<const FtTensor *> tensors;
};

/// A value by the name of a held argument.
struct GivenValue {
  std::string_view name;
  FtTensor tensor;
};

} // namespace ft::rt

struct FtEntry {
  FtModule *module = nullptr;
  const ft::rt::Entry *entry = nullptr;
  std::mutex lock;
  /// Programs that were made, by the plan's index; never dropped, so that a call
  /// in progress keeps its own.
  std::map<size_t, std::unique_ptr<ft::rt::Program>> programs;
  std::vector<size_t> variants; // plans of the target in use
  /// Of each argument the number among what the module holds, or -1; empty where it holds none.
  std::vector<int64_t> heldAt;
  std::atomic<ft::rt::Program *> current{nullptr};
};

struct FtModule {
  ~FtModule() {
    entries.clear(); // before the kernels that they use
    held.clear();
    if (kernels.release)
      kernels.release(kernels.context);
  }

  ft::rt::Bundle bundle;
  int32_t deviceType = FT_CPU, deviceId = 0;
  ft::rt::CudaDevice *device = nullptr;
  ft::rt::HostCodes codes;
  FtKernels kernels = {};                        // `launch` is null: the bundle's own
  std::vector<std::unique_ptr<FtEntry>> entries; // one for each of the bundle's
  ft::rt::Held held;
};

namespace ft::rt {

/// Makes a status this thread's last failure, where it is one.
FtStatus finish(const Status &status);
/// The same for what was thrown, without memory.
FtStatus finishThrown(FtStatus status, const char *what);

/// Runs the body of a C function: no exception may cross into C.
template <class F>
FtStatus guarded(F body) {
  try {
    return finish(body());
  } catch (const std::bad_alloc &) {
    return finishThrown(FT_OUT_OF_MEMORY, "out of memory"); // fits a string's own buffer
  } catch (...) {
    return finishThrown(FT_INTERNAL, "exception");
  }
}

/// Reads a caller's struct, which may be older (shorter) or newer than ours; what it lacks keeps its default.
template <class T>
Status readStruct(const T *from, T &to) {
  if (!from)
    return {};
  if (from->struct_size < sizeof(size_t) || from->struct_size > 4096)
    return Status::error(Code::invalidArgument, "struct_size is not the size of the struct");
  memcpy(&to, from, std::min(from->struct_size, sizeof(T)));
  return {};
}

template <class T>
Status writeStruct(const T &from, T *to) {
  if (!to || to->struct_size < sizeof(size_t) || to->struct_size > 4096)
    return Status::error(Code::invalidArgument, "the struct is NULL, or struct_size is not its size");
  size_t size = to->struct_size;
  memcpy(to, &from, std::min(size, sizeof(T)));
  to->struct_size = size;
  return {};
}

/// Finds what a module's entries hold, and binds the values that its bundle has.
Status declareHeld(FtModule &module);
/// Binds values, all or none; copies them. Others stay what they are.
Status bindHeld(FtModule &module, const std::vector<GivenValue> &given);
/// The same from a safetensors file's content (`parseValues`).
Status bindSafetensors(FtModule &module, std::string_view content, const std::string &name);

/// Loads the code of the best target that this device takes.
Status prepare(FtEntry &entry);
/// What an entry's plans are called with: what the caller passes, and what the module holds, which `use` keeps as long as it lives.
Status allTensors(FtEntry &entry, const FtTensor *const *passed, int64_t &count, HeldUse &use, const FtTensor *const *&all);

} // namespace ft::rt

#endif // FT_LIB_RUNTIME_CAPIMODULE_H
