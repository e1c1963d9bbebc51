//===- ft-check-bundle.cpp - run a bundle without a compiler ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls an entry of a bundle through the C ABI on arguments that it generates as
// ft-run does, or reads; poisons the results before each call, compares them
// with given arrays, times. Exit status 0 only if it ran and compared equal.
//
//===----------------------------------------------------------------------===//
#include "ft-c/Runtime.h"
#include "ft/Runtime/Binding.h"
#include "ft/Runtime/Bundle.h"
#include "ft/Runtime/Compare.h"
#include "ft/Runtime/CudaDevice.h"
#include "ft/Runtime/Generate.h"
#include "ft/Runtime/Npy.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace ft::rt;

namespace {

struct Options {
  std::string file, entry, target, variant;
  std::map<std::string, int64_t> dims;
  std::vector<std::string> args, outs, compare;
  uint64_t seed = 0;
  double rtol = -1, atol = -1;
  bool bench = false, graph = false, cpu = false;
  std::string saveArguments; // a folder: arguments as npy, for another program's reference
};

const char usage[] =
    "usage: ft-check-bundle FILE.ftb [--entry=NAME] [--cpu] [--target=sm_80|sm_90a] [--dim NAME=VALUE]...\n"
    "       [--seed=N] [--arg=x.npy]... [--out=y.npy]... [--compare=y.npy]... [--rtol=R] [--atol=A]\n"
    "       [--bench] [--graph] [--save-arguments=FOLDER]\n";

[[noreturn]] void fail(const std::string &message) {
  fprintf(stderr, "ft-check-bundle: error: %s\n", message.c_str());
  exit(1);
}
void check(const Status &status) {
  if (!status.ok())
    fail(status.message());
}
void check(FtStatus status) {
  if (status != FT_OK)
    fail(std::string(ft_status_name(status)) + ": " + ft_last_error());
}

Options parse(int argc, char **argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    auto value = [&](const char *name, std::string &out) {
      std::string prefix = std::string("--") + name;
      if (text == prefix && i + 1 < argc) {
        out = argv[++i];
        return true;
      }
      if (text.rfind(prefix + "=", 0) != 0)
        return false;
      out = text.substr(prefix.size() + 1);
      return true;
    };
    std::string v;
    if (value("entry", v))
      o.entry = v;
    else if (value("target", v))
      o.target = v;
    else if (value("dim", v)) {
      size_t equal = v.find('=');
      if (equal == std::string::npos)
        fail("--dim " + v + ": expected NAME=VALUE");
      o.dims[v.substr(0, equal)] = atoll(v.c_str() + equal + 1);
    } else if (value("seed", v))
      o.seed = strtoull(v.c_str(), nullptr, 10);
    else if (value("arg", v))
      o.args.push_back(v);
    else if (value("out", v))
      o.outs.push_back(v);
    else if (value("compare", v))
      o.compare.push_back(v);
    else if (value("rtol", v))
      o.rtol = atof(v.c_str());
    else if (value("atol", v))
      o.atol = atof(v.c_str());
    else if (value("save-arguments", v))
      o.saveArguments = v;
    else if (text == "--bench")
      o.bench = true;
    else if (text == "--graph")
      o.graph = true;
    else if (text == "--cpu")
      o.cpu = true;
    else if (text[0] != '-' && o.file.empty())
      o.file = text;
    else
      fail("unknown option " + text + "\n" + usage);
  }
  if (o.file.empty())
    fail(usage);
  return o;
}

/// What the bundle says of arguments for a test, or null.
const Json *testOf(const Bundle &bundle, const Entry &entry, Json &storage) {
  for (const Section &section : bundle.sections)
    if (section.kind == Section::data && section.target == "generators") {
      check(Json::parse(section.bytes, storage));
      return storage.find(entry.name);
    }
  return nullptr;
}

class Runner {
public:
  explicit Runner(Options options) : o(std::move(options)) {}
  int run();

private:
  void load();
  void bindLengths();
  void makeArguments();
  int64_t evaluate(const Expr &expr, const char *what);
  Distribution distributionOf(size_t argument);
  void toDevice();
  void poison();
  void call(uint64_t flags);
  double timeOnce(int calls, uint64_t flags);
  bool compareResults();

  Options o;
  Bundle bundle;
  const Entry *entry = nullptr;
  Json testStorage;
  const Json *test = nullptr;
  std::vector<int64_t> variables;
  std::vector<HostArray> arrays;
  FtModule *module = nullptr;
  FtEntry *callable = nullptr;
  CudaDevice *device = nullptr;
  std::vector<CUdeviceptr> memory;
  std::vector<FtTensor> tensors;
  std::vector<const FtTensor *> pointers;
};

