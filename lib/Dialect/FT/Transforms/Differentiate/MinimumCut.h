//===- MinimumCut.h - minimum cuts of networks ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_MINIMUMCUT_H
#define LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_MINIMUMCUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace mlir::ft::differentiate {

/// A network with a source and a sink, whose minimum cut is found by augmenting shortest paths (Edmonds and Karp, 1972).
class MinimumCut {
public:
  /// The capacity of an edge that no cut may have.
  static constexpr int64_t infinite = std::numeric_limits<int64_t>::max() / 4;
  static constexpr unsigned source = 0, sink = 1;

  MinimumCut() : edges(2) {}
  unsigned addNode() {
    edges.emplace_back();
    return edges.size() - 1;
  }
  void addEdge(unsigned from, unsigned to, int64_t capacity);
  /// For each node, whether it is on the source's side. Of several minimum cuts, the one whose side is the smallest.
  std::vector<bool> solve();

private:
  struct Edge {
    unsigned to;
    int64_t capacity;
    unsigned back; // its number among the edges of `to`
  };
  /// The edge by which each node is reached from the source; `reached` says of which there is one.
  std::vector<bool> search(llvm::SmallVectorImpl<std::pair<unsigned, unsigned>> &by);

  std::vector<llvm::SmallVector<Edge, 4>> edges;
};

} // namespace mlir::ft::differentiate

#endif // LIB_FT_DIALECT_FT_TRANSFORMS_DIFFERENTIATE_MINIMUMCUT_H
