//===- RunOptions.cpp - the command line of ft-run ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunOptions.h"

#include "ft/Machine/FindMachine.h"
#include "ft/Pipelines/Phases.h"
#include "ft/Runtime/Host/ThreadPool.h"
#include "ft/Support/PartitionModes.h"
#include "ft/Target/PTX/PTX.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tools;

/// Why no file can be put there, or nothing: before the program runs, not after.
static std::string whyNotWritable(const std::string &path) {
  namespace fs = llvm::sys::fs;
  if (fs::is_directory(path))
    return "is a folder";
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (folder.empty())
    folder = ".";
  if (!fs::is_directory(folder))
    return ("there is no folder '" + folder + "'").str();
  // What exists and is no regular file is written to; all else is replaced.
  bool isSpecial = fs::exists(path) && !fs::is_regular_file(path);
  if (std::error_code code = fs::access(isSpecial ? llvm::StringRef(path) : folder, fs::AccessMode::Write))
    return "cannot be written: " + code.message();
  return "";
}

static bool bad(const llvm::Twine &message) {
  llvm::errs() << "ft-run: error: " << message << "\n";
  return false;
}

/// `--machine`: what the engine's targets can be planned for.
static bool checkMachine(const RunOptions &options) {
  llvm::Expected<MachineRef> machine = Machine::find(options.machine);
  if (!machine) { // (a file's errors say where they are)
    std::string reason = llvm::toString(machine.takeError());
    if (!StringRef(reason).contains(": error: "))
      return bad("--machine=" + options.machine + ": " + reason);
    llvm::errs() << reason << "\n";
    return false;
  }
  bool isGpu = options.engine == "cuda" || options.isEmulated();
  std::string target = !options.target.empty() ? options.target.getValue() : isGpu ? "" : "cpu";
  bool serves = target.empty() ? (*machine)->kind == Machine::Kind::GPU : (*machine)->serves(target);
  if (!serves)
    return bad("--machine=" + options.machine + ": it serves " +
               ((*machine)->targets.empty() ? "no target" : llvm::join((*machine)->targets, ", ")) + ", --engine=" +
               options.engine + " wants " + (isGpu ? "a GPU's" : "cpu"));
  return true;
}

/// What is to be done: phases, comparison, times and files.
static bool checkWork(const RunOptions &options) {
  if (!options.to.empty()) {
    std::optional<Phase> phase = symbolizePhase(options.to);
    if (!phase || *phase < Phase::ETDG)
      return bad("--to=" + options.to + ": expected a phase from etdg on (" + listPhases() + ")");
    if (options.engine != "interpret")
      return bad("--to is the interpreter's, engines run every phase: add --engine=interpret");
  }
  for (const std::string &name : options.skip)
    if (!llvm::is_contained({"coarsen", "reorder", "partition", "schedule", "storage"}, name))
      return bad("--skip=" + name + ": expected coarsen, reorder, partition, schedule or storage");
  if (!options.compare.empty() && options.compare != "interpret" && options.compare != "truth")
    return bad("--compare=" + options.compare + ": expected interpret or truth");
  for (auto [name, option] : {std::pair("rtol", &options.rtol), std::pair("atol", &options.atol)})
    if (option->getNumOccurrences() && !(option->getValue() >= 0 && std::isfinite(option->getValue())))
      return bad(llvm::Twine("--") + name + ": expected a finite number that is not negative");
  if (options.candidate.getNumOccurrences() && options.candidate < 0)
    return bad("--candidate=" + llvm::Twine(options.candidate) + ": expected a rank, which is at least 0");
  if (options.tune && (options.engine != "cpu" || options.candidate >= 0 || options.planSeed || !options.loops.empty() || !options.scheduleFor.empty()))
    return bad("--tune times the orders that the CPU engine finds: expected --engine=cpu, and no --candidate, --plan-seed, --loops or --schedule-for");
  if (options.tune && !options.dump.empty())
    return bad("--dump has the phases of one program: --tune compiles several");
  if (!options.dump.empty() && !llvm::sys::fs::is_directory(options.dump.getValue()))
    return bad("--dump: no such directory: '" + options.dump + "'");
  if (!options.dump.empty() && !options.loops.empty())
    return bad("--dump has a program's own phases: --loops runs others");
  if (!options.trace.empty() && options.engine != "cpu" && options.engine != "cuda")
    return bad("--trace has the times of kernels: --engine=" + options.engine + " runs none, expected cpu or cuda");
  if (!options.trace.empty())
    if (std::string reason = whyNotWritable(options.trace); !reason.empty())
      return bad("--trace=" + llvm::Twine(options.trace) + ": " + reason);
  for (const std::string &path : options.outs)
    if (std::string reason = whyNotWritable(path); !reason.empty())
      return bad("--out=" + llvm::Twine(path) + ": " + reason);
  return true;
}


