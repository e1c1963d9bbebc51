//===- CudaDevice.cpp - one GPU of this process ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Cuda/CudaDevice.h"

#include <charconv>
#include <pthread.h>
#include <vector>

using namespace ft::rt;

/// Forks between this process and the first that used a device. Asking for the
/// process's number instead would cost a system call at every call.
static std::atomic<uint32_t> forks{0};

/// After these every call in the context fails until the process ends.
static bool isSticky(CUresult result) {
  switch (result) {
  case cu::deinitialized:
  case cu::eccUncorrectable:
  case cu::nvlinkUncorrectable:
  case cu::illegalAddress:
  case cu::launchTimeout:
  case cu::contextIsDestroyed:
  case cu::assertFailed:
  case cu::hardwareStackError:
  case cu::illegalInstruction:
  case cu::misalignedAddress:
  case cu::invalidAddressSpace:
  case cu::invalidPc:
  case cu::launchFailed:
  case cu::tensorMemoryLeak:
    return true;
  default:
    return false;
  }
}

static Code codeOf(CUresult result) {
  if (isSticky(result))
    return Code::contextLost;
  switch (result) {
  case cu::success:
    return Code::ok;
  case cu::outOfMemory:
    return Code::outOfMemory;
  case cu::stubLibrary:
  case cu::systemDriverMismatch:
  case cu::jitCompilerNotFound:
    return Code::noDriver;
  case cu::noDevice:
  case cu::invalidDevice:
    return Code::noDevice;
  case cu::invalidImage:
  case cu::noBinaryForGpu:
  case cu::invalidPtx:
  case cu::unsupportedPtxVersion:
  case cu::jitCompilationDisabled:
    return Code::unsupportedFormat;
  case cu::notFound:
    return Code::notFound;
  case cu::cooperativeLaunchTooLarge:
    return Code::notResident;
  default:
    return Code::driver;
  }
}

Status CudaDevice::check(CUresult result, const char *call, std::string_view detail) {
  if (result == cu::success)
    return {};
  std::string message = call;
  if (!detail.empty())
    message += "(" + std::string(detail) + ")";
  message += ": " + api.describe(result);
  if (isSticky(result)) {
    std::lock_guard<std::mutex> guard(reasonLock);
    if (!lost) {
      reason = message;
      lost = true;
    }
  }
  return Status::error(codeOf(result), std::move(message));
}

Status CudaDevice::usable() const {
  if (lost) [[unlikely]] {
    std::lock_guard<std::mutex> guard(reasonLock);
    return Status::error(Code::contextLost, "device " + std::to_string(ordinal) +
                                                " is lost to this process after " + reason);
  }
  if (owner != forks.load(std::memory_order_relaxed)) [[unlikely]]
    return Status::error(Code::forked,
                         "device " + std::to_string(ordinal) +
                             " was in use before this process was forked; CUDA does not survive a "
                             "fork: use the CPU here, or start the child by exec or spawn");
  return {};
}

CudaDevice::Scope::Scope(CudaDevice &device) : device(device) {
  status = device.usable();
  if (!status.ok())
    return;
  CUcontext current = nullptr;
  if (device.api.ctxGetCurrent(&current) == cu::success && current == device.context)
    return;
  status = device.check(device.api.ctxPushCurrent(device.context), "cuCtxPushCurrent");
  pushed = status.ok();
}

CudaDevice::Scope::~Scope() {
  CUcontext ignored;
  if (pushed)
    device.api.ctxPopCurrent(&ignored);
}

Status CudaDevice::count(int &count) {
  const CudaApi *api = nullptr;
  FT_RT_TRY(CudaApi::get(api));
  if (CUresult result = api->deviceGetCount(&count))
    return Status::error(codeOf(result), "cuDeviceGetCount: " + api->describe(result));
  return {};
}

bool CudaDevice::overlaps() const {
  constexpr int oldestMajor = 9; // programmatic dependent launch: from Hopper on
  static const bool isOff = [] {
    const char *text = getenv("FT_NO_OVERLAP");
    return text && *text && *text != '0';
  }();
  return !isOff && major >= oldestMajor && api.version >= oldestDriverOfOverlap && api.graphAddDependencies;
}

