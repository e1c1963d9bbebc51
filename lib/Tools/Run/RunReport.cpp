//===- RunReport.cpp - what ft-run says of a run --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunReport.h"

#include "ft/Runtime/Arrays/Compare.h"
#include "ft/Runtime/Host/ThreadPool.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tools;
using ::ft::rt::HostArray;

static llvm::json::Value finiteOrNull(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
}

/// The tolerance of a comparison, after its message; nothing where elements must be equal.
static std::string describeTolerance(const ::ft::rt::Tolerance &tolerance) {
  std::string text;
  if (tolerance.rtol > 0 || tolerance.atol > 0)
    llvm::raw_string_ostream(text) << llvm::format("; tolerance: rtol %g, atol %g", tolerance.rtol, tolerance.atol);
  return text;
}

Agreement tools::compareResults(const RunOptions &options, const Entry &entry, ArrayRef<HostArray> results,
                                ArrayRef<HostArray> reference, tools::Judge &judge) {
  const bool isJudged = options.rtol < 0 && options.atol < 0 && options.compare == "interpret";
  Agreement all;
  for (auto [i, result] : llvm::enumerate(results)) {
    ::ft::rt::Tolerance tolerance = getTolerance(entry, i, result.dtype);
    if (options.rtol >= 0)
      tolerance.rtol = options.rtol;
    if (options.atol >= 0)
      tolerance.atol = options.atol;
    ::ft::rt::Comparison comparison = isJudged ? judge.judge(i, result, tolerance) : ::ft::rt::compare(result, reference[i], tolerance);
    all.equal &= comparison.equal;
    all.maxError = std::max(all.maxError, comparison.maxScaled);
    all.text += "result " + std::to_string(i) + " " + result.describe() + ": " + comparison.message +
                describeTolerance(tolerance) +
                "\n";
    all.entries.push_back(llvm::json::Object{{"result", static_cast<int64_t>(i)},
                                             {"type", result.describe()},
                                             {"equal", comparison.equal},
                                             {"max_error", finiteOrNull(comparison.maxError)},
                                             {"of_tolerance", finiteOrNull(comparison.maxScaled)},
                                             {"rtol", finiteOrNull(tolerance.rtol)},
                                             {"atol", finiteOrNull(tolerance.atol)},
                                             {"message", comparison.message}});
  }
  return all;
}

static double bestOf(const Outcome &outcome) { return outcome.runSeconds.empty() ? 0 : outcome.runSeconds.front(); }

static double medianOf(const Outcome &outcome) {
  return outcome.runSeconds.empty() ? 0 : outcome.runSeconds[outcome.runSeconds.size() / 2];
}

void tools::reportJson(const RunOptions &options, const Entry &entry, const Data &data, const Outcome &outcome,
                       double parseSeconds, Agreement &agreement) {
  llvm::json::Object lengths;
  for (StringAttr name : entry.names)
    lengths[name.getValue()] = data.lengths.lookup(name);
  llvm::json::Object report{{"file", options.file.getValue()},
                            {"entry", entry.name},
                            {"engine", options.engine.getValue()},
                            {"threads", options.engine == "cpu" ? static_cast<int64_t>(ft_num_threads()) : 1},
                            {"lengths", std::move(lengths)},
                            {"parse_seconds", parseSeconds},
                            {"compile_seconds", outcome.compileSeconds},
                            {"run_seconds", bestOf(outcome)},
                            {"run_seconds_median", medianOf(outcome)},
                            {"runs", static_cast<int64_t>(outcome.runSeconds.size())}};
  for (auto &[name, value] : outcome.figures)
    report[name] = value;
  if (outcome.flops)
    report["flops"] = *outcome.flops;
  for (const Tried &tried : outcome.tried)
    report.try_emplace("tried", llvm::json::Array()).first->second.getAsArray()->push_back(
        llvm::json::Object{{"name", tried.name}, {"seconds", tried.seconds}, {"plan", tried.plan}});
  if (outcome.compileCpuSeconds > 0)
    report["compile_cpu_seconds"] = outcome.compileCpuSeconds;
  if (!outcome.plans.empty()) {
    report["predicted_seconds"] = outcome.predictedSeconds;
    report["plans"] = llvm::json::Array(outcome.plans);
  }
  if (!options.compare.empty()) {
    report["equal"] = agreement.equal;
    report["of_tolerance"] = finiteOrNull(agreement.maxError);
    report["comparisons"] = std::move(agreement.entries);
  }
  llvm::outs() << llvm::json::Value(std::move(report)) << "\n";
}

/// `--print`: the first values of a result, in the order of memory.
static void printValues(unsigned count, size_t number, const ::ft::rt::HostArray &array) {
  const int64_t shown = std::min<int64_t>(count, array.numElements());
  llvm::outs() << "result " << number << " values:";
  for (int64_t i = 0; i < shown; ++i)
    if (isFloat(array.dtype))
      llvm::outs() << llvm::format(" %.6g", array.getFloat(i));
    else
      llvm::outs() << ' ' << array.getInt(i);
  if (shown < array.numElements())
    llvm::outs() << " ... (" << array.numElements() - shown << " more)";
  llvm::outs() << '\n';
}

/// `--bench`: times, rates and the engine's figures.
static void reportTimes(const Outcome &outcome) {
  const double median = medianOf(outcome);
  llvm::outs() << llvm::format("%.2f us a call (median of %zu; best %.2f us)", median * 1e6, outcome.runSeconds.size(), bestOf(outcome) * 1e6);
  if (outcome.flops && *outcome.flops > 0 && median > 0)
    llvm::outs() << llvm::format(", %.3g GFLOP/s in %.3g MFLOP of products", *outcome.flops / median / 1e9, *outcome.flops / 1e6);
  llvm::outs() << llvm::format("; compiled in %.0f ms\n", outcome.compileSeconds * 1e3);
  for (auto &[name, value] : outcome.figures)
    llvm::outs() << name << " " << value << "\n";
  for (const std::string &plan : outcome.plans)
    llvm::outs() << "predicted: " << plan << "\n";
}

void tools::reportText(const RunOptions &options, const Entry &entry, const Data &data, const Outcome &outcome,
                       const Agreement &agreement) {
  llvm::outs() << "@" << entry.name << " on " << options.engine.getValue();
  for (StringAttr name : entry.names)
    llvm::outs() << " " << name.getValue() << "=" << data.lengths.lookup(name);
  llvm::outs() << "\n";
  if (options.compare.empty())
    for (auto [i, result] : llvm::enumerate(outcome.results))
      llvm::outs() << "result " << i << " " << result.describe() << "\n";
  llvm::outs() << agreement.text;
  if (options.print)
    for (auto [i, result] : llvm::enumerate(outcome.results))
      printValues(options.print, i, result);
  for (const Tried &tried : outcome.tried)
    llvm::outs() << llvm::format("%10.1f us  ", tried.seconds * 1e6) << tried.name << (tried.plan.empty() ? "" : ": ") << tried.plan << '\n';
  if (options.bench)
    reportTimes(outcome);
  if (!options.compare.empty())
    llvm::outs() << (agreement.equal ? "equal\n" : "NOT EQUAL\n");
}

