//===- CompileGraphs.h - code of graphs for this processor ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_FUZZ_COMPILEGRAPHS_H
#define FT_LIB_FUZZ_COMPILEGRAPHS_H

#include "ft/Engine/CPU/CpuBundle.h"
#include "ft/Engine/Program/CompiledProgram.h"

namespace mlir::ft::fuzz {

/// Code for this processor of all graphs, which nothing has scheduled and which stay as they are; entry i is called "f<i>".
FailureOr<std::unique_ptr<CompiledProgram>> compileGraphs(ArrayRef<etdg::GraphOp> graphs, const CpuOptions &options = {});

} // namespace mlir::ft::fuzz

#endif // FT_LIB_FUZZ_COMPILEGRAPHS_H
