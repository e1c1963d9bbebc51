//===- ProgramBuilder.cpp - the frame of a random program -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lengths, types, the choice among values in scope, the order of statements.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;

ProgramBuilder::ProgramBuilder(MLIRContext *context, Random rng, std::string name, Numbers numbers)
    : context(context), rng(rng), name(std::move(name)), b(context), loc(UnknownLoc::get(context)),
      side(llvm::xxh3_64bits(this->name) + 1), numbers(numbers) {
  mixed = side.percent(15) && numbers == Numbers::Any;
}

//===----------------------------------------------------------------------===//
// Lengths and types
//===----------------------------------------------------------------------===//

void ProgramBuilder::chooseLengths() {
  static const char *const all[] = {"L", "N", "D", "M"};
  unsigned count = rng.weighted({15, 35, 35, 15});
  SmallVector<int64_t> least;
  for (unsigned i = 0; i < count; ++i) {
    names.push_back(StringAttr::get(context, all[i]));
    least.push_back(std::array<int64_t, 6>{0, 1, 2, 3, 4, 5}[rng.weighted({40, 28, 12, 10, 5, 5})]);
  }
  SmallVector<LengthAttr> bounds;
  for (auto [name, lo] : llvm::zip_equal(names, least))
    if (lo > 0)
      bounds.push_back(LengthAttr::get(name) - lo);
  if (!bounds.empty())
    function->setAttr(mlir::ft::names::bounds, BoundsAttr::get(context, bounds));

  // Usual lengths, the least ones, others; sometimes one long list among short ones.
  auto usual = [&](int64_t lo) {
    return std::max(lo, rng.pick<int64_t>({1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9}));
  };
  unsigned runs = names.empty() ? 1 : 3;
  // Sometimes all of a name's lengths have a divisor, so that `ft.split` comes out even.
  SmallVector<int64_t> multiples;
  for (unsigned i = 0; i < count; ++i)
    multiples.push_back(rng.percent(35) ? rng.pick<int64_t>({2, 2, 3, 4}) : 1);
  int64_t longOne = rng.percent(18) && count ? rng.below(count) : -1;
  int64_t longLength = rng.pick<int64_t>({15, 16, 17, 31, 33, 63, 64, 65, 127});
  for (unsigned run = 0; run < runs; ++run) {
    auto &binding = bindings.emplace_back();
    for (unsigned i = 0; i < count; ++i) {
      int64_t value = run == 1 ? least[i] : usual(least[i]);
      if (run == 2 && longOne >= 0)
        value = static_cast<int64_t>(i) == longOne ? longLength : least[i];
      binding[names[i]] = llvm::divideCeil(value, multiples[i]) * multiples[i];
    }
  }
  if (!names.empty()) {
    SmallVector<NamedAttribute> defaults;
    for (StringAttr n : names)
      defaults.push_back(b.getNamedAttr(n, b.getI64IntegerAttr(bindings[0][n])));
    function->setAttr(mlir::ft::names::lengths, b.getDictionaryAttr(defaults));
  }
}

int64_t ProgramBuilder::randomSize() {
  switch (rng.weighted({40, 35, 20, 5})) {
  case 0:
    return rng.pick<int64_t>({1, 2, 3});
  case 1:
    return rng.pick<int64_t>({4, 5, 7, 8, 9});
  case 2:
    return rng.pick<int64_t>({11, 13, 15, 16, 17});
  default:
    return rng.pick<int64_t>({31, 32, 33, 63, 64, 65});
  }
}

void ProgramBuilder::chooseTypes() {
  switch (rng.weighted({45, 35, 13, 7})) {
  case 0:
    scalar = b.getI32Type();
    break;
  case 1:
    scalar = b.getI64Type();
    break;
  case 2:
    scalar = b.getF32Type();
    break;
  default:
    scalar = b.getF64Type();
    break;
  }
  if (numbers != Numbers::Any)
    scalar = b.getF64Type();
  unsigned count = rng.between(1, 3);
  for (unsigned i = 0; i < count; ++i)
    sizes.push_back(randomSize());
  // A few programs have elements without numbers; the choices of all others stay what they are.
  if (Random(llvm::xxh3_64bits(name)).percent(4))
    sizes.back() = 0;
}

RankedTensorType ProgramBuilder::randomTensorType() {
  SmallVector<int64_t> shape;
  unsigned rank = rng.weighted({12, 45, 40, 3});
  int64_t count = 1;
  for (unsigned i = 0; i < rank; ++i) {
    int64_t size = rng.percent(8) ? rng.pick<int64_t>({1, 2, 3}) : rng.pickFrom(sizes);
    if (count * size > 600)
      size = 1;
    count *= size;
    shape.push_back(size);
  }
  return tensorType(shape);
}

