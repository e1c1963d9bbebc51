//===- Tool.cpp - the command line of ft-dataflow -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dataflow/Report/Tool.h"

#include "ft/Dataflow/Report/Figures.h"
#include "ft/Dataflow/Graph/GraphJson.h"
#include "ft/Dataflow/Graph/Models.h"
#include "ft/Dataflow/Search/Objective.h"
#include "ft/Dataflow/Report/Report.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace ft::dataflow;

static const char usage[] =
    R"(usage: ft-dataflow GRAPH.json | --model=NAME [options]
       ft-dataflow --figures=DIR [--machine=EDGE --machine=CLOUD] [--budget=SECONDS]

Searches fusion, loop orders and tiles of an operator graph for the least traffic
between a memory and a buffer (DAT, DAC 2024).

  GRAPH.json            an operator graph (docs/dataflow.md); - is standard input
  --model=NAME          bert, gpt2, xlnet, deberta, llama2, albert, blenderbot: attention with its
                        projections; or attention, of the sizes given
  --layer               the model's whole layer instead
  --seq= --heads= --hidden= --batch=   sizes in place of the model's
  --machine=NAME|FILE   a machine (edge, cloud, h200, …): its buffer, and time and energy
  --buffer=ELEMENTS     the buffer, in place of the machine's
  --rules=exact|artifact   what really moves (default), or what DAT's public code counts
  --fusion=intra|tangram|flat|dat2|dat   what may be fused (default dat)
  --objective=traffic|time|energy   what is to be least (default traffic; the others on an accelerator)
  --budget=SECONDS      time for the search under the rules exact (default 10; 0: no limit)
  --gap=SHARE           stop within this of the optimum (default 0)
  --seed=N              of the genetic algorithm
  --min-tile=N --granularity=N --double-buffer   what tiles may be
  --shared-slots        operators that read one tensor may share its slot (rules exact)
  --json                JSON instead of a table
  --svg=FILE            and a picture of loops and buffer
  --print-graph         the graph in JSON, and no search
  --progress            tell bounds on standard error
  --version             the version, and nothing else
)";

namespace {

struct Arguments {
  std::string graph, model, svg, figures;
  std::vector<std::string> machines;
  bool layer = false, json = false, printGraph = false, progress = false, doubleBuffer = false;
  bool sharedSlots = false;
  Count sequence = 0, heads = 0, hidden = 0, batch = 0;
  Count buffer = 0, minTile = 0, granularity = 1, seed = 1;
  bool artifact = false;
  exact::Fusion fusion = exact::Fusion::Any;
  std::string objective = "traffic";
  double budget = -1, gap = 0;
};

class Tool {
public:
  explicit Tool(const MachineFinder &findMachine) : findMachine(findMachine) {}

  int run(int argc, char **argv) {
    if (argc < 2) {
      std::fputs(usage, stderr);
      return 1;
    }
    for (int i = 1; i < argc; ++i)
      if (!argument(argv[i]))
        return failed ? 1 : 0;
    if (!arguments.figures.empty())
      return figures();
    if (!machine() || !graph())
      return 1;
    if (arguments.printGraph) {
      std::cout << writeGraph(theGraph);
      return 0;
    }
    if (!buffer())
      return 1;
    std::optional<Outcome> outcome = arguments.artifact ? byArtifact() : byExact();
    if (!outcome)
      return 1;
    if (!arguments.svg.empty() && !write(arguments.svg, toSvg(*outcome)))
      return 1;
    std::cout << (arguments.json ? toJson(*outcome) : toTable(*outcome));
    return 0;
  }

private:
  bool fail(const std::string &message) {
    std::fprintf(stderr, "ft-dataflow: error: %s\n", message.c_str());
    failed = true;
    return false;
  }

  // ---- arguments ----

