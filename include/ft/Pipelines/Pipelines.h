//===- Pipelines.h - from one phase to the next -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass pipelines that lead from a front end to a phase (docs/README.md: the pipeline).
//
//===----------------------------------------------------------------------===//
#ifndef FT_PIPELINES_PIPELINES_H
#define FT_PIPELINES_PIPELINES_H

namespace mlir {
class OpPassManager;

namespace ft {

/// Functions over lists to graphs: inline calls, canonicalise, convert.
void buildToETDGPipeline(OpPassManager &pm);

} // namespace ft
} // namespace mlir

#endif // FT_PIPELINES_PIPELINES_H
