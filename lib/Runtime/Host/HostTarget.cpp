//===- HostTarget.cpp - plans over functions of a CPU library -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is `void kernel(void **arguments)`, each argument a pointer to its
// value: the form that MLIR's execution engine gives functions, too.
//
//===----------------------------------------------------------------------===//
#include "ft/Runtime/Bundle/PlanSeal.h"
#include "ft/Runtime/Program/Target.h"

#include "HostCode.h"

#include <cstring>
#include <map>

using namespace ft::rt;

int ft::rt::hostFitness(std::string_view target) {
  if (target == "cpu")
    return 1;
  if (target.substr(0, 4) == "cpu:")
    return target == ft_host_processor() ? 9 : 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl");
  if (target == "x86-64")
    return 2;
  if (target == "x86-64-v3")
    return v3 ? 3 : 0;
  if (target == "x86-64-v4")
    return v4 ? 4 : 0;
#elif defined(__aarch64__)
  if (target == "aarch64")
    return 2;
#endif
  return 0;
}

namespace {
/// All but launches: memory is the process's own.
class HostMemory : public Target {
public:
  ~HostMemory() override {
    for (auto &[section, memory] : constants)
      HostMemory::release(memory);
  }

  Status loadConstants(const Bundle &bundle, const Plan &plan) {
    for (const Buffer &b : plan.buffers) {
      if (b.kind != Buffer::constant || constants.count(b.index))
        continue;
      const std::string &bytes = bundle.sections[size_t(b.index)].bytes;
      uint64_t &memory = constants[b.index];
      sizes[b.index] = bytes.size();
      FT_RT_TRY(allocate(bytes.size(), memory));
      memcpy(reinterpret_cast<void *>(memory), bytes.data(), bytes.size());
    }
    return {};
  }

  Status enter() override { return {}; }
  void leave() override {}

  Status fill(uint64_t to, int value, size_t bytes, void *) override {
    if (bytes) // an empty array may have no memory
      memset(reinterpret_cast<void *>(to), value, bytes);
    return {};
  }
  Status copy(uint64_t to, uint64_t from, size_t bytes, void *) override {
    if (bytes)
      memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
    return {};
  }
  Status readWord(uint64_t from, int32_t &value, void *) override {
    memcpy(&value, reinterpret_cast<const void *>(from), sizeof(value));
    return {};
  }
  Status encode(const TensorMap &, uint64_t, const uint64_t *, const uint64_t *,
                CUtensorMap &) override {
    return Status::error(Code::corrupt, "a CPU plan with a tensor map");
  }
  Status allocate(size_t bytes, uint64_t &out) override {
    try {
      out = reinterpret_cast<uint64_t>(allocateAligned(bytes ? bytes : 1, 256));
    } catch (const std::exception &) {
      return Status::error(Code::outOfMemory, "no memory for " + std::to_string(bytes) + " bytes");
    }
    return {};
  }
  void release(uint64_t memory) override { freeAligned(reinterpret_cast<void *>(memory)); }
  Status synchronize(void *) override { return {}; }
  Status synchronizeAll() override { return {}; }
  uint64_t constant(int64_t section) const override { return constants.at(section); }
  uint64_t constantBytes(int64_t section) const override { return sizes.at(section); }
  uint64_t errorAddress() const override { return reinterpret_cast<uint64_t>(&record); }
  ErrorRecord *errorRecord() override { return &record; }

private:
  std::map<int64_t, uint64_t> constants, sizes;
  ErrorRecord record{};
};

/// Functions of a bundle's code.
class HostTarget final : public HostMemory {
public:
  Status load(const Bundle &bundle, const Plan &plan, HostCodes &codes) {
    if (plan.modules.empty())
      return Status::error(Code::corrupt, "a plan without a module");
    const Section &section = bundle.sections[size_t(plan.modules[0])];
    if (section.kind != Section::cpu)
      return Status::error(Code::corrupt, "a CPU plan whose module is no code for the CPU");
    {
      // Plans of one section share its code.
      std::lock_guard<std::mutex> guard(codes.lock);
      std::shared_ptr<HostCode> &known = codes.bySection[plan.modules[0]];
      if (!known)
        FT_RT_TRY(HostCode::load(withoutSeal(section.bytes), known));
      code = known;
    }
    for (const std::string &name : plan.kernels) {
      void *symbol = code->find(name);
      if (!symbol)
        return Status::error(Code::notFound, "no function \"" + name + "\" in the code for the CPU");
      kernels.push_back(reinterpret_cast<void (*)(void **)>(symbol));
    }
    return loadConstants(bundle, plan);
  }

  Status launch(int64_t kernel, const LaunchShape &, void **parameters, void *) override {
    kernels[size_t(kernel)](parameters);
    return {};
  }

private:
  std::shared_ptr<HostCode> code;
  std::vector<void (*)(void **)> kernels;
};

/// Kernels that the caller brings.
class KernelsTarget final : public HostMemory {
public:
  KernelsTarget(const std::string &entry, const FtKernels &kernels) : entry(entry), kernels(kernels) {}

  Status launch(int64_t kernel, const LaunchShape &, void **parameters, void *) override {
    const char *error = kernels.launch(kernels.context, entry.c_str(), int32_t(kernel), parameters);
    return error ? Status::error(Code::invalidArgument, error) : Status();
  }

private:
  std::string entry;
  const FtKernels &kernels;
};
} // namespace

Status ft::rt::makeHostTarget(const Bundle &bundle, const Plan &plan, HostCodes &codes,
                              std::unique_ptr<Target> &out) {
  auto target = std::make_unique<HostTarget>();
  FT_RT_TRY(target->load(bundle, plan, codes));
  out = std::move(target);
  return {};
}

Status ft::rt::makeKernelsTarget(const Bundle &bundle, const Plan &plan, const std::string &entry,
                                 const FtKernels &kernels, std::unique_ptr<Target> &out) {
  auto target = std::make_unique<KernelsTarget>(entry, kernels);
  FT_RT_TRY(target->loadConstants(bundle, plan));
  out = std::move(target);
  return {};
}
