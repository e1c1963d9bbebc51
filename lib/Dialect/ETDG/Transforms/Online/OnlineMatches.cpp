//===- OnlineMatches.cpp - states that hang on comparisons ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is chosen, or left out, because it equals the last state of a maximum or
// minimum. A comparison with a running one says the same of everything seen so far.
//
//===----------------------------------------------------------------------===//
#include "OnlinePlanner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

/// Whether the comparisons on which states depend are with running maxima or minima of what they
/// compare.
bool Planner::checkMatches(unsigned m, ArrayRef<unsigned> states, size_t from) {
  for (const ParameterMatch &match : forms->matches) {
    // Comparisons of maps before count where the state depends on their parameter.
    bool matters = llvm::any_of(states, [&](unsigned w) {
      return llvm::any_of(forms->get(yields[m][w]).touched, [&](const ElementAtom &atom) {
        return atom.root == match.parameter.root;
      });
    });
    if (!matters)
      continue;
    unsigned parameter =
        llvm::find(parameterArgs, forms->getRoot(match.parameter.root)) - parameterArgs.begin();
    const Parameter &info = group.parameters[parameter];
    Centre centre{Centre::Running};
    if (info.lastPlane) {
      centre.member = info.lastPlane->first;
      centre.write = info.lastPlane->second;
    }
    Combination x = match.difference;
    x.terms.erase(match.parameter);
    bool isRunning =
        info.lastPlane && included.test(centre.member) && !group.members[centre.member].isDependent;
    bool upper = isRunning && isBound(centre, x, match.parameter, true, true);
    bool lower = isRunning && isBound(centre, x, match.parameter, false, true);
    centre.rises = upper;
    if (match.equal ? !upper && !lower : match.atLeast ? !upper : !lower) {
      exclude(m, originalOf(match.op),
              "compares with the last state of what is no maximum or minimum of the same values");
      return false;
    }
    if (!takeCentre(m, originalOf(match.op), parameter, centre))
      return false;
  }
  return true;
}

/// Whether what `yield` is made of uses a parameter for nothing but comparisons with it.
bool Planner::onlyCompares(Value yield, Value parameter) {
  llvm::SetVector<Operation *> needed;
  auto add = [&](Value value) {
    if (Operation *def = value.getDefiningOp(); def && def->getBlock() == &tape->front())
      needed.insert(def);
  };
  add(yield);
  for (unsigned i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      add(operand);
  auto isMatch = [&](Operation *op) {
    return llvm::any_of(forms->matches,
                        [&](const ParameterMatch &match) { return match.op == op; });
  };
  llvm::SetVector<Value> values;
  values.insert(parameter);
  for (unsigned i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *op = use.getOwner();
      if (isMatch(op) || (op->getBlock() == &tape->front() && !needed.contains(op)))
        continue;
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        values.insert(generic.getMatchingBlockArgument(&use));
        continue;
      }
      if (!isa<linalg::BroadcastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, arith::ExtFOp>(
              op))
        return false;
      values.insert(op->getResult(0));
    }
  return true;
}

/// Writes down the law of a state to which everything is joined but what equals a parameter.
bool Planner::takeApart(unsigned m, unsigned write, const ValueForm &form, size_t from) {
  StatePlan state;
  state.member = m;
  state.write = write;
  state.law = StatePlan::Apart;
  state.init = getInit(m, write);
  Operation *fold = getFold(group, m, write);
  if (!state.init || !fold) {
    exclude(m, nullptr,
            fold ? "its initial state is no constant"
                 : "what is not equal to a last state joins it in no known way");
    return false;
  }
  std::optional<double> init = getInitNumber(m, write);
  if (isa<arith::AddFOp, arith::AddIOp>(fold) && (!init || *init != 0)) {
    exclude(m, nullptr, "its initial state is not 0: the correction would change it");
    return false;
  }
  if (form.touchesMore || form.touched.size() != 1) {
    exclude(m, nullptr, "an element of its state depends on several of the last state");
    return false;
  }
  state.parameter = parameterOf(form.touched.front());
  state.dims = form.touched.front().dims;
  if (!onlyCompares(yields[m][write], parameterArgs[state.parameter])) {
    exclude(m, nullptr, "what it joins depends on the last state, too");
    return false;
  }
  for (const ParameterMatch &match : forms->matches)
    if (match.parameter.root == form.touched.front().root)
      state.matches.push_back(originalOf(match.op));
  plan.states.push_back(state);
  return true;
}
