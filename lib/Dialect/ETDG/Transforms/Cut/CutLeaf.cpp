//===- CutLeaf.cpp - shares of a leaf's own reduction ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf that reduces a loop of N iterations becomes, with shares of T of them, S = N floordiv T and R = N mod T,
//
//   map s in [0, S)   the leaf's body over iterations s·T, ..., s·T + T - 1, from neutral elements, as far as the sums
//   (nothing)         the same over the last R iterations, if there are any
//   the leaf          the sums of the S + 1 parts, from what the leaf's sums begin from, and all that is after
//
// Loops that are one with it are joined with it in a share: its terms are one row. What halves add up is f32 until it is joined (Sums.h).
//
//===----------------------------------------------------------------------===//
#include "EachLeaf.h"

#include "ft/Dialect/ETDG/Transforms/CutLeaves.h"

#include "ft/Analysis/Sets.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/IR/Sums.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/CutReductions.h"
#include "ft/Dialect/ETDG/Transforms/JoinIterations.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGCUTLEAVES
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

static bool isHalf(Type type) { return isa<Float16Type, BFloat16Type>(type); }

/// In what sums of such elements are added up.
static Type typeOfSums(Type element) { return isHalf(element) ? getSumsOfHalves(element.getContext()) : element; }

static RankedTensorType typeOfSums(RankedTensorType type) { return type.clone(typeOfSums(type.getElementType())); }

namespace {
/// Writes the body of a share of `count` iterations.
class ShareBody {
public:
  ShareBody(const LeafReduction &reduction, BlockOp leaf, int64_t count, const llvm::DenseSet<Operation *> &needed)
      : reduction(reduction), leaf(leaf), count(count), needed(needed), builder(leaf.getContext()) {}
  /// `reads` are the numbers of the leaf's reads that the share has, in their order; an argument after them says at which iteration it begins.
  void write(BlockOp share, ArrayRef<unsigned> reads, bool hasBegin);

private:
  AffineMap withoutInner(linalg::LinalgOp op, AffineMap map) const;
  void writeElementwise(Operation &op);
  Value writeLoops(linalg::LinalgOp op, ValueRange inits, TypeRange types);
  void writeSum(linalg::LinalgOp op, SmallVectorImpl<Value> &sums);
  void writeElements(linalg::LinalgOp op, Block &from, OpBuilder &inside, IRMapping &elements, Value begin);
  void writeElement(Operation &op, OpBuilder &inside, IRMapping &elements);

  const LeafReduction &reduction;
  BlockOp leaf;
  int64_t count;
  const llvm::DenseSet<Operation *> &needed;
  OpBuilder builder;
  IRMapping mapping;
  Value begin;
};

/// Writes the blocks that stand for one leaf.
class LeafCutter {
public:
  LeafCutter(const LeafReduction &reduction, int64_t terms)
      : reduction(reduction), leaf(reduction.leaf), terms(terms), shares(reduction.extent / terms), rest(reduction.extent % terms),
        context(leaf.getContext()), builder(leaf), old(BlockBuilder::from(leaf)) {}
  CutLeaf run();

private:
  int64_t parts() const { return shares + (rest > 0); }
  void findNeeded();
  void makeBuffers();
  bool countsIterations();
  AffineMap shifted(AffineMap map, unsigned numShares, unsigned rank, std::optional<unsigned> along, AffineExpr from);
  ReadAttr readOfShare(unsigned r, unsigned numShares, AffineExpr from);
  BlockOp writeShare(int64_t count, bool isRest);
  void writeJoin();
  void dropUnread();

  const LeafReduction &reduction;
  BlockOp leaf;
  int64_t terms, shares, rest;
  MLIRContext *context;
  OpBuilder builder;
  BlockBuilder old;
  llvm::DenseSet<Operation *> needed; // of the shares
  SmallVector<Value> partials;        // a buffer for each result of the sums
};
} // namespace

//===----------------------------------------------------------------------===//
// The body of a share
//===----------------------------------------------------------------------===//

/// The type of a value's part in a share of `count` iterations, whose inner loops are one with them.
static RankedTensorType typeOfShare(const LeafReduction &reduction, Value value, int64_t count) {
  auto type = cast<RankedTensorType>(value.getType());
  auto along = reduction.along.find(value);
  if (along == reduction.along.end())
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[along->second] = count * reduction.getTerms();
  shape.erase(shape.begin() + along->second + 1, shape.begin() + along->second + 1 + reduction.inner.size());
  return type.clone(shape);
}

