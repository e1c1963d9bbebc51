//===- Code.h - arithmetic, memory and loops of kernels ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A builder for what kernels are made of: 64-bit integers that fold, pointers
// with address spaces, loops, barriers.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_CODE_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_CODE_H

#include "ft/Dialect/Loops/Transforms/GPU/DeviceMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::ft::togpu {

/// The type of an element in memory: i8 for i1, i64 for index.
Type storedType(Type element);
/// The type of an element in a register: i64 for index.
Type registerType(Type element);

class Code : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  // 64-bit integers.
  Value number(int64_t value);
  Value number32(int64_t value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value add(Value a, int64_t b) { return b == 0 ? a : add(a, number(b)); }
  Value mul(Value a, int64_t b) { return b == 1 ? a : b == 0 ? number(0) : mul(a, number(b)); }
  Value smaller(Value a, Value b) { return createOrFold<arith::MinSIOp>(a, b); }
  Value larger(Value a, Value b) { return createOrFold<arith::MaxSIOp>(a, b); }
  /// a / b rounded up, for b > 0 and a >= 0.
  Value ceilDiv(Value a, Value b);
  Value less(Value a, Value b) {
    return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, a, b);
  }
  Value extend(Value value32);

  /// An affine expression over dimensions and symbols.
  Value expand(AffineExpr expr, ValueRange dims, ValueRange symbols);

  // Memory. Offsets count elements.
  LLVM::LLVMPointerType pointer(unsigned space) {
    return LLVM::LLVMPointerType::get(getContext(), space);
  }
  Value at(Value pointer, Value offset, Type element);
  Value toGeneric(Value pointer);
  /// One element; an i1 comes as such.
  Value load(Value pointer, Type element);
  void store(Value value, Value pointer, Type element);

  // Control.
  /// `unroll`: into how many copies LLVM is to unroll it; 1 keeps it as it is, 0 leaves that open.
  scf::ForOp loop(Value begin, Value end, Value step, ValueRange inits = {}, int64_t unroll = 0);
  void barrier() { NVVM::Barrier0Op::create(*this); }

  // Halves are computed in f32.
  Value toFloat32(Value value);
  Value toElement(Value value, Type element);
};

} // namespace mlir::ft::togpu

#endif // FT_LIB_CONVERSION_LOOPSTOGPU_CODE_H
