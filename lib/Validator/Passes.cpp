//===- Passes.cpp - the validator in a pipeline ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Validator/Passes.h"
#include "ft/Support/WholeFile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGDROPSNAPSHOTS
#define GEN_PASS_DEF_ETDGTAKESNAPSHOTS
#define GEN_PASS_DEF_ETDGVALIDATE
#define GEN_PASS_DEF_ETDGVALIDATEPHASE
#define GEN_PASS_DEF_ETDGVALIDATIONOFF
#define GEN_PASS_DEF_VALIDATELAUNCHES
#include "ft/Validator/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Snapshots as attributes
//===----------------------------------------------------------------------===//

/// `[type, [#ft.len, ...]]`
static Attribute toAttribute(const GraphSnapshot &snapshot) {
  MLIRContext *context = snapshot.type.getContext();
  SmallVector<Attribute> constraints(snapshot.constraints.begin(), snapshot.constraints.end());
  return ArrayAttr::get(context, {TypeAttr::get(snapshot.type), ArrayAttr::get(context, constraints)});
}

/// None where the attribute is no snapshot: someone else wrote it.
static std::optional<GraphSnapshot> fromAttribute(Attribute attribute) {
  auto parts = dyn_cast<ArrayAttr>(attribute);
  if (!parts || parts.size() != 2)
    return std::nullopt;
  auto type = dyn_cast<TypeAttr>(parts[0]);
  auto constraints = dyn_cast<ArrayAttr>(parts[1]);
  if (!type || !isa<FunctionType>(type.getValue()) || !constraints)
    return std::nullopt;
  GraphSnapshot snapshot;
  snapshot.type = cast<FunctionType>(type.getValue());
  for (Attribute constraint : constraints) {
    auto length = dyn_cast<ft::LengthAttr>(constraint);
    if (!length)
      return std::nullopt;
    snapshot.constraints.push_back(length);
  }
  return snapshot;
}

/// By the graphs' names; fails, with an error, where the module's attribute is not one of ours.
static FailureOr<llvm::StringMap<GraphSnapshot>> readSnapshots(ModuleOp module) {
  llvm::StringMap<GraphSnapshot> snapshots;
  Attribute found = module->getAttr(etdg::names::snapshots);
  if (!found)
    return snapshots;
  auto all = dyn_cast<DictionaryAttr>(found);
  for (NamedAttribute one : all ? all : DictionaryAttr::get(module.getContext())) {
    std::optional<GraphSnapshot> snapshot = fromAttribute(one.getValue());
    if (!snapshot) {
      all = {};
      break;
    }
    snapshots[one.getName()] = std::move(*snapshot);
  }
  if (!all)
    return emitError(ft::wholeFile(module.getLoc()))
           << "'" << etdg::names::snapshots << "' is not what etdg-take-snapshots writes: " << found;
  return snapshots;
}

static bool hasSchedule(GraphOp graph) {
  return graph
      .walk([](Operation *op) {
        auto block = dyn_cast<BlockOp>(op);
        auto nest = dyn_cast<NestOp>(op);
        return (block && block.getScheduleAttr()) || (nest && nest.getScheduleAttr()) ? WalkResult::interrupt()
                                                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

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

struct ETDGTakeSnapshots : etdg::impl::ETDGTakeSnapshotsBase<ETDGTakeSnapshots> {
  using ETDGTakeSnapshotsBase::ETDGTakeSnapshotsBase;
  void runOnOperation() override {
    SmallVector<NamedAttribute> snapshots;
    for (auto graph : getOperation().getOps<GraphOp>())
      snapshots.emplace_back(graph.getSymNameAttr(), toAttribute(GraphSnapshot::take(graph)));
    getOperation()->setAttr(etdg::names::snapshots, DictionaryAttr::get(&getContext(), snapshots));
    markAllAnalysesPreserved();
  }
};

struct ETDGDropSnapshots : etdg::impl::ETDGDropSnapshotsBase<ETDGDropSnapshots> {
  using ETDGDropSnapshotsBase::ETDGDropSnapshotsBase;
  void runOnOperation() override {
    getOperation()->removeAttr(etdg::names::snapshots);
    markAllAnalysesPreserved();
  }
};

struct ETDGValidatePhase : etdg::impl::ETDGValidatePhaseBase<ETDGValidatePhase> {
  using ETDGValidatePhaseBase::ETDGValidatePhaseBase;
  void runOnOperation() override {
    FailureOr<llvm::StringMap<GraphSnapshot>> snapshots = readSnapshots(getOperation());
    if (failed(snapshots))
      return signalPassFailure();
    bool ok = true;
    for (auto graph : getOperation().getOps<GraphOp>()) {
      if (schedules && !hasSchedule(graph))
        continue;
      ValidateOptions options;
      options.phase = phase;
      options.isGiven = given;
      auto it = snapshots->find(graph.getSymName());
      if (it != snapshots->end())
        options.before = &it->second;
      ok &= succeeded(validateGraph(graph, options));
    }
    // No graph is lost.
    for (auto &snapshot : *snapshots)
      if (!getOperation().lookupSymbol<GraphOp>(snapshot.getKey())) {
        emitError(getOperation().getLoc()) << "internal error: after phase '" << phase << "': (T9) the graph '"
                                           << snapshot.getKey() << "' is gone";
        ok = false;
      }
    if (!ok)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct ETDGValidationOff : etdg::impl::ETDGValidationOffBase<ETDGValidationOff> {
  using ETDGValidationOffBase::ETDGValidationOffBase;
  void runOnOperation() override {
    emitRemark(getOperation().getLoc())
        << "validate=off: the schedules and storage of this program are not proved";
    markAllAnalysesPreserved();
  }
};

struct ValidateLaunches : etdg::impl::ValidateLaunchesBase<ValidateLaunches> {
  using ValidateLaunchesBase::ValidateLaunchesBase;
  void runOnOperation() override {
    LaunchOptions options;
    options.phase = phase;
    options.isGiven = given;
    bool ok = true;
    for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>())
      ok &= succeeded(validateLaunches(kernels, options));
    if (!ok)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
