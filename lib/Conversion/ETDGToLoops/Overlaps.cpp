//===- Overlaps.cpp - results of leaves in the memory of what they read ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two buffers are one memory where they have one slot, or where a call may give a result the memory of an argument (`etdg.in_place`). A leaf that
// reads one of them and writes the other says so, and the code that makes its code reads no more than that. Planes of one buffer are no question: an
// element is written before it is read, and a buffer has a plane more than are read.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toloops;

namespace {
/// Which buffers of a graph are one memory.
class SharedMemory {
public:
  explicit SharedMemory(etdg::GraphOp graph) : inPlace(etdg::getInPlaceArguments(graph)) {}
  bool contains(Value from, Value to) const {
    Attribute slot = bufferSlot(from);
    return from != to && ((slot && slot == bufferSlot(to)) || inPlace.lookup(to) == from);
  }

private:
  static Attribute bufferSlot(Value buffer) {
    auto declared = buffer.getDefiningOp<etdg::BufferOp>();
    return declared ? declared->getAttr(etdg::names::slot) : Attribute();
  }
  llvm::SmallMapVector<Value, Value, 4> inPlace;
};
} // namespace

static etdg::BufferOp declarationOf(Value buffer) { return buffer.getDefiningOp<etdg::BufferOp>(); }

/// Whether what a leaf reads of one memory is, element by element, what it writes.
static bool isSameElement(BlockOp leaf, unsigned read, etdg::PieceAttr piece, unsigned write) {
  etdg::ReadAttr all = leaf.getRead(read);
  Value from = leaf.getBuffers()[piece.getOperand()], to = leaf.getBuffers()[leaf.getWrite(write).getOperand()];
  if (all.getElementRank() != 0 || all.getPieces().size() != 1 || !piece.getGathers().empty() || from.getType() != to.getType() ||
      piece.getMap() != leaf.getWrite(write).getMap())
    return false;
  etdg::BufferOp a = declarationOf(from), b = declarationOf(to);
  return !a || !b || a.getLiveAttr() == b.getLiveAttr();
}

ArrayAttr Emitter::overlapsOf(ArrayRef<BlockOp> leaves) {
  SharedMemory shared(graph);
  BlockOp front = leaves.front();
  SmallVector<Attribute> overlaps;
  for (unsigned o = 0; o < front.getNumWrites(); ++o)
    for (unsigned i = 0; i < front.getNumReads(); ++i) {
      std::optional<loops::OverlapKind> kind;
      for (BlockOp reader : leaves)
        for (etdg::PieceAttr piece : reader.getRead(i).getPieces())
          for (BlockOp writer : leaves) {
            if (piece.getKind() != etdg::SourceKind::Buffer ||
                !shared.contains(reader.getBuffers()[piece.getOperand()], writer.getBuffers()[writer.getWrite(o).getOperand()]))
              continue;
            bool isSame = kind != loops::OverlapKind::Any && reader == writer && isSameElement(reader, i, piece, o);
            kind = isSame ? loops::OverlapKind::InPlace : loops::OverlapKind::Any;
          }
      if (kind)
        overlaps.push_back(loops::OverlapAttr::get(context, o, i, *kind));
    }
  return ArrayAttr::get(context, overlaps);
}
