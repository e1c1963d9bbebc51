//===- SubsetAccess.h - reads and writes of a part of a tensor --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef FT_INTERFACES_SUBSETACCESS_H
#define FT_INTERFACES_SUBSETACCESS_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallBitVector.h"

#include "ft/Interfaces/SubsetAccess.h.inc"

namespace mlir {
class DialectRegistry;
namespace ft {

/// Of an operation that only looks at a tensor otherwise, a read of a part or a reshape: the index of its base at an index of
/// its result. Null for other operations, for parts at data, and for reshapes of open sizes.
AffineMap getElementMap(Operation *op);

/// The operands that are tensors of an access or a reshape, its sizes and offsets left out; all operands of other operations.
SmallVector<OpOperand *> getTensorOperands(Operation *op);

/// Gives upstream's operations on parts of tensors, and its reshapes, the interfaces. A pass that asks it says so in its
/// `getDependentDialects`.
void registerSubsetAccessModels(DialectRegistry &registry);

} // namespace ft
} // namespace mlir

#endif // FT_INTERFACES_SUBSETACCESS_H
