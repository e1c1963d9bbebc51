//===- Generate.cpp - reproducible test data ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled with -ffp-contract=off: a fused multiply-add would round once where
// another machine rounds twice.
//
//===----------------------------------------------------------------------===//
#include "ft/Runtime/Arrays/Generate.h"

#include "ft/Runtime/Host/ThreadPool.h"

#include <bit>
#include <cmath>

using namespace ft::rt;

std::array<uint32_t, 4> ft::rt::philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53u) * c[0], p1 = uint64_t(0xCD9E8D57u) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k[1],
         uint32_t(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

/// Natural logarithm of a normal positive f64, about 1 ulp.
static double logOf(double x) {
  uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = int(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 atanh s with s = (m - 1) / (m + 1), |s| <= 0.172.
  double s = (m - 1) / (m + 1), z = s * s, sum = 0;
  for (int k = 23; k >= 3; k -= 2)
    sum = (sum + 1.0 / k) * z;
  return double(exponent) * 0.69314718055994531 + (2 * s + 2 * s * sum);
}

/// Cosine and sine of 2 pi u for u in [0, 1), a multiple of 2^-53.
static void cosSinTurns(double u, double &cosine, double &sine) {
  double quarters = 4 * u;
  int quadrant = int(quarters + 0.5); // nearest; the remainder below is exact
  double t = (quarters - double(quadrant)) * 1.5707963267948966, z = t * t;
  double c = 0, s = 0;
  for (int k = 18; k >= 2; k -= 2)
    c = (1 - c) * z * (1.0 / double(k * (k - 1)));
  for (int k = 17; k >= 3; k -= 2)
    s = (1 - s) * z * (1.0 / double(k * (k - 1)));
  c = 1 - c;
  s = t * (1 - s);
  switch (quadrant & 3) {
  case 0:
    cosine = c, sine = s;
    return;
  case 1:
    cosine = -s, sine = c;
    return;
  case 2:
    cosine = -c, sine = -s;
    return;
  default:
    cosine = s, sine = -c;
  }
}

namespace {
struct Filler {
  HostArray &array;
  Distribution distribution;
  std::array<uint32_t, 2> key;
  uint32_t argument;

  /// One block of the generator gives two 64-bit words: elements 2b and 2b + 1.
  void fill(int64_t firstBlock, int64_t lastBlock) {
    int64_t count = array.numElements();
    for (int64_t block = firstBlock; block < lastBlock; ++block) {
      std::array<uint32_t, 4> r = philox4x32(
          {uint32_t(uint64_t(block)), uint32_t(uint64_t(block) >> 32), argument, 0}, key);
      uint64_t word[2] = {uint64_t(r[1]) << 32 | r[0], uint64_t(r[3]) << 32 | r[2]};
      int64_t i = 2 * block;
      int lanes = i + 1 < count ? 2 : 1;
      switch (distribution.kind) {
      case Distribution::normal: {
        // Box-Muller: the radius from (0, 1], the angle from [0, 1).
        double radius = std::sqrt(-2 * logOf(double((word[0] >> 11) + 1) * 0x1p-53));
        double value[2];
        cosSinTurns(double(word[1] >> 11) * 0x1p-53, value[0], value[1]);
        for (int lane = 0; lane < lanes; ++lane)
          array.setFloat(i + lane, radius * value[lane] * distribution.scale);
        break;
      }
      case Distribution::uniform:
        for (int lane = 0; lane < lanes; ++lane)
          array.setFloat(i + lane, distribution.low + (distribution.high - distribution.low) *
                                                          (double(word[lane] >> 11) * 0x1p-53));
        break;
      case Distribution::integer:
      case Distribution::index: {
        // The high half of a 128-bit product maps 64 random bits to the range;
        // a width of 0 stands for all 2^64 values.
        uint64_t width = uint64_t(distribution.hi) - uint64_t(distribution.lo) +
                         (distribution.kind == Distribution::integer ? 1 : 0);
        for (int lane = 0; lane < lanes; ++lane) {
          uint64_t offset =
              width ? uint64_t((unsigned __int128)word[lane] * width >> 64) : word[lane];
          array.setInt(i + lane, int64_t(uint64_t(distribution.lo) + offset));
        }
        break;
      }
      }
    }
  }
};
} // namespace

Status ft::rt::generate(HostArray &array, const Distribution &distribution, uint64_t seed,
                        uint32_t argument) {
  int64_t count = array.numElements();
  Distribution d = distribution;
  if (d.kind == Distribution::normal || d.kind == Distribution::uniform) {
    if (!std::isfinite(d.scale) || !std::isfinite(d.low) || !std::isfinite(d.high))
      return Status::error(Code::invalidArgument, "a distribution's parameters must be finite");
    if (!isFloat(array.dtype))
      d = array.dtype == DType::u8 ? Distribution::makeInteger(0, 8)
                                   : Distribution::makeInteger(-4, 4);
  } else {
    bool empty = d.kind == Distribution::integer ? d.lo > d.hi : d.lo >= d.hi;
    if (empty && count > 0)
      return Status::error(Code::invalidArgument,
                           "no integer to draw from " + std::to_string(d.lo) + " to " +
                               std::to_string(d.hi) +
                               (d.kind == Distribution::index ? " (exclusive)" : ""));
  }
  Filler filler{array, d, {uint32_t(seed), uint32_t(seed >> 32)}, argument};
  ft_parallel_for(
      [](void *env, int64_t begin, int64_t end) { static_cast<Filler *>(env)->fill(begin, end); },
      &filler, count / 2 + count % 2, 4096);
  return {};
}
