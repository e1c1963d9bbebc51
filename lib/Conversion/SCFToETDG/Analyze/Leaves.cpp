//===- Leaves.cpp - what leaves read and write ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run of statements becomes one leaf. Its reads are the views of what comes from
// outside: whole elements where that is what they are, else scalars.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

static bool hasCells(AffineExpr expr, unsigned numNames) {
  bool found = false;
  expr.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      found |= symbol.getPosition() >= numNames;
  });
  return found;
}

/// Whether `b` says what `a` does where `a` applies.
static bool agrees(const RaisingSets &sets, const Piece &a, const Piece &b, ArrayRef<Constraint> where) {
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

/// Both, with the constraints of `known`.
static Conjunction within(ArrayRef<Constraint> known, ArrayRef<Constraint> when) {
  Conjunction all(known);
  all.append(when.begin(), when.end());
  return all;
}

/// What two conditions have in common. `i = 2` and `i = 3` share no constraint, but ends.
static Conjunction hullOf(const RaisingSets &sets, ArrayRef<Constraint> known, const Conjunction &a, const Conjunction &b) {
  Conjunction hull, withA = within(known, a), withB = within(known, b);
  for (auto [own, others] : {std::pair(&a, &withB), std::pair(&b, &withA)})
    for (const Constraint &c : *own) {
      SmallVector<Constraint> parts = {c};
      if (c.isEquality && !sets.isImplied(*others, c))
        parts = {{c.expr}, {-c.expr}};
      for (const Constraint &part : parts)
        if (sets.isImplied(*others, part) && !llvm::is_contained(hull, part))
          hull.push_back(part);
    }
  return hull;
}

/// Makes pieces i and j one, where one of them says what both do on exactly the points of the two.
bool ProgramAnalysis::joinPair(View &pieces, unsigned i, unsigned j, ArrayRef<Constraint> known) {
  Conjunction withI = within(known, pieces[i].when), withJ = within(known, pieces[j].when);
  bool asI = agrees(*sets, pieces[j], pieces[i], withJ), asJ = agrees(*sets, pieces[i], pieces[j], withI);
  if (!asI && !asJ)
    return false;
  Conjunction hull = hullOf(*sets, known, pieces[i].when, pieces[j].when), all = within(known, hull);
  for (unsigned k = 0; k < pieces.size(); ++k)
    if (k != i && k != j && !sets->isEmpty(all, pieces[k].when))
      return false;
  FailureOr<SmallVector<Conjunction>> rest = sets->subtract(all, {withI, withJ});
  if (failed(rest) || !rest->empty())
    return false;
  std::optional<Conjunction> simple = sets->simplify(hull, known);
  if (!asI)
    pieces[i] = pieces[j];
  pieces[i].when = simple ? *simple : hull;
  pieces.erase(pieces.begin() + j);
  return true;
}

/// Pieces of one source, told apart only by how it came about, are one.
void ProgramAnalysis::joinPieces(View &pieces, ArrayRef<Constraint> known) {
  for (unsigned i = 0; i < pieces.size(); ++i)
    for (unsigned j = i + 1; j < pieces.size();)
      j = joinPair(pieces, i, j, known) ? i + 1 : j + 1;
}

/// The pieces that occur under the iteration vector, with conditions that it does not imply.
FailureOr<View> ProgramAnalysis::simplifiedPieces(const IterationVector &at, const View &view, RankedTensorType type,
                                                  ArrayRef<Constraint> known) {
  unsigned rank = type.getRank();
  SmallVector<AffineExpr> cells;
  for (unsigned d = 0; d < rank; ++d)
    cells.push_back(type.getDimSize(d) == 1 ? sets->constant(0) : sets->cell(d));
  FailureOr<View> here = restricted(view, {}, cells, {});
  if (failed(here))
    return failure();
  View pieces;
  for (Piece &piece : *here) {
    std::optional<Conjunction> when = sets->simplify(piece.when, known);
    if (!when)
      continue;
    piece.when = *when;
    for (AffineExpr &e : piece.place.index)
      e = simplifyAffineExpr(e, at.numDims(), sets->getNames().size() + rank);
    pieces.push_back(piece);
  }
  return pieces;
}

/// Whether a piece of shape `shape` is the whole element at its index, up to dimensions of size 1.
static bool isWholeElement(const RaisingSets &sets, const Piece &piece, ArrayRef<int64_t> shape) {
  RankedTensorType element = piece.place.home->element;
  unsigned depth = piece.place.home->depth(), next = 0, rank = shape.size();
  for (unsigned d = 0; d < depth; ++d)
    if (hasCells(piece.place.index[d], sets.getNames().size()))
      return false;
  auto skipUnits = [&] {
    while (next < rank && shape[next] == 1)
      ++next;
  };
  for (unsigned d = 0, e = element.getRank(); d < e; ++d) {
    if (element.getDimSize(d) == 1)
      continue;
    skipUnits();
    if (next == rank || shape[next] != element.getDimSize(d) || piece.place.index[depth + d] != sets.cell(next))
      return false;
    ++next;
  }
  skipUnits();
  return next == rank;
}

/// The type that the leaf sees where it takes whole elements; null where some piece is none.
RankedTensorType ProgramAnalysis::wholeElementOf(const View &pieces, RankedTensorType type) {
  RankedTensorType element;
  for (const Piece &piece : pieces) {
    for (const Constraint &c : piece.when)
      if (hasCells(c.expr, sets->getNames().size()))
        return nullptr;
    if (!piece.place.home)
      continue;
    RankedTensorType its = piece.place.home->element;
    if ((element && element != its) || !isWholeElement(*sets, piece, type.getShape()))
      return nullptr;
    element = its;
  }
  return element ? element : type;
}

/// Writes the cell of a piece as the element dimensions of a read.
LogicalResult ProgramAnalysis::overElementDims(Location loc, Piece &piece, ArrayRef<AffineExpr> elementDims) {
  for (Constraint &c : piece.when) {
    c.expr = sets->withCells(c.expr, elementDims);
    if (!c.expr.isPureAffine())
      return refuse(loc, "the condition of a read is not affine");
  }
  auto rewriteIndex = [&](SmallVectorImpl<AffineExpr> &index) -> LogicalResult {
    for (AffineExpr &e : index)
      e = sets->withCells(e, elementDims);
    return graphwriter::isAffine(index) ? success() : refuse(loc, "the index of a read is not affine");
  };
  if (failed(rewriteIndex(piece.place.index)))
    return failure();
  for (Piece::Gather &gather : piece.gathers)
    if (failed(rewriteIndex(gather.at.index)))
      return failure();
  if (piece.value)
    piece.value = sets->withCells(piece.value, elementDims);
  return success();
}

FailureOr<ReadPlan> ProgramAnalysis::planRead(Location loc, const IterationVector &at, const View &view,
                                              RankedTensorType type) {
  unsigned n = at.numDims(), rank = type.getRank();
  Conjunction known(at.domain);
  for (unsigned d = 0; d < rank; ++d)
    if (type.getDimSize(d) != 1) {
      known.push_back({sets->cell(d)});
      known.push_back({sets->constant(type.getDimSize(d)) - sets->cell(d) - 1});
    }
  FailureOr<View> pieces = simplifiedPieces(at, view, type, known);
  if (failed(pieces))
    return failure();
  if (pieces->empty())
    return refuse(loc, "a value is read here that is never computed");
  joinPieces(*pieces, known);
  ReadPlan read;
  read.type = wholeElementOf(*pieces, type);
  bool whole = static_cast<bool>(read.type);
  if (!whole) {
    // A scalar of an element: as a tensor of one, whose dimension the maps do not use.
    read.type = rank == 0 ? RankedTensorType::get({1}, type.getElementType()) : type;
    read.elementRank = std::max(rank, 1u);
  }
  SmallVector<AffineExpr> elementDims;
  for (unsigned d = 0; d < rank; ++d)
    elementDims.push_back(sets->dim(n + d));
  for (Piece &piece : *pieces) {
    if (whole && piece.place.home)
      piece.place.index.truncate(piece.place.home->depth());
    if (failed(overElementDims(loc, piece, elementDims)))
      return failure();
  }
  read.pieces = std::move(*pieces);
  return read;
}

FailureOr<WritePlan> ProgramAnalysis::planWrite(Location loc, const IterationVector &at, Value value, const Place &place,
                                                ArrayRef<AffineExpr> cells) {
  WritePlan write{value, place.home, {}};
  for (AffineExpr e : ArrayRef(place.index).take_front(place.home->depth())) {
    AffineExpr index = simplifyAffineExpr(sets->withCells(e, cells), at.numDims(),
                                          sets->getNames().size() + cells.size());
    if (!index.isPureAffine() || hasCells(index, sets->getNames().size()))
      return refuse(loc, "a write here is not affine");
    write.index.push_back(index);
  }
  return write;
}

LogicalResult ProgramAnalysis::planRun(ArrayRef<Operation *> run, const IterationVector &at, Steps &steps) {
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

  Step leaf{Step::Leaf, run.front()->getLoc(), at, plan.numBlocks++};
  leaf.operations = inputs.getOperations();
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
    FailureOr<ReadPlan> read = planRead(v.getLoc(), at, *view, type);
    if (failed(read))
      return failure();
    read->value = v;
    leaf.reads.push_back(std::move(*read));
  }
  for (auto &[value, place] : yields) {
    SmallVector<AffineExpr> cells;
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (unsigned d = 0, e = type.getRank(); d < e; ++d)
        cells.push_back(type.getDimSize(d) == 1 ? sets->constant(0) : sets->cell(d));
    FailureOr<WritePlan> write = planWrite(leaf.loc, at, value, place, cells);
    if (failed(write))
      return failure();
    leaf.writes.push_back(*write);
  }
  steps.push_back(std::move(leaf));
  return success();
}
