//===- GraphVerifier.cpp - is a graph well formed, exactly ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each question is put as a set of counterexamples that must be empty:
//   V1 the pieces of a read are disjoint and cover its domain;
//   V2 every access is in bounds of its buffer;
//   V3 no element is written twice;
//   V4 what is read has been written by an earlier iteration (of a kernel's items: by the
//      order in which its shared loops run them);
//   V5 no dependence is carried by a map dimension;
//   V6 every element of a result is written;
//   V7 the blocks of a nest have disjoint domains (N2);
//   V8 `live` planes are enough for the declared order, that of the schedules.
// Acyclicity follows: by V4 textual and lexicographic order is a legal order.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/GraphVerifier.h"
#include "ft/Analysis/Accesses.h"
#include "ft/Analysis/ScheduledOrder.h"
#include "ft/Dialect/ETDG/IR/Variants.h"
#include "ft/Analysis/SymbolGroups.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "mlir/Analysis/Presburger/Simplex.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::presburger;
using llvm::DynamicAPInt;

namespace {
class GraphVerifier {
public:
  explicit GraphVerifier(GraphOp graph)
      : graph(graph), allSymbols(graph), part{allSymbols.getSpace(), {}}, accesses(graph) {}
  LogicalResult verify();

private:
  LogicalResult verifyPieces(BlockOp block, ArrayAttr reads, TypeRange types, StringRef what);
  LogicalResult verifyBounds(Access access);
  LogicalResult verifySingleAssignment(Value buffer);
  struct ReadPoint;
  LogicalResult addReadPoint(SetBuilder &builder, ReadPoint &point);
  LogicalResult addSameElement(SetBuilder &pair, ReadPoint &point, Access write);
  LogicalResult addWrittenBefore(ReadPoint &point, Access write, const SetBuilder &pair,
                                 SmallVectorImpl<IntegerPolyhedron> &covered);
  LogicalResult verifyWrittenBefore(Access read);
  LogicalResult reportUnwritten(ReadPoint &point, const PresburgerSet &rest,
                                ArrayRef<std::pair<Access, IntegerPolyhedron>> written);
  LogicalResult verifyResult(Value buffer);
  LogicalResult verifyNest(ArrayRef<BlockOp> nest);
  LogicalResult verifyLive(Value buffer);
  LogicalResult verifyLivePair(Access &read, Access &write, Access &clobber,
                               ArrayRef<int64_t> live);
  LogicalResult verifyTurns(Access &read, Access &clobber, const SetBuilder &base,
                            ArrayRef<unsigned> turns, ArrayRef<OrderCase> writeFirst,
                            ArrayRef<OrderCase> clobberFirst);

  InFlightDiagnostic error(BlockOp block, StringRef number) {
    return block.emitOpError() << "(" << number << ") ";
  }
  LogicalResult notPresburger(BlockOp block) {
    return error(block, "V")
           << "a set or map is not quasi-affine: a dimension is multiplied or divided by a length, "
              "or a number is larger than 2^60";
  }
  void example(InFlightDiagnostic &diag, std::optional<SmallVector<int64_t>> sample,
               ArrayRef<StringAttr> names) {
    if (sample)
      diag << "; for example at " << sampleToString(*sample, names, part.space);
  }
  void noteBuffer(InFlightDiagnostic &diag, Value buffer) {
    diag.attachNote(buffer.getLoc()) << describeBuffer(buffer) << " is here";
  }
  std::string exprToString(AffineExpr expr, Access &access) {
    std::string text;
    llvm::raw_string_ostream os(text);
    ft::printNamedExpr(os, expr, access.getPointNames(), access.block.getSymbolNames());
    return text;
  }

  /// The next question is about these blocks and buffers.
  void ask(ArrayRef<BlockOp> blocks, ArrayRef<Value> buffers = {});
  const llvm::SmallBitVector &getSymbols(BlockOp block);

  GraphOp graph;
  SymbolGroups allSymbols;
  /// Those that the question depends on.
  SymbolPart part;
  llvm::DenseMap<Operation *, llvm::SmallBitVector> symbolsOf;
  GraphAccesses accesses;
};
} // namespace

