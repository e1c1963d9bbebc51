//===- FindLeafReduction.cpp - which loop of a leaf can be cut ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduced loop of one operation is followed to all that has an element for each of its iterations: what is computed element by element, other
// operations' loops, reads. What one iteration has made may be seen by that iteration alone, until it is reduced; and what is reduced by no iteration.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/CutLeaves.h"
#include "ft/Dialect/ETDG/Transforms/CutReductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
/// Follows one loop through a leaf.
class LoopFollower {
public:
  LoopFollower(BlockOp leaf, std::string &why) : why(why) { found.leaf = leaf; }
  std::optional<LeafReduction> follow(linalg::LinalgOp op, unsigned loop);
  bool findPoint();

private:
  bool refuse(Operation *op, const Twine &reason) {
    why = (op->getName().getStringRef() + " " + reason).str();
    return false;
  }
  bool mark(Value value, unsigned dim);
  bool visit(Operation *op, Value value, unsigned dim);
  bool visitLoops(linalg::LinalgOp op, unsigned loop);
  bool visitElementwise(Operation *op, unsigned dim);
  bool markAlong(linalg::LinalgOp op, Value value, AffineMap map, unsigned loop, bool isInit);
  bool joins(linalg::LinalgOp op);
  bool hasWholeReads();
  bool isSeenBehindAlone();

  LeafReduction found;
  std::string &why;
  SmallVector<Value> open;
};
} // namespace

/// Two parts of a sum can be joined by what adds up its terms.
bool LoopFollower::joins(linalg::LinalgOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    BlockArgument state = op.getMatchingBlockArgument(&init);
    Value yielded = op.getBlock()->getTerminator()->getOperand(init.getOperandNumber() - op.getNumDpsInputs());
    if (!getCombiner(yielded, state))
      return refuse(op, "grows by what has no neutral element");
    if (!isa<FloatType, IntegerType>(yielded.getType()))
      return refuse(op, "reduces indices");
  }
  return true;
}

bool LoopFollower::mark(Value value, unsigned dim) {
  auto [entry, isNew] = found.along.insert({value, dim});
  if (!isNew)
    return entry->second == dim || (why = "a value has the loop along two dimensions", false);
  open.push_back(value);
  return true;
}

bool LoopFollower::markAlong(linalg::LinalgOp op, Value value, AffineMap map, unsigned loop, bool isInit) {
  std::optional<unsigned> at;
  for (auto [p, result] : llvm::enumerate(map.getResults())) {
    if (!result.isFunctionOfDim(loop))
      continue;
    if (at || !isa<AffineDimExpr>(result))
      return refuse(op, "reads neighbours along the loop");
    at = unsigned(p);
  }
  bool isReduced = op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  if (isInit && at.has_value() == isReduced)
    return refuse(op, "has the loop in some of its results");
  return !at || mark(value, *at);
}

bool LoopFollower::visitLoops(linalg::LinalgOp op, unsigned loop) {
  auto [entry, isNew] = found.loops.insert({op, loop});
  if (!isNew)
    return entry->second == loop || refuse(op, "has the loop twice");
  if (!op.hasPureTensorSemantics() || llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.getNumSymbols() > 0; }))
    return refuse(op, "has index maps with symbols");
  for (OpOperand *input : op.getDpsInputOperands())
    if (!markAlong(op, input->get(), op.getMatchingIndexingMap(input), loop, /*isInit=*/false))
      return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!markAlong(op, init.get(), op.getMatchingIndexingMap(&init), loop, /*isInit=*/true))
      return false;
  if (op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction)
    return joins(op);
  for (auto [result, init] : llvm::zip_equal(op->getResults(), op.getDpsInits()))
    if (!mark(result, found.along.lookup(init)))
      return false;
  return true;
}

bool LoopFollower::visitElementwise(Operation *op, unsigned dim) {
  bool areTensors = llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) && op->getNumResults() > 0;
  if (!areTensors || !OpTrait::hasElementwiseMappableTraits(op))
    return refuse(op, "is neither linalg nor element by element");
  auto markAll = [&](ValueRange values) { return llvm::all_of(values, [&](Value value) { return mark(value, dim); }); };
  return markAll(op->getOperands()) && markAll(op->getResults());
}

/// What an operation that has a value of the loop as operand or result says of its others.
bool LoopFollower::visit(Operation *op, Value value, unsigned dim) {
  if (op == found.leaf.getYield().getOperation())
    return refuse(op, "hands on a value of each iteration");
  SplatElementsAttr splat;
  if (isa<tensor::EmptyOp>(op) || matchPattern(op, m_Constant(&splat)))
    return true;
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  if (!loops)
    return visitElementwise(op, dim);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = loops.getMatchingIndexingMap(&operand);
    bool isValue = operand.get() == value || (loops.isDpsInit(&operand) && loops.getTiedOpResult(&operand) == value);
    if (!isValue)
      continue;
    auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
    if (!loop)
      return refuse(op, "reads neighbours along the loop");
    if (!visitLoops(loops, loop.getPosition()))
      return false;
  }
  return true;
}

/// A read of which a part is taken says where each of its elements is.
bool LoopFollower::hasWholeReads() {
  for (auto [r, argument] : llvm::enumerate(found.leaf.getBody().getArguments()))
    if (found.along.contains(argument))
      for (PieceAttr piece : found.leaf.getRead(unsigned(r)).getPieces())
        if (!piece.getGathers().empty())
          return why = "read " + std::to_string(r) + " is at places that data say", false;
  return true;
}