  bool argument(std::string_view text) {
    if (text == "--help" || text == "-h") {
      std::fputs(usage, stdout);
      return false;
    }
    if (text == "--version") {
      std::puts("ft-dataflow (FractalTensor " FT_VERSION ")");
      return false;
    }
    if (text.substr(0, 2) != "--") {
      if (!arguments.graph.empty())
        return fail("expected one graph, found '" + arguments.graph + "' and '" +
                    std::string(text) + "'");
      arguments.graph = text;
      return true;
    }
    size_t equals = text.find('=');
    std::string key(text.substr(2, equals == std::string_view::npos ? text.npos : equals - 2));
    if (equals == std::string_view::npos)
      return flag(key);
    return option(key, std::string(text.substr(equals + 1)));
  }

  bool flag(const std::string &key) {
    bool *const known[] = {&arguments.layer, &arguments.json, &arguments.printGraph,
                           &arguments.progress, &arguments.doubleBuffer,
                           &arguments.sharedSlots};
    const char *const names[] = {"layer",    "json",          "print-graph",
                                 "progress", "double-buffer", "shared-slots"};
    for (size_t i = 0; i < std::size(known); ++i)
      if (key == names[i])
        return *known[i] = true;
    return fail("unknown option '--" + key + "' (--help lists them)");
  }

  bool option(const std::string &key, const std::string &value) {
    auto text = [&](std::string &into) { return into = value, true; };
    if (key == "model")
      return text(arguments.model);
    if (key == "svg")
      return text(arguments.svg);
    if (key == "figures")
      return text(arguments.figures);
    if (key == "machine")
      return arguments.machines.push_back(value), true;
    if (key == "rules") {
      if (value != "exact" && value != "artifact")
        return fail("--rules: expected exact or artifact, found '" + value + "'");
      arguments.artifact = value == "artifact";
      return true;
    }
    if (key == "fusion") {
      std::optional<exact::Fusion> fusion = exact::parseFusion(value);
      if (!fusion)
        return fail("--fusion: expected intra, tangram, flat, dat2 or dat, found '" + value + "'");
      arguments.fusion = *fusion;
      return true;
    }
    if (key == "objective") {
      if (!parseObjective(value))
        return fail("--objective: expected traffic, time or energy, found '" + value + "'");
      return text(arguments.objective);
    }
    if (key == "budget")
      return real(key, value, arguments.budget);
    if (key == "gap")
      return real(key, value, arguments.gap);
    struct {
      const char *name;
      Count *into;
      Count least;
    } const integers[] = {{"seq", &arguments.sequence, 1},   {"heads", &arguments.heads, 1},
                          {"hidden", &arguments.hidden, 1},  {"batch", &arguments.batch, 1},
                          {"buffer", &arguments.buffer, 1},  {"min-tile", &arguments.minTile, 1},
                          {"granularity", &arguments.granularity, 1}, {"seed", &arguments.seed, 0}};
    for (const auto &entry : integers)
      if (key == entry.name)
        return integer(key, value, *entry.into, entry.least);
    return fail("unknown option '--" + key + "' (--help lists them)");
  }

  bool integer(const std::string &key, const std::string &value, Count &into, Count least) {
    char *end = nullptr;
    errno = 0;
    into = std::strtoll(value.c_str(), &end, 10);
    if (errno == ERANGE)
      return fail("--" + key + ": expected an integer of 64 bits, found '" + value + "'");
    if (value.empty() || *end || into < least)
      return fail("--" + key + ": expected an integer of at least " + std::to_string(least) +
                  ", found '" + value + "'");
    return true;
  }

  bool real(const std::string &key, const std::string &value, double &into) {
    char *end = nullptr;
    into = std::strtod(value.c_str(), &end);
    if (value.empty() || *end || !(into >= 0) || into > 1e9)
      return fail("--" + key + ": expected a number of at least 0, found '" + value + "'");
    return true;
  }

  // ---- input ----