const llvm::SmallBitVector &GraphVerifier::getSymbols(BlockOp block) {
  auto [it, isNew] = symbolsOf.try_emplace(block, allSymbols.size());
  if (isNew) {
    allSymbols.collect(block, it->second);
    for (Value buffer : block.getBuffers())
      allSymbols.collect(cast<BufferType>(buffer.getType()), it->second);
  }
  return it->second;
}

void GraphVerifier::ask(ArrayRef<BlockOp> blocks, ArrayRef<Value> buffers) {
  llvm::SmallBitVector used(allSymbols.size());
  for (BlockOp block : blocks)
    used |= getSymbols(block);
  for (Value buffer : buffers)
    allSymbols.collect(cast<BufferType>(buffer.getType()), used);
  part = allSymbols.restrictTo(used);
}

/// Equates the planes of two accesses. A gathered dimension meets any index.
static LogicalResult addSamePlane(SetBuilder &builder, Access &a, unsigned offsetA, Access &b,
                                  unsigned offsetB) {
  auto planeA = getPlane(builder, a, offsetA), planeB = getPlane(builder, b, offsetB);
  if (failed(planeA) || failed(planeB))
    return failure();
  for (auto [x, y] : llvm::zip(*planeA, *planeB)) {
    if (!x || !y)
      continue;
    LinearExpr difference = *y;
    difference *= -1;
    difference += *x;
    builder.add(difference, true);
  }
  return success();
}

/// V1.
LogicalResult GraphVerifier::verifyPieces(BlockOp block, ArrayAttr reads, TypeRange types,
                                          StringRef what) {
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  ask(block);
  for (auto [i, read] : llvm::enumerate(reads.getAsRange<ReadAttr>())) {
    ArrayRef<PieceAttr> pieces = read.getPieces();
    if (pieces.size() == 1 && isUniverse(pieces.front().getSet().getValue()))
      continue;
    // An access stands for the read's points.
    Access points{Access::Read, block, Value(), static_cast<unsigned>(i), 0, AffineMap(),
                  IntegerSet(), {},    {}};
    if (read.getElementRank())
      llvm::append_range(points.elementShape, cast<RankedTensorType>(types[i]).getShape());
    unsigned size = points.getPointSize();
    SetBuilder all = part.makeSet(size);
    if (failed(addPoint(all, points)))
      return notPresburger(block);
    SmallVector<IntegerPolyhedron, 0> sets;
    for (PieceAttr piece : pieces) {
      SetBuilder set = part.makeSet(size);
      if (failed(set.add(piece.getSet().getValue(), symbols)))
        return notPresburger(block);
      sets.push_back(set.get());
    }
    for (unsigned a = 0; a < sets.size(); ++a)
      for (unsigned b = a + 1; b < sets.size(); ++b) {
        IntegerPolyhedron both(all.get().intersect(sets[a]).intersect(sets[b]));
        if (isEmpty(both))
          continue;
        InFlightDiagnostic diag = error(block, "V1") << what << " " << i << ": pieces " << a
                                                     << " and " << b << " overlap";
        example(diag, findSample(both), points.getPointNames());
        return diag;
      }
    if (isCovered(all.get(), sets))
      continue;
    InFlightDiagnostic diag = error(block, "V1")
                              << what << " " << i << ": no piece covers part of the domain";
    example(diag, findSample(subtract(all.get(), sets)), points.getPointNames());
    return diag;
  }
  return success();
}

