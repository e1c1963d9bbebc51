//===- DepthWise.cpp - depth-wise coarsening and splitting ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two adjacent dimensions that all accesses use alike are one (FT §5.1). The
// paper makes any access strided; here one that would need a division keeps its
// two dimensions: engines address what is affine.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Accesses.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/MergeDims.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/NamedReads.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGMERGEDIMS
#define GEN_PASS_DEF_ETDGSPLITDIM
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Merging two dimensions
//===----------------------------------------------------------------------===//

namespace {
class DimMerger {
public:
  explicit DimMerger(std::string &why) : why(why) {}
  bool plan(BlockOp block, unsigned dim);
  void apply();

private:
  bool addBlock(BlockOp block, unsigned dim);
  bool addBuffer(Value buffer, unsigned position);
  bool checkInside(BlockOp inner, unsigned d, std::optional<int64_t> size);
  bool checkExpr(AffineExpr expr, unsigned d, std::optional<int64_t> size, BlockOp block);
  bool refuse(const Twine &reason) {
    why = reason.str();
    return false;
  }

  struct Member {
    unsigned dim; // in the iteration vector
    /// With dimension dim + 1 in the place of the sum, and none in that of dim.
    SmallVector<AffineExpr> constraints;
    SmallVector<bool> eqs;
    SmallVector<StringAttr> symbols;
  };
  std::string &why;
  ft::LengthAttr outer, inner; // equal in all members
  llvm::MapVector<Operation *, Member> members;
  llvm::MapVector<Value, unsigned> buffers; // position of the outer index
};
} // namespace

static bool isOfSymbols(AffineExpr expr) {
  bool dims = false;
  expr.walk([&](AffineExpr e) { dims |= isa<AffineDimExpr>(e); });
  return !dims;
}

bool DimMerger::checkExpr(AffineExpr expr, unsigned d, std::optional<int64_t> size, BlockOp block) {
  MLIRContext *context = expr.getContext();
  AffineExpr x = getAffineDimExpr(d, context), y = getAffineDimExpr(d + 1, context);
  LinearForm form = LinearForm::of(expr);
  int64_t a = form.coefficient(x), b = form.coefficient(y);
  for (auto &[atom, coefficient] : form.terms)
    if (atom != x && atom != y && (atom.isFunctionOfDim(d) || atom.isFunctionOfDim(d + 1)))
      return refuse("a division or product in " + describeBlock(block) + " has one of them");
  if (a == 0 && b == 0)
    return true;
  if (size && a == *size * b)
    return true;
  return refuse("an index or condition of " + describeBlock(block) +
                " has them neither as one sum nor not at all");
}

bool DimMerger::checkInside(BlockOp block, unsigned d, std::optional<int64_t> size) {
  auto checkSet = [&](IntegerSet set) {
    return llvm::all_of(set.getConstraints(),
                        [&](AffineExpr e) { return checkExpr(e, d, size, block); });
  };
  if (!members.contains(block) && !checkSet(block.getDomainSet()))
    return false;
  MLIRContext *context = block.getContext();
  AffineExpr x = getAffineDimExpr(d, context), y = getAffineDimExpr(d + 1, context);
  if (!block.isLeaf() && !block.getIdentity().empty())
    return refuse("partial states are combined around it");
  for (Access &access : getAccesses(block)) {
    if (access.set && !checkSet(access.set))
      return false;
    for (unsigned p = 0; p < access.map.getNumResults(); ++p) {
      if (access.getGather(p))
        continue;
      // Both are lengths: what is inside of an element stays apart.
      bool isPair = p + 1 < cast<BufferType>(access.buffer.getType()).getDepth() &&
                    access.map.getResult(p) == x && access.map.getResult(p + 1) == y &&
                    !access.getGather(p + 1) && access.buffer.getDefiningOp<BufferOp>();
      if (isPair) {
        if (!addBuffer(access.buffer, p))
          return false;
        ++p;
        continue;
      }
      if (!checkExpr(access.map.getResult(p), d, size, block))
        return false;
    }
  }
  // Splats and indices: an index is an expression, too.
  for (ReadAttr read : block.getReads().getAsRange<ReadAttr>())
    for (PieceAttr piece : read.getPieces())
      if (piece.getKind() != SourceKind::Buffer)
        if (!checkSet(piece.getSet().getValue()) ||
            !llvm::all_of(piece.getMap().getValue().getResults(),
                          [&](AffineExpr e) { return checkExpr(e, d, size, block); }))
          return false;
  return true;
}

