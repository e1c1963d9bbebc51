//===- CallBuilder.h - builds calls of the interpreter of tiles -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_ENGINE_EMULATOR_CALLBUILDER_H
#define FT_LIB_ENGINE_EMULATOR_CALLBUILDER_H

#include "TileMeaning.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace ft::emulate {

using namespace mlir;

/// What patterns share.
struct Calls {
  Calls(std::vector<TileOperation> &operations, Operation *module) : operations(operations), module(module) {}

  std::vector<TileOperation> &operations;
  Operation *module; // of kernels
  /// Results that nothing has a use for after the block in which they are made.
  llvm::DenseSet<Value> local;
  /// Of products, whether what they add to is a tile of their own.
  llvm::DenseMap<Operation *, Value> own;
};

inline TileOperation startOperation(Operation *op, TileKind kind) {
  TileOperation result;
  result.kind = kind;
  llvm::raw_string_ostream stream(result.text);
  stream << op->getName() << " at " << op->getLoc();
  result.numResults = op->getNumResults();
  return result;
}

/// A builder of calls.
class CallBuilder : public ImplicitLocOpBuilder {
public:
  CallBuilder(Calls &calls, Location loc, OpBuilder &builder) : ImplicitLocOpBuilder(loc, builder), calls(calls) {}

  Value number(int64_t value) { return arith::ConstantIntOp::create(*this, value, 64); }
  Value index32(int64_t value) { return arith::ConstantIntOp::create(*this, value, 32); }

  /// The hook's result; a hook without one has none.
  Value call(StringRef name, Type result, ValueRange operands) {
    if (!SymbolTable::lookupSymbolIn(calls.module, name)) {
      OpBuilder::InsertionGuard guard(*this);
      setInsertionPointToStart(&calls.module->getRegion(0).front());
      Type none = LLVM::LLVMVoidType::get(getContext());
      LLVM::LLVMFuncOp::create(*this, name,
                               LLVM::LLVMFunctionType::get(result ? result : none, llvm::to_vector(operands.getTypes())));
    }
    auto made = LLVM::CallOp::create(*this, result ? TypeRange(result) : TypeRange(), name, operands);
    return result ? made.getResult() : Value();
  }

  /// A scalar or pointer as a word.
  Value toWord(Value value) {
    Type type = value.getType();
    if (isa<LLVM::LLVMPointerType>(type))
      return LLVM::PtrToIntOp::create(*this, getI64Type(), value);
    unsigned bits = type.getIntOrFloatBitWidth();
    if (isa<FloatType>(type))
      value = arith::BitcastOp::create(*this, getIntegerType(bits), value);
    return bits == 64 ? value : arith::ExtUIOp::create(*this, getI64Type(), value).getResult();
  }
  Value fromWord(Value word, Type type) {
    unsigned bits = type.getIntOrFloatBitWidth();
    if (bits != 64)
      word = arith::TruncIOp::create(*this, getIntegerType(bits), word);
    return isa<FloatType>(type) ? arith::BitcastOp::create(*this, type, word).getResult() : word;
  }

  /// A hook that takes an operation and the address of words.
  Value callWithWords(StringRef name, Value self, ValueRange operands, Type result = {}) {
    Value place;
    {
      OpBuilder::InsertionGuard guard(*this);
      auto function = getInsertionBlock()->getParentOp()->getParentOfType<LLVM::LLVMFuncOp>();
      if (auto own = dyn_cast<LLVM::LLVMFuncOp>(getInsertionBlock()->getParentOp()))
        function = own;
      setInsertionPointToStart(&function.getBody().front());
      place = LLVM::AllocaOp::create(*this, LLVM::LLVMPointerType::get(getContext()), getI64Type(),
                                     number(std::max<int64_t>(int64_t(operands.size()), 1)));
    }
    for (auto [i, operand] : llvm::enumerate(operands)) {
      Value at = LLVM::GEPOp::create(*this, place.getType(), getI64Type(), place, ArrayRef<LLVM::GEPArg>{int32_t(i)});
      LLVM::StoreOp::create(*this, toWord(operand), at);
    }
    return call(name, result, {self, place});
  }
  /// Calls the interpreter with an operation and its operands; the number of the first result.
  Value run(TileOperation operation, ValueRange operands) {
    operation.numWords = unsigned(operands.size());
    Value self = index32(int64_t(calls.operations.size()));
    calls.operations.push_back(std::move(operation));
    return callWithWords("ft_emulate_tile", self, operands, getI64Type());
  }
  /// The operation that was called last.
  Value lastOperation() { return index32(int64_t(calls.operations.size()) - 1); }

  /// For each number below a count; the builder is in the loop.
  scf::ForOp loop(Value count, ValueRange inits = {}) {
    auto loop = scf::ForOp::create(*this, number(0), count, number(1), inits);
    setInsertionPointToStart(loop.getBody());
    return loop;
  }

private:
  Calls &calls;
};

template <class Op>
struct CallPattern : OpConversionPattern<Op> {
  CallPattern(const TypeConverter &converter, MLIRContext *context, Calls &calls)
      : OpConversionPattern<Op>(converter, context), calls(calls) {}

  /// Results are tiles with numbers that follow each other.
  void replace(Op op, Value first, CallBuilder &b) const {
    SmallVector<Value> numbers;
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      numbers.push_back(i == 0 ? first : b.createOrFold<arith::AddIOp>(first, b.number(i)));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op->getBlock()->getTerminator());
    for (auto [result, number] : llvm::zip_equal(op->getResults(), numbers))
      if (calls.local.contains(result))
        b.call("ft_emulate_tile_drop", Type(), {number});
  }
  /// The same for a result that is one tile, which takes the operation's place.
  LogicalResult replaceByTile(Op op, Value tile, CallBuilder &b, ConversionPatternRewriter &rewriter) const {
    replace(op, tile, b);
    rewriter.replaceOp(op, tile);
    return success();
  }
  Calls &calls;
};

inline TileElement describe(Type type, bool isUnsigned = false) {
  return {type.getIntOrFloatBitWidth(), isa<FloatType>(type), type.isBF16(), isUnsigned};
}

/// NestCalls.cpp: nests become what a thread computes of them, point by point.
void callNests(Operation *module, Calls &calls);
/// RowCalls.cpp: operations on rows.
void populateRowCalls(TypeConverter &converter, RewritePatternSet &patterns, Calls &calls);
/// What stands in sweeps stands in their place: of an order among lanes the interpreter needs none.
void inlineSweeps(Operation *module);

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_CALLBUILDER_H
