//===- Leaves.cpp - leaf blocks, reads and writes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run of statements becomes one leaf. Its reads are the views of what comes from
// outside: whole elements where that is what they are, else scalars.
//
//===----------------------------------------------------------------------===//
#include "Raiser.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

/// Leading and trailing dimensions of size 1, which a reshape may add or drop.
static SmallVector<int64_t> withoutUnits(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> kept(shape);
  llvm::erase(kept, 1);
  return kept;
}

/// Groups of dimensions of `shape`, one for each that is no unit.
static SmallVector<ReassociationIndices> groupUnits(ArrayRef<int64_t> shape) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices pending;
  bool started = false;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size != 1 && started) {
      groups.push_back(pending);
      pending.clear();
    }
    started |= size != 1;
    pending.push_back(d);
  }
  if (started)
    groups.push_back(pending);
  return groups;
}

Value Raiser::reshapeTo(Location loc, Value value, RankedTensorType type) {
  if (!isa<RankedTensorType>(value.getType()))
    value = tensor::FromElementsOp::create(builder, loc, RankedTensorType::get({}, value.getType()),
                                           value);
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  SmallVector<int64_t> kept = withoutUnits(from.getShape());
  auto flat = RankedTensorType::get(kept, type.getElementType());
  if (from != flat)
    value = tensor::CollapseShapeOp::create(builder, loc, flat, value, groupUnits(from.getShape()));
  if (flat != type)
    value = tensor::ExpandShapeOp::create(builder, loc, type, value, groupUnits(type.getShape()));
  return value;
}

static bool hasCells(AffineExpr expr, unsigned numNames) {
  bool found = false;
  expr.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      found |= symbol.getPosition() >= numNames;
  });
  return found;
}

/// Whether `b` says what `a` does where `a` applies.
static bool agrees(const Sets &sets, const Piece &a, const Piece &b, ArrayRef<Constraint> where) {
  if (a.place.home != b.place.home || a.splat != b.splat || !a.value != !b.value)
    return false;
  if (!llvm::equal(a.gathers, b.gathers, [](const Piece::Gather &x, const Piece::Gather &y) {
        return x.position == y.position && x.at.home == y.at.home && x.at.index == y.at.index;
      }))
    return false;
  if (a.value && a.value != b.value && !sets.isImplied(where, {a.value - b.value, true}))
    return false;
  for (auto [x, y] : llvm::zip_equal(a.place.index, b.place.index))
    if (x != y && !sets.isImplied(where, {x - y, true}))
      return false;
  return true;
}

