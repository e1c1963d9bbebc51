//===- BindInPlace.cpp - mutated arguments keep their memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that writes into an argument gives its last version as a result
// (`tssa.writeback`). The two may share memory where each read of an old element
// comes before the write of the new one. That is so if the items that write stand
// after those that read: an item waits for what stands before it. Where one loop
// does both, the new elements go to a buffer of their own, and from there into the
// argument when the loop has ended; what nothing writes does not move at all.
// Writes that fill a box are one such copy, others have one each.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"
#include "ft/Schedule/Apply/BindInPlace.h"

#include "mlir/IR/Remarks.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGBINDINPLACE
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::etdg;
using presburger::BoundType;
using presburger::IntegerPolyhedron;

namespace {
/// First and last index of each dimension of a buffer.
using Box = SmallVector<std::pair<int64_t, int64_t>>;

class Binder {
public:
  explicit Binder(GraphOp graph) : graph(graph), space(graph), accesses(graph) {}
  /// The pairs that may share memory.
  SmallVector<int64_t> run(ArrayRef<int64_t> asked);

private:
  bool bind(Value argument, Value result);
  void collect(Value argument, Value result);
  bool isReadAgain(Value result);
  bool writesStandBehind();
  std::optional<Box> findWritten(unsigned depth);
  std::optional<IntegerPolyhedron> planesOf(Access &access);
  Value divert(Value result);
  struct Copy {
    Value from, to;
  };
  void buildCopy(BlockBuilder &spec, ArrayRef<AffineExpr> index, ArrayRef<Copy> list);
  void writeCopies();
  void writeCopyOf(Access &write, Value from, Value to);
  Operation *getTopItem(Operation *op) {
    while (op->getParentOp() != graph)
      op = op->getParentOp();
    return op;
  }

  GraphOp graph;
  SymbolSpace space;
  GraphAccesses accesses;
  /// Of the pair at hand: writes of the result that are no copies of the argument's element, those that are, and
  /// reads of the argument but for these copies.
  SmallVector<Access, 0> writes, copies, reads;
  llvm::MapVector<Attribute, std::pair<Box, SmallVector<Copy>>> pending;
};
} // namespace

void Binder::collect(Value argument, Value result) {
  writes.clear();
  copies.clear();
  reads.clear();
  for (const Access &write : accesses.getWrites(result))
    (isCopyFrom(write.block, write.index, argument) ? copies : writes).push_back(write);
  auto isOfCopy = [&](const Access &read) {
    return llvm::any_of(copies, [&](const Access &copy) {
      auto value = dyn_cast<BlockArgument>(BlockOp(copy.block).getYield().getOperand(copy.index));
      return copy.block == read.block && read.kind == Access::Read && value && value.getArgNumber() == read.index;
    });
  };
  for (const Access &read : accesses.getReads(argument))
    if (!isOfCopy(read))
      reads.push_back(read);
}

/// The planes of a buffer that an access touches.
std::optional<IntegerPolyhedron> Binder::planesOf(Access &access) {
  unsigned size = access.getPointSize(), depth = access.getBufferType().getDepth();
  SetBuilder builder(space, size + depth);
  if (failed(addPoint(builder, access)))
    return std::nullopt;
  auto plane = getPlane(builder, access);
  if (failed(plane) || plane->size() != depth)
    return std::nullopt;
  for (auto [d, index] : llvm::enumerate(*plane)) {
    if (!index)
      return std::nullopt;
    LinearExpr difference = builder.variable(size + d);
    difference *= -1;
    difference += *index;
    builder.add(difference, /*isEq=*/true);
  }
  return projectOut(builder.get(), 0, size);
}

/// Whether an element that the argument keeps is read as one of the result, or may be: copies leave their operand as it is.
bool Binder::isReadAgain(Value result) {
  if (copies.empty())
    return false;
  ArrayRef<Access> readers = accesses.getReads(result);
  for (const Access &copy : copies) {
    auto isOfBlock = [&](const Access &other) { return other.block == copy.block; };
    if (llvm::any_of(readers, isOfBlock) || llvm::any_of(writes, isOfBlock))
      return true;
  }
  for (const Access &read : accesses.getReads(result))
    for (Access &copy : copies) {
      Access own = read;
      std::optional<IntegerPolyhedron> a = planesOf(own), b = planesOf(copy);
      if (!a || !b || !isEmpty(a->intersect(*b)))
        return true;
    }
  return false;
}