/// V2.
LogicalResult GraphVerifier::verifyBounds(Access access) {
  BlockOp block = access.block;
  SmallVector<StringAttr> symbols = block.getSymbolNames();
  BufferType type = access.getBufferType();
  unsigned depth = type.getDepth();
  ask(block);
  SetBuilder builder = part.makeSet(access.getPointSize());
  if (failed(addPoint(builder, access)))
    return notPresburger(block);

  struct Check {
    LinearExpr slack; // ≥ 0 where in bounds
    unsigned dim;
    bool upper;
  };
  SmallVector<Check> checks;
  for (unsigned d = 0; d < access.map.getNumResults(); ++d) {
    if (access.getGather(d))
      continue;
    std::optional<LinearExpr> index = builder.flatten(access.map.getResult(d), symbols);
    std::optional<LinearExpr> length;
    if (d < depth) {
      length = builder.flatten(type.getLengths()[d].getExpr(), type.getLengths()[d].getNames());
    } else {
      length = LinearExpr();
      length->constant = type.getElement().getDimSize(d - depth);
    }
    if (!index || !length)
      return notPresburger(block);
    checks.push_back({*index, d, false});
    *index *= -1;
    *index += *length;
    index->constant -= 1;
    checks.push_back({*index, d, true});
  }
  if (checks.empty() || isEmpty(builder.get()))
    return success();

  unsigned numVars = builder.get().getNumVars();
  Simplex simplex(builder.get());
  for (const Check &check : checks) {
    SmallVector<DynamicAPInt> row(numVars + 1);
    for (unsigned v = 0; v < numVars; ++v)
      row[v] = check.slack.at(v);
    row.back() = check.slack.constant;
    if (simplex.isRedundantInequality(row))
      continue;
    SetBuilder outside = builder;
    LinearExpr negated = check.slack;
    negated *= -1;
    negated.constant -= 1;
    outside.add(negated, false);
    if (isEmpty(outside.get()))
      continue;
    std::string length = check.dim < depth
                             ? type.getLengths()[check.dim].str()
                             : std::to_string(type.getElement().getDimSize(check.dim - depth));
    InFlightDiagnostic diag =
        error(block, "V2") << access.describe() << " is out of bounds: index " << check.dim << ", '"
                           << exprToString(access.map.getResult(check.dim), access) << "', may be "
                           << (check.upper ? "at least the length '" + length + "'"
                                           : std::string("negative"));
    example(diag, findSample(outside.get()), access.getPointNames());
    noteBuffer(diag, access.buffer);
    return diag;
  }
  return success();
}

/// V3.
LogicalResult GraphVerifier::verifySingleAssignment(Value buffer) {
  SmallVector<Access, 0> writes(accesses.getWrites(buffer));
  for (unsigned i = 0; i < writes.size(); ++i)
    for (unsigned j = i; j < writes.size(); ++j) {
      Access &a = writes[i], &b = writes[j];
      ask({a.block, b.block});
      unsigned offset = a.getPointSize();
      SetBuilder both = part.makeSet(offset + b.getPointSize());
      if (failed(addPoint(both, a, 0)) || failed(addPoint(both, b, offset)) ||
          failed(addSamePlane(both, a, 0, b, offset)))
        return notPresburger(a.block);
      std::optional<IntegerPolyhedron> clash;
      if (i != j) {
        if (!isEmpty(both.get()))
          clash = both.get();
      } else {
        // Two different points; either order of the pair is the same pair.
        for (unsigned d = getNumOwnerDims(buffer); d < offset && !clash; ++d) {
          SetBuilder less = both;
          addPrecedence(less, {d, true, std::nullopt}, 0, offset);
          if (!isEmpty(less.get()))
            clash = less.get();
        }
      }
      if (!clash)
        continue;
      SmallVector<StringAttr> names = a.getPointNames();
      for (StringAttr name : b.getPointNames())
        names.push_back(StringAttr::get(name.getContext(), name.getValue() + "'"));
      InFlightDiagnostic diag = error(b.block, "V3")
                                << b.describe() << " writes an element of "
                                << describeBuffer(buffer) << " that "
                                << (i == j ? "another iteration"
                                           : a.describe() + " of " + describeBlock(a.block))
                                << " writes too";
      example(diag, findSample(*clash), names);
      diag.attachNote(a.block.getLoc()) << "the other write is here";
      return diag;
    }
  return success();
}

/// Whether two blocks stand in different items of one kernel: these run in step.
static bool isInStep(BlockOp x, BlockOp y) {
  for (auto [a, b] : llvm::zip(getBlockChain(x), getBlockChain(y)))
    if (Operation *itemA = getItem(a), *itemB = getItem(b); itemA != itemB)
      return isa<KernelOp>(itemA->getParentOp()) && itemA->getParentOp() == itemB->getParentOp();
  return false;
}

/// A read, as a point of a set: the reading point, then the indices that are data.
struct GraphVerifier::ReadPoint {
  Access read;
  SmallVector<unsigned> gathered; // dimensions of the buffer
  unsigned numVars;
};

