//===- ETDGRun.cpp - Run a graph on arrays --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry point of the etdg interpreter: binds lengths, fills the argument
// buffers, runs the chosen order and reads the results.
//
//===----------------------------------------------------------------------===//
#include "ETDGOrders.h"
#include "HostValues.h"
#include "ft/Dialect/ETDG/IR/Variants.h"
#include "ft/Interpreter/ETDGInterpreter.h"
#include <random>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::interp;
using ::ft::rt::HostArray;

/// Binds the graph's names and checks every argument against its type.
static LogicalResult bindArguments(etdg::GraphOp graph, ArrayRef<HostArray> arguments,
                                   LengthBinding &lengths) {
  SmallVector<Location> locations =
      argumentLocations(graph.getBody(), graph.getLoc(), arguments.size());
  LengthBinder binder(lengths, locations);
  for (auto [i, type] : llvm::enumerate(graph.getArgumentTypes())) {
    auto buffer = cast<etdg::BufferType>(type);
    int64_t rank = buffer.getDepth() + buffer.getElementRank();
    if (arguments[i].rank() != rank)
      return mlir::emitError(locations[i]) << "argument " << i << ": expects " << rank
                                           << " dimensions, found " << arguments[i].rank();
    if (failed(binder.bindShape(i, buffer.getLengths(), arguments[i].shape)))
      return failure();
  }
  for (auto [i, type] : llvm::enumerate(graph.getArgumentTypes())) {
    auto buffer = cast<etdg::BufferType>(type);
    ArrayRef<int64_t> outer = ArrayRef<int64_t>(arguments[i].shape).take_front(buffer.getDepth());
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return mlir::emitError(locations[i]) << "argument " << i << ": ";
    };
    if (failed(binder.checkShape(i, buffer.getLengths(), outer)) ||
        failed(checkArray(arguments[i], outer, buffer.getElement(), emitError)))
      return failure();
  }
  return checkBounds(graph, lengths);
}

FailureOr<std::vector<HostArray>> mlir::ft::interp::runETDG(ModuleOp module, StringRef entry,
                                                            const Lengths &given,
                                                            ArrayRef<HostArray> arguments,
                                                            const RunOptions &options) {
  auto graph = module.lookupSymbol<etdg::GraphOp>(entry);
  if (!graph)
    return mlir::emitError(module.getLoc(), "there is no graph '") << entry << "'";
  if (graph.isExternal())
    return mlir::emitError(graph.getLoc(), "has no body to run");
  if (arguments.size() != graph.getArgumentTypes().size())
    return mlir::emitError(graph.getLoc(), "expects ")
           << graph.getArgumentTypes().size() << " arguments, found " << arguments.size();
  LengthBinding lengths;
  if (failed(bindGiven(graph, given, lengths)) || failed(bindArguments(graph, arguments, lengths)))
    return failure();

  // Guards choose; each variant is right for all lengths, which other orders than the first try.
  IRMapping mapping;
  OwningOpRef<etdg::GraphOp> chosen;
  if (etdg::countVariants(graph) > 1) {
    std::mt19937_64 random(options.seed);
    chosen = etdg::chooseVariants(graph, [&](etdg::VariantsOp variants) -> unsigned {
      if (options.order != Order::Dataflow)
        return random() % variants.getVariants().size();
      for (auto [i, guard] : llvm::enumerate(variants.getGuards().getAsRange<etdg::GuardAttr>()))
        if (guard.evaluate([&](StringAttr name) { return lengths.evaluate(LengthAttr::get(name)); }).value_or(false))
          return i;
      return variants.getGuards().size();
    }, mapping);
    graph = *chosen;
  }
  RoundingNoise noise(options.noise);
  ETDGMachine machine(graph, lengths, options.truth);
  if (options.order == Order::Random)
    machine.cutAtRandom(options.seed);
  if (options.observe)
    machine.observe(options.observe);
  for (auto [value, array] : llvm::zip_equal(graph.getBody().getArguments(), arguments)) {
    FailureOr<BufferState *> buffer = machine.bufferAt(graph, value, {});
    if (failed(buffer))
      return failure();
    RankedTensorType element = cast<etdg::BufferType>(value.getType()).getElement();
    for (auto [i, cell] : llvm::enumerate((*buffer)->cells))
      cell = elementAt(array, i, element);
  }

  LogicalResult ran = options.order == Order::Declared
                          ? runAsDeclared(machine, options.seed)
                          : runByDependences(machine, options.order == Order::Random, options.seed);
  if (options.cuts)
    *options.cuts = machine.numCuts();
  if (failed(ran))
    return failure();

  std::vector<HostArray> results;
  Operation *terminator = graph.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    FailureOr<BufferState *> buffer = machine.bufferAt(terminator, value, {});
    if (failed(buffer))
      return failure();
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return mlir::emitError(terminator->getLoc(), "result ") << i << ": ";
    };
    RankedTensorType element = cast<etdg::BufferType>(value.getType()).getElement();
    FailureOr<HostArray> array = makeArray((*buffer)->shape, element, emitError);
    if (failed(array))
      return failure();
    for (auto [flat, cell] : llvm::enumerate((*buffer)->cells)) {
      if (!cell) {
        InFlightDiagnostic diag = emitError() << "element ";
        diag << elementName({*buffer, static_cast<int64_t>(flat)}) << " is never written";
        diag.attachNote(value.getLoc()) << "the buffer is here";
        return diag;
      }
      storeElement(*array, flat, cell);
    }
    results.push_back(std::move(*array));
  }
  return results;
}
