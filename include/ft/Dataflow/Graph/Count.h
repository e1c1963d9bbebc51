//===- Count.h - elements and accesses, never wrapped -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traffic, footprints and accesses are exact 64-bit integers. A product that
// does not fit becomes `tooLarge`, and stays it: a search sees a schedule that
// is worse than any other, and the code that reports a result says that it is
// beyond 64 bits. Nothing wraps.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_GRAPH_COUNT_H
#define FT_DATAFLOW_GRAPH_COUNT_H

#include <cstdint>
#include <limits>

namespace ft::dataflow {

/// A number of elements, accesses or cycles; ≥ 0.
using Count = int64_t;

/// What a result beyond 64 bits is.
inline constexpr Count tooLarge = std::numeric_limits<Count>::max();

inline Count multiply(Count a, Count b) {
  if (a == 0 || b == 0)
    return 0;
  Count result;
  return a == tooLarge || b == tooLarge || __builtin_mul_overflow(a, b, &result) ? tooLarge
                                                                                 : result;
}

inline Count add(Count a, Count b) {
  Count result;
  return a == tooLarge || b == tooLarge || __builtin_add_overflow(a, b, &result) ? tooLarge
                                                                                 : result;
}

/// a - b for b ≤ a; what is too large stays too large.
inline Count subtract(Count a, Count b) { return a == tooLarge ? tooLarge : a - b; }

/// ⌈a / b⌉ for a ≥ 0, b > 0.
inline Count ceilDivide(Count a, Count b) { return a / b + (a % b != 0); }

} // namespace ft::dataflow

#endif // FT_DATAFLOW_GRAPH_COUNT_H