/// The points at which the read takes place, with every value that data may have.
LogicalResult GraphVerifier::addReadPoint(SetBuilder &builder, ReadPoint &point) {
  if (failed(addPoint(builder, point.read)))
    return failure();
  BufferType type = point.read.getBufferType();
  for (auto [g, d] : llvm::enumerate(point.gathered)) {
    unsigned variable = point.read.getPointSize() + g;
    LinearExpr index = builder.variable(variable);
    builder.add(index, false);
    std::optional<LinearExpr> upper =
        builder.flatten(type.getLengths()[d].getExpr(), type.getLengths()[d].getNames());
    if (!upper)
      return failure();
    upper->add(variable, -1);
    upper->constant -= 1;
    builder.add(*upper, false);
  }
  return success();
}

/// Pairs of a reading and a writing point at which both mean the same element.
LogicalResult GraphVerifier::addSameElement(SetBuilder &pair, ReadPoint &point, Access write) {
  if (failed(addReadPoint(pair, point)) || failed(addPoint(pair, write, point.numVars)))
    return failure();
  auto readPlane = getPlane(pair, point.read), writePlane = getPlane(pair, write, point.numVars);
  if (failed(readPlane) || failed(writePlane))
    return failure();
  unsigned nextGathered = 0;
  for (auto [d, index] : llvm::enumerate(*readPlane)) {
    LinearExpr difference = *(*writePlane)[d];
    difference *= -1;
    if (index)
      difference += *index;
    else
      difference.add(point.read.getPointSize() + nextGathered++, 1);
    pair.add(difference, true);
  }
  return success();
}

/// Adds the reading points whose element `write` has written before them, among `pair`s of one element.
LogicalResult GraphVerifier::addWrittenBefore(ReadPoint &point, Access write, const SetBuilder &pair,
                                              SmallVectorImpl<IntegerPolyhedron> &covered) {
  BlockOp reader = point.read.block;
  unsigned end = point.numVars + write.getPointSize();
  if (isInStep(write.block, reader)) {
    unsigned numOwner = getNumOwnerDims(write.buffer);
    for (const OrderCase &order : getCasesWithin(numOwner, getOrderCases(write.block, reader))) {
      SetBuilder ordered = pair;
      if (order.order != Order::Before)
        continue;
      if (failed(addOrderCase(ordered, order, point.numVars, 0)))
        return notPresburger(reader);
      if (!isEmpty(ordered.get()))
        covered.push_back(projectOut(ordered.get(), point.numVars, end));
    }
    return success();
  }
  for (const Precedence &order : getPrecedence(write.block, reader)) {
    SetBuilder ordered = pair;
    addPrecedence(ordered, order, point.numVars, 0);
    if (isEmpty(ordered.get()))
      continue;
    IntegerPolyhedron points = projectOut(ordered.get(), point.numVars, end);
    if (order.strict && order.carrier == ft::OperatorKind::Map) {
      InFlightDiagnostic diag = error(reader, "V5")
                                << point.read.describe() << " depends on another iteration of map dimension '"
                                << reader.getDimNames()[order.equal].getValue() << "' through "
                                << describeBuffer(point.read.buffer);
      example(diag, findSample(points), point.read.getPointNames());
      diag.attachNote(write.block.getLoc()) << "it is written here";
      return diag;
    }
    covered.push_back(points);
  }
  return success();
}

/// V4, V5. Points that are covered by some write before them; what is left is wrong.
LogicalResult GraphVerifier::verifyWrittenBefore(Access read) {
  SmallVector<BlockOp> blocks{read.block};
  for (const Access &write : accesses.getWrites(read.buffer))
    blocks.push_back(write.block);
  ask(blocks);
  ReadPoint point{read, {}, read.getPointSize()};
  for (unsigned d = 0, e = read.getBufferType().getDepth(); d < e; ++d)
    if (read.getGather(d))
      point.gathered.push_back(d);
  point.numVars += point.gathered.size();
  SetBuilder target = part.makeSet(point.numVars);
  if (failed(addReadPoint(target, point)))
    return notPresburger(read.block);

  SmallVector<IntegerPolyhedron, 0> covered;
  SmallVector<std::pair<Access, IntegerPolyhedron>, 0> written;
  for (const Access &write : accesses.getWrites(read.buffer)) {
    unsigned end = point.numVars + Access(write).getPointSize();
    SetBuilder pair = part.makeSet(end);
    if (failed(addSameElement(pair, point, write)))
      return notPresburger(read.block);
    if (isEmpty(pair.get()))
      continue;
    written.push_back({write, projectOut(pair.get(), point.numVars, end)});
    if (failed(addWrittenBefore(point, write, pair, covered)))
      return failure();
  }
  if (isCovered(target.get(), covered))
    return success();
  return reportUnwritten(point, subtract(target.get(), covered), written);
}

