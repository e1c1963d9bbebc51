//===- OnlineForm.cpp - forms of scalar and elementwise operations --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of the algebra. What an operation does to tensors as wholes (loops,
// reductions, reshapes) is in OnlineFormTensors.cpp.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/OnlineForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::etdg;

void Combination::add(const Combination &other, double factor) {
  for (const auto &[atom, coefficient] : other.terms) {
    double &mine = terms[atom];
    mine += coefficient * factor;
    if (mine == 0)
      terms.erase(atom);
  }
  constant += other.constant * factor;
}

void Combination::scale(double factor) {
  if (factor == 0)
    terms.clear();
  for (auto &[atom, coefficient] : terms)
    coefficient *= factor;
  constant *= factor;
}

template <typename T>
static void addAll(std::map<ElementAtom, T> &to, const std::map<ElementAtom, T> &from, T factor) {
  for (const auto &[atom, value] : from) {
    T &mine = to[atom];
    mine += value * factor;
    if (mine == 0)
      to.erase(atom);
  }
}

void ParameterFactor::multiply(const ParameterFactor &other, int64_t power) {
  addAll(exponents, other.exponents, static_cast<double>(power));
  addAll(powers, other.powers, power);
}

//===----------------------------------------------------------------------===//
// Products of shifted forms
//===----------------------------------------------------------------------===//

/// Products above are not worth their moments.
static constexpr unsigned maxDegree = 4;

unsigned ShiftedProduct::getDegree() const {
  unsigned degree = 0;
  for (const ShiftedForm &form : forms)
    degree += form.power;
  return degree;
}

bool ShiftedProduct::movesLike(const ShiftedProduct &o) const {
  return factor == o.factor &&
         llvm::equal(forms, o.forms, [](const auto &a, const auto &b) { return a.movesLike(b); });
}

ShiftedProduct ShiftedProduct::multiply(const ShiftedProduct &a, const ShiftedProduct &b,
                                        SmallVectorImpl<unsigned> *places) {
  ShiftedProduct product;
  product.factor = a.factor;
  product.factor.multiply(b.factor, 1);
  for (const ShiftedProduct *side : {&a, &b})
    for (const ShiftedForm &form : side->forms) {
      // Forms of which a part is not known any more are different ones.
      auto it = llvm::find_if(product.forms, [&](const ShiftedForm &other) {
        return form.rest && other.rest && *form.rest == *other.rest &&
               form.parameters == other.parameters && form.logarithms == other.logarithms;
      });
      if (it == product.forms.end()) {
        product.forms.push_back(form);
        it = std::prev(product.forms.end());
      } else {
        it->power += form.power;
      }
      if (places)
        places->push_back(it - product.forms.begin());
    }
  return product;
}

std::optional<ShiftedProduct> ValueForm::getProduct() const {
  if (factor && !unknownState)
    return ShiftedProduct{*factor, {}};
  return shifted;
}

