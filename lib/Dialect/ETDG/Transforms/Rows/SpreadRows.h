//===- SpreadRows.h - statements on whole tensors and their buffers -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_ROWS_SPREADROWS_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_ROWS_SPREADROWS_H

#include "ft/Dialect/ETDG/Transforms/ElementForm.h"
#include "ft/Dialect/ETDG/Transforms/RowSpace.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// A leaf without dimensions in a graph's own body: one operation, or values as they are read.
struct Statement {
  BlockOp block;
  Operation *op = nullptr; // null: a copy
  RowSpace space;
  unsigned rows = 0;   // how many become dimensions
  Statement *follows = nullptr; // the reduction whose rows it takes
  unsigned origin = 0; // statements of one leaf have the same number
  /// Row `order[k]` is index k of the results; empty: in order.
  SmallVector<unsigned> order;

  /// What its operands are: the operation's, or what a copy yields.
  ValueRange getOperands() { return op ? ValueRange(op->getOperands()) : ValueRange(block.getYield().getOperands()); }
};

//===----------------------------------------------------------------------===//
// Reads by scalars (ElementForm.cpp)
//===----------------------------------------------------------------------===//

/// Gives a buffer of depth 0 its first `depth` dimensions as lengths. Its memory stays the same; so does
/// each read, through a map to scalars where it isn't one of whole elements any more.
/// Blocks that write it are the caller's.
void splitElement(Value buffer, unsigned depth);

//===----------------------------------------------------------------------===//
// Rows of a graph
//===----------------------------------------------------------------------===//

/// Statements that permute a tensor, and that only operations of linalg read: their readers take
/// the dimensions in the other order, where this leaves them their rows. What nothing reads
/// any more is gone (FoldTransposes.cpp).
void foldTransposes(SmallVectorImpl<Statement> &statements);

/// Statements that only move elements (transposition, concatenation, padding with one number, a part put into a
/// tensor) become copies, whose reads say where each element comes from. `transpositions`: these, or all others (ReadMoves.cpp).
void readMoves(MutableArrayRef<Statement> statements, bool transpositions);

/// The rows of an operation (null: a copy) by itself (ChooseRows.cpp).
unsigned chooseRowsAlone(Operation *op, const RowSpace &space);

/// Decides `rows` of each statement (ChooseRows.cpp).
void chooseRows(MutableArrayRef<Statement> statements);

/// Statements that only permute the rows of what one other statement writes: that one writes in the other order, and
/// these are gone (FoldTransposes.cpp). Rows have been chosen.
void foldIntoWriters(SmallVectorImpl<Statement> &statements);

/// The statement over its rows, in its block's place; buffers are still whole, writes are
/// those of the buffers to come (WriteRows.cpp).
BlockOp writeRows(Statement &statement, ArrayRef<StringAttr> dims);

} // namespace mlir::etdg

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_ROWS_SPREADROWS_H
