//===- NamedReads.h - reads that schedules name by number -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_ETDG_TRANSFORMS_NAMEDREADS_H
#define FT_DIALECT_ETDG_TRANSFORMS_NAMEDREADS_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// Whether a schedule of the graph stages reads. A placement names its read by the number that it has in the block as it is given:
/// passes that take blocks apart, merge them or write reads anew leave such a graph as it is, with a remark of theirs.
bool namesReads(GraphOp graph, StringRef pass);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_NAMEDREADS_H
