//===- Generate.h - reproducible test data ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element i of argument a under seed s is a function of (s, a, i) alone: a
// counter-based generator (Philox4x32-10; Salmon et al., SC'11), so that every
// machine, thread count and order of filling gives the same bits. Only + - * /
// and sqrt are used on floats, each exactly rounded by IEEE 754, so a libm's
// version does not matter either.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_ARRAYS_GENERATE_H
#define FT_RUNTIME_ARRAYS_GENERATE_H

#include "ft/Runtime/Arrays/HostArray.h"

#include <array>

namespace ft::rt {

/// One application of Philox4x32-10.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

struct Distribution {
  enum Kind : uint8_t {
    normal,  // mean 0, standard deviation `scale`
    uniform, // [low, high)
    integer, // each of lo, lo + 1, ..., hi
    index,   // each of lo, ..., hi - 1; an empty range is an error
  };
  Kind kind = normal;
  double scale = 1, low = 0, high = 1;
  int64_t lo = 0, hi = 0;

  static Distribution makeNormal(double scale) { return {normal, scale, 0, 1, 0, 0}; }
  static Distribution makeUniform(double low, double high) { return {uniform, 1, low, high, 0, 0}; }
  static Distribution makeInteger(int64_t lo, int64_t hi) { return {integer, 1, 0, 1, lo, hi}; }
  static Distribution makeIndex(int64_t lo, int64_t hi) { return {index, 1, 0, 1, lo, hi}; }
};

/// Fills an array. Floats round to nearest even from f64. `normal` and `uniform`
/// on an integer array give small integers, -4 to 4 (u8: 0 to 8): a real
/// distribution says nothing useful there, and small values keep sums exact.
/// An i1 takes the lowest bit of the integer drawn.
Status generate(HostArray &array, const Distribution &distribution, uint64_t seed,
                uint32_t argument);

} // namespace ft::rt

#endif // FT_RUNTIME_ARRAYS_GENERATE_H
