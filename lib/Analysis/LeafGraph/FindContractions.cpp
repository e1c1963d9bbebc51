//===- FindContractions.cpp - Recognise products of matrices --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product is a nest `c += a * b` whose parallel loops are each missing in one
// operand (m: in b, n: in a) or in none (batch), and whose reduced loops are in
// both operands. It is told from the strides, so that slices, transposes and
// sliding windows count, whichever op they come from.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/LeafGraph/Contractions.h"

#include "RegisterTiles.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

/// `value` is an argument of the body, perhaps extended: which, and how.
static std::optional<unsigned> traceOperand(Value value, const NestMember &member, bool &isUnsigned) {
  if (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      return std::nullopt;
    isUnsigned = isa<arith::ExtUIOp>(op);
    value = op->getOperand(0);
  }
  auto found = llvm::find(member.arguments, value);
  if (found == member.arguments.end())
    return std::nullopt;
  return found - member.arguments.begin();
}

static bool matchBody(const NestMember &member, Contraction &result) {
  if (!member.body || member.accumulators.size() != 1 || member.yields.size() != 1 ||
      !member.captured.empty() || member.reads.empty() || member.reads.size() > 2)
    return false;
  Value accumulator = member.accumulators.front();
  if (isHalf(accumulator.getType()) && !member.sums) // a tile's sums are not rounded in between
    return false;
  Operation *sum = member.yields.front().getDefiningOp();
  if (!sum || !isa<arith::AddFOp, arith::AddIOp>(sum) || !accumulator.hasOneUse())
    return false;
  if (sum->getOperand(0) != accumulator && sum->getOperand(1) != accumulator)
    return false;
  Value product = sum->getOperand(sum->getOperand(0) == accumulator ? 1 : 0);
  Operation *mul = product.getDefiningOp();
  if (!mul || !isa<arith::MulFOp, arith::MulIOp>(mul))
    return false;
  std::optional<unsigned> lhs = traceOperand(mul->getOperand(0), member, result.lhsUnsigned);
  std::optional<unsigned> rhs = traceOperand(mul->getOperand(1), member, result.rhsUnsigned);
  if (!lhs || !rhs)
    return false;
  result.lhs = *lhs;
  result.rhs = *rhs;
  result.isFloat = isa<arith::MulFOp>(mul);
  return !accumulator.getType().isInteger(1) && !member.reads[*lhs].isSplat() &&
         !member.reads[*rhs].isSplat();
}

static bool classifyLoops(const Nest &nest, Contraction &result) {
  const NestMember &member = nest.members.front();
  const ElementView &a = member.reads[result.lhs], &b = member.reads[result.rhs];
  const ElementView &c = member.writes.front();
  for (int loop = 0; loop < int(nest.sizes.size()); ++loop) {
    bool inA = a.movesWith(loop), inB = b.movesWith(loop), inC = c.strides[loop] != 0;
    if (nest.sizes[loop] < 1 || inC == nest.reduced[loop])
      return false;
    if (nest.reduced[loop] && inA && inB)
      result.k.push_back(loop);
    else if (!nest.reduced[loop] && inA && inB)
      result.batch.push_back(loop);
    else if (!nest.reduced[loop] && inA)
      result.m.push_back(loop);
    else if (!nest.reduced[loop] && inB)
      result.n.push_back(loop);
    else
      return false;
  }
  return !result.k.empty();
}

static int64_t product(const Nest &nest, ArrayRef<int> loops) {
  int64_t result = 1;
  for (int loop : loops)
    result *= nest.sizes[loop];
  return result;
}

static int unitLoop(const ElementView &view, ArrayRef<int> loops) {
  for (int loop : loops)
    if (view.strides[loop] == 1)
      return loop;
  return -1;
}

namespace {
/// Rearranges an operand into scratch before the product.
struct Packer {
  LeafGraph &graph;
  std::vector<Nest> &before;

  /// `order`: the loops of the operand, the last becomes contiguous.
  void pack(Nest &nest, int read, ArrayRef<int> order, Type elementType) {
    NestMember &member = nest.members.front();
    ElementView &view = member.reads[read];
    Nest copy;
    NestMember mover;
    mover.op = member.op;
    mover.copy = true;
    Buffer buffer;
    buffer.kind = Buffer::Kind::Scratch;
    buffer.elementType = elementType;
    buffer.batched = graph.isBatched(view);
    ElementView from = view, to, packed;
    for (int loop : order) {
      copy.sizes.push_back(nest.sizes[loop]);
      copy.reduced.push_back(false);
    }
    from.forEachStrides([&](SmallVectorImpl<int64_t> &strides) {
      SmallVector<int64_t> all(ArrayRef<int64_t>{strides});
      strides.clear();
      for (int loop : order)
        strides.push_back(all[loop]);
    });
    to.buffer = packed.buffer = graph.buffers.size();
    to.strides = rowMajorStrides(copy.sizes);
    buffer.numElements = product(nest, order);
    packed.strides.assign(nest.sizes.size(), 0);
    for (auto [loop, stride] : llvm::zip_equal(order, to.strides))
      packed.strides[loop] = stride;
    graph.buffers.push_back(buffer);
    copy.batched = buffer.batched;
    mover.reads.push_back(from);
    mover.writes.push_back(to);
    copy.members.push_back(std::move(mover));
    before.push_back(std::move(copy));
    view = packed;
  }
};
} // namespace

std::optional<Contraction> mlir::ft::leaf::matchContraction(const Nest &nest) {
  Contraction found;
  if (nest.members.size() != 1 || !matchBody(nest.members.front(), found) || !classifyLoops(nest, found))
    return std::nullopt;
  return found;
}