Status CudaDevice::create(int ordinal, std::unique_ptr<CudaDevice> &out) {
  int devices = 0;
  FT_RT_TRY(count(devices));
  const CudaApi *api = nullptr;
  FT_RT_TRY(CudaApi::get(api));
  if (devices == 0)
    return Status::error(Code::noDevice, "the CUDA driver sees no device");
  if (ordinal < 0 || ordinal >= devices)
    return Status::error(Code::noDevice,
                         "no CUDA device " + std::to_string(ordinal) + ": there " +
                             (devices == 1 ? "is 1" : "are " + std::to_string(devices)));
  std::unique_ptr<CudaDevice> d(new CudaDevice(*api, ordinal));
  CUdevice handle = 0;
  FT_RT_TRY(d->check(api->deviceGet(&handle, ordinal), "cuDeviceGet"));
  char name[256] = {};
  FT_RT_TRY(d->check(api->deviceGetName(name, sizeof(name) - 1, handle), "cuDeviceGetName"));
  d->name = name;
  int isCooperative = 0;
  const std::pair<int, int *> attributes[] = {
      {cu::computeCapabilityMajor, &d->major},
      {cu::computeCapabilityMinor, &d->minor},
      {cu::multiprocessorCount, &d->multiprocessors},
      {cu::maxSharedPerBlockOptin, &d->maxSharedBytes},
      {cu::maxThreadsPerBlock, &d->maxThreads},
      {cu::cooperativeLaunch, &isCooperative},
  };
  for (auto [attribute, value] : attributes)
    FT_RT_TRY(d->check(api->deviceGetAttribute(value, attribute, handle), "cuDeviceGetAttribute",
                       std::to_string(attribute)));
  d->cooperative = isCooperative != 0;
  FT_RT_TRY(d->check(api->devicePrimaryCtxRetain(&d->context, handle), "cuDevicePrimaryCtxRetain",
                     d->name));
  static const int watched =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)watched;
  d->owner = forks.load(std::memory_order_relaxed);
  out = std::move(d);
  return {};
}

Status CudaDevice::get(int ordinal, CudaDevice *&device) {
  // Kept for ever: the driver may be gone before static destructors run.
  static auto &devices = *new std::vector<std::unique_ptr<CudaDevice>>;
  static std::mutex lock;
  std::lock_guard<std::mutex> guard(lock);
  for (std::unique_ptr<CudaDevice> &d : devices)
    if (d->ordinal == ordinal) {
      device = d.get();
      return d->usable();
    }
  std::unique_ptr<CudaDevice> fresh;
  FT_RT_TRY(create(ordinal, fresh));
  device = fresh.get();
  devices.push_back(std::move(fresh));
  return {};
}

Status CudaDevice::allocate(size_t bytes, CUdeviceptr &out) {
  out = 0;
  return check(api.memAlloc(&out, bytes), "cuMemAlloc", std::to_string(bytes) + " bytes");
}

void CudaDevice::release(CUdeviceptr memory) {
  if (memory && !lost)
    api.memFree(memory);
}

Status CudaDevice::loadModule(const std::string &image, bool isPtx, CUmodule &out) {
  std::string log(8192, '\0');
  unsigned options[] = {cu::jitErrorLogBuffer, cu::jitErrorLogBufferSize};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  CUresult result = api.moduleLoadDataEx(&out, image.c_str(), 2, options, values);
  if (result == cu::success)
    return {};
  log.resize(log.find('\0'));
  while (!log.empty() && (log.back() == '\n' || log.back() == ' '))
    log.pop_back();
  Status status = check(result, "cuModuleLoadDataEx", isPtx ? "PTX" : "cubin");
  std::string extra;
  if (result == cu::unsupportedPtxVersion)
    extra = "; the driver is CUDA " + std::to_string(api.version / 1000) + "." +
            std::to_string(api.version % 1000 / 10) +
            ": update it, or compile for a lower PTX version";
  if (!log.empty())
    extra += "\n" + log;
  return Status::error(status.code(), status.message() + extra);
}

int ft::rt::fitness(std::string_view target, int major, int minor) {
  if (!target.starts_with("sm_"))
    return 0;
  target.remove_prefix(3);
  bool exact = !target.empty() && target.back() == 'a';
  if (exact)
    target.remove_suffix(1);
  int number = 0;
  auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), number);
  if (error != std::errc() || end != target.data() + target.size() || number < 10)
    return 0;
  int device = major * 10 + minor;
  // "a" targets use instructions that later architectures may lack; others are
  // PTX that any later device compiles.
  if (exact ? number != device : number > device)
    return 0;
  return number * 2 + exact;
}
