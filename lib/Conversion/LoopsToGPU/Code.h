//===- Code.h - arithmetic, memory and loops of kernels ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A builder for what kernels are made of: 64-bit integers that fold, pointers
// with address spaces, loops, barriers.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_LOOPSTOGPU_CODE_H
#define FT_LIB_CONVERSION_LOOPSTOGPU_CODE_H

#include "ft/Conversion/LeafGraph/LeafGraph.h"
#include "ft/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::ft::togpu {

enum AddressSpace : unsigned { generic = 0, global = 1, shared = 3 };

using leaf::isHalf;
/// Bytes of an element in memory; an i1 takes one.
int64_t bytesOf(Type element);
/// The type of an element in memory: i8 for i1, i64 for index.
Type storedType(Type element);
/// The type of an element in a register: i64 for index.
Type registerType(Type element);

using tile::accessBytes;
/// Lanes of a warp: shuffles and what lanes leave for each other count on it.
inline constexpr int64_t warpLanes = tile::warpThreads;
/// Multiples of it begin what leaves have of shared memory.
inline constexpr int64_t leavesAlignment = 64;
/// Multiples of it begin parts of the workspace, so that no two thread blocks share a line of the cache.
inline constexpr int64_t partAlignment = 256;
/// Bytes of what a warp leaves of one sum for the others.
inline constexpr int64_t partialBytes = 8;


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
