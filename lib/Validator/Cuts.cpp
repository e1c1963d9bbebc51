//===- Cuts.cpp - the shares of a reduction, and their join ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// T12: a block with `etdg.cut` has the shares of a reduction, and the nest after it
// joins them. Each iteration is in one share, each share begins from `identity` and is
// joined whole, after the shares before it, by `combine`. Of a scan another block has the shares
// again (`resumed`): it computes the same, from what the join of the share before has come to.
//
//===----------------------------------------------------------------------===//
#include "Checks.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

namespace {
/// Asks of one cut; each question returns what is wrong, or nothing.
class CutQuestions {
public:
  CutQuestions(BlockOp shares, CutAttr cut, const SymbolSpace &space)
      : shares(shares), whole(cut.getDomain().getValue()), tile(cut.getTile()),
        space(space), context(shares.getContext()), share(unsigned(cut.getDimension())),
        numDims(shares.getNumDims()), names(shares.getSymbolNames()) {}
  std::string ask();
  std::string askResumed();

private:
  using Constraints = SmallVector<std::pair<AffineExpr, bool>>;
  AffineExpr dimExpr(unsigned d) { return getAffineDimExpr(d, context); }
  /// The shares' points that meet more constraints, over one more variable: the share that is joined.
  bool isEmptyWith(const Constraints &more, ArrayRef<StringAttr> of);
  static Constraints constraintsOf(IntegerSet set);
  /// What is specified for a join, of which the shares' dimensions and the variable after them are known.
  AffineExpr ofJoin(AffineExpr expr);
  Constraints ofJoin(IntegerSet set);

  /// Whether the shares are a cut at all, and then of each state.
  std::string askCoverAnd(llvm::function_ref<std::string(unsigned)> askOf);
  std::string askCover();
  std::string askBegin(unsigned w);
  std::string askJoin(BlockOp join);
  std::string askState(BlockOp join, NestOp nest, unsigned w);
  std::string askPartial(BlockOp join, unsigned w);
  std::string askResumed(unsigned w);
  std::string askCarried(PieceAttr piece, Constraints here, unsigned w);
  BlockOp sharesOf(BlockOp join, unsigned w);
  bool isIdentity(PieceAttr piece, unsigned w);

  BlockOp shares;
  IntegerSet whole; // the reduction's domain, without shares
  int64_t tile;
  const SymbolSpace &space;
  MLIRContext *context;
  unsigned share, numDims;
  SmallVector<StringAttr> names;
};
} // namespace

CutQuestions::Constraints CutQuestions::constraintsOf(IntegerSet set) {
  Constraints all;
  for (auto [constraint, isEq] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
    all.emplace_back(constraint, isEq);
  return all;
}

bool CutQuestions::isEmptyWith(const Constraints &more, ArrayRef<StringAttr> of) {
  SetBuilder set(space, numDims + 1);
  if (failed(set.add(shares.getDomainSet(), names)))
    return false;
  for (auto [constraint, isEq] : more)
    if (failed(set.add(constraint, isEq, of)))
      return false;
  return isEmpty(set.get());
}

/// A join has the shares' dimensions but the cut one; its share is the variable after all.
AffineExpr CutQuestions::ofJoin(AffineExpr expr) {
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d + 1 < numDims; ++d)
    dims.push_back(d == share ? dimExpr(numDims) : dimExpr(d < share ? d : d + 1));
  return expr.replaceDims(dims);
}

CutQuestions::Constraints CutQuestions::ofJoin(IntegerSet set) {
  Constraints all;
  for (auto [constraint, isEq] : constraintsOf(set))
    all.emplace_back(ofJoin(constraint), isEq);
  return all;
}

/// The shares have the iterations of the whole, each in the share of its number.
std::string CutQuestions::askCover() {
  AffineExpr dim = dimExpr(share + 1), since = dim - dimExpr(share) * tile;
  SetBuilder all(space, numDims), own(space, numDims);
  LogicalResult isClear = own.add(shares.getDomainSet(), names);
  for (auto [constraint, isEq] : constraintsOf(whole))
    if (failed(all.add(constraint.shiftDims(numDims - 1, 1, share), isEq, names)))
      isClear = failure();
  if (failed(isClear) || failed(all.add(since, false, names)) || failed(all.add(-since + (tile - 1), false, names)))
    return "its domains can't be asked";
  if (!isCovered(all.get(), {own.get()}))
    return "an iteration of the whole is in no share";
  if (!isCovered(own.get(), {all.get()}))
    return "a share has an iteration that the whole does not have there";
  return "";
}

