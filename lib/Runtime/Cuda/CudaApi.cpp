//===- CudaApi.cpp - loading the driver -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Cuda/CudaApi.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <mutex>

using namespace ft::rt;

static Status noDriver(const std::string &why) { return Status::error(Code::noDriver, why); }

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

static Status load(CudaApi &api) {
  const char *path = getenv("FT_LIBCUDA");
  std::string library = path && *path ? path : "libcuda.so.1";
  // Never closed: other threads may be inside of it.
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return noDriver("no CUDA driver: " + std::string(dlerror()));
  // The version first: an old driver lacks functions, and its age is the reason.
  api.driverGetVersion =
      reinterpret_cast<decltype(api.driverGetVersion)>(dlsym(handle, "cuDriverGetVersion"));
  if (!api.driverGetVersion)
    return noDriver(library + " has no cuDriverGetVersion");
  if (CUresult result = api.driverGetVersion(&api.version))
    return noDriver(library + ": cuDriverGetVersion failed (" + std::to_string(result) + ")");
  if (api.version < oldestDriver)
    return noDriver("the CUDA driver is too old: expected at least " + versionText(oldestDriver) +
                    ", found " + versionText(api.version));
#define FT_CUDA_LOAD(name, symbol, parameters)                                                     \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(handle, symbol));                          \
  if (!api.name)                                                                                   \
    return noDriver(library + " (CUDA " + versionText(api.version) + ") has no " symbol);
  FT_CUDA_FUNCTIONS(FT_CUDA_LOAD)
#undef FT_CUDA_LOAD
#define FT_CUDA_LOAD(name, symbol, parameters) api.name = reinterpret_cast<decltype(api.name)>(dlsym(handle, symbol));
  FT_CUDA_NEWER_FUNCTIONS(FT_CUDA_LOAD)
#undef FT_CUDA_LOAD
  if (CUresult result = api.init(0)) {
    Code code = result == cu::noDevice ? Code::noDevice : Code::noDriver;
    return Status::error(code, "cuInit: " + api.describe(result));
  }
  return {};
}

Status CudaApi::get(const CudaApi *&out) {
  static std::mutex lock;
  static std::atomic<const CudaApi *> loaded{nullptr};
  out = loaded.load(std::memory_order_acquire);
  if (out)
    return {};
  std::lock_guard<std::mutex> guard(lock);
  out = loaded.load(std::memory_order_acquire);
  if (out)
    return {};
  auto api = std::make_unique<CudaApi>();
  FT_RT_TRY(load(*api));
  out = api.release();
  loaded.store(out, std::memory_order_release);
  return {};
}

std::string CudaApi::describe(CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName)
    getErrorName(result, &name);
  if (getErrorString)
    getErrorString(result, &text);
  return std::string(name ? name : "CUDA error") + " (" + std::to_string(result) + ")" +
         (text ? ": " + std::string(text) : std::string());
}
