//===- MergeUtils.cpp - mechanics of merging blocks -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coordinates, domains, and blocks under blocks. Leaves are in MergeLeaves.cpp,
// buffers in MergeBuffers.cpp.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

/// Replacements of all dimensions of a map that has element dimensions after `exprs.size()`.
static SmallVector<AffineExpr> withElementDims(ArrayRef<AffineExpr> exprs, unsigned oldDims,
                                               unsigned numDims, MLIRContext *context) {
  SmallVector<AffineExpr> all(exprs);
  for (unsigned d = exprs.size(); d < oldDims; ++d)
    all.push_back(getAffineDimExpr(numDims + d - exprs.size(), context));
  return all;
}

AffineMap etdg::remapMap(AffineMap map, ArrayRef<AffineExpr> exprs, unsigned numDims,
                         unsigned numSymbols) {
  unsigned element = map.getNumDims() - std::min<size_t>(map.getNumDims(), exprs.size());
  SmallVector<AffineExpr> all = withElementDims(exprs, map.getNumDims(), numDims, map.getContext());
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(result.replaceDims(all));
  return AffineMap::get(numDims + element, numSymbols, results, map.getContext());
}

IntegerSet etdg::remapSet(IntegerSet set, ArrayRef<AffineExpr> exprs, unsigned numDims,
                          unsigned numSymbols) {
  unsigned element = set.getNumDims() - std::min<size_t>(set.getNumDims(), exprs.size());
  SmallVector<AffineExpr> all = withElementDims(exprs, set.getNumDims(), numDims, set.getContext());
  SmallVector<AffineExpr> constraints;
  for (AffineExpr constraint : set.getConstraints())
    constraints.push_back(constraint.replaceDims(all));
  return IntegerSet::get(numDims + element, numSymbols, constraints, set.getEqFlags());
}

/// Replaces old dimensions in everything that a block says.
static void remapBuilder(BlockBuilder &b, const BlockRemap &remap) {
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : remap.exprs)
    exprs.push_back(b.importExpr(expr, remap.symbols));
  unsigned numDims = remap.dims.size(), numSymbols = b.symbols.size();
  auto readOf = [&](ReadAttr read) {
    return transformRead(
        read, [&](AffineMap map, int64_t) { return remapMap(map, exprs, numDims, numSymbols); },
        [&](IntegerSet set) { return remapSet(set, exprs, numDims, numSymbols); },
        [](int64_t operand) { return operand; });
  };
  b.domain = remapSet(b.domain, exprs, numDims, numSymbols);
  for (ReadAttr &read : b.reads)
    read = readOf(read);
  for (ReadAttr &read : b.identity)
    read = readOf(read);
  for (WriteAttr &write : b.writes)
    write = WriteAttr::get(
        write.getContext(), write.getOperand(),
        AffineMapAttr::get(remapMap(write.getMap().getValue(), exprs, numDims, numSymbols)));
}

/// `name`, or the name with a number after it, that `taken` doesn't have.
static StringAttr uniqueName(StringAttr name, const llvm::SmallDenseSet<StringAttr> &taken) {
  if (!taken.contains(name))
    return name;
  for (unsigned i = 0;; ++i) {
    auto next = StringAttr::get(name.getContext(), name.getValue() + Twine(i));
    if (!taken.contains(next))
      return next;
  }
}

/// The lengths' names of the graph: no dimension is called like one.
static void addGraphSymbols(Operation *op, llvm::SmallDenseSet<StringAttr> &taken) {
  if (auto graph = op->getParentOfType<GraphOp>())
    for (StringAttr name : graph.getSymbolNames())
      taken.insert(name);
}

void etdg::remapBlock(BlockOp block, const BlockRemap &remap) {
  BlockBuilder b = BlockBuilder::from(block);
  remapBuilder(b, remap);
  b.dims = remap.dims;
  b.numAncestors = remap.numAncestors;
  b.operators = remap.operators;
  b.assign(block);
  block.removeScheduleAttr();
  if (block.isLeaf())
    return;
  llvm::SmallDenseSet<StringAttr> symbols;
  addGraphSymbols(block, symbols);
  for (ArrayRef<BlockOp> nest : getNests(block.getBody())) {
    if (nest.empty())
      continue;
    BlockOp front = nest.front();
    if (NestOp op = front.getNest())
      op.removeScheduleAttr();
    unsigned oldOuter = front.getNumAncestors();
    SmallVector<StringAttr> names = front.getDimNames();
    BlockRemap inner;
    inner.dims = remap.dims;
    inner.numAncestors = remap.dims.size();
    inner.symbols = remap.symbols;
    inner.exprs = remap.exprs;
    llvm::SmallDenseSet<StringAttr> taken = symbols;
    taken.insert(inner.dims.begin(), inner.dims.end());
    for (unsigned d = oldOuter; d < names.size(); ++d) {
      inner.exprs.push_back(getAffineDimExpr(inner.dims.size(), block.getContext()));
      inner.dims.push_back(uniqueName(names[d], taken));
      taken.insert(inner.dims.back());
    }
    for (BlockOp child : nest) {
      inner.operators.clear();
      for (unsigned d = 0; d < child.getNumOwnDims(); ++d)
        inner.operators.push_back(child.getOperator(d));
      remapBlock(child, inner);
    }
  }
}

