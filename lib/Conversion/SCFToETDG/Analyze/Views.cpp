//===- Views.cpp - values as pieces of what is kept -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A view is over the loops around the value's definition and the cell. Slices and
// conditions rewrite views; the state of a loop is the view of what the iteration
// before has yielded.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

static constexpr unsigned maxPieces = 64;

FailureOr<View> ProgramAnalysis::viewOf(Value v) {
  auto known = views.find(v);
  if (known != views.end())
    return known->second;
  if (!viewsInProgress.insert(v).second)
    return refuse(v.getLoc(), "this value depends on itself");
  FailureOr<View> view = computeView(v);
  viewsInProgress.erase(v);
  if (failed(view))
    return failure();
  if (view->size() > maxPieces)
    return refuse(v.getLoc(), "this value has more than " + Twine(maxPieces) + " pieces");
  return views[v] = *view;
}

/// The pieces of `view` where `when` holds, at other cells and iterations.
FailureOr<View> ProgramAnalysis::restricted(View view, ArrayRef<Constraint> when, ArrayRef<AffineExpr> cells,
                                   ArrayRef<AffineExpr> dims) {
  View result;
  auto rewrite = [&](AffineExpr e) {
    if (!dims.empty())
      e = sets->withDims(e, dims);
    return cells.empty() ? e : sets->withCells(e, cells);
  };
  for (Piece &piece : view) {
    piece.rewriteExprs(rewrite);
    llvm::append_range(piece.when, when);
    if (!sets->isEmpty(piece.when))
      result.push_back(std::move(piece));
  }
  return result;
}

LogicalResult ProgramAnalysis::addRestricted(View &view, const View &whole, ArrayRef<Conjunction> alternatives) {
  for (const Conjunction &when : alternatives) {
    FailureOr<View> part = restricted(whole, when, {}, {});
    if (failed(part))
      return failure();
    llvm::append_range(view, *part);
  }
  return success();
}

FailureOr<View> ProgramAnalysis::familyView(Family &family, Value member) {
  FailureOr<SmallVector<Candidate>> written = lastWriters(family, member);
  FailureOr<SmallVector<Conjunction>> rest = unwritten(family, member);
  if (failed(written) || failed(rest))
    return failure();
  View view;
  if (!rest->empty()) {
    FailureOr<View> root = viewOf(family.root);
    if (failed(root))
      return failure();
    if (failed(addRestricted(view, *root, *rest)))
      return failure();
  }
  for (const Candidate &candidate : *written) {
    Piece piece;
    piece.when = candidate.when;
    if (family.byCells) {
      piece.place = family.place;
    } else {
      Writer *w = candidate.writer;
      SmallVector<AffineExpr> cells;
      for (unsigned d = 0; d < candidate.offsets.size(); ++d)
        if (!w->dropped.test(d))
          cells.push_back((sets->cell(d) - candidate.offsets[d]).floorDiv(w->strides[d]));
      piece.place.home = w->place.home;
      SmallVector<AffineExpr> symbols;
      for (unsigned i = 0, e = sets->getNames().size(); i < e; ++i)
        symbols.push_back(sets->name(i));
      llvm::append_range(symbols, cells);
      for (AffineExpr e : w->place.index)
        piece.place.index.push_back(e.replaceDimsAndSymbols(candidate.point, symbols));
    }
    view.push_back(std::move(piece));
  }
  return view;
}

/// What the loop's state is at the beginning of an iteration: what the one before
/// has yielded, the initial value in the first.
FailureOr<View> ProgramAnalysis::carriedView(BlockArgument arg) {
  auto loop = cast<scf::ForOp>(arg.getOwner()->getParentOp());
  const BlockInfo info = infoOf(arg.getOwner());
  const Loop &at = *info.loops.back();
  AffineExpr previous = sets->dim(at.dim) - 1;
  Conjunction exists;
  for (AffineExpr lower : at.lowers)
    exists.push_back({previous - lower});
  View view;
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < at.dim; ++d)
    dims.push_back(sets->dim(d));
  dims.push_back(previous);
  FailureOr<View> yielded;
  auto kept = materialized.find(arg);
  if (kept != materialized.end()) {
    Piece piece;
    piece.place = kept->second;
    yielded = View{piece};
  } else {
    yielded = viewOf(loop.getTiedLoopYieldedValue(arg)->get());
  }
  FailureOr<View> initial = viewOf(loop.getTiedLoopInit(arg)->get());
  if (failed(yielded) || failed(initial))
    return failure();
  // The first iteration: some lower end is not below the previous number.
  Conjunction holds;
  for (const Constraint &c : exists) {
    Conjunction first(holds);
    first.push_back({-c.expr - 1});
    holds.push_back(c);
    FailureOr<View> part = restricted(*initial, first, {}, {});
    if (failed(part))
      return failure();
    llvm::append_range(view, *part);
  }
  FailureOr<View> before = restricted(*yielded, exists, {}, dims);
  if (failed(before))
    return failure();
  llvm::append_range(view, *before);
  return view;
}

