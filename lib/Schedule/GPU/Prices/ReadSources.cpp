//===- ReadSources.cpp - from which memory leaves read --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/GPU/Prices/ReadSources.h"

#include "ft/Schedule/Analysis/Dimensions.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

static bool movesWith(etdg::PieceAttr piece, const llvm::SmallBitVector &dims) {
  return llvm::any_of(dims.set_bits(), [&](unsigned d) { return piece.getMap().getValue().isFunctionOfDim(d); });
}

static Operation *blockAround(Value buffer) {
  Operation *definition = buffer.getDefiningOp();
  return definition && isa<BlockOp>(definition->getParentOp()) ? definition->getParentOp() : nullptr;
}

static bool writes(BlockOp leaf, Value buffer) {
  for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
    if (leaf.getBuffers()[leaf.getWrite(i).getOperand()] == buffer)
      return true;
  return false;
}

/// Whether a leaf reads another plane of a buffer in each iteration of loops inside of the block that has it.
static bool readsPlanes(BlockOp leaf, Value buffer, BlockOp around) {
  for (unsigned i = 0; i < leaf.getNumReads(); ++i)
    for (etdg::PieceAttr piece : leaf.getRead(i).getPieces())
      if (piece.getKind() == etdg::SourceKind::Buffer && leaf.getBuffers()[piece.getOperand()] == buffer)
        for (unsigned d = around.getNumDims(); d < leaf.getNumDims(); ++d)
          if (piece.getMap().getValue().isFunctionOfDim(d))
            return true;
  return false;
}

/// Whether whatever goes along the planes of a buffer writes it, or stands in a nest with what does, so that few of them live at a time.
static bool hasFewPlanes(Value buffer) {
  auto around = cast<BlockOp>(buffer.getDefiningOp()->getParentOp());
  llvm::SmallPtrSet<Operation *, 4> writers;
  auto nestOf = [](BlockOp leaf) -> Operation * {
    auto nest = leaf->getParentOfType<etdg::NestOp>();
    return nest ? nest.getOperation() : leaf.getOperation();
  };
  for (Operation *user : buffer.getUsers())
    if (auto leaf = dyn_cast<BlockOp>(user); leaf && writes(leaf, buffer))
      writers.insert(nestOf(leaf));
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    auto leaf = dyn_cast<BlockOp>(user);
    return !leaf || writers.contains(nestOf(leaf)) || !readsPlanes(leaf, buffer, around);
  });
}

/// Where storage will have a private buffer: of one whose size is the call's each thread block has a part of the workspace.
static bool isInShared(Value buffer) {
  return cast<etdg::BufferType>(buffer.getType()).getLengths().empty() || hasFewPlanes(buffer);
}

/// Bytes that pass between an element's write and its read: those of the loops that a kernel's nests share are there one after the other.
static double bytesBetween(BlockOp leaf, etdg::PieceAttr piece, const ReadPlace &place, TypicalRanges &ranges) {
  Value buffer = leaf.getBuffers()[piece.getOperand()];
  double bytes = ranges.bytesTypically(cast<etdg::BufferType>(buffer.getType()));
  // Of the workspace a task goes through all before it reads the first.
  if (Operation *around = blockAround(buffer))
    return workspaceBytesOf(cast<BlockOp>(around), ranges) * place.tasks * place.rows;
  auto kernel = leaf->getParentOfType<etdg::KernelOp>();
  SmallVector<std::optional<int64_t>> unknown(leaf.getNumDims());
  for (unsigned d = 0; kernel && d < kernel.getShared() && d < leaf.getNumDims(); ++d)
    if (piece.getMap().getValue().isFunctionOfDim(d))
      bytes /= std::max(1.0, double(ranges.rangeOf({leaf}, d, unknown).size()));
  return bytes;
}

