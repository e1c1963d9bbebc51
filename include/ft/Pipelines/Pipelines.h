//===- Pipelines.h - from one phase to the next -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass pipelines that lead from a front end to a phase (docs/README.md: the pipeline).
//
//===----------------------------------------------------------------------===//
#ifndef FT_PIPELINES_PIPELINES_H
#define FT_PIPELINES_PIPELINES_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
class OpPassManager;

namespace ft {

/// Functions over lists to graphs: inline calls, canonicalise, convert.
void buildToETDGPipeline(OpPassManager &pm);

/// The conversions of that pipeline alone: what is no function over lists or tensors yet, they refuse.
void buildConversionsToETDG(OpPassManager &pm);

/// Imperative programs: mutable tensors become values, then operations of upstream's dialects.
void buildFunctionalizePipeline(OpPassManager &pm);
void buildToTensorPipeline(OpPassManager &pm);

} // namespace ft

namespace etdg {

/// The phase `coarsen` without its online rewrites, for a machine by its name or file (empty: `cpu`).
void buildCoarsenPipeline(OpPassManager &pm, llvm::StringRef machine = "");

} // namespace etdg
} // namespace mlir

#endif // FT_PIPELINES_PIPELINES_H
