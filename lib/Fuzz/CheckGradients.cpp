//===- CheckGradients.cpp - derivatives of random programs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckGradients.h"
#include "KeptErrors.h"
#include "Ring.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Fuzz/Random.h"
#include "ft/Interpreter/FTInterpreter.h"
#include "ft/Pipelines/Pipelines.h"
#include "ft/Tools/RunProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;
using ::ft::rt::DType;
using ::ft::rt::HostArray;

namespace {
using Arrays = std::vector<HostArray>;
using Module = OwningOpRef<ModuleOp>;

class Gradients {
public:
  Gradients(Program &program, uint64_t seed, std::vector<Program> &derived)
      : program(program), seed(seed), derived(derived), context(program.module->getContext()),
        rng(llvm::xxh3_64bits("gradients " + program.name)) {}

  Verdict check();

private:
  bool choose();
  LogicalResult differentiate();
  LogicalResult differentiate(StringRef mode, Module &made);
  LogicalResult checkAt(unsigned binding);
  LogicalResult checkResults(StringRef what, const Arrays &found);
  LogicalResult checkDifferences();
  LogicalResult checkTranspose();
  FailureOr<Arrays> run(Module &module, StringRef suffix, const Arrays &arguments);
  FailureOr<Arrays> residuals(const Arrays &saved);
  HostArray draw(const HostArray &like);
  void keep(Module &module, StringRef suffix, const Arrays &arguments);

  LogicalResult fail(const std::string &stage, const std::string &message) {
    verdict = {Outcome::Failed, stage, message, binding};
    return failure();
  }

  Program &program;
  uint64_t seed;
  std::vector<Program> &derived;
  MLIRContext *context;
  Random rng;
  Verdict verdict;
  int binding = -1;

  /// Of the program and its derivatives; over integers where `exact`.
  Module plain, reverse, forward;
  bool exact = false;
  SmallVector<unsigned> wrt, floats; // numbers of arguments and of results
  std::string options;

  // Of one run.
  interp::Lengths lengths;
  Arrays values, results, tangents, moved, weights;
};
} // namespace

static bool isOfFloats(Type type) {
  auto list = dyn_cast<ListType>(type);
  auto tensor = dyn_cast<RankedTensorType>(list ? list.getElement() : type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// By which arguments, what is saved, and where states are: drawn by the program's name. False where nothing depends on floats.
bool Gradients::choose() {
  auto function = plain->lookupSymbol<func::FuncOp>(program.name);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isOfFloats(type))
      wrt.push_back(i);
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (isOfFloats(type))
      floats.push_back(i);
  if (wrt.empty() || floats.empty())
    return false;
  if (rng.percent(40)) {
    SmallVector<unsigned> some;
    for (unsigned number : wrt)
      if (rng.percent(60))
        some.push_back(number);
    if (!some.empty())
      wrt = some;
  }
  std::string numbers;
  for (unsigned number : wrt)
    numbers += (numbers.empty() ? "" : ",") + std::to_string(number);
  options = " wrt=" + numbers;
  if (!rng.percent(30))
    return true;
  Builder b(context);
  SmallVector<ComputeOp> folds;
  plain->walk([&](ComputeOp op) {
    if (!op.isMap() && rng.percent(60))
      folds.push_back(op);
  });
  for (ComputeOp op : folds) {
    SmallVector<int64_t> sizes{rng.between(1, 4)};
    if (rng.percent(25))
      sizes.insert(sizes.begin(), sizes.front() * 2);
    op->setDiscardableAttr(mlir::ft::names::checkpoint, b.getI64ArrayAttr(sizes));
  }
  return true;
}

LogicalResult Gradients::differentiate(StringRef mode, Module &made) {
  KeptErrors errors(context);
  made = plain->clone();
  std::string all = "function=" + program.name + " mode=" + mode.str() + options;
  if (mode == "reverse")
    all += std::string(" save=") + std::array{"auto", "auto", "states", "all"}[rng.below(4)];
  PassManager pm(context);
  auto note = [&](const Twine &message) { return fail("options of ft-differentiate", message.str()); };
  if (failed(buildDifferentiatePipeline(pm, all, note)))
    return failure();
  if (failed(pm.run(*made)) || failed(verify(*made)))
    return fail("differentiation, " + all, errors.text);
  return success();
}

LogicalResult Gradients::differentiate() {
  Module integers = plain->clone();
  exact = toIntegers(*integers).empty();
  if (failed(differentiate("reverse", reverse)) || failed(differentiate("forward", forward)))
    return failure();
  if (!exact)
    return success();
  for (Module *module : {&reverse, &forward}) {
    KeptErrors errors(context);
    std::string wrong = toIntegers(**module);
    if (!wrong.empty() || failed(verify(**module)))
      return fail("derivative of a polynomial", wrong.empty() ? errors.text : "has " + wrong);
  }
  plain = std::move(integers);
  return success();
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

HostArray Gradients::draw(const HostArray &like) {
  HostArray array = like;
  for (int64_t i = 0; i < array.numElements(); ++i)
    if (exact)
      array.setInt(i, static_cast<int64_t>(rng.next()));
    else
      array.setFloat(i, static_cast<double>(rng.between(-1000, 1000)) / 500);
  return array;
}

/// The sum of products of two sets of arrays; `size` becomes that of their absolute values. Integers wrap.
template <typename T>
static T product(const Arrays &a, const Arrays &b, double &size) {
  T total = 0;
  for (auto [x, y] : llvm::zip_equal(a, b))
    for (int64_t i = 0; i < x.numElements(); ++i) {
      T term = x.template as<T>()[i] * y.template as<T>()[i];
      total += term;
      size += std::abs(static_cast<double>(term));
    }
  return total;
}

FailureOr<Arrays> Gradients::run(Module &module, StringRef suffix, const Arrays &arguments) {
  KeptErrors errors(context);
  FailureOr<Arrays> found = interp::runFT(*module, program.name + suffix.str(), lengths, arguments);
  if (failed(found))
    (void)fail("interpreter, " + (suffix.empty() ? "the program" : suffix.drop_front().str()), errors.text);
  return found;
}

/// What indices are in their order, and where the run of each value ends.
static std::pair<HostArray, HostArray> group(const HostArray &indices, int64_t values) {
  std::vector<int64_t> order(indices.numElements());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return indices.getInt(a) < indices.getInt(b); });
  std::pair<HostArray, HostArray> made;
  (void)HostArray::create(DType::i64, {indices.numElements()}, made.first);
  (void)HostArray::create(DType::i64, {values}, made.second);
  std::copy(order.begin(), order.end(), made.first.as<int64_t>());
  for (int64_t value = 0; value < values; ++value)
    made.second.setInt(value, llvm::count_if(order, [&](int64_t at) { return indices.getInt(at) <= value; }));
  return made;
}