void Runner::load() {
  check(Bundle::read(o.file, bundle));
  if (bundle.entries.empty())
    fail("the bundle holds no entry");
  if (o.entry.empty() && bundle.entries.size() > 1)
    fail("there are several entries: choose one with --entry");
  entry = o.entry.empty() ? &bundle.entries.front() : bundle.find(o.entry);
  if (!entry)
    fail("there is no entry " + o.entry);
  if (!o.target.empty()) {
    for (Entry &e : bundle.entries) {
      std::erase_if(e.plans, [&](const Plan &plan) { return plan.target != o.target; });
      if (e.plans.empty())
        fail("entry " + e.name + " has no plan for " + o.target);
    }
  }
  std::string bytes = bundle.serialize();
  FtLoadOptions options = {sizeof options, o.cpu ? FT_CPU : FT_CUDA, 0};
  check(ft_module_load_bytes(bytes.data(), bytes.size(), &options, &module));
  check(ft_module_entry(module, entry->name.c_str(), &callable));
  if (!o.cpu)
    check(CudaDevice::get(0, device));
  test = testOf(bundle, *entry, testStorage);
}

int64_t Runner::evaluate(const Expr &expr, const char *what) {
  int64_t value = 0;
  if (!expr.evaluate(variables.data(), value))
    fail(std::string("overflow in ") + what);
  return value;
}

void Runner::bindLengths() {
  variables.assign(size_t(entry->numVariables()), 0);
  const Json *defaults = test ? test->find("lengths") : nullptr;
  for (size_t i = 0; i < entry->symbols.size(); ++i) {
    const std::string &name = entry->symbols[i].name;
    auto given = o.dims.find(name);
    const Json *usual = defaults ? defaults->find(name) : nullptr;
    if (given != o.dims.end())
      variables[i] = given->second;
    else if (usual)
      variables[i] = usual->asInteger();
    else
      fail("length " + name + " has no value: give --dim " + name + "=N");
  }
  for (auto &[name, value] : o.dims)
    if (std::none_of(entry->symbols.begin(), entry->symbols.end(),
                     [&](const Symbol &s) { return s.name == name; }))
      fail("--dim names " + name + ", which the entry does not have");
}

/// As ft-run: what `ft.gen` says, standard normal and small integers without it.
Distribution Runner::distributionOf(size_t i) {
  bool real = isFloat(entry->arguments[i].dtype);
  const Json *all = test ? test->find("arguments") : nullptr;
  const Json *one = all && i < all->size() ? &(*all)[i] : nullptr;
  std::string kind = one && one->find("kind") ? one->find("kind")->asString() : "default";
  if (kind == "normal" && real)
    return Distribution::makeNormal(one->find("scale")->asReal());
  if (kind == "uniform") {
    double lo = one->find("lo")->asReal(), hi = one->find("hi")->asReal();
    return real ? Distribution::makeUniform(lo, hi) : Distribution::makeInteger(int64_t(lo), int64_t(hi));
  }
  if (kind == "index") {
    auto bound = [&](const char *key) {
      Expr expr;
      check(Expr::fromJson(
          *one->find(key),
          [&](const Json &name) -> int64_t {
            for (size_t s = 0; s < entry->symbols.size(); ++s)
              if (name.isString() && entry->symbols[s].name == name.asString())
                return int64_t(s);
            return -1;
          },
          expr));
      return evaluate(expr, "an index's range");
    };
    return Distribution::makeIndex(bound("lo"), bound("hi"));
  }
  return real ? Distribution::makeNormal(1.0) : Distribution::makeInteger(-3, 3);
}

void Runner::makeArguments() {
  for (size_t i = 0, given = 0; i < entry->arguments.size(); ++i) {
    const Argument &argument = entry->arguments[i];
    std::vector<int64_t> shape;
    for (const Expr &extent : argument.shape)
      shape.push_back(evaluate(extent, "a shape"));
    HostArray array;
    if (!argument.output && given < o.args.size()) {
      NpyExpectation expected;
      expected.dtype = argument.dtype;
      expected.shape = shape;
      check(readNpy(o.args[given++], array, expected));
    } else {
      check(HostArray::create(argument.dtype, shape, array));
      if (!argument.output && array.numElements() > 0)
        check(generate(array, distributionOf(i), o.seed, uint32_t(i)));
    }
    if (!o.saveArguments.empty() && !argument.output)
      check(writeNpy(o.saveArguments + "/" + argument.name + ".npy", array));
    arrays.push_back(std::move(array));
  }
}

void Runner::toDevice() {
  tensors.resize(arrays.size());
  memory.resize(arrays.size());
  std::optional<CudaDevice::Scope> scope;
  if (device) {
    scope.emplace(*device);
    check(scope->status);
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    HostArray &array = arrays[i];
    FtTensor &t = tensors[i];
    memset(&t, 0, sizeof t);
    t.data = array.data();
    if (device) {
      check(device->allocate(std::max<size_t>(size_t(array.numBytes()), 1), memory[i]));
      t.data = reinterpret_cast<void *>(memory[i]);
      if (array.numBytes())
        check(device->check(device->api.memcpyHtoDAsync(memory[i], array.data(), size_t(array.numBytes()), nullptr),
                            "cuMemcpyHtoDAsync"));
    }
    t.device.type = o.cpu ? FT_CPU : FT_CUDA;
    t.ndim = int32_t(array.rank());
    dlpackType(array.dtype, t.dtype.code, t.dtype.bits);
    t.dtype.lanes = 1;
    t.shape = array.shape.data();
    pointers.push_back(&t);
  }
  if (device)
    check(device->check(device->api.streamSynchronize(nullptr), "cuStreamSynchronize"));
}

