//===- Compare.cpp - when two arrays are equal ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/Compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

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

/// How much further from the truth than the runs that were sampled a result may be. Errors of many roundings are about normal,
/// and the largest of a few samples is small by chance at some elements: those the quantile holds up, at others the factor.
static constexpr double ofSampledErrors = 3, quantileOfErrors = 0.9;

namespace {
/// Judges element by element.
struct TruthJudge {
  const HostArray &a;
  const std::vector<HostArray> &written;
  const HostArray &truth;
  Tolerance tolerance;
  double rms, usualError = 0;

  TruthJudge(const HostArray &a, const std::vector<HostArray> &written, const HostArray &truth, Tolerance tolerance, double rms);
  /// The largest error of a run at an element; runs that are not finite there do not count.
  double errorAt(int64_t i) const;
  double boundAt(int64_t i) const { return tolerance.atol + tolerance.rtol * (std::fabs(truth.getFloat(i)) + rms); }
  bool isAsWritten(int64_t i) const;
  /// |a - truth| as a share of what it may be; infinite where the element is wrong whatever the error.
  double shareAt(int64_t i) const;
};
} // namespace

TruthJudge::TruthJudge(const HostArray &a, const std::vector<HostArray> &written, const HostArray &truth, Tolerance tolerance, double rms)
    : a(a), written(written), truth(truth), tolerance(tolerance), rms(rms) {
  // (A root mean square would be that of the one element at which the program is ill-conditioned.)
  std::vector<double> errors;
  for (int64_t i = 0, count = a.numElements(); i < count; ++i)
    if (double error = errorAt(i); error > 0)
      errors.push_back(error);
  if (errors.empty())
    return;
  auto at = errors.begin() + static_cast<int64_t>(quantileOfErrors * double(errors.size() - 1));
  std::nth_element(errors.begin(), at, errors.end());
  usualError = *at;
}

double TruthJudge::errorAt(int64_t i) const {
  double most = 0, exact = truth.getFloat(i);
  for (const HostArray &run : written)
    if (double error = std::fabs(run.getFloat(i) - exact); std::isfinite(error))
      most = std::max(most, error);
  return most;
}

bool TruthJudge::isAsWritten(int64_t i) const {
  double x = a.getFloat(i);
  for (const HostArray &run : written)
    if (double y = run.getFloat(i); x == y || (std::isnan(x) && std::isnan(y)))
      return true;
  return false;
}

double TruthJudge::shareAt(int64_t i) const {
  double x = a.getFloat(i), exact = truth.getFloat(i);
  if (isAsWritten(i) || x == exact || (std::isnan(x) && std::isnan(exact)))
    return 0;
  double error = std::fabs(x - exact);
  if (!std::isfinite(error))
    return INFINITY;
  double most = boundAt(i) + ofSampledErrors * (errorAt(i) + usualError);
  return most > 0 ? error / most : INFINITY;
}

Comparison ft::rt::compareByTruth(const HostArray &a, const std::vector<HostArray> &written, const HostArray &truth, Tolerance tolerance) {
  Comparison first = compare(a, written.front(), tolerance);
  bool areAlike = a.shape == truth.shape && isFloat(truth.dtype);
  for (const HostArray &run : written)
    areAlike &= run.shape == a.shape;
  if (first.equal || !isFloat(a.dtype) || !areAlike)
    return first;
  TruthJudge judge(a, written, truth, tolerance, compare(a, truth, tolerance).rms);
  Comparison result = compare(a, truth, tolerance);
  result.badCount = 0;
  double share = 0, own = 0;
  for (int64_t i = 0; i < first.count; ++i) {
    double bound = judge.boundAt(i);
    own = std::max(own, bound > 0 ? judge.errorAt(i) / bound : 0);
    double here = judge.shareAt(i);
    // (A NaN of the first comparison is no distance.)
    if (double near = std::fabs(a.getFloat(i) - written.front().getFloat(i));
        near <= tolerance.atol + tolerance.rtol * (std::fabs(written.front().getFloat(i)) + first.rms))
      here = std::min(here, 1.0);
    share = std::max(share, here);
    if (!(here <= 1))
      ++result.badCount;
  }
  const std::string errors = "errors against f64 " + number(result.maxScaled) + " of the tolerance, the program's own " + number(own) +
                             "; " + number(share) + " of what they may be";
  if (result.badCount) {
    first.message += "; " + errors;
    return first;
  }
  result.equal = true;
  result.message = "equal: " + std::to_string(result.count) + " elements, " + errors;
  return result;
}