/// Whether a piece reads what `identity` says of the state.
bool CutQuestions::isIdentity(PieceAttr piece, unsigned w) {
  if (w >= shares.getIdentity().size())
    return false;
  return llvm::any_of(cast<ReadAttr>(shares.getIdentity()[w]).getPieces(), [&](PieceAttr identity) {
    if (piece.getKind() != identity.getKind() || piece.getOperand() != identity.getOperand() || piece.getMap() != identity.getMap() ||
        piece.getGathers() != identity.getGathers() || piece.getValue() != identity.getValue())
      return false;
    SetBuilder own(space, numDims), said(space, numDims);
    return succeeded(own.add(shares.getDomainSet(), names)) && succeeded(own.add(piece.getSet().getValue(), names)) &&
           succeeded(said.add(identity.getSet().getValue(), names)) && isCovered(own.get(), {said.get()});
  });
}

/// A share's state begins from `identity`, and is its own iteration's before afterwards.
std::string CutQuestions::askBegin(unsigned w) {
  int64_t operand = shares.getWrite(w).getOperand();
  AffineMap written = shares.getWrite(w).getMap().getValue();
  AffineExpr dim = dimExpr(share + 1), since = dim - dimExpr(share) * tile;
  auto reads = [&](PieceAttr piece) { return piece.getKind() == SourceKind::Buffer && piece.getOperand() == operand; };
  unsigned found = 0;
  for (auto read : shares.getReads().getAsRange<ReadAttr>()) {
    if (llvm::none_of(read.getPieces(), reads))
      continue;
    ++found;
    for (PieceAttr piece : read.getPieces()) {
      Constraints here = constraintsOf(piece.getSet().getValue());
      if (reads(piece)) {
        for (auto [now, then] : llvm::zip_equal(written.getResults(), piece.getMap().getValue().getResults()))
          if (canonicalizeExpr(now.replace(dim, dim - 1) - then, numDims, names.size()) != getAffineConstantExpr(0, context))
            return "a share goes on from another state than that of its iteration before";
        here.emplace_back(-since, false);
        if (!isEmptyWith(here, names))
          return "a share begins from the state of another one";
        continue;
      }
      if (!isIdentity(piece, w))
        return "a share begins from something else than 'identity'";
      for (auto [constraint, isEq] : constraintsOf(shares.getDomainSet()))
        here.emplace_back(constraint.replace(dim, dim - 1), isEq);
      if (!isEmptyWith(here, names))
        return "a share begins anew after its first iteration";
    }
  }
  return found == 1 ? "" : "write " + std::to_string(w) + " of the shares is no state";
}

/// What is joined of a share is its last state.
std::string CutQuestions::askPartial(BlockOp join, unsigned w) {
  SmallVector<StringAttr> of = join.getSymbolNames();
  BlockBuilder both = BlockBuilder::from(join);
  AffineMap written = shares.getWrite(w).getMap().getValue();
  for (PieceAttr piece : join.getRead(shares.getNumWrites() + w).getPieces()) {
    if (piece.getKind() != SourceKind::Buffer || !piece.getGathers().empty() ||
        join.getBuffers()[piece.getOperand()] != shares.getBuffers()[shares.getWrite(w).getOperand()])
      return "it joins something else than the states of the shares";
    Constraints here = ofJoin(piece.getSet().getValue());
    llvm::append_range(here, ofJoin(join.getDomainSet()));
    here.emplace_back(dimExpr(share) - dimExpr(numDims), true);
    for (auto [index, found] : llvm::zip_equal(written.getResults(), piece.getMap().getValue().getResults())) {
      AffineExpr later = both.importExpr(index, names) - ofJoin(found);
      if (index.isFunctionOfDim(share + 1)) {
        here.emplace_back(later - 1, false);
        continue;
      }
      later = later.replace(dimExpr(numDims), dimExpr(share));
      if (canonicalizeExpr(later, numDims + 1, both.symbols.size()) != getAffineConstantExpr(0, context))
        return "it joins another share than its own";
    }
    if (!isEmptyWith(here, both.symbols))
      return "it joins a state that is not a share's last one";
  }
  return "";
}

