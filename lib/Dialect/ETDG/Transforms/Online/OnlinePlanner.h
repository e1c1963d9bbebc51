//===- OnlinePlanner.h - chooses members and finds laws ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The class after `makePlan`: OnlinePlan.cpp selects members, OnlineLaws.cpp finds
// the laws of their states; one that has none is excluded, and selection begins anew.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEPLANNER_H
#define FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEPLANNER_H

#include "OnlinePlan.h"

namespace mlir::etdg::online {

class Planner {
public:
  Planner(OnlineGroup &group, const GraphAccesses &accesses, const PlanOptions &options,
          SmallVectorImpl<OnlineRefusal> &refusals)
      : group(group), accesses(accesses), options(options), refusals(refusals),
        excluded(group.members.size()), outside(group.members.size()) {}
  std::optional<OnlinePlan> run();

private:
  bool select();
  bool selectOnce(bool &changed);
  void exclude(unsigned member, Operation *culprit, std::string reason);
  bool checkReaders(unsigned member, bool &changed);
  bool checkOrder();
  bool analyse();
  bool checkWidening();
  bool analyseMember(unsigned member);
  SmallVector<Value> argumentsOf(unsigned member, Block *block, BlockBuilder &reads,
                                 llvm::DenseMap<std::pair<Attribute, Type>, Value> &externals);
  /// The states of a member, and how many exponentials and comparisons were found before it.
  struct States {
    SmallVector<unsigned> writes;
    size_t numExponentials = 0, numMatches = 0;
  };
  using Known = std::vector<std::optional<ValueForm>>; // by state
  void pass(unsigned member, const States &states, const Known &known);
  /// Whether the member's states follow that way; nothing where it is none.
  std::optional<bool> takeSelected(unsigned member, const States &states, Known &known);
  std::optional<bool> takeUnequal(unsigned member, const States &states, const Known &known);
  bool widen(StatePlan &state, unsigned parameter) const;
  bool takeSquare(StatePlan &state, const ValueForm &form, RankedTensorType type);
  bool takeForm(unsigned member, unsigned write, const ValueForm &form, bool select);
  bool checkMatches(unsigned member, ArrayRef<unsigned> states, size_t from);
  bool takeApart(unsigned member, unsigned write, const ValueForm &form, size_t from);
  bool onlyCompares(Value yield, Value parameter);
  bool checkExponentials(unsigned member, size_t from);
  std::optional<FactorTerm::Scale> getScale(const ElementAtom &atom);
  bool takeFactor(StatePlan &state, const ParameterFactor &factor);
  bool takeShifts(StatePlan &state, const ValueForm &form);
  bool findCentres();
  bool checkMoments();
  std::optional<Evaluation> evaluateState(unsigned member, unsigned write);
  std::optional<Evaluation> evaluateRead(BlockOp block, unsigned read, unsigned depth);
  std::optional<double> getDegree(const Evaluation &evaluation);
  bool takeCentre(unsigned member, Operation *op, unsigned parameter, Centre centre);
  bool isBound(const Centre &centre, const Combination &x, const ElementAtom &parameter, bool upper,
               bool sameConstant);
  TypedAttr getInit(unsigned member, unsigned write);
  std::optional<double> getInitNumber(unsigned member, unsigned write);
  unsigned parameterOf(const ElementAtom &atom) {
    return llvm::find(parameterArgs, forms->getRoot(atom.root)) - parameterArgs.begin();
  }
  Operation *originalOf(Operation *op) {
    auto it = original.find(op);
    return it == original.end() ? op : it->second;
  }

  OnlineGroup &group;
  const GraphAccesses &accesses;
  const PlanOptions &options;
  SmallVectorImpl<OnlineRefusal> &refusals;
  llvm::BitVector excluded, outside, included, repeated;
  OnlinePlan plan;
  /// Sums of squares are corrected as other moments are: a parameter of theirs has another centre.
  bool avoidsMeans = false, restarts = false;
  /// Parameters that linear forms move with, and the member that needs a centre for them.
  std::map<unsigned, unsigned> shiftedBy;

  // The members' bodies one after the other.
  std::unique_ptr<Region> tape;
  std::unique_ptr<OnlineForms> forms;
  llvm::DenseMap<Operation *, Operation *> original;
  SmallVector<SmallVector<Value>> yields;
  SmallVector<SmallVector<Operation *>> operations;
  SmallVector<Value> parameterArgs;
  EqualOperations operationsSoFar;
  llvm::DenseMap<std::pair<unsigned, unsigned>, Value> stateArgs;
  llvm::DenseMap<Value, std::pair<unsigned, unsigned>> externalArgs; // (member, read)
};

} // namespace mlir::etdg::online

#endif // FT_LIB_DIALECT_ETDG_TRANSFORMS_ONLINEPLANNER_H
