//===- AccessViews.cpp - access operators as rewrites of views ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each access operator of FT §4.2 substitutes list dimensions in the maps and
// conditions of its operand's pieces; concatenation, fill and boundaries add
// pieces.
//
//===----------------------------------------------------------------------===//

#include "CollapsePairs.h"
#include "View.h"
#include "ft/Dialect/FT/IR/FTForms.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toetdg;

ListView toetdg::withCells(const Numbering &names, const ListView &view, ArrayRef<AffineExpr> cells, ArrayRef<LengthAttr> lengths) {
  ListView result = view;
  result.lengths.assign(lengths.begin(), lengths.end());
  for (Piece &piece : result.pieces)
    piece.rewriteExprs([&](AffineExpr expr) { return names.withCells(expr, cells); });
  return result;
}

/// [index, d0, d1, ...]: what replaces `depth` dimensions when the outermost one is fixed.
static SmallVector<AffineExpr> peeledDims(const Numbering &names, AffineExpr index, unsigned depth) {
  SmallVector<AffineExpr> dims = {index};
  for (unsigned d = 1; d < depth; ++d)
    dims.push_back(names.cell(d - 1));
  return dims;
}

ListView toetdg::peel(const Numbering &names, const ListView &view, AffineExpr index) {
  return withCells(names, view, peeledDims(names, index, view.depth()), ArrayRef(view.lengths).drop_front());
}

Place toetdg::peel(const Numbering &names, const Place &dest, AffineExpr index) {
  // A destination may use fewer list dimensions than the buffer has; 17 covers the deepest list.
  SmallVector<AffineExpr> dims = peeledDims(names, index, 17);
  Place result{dest.home, {}};
  for (AffineExpr e : dest.index)
    result.index.push_back(names.withCells(e, dims));
  return result;
}

static void flattenInto(Type type, SmallVector<LengthAttr> prefix, SmallVectorImpl<Member> &members) {
  if (auto list = dyn_cast<ListType>(type)) {
    prefix.append(list.getLengths().begin(), list.getLengths().end());
    return flattenInto(list.getElement(), prefix, members);
  }
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type member : tuple.getTypes())
      flattenInto(member, prefix, members);
    return;
  }
  members.push_back({prefix, cast<RankedTensorType>(type)});
}

void toetdg::flattenType(Type type, SmallVectorImpl<Member> &members) { flattenInto(type, {}, members); }

bool toetdg::isAccessOp(Operation *op) {
  return isa<ShiftOp, ReverseOp, SliceOp, StrideOp, WindowOp, GatherOp, ZipOp, GetOp, AtOp, ConcatOp, FlattenOp, SplitOp,
             TransposeOp, RepeatOp, IotaOp, CastOp, LastOp>(op);
}

namespace {
/// Builds the views of one access operator.
struct AccessBuilder {
  const Numbering &names;
  Operation *op;
  llvm::function_ref<ArrayRef<ListView>(Value)> viewsOf;
  std::vector<ListView> &result;
  unsigned &copyOperand;

  AffineExpr dim(unsigned d) { return names.cell(d); }

  /// The identity on `depth` dimensions with dimension 0 replaced.
  SmallVector<AffineExpr> withOuter(AffineExpr outer, unsigned depth) {
    SmallVector<AffineExpr> dims = {outer};
    for (unsigned d = 1; d < depth; ++d)
      dims.push_back(dim(d));
    return dims;
  }

  /// Applies `outer` to dimension 0 of every member.
  AccessStatus remapOuter(Value input, AffineExpr outer, LengthAttr length) {
    for (const ListView &view : viewsOf(input)) {
      SmallVector<LengthAttr> lengths(view.lengths);
      lengths[0] = length;
      result.push_back(withCells(names, view, withOuter(outer, view.depth()), lengths));
    }
    return AccessStatus::Ok;
  }

  static void restrict(ListView &view, ArrayRef<Constraint> constraints) {
    for (Piece &piece : view.pieces)
      piece.when.append(constraints.begin(), constraints.end());
  }
  static void append(ListView &to, ListView &&from) {
    for (Piece &piece : from.pieces)
      to.pieces.push_back(std::move(piece));
  }