FailureOr<etdg::ReadAttr> Raiser::makeRead(Location loc, etdg::BlockBuilder &spec,
                                           const Context &at, const View &view,
                                           RankedTensorType type, RankedTensorType &readType) {
  unsigned n = at.numDims(), numNames = sets->getNames().size(), rank = type.getRank();
  SmallVector<AffineExpr> cells, shape;
  for (unsigned d = 0; d < rank; ++d) {
    shape.push_back(sets->constant(type.getDimSize(d)));
    cells.push_back(type.getDimSize(d) == 1 ? sets->constant(0) : sets->cell(d));
  }
  FailureOr<View> here = restricted(view, {}, cells, {});
  if (failed(here))
    return failure();
  Conjunction known(at.domain);
  for (unsigned d = 0; d < rank; ++d)
    if (type.getDimSize(d) != 1) {
      known.push_back({sets->cell(d)});
      known.push_back({shape[d] - sets->cell(d) - 1});
    }
  View pieces;
  for (Piece &piece : *here) {
    std::optional<Conjunction> when = sets->simplify(piece.when, known);
    if (!when)
      continue;
    piece.when = *when;
    for (AffineExpr &e : piece.place.index)
      e = simplifyAffineExpr(e, n, numNames + rank);
    pieces.push_back(piece);
  }
  if (pieces.empty())
    return refuse(loc, "a value is read here that is never computed");
  // Pieces of one source, told apart only by how it came about, are one.
  for (unsigned i = 0; i < pieces.size(); ++i)
    for (unsigned j = i + 1; j < pieces.size();) {
      Conjunction hull, withI(known), withJ(known);
      llvm::append_range(withI, pieces[i].when);
      llvm::append_range(withJ, pieces[j].when);
      bool asI = agrees(*sets, pieces[j], pieces[i], withJ),
           asJ = agrees(*sets, pieces[i], pieces[j], withI);
      if (!asI && !asJ) {
        ++j;
        continue;
      }
      // `i = 2` and `i = 3` have no constraint in common, but ends.
      for (auto [own, others] :
           {std::pair(&pieces[i].when, &withJ), std::pair(&pieces[j].when, &withI)})
        for (const Constraint &c : *own) {
          SmallVector<Constraint> parts = {c};
          if (c.isEquality && !sets->isImplied(*others, c))
            parts = {{c.expr}, {-c.expr}};
          for (const Constraint &part : parts)
            if (sets->isImplied(*others, part) && !llvm::is_contained(hull, part))
              hull.push_back(part);
        }
      Conjunction all(known);
      llvm::append_range(all, hull);
      bool fits = true;
      for (unsigned k = 0; k < pieces.size() && fits; ++k)
        fits = k == i || k == j || sets->isEmpty(all, pieces[k].when);
      if (fits) {
        FailureOr<SmallVector<Conjunction>> rest = sets->subtract(all, {withI, withJ});
        fits = succeeded(rest) && rest->empty();
      }
      if (!fits) {
        ++j;
        continue;
      }
      std::optional<Conjunction> simple = sets->simplify(hull, known);
      if (!asI)
        pieces[i] = pieces[j];
      pieces[i].when = simple ? *simple : hull;
      pieces.erase(pieces.begin() + j);
      j = i + 1;
    }

  // Whole elements?
  RankedTensorType element;
  bool whole = true;
  for (const Piece &piece : pieces) {
    for (const Constraint &c : piece.when)
      whole &= !hasCells(c.expr, numNames);
    if (!piece.place.home)
      continue;
    RankedTensorType its = piece.place.home->element;
    whole &= !element || element == its;
    element = its;
    unsigned depth = piece.place.home->depth(), next = 0;
    for (unsigned d = 0; d < depth; ++d)
      whole &= !hasCells(piece.place.index[d], numNames);
    for (unsigned d = 0, e = its.getRank(); d < e && whole; ++d) {
      if (its.getDimSize(d) == 1)
        continue;
      while (next < rank && type.getDimSize(next) == 1)
        ++next;
      whole = next < rank && type.getDimSize(next) == its.getDimSize(d) &&
              piece.place.index[depth + d] == sets->cell(next);
      ++next;
    }
    while (next < rank && type.getDimSize(next) == 1)
      ++next;
    whole &= next == rank;
  }
  readType = whole && element ? element : type;
  unsigned elementRank = whole ? 0 : rank;
  if (!whole && rank == 0) {
    // A scalar of an element: as a tensor of one, whose dimension the maps do not use.
    readType = RankedTensorType::get({1}, type.getElementType());
    elementRank = 1;
  }
  SmallVector<AffineExpr> elementDims;
  for (unsigned d = 0; d < rank; ++d)
    elementDims.push_back(sets->dim(n + d));
  SmallVector<etdg::PieceAttr> attrs;
  for (const Piece &piece : pieces) {
    Conjunction when;
    for (const Constraint &c : piece.when)
      when.push_back({sets->withCells(c.expr, elementDims), c.isEquality});
    for (const Constraint &c : when)
      if (!c.expr.isPureAffine())
        return refuse(loc, "the condition of a read is not affine");
    IntegerSet set = makeSet(when, n + elementRank);
    if (piece.place.home) {
      SmallVector<AffineExpr> results;
      unsigned count = whole ? piece.place.home->depth() : piece.place.index.size();
      for (AffineExpr e : ArrayRef(piece.place.index).take_front(count)) {
        results.push_back(sets->withCells(e, elementDims));
        if (!results.back().isPureAffine())
          return refuse(loc, "the index of a read is not affine");
      }
      int64_t operand = spec.operandFor(bufferOf(piece.place.home));
      SmallVector<etdg::GatherAttr> gathers;
      for (const Piece::Gather &gather : piece.gathers) {
        SmallVector<AffineExpr> at;
        for (AffineExpr e : gather.at.index)
          at.push_back(sets->withCells(e, elementDims));
        if (!llvm::all_of(at, [](AffineExpr e) { return e.isPureAffine(); }))
          return refuse(loc, "the index of a read is not affine");
        AffineMap map = AffineMap::get(n + elementRank, numNames, at, context);
        gathers.push_back(etdg::GatherAttr::get(context, gather.position,
                                                spec.operandFor(bufferOf(gather.at.home)),
                                                AffineMapAttr::get(map)));
      }
      attrs.push_back(etdg::PieceAttr::getBuffer(
          set, operand, AffineMap::get(n + elementRank, numNames, results, context), gathers));
    } else if (piece.splat) {
      attrs.push_back(etdg::PieceAttr::getSplat(set, piece.splat));
    } else {
      attrs.push_back(etdg::PieceAttr::getIndex(set, sets->withCells(piece.value, elementDims)));
    }
  }
  return etdg::ReadAttr::get(context, attrs, elementRank);
}

