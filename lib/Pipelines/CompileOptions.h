//===- CompileOptions.h - are the options of ft-compile right? --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_PIPELINES_COMPILEOPTIONS_H
#define FT_LIB_PIPELINES_COMPILEOPTIONS_H

#include "ft/Pipelines/Phases.h"

namespace mlir::ft {

/// What is wrong with the options, or nothing. Of a machine's file it says only that it is none.
std::string checkCompileOptions(const CompileOptions &options);

} // namespace mlir::ft

#endif // FT_LIB_PIPELINES_COMPILEOPTIONS_H
