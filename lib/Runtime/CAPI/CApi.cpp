//===- CApi.cpp - running compiled programs from C ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft-c/Runtime.h"

#include "CApiModule.h"

#include "ft/Runtime/Bundle/PlanSeal.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace ft::rt;

static_assert(FT_CANCELLED == int(Code::cancelled) && FT_FORKED == int(Code::forked) &&
                  FT_NO_DRIVER == int(Code::noDriver),
              "the codes cross the C ABI unchanged");

static thread_local std::string lastError;

FtStatus ft::rt::finish(const Status &status) {
  if (!status.ok())
    lastError = status.message();
  return FtStatus(status.code());
}

FtStatus ft::rt::finishThrown(FtStatus status, const char *what) {
  lastError.assign(what);
  return status;
}

static Status invalid(const char *what) { return Status::error(Code::invalidArgument, what); }

static int fitnessOf(const FtModule &m, const Plan &plan) {
  if (m.kernels.launch)
    return 1;
  return m.device ? fitness(plan.target, m.device->major, m.device->minor)
                  : hostFitness(plan.target);
}

static Status makeProgram(FtEntry &e, size_t index, Program *&out) {
  auto it = e.programs.find(index);
  if (it == e.programs.end()) {
    const FtModule &m = *e.module;
    const Plan &plan = e.entry->plans[index];
    std::unique_ptr<Target> target;
    // Kernels of the caller's own are not the bundle's to check.
    if (!m.kernels.launch)
      FT_RT_TRY(checkSeal(m.bundle, *e.entry, plan).inside("entry \"" + e.entry->name + "\", target " + plan.target));
    FT_RT_TRY((m.device           ? makeCudaTarget(*m.device, m.bundle, plan, target)
               : m.kernels.launch ? makeKernelsTarget(m.bundle, plan, e.entry->name, m.kernels, target)
                                  : makeHostTarget(m.bundle, plan, e.module->codes, target))
                  .inside("entry \"" + e.entry->name + "\", target " + plan.target));
    it = e.programs
             .emplace(index, std::make_unique<Program>(*e.entry, plan, std::move(target),
                                                       m.deviceType, m.deviceId))
             .first;
  }
  out = it->second.get();
  return {};
}

Status ft::rt::prepare(FtEntry &e) {
  if (e.current.load(std::memory_order_acquire))
    return {};
  std::lock_guard<std::mutex> guard(e.lock);
  if (e.current.load(std::memory_order_relaxed))
    return {};
  const FtModule &m = *e.module;
  std::vector<std::pair<int, std::string>> targets; // best first
  std::string all;
  for (const Plan &plan : e.entry->plans) {
    std::pair<int, std::string> target{-fitnessOf(m, plan), plan.target};
    if (all.find(plan.target) == all.npos)
      all += (all.empty() ? "" : ", ") + plan.target;
    if (target.first && std::find(targets.begin(), targets.end(), target) == targets.end())
      targets.push_back(target);
  }
  std::sort(targets.begin(), targets.end());
  Status last = Status::error(
      Code::noDevice,
      "entry \"" + e.entry->name + "\" is compiled for " + (all.empty() ? "nothing" : all) + "; " +
          (m.device ? "device " + std::to_string(m.deviceId) + " (" + m.device->name + ") is sm_" +
                          std::to_string(m.device->major) + std::to_string(m.device->minor)
                    : "this processor takes none of these"));
  for (const auto &[rank, target] : targets) {
    std::vector<size_t> variants;
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < e.entry->plans.size(); ++i) {
      const Plan &plan = e.entry->plans[i];
      if (plan.target != target)
        continue;
      variants.push_back(i);
      for (const auto &[chosenTarget, variant] : e.entry->chosen)
        if (chosenTarget == target && variant == plan.variant)
          first = i;
    }
    Program *program = nullptr;
    last = makeProgram(e, first == SIZE_MAX ? variants[0] : first, program);
    if (last.ok()) {
      e.variants = std::move(variants);
      e.current.store(program, std::memory_order_release);
      return {};
    }
    // A driver too old for one target's PTX may take another's.
    if (last.code() != Code::unsupportedFormat)
      return last;
  }
  return last;
}

