//===- MergeBody.h - the blocks of one body, merged -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MergeBlocks.cpp decides and merges, MergeTiles.cpp whether units have tiles then; MergeBody.cpp answers what stands between two
// items, and writes remarks.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_MERGEBODY_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_MERGEBODY_H

#include "ft/Dialect/ETDG/Transforms/MergeLegality.h"
#include "ft/Dialect/ETDG/Transforms/ProductMerges.h"
#include "ft/Machine/Machine.h"

namespace mlir::etdg {

/// One body of blocks. Items are its blocks and nests; each has a number, and
/// numbers grow in textual order.
class BodyMerger {
public:
  /// `products`: which merges of products to leave out, and a list of those that are made; null: all are made.
  BodyMerger(Block &body, MergeLegality &legality, const ft::Machine &machine, bool horizontal, bool vertical, ProductMerges *products = nullptr)
      : body(body), legality(legality), machine(machine), horizontal(horizontal), vertical(vertical), products(products) {}

  /// Sweeps until nothing merges, a few times at most. Returns the number of merges.
  unsigned run();

private:
  unsigned sweep();
  void collect();
  Operation *itemOf(Operation *op) { return body.findAncestorOpInBlock(*op); }

  /// A scan among the dimensions after the first `k` or in a block inside. The code that
  /// merges such a block takes it out of the nest that `reorder` could make of it.
  std::optional<std::string> findScanInside(const Coordinates &block, unsigned k);

  /// Items that write what an item reads, the last one first.
  SmallVector<Operation *> getProducers(Operation *item);
  /// Whether an item strictly between reads what `item` writes.
  bool isReadBetween(Operation *item, Operation *last);
  /// Whether planes that take each other's place would change hands in another order.
  bool hasLivePlanesBetween(Operation *item, Operation *first, Operation *last);
  /// Whether `b` can stand at `a`, or `a` at `b`; moves it there.
  bool bringTogether(Operation *a, Operation *b);

  /// Tries the dimensions as they stand, then coordinates that the index maps name.
  BlockOp mergeVertically(BlockOp a, BlockOp b, MergeRefusal &refusal);
  bool narrowsWell(const Alignment &aligned, unsigned k, MergeRefusal &refusal);
  BlockOp join(const Alignment &aligned, unsigned k, const OuterDomain &outer, ArrayRef<Value> saved);
  BlockOp mergeAligned(const Alignment &aligned, ArrayRef<Flow> flows, MergeRefusal &refusal);
  /// Whether two blocks with different domains are one at little cost.
  bool isWorthGuards(const Alignment &aligned, const OuterDomain &outer, unsigned k,
                     MergeRefusal &refusal);
  /// Whether a product may move in with one that reads what it computes: all units have tiles then, or had none before.
  bool leavesTiles(const Alignment &aligned, ArrayRef<Flow> flows, const OuterDomain &outer, unsigned k, MergeRefusal &refusal);
  bool keepsTiles(const Alignment &aligned, ArrayRef<Flow> flows, unsigned k, MergeRefusal &refusal);
  /// Whether aligned dimensions are more than one iteration, of which nothing would become smaller.
  bool makesSmaller(const Alignment &aligned, const OuterDomain &outer, unsigned k, MergeRefusal &refusal);
  /// The two blocks and all others that read the buffer, each in coordinates that go with
  /// those of the first; nothing where one does not go along.
  SmallVector<Coordinates> getGroup(const Alignment &aligned, unsigned k, Value buffer);
  Operation *mergeHorizontally(Operation *a, Operation *b, MergeRefusal &refusal);
  /// Why a nest and a block around it stay two.
  MergeRefusal refuseNest(Operation *a, Operation *b);
  void explainMerge(BlockOp merged, StringRef kind, StringRef first, StringRef second, unsigned k,
                    ft::LengthAttr before = {}, ft::LengthAttr left = {}, StringRef how = "");
  /// How the dimensions lie that do not stand alike, and which iterations there are.
  std::string describeCoordinates(const Alignment &aligned, const MergedDomain &united, unsigned k);
  void explainRefusal(StringRef kind, BlockOp a, BlockOp b, const MergeRefusal &refusal);
  std::string keyOf(Operation *item);

  Block &body;
  MergeLegality &legality;
  const ft::Machine &machine;
  bool horizontal, vertical;
  ProductMerges *products;
  /// The names of the two blocks with products that are to be merged; empty: they are none.
  std::string nameOfProducts;
  llvm::DenseMap<Operation *, unsigned> number;
  llvm::DenseMap<Operation *, unsigned> weight; // leaves inside
  /// The dimension of a scan below an item, in words.
  llvm::DenseMap<Operation *, std::string> scans;
  SmallVector<Operation *> items;
  /// What the machine's numbers said of the two products that are merged, for the remark; empty: it was not asked.
  std::string tilesOfProducts;
  struct Refused {
    StringRef kind;
    BlockOp a, b;
    MergeRefusal refusal;
  };
  SmallVector<Refused> refused; // of the last sweep
};

/// Visits the accesses of all leaves inside an item.
void forEachAccess(Operation *item, llvm::function_ref<void(Access &)> visit);

} // namespace mlir::etdg

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_MERGEBODY_H
