//===- SubsetAccess.h - reads and writes of a part of a tensor --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef FT_INTERFACES_SUBSETACCESS_H
#define FT_INTERFACES_SUBSETACCESS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallBitVector.h"

#include "ft/Interfaces/SubsetAccess.h.inc"

namespace mlir {
class DialectRegistry;
namespace ft {

/// Gives upstream's operations on parts of tensors the interface. A pass that asks it says so in its
/// `getDependentDialects`.
void registerSubsetAccessModels(DialectRegistry &registry);

} // namespace ft
} // namespace mlir

#endif // FT_INTERFACES_SUBSETACCESS_H
