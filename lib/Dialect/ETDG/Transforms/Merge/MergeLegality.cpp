//===- MergeLegality.cpp - may two blocks become one ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/Transforms/MergeLegality.h"
#include "ft/Analysis/Extents.h"
#include "ft/Dialect/ETDG/Transforms/BlockImporter.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

#include "llvm/ADT/SetVector.h"

#include <atomic>

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;
using ft::OperatorKind;

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Graphs of a module are merged side by side.
static std::atomic<int64_t> alignments, visits;

MergeWork etdg::getMergeWork() {
  return {alignments.load(std::memory_order_relaxed), visits.load(std::memory_order_relaxed)};
}

void etdg::countMergeVisits(int64_t more) { visits.fetch_add(more, std::memory_order_relaxed); }

//===----------------------------------------------------------------------===//
// Flows
//===----------------------------------------------------------------------===//

static llvm::SetVector<Operation *> getUsersInside(Value buffer, BlockOp block) {
  llvm::SetVector<Operation *> users;
  int64_t seen = 0;
  for (Operation *user : buffer.getUsers()) {
    ++seen;
    if (block->isAncestor(user))
      users.insert(user);
  }
  countMergeVisits(seen);
  return users;
}

SmallVector<Flow, 0> MergeLegality::getFlows(BlockOp a, BlockOp b, bool walkReader) {
  SmallVector<Flow, 0> flows;
  BlockOp near = walkReader ? b : a, far = walkReader ? a : b;
  near->walk([&](BlockOp leaf) {
    SmallVector<Access, 0> accesses = getAccesses(leaf);
    countMergeVisits(int64_t(accesses.size()));
    for (Access &access : accesses) {
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

/// The outer domain over its own dimensions alone.
static Conditions getOuterConditions(const Coordinates &block, unsigned numDims) {
  MLIRContext *context = block.domain.getContext();
  SmallVector<AffineExpr> same;
  for (unsigned d = 0; d < block.domain.getNumDims(); ++d)
    same.push_back(d < numDims ? getAffineDimExpr(d, context) : getAffineConstantExpr(0, context));
  return {canonicalizeSet(
              remapSet(getOuterDomain(block.domain, numDims), same, numDims, block.symbols.size())),
          block.symbols};
}

FailureOr<IntegerPolyhedron> MergeLegality::getOuterPoints(const Coordinates &block,
                                                           unsigned numDims) {
  Conditions outer = getOuterConditions(block, numDims);
  SetBuilder set(space, numDims);
  if (failed(set.add(outer.set, outer.symbols)))
    return failure();
  if (BlockOp parent = BlockOp(block.block).getParentBlock())
    if (failed(addDomain(set, parent)))
      return failure();
  return set.get();
}

/// Whether both sets have the same text over the same names.
static bool haveSameText(const Conditions &x, const Conditions &y) {
  if (x.symbols == y.symbols)
    return x.set == y.set;
  BlockBuilder joined;
  SmallVector<AffineExpr> constraints[2];
  for (AffineExpr constraint : x.set.getConstraints())
    constraints[0].push_back(joined.importExpr(constraint, x.symbols));
  for (AffineExpr constraint : y.set.getConstraints())
    constraints[1].push_back(joined.importExpr(constraint, y.symbols));
  unsigned numDims = x.set.getNumDims(), numSymbols = joined.symbols.size();
  return canonicalizeSet(
             IntegerSet::get(numDims, numSymbols, constraints[0], x.set.getEqFlags())) ==
         canonicalizeSet(IntegerSet::get(numDims, numSymbols, constraints[1], y.set.getEqFlags()));
}

/// Whether all points of a set have the condition.
static bool satisfies(const SymbolSpace &space, const IntegerPolyhedron &points, unsigned numDims,
                      AffineExpr condition, ArrayRef<StringAttr> symbols) {
  SetBuilder negated(space, numDims);
  if (failed(negated.add(-condition - 1, false, symbols)))
    return false;
  IntegerPolyhedron outside = negated.get().intersect(points);
  return isEmpty(outside);
}

std::optional<OuterDomain> MergeLegality::unite(const Coordinates &a, const Coordinates &b,
                                                unsigned numDims, bool mayDiffer) {
  unsigned numAncestors = BlockOp(a.block).getNumAncestors();
  if (!isOuterDomainBounded(a.domain, numAncestors, numDims) ||
      !isOuterDomainBounded(b.domain, numAncestors, numDims))
    return std::nullopt;
  OuterDomain x, y;
  static_cast<Conditions &>(x) = getOuterConditions(a, numDims);
  static_cast<Conditions &>(y) = getOuterConditions(b, numDims);
  if (haveSameText(x, y))
    return x;
  auto p = getOuterPoints(a, numDims), q = getOuterPoints(b, numDims);
  if (failed(p) || failed(q))
    return std::nullopt;
  bool hasB = isCovered(*q, *p), hasA = isCovered(*p, *q);
  if (hasA && hasB)
    return x;
  if (!mayDiffer)
    return std::nullopt;
  x.isShared = y.isShared = false;
  if (hasB)
    return x;
  if (hasA)
    return y;
  // What both satisfy; and that a range is not empty, which its ends say together.
  BlockBuilder joined;
  SmallVector<AffineExpr> kept;
  auto keep = [&](AffineExpr condition, const Conditions &of, const IntegerPolyhedron &other) {
    if (satisfies(space, other, numDims, condition, of.symbols))
      kept.push_back(joined.importExpr(condition, of.symbols));
  };
  for (auto [of, other] : {std::pair<const Conditions *, const IntegerPolyhedron *>(&x, &*q),
                           std::pair<const Conditions *, const IntegerPolyhedron *>(&y, &*p)}) {
    SmallVector<AffineExpr> bounds;
    for (unsigned i = 0; i < of->set.getNumConstraints(); ++i) {
      bounds.push_back(of->set.getConstraint(i));
      if (of->set.isEq(i))
        bounds.push_back(-of->set.getConstraint(i));
    }
    unsigned count = bounds.size();
    for (unsigned i = 0; i < count; ++i)
      for (unsigned j = i + 1; j < count; ++j)
        if (AffineExpr sum = canonicalizeExpr(bounds[i] + bounds[j], numDims, of->symbols.size());
            LinearForm::of(sum).getLastDim() < static_cast<int>(numAncestors) &&
            !isa<AffineConstantExpr>(sum))
          bounds.push_back(sum);
    for (AffineExpr bound : bounds)
      keep(bound, *of, *other);
  }
  if (kept.empty())
    return std::nullopt;
  OuterDomain both;
  both.isShared = false;
  both.symbols.assign(joined.symbols.begin(), joined.symbols.end());
  SmallVector<bool> flags(kept.size(), false);
  both.set = canonicalizeSet(IntegerSet::get(numDims, both.symbols.size(), kept, flags));
  if (!isOuterDomainBounded(both.set, numAncestors, numDims))
    return std::nullopt;
  return both;
}

OuterDomain MergeLegality::getOuterDomainOf(const Coordinates &block, unsigned numDims) {
  OuterDomain own;
  static_cast<Conditions &>(own) = getOuterConditions(block, numDims);
  own.isShared = false;
  return own;
}

Conditions MergeLegality::getGuard(const Coordinates &block, const OuterDomain &outer,
                                   unsigned numDims) {
  Conditions own = getOuterConditions(block, numDims);
  SmallVector<AffineExpr> kept;
  SmallVector<bool> flags;
  SetBuilder points(space, numDims);
  bool known = !outer.isShared && succeeded(points.add(outer.set, outer.symbols));
  if (BlockOp parent = BlockOp(block.block).getParentBlock())
    known = known && succeeded(addDomain(points, parent));
  for (unsigned i = 0; i < own.set.getNumConstraints() && !outer.isShared; ++i) {
    AffineExpr condition = own.set.getConstraint(i);
    bool follows =
        known && satisfies(space, points.get(), numDims, condition, own.symbols) &&
        (!own.set.isEq(i) || satisfies(space, points.get(), numDims, -condition, own.symbols));
    if (follows)
      continue;
    kept.push_back(condition);
    flags.push_back(own.set.isEq(i));
  }
  own.set = kept.empty() ? getUniverse(own.set.getContext(), numDims, own.symbols.size())
                         : IntegerSet::get(numDims, own.symbols.size(), kept, flags);
  return own;
}

double MergeLegality::getTypicalSize(IntegerSet set, ArrayRef<StringAttr> symbols,
                                     unsigned numAncestors, unsigned numDims) {
  MLIRContext *context = set.getContext();
  SmallVector<AffineExpr> values;
  for (StringAttr name : symbols)
    values.push_back(getAffineConstantExpr(typical.get(name), context));
  double size = 1;
  for (unsigned d = numAncestors; d < numDims; ++d) {
    AffineExpr dim = getAffineDimExpr(d, context);
    std::optional<double> low, high; // nothing overflows
    for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
      LinearForm form = LinearForm::of(set.getConstraint(i).replaceSymbols(values));
      int64_t c = form.coefficient(dim);
      if (form.terms.size() != 1 || (c != 1 && c != -1))
        continue;
      // c · d + constant ≥ 0
      double bound = -static_cast<double>(c) * static_cast<double>(form.constant);
      if (c == 1 || set.isEq(i))
        low = std::max(low.value_or(bound), bound);
      if (c == -1 || set.isEq(i))
        high = std::min(high.value_or(bound), bound);
    }
    size *= low && high ? std::max(*high - *low + 1, 1.0) : double(TypicalLengths::unknown);
  }
  return size;
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

/// Which access comes too late, or at the wrong time; with an example where that is asked for.
std::string MergeLegality::describeLate(Flow &flow, StringRef dimName, const SetBuilder &set, bool isLate) {
  SmallVector<StringAttr> names;
  for (StringAttr name : flow.write.block.getDimNames())
    names.push_back(StringAttr::get(name.getContext(), name.getValue() + "'"));
  llvm::append_range(names, flow.read.getPointNames());
  std::string text;
  llvm::raw_string_ostream os(text);
  os << describeBlock(flow.read.block) << " reads of " << describeBuffer(flow.read.buffer)
     << " what " << describeBlock(flow.write.block) << " writes in "
     << (isLate ? "a later iteration of '" : "another iteration of the map dimension '")
     << dimName << "'";
  if (!explain)
    return text;
  if (std::optional<SmallVector<int64_t>> sample = findSample(set.get()))
    os << ", for example at " << sampleToString(*sample, names, space);
  return text;
}

bool MergeLegality::keepsOrder(Flow &flow, unsigned dim, OperatorKind kind, const Coordinates &a,
                               const Coordinates &b, std::string &why) {
  unsigned numAncestors = BlockOp(a.block).getNumAncestors();
  auto standsAt = [&](const Coordinates &c) {
    const Coordinates::Own &own = c.own[dim - numAncestors];
    return own.dim == dim - numAncestors && own.sign == 1 && !own.offset;
  };
  if (dim < getNumOwnerDims(flow.write.buffer) ||
      (standsAt(a) && standsAt(b) && isEqualByIndex(flow, dim)))
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
  for (unsigned d = 0; d < numAncestors; ++d)
    pair.addEqual(d, offset + d);
  // How much later the write is than the read, in dimensions of the merged block.
  LinearExpr late;
  for (unsigned d = numAncestors; d <= dim; ++d) {
    std::optional<LinearExpr> x = a.getRow(pair, d - numAncestors, 0);
    std::optional<LinearExpr> y = b.getRow(pair, d - numAncestors, offset);
    if (!x || !y)
      return unknown();
    *y *= -1;
    *x += *y;
    if (x->overflow)
      return unknown();
    if (d < dim)
      pair.add(*x, true);
    else
      late = *x;
  }
  auto refuse = [&](const SetBuilder &set, bool isLate) {
    why = describeLate(flow, b.getName(dim - numAncestors), set, isLate);
    return false;
  };
  // late ≥ 1, late ≤ -1
  SetBuilder later = pair;
  LinearExpr condition = late;
  condition.constant -= 1;
  later.add(condition, false);
  if (!isEmpty(later.get()))
    return refuse(later, true);
  if (kind == OperatorKind::Map) {
    SetBuilder earlier = pair;
    condition = late;
    condition *= -1;
    condition.constant -= 1;
    earlier.add(condition, false);
    if (!isEmpty(earlier.get()))
      return refuse(earlier, false);
  }
  return true;
}

bool MergeLegality::mayReorder(const Coordinates &coordinates) {
  if (coordinates.keepsOrder())
    return true;
  BlockOp block = coordinates.block;
  unsigned numAncestors = block.getNumAncestors(), numOwn = block.getNumOwnDims();
  bool allMaps = true;
  for (unsigned d = 0; d < numOwn; ++d)
    allMaps &= block.getOperator(d) == OperatorKind::Map;
  if (allMaps)
    return true; // its iterations need nothing of each other
  std::string why;
  bool explained = explain, may = true;
  explain = false;
  for (Flow &flow : getFlows(block, block))
    for (unsigned d = 0; d < numOwn && may; ++d)
      may = keepsOrder(flow, numAncestors + d, coordinates.getOperator(d), coordinates, coordinates,
                       why);
  explain = explained;
  return may;
}

static bool mayBeCut(OperatorKind kind) {
  return kind == OperatorKind::Reduce || kind == OperatorKind::Fold;
}

Alignment MergeLegality::align(BlockOp a, BlockOp b, ArrayRef<Flow> flows) {
  return align(Coordinates(a), Coordinates(b), flows);
}

Alignment MergeLegality::align(const Coordinates &a, const Coordinates &b,
                               ArrayRef<Flow> constFlows) {
  alignments.fetch_add(1, std::memory_order_relaxed);
  Alignment result(a, b);
  SmallVector<Flow, 0> flows(constFlows);
  unsigned numAncestors = BlockOp(a.block).getNumAncestors();
  unsigned size = std::min(a.own.size(), b.own.size());
  auto nameOf = [&](const Coordinates &c, unsigned d) {
    return ("'" + c.getName(d) + "' of " + describeBlock(c.block)).str();
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
    if (!isOuterDomainBounded(a.domain, numAncestors, numDims) ||
        !isOuterDomainBounded(b.domain, numAncestors, numDims))
      return stop("domain",
                  "the range of dimension " + nameOf(a, d) + " follows from inner dimensions only");
    // A map that becomes a reduction has the reduction's iterations: its own are the same ones then,
    // outer dimensions included.
    bool mayDiffer = !flows.empty() && kind == OperatorKind::Map && result.narrowed.empty();
    std::optional<OuterDomain> united = unite(a, b, numDims, mayDiffer);
    if (!united) {
      auto text = [&](const Coordinates &c) {
        return conditionsToString(getOuterDomain(c.domain, numDims), c.getDimNames(), c.symbols);
      };
      return stop("domain", "dimension " + nameOf(a, d) + " has other iterations than " +
                                nameOf(b, d) + ": " + text(a) + "; " + text(b));
    }
    std::string why;
    for (Flow &flow : flows)
      if (!keepsOrder(flow, numAncestors + d, kind, a, b, why))
        return stop("dependence", why);
    result.operators.push_back(kind);
    result.domains.push_back(std::move(*united));
    if (narrows)
      result.narrowed.push_back(d);
    ++result.size;
  }
  return result;
}
