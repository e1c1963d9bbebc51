//===- RunBundle.cpp - a command line over bundles ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Program/RunBundle.h"

#include "ft-c/Runtime.h"
#include "ft/Runtime/Program/Binding.h"
#include "ft/Runtime/Arrays/Compare.h"
#include "ft/Runtime/Arrays/Npy.h"
#include "ft/Runtime/Program/Target.h"
#include "ft/Runtime/Arrays/TestInputs.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace ft::rt;

static constexpr const char *help = R"(usage: ft-run-bundle FILE.ftb [options]
  --entry=NAME         the function to run (default: the only one)
  --engine=cpu|cuda    default: cpu where the bundle has code for this processor
  --device=N           which GPU (default 0)
  --arg=x.npy          an input's array, in order; the rest are generated
  --seed=N             of generated inputs (default 0)
  --dim NAME=VALUE     a length
  --out=y.npy          where to write a result, in order
  --expect=y.npy       what a result must equal, in order
  --truth=y.npy        the same in f64: results that differ may err as what is expected does
  --rtol=X --atol=X    tolerances (default: by element type)
  --variant=NAME       the schedule to use
  --graph              replay a CUDA graph
  --bench              time it
  --tune               time each schedule and record the best in the file
  --json               print one JSON object instead of text
  --version            print the version, and run nothing
or:    ft-run-bundle --commands=FILE
                       each line of FILE, which holds the words of a command as above, in one
                       process: prints a line `ok` or `FAIL` with its words and the reason
)";

namespace {
struct Options {
  std::string file, entry, engine, variant;
  std::vector<std::string> arguments, outputs, expected, truths;
  Lengths lengths;
  int64_t device = 0, seed = 0;
  double rtol = -1, atol = -1;
  bool graph = false, bench = false, tune = false, json = false;
};

template <class T>
bool parseNumber(const std::string &text, T &out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

Status badOption(const std::string &option) {
  return Status::error(Code::invalidArgument, "unknown or malformed option " + option);
}

Status parseOptions(int argc, char **argv, Options &o) {
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i], key = text, value;
    if (size_t at = text.find('='); at != text.npos && text.starts_with("--")) {
      key = text.substr(0, at);
      value = text.substr(at + 1);
    } else if ((text == "--dim" || text == "--arg" || text == "--out" || text == "--entry" ||
                text == "--expect" || text == "--truth" || text == "--seed" || text == "--device") &&
               i + 1 < argc) {
      value = argv[++i];
    }
    bool valid = true;
    if (!text.starts_with("--")) {
      valid = o.file.empty();
      o.file = text;
    } else if (key == "--dim") {
      size_t at = value.find('=');
      valid = at != value.npos && parseNumber(value.substr(at + 1), o.lengths[value.substr(0, at)]);
    } else if (key == "--entry")
      o.entry = value;
    else if (key == "--engine") {
      o.engine = value;
      valid = value == "cpu" || value == "cuda";
    } else if (key == "--variant")
      o.variant = value;
    else if (key == "--arg")
      o.arguments.push_back(value);
    else if (key == "--out")
      o.outputs.push_back(value);
    else if (key == "--expect")
      o.expected.push_back(value);
    else if (key == "--truth")
      o.truths.push_back(value);
    else if (key == "--device")
      valid = parseNumber(value, o.device) && o.device >= 0 && o.device < 1024;
    else if (key == "--seed")
      valid = parseNumber(value, o.seed);
    else if (key == "--rtol")
      valid = parseNumber(value, o.rtol) && o.rtol >= 0;
    else if (key == "--atol")
      valid = parseNumber(value, o.atol) && o.atol >= 0;
    else if (text == "--graph")
      o.graph = true;
    else if (text == "--bench")
      o.bench = true;
    else if (text == "--tune")
      o.tune = true;
    else if (text == "--json")
      o.json = true;
    else
      valid = false;
    if (!valid)
      return badOption(text);
  }
  if (o.file.empty())
    return Status::error(Code::invalidArgument, std::string("no file\n") + help);
  return {};
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The message of a failed C call as a status again.
Status fromC(FtStatus status) {
  return status == FT_OK ? Status() : Status::error(Code(status), ft_last_error());
}

struct Timing {
  double wait = 0;    // seconds a call, device included
  double enqueue = 0; // seconds a call on the host
};

class Run {
public:
  explicit Run(const Options &options) : options(options) {}
  ~Run() {
    for (void *pointer : memory)
      ft_module_free(module, pointer);
    ft_module_release(module);
  }

