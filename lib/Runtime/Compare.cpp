//===- Compare.cpp - when two arrays are equal ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace ft::rt;

Tolerance ft::rt::defaultTolerance(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return {1e-12, 1e-12};
  case DType::f32:
    return {1e-5, 1e-5};
  case DType::f16:
    return {2e-3, 2e-3};
  case DType::bf16:
    return {2e-2, 2e-2};
  default:
    return {0, 0};
  }
}

static std::string number(double value) {
  char text[40];
  snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

static std::string element(const HostArray &array, int64_t index) {
  return isFloat(array.dtype) ? number(array.getFloat(index)) : std::to_string(array.getInt(index));
}

static void noteBad(Comparison &result, int64_t index) {
  if (result.badCount++ == 0)
    result.firstBad = index;
}

static void compareIntegers(const HostArray &a, const HostArray &b, Comparison &result) {
  for (int64_t i = 0; i < result.count; ++i) {
    int64_t x = a.getInt(i), y = b.getInt(i);
    if (x == y)
      continue;
    noteBad(result, i);
    double error = std::fabs(double(x) - double(y));
    result.maxError = std::max(result.maxError, error);
    result.maxScaled = INFINITY;
  }
}

static void compareFloats(const HostArray &a, const HostArray &b, Tolerance tolerance,
                          Comparison &result) {
  // Scaled by the largest magnitude, so that squares of large values stay finite.
  double largest = 0, sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < result.count; ++i)
    if (double y = std::fabs(b.getFloat(i)); std::isfinite(y))
      largest = std::max(largest, y);
  if (largest > 0) {
    for (int64_t i = 0; i < result.count; ++i)
      if (double y = b.getFloat(i); std::isfinite(y)) {
        sum += (y / largest) * (y / largest);
        ++finite;
      }
    result.rms = largest * std::sqrt(sum / double(finite));
  }
  for (int64_t i = 0; i < result.count; ++i) {
    double x = a.getFloat(i), y = b.getFloat(i);
    if (std::isnan(x) || std::isnan(y)) {
      if (std::isnan(x) != std::isnan(y)) {
        ++result.nanMismatches;
        noteBad(result, i);
      }
      continue;
    }
    if (x == y)
      continue;
    if (std::isinf(x) || std::isinf(y)) {
      noteBad(result, i);
      result.maxError = result.maxScaled = INFINITY;
      continue;
    }
    double error = std::fabs(x - y);
    double bound = tolerance.atol + tolerance.rtol * (std::fabs(y) + result.rms);
    result.maxError = std::max(result.maxError, error);
    result.maxScaled = std::max(result.maxScaled, bound > 0 ? error / bound : INFINITY);
    if (!(error <= bound))
      noteBad(result, i);
  }
}

Comparison ft::rt::compare(const HostArray &a, const HostArray &b,
                           std::optional<Tolerance> tolerance) {
  Comparison result;
  bool typesFit = a.dtype == b.dtype || (isFloat(a.dtype) && isFloat(b.dtype));
  if (!typesFit || a.shape != b.shape) {
    result.message = "types differ: " + a.describe() + " against " + b.describe();
    return result;
  }
  result.count = a.numElements();
  if (isFloat(a.dtype)) {
    Tolerance left = defaultTolerance(a.dtype), right = defaultTolerance(b.dtype);
    compareFloats(a, b, tolerance.value_or(left.rtol > right.rtol ? left : right), result);
  } else {
    compareIntegers(a, b, result);
  }
  result.equal = result.badCount == 0;
  std::string errors = "max error " + number(result.maxError) + " (" + number(result.maxScaled) +
                       " of the tolerance)";
  if (result.equal) {
    result.message = "equal: " + std::to_string(result.count) + " elements, " + errors;
    return result;
  }
  int64_t rest = result.firstBad;
  result.firstBadIndex.resize(a.shape.size());
  for (size_t d = a.shape.size(); d-- > 0;) {
    result.firstBadIndex[d] = rest % a.shape[d];
    rest /= a.shape[d];
  }
  std::string where;
  for (int64_t i : result.firstBadIndex)
    where += (where.empty() ? "" : ", ") + std::to_string(i);
  result.message = std::to_string(result.badCount) + " of " + std::to_string(result.count) +
                   " elements differ, first at [" + where + "]: " + element(a, result.firstBad) +
                   " against " + element(b, result.firstBad) + "; " + errors;
  if (result.nanMismatches)
    result.message += "; " + std::to_string(result.nanMismatches) + " NaN on one side only";
  return result;
}

/// The most that rounding to a half changes a number by, as a share of it; 0 of other types.
static double roundoffOfHalf(ft::rt::DType dtype) {
  constexpr int digitsOfF16 = 11, digitsOfBf16 = 8;
  return dtype == ft::rt::DType::f16    ? std::ldexp(1.0, -digitsOfF16)
         : dtype == ft::rt::DType::bf16 ? std::ldexp(1.0, -digitsOfBf16)
                                        : 0;
}

ft::rt::Comparison ft::rt::compareByTruth(const HostArray &a, const HostArray &asWritten, const HostArray &truth,
                                          Tolerance tolerance) {
  Comparison result = compare(a, asWritten, tolerance);
  if (result.equal || !isFloat(a.dtype))
    return result;
  const double roundoff = roundoffOfHalf(a.dtype);
  Comparison own = compare(a, truth, tolerance), written = compare(asWritten, truth, tolerance);
  const double most = written.maxScaled + (tolerance.rtol > 0 ? roundoff / tolerance.rtol : 0);
  const std::string errors = std::to_string(own.maxScaled) + " of the tolerance, as written " + std::to_string(written.maxScaled);
  if (own.nanMismatches || !std::isfinite(own.maxScaled) || !(own.maxScaled <= most)) {
    result.message += "; against f64 " + errors;
    return result;
  }
  own.equal = true;
  own.message = "equal: " + std::to_string(own.count) + " elements, errors against f64 " + errors;
  return own;
}