  AccessStatus notAffine(const Twine &what) {
    InFlightDiagnostic diag = op->emitError();
    diag << what << ": the access map would hold a product of lengths, which is not affine; "
         << "make the inner length a constant, use both dimensions as one, or traverse the inner lists";
    if (auto where = op->getAttrOfType<LocationAttr>(takenApartName))
      diag.attachNote(where) << "here they are two";
    return AccessStatus::Failed;
  }

  /// The two sets of a shift: elements that move up leave room below, those that move down above.
  /// Which they do, a name need not tell.
  AccessStatus shift(ShiftOp shift) {
    auto length = cast<ListType>(shift.getInput().getType()).getLength();
    AffineExpr k = names.length(shift.getOffset()), index = dim(0) - k, n = names.length(length);
    if (!k.isPureAffine())
      return notAffine("'ft.shift' by " + Twine(shift.getOffset().str()));
    LengthAttr zero = LengthAttr::get(names.context, 0);
    bool up = isProvablyNonNegative(op, shift.getOffset());
    bool down = !up && isProvablyNonNegative(op, zero - shift.getOffset());
    for (auto [view, fill] : llvm::zip_equal(viewsOf(shift.getInput()), viewsOf(shift.getFill()))) {
      ListView inside = withCells(names, view, withOuter(index, view.depth()), view.lengths);
      SmallVector<AffineExpr> fillDims;
      for (unsigned d = 1; d < view.depth(); ++d)
        fillDims.push_back(dim(d));
      ListView outside = withCells(names, fill, fillDims, view.lengths);
      if (!down)
        restrict(inside, {{index}});
      if (!up)
        restrict(inside, {{n - 1 - index}});
      ListView above = outside;
      restrict(outside, {{-index - 1}});
      restrict(above, {{index - n}});
      if (!down)
        append(inside, std::move(outside));
      if (!up)
        append(inside, std::move(above));
      result.push_back(std::move(inside));
    }
    return AccessStatus::Ok;
  }

  /// The element that place `w` of a window sees, its index being an expression of view dimensions.
  ListView windowPlace(WindowOp window, const ListView &view, AffineExpr index) {
    auto resultType = cast<ListType>(window.getResult().getType());
    AffineExpr n = names.length(cast<ListType>(window.getInput().getType()).getLength());
    auto at = [&](AffineExpr position) {
      SmallVector<AffineExpr> dims = {position};
      for (unsigned d = 1; d < view.depth(); ++d)
        dims.push_back(dim(d + 1));
      SmallVector<LengthAttr> lengths = {resultType.getLengths()[0], resultType.getLengths()[1]};
      lengths.append(view.lengths.begin() + 1, view.lengths.end());
      return withCells(names, view, dims, lengths);
    };
    ListView inside = at(index), low, high;
    switch (window.getBoundary()) {
    case Boundary::None:
      return inside;
    case Boundary::Zero:
      low = zeros(view, inside.lengths);
      high = low;
      break;
    case Boundary::Clamp:
      low = at(names.constant(0));
      high = at(n - 1);
      break;
    case Boundary::Mirror:
      low = at(-index);
      high = at(n * 2 - 2 - index);
      break;
    case Boundary::Wrap:
      low = at(index + n);
      high = at(index - n);
      break;
    }
    restrict(inside, {{index}, {n - 1 - index}});
    restrict(low, {{-index - 1}});
    restrict(high, {{index - n}});
    append(inside, std::move(low));
    append(inside, std::move(high));
    return inside;
  }

