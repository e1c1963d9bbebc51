//===- JoinLaws.cpp - how states take in several iterations at once -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A state s grows by one associative operation, s' = s + t. Several iterations may grow it together where t is no function of a state. Where t
// is one of a running maximum m', t(m'') = t(m')·exp(b (m'' - m')), what was there before has to be corrected by that very factor:
// s' = s·exp(b (m' - m)) + t(m'). Then s after two iterations is s·exp(b (m'' - m)) + t1(m'') + t2(m''). How t follows m' is
// the analysis of online forms' to say (ft/Analysis/OnlineForm.h).
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/Transforms/JoinIterations.h"

#include "ft/Analysis/OnlineForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::etdg;

/// A value before it was converted to another float type.
static Value beforeConversion(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool isExtremum(Operation *op) {
  return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(op);
}

static bool isAssociative(Operation *op) {
  return isExtremum(op) || isa<arith::AddFOp, arith::MulFOp, arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

namespace {
/// An operation that adds something to a value.
struct Growth {
  Operation *op;       // on tensors
  Operation *combiner; // on elements, or `op` itself
  Value before, terms; // a tensor; an element of the combiner, or a tensor
  linalg::LinalgOp loops;
};

/// Asks of all states of one body.
class GrowthFinder {
public:
  GrowthFinder(const Reduction &reduction, std::string &why) : reduction(reduction), leaf(reduction.leaf), why(why) {}
  bool find(SmallVectorImpl<Operation *> &grows);

private:
  bool refuse(unsigned state, const Twine &reason) {
    why = ("state " + Twine(state) + " " + reason).str();
    return false;
  }
  BlockArgument stateOf(unsigned w) { return leaf.getBody().getArgument(reduction.stateReads[w]); }
  std::optional<Growth> growthOf(unsigned w);
  bool dependsOnState(Value value, unsigned w);
  bool takesInAll(unsigned w);
  bool isCorrected(unsigned w, const ParameterFactor &of);
  /// Which state's growth a parameter is; -1: none that is a maximum or a minimum of its own.
  int extremumOf(Value root);

  const Reduction &reduction;
  BlockOp leaf;
  std::string &why;
  SmallVector<Growth> growths;
  SmallVector<bool> isAlone; // grows by what no state has a part in
  OnlineForms forms;
};
} // namespace

bool GrowthFinder::dependsOnState(Value value, unsigned w) {
  SmallVector<Value> open = {value};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (next == stateOf(w))
      return true;
    if (Operation *op = next.getDefiningOp())
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

std::optional<Growth> GrowthFinder::growthOf(unsigned w) {
  Operation *op = beforeConversion(leaf.getYield().getOperand(w)).getDefiningOp();
  if (auto loops = dyn_cast_or_null<linalg::LinalgOp>(op)) {
    if (op->getNumResults() != 1 || loops.getNumReductionLoops() == 0)
      return std::nullopt;
    BlockArgument sum = loops.getMatchingBlockArgument(loops.getDpsInitOperand(0));
    Operation *combiner = loops.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
    if (!combiner || combiner->getNumOperands() != 2 || !sum.hasOneUse() || *sum.user_begin() != combiner)
      return std::nullopt;
    Value terms = combiner->getOperand(combiner->getOperand(0) == sum ? 1 : 0);
    return Growth{op, combiner, loops.getDpsInits()[0], terms, loops};
  }
  if (!op || op->getNumOperands() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  bool isFirst = dependsOnState(op->getOperand(0), w);
  if (isFirst == dependsOnState(op->getOperand(1), w))
    return std::nullopt;
  return Growth{op, op, op->getOperand(isFirst ? 0 : 1), op->getOperand(isFirst ? 1 : 0), nullptr};
}

int GrowthFinder::extremumOf(Value root) {
  for (auto [w, growth] : llvm::enumerate(growths))
    if (growth.op->getResult(0) == root && isExtremum(growth.combiner) && isAlone[w])
      return int(w);
  return -1;
}

/// Whether what the state was before is multiplied by how its terms have moved since, and by nothing else.
bool GrowthFinder::isCorrected(unsigned w, const ParameterFactor &of) {
  auto multiply = beforeConversion(growths[w].before).getDefiningOp<arith::MulFOp>();
  if (!multiply)
    return refuse(w, "is changed before it grows, by no factor");
  bool isFirst = beforeConversion(multiply.getLhs()) == stateOf(w);
  Value factor = isFirst ? multiply.getRhs() : multiply.getLhs();
  if ((!isFirst && beforeConversion(multiply.getRhs()) != stateOf(w)) || dependsOnState(factor, w))
    return refuse(w, "is changed before it grows, by no factor");
  ParameterFactor expected;
  for (const auto &[atom, exponent] : of.exponents) {
    int extremum = extremumOf(forms.getRoot(atom.root));
    if (extremum < 0)
      return refuse(w, "grows by what depends on another state than a maximum");
    expected.exponents[atom] = exponent;
    ElementAtom before = atom;
    before.root = forms.atomOf(stateOf(unsigned(extremum))).root;
    expected.exponents[before] = -exponent;
  }
  const ValueForm &form = forms.get(factor);
  // Nothing else is in it: what is broadcast is an exponential, of those numbers alone.
  Value exponential = beforeConversion(factor);
  while (auto loops = exponential.getDefiningOp<linalg::BroadcastOp>())
    exponential = beforeConversion(loops.getInput());
  auto exp = exponential.getDefiningOp<math::ExpOp>();
  if (!exp || !form.factor || !(*form.factor == expected))
    return refuse(w, "is corrected by another factor than its terms have");
  const ValueForm &argument = forms.get(exp.getOperand());
  if (!argument.linear || argument.linear->constant != 0 || argument.linear->terms.size() != expected.exponents.size() ||
      OnlineForms::isScaled(*argument.linear))
    return refuse(w, "is corrected by another factor than its terms have");
  return true;
}

/// Whether the state grows by several iterations' terms as by one's.
bool GrowthFinder::takesInAll(unsigned w) {
  Growth growth = growths[w];
  ValueForm terms = forms.get(growth.terms);
  if (growth.loops)
    for (OpOperand *input : growth.loops.getDpsInputOperands())
      terms.touchesMore |= forms.get(input->get()).touchesMore;
  if (terms.touchesMore)
    return refuse(w, "grows by what depends on states in another way");
  if (terms.touched.empty()) {
    isAlone[w] = true;
    return beforeConversion(growth.before) == stateOf(w) || refuse(w, "is changed before it grows, by what its terms do not follow");
  }
  if (!isa<arith::AddFOp>(growth.combiner) || !terms.factor || !terms.factor->powers.empty() || terms.factor->exponents.empty())
    return refuse(w, "grows by what depends on states in another way");
  // Elements of the maximum as those of the state run with them.
  ParameterFactor factor;
  for (const auto &[atom, exponent] : terms.factor->exponents) {
    ElementAtom own = atom;
    if (growth.loops) {
      AffineMap result = growth.loops.getMatchingIndexingMap(growth.loops.getDpsInitOperand(0));
      for (int64_t &loop : own.dims) {
        std::optional<unsigned> position = loop < 0 ? std::nullopt : result.getResultPosition(getAffineDimExpr(unsigned(loop), leaf.getContext()));
        if (!position)
          return refuse(w, "grows by terms each of which another maximum corrects");
        loop = *position;
      }
    }
    factor.exponents[own] = exponent;
  }
  return isCorrected(w, factor);
}

bool GrowthFinder::find(SmallVectorImpl<Operation *> &grows) {
  unsigned numStates = unsigned(reduction.stateReads.size());
  for (unsigned w = 0; w < numStates; ++w) {
    forms.declareParameter(stateOf(w));
    std::optional<Growth> growth = growthOf(w);
    if (!growth || !isAssociative(growth->combiner))
      return refuse(w, "does not grow by one associative operation");
    if (llvm::any_of(growths, [&](const Growth &other) { return other.op == growth->op; }))
      return refuse(w, "grows as another one does");
    growths.push_back(*growth);
    grows.push_back(growth->op);
  }
  isAlone.resize(numStates);
  for (Operation &op : leaf.getBody().front().without_terminator()) {
    forms.visit(&op);
    auto *growth = llvm::find_if(growths, [&](const Growth &one) { return one.op == &op; });
    if (growth == growths.end())
      continue;
    if (!takesInAll(unsigned(growth - growths.begin())))
      return false;
    forms.declareParameter(op.getResult(0)); // what comes after is asked how it follows the new state
  }
  return true;
}

bool etdg::findGrowth(const Reduction &reduction, SmallVectorImpl<Operation *> &grows, std::string &why) {
  return GrowthFinder(reduction, why).find(grows);
}