/// Before a share stands the state of the share before, and nothing else but where there is none.
std::string CutQuestions::askState(BlockOp join, NestOp nest, unsigned w) {
  AffineExpr own = dimExpr(share);
  SmallVector<StringAttr> of = join.getSymbolNames();
  for (PieceAttr piece : join.getRead(w).getPieces()) {
    bool isBefore = false;
    for (BlockOp other : nest.getBody().getOps<BlockOp>()) {
      WriteAttr write = other.getWrite(w);
      AffineMap map = write.getMap().getValue();
      if (piece.getKind() != SourceKind::Buffer || other.getBuffers()[write.getOperand()] != join.getBuffers()[piece.getOperand()])
        continue;
      BlockBuilder both = BlockBuilder::from(join);
      for (auto [now, before] : llvm::zip_equal(map.getResults(), piece.getMap().getValue().getResults())) {
        AffineExpr distance = both.importExpr(now, other.getSymbolNames()).replace(own, own - 1) - before;
        if (canonicalizeExpr(distance, numDims - 1, both.symbols.size()) != getAffineConstantExpr(0, context))
          return "a share is joined after another one than the share before";
      }
      isBefore = true;
    }
    if (isBefore)
      continue;
    Constraints here = ofJoin(piece.getSet().getValue());
    llvm::append_range(here, ofJoin(join.getDomainSet()));
    here.emplace_back(dimExpr(numDims) - dimExpr(share) - 1, false);
    if (!isEmptyWith(here, of))
      return "it begins anew after the first share";
  }
  return "";
}

std::string CutQuestions::askJoin(BlockOp join) {
  unsigned count = shares.getNumWrites();
  if (!join.isLeaf() || join.getNumDims() + 1 != numDims || join.getNumReads() != 2 * count || join.getNumWrites() != count)
    return "it has other states than the shares";
  if (shares.getCombine().empty() ||
      !OperationEquivalence::isRegionEquivalentTo(&join.getBody(), &shares.getCombine(), OperationEquivalence::IgnoreLocations))
    return "it computes something else than 'combine'";
  for (unsigned w = 0; w < count; ++w) {
    if (std::string wrong = askPartial(join, w); !wrong.empty())
      return wrong;
    if (std::string wrong = askState(join, join.getNest(), w); !wrong.empty())
      return wrong;
  }
  return "";
}

std::string CutQuestions::askCoverAnd(llvm::function_ref<std::string(unsigned)> askOf) {
  if (std::string wrong = askCover(); !wrong.empty())
    return wrong;
  for (unsigned w = 0; w < shares.getNumWrites(); ++w)
    if (std::string wrong = askOf(w); !wrong.empty())
      return wrong;
  return "";
}

