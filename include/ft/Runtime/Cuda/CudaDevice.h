//===- CudaDevice.h - one GPU of this process -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns every CUresult into a status, and remembers when an error has cost the
// process its context: the driver then fails every later call, and saying so
// once with the first reason is better than a chain of its echoes.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_CUDA_CUDADEVICE_H
#define FT_RUNTIME_CUDA_CUDADEVICE_H

#include "ft/Runtime/Cuda/CudaApi.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>

namespace ft::rt {

class CudaDevice {
public:
  /// The device of that number; made at first use, kept until the process ends.
  static Status get(int ordinal, CudaDevice *&device);
  static Status count(int &count);

  const CudaApi &api;
  const int ordinal;
  std::string name;
  int major = 0, minor = 0, multiprocessors = 0, maxSharedBytes = 0, maxThreads = 0;
  bool cooperative = false;
  /// Whether a launch may begin before the one before it has ended: not where FT_NO_OVERLAP=1.
  bool overlaps() const;

  /// Ok, or why this process cannot use the device any more.
  Status usable() const;
  /// Translates a result: "cuMemAlloc(64 bytes): CUDA_ERROR_...". A sticky error
  /// marks the context as lost.
  Status check(CUresult result, const char *call, std::string_view detail = {});

  /// Makes the device's primary context current for a scope. Where it already
  /// is (PyTorch keeps it so), that costs one query.
  class Scope {
  public:
    explicit Scope(CudaDevice &device);
    ~Scope();
    Scope(const Scope &) = delete;
    Status status;

  private:
    CudaDevice &device;
    bool pushed = false;
  };

  /// These need a Scope around them.
  Status allocate(size_t bytes, CUdeviceptr &out);
  void release(CUdeviceptr memory);
  /// A cubin, or PTX text that the driver compiles; its log is in the error.
  Status loadModule(const std::string &image, bool isPtx, CUmodule &out);

private:
  CudaDevice(const CudaApi &api, int ordinal) : api(api), ordinal(ordinal) {}
  static Status create(int ordinal, std::unique_ptr<CudaDevice> &out);

  CUcontext context = nullptr;
  uint32_t owner = 0; // forks before this device was made
  std::atomic<bool> lost{false};
  mutable std::mutex reasonLock;
  std::string reason;
};

/// Whether a plan's target ("sm_80", "sm_90a") runs on a device, and how well it
/// fits: larger is better, 0 is not at all.
int fitness(std::string_view target, int major, int minor);

} // namespace ft::rt

#endif // FT_RUNTIME_CUDA_CUDADEVICE_H
