//===- MeasureMachine.cpp - the model of this processor -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rates of products and of elements are those of code that this compiler makes:
// programs whose loop runs one leaf over and over, on one thread. Bandwidths are
// those of a loop that reads, launches and barriers those of the runtime's pool.
// How far ahead products ask for columns is tried out with one of them.
// Each figure is the best of several runs: others only take time away.
//
//===----------------------------------------------------------------------===//

#include "ft/Tools/MeasureMachine.h"

#include "ft/Engine/Bundle/CompileBundle.h"
#include "ft/Engine/Program/CompiledProgram.h"
#include "ft/Machine/Machine.h"
#include "ft/Runtime/Arrays/HostArray.h"
#include "ft/Runtime/Host/ThreadPool.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

#include <chrono>
#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace mlir::ft;
using ::ft::rt::HostArray;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of one call, the least of as many as fit into the time.
static double leastSeconds(llvm::function_ref<void()> call, double budget) {
  double least = 1e30, end = now() + budget;
  for (unsigned runs = 0; runs < 3 || (now() < end && runs < 100000); ++runs) {
    double begin = now();
    call();
    least = std::min(least, now() - begin);
  }
  return least;
}

//===----------------------------------------------------------------------===//
// Memory and threads
//===----------------------------------------------------------------------===//

namespace {
struct Cache {
  int64_t bytes = 0;
  bool shared = false; // by more than the threads of one core
  int64_t lineBytes = 0;
};
} // namespace

/// Numbers in a list such as `0-3,8`.
static unsigned countProcessors(StringRef list) {
  unsigned count = 0;
  for (StringRef part : llvm::split(list.trim(), ',')) {
    auto [first, last] = part.split('-');
    unsigned begin = 0, end = 0;
    if (first.getAsInteger(10, begin))
      continue;
    if (last.empty() || last.getAsInteger(10, end))
      end = begin;
    count += end - begin + 1;
  }
  return count;
}

static std::string readText(const Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : "";
}

/// Data caches by level, as the system describes them.
static SmallVector<Cache> findCaches() {
  std::string cpu = "/sys/devices/system/cpu/cpu0/";
  unsigned ofCore = std::max(1u, countProcessors(readText(cpu + "topology/thread_siblings_list")));
  SmallVector<Cache> caches;
  for (unsigned i = 0; i < 8; ++i) {
    std::string folder = cpu + "cache/index" + std::to_string(i) + "/";
    std::string size = readText(folder + "size");
    if (size.empty() || readText(folder + "type") == "Instruction")
      continue;
    int64_t number = 0;
    StringRef digits = StringRef(size).take_while(llvm::isDigit);
    if (digits.getAsInteger(10, number) || number <= 0)
      continue;
    number *= size.back() == 'M' ? 1 << 20 : size.back() == 'K' ? 1 << 10 : 1;
    int64_t line = 0;
    if (StringRef(readText(folder + "coherency_line_size")).getAsInteger(10, line) || line <= 0)
      line = Machine::cpuDefault().lineBytes();
    caches.push_back({number, countProcessors(readText(folder + "shared_cpu_list")) > ofCore, line});
  }
  llvm::sort(caches, [](const Cache &a, const Cache &b) { return a.bytes < b.bytes; });
  return caches;
}

#if defined(__x86_64__) && (defined(__clang__) || defined(__GNUC__))
#define FT_FOR_EACH_PROCESSOR __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define FT_FOR_EACH_PROCESSOR
#endif

/// Adds all words: many sums at a time, so that nothing but reading takes time.
FT_FOR_EACH_PROCESSOR static uint32_t readAll(const uint32_t *words, size_t count) {
  constexpr size_t lanes = 128;
  uint32_t sums[lanes] = {};
  for (size_t i = 0; i + lanes <= count; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane)
      sums[lane] += words[i + lane];
  uint32_t sum = 0;
  for (uint32_t part : sums)
    sum += part;
  return sum;
}

static double readRate(int64_t bytes, double budget) {
  std::vector<uint32_t> words(bytes / sizeof(uint32_t), 1);
  size_t times = std::max<int64_t>(1, (int64_t(4) << 20) / bytes);
  volatile uint32_t sink = 0;
  double seconds = leastSeconds(
      [&] {
        for (size_t i = 0; i < times; ++i)
          sink = sink + readAll(words.data(), words.size());
      },
      budget);
  return double(times) * bytes / seconds;
}

