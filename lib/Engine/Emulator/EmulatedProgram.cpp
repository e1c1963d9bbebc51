//===- EmulatedProgram.cpp - GPU kernels without a GPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Engine/Emulator/EmulatedProgram.h"

#include "EmulatedTarget.h"
#include "TileCalls.h"
#include "ft/Engine/Bundle/CompileBundle.h"
#include "ft/Runtime/Program/Program.h"
#include "ft/Support/WholeFile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;
namespace emulate = ::ft::emulate;

struct EmulatedProgram::State {
  explicit State(Location loc) : loc(loc) {}

  LogicalResult check(const rt::Status &status) {
    return status.ok() ? success() : LogicalResult(emitError(loc) << status.message());
  }
  void addTensor(rt::HostArray &array) { tensors.push_back(rt::asTensor(array, array.data())); }
  std::vector<const FtTensor *> pointers() const {
    std::vector<const FtTensor *> result(entry.arguments.size());
    for (size_t i = 0; i < tensors.size(); ++i)
      result[i] = &tensors[i];
    return result;
  }
  void addMemory(const std::string &name, rt::HostArray &array, bool isOutput) {
    if (array.numBytes() == 0)
      return;
    emulate::Memory &memory =
        machine->memories.add(name, array.data(), uint64_t(array.numBytes()), !isOutput, !isOutput);
    if (isOutput)
      outputs.push_back(&memory);
  }
  /// Forgets the arrays of the last call and what is known of their memory, which others may get.
  void clear() {
    for (rt::HostArray &array : arrays)
      machine->memories.remove(array.data());
    arrays.clear();
    tensors.clear();
    outputs.clear();
  }

  Location loc;
  std::unique_ptr<emulate::Machine> machine;
  rt::Entry entry;
  std::unique_ptr<rt::Program> program;
  std::vector<rt::HostArray> arrays; // arguments, then results; never moved after `prepare`
  std::vector<FtTensor> tensors;
  std::vector<emulate::Memory *> outputs; // those that have bytes
  size_t firstOutput = 0;
};

EmulatedProgram::EmulatedProgram(std::unique_ptr<State> state) : state(std::move(state)) {}
EmulatedProgram::~EmulatedProgram() = default;

/// Given kernels are called as the program's own would be: with as many arguments and results, of the same types.
static LogicalResult checkGivenKernels(ModuleOp kernels, const rt::Entry &given, const rt::Entry &own) {
  if (given.arguments.size() != own.arguments.size())
    return kernels.emitError() << "expected a launch plan of " << own.arguments.size() << " arguments and results, found "
                               << given.arguments.size();
  for (auto [i, found, asked] : llvm::enumerate(given.arguments, own.arguments))
    if (found.output != asked.output || found.dtype != asked.dtype || found.shape.size() != asked.shape.size())
      return kernels.emitError() << "'" << found.name << "' of the launch plan is a"
                                 << (found.output ? " result" : "n argument") << " of " << found.shape.size()
                                 << " dimensions of " << rt::dtypeName(found.dtype) << ", expected a"
                                 << (asked.output ? " result" : "n argument") << " of " << asked.shape.size()
                                 << " dimensions of " << rt::dtypeName(asked.dtype);
  return success();
}

/// The kernels in the LLVM dialect, made or given; `tiles`: operations on tiles that became calls.
static FailureOr<GpuModule> makeKernels(ModuleOp module, StringRef entry, const EmulatorOptions &options,
                                        std::vector<emulate::TileOperation> &tiles) {
  BundleOptions bundling;
  bundling.gpu = options.gpu;
  bundling.skip = options.skip;
  bundling.machines = options.machines;
  bundling.validate = options.validate;
  bundling.rounding = options.rounding;
  bundling.configure = options.configure;
  bundling.dump = options.dump;
  BundleOptions::KernelFn interpret;
  if (options.interpretTiles)
    interpret = [&](gpu::GPUModuleOp kernels) { return emulate::callTiles(kernels, tiles); };
  if (!options.readKernels)
    bundling.withKernels = interpret;
  FailureOr<GpuModule> own = compileToGpuModule(module, entry, bundling);
  if (failed(own) || !options.readKernels)
    return own;
  FailureOr<OwningOpRef<ModuleOp>> file = options.readKernels();
  if (failed(file))
    return failure();
  bundling.withKernels = interpret;
  bundling.dump.clear(); // it has the program's own
  FailureOr<GpuModule> given = lowerKernels(**file, entry, bundling);
  if (failed(given) || failed(checkGivenKernels(*given->module, given->entry, own->entry)))
    return failure();
  return given;
}