/// The first arguments of the backward function.
FailureOr<Arrays> Gradients::residuals(const Arrays &saved) {
  auto function = reverse->lookupSymbol<func::FuncOp>(program.name + "_backward");
  Arrays found;
  for (auto [place, text] : llvm::enumerate(function->getAttrOfType<ArrayAttr>(mlir::ft::names::residuals).getAsValueRange<StringAttr>())) {
    auto [kind, number] = text.split(' ');
    unsigned i = 0;
    if (number.getAsInteger(10, i))
      return fail("residuals", "'" + text.str() + "' names nothing");
    if (kind == "argument" || kind == "result" || kind == "saved") {
      found.push_back(kind == "argument" ? values[i] : kind == "result" ? saved[i] : saved[results.size() + i]);
      continue;
    }
    auto list = cast<ListType>(function.getArgumentTypes()[place]);
    std::optional<int64_t> length = list.getLength().evaluate([&](StringAttr name) -> std::optional<int64_t> {
      auto it = lengths.find(name.getValue());
      return it == lengths.end() ? std::nullopt : std::optional<int64_t>(it->second);
    });
    if (!length)
      return fail("residuals", "the length of '" + text.str() + "' is not known");
    auto grouped = group(values[i], *length);
    found.push_back(kind == "order" ? grouped.first : grouped.second);
  }
  return found;
}

/// A derived function with its arguments, for engines to be compared on.
void Gradients::keep(Module &module, StringRef suffix, const Arrays &arguments) {
  std::string name = program.name + suffix.str();
  if (binding == 0) {
    Program own;
    own.name = name;
    own.module = ModuleOp::create(UnknownLoc::get(context));
    own.module->push_back(module->lookupSymbol(name)->clone());
    derived.push_back(std::move(own));
  }
  Program *kept = nullptr;
  for (Program &one : derived)
    if (one.name == name)
      kept = &one;
  auto function = kept->module->lookupSymbol<func::FuncOp>(name);
  Binding bound;
  for (StringAttr length : getBoundNames(function.getArgumentTypes()))
    bound.push_back({length.str(), lengths.lookup(length.getValue())});
  kept->bindings.push_back(bound);
  kept->arguments.push_back(arguments);
}

//===----------------------------------------------------------------------===//
// Laws
//===----------------------------------------------------------------------===//

static std::string numbersOf(const HostArray &array, int64_t at) {
  return ::ft::rt::isFloat(array.dtype) ? std::to_string(array.getFloat(at)) : std::to_string(array.getInt(at));
}

/// That a derived function gives the program's results.
LogicalResult Gradients::checkResults(StringRef what, const Arrays &found) {
  for (auto [i, wanted] : llvm::enumerate(results)) {
    const HostArray &mine = found[i];
    if (mine.dtype != wanted.dtype || mine.shape != wanted.shape)
      return fail("results of " + what.str(), "result " + std::to_string(i) + " is " + mine.describe() + ", expected " + wanted.describe());
    bool floats = ::ft::rt::isFloat(wanted.dtype);
    for (int64_t at = 0; at < wanted.numElements(); ++at) {
      double error = floats ? std::abs(mine.getFloat(at) - wanted.getFloat(at)) : mine.getInt(at) != wanted.getInt(at);
      if (!(error <= (floats ? 1e-9 * (1 + std::abs(wanted.getFloat(at))) : 0)))
        return fail("results of " + what.str(), "result " + std::to_string(i) + " is " + numbersOf(mine, at) + " at " +
                                                    std::to_string(at) + ", expected " + numbersOf(wanted, at));
    }
  }
  return success();
}

