//===- MergeLegality.cpp - may two blocks become one ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/Transforms/MergeLegality.h"
#include "MergeInternal.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;
using ft::OperatorKind;

//===----------------------------------------------------------------------===//
// Flows
//===----------------------------------------------------------------------===//

static llvm::SetVector<Operation *> getUsersInside(Value buffer, BlockOp block) {
  llvm::SetVector<Operation *> users;
  for (Operation *user : buffer.getUsers())
    if (block->isAncestor(user))
      users.insert(user);
  return users;
}

SmallVector<Flow, 0> MergeLegality::getFlows(BlockOp a, BlockOp b, bool walkReader) {
  SmallVector<Flow, 0> flows;
  BlockOp near = walkReader ? b : a, far = walkReader ? a : b;
  near->walk([&](BlockOp leaf) {
    for (Access &access : getAccesses(leaf)) {
      if (access.isWrite() == walkReader)
        continue;
      for (Operation *user : getUsersInside(access.buffer, far))
        for (Access &other : getAccesses(cast<BlockOp>(user))) {
          if (other.buffer != access.buffer || other.isWrite() != walkReader)
            continue;
          if (walkReader)
            flows.push_back({other, access});
          else
            flows.push_back({access, other});
        }
    }
  });
  return flows;
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

bool MergeLegality::haveEqualOuterDomains(BlockOp a, BlockOp b, unsigned numDims) {
  // Equal attributes over joined symbols are equal sets.
  BlockBuilder x = BlockBuilder::from(a), y = BlockBuilder::from(b);
  auto cut = [&](BlockBuilder &builder, BlockOp block) {
    SmallVector<AffineExpr> same;
    for (unsigned d = 0; d < builder.dims.size(); ++d)
      same.push_back(d < numDims ? getAffineDimExpr(d, block.getContext())
                                 : getAffineConstantExpr(0, block.getContext()));
    builder.domain =
        remapSet(getOuterDomain(block, numDims), same, numDims, builder.symbols.size());
    builder.reads.clear();
    builder.writes.clear();
    builder.identity.clear();
  };
  cut(x, a);
  cut(y, b);
  BlockImporter importer(x, y);
  if (importer.set(y.domain) == canonicalizeSet(x.domain))
    return true;
  auto polyhedron = [&](const BlockBuilder &builder,
                        BlockOp block) -> FailureOr<IntegerPolyhedron> {
    SetBuilder set(space, numDims);
    if (failed(set.add(builder.domain, builder.symbols)))
      return failure();
    if (BlockOp parent = block.getParentBlock())
      if (failed(addDomain(set, parent)))
        return failure();
    return set.get();
  };
  auto p = polyhedron(x, a), q = polyhedron(y, b);
  return succeeded(p) && succeeded(q) && isCovered(*p, *q) && isCovered(*q, *p);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Whether both maps have dimension `dim` alone as the index of one position:
/// equal planes then have equal coordinates.
static bool isEqualByIndex(const Flow &flow, unsigned dim) {
  AffineMap x = flow.write.map, y = flow.read.map;
  AffineExpr expr = getAffineDimExpr(dim, x.getContext());
  unsigned depth = cast<BufferType>(flow.write.buffer.getType()).getDepth();
  for (unsigned p = 0; p < depth; ++p)
    if (x.getResult(p) == expr && y.getResult(p) == expr && !flow.read.getGather(p))
      return true;
  return false;
}

bool MergeLegality::keepsOrder(Flow &flow, unsigned dim, OperatorKind kind, std::string &why) {
  if (dim < getNumOwnerDims(flow.write.buffer) || isEqualByIndex(flow, dim))
    return true;
  unsigned offset = flow.write.block.getNumDims();
  SetBuilder pair(space, offset + flow.read.getPointSize());
  auto unknown = [&]() {
    why = "an access is not quasi-affine";
    return false;
  };
  if (failed(addPoint(pair, flow.write, 0)) || failed(addPoint(pair, flow.read, offset)))
    return unknown();
  auto written = getPlane(pair, flow.write, 0), read = getPlane(pair, flow.read, offset);
  if (failed(written) || failed(read))
    return unknown();
  for (auto [x, y] : llvm::zip(*written, *read)) {
    if (!x || !y)
      continue; // data: any index
    LinearExpr difference = *y;
    difference *= -1;
    difference += *x;
    pair.add(difference, true);
  }
  for (unsigned d = 0; d < dim; ++d)
    pair.addEqual(d, offset + d);
  auto refuse = [&](const SetBuilder &set, bool late) {
    SmallVector<StringAttr> names;
    for (StringAttr name : flow.write.block.getDimNames())
      names.push_back(StringAttr::get(name.getContext(), name.getValue() + "'"));
    llvm::append_range(names, flow.read.getPointNames());
    StringRef dimName = flow.read.block.getDimNames()[dim].getValue();
    llvm::raw_string_ostream os(why);
    os << describeBlock(flow.read.block) << " reads of " << describeBuffer(flow.read.buffer)
       << " what " << describeBlock(flow.write.block) << " writes in "
       << (late ? "a later iteration of '" : "another iteration of the map dimension '") << dimName
       << "'";
    if (!explain)
      return false;
    if (std::optional<SmallVector<int64_t>> sample = findSample(set.get()))
      os << ", for example at " << sampleToString(*sample, names, space);
    return false;
  };
  SetBuilder later = pair;
  later.addLess(offset + dim, dim);
  if (!isEmpty(later.get()))
    return refuse(later, true);
  if (kind == OperatorKind::Map) {
    SetBuilder earlier = pair;
    earlier.addLess(dim, offset + dim);
    if (!isEmpty(earlier.get()))
      return refuse(earlier, false);
  }
  return true;
}

static bool mayBeCut(OperatorKind kind) {
  return kind == OperatorKind::Reduce || kind == OperatorKind::Fold;
}

Alignment MergeLegality::align(BlockOp a, BlockOp b, ArrayRef<Flow> constFlows) {
  Alignment result;
  SmallVector<Flow, 0> flows(constFlows);
  unsigned numAncestors = a.getNumAncestors();
  unsigned size = std::min(a.getNumOwnDims(), b.getNumOwnDims());
  auto nameOf = [&](BlockOp block, unsigned d) {
    return ("'" + block.getDimNames()[numAncestors + d].getValue() + "' of " + describeBlock(block))
        .str();
  };
  auto stop = [&](StringRef rule, const Twine &reason) {
    result.stop = {rule.str(), reason.str()};
    return result;
  };
  for (unsigned d = 0; d < size; ++d) {
    OperatorKind kindA = a.getOperator(d), kindB = b.getOperator(d), kind = kindB;
    bool narrows = false;
    if (kindA != kindB) {
      narrows = kindA == OperatorKind::Map && mayBeCut(kindB) && !flows.empty();
      if (!narrows)
        return stop("width", "dimension " + nameOf(a, d) + " is " +
                                 ft::stringifyOperatorKind(kindA) + ", " + nameOf(b, d) + " is " +
                                 ft::stringifyOperatorKind(kindB));
    } else if (kind != OperatorKind::Map && !flows.empty()) {
      return stop("pipeline", "both carry a state along " + nameOf(a, d) + " (" +
                                  ft::stringifyOperatorKind(kind) +
                                  "): as two they can overlap, merged they are one chain");
    }
    unsigned numDims = numAncestors + d + 1;
    if (!isOuterDomainBounded(a, numDims) || !isOuterDomainBounded(b, numDims))
      return stop("domain",
                  "the range of dimension " + nameOf(a, d) + " follows from inner dimensions only");
    if (!haveEqualOuterDomains(a, b, numDims)) {
      auto text = [&](BlockOp block) {
        return conditionsToString(getOuterDomain(block, numDims), block.getDimNames(),
                                  block.getSymbolNames());
      };
      return stop("domain", "dimension " + nameOf(a, d) + " has other iterations than " +
                                nameOf(b, d) + ": " + text(a) + "; " + text(b));
    }
    std::string why;
    for (Flow &flow : flows)
      if (!keepsOrder(flow, numAncestors + d, kind, why))
        return stop("dependence", why);
    result.operators.push_back(kind);
    if (narrows)
      result.narrowed.push_back(d);
    ++result.size;
  }
  return result;
}
