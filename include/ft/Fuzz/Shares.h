//===- Shares.h - what a set of random programs covers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fuzzer that has stopped to generate something tests nothing of it and says
// nothing: each run counts what its programs hold, and asserts the shares.
//
//===----------------------------------------------------------------------===//
#ifndef FT_FUZZ_SHARES_H
#define FT_FUZZ_SHARES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <string>

namespace mlir::ft::fuzz {

struct Shares {
  int64_t programs = 0;
  /// Programs that have the feature, and how often it occurs.
  std::map<std::string, int64_t> programsWith, occurrences;

  void count(ModuleOp module);
  void add(const Shares &other);
  void print(llvm::raw_ostream &os) const;
  /// One line for each share that is too small; programs of f64 alone (`--gradients`) mix no types.
  std::vector<std::string> missing(bool mixesTypes = true) const;
};

} // namespace mlir::ft::fuzz

#endif // FT_FUZZ_SHARES_H
