//===- Reducer.h - the smallest program that is still interesting -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's reduction pass takes operations away and leaves null operands where they were
// used. This one puts something of the same type in their place.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_TOOLS_REDUCER_H
#define FT_LIB_TOOLS_REDUCER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::ft::tools {

/// One kind of change. Each module has a number of places for it, in the order of its text.
struct ReduceStep {
  StringRef name;
  size_t (*count)(ModuleOp module);
  /// Changes the places [begin, end), the last one first; places before them stay what they are. False
  /// where nothing was changed. What it makes need not verify.
  bool (*apply)(ModuleOp module, size_t begin, size_t end);
};

/// Functions, operations, results and arguments of functions, branches, extents, attributes.
ArrayRef<ReduceStep> getReduceSteps();

/// What steps make smaller, the most important first: operations, what functions take and return,
/// extents, constants, attributes.
using ReduceSize = std::array<int64_t, 5>;
ReduceSize sizeOf(ModuleOp module);

/// Tries each kind of change at all places at once, at halves, quarters and so on down to single
/// ones, and keeps what verifies, is smaller and interesting, until nothing more is, or `maxTests` were asked.
class Reducer {
public:
  Reducer(OwningOpRef<ModuleOp> module, llvm::function_ref<bool(ModuleOp)> isInteresting, uint64_t maxTests)
      : module(std::move(module)), isInteresting(isInteresting), maxTests(maxTests) {}
  OwningOpRef<ModuleOp> run();
  uint64_t getNumTests() const { return numTests; }

private:
  bool tryStep(const ReduceStep &step);
  bool tryPlaces(const ReduceStep &step, size_t begin, size_t end);

  OwningOpRef<ModuleOp> module;
  llvm::function_ref<bool(ModuleOp)> isInteresting;
  uint64_t maxTests, numTests = 0;
};

} // namespace mlir::ft::tools

#endif // FT_LIB_TOOLS_REDUCER_H
