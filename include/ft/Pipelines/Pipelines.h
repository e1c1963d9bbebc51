//===- Pipelines.h - from one phase to the next -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass pipelines that lead from a front end to a phase (docs/README.md: the pipeline).
//
//===----------------------------------------------------------------------===//
#ifndef FT_PIPELINES_PIPELINES_H
#define FT_PIPELINES_PIPELINES_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

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

/// Functions over lists with their derivatives beside them. `options` are those of `ft-differentiate`, as text; what is wrong with
/// them is handed to `note`, and the pipeline fails.
LogicalResult buildDifferentiatePipeline(OpPassManager &pm, llvm::StringRef options, llvm::function_ref<LogicalResult(const llvm::Twine &)> note);

} // namespace ft

namespace etdg {

/// The phase `coarsen` without its online rewrites, for a machine by its name or file (empty: `cpu`).
void buildCoarsenPipeline(OpPassManager &pm, llvm::StringRef machine = "");

} // namespace etdg
} // namespace mlir

#endif // FT_PIPELINES_PIPELINES_H