LengthAttr ProgramBuilder::randomLength() {
  if (names.empty() || rng.percent(38)) {
    int64_t value = rng.pick<int64_t>({1, 2, 2, 3, 3, 4, 5, 6, 8});
    return length(rng.percent(1) ? 0 : value);
  }
  LengthAttr n = LengthAttr::get(rng.pickFrom(names));
  if (rng.percent(6))
    return n + rng.pick<int64_t>({1, 2});
  if (rng.percent(4) && holds(n - 1))
    return n - 1;
  if (rng.percent(3))
    return n.ceilDiv(2);
  return n;
}

LengthAttr ProgramBuilder::smallLength(int64_t constant) {
  if (names.empty() || !rng.percent(15))
    return length(constant);
  LengthAttr n = LengthAttr::get(rng.pickFrom(names));
  return holds(n - 1) ? n : length(constant);
}

std::optional<int64_t> ProgramBuilder::evaluate(LengthAttr length, unsigned binding) const {
  return length.evaluate([&](StringAttr n) -> std::optional<int64_t> {
    auto it = bindings[binding].find(n);
    return it == bindings[binding].end() ? std::nullopt : std::optional<int64_t>(it->second);
  });
}

int64_t ProgramBuilder::largest(LengthAttr length) const {
  int64_t most = 0;
  for (unsigned i = 0; i < bindings.size(); ++i)
    most = std::max(most, evaluate(length, i).value_or(1 << 20));
  return most;
}

int64_t ProgramBuilder::elementsOf(Type type) const {
  if (auto list = dyn_cast<ListType>(type)) {
    int64_t count = elementsOf(list.getElement());
    for (LengthAttr n : list.getLengths())
      count *= std::max<int64_t>(1, largest(n));
    return count;
  }
  if (auto tuple = dyn_cast<TupleType>(type)) {
    int64_t count = 0;
    for (Type member : tuple.getTypes())
      count += elementsOf(member);
    return count;
  }
  return cast<RankedTensorType>(type).getNumElements();
}

/// Not too large, not too deep, and lengths that a person can still read.
bool ProgramBuilder::isReasonable(Type type) const {
  auto list = dyn_cast<ListType>(type);
  if (!list)
    return elementsOf(type) <= 5000;
  if (list.getDepth() > 4 || elementsOf(type) > 20000)
    return false;
  for (LengthAttr n : list.getLengths())
    if (n.str().size() > 40)
      return false;
  return true;
}

bool ProgramBuilder::isScalarTensor(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType() == scalar;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value ProgramBuilder::argument(Type type, Attribute generator) {
  Block &body = function.getBody().front();
  Value value = body.addArgument(type, loc);
  SmallVector<Type> inputs(body.getArgumentTypes());
  function.removeArgAttrsAttr();
  function.setType(FunctionType::get(context, inputs, {}));
  argumentAttrs.push_back(generator ? b.getDictionaryAttr(b.getNamedAttr(mlir::ft::names::gen, generator))
                                    : b.getDictionaryAttr({}));
  function.setAllArgAttrs(argumentAttrs);
  add(*top, value);
  return value;
}

/// A new argument unless there are enough, or it would be too large.
Value ProgramBuilder::argumentOrNull(Type type, Attribute generator) {
  if (function.getNumArguments() >= 9 || !isReasonable(type))
    return {};
  return argument(type, generator);
}

Value ProgramBuilder::pick(Scope &scope, Test test, bool own) {
  SmallVector<Value> found;
  SmallVector<int> weights;
  int near = 4;
  for (Scope *s = &scope; s; s = s->parent) {
    for (Value v : s->values)
      if (test(v)) {
        found.push_back(v);
        weights.push_back(near * (v.use_empty() ? 4 : 1));
      }
    if (own || s->closed)
      break;
    near = std::max(1, near / 2);
  }
  return found.empty() ? Value() : found[rng.weighted(weights)];
}

Value ProgramBuilder::pickType(Scope &scope, Type type) {
  return pick(scope, [&](Value v) { return v.getType() == type; });
}

bool ProgramBuilder::afford(const Scope &scope, int64_t cost) {
  int64_t total = scope.iterations * cost;
  // Derivatives run a program a dozen times.
  int64_t most = numbers == Numbers::Any ? 300000 : 20000;
  if (total > most || work + total > 3 * most)
    return false;
  work += total;
  return true;
}

Value ProgramBuilder::makeValue(Scope &scope, Type type, int effort) {
  if (auto list = dyn_cast<ListType>(type))
    return makeList(scope, list, effort);
  return makeTensor(scope, cast<RankedTensorType>(type), effort);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void ProgramBuilder::step(Scope &scope) {
  if (++numOps > 60)
    return;
  int deeper = scope.depth < targetDepth ? 35 : 0;
  switch (rng.weighted({30, 30, deeper})) {
  case 0:
    return tensorStep(scope);
  case 1:
    return accessStep(scope);
  default:
    computeStep(scope);
  }
}

void ProgramBuilder::steps(Scope &scope, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    step(scope);
  // One way down to the depth that the program wants.
  if (scope.depth < targetDepth && deepest < targetDepth && numOps < 60) {
    computeStep(scope);
    if (rng.percent(40))
      step(scope);
  }
}

void mlir::ft::fuzz::eraseDeadStatements(Operation *function) {
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<Operation *> dead;
    function->walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (isOpTriviallyDead(op))
        dead.push_back(op);
    });
    for (Operation *op : llvm::reverse(dead))
      if (op->use_empty()) {
        op->erase();
        changed = true;
        break; // others may have been inside
      }
  }
}

