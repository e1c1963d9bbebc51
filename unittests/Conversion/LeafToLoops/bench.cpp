//===- bench.cpp - How fast generated leaves are --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints GFLOP/s (or Gelem/s) on one core, the best of several runs, and how
// long generation, lowering and LLVM took.
//
//===----------------------------------------------------------------------===//
#include "LeafTester.h"

#include <chrono>
#include <cstdio>
#include <cstring>

using namespace leaftest;

static std::string matmul(int m, int n, int k, const char *type, bool transposed = false) {
  char text[4000];
  snprintf(text, sizeof(text), R"(
    func.func private @leaf(%%a: tensor<%dx%dx$T>, %%b: tensor<%dx%dx$T>) -> tensor<%dx%dx$T> {
      %%zero = arith.constant 0.0 : $T
      %%e = tensor.empty() : tensor<%dx%dx$T>
      %%z = linalg.fill ins(%%zero : $T) outs(%%e : tensor<%dx%dx$T>) -> tensor<%dx%dx$T>
      %%0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (%s)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%%a, %%b : tensor<%dx%dx$T>, tensor<%dx%dx$T>) outs(%%z : tensor<%dx%dx$T>) -> tensor<%dx%dx$T>
      return %%0 : tensor<%dx%dx$T>
    })",
           m, k, transposed ? n : k, transposed ? k : n, m, n, m, n, m, n, m, n,
           transposed ? "n, k" : "k, n", m, k, transposed ? n : k, transposed ? k : n, m, n, m, n,
           m, n);
  return withType(text, type);
}

struct Bench {
  const char *name, *unit;
  std::string text;
  int64_t rows;
  double work; // per call, in units of 1e9 per second
  std::vector<bool> batched = {};
};

static void run(const Bench &bench) {
  mlir::ft::LeafOptions options;
  options.batched.assign(bench.batched.begin(), bench.batched.end());
  mlir::ft::CpuTarget target = mlir::ft::CpuTarget::host();
  if (getenv("FT_AVX2")) {
    target.vectorBytes = 32;
    target.vectorRegisters = 16;
  }
  auto leaf = CompiledLeaf::make(bench.text, options, target);
  if (!leaf)
    return;
  std::vector<Rows> all;
  for (unsigned i = 0; i < leaf->numInputs + leaf->numOutputs; ++i) {
    bool batched = i >= leaf->numInputs || bench.batched.empty() || bench.batched[i];
    all.push_back(leaf->allocate(i, batched ? bench.rows : 1));
    for (int64_t j = 0; j < all.back().numElements() * all.back().rows; ++j)
      all.back().set(0, j, double((j * 7919) % 201 - 100) / 100);
  }
  std::vector<Rows *> pointers;
  for (Rows &rows : all)
    pointers.push_back(&rows);
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  for (int repeat = 0; repeat < 30; ++repeat) {
    int calls = 1 + int(2e6 / bench.work);
    auto start = Clock::now();
    for (int call = 0; call < calls; ++call)
      leaf->run(bench.rows, pointers);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / calls);
  }
  printf("%-44s %8.1f %s   %7.2f us/call   compiled in %4.0f ms\n", bench.name,
         bench.work / best * 1e-9, bench.unit, best * 1e6, leaf->seconds * 1e3);
  fflush(stdout);
  if (getenv("FT_SHOW_LOOPS"))
    puts(leaf->loops.c_str());
}

