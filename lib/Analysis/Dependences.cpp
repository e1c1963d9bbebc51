//===- Dependences.cpp - flow dependences between iterations --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pairs of accesses that share a buffer; distances by the maps' forms where they
// say them, else by sets.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Dependences.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;
using llvm::DynamicAPInt;

std::string etdg::describe(const Dependence &dependence) {
  return describeBuffer(dependence.write->buffer) + ": " + describeBlock(dependence.read->block) +
         " " + dependence.read->describe() + " <- " + describeBlock(dependence.write->block) + " " +
         dependence.write->describe();
}

std::string etdg::toString(ArrayRef<DistanceRange> distance) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(distance, os, [&](const DistanceRange &range) {
    if (range.isConstant()) {
      os << *range.low;
      return;
    }
    if (!range.low && !range.high) {
      os << "*";
      return;
    }
    if (range.low)
      os << *range.low;
    os << "..";
    if (range.high)
      os << *range.high;
  });
  os << ")";
  return text;
}

//===----------------------------------------------------------------------===//
// Accesses of units
//===----------------------------------------------------------------------===//

DependenceAnalysis::DependenceAnalysis(GraphOp graph)
    : graph(graph), space(graph), accesses(graph) {
  for (Value buffer : accesses.getBuffers())
    for (ArrayRef<Access> list : {accesses.getWrites(buffer), accesses.getReads(buffer)})
      for (const Access &access : list) {
        pool.push_back(access);
        leaves[access.block].push_back(&pool.back());
      }
}

ArrayRef<Access *> DependenceAnalysis::getLeafAccesses(BlockOp leaf) {
  auto it = leaves.find(leaf);
  return it == leaves.end() ? ArrayRef<Access *>() : ArrayRef<Access *>(it->second);
}

const DependenceAnalysis::UnitAccesses &DependenceAnalysis::getUnit(BlockOp unit) {
  std::unique_ptr<UnitAccesses> &entry = units[unit];
  if (entry)
    return *entry;
  entry = std::make_unique<UnitAccesses>();
  unit->walk<WalkOrder::PreOrder>([&](BlockOp leaf) {
    for (Access *access : getLeafAccesses(leaf)) {
      Operation *def = access->buffer.getDefiningOp();
      if (def && unit->isProperAncestor(def))
        continue;
      (access->isWrite() ? entry->writes : entry->reads)[access->buffer].push_back(access);
    }
  });
  return *entry;
}

const AccessMatrix &DependenceAnalysis::getMatrix(Access *access) {
  std::unique_ptr<AccessMatrix> &entry = matrices[access];
  if (!entry)
    entry = std::make_unique<AccessMatrix>(getAccessMatrix(*access, space));
  return *entry;
}