/// Returns what nothing uses yet, and drops what has no effect on it.
void ProgramBuilder::finish(Scope &scope) {
  auto canReturn = [&](Value v) {
    auto list = dyn_cast<ListType>(v.getType());
    return isReasonable(v.getType()) && !isa<TupleType>(v.getType()) &&
           !(list && isa<TupleType>(list.getElement()));
  };
  SmallVector<Value> results;
  unsigned count = 1 + rng.weighted({40, 40, 20});
  for (unsigned i = 0; i < count; ++i) {
    // First what compute operators made.
    Value v = pick(scope, [&](Value v) {
      return canReturn(v) && v.use_empty() && isa_and_nonnull<ComputeOp>(v.getDefiningOp()) &&
             !llvm::is_contained(results, v);
    });
    if (!v || rng.percent(15))
      if (Value other = pick(scope, [&](Value v) {
            return canReturn(v) && v.getDefiningOp() && !llvm::is_contained(results, v);
          }))
        v = other;
    if (v)
      results.push_back(v);
  }
  if (results.empty())
    results.push_back(pick(scope, canReturn));
  if (rng.percent(3)) // one value twice, an argument as it is
    results.push_back(results.front());
  if (rng.percent(3))
    if (Value v = pick(scope, [&](Value v) { return canReturn(v) && isa<BlockArgument>(v); }))
      results.push_back(v);
  func::ReturnOp::create(b, loc, results);
  function.setType(
      FunctionType::get(context, function.getArgumentTypes(), ValueRange(results).getTypes()));

  eraseDeadStatements(function);
}

/// Arguments and statements of a program over lists.
void ProgramBuilder::listStatements(Scope &scope) {
  // Every name is bound by an argument.
  for (StringAttr n : names) {
    SmallVector<LengthAttr> lengths{LengthAttr::get(n)};
    unsigned more = rng.weighted({45, 40, 15});
    for (unsigned i = 0; i < more; ++i)
      lengths.insert(rng.percent(50) ? lengths.begin() : lengths.end(), randomLength());
    Type type = ListType::get(context, lengths, randomTensorType());
    if (!isReasonable(type))
      type = ListType::get(context, {LengthAttr::get(n)}, tensorType(sizes.front()));
    if (mixed && side.percent(30)) {
      auto list = cast<ListType>(type);
      auto element = cast<RankedTensorType>(list.getElement());
      type = ListType::get(context, list.getLengths(), element.clone(otherScalar()));
    }
    argument(type);
  }
  unsigned more = names.empty() ? 2 : rng.weighted({30, 50, 20});
  for (unsigned i = 0; i < more; ++i) {
    SmallVector<LengthAttr> lengths;
    unsigned depth = rng.weighted({15, 40, 35, 10});
    if (i == 0)
      depth = std::max(depth, 1u);
    for (unsigned d = 0; d < depth; ++d)
      lengths.push_back(randomLength());
    RankedTensorType element = randomTensorType();
    argumentOrNull(lengths.empty() ? Type(element) : ListType::get(context, lengths, element));
  }

  steps(scope, rng.between(1, 4));
  if (deepest < targetDepth)
    computeStep(scope);
}

Program ProgramBuilder::run() {
  module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(b, loc, name, b.getFunctionType({}, {}));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  anchor = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)); // dead: goes at the end
  Scope scope;
  top = &scope;
  chooseLengths();
  chooseTypes();
  targetDepth = 1 + rng.weighted({10, 22, 45, 23});

  // (Chosen by the name: all other programs stay what they were.)
  if (Random(llvm::xxh3_64bits("whole " + name)).percent(12))
    wholeTensors(scope);
  else
    listStatements(scope);
  finish(scope);

  Program program;
  program.name = name;
  program.module = std::move(module);
  for (auto &values : bindings) {
    Binding binding;
    for (StringAttr n : names)
      binding.push_back({n.str(), values[n]});
    program.bindings.push_back(binding);
  }
  return program;
}

Program mlir::ft::fuzz::generateProgram(MLIRContext *context, uint64_t seed, uint64_t number, Numbers numbers) {
  Random mix(seed);
  return ProgramBuilder(context, Random(mix.next() ^ (number * 0xD1342543DE82EF95u)),
                        "p" + std::to_string(number), numbers)
      .run();
}

void mlir::ft::fuzz::loadDialects(MLIRContext *context) {
  context->loadDialect<FTDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect,
                       linalg::LinalgDialect, tensor::TensorDialect, cf::ControlFlowDialect>();
}