/// An operation's map over its loops without the inner ones.
AffineMap ShareBody::withoutInner(linalg::LinalgOp op, AffineMap map) const {
  unsigned loop = reduction.loops.lookup(op), depth = unsigned(reduction.inner.size());
  SmallVector<AffineExpr> results;
  auto isInner = [&](unsigned dim) { return dim > loop && dim <= loop + depth; };
  for (AffineExpr result : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(result); !dim || !isInner(dim.getPosition()))
      results.push_back(result.shiftDims(map.getNumDims(), -int64_t(depth), loop + depth + 1));
  return AffineMap::get(map.getNumDims() - depth, 0, results, map.getContext());
}

void ShareBody::writeElementwise(Operation &op) {
  SplatElementsAttr splat;
  if (matchPattern(&op, m_Constant(&splat))) {
    mapping.map(op.getResult(0), arith::ConstantOp::create(builder, op.getLoc(), splat.resizeSplat(typeOfShare(reduction, op.getResult(0), count))));
    return;
  }
  SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), [&](Value value) { return mapping.lookup(value); });
  SmallVector<Type> types = llvm::map_to_vector(op.getResults(), [&](Value value) -> Type { return typeOfShare(reduction, value, count); });
  OperationState state(op.getLoc(), op.getName(), operands, types, op.getAttrs());
  state.propertiesAttr = op.getPropertiesAsAttribute();
  mapping.map(op.getResults(), builder.create(state)->getResults());
}

/// An operation on elements, on wider ones where these are at hand: what sums of halves add up is not rounded in between.
void ShareBody::writeElement(Operation &op, OpBuilder &inside, IRMapping &elements) {
  auto isWider = [&](Value value) { return elements.lookupOrDefault(value).getType() != value.getType(); };
  bool isWide = llvm::any_of(op.getOperands(), isWider) && OpTrait::hasElementwiseMappableTraits(&op) &&
                llvm::all_of(op.getOperandTypes(), [&](Type type) { return type == op.getResultTypes().front(); });
  if (!isWide) {
    IRMapping narrow = elements;
    for (Value operand : op.getOperands())
      if (isWider(operand))
        narrow.map(operand, arith::TruncFOp::create(inside, op.getLoc(), operand.getType(), elements.lookup(operand)));
    inside.clone(op, narrow);
    for (Value result : op.getResults())
      elements.map(result, narrow.lookup(result));
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    Value value = elements.lookupOrDefault(operand);
    operands.push_back(isHalf(value.getType()) ? arith::ExtFOp::create(inside, op.getLoc(), typeOfSums(value.getType()), value) : value);
  }
  OperationState state(op.getLoc(), op.getName(), operands, TypeRange{operands.front().getType()}, op.getAttrs());
  state.propertiesAttr = op.getPropertiesAsAttribute();
  elements.map(op.getResults(), inside.create(state)->getResults());
}

void ShareBody::writeElements(linalg::LinalgOp op, Block &from, OpBuilder &inside, IRMapping &elements, Value first) {
  for (Operation &inner : from.without_terminator()) {
    writeElement(inner, inside, elements);
    auto index = dyn_cast<linalg::IndexOp>(inner);
    unsigned loop = reduction.loops.lookup(op), depth = unsigned(reduction.inner.size());
    if (index && index.getDim() > loop)
      elements.lookup(index.getResult()).getDefiningOp<linalg::IndexOp>().setDim(index.getDim() - depth);
    if (index && index.getDim() == loop)
      elements.map(index.getResult(), arith::AddIOp::create(inside, inner.getLoc(), elements.lookup(index.getResult()), first));
  }
  SmallVector<Value> yielded =
      llvm::map_to_vector(from.getTerminator()->getOperands(), [&](Value value) { return elements.lookupOrDefault(value); });
  linalg::YieldOp::create(inside, op.getLoc(), yielded);
}