bool DependenceAnalysis::shareBuffer(ArrayRef<BlockOp> before, ArrayRef<BlockOp> after) {
  for (BlockOp a : before)
    for (auto &[buffer, writes] : getUnit(a).writes)
      for (BlockOp b : after)
        if (getUnit(b).reads.contains(buffer))
          return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

/// The only own dimension in the row, if no other variable occurs but ancestors'.
static std::optional<unsigned> getOnlyOwnDim(const AccessRow &row, unsigned numAncestors,
                                             unsigned numOwn) {
  std::optional<unsigned> only;
  for (unsigned v = numAncestors; v < row.dims.size(); ++v) {
    if (row.dims[v] == 0)
      continue;
    if (only || v >= numAncestors + numOwn)
      return std::nullopt;
    only = v - numAncestors;
  }
  return only;
}

std::optional<DistanceVector> etdg::getDistanceFromMaps(const AccessMatrix &write,
                                                        const AccessMatrix &read,
                                                        unsigned numAncestors, unsigned numOwn) {
  DistanceVector distance(numOwn);
  for (unsigned d = 0; d < write.depth && d < read.depth; ++d) {
    const AccessRow &w = write.rows[d], &r = read.rows[d];
    if (!w.isLinear || !r.isLinear || w.symbols != r.symbols)
      continue;
    // Ancestors are equal at both ends.
    if (ArrayRef(w.dims).take_front(numAncestors) != ArrayRef(r.dims).take_front(numAncestors))
      continue;
    int64_t difference;
    if (llvm::SubOverflow(w.offset, r.offset, difference))
      continue;
    std::optional<unsigned> own = getOnlyOwnDim(w, numAncestors, numOwn);
    if (!own) {
      // Two places that are never the same.
      auto isZero = [](int64_t c) { return c == 0; };
      if (difference != 0 && llvm::all_of(ArrayRef(w.dims).drop_front(numAncestors), isZero) &&
          llvm::all_of(ArrayRef(r.dims).drop_front(numAncestors), isZero))
        return std::nullopt;
      continue;
    }
    if (getOnlyOwnDim(r, numAncestors, numOwn) != own)
      continue;
    // s·source + o = s·sink + o'.
    int64_t scale = w.dims[numAncestors + *own];
    if (r.dims[numAncestors + *own] != scale)
      continue;
    if (difference % scale != 0)
      return std::nullopt;
    DistanceRange here = DistanceRange::constant(difference / scale);
    if (distance[*own].isConstant() && !(distance[*own] == here))
      return std::nullopt;
    distance[*own] = here;
  }
  return distance;
}

FailureOr<DependenceAnalysis::PairSet> DependenceAnalysis::getPairs(const Dependence &dependence) {
  Access &write = *dependence.write, &read = *dependence.read;
  unsigned sink = write.getPointSize();
  PairSet set{SetBuilder(space, sink + read.getPointSize()), 0, sink};
  if (failed(addPoint(set.builder, write, 0)) || failed(addPoint(set.builder, read, sink)))
    return failure();
  auto written = getPlane(set.builder, write, 0), needed = getPlane(set.builder, read, sink);
  if (failed(written) || failed(needed))
    return failure();
  for (auto [x, y] : llvm::zip(*written, *needed)) {
    if (!x || !y)
      continue;
    LinearExpr difference = *y;
    difference *= -1;
    difference += *x;
    set.builder.add(difference, true);
  }
  BlockOp source = dependence.source;
  unsigned numAncestors = source.getNumAncestors();
  for (unsigned d = 0; d < numAncestors; ++d)
    set.builder.addEqual(d, sink + d);
  if (dependence.level) {
    for (unsigned d = 0; d < *dependence.level; ++d)
      set.builder.addEqual(numAncestors + d, sink + numAncestors + d);
    set.builder.addLess(numAncestors + *dependence.level, sink + numAncestors + *dependence.level);
  }
  return set;
}

FailureOr<IntegerPolyhedron> DependenceAnalysis::getRelation(const Dependence &dependence) {
  FailureOr<PairSet> pairs = getPairs(dependence);
  if (failed(pairs))
    return failure();
  BlockOp source = dependence.source, sink = dependence.sink;
  IntegerPolyhedron set = pairs->builder.get();
  unsigned end = set.getNumDimVars();
  set = projectOut(std::move(set), pairs->sink + sink.getNumDims(), end);
  set = projectOut(std::move(set), pairs->sink, pairs->sink + sink.getNumAncestors());
  return projectOut(std::move(set), source.getNumDims(), pairs->sink);
}

/// Whether `expr` (≥ 0) can hold on the set.
static bool canHold(const SetBuilder &set, LinearExpr expr) {
  SetBuilder with = set;
  with.add(std::move(expr), false);
  return !etdg::isEmpty(with.get());
}

DistanceRange DependenceAnalysis::getRange(const SetBuilder &set, const LinearExpr &expr) {
  // Rational bounds, then integers inside.
  Simplex simplex(set.get());
  SmallVector<DynamicAPInt> row;
  for (unsigned v = 0, e = set.get().getNumVars(); v < e; ++v)
    row.push_back(DynamicAPInt(expr.at(v)));
  row.push_back(DynamicAPInt(expr.constant));
  auto low = simplex.computeOptimum(Simplex::Direction::Down, row);
  auto high = simplex.computeOptimum(Simplex::Direction::Up, row);
  DistanceRange range;
  constexpr int64_t limit = int64_t(1) << 40;
  if (low.isBounded() && ceil(*low) > -limit)
    range.low = int64_t(ceil(*low));
  if (high.isBounded() && floor(*high) < limit)
    range.high = int64_t(floor(*high));
  if (!range.low || !range.high)
    return range;
  // A few steps inwards find what holds for integers alone.
  for (unsigned steps = 0; steps < 8 && *range.low < *range.high; ++steps) {
    LinearExpr atLow = expr;
    atLow.constant -= *range.low;
    atLow *= -1;
    if (canHold(set, atLow))
      break;
    ++*range.low;
  }
  for (unsigned steps = 0; steps < 8 && *range.low < *range.high; ++steps) {
    LinearExpr atHigh = expr;
    atHigh.constant -= *range.high;
    if (canHold(set, atHigh))
      break;
    --*range.high;
  }
  return range;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// What tells constant distances apart.
static Attribute getKey(const Dependence &dependence, MLIRContext *context) {
  SmallVector<int64_t> values;
  for (const DistanceRange &range : dependence.distance)
    values.push_back(*range.low);
  return DenseI64ArrayAttr::get(context, values);
}

/// Adds the dependences of a pair of accesses, of which `pair` names both ends.
LogicalResult DependenceAnalysis::addPair(Dependence pair, unsigned numOwn, bool useMaps,
                                          llvm::SmallDenseSet<Attribute> *known,
                                          SmallVectorImpl<Dependence> &all) {
  unsigned numAncestors = pair.source.getNumAncestors();
  DistanceVector byMaps(numOwn);
  if (useMaps) {
    auto found =
        getDistanceFromMaps(getMatrix(pair.write), getMatrix(pair.read), numAncestors, numOwn);
    if (!found)
      return success();
    byMaps = std::move(*found);
  }
  pair.distance = byMaps;
  if (pair.isConstant()) {
    pair.fromMaps = true;
    // Inside one iteration.
    if (llvm::all_of(pair.distance, [](const DistanceRange &range) { return range.isZero(); }))
      return success();
    if (known && known->contains(getKey(pair, graph.getContext())))
      return success();
    FailureOr<PairSet> pairs = getPairs(pair);
    if (failed(pairs))
      return failure();
    if (isEmpty(pairs->builder.get()))
      return success();
    if (known)
      known->insert(getKey(pair, graph.getContext()));
    all.push_back(std::move(pair));
    return success();
  }
  // By the first dimension in which the ends differ, the sink being later: a
  // graph in which it is not reads what has not been written (V4).
  for (unsigned level = 0; level < numOwn; ++level) {
    if (byMaps[level].isZero())
      continue;
    if (byMaps[level].isConstant() && *byMaps[level].low < 0)
      break;
    Dependence one = pair;
    one.level = level;
    FailureOr<PairSet> pairs = getPairs(one);
    if (failed(pairs))
      return failure();
    if (!isEmpty(pairs->builder.get())) {
      for (unsigned d = 0; d < numOwn; ++d) {
        if (byMaps[d].isConstant())
          continue;
        LinearExpr difference = pairs->builder.variable(pairs->sink + numAncestors + d);
        difference.add(numAncestors + d, -1);
        one.distance[d] =
            d < level ? DistanceRange::constant(0) : getRange(pairs->builder, difference);
      }
      if (!known || !one.isConstant() || known->insert(getKey(one, graph.getContext())).second)
        all.push_back(std::move(one));
    }
    if (byMaps[level].isConstant())
      break; // they always differ here
  }
  return success();
}

FailureOr<SmallVector<Dependence>> DependenceAnalysis::getCarried(ArrayRef<BlockOp> nest, List list,
                                                                  bool useMaps) {
  SmallVector<Dependence> all;
  llvm::SmallDenseSet<Attribute> known;
  BlockOp first = nest.front();
  for (BlockOp source : nest)
    for (auto &[buffer, writes] : getUnit(source).writes)
      for (BlockOp sink : nest) {
        const UnitAccesses &unit = getUnit(sink);
        auto reads = unit.reads.find(buffer);
        if (reads == unit.reads.end())
          continue;
        for (Access *write : writes)
          for (Access *read : reads->second)
            if (failed(addPair(Dependence{source, sink, write, read, {}, {}, false},
                               first.getNumOwnDims(), useMaps,
                               list == List::Distances ? &known : nullptr, all)))
              return failure();
      }
  return all;
}

FailureOr<SmallVector<Dependence>> DependenceAnalysis::getBetween(ArrayRef<BlockOp> before,
                                                                  ArrayRef<BlockOp> after) {
  SmallVector<Dependence> all;
  for (BlockOp source : before)
    for (auto &[buffer, writes] : getUnit(source).writes)
      for (BlockOp sink : after) {
        const UnitAccesses &unit = getUnit(sink);
        auto reads = unit.reads.find(buffer);
        if (reads == unit.reads.end())
          continue;
        for (Access *write : writes)
          for (Access *read : reads->second) {
            Dependence pair{source, sink, write, read, {}, {}, false};
            unsigned numAncestors = source.getNumAncestors(), numOwn = source.getNumOwnDims();
            std::optional<DistanceVector> byMaps;
            if (numOwn == sink.getNumOwnDims()) {
              byMaps = getDistanceFromMaps(getMatrix(write), getMatrix(read), numAncestors, numOwn);
              if (!byMaps)
                continue;
            }
            FailureOr<PairSet> pairs = getPairs(pair);
            if (failed(pairs))
              return failure();
            if (isEmpty(pairs->builder.get()))
              continue;
            if (byMaps)
              pair.distance = *byMaps;
            pair.fromMaps = byMaps && pair.isConstant();
            all.push_back(std::move(pair));
          }
      }
  return all;
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

FailureOr<bool> etdg::isKept(DependenceAnalysis &analysis, const Dependence &dependence,
                             ArrayRef<OrderLoop> loops, std::string *sample) {
  FailureOr<DependenceAnalysis::PairSet> pairs = analysis.getPairs(dependence);
  if (failed(pairs))
    return failure();
  BlockOp source = dependence.source;
  unsigned numAncestors = source.getNumAncestors();
  SetBuilder prefix = pairs->builder;
  auto report = [&](const SetBuilder &violated) {
    if (!sample)
      return;
    // The ends by their own dimensions: `i, k` and `i', k'`.
    IntegerPolyhedron set = violated.get();
    std::optional<SmallVector<int64_t>> point = findSample(set);
    if (!point)
      return;
    SmallVector<StringAttr> names;
    SmallVector<int64_t> values;
    MLIRContext *context = source.getContext();
    for (auto [d, name] : llvm::enumerate(source.getDimNames())) {
      names.push_back(name);
      values.push_back((*point)[d]);
    }
    for (auto [d, name] : llvm::enumerate(source.getDimNames())) {
      if (d < numAncestors)
        continue;
      names.push_back(StringAttr::get(context, name.getValue() + "'"));
      values.push_back((*point)[pairs->sink + d]);
    }
    values.append(point->end() - analysis.getSpace().size(), point->end());
    *sample = sampleToString(values, names, analysis.getSpace());
  };
  // What is inside one iteration is no matter of the loops.
  auto differ = [&](const SetBuilder &set) {
    if (dependence.level || dependence.source != dependence.sink)
      return !isEmpty(set.get());
    for (unsigned d = 0; d < source.getNumOwnDims(); ++d)
      for (int64_t sign : {1, -1}) {
        LinearExpr apart = set.variable(pairs->sink + numAncestors + d);
        apart.add(numAncestors + d, -1);
        apart *= sign;
        apart.constant -= 1;
        if (canHold(set, apart))
          return true;
      }
    return false;
  };
  for (const OrderLoop &loop : loops) {
    // How much later the sink is in this loop.
    LinearExpr later;
    for (auto [d, c] : llvm::enumerate(loop.row)) {
      later.add(pairs->sink + numAncestors + d, c);
      later.add(numAncestors + d, -c);
    }
    for (int64_t sign : {1, -1}) {
      if (sign == 1 && !loop.parallel)
        continue;
      SetBuilder violated = prefix;
      LinearExpr wrong = later;
      wrong *= sign;
      wrong.constant -= 1;
      violated.add(wrong, false);
      if (!isEmpty(violated.get())) {
        report(violated);
        return false;
      }
    }
    prefix.add(later, true);
  }
  // Loops that leave iterations unordered keep nothing between them.
  if (!differ(prefix))
    return true;
  report(prefix);
  return false;
}
