//===- CpuProgram.cpp - JIT and launch plan of the CPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles the kernels of a lowered graph and runs them one after the other, the
// tasks of each on the runtime's thread pool.
//
//===----------------------------------------------------------------------===//

#include "ft/Conversion/LeafToLoops/LeafCodegen.h"
#include "ft/Engine/CPU/CpuProgram.h"

#include "Jit.h"

#include "ft/Runtime/ThreadPool.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <map>

using namespace mlir;
using namespace mlir::ft;
using ::ft::rt::DType;
using ::ft::rt::HostArray;

LogicalResult mlir::ft::checkLengths(Location loc, ArrayRef<StringAttr> names, BoundsAttr bounds, ArrayAttr checks,
                               const LengthValues &lengths) {
  auto lookup = [&](StringAttr name) -> std::optional<int64_t> {
    auto it = lengths.find(name);
    return it == lengths.end() ? std::nullopt : std::optional<int64_t>(it->second);
  };
  auto binding = [&] {
    std::string text;
    for (StringAttr name : names)
      if (std::optional<int64_t> v = lookup(name))
        text += (text.empty() ? "" : ", ") + name.str() + " = " + std::to_string(*v);
    return text;
  };
  for (StringAttr name : names) {
    std::optional<int64_t> value = lookup(name);
    if (!value)
      return emitError(loc) << "length '" << name.getValue() << "' has no value";
    if (*value < 0)
      return emitError(loc) << "length '" << name.getValue() << "' must not be negative, got " << *value;
  }
  auto holds = [&](BoundsAttr all) -> LengthAttr {
    for (LengthAttr bound : all.getNonNegative()) {
      std::optional<int64_t> value = bound.evaluate(lookup);
      if (!value || *value < 0)
        return bound;
    }
    return nullptr;
  };
  if (bounds)
    if (LengthAttr broken = holds(bounds))
      return emitError(loc) << "the function's bounds demand " << inequalityStr(broken) << ", got " << binding();
  if (checks)
    for (Attribute check : checks) {
      auto entry = cast<DictionaryAttr>(check);
      auto at = entry.getAs<LocationAttr>("at");
      if (holds(entry.getAs<BoundsAttr>("holds")))
        return emitError(at ? Location(at) : loc) << entry.getAs<StringAttr>("because").getValue()
                              << " does not come out even, got " << binding();
    }
  return success();
}

CpuProgram::CpuProgram(CpuModule &&lowered, Location loc) : lowered(std::move(lowered)), loc(loc) {}
CpuProgram::~CpuProgram() = default;
CpuProgram::Call::~Call() = default;

int64_t CpuProgram::numInstructions() const { return code->getSize().translated; }
int64_t CpuProgram::codeBytes() const { return code->getSize().bytes; }

/// One element of an attribute into an array.
static void storeElement(HostArray &array, int64_t i, Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    array.setFloat(i, number.getValueAsDouble());
  else if (auto integer = dyn_cast<IntegerAttr>(value))
    array.setInt(i, integer.getType().isInteger(1) ? integer.getValue().getZExtValue()
                                                   : integer.getValue().getSExtValue());
}

FailureOr<HostArray> mlir::ft::makeConstantArray(const CpuBuffer &buffer, Location loc) {
  std::optional<DType> dtype = arrayTypeOf(buffer.element.getElementType());
  if (!dtype)
    return emitError(loc) << "the CPU engine has no arrays of " << buffer.element.getElementType();
  HostArray array;
  if (auto status = HostArray::create(*dtype, buffer.element.getShape().vec(), array); !status.ok())
    return emitError(loc) << status.message();
  if (buffer.kind == CpuBuffer::Splat) {
    for (int64_t i = 0; i < array.numElements(); ++i)
      storeElement(array, i, buffer.value);
  } else {
    int64_t i = 0;
    for (Attribute value : cast<DenseElementsAttr>(buffer.value).getValues<Attribute>())
      storeElement(array, i++, value);
  }
  return array;
}

FailureOr<std::unique_ptr<CpuProgram>> CpuProgram::lower(etdg::GraphOp graph, const CpuOptions &options) {
  FailureOr<CpuModule> module = lowerGraphToCpu(graph, options);
  if (failed(module))
    return failure();
  std::unique_ptr<CpuProgram> program(new CpuProgram(std::move(*module), graph.getLoc()));
  program->bounds = graph->getAttrOfType<BoundsAttr>("ft.bounds");
  program->checks = graph->getAttrOfType<ArrayAttr>("etdg.checks");

  for (const CpuBuffer &buffer : program->lowered.buffers) {
    std::optional<DType> dtype = arrayTypeOf(buffer.element.getElementType());
    if (!dtype)
      return emitError(graph.getLoc()) << "the CPU engine has no arrays of " << buffer.element.getElementType();
    if (buffer.kind != CpuBuffer::Constant && buffer.kind != CpuBuffer::Splat)
      continue;
    FailureOr<HostArray> array = makeConstantArray(buffer, graph.getLoc());
    if (failed(array))
      return failure();
    program->fixed.push_back({buffer.slot, std::move(*array)});
  }
  if (failed(verify(*program->lowered.module)))
    return failure();
  return program;
}