bool DimMerger::addBuffer(Value buffer, unsigned position) {
  auto it = buffers.find(buffer);
  if (it != buffers.end())
    return it->second == position || refuse("a buffer is indexed by them in two ways");
  auto def = buffer.getDefiningOp<BufferOp>();
  BufferType type = def.getResult().getType();
  if (!def.keepsAllPlanes() || type.getLengths()[position] != outer ||
      type.getLengths()[position + 1] != inner)
    return refuse(describeBuffer(buffer) + " has other lengths");
  buffers.insert({buffer, position});
  llvm::SetVector<Operation *> users(buffer.user_begin(), buffer.user_end());
  for (Operation *user : users) {
    auto leaf = dyn_cast<BlockOp>(user);
    if (!leaf)
      return refuse(describeBuffer(buffer) + " is a result: its dimensions are the caller's");
    // The block around it whose dimensions the pair is.
    bool found = false;
    for (Access &access : getAccesses(leaf)) {
      if (access.buffer != buffer)
        continue;
      auto x = dyn_cast<AffineDimExpr>(access.map.getResult(position));
      auto y = dyn_cast<AffineDimExpr>(access.map.getResult(position + 1));
      if (!x || !y || y.getPosition() != x.getPosition() + 1 || access.getGather(position) ||
          access.getGather(position + 1))
        return refuse(describeBlock(leaf) + " indexes " + describeBuffer(buffer) + " otherwise");
      for (BlockOp block = leaf; block; block = block.getParentBlock())
        if (x.getPosition() >= block.getNumAncestors() && y.getPosition() < block.getNumDims()) {
          if (!addBlock(block, x.getPosition()))
            return false;
          found = true;
        }
    }
    if (!found)
      return refuse(describeBlock(leaf) + " has them in two blocks");
  }
  return true;
}

/// Whether a constraint is of dimension d + 1 and has nothing to do with d.
static bool isInner(AffineExpr constraint, unsigned d) {
  return LinearForm::of(constraint).getLastDim() == static_cast<int>(d + 1) && !constraint.isFunctionOfDim(d);
}

/// The inner one is 0 ≤ j < m, m a number or over names: m, or null where it is not.
static AffineExpr findInnerLength(IntegerSet set, unsigned d) {
  AffineExpr zero = getAffineConstantExpr(0, set.getContext()), y = getAffineDimExpr(d + 1, set.getContext());
  bool low = false;
  AffineExpr length;
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    AffineExpr constraint = set.getConstraint(i);
    if (!isInner(constraint, d))
      continue;
    LinearForm form = LinearForm::of(constraint);
    AffineExpr rest = constraint.replace(y, zero);
    if (!set.isEq(i) && form.isLinearIn(d + 1) && form.coefficient(y) == 1 && rest == zero && !low)
      low = true;
    else if (!set.isEq(i) && form.isLinearIn(d + 1) && form.coefficient(y) == -1 && !length &&
             isOfSymbols(rest))
      length = rest + 1;
    else
      return {};
  }
  return low ? length : AffineExpr();
}

