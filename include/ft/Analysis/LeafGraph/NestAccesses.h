//===- NestAccesses.h - what emitters ask of a nest -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accesses of a nest's members, each once, its reductions, and what the bodies
// of reductions allow: the same for every target.
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_LEAFGRAPH_NESTACCESSES_H
#define FT_ANALYSIS_LEAFGRAPH_NESTACCESSES_H

#include "ft/Analysis/LeafGraph/LeafGraph.h"

namespace mlir::ft::leaf {

/// A view of a buffer that some members of a nest read or write.
struct NestAccess {
  ElementView view;
  bool written = false; // by a member of the nest
};

/// The number of the access through `view`, or -1.
template <typename Access>
int findAccess(ArrayRef<Access> accesses, const ElementView &view) {
  for (auto [i, access] : llvm::enumerate(accesses))
    if (access.view == view)
      return i;
  return -1;
}
template <typename Access>
int findAccess(const SmallVector<Access> &accesses, const ElementView &view) {
  return findAccess(ArrayRef<Access>(accesses), view);
}

/// Calls `access(view, written)` for what each member reads, begins its sums with, and writes.
void forEachAccess(const Nest &nest, llvm::function_ref<void(const ElementView &, bool)> access);

/// The accesses of a nest, in the order of its members; a view that several of them use is one.
/// `Access` is a NestAccess, with what an emitter adds to it.
template <typename Access>
void collectAccesses(const Nest &nest, SmallVectorImpl<Access> &accesses) {
  forEachAccess(nest, [&](const ElementView &view, bool written) {
    int known = findAccess(ArrayRef<Access>(accesses), view);
    if (known < 0) {
      known = accesses.size();
      accesses.emplace_back();
      accesses.back().view = view;
    }
    accesses[known].written |= written;
  });
}

/// Each result that a member accumulates: the member and the result's number.
SmallVector<std::pair<NestMember *, unsigned>> getReductions(Nest &nest);

/// Lets a sum, a difference or a product be part of a fused multiply-add. Bodies of reductions may
/// use them; elementwise operations stay as written.
void allowContraction(Operation *op);

} // namespace mlir::ft::leaf

#endif // FT_ANALYSIS_LEAFGRAPH_NESTACCESSES_H
