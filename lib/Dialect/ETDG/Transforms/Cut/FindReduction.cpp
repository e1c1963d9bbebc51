//===- FindReduction.cpp - which leaves can be cut into shares ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf that carries all that it writes as states along one dimension, and whose
// last states alone others read, so that nothing sees where it is cut.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/CutReductions.h"

#include "ft/Analysis/Sets.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

using namespace mlir;
using namespace mlir::etdg;

ft::LengthAttr Reduction::getLength() const {
  BlockOp block = leaf;
  auto type = cast<BufferType>(block.getBuffers()[block.getWrite(0).getOperand()].getType());
  return type.getLengths()[positions[0]] - offsets[0];
}

namespace {
class Finder {
public:
  Finder(BlockOp leaf, std::string &why, bool goesOn) : leaf(leaf), why(why), goesOn(goesOn), context(leaf.getContext()) {}
  std::optional<Reduction> find();

private:
  bool refuse(const Twine &reason) {
    why = reason.str();
    return false;
  }
  bool findDimension();
  bool findRange();
  bool findStates();
  bool findState(unsigned write);
  bool startsOutside(unsigned state);
  bool isSeenAtEnd();
  bool isSeenAtEnd(unsigned state, BlockOp reader, unsigned read);
  AffineExpr distanceFromEnd(unsigned state, BlockBuilder &about, AffineMap map);
  bool isNeverBefore(BlockOp other, const BlockBuilder &about, IntegerSet where, AffineExpr distance, int64_t least);
  bool writesBehind(unsigned state, BlockOp other);
  /// The write's index with the dimension replaced.
  AffineMap indexAt(unsigned write, AffineExpr at);
  unsigned numSymbols() { return leaf.getSymbolNames().size(); }

  BlockOp leaf;
  std::string &why;
  bool goesOn; // others may go on with its states
  MLIRContext *context;
  Reduction found;
};
} // namespace

static bool isReduction(ft::OperatorKind kind) {
  return kind == ft::OperatorKind::Reduce || kind == ft::OperatorKind::Fold;
}

/// Whether a leaf reads, at some point, what it may have written at another value of a dimension. (What a leaf was merged with can
/// be ordered along a dimension where it is not.)
static bool isCarriedAlong(BlockOp leaf, unsigned dim) {
  AffineExpr expr = getAffineDimExpr(dim, leaf.getContext());
  for (unsigned w = 0; w < leaf.getNumWrites(); ++w) {
    WriteAttr write = leaf.getWrite(w);
    std::optional<unsigned> at = write.getMap().getValue().getResultPosition(expr);
    if (!at)
      return true;
    for (unsigned r = 0; r < leaf.getNumReads(); ++r)
      for (PieceAttr piece : leaf.getRead(r).getPieces()) {
        bool readsIt = piece.getKind() == SourceKind::Buffer && piece.getOperand() == write.getOperand();
        if (llvm::any_of(piece.getGathers(), [&](GatherAttr gather) { return gather.getOperand() == write.getOperand(); }) ||
            (readsIt && (!piece.getGathers().empty() || piece.getMap().getValue().getResult(*at) != expr)))
          return true;
      }
  }
  return false;
}