bool DimMerger::addBlock(BlockOp block, unsigned d) {
  auto it = members.find(block);
  if (it != members.end())
    return it->second.dim == d || refuse("blocks share dimensions in two ways");
  if (block.getNest())
    return refuse(describeBlock(block) + " is a region of a nest");
  unsigned own = d - block.getNumAncestors();
  if (block.getOperator(own) != block.getOperator(own + 1))
    return refuse("their operators differ");
  IntegerSet set = block.getDomainSet();
  MLIRContext *context = block.getContext();
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  AffineExpr zero = getAffineConstantExpr(0, context);
  AffineExpr x = getAffineDimExpr(d, context), y = getAffineDimExpr(d + 1, context);

  AffineExpr length = findInnerLength(set, d);
  if (!length)
    return refuse("the inner one does not run from 0 to a length of its own");
  std::optional<int64_t> size;
  if (auto constant = dyn_cast<AffineConstantExpr>(length))
    size = constant.getValue();
  if (size && *size < 1)
    return refuse("the inner one is empty");
  ft::LengthAttr innerLength = ft::LengthAttr::get(context, symbols, length), outerLength;

  Member member{d, {}, {}, symbols};
  bool lower = false, upper = false, fromZero = false;
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    AffineExpr constraint = set.getConstraint(i);
    if (isInner(constraint, d))
      continue;
    LinearForm form = LinearForm::of(constraint);
    if (form.getLastDim() != static_cast<int>(d)) {
      if (!checkExpr(constraint, d, size, block))
        return false;
      member.constraints.push_back(constraint.replace(x, zero));
      member.eqs.push_back(set.isEq(i));
      continue;
    }
    int64_t a = form.coefficient(x);
    AffineExpr rest = constraint.replace(x, zero);
    if (set.isEq(i) || (a != 1 && a != -1) || !form.isLinearIn(d))
      return refuse("the outer one has no range of its own");
    if (!size && !(a == 1 ? rest == zero : isOfSymbols(rest)))
      return refuse("a bound of the outer one would be multiplied by a length");
    if (a == 1) { // i ≥ -rest: c ≥ -rest · m
      member.constraints.push_back(size ? y + rest * *size : y);
      fromZero |= rest == zero;
      lower = true;
    } else { // i ≤ rest: c ≤ rest · m + m - 1
      upper = true;
      if (isOfSymbols(rest))
        outerLength = ft::LengthAttr::get(context, symbols, rest + 1);
      if (size) {
        member.constraints.push_back(rest * *size + (*size - 1) - y);
      } else {
        BlockBuilder names;
        names.symbols = member.symbols;
        ft::LengthAttr all = outerLength * innerLength;
        member.constraints.push_back(names.importExpr(all.getExpr(), all.getNames()) - 1 - y);
        member.symbols = names.symbols;
      }
    }
    member.eqs.push_back(false);
  }
  if (!lower || !upper)
    return refuse("the outer one has no range of its own");
  if (!fromZero)
    outerLength = {};
  if (members.empty()) {
    inner = innerLength;
    outer = outerLength;
  }
  if (inner != innerLength || outer != outerLength)
    return refuse(describeBlock(block) + " has other ranges");
  members.insert({block, member});
  bool ok = true;
  block->walk([&](BlockOp inside) { ok = ok && checkInside(inside, d, size); });
  return ok;
}

bool DimMerger::plan(BlockOp block, unsigned dim) {
  return addBlock(block, block.getNumAncestors() + dim);
}

/// Drops constraints with divisions that follow from the others: bounds that a split
/// has added.
static void dropImplied(BlockOp block) {
  SymbolSpace space(block->getParentOfType<GraphOp>());
  BlockBuilder b = BlockBuilder::from(block);
  SmallVector<AffineExpr> constraints(b.domain.getConstraints());
  SmallVector<bool> eqs(b.domain.getEqFlags());
  for (unsigned i = 0; i < constraints.size();) {
    bool divides = false;
    constraints[i].walk([&](AffineExpr e) { divides |= e.getKind() == AffineExprKind::FloorDiv; });
    SetBuilder others(space, b.dims.size());
    bool known = divides && !eqs[i];
    if (BlockOp parent = block.getParentBlock())
      known = known && succeeded(addDomain(others, parent));
    for (unsigned k = 0; k < constraints.size() && known; ++k)
      known =
          succeeded(others.add(k == i ? -constraints[k] - 1 : constraints[k], eqs[k], b.symbols));
    if (!known || !isEmpty(others.get())) {
      ++i;
      continue;
    }
    constraints.erase(constraints.begin() + i);
    eqs.erase(eqs.begin() + i);
  }
  b.domain = IntegerSet::get(b.dims.size(), b.symbols.size(), constraints, eqs);
  b.assign(block);
}