FailureOr<std::shared_ptr<JitCode>> CpuProgram::generate(ModuleOp code, ArrayRef<std::string> entries) {
  PassManager pm(code.getContext());
  buildLeafToLLVMPipeline(pm);
  // Once, after the last pass: each of them verifies as long as some of them run.
  pm.enableVerifier(false);
  if (failed(pm.run(code)) || failed(verify(code)))
    return failure();
  return JitCode::compile(code, entries);
}

void CpuProgram::addEntries(std::vector<std::string> &entries) const {
  for (const CpuKernel &kernel : lowered.kernels)
    entries.insert(entries.end(), {kernel.name, kernel.name + "_count"});
}

LogicalResult CpuProgram::lookUpKernels() {
  for (const CpuKernel &kernel : lowered.kernels) {
    void *function = code->lookup(loc, kernel.name), *count = code->lookup(loc, kernel.name + "_count");
    if (!function || !count)
      return failure();
    kernels.push_back({reinterpret_cast<KernelFn>(function), reinterpret_cast<CountFn>(count), kernel.team});
  }
  return success();
}

FailureOr<std::unique_ptr<CpuProgram>> CpuProgram::compile(etdg::GraphOp graph, const CpuOptions &options) {
  FailureOr<std::unique_ptr<CpuProgram>> program = lower(graph, options);
  if (failed(program))
    return failure();
  std::vector<std::string> entries;
  (*program)->addEntries(entries);
  FailureOr<std::shared_ptr<JitCode>> generated = generate(*(*program)->lowered.module, entries);
  if (failed(generated))
    return failure();
  (*program)->code = std::move(*generated);
  if (failed((*program)->lookUpKernels()))
    return failure();
  return program;
}

/// Puts `prefix` before the name of every symbol of the module, and of every reference to one.
static void prefixSymbols(ModuleOp module, StringRef prefix) {
  MLIRContext *context = module.getContext();
  auto rename = [&](StringAttr name) { return StringAttr::get(context, prefix + name.getValue()); };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FlatSymbolRefAttr reference) -> Attribute {
    return FlatSymbolRefAttr::get(rename(reference.getAttr()));
  });
  module.walk([&](Operation *op) {
    if (op == module)
      return;
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      symbol.setName(rename(symbol.getNameAttr()));
    replacer.replaceElementsIn(op);
  });
}

FailureOr<std::vector<std::unique_ptr<CpuProgram>>> CpuProgram::compileMany(ArrayRef<etdg::GraphOp> graphs,
                                                                             const CpuOptions &options) {
  std::vector<std::unique_ptr<CpuProgram>> programs;
  std::vector<std::string> entries;
  OwningOpRef<ModuleOp> code;
  for (unsigned i = 0; i < graphs.size(); ++i) {
    etdg::GraphOp graph = graphs[i];
    programs.emplace_back();
    FailureOr<std::unique_ptr<CpuProgram>> program = lower(graph, options);
    if (failed(program))
      continue;
    std::string prefix = "g" + std::to_string(i) + "_";
    ModuleOp part = *(*program)->lowered.module;
    prefixSymbols(part, prefix);
    for (CpuKernel &kernel : (*program)->lowered.kernels)
      kernel.name = prefix + kernel.name;
    (*program)->addEntries(entries);
    if (!code)
      code = ModuleOp::create(graph.getLoc());
    code->getBody()->getOperations().splice(code->getBody()->end(), part.getBody()->getOperations());
    programs.back() = std::move(*program);
  }
  if (!code)
    return programs;
  FailureOr<std::shared_ptr<JitCode>> generated = generate(*code, entries);
  if (failed(generated))
    return failure();
  for (std::unique_ptr<CpuProgram> &program : programs) {
    if (!program)
      continue;
    program->code = *generated;
    if (failed(program->lookUpKernels()))
      return failure();
  }
  return programs;
}

/// What kernels call between the steps of a team; the first thread counts.
static void waitForTeam(void *env, int64_t tid) {
  if (tid == 0)
    ++*reinterpret_cast<int64_t *>(static_cast<int64_t *>(env)[Environment::kStatistics]);
  ft_barrier();
}

