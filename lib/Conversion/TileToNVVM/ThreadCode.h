//===- ThreadCode.h - what one thread does for a tile -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_CONVERSION_TILETONVVM_THREADCODE_H
#define FT_LIB_CONVERSION_TILETONVVM_THREADCODE_H

#include "ft/Conversion/TileToNVVM/TileToNVVM.h"
#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::tile {

/// A matrix in memory: what its view became.
struct Matrix {
  ViewType type;
  Value pointer;
  ValueRange strides, sizes, begins;
};

/// Of each border of a matrix, how far a row or a column is along it.
using BorderPlaces = SmallVector<Value>;

/// A builder of a thread's code. Indices have 64 bits.
class ThreadCode : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  Value number(int64_t value) { return arith::ConstantIntOp::create(*this, value, 64); }
  Value number32(int64_t value) { return arith::ConstantIntOp::create(*this, value, 32); }
  Value add(Value a, Value b) { return createOrFold<arith::AddIOp>(a, b); }
  Value add(Value a, int64_t b) { return b == 0 ? a : add(a, number(b)); }
  Value mul(Value a, Value b) { return createOrFold<arith::MulIOp>(a, b); }
  Value mul(Value a, int64_t b) { return b == 1 ? a : mul(a, number(b)); }
  Value less(Value a, Value b) { return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, a, b); }
  /// Both conditions; null stands for one that always holds.
  Value both(Value a, Value b) { return !a ? b : !b ? a : createOrFold<arith::AndIOp>(a, b); }

  /// This thread's place in a layout, along a dimension.
  Value threadAlong(BlockedAttr layout, unsigned dim);
  /// Its first element along a dimension.
  Value beginAlong(BlockedAttr layout, unsigned dim);
  /// The matrix that a converted view is.
  static Matrix matrixOf(ViewType type, ValueRange parts);
  /// Distance of a row or column from the matrix's begin, and how many there are.
  Value offsetAlong(const Matrix &matrix, unsigned dim, Value index);
  Value sizeAlong(const Matrix &matrix, unsigned dim);
  BorderPlaces placesAlong(const Matrix &matrix, unsigned dim, Value index);
  /// Whether an element is inside of all borders, by the places of its row and its column; null: there are none.
  Value insideBorders(const Matrix &matrix, const BorderPlaces &row, const BorderPlaces &column);

  Value at(Value pointer, Value offset, Type element);
  Value at(Value pointer, int64_t offset, Type element);
  /// An element of the matrix.
  /// Whether a thread's rows of a layout lie in lines of swizzled memory with the same number of eight, so that what is true of the pieces of one is
  /// true of the others'.
  static bool keepsPieces(const Matrix &matrix, BlockedAttr layout);
  Value at(const Matrix &matrix, Value offset) {
    Value pointer = at(matrix.pointer, offset, matrix.type.getElementType());
    return matrix.type.getSwizzled() ? ft::createSwizzledAddress(*this, pointer) : pointer;
  }
  /// Two values as a vector.
  Value pairOf(Value low, Value high);
  /// Adjacent elements, as one access of memory that is aligned so far.
  SmallVector<Value> load(Value pointer, Type element, int64_t count);
  void store(ArrayRef<Value> values, Value pointer);
  /// The same where a condition holds, else zeros; a null one always holds.
  SmallVector<Value> loadIf(Value condition, Value pointer, Type element, int64_t count);
  void storeIf(Value condition, ArrayRef<Value> values, Value pointer);
  /// What the thread of the warp has whose number differs in the bits of `mask`.
  Value exchange(Value value, int64_t mask);
};

/// LowerProducts.cpp
void populateProductPatterns(const TypeConverter &converter, RewritePatternSet &patterns);
/// LowerReductions.cpp
void populateReductionPatterns(const TypeConverter &converter, RewritePatternSet &patterns);
/// LowerRows.cpp
void populateRowPatterns(TypeConverter &converter, RewritePatternSet &patterns);
/// LowerNests.cpp: what is left has no nests.
void lowerNests(Operation *root);
/// LowerGroupProducts.cpp
void populateGroupProductPatterns(TypeConverter &converter, RewritePatternSet &patterns);
/// LowerFragments.cpp
void populateFragmentPatterns(const TypeConverter &converter, RewritePatternSet &patterns);

} // namespace mlir::tile

#endif // FT_LIB_CONVERSION_TILETONVVM_THREADCODE_H
