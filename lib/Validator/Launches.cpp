//===- Launches.cpp - launches that begin before others have ended --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// T14 of a launch plan. A launch that overlaps may begin while the one before it runs. Where that one had let it go before it had waited itself, those
// before that may run, too. Once a launch has waited all of them have ended. Until then it touches nothing that they write, and writes nothing
// that they touch. It waits on every path: what waits for it alone would not come after them otherwise.
//
//===----------------------------------------------------------------------===//
#include "Launches.h"

#include "ft/Dialect/Tile/IR/Tile.h"
#include "ft/Runtime/Bundle/LaunchPlan.h"
#include "ft/Validator/Validator.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::validator;
namespace rt = ::ft::rt;

namespace {
/// The launches of one plan, in the order of a call.
class LaunchCheck {
public:
  LaunchCheck(gpu::GPUModuleOp module, const rt::Entry &entry, const rt::Plan &plan, const LaunchOptions &options)
      : module(module), entry(entry), plan(plan), options(options) {}
  LogicalResult run();

private:
  /// Launches that the next one that overlaps may find running.
  using Flight = llvm::SmallSetVector<const rt::Launch *, 8>;
  Flight take(const std::vector<rt::Step> &steps, Flight flight);
  Flight take(const rt::Launch &launch, Flight flight);
  void check(const rt::Launch &launch, const Flight &flight);
  void check(const rt::Launch &launch, const Touch &early, const rt::Launch &other);

  const KernelFacts &factsOf(const rt::Launch &launch);
  StringRef nameOf(const rt::Launch &launch) const { return plan.kernels[size_t(launch.kernel)]; }
  LLVM::LLVMFuncOp kernelOf(StringRef name) { return module.lookupSymbol<LLVM::LLVMFuncOp>(name); }
  /// The buffer that an argument of a kernel points into; none where that is not known.
  const rt::Buffer *bufferOf(const rt::Launch &launch, const Touch &touch) const;
  bool mayShare(const rt::Buffer *a, const rt::Buffer *b) const;
  std::string describe(const rt::Buffer *buffer) const;
  InFlightDiagnostic report(Operation *op);

  gpu::GPUModuleOp module;
  const rt::Entry &entry;
  const rt::Plan &plan;
  const LaunchOptions &options;
  llvm::StringMap<KernelFacts> facts;
  llvm::DenseSet<std::pair<const rt::Launch *, Operation *>> reported; // what the loops of a plan come to again
  bool isRight = true;
};
} // namespace

InFlightDiagnostic LaunchCheck::report(Operation *op) {
  isRight = false;
  InFlightDiagnostic diag = mlir::emitError(op->getLoc());
  if (!options.isGiven)
    diag << "internal error: " << (options.phase.empty() ? std::string() : "after phase '" + options.phase + "': ");
  diag << "(T14) ";
  return diag;
}

