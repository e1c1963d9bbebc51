//===- Interpret.cpp - the reference interpreters as a target -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each entry gets a plan of one launch, whose kernel is the interpreter: the
// runtime binds lengths and checks arguments as it does for compiled code.
//
//===----------------------------------------------------------------------===//
#include "Handles.h"

#include "ft/Conversion/LaunchPlan/Entry.h"
#include "ft/Interpreter/ETDGInterpreter.h"
#include "ft/Interpreter/FTInterpreter.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::capi;
namespace rt = ::ft::rt;

/// Entries that are interpreted, and the source that they come from.
struct mlir::ft::capi::Interpreted {
  std::shared_ptr<SourceState> source;
  std::vector<rt::Entry> entries;
  std::string error;

  const char *run(const rt::Entry &entry, void **arguments);
};

/// Arguments: the arrays, results among them, then the entry's symbols.
const char *Interpreted::run(const rt::Entry &entry, void **arguments) {
  std::lock_guard<std::mutex> guard(source->lock);
  source->sink.clear();
  auto failed = [&](const std::string &message) {
    error = message;
    return error.c_str();
  };
  std::vector<int64_t> variables(size_t(entry.numVariables()), 0);
  interp::Lengths lengths;
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    variables[i] = *static_cast<int64_t *>(arguments[entry.arguments.size() + i]);
    lengths[entry.symbols[i].name] = variables[i];
  }
  std::vector<rt::HostArray> inputs;
  std::vector<void *> outputs;
  for (size_t i = 0; i < entry.arguments.size(); ++i) {
    const rt::Argument &argument = entry.arguments[i];
    void *data = *static_cast<void **>(arguments[i]);
    if (argument.output) {
      outputs.push_back(data);
      continue;
    }
    std::vector<int64_t> shape(argument.shape.size());
    for (size_t d = 0; d < shape.size(); ++d)
      if (!argument.shape[d].evaluate(variables.data(), shape[d]))
        return failed("the shape of \"" + argument.name + "\" overflows");
    rt::HostArray &array = inputs.emplace_back();
    if (rt::Status status = rt::HostArray::create(argument.dtype, std::move(shape), array); !status.ok())
      return failed(status.message());
    if (array.numBytes() > 0)
      memcpy(array.data(), data, size_t(array.numBytes()));
  }
  ModuleOp module = *source->module;
  FailureOr<std::vector<rt::HostArray>> results =
      isa<etdg::GraphOp>(module.lookupSymbol(entry.name)) ? interp::runETDG(module, entry.name, lengths, inputs)
                                                          : interp::runFT(module, entry.name, lengths, inputs);
  if (mlir::failed(results))
    return failed(source->sink.getFirstError());
  for (size_t i = 0; i < outputs.size(); ++i)
    if ((*results)[i].numBytes() > 0)
      memcpy(outputs[i], (*results)[i].data(), size_t((*results)[i].numBytes()));
  return nullptr;
}

/// A plan of one launch over all arguments and symbols.
static rt::Plan makePlan(const rt::Entry &entry, int64_t kernel) {
  rt::Plan plan;
  plan.target = "interpret";
  plan.variant = "generic";
  plan.kernels.push_back(entry.name);
  rt::Step step;
  for (size_t i = 0; i < entry.arguments.size(); ++i) {
    plan.buffers.push_back({rt::Buffer::argument, int64_t(i), 0});
    rt::KernelArgument argument;
    argument.kind = rt::KernelArgument::pointer;
    argument.buffer = int64_t(i);
    step.launched.arguments.push_back(argument);
  }
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    rt::KernelArgument argument;
    argument.value = entry.symbol(int64_t(i));
    step.launched.arguments.push_back(argument);
  }
  step.launched.kernel = kernel;
  plan.steps.push_back(std::move(step));
  return plan;
}

static const char *launchInterpreter(void *context, const char *entry, int32_t, void **arguments) {
  auto &interpreted = **static_cast<std::shared_ptr<Interpreted> *>(context);
  for (const rt::Entry &known : interpreted.entries)
    if (known.name == entry)
      return interpreted.run(known, arguments);
  return "no such entry";
}

static void releaseInterpreter(void *context) { delete static_cast<std::shared_ptr<Interpreted> *>(context); }

FtKernels mlir::ft::capi::shareKernels(const std::shared_ptr<Interpreted> &interpreted) {
  return {sizeof(FtKernels), launchInterpreter, releaseInterpreter, new std::shared_ptr<Interpreted>(interpreted)};
}

FtStatus mlir::ft::capi::makeInterpretedProgram(std::shared_ptr<SourceState> source, StringRef entry,
                                                rt::Bundle &bundle, std::shared_ptr<Interpreted> &interpreted) {
  interpreted = std::make_shared<Interpreted>();
  bundle.producer = "FractalTensor";
  for (Operation *op : findEntries(*source->module)) {
    if (!entry.empty() && SymbolTable::getSymbolName(op).getValue() != entry)
      continue;
    FailureOr<rt::Entry> made = makeEntry(cast<FunctionOpInterface>(op));
    if (failed(made))
      return fail(FT_INVALID_PROGRAM, source->sink.getFirstError());
    for (rt::Argument &argument : made->arguments)
      argument.stridedDims = 0; // the interpreter's arrays are dense
    made->plans.push_back(makePlan(*made, 0));
    bundle.entries.push_back(*made);
    interpreted->entries.push_back(std::move(*made));
  }
  interpreted->source = std::move(source);
  return FT_OK;
}
