//===- OnlineForm.h - how a value follows a change of parameter -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algebra after online forms. A reduction s = Σ_j g(x_j, π) whose parameter
// π is itself the last state of a reduction over j can run beside that one when
// what has been summed with an old value of π can be *corrected* to a new one. The
// correction is found here, symbolically, element by element, for straight-line code:
//
//   linear     v = Σ aᵢ·xᵢ + Σ bᵢ·πᵢ + c                  (x - π, scale·(x - π))
//   factor     v(π') = v(π)·exp(Σ bᵢ(πᵢ' - πᵢ))·Π (πᵢ'/πᵢ)^nᵢ    (exp(x - π), p / π)
//   quadratic  v = w·(linear)²                            (variance)
//   shifted    v = w·exp(Σ bᵢ·πᵢ)·Π linear_fⁿᶠ            (Σ y (x - π), skewness, covariance)
//   condition  a comparison of x with π that is false for every earlier x once π
//              has changed, and what the code computes then  (arg-max with payload)
//
//===----------------------------------------------------------------------===//
#ifndef FT_ANALYSIS_ONLINEFORM_H
#define FT_ANALYSIS_ONLINEFORM_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <optional>

namespace mlir::etdg {

/// An element of the tensor `root` as seen from an element of another value:
/// dimension d of `root` runs with dimension `dims[d]` of that value; -1 stands for the
/// only index of a dimension of length 1. Roots are numbered in order of appearance.
///
/// In a linear form it may be multiplied by an element of another root, or divided by it
/// (`inverse`): a temperature.
struct ElementAtom {
  unsigned root;
  SmallVector<int64_t, 4> dims;
  std::optional<unsigned> scale = {};
  SmallVector<int64_t, 4> scaleDims = {};
  bool inverse = false;

  auto key() const { return std::tie(root, dims, scale, scaleDims, inverse); }
  bool operator<(const ElementAtom &o) const { return key() < o.key(); }
  bool operator==(const ElementAtom &o) const { return key() == o.key(); }
  ElementAtom getUnscaled() const { return {root, dims}; }
};

/// Σ coefficient · atom + constant; no coefficient is 0.
struct Combination {
  std::map<ElementAtom, double> terms;
  double constant = 0;

  void add(const Combination &other, double factor);
  void scale(double factor);
  bool operator==(const Combination &o) const { return terms == o.terms && constant == o.constant; }
};

/// exp(Σ exponents · π) · Π π^powers: how a value depends on parameters, the rest aside.
struct ParameterFactor {
  std::map<ElementAtom, double> exponents;
  std::map<ElementAtom, int64_t> powers;

  bool empty() const { return exponents.empty() && powers.empty(); }
  void multiply(const ParameterFactor &other, int64_t power);
  bool operator==(const ParameterFactor &o) const {
    return exponents == o.exponents && powers == o.powers;
  }
};

/// A linear form with parameters or their logarithms, to a power: it moves by
/// Σ coefficient · (π' - π).
struct ShiftedForm {
  std::map<ElementAtom, double> parameters;
  /// Coefficients of log π.
  std::map<ElementAtom, double> logarithms = {};
  /// The other terms; unknown once a sum has run over what they range over.
  std::optional<Combination> rest;
  unsigned power = 1;

  bool movesLike(const ShiftedForm &o) const {
    return parameters == o.parameters && logarithms == o.logarithms && power == o.power;
  }
};

/// w · exp(…) · Π π^… · Π forms^powers, w invariant.
struct ShiftedProduct {
  ParameterFactor factor;
  SmallVector<ShiftedForm, 1> forms;

  unsigned getDegree() const;
  bool movesLike(const ShiftedProduct &o) const;
  /// `places`: where each form of `a`, then of `b`, is in the product.
  static ShiftedProduct multiply(const ShiftedProduct &a, const ShiftedProduct &b,
                                 SmallVectorImpl<unsigned> *places = nullptr);
};

/// value ≥ form (`upper`) or value ≤ form, for every value of the dimensions of `form`
/// that are not the value's own (numbered from its rank).
struct ElementBound {
  bool upper;
  Combination form;
};

/// A comparison of x with a parameter.
struct ParameterMatch {
  Operation *op;
  Combination difference; // x - π
  ElementAtom parameter;
  bool equal;   // x = π
  bool atLeast; // x ≥ π, where not `equal`
  bool isNegated = false;
};

/// The use of an exponential whose argument holds parameters.
struct ParameterExponential {
  Operation *op;
  Combination argument;
};

/// What a value is once every comparison with a parameter is false (or, with `matchesHold`, true).
struct WhenFalse {
  enum Kind { Invariant, False, True, Constant, State, Unknown } kind = Unknown;
  unsigned state = 0;
  double constant = 0;
};

struct ValueForm {
  std::optional<Combination> linear;
  std::optional<ParameterFactor> factor;
  /// The multiplication that squares `squared`; `factor` is empty then.
  Operation *square = nullptr;
  Combination squared;
  /// Where there is no `factor`: a product with linear forms, of degree 4 at most.
  std::optional<ShiftedProduct> shifted;
  /// The value of a splat.
  std::optional<double> constant;
  /// At most 1 in size with centres in place of the parameters: exponentials of what is bounded.
  bool isAtMostOne = false;
  /// A state of which nothing is known yet: agrees with everything.
  bool unknownState = false;
  SmallVector<ElementBound, 1> bounds;
  WhenFalse whenFalse;
  /// Every parameter that the value depends on, and whether also on elements that no element of
  /// the value runs with.
  SmallVector<ElementAtom, 1> touched;
  bool touchesMore = false;
  /// Why none of the forms holds.
  Operation *culprit = nullptr;
  StringRef reason;