static Status open(std::unique_ptr<FtModule> module, const FtLoadOptions *given, FtModule **out) {
  FtLoadOptions options = {sizeof(FtLoadOptions), FT_CPU, 0};
  FT_RT_TRY(readStruct(given, options));
  module->deviceType = options.device_type;
  module->deviceId = options.device_id;
  if (options.device_type == FT_CUDA)
    FT_RT_TRY(CudaDevice::get(options.device_id, module->device));
  else if (options.device_type != FT_CPU)
    return invalid("device_type is neither FT_CPU nor FT_CUDA");
  for (const Entry &entry : module->bundle.entries) {
    module->entries.push_back(std::make_unique<FtEntry>());
    module->entries.back()->module = module.get();
    module->entries.back()->entry = &entry;
  }
  FT_RT_TRY(declareHeld(*module));
  *out = module.release();
  return {};
}

int32_t ft_abi_version(void) { return FT_ABI_VERSION; }
const char *ft_last_error(void) { return lastError.c_str(); }
FtStatus ft_set_last_error(FtStatus status, const char *message) {
  return guarded([&] { return Status::error(Code(status), message ? message : ""); });
}
const char *ft_status_name(FtStatus status) { return codeName(Code(status)); }

FtStatus ft_device_count(int32_t type, int32_t *count) {
  return guarded([&]() -> Status {
    if (!count)
      return invalid("count is NULL");
    *count = type == FT_CPU ? 1 : 0;
    if (type != FT_CPU && type != FT_CUDA)
      return invalid("device_type is neither FT_CPU nor FT_CUDA");
    return type == FT_CPU ? Status() : CudaDevice::count(*count);
  });
}

FtStatus ft_module_load(const char *path, const FtLoadOptions *options, FtModule **module) {
  return guarded([&]() -> Status {
    if (!path || !module)
      return invalid("path or module is NULL");
    *module = nullptr;
    auto made = std::make_unique<FtModule>();
    FT_RT_TRY(Bundle::read(path, made->bundle));
    return open(std::move(made), options, module).inside(path);
  });
}

FtStatus ft_module_load_bytes(const void *bytes, size_t size, const FtLoadOptions *options,
                              FtModule **module) {
  return guarded([&]() -> Status {
    if (!bytes || !module)
      return invalid("bytes or module is NULL");
    *module = nullptr;
    auto made = std::make_unique<FtModule>();
    FT_RT_TRY(Bundle::parse({static_cast<const char *>(bytes), size}, "bundle", made->bundle));
    return open(std::move(made), options, module);
  });
}

FtStatus ft_module_load_kernels(const void *bytes, size_t size, const FtKernels *kernels,
                                FtModule **module) {
  return guarded([&]() -> Status {
    auto made = std::make_unique<FtModule>();
    FT_RT_TRY(readStruct(kernels, made->kernels));
    if (!bytes || !module || !made->kernels.launch)
      return invalid("bytes, module or the kernels' launch is NULL");
    *module = nullptr;
    FT_RT_TRY(Bundle::parse({static_cast<const char *>(bytes), size}, "bundle", made->bundle));
    return open(std::move(made), nullptr, module);
  });
}

void ft_module_release(FtModule *module) { delete module; }

/// Those that callers call: what runs when arguments are bound is the module's own.
static std::vector<FtEntry *> calledEntries(const FtModule &module) {
  std::vector<FtEntry *> found;
  for (const std::unique_ptr<FtEntry> &entry : module.entries)
    if (!entry->entry->binds)
      found.push_back(entry.get());
  return found;
}

int32_t ft_module_num_entries(const FtModule *module) {
  return module ? int32_t(calledEntries(*module).size()) : 0;
}

const char *ft_module_entry_name(const FtModule *module, int32_t index) {
  if (index < 0 || index >= ft_module_num_entries(module))
    return nullptr;
  return calledEntries(*module)[size_t(index)]->entry->name.c_str();
}

FtStatus ft_module_entry(FtModule *module, const char *name, FtEntry **entry) {
  return guarded([&]() -> Status {
    if (!module || !entry)
      return invalid("module or entry is NULL");
    *entry = nullptr;
    std::string names;
    std::vector<FtEntry *> entries = calledEntries(*module);
    for (FtEntry *e : entries) {
      names += (names.empty() ? "" : ", ") + e->entry->name;
      if (name ? e->entry->name != name : entries.size() != 1)
        continue;
      FT_RT_TRY(prepare(*e));
      *entry = e;
      return {};
    }
    return Status::error(Code::notFound,
                         (name ? "no entry \"" + std::string(name) + "\"" : "a name is needed") +
                             "; there are: " + names);
  });
}