/// The state after the last iteration, or the initial value where there is none.
FailureOr<View> ProgramAnalysis::finalView(OpResult result) {
  auto loop = cast<scf::ForOp>(result.getOwner());
  const BlockInfo info = infoOf(loop.getBody());
  const Loop &at = *info.loops.back();
  Conjunction context = commonDomain(loop->getBlock());
  BlockArgument arg = loop.getRegionIterArgs()[result.getResultNumber()];
  FailureOr<View> yielded;
  auto kept = materialized.find(arg);
  if (kept != materialized.end()) {
    Piece piece;
    piece.place = kept->second;
    yielded = View{piece};
  } else {
    yielded = viewOf(loop.getYieldedValues()[result.getResultNumber()]);
  }
  if (failed(yielded))
    return failure();
  View view;
  for (auto [i, upper] : llvm::enumerate(at.uppers)) {
    // The first of the least upper ends says where the loop stops.
    Conjunction when;
    for (auto [j, other] : llvm::enumerate(at.uppers))
      if (j != i)
        when.push_back({other - upper - (j < i ? 1 : 0)});
    SmallVector<AffineExpr> dims;
    for (unsigned d = 0; d < at.dim; ++d)
      dims.push_back(sets->dim(d));
    dims.push_back(upper - 1);
    Conjunction runs(when);
    for (AffineExpr lower : at.lowers)
      runs.push_back({upper - lower - 1});
    if (!sets->isEmpty(context, runs)) {
      FailureOr<View> part = restricted(*yielded, runs, {}, dims);
      if (failed(part))
        return failure();
      llvm::append_range(view, *part);
    }
    Conjunction holds(when);
    for (AffineExpr lower : at.lowers) {
      Conjunction never(holds);
      never.push_back({lower - upper});
      holds.push_back({upper - lower - 1});
      if (sets->isEmpty(context, never))
        continue;
      // Asked for only here: of a loop that surely runs it may depend on the result.
      FailureOr<View> initial = viewOf(loop.getInitArgs()[result.getResultNumber()]);
      if (failed(initial))
        return failure();
      FailureOr<View> part = restricted(*initial, never, {}, {});
      if (failed(part))
        return failure();
      llvm::append_range(view, *part);
    }
  }
  return view;
}