void DimMerger::apply() {
  for (auto &[buffer, position] : buffers) {
    auto def = buffer.getDefiningOp<BufferOp>();
    BufferType type = def.getResult().getType();
    SmallVector<ft::LengthAttr> lengths(type.getLengths());
    lengths[position] = lengths[position] * lengths[position + 1];
    lengths.erase(lengths.begin() + position + 1);
    OpBuilder builder(def);
    auto replacement = BufferOp::create(
        builder, def.getLoc(), BufferType::get(type.getContext(), lengths, type.getElement()),
        nullptr, def.getNameHintAttr());
    // The outer index goes; the inner one becomes the sum.
    dropPositions(buffer, replacement.getResult(), position);
    def.erase();
  }
  for (auto &[op, member] : members) {
    auto block = cast<BlockOp>(op);
    MLIRContext *context = op->getContext();
    unsigned d = member.dim;
    BlockBuilder b = BlockBuilder::from(block);
    for (AffineExpr &constraint : member.constraints)
      constraint = b.importExpr(constraint, member.symbols);
    b.domain = IntegerSet::get(b.dims.size(), b.symbols.size(), member.constraints, member.eqs);
    BlockRemap remap;
    remap.numAncestors = b.numAncestors;
    for (unsigned i = 0; i < b.dims.size(); ++i) {
      if (i == d) {
        remap.exprs.push_back(getAffineConstantExpr(0, context));
        continue;
      }
      remap.exprs.push_back(getAffineDimExpr(remap.dims.size(), context));
      remap.dims.push_back(b.dims[i == d + 1 ? d : i]);
    }
    remap.operators = b.operators;
    remap.operators.erase(remap.operators.begin() + (d - b.numAncestors));
    b.assign(block);
    remapBlock(block, remap);
    dropImplied(block);
  }
}

bool etdg::mergeDims(BlockOp block, unsigned dim, std::string &why) {
  DimMerger merger(why);
  if (!merger.plan(block, dim))
    return false;
  merger.apply();
  return true;
}

//===----------------------------------------------------------------------===//
// Splitting one
//===----------------------------------------------------------------------===//

/// Own dimension `dim` as chunks of `size` and a place in them, which gets a name that nothing has.
static BlockRemap remapToChunks(BlockOp b, const BlockBuilder &builder, unsigned dim, int64_t size) {
  MLIRContext *context = b.getContext();
  unsigned d = b.getNumAncestors() + dim, numDims = builder.dims.size();
  AffineExpr o = getAffineDimExpr(d, context), i = getAffineDimExpr(d + 1, context);
  BlockRemap remap;
  remap.numAncestors = builder.numAncestors;
  remap.symbols = builder.symbols;
  llvm::SmallDenseSet<StringAttr> taken(builder.dims.begin(), builder.dims.end());
  if (auto graph = b->getParentOfType<GraphOp>())
    for (StringAttr name : graph.getSymbolNames())
      taken.insert(name);
  for (unsigned k = 0; k < numDims; ++k) {
    if (k != d) {
      remap.exprs.push_back(getAffineDimExpr(remap.dims.size(), context));
      remap.dims.push_back(builder.dims[k]);
      continue;
    }
    remap.exprs.push_back(o * size + i);
    remap.dims.push_back(builder.dims[k]);
    StringAttr inner;
    for (unsigned n = 0; !inner || taken.contains(inner); ++n)
      inner = StringAttr::get(context, builder.dims[k].getValue() + Twine(n));
    remap.dims.push_back(inner);
  }
  remap.operators = builder.operators;
  remap.operators.insert(remap.operators.begin() + dim, builder.operators[dim]);
  return remap;
}

