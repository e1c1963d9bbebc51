//===- RunOptions.h - the command line of ft-run ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_TOOLS_RUNOPTIONS_H
#define FT_TOOLS_RUNOPTIONS_H

#include "ft/Tools/RunProgram.h"
#include "ft/Tools/ToolHelp.h"

namespace mlir::ft::tools {

namespace cl = llvm::cl;

/// A number that may be left out, as in `--print`.
struct PrintedParser : cl::parser<unsigned> {
  static constexpr unsigned usual = 8;
  using parser::parser;
  bool parse(cl::Option &option, llvm::StringRef name, llvm::StringRef text, unsigned &value) {
    value = usual;
    return !text.empty() && cl::parser<unsigned>::parse(option, name, text, value);
  }
};

struct RunOptions {
  cl::OptionCategory &category = ownOptions();
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE.mlir"), cl::cat(category)};
  cl::opt<std::string> entry{"entry", cl::desc("the function to run (default: the only one, or @main)"),
                             cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> engine{"engine", cl::desc("interpret, cpu (default), cuda, or for tests: emulate, a GPU's kernels thread by thread; "
                                                "interpret-tile, the same with operations on tiles by their definitions"), cl::init("cpu"), cl::cat(category)};
  cl::opt<bool> truth{"truth", cl::desc("The interpreter computes in f64"), cl::cat(category)};
  cl::opt<std::string> target{"target", cl::desc("cpu (default), sm_80 or sm_90a"), cl::init(""), cl::cat(category)};
  cl::opt<std::string> machine{"machine", cl::desc("what to plan for: a machine's name (cpu, a100, h200) or file (default: the "
                                                   "target's own)"),
                               cl::value_desc("name|file"), cl::cat(category)};
  cl::opt<std::string> measureMachine{"measure-machine",
                                      cl::desc("run no program, but measure this processor and write its machine file (- is the output)"),
                                      cl::value_desc("file.json"), cl::cat(category)};
  cl::opt<std::string> order{"order", cl::desc("of the graph's interpreter: dataflow, random or declared; of the CPU's threads: random, one at a "
                               "time, by the seed, with fresh memory all ones"), cl::cat(category)};
  cl::opt<std::string> to{"to", cl::desc("of the graph's interpreter: the phase to run: etdg (default), coarsen, reorder, partition, schedule, storage or tile"), cl::value_desc("phase"),
                          cl::cat(category)};
  cl::list<std::string> skip{"skip", cl::CommaSeparated, cl::desc("phases to leave out: coarsen, reorder, storage"),
                             cl::value_desc("phase,..."), cl::cat(category)};
  cl::list<std::string> args{"arg", cl::desc("an argument's array, in order"), cl::value_desc("x.npy"), cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::desc("of generated arguments and of orders"), cl::init(0), cl::cat(category)};
  cl::list<std::string> dims{"dim", cl::desc("a length"), cl::value_desc("NAME=VALUE"), cl::cat(category)};
  cl::list<std::string> outs{"out", cl::desc("where to write a result, in order"), cl::value_desc("y.npy"), cl::cat(category)};
  cl::opt<std::string> compare{"compare", cl::desc("interpret: compare with the reference interpreter; truth: with its f64 mode"),
                               cl::cat(category)};
  cl::opt<double> rtol{"rtol", cl::desc("relative tolerance (default: by element type)"), cl::init(-1), cl::cat(category)};
  cl::opt<double> atol{"atol", cl::desc("absolute tolerance (default: by element type)"), cl::init(-1), cl::cat(category)};
  cl::opt<uint64_t> planSeed{"plan-seed", cl::desc("cpu, emulate: any legal arrangement of loops, by this seed, not the cheapest"),
                             cl::init(0), cl::cat(category)};
  cl::opt<int64_t> candidate{"candidate", cl::desc("the order or loop distribution of this rank, not the cheapest (an error names the ranks that there are)"), cl::value_desc("rank"), cl::init(-1),
                             cl::cat(category)};
  cl::opt<std::string> loops{"loops", cl::desc("cpu: run these loops, as --ft-compile=to=tile prints them, in the place of the "
                                               "program's own"), cl::value_desc("file.mlir"), cl::cat(category)};
  cl::opt<std::string> kernels{"kernels", cl::desc("emulate, interpret-tile: run these kernels, as --ft-compile=\"to=threads target=...\" prints "
                                                   "them, in the place of the program's own"), cl::value_desc("kernels.mlir"),
                               cl::cat(category)};
  cl::opt<std::string> partition{"partition", cl::desc("emulate: how a graph is cut into kernels: boundary, souffle or cost (default: each nest is "
                                                       "one, short ones are joined)"), cl::value_desc("MODE"), cl::cat(category)};
  cl::opt<std::string> scheduleFor{"schedule-for", cl::desc("cpu: run the loops of a schedule for sm_80 or sm_90a, a core for each thread block"),
                                   cl::value_desc("target"), cl::cat(category)};
  cl::opt<std::string> variant{"variant", cl::desc("emulate, --schedule-for: generic (default), steps or blocks, as in a bundle"),
                               cl::init("generic"), cl::cat(category)};
  cl::opt<unsigned> multiprocessors{"multiprocessors", cl::desc("emulate, --schedule-for: of the GPU (default 3)"), cl::init(3),
                                    cl::cat(category)};
  cl::opt<std::string> dump{"dump", cl::desc("write the module after each phase into this directory, as --ft-compile=\"dump=DIR\" of ft-opt does, and plan as it "
                                             "does: for the machine's cores and lengths that --dim gives"),
                            cl::value_desc("directory"), cl::cat(category)};
  cl::opt<bool> bench{"bench", cl::desc("time it"), cl::cat(category)};
  cl::opt<double> benchSeconds{"bench-seconds", cl::desc("with --bench: about how long to repeat it (default 1)"),
                               cl::init(1.0), cl::cat(category)};
  cl::opt<bool> tune{"tune", cl::desc("cpu: time each order and loop distribution, print all of them and run the fastest"), cl::cat(category)};
  cl::opt<std::string> trace{"trace", cl::desc("cpu, cuda: write a Chrome trace of one more call, its kernels, tasks and barriers by thread "
                                             "(https://ui.perfetto.dev opens it)"), cl::value_desc("x.json"), cl::cat(category)};
  cl::opt<unsigned, false, PrintedParser> print{"print", cl::desc("print the first values of each result (default 8)"), cl::value_desc("N"), cl::ValueOptional,
                          cl::init(0), cl::cat(category)};
  cl::opt<bool> json{"json", cl::desc("print one JSON object instead of text"), cl::cat(category)};

  /// Whether a GPU's kernels run on this processor.
  bool isEmulated() const { return engine == "emulate" || engine == "interpret-tile"; }
};

/// Says what is wrong with the command line; false where anything is.
bool checkOptions(RunOptions &options);

/// What `--dim` says.
bool parseLengths(RunOptions &options, DataOptions &data);

} // namespace mlir::ft::tools

#endif // FT_TOOLS_RUNOPTIONS_H
