//===- ToolHelp.cpp - what --help of a tool shows -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Tools/ToolHelp.h"

#include "ft/InitAll.h"
#include "ft/Pipelines/Targets.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::ft;
namespace cl = llvm::cl;

cl::OptionCategory &tools::ownOptions() {
  static cl::OptionCategory category("FractalTensor options");
  return category;
}

static cl::OptionCategory &upstreamOptions() {
  static cl::OptionCategory category("MLIR options", "All of them are shown by --help-hidden.");
  return category;
}

void tools::registerUpstream(llvm::function_ref<void()> registerOptions, ArrayRef<StringRef> shown) {
  llvm::DenseSet<cl::Option *> before;
  for (auto &option : cl::getRegisteredOptions())
    before.insert(option.second);
  registerOptions();
  for (auto &option : cl::getRegisteredOptions())
    if (before.contains(option.second))
      continue;
    else if (llvm::is_contained(shown, option.first)) {
      // (Options of a group of their own stay in it.)
      if (option.second->Categories.front() == &cl::getGeneralCategory())
        option.second->addCategory(upstreamOptions());
    }
    else
      option.second->setHiddenFlag(cl::Hidden);
}

bool tools::asksForHelp(int argc, char **argv) {
  return llvm::any_of(ArrayRef(argv, argc).drop_front(),
                      [](StringRef argument) { return argument == "--help" || argument == "-help" || argument == "-h" || argument == "--h"; });
}

//===----------------------------------------------------------------------===//
// Passes by phase
//===----------------------------------------------------------------------===//

namespace {
/// What a phase is for.
struct PhaseTitle {
  StringRef phase, title;
};
} // namespace

static constexpr PhaseTitle phaseTitles[] = {
    {"ft", "functions over lists become values of upstream's dialects"},
    {"etdg", "they become task dependence graphs"},
    {"coarsen", "blocks are merged, split into leaves, and hoisted"},
    {"reorder", "nests get an order of few and wide steps"},
    {"schedule", "loops say who runs them and where threads wait"},
    {"storage", "buffers keep the planes that are live"},
    {"tile", "graphs become structured loops, whose leaves are tiled"},
    {"threads", "loops become what a thread runs"},
    {"pipeline", "warp groups fetch operands of others' products"},
    {"target", "the LLVM dialect"},
};

/// Passes that observe a compilation, and upstream's two, which many phases run.
static bool isLeftOut(StringRef pass) {
  return llvm::is_contained({"ft-dump-phase", "ft-skip-phase", "canonicalize", "cse"}, pass);
}

/// Adds the passes of a target's phases, as the pipeline prints them.
static void addPasses(const TargetPipeline &target, llvm::StringMap<std::vector<std::string>> &byPhase) {
  OpPassManager pm(ModuleOp::getOperationName());
  PipelineOptions options;
  options.to = Phase::Target;
  options.target = &target;
  options.validate = false;
  options.dump = "."; // (a pass after each phase names it; nothing runs)
  buildPipeline(pm, options);
  std::string text;
  llvm::raw_string_ostream stream(text);
  pm.printAsTextualPipeline(stream);
  std::vector<std::string> names;
  for (StringRef rest = text; !rest.empty();) {
    size_t length = rest.find_first_of("(){},");
    StringRef name = rest.take_front(length).trim();
    rest = length == StringRef::npos ? StringRef() : rest.drop_front(length);
    StringRef given = rest.starts_with("{") ? rest.take_front(rest.find('}')) : StringRef();
    bool isNest = rest.starts_with("(");
    rest = rest.drop_front(std::min(rest.size(), std::max<size_t>(given.size(), 1)));
    if (name == "ft-dump-phase") {
      StringRef phase = given.substr(given.find("phase=") + StringRef("phase=").size()).take_while([](char c) { return llvm::isAlpha(c); });
      llvm::append_range(byPhase[phase], names);
      names.clear();
    } else if (!name.empty() && !isNest && !isLeftOut(name)) {
      names.push_back(name.str());
    }
  }
}

/// Prints names one after the other in lines of bounded length.
static void printWrapped(ArrayRef<std::string> names) {
  const size_t indent = 4, width = 118;
  size_t column = 0;
  for (auto [i, name] : llvm::enumerate(names)) {
    std::string word = name + (i + 1 < names.size() ? "," : "");
    if (column && column + 1 + word.size() > width) {
      llvm::outs() << '\n';
      column = 0;
    }
    llvm::outs().indent(column ? 1 : indent) << word;
    column += (column ? 1 : indent) + word.size();
  }
  llvm::outs() << '\n';
}

/// Whether a pass is ours, by its name: it begins with a dialect of ours, or converts from or to a graph.
static bool isOwn(StringRef name, ArrayRef<StringRef> dialects) {
  SmallVector<StringRef> words;
  name.split(words, '-');
  return llvm::is_contained(dialects, words.front()) || (words.front() == "convert" && llvm::any_of(words, [](StringRef word) {
           return llvm::is_contained({"ft", "etdg", "tssa"}, word);
         }));
}

void tools::printPassesByPhase() {
  llvm::StringMap<std::vector<std::string>> byPhase;
  addPasses(*makeCpuPipeline(), byPhase);
  addPasses(*makeGpuPipeline(), byPhase);
  llvm::outs() << "Passes by phase, in the order in which --ft-compile runs them; docs/passes.md says what each reads and writes.\n"
                  "--help-hidden describes each pass with its options.\n\n";
  llvm::StringSet<> seen;
  for (const PhaseTitle &phase : phaseTitles) {
    std::vector<std::string> names;
    for (const std::string &name : byPhase[phase.phase])
      if (seen.insert(name).second)
        names.push_back("--" + name);
    llvm::outs() << "  " << phase.phase << ": " << phase.title << '\n';
    if (!names.empty())
      printWrapped(names);
  }
  DialectRegistry registry;
  registerOwnDialects(registry);
  SmallVector<StringRef> dialects(registry.getDialectNames());
  std::vector<std::string> others;
  for (auto &option : cl::getRegisteredOptions())
    if (isOwn(option.first, dialects) && (PassInfo::lookup(option.first) || PassPipelineInfo::lookup(option.first)) &&
        seen.insert(option.first).second)
      others.push_back("--" + option.first.str());
  llvm::sort(others);
  llvm::outs() << "  in no phase: what phases observe, parts of a phase, and passes to be called for\n";
  printWrapped(others);
  llvm::outs() << '\n';
  if (const PassPipelineInfo *compile = PassPipelineInfo::lookup("ft-compile"))
    compile->printHelpStr(/*indent=*/2, /*descIndent=*/compile->getOptionWidth() + 4); // (a narrower column wraps around to 2^32 blanks)
  llvm::outs() << '\n';
}
