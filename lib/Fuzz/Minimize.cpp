//===- Minimize.cpp - the smallest program that still fails ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy: each change is tried on a copy and kept if the copy fails at the same
// stage. Copies that do not verify fail elsewhere, so no change needs to be legal.
//
//===----------------------------------------------------------------------===//

#include "ft/Fuzz/Minimize.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <chrono>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;

namespace {
using Module = OwningOpRef<ModuleOp>;

struct Minimizer {
  Program &program;
  Verdict &verdict;
  CheckOptions options;
  std::chrono::steady_clock::time_point end;

  func::FuncOp functionOf(Module &module) {
    return module->lookupSymbol<func::FuncOp>(program.name);
  }
  bool tryModule(Module candidate, const Binding &binding);
  bool tryResults();
  bool tryStatements();
  bool tryArguments();
  bool tryLengths();
  bool tryCanonical();
};
} // namespace

/// Keeps the candidate if it fails as the program does.
bool Minimizer::tryModule(Module candidate, const Binding &binding) {
  if (!candidate || std::chrono::steady_clock::now() > end)
    return false;
  Program copy;
  copy.name = program.name;
  copy.module = std::move(candidate);
  copy.bindings.push_back(binding);
  StageTimes times;
  std::vector<Verdict> verdicts =
      checkPrograms(copy.module->getContext(), MutableArrayRef<Program>(&copy, 1), options, times);
  if (verdicts.front().outcome != Outcome::Failed || verdicts.front().stage != verdict.stage)
    return false;
  program.module = std::move(copy.module);
  program.bindings = std::move(copy.bindings);
  verdict = verdicts.front();
  return true;
}

/// Returns fewer values.
bool Minimizer::tryResults() {
  bool changed = false;
  for (unsigned i = functionOf(program.module).getNumResults(); i-- > 0;) {
    if (functionOf(program.module).getNumResults() < 2)
      break;
    Module copy = program.module->clone();
    func::FuncOp function = functionOf(copy);
    Operation *terminator = function.getBody().front().getTerminator();
    terminator->eraseOperand(i);
    function.setType(FunctionType::get(copy->getContext(), function.getArgumentTypes(),
                                       terminator->getOperandTypes()));
    eraseDeadStatements(function);
    changed |= tryModule(std::move(copy), program.bindings.front());
  }
  return changed;
}

/// Replaces the results of one statement: by an operand, by a zero, by a new argument.
bool Minimizer::tryStatements() {
  bool changed = false;
  enum Choice { Operand, Zero, Argument };
  for (unsigned index = 0;; ++index) {
    bool exists = false;
    for (Choice choice : {Operand, Zero, Argument}) {
      Module copy = program.module->clone();
      func::FuncOp function = functionOf(copy);
      SmallVector<Operation *> statements;
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (op != function && !op->hasTrait<OpTrait::IsTerminator>() &&
            !op->hasTrait<OpTrait::ConstantLike>() && op->getNumResults() > 0)
          statements.push_back(op);
      });
      if (index >= statements.size())
        break;
      exists = true;
      Operation *op = statements[index];
      OpBuilder b(op);
      for (Value result : op->getResults()) {
        if (result.use_empty())
          continue;
        Value other;
        if (choice == Operand) {
          for (Value operand : op->getOperands())
            if (operand.getType() == result.getType())
              other = operand;
        } else if (auto tensor = dyn_cast<RankedTensorType>(result.getType());
                   tensor && choice == Zero) {
          other = arith::ConstantOp::create(b, op->getLoc(), b.getZeroAttr(tensor));
        } else if (choice == Argument && isValueType(result.getType()) &&
                   function.getNumArguments() < 24) {
          unsigned at = function.getNumArguments();
          if (succeeded(function.insertArgument(at, result.getType(), {}, op->getLoc())))
            other = function.getArgument(at);
        }
        if (other)
          result.replaceAllUsesWith(other);
      }
      eraseDeadStatements(function);
      if (tryModule(std::move(copy), program.bindings.front())) {
        changed = true;
        break;
      }
    }
    if (!exists)
      return changed;
  }
}

bool Minimizer::tryArguments() {
  bool changed = false;
  for (unsigned i = functionOf(program.module).getNumArguments(); i-- > 0;) {
    if (!functionOf(program.module).getArgument(i).use_empty())
      continue;
    Module copy = program.module->clone();
    if (succeeded(functionOf(copy).eraseArgument(i)))
      changed |= tryModule(std::move(copy), program.bindings.front());
  }
  return changed;
}

bool Minimizer::tryLengths() {
  bool changed = false;
  for (unsigned i = 0; i < program.bindings.front().size(); ++i)
    for (int64_t value : {0, 1, 2, 3}) {
      Binding binding = program.bindings.front();
      if (value >= binding[i].second)
        break;
      binding[i].second = value;
      if (tryModule(program.module->clone(), binding)) {
        changed = true;
        break;
      }
    }
  return changed;
}

/// Drops results, states and lists that nothing uses.
bool Minimizer::tryCanonical() {
  Module copy = program.module->clone();
  PassManager pm(copy->getContext());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  auto count = [](ModuleOp module) {
    unsigned n = 0;
    module.walk([&](Operation *op) { n += 1 + op->getNumResults() + op->getNumOperands(); });
    return n;
  };
  if (failed(pm.run(*copy)) || count(*copy) >= count(*program.module))
    return false;
  return tryModule(std::move(copy), program.bindings.front());
}

void mlir::ft::fuzz::minimize(Program &program, Verdict &verdict, CheckOptions options,
                              double seconds) {
  if (verdict.binding >= 0)
    program.bindings = {program.bindings[verdict.binding]};
  else
    program.bindings.resize(1);
  // Only what the stage needs.
  StringRef stage = verdict.stage;
  options.roundTrip = stage.contains("form") || stage.contains("verification");
  options.verifyGraph = stage.contains("etdg-verify");
  options.graphInterpreter = stage.contains("graph interpreter");
  options.cpu = stage.contains("CPU");
  auto end = std::chrono::steady_clock::now() +
             std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  Minimizer minimizer{program, verdict, options, end};
  for (bool changed = true; changed && std::chrono::steady_clock::now() < end;) {
    changed = minimizer.tryCanonical();
    changed |= minimizer.tryResults();
    changed |= minimizer.tryLengths();
    changed |= minimizer.tryStatements();
    changed |= minimizer.tryArguments();
  }
}
