//===- Homes.cpp - where values are kept ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer lies in the innermost body that encloses all iterations that read it.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

//===----------------------------------------------------------------------===//
// Escapes
//===----------------------------------------------------------------------===//

/// For each value the fewest loops that enclose all its readers and tell its
/// instances apart: what a loop carries is read in another iteration.
void ProgramAnalysis::findEscapes() {
  auto get = [&](Value v) {
    auto [it, isNew] = escapes.try_emplace(v, 0);
    if (isNew)
      it->second = depthOf(v);
    return it->second;
  };
  bool changed = true;
  auto lower = [&](Value v, unsigned to) {
    if (get(v) > to) {
      escapes[v] = to;
      changed = true;
    }
  };
  while (changed) {
    changed = false;
    for (Family &family : plan.families) {
      // An array is read by all its versions.
      unsigned all = infoOf(family.block).depth();
      for (Value member : family.members)
        all = std::min(all, get(member));
      for (Value member : family.members)
        if (depthOf(member) >= all)
          lower(member, all);
      for (Writer *w : family.writers)
        lower(w->source, std::min(all, depthOf(family.members.front())));
    }
    function.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        unsigned outside = infoOf(op->getBlock()).depth();
        for (unsigned i = 0; i < loop.getNumResults(); ++i) {
          unsigned reach =
              std::min({outside, get(loop.getResult(i)), get(loop.getRegionIterArgs()[i])});
          lower(loop.getYieldedValues()[i], reach);
          lower(loop.getInitArgs()[i],
                std::min(get(loop.getResult(i)), get(loop.getRegionIterArgs()[i])));
          // A state that is kept is read by the next iteration and after the last.
          lower(loop.getRegionIterArgs()[i], reach);
        }
      } else if (auto loop = dyn_cast<scf::ForallOp>(op)) {
        for (unsigned i = 0; i < loop.getNumResults(); ++i)
          lower(loop.getOutputs()[i],
                std::min(get(loop.getResult(i)), get(loop.getRegionOutArgs()[i])));
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        for (OpResult result : branch.getResults()) {
          lower(branch.thenYield().getOperand(result.getResultNumber()), get(result));
          lower(branch.elseYield().getOperand(result.getResultNumber()), get(result));
        }
      } else if (isa<func::ReturnOp>(op)) {
        for (Value v : op->getOperands())
          lower(v, 0);
      } else if (!statements.contains(op)) {
        for (Value result : op->getResults())
          for (Value operand : op->getOperands())
            lower(operand, get(result));
      }
    });
  }
}

//===----------------------------------------------------------------------===//
// Homes
//===----------------------------------------------------------------------===//

Scope *ProgramAnalysis::scopeAt(Block *block, unsigned depth) {
  Block *b = block;
  while (!scopeOf.lookup(b) && b->getParentOp())
    b = b->getParentOp()->getBlock();
  Scope *scope = scopeOf.lookup(b);
  while (scope->parent && scope->depth > depth)
    scope = scope->parent;
  return scope;
}

Home *ProgramAnalysis::createHome(Scope *scope, ArrayRef<LengthAttr> lengths, RankedTensorType element,
                         StringRef name) {
  plan.homes.emplace_back();
  Home &home = plan.homes.back();
  home.scope = scope;
  home.lengths.assign(lengths.begin(), lengths.end());
  home.element = element;
  home.name = name.str();
  return &home;
}

RankedTensorType ProgramAnalysis::elementOf(RankedTensorType type, unsigned leading) {
  return RankedTensorType::get(type.getShape().drop_front(leading), type.getElementType());
}

static RankedTensorType tensorTypeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor : RankedTensorType::get({}, type);
}

FailureOr<SmallVector<LengthAttr>> ProgramAnalysis::leadingLengths(Operation *op, Value v,
                                                          unsigned leading) {
  SmallVector<LengthAttr> lengths;
  for (unsigned d = 0; d < leading; ++d) {
    std::optional<AffineExpr> size = sizeOf(v, d);
    if (!size)
      return refuse(op, "the size of an array is not an affine function of lengths");
    FailureOr<LengthAttr> length = toLength(op, *size);
    if (failed(length))
      return failure();
    lengths.push_back(*length);
  }
  return lengths;
}

