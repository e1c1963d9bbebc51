//===- Judge.h - whether results are a program's ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one rule by which results of engines, of graphs after each phase and of random programs are
// compared with the program as it is written (`ft::rt::compare`, then `compareByTruth`).
//
//===----------------------------------------------------------------------===//
#ifndef FT_TOOLS_JUDGE_H
#define FT_TOOLS_JUDGE_H

#include "ft/Interpreter/RunOptions.h"
#include "ft/Runtime/Arrays/Compare.h"

#include <functional>
#include <vector>

namespace mlir::ft::tools {

class Judge {
public:
  /// Runs the program with the options given; the rest of them (order, seed) is the caller's.
  using Interpret = std::function<FailureOr<std::vector<::ft::rt::HostArray>>(const interp::RunOptions &)>;

  Judge(std::vector<::ft::rt::HostArray> asWritten, Interpret interpret)
      : asWritten(std::move(asWritten)), interpret(std::move(interpret)) {}

  /// Result number `i` against the program's. What is not within the tolerance is judged by the program in f64
  /// and by runs with noise, which are interpreted when they are first needed; an interpreter that fails there,
  /// which it did not as the program is written, leaves the first judgement. Shapes of equal sizes are equal.
  ::ft::rt::Comparison judge(size_t i, const ::ft::rt::HostArray &result, ::ft::rt::Tolerance tolerance);

private:
  bool sampleErrors();

  std::vector<::ft::rt::HostArray> asWritten;
  Interpret interpret;
  bool isSampled = false;
  std::vector<::ft::rt::HostArray> truth;
  std::vector<std::vector<::ft::rt::HostArray>> samples; // by run, then result
};

} // namespace mlir::ft::tools

#endif // FT_TOOLS_JUDGE_H