bool Binder::writesStandBehind() {
  for (const Access &read : reads)
    for (const Access &write : writes)
      if (!getTopItem(read.block)->isBeforeInBlock(getTopItem(write.block)))
        return false;
  return true;
}

/// The box that the writes fill; none where its ends are no numbers, or it has elements that they leave.
std::optional<Box> Binder::findWritten(unsigned depth) {
  SmallVector<IntegerPolyhedron, 0> parts;
  Box box;
  for (Access &write : writes) {
    std::optional<IntegerPolyhedron> part = planesOf(write);
    if (!part)
      return std::nullopt;
    if (isEmpty(*part))
      continue;
    for (unsigned d = 0; d < depth; ++d) {
      std::optional<int64_t> low = part->getConstantBound64(BoundType::LB, d), high = part->getConstantBound64(BoundType::UB, d);
      if (!low || !high)
        return std::nullopt;
      if (parts.empty())
        box.push_back({*low, *high});
      else
        box[d] = {std::min(box[d].first, *low), std::max(box[d].second, *high)};
    }
    parts.push_back(std::move(*part));
  }
  SetBuilder whole(space, depth);
  for (auto [d, range] : llvm::enumerate(box)) {
    LinearExpr above = whole.variable(d), below = whole.variable(d);
    above.constant -= range.first;
    below *= -1;
    below.constant += range.second;
    whole.add(above, /*isEq=*/false);
    whole.add(below, /*isEq=*/false);
  }
  if (!parts.empty() && !isCovered(whole.get(), parts))
    return std::nullopt;
  return box;
}

/// New elements go to a buffer of their own first.
Value Binder::divert(Value result) {
  auto declared = result.getDefiningOp<BufferOp>();
  OpBuilder builder(declared);
  builder.setInsertionPointAfter(declared);
  auto own = BufferOp::create(builder, declared.getLoc(), declared.getType(), DenseI64ArrayAttr(), StringAttr());
  auto copiesOld = [&](Operation *op) {
    return llvm::any_of(copies, [&](const Access &copy) { return copy.block == op; });
  };
  result.replaceUsesWithIf(own.getResult(), [&](OpOperand &use) { return !isa<ReturnOp>(use.getOwner()) && !copiesOld(use.getOwner()); });
  return own.getResult();
}

/// Whether each iteration of the block writes an element of its own.
static bool writesOnce(Access &write) {
  for (unsigned d = 0; d < write.block.getNumDims(); ++d)
    if (!write.map.isFunctionOfDim(d))
      return false;
  return true;
}

bool Binder::bind(Value argument, Value result) {
  auto declared = result.getDefiningOp<BufferOp>();
  ValueRange results = graph.getBody().front().back().getOperands();
  if (!declared || declared->getParentOp() != graph || declared.getLiveAttr() || argument.getType() != result.getType() ||
      llvm::count(results, result) != 1)
    return false;
  collect(argument, result);
  if (writesStandBehind())
    return true;
  if (isReadAgain(result)) { // all of it goes through the other buffer
    writes.append(copies);
    copies.clear();
  }
  std::optional<Box> box = findWritten(declared.getType().getDepth());
  if (!box && !llvm::all_of(writes, writesOnce))
    return false;
  Value own = divert(result);
  if (!box) {
    for (Access &write : writes)
      writeCopyOf(write, own, result);
    return true;
  }
  SmallVector<int64_t> key;
  for (auto [low, high] : *box)
    key.append({low, high});
  auto &group = pending[DenseI64ArrayAttr::get(graph.getContext(), key)];
  group.first = std::move(*box);
  group.second.push_back({own, result});
  return true;
}

/// Completes a block over its dimensions and domain: it copies one element of each pair, at `index`.
void Binder::buildCopy(BlockBuilder &spec, ArrayRef<AffineExpr> index, ArrayRef<Copy> list) {
  OpBuilder builder(&graph.getBody().front().back());
  MLIRContext *context = graph.getContext();
  unsigned numDims = spec.dims.size(), numSymbols = spec.symbols.size();
  IntegerSet all = getUniverse(context, numDims, numSymbols);
  AffineMap map = AffineMap::get(numDims, numSymbols, index, context);
  SmallVector<Type> types;
  for (const Copy &copy : list) {
    spec.reads.push_back(ReadAttr::get(context, PieceAttr::getBuffer(all, spec.operandFor(copy.from), map), 0));
    spec.writes.push_back(WriteAttr::get(context, spec.operandFor(copy.to), AffineMapAttr::get(map)));
    types.push_back(cast<BufferType>(copy.to.getType()).getElement());
  }
  BlockOp block = spec.build(builder, list.front().to.getLoc(), types);
  OpBuilder inner = OpBuilder::atBlockEnd(&block.getBody().front());
  YieldOp::create(inner, block.getLoc(), block.getBody().getArguments());
}

