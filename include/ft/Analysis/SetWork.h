//===- SetWork.h - how much the analyzes asked of sets ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of a pass in a unit that is the same in every run and on every
// machine, for tests that bound how it grows.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_SETWORK_H
#define FT_ANALYSIS_SETWORK_H

#include <cstdint>

namespace mlir::etdg {

/// Sets that `isEmpty`, `isCovered` and `subtract` (Sets.h) were given in this process, and points
/// that `findSample` was asked for. A cover counts as one more for each set that it consists of.
int64_t getNumSetsAsked();

/// While it lives, this thread's analyzes may ask so many sets. Then they answer at once that nothing is empty or covered; who made the
/// budget looks at whether it is spent, and refuses what they were asked for.
class SetBudget {
public:
  explicit SetBudget(int64_t sets);
  ~SetBudget();
  SetBudget(const SetBudget &) = delete;
  SetBudget &operator=(const SetBudget &) = delete;

  bool isSpent() const { return left < 0; }

private:
  int64_t left, *before;
};

} // namespace mlir::etdg

#endif // FT_ANALYSIS_SETWORK_H