void ValueForm::touch(const ValueForm &other) {
  for (const ElementAtom &atom : other.touched)
    if (!llvm::is_contained(touched, atom))
      touched.push_back(atom);
  touchesMore |= other.touchesMore;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

ElementAtom OnlineForms::atomOf(Value value) {
  auto [it, isNew] = rootNumbers.try_emplace(value, roots.size());
  if (isNew)
    roots.push_back(value);
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  unsigned rank = tensor ? tensor.getRank() : numLoops;
  return {it->second, llvm::to_vector_of<int64_t, 4>(llvm::seq<int64_t>(0, rank))};
}

std::map<ElementAtom, double> OnlineForms::getParameterTerms(const Combination &form) const {
  std::map<ElementAtom, double> terms;
  for (const auto &term : form.terms)
    if (isParameter(term.first))
      terms.insert(term);
  return terms;
}

bool OnlineForms::isScaled(const Combination &form) {
  return llvm::any_of(form.terms, [](const auto &term) { return term.first.scale.has_value(); });
}

bool OnlineForms::isElementOfParameter(const ValueForm &form) const {
  return form.linear && form.linear->constant == 0 && form.linear->terms.size() == 1 &&
         form.linear->terms.begin()->second == 1 && !isScaled(*form.linear) &&
         isParameter(form.linear->terms.begin()->first);
}

ValueForm OnlineForms::makeInvariant(Value value) {
  ValueForm form;
  form.factor.emplace();
  form.linear.emplace();
  form.linear->terms[atomOf(value)] = 1;
  form.whenFalse.kind = WhenFalse::Invariant;
  return form;
}

ValueForm OnlineForms::makeFailure(Operation *op, ArrayRef<const ValueForm *> operands,
                                   StringRef reason) {
  ValueForm form;
  form.culprit = op;
  form.reason = reason;
  // The first operation that fails is the one to name.
  for (const ValueForm *operand : operands)
    if (operand->culprit && !operand->isKnown() && !operand->linear) {
      form.culprit = operand->culprit;
      form.reason = operand->reason;
      break;
    }
  return form;
}

void OnlineForms::declareParameter(Value value) {
  parameters.insert(value);
  ValueForm form;
  ElementAtom atom = atomOf(value);
  form.linear.emplace();
  form.linear->terms[atom] = 1;
  form.factor.emplace();
  form.factor->powers[atom] = 1;
  form.touched.push_back(atom);
  forms[value] = form;
}

void OnlineForms::declareState(Value value, unsigned number, const ValueForm *known,
                               std::optional<double> init) {
  ValueForm form;
  if (known) {
    form.factor = known->factor;
    form.shifted = known->shifted;
    form.square = known->square;
    form.squared = known->squared;
    form.touch(*known);
    // An unchanged state is one of the code's values, and something to be above of.
    if (form.isInvariant()) {
      form.linear.emplace();
      form.linear->terms[atomOf(value)] = 1;
    }
  } else {
    form.unknownState = true;
  }
  form.whenFalse.kind = WhenFalse::State;
  form.whenFalse.state = number;
  if (inits.size() <= number)
    inits.resize(number + 1);
  inits[number] = init;
  forms[value] = form;
}

const ValueForm &OnlineForms::get(Value value) {
  auto it = forms.find(value);
  if (it != forms.end())
    return it->second;
  ValueForm form = makeInvariant(value);
  Attribute attr;
  if (matchPattern(value, m_Constant(&attr))) {
    if (auto splat = dyn_cast<SplatElementsAttr>(attr))
      attr = splat.getSplatValue<Attribute>();
    if (auto number = dyn_cast<FloatAttr>(attr))
      form.constant = number.getValueAsDouble();
    else if (auto number = dyn_cast<IntegerAttr>(attr);
             number && number.getValue().getBitWidth() <= 64)
      form.constant = number.getValue().getBitWidth() == 1
                          ? static_cast<double>(number.getValue().getZExtValue())
                          : static_cast<double>(number.getValue().getSExtValue());
    // Integers above 2^53 would not be what they are.
    if (form.constant && isa<IntegerAttr>(attr) && std::abs(*form.constant) > 9.0e15)
      form.constant.reset();
    if (form.constant && isa<FloatAttr>(attr)) {
      form.linear = Combination();
      form.linear->constant = *form.constant;
      // Infinities and NaN follow rules of their own.
      if (!std::isfinite(*form.constant))
        form.linear.reset();
    }
  }
  return forms[value] = form;
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

ValueForm OnlineForms::evaluateAdd(Operation *op, const ValueForm &a, const ValueForm &b,
                                   double sign) {
  if (a.isZero() && b.isZero())
    return a.unknownState ? a : b;
  ValueForm form;
  if (a.constant && b.constant)
    form.constant = *a.constant + sign * *b.constant;
  if (a.linear && b.linear) {
    form.linear = a.linear;
    form.linear->add(*b.linear, sign);
  }
  if (a.isZero() || b.isZero()) {
    const ValueForm &other = a.isZero() ? b : a;
    form.factor = other.factor;
    form.square = other.square;
    form.squared = other.squared;
    // The difference 0 - x² has the form of x².
    if (other.linear && (a.unknownState || b.unknownState))
      form.linear.reset();
  } else if (a.factor && b.factor && *a.factor == *b.factor && !a.square && !b.square) {
    form.factor = a.factor;
  } else if (a.square && a.square == b.square) {
    form.square = a.square;
    form.squared = a.squared;
  }
  if (form.factor && form.factor->empty() && form.linear &&
      !getParameterTerms(*form.linear).empty())
    form.factor.reset();
  if (!form.isKnown() && !form.linear)
    return makeFailure(
        op, {&a, &b},
        a.getProduct() && b.getProduct()
            ? "adds terms that follow the parameter in different ways (each alone, in "
              "a reduction of its own, may have an online form)"
            : "adds terms that follow the parameter in different ways");
  if (!form.isKnown()) {
    form.culprit = op;
    form.reason = "a term is shifted by the parameter, and the sum with it";
  }
  return form;
}

/// A linear form with parameters times (or over) an element of a value without.
std::optional<Combination> OnlineForms::scaleBy(const ValueForm &linear, const ValueForm &scale,
                                                bool inverse) const {
  if (!linear.linear || getParameterTerms(*linear.linear).empty() || isScaled(*linear.linear) ||
      linear.linear->constant != 0 || linear.factor || !scale.isInvariant() || !scale.linear ||
      scale.linear->constant != 0 || scale.linear->terms.size() != 1 ||
      scale.linear->terms.begin()->second != 1 || isScaled(*scale.linear))
    return std::nullopt;
  const ElementAtom &by = scale.linear->terms.begin()->first;
  Combination result;
  for (const auto &[from, coefficient] : linear.linear->terms) {
    ElementAtom atom = from;
    atom.scale = by.root;
    atom.scaleDims = by.dims;
    atom.inverse = inverse;
    result.terms[atom] = coefficient;
  }
  return result;
}

ValueForm OnlineForms::evaluateMultiply(Operation *op, const ValueForm &a, const ValueForm &b) {
  ValueForm form;
  bool sameOperand =
      op->getOperand(0) == op->getOperand(1) || (a.linear && b.linear && *a.linear == *b.linear);
  if (sameOperand && a.linear && !getParameterTerms(*a.linear).empty() && !isScaled(*a.linear) &&
      !(a.factor && b.factor)) {
    form.square = op;
    form.squared = *a.linear;
    return form;
  }
  if (a.unknownState || b.unknownState) {
    form.unknownState = (a.unknownState || a.isKnown()) && (b.unknownState || b.isKnown());
    if (form.unknownState)
      return form;
    return makeFailure(op, {&a, &b}, "multiplies the state by what the parameter shifts");
  }
  if (a.constant && b.constant)
    form.constant = *a.constant * *b.constant;
  if (a.linear && b.constant) {
    form.linear = a.linear;
    form.linear->scale(*b.constant);
  } else if (b.linear && a.constant) {
    form.linear = b.linear;
    form.linear->scale(*a.constant);
  } else if (std::optional<Combination> scaled = scaleBy(a, b, false)) {
    form.linear = scaled;
  } else {
    form.linear = scaleBy(b, a, false);
  }
  if (a.factor && b.factor) {
    form.factor = a.factor;
    form.factor->multiply(*b.factor, 1);
    // 1 stands for a parameter that multiplies.
    form.isAtMostOne =
        (a.isAtMostOne || isElementOfParameter(a)) && (b.isAtMostOne || isElementOfParameter(b));
  } else if (a.square && b.isInvariant()) {
    form.square = a.square;
    form.squared = a.squared;
  } else if (b.square && a.isInvariant()) {
    form.square = b.square;
    form.squared = b.squared;
  }
  if (!form.isKnown() && !form.linear)
    return makeFailure(op, {&a, &b}, "multiplies by what the parameter shifts");
  if (!form.isKnown()) {
    form.culprit = op;
    form.reason = "a factor is shifted by the parameter";
  }
  return form;
}

//===----------------------------------------------------------------------===//
// Maxima, choices, comparisons
//===----------------------------------------------------------------------===//

ValueForm OnlineForms::evaluateExtremum(Operation *op, const ValueForm &a, const ValueForm &b,
                                        bool isMax) {
  ValueForm form;
  if (a.isInvariant() && b.isInvariant()) {
    form.factor.emplace();
    for (const ValueForm *operand : {&a, &b}) {
      llvm::copy_if(operand->bounds, std::back_inserter(form.bounds),
                    [&](const ElementBound &bound) { return bound.upper == isMax; });
      if (operand->linear)
        form.bounds.push_back({isMax, *operand->linear});
    }
    return form;
  }
  // Positive factors keep the order; only exponentials are positive for sure.
  auto isPositive = [](const ValueForm &v) { return v.factor && v.factor->powers.empty(); };
  if (a.isZero() && b.isZero())
    return a.unknownState ? a : b;
  if (a.isZero() && isPositive(b))
    form.factor = b.factor;
  else if (b.isZero() && isPositive(a))
    form.factor = a.factor;
  else if (isPositive(a) && isPositive(b) && *a.factor == *b.factor)
    form.factor = a.factor;
  else
    return makeFailure(op, {&a, &b}, "compares values that follow the parameter in different ways");
  return form;
}

ValueForm OnlineForms::evaluateSelect(Operation *op, ArrayRef<const ValueForm *> operands) {
  const ValueForm &condition = *operands[0], &a = *operands[1], &b = *operands[2];
  if (!condition.isInvariant())
    return makeFailure(op, operands, "chooses by a condition that depends on the parameter");
  ValueForm form;
  if (a.isZero() && b.isZero())
    return a.unknownState ? a : b;
  if (a.isZero() && b.isKnown() && !b.square)
    form.factor = b.factor;
  else if (b.isZero() && a.isKnown() && !a.square)
    form.factor = a.factor;
  else if (a.factor && b.factor && *a.factor == *b.factor)
    form.factor = a.factor;
  else
    return makeFailure(op, operands,
                       "chooses between values that follow the parameter in different ways");
  form.isAtMostOne = (a.isAtMostOne || a.isZero()) && (b.isAtMostOne || b.isZero());
  return form;
}

ValueForm OnlineForms::evaluateComparison(Operation *op, ArrayRef<const ValueForm *> operands) {
  const ValueForm &a = *operands[0], &b = *operands[1];
  ValueForm form = makeFailure(op, operands, "compares with the parameter");
  if (!a.linear || !b.linear)
    return form;
  Combination difference = *a.linear;
  difference.add(*b.linear, -1);
  std::map<ElementAtom, double> parameters = getParameterTerms(difference);
  if (parameters.size() != 1)
    return form;
  bool equal = false, atLeast = false, atMost = false, negated = false;
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    arith::CmpFPredicate predicate = compare.getPredicate();
    // x < π is no x ≥ π.
    negated = predicate == arith::CmpFPredicate::UNE || predicate == arith::CmpFPredicate::ONE ||
              predicate == arith::CmpFPredicate::OLT || predicate == arith::CmpFPredicate::OGT;
    equal = predicate == arith::CmpFPredicate::OEQ || predicate == arith::CmpFPredicate::UNE ||
            predicate == arith::CmpFPredicate::ONE;
    atLeast = predicate == arith::CmpFPredicate::OGE || predicate == arith::CmpFPredicate::OLT;
    atMost = predicate == arith::CmpFPredicate::OLE || predicate == arith::CmpFPredicate::OGT;
  } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    negated = compare.getPredicate() == arith::CmpIPredicate::ne;
    equal = negated || compare.getPredicate() == arith::CmpIPredicate::eq;
  }
  if (!equal && !atLeast && !atMost)
    return form;
  // As x - π with coefficient 1.
  auto [parameter, coefficient] = *parameters.begin();
  if (std::abs(coefficient) != 1 || isScaled(difference))
    return form;
  if (coefficient > 0) {
    difference.scale(-1);
    std::swap(atLeast, atMost);
  }
  matches.push_back({op, difference, parameter, equal, atLeast, negated});
  form.whenFalse.kind = negated != matchesHold ? WhenFalse::True : WhenFalse::False;
  return form;
}

