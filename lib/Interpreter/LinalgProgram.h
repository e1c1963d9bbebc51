//===- LinalgProgram.h - A linalg op compiled for evaluation --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A structured op's body becomes a list of scalar instructions over registers
// once; a run walks the iteration space with precomputed strides and executes
// the list on a row of iterations at a time.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_INTERPRETER_LINALGPROGRAM_H
#define LIB_FT_INTERPRETER_LINALGPROGRAM_H

#include "ScalarKernels.h"
#include "ft/Interpreter/TensorEval.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ft::interp {

class LinalgProgram {
public:
  LinalgProgram(linalg::LinalgOp op, bool truth);
  LogicalResult run(TensorEval &eval, Environment &env);

private:
  /// One result of an indexing map as coefficients over the loops.
  struct LinearForm {
    SmallVector<int64_t, 6> coefficients;
    int64_t constant = 0;
  };
  struct Instr {
    ScalarInstr scalar;
    SmallVector<unsigned, 3> sources;
    unsigned target;
    Operation *origin;
  };
  /// A multiply-add contraction: output += in[a] * in[b].
  struct Contraction {
    unsigned a, b;
    bool isFloat;
    Round mulRound, addRound;
    unsigned width;
  };
  /// What one run knows: operand tensors, loop ranges and strides.
  struct Plan;

  void compileMaps();
  void compileBody();
  unsigned registerOf(Value value);
  void recognizeContraction();

  LogicalResult makePlan(TensorEval &eval, Environment &env, Plan &plan);
  LogicalResult runRows(TensorEval &eval, Environment &env, Plan &plan);
  void runContraction(Plan &plan);
  LogicalResult runPoints(TensorEval &eval, Environment &env, Plan &plan);
  int chooseRowLoop(const Plan &plan);
  /// Calls `fn` for each iteration of all loops but `inner`, lexicographically,
  /// with each operand's offset.
  template <typename Fn>
  LogicalResult walkOuter(const Plan &plan, int inner, Fn fn) const;

  linalg::LinalgOp op;
  unsigned numLoops;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<AffineMap> maps;
  /// The maps as linear forms; empty if one of them is not linear.
  SmallVector<SmallVector<LinearForm>> forms;
  bool isLinear = true;
  /// The body has only scalar ops that decode.
  bool isCompiled = true;
  bool hasReduction;
  RoundingMode mode;

  unsigned numRegisters = 0;
  llvm::DenseMap<Value, unsigned> registers;
  SmallVector<std::pair<unsigned, unsigned>> loads;  // operand, register
  SmallVector<std::pair<int64_t, unsigned>> indices; // loop, register
  SmallVector<std::pair<Value, unsigned>> captured;
  SmallVector<std::pair<Cell, unsigned>> literals;
  SmallVector<Instr> instrs;
  SmallVector<unsigned> yields;
  std::optional<Contraction> contraction;
};

} // namespace mlir::ft::interp

#endif // LIB_FT_INTERPRETER_LINALGPROGRAM_H
