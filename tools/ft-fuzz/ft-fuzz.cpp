//===- ft-fuzz.cpp - random programs on every engine ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generates programs from a seed, checks that all engines agree, and that the
// programs cover what they should. Exit status 0 only if nothing failed.
//
//===----------------------------------------------------------------------===//

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Fuzz/Check.h"
#include "ft/Fuzz/Generator.h"
#include "ft/Fuzz/Imperative.h"
#include "ft/Fuzz/Minimize.h"
#include "ft/Fuzz/Shares.h"
#include "ft/InitAll.h"
#include "ft/Tools/ToolMains.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <chrono>
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::ft::fuzz;
namespace cl = llvm::cl;

namespace {
struct Options {
  cl::opt<std::string> file{cl::Positional,
                            cl::desc("[FILE.mlir: check its functions instead of random ones]")};
  cl::opt<int64_t> programs{"programs", cl::desc("how many"), cl::init(100)};
  cl::opt<uint64_t> seed{"seed", cl::desc("which ones"), cl::init(1)};
  cl::opt<int64_t> first{"first", cl::desc("number of the first program"), cl::init(0)};
  cl::opt<int64_t> batch{"batch", cl::desc("programs in one JIT module"), cl::init(25)};
  cl::opt<double> time{"time", cl::desc("stop after so many seconds (0: never)"), cl::init(0)};
  cl::opt<std::string> dump{"dump-failing", cl::desc("write programs that fail there"),
                            cl::value_desc("DIR")};
  cl::opt<bool> minimize{"minimize",
                         cl::desc("make programs that fail as small as possible first")};
  cl::opt<bool> print{"print", cl::desc("print the programs, run nothing")};
  cl::opt<bool> verbose{"verbose", cl::desc("shares and times, whatever happens")};
  cl::opt<bool> noCpu{"no-cpu", cl::desc("leave the CPU engine out")};
  cl::opt<bool> noGraph{"no-graph-interpreter", cl::desc("leave the graph interpreter out")};
  cl::opt<bool> emulate{"emulate", cl::desc("the GPU's kernels, thread by thread on this machine; no CPU "
                                            "engine and no graph interpreter")};
  cl::opt<bool> phases{"phases",
                       cl::desc("each phase in turn, in declared order and with the validator; "
                                "nothing else of the graph")};
  cl::opt<bool> gradients{"gradients",
                          cl::desc("derivatives in both modes: three of four programs are polynomials, whose derivatives are "
                                   "compared exactly; engines run the derivatives")};
  cl::list<std::string> lengths{"at",
                                cl::desc("with FILE: a length other than that of `ft.lengths`"),
                                cl::value_desc("NAME=VALUE")};
  cl::opt<bool> noUpstream{"no-upstream-passes",
                           cl::desc("leave out upstream's passes between the phases")};
  cl::opt<bool> imperative{"imperative",
                           cl::desc("programs over mutable tensors, as the heap interpreter runs them")};
  cl::opt<bool> python{"python", cl::desc("with --imperative --print: the programs over torch instead")};
  cl::opt<std::string> dumpArrays{"dump-arrays", cl::desc("with --imperative: write arguments and results there"),
                                  cl::value_desc("DIR")};
  cl::opt<int64_t> leastOnCpu{"least-on-cpu", cl::desc("with --imperative: how many must reach the CPU engine"),
                              cl::init(0)};
  cl::opt<bool> noVerify{"no-verify-graph", cl::desc("leave etdg-verify out")};
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string lengthsText(const Binding &binding) {
  std::string text;
  for (auto &[name, value] : binding)
    text += " " + name + "=" + std::to_string(value);
  return text;
}

/// The program with the lengths that it failed at.
void setLengths(Program &program, int binding) {
  if (binding < 0 || program.bindings[binding].empty())
    return;
  Builder b(program.module->getContext());
  SmallVector<NamedAttribute> lengths;
  for (auto &[name, value] : program.bindings[binding])
    lengths.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  program.module->lookupSymbol(program.name)->setAttr(mlir::ft::names::lengths, b.getDictionaryAttr(lengths));
}

void report(Program &program, const Verdict &verdict, const Options &options) {
  llvm::outs() << program.name << (verdict.outcome == Outcome::Refused ? " refused: " : " FAILED: ")
               << verdict.stage;
  if (verdict.binding >= 0)
    llvm::outs() << " at" << lengthsText(program.bindings[verdict.binding]);
  llvm::outs() << ": " << verdict.message << "\n";
  llvm::outs().flush();
  if (verdict.outcome != Outcome::Failed || options.dump.empty())
    return;
  setLengths(program, verdict.binding);
  std::string path = options.dump + "/" + program.name + ".mlir";
  std::error_code error = llvm::sys::fs::create_directories(options.dump);
  llvm::raw_fd_ostream file(path, error);
  if (error) {
    llvm::errs() << "ft-fuzz: error: " << path << ": " << error.message() << "\n";
    return;
  }
  file << "// " << verdict.stage << ": " << StringRef(verdict.message).split('\n').first << "\n"
       << *program.module << "\n";
  if (program.derivative) {
    llvm::raw_fd_ostream derivative(options.dump + "/" + program.name + ".derivative.mlir", error);
    derivative << *program.derivative << "\n";
  }
}
} // namespace

/// The functions of a file, each a program at its `ft.lengths`; private ones are for
/// the others to call.
static bool readPrograms(MLIRContext *context, const std::string &path,
                         const std::vector<std::string> &given, std::vector<Program> &programs) {
  std::map<std::string, int64_t> lengthsGiven;
  std::set<std::string> used;
  for (const std::string &text : given) {
    auto [name, value] = StringRef(text).split('=');
    if (value.getAsInteger(10, lengthsGiven[name.str()])) {
      llvm::errs() << "ft-fuzz: error: --at: expected NAME=VALUE, found '" << text << "'\n";
      return false;
    }
  }
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, context);
  if (!module)
    return false;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    Program program;
    program.name = function.getName().str();
    program.module = ModuleOp::create(function.getLoc());
    for (auto callee : module->getOps<func::FuncOp>())
      if (callee.isPrivate())
        program.module->push_back(callee.clone());
    program.module->push_back(function.clone());
    Binding binding;
    for (StringAttr name : mlir::ft::getBoundNames(function.getArgumentTypes()))
      if (auto it = lengthsGiven.find(name.str()); it != lengthsGiven.end()) {
        binding.push_back({it->first, it->second});
        used.insert(it->first);
      }
    if (auto lengths = function->getAttrOfType<DictionaryAttr>(mlir::ft::names::lengths))
      for (NamedAttribute n : lengths) {
        if (!lengthsGiven.count(n.getName().str()))
          binding.push_back({n.getName().str(), cast<IntegerAttr>(n.getValue()).getInt()});
      }
    program.bindings.push_back(binding);
    programs.push_back(std::move(program));
  }
  for (auto &[name, value] : lengthsGiven)
    if (!used.count(name)) {
      llvm::errs() << "ft-fuzz: error: --at " << name << "=" << value << ": no function has a length '" << name << "'\n";
      return false;
    }
  return true;
}

