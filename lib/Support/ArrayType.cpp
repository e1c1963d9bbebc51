//===- ArrayType.cpp - which arrays hold elements of a type ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Support/ArrayType.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using ::ft::rt::DType;

std::optional<DType> mlir::ft::arrayTypeOf(Type type) {
  if (type.isF64())
    return DType::f64;
  if (type.isF32())
    return DType::f32;
  if (type.isF16())
    return DType::f16;
  if (type.isBF16())
    return DType::bf16;
  if (type.isIndex() || type.isSignlessInteger(64))
    return DType::i64;
  if (type.isSignlessInteger(32))
    return DType::i32;
  if (type.isSignlessInteger(16))
    return DType::i16;
  if (type.isSignlessInteger(8))
    return DType::i8;
  if (type.isSignlessInteger(1))
    return DType::i1;
  return std::nullopt;
}
