//===- Figures.h - DAT's Figs. 10 to 13 -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DATAFLOW_REPORT_FIGURES_H
#define FT_DATAFLOW_REPORT_FIGURES_H

#include "ft/Dataflow/Graph/Accelerator.h"

#include <cstdio>
#include <functional>
#include <string>

namespace ft::dataflow {

struct FigureOptions {
  /// The accelerators, in the paper's order: edge, cloud.
  std::vector<Accelerator> machines;
  /// Seconds for the search of one schedule, and the gap at which it may stop.
  double budget = 4, gap = 0.02;
  /// Where progress is told; null: nowhere.
  std::FILE *log = nullptr;
};

struct FigureFile {
  std::string name, text;
};

/// Searches the five modes for the six models (and LLaMA2 from 128 to 64K), and draws performance
/// (Fig. 10), energy (Fig. 11), performance over the sequence (Fig. 12) and the least bandwidth
/// (Fig. 13): figures.txt, figures.json and one SVG each. Beside each aggregate of the paper stands ours.
/// `write` gets each file as soon as there is something in it, and again when there is more; where it returns
/// false, the search ends. Returns the whole text of figures.txt.
std::string makeFigures(const FigureOptions &options, const std::function<bool(const FigureFile &)> &write);

} // namespace ft::dataflow

#endif // FT_DATAFLOW_REPORT_FIGURES_H