std::optional<View> ProgramAnalysis::gatherView(OpFoldResult offset) {
  auto v = dyn_cast<Value>(offset);
  while (v && isa_and_nonnull<arith::IndexCastOp, arith::ExtSIOp>(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  auto access = v ? v.getDefiningOp<SubsetAccessOpInterface>() : SubsetAccessOpInterface();
  if (!access || access.isWrite() || !access.isScalar())
    return std::nullopt;
  FailureOr<View> view = viewOf(v);
  if (failed(view))
    return std::nullopt;
  // One level only.
  for (const Piece &piece : *view)
    if (!piece.place.home || !piece.gathers.empty())
      return std::nullopt;
  return *view;
}

FailureOr<View> ProgramAnalysis::sliceView(Operation *op, Value source, ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides,
                                  const llvm::SmallBitVector &dropped) {
  auto name = op->getName().getStringRef();
  // Indices that are data become gathers.
  SmallVector<OpFoldResult> affine(offsets);
  SmallVector<std::pair<unsigned, View>> data;
  for (auto [d, offset] : llvm::enumerate(offsets)) {
    if (evalIndex(offset))
      continue;
    std::optional<View> at = getConstantIntValue(sizes[d]) == 1 ? gatherView(offset) : std::nullopt;
    if (!at)
      break;
    data.push_back({d, std::move(*at)});
    affine[d] = builder.getIndexAttr(0);
  }
  auto cases = evalAll(affine);
  if (!cases)
    return refuse(
        op, "'" + name + "' reads at an index that is not an affine function of loops and lengths");
  FailureOr<View> whole = viewOf(source);
  if (failed(whole))
    return failure();
  for (auto &[d, at] : data) {
    View gathered;
    Conjunction inside;
    if (std::optional<SmallVector<AffineExpr>> extents = sizesOf(source))
      inside = box(*extents);
    auto usesCell = [&, d = d](AffineExpr e) {
      return e.isFunctionOfSymbol(sets->getNames().size() + d);
    };
    for (Piece &piece : *whole) {
      std::optional<Conjunction> when = sets->simplify(piece.when, inside);
      if (!when)
        continue;
      piece.when = *when;
      SmallVector<unsigned> positions;
      bool other = llvm::any_of(piece.when, [&](const Constraint &c) { return usesCell(c.expr); });
      for (auto [p, e] : llvm::enumerate(piece.place.index)) {
        if (e == sets->cell(d))
          positions.push_back(p);
        else
          other |= usesCell(e);
      }
      for (const Piece::Gather &gather : piece.gathers)
        other |= llvm::any_of(gather.at.index, usesCell);
      if (other || positions.size() > 1 || (piece.value && usesCell(piece.value)))
        return refuse(
            op, "'" + name +
                    "' reads at an index that is data, in an array that is kept in several pieces");
      for (const Piece &index : at) {
        gathered.push_back(piece);
        llvm::append_range(gathered.back().when, index.when);
        if (!positions.empty())
          gathered.back().gathers.push_back({positions.front(), index.place});
      }
    }
    *whole = std::move(gathered);
  }
  View view;
  for (auto &[when, exprs] : *cases) {
    SmallVector<AffineExpr> cells;
    for (unsigned d = 0, kept = 0; d < offsets.size(); ++d) {
      std::optional<AffineExpr> stride = evalSingle(strides[d]);
      if (!stride || !isa<AffineConstantExpr>(*stride))
        return refuse(op, "'" + name + "' with a stride that is no constant");
      cells.push_back(dropped.test(d) ? exprs[d] : exprs[d] + sets->cell(kept++) * *stride);
      // The gather says which one; the map's own result means nothing.
      if (llvm::any_of(data, [&, d = d](auto &entry) { return entry.first == d; }))
        cells.back() = sets->constant(0);
    }
    FailureOr<View> part = restricted(*whole, when, cells, {});
    if (failed(part))
      return failure();
    llvm::append_range(view, *part);
  }
  return view;
}

/// Dimensions of size 1 come and go; anything else is a statement of its own.
FailureOr<View> ProgramAnalysis::reshapeView(Operation *op, Value source, RankedTensorType to) {
  auto from = cast<RankedTensorType>(source.getType());
  auto isUnit = [](RankedTensorType type, unsigned d) { return type.getDimSize(d) == 1; };
  SmallVector<unsigned> kept;
  for (unsigned d = 0; d < static_cast<unsigned>(to.getRank()); ++d)
    if (!isUnit(to, d))
      kept.push_back(d);
  SmallVector<AffineExpr> cells;
  unsigned next = 0;
  for (unsigned d = 0; d < static_cast<unsigned>(from.getRank()); ++d) {
    if (isUnit(from, d)) {
      cells.push_back(sets->constant(0));
      continue;
    }
    if (next == kept.size() || from.getDimSize(d) != to.getDimSize(kept[next]))
      return refuse(op, "a reshape of a tensor of dynamic size does more than to add or drop "
                        "dimensions of size 1");
    cells.push_back(sets->cell(kept[next++]));
  }
  if (next != kept.size())
    return refuse(
        op,
        "a reshape of a tensor of dynamic size does more than to add or drop dimensions of size 1");
  FailureOr<View> view = viewOf(source);
  if (failed(view))
    return failure();
  return restricted(*view, {}, cells, {});
}

View ProgramAnalysis::wholeView(Place place) {
  Piece piece;
  piece.place = std::move(place);
  return View{piece};
}

View ProgramAnalysis::indexView(const Cases &cases) {
  View view;
  for (const Case &c : cases) {
    Piece piece;
    piece.when = c.when;
    piece.value = c.value;
    view.push_back(piece);
  }
  return view;
}

/// An argument of the function, or what a loop's body begins with.
FailureOr<View> ProgramAnalysis::argumentView(BlockArgument arg) {
  Operation *parent = arg.getOwner()->getParentOp();
  if (parent == function) {
    Place place;
    place.home = argumentHome(arg);
    for (unsigned d = 0; d < cast<RankedTensorType>(arg.getType()).getRank(); ++d)
      place.index.push_back(sets->cell(d));
    return wholeView(place);
  }
  if (isa<scf::ForOp>(parent))
    return carriedView(arg);
  // The bodies of an scf.forall see the array as it was before.
  if (auto loop = dyn_cast<scf::ForallOp>(parent))
    return viewOf(loop.getTiedOpOperand(arg)->get());
  return refuse(arg.getLoc(), "an argument of '" + parent->getName().getStringRef() +
                                  "' is no value of the program");
}

FailureOr<View> ProgramAnalysis::constantView(Operation *op, Attribute constant) {
  if (auto dense = dyn_cast<DenseElementsAttr>(constant)) {
    if (!dense.isSplat()) {
      Place place;
      place.home = constantHome(dense);
      for (unsigned d = 0; d < dense.getType().getRank(); ++d)
        place.index.push_back(sets->cell(d));
      return wholeView(place);
    }
    constant = dense.getSplatValue<Attribute>();
  }
  return fillView(op, constant, "a constant of this kind has no place in a graph");
}

/// One scalar everywhere.
FailureOr<View> ProgramAnalysis::fillView(Operation *op, Attribute scalar, StringRef otherwise) {
  Piece piece;
  piece.splat = dyn_cast_or_null<TypedAttr>(scalar);
  if (!piece.splat)
    return refuse(op, otherwise);
  return View{piece};
}

/// What each branch yields, where its condition holds.
FailureOr<View> ProgramAnalysis::branchView(OpResult result) {
  auto branch = cast<scf::IfOp>(result.getOwner());
  const Condition condition = conditions[branch];
  unsigned number = result.getResultNumber();
  View view;
  for (auto [yield, alternatives] : {std::pair(branch.thenYield(), &condition.yes),
                                     std::pair(branch.elseYield(), &condition.no)}) {
    if (llvm::all_of(*alternatives, [&](const Conjunction &when) {
          return sets->isEmpty(commonDomain(branch->getBlock()), when);
        }))
      continue;
    FailureOr<View> chosen = viewOf(yield.getOperand(number));
    if (failed(chosen))
      return failure();
    if (failed(addRestricted(view, *chosen, *alternatives)))
      return failure();
  }
  return view;
}

FailureOr<View> ProgramAnalysis::computeView(Value v) {
  auto placed = places.find(v);
  if (placed != places.end() && !placed->second.empty())
    return wholeView(placed->second.front());
  if (Family *family = familyOf.lookup(v))
    return familyView(*family, v);
  if (auto cases = v.getType().isIntOrIndex() ? evalIndex(v) : std::nullopt)
    return indexView(*cases);
  if (auto arg = dyn_cast<BlockArgument>(v))
    return argumentView(arg);
  return resultView(cast<OpResult>(v));
}

FailureOr<View> ProgramAnalysis::resultView(OpResult result) {
  Operation *op = result.getOwner();
  Attribute constant;
  if (matchPattern(result, m_Constant(&constant)))
    return constantView(op, constant);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) // It holds anything: zeros are as good.
    return fillView(op, builder.getZeroAttr(empty.getType().getElementType()), "an array of this type has no zero");
  if (auto fill = dyn_cast<linalg::FillOp>(op); fill && !statements.contains(op)) {
    (void)matchPattern(fill.getInputs()[0], m_Constant(&constant));
    return fillView(op, constant, "an array of dynamic size is filled with a value that is no constant");
  }
  if (auto access = dyn_cast<SubsetAccessOpInterface>(op); access && !access.isWrite())
    return sliceView(op, access.getBase(), access.getSubsetOffsets(), access.getSubsetSizes(),
                     access.getSubsetStrides(), access.getSubsetDroppedDims());
  if (auto reshape = dyn_cast<ReassociativeReshapeOpInterface>(op))
    return reshapeView(op, reshape.getBase(), reshape.getResultType());
  if (isa<tensor::CastOp>(op))
    return viewOf(op->getOperand(0));
  if (isa<scf::ForOp>(op))
    return finalView(result);
  if (isa<scf::IfOp>(op))
    return branchView(result);
  return refuse(
      op, "'" + op->getName().getStringRef() +
              "' has no place in a graph of blocks: expected scf loops and "
              "conditions, slices of tensors, and tensor operations on slices of static size");
}