/// The error of V4: whether what is left is written too late, or by nothing.
LogicalResult GraphVerifier::reportUnwritten(ReadPoint &point, const PresburgerSet &rest,
                                             ArrayRef<std::pair<Access, IntegerPolyhedron>> written) {
  Access &read = point.read;
  SmallVector<StringAttr> names = read.getPointNames();
  for (unsigned d : point.gathered)
    names.push_back(StringAttr::get(graph.getContext(), "index " + std::to_string(d)));
  InFlightDiagnostic diag = error(read.block, "V4")
                            << read.describe() << " reads an element of " << describeBuffer(read.buffer);
  for (auto &[constWrite, points] : written) {
    PresburgerSet late = rest.intersect(PresburgerSet(points));
    if (late.isIntegerEmpty())
      continue;
    Access write = constWrite;
    diag << " before it is written";
    example(diag, findSample(late), names);
    diag.attachNote(write.block.getLoc())
        << "it is written here, " << write.describe() << " of " << describeBlock(write.block);
    return diag;
  }
  diag << " that no block writes";
  example(diag, findSample(rest), names);
  noteBuffer(diag, read.buffer);
  return diag;
}

/// V6.
LogicalResult GraphVerifier::verifyResult(Value buffer) {
  auto type = cast<BufferType>(buffer.getType());
  unsigned depth = type.getDepth();
  SmallVector<BlockOp> blocks;
  for (const Access &write : accesses.getWrites(buffer))
    blocks.push_back(write.block);
  ask(blocks, buffer);
  auto addBox = [&](SetBuilder &builder) -> LogicalResult {
    for (auto [d, length] : llvm::enumerate(type.getLengths())) {
      builder.add(builder.variable(d), false);
      std::optional<LinearExpr> upper = builder.flatten(length.getExpr(), length.getNames());
      if (!upper)
        return failure();
      upper->add(d, -1);
      upper->constant -= 1;
      builder.add(*upper, false);
    }
    return success();
  };
  SetBuilder box = part.makeSet(depth);
  if (failed(addBox(box)))
    return graph.emitOpError() << "(V6) a length of a result is not quasi-affine";
  SmallVector<IntegerPolyhedron, 0> written;
  for (const Access &constWrite : accesses.getWrites(buffer)) {
    Access write = constWrite;
    SetBuilder range = part.makeSet(depth + write.getPointSize());
    if (failed(addPoint(range, write, depth)))
      return notPresburger(write.block);
    auto plane = getPlane(range, write, depth);
    if (failed(plane))
      return notPresburger(write.block);
    for (auto [d, index] : llvm::enumerate(*plane)) {
      LinearExpr difference = *index;
      difference.add(d, -1);
      range.add(difference, true);
    }
    written.push_back(projectOut(range.get(), depth, depth + write.getPointSize()));
  }
  if (isCovered(box.get(), written))
    return success();
  SmallVector<StringAttr> names;
  for (unsigned d = 0; d < depth; ++d)
    names.push_back(StringAttr::get(graph.getContext(), "index " + std::to_string(d)));
  InFlightDiagnostic diag = graph.emitOpError() << "(V6) no block writes an element of result "
                                                << describeBuffer(buffer);
  example(diag, findSample(subtract(box.get(), written)), names);
  noteBuffer(diag, buffer);
  return diag;
}

/// V7.
LogicalResult GraphVerifier::verifyNest(ArrayRef<BlockOp> nest) {
  for (unsigned i = 0; i < nest.size(); ++i)
    for (unsigned j = i + 1; j < nest.size(); ++j) {
      BlockOp a = nest[i], b = nest[j];
      ask({a, b});
      SetBuilder both = part.makeSet(a.getNumDims());
      if (failed(addDomain(both, a)) || failed(addDomain(both, b)))
        return notPresburger(a);
      if (isEmpty(both.get()))
        continue;
      InFlightDiagnostic diag =
          error(b, "V7")
          << "the domains of a nest's blocks are disjoint (N2), this one meets that of "
          << describeBlock(a);
      example(diag, findSample(both.get()), a.getDimNames());
      diag.attachNote(a.getLoc()) << "the other block is here";
      return diag;
    }
  return success();
}