/// Nothing of one iteration depends on what all iterations come to.
bool LoopFollower::isSeenBehindAlone() {
  llvm::DenseSet<Value> behind;
  for (Operation &op : found.leaf.getBody().front().without_terminator()) {
    auto isSum = llvm::any_of(found.sums, [&](linalg::LinalgOp sum) { return sum == &op; });
    bool isBehind = llvm::any_of(op.getOperands(), [&](Value value) { return behind.contains(value); });
    if (isBehind && (isSum || llvm::any_of(op.getResults(), [&](Value result) { return found.along.contains(result); })))
      return refuse(&op, "needs the sum whole");
    if (isSum || isBehind)
      behind.insert(op.result_begin(), op.result_end());
  }
  return true;
}

std::optional<LeafReduction> LoopFollower::follow(linalg::LinalgOp op, unsigned loop) {
  found.extent = op.getStaticLoopRanges()[loop];
  if (!visitLoops(op, loop))
    return std::nullopt;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    unsigned dim = found.along.lookup(value);
    if (Operation *source = value.getDefiningOp(); source && !visit(source, value, dim))
      return std::nullopt;
    for (Operation *user : value.getUsers())
      if (!visit(user, value, dim))
        return std::nullopt;
  }
  for (Operation &each : found.leaf.getBody().front())
    if (auto entry = found.loops.find(&each); entry != found.loops.end())
      if (auto sum = cast<linalg::LinalgOp>(each); sum.getIteratorTypesArray()[entry->second] == utils::IteratorType::reduction)
        found.sums.push_back(sum);
  if (!hasWholeReads() || !isSeenBehindAlone() || !findPoint())
    return std::nullopt;
  return std::move(found);
}

/// Shares leave what they come to at the leaf's own point.
bool LoopFollower::findPoint() {
  BlockOp leaf = found.leaf;
  AffineMap map = leaf.getWrite(0).getMap().getValue();
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || llvm::is_contained(found.point, dim.getPosition()))
      return why = "it does not write at its own point", false;
    found.point.push_back(dim.getPosition());
  }
  return found.point.size() == leaf.getNumDims() || (why = "it does not write at its own point", false);
}

/// Whether an operation inside of a region of the leaf's operations has an operand that is no value of that region.
static bool captures(BlockOp leaf) {
  return llvm::any_of(leaf.getBody().front(), [](Operation &op) {
    return op.walk([&](Operation *inner) {
               bool isOutside = inner != &op && llvm::any_of(inner->getOperands(), [&](Value value) {
                                  return !op.isProperAncestor(value.getParentBlock()->getParentOp()) && value.getParentBlock()->getParentOp() != &op;
                                });
               return isOutside ? WalkResult::interrupt() : WalkResult::advance();
             })
        .wasInterrupted();
  });
}

int64_t LeafReduction::getTerms() const {
  int64_t terms = 1;
  for (int64_t size : inner)
    terms *= size;
  return terms;
}

/// Whether all that has the first loop has the other one `behind` places after it, and nothing asks which iteration it is.
static bool isOne(const LeafReduction &first, const LeafReduction &other, unsigned behind) {
  if (first.along.size() != other.along.size() || first.loops.size() != other.loops.size())
    return false;
  for (auto [value, dim] : first.along)
    if (auto own = other.along.find(value); own == other.along.end() || own->second != dim + behind)
      return false;
  for (auto [op, loop] : first.loops) {
    auto own = other.loops.find(op);
    bool isBehind = own != other.loops.end() && own->second == loop + behind;
    auto counts = [&](linalg::IndexOp index) { return index.getDim() == loop || index.getDim() == loop + behind; };
    if (!isBehind || op->walk([&](linalg::IndexOp index) { return counts(index) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted())
      return false;
  }
  return true;
}

/// Takes in the loops after the one that was found.
static void addInner(LeafReduction &found) {
  linalg::LinalgOp op = found.sums.front();
  unsigned loop = found.loops.lookup(op);
  std::string why;
  for (unsigned behind = 1; loop + behind < op.getNumLoops(); ++behind) {
    if (op.getIteratorTypesArray()[loop + behind] != utils::IteratorType::reduction)
      return;
    std::optional<LeafReduction> other = LoopFollower(found.leaf, why).follow(op, loop + behind);
    if (!other || !isOne(found, *other, behind))
      return;
    found.inner.push_back(other->extent);
  }
}

std::optional<LeafReduction> etdg::findLeafReduction(BlockOp leaf, int64_t enough, std::string &why) {
  why = "nothing is reduced";
  if (!leaf.isLeaf() || !isa<GraphOp>(leaf->getParentOp()) ||
      llvm::any_of(llvm::seq(leaf.getNumOwnDims()), [&](unsigned d) { return leaf.getOperator(d) != ft::OperatorKind::Map; }))
    return why = "the leaf is no point of a nest of its own, all of whose dimensions are maps", std::nullopt;
  std::optional<LeafReduction> best;
  if (captures(leaf))
    return why = "an operation uses a value from outside of its region", std::nullopt;
  for (auto op : leaf.getBody().front().getOps<linalg::LinalgOp>())
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      int64_t extent = op.getStaticLoopRanges()[loop];
      if (kind != utils::IteratorType::reduction || (best && (best->extent >= enough || best->extent >= extent)))
        continue;
      if (std::optional<LeafReduction> found = LoopFollower(leaf, why).follow(op, unsigned(loop)))
        best = std::move(found);
    }
  if (best)
    addInner(*best);
  return best;
}
