//===- CudaProgram.cpp - a graph, compiled and run on a GPU ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Engine/CUDA/CudaProgram.h"

#include "ft-c/Runtime.h"
#include "ft/Runtime/Binding.h"
#include "ft/Runtime/CudaDevice.h"
#include "ft/Support/WholeFile.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

struct CudaProgram::State {
  Location loc;
  FtModule *module = nullptr;
  FtEntry *entry = nullptr;
  rt::CudaDevice *device = nullptr;
  std::vector<rt::HostArray> outputs;
  std::vector<rt::CUdeviceptr> memory;
  std::vector<FtTensor> tensors;
  std::vector<const FtTensor *> pointers;
  std::vector<std::vector<int64_t>> shapes;

  explicit State(Location loc) : loc(loc) {}
  ~State() {
    ft_module_release(module);
    if (!device)
      return;
    rt::CudaDevice::Scope scope(*device);
    if (scope.status.ok())
      for (rt::CUdeviceptr pointer : memory)
        device->release(pointer);
  }

  LogicalResult check(const rt::Status &status) {
    return status.ok() ? success() : LogicalResult(emitError(loc) << status.message());
  }
  LogicalResult check(FtStatus status) {
    return status == FT_OK ? success() : LogicalResult(emitError(loc) << ft_last_error());
  }
  LogicalResult check(rt::CUresult result, const char *call) {
    return check(device->check(result, call));
  }

  /// A tensor on the device; `data` null leaves it undefined.
  LogicalResult add(rt::DType dtype, std::vector<int64_t> shape, const void *data, int64_t bytes) {
    rt::CUdeviceptr pointer = 0;
    if (failed(check(device->allocate(std::max<size_t>(size_t(bytes), 1), pointer))))
      return failure();
    memory.push_back(pointer);
    if (data && bytes > 0 &&
        failed(check(device->api.memcpyHtoDAsync(pointer, data, size_t(bytes), nullptr),
                     "cuMemcpyHtoDAsync")))
      return failure();
    shapes.push_back(std::move(shape));
    FtTensor tensor = {};
    tensor.data = reinterpret_cast<void *>(pointer);
    tensor.device.type = FT_CUDA;
    tensor.ndim = int32_t(shapes.back().size());
    rt::dlpackType(dtype, tensor.dtype.code, tensor.dtype.bits);
    tensor.dtype.lanes = 1;
    tensor.shape = shapes.back().data();
    tensors.push_back(tensor);
    return success();
  }
};

CudaProgram::CudaProgram(std::unique_ptr<State> state) : state(std::move(state)) {}
CudaProgram::~CudaProgram() = default;

FailureOr<std::unique_ptr<CudaProgram>> CudaProgram::compile(ModuleOp module, StringRef entry,
                                                             StringRef target) {
  std::vector<std::string> targets = {"sm_80", "sm_90a"};
  if (!target.empty())
    targets = {target.str()};
  auto state = std::make_unique<State>(wholeFile(module.getLoc()));
  // A machine without a device says so before it compiles.
  if (failed(state->check(rt::CudaDevice::get(0, state->device))))
    return failure();
  FailureOr<rt::Bundle> bundle = compileToBundle(module, targets);
  if (failed(bundle))
    return failure();
  std::string bytes = bundle->serialize();
  FtLoadOptions options = {sizeof options, FT_CUDA, 0};
  if (failed(state->check(
          ft_module_load_bytes(bytes.data(), bytes.size(), &options, &state->module))) ||
      failed(state->check(ft_module_entry(state->module, entry.str().c_str(), &state->entry))))
    return failure();
  return std::unique_ptr<CudaProgram>(new CudaProgram(std::move(state)));
}

LogicalResult CudaProgram::prepare(ArrayRef<const rt::HostArray *> arguments) {
  State &s = *state;
  rt::CudaDevice::Scope scope(*s.device);
  if (failed(s.check(scope.status)))
    return failure();
  FtEntryInfo info = {sizeof info, nullptr, 0, 0, nullptr, nullptr};
  if (failed(s.check(ft_entry_info(s.entry, &info))))
    return failure();
  for (const rt::HostArray *array : arguments)
    if (failed(s.add(array->dtype, array->shape, array->data(), array->numBytes())))
      return failure();
  auto point = [&] { // vectors may have moved
    s.pointers.assign(size_t(info.num_arguments), nullptr);
    for (size_t i = 0; i < s.tensors.size(); ++i) {
      s.tensors[i].shape = s.shapes[i].data();
      s.pointers[i] = &s.tensors[i];
    }
  };
  for (int32_t i = int32_t(arguments.size()); i < info.num_arguments; ++i) {
    point();
    FtArgumentInfo argument = {sizeof argument, nullptr, nullptr, 0, 0, 0, 0};
    int64_t extents[rt::maxRank];
    int32_t rank = rt::maxRank;
    if (failed(s.check(ft_entry_argument(s.entry, i, &argument))) ||
        failed(s.check(
            ft_output_shape(s.entry, s.pointers.data(), info.num_arguments, i, extents, &rank))))
      return failure();
    rt::HostArray output;
    if (failed(s.check(rt::HostArray::create(*rt::parseDType(argument.dtype),
                                             {extents, extents + rank}, output))) ||
        failed(s.add(output.dtype, output.shape, nullptr, output.numBytes())))
      return failure();
    s.outputs.push_back(std::move(output));
  }
  point();
  return s.check(s.device->api.streamSynchronize(nullptr), "cuStreamSynchronize");
}

LogicalResult CudaProgram::run() {
  State &s = *state;
  if (failed(s.check(ft_call(s.entry, s.pointers.data(), int32_t(s.pointers.size()), nullptr))))
    return failure();
  return s.check(ft_synchronize(s.module, nullptr));
}

FailureOr<std::vector<rt::HostArray>> CudaProgram::results() {
  State &s = *state;
  rt::CudaDevice::Scope scope(*s.device);
  if (failed(s.check(scope.status)))
    return failure();
  size_t first = s.memory.size() - s.outputs.size();
  for (size_t i = 0; i < s.outputs.size(); ++i)
    if (s.outputs[i].numBytes() > 0 &&
        failed(s.check(s.device->api.memcpyDtoHAsync(s.outputs[i].data(), s.memory[first + i],
                                                     size_t(s.outputs[i].numBytes()), nullptr),
                       "cuMemcpyDtoHAsync")))
      return failure();
  if (failed(s.check(s.device->api.streamSynchronize(nullptr), "cuStreamSynchronize")))
    return failure();
  return std::move(s.outputs);
}
