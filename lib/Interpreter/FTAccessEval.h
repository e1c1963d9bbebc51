//===- FTAccessEval.h - Access operators of ft on values ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each access operator builds the list it describes.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERPRETER_FTACCESSEVAL_H
#define LIB_FT_INTERPRETER_FTACCESSEVAL_H

#include "ft/Dialect/FT/IR/FTForms.h"
#include "ft/Interpreter/FTInterpreter.h"

namespace mlir::ft::interp {

class FTAccessEval {
public:
  FTAccessEval(FTInterpreter &interpreter, Environment &env, const LengthBinding &lengths)
      : eval(interpreter.eval), env(env), lengths(lengths) {}

  /// Evaluates an access operator; nothing if `op` is none.
  std::optional<LogicalResult> run(Operation *op);

private:
  using Items = RuntimeValue::Items;

  LogicalResult visit(ShiftOp op);
  LogicalResult visit(ReverseOp op);
  LogicalResult visit(SliceOp op);
  LogicalResult visit(StrideOp op);
  LogicalResult visit(WindowOp op);
  LogicalResult visit(LastOp op);
  LogicalResult visit(GatherOp op);
  LogicalResult visit(GroupOp op);
  LogicalResult visit(ZipOp op);
  LogicalResult visit(GetOp op);
  LogicalResult visit(AtOp op);
  LogicalResult visit(ConcatOp op);
  LogicalResult visit(FlattenOp op);
  LogicalResult visit(SplitOp op);
  LogicalResult visit(TransposeOp op);
  LogicalResult visit(RepeatOp op);
  LogicalResult visit(IotaOp op);
  LogicalResult visit(CastOp op);

  FailureOr<Items> readList(Operation *op, Value value);
  FailureOr<int64_t> evaluate(Operation *op, LengthAttr length);
  /// A position in a list of `count`: a negative constant counts from the end.
  FailureOr<int64_t> position(Operation *op, LengthAttr index, int64_t count);
  FailureOr<RuntimeValue> gather(GatherOp op, const Items &items, const RuntimeValue &indices);
  LogicalResult bindList(Operation *op, Items items) {
    env.bind(op->getResult(0), RuntimeValue::list(std::move(items)));
    return success();
  }

  TensorEval &eval;
  Environment &env;
  const LengthBinding &lengths;
};

/// Checks that `value` has the lengths and shapes that `type` says; reports by
/// `emitError` otherwise. Lists of a ragged level may have any lengths.
LogicalResult checkValue(const RuntimeValue &value, Type type, const LengthBinding &lengths,
                         llvm::function_ref<InFlightDiagnostic()> emitError);

/// The ragged names of a type, outermost first, each once.
void collectRaggedNames(Type type, SmallVectorImpl<StringAttr> &names);

} // namespace mlir::ft::interp

#endif // LIB_FT_INTERPRETER_FTACCESSEVAL_H