  /// Place w is w · dilation after the first: an affine expression of w where one of size and dilation
  /// is a constant. With a constant size and a dilation that has a name, each place is a piece.
  AccessStatus window(WindowOp window) {
    constexpr int64_t mostPlaces = 64;
    LengthAttr size = window.getSize(), dilation = window.getDilationOrOne();
    std::string what = "'ft.window' of size " + size.str() + " and dilation " + dilation.str();
    AffineExpr first = dim(0) * window.getStep() - names.length(window.getOverhangLow());
    AffineExpr spacing = names.length(dilation);
    if (!first.isPureAffine() || !spacing.isPureAffine() || !names.length(size).isPureAffine())
      return notAffine(what);
    if (!dilation.isConstant() && size.getConstant().value_or(mostPlaces + 1) > mostPlaces)
      return size.isConstant() ? notAffine(what + " (more than " + Twine(mostPlaces) + " places)") : notAffine(what);
    for (const ListView &view : viewsOf(window.getInput())) {
      if (dilation.isConstant()) {
        result.push_back(windowPlace(window, view, first + dim(1) * spacing));
        continue;
      }
      ListView whole;
      for (int64_t w = 0; w < *size.getConstant(); ++w) {
        ListView place = windowPlace(window, view, first + spacing * w);
        restrict(place, {{dim(1) - w, /*isEquality=*/true}});
        if (w == 0)
          whole = std::move(place);
        else
          append(whole, std::move(place));
      }
      result.push_back(std::move(whole));
    }
    return AccessStatus::Ok;
  }

  ListView zeros(const ListView &like, ArrayRef<LengthAttr> lengths) {
    ListView view;
    view.element = like.element;
    view.lengths.assign(lengths.begin(), lengths.end());
    Piece piece;
    piece.splat = cast<TypedAttr>(Builder(names.context).getZeroAttr(like.element.getElementType()));
    view.pieces.push_back(piece);
    return view;
  }

  AccessStatus gather(GatherOp gather) {
    const ListView &indices = viewsOf(gather.getIndices()).front();
    unsigned depth = indices.depth();
    for (const ListView &view : viewsOf(gather.getInput())) {
      ListView gathered;
      gathered.element = view.element;
      gathered.lengths = indices.lengths;
      gathered.lengths.append(view.lengths.begin() + 1, view.lengths.end());
      // Dimension 0 of the input becomes data; the others follow the indices' own.
      auto dimsWith = [&](AffineExpr outer) {
        SmallVector<AffineExpr> dims = {outer};
        for (unsigned d = 1; d < view.depth(); ++d)
          dims.push_back(dim(depth + d - 1));
        return dims;
      };
      for (const Piece &index : indices.pieces) {
        if (index.value || index.splat) {
          AffineExpr at = index.value ? index.value : names.constant(cast<IntegerAttr>(index.splat).getInt());
          ListView part = withCells(names, view, dimsWith(at), gathered.lengths);
          restrict(part, index.when);
          append(gathered, std::move(part));
          continue;
        }
        if (!index.gathers.empty()) {
          copyOperand = 1;
          return AccessStatus::NeedsCopy;
        }
        // A data-dependent index fits a map only as a whole result: `%idx[...]`.
        AffineExpr outer = dim(0);
        bool plain = view.pieces.size() == 1 && view.pieces[0].place.home && view.pieces[0].when.empty();
        int64_t position = -1;
        if (plain) {
          const Piece &piece = view.pieces[0];
          unsigned symbol = names.names.size();
          for (auto [p, e] : llvm::enumerate(piece.place.index)) {
            if (e == outer && position < 0)
              position = p;
            else if (e.isFunctionOfSymbol(symbol))
              plain = false;
          }
          for (const Piece::Gather &g : piece.gathers)
            for (AffineExpr e : g.at.index)
              plain &= !e.isFunctionOfSymbol(symbol);
          for (const Piece::Gather &g : piece.gathers)
            plain &= static_cast<int64_t>(g.position) != position;
        }
        if (!plain || position < 0) {
          copyOperand = 0;
          return AccessStatus::NeedsCopy;
        }
        ListView part = withCells(names, view, dimsWith(names.constant(0)), gathered.lengths);
        part.pieces[0].gathers.push_back({static_cast<unsigned>(position), index.place});
        restrict(part, index.when);
        append(gathered, std::move(part));
      }
      result.push_back(std::move(gathered));
    }
    return AccessStatus::Ok;
  }