static const char *attention = R"(
  func.func private @leaf(%q: tensor<64x64x$T>, %k: tensor<64x64x$T>, %v: tensor<64x64x$T>, %m: tensor<64x1x$T>, %l: tensor<64x1x$T>, %o: tensor<64x64x$T>)
      -> (tensor<64x1x$T>, tensor<64x1x$T>, tensor<64x64x$T>) {
    %zero = arith.constant 0.0 : $T
    %e = tensor.empty() : tensor<64x64x$T>
    %e1 = tensor.empty() : tensor<64x1x$T>
    %z = linalg.fill ins(%zero : $T) outs(%e : tensor<64x64x$T>) -> tensor<64x64x$T>
    %s = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%q, %k : tensor<64x64x$T>, tensor<64x64x$T>) outs(%z : tensor<64x64x$T>) -> tensor<64x64x$T>
    %max = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<64x64x$T>) outs(%m : tensor<64x1x$T>) {
      ^bb0(%x: $T, %y: $T):
        %0 = arith.maximumf %x, %y : $T
        linalg.yield %0 : $T
    } -> tensor<64x1x$T>
    %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s, %max : tensor<64x64x$T>, tensor<64x1x$T>) outs(%e : tensor<64x64x$T>) {
      ^bb0(%x: $T, %y: $T, %out: $T):
        %0 = arith.subf %x, %y : $T
        %1 = math.exp %0 : $T
        linalg.yield %1 : $T
    } -> tensor<64x64x$T>
    %d = linalg.sub ins(%m, %max : tensor<64x1x$T>, tensor<64x1x$T>) outs(%e1 : tensor<64x1x$T>) -> tensor<64x1x$T>
    %c = linalg.exp ins(%d : tensor<64x1x$T>) outs(%e1 : tensor<64x1x$T>) -> tensor<64x1x$T>
    %l1 = linalg.mul ins(%l, %c : tensor<64x1x$T>, tensor<64x1x$T>) outs(%e1 : tensor<64x1x$T>) -> tensor<64x1x$T>
    %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<64x64x$T>) outs(%l1 : tensor<64x1x$T>) {
      ^bb0(%x: $T, %y: $T):
        %0 = arith.addf %x, %y : $T
        linalg.yield %0 : $T
    } -> tensor<64x1x$T>
    %o1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%o, %c : tensor<64x64x$T>, tensor<64x1x$T>) outs(%e : tensor<64x64x$T>) {
      ^bb0(%x: $T, %y: $T, %out: $T):
        %0 = arith.mulf %x, %y : $T
        linalg.yield %0 : $T
    } -> tensor<64x64x$T>
    %o2 = linalg.matmul ins(%p, %v : tensor<64x64x$T>, tensor<64x64x$T>) outs(%o1 : tensor<64x64x$T>) -> tensor<64x64x$T>
    return %max, %sum, %o2 : tensor<64x1x$T>, tensor<64x1x$T>, tensor<64x64x$T>
  })";

static const char *backToBack = R"(
  func.func private @leaf(%a: tensor<64x64x$T>, %b: tensor<64x1024x$T>, %c: tensor<1024x64x$T>) -> tensor<64x64x$T> {
    %zero = arith.constant 0.0 : $T
    %e = tensor.empty() : tensor<64x1024x$T>
    %z = linalg.fill ins(%zero : $T) outs(%e : tensor<64x1024x$T>) -> tensor<64x1024x$T>
    %e1 = tensor.empty() : tensor<64x64x$T>
    %z1 = linalg.fill ins(%zero : $T) outs(%e1 : tensor<64x64x$T>) -> tensor<64x64x$T>
    %0 = linalg.matmul ins(%a, %b : tensor<64x64x$T>, tensor<64x1024x$T>) outs(%z : tensor<64x1024x$T>) -> tensor<64x1024x$T>
    %1 = linalg.matmul ins(%0, %c : tensor<64x1024x$T>, tensor<1024x64x$T>) outs(%z1 : tensor<64x64x$T>) -> tensor<64x64x$T>
    return %1 : tensor<64x64x$T>
  })";

