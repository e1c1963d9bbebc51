//===- SCFToETDG.cpp - imperative loops over tensors to graphs ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `convert-scf-to-etdg` (docs/raising.md): a copy of the function is prepared, analyzed, and a graph written from what
// is known of it. `scf-print-raising` prints that instead.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/SCFToETDG.h"
#include "ft/Conversion/SCFToETDG/Write/PlanWriter.h"
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

#include "ft/Analysis/GraphVerifier.h"
#include "ft/Analysis/SetWork.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"

namespace mlir::ft {
#define GEN_PASS_DEF_CONVERTSCFTOETDG
#define GEN_PASS_DEF_SCFPRINTRAISING
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// So many sets are asked for each outermost loop of a function: seconds of work. Most programs ask some thousands, those with nested exits 30
/// thousand; a model asks some thousands for each of its layers.
static constexpr int64_t maxSets = 40000;

static int64_t countOuterLoops(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](LoopLikeOpInterface loop) { count += !loop->getParentOfType<LoopLikeOpInterface>(); });
  return count;
}

/// Imperative functions over tensors: some loop or condition, or a sum that becomes one, no lists.
static bool isImperative(func::FuncOp function) {
  if (function.isDeclaration())
    return false;
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return false;
  bool loops = false, other = false;
  function.walk([&](Operation *op) {
    loops |= isa<scf::ForOp, scf::ForallOp, scf::IfOp, scf::WhileOp, affine::AffineForOp>(op);
    other |= isa_and_nonnull<FTDialect>(op->getDialect());
  });
  return (loops || sumsOverOpenSizes(function)) && !other;
}

namespace {
struct ConvertSCFToETDG : ft::impl::ConvertSCFToETDGBase<ConvertSCFToETDG> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertSCFToETDGBase::getDependentDialects(registry);
    registerSubsetAccessModels(registry);
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (isImperative(function))
        functions.push_back(function);
    for (func::FuncOp function : functions)
      raise(function);
  }

  void raise(func::FuncOp function) {
    // Conditions are rewritten on a copy: what is refused stays as it was.
    OwningOpRef<func::FuncOp> copy = function.clone();
    Refusal refusal;
    if (failed(prepare(*copy, refusal)))
      return remarkRefusal(function, refusal);
    OwningOpRef<func::FuncOp> spread = copy->clone();
    Refusal ofSpread;
    unsigned batches = spreadBatches(*spread);
    if (batches > 0 && succeeded(write(function, *spread, batches, ofSpread)))
      return function.erase();
    if (batches > 0)
      remark::missed(ofSpread.loc ? *ofSpread.loc : function.getLoc(), remark::RemarkOpts::name("batches").category("etdg:convert-scf-to-etdg").function(function.getName()))
          << remark::reason("dimensions in which iterations of a loop do not meet stay inside of its statements: {0}", ofSpread.reason);
    if (succeeded(write(function, *copy, 0, refusal)))
      return function.erase();
    remarkRefusal(function, refusal);
  }

  /// The graph of a prepared copy, beside the function.
  LogicalResult write(func::FuncOp function, func::FuncOp prepared, unsigned batches, Refusal &refusal) {
    const int64_t most = maxSets * std::max<int64_t>(countOuterLoops(prepared), 1);
    etdg::SetBudget budget(most);
    ProgramAnalysis analysis(prepared, refusal);
    const GraphPlan *plan = analysis.analyse();
    etdg::GraphOp graph = plan ? PlanWriter(*plan, function).write() : etdg::GraphOp();
    LogicalResult isRight = graph ? check(graph, refusal) : failure();
    if (budget.isSpent()) {
      if (succeeded(isRight))
        graph.erase();
      refusal.loc = function.getLoc();
      refusal.reason = "its slices meet in more ways than are told apart within the budget of the analysis (" + std::to_string(most) +
                       " sets): use fewer slices of different strides";
      return failure();
    }
    if (failed(isRight))
      return failure();
    remarkGraph(function, graph, *plan, batches);
    return success();
  }

  /// A graph that is not well formed says which access is out of bounds, or read before it is written: the program's
  /// own fault more often than not. It goes then.
  LogicalResult check(etdg::GraphOp graph, Refusal &refusal) {
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        (void)refusal.refuse(diagnostic.getLocation(), diagnostic.str());
      return success();
    });
    if (succeeded(verify(graph)) && succeeded(etdg::verifyGraph(graph)))
      return success();
    graph.erase();
    return failure();
  }

  static remark::RemarkOpts optionsOf(func::FuncOp function) {
    return remark::RemarkOpts::name("raise")
        .category("etdg")
        .subCategory("convert-scf-to-etdg")
        .function(function.getSymName());
  }

  void remarkRefusal(func::FuncOp function, const Refusal &refusal) {
    Location loc = refusal.loc.value_or(function.getLoc());
    StringRef reason = refusal.loc ? StringRef(refusal.reason) : "it has a form that raising does not know";
    emitWarning(loc) << "'" << function.getSymName() << "' is not raised to a graph: " << reason;
    remark::missed(loc, optionsOf(function)) << remark::reason("{0}", reason);
  }

  void remarkGraph(func::FuncOp function, etdg::GraphOp graph, const GraphPlan &plan, unsigned batches) {
    unsigned blocks = 0, arrays = 0, byCells = 0;
    graph.walk([&](etdg::BlockOp) { ++blocks; });
    for (const Family &family : plan.families) {
      arrays += !family.writers.empty();
      byCells += !family.writers.empty() && family.byCells;
    }
    remark::passed(function.getLoc(), optionsOf(function))
        << remark::metric("blocks", blocks) << remark::metric("arrays", arrays)
        << remark::metric("written once at each cell", byCells) << remark::metric("copies", plan.numCopies)
        << remark::metric("batches", batches);
  }
};

struct SCFPrintRaising : ft::impl::SCFPrintRaisingBase<SCFPrintRaising> {
  void getDependentDialects(DialectRegistry &registry) const override {
    SCFPrintRaisingBase::getDependentDialects(registry);
    registry.insert<etdg::ETDGDialect>(); // whose types and lengths a plan has
    registerSubsetAccessModels(registry);
  }

  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (isImperative(function))
        print(function);
  }

  void print(func::FuncOp function) {
    OwningOpRef<func::FuncOp> copy = function.clone();
    Refusal refusal, ofSpread;
    bool isPrepared = succeeded(prepare(*copy, refusal));
    OwningOpRef<func::FuncOp> spread = copy->clone();
    ProgramAnalysis analysis(*copy, refusal), analysisOfSpread(*spread, ofSpread);
    if (isPrepared && spreadBatches(*spread) > 0)
      if (const GraphPlan *plan = analysisOfSpread.analyse())
        return plan->print(llvm::outs());
    if (const GraphPlan *plan = isPrepared ? analysis.analyse() : nullptr)
      plan->print(llvm::outs());
    else
      llvm::outs() << "program @" << function.getSymName() << " is refused: " << refusal.reason << "\n";
  }
};
} // namespace