WhenFalse OnlineForms::evaluateWhenFalse(Operation *op, ArrayRef<const ValueForm *> operands) {
  auto constantOf = [](const ValueForm &form) -> std::optional<double> {
    if (form.whenFalse.kind == WhenFalse::Constant)
      return form.whenFalse.constant;
    return form.whenFalse.kind == WhenFalse::Invariant ? form.constant : std::nullopt;
  };
  auto is = [&](unsigned i, WhenFalse::Kind kind) { return operands[i]->whenFalse.kind == kind; };
  auto isFixed = [&](unsigned i) {
    return is(i, WhenFalse::Invariant) || is(i, WhenFalse::Constant) || is(i, WhenFalse::False) ||
           is(i, WhenFalse::True);
  };
  auto constant = [](double value) { return WhenFalse{WhenFalse::Constant, 0, value}; };
  if (llvm::all_of(llvm::seq<unsigned>(0, operands.size()),
                   [&](unsigned i) { return is(i, WhenFalse::Invariant); }))
    return {WhenFalse::Invariant};
  if (isa<arith::AndIOp>(op) && (is(0, WhenFalse::False) || is(1, WhenFalse::False)))
    return {WhenFalse::False};
  if (isa<arith::OrIOp>(op) && (is(0, WhenFalse::True) || is(1, WhenFalse::True)))
    return {WhenFalse::True};
  if (isa<arith::AndIOp>(op) && is(0, WhenFalse::True))
    return operands[1]->whenFalse;
  if (isa<arith::AndIOp>(op) && is(1, WhenFalse::True))
    return operands[0]->whenFalse;
  if (isa<arith::XOrIOp>(op) && op->getResult(0).getType().isInteger(1))
    for (unsigned s : {0u, 1u})
      if (constantOf(*operands[1 - s]) == 1 && (is(s, WhenFalse::True) || is(s, WhenFalse::False)))
        return {is(s, WhenFalse::True) ? WhenFalse::False : WhenFalse::True};
  if (isa<arith::OrIOp>(op) && is(0, WhenFalse::False))
    return operands[1]->whenFalse;
  if (isa<arith::OrIOp>(op) && is(1, WhenFalse::False))
    return operands[0]->whenFalse;
  if (isa<arith::SelectOp>(op)) {
    if (is(0, WhenFalse::False))
      return constantOf(*operands[2]) ? constant(*constantOf(*operands[2]))
                                      : operands[2]->whenFalse;
    if (is(0, WhenFalse::True))
      return constantOf(*operands[1]) ? constant(*constantOf(*operands[1]))
                                      : operands[1]->whenFalse;
    const WhenFalse &a = operands[1]->whenFalse, &b = operands[2]->whenFalse;
    if (a.kind == WhenFalse::State && b.kind == WhenFalse::State && a.state == b.state)
      return a;
  }
  if (isa<arith::UIToFPOp, arith::ExtUIOp, arith::ExtSIOp, arith::IndexCastOp, arith::IndexCastUIOp,
          arith::SIToFPOp>(op) &&
      is(0, WhenFalse::False))
    return constant(0);
  if (isa<arith::UIToFPOp, arith::ExtUIOp, arith::IndexCastUIOp>(op) && is(0, WhenFalse::True))
    return constant(1);
  if (isa<arith::AddFOp, arith::AddIOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp>(op))
    for (unsigned s : {0u, 1u}) {
      std::optional<double> c = constantOf(*operands[1 - s]), mine = constantOf(*operands[s]);
      bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op);
      bool isAdd = isa<arith::AddFOp, arith::AddIOp>(op);
      if (c && mine)
        return constant(isAdd ? *c + *mine : isMax ? std::max(*c, *mine) : std::min(*c, *mine));
      if (!c || !is(s, WhenFalse::State))
        continue;
      // A state never falls below its initial value where it is a maximum.
      std::optional<double> init = inits[operands[s]->whenFalse.state];
      if (isAdd ? *c == 0 : init && (isMax ? *c <= *init : *c >= *init))
        return operands[s]->whenFalse;
    }
  if (llvm::all_of(llvm::seq<unsigned>(0, operands.size()), isFixed))
    return {WhenFalse::Invariant};
  return {WhenFalse::Unknown};
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