/// The iterations of the loops between the scope and the block: one plane each.
FailureOr<Place> ProgramAnalysis::prefixPlace(Operation *op, Block *block, Scope *scope,
                                     SmallVectorImpl<LengthAttr> &lengths) {
  Place place;
  const BlockInfo info = infoOf(block);
  for (unsigned d = scope->depth; d < info.depth(); ++d) {
    auto extent = extentOf(op, info, d);
    if (failed(extent))
      return failure();
    lengths.push_back(extent->first);
    place.index.push_back(sets->dim(d) - extent->second);
  }
  return place;
}

FailureOr<Place> ProgramAnalysis::createPlanes(Operation *op, Value value, Block *block, StringRef name) {
  unsigned reach = std::min<unsigned>(escapes.lookup(value), infoOf(block).depth());
  Scope *scope = scopeAt(block, reach);
  SmallVector<LengthAttr> lengths;
  FailureOr<Place> place = prefixPlace(op, block, scope, lengths);
  if (failed(place))
    return failure();
  RankedTensorType type = tensorTypeOf(value.getType());
  unsigned leading = leadingOf(value);
  FailureOr<SmallVector<LengthAttr>> own = leadingLengths(op, value, leading);
  if (failed(own))
    return failure();
  llvm::append_range(lengths, *own);
  for (unsigned d = 0, e = type.getRank(); d < e; ++d)
    place->index.push_back(sets->cell(d));
  place->home = createHome(scope, lengths, elementOf(type, leading), name);
  place->home->prefix = infoOf(block).depth() - scope->depth;
  place->home->planes = place->home->prefix > 0;
  return place;
}

/// How many dimensions index the buffer of a value; those after the last dynamic one may be its
/// element.
unsigned ProgramAnalysis::leadingOf(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  if (!type)
    return 0;
  unsigned least = 0;
  for (unsigned d = 0, e = type.getRank(); d < e; ++d)
    if (type.isDynamicDim(d))
      least = d + 1;
  Value from = v;
  for (unsigned steps = 0; steps < 16 && !familyOf.contains(from); ++steps) {
    if (auto arg = dyn_cast<BlockArgument>(from)) {
      if (auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
          loop && arg != loop.getInductionVar()) {
        from = loop.getTiedLoopInit(arg)->get();
        continue;
      }
      return arg.getOwner()->getParentOp() == function ? std::max(least, argumentHome(arg)->depth())
                                                       : least;
    }
    auto result = cast<OpResult>(from);
    if (statements.contains(result.getOwner()))
      break;
    if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
      from = loop.getYieldedValues()[result.getResultNumber()];
    else if (auto branch = dyn_cast<scf::IfOp>(result.getOwner()))
      from = branch.thenYield().getOperand(result.getResultNumber());
    else
      break;
  }
  Family *family = familyOf.lookup(from);
  return family ? std::max(least, family->leading) : least;
}