  bool isInvariant() const { return factor && factor->empty() && !square && !unknownState; }
  bool isZero() const { return unknownState || (constant && *constant == 0); }
  bool isKnown() const { return factor || square || isZero(); }
  /// `shifted`, or what `factor` says.
  std::optional<ShiftedProduct> getProduct() const;
  void touch(const ValueForm &other);
};

/// Forms of all values of straight-line code over tensors.
class OnlineForms {
public:
  /// Region arguments are invariant unless they are declared before `run`.
  void declareParameter(Value value);
  /// `form` is null for a state of which nothing is known. `init`: the initial value, where
  /// it is a splat; it tells whether `max(state, c)` can change the state.
  void declareState(Value value, unsigned number, const ValueForm *form,
                    std::optional<double> init);
  /// Computes the forms of the results of `op`.
  void visit(Operation *op);
  const ValueForm &get(Value value);

  Value getRoot(unsigned root) const { return roots[root]; }
  bool isParameter(const ElementAtom &atom) const { return parameters.contains(roots[atom.root]); }
  /// Whether some atom of a form is multiplied by another root.
  static bool isScaled(const Combination &form);
  /// The value itself as an atom.
  ElementAtom atomOf(Value value);
  /// Whether a value is an element of a parameter, unchanged.
  bool isElementOfParameter(const ValueForm &form) const;
  /// The terms of parameters.
  std::map<ElementAtom, double> getParameterTerms(const Combination &form) const;

  /// Look at what is computed where comparisons hold.
  bool matchesHold = false;
  SmallVector<ParameterMatch, 2> matches;
  SmallVector<ParameterExponential, 2> exponentials;

private:
  ValueForm makeInvariant(Value value);
  ValueForm makeFailure(Operation *op, ArrayRef<const ValueForm *> operands, StringRef reason);
  ValueForm evaluate(Operation *op, ArrayRef<const ValueForm *> operands);
  std::optional<ShiftedProduct> evaluateShifted(Operation *op, const ValueForm &form,
                                                ArrayRef<const ValueForm *> operands);
  ValueForm evaluateAdd(Operation *op, const ValueForm &a, const ValueForm &b, double sign);
  std::optional<Combination> scaleBy(const ValueForm &linear, const ValueForm &scale,
                                     bool inverse) const;
  ValueForm evaluateMultiply(Operation *op, const ValueForm &a, const ValueForm &b);
  ValueForm evaluateDivide(Operation *op, ArrayRef<const ValueForm *> operands);
  ValueForm evaluateExponential(Operation *op, ArrayRef<const ValueForm *> operands);
  ValueForm evaluateExtremum(Operation *op, const ValueForm &a, const ValueForm &b, bool isMax);
  ValueForm evaluateSelect(Operation *op, ArrayRef<const ValueForm *> operands);
  ValueForm evaluateComparison(Operation *op, ArrayRef<const ValueForm *> operands);
  WhenFalse evaluateWhenFalse(Operation *op, ArrayRef<const ValueForm *> operands);
  void visitLinalg(linalg::LinalgOp op);
  struct LinalgResult;
  ValueForm seenInside(linalg::LinalgOp op, OpOperand &operand);
  void visitScalar(Operation &inner);
  std::optional<double> sumOfConstants(const LinalgResult &of);
  void reduceForm(ValueForm &outside, const LinalgResult &of);
  ValueForm invariantResult(const ValueForm &outside, const LinalgResult &of);
  void keepSquares(ValueForm &outside, const ValueForm &form, const LinalgResult &of);
  ValueForm seenOutside(const LinalgResult &of);
  void visitReshape(Operation *op);

  SmallVector<Value> roots;
  llvm::DenseMap<Value, unsigned> rootNumbers;
  llvm::DenseMap<Value, ValueForm> forms;
  llvm::DenseSet<Value> parameters;
  SmallVector<std::optional<double>> inits;
  /// Iteration dimensions of the operation whose scalars are being looked at.
  unsigned numLoops = 0;
};

} // namespace mlir::etdg

#endif // FT_ANALYSIS_ONLINEFORM_H