/// Bytes 0xFF are NaN in every float type, so that what is not written shows.
void Runner::poison() {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!entry->arguments[i].output || arrays[i].numBytes() == 0)
      continue;
    if (device)
      check(device->check(device->api.memsetD8Async(memory[i], 0xff, size_t(arrays[i].numBytes()), nullptr),
                          "cuMemsetD8Async"));
    else
      memset(arrays[i].data(), 0xff, size_t(arrays[i].numBytes()));
  }
}

void Runner::call(uint64_t flags) {
  FtCallOptions options = {sizeof options, nullptr, nullptr, 0, flags};
  check(ft_call(callable, pointers.data(), int32_t(pointers.size()), &options));
}

bool Runner::compareResults() {
  bool equal = true;
  size_t number = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!entry->arguments[i].output)
      continue;
    HostArray &array = arrays[i];
    if (device && array.numBytes()) {
      check(device->check(device->api.memcpyDtoHAsync(array.data(), memory[i], size_t(array.numBytes()), nullptr),
                          "cuMemcpyDtoHAsync"));
      check(device->check(device->api.streamSynchronize(nullptr), "cuStreamSynchronize"));
    }
    if (number < o.compare.size()) {
      HostArray reference;
      NpyExpectation expected;
      if (array.dtype == DType::bf16) // a file holds its bits
        expected.dtype = DType::bf16;
      check(readNpy(o.compare[number], reference, expected));
      Tolerance tolerance = defaultTolerance(array.dtype);
      if (o.rtol >= 0)
        tolerance.rtol = o.rtol;
      if (o.atol >= 0)
        tolerance.atol = o.atol;
      Comparison result = compare(array, reference, tolerance);
      printf("result %zu %s: %s\n", number, array.describe().c_str(), result.message.c_str());
      equal &= result.equal;
    }
    if (number < o.outs.size())
      check(writeNpy(o.outs[number], array));
    ++number;
  }
  return equal;
}

/// Seconds a call, by events around `calls` of them.
double Runner::timeOnce(int calls, uint64_t flags) {
  if (!device) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i)
      call(flags);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
  }
  CUevent first, last;
  const CudaApi &api = device->api;
  check(device->check(api.eventCreate(&first, cu::eventDefault), "cuEventCreate"));
  check(device->check(api.eventCreate(&last, cu::eventDefault), "cuEventCreate"));
  check(device->check(api.eventRecord(first, nullptr), "cuEventRecord"));
  for (int i = 0; i < calls; ++i)
    call(flags);
  check(device->check(api.eventRecord(last, nullptr), "cuEventRecord"));
  check(device->check(api.eventSynchronize(last), "cuEventSynchronize"));
  float milliseconds = 0;
  check(device->check(api.eventElapsedTime(&milliseconds, first, last), "cuEventElapsedTime"));
  api.eventDestroy(first);
  api.eventDestroy(last);
  return milliseconds * 1e-3 / calls;
}

int Runner::run() {
  load();
  bindLengths();
  makeArguments();
  toDevice();
  std::optional<CudaDevice::Scope> scope;
  if (device) {
    scope.emplace(*device);
    check(scope->status);
  }
  uint64_t flags = o.graph ? FT_CALL_GRAPH : 0;
  poison();
  call(flags);
  check(ft_synchronize(module, nullptr));
  bool equal = compareResults();
  FtEntryInfo info = {sizeof info, nullptr, 0, 0, nullptr, nullptr};
  check(ft_entry_info(callable, &info));
  if (o.bench) {
    double once = timeOnce(1, flags);
    int calls = int(std::clamp(0.01 / std::max(once, 1e-7), 1.0, 1000.0));
    std::vector<double> seconds;
    for (int i = 0; i < 15; ++i)
      seconds.push_back(timeOnce(calls, flags));
    std::sort(seconds.begin(), seconds.end());
    int64_t bytes = 0;
    for (const HostArray &array : arrays)
      bytes += array.numBytes();
    double median = seconds[seconds.size() / 2];
    printf("bench %s %s median %.2f us best %.2f us of %zu x %d; arguments %.3f MB, %.1f GB/s\n", entry->name.c_str(),
           info.target, median * 1e6, seconds.front() * 1e6, seconds.size(), calls, double(bytes) * 1e-6,
           double(bytes) / median * 1e-9);
  }
  printf("%s %s on %s%s\n", entry->name.c_str(), equal ? "ok" : "NOT EQUAL", o.cpu ? "cpu" : info.target,
         o.compare.empty() ? " (not compared)" : "");
  ft_module_release(module);
  return equal ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) { return Runner(parse(argc, argv)).run(); }
