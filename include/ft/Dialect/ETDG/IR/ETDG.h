//===- ETDG.h - the etdg dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, attributes and operations of the extended task dependence graph.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_IR_ETDG_H
#define FT_DIALECT_ETDG_IR_ETDG_H

#include "ft/Dialect/FT/IR/FT.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::etdg {
class BlockOp;
class NestOp;
class YieldOp;
} // namespace mlir::etdg

#include "ft/Dialect/ETDG/IR/ETDGEnums.h.inc"

// Before the dialect, whose helpers for discardable attributes name their classes.
#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/ETDG/IR/ETDGAttrs.h.inc"

#include "ft/Dialect/ETDG/IR/ETDGDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/ETDG/IR/ETDGTypes.h.inc"

#include "ft/Dialect/ETDG/IR/ETDGInterfaces.h.inc"

#define GET_OP_CLASSES
#include "ft/Dialect/ETDG/IR/ETDGOps.h.inc"

namespace mlir::etdg {

/// The set without constraints (stored as `0 = 0`, which MLIR's sets can hold).
IntegerSet getUniverse(MLIRContext *context, unsigned numDims, unsigned numSymbols);
bool isUniverse(IntegerSet set);

/// Constraints in the order in which a domain prints: for each dimension those
/// whose last dimension it is (lower bounds, upper bounds, equalities), then
/// those of symbols alone; simplified, without repetition.
IntegerSet canonicalizeSet(IntegerSet set);
IntegerSet intersect(IntegerSet a, IntegerSet b);

/// All blocks, nests and buffers of a body in textual order; a block that
/// stands alone is a nest of one.
SmallVector<SmallVector<BlockOp>> getNests(Region &body);

/// The blocks that the schedule of a nest or block orders; none of other operations.
SmallVector<BlockOp> blocksOf(Operation *item);
/// The schedule of a nest or block itself; null where it has none, and of other operations.
ScheduleAttr scheduleOf(Operation *item);
/// Gives a nest or block another schedule, or takes it away.
void setSchedule(Operation *item, ScheduleAttr schedule);

/// A word of how iterations are mapped to units; an old one is an error that gives the new one.
ParseResult parseMapping(AsmParser &parser, IterationMapping &mapping);
/// Whether the units of a level can take iterations so.
LogicalResult verifyMapping(function_ref<InFlightDiagnostic()> emitError, LoopLevel level, IterationMapping mapping);

/// A copy of the graph in which of each `etdg.variants` the region number `choice`, or its last
/// one, stands in its place. Owned by the caller; it has no parent.
OwningOpRef<GraphOp> chooseVariants(GraphOp graph, unsigned choice);
/// How many such choices meet each region of each variant at least once; 1 where there are none.
unsigned countVariants(GraphOp graph);

/// Everything a block needs, collected before it is built: `build` sorts the
/// symbols, renumbers and canonicalises.
struct BlockBuilder {
  std::string name;
  SmallVector<ft::OperatorKind> operators;
  SmallVector<StringAttr> dims;
  unsigned numAncestors = 0;
  SmallVector<StringAttr> symbols;
  IntegerSet domain;
  SmallVector<Value> buffers;
  SmallVector<ReadAttr> reads;
  SmallVector<WriteAttr> writes;
  SmallVector<ReadAttr> identity;

  /// What a block says of itself, to be changed and assigned back.
  static BlockBuilder from(BlockOp block);
  /// Gives an existing block what `build` would give a new one; its regions stay.
  void assign(BlockOp block) const;

  /// The index of `buffer` in `buffers`, adding it.
  int64_t operandFor(Value buffer);
  /// `expr` of a block with other symbols, over this one's; names are added.
  AffineExpr importExpr(AffineExpr expr, ArrayRef<StringAttr> from);
  /// Creates the block with an empty body block (with the reads' types as arguments for a leaf;
  /// `readTypes` gives them).
  BlockOp build(OpBuilder &builder, Location loc, TypeRange readTypes);
};

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_IR_ETDG_H