static Source sourceOfPiece(BlockOp leaf, etdg::PieceAttr piece, const ReadPlace &place, TypicalRanges &ranges, const Machine &machine) {
  Value buffer = leaf.getBuffers()[piece.getOperand()];
  bool isPrivate = blockAround(buffer) != nullptr;
  if (isPrivate && isInShared(buffer))
    return Source::Shared;
  bool moves = movesWith(piece, place.inTask);
  if (isPrivate ? place.keepsTask : !moves && place.inTask.any() && place.fitsNear)
    return Source::Near;
  const Machine::Level *cache = machine.findLevel("l2");
  bool isLarge = cache && double(machine.kernels.cacheParts) * bytesBetween(leaf, piece, place, ranges) > double(cache->bytes);
  if (isPrivate || !isa<BlockArgument>(buffer))
    return isLarge ? Source::Device : Source::Common;
  // An argument's element is met for the first time where the iteration is part of its place, and no other task reads the same.
  bool isShared = llvm::any_of(place.dealt.set_bits(), [&](unsigned d) { return !piece.getMap().getValue().isFunctionOfDim(d); });
  return !isShared && (moves || movesWith(piece, place.inSteps)) ? Source::Device : Source::Common;
}

Source schedule::sourceOf(BlockOp leaf, unsigned read, const ReadPlace &place, TypicalRanges &ranges, const Machine &machine) {
  Source farthest = Source::Shared;
  for (etdg::PieceAttr piece : leaf.getRead(read).getPieces())
    if (piece.getKind() == etdg::SourceKind::Buffer)
      farthest = std::max(farthest, sourceOfPiece(leaf, piece, place, ranges, machine));
  return place.isStaged ? Source::Shared : farthest;
}

double schedule::repeatedBytes(BlockOp leaf, const ReadPlace &place) {
  double bytes = 0;
  for (unsigned i = 0; i < leaf.getNumReads(); ++i) {
    ArrayRef<etdg::PieceAttr> pieces = leaf.getRead(i).getPieces();
    bool isRepeated = llvm::any_of(pieces, [&](etdg::PieceAttr piece) {
      return piece.getKind() == etdg::SourceKind::Buffer && !movesWith(piece, place.inTask) && !blockAround(leaf.getBuffers()[piece.getOperand()]);
    });
    auto type = cast<RankedTensorType>(leaf.getBody().getArgument(i).getType());
    bytes += isRepeated ? double(type.getNumElements() * elementBytes(type.getElementType())) : 0;
  }
  return bytes;
}

double schedule::workspaceBytesOf(BlockOp block, TypicalRanges &ranges) {
  double bytes = 0;
  for (auto buffer : block.isLeaf() ? SmallVector<etdg::BufferOp>() : llvm::to_vector(block.getBody().getOps<etdg::BufferOp>()))
    bytes += isInShared(buffer.getResult()) ? 0 : ranges.bytesTypically(buffer.getType());
  return bytes;
}

double schedule::passingBytes(BlockOp leaf, const ReadPlace &place, TypicalRanges &ranges) {
  SmallVector<std::optional<int64_t>> unknown(leaf.getNumDims());
  double bytes = 0;
  for (unsigned i = 0; i < leaf.getNumReads(); ++i)
    for (etdg::PieceAttr piece : leaf.getRead(i).getPieces()) {
      if (piece.getKind() != etdg::SourceKind::Buffer || blockAround(leaf.getBuffers()[piece.getOperand()]) || !movesWith(piece, place.inTask))
        continue;
      double times = double(bytesOf(cast<RankedTensorType>(leaf.getBody().getArgument(i).getType())));
      for (unsigned d : place.inTask.set_bits())
        if (piece.getMap().getValue().isFunctionOfDim(d))
          times *= std::max(1.0, double(ranges.rangeOf({leaf}, d, unknown).size()));
      bytes += times;
      break;
    }
  return bytes;
}

double schedule::sharedBytesOf(BlockOp block, double rows) {
  double bytes = 0;
  block.getBody().walk([&](etdg::BufferOp buffer) {
    // Of what iterations leave each other there are the old plane and the new one.
    double planes = buffer.getType().getLengths().empty() ? 1 : 2;
    if (isInShared(buffer.getResult()))
      bytes += planes * double(bytesOf(buffer.getType().getElement())) * rows;
  });
  return bytes;
}

double schedule::latencyOf(Source source, const Machine &machine) {
  auto seconds = [&](StringRef name) {
    const Machine::Level *level = machine.findLevel(name);
    return level ? level->latencySeconds : 0;
  };
  switch (source) {
  case Source::Shared:
  case Source::Near:
    return seconds("shared");
  case Source::Common:
    return seconds("l2");
  case Source::Device:
    return std::max(seconds("device"), seconds("l2"));
  }
  llvm_unreachable("a source without a memory");
}
