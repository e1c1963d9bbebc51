//===- Shares.cpp - what a set of random programs covers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Fuzz/Shares.h"
#include "ft/Dialect/FT/IR/FT.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"

#include <set>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;

/// Compute operators around and including the deepest one.
static unsigned depthOf(Operation *op) {
  unsigned deepest = 0;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      deepest = std::max(deepest, depthOf(&inner));
  return deepest + (isa<ComputeOp>(op) ? 1 : 0);
}

/// A region that holds a compute operator beside another, or beside tensor statements.
static bool isImperfect(ComputeOp op) {
  unsigned computes = 0, statements = 0;
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (isa<ComputeOp>(&inner))
      ++computes;
    else if (!isa<FTDialect>(inner.getDialect()) && !inner.hasTrait<OpTrait::ConstantLike>() &&
             !isa<tensor::EmptyOp>(&inner))
      ++statements;
  }
  return computes > 1 || (computes == 1 && statements > 0);
}

/// Conversions between two number types, and elements without numbers.
static void countTypes(Operation *op, std::map<std::string, int64_t> &here) {
  if (isa<arith::TruncFOp, arith::ExtFOp, arith::TruncIOp, arith::ExtSIOp>(op))
    ++here["mixed types"];
  for (Type type : op->getResultTypes())
    if (auto list = dyn_cast<ListType>(type))
      if (auto element = dyn_cast<RankedTensorType>(list.getElement());
          element && element.getNumElements() == 0)
        ++here["elements without numbers"];
}

void Shares::count(ModuleOp module) {
  std::map<std::string, int64_t> here;
  module.walk([&](Operation *op) {
    if (auto window = dyn_cast<WindowOp>(op)) {
      ++here["window " + stringifyBoundary(window.getBoundary()).str()];
      if (!window.getSize().isConstant() || !window.getDilationOrOne().isConstant())
        ++here["named windows"];
    }
    if (isa<FTDialect>(op->getDialect()) && !isa<YieldOp>(op))
      ++here[op->getName().getStringRef().str()];
    countTypes(op, here);
    auto function = dyn_cast<func::FuncOp>(op);
    if (function) {
      unsigned depth = depthOf(function);
      if (depth >= 3)
        ++here["depth >= 3"];
      if (getBoundNames(function.getArgumentTypes()).size() > 0)
        ++here["named lengths"];
      auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
      if (depth == 0 && llvm::all_of(function.getArgumentTypes(), isTensor))
        ++here["whole tensors"];
    }
    auto compute = dyn_cast<ComputeOp>(op);
    if (!compute)
      return;
    if (isImperfect(compute))
      ++here["imperfect nest"];
    if (compute.getLists().size() > 1)
      ++here["several lists"];
    if (compute.isMap())
      return;
    if (compute.getNumStates() > 1)
      ++here["tuple states"];
    if (compute.getInits().empty())
      ++here["no init"];
    if (compute.getCombineOrNull())
      ++here["combine"];
    if (compute.getLagOrOne().getConstant() != 1)
      ++here["lag"];
    if (!compute.getLagOrOne().isConstant())
      ++here["named lags"];
    if (compute.isRight())
      ++here["r forms"];
    if (!compute.getYield().getEmits().empty())
      ++here["emit"];
    for (Value emitted : compute.getYield().getEmits()) {
      Operation *def = emitted.getDefiningOp();
      if (isa_and_nonnull<AtOp>(def))
        ++here["last states"];
      if (auto fold = dyn_cast_or_null<ComputeOp>(def); fold && fold.isFold())
        ++here["folds beside"];
    }
    if (llvm::any_of(compute.getStateArgs(), [](Value v) { return isa<ListType>(v.getType()); }))
      ++here["states that are lists"];
  });
  ++programs;
  for (auto &[feature, n] : here) {
    ++programsWith[feature];
    occurrences[feature] += n;
  }
}

void Shares::add(const Shares &other) {
  programs += other.programs;
  for (auto &[feature, n] : other.programsWith)
    programsWith[feature] += n;
  for (auto &[feature, n] : other.occurrences)
    occurrences[feature] += n;
}

void Shares::print(llvm::raw_ostream &os) const {
  for (auto &[feature, n] : programsWith)
    os << llvm::format("  %-24s in %4lld programs (%3.0f %%), %5lld times\n", feature.c_str(),
                       static_cast<long long>(n), 100.0 * n / std::max<int64_t>(1, programs),
                       static_cast<long long>(occurrences.at(feature)));
}

std::vector<std::string> Shares::missing(bool mixesTypes) const {
  std::vector<std::string> lines;
  auto whole = programsWith.find("whole tensors");
  // Programs without lists can't have what is asked of those with lists.
  int64_t asked = programs - (whole == programsWith.end() ? 0 : whole->second);
  auto demand = [&](const std::string &feature, double perProgram,
                    const std::map<std::string, int64_t> &counts) {
    auto it = counts.find(feature);
    int64_t found = it == counts.end() ? 0 : it->second,
            wanted = static_cast<int64_t>(perProgram * asked);
    if (found < wanted)
      lines.push_back(feature + ": " + std::to_string(found) + ", expected at least " +
                      std::to_string(wanted));
  };
  demand("depth >= 3", 0.3, programsWith);
  demand("whole tensors", 0.05, programsWith);
  demand("imperfect nest", 0.3, programsWith);
  for (const char *op :
       {"map",   "reduce",  "fold",    "foldl",  "foldr",     "scan",   "scanl", "scanr",
        "shift", "reverse", "slice",   "stride", "window",    "gather", "zip",   "get",
        "at",    "concat",  "flatten", "split",  "transpose", "repeat", "iota",  "cast"})
    demand("ft." + std::string(op), 20.0 / 500, occurrences);
  for (const char *feature : {"tuple states", "lag", "r forms", "emit", "last states", "folds beside", "no init", "combine",
                              "states that are lists", "several lists", "named lengths"})
    demand(feature, 20.0 / 500, occurrences);
  demand("elements without numbers", 5.0 / 500, programsWith);
  if (mixesTypes)
    demand("mixed types", 5.0 / 500, programsWith);
  for (const char *boundary : {"none", "zero", "clamp", "mirror", "wrap"})
    demand("window " + std::string(boundary), 5.0 / 500, occurrences);
  return lines;
}
