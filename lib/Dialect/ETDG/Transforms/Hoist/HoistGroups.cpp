//===- HoistGroups.cpp - values that several leaves share -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HoistInvariants.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::hoist;

/// Leaves with the fewest fixed dimensions first: their maps hold for the others, too. Those in
/// which nothing repeats join them.
static SmallVector<unsigned> orderByPins(ArrayRef<Repeat> repeats, CommonNames &names) {
  llvm::DenseMap<Operation *, unsigned> numPins;
  for (const Repeat &repeat : repeats) {
    auto [it, isNew] = numPins.try_emplace(repeat.leaf);
    if (isNew)
      it->second = llvm::count_if(getPins(repeat.leaf, names),
                                  [](AffineExpr e) { return !isa<AffineDimExpr>(e); });
  }
  SmallVector<std::tuple<bool, unsigned, unsigned>> order;
  for (auto [i, repeat] : llvm::enumerate(repeats))
    order.push_back({repeat.follows, numPins.lookup(repeat.leaf), i});
  llvm::sort(order);
  return llvm::map_to_vector(order, [](auto &entry) { return std::get<2>(entry); });
}

/// Whether the value of a group is that of `repeat`, and is there before the first of the readers.
static bool joins(const HoistGroup &group, const Repeat &repeat, CommonNames &names) {
  for (const Repeat &member : group.members) {
    if (member.leaf == repeat.leaf)
      return false;
    if (repeat.writer && member.item != repeat.item && !repeat.writer->isBeforeInBlock(member.item))
      return false;
    if (member.writer && member.item != repeat.item && !member.writer->isBeforeInBlock(repeat.item))
      return false;
  }
  return isSame(group.members.front(), repeat, names);
}

/// The first buffer that it reads: what surely agrees where values do.
static Value getFirstSource(const Repeat &repeat) {
  BlockOp leaf = repeat.leaf;
  for (unsigned read : repeat.reads)
    for (PieceAttr piece : leaf.getRead(read).getPieces())
      if (piece.getKind() == SourceKind::Buffer)
        return leaf.getBuffers()[piece.getOperand()];
  return {};
}

SmallVector<HoistGroup> hoist::collectGroups(ArrayRef<BlockOp> leaves, CandidateFinder &finder, CommonNames &names) {
  SmallVector<Repeat> repeats;
  for (BlockOp leaf : leaves)
    llvm::append_range(repeats, finder.find(leaf));
  // (Few in a bucket are no partners.)
  llvm::MapVector<Value, SmallVector<HoistGroup>> buckets;
  for (unsigned number : orderByPins(repeats, names)) {
    Repeat &repeat = repeats[number];
    SmallVector<HoistGroup> &groups = buckets[getFirstSource(repeat)];
    auto *it = llvm::find_if(groups, [&](HoistGroup &group) { return joins(group, repeat, names); });
    if (it == groups.end() && !repeat.follows)
      groups.push_back({{std::move(repeat)}});
    else if (it != groups.end())
      it->members.push_back(std::move(repeat));
  }
  SmallVector<std::tuple<unsigned, int, unsigned, HoistGroup *>> sorted;
  for (auto &[source, groups] : buckets)
    for (HoistGroup &group : groups) {
      const Repeat &first = group.members.front();
      sorted.push_back({first.dims.count(), -static_cast<int>(first.ops.size()),
                        static_cast<unsigned>(sorted.size()), &group});
    }
  llvm::sort(sorted);
  SmallVector<HoistGroup> all;
  for (auto &[dims, size, number, group] : sorted)
    all.push_back(std::move(*group));
  return all;
}