FailureOr<std::unique_ptr<CpuProgram::Call>> CpuProgram::prepare(const LengthValues &lengths) {
  if (failed(checkLengths(loc, lowered.symbols, bounds, checks, lengths)))
    return failure();
  auto call = std::make_unique<Call>();
  call->environment.assign(lowered.numSlots, 0);
  call->environment[Environment::kThreads] = ft_num_threads();
  call->environment[Environment::kBarrier] = reinterpret_cast<int64_t>(&waitForTeam);
  call->environment[Environment::kStatistics] = reinterpret_cast<int64_t>(&call->barriers);
  call->environment[Environment::kError] = reinterpret_cast<int64_t>(call->errors);
  for (auto [i, name] : llvm::enumerate(lowered.symbols))
    call->environment[Environment::kFirstSymbol + i] = lengths.lookup(name);
  for (auto &[slot, array] : fixed)
    call->environment[slot] = reinterpret_cast<int64_t>(array.data());

  auto lookup = [&](StringAttr name) { return std::optional<int64_t>(lengths.lookup(name)); };
  unsigned numResults = 0;
  for (const CpuBuffer &buffer : lowered.buffers)
    if (buffer.kind == CpuBuffer::Result)
      ++numResults;
  call->outputs.resize(numResults);
  std::map<int64_t, size_t> arena;                     // number to intermediate
  std::vector<std::pair<unsigned, size_t>> sharing;    // environment slot, intermediate
  for (const CpuBuffer &buffer : lowered.buffers) {
    if (buffer.kind != CpuBuffer::Result && buffer.kind != CpuBuffer::Intermediate)
      continue;
    std::vector<int64_t> shape;
    for (auto [d, length] : llvm::enumerate(buffer.lengths)) {
      std::optional<int64_t> value = length.evaluate(lookup);
      if (!value || *value < 0)
        return emitError(loc) << "length " << length.str() << " of a list is negative or overflows";
      shape.push_back(!buffer.planes.empty() && buffer.planes[d] != 0 ? buffer.planes[d] : *value);
    }
    llvm::append_range(shape, buffer.element.getShape());
    HostArray array;
    if (auto status = HostArray::create(*arrayTypeOf(buffer.element.getElementType()), shape, array); !status.ok())
      return emitError(loc) << status.message();
    if (buffer.shared) {
      // Buffers that share memory have equal sizes; nothing depends on it here: the largest serves all.
      auto [it, isNew] = arena.try_emplace(*buffer.shared, call->intermediates.size());
      if (!isNew && call->intermediates[it->second].numBytes() >= array.numBytes()) {
        sharing.push_back({buffer.slot, it->second});
        continue;
      }
      if (isNew)
        call->intermediates.emplace_back();
      call->intermediates[it->second] = std::move(array);
      sharing.push_back({buffer.slot, it->second});
      continue;
    }
    HostArray &place = buffer.kind == CpuBuffer::Result ? call->outputs[buffer.index]
                                                        : call->intermediates.emplace_back();
    place = std::move(array);
    call->environment[buffer.slot] = reinterpret_cast<int64_t>(place.data());
  }
  for (auto [slot, intermediate] : sharing)
    call->environment[slot] = reinterpret_cast<int64_t>(call->intermediates[intermediate].data());
  return call;
}

int64_t CpuProgram::Call::intermediateBytes() const {
  int64_t bytes = 0;
  for (const HostArray &array : intermediates)
    bytes += array.numBytes();
  return bytes;
}

LogicalResult CpuProgram::run(Call &call, ArrayRef<const HostArray *> arguments) {
  for (const CpuBuffer &buffer : lowered.buffers)
    if (buffer.kind == CpuBuffer::Argument)
      call.environment[buffer.slot] = reinterpret_cast<int64_t>(arguments[buffer.index]->data());
  call.errors[0] = 0;
  call.barriers = 0;
  for (auto [kernel, made] : llvm::zip_equal(kernels, lowered.kernels)) {
    call.ofKernel.assign(call.environment.begin(), call.environment.begin() + Environment::kFirstSymbol);
    for (unsigned slot : made.slots)
      call.ofKernel.push_back(call.environment[slot]);
    void *env = call.ofKernel.data();
    if (int64_t tasks = kernel.count(env); tasks > 0) {
      if (kernel.team)
        ft_parallel_region(kernel.run, env);
      else
        ft_parallel_for(kernel.run, env, tasks, /*grain=*/1);
    }
  }
  if (call.errors[0] != 0) {
    unsigned block = call.errors[1];
    return emitError(lowered.blockLocations[block])
           << "gather index " << call.errors[2] << " is out of range [0, " << call.errors[3] << ")";
  }
  return success();
}
