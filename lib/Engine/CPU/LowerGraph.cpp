//===- LowerGraph.cpp - a graph's kernels, by the passes of the CPU -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases `tile`, `threads` and `target` run on a copy of the graph. The program that these leave becomes the host's side
// of a launch plan.
//
//===----------------------------------------------------------------------===//

#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Engine/CPU/CpuModule.h"
#include "ft/Pipelines/Targets.h"
#include "ft/Support/Interrupt.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::ft;

namespace {
/// Reads a program, and takes it out of its module.
class ProgramReader {
public:
  ProgramReader(loops::ProgramOp program, CpuModule &result) : program(program), result(result) {}
  void read();

private:
  void readBuffer(loops::BufferOp op);
  CpuStep readLaunch(loops::LaunchOp launch);
  /// The variants from number `first` on.
  std::vector<CpuStep> readVariants(loops::VariantsOp variants, unsigned first);

  loops::ProgramOp program;
  CpuModule &result;
  DenseMap<Value, unsigned> slots; // by what launches are given
  DenseMap<Value, unsigned> numbers; // of buffers
};
} // namespace

void ProgramReader::readBuffer(loops::BufferOp op) {
  static_assert(int(CpuBuffer::Splat) == int(loops::BufferKind::Splat), "the kinds agree");
  CpuBuffer buffer;
  buffer.kind = CpuBuffer::Kind(op.getKind());
  buffer.index = op.getIndex().value_or(0);
  buffer.lengths = llvm::to_vector(op.getType().getLengths());
  buffer.element = op.getType().getElement();
  if (std::optional<ArrayRef<int64_t>> planes = op.getPlanes())
    buffer.planes.assign(planes->begin(), planes->end());
  buffer.value = op.getValueAttr();
  if (op.getSlot())
    buffer.shared = int64_t(*op.getSlot());
  slots[op] = buffer.slot = result.numSlots++;
  numbers[op] = result.buffers.size();
  result.buffers.push_back(std::move(buffer));
}

CpuStep ProgramReader::readLaunch(loops::LaunchOp launch) {
  auto callee = result.module->lookupSymbol<func::FuncOp>(launch.getCallee());
  CpuKernel kernel{launch.getCallee().str(), launch.getLoc(), callee->hasAttr(loops::names::team), {}, {}, 0};
  for (Value argument : launch.getArguments())
    kernel.slots.push_back(slots.lookup(argument));
  kernel.plan = launch.getPlan().value_or("").str();
  if (launch.getSeconds())
    kernel.estimatedSeconds = launch.getSeconds()->convertToDouble();
  result.kernels.push_back(std::move(kernel));
  return {unsigned(result.kernels.size() - 1), {}, {}, {}};
}

std::vector<CpuStep> ProgramReader::readVariants(loops::VariantsOp variants, unsigned first) {
  std::vector<CpuStep> launches;
  for (auto launch : variants.getVariants()[first].getOps<loops::LaunchOp>())
    launches.push_back(readLaunch(launch));
  if (first + 1 == variants.getVariants().size())
    return launches;
  CpuStep branch{0, cast<etdg::GuardAttr>(variants.getGuards()[first]), std::move(launches), {}};
  branch.otherwise = readVariants(variants, first + 1);
  return {std::move(branch)};
}

void ProgramReader::read() {
  for (Attribute name : program.getLengths())
    result.symbols.push_back(cast<StringAttr>(name));
  result.numSlots = Environment::kFirstSymbol + result.symbols.size();
  for (Operation &op : program.getBody().front()) {
    if (auto length = dyn_cast<loops::LengthOp>(op)) {
      auto *at = llvm::find(result.symbols, length.getNameAttr());
      slots[length] = Environment::kFirstSymbol + (at - result.symbols.begin());
    } else if (auto buffer = dyn_cast<loops::BufferOp>(op)) {
      readBuffer(buffer);
    } else if (auto stride = dyn_cast<loops::StrideOp>(op)) {
      // A slot for each dimension up to this one: the outermost are those that callers give.
      SmallVector<unsigned> &given = result.buffers[numbers.lookup(stride.getBuffer())].strideSlots;
      while (given.size() <= stride.getDimension())
        given.push_back(result.numSlots++);
      slots[stride] = given[stride.getDimension()];
    } else if (auto variants = dyn_cast<loops::VariantsOp>(op)) {
      llvm::append_range(result.steps, readVariants(variants, 0));
    } else {
      result.steps.push_back(readLaunch(cast<loops::LaunchOp>(op)));
    }
  }
  for (Attribute place : program.getPlaces())
    result.blockLocations.push_back(cast<LocationAttr>(place));
  program.erase();
}

//===----------------------------------------------------------------------===//
// Loops that are given
//===----------------------------------------------------------------------===//

