//===- HostValues.cpp - Values from and to arrays of the runtime ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types, shapes and single elements of dense arrays.
//
//===----------------------------------------------------------------------===//
#include "HostValues.h"

#include "ft/Support/ArrayType.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ft::interp;
using ::ft::rt::DType;
using ::ft::rt::HostArray;

FailureOr<DType> mlir::ft::interp::dtypeOf(Type type, EmitError emitError) {
  if (std::optional<DType> dtype = arrayTypeOf(type))
    return *dtype;
  return emitError() << "no array holds elements of type " << type;
}

std::string mlir::ft::interp::sizesToString(ArrayRef<int64_t> sizes) {
  if (sizes.empty())
    return "(no dimension)";
  return llvm::join(llvm::map_range(sizes, [](int64_t size) { return std::to_string(size); }), "x");
}

static SmallVector<int64_t> fullShape(ArrayRef<int64_t> lengths, RankedTensorType element) {
  SmallVector<int64_t> shape(lengths);
  llvm::append_range(shape, element.getShape());
  return shape;
}

LogicalResult mlir::ft::interp::checkArray(const HostArray &array, ArrayRef<int64_t> lengths,
                                           RankedTensorType element, EmitError emitError) {
  FailureOr<DType> dtype = dtypeOf(element.getElementType(), emitError);
  if (failed(dtype))
    return failure();
  if (array.dtype != *dtype)
    return emitError() << "expects elements of type " << ::ft::rt::dtypeName(*dtype) << ", found "
                       << ::ft::rt::dtypeName(array.dtype);
  SmallVector<int64_t> shape = fullShape(lengths, element);
  if (ArrayRef<int64_t>(array.shape) != ArrayRef<int64_t>(shape))
    return emitError() << "expects sizes " << sizesToString(shape) << ", found "
                       << sizesToString(array.shape);
  return success();
}

Tensor mlir::ft::interp::elementAt(const HostArray &array, int64_t index,
                                   RankedTensorType element) {
  int64_t bytes = element.getNumElements() * ::ft::rt::byteWidth(array.dtype);
  return Tensor::fromBytes(element.getElementType(), element.getShape(),
                           array.storage.data() + index * bytes);
}

FailureOr<HostArray> mlir::ft::interp::makeArray(ArrayRef<int64_t> lengths,
                                                 RankedTensorType element, EmitError emitError) {
  FailureOr<DType> dtype = dtypeOf(element.getElementType(), emitError);
  if (failed(dtype))
    return failure();
  SmallVector<int64_t> shape = fullShape(lengths, element);
  HostArray array;
  if (auto status =
          HostArray::create(*dtype, std::vector<int64_t>(shape.begin(), shape.end()), array);
      !status.ok())
    return emitError() << status.message();
  return array;
}

void mlir::ft::interp::storeElement(HostArray &array, int64_t index, const Tensor &element) {
  int64_t bytes = element.getNumElements() * ::ft::rt::byteWidth(array.dtype);
  element.toBytes(array.storage.data() + index * bytes);
}
