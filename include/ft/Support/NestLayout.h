//===- NestLayout.h - attributes that lay out a loop nest -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What says how the threads of a block share one loop nest of a leaf, whichever
// dialect it is of: such an attribute may stand in a leaf's `etdg.layouts`; and
// what says all that they compute of it, in the `nests` of a `loops.leaf`.
//
//===----------------------------------------------------------------------===//
#ifndef FT_SUPPORT_NESTLAYOUT_H
#define FT_SUPPORT_NESTLAYOUT_H

#include "mlir/IR/Attributes.h"

namespace mlir::ft {

template <typename ConcreteAttr>
class NestLayoutTrait : public AttributeTrait::TraitBase<ConcreteAttr, NestLayoutTrait> {};

/// Of an attribute that alone lays out all loop nests of a leaf.
template <typename ConcreteAttr>
class LeafLayoutTrait : public AttributeTrait::TraitBase<ConcreteAttr, LeafLayoutTrait> {};

template <typename ConcreteAttr>
class NestPointsTrait : public AttributeTrait::TraitBase<ConcreteAttr, NestPointsTrait> {};

} // namespace mlir::ft

#endif // FT_SUPPORT_NESTLAYOUT_H