LogicalResult Raiser::makeWrite(Location loc, etdg::BlockBuilder &spec, const Context &at,
                                const Place &place, ArrayRef<AffineExpr> cells) {
  SmallVector<AffineExpr> results;
  for (AffineExpr e : ArrayRef(place.index).take_front(place.home->depth())) {
    AffineExpr index = simplifyAffineExpr(sets->withCells(e, cells), at.numDims(),
                                          sets->getNames().size() + cells.size());
    if (!index.isPureAffine() || hasCells(index, sets->getNames().size()))
      return refuse(loc, "a write here is not affine");
    results.push_back(index);
  }
  graphwriter::addWrite(spec, bufferOf(place.home), results, at.numDims(), sets->getNames().size(), context);
  return success();
}

LogicalResult Raiser::emitRun(ArrayRef<Operation *> run, const Context &at) {
  auto repeats = [&](Value v) {
    Operation *def = v.getDefiningOp();
    // An index that is an affine function of the loops is read as one: it costs no load.
    bool index = v.getType().isIntOrIndex() && !def->hasTrait<OpTrait::ConstantLike>() && evalIndex(v);
    return !index && isRepeatable(def);
  };
  graphwriter::LeafInputs inputs(run, repeats);
  inputs.requireAll();
  SmallVector<std::pair<Value, Place>> yields;
  for (Operation *op : run)
    for (Value result : op->getResults())
      for (const Place &place : places.lookup(result))
        yields.push_back({result, place});
  if (yields.empty())
    return success(); // nothing of it is used

  Location loc = run.front()->getLoc();
  etdg::BlockBuilder spec = startBlock(at);
  SmallVector<Type> readTypes;
  for (Value v : inputs.getReads()) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    if (!type && v.getType().isIntOrIndexOrFloat())
      type = RankedTensorType::get({}, v.getType());
    if (!type || !type.hasStaticShape())
      return refuse(
          run.front(),
          "a tensor operation uses a value of dynamic size; expected a slice of static size");
    FailureOr<View> view = viewOf(v);
    if (failed(view))
      return failure();
    RankedTensorType readType;
    FailureOr<etdg::ReadAttr> read = makeRead(v.getLoc(), spec, at, *view, type, readType);
    if (failed(read))
      return failure();
    spec.reads.push_back(*read);
    readTypes.push_back(readType);
  }
  for (auto &[value, place] : yields) {
    SmallVector<AffineExpr> cells;
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (unsigned d = 0, e = type.getRank(); d < e; ++d)
        cells.push_back(type.getDimSize(d) == 1 ? sets->constant(0) : sets->cell(d));
    if (failed(makeWrite(loc, spec, at, place, cells)))
      return failure();
  }
  etdg::BlockOp block = spec.build(builder, loc, readTypes);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block.getBody().front());
  IRMapping mapping;
  for (auto [v, argument] : llvm::zip_equal(inputs.getReads(), block.getBody().getArguments())) {
    Value inner = argument;
    if (auto type = dyn_cast<RankedTensorType>(v.getType()))
      inner = reshapeTo(v.getLoc(), inner, type);
    else
      inner = tensor::ExtractOp::create(
          builder, v.getLoc(), reshapeTo(v.getLoc(), inner, RankedTensorType::get({}, v.getType())),
          ValueRange());
    mapping.map(v, inner);
  }
  inputs.clone(builder, mapping);
  SmallVector<Value> results;
  for (auto &[value, place] : yields)
    results.push_back(reshapeTo(loc, mapping.lookup(value), place.home->element));
  etdg::YieldOp::create(builder, loc, results);
  return success();
}