/// The operation over the share's iterations. An index of the loop counts from where the share begins.
Value ShareBody::writeLoops(linalg::LinalgOp op, ValueRange inits, TypeRange types) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    inputs.push_back(mapping.lookup(input->get()));
    maps.push_back(withoutInner(op, op.getMatchingIndexingMap(input)));
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  auto *innermost = iterators.begin() + reduction.loops.lookup(op) + 1;
  iterators.erase(innermost, innermost + reduction.inner.size());
  bool counts = false;
  op->walk([&](linalg::IndexOp index) { counts |= reduction.loops.contains(op) && index.getDim() == reduction.loops.lookup(op); });
  if (counts) {
    inputs.push_back(begin);
    maps.push_back(AffineMap::get(iterators.size(), 0, builder.getContext()));
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(withoutInner(op, op.getMatchingIndexingMap(&init)));
  Block &from = *op.getBlock();
  const bool isWider = !llvm::equal(types, op->getResultTypes()) && op.getNumReductionLoops() > 0 &&
                       llvm::any_of(op.getDpsInits(), [](Value init) { return isHalf(getElementTypeOrSelf(init)); });
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), types, inputs, inits, maps, iterators, [&](OpBuilder &inside, Location, ValueRange arguments) {
        IRMapping elements;
        unsigned numInputs = unsigned(op.getNumDpsInputs());
        for (auto [i, argument] : llvm::enumerate(from.getArguments())) {
          bool isInit = i >= numInputs;
          Value own = arguments[i + (isInit && counts)];
          if (!isInit && isWider && isHalf(own.getType())) // what is added to a wide sum is wide from the start
            own = arith::ExtFOp::create(inside, op.getLoc(), typeOfSums(own.getType()), own);
          elements.map(argument, own);
        }
        writeElements(op, from, inside, elements, counts ? arguments[numInputs] : Value());
      });
  mapping.map(op->getResults(), generic.getResults());
  return generic.getResult(0);
}

void ShareBody::writeSum(linalg::LinalgOp op, SmallVectorImpl<Value> &sums) {
  SmallVector<Value> neutral;
  SmallVector<Type> types;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Value yielded = op.getBlock()->getTerminator()->getOperand(init.getOperandNumber() - op.getNumDpsInputs());
    RankedTensorType type = typeOfSums(cast<RankedTensorType>(init.get().getType()));
    auto kind = *getCombiner(yielded, op.getMatchingBlockArgument(&init));
    TypedAttr value = arith::getIdentityValueAttr(kind, type.getElementType(), builder, op.getLoc());
    neutral.push_back(arith::ConstantOp::create(builder, op.getLoc(), DenseElementsAttr::get(type, ArrayRef<Attribute>(value))));
    types.push_back(type);
  }
  writeLoops(op, neutral, types);
  for (Value result : op->getResults())
    sums.push_back(mapping.lookup(result));
}