bool Finder::findDimension() {
  if (!leaf.isLeaf())
    return refuse("the block has a body of blocks");
  if (NestOp nest = leaf.getNest(); nest && !goesOn && llvm::range_size(nest.getBody().getOps<BlockOp>()) != 1)
    return refuse("the nest has several regions");
  if (leaf->getParentOfType<VariantsOp>())
    return refuse("the nest is in one of several variants, which share their buffers");
  if (leaf.getCombine().empty())
    return refuse("the block has no 'combine'");
  std::optional<unsigned> own;
  for (unsigned d = 0; d < leaf.getNumOwnDims(); ++d) {
    bool isScan = leaf.getOperator(d) == ft::OperatorKind::Scan;
    if (isScan && !goesOn)
      return refuse("each state of a scan is a result, the states of shares are none");
    if (isScan || isReduction(leaf.getOperator(d))) {
      own = d;
      found.isScan = isScan;
    }
  }
  if (!own)
    return refuse("no dimension is a 'reduce', a 'fold' or a 'scan'");
  if (NestOp nest = leaf.getNest(); found.isScan && nest && !llvm::hasSingleElement(nest.getBody().getOps<BlockOp>()))
    return refuse("other regions of the nest have some of the scan's states");
  found.leaf = leaf;
  found.dim = leaf.getNumAncestors() + *own;
  NestOp nest = leaf.getNest();
  auto kernel = dyn_cast<KernelOp>(nest ? nest->getParentOp() : leaf->getParentOp());
  if (kernel && *own < kernel.getShared())
    return refuse("the nests of its kernel run in step along the dimension");
  // (In a block one thread, or one thread block, runs the shared loops: no other dimension is ordered there.)
  unsigned shared = kernel && !leaf.getParentBlock() ? kernel.getShared() : 0;
  for (unsigned d = shared; d < leaf.getNumOwnDims(); ++d)
    if (d != *own && leaf.getOperator(d) != ft::OperatorKind::Map && isCarriedAlong(leaf, leaf.getNumAncestors() + d))
      return refuse("another of its dimensions is ordered, " + leaf.getDimNames()[leaf.getNumAncestors() + d].getValue());
  return true;
}

bool Finder::findRange() {
  IntegerSet domain = leaf.getDomainSet();
  AffineExpr dim = getAffineDimExpr(found.dim, context), zero = getAffineConstantExpr(0, context);
  for (auto [constraint, isEq] : llvm::zip_equal(domain.getConstraints(), domain.getEqFlags())) {
    if (!constraint.isFunctionOfDim(found.dim))
      continue;
    LinearForm form = LinearForm::of(constraint);
    int64_t step = form.isLinearIn(found.dim) ? form.coefficient(dim) : 0;
    AffineExpr &bound = step > 0 ? found.lower : found.upper;
    if (isEq || (step != 1 && step != -1) || bound)
      return refuse("the dimension's range has not one lower and one upper bound");
    AffineExpr rest = constraint.replace(dim, zero);
    bound = canonicalizeExpr(step > 0 ? -rest : rest + 1, domain.getNumDims(), domain.getNumSymbols());
  }
  if (!found.lower || !found.upper)
    return refuse("the dimension's range has not one lower and one upper bound");
  if (auto constant = dyn_cast<AffineConstantExpr>(found.lower); !constant || constant.getValue() < 0)
    return refuse("the dimension does not begin at a constant");
  return true;
}

AffineMap Finder::indexAt(unsigned write, AffineExpr at) {
  AffineMap map = leaf.getWrite(write).getMap().getValue();
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(canonicalizeExpr(result.replace(getAffineDimExpr(found.dim, context), at), map.getNumDims(), map.getNumSymbols()));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
}

