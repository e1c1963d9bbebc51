//===- Compiler.cpp - ft-c/Compiler.h -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compilers, sources and programs after the C functions.
//
//===----------------------------------------------------------------------===//
#include "Handles.h"

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Engine/Bundle/CompileBundle.h"
#include "ft/InitAll.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Runtime/Bundle/Held.h"
#include "ft/Runtime/Host/ThreadPool.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Support/Interrupt.h"
#include "ft/Support/SourceText.h"
#include "ft/Target/Host/HostLibrary.h"
#include "ft/Target/PTX/PTX.h"
#include "ft/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Action.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::capi;
namespace rt = ::ft::rt;

FtStatus mlir::ft::capi::fail(FtStatus status, const std::string &message) {
  return ft_set_last_error(status, message.c_str());
}

static FtStatus invalid(const std::string &message) { return fail(FT_INVALID_ARGUMENT, message); }

/// For what emitted errors and failed.
static FtStatus failWithErrors(const DiagnosticSink &sink) {
  const std::string &error = sink.getFirstError();
  return fail(FT_INVALID_PROGRAM, error.empty() ? "the compilation failed without a message" : error);
}

//===----------------------------------------------------------------------===//
// Compilers and sources
//===----------------------------------------------------------------------===//

FtStatus ft_compiler_create(const FtCompilerOptions *given, FtCompiler **compiler) {
  if (!compiler)
    return invalid("compiler is NULL");
  *compiler = nullptr;
  FtCompilerOptions options = {};
  if (!readStruct(given, options))
    return invalid("struct_size is not the size of FtCompilerOptions");
  if (options.max_nesting < 0)
    return invalid("max_nesting is negative");
  auto made = std::make_unique<FtCompiler>();
  registerAllDialects(made->registry);
  made->receiver = std::make_shared<Receiver>(options.diagnostic, options.user);
  made->remarks = options.remarks != 0 && options.diagnostic;
  if (options.max_nesting)
    made->limits.maxNesting = unsigned(options.max_nesting);
  if (options.max_bytes)
    made->limits.maxBytes = options.max_bytes;
  *compiler = made.release();
  return FT_OK;
}

void ft_compiler_release(FtCompiler *compiler) {
  if (!compiler)
    return;
  compiler->receiver->close();
  delete compiler;
}

const char *ft_compiler_version(void) {
  static const std::string version = std::string(getVersion()) + " (LLVM " LLVM_VERSION_STRING ")";
  return version.c_str();
}

const char *ft_phase_name(int32_t index) {
  return index >= 0 && index < int32_t(numPhases) ? stringifyPhase(Phase(index)).data() : nullptr;
}

const char *ft_target_name(int32_t index) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"interpret", "cpu"};
    for (StringRef name : getCpuTargets())
      if (name != "cpu")
        all.push_back(name.str());
    for (StringRef name : targetsOf(Machine::Kind::GPU))
      all.push_back(name.str());
    return all;
  }();
  return index >= 0 && size_t(index) < names.size() ? names[size_t(index)].c_str() : nullptr;
}

SourceState::SourceState(const DialectRegistry &registry, std::shared_ptr<Receiver> receiver, bool remarks)
    : context(registry, MLIRContext::Threading::DISABLED), sink(context, std::move(receiver), remarks) {}

SmallVector<Operation *> mlir::ft::capi::findEntries(ModuleOp module) {
  SmallVector<Operation *> entries;
  for (Operation &op : *module.getBody())
    if (isa<func::FuncOp, etdg::GraphOp>(op) && !cast<FunctionOpInterface>(op).isExternal() &&
        SymbolTable::getSymbolVisibility(&op) != SymbolTable::Visibility::Private)
      entries.push_back(&op);
  return entries;
}

FtStatus mlir::ft::capi::finishSource(SourceState &state) {
  if (!state.module)
    return failWithErrors(state.sink);
  for (Operation *op : findEntries(*state.module))
    state.entries.push_back(SymbolTable::getSymbolName(op).str());
  return FT_OK;
}

