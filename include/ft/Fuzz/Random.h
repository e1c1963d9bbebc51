//===- Random.h - the same choices on every machine -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The standard library's distributions differ between implementations, and a
// seed must name the same program everywhere: splitmix64 and plain arithmetic.
//
//===----------------------------------------------------------------------===//
#ifndef FT_FUZZ_RANDOM_H
#define FT_FUZZ_RANDOM_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <initializer_list>

namespace mlir::ft::fuzz {

class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u) {
    next();
  }

  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In [0, n).
  int64_t below(int64_t n) {
    return n <= 1 ? 0 : static_cast<int64_t>(next() % static_cast<uint64_t>(n));
  }
  /// In [lo, hi].
  int64_t between(int64_t lo, int64_t hi) { return lo + below(hi - lo + 1); }
  bool percent(int p) { return below(100) < p; }

  template <typename T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(from.size())];
  }
  template <typename Range>
  auto pickFrom(const Range &from) {
    return from[below(from.size())];
  }
  /// An index, drawn by weight; at least one weight is positive.
  unsigned weighted(ArrayRef<int> weights) {
    int64_t total = 0;
    for (int w : weights)
      total += w;
    int64_t at = below(total);
    for (unsigned i = 0; i < weights.size(); ++i)
      if ((at -= weights[i]) < 0)
        return i;
    return weights.size() - 1;
  }

private:
  uint64_t state;
};

} // namespace mlir::ft::fuzz

#endif // FT_FUZZ_RANDOM_H
