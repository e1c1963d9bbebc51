//===- ExploreDataflow.cpp - etdg-explore-dataflow ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches the dataflow of each graph for a machine's buffer and says, as
// remarks at the graph, what each tensor moves (MA) and holds (BR), which tensors
// are fused, and the loop nests. It changes nothing.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/ETDGToDataflow/ETDGToDataflow.h"
#include "ft/Conversion/ETDGToDataflow/Passes.h"

#include "ft/Dataflow/Report.h"
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
    return "Search fusion, order and tiles of a graph for a buffer (DAT), and say what they move";
  }

  void runOnOperation() final {
    GraphOp graph = getOperation();
    if (graph.isExternal())
      return;
    int64_t elements = buffer;
    if (elements <= 0 && failed(machineBuffer(elements)))
      return signalPassFailure();
    FailureOr<df::Graph> made = convertToDataflow(graph, {});
    if (failed(made))
      return signalPassFailure();
    std::optional<df::Outcome> outcome = rules == "artifact" ? byArtifact(*made, elements)
                                         : rules == "exact"  ? byExact(*made, elements)
                                                             : wrongRules();
    if (!outcome)
      return signalPassFailure();
    report(*outcome);
    markAllAnalysesPreserved();
  }

  std::optional<df::Outcome> wrongRules() {
    getOperation().emitError() << "etdg-explore-dataflow: expected rules=exact or rules=artifact, found '"
                               << rules << "'";
    return std::nullopt;
  }

  LogicalResult machineBuffer(int64_t &elements) {
    if (machine.empty())
      return getOperation().emitError()
             << "etdg-explore-dataflow: expected machine=NAME or buffer=ELEMENTS";
    llvm::Expected<std::shared_ptr<const mlir::ft::Machine>> found = mlir::ft::Machine::find(machine);
    if (!found)
      return getOperation().emitError() << llvm::toString(found.takeError());
    // The buffer that a schedule shares: a block's shared memory, a core's last own cache, an array's
    // global buffer.
    const mlir::ft::Machine &model = **found;
    const mlir::ft::Machine::Level *level = nullptr;
    if (model.kind == mlir::ft::Machine::Kind::GPU)
      level = model.findLevel("shared");
    else if (model.kind == mlir::ft::Machine::Kind::Array)
      level = model.findLevel("global");
    else
      for (const mlir::ft::Machine::Level &entry : model.levels)
        if (!entry.shared && entry.bytes > 0)
          level = &entry;
    if (!level || level->bytes <= 0)
      return getOperation().emitError() << "machine '" << machine << "' has no buffer";
    elements = level->bytes / (model.elementBytes > 0 ? model.elementBytes : 4);
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

  std::optional<df::Outcome> byExact(const df::Graph &graph, int64_t elements) {
    df::exact::Options options;
    options.buffer = elements;
    options.budget = budget;
    if (std::optional<df::exact::Fusion> parsed = df::exact::parseFusion(fusion)) {
      options.fusion = *parsed;
    } else {
      getOperation().emitError() << "etdg-explore-dataflow: unknown fusion '" << fusion << "'";
      return std::nullopt;
    }
    df::exact::Result result = df::exact::search(graph, options);
    if (result.groups.empty()) {
      tooSmall(graph.operators[result.misfit].name, elements, result.needed);
      return std::nullopt;
    }
    return df::describe(graph, result, options);
  }

  void tooSmall(StringRef op, int64_t elements, int64_t needed) {
    getOperation().emitError() << "no schedule fits into a buffer of " << elements
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
  Option<std::string> objective{*this, "objective", llvm::cl::desc("traffic"), llvm::cl::init("traffic")};
  Option<std::string> fusion{*this, "fusion", llvm::cl::desc("intra, tangram, flat, dat2 or dat"),
                             llvm::cl::init("dat")};
  Option<double> budget{*this, "budget", llvm::cl::desc("Seconds for the search"), llvm::cl::init(5)};
};

} // namespace

void etdg::registerExploreDataflowPass() { PassRegistration<ExploreDataflow>(); }