  AccessStatus concat(ConcatOp concat) {
    auto type = cast<ListType>(concat.getResult().getType());
    SmallVector<Member> members;
    flattenType(type, members);
    for (auto [m, member] : llvm::enumerate(members)) {
      ListView whole;
      whole.element = member.element;
      whole.lengths = member.lengths;
      AffineExpr offset = names.constant(0);
      for (auto [i, input] : llvm::enumerate(concat.getInputs())) {
        const ListView &view = viewsOf(input)[m];
        AffineExpr end = offset + names.length(view.lengths[0]);
        ListView part = withCells(names, view, withOuter(dim(0) - offset, view.depth()), whole.lengths);
        if (i != 0)
          restrict(part, {{dim(0) - offset}});
        if (i + 1 != concat.getInputs().size())
          restrict(part, {{end - 1 - dim(0)}});
        append(whole, std::move(part));
        offset = end;
      }
      result.push_back(std::move(whole));
    }
    return AccessStatus::Ok;
  }

  AccessStatus flatten(FlattenOp flatten) {
    auto type = cast<ListType>(flatten.getInput().getType());
    std::optional<int64_t> inner = type.getLengths().size() > 1 ? type.getLengths()[1].getConstant() : std::nullopt;
    auto length = cast<ListType>(flatten.getResult().getType()).getLength();
    if (!inner)
      return notAffine("'ft.flatten' of a list whose second length is " + Twine(type.getLengths()[1].str()));
    int64_t divisor = std::max<int64_t>(*inner, 1); // lists of no elements join to one of none
    for (const ListView &view : viewsOf(flatten.getInput())) {
      SmallVector<AffineExpr> dims = {dim(0).floorDiv(divisor), dim(0) % divisor};
      SmallVector<LengthAttr> lengths = {length};
      for (unsigned d = 2; d < view.depth(); ++d) {
        dims.push_back(dim(d - 1));
        lengths.push_back(view.lengths[d]);
      }
      result.push_back(withCells(names, view, dims, lengths));
    }
    return AccessStatus::Ok;
  }

  AccessStatus split(SplitOp split) {
    std::optional<int64_t> inner = split.getInner().getConstant();
    auto type = cast<ListType>(split.getResult().getType());
    if (!inner)
      return notAffine("'ft.split' by " + Twine(split.getInner().str()));
    for (const ListView &view : viewsOf(split.getInput())) {
      SmallVector<AffineExpr> dims = {dim(0) * *inner + dim(1)};
      SmallVector<LengthAttr> lengths = {type.getLengths()[0], type.getLengths()[1]};
      for (unsigned d = 1; d < view.depth(); ++d) {
        dims.push_back(dim(d + 1));
        lengths.push_back(view.lengths[d]);
      }
      result.push_back(withCells(names, view, dims, lengths));
    }
    return AccessStatus::Ok;
  }

  AccessStatus transpose(TransposeOp transpose) {
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    for (const ListView &view : viewsOf(transpose.getInput())) {
      SmallVector<AffineExpr> dims;
      SmallVector<LengthAttr> lengths(view.lengths);
      for (unsigned d = 0; d < view.depth(); ++d)
        dims.push_back(dim(d));
      for (auto [d, from] : llvm::enumerate(permutation)) {
        dims[from] = dim(d);
        lengths[d] = view.lengths[from];
      }
      result.push_back(withCells(names, view, dims, lengths));
    }
    return AccessStatus::Ok;
  }

  AccessStatus repeat(RepeatOp repeat) {
    for (const ListView &view : viewsOf(repeat.getValue())) {
      SmallVector<AffineExpr> dims;
      SmallVector<LengthAttr> lengths = {repeat.getCount()};
      for (unsigned d = 0; d < view.depth(); ++d) {
        dims.push_back(dim(d + 1));
        lengths.push_back(view.lengths[d]);
      }
      result.push_back(withCells(names, view, dims, lengths));
    }
    return AccessStatus::Ok;
  }

  AccessStatus iota(IotaOp iota) {
    auto type = cast<ListType>(iota.getResult().getType());
    ListView view;
    view.element = cast<RankedTensorType>(type.getElement());
    view.lengths = llvm::to_vector(type.getLengths());
    Piece piece;
    piece.value = dim(0);
    view.pieces.push_back(piece);
    result.push_back(view);
    return AccessStatus::Ok;
  }