void etdg::renameDims(ArrayRef<BlockOp> nest, ArrayRef<StringAttr> prefix) {
  if (nest.empty())
    return;
  BlockOp front = nest.front();
  SmallVector<StringAttr> old = front.getDimNames();
  SmallVector<StringAttr> names(prefix);
  names.truncate(std::min(names.size(), old.size()));
  llvm::SmallDenseSet<StringAttr> taken(names.begin(), names.end());
  addGraphSymbols(front, taken);
  for (unsigned d = names.size(); d < old.size(); ++d) {
    names.push_back(uniqueName(old[d], taken));
    taken.insert(names.back());
  }
  if (names == old)
    return;
  Builder builder(front.getContext());
  ArrayAttr attr = builder.getArrayAttr(llvm::to_vector_of<Attribute>(names));
  for (BlockOp block : nest) {
    block.setDimsAttr(attr);
    if (!block.isLeaf())
      for (ArrayRef<BlockOp> inner : getNests(block.getBody()))
        renameDims(inner, names);
  }
}

BlockOp etdg::cloneBlock(OpBuilder &builder, BlockOp block) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(block);
  return cast<BlockOp>(builder.clone(*block));
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

static IntegerSet selectConstraints(IntegerSet set, unsigned numDims, bool outer) {
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> eqs;
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    int last = LinearForm::of(set.getConstraint(i)).getLastDim();
    if ((last < static_cast<int>(numDims)) != outer)
      continue;
    constraints.push_back(set.getConstraint(i));
    eqs.push_back(set.isEq(i));
  }
  if (constraints.empty())
    return getUniverse(set.getContext(), set.getNumDims(), set.getNumSymbols());
  return IntegerSet::get(set.getNumDims(), set.getNumSymbols(), constraints, eqs);
}

IntegerSet etdg::getOuterDomain(IntegerSet set, unsigned numDims) {
  return selectConstraints(set, numDims, /*outer=*/true);
}

IntegerSet etdg::getOuterDomain(BlockOp block, unsigned numDims) {
  return getOuterDomain(block.getDomainSet(), numDims);
}

IntegerSet etdg::getInnerDomain(BlockOp block, unsigned numDims) {
  return selectConstraints(block.getDomainSet(), numDims, /*outer=*/false);
}

bool etdg::isOuterDomainBounded(IntegerSet domain, unsigned numAncestors, unsigned numDims) {
  IntegerSet set = getOuterDomain(domain, numDims);
  for (unsigned d = numAncestors; d < numDims; ++d) {
    bool lower = false, upper = false;
    for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
      if (LinearForm::of(set.getConstraint(i)).getLastDim() != static_cast<int>(d))
        continue;
      BoundClass bound = classifyConstraint(set.getConstraint(i), set.isEq(i), d);
      lower |= bound == BoundClass::Lower || bound == BoundClass::Equal;
      upper |= bound == BoundClass::Upper || bound == BoundClass::Equal;
    }
    if (!lower || !upper)
      return false;
  }
  return true;
}

bool etdg::isOuterDomainBounded(BlockOp block, unsigned numDims) {
  return isOuterDomainBounded(block.getDomainSet(), block.getNumAncestors(), numDims);
}

//===----------------------------------------------------------------------===//
// Blocks under blocks
//===----------------------------------------------------------------------===//

/// The number of own dimensions up to the innermost one that may be re-associated.
static unsigned getCombineDepth(BlockOp block) {
  unsigned depth = 0;
  for (unsigned d = 0; d < block.getNumOwnDims(); ++d) {
    ft::OperatorKind kind = block.getOperator(d);
    if (kind == ft::OperatorKind::Reduce || kind == ft::OperatorKind::Fold ||
        kind == ft::OperatorKind::Scan)
      depth = d + 1;
  }
  return depth;
}

/// Whether the block's `combine` belongs to one of its first `k` own dimensions.
static bool combinesOuter(BlockOp block, unsigned k) {
  return !block.getCombine().empty() && getCombineDepth(block) <= k;
}