FtStatus ft_entry_info(FtEntry *entry, FtEntryInfo *info) {
  return guarded([&]() -> Status {
    if (!entry)
      return invalid("entry is NULL");
    const Plan &plan = entry->current.load()->getPlan();
    return writeStruct({0, entry->entry->name.c_str(), int32_t(entry->entry->numPassed()),
                        int32_t(entry->variants.size()), plan.target.c_str(), plan.variant.c_str()},
                       info);
  });
}

/// Where an argument that calls pass stands among all, or -1.
static int64_t argumentAt(const Entry &entry, int64_t passed) {
  for (size_t i = 0; passed >= 0 && i < entry.arguments.size(); ++i)
    if (!entry.arguments[i].held && passed-- == 0)
      return int64_t(i);
  return -1;
}

FtStatus ft_entry_argument(FtEntry *entry, int32_t index, FtArgumentInfo *info) {
  return guarded([&]() -> Status {
    int64_t at = entry ? argumentAt(*entry->entry, index) : -1;
    if (at < 0)
      return invalid("entry is NULL, or it has no such argument");
    const Argument &a = entry->entry->arguments[size_t(at)];
    int64_t writeback = a.writeback < 0 ? -1 : entry->entry->passedBefore(a.writeback);
    return writeStruct({0, a.name.c_str(), dtypeName(a.dtype), int32_t(a.shape.size()), a.output,
                        int32_t(writeback), int32_t(a.stridedDims)},
                       info);
  });
}

const char *ft_entry_variant(FtEntry *entry, int32_t index) {
  if (!entry || index < 0 || size_t(index) >= entry->variants.size())
    return nullptr;
  return entry->entry->plans[entry->variants[size_t(index)]].variant.c_str();
}

FtStatus ft_entry_select_variant(FtEntry *entry, const char *variant) {
  return guarded([&]() -> Status {
    if (!entry || !variant)
      return invalid("entry or variant is NULL");
    std::lock_guard<std::mutex> guard(entry->lock);
    for (size_t index : entry->variants) {
      if (entry->entry->plans[index].variant != variant)
        continue;
      Program *program = nullptr;
      FT_RT_TRY(makeProgram(*entry, index, program));
      entry->current.store(program, std::memory_order_release);
      return {};
    }
    return Status::error(Code::notFound, "entry \"" + entry->entry->name + "\" has no variant \"" +
                                             std::string(variant) + "\"");
  });
}

FtStatus ft_output_shape(FtEntry *entry, const FtTensor *const *tensors, int32_t count,
                         int32_t index, int64_t *shape, int32_t *ndim) {
  return guarded([&]() -> Status {
    if (!entry || !ndim || (!shape && *ndim > 0))
      return invalid("entry, shape or ndim is NULL");
    int64_t at = argumentAt(*entry->entry, index), all = count;
    if (at < 0 || !entry->entry->arguments[size_t(at)].output)
      return invalid("index is not that of an output");
    std::vector<int64_t> extents;
    HeldUse use;
    FT_RT_TRY(allTensors(*entry, tensors, all, use, tensors));
    FT_RT_TRY(entry->current.load()->outputShape(tensors, all, at, extents));
    int32_t room = *ndim;
    *ndim = int32_t(extents.size());
    if (room < *ndim)
      return invalid("ndim: the shape has more extents than there is room for");
    std::copy(extents.begin(), extents.end(), shape);
    return {};
  });
}

FtStatus ft_workspace_bytes(FtEntry *entry, const FtTensor *const *tensors, int32_t count,
                            uint64_t *bytes) {
  return guarded([&]() -> Status {
    if (!entry || !bytes)
      return invalid("entry or bytes is NULL");
    HeldUse use;
    int64_t all = count;
    FT_RT_TRY(allTensors(*entry, tensors, all, use, tensors));
    return entry->current.load()->workspaceBytes(tensors, all, *bytes);
  });
}

