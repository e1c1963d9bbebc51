//===- FTInterpreter.h - Reference interpreter of ft ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function over nested lists, one iteration after the other: what each
// operator of the ft dialect means, in its plainest form.
//
//===----------------------------------------------------------------------===//
#ifndef FT_INTERPRETER_FTINTERPRETER_H
#define FT_INTERPRETER_FTINTERPRETER_H

#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Interpreter/LengthBinding.h"
#include "ft/Interpreter/RunOptions.h"
#include "ft/Interpreter/TensorEval.h"
#include "ft/Runtime/Arrays/HostArray.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::ft::interp {

class FTInterpreter {
public:
  explicit FTInterpreter(const RunOptions &options = {});

  /// Calls `function`. The lengths of the arguments bind its names; `given`
  /// are the caller's; `bound`, where not null, becomes all of them. Failures
  /// are reported at the operation or argument.
  FailureOr<SmallVector<RuntimeValue>> call(func::FuncOp function, ArrayRef<RuntimeValue> arguments,
                                            const LengthBinding &given = {},
                                            LengthBinding *bound = nullptr);

private:
  friend class FTAccessEval;

  struct Activation {
    LengthBinding lengths;
    Environment env;
  };

  LogicalResult bindArguments(func::FuncOp function, ArrayRef<RuntimeValue> arguments,
                              Activation &activation);
  std::optional<LogicalResult> evalFTOp(Operation *op, Environment &env);
  LogicalResult evalCompute(ComputeOp op, Environment &env);
  FailureOr<SmallVector<RuntimeValue>> readAll(Operation *user, ValueRange values, Environment &env);
  LogicalResult evalCall(func::CallOp op, Environment &env);

  TensorEval eval;
  SmallVector<Activation *> activations;
  /// Calls that were named below an error.
  unsigned numCallers = 0;
};

/// Runs `entry` of `module` on arrays: dense row-major, programmable dimensions
/// outermost; a tuple is the arrays of its members. A list with ragged levels takes
/// its elements one after the other; the offsets of each ragged name (int64, one more
/// than there are lists) follow the arguments, names in the order of their first
/// appearance, and so it is with the results. A name that no
/// array binds and the caller does not give takes the function's `ft.lengths`.
FailureOr<std::vector<::ft::rt::HostArray>> runFT(ModuleOp module, StringRef entry,
                                                  const Lengths &lengths,
                                                  ArrayRef<::ft::rt::HostArray> arguments,
                                                  const RunOptions &options = {});

} // namespace mlir::ft::interp

#endif // FT_INTERPRETER_FTINTERPRETER_H
