//===- Reducer.cpp - the smallest program that is still interesting -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Reducer.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::ft::tools;

OwningOpRef<ModuleOp> Reducer::run() {
  for (bool changed = true; changed && numTests < maxTests;) {
    changed = false;
    for (const ReduceStep &step : getReduceSteps())
      changed |= tryStep(step);
  }
  return std::move(module);
}

bool Reducer::tryStep(const ReduceStep &step) {
  bool any = false;
  for (size_t chunk = step.count(*module); chunk > 0; chunk /= 2)
    // From the end: what is gone then moves no place that is still to come.
    for (size_t end = step.count(*module); end > 0;) {
      size_t begin = end > chunk ? end - chunk : 0;
      any |= tryPlaces(step, begin, end);
      end = begin;
    }
  return any;
}

bool Reducer::tryPlaces(const ReduceStep &step, size_t begin, size_t end) {
  if (numTests >= maxTests || end > step.count(*module))
    return false;
  OwningOpRef<ModuleOp> copy = module->clone();
  {
    ScopedDiagnosticHandler silent(copy->getContext(), [](Diagnostic &) { return success(); });
    if (!step.apply(*copy, begin, end) || sizeOf(*copy) >= sizeOf(*module) || failed(verify(*copy)))
      return false;
  }
  ++numTests;
  if (!isInteresting(*copy))
    return false;
  module = std::move(copy);
  return true;
}