  Status execute() {
    FT_RT_TRY(Bundle::read(options.file, bundle));
    FT_RT_TRY(load());
    FT_RT_TRY(openOutputs());
    FT_RT_TRY(bindLengths());
    FT_RT_TRY(makeArguments());
    if (options.tune)
      FT_RT_TRY(tune());
    FT_RT_TRY(poison());
    FT_RT_TRY(call());
    FT_RT_TRY(fromC(ft_synchronize(module, nullptr)));
    FT_RT_TRY(takeOutputs());
    if (options.bench) {
      Timing timing;
      FT_RT_TRY(measure(timing));
      report.set("microseconds", timing.wait * 1e6);
      report.set("host_microseconds", timing.enqueue * 1e6);
    }
    return equal ? files.commit() : Status();
  }

  Json report = Json::makeObject();
  bool equal = true;

private:
  Status load() {
    bool cpu = options.engine == "cpu";
    if (options.engine.empty())
      for (const Entry &e : bundle.entries)
        for (const Plan &p : e.plans)
          cpu |= hostFitness(p.target) > 0;
    FtLoadOptions load = {sizeof(load), cpu ? FT_CPU : FT_CUDA, int32_t(options.device)};
    deviceType = load.device_type;
    std::string bytes = bundle.serialize();
    FT_RT_TRY(fromC(ft_module_load_bytes(bytes.data(), bytes.size(), &load, &module)));
    const char *name = options.entry.empty() ? nullptr : options.entry.c_str();
    FT_RT_TRY(fromC(ft_module_entry(module, name, &handle)));
    if (!options.variant.empty())
      FT_RT_TRY(fromC(ft_entry_select_variant(handle, options.variant.c_str())));
    return describe();
  }

  Status describe() {
    FtEntryInfo info = {sizeof(info), nullptr, 0, 0, nullptr, nullptr};
    FT_RT_TRY(fromC(ft_entry_info(handle, &info)));
    entry = bundle.find(info.name);
    if (!entry)
      return Status::error(Code::corrupt, "the module has an entry that the file has not");
    target = info.target;
    report = Json::makeObject();
    report.set("entry", info.name).set("target", info.target).set("variant", info.variant);
    return {};
  }

  /// Before the run: what cannot be written later is said now.
  Status openOutputs() {
    size_t outputs = 0;
    for (const Argument &a : entry->arguments)
      outputs += a.output;
    if (outputs < std::max(options.outputs.size(), options.expected.size()))
      return Status::error(Code::invalidArgument, "more --out or --expect than outputs");
    for (const std::string &path : options.outputs)
      FT_RT_TRY(files.open(path));
    return {};
  }

  /// Lengths: --dim first, then the given arrays' shapes, then the bundle's.
  Status bindLengths() {
    FT_RT_TRY(TestInputs::read(bundle, entry->name, inputs));
    size_t next = 0;
    arrays.resize(entry->arguments.size());
    for (size_t i = 0; i < arrays.size() && next < options.arguments.size(); ++i) {
      if (entry->arguments[i].output)
        continue;
      NpyExpectation expected{entry->arguments[i].dtype,
                              std::vector<int64_t>(entry->arguments[i].shape.size(), -1)};
      FT_RT_TRY(readNpy(options.arguments[next++], arrays[i], expected));
      given.resize(arrays.size());
      given[i] = true;
    }
    if (next < options.arguments.size())
      return Status::error(Code::invalidArgument,
                           "more --arg than inputs: " + options.arguments[next]);
    given.resize(arrays.size());
    for (const auto &[name, value] : options.lengths)
      if (std::none_of(entry->symbols.begin(), entry->symbols.end(),
                       [&, n = name](const Symbol &s) { return s.name == n; }))
        return Status::error(Code::invalidArgument, "--dim " + name + ": entry \"" + entry->name +
                                                        "\" has no such length");
    variables.assign(size_t(entry->numVariables()), 0);
    for (size_t s = 0; s < entry->symbols.size(); ++s) {
      const std::string &name = entry->symbols[s].name;
      if (auto it = options.lengths.find(name); it != options.lengths.end())
        variables[s] = it->second;
      else if (!fromArrays(s, variables[s])) {
        auto standard = inputs.lengths.find(name);
        if (standard == inputs.lengths.end())
          return Status::error(Code::invalidArgument, "no value for the length " + name +
                                                          ": give --dim " + name + "=VALUE");
        variables[s] = standard->second;
      }
      values[name] = variables[s];
    }
    return {};
  }

