//===- TensorExpressionsJson.h - what depends on what, as JSON --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_TARGET_TENSOREXPRESSIONSJSON_H
#define FT_TARGET_TENSOREXPRESSIONSJSON_H

#include "ft/Analysis/TensorExpressions/TensorExpressions.h"

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace mlir::etdg {

/// Writes the attribute `tensorExpressions` of an object that is open: statements, tensors and edges; buffers and blocks by number.
void writeTensorExpressionsJson(llvm::json::OStream &json, const TensorExpressionAnalysis &analysis, llvm::function_ref<int64_t(Value)> bufferId,
                                llvm::function_ref<int64_t(BlockOp)> nodeId);

} // namespace mlir::etdg

#endif // FT_TARGET_TENSOREXPRESSIONSJSON_H
