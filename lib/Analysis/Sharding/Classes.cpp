//===- Classes.cpp - dimensions that are divided together -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Union-find with a direction: a reversed scan reads `%xs[L - k - 1]`, so that
// its k counts down where the list counts up. Writes couple always. A read
// couples unless one block or buffer would have two dimensions in the class, as
// in the product of all pairs of a list. A list that windows alone read goes
// with the dimension that moves the window.
//
//===----------------------------------------------------------------------===//
#include "Classes.h"

#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::etdg;

BlockOp etdg::getDimOwner(BlockOp block, unsigned dim) {
  while (dim < static_cast<unsigned>(block.getNumAncestors()))
    block = block.getParentBlock();
  return block;
}

ft::OperatorKind etdg::getDimOperator(BlockOp block, unsigned dim) {
  BlockOp owner = getDimOwner(block, dim);
  return owner.getOperator(dim - owner.getNumAncestors());
}

std::optional<BareIndex> etdg::getBareIndex(AffineExpr expr, ArrayRef<StringAttr> symbols, ft::LengthAttr length) {
  LinearForm form = LinearForm::of(expr), rest;
  rest.constant = form.constant;
  std::optional<unsigned> dim;
  int64_t factor = 0;
  for (auto [atom, coefficient] : form.terms) {
    if (auto found = dyn_cast<AffineDimExpr>(atom)) {
      if (factor)
        return std::nullopt;
      dim = found.getPosition();
      factor = coefficient;
    } else {
      rest.terms.push_back({atom, coefficient});
    }
  }
  if (factor == 1 && rest.terms.empty() && !rest.constant)
    return BareIndex{*dim, false};
  if (factor != -1)
    return std::nullopt;
  MLIRContext *context = expr.getContext();
  for (auto &term : rest.terms)
    if (LinearForm{{term}, 0}.getLastDim() >= 0)
      return std::nullopt;
  if (ft::LengthAttr::get(context, symbols, rest.toExpr(context)) != length - 1)
    return std::nullopt;
  return BareIndex{*dim, true};
}

/// Blocks of a nest have one iteration vector.
static BlockOp getNestBlock(BlockOp block) {
  if (NestOp nest = block.getNest())
    return *nest.getBody().getOps<BlockOp>().begin();
  return block;
}

DimClasses::DimClasses(GraphOp graph, const GraphAccesses &accesses)
    : blocks(accesses.getBlocks()), buffers(accesses.getBuffers()) {
  addNodes(accesses);
  for (BlockOp leaf : accesses.getLeaves())
    for (const Access &access : getAccesses(leaf))
      if (access.isWrite())
        couple(access, /*mayRefuse=*/false);
  for (BlockOp leaf : accesses.getLeaves())
    for (const Access &access : getAccesses(leaf))
      if (access.kind == Access::Read || access.kind == Access::GatherIndex)
        couple(access, /*mayRefuse=*/true);
  for (BlockOp leaf : accesses.getLeaves())
    for (const Access &access : getAccesses(leaf))
      if (access.kind == Access::Read)
        coupleWindow(access);
  for (unsigned node = 0; node < nodes.size(); ++node) {
    Place place = find(node);
    members[place.root].push_back({nodes[node].buffer, nodes[node].block, nodes[node].dim, place.isReversed});
  }
}

void DimClasses::addNodes(const GraphAccesses &accesses) {
  auto add = [&](void *key, Value buffer, BlockOp block, unsigned dim) {
    unsigned number = nodes.size();
    if (numbers.insert({{key, dim}, number}).second)
      nodes.push_back({number, false, buffer, block, dim});
  };
  for (Value buffer : buffers)
    for (unsigned d = 0, e = cast<BufferType>(buffer.getType()).getDepth(); d < e; ++d)
      add(buffer.getAsOpaquePointer(), buffer, BlockOp(), d);
  for (BlockOp block : blocks) {
    BlockOp first = getNestBlock(block);
    for (unsigned d = first.getNumAncestors(); d < first.getNumDims(); ++d)
      add(first.getOperation(), Value(), first, d);
  }
}

DimClasses::Place DimClasses::find(unsigned node) const {
  bool isReversed = false;
  while (nodes[node].parent != node) {
    isReversed ^= nodes[node].isReversed;
    node = nodes[node].parent;
  }
  return {node, isReversed};
}

DimClasses::Place DimClasses::ofBlock(BlockOp block, unsigned dim) const {
  BlockOp owner = getNestBlock(getDimOwner(block, dim));
  return find(numbers.at({owner.getOperation(), dim}));
}