  /// A symbol's value where all extents that it is made of come from files.
  bool fromArrays(size_t symbol, int64_t &value) {
    std::vector<int64_t> known(variables.size(), 0);
    for (size_t x = 0; x < entry->extents.size(); ++x) {
      const Entry::Extent &e = entry->extents[x];
      if (!entry->symbols[symbol].value.uses(entry->firstExtent() + int64_t(x)))
        continue;
      if (!given[size_t(e.argument)] || e.stride)
        return false;
      known[size_t(entry->firstExtent()) + x] = arrays[size_t(e.argument)].shape[size_t(e.dim)];
    }
    return entry->symbols[symbol].value.evaluate(known.data(), value);
  }

  Status makeArguments() {
    size_t count = entry->arguments.size();
    tensors.resize(count);
    places.assign(count, nullptr);
    uint32_t input = 0;
    for (bool outputs : {false, true})
      for (size_t i = 0; i < count; ++i) {
        const Argument &a = entry->arguments[i];
        if (a.output != outputs)
          continue;
        std::vector<int64_t> shape(a.shape.size());
        for (size_t d = 0; d < shape.size(); ++d)
          if (!a.shape[d].evaluate(variables.data(), shape[d]))
            return Status::error(Code::invalidArgument,
                                 "the shape of \"" + a.name + "\" overflows at these lengths");
        if (given[i] && arrays[i].shape != shape)
          return Status::error(Code::invalidArgument, "argument \"" + a.name + "\": expected " +
                                                          ft::rt::describe(a.dtype, shape) +
                                                          " at these lengths, found " +
                                                          arrays[i].describe());
        if (!given[i])
          FT_RT_TRY(HostArray::create(a.dtype, shape, arrays[i]).inside("\"" + a.name + "\""));
        if (!outputs && !given[i]) {
          Distribution d;
          FT_RT_TRY(inputs.distribution(input, values, d));
          FT_RT_TRY(
              generate(arrays[i], d, uint64_t(options.seed), input).inside("\"" + a.name + "\""));
        }
        input += !outputs;
        void *pointer = nullptr;
        size_t bytes = size_t(arrays[i].numBytes());
        FT_RT_TRY(fromC(ft_module_alloc(module, bytes, &pointer)));
        memory.push_back(pointer);
        if (!outputs)
          FT_RT_TRY(fromC(ft_module_copy_to(module, pointer, arrays[i].data(), bytes)));
        tensors[i] = asTensor(arrays[i], pointer, deviceType, int32_t(deviceType == FT_CPU ? 0 : options.device));
        places[i] = &tensors[i];
      }
    return {};
  }