/// Moves the combine region with its identities; those of `from` speak of
/// dimensions that `to` has, too.
static void moveCombine(BlockOp from, BlockOp to) {
  BlockBuilder source = BlockBuilder::from(from), target = BlockBuilder::from(to);
  unsigned numDims = target.dims.size();
  SmallVector<AffineExpr> exprs;
  for (unsigned d = 0; d < source.dims.size(); ++d)
    exprs.push_back(d < numDims ? getAffineDimExpr(d, to.getContext())
                                : getAffineConstantExpr(0, to.getContext()));
  BlockImporter importer(target, source);
  unsigned numSymbols = target.symbols.size();
  for (ReadAttr read : source.identity)
    target.identity.push_back(transformRead(
        read,
        [&](AffineMap map, int64_t) {
          return remapMap(importer.map(map), exprs, numDims, numSymbols);
        },
        [&](IntegerSet set) { return remapSet(importer.set(set), exprs, numDims, numSymbols); },
        [&](int64_t operand) { return importer.operand(operand); }));
  source.identity.clear();

  if (to.getCombine().empty()) {
    to.getCombine().takeBody(from.getCombine());
  } else {
    // States of both, twice: [a, b, a', b'].
    Block &x = to.getCombine().front(), &y = from.getCombine().front();
    unsigned nx = x.getNumArguments() / 2, ny = y.getNumArguments() / 2;
    IRMapping mapping;
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned i = 0; i < ny; ++i) {
        BlockArgument old = y.getArgument(half * ny + i);
        unsigned at = half == 0 ? nx + i : 2 * nx + ny + i;
        mapping.map(old, x.insertArgument(at, old.getType(), old.getLoc()));
      }
    Operation *yieldX = x.getTerminator(), *yieldY = y.getTerminator();
    OpBuilder builder(yieldX);
    for (Operation &op : y.without_terminator())
      builder.clone(op, mapping);
    SmallVector<Value> results(yieldX->getOperands());
    for (Value value : yieldY->getOperands())
      results.push_back(mapping.lookupOrDefault(value));
    yieldX->setOperands(results);
    Region empty;
    from.getCombine().takeBody(empty);
  }
  source.assign(from);
  target.assign(to);
}

/// The domain with further conditions on its first dimensions. Of two that differ in
/// their constant only, the one that says more stays.
static void addConditions(BlockBuilder &b, const Conditions &guard) {
  SmallVector<std::pair<AffineExpr, bool>> all;
  auto add = [&](AffineExpr condition, bool isEq) {
    LinearForm form = LinearForm::of(condition);
    for (auto &[other, otherEq] : all) {
      LinearForm known = LinearForm::of(other);
      if (isEq || otherEq || form.terms != known.terms)
        continue;
      if (form.constant < known.constant)
        other = condition;
      return;
    }
    all.push_back({condition, isEq});
  };
  unsigned numDims = b.dims.size();
  SmallVector<AffineExpr> conditions;
  for (AffineExpr condition : guard.set.getConstraints())
    conditions.push_back(b.importExpr(condition, guard.symbols));
  unsigned numSymbols = b.symbols.size();
  for (auto [condition, eq] : llvm::zip_equal(b.domain.getConstraints(), b.domain.getEqFlags()))
    add(canonicalizeExpr(condition, numDims, numSymbols), eq);
  for (auto [condition, eq] : llvm::zip_equal(conditions, guard.set.getEqFlags()))
    add(canonicalizeExpr(condition, numDims, numSymbols), eq);
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> flags;
  for (auto [condition, eq] : all) {
    constraints.push_back(condition);
    flags.push_back(eq);
  }
  b.domain = canonicalizeSet(IntegerSet::get(numDims, numSymbols, constraints, flags));
}

/// What a graph block holds runs under conditions on its dimensions.
static void guardItems(BlockOp block, const Conditions &guard) {
  for (ArrayRef<BlockOp> nest : getNests(block.getBody()))
    for (BlockOp child : nest) {
      BlockBuilder b = BlockBuilder::from(child);
      addConditions(b, guard);
      b.assign(child);
    }
}

