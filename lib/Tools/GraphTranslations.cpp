//===- GraphTranslations.cpp - task dependence graphs as data and drawings ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that holds functions over lists, and no graph yet, is converted first.
//
//===----------------------------------------------------------------------===//
#include "ft/Tools/ToolHelp.h"
#include "Translations.h"

#include "ft/Conversion/ETDGToDataflow/Passes.h"
#include "ft/InitAll.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Pipelines/Pipelines.h"
#include "ft/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace mlir::etdg;

/// A copy of the module in which functions are graphs.
static OwningOpRef<ModuleOp> toGraphs(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (copy->getOps<GraphOp>().empty()) {
    PassManager pm(copy->getContext());
    ft::buildToETDGPipeline(pm);
    if (failed(pm.run(*copy)))
      return {};
  }
  if (copy->getOps<GraphOp>().empty()) {
    module.emitError() << "expected an etdg.graph, or a function over lists to make one of";
    return {};
  }
  return copy;
}

/// A copy of the graphs after the reordering; null where they are scheduled already.
static OwningOpRef<ModuleOp> toOrdered(ModuleOp graphs, bool &failed) {
  bool scheduled = false;
  graphs.walk([&](Operation *op) {
    scheduled |= static_cast<bool>(scheduleOf(op));
  });
  if (scheduled)
    return {};
  OwningOpRef<ModuleOp> copy = graphs.clone();
  PassManager pm(copy->getContext());
  ft::PipelineOptions phases;
  phases.from = ft::Phase::ETDG;
  phases.to = ft::Phase::Reorder;
  phases.dataflow = false;
  phases.validate = false;
  phases.isContinued = true;
  ft::buildPipeline(pm, phases);
  failed = mlir::failed(pm.run(*copy));
  return copy;
}

static LogicalResult parseLengths(ModuleOp module, ArrayRef<std::string> given,
                                  LengthValues &values) {
  for (StringRef text : given) {
    auto [name, value] = text.split('=');
    int64_t number;
    if (name.empty() || value.getAsInteger(10, number) || number < 0)
      return module.emitError() << "expected a length as NAME=VALUE with VALUE at least 0, found '"
                                << text << "'";
    values[name] = number;
  }
  return success();
}

/// A name that no graph has is a slip.
static LogicalResult checkNames(ModuleOp module, ModuleOp graphs, const LengthValues &values) {
  for (auto &value : values) {
    bool known = false;
    for (GraphOp graph : graphs.getOps<GraphOp>())
      for (StringAttr name : graph.getSymbolNames())
        known |= name.getValue() == value.first();
    if (!known)
      return module.emitError() << "--dim names '" << value.first() << "', a length that no graph has";
  }
  return success();
}

/// What a translation starts from: lengths that some graph has, and the module's graphs.
static OwningOpRef<ModuleOp> prepare(ModuleOp module, ArrayRef<std::string> given, LengthValues &values) {
  if (failed(parseLengths(module, given, values)))
    return {};
  OwningOpRef<ModuleOp> graphs = toGraphs(module);
  if (!graphs || failed(checkNames(module, *graphs, values)))
    return {};
  return graphs;
}

/// From how many operations for each element on statements are compute-intensive: of the first machine that is named, else of a CPU.
static FailureOr<double> findThreshold(ModuleOp module) {
  ArrayRef<std::string> machines = ft::tools::getMachines();
  FailureOr<ft::MachineRef> machine = ft::findMachine(module.getLoc(), machines.empty() ? StringRef() : StringRef(machines.front()), "cpu");
  if (failed(machine))
    return failure();
  if ((*machine)->groups.computeIntensive == 0)
    return module.emitError() << "machine '" << (*machine)->reference << "' has no 'planning.compute_intensive', which arrays have not";
  return (*machine)->groups.computeIntensive;
}

static LogicalResult translateToJson(ModuleOp module, ArrayRef<std::string> lengths, llvm::raw_ostream &os) {
  LengthValues values;
  OwningOpRef<ModuleOp> graphs = prepare(module, lengths, values);
  FailureOr<double> threshold = findThreshold(module);
  if (!graphs || failed(threshold))
    return failure();
  writeJson(*graphs, os, values, *threshold);
  return success();
}