/// How the result of `op` is a product of shifted forms, where it is no mere factor.
std::optional<ShiftedProduct> OnlineForms::evaluateShifted(Operation *op, const ValueForm &form,
                                                           ArrayRef<const ValueForm *> operands) {
  if (form.linear && !getParameterTerms(*form.linear).empty() && !isScaled(*form.linear)) {
    ShiftedForm linear;
    linear.parameters = getParameterTerms(*form.linear);
    linear.rest = *form.linear;
    for (const auto &term : linear.parameters)
      linear.rest->terms.erase(term.first);
    return ShiftedProduct{{}, {linear}};
  }
  // Zero, and a state of which nothing is known, go with everything that is added.
  auto join = [&](const ValueForm &a, const ValueForm &b) -> std::optional<ShiftedProduct> {
    if (a.isZero())
      return b.shifted;
    if (b.isZero())
      return a.shifted;
    std::optional<ShiftedProduct> x = a.getProduct(), y = b.getProduct();
    return x && y && x->movesLike(*y) ? x : std::nullopt;
  };
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return join(*operands[0], *operands[1]);
  if (isa<arith::SelectOp>(op) && operands[0]->isInvariant())
    return join(*operands[1], *operands[2]);
  if (isa<arith::NegFOp, arith::ExtFOp>(op))
    return operands[0]->shifted;
  // log (h exp(a (x - π)) / π') = log h + a (x - π) - log π'
  if (isa<math::LogOp>(op) && operands[0]->factor && !operands[0]->factor->empty()) {
    for (const auto &term : operands[0]->factor->exponents)
      if (term.first.scale)
        return std::nullopt;
    ShiftedForm logarithm;
    logarithm.parameters = operands[0]->factor->exponents;
    for (const auto &[atom, power] : operands[0]->factor->powers)
      logarithm.logarithms[atom] = static_cast<double>(power);
    return ShiftedProduct{{}, {logarithm}};
  }
  if (isa<arith::MulFOp, arith::DivFOp>(op)) {
    bool divides = isa<arith::DivFOp>(op);
    std::optional<ShiftedProduct> a = operands[0]->getProduct(), b = operands[1]->getProduct();
    if (!a || !b || (divides && !b->forms.empty()))
      return std::nullopt;
    if (divides) {
      ParameterFactor inverse;
      inverse.multiply(b->factor, -1);
      b->factor = inverse;
    }
    ShiftedProduct product = ShiftedProduct::multiply(*a, *b);
    if (product.getDegree() > 0 && product.getDegree() <= maxDegree)
      return product;
  }
  return std::nullopt;
}