  AccessStatus get(GetOp get) {
    // Members are taken apart in order: those of the earlier ones come first.
    Type type = get.getInput().getType();
    while (auto list = dyn_cast<ListType>(type))
      type = list.getElement();
    auto tuple = cast<TupleType>(type);
    unsigned first = 0, count = 0;
    for (auto [i, member] : llvm::enumerate(tuple.getTypes())) {
      SmallVector<Member> members;
      flattenType(member, members);
      if (i < static_cast<uint64_t>(get.getIndex()))
        first += members.size();
      if (i == static_cast<uint64_t>(get.getIndex()))
        count = members.size();
    }
    ArrayRef<ListView> views = viewsOf(get.getInput()).slice(first, count);
    llvm::append_range(result, views);
    return AccessStatus::Ok;
  }

  AccessStatus cast_(CastOp cast) {
    SmallVector<Member> members;
    flattenType(cast.getResult().getType(), members);
    for (auto [view, member] : llvm::zip_equal(viewsOf(cast.getInput()), members)) {
      result.push_back(view);
      result.back().lengths = member.lengths;
    }
    return AccessStatus::Ok;
  }

  AccessStatus last(LastOp last) {
    AffineExpr n = names.length(cast<ListType>(last.getInput().getType()).getLength());
    for (auto [view, fallback] : llvm::zip_equal(viewsOf(last.getInput()), viewsOf(last.getFallback()))) {
      ListView inside = peel(names, view, n - 1), outside = fallback;
      restrict(inside, {{n - 1}});
      restrict(outside, {{n, /*isEquality=*/true}});
      append(inside, std::move(outside));
      result.push_back(std::move(inside));
    }
    return AccessStatus::Ok;
  }

  AccessStatus run() {
    auto lengthOf = [](Value list) { return cast<ListType>(list.getType()).getLength(); };
    return TypeSwitch<Operation *, AccessStatus>(op)
        .Case([&](ShiftOp o) { return shift(o); })
        .Case([&](ReverseOp o) {
          return remapOuter(o.getInput(), names.length(lengthOf(o.getInput())) - 1 - dim(0), lengthOf(o.getInput()));
        })
        .Case([&](SliceOp o) {
          LengthAttr lo = resolveIndex(o.getLo(), lengthOf(o.getInput()));
          return remapOuter(o.getInput(), dim(0) + names.length(lo), lengthOf(o.getResult()));
        })
        .Case([&](StrideOp o) {
          return remapOuter(o.getInput(), dim(0) * o.getStep() + o.getStart(), lengthOf(o.getResult()));
        })
        .Case([&](AtOp o) {
          LengthAttr index = resolveIndex(o.getIndex(), lengthOf(o.getInput()));
          for (const ListView &view : viewsOf(o.getInput()))
            result.push_back(peel(names, view, names.length(index)));
          return AccessStatus::Ok;
        })
        .Case([&](ZipOp o) {
          for (Value input : o.getInputs())
            llvm::append_range(result, viewsOf(input));
          return AccessStatus::Ok;
        })
        .Case([&](WindowOp o) { return window(o); })
        .Case([&](GatherOp o) { return gather(o); })
        .Case([&](GetOp o) { return get(o); })
        .Case([&](ConcatOp o) { return concat(o); })
        .Case([&](FlattenOp o) { return flatten(o); })
        .Case([&](SplitOp o) { return split(o); })
        .Case([&](TransposeOp o) { return transpose(o); })
        .Case([&](RepeatOp o) { return repeat(o); })
        .Case([&](IotaOp o) { return iota(o); })
        .Case([&](CastOp o) { return cast_(o); })
        .Case([&](LastOp o) { return last(o); })
        .Default([&](Operation *o) {
          o->emitError("is not an access operator");
          return AccessStatus::Failed;
        });
  }
};
} // namespace

AccessStatus toetdg::computeAccess(const Numbering &names, Operation *op, llvm::function_ref<ArrayRef<ListView>(Value)> viewsOf,
                                   std::vector<ListView> &result, unsigned &copyOperand) {
  return AccessBuilder{names, op, viewsOf, result, copyOperand}.run();
}
