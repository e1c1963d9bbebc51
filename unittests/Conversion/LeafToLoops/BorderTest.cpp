//===- BorderTest.cpp - Padded operands, read in place --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products and maxima over the windows of random padded images, in both
// orders of dimensions, at several widths of vectors, beside plain loops. What is
// padded must have no memory.
//
//===----------------------------------------------------------------------===//
#include "LeafTester.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace leaftest;

namespace {

struct Windows {
  bool channelsLast = false, isMaximum = false;
  int64_t channels = 1, filters = 1;
  int64_t size[2] = {1, 1}, window[2] = {1, 1}, low[2] = {0, 0}, high[2] = {0, 0}, step[2] = {1, 1}, apart[2] = {1, 1};
  double outside = 0;
  std::string type = "f32";

  int64_t padded(int d) const { return low[d] + size[d] + high[d]; }
  int64_t places(int d) const { return (padded(d) - apart[d] * (window[d] - 1) - 1) / step[d] + 1; }
  int64_t reached(int d) const { return (places(d) - 1) * step[d] + apart[d] * (window[d] - 1) + 1; }
};

std::string shape(std::vector<int64_t> sizes, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

/// Channels, then places, or the other way round.
std::vector<int64_t> ordered(const Windows &w, int64_t channels, int64_t rows, int64_t columns) {
  return w.channelsLast ? std::vector<int64_t>{rows, columns, channels} : std::vector<int64_t>{channels, rows, columns};
}

std::string number(const Windows &w, double value) {
  return w.type[0] == 'i' ? std::to_string(int64_t(value)) : std::to_string(value);
}

std::string textOf(const Windows &w) {
  auto n = [](int64_t value) { return std::to_string(value); };
  auto list = [&](std::vector<int64_t> values) { return n(values[0]) + ", " + n(values[1]) + ", " + n(values[2]); };
  const std::string &T = w.type;
  bool isFloat = T[0] != 'i';
  std::string x = shape(ordered(w, w.channels, w.size[0], w.size[1]), T);
  // The last places may look at less than there is.
  std::string p = shape(ordered(w, w.channels, w.reached(0), w.reached(1)), T);
  int64_t cut[] = {w.high[0] - (w.padded(0) - w.reached(0)), w.high[1] - (w.padded(1) - w.reached(1))};
  std::string k = w.isMaximum ? shape({w.window[0], w.window[1]}, T)
                              : shape(w.channelsLast ? std::vector<int64_t>{w.window[0], w.window[1], w.channels, w.filters}
                                                     : std::vector<int64_t>{w.filters, w.channels, w.window[0], w.window[1]},
                                      T);
  int64_t made = w.isMaximum ? w.channels : w.filters;
  std::string y = shape(ordered(w, made, w.places(0), w.places(1)), T);
  std::string r = "u * " + n(w.step[0]) + " + i * " + n(w.apart[0]), c = "v * " + n(w.step[1]) + " + j * " + n(w.apart[1]);
  std::string loops = w.isMaximum ? "(f, u, v, i, j)" : "(f, u, v, c, i, j)", channel = w.isMaximum ? "f" : "c";
  std::string ofX = w.channelsLast ? r + ", " + c + ", " + channel : channel + ", " + r + ", " + c;
  std::string ofK = w.isMaximum ? "i, j" : w.channelsLast ? "i, j, c, f" : "f, c, i, j";
  std::string kinds = w.isMaximum ? "" : ", \"reduction\"";
  std::string f = isFloat ? "f" : "i";
  std::string body = w.isMaximum ? "%s = arith.max" + std::string(isFloat ? "imumf" : "si") + " %o, %a : " + T + "\n"
                                 : "%m = arith.mul" + f + " %a, %b : " + T + "\n %s = arith.add" + f + " %o, %m : " + T + "\n";
  return "func.func private @leaf(%x: " + x + ", %k: " + k + ") -> " + y + " {\n" +
         "  %v = arith.constant " + number(w, w.outside) + " : " + T + "\n" +
         "  %p = tensor.pad %x low[" + list(ordered(w, 0, w.low[0], w.low[1])) + "] high[" + list(ordered(w, 0, cut[0], cut[1])) +
         "] {\n  ^bb0(%d0: index, %d1: index, %d2: index):\n    tensor.yield %v : " + T + "\n  } : " + x + " to " + p + "\n" +
         "  %z = arith.constant dense<" + number(w, w.isMaximum ? -100 : 0) + "> : " + y + "\n" +
         "  %r = linalg.generic {indexing_maps = [affine_map<" + loops + " -> (" + ofX + ")>, affine_map<" + loops + " -> (" + ofK +
         ")>, affine_map<" + loops + " -> (" + (w.channelsLast ? "u, v, f" : "f, u, v") +
         ")>], iterator_types = [\"parallel\", \"parallel\", \"parallel\"" + kinds + ", \"reduction\", \"reduction\"]} ins(%p, %k : " + p +
         ", " + k + ") outs(%z : " + y + ") {\n  ^bb0(%a: " + T + ", %b: " + T + ", %o: " + T + "):\n " + body + " linalg.yield %s : " + T +
         "\n  } -> " + y + "\n  return %r : " + y + "\n}";
}

int64_t place(const Windows &w, int64_t channels, int64_t rows, int64_t columns, int64_t c, int64_t i, int64_t j) {
  return w.channelsLast ? (i * columns + j) * channels + c : (c * rows + i) * columns + j;
}

/// What a window sees at one of its taps.
double seen(const Windows &w, const Values &x, int64_t c, int64_t u, int64_t v, int64_t i, int64_t j) {
  int64_t row = u * w.step[0] + i * w.apart[0] - w.low[0], column = v * w.step[1] + j * w.apart[1] - w.low[1];
  bool inside = row >= 0 && row < w.size[0] && column >= 0 && column < w.size[1];
  return inside ? x[place(w, w.channels, w.size[0], w.size[1], c, row, column)] : w.outside;
}

double at(const Windows &w, const std::vector<Values> &in, int64_t f, int64_t u, int64_t v) {
  double result = w.isMaximum ? -100 : 0;
  for (int64_t i = 0; i < w.window[0]; ++i)
    for (int64_t j = 0; j < w.window[1]; ++j) {
      if (w.isMaximum) {
        result = std::max(result, seen(w, in[0], f, u, v, i, j));
        continue;
      }
      for (int64_t c = 0; c < w.channels; ++c) {
        int64_t tap = w.channelsLast ? ((i * w.window[1] + j) * w.channels + c) * w.filters + f
                                     : ((f * w.channels + c) * w.window[0] + i) * w.window[1] + j;
        result += seen(w, in[0], c, u, v, i, j) * in[1][tap];
      }
    }
  return result;
}

void checkWindows(const Windows &w, std::vector<bool> batched, unsigned vectorBytes) {
  Check test;
  test.text = textOf(w);
  test.batched = std::move(batched);
  test.vectorBytes = vectorBytes;
  if (w.type[0] == 'i') {
    test.low = -3;
    test.high = 4;
  }
  test.reference = [w](const std::vector<Values> &in) {
    int64_t made = w.isMaximum ? w.channels : w.filters, rows = w.places(0), columns = w.places(1);
    Values y(made * rows * columns);
    for (int64_t f = 0; f < made; ++f)
      for (int64_t u = 0; u < rows; ++u)
        for (int64_t v = 0; v < columns; ++v)
          y[place(w, made, rows, columns, f, u, v)] = at(w, in, f, u, v);
    return std::vector<Values>{y};
  };
  SCOPED_TRACE(test.text);
  check(test);
}

/// Random windows, of which each is a whole one. `most`: columns.
Windows randomWindows(std::mt19937 &random, int64_t most) {
  auto draw = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  Windows w;
  w.channelsLast = draw(0, 1);
  w.isMaximum = draw(0, 3) == 0;
  w.channels = draw(1, 5);
  w.filters = draw(1, w.channelsLast ? 20 : 7);
  w.size[0] = draw(1, 7);
  w.size[1] = draw(1, most);
  do
    for (int d : {0, 1}) {
      w.window[d] = draw(1, 4);
      w.low[d] = draw(0, 5);
      w.high[d] = draw(0, 5);
      w.step[d] = draw(1, 3);
      w.apart[d] = draw(1, 2);
    }
  while (w.padded(0) < w.apart[0] * (w.window[0] - 1) + 1 || w.padded(1) < w.apart[1] * (w.window[1] - 1) + 1);
  return w;
}

TEST(Borders, RandomWindows) {
  std::mt19937 random(7);
  const char *types[] = {"f32", "i32", "f64", "i8", "f32", "i64"};
  unsigned vectors[] = {0, 16, 32, 64};
  for (int n = 0; n < 72; ++n) {
    Windows w = randomWindows(random, n % 4 == 0 ? 80 : 19);
    w.type = types[n % 6];
    if (n % 5 == 0)
      w.outside = w.isMaximum ? -2 : 3;
    if (w.type == "i8" && !w.isMaximum)
      w.type = "i16";
    checkWindows(w, n % 2 ? std::vector<bool>{true, false} : std::vector<bool>{false, true}, vectors[n % 4]);
  }
}

TEST(Borders, Halves) {
  std::mt19937 random(11);
  for (int n = 0; n < 8; ++n) {
    Windows w = randomWindows(random, 19);
    w.type = n % 2 ? "bf16" : "f16";
    checkWindows(w, {true, false}, 0);
  }
}

TEST(Borders, HaveNoMemory) {
  Windows w;
  w.channels = 4, w.filters = 6, w.size[0] = 9, w.size[1] = 40;
  for (int d : {0, 1})
    w.window[d] = 3, w.low[d] = w.high[d] = 1;
  for (bool last : {false, true})
    for (bool isMaximum : {false, true}) {
      w.channelsLast = last;
      w.isMaximum = isMaximum;
      mlir::ft::LeafOptions options;
      options.batched = {true, false};
      auto leaf = CompiledLeaf::make(textOf(w), options);
      ASSERT_TRUE(leaf);
      EXPECT_EQ(leaf->scratch.fixedBytes + leaf->scratch.bytesPerRow, 0) << leaf->loops;
    }
}

} // namespace