/// Whether a buffer of a program is the argument, or the result, of a graph that it says it is.
static LogicalResult checkBuffer(loops::BufferOp buffer, etdg::GraphOp graph, SmallVectorImpl<bool> &written) {
  bool isArgument = buffer.getKind() == loops::BufferKind::Argument;
  if (!isArgument && buffer.getKind() != loops::BufferKind::Result)
    return success();
  ValueRange all = isArgument ? ValueRange(graph.getBody().getArguments())
                              : ValueRange(graph.getBody().front().getTerminator()->getOperands());
  StringRef what = isArgument ? "argument" : "result";
  auto refuse = [&]() {
    InFlightDiagnostic error = buffer.emitError();
    error.attachNote(graph.getLoc()) << "the program that the loops are for is here";
    return error;
  };
  uint64_t number = buffer.getIndex().value_or(0);
  if (number >= all.size())
    return refuse() << "is " << what << " " << number << ", but @" << graph.getSymName() << " has " << all.size();
  if (buffer.getType() != all[number].getType())
    return refuse() << "expected the type of " << what << " " << number << ", " << all[number].getType() << ", found "
                    << buffer.getType();
  if (!isArgument)
    written[number] = true;
  return success();
}

/// The only program of a module, with the lengths, arguments and results of the graph.
static LogicalResult checkGivenLoops(ModuleOp module, etdg::GraphOp graph) {
  SmallVector<loops::ProgramOp> programs = llvm::to_vector(module.getOps<loops::ProgramOp>());
  if (programs.size() != 1 || programs.front().getSymName() != graph.getSymName())
    return module.emitError() << "expected one program, @" << graph.getSymName() << ", found "
                              << (programs.size() == 1 ? "@" + programs.front().getSymName().str()
                                                       : std::to_string(programs.size()));
  loops::ProgramOp program = programs.front();
  SmallVector<Attribute> names = llvm::to_vector_of<Attribute>(graph.getSymbolNames());
  if (program.getLengths() != ArrayAttr::get(graph.getContext(), names))
    return program.emitError() << "expected the lengths " << ArrayAttr::get(graph.getContext(), names) << " of @"
                               << graph.getSymName() << ", found " << program.getLengths();
  SmallVector<bool> written(graph.getBody().front().getTerminator()->getNumOperands());
  for (auto buffer : program.getBody().front().getOps<loops::BufferOp>())
    if (failed(checkBuffer(buffer, graph, written)))
      return failure();
  if (const bool *missing = llvm::find(written, false); missing != written.end())
    return program.emitError() << "has no buffer for result " << missing - written.begin() << " of @" << graph.getSymName();
  return success();
}

std::unique_ptr<TargetPipeline> mlir::ft::makeTargetPipeline(const CpuOptions &options) {
  CpuPipelineOptions cpu(options, options.target);
  cpu.poison = options.poison;
  return options.grid ? makeGridOnCoresPipeline(std::move(cpu), GpuPipelineOptions(*options.grid)) : makeCpuPipeline(std::move(cpu));
}

namespace {
/// Gives the loops of a program away in the place of a pass.
struct LoopsHook : PassWrapper<LoopsHook, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LoopsHook)
  explicit LoopsHook(std::function<void(ModuleOp)> change) : change(std::move(change)) {}
  void runOnOperation() override { change(getOperation()); }
  std::function<void(ModuleOp)> change;
};
} // namespace

/// What the last phases begin with: a copy of the graph, or the loops that are given in its place.
static FailureOr<OwningOpRef<ModuleOp>> makeInput(etdg::GraphOp graph, const CpuOptions &options) {
  if (options.readLoops) {
    FailureOr<OwningOpRef<ModuleOp>> given = options.readLoops(graph);
    if (failed(given) || failed(checkGivenLoops(**given, graph)))
      return failure();
    return given;
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(graph.getLoc());
  module->push_back(graph->clone());
  return std::move(module);
}

FailureOr<CpuModule> mlir::ft::lowerGraphToCpu(etdg::GraphOp graph, const CpuOptions &options) {
  FailureOr<OwningOpRef<ModuleOp>> made = makeInput(graph, options);
  if (failed(made))
    return failure();
  CpuModule result;
  result.module = std::move(*made);
  ModuleOp module = *result.module;
  std::unique_ptr<TargetPipeline> target = makeTargetPipeline(options);
  PipelineOptions phases;
  phases.from = options.readLoops ? Phase::Tile : Phase::Storage;
  phases.to = Phase::Target;
  phases.target = target.get();
  phases.validate = false;
  phases.isContinued = !options.readLoops;
  phases.completes = bool(options.readLoops);
  phases.dump = options.dump;
  if (options.onLoops)
    phases.after = [&](OpPassManager &pm, Phase phase) {
      if (phase == Phase::Tile)
        pm.addPass(std::make_unique<LoopsHook>(options.onLoops));
    };
  PassManager pm(module.getContext());
  // (The engine verifies the functions of all graphs together, after the last pass.)
  pm.enableVerifier(false);
  if (options.configure)
    options.configure(pm);
  buildPipeline(pm, phases);
  if (failed(unlessInterrupted(pm.run(module))))
    return failure();
  ProgramReader(*module.getOps<loops::ProgramOp>().begin(), result).read();
  for (auto function : module.getOps<func::FuncOp>()) {
    function->removeAttr(loops::names::kernel);
    function->removeAttr(loops::names::team);
  }
  return std::move(result);
}