ValueForm OnlineForms::evaluateDivide(Operation *op, ArrayRef<const ValueForm *> operands) {
  ValueForm form;
  const ValueForm &a = *operands[0], &b = *operands[1];
  if (b.constant && *b.constant != 0 && a.linear) {
    form.linear = a.linear;
    form.linear->scale(1 / *b.constant);
  } else {
    form.linear = scaleBy(a, b, true);
  }
  if (a.unknownState && b.isKnown() && !b.square)
    form.unknownState = true;
  else if (a.factor && b.factor && !b.unknownState) {
    form.factor = a.factor;
    form.factor->multiply(*b.factor, -1);
    form.isAtMostOne = a.isAtMostOne && isElementOfParameter(b);
  } else if (a.square && b.isInvariant()) {
    form.square = a.square;
    form.squared = a.squared;
  } else if (!form.linear) {
    form = makeFailure(op, operands, "divides what the parameter shifts, or by it");
  } else {
    form.culprit = op;
    form.reason = "a dividend is shifted by the parameter";
  }
  return form;
}

ValueForm OnlineForms::evaluateExponential(Operation *op, ArrayRef<const ValueForm *> operands) {
  ValueForm form;
  const ValueForm &a = *operands[0];
  if (a.linear && !getParameterTerms(*a.linear).empty()) {
    Combination argument = *a.linear;
    if (isa<math::Exp2Op>(op))
      argument.scale(0.69314718055994530942);
    exponentials.push_back({op, argument});
    form.factor.emplace();
    form.factor->exponents = getParameterTerms(argument);
    form.isAtMostOne = argument.constant <= 0;
  } else if (a.isInvariant()) {
    form = makeInvariant(op->getResult(0));
  } else {
    form = makeFailure(op, operands, "its argument is not linear in the parameter");
  }
  return form;
}

