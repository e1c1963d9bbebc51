//===- Compare.h - when two arrays are equal --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// |a - b| <= atol + rtol * (|b| + rms(b)) for floats, exact for integers. The
// root mean square keeps an element near zero, between large ones, from being
// held to a precision that its sum of products never had.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_COMPARE_H
#define FT_RUNTIME_COMPARE_H

#include "ft/Runtime/HostArray.h"

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

/// The same of results on whose way f16 or bf16 may stay wider between operations than the program says: where they differ from
/// the program as it is written, by more than the tolerance since a recurrence lets differences grow or the result is of a wider
/// type, they are right as well if they are no further from `truth`, in f64, than that is, but for the rounding of a half itself.
Comparison compareByTruth(const HostArray &a, const HostArray &asWritten, const HostArray &truth, Tolerance tolerance);

} // namespace ft::rt

#endif // FT_RUNTIME_COMPARE_H