LogicalResult etdg::splitDim(BlockOp block, unsigned dim, int64_t size) {
  SmallVector<BlockOp> nest = blocksOf(block.getScheduledOp());
  unsigned d = block.getNumAncestors() + dim;
  if (size < 1 || dim >= block.getNumOwnDims())
    return failure();
  MLIRContext *context = block.getContext();
  for (BlockOp b : nest)
    if (!isOuterDomainBounded(b, d + 1))
      return failure();
  for (BlockOp b : nest) {
    BlockBuilder builder = BlockBuilder::from(b);
    unsigned numDims = builder.dims.size();
    // Bounds of o come first, over dimensions before it: ⌊lower / size⌋ ≤ o ≤ ⌊upper / size⌋.
    AffineExpr c = getAffineDimExpr(d, context), o = c, i = getAffineDimExpr(d + 1, context);
    SmallVector<AffineExpr> bounds;
    IntegerSet set = builder.domain;
    SmallVector<AffineExpr> kept; // those that whole chunks don't imply
    SmallVector<bool> keptEqs;
    for (unsigned k = 0; k < set.getNumConstraints(); ++k) {
      LinearForm form = LinearForm::of(set.getConstraint(k));
      int64_t a = form.coefficient(c);
      bool isBound =
          form.getLastDim() == static_cast<int>(d) && (a == 1 || a == -1) && form.isLinearIn(d);
      bool isWhole = isBound && !set.isEq(k) && form.terms.size() == 1 &&
                     (form.constant + (a == 1 ? 0 : 1)) % size == 0;
      if (!isWhole) {
        kept.push_back(set.getConstraint(k));
        keptEqs.push_back(set.isEq(k));
      }
      if (!isBound)
        continue;
      AffineExpr rest = set.getConstraint(k).replace(c, getAffineConstantExpr(0, context));
      if (a == 1 || set.isEq(k))
        bounds.push_back(o - (rest * -a).floorDiv(size));
      if (a == -1 || set.isEq(k))
        bounds.push_back((rest * -a).floorDiv(size) - o);
    }
    bounds.push_back(i);
    bounds.push_back(getAffineConstantExpr(size - 1, context) - i);
    BlockRemap remap = remapToChunks(b, builder, dim, size);
    SmallVector<StringAttr> symbols = builder.symbols;
    builder.domain = IntegerSet();
    if (!kept.empty())
      builder.domain = IntegerSet::get(numDims, set.getNumSymbols(), kept, keptEqs);
    builder.assign(b);
    remapBlock(b, remap);
    BlockBuilder done = BlockBuilder::from(b);
    SmallVector<AffineExpr> imported;
    for (AffineExpr bound : bounds)
      imported.push_back(done.importExpr(bound, symbols));
    IntegerSet more = IntegerSet::get(done.dims.size(), done.symbols.size(), imported,
                                      SmallVector<bool>(imported.size(), false));
    IntegerSet old = IntegerSet::get(done.dims.size(), done.symbols.size(),
                                     done.domain.getConstraints(), done.domain.getEqFlags());
    done.domain = intersect(more, old);
    done.assign(b);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

namespace {
struct ETDGMergeDims : etdg::impl::ETDGMergeDimsBase<ETDGMergeDims> {
  void runOnOperation() override {
    if (namesReads(getOperation(), getArgument()))
      return markAllAnalysesPreserved();
    SmallVector<BlockOp> blocks;
    getOperation().walk<WalkOrder::PreOrder>([&](BlockOp block) { blocks.push_back(block); });
    for (BlockOp block : blocks)
      for (unsigned d = 0; d + 1 < block.getNumOwnDims();) {
        SmallVector<StringAttr> names = block.getDimNames();
        StringRef x = names[block.getNumAncestors() + d],
                  y = names[block.getNumAncestors() + d + 1];
        std::string why;
        if (mergeDims(block, d, why)) {
          remark::passed(block.getLoc(), remark::RemarkOpts::name("merge-dims").category("coarsen"))
              << remark::reason("dimensions '{0}' and '{1}' of {2} are one", x, y,
                                describeBlock(block));
          continue;
        }
        if (!block.getNest())
          remark::missed(block.getLoc(), remark::RemarkOpts::name("merge-dims").category("coarsen"))
              << remark::reason("dimensions '{0}' and '{1}' of {2} stay two: {3}", x, y,
                                describeBlock(block), why);
        ++d;
      }
  }
};

struct ETDGSplitDim : etdg::impl::ETDGSplitDimBase<ETDGSplitDim> {
  using ETDGSplitDimBase::ETDGSplitDimBase;
  void runOnOperation() override {
    SmallVector<BlockOp> blocks;
    llvm::SmallPtrSet<Operation *, 4> nests;
    getOperation().walk([&](BlockOp b) {
      if (b.getBlockName().value_or("") == block.getValue() &&
          (!b.getNest() || nests.insert(b.getNest()).second))
        blocks.push_back(b);
    });
    for (BlockOp b : blocks) {
      SmallVector<StringAttr> names = b.getDimNames();
      std::optional<unsigned> found;
      for (unsigned d = 0; d < b.getNumOwnDims(); ++d)
        if (names[b.getNumAncestors() + d].getValue() == dim.getValue())
          found = d;
      if (!found || failed(splitDim(b, *found, size))) {
        b.emitError() << "etdg-split-dim: expected a dimension with bounds and a positive size, "
                         "found '"
                      << dim << "' and " << size;
        return signalPassFailure();
      }
    }
  }
};
} // namespace