ValueForm OnlineForms::evaluate(Operation *op, ArrayRef<const ValueForm *> operands) {
  ValueForm form;
  auto isAllInvariant = [&] {
    return llvm::all_of(operands, [](const ValueForm *f) { return f->isInvariant(); });
  };
  if (isa<arith::AddFOp>(op)) {
    form = evaluateAdd(op, *operands[0], *operands[1], 1);
  } else if (isa<arith::SubFOp>(op)) {
    form = evaluateAdd(op, *operands[0], *operands[1], -1);
  } else if (isa<arith::NegFOp>(op)) {
    form = *operands[0];
    form.bounds.clear();
    form.constant.reset();
    if (form.linear)
      form.linear->scale(-1);
  } else if (isa<arith::MulFOp>(op)) {
    form = evaluateMultiply(op, *operands[0], *operands[1]);
  } else if (isa<arith::DivFOp>(op)) {
    form = evaluateDivide(op, operands);
  } else if (isa<math::ExpOp, math::Exp2Op>(op)) {
    form = evaluateExponential(op, operands);
  } else if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp, arith::MaxUIOp>(op)) {
    form = evaluateExtremum(op, *operands[0], *operands[1], true);
  } else if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp, arith::MinUIOp>(op)) {
    form = evaluateExtremum(op, *operands[0], *operands[1], false);
  } else if (isa<arith::SelectOp>(op)) {
    form = evaluateSelect(op, operands);
  } else if (isa<arith::ExtFOp>(op)) {
    form = *operands[0];
    form.bounds.clear();
  } else if (isa<arith::TruncFOp>(op) && operands[0]->isKnown() &&
             (operands[0]->isInvariant() || operands[0]->isAtMostOne)) {
    form = *operands[0];
    form.bounds.clear();
    form.linear.reset();
  } else if (isa<arith::TruncFOp>(op) && operands[0]->isKnown()) {
    form = makeFailure(op, operands, "narrows what may be greater before the end");
  } else if (isa<arith::CmpFOp, arith::CmpIOp>(op) && !isAllInvariant()) {
    form = evaluateComparison(op, operands);
  } else if (isAllInvariant()) {
    form = makeInvariant(op->getResult(0));
  } else {
    form = makeFailure(op, operands, "no rule says how it follows the parameter");
  }
  // What doesn't follow the parameter is a value that can be named.
  if (form.isInvariant() && !form.linear)
    form.linear = makeInvariant(op->getResult(0)).linear;
  form.shifted.reset();
  if (!form.factor && !form.unknownState)
    form.shifted = evaluateShifted(op, form, operands);
  if ((form.whenFalse.kind != WhenFalse::False && form.whenFalse.kind != WhenFalse::True) ||
      !isa<arith::CmpFOp, arith::CmpIOp>(op))
    form.whenFalse = evaluateWhenFalse(op, operands);
  form.touched.clear();
  form.touchesMore = false;
  for (const ValueForm *operand : operands)
    form.touch(*operand);
  return form;
}
