//===- Tool.h - the command line of ft-dataflow -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DATAFLOW_REPORT_TOOL_H
#define FT_DATAFLOW_REPORT_TOOL_H

#include "ft/Dataflow/Graph/Accelerator.h"

namespace ft::dataflow {

/// Finds a machine by its name or file; nothing, and what is wrong in `error`, if there is none.
using MachineFinder =
    std::function<std::optional<Accelerator>(const std::string &nameOrFile, std::string &error)>;

/// Runs ft-dataflow (docs/dataflow.md) and returns its exit status.
int dataflowMain(int argc, char **argv, const MachineFinder &findMachine);

} // namespace ft::dataflow

#endif // FT_DATAFLOW_REPORT_TOOL_H