FtStatus ft_call(FtEntry *entry, const FtTensor *const *tensors, int32_t count,
                 const FtCallOptions *given) {
  return guarded([&]() -> Status {
    if (!entry)
      return invalid("entry is NULL");
    FtCallOptions options = {sizeof(FtCallOptions), nullptr, nullptr, 0, 0};
    FT_RT_TRY(readStruct(given, options));
    if (options.flags & ~uint64_t(FT_CALL_GRAPH | FT_CALL_DIRECT))
      return invalid("unknown flags");
    HeldUse use;
    int64_t all = count;
    FT_RT_TRY(allTensors(*entry, tensors, all, use, tensors));
    return entry->current.load(std::memory_order_acquire)
        ->call(tensors, all,
               {options.stream, reinterpret_cast<uint64_t>(options.workspace),
                options.workspace_bytes, (options.flags & FT_CALL_GRAPH) != 0,
                (options.flags & FT_CALL_DIRECT) != 0});
  });
}

FtStatus ft_call_traced(FtEntry *entry, const FtTensor *const *tensors, int32_t count, const FtCallOptions *given, const char **trace) {
  return guarded([&]() -> Status {
    if (!entry || !trace)
      return invalid("entry or trace is NULL");
    static thread_local std::string text;
    *trace = nullptr;
    FtCallOptions options = {sizeof(FtCallOptions), nullptr, nullptr, 0, 0};
    FT_RT_TRY(readStruct(given, options));
    HeldUse use;
    int64_t all = count;
    FT_RT_TRY(allTensors(*entry, tensors, all, use, tensors));
    Program::Options call;
    call.stream = options.stream;
    call.workspace = reinterpret_cast<uint64_t>(options.workspace);
    call.workspaceBytes = options.workspace_bytes;
    FT_RT_TRY(entry->current.load(std::memory_order_acquire)->callTraced(tensors, all, call, text));
    *trace = text.c_str();
    return {};
  });
}

FtStatus ft_synchronize(FtModule *module, void *stream) {
  return guarded([&]() -> Status {
    if (!module)
      return invalid("module is NULL");
    for (std::unique_ptr<FtEntry> &entry : module->entries) {
      std::lock_guard<std::mutex> guard(entry->lock);
      for (auto &[index, program] : entry->programs)
        FT_RT_TRY(program->synchronize(stream));
    }
    return {};
  });
}

FtStatus ft_module_alloc(FtModule *module, size_t bytes, void **memory) {
  return guarded([&]() -> Status {
    if (!module || !memory)
      return invalid("module or memory is NULL");
    *memory = nullptr;
    if (!module->device) {
      *memory = allocateAligned(bytes ? bytes : 1, 256);
      return {};
    }
    CudaDevice::Scope scope(*module->device);
    FT_RT_TRY(std::move(scope.status));
    CUdeviceptr address = 0;
    FT_RT_TRY(module->device->allocate(bytes ? bytes : 1, address));
    *memory = reinterpret_cast<void *>(address);
    return {};
  });
}

void ft_module_free(FtModule *module, void *memory) {
  if (!module || !memory)
    return;
  if (!module->device)
    return freeAligned(memory);
  CudaDevice::Scope scope(*module->device);
  if (scope.status.ok())
    module->device->release(reinterpret_cast<CUdeviceptr>(memory));
}

/// One copy to or from the device, on the default stream.
static Status copyAndWait(FtModule *module, void *to, const void *from, size_t bytes,
                          bool toDevice) {
  if (!module || (bytes && (!to || !from)))
    return invalid("module or memory is NULL");
  if (!module->device || bytes == 0) {
    if (bytes)
      memcpy(to, from, bytes);
    return {};
  }
  CudaDevice &device = *module->device;
  CudaDevice::Scope scope(device);
  FT_RT_TRY(std::move(scope.status));
  if (toDevice)
    FT_RT_TRY(device.check(
        device.api.memcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(to), from, bytes, nullptr),
        "cuMemcpyHtoDAsync"));
  else
    FT_RT_TRY(device.check(
        device.api.memcpyDtoHAsync(to, reinterpret_cast<CUdeviceptr>(from), bytes, nullptr),
        "cuMemcpyDtoHAsync"));
  return device.check(device.api.streamSynchronize(nullptr), "cuStreamSynchronize");
}

FtStatus ft_module_copy_to(FtModule *module, void *device, const void *host, size_t bytes) {
  return guarded([&] { return copyAndWait(module, device, host, bytes, true); });
}

FtStatus ft_module_copy_from(FtModule *module, void *host, const void *device, size_t bytes) {
  return guarded([&] { return copyAndWait(module, host, device, bytes, false); });
}