/// A state is written along the dimension, and read, whole, where the iteration before wrote it.
bool Finder::findState(unsigned write) {
  auto notCarried = [&]() { return refuse("write " + Twine(write) + " is no state that one iteration hands to the next"); };
  AffineExpr dim = getAffineDimExpr(found.dim, context);
  AffineMap index = indexAt(write, dim);
  std::optional<unsigned> position;
  for (auto [p, result] : llvm::enumerate(index.getResults())) {
    if (!result.isFunctionOfDim(found.dim))
      continue;
    auto offset = dyn_cast<AffineConstantExpr>(canonicalizeExpr(result - dim, index.getNumDims(), index.getNumSymbols()));
    if (position || !offset)
      return notCarried();
    position = p;
    found.offsets.push_back(offset.getValue());
  }
  if (!position)
    return notCarried();
  found.positions.push_back(*position);
  int64_t operand = leaf.getWrite(write).getOperand();
  std::optional<unsigned> from;
  for (unsigned r = 0; r < leaf.getNumReads(); ++r)
    for (PieceAttr piece : leaf.getRead(r).getPieces()) {
      if (llvm::any_of(piece.getGathers(), [&](GatherAttr gather) { return gather.getOperand() == operand; }))
        return notCarried();
      if (piece.getKind() != SourceKind::Buffer || piece.getOperand() != operand)
        continue;
      if (from || leaf.getRead(r).getElementRank() != 0 || !piece.getGathers().empty() ||
          indexAt(write, dim - 1) != piece.getMap().getValue())
        return notCarried();
      from = r;
    }
  if (!from || llvm::is_contained(found.stateReads, *from) ||
      leaf.getBody().getArgument(*from).getType() != leaf.getCombine().getArgument(write).getType())
    return notCarried();
  found.stateReads.push_back(*from);
  return true;
}

/// The first iteration, and no other one, takes the state from elsewhere.
bool Finder::startsOutside(unsigned state) {
  SymbolSpace space(leaf->getParentOfType<GraphOp>());
  SmallVector<StringAttr> names = leaf.getSymbolNames();
  int64_t operand = leaf.getWrite(state).getOperand();
  for (PieceAttr piece : leaf.getRead(found.stateReads[state]).getPieces()) {
    bool isOwn = piece.getKind() == SourceKind::Buffer && piece.getOperand() == operand;
    SetBuilder set(space, leaf.getNumDims());
    AffineExpr since = getAffineDimExpr(found.dim, context) - found.lower;
    if (failed(set.add(leaf.getDomainSet(), names)) || failed(set.add(piece.getSet().getValue(), names)) ||
        failed(set.add(isOwn ? since : since - 1, /*isEq=*/isOwn, names)) || !isEmpty(set.get()))
      return refuse("state " + Twine(state) + " comes from outside at other iterations than the first");
  }
  return true;
}

/// How far after the last state of the leaf an index of another block is; null: it is unknown.
AffineExpr Finder::distanceFromEnd(unsigned state, BlockBuilder &about, AffineMap map) {
  AffineMap last = indexAt(state, found.upper - 1);
  // The leaf's dimensions as the other block has them: those of the blocks around both, others by the index.
  llvm::DenseMap<AffineExpr, AffineExpr> point;
  for (unsigned d = 0; d < leaf.getNumAncestors() && d < about.dims.size(); ++d)
    point[getAffineDimExpr(d, context)] = getAffineDimExpr(d, context);
  for (unsigned p = 0; p < last.getNumResults(); ++p)
    if (auto dim = dyn_cast<AffineDimExpr>(last.getResult(p)); dim && p != found.positions[state] && dim.getPosition() >= leaf.getNumAncestors())
      point[dim] = map.getResult(p);
  AffineExpr at = last.getResult(found.positions[state]);
  for (unsigned d = 0; d < leaf.getNumDims(); ++d)
    if (at.isFunctionOfDim(d) && !point.contains(getAffineDimExpr(d, context)))
      return nullptr;
  at = about.importExpr(at, leaf.getSymbolNames());
  return canonicalizeExpr(map.getResult(found.positions[state]) - at.replace(point), map.getNumDims(), about.symbols.size());
}

/// Whether no point of a set is nearer to the end than `least`.
bool Finder::isNeverBefore(BlockOp other, const BlockBuilder &about, IntegerSet where, AffineExpr distance, int64_t least) {
  SymbolSpace space(leaf->getParentOfType<GraphOp>());
  SetBuilder set(space, other.getNumDims());
  SmallVector<StringAttr> names = other.getSymbolNames();
  return succeeded(set.add(other.getDomainSet(), names)) && succeeded(set.add(where, names)) &&
         succeeded(set.add(-distance + (least - 1), /*isEq=*/false, about.symbols)) && isEmpty(set.get());
}