std::string CutQuestions::ask() {
  if (std::string wrong = askCoverAnd([&](unsigned w) { return askBegin(w); }); !wrong.empty())
    return wrong;
  NestOp nest;
  for (WriteAttr write : shares.getWrites().getAsRange<WriteAttr>())
    for (Operation *user : shares.getBuffers()[write.getOperand()].getUsers()) {
      if (user == shares)
        continue;
      auto join = dyn_cast<BlockOp>(user);
      if (!join || !join.getNest() || (nest && join.getNest() != nest))
        return "the states are read elsewhere than in one nest, their join";
      nest = join.getNest();
    }
  if (!nest)
    return "no nest joins them";
  SmallVector<presburger::IntegerPolyhedron, 0> joins;
  for (BlockOp join : nest.getBody().getOps<BlockOp>()) {
    if (std::string wrong = askJoin(join); !wrong.empty())
      return "the join: " + wrong;
    SetBuilder set(space, numDims + 1);
    for (auto [constraint, isEq] : ofJoin(join.getDomainSet()))
      if (failed(set.add(constraint, isEq, join.getSymbolNames())))
        return "the join's domains can't be asked";
    set.addEqual(share, numDims);
    joins.push_back(set.get());
  }
  SetBuilder all(space, numDims + 1);
  if (failed(all.add(shares.getDomainSet(), names)))
    return "its domain can't be asked";
  all.addEqual(share, numDims);
  return isCovered(all.get(), joins) ? "" : "the join leaves a share out";
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// The shares of which a block joins state `w`; null: it joins none of shares cut like these.
BlockOp CutQuestions::sharesOf(BlockOp join, unsigned w) {
  unsigned count = shares.getNumWrites();
  if (!join.isLeaf() || join.getNumReads() != 2 * count)
    return {};
  for (PieceAttr piece : join.getRead(count + w).getPieces()) {
    if (piece.getKind() != SourceKind::Buffer)
      continue;
    for (Operation *user : join.getBuffers()[piece.getOperand()].getUsers()) {
      auto block = dyn_cast<BlockOp>(user);
      auto cut = block ? block->getAttrOfType<CutAttr>(etdg::names::cut) : CutAttr();
      if (cut && !cut.getResumed() && cut.getTile() == tile &&
          cut.getDimension() == int64_t(share) && cut.getDomain().getValue() == whole &&
          block.getSymbolNames() == names && block.getNumWrites() == count)
        return block;
    }
  }
  return {};
}

/// What a share goes on from: the join of the share before, where that has iterations.
std::string CutQuestions::askCarried(PieceAttr piece, Constraints here, unsigned w) {
  Value buffer = shares.getBuffers()[piece.getOperand()];
  AffineExpr begin = dimExpr(share + 1) - dimExpr(share) * tile;
  bool isJoined = false;
  for (Operation *user : buffer.getUsers()) {
    auto join = dyn_cast<BlockOp>(user);
    if (!join || join == shares || llvm::none_of(join.getWrites().getAsRange<WriteAttr>(), [&](WriteAttr write) {
          return join.getBuffers()[write.getOperand()] == buffer;
        }))
      continue;
    if (!sharesOf(join, w) || join.getBuffers()[join.getWrite(w).getOperand()] != buffer)
      return "a share goes on from something else than the join of those before it";
    if (!OperationEquivalence::isRegionEquivalentTo(&sharesOf(join, w).getBody(), &shares.getBody(), OperationEquivalence::IgnoreLocations))
      return "it computes something else than the shares that are joined";
    // The join has no dimension that is cut: its share stands in that one's place.
    BlockBuilder both = BlockBuilder::from(shares);
    SmallVector<AffineExpr> dims;
    for (unsigned d = 0; d + 1 < numDims; ++d)
      dims.push_back(d == share ? dimExpr(share) - 1 : dimExpr(d < share ? d : d + 1));
    for (auto [index, found] : llvm::zip_equal(join.getWrite(w).getMap().getValue().getResults(), piece.getMap().getValue().getResults())) {
      AffineExpr distance = both.importExpr(index, join.getSymbolNames()).replaceDims(dims) - found;
      if (canonicalizeExpr(distance, numDims, both.symbols.size()) != getAffineConstantExpr(0, context))
        return "a share goes on from the join of another one than the share before";
    }
    isJoined = true;
  }
  if (!isJoined)
    return "a share goes on from something else than the join of those before it";
  here.emplace_back(begin - 1, false);
  return isEmptyWith(here, names) ? "" : "a share goes on anew from the join after its first iteration";
}

/// State `w` begins where the whole does, is joined where a share begins, and its own iteration's before afterwards.
std::string CutQuestions::askResumed(unsigned w) {
  int64_t operand = shares.getWrite(w).getOperand();
  AffineMap written = shares.getWrite(w).getMap().getValue();
  AffineExpr dim = dimExpr(share + 1), since = dim - dimExpr(share) * tile;
  auto reads = [&](PieceAttr piece) { return piece.getKind() == SourceKind::Buffer && piece.getOperand() == operand; };
  auto *read = llvm::find_if(shares.getReads().getValue(), [&](Attribute read) { return llvm::any_of(cast<ReadAttr>(read).getPieces(), reads); });
  if (read == shares.getReads().end())
    return tile == 1 ? "" : "write " + std::to_string(w) + " of the resumed shares is no state";
  for (PieceAttr piece : cast<ReadAttr>(*read).getPieces()) {
    Constraints here = constraintsOf(piece.getSet().getValue());
    if (reads(piece)) {
      for (auto [now, then] : llvm::zip_equal(written.getResults(), piece.getMap().getValue().getResults()))
        if (canonicalizeExpr(now.replace(dim, dim - 1) - then, numDims, names.size()) != getAffineConstantExpr(0, context))
          return "a share goes on from another state than that of its iteration before";
      here.emplace_back(-since, false);
      if (!isEmptyWith(here, names))
        return "a share goes on from a state of another one, for which it does not wait";
      continue;
    }
    Constraints later = here;
    for (auto [constraint, isEq] : constraintsOf(whole))
      later.emplace_back(constraint.shiftDims(numDims - 1, 1, share).replace(dim, dim - 1), isEq);
    if (isEmptyWith(later, names))
      continue; // at the first iteration of all
    if (piece.getKind() != SourceKind::Buffer || !piece.getGathers().empty())
      return "a share begins anew after the first one";
    if (std::string wrong = askCarried(piece, here, w); !wrong.empty())
      return wrong;
  }
  return "";
}

std::string CutQuestions::askResumed() {
  return askCoverAnd([&](unsigned w) { return askResumed(w); });
}

void Checks::checkCut(BlockOp shares) {
  auto cut = shares->getAttrOfType<CutAttr>(etdg::names::cut);
  if (!cut)
    return;
  CutQuestions questions(shares, cut, model.getSpace());
  std::string wrong = cut.getResumed() ? questions.askResumed() : questions.ask();
  if (!wrong.empty())
    report({shares, "T12", "of the shares of " + std::to_string(cut.getTile()) + " iterations, " + wrong, "", std::nullopt, ""});
}