  static bool readFile(const std::string &path, std::string &text) {
    if (path == "-") {
      text.assign(std::istreambuf_iterator<char>(std::cin), {});
      return true;
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      return false;
    std::ifstream file(path, std::ios::binary);
    if (!file)
      return false;
    text.assign(std::istreambuf_iterator<char>(file), {});
    return !file.bad();
  }

  bool load(const std::string &path, std::optional<Accelerator> &into) {
    std::string error;
    into = findMachine(path, error);
    if (into)
      return true;
    std::fprintf(stderr, "%s\n", error.c_str());
    failed = true;
    return false;
  }

  bool machine() {
    if (arguments.machines.size() > 1)
      return fail("expected one --machine, found " + std::to_string(arguments.machines.size()));
    return arguments.machines.empty() || load(arguments.machines[0], theMachine);
  }

  bool graph() {
    if (arguments.graph.empty() == arguments.model.empty())
      return fail("expected a graph or --model=NAME");
    if (arguments.graph.empty())
      return described();
    std::string text, error;
    if (!readFile(arguments.graph, text))
      return fail("can't read graph '" + arguments.graph + "'");
    std::optional<Graph> read = readGraph(text, arguments.graph, error);
    if (!read) {
      std::fprintf(stderr, "%s\n", error.c_str());
      failed = true;
      return false;
    }
    theGraph = std::move(*read);
    return true;
  }

  bool described() {
    std::optional<ModelSizes> sizes = findModel(arguments.model);
    if (!sizes && (arguments.model == "attention" || arguments.model == "layer")) {
      sizes = ModelSizes{arguments.model};
      sizes->sequence = 0;
      arguments.layer |= arguments.model == "layer";
      if (!arguments.sequence || !arguments.heads || !arguments.hidden)
        return fail("--model=" + arguments.model + " needs --seq=, --heads= and --hidden=");
    }
    if (!sizes) {
      std::string known;
      for (const ModelSizes &model : knownModels())
        known += (known.empty() ? "" : ", ") + model.name;
      std::string hint = arguments.model == "xlm" ? ", whose XLNet is what the artifact of DAT "
                                                    "calls xlm" : "";
      return fail("unknown model '" + arguments.model + "'; known are " + known +
                  ", attention and layer" + hint);
    }
    for (auto [from, into] : {std::pair{arguments.sequence, &sizes->sequence},
                              {arguments.heads, &sizes->heads},
                              {arguments.hidden, &sizes->hidden},
                              {arguments.batch, &sizes->batch}})
      if (from)
        *into = from;
    if (sizes->hidden % sizes->heads)
      return fail("the hidden size " + std::to_string(sizes->hidden) + " is no multiple of " +
                  std::to_string(sizes->heads) + " heads");
    theGraph = arguments.layer ? layerGraph(*sizes)
                               : attentionGraph(*sizes, /*softmax=*/!arguments.artifact);
    // What the describer makes is well formed, unless a product is beyond 64 bits.
    Graph copy = theGraph;
    for (const GraphError &problem : copy.finish())
      return fail(problem.message);
    return true;
  }

  bool buffer() {
    if (!arguments.buffer && theMachine)
      arguments.buffer = theMachine->globalElements();
    if (!arguments.buffer)
      return fail("expected --machine=FILE or --buffer=ELEMENTS");
    return true;
  }

  // ---- searches ----

  std::optional<Outcome> byArtifact() {
    std::string error;
    Graph products = artifact::withoutObstacles(theGraph, error);
    if (!error.empty()) {
      fail(error);
      return std::nullopt;
    }
    artifact::Options options;
    options.buffer = arguments.buffer;
    options.mode = artifact::Mode(int(arguments.fusion));
    if (arguments.minTile)
      options.minTile = arguments.minTile;
    artifact::Result result = artifact::search(products, options);
    if (result.chains.empty()) {
      fail("no schedule fits into a buffer of " + std::to_string(arguments.buffer) +
           " elements: operator '" + products.operators[result.misfit].name +
           "' alone needs at least " + std::to_string(result.needed));
      return std::nullopt;
    }
    if (beyond(result.total.volume) || beyond(result.total.time) || beyond(result.total.accesses))
      return std::nullopt;
    return describe(products, result, options);
  }

  bool beyond(Count count) {
    return count == tooLarge && !fail("the result is beyond 64 bits");
  }

  std::optional<Outcome> byExact() {
    exact::Options options;
    options.buffer = arguments.buffer;
    options.fusion = arguments.fusion;
    options.gap = arguments.gap;
    options.budget = arguments.budget < 0 ? 10 : arguments.budget;
    options.seed = arguments.seed;
    options.granularity = arguments.granularity;
    options.rules.doubleBuffer = arguments.doubleBuffer;
    options.sharedSlots = arguments.sharedSlots;
    if (arguments.minTile)
      options.minTile = arguments.minTile;
    if (arguments.progress)
      options.progress = [](Count traffic, Count bound) {
        if (traffic != tooLarge)
          std::fprintf(stderr, "traffic %lld, at least %lld\n", (long long)traffic,
                       (long long)bound);
      };
    if (Objective objective = *parseObjective(arguments.objective); objective != Objective::Traffic)
      return byMachine(options, objective);
    exact::Result result = exact::search(theGraph, options);
    if (result.groups.empty()) {
      misfit(result, options);
      return std::nullopt;
    }
    return outcomeOf(result, options);
  }

  std::optional<Outcome> outcomeOf(const exact::Result &result, const exact::Options &options) {
    if (beyond(result.volume) || beyond(result.accesses))
      return std::nullopt;
    Outcome outcome = describe(theGraph, result, options);
    if (theMachine && theMachine->units) {
      outcome.machine = theMachine->name;
      outcome.estimate = estimate(theGraph, result.groups, *theMachine);
    }
    return outcome;
  }

  void misfit(const exact::Result &result, const exact::Options &options) {
    fail(describeMisfit(theGraph, result, options));
  }

  /// The best schedule by time or energy of the machine.
  std::optional<Outcome> byMachine(const exact::Options &options, Objective objective) {
    if (!theMachine || !theMachine->units) {
      fail(std::string("--objective=") + name(objective) +
           " needs --machine=FILE of an accelerator (kind array)");
      return std::nullopt;
    }
    ObjectiveResult found = searchObjective(theGraph, options, *theMachine, objective);
    if (found.schedule.groups.empty()) {
      misfit(found.schedule, options);
      return std::nullopt;
    }
    std::optional<Outcome> outcome = outcomeOf(found.schedule, options);
    if (!outcome)
      return std::nullopt;
    outcome->objective = name(objective);
    outcome->value = found.value;
    outcome->valueBound = found.lowerBound;
    return outcome;
  }

  // ---- output ----

  bool write(const std::string &path, const std::string &text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    return file || fail("can't write '" + path + "'");
  }

  int figures() {
    if (arguments.machines.empty())
      arguments.machines = {"edge", "cloud"};
    FigureOptions options;
    for (const std::string &path : arguments.machines) {
      std::optional<Accelerator> read;
      if (!load(path, read))
        return 1;
      if (!read->units) {
        fail("figures need accelerators; '" + path + "' is none");
        return 1;
      }
      options.machines.push_back(*read);
    }
    if (arguments.budget >= 0)
      options.budget = arguments.budget;
    options.log = stderr;
    std::error_code error;
    std::filesystem::create_directories(arguments.figures, error);
    if (error) {
      fail("can't make folder '" + arguments.figures + "': " + error.message());
      return 1;
    }
    std::string text = makeFigures(options, [&](const FigureFile &file) { return write(arguments.figures + "/" + file.name, file.text); });
    if (failed)
      return 1;
    std::cout << text;
    return 0;
  }

  const MachineFinder &findMachine;
  Arguments arguments;
  std::optional<Accelerator> theMachine;
  Graph theGraph;
  bool failed = false;
};

} // namespace

int ft::dataflow::dataflowMain(int argc, char **argv, const MachineFinder &findMachine) {
  return Tool(findMachine).run(argc, argv);
}