BlockOp etdg::splitOuterDims(BlockOp block, unsigned k, const OuterDomain *united,
                             const Conditions *guard) {
  bool differs = united && !united->isShared;
  if (!block.isLeaf() && block.getNumOwnDims() == k && !differs)
    return block;
  unsigned numDims = block.getNumAncestors() + k;
  BlockBuilder outer = BlockBuilder::from(block);
  if (!block.isLeaf() && block.getNumOwnDims() == k) {
    if (!isUniverse(guard->set))
      guardItems(block, *guard);
    outer.domain = united->set;
    outer.symbols = united->symbols;
    outer.assign(block);
    return block;
  }
  BlockBuilder spec;
  spec.name = outer.name;
  spec.operators.assign(outer.operators.begin(), outer.operators.begin() + k);
  spec.dims.assign(outer.dims.begin(), outer.dims.begin() + numDims);
  spec.numAncestors = outer.numAncestors;
  spec.symbols = outer.symbols;
  SmallVector<AffineExpr> same;
  for (unsigned d = 0; d < outer.dims.size(); ++d)
    same.push_back(d < numDims ? getAffineDimExpr(d, block.getContext())
                               : getAffineConstantExpr(0, block.getContext()));
  spec.domain = remapSet(getOuterDomain(block, numDims), same, numDims, spec.symbols.size());
  if (differs) {
    spec.domain = united->set;
    spec.symbols = united->symbols;
  }
  OpBuilder builder(block);
  BlockOp parent = spec.build(builder, block.getLoc(), {});
  builder.setInsertionPointToEnd(&parent.getBody().front());
  YieldOp::create(builder, block.getLoc(), ValueRange());
  if (combinesOuter(block, k))
    moveCombine(block, parent);
  if (k == block.getNumOwnDims() && !differs) {
    // The same dimensions: what was decided for them holds.
    if (ScheduleAttr schedule = block.getScheduleAttr())
      parent.setScheduleAttr(schedule);
    parent->setDiscardableAttrs(block->getDiscardableAttrDictionary());
    block->setDiscardableAttrs(DictionaryAttr::get(block.getContext()));
  }
  sinkBlock(block, parent, guard);
  return parent;
}

void etdg::sinkBlock(BlockOp block, BlockOp parent, const Conditions *guard) {
  unsigned numDims = parent.getNumDims();
  unsigned k = numDims - block.getNumAncestors();
  BlockBuilder b = BlockBuilder::from(block);
  b.domain = getInnerDomain(block, numDims);
  if (guard && !isUniverse(guard->set)) {
    if (!block.isLeaf() && k == block.getNumOwnDims())
      guardItems(block, *guard);
    else
      addConditions(b, *guard);
  }
  b.numAncestors = numDims;
  b.operators.erase(b.operators.begin(), b.operators.begin() + k);
  block->moveBefore(parent.getYield());
  block.removeScheduleAttr();
  b.assign(block);
  renameDims(block, parent.getDimNames());
  if (block.isLeaf() || !b.operators.empty() || !isUniverse(block.getDomainSet()))
    return;
  // Nothing is left of it but its items.
  Block &inner = block.getBody().front();
  inner.getTerminator()->erase();
  parent.getBody().front().getOperations().splice(parent.getYield()->getIterator(),
                                                  inner.getOperations());
  block.erase();
}

bool etdg::canMergeCombine(BlockOp a, BlockOp b, unsigned k) {
  auto reassociates = [&](BlockOp block) {
    for (unsigned d = 0; d < k; ++d)
      if (block.getOperator(d) != ft::OperatorKind::Map)
        return true;
    return false;
  };
  // A region that belongs to a dimension further in stays with its block.
  bool hasA = combinesOuter(a, k), hasB = combinesOuter(b, k);
  if (hasA == hasB)
    return true;
  return !reassociates(hasA ? b : a);
}

/// Moves the buffers that a block uses before `position`, where they stand after it.
static void hoistBuffers(BlockOp block, Operation *position) {
  block->walk([&](BlockOp inner) {
    for (Value buffer : inner.getBuffers()) {
      Operation *def = buffer.getDefiningOp();
      if (def && def->getBlock() == position->getBlock() && !def->isBeforeInBlock(position))
        def->moveBefore(position);
    }
  });
}

BlockOp etdg::mergeBlocks(BlockOp a, BlockOp b, unsigned k, ArrayRef<ft::OperatorKind> operators,
                          const MergedDomain *united) {
  if (!canMergeCombine(a, b, k))
    return {};
  // No dimension of the merged block is called like a length that only `b` knows.
  renameDims(a, ArrayRef(a.getDimNames()).take_front(a.getNumAncestors()));
  hoistBuffers(b, a);
  BlockOp merged =
      united ? splitOuterDims(a, k, &united->outer, &united->guardA) : splitOuterDims(a, k);
  if (merged != a && a.getBlockName())
    a.setBlockName(std::optional<StringRef>(a.getBlockName()->str() + "_0"));
  if (combinesOuter(b, k))
    moveCombine(b, merged);
  merged.removeScheduleAttr();
  merged->removeAttr(etdg::names::candidates);
  Builder builder(merged.getContext());
  SmallVector<Attribute> kinds;
  for (ft::OperatorKind kind : operators)
    kinds.push_back(builder.getStringAttr(ft::stringifyOperatorKind(kind)));
  merged.setOperatorsAttr(builder.getArrayAttr(kinds));
  sinkBlock(b, merged, united ? &united->guardB : nullptr);
  return merged;
}