DimClasses::Place DimClasses::ofBuffer(Value buffer, unsigned dim) const {
  return find(numbers.at({buffer.getAsOpaquePointer(), dim}));
}

std::optional<unsigned> DimClasses::findDim(BlockOp block, unsigned root) const {
  for (unsigned d = 0; d < block.getNumDims(); ++d)
    if (ofBlock(block, d).root == root)
      return d;
  return std::nullopt;
}

std::optional<unsigned> DimClasses::findRow(Value buffer, unsigned root) const {
  for (unsigned d = 0, e = cast<BufferType>(buffer.getType()).getDepth(); d < e; ++d)
    if (ofBuffer(buffer, d).root == root)
      return d;
  return std::nullopt;
}

SmallVector<unsigned> DimClasses::rootsOf(BlockOp block) const {
  SmallVector<unsigned> roots;
  for (unsigned d = 0; block && d < block.getNumDims(); ++d)
    roots.push_back(ofBlock(block, d).root);
  return roots;
}

bool DimClasses::meetsIn(ArrayRef<unsigned> roots, unsigned a, unsigned b) const {
  return llvm::is_contained(roots, a) && llvm::is_contained(roots, b);
}

/// Whether one class of two would have two dimensions of a block, or of a buffer with those of the blocks around it.
bool DimClasses::wouldMeet(unsigned a, unsigned b) const {
  for (BlockOp block : blocks)
    if (meetsIn(rootsOf(block), a, b))
      return true;
  for (Value buffer : buffers) {
    Operation *def = buffer.getDefiningOp();
    SmallVector<unsigned> roots = rootsOf(def ? def->getParentOfType<BlockOp>() : BlockOp());
    for (unsigned d = 0, e = cast<BufferType>(buffer.getType()).getDepth(); d < e; ++d)
      roots.push_back(ofBuffer(buffer, d).root);
    if (meetsIn(roots, a, b))
      return true;
  }
  return false;
}

void DimClasses::couple(const Access &access, bool mayRefuse) {
  BufferType type = access.getBufferType();
  BlockOp block = access.block;
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  for (unsigned r = 0; r < type.getDepth(); ++r) {
    if (access.getGather(r))
      continue;
    std::optional<BareIndex> index = getBareIndex(access.map.getResult(r), symbols, type.getLengths()[r]);
    if (!index || index->dim >= block.getNumDims())
      continue;
    Place a = ofBlock(block, index->dim), b = ofBuffer(access.buffer, r);
    if (a.root == b.root || (mayRefuse && wouldMeet(a.root, b.root)))
      continue;
    join(a, b, index->isReversed);
  }
}

/// The class with the lower number stays, so that arguments come first.
void DimClasses::join(Place block, Place buffer, bool isReversed) {
  unsigned keep = std::min(block.root, buffer.root), drop = std::max(block.root, buffer.root);
  nodes[drop].parent = keep;
  nodes[drop].isReversed = block.isReversed ^ buffer.isReversed ^ isReversed;
}

bool DimClasses::hasBlock(unsigned root) const {
  for (unsigned node = 0; node < nodes.size(); ++node)
    if (nodes[node].block && find(node).root == root)
      return true;
  return false;
}

bool DimClasses::hasNamedLength(unsigned root) const {
  for (unsigned node = 0; node < nodes.size(); ++node)
    if (Value buffer = nodes[node].buffer; buffer && find(node).root == root)
      return !cast<BufferType>(buffer.getType()).getLengths()[nodes[node].dim].isConstant();
  return false;
}

/// `%xs[j + k - 1]` of a list that no block walks otherwise: couples it with j where j alone is over a list of a named length.
void DimClasses::coupleWindow(const Access &access) {
  for (unsigned r = 0, e = access.getBufferType().getDepth(); r < e; ++r) {
    Place list = ofBuffer(access.buffer, r);
    if (access.getGather(r) || hasBlock(list.root))
      continue;
    std::optional<Place> found;
    unsigned count = 0;
    for (auto [atom, factor] : LinearForm::of(access.map.getResult(r)).terms) {
      auto dim = dyn_cast<AffineDimExpr>(atom);
      if (!dim || factor != 1 || dim.getPosition() >= BlockOp(access.block).getNumDims())
        continue;
      Place place = ofBlock(access.block, dim.getPosition());
      if (hasNamedLength(place.root)) {
        found = place;
        ++count;
      }
    }
    if (count == 1 && !wouldMeet(found->root, list.root))
      join(*found, list, false);
  }
}
