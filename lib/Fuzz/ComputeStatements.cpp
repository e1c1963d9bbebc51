//===- ComputeStatements.cpp - random compute operators -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests of the eight compute operators of FT Table 1. Those that may be
// re-associated get associative bodies: an operation of a monoid between state
// and element, or any function of the element with a `combine` (FT §4.2).
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;

static ListType listType(Value v) { return dyn_cast<ListType>(v.getType()); }
static LengthAttr lengthOf(Value v) { return cast<ListType>(v.getType()).getLength(); }
static bool hasTuple(Type type) {
  auto list = dyn_cast<ListType>(type);
  return isa<TupleType>(type) || (list && isa<TupleType>(list.getElement()));
}

bool ProgramBuilder::canTraverse(const Scope &scope, Value list) const {
  int64_t n = largest(lengthOf(list));
  // A product of lengths has no affine domain.
  return lengthOf(list).getExpr().isPureAffine() &&
         scope.iterations * std::max<int64_t>(n, 1) <= 1200;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void ProgramBuilder::addElements(Scope &scope, ValueRange elements) {
  for (Value v : elements) {
    auto tuple = dyn_cast<TupleType>(v.getType());
    if (!tuple) {
      add(scope, v);
      continue;
    }
    for (unsigned i = 0; i < tuple.size(); ++i) {
      Value member = GetOp::create(b, loc, v, b.getI64IntegerAttr(i));
      addElements(scope, member);
    }
  }
}

ProgramBuilder::Body ProgramBuilder::openBody(Scope &scope, TypeRange states,
                                              ArrayRef<Value> lists) {
  Body body;
  body.outside = b.saveInsertionPoint();
  body.region = std::make_unique<Region>();
  Block &block = body.region->emplaceBlock();
  for (Type type : states)
    body.states.push_back(block.addArgument(type, loc));
  SmallVector<Value> elements;
  for (Value list : lists)
    elements.push_back(block.addArgument(listType(list).getPeeled(), loc));
  b.setInsertionPointToEnd(&block);
  body.scope.parent = &scope;
  body.scope.iterations = scope.iterations * std::max<int64_t>(1, largest(lengthOf(lists.front())));
  body.scope.depth = scope.depth + 1;
  deepest = std::max(deepest, body.scope.depth);
  addElements(body.scope, elements);
  return body;
}

ComputeOp ProgramBuilder::closeBody(Scope &scope, Body &body, OperatorKind kind,
                                    ArrayRef<Value> lists, ArrayRef<Value> inits,
                                    ArrayRef<Value> values, ArrayRef<Value> emits, LengthAttr lag,
                                    ArrayRef<Value> identities, std::unique_ptr<Region> combine) {
  YieldOp::create(b, loc, values, emits);
  b.restoreInsertionPoint(body.outside);
  LengthAttr n = lengthOf(lists.front());
  bool folds = kind != OperatorKind::Map && kind != OperatorKind::Scan &&
               kind != OperatorKind::ScanL && kind != OperatorKind::ScanR;
  SmallVector<Type> types;
  for (Value v : values)
    types.push_back(folds ? v.getType() : Type(ListType::wrap(n, v.getType())));
  for (Value v : emits)
    types.push_back(ListType::wrap(n, v.getType()));
  ComputeOp op = createCompute(b, loc, kind, types, lists, inits, identities, lag);
  op->getRegion(0).takeBody(*body.region);
  if (combine)
    op->getRegion(1).takeBody(*combine);
  return op;
}

/// Statements of the region that nothing takes up yet.
bool ProgramBuilder::hasUnused(Scope &scope) {
  return llvm::any_of(scope.values, [](Value v) {
    return v.getDefiningOp() && v.use_empty() && !hasTuple(v.getType());
  });
}

SmallVector<Value> ProgramBuilder::chooseYields(Scope &scope, unsigned count) {
  SmallVector<Value> chosen;
  auto test = [&](Value v) {
    auto list = listType(v);
    int64_t elements = elementsOf(v.getType()) * scope.iterations;
    return !hasTuple(v.getType()) && (!list || list.getDepth() < 3) && elements <= 20000 &&
           !llvm::is_contained(chosen, v);
  };
  auto isResult = [](Value v) { return isa_and_nonnull<ComputeOp>(v.getDefiningOp()); };
  for (unsigned i = 0; i < count; ++i) {
    // What was made here, most of all what nothing used; sometimes an element, a
    // captured value, a constant: those get copies.
    Value v;
    if (rng.percent(75)) // nests stay deep when what the inner ones made goes on
      v = pick(
          scope, [&](Value v) { return test(v) && isResult(v) && v.use_empty(); }, /*own=*/true);
    if (!v)
      v = pick(
          scope, [&](Value v) { return test(v) && v.getDefiningOp() && v.use_empty(); },
          /*own=*/true);
    if (!v || rng.percent(12))
      if (Value other = pick(scope, test, /*own=*/rng.percent(75)))
        v = other;
    if (!v && i == 0)
      v = constant(randomTensorType());
    if (v)
      chosen.push_back(v);
  }
  return chosen;
}

Value ProgramBuilder::transformList(Scope &scope, Value list) {
  if (!canTraverse(scope, list) || scope.depth >= 4 || rng.percent(20)) {
    Value moved = rng.percent(50) ? Value(ReverseOp::create(b, loc, list)) : shift(scope, list);
    return moved ? moved : list;
  }
  SmallVector<Value> lists{list};
  if (Value other = pick(scope,
                         [&](Value v) {
                           return listType(v) && v != list && lengthOf(v) == lengthOf(list) &&
                                  !hasTuple(v.getType());
                         });
      other && rng.percent(60))
    lists.push_back(other);
  bool scans = rng.percent(45);
  Type peeled = listType(list).getPeeled();
  Value init = scans ? makeValue(scope, peeled, 0) : Value();
  Body body = openBody(scope, scans ? TypeRange(peeled) : TypeRange(), lists);
  Value element = body.region->front().getArgument(scans ? 1 : 0);
  if (rng.percent(40))
    step(body.scope);
  Value made = transform(body.scope, element);
  if (scans) {
    Value state = body.states.front();
    add(body.scope, state);
    Value from = isa<ListType>(peeled) ? transformList(body.scope, state) : binary(state, made);
    SmallVector<Value> emits;
    return closeBody(scope, body, rng.percent(60) ? OperatorKind::ScanL : OperatorKind::ScanR,
                     lists, {init}, {from}, emits)
        ->getResult(0);
  }
  return closeBody(scope, body, OperatorKind::Map, lists, {}, {made}, {})->getResult(0);
}

Value ProgramBuilder::transform(Scope &scope, Value value) {
  if (isa<ListType>(value.getType()))
    return transformList(scope, value);
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() != scalar)
    return makeTensor(scope, type, 0);
  if (rng.percent(25))
    return unary(value);
  // A product with the value on one side.
  if (type.getRank() == 2 && rng.percent(25)) {
    int64_t k = type.getDimSize(1);
    if (k * k <= 1200 && afford(scope, type.getNumElements() * k)) {
      Value w = weights(makeTensor(scope, tensorType({k, k}), 1), k);
      Value init = makeTensor(scope, type, 0);
      return tame(
          linalg::MatmulOp::create(b, loc, TypeRange{type}, ValueRange{value, w}, ValueRange{init})
              ->getResult(0));
    }
  }
  Value other = makeTensor(scope, type, 1);
  return binary(value, other);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

void ProgramBuilder::map(Scope &scope, ArrayRef<Value> lists) {
  Body body = openBody(scope, {}, lists);
  steps(body.scope, rng.between(1, 3));
  SmallVector<Value> yields = chooseYields(body.scope, 1 + rng.weighted({75, 20, 5}));
  ComputeOp op = closeBody(scope, body, OperatorKind::Map, lists, {}, yields, {});
  for (Value r : op->getResults())
    add(scope, r);
}

void ProgramBuilder::ordered(Scope &scope, OperatorKind kind, ArrayRef<Value> lists) {
  bool scans = kind == OperatorKind::ScanL || kind == OperatorKind::ScanR;
  bool noInit = rng.percent(18) && holds(lengthOf(lists.front()) - 1) &&
                llvm::none_of(lists, [&](Value v) { return hasTuple(v.getType()); });
  SmallVector<Value> inits;
  SmallVector<Type> types;
  if (noInit) {
    for (Value list : lists)
      types.push_back(listType(list).getPeeled());
  } else {
    unsigned count = 1 + rng.weighted({58, 32, 10});
    for (unsigned i = 0; i < count; ++i) {
      Value init;
      if (rng.percent(30)) // a state that is a list
        init = pick(scope, [&](Value v) {
          return listType(v) && !hasTuple(v.getType()) && listType(v).getDepth() <= 2 &&
                 elementsOf(v.getType()) * scope.iterations *
                         std::max<int64_t>(1, largest(lengthOf(lists.front()))) <=
                     20000;
        });
      if (!init && rng.percent(50)) // like an element
        if (auto element = dyn_cast<RankedTensorType>(listType(lists.front()).getPeeled()))
          init = makeTensor(scope, element, 0);
      if (!init)
        init = rng.percent(50) ? makeTensor(scope, randomTensorType(), rng.below(2))
                               : constant(randomTensorType());
      inits.push_back(init);
      types.push_back(init.getType());
    }
  }
  LengthAttr lag;
  if (scans && !noInit && rng.percent(28))
    lag = smallLength(rng.pick<int64_t>({2, 2, 3, 4}));

  Body body = openBody(scope, types, lists);
  for (Value s : body.states)
    add(body.scope, s);
  steps(body.scope, rng.between(0, 2));
  SmallVector<Value> values, emits;
  for (auto [i, state] : llvm::enumerate(body.states)) {
    Value v;
    if (rng.percent(12)) // something of this type, whatever it is
      v = pickType(body.scope, state.getType());
    if (!v)
      v = transform(body.scope, state);
    add(body.scope, v);
    values.push_back(v);
  }
  if (values.size() > 1 && values[0].getType() == values[1].getType() && rng.percent(20))
    std::swap(values[0], values[1]);
  if (!noInit && rng.percent(hasUnused(body.scope) ? 75 : 20))
    emits = chooseYields(body.scope, rng.between(1, 2));
  // Beside a sequence its last element or a fold of it, as recurrent layers return them.
  for (Value v : values) {
    if (noInit || emits.size() > 3 || !listType(v) || hasTuple(v.getType()) || !rng.percent(45))
      continue;
    Type peeled = listType(v).getPeeled();
    if (holds(lengthOf(v) - 1) && rng.percent(50)) {
      emits.push_back(AtOp::create(b, loc, v, LengthAttr::get(b.getContext(), -1)));
    } else if (isa<RankedTensorType>(peeled) && canTraverse(body.scope, v) &&
               body.scope.depth < 4) {
      Value init = makeValue(body.scope, peeled, 0);
      Body fold = openBody(body.scope, TypeRange(peeled), {v});
      Value element = fold.region->front().getArgument(1);
      Value made = binary(fold.states.front(), transform(fold.scope, element));
      emits.push_back(closeBody(body.scope, fold, OperatorKind::FoldL, {v}, {init}, {made}, {})
                          ->getResult(0));
    }
  }
  ComputeOp op = closeBody(scope, body, kind, lists, inits, values, emits, lag);
  for (Value r : op->getResults())
    add(scope, r);
}

//===----------------------------------------------------------------------===//
// Associative bodies
//===----------------------------------------------------------------------===//

ProgramBuilder::Monoid ProgramBuilder::randomMonoid() {
  if (isPolynomial())
    return {rng.pick({Monoid::Add, Monoid::Mul})};
  if (isa<FloatType>(scalar))
    return {rng.pick({Monoid::Add, Monoid::Max, Monoid::Min})};
  Monoid m{rng.pick({Monoid::Add, Monoid::Add, Monoid::Mul, Monoid::Max, Monoid::Min, Monoid::And,
                     Monoid::Or, Monoid::Xor})};
  return m;
}

Value ProgramBuilder::combineOne(Monoid monoid, Value x, Value y) {
  if (auto list = listType(x)) {
    // Element by element.
    Block *block = new Block();
    Type peeled = list.getPeeled();
    Value p = block->addArgument(peeled, loc), q = block->addArgument(peeled, loc);
    OpBuilder::InsertPoint outside = b.saveInsertionPoint();
    b.setInsertionPointToEnd(block);
    Value r = combineOne(monoid, p, q);
    YieldOp::create(b, loc, ValueRange{r}, ValueRange());
    b.restoreInsertionPoint(outside);
    SmallVector<Value> lists{x, y};
    ComputeOp op = createCompute(b, loc, OperatorKind::Map, {list}, lists);
    op->getRegion(0).push_back(block);
    return op->getResult(0);
  }
  bool isFloat = isa<FloatType>(cast<RankedTensorType>(x.getType()).getElementType());
  switch (monoid.kind) {
  case Monoid::Mul:
    return isFloat ? Value(arith::MulFOp::create(b, loc, x, y)) : Value(arith::MulIOp::create(b, loc, x, y));
  case Monoid::Max:
    return isFloat ? Value(arith::MaximumFOp::create(b, loc, x, y))
                   : Value(arith::MaxSIOp::create(b, loc, x, y));
  case Monoid::Min:
    return isFloat ? Value(arith::MinimumFOp::create(b, loc, x, y))
                   : Value(arith::MinSIOp::create(b, loc, x, y));
  case Monoid::And:
    return arith::AndIOp::create(b, loc, x, y);
  case Monoid::Or:
    return arith::OrIOp::create(b, loc, x, y);
  case Monoid::Xor:
    return arith::XOrIOp::create(b, loc, x, y);
  default:
    return isFloat ? Value(arith::AddFOp::create(b, loc, x, y))
                   : Value(arith::AddIOp::create(b, loc, x, y));
  }
}

SmallVector<Value> ProgramBuilder::combine(Monoid monoid, ValueRange x, ValueRange y) {
  if (monoid.kind == Monoid::Affine) {
    // (a, c) then (d, e): t -> d (a t + c) + e.
    Value product = combineOne({Monoid::Mul}, x[0], y[0]);
    Value moved = combineOne({Monoid::Mul}, x[1], y[0]);
    Value sum = combineOne({Monoid::Add}, moved, y[1]);
    return {product, sum};
  }
  if (monoid.kind == Monoid::ArgMax) {
    // The first of the largest, and what goes with it.
    Value later = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, y[0], x[0]);
    Value key = arith::SelectOp::create(b, loc, later, y[0], x[0]);
    Value with = arith::SelectOp::create(b, loc, later, y[1], x[1]);
    return {key, with};
  }
  return {combineOne(monoid, x[0], y[0])};
}

