//===- Report.h - what a search found, for people and programs --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One form for the results of both rules, printed as JSON, as a table, and as a
// picture of what the buffer holds over time.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_REPORT_REPORT_H
#define FT_DATAFLOW_REPORT_REPORT_H

#include "ft/Dataflow/Graph/Accelerator.h"
#include "ft/Dataflow/Artifact/Artifact.h"
#include "ft/Dataflow/LoopTree/Timeline.h"

namespace ft::dataflow {

struct OperandOutcome {
  std::string tensor;
  bool isOutput = false, fused = false, held = false;
  Count traffic = 0, accesses = 0, block = 0;
};

struct OperatorOutcome {
  std::string name;
  unsigned group = 0;
  unsigned shared = 0; // outer loops shared with the operator before it in the group
  /// Outermost first.
  std::vector<std::pair<std::string, Count>> loops;
  bool online = false;
  std::vector<OperandOutcome> operands;
};

struct GroupOutcome {
  Count traffic = 0, footprint = 0, accesses = 0, time = 0;
  std::vector<std::string> operators; // in the order of execution
  std::string nest;                   // the loop nest, in text
  Timeline timeline;                  // its first steps (rules `exact`)
};

struct Outcome {
  std::string graph, rules, fusion, objective = "traffic";
  Count buffer = 0;
  Count traffic = 0, lowerBound = 0, footprint = 0, accesses = 0;
  Count time = 0; // cycles, under the rules `artifact`
  Count nodes = 0;
  std::vector<std::string> fused;
  std::vector<GroupOutcome> groups;
  std::vector<OperatorOutcome> operators;
  std::optional<Estimate> estimate;
  std::string machine;
  /// Seconds or joules where the objective is one of them, and the proved lower bound.
  double value = 0, valueBound = 0;

  bool proved() const { return lowerBound == traffic; }
};

Outcome describe(const Graph &graph, const artifact::Result &result,
                 const artifact::Options &options);
Outcome describe(const Graph &graph, const exact::Result &result, const exact::Options &options);

/// Why a search found nothing: the operator that does not fit, and what each of its tensors needs at least.
std::string describeMisfit(const Graph &graph, const exact::Result &result, const exact::Options &options);

std::string toJson(const Outcome &outcome);
std::string toTable(const Outcome &outcome);
/// An SVG: the loop nests; under them what each operator's step finds in the buffer, and over the first steps which
/// blocks are in it.
std::string toSvg(const Outcome &outcome);

} // namespace ft::dataflow

#endif // FT_DATAFLOW_REPORT_REPORT_H