/// Leaves those cases in which `base` has points; `base` has those of the two blocks from these
/// offsets on.
static LogicalResult keepPossible(SmallVectorImpl<OrderCase> &cases, const SetBuilder &base,
                                  unsigned offsetX, unsigned offsetY) {
  bool ok = true;
  llvm::erase_if(cases, [&](const OrderCase &orderCase) {
    SetBuilder ordered = base;
    ok &= succeeded(addOrderCase(ordered, orderCase, offsetX, offsetY));
    return isEmpty(ordered.get());
  });
  return success(ok);
}

/// V8: `write` writes a plane, `clobber` then (or in no order) another one in its place, then (or
/// in no order) `read` reads the first. The order is that of the schedules, where there are any.
LogicalResult GraphVerifier::verifyLivePair(Access &read, Access &write, Access &clobber,
                                            ArrayRef<int64_t> live) {
  unsigned numOwner = getNumOwnerDims(read.buffer);
  SmallVector<OrderCase> writeFirst = getCasesWithin(numOwner, getOrderCases(clobber.block, write.block));
  SmallVector<OrderCase> clobberFirst = getCasesWithin(numOwner, getOrderCases(read.block, clobber.block));
  llvm::erase_if(writeFirst, [](const OrderCase &c) { return c.order == Order::Before; });
  // A body reads all before it writes.
  llvm::erase_if(clobberFirst, [](const OrderCase &c) {
    return c.order == Order::Before || c.order == Order::Same;
  });
  if (writeFirst.empty() || clobberFirst.empty())
    return success();
  ask({read.block, write.block, clobber.block});
  unsigned atWrite = read.getPointSize(), atClobber = atWrite + write.getPointSize();
  unsigned size = atClobber + clobber.getPointSize();
  SetBuilder base = part.makeSet(size);
  if (failed(addPoint(base, read)) || failed(addPoint(base, write, atWrite)) ||
      failed(addPoint(base, clobber, atClobber)) ||
      failed(addSamePlane(base, read, 0, write, atWrite)))
    return notPresburger(read.block);
  auto first = getPlane(base, write, atWrite), second = getPlane(base, clobber, atClobber);
  if (failed(first) || failed(second))
    return notPresburger(read.block);
  // second = first + live · turns, where the planes are counted modulo.
  SmallVector<unsigned> turns;
  for (auto [d, index] : llvm::enumerate(*second)) {
    LinearExpr difference = *index;
    difference *= -1;
    difference += *(*first)[d];
    if (d >= numOwner && live[d - numOwner] > 0) {
      turns.push_back(base.addLocal());
      difference.add(turns.back(), live[d - numOwner]);
    }
    base.add(difference, true);
  }
  // Each order by itself first: most are impossible, and pairs of them are many.
  if (isEmpty(base.get()))
    return success();
  if (failed(keepPossible(writeFirst, base, atClobber, atWrite)) ||
      failed(keepPossible(clobberFirst, base, 0, atClobber)))
    return notPresburger(read.block);
  return verifyTurns(read, clobber, base, turns, writeFirst, clobberFirst);
}