const KernelFacts &LaunchCheck::factsOf(const rt::Launch &launch) {
  auto [found, isNew] = facts.try_emplace(nameOf(launch));
  if (isNew)
    found->second = findFacts(cast<FunctionOpInterface>(kernelOf(nameOf(launch)).getOperation()));
  return found->second;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

const rt::Buffer *LaunchCheck::bufferOf(const rt::Launch &launch, const Touch &touch) const {
  if (!touch.argument || *touch.argument >= launch.arguments.size())
    return nullptr;
  const rt::KernelArgument &argument = launch.arguments[*touch.argument];
  return argument.kind == rt::KernelArgument::integer ? nullptr : &plan.buffers[size_t(argument.buffer)];
}

/// Whether two buffers may have memory in common: an argument and the result that is written in its place, buffers of one place of the
/// workspace (a slot). Two arguments that a call gives one memory are read alone, which a call checks.
bool LaunchCheck::mayShare(const rt::Buffer *a, const rt::Buffer *b) const {
  if (!a || !b || a == b)
    return true;
  if (a->kind != b->kind)
    return false;
  auto homeOf = [&](const rt::Buffer &buffer) {
    int64_t place = entry.arguments[size_t(buffer.index)].writeback;
    return place < 0 ? buffer.index : place;
  };
  switch (a->kind) {
  case rt::Buffer::argument:
    return homeOf(*a) == homeOf(*b);
  case rt::Buffer::workspace:
    return a->offset == b->offset;
  case rt::Buffer::constant:
    return a->index == b->index;
  default:
    return true;
  }
}

std::string LaunchCheck::describe(const rt::Buffer *buffer) const {
  if (!buffer)
    return "memory of which nothing is known";
  if (buffer->kind == rt::Buffer::argument)
    return "'" + entry.arguments[size_t(buffer->index)].name + "'";
  std::string number = std::to_string(buffer - plan.buffers.data());
  return (buffer->kind == rt::Buffer::workspace ? "buffer " + number + " of the workspace" : "buffer " + number + " of the plan");
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void LaunchCheck::check(const rt::Launch &launch, const Touch &early, const rt::Launch &other) {
  const rt::Buffer *buffer = bufferOf(launch, early);
  for (const Touch &touch : factsOf(other).all) {
    if (!(early.writes || touch.writes) || !mayShare(buffer, bufferOf(other, touch)) || !reported.insert({&launch, early.op}).second)
      continue;
    InFlightDiagnostic diag = report(early.op);
    diag << "kernel @" << nameOf(launch) << (early.writes ? " writes " : " reads ") << describe(buffer)
         << " before it has waited (griddepcontrol wait) for kernel @" << nameOf(other) << ", which may still be in flight and "
         << (touch.writes ? "writes " : "reads ");
    if (const rt::Buffer *place = bufferOf(other, touch); place == buffer)
      diag << "it";
    else
      diag << describe(place) << " in the same memory";
    diag.attachNote(touch.op->getLoc()) << "kernel @" << nameOf(other) << (touch.writes ? " writes" : " reads") << " it here";
  }
}

void LaunchCheck::check(const rt::Launch &launch, const Flight &flight) {
  const KernelFacts &own = factsOf(launch);
  if (own.unwaited && reported.insert({&launch, own.unwaited}).second) {
    InFlightDiagnostic diag = report(own.unwaited);
    diag << "a path of kernel @" << nameOf(launch) << " ends without griddepcontrol wait, and its launch overlaps that of kernel @"
         << nameOf(*flight.back()) << ": what waits for it would not come after that one";
    diag.attachNote(kernelOf(nameOf(*flight.back())).getLoc()) << "kernel @" << nameOf(*flight.back()) << " is here";
  }
  if (own.unwaited)
    return;
  for (const Touch &early : own.early)
    for (const rt::Launch *other : flight)
      check(launch, early, *other);
}

/// Whether a launch has thread blocks at all lengths: one without is left out of a call.
static bool surelyRuns(const rt::Launch &launch) {
  return llvm::all_of(launch.grid, [](const rt::Expr &size) { return size.asConstant().value_or(0) > 0; });
}

LaunchCheck::Flight LaunchCheck::take(const rt::Launch &launch, Flight flight) {
  const bool overlaps = launch.overlaps && !flight.empty();
  if (overlaps)
    check(launch, flight);
  Flight after;
  if ((overlaps && factsOf(launch).letsGoEarly) || !surelyRuns(launch))
    after = std::move(flight);
  // (The runtime lets nothing begin before a cooperative launch has ended.)
  if (launch.cooperative && surelyRuns(launch))
    return {};
  if (!launch.cooperative)
    after.insert(&launch);
  return after;
}

LaunchCheck::Flight LaunchCheck::take(const std::vector<rt::Step> &steps, Flight flight) {
  for (const rt::Step &step : steps) {
    switch (step.kind) {
    case rt::Step::launch:
      flight = take(step.launched, std::move(flight));
      break;
    case rt::Step::branch: {
      Flight otherwise = take(step.otherwise, flight);
      flight = take(step.body, std::move(flight));
      flight.insert_range(otherwise);
      break;
    }
    case rt::Step::loop:
    case rt::Step::repeat:
      for (size_t before = flight.size() + 1; before != flight.size();) {
        before = flight.size();
        flight.insert_range(take(step.body, flight));
      }
      break;
    default: // (a copy or fill of no bytes is left out, and what is in flight stays)
      if (step.bytes.asConstant().value_or(0) > 0)
        flight.clear();
      break;
    }
  }
  return flight;
}

static bool anyOverlaps(const std::vector<rt::Step> &steps) {
  return llvm::any_of(steps, [](const rt::Step &step) {
    return (step.kind == rt::Step::launch && step.launched.overlaps) || anyOverlaps(step.body) || anyOverlaps(step.otherwise);
  });
}

LogicalResult LaunchCheck::run() {
  if (!anyOverlaps(plan.steps))
    return success();
  for (const std::string &name : plan.kernels)
    if (LLVM::LLVMFuncOp kernel = kernelOf(name); !kernel || kernel.isExternal())
      return module.emitError() << "expected kernel @" << name << " of the launch plan, found none";
  take(plan.steps, {});
  return success(isRight);
}

LogicalResult etdg::validateLaunches(gpu::GPUModuleOp module, const LaunchOptions &options) {
  auto text = module->getAttrOfType<StringAttr>(tile::TileDialect::PlanAttrHelper::getNameStr());
  if (!text)
    return success();
  rt::Json json;
  rt::Entry entry;
  rt::Status read = rt::Json::parse(std::string_view(text.getValue()), json);
  if (read.ok())
    read = rt::Entry::fromJson(json, /*numSections=*/0, entry);
  if (!read.ok())
    return module.emitError() << "expected a launch plan in '" << tile::TileDialect::PlanAttrHelper::getNameStr() << "': " << read.message();
  bool isRight = true;
  for (const rt::Plan &plan : entry.plans)
    isRight &= succeeded(LaunchCheck(module, entry, plan, options).run());
  return success(isRight);
}
