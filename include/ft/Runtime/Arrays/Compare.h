//===- Compare.h - when two arrays are equal --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// |a - b| <= atol + rtol * (|b| + rms(b)) for floats, exact for integers. The
// root mean square keeps an element near zero, between large ones, from being
// held to a precision that its sum of products never had.
//
// What differs by more is right as well where the program's own arithmetic errs that much: against the
// program in f64, the *truth*, by no more than the tolerance and a multiple of the errors that runs of the
// program as it is written have there (`compareByTruth`). So a long sum may be added in another order, a
// half may stay wider than the program says, and a recurrence may let such differences grow.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_ARRAYS_COMPARE_H
#define FT_RUNTIME_ARRAYS_COMPARE_H

#include "ft/Runtime/Arrays/HostArray.h"

namespace ft::rt {

struct Tolerance {
  double rtol = 0, atol = 0;
};

/// rtol = atol: f64 1e-12, f32 1e-5, f16 2e-3, bf16 2e-2; integers 0.
Tolerance defaultTolerance(DType dtype);

struct Comparison {
  bool equal = false;
  int64_t count = 0;         // elements compared
  int64_t badCount = 0;      // elements out of tolerance, NaN mismatches among them
  int64_t nanMismatches = 0; // NaN on one side only
  double maxError = 0;       // largest |a - b| over finite pairs
  double maxScaled = 0;      // largest |a - b| / (atol + rtol * (|b| + rms(b)))
  double rms = 0;            // of the finite elements of b
  int64_t firstBad = -1;     // linear index
  std::vector<int64_t> firstBadIndex;
  std::string message; // one line: "equal: ..." or what differs and where

  explicit operator bool() const { return equal; }
};

/// Compares `a` with the reference `b`. Shapes must agree. Float types may
/// differ (a f32 result against a f64 truth); the default tolerance is that of
/// the coarser type. Infinities equal themselves, NaN equals NaN.
Comparison compare(const HostArray &a, const HostArray &b,
                   std::optional<Tolerance> tolerance = std::nullopt);

/// Judges `a` by `truth`, the program's results in f64, and by `written`: the program as it is written, then any number of runs
/// with noise in its roundings, which sample its errors (`RunOptions::noise`). An element is right if it is within the tolerance of
/// the first, or, with e for the largest error against the truth that one of the runs has at the element and E for the 90 % quantile
/// of those e that are not 0, if |a - truth| is at most the tolerance's bound + 3 (e + E). An infinity or NaN is right where a run
/// has it, too.
Comparison compareByTruth(const HostArray &a, const std::vector<HostArray> &written, const HostArray &truth, Tolerance tolerance);

} // namespace ft::rt

#endif // FT_RUNTIME_ARRAYS_COMPARE_H
