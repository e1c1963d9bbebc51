//===- Accesses.cpp - who reads and writes a buffer, and in which order ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects accesses; gives their sets; compares iterations of two blocks.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Accesses.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

const GatherAttr *Access::getGather(unsigned result) const {
  for (const GatherAttr &gather : gathers)
    if (gather.getPosition() == static_cast<int64_t>(result))
      return &gather;
  return nullptr;
}

std::string Access::describe() const {
  if (kind == Write)
    return "write " + std::to_string(index);
  std::string text = (kind == Identity ? "identity " : "read ") + std::to_string(index);
  if (piece)
    text += ", piece " + std::to_string(piece);
  if (kind == GatherIndex)
    text = "the gather of " + text;
  return text;
}

SmallVector<StringAttr> Access::getPointNames() {
  SmallVector<StringAttr> names = block.getDimNames();
  for (unsigned i = 0; i < elementShape.size(); ++i)
    names.push_back(StringAttr::get(block.getContext(), "e" + std::to_string(i)));
  return names;
}

unsigned etdg::getNumOwnerDims(Value buffer) {
  Operation *def = buffer.getDefiningOp();
  if (!def)
    return 0;
  BlockOp owner = def->getParentOfType<BlockOp>();
  return owner ? owner.getNumDims() : 0;
}

std::string etdg::describeBuffer(Value buffer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    os << "argument " << argument.getArgNumber();
  else if (auto op = buffer.getDefiningOp<BufferOp>(); op && op.getNameHint())
    os << "buffer '" << *op.getNameHint() << "'";
  else
    os << "a buffer of type " << buffer.getType();
  return text;
}

std::string etdg::describeBlock(BlockOp block) {
  if (auto name = block.getBlockName())
    return ("block @" + *name).str();
  return "block";
}

//===----------------------------------------------------------------------===//
// Collection
//===----------------------------------------------------------------------===//

GraphAccesses::GraphAccesses(GraphOp graph) {
  auto addBuffer = [&](Value value) {
    if (isa<BufferType>(value.getType())) {
      buffers.push_back(value);
      accesses[value];
    }
  };
  for (BlockArgument argument : graph.getArguments())
    addBuffer(argument);
  graph.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      addBuffer(result);
    if (auto block = dyn_cast<BlockOp>(op))
      addBlock(block);
  });
}

static void addReads(BlockOp block, ArrayAttr reads, TypeRange types, Access::Kind kind,
                     SmallVectorImpl<Access> &accesses) {
  for (auto [i, read] : llvm::enumerate(reads.getAsRange<ReadAttr>())) {
    SmallVector<int64_t> shape;
    if (read.getElementRank() && i < types.size())
      llvm::append_range(shape, cast<RankedTensorType>(types[i]).getShape());
    for (auto [p, piece] : llvm::enumerate(read.getPieces())) {
      if (piece.getKind() != SourceKind::Buffer)
        continue;
      auto add = [&](int64_t operand, AffineMap map, ArrayRef<GatherAttr> gathers,
                     Access::Kind kind) {
        accesses.push_back({kind,
                            block,
                            block.getBuffers()[operand],
                            static_cast<unsigned>(i),
                            static_cast<unsigned>(p),
                            map,
                            piece.getSet().getValue(),
                            llvm::to_vector(gathers),
                            shape});
      };
      add(piece.getOperand(), piece.getMap().getValue(), piece.getGathers(), kind);
      for (GatherAttr gather : piece.getGathers())
        add(gather.getOperand(), gather.getMap().getValue(), {}, Access::GatherIndex);
    }
  }
}

SmallVector<Access, 0> etdg::getAccesses(BlockOp leaf) {
  SmallVector<Access, 0> accesses;
  if (!leaf.isLeaf())
    return accesses;
  addReads(leaf, leaf.getReads(), leaf.getBody().getArgumentTypes(), Access::Read, accesses);
  if (!leaf.getIdentity().empty())
    addReads(leaf, leaf.getIdentity(), leaf.getCombine().getArgumentTypes(), Access::Identity,
             accesses);
  for (auto [i, write] : llvm::enumerate(leaf.getWrites().getAsRange<WriteAttr>()))
    accesses.push_back({Access::Write,
                        leaf,
                        leaf.getBuffers()[write.getOperand()],
                        static_cast<unsigned>(i),
                        0,
                        write.getMap().getValue(),
                        IntegerSet(),
                        {},
                        {}});
  return accesses;
}

void GraphAccesses::addBlock(BlockOp block) {
  blocks.push_back(block);
  if (!block.isLeaf())
    return;
  leaves.push_back(block);
  for (Access &access : getAccesses(block)) {
    OfBuffer &of = accesses[access.buffer];
    (access.isWrite() ? of.writes : of.reads).push_back(std::move(access));
  }
}

ArrayRef<Access> GraphAccesses::getWrites(Value buffer) const {
  auto it = accesses.find(buffer);
  return it == accesses.end() ? ArrayRef<Access>() : ArrayRef<Access>(it->second.writes);
}

ArrayRef<Access> GraphAccesses::getReads(Value buffer) const {
  auto it = accesses.find(buffer);
  return it == accesses.end() ? ArrayRef<Access>() : ArrayRef<Access>(it->second.reads);
}

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