Home *ProgramAnalysis::argumentHome(BlockArgument arg) {
  Home *&home = argumentHomes[arg];
  if (home)
    return home;
  auto type = cast<RankedTensorType>(arg.getType());
  unsigned rank = type.getRank(), leading = 0;
  for (unsigned d = 0; d < rank; ++d)
    if (type.isDynamicDim(d))
      leading = d + 1;
  // Dimensions that every slice takes one index of lead, up to the last that some slice does not
  // take whole.
  bool any = false, scalars = false;
  SmallVector<bool> unit(rank, true), partial(rank, false);
  std::function<void(Value)> visit = [&](Value v) {
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      auto access = dyn_cast<SubsetAccessOpInterface>(user);
      bool reads = access && !access.isWrite() && access.getBase() == use.get();
      if (reads && access.isScalar()) {
        any = scalars = true;
      } else if (reads) {
        any = true;
        for (auto [d, size, offset] :
             llvm::enumerate(access.getSubsetSizes(), access.getSubsetOffsets())) {
          unit[d] = unit[d] && getConstantIntValue(size) == 1;
          partial[d] = partial[d] || getConstantIntValue(size) != type.getDimSize(d) ||
                       getConstantIntValue(offset) != 0;
          // A dimension that is gathered leads.
          if (!evalIndex(offset))
            leading = std::max<unsigned>(leading, d + 1);
        }
      } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
        for (BlockArgument inner : loop.getRegionIterArgs())
          if (loop.getTiedLoopInit(inner) == &use && familyOf.lookup(inner) &&
              inner.getType() == type)
            visit(inner);
      }
    }
  };
  visit(arg);
  if (scalars)
    llvm::fill(partial, true);
  for (unsigned d = 0; any && d < rank && unit[d]; ++d)
    if (partial[d] && type.getDimSize(d) != 1)
      leading = std::max(leading, d + 1);
  if (!any)
    for (Family &family : plan.families)
      if (family.root == arg)
        leading = std::max(leading, family.leading);
  SmallVector<LengthAttr> lengths;
  for (unsigned d = 0; d < leading; ++d)
    lengths.push_back(LengthAttr::get(context, sets->getNames(), *sizeOf(arg, d)));
  home = createHome(nullptr, lengths, elementOf(type, leading), "");
  return home;
}

Home *ProgramAnalysis::constantHome(DenseElementsAttr value) {
  Home *&home = constantHomes[value];
  if (!home) {
    home = createHome(&plan.scopes.front(), {}, cast<RankedTensorType>(value.getType()), "");
    home->constant = value;
  }
  return home;
}

Place ProgramAnalysis::insertedPlace(const Writer &w, const Writer::Alternative &alternative) {
  SmallVector<AffineExpr> cells;
  for (unsigned d = 0, kept = 0; d < w.sizes.size(); ++d)
    cells.push_back(w.dropped.test(d) ? alternative.offsets[d]
                                      : alternative.offsets[d] + sets->cell(kept++) * w.strides[d]);
  Place place;
  place.home = w.family->place.home;
  for (AffineExpr e : w.family->place.index)
    place.index.push_back(sets->withCells(e, cells));
  return place;
}

LogicalResult ProgramAnalysis::placeFamily(Family &family) {
  if (family.place.home || !family.byCells || family.writers.empty())
    return success();
  auto type = cast<RankedTensorType>(family.root.getType());
  if (Writer *w = family.insertedBy) {
    if (failed(placeFamily(*w->family)))
      return failure();
    family.place = insertedPlace(*w, w->alternatives.front());
    return success();
  }
  Operation *op = family.members.front().getDefiningOp();
  unsigned reach = infoOf(family.block).depth();
  for (Value member : family.members)
    reach = std::min(reach, escapes.lookup(member));
  Scope *scope = scopeAt(family.block, reach);
  SmallVector<LengthAttr> lengths;
  FailureOr<Place> place = prefixPlace(op, family.block, scope, lengths);
  FailureOr<SmallVector<LengthAttr>> own =
      leadingLengths(op, family.members.front(), family.leading);
  if (failed(place) || failed(own))
    return failure();
  llvm::append_range(lengths, *own);
  for (unsigned d = 0, e = type.getRank(); d < e; ++d)
    place->index.push_back(sets->cell(d));
  place->home = createHome(scope, lengths, elementOf(type, family.leading), "");
  family.place = *place;
  return success();
}

/// Whether anything but its own run reads a statement's value.
bool ProgramAnalysis::isUsedOutside(Value v) {
  unsigned run = runOf.lookup(v.getDefiningOp());
  Block *block = v.getParentBlock();
  return llvm::any_of(v.getUsers(), [&](Operation *user) {
    Operation *here = block->findAncestorOpInBlock(*user);
    if (here && statements.contains(here))
      return runOf.lookup(here) != run;
    auto it = writerOf.find(user);
    if (it != writerOf.end() && it->second->source == v && writesDirectly(*it->second))
      return !it->second->family->byCells;
    if (here == user && isRepeatable(user))
      return llvm::any_of(user->getResults(), [&](Value result) {
        return llvm::any_of(result.getUsers(), [&](Operation *next) {
          Operation *there = block->findAncestorOpInBlock(*next);
          return !there || !statements.contains(there) || runOf.lookup(there) != run;
        });
      });
    return true;
  });
}