static LogicalResult translateToDataflow(ModuleOp module, ArrayRef<std::string> lengths, llvm::raw_ostream &os,
                                         bool asTable) {
  LengthValues values;
  OwningOpRef<ModuleOp> graphs = prepare(module, lengths, values);
  if (!graphs)
    return failure();
  SmallVector<GraphOp> inside(graphs->getOps<GraphOp>());
  if (inside.size() != 1)
    return module.emitError() << "expected one graph, found " << inside.size();
  return writeDataflow(inside.front(), values, os, asTable);
}

static LogicalResult translateToHtml(ModuleOp module, ArrayRef<std::string> lengths, llvm::raw_ostream &os) {
  LengthValues values;
  OwningOpRef<ModuleOp> before = prepare(module, lengths, values);
  if (!before)
    return failure();
  bool wrong = false;
  OwningOpRef<ModuleOp> after = toOrdered(*before, wrong);
  if (wrong)
    return failure();
  FailureOr<double> threshold = findThreshold(module);
  if (failed(threshold))
    return failure();
  writeHtml(*before, after ? *after : ModuleOp(), os, values, *threshold);
  return success();
}

static LogicalResult translateToDot(ModuleOp module, llvm::raw_ostream &os) {
  OwningOpRef<ModuleOp> graphs = toGraphs(module);
  if (!graphs)
    return failure();
  writeDot(*graphs, os);
  return success();
}

static LogicalResult translateToSharding(ModuleOp module, llvm::raw_ostream &os) {
  OwningOpRef<ModuleOp> graphs = toGraphs(module);
  if (!graphs)
    return failure();
  writeSharding(*graphs, os);
  return success();
}

static LogicalResult translateToTensorExpressions(ModuleOp module, llvm::raw_ostream &os) {
  OwningOpRef<ModuleOp> graphs = toGraphs(module);
  FailureOr<double> threshold = findThreshold(module);
  if (!graphs || failed(threshold))
    return failure();
  writeTensorExpressions(*graphs, os, *threshold);
  return success();
}

void mlir::ft::tools::registerGraphTranslations() {
  static llvm::cl::list<std::string> lengths(
      "dim", llvm::cl::desc("A length, for the bytes that --etdg-to-json gives and the points of --etdg-to-html"),
      llvm::cl::value_desc("NAME=VALUE"), llvm::cl::cat(ft::tools::ownOptions()));
  auto dialects = [](DialectRegistry &registry) { ft::registerAllDialects(registry); };
  static TranslateFromMLIRRegistration json(
      "etdg-to-json", "task dependence graphs as JSON: nodes, domains, maps, depth, dimension, bytes",
      [](ModuleOp module, llvm::raw_ostream &os) { return translateToJson(module, lengths, os); }, dialects);
  static TranslateFromMLIRRegistration dataflow(
      "etdg-to-dataflow", "a task dependence graph as the operator graph that ft-dataflow reads",
      [](ModuleOp module, llvm::raw_ostream &os) { return translateToDataflow(module, lengths, os, /*asTable=*/false); },
      dialects);
  static TranslateFromMLIRRegistration dataflowTable(
      "etdg-to-dataflow-table", "the same operator graph, for people",
      [](ModuleOp module, llvm::raw_ostream &os) { return translateToDataflow(module, lengths, os, /*asTable=*/true); },
      dialects);
  static TranslateFromMLIRRegistration html(
      "etdg-to-html", "task dependence graphs and their iteration spaces as a page to look at",
      [](ModuleOp module, llvm::raw_ostream &os) { return translateToHtml(module, lengths, os); }, dialects);
  static TranslateFromMLIRRegistration sharding(
      "etdg-to-sharding", "how each length of a task dependence graph can be divided over ranks, and what they exchange",
      translateToSharding, dialects);
  static TranslateFromMLIRRegistration expressions(
      "etdg-to-tensor-expressions", "which elements of a task dependence graph depend on which, what tensors are shared by, and which tiles edges need",
      translateToTensorExpressions, dialects);
  static TranslateFromMLIRRegistration dot("etdg-to-dot", "task dependence graphs as drawings for Graphviz",
                                           translateToDot, dialects);
}