static const char *lstm = R"(
  func.func private @leaf(%gates: tensor<4x1x256x$T>, %c: tensor<1x256x$T>) -> (tensor<1x256x$T>, tensor<1x256x$T>) {
    %one = arith.constant dense<1.0> : tensor<1x256x$T>
    %i0 = tensor.extract_slice %gates[0, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<4x1x256x$T> to tensor<1x256x$T>
    %f0 = tensor.extract_slice %gates[1, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<4x1x256x$T> to tensor<1x256x$T>
    %o0 = tensor.extract_slice %gates[2, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<4x1x256x$T> to tensor<1x256x$T>
    %g0 = tensor.extract_slice %gates[3, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<4x1x256x$T> to tensor<1x256x$T>
    %in = arith.negf %i0 : tensor<1x256x$T>
    %ie = math.exp %in : tensor<1x256x$T>
    %ia = arith.addf %ie, %one : tensor<1x256x$T>
    %i = arith.divf %one, %ia : tensor<1x256x$T>
    %fn = arith.negf %f0 : tensor<1x256x$T>
    %fe = math.exp %fn : tensor<1x256x$T>
    %fa = arith.addf %fe, %one : tensor<1x256x$T>
    %f = arith.divf %one, %fa : tensor<1x256x$T>
    %on = arith.negf %o0 : tensor<1x256x$T>
    %oe = math.exp %on : tensor<1x256x$T>
    %oa = arith.addf %oe, %one : tensor<1x256x$T>
    %o = arith.divf %one, %oa : tensor<1x256x$T>
    %g = math.tanh %g0 : tensor<1x256x$T>
    %fc = arith.mulf %f, %c : tensor<1x256x$T>
    %ig = arith.mulf %i, %g : tensor<1x256x$T>
    %c1 = arith.addf %fc, %ig : tensor<1x256x$T>
    %t = math.tanh %c1 : tensor<1x256x$T>
    %h = arith.mulf %o, %t : tensor<1x256x$T>
    return %c1, %h : tensor<1x256x$T>, tensor<1x256x$T>
  })";

/// A whole LSTM cell: eight products with shared weights, then the gates.
static std::string lstmCell(int size, const char *type) {
  std::string text =
      "func.func private @leaf(%x: tensor<1x256x$T>, %h: tensor<1x256x$T>, %c: tensor<1x256x$T>";
  for (const char *gate : {"i", "f", "o", "g"})
    for (const char *name : {"w", "u"})
      text += std::string(", %") + name + gate + ": tensor<256x256x$T>";
  for (const char *gate : {"i", "f", "o", "g"})
    text += std::string(", %b") + gate + ": tensor<1x256x$T>";
  text += ") -> (tensor<1x256x$T>, tensor<1x256x$T>) {\n"
          "%one = arith.constant dense<1.0> : tensor<1x256x$T>\n";
  auto line = [&](std::string result, std::string op) {
    text += "%" + result + " = " + op + " : tensor<1x256x$T>\n";
  };
  for (std::string gate : {"i", "f", "o", "g"}) {
    for (auto [left, weight, init, result] :
         {std::tuple{"x", "w", "b", "p"}, std::tuple{"h", "u", "p", "s"}})
      text += "%" + (result + gate) + " = linalg.matmul ins(%" + left + ", %" + (weight + gate) +
              " : tensor<1x256x$T>, tensor<256x256x$T>) outs(%" + (init + gate) +
              " : tensor<1x256x$T>) -> tensor<1x256x$T>\n";
    if (gate == "g")
      break;
    line("n" + gate, "arith.negf %s" + gate);
    line("e" + gate, "math.exp %n" + gate);
    line("d" + gate, "arith.addf %one, %e" + gate);
    line("a" + gate, "arith.divf %one, %d" + gate);
  }
  line("ag", "math.tanh %sg");
  line("fc", "arith.mulf %af, %c");
  line("ig", "arith.mulf %ai, %ag");
  line("c1", "arith.addf %fc, %ig");
  line("t", "math.tanh %c1");
  line("h1", "arith.mulf %ao, %t");
  text += "return %c1, %h1 : tensor<1x256x$T>, tensor<1x256x$T>\n}";
  for (size_t at = 0; (at = text.find("256", at)) != std::string::npos; ++at)
    text.replace(at, 3, std::to_string(size));
  return withType(text, type);
}

static const char *matvec = R"(
  func.func private @leaf(%h: tensor<64x16xf32>, %c: tensor<16xf32>, %d: tensor<64xf32>) -> tensor<64xf32> {
    %y = linalg.matvec ins(%h, %c : tensor<64x16xf32>, tensor<16xf32>) outs(%d : tensor<64xf32>) -> tensor<64xf32>
    return %y : tensor<64xf32>
  })";

static std::string unary(const char *op) {
  return std::string("func.func private @leaf(%a: tensor<4096xf32>) -> tensor<4096xf32> {\n"
                     "  %0 = ") +
         op + " %a : tensor<4096xf32>\n  return %0 : tensor<4096xf32>\n}";
}

int main(int argc, char **argv) {
  std::vector<bool> shared{true, false}, own{true, true};
  std::vector<bool> cell{true, true, true};
  cell.resize(15, false);
  Bench all[] = {
      {"R=8 1x256 @ 256x256 f32", "GFLOP/s", matmul(1, 256, 256, "f32"), 8, 2.0 * 8 * 256 * 256,
       shared},
      {"R=16 1x256 @ 256x1024 f32", "GFLOP/s", matmul(1, 1024, 256, "f32"), 16,
       2.0 * 16 * 256 * 1024, shared},
      {"R=64 1x256 @ 256x1024 f32", "GFLOP/s", matmul(1, 1024, 256, "f32"), 64,
       2.0 * 64 * 256 * 1024, shared},
      {"R=1 1x256 @ 256x1024 f32", "GFLOP/s", matmul(1, 1024, 256, "f32"), 1, 2.0 * 256 * 1024,
       shared},
      {"R=8 1x256 @ (256x256)' f32", "GFLOP/s", matmul(1, 256, 256, "f32", true), 8,
       2.0 * 8 * 256 * 256, shared},
      {"R=1 64x64 @ 64x64 f32", "GFLOP/s", matmul(64, 64, 64, "f32"), 1, 2.0 * 64 * 64 * 64, own},
      {"R=1 64x64 @ (64x64)' f32", "GFLOP/s", matmul(64, 64, 64, "f32", true), 1,
       2.0 * 64 * 64 * 64, own},
      {"R=1 256x256 @ 256x256 f32", "GFLOP/s", matmul(256, 256, 256, "f32"), 1,
       2.0 * 256 * 256 * 256, own},
      {"R=1 127x127 @ 127x127 f32", "GFLOP/s", matmul(127, 127, 127, "f32"), 1,
       2.0 * 127 * 127 * 127, own},
      {"R=1 64x64 @ 64x1024 @ 1024x64 f32", "GFLOP/s", withType(backToBack, "f32"), 1,
       4.0 * 64 * 64 * 1024},
      {"R=1 64x64 @ 64x1024 @ 1024x64 f16", "GFLOP/s", withType(backToBack, "f16"), 1,
       4.0 * 64 * 64 * 1024},
      {"R=8 1x256 @ 256x256 f64", "GFLOP/s", matmul(1, 256, 256, "f64"), 8, 2.0 * 8 * 256 * 256,
       shared},
      {"R=8 1x256 @ 256x256 f16", "GFLOP/s", matmul(1, 256, 256, "f16"), 8, 2.0 * 8 * 256 * 256,
       shared},
      {"R=8 1x256 @ 256x256 bf16", "GFLOP/s", matmul(1, 256, 256, "bf16"), 8, 2.0 * 8 * 256 * 256,
       shared},
      {"attention block 64x64 f32", "GFLOP/s", withType(attention, "f32"), 1, 4.0 * 64 * 64 * 64},
      {"attention block 64x64 f16", "GFLOP/s", withType(attention, "f16"), 1, 4.0 * 64 * 64 * 64},
      {"LSTM gates R=8 4x1x256 f32", "Gelem/s", withType(lstm, "f32"), 8, 8.0 * 256},
      {"LSTM gates R=8 4x1x256 f16", "Gelem/s", withType(lstm, "f16"), 8, 8.0 * 256},
      {"LSTM cell R=8 256 f32", "GFLOP/s", lstmCell(256, "f32"), 8, 8 * 2.0 * 8 * 256 * 256, cell},
      {"LSTM cell R=8 256 f16", "GFLOP/s", lstmCell(256, "f16"), 8, 8 * 2.0 * 8 * 256 * 256, cell},
      {"LSTM cell R=8 64 f32", "GFLOP/s", lstmCell(64, "f32"), 8, 8 * 2.0 * 8 * 64 * 64, cell},
      {"LSTM cell R=32 256 f32", "GFLOP/s", lstmCell(256, "f32"), 32, 8 * 2.0 * 32 * 256 * 256,
       cell},
      {"R=8 64x16 @ 16 f32", "GFLOP/s", matvec, 8, 8 * 2.0 * 64 * 16},
      {"R=1 64x2048 @ 2048x1024 f32", "GFLOP/s", matmul(64, 1024, 2048, "f32"), 1,
       2.0 * 64 * 2048 * 1024},
      {"exp f32", "Gelem/s", unary("math.exp"), 1, 4096},
      {"tanh f32", "Gelem/s", unary("math.tanh"), 1, 4096},
      {"log f32", "Gelem/s", unary("math.log"), 1, 4096},
      {"erf f32", "Gelem/s", unary("math.erf"), 1, 4096},
      {"sin f32", "Gelem/s", unary("math.sin"), 1, 4096},
  };
  // The rates by rows of machine/cpu.json.
  std::vector<std::string> names;
  for (int rows = 1; rows <= 6; ++rows)
    names.push_back("rows R=" + std::to_string(rows) + " 1x256 @ 256x256 f32");
  std::vector<Bench> benches(std::begin(all), std::end(all));
  for (int rows = 1; rows <= 6; ++rows)
    benches.push_back({names[rows - 1].c_str(), "GFLOP/s", matmul(1, 256, 256, "f32"), rows,
                       2.0 * rows * 256 * 256, shared});
  for (const Bench &bench : benches)
    if (argc < 2 || strstr(bench.name, argv[1]))
      run(bench);
}
