//===- ShardingJson.h - how lengths can be divided, as JSON -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_TARGET_SHARDINGJSON_H
#define FT_TARGET_SHARDINGJSON_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace mlir::etdg {

/// Writes the attributes `sharding` (a class each) and `shardingRules` of an object that is open; buffers and blocks by number.
void writeShardingJson(llvm::json::OStream &json, GraphOp graph, llvm::function_ref<int64_t(Value)> bufferId,
                       llvm::function_ref<int64_t(BlockOp)> nodeId);

} // namespace mlir::etdg

#endif // FT_TARGET_SHARDINGJSON_H