  /// All bits one: a NaN, or -1. What a kernel leaves out shows.
  Status poison() {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!entry->arguments[i].output)
        continue;
      std::fill(arrays[i].storage.begin(), arrays[i].storage.end(), std::byte(0xff));
      FT_RT_TRY(fromC(ft_module_copy_to(module, tensors[i].data, arrays[i].data(),
                                        size_t(arrays[i].numBytes()))));
    }
    return {};
  }

  Status call() {
    FtCallOptions call = {sizeof(call), nullptr, nullptr, 0,
                          options.graph ? uint64_t(FT_CALL_GRAPH) : 0};
    return fromC(ft_call(handle, places.data(), int32_t(places.size()), &call));
  }

  Status takeOutputs() {
    Json list = Json::makeArray();
    size_t output = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!entry->arguments[i].output)
        continue;
      FT_RT_TRY(fromC(ft_module_copy_from(module, arrays[i].data(), tensors[i].data,
                                          size_t(arrays[i].numBytes()))));
      Json one = Json::makeObject();
      one.set("name", entry->arguments[i].name).set("type", arrays[i].describe());
      if (output < options.expected.size())
        FT_RT_TRY(compareOutput(arrays[i], output, one));
      if (output < options.outputs.size())
        FT_RT_TRY(writeNpy(files, output, arrays[i]));
      list.push(std::move(one));
      ++output;
    }
    report.set("outputs", std::move(list));
    return {};
  }

  Status compareOutput(const HostArray &array, size_t output, Json &one) {
    const std::string &file = options.expected[output];
    HostArray reference;
    NpyExpectation expected;
    if (array.dtype == DType::bf16)
      expected.dtype = DType::bf16;
    FT_RT_TRY(readNpy(file, reference, expected));
    Tolerance t = defaultTolerance(array.dtype);
    if (output < inputs.roundings.size() && inputs.roundings[output] && t.rtol > 0)
      if (Tolerance onTheWay = defaultTolerance(*inputs.roundings[output]); onTheWay.rtol > t.rtol)
        t = onTheWay;
    if (options.rtol >= 0)
      t.rtol = options.rtol;
    if (options.atol >= 0)
      t.atol = options.atol;
    Comparison c = compare(array, reference, t);
    if (!c.equal && output < options.truths.size()) {
      HostArray truth;
      FT_RT_TRY(readNpy(options.truths[output], truth, expected));
      c = compareByTruth(array, {reference}, truth, t);
    }
    equal &= c.equal;
    one.set("equal", c.equal).set("max_error", c.maxError).set("message", c.message);
    return {};
  }

  /// The median of several rounds, each long enough for the clock.
  Status measure(Timing &timing) {
    std::vector<double> waits, enqueues;
    int64_t calls = 1;
    double begin = now();
    while (waits.size() < 15 && (now() - begin < 3 || waits.size() < 3)) {
      double start = now();
      for (int64_t i = 0; i < calls; ++i)
        FT_RT_TRY(call());
      double enqueued = now();
      FT_RT_TRY(fromC(ft_synchronize(module, nullptr)));
      double end = now();
      if (end - start < 2e-3 && calls < 4096) { // not enough yet: also the warm-up
        calls *= 2;
        continue;
      }
      waits.push_back((end - start) / double(calls));
      enqueues.push_back((enqueued - start) / double(calls));
    }
    std::sort(waits.begin(), waits.end());
    std::sort(enqueues.begin(), enqueues.end());
    timing = {waits[waits.size() / 2], enqueues[enqueues.size() / 2]};
    return {};
  }

  Status tune() {
    Json times = Json::makeObject();
    std::string best;
    double least = 0;
    for (int32_t v = 0; const char *variant = ft_entry_variant(handle, v); ++v) {
      FT_RT_TRY(fromC(ft_entry_select_variant(handle, variant)));
      Timing timing;
      FT_RT_TRY(measure(timing));
      times.set(variant, timing.wait * 1e6);
      if (best.empty() || timing.wait < least) {
        best = variant;
        least = timing.wait;
      }
    }
    FT_RT_TRY(fromC(ft_entry_select_variant(handle, best.c_str())));
    FT_RT_TRY(describe());
    report.set("tuned_microseconds", std::move(times));
    Bundle changed = bundle;
    for (Entry &e : changed.entries) {
      if (e.name != entry->name)
        continue;
      std::erase_if(e.chosen, [&](const auto &choice) { return choice.first == target; });
      e.chosen.emplace_back(target, best);
    }
    return changed.write(options.file);
  }

  const Options &options;
  Bundle bundle;
  FtModule *module = nullptr;
  FtEntry *handle = nullptr;
  const Entry *entry = nullptr;
  std::string target;
  int32_t deviceType = FT_CPU;
  TestInputs inputs;
  Lengths values;
  std::vector<int64_t> variables;
  std::vector<HostArray> arrays;
  std::vector<bool> given;
  std::vector<FtTensor> tensors;
  std::vector<const FtTensor *> places;
  std::vector<void *> memory;
  OutputFiles files;
};
} // namespace

