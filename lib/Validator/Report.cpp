//===- Report.cpp - what the validator says -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal errors with a point that shows them, a note at the other end, and the
// graph in a file; of a graph that was given, errors in it.
//
//===----------------------------------------------------------------------===//
#include "Checks.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;

void Checks::writeReproducer() {
  if (!options.writeReproducer || options.isGiven || !reproducer.empty())
    return;
  SmallString<128> path(options.reproducer);
  std::error_code code;
  int descriptor = -1;
  if (path.empty())
    code = llvm::sys::fs::createTemporaryFile("ft-validate", "mlir", descriptor, path);
  else
    code = llvm::sys::fs::openFileForWrite(path, descriptor);
  if (code) {
    reproducer = "(it could not be written to " + std::string(path) + ": " + code.message() + ")";
    return;
  }
  llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
  file << "// ft-opt --pass-pipeline='builtin.module(etdg.graph(etdg-validate))'\n"
       << "// Lengths are those of the error's example, or any others.\n";
  // With aliases: inside of an attribute of ours no set can be parsed.
  OwningOpRef<ModuleOp> module = ModuleOp::create(graph.getLoc());
  module->push_back(graph->clone());
  module->print(file);
  file << "\n";
  file.close();
  if (file.has_error()) {
    reproducer = "(it could not be written to " + std::string(path) + ")";
    file.clear_error();
    return;
  }
  reproducer = std::string(path);
}

/// What depends on the order in which iterations run.
static bool isOfOrder(StringRef number) {
  return llvm::is_contained({"T2", "T8", "T10", "T11", "T13"}, number);
}

void Checks::report(Finding finding) {
  if (isDone())
    return;
  ++numErrors;
  InFlightDiagnostic diag = mlir::emitError(finding.op->getLoc());
  if (!options.isGiven)
    diag << "internal error: " << (options.phase.empty() ? std::string() : "after phase '" + options.phase + "': ");
  else if (isOfOrder(finding.number))
    diag << "the schedule breaks a dependence: ";
  diag << "(" << finding.number << ") ";
  if (auto block = dyn_cast<BlockOp>(finding.op))
    diag << describeBlock(block) << ": ";
  diag << finding.message;
  if (!finding.example.empty())
    diag << "; for example at " << finding.example;
  if (finding.otherEnd)
    diag.attachNote(*finding.otherEnd) << finding.note;
  if (numErrors == 1) {
    writeReproducer();
    if (!reproducer.empty())
      diag.attachNote(graph.getLoc())
          << "this is a bug in the compiler; the graph is in " << reproducer;
  }
}

void Checks::reportOpen(Operation *op) {
  report({op, "T0", "numbers are larger than 2^61: nothing is proved", "", std::nullopt, ""});
}

std::string Checks::sample(const Shown &shown) {
  // All lengths are shown, those that the question did not depend on, too.
  Conjunction set = shown.set;
  set.add(model.getFacts());
  std::optional<SmallVector<int64_t>> point =
      findSample(set.toPolyhedron(shown.variables, model.getSpace().size()));
  return point ? sampleToString(*point, shown.names, model.getSpace()) : "";
}

Checks::Shown Checks::show(const Conjunction &set, const Access &access) {
  Shown shown{set, {}, access.names};
  for (unsigned i = 0; i < access.numPoint; ++i)
    shown.variables.push_back(model.getNumShared() + i);
  return shown;
}

void Checks::showPoint(Shown &shown, const Access &access, ArrayRef<Row> point) {
  for (auto [row, name] : llvm::zip(point, access.names)) {
    unsigned v = shown.set.addVar();
    Row equal = row;
    equal.add(v, -1);
    shown.set.addEq(equal);
    shown.variables.push_back(v);
    shown.names.push_back(StringAttr::get(name.getContext(), name.getValue() + "'"));
  }
}

bool Checks::expectEmpty(const Conjunction &set, Operation *op, llvm::function_ref<void()> fn) {
  switch (set.isEmpty()) {
  case Emptiness::Empty:
    return true;
  case Emptiness::NotEmpty:
    if (model.hasProducts() && model.forEachCase(set, [](const Conjunction &part) { return part.isEmpty() == Emptiness::Empty; }))
      return true;
    fn();
    return false;
  case Emptiness::Open:
    reportOpen(op);
    return false;
  }
  return false;
}

std::string Checks::whose(const Access &access) {
  std::string text = access.describe();
  return access.leaf ? text + " of " + describeBlock(access.leaf->block) : text;
}
