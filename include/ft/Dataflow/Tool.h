//===- Tool.h - the command line of ft-dataflow -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DATAFLOW_TOOL_H
#define FT_DATAFLOW_TOOL_H

namespace ft::dataflow {

/// Runs ft-dataflow (docs/dataflow.md) and returns its exit status.
int dataflowMain(int argc, char **argv);

} // namespace ft::dataflow

#endif // FT_DATAFLOW_TOOL_H