static void printText(const Json &report) {
  auto text = [&](const char *key) { return report.find(key)->asString().c_str(); };
  printf("%s on %s, schedule %s\n", text("entry"), text("target"), text("variant"));
  for (const Json &output : report.find("outputs")->items()) {
    const Json *message = output.find("message");
    printf("  %s: %s%s%s\n", output.find("name")->asString().c_str(),
           output.find("type")->asString().c_str(), message ? ", " : "",
           message ? message->asString().c_str() : "");
  }
  if (const Json *times = report.find("tuned_microseconds"))
    for (size_t i = 0; i < times->size(); ++i)
      printf("  schedule %s: %.2f us\n", times->keys()[i].c_str(), (*times)[i].asReal());
  if (const Json *time = report.find("microseconds"))
    printf("  %.2f us a call, %.2f us of it on the host\n", time->asReal(),
           report.find("host_microseconds")->asReal());
}

static Status execute(Run &run, const Status &parsed) {
  if (!parsed.ok())
    return parsed;
  try {
    return run.execute();
  } catch (const std::bad_alloc &) {
    return Status::error(Code::outOfMemory, "out of memory");
  }
}

/// Why a run that ended did not give what was expected.
static std::string firstDifference(const Json &report) {
  for (const Json &output : report.find("outputs")->items())
    if (const Json *equal = output.find("equal"); equal && !equal->asBool())
      return output.find("name")->asString() + ": " + output.find("message")->asString();
  return "not equal";
}

/// Runs what each line says; one that fails does not keep the next from running.
static int runCommands(const std::string &path) {
  std::ifstream file(path);
  bool all = true;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream stream(line);
    std::vector<std::string> words = {""};
    for (std::string word; stream >> word;)
      words.push_back(word);
    std::vector<char *> arguments;
    for (std::string &word : words)
      arguments.push_back(word.data());
    if (words.size() == 1)
      continue;
    Options options;
    Status parsed = parseOptions(int(arguments.size()), arguments.data(), options);
    Run run(options);
    Status status = execute(run, parsed);
    std::string reason = !status.ok() ? status.message() : run.equal ? "" : firstDifference(run.report);
    printf("%s %s%s%s\n", reason.empty() ? "ok  " : "FAIL", line.c_str(), reason.empty() ? "" : ": ", reason.c_str());
    fflush(stdout);
    all &= reason.empty();
  }
  if (file.bad() || !file.eof()) {
    fprintf(stderr, "error: %s: cannot be read\n", path.c_str());
    return 1;
  }
  return all ? 0 : 1;
}

int ft::rt::runBundleMain(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (!strcmp(argv[i], "--help")) {
      fputs(help, stdout);
      return 0;
    } else if (!strcmp(argv[i], "--version")) {
      puts("ft-run-bundle (FractalTensor " FT_VERSION ")");
      return 0;
    }
  constexpr std::string_view commands = "--commands=";
  if (argc == 2 && std::string_view(argv[1]).starts_with(commands))
    return runCommands(argv[1] + commands.size());
  Options options;
  Status parsed = parseOptions(argc, argv, options);
  Run run(options);
  if (Status status = execute(run, parsed); !status.ok()) {
    // A file's name stands in front already where the file is at fault.
    fprintf(stderr, "error: %s\n", status.message().c_str());
    return 1;
  }
  if (options.json) {
    run.report.set("ok", run.equal);
    fputs(run.report.dump().c_str(), stdout);
  } else {
    printText(run.report);
  }
  return run.equal ? 0 : 1;
}
