//===- RunReport.h - what ft-run says of a run ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_TOOLS_RUNREPORT_H
#define FT_TOOLS_RUNREPORT_H

#include "RunOptions.h"

#include "ft/Runtime/Arrays/HostArray.h"
#include "ft/Tools/Judge.h"

#include "llvm/Support/JSON.h"

#include <map>

namespace mlir::ft::tools {

/// An order or loop distribution that was timed.
struct Tried {
  std::string name, plan;
  double seconds = 0; // the median of several calls
};

/// What a run gave.
struct Outcome {
  std::vector<::ft::rt::HostArray> results;
  double compileSeconds = 0;
  double compileCpuSeconds = 0; // of all threads, the same on a busy machine
  std::vector<double> runSeconds;
  std::map<std::string, int64_t> figures; // of one call, by the engine
  std::vector<std::string> plans;         // of the CPU engine's kernels
  double predictedSeconds = 0;
  std::optional<double> flops; // of the products of one call
  std::string trace;           // of one more call
  std::vector<Tried> tried;    // by --tune, the fastest first
};

/// How the results agree with those of the reference.
struct Agreement {
  bool equal = true;
  double maxError = 0; // as a share of the tolerance
  std::string text;    // a line for each result
  llvm::json::Array entries;
};

/// By the tolerances of the command line, if there are any, or against the truth: by these alone.
Agreement compareResults(const RunOptions &options, const Entry &entry, ArrayRef<::ft::rt::HostArray> results,
                         ArrayRef<::ft::rt::HostArray> reference, Judge &judge);

/// `--json`: one object for the run.
void reportJson(const RunOptions &options, const Entry &entry, const Data &data, const Outcome &outcome, double parseSeconds,
                Agreement &agreement);

void reportText(const RunOptions &options, const Entry &entry, const Data &data, const Outcome &outcome, const Agreement &agreement);

} // namespace mlir::ft::tools

#endif // FT_TOOLS_RUNREPORT_H
