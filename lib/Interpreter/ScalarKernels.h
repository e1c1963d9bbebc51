//===- ScalarKernels.h - arith and math on arrays of cells ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One definition of each scalar operation. It serves scalars (one cell),
// tensors (all cells) and the bodies of linalg ops (a row of iterations).
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERPRETER_SCALARKERNELS_H
#define LIB_FT_INTERPRETER_SCALARKERNELS_H

#include "ft/Interpreter/Tensor.h"
#include "mlir/IR/Operation.h"

namespace mlir::ft::interp {

enum class Opcode : uint8_t {
  // clang-format off
  // arith on floats
  AddF, SubF, MulF, DivF, RemF, NegF, MaximumF, MinimumF, MaxNumF, MinNumF, CmpF,
  // arith on integers
  AddI, SubI, MulI, AndI, OrI, XOrI, MaxSI, MaxUI, MinSI, MinUI, CmpI,
#define FT_INTEGER_OP(Name, mnemonic, kind, sign) Name,
#include "ft/Dialect/Math/Transforms/IntegerOperations.def"
  // arith on both
  Select, ExtF, TruncF, ExtSI, ExtUI, TruncI, SIToFP, UIToFP, IndexCast, IndexCastUI, Bitcast,
  // math, by the names of its table
#define FT_MATH_OP(Name, mnemonic, how) Name,
#include "ft/Dialect/Math/Transforms/MathFunctions.def"
  // clang-format on
};

/// A scalar operation, decoded from an op once.
struct ScalarInstr {
  Opcode opcode;
  Round round = Round::None;  // of a float result
  uint8_t predicate = 0;      // of cmpf and cmpi
  unsigned operandWidth = 64; // of the first integer operand
  unsigned resultWidth = 64;  // of an integer result
  Type operandType, resultType;
  unsigned numOperands = 0;
};

/// How float results round: `truth` never; `halfAsSingle` computes f16 and bf16
/// in f32, as the body of a linalg reduction does (its result is rounded once,
/// at the end). Casts to a narrower type always round, except in truth mode.
struct RoundingMode {
  bool truth = false;
  bool halfAsSingle = false;
  Round of(Type type) const;
};

/// Decodes an arith or math op whose operands and results have supported element
/// types; nothing for any other op.
/// `sincos` has two results, and an instruction for each.
std::optional<ScalarInstr> decodeScalarOp(Operation *op, RoundingMode mode, unsigned result = 0);

/// Runs `instr` on `count` cells of each operand. Returns null, or what is
/// wrong with the operation.
const char *runScalar(const ScalarInstr &instr, const Cell *const *in, Cell *out, int64_t count);

/// The names of all scalar ops, for diagnostics.
std::string listScalarOps();

} // namespace mlir::ft::interp

#endif // LIB_FT_INTERPRETER_SCALARKERNELS_H
