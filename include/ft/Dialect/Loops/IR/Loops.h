//===- Loops.h - the loops dialect ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, attributes and operations of structured loops over memory.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_IR_LOOPS_H
#define FT_DIALECT_LOOPS_IR_LOOPS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/DeviceMappingInterface.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "ft/Dialect/Loops/IR/LoopsEnums.h.inc"

// Before the dialect, whose helpers for discardable attributes name their classes.
#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/Loops/IR/LoopsAttrs.h.inc"

#include "ft/Dialect/Loops/IR/LoopsDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/Loops/IR/LoopsTypes.h.inc"

#define GET_OP_CLASSES
#include "ft/Dialect/Loops/IR/LoopsOps.h.inc"

namespace mlir::loops {

/// Whether a function is a kernel: it has the attribute `loops.kernel`.
bool isKernel(func::FuncOp function);

/// The thread blocks that run a kernel; null where none do.
GridAttr gridOf(Operation *kernel);

/// The level of a parallel loop (`scf.forall` of one dimension with a mapping of ours, or
/// `loops.chunks`); nothing of any other operation.
LevelAttr levelOf(Operation *loop);
/// Gives such a loop another level.
void setLevel(Operation *loop, LevelAttr level);

/// Elements between neighbours inside of a row of a view, by dimension; none where the type does not say. Where there
/// are no neighbours it is what it would be without gaps.
std::optional<SmallVector<int64_t>> getRowStrides(MemRefType view);

/// Whether rows of a view lie in order and without gaps.
bool holdsRowsInOrder(MemRefType view);

/// Replaces each `loops.view` in an operation by arithmetic and a `memref.reinterpret_cast` with a flat offset.
void expandViews(Operation *root);

//===----------------------------------------------------------------------===//
// What leaves add up in, and what they may overwrite (LeafMemory.cpp)
//===----------------------------------------------------------------------===//

/// The types f16 and bf16 that reductions of a leaf's body compute in.
SmallVector<Type> halvesSummed(Block &body);
/// Whether a leaf rounds sums of halves at each step.
bool roundsSums(LeafOp leaf);

/// By output of a leaf: whether it is written when all of the leaf's inputs have been read, since it may overlap one.
SmallVector<bool> outputsWrittenLast(LeafOp leaf);
/// Whether an output of a leaf may overlap an input, other than by being it, copied onto itself.
bool hasOverlaps(LeafOp leaf);
/// Whether this output may overlap an input.
bool mayOverlap(LeafOp leaf, unsigned output);

LogicalResult verifySums(LeafOp leaf);
LogicalResult verifyOverlaps(LeafOp leaf);
/// Whether leaves of a kernel know which of its arguments this launch gives one memory.
LogicalResult verifyApart(LaunchOp launch, Operation *kernel);

} // namespace mlir::loops

#endif // FT_DIALECT_LOOPS_IR_LOOPS_H
