//===- MergeBuffers.cpp - buffers that become private ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After a merge a plane often lives in one iteration of the merged block: its
// buffer moves inside and loses the dimensions that name the iteration.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/BufferIndices.h"
#include "ft/Dialect/ETDG/Transforms/MergeCoordinates.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::etdg;

void etdg::replaceBuffer(Value buffer, Value replacement, llvm::function_ref<AffineMap(AffineMap)> mapOf,
                         llvm::function_ref<int64_t(int64_t)> positionOf) {
  llvm::SetVector<Operation *> users(buffer.user_begin(), buffer.user_end());
  for (Operation *user : users) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block)
      continue;
    BlockBuilder b = BlockBuilder::from(block);
    auto isOurs = [&](int64_t operand) { return operand >= 0 && b.buffers[operand] == buffer; };
    auto change = [&](ReadAttr read) {
      return transformRead(
          read, [&](AffineMap map, int64_t operand) { return isOurs(operand) ? mapOf(map) : map; },
          [](IntegerSet set) { return set; }, [](int64_t operand) { return operand; },
          [&](int64_t operand, int64_t position) { return isOurs(operand) ? positionOf(position) : position; });
    };
    for (ReadAttr &read : b.reads)
      read = change(read);
    for (ReadAttr &read : b.identity)
      read = change(read);
    for (WriteAttr &write : b.writes)
      if (isOurs(write.getOperand()))
        write = WriteAttr::get(write.getContext(), write.getOperand(), AffineMapAttr::get(mapOf(write.getMap().getValue())));
    for (Value &operand : b.buffers)
      if (operand == buffer)
        operand = replacement;
    b.assign(block);
  }
}

void etdg::dropPositions(Value buffer, Value replacement, ArrayRef<unsigned> positions) {
  auto keptResults = [&](AffineMap map) {
    SmallVector<AffineExpr> results;
    for (auto [p, result] : llvm::enumerate(map.getResults()))
      if (!llvm::is_contained(positions, p))
        results.push_back(result);
    return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext());
  };
  replaceBuffer(buffer, replacement, keptResults, [&](int64_t position) {
    return position - llvm::count_if(positions, [&](unsigned p) { return static_cast<int64_t>(p) < position; });
  });
}

/// The index names the dimension alone, forwards or backwards: ±d + e over symbols.
static bool namesAlone(AffineExpr index, unsigned dim) {
  LinearForm form = LinearForm::of(index);
  bool found = false;
  for (auto [atom, coefficient] : form.terms) {
    if (isa<AffineSymbolExpr>(atom))
      continue;
    if (found || atom != getAffineDimExpr(dim, index.getContext()) ||
        (coefficient != 1 && coefficient != -1))
      return false;
    found = true;
  }
  return found;
}

/// Positions that name the iterations between the buffer's owner and a block
/// that `owners` are or become, with `numDims` dimensions in its iteration vector.
static FailureOr<SmallVector<unsigned>> getOwnPositions(Value buffer, ArrayRef<Coordinates> owners,
                                                        unsigned numDims) {
  auto def = buffer.getDefiningOp<BufferOp>();
  auto isInside = [](const Coordinates &owner, Operation *op) {
    return BlockOp(owner.block)->isAncestor(op);
  };
  if (!def || llvm::any_of(owners, [&](const Coordinates &o) { return isInside(o, def); }))
    return failure();
  unsigned from = getNumOwnerDims(buffer);
  unsigned depth = cast<BufferType>(buffer.getType()).getDepth();
  // Per dimension, the positions that all accesses index by it alone, and all alike.
  SmallVector<llvm::SmallBitVector> candidates(numDims - std::min(numDims, from),
                                               llvm::SmallBitVector(depth, true));
  SmallVector<AffineExpr> indices(depth);
  SmallVector<StringAttr> names;
  llvm::SetVector<Operation *> users(buffer.user_begin(), buffer.user_end());
  for (Operation *user : users) {
    auto block = dyn_cast<BlockOp>(user);
    if (!block || !block.isLeaf())
      return failure();
    const Coordinates *owner =
        llvm::find_if(owners, [&](const Coordinates &o) { return isInside(o, block); });
    if (owner == owners.end())
      return failure();
    bool isIdentity = owner->isIdentity();
    for (Access &access : getAccesses(block)) {
      if (access.buffer != buffer)
        continue;
      // Identities are read where a dimension is cut.
      if (access.kind == Access::Identity)
        return failure();
      SmallVector<StringAttr> symbols = block.getSymbolNames();
      AffineMap map = access.map;
      if (!isIdentity || map.getNumSymbols())
        map = owner->translate(map, symbols, names);
      for (unsigned p = 0; p < depth; ++p) {
        AffineExpr index = map.getResult(p);
        bool alike = !access.getGather(p) && (!indices[p] || indices[p] == index);
        indices[p] = index;
        for (auto [i, positions] : llvm::enumerate(candidates))
          if (!alike || !namesAlone(index, from + i))
            positions.reset(p);
      }
    }
  }
  SmallVector<unsigned> found;
  for (llvm::SmallBitVector &positions : candidates) {
    int p = positions.find_first();
    if (p < 0)
      return failure();
    found.push_back(p);
  }
  return found;
}

static SmallVector<Coordinates> asTheyStand(ArrayRef<BlockOp> blocks) {
  SmallVector<Coordinates> all;
  for (BlockOp block : blocks)
    all.emplace_back(block);
  return all;
}