/// The public functions of a file, each a program; private ones are for them to call.
static bool readImperative(MLIRContext *context, const std::string &path,
                           std::vector<ImperativeProgram> &programs) {
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, context);
  if (!module)
    return false;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    OwningOpRef<ModuleOp> own = ModuleOp::create(function.getLoc());
    for (auto callee : module->getOps<func::FuncOp>())
      if (callee.isPrivate())
        own->push_back(callee.clone());
    own->push_back(function.clone());
    ImperativeProgram program;
    program.name = function.getName().str();
    llvm::raw_string_ostream(program.mlir) << *own;
    programs.push_back(std::move(program));
  }
  return true;
}

/// Random programs over mutable tensors.
static int runImperative(const Options &options, DialectRegistry &registry) {
  int64_t done = 0, equal = 0, refused = 0, failed = 0, onCpu = 0;
  std::map<std::string, int64_t> reasons;
  double begin = now();
  int64_t wanted = options.programs;
  while (done < wanted && (options.time == 0 || now() - begin < options.time)) {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    std::vector<ImperativeProgram> programs;
    if (!options.file.empty()) {
      if (!readImperative(&context, options.file, programs))
        return EXIT_FAILURE;
      wanted = programs.size();
    }
    for (int64_t i = 0; options.file.empty() && i < std::min<int64_t>(options.batch, wanted - done); ++i)
      programs.push_back(generateImperative(options.seed, options.first + done + i));
    done += programs.size();
    if (options.print) {
      for (const ImperativeProgram &program : programs)
        llvm::outs() << (options.python ? program.python : program.mlir) << "\n";
      continue;
    }
    auto verdicts = checkImperative(&context, programs, !options.noCpu, options.seed, options.dumpArrays);
    for (auto [program, verdict] : llvm::zip_equal(programs, verdicts)) {
      ++(verdict.outcome == Outcome::Equal     ? equal
         : verdict.outcome == Outcome::Refused ? refused
                                               : failed);
      onCpu += verdict.onCpu;
      if (verdict.outcome == Outcome::Refused)
        ++reasons[verdict.message];
      if (verdict.outcome == Outcome::Failed)
        llvm::outs() << program.name << " FAILED: " << verdict.stage << ": " << verdict.message << "\n";
    }
  }
  if (options.print)
    return EXIT_SUCCESS;
  if (options.verbose)
    for (auto &[reason, count] : reasons)
      llvm::outs() << count << " refused: " << reason << "\n";
  llvm::outs() << done << " programs: " << equal << " equal, " << onCpu << " of them on the CPU engine, "
               << refused << " refused, " << failed << " failed\n";
  bool few = onCpu < options.leastOnCpu || refused * 20 > done;
  if (!few && !options.file.empty() && refused > 0)
    few = true;
  if (few)
    llvm::outs() << "too few: reached the CPU engine, or more than a twentieth refused\n";
  return failed == 0 && !few ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// What the numbers of a random program are.
static Numbers numbersOf(const Options &options, int64_t number) {
  constexpr int64_t realOnes = 4; // one of so many
  if (!options.gradients)
    return Numbers::Any;
  return number % realOnes == realOnes - 1 ? Numbers::Real : Numbers::Polynomial;
}

/// What random programs have too little of, which is printed; nothing of programs from a file.
static std::vector<std::string> findShortages(const Options &options, const Shares &shares, int64_t done, int64_t refused) {
  std::vector<std::string> problems;
  if (options.file.empty()) {
    if (done >= 200)
      problems = shares.missing(!options.gradients);
    if (refused * 10 > done)
      problems.push_back("refused: more than a tenth");
    if (options.verbose || !problems.empty())
      shares.print(llvm::outs());
    for (const std::string &problem : problems)
      llvm::outs() << "too few: " << problem << "\n";
  }
  return problems;
}

/// Where the time of a run has gone, in seconds.
static void printTimes(const Options &options, const StageTimes &times, double all) {
  if (options.verbose)
    llvm::outs() << llvm::format(
        "seconds: round trips %.1f, ft interpreter %.1f, conversion %.1f, etdg-verify %.1f, "
        "graph interpreter %.1f, compilation %.1f, CPU %.1f, in all %.1f\n",
        times.roundTrip, times.interpreter, times.conversion, times.verification,
        times.graphInterpreter, times.compilation, times.cpu, all);
  if (options.verbose && options.phases)
    llvm::outs() << llvm::format("seconds: phases %.1f, validator %.1f, declared order %.1f\n",
                                 times.phases, times.validation, times.declared);
}

int main(int argc, char **argv) {
  mlir::ft::setUpTool("ft-fuzz");
  Options options;
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Check random FractalTensor programs on every engine\n");
  if (options.programs < 0 || options.first < 0 || options.batch < 1) {
    llvm::errs() << "ft-fuzz: error: --programs and --first are at least 0, --batch is at least 1\n";
    return EXIT_FAILURE;
  }
  DialectRegistry registry;
  mlir::ft::registerAllDialects(registry);
  if (options.imperative)
    return runImperative(options, registry);

  CheckOptions check;
  check.phases = options.phases;
  check.gradients = options.gradients;
  check.emulate = options.emulate;
  check.cpu = !options.noCpu && !options.phases && !options.emulate;
  check.graphInterpreter = !options.noGraph && !options.phases && !options.emulate;
  check.verifyGraph = !options.noVerify;
  check.upstream = !options.noUpstream;
  StageTimes times;
  Shares shares;
  int64_t equal = 0, refused = 0, failed = 0, done = 0;
  double begin = now();
  int64_t wanted = options.programs;
  while (done < wanted && (options.time == 0 || now() - begin < options.time)) {
    // A context of its own for each batch: types and attributes are never freed.
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    loadDialects(&context);
    std::vector<Program> programs;
    if (!options.file.empty()) {
      if (!readPrograms(&context, options.file, options.lengths, programs))
        return EXIT_FAILURE;
      wanted = programs.size();
    } else {
      for (int64_t i = 0; i < std::min<int64_t>(options.batch, wanted - done); ++i) {
        llvm::PrettyStackTraceFormat trace("generating program %lld",
                                           static_cast<long long>(options.first + done + i));
        programs.push_back(generateProgram(&context, options.seed, options.first + done + i, numbersOf(options, options.first + done + i)));
        shares.count(*programs.back().module);
      }
    }
    if (options.print) {
      for (Program &program : programs)
        llvm::outs() << *program.module << "\n";
      done += programs.size();
      continue;
    }
    std::vector<Verdict> verdicts = checkPrograms(&context, programs, check, times);
    for (auto [program, verdict] : llvm::zip_equal(programs, verdicts)) {
      ++(verdict.outcome == Outcome::Equal     ? equal
         : verdict.outcome == Outcome::Refused ? refused
                                               : failed);
      if (verdict.outcome == Outcome::Failed ||
          (verdict.outcome == Outcome::Refused && options.verbose)) {
        if (verdict.outcome == Outcome::Failed && options.minimize)
          minimize(program, verdict, check);
        report(program, verdict, options);
      }
    }
    done += programs.size();
  }

  std::vector<std::string> problems = findShortages(options, shares, done, refused);
  printTimes(options, times, now() - begin);
  llvm::outs() << done << " programs: " << equal << " equal, " << refused << " refused, " << failed
               << " failed\n";
  return failed == 0 && problems.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