static TypedAttr neutralNumber(bool max, Type type) {
  if (auto f = dyn_cast<FloatType>(type))
    return FloatAttr::get(f, max ? -1e30 : 1e30);
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type,
                          max ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
}

SmallVector<Value> ProgramBuilder::neutral(Monoid monoid, TypeRange types) {
  SmallVector<Value> result;
  for (auto [i, type] : llvm::enumerate(types)) {
    SmallVector<LengthAttr> lengths;
    Type element = type;
    if (auto list = dyn_cast<ListType>(type)) {
      lengths.assign(list.getLengths().begin(), list.getLengths().end());
      element = list.getElement();
    }
    auto tensor = cast<RankedTensorType>(element);
    auto number = [&](TypedAttr value) -> Value {
      return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(tensor, Attribute(value)));
    };
    Value v;
    switch (monoid.kind) {
    case Monoid::Mul:
      v = splat(tensor, 1);
      break;
    case Monoid::And:
      v = splat(tensor, -1);
      break;
    case Monoid::Max:
      v = number(neutralNumber(true, tensor.getElementType()));
      break;
    case Monoid::Min:
      v = number(neutralNumber(false, tensor.getElementType()));
      break;
    case Monoid::Affine:
      v = splat(tensor, i == 0 ? 1 : 0);
      break;
    case Monoid::ArgMax:
      v = i == 0 ? number(neutralNumber(true, tensor.getElementType())) : splat(tensor, 0);
      break;
    default:
      v = splat(tensor, 0);
    }
    for (LengthAttr n : llvm::reverse(lengths))
      v = RepeatOp::create(b, loc, v, n);
    result.push_back(v);
  }
  return result;
}

