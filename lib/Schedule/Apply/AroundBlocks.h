//===- AroundBlocks.h - blocks in the body of another one -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first own dimensions of blocks that stand beside each other become those of a block around them, whose body they are.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_SCHEDULE_APPLY_AROUNDBLOCKS_H
#define LIB_SCHEDULE_APPLY_AROUNDBLOCKS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

#include "llvm/ADT/StringSet.h"

#include <optional>

namespace mlir::ft::schedule {

/// What all blocks ask of their first dimensions, `numOutside` with the ancestors, as text: the block around says it.
llvm::StringSet<> findCommon(ArrayRef<etdg::BlockOp> blocks, unsigned numOutside);

/// The constraints of a block's domain that are kept.
IntegerSet selectConstraints(const etdg::BlockBuilder &block, llvm::function_ref<bool(AffineExpr, StringRef)> isKept);

/// A block with the first `outer` own dimensions of the blocks, and an empty body. Its ranges are what all blocks say of them, and of several blocks
/// where the first of them begins and the last one ends.
etdg::BlockOp buildAround(OpBuilder &builder, ArrayRef<etdg::BlockOp> blocks, unsigned outer, const llvm::StringSet<> &common);

/// What a block is in that body.
void enterAround(etdg::BlockBuilder &block, unsigned outer, const llvm::StringSet<> &common);

/// The dimension that counts the tiles of another one's points, and their size.
std::optional<std::pair<unsigned, int64_t>> tileOf(etdg::BlockOp block, unsigned dim);

} // namespace mlir::ft::schedule

#endif // LIB_SCHEDULE_APPLY_AROUNDBLOCKS_H
