//===- Float16.h - f16 and bf16 by integer arithmetic -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions that give the same bits on every machine: round to nearest even,
// subnormals exact, NaN stays a (quiet) NaN with its sign. Conversions from
// f64 round once; going through f32 would round twice.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_ARRAYS_FLOAT16_H
#define FT_RUNTIME_ARRAYS_FLOAT16_H

#include <bit>
#include <cstdint>

namespace ft::rt {

inline float halfToFloat(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000u) << 16;
  uint32_t exponent = (h >> 10) & 0x1f, mantissa = h & 0x3ff;
  if (exponent == 0) {
    // Subnormal: mantissa * 2^-24, exact in f32.
    float magnitude = float(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13) |
                                (mantissa ? 0x00400000u : 0u));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

inline float bfloatToFloat(uint16_t b) { return std::bit_cast<float>(uint32_t(b) << 16); }

/// Rounds a f64 to a 16-bit float with `exponentBits` and `15 - exponentBits`
/// mantissa bits.
template <int exponentBits>
inline uint16_t doubleToFloat16(double value) {
  constexpr int mantissaBits = 15 - exponentBits;
  constexpr int bias = (1 << (exponentBits - 1)) - 1;
  constexpr uint16_t infinity = ((1u << exponentBits) - 1) << mantissaBits;
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint16_t sign = uint16_t((bits >> 63) << 15);
  int exponent = int((bits >> 52) & 0x7ff);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  if (exponent == 0x7ff) {
    if (mantissa == 0)
      return sign | infinity;
    return sign | infinity | uint16_t(1u << (mantissaBits - 1)) |
           uint16_t(mantissa >> (52 - mantissaBits));
  }
  if (exponent == 0)
    return sign; // f64 zeros and subnormals lie far below half the least subnormal
  exponent -= 1023;
  mantissa |= uint64_t(1) << 52;
  // Below the normal range the least bit kept is worth 2^(1 - bias - mantissaBits).
  int drop = 52 - mantissaBits;
  bool subnormal = exponent < 1 - bias;
  if (subnormal)
    drop += (1 - bias) - exponent;
  if (drop > 53)
    return sign;
  uint64_t kept = mantissa >> drop;
  uint64_t rest = mantissa & ((uint64_t(1) << drop) - 1), half = uint64_t(1) << (drop - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  // A carry out of the mantissa moves into the exponent field by itself.
  uint64_t result = subnormal ? kept : (uint64_t(exponent + bias - 1) << mantissaBits) + kept;
  if (result >= infinity)
    return sign | infinity;
  return sign | uint16_t(result);
}

inline uint16_t doubleToHalf(double value) { return doubleToFloat16<5>(value); }
inline uint16_t doubleToBfloat(double value) { return doubleToFloat16<8>(value); }
inline uint16_t floatToHalf(float value) { return doubleToFloat16<5>(double(value)); }

inline uint16_t floatToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return uint16_t(bits >> 16) | 0x40;
  return uint16_t((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

} // namespace ft::rt

#endif // FT_RUNTIME_ARRAYS_FLOAT16_H
