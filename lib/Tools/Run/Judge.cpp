//===- Judge.cpp - whether results are a program's ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Tools/Judge.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tools;
using ::ft::rt::HostArray;

/// Runs with noise: enough that the largest of their errors is seldom small by chance.
static constexpr uint64_t numSamples = 3;

/// `array` in the shape of `result`, where two lengths were taken as one.
static HostArray inShapeOf(HostArray array, const HostArray &result) {
  if (array.numElements() == result.numElements() && array.shape.size() != result.shape.size())
    array.shape = result.shape;
  return array;
}

bool Judge::sampleErrors() {
  if (isSampled)
    return !truth.empty();
  isSampled = true;
  interp::RunOptions options;
  options.truth = true;
  FailureOr<std::vector<HostArray>> exact = interpret(options);
  if (failed(exact) || exact->size() != asWritten.size())
    return false;
  options.truth = false;
  for (options.noise = 1; options.noise <= numSamples; ++options.noise)
    if (FailureOr<std::vector<HostArray>> sample = interpret(options);
        succeeded(sample) && sample->size() == asWritten.size())
      samples.push_back(std::move(*sample));
  truth = std::move(*exact);
  return true;
}

::ft::rt::Comparison Judge::judge(size_t i, const HostArray &result, ::ft::rt::Tolerance tolerance) {
  HostArray written = inShapeOf(asWritten[i], result);
  ::ft::rt::Comparison comparison = ::ft::rt::compare(result, written, tolerance);
  if (comparison.equal || comparison.count == 0 || !::ft::rt::isFloat(result.dtype) || !sampleErrors())
    return comparison;
  std::vector<HostArray> own = {written};
  for (const std::vector<HostArray> &sample : samples)
    own.push_back(inShapeOf(sample[i], result));
  return ::ft::rt::compareByTruth(result, own, inShapeOf(truth[i], result), tolerance);
}
