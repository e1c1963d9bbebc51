//===- ExploreDataflow.cpp - etdg-explore-dataflow ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches the dataflow of each graph for a machine's buffer, writes order and
// tiles as schedules of the graph's nests (WriteSchedules.h), and says, as remarks
// at the graph, what each tensor moves (MA) and holds (BR), which tensors are
// fused, and the loop nests.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/ETDGToDataflow/ETDGToDataflow.h"
#include "ft/Conversion/ETDGToDataflow/Passes.h"

#include "WriteSchedules.h"
#include "ft/Conversion/ETDGToDataflow/MachineAccelerator.h"
#include "ft/Dataflow/Search/Objective.h"
#include "ft/Dataflow/Report/Report.h"
#include "ft/Machine/Machine.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::etdg;
namespace df = ::ft::dataflow;

namespace {

struct ExploreDataflow : PassWrapper<ExploreDataflow, OperationPass<GraphOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExploreDataflow)
  ExploreDataflow() = default;
  ExploreDataflow(const ExploreDataflow &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "etdg-explore-dataflow"; }
  StringRef getDescription() const final {
    return "Search fusion, order and tiles of a graph for a buffer (DAT), write them as schedules and say what they move";
  }

  void runOnOperation() final {
    GraphOp graph = getOperation();
    if (graph.isExternal())
      return;
    if (failed(readMachine()))
      return signalPassFailure();
    if (isAgain && !hasOpenNests(graph))
      return;
    DataflowOrigin origin;
    origin.isOptional = isOptional;
    origin.isQuiet = isAgain || isQuiet;
    FailureOr<df::Graph> made = convertToDataflow(graph, {}, &origin);
    if (failed(made) || made->operators.empty() || (isQuiet && made->operators.size() > mostOperators)) {
      if (!isOptional)
        signalPassFailure();
      return;
    }
    std::vector<df::exact::GroupResult> groups;
    std::optional<df::Outcome> outcome = rules == "artifact" ? byArtifact(*made, elements)
                                         : rules == "exact"  ? byExact(*made, groups)
                                                             : wrongRules();
    if (!outcome) {
      if (!isOptional)
        signalPassFailure();
      return;
    }
    if (!isAgain && !isQuiet)
      report(*outcome);
    if (write)
      writeSchedules(graph, *made, origin, groups, {units, elements, isAgain, isQuiet});
  }

  std::optional<df::Outcome> wrongRules() {
    getOperation().emitError() << "etdg-explore-dataflow: expected rules=exact or rules=artifact, found '"
                               << rules << "'";
    return std::nullopt;
  }

  /// The buffer, and the machine if one is named.
  LogicalResult readMachine() {
    elements = buffer;
    units = 1;
    if (machine.empty())
      return elements > 0 ? success()
                          : LogicalResult(getOperation().emitError()
                                          << "etdg-explore-dataflow: expected machine=NAME or buffer=ELEMENTS");
    llvm::Expected<std::shared_ptr<const mlir::ft::Machine>> found = mlir::ft::Machine::find(machine);
    if (!found)
      return getOperation().emitError() << llvm::toString(found.takeError());
    accelerator = mlir::ft::toAccelerator(**found);
    units = (*found)->units;
    if (elements <= 0)
      elements = accelerator.globalElements();
    if (elements <= 0)
      return getOperation().emitError() << "machine '" << machine << "' has no buffer";
    return success();
  }

  std::optional<df::Outcome> byArtifact(const df::Graph &graph, int64_t elements) {
    std::string error;
    df::Graph products = df::artifact::withoutObstacles(graph, error);
    if (!error.empty()) {
      getOperation().emitError() << error;
      return std::nullopt;
    }
    df::artifact::Options options;
    options.buffer = elements;
    df::artifact::Result result = df::artifact::search(products, options);
    if (result.chains.empty()) {
      tooSmall(products.operators[result.misfit].name, elements, result.needed);
      return std::nullopt;
    }
    return df::describe(products, result, options);
  }

  std::optional<df::Outcome> byExact(const df::Graph &graph, std::vector<df::exact::GroupResult> &groups) {
    df::exact::Options options;
    options.buffer = elements;
    options.budget = isQuiet ? 0 : double(budget); // what is compiled depends on no clock
    std::optional<df::exact::Fusion> parsedFusion = df::exact::parseFusion(fusion);
    std::optional<df::Objective> parsed = df::parseObjective(std::string(objective));
    if (!parsedFusion || !parsed) {
      getOperation().emitError() << "etdg-explore-dataflow: unknown "
                                 << (parsed ? "fusion '" + fusion : "objective '" + objective) << "'";
      return std::nullopt;
    }
    options.fusion = *parsedFusion;
    if (*parsed != df::Objective::Traffic && (machine.empty() || accelerator.units == 0)) {
      getOperation().emitError() << "etdg-explore-dataflow: objective=" << objective
                                 << " needs machine=NAME of an accelerator (kind array)";
      return std::nullopt;
    }
    df::exact::Result result = *parsed == df::Objective::Traffic
                                   ? df::exact::search(graph, options)
                                   : df::searchObjective(graph, options, accelerator, *parsed).schedule;
    if (result.groups.empty()) {
      if (!isAgain && !isQuiet)
        (isOptional ? getOperation().emitRemark() : getOperation().emitError())
            << df::describeMisfit(graph, result, options);
      return std::nullopt;
    }
    groups = result.groups;
    return df::describe(graph, result, options);
  }

  void tooSmall(StringRef op, int64_t elements, int64_t needed) {
    (isOptional ? getOperation().emitRemark() : getOperation().emitError()) << "no schedule fits into a buffer of " << elements
                               << " elements: operator '" << op << "' alone needs at least " << needed;
  }

  void report(const df::Outcome &outcome) {
    GraphOp graph = getOperation();
    InFlightDiagnostic whole = mlir::emitRemark(graph.getLoc());
    whole << "dataflow: " << outcome.traffic << " elements move, at least " << outcome.lowerBound
          << "; the buffer holds " << outcome.footprint << " of " << outcome.buffer;
    for (const df::GroupOutcome &group : outcome.groups)
      whole.attachNote(graph.getLoc()) << "group moves " << group.traffic << " and holds " << group.footprint << "\n"
                         << group.nest;
    whole.report();
    for (const df::OperatorOutcome &op : outcome.operators)
      for (const df::OperandOutcome &operand : op.operands)
        mlir::emitRemark(graph.getLoc()) << op.name << " " << (operand.isOutput ? "writes " : "reads ")
                           << operand.tensor << ": MA " << operand.traffic << ", BR " << operand.block
                           << (operand.fused ? ", fused" : "");
  }

  Option<std::string> machine{*this, "machine", llvm::cl::desc("A machine, by name or file")};
  Option<int64_t> buffer{*this, "buffer", llvm::cl::desc("Elements of the buffer, in place of the machine's"),
                         llvm::cl::init(0)};
  Option<std::string> rules{*this, "rules", llvm::cl::desc("exact or artifact"), llvm::cl::init("exact")};
  Option<std::string> objective{*this, "objective", llvm::cl::desc("What is to be least: traffic, or on an array time or energy"), llvm::cl::init("traffic")};
  Option<bool> write{*this, "write", llvm::cl::desc("Write schedules, not only remarks (rules=exact)"), llvm::cl::init(true)};
  Option<std::string> fusion{*this, "fusion", llvm::cl::desc("intra, tangram, flat, dat2 or dat"),
                             llvm::cl::init("dat")};
  Option<double> budget{*this, "budget", llvm::cl::desc("Seconds for the search"), llvm::cl::init(5)};

  Option<bool> isOptional{*this, "optional", llvm::cl::desc("A graph that can't be explored stays as it is, with a remark"),
                          llvm::cl::init(false)};

  Option<bool> isAgain{*this, "again",
                       llvm::cl::desc("After coarsening: what has no schedule gets one of its own, with whatever the search would fuse it; nothing "
                                      "is specified for the rest"),
                       llvm::cl::init(false)};

  Option<bool> isQuiet{*this, "quiet",
                       llvm::cl::desc("Say nothing but in the compiler's own remarks, and search until the optimum is proved, of "
                                      "graphs of a few operators"),
                       llvm::cl::init(false)};

  /// Operators of a graph of which the optimum is proved in a part of what compiling it takes.
  static constexpr size_t mostOperators = 8;

  // Of the run at hand.
  df::Accelerator accelerator;
  int64_t elements = 0, units = 1;
};

} // namespace

std::unique_ptr<Pass> etdg::createOptionalExploreDataflow(StringRef machine, bool isAgain, bool isQuiet) {
  auto pass = std::make_unique<ExploreDataflow>();
  pass->machine = machine.str();
  pass->isOptional = true;
  pass->isAgain = isAgain;
  pass->isQuiet = isQuiet;
  return pass;
}

void etdg::registerExploreDataflowPass() { PassRegistration<ExploreDataflow>(); }
