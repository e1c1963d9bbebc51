//===- ReorderParts.cpp - which items of a body need each other -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop distribution: what no earlier item needs in a later iteration may run after
// all iterations, what needs no other item before them. Items that need each other
// (strongly connected components of who reads what whom writes) stay together.
// With single assignment flow is all there is, and a buffer is looked at as a whole:
// a coarser question than which elements, and one that can only keep more together.
//
//===----------------------------------------------------------------------===//
#include "ReorderSplit.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::reorder;

namespace {
/// The items of all regions of a site, and which of them are one in each region.
class PartFinder {
public:
  explicit PartFinder(Operation *site);
  SmallVector<SitePart> find();

private:
  struct Node {
    Operation *item;
    unsigned parent, position;
    llvm::SmallSetVector<Value, 4> reads, writes;
  };
  void collectAccesses(Node &node);
  /// Items that are the same statement in several regions of the nest, as numbers of classes.
  void formClasses(bool isUniform);
  void visit(unsigned c);

  SmallVector<Node> nodes;
  SmallVector<SmallVector<unsigned>> classes; // nodes of each, in textual order
  // Tarjan's algorithm over the classes.
  SmallVector<SmallVector<unsigned>> successors;
  SmallVector<unsigned> number, low, stack, component;
  unsigned next = 1;
  SmallVector<SmallVector<unsigned>> components;
};
} // namespace

void PartFinder::collectAccesses(Node &node) {
  node.item->walk([&](BlockOp block) {
    if (!block.isLeaf())
      return;
    for (ArrayAttr reads : {block.getReads(), block.getIdentity()})
      for (ReadAttr read : reads.getAsRange<ReadAttr>())
        for (PieceAttr piece : read.getPieces()) {
          if (piece.getKind() == SourceKind::Buffer)
            node.reads.insert(block.getBuffers()[piece.getOperand()]);
          for (GatherAttr gather : piece.getGathers())
            node.reads.insert(block.getBuffers()[gather.getOperand()]);
        }
    for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>())
      node.writes.insert(block.getBuffers()[write.getOperand()]);
  });
}

PartFinder::PartFinder(Operation *site) {
  std::optional<size_t> count;
  bool isUniform = true;
  for (auto [parent, block] : llvm::enumerate(blocksOf(site))) {
    SmallVector<Operation *> items = getItems(block.getBody());
    isUniform &= !count || *count == items.size();
    count = items.size();
    for (auto [position, item] : llvm::enumerate(items)) {
      nodes.push_back({item, static_cast<unsigned>(parent), static_cast<unsigned>(position), {}, {}});
      collectAccesses(nodes.back());
    }
  }
  formClasses(isUniform);
}

void PartFinder::formClasses(bool isUniform) {
  llvm::EquivalenceClasses<unsigned> same;
  for (unsigned a = 0; a < nodes.size(); ++a) {
    same.insert(a);
    for (unsigned b = 0; b < a; ++b) {
      bool sharesWrite =
          llvm::any_of(nodes[a].writes, [&](Value v) { return nodes[b].writes.contains(v); });
      if (sharesWrite || (isUniform && nodes[a].position == nodes[b].position))
        same.unionSets(a, b);
    }
  }
  llvm::DenseMap<unsigned, unsigned> classOf;
  for (unsigned n = 0; n < nodes.size(); ++n) {
    auto [it, isNew] = classOf.try_emplace(same.getLeaderValue(n), classes.size());
    if (isNew)
      classes.emplace_back();
    classes[it->second].push_back(n);
  }
  successors.resize(classes.size());
  auto needs = [&](unsigned sink, unsigned source) {
    for (unsigned a : classes[sink])
      for (unsigned b : classes[source])
        if (llvm::any_of(nodes[a].reads, [&](Value v) { return nodes[b].writes.contains(v); }))
          return true;
    return false;
  };
  // From what is needed by to who needs it would find components in reverse order.
  for (unsigned sink = 0; sink < classes.size(); ++sink)
    for (unsigned source = 0; source < classes.size(); ++source)
      if (sink != source && needs(sink, source))
        successors[sink].push_back(source);
}

/// Components come out after everything that they need: an order that they may run in.
void PartFinder::visit(unsigned c) {
  number[c] = low[c] = next++;
  stack.push_back(c);
  for (unsigned s : successors[c]) {
    if (number[s] == 0) {
      visit(s);
      low[c] = std::min(low[c], low[s]);
    } else if (component[s] == 0) {
      low[c] = std::min(low[c], number[s]);
    }
  }
  if (low[c] != number[c])
    return;
  SmallVector<unsigned> &members = components.emplace_back();
  unsigned top;
  do {
    top = stack.pop_back_val();
    component[top] = components.size();
    members.push_back(top);
  } while (top != c);
  llvm::sort(members);
}

SmallVector<SitePart> PartFinder::find() {
  number.assign(classes.size(), 0);
  low.assign(classes.size(), 0);
  component.assign(classes.size(), 0);
  // Classes are numbered in textual order, which decides where nothing else does.
  for (unsigned c = 0; c < classes.size(); ++c)
    if (number[c] == 0)
      visit(c);
  SmallVector<SitePart> parts;
  for (ArrayRef<unsigned> members : components) {
    SitePart &part = parts.emplace_back();
    SmallVector<const Node *> own;
    for (unsigned c : members)
      for (unsigned n : classes[c])
        own.push_back(&nodes[n]);
    llvm::sort(own, [](const Node *a, const Node *b) {
      return std::tie(a->parent, a->position) < std::tie(b->parent, b->position);
    });
    unsigned parent = 0, number = 0;
    for (const Node *node : own) {
      number = part.items.empty() || node->parent != parent ? 0 : number + 1;
      parent = node->parent;
      part.items.push_back({node->item, parent, number});
      part.isNumbered |= number > 0;
    }
  }
  return parts;
}

SmallVector<SitePart> reorder::findParts(Operation *site) { return PartFinder(site).find(); }