/// A domain of these constraints.
static IntegerSet makeDomain(MLIRContext *context, const BlockBuilder &spec, ArrayRef<AffineExpr> constraints,
                             ArrayRef<bool> equalities) {
  unsigned numDims = spec.dims.size(), numSymbols = spec.symbols.size();
  return constraints.empty() ? getUniverse(context, numDims, numSymbols)
                             : IntegerSet::get(numDims, numSymbols, constraints, equalities);
}

/// A copy of what one block writes, element by element.
void Binder::writeCopyOf(Access &write, Value from, Value to) {
  BlockBuilder spec;
  spec.dims = write.block.getDimNames();
  spec.operators.assign(spec.dims.size(), ft::OperatorKind::Map);
  SmallVector<AffineExpr> constraints, index;
  SmallVector<bool> equalities;
  for (BlockOp block : getBlockChain(write.block)) {
    IntegerSet set = block.getDomainSet();
    for (auto [expr, equality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
      constraints.push_back(spec.importExpr(expr, block.getSymbolNames()));
      equalities.push_back(equality);
    }
  }
  for (AffineExpr expr : write.map.getResults())
    index.push_back(spec.importExpr(expr, write.block.getSymbolNames()));
  spec.domain = makeDomain(graph.getContext(), spec, constraints, equalities);
  buildCopy(spec, index, Copy{from, to});
}

/// The copies of each box are one block.
void Binder::writeCopies() {
  MLIRContext *context = graph.getContext();
  for (auto &[key, group] : pending) {
    auto &[box, list] = group;
    BlockBuilder spec;
    SmallVector<AffineExpr> constraints, index;
    for (auto [d, range] : llvm::enumerate(box)) {
      spec.operators.push_back(ft::OperatorKind::Map);
      spec.dims.push_back(StringAttr::get(context, "i" + std::to_string(d)));
      index.push_back(getAffineDimExpr(d, context));
      constraints.append({index.back() - range.first, -index.back() + range.second});
    }
    spec.domain = makeDomain(context, spec, constraints, SmallVector<bool>(constraints.size(), false));
    buildCopy(spec, index, list);
  }
}

SmallVector<int64_t> Binder::run(ArrayRef<int64_t> asked) {
  SmallVector<int64_t> bound;
  llvm::SmallDenseSet<int64_t> taken;
  Operation &end = graph.getBody().front().back();
  for (size_t i = 0; i + 1 < asked.size(); i += 2) {
    Value argument = graph.getBody().getArgument(asked[i]), result = end.getOperand(asked[i + 1]);
    if (taken.insert(asked[i]).second && bind(argument, result)) {
      bound.append({asked[i], asked[i + 1]});
      continue;
    }
    remark::missed(graph.getLoc(), remark::RemarkOpts::name("not-in-place").category("storage"))
        << "result " << std::to_string(asked[i + 1]) << " does not take the memory of argument " << std::to_string(asked[i])
        << ": expected equal types, and one element for each iteration that writes";
  }
  writeCopies();
  return bound;
}

namespace {
struct ETDGBindInPlace : ft::impl::ETDGBindInPlaceBase<ETDGBindInPlace> {
  void runOnOperation() override {
    GraphOp graph = getOperation();
    auto asked = graph->getAttrOfType<DenseI64ArrayAttr>("tssa.writeback");
    if (graph.isExternal() || !asked || graph->hasAttr(etdg::names::inPlace))
      return;
    // Lists of one argument after conversion are one buffer each: numbers stay.
    SmallVector<int64_t> bound = Binder(graph).run(asked.asArrayRef());
    if (!bound.empty())
      graph->setAttr(etdg::names::inPlace, DenseI64ArrayAttr::get(graph.getContext(), bound));
  }
};
} // namespace
