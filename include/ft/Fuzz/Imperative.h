//===- Imperative.h - random imperative programs ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A seed and a number name one program over mutable tensors: views of views, branches,
// loops, calls, mutation everywhere, old versions kept alive. Each is written twice, in
// tssa and in Python over torch, so that PyTorch itself can be asked what it means.
//
//===----------------------------------------------------------------------===//
#ifndef FT_FUZZ_IMPERATIVE_H
#define FT_FUZZ_IMPERATIVE_H

#include "ft/Fuzz/Check.h"
#include "mlir/IR/MLIRContext.h"

#include <string>
#include <vector>

namespace mlir::ft::fuzz {

struct ImperativeProgram {
  std::string name;
  std::string mlir;   // a module; the entry is `name`
  std::string python; // a function `name` over torch tensors
};

ImperativeProgram generateImperative(uint64_t seed, uint64_t number);

struct ImperativeVerdict : Verdict {
  bool onCpu = false; // a graph that the CPU engine ran
};

/// Heap interpreter = functionalized = lowered = CPU engine where raising takes it. With a
/// folder, arguments and what the heap gives are written there, for others to compare.
std::vector<ImperativeVerdict> checkImperative(MLIRContext *context,
                                               ArrayRef<ImperativeProgram> programs, bool cpu,
                                               uint64_t seed, StringRef dumpFolder = "");

} // namespace mlir::ft::fuzz

#endif // FT_FUZZ_IMPERATIVE_H
