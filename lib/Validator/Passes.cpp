//===- Passes.cpp - the validator in a pipeline ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Validator/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGVALIDATE
#include "ft/Validator/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

namespace {
struct ETDGValidate : etdg::impl::ETDGValidateBase<ETDGValidate> {
  using ETDGValidateBase::ETDGValidateBase;
  void runOnOperation() override {
    ValidateOptions options;
    options.phase = phase;
    options.writeReproducer = reproducer != "none";
    if (options.writeReproducer)
      options.reproducer = reproducer;
    if (failed(validateGraph(getOperation(), options)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct TakeSnapshots : PassWrapper<TakeSnapshots, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TakeSnapshots)
  explicit TakeSnapshots(std::shared_ptr<Snapshots> snapshots = {}) : snapshots(snapshots) {}
  StringRef getArgument() const override { return "etdg-take-snapshots"; }
  StringRef getDescription() const override { return "remember what graphs are called with"; }
  void runOnOperation() override {
    snapshots->clear();
    for (auto graph : getOperation().getOps<GraphOp>())
      snapshots->insert({graph.getSymNameAttr(), GraphSnapshot::take(graph)});
    markAllAnalysesPreserved();
  }
  std::shared_ptr<Snapshots> snapshots;
};

struct ValidatePhase : PassWrapper<ValidatePhase, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ValidatePhase)
  explicit ValidatePhase(StringRef phase = "", std::shared_ptr<Snapshots> snapshots = {})
      : phase(phase), snapshots(snapshots) {}
  StringRef getArgument() const override { return "etdg-validate-phase"; }
  StringRef getDescription() const override { return "etdg-validate, after a phase"; }
  void runOnOperation() override {
    bool ok = true;
    for (auto graph : getOperation().getOps<GraphOp>()) {
      ValidateOptions options;
      options.phase = phase;
      auto it = snapshots->find(graph.getSymNameAttr());
      if (it != snapshots->end())
        options.before = &it->second;
      ok &= succeeded(validateGraph(graph, options));
    }
    // No graph is lost.
    for (auto &[name, snapshot] : *snapshots)
      if (!getOperation().lookupSymbol<GraphOp>(name)) {
        emitError(getOperation().getLoc())
            << "internal error: after phase '" << phase << "': (T9) the graph '" << name.getValue()
            << "' is gone";
        ok = false;
      }
    if (!ok)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
  std::string phase;
  std::shared_ptr<Snapshots> snapshots;
};

struct ValidationOff : PassWrapper<ValidationOff, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ValidationOff)
  StringRef getArgument() const override { return "etdg-validation-off"; }
  StringRef getDescription() const override { return "say that nothing is validated"; }
  void runOnOperation() override {
    emitRemark(getOperation().getLoc())
        << "validate=off: the schedules and storage of this program are not proved";
    markAllAnalysesPreserved();
  }
};
} // namespace

std::unique_ptr<Pass> etdg::createSnapshotPass(std::shared_ptr<Snapshots> snapshots) {
  return std::make_unique<TakeSnapshots>(std::move(snapshots));
}
std::unique_ptr<Pass> etdg::createValidatePhasePass(StringRef phase,
                                                    std::shared_ptr<Snapshots> snapshots) {
  return std::make_unique<ValidatePhase>(phase, std::move(snapshots));
}
std::unique_ptr<Pass> etdg::createValidationOffPass() { return std::make_unique<ValidationOff>(); }