LogicalResult etdg::addDomain(SetBuilder &builder, BlockOp block, unsigned offset) {
  for (BlockOp b = block; b; b = b.getParentBlock())
    if (failed(builder.add(b.getDomainSet(), b.getSymbolNames(), offset)))
      return failure();
  return success();
}

FailureOr<IntegerPolyhedron> etdg::getDomain(BlockOp block, const SymbolSpace &space) {
  SetBuilder builder(space, block.getNumDims());
  if (failed(addDomain(builder, block)))
    return failure();
  return builder.get();
}

LogicalResult etdg::addPoint(SetBuilder &builder, Access &access, unsigned offset) {
  if (failed(addDomain(builder, access.block, offset)))
    return failure();
  unsigned numDims = access.block.getNumDims();
  for (auto [i, size] : llvm::enumerate(access.elementShape)) {
    LinearExpr lower = builder.variable(offset + numDims + i), upper = lower;
    builder.add(lower, false);
    upper *= -1;
    upper.constant = size - 1;
    builder.add(upper, false);
  }
  if (IntegerSet set = access.set)
    return builder.add(set, access.block.getSymbolNames(), offset);
  return success();
}

FailureOr<SmallVector<std::optional<LinearExpr>>> etdg::getPlane(SetBuilder &builder,
                                                                 Access &access, unsigned offset) {
  SmallVector<std::optional<LinearExpr>> plane;
  for (unsigned i = 0, e = getNumOwnerDims(access.buffer); i < e; ++i)
    plane.push_back(builder.variable(offset + i));
  SmallVector<StringAttr> symbols = access.block.getSymbolNames();
  for (unsigned d = 0, e = access.getBufferType().getDepth(); d < e; ++d) {
    if (access.getGather(d)) {
      plane.push_back(std::nullopt);
      continue;
    }
    std::optional<LinearExpr> flat = builder.flatten(access.map.getResult(d), symbols, offset);
    if (!flat)
      return failure();
    plane.push_back(flat);
  }
  return plane;
}

FailureOr<IntegerRelation> etdg::getAccessRelation(Access &access, const SymbolSpace &space) {
  unsigned numPoint = access.getPointSize(), numOwner = getNumOwnerDims(access.buffer);
  BufferType type = access.getBufferType();
  SetBuilder builder(space, numPoint + numOwner + type.getDepth());
  if (failed(addPoint(builder, access)))
    return failure();
  FailureOr<SmallVector<std::optional<LinearExpr>>> plane = getPlane(builder, access);
  if (failed(plane))
    return failure();
  for (auto [d, index] : llvm::enumerate(*plane)) {
    LinearExpr x = builder.variable(numPoint + d);
    if (index) {
      x *= -1;
      x += *index;
      builder.add(x, true);
      continue;
    }
    // A gather reads its whole dimension.
    ft::LengthAttr length = type.getLengths()[d - numOwner];
    std::optional<LinearExpr> upper = builder.flatten(length.getExpr(), length.getNames());
    if (!upper)
      return failure();
    builder.add(x, false);
    x *= -1;
    *upper += x;
    upper->constant -= 1;
    builder.add(*upper, false);
  }
  IntegerRelation relation = builder.get();
  relation.convertVarKind(VarKind::SetDim, 0, numPoint, VarKind::Domain);
  return relation;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

SmallVector<BlockOp> etdg::getBlockChain(BlockOp block) {
  SmallVector<BlockOp> chain;
  for (; block; block = block.getParentBlock())
    chain.push_back(block);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

Operation *etdg::getItem(BlockOp block) {
  NestOp nest = block.getNest();
  return nest ? nest.getOperation() : block.getOperation();
}

bool etdg::isTextuallyBefore(Operation *a, Operation *b) {
  // Kernels only group: compare where both stand in one block of operations.
  if (a->getBlock() != b->getBlock()) {
    if (auto kernel = dyn_cast<KernelOp>(a->getParentOp()))
      a = kernel;
    if (auto kernel = dyn_cast<KernelOp>(b->getParentOp()))
      b = kernel;
  }
  return a != b && a->getBlock() == b->getBlock() && a->isBeforeInBlock(b);
}

SmallVector<Precedence> etdg::getPrecedence(BlockOp before, BlockOp after) {
  SmallVector<Precedence> cases;
  SmallVector<BlockOp> chainBefore = getBlockChain(before), chainAfter = getBlockChain(after);
  unsigned prefix = 0;
  for (auto [x, y] : llvm::zip(chainBefore, chainAfter)) {
    Operation *itemX = getItem(x), *itemY = getItem(y);
    if (itemX != itemY) {
      if (isTextuallyBefore(itemX, itemY))
        cases.push_back({prefix, false, std::nullopt});
      return cases;
    }
    // One nest: lexicographically, each block at its own points.
    unsigned end = std::min(x.getNumDims(), y.getNumDims());
    for (unsigned d = prefix; d < end; ++d)
      cases.push_back({d, true, y.getOperator(d - y.getNumAncestors())});
    if (x != y)
      return cases;
    prefix = end;
  }
  return cases;
}

void etdg::addPrecedence(SetBuilder &builder, const Precedence &order, unsigned before,
                         unsigned after) {
  for (unsigned d = 0; d < order.equal; ++d)
    builder.addEqual(before + d, after + d);
  if (order.strict)
    builder.addLess(before + order.equal, after + order.equal);
}