std::unique_ptr<Region> ProgramBuilder::combineRegion(ArrayRef<Monoid> monoids, TypeRange types) {
  auto region = std::make_unique<Region>();
  Block &block = region->emplaceBlock();
  SmallVector<Value> x, y, r;
  for (Type t : types)
    x.push_back(block.addArgument(t, loc));
  for (Type t : types)
    y.push_back(block.addArgument(t, loc));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&block);
  unsigned at = 0;
  for (Monoid m : monoids) {
    llvm::append_range(r,
                       combine(m, ArrayRef(x).slice(at, m.width), ArrayRef(y).slice(at, m.width)));
    at += m.width;
  }
  YieldOp::create(b, loc, r, ValueRange());
  return region;
}

/// The body is the operation itself: states and elements have the same types.
bool ProgramBuilder::reassociable(Scope &scope, OperatorKind kind, ArrayRef<Value> given) {
  SmallVector<Value> lists(given.begin(), given.end());
  SmallVector<Type> types;
  for (Value list : lists) {
    Type element = listType(list).getElement();
    if (hasTuple(list.getType()) || !isScalarTensor(element) || listType(list).getDepth() > 3)
      return false;
    types.push_back(listType(list).getPeeled());
  }
  SmallVector<Monoid> monoids;
  bool isFloat = isa<FloatType>(scalar);
  if (lists.size() == 2 && types[0] == types[1] && isa<RankedTensorType>(types[0]) &&
      (!isFloat || isPolynomial()) && rng.percent(60)) {
    monoids.push_back({rng.percent(60) || isPolynomial() ? Monoid::Affine : Monoid::ArgMax, 2});
  } else {
    for (unsigned i = 0; i < lists.size(); ++i)
      monoids.push_back(randomMonoid());
  }
  bool noInit = rng.percent(25) && holds(lengthOf(lists.front()) - 1);
  SmallVector<Value> inits, identities;
  if (!noInit) {
    unsigned at = 0;
    for (Monoid m : monoids) {
      // A state that is not neutral is the first of the sequence.
      SmallVector<Value> n;
      if (rng.percent(35))
        for (Type t : TypeRange(types).slice(at, m.width))
          n.push_back(makeValue(scope, t, 0));
      else
        n = neutral(m, TypeRange(types).slice(at, m.width));
      llvm::append_range(inits, n);
      at += m.width;
    }
  }
  bool scans = kind == OperatorKind::Scan;
  LengthAttr lag;
  if (scans && !noInit && rng.percent(20))
    lag = smallLength(rng.between(2, 3));
  // With a combine of its own now and then, which is the same operation.
  std::unique_ptr<Region> combining;
  if (!noInit && rng.percent(20)) {
    combining = combineRegion(monoids, types);
    unsigned at = 0;
    for (Monoid m : monoids) {
      llvm::append_range(identities, neutral(m, TypeRange(types).slice(at, m.width)));
      at += m.width;
    }
  }
  Body body = openBody(scope, types, lists);
  SmallVector<Value> elements, values;
  for (unsigned i = 0; i < lists.size(); ++i)
    elements.push_back(body.region->front().getArgument(lists.size() + i));
  unsigned at = 0;
  for (Monoid m : monoids) {
    llvm::append_range(values, combine(m, ArrayRef(body.states).slice(at, m.width),
                                       ArrayRef(elements).slice(at, m.width)));
    at += m.width;
  }
  SmallVector<Value> emits;
  if (scans && !noInit && rng.percent(25)) {
    steps(body.scope, 1);
    emits = chooseYields(body.scope, 1);
  }
  ComputeOp op = closeBody(scope, body, kind, lists, inits, values, emits, lag, identities,
                           std::move(combining));
  for (Value r : op->getResults())
    add(scope, r);
  return true;
}