FailureOr<std::unique_ptr<EmulatedProgram>> EmulatedProgram::compile(ModuleOp module, StringRef entry,
                                                                     const EmulatorOptions &options) {
  auto state = std::make_unique<State>(wholeFile(module.getLoc()));
  std::vector<emulate::TileOperation> tiles;
  FailureOr<GpuModule> code = makeKernels(module, entry, options, tiles);
  if (failed(code))
    return failure();
  FailureOr<std::unique_ptr<emulate::HostKernels>> kernels = emulate::HostKernels::compile(*code->module, std::move(tiles));
  if (failed(kernels))
    return failure();
  state->entry = std::move(code->entry);
  state->machine = std::make_unique<emulate::Machine>(std::move(*kernels), options.seed);
  const rt::Plan &plan = state->entry.plans.front();
  std::unique_ptr<rt::Target> target;
  if (failed(state->check(emulate::makeEmulatedTarget(*state->machine, plan, target))))
    return failure();
  state->program = std::make_unique<rt::Program>(state->entry, plan, std::move(target), FT_CPU, 0);
  return std::unique_ptr<EmulatedProgram>(new EmulatedProgram(std::move(state)));
}

LogicalResult EmulatedProgram::prepare(ArrayRef<const rt::HostArray *> arguments) {
  State &s = *state;
  size_t count = s.entry.arguments.size();
  s.clear();
  s.arrays.reserve(count);
  s.firstOutput = arguments.size();
  s.machine->launches = s.machine->threads = s.machine->grid.tileRuns = 0;
  for (const rt::HostArray *array : arguments) {
    s.arrays.push_back(*array);
    s.addTensor(s.arrays.back());
    s.addMemory("argument " + std::to_string(s.arrays.size() - 1), s.arrays.back(), /*isOutput=*/false);
  }
  for (size_t i = arguments.size(); i < count; ++i) {
    std::vector<int64_t> shape;
    rt::HostArray output;
    if (failed(s.check(s.program->outputShape(s.pointers().data(), int64_t(count), int64_t(i), shape))) ||
        failed(s.check(rt::HostArray::create(s.entry.arguments[i].dtype, shape, output))))
      return failure();
    s.arrays.push_back(std::move(output));
    s.addTensor(s.arrays.back());
    s.addMemory("result " + std::to_string(i - arguments.size()), s.arrays.back(), /*isOutput=*/true);
  }
  return success();
}

LogicalResult EmulatedProgram::run() {
  State &s = *state;
  for (size_t i = s.firstOutput; i < s.arrays.size(); ++i)
    std::fill(s.arrays[i].storage.begin(), s.arrays[i].storage.end(), std::byte(0xff));
  for (emulate::Memory *output : s.outputs)
    output->setDefined(false);
  return s.check(s.program->call(s.pointers().data(), int64_t(s.tensors.size()), {}));
}

std::vector<rt::HostArray> EmulatedProgram::results() {
  return {state->arrays.begin() + int64_t(state->firstOutput), state->arrays.end()};
}

int64_t EmulatedProgram::numLaunches() const { return state->machine->launches; }
int64_t EmulatedProgram::numThreads() const { return state->machine->threads; }
int64_t EmulatedProgram::numTileOperations() const { return state->machine->grid.tileRuns; }