SmallVector<Contraction, 0> mlir::ft::leaf::matchContractions(const Nest &nest) {
  SmallVector<Contraction, 0> all;
  for (const NestMember &member : nest.members) {
    Nest alone;
    alone.sizes = nest.sizes;
    alone.reduced = nest.reduced;
    alone.members.push_back(member);
    std::optional<Contraction> found = matchContraction(alone);
    if (!found)
      return {};
    if (!all.empty() && found->m != all.front().m) {
      std::swap(found->m, found->n);
      std::swap(found->lhs, found->rhs);
      std::swap(found->lhsUnsigned, found->rhsUnsigned);
    }
    if (!all.empty() && (found->m != all.front().m || found->n != all.front().n || found->batch != all.front().batch))
      return {};
    all.push_back(std::move(*found));
  }
  return all;
}

/// Puts operands next to each other that the tile wants so, halves as f32.
static void packOperands(LeafGraph &graph, Nest &nest, const Contraction &found, std::vector<Nest> &before) {
  Packer packer{graph, before};
  auto pack = [&](int read, ArrayRef<int> own, ArrayRef<int> last) {
    Type type = graph.buffers[nest.members.front().reads[read].buffer].elementType;
    SmallVector<int> order(found.batch);
    llvm::append_range(order, own);
    llvm::append_range(order, found.k);
    llvm::append_range(order, last);
    packer.pack(nest, read, order, isHalf(type) ? Float32Type::get(type.getContext()) : type);
  };
  if (found.tile.packsLeft)
    pack(found.lhs, found.m, {});
  if (found.tile.packsRight)
    pack(found.rhs, ArrayRef<int>(found.n).drop_back(), found.n.back());
}

/// Makes the nest a product, with the tile that is given or else chosen, if it is one. Fails, after an error, where it can't have
/// the given one.
static LogicalResult tryContraction(LeafGraph &graph, Nest &nest, const CpuTarget *target, const RegisterTile *given,
                                    std::vector<Nest> &before) {
  Contraction found;
  NestMember &member = nest.members.front();
  if (nest.members.size() != 1 || !matchBody(member, found))
    return success();
  Nest collapsed = nest;
  collapseLoops(collapsed);
  const ElementView &c = collapsed.members.front().writes.front();
  if (!classifyLoops(collapsed, found))
    return success();
  // Vectors go along the loop that is contiguous in the result: call it n.
  int vectorLoop = unitLoop(c, found.n);
  if (vectorLoop < 0) {
    vectorLoop = unitLoop(c, found.m);
    if (vectorLoop < 0)
      return success();
    std::swap(found.m, found.n);
    std::swap(found.lhs, found.rhs);
    std::swap(found.lhsUnsigned, found.rhsUnsigned);
  }
  int64_t m = product(collapsed, found.m), k = product(collapsed, found.k), n = collapsed.sizes[vectorLoop];
  // Smaller ones have no use for registers of sums: their nests compute them, too.
  if (!given && (n < target->planning.leastColumns || (m * n * k < target->planning.leastWork && !nest.batched)))
    return success();
  llvm::erase(found.n, vectorLoop);
  found.n.push_back(vectorLoop);

  TiledProduct tiled{graph, collapsed, found, target};
  found.rowsAreM = tiled.joinsRows(given);
  found.tileLoop = given ? int(given->rowLoop) : tiled.chooseRowLoop();
  if (given && failed(tiled.check(*given)))
    return failure();
  found.tile = given ? *given : tiled.choose();
  if (found.tile.alongTerms) {
    int kLoop = tiled.termsLoop();
    llvm::erase(found.k, kLoop);
    found.k.push_back(kLoop);
  }
  packOperands(graph, collapsed, found, before);
  if (!given)
    tiled.chooseReads(found.tile);
  else if (failed(tiled.checkReads(found.tile)))
    return failure();
  if (found.tile.panel)
    found.panel = tiled.addPanel();
  nest = std::move(collapsed);
  nest.contraction = std::move(found);
  return success();
}

/// `given`, or else chosen for `target`.
static FailureOr<RegisterTiles> findContractions(LeafGraph &graph, const CpuTarget *target, const RegisterTiles *given) {
  if (given && given->size() < graph.nests.size())
    return graph.func.emitError("expected a layout for each of ") << graph.nests.size() << " loop nests, found " << given->size();
  std::vector<Nest> nests;
  RegisterTiles tiles;
  size_t packed = 0;
  for (auto [i, nest] : llvm::enumerate(graph.nests)) {
    std::vector<Nest> before;
    // (Who says how nests are computed says which of them are products, too.)
    const RegisterTile *own = given && (*given)[i] ? &*(*given)[i] : nullptr;
    if ((own || !given) && failed(tryContraction(graph, nest, target, own, before)))
      return failure();
    if (own && !nest.contraction)
      return nest.members.front().op->emitError("is no product of matrices that tiles in registers compute, loop nest ") << i;
    tiles.push_back(nest.contraction ? std::optional(nest.contraction->tile) : std::nullopt);
    for (Nest &copy : before) {
      copy.number = int(graph.nests.size() + packed++);
      nests.push_back(std::move(copy));
    }
    nests.push_back(std::move(nest));
  }
  tiles.resize(tiles.size() + packed);
  if (given && given->size() != tiles.size())
    return graph.func.emitError("expected a layout for each of ") << tiles.size() - packed << " loop nests, and of " << packed
                                                                  << " copies of operands, found " << given->size();
  graph.nests = std::move(nests);
  return tiles;
}

FailureOr<RegisterTiles> mlir::ft::leaf::chooseContractions(LeafGraph &graph, const CpuTarget &target) {
  return findContractions(graph, &target, nullptr);
}

LogicalResult mlir::ft::leaf::takeContractions(LeafGraph &graph, const RegisterTiles &given) {
  return findContractions(graph, nullptr, &given);
}