LogicalResult ProgramAnalysis::planResults() {
  auto ret = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  Scope *top = &plan.scopes.front();
  for (Value v : ret.getOperands()) {
    auto type = cast<RankedTensorType>(v.getType());
    Family *family = familyOf.lookup(v);
    bool isLast = family && family->byCells && !family->insertedBy && !family->place.home &&
                  family->block == &function.getBody().front() && !family->writers.empty() &&
                  llvm::none_of(family->members, [&](Value m) { return parentOf(m) == v; });
    unsigned leading = leadingOf(v);
    FailureOr<SmallVector<LengthAttr>> lengths = leadingLengths(ret, v, leading);
    if (failed(lengths))
      return failure();
    Home *home = createHome(top, *lengths, elementOf(type, leading), "");
    plan.results.push_back(home);
    Place place;
    place.home = home;
    for (unsigned d = 0, e = type.getRank(); d < e; ++d)
      place.index.push_back(sets->cell(d));
    Operation *def = v.getDefiningOp();
    if (isLast) {
      family->place = place;
      resultCopied.push_back(false);
    } else if (def && statements.contains(def) && def->getBlock() == ret->getBlock()) {
      places[v].push_back(place);
      resultCopied.push_back(false);
    } else {
      resultCopied.push_back(true);
    }
  }
  return success();
}

/// Statements write where their values are inserted.
void ProgramAnalysis::placeInsertedValues() {
  for (Writer &w : plan.writers)
    if (!w.copies && !w.alternatives.empty() && w.family->byCells && writesDirectly(w))
      places[w.source].push_back(insertedPlace(w, w.alternatives.front()));
}

/// Values that other blocks read have a buffer, in the program's order, so that buffers come in it.
LogicalResult ProgramAnalysis::placeReadValues() {
  WalkResult walked = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!statements.contains(op))
      return WalkResult::advance();
    for (Value v : op->getResults()) {
      if (!isUsedOutside(v))
        continue;
      // Where it is inserted, unless that is private to iterations that its readers leave.
      SmallVector<Place, 1> &all = places[v];
      unsigned reach = std::min<unsigned>(escapes.lookup(v), depthOf(v));
      auto reached =
          llvm::find_if(all, [&](const Place &place) { return place.home->scope->depth <= reach; });
      if (reached != all.end()) {
        std::swap(*reached, all.front());
        continue;
      }
      FailureOr<Place> place = createPlanes(op, v, op->getBlock(), "");
      if (failed(place))
        return WalkResult::interrupt();
      SmallVector<Place, 1> &known = places[v];
      known.insert(known.begin(), *place);
    }
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  for (auto &[arg, place] : materialized) {
    FailureOr<Place> planes = createPlanes(arg.getOwner()->getParentOp(), arg, arg.getOwner(), "");
    if (failed(planes))
      return failure();
    place = *planes;
  }
  return success();
}

/// What is written into an array that is not kept by cells stays with the iterations that write it.
LogicalResult ProgramAnalysis::placeWriters() {
  for (Writer &w : plan.writers) {
    if (w.family->byCells || w.alternatives.empty())
      continue;
    if (!w.copies) {
      w.place = places[w.source].front();
      continue;
    }
    escapes.try_emplace(w.source, depthOf(w.source));
    unsigned before = escapes[w.source];
    unsigned reach = infoOf(w.family->block).depth();
    for (Value member : w.family->members)
      reach = std::min(reach, escapes.lookup(member));
    escapes[w.source] = std::min(before, reach);
    FailureOr<Place> planes = createPlanes(w.op, w.source, bodyOf(w.op), "");
    escapes[w.source] = before;
    if (failed(planes))
      return failure();
    w.place = *planes;
  }
  return success();
}

LogicalResult ProgramAnalysis::decideHomes() {
  if (failed(planResults()))
    return failure();
  for (Family &family : plan.families)
    if (failed(placeFamily(family)))
      return failure();
  placeInsertedValues();
  if (failed(placeReadValues()))
    return failure();
  return placeWriters();
}