static double barrierSeconds() {
  constexpr int waits = 2000;
  return leastSeconds(
             [] {
               ft_parallel_region(
                   [](void *, int64_t, int64_t) {
                     for (int i = 0; i < waits; ++i)
                       ft_barrier();
                   },
                   nullptr);
             },
             0.5) /
         waits;
}

static double launchSeconds() {
  return leastSeconds([] { ft_parallel_region([](void *, int64_t, int64_t) {}, nullptr); }, 0.3);
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

/// A loop of L steps that carries a state and does `step` with it.
static std::string loopOf(StringRef state, StringRef other, StringRef step) {
  return llvm::formatv(R"(
    func.func @loop(%ts: !ft.list<[L], tensor<1xf32>>, %x: {0}, %w: {1}) -> {0} {{
      %y = ft.foldl (%t = %ts : !ft.list<[L], tensor<1xf32>>) init (%h = %x : {0}) -> {0} {{
        {2}
        ft.yield %r : {0}
      }
      return %y : {0}
    })",
                       state, other, step)
      .str();
}

namespace {
/// A program whose loop runs one leaf, and its arguments.
struct StepLoop {
  std::unique_ptr<CompiledProgram> program;
  HostArray ts, x, w;
  std::unique_ptr<CompiledProgram::Call> call;
  int64_t steps = 0;

  /// Seconds of one step; nothing, with an error, where it can't be run.
  FailureOr<double> seconds(double budget) {
    bool good = true;
    double least = leastSeconds([&] { good &= succeeded(call->run()); }, budget);
    if (!good)
      return failure();
    return least / double(steps);
  }
};
} // namespace

/// Compiles the program, for the machine of a file or (empty) the processor's own.
static FailureOr<std::unique_ptr<StepLoop>> makeLoop(MLIRContext &context, const std::string &text, ArrayRef<int64_t> state,
                                                     ArrayRef<int64_t> other, int64_t steps, const std::string &machine = "") {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return failure();
  Location loc = module->getLoc();
  BundleOptions options;
  options.cpu.threads = 1;
  if (!machine.empty())
    options.machines = {machine};
  FailureOr<::ft::rt::Bundle> bundle = compileToBundle(*module, {"cpu"}, options);
  if (failed(bundle))
    return failure();
  FailureOr<std::unique_ptr<CompiledProgram>> program = CompiledProgram::load(*bundle, loc);
  if (failed(program))
    return failure();
  auto loop = std::make_unique<StepLoop>();
  loop->program = std::move(*program);
  loop->steps = steps;
  auto make = [](ArrayRef<int64_t> shape, double value, HostArray &array) {
    if (!HostArray::create(::ft::rt::DType::f32, shape.vec(), array))
      return false;
    for (int64_t i = 0; i < array.numElements(); ++i)
      array.setFloat(i, value);
    return true;
  };
  // A state that is multiplied by a matrix stays what it is: no step meets denormals.
  if (!make({steps, 1}, 0, loop->ts) || !make(state, 0.5, loop->x) || !make(other, 1.0 / double(other.size() == 2 ? other[0] : 256), loop->w))
    return failure();
  FailureOr<std::unique_ptr<CompiledProgram::Call>> call = loop->program->prepare("loop", {&loop->ts, &loop->x, &loop->w});
  if (failed(call))
    return failure();
  loop->call = std::move(*call);
  return std::move(loop);
}

static FailureOr<double> stepSeconds(MLIRContext &context, const std::string &text, ArrayRef<int64_t> state, ArrayRef<int64_t> other,
                                     double budget) {
  FailureOr<std::unique_ptr<StepLoop>> loop = makeLoop(context, text, state, other, /*steps=*/256);
  if (failed(loop))
    return failure();
  return (*loop)->seconds(budget);
}

/// A loop whose steps multiply a state of `rows` rows by a square matrix.
static FailureOr<std::unique_ptr<StepLoop>> makeProduct(MLIRContext &context, int64_t rows, int64_t size, int64_t steps,
                                                        const std::string &machine = "") {
  std::string state = llvm::formatv("tensor<{0}x{1}xf32>", rows, size), w = llvm::formatv("tensor<{0}x{0}xf32>", size);
  std::string step = llvm::formatv("%z = arith.constant dense<0.0> : {0}\n"
                                   "%r = linalg.matmul ins(%h, %w : {0}, {1}) outs(%z : {0}) -> {0}",
                                   state, w);
  return makeLoop(context, loopOf(state, w, step), {rows, size}, {size, size}, steps, machine);
}

namespace {
struct LeafRates {
  SmallVector<double> products;
  double elementwise = 0, elementary = 0, call = 0;
};
} // namespace

static FailureOr<LeafRates> measureLeaves(MLIRContext &context) {
  LeafRates rates;
  constexpr int64_t size = 256, mostRows = 6, elements = 2048;
  FailureOr<double> one = stepSeconds(
      context, loopOf("tensor<1xf32>", "tensor<1xf32>", "%r = arith.addf %h, %w : tensor<1xf32>"), {1}, {1}, 0.3);
  if (failed(one))
    return failure();
  rates.call = *one;
  for (int64_t rows = 1; rows <= mostRows; ++rows) {
    FailureOr<std::unique_ptr<StepLoop>> loop = makeProduct(context, rows, size, /*steps=*/256);
    FailureOr<double> seconds = failed(loop) ? FailureOr<double>() : (*loop)->seconds(0.4);
    if (failed(seconds))
      return failure();
    rates.products.push_back(2.0 * rows * size * size / std::max(*seconds - rates.call, 1e-9));
  }
  std::string state = llvm::formatv("tensor<{0}xf32>", elements);
  // The chain of a gate: each result waits for the one before it.
  std::string gate = llvm::formatv("%a = arith.subf %w, %h : {0}\n%b = arith.mulf %a, %h : {0}\n"
                                   "%c = arith.addf %b, %w : {0}\n%r = arith.divf %c, %a : {0}",
                                   state);
  FailureOr<double> chain = stepSeconds(context, loopOf(state, state, gate), {elements}, {elements}, 0.4);
  std::string exponential = llvm::formatv("%a = math.exp %h : {0}\n%r = arith.subf %w, %a : {0}", state);
  FailureOr<double> exp = stepSeconds(context, loopOf(state, state, exponential), {elements}, {elements}, 0.4);
  if (failed(chain) || failed(exp))
    return failure();
  rates.elementwise = 4.0 * elements / *chain;
  rates.elementary = elements / *exp;
  return rates;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Three digits are more than a second run agrees in.
static double rounded(double value) { return std::strtod(llvm::formatv("{0:e2}", value).str().c_str(), nullptr); }

static llvm::json::Object planningOf(int64_t secondBytes) {
  CpuPlanning planning = Machine::cpuDefault().cpu;
  planning.rowBytes = secondBytes / 4;
  llvm::json::Object fields{{"source", "chosen: rows of a quarter of the second cache; ahead_seconds: measured; the rest as in machine/cpu.json"}};
  CpuPlanning::forEachShare(planning, [&](StringRef name, double number) { fields[name] = number; });
  CpuPlanning::forEachCount(planning, [&](StringRef name, int64_t number) { fields[name] = number; });
  fields["compute_intensive"] = Machine::cpuDefault().groups.computeIntensive;
  return fields;
}

static llvm::json::Array measureMemory(ArrayRef<Cache> caches) {
  llvm::json::Array memory;
  for (auto [i, cache] : llvm::enumerate(caches)) {
    llvm::json::Object level{{"level", "l" + std::to_string(i + 1)},
                             {"bytes", cache.bytes},
                             {"line_bytes", cache.lineBytes},
                             {"unit_read_bytes_per_second",
                              rounded(readRate(std::min<int64_t>(cache.bytes / 2, 16 << 20), 0.4))}};
    if (cache.shared)
      level["shared"] = true;
    memory.push_back(std::move(level));
  }
  int64_t beyond = std::clamp<int64_t>(4 * caches.back().bytes, 64 << 20, 512 << 20);
  memory.push_back(llvm::json::Object{
      {"level", "device"}, {"shared", true}, {"unit_read_bytes_per_second", rounded(readRate(beyond, 1.0))}});
  return memory;
}

namespace {
struct AskingProduct {
  int64_t rows, size;
};
} // namespace

/// A product, compiled for a machine that asks so many seconds ahead.
static FailureOr<std::unique_ptr<StepLoop>> makeAsking(MLIRContext &context, llvm::json::Object file, double seconds,
                                                       const AskingProduct &product) {
  // A call takes some milliseconds: it is done before another program's turn comes.
  constexpr int64_t steps = 2;
  if (seconds > 0)
    (*file.getObject("planning"))["ahead_seconds"] = seconds;
  llvm::SmallString<64> path;
  int handle = -1;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("ft-machine", "json", handle, path)) {
    llvm::errs() << "ft-run: error: --measure-machine: can't write a temporary file: " << error.message() << "\n";
    return failure();
  }
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream(handle, /*shouldClose=*/true) << llvm::json::Value(std::move(file));
  return makeProduct(context, product.rows, product.size, steps, path.str().str());
}

/// How long before its use products ask best for what they read from beyond the nearest cache; 0: they should not ask.
static FailureOr<double> measureAhead(MLIRContext &context, const llvm::json::Object &file) {
  constexpr double candidates[] = {0, 1e-8, 2e-8, 3e-8, 4e-8, 6e-8, 8e-8, 1.2e-7};
  // Right-hand sides of 4 and 16 MiB, which a second cache does not keep, for several tiles of rows and for one.
  constexpr AskingProduct products[] = {{48, 1024}, {6, 2048}};
  // Distances whose time is nearly the best are as good: the shortest is taken.
  constexpr double enough = 1.02, budget = 0.03;
  constexpr unsigned rounds = 4;
  SmallVector<double> times(std::size(candidates), 1);
  for (const AskingProduct &product : products) {
    SmallVector<std::unique_ptr<StepLoop>> loops;
    for (double seconds : candidates) {
      FailureOr<std::unique_ptr<StepLoop>> loop = makeAsking(context, file, seconds, product);
      if (failed(loop))
        return failure();
      loops.push_back(std::move(*loop));
    }
    SmallVector<double> least(loops.size(), 1e30);
    // In turn, so that what others do meanwhile slows all of them.
    for (unsigned round = 0; round < rounds; ++round)
      for (auto [loop, best] : llvm::zip_equal(loops, least)) {
        FailureOr<double> seconds = loop->seconds(budget);
        if (failed(seconds))
          return failure();
        best = std::min(best, *seconds);
      }
    for (auto [time, best] : llvm::zip_equal(times, least))
      time *= best;
  }
  // (Times of all products are multiplied: each counts by its ratios.)
  double most = *llvm::min_element(times) * std::pow(enough, double(std::size(products)));
  return candidates[llvm::find_if(times, [&](double time) { return time <= most; }) - times.begin()];
}

FailureOr<std::string> mlir::ft::tools::measureMachine(DialectRegistry &registry) {
  SmallVector<Cache> caches = findCaches();
  if (caches.size() < 2) {
    llvm::errs() << "ft-run: error: --measure-machine: the system does not describe its caches "
                    "(/sys/devices/system/cpu/cpu0/cache)\n";
    return failure();
  }
  MLIRContext context(registry);
  FailureOr<LeafRates> leaves = measureLeaves(context);
  if (failed(leaves))
    return failure();
  llvm::json::Array products;
  for (double rate : leaves->products)
    products.push_back(rounded(rate));
  llvm::json::Object file{
      {"name", (llvm::sys::getHostCPUName() + ", " + Twine(ft_num_threads()) + " cores").str()},
      {"kind", "cpu"},
      {"targets", llvm::json::Array{"cpu"}},
      {"source", "ft-run --measure-machine: the best of several runs"},
      {"unit", llvm::json::Object{{"name", "core"}, {"count", ft_num_threads()}}},
      {"memory", measureMemory(caches)},
      {"unit_rates", llvm::json::Object{{"f32_product_flop_per_second_by_rows", std::move(products)},
                                        {"f32_elementwise_per_second", rounded(leaves->elementwise)},
                                        {"f32_elementary_per_second", rounded(leaves->elementary)}}},
      {"sync_seconds", llvm::json::Object{{"launch", rounded(launchSeconds())},
                                          {"barrier", rounded(barrierSeconds())},
                                          {"leaf_call", rounded(leaves->call)}}},
      {"planning", planningOf(caches[1].bytes)}};
  FailureOr<double> ahead = measureAhead(context, file);
  if (failed(ahead))
    return failure();
  if (*ahead > 0)
    (*file.getObject("planning"))["ahead_seconds"] = *ahead;
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(file))).str();
}