/// Whether all that a read gets of a state are last ones, or, where others go on with it, what these have written.
bool Finder::isSeenAtEnd(unsigned state, BlockOp reader, unsigned read) {
  Value buffer = leaf.getBuffers()[leaf.getWrite(state).getOperand()];
  BlockBuilder about = BlockBuilder::from(reader);
  for (PieceAttr piece : reader.getRead(read).getPieces()) {
    if (llvm::any_of(piece.getGathers(), [&](GatherAttr gather) { return reader.getBuffers()[gather.getOperand()] == buffer; }))
      return false;
    if (piece.getKind() != SourceKind::Buffer || reader.getBuffers()[piece.getOperand()] != buffer)
      continue;
    if (llvm::any_of(piece.getGathers(), [&](GatherAttr gather) { return gather.getPosition() == found.positions[state]; }))
      return false;
    AffineExpr distance = distanceFromEnd(state, about, piece.getMap().getValue());
    auto zero = dyn_cast_or_null<AffineConstantExpr>(distance);
    if (zero && zero.getValue() == 0)
      continue;
    if (!goesOn || !distance || reader.getRead(read).getElementRank() != 0 ||
        !isNeverBefore(reader, about, piece.getSet().getValue(), distance, /*least=*/0))
      return false;
  }
  return true;
}

/// Whether another block writes nothing of a state's buffer, or, where it goes on with it, what lies after the last one.
bool Finder::writesBehind(unsigned state, BlockOp other) {
  Value buffer = leaf.getBuffers()[leaf.getWrite(state).getOperand()];
  BlockBuilder about = BlockBuilder::from(other);
  return llvm::all_of(other.getWrites().getAsRange<WriteAttr>(), [&](WriteAttr write) {
    if (other.getBuffers()[write.getOperand()] != buffer)
      return true;
    AffineExpr distance = goesOn ? distanceFromEnd(state, about, write.getMap().getValue()) : AffineExpr();
    return distance && isNeverBefore(other, about, getUniverse(context, other.getNumDims(), other.getSymbolNames().size()), distance, /*least=*/1);
  });
}

bool Finder::isSeenAtEnd() {
  for (unsigned w = 0; w < leaf.getNumWrites(); ++w) {
    Value buffer = leaf.getBuffers()[leaf.getWrite(w).getOperand()];
    if (!buffer.getDefiningOp<BufferOp>())
      return refuse("a state is an argument");
    if (found.isScan)
      continue;
    for (Operation *user : buffer.getUsers()) {
      auto reader = dyn_cast<BlockOp>(user);
      if (reader == leaf)
        continue;
      bool isSeen = reader && llvm::all_of(llvm::seq(reader.getNumReads()), [&](unsigned r) { return isSeenAtEnd(w, reader, r); }) &&
                    writesBehind(w, reader);
      if (!isSeen)
        return refuse("other states than the last ones are read");
    }
  }
  return true;
}

bool Finder::findStates() {
  if (leaf.getIdentity().size() != leaf.getNumWrites())
    return refuse("it writes what is no state");
  for (auto identity : leaf.getIdentity().getAsRange<ReadAttr>())
    if (identity.getElementRank() != 0)
      return refuse("an identity is put together of scalars");
  for (unsigned w = 0; w < leaf.getNumWrites(); ++w)
    if (!findState(w) || !startsOutside(w))
      return false;
  for (unsigned read : found.stateReads)
    if (leaf.getRead(read).getElementRank() != 0)
      return refuse("a state is put together of scalars");
  return isSeenAtEnd();
}

std::optional<Reduction> Finder::find() {
  if (!findDimension() || !findRange() || !findStates())
    return std::nullopt;
  return std::move(found);
}

std::optional<Reduction> etdg::findReduction(BlockOp leaf, std::string &why, bool goesOn) { return Finder(leaf, why, goesOn).find(); }
