//===- CApiHeld.cpp - parameters that a module holds, from C --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CApiModule.h"

#include "ft/Runtime/Base/File.h"
#include "ft/Runtime/Program/Binding.h"

#include <algorithm>
#include <cstring>

using namespace ft::rt;

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

Status ft::rt::declareHeld(FtModule &module) {
  Held &held = module.held;
  FT_RT_TRY(findHeld(module.bundle, held.arguments));
  for (std::unique_ptr<FtEntry> &e : module.entries) {
    const std::vector<Argument> &arguments = e->entry->arguments;
    if (std::none_of(arguments.begin(), arguments.end(), [](const Argument &a) { return a.held; }))
      continue;
    for (const Argument &argument : arguments)
      e->heldAt.push_back(argument.held ? held.find(argument.name) : -1);
    // (What is computed from what is computed would need an order.)
    for (size_t i = 0; e->entry->binds && i < arguments.size(); ++i)
      if (arguments[i].held && held.arguments[size_t(e->heldAt[i])].isDerived)
        return Status::error(Code::corrupt, "entry \"" + e->entry->name + "\" computes from \"" + arguments[i].name + "\", which is computed itself");
  }
  auto none = std::make_shared<HeldValues>();
  none->memory.resize(held.arguments.size());
  none->tensors.resize(held.arguments.size());
  none->notFinite.resize(held.arguments.size(), -1);
  held.values = std::move(none);
  for (const Section &section : module.bundle.sections)
    if (section.kind == Section::data && section.target == sectionOfValues)
      FT_RT_TRY(bindSafetensors(module, section.bytes, "the bundle's parameters"));
  return {};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static std::string textOf(const FtTensor &tensor) {
  static constexpr DType all[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16, DType::i8, DType::u8, DType::i1};
  std::vector<int64_t> shape(tensor.shape, tensor.shape + std::max(tensor.ndim, 0));
  for (DType dtype : all) {
    uint8_t code = 0, bits = 0;
    dlpackType(dtype, code, bits);
    if (code == tensor.dtype.code && bits == tensor.dtype.bits && tensor.dtype.lanes == 1)
      return describe(dtype, shape);
  }
  return "elements of type " + std::to_string(tensor.dtype.code) + " with " + std::to_string(tensor.dtype.bits) + " bits";
}

static bool isDense(const FtTensor &tensor) {
  int64_t step = 1;
  for (int32_t d = tensor.ndim; tensor.strides && d-- > 0;) {
    if (tensor.shape[d] == 0)
      return true;
    if (tensor.shape[d] != 1 && tensor.strides[d] != step)
      return false;
    step *= tensor.shape[d];
  }
  return true;
}

/// That a value is what its argument must be.
static Status checkValue(const FtModule &module, const HeldArgument &argument, const FtTensor &tensor) {
  auto error = [&](const std::string &what) { return Status::error(Code::invalidArgument, "parameter \"" + argument.name + "\": " + what); };
  if (tensor.ndim < 0 || tensor.ndim > maxRank || (tensor.ndim && !tensor.shape) || (!tensor.data && argument.bytes))
    return error("its data or shape is NULL, or its rank is none");
  uint8_t code = 0, bits = 0;
  dlpackType(argument.dtype, code, bits);
  bool fits = tensor.dtype.code == code && tensor.dtype.bits == bits && tensor.dtype.lanes == 1 && size_t(tensor.ndim) == argument.shape.size() &&
              std::equal(argument.shape.begin(), argument.shape.end(), tensor.shape);
  if (!fits)
    return error("expected " + describe(argument.dtype, argument.shape) + ", found " + textOf(tensor));
  if (!isDense(tensor))
    return error("expected dense elements, found strides");
  bool isHost = tensor.device.type == FT_CPU, isOwn = module.device && tensor.device.type == FT_CUDA && tensor.device.id == module.deviceId;
  return isHost || isOwn ? Status() : error("expected a tensor of the CPU or of the module's device");
}

/// Memory of the module's device that is there as long as calls use it.
static Status allocateHeld(FtModule &module, int64_t bytes, std::shared_ptr<void> &out) {
  size_t size = size_t(std::max<int64_t>(bytes, 1));
  if (!module.device) {
    out = std::shared_ptr<void>(allocateAligned(size, 256), freeAligned);
    return {};
  }
  CudaDevice &device = *module.device;
  CudaDevice::Scope scope(device);
  FT_RT_TRY(std::move(scope.status));
  CUdeviceptr address = 0;
  FT_RT_TRY(device.allocate(size, address));
  out = std::shared_ptr<void>(reinterpret_cast<void *>(address), [&device](void *memory) {
    CudaDevice::Scope scope(device);
    // Calls that were enqueued may still read it.
    if (scope.status.ok() && device.api.ctxSynchronize() == 0)
      device.release(reinterpret_cast<CUdeviceptr>(memory));
  });
  return {};
}

static Status copyValue(FtModule &module, void *to, const FtTensor &from, int64_t bytes) {
  const char *data = static_cast<const char *>(from.data) + from.byte_offset;
  if (bytes == 0)
    return {};
  if (!module.device) {
    memcpy(to, data, size_t(bytes));
    return {};
  }
  CudaDevice &device = *module.device;
  CudaDevice::Scope scope(device);
  FT_RT_TRY(std::move(scope.status));
  auto target = reinterpret_cast<CUdeviceptr>(to);
  if (from.device.type == FT_CPU)
    FT_RT_TRY(device.check(device.api.memcpyHtoDAsync(target, data, size_t(bytes), nullptr), "cuMemcpyHtoDAsync"));
  else
    FT_RT_TRY(device.check(device.api.memcpyDtoDAsync(target, reinterpret_cast<CUdeviceptr>(data), size_t(bytes), nullptr), "cuMemcpyDtoDAsync"));
  return device.check(device.api.streamSynchronize(nullptr), "cuStreamSynchronize");
}

/// How many elements on the host are infinite or no numbers.
static int64_t countNotFinite(const HeldArgument &argument, const FtTensor &tensor) {
  if (!isFloat(argument.dtype) || tensor.device.type != FT_CPU)
    return isFloat(argument.dtype) ? -1 : 0;
  // All bits of the exponent are set.
  int64_t width = byteWidth(argument.dtype), count = 0;
  const int mantissa = argument.dtype == DType::f64 ? 52 : argument.dtype == DType::f32 ? 23 : argument.dtype == DType::f16 ? 10 : 7;
  const uint64_t exponent = ((uint64_t(1) << (8 * width - 1)) - 1) & ~((uint64_t(1) << mantissa) - 1);
  const char *data = static_cast<const char *>(tensor.data) + tensor.byte_offset;
  for (int64_t at = 0; at < argument.bytes; at += width) {
    uint64_t bits = 0;
    memcpy(&bits, data + at, size_t(width));
    count += (bits & exponent) == exponent;
  }
  return count;
}

static FtTensor tensorFor(const FtModule &module, HeldArgument &argument, void *memory) {
  FtTensor tensor = {};
  tensor.data = memory;
  tensor.device = {module.deviceType, module.deviceId};
  tensor.ndim = int32_t(argument.shape.size());
  dlpackType(argument.dtype, tensor.dtype.code, tensor.dtype.bits);
  tensor.dtype.lanes = 1;
  tensor.shape = argument.shape.data();
  return tensor;
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static bool isComplete(const Held &held, const HeldValues &values) {
  for (size_t i = 0; i < held.arguments.size(); ++i)
    if (!held.arguments[i].isDerived && !values.memory[i])
      return false;
  return true;
}

/// Computes what an entry that binds computes, into memory of its own.
static Status derive(FtModule &module, FtEntry &e, HeldValues &values) {
  FT_RT_TRY(prepare(e));
  std::vector<const FtTensor *> tensors;
  for (size_t i = 0; i < e.entry->arguments.size(); ++i) {
    int64_t at = module.held.find(e.entry->arguments[i].name);
    HeldArgument &argument = module.held.arguments[size_t(at)];
    if (e.entry->arguments[i].output) {
      FT_RT_TRY(allocateHeld(module, argument.bytes, values.memory[size_t(at)]));
      values.tensors[size_t(at)] = tensorFor(module, argument, values.memory[size_t(at)].get());
    }
    tensors.push_back(&values.tensors[size_t(at)]);
  }
  Program &program = *e.current.load();
  FT_RT_TRY(program.call(tensors.data(), int64_t(tensors.size()), {}));
  return module.device ? program.synchronize(nullptr) : Status();
}

Status ft::rt::bindHeld(FtModule &module, const std::vector<GivenValue> &given) {
  Held &held = module.held;
  std::lock_guard<std::mutex> one(held.binding);
  auto next = std::make_shared<HeldValues>(*held.current());
  std::vector<bool> seen(held.arguments.size());
  for (const GivenValue &value : given) {
    std::string name(value.name);
    int64_t at = held.find(name);
    if (at < 0)
      return Status::error(Code::notFound, "the program has no parameter \"" + name + "\"");
    HeldArgument &argument = held.arguments[size_t(at)];
    if (argument.isDerived)
      return Status::error(Code::invalidArgument, "\"" + name + "\" is computed from parameters: bind these");
    if (seen[size_t(at)])
      return Status::error(Code::invalidArgument, "two values for parameter \"" + name + "\"");
    seen[size_t(at)] = true;
    FT_RT_TRY(checkValue(module, argument, value.tensor));
    std::shared_ptr<void> memory;
    FT_RT_TRY(allocateHeld(module, argument.bytes, memory));
    FT_RT_TRY(copyValue(module, memory.get(), value.tensor, argument.bytes));
    next->tensors[size_t(at)] = tensorFor(module, argument, memory.get());
    next->notFinite[size_t(at)] = countNotFinite(argument, value.tensor);
    next->memory[size_t(at)] = std::move(memory);
  }
  if (isComplete(held, *next))
    for (std::unique_ptr<FtEntry> &e : module.entries)
      if (e->entry->binds)
        FT_RT_TRY(derive(module, *e, *next));
  std::shared_ptr<const HeldValues> old = std::move(next);
  std::lock_guard<std::mutex> guard(held.lock);
  held.values.swap(old);
  return {};
}

Status ft::rt::bindSafetensors(FtModule &module, std::string_view content, const std::string &name) {
  std::vector<SafeTensor> tensors;
  FT_RT_TRY(parseValues(module.held.arguments, content, name, tensors));
  std::vector<GivenValue> given;
  for (SafeTensor &tensor : tensors) {
    FtTensor value = {};
    value.data = const_cast<char *>(tensor.bytes.data());
    value.device = {FT_CPU, 0};
    value.ndim = int32_t(tensor.shape.size());
    dlpackType(tensor.dtype, value.dtype.code, value.dtype.bits);
    value.dtype.lanes = 1;
    value.shape = tensor.shape.data();
    given.push_back({tensor.name, value});
  }
  return bindHeld(module, given).inside(name);
}

Status ft::rt::allTensors(FtEntry &e, const FtTensor *const *passed, int64_t &count, HeldUse &use, const FtTensor *const *&all) {
  if (e.heldAt.empty())
    return {};
  if (!passed && count)
    return Status::error(Code::invalidArgument, "tensors is NULL");
  use.values = e.module->held.current();
  int64_t next = 0;
  for (int64_t at : e.heldAt) {
    if (at < 0) {
      // (Too few or too many are told where arguments are bound.)
      if (next < count)
        use.tensors.push_back(passed[next++]);
      continue;
    }
    if (!use.values->memory[size_t(at)])
      return Status::error(Code::invalidArgument, "entry \"" + e.entry->name + "\": parameter \"" + e.module->held.arguments[size_t(at)].name +
                                                      "\" has no value: bind it with ft_module_bind or ft_module_bind_file");
    use.tensors.push_back(&use.values->tensors[size_t(at)]);
  }
  use.tensors.insert(use.tensors.end(), passed + next, passed + count);
  count = int64_t(use.tensors.size());
  all = use.tensors.data();
  return {};
}

//===----------------------------------------------------------------------===//
// From C
//===----------------------------------------------------------------------===//

static Status invalid(const char *what) { return Status::error(Code::invalidArgument, what); }

int32_t ft_module_num_held(const FtModule *module) { return module ? int32_t(module->held.arguments.size()) : 0; }

FtStatus ft_module_held(FtModule *module, int32_t index, FtHeldInfo *info) {
  return guarded([&]() -> Status {
    if (index < 0 || index >= ft_module_num_held(module))
      return invalid("module is NULL, or it holds no such argument");
    const HeldArgument &a = module->held.arguments[size_t(index)];
    std::shared_ptr<const HeldValues> values = module->held.current();
    return writeStruct({0, a.name.c_str(), dtypeName(a.dtype), int32_t(a.shape.size()), a.shape.data(), a.isDerived, values->memory[size_t(index)] != nullptr,
                        values->notFinite[size_t(index)]},
                       info);
  });
}

FtStatus ft_module_bind(FtModule *module, const char *const *names, const FtTensor *const *tensors, int32_t count) {
  return guarded([&]() -> Status {
    if (!module || count < 0 || (count && (!names || !tensors)))
      return invalid("module, names or tensors is NULL");
    std::vector<GivenValue> given;
    for (int32_t i = 0; i < count; ++i) {
      if (!names[i] || !tensors[i])
        return invalid("a name or a tensor is NULL");
      given.push_back({names[i], *tensors[i]});
    }
    return bindHeld(*module, given);
  });
}

FtStatus ft_module_bind_file(FtModule *module, const char *path) {
  return guarded([&]() -> Status {
    if (!module || !path)
      return invalid("module or path is NULL");
    std::string content;
    FT_RT_TRY(readFile(path, content));
    return bindSafetensors(*module, content, path);
  });
}
