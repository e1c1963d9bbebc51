//===- Dependences.cpp - flow dependences between iterations --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pairs of accesses that share a buffer; distances by the maps' forms where they
// say them, else by sets.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Dependences.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;

std::string etdg::describe(const Dependence &dependence) {
  return describeBuffer(dependence.write->buffer) + ": " +
         describeBlock(dependence.read->block) + " " + dependence.read->describe() + " <- " +
         describeBlock(dependence.write->block) + " " + dependence.write->describe();
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

std::optional<SmallVector<std::optional<int64_t>>>
etdg::getDistanceFromMaps(const AccessMatrix &write, const AccessMatrix &read,
                          unsigned numAncestors, unsigned numOwn) {
  SmallVector<std::optional<int64_t>> distance(numOwn);
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
    if (distance[*own] && *distance[*own] != difference / scale)
      return std::nullopt;
    distance[*own] = difference / scale;
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
    set.builder.addLess(numAncestors + *dependence.level,
                        sink + numAncestors + *dependence.level);
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

std::optional<std::pair<int64_t, int64_t>>
DependenceAnalysis::getRange(const SetBuilder &set, const LinearExpr &expr, int64_t reach) {
  auto sample = set.get().findIntegerSample();
  if (!sample)
    return std::nullopt;
  LinearExpr at = expr;
  int64_t value = at.constant;
  for (unsigned v = 0; v < sample->size() && v < at.coefficients.size(); ++v)
    value += at.coefficients[v] * int64_t((*sample)[v]);
  auto find = [&](int64_t sign) -> std::optional<int64_t> {
    for (int64_t end = value; std::abs(end - value) <= reach; end += sign) {
      // sign · (expr − end) ≥ 1
      LinearExpr beyond = expr;
      beyond.constant -= end;
      beyond *= sign;
      beyond.constant -= 1;
      if (!canHold(set, beyond))
        return end;
    }
    return std::nullopt;
  };
  std::optional<int64_t> low = find(-1), high = low ? find(1) : std::nullopt;
  if (!high)
    return std::nullopt;
  return std::pair(*low, *high);
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// Adds the dependences of a pair of accesses, of which `pair` names both ends.
FailureOr<bool> DependenceAnalysis::addPair(Dependence pair, unsigned numOwn, bool useMaps,
                                            llvm::SmallDenseSet<Attribute> *known,
                                            SmallVectorImpl<Dependence> &all) {
  unsigned numAncestors = pair.source.getNumAncestors();
  auto byMaps =
      getDistanceFromMaps(getMatrix(pair.write), getMatrix(pair.read), numAncestors, numOwn);
  if (useMaps && !byMaps)
    return false;
  if (useMaps && llvm::all_of(*byMaps, [](auto c) { return c.has_value(); })) {
    pair.distance = *byMaps;
    pair.fromMaps = true;
    // Inside one iteration.
    if (llvm::all_of(pair.distance, [](auto c) { return *c == 0; }))
      return false;
    Attribute key;
    if (known) {
      key = DenseI64ArrayAttr::get(graph.getContext(), pair.getDistance());
      if (known->contains(key))
        return false;
    }
    FailureOr<PairSet> pairs = getPairs(pair);
    if (failed(pairs))
      return failure();
    if (isEmpty(pairs->builder.get()))
      return false;
    if (known)
      known->insert(key);
    all.push_back(std::move(pair));
    return true;
  }
  // By the first dimension in which the ends differ, the sink being later: a
  // graph in which it is not reads what has not been written (V4).
  bool found = false;
  for (unsigned level = 0; level < numOwn; ++level) {
    Dependence one = pair;
    one.level = level;
    if (useMaps && (*byMaps)[level] && *(*byMaps)[level] <= 0) {
      // Never later in this dimension; equal, only if the distance is 0.
      if (*(*byMaps)[level] < 0)
        break;
      continue;
    }
    FailureOr<PairSet> pairs = getPairs(one);
    if (failed(pairs))
      return failure();
    if (!isEmpty(pairs->builder.get())) {
      for (unsigned d = 0; d < numOwn; ++d) {
        LinearExpr difference = pairs->builder.variable(pairs->sink + numAncestors + d);
        difference.add(numAncestors + d, -1);
        auto range = d < level ? std::optional(std::pair<int64_t, int64_t>(0, 0))
                               : getRange(pairs->builder, difference, 0);
        one.distance.push_back(range ? std::optional(range->first) : std::nullopt);
      }
      found = true;
      Attribute key;
      if (known && one.isConstant()) {
        key = DenseI64ArrayAttr::get(graph.getContext(), one.getDistance());
        if (!known->insert(key).second)
          continue;
      }
      all.push_back(std::move(one));
    }
    if (useMaps && (*byMaps)[level])
      break; // they always differ here
  }
  return found;
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
            std::optional<SmallVector<std::optional<int64_t>>> byMaps;
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