void ShareBody::write(BlockOp share, ArrayRef<unsigned> reads, bool hasBegin) {
  Block &from = leaf.getBody().front(), &to = share.getBody().front();
  builder.setInsertionPointToEnd(&to);
  for (auto [own, read] : llvm::enumerate(reads))
    mapping.map(from.getArgument(read), to.getArgument(unsigned(own)));
  if (hasBegin)
    begin = to.getArguments().back();
  SmallVector<Value> sums;
  for (Operation &op : from.without_terminator()) {
    if (!needed.contains(&op))
      continue;
    auto loops = dyn_cast<linalg::LinalgOp>(op);
    if (llvm::is_contained(reduction.sums, loops)) {
      writeSum(loops, sums);
    } else if (loops ? !reduction.loops.contains(&op) : !reduction.along.contains(op.getResult(0))) {
      builder.clone(op, mapping);
    } else if (!loops) {
      writeElementwise(op);
    } else {
      SmallVector<Value> inits = llvm::map_to_vector(loops.getDpsInits(), [&](Value init) { return mapping.lookup(init); });
      writeLoops(loops, inits, TypeRange(ValueRange(inits)));
    }
  }
  YieldOp::create(builder, leaf.getLoc(), sums);
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

/// What the sums are computed from, and they themselves.
void LeafCutter::findNeeded() {
  SmallVector<Value> open;
  auto add = [&](Operation *op, bool isSum) {
    if (!op || !needed.insert(op).second)
      return;
    auto loops = dyn_cast<linalg::LinalgOp>(op);
    for (OpOperand &operand : op->getOpOperands())
      if (!isSum || !loops.isDpsInit(&operand))
        open.push_back(operand.get());
  };
  for (linalg::LinalgOp sum : reduction.sums)
    add(sum, /*isSum=*/true);
  while (!open.empty())
    add(open.pop_back_val().getDefiningOp(), /*isSum=*/false);
}

void LeafCutter::makeBuffers() {
  auto written = cast<BufferType>(old.buffers[leaf.getWrite(0).getOperand()].getType());
  SmallVector<ft::LengthAttr> lengths(written.getLengths());
  lengths.push_back(ft::LengthAttr::get(context, parts()));
  for (linalg::LinalgOp sum : reduction.sums)
    for (Value result : sum->getResults()) {
      RankedTensorType element = typeOfSums(cast<RankedTensorType>(result.getType()));
      partials.push_back(BufferOp::create(builder, leaf.getLoc(), BufferType::get(context, lengths, element), nullptr, nullptr));
    }
}

bool LeafCutter::countsIterations() {
  bool counts = false;
  for (Operation *op : needed)
    op->walk([&](linalg::IndexOp index) {
      auto loop = reduction.loops.find(op);
      counts |= loop != reduction.loops.end() && index.getDim() == loop->second;
    });
  return counts;
}

/// A map over the share's dimensions (one more, after the leaf's own, where `numShares` is 1), and those of an element of `rank`; the iteration of the
/// loop, the element's dimension `along`, is one of the share's that begins at `from`.
AffineMap LeafCutter::shifted(AffineMap map, unsigned numShares, unsigned rank, std::optional<unsigned> along, AffineExpr from) {
  unsigned numDims = unsigned(old.dims.size()), own = numDims + numShares, depth = along ? unsigned(reduction.inner.size()) : 0;
  SmallVector<AffineExpr> dims, symbols, results;
  for (unsigned d = 0; d < numDims; ++d)
    dims.push_back(getAffineDimExpr(d, context));
  for (unsigned e = 0; e < rank; ++e) {
    // The inner loops' iterations are the last digits of the element's number in its share.
    unsigned behind = along && e > *along ? std::min(e - *along, depth) : 0;
    AffineExpr element = getAffineDimExpr(own + e - behind, context);
    for (unsigned d = depth; along && e >= *along && e - *along <= depth && d > e - *along; --d)
      element = element.floorDiv(reduction.inner[d - 1]);
    if (along && e > *along && e - *along <= depth)
      element = element % reduction.inner[e - *along - 1];
    dims.push_back(along == e ? element + from : element);
  }
  for (unsigned s = 0; s < map.getNumSymbols(); ++s)
    symbols.push_back(getAffineSymbolExpr(s, context));
  for (AffineExpr result : map.getResults())
    results.push_back(canonicalizeExpr(result.replaceDimsAndSymbols(dims, symbols), own + rank - depth, map.getNumSymbols()));
  return AffineMap::get(own + rank - depth, map.getNumSymbols(), results, context);
}

ReadAttr LeafCutter::readOfShare(unsigned r, unsigned numShares, AffineExpr from) {
  Value argument = leaf.getBody().getArgument(r);
  auto type = cast<RankedTensorType>(argument.getType());
  ReadAttr read = old.reads[r];
  auto entry = reduction.along.find(argument);
  std::optional<unsigned> along;
  if (entry != reduction.along.end())
    along = entry->second;
  // A part of the element is read scalar by scalar.
  bool opens = along && read.getElementRank() == 0;
  unsigned numDims = unsigned(old.dims.size()), rank = along ? unsigned(type.getRank()) : unsigned(read.getElementRank());
  auto mapOf = [&](AffineMap map, int64_t operand) {
    SmallVector<AffineExpr> results(map.getResults());
    for (unsigned e = 0; opens && operand >= 0 && e < rank; ++e)
      results.push_back(getAffineDimExpr(numDims + e, context));
    return shifted(AffineMap::get(numDims + rank, map.getNumSymbols(), results, context), numShares, rank, along, from);
  };
  auto setOf = [&](IntegerSet set) {
    AffineMap constraints = AffineMap::get(numDims + rank, set.getNumSymbols(), set.getConstraints(), context);
    AffineMap own = shifted(constraints, numShares, rank, along, from);
    return canonicalizeSet(IntegerSet::get(own.getNumDims(), own.getNumSymbols(), own.getResults(), set.getEqFlags()));
  };
  ReadAttr own = transformRead(read, mapOf, setOf, [](int64_t operand) { return operand; });
  return ReadAttr::get(context, own.getPieces(), along ? rank - reduction.inner.size() : rank);
}

static StringAttr newName(const BlockBuilder &block, SymbolSpace &space, MLIRContext *context) {
  for (unsigned n = 0;; ++n) {
    auto name = StringAttr::get(context, n == 0 ? "share" : "share" + std::to_string(n));
    if (!llvm::is_contained(block.dims, name) && !space.find(name.getValue()))
      return name;
  }
}

BlockOp LeafCutter::writeShare(int64_t count, bool isRest) {
  unsigned numDims = unsigned(old.dims.size()), numShares = isRest ? 0 : 1, numSymbols = unsigned(old.symbols.size());
  AffineExpr share = isRest ? getAffineConstantExpr(shares, context) : getAffineDimExpr(numDims, context);
  AffineExpr from = share * terms;
  BlockBuilder block = old;
  block.name = old.name.empty() ? "" : old.name + (isRest ? "_rest" : "_shares");
  SmallVector<AffineExpr> constraints(old.domain.getConstraints());
  SmallVector<bool> eqs(old.domain.getEqFlags());
  if (!isRest) {
    SymbolSpace space(leaf->getParentOfType<GraphOp>());
    block.dims.push_back(newName(old, space, context));
    block.operators.push_back(ft::OperatorKind::Map);
    constraints.append({share, -share + (shares - 1)});
    eqs.append(2, false);
  }
  block.domain = canonicalizeSet(IntegerSet::get(numDims + numShares, numSymbols, constraints, eqs));
  block.reads.clear();
  block.writes.clear();
  SmallVector<unsigned> reads;
  SmallVector<Type> types;
  for (auto [r, argument] : llvm::enumerate(leaf.getBody().getArguments())) {
    if (llvm::none_of(argument.getUsers(), [&](Operation *user) { return needed.contains(user); }))
      continue;
    reads.push_back(unsigned(r));
    block.reads.push_back(readOfShare(unsigned(r), numShares, from));
    types.push_back(typeOfShare(reduction, argument, count));
  }
  bool counts = countsIterations();
  if (counts) {
    IntegerSet all = getUniverse(context, numDims + numShares, numSymbols);
    block.reads.push_back(ReadAttr::get(context, PieceAttr::getIndex(all, from), 0));
    types.push_back(RankedTensorType::get({}, builder.getIndexType()));
  }
  SmallVector<AffineExpr> at = llvm::map_to_vector(reduction.point, [&](unsigned d) { return getAffineDimExpr(d, context); });
  at.push_back(share);
  for (Value partial : partials)
    block.writes.push_back(
        WriteAttr::get(context, block.operandFor(partial), AffineMapAttr::get(AffineMap::get(numDims + numShares, numSymbols, at, context))));
  BlockOp made = block.build(builder, leaf.getLoc(), types);
  ShareBody(reduction, leaf, count, needed).write(made, reads, counts);
  return made;
}

//===----------------------------------------------------------------------===//
// Join
//===----------------------------------------------------------------------===//

/// The sums of the parts, one dimension more in front.
static Value joinParts(OpBuilder &builder, Location loc, Operation *combiner, bool isStateFirst, Value parts, Value init) {
  auto type = cast<RankedTensorType>(init.getType());
  unsigned rank = unsigned(type.getRank());
  AffineMap all = builder.getMultiDimIdentityMap(rank + 1), own = all.dropResult(0);
  SmallVector<utils::IteratorType> iterators(rank + 1, utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(builder, loc, TypeRange{type}, ValueRange{parts}, ValueRange{init}, ArrayRef<AffineMap>{all, own}, iterators,
                                           [&](OpBuilder &inside, Location, ValueRange arguments) {
                                             Value operands[] = {arguments[isStateFirst ? 1 : 0], arguments[isStateFirst ? 0 : 1]};
                                             OperationState state(loc, combiner->getName(), operands, TypeRange{type.getElementType()},
                                                                  combiner->getAttrs());
                                             state.propertiesAttr = combiner->getPropertiesAsAttribute();
                                             linalg::YieldOp::create(inside, loc, inside.create(state)->getResults());
                                           });
  return generic.getResult(0);
}

/// The leaf reads what the shares come to in the place of what they have read.
void LeafCutter::writeJoin() {
  Block &body = leaf.getBody().front();
  unsigned numDims = unsigned(old.dims.size()), numSymbols = unsigned(old.symbols.size()), part = 0;
  for (linalg::LinalgOp sum : reduction.sums)
    for (OpOperand &init : sum.getDpsInitsMutable()) {
      OpResult result = sum.getTiedOpResult(&init);
      RankedTensorType type = typeOfSums(cast<RankedTensorType>(result.getType()));
      SmallVector<int64_t> shape = {parts()};
      llvm::append_range(shape, type.getShape());
      SmallVector<AffineExpr> at = llvm::map_to_vector(reduction.point, [&](unsigned d) { return getAffineDimExpr(d, context); });
      for (unsigned e = 0; e < shape.size(); ++e)
        at.push_back(getAffineDimExpr(numDims + e, context));
      unsigned allDims = numDims + unsigned(shape.size());
      old.reads.push_back(ReadAttr::get(context,
                                        PieceAttr::getBuffer(getUniverse(context, allDims, numSymbols), old.operandFor(partials[part++]),
                                                             AffineMap::get(allDims, numSymbols, at, context)),
                                        int64_t(shape.size())));
      Value parts = body.addArgument(type.clone(shape), leaf.getLoc());
      OpBuilder inside(sum);
      Value from = init.get();
      if (from.getType() != type)
        from = arith::ExtFOp::create(inside, leaf.getLoc(), type, from);
      BlockArgument state = sum.getMatchingBlockArgument(&init);
      Operation *combiner = *state.user_begin();
      Value joined = joinParts(inside, sum.getLoc(), combiner, combiner->getOperand(0) == state, parts, from);
      if (joined.getType() != result.getType())
        joined = arith::TruncFOp::create(inside, leaf.getLoc(), result.getType(), joined);
      result.replaceAllUsesWith(joined);
    }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (needed.contains(&op) && op.use_empty())
      op.erase();
  dropUnread();
}

void LeafCutter::dropUnread() {
  Block &body = leaf.getBody().front();
  for (unsigned r = unsigned(old.reads.size()); r > 0; --r)
    if (body.getArgument(r - 1).use_empty()) {
      body.eraseArgument(r - 1);
      old.reads.erase(old.reads.begin() + (r - 1));
    }
  old.name = old.name.empty() ? "" : old.name + "_join";
  old.assign(leaf);
}

CutLeaf LeafCutter::run() {
  findNeeded();
  makeBuffers();
  CutLeaf made;
  made.shares = writeShare(terms, /*isRest=*/false);
  if (rest > 0)
    made.rest = writeShare(rest, /*isRest=*/true);
  writeJoin();
  made.join = leaf;
  return made;
}

CutLeaf etdg::cutLeaf(const LeafReduction &reduction, int64_t terms) { return LeafCutter(reduction, std::min(terms, reduction.extent)).run(); }

/// Cuts a dimension of the block, by a `combine` that may have to be derived.
static bool cutDimension(BlockOp leaf, int64_t terms, int64_t joined, std::string &why) {
  bool isDerived = deriveCombine(leaf);
  std::optional<JoinableReduction> found = findJoinable(leaf, why);
  if (found && cutIntoJoined(*found, terms, joined, why))
    return true;
  if (isDerived)
    dropCombine(leaf);
  return false;
}

namespace {
struct ETDGCutLeaves : etdg::impl::ETDGCutLeavesBase<ETDGCutLeaves> {
  using ETDGCutLeavesBase::ETDGCutLeavesBase;
  void runOnOperation() override {
    auto cut = [&](BlockOp leaf) {
      std::string why;
      bool reduces = hasReduction(leaf);
      if (reduces && cutDimension(leaf, terms, joined, why))
        return;
      if (std::optional<LeafReduction> found = reduces ? std::nullopt : findLeafReduction(leaf, terms, why))
        cutLeaf(*found, terms);
      else
        remark::missed(leaf.getLoc(), remark::RemarkOpts::name("cut-leaf").category("etdg")) << ("no loop of the leaf is cut: " + why);
    };
    if (failed(eachLeaf(getOperation(), terms, 1, "shares of at least 1 term", cut)))
      signalPassFailure();
  }
};
} // namespace