/// `base` has the points of the read, the write and the clobber, in this order.
LogicalResult GraphVerifier::verifyTurns(Access &read, Access &clobber, const SetBuilder &base,
                                         ArrayRef<unsigned> turns, ArrayRef<OrderCase> writeFirst,
                                         ArrayRef<OrderCase> clobberFirst) {
  unsigned atWrite = read.getPointSize(), size = base.getNumDims();
  unsigned atClobber = size - clobber.getPointSize();
  for (unsigned turn : turns)
    for (int64_t sign : {1, -1}) {
      SetBuilder other = base;
      LinearExpr notZero;
      notZero.add(turn, sign);
      notZero.constant = -1;
      other.add(notZero, false);
      SmallVector<OrderCase> before(writeFirst), after(clobberFirst);
      if (failed(keepPossible(before, other, atClobber, atWrite)) ||
          failed(keepPossible(after, other, 0, atClobber)))
        return notPresburger(read.block);
      for (const OrderCase &x : before)
        for (const OrderCase &y : after) {
          SetBuilder ordered = other;
          if (failed(addOrderCase(ordered, x, atClobber, atWrite)) ||
              failed(addOrderCase(ordered, y, 0, atClobber)))
            return notPresburger(read.block);
          if (isEmpty(ordered.get()))
            continue;
          InFlightDiagnostic diag = error(read.block, "V8")
                                    << read.describe() << " needs a plane of "
                                    << describeBuffer(read.buffer)
                                    << " that another has taken: more planes must be `live`";
          example(diag, findSample(projectOut(ordered.get(), atWrite, size)), read.getPointNames());
          diag.attachNote(clobber.block.getLoc()) << "the plane is overwritten here";
          noteBuffer(diag, read.buffer);
          return diag;
        }
    }
  return success();
}

LogicalResult GraphVerifier::verifyLive(Value buffer) {
  auto op = buffer.getDefiningOp<BufferOp>();
  if (!op || op.keepsAllPlanes())
    return success();
  ArrayRef<int64_t> live = op.getLiveAttr();
  SmallVector<Access, 0> writes(accesses.getWrites(buffer)), reads(accesses.getReads(buffer));
  for (Access &read : reads) {
    // Which plane data asks for is not known; the other dimensions are exact.
    if (llvm::any_of(read.gathers,
                     [&](GatherAttr gather) { return live[gather.getPosition()] > 0; })) {
      InFlightDiagnostic diag = error(read.block, "V8")
                                << read.describe() << " gathers from " << describeBuffer(buffer)
                                << ", which does not keep all its planes";
      noteBuffer(diag, buffer);
      return diag;
    }
    for (Access &write : writes)
      for (Access &clobber : writes)
        if (failed(verifyLivePair(read, write, clobber, live)))
          return failure();
  }
  return success();
}

LogicalResult GraphVerifier::verify() {
  if (graph.isExternal())
    return success();
  bool ok = true;
  auto check = [&](LogicalResult result) {
    ok &= succeeded(result);
    return succeeded(result);
  };
  for (BlockOp block : accesses.getBlocks())
    if (!block.isLeaf())
      for (ArrayRef<BlockOp> nest : getNests(block.getBody()))
        check(verifyNest(nest));
  for (ArrayRef<BlockOp> nest : getNests(graph.getBody()))
    check(verifyNest(nest));
  for (BlockOp block : accesses.getLeaves()) {
    check(verifyPieces(block, block.getReads(), block.getBody().getArgumentTypes(), "read"));
    if (!block.getIdentity().empty())
      check(verifyPieces(block, block.getIdentity(), block.getCombine().getArgumentTypes(),
                         "identity"));
  }
  for (Value buffer : accesses.getBuffers()) {
    for (const Access &access : accesses.getWrites(buffer))
      check(verifyBounds(access));
    for (const Access &access : accesses.getReads(buffer))
      check(verifyBounds(access));
  }
  // The rest speaks of elements: without bounds it would repeat the errors above.
  if (!ok)
    return failure();
  for (Value buffer : accesses.getBuffers()) {
    if (!buffer.getDefiningOp<BufferOp>())
      continue;
    bool single = check(verifySingleAssignment(buffer));
    bool written = true;
    for (const Access &read : accesses.getReads(buffer))
      written &= check(verifyWrittenBefore(read));
    if (single && written)
      check(verifyLive(buffer));
  }
  for (Value result : cast<ReturnOp>(graph.getBody().front().back()).getOperands()) {
    check(verifyResult(result));
    auto op = result.getDefiningOp<BufferOp>();
    if (!op.keepsAllPlanes()) {
      InFlightDiagnostic diag = graph.emitOpError() << "(V8) result " << describeBuffer(result)
                                                    << " keeps all its planes, `live` says fewer";
      noteBuffer(diag, result);
      ok = false;
    }
  }
  return success(ok);
}

LogicalResult etdg::verifyGraph(GraphOp graph) {
  if (graph.isExternal())
    return GraphVerifier(graph).verify();
  return forEachChoice(graph, [](GraphOp chosen) { return GraphVerifier(chosen).verify(); });
}