/// What `checkInput` wrote, "name:line:column: error: message", in its parts.
static void reportRefusal(DiagnosticSink &sink, StringRef name, StringRef text) {
  text = text.trim();
  if (text.consume_front(name) && text.consume_front(":")) {
    unsigned line = 0, column = 0;
    StringRef rest = text;
    if (!rest.consumeInteger(10, line) && rest.consume_front(":") && !rest.consumeInteger(10, column) &&
        rest.consume_front(": error: "))
      return sink.report(rest.str(), name.str(), int(line), int(column));
    text.consume_front(" ");
  }
  text.consume_front("error: ");
  sink.report(text.str(), name.str(), 1, 1);
}

/// Has messages of calls name arguments as the text does: IR keeps no names of values.
static void nameArguments(ModuleOp module, StringRef text, StringRef file) {
  for (Operation *entry : findEntries(module))
    for (BlockArgument argument : cast<FunctionOpInterface>(entry).getArguments()) {
      auto place = dyn_cast<FileLineColLoc>(argument.getLoc());
      if (!place || place.getFilename().getValue() != file)
        continue;
      if (std::optional<std::string> name = nameAt(text, place.getLine(), place.getColumn()))
        argument.setLoc(NameLoc::get(StringAttr::get(module.getContext(), *name), place));
    }
}