/// The state takes any function of the element in.
void ProgramBuilder::withCombine(Scope &scope, OperatorKind kind, ArrayRef<Value> lists) {
  SmallVector<Monoid> monoids;
  SmallVector<Type> types;
  unsigned count = 1 + rng.weighted({65, 35});
  for (unsigned i = 0; i < count; ++i) {
    bool pair = rng.percent(15) && (!isa<FloatType>(scalar) || isPolynomial());
    monoids.push_back(pair ? Monoid{rng.percent(50) || isPolynomial() ? Monoid::Affine : Monoid::ArgMax, 2}
                           : randomMonoid());
    Type type = randomTensorType();
    if (!pair && rng.percent(15))
      if (Value like = pick(scope, [&](Value v) {
            return listType(v) && listType(v).getDepth() == 1 &&
                   isScalarTensor(listType(v).getElement()) && elementsOf(v.getType()) <= 300;
          }))
        type = like.getType();
    types.append(pair ? 2 : 1, type);
  }
  SmallVector<Value> inits, identities, all;
  unsigned at = 0;
  bool ownInits = rng.percent(40);
  for (Monoid m : monoids) {
    llvm::append_range(all, neutral(m, TypeRange(types).slice(at, m.width)));
    at += m.width;
  }
  if (ownInits) {
    identities = all;
    for (Type t : types)
      inits.push_back(makeValue(scope, t, 0));
  } else {
    inits = all;
    if (rng.percent(30))
      identities = all;
  }
  std::unique_ptr<Region> combining = combineRegion(monoids, types);
  Body body = openBody(scope, types, lists);
  steps(body.scope, rng.between(0, 2)); // without the states
  SmallVector<Value> taken, values;
  for (Type t : types)
    taken.push_back(makeValue(body.scope, t, 2));
  at = 0;
  for (Monoid m : monoids) {
    llvm::append_range(values, combine(m, ArrayRef(body.states).slice(at, m.width),
                                       ArrayRef(taken).slice(at, m.width)));
    at += m.width;
  }
  SmallVector<Value> emits;
  if (kind == OperatorKind::Scan && rng.percent(hasUnused(body.scope) ? 75 : 20))
    emits = chooseYields(body.scope, 1);
  ComputeOp op = closeBody(scope, body, kind, lists, inits, values, emits, {}, identities,
                           std::move(combining));
  for (Value r : op->getResults())
    add(scope, r);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// A list to traverse where none is at hand.
Value ProgramBuilder::freshList(Scope &scope, LengthAttr n) {
  if (rng.percent(25)) {
    Type number = isa<IntegerType>(scalar) ? scalar : Type(b.getI64Type());
    return IotaOp::create(b, loc, ListType::get(context, {n}, RankedTensorType::get({}, number)));
  }
  if (rng.percent(60)) {
    SmallVector<LengthAttr> lengths{n};
    if (rng.percent(30))
      lengths.push_back(randomLength());
    if (Value v = argumentOrNull(ListType::get(context, lengths, randomTensorType())))
      return v;
  }
  if (Value v = pick(scope, [&](Value v) { return isScalarTensor(v.getType()); }))
    return RepeatOp::create(b, loc, v, n);
  return RepeatOp::create(b, loc, constant(randomTensorType()), n);
}

bool ProgramBuilder::computeStep(Scope &scope) {
  if (scope.depth >= 4 || numOps > 60)
    return false;
  ++numOps;
  auto test = [&](Value v) { return listType(v) && canTraverse(scope, v); };
  Value first = pick(scope, test, /*own=*/rng.percent(30));
  if (!first || rng.percent(8)) {
    LengthAttr n = first && rng.percent(50) ? lengthOf(first) : randomLength();
    if (scope.iterations * std::max<int64_t>(1, largest(n)) > 1200)
      n = length(rng.between(1, 3));
    if (scope.iterations * std::max<int64_t>(1, largest(n)) > 2000 || !holds(n))
      return false;
    first = freshList(scope, n);
  }
  return traverse(scope, first);
}

bool ProgramBuilder::traverse(Scope &scope, Value first) {
  LengthAttr n = lengthOf(first);
  // Access operators on the way.
  for (int chance : {45, 25}) {
    if (!rng.percent(chance) || hasTuple(first.getType()))
      continue;
    Value other = access(scope, first);
    if (other && listType(other) && isReasonable(other.getType()) && canTraverse(scope, other)) {
      first = other;
      n = lengthOf(first);
    }
  }
  SmallVector<Value> lists{first};
  unsigned more = rng.weighted({50, 38, 12});
  for (unsigned i = 0; i < more; ++i) {
    Value other = pick(scope, [&](Value v) {
      return listType(v) && lengthOf(v) == n && !llvm::is_contained(lists, v) &&
             elementsOf(v.getType()) <= 20000;
    });
    if (!other || rng.percent(20)) {
      if (rng.percent(35))
        other = ReverseOp::create(b, loc, first);
      else if (Value moved =
                   hasTuple(first.getType()) || rng.percent(40) ? Value() : shift(scope, first))
        other = moved;
      else
        other = freshList(scope, n);
    }
    lists.push_back(other);
  }
  bool zipped = lists.size() > 1 && rng.percent(12);
  if (zipped) {
    Value all = ZipOp::create(b, loc, lists);
    lists.assign(1, all);
  }
  auto kind = static_cast<OperatorKind>(rng.weighted({36, 8, 7, 10, 8, 9, 12, 10}));
  switch (kind) {
  case OperatorKind::Map:
    map(scope, lists);
    return true;
  case OperatorKind::Reduce:
  case OperatorKind::Fold:
  case OperatorKind::Scan:
    if (rng.percent(50) && reassociable(scope, kind, lists))
      return true;
    withCombine(scope, kind, lists);
    return true;
  default:
    ordered(scope, kind, lists);
    return true;
  }
}
