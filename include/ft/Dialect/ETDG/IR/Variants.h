//===- Variants.h - graphs in which a choice is made ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is asked of a graph with `etdg.variants` is asked of copies in which one
// region of each stands in its place.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_IR_VARIANTS_H
#define FT_DIALECT_ETDG_IR_VARIANTS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::etdg {

/// `chooseVariants` with a choice for each; `mapping` gets what became of the graph's values.
OwningOpRef<GraphOp> chooseVariants(GraphOp graph, llvm::function_ref<unsigned(VariantsOp)> choice, IRMapping &mapping);

/// Asks something of the graph with every choice that meets each region at least once, until it fails.
LogicalResult forEachChoice(GraphOp graph, llvm::function_ref<LogicalResult(GraphOp)> ask);

/// Asks of the graph with one choice in all variants, for each choice (of fewer regions the last one). `mapping` has what became of the graph's
/// operations and values where a copy is asked.
void forEachUniformChoice(GraphOp graph, llvm::function_ref<void(unsigned choice, GraphOp chosen, const IRMapping &mapping)> ask);
/// Whether the operation is in the graph with that choice.
bool isChosen(Operation *op, unsigned choice);

/// The guard that holds where both do, of which either may be missing: `<[N] below 132>` and `<[L] below 64>` are
/// `<[N] below 132 and [L] below 64>`.
GuardAttr conjoinGuards(GuardAttr a, GuardAttr b);

/// A variant with variants inside as variants without, in the order in which their guards are asked: each gets the guard of the
/// variant and its own. `guards` and `regions` get them; the last one has no guard where `guard` is null.
void flattenVariant(std::unique_ptr<Region> region, GuardAttr guard, SmallVectorImpl<Attribute> &guards,
                    std::vector<std::unique_ptr<Region>> &regions);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_IR_VARIANTS_H