FtStatus ft_source_parse(FtCompiler *compiler, const char *text, size_t size, const char *name, FtSource **source) {
  if (!compiler || !source || (!text && size))
    return invalid("compiler, text or source is NULL");
  *source = nullptr;
  StringRef file = name ? name : "-";
  auto made = std::make_unique<FtSource>();
  made->state = std::make_shared<SourceState>(compiler->registry, compiler->receiver, compiler->remarks);
  SourceState &state = *made->state;
  StringRef given(text, size);
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(given, file);
  std::string refusal;
  llvm::raw_string_ostream errors(refusal);
  if (!checkInput(*buffer, compiler->limits, errors)) {
    reportRefusal(state.sink, file, refusal);
    return failWithErrors(state.sink);
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  state.module = parseSourceFile<ModuleOp>(sources, &state.context);
  if (FtStatus status = finishSource(state))
    return status;
  nameArguments(*state.module, given, file);
  *source = made.release();
  return FT_OK;
}

void ft_source_release(FtSource *source) { delete source; }

const char *ft_source_entry_name(const FtSource *source, int32_t index) {
  if (!source || index < 0 || size_t(index) >= source->state->entries.size())
    return nullptr;
  return source->state->entries[size_t(index)].c_str();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
/// FtCompileOptions, checked.
struct Request {
  std::vector<std::string> targets;
  std::string entry, machine, from, rounding;
  std::vector<std::string> skip;
  std::vector<FtLength> lengths;
  int32_t threads = 0;
  bool validates = true, variants = false;
  GpuOptions gpu;
  uint64_t planSeed = 0;
  int64_t candidate = -1;
  const volatile int32_t *cancel = nullptr;

  bool isInterpreted() const { return targets.front() == "interpret"; }
  bool isCancelled() const { return cancel && *cancel; }
};
} // namespace

static std::vector<std::string> splitList(const char *text) {
  SmallVector<StringRef> parts;
  StringRef(text ? text : "").split(parts, ',', -1, /*KeepEmpty=*/false);
  std::vector<std::string> result;
  for (StringRef part : parts)
    result.push_back(part.trim().str());
  return result;
}

static FtStatus readTargets(const char *text, Request &request) {
  request.targets = splitList(text ? text : "cpu");
  if (request.targets.empty())
    return invalid("target is empty");
  std::string known;
  for (int32_t i = 0; const char *name = ft_target_name(i); ++i)
    known += (i ? ", " : "") + std::string(name);
  for (std::string &target : request.targets) {
    if (target == "interpret") {
      if (request.targets.size() > 1)
        return invalid("target: \"interpret\" stands alone, found \"" + std::string(text) + "\"");
    } else if (!isGpuTarget(target) && !getCpuTarget(target)) {
      return invalid("target: expected " + known + ", found \"" + target + "\"");
    }
  }
  return FT_OK;
}

static FtStatus readSchedule(const FtScheduleOptions *given, Request &request) {
  FtScheduleOptions options = {};
  if (!readStruct(given, options))
    return invalid("struct_size is not the size of FtScheduleOptions");
  StringRef steps = options.gpu_steps ? options.gpu_steps : "choose";
  using Steps = GpuOptions::Steps;
  if (steps != "choose" && steps != "always" && steps != "never")
    return invalid("gpu_steps: expected \"choose\", \"always\" or \"never\", found \"" + steps.str() + "\"");
  request.gpu.steps = steps == "always" ? Steps::always : steps == "never" ? Steps::never : Steps::choose;
  int32_t threads = options.gpu_step_threads; // 0: as the machine says
  if (threads != 0 && (threads < 32 || threads > 1024 || threads % 32))
    return invalid("gpu_step_threads: expected a multiple of 32 up to 1024, found " + std::to_string(threads));
  request.gpu.stepThreads = threads;
  if (options.gpu_barrier_limit < 0 || options.cpu_candidate < 0)
    return invalid("gpu_barrier_limit and cpu_candidate must not be negative");
  request.gpu.barrierLimit = options.gpu_barrier_limit;
  request.variants = options.variants != 0;
  request.planSeed = options.cpu_plan_seed;
  request.candidate = options.cpu_candidate - 1;
  return FT_OK;
}

static FtStatus readOptions(const FtSource &source, const FtCompileOptions *given, Request &request) {
  FtCompileOptions options = {};
  if (!readStruct(given, options))
    return invalid("struct_size is not the size of FtCompileOptions");
  if (FtStatus status = readTargets(options.target, request))
    return status;
  if (FtStatus status = readSchedule(options.schedule, request))
    return status;
  request.entry = options.entry ? options.entry : "";
  if (!request.entry.empty() && !llvm::is_contained(source.state->entries, request.entry))
    return fail(FT_NOT_FOUND, "entry: there is no function or graph \"" + request.entry + "\"; there are: " +
                                  llvm::join(source.state->entries, ", "));
  request.machine = options.machine ? options.machine : "";
  request.from = options.from ? options.from : "";
  if (!request.from.empty() && !symbolizePhase(request.from))
    return invalid("from: expected one of " + listPhases() + ", found \"" + request.from + "\"");
  request.skip = splitList(options.skip);
  for (const std::string &name : request.skip)
    if (std::optional<Phase> phase = symbolizePhase(name); !phase || !mayBeSkipped(*phase))
      return invalid("skip: expected coarsen, reorder, partition or storage, found \"" + name + "\"");
  if (options.num_lengths < 0 || (options.num_lengths > 0 && !options.lengths))
    return invalid("lengths is NULL, or num_lengths is negative");
  request.lengths.assign(options.lengths, options.lengths + options.num_lengths);
  for (const FtLength &length : request.lengths)
    if (!length.name || length.value < 0)
      return invalid("lengths: a name is NULL, or a length is negative");
  request.threads = options.threads;
  request.validates = !options.no_validation;
  request.cancel = options.cancel;
  request.rounding = options.rounding ? options.rounding : "excess";
  if (request.rounding != "exact" && request.rounding != "excess")
    return invalid("rounding: expected exact or excess, found \"" + request.rounding + "\"");
  return FT_OK;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

namespace {
/// While it lives, no pass of the context begins once the caller's flag is set.
class CancelScope {
public:
  CancelScope(MLIRContext &context, const Request &request)
      : context(context), interrupt(request.cancel), isActive(request.cancel) {
    if (isActive)
      context.registerActionHandler([&request](llvm::function_ref<void()> run, const tracing::Action &action) {
        if (!request.isCancelled() || !isa<PassExecutionAction>(action))
          run();
      });
  }
  ~CancelScope() {
    if (isActive)
      context.registerActionHandler(nullptr);
  }

private:
  MLIRContext &context;
  InterruptScope interrupt; // contexts of this interface have no threads of their own
  bool isActive;
};
} // namespace

/// A copy of the program, of one entry alone where one is wanted.
static OwningOpRef<ModuleOp> copyProgram(ModuleOp module, const std::string &entry) {
  return entry.empty() ? OwningOpRef<ModuleOp>(module.clone()) : copyEntry(module, entry);
}

static BundleOptions makeBundleOptions(MLIRContext &context, const Request &request) {
  BundleOptions options;
  options.gpu = request.gpu;
  options.gpu.target = request.targets.front();
  options.gpu.candidate = request.candidate;
  options.variants = request.variants;
  options.skip = request.skip;
  if (!request.machine.empty())
    options.machines.push_back(request.machine);
  options.validate = request.validates;
  options.rounding = request.rounding;
  options.from = request.from.empty() ? Phase::ETDG : *symbolizePhase(request.from);
  options.cpu.threads = request.threads ? unsigned(request.threads) : unsigned(ft_num_threads());
  options.cpu.planSeed = request.planSeed;
  options.cpu.candidate = request.candidate;
  for (const FtLength &length : request.lengths)
    options.cpu.lengths.push_back({StringAttr::get(&context, length.name), length.value});
  return options;
}

static FtStatus compileCode(SourceState &state, const Request &request, rt::Bundle &bundle,
                            std::map<std::string, double> &figures) {
  CancelScope cancel(state.context, request);
  OwningOpRef<ModuleOp> module = copyProgram(*state.module, request.entry);
  CpuReport report;
  BundleOptions options = makeBundleOptions(state.context, request);
  options.report = &report;
  FailureOr<rt::Bundle> made = failure();
  if (module)
    made = compileToBundle(*module, request.targets, options);
  if (request.isCancelled())
    return fail(FT_CANCELLED, "the compilation was cancelled");
  if (failed(made))
    return failWithErrors(state.sink);
  bundle = std::move(*made);
  if (llvm::any_of(request.targets, [](StringRef target) { return !isGpuTarget(target); }))
    figures = {{"instructions", double(report.instructions)},
               {"code_bytes", double(report.codeBytes)},
               {"predicted_nanoseconds", report.estimatedSeconds * 1e9}};
  return FT_OK;
}

FtStatus ft_compile(FtSource *source, const FtCompileOptions *given, FtProgram **program) {
  if (!source || !program)
    return invalid("source or program is NULL");
  *program = nullptr;
  Request request;
  if (FtStatus status = readOptions(*source, given, request))
    return status;
  auto begin = std::chrono::steady_clock::now();
  SourceState &state = *source->state;
  std::lock_guard<std::mutex> guard(state.lock);
  state.sink.clear();
  auto made = std::make_unique<FtProgram>();
  rt::Bundle bundle;
  if (FtStatus status = request.isInterpreted()
                            ? makeInterpretedProgram(source->state, request.entry, bundle, made->interpreted)
                            : compileCode(state, request, bundle, made->figures))
    return status;
  if (llvm::all_of(request.targets, [](StringRef target) { return isGpuTarget(target); }))
    made->deviceType = FT_CUDA;
  made->bytes = bundle.serialize();
  made->figures["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  *program = made.release();
  return FT_OK;
}

void ft_program_release(FtProgram *program) { delete program; }

FtStatus ft_compile_text(FtCompiler *compiler, const char *text, size_t size, const char *name,
                         const FtCompileOptions *options, FtProgram **program) {
  FtSource *source = nullptr;
  if (FtStatus status = ft_source_parse(compiler, text, size, name, &source))
    return status;
  FtStatus status = ft_compile(source, options, program);
  ft_source_release(source);
  return status;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// The module at a phase, or null where a phase failed.
static OwningOpRef<ModuleOp> runPhases(SourceState &state, const Request &request, StringRef to) {
  OwningOpRef<ModuleOp> module = copyProgram(*state.module, request.entry);
  if (!module)
    return {};
  CompileOptions options;
  bool hasFunctions =
      llvm::any_of(module->getOps<func::FuncOp>(), [](func::FuncOp f) { return !f.isExternal(); });
  options.from = !request.from.empty() ? request.from : hasFunctions ? "input" : "etdg";
  options.to = to.str();
  StringRef target = request.targets.front();
  options.target = isGpuTarget(target) ? target.str() : "cpu";
  options.machine = request.machine;
  options.skip = request.skip;
  options.validate = request.validates ? "on" : "off";
  options.rounding = request.rounding;
  // What is printed is planned as what is compiled.
  options.threads = unsigned(request.threads);
  for (const FtLength &length : request.lengths)
    options.lengths.push_back(std::string(length.name) + "=" + std::to_string(length.value));
  options.planSeed = request.planSeed;
  options.candidate = request.candidate;
  options.steps = stepsAsText(request.gpu.steps).str();
  options.stepThreads = request.gpu.stepThreads;
  options.barrierLimit = request.gpu.barrierLimit;
  PassManager pm(&state.context);
  buildCompilePipeline(pm, options);
  if (failed(unlessInterrupted(pm.run(*module))))
    return {};
  return module;
}

static FailureOr<std::string> printPhase(SourceState &state, const Request &request, StringRef to) {
  OwningOpRef<ModuleOp> module = runPhases(state, request, to);
  if (!module)
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  return text;
}

/// The graphs, drawn: as they come from the program and, on a page, after reordering.
static FailureOr<std::string> drawGraphs(SourceState &state, const Request &request, StringRef as) {
  OwningOpRef<ModuleOp> before = runPhases(state, request, "etdg");
  if (!before)
    return failure();
  etdg::LengthValues lengths;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (as == "dot") {
    etdg::writeDot(*before, stream);
  } else if (as == "json") {
    etdg::writeJson(*before, stream, lengths, Machine::cpuDefault().groups.computeIntensive);
  } else {
    OwningOpRef<ModuleOp> after = runPhases(state, request, "reorder");
    if (!after)
      return failure();
    etdg::writeHtml(*before, *after, stream, lengths, Machine::cpuDefault().groups.computeIntensive);
  }
  return text;
}

static FailureOr<std::string> printCode(SourceState &state, const Request &request, StringRef to) {
  OwningOpRef<ModuleOp> module = copyProgram(*state.module, request.entry);
  if (!module)
    return failure();
  BundleOptions options = makeBundleOptions(state.context, request);
  return to == "ptx" ? compileToPTX(*module, options) : compileToLLVMIR(*module, request.targets.front(), options);
}

FtStatus ft_print(FtSource *source, const FtCompileOptions *given, const char *to, FtTextFn write, void *user) {
  if (!source || !to || !write)
    return invalid("source, to or write is NULL");
  Request request;
  if (FtStatus status = readOptions(*source, given, request))
    return status;
  StringRef what = to;
  bool isCode = what == "llvm" || what == "ptx";
  bool isDrawing = what == "dot" || what == "json" || what == "html";
  if (!isCode && !isDrawing && !symbolizePhase(what))
    return invalid("to: expected one of " + listPhases() + ", llvm, ptx, dot, json, html, found \"" + what.str() +
                   "\"");
  if (isCode && (request.targets.size() != 1 || request.isInterpreted()))
    return invalid("to: code is printed for one target, which is not \"interpret\"");
  if (what == "ptx" && !isGpuTarget(request.targets.front()))
    return invalid("to: \"ptx\" is code for a GPU, the target is \"" + request.targets.front() + "\"");
  SourceState &state = *source->state;
  std::string text;
  {
    std::lock_guard<std::mutex> guard(state.lock);
    state.sink.clear();
    CancelScope cancel(state.context, request);
    FailureOr<std::string> printed = isCode      ? printCode(state, request, what)
                                     : isDrawing ? drawGraphs(state, request, what)
                                                 : printPhase(state, request, what);
    if (request.isCancelled())
      return fail(FT_CANCELLED, "the compilation was cancelled");
    if (failed(printed))
      return failWithErrors(state.sink);
    text = std::move(*printed);
  }
  write(text.data(), text.size(), user);
  return FT_OK;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

FtStatus ft_program_load(FtProgram *program, const FtLoadOptions *given, FtModule **module) {
  if (!program || !module)
    return invalid("program or module is NULL");
  *module = nullptr;
  FtLoadOptions options = {sizeof options, program->deviceType, 0};
  if (!readStruct(given, options))
    return invalid("struct_size is not the size of FtLoadOptions");
  options.struct_size = sizeof options;
  if (!program->interpreted)
    return ft_module_load_bytes(program->bytes.data(), program->bytes.size(), &options, module);
  if (options.device_type != FT_CPU)
    return invalid("device_type: what is interpreted runs on the CPU");
  FtKernels kernels = shareKernels(program->interpreted);
  return ft_module_load_kernels(program->bytes.data(), program->bytes.size(), &kernels, module);
}

static FtStatus checkIsCode(const FtProgram *program) {
  return program->interpreted ? fail(FT_UNSUPPORTED_FORMAT, "the target \"interpret\" makes no code to store") : FT_OK;
}

FtStatus ft_program_bytes(FtProgram *program, const void **bytes, size_t *size) {
  if (!program || !bytes || !size)
    return invalid("program, bytes or size is NULL");
  if (FtStatus status = checkIsCode(program))
    return status;
  *bytes = program->bytes.data();
  *size = program->bytes.size();
  return FT_OK;
}

FtStatus ft_program_hold(FtProgram *program, const void *safetensors, size_t size) {
  if (!program || !safetensors)
    return invalid("program or safetensors is NULL");
  if (FtStatus status = checkIsCode(program))
    return status;
  rt::Bundle bundle;
  std::vector<rt::HeldArgument> held;
  std::vector<rt::SafeTensor> values;
  std::string_view content(static_cast<const char *>(safetensors), size);
  rt::Status status = rt::Bundle::parse(program->bytes, "program", bundle);
  if (status.ok())
    status = rt::findHeld(bundle, held);
  if (status.ok())
    status = rt::parseValues(held, content, "parameters", values);
  if (!status.ok())
    return fail(FtStatus(status.code()), status.message());
  std::erase_if(bundle.sections, [](const rt::Section &section) { return section.kind == rt::Section::data && section.target == rt::sectionOfValues; });
  bundle.sections.push_back({rt::Section::data, std::string(rt::sectionOfValues), std::string(content)});
  program->bytes = bundle.serialize();
  return FT_OK;
}

FtStatus ft_program_export(FtProgram *program, const char *path) {
  if (!program || !path)
    return invalid("program or path is NULL");
  if (FtStatus status = checkIsCode(program))
    return status;
  rt::Bundle bundle;
  rt::Status status = rt::Bundle::parse(program->bytes, path, bundle);
  if (status.ok())
    status = bundle.write(path);
  return status.ok() ? FT_OK : fail(FtStatus(status.code()), status.message());
}

FtStatus ft_program_figure(const FtProgram *program, const char *name, double *value) {
  if (!program || !name || !value)
    return invalid("program, name or value is NULL");
  auto it = program->figures.find(name);
  if (it == program->figures.end())
    return fail(FT_NOT_FOUND, "no figure \"" + std::string(name) + "\"");
  *value = it->second;
  return FT_OK;
}
