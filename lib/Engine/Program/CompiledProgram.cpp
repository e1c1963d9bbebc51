//===- CompiledProgram.cpp - a bundle's entry, ready to run ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Engine/Program/CompiledProgram.h"

#include "ft/Engine/Bundle/CompileBundle.h"
#include "ft/Runtime/Program/Binding.h"
#include "ft/Support/WholeFile.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

static LogicalResult check(Location loc, FtStatus status) {
  return status == FT_OK ? success() : LogicalResult(emitError(loc) << ft_last_error());
}

FailureOr<std::unique_ptr<CompiledProgram>> CompiledProgram::load(const rt::Bundle &bundle, Location loc,
                                                                  FtDeviceType device) {
  loc = wholeFile(loc);
  std::string bytes = bundle.serialize();
  FtLoadOptions options = {sizeof options, device, 0};
  FtModule *module = nullptr;
  if (failed(check(loc, ft_module_load_bytes(bytes.data(), bytes.size(), &options, &module))))
    return failure();
  return std::unique_ptr<CompiledProgram>(new CompiledProgram(module, device, loc));
}

FailureOr<std::unique_ptr<CompiledProgram>> CompiledProgram::compile(ModuleOp module) {
  FailureOr<rt::Bundle> bundle = compileToBundle(module, {"cpu"});
  if (failed(bundle))
    return failure();
  return load(*bundle, module.getLoc());
}

CompiledProgram::~CompiledProgram() { ft_module_release(module); }

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

struct CompiledProgram::Call::State {
  Location loc;
  FtModule *module;
  FtDeviceType device;
  FtEntry *entry = nullptr;
  std::vector<rt::HostArray> outputs;
  std::vector<void *> memory; // on the device
  std::vector<FtTensor> tensors;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<const FtTensor *> pointers;
  size_t numInputs = 0;

  State(Location loc, FtModule *module, FtDeviceType device) : loc(loc), module(module), device(device) {}
  ~State() {
    for (void *pointer : memory)
      ft_module_free(module, pointer);
  }

  LogicalResult check(FtStatus status) { return ::check(loc, status); }

  /// The array itself on the host, a copy of it on a device.
  LogicalResult add(rt::HostArray &array, bool isInput) {
    void *data = array.data();
    if (device != FT_CPU) {
      size_t bytes = size_t(array.numBytes());
      if (failed(check(ft_module_alloc(module, bytes, &data))))
        return failure();
      memory.push_back(data);
      if (isInput && failed(check(ft_module_copy_to(module, data, array.data(), bytes))))
        return failure();
    }
    shapes.push_back(array.shape);
    tensors.push_back(rt::asTensor(array, data, device));
    return success();
  }

  /// Vectors may have moved.
  void point(int32_t count) {
    pointers.assign(size_t(count), nullptr);
    for (size_t i = 0; i < tensors.size() && i < pointers.size(); ++i) {
      tensors[i].shape = shapes[i].data();
      pointers[i] = &tensors[i];
    }
  }
};

CompiledProgram::Call::Call(std::unique_ptr<State> state) : state(std::move(state)) {}
CompiledProgram::Call::~Call() = default;

FailureOr<std::unique_ptr<CompiledProgram::Call>>
CompiledProgram::prepare(StringRef entry, ArrayRef<const rt::HostArray *> arguments) {
  auto state = std::make_unique<Call::State>(loc, module, device);
  Call::State &s = *state;
  FtEntryInfo info = {sizeof info, nullptr, 0, 0, nullptr, nullptr};
  if (failed(s.check(ft_module_entry(module, entry.str().c_str(), &s.entry))) ||
      failed(s.check(ft_entry_info(s.entry, &info))))
    return failure();
  s.numInputs = arguments.size();
  for (const rt::HostArray *array : arguments) // inputs are read only
    if (failed(s.add(const_cast<rt::HostArray &>(*array), /*isInput=*/true)))
      return failure();
  int32_t count = info.num_arguments;
  s.outputs.resize(size_t(std::max<int64_t>(count - int64_t(arguments.size()), 0)));
  s.point(count);
  for (size_t i = 0; i < s.outputs.size(); ++i) {
    int32_t index = int32_t(arguments.size() + i), rank = rt::maxRank;
    FtArgumentInfo argument = {sizeof argument, nullptr, nullptr, 0, 0, 0, 0};
    int64_t extents[rt::maxRank];
    if (failed(s.check(ft_entry_argument(s.entry, index, &argument))) ||
        failed(s.check(ft_output_shape(s.entry, s.pointers.data(), count, index, extents, &rank))))
      return failure();
    if (rt::Status status =
            rt::HostArray::create(*rt::parseDType(argument.dtype), {extents, extents + rank}, s.outputs[i]);
        !status.ok())
      return emitError(loc) << status.message();
  }
  for (rt::HostArray &output : s.outputs)
    if (failed(s.add(output, /*isInput=*/false)))
      return failure();
  s.point(count);
  return std::unique_ptr<Call>(new Call(std::move(state)));
}

LogicalResult CompiledProgram::Call::run() {
  State &s = *state;
  if (failed(s.check(ft_call(s.entry, s.pointers.data(), int32_t(s.pointers.size()), nullptr))))
    return failure();
  return s.device == FT_CPU ? success() : s.check(ft_synchronize(s.module, nullptr));
}

FailureOr<std::string> CompiledProgram::Call::trace() {
  State &s = *state;
  const char *text = nullptr;
  if (failed(s.check(ft_call_traced(s.entry, s.pointers.data(), int32_t(s.pointers.size()), nullptr, &text))))
    return failure();
  return std::string(text);
}

FailureOr<std::vector<rt::HostArray>> CompiledProgram::Call::results() {
  State &s = *state;
  for (size_t i = 0; i < s.outputs.size() && s.device != FT_CPU; ++i)
    if (failed(s.check(ft_module_copy_from(s.module, s.outputs[i].data(), s.memory[s.numInputs + i],
                                           size_t(s.outputs[i].numBytes())))))
      return failure();
  return s.outputs;
}

FailureOr<uint64_t> CompiledProgram::Call::workspaceBytes() {
  uint64_t bytes = 0;
  if (failed(state->check(
          ft_workspace_bytes(state->entry, state->pointers.data(), int32_t(state->pointers.size()), &bytes))))
    return failure();
  return bytes;
}