static BufferType dropLengths(BufferType type, ArrayRef<unsigned> positions) {
  SmallVector<ft::LengthAttr> lengths;
  for (auto [p, length] : llvm::enumerate(type.getLengths()))
    if (!llvm::is_contained(positions, p))
      lengths.push_back(length);
  return BufferType::get(type.getContext(), lengths, type.getElement());
}

BufferType etdg::getPrivateType(Value buffer, ArrayRef<BlockOp> owners, unsigned numDims) {
  return getPrivateType(buffer, asTheyStand(owners), numDims);
}

BufferType etdg::getPrivateType(Value buffer, ArrayRef<Coordinates> owners, unsigned numDims) {
  FailureOr<SmallVector<unsigned>> positions = getOwnPositions(buffer, owners, numDims);
  if (failed(positions))
    return {};
  return dropLengths(cast<BufferType>(buffer.getType()), *positions);
}

Value etdg::makePrivate(Value buffer, BlockOp owner) {
  FailureOr<SmallVector<unsigned>> positions =
      getOwnPositions(buffer, Coordinates(owner), owner.getNumDims());
  if (failed(positions))
    return {};
  auto def = buffer.getDefiningOp<BufferOp>();
  DenseI64ArrayAttr live;
  if (std::optional<ArrayRef<int64_t>> old = def.getLive()) {
    SmallVector<int64_t> kept;
    for (auto [p, planes] : llvm::enumerate(*old))
      if (!llvm::is_contained(*positions, p))
        kept.push_back(planes);
    if (!kept.empty())
      live = DenseI64ArrayAttr::get(buffer.getContext(), kept);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&owner.getBody().front());
  auto replacement =
      BufferOp::create(builder, def.getLoc(), dropLengths(def.getResult().getType(), *positions),
                       live, def.getNameHintAttr());
  replacement->setDiscardableAttrs(def->getDiscardableAttrDictionary());
  dropPositions(buffer, replacement.getResult(), *positions);
  def.erase();
  return replacement.getResult();
}

//===----------------------------------------------------------------------===//
// What nothing reads
//===----------------------------------------------------------------------===//

/// Drops a leaf's writes to a buffer, then what its body has only for them. Adds
/// buffers that may be read no more to `work`, and takes out those that are gone.
static void dropWrites(BlockOp leaf, Value buffer, llvm::SetVector<Value> &work) {
  SmallVector<WriteAttr> writes;
  SmallVector<Value> yields;
  for (auto [i, write] : llvm::enumerate(leaf.getWrites().getAsRange<WriteAttr>()))
    if (leaf.getBuffers()[write.getOperand()] != buffer) {
      writes.push_back(write);
      yields.push_back(leaf.getYield().getOperand(i));
    }
  auto touch = [&](BlockOp block) {
    for (Value used : block.getBuffers())
      if (used != buffer && used.getDefiningOp<BufferOp>())
        work.insert(used);
  };
  touch(leaf);
  if (writes.empty()) {
    // With it go blocks that hold nothing else.
    Operation *gone = leaf;
    for (;;) {
      Operation *parent = gone->getParentOp();
      bool alone = isa<BlockOp, NestOp>(parent);
      for (Operation &op : *gone->getBlock())
        alone &= &op == gone || !isa<BlockOp, NestOp, KernelOp>(op);
      if (!alone)
        break;
      gone = parent;
    }
    gone->walk(touch);
    gone->walk([&](BufferOp inner) { work.remove(inner.getResult()); });
    gone->erase();
    return;
  }
  BlockBuilder b = BlockBuilder::from(leaf);
  b.writes = writes;
  leaf.getYield()->setOperands(yields);
  Block &body = leaf.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (int i = body.getNumArguments() - 1; i >= 0; --i)
    if (body.getArgument(i).use_empty()) {
      body.eraseArgument(i);
      b.reads.erase(b.reads.begin() + i);
    }
  b.assign(leaf);
}

void etdg::eraseDeadBuffers(GraphOp graph) {
  llvm::SetVector<Value> work;
  graph.walk([&](BufferOp buffer) { work.insert(buffer.getResult()); });
  while (!work.empty()) {
    Value buffer = work.pop_back_val();
    auto def = buffer.getDefiningOp<BufferOp>();
    if (!def)
      continue;
    bool dead = true;
    llvm::SetVector<Operation *> writers;
    for (Operation *user : buffer.getUsers()) {
      auto leaf = dyn_cast<BlockOp>(user);
      dead &= leaf && leaf.isLeaf() && llvm::none_of(getAccesses(leaf), [&](Access &access) {
                return !access.isWrite() && access.buffer == buffer;
              });
      writers.insert(user);
    }
    if (!dead)
      continue;
    // The buffer goes with the last block around it, or by itself.
    work.insert(buffer);
    for (Operation *writer : writers)
      dropWrites(cast<BlockOp>(writer), buffer, work);
    if (work.remove(buffer))
      def.erase();
  }
  eraseEmptyBlocks(graph);
}

void etdg::eraseEmptyBlocks(GraphOp graph) {
  graph.walk([](Operation *op) {
    auto holdsItems = [](Region &body) {
      return llvm::any_of(body.front(),
                          [](Operation &inner) { return isa<BlockOp, NestOp, KernelOp>(inner); });
    };
    auto block = dyn_cast<BlockOp>(op);
    if (block ? !block.isLeaf() && !holdsItems(block.getBody())
              : isa<NestOp, KernelOp>(op) && !holdsItems(op->getRegion(0)))
      op->erase();
    else if (isa<VariantsOp>(op) && llvm::none_of(op->getRegions(), holdsItems))
      op->erase(); // they write the same: nothing wants it of any
  });
}