/// f(a + 2^32 v) - f(a) = 2^32 Jv.
LogicalResult Gradients::checkDifferences() {
  constexpr unsigned half = 32;
  Arrays more = values;
  for (auto [k, number] : llvm::enumerate(wrt))
    for (int64_t i = 0; i < more[number].numElements(); ++i)
      more[number].as<uint64_t>()[i] += tangents[k].as<uint64_t>()[i] << half;
  FailureOr<Arrays> there = run(plain, "", more);
  if (failed(there))
    return failure();
  for (auto [k, number] : llvm::enumerate(floats))
    for (int64_t i = 0; i < results[number].numElements(); ++i) {
      uint64_t difference = (*there)[number].as<uint64_t>()[i] - results[number].as<uint64_t>()[i];
      if (difference != moved[k].as<uint64_t>()[i] << half)
        return fail("jvp against differences", "result " + std::to_string(number) + " at " + std::to_string(i) + ": the tangent is " +
                                                   numbersOf(moved[k], i) + ", differences give " +
                                                   std::to_string(difference >> half) + " modulo 2^32");
    }
  return success();
}

/// <Jv, w> = <v, J'w>.
LogicalResult Gradients::checkTranspose() {
  FailureOr<Arrays> outputs = run(reverse, "_forward", values);
  if (failed(outputs) || failed(checkResults("forward", *outputs)))
    return failure();
  keep(reverse, "_forward", values);
  FailureOr<Arrays> arguments = residuals(*outputs);
  if (failed(arguments))
    return failure();
  llvm::append_range(*arguments, weights);
  FailureOr<Arrays> gradients = run(reverse, "_backward", *arguments);
  if (failed(gradients))
    return failure();
  keep(reverse, "_backward", *arguments);
  for (auto [k, number] : llvm::enumerate(wrt))
    if ((*gradients)[k].shape != values[number].shape)
      return fail("vjp", "the gradient of argument " + std::to_string(number) + " is " + (*gradients)[k].describe());
  double size = 1;
  if (exact) {
    uint64_t left = product<uint64_t>(moved, weights, size), right = product<uint64_t>(tangents, *gradients, size);
    if (left != right)
      return fail("vjp against jvp", "<Jv, w> = " + std::to_string(left) + ", <v, J'w> = " + std::to_string(right) + " modulo 2^64");
    return success();
  }
  double left = product<double>(moved, weights, size), right = product<double>(tangents, *gradients, size);
  if (!(std::abs(left - right) <= 1e-10 * size))
    return fail("vjp against jvp", "<Jv, w> = " + std::to_string(left) + ", <v, J'w> = " + std::to_string(right));
  return success();
}

LogicalResult Gradients::checkAt(unsigned number) {
  binding = static_cast<int>(number);
  {
    KeptErrors errors(context);
    FailureOr<tools::Entry> entry = tools::findEntry(*plain, program.name);
    if (failed(entry))
      return fail("entry", errors.text);
    tools::DataOptions dataOptions;
    dataOptions.seed = seed + number;
    dataOptions.lengths = program.bindings[number];
    FailureOr<tools::Data> data = tools::makeData(*entry, dataOptions);
    if (failed(data))
      return fail("data", errors.text);
    lengths.clear();
    for (auto &[name, value] : data->lengths)
      lengths[name.getValue()] = value;
    values = std::move(data->arguments);
  }
  FailureOr<Arrays> found = run(plain, "", values);
  if (failed(found))
    return failure();
  results = std::move(*found);
  tangents.clear();
  weights.clear();
  for (unsigned i : wrt)
    tangents.push_back(draw(values[i]));
  for (unsigned i : floats)
    weights.push_back(draw(results[i]));
  Arrays both = values;
  llvm::append_range(both, tangents);
  FailureOr<Arrays> jvp = run(forward, "_jvp", both);
  if (failed(jvp) || failed(checkResults("jvp", *jvp)))
    return failure();
  keep(forward, "_jvp", both);
  moved.assign(jvp->begin() + static_cast<int64_t>(results.size()), jvp->end());
  if (exact && failed(checkDifferences()))
    return failure();
  return checkTranspose();
}

Verdict Gradients::check() {
  plain = program.module->clone();
  if (!choose())
    return {Outcome::Refused, "gradients", "no float depends on floats", -1};
  if (failed(differentiate()))
    return verdict;
  if (program.bindings.empty())
    program.bindings.emplace_back();
  for (unsigned i = 0; i < program.bindings.size(); ++i)
    if (failed(checkAt(i)))
      return verdict;
  return verdict;
}

Verdict mlir::ft::fuzz::checkGradients(Program &program, uint64_t seed, std::vector<Program> &derived) {
  return Gradients(program, seed, derived).check();
}