bool tools::checkOptions(RunOptions &options) {
  if (!llvm::is_contained({"interpret", "cpu", "cuda", "emulate", "interpret-tile"}, options.engine.getValue()))
    return bad("--engine=" + options.engine + ": expected interpret, cpu, cuda, emulate or interpret-tile");
  if (options.truth && options.engine != "interpret")
    return bad("--truth is for --engine=interpret");
  if (!llvm::is_contained({"generic", "steps", "blocks"}, options.variant.getValue()))
    return bad("--variant=" + options.variant + ": expected generic, steps or blocks");
  if (!options.partition.empty() && !isPartitionMode(options.partition))
    return bad("--partition=" + options.partition + ": expected " + partitionModesText);
  if (options.multiprocessors < 1 || options.multiprocessors > 1024)
    return bad("--multiprocessors: expected a number from 1 to 1024");
  bool cuda = options.engine == "cuda" || options.isEmulated();
  if (!options.target.empty() && (cuda ? !isGpuTarget(options.target) : options.target != "cpu"))
    return bad("--target=" + options.target + ": --engine=" + options.engine + " takes " + (cuda ? listTargetsOf(Machine::Kind::GPU) : "cpu"));
  if (!options.machine.empty() && !checkMachine(options))
    return false;
  if (!options.order.empty() && !llvm::is_contained({"dataflow", "random", "declared"}, options.order.getValue()))
    return bad("--order=" + options.order + ": expected dataflow, random or declared");
  if (!options.order.empty() && options.engine != "interpret" && (options.engine != "cpu" || options.order != "random"))
    return bad("--order is the interpreter's: add --engine=interpret (the CPU's threads have --order=random)");
  if (!options.scheduleFor.empty() && (options.engine != "cpu" || !isGpuTarget(options.scheduleFor)))
    return bad("--schedule-for=" + options.scheduleFor + (options.engine == "cpu" ? ": expected " + listTargetsOf(Machine::Kind::GPU)
                                                                                : ": --engine=cpu runs such loops"));
  if (options.engine == "cpu" && options.order == "random")
    ft_shuffle_threads(int64_t(options.seed >> 1));
  if (!options.loops.empty() && options.engine != "cpu")
    return bad("--loops are the CPU's: --engine=" + options.engine + " runs the program's own");
  if (!options.kernels.empty() && !options.isEmulated())
    return bad("--kernels are a GPU's: --engine=" + options.engine + " runs the program's own");
  return checkWork(options);
}

bool tools::parseLengths(RunOptions &options, DataOptions &data) {
  for (const std::string &text : options.dims) {
    auto [name, value] = llvm::StringRef(text).split('=');
    int64_t number = 0;
    if (name.trim().empty() || value.trim().getAsInteger(10, number)) {
      llvm::errs() << "ft-run: error: --dim " << text << ": expected NAME=VALUE with an integer that fits 64 bits\n";
      return false;
    }
    data.lengths.push_back({name.trim().str(), number});
  }
  return true;
}
