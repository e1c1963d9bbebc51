//===- Evaluate.cpp - programs run by the reference interpreter -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What no plan can hold, because its results' shapes are data: programs with
// ragged lists. Arrays go in and come out as the interpreter has them.
//
//===----------------------------------------------------------------------===//
#include "ft-c/Compiler.h"

#include "Handles.h"

#include "ft/Interpreter/FTInterpreter.h"
#include "ft/Runtime/Program/Binding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::capi;
namespace rt = ::ft::rt;

static FtStatus refuse(int32_t index, const std::string &what) {
  return fail(FT_INVALID_ARGUMENT, "input " + std::to_string(index) + ": " + what);
}

static std::optional<rt::DType> dtypeOf(const FtTensor &tensor) {
  for (int value = 0; value <= int(rt::DType::i1); ++value) {
    uint8_t code, bits;
    rt::dlpackType(rt::DType(value), code, bits);
    if (tensor.dtype.code == code && tensor.dtype.bits == bits && tensor.dtype.lanes == 1)
      return rt::DType(value);
  }
  return std::nullopt;
}

/// A copy of a caller's tensor: dense, on the host.
static FtStatus readTensor(const FtTensor *tensor, int32_t index, rt::HostArray &array) {
  if (!tensor || tensor->ndim < 0 || tensor->ndim > 32 || (tensor->ndim > 0 && !tensor->shape))
    return refuse(index, "is NULL or has no shape");
  if (tensor->device.type != FT_CPU)
    return refuse(index, "is not on the host, where the interpreter runs");
  std::optional<rt::DType> dtype = dtypeOf(*tensor);
  if (!dtype)
    return refuse(index, "has an element type that no program has");
  std::vector<int64_t> shape(tensor->shape, tensor->shape + tensor->ndim);
  int64_t dense = 1;
  for (int32_t d = tensor->ndim; d-- > 0; dense *= shape[size_t(d)])
    if (tensor->strides && shape[size_t(d)] > 1 && tensor->strides[d] != dense)
      return refuse(index, "must be dense");
  if (rt::Status status = rt::HostArray::create(*dtype, std::move(shape), array); !status.ok())
    return refuse(index, status.message());
  if (array.numBytes() > 0 && !tensor->data)
    return refuse(index, "has no data (NULL)");
  if (array.numBytes() > 0)
    memcpy(array.data(), static_cast<const char *>(tensor->data) + tensor->byte_offset, size_t(array.numBytes()));
  return FT_OK;
}

static void giveArray(rt::HostArray &array, FtArrayFn result, void *user) {
  FtTensor tensor = rt::asTensor(array, array.data());
  result(&tensor, user);
}

FtStatus ft_evaluate(FtSource *source, const char *entry, const FtTensor *const *inputs, int32_t count, FtArrayFn result,
                     void *user) {
  if (!source || !result || count < 0 || (count > 0 && !inputs))
    return fail(FT_INVALID_ARGUMENT, "source, inputs or result is NULL");
  SourceState &state = *source->state;
  std::vector<rt::HostArray> arrays{size_t(count)};
  for (int32_t i = 0; i < count; ++i)
    if (FtStatus status = readTensor(inputs[i], i, arrays[size_t(i)]))
      return status;
  if (!entry && state.entries.size() != 1)
    return fail(FT_NOT_FOUND, "entry is NULL, and there are " + std::to_string(state.entries.size()));
  std::string name = entry ? entry : state.entries.front();
  std::vector<rt::HostArray> results;
  {
    std::lock_guard<std::mutex> guard(state.lock);
    state.sink.clear();
    if (!isa_and_nonnull<func::FuncOp>(state.module->lookupSymbol(name)))
      return fail(FT_NOT_FOUND, "no function \"" + name + "\"");
    FailureOr<std::vector<rt::HostArray>> found = interp::runFT(*state.module, name, interp::Lengths(), arrays);
    if (failed(found)) {
      const std::string &error = state.sink.getFirstError();
      return fail(FT_INVALID_ARGUMENT, error.empty() ? "the interpreter failed without a message" : error);
    }
    results = std::move(*found);
  }
  for (rt::HostArray &array : results)
    giveArray(array, result, user);
  return FT_OK;
}
